/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_hash.c - identity hash codes.
 *
 * Of an object that was asked for its hash code and moved since, the code is in the object.  Of one that has not moved
 * it is made of the address again and of a salt of the VM, of the nursery or of the region.  After ObjectHash of
 * DDR_VM.
 */
#include "dump/j9core/j9core_read.h"

enum { SALT_OF_NURSERY = 1, SALT_OF_REGION = 2 };
#define DEFAULT_SALT UINT32_C(1421595292)

static uint32_t salt_of(const struct j9core *j, uint64_t address)
{
	uint64_t data = j9_get(j, j->vm, AT_VM_HASHES), low = j9_get(j, data, AT_HASHES_LOW), salt, i = 0;
	uint64_t policy = j9_get(j, data, AT_HASHES_POLICY), shift = j9_get(j, data, AT_HASHES_SHIFT);

	if ((policy == SALT_OF_NURSERY || policy == SALT_OF_REGION) && address >= low &&
	    address < j9_get(j, data, AT_HASHES_HIGH)) {
		if (policy == SALT_OF_REGION)
			i = shift < 64 ? (address - low) >> shift : 0;
		if (core_load(j->core, data + j->at[AT_HASHES_SALTS].offset + i * 4, 4, &salt))
			return (uint32_t)salt;
	}
	return DEFAULT_SALT ^ (uint32_t)j->vm;
}

static uint32_t rotated(uint32_t x, unsigned by)
{
	return x << by | x >> (32 - by);
}

/* Murmur3, of 4 bytes. */
static uint32_t mixed(uint32_t hash, uint32_t x)
{
	x = rotated(x * UINT32_C(0xcc9e2d51), 15) * UINT32_C(0x1b873593);
	return rotated(hash ^ x, 13) * 5 + UINT32_C(0xe6546b64);
}

static uint32_t made_of(const struct j9core *j, uint64_t address)
{
	uint64_t number = address / j->alignment;
	uint32_t hash = mixed(salt_of(j, address), (uint32_t)number);

	if (j->word == 8)
		hash = mixed(hash, (uint32_t)(number >> 32));
	hash ^= j->word;
	hash = (hash ^ hash >> 16) * UINT32_C(0x85ebca6b);
	hash = (hash ^ hash >> 13) * UINT32_C(0xc2b2ae35);
	hash ^= hash >> 16;
	return hash ? hash : 1;
}

bool j9core_hash(const struct j9core *j, const struct j9_object *o, uint32_t *hash)
{
	uint64_t kept, bytes, at = o->class->hash_at;
	struct j9_object array = *o;

	if (o->flags & J9_MOVED) {
		if ((o->class->array && !j9_measure_array(j, &array, &bytes, &at)) ||
		    !core_load(j->core, o->address + at, 4, &kept))
			return false;
		*hash = (uint32_t)kept;
		return true;
	}
	if (o->flags & J9_HASHED && j->has[AT_VM_HASHES])
		*hash = made_of(j, o->address);
	return o->flags & J9_HASHED && j->has[AT_VM_HASHES];
}
