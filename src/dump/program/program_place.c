/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program_place.c - DWARF expressions that say where something lies.
 *
 * Go writes expressions as plain blocks.  DWARF 4 uses such blocks for other things, so libdw does
 * not take them for expressions.  They are decoded here; only the few operations that Go's tools
 * write are known.
 */
#include "dump/program/program_read.h"

#ifdef HAVE_LIBDW
#include <dwarf.h>

struct bytes { const uint8_t *at, *end; };

static bool take_leb(struct bytes *b, bool is_signed, uint64_t *out)
{
	uint64_t value = 0;

	for (unsigned shift = 0; b->at < b->end && shift < 70; shift += 7) {
		uint8_t byte = *b->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7F) << shift;
		if (byte & 0x80)
			continue;
		if (is_signed && byte & 0x40 && shift + 7 < 64)
			value |= ~UINT64_C(0) << (shift + 7);
		*out = value;
		return true;
	}
	return false;
}

static bool take_fixed(const struct program *p, struct bytes *b, unsigned size, uint64_t *out)
{
	if ((size_t)(b->end - b->at) < size)
		return false;
	*out = 0;
	for (unsigned i = 0; i < size; i++)
		*out |= (uint64_t)b->at[i] << 8 * (p->big_endian ? size - 1 - i : i);
	b->at += size;
	return true;
}

static bool take_operation(const struct program *p, struct bytes *b, Dwarf_Op *op)
{
	uint64_t number = 0;
	bool good = true;

	*op = (Dwarf_Op){.atom = *b->at++};
	switch (op->atom) {
	case DW_OP_addr:
		good = take_fixed(p, b, p->word, &number);
		break;
	case DW_OP_fbreg: case DW_OP_consts:
	case DW_OP_breg0 ... DW_OP_breg31:
		good = take_leb(b, true, &number);
		break;
	case DW_OP_constu: case DW_OP_plus_uconst: case DW_OP_piece: case DW_OP_regx:
		good = take_leb(b, false, &number);
		break;
	case DW_OP_plus: case DW_OP_call_frame_cfa: case DW_OP_deref: case DW_OP_stack_value:
	case DW_OP_reg0 ... DW_OP_reg31: case DW_OP_lit0 ... DW_OP_lit31:
		break;
	default:
		good = false;
	}
	op->number = number;
	return good;
}

size_t program_place(const struct program *p, Dwarf_Attribute *attribute, uint64_t pc,
    Dwarf_Op out[MOST_OPERATIONS])
{
	Dwarf_Block block;
	Dwarf_Op *ops;
	size_t n = 0;

	switch (dwarf_whatform(attribute)) {
	case DW_FORM_block: case DW_FORM_block1: case DW_FORM_block2: case DW_FORM_block4:
		if (dwarf_formblock(attribute, &block))
			return 0;
		for (struct bytes b = {block.data, block.data + block.length}; b.at < b.end;)
			if (n == MOST_OPERATIONS || !take_operation(p, &b, &out[n++]))
				return 0;
		return n;
	default:
		if (dwarf_getlocation_addr(attribute, pc, &ops, &n, 1) != 1 || n > MOST_OPERATIONS)
			return 0;
		for (size_t i = 0; i < n; i++)
			out[i] = ops[i];
		return n;
	}
}
#endif
