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
 *     dominators -m DUMP         sizes by Eclipse MAT's rule, and weak references hold (with any of the above)
 *     dominators -shape WORD N   a heap of about 2 N objects on which simpler algorithms are quadratic:
 *                                0 when its dominators are those that it was built for
 */
#include "made_heap.h"
#include "naive.h"

#include "analysis/check/check.h"
#include "base/mem.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The VM's, or Eclipse MAT's, as -m says. */
static struct model model_of(const struct heap *h)
{
	return (struct model){ .heap = h, .left_out = h->asked.mat_sizes ? NULL : h->weak };
}

/* --- spoiling ------------------------------------------------------------------------------------- */

/* With this object hung elsewhere, does the checker see that the tree is none?  Hung too high, it may
 * as well be missed below its old parent, by another one there that it leads to. */
static bool finds(const struct heap *h, uint32_t id, uint32_t parent, bool too_high)
{
	struct checks checks = { .n = 0 };
	struct retained r;
	bool found = false;
	const struct model model = model_of(h);
	if (retained_find(&r, &model, NULL, NULL))
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

/* Object 0 holds an array, 1, of all nodes (or of the values of all nodes) and a list of them: a node
 * is 2, 4, …, its value the next.  All wanted dominators go to *want. */
static void make_list(struct made_edges *s, uint32_t n, bool array_first, bool values, uint32_t *want)
{
	made_edge(s, 0, array_first ? 1 : 2);
	made_edge(s, 0, array_first ? 2 : 1);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = 2 + 2 * i;
		if (i + 1 < n)
			made_edge(s, node, node + 2);
		made_edge(s, node, node + 1);
		made_edge(s, 1, values ? node + 1 : node);
		want[node] = values && i ? node - 2 : 0;
		want[node + 1] = values ? 0 : node;
	}
	want[0] = DOMINATED_BY_ROOTS;
	want[1] = 0;
}

/* A list from object 0 on, nodes 2, 4, …, each with a value; nodes and values all hold object 1. */
static void make_shared(struct made_edges *s, uint32_t n, uint32_t *want)
{
	made_edge(s, 0, 2);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = 2 + 2 * i;
		if (i + 1 < n)
			made_edge(s, node, node + 2);
		made_edge(s, node, node + 1);
		made_edge(s, node, 1);
		made_edge(s, node + 1, 1);
		want[node] = i ? node - 2 : 0;
		want[node + 1] = node;
	}
	want[0] = DOMINATED_BY_ROOTS;
	want[1] = 2;
}

/* A list of junctions from object 0 on, nodes 2, 4, …: each node holds the next one and its value, which holds the
 * next one, too.  The last node holds object 1, which holds all values. */
static void make_held_from_end(struct made_edges *s, uint32_t n, uint32_t *want)
{
	made_edge(s, 0, 2);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = 2 + 2 * i;
		made_edge(s, node, i + 1 < n ? node + 2 : 1);
		made_edge(s, node, node + 1);
		if (i + 1 < n)
			made_edge(s, node + 1, node + 2);
		made_edge(s, 1, node + 1);
		want[node] = i ? node - 2 : 0;
		want[node + 1] = node;
	}
	want[0] = DOMINATED_BY_ROOTS;
	want[1] = 2 * n;
}

static int try_shape(const char *word, uint32_t n_nodes)
{
	uint32_t n = 2 + 2 * n_nodes, wrong = 0;
	uint32_t *want = xcalloc(n, sizeof *want);
	uint16_t *class_low = xcalloc(n, sizeof *class_low);
	struct heap_class class = { .name = "Node", .object = HEAP_NONE, .superclass = HEAP_NONE,
		.loader = HEAP_NONE, .instance_size = 16, .n_objects = n };
	struct heap_root root = { .object = 0, .thread = HEAP_NONE, .frame = HEAP_NONE };
	struct made_edges edges = { .edge = NULL };
	struct heap h = { .n_objects = n, .classes = &class, .n_classes = 1, .class_low = class_low,
		.java_lang_class = HEAP_NONE, .boot_loader = HEAP_NONE, .roots = &root, .n_roots = 1 };
	struct dominators d;
	struct err err = ERR_INIT;
	if (!strcmp(word, "shared"))
		make_shared(&edges, n_nodes, want);
	else if (!strcmp(word, "held-from-end"))
		make_held_from_end(&edges, n_nodes, want);
	else
		make_list(&edges, n_nodes, strstr(word, "array-first"), strstr(word, "values"), want);
	made_references(&h, &edges);
	if (bits_init(&h.sized, n, &err) || bits_seal(&h.sized, &err) ||
	    dominators_find(&d, &(struct model){ .heap = &h }, NULL, &err))
		return 2;
	for (uint32_t id = 0; id < n; id++)
		if (d.immediate[id] != want[id] && wrong++ < 5)
			printf("%" PRIu32 " hangs on %" PRIu32 ", not %" PRIu32 "\n", id, d.immediate[id], want[id]);
	bool good = !wrong && dominators_retained(&d, 0) == UINT64_C(16) * n;
	dominators_release(&d);
	bits_release(&h.sized);
	made_references_release(&h);
	free(edges.edge);
	free(class_low);
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
	big_free(h->roots);
	h->roots = NULL;
	h->n_roots = 0;
	while (fgets(line, sizeof line, f)) {
		uint32_t id = heap_find(h, strtoull(line, NULL, 16));
		if (id == HEAP_NONE)
			fprintf(stderr, "no object at %s", line);
		struct heap_root *at = id == HEAP_NONE ? NULL : BIG_PUSH(h->roots, h->n_roots, cap, NULL);
		if (at)
			*at = (struct heap_root){ .object = id, .thread = HEAP_NONE, .frame = HEAP_NONE };
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
		printf("\t%" PRIu64 "\n", dominators_retained(d, id));
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
		if (dominators_retained(d, id) > dominators_retained(d, most))
			most = id;
	printf("%.3f s, %.1f bytes an object at most, %" PRIu32 " reachable of %" PRIu32 ", %s retains %"
	    PRIu64 "\n", seconds, (double)big_peak() / h->n_objects, d->n_reachable, h->n_objects,
	    heap_class_of(h, most)->name, dominators_retained(d, most));
}

static unsigned compare(const struct heap *h, const struct dominators *d, uint32_t step)
{
	struct naive naive;
	const struct model model = model_of(h);
	naive_init(&naive, &model);
	unsigned wrong = naive_compare_dominators(&naive, d, step);
	naive_release(&naive);
	return wrong;
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
	const struct model model = model_of(h);
	if (dominators_find(&d, &model, NULL, &err)) {
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
