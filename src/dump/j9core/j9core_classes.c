/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_classes.c - the classes of a VM: all of its segments of RAM classes, after GCClassHeapIterator of DDR_VM.
 */
#include "dump/j9core/j9core_read.h"

#include "base/progress.h"
#include "memory/big.h"

enum { SEGMENTS_MOST = 1 << 24, CLASSES_MOST = 1 << 24 };
#define LIVE UINT64_C(0x99669966) /* J9Class.eyecatcher: runtime/vm/createramclass.cpp */
#define ARRAY_LIMIT 8 /* an element has 1 << 8 bytes at most, far more than any */

static bool read_class(const struct j9core *j, uint64_t address, uint64_t is_array, struct j9_class *c)
{
	if (j9_get(j, address, AT_CLASS_EYECATCHER) != LIVE)
		return false;
	*c = (struct j9_class){
		.address = address,
		.rom = j9_get(j, address, AT_CLASS_ROM),
		.flags = j9_get(j, address, AT_CLASS_FLAGS),
		.size = j9_get(j, address, AT_CLASS_SIZE),
		.slots = j9_get(j, address, AT_CLASS_SLOTS),
		.hash_at = j9_get(j, address, AT_CLASS_HASH_AT),
	};
	c->array = c->flags & is_array;
	if (c->array)
		c->shift = (unsigned)j9_get(j, c->rom, AT_ROM_SHAPE) & 0xffff;
	return c->array ? c->shift <= ARRAY_LIMIT : c->size <= UINT32_MAX;
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
	uint64_t at = c->rom + j->at[AT_ROM_NAME].offset, offset, length;

	/* relative to where it is, with a sign */
	if (!core_load(j->core, at, 4, &offset) || !core_load(j->core, at + (uint64_t)(int64_t)(int32_t)offset, 2, &length))
		return NULL;
	*n = (size_t)length;
	return (const char *)core_range(j->core, at + (uint64_t)(int64_t)(int32_t)offset + 2, length);
}

const struct j9_class *j9core_class_at(const struct j9core *j, size_t i)
{
	return i < j->n_classes ? &j->class[i] : NULL;
}

void j9core_class_facts(const struct j9core *j, const struct j9_class *c, struct j9_class_facts *out)
{
	uint64_t depth = c->flags & j9_constant(j, "J9JavaAccessFlags", "J9AccClassDepthMask", 0xffff), superclass = 0;

	if (depth)
		core_load(j->core, j9_get(j, c->address, AT_CLASS_SUPERS) + (depth - 1) * j->word, j->word, &superclass);
	*out = (struct j9_class_facts){
		.object = j9_get(j, c->address, AT_CLASS_OBJECT),
		.superclass = superclass ? j9_get(j, superclass, AT_CLASS_OBJECT) : 0,
		.loader = j9_get(j, j9_get(j, c->address, AT_CLASS_LOADER), AT_LOADER_OBJECT),
		.instance_size = c->array ? UINT64_MAX : (j->slot + c->size + j->alignment - 1) & ~(uint64_t)(j->alignment - 1),
		.statics = j9_get(j, c->address, AT_CLASS_STATICS),
		.n_statics = c->array ? 0 : j9_get(j, c->rom, AT_ROM_N_STATICS),
	};
}

bool j9core_is_array(const struct j9_class *c)
{
	return c->array;
}

bool j9core_holds_references(const struct j9_class *c)
{
	return (c->flags >> 16 & 0xe) == 12;
}

unsigned j9core_word(const struct j9core *j)
{
	return j->word;
}
