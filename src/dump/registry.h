/* SPDX-License-Identifier: GPL-3.0-or-later */
/* registry.h - the readers that there are: sniffing files, opening dumps. */
#ifndef CAIRN_DUMP_REGISTRY_H
#define CAIRN_DUMP_REGISTRY_H

#include "base/err.h"
#include "dump/source/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dump;
struct dump_options; /* dump/facts.h */

/* What source_open_if asks: a reader must know the first bytes, else ERR_FORMAT, as dump_open would say it.  options,
 * which may be NULL, are borrowed. */
struct source_look dump_look(const struct dump_options *options);

/* Sniff the source and open it with the reader that fits (dump/registry.c). */
MUST_CHECK int dump_open(struct dump **out, const struct source *source,
    const struct dump_options *options, struct err *err);
void dump_close(struct dump *dump); /* NULL is fine */

/* What a file with these first bytes is a dump of, plain or gzipped: the reader's label, "PHD".  NULL:
 * of nothing that is known. */
const char *dump_label_of(const uint8_t *head, size_t n);
/* The same of a file with a path that is not opened, and when the dump in it was written; "": that tells nobody yet.
 * 0, or ERR_FORMAT, as dump_open would say it, without the path. */
struct dump_head {
	const char *label;
	char created[32];
	bool copy;           /* it says that it is a copy without contents: redact can write it again */
	const char *archive; /* "zip": it is an archive of files, and so no dump; else NULL */
};
MUST_CHECK int dump_head_of(struct dump_head *out, const uint8_t *head, size_t n, const char *path, struct err *err);
/* dump_label_of for source_members. */
const char *dump_label_of_member(const uint8_t *head, size_t n, const char *name, char created[static 32]);

#endif
