/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_classes.c - the classes of a VM: all of its segments of RAM classes, after GCClassHeapIterator of DDR_VM.
 */
#include "dump/j9core/j9core_read.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "base/progress.h"
#include "memory/big.h"

#include <stdio.h>
#include <string.h>

/* J9Class.classDepthAndFlags: runtime/oti/j9nonbuilder.h. */
enum { SHAPE_SHIFT = 16, SHAPE_MASK = 0xe, SHAPE_WORDS = 4, SHAPE_LONGS = 6, SHAPE_DOUBLES = 10,
	SHAPE_POINTERS = 12 };
enum { ARITY_MOST = 255, CLASSES_MOST = 1 << 24, CLASS_LEAST = 64 /* bytes */ };
#define LIVE UINT64_C(0x99669966) /* J9Class.eyecatcher: runtime/vm/createramclass.cpp */
#define ARRAY_LIMIT 8 /* an element has 1 << 8 bytes at most, far more than any */

/* Which slots of an instance are references: J9Class.instanceDescription is the bits themselves, the lowest one 1, or
 * their address. */
static bool read_slots(const struct j9core *j, struct j9_class *c)
{
	uint64_t bits = j9_get(j, c->address, AT_CLASS_SLOTS), word = 8 * j->word;

	c->n_slots = c->size / j->slot;
	if (bits & 1) {
		c->few = bits >> 1 & (c->n_slots < 64 ? (UINT64_C(1) << c->n_slots) - 1 : UINT64_MAX);
		return true;
	}
	const uint8_t *map = core_range(j->core, bits, (c->n_slots + word - 1) / word * j->word);
	if (!map || !c->n_slots)
		return !c->n_slots;
	c->few = core_number(j->core, map, j->word) & (c->n_slots < 64 ? (UINT64_C(1) << c->n_slots) - 1 : UINT64_MAX);
	c->map = c->n_slots > word ? map : NULL;
	return true;
}

/* Of an array: 1 << shift bytes are an element.  Flags tell as well, but not of elements that are values. */
static unsigned element_shift(const struct j9core *j, const struct j9_class *c)
{
	unsigned shape = c->flags >> SHAPE_SHIFT & SHAPE_MASK;
	uint64_t arrays;

	if (c->references)
		return j->slot == 4 ? 2 : 3;
	if (j9_load(j, c->rom, AT_ROM_SHAPE, &arrays))
		return (unsigned)arrays & 0xffff;
	return shape == SHAPE_DOUBLES ? 3 : shape == SHAPE_LONGS ? 2 : shape == SHAPE_WORDS;
}

static bool read_class(const struct j9core *j, uint64_t address, uint64_t is_array, struct j9_class *c)
{
	if (j9_get(j, address, AT_CLASS_EYECATCHER) != LIVE)
		return false;
	*c = (struct j9_class){
		.address = address,
		.rom = j9_get(j, address, AT_CLASS_ROM),
		.flags = j9_get(j, address, AT_CLASS_FLAGS),
		.size = j9_get(j, address, AT_CLASS_SIZE),
		.hash_at = j9_get(j, address, AT_CLASS_HASH_AT),
	};
	c->array = c->flags & is_array;
	c->references = c->array && (c->flags >> SHAPE_SHIFT & SHAPE_MASK) == SHAPE_POINTERS;
	if (c->array)
		c->shift = element_shift(j, c);
	else
		j9_settle_size(j, c);
	return c->array ? c->shift <= ARRAY_LIMIT : c->size <= UINT32_MAX && read_slots(j, c);
}

/* The slot of a class, or the free one where it would be. */
static uint32_t *slot_of(const struct j9core *j, uint64_t address)
{
	uint64_t at = (address >> 3) * UINT64_C(0x9E3779B97F4A7C15) >> 20;

	for (;; at++) {
		uint32_t *slot = &j->class_at[at & (j->n_class_at - 1)];
		if (!*slot || j->class[*slot - 1].address == address)
			return slot;
	}
}

/* A list that is a circle has classes twice: the first ones stay. */
static int index_classes(struct j9core *j, struct err *err)
{
	uint32_t n = 0;

	for (j->n_class_at = 16; j->n_class_at < 2 * j->n_classes; j->n_class_at *= 2)
		;
	j->class_at = big_alloc(j->n_class_at, sizeof *j->class_at, err);
	for (uint32_t i = 0; j->class_at && i < j->n_classes; i++) {
		uint32_t *slot = slot_of(j, j->class[i].address);
		if (*slot)
			continue;
		j->class[n] = j->class[i];
		*slot = ++n;
	}
	j->n_classes = j->class_at ? n : j->n_classes;
	return j->class_at ? 0 : ERR_NOMEM;
}

/* --- names ------------------------------------------------------------------------------------------------- */

/* The name in a class's J9ROMClass.  NULL: it is not there. */
static const char *rom_name(const struct j9core *j, uint64_t rom, size_t *n)
{
	const char *name = j9_text(j, j9_relative(j, rom, AT_ROM_NAME), n);
	return *n ? name : NULL; /* zeros are no name */
}

/* 'I' of "int"; 0: it is no primitive type. */
static char letter_of(const char *name, size_t n)
{
	static const char *const primitives[] = {
		"Zboolean", "Bbyte", "Cchar", "Ddouble", "Ffloat", "Iint", "Jlong", "Sshort",
	};

	for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++)
		if (strlen(primitives[i] + 1) == n && !memcmp(primitives[i] + 1, name, n))
			return *primitives[i];
	return 0;
}

/* All arrays of references share one name in the VM, "[L": of each it is made of what its elements are. */
static int name_array(struct j9core *j, struct j9_class *c, struct err *err)
{
	uint64_t arity = j9_get(j, c->address, AT_ARRAY_ARITY);
	const struct j9_class *of = j9core_class(j, j9_get(j, c->address, AT_ARRAY_LEAF));
	const char *leaf = of && !of->references ? of->name : NULL;
	size_t n = leaf ? of->n_name : 0;

	if (!leaf || !arity || arity > ARITY_MOST)
		return 0;
	char letter = letter_of(leaf, n), *name = arena_try(&j->arena, arity + n + 2, 1, err);
	if (!name)
		return ERR_NOMEM;
	memset(name, '[', arity);
	name[arity] = letter ? letter : 'L';
	if (!letter) {
		memcpy(name + arity + 1, leaf, n);
		name[arity + 1 + n] = ';';
	}
	c->name = name;
	c->n_name = arity + 1 + (letter ? 0 : n + 1);
	return 0;
}

/* ROM classes of primitive types are in the VM's library, which a core may leave out; the VM has their classes, too. */
static void name_primitives(struct j9core *j)
{
	static const char *const members[][2] = {{"void", NULL}, {"boolean", "[Z"}, {"char", "[C"}, {"float", "[F"},
	    {"double", "[D"}, {"byte", "[B"}, {"short", "[S"}, {"int", "[I"}, {"long", "[J"}};

	for (size_t i = 0; i < 2 * sizeof members / sizeof *members; i++) {
		const char *primitive = members[i / 2][0], *name = members[i / 2][i % 2];
		char member[32];
		struct ddr_field f;
		uint64_t address;
		snprintf(member, sizeof member, "%s%s", primitive, i % 2 ? "ArrayClass" : "ReflectClass");
		if (!name || !ddr_field(j->ddr, "J9JavaVM", member, &f) ||
		    !core_load(j->core, j->vm + f.offset, f.size, &address))
			continue;
		struct j9_class *c = (struct j9_class *)j9core_class(j, address);
		if (c && !c->name) {
			c->name = name;
			c->n_name = strlen(name);
		}
	}
}

/* Are the elements of an array as wide as its name says?  Values in it may be of any width. */
static bool has_named_width(const struct j9core *j, const struct j9_class *c)
{
	static const char letters[] = "ZBCSIFJD";
	static const uint8_t shifts[] = {0, 0, 1, 1, 2, 2, 3, 3};
	const char *letter = c->name && c->n_name == 2 && c->name[1] ? strchr(letters, c->name[1]) : NULL;

	return c->references ? 1u << c->shift == j->slot : letter && shifts[letter - letters] == c->shift;
}

static int name_classes(struct j9core *j, struct err *err)
{
	int code = 0;

	for (uint32_t i = 0; i < j->n_classes; i++)
		if (!j->class[i].references)
			j->class[i].name = rom_name(j, j->class[i].rom, &j->class[i].n_name);
	name_primitives(j);
	for (uint32_t i = 0; i < j->n_classes && code == 0; i++) {
		if (j->class[i].references)
			code = progress_own_stops(i) ? err_cancelled(err) : name_array(j, &j->class[i], err);
		j->n_nameless += !j->class[i].name;
		j->class[i].named_width = j->class[i].array && has_named_width(j, &j->class[i]);
	}
	return code;
}

const struct core_mapping *j9core_nameless_mapping(const struct j9core *j, uint64_t from)
{
	size_t n, at;
	const struct core_mapping *m = core_mappings(j->core, &n), *first = NULL;

	for (uint32_t i = 0; j->n_nameless && i < j->n_classes; i++) {
		const struct j9_class *c = &j->class[i];
		if (c->name || c->references || c->rom < from)
			continue;
		BISECT(at, n, m[at].end <= c->rom);
		if (at < n && m[at].begin <= c->rom && (!first || m[at].begin < first->begin))
			first = &m[at];
	}
	return first;
}

bool j9core_classes_fit(const struct j9core *j, uint64_t begin, uint64_t end)
{
	uint32_t fit = 0;

	for (uint32_t i = 0; i < j->n_classes; i++) {
		const struct j9_class *c = &j->class[i], *super = j9_super(j, c);
		size_t n;
		if (!c->name || c->references || c->rom < begin || c->rom >= end)
			continue;
		uint64_t at = j9_relative(j, c->rom, AT_ROM_SUPER);
		const char *name = j9_text(j, at, &n);
		if (!at != !super || (name && super->name && (super->n_name != n || memcmp(super->name, name, n))))
			return false;
		fit += !super || (name && super->name);
	}
	return fit;
}

/* --- all of them ------------------------------------------------------------------------------------------- */

/* Those of a segment, which are a list. */
static int read_segment(struct j9core *j, uint64_t class, uint64_t most, struct err *err)
{
	uint64_t array = j9_constant(j, "J9JavaAccessFlags", "J9AccClassRAMArray", 0x10000);
	struct j9_list classes = {.mark = 0};

	while (!j9_list_ends(&classes, class)) {
		struct j9_class read;
		if (progress_own_stops(j->n_classes))
			return err_cancelled(err);
		if (j->n_classes >= most || !read_class(j, class, array, &read)) {
			j->classes_lost = true;
			return 0;
		}
		struct j9_class *to = BIG_PUSH(j->class, j->n_classes, j->cap_classes, err);
		if (!to)
			return ERR_NOMEM;
		*to = read;
		j->classes_lost |= !j9_load(j, class, AT_CLASS_NEXT, &class);
	}
	j->classes_lost |= class != 0; /* the list is a circle */
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Class objects, and their class. */
static int find_class_objects(struct j9core *j, struct err *err)
{
	struct j9_class_facts facts;
	uint64_t slot;

	for (uint32_t i = 0; i < j->n_classes; i++) {
		if (progress_own_stops(i))
			return err_cancelled(err);
		j9core_class_facts(j, &j->class[i], &facts);
		if (facts.object && BIG_ADD(j->class_object, j->n_class_objects, j->cap_class_objects, err, facts.object))
			return ERR_NOMEM;
		if (!j->hub && core_load(j->core, facts.object, j->slot, &slot))
			j->hub = j9core_class(j, slot & ~J9_CLASS_FLAGS);
	}
	if (j->hub && j->hub->array)
		j->hub = NULL;
	sort_array(j->class_object, j->n_class_objects, sizeof *j->class_object, by_address);
	return 0;
}

int j9_read_classes(struct j9core *j, struct err *err)
{
	uint64_t list = j9_get(j, j->vm, AT_VM_CLASS_SEGMENTS), segment, most = core_size(j->core) / CLASS_LEAST;
	uint64_t ram = j9_constant(j, "J9MemorySegment", "MEMORY_TYPE_RAM_CLASS", 0x10000);
	struct j9_list segments = {.mark = 0};
	uint64_t type, class;
	int code = 0;

	most = most < CLASSES_MOST ? most : CLASSES_MOST;
	j->classes_lost = !j9_load(j, list, AT_SEGMENTS_FIRST, &segment);
	while (!j9_list_ends(&segments, segment) && code == 0) {
		if (progress_own_stops(segments.since))
			return err_cancelled(err);
		j->classes_lost |= !j9_load(j, segment, AT_SEGMENT_TYPE, &type);
		if (type & ram && core_load(j->core, j9_get(j, segment, AT_SEGMENT_BASE), j->word, &class))
			code = read_segment(j, class, most, err);
		else
			j->classes_lost |= type & ram;
		segment = j9_get(j, segment, AT_SEGMENT_NEXT);
	}
	j->classes_lost |= segment != 0; /* the list is a circle */
	if (code == 0)
		code = index_classes(j, err);
	if (code == 0)
		code = find_class_objects(j, err);
	return code ? code : name_classes(j, err);
}

const struct j9_class *j9core_class(const struct j9core *j, uint64_t address)
{
	uint32_t at = *slot_of(j, address);
	return at ? &j->class[at - 1] : NULL;
}

const struct j9_class *j9core_class_of_hubs(const struct j9core *j)
{
	return j->hub;
}

bool j9_is_class_object(const struct j9core *j, uint64_t address)
{
	uint32_t at;

	BISECT(at, j->n_class_objects, j->class_object[at] < address);
	return at < j->n_class_objects && j->class_object[at] == address;
}

const char *j9core_class_name(const struct j9core *j, const struct j9_class *c, size_t *n)
{
	(void)j;
	*n = c->n_name;
	return c->name;
}

uint32_t j9core_n_classes(const struct j9core *j)
{
	return j->n_classes;
}

const struct j9_class *j9core_class_at(const struct j9core *j, uint32_t i)
{
	return i < j->n_classes ? &j->class[i] : NULL;
}

uint32_t j9core_class_number(const struct j9core *j, const struct j9_class *c)
{
	return (uint32_t)(c - j->class);
}

const struct j9_class *j9_super(const struct j9core *j, const struct j9_class *c)
{
	uint64_t depth = c->flags & j->depth_mask, address = 0;

	if (depth)
		core_load(j->core, j9_get(j, c->address, AT_CLASS_SUPERS) + (depth - 1) * j->word, j->word, &address);
	return address ? j9core_class(j, address) : NULL;
}

void j9core_class_facts(const struct j9core *j, const struct j9_class *c, struct j9_class_facts *out)
{
	const struct j9_class *superclass = j9_super(j, c);

	*out = (struct j9_class_facts){
		.object = c->flags & (j->dying | j->replaced) ? 0 : j9_get(j, c->address, AT_CLASS_OBJECT),
		.superclass = superclass ? j9_get(j, superclass->address, AT_CLASS_OBJECT) : 0,
		.loader = j9_get(j, j9_get(j, c->address, AT_CLASS_LOADER), AT_LOADER_OBJECT),
		.taken = c->array ? 0 : (uint32_t)(j->slot + c->size) - (c->hash_at < j->slot + c->size ? 4 : 0),
	};
}

bool j9core_is_array(const struct j9_class *c)
{
	return c->array;
}

bool j9core_holds_references(const struct j9_class *c)
{
	return c->references;
}

uint64_t j9core_instance_size(const struct j9_class *c)
{
	return c->whole;
}

uint64_t j9core_fields_size(const struct j9_class *c)
{
	return c->size;
}

unsigned j9core_reference_bytes(const struct j9core *j)
{
	return j->slot;
}

unsigned j9core_reference_shift(const struct j9core *j)
{
	return j->shift;
}

unsigned j9core_word(const struct j9core *j)
{
	return j->word;
}
