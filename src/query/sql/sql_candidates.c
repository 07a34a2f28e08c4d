/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sql_candidates.c - see sql_candidates.h. */
#include "query/sql/sql_candidates.h"

#include "heap/classes.h"

#include "algorithms/sort.h"
#include "memory/big.h"

#include <string.h>

/* --- bounds ------------------------------------------------------------------------------------- */

void candidates_release(struct candidates *c)
{
	big_free(c->list);
	bits_release(&c->in);
	c->list = NULL;
	c->at = c->end = 0;
	c->order = (struct ordering){.by = C_ID};
	c->low = 0;
	c->high = UINT32_MAX;
	memset(c->least, 0, sizeof c->least);
	memset(c->most, 0xff, sizeof c->most);
	memset(c->bounded, 0, sizeof c->bounded);
}

static uint64_t size_of(const struct sql *q, uint32_t id, int which)
{
	return which ? retained_size(q->now.retained, id) : heap_shallow(q->heap, id);
}

static bool fits(const struct candidates *c, uint32_t id)
{
	const struct objects_of *of = c->of;
	const struct sql *q = of->sql;
	uint32_t class = heap_class_index(q->heap, id);
	if (id < c->low || id >= c->high || (c->in.word && !bits_get(&c->in, class)) ||
	    (of->in.word && !bits_get(&of->in, class)) || (of->n_classes == 1 && of->classes[0] != class))
		return false;
	for (int which = 0; which < 2; which++) {
		if (!c->bounded[which])
			continue;
		uint64_t size = size_of(q, id, which);
		if (size < c->least[which] || size > c->most[which])
			return false;
	}
	return true;
}

/* Narrow a size or an id by a value that SQL compares with it, perhaps not as far as could be: SQLite looks at each row
 * again.  False: nothing fits. */
static bool bound(sqlite3_value *value, const char *op, uint64_t *least, uint64_t *most)
{
	int type = sqlite3_value_numeric_type(value); /* '16' is 16, as these columns compare */
	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		return *op != '=';
	sqlite3_int64 n = sqlite3_value_int64(value); /* a real number is cut off */
	if (n < 0)
		return *op == '>';
	if (*op != '<' && (uint64_t)n > *least)
		*least = (uint64_t)n;
	if (*op != '>' && (uint64_t)n < *most)
		*most = (uint64_t)n;
	return *least <= *most;
}

/* Narrow the ids to those with a bound on their number or their address. */
static bool bound_ids(struct candidates *c, const struct sql *q, const struct sql_bound *b)
{
	uint64_t least = 0, most = UINT64_MAX;
	if (b->column == C_ADDRESS && b->op[0] == '=') {
		uint32_t id = sql_object(q, b->value);
		if (id == HEAP_NONE || id < c->low || id >= c->high)
			return false;
		c->low = id;
		c->high = id + 1;
		return true;
	}
	if (!bound(b->value, b->op, &least, &most))
		return false;
	if (b->column == C_ADDRESS) {
		uint32_t below = least ? heap_find_below(q->heap, least - 1) : HEAP_NONE;
		uint32_t last = heap_find_below(q->heap, most);
		least = below == HEAP_NONE ? 0 : below + 1;
		if (last == HEAP_NONE)
			return false;
		most = last;
	}
	if (least > c->low)
		c->low = least > UINT32_MAX ? UINT32_MAX : (uint32_t)least;
	if (most < c->high - UINT64_C(1))
		c->high = (uint32_t)most + 1;
	return c->low < c->high;
}

/* The first of two stands in front of the second where it is larger and the order goes down; of one size by id. */
static int by_size(const void *x, const void *y, void *context)
{
	const struct ordering *o = context;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	uint64_t m = size_of(o->sql, a, o->by == C_RETAINED), n = size_of(o->sql, b, o->by == C_RETAINED);
	if (m == n)
		return (a > b) - (a < b);
	return (m < n) == o->down ? 1 : -1;
}

/* The first `limit` of what stands in a heap of ids, the last of them on top. */
static void sift(uint32_t *heap, uint64_t n, struct ordering *o)
{
	for (uint64_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && by_size(&heap[child + 1], &heap[child], o) > 0)
			child++;
		if (by_size(&heap[child], &heap[i], o) <= 0)
			return;
		uint32_t id = heap[i];
		heap[i] = heap[child];
		heap[child] = id;
	}
}

static void rise(uint32_t *heap, uint64_t i, struct ordering *o)
{
	for (uint64_t up; i && by_size(&heap[i], &heap[up = (i - 1) / 2], o) > 0; i = up) {
		uint32_t id = heap[i];
		heap[i] = heap[up];
		heap[up] = id;
	}
}

enum { HEAPED_MOST = 100000, FIRST = 100 }; /* rows; of more all are sorted; are found before all */

/* The next object, before the end of a short stretch, that retains more than the least of those that are the most so
 * far: nearly all retain less, and looking at nothing else makes the top ten of a large heap quick. */
static uint32_t next_larger(const struct candidates *c, const struct ordering *o, uint32_t id, uint32_t high)
{
	const struct retained *r = o->sql->now.retained;
	uint64_t least = retained_size(r, c->list[0]);
	uint32_t end = high - id > PROGRESS_ROUNDS ? id + PROGRESS_ROUNDS : high;
	while (id < end && retained_size(r, id) <= least)
		id++;
	return id;
}

/* Candidates into the cursor's list, at most as many as are asked for; by size, if that is the order. */
static int gather(struct candidates *c, struct ordering *o, struct err *err)
{
	const struct heap *h = o->sql->heap;
	bool best = o->by != C_ID && o->limit <= HEAPED_MOST;
	size_t n = 0, cap = 0;
	uint32_t high = c->high < h->n_objects ? c->high : h->n_objects;
	bool leaps = best && o->down && o->by == C_RETAINED;
	for (uint32_t id = c->low, round = 0; id < high; id++, round++) {
		if (sql_stops(o->sql, leaps ? round * (uint64_t)PROGRESS_ROUNDS : round))
			return err_cancelled(err);
		if (leaps && n == o->limit && n && (id = next_larger(c, o, id, high)) == high)
			break;
		if (!fits(c, id))
			continue;
		if (best && n == o->limit && n) {
			if (by_size(&id, &c->list[0], o) >= 0)
				continue;
			c->list[0] = id;
			sift(c->list, n, o);
			continue;
		}
		if (n == o->limit)
			break;
		uint32_t *to = BIG_PUSH(c->list, n, cap, err);
		if (!to)
			return ERR_NOMEM;
		*to = id;
		if (best)
			rise(c->list, n - 1, o);
	}
	c->at = 0;
	c->end = n;
	if (!c->list && !(c->list = big_alloc(0, sizeof *c->list, err)))
		return ERR_NOMEM;
	return o->by != C_ID ? sort_with(c->list, n, sizeof *c->list, by_size, o, err) : 0;
}

static int by_name_rank(const void *x, const void *y, void *heap)
{
	return heap_class_order(((const struct heap *)heap)->classes, *(const uint32_t *)x, *(const uint32_t *)y);
}

/* Candidates class after class, in the order of the classes' names: counted first, filled second. */
static int gather_by_class(struct candidates *c, const struct sql *q, bool down, struct err *err)
{
	const struct heap *h = q->heap;
	uint32_t high = c->high < h->n_objects ? c->high : h->n_objects;
	uint32_t *order = big_alloc(h->n_classes, sizeof *order, err);
	uint32_t *start = order ? big_alloc(h->n_classes, sizeof *start, err) : NULL;
	uint32_t n = 0;
	int code = start ? 0 : ERR_NOMEM;
	for (uint32_t id = c->low; !code && id < high; id++)
		if (sql_stops(q, id))
			code = err_cancelled(err);
		else if (fits(c, id))
			start[heap_class_index(h, id)]++;
	for (uint32_t i = 0; !code && i < h->n_classes; i++)
		order[i] = i;
	if (!code)
		code = sort_with(order, h->n_classes, sizeof *order, by_name_rank, (void *)h, err);
	for (uint32_t i = 0; !code && i < h->n_classes; i++) {
		uint32_t class = order[down ? h->n_classes - 1 - i : i], count = start[class];
		start[class] = n;
		n += count;
	}
	if (!code && !(c->list = big_alloc(n, sizeof *c->list, err)))
		code = ERR_NOMEM;
	for (uint32_t id = c->low; !code && id < high; id++)
		if (fits(c, id))
			c->list[start[heap_class_index(h, id)]++] = id;
	c->at = 0;
	c->end = n;
	big_free(order);
	big_free(start);
	return code;
}

static int settle(struct candidates *c)
{
	while (!c->list && c->at < c->end && !fits(c, (uint32_t)c->at))
		if (sql_stops(c->of->sql, c->at++))
			return SQLITE_INTERRUPT;
	return SQLITE_OK;
}

/* The instances of one class: as many as there are, however many other objects there are. */
static int gather_instances(struct candidates *c, struct sql *q, uint32_t class, uint64_t most, struct err *err)
{
	struct members_walk walk = members_instances(&q->members, class);
	size_t n = 0;
	uint32_t id, count = q->heap->classes[class].n_objects;
	if (!(c->list = big_alloc(count, sizeof *c->list, err)))
		return ERR_NOMEM;
	while (n < most && n < count && members_next(&q->members, &walk, &id))
		if (fits(c, id))
			c->list[n++] = id;
	c->at = 0;
	c->end = n;
	return 0;
}

/* Of a list of objects those that fit. */
static int gather_these(struct candidates *c, const struct objects_of *of, struct err *err)
{
	size_t n = 0;
	if (!(c->list = big_alloc(of->n_ids, sizeof *c->list, err)))
		return ERR_NOMEM;
	for (size_t i = 0; i < of->n_ids; i++)
		if (fits(c, of->ids[i]))
			c->list[n++] = of->ids[i];
	c->at = 0;
	c->end = n;
	return 0;
}

/* The only class whose instances count; HEAP_NONE: there are several, or none. */
static uint32_t only_class(const struct candidates *c)
{
	uint32_t class = HEAP_NONE;
	if (c->of->n_classes == 1)
		return c->of->classes[0];
	for (uint32_t i = 0; c->in.word && i < c->of->sql->heap->n_classes; i++) {
		if (!bits_get(&c->in, i))
			continue;
		if (class != HEAP_NONE)
			return HEAP_NONE;
		class = i;
	}
	return class;
}

static int begin(struct candidates *c, struct err *err)
{
	struct ordering *o = &c->order;
	struct sql *q = c->of->sql;
	uint32_t class = only_class(c), n = q->heap->n_objects;
	bool narrow = c->high - c->low == 1;
	if (c->of->ids)
		return gather_these(c, c->of, err);
	if (o->by == C_CLASS && class == HEAP_NONE)
		return gather_by_class(c, q, o->down, err);
	if (o->by == C_CLASS) { /* all are of one */
		o->down = false;
		o->by = C_ID;
	}
	bool by_size = o->by != C_ID;
	if (class != HEAP_NONE && !by_size && !o->down && !narrow)
		return gather_instances(c, q, class, o->limit, err);
	if (by_size || o->down) {
		bool down = o->down && !by_size;
		o->first_only = by_size && o->limit == UINT64_MAX;
		o->limit = down ? UINT64_MAX : o->first_only ? FIRST : o->limit;
		int code = gather(c, o, err);
		for (uint64_t i = 0, j = c->end; !code && down && i + 1 < j; i++) {
			uint32_t id = c->list[i];
			c->list[i] = c->list[--j];
			c->list[j] = id;
		}
		return code;
	}
	c->at = c->low;
	c->end = c->high < n ? c->high : n;
	return settle(c) ? err_cancelled(err) : 0;
}

int candidates_find(struct candidates *c, const struct sql_ask *ask)
{
	struct sql *q = c->of->sql;
	struct err err = ERR_INIT;
	bool some = true;
	int state = SQLITE_OK;
	candidates_release(c);
	c->order = (struct ordering){.sql = q, .by = C_ID, .limit = ask->limit};
	if (ask->n_orders && ask->order[0].column != C_ADDRESS)
		c->order.by = (enum objects_column)ask->order[0].column;
	c->order.down = ask->n_orders && ask->order[0].down;
	for (unsigned i = 0; i < ask->n && !state && some; i++) {
		const struct sql_bound *b = &ask->bound[i];
		int which = b->column == C_RETAINED;
		if (b->column == C_CLASS) {
			state = sql_classes_named(q, b->value, &c->in, &some);
		} else if (b->column == C_ID || b->column == C_ADDRESS) {
			some = bound_ids(c, q, b);
		} else {
			c->bounded[which] = true;
			some = bound(b->value, b->op, &c->least[which], &c->most[which]);
		}
	}
	if (!state && some && begin(c, &err))
		state = sql_keep(q, &err);
	return state;
}

/* All of them, as more than the first are asked for. */
static int find_rest(struct candidates *c)
{
	struct err err = ERR_INIT;
	uint64_t at = c->at;
	big_free(c->list);
	c->list = NULL;
	c->order.first_only = false;
	c->order.limit = UINT64_MAX;
	int code = gather(c, &c->order, &err);
	c->at = at;
	return code ? sql_keep(c->of->sql, &err) : SQLITE_OK;
}

int candidates_next(struct candidates *c)
{
	c->at++;
	if (c->order.first_only && c->at == FIRST)
		return find_rest(c);
	return settle(c);
}
