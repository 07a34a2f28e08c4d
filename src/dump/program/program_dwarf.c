/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program_dwarf.c - one walk over the DWARF of an executable: types, variables, functions.
 *
 * Only entries directly below a compile unit are looked at; what is inside functions is read when a
 * frame asks for it (program_locals.c).
 */
#include "dump/program/program_read.h"

#include "base/progress.h"
#include "memory/big.h"

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

/* --- one entry ---------------------------------------------------------------------------------- */

static int wanted_of(unsigned code)
{
	switch (code) {
	case DW_AT_name: return WANT_NAME;
	case DW_AT_type: return WANT_TYPE;
	case DW_AT_byte_size: return WANT_SIZE;
	case DW_AT_count: return WANT_COUNT;
	case DW_AT_upper_bound: return WANT_UPPER;
	case DW_AT_location: return WANT_LOCATION;
	case DW_AT_data_member_location: return WANT_MEMBER;
	case DW_AT_encoding: return WANT_ENCODING;
	case DW_AT_low_pc: return WANT_LOW;
	case DW_AT_abstract_origin: return WANT_ORIGIN;
	case DW_AT_const_value: return WANT_VALUE;
	case 0x2900: return WANT_KIND; /* Go's own */
	case 0x2901: return WANT_KEY;
	case 0x2902: return WANT_ELEMENT;
	case 0x2903: return WANT_EMBEDDED;
	case 0x2904: return WANT_DESCRIPTOR;
	default: return -1;
	}
}

static int note_attribute(Dwarf_Attribute *attribute, void *context)
{
	struct entry *e = context;
	int want = wanted_of(dwarf_whatattr(attribute));

	e->last = want;
	if (want >= 0 && !(e->have & 1u << want)) {
		e->attribute[want] = *attribute;
		e->have |= 1u << want;
	}
	return DWARF_CB_OK;
}

void entry_read(struct entry *e, const Dwarf_Die *die)
{
	e->die = *die;
	e->tag = dwarf_tag(&e->die);
	e->have = 0;
	e->last = -1;
	/* Only behind the attribute does elfutils look whether it ends within the section: a name may not. */
	if (dwarf_getattrs(&e->die, note_attribute, e, 0) < 0 && e->last >= 0)
		e->have &= ~(1u << e->last);
}

const char *entry_name(struct entry *e)
{
	return e->have & 1u << WANT_NAME ? dwarf_formstring(&e->attribute[WANT_NAME]) : NULL;
}

const char *die_name(const Dwarf_Die *die)
{
	struct entry e;
	Dwarf_Die origin;

	entry_read(&e, die);
	if (!(e.have & 1u << WANT_NAME) && e.have & 1u << WANT_ORIGIN &&
	    dwarf_formref_die(&e.attribute[WANT_ORIGIN], &origin))
		entry_read(&e, &origin);
	return entry_name(&e);
}

bool entry_number(struct entry *e, enum wanted what, uint64_t *out)
{
	Dwarf_Word word;

	if (!(e->have & 1u << what) || dwarf_formudata(&e->attribute[what], &word))
		return false;
	*out = word;
	return true;
}

uint64_t entry_reference(struct entry *e, enum wanted what)
{
	Dwarf_Die to;

	if (!(e->have & 1u << what) || !dwarf_formref_die(&e->attribute[what], &to))
		return 0;
	return dwarf_dieoffset(&to);
}

/* --- the walk ----------------------------------------------------------------------------------- */

/* A variable whose type is an offset until all types are known. */
struct pending {
	const char *name;
	uint64_t address, type;
};

struct walk {
	struct program *p;
	struct pending *variable;
	uint32_t n_variables, cap_variables;
	struct entry e;
	uint64_t n_entries; /* seen */
};

static void note_variable(struct walk *w)
{
	Dwarf_Op op[MOST_OPERATIONS];
	const char *name = entry_name(&w->e);
	uint64_t type = entry_reference(&w->e, WANT_TYPE);

	if (!name || !type || w->n_variables >= MOST_ENTRIES || !(w->e.have & 1u << WANT_LOCATION))
		return;
	if (program_place(w->p, &w->e.attribute[WANT_LOCATION], 0, op) != 1 || op->atom != DW_OP_addr || !op->number)
		return;
	struct pending *to = BIG_PUSH(w->variable, w->n_variables, w->cap_variables, w->p->err);
	w->p->refused |= !to;
	if (to)
		*to = (struct pending){program_keep(w->p, &w->p->arena, name), op->number, type};
}

static void note_constant(struct walk *w)
{
	struct program *p = w->p;
	uint64_t value;
	const char *name = entry_name(&w->e);

	if (!name || strncmp(name, "runtime.", 8) != 0 || p->n_numbers >= MOST_ENTRIES ||
	    !entry_number(&w->e, WANT_VALUE, &value))
		return;
	struct program_number *to = BIG_PUSH(p->number, p->n_numbers, p->cap_numbers, p->err);
	p->refused |= !to;
	if (to)
		*to = (struct program_number){program_keep(p, &p->arena, name), value};
}

static void note_function(struct walk *w)
{
	struct program *p = w->p;
	Dwarf_Addr low, high;
	const char *name = entry_name(&w->e);

	if (!(w->e.have & 1u << WANT_LOW) || p->n_functions >= MOST_ENTRIES ||
	    dwarf_lowpc(&w->e.die, &low) || dwarf_highpc(&w->e.die, &high) || high <= low)
		return;
	if (!name && !(name = die_name(&w->e.die)))
		return;
	struct program_range *to = BIG_PUSH(p->function, p->n_functions, p->cap_functions, p->err);
	p->refused |= !to;
	if (to)
		*to = (struct program_range){
		    low, high, program_keep(p, &p->arena, name), dwarf_dieoffset(&w->e.die)};
}

static void walk_unit(struct walk *w, Dwarf_Die *unit)
{
	Dwarf_Die die;
	const char *name = dwarf_diename(unit);
	bool runtime = name && !strcmp(name, "runtime");

	if (dwarf_child(unit, &die))
		return;
	do {
		if (progress_stops(progress_own(), w->n_entries++))
			return;
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
			entry_read(&w->e, &die);
			note_variable(w);
			break;
		case DW_TAG_constant:
			if (!runtime)
				break;
			entry_read(&w->e, &die);
			note_constant(w);
			break;
		case DW_TAG_subprogram:
			entry_read(&w->e, &die);
			note_function(w);
			break;
		case DW_TAG_structure_type: case DW_TAG_pointer_type: case DW_TAG_typedef:
		case DW_TAG_base_type: case DW_TAG_array_type: case DW_TAG_subroutine_type:
			entry_read(&w->e, &die);
			type_reader_note(w->p->reader, &w->e);
			break;
		}
	} while (!w->p->refused && !dwarf_siblingof(&die, &die));
}

static int place_variables(struct walk *w, struct err *err)
{
	struct program *p = w->p;

	for (uint32_t i = 0; i < w->n_variables; i++) {
		uint32_t type = type_reader_find(w->p->reader, w->variable[i].type);
		if (type == TYPE_NONE)
			continue;
		struct program_variable *to =
		    BIG_PUSH(p->variable, p->n_variables, p->cap_variables, err);
		if (!to)
			return ERR_NOMEM;
		*to = (struct program_variable){w->variable[i].name, w->variable[i].address, type};
	}
	return 0;
}

/* Bytes of the debug sections once inflated, so that a small file cannot ask for all memory. */
static uint64_t inflated_size(Elf *elf)
{
	uint64_t sum = 0;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
		GElf_Shdr head;
		GElf_Chdr packed;
		const char *name = gelf_getshdr(s, &head) ? elf_strptr(elf, names, head.sh_name) : NULL;
		if (!name)
			continue;
		uint64_t size = head.sh_type == SHT_NOBITS ? 0 : head.sh_size;
		if (head.sh_flags & SHF_COMPRESSED && gelf_getchdr(s, &packed)) {
			size = packed.ch_size;
		} else if (!strncmp(name, ".zdebug", 7)) { /* "ZLIB", then the size, big-endian */
			Elf_Data *data = elf_rawdata(s, NULL);
			const uint8_t *b = data && data->d_size >= 12 ? data->d_buf : NULL;
			for (int i = 4; b && i < 12; i++)
				size = (i == 4 ? 0 : size << 8) | b[i];
		} else if (strncmp(name, ".debug", 6) != 0) {
			continue;
		}
		sum = size > MOST_DWARF - sum ? MOST_DWARF : sum + size;
	}
	return sum;
}

int program_read_dwarf(struct program *p, struct err *err)
{
	struct walk w = {.p = p};
	Dwarf_CU *unit = NULL;
	Dwarf_Die top;
	Elf *elf = p->debug_elf ? p->debug_elf : p->elf;
	uint64_t size = inflated_size(elf);

	if (size >= MOST_DWARF) {
		p->lacks = "its DWARF is too large (more than 2 GiB)";
		return 0;
	}
	p->dwarf = size ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	if (!p->dwarf) {
		if (size)
			p->lacks = "its DWARF is unreadable";
		p->unread = size > 0;
		return 0;
	}
	p->reader = type_reader_new(p);
	struct progress *work = progress_own();
	while (!p->refused && !progress_cancelled(work) && !dwarf_get_units(p->dwarf, unit, &unit, NULL, NULL, &top, NULL))
		if (dwarf_tag(&top) == DW_TAG_compile_unit)
			walk_unit(&w, &top);
	int code = progress_cancelled(work) ? err_cancelled(err) :
	    p->refused ? ERR_NOMEM : type_reader_finish(p->reader, err);
	if (!code)
		code = place_variables(&w, err);
	big_free(w.variable);
	if (code)
		return code;
	p->has_types = p->types.n > 0;
	if (!p->has_types)
		p->lacks = "its DWARF has no types";
	return 0;
}
#endif
