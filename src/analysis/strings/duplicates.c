/* SPDX-License-Identifier: GPL-3.0-or-later */
/* duplicates.c - Strings of the same text, and what they waste. */
#include "analysis/strings/strings.h"

#include "algorithms/bits.h"
#include "algorithms/hash.h"
#include "algorithms/parallel.h"
#include "algorithms/sort.h"
#include "analysis/describe/describe.h"
#include "analysis/search.h"
#include "analysis/strings/text_memo.h"
#include "base/amount.h"
#include "base/mem.h"
#include "heap/amounts.h"
#include "heap/places.h"
#include "memory/big.h"

#include <stdlib.h>

/* --- what one of several equal Strings takes ------------------------------------------------------ */

bool same_strings_read(struct equal_walk *w, uint32_t id, struct equal_content *out)
{
	struct string_view text;
	if (!inspect_text_along(w->heap, id, &w->text, &text))
		return false;
	*out = (struct equal_content){.bytes = text.bytes, .n = text.length * text.width, .array = text.array,
	    .with = text.width};
	return true;
}

static int by_array(const void *x, const void *y)
{
	const struct equal_print *a = x, *b = y;
	if (a->array != b->array)
		return a->array < b->array ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

int same_strings_each(const struct heap *h, const uint32_t *holders, struct equal_print *same, size_t n,
    int (*each)(void *context, const struct same_string *one, struct err *err), void *context, struct err *err)
{
	const struct equal_print kept = *same;
	bool ascend = true;
	int code = 0;
	for (size_t i = 1; i < n; i++)
		ascend &= by_array(&same[i - 1], &same[i]) < 0;
	if (!ascend)
		code = sort(same, n, sizeof *same, by_array, err);
	for (size_t at = 0, end; !code && at < n; at = end) {
		for (end = at + 1; end < n && same[end].array == same[at].array;)
			end++;
		uint32_t array = same[at].array, with = array == kept.array ? kept.id : same[at].id;
		bool own = array == same[at].id; /* the characters are the object itself */
		bool alone = !own && (holders ? holders[array] : adjacency_degree(&h->in, array)) == end - at;
		for (size_t i = at; !code && i < end; i++) {
			uint32_t id = same[i].id;
			struct same_string one = {.id = id, .array = array, .kept = id == kept.id, .first_of_array = i == at,
			    .with_array = alone && id == with};
			code = each(context, &one, err);
		}
	}
	return code;
}

/* --- groups ------------------------------------------------------------------------------------- */

struct finding {
	const struct heap *heap;
	uint8_t *texts;             /* by class: may its objects be texts? */
	uint32_t *holders;          /* by object: Strings that hold it as their array */
	const struct bits *firsts;  /* for their members: first Strings of groups, */
	struct bits *members;       /* and where these go */
	struct duplicates found[EQUAL_TASKS];
};

struct weighing {
	const struct heap *heap;
	struct same_strings group;
	uint64_t kept; /* bytes */
};

static int weigh(void *context, const struct same_string *one, struct err *err)
{
	struct weighing *w = context;
	struct same_strings *g = &w->group;
	struct amount size = heap_size(w->heap, one->id);
	(void)err;
	if (one->with_array)
		size = amount_add(size, heap_size(w->heap, one->array));
	g->first = one->id < g->first ? one->id : g->first;
	g->arrays.n += one->first_of_array;
	g->shallow = amount_add(g->shallow, size);
	w->kept += one->kept ? size.n : 0;
	return 0;
}

static int add_group(void *context, unsigned task, struct equal_print *same, size_t n, struct err *err)
{
	struct finding *f = context;
	struct duplicates *d = &f->found[task];
	const struct heap *h = f->heap;
	bool own = same->array == same->id; /* what is memory itself may be no text, or more than its text */
	struct weighing w = {h, {.first = UINT32_MAX, .count = heap_counted(h, n), .arrays = heap_counted(h, 0),
	    .shallow = heap_counted(h, 0)}, 0};
	int code = same_strings_each(h, f->holders, same, n, weigh, &w, err);
	struct same_strings *to = code ? NULL : BIG_PUSH(d->groups, d->n, d->cap, err);
	if (!to)
		return code ? code : ERR_NOMEM;
	*to = w.group;
	to->wasted = amount_weaken(to->shallow, own ? INFERRED : EXACT, REASON_BLOCK);
	to->wasted.n -= w.kept;
	return 0;
}

/* Counts who holds an array: references take long to read, and are not needed for anything else here. */
static bool read_string(struct equal_walk *w, uint32_t id, struct equal_content *out)
{
	const struct finding *f = w->context;
	if (!same_strings_read(w, id, out))
		return false;
	if (f->holders)
		__atomic_fetch_add(&f->holders[out->array], 1, __ATOMIC_RELAXED);
	return true;
}

static int mark_group(void *context, unsigned task, struct equal_print *same, size_t n, struct err *err)
{
	struct finding *f = context;
	struct bits_writer to = {.bits = 0};
	uint32_t first = same[0].id < same[1].id ? same[0].id : same[1].id;
	(void)task;
	(void)err;
	for (size_t i = 0; i < n && bits_get(f->firsts, first); i++)
		bits_gather(&to, &f->members->word[same[i].id >> 6], UINT64_C(1) << (same[i].id & 63));
	bits_flush(&to);
	return 0;
}

static int most_wasted(const void *x, const void *y)
{
	const struct same_strings *a = x, *b = y;
	if (a->wasted.n != b->wasted.n)
		return a->wasted.n > b->wasted.n ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

static int join(struct duplicates *out, const struct finding *f, struct err *err)
{
	size_t n = 0;
	for (unsigned t = 0; t < EQUAL_TASKS; t++)
		n += f->found[t].n;
	out->groups = big_alloc(n, sizeof *out->groups, err);
	if (!out->groups)
		return ERR_NOMEM;
	for (unsigned t = 0; t < EQUAL_TASKS; t++) {
		for (size_t i = 0; i < f->found[t].n; i++) {
			out->groups[out->n++] = f->found[t].groups[i];
			out->wasted = amount_add(out->wasted, f->found[t].groups[i].wasted);
		}
	}
	sort_array(out->groups, out->n, sizeof *out->groups, most_wasted);
	return 0;
}

/* Have `found` called with each group. */
static int find(struct finding *f, struct equal_objects *e, struct err *err)
{
	int code = inspect_texts_held(f->heap, err);
	if (code)
		return code;
	f->texts = big_alloc(f->heap->n_classes, sizeof *f->texts, err);
	f->holders = f->members || !f->texts ? NULL : big_alloc(f->heap->n_objects, sizeof *f->holders, err);
	if (!f->texts || (!f->members && !f->holders)) {
		big_free(f->texts);
		return ERR_NOMEM;
	}
	uint32_t *order = heap_record_order(f->heap);
	for (uint32_t c = 0; c < f->heap->n_classes; c++)
		f->texts[c] = inspect_text_class(f->heap, c) != TEXT_NEVER;
	*e = (struct equal_objects){.heap = f->heap, .order = order, .kind_of = f->texts, .kinds = 1U << 1,
	    .read = read_string, .source = f, .found = f->members ? mark_group : add_group, .context = f,
	    .reading = PHASE_READ_TEXTS, .comparing = PHASE_COMPARE_TEXTS};
	code = equal_objects_find(e, err);
	big_free(order);
	big_free(f->texts);
	big_free(f->holders);
	return code;
}

int duplicates_find(struct duplicates *out, const struct heap *h, struct err *err)
{
	struct finding *f = xcalloc(1, sizeof *f);
	struct equal_objects e;
	*out = (struct duplicates){ .groups = NULL };
	f->heap = h;
	int code = find(f, &e, err);
	if (!code) {
		out->strings = e.compared;
		out->distinct = e.different;
		code = join(out, f, err);
	}
	for (unsigned t = 0; t < EQUAL_TASKS; t++)
		big_free(f->found[t].groups);
	free(f);
	return code;
}

int duplicates_members(const struct duplicates *d, const struct heap *h, const struct bits *groups,
    struct bits *to, struct err *err)
{
	struct finding *f = xcalloc(1, sizeof *f);
	struct equal_objects e;
	struct bits firsts;
	int code = bits_init(&firsts, h->n_objects, err);
	for (size_t g = 0; !code && g < d->n; g++)
		if (bits_get(groups, g))
			bits_set(&firsts, d->groups[g].first);
	f->heap = h;
	f->firsts = &firsts;
	f->members = to;
	if (!code) {
		code = find(f, &e, err);
		bits_release(&firsts);
	}
	free(f);
	return code;
}

void duplicates_release(struct duplicates *d)
{
	big_free(d->groups);
	*d = (struct duplicates){ .groups = NULL };
}
