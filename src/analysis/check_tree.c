/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check_tree.c - is a dominator tree one?
 *
 * Written without the code that found it.  Parent property: whatever leads to an object hangs below
 * the object's parent in the tree, or is that parent; so nothing but the way through the parent leads
 * there, and every parent dominates its children.  Any thread.
 */
#include "analysis/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void checks_add(
    struct checks *to, const char *name, enum check_outcome outcome, const char *format, ...)
{
	struct check_line line = {.name = name, .outcome = outcome};
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(line.detail, sizeof line.detail, format, arguments);
	va_end(arguments);
	VEC_PUSH(to->line, to->n, to->cap) = line;
	if (outcome == CHECK_BROKEN)
		to->n_broken++;
}

struct span {
	uint32_t from, to; /* an object's number from top to bottom, and the last one below it */
};

struct tree {
	const struct heap *h;
	const struct retained *r;
	struct span *span; /* by id; {0, 0}: not in the tree */
	uint32_t n;
	uint64_t edges;
	uint32_t bad_from, bad_to; /* the first edge that breaks the property; HEAP_NONE: none */
};

/* Number the tree; the stack has places in the list of children. */
static void number(struct tree *t, uint32_t *stack)
{
	const struct retained *r = t->r;
	uint32_t depth = 0, above = t->h->n_objects;
	uint32_t at = r->first[above], end = r->first[above + 1];
	for (;;) {
		if (at < end) {
			uint32_t id = r->child[at];
			t->span[id].from = ++t->n;
			stack[depth++] = at;
			at = r->first[id];
			end = r->first[id + 1];
		} else if (depth > 0) {
			at = stack[--depth];
			uint32_t id = r->child[at++], parent = r->dominators.immediate[id];
			t->span[id].to = t->n;
			end = r->first[(parent == DOMINATED_BY_ROOTS ? above : parent) + 1];
		} else {
			return;
		}
	}
}

static void edge(struct tree *t, uint32_t from, uint32_t to)
{
	uint32_t parent = t->r->dominators.immediate[to];
	if (t->r->dominators.immediate[from] == NOT_REACHABLE)
		return;
	t->edges++;
	bool ok = parent == DOMINATED_BY_ROOTS || (parent != NOT_REACHABLE &&
	    t->span[from].from >= t->span[parent].from && t->span[from].from <= t->span[parent].to);
	if (!ok && t->bad_from == HEAP_NONE) {
		t->bad_from = from;
		t->bad_to = to;
	}
}

static void all_edges(struct tree *t)
{
	const struct heap *h = t->h;
	for (uint32_t id = 0; id < h->n_objects; id++) {
		uint64_t end = adjacency_start(&h->out, id + 1);
		for (uint64_t k = adjacency_start(&h->out, id); k < end; k++)
			edge(t, id, h->out.target[k]);
		struct implied_reference implied[3];
		for (unsigned k = heap_implied(h, id, implied); k-- > 0;)
			edge(t, id, implied[k].target);
	}
	for (uint32_t c = 0; c < h->n_classes && h->facts.loaders_hold_classes; c++)
		if (h->classes[c].loader != HEAP_NONE && h->classes[c].object != HEAP_NONE)
			edge(t, h->classes[c].loader, h->classes[c].object);
	for (size_t i = 0; i < h->n_roots; i++) {
		const struct heap_root *root = &h->roots[i];
		uint32_t thread = root->thread == HEAP_NONE ? HEAP_NONE : h->threads[root->thread].object;
		bool hangs = t->r->dominators.immediate[root->object] != DOMINATED_BY_ROOTS;
		/* a root may hang below its thread; any other stands at the top */
		if (hangs && (thread == HEAP_NONE || thread == root->object))
			t->bad_from = t->bad_to = root->object;
		else if (hangs)
			edge(t, thread, root->object);
	}
}

static void check_sums(struct tree *t, struct checks *to)
{
	const struct retained *r = t->r;
	const char *name = "retained sizes sum up";
	uint64_t top = 0;
	uint32_t n;
	for (uint32_t id = 0; id < t->h->n_objects; id++) {
		if (r->dominators.immediate[id] == NOT_REACHABLE)
			continue;
		uint64_t sum = heap_shallow(t->h, id);
		const uint32_t *child = retained_children(r, id, &n);
		for (uint32_t k = 0; k < n; k++)
			sum += r->dominators.retained[child[k]];
		if (sum != r->dominators.retained[id]) {
			checks_add(to, name, CHECK_BROKEN, "0x%" PRIx64 ": %" PRIu64 " stated, %" PRIu64 " found",
			    heap_address(t->h, id), r->dominators.retained[id], sum);
			return;
		}
	}
	const uint32_t *child = retained_children(r, HEAP_NONE, &n);
	for (uint32_t k = 0; k < n; k++)
		top += r->dominators.retained[child[k]];
	bool ok = top == r->dominators.shallow_reachable;
	checks_add(to, name, ok ? CHECK_OK : CHECK_BROKEN, "%" PRIu64 " bytes at the top, %" PRIu64
	    " are reachable", top, r->dominators.shallow_reachable);
}

int check_tree(struct checks *to, const struct retained *r, struct err *err)
{
	const struct heap *h = r->heap;
	struct tree t = {.h = h, .r = r, .bad_from = HEAP_NONE};
	const char *name = "parents dominate";
	uint32_t *stack = big_alloc(r->dominators.n_reachable, sizeof *stack, err);
	t.span = big_alloc(h->n_objects, sizeof *t.span, err);
	int code = stack && t.span ? 0 : ERR_NOMEM;
	if (!code) {
		number(&t, stack);
		all_edges(&t);
		if (t.n != r->dominators.n_reachable)
			checks_add(to, name, CHECK_BROKEN, "%" PRIu32 " objects hang in the tree, %" PRIu32
			    " are reachable", t.n, r->dominators.n_reachable);
		else if (t.bad_from != HEAP_NONE)
			checks_add(to, name, CHECK_BROKEN, "0x%" PRIx64 " leads to 0x%" PRIx64
			    " past its parent", heap_address(h, t.bad_from), heap_address(h, t.bad_to));
		else
			checks_add(to, name, CHECK_OK, "%" PRIu64 " references and %zu roots lead to %" PRIu32
			    " objects through their parents", t.edges, h->n_roots, t.n);
		check_sums(&t, to);
	}
	big_free(stack, r->dominators.n_reachable, sizeof *stack);
	big_free(t.span, h->n_objects, sizeof *t.span);
	return code;
}
