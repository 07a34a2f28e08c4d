/* SPDX-License-Identifier: GPL-3.0-or-later */
/* go_core.h - the reader of core files of Go programs; what its two files share. */
#ifndef CAIRN_DUMP_GO_GO_CORE_H
#define CAIRN_DUMP_GO_GO_CORE_H

#include "dump/core/core.h"
#include "dump/go/go_dump.h"
#include "dump/gocore/gocore.h"

struct go_core {
	struct go go;         /* first: what the others see */
	struct core *core;
	struct gocore *image;
};

static inline const struct gocore *go_core_image(const struct go *g)
{
	return ((const struct go_core *)g)->image;
}

/* go_core_objects.c: members of the reader. */
unsigned go_core_parts(const struct dump *dump, unsigned want, struct part *out);
MUST_CHECK int go_core_read(const struct dump *dump, const struct part *part, struct sink *sink, struct err *err);
MUST_CHECK int go_core_locate(const struct dump *dump, uint64_t offset, uint32_t steps, struct object_view *out,
    struct err *err);
/* What the runtime says of itself, and what can be counted. */
MUST_CHECK int go_core_tell_state(const struct go *g, struct sink *sink);
/* go_core.c: ERR_TRUNCATED if objects may be missing, or known ones are; else 0. */
MUST_CHECK int go_core_missing(const struct go *g, struct err *err);
/* Members of struct go_elsewhere. */
void go_core_pointers(const struct go *g, const uint8_t *contents, uint64_t from, struct go_pointers *out);
uint64_t go_core_head(const struct go *g, const uint8_t *contents);

#endif
