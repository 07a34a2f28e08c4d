/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_locks.c - locks: monitors and locks with who owns them and who waits, and deadlocks in a sentence.
 */
#include "command/commands.h"

#include "analysis/locks/locks.h"
#include "base/progress.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/threads.h"
#include "heap/value.h"
#include "heap/waits.h"
#include "result/objects.h"
#include "result/result.h"

#include <inttypes.h>

enum {
	L_ADDRESS, L_KIND, L_OWNER, L_WAITERS, L_WAITING, L_WAITED, L_HOLDS, L_CYCLE, L_CLASS, L_FIELD, L_FRAME, L_CERTAINTY
};
static const struct column locks_columns[] = {
    [L_ADDRESS] = {.id = COL_ADDRESS},
    [L_KIND] = {.id = COL_KIND},
    [L_OWNER] = {.id = COL_OWNER, .room = COLUMN_LAST},
    [L_WAITERS] = {.id = COL_WAITERS, .total = true},
    [L_WAITING] = {.id = COL_WAITING, .room = COLUMN_LAST},
    [L_WAITED] = {.id = COL_WAITED, .hidden = true},
    [L_HOLDS] = {.id = COL_HOLDS},
    [L_CYCLE] = {.id = COL_CYCLE, .hidden = true},
    [L_CLASS] = {.id = COL_CLASS, .room = COLUMN_EARLY},
    [L_FIELD] = {.id = COL_FIELD},
    [L_FRAME] = {.id = COL_FRAME, .hidden = true},
    [L_CERTAINTY] = {.id = COL_CERTAINTY, .hidden = true},
};
static const struct shape locks_shape = {SHAPE_COLUMNS(locks_columns)};

static const struct column deadlocks_columns[] = {
    {.id = COL_CYCLE}, {.id = COL_THREADS, .hidden = true}, {.id = COL_WAITING, .room = COLUMN_LAST},
    {.id = COL_CERTAINTY, .hidden = true}, {.id = COL_SENTENCE}};
static const struct shape deadlocks_shape = {.form = "-deadlock", .named_by = COL_CYCLE,
    SHAPE_COLUMNS(deadlocks_columns)};

/* --- cells -------------------------------------------------------------------------------------- */

static struct amount as_sure(struct amount a, enum certainty certainty)
{
	return certainty == EXACT ? a : amount_weaken(a, certainty, certainty == UNKNOWN ? REASON_SILENT : REASON_LOCALS);
}

static struct cell owner_cell(const struct heap *h, const struct locks *l, const struct lock *lock, struct text *to)
{
	struct cell cell = cell_blank();
	for (uint32_t i = 0; i < lock->n_readers && !progress_own_stops(i); i++) {
		uint32_t reader = l->reader[lock->first_reader + i];
		text_add(to, i ? ", " : "");
		lock_thread_name(h, heap_thread_of(h, reader), reader, to);
	}
	if (lock->n_readers)
		return cell_text(to->s);
	if (lock->owner != HEAP_NONE || lock->owner_object != HEAP_NONE) {
		lock_thread_name(h, lock->owner, lock->owner_object, to);
		cell = cell_text(to->s);
		cell.amount = as_sure(cell.amount, lock->owner_is);
	} else if (lock->owner_is == UNKNOWN) {
		cell = cell_unknown(REASON_SILENT);
	}
	return cell;
}

static enum certainty certainty_of(const struct locks *l, const struct lock *lock)
{
	enum certainty certainty = lock->owner == HEAP_NONE ? EXACT : lock->owner_is;
	for (uint32_t i = 0; i < lock->n_waits && certainty == EXACT; i++)
		certainty = l->wait[lock->first_wait + i].certainty;
	return certainty;
}

/* "hot-waiter-1, hot-waiter-2" */
static void add_waiting(const struct heap *h, const struct locks *l, const struct lock *lock, struct text *to)
{
	enum { MOST_NAMED = 1000 };
	static const char *const how[] = {[WAIT_TO_BE_NOTIFIED] = " (in wait)", [WAIT_TO_READ] = " (to read)",
	    [WAIT_TO_WRITE] = " (to write)", [WAIT_TO_SEND] = " (sends)",
	    [WAIT_TO_RECEIVE] = " (receives)", [WAIT_FOR_EITHER] = ""};
	for (uint32_t i = 0; i < lock->n_waits; i++) {
		const struct lock_wait *wait = &l->wait[lock->first_wait + i];
		if (i == MOST_NAMED && lock->n_waits > MOST_NAMED + 1) {
			text_addf(to, ", and %" PRIu32 " more", lock->n_waits - i);
			return;
		}
		text_add(to, i ? ", " : "");
		lock_thread_name(h, wait->thread, wait->object, to);
		if (how[wait->how] && lock->kind != LOCK_CONDITION)
			text_add(to, how[wait->how]);
	}
}

/* Of those that wait the one that began first. */
static struct cell waited_cell(const struct heap *h, const struct locks *l, const struct lock *lock, uint64_t newest)
{
	uint64_t first = 0;
	for (uint32_t i = 0; newest && i < lock->n_waits; i++) {
		uint32_t thread = l->wait[lock->first_wait + i].thread;
		uint64_t since = thread == HEAP_NONE ? 0 : h->threads[thread].waits_since;
		first = since && (!first || since < first) ? since : first;
	}
	return first ? cell_count(heap_waited(first, newest)) : cell_blank();
}

static void add_lock(struct result *r, const struct locks *l, const struct lock *lock, uint64_t newest)
{
	const struct heap *h = r->heap;
	struct text owner = TEXT_INIT, waiting = TEXT_INIT, field = TEXT_INIT;
	enum certainty certainty = certainty_of(l, lock);
	bool told = lock_field(h, lock, &field);
	const struct heap_thread *t = lock->owner == HEAP_NONE ? NULL : &h->threads[lock->owner];
	add_waiting(h, l, lock, &waiting);
	result_add_row(r, (struct cell[]){
	    [L_ADDRESS] = cell_address(lock->address),
	    [L_CLASS] = lock->object == HEAP_NONE ? cell_blank() : cell_text(heap_class_of(h, lock->object)->name),
	    [L_KIND] = cell_text(lock_kind_name(lock->kind)),
	    [L_OWNER] = owner_cell(h, l, lock, &owner),
	    [L_HOLDS] = lock->holds.certainty == UNKNOWN ? cell_blank() : cell_count(lock->holds),
	    [L_WAITERS] = cell_count(as_sure(amount_exact(lock->n_waits), certainty)),
	    [L_WAITING] = waiting.len ? cell_text(waiting.s) : cell_blank(),
	    [L_WAITED] = waited_cell(h, l, lock, newest),
	    [L_CYCLE] = lock->cycle ? cell_plain(lock->cycle) : cell_blank(),
	    [L_FIELD] = told ? cell_text(field.s) : cell_blank(),
	    [L_FRAME] = t && lock->owner_frame < t->n_frames ? cell_text(t->frames[lock->owner_frame]) : cell_blank(),
	    [L_CERTAINTY] = cell_text(certainty_name(certainty))},
	    lock->object == HEAP_NONE ? NULL : &(struct target){.kind = TARGET_OBJECT, .id = lock->object});
	text_release(&owner);
	text_release(&waiting);
	text_release(&field);
}

/* --- what is said below ------------------------------------------------------------------------- */

static void add_notes(struct result *r, const struct locks *l)
{
	const struct heap *h = r->heap;
	if (h->facts.values == TYPED_MEMORY)
		result_add_note(r, !waits_told(h) ? "without the program (--exe) which locks goroutines wait for is unknown" :
		    "Go does not record the owners of locks; only locks that goroutines wait for are shown");
	else if (values_held(h) && !h->facts.owners_recorded)
		result_add_note(r, "the dump does not record owners of monitors: cairn infers them from blocked threads and "
		    "their frames, and does not find monitors without waiting threads");
	else if (!h->facts.owners_recorded)
		result_add_note(r, "owners and waiters are from the javacore");
	if (h->facts.redacted == REDACT_ALL)
		result_add_note(r, h->facts.no_values);
	result_add_number_note(r, l->n_unplaced, "blocked thread: the monitor is unknown (no frame holds it)",
	    "blocked threads: the monitor is unknown (no frame holds it)");
	result_add_number_note(r, l->broken, "queue is damaged; waiters after the damage are missing",
	    "queues are damaged; waiters after the damage are missing");
}

/* May there be deadlocks that are not seen: does a thread wait for what somebody has, and nobody knows who? */
static bool owners_lack(const struct heap *h, const struct locks *l)
{
	bool lack = l->n_unplaced || l->broken || h->facts.values == TYPED_MEMORY;
	for (size_t i = 0; i < l->n && !lack; i++)
		lack = l->lock[i].n_waits && l->lock[i].owner_is == UNKNOWN &&
		    l->wait[l->lock[i].first_wait].how == WAIT_TO_ENTER;
	return lack;
}

static struct result *told_deadlocks(const struct session *s, const struct locks *l)
{
	struct result *r = result_new_rows("deadlocks", s->dump, &deadlocks_shape);
	struct text sentence = TEXT_INIT, threads = TEXT_INIT;
	for (size_t i = 0; i < l->n_cycles && !progress_own_stops(i); i++) {
		const struct lock_cycle *c = &l->cycle[i];
		text_clear(&sentence);
		text_clear(&threads);
		lock_sentence(r->heap, l, c, &sentence);
		for (uint32_t k = c->first; k < c->first + c->n; k++) { /* the threads, and what they wait for */
			const struct lock_wait *wait = &l->wait[l->cycle_wait[k]];
			const uint32_t of[] = {l->lock[wait->lock].object, wait->object};
			text_add(&threads, k > c->first ? ", " : "");
			lock_thread_name(r->heap, wait->thread, wait->object, &threads);
			for (size_t m = 0; m < sizeof of / sizeof *of; m++)
				if (of[m] != HEAP_NONE)
					result_add_member(r, i, of[m]);
		}
		struct cell names = cell_text(threads.s);
		names.amount = as_sure(names.amount, c->certainty);
		result_add_row(r, (struct cell[]){cell_plain(i + 1), cell_count(amount_exact(c->n)), names,
		    cell_certainty(as_sure(amount_exact(0), c->certainty)), cell_text(sentence.s)},
		    &(struct target){.kind = TARGET_GROUP, .part = true});
	}
	result_mark(r, RESULT_LACKS_ROWS, owners_lack(r->heap, l));
	result_mark(r, RESULT_NO_PANES, true); /* these objects are not to be freed */
	if (!l->n_cycles) {
		result_add_note(r, "no deadlock found");
		result_mark(r, RESULT_NONE_ANSWERS, true);
	}
	text_release(&sentence);
	text_release(&threads);
	return r;
}

static struct result *told_locks(const struct session *s, const struct locks *l)
{
	struct result *r = result_new_rows("locks", s->dump, &locks_shape);
	struct text story = TEXT_INIT;
	bool frames = false;
	uint64_t newest = heap_newest_wait(r->heap);
	for (size_t i = 0; i < l->n && !progress_own_stops(i); i++) {
		add_lock(r, l, &l->lock[i], newest);
		frames |= l->lock[i].owner_frame != HEAP_NONE;
	}
	for (size_t i = 0; i < l->n_cycles && i < 8; i++) {
		text_addf(&story, "deadlock %zu: ", i + 1);
		lock_sentence(r->heap, l, &l->cycle[i], &story);
		text_add(&story, ".\n");
	}
	if (story.len)
		r->text_below = arena_strndup(&r->arena, story.s, story.len);
	text_release(&story);
	result_show(r, L_CYCLE, l->n_cycles != 0);
	result_show(r, L_FRAME, frames);
	result_show(r, L_WAITED, newest != 0);
	if (!l->n) {
		result_add_note(r, "the dump shows no lock with an owner or waiting threads");
		result_mark(r, RESULT_NONE_ANSWERS, true);
	}
	return r;
}

static int run_locks(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct locks found;
	int code = locks_find(&found, session_heap(s), progress_own(), err);
	if (code)
		return code;
	struct result *r = *out = call_has(call, DASH_DEADLOCK) ? told_deadlocks(s, &found) : told_locks(s, &found);
	add_notes(r, &found);
	result_mark(r, RESULT_OF_VALUES, values_held(r->heap));
	locks_release(&found);
	return 0;
}

static const struct option_spec locks_options[] = {
    {DASH_DEADLOCK, OPT_FLAG, NULL, "deadlocks, one sentence each"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

const struct command cmd_locks = {
    .name = "locks",
    .options = locks_options,
    .flags = COMMAND_NEEDS_REFERENCES,
    .group = "problems",
    .summary = "list monitors and locks with owner and waiters; find deadlocks",
    .shapes = SHAPES(&locks_shape, &deadlocks_shape),
    .description = "One row per lock with an owner or waiting threads, those with waiters first. HPROF does not "
	"record owners of monitors: cairn infers the owner from the frames that hold the monitor, and shows it only if "
	"one thread qualifies. With a javacore, and of system dumps of OpenJ9, owners and waiters are exact. Of "
	"java.util.concurrent they are exact, too.\n"
	"holds\tentries by the owner; readers of a read lock; permits of a semaphore; count of a latch or WaitGroup\n"
	"waited\tseconds that the first waiter waits at least (Go only)\n"
	"field\tfield of the program that holds the lock\n"
	"cycle\tnumber of the deadlock; threads that wait with a timeout are in none\n"
	"parked\ta kind: another object that a parked thread names\n"
	"Go: channels and sync.Mutex, RWMutex, WaitGroup and Cond that goroutines wait for; Go does not record owners.",
    .examples = {{"locks", ON_SHOP, "which locks are held, and which threads wait"}, {"locks | sort -waiters"}},
    .key = "",
    .told = locks_told,
    .run = run_locks,
};
