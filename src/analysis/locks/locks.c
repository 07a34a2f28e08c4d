/* SPDX-License-Identifier: GPL-3.0-or-later */
/* locks.c - locks found, and put in order; see locks.h. */
#include "analysis/locks/locks_find.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "base/progress.h"
#include "heap/heap.h"
#include "heap/threads.h"
#include "heap/value.h"
#include "memory/big.h"

#include <string.h>

const char *lock_kind_name(enum lock_kind kind)
{
	static const char *const names[LOCK_KINDS] = {
		[LOCK_MONITOR] = "monitor", [LOCK_EXCLUSIVE] = "lock", [LOCK_READ] = "read lock",
		[LOCK_WRITE] = "write lock", [LOCK_STAMPED] = "stamped lock", [LOCK_SEMAPHORE] = "semaphore",
		[LOCK_LATCH] = "latch", [LOCK_CONDITION] = "condition", [LOCK_SYNCHRONIZER] = "synchronizer",
		[LOCK_FUTURE] = "future", [LOCK_PARKED] = "parked", [LOCK_MUTEX] = "mutex",
		[LOCK_GROUP] = "wait group", [LOCK_CHANNEL] = "channel",
	};
	return names[kind];
}

/* --- for those who find them -------------------------------------------------------------------- */

uint32_t lock_add(struct finding *f, uint32_t object, uint32_t synchronizer, enum lock_kind kind)
{
	struct locks *l = f->locks;
	struct lock *to = f->lost || l->n >= HEAP_NONE - 1 ? NULL : BIG_PUSH(l->lock, l->n, l->cap, f->err);
	f->lost |= !to;
	if (!to)
		return HEAP_NONE;
	*to = (struct lock){
		.address = object == HEAP_NONE ? 0 : heap_address(f->heap, object),
		.object = object,
		.synchronizer = synchronizer,
		.kind = kind,
		.owner = HEAP_NONE,
		.owner_object = HEAP_NONE,
		.owner_is = UNKNOWN,
		.owner_frame = HEAP_NONE,
		.holds = amount_unknown(REASON_SILENT),
	};
	return (uint32_t)l->n - 1;
}

void lock_add_wait(struct finding *f, const struct lock_wait *wait)
{
	struct locks *l = f->locks;
	struct lock_wait *to = f->lost || l->n_waits >= HEAP_NONE - 1 ? NULL :
	    BIG_PUSH(l->wait, l->n_waits, l->cap_waits, f->err);
	f->lost |= !to;
	if (to)
		*to = *wait;
}

bool lock_thread_timed(const struct heap *h, uint32_t thread)
{
	return thread != HEAP_NONE && h->threads[thread].state && !strncmp(h->threads[thread].state, "TIMED_", 6);
}

struct lock_wait lock_wait_of(const struct finding *f, uint32_t lock, uint32_t thread_object)
{
	uint32_t thread = heap_thread_of(f->heap, thread_object);
	return (struct lock_wait){ .lock = lock, .thread = thread, .object = thread_object,
		.timed = lock_thread_timed(f->heap, thread) };
}

uint32_t lock_object_in(const struct values *v, const char *field)
{
	struct value value;
	return values_field(v, field, &value) ? value_object_id(v->heap, &value) : HEAP_NONE;
}

int64_t lock_number_in(const struct values *v, const char *field)
{
	struct value value;
	return values_field(v, field, &value) && value.type != VALUE_OBJECT ? (int64_t)value.bits : 0;
}

static int by_synchronizer(const void *x, const void *y, void *locks)
{
	const struct locks *l = locks;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	uint32_t a = l->lock[i].synchronizer, b = l->lock[k].synchronizer;
	return a != b ? (a > b) - (a < b) : (i > k) - (i < k);
}

int lock_order_make(struct lock_order *o, struct finding *f)
{
	o->n = f->locks->n;
	o->lock = big_alloc(o->n, sizeof *o->lock, f->err);
	if (!o->lock)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < o->n; i++)
		o->lock[i] = i;
	sort_array_with(o->lock, o->n, sizeof *o->lock, by_synchronizer, f->locks);
	return 0;
}

uint32_t lock_order_find(const struct lock_order *o, const struct locks *l, uint32_t synchronizer)
{
	size_t at;
	BISECT(at, o->n, l->lock[o->lock[at]].synchronizer < synchronizer);
	return at < o->n && l->lock[o->lock[at]].synchronizer == synchronizer ? o->lock[at] : HEAP_NONE;
}

void lock_order_release(struct lock_order *o)
{
	big_free(o->lock);
}

/* --- order -------------------------------------------------------------------------------------- */

/* Deadlocks first, then what threads wait for to enter, what they wait for otherwise, and what is only held. */
static unsigned rank_of(const struct locks *l, const struct lock *lock)
{
	if (lock->cycle)
		return 0;
	bool entered = lock->kind < LOCK_SEMAPHORE || lock->kind == LOCK_MUTEX;
	for (uint32_t i = 0; entered && i < lock->n_waits; i++) {
		enum wait_for how = l->wait[lock->first_wait + i].how;
		if (how == WAIT_TO_ENTER || how == WAIT_TO_READ || how == WAIT_TO_WRITE)
			return 1;
	}
	return lock->n_waits ? 2 : 3;
}

/* Then by kind, then by address. */
static int by_interest(const void *x, const void *y, void *locks)
{
	const struct locks *l = locks;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	const struct lock *a = &l->lock[i], *b = &l->lock[k];
	unsigned rank = rank_of(l, a), other = rank_of(l, b);
	if (rank != other)
		return rank < other ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->address != b->address ? (a->address > b->address) - (a->address < b->address) : (i > k) - (i < k);
}

/* Waits stand together by lock already: each finder adds those of a lock one after another, but parked threads may
 * come to one that was found before. */
static int by_lock(const void *x, const void *y, void *locks)
{
	const struct locks *l = locks;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	uint32_t a = l->wait[i].lock, b = l->wait[k].lock;
	return a != b ? (a > b) - (a < b) : (i > k) - (i < k);
}

/* A list in another order: compare is called with numbers of elements, and the locks.  NULL: no memory. */
static void *in_order(struct finding *f, const void *list, size_t n, size_t size,
    int (*compare)(const void *, const void *, void *))
{
	uint32_t *order = big_alloc(n, sizeof *order, f->err);
	char *out = order ? big_alloc(n, size, f->err) : NULL;
	for (uint32_t i = 0; out && i < n; i++)
		order[i] = i;
	if (out)
		sort_array_with(order, n, sizeof *order, compare, f->locks);
	for (size_t i = 0; out && i < n; i++)
		memcpy(out + i * size, (const char *)list + order[i] * size, size);
	big_free(order);
	return out;
}

static int order_waits(struct finding *f)
{
	struct locks *l = f->locks;
	struct lock_wait *waits = in_order(f, l->wait, l->n_waits, sizeof *waits, by_lock);
	if (!waits)
		return ERR_NOMEM; /* the caller releases what was found */
	big_free(l->wait);
	l->wait = waits;
	l->cap_waits = l->n_waits;
	for (uint32_t i = 0; i < l->n_waits; i++) {
		struct lock *lock = &l->lock[waits[i].lock];
		lock->first_wait = lock->n_waits++ ? lock->first_wait : i;
	}
	return 0;
}

static int order_locks(struct finding *f)
{
	struct locks *l = f->locks;
	struct lock *locks = in_order(f, l->lock, l->n, sizeof *locks, by_interest);
	if (!locks)
		return ERR_NOMEM;
	big_free(l->lock);
	l->lock = locks;
	l->cap = l->n;
	for (uint32_t i = 0; i < l->n; i++)
		for (uint32_t w = 0; w < locks[i].n_waits; w++)
			l->wait[locks[i].first_wait + w].lock = i;
	return 0;
}

/* --- all ---------------------------------------------------------------------------------------- */

int locks_told(const struct heap *h, struct err *err)
{
	if (values_held(h) || h->facts.values == TYPED_MEMORY || h->facts.owners_recorded ||
	    (h->companion && h->n_threads))
		return 0;
	if (values_away(h))
		return heap_holds_no_values(h, err);
	return err_set(err, ERR_UNSUPPORTED, "%s holds neither threads nor the states of locks%s", h->facts.title,
	    h->facts.roots_recorded ? "" : " (a javacore has them, but none was read)");
}

int locks_find(struct locks *out, const struct heap *h, struct progress *progress, struct err *err)
{
	struct finding f = { .heap = h, .locks = out, .progress = progress, .err = err };
	*out = (struct locks){ .lock = NULL };
	bool java = values_held(h) && h->facts.values != TYPED_MEMORY;
	int code = bits_init(&f.waits, h->n_objects, err);
	if (!code && java)
		code = locks_find_java(&f);
	if (!code && java && !h->facts.owners_recorded)
		code = locks_find_monitors(&f);
	if (!code && java)
		code = locks_find_readers(&f);
	if (!code && (h->facts.owners_recorded || (h->companion && !java)))
		code = locks_find_told(&f, !java);
	if (!code && h->facts.values == TYPED_MEMORY)
		code = locks_find_go(&f);
	if (!code && h->facts.values == TYPED_MEMORY)
		code = locks_find_sync(&f);
	code = code ? code : f.lost ? ERR_NOMEM : progress_check(progress, err);
	if (!code)
		code = order_waits(&f);
	if (!code)
		code = locks_find_cycles(&f);
	if (!code)
		code = order_locks(&f);
	code = code ? code : progress_check(progress, err);
	bits_release(&f.waits);
	if (code)
		locks_release(out);
	return code;
}

void locks_release(struct locks *l)
{
	big_free(l->lock);
	big_free(l->wait);
	big_free(l->reader);
	big_free(l->cycle);
	big_free(l->cycle_wait);
	*l = (struct locks){ .lock = NULL };
}
