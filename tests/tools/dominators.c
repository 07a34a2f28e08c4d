/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dominators.c - print who dominates each object, or compare with a naive second algorithm.
 *
 *     dominators DUMP            one line an object: address, idom address (0: the roots, -: not
 *                                reachable), retained bytes, all in hexadecimal or decimal as there
 *     dominators -r FILE DUMP    the same with the roots whose addresses FILE holds, and recorded
 *                                references alone
 *     dominators -R FILE DUMP    the same over all references
 *     dominators -n DUMP         compare retained sizes with the naive algorithm: take an object away
 *                                and see what can still be reached.  -s N: every N-th object only.
 *                                Sets and classes likewise
 *     dominators -spoil DUMP     hang objects too high and too low in the tree: 0 when check_tree finds
 *                                each of them
 *     dominators -t DUMP         seconds it takes, and the largest
 *     dominators -m DUMP         sizes by Eclipse MAT's rule (with any of the above)
 *     dominators -shape WORD N   a heap of about 2 N objects on which simpler algorithms are quadratic:
 *                                0 when its dominators are those that it was built for
 *
 * The naive side has its own idea of the edges, written from the rules and not from the code.
 */
#include "analysis/check.h"
#include "analysis/retained.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "heap/heap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct list {
	uint32_t *id;
	size_t n, cap;
};

static void push(struct list *l, uint32_t id)
{
	if (id != HEAP_NONE)
		VEC_PUSH(l->id, l->n, l->cap) = id;
}

/* Whose thread's stack holds it, or HEAP_NONE. */
static uint32_t holder(const struct heap *h, const struct heap_root *r)
{
	if (r->thread == HEAP_NONE || h->threads[r->thread].object == r->object)
		return HEAP_NONE;
	uint32_t thread = h->threads[r->thread].object;
	for (size_t i = 0; thread != HEAP_NONE && i < h->n_roots; i++) {
		const struct heap_root *other = &h->roots[i];
		if (other->object == thread && (other->thread == HEAP_NONE ||
		    h->threads[other->thread].object == thread ||
		    h->threads[other->thread].object == HEAP_NONE))
			return thread;
	}
	return HEAP_NONE;
}

static struct list *all_edges(const struct heap *h, struct list *roots)
{
	struct list *edge = xcalloc((size_t)h->n_objects + 1, sizeof *edge);
	for (uint32_t id = 0; id < h->n_objects; id++) {
		for (uint64_t k = adjacency_start(&h->out, id); k < adjacency_start(&h->out, id + 1); k++)
			push(&edge[id], h->out.target[k]);
		push(&edge[id], heap_class_of(h, id)->object);
	}
	for (uint32_t c = 0; c < h->n_classes; c++) {
		const struct heap_class *class = &h->classes[c];
		if (class->object == HEAP_NONE)
			continue;
		if (class->superclass != HEAP_NONE)
			push(&edge[class->object], h->classes[class->superclass].object);
		push(&edge[class->object], class->loader);
		if (strcmp(h->facts.format, "hprof") && class->loader != HEAP_NONE)
			push(&edge[class->loader], class->object);
	}
	for (size_t i = 0; i < h->n_roots; i++) {
		uint32_t thread = holder(h, &h->roots[i]);
		push(thread == HEAP_NONE ? roots : &edge[thread], h->roots[i].object);
	}
	return edge;
}

/* Bytes that the roots keep without these objects. */
static uint64_t kept_without(const struct heap *h, const struct list *edge, const struct list *roots,
    const uint32_t *without, size_t n_without, char *seen, uint32_t *stack)
{
	size_t n = 0;
	uint64_t bytes = 0;
	memset(seen, 0, h->n_objects);
	for (size_t i = 0; i < n_without; i++)
		seen[without[i]] = 1;
	for (size_t i = 0; i < roots->n; i++) {
		if (!seen[roots->id[i]])
			stack[n++] = roots->id[i];
		seen[roots->id[i]] = 1;
	}
	while (n > 0) {
		uint32_t id = stack[--n];
		bytes += heap_shallow(h, id);
		for (size_t k = 0; k < edge[id].n; k++) {
			if (!seen[edge[id].id[k]])
				stack[n++] = edge[id].id[k];
			seen[edge[id].id[k]] = 1;
		}
	}
	return bytes;
}

/* Every seventh, fifth, … object as a set. */
static unsigned compare_sets(const struct heap *h, const struct list *edge, const struct list *roots,
    uint64_t all, char *seen, uint32_t *stack)
{
	unsigned wrong = 0;
	for (uint32_t step = 2; step < 8; step++) {
		struct list set = { .id = NULL };
		uint64_t objects, bytes;
		for (uint32_t id = step; id < h->n_objects; id += step)
			push(&set, id);
		if (retained_by_set(h, set.id, set.n, &objects, &bytes, NULL))
			return 1;
		uint64_t kept = kept_without(h, edge, roots, set.id, set.n, seen, stack);
		if (all - kept != bytes && wrong++ < 5)
			printf("every %" PRIu32 ". object retains %" PRIu64 ", naively %" PRIu64 "\n", step, bytes,
			    all - kept);
		free(set.id);
	}
	return wrong;
}

/* What groups of classes retain: their objects that have no other of the group on their way up. */
static unsigned compare_groups(const struct retained *r, const uint32_t *group, uint32_t n_groups,
    const uint64_t *found)
{
	const struct heap *h = r->heap;
	unsigned wrong = 0;
	uint64_t *want = xcalloc((size_t)n_groups + 1, sizeof *want);
	for (uint32_t id = 0; id < h->n_objects; id++) {
		uint32_t up = r->dominators.immediate[id], of = group[h->class_of[id]];
		if (up == NOT_REACHABLE || of == HEAP_NONE)
			continue;
		while (up != DOMINATED_BY_ROOTS && group[h->class_of[up]] != of)
			up = r->dominators.immediate[up];
		if (up == DOMINATED_BY_ROOTS)
			want[of] += r->dominators.retained[id];
	}
	for (uint32_t c = 0; c < n_groups; c++)
		if (want[c] != found[c] && wrong++ < 5)
			printf("group %" PRIu32 " of %" PRIu32 " retains %" PRIu64 ", naively %" PRIu64 "\n", c,
			    n_groups, found[c], want[c]);
	free(want);
	return wrong;
}

/* Each class for itself; then every third class together, every fifth in no group. */
static unsigned compare_classes(const struct heap *h)
{
	struct retained r;
	unsigned wrong = 0;
	uint32_t *group = xcalloc((size_t)h->n_classes + 1, sizeof *group);
	uint64_t found[3];
	if (retained_find(&r, h, NULL, NULL) || retained_complete(&r, NULL, NULL))
		return 1;
	for (uint32_t c = 0; c < h->n_classes; c++)
		group[c] = c;
	wrong += compare_groups(&r, group, h->n_classes, r.by_class);
	for (uint32_t c = 0; c < h->n_classes; c++)
		group[c] = c % 5 == 4 ? HEAP_NONE : c % 3;
	if (retained_by_group(&r, group, 3, NULL, found, NULL, NULL))
		return 1;
	wrong += compare_groups(&r, group, 3, found);
	free(group);
	retained_release(&r);
	return wrong;
}

/* The same with one thread as with many. */
static unsigned compare_threads(const struct heap *h, const struct dominators *d)
{
	unsigned wrong = 0;
	for (unsigned n = 1; n < 10; n += 4) {
		struct dominators other;
		parallel_set_threads(n);
		if (dominators_find(&other, h, NULL, NULL))
			return 1;
		wrong += other.n_reachable != d->n_reachable ||
		    memcmp(other.immediate, d->immediate, h->n_objects * sizeof *d->immediate) != 0 ||
		    memcmp(other.retained, d->retained, h->n_objects * sizeof *d->retained) != 0;
		dominators_release(&other);
	}
	parallel_set_threads(0);
	if (wrong)
		printf("another number of threads, another answer\n");
	return wrong;
}

/* An object's immediate dominator is that one of its dominators that retains the least; with equal
 * sizes any may be meant, so only its retained size and that it dominates are compared. */
static unsigned compare(const struct heap *h, const struct dominators *d, uint32_t step)
{
	struct list roots = { .id = NULL }, *edge = all_edges(h, &roots);
	char *seen = xcalloc((size_t)h->n_objects + 1, 1);
	char *whole = xcalloc((size_t)h->n_objects + 1, 1);
	uint32_t *stack = xcalloc((size_t)h->n_objects + 1, sizeof *stack);
	uint64_t all = kept_without(h, edge, &roots, NULL, 0, whole, stack);
	unsigned wrong = all != d->shallow_reachable;
	for (uint32_t id = 0; id < h->n_objects; id++)
		wrong += (d->immediate[id] == NOT_REACHABLE) == (whole[id] == 1);
	for (uint32_t id = 0; id < h->n_objects; id += step) {
		if (!whole[id])
			continue;
		uint64_t kept = kept_without(h, edge, &roots, &id, 1, seen, stack);
		if (all - kept != d->retained[id] && wrong++ < 5)
			printf("0x%" PRIx64 " retains %" PRIu64 ", naively %" PRIu64 "\n",
			    heap_address(h, id), d->retained[id], all - kept);
		/* those that hang on it directly cannot be reached without it */
		for (uint32_t k = 0; k < h->n_objects; k++) {
			if (d->immediate[k] == id && seen[k] && wrong++ < 5)
				printf("0x%" PRIx64 " does not hold 0x%" PRIx64 "\n",
				    heap_address(h, id), heap_address(h, k));
		}
	}
	wrong += compare_sets(h, edge, &roots, all, seen, stack);
	wrong += compare_classes(h);
	wrong += compare_threads(h, d);
	for (uint32_t id = 0; id < h->n_objects; id++)
		free(edge[id].id);
	free(edge);
	free(roots.id);
	free(seen);
	free(whole);
	free(stack);
	return wrong;
}

/* --- spoiling ------------------------------------------------------------------------------------- */

/* With this object hung elsewhere, does the checker see that the tree is none?  Hung too high, it may
 * as well be missed below its old parent, by another one there that it leads to. */
static bool finds(const struct heap *h, uint32_t id, uint32_t parent, bool too_high)
{
	struct checks checks = { .n = 0 };
	struct retained r;
	bool found = false;
	if (retained_find(&r, h, NULL, NULL))
		return false;
	r.dominators.immediate[id] = parent;
	if (retained_complete(&r, NULL, NULL) == 0 && check_tree(&checks, &r, NULL) == 0)
		for (size_t i = 0; i < checks.n; i++)
			found |= checks.line[i].outcome == CHECK_BROKEN &&
			    (!strcmp(checks.line[i].name, "parents dominate") ||
			    (too_high && !strcmp(checks.line[i].name, "no sibling dominates another")));
	checks_release(&checks);
	retained_release(&r);
	return found;
}

static unsigned spoil(const struct heap *h, const struct dominators *d)
{
	unsigned wrong = 0, tried = 0;
	uint32_t before = HEAP_NONE; /* another one with the same parent */
	for (uint32_t id = 0; id < h->n_objects && tried < 40; id++) {
		uint32_t parent = d->immediate[id];
		if (parent >= NOT_REACHABLE)
			continue;
		tried++;
		if (!finds(h, id, d->immediate[parent], true) && wrong++ < 5)
			printf("0x%" PRIx64 " hangs too high unnoticed\n", heap_address(h, id));
		if (before != HEAP_NONE && d->immediate[before] == parent &&
		    !finds(h, id, before, false) && wrong++ < 5)
			printf("0x%" PRIx64 " hangs too low unnoticed\n", heap_address(h, id));
		before = id;
	}
	return wrong;
}

/* --- shapes --------------------------------------------------------------------------------------- */

struct shape {
	struct edge {
		uint32_t from, to;
	} *edge;
	size_t n, cap;
};

static void lead(struct shape *s, uint32_t from, uint32_t to)
{
	VEC_PUSH(s->edge, s->n, s->cap) = (struct edge){ from, to };
}

static void fill(struct adjacency *a, const struct shape *s, uint32_t n, bool back)
{
	uint32_t *at = xcalloc((size_t)n + 2, sizeof *at);
	a->target = xcalloc(s->n + 1, sizeof *a->target);
	a->offset = xcalloc((size_t)n + 1, sizeof *a->offset);
	a->base = xcalloc(((size_t)n >> 16) + 1, sizeof *a->base);
	a->n = s->n;
	for (size_t i = 0; i < s->n; i++)
		at[(back ? s->edge[i].to : s->edge[i].from) + 1]++;
	for (uint32_t id = 0; id < n; id++)
		at[id + 1] += at[id];
	memcpy(a->offset, at, ((size_t)n + 1) * sizeof *at);
	for (size_t i = 0; i < s->n; i++)
		a->target[at[back ? s->edge[i].to : s->edge[i].from]++] = back ? s->edge[i].from : s->edge[i].to;
	free(at);
}

/* Object 0 holds an array, 1, of all nodes (or of the values of all nodes) and a list of them: a node
 * is 2, 4, …, its value the next.  All wanted dominators go to *want. */
static void make_list(struct shape *s, uint32_t n, bool array_first, bool values, uint32_t *want)
{
	lead(s, 0, array_first ? 1 : 2);
	lead(s, 0, array_first ? 2 : 1);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = 2 + 2 * i;
		if (i + 1 < n)
			lead(s, node, node + 2);
		lead(s, node, node + 1);
		lead(s, 1, values ? node + 1 : node);
		want[node] = values && i ? node - 2 : 0;
		want[node + 1] = values ? 0 : node;
	}
	want[0] = DOMINATED_BY_ROOTS;
	want[1] = 0;
}

/* A list from object 0 on, nodes 2, 4, …, each with a value; nodes and values all hold object 1. */
static void make_shared(struct shape *s, uint32_t n, uint32_t *want)
{
	lead(s, 0, 2);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = 2 + 2 * i;
		if (i + 1 < n)
			lead(s, node, node + 2);
		lead(s, node, node + 1);
		lead(s, node, 1);
		lead(s, node + 1, 1);
		want[node] = i ? node - 2 : 0;
		want[node + 1] = node;
	}
	want[0] = DOMINATED_BY_ROOTS;
	want[1] = 2;
}

static void release(struct adjacency *a)
{
	free(a->target);
	free(a->offset);
	free(a->base);
}

static int try_shape(const char *word, uint32_t n_nodes)
{
	struct shape s = { .edge = NULL };
	uint32_t n = 2 + 2 * n_nodes, wrong = 0;
	uint32_t *want = xcalloc(n, sizeof *want), *class_of = xcalloc(n, sizeof *class_of);
	struct heap_class class = { .name = "Node", .object = HEAP_NONE, .superclass = HEAP_NONE,
		.loader = HEAP_NONE, .instance_size = 16, .n_objects = n };
	struct heap_root root = { .object = 0, .thread = HEAP_NONE, .frame = HEAP_NONE };
	struct heap h = { .n_objects = n, .classes = &class, .n_classes = 1, .class_of = class_of,
		.java_lang_class = HEAP_NONE, .boot_loader = HEAP_NONE, .roots = &root, .n_roots = 1 };
	struct dominators d;
	struct err err = ERR_INIT;
	if (!strcmp(word, "shared"))
		make_shared(&s, n_nodes, want);
	else
		make_list(&s, n_nodes, strstr(word, "array-first"), strstr(word, "values"), want);
	fill(&h.out, &s, n, false);
	fill(&h.in, &s, n, true);
	if (bits_init(&h.sized, n, &err) || dominators_find(&d, &h, NULL, &err))
		return 2;
	for (uint32_t id = 0; id < n; id++)
		if (d.immediate[id] != want[id] && wrong++ < 5)
			printf("%" PRIu32 " hangs on %" PRIu32 ", not %" PRIu32 "\n", id, d.immediate[id], want[id]);
	bool good = !wrong && d.retained[0] == UINT64_C(16) * n;
	dominators_release(&d);
	bits_release(&h.sized);
	release(&h.out);
	release(&h.in);
	free(s.edge);
	free(class_of);
	free(want);
	return !good;
}

static int by_object(const void *x, const void *y)
{
	const struct heap_root *a = x, *b = y;
	return (a->object > b->object) - (a->object < b->object);
}

/* Other roots, and if wanted recorded references alone. */
static int simplify(struct heap *h, const char *path, bool recorded)
{
	char line[64];
	size_t cap = 0;
	FILE *f = fopen(path, "re");
	if (!f)
		return -1;
	free(h->roots);
	h->roots = NULL;
	h->n_roots = 0;
	while (fgets(line, sizeof line, f)) {
		uint32_t id = heap_find(h, strtoull(line, NULL, 16));
		if (id == HEAP_NONE)
			fprintf(stderr, "no object at %s", line);
		else
			VEC_PUSH(h->roots, h->n_roots, cap) =
			    (struct heap_root){ .object = id, .thread = HEAP_NONE, .frame = HEAP_NONE };
	}
	fclose(f);
	qsort(h->roots, h->n_roots, sizeof *h->roots, by_object);
	for (uint32_t c = 0; recorded && c < h->n_classes; c++)
		h->classes[c].object = h->classes[c].superclass = h->classes[c].loader = HEAP_NONE;
	return 0;
}

static void print(const struct heap *h, const struct dominators *d)
{
	for (uint32_t id = 0; id < h->n_objects; id++) {
		printf("0x%" PRIx64, heap_address(h, id));
		if (d->immediate[id] == NOT_REACHABLE)
			printf("\t-");
		else if (d->immediate[id] == DOMINATED_BY_ROOTS)
			printf("\t0");
		else
			printf("\t0x%" PRIx64, heap_address(h, d->immediate[id]));
		printf("\t%" PRIu64 "\n", d->retained[id]);
	}
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void print_time(const struct heap *h, const struct dominators *d, double seconds)
{
	uint32_t most = 0;
	for (uint32_t id = 0; id < h->n_objects; id++)
		if (d->retained[id] > d->retained[most])
			most = id;
	printf("%.3f s, %.1f bytes an object at most, %" PRIu32 " reachable of %" PRIu32 ", %s retains %"
	    PRIu64 "\n", seconds, (double)big_peak() / h->n_objects, d->n_reachable, h->n_objects,
	    heap_class_of(h, most)->name, d->retained[most]);
}

int main(int argc, char **argv)
{
	struct heap_options o = { .path = argv[argc - 1] };
	struct heap *h;
	struct dominators d;
	struct err err = ERR_INIT;
	const char *roots = NULL;
	bool naive = false, timed = false, recorded = false, spoiled = false;
	uint32_t step = 1;
	int status = 0;
	if (argc == 4 && !strcmp(argv[1], "-shape"))
		return try_shape(argv[2], (uint32_t)strtoul(argv[3], NULL, 10));
	for (int i = 1; i < argc - 1; i++) {
		if (!strcmp(argv[i], "-m"))
			o.mat_sizes = true;
		if (!strcmp(argv[i], "-n"))
			naive = true;
		else if (!strcmp(argv[i], "-t"))
			timed = true;
		else if (!strcmp(argv[i], "-spoil"))
			spoiled = true;
		else if (!strcmp(argv[i], "-r") || !strcmp(argv[i], "-R")) {
			recorded = argv[i][1] == 'r';
			roots = argv[++i];
		}
		else if (!strcmp(argv[i], "-s"))
			step = (uint32_t)strtoul(argv[++i], NULL, 10);
	}
	if (argc < 2 || heap_open(&h, &o, NULL, &err)) {
		fprintf(stderr, "%s\n", argc < 2 ? "dominators [-n] [-t] [-s N] [-r FILE] DUMP" : err.message);
		return 2;
	}
	if (roots && simplify(h, roots, recorded))
		return 2;
	double start = now();
	if (dominators_find(&d, h, NULL, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	double seconds = now() - start;
	if (naive)
		status = compare(h, &d, step ? step : 1) != 0;
	else if (spoiled)
		status = spoil(h, &d) != 0;
	else if (timed)
		print_time(h, &d, seconds);
	else
		print(h, &d);
	dominators_release(&d);
	heap_close(h);
	return status;
}
