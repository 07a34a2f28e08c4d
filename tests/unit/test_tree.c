/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_tree.c - results whose rows are a tree: what is open is compared with a recursive model; class
 * names become packages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/package_tree.h"
#include "heap/classes.h"
#include "result/cursor.h"
#include "result/tree.h"
#include "result/tree_parts.h"

enum { NODES = 60, AT_ONCE = 3 };

static struct forest {
	uint32_t parent[NODES]; /* TREE_TOP, or a lower number */
	uint64_t weight[NODES];
	bool open[NODES];
	uint32_t shown[NODES + 1]; /* by node + 1: children with a row; 0 stands for the top */
} forest;

static uint32_t children(const struct result *r, uint32_t node, uint32_t *to)
{
	const struct forest *f = tree_data(r);
	uint32_t n = 0;
	for (uint32_t i = 0; i < NODES; i++) {
		if (f->parent[i] != node)
			continue;
		if (to)
			to[n] = i;
		n++;
	}
	return n;
}

static void cell(
    const struct result *r, uint32_t node, unsigned column, struct cell *out, struct text *scratch)
{
	const struct forest *f = tree_data(r);
	if (column == 1) {
		*out = cell_bytes(amount_exact(f->weight[node]));
		return;
	}
	text_addf(scratch, "node %u", node);
	*out = cell_text(scratch->s);
}

static void target(const struct result *r, uint32_t node, struct target *out)
{
	(void)r;
	*out = (struct target){.kind = TARGET_OBJECT, .id = node};
}

static const struct tree_source source = {
    .children = children, .cell = cell, .target = target, .branch = 0, .weight = 1};
static const struct column columns[] = {
    {.id = COL_BRANCH},
    {.id = COL_RETAINED, .total = true},
};
static const struct shape shape = {SHAPE_COLUMNS(columns)};

/* --- the model -------------------------------------------------------------------------------- */

struct line {
	uint32_t node, depth; /* node TREE_TOP: the rest */
	uint64_t rest_weight;
	uint32_t rest, parent;
};
static struct line lines[2 * NODES];
static size_t n_lines;

/* Heaviest first, the lower number first among equals. */
static int heavier(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	if (forest.weight[a] != forest.weight[b])
		return forest.weight[a] > forest.weight[b] ? -1 : 1;
	return (a > b) - (a < b);
}

static uint32_t ordered(uint32_t node, uint32_t *to)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < NODES; i++)
		if (forest.parent[i] == node)
			to[n++] = i;
	qsort(to, n, sizeof *to, heavier);
	return n;
}

static void write_lines(uint32_t node, uint32_t depth)
{
	uint32_t child[NODES], n = ordered(node, child), shown = forest.shown[node + 1];
	for (uint32_t i = 0; i < n && i < shown; i++) {
		lines[n_lines++] = (struct line){.node = child[i], .depth = depth};
		if (forest.open[child[i]])
			write_lines(child[i], depth + 1);
	}
	if (shown >= n)
		return;
	struct line rest = {
	    .node = TREE_TOP, .depth = depth, .rest = n - shown, .parent = node};
	for (uint32_t i = shown; i < n; i++)
		rest.rest_weight += forest.weight[child[i]];
	lines[n_lines++] = rest;
}

static void compare(struct result *r)
{
	struct cell c;
	n_lines = 0;
	write_lines(TREE_TOP, 0);
	assert_int_equal(r->n_rows, n_lines);
	for (size_t i = 0; i < n_lines; i++) {
		struct branch b;
		struct target t;
		char text[32];
		assert_true(tree_branch(r, i, &b));
		assert_int_equal(b.depth, lines[i].depth);
		result_target(r, i, &t);
		result_cell(r, i, 1, &c);
		if (lines[i].node == TREE_TOP) {
			assert_int_equal(b.state, BRANCH_REST);
			assert_int_equal(t.kind, TARGET_GROUP); /* of objects */
			assert_int_equal(c.amount.n, lines[i].rest_weight);
			snprintf(text, sizeof text, "and %u more", lines[i].rest);
			result_cell(r, i, 0, &c);
			assert_string_equal(c.text, text);
			continue;
		}
		uint32_t unused[NODES];
		enum branch_state expected = forest.open[lines[i].node] ? BRANCH_OPEN
					     : ordered(lines[i].node, unused) ? BRANCH_CLOSED
									      : BRANCH_LEAF;
		assert_int_equal(b.state, expected);
		assert_int_equal(t.id, lines[i].node);
		assert_int_equal(c.amount.n, forest.weight[lines[i].node]);
	}
}

/* All below a node: closed with it. */
static void forget_below(uint32_t node)
{
	for (uint32_t i = 0; i < NODES; i++)
		if (forest.parent[i] == node) {
			forest.open[i] = false;
			forest.shown[i + 1] = AT_ONCE;
			forget_below(i);
		}
}

static void do_something(struct result *r)
{
	size_t row = (size_t)rand() % r->n_rows;
	struct line at = lines[row];
	if (at.node == TREE_TOP) {
		assert_true(tree_open(r, row));
		forest.shown[at.parent + 1] += AT_ONCE;
	} else if (forest.open[at.node]) {
		assert_false(tree_open(r, row));
		assert_true(tree_close(r, row));
		forest.open[at.node] = false;
		forest.shown[at.node + 1] = AT_ONCE;
		forget_below(at.node);
	} else {
		uint32_t child[NODES];
		bool inner = ordered(at.node, child) > 0;
		assert_false(tree_close(r, row));
		assert_int_equal(tree_open(r, row), inner);
		forest.open[at.node] = inner;
	}
}

static struct result *new_forest(unsigned seed)
{
	srand(seed);
	for (uint32_t i = 0; i < NODES; i++) {
		forest.parent[i] = i == 0 || rand() % 8 == 0 ? TREE_TOP : (uint32_t)rand() % i;
		forest.weight[i] = (uint64_t)rand() % 20;
		forest.open[i] = false;
		forest.shown[i + 1] = AT_ONCE;
	}
	forest.shown[0] = AT_ONCE;
	struct result *r = tree_result("", NULL, &shape, &source, &forest, AT_ONCE);
	tree_sort(r, 1, true);
	return r;
}

static void test_open_and_close(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 200; seed++) {
		struct result *r = new_forest(seed);
		for (int i = 0; i < 60; i++) {
			compare(r);
			do_something(r);
			if (i % 7 == 0) /* what is open stays open */
				tree_sort(r, 1, true);
		}
		compare(r);
		/* the total is that of the whole first level, whatever has rows */
		struct cell total;
		uint64_t sum = 0;
		for (uint32_t i = 0; i < NODES; i++)
			sum += forest.parent[i] == TREE_TOP ? forest.weight[i] : 0;
		result_total(r, 1, &total);
		assert_int_equal(total.amount.n, sum);
		result_free(r);
	}
}

static bool is_even(struct result *r, size_t row, void *context)
{
	struct target t;
	(void)context;
	result_target(r, row, &t);
	return t.kind == TARGET_OBJECT && t.id % 2 == 0;
}

/* Rows are found wherever they stand in what is open; cursors read them apart from each other. */
static void test_found(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 50; seed++) {
		struct result *r = new_forest(seed);
		struct cursor above, below;
		cursor_init(&above, r);
		cursor_init(&below, r);
		tree_open_levels(r, 3);
		for (size_t row = 0; row < r->n_rows; row++) {
			struct target t;
			struct cell key, name;
			result_target(r, row, &t);
			if (t.kind == TARGET_GROUP) /* the rest of some branch */
				continue;
			char wanted[20];
			snprintf(wanted, sizeof wanted, "node %u", t.id);
			cursor_cell(&above, row, 0, &key);
			assert_int_equal(result_find_target(r, &t), row);
			assert_int_equal(cursor_find(&below, 0, &key), row);
			cursor_cell(&below, row ? row - 1 : r->n_rows - 1, 0, &name);
			assert_string_equal(key.text, wanted);
			if (r->n_rows > 1)
				assert_string_not_equal(name.text, key.text);
		}
		assert_int_equal(
		    result_find_target(r, &(struct target){.kind = TARGET_OBJECT, .id = NODES}), SIZE_MAX);
		cursor_release(&above);
		cursor_release(&below);
		result_free(r);
	}
}

/* While rows are filtered, opening shows all children of the row behind it, and nothing else moves. */
static void test_filtered(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 200; seed++) {
		struct result *r = new_forest(seed);
		uint32_t before[NODES], n = 0;
		tree_open_levels(r, 2);
		assert_int_equal(result_filter(r, is_even, NULL, NULL), 0);
		for (; n < r->n_rows; n++) {
			struct target t;
			result_target(r, n, &t);
			before[n] = t.id;
		}
		for (size_t row = n; row-- > 0;)
			tree_open(r, row);
		for (size_t row = r->n_rows; row-- > 0;)
			tree_close(r, row);
		/* levels that were open before lose their rows */
		size_t at = 0;
		for (size_t row = 0; row < r->n_rows; row++, at++) {
			struct target t;
			result_target(r, row, &t);
			while (at < n && before[at] != t.id)
				at++;
			assert_true(at < n);
		}
		result_show_all(r);
		assert_true(tree_is(r));
		assert_int_equal(r->n_rows, r->n_source);
		result_free(r);
	}
}

static void test_parent_and_levels(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 100; seed++) {
		struct result *r = new_forest(seed);
		tree_open_levels(r, TREE_ALL);
		for (size_t row = 0; row < r->n_rows; row++) {
			struct target t, above;
			size_t up = tree_parent(r, row);
			result_target(r, row, &t);
			if (t.kind == TARGET_GROUP)
				continue;
			assert_int_equal(up == SIZE_MAX, forest.parent[t.id] == TREE_TOP);
			if (up == SIZE_MAX)
				continue;
			result_target(r, up, &above);
			assert_int_equal(above.id, forest.parent[t.id]);
		}
		/* sorted as a list it is a tree no more */
		assert_int_equal(result_sort(r, 1, false, NULL), 0);
		assert_false(tree_is(r));
		result_free(r);
	}
}

/* The heaviest children of any node, whether it is open or not. */
static void test_heaviest(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 100; seed++) {
		struct result *r = new_forest(seed);
		for (uint32_t node = 0; node <= NODES; node++) {
			struct tree_part part[5];
			uint32_t parent = node == NODES ? TREE_TOP : node, child[NODES], n = ordered(parent, child);
			uint64_t all, sum = 0;
			assert_int_equal(tree_heaviest(r, parent, part, 5, &all), n < 5 ? n : 5);
			for (uint32_t i = 0; i < n; i++) {
				sum += forest.weight[child[i]];
				assert_true(i >= 5 || (part[i].node == child[i] && part[i].weight == forest.weight[child[i]]));
			}
			assert_int_equal(all, sum);
		}
		result_free(r);
	}
}

/* The nodes above a row, and the rows of these, in a tree that is filtered or not. */
static void test_nodes_and_rows(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 100; seed++) {
		struct result *r = new_forest(seed);
		tree_open_levels(r, TREE_ALL);
		if (seed % 2)
			assert_int_equal(result_filter(r, is_even, NULL, NULL), 0);
		for (size_t row = 0; row < r->n_rows; row++) {
			struct target t;
			uint32_t up[NODES], above[2];
			size_t n = tree_nodes_to(r, row, up, NODES), parent = tree_parent(r, row);
			result_target(r, row, &t);
			assert_int_equal(tree_nodes_to(r, row, above, 2), n);
			assert_int_equal(up[0], above[0]);
			if (t.kind == TARGET_GROUP) {
				assert_int_equal(up[n - 1], TREE_TOP);
				continue;
			}
			assert_int_equal(up[n - 1], t.id);
			for (size_t i = 0; i < n; i++)
				assert_int_equal(forest.parent[up[i]], i ? up[i - 1] : TREE_TOP);
			if (seed % 2 == 0) {
				assert_int_equal(tree_row_of(r, parent, t.id), row);
				assert_int_equal(tree_row_of(r, row, t.id), SIZE_MAX); /* not below itself */
			}
		}
		result_free(r);
	}
}

/* A chain that keeps its weight, then loses half of it. */
static void test_drop(void **state)
{
	bool deeper;
	struct target t;
	(void)state;
	for (uint32_t i = 0; i < NODES; i++) {
		forest.parent[i] = i ? i - 1 : TREE_TOP;
		forest.weight[i] = i < 40 ? 1000 - i : 400 - i;
	}
	struct result *r = tree_result("", NULL, &shape, &source, &forest, AT_ONCE);
	size_t row = tree_drop(r, 0, &deeper);
	result_target(r, row, &t);
	assert_int_equal(t.id, 39);
	assert_false(deeper);
	result_free(r);
}

/* Nothing of it recurses or is quadratic. */
static uint32_t next_one(const struct result *r, uint32_t node, uint32_t *to)
{
	(void)r;
	if (to)
		*to = node + 1;
	return node == TREE_TOP || node < 200000;
}

static void no_cell(
    const struct result *r, uint32_t node, unsigned column, struct cell *out, struct text *scratch)
{
	(void)r;
	(void)column;
	(void)scratch;
	*out = cell_bytes(amount_exact(1000000 - node));
}

static void test_deep(void **state)
{
	static const struct tree_source chain = {
	    .children = next_one, .cell = no_cell, .target = target, .branch = 0, .weight = 1};
	bool deeper;
	(void)state;
	struct result *r = tree_result("", NULL, &shape, &chain, NULL, 0);
	tree_open_levels(r, TREE_ALL);
	assert_int_equal(r->n_rows, 200001);
	assert_true(tree_close(r, 0));
	assert_int_equal(r->n_rows, 1);
	size_t row = tree_drop(r, 0, &deeper);
	assert_true(deeper);
	assert_int_equal(row, 1000);
	result_free(r);
}

/* --- packages --------------------------------------------------------------------------------- */

static void test_packages(void **state)
{
	static const char *const names[] = {"com.acme.shop.Order", "com.acme.shop.Order[]",
	    "com.acme.Main", "com.acme-x.Odd", "java.util.Map", "java.util.Map$Entry", "Alone", "int[]",
	    "org.only.deep.down.Here"};
	static const struct {
		const char *name, *label;
		uint32_t depth, classes;
	} expected[] = {
	    {"<default>", "<default>", 0, 1},
	    {"Alone", "Alone", 1, 1},
	    {"<primitive>", "<primitive>", 0, 1},
	    {"int[]", "int[]", 1, 1},
	    {"com", "com", 0, 4},
	    {"com.acme", "acme", 1, 3},
	    {"com.acme.Main", "Main", 2, 1},
	    {"com.acme.shop", "shop", 2, 2},
	    {"com.acme.shop.Order", "Order", 3, 1},
	    {"com.acme.shop.Order[]", "Order[]", 3, 1},
	    {"com.acme-x", "acme-x", 1, 1},
	    {"com.acme-x.Odd", "Odd", 2, 1},
	    {"java.util", "java.util", 0, 2},
	    {"java.util.Map", "Map", 1, 1},
	    {"java.util.Map$Entry", "Map$Entry", 1, 1},
	    {"org.only.deep.down", "org.only.deep.down", 0, 1},
	    {"org.only.deep.down.Here", "Here", 1, 1},
	};
	enum { N = sizeof names / sizeof *names, ROWS = sizeof expected / sizeof *expected };
	struct heap_class classes[N] = {0};
	struct heap h = {.classes = classes, .n_classes = N};
	struct package_tree t;
	struct err err = ERR_INIT;
	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		classes[i].name = (char *)names[i];
		classes[i].n_objects = i + 1;
		classes[i].shallow = 10 * (i + 1);
		classes[i].type = HEAP_NONE;
		classes[i].kind = i == 7 ? CLASS_PRIMITIVE_ARRAY : classes[i].kind;
	}
	assert_int_equal(heap_order_names(&h, &err), 0);
	assert_int_equal(package_tree_make(&t, &h, &err), 0);
	assert_int_equal(t.n, ROWS);
	uint64_t objects = 0;
	for (uint32_t i = 0; i < ROWS; i++) {
		size_t n = t.rows[i].class == HEAP_NONE ? t.rows[i].n : strlen(t.rows[i].name);
		char name[80] = "";
		assert_true(n < sizeof name);
		memcpy(name, t.rows[i].name, n);
		assert_string_equal(name, expected[i].name);
		assert_string_equal(name + t.rows[i].label, expected[i].label);
		assert_int_equal(t.rows[i].depth, expected[i].depth);
		assert_int_equal(t.rows[i].n_classes.n, expected[i].classes);
		assert_int_equal(t.rows[i].shallow.n, 10 * t.rows[i].objects.n);
		objects += t.rows[i].depth ? 0 : t.rows[i].objects.n;
	}
	assert_int_equal(objects, N * (N + 1) / 2);
	package_tree_release(&t);
}

/* --- looked at meanwhile ------------------------------------------------------------------------ */

enum { WIDE = 5000, WIDE_AT_ONCE = 100 };

/* A fan: node 0 has all others below it. */
static uint32_t fan_children(const struct result *r, uint32_t node, uint32_t *to)
{
	uint32_t n = node == TREE_TOP ? 1 : node == 0 ? WIDE : 0;
	(void)r;
	for (uint32_t i = 0; to && i < n; i++)
		to[i] = node == TREE_TOP ? 0 : i + 1;
	return n;
}

static void fan_cell(const struct result *r, uint32_t node, unsigned column, struct cell *out, struct text *scratch)
{
	(void)r;
	text_addf(scratch, "node %u", node);
	*out = column == 1 ? cell_bytes(amount_exact(node * UINT64_C(7919) % WIDE)) : cell_text(scratch->s);
}

static const struct tree_source fan = {
    .children = fan_children, .cell = fan_cell, .target = target, .branch = 0, .weight = 1};

struct looker {
	struct result *r;
	struct text as_it_was;
	int asked, left;
};

static void read_all(struct result *r, struct text *to)
{
	text_clear(to);
	text_addf(to, "%d %d %zu\n", r->sorted_by, r->descending, r->n_rows);
	for (size_t row = 0; row < r->n_rows; row++) {
		for (unsigned c = 0; c < 2; c++) {
			struct cell cell;
			result_cell(r, row, c, &cell);
			cell_print_plain(&cell, to);
			text_add_char(to, c ? '\n' : ' ');
		}
	}
}

/* Whoever looks sees what was there before; the question number `left` stops it. */
static bool look(void *context)
{
	struct looker *l = context;
	struct text now = TEXT_INIT;
	bool (*stop)(void *) = l->r->stop;
	l->asked++;
	l->r->stop = NULL;
	read_all(l->r, &now);
	l->r->stop = stop;
	assert_string_equal(now.s, l->as_it_was.s);
	text_release(&now);
	return --l->left == 0;
}

static struct result *watched_fan(struct looker *l, int left)
{
	struct result *r = tree_result("fan", NULL, &shape, &fan, NULL, WIDE_AT_ONCE);
	tree_sort(r, 1, true);
	*l = (struct looker){.r = r, .left = left};
	read_all(r, &l->as_it_was);
	r->stop = look;
	r->stop_context = l;
	return r;
}

/* Opening a branch changes nothing before it is done, and nothing if it is stopped. */
static void test_opened_while_looked_at(void **state)
{
	struct looker l;
	bool opened = false;
	int left = 0;
	(void)state;
	for (; !opened; left++) {
		struct result *r = watched_fan(&l, left + 1);
		opened = tree_open(r, 0);
		assert_int_equal(l.asked, opened ? left : left + 1);
		assert_int_equal(r->n_rows, opened ? WIDE_AT_ONCE + 2 : 1);
		text_release(&l.as_it_was);
		result_free(r);
	}
	assert_in_range(left, WIDE / RESULT_STOP_EVERY, WIDE);
}

/* Nor does sorting. */
static void test_sorted_while_looked_at(void **state)
{
	struct looker l;
	struct result *r = watched_fan(&l, 0);
	struct tree_draft *draft = NULL;
	struct err err = ERR_INIT;
	int left = 0;
	(void)state;
	assert_true(tree_open(r, 0));
	read_all(r, &l.as_it_was);
	for (; !draft; left++) {
		l.left = left + 1;
		l.asked = 0;
		draft = tree_draft_sorted(r, 0, false, &err);
		assert_int_equal(l.asked, draft ? left : left + 1);
		assert_true(draft || err.code == ERR_CANCELLED);
	}
	assert_in_range(left, WIDE / RESULT_STOP_EVERY, WIDE);
	r->stop = NULL;
	tree_adopt(r, draft);
	assert_int_equal(r->sorted_by, 0);
	assert_int_equal(r->n_rows, WIDE_AT_ONCE + 2);
	text_release(&l.as_it_was);
	result_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_open_and_close),
	    cmocka_unit_test(test_filtered),
	    cmocka_unit_test(test_found),
	    cmocka_unit_test(test_parent_and_levels),
	    cmocka_unit_test(test_heaviest),
	    cmocka_unit_test(test_nodes_and_rows),
	    cmocka_unit_test(test_drop),
	    cmocka_unit_test(test_deep),
	    cmocka_unit_test(test_opened_while_looked_at),
	    cmocka_unit_test(test_sorted_while_looked_at),
	    cmocka_unit_test(test_packages),
	};
	return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
