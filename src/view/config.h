/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * config.h - what the user's configuration gives the screen, besides the program's options (view.h).
 *
 * One table (config.c) is used to read the file, for --dump-config and for the manual.  Main thread
 * only.
 */
#ifndef CAIRN_VIEW_CONFIG_H
#define CAIRN_VIEW_CONFIG_H

#include "command/session/session.h"
#include "result/result.h"
#include "view/panes/panes.h"

struct invocation;
struct config; /* NULL in all of these: there is none */

enum layout config_layout(const struct config *c);
/* Settings of `set` that are not options of the program, and views of questions. */
void config_settings(const struct config *c, struct session *s);
/* What the user gave a key (term.h), borrowed; NULL: nothing. */
struct invocation *config_key(const struct config *c, int key);
/* Show and hide columns of a result as the user wants them for its command; asked: what it answers, or NULL. */
void config_columns(const struct config *c, const struct invocation *asked, struct result *r);
/* The user's keys, as help writes keys; nothing if there are none. */
void config_write_keys(const struct config *c, struct text *to);
/* The first sentence about what is wrong in the file, or NULL. */
const char *config_complaint(const struct config *c);

#endif
