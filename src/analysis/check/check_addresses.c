/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check_addresses.c - checks that addresses ascend, and lead back to their objects.
 */
#include "analysis/check/check_tree.h"

#include "algorithms/parallel.h"
#include "heap/heap.h"
#include "heap/index.h"
#include "memory/big.h"

#include <inttypes.h>

enum { OBJECTS_A_STRETCH = 1 << 17 };

/* The first object of a stretch that breaks a promise. */
struct fault {
	bool any;
	uint32_t id, found;
	uint64_t before, address; /* found HEAP_NONE: an object is found at `address`, where none is */
};

struct addresses {
	const struct heap *h;
	struct progress *progress;
	struct fault *fault; /* of each stretch */
};

static uint32_t end_of(const struct addresses *a, unsigned stretch)
{
	uint64_t end = ((uint64_t)stretch + 1) * OBJECTS_A_STRETCH;
	return end < a->h->n_objects ? (uint32_t)end : a->h->n_objects;
}

/* An object's address is above that of the one before, and what a walk over all addresses comes to. */
static int ascend(void *context, unsigned stretch, struct err *err)
{
	struct addresses *a = context;
	uint32_t id = stretch * OBJECTS_A_STRETCH, end = end_of(a, stretch);
	uint64_t before = id ? heap_address(a->h, id - 1) : 0, walked;
	struct index_walk walk;
	(void)err;
	index_walk_seek(&walk, a->h->index, id);
	for (; id < end && !progress_stops(a->progress, id); id++) {
		uint64_t address = heap_address(a->h, id);
		if (!index_walk_next(&walk, &walked) || walked != address || (id && address <= before)) {
			a->fault[stretch] = (struct fault){.any = true, .id = id, .before = before, .address = address};
			return 0;
		}
		before = address;
	}
	return 0;
}

/* Addresses as a walk gives them, which are those of the objects. */
static int lead_back(void *context, unsigned stretch, struct err *err)
{
	struct addresses *a = context;
	uint32_t id = stretch * OBJECTS_A_STRETCH, end = end_of(a, stretch);
	uint64_t before = id ? heap_address(a->h, id - 1) : 0, address;
	struct index_walk walk;
	(void)err;
	index_walk_seek(&walk, a->h->index, id);
	for (; id < end && index_walk_next(&walk, &address) && !progress_stops(a->progress, id); id++) {
		uint32_t found = heap_find(a->h, address);
		if (found != id) {
			a->fault[stretch] = (struct fault){.any = true, .id = id, .found = found, .address = address};
			return 0;
		}
		/* and what lies just before an object is not one */
		if (id && address - before > 1 && heap_find(a->h, address - 1) != HEAP_NONE) {
			a->fault[stretch] = (struct fault){.any = true, .found = HEAP_NONE, .address = address - 1};
			return 0;
		}
		before = address;
	}
	return 0;
}

/* The first fault of all stretches; NULL: none. */
static const struct fault *first_fault(const struct addresses *a, unsigned stretches)
{
	for (unsigned i = 0; i < stretches; i++)
		if (a->fault[i].any)
			return &a->fault[i];
	return NULL;
}

static void say_ascend(struct checks *to, const struct heap *h, const struct fault *f)
{
	if (f)
		checks_add(to, "addresses ascend", CHECK_BROKEN, "#%" PRIu32 " at 0x%" PRIx64 " follows 0x%" PRIx64,
		    f->id, f->address, f->before);
	else
		checks_add(to, "addresses ascend", CHECK_OK, "%" PRIu32 " objects, no address twice", h->n_objects);
}

static void say_lead_back(struct checks *to, const struct fault *f)
{
	const char *name = "addresses are found";
	if (!f)
		checks_add(to, name, CHECK_OK, "every address leads back to its object");
	else if (f->found == HEAP_NONE && !f->id)
		checks_add(to, name, CHECK_BROKEN, "0x%" PRIx64 " is not an object, but one is found there", f->address);
	else
		checks_add(to, name, CHECK_BROKEN, "0x%" PRIx64 " of #%" PRIu32 " leads to #%" PRIu32, f->address,
		    f->id, f->found);
}

int check_addresses(struct checks *to, const struct heap *h, struct progress *progress, struct err *err)
{
	unsigned stretches = (unsigned)(((uint64_t)h->n_objects + OBJECTS_A_STRETCH - 1) / OBJECTS_A_STRETCH);
	struct addresses a = {.h = h, .progress = progress};
	a.fault = big_alloc(stretches, sizeof *a.fault, err);
	int code = a.fault ? parallel_run(0, stretches, ascend, &a, err) : ERR_NOMEM;
	const struct fault *fault = code ? NULL : first_fault(&a, stretches);
	if (!code)
		say_ascend(to, h, fault);
	if (!code && !fault) {
		code = parallel_run(0, stretches, lead_back, &a, err);
		if (!code)
			say_lead_back(to, first_fault(&a, stretches));
	}
	big_free(a.fault);
	return code;
}
