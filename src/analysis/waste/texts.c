/* SPDX-License-Identifier: GPL-3.0-or-later */
/* texts.c - Strings of one text, and those that keep two bytes for characters of one. */
#include "analysis/waste/work.h"

#include "algorithms/sort.h"
#include "analysis/describe/describe.h"
#include "memory/big.h"

static bool bytes_of(struct waste_stretch *s, uint32_t id, const uint8_t **bytes, uint64_t *n, uint64_t *with,
    uint32_t *array)
{
	struct string_view text;
	if (!inspect_text_along(s->work->heap, id, &s->text, &text))
		return false;
	*bytes = text.bytes;
	*n = text.length * text.width;
	*with = text.width;
	*array = text.array;
	return true;
}

static int by_array(const void *x, const void *y)
{
	const struct waste_print *a = x, *b = y;
	if (a->array != b->array)
		return a->array < b->array ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

/* n Strings of one text that share an array: do they alone hold it? */
static bool hold_alone(const struct heap *h, const struct waste_print *sharing, size_t n)
{
	return adjacency_degree(&h->in, sharing->array) == n;
}

/* One String and its array stay; of arrays that several share each counts once, with the first of them.  One that
 * something else holds as well, a String of another part of it for instance, is not theirs to save. */
static int add_same(struct waste_stretch *s, const struct waste_print *same, size_t n, struct err *err)
{
	const struct heap *h = s->work->heap;
	const struct waste_print *stays = same;
	struct waste_print *sorted = big_alloc(n, sizeof *sorted, err);
	int code = sorted ? 0 : ERR_NOMEM;
	for (size_t i = 0; i < n && sorted; i++)
		sorted[i] = same[i];
	if (!code)
		code = sort(sorted, n, sizeof *sorted, by_array, err);
	for (size_t at = 0, end; !code && at < n; at = end) {
		for (end = at + 1; end < n && sorted[end].array == sorted[at].array;)
			end++;
		uint32_t with = sorted[at].array == stays->array ? stays->id : sorted[at].id;
		bool own = sorted[at].array == sorted[at].id; /* the characters are the object itself */
		uint64_t array = own ? 0 : hold_alone(h, &sorted[at], end - at) ? heap_shallow(h, sorted[at].array) : 0;
		for (size_t i = at; !code && i < end; i++) {
			uint32_t id = sorted[i].id;
			uint64_t bytes = heap_shallow(h, id) + (id == with ? array : 0);
			code = waste_add(s, WASTE_STRINGS, id, bytes, id == stays->id ? 0 : bytes, err);
		}
	}
	big_free(sorted);
	return code;
}

/* --- two bytes for one -------------------------------------------------------------------------- */

static bool fits_one_byte(const struct string_view *s)
{
	unsigned high = s->big_endian ? 0 : 1;
	for (uint64_t i = 0; i < s->length; i++)
		if (s->bytes[2 * i + high] || progress_own_stops(i + 1))
			return false;
	return s->length > 0;
}

/* A char[] has no narrower kind; what an array of bytes holds besides the text may be another String's. */
static bool fills_bytes(const struct heap *h, const struct string_view *text)
{
	return text->width == 2 && heap_class_of(h, text->array)->element_size == 1 &&
	    heap_length(h, text->array) == 2 * text->length && adjacency_degree(&h->in, text->array) == 1;
}

static int look(struct waste_stretch *s, uint32_t id, struct err *err)
{
	const struct heap *h = s->work->heap;
	struct string_view text;
	if (!inspect_text_along(h, id, &s->text, &text) || !fills_bytes(h, &text))
		return 0;
	uint64_t bytes = heap_shallow(h, text.array);
	uint64_t needed = heap_array_size(h, heap_class_of(h, text.array), text.length);
	if (heap_class_of(h, text.array)->element_size != 1) /* no VM keeps one byte a character in a char[] */
		return 0;
	if (needed == SIZE_UNKNOWN || needed >= bytes || !fits_one_byte(&text))
		return 0;
	return waste_add(s, WASTE_WIDE, id, heap_shallow(h, id) + bytes, bytes - needed, err);
}

/* An object is of one kind: equal ones are mended first. */
static void leave_equal_ones(struct waste_items *wide, const struct waste_items *equal)
{
	size_t n = 0, k = 0;
	for (size_t i = 0; i < wide->n; i++) {
		while (k < equal->n && equal->item[k].id < wide->item[i].id)
			k++;
		if (k == equal->n || equal->item[k].id != wide->item[i].id)
			wide->item[n++] = wide->item[i];
	}
	wide->n = n;
}

int waste_of_texts(struct waste_work *w, struct err *err)
{
	static const struct waste_same same = {1U << ROLE_STRING, WASTE_STRINGS, bytes_of, add_same};
	bool asked = w->wanted[WASTE_STRINGS];
	int code = w->wanted[WASTE_WIDE] ? waste_look(w, 1U << ROLE_STRING, look, NULL, err) : 0;
	w->wanted[WASTE_STRINGS] = asked || w->found[WASTE_WIDE].n;
	if (!code && w->wanted[WASTE_STRINGS])
		code = waste_find_same(w, &same, err);
	if (!code)
		leave_equal_ones(&w->found[WASTE_WIDE], &w->found[WASTE_STRINGS]);
	w->wanted[WASTE_STRINGS] = asked;
	return code;
}
