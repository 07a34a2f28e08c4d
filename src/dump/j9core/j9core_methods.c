/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_methods.c - the methods of frames: their names, and the lines of their code.
 *
 * A J9Method leads to its bytecodes, before which its J9ROMMethod is, and after which what is optional: after ROMHelp,
 * OptInfo and LineNumberIterator of DDR_VM, and runtime/oti/rommeth.h.
 */
#include "dump/j9core/j9core_roots.h"

#include "base/text.h"

enum { LINES_MOST = 1 << 16 };
#define POOL_TAGS UINT64_C(0xf) /* of J9Method.constantPool */

/* --- texts ------------------------------------------------------------------------------------------------- */

/* A J9UTF8. */
static void add_utf8(const struct j9core *j, uint64_t at, struct text *to)
{
	size_t n;
	const char *text = j9_text(j, at, &n);

	if (text)
		text_add_modified_utf8(to, (const uint8_t *)text, n);
	else
		text_add(to, "?");
}

void j9_add_class_name(const struct j9core *j, const struct j9_class *c, struct text *to)
{
	size_t begin = to->len, n = 0;
	const char *name = c ? j9core_class_name(j, c, &n) : NULL;

	text_add_modified_utf8(to, (const uint8_t *)(name ? name : "?"), name ? n : 1);
	for (size_t i = begin; i < to->len; i++) /* "acme.A$$Lambda/0x0000000014638ea0" is the name of a hidden class */
		if (to->s[i] == '/' && !(to->s[i + 1] >= '0' && to->s[i + 1] <= '9'))
			to->s[i] = '.';
}

static bool add_source_file(const struct j9core *j, const struct j9_class *c, struct text *to)
{
	uint64_t option = j->flags.source_file, distance;
	uint64_t flags = c ? j9_get(j, c->rom, AT_ROM_OPTIONS) : 0;
	uint64_t at = flags & option ? j9_relative(j, c->rom, AT_ROM_OPTION_LIST) : 0;

	if (!at)
		return false;
	at += 4 * (uint64_t)(__builtin_popcountll(flags & (2 * option - 1)) - 1);
	if (!core_load(j->core, at, 4, &distance) || !distance)
		return false;
	add_utf8(j, at + (uint64_t)(int64_t)(int32_t)distance, to);
	return true;
}

/* --- lines ------------------------------------------------------------------------------------------------- */

static uint64_t behind_counted(const struct j9core *j, uint64_t at)
{
	uint64_t n = 0;

	core_load(j->core, at, 4, &n);
	return at + 4 + ((n + 3) & ~UINT64_C(3));
}

/* The J9MethodDebugInfo of a method; 0: it has none. */
static uint64_t debug_info(const struct j9core *j, const struct j9_method *m)
{
	const struct j9_flags *f = &j->flags;
	uint64_t more = 0, n_handlers = 0, n_thrown = 0, distance = 0;
	uint64_t n = j9_get(j, m->rom, AT_ROM_METHOD_SIZE_LOW) + (j9_get(j, m->rom, AT_ROM_METHOD_SIZE_HIGH) << 16);
	uint64_t at = m->bytecodes + ((n + 3) & ~UINT64_C(3));

	if (!(m->modifiers & f->debug_info))
		return 0;
	if (m->modifiers & f->extended) {
		core_load(j->core, at, 4, &more);
		at += 4;
	}
	if (m->modifiers & f->generic)
		at += 4;
	if (m->modifiers & f->exceptions) {
		core_load(j->core, at, 2, &n_handlers);
		core_load(j->core, at + 2, 2, &n_thrown);
		at += 4 + n_handlers * ddr_size(j->ddr, "J9ExceptionHandler") + n_thrown * 4;
	}
	for (size_t i = 0; i < sizeof f->annotated / sizeof *f->annotated; i++)
		at = m->modifiers & f->annotated[i] ? behind_counted(j, at) : at;
	for (size_t i = 0; i < sizeof f->extended_annotated / sizeof *f->extended_annotated; i++)
		at = more & f->extended_annotated[i] ? behind_counted(j, at) : at;
	if (!core_load(j->core, at, 4, &distance))
		return 0;
	return distance & 1 ? at : at + (uint64_t)(int64_t)(int32_t)distance; /* odd: it is here, the number its size */
}

/* One entry of a table of lines, which says how far location and line are from those before: 1, 2, 3 or 5 bytes.
 * False: there is none. */
static bool next_line(const struct j9core *j, uint64_t *at, uint64_t *location, int64_t *line)
{
	uint64_t first, a, b;

	if (!core_load(j->core, *at, 1, &first))
		return false;
	if (!(first & 0x80)) {
		*location += first >> 2;
		*line += first & 3;
		*at += 1;
		return true;
	}
	if ((first & 0xc0) == 0x80) {
		if (!core_load(j->core, *at + 1, 1, &a))
			return false;
		*location += first >> 1 & 0x1f;
		*line += (int64_t)((first & 1) << 8 | a) - (first & 1 ? 0x200 : 0);
		*at += 2;
		return true;
	}
	if (!core_load(j->core, *at + 1, 2, &a))
		return false;
	if ((first & 0xe0) == 0xc0) {
		a |= first << 16;
		*location += a >> 14 & 0x7f;
		*line += (int64_t)(a & 0x3fff) - (a & 0x2000 ? 0x4000 : 0);
		*at += 3;
		return true;
	}
	if ((first & 0xf0) != 0xe0 || !core_load(j->core, *at + 3, 2, &b))
		return false;
	*location += a;
	*line += (int64_t)b - (first & 1 ? 0x10000 : 0);
	*at += 5;
	return true;
}

/* The line of a bytecode; 0: unknown. */
static uint64_t line_of(const struct j9core *j, const struct j9_method *m, uint64_t location)
{
	uint64_t info = debug_info(j, m), n = info ? j9_get(j, info, AT_DEBUG_N_LINES) : 0, here = 0;
	uint64_t at = info + ddr_size(j->ddr, "J9MethodDebugInfo");
	int64_t line = 0, found = 0;

	if (!n || !j->flags.lines)
		return 0;
	if (n & 1) /* the bytes of the table come first */
		at += 4;
	n = n & 1 ? n >> 1 : n >> 1 & 0x7fff;
	for (uint64_t i = 0; i < n && i < LINES_MOST && next_line(j, &at, &here, &line) && here <= location; i++)
		found = line;
	return found > 0 ? (uint64_t)found : 0;
}

/* --- methods ----------------------------------------------------------------------------------------------- */

bool j9_read_method(const struct j9core *j, uint64_t address, struct j9_method *m)
{
	const struct j9_flags *f = &j->flags;

	*m = (struct j9_method){.bytecodes = j9_get(j, address, AT_METHOD_BYTECODES)};
	m->rom = m->bytecodes - ddr_size(j->ddr, "J9ROMMethod");
	m->class = j9core_class(j, j9_get(j, j9_get(j, address, AT_METHOD_POOL) & ~POOL_TAGS, AT_POOL_CLASS));
	m->modifiers = j9_get(j, m->rom, AT_ROM_METHOD_MODIFIERS);
	m->n_arguments = (uint32_t)j9_get(j, m->rom, AT_ROM_METHOD_ARGUMENTS);
	m->n_locals = (uint32_t)j9_get(j, m->rom, AT_ROM_METHOD_LOCALS);
	m->native = m->modifiers & f->native;
	m->synchronized = m->modifiers & f->synchronized;
	m->keeps_receiver = m->modifiers & f->constructor && !(m->modifiers & f->empty);
	return m->class != NULL;
}

void j9_add_method(const struct j9core *j, const struct j9_method *m, uint64_t pc, struct text *to)
{
	uint64_t line;

	j9_add_class_name(j, m->class, to);
	text_add_char(to, '.');
	add_utf8(j, j9_relative(j, m->rom, AT_ROM_METHOD_NAME), to);
	text_add_char(to, '(');
	if (m->native) {
		text_add(to, "Native Method)");
		return;
	}
	if (!add_source_file(j, m->class, to)) {
		text_add(to, "Unknown Source)");
		return;
	}
	line = pc >= m->bytecodes ? line_of(j, m, pc - m->bytecodes) : 0;
	if (line) {
		text_add_char(to, ':');
		text_add_unsigned(to, line);
	}
	text_add_char(to, ')');
}
