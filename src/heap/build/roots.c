/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * roots.c - GC roots: threads of the javacore, and what must be inferred where a dump records none
 * (those that it records: recorded.c).
 *
 * The inference for OpenJ9 PHD and classic dumps, in order, each root marked as inferred:
 *   1. the boot loader, the classes it loaded, those whose loader is unknown, and the loader of the class path:
 *      System class;
 *   2. live threads, the monitors they hold (Busy monitor) and the objects whose monitors they only wait for
 *      (Thread block), from the javacore (these are recorded there, not inferred); if it names no thread
 *      object, every one that another object references: Thread;
 *   3. objects that no other object references: Unknown;
 *   4. of the objects that none of these reaches, the one with the lowest address in each strongly
 *      connected component that no other unreached object references: Unknown.
 * So every object is reachable, except garbage that stale references prove (stale.c): 3 and 4 treat it and its
 * references as absent.  Other garbage looks like live objects; doc/how-it-works/08-roots.md has the figures.
 */
#include "heap/build/build.h"

#include "algorithms/sort.h"
#include "base/amount.h"
#include "base/text.h"
#include "dump/facts.h"
#include "dump/javacore/javacore.h"
#include "dump/process.h"
#include "heap/classes.h"
#include "heap/library.h"
#include "heap/references.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void build_root(struct build *b, struct heap_root root)
{
	struct heap *h = b->heap;
	if (root.object == HEAP_NONE)
		return;
	struct heap_root *at = BIG_PUSH(h->roots, h->n_roots, b->cap_roots, &b->lost);
	if (at)
		*at = root;
}

static void infer_root(struct build *b, uint32_t object, enum root_kind kind)
{
	build_root(b, (struct heap_root){ .object = object, .thread = HEAP_NONE, .frame = HEAP_NONE,
	    .kind = kind, .certainty = INFERRED });
}

static void add_system_classes(struct build *b)
{
	struct heap *h = b->heap;
	for (uint32_t i = 0; i < h->n_defined_classes; i++)
		if (heap_class_has_no_loader(&h->classes[i]) ||
		    (h->boot_loader != HEAP_NONE && h->classes[i].loader == h->boot_loader))
			infer_root(b, h->classes[i].object, ROOT_SYSTEM_CLASS);
	infer_root(b, h->boot_loader, ROOT_SYSTEM_CLASS);
}

/* The VM itself refers to the loader of the application's class path. */
static void add_application_loader(struct build *b)
{
	struct heap *h = b->heap;
	for (uint32_t i = 0, last = HEAP_NONE; i < h->n_defined_classes; i++) {
		uint32_t loader = h->classes[i].loader;
		if (loader != HEAP_NONE && loader != last && library_class_path_loader(heap_class_of(h, loader)->name))
			infer_root(b, last = loader, ROOT_SYSTEM_CLASS);
	}
}

/* --- threads ------------------------------------------------------------------------------------ */

static const char *escaped(struct build *b, const char *s)
{
	struct text t = TEXT_INIT;
	text_add_escaped(&t, s ? s : "", s ? strlen(s) : 0);
	const char *kept = arena_try_strndup(&b->heap->arena, t.s, t.len, &b->lost);
	text_release(&t);
	return kept;
}

/* "java/lang/Object.wait(Native Method)" as Java prints it. */
static const char *java_frame(struct build *b, const char *frame)
{
	struct text t = TEXT_INIT;
	text_add_escaped(&t, frame, strlen(frame));
	for (size_t i = 0; i < t.len && t.s[i] != '('; i++)
		if (t.s[i] == '/')
			t.s[i] = '.';
	const char *kept = arena_try_strndup(&b->heap->arena, t.s, t.len, &b->lost);
	text_release(&t);
	return kept;
}

/* "java.lang.Object 0xe0000af0, owned by worker" */
static const char *wait_words(struct build *b, const struct javacore_wait *wait)
{
	const struct heap *h = b->heap;
	if (!wait->address)
		return NULL;
	uint32_t object = heap_find(h, wait->address);
	const char *class_name = object == HEAP_NONE ? java_frame(b, wait->class_name) :
	    heap_class_of(h, object)->name;
	struct text t = TEXT_INIT;
	text_addf(&t, "%s 0x%" PRIx64, class_name ? class_name : "", wait->address);
	if (wait->owner)
		text_addf(&t, ", owned by %s", wait->owner);
	else if (wait->unowned)
		text_add(&t, ", owned by no thread");
	const char *words = escaped(b, t.s);
	text_release(&t);
	return words;
}

/* Who waits for a monitor does not hold it, though a frame of its own entered it: Object.wait lets go. */
static bool lets_go(const struct javacore_thread *t, uint64_t monitor)
{
	return t->wait.address == monitor && (!t->vm_thread || t->wait.owner_vm_thread != t->vm_thread) &&
	    t->state && strcmp(t->state, "parked") != 0;
}

static bool has_entered(const struct javacore_thread *t, uint64_t monitor)
{
	size_t i = 0;
	while (i < t->n_monitors && (t->monitors[i].waiting || t->monitors[i].address != monitor))
		i++;
	return i < t->n_monitors;
}

/*
 * A thread holds the monitors that its frames entered.  What it only waits for is alive just as well, because
 * the VM's block of that thread refers to it; where a frame entered it before, the root is that frame's.
 */
static void add_monitor_roots(struct build *b, uint32_t thread, const struct javacore_thread *from)
{
	struct heap *h = b->heap;
	bool entered = from->wait.address && has_entered(from, from->wait.address);
	for (size_t m = 0; m < from->n_monitors; m++) {
		const struct javacore_monitor *monitor = &from->monitors[m];
		uint32_t object = heap_find(h, monitor->address);
		if (object == HEAP_NONE || (monitor->waiting && entered && monitor->address == from->wait.address))
			continue;
		bool holds = !monitor->waiting && !lets_go(from, monitor->address);
		build_root(b, (struct heap_root){ .object = object, .thread = thread,
		    .frame = monitor->frame < from->n_frames ? (uint32_t)monitor->frame : HEAP_NONE,
		    .kind = holds ? ROOT_BUSY_MONITOR : ROOT_THREAD_BLOCK, .certainty = EXACT });
	}
}

static void add_frames(struct build *b, struct heap_thread *t, const struct javacore_thread *from)
{
	t->frames = arena_try(&b->heap->arena, from->n_frames + 1, sizeof *t->frames, &b->lost);
	for (size_t f = 0; t->frames && f < from->n_frames; f++)
		t->frames[f] = java_frame(b, from->frames[f].text);
	t->n_frames = t->frames ? (uint32_t)from->n_frames : 0;
}

static void add_javacore_threads(struct build *b)
{
	struct heap *h = b->heap;
	const struct javacore *j = b->javacore;
	h->threads = big_alloc(j->n_threads, sizeof *h->threads, &b->lost);
	for (size_t i = 0; h->threads && i < j->n_threads && !build_stops(b, i); i++) {
		const struct javacore_thread *from = &j->threads[i];
		struct heap_thread *t = &h->threads[h->n_threads++];
		*t = (struct heap_thread){
			.name = from->name,
			.state = from->state,
			.waits_for = wait_words(b, &from->wait),
			.object = from->object ? heap_find(h, from->object) : HEAP_NONE,
			.address = from->object,
			.native_id = from->native_id,
			.priority = from->priority,
			.daemon = from->daemon,
			.ran_out = j->out_of_memory && i == j->current,
			.own_id = from->own_id,
		};
		t->name = escaped(b, from->name);
		t->state = from->state ? escaped(b, from->state) : NULL;
		add_frames(b, t, from);
		uint32_t thread = h->n_threads - 1;
		build_root(b, (struct heap_root){ .object = t->object, .thread = thread, .frame = HEAP_NONE,
		    .kind = ROOT_THREAD, .certainty = EXACT });
		add_monitor_roots(b, thread, from);
	}
}

static int by_thread_object(const void *x, const void *y)
{
	uint64_t a = (*(const struct javacore_thread *const *)x)->object;
	uint64_t b = (*(const struct javacore_thread *const *)y)->object;
	return (a > b) - (a < b);
}

/* What a dump with threads of its own does not say of one. */
static void complete_thread(struct build *b, struct heap_thread *t, const struct javacore_thread *from)
{
	if (!t->name && from->name)
		t->name = escaped(b, from->name);
	if (!t->state && from->state)
		t->state = escaped(b, from->state);
	if (!t->waits_for)
		t->waits_for = wait_words(b, &from->wait);
	t->native_id = t->native_id ? t->native_id : from->native_id;
	t->own_id = t->own_id ? t->own_id : from->own_id;
	t->daemon |= from->daemon;
	if (t->priority < 0)
		t->priority = from->priority;
	if (!t->n_frames && from->n_frames) { /* roots of the dump name frames of its own */
		add_frames(b, t, from);
		t->stack = STACK_RECORDED;
	}
}

/* Threads of the dump, by the addresses of their objects. */
static void join_javacore_threads(struct build *b)
{
	struct heap *h = b->heap;
	const struct javacore *j = b->javacore;
	const struct javacore_thread **sorted = big_alloc(j->n_threads, sizeof *sorted, &b->lost);
	for (size_t i = 0; sorted && i < j->n_threads; i++)
		sorted[i] = &j->threads[i];
	if (sorted && sort(sorted, j->n_threads, sizeof *sorted, by_thread_object, &b->lost) == 0)
		for (uint32_t i = 0; i < h->n_threads && !build_stops(b, i); i++) {
			struct javacore_thread wanted = {.object = h->threads[i].address};
			const struct javacore_thread *key = &wanted, **found = !wanted.object ? NULL :
			    find_sorted(&key, sorted, j->n_threads, sizeof *sorted, by_thread_object);
			if (found)
				complete_thread(b, &h->threads[i], *found);
		}
	big_free(sorted);
}

/* The dump may name the thread that ran out of memory. */
static void mark_thread_ran_out(struct heap *h)
{
	const struct process_facts *p = h->process;
	if (!p || !p->cause_thread || !p->cause || !strstr(p->cause, "\"java/lang/OutOfMemoryError\""))
		return;
	for (uint32_t i = 0; i < h->n_threads; i++)
		h->threads[i].ran_out |= h->threads[i].address == p->cause_thread;
}

static bool is_thread_class(const struct heap *h, uint32_t class, uint32_t thread_class)
{
	uint32_t steps = 0; /* superclass chains are free of loops, but may be long */
	while (class != HEAP_NONE && class != thread_class && steps++ < 256)
		class = h->classes[class].superclass;
	return class == thread_class;
}

/* Without a javacore, or with one that names no thread objects (J9 up to 2.5). */
static bool has_thread_root(const struct heap *h)
{
	for (size_t i = 0; i < h->n_roots; i++)
		if (h->roots[i].kind == ROOT_THREAD)
			return true;
	return false;
}

/* Instances of java.lang.Thread that some object references. */
static void guess_threads(struct build *b)
{
	struct heap *h = b->heap;
	static const char name[] = "java/lang/Thread";
	uint32_t thread_class = class_named(b, name, strlen(name), h->boot_loader);
	if (thread_class == HEAP_NONE)
		return;
	bool *is_thread = big_alloc(h->n_classes, sizeof *is_thread, &b->lost);
	if (!is_thread)
		return;
	for (uint32_t c = 0; c < h->n_classes && !build_stops(b, c); c++)
		is_thread[c] = is_thread_class(h, c, thread_class);
	for (uint32_t id = 0; id < h->n_objects && !build_stops(b, id); id++)
		if (is_thread[heap_class_index(h, id)] && !stale_is(b, id) &&
		    adjacency_start(&h->in, id) < adjacency_start(&h->in, id + 1))
			infer_root(b, id, ROOT_THREAD);
	big_free(is_thread);
}

/* --- what nothing else holds ---------------------------------------------------------------------- */

/* Garbage does not count: what only garbage references may be alive. */
static bool referenced_by_another(const struct build *b, uint32_t id)
{
	const struct adjacency *in = &b->heap->in;
	uint64_t end = adjacency_start(in, id + 1);
	for (uint64_t k = adjacency_start(in, id); k < end; k++)
		if (in->target[k] != id && !stale_is(b, in->target[k]))
			return true;
	return false;
}

/* Class objects that their instances, subclasses or loader hold, and loaders that their classes hold. */
static void mark_implied_targets(const struct heap *h, uint64_t *held)
{
	for (uint32_t i = 0; i < h->n_classes; i++) {
		const struct heap_class *c = &h->classes[i];
		uint32_t loader = c->loader;
		if (c->object != HEAP_NONE && (c->n_objects || loader != HEAP_NONE))
			held[c->object >> 6] |= UINT64_C(1) << (c->object & 63);
		if (c->object != HEAP_NONE && loader != HEAP_NONE)
			held[loader >> 6] |= UINT64_C(1) << (loader & 63);
		uint32_t super = c->superclass == HEAP_NONE ? HEAP_NONE : h->classes[c->superclass].object;
		if (super != HEAP_NONE)
			held[super >> 6] |= UINT64_C(1) << (super & 63);
	}
}

static void add_unreferenced(struct build *b, const uint64_t *is_root, const uint64_t *held)
{
	const struct heap *h = b->heap;
	for (uint32_t id = 0; id < h->n_objects && !build_stops(b, id); id++)
		if (!((is_root[id >> 6] | held[id >> 6]) >> (id & 63) & 1) && !stale_is(b, id) && !referenced_by_another(b, id))
			infer_root(b, id, ROOT_UNKNOWN);
}

struct starts {
	uint32_t *id;
	size_t n, cap;
};

static void note_start(struct starts *s, uint32_t id, struct err *lost)
{
	uint32_t *at = BIG_PUSH(s->id, s->n, s->cap, lost);
	if (at)
		*at = id;
}

/*
 * The lowest object of each source component among the unreached.  Starting walks from the unreached
 * objects in ascending order, a source component is entered first at its lowest object, because
 * nothing outside leads into it: so all answers are among the starts.  A start that a later start
 * reaches is in no source component: walking again from the last start to the first, those still
 * unreached when their turn comes are the answers.
 */
static void add_cycles(struct build *b, const uint64_t *reached, uint64_t *seen, uint32_t *stack)
{
	const struct heap *h = b->heap;
	size_t n_words = ((size_t)h->n_objects + 63) / 64;
	const struct model all = {.heap = h};
	memcpy(seen, reached, n_words * sizeof *seen);
	struct starts starts = { .id = NULL };
	for (uint32_t id = 0; id < h->n_objects && !build_stops(b, id); id++)
		if (heap_reach(&all, id, seen, stack))
			note_start(&starts, id, &b->lost);
	memcpy(seen, reached, n_words * sizeof *seen);
	for (size_t i = starts.n; i-- > 0 && !build_stops(b, i);)
		if (heap_reach(&all, starts.id[i], seen, stack))
			infer_root(b, starts.id[i], ROOT_UNKNOWN);
	big_free(starts.id);
}

/* seen becomes what no root is sought for; the number of these objects. */
static uint64_t mark_stale(const struct build *b, uint64_t *seen)
{
	size_t n_words = ((size_t)b->heap->n_objects + 63) / 64;
	uint64_t n = 0;
	for (size_t i = 0; i < n_words; i++) {
		seen[i] = b->stale ? b->stale[i] : 0;
		n += (unsigned)__builtin_popcountll(seen[i]);
	}
	return n;
}

static int infer_unreachable(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	uint64_t n_words = ((uint64_t)h->n_objects + 63) / 64;
	uint64_t *held = big_alloc(n_words, sizeof *held, err);
	uint64_t *seen = big_alloc(n_words, sizeof *seen, err);
	uint32_t *stack = big_alloc(h->n_objects, sizeof *stack, err);
	int code = held && seen && stack ? 0 : ERR_NOMEM;
	if (code == 0) {
		for (size_t i = 0; i < h->n_roots; i++)
			seen[h->roots[i].object >> 6] |= UINT64_C(1) << (h->roots[i].object & 63);
		mark_implied_targets(h, held);
		add_unreferenced(b, seen, held);
		uint64_t n_reached = mark_stale(b, seen);
		h->n_stale = (uint32_t)n_reached;
		const struct model all = {.heap = h};
		for (size_t i = 0; i < h->n_roots && !build_stops(b, i); i++)
			n_reached += heap_reach(&all, h->roots[i].object, seen, stack);
		uint64_t *again = held; /* no longer needed: the walks' own marks */
		if (n_reached < h->n_objects)
			add_cycles(b, seen, again, stack);
	}
	big_free(held);
	big_free(seen);
	big_free(stack);
	return code;
}

static int by_object(const void *x, const void *y)
{
	const struct heap_root *a = x, *b = y;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->frame != b->frame)
		return a->frame < b->frame ? -1 : 1;
	return (a->slot > b->slot) - (a->slot < b->slot);
}

static void repeat(struct heap_root *kept, const struct heap_root *again)
{
	kept->vms_own |= again->vms_own;
	if (kept->kind == ROOT_JAVA_LOCAL && again->offset > kept->offset)
		kept->offset = again->offset;
}

/* A dump may state one root twice: the same kind, thread, frame and slot. */
static void drop_repeated(struct heap *h)
{
	size_t n = 0;
	for (size_t i = 0; i < h->n_roots; i++)
		if (n == 0 || by_object(&h->roots[n - 1], &h->roots[i]))
			h->roots[n++] = h->roots[i];
		else
			repeat(&h->roots[n - 1], &h->roots[i]);
	h->n_roots = n;
	for (size_t i = 0; i < n; i++)
		if (h->roots[i].thread != HEAP_NONE)
			h->threads[h->roots[i].thread].n_roots++;
}

int roots_collect(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	int code = 0;
	progress_phase(b->progress, PHASE_FIND_ROOTS, 0);
	if (!h->facts.roots_recorded) {
		add_system_classes(b);
		add_application_loader(b);
	}
	if (b->javacore && h->n_threads)
		join_javacore_threads(b);
	else if (b->javacore)
		add_javacore_threads(b);
	mark_thread_ran_out(h);
	if (!h->facts.roots_recorded)
		code = stale_spread(b, err);
	if (code == 0 && !h->facts.roots_recorded && !has_thread_root(h))
		guess_threads(b);
	if (code == 0 && !h->facts.roots_recorded)
		code = infer_unreachable(b, err);
	if (code == 0)
		code = build_check(b, err);
	if (code < 0)
		return code;
	code = sort(h->roots, h->n_roots, sizeof *h->roots, by_object, err);
	if (code < 0)
		return code;
	drop_repeated(h);
	h->n_inferred_roots = 0;
	for (size_t i = 0; i < h->n_roots; i++)
		h->n_inferred_roots += h->roots[i].certainty == INFERRED;
	for (size_t i = 0; i < h->n_roots; i++)
		h->n_root_objects += i == 0 || h->roots[i].object != h->roots[i - 1].object;
	return code;
}
