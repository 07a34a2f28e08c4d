/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waiting.c - what goroutines that wait to send hold.
 *
 * The value lies on the goroutine's stack, and the compiler's map of the frame seldom lists its word: the
 * collector finds it through a table of stack objects that no dump has.  The runtime's sudog leads to it.
 */
#include "heap/build/build.h"

#include "base/big.h"
#include "base/sort.h"
#include "heap/waits.h"

#include <string.h>

struct sent {
	struct build *b;
	uint32_t thread;
	struct heap_root *root; /* ascending by slot, once all are there */
	size_t n, cap;
};

static void take_part(void *context, const struct typed *part, const char *name)
{
	struct sent *s = context;
	struct typed_reference to;
	enum type_kind kind = typed_type(part) ? typed_type(part)->kind : TYPE_UNKNOWN;
	unsigned data = kind == TYPE_INTERFACE || kind == TYPE_EMPTY_INTERFACE ? typed_word_size(part->heap) : 0;
	(void)name;
	if (!typed_pointer(part, &to) || to.id == HEAP_NONE)
		return;
	struct heap_root *at = BIG_PUSH(s->root, s->n, s->cap, &s->b->lost);
	if (at)
		*at = (struct heap_root){ .object = to.id, .thread = s->thread, .frame = HEAP_NONE,
			.kind = ROOT_STACK_FRAME, .certainty = EXACT, .slot = part->address + data,
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
		size_t low = 0, high = s->n;
		while (low < high) {
			size_t middle = low + (high - low) / 2;
			if (s->root[middle].slot < h->roots[i].slot)
				low = middle + 1;
			else
				high = middle;
		}
		for (; low < s->n && h->roots[i].slot && s->root[low].slot == h->roots[i].slot; low++)
			s->root[low].object = HEAP_NONE;
	}
}

/* By the reason that Go gives (runtime/runtime2.go: waitReasonStrings): most that wait only receive. */
static bool may_send(const struct heap_thread *t)
{
	return t->waits_for && (!strncmp(t->waits_for, "chan send", 9) || !strncmp(t->waits_for, "select", 6));
}

int waiting_collect(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	struct sent s = { .b = b };
	uint64_t steps = 0; /* a sudog is an object of one goroutine: lists that are longer together run in circles */
	for (uint32_t t = 0; t < h->n_threads && !build_stops(b, t); t++) {
		struct waits_walk walk = { .next = 0 };
		s.thread = t;
		for (struct wait w; may_send(&h->threads[t]) && steps < h->n_objects && waits_next(h, t, &walk, &w); steps++)
			if (w.sent.bytes && typed_resolve(h, w.sent.address).id == HEAP_NONE)
				typed_parts(&w.sent, take_part, &s);
	}
	int code = s.n ? sort(s.root, s.n, sizeof *s.root, by_slot, err) : 0;
	if (s.n && code == 0)
		drop_listed(&s);
	for (size_t i = 0; code == 0 && i < s.n; i++)
		build_root(b, s.root[i]);
	big_free(s.root);
	return code ? code : build_check(b, err);
}
