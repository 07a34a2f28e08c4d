/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * goroutine_waits.c - what goroutines hold by values on their stacks that the runtime leads to: what they wait to
 * send, and the variables of closures of deferred calls.
 *
 * The compiler's map of a frame seldom lists the words of such values: the collector finds them through a
 * table of stack objects that no dump has.  The runtime's sudog leads to what is sent, the record of a
 * deferred call to its closure; variables that a closure shares with its function lie elsewhere on the stack.
 */
#include "heap/build/build.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "base/amount.h"
#include "dump/facts.h"
#include "dump/types.h"
#include "heap/ids.h"
#include "heap/noted.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "heap/typed/typed.h"
#include "heap/waits.h"
#include "memory/big.h"

#include <stdint.h>
#include <string.h>

enum { MOST_SHARED = 8 }; /* pointers from one value on a stack to the next */

struct sent {
	struct build *b;
	uint32_t thread;
	enum root_kind kind;
	struct heap_root *root; /* ascending by slot, once all are there */
	size_t n, cap;
	struct typed shared[MOST_SHARED]; /* variables on the stack that are still to be taken apart */
	unsigned n_shared;
	uint64_t steps; /* values looked at; no dump has reason to have more of them than objects */
};

static void note_shared(struct sent *s, const struct typed *part, uint64_t address)
{
	const struct type *of = typed_type(part);
	uint32_t element = of && of->kind == TYPE_POINTER ? of->element : TYPE_NONE;
	struct typed *to = &s->shared[s->n_shared];
	if (element == TYPE_NONE || s->n_shared == MOST_SHARED || !typed_at(s->b->heap, address, element, to))
		return;
	to->size = s->b->heap->dump->types->type[element].size;
	s->n_shared++;
}

static void take_part(void *context, const struct typed *part, const char *name)
{
	struct sent *s = context;
	struct typed_reference to;
	enum type_kind kind = typed_type(part) ? typed_type(part)->kind : TYPE_UNKNOWN;
	unsigned data = kind == TYPE_INTERFACE || kind == TYPE_EMPTY_INTERFACE ? typed_word_size(part->heap) : 0;
	(void)name;
	if (!typed_pointer(part, &to) || !to.address)
		return;
	if (to.id == HEAP_NONE) {
		if (s->kind == ROOT_DEFER)
			note_shared(s, part, to.address);
		return;
	}
	struct heap_root *at = BIG_PUSH(s->root, s->n, s->cap, &s->b->lost);
	if (at)
		*at = (struct heap_root){ .object = to.id, .thread = s->thread, .frame = HEAP_NONE,
			.kind = s->kind, .certainty = EXACT, .slot = part->address + data,
			.offset = to.offset < UINT32_MAX ? (uint32_t)to.offset : UINT32_MAX };
}

static int by_slot(const void *x, const void *y)
{
	const struct heap_root *a = x, *b = y;
	return (a->slot > b->slot) - (a->slot < b->slot);
}

/* Take away those whose word a frame lists: they are roots already. */
static void drop_listed(struct sent *s)
{
	const struct heap *h = s->b->heap;
	for (size_t i = 0; i < h->n_roots && !build_stops(s->b, i); i++) {
		size_t at;
		BISECT(at, s->n, s->root[at].slot < h->roots[i].slot);
		for (; at < s->n && h->roots[i].slot && s->root[at].slot == h->roots[i].slot; at++)
			s->root[at].object = HEAP_NONE;
	}
}

/* By the reason that Go gives (runtime/runtime2.go: waitReasonStrings): most that wait only receive. */
static bool may_send(const struct heap_thread *t)
{
	return t->waits_for && (!strncmp(t->waits_for, "chan send", 9) || !strncmp(t->waits_for, "select", 6));
}

/* A sudog is an object of one goroutine: lists that are longer together run in circles. */
static void take_sent(struct sent *s)
{
	const struct heap *h = s->b->heap;
	s->kind = ROOT_STACK_FRAME;
	for (uint32_t t = 0; t < h->n_threads && !build_stops(s->b, t); t++) {
		struct waits_walk walk = { .next = 0 };
		s->thread = t;
		for (struct wait w; may_send(&h->threads[t]) && s->steps < h->n_objects && waits_next(h, t, &walk, &w);
		     s->steps++)
			if (w.sent.bytes && typed_resolve(h, w.sent.address).id == HEAP_NONE)
				typed_parts(&w.sent, take_part, s);
	}
}

/* --- deferred calls ----------------------------------------------------------------------------- */

struct owner {
	uint64_t address; /* of a thread's object */
	uint32_t thread;
};

static int by_address(const void *x, const void *y)
{
	const struct owner *a = x, *b = y;
	return (a->address > b->address) - (a->address < b->address);
}

static struct owner *all_owners(const struct heap *h, struct err *err)
{
	struct owner *all = big_alloc(h->n_threads, sizeof *all, err);
	for (uint32_t t = 0; all && t < h->n_threads; t++)
		all[t] = (struct owner){ h->threads[t].address, t };
	if (all && sort(all, h->n_threads, sizeof *all, by_address, err) < 0) {
		big_free(all);
		return NULL;
	}
	return all;
}

static uint32_t owner_of(const struct heap *h, const struct owner *all, uint64_t address)
{
	uint32_t at;
	BISECT(at, h->n_threads, all[at].address < address);
	return at < h->n_threads && all[at].address == address ? all[at].thread : HEAP_NONE;
}

struct closure {
	struct sent *s;
	uint64_t address;
};

static void take_capture(void *context, uint32_t type, uint64_t offset)
{
	struct closure *c = context;
	const struct heap *h = c->s->b->heap;
	struct typed value;
	if (offset > UINT64_MAX - c->address || !typed_at(h, c->address + offset, type, &value))
		return;
	value.size = h->dump->types->type[type].size;
	c->s->n_shared = 0;
	typed_parts(&value, take_part, c->s);
	for (unsigned i = 0; i < c->s->n_shared; i++) {
		struct typed shared = c->s->shared[i]; /* more may come behind it */
		typed_parts(&shared, take_part, c->s);
	}
}

static int take_deferred(struct sent *s, struct err *err)
{
	const struct heap *h = s->b->heap;
	const struct memory_reader *memory = h->dump->reader->memory;
	struct noted_walk walk = { .run = 0 };
	struct owner *all = NULL;
	int code = 0;
	s->kind = ROOT_DEFER;
	for (struct noted n; memory && h->dump->types && code == 0 && !build_stops(s->b, s->steps) &&
	     s->steps++ < h->n_objects && heap_next_noted(h, NOTED_DEFER, &walk, &n);) {
		if (!n.closure || !n.code || typed_resolve(h, n.closure).id != HEAP_NONE)
			continue;
		if (!all && !(all = all_owners(h, err)))
			return ERR_NOMEM;
		struct closure c = { s, n.closure };
		s->thread = owner_of(h, all, n.of);
		if (s->thread != HEAP_NONE)
			code = memory->captures(h->dump, n.code, take_capture, &c, err);
	}
	big_free(all);
	return code;
}

/* --- all ---------------------------------------------------------------------------------------- */

int goroutine_waits_collect(struct build *b, struct err *err)
{
	struct sent s = { .b = b };
	take_sent(&s);
	s.steps = 0;
	int code = take_deferred(&s, err);
	if (s.n && code == 0)
		code = sort(s.root, s.n, sizeof *s.root, by_slot, err);
	if (s.n && code == 0)
		drop_listed(&s);
	for (size_t i = 0; code == 0 && i < s.n; i++)
		build_root(b, s.root[i]);
	big_free(s.root);
	return code ? code : build_check(b, err);
}
