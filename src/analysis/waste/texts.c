/* SPDX-License-Identifier: GPL-3.0-or-later */
/* texts.c - Strings of one text, and those that keep two bytes for characters of one. */
#include "analysis/waste/work.h"

#include "analysis/describe/describe.h"
#include "analysis/strings/strings.h"
#include "base/progress.h"
#include "heap/classes.h"
#include "memory/big.h"

static int add_string(void *context, const struct same_string *one, struct err *err)
{
	struct waste_stretch *s = context;
	const struct heap *h = s->work->heap;
	uint64_t bytes = heap_shallow(h, one->id) + (one->with_array ? heap_shallow(h, one->array) : 0);
	return waste_add(s, WASTE_STRINGS, one->id, bytes, one->kept ? 0 : bytes, err);
}

static int add_same(struct waste_stretch *s, struct equal_print *same, size_t n, struct err *err)
{
	return same_strings_each(s->work->heap, NULL, same, n, add_string, s, err);
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
	static const struct waste_same same = {ROLE_STRING, WASTE_STRINGS, same_strings_read, add_same};
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
