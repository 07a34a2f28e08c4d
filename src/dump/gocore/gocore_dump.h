/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gocore_dump.h - the reader of core files of Go programs; what its two files share. */
#ifndef CAIRN_DUMP_GOCORE_GOCORE_DUMP_H
#define CAIRN_DUMP_GOCORE_GOCORE_DUMP_H

#include "dump/core/core.h"
#include "dump/go/go_dump.h"
#include "dump/gocore/gocore.h"

struct gocore_dump {
	struct go go;         /* first: what the others see */
	struct core *core;
	struct gocore *image;
};

static inline const struct gocore *gocore_image(const struct go *g)
{
	return ((const struct gocore_dump *)g)->image;
}

/* gocore_objects.c: members of the reader. */
unsigned gocore_parts(const struct dump *dump, unsigned want, struct part *out);
MUST_CHECK int gocore_read(const struct dump *dump, const struct part *part, struct sink *sink, struct err *err);
MUST_CHECK int gocore_locate(const struct dump *dump, uint64_t offset, uint32_t steps, struct object_view *out,
    struct err *err);
/* What the runtime says of itself, and what can be counted. */
MUST_CHECK int gocore_tell_state(const struct go *g, struct sink *sink);
/* Members of struct go_elsewhere. */
void gocore_each_pointer(const struct go *g, const uint8_t *contents, uint64_t from, struct go_pointers *out);
uint64_t gocore_head_of(const struct go *g, const uint8_t *contents);

extern const struct reader gocore_reader;

#endif
