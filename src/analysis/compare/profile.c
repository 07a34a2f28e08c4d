/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile.c - see profile.h. */
#include "analysis/compare/profile.h"

#include "analysis/histogram.h"
#include "analysis/packages.h"
#include "base/big.h"
#include "base/hash.h"
#include "base/text.h"
#include "heap/amounts.h"
#include "heap/value.h"

#include <string.h>

struct making {
	struct profile *out;
	const struct retained *r;
	const struct heap *heap;
	struct progress *progress;
};

/* A table of at most n rows. */
static int table_new(struct profile_table *t, uint64_t n, struct err *err)
{
	t->row = big_alloc(n, sizeof *t->row, err);
	return t->row ? 0 : ERR_NOMEM;
}

static const char *keep(struct making *m, const char *s, size_t n, struct err *err)
{
	return arena_try_strndup(&m->out->arena, s, n, err);
}

/* --- classes, packages, loaders ----------------------------------------------------------------- */

/* A table by what classes have in common: the row of each class is known, the row's words are not copied. */
static int sum_classes(struct making *m, struct profile_table *t, struct err *err)
{
	const struct heap *h = m->heap;
	struct retained_sum *sums = big_alloc(t->n, sizeof *sums, err);
	if (!sums)
		return ERR_NOMEM;
	int code = retained_by_group(m->r, t->of_class, t->n, NULL, NULL, sums, m->progress, err);
	for (uint32_t i = 0; !code && i < t->n; i++) {
		t->row[i].objects = heap_counted(h, 0);
		t->row[i].shallow = heap_sized(h, heap_counted(h, 0), 0);
	}
	for (uint32_t c = 0; !code && c < h->n_classes; c++) {
		struct profile_row *row = &t->row[t->of_class[c]];
		row->objects = amount_add(row->objects, class_objects(h, &h->classes[c]));
		row->shallow = amount_add(row->shallow, class_shallow(h, &h->classes[c]));
	}
	for (uint32_t i = 0; !code && i < t->n; i++) {
		struct profile_row *row = &t->row[i];
		bool nothing = !sums[i].topmost && row->objects.n;
		row->retained = nothing ? retained_of_nothing_reached(m->r) : retained_sum_bytes(m->r, &sums[i]);
		row->words = keep(m, row->words, strlen(row->words), err);
		code = row->words ? 0 : ERR_NOMEM;
	}
	big_free(sums);
	return code;
}

static uint64_t hash_of_row(const void *all, uint32_t number)
{
	const char *words = ((const struct profile_row *)all)[number].words;
	return hash_bytes(words, strlen(words));
}

/* Classes with the same words share a row. */
static int group_classes(struct making *m, enum profile_by by, struct err *err)
{
	const struct heap *h = m->heap;
	struct profile_table *t = &m->out->by[by];
	struct packages packages = {.n = 0};
	struct text words = TEXT_INIT;
	uint32_t *slots = NULL, n_slots = 0;
	int code = table_new(t, h->n_classes, err);
	if (!code && !(t->of_class = big_alloc(h->n_classes, sizeof *t->of_class, err)))
		code = ERR_NOMEM;
	if (!code && by == PROFILE_PACKAGE)
		code = packages_make(&packages, h, err);
	for (uint32_t c = 0; !code && c < h->n_classes; c++) {
		const struct heap_class *class = &h->classes[c];
		text_clear(&words);
		if (by == PROFILE_CLASS)
			text_add(&words, class->name);
		else if (by == PROFILE_PACKAGE)
			text_add_n(&words, packages_of(&packages, c)->name, packages_of(&packages, c)->n);
		else
			text_add(&words, class->loader != HEAP_NONE ? heap_class_of(h, class->loader)->name :
			    class->loader_lost ? "<unknown>" : "<boot>");
		if (2 * t->n >= n_slots && hash_slots_grow(&slots, &n_slots, t->n, hash_of_row, t->row, err)) {
			code = ERR_NOMEM;
			break;
		}
		uint32_t at = (uint32_t)hash_bytes(words.s, words.len) & (n_slots - 1);
		while (slots[at] && strcmp(t->row[slots[at] - 1].words, words.s) != 0)
			at = (at + 1) & (n_slots - 1);
		if (!slots[at]) {
			const char *kept = keep(m, words.s, words.len, err);
			code = kept ? 0 : ERR_NOMEM;
			t->row[t->n] = (struct profile_row){.parent = PROFILE_NONE, .words = kept};
			slots[at] = ++t->n;
		}
		t->of_class[c] = slots[at] - 1;
	}
	if (by == PROFILE_PACKAGE)
		packages_release(&packages);
	text_release(&words);
	big_free(slots);
	return code ? code : sum_classes(m, t, err);
}

/* --- paths -------------------------------------------------------------------------------------- */

static int list_paths(struct making *m, const struct signatures *s, struct err *err)
{
	const struct heap *h = m->heap;
	struct profile_table *t = &m->out->by[PROFILE_PATH];
	struct signature_sum *sums = big_alloc(s->n, sizeof *sums, err);
	int code = sums ? table_new(t, s->n, err) : ERR_NOMEM;
	if (!code)
		code = signatures_sum(s, NULL, sums, m->progress, err);
	for (uint32_t i = 0; !code && i < s->n; i++) {
		const struct signature *from = &s->list[i];
		const char *class = from->class == HEAP_NONE ? NULL : h->classes[from->class].name;
		struct profile_row *row = &t->row[t->n++];
		*row = (struct profile_row){
			.parent = from->parent,
			.start = from->start,
			.words = keep(m, from->words, strlen(from->words), err),
			.class = class ? keep(m, class, strlen(class), err) : NULL,
			.chain = from->chain,
			.array = class && from->start != START_CLASS &&
			    h->classes[from->class].kind == CLASS_OBJECT_ARRAY,
			.objects = heap_reached(h, sums[i].n_objects),
			.shallow = heap_sized(h, heap_reached(h, sums[i].shallow), sums[i].n_unknown),
			.retained = retained_sum_bytes(m->r, &sums[i].retained),
		};
		code = row->words && (row->class || !class) ? 0 : ERR_NOMEM;
	}
	big_free(sums);
	return code;
}

/* --- threads ------------------------------------------------------------------------------------ */

/* Threads are the ways that begin at one. */
static int list_threads(struct making *m, struct err *err)
{
	const struct profile_table *paths = &m->out->by[PROFILE_PATH];
	struct profile_table *t = &m->out->by[PROFILE_THREAD];
	int code = table_new(t, paths->n, err);
	for (uint32_t i = 0; !code && i < paths->n; i++) {
		if (paths->row[i].parent != PROFILE_NONE || paths->row[i].start != START_THREAD)
			continue;
		t->row[t->n] = paths->row[i];
		t->row[t->n++].start = START_NOWHERE;
	}
	return code;
}

int profile_make(struct profile *out, const struct retained *r, const struct signatures *s, bool mat_sizes,
    struct progress *progress, struct err *err)
{
	const struct heap *h = r->heap;
	struct making m = {.out = out, .r = r, .heap = h, .progress = progress};
	*out = (struct profile){
		.word_bits = h->facts.word_bits,
		.mat_sizes = mat_sizes,
		.names_fields = values_held(h),
		.objects = heap_counted(h, h->n_objects),
		.shallow = heap_sized(h, heap_counted(h, h->shallow), h->n_unknown_size),
		.reachable = retained_of_all(r),
	};
	out->path = keep(&m, h->source->path, strlen(h->source->path), err);
	out->title = keep(&m, h->facts.title, strlen(h->facts.title), err);
	out->created = keep(&m, h->facts.created, strlen(h->facts.created), err);
	int code = out->path && out->title && out->created ? 0 : ERR_NOMEM;
	if (!code)
		code = group_classes(&m, PROFILE_CLASS, err);
	if (!code)
		code = group_classes(&m, PROFILE_PACKAGE, err);
	if (!code)
		code = group_classes(&m, PROFILE_LOADER, err);
	if (!code)
		code = list_paths(&m, s, err);
	if (!code)
		code = list_threads(&m, err);
	if (!code)
		code = progress_check(progress, err);
	if (code)
		profile_release(out);
	return code;
}

void profile_release(struct profile *p)
{
	for (unsigned by = 0; by < PROFILE_BYS; by++) {
		big_free(p->by[by].row);
		big_free(p->by[by].of_class);
	}
	arena_release(&p->arena);
	*p = (struct profile){.path = NULL};
}
