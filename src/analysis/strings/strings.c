/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * strings.c - finds the Strings whose text matches a pattern.
 */
#include "analysis/strings/strings.h"

#include "algorithms/parallel.h"
#include "algorithms/pattern.h"
#include "analysis/describe/describe.h"
#include "analysis/search.h"
#include "analysis/strings/text_memo.h"
#include "base/mem.h"
#include "heap/heap.h"
#include "heap/places.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum { STRINGS_A_TASK = 1 << 14, TASKS_A_ROUND = 64 };

void string_list_release(struct string_list *l)
{
	big_free(l->ids);
	*l = (struct string_list){ .ids = NULL };
}

struct matching {
	const struct heap *heap;
	uint32_t *ids; /* of all that may match, n of them */
	size_t n;
	unsigned first_task;
	const char *regex; /* "": anything that has a text */
	bool any_case;
	bool plain; /* no character of it is special: it is looked for as it is */
};

static bool matches(const struct matching *m, struct pattern *regex, const struct text *text)
{
	if (m->plain)
		return strstr(text->s, m->regex) != NULL;
	return pattern_matches(regex, text->s);
}

/* Objects that may be texts; *each: all of them count, even one without characters. */
static uint32_t *candidates(const struct heap *h, size_t *n, bool *each, struct err *err)
{
	uint32_t *classes = big_alloc((uint64_t)h->n_classes + 1, sizeof *classes, err);
	size_t n_classes = 0;
	if (!classes)
		return NULL;
	*each = true;
	for (uint32_t c = 0; c < h->n_classes; c++) {
		enum text_class texts = inspect_text_class(h, c);
		if (texts != TEXT_NEVER)
			classes[n_classes++] = c;
		*each &= texts != TEXT_SOME;
	}
	uint32_t *ids = objects_of_classes(h, classes, n_classes, n, err);
	big_free(classes);
	return ids;
}

/* Of n ids keep those whose text matches, *kept of them, at the beginning. */
static int keep_matching(const struct matching *m, struct pattern *regex, uint32_t *ids, size_t n,
    size_t *kept, struct err *err)
{
	struct text text = TEXT_INIT;
	struct string_walk walk = { .string = { 0 } };
	struct text_memo memo = { .units = 0 };
	int code = 0;
	*kept = 0;
	for (size_t i = 0; i < n; i++) {
		struct string_view s;
		uint64_t found;
		if (!inspect_text_along(m->heap, ids[i], &walk, &s))
			continue;
		if (!text_memo_knows(&memo, &s, &found)) {
			if (text_memo_stops(&memo, &s)) {
				code = err_cancelled(err);
				break;
			}
			text_clear(&text);
			string_add(&s, 0, UINT64_MAX, &text);
			found = matches(m, regex, &text);
			text_memo_keep(&memo, &s, found);
		}
		if (found)
			ids[(*kept)++] = ids[i];
	}
	text_release(&text);
	return code;
}

/* Keep what matches of one stretch, at its beginning; what is behind becomes HEAP_NONE. */
static int match_stretch(void *context, unsigned task, struct err *err)
{
	const struct matching *m = context;
	size_t begin = (size_t)(m->first_task + task) * STRINGS_A_TASK;
	size_t n = m->n - begin < STRINGS_A_TASK ? m->n - begin : STRINGS_A_TASK;
	uint32_t *ids = m->ids + begin;
	size_t kept;
	struct pattern *regex = NULL; /* a task has its own: matching writes in it */
	int code = m->plain ? 0 : pattern_compile(&regex, m->regex, m->any_case, err);
	if (code)
		return code;
	code = keep_matching(m, regex, ids, n, &kept, err);
	progress_add(progress_own(), n);
	memset(ids + kept, 0xff, (n - kept) * sizeof *ids);
	pattern_free(regex);
	return code;
}

/* In rounds, the first ones small: what they found is reported before the next one.  *kept ids stand in front then. */
static int match_all(struct matching *m, size_t *kept, const struct string_watcher *told, struct err *err)
{
	unsigned tasks = (unsigned)((m->n + STRINGS_A_TASK - 1) / STRINGS_A_TASK), round = parallel_threads();
	int code = 0;
	*kept = 0;
	for (; !code && m->first_task < tasks; m->first_task += round, round *= round < TASKS_A_ROUND ? 2 : 1) {
		if (!told || round > tasks - m->first_task)
			round = tasks - m->first_task;
		code = parallel_run(0, round, match_stretch, m, err);
		size_t begin = (size_t)m->first_task * STRINGS_A_TASK, end = begin + (size_t)round * STRINGS_A_TASK;
		for (size_t i = begin; i < m->n && i < end; i++) {
			if (m->ids[i] != HEAP_NONE)
				m->ids[(*kept)++] = m->ids[i];
		}
		if (told && !code)
			told->found(told->context, m->ids, *kept);
	}
	return code;
}

int strings_matching(struct string_list *out, const struct heap *h, const char *regex, bool any_case,
    const struct string_watcher *told, struct err *err)
{
	*out = (struct string_list){ .ids = NULL };
	bool each;
	int code = inspect_texts_held(h, err);
	if (code)
		return code;
	out->ids = candidates(h, &out->n, &each, err);
	if (!out->ids)
		return ERR_NOMEM;
	out->cap = out->n;
	if ((!regex || !*regex) && each)
		return 0;
	regex = regex ? regex : "";
	struct matching m = { .heap = h, .ids = out->ids, .n = out->n, .regex = regex, .any_case = any_case,
		.plain = !any_case && !strpbrk(regex, "\\^$.|?*+()[]{}") };
	progress_phase(progress_own(), PHASE_READ_TEXTS, out->n);
	if (!told) /* what it is told first comes first */
		code = heap_sort_by_record(h, m.ids, m.n, err);
	code = code ? code : match_all(&m, &out->n, told, err);
	if (!told && !code)
		code = heap_sort_by_id(h, out->ids, out->n, err);
	if (code)
		string_list_release(out);
	return code;
}
