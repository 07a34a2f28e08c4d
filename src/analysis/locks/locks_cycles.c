/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locks_cycles.c - threads that wait for one another in a circle, and what is said of locks.
 *
 * A thread waits for one lock and a lock has one owner, so from each thread one way leads on, and whoever follows it
 * from every thread once has found all circles.
 */
#include "analysis/locks/locks_find.h"

#include "analysis/describe/describe.h"
#include "analysis/java/java.h"
#include "base/progress.h"
#include "base/text.h"
#include "heap/classes.h"
#include "heap/library.h"
#include "heap/threads.h"
#include "memory/big.h"

#include <inttypes.h>
#include <string.h>

struct walk {
	const struct heap *h;
	struct locks *l;
	uint32_t *wait;  /* by thread: what it cannot go on without, or HEAP_NONE */
	uint32_t *round; /* in which it was met, from 1 on */
};

/* The thread that has what this one waits for; HEAP_NONE: it ends by itself, or nobody knows. */
static uint32_t next(const struct walk *w, uint32_t thread)
{
	uint32_t wait = w->wait[thread];
	uint32_t owner = wait == HEAP_NONE ? HEAP_NONE : w->l->lock[w->l->wait[wait].lock].owner;
	return owner == thread ? HEAP_NONE : owner;
}

static int add_cycle(struct walk *w, uint32_t thread, struct err *err)
{
	struct locks *l = w->l;
	struct lock_cycle *cycle = BIG_PUSH(l->cycle, l->n_cycles, l->cap_cycles, err);
	if (!cycle)
		return ERR_NOMEM;
	*cycle = (struct lock_cycle){ .first = (uint32_t)l->n_cycle_waits, .certainty = EXACT };
	uint32_t at = thread;
	do {
		uint32_t *to = BIG_PUSH(l->cycle_wait, l->n_cycle_waits, l->cap_cycle_waits, err);
		if (!to)
			return ERR_NOMEM;
		*to = w->wait[at];
		const struct lock_wait *wait = &l->wait[*to];
		struct lock *lock = &l->lock[wait->lock];
		lock->cycle = (uint32_t)l->n_cycles;
		cycle->certainty = wait->certainty > cycle->certainty ? wait->certainty : cycle->certainty;
		cycle->certainty = lock->owner_is > cycle->certainty ? lock->owner_is : cycle->certainty;
		cycle->n++;
		at = next(w, at);
	} while (at != thread);
	return 0;
}

int locks_find_cycles(struct finding *f)
{
	const struct heap *h = f->heap;
	struct walk w = { h, f->locks, big_alloc(h->n_threads, sizeof *w.wait, f->err),
		big_alloc(h->n_threads, sizeof *w.round, f->err) }; /* zeroed */
	int code = w.wait && w.round ? 0 : ERR_NOMEM;
	for (uint32_t t = 0; !code && t < h->n_threads; t++)
		w.wait[t] = HEAP_NONE;
	for (uint32_t i = 0; !code && i < w.l->n_waits; i++) {
		const struct lock_wait *wait = &w.l->wait[i];
		if (wait->thread != HEAP_NONE && wait->how == WAIT_TO_ENTER && !wait->timed)
			w.wait[wait->thread] = i;
	}
	for (uint32_t t = 0; !code && t < h->n_threads && !progress_stops(f->progress, t); t++) {
		uint32_t at = t;
		while (at != HEAP_NONE && !w.round[at]) {
			w.round[at] = t + 1;
			at = next(&w, at);
		}
		if (at != HEAP_NONE && w.round[at] == t + 1)
			code = add_cycle(&w, at, f->err);
	}
	big_free(w.wait);
	big_free(w.round);
	return code;
}

/* --- words -------------------------------------------------------------------------------------- */

bool lock_field(const struct heap *h, const struct lock *lock, struct text *to)
{
	enum { MOST_HOLDERS = 1024 };
	uint32_t found = HEAP_NONE;
	const char *name = NULL;
	if (h->facts.values == TYPED_MEMORY)
		return lock->kind != LOCK_CHANNEL && lock_part(h, lock->address, to);
	if (lock->object == HEAP_NONE || h->no_references || !inspect_declares_fields(h))
		return false;
	uint64_t begin = adjacency_start(&h->in, lock->object), n = adjacency_degree(&h->in, lock->object);
	for (uint64_t k = 0; k < n && k < MOST_HOLDERS; k++) {
		uint32_t holder = h->in.target[begin + k], class;
		const char *field;
		bool is_static = heap_class_mirrored(h, holder) != HEAP_NONE;
		if ((found != HEAP_NONE && !is_static) ||
		    !inspect_declared_field(h, holder, lock->object, &class, &field) ||
		    !library_programs_class(h, class))
			continue;
		found = class;
		name = field;
		if (is_static)
			break;
	}
	if (found != HEAP_NONE)
		text_addf(to, "%s.%s", h->classes[found].name, name);
	return found != HEAP_NONE;
}

void lock_thread_name(const struct heap *h, uint32_t thread, uint32_t object, struct text *to)
{
	if (thread != HEAP_NONE && h->threads[thread].name)
		text_add(to, h->threads[thread].name);
	else if (object == HEAP_NONE || !describe_object(h, object, 80, to))
		text_addf(to, "0x%" PRIx64, object == HEAP_NONE ? 0 : heap_address(h, object));
}

/* "waste.Monitor 0xf809c240 (waste.Waste.monA)"; of static synchronized methods "class waste.Waste 0xf8114ca0" */
static void add_lock(const struct heap *h, const struct lock *lock, struct text *to)
{
	struct text field = TEXT_INIT;
	uint32_t class = lock->object == HEAP_NONE ? HEAP_NONE : heap_class_mirrored(h, lock->object);
	if (class != HEAP_NONE)
		text_addf(to, "class %s ", h->classes[class].name);
	else if (lock->object != HEAP_NONE)
		text_addf(to, "%s ", heap_class_of(h, lock->object)->name);
	text_addf(to, "0x%" PRIx64, lock->address);
	if (lock_field(h, lock, &field))
		text_addf(to, " (%s)", field.s);
	text_release(&field);
}

/* a holds A and waits for B, held by b, which waits for A, held by a */
void lock_sentence(const struct heap *h, const struct locks *l, const struct lock_cycle *cycle, struct text *to)
{
	enum { MOST_TOLD = 16 };
	for (uint32_t i = 0; i < cycle->n; i++) {
		const struct lock_wait *wait = &l->wait[l->cycle_wait[cycle->first + i]];
		const struct lock_wait *before = &l->wait[l->cycle_wait[cycle->first + (i + cycle->n - 1) % cycle->n]];
		const struct lock *lock = &l->lock[wait->lock];
		if (i == MOST_TOLD && cycle->n > MOST_TOLD + 1) {
			text_addf(to, ", and through %" PRIu32 " more threads back to the first", cycle->n - i);
			break;
		}
		if (!i) {
			lock_thread_name(h, wait->thread, wait->object, to);
			text_add(to, " holds ");
			add_lock(h, &l->lock[before->lock], to);
			text_add(to, " and waits for ");
		} else {
			text_add(to, ", which waits for ");
		}
		add_lock(h, lock, to);
		text_add(to, ", held by ");
		lock_thread_name(h, lock->owner, lock->owner_object, to);
	}
	if (cycle->certainty != EXACT)
		text_add(to, "; inferred from the objects in their frames (the dump does not record owners of monitors)");
}
