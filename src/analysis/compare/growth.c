/* SPDX-License-Identifier: GPL-3.0-or-later */
/* growth.c - which rows of a comparison grow, and what they hang on; see compare.h. */
#include "analysis/compare/compare.h"

#include "algorithms/bisect.h"
#include "algorithms/bits.h"
#include "algorithms/sort.h"
#include "base/progress.h"
#include "heap/library.h"
#include "memory/big.h"

#include <string.h>

static bool begins(const char *s, const char *with)
{
	return s && !strncmp(s, with, strlen(with));
}

/* A name may be as long as the dump, and that of many rows. */
static bool has(const char *s, char c)
{
	enum { LOOKED_AT = 1000 };
	return memchr(s, c, strnlen(s, LOOKED_AT)) != NULL;
}

/* Of tables of classes and fields the words begin with the class. */
static const char *class_of(const struct profile_row *r)
{
	return r->class ? r->class : r->words;
}

/* Links and tables of the JDK's collections, and what Go's maps and slices are made of: nobody puts such an object
 * anywhere, they come with others. */
static bool serves_collection(const struct profile_row *r)
{
	const char *class = class_of(r);
	return r->array || (begins(class, "java.util.") && has(class, '$')) || (begins(class, "map[") && has(class, ' '));
}

static bool is_collection(const struct profile_row *r)
{
	return begins(class_of(r), "java.util.") || begins(class_of(r), "map[");
}

static uint64_t objects_of(const struct profile *p, const char *class)
{
	const struct profile_table *t = &p->by[PROFILE_CLASS];
	for (uint32_t i = 0; i < t->n; i++)
		if (!strcmp(t->row[i].words, class))
			return t->row[i].objects.n;
	return 0;
}

static bool never_fewer(const struct comparison *c, uint32_t row)
{
	return compare_objects(c, row).down == 0;
}

static bool rises(const struct comparison *c, uint32_t row)
{
	const struct profile_row *r = &c->row[row];
	const struct compared_amounts *first = compared(c, row, 0), *last = compared(c, row, c->n - 1);
	/* that a class was loaded says nothing yet: what its static fields hold may grow */
	bool one_class = r->parent == PROFILE_NONE && (r->start == START_CLASS || r->start == START_LOADER) &&
	    last->objects.n < 2;
	bool is_start = (c->by == PROFILE_FIELD && r->words[0] == '<') ||
	    (c->by == PROFILE_CLASS && !strcmp(r->words, "java.lang.Class"));
	if (one_class || is_start || serves_collection(r) || !never_fewer(c, row))
		return false;
	if (last->objects.n > first->objects.n)
		return true;
	/* one array that is made anew, and longer each time */
	bool larger = last->objects.n == 1 && first->objects.n == 1 && last->shallow.n > first->shallow.n;
	uint64_t before = first->shallow.n;
	for (size_t i = 1; larger && i < c->n; i++) {
		if (i + 1 < c->n && profile_in_part(c->profile[i]))
			continue;
		larger = compared(c, row, i)->shallow.n >= before;
		before = compared(c, row, i)->shallow.n;
	}
	return larger && r->class && has(r->class, '[');
}

/* The collection that a row's objects are in, with all that it is made of: a HashSet on top of a HashMap. */
static uint32_t hangs_on(const struct comparison *c, uint32_t row)
{
	for (uint32_t up = c->row[row].parent; up != PROFILE_NONE; up = c->row[up].parent) {
		bool begins = c->row[up].start == START_CLASS || c->row[up].start == START_LOADER ||
		    c->row[up].start == START_THREAD;
		if (begins || !(serves_collection(&c->row[up]) || is_collection(&c->row[up])))
			break;
		row = up;
	}
	return row;
}

static bool came_last(const struct comparison *c, uint32_t row)
{
	return c->n > 1 && !compared(c, row, c->n - 2)->objects.n && compared(c, row, c->n - 1)->objects.n;
}

/* Of what came last: are more on this way than came of their class? */
static bool moved_here(const struct comparison *c, uint32_t row)
{
	const char *class = c->row[row].class;
	return class && objects_of(c->profile[c->n - 2], class) + compared(c, row, c->n - 1)->objects.n >
	    objects_of(c->profile[c->n - 1], class);
}

static bool is_steady(const struct comparison *c, uint32_t row)
{
	size_t first = 0;
	while (first + 1 < c->n && !compared(c, row, first)->objects.n)
		first++;
	size_t steps = c->n - 1 - first;
	return c->n > 2 && steps && compare_objects(c, row).up - (first > 0) == steps;
}

static struct amount more_of(const struct comparison *c, uint32_t row)
{
	return amount_change(compared(c, row, 0)->retained, compared(c, row, c->n - 1)->retained);
}

/* --- rows of one collection --------------------------------------------------------------------- */

/* A row that rises, and the growth that it is part of. */
struct rising {
	uint32_t row, on;
	bool topmost;
	int64_t more; /* bytes that it retains itself */
};

static int by_place(const void *x, const void *y)
{
	const struct rising *a = x, *b = y;
	if (a->on != b->on)
		return a->on < b->on ? -1 : 1;
	if (a->topmost != b->topmost)
		return a->topmost ? -1 : 1;
	return a->more != b->more ? (a->more < b->more) - (a->more > b->more) : (a->row > b->row) - (a->row < b->row);
}

/* --- dumps that record other references ---------------------------------------------------------- */

/* A row that rises: objects that came, or of an array that is made anew, bytes. */
struct newcomers {
	uint32_t row;
	bool bytes;
	uint64_t came;
};

static int by_class_and_size(const void *x, const void *y, void *rows)
{
	const struct newcomers *a = x, *b = y;
	const struct profile_row *all = rows;
	const char *p = all[a->row].class, *q = all[b->row].class;
	if (p != q) /* the same names are the same pointers */
		return strcmp(p, q);
	if (a->bytes != b->bytes)
		return a->bytes ? 1 : -1;
	return a->came != b->came ? (a->came < b->came) - (a->came > b->came) : (a->row > b->row) - (a->row < b->row);
}

/* The classes of a profile by name. */
struct classes_by_name {
	const struct profile_row **row; /* big memory */
	uint32_t n;
};

static int by_words(const void *x, const void *y)
{
	const struct profile_row *const *a = x, *const *b = y;
	return strcmp((*a)->words, (*b)->words);
}

static int sort_classes(const struct profile *p, struct classes_by_name *to, struct err *err)
{
	const struct profile_table *t = &p->by[PROFILE_CLASS];
	to->row = big_alloc(t->n, sizeof *to->row, err);
	to->n = to->row ? t->n : 0;
	for (uint32_t i = 0; i < to->n; i++)
		to->row[i] = &t->row[i];
	return to->row ? sort(to->row, to->n, sizeof *to->row, by_words, err) : ERR_NOMEM;
}

static const struct profile_row *find_class(const struct classes_by_name *in, const char *class)
{
	uint32_t at;
	BISECT(at, in->n, strcmp(in->row[at]->words, class) < 0);
	return at < in->n && !strcmp(in->row[at]->words, class) ? in->row[at] : NULL;
}

static uint64_t came_of_class(const struct classes_by_name classes[2], const char *class, bool bytes)
{
	const struct profile_row *before = find_class(&classes[0], class), *now = find_class(&classes[1], class);
	uint64_t was = !before ? 0 : bytes ? before->shallow.n : before->objects.n;
	uint64_t is = !now ? 0 : bytes ? now->shallow.n : now->objects.n;
	return is > was ? is - was : 0;
}

/* Where dumps record other references and roots they lead to the same objects on other paths.  But all of them count
 * the objects of a class: mark rows that, the largest rows of their class first, are too many to be half new. */
static int mark_moved(const struct comparison *c, struct bits *moved, struct err *err)
{
	struct newcomers *list = big_alloc(c->n_rows, sizeof *list, err);
	struct classes_by_name classes[2] = {{.n = 0}, {.n = 0}};
	uint32_t n = 0;
	for (uint32_t row = 0; list && row < c->n_rows && !progress_own_stops(row); row++) {
		const struct compared_amounts *first = compared(c, row, 0), *last = compared(c, row, c->n - 1);
		bool bytes = last->objects.n == first->objects.n;
		if (c->row[row].class && rises(c, row))
			list[n++] = (struct newcomers){row, bytes, bytes ? last->shallow.n - first->shallow.n :
			    last->objects.n - first->objects.n};
	}
	int code = list ? sort_with(list, n, sizeof *list, by_class_and_size, c->row, err) : ERR_NOMEM;
	if (!code)
		code = sort_classes(c->profile[0], &classes[0], err);
	if (!code)
		code = sort_classes(c->profile[c->n - 1], &classes[1], err);
	uint64_t new = 0, used = 0;
	for (uint32_t i = 0; i < n && !code; i++) {
		const char *class = c->row[list[i].row].class;
		if (progress_own_stops(i))
			code = err_cancelled(err);
		if (!i || class != c->row[list[i - 1].row].class || list[i].bytes != list[i - 1].bytes) {
			new = came_of_class(classes, class, list[i].bytes);
			used = 0;
		}
		if (used + list[i].came - list[i].came / 2 > new)
			bits_set(moved, list[i].row);
		else
			used += list[i].came;
	}
	big_free(list);
	big_free(classes[0].row);
	big_free(classes[1].row);
	return code;
}

/* All rows that rise, those of one place behind each other, first the topmost that retains most more. */
static struct rising *list_rising(const struct comparison *c, uint32_t *n, struct err *err)
{
	struct rising *list = big_alloc(c->n_rows, sizeof *list, err);
	uint32_t *on = list ? big_alloc(c->n_rows, sizeof *on, err) : NULL; /* PROFILE_NONE: nothing above rises */
	struct bits moved = {.word = NULL};
	int code = !on ? ERR_NOMEM : c->other_references ? bits_init(&moved, c->n_rows, err) : 0;
	if (!code && c->other_references)
		code = mark_moved(c, &moved, err);
	*n = 0;
	if (code) {
		bits_release(&moved);
		big_free(on);
		big_free(list);
		return NULL;
	}
	for (uint32_t row = 0; row < c->n_rows; row++) {
		uint32_t parent = c->row[row].parent;
		on[row] = parent == PROFILE_NONE ? PROFILE_NONE : on[parent];
		if (!rises(c, row) || (moved.word && bits_get(&moved, row)))
			continue;
		bool topmost = on[row] == PROFILE_NONE;
		if (topmost)
			on[row] = hangs_on(c, row);
		list[(*n)++] = (struct rising){row, on[row], topmost, amount_signed(more_of(c, row))};
	}
	big_free(on);
	bits_release(&moved);
	sort_array(list, *n, sizeof *list, by_place);
	return list;
}

enum standing { OF_COLLECTION, OF_KEY, OF_LIBRARY, OF_PROGRAM };

/* How much a person wants to hear of a row rather than of others that hang on the same. */
static enum standing standing_of(const struct comparison *c, uint32_t row, uint32_t on, bool java)
{
	const char *class = c->row[row].class;
	if (class && library_programs_name(java, class))
		return OF_PROGRAM;
	if (is_collection(&c->row[row]))
		return OF_COLLECTION;
	for (uint32_t at = row; at != on; at = c->row[at].parent)
		if (!strcmp(c->row[at].words, "key") && serves_collection(&c->row[c->row[at].parent]))
			return OF_KEY; /* or what it is made of */
	return OF_LIBRARY;
}

static uint64_t came(const struct comparison *c, uint32_t row)
{
	return compared(c, row, c->n - 1)->objects.n - compared(c, row, 0)->objects.n;
}

/* Of rows of one place, as by_place has them, put that first which stands for them. */
static void choose_standing(struct rising *place, uint32_t n, const struct comparison *c, bool java)
{
	uint32_t best = 0;
	for (uint32_t i = 1; i < n; i++)
		if (came(c, place[i].row) >= (came(c, place[0].row) + 1) / 2 &&
		    standing_of(c, place[i].row, place[i].on, java) >
		    standing_of(c, place[best].row, place[best].on, java))
			best = i;
	struct rising first = place[best];
	memmove(place + 1, place, best * sizeof *place);
	place[0] = first;
}

/* Of a row and all above it as far as `on`, that which retains most more: others may hold what a collection is made of,
 * as a thread does the queue of its pool. */
static uint32_t keeps_most(const struct comparison *c, uint32_t row, uint32_t on)
{
	uint32_t most = row;
	for (uint32_t at = row; at != on;) {
		at = c->row[at].parent;
		if (amount_signed(more_of(c, at)) >= amount_signed(more_of(c, most)))
			most = at;
	}
	return most;
}

/* Do objects of the program's own, or those below its static fields, come and go? */
static bool comes_and_goes(const struct comparison *c, uint32_t row, const bool *own)
{
	struct course course = compare_objects(c, row);
	return course.up && course.down && own[row] && !serves_collection(&c->row[row]);
}

static int by_number(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	return (a > b) - (a < b);
}

/* Count what was looked at, and of it what rose and fell again, each place once and none below another. */
static int count_places(struct growth *g, const struct comparison *c, struct err *err)
{
	uint32_t *place = big_alloc(c->n_rows, sizeof *place, err), n = 0;
	bool *own = place ? big_alloc(c->n_rows, sizeof *own, err) : NULL;
	bool *below = own ? big_alloc(c->n_rows, sizeof *below, err) : NULL;
	for (uint32_t row = 0; below && row < c->n_rows; row++) {
		const struct profile_row *r = &c->row[row];
		bool begins = r->parent == PROFILE_NONE;
		bool names_own = r->class && library_programs_name(g->java, r->class);
		own[row] = names_own || (!begins && own[r->parent]);
		below[row] = !begins && below[r->parent];
		g->n_looked_at += !serves_collection(r);
		if (!below[row] && comes_and_goes(c, row, own)) {
			below[row] = true;
			place[n++] = hangs_on(c, row);
		}
	}
	if (below) {
		sort_array(place, n, sizeof *place, by_number);
		for (uint32_t i = 0; i < n; i++)
			g->n_fell += !i || place[i] != place[i - 1];
	}
	big_free(place);
	big_free(own);
	int code = below ? 0 : ERR_NOMEM;
	big_free(below);
	return code;
}

static int by_class(const void *x, const void *y)
{
	const struct grown_with *a = x, *b = y;
	/* the same names are the same pointers, and may be long */
	return a->class == b->class ? 0 : strcmp(a->class ? a->class : "", b->class ? b->class : "");
}

static int by_bytes(const void *x, const void *y)
{
	const struct grown_with *a = x, *b = y;
	return a->shallow.n != b->shallow.n ? (a->shallow.n < b->shallow.n) - (a->shallow.n > b->shallow.n) :
	    by_class(x, y);
}

/* Add up by class what came along with the first of these rows. */
static void add_with(struct growth *g, const struct comparison *c, const struct rising *row, uint32_t n)
{
	struct grown_with *with = g->with + g->n_with;
	uint32_t kept = 0;
	for (uint32_t i = 1; i < n; i++) {
		const struct compared_amounts *first = compared(c, row[i].row, 0), *last = compared(c, row[i].row, c->n - 1);
		with[i - 1] = (struct grown_with){c->row[row[i].row].class, first->objects, last->objects, last->shallow};
	}
	sort_array(with, n - 1, sizeof *with, by_class);
	for (uint32_t i = 0; i + 1 < n; i++) {
		if (!kept || by_class(&with[kept - 1], &with[i])) {
			with[kept++] = with[i];
			continue;
		}
		with[kept - 1].before = amount_add(with[kept - 1].before, with[i].before);
		with[kept - 1].now = amount_add(with[kept - 1].now, with[i].now);
		with[kept - 1].shallow = amount_add(with[kept - 1].shallow, with[i].shallow);
	}
	sort_array(with, kept, sizeof *with, by_bytes);
	g->list[g->n].with = g->n_with;
	g->list[g->n].n_with = kept;
	g->n_with += kept;
}

static int by_more(const void *x, const void *y)
{
	const struct grown *a = x, *b = y;
	if (a->alone != b->alone)
		return a->alone < b->alone ? 1 : -1;
	int64_t p = amount_signed(a->more), q = amount_signed(b->more);
	return p != q ? (p < q) - (p > q) : (a->row > b->row) - (a->row < b->row);
}

int compare_growth(struct growth *out, const struct comparison *c, bool java, struct err *err)
{
	uint32_t n;
	struct rising *rising = list_rising(c, &n, err);
	*out = (struct growth){.list = rising ? big_alloc(n, sizeof *out->list, err) : NULL};
	out->with = out->list ? big_alloc(n, sizeof *out->with, err) : NULL;
	out->java = java;
	for (uint32_t i = 0, end; out->with && i < n; i = end) {
		uint32_t on = rising[i].on;
		for (end = i + 1; end < n && rising[end].on == on; end++)
			;
		choose_standing(rising + i, end - i, c, out->java);
		uint32_t row = rising[i].row, keeps = keeps_most(c, row, on);
		out->list[out->n] = (struct grown){
			.row = row,
			.hangs_on = on,
			.keeps = keeps,
			.once = came_last(c, row),
			.moved = came_last(c, row) && moved_here(c, row),
			.steady = is_steady(c, row),
			.more = more_of(c, keeps),
		};
		add_with(out, c, rising + i, end - i);
		out->n++;
	}
	big_free(rising);
	int code = out->with ? count_places(out, c, err) : ERR_NOMEM;
	if (code)
		growth_release(out);
	else
		sort_array(out->list, out->n, sizeof *out->list, by_more);
	return code;
}

/* --- what is in nothing else that grows --------------------------------------------------------- */

enum { ASKED_NOT, OUTSIDE, INSIDE };

/* Is one of those that dominate the object in a row that grows?  Answers for all on the way up stay. */
static bool is_inside(const struct retained *r, const uint32_t *row_of, const uint32_t *grown, uint8_t *answer,
    uint32_t id)
{
	const uint32_t *immediate = r->dominators.immediate;
	uint32_t at = id;
	while (!answer[at] && immediate[at] < NOT_REACHABLE) {
		uint32_t row = row_of[immediate[at]];
		if (row != PROFILE_NONE && grown[row])
			break;
		at = immediate[at];
	}
	uint8_t found = answer[at] ? answer[at] : immediate[at] < NOT_REACHABLE ? INSIDE : OUTSIDE;
	for (uint32_t way = id;; way = immediate[way]) {
		answer[way] = found;
		if (way == at)
			return found == INSIDE;
	}
}

int compare_growth_alone(struct growth *g, const struct comparison *c, const struct retained *r,
    const uint32_t *row_of, struct err *err)
{
	uint32_t n = r->dominators.n_objects;
	uint32_t *grown = big_alloc(c->n_rows, sizeof *grown, err); /* number + 1 */
	uint8_t *answer = grown ? big_alloc(n, sizeof *answer, err) : NULL;
	if (!answer) {
		big_free(grown);
		return ERR_NOMEM;
	}
	for (uint32_t i = 0; i < g->n; i++)
		grown[g->list[i].row] = i + 1;
	for (uint32_t id = 0; id < n && !progress_own_stops(id); id++) {
		uint32_t at = row_of[id] == PROFILE_NONE ? 0 : grown[row_of[id]];
		if (at && r->dominators.immediate[id] != NOT_REACHABLE && !is_inside(r, row_of, grown, answer, id))
			g->list[at - 1].alone += retained_size(r, id);
	}
	big_free(grown);
	big_free(answer);
	int code = progress_check(progress_own(), err);
	for (uint32_t i = 0; !code && i < g->n; i++) {
		int64_t more = amount_signed(g->list[i].more);
		if (more < 0 || g->list[i].alone > (uint64_t)more)
			g->list[i].alone = more < 0 ? 0 : (uint64_t)more;
	}
	if (!code)
		sort_array(g->list, g->n, sizeof *g->list, by_more);
	return code;
}

void growth_release(struct growth *g)
{
	big_free(g->list);
	big_free(g->with);
	*g = (struct growth){.n = 0};
}
