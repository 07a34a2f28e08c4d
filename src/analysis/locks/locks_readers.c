/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locks_readers.c - who reads under a ReentrantReadWriteLock of Java.
 *
 * The lock counts its readers and has no list of them.  It knows the first one, and each further one keeps how often it
 * entered as a HoldCounter in the ThreadLocal `readHolds` of the lock (JDK 6 to 28).  Readers are named only if that
 * comes to what the lock counts.
 */
#include "analysis/locks/locks_find.h"

#include "analysis/thread_locals.h"
#include "base/progress.h"
#include "dump/facts.h"
#include "heap/ids.h"
#include "heap/value.h"
#include "memory/big.h"

static bool is_wanted(const struct lock *lock)
{
	return lock->kind == LOCK_READ && lock->owner_is == UNKNOWN && lock->synchronizer != HEAP_NONE;
}

static int add_reader(struct finding *f, struct lock *lock, uint32_t thread)
{
	struct locks *l = f->locks;
	uint32_t *to = BIG_PUSH(l->reader, l->n_readers, l->cap_readers, f->err);
	if (!to)
		return ERR_NOMEM;
	*to = thread;
	lock->n_readers++;
	return 0;
}

static int name_readers(struct finding *f, struct lock *lock, const struct thread_locals *t)
{
	struct values v;
	uint64_t sum = 0;
	int code = 0;
	if (values_open(&v, f->heap, lock->synchronizer, NULL))
		return 0;
	uint32_t key = lock_object_in(&v, "readHolds"), first = lock_object_in(&v, "firstReader");
	int64_t held = lock_number_in(&v, "firstReaderHoldCount");
	lock->first_reader = (uint32_t)f->locks->n_readers;
	if (first != HEAP_NONE && held > 0) {
		sum = (uint64_t)held;
		code = add_reader(f, lock, first);
	}
	for (uint64_t i = 0; !code && key != HEAP_NONE && i < t->n && !progress_stops(f->progress, i); i++) {
		if (t->at[i].key != key || t->at[i].thread == first || t->at[i].value == HEAP_NONE ||
		    values_open(&v, f->heap, t->at[i].value, NULL))
			continue;
		int64_t count = lock_number_in(&v, "count");
		if (count <= 0)
			continue;
		sum += (uint64_t)count;
		code = add_reader(f, lock, t->at[i].thread);
	}
	if (!code && sum == lock->holds.n && lock->holds.certainty == EXACT)
		return 0;
	f->locks->n_readers = lock->first_reader;
	lock->n_readers = 0;
	return code;
}

int locks_find_readers(struct finding *f)
{
	struct thread_locals t = {.n = 0};
	bool found = false;
	int code = 0;
	for (size_t i = 0; !code && i < f->locks->n && !progress_stops(f->progress, i); i++) {
		if (!is_wanted(&f->locks->lock[i]))
			continue;
		if (!found)
			code = thread_locals_find(&t, f->heap, f->progress, f->err);
		found = true;
		if (!code)
			code = name_readers(f, &f->locks->lock[i], &t);
	}
	if (!code)
		code = progress_check(f->progress, f->err);
	thread_locals_release(&t);
	return code;
}
