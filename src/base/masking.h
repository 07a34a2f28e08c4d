/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * masking.h - which values are not shown, because their name says that they are secret.
 *
 * A dump and its companion hold passwords, in properties, options and environment variables; output goes into
 * tickets.  In doubt a value is masked: users who need it have the file.  Any thread.
 */
#ifndef CAIRN_BASE_MASKING_H
#define CAIRN_BASE_MASKING_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

#define SECRET_MASK "***"

/* Does a name of n bytes say so?  "db.password", "API_KEY", "GITHUB_TOKEN", in upper or lower case. */
bool masking_secret_name(const char *name, size_t n);

/* Append n bytes of a command line, or of any other text, with masks for the values behind secret names
 * (-Dx.password=VALUE, --token VALUE, "secret": "VALUE") and for the user in a URL (//VALUE@host). */
void masking_mask(const char *s, size_t n, struct text *to);

/* Append the value that has this name: the mask, or the value with masks for what is secret in it. */
void masking_secret_value(const char *name, size_t n_name, const char *value, size_t n, struct text *to);

#endif
