/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gocore_code.c - functions of the program: the tables of pclntab (runtime/symtab.go). */
#include "dump/gocore/gocore_stack.h"

#include "algorithms/bisect.h"

#include <string.h>

enum {
	MOST_BYTES = 1 << 30,  /* of a table */
	TABLE_ENTRY = 8,       /* bytes of a functab: the offsets of the code and of its _func */
	SECTION = 24,          /* bytes of a textsect: vaddr, end, baseaddr */
	MOST_SECTIONS = 4096,
	MOST_STEPS = 1 << 20,  /* of a table of values */
};

static uint32_t load32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* --- modules -------------------------------------------------------------------------------------------- */

bool gocore_is_there(const struct gocore *g, uint64_t address, uint64_t n)
{
	for (uint64_t here; n; n -= here, address += here) {
		if (!core_bytes(g->core, address, &here) || !here)
			return false;
		here = here < n ? here : n;
	}
	return true;
}

/* A slice that is a member, of elements of so many bytes.  0 bytes: some are not there.  ERR_NOMEM. */
static int read_slice(struct gocore *g, uint64_t module, enum gocore_member member, unsigned size,
    struct gocore_bytes *out, struct err *err)
{
	struct gocore_slice s = gocore_slice(g, module, member, MOST_BYTES / size);

	*out = (struct gocore_bytes){ core_range(g->core, s.address, s.n * size), s.n * size };
	if (out->p || !out->n)
		return 0;
	if (gocore_is_there(g, s.address, out->n)) {
		uint8_t *copy = arena_try(&g->arena, out->n, 1, err);
		if (!copy)
			return ERR_NOMEM;
		out->p = copy;
		if (core_copy(g->core, s.address, copy, out->n))
			return 0;
	}
	*out = (struct gocore_bytes){ NULL, 0 };
	return 0;
}

static int read_module(struct gocore *g, uint64_t address, struct gocore_module *m, struct err *err)
{
	struct gocore_bytes table;

	*m = (struct gocore_module){
		.address = address,
		.first_pc = gocore_get(g, address, AT_MODULE_FIRST_PC),
		.last_pc = gocore_get(g, address, AT_MODULE_LAST_PC),
		.text = gocore_get(g, address, AT_MODULE_TEXT),
		.functions_base = gocore_get(g, address, AT_MODULE_GO_FUNCTIONS),
		.read_only = gocore_get(g, address, AT_MODULE_READ_ONLY),
	};
	struct gocore_slice sections = gocore_slice(g, address, AT_MODULE_TEXT_SECTIONS, MOST_SECTIONS);
	m->sections = gocore_has(g, AT_MODULE_TEXT_SECTIONS) ? sections.address : 0;
	m->n_sections = m->sections ? sections.n : 0;
	int code = read_slice(g, address, AT_MODULE_FUNCTION_NAMES, 1, &m->names, err);
	if (!code)
		code = read_slice(g, address, AT_MODULE_UNIT_FILES, 4, &m->units, err);
	if (!code)
		code = read_slice(g, address, AT_MODULE_FILE_NAMES, 1, &m->files, err);
	if (!code)
		code = read_slice(g, address, AT_MODULE_PC_TABLES, 1, &m->tables, err);
	if (!code)
		code = read_slice(g, address, AT_MODULE_FUNCTIONS, 1, &m->functions, err);
	if (!code)
		code = read_slice(g, address, AT_MODULE_FUNCTION_TABLE, TABLE_ENTRY, &table, err);
	if (code)
		return code;
	m->table = table.p;
	m->n_table = table.n / TABLE_ENTRY;
	return 0;
}

int gocore_read_modules(struct gocore *g, struct err *err)
{
	uint64_t at = gocore_global(g, "runtime.firstmoduledata");

	for (g->n_modules = 0; at && g->n_modules < GOCORE_MODULES; at = gocore_get(g, at, AT_MODULE_NEXT)) {
		int code = read_module(g, at, &g->module[g->n_modules++], err);
		if (code)
			return code;
	}
	if (!g->n_modules || g->module[0].n_table < 2 || !g->module[0].functions.n)
		return err_set(err, ERR_UNSUPPORTED, "the table of functions is neither in the core nor in the program");
	return 0;
}

/* --- functions ------------------------------------------------------------------------------------------ */

/* What code counts from the module's text, and back.  Where a program has several sections of code, the offset is
 * that of a text without gaps. */
static bool offset_of(const struct gocore *g, const struct gocore_module *m, uint64_t pc, uint64_t *offset)
{
	*offset = pc - m->text;
	for (uint64_t i = 0; m->n_sections > 1 && i < m->n_sections; i++) {
		uint64_t at = m->sections + i * SECTION;
		uint64_t first = gocore_word(g, at), end = gocore_word(g, at + 8), base = gocore_word(g, at + 16);
		if (pc < base)
			return false;
		if (pc - base < end - first + (i == m->n_sections - 1)) {
			*offset = pc - base + first;
			return true;
		}
	}
	return true;
}

static uint64_t address_of(const struct gocore *g, const struct gocore_module *m, uint64_t offset)
{
	for (uint64_t i = 0; m->n_sections > 1 && i < m->n_sections; i++) {
		uint64_t at = m->sections + i * SECTION;
		uint64_t first = gocore_word(g, at), end = gocore_word(g, at + 8), base = gocore_word(g, at + 16);
		if (offset >= first && (offset < end || (i == m->n_sections - 1 && offset == end)))
			return base + offset - first;
	}
	return m->text + offset;
}

/* Where the _func of a pc begins; false: there is none. */
static bool find_info(const struct gocore *g, const struct gocore_module *m, uint64_t pc, uint64_t *info)
{
	uint64_t offset, i; /* the first that begins behind it */

	if (pc < m->first_pc || pc >= m->last_pc || m->n_table < 2 || !offset_of(g, m, pc, &offset))
		return false;
	BISECT(i, m->n_table, load32(m->table + i * TABLE_ENTRY) <= offset);
	if (!i || i == m->n_table) /* the last entry is the end of the one before */
		return false;
	*info = load32(m->table + (i - 1) * TABLE_ENTRY + 4);
	return true;
}

uint32_t gocore_function_number(const struct gocore *g, const struct gocore_function *f, enum gocore_member member)
{
	const uint8_t *p = f->info + g->at[member].offset;
	return g->at[member].size == 1 ? *p : load32(p);
}

/* Bytes of a _func before the offsets of its tables and data. */
static uint64_t info_bytes(const struct gocore *g)
{
	return g->at[AT_FUNCTION_N_DATA].offset + g->at[AT_FUNCTION_N_DATA].size;
}

bool gocore_function_at(const struct gocore *g, uint64_t pc, struct gocore_function *out)
{
	for (unsigned i = 0; i < g->n_modules; i++) {
		const struct gocore_module *m = &g->module[i];
		uint64_t info;
		if (!find_info(g, m, pc, &info))
			continue;
		if (info >= m->functions.n || m->functions.n - info < info_bytes(g))
			return false;
		*out = (struct gocore_function){ .module = m, .info = m->functions.p + info,
		    .end = m->functions.p + m->functions.n, .name = "" };
		uint32_t name = gocore_function_number(g, out, AT_FUNCTION_NAME);
		if (name && name < m->names.n) {
			out->name = (const char *)m->names.p + name;
			out->n_name = strnlen(out->name, m->names.n - name);
		}
		out->entry = address_of(g, m, gocore_function_number(g, out, AT_FUNCTION_ENTRY));
		out->id = gocore_function_number(g, out, AT_FUNCTION_ID);
		out->flags = gocore_function_number(g, out, AT_FUNCTION_FLAGS);
		out->arguments = (int32_t)gocore_function_number(g, out, AT_FUNCTION_ARGUMENTS);
		return true;
	}
	return false;
}

/* --- tables and data of a function ---------------------------------------------------------------------- */

/* A number of 7 bits in each byte. */
static bool take(const uint8_t **p, const uint8_t *end, uint32_t *out)
{
	*out = 0;
	for (unsigned shift = 0; *p < end && shift < 35; shift += 7) {
		uint8_t byte = *(*p)++;
		*out |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

int32_t gocore_pc_value(const struct gocore *g, const struct gocore_function *f, uint32_t table, uint64_t pc)
{
	const struct gocore_bytes *all = &f->module->tables;
	const unsigned step = g->machine == CORE_ARM64 ? 4 : 1;
	uint64_t at = f->entry;
	uint32_t value = UINT32_MAX, change, length;

	if (!table || table >= all->n)
		return -1;
	/* a change of the value, of which the lowest bit is the sign, and the bytes of code for which it then holds */
	const uint8_t *p = all->p + table, *end = all->p + all->n;
	for (unsigned i = 0; i < MOST_STEPS; i++) {
		if (!take(&p, end, &change) || (!change && at != f->entry) || !take(&p, end, &length))
			return -1;
		value += change & 1 ? ~(change >> 1) : change >> 1;
		at += (uint64_t)length * step;
		if (pc < at)
			return (int32_t)value;
	}
	return -1;
}

/* The offsets that stand behind a _func. */
static bool offset_behind(const struct gocore *g, const struct gocore_function *f, uint64_t number, uint32_t *out)
{
	const uint8_t *p = f->info + info_bytes(g);

	if ((uint64_t)(f->end - p) / 4 <= number)
		return false;
	*out = load32(p + number * 4);
	return true;
}

int32_t gocore_pc_data(const struct gocore *g, const struct gocore_function *f, uint32_t number, uint64_t pc)
{
	uint32_t table;

	if (number >= gocore_function_number(g, f, AT_FUNCTION_N_TABLES) || !offset_behind(g, f, number, &table))
		return -1;
	return gocore_pc_value(g, f, table, pc);
}

uint64_t gocore_function_data(const struct gocore *g, const struct gocore_function *f, uint32_t number)
{
	uint64_t tables = gocore_function_number(g, f, AT_FUNCTION_N_TABLES);
	uint32_t offset;

	if (number >= gocore_function_number(g, f, AT_FUNCTION_N_DATA) || !offset_behind(g, f, tables + number, &offset))
		return 0;
	return offset == UINT32_MAX ? 0 : f->module->functions_base + offset;
}

bool gocore_line(const struct gocore *g, const struct gocore_function *f, uint64_t pc, struct gocore_bytes *file,
    uint64_t *line)
{
	const struct gocore_module *m = f->module;
	int32_t number = gocore_pc_value(g, f, gocore_function_number(g, f, AT_FUNCTION_FILE_TABLE), pc);
	int32_t found = gocore_pc_value(g, f, gocore_function_number(g, f, AT_FUNCTION_LINE_TABLE), pc);
	uint64_t unit = gocore_function_number(g, f, AT_FUNCTION_UNIT);

	if (number < 0 || found < 0 || m->units.n / 4 <= unit + (uint32_t)number)
		return false;
	uint32_t name = load32(m->units.p + (unit + (uint32_t)number) * 4);
	if (name >= m->files.n)
		return false;
	file->p = m->files.p + name;
	file->n = strnlen((const char *)file->p, m->files.n - name);
	*line = (uint32_t)found;
	return true;
}
