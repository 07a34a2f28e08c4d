/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_classes.c - the classes of a VM: all of its segments of RAM classes, after GCClassHeapIterator of DDR_VM.
 */
#include "dump/j9core/j9core_read.h"

#include "base/progress.h"
#include "memory/big.h"

#include <string.h>

/* J9Class.classDepthAndFlags: runtime/oti/j9nonbuilder.h. */
enum { SHAPE_SHIFT = 16, SHAPE_MASK = 0xe, SHAPE_POINTERS = 12 };
enum { ARITY_MOST = 255, SEGMENTS_MOST = 1 << 24, CLASSES_MOST = 1 << 24 };
#define LIVE UINT64_C(0x99669966) /* J9Class.eyecatcher: runtime/vm/createramclass.cpp */
#define ARRAY_LIMIT 8 /* an element has 1 << 8 bytes at most, far more than any */

/* Which slots of an instance are references: J9Class.instanceDescription is the bits themselves, with a 1 behind them, or
 * their address. */
static bool read_slots(const struct j9core *j, struct j9_class *c)
{
	uint64_t bits = j9_get(j, c->address, AT_CLASS_SLOTS), word = 8 * j->word;

	c->n_slots = c->size / j->slot;
	if (bits & 1) {
		c->few = bits >> 1;
		return true;
	}
	const uint8_t *map = core_range(j->core, bits, (c->n_slots + word - 1) / word * j->word);
	if (!map || !c->n_slots)
		return !c->n_slots;
	c->few = core_number(j->core, map, j->word);
	c->map = c->n_slots > word ? map : NULL;
	return true;
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
		c->shift = (unsigned)j9_get(j, c->rom, AT_ROM_SHAPE) & 0xffff;
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

static int index_classes(struct j9core *j, struct err *err)
{
	for (j->n_class_at = 16; j->n_class_at < 2 * j->n_classes; j->n_class_at *= 2)
		;
	j->class_at = big_alloc(j->n_class_at, sizeof *j->class_at, err);
	for (uint32_t i = 0; j->class_at && i < j->n_classes; i++)
		*slot_of(j, j->class[i].address) = i + 1;
	return j->class_at ? 0 : ERR_NOMEM;
}

/* --- names ------------------------------------------------------------------------------------------------- */

/* The name in a class's J9ROMClass: its place is relative to where that is told, with a sign.  NULL: it is not there. */
static const char *rom_name(const struct j9core *j, uint64_t rom, size_t *n)
{
	uint64_t at = j9_relative(j, rom, AT_ROM_NAME), length;

	*n = 0;
	if (!at || !core_load(j->core, at, 2, &length))
		return NULL;
	*n = (size_t)length;
	return (const char *)core_range(j->core, at + 2, length);
}

/* 'I' of "int"; 0: it is no primitive type. */
static char letter_of(const char *name, size_t n)
{
	static const char *const primitives[] = {"Zboolean", "Bbyte", "Cchar", "Ddouble", "Ffloat", "Iint", "Jlong", "Sshort"};

	for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++)
		if (strlen(primitives[i] + 1) == n && !memcmp(primitives[i] + 1, name, n))
			return *primitives[i];
	return 0;
}

/* All arrays of references share one name in the VM, "[L": of each it is made of what its elements are. */
static int name_array(struct j9core *j, struct j9_class *c, struct err *err)
{
	uint64_t arity = j9_get(j, c->address, AT_ARRAY_ARITY);
	size_t n;
	const char *leaf = rom_name(j, j9_get(j, j9_get(j, c->address, AT_ARRAY_LEAF), AT_CLASS_ROM), &n);

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

static int name_class(struct j9core *j, struct j9_class *c, struct err *err)
{
	c->name = rom_name(j, c->rom, &c->n_name);
	return c->array && j9core_holds_references(c) ? name_array(j, c, err) : 0;
}

/* --- all of them ------------------------------------------------------------------------------------------- */

int j9_read_classes(struct j9core *j, struct err *err)
{
	uint64_t list = j9_get(j, j->vm, AT_VM_CLASS_SEGMENTS), segment = j9_get(j, list, AT_SEGMENTS_FIRST);
	uint64_t ram = j9_constant(j, "J9MemorySegment", "MEMORY_TYPE_RAM_CLASS", 0x10000);
	uint64_t array = j9_constant(j, "J9JavaAccessFlags", "J9AccClassRAMArray", 0x10000), first;

	for (uint64_t i = 0; segment && i < SEGMENTS_MOST; i++, segment = j9_get(j, segment, AT_SEGMENT_NEXT)) {
		if (!(j9_get(j, segment, AT_SEGMENT_TYPE) & ram) ||
		    !core_load(j->core, j9_get(j, segment, AT_SEGMENT_BASE), j->word, &first))
			continue;
		for (uint64_t c = first; c && j->n_classes < CLASSES_MOST; c = j9_get(j, c, AT_CLASS_NEXT)) {
			struct j9_class read;
			if (progress_own_stops(j->n_classes))
				return err_cancelled(err);
			if (!read_class(j, c, array, &read))
				break;
			struct j9_class *to = BIG_PUSH(j->class, j->n_classes, j->cap_classes, err);
			if (!to)
				return ERR_NOMEM;
			*to = read;
			if (name_class(j, to, err))
				return ERR_NOMEM;
		}
	}
	return index_classes(j, err);
}

const struct j9_class *j9core_class(const struct j9core *j, uint64_t address)
{
	uint32_t at = *slot_of(j, address);
	return at ? &j->class[at - 1] : NULL;
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

void j9core_class_facts(const struct j9core *j, const struct j9_class *c, struct j9_class_facts *out)
{
	uint64_t depth = c->flags & j->depth_mask, superclass = 0;

	if (depth)
		core_load(j->core, j9_get(j, c->address, AT_CLASS_SUPERS) + (depth - 1) * j->word, j->word, &superclass);
	*out = (struct j9_class_facts){
		.object = c->flags & (j->dying | j->replaced) ? 0 : j9_get(j, c->address, AT_CLASS_OBJECT),
		.superclass = superclass ? j9_get(j, superclass, AT_CLASS_OBJECT) : 0,
		.loader = j9_get(j, j9_get(j, c->address, AT_CLASS_LOADER), AT_LOADER_OBJECT),
		.instance_size = c->array ? UINT64_MAX : (j->slot + c->size + j->alignment - 1) & ~(uint64_t)(j->alignment - 1),
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

unsigned j9core_word(const struct j9core *j)
{
	return j->word;
}
