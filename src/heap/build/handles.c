/* SPDX-License-Identifier: GPL-3.0-or-later */
/* handles.c - the numbers by which readers name classes before anybody knows what they are. */
#include "heap/build/build.h"

#include "algorithms/hash.h"
#include "memory/big.h"

#include <string.h>

bool handle_is_by_name(enum class_naming how)
{
	return how == CLASS_NAMED || how == CLASS_SHOWN;
}

static uint64_t hash_handle(enum class_naming how, uint64_t address, const char *name, size_t n)
{
	return hash_step(handle_is_by_name(how) ? hash_bytes(name, n) : hash_number(address), (uint64_t)how);
}

static uint64_t hash_of(const struct class_handle *c)
{
	return hash_handle(c->how, c->address, c->name, c->name ? strlen(c->name) : 0);
}

static uint64_t hash_of_number(const void *build, uint32_t number)
{
	return hash_of(&((const struct build *)build)->handles[number]);
}

/* Names are compared as plain UTF-8, which two spellings of one class in modified UTF-8 share. */
uint32_t build_handle(struct build *b, enum class_naming how, uint64_t address, const char *name,
    size_t name_size, struct err *err)
{
	if (2 * b->n_handles >= b->n_handle_slots &&
	    hash_slots_grow(&b->handle_slots, &b->n_handle_slots, b->n_handles, hash_of_number, b, err) < 0)
		return HEAP_NONE;
	uint32_t mask = b->n_handle_slots - 1;
	uint32_t s = (uint32_t)hash_handle(how, address, name, name_size) & mask;
	for (; b->handle_slots[s]; s = (s + 1) & mask) {
		const struct class_handle *c = &b->handles[b->handle_slots[s] - 1];
		if (c->how != how)
			continue;
		if (handle_is_by_name(how) ? strlen(c->name) == name_size && !memcmp(c->name, name, name_size)
		                       : c->address == address)
			return b->handle_slots[s] - 1;
	}
	const char *kept = handle_is_by_name(how) ? arena_try_strndup(&b->arena, name, name_size, err) : NULL;
	struct class_handle *c = handle_is_by_name(how) && !kept ? NULL
	    : BIG_PUSH(b->handles, b->n_handles, b->cap_handles, err);
	if (!c)
		return HEAP_NONE;
	*c = (struct class_handle){
		.how = how,
		.address = address,
		.name = kept,
		.known_as = HEAP_NONE,
		.kind = HANDLE_UNUSED,
		.instance_size = SIZE_UNKNOWN,
		.resolved = HEAP_NONE,
	};
	b->handle_slots[s] = b->n_handles;
	return b->n_handles - 1;
}
