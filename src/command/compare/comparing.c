/* SPDX-License-Identifier: GPL-3.0-or-later */
/* comparing.c - see comparing.h. */
#include "command/compare/comparing.h"

#include "algorithms/sort.h"
#include "base/mem.h"
#include "dump/reader.h"
#include "heap/heap.h"
#include "heap/library.h"
#include "heap/sites.h"
#include "memory/big.h"
#include "result/plot.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

void comparing_name(size_t number, const char *path, struct text *to)
{
	text_addf(to, "dump %zu (%s)", number, file_of(path));
}

static void add_profile(struct comparing *c, const struct profile *p, const struct session_dump *d)
{
	struct text name = TEXT_INIT;
	comparing_name(d->number, p->path, &name);
	c->all[c->n_all++] = (struct compared_dump){d, c->n};
	c->name[c->n] = text_take(&name);
	c->list[c->n++] = p;
}

static void leave_out(struct comparing *c, const struct session_dump *d, struct err *first)
{
	if (!first->code)
		*first = d->err;
	c->all[c->n_all++] = (struct compared_dump){d, COMPARING_LEFT_OUT};
	text_addf(&c->left_out, "%s%s", c->left_out.len ? "; " : "left out: ", d->err.message);
}

/* The profiles of these dumps; what of the last one is open is as it is now. */
static int list_profiles(struct comparing *c, struct session *s, struct session_dump *const *dump, size_t n,
    struct err *err)
{
	struct err first = ERR_INIT;
	struct session_dump *newest = dump[n - 1];
	c->other_model = newest->opened && !model_is_default(&newest->opened->model);
	c->opened = c->other_model ? NULL : newest->opened;
	c->list = xcalloc(n, sizeof(*c->list));
	c->all = xcalloc(n, sizeof(*c->all));
	c->name = xcalloc(n, sizeof(*c->name));
	for (size_t i = 0; i < n - (c->opened != NULL); i++) {
		if (dump[i]->is_profile) { /* what reads a whole dump tells itself how far it is */
			progress_phase(session_progress(s), PHASE_READ_PROFILES, n);
			progress_add(session_progress(s), i);
		}
		if (session_read_profile(s, dump[i], err))
			return err_cancelled(err);
		if (dump[i]->code) {
			leave_out(c, dump[i], &first);
			continue;
		}
		add_profile(c, &dump[i]->profile, dump[i]);
		c->objects = !dump[i]->is_profile;
	}
	progress_phase(session_progress(s), PHASE_NONE, 0);
	if (!c->n) {
		*err = first;
		return session_dump_error(first.code, err);
	}
	int code = c->opened ? session_profile(s, c->opened, &c->own, err) : 0;
	if (!code && c->opened) {
		add_profile(c, &c->own, newest);
		c->objects = true;
	}
	c->newest = c->list[c->n - 1];
	return code;
}

/* Of what one wants steps of: a dump that was read in part tells neither that something fell nor that it came.  The
 * newest one stays, for it is what one asks about. */
static void leave_out_parts(struct comparing *c)
{
	size_t kept = 0;
	for (size_t i = 0; i < c->n_all; i++) {
		size_t at = c->all[i].at;
		if (at == COMPARING_LEFT_OUT)
			continue;
		if (at + 1 < c->n && profile_in_part(c->list[at])) {
			text_addf(&c->left_out, "%s%s was read in part", c->left_out.len ? "; " : "left out: ",
			    file_of(c->list[at]->path));
			free(c->name[at]);
			c->all[i].at = COMPARING_LEFT_OUT;
			continue;
		}
		c->list[kept] = c->list[at];
		c->name[kept] = c->name[at];
		c->all[i].at = kept++;
	}
	c->n = kept;
}

enum profile_by comparing_by(const struct call *call)
{
	static const enum profile_by kinds[] = {PROFILE_PATH, PROFILE_CLASS, PROFILE_PACKAGE, PROFILE_LOADER,
	    PROFILE_FIELD, PROFILE_SITE, PROFILE_THREAD}; /* in the order of COMPARING_BY */
	return kinds[call_choice(call, DASH_BY, 0)];
}

/* --- other programs ----------------------------------------------------------------------------- */

static int by_words(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* The names of a profile's classes, sorted; the caller's (free).  own: only of those that a program brings along, and
 * that have the same name in each run. */
static const char **class_names(const struct profile *p, bool java, bool own, uint32_t *n)
{
	const struct profile_table *t = &p->by[PROFILE_CLASS];
	const char **words = xcalloc(t->n + 1, sizeof *words);
	*n = 0;
	for (uint32_t i = 0; i < t->n; i++)
		if (!own || (library_programs_name(java, t->row[i].words) && !strstr(t->row[i].words, "$$")))
			words[(*n)++] = t->row[i].words;
	sort_array(words, *n, sizeof *words, by_words);
	return words;
}

/* Are most classes of the one with fewer of them not in the other?  least: fewer tell nothing. */
static bool few_in_common(const struct comparing *c, const struct profile *p, bool own, uint32_t least, bool *known)
{
	uint32_t n, n_newest, common = 0;
	const char **its = class_names(p, c->java, own, &n), **newest = class_names(c->newest, c->java, own, &n_newest);
	uint32_t fewer = n < n_newest ? n : n_newest;
	for (uint32_t i = 0; i < n; i++)
		common += find_sorted(&its[i], newest, n_newest, sizeof *newest, by_words) != NULL;
	free(its);
	free(newest);
	*known = fewer >= least;
	return *known && common < fewer / 2;
}

/* By the classes that the programs bring along, or where these are too few by all of them, of which those of the
 * runtime are in any two. */
static bool of_other_program(const struct comparing *c, const struct profile *p)
{
	enum { OWN_CLASSES = 4, ALL_CLASSES = 40 };
	bool known, other = few_in_common(c, p, true, OWN_CLASSES, &known);
	return known ? other : few_in_common(c, p, false, ALL_CLASSES, &known);
}

static bool is_java(const struct profile *p)
{
	const struct profile_table *t = &p->by[PROFILE_CLASS];
	uint32_t i = 0;
	while (i < t->n && strcmp(t->row[i].words, "java.lang.Class"))
		i++;
	return i < t->n;
}

enum { ROOM_FOR_STEPS = 140 }; /* columns of the screen: with fewer the middle of a course is only plotted */

int comparing_begin_with(struct comparing **out, struct session *s, enum profile_by by, bool steps,
    struct session_dump *const *dump, size_t n, struct err *err)
{
	struct comparing *c = *out = xcalloc(1, sizeof *c);
	c->left_out = (struct text)TEXT_INIT;
	c->same = (struct text)TEXT_INIT;
	comparing_add_same(dump, n, &c->same);
	int code = list_profiles(c, s, dump, n, err);
	if (!code && steps)
		leave_out_parts(c);
	if (!code)
		code = compare_profiles(&c->comparison, by, c->list, c->n, err);
	if (code) {
		comparing_free(c);
		*out = NULL;
	} else {
		c->interactive = s->interactive;
		c->narrow = s->interactive && s->settings.print.width < ROOM_FOR_STEPS;
		c->java = is_java(c->newest);
		c->elsewhere = s->dump && dump[n - 1]->opened != s->dump;
		for (size_t i = 0; i + 1 < c->n; i++) {
			c->other_program = c->other_program || of_other_program(c, c->list[i]);
			c->other_words |= c->list[i]->word_bits != c->newest->word_bits;
		}
	}
	return code;
}

int comparing_begin(struct comparing **out, struct session *s, enum profile_by by, bool steps, struct err *err)
{
	if (!session_compares(s))
		return err_set(err, ERR_USAGE, "no older dump to compare with (use cairn OLD... DUMP, or open FILE)");
	struct session_dump **dump;
	size_t n = session_series(s, &dump);
	int code = s->folder && n < 2 ? err_set(err, ERR_USAGE, "there are %zu dumps (choose some with tag N M%s, or "
	    "compare two with diff N M)", s->n_dumps, s->interactive ? " or T in the list (9)" : "") :
	    comparing_begin_with(out, s, by, steps, dump, n, err);
	free(dump);
	if (!code)
		(*out)->chosen_of = n < s->n_dumps ? s->n_dumps : 0;
	return code;
}

void comparing_free(void *comparing)
{
	struct comparing *c = comparing;
	comparison_release(&c->comparison);
	profile_release(&c->own);
	text_release(&c->left_out);
	text_release(&c->same);
	for (size_t i = 0; i < c->n; i++)
		free(c->name[i]);
	free(c->name);
	free(c->list);
	free(c->all);
	free(c);
}

/* --- what makes it less sure -------------------------------------------------------------------- */

static void __attribute__((format(printf, 2, 3))) add_sentence(struct text *to, const char *format, ...)
{
	va_list args;
	text_add(to, to->len ? "; " : "");
	va_start(args, format);
	text_addv(to, format, args);
	va_end(args);
}

/* Whose objects and retained sizes a table has while another dump is current. */
static void add_whose(struct text *to, const struct comparing *c)
{
	const struct session_dump *its = NULL;
	for (size_t i = 0; i < c->n_all; i++)
		its = c->all[i].at == c->n - 1 ? c->all[i].dump : its;
	add_sentence(to, "these rows are from %s", c->name[c->n - 1]);
	if (!its->is_profile)
		text_addf(to, " (use %zu opens it)", its->number);
}

void comparing_add_same(struct session_dump *const *dump, size_t n, struct text *to)
{
	enum { TOLD = 3 };
	unsigned told = 0;
	for (size_t i = 1; i <= n && told < TOLD; i++) {
		const struct session_dump *first = session_first_same(dump, i);
		if (!first)
			continue;
		add_sentence(to, "dump %zu is the same file as %zu", dump[i - 1]->number, first->number);
		told++;
	}
}

/* Was a written after b?  Some dumps tell local time, without a Z: of these the day alone compares. */
static bool is_later(const struct profile *a, const struct profile *b)
{
	enum { DAY = 10 }; /* "2026-11-21" */
	bool alike = (strchr(a->created, 'Z') != NULL) == (strchr(b->created, 'Z') != NULL);
	int order = alike ? strcmp(a->created, b->created) : strncmp(a->created, b->created, DAY);
	return *a->created && *b->created && order > 0;
}

const char *comparing_note(struct result *r, const struct comparing *c)
{
	const struct opened *o = r->opened;
	struct text note = TEXT_INIT, first = TEXT_INIT, warning = TEXT_INIT;
	const struct profile *newest = c->newest;
	bool other_sizes = false, other_formats = false, backwards = false;
	if (c->elsewhere)
		add_whose(&note, c);
	if (c->chosen_of)
		add_sentence(&note, "compares the %zu tagged dumps of %zu", c->n_all, c->chosen_of);
	if (c->other_model)
		add_sentence(&note, COMPARING_MODEL);
	if (c->left_out.len) {
		add_sentence(&note, "%s", c->left_out.s);
		add_sentence(&warning, "%s", c->left_out.s);
	}
	if (c->same.len)
		add_sentence(&note, "%s", c->same.s);
	for (size_t i = 0; i < c->n; i++) {
		const struct profile *p = c->list[i];
		other_sizes |= p->mat_sizes != newest->mat_sizes;
		other_formats |= strcmp(p->title, newest->title) != 0;
		backwards |= i && is_later(c->list[i - 1], p);
		if (profile_in_part(p)) {
			add_sentence(&note, "%s was read in part", file_of(p->path));
			if (p != &c->own) /* of what is open loading said so */
				add_sentence(&warning, "%s was read in part", file_of(p->path));
		} else if (p->reachable.certainty != EXACT) {
			add_sentence(&note, "retained sizes of %s are inferred", file_of(p->path));
		}
	}
	if (backwards)
		add_sentence(&note, "the dumps are not in the order of their time");
	if (c->other_program)
		add_sentence(&note, "the dumps have few classes in common: they are of different programs");
	if (c->other_words)
		add_sentence(&note, "the dumps have 32-bit and 64-bit words: compare objects, not bytes");
	if (other_sizes)
		add_sentence(&note, "the dumps have different size rules");
	if (o && o->heap->facts.takes_program && o->heap->dump && !o->heap->dump->program)
		add_sentence(&note, "without the program (--exe) variables and types are addresses and sizes: paths of "
		    "growing objects may change");
	if (c->comparison.by_classes && other_formats)
		add_sentence(&note, "the formats record different references and roots, so what holds an object may differ "
		    "without growth: compare classes (diff -by class)");
	if (c->comparison.by_classes)
		add_sentence(&note, "one of the dumps has no field names: paths are compared by classes");
	else if (c->comparison.nameless_loaders)
		add_sentence(&note, "one of the dumps has no names of class loaders: they are compared by class");
	if (!c->comparison.by_classes && c->comparison.nameless_threads)
		add_sentence(&note, "one of the dumps has no names of threads: they are compared by class");
	const char *kept = note.len ? arena_strndup(&r->arena, note.s, note.len) : NULL;
	if (warning.len)
		r->warning = arena_strndup(&r->arena, warning.s, warning.len);
	if (c->elsewhere)
		add_whose(&first, c);
	if (warning.len)
		add_sentence(&first, "%s", warning.s);
	if (first.len)
		r->note_first = arena_strndup(&r->arena, first.s, first.len);
	text_release(&note);
	text_release(&warning);
	text_release(&first);
	return kept;
}

void comparing_tell(struct result *r, struct comparing *c,
    bool (*blamed)(const struct result *r, size_t row, unsigned column, enum reason reason, size_t dump))
{
	r->note = comparing_note(r, c);
	c->dumps = (struct result_dumps){c->n, c->n - (c->opened != NULL), (const char *const *)c->name, blamed};
	r->dumps = &c->dumps;
}

/* --- objects ------------------------------------------------------------------------------------ */

/* The row of the newest profile's table that counts the object; PROFILE_NONE. */
static uint32_t row_of(const struct comparing *c, const struct opened *o, uint32_t id)
{
	const struct profile_table *t = &c->own.by[c->comparison.by];
	uint32_t signature = opened_path_keys(o) ? o->path_keys.of[id] : PATH_KEY_NONE;
	if (t->of_class)
		return t->of_class[heap_class_index(o->heap, id)];
	if (t->of_site) {
		const struct heap_site *site = o->heap->sites ? heap_site_of(o->heap, id) : NULL;
		return site ? t->of_site[site - o->heap->sites->site] : PROFILE_NONE;
	}
	return signature == PATH_KEY_NONE || !t->of_signature ? PROFILE_NONE : t->of_signature[signature];
}

uint32_t comparing_row_of(const struct comparing *c, const struct opened *o, uint32_t id)
{
	uint32_t row = row_of(c, o, id);
	return row == PROFILE_NONE ? row : c->comparison.of_newest[row];
}

int comparing_members(const struct comparing *c, const struct opened *o, const struct bits *rows, struct bits *to,
    struct err *err)
{
	const uint32_t *of = c->comparison.of_newest;
	for (uint32_t id = 0; id < o->heap->n_objects && !progress_own_stops(id); id++) {
		uint32_t row = row_of(c, o, id);
		if (row != PROFILE_NONE && bits_get(rows, of[row]))
			bits_set(to, id);
	}
	return progress_check(progress_own(), err);
}

int comparing_rows_members(const struct comparing *c, const struct opened *o, const uint32_t *row,
    const struct bits *rows, struct bits *to, struct err *err)
{
	struct bits wanted;
	if (bits_init(&wanted, c->comparison.n_rows, err))
		return ERR_NOMEM;
	struct bits_walk walk = bits_walk(rows);
	for (uint64_t at; bits_next(&walk, &at);)
		bits_set(&wanted, row[at]);
	int code = comparing_members(c, o, &wanted, to, err);
	bits_release(&wanted);
	return code;
}

int comparing_growth(struct growth *out, const struct comparing *c, const struct opened *o, struct err *err)
{
	if (!o)
		return compare_growth(out, &c->comparison, c->java, err);
	uint32_t n = o->heap->n_objects, *row = big_alloc(n, sizeof *row, err);
	int code = row ? compare_growth(out, &c->comparison, c->java, err) : ERR_NOMEM;
	if (code) {
		big_free(row);
		return code;
	}
	for (uint32_t id = 0; !code && id < n; id++) {
		row[id] = comparing_row_of(c, o, id);
		if (progress_own_stops(id))
			code = err_cancelled(err);
	}
	if (!code)
		code = compare_growth_alone(out, &c->comparison, opened_retained(o), row, err);
	big_free(row);
	if (code)
		growth_release(out);
	return code;
}

/* --- cells -------------------------------------------------------------------------------------- */

void comparing_words(const struct comparison *c, uint32_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct profile_row *r = &c->row[row];
	text_clear(scratch);
	if (column == 1) {
		*out = !r->class ? cell_none() : cell_text(r->start == START_CLASS ? "java.lang.Class" : r->class);
		return;
	}
	compared_add(c, row, scratch);
	*out = cell_text(scratch->s);
}

void comparing_course(const struct comparison *c, uint32_t row, struct text *to)
{
	for (size_t i = 0; i < c->n; i++) {
		text_add(to, i ? " " : "");
		struct cell objects = cell_count(compared(c, row, i)->objects);
		cell_print(&objects, to);
	}
}

/* "20→40→60", of many the first and the last ones. */
static void add_steps(const struct comparison *c, uint32_t row, bool narrow, struct text *to)
{
	size_t shown = narrow ? 3 : 6, at_ends = narrow ? 1 : 2;
	for (size_t i = 0; i < c->n; i++) {
		struct cell objects = cell_count(compared(c, row, i)->objects);
		text_add(to, i ? "\u2192" : "");
		if (c->n > shown && i == at_ends) {
			text_add(to, "\u2026");
			i = c->n - at_ends - 1;
			continue;
		}
		cell_print(&objects, to);
	}
}

void comparing_add_short_time(const char *created, struct text *to)
{
	char year[] = "0000-";
	time_t now = time(NULL);
	struct tm t;
	if (gmtime_r(&now, &t))
		strftime(year, sizeof year, "%Y-", &t);
	if (strlen(created) < sizeof "2026-11-21T09:15" - 1)
		text_add(to, created);
	else if (strncmp(created, year, strlen(year)))
		text_add_n(to, created, sizeof "2026-11-21" - 1);
	else {
		text_add_n(to, created + sizeof "2026-" - 1, sizeof "11-21" - 1);
		text_add_char(to, ' ');
		text_add_n(to, created + sizeof "2026-11-21T" - 1, sizeof "09:15" - 1);
	}
}

/* As people see them. */
static void add_shown_course(const struct comparison *c, uint32_t row, bool narrow, struct text *to)
{
	enum { POINTS = 16 };
	struct text points = TEXT_INIT;
	uint64_t most = 0;
	add_steps(c, row, narrow, to);
	for (size_t i = 0; i < c->n; i++) {
		struct amount objects = compared(c, row, i)->objects;
		most = objects.certainty != UNKNOWN && objects.n > most ? objects.n : most;
	}
	for (size_t i = 0; i < c->n; i++)
		plot_add_amount(&points, compared(c, row, i)->objects, most);
	text_add_char(to, ' ');
	if (c->n > 1)
		plot_squeeze(to, points.s, POINTS);
	text_release(&points);
}

struct cell comparing_course_cell(const struct comparing *comparing, uint32_t row, struct text *scratch)
{
	const struct comparison *c = &comparing->comparison;
	text_clear(scratch);
	comparing_course(c, row, scratch);
	text_add_char(scratch, '\0');
	size_t n = scratch->len;
	add_shown_course(c, row, comparing->narrow, scratch);
	return cell_word(scratch->s, scratch->s + n);
}

void comparing_add_series(const struct comparison *c, uint32_t row, size_t first, bool bytes, struct text *to)
{
	enum { SHOWN = 6 };
	for (size_t i = first; i < c->n; i++) {
		const struct compared_amounts *a = compared(c, row, i);
		struct cell cell = bytes ? cell_bytes(a->retained) : cell_count(a->objects);
		if (c->n - first > SHOWN && i == first + 2) {
			text_add(to, " … ");
			i = c->n - 3;
			continue;
		}
		text_add(to, i > first ? " to " : "");
		cell_print(&cell, to);
	}
}
