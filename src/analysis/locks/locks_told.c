/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locks_told.c - the monitors and locks that a javacore or a system dump records: what each thread waits for and who
 * owns that, and the monitors that frames have entered (heap/build/roots.c keeps both).
 */
#include "analysis/locks/locks_find.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "base/progress.h"
#include "dump/facts.h"
#include "heap/heap.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

/* A thread that waits for the object, or has it. */
struct told {
	uint64_t address;
	uint32_t object, thread, owner, frame;
	bool waits, unowned;
};

struct names {
	const struct heap *h;
	uint32_t *by_name; /* threads */
};

static int by_name(const void *x, const void *y, void *heap)
{
	const struct heap *h = heap;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	int order = strcmp(h->threads[a].name, h->threads[b].name);
	return order ? order : (a > b) - (a < b);
}

/* The only thread of this name, or HEAP_NONE. */
static uint32_t thread_named(const struct names *n, const char *name)
{
	const struct heap *h = n->h;
	uint32_t at;
	BISECT(at, h->n_threads, strcmp(h->threads[n->by_name[at]].name, name) < 0);
	if (at == h->n_threads || strcmp(h->threads[n->by_name[at]].name, name) != 0)
		return HEAP_NONE;
	bool shared = at + 1 < h->n_threads && !strcmp(h->threads[n->by_name[at + 1]].name, name);
	return shared ? HEAP_NONE : n->by_name[at];
}

/* "java.lang.Object 0xe0000af0, owned by worker" */
static bool read_words(const struct names *n, uint32_t thread, struct told *out)
{
	static const char owned[] = ", owned by ";
	const char *words = n->h->threads[thread].waits_for, *at = words ? strstr(words, " 0x") : NULL;
	char *end;
	if (!at)
		return false;
	*out = (struct told){ .address = strtoull(at + 3, &end, 16), .thread = thread, .owner = HEAP_NONE,
		.frame = HEAP_NONE, .waits = true };
	out->object = heap_find(n->h, out->address);
	if (!strncmp(end, owned, sizeof owned - 1)) {
		out->unowned = !strcmp(end + sizeof owned - 1, "no thread");
		out->owner = out->unowned ? HEAP_NONE : thread_named(n, end + sizeof owned - 1);
	}
	return out->address != 0;
}

static int by_address(const void *x, const void *y)
{
	const struct told *a = x, *b = y;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->waits != b->waits)
		return a->waits ? 1 : -1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static bool is_parked(const struct heap *h, uint32_t thread)
{
	return h->threads[thread].state && !strcmp(h->threads[thread].state, "parked");
}

static void add_lock(struct finding *f, const struct told *told, size_t n)
{
	const struct heap *h = f->heap;
	uint32_t at = lock_add(f, told->object, told->object, LOCK_MONITOR);
	if (at == HEAP_NONE)
		return;
	struct lock lock = f->locks->lock[at];
	lock.address = told->address;
	for (size_t i = 0; i < n && !f->lost; i++) {
		const struct told *t = &told[i];
		const char *state = h->threads[t->thread].state;
		bool parked = t->waits && is_parked(h, t->thread);
		lock.kind = parked ? LOCK_PARKED : lock.kind;
		lock.owner_is = t->unowned || t->owner != HEAP_NONE || !t->waits ? EXACT : lock.owner_is;
		lock.owner = !t->waits ? t->thread : lock.owner == HEAP_NONE ? t->owner : lock.owner;
		lock.owner_frame = !t->waits && t->frame < lock.owner_frame ? t->frame : lock.owner_frame;
		if (t->waits)
			lock_add_wait(f, &(struct lock_wait){ .lock = at, .thread = t->thread,
			    .object = h->threads[t->thread].object,
			    .how = parked || (state && !strcmp(state, "blocked")) ? WAIT_TO_ENTER : WAIT_TO_BE_NOTIFIED });
	}
	lock.owner_object = lock.owner == HEAP_NONE ? HEAP_NONE : h->threads[lock.owner].object;
	f->locks->lock[at] = lock;
}

static int collect(struct finding *f, const struct names *names, bool parked, struct told **told, size_t *n)
{
	const struct heap *h = f->heap;
	size_t cap = 0;
	for (uint32_t t = 0; t < h->n_threads && !progress_stops(f->progress, t); t++) {
		struct told one;
		bool waits = (parked || !is_parked(h, t)) && read_words(names, t, &one);
		struct told *to = waits ? BIG_PUSH(*told, *n, cap, f->err) : &one;
		if (!to)
			return ERR_NOMEM;
		*to = one;
	}
	for (size_t i = 0; i < h->n_roots && !progress_stops(f->progress, i); i++) {
		const struct heap_root *root = &h->roots[i];
		if (root->kind != ROOT_BUSY_MONITOR || root->thread == HEAP_NONE)
			continue;
		struct told *to = BIG_PUSH(*told, *n, cap, f->err);
		if (!to)
			return ERR_NOMEM;
		*to = (struct told){ .address = heap_address(h, root->object), .object = root->object,
			.thread = root->thread, .owner = HEAP_NONE, .frame = root->frame };
	}
	return sort(*told, *n, sizeof **told, by_address, f->err);
}

int locks_find_told(struct finding *f, bool parked)
{
	const struct heap *h = f->heap;
	struct names names = { h, big_alloc(h->n_threads, sizeof *names.by_name, f->err) };
	struct told *told = NULL;
	size_t n = 0;
	int code = names.by_name ? 0 : ERR_NOMEM;
	for (uint32_t t = 0; !code && t < h->n_threads; t++)
		names.by_name[t] = t;
	if (!code) {
		sort_array_with(names.by_name, h->n_threads, sizeof *names.by_name, by_name, (void *)(uintptr_t)h);
		code = collect(f, &names, parked, &told, &n);
	}
	for (size_t i = 0, end; !code && i < n && !progress_stops(f->progress, i); i = end) {
		for (end = i + 1; end < n && told[end].address == told[i].address; end++)
			;
		add_lock(f, told + i, end - i);
	}
	big_free(told);
	big_free(names.by_name);
	return code;
}
