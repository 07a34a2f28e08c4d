/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_fields.c - the fields that a class declares, and where they are in its instances and in its static memory.
 *
 * The VM does not keep the offsets of fields.  They follow from their order in the class file: those of 8 bytes,
 * references, those of 4 bytes, each kind with the VM's own fields behind it, and one of 4 bytes in a gap that the
 * superclass left.  What comes out is compared with what the VM does keep of each class: the size of an instance, the
 * gap left for subclasses, the places of the VM's own fields, and which of its words are references.  Where one of
 * them differs no field is told.
 *
 * After resolvefield.cpp and ObjectFieldInfo.hpp of runtime/vm, and romFieldSizeOf of DDR_VM.
 */
#include "dump/j9core/j9core_read.h"

#include "memory/big.h"

#include <string.h>

enum { FIELDS_MOST = 1 << 16, HIDDEN_MOST = 1 << 10, GAP = 4 };
#define NOWHERE UINT64_MAX

/* By the bytes that they take. */
enum field_kind { DOUBLES, OBJECTS, SINGLES, FIELD_KINDS };

void j9_read_modifiers(struct j9core *j)
{
	static const char of[] = "J9FieldFlags";

	j->modifiers = (struct j9_modifiers){
		.is_static = j9_constant(j, "J9JavaAccessFlags", "J9AccStatic", 0x8),
		.object = j9_constant(j, of, "J9FieldFlagObject", 0x20000),
		.wide = j9_constant(j, of, "J9FieldSizeDouble", 0x40000),
		.constant = j9_constant(j, of, "J9FieldFlagConstant", 0x400000),
		.generic = j9_constant(j, of, "J9FieldFlagHasGenericSignature", 0x40000000),
		.annotated = j9_constant(j, of, "J9FieldFlagHasFieldAnnotations", 0x20000000),
		.type_annotated = j9_constant(j, of, "J9FieldFlagHasTypeAnnotations", 0x800000),
		.reused = j9_constant(j, "J9JavaClassFlags", "J9ClassReusedStatics", 0x4),
		.compact = j9_constant(j, "J9BuildFlags", "J9VM_OPT_VALHALLA_COMPACT_LAYOUTS", 0),
	};
}

static enum field_kind kind_of(const struct j9core *j, uint64_t modifiers)
{
	return modifiers & j->modifiers.object ? OBJECTS : modifiers & j->modifiers.wide ? DOUBLES : SINGLES;
}

/* --- records of fields -------------------------------------------------------------------------------------- */

/* Annotations begin with their size and end at 4 bytes. */
static uint64_t behind_annotations(const struct j9core *j, uint64_t at)
{
	uint64_t n;
	return core_load(j->core, at, 4, &n) ? at + 4 + ((n + 3) & ~UINT64_C(3)) : 0;
}

/* The next record; 0: it cannot be read. */
static uint64_t behind_field(const struct j9core *j, uint64_t at, uint64_t modifiers)
{
	const struct j9_modifiers *m = &j->modifiers;

	at += ddr_size(j->ddr, "J9ROMFieldShape");
	if (modifiers & m->constant)
		at += modifiers & m->wide ? 8 : 4;
	if (modifiers & m->generic)
		at += 4;
	if (modifiers & m->annotated)
		at = behind_annotations(j, at);
	return at && modifiers & m->type_annotated ? behind_annotations(j, at) : at;
}

/* False: its name or its type is not there, or they contradict each other. */
static bool read_field(const struct j9core *j, uint64_t at, struct j9_field *f,
    enum field_kind *kind)
{
	uint64_t names = at + j->at[AT_FIELD_NAMES].offset, modifiers;
	size_t n;
	const char *signature = j9_text(j, j9_relative(j, names, AT_NAMES_TYPE), &n);

	if (!core_load(j->core, at + j->at[AT_FIELD_MODIFIERS].offset, 4, &modifiers) || !signature || !n)
		return false;
	*kind = kind_of(j, modifiers);
	*f = (struct j9_field){
		.type = *signature == '[' ? 'L' : *signature,
		.is_static = modifiers & j->modifiers.is_static,
	};
	f->name = j9_text(j, j9_relative(j, names, AT_NAMES_NAME), &f->n_name);
	const char *letters = *kind == OBJECTS ? "L" : *kind == DOUBLES ? "JD" : "ZBCSIF";
	return f->name && f->type && strchr(letters, f->type);
}

/* All records of a class: its fields without their places, and how many of each kind are not static.  ERR_NOT_FOUND:
 * not all of them can be read. */
static int read_fields(const struct j9core *j, const struct j9_class *c, struct j9_fields *to, uint64_t n[FIELD_KINDS],
    struct err *err)
{
	uint64_t count = j9_get(j, c->rom, AT_ROM_N_FIELDS), at = j9_relative(j, c->rom, AT_ROM_FIELDS);

	for (to->n = 0; at && to->n < count && to->n < FIELDS_MOST;) {
		struct j9_field *f = BIG_PUSH(to->field, to->n, to->cap, err);
		enum field_kind kind;
		if (!f)
			return ERR_NOMEM;
		if (!read_field(j, at, f, &kind))
			break;
		f->kind = kind;
		n[kind] += !f->is_static;
		uint64_t modifiers = 0;
		core_load(j->core, at + j->at[AT_FIELD_MODIFIERS].offset, 4, &modifiers);
		at = behind_field(j, at, modifiers);
		if (to->n == count)
			return 0;
	}
	return count ? ERR_NOT_FOUND : 0;
}

/* --- offsets of instance fields ----------------------------------------------------------------------------- */

/* Offsets count from behind the header of an object. */
struct layout {
	const struct j9core *j;
	const struct j9_class *class, *super; /* super NULL: it has none */
	uint64_t declared[FIELD_KINDS], all[FIELD_KINDS]; /* fields; with the VM's own */
	/* The VM's own that come first, in this order: a lock word, a link between objects that are to be finalized. */
	struct own_field {
		bool there;
		enum field_kind kind;
		uint64_t before;    /* of its kind */
	} lock, link;
	uint64_t super_size, gap; /* where the superclass ends, and a gap that it leaves; NOWHERE: none */
	uint64_t filled;        /* the gap that a field of this class gets; NOWHERE: none does */
	uint64_t first[FIELD_KINDS];
	bool fills[FIELD_KINDS]; /* the first declared field of the kind gets the gap */
	uint64_t end, left;     /* bytes of all fields, and the gap for subclasses */
};

static uint64_t none(const struct j9core *j)
{
	return j->word == 8 ? UINT64_MAX : UINT32_MAX;
}

static void add_shape(struct layout *l, uint64_t shape, struct own_field *as)
{
	uint64_t modifiers = 0;

	core_load(l->j->core, shape + l->j->at[AT_FIELD_MODIFIERS].offset, 4, &modifiers);
	as->kind = kind_of(l->j, modifiers);
	as->before = l->all[as->kind]++ - l->declared[as->kind];
}

/* Fields that the VM adds: to those that have a lock word, to those that are finalized, to classes of its choice. */
static void add_hidden(struct layout *l)
{
	const struct j9core *j = l->j;
	uint64_t hidden = j9_get(j, j->vm, AT_VM_HIDDEN);
	struct own_field other;

	memcpy(l->all, l->declared, sizeof l->all);
	if (l->lock.there)
		add_shape(l, j9_get(j, j->vm, AT_VM_LOCK_SHAPE), &l->lock);
	l->link.there = j9_get(j, l->class->address, AT_CLASS_FINALIZE_AT) &&
	    !(l->super && j9_get(j, l->super->address, AT_CLASS_FINALIZE_AT));
	if (l->link.there)
		add_shape(l, j9_get(j, j->vm, AT_VM_FINALIZE_SHAPE), &l->link);
	for (unsigned i = 0; hidden && i < HIDDEN_MOST; i++, hidden = j9_get(j, hidden, AT_HIDDEN_NEXT)) {
		uint64_t of = j9_get(j, hidden, AT_HIDDEN_CLASS);
		size_t n;
		const char *name = j9_text(j, of, &n);
		if (!of || (name && l->class->name && n == l->class->n_name && !memcmp(name, l->class->name, n)))
			add_shape(l, j9_get(j, hidden, AT_HIDDEN_SHAPE), &other);
	}
}

/* What the superclass takes.  java.lang.Object's lock word is not inherited by classes with another one or none. */
static void begin_behind_super(struct layout *l)
{
	const struct j9core *j = l->j;
	uint64_t lock = j9_get(j, l->class->address, AT_CLASS_LOCK_AT), above = none(j);

	l->gap = NOWHERE;
	if (l->super) {
		above = j9_get(j, l->super->address, AT_CLASS_LOCK_AT);
		l->super_size = l->super->size;
		if (l->super->hash_at != l->super->size + j->slot)
			l->gap = l->super->hash_at - j->slot;
	}
	l->lock.there = lock != none(j) && !(l->super && lock == above);
	if (l->super && (l->lock.there || lock == none(j)) && above != none(j) && !j9_super(j, l->super)) {
		l->super_size -= j->slot + (l->gap != NOWHERE ? GAP : 0);
		l->gap = NOWHERE;
	}
}

static void lay_out(struct layout *l)
{
	const struct j9core *j = l->j;
	const uint64_t *all = l->all, *declared = l->declared;
	bool small = j->slot == GAP; /* references fit into a gap */
	bool wide = all[DOUBLES] || (!small && all[OBJECTS]), padded = wide && (l->super_size + j->slot) % 8;

	l->end = l->super_size + all[DOUBLES] * 8 + all[OBJECTS] * j->slot + all[SINGLES] * 4 + (padded ? GAP : 0);
	if (padded)
		l->gap = l->super_size;
	l->filled = NOWHERE;
	if (l->gap != NOWHERE && (all[SINGLES] || (small && all[OBJECTS]))) {
		l->filled = l->gap;
		l->gap = NOWHERE;
		l->end -= GAP;
	}
	l->left = l->gap;
	if ((l->end + j->slot) % 8) {
		l->left = l->end;
		l->end += GAP;
	}
	l->fills[SINGLES] = l->filled != NOWHERE && declared[SINGLES];
	l->fills[OBJECTS] = l->filled != NOWHERE && small && declared[OBJECTS] && !declared[SINGLES];
	bool object_fills = l->filled != NOWHERE && small && all[OBJECTS] && !declared[SINGLES];
	l->first[DOUBLES] = l->super_size + (padded ? GAP : 0);
	l->first[OBJECTS] = l->first[DOUBLES] + all[DOUBLES] * 8;
	l->first[SINGLES] = l->first[OBJECTS] + (all[OBJECTS] - object_fills) * j->slot;
}

/* Fields of a class that is marked as contended begin a line of the processor's cache behind all others. */
static void lay_out_contended(struct layout *l, uint64_t line)
{
	const struct j9core *j = l->j;
	const uint64_t *all = l->all, *declared = l->declared;
	uint64_t own = (all[DOUBLES] - declared[DOUBLES]) * 8 + (all[OBJECTS] - declared[OBJECTS]) * j->slot +
	    (all[SINGLES] - declared[SINGLES]) * 4;

	l->filled = l->left = NOWHERE;
	l->fills[OBJECTS] = l->fills[SINGLES] = false;
	l->first[DOUBLES] = ((l->super_size + j->slot + own) & ~UINT64_C(7)) + line - j->slot;
	l->first[OBJECTS] = l->first[DOUBLES] + declared[DOUBLES] * 8;
	l->first[SINGLES] = l->first[OBJECTS] + declared[OBJECTS] * j->slot;
	l->end = ((j->slot + l->first[SINGLES] + declared[SINGLES] * 4 + line - 1) & ~(line - 1)) - j->slot;
}

/* Where a field of the VM's own is: so many of its kind come before it. */
static uint64_t hidden_at(const struct layout *l, enum field_kind kind, uint64_t before)
{
	const unsigned bytes[FIELD_KINDS] = {8, l->j->slot, 4};
	bool open = l->filled != NOWHERE && !l->fills[SINGLES] && !l->fills[OBJECTS];
	bool fills = open && (kind == SINGLES || (kind == OBJECTS && !l->all[SINGLES]));

	if (fills && !before)
		return l->filled;
	return l->first[kind] + (l->declared[kind] + before - l->fills[kind] - fills) * bytes[kind];
}

/* Are this class's references, which follow the superclass's, those of its bitmap?  Also one in a gap comes after
 * them: a class with references leaves none before them, for it would have filled that itself. */
static bool has_references(const struct layout *l)
{
	const struct j9core *j = l->j;
	struct j9_object own = {.class = l->class}, above = {.class = l->super};
	struct j9_slots s, inherited;
	uint64_t at, old = NOWHERE, n = 0, first = j->slot + l->first[OBJECTS];
	bool in_gap = l->fills[OBJECTS] || (l->all[OBJECTS] && hidden_at(l, OBJECTS, 0) == l->filled);
	uint64_t end = first + (l->all[OBJECTS] - in_gap) * j->slot;

	bool more = l->super != NULL;
	if (more) {
		j9core_slots(&inherited, j, &above);
		more = j9core_next_slot(&inherited, &old);
	}
	for (j9core_slots(&s, j, &own); j9core_next_slot(&s, &at);) {
		if (more && at == old)
			more = j9core_next_slot(&inherited, &old);
		else if (!more && ((at >= first && at < end && (at - first) % j->slot == 0) ||
		    (in_gap && at == j->slot + l->filled)))
			n++;
		else
			return false;
	}
	return !more && n == l->all[OBJECTS];
}

static bool is_at(const struct layout *l, const struct own_field *own, enum j9_member told)
{
	return !own->there ||
	    j9_get(l->j, l->class->address, told) == l->j->slot + hidden_at(l, own->kind, own->before);
}

/* Does the VM have of the class what the offsets amount to? */
static bool is_proved(const struct layout *l)
{
	const struct j9core *j = l->j;
	uint64_t left = l->left == NOWHERE ? l->end : l->left;

	return !j->modifiers.compact && l->end == l->class->size &&
	    l->class->hash_at == j->slot + left && has_references(l) &&
	    is_at(l, &l->lock, AT_CLASS_LOCK_AT) && is_at(l, &l->link, AT_CLASS_FINALIZE_AT);
}

/* Numbers of less than 4 bytes are the low bytes of 4. */
static unsigned low_bytes(const struct j9core *j, char type)
{
	unsigned width = strchr("ZB", type) ? 1 : strchr("CS", type) ? 2 : 4;
	return core_big_endian(j->core) ? 4 - width : 0;
}

static void place_fields(const struct layout *l, struct j9_fields *to)
{
	const unsigned bytes[FIELD_KINDS] = {8, l->j->slot, 4};
	uint64_t seen[FIELD_KINDS] = {0};

	for (uint32_t i = 0; i < to->n; i++) {
		struct j9_field *f = &to->field[i];
		if (f->is_static)
			continue;
		uint64_t before = seen[f->kind]++, fills = l->fills[f->kind];
		f->at = fills && !before ? l->filled : l->first[f->kind] + (before - fills) * bytes[f->kind];
		if (f->kind == SINGLES)
			f->at += low_bytes(l->j, f->type);
	}
}

/* --- static fields ------------------------------------------------------------------------------------------ */

/* In words: references, those of 4 bytes, those of 8.  False: they are not the class's own, or not there. */
static bool place_statics(const struct j9core *j, const struct j9_class *c, struct j9_fields *to)
{
	uint64_t at = j9_get(j, c->address, AT_CLASS_STATICS), objects = j9_get(j, c->rom, AT_ROM_N_STATICS);
	uint64_t singles = j9_get(j, c->rom, AT_ROM_N_SINGLE_STATICS), words = objects + singles;
	uint64_t first[FIELD_KINDS] = {
		[OBJECTS] = at, [SINGLES] = at + objects * j->word, [DOUBLES] = at + (words * j->word + 7) / 8 * 8,
	};
	const unsigned bytes[FIELD_KINDS] = {8, j->word, j->word};
	uint64_t seen[FIELD_KINDS] = {0};

	for (uint32_t i = 0; i < to->n; i++) {
		struct j9_field *f = &to->field[i];
		if (!f->is_static)
			continue;
		f->at = first[f->kind] + seen[f->kind]++ * bytes[f->kind];
		if (f->kind == SINGLES)
			f->at += low_bytes(j, f->type);
	}
	return at && !(j9_get(j, c->address, AT_CLASS_FLAGS2) & j->modifiers.reused);
}

/* Does the VM describe what is needed to know fields? */
static bool describes_fields(const struct j9core *j)
{
	static const enum j9_member needed[] = {AT_CLASS_LOCK_AT, AT_CLASS_FINALIZE_AT, AT_ROM_N_FIELDS, AT_ROM_FIELDS,
	    AT_ROM_N_SINGLE_STATICS, AT_FIELD_NAMES, AT_FIELD_MODIFIERS, AT_NAMES_NAME, AT_NAMES_TYPE, AT_VM_HIDDEN,
	    AT_VM_LOCK_SHAPE, AT_VM_FINALIZE_SHAPE, AT_HIDDEN_CLASS, AT_HIDDEN_SHAPE, AT_HIDDEN_NEXT};

	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!j->has[needed[i]])
			return false;
	return true;
}

int j9core_fields(const struct j9core *j, const struct j9_class *c, struct j9_fields *to, struct err *err)
{
	struct layout l = {.j = j, .class = c, .super = j9_super(j, c)};
	int code = c->array || !describes_fields(j) ? ERR_NOT_FOUND : read_fields(j, c, to, l.declared, err);

	to->instance_known = to->statics_known = false;
	if (code) {
		to->n = 0;
		return code == ERR_NOT_FOUND ? 0 : code;
	}
	to->statics_known = place_statics(j, c, to);
	to->instance_known = !l.declared[DOUBLES] && !l.declared[OBJECTS] && !l.declared[SINGLES];
	if (to->instance_known)
		return 0;
	begin_behind_super(&l);
	add_hidden(&l);
	lay_out(&l);
	to->instance_known = is_proved(&l);
	uint64_t line = j9_get(j, j->vm, AT_VM_CACHE_LINE);
	if (!to->instance_known && line >= 16 && line <= 4096 && !(line & (line - 1))) {
		lay_out_contended(&l, line);
		to->instance_known = is_proved(&l);
	}
	place_fields(&l, to);
	return 0;
}
