/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program_locals.c - which variables of a function lie in memory at a pc.
 *
 * The variables of a function are read when somebody asks for them, since only functions that stand
 * in frames matter.  Go's compilers describe a place by its offset from the canonical frame address
 * (fbreg, or call_frame_cfa and a sum), and piece by piece if the parts of a variable are kept
 * apart.  Places in registers are left out: registers hold nothing across a call.
 */
#include "dump/program/program_read.h"

#include "memory/big.h"

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <inttypes.h>

enum { MOST_LOCALS = 4096, MOST_NESTING = 64, MOST_VISITED = 1 << 16 };

/* Sets p->refused when there is no memory. */
static void add_local(struct program *p, const struct program_local *l)
{
	const struct types *t = &p->types;
	uint64_t size = t->type[l->type].size;

	if (p->n_locals == MOST_LOCALS || l->first > size || l->size > size - l->first || !l->size)
		return;
	struct program_local *to = BIG_PUSH(p->local, p->n_locals, p->cap_locals, p->err);
	p->refused |= !to;
	if (to)
		*to = *l;
}

/* Add the pieces of variable l, whose places the n operations tell, that lie in memory. */
static void add_places(struct program *p, struct program_local *l, const Dwarf_Op *op, size_t n)
{
	bool in_memory = false, pieces = false;
	uint64_t at = 0; /* byte of the variable */
	int64_t constant = 0;

	for (size_t i = 0; i < n; i++) {
		switch (op[i].atom) {
		case DW_OP_fbreg:
			l->offset = (int64_t)op[i].number;
			in_memory = true;
			break;
		case DW_OP_call_frame_cfa:
			l->offset = 0;
			in_memory = true;
			break;
		case DW_OP_consts: case DW_OP_constu:
			constant = (int64_t)op[i].number;
			break;
		case DW_OP_plus:
			l->offset = (int64_t)((uint64_t)l->offset + (uint64_t)constant);
			break;
		case DW_OP_plus_uconst:
			l->offset = (int64_t)((uint64_t)l->offset + op[i].number);
			break;
		case DW_OP_piece:
			pieces = true;
			l->first = at;
			l->size = op[i].number;
			if (in_memory)
				add_local(p, l);
			at += op[i].number;
			in_memory = false;
			break;
		default: /* a register, a constant, something computed */
			in_memory = false;
			if (!pieces && n == 1)
				return;
			break;
		}
	}
	if (in_memory && !pieces) {
		l->first = 0;
		l->size = p->types.type[l->type].size;
		add_local(p, l);
	}
}

static void add_variable(struct program *p, Dwarf_Die *die, uint64_t pc)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type;
	Dwarf_Op op[MOST_OPERATIONS];
	size_t n;

	if (!dwarf_attr(die, DW_AT_location, &attribute) || !(n = program_place(p, &attribute, pc, op)))
		return;
	if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) ||
	    !dwarf_formref_die(&attribute, &type))
		return;
	const char *name = die_name(die);
	struct program_local l = {
	    .name = name ? name : "",
	    .type = type_reader_find(p->reader, dwarf_dieoffset(&type)),
	    .parameter = dwarf_tag(die) == DW_TAG_formal_parameter,
	};
	if (l.type != TYPE_NONE)
		add_places(p, &l, op, n);
}

/* The variables below a function and below its blocks and inlined functions that contain pc. */
static void walk_function(struct program *p, const Dwarf_Die *function, uint64_t pc)
{
	Dwarf_Die level[MOST_NESTING], inner;
	unsigned depth = 0, visited = 0;

	inner = *function;
	if (dwarf_child(&inner, &level[0]))
		return;
	for (;;) {
		Dwarf_Die *die = &level[depth];
		int tag = dwarf_tag(die);
		bool down = false;
		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			add_variable(p, die, pc);
		else if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) &&
		    depth + 1 < MOST_NESTING && dwarf_haspc(die, pc) == 1)
			down = !dwarf_child(die, &level[depth + 1]);
		if (++visited > MOST_VISITED)
			return;
		if (down) {
			depth++;
			continue;
		}
		while (dwarf_siblingof(&level[depth], &level[depth])) {
			if (!depth)
				return;
			depth--;
		}
	}
}

int program_locals(struct program *p, uint64_t pc, const struct program_local **out, size_t *n,
    struct err *err)
{
	uint32_t number;
	Dwarf_Die die;
	Dwarf_Attribute base;
	Dwarf_Op op[MOST_OPERATIONS];

	p->n_locals = 0;
	*n = 0;
	*out = p->local;
	if (!p->dwarf || !program_function_at(p, pc, &number) || !p->function[number].die)
		return 0;
	p->err = err;
	p->refused = false;
	if (dwarf_offdie(p->dwarf, p->function[number].die, &die) &&
	    dwarf_attr(&die, DW_AT_frame_base, &base) && program_place(p, &base, 0, op) == 1 &&
	    op->atom == DW_OP_call_frame_cfa)
		walk_function(p, &die, pc - p->bias);
	p->err = NULL;
	if (p->refused)
		return ERR_NOMEM;
	*out = p->local;
	*n = p->n_locals;
	return 0;
}

/* --- closures ----------------------------------------------------------------------------------- */

enum { CLOSURE_OFFSET = 0x2907 /* DW_AT_go_closure_offset: cmd/internal/dwarf */, MOST_CAPTURES = 1 << 20 };

/* Sets p->refused when there is no memory. */
static void add_capture(struct program *p, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type;
	Dwarf_Word offset;

	if (!dwarf_attr_integrate(die, CLOSURE_OFFSET, &attribute) || dwarf_formudata(&attribute, &offset) ||
	    !dwarf_attr_integrate(die, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, &type))
		return;
	const char *name = die_name(die);
	struct program_capture c = {
	    .name = name ? name : "",
	    .type = type_reader_find(p->reader, dwarf_dieoffset(&type)),
	    .offset = offset,
	};
	if (c.type == TYPE_NONE || p->n_captures == MOST_CAPTURES)
		return;
	struct program_capture *to = BIG_PUSH(p->capture, p->n_captures, p->cap_captures, p->err);
	p->refused |= !to;
	if (to)
		*to = c;
}

static void find_captures(struct program *p, uint32_t function)
{
	Dwarf_Die die, inner;

	if (!p->function[function].die || !dwarf_offdie(p->dwarf, p->function[function].die, &die) ||
	    dwarf_child(&die, &inner))
		return;
	unsigned visited = 0;
	do {
		if (dwarf_tag(&inner) == DW_TAG_variable)
			add_capture(p, &inner);
	} while (++visited < MOST_VISITED && !p->refused && !dwarf_siblingof(&inner, &inner));
}

int program_captures(struct program *p, uint32_t function, const struct program_capture **out, size_t *n,
    struct err *err)
{
	*n = 0;
	*out = NULL;
	if (!p->dwarf || function >= p->n_functions)
		return 0;
	if (!p->captured)
		p->captured = big_alloc(p->n_functions, sizeof *p->captured, err);
	if (!p->captured)
		return ERR_NOMEM;
	struct captured *c = &p->captured[function];
	if (!c->n_plus_1) {
		p->err = err;
		p->refused = false;
		size_t first = p->n_captures;
		find_captures(p, function);
		p->err = NULL;
		if (p->refused)
			return ERR_NOMEM;
		*c = (struct captured){(uint32_t)first, (uint32_t)(p->n_captures - first) + 1};
	}
	*n = c->n_plus_1 - 1;
	if (*n)
		*out = p->capture + c->first;
	return 0;
}
#endif
