/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * values.c - finds objects by the words that a column of values shows for them: dates, UUIDs, big numbers, boxes.
 *
 * Whether the words can match is decided by class: a class has an alphabet, and a text that matches has all the
 * characters that the expression cannot do without.  Only objects of classes that are left are described.
 */
#include "analysis/strings/strings.h"

#include "algorithms/parallel.h"
#include "algorithms/pattern.h"
#include "analysis/describe/describe.h"
#include "analysis/search.h"
#include "heap/heap.h"
#include "heap/places.h"
#include "memory/big.h"

#include <string.h>

enum { VALUES_A_TASK = 1 << 12 };

struct value_search {
	const struct heap *heap;
	uint32_t *ids; /* of all that may match, n of them */
	size_t n;
	const char *regex;
	bool any_case;
	bool number;
};

/* Append the characters that each text has which matches.  Where an expression has alternatives, groups or escapes,
 * none is known; letters count only where their case does. */
static void add_needed(const char *regex, bool any_case, struct text *to)
{
	text_add(to, "");
	if (strpbrk(regex, "|([{\\"))
		return;
	for (const char *c = regex; *c; c++) {
		bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
		if (*c > 0 && !strchr(".^$+*?)]}", *c) && c[1] != '*' && c[1] != '?' && !(any_case && letter))
			text_add_char(to, *c);
	}
}

/* The number of a text without zeros at the end of its fraction. */
static size_t significant(const char *number)
{
	size_t n = strlen(number);
	if (!strchr(number, '.') || strpbrk(number, "eE"))
		return n;
	while (number[n - 1] == '0')
		n--;
	return n - (number[n - 1] == '.');
}

static bool same_number(const char *a, const char *b)
{
	a += *a == '+';
	size_t n = significant(a);
	return n == significant(b) && !memcmp(a, b, n);
}

static uint32_t *candidates(const struct value_search *v, size_t *n, struct err *err)
{
	const struct heap *h = v->heap;
	uint32_t *classes = big_alloc((uint64_t)h->n_classes + 1, sizeof *classes, err), *ids = NULL;
	size_t n_classes = 0;
	struct text needed = TEXT_INIT;
	add_needed(v->regex, v->any_case, &needed);
	for (uint32_t c = 0; classes && c < h->n_classes && !progress_own_stops(c); c++) {
		if (h->classes[c].n_objects &&
		    (v->number ? describe_is_number(h, c) : describe_may_say(h, c, needed.s)))
			classes[n_classes++] = c;
	}
	*n = 0;
	if (classes)
		ids = n_classes ? objects_of_classes(h, classes, n_classes, n, err) : big_alloc(1, sizeof *ids, err);
	big_free(classes);
	text_release(&needed);
	return ids;
}

/* Keep what matches of one stretch, at its beginning; the rest of it becomes HEAP_NONE. */
static int match_stretch(void *context, unsigned task, struct err *err)
{
	const struct value_search *v = context;
	size_t begin = (size_t)task * VALUES_A_TASK, kept = 0;
	size_t n = v->n - begin < VALUES_A_TASK ? v->n - begin : VALUES_A_TASK;
	uint32_t *ids = v->ids + begin;
	struct text words = TEXT_INIT;
	struct pattern *regex = NULL; /* a task has its own: matching writes in it */
	int code = v->number ? 0 : pattern_compile(&regex, v->regex, v->any_case, err);
	for (size_t i = 0; !code && i < n && !progress_own_stops(i); i++) {
		text_clear(&words);
		if (describe_object(v->heap, ids[i], DESCRIBE_SHORT, &words) &&
		    (v->number ? same_number(v->regex, words.s) : pattern_matches(regex, words.s)))
			ids[kept++] = ids[i];
	}
	memset(ids + kept, 0xff, (n - kept) * sizeof *ids);
	if (!code && !progress_add(progress_own(), n))
		code = err_cancelled(err);
	pattern_free(regex);
	text_release(&words);
	return code;
}

int values_matching(struct string_list *out, const struct heap *h, const char *regex, bool any_case, bool number,
    struct err *err)
{
	struct value_search v = { .heap = h, .regex = regex, .any_case = any_case, .number = number };
	*out = (struct string_list){ .ids = NULL };
	if (!inspect_declares_fields(h))
		return 0;
	if (!(v.ids = candidates(&v, &v.n, err)))
		return ERR_NOMEM;
	progress_phase(progress_own(), PHASE_READ_VALUES, v.n);
	int code = heap_sort_by_record(h, v.ids, v.n, err);
	if (!code)
		code = parallel_run(0, (unsigned)((v.n + VALUES_A_TASK - 1) / VALUES_A_TASK), match_stretch, &v, err);
	out->ids = v.ids;
	out->cap = v.n;
	for (size_t i = 0; !code && i < v.n; i++)
		if (v.ids[i] != HEAP_NONE)
			out->ids[out->n++] = v.ids[i];
	code = code ? code : heap_sort_by_id(h, out->ids, out->n, err);
	if (code)
		string_list_release(out);
	return code;
}
