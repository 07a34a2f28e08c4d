/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile.c - see profile.h. */
#include "analysis/compare/profile.h"

#include "analysis/histogram.h"
#include "analysis/packages.h"
#include "base/big.h"
#include "base/hash.h"
#include "base/text.h"
#include "heap/amounts.h"
#include "heap/sites.h"
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

/* --- rows that are told apart by their words ---------------------------------------------------- */

struct naming {
	struct making *m;
	struct profile_table *table; /* with room for all rows */
	uint32_t *slots, n_slots;
	struct text words;           /* of the row asked for */
};

static uint64_t hash_of_row(const void *all, uint32_t number)
{
	const char *words = ((const struct profile_row *)all)[number].words;
	return hash_bytes(words, strlen(words));
}

/* The row with n->words. */
static int row_named(struct naming *n, uint32_t *row, struct err *err)
{
	struct profile_table *t = n->table;
	if (2 * t->n >= n->n_slots && hash_slots_grow(&n->slots, &n->n_slots, t->n, hash_of_row, t->row, err))
		return ERR_NOMEM;
	uint32_t at = (uint32_t)hash_bytes(n->words.s, n->words.len) & (n->n_slots - 1);
	while (n->slots[at] && strcmp(t->row[n->slots[at] - 1].words, n->words.s) != 0)
		at = (at + 1) & (n->n_slots - 1);
	if (!n->slots[at]) {
		const char *kept = keep(n->m, n->words.s, n->words.len, err);
		if (!kept)
			return ERR_NOMEM;
		t->row[t->n] = (struct profile_row){.parent = PROFILE_NONE, .words = kept};
		n->slots[at] = ++t->n;
	}
	*row = n->slots[at] - 1;
	return 0;
}

static void naming_release(struct naming *n)
{
	big_free(n->slots);
	text_release(&n->words);
}

/* A table of at most n rows, and n places for the rows of what they are made of. */
static int naming_begin(struct naming *n, struct making *m, enum profile_by by, uint32_t **of, uint64_t count,
    struct err *err)
{
	*n = (struct naming){.m = m, .table = &m->out->by[by], .words = TEXT_INIT};
	int code = table_new(n->table, count, err);
	*of = code ? NULL : big_alloc(count, sizeof **of, err);
	return *of ? 0 : ERR_NOMEM;
}

static void add_loader(struct text *to, const struct heap *h, const struct heap_class *class)
{
	text_add(to, class->loader != HEAP_NONE ? heap_class_of(h, class->loader)->name :
	    class->loader_lost ? "<unknown>" : "<boot>");
}

/* Classes with the same words share a row. */
static int group_classes(struct making *m, enum profile_by by, struct err *err)
{
	const struct heap *h = m->heap;
	struct profile_table *t = &m->out->by[by];
	struct packages packages = {.n = 0};
	struct naming n;
	int code = naming_begin(&n, m, by, &t->of_class, h->n_classes, err);
	if (!code && by == PROFILE_PACKAGE)
		code = packages_make(&packages, h, err);
	for (uint32_t c = 0; !code && c < h->n_classes; c++) {
		text_clear(&n.words);
		if (by == PROFILE_CLASS)
			text_add(&n.words, h->classes[c].name);
		else if (by == PROFILE_PACKAGE)
			text_add_n(&n.words, packages_of(&packages, c)->name, packages_of(&packages, c)->n);
		else
			add_loader(&n.words, h, &h->classes[c]);
		code = row_named(&n, &t->of_class[c], err);
	}
	if (by == PROFILE_PACKAGE)
		packages_release(&packages);
	naming_release(&n);
	return code ? code : sum_classes(m, t, err);
}

/* --- fields and sites --------------------------------------------------------------------------- */

/* A table whose rows are known by object: group[id], PROFILE_NONE for those that it does not count. */
static int sum_objects(struct making *m, struct profile_table *t, const uint32_t *group, struct err *err)
{
	const struct heap *h = m->heap;
	struct signature_sum *sums = big_alloc(t->n, sizeof *sums, err);
	int code = sums ? signature_sums(m->r, group, t->n, sums, m->progress, err) : ERR_NOMEM;
	for (uint32_t i = 0; !code && i < t->n; i++) {
		struct profile_row *row = &t->row[i];
		row->objects = heap_reached(h, sums[i].n_objects);
		row->shallow = heap_sized(h, heap_reached(h, sums[i].shallow), sums[i].n_unknown);
		row->retained = retained_sum_bytes(m->r, &sums[i].retained);
	}
	big_free(sums);
	return code;
}

static void add_field(struct text *to, const struct heap *h, const struct signatures *s, const struct signature *at)
{
	const struct signature *holder = at->parent == SIGNATURE_NONE ? NULL : &s->list[at->parent];
	if (!holder || holder->class == HEAP_NONE) {
		text_add(to, holder ? "…" : at->start == START_CLASS ? "<class>" : at->start == START_LOADER ? "<loader>" :
		    at->start == START_THREAD ? "<thread>" : at->words);
		return;
	}
	const char *element = at->words[0] == '[' ? "" : ".";
	text_addf(to, "%s%s%s", h->classes[holder->class].name, element, *at->words ? at->words : "?");
}

static int group_fields(struct making *m, const struct signatures *s, struct err *err)
{
	struct profile_table *t = &m->out->by[PROFILE_FIELD];
	struct naming n;
	int code = naming_begin(&n, m, PROFILE_FIELD, &t->of_signature, s->n, err);
	for (uint32_t i = 0; !code && i < s->n; i++) {
		text_clear(&n.words);
		add_field(&n.words, m->heap, s, &s->list[i]);
		code = row_named(&n, &t->of_signature[i], err);
	}
	naming_release(&n);
	uint32_t *group = code ? NULL : big_alloc(m->heap->n_objects, sizeof *group, err);
	for (uint32_t id = 0; group && id < m->heap->n_objects; id++)
		group[id] = s->of[id] == SIGNATURE_NONE ? PROFILE_NONE : t->of_signature[s->of[id]];
	if (!code)
		code = group ? sum_objects(m, t, group, err) : ERR_NOMEM;
	big_free(group);
	return code;
}

/* "main.visit < main.serve", without the places in files, which a new build moves. */
static void add_stack(struct text *to, const struct heap_site *site)
{
	for (uint32_t i = 0; i < site->n_frames; i++)
		text_addf(to, "%s%.*s", i ? " < " : "", (int)strcspn(site->frames[i], " "), site->frames[i]);
	if (!site->n_frames)
		text_add(to, "no stack");
}

static int group_sites(struct making *m, struct err *err)
{
	const struct heap_sites *sites = m->heap->sites;
	struct profile_table *t = &m->out->by[PROFILE_SITE];
	struct naming n;
	int code = naming_begin(&n, m, PROFILE_SITE, &t->of_site, sites ? sites->n : 0, err);
	for (uint32_t i = 0; !code && sites && i < sites->n; i++) {
		text_clear(&n.words);
		add_stack(&n.words, &sites->site[i]);
		code = row_named(&n, &t->of_site[i], err);
	}
	naming_release(&n);
	uint32_t *group = code || !sites ? NULL : big_alloc(m->heap->n_objects, sizeof *group, err);
	if (code || !sites)
		return code;
	if (!group)
		return ERR_NOMEM;
	memset(group, 0xff, m->heap->n_objects * sizeof *group);
	for (size_t i = 0; i < sites->n_samples; i++)
		group[sites->sample[i].object] = t->of_site[sites->sample[i].site];
	code = sum_objects(m, t, group, err);
	big_free(group);
	return code;
}

/* --- paths -------------------------------------------------------------------------------------- */

static int list_paths(struct making *m, const struct signatures *s, struct err *err)
{
	const struct heap *h = m->heap;
	struct profile_table *t = &m->out->by[PROFILE_PATH];
	struct signature_sum *sums = big_alloc(s->n, sizeof *sums, err);
	int code = sums ? table_new(t, s->n, err) : ERR_NOMEM;
	if (!code && !(t->of_signature = big_alloc(s->n, sizeof *t->of_signature, err)))
		code = ERR_NOMEM;
	if (!code)
		code = signatures_sum(s, NULL, sums, m->progress, err);
	for (uint32_t i = 0; !code && i < s->n; i++) {
		const struct signature *from = &s->list[i];
		const char *class = from->class == HEAP_NONE ? NULL : h->classes[from->class].name;
		struct profile_row *row = &t->row[t->n++];
		t->of_signature[i] = i;
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
	if (!code && !(t->of_signature = big_alloc(paths->n, sizeof *t->of_signature, err)))
		code = ERR_NOMEM;
	for (uint32_t i = 0; !code && i < paths->n; i++) {
		t->of_signature[i] = PROFILE_NONE;
		if (paths->row[i].parent != PROFILE_NONE || paths->row[i].start != START_THREAD)
			continue;
		t->of_signature[i] = t->n;
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
		code = group_fields(&m, s, err);
	if (!code)
		code = group_sites(&m, err);
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
		big_free(p->by[by].of_signature);
		big_free(p->by[by].of_site);
	}
	arena_release(&p->arena);
	*p = (struct profile){.path = NULL};
}
