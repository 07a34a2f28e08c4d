/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program_types.c - from DWARF entries to types.
 *
 * Go writes types so (cmd/internal/dwarf): a string, a slice or a named struct is a structure type;
 * a map, channel or interface is a typedef, which leads to what lies in memory; the attribute
 * 0x2900, Go's own, holds the kind (reflect.Kind).  A typedef without a kind is only another name
 * of a type.
 */
#include "dump/program/program_read.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "base/mem.h"
#include "memory/big.h"

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HOPS = 32 };

/* Go's kinds, reflect.Kind. */
enum {
	GO_BOOL = 1, GO_INT = 2, GO_INT64 = 6, GO_UINT = 7, GO_UINT64 = 11, GO_UINTPTR = 12,
	GO_FLOAT32 = 13, GO_FLOAT64 = 14, GO_COMPLEX64 = 15, GO_COMPLEX128 = 16, GO_ARRAY = 17,
	GO_CHAN = 18, GO_FUNC = 19, GO_INTERFACE = 20, GO_MAP = 21, GO_POINTER = 22, GO_SLICE = 23,
	GO_STRING = 24, GO_STRUCT = 25, GO_UNSAFE = 26, GO_KINDS = 27
};

struct raw {
	uint64_t die;             /* ascending */
	uint64_t to, key, element; /* offsets of entries, 0: none */
	uint32_t type;            /* index, TYPE_NONE for another name */
};

struct type_reader {
	struct program *p;
	struct raw *raw;
	uint32_t n, cap;
};

struct type_reader *type_reader_new(struct program *p)
{
	struct type_reader *r = xcalloc(1, sizeof *r);
	r->p = p;
	return r;
}

void type_reader_free(struct type_reader *r)
{
	big_free(r->raw);
	free(r);
}

static enum type_kind kind_by_tag(struct entry *e)
{
	uint64_t encoding = 0;

	switch (e->tag) {
	case DW_TAG_structure_type: return TYPE_STRUCT;
	case DW_TAG_pointer_type: return TYPE_POINTER;
	case DW_TAG_array_type: return TYPE_ARRAY;
	case DW_TAG_subroutine_type: return TYPE_FUNC;
	}
	entry_number(e, WANT_ENCODING, &encoding);
	switch (encoding) {
	case DW_ATE_boolean: return TYPE_BOOL;
	case DW_ATE_signed: case DW_ATE_signed_char: return TYPE_INT;
	case DW_ATE_unsigned: case DW_ATE_unsigned_char: return TYPE_UINT;
	case DW_ATE_float: return TYPE_FLOAT;
	case DW_ATE_complex_float: return TYPE_COMPLEX;
	default: return TYPE_UNKNOWN;
	}
}

static enum type_kind kind_of(struct entry *e, unsigned go)
{
	static const uint8_t kinds[GO_KINDS] = {
	    [GO_BOOL] = TYPE_BOOL, [GO_INT ... GO_INT64] = TYPE_INT, [GO_UINT ... GO_UINT64] = TYPE_UINT,
	    [GO_UINTPTR] = TYPE_UINTPTR, [GO_FLOAT32 ... GO_FLOAT64] = TYPE_FLOAT,
	    [GO_COMPLEX64 ... GO_COMPLEX128] = TYPE_COMPLEX, [GO_ARRAY] = TYPE_ARRAY,
	    [GO_CHAN] = TYPE_CHAN, [GO_FUNC] = TYPE_FUNC, [GO_INTERFACE] = TYPE_INTERFACE,
	    [GO_MAP] = TYPE_MAP, [GO_POINTER] = TYPE_POINTER, [GO_SLICE] = TYPE_SLICE,
	    [GO_STRING] = TYPE_STRING, [GO_STRUCT] = TYPE_STRUCT, [GO_UNSAFE] = TYPE_POINTER,
	};
	enum type_kind kind = go < GO_KINDS ? (enum type_kind)kinds[go] : TYPE_UNKNOWN;
	return kind == TYPE_UNKNOWN ? kind_by_tag(e) : kind;
}

static uint64_t size_of(const struct program *p, struct entry *e, enum type_kind kind)
{
	uint64_t size = 0;

	switch (kind) {
	case TYPE_POINTER: case TYPE_MAP: case TYPE_CHAN: case TYPE_FUNC:
		return p->word;
	case TYPE_STRING: case TYPE_INTERFACE:
		return 2 * p->word;
	case TYPE_SLICE:
		return 3 * p->word;
	default:
		entry_number(e, WANT_SIZE, &size);
		return size;
	}
}

/* Offset from runtime.types, or an address in older releases (and for uintptr always). */
static uint64_t descriptor_of(const struct program *p, struct entry *e)
{
	uint64_t value = 0;

	Dwarf_Addr address;

	if (!p->types_begin || !(e->have & 1u << WANT_DESCRIPTOR))
		return 0;
	if (!entry_number(e, WANT_DESCRIPTOR, &value) &&
	    !dwarf_formaddr(&e->attribute[WANT_DESCRIPTOR], &address))
		value = address;
	if (!value)
		return 0;
	if (value >= p->types_begin && value < p->types_end)
		return value;
	return value < p->types_end - p->types_begin ? p->types_begin + value : 0;
}

/* Where a member lies: a number, or in old releases an expression that adds one. */
static bool member_offset(const struct program *p, struct entry *e, uint64_t *out)
{
	Dwarf_Op op[MOST_OPERATIONS];

	if (entry_number(e, WANT_MEMBER, out))
		return true;
	if (!(e->have & 1u << WANT_MEMBER) || program_place(p, &e->attribute[WANT_MEMBER], 0, op) < 1)
		return false;
	*out = op->number;
	return op->atom == DW_OP_plus_uconst || op->atom == DW_OP_constu || op->atom == DW_OP_consts;
}

/* Members of a struct; their types are offsets in .debug_info until finish, in r->member. */
static void read_members(struct type_reader *r, struct type *type, Dwarf_Die *of)
{
	struct types *t = &r->p->types;
	struct entry e;
	Dwarf_Die die;

	type->first_field = t->n_fields;
	if (dwarf_child(of, &die))
		return;
	do {
		uint64_t offset = 0, embedded = 0;
		if (dwarf_tag(&die) != DW_TAG_member || t->n_fields >= MOST_ENTRIES)
			continue;
		entry_read(&e, &die);
		const char *name = entry_name(&e);
		uint64_t to = entry_reference(&e, WANT_TYPE);
		if (!name || !to || to > UINT32_MAX || !member_offset(r->p, &e, &offset))
			continue;
		entry_number(&e, WANT_EMBEDDED, &embedded);
		/* the type is the entry's offset until finish */
		struct type_field *f = BIG_PUSH(t->field, t->n_fields, t->cap_fields, r->p->err);
		r->p->refused |= !f;
		if (!f)
			return;
		*f = (struct type_field){
		    program_keep(r->p, &t->arena, name), offset, (uint32_t)to, embedded != 0};
		type->n_fields++;
	} while (!dwarf_siblingof(&die, &die));
}

static uint64_t array_count(Dwarf_Die *of)
{
	struct entry e;
	Dwarf_Die die;
	uint64_t n = 0;

	if (dwarf_child(of, &die))
		return 0;
	do {
		if (dwarf_tag(&die) != DW_TAG_subrange_type)
			continue;
		entry_read(&e, &die);
		if (entry_number(&e, WANT_COUNT, &n))
			return n;
		return entry_number(&e, WANT_UPPER, &n) && n != UINT64_MAX ? n + 1 : 0;
	} while (!dwarf_siblingof(&die, &die));
	return 0;
}

void type_reader_note(struct type_reader *r, struct entry *e)
{
	struct types *t = &r->p->types;
	uint64_t go = 0;
	const char *name = entry_name(e);
	struct raw raw = {.die = (uint64_t)dwarf_dieoffset(&e->die), .type = TYPE_NONE};

	if (!name || t->n >= MOST_ENTRIES || r->n >= MOST_ENTRIES)
		return;
	entry_number(e, WANT_KIND, &go);
	raw.to = entry_reference(e, WANT_TYPE);
	if (e->tag != DW_TAG_typedef || go) {
		enum type_kind kind = kind_of(e, go & 31);
		struct type type = {
		    .name = program_keep(r->p, &t->arena, name),
		    .kind = kind,
		    .size = size_of(r->p, e, kind),
		    .element = TYPE_NONE,
		    .key = TYPE_NONE,
		    .layout = TYPE_NONE,
		    .descriptor = descriptor_of(r->p, e),
		};
		raw.key = entry_reference(e, WANT_KEY);
		raw.element = entry_reference(e, WANT_ELEMENT);
		if (kind == TYPE_STRUCT)
			read_members(r, &type, &e->die);
		if (kind == TYPE_ARRAY)
			type.count = array_count(&e->die);
		raw.type = t->n;
		struct type *to = BIG_PUSH(t->type, t->n, t->cap, r->p->err);
		r->p->refused |= !to;
		if (!to)
			return;
		*to = type;
	}
	struct raw *place = BIG_PUSH(r->raw, r->n, r->cap, r->p->err);
	r->p->refused |= !place;
	if (place)
		*place = raw;
}

/* --- what refers to what ------------------------------------------------------------------------ */

static const struct raw *raw_at(const struct type_reader *r, uint64_t die)
{
	uint32_t at;

	BISECT(at, r->n, r->raw[at].die < die);
	return at < r->n && die && r->raw[at].die == die ? &r->raw[at] : NULL;
}

uint32_t type_reader_find(const struct type_reader *r, uint64_t die)
{
	const struct raw *raw = raw_at(r, die);

	for (int hops = 0; raw && raw->type == TYPE_NONE && hops < MOST_HOPS; hops++)
		raw = raw_at(r, raw->to);
	return raw ? raw->type : TYPE_NONE;
}

/* The struct that a typedef's chain of names and pointers ends in, or TYPE_NONE. */
static uint32_t struct_behind(const struct type_reader *r, uint64_t die)
{
	const struct raw *raw = raw_at(r, die);

	for (int hops = 0; raw && hops < MOST_HOPS; hops++) {
		if (raw->type != TYPE_NONE && r->p->types.type[raw->type].kind == TYPE_STRUCT)
			return raw->type;
		raw = raw_at(r, raw->to);
	}
	return TYPE_NONE;
}

static void resolve(struct type_reader *r, const struct raw *raw)
{
	struct types *t = &r->p->types;
	struct type *type = &t->type[raw->type];
	uint32_t behind;

	switch (type->kind) {
	case TYPE_POINTER: case TYPE_ARRAY:
		type->element = type_reader_find(r, raw->to);
		break;
	case TYPE_SLICE: case TYPE_MAP: case TYPE_CHAN:
		type->element = type_reader_find(r, raw->element);
		type->key = type_reader_find(r, raw->key);
		if (type->kind != TYPE_SLICE)
			type->layout = struct_behind(r, raw->to);
		break;
	case TYPE_INTERFACE:
		behind = struct_behind(r, raw->to);
		if (behind != TYPE_NONE && !strcmp(t->type[behind].name, "runtime.eface"))
			type->kind = TYPE_EMPTY_INTERFACE;
		break;
	default:
		break;
	}
}

static int by_die(const void *a, const void *b)
{
	const struct raw *x = a, *y = b;
	return (x->die > y->die) - (x->die < y->die);
}

int type_reader_finish(struct type_reader *r, struct err *err)
{
	struct types *t = &r->p->types;

	sort_array(r->raw, r->n, sizeof *r->raw, by_die);
	for (uint32_t i = 0; i < t->n_fields; i++)
		t->field[i].type = type_reader_find(r, t->field[i].type);
	for (uint32_t i = 0; i < r->n; i++)
		if (r->raw[i].type != TYPE_NONE)
			resolve(r, &r->raw[i]);
	return types_settle(t, err);
}
#endif
