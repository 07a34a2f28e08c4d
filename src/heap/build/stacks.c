/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stacks.c - whose the stacks are that a dump records without saying so.
 *
 * The serviceability agent (jhsdb jmap, jmap -F) writes all threads in the order of the VM's list, and in the same
 * order the stacks of those that it does not hide from outside: not the compilers' and some of the VM's own
 * (isHiddenFromExternalView in its classes CompilerThread, ServiceThread, MonitorDeflationThread,
 * CodeCacheSweeperThread and StringDedupThread).  So the threads are matched by order where the numbers agree, and
 * where the two threads whose first frame is known have it.
 */
#include "heap/build/build.h"

#include "algorithms/sort.h"
#include "heap/classes.h"
#include "heap/threads.h"
#include "memory/big.h"

#include <string.h>

static bool ends_as_compiler(const char *name)
{
	const char *found = strstr(name, "CompilerThread");
	return found && found[strlen("CompilerThread") + strspn(found + strlen("CompilerThread"), "0123456789")] == '\0';
}

static bool is_hidden(const struct heap_thread *t)
{
	static const char *const names[] = {"Service Thread", "Monitor Deflation Thread", "Sweeper thread",
	    "StringDedupThread", "StringDedupProcessor"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(t->name, names[i]))
			return true;
	return ends_as_compiler(t->name);
}

/* Threads that the VM starts itself, and where their stacks begin. */
static bool fits(const struct heap *h, const struct heap_thread *t, const struct count_pass_thread *stack)
{
	static const char *const classes[] = {"java.lang.ref.Reference$ReferenceHandler",
	    "java.lang.ref.Finalizer$FinalizerThread"};
	const char *class = t->object == HEAP_NONE ? "" : heap_class_of(h, t->object)->name;
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
		if (!strcmp(class, classes[i]))
			return stack->n_frames && !strncmp(stack->frames[stack->n_frames - 1], class, strlen(class));
	return true;
}

/* Give the threads their stacks, or only see whether that is possible. */
static bool match(struct heap *h, const struct count_pass_thread *stacks, size_t n, bool give)
{
	size_t k = 0;
	for (uint32_t i = 0; i < h->n_threads && !progress_own_stops(i); i++) {
		struct heap_thread *t = &h->threads[i];
		bool hidden = is_hidden(t);
		if (t->stack != STACK_UNKNOWN || (!hidden && (k == n || stacks[k].serial != k + 1 || !fits(h, t, &stacks[k]))))
			return false;
		if (give) {
			t->stack = STACK_BY_ORDER;
			t->frames = hidden ? NULL : stacks[k].frames;
			t->n_frames = hidden ? 0 : stacks[k].n_frames;
		}
		k += !hidden;
	}
	return k == n;
}

static int by_serial(const void *x, const void *y)
{
	const struct count_pass_thread *a = x, *b = y;
	return (a->serial > b->serial) - (a->serial < b->serial);
}

int stacks_match(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	struct count_pass_part *part = NULL;

	for (unsigned i = 0; i < b->n_parts && !part; i++)
		part = b->parts[i].n_stacks ? &b->parts[i] : NULL;
	if (!part)
		return 0;
	if (sort(part->stacks, part->n_stacks, sizeof *part->stacks, by_serial, err) < 0)
		return ERR_NOMEM;
	if (match(h, part->stacks, part->n_stacks, false))
		(void)match(h, part->stacks, part->n_stacks, true);
	else
		build_warn(b, "the dump has %zu thread stacks but does not record their threads", part->n_stacks);
	return 0;
}
