/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * offheap_cleaners.c - buffers, and what frees memory: cleaners, and the lists of sessions of memory segments.
 *
 * The JDK keeps of each piece of memory an object that knows where it is and how large, and runs at its end: a
 * Deallocator or Unmapper that a cleaner leads to, or a cleanup in the list of a session.  Each of these counts once,
 * whatever leads to it.  One that ran has the address 0, or is in no list any more.
 */
#include "analysis/offheap/offheap_finding.h"
#include "base/progress.h"
#include "heap/classes.h"

#include <string.h>

/* --- what frees memory -------------------------------------------------------------------------- */

enum { A_ADDRESS, A_SIZE, A_CAPACITY, A_CAP, A_LENGTH, A_POINTER, A_OUTER };
static const char *const action_names[] = {"address", "size", "capacity", "cap", "length", "nativePtr", "this$0", NULL};

static bool action_capacity(struct finding *f, const struct values *v, uint64_t *out)
{
	return offheap_number(&f->action, v, A_CAPACITY, out) || offheap_number(&f->action, v, A_CAP, out) ||
	    offheap_number(&f->action, v, A_SIZE, out) || offheap_number(&f->action, v, A_LENGTH, out);
}

/* Android: the registry has the size of each of its allocations.  The lowest bit says that malloc made them; without a
 * size these state 98, "assumed size for malloced objects that don't specify a size" (AOSP,
 * NativeAllocationRegistry.DEFAULT_SIZE), and before they stated 0. */
static struct amount registered_size(uint64_t size)
{
	enum { MALLOCED = 1, ASSUMED = 98 };
	if (size > SIZE_MOST || !(size & ~UINT64_C(1)))
		return amount_unknown(REASON_OUTSIDE);
	return size == (ASSUMED | MALLOCED) ? offheap_usual(ASSUMED) : amount_exact(size & ~UINT64_C(1));
}

static int take_registered(struct finding *f, uint32_t action, const struct values *v, uint32_t owner)
{
	struct values registry;
	struct value size;
	uint64_t pointer;
	uint32_t outer = field_object(&f->action, v, A_OUTER);
	if (!offheap_number(&f->action, v, A_POINTER, &pointer))
		return 0;
	bits_set(&f->taken, action);
	if (!pointer) {
		f->out->freed++;
		return 0;
	}
	struct amount capacity = amount_unknown(REASON_OUTSIDE);
	if (outer != HEAP_NONE && !values_open(&registry, f->heap, outer, NULL) &&
	    values_field(&registry, "size", &size))
		capacity = registered_size(size.bits);
	return offheap_add(f, owner, OFFHEAP_REGISTERED, capacity, OFFHEAP_NO_LIMIT, pointer);
}

/* An action that was not counted yet, and the object that stands for the owner.  *known: it is one that says what it
 * frees. */
static int take_action(struct finding *f, uint32_t action, uint32_t owner, uint64_t limit, bool *known)
{
	enum role role = f->role[heap_class_index(f->heap, action)];
	enum offheap_kind kind = role == ROLE_DEALLOCATOR ? OFFHEAP_DIRECT : role == ROLE_UNMAPPER ? OFFHEAP_MAPPED :
	    OFFHEAP_CLEANER;
	struct values v;
	uint64_t address, capacity;
	*known = true;
	if (bits_get(&f->taken, action))
		return 0;
	*known = !values_open(&v, f->heap, action, NULL);
	if (!*known)
		return 0;
	if (role == ROLE_THUNK)
		return take_registered(f, action, &v, owner);
	*known = offheap_number(&f->action, &v, A_ADDRESS, &address) && action_capacity(f, &v, &capacity);
	if (!*known)
		return 0;
	bits_set(&f->taken, action);
	if (!address) {
		f->out->freed++;
		return 0;
	}
	if (capacity > SIZE_MOST) {
		f->out->broken++;
		return 0;
	}
	struct amount amount = kind == OFFHEAP_CLEANER ? offheap_usual(capacity) : amount_exact(capacity);
	return offheap_add(f, owner, kind, amount, limit, address);
}

/* --- cleaners ----------------------------------------------------------------------------------- */

enum { C_THUNK, C_ACTION, C_REFERENT, C_NEXT, C_NODE };
static const char *const cleaner_names[] = {"thunk", "action", "referent", "next", "node", NULL};

/* What a cleaner in use runs.  One that ran, or was ended, is in no list: it leads to itself, or to no node. */
static uint32_t cleaner_action(struct finding *f, const struct values *v)
{
	uint32_t thunk = field_object(&f->cleaner, v, C_THUNK);
	bool has_node = f->cleaner.has[C_NODE];
	if (has_node ? field_is_null(&f->cleaner, v, C_NODE) : field_object(&f->cleaner, v, C_NEXT) == v->id)
		return HEAP_NONE;
	return thunk != HEAP_NONE ? thunk : field_object(&f->cleaner, v, C_ACTION);
}

int offheap_take_cleaner(struct finding *f, uint32_t id)
{
	struct values v;
	bool known;
	if (values_open_along(&v, f->heap, id, &f->walk, NULL))
		return 0;
	uint32_t action = cleaner_action(f, &v), referent = field_object(&f->cleaner, &v, C_REFERENT);
	if (action == HEAP_NONE)
		return 0;
	return take_action(f, action, referent == HEAP_NONE ? action : referent, OFFHEAP_NO_LIMIT, &known);
}

/* --- buffers ------------------------------------------------------------------------------------ */

enum { B_CLEANER, B_ATTACHED, B_VIEWED, B_FILE, B_ADDRESS, B_CAPACITY, B_LIMIT, B_SEGMENT, B_REFERENCE };
static const char *const buffer_names[] = {"cleaner", "att", "viewedBuffer", "fd", "address", "capacity", "limit",
    "segment", "memoryRef", NULL};
enum { ATTACHED_DEEP = 64 };

static bool is_role(const struct finding *f, uint32_t id, enum role role)
{
	return id != HEAP_NONE && f->role[heap_class_index(f->heap, id)] == role;
}

/* Does the way over attachments end at a buffer that owns memory, or at what is no buffer?  Of one too long to be
 * followed, as slices of slices have in JDK 8, it is taken to. */
static bool leads_to_owner(struct finding *f, uint32_t id)
{
	uint32_t before = HEAP_NONE; /* passed at the last power of two: met again, it is a circle */
	for (unsigned deep = 0; id != HEAP_NONE; deep++) {
		struct values v;
		if (id == before)
			return false;
		if (deep == ATTACHED_DEEP)
			return true;
		if (!(deep & (deep - 1)))
			before = id;
		if (!is_role(f, id, ROLE_BUFFER))
			return true;
		if (values_open(&v, f->heap, id, NULL))
			return false;
		if (field_object(&f->buffer, &v, B_CLEANER) != HEAP_NONE)
			return true;
		uint32_t viewed = field_object(&f->buffer, &v, B_ATTACHED);
		uint32_t next = viewed != HEAP_NONE ? viewed : field_object(&f->buffer, &v, B_VIEWED);
		if (next == HEAP_NONE)
			return !f->buffer.has[B_ATTACHED] || field_is_null(&f->buffer, &v, B_ATTACHED);
		id = next;
	}
	return false;
}

static bool is_attached(struct finding *f, const struct values *v)
{
	return (f->buffer.has[B_ATTACHED] && !field_is_null(&f->buffer, v, B_ATTACHED)) ||
	    (f->buffer.has[B_VIEWED] && !field_is_null(&f->buffer, v, B_VIEWED));
}

/* Android keeps small direct buffers in arrays of the heap. */
static bool is_in_heap(struct finding *f, const struct values *v)
{
	uint32_t reference = field_object(&f->buffer, v, B_REFERENCE);
	struct values memory;
	struct value array;
	return reference != HEAP_NONE && !values_open(&memory, f->heap, reference, NULL) &&
	    values_field(&memory, "buffer", &array) && value_object_id(f->heap, &array) != HEAP_NONE;
}

/* Nothing in the dump frees it: native code lent it, or Unsafe gave it. */
static int take_lent(struct finding *f, const struct values *v, uint64_t address, uint64_t capacity, uint64_t limit)
{
	if (!address || !capacity)
		return 0;
	if (f->buffer.has[B_FILE] && !field_is_null(&f->buffer, v, B_FILE))
		return offheap_add(f, v->id, OFFHEAP_MAPPED, offheap_usual(capacity), limit, address);
	return offheap_add_stretch(f, &(struct stretch){.address = address, .size = capacity, .object = v->id,
	    .limit = limit});
}

/* A buffer with a cleaner. */
static int take_cleaned(struct finding *f, const struct values *v, uint32_t cleaner, bool sane, uint64_t capacity,
    uint64_t limit, uint64_t address)
{
	struct values c;
	bool known;
	uint32_t action = values_open(&c, f->heap, cleaner, NULL) ? HEAP_NONE : cleaner_action(f, &c);
	if (action == HEAP_NONE) {
		f->out->freed++;
		return 0;
	}
	int code = take_action(f, action, v->id, limit, &known);
	if (known || code)
		return code;
	bits_set(&f->taken, action);
	if (!sane) {
		f->out->broken++;
		return 0;
	}
	return offheap_add(f, v->id, OFFHEAP_DIRECT, offheap_usual(capacity), limit, address);
}

int offheap_take_buffer(struct finding *f, uint32_t id)
{
	struct values v;
	uint64_t address = 0, capacity = 0, limit = OFFHEAP_NO_LIMIT;
	if (values_open_along(&v, f->heap, id, &f->walk, NULL)) {
		f->out->broken++;
		return 0;
	}
	(void)offheap_number(&f->buffer, &v, B_ADDRESS, &address);
	(void)offheap_number(&f->buffer, &v, B_LIMIT, &limit);
	uint32_t cleaner = field_object(&f->buffer, &v, B_CLEANER);
	bool sane = offheap_number(&f->buffer, &v, B_CAPACITY, &capacity) && capacity <= INT32_MAX;
	if (limit > capacity)
		limit = OFFHEAP_NO_LIMIT;
	if (is_in_heap(f, &v))
		return 0;
	if (cleaner != HEAP_NONE)
		return take_cleaned(f, &v, cleaner, sane, capacity, limit, address);
	if (!sane) {
		f->out->broken++;
		return 0;
	}
	if (f->buffer.has[B_SEGMENT] && !field_is_null(&f->buffer, &v, B_SEGMENT)) {
		f->out->views++;
		return 0;
	}
	if (!is_attached(f, &v))
		return take_lent(f, &v, address, capacity, limit);
	f->out->views++;
	f->out->lost += !leads_to_owner(f, id);
	return 0;
}

/* --- sessions of memory segments ---------------------------------------------------------------- */

enum { L_FIRST, L_NEXT, L_ALLOCATED, L_ALIGNED, L_ASKED, L_BYTE_SIZE, L_BYTES_SIZE, L_BASE, L_BUFFER, L_UNMAPPER,
    L_UNMAPPER_PROXY, L_RESERVED, L_CACHE };
static const char *const cleanup_names[FIELDS_MOST] = {"fst", "next", "val$allocationSize", "val$alignedSize",
    "val$cleanupByteSize", "val$byteSize", "val$bytesSize", "val$allocationBase", "val$buf", "val$unmapper",
    "val$unmapperProxy", "val$shouldReserve", "cache", NULL};

static int take_cleanup(struct finding *f, const struct values *v)
{
	struct fields *c = &f->cleanup;
	uint32_t unmapper = field_object(c, v, L_UNMAPPER);
	uint64_t size, address;
	struct value reserved;
	bool known;
	if (unmapper == HEAP_NONE)
		unmapper = field_object(c, v, L_UNMAPPER_PROXY);
	if (unmapper != HEAP_NONE)
		return take_action(f, unmapper, v->id, OFFHEAP_NO_LIMIT, &known);
	if (!offheap_number(c, v, L_BASE, &address) && !offheap_number(c, v, L_BUFFER, &address))
		return 0; /* something of the program's own */
	if (!offheap_number(c, v, L_ASKED, &size) && !offheap_number(c, v, L_BYTE_SIZE, &size) &&
	    !offheap_number(c, v, L_BYTES_SIZE, &size) && !offheap_number(c, v, L_ALLOCATED, &size) &&
	    !offheap_number(c, v, L_ALIGNED, &size))
		return 0;
	if (size > SIZE_MOST || !address) {
		f->out->broken++;
		return 0;
	}
	int code = offheap_add(f, v->id, OFFHEAP_SEGMENT, amount_exact(size), OFFHEAP_NO_LIMIT, address);
	if (!code && c->has[L_RESERVED] && values_at(v, &c->place[L_RESERVED], &reserved))
		f->out->owner[f->out->n - 1].reserved = reserved.bits;
	return code;
}

/* A list of a closed session ends in an object that says so and frees nothing. */
static bool is_end(const struct finding *f, uint32_t id)
{
	static const char end[] = "ResourceCleanup$1";
	const char *name = id == HEAP_NONE ? "" : heap_class_of(f->heap, id)->name;
	size_t n = strlen(name);
	return n >= sizeof end - 1 && !strcmp(name + n - (sizeof end - 1), end);
}

static int take_cleanups(struct finding *f, uint32_t at)
{
	struct values v;
	int code = 0;
	for (uint64_t round = 0; !code && at != HEAP_NONE; round++) {
		if (progress_stops(f->progress, round))
			return err_cancelled(f->err);
		if (bits_get(&f->taken, at) || values_open(&v, f->heap, at, NULL))
			break; /* also where it runs in a circle */
		bits_set(&f->taken, at);
		code = take_cleanup(f, &v);
		at = field_object(&f->cleanup, &v, L_NEXT);
	}
	return code;
}

/* JDK 25 keeps the first of a confined session apart, also when it is closed. */
int offheap_take_list(struct finding *f, uint32_t id)
{
	struct values v;
	if (values_open_along(&v, f->heap, id, &f->walk, NULL))
		return 0;
	uint32_t first = field_object(&f->cleanup, &v, L_FIRST), kept = field_object(&f->cleanup, &v, L_CACHE);
	if (is_end(f, first))
		return 0;
	int code = take_cleanups(f, first);
	return code ? code : take_cleanups(f, kept);
}

enum { S_MIN, S_LENGTH, S_SCOPE, S_SESSION, S_UNMAPPER };
static const char *const segment_names[] = {"min", "length", "scope", "session", "unmapper", NULL};

static bool is_closed(const struct heap *h, uint32_t scope)
{
	struct values v;
	struct value state;
	if (scope == HEAP_NONE || values_open(&v, h, scope, NULL))
		return false;
	if (values_field(&v, "closed", &state) && state.type == VALUE_BOOLEAN && state.bits)
		return true;
	return values_field(&v, "state", &state) && state.type == VALUE_INT && (int64_t)state.bits < 0;
}

int offheap_take_segment(struct finding *f, uint32_t id)
{
	struct values v;
	uint64_t address, size;
	bool known;
	if (values_open_along(&v, f->heap, id, &f->walk, NULL) || !offheap_number(&f->segment, &v, S_MIN, &address) ||
	    !offheap_number(&f->segment, &v, S_LENGTH, &size)) {
		f->out->broken++;
		return 0;
	}
	uint32_t scope = field_object(&f->segment, &v, S_SCOPE), unmapper = field_object(&f->segment, &v, S_UNMAPPER);
	if (scope == HEAP_NONE)
		scope = field_object(&f->segment, &v, S_SESSION);
	/* One of all memory is the JDK's own way to read at any address. */
	if (!address || !size || size > SIZE_MOST || address > UINT64_MAX - size || is_closed(f->heap, scope))
		return 0;
	int code = unmapper == HEAP_NONE ? 0 : take_action(f, unmapper, id, OFFHEAP_NO_LIMIT, &known);
	return code ? code : offheap_add_stretch(f, &(struct stretch){.address = address, .size = size, .object = id,
	    .segment = true, .limit = OFFHEAP_NO_LIMIT});
}

void offheap_name_fields(struct finding *f)
{
	f->action.names = action_names;
	f->cleaner.names = cleaner_names;
	f->buffer.names = buffer_names;
	f->cleanup.names = cleanup_names;
	f->segment.names = segment_names;
}
