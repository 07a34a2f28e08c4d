/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare.c - rows side by side; see compare.h. */
#include "analysis/compare/compare.h"

#include "algorithms/map.h"
#include "algorithms/sort.h"
#include "algorithms/string_intern.h"
#include "analysis/path_labels/path_labels.h"
#include "heap/heap.h"
#include "heap/threads.h"
#include "memory/big.h"

#include <stddef.h>
#include <string.h>

struct joining {
	struct comparison *out;
	struct joined_names {
		const char *of, *is;   /* a name of the current profile, and the first of its kind */
	} *names;
	uint32_t n_names;
	struct map name_map;
	size_t cap_names;
	struct string_intern book;     /* of all profiles */
	struct map row_map;
	size_t cap_rows, cap_cells, n_cells;
};

static uint64_t hash_row(const struct profile_row *r)
{
	uint64_t h = hash_step(hash_number(r->parent), (uint64_t)r->start);
	return hash_step(hash_step(h, (uintptr_t)r->words), (uintptr_t)r->class);
}

static bool same_row(const struct profile_row *a, const struct profile_row *b)
{
	return a->parent == b->parent && a->start == b->start && a->words == b->words && a->class == b->class;
}

MAP(rows, const struct profile_row *, const struct profile_row *, map_element, hash_row, same_row)

static uint64_t hash_name(const char *name)
{
	return hash_number((uintptr_t)name);
}

#define name_at(names, number) ((names)[number].of)
MAP(names, const struct joined_names *, const char *, name_at, hash_name, map_same)

/* Make a name of the current profile the one that stands for it in all, without what begins with before (NULL: whole).
 * Each is looked at once: any number of rows may share one, as long as the dump. */
static int join_shortened(struct joining *j, const char **name, const char *before, struct err *err)
{
	const char *of = *name ? *name + (before != NULL) : NULL; /* another one than the whole name */
	uint32_t number;
	size_t n = j->n_names;
	if (!*name)
		return 0;
	uint32_t *slot = names_enter(&j->name_map, j->names, j->n_names, of, err);
	if (slot && *slot)
		*name = j->names[*slot - 1].is;
	if (!slot || *slot)
		return slot ? 0 : ERR_NOMEM;
	const char *end = before ? strstr(*name, before) : NULL;
	if (end)
		*name = arena_try_strndup(&j->out->shortened, *name, (size_t)(end - *name), err);
	struct joined_names *to = *name ? BIG_PUSH(j->names, n, j->cap_names, err) : NULL;
	if (!to || string_intern_number(&j->book, *name, true, &number, err))
		return ERR_NOMEM;
	*to = (struct joined_names){of, j->book.word[number]};
	*name = to->is;
	*slot = ++j->n_names;
	return 0;
}

static int join_name(struct joining *j, const char **name, struct err *err)
{
	return join_shortened(j, name, NULL, err);
}

/* The words of a row: without what one of the profiles cannot tell. */
static int join_words(struct joining *j, struct profile_row *like, struct err *err)
{
	const struct comparison *out = j->out;
	bool begins = like->parent == PROFILE_NONE;
	bool names_class = begins && (like->start == START_CLASS || like->start == START_LOADER);
	bool names_thread = begins && (like->start == START_THREAD || out->by == PROFILE_THREAD);
	if (out->by_classes && (!begins || names_class))
		like->words = "";
	else if (begins && like->start == START_LOADER && out->nameless_loaders)
		like->words = "";
	else if (names_thread && out->nameless_threads)
		like->words = "";
	else if (begins && like->start == START_CLASS && out->nameless_loaders && *like->words)
		return join_shortened(j, &like->words, " \"", err);
	else if (begins && like->start == START_LOCAL && out->nameless_threads && *like->words)
		return join_shortened(j, &like->words, " of \"", err);
	return join_name(j, &like->words, err);
}

static bool of_ways(enum profile_by by)
{
	return by == PROFILE_PATH || by == PROFILE_FIELD || by == PROFILE_THREAD;
}

/* The number of a row with these words, in a new place where there is none yet. */
static int find_row(struct joining *j, const struct profile_row *like, uint32_t *number, struct err *err)
{
	struct comparison *out = j->out;
	uint32_t *slot = rows_enter(&j->row_map, out->row, out->n_rows, like, err);
	if (!slot)
		return ERR_NOMEM;
	if (*slot) {
		*number = *slot - 1;
		return 0;
	}
	size_t n = out->n_rows;
	struct profile_row *row = BIG_PUSH(out->row, n, j->cap_rows, err);
	if (!row)
		return ERR_NOMEM;
	*row = *like;
	for (size_t i = 0; i < out->n; i++) {
		struct compared_amounts *cell = BIG_PUSH(out->cell, j->n_cells, j->cap_cells, err);
		if (!cell)
			return ERR_NOMEM;
		/* that there is none of it is as sure as how many objects there are, and which roots reach them */
		struct amount none = amount_as_sure(amount_exact(0), out->profile[i]->objects);
		struct amount reachable = out->profile[i]->reachable;
		if (of_ways(out->by) && reachable.certainty >= INFERRED && (reachable.reason == REASON_ROOTS ||
		    reachable.reason == REASON_ROOTS_MISSING || reachable.reason == REASON_DAMAGED))
			none = amount_as_sure(none, reachable);
		*cell = (struct compared_amounts){none, none, none};
	}
	*number = out->n_rows++;
	*slot = out->n_rows;
	return 0;
}

/* What rows retain that become one may be in both, or be held by both of them together. */
static void add_amounts(struct compared_amounts *to, const struct compared_amounts *from)
{
	bool both = to->retained.n && from->retained.n;
	to->objects = amount_add(to->objects, from->objects);
	to->shallow = amount_add(to->shallow, from->shallow);
	to->retained = amount_add(to->retained, from->retained);
	if (both)
		to->retained = amount_weaken(to->retained, INFERRED, REASON_ROWS_JOINED);
}

/* What a row has in an older dump, for comparing it with the newest one. */
static struct compared_amounts amounts_beside(const struct profile_row *row, const struct profile *its,
    const struct profile *newest)
{
	struct compared_amounts a = {row->objects, row->shallow, row->retained};
	enum reason reason = its->mat_sizes != newest->mat_sizes ? REASON_OTHER_RULE : REASON_OTHER_WORDS;
	if (its->mat_sizes == newest->mat_sizes && its->word_bits == newest->word_bits)
		return a;
	if (a.shallow.n)
		a.shallow = amount_weaken(a.shallow, INFERRED, reason);
	if (a.retained.n)
		a.retained = amount_weaken(a.retained, INFERRED, reason);
	return a;
}

/* Enter the rows of a profile; of: where they went. */
static int join_profile(struct joining *j, size_t at, uint32_t *of, struct err *err)
{
	struct comparison *out = j->out;
	const struct profile_table *t = &out->profile[at]->by[out->by];
	int code = 0;
	for (uint32_t i = 0; !code && i < t->n; i++) {
		struct profile_row like = t->row[i];
		bool begins = like.parent == PROFILE_NONE;
		like.parent = begins ? PROFILE_NONE : of[like.parent];
		code = join_words(j, &like, err);
		if (!code)
			code = join_name(j, &like.class, err);
		if (!code)
			code = find_row(j, &like, &of[i], err);
		if (code)
			break;
		const struct compared_amounts its =
		    amounts_beside(&like, out->profile[at], out->profile[out->n - 1]);
		add_amounts(&out->cell[of[i] * out->n + at], &its);
		out->row[of[i]].chain |= like.chain;
	}
	return code;
}

/* --- ways --------------------------------------------------------------------------------------- */

static struct path_label *ways_of(const struct comparison *c, struct err *err)
{
	struct path_label *way = big_alloc(c->n_rows, sizeof *way, err);
	for (uint32_t i = 0; way && i < c->n_rows; i++) {
		const struct profile_row *r = &c->row[i];
		way[i] = (struct path_label){.parent = r->parent, .start = r->start, .words = r->words, .class = r->class,
		    .plain = r->class && !r->array, .chain = r->chain};
	}
	return way;
}

/* Put each row where its way went. */
static int take_ways(struct comparison *c, const struct path_label *way, uint32_t n, const uint32_t *number,
    struct err *err)
{
	struct profile_row *row = big_alloc(n, sizeof *row, err);
	struct compared_amounts *cell = row ? big_alloc((uint64_t)n * c->n, sizeof *cell, err) : NULL;
	if (!cell) {
		big_free(row);
		return ERR_NOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		row[i] = c->row[way[i].was];
		row[i].parent = way[i].parent;
		row[i].chain = way[i].chain;
		memcpy(cell + i * c->n, c->cell + way[i].was * c->n, c->n * sizeof *cell);
	}
	for (uint32_t i = 0; i < c->n_rows; i++)
		if (way[number[i]].was != i)
			for (size_t k = 0; k < c->n; k++)
				add_amounts(&cell[number[i] * c->n + k], compared(c, i, k));
	for (uint32_t i = 0; i < c->profile[c->n - 1]->by[c->by].n; i++)
		c->of_newest[i] = number[c->of_newest[i]];
	big_free(c->row);
	big_free(c->cell);
	c->row = row;
	c->cell = cell;
	c->n_rows = n;
	return 0;
}

/* A chain that one of the dumps shows is one in all of them: with a single entry a LinkedHashMap holds it by its
 * head, with more by the table. */
static int join_chains(struct comparison *c, struct err *err)
{
	struct path_label *way = ways_of(c, err);
	uint32_t n = c->n_rows, *number = way ? big_alloc(n, sizeof *number, err) : NULL;
	int code = number ? path_labels_settle(way, &n, number, err) : ERR_NOMEM;
	if (!code)
		code = take_ways(c, way, n, number, err);
	big_free(way);
	big_free(number);
	return code;
}

static int by_class(const void *x, const void *y)
{
	const struct profile_row *a = *(const struct profile_row *const *)x, *b = *(const struct profile_row *const *)y;
	return a->class == b->class ? 0 : strcmp(a->class, b->class); /* names may be long */
}

/* Classes that are shared by loaders of several kinds. */
static int mark_shared(struct comparison *c, struct err *err)
{
	uint32_t n = 0;
	struct profile_row **class = big_alloc(c->n_rows, sizeof(*class), err);
	if (!class)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < c->n_rows; i++)
		if (c->row[i].start == START_CLASS)
			class[n++] = &c->row[i];
	sort_array(class, n, sizeof(*class), by_class);
	for (uint32_t i = 1; i < n; i++)
		if (!by_class(&class[i - 1], &class[i]))
			class[i - 1]->shared = class[i]->shared = true;
	big_free(class);
	return 0;
}

/* What of a dump was not read may have objects of a row that the rest shows none of. */
static void mark_unread(struct comparison *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct amount objects = c->profile[i]->objects, unknown = amount_unknown(objects.reason);
		for (uint32_t row = 0; objects.certainty == LOWER_BOUND && row < c->n_rows; row++)
			if (!compared(c, row, i)->objects.n)
				c->cell[row * c->n + i] = (struct compared_amounts){unknown, unknown, unknown};
	}
}

/* ------------------------------------------------------------------------------------------------- */

/* How a profile calls the threads or loaders with which ways begin: NUMBERED in one that leaves the host
 * (profile_leave_out), where nobody else has the same numbers; UNNAMED in a redacted copy, or where none has a name. */
enum naming { NONE_THERE = 0, NAMED = 1, NUMBERED = 2, UNNAMED = 4 };

static enum naming naming_of(const char *words)
{
	if (*words == '#' && words[1] && !words[1 + strspn(words + 1, "0123456789")])
		return NUMBERED;
	return *words && strcmp(words, THREAD_UNNAMED) != 0 ? NAMED : UNNAMED;
}

static enum naming naming_in(const struct profile *p, enum way_start start)
{
	const struct profile_table *t = &p->by[PROFILE_PATH];
	unsigned found = NONE_THERE;
	for (uint32_t i = 0; i < t->n; i++)
		if (t->row[i].parent == PROFILE_NONE && t->row[i].start == start)
			found |= naming_of(t->row[i].words);
	return found & NAMED ? NAMED : found & NUMBERED ? NUMBERED : (enum naming)found;
}

/* Do names tell nothing of what is the same, for one of the profiles has none? */
static bool is_nameless(const struct profile *const *profile, size_t n, enum way_start start)
{
	unsigned found = NONE_THERE;
	for (size_t i = 0; i < n; i++)
		found |= naming_in(profile[i], start);
	return found & NUMBERED || (found & NAMED && found & UNNAMED);
}

int compare_profiles(struct comparison *out, enum profile_by by,
    const struct profile *const *profile, size_t n, struct err *err)
{
	struct joining j = {.out = out};
	int code = 0;
	*out = (struct comparison){.by = by, .profile = profile, .n = n};
	for (size_t i = 0; i < n && by == PROFILE_PATH; i++)
		out->by_classes |= !profile[i]->names_fields;
	for (size_t i = 0; i < n && out->by_classes; i++)
		out->other_references |= profile[i]->names_fields;
	if (by == PROFILE_PATH || by == PROFILE_THREAD) {
		out->nameless_loaders = is_nameless(profile, n, START_LOADER);
		out->nameless_threads = is_nameless(profile, n, START_THREAD);
	}
	for (size_t i = 0; !code && i < n; i++) {
		uint32_t *of = big_alloc(profile[i]->by[by].n, sizeof *of, err);
		code = of ? join_profile(&j, i, of, err) : ERR_NOMEM;
		if (!code && i + 1 == n)
			out->of_newest = of;
		else
			big_free(of);
	}
	map_release(&j.row_map);
	big_free(j.names);
	map_release(&j.name_map);
	string_intern_release(&j.book);
	if (!code && by == PROFILE_PATH)
		code = join_chains(out, err);
	if (!code && by == PROFILE_PATH)
		code = mark_shared(out, err);
	if (code)
		comparison_release(out);
	else
		mark_unread(out);
	return code;
}

void comparison_release(struct comparison *c)
{
	big_free(c->row);
	big_free(c->cell);
	big_free(c->of_newest);
	arena_release(&c->shortened);
	*c = (struct comparison){.n = 0};
}

/* measure: of struct compared_amounts, by its place in it. */
static struct course course_of(const struct comparison *c, uint32_t row, size_t measure)
{
	struct course course = {.up = 0};
	uint64_t before = 0;
	for (size_t i = 0; i < c->n; i++) {
		struct amount after;
		bool in_part = profile_in_part(c->profile[i]);
		if (in_part && i > 0 && i + 1 < c->n)
			continue;
		memcpy(&after, (const char *)compared(c, row, i) + measure, sizeof after);
		course.up += i && after.n > before;
		course.down += i && after.n < before && !in_part; /* there may be more */
		before = after.n;
	}
	return course;
}

struct course compare_objects(const struct comparison *c, uint32_t row)
{
	return course_of(c, row, offsetof(struct compared_amounts, objects));
}

struct course compare_retained(const struct comparison *c, uint32_t row)
{
	return course_of(c, row, offsetof(struct compared_amounts, retained));
}

/* --- in words ----------------------------------------------------------------------------------- */

void compared_add(const struct comparison *c, uint32_t row, struct text *to)
{
	if (c->by != PROFILE_PATH) {
		const struct profile_row *r = &c->row[row];
		if (c->by == PROFILE_FIELD && r->class)
			text_addf(to, "%s%s", r->class, r->words[0] == '[' ? "" : ".");
		text_add(to, c->by == PROFILE_FIELD && !*r->words ? "?" : r->words);
		return;
	}
	uint32_t way[PATH_KEY_DEPTH + 1], n = 0;
	for (uint32_t at = row; at != PROFILE_NONE && n <= PATH_KEY_DEPTH; at = c->row[at].parent)
		way[n++] = at;
	for (uint32_t i = n; i-- > 0;) {
		const struct profile_row *r = &c->row[way[i]];
		enum way_start before = i + 1 < n ? c->row[way[i + 1]].start : START_NOWHERE;
		const char *words = r->start == START_CLASS && !r->shared ? "" : r->words;
		path_label_add_step(to, &(struct path_label_step){r->start, words, r->class}, before, i == 0);
	}
}
