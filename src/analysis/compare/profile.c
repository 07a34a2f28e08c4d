/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile.c - see profile.h. */
#include "analysis/compare/profile.h"

#include "algorithms/map.h"
#include "algorithms/string_intern.h"
#include "analysis/describe/describe.h"
#include "analysis/packages.h"
#include "base/text.h"
#include "dump/source/source.h"
#include "heap/amounts.h"
#include "heap/sites.h"
#include "heap/value.h"
#include "memory/big.h"

#include <string.h>

struct making {
	struct profile *out;
	const struct retained *r;
	const struct heap *heap;
	struct progress *progress;
	/* What is kept of a class's name, by the name's rank: any number of classes may share one, as long as the
	 * dump, so no name is looked at twice. */
	const char **by_rank;
	const char **by_number; /* likewise of the words of signatures */
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

/* The kept name of a class; NULL: ERR_NOMEM. */
static const char *keep_class(struct making *m, uint32_t class, struct err *err)
{
	const struct heap_class *c = &m->heap->classes[class];
	const char **kept = &m->by_rank[c->name_rank];
	if (!*kept)
		*kept = keep(m, c->name, strlen(c->name), err);
	return *kept;
}

/* --- classes, packages, loaders ----------------------------------------------------------------- */

/* Classes with the same rank of some kind share a row: that of their name, package, or loader's class. */
static int group_classes(struct making *m, enum profile_by by, struct err *err)
{
	const struct heap *h = m->heap;
	struct profile_table *t = &m->out->by[by];
	struct packages packages = {.n = 0};
	uint32_t lost = h->n_classes, boot = lost + 1; /* the rank of no class's name */
	uint32_t *row = big_alloc((uint64_t)h->n_classes + 2, sizeof *row, err); /* by rank, + 1 */
	int code = row ? table_new(t, (uint64_t)h->n_classes + 2, err) : ERR_NOMEM;
	if (!code && !(t->of_class = big_alloc(h->n_classes, sizeof *t->of_class, err)))
		code = ERR_NOMEM;
	if (!code && by == PROFILE_PACKAGE)
		code = packages_make(&packages, h, err);
	for (uint32_t c = 0; !code && c < h->n_classes; c++) {
		const struct heap_class *class = &h->classes[c];
		const struct package *package = by == PROFILE_PACKAGE ? packages_of(&packages, c) : NULL;
		uint32_t like = by == PROFILE_LOADER && class->loader != HEAP_NONE ?
		    heap_class_index(h, class->loader) : c;
		uint32_t rank = by == PROFILE_PACKAGE ? package->rank : by == PROFILE_CLASS || class->loader != HEAP_NONE ?
		    h->classes[like].name_rank : class->loader_lost ? lost : boot;
		if (!row[rank]) {
			const char *words = package ? keep(m, package->name, package->n, err) : rank == lost ? "<unknown>" :
			    rank == boot ? "<boot>" : keep_class(m, like, err);
			if (!words)
				code = ERR_NOMEM;
			t->row[t->n] = (struct profile_row){.parent = PROFILE_NONE, .words = words};
			row[rank] = ++t->n;
		}
		t->of_class[c] = row[rank] - 1;
	}
	if (by == PROFILE_PACKAGE)
		packages_release(&packages);
	big_free(row);
	return code;
}

/* --- fields and sites --------------------------------------------------------------------------- */

/* The kept name of a signature's last step: by its number, kept once. */
static const char *keep_words(struct making *m, const struct path_key *at, struct err *err)
{
	const char **kept = &m->by_number[at->field];
	if (!*kept)
		*kept = keep(m, at->words, strlen(at->words), err);
	return *kept;
}

static uint64_t hash_row(const struct profile_row *row)
{
	return hash_step(hash_number((uintptr_t)row->class), (uintptr_t)row->words);
}

static bool same_row(const struct profile_row *a, const struct profile_row *b)
{
	return a->class == b->class && a->words == b->words;
}

MAP(rows, const struct profile_row *, const struct profile_row *, map_element, hash_row, same_row)

struct finding {
	struct profile_table *table;
	struct map map;
};

/* The row with this class and these words, both of them kept. */
static int find_row(struct finding *f, const char *class, const char *words, uint32_t *row, struct err *err)
{
	struct profile_table *t = f->table;
	struct profile_row like = {.parent = PROFILE_NONE, .class = class, .words = words};
	uint32_t *slot = rows_enter(&f->map, t->row, t->n, &like, err);
	if (!slot)
		return ERR_NOMEM;
	if (!*slot) {
		t->row[t->n] = like;
		*slot = ++t->n;
	}
	*row = *slot - 1;
	return 0;
}

/* Those that begin have no field: they count by how they begin. */
static int name_field(struct making *m, const struct path_keys *s, const struct path_key *at, const char **class,
    const char **words, struct err *err)
{
	static const char *const starts[] = {[START_CLASS] = "<class>", [START_LOADER] = "<loader>",
	    [START_THREAD] = "<thread>", [START_LOCAL] = "<local>", [START_ROOT] = "<root>"};
	const struct path_key *holder = at->parent == PATH_KEY_NONE ? NULL : &s->list[at->parent];
	bool named = holder && holder->class != HEAP_NONE;
	*class = named ? keep_class(m, holder->class, err) : NULL;
	*words = !holder && at->start != START_VARIABLE ? starts[at->start] : keep_words(m, at, err);
	return *words && (*class || !named) ? 0 : ERR_NOMEM;
}

static int group_fields(struct making *m, const struct path_keys *s, struct err *err)
{
	struct profile_table *t = &m->out->by[PROFILE_FIELD];
	struct finding f = {.table = t};
	const char *class, *words;
	int code = table_new(t, s->n, err);
	if (!code && !(t->of_signature = big_alloc(s->n, sizeof *t->of_signature, err)))
		code = ERR_NOMEM;
	for (uint32_t i = 0; !code && i < s->n; i++) {
		code = name_field(m, s, &s->list[i], &class, &words, err);
		if (!code)
			code = find_row(&f, class, words, &t->of_signature[i], err);
	}
	map_release(&f.map);
	return code;
}

/* A table whose rows are known by object: group[id], PROFILE_NONE for those that it does not count. */
static int sum_objects(struct making *m, struct profile_table *t, const uint32_t *group, struct err *err)
{
	const struct heap *h = m->heap;
	struct path_key_sum *sums = big_alloc(t->n, sizeof *sums, err);
	int code = sums ? path_key_sums(m->r, group, t->n, sums, m->progress, err) : ERR_NOMEM;
	for (uint32_t i = 0; !code && i < t->n; i++) {
		struct profile_row *row = &t->row[i];
		row->objects = heap_reached(h, sums[i].n_objects);
		row->shallow = heap_sized(h, heap_reached(h, sums[i].shallow), sums[i].doubts, sums[i].n_unknown);
		row->retained = retained_sum_bytes(m->r, &sums[i].retained);
	}
	big_free(sums);
	return code;
}

/* "main.visit < main.serve", without the places in files, which a new build moves. */
static void add_stack(struct text *to, const struct heap_site *site)
{
	enum { FRAMES = 12, BYTES = 200 }; /* sites may share frames, so all of it would be too much */
	for (uint32_t i = 0; i < site->n_frames && i < FRAMES; i++) {
		size_t n = strcspn(site->frames[i], " ");
		text_addf(to, "%s%.*s", i ? " < " : "", (int)(n < BYTES ? n : BYTES), site->frames[i]);
	}
	if (!site->n_frames)
		text_add(to, "no stack");
}

/* Sites with the same words share a row. */
static int list_sites(struct making *m, struct profile_table *t, const struct heap_sites *sites, struct err *err)
{
	struct string_intern book = {.n = 0};
	struct text words = TEXT_INIT;
	int code = 0;
	for (uint32_t i = 0; !code && i < sites->n; i++) {
		text_clear(&words);
		add_stack(&words, &sites->site[i]);
		code = string_intern_number(&book, words.s, false, &t->of_site[i], err);
	}
	for (; !code && t->n < book.n; t->n++) {
		const char *kept = keep(m, book.word[t->n], strlen(book.word[t->n]), err);
		t->row[t->n] = (struct profile_row){.parent = PROFILE_NONE, .words = kept};
		code = kept ? 0 : ERR_NOMEM;
	}
	text_release(&words);
	string_intern_release(&book);
	return code;
}

static int group_sites(struct making *m, struct err *err)
{
	const struct heap_sites *sites = m->heap->sites;
	struct profile_table *t = &m->out->by[PROFILE_SITE];
	if (!sites)
		return 0;
	int code = table_new(t, sites->n, err);
	if (!code && !(t->of_site = big_alloc(sites->n, sizeof *t->of_site, err)))
		code = ERR_NOMEM;
	if (!code)
		code = list_sites(m, t, sites, err);
	uint32_t *group = code ? NULL : big_alloc(m->heap->n_objects, sizeof *group, err);
	if (!group)
		return code ? code : ERR_NOMEM;
	memset(group, 0xff, m->heap->n_objects * sizeof *group);
	for (size_t i = 0; i < sites->n_samples; i++)
		group[sites->sample[i].object] = t->of_site[sites->sample[i].site];
	code = sum_objects(m, t, group, err);
	big_free(group);
	return code;
}

/* --- paths -------------------------------------------------------------------------------------- */

static int list_paths(struct making *m, const struct path_keys *s, struct err *err)
{
	const struct heap *h = m->heap;
	struct profile_table *t = &m->out->by[PROFILE_PATH];
	int code = table_new(t, s->n, err);
	if (!code && !(t->of_signature = big_alloc(s->n, sizeof *t->of_signature, err)))
		code = ERR_NOMEM;
	for (uint32_t i = 0; !code && i < s->n; i++) {
		const struct path_key *from = &s->list[i];
		bool classed = from->class != HEAP_NONE;
		struct profile_row *row = &t->row[t->n++];
		t->of_signature[i] = i;
		*row = (struct profile_row){
			.parent = from->parent,
			.start = from->start,
			.words = keep_words(m, from, err),
			.class = classed ? keep_class(m, from->class, err) : NULL,
			.chain = from->chain,
			.array = classed && from->start != START_CLASS &&
			    h->classes[from->class].kind == CLASS_OBJECT_ARRAY,
		};
		code = row->words && (row->class || !classed) ? 0 : ERR_NOMEM;
	}
	return code;
}

/* --- sums --------------------------------------------------------------------------------------- */

/* A table by what classes have in common: the row of each class is known. */
static void tell_classes(struct making *m, struct profile_table *t, const struct retained_sum *sums)
{
	const struct heap *h = m->heap;
	for (uint32_t i = 0; i < t->n; i++) {
		t->row[i].objects = t->row[i].shallow = heap_counted(h, 0);
	}
	for (uint32_t c = 0; c < h->n_classes; c++) {
		struct profile_row *row = &t->row[t->of_class[c]];
		row->objects = amount_add(row->objects, class_objects(h, &h->classes[c]));
		row->shallow = amount_add(row->shallow, class_shallow(h, &h->classes[c]));
	}
	for (uint32_t i = 0; i < t->n; i++) {
		struct profile_row *row = &t->row[i];
		bool nothing = !sums[i].topmost && row->objects.n;
		row->retained = nothing ? retained_of_nothing_reached(m->r) : retained_sum_bytes(m->r, &sums[i]);
	}
}

/* A table of objects that roots reach; counts without what they retain. */
static void tell_reached(struct making *m, struct profile_table *t, const struct path_key_sum *counts,
    const struct retained_sum *sums)
{
	const struct heap *h = m->heap;
	for (uint32_t i = 0; i < t->n; i++) {
		struct profile_row *row = &t->row[i];
		row->objects = heap_reached(h, counts[i].n_objects);
		row->shallow = heap_sized(h, heap_reached(h, counts[i].shallow), counts[i].doubts, counts[i].n_unknown);
		row->retained = retained_sum_bytes(m->r, &sums[i]);
	}
}

/* What fields hold is what paths that end with them hold: but for what is retained. */
static int count_fields(struct making *m, const struct path_key_sum *paths, struct path_key_sum **out,
    struct err *err)
{
	const struct profile_table *t = &m->out->by[PROFILE_FIELD];
	if (!(*out = big_alloc(t->n, sizeof **out, err)))
		return ERR_NOMEM;
	for (uint32_t i = 0; i < m->out->by[PROFILE_PATH].n; i++) {
		struct path_key_sum *to = &(*out)[t->of_signature[i]];
		to->n_objects += paths[i].n_objects;
		to->n_unknown += paths[i].n_unknown;
		to->shallow += paths[i].shallow;
		to->doubts |= paths[i].doubts;
	}
	return 0;
}

/* Fill in the numbers of these tables. */
static int sum_tables(struct making *m, const struct path_keys *s, struct err *err)
{
	static const enum profile_by tables[] = {PROFILE_CLASS, PROFILE_PACKAGE, PROFILE_LOADER, PROFILE_PATH,
	    PROFILE_FIELD};
	enum { TABLES = sizeof tables / sizeof *tables };
	struct retained_grouping groupings[TABLES];
	struct path_key_sum *paths = big_alloc(s->n, sizeof *paths, err), *fields = NULL;
	int code = paths ? path_key_counts(m->heap, s->of, s->n, paths, m->progress, err) : ERR_NOMEM;
	if (!code)
		code = count_fields(m, paths, &fields, err);
	for (unsigned i = 0; i < TABLES; i++) {
		const struct profile_table *t = &m->out->by[tables[i]];
		groupings[i] = (struct retained_grouping){.of_object = t->of_class ? NULL : s->of, .n_groups = t->n,
		    .group = t->of_class ? t->of_class : t->of_signature};
		groupings[i].sums = big_alloc(t->n, sizeof *groupings[i].sums, err);
		if (!groupings[i].sums)
			code = ERR_NOMEM;
	}
	if (!code)
		code = retained_by_groupings(m->r, groupings, TABLES, m->progress, err);
	for (unsigned i = 0; i < TABLES; i++) {
		struct profile_table *t = &m->out->by[tables[i]];
		if (!code && t->of_class)
			tell_classes(m, t, groupings[i].sums);
		else if (!code)
			tell_reached(m, t, tables[i] == PROFILE_PATH ? paths : fields, groupings[i].sums);
		big_free(groupings[i].sums);
	}
	big_free(paths);
	big_free(fields);
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

int profile_make(struct profile *out, const struct retained *r, const struct path_keys *s, bool mat_sizes,
    struct progress *progress, struct err *err)
{
	const struct heap *h = r->heap;
	struct making m = {.out = out, .r = r, .heap = h, .progress = progress};
	*out = (struct profile){
		.word_bits = heap_word_bits(h),
		.mat_sizes = mat_sizes,
		.names_fields = values_held(h) && !h->facts.fields_invented,
		.objects = heap_counted(h, h->n_objects),
		.shallow = heap_size_of_all(h),
		.reachable = retained_of_all(r),
	};
	out->path = keep(&m, h->source->path, strlen(h->source->path), err);
	out->title = keep(&m, h->facts.title, strlen(h->facts.title), err);
	out->created = keep(&m, h->facts.created, strlen(h->facts.created), err);
	m.by_rank = big_alloc(h->n_classes, sizeof *m.by_rank, err);
	m.by_number = big_alloc(numbered_names_count(s->names), sizeof *m.by_number, err);
	int code = out->path && out->title && out->created && m.by_rank && m.by_number ? 0 : ERR_NOMEM;
	if (!code)
		code = group_classes(&m, PROFILE_CLASS, err);
	if (!code)
		code = group_classes(&m, PROFILE_PACKAGE, err);
	if (!code)
		code = group_classes(&m, PROFILE_LOADER, err);
	if (!code)
		code = list_paths(&m, s, err);
	if (!code)
		code = group_fields(&m, s, err);
	if (!code)
		code = sum_tables(&m, s, err);
	if (!code)
		code = list_threads(&m, err);
	if (!code)
		code = group_sites(&m, err);
	if (!code)
		code = progress_check(progress, err);
	big_free(m.by_rank);
	big_free(m.by_number);
	if (code)
		profile_release(out);
	return code;
}

/* --- what leaves the host ------------------------------------------------------------------------ */

/* The name of the loader in the words with which a path begins, or NULL: all of them, "webapp-#", or what stands in
 * quotes behind the class of the loader. */
static const char *loader_in(const struct profile_row *row)
{
	const char *quote = row->start == START_CLASS ? strstr(row->words, " \"") : NULL;
	if (row->parent != PROFILE_NONE || !*row->words)
		return NULL;
	return row->start == START_LOADER ? row->words : quote ? quote + 2 : NULL;
}

int profile_leave_out(struct profile *p, struct err *err)
{
	struct string_intern names = {.n = 0}, words = {.n = 0};
	struct profile_table *t = &p->by[PROFILE_PATH];
	struct text name = TEXT_INIT;
	int code = 0;
	p->path = "left-out";
	for (uint32_t i = 0; i < t->n && !code; i++) {
		struct profile_row *row = &t->row[i];
		const char *loader = loader_in(row);
		uint32_t number;
		if (!loader)
			continue;
		bool quoted = loader > row->words;
		text_clear(&name);
		text_add_n(&name, loader, strlen(loader) - quoted);
		code = string_intern_number(&names, name.s, false, &number, err);
		text_clear(&name);
		text_addf(&name, "%.*s#%u%s", (int)(loader - row->words), row->words, number + 1, quoted ? "\"" : "");
		const char *kept = code ? NULL : arena_try_strndup(&p->arena, name.s, name.len, err);
		code = kept ? string_intern_number(&words, kept, true, &number, err) : ERR_NOMEM;
		if (!code)
			row->words = words.word[number]; /* equal ones are the same pointer */
	}
	string_intern_release(&names);
	string_intern_release(&words);
	text_release(&name);
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
