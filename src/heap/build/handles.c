/* SPDX-License-Identifier: GPL-3.0-or-later */
/* handles.c - the numbers by which readers name classes before anybody knows what they are. */
#include "heap/build/build.h"

#include "memory/big.h"

#include <string.h>

bool handle_is_by_name(enum class_naming how)
{
	return how == CLASS_NAMED || how == CLASS_SHOWN;
}

struct handle_key {
	enum class_naming how;
	uint64_t address;
	const char *name;
	size_t name_size;
};

static uint64_t hash_handle(struct handle_key k)
{
	return hash_step(handle_is_by_name(k.how) ? hash_bytes(k.name, k.name_size) : hash_number(k.address),
	    (uint64_t)k.how);
}

static bool same_handle(struct handle_key a, struct handle_key b)
{
	if (a.how != b.how)
		return false;
	return handle_is_by_name(a.how) ? a.name_size == b.name_size && !memcmp(a.name, b.name, a.name_size) :
	    a.address == b.address;
}

static struct handle_key handle_key(const struct class_handle *handles, uint32_t number)
{
	const struct class_handle *c = &handles[number];
	return (struct handle_key){c->how, c->address, c->name, c->name ? strlen(c->name) : 0};
}

MAP(handles, const struct class_handle *, struct handle_key, handle_key, hash_handle, same_handle)

/* Names are compared as plain UTF-8, which two spellings of one class in modified UTF-8 share. */
uint32_t build_handle(struct build *b, enum class_naming how, uint64_t address, const char *name,
    size_t name_size, struct err *err)
{
	struct handle_key key = {how, address, name, name_size};
	uint32_t *slot = handles_enter(&b->handle_map, b->handles, b->n_handles, key, err);
	if (!slot)
		return HEAP_NONE;
	if (*slot)
		return *slot - 1;
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
	*slot = b->n_handles;
	return b->n_handles - 1;
}
