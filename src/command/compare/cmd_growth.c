/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_growth.c - growth: what grew from dump to dump, in a sentence each. */
#include "command/compare/comparing.h"

#include "analysis/what_if/what_if.h"
#include "base/mem.h"
#include "command/session/session.h"
#include "heap/heap.h"
#include "heap/library.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { G_REFERENCE, G_CLASS, G_OBJECTS, G_D_OBJECTS, G_RETAINED, G_D_RETAINED, G_SHARE, G_FREED, G_COURSE, G_SENTENCE };

static const struct column columns[] = {
    [G_REFERENCE] = {.id = COL_REFERENCE},
    [G_CLASS] = {.id = COL_CLASS},
    [G_OBJECTS] = {.id = COL_OBJECTS, .room = COLUMN_EARLY},
    [G_D_OBJECTS] = {.id = COL_D_OBJECTS, .room = COLUMN_EARLY},
    [G_RETAINED] = {.id = COL_RETAINED, .room = COLUMN_EARLY},
    [G_D_RETAINED] = {.id = COL_D_RETAINED, .bar = true},
    [G_SHARE] = {.id = COL_SHARE},
    [G_FREED] = {.id = COL_FREED},
    [G_COURSE] = {.id = COL_COURSE, .room = COLUMN_LATE},
    [G_SENTENCE] = {.id = COL_SENTENCE, .hidden = true},
};
static const struct shape shape = {.named_by = COL_CLASS, SHAPE_COLUMNS(columns)};

enum { TOLD_MOST = 1000, STORY_MOST = 12 }; /* rows; sentences below the table */
enum { SUSPECT_PART = 10 };          /* a place that grew by this part of net growth is a suspect */
#define TOLD_LEAST 0.001   /* of net growth: what is less gets a sentence only if it rises steadily */
#define TOLD_OF_VM 0.01    /* the same of what the VM or the JDK keeps for itself, and what does not rise steadily */

struct telling {
	struct comparing *comparing;
	struct what_if cut;
	struct amount all;  /* by how much what roots reach grew, bytes */
	uint32_t *single;   /* by row of the comparison: its only object in the newest dump; HEAP_NONE.  NULL: that is
	                       not open */
};

/* --- what clearing frees ------------------------------------------------------------------------ */

/* The only object of each row that has no more than one. */
static int find_singles(struct telling *t, struct err *err)
{
	const struct opened *o = t->comparing->opened;
	const struct comparison *c = &t->comparing->comparison;
	t->single = big_alloc(c->n_rows, sizeof *t->single, err);
	if (!t->single)
		return ERR_NOMEM;
	memset(t->single, 0xff, c->n_rows * sizeof *t->single);
	for (uint32_t id = 0; id < o->heap->n_objects && !progress_own_stops(id); id++) {
		uint32_t of = o->path_keys.of[id];
		if (of != PATH_KEY_NONE && compared(c, c->of_newest[of], c->n - 1)->objects.n == 1)
			t->single[c->of_newest[of]] = id;
	}
	return 0;
}

/* Of what references the object, that which its way leads through last; HEAP_NONE: none of it. */
static uint32_t holder_on_way(const struct opened *o, uint32_t id)
{
	const struct path_keys *s = &o->path_keys;
	const struct adjacency *in = &o->heap->in;
	uint32_t way[PATH_KEY_DEPTH + 1], holder = HEAP_NONE; /* by depth */
	for (uint32_t at = s->of[id]; at != PATH_KEY_NONE; at = s->list[at].parent)
		way[s->list[at].depth] = at;
	for (uint64_t k = adjacency_start(in, id); k < adjacency_start(in, id + 1); k++) {
		uint32_t from = s->of[in->target[k]], depth = from == PATH_KEY_NONE ? PATH_KEY_DEPTH : s->list[from].depth;
		bool on_way = depth < s->list[s->of[id]].depth && way[depth] == from;
		if (on_way && (holder == HEAP_NONE || depth > s->list[s->of[holder]].depth))
			holder = in->target[k];
	}
	return holder;
}

/* What goes when the last reference of the way to a row's only object is cleared. */
static struct what_if_figure cut_row(struct telling *t, uint32_t row)
{
	struct what_if_figure none = {.freed = amount_exact(0)};
	uint32_t id = t->single ? t->single[row] : HEAP_NONE;
	bool variable = t->comparing->comparison.row[row].start == START_VARIABLE;
	uint32_t holder = id == HEAP_NONE || variable ? HEAP_NONE : holder_on_way(t->comparing->opened, id);
	if (id == HEAP_NONE || (holder == HEAP_NONE && !variable))
		return none;
	return what_if_one(&t->cut, holder, id);
}

/* --- sentences ---------------------------------------------------------------------------------- */

static void add_cell(struct text *to, struct cell cell)
{
	cell_print(&cell, to);
}

/* "500 to 1,000 to 1,500", "0 in the first 2 dumps to 40 to 80" */
static void add_course(struct text *to, const struct comparison *c, uint32_t row)
{
	size_t first = 0;
	while (first + 2 < c->n && !compared(c, row, first + 1)->objects.n)
		first++;
	if (first)
		text_addf(to, "0 in the first %zu dumps to ", ++first);
	comparing_add_series(c, row, first, false, to);
}

/* Of what filled up, as a cache does. */
static void add_standstill(struct text *to, const struct comparison *c, uint32_t row)
{
	size_t still = 0;
	while (still + 1 < c->n && compared(c, row, c->n - 2 - still)->objects.n == compared(c, row, c->n - 1)->objects.n)
		still++;
	if (still > 1)
		text_addf(to, " (unchanged in the last %zu dumps)", still);
	else if (still)
		text_add(to, " (unchanged in the last dump)");
}

/* How a person writes the reference: without "static", which the class implies. */
static void add_reference(struct text *to, const struct comparison *c, uint32_t row)
{
	struct text way = TEXT_INIT;
	compared_add(c, row, &way);
	text_add(to, strncmp(way.s, "static ", 7) ? way.s : way.s + 7);
	text_release(&way);
}

#define GOROUTINE "goroutine # " /* how the names of goroutines begin, with their numbers folded */

/* Threads, class loaders and classes that grow themselves: no reference of the program leads to them. */
static bool is_start(const struct comparison *c, const struct grown *g)
{
	const struct profile_row *r = &c->row[g->row];
	return r->parent == PROFILE_NONE && r->start != START_VARIABLE && r->start != START_LOCAL;
}

/* 'Threads "http-#" (com.acme.shop.Worker) retain ', "com.acme.shop.AuditLog.ENTRIES retains " */
static void add_subject(struct text *to, const struct comparison *c, const struct grown *g)
{
	const struct profile_row *r = &c->row[g->row];
	bool one = g->once && compared(c, g->row, c->n - 1)->objects.n == 1;
	if (!is_start(c, g)) {
		add_reference(to, c, g->hangs_on);
		text_add(to, g->keeps == g->hangs_on ? " retains " : ": objects in it retain ");
		return;
	}
	if (r->start == START_THREAD && !strncmp(r->words, GOROUTINE, sizeof GOROUTINE - 1))
		text_addf(to, "Goroutine%s %s (%s)", one ? "" : "s", r->words + sizeof GOROUTINE - 1, r->class);
	else if (r->start == START_THREAD)
		text_addf(to, *r->words ? "Thread%s \"%s\" (%s)" : "Thread%s without a name%s (%s)", one ? "" : "s", r->words,
		    r->class);
	else if (r->start == START_CLASS)
		text_addf(to, r->shared ? "Class%s %s of different loaders (%s)" : "Class%s %s of different class loaders%s",
		    one ? "" : "es", r->class, r->shared ? r->words : "");
	else if (r->start == START_LOADER)
		text_addf(to, *r->words ? "Class loader%s %s \"%s\"" : "Class loader%s %s%s", one ? "" : "s", r->class,
		    r->words);
	else
		text_add(to, r->class ? r->class : "deeper objects");
	text_add(to, one ? " retains " : " retain ");
}

static bool only_larger(const struct comparison *c, const struct grown *g)
{
	return compared(c, g->row, 0)->objects.n == compared(c, g->row, c->n - 1)->objects.n;
}

/* Of what came along: the program's own classes first, then the others; at most n numbers of all->with. */
static uint32_t choose_with(const struct growth *all, const struct grown *g, uint32_t *to, uint32_t most)
{
	uint32_t n = 0;
	for (int own = 1; own >= 0; own--)
		for (uint32_t i = 0; i < g->n_with && n < most; i++) {
			const char *class = all->with[g->with + i].class;
			if (class && library_programs_name(all->java, class) == (own == 1))
				to[n++] = g->with + i;
		}
	return n;
}

/* ", with byte[] 500 to 2,000 and tide.Stamp 1,000 to 4,000" */
static void add_with(struct text *to, const struct growth *all, const struct grown *g)
{
	enum { SHOWN = 3 };
	uint32_t chosen[SHOWN], n = choose_with(all, g, chosen, SHOWN);
	for (uint32_t i = 0; i < n; i++) {
		const struct grown_with *w = &all->with[chosen[i]];
		text_addf(to, "%s%s ", i == 0 ? ", with " : i + 1 == n && n == g->n_with ? " and " : ", ", w->class);
		add_cell(to, cell_count(w->before));
		text_add(to, " to ");
		add_cell(to, cell_count(w->now));
	}
	if (n < g->n_with)
		text_addf(to, "%s %" PRIu32 " more class%s", n ? " and" : ", with", g->n_with - n,
		    g->n_with - n == 1 ? "" : "es");
}

/* "5 com.acme.shop.Order came with the last dump", or if dumps before it are left out, after the one that is not. */
static void add_coming(struct text *to, const struct comparing *comparing, const struct grown *g, const char *class)
{
	const struct comparison *c = &comparing->comparison;
	const struct compared_amounts *last = compared(c, g->row, c->n - 1);
	bool left_out = false, one = last->objects.n == 1; /* one between the last two in the list */
	for (size_t i = 0; i < comparing->n_all && comparing->all[i].at != c->n - 1; i++)
		left_out = comparing->all[i].at == COMPARING_LEFT_OUT;
	if (!one)
		add_cell(to, cell_count(last->objects));
	text_addf(to, "%s%s", one || !class ? "" : " ", class ? class : one ? "It" : "");
	if (g->moved)
		text_addf(to, " %s on this path only since ", one ? "is" : "are");
	else
		text_add(to, left_out ? " came after " : " came with ");
	text_add(to, left_out ? comparing->name[c->n - 2] : "the last dump");
}

/* ". com.acme.shop.Order rose from 20 to 40 to 60, with byte[] 20 to 60" */
static void add_growth(struct text *to, const struct comparing *comparing, const struct growth *all,
    const struct grown *g)
{
	const struct comparison *c = &comparing->comparison;
	const struct compared_amounts *first = compared(c, g->row, 0), *last = compared(c, g->row, c->n - 1);
	const char *class = c->row[g->row].class ? c->row[g->row].class : "deeper objects";
	text_add(to, ". ");
	if (is_start(c, g))
		class = NULL;
	if (only_larger(c, g)) {
		text_addf(to, "%s grew from ", class ? class : last->objects.n == 1 ? "It" : "They");
		add_cell(to, cell_bytes(first->shallow));
		text_add(to, " to ");
		add_cell(to, cell_bytes(last->shallow));
	} else if (g->once) {
		add_coming(to, comparing, g, class);
	} else {
		text_addf(to, "%s rose from ", class ? class : "They");
		add_course(to, c, g->row);
		add_standstill(to, c, g->row);
		add_with(to, all, g);
	}
}

/* "53.1K more" since the first dump, or of what came only with the last one, all. */
static void add_size(struct text *to, const struct comparison *c, const struct grown *g)
{
	bool all = g->once && !only_larger(c, g);
	add_cell(to, cell_bytes(all ? compared(c, g->keeps, c->n - 1)->retained : g->more));
	text_add(to, all ? "" : " more");
}

/* "~+12.5%", "under 0.1%" */
static void add_percent(struct text *to, const char *sign, struct amount part, struct amount whole)
{
	struct cell c = cell_percent(part, whole);
	if (!c.amount.n && part.n) {
		text_add(to, "under 0.1%");
		return;
	}
	text_add(to, c.amount.certainty == INFERRED ? "~" : c.amount.certainty == LOWER_BOUND ? ">=" : "");
	c.amount.certainty = EXACT;
	text_add(to, sign);
	add_cell(to, c);
}

static void add_shares(struct text *to, const struct telling *t, const struct grown *g)
{
	const struct comparison *c = &t->comparing->comparison;
	struct amount before = compared(c, g->keeps, 0)->retained;
	struct amount more = g->more;
	bool all = amount_signed(t->all) > 0 && amount_signed(more) > 0;
	bool percent = before.n && amount_signed(more) >= 0 && more.n / 10 < before.n;
	if (!percent && !all)
		return;
	text_add(to, " (");
	if (percent)
		add_percent(to, "+", more, before);
	if (all) {
		text_add(to, percent ? ", " : "");
		add_percent(to, "", more, t->all);
		text_add(to, " of net growth");
	}
	text_add(to, ")");
}

static void tell(struct text *to, struct telling *t, const struct growth *all, const struct grown *g,
    const struct what_if_figure *cut)
{
	const struct comparison *c = &t->comparing->comparison;
	add_subject(to, c, g);
	add_size(to, c, g);
	add_shares(to, t, g);
	add_growth(to, t->comparing, all, g);
	if (cut->freed.n) {
		text_add(to, ". Clearing ");
		if (is_start(c, g))
			add_reference(to, c, g->hangs_on);
		else
			text_add(to, "it");
		text_add(to, " frees ");
		add_cell(to, cell_bytes(cut->freed));
	} else if (cut->others.n) {
		text_add(to, ". Clearing it frees nothing: ");
		add_cell(to, cell_count(cut->others));
		text_add(to, cut->others.n == 1 ? " other reference holds it" : " other references hold it");
	}
	text_add(to, ".");
}

/* --- the command -------------------------------------------------------------------------------- */

/* What is not the program's own, nor below a static field of its own, grew by little, and not all the time, is no
 * news; nor what the VM or the JDK keeps. */
static bool worth_telling(const struct telling *t, const struct growth *growth, const struct grown *g)
{
	const struct comparison *c = &t->comparing->comparison;
	uint32_t top = g->row;
	while (c->row[top].parent != PROFILE_NONE)
		top = c->row[top].parent;
	const char *class = c->row[g->row].class, *begins = c->row[top].start == START_CLASS ? c->row[top].class : NULL;
	int64_t all = amount_signed(t->all), more = amount_signed(g->more);
	double share = (double)more / (double)(all > 0 ? all : 1);
	/* the VM's, or the JDK's own */
	bool vms = c->row[g->hangs_on].words[0] == '<' ||
	    (begins && !library_programs_name(growth->java, begins) &&
	        class && !library_programs_name(growth->java, class));
	bool own = (class && library_programs_name(growth->java, class)) ||
	    (begins && library_programs_name(growth->java, begins) && g->keeps == g->hangs_on);
	if (more <= 0 || vms)
		return more > 0 && share >= (g->steady ? TOLD_LEAST : TOLD_OF_VM);
	return share >= TOLD_LEAST || g->steady || own;
}

struct growth_rows {
	struct comparing *comparing;
	uint32_t *row; /* of the comparison, by row of the result */
	size_t n, cap;
	uint32_t *keeps; /* likewise the one whose retained size it shows */
	size_t n_keeps, cap_keeps;
};

static int growth_members(const struct result *r, void *data, const struct bits *rows, struct bits *to, struct err *err)
{
	const struct growth_rows *g = data;
	return comparing_rows_members(g->comparing, r->opened, g->row, rows, to, err);
}

/* Differences are between the first dump and the last, the rest is of the last. */
static bool growth_blamed(const struct result *r, size_t row, unsigned column, enum reason reason, size_t dump)
{
	const struct growth_rows *g = result_rows_data(r);
	const struct comparison *c = &g->comparing->comparison;
	uint32_t keeps = g->keeps[row];
	if (column == G_SHARE)
		return (dump == 0 || dump == c->n - 1) && (comparing_blames(compared(c, keeps, dump)->retained, reason) ||
		    comparing_blames(c->profile[dump]->reachable, reason));
	return comparing_blames_figure(c, column == G_RETAINED || column == G_D_RETAINED ? keeps : g->row[row], 0,
	    columns[column].id, reason, dump);
}

static void growth_rows_release(void *data)
{
	struct growth_rows *g = data;
	comparing_free(g->comparing);
	free(g->row);
	free(g->keeps);
	free(g);
}

static void add_row(struct result *r, struct telling *t, const struct grown *g, const struct what_if_figure *cut,
    const char *sentence)
{
	const struct comparison *c = &t->comparing->comparison;
	const struct compared_amounts *first = compared(c, g->row, 0), *last = compared(c, g->row, c->n - 1);
	const struct compared_amounts *on_first = compared(c, g->keeps, 0), *on = compared(c, g->keeps, c->n - 1);
	struct text reference = TEXT_INIT, course = TEXT_INIT, command = TEXT_INIT;
	add_reference(&reference, c, g->hangs_on);
	comparing_add_course_line(c, g->row, &command);
	struct cell name = cell_text(reference.s);
	name.suspect = amount_signed(t->all) > 0 && amount_signed(g->more) >= amount_signed(t->all) / SUSPECT_PART;
	result_add_row(r, (struct cell[]){name, cell_text(c->row[g->row].class),
	    cell_count(last->objects), cell_delta(first->objects, last->objects), cell_bytes(on->retained),
	    cell_bytes_delta(on_first->retained, on->retained),
	    amount_signed(t->all) > 0 ? cell_percent(g->more, t->all) : cell_blank(),
	    cut->freed.n ? cell_bytes(cut->freed) : cell_blank(), comparing_course_cell(t->comparing, g->row, &course),
	    cell_text(sentence)},
	    t->comparing->objects ? &(struct target){.kind = TARGET_GROUP} :
	    &(struct target){.kind = TARGET_COMMAND, .command = command.s});
	text_release(&command);
	text_release(&reference);
	text_release(&course);
}

static void add_rows(struct result *r, struct telling *t, const struct growth *growth, struct growth_rows *rows)
{
	struct text story = TEXT_INIT, sentence = TEXT_INIT;
	size_t told = 0;
	for (uint32_t i = 0; i < growth->n && rows->n < TOLD_MOST; i++) {
		const struct grown *g = &growth->list[i];
		if (!worth_telling(t, growth, g))
			continue;
		struct what_if_figure cut = cut_row(t, g->hangs_on);
		text_clear(&sentence);
		tell(&sentence, t, growth, g, &cut);
		add_row(r, t, g, &cut, sentence.s);
		VEC_PUSH(rows->row, rows->n, rows->cap) = g->row;
		VEC_PUSH(rows->keeps, rows->n_keeps, rows->cap_keeps) = g->keeps;
		if (told++ < STORY_MOST) {
			text_add(&story, "\n");
			command_add_wrapped(&story, sentence.s, 78);
		}
	}
	if (story.len)
		r->text_below = arena_strndup(&r->arena, story.s, story.len);
	text_release(&story);
	text_release(&sentence);
}

static int telling_begin(struct telling *t, struct comparing *c, struct err *err)
{
	*t = (struct telling){.comparing = c};
	t->all = amount_change(c->list[0]->reachable, c->newest->reachable);
	if (!c->opened)
		return 0;
	int code = what_if_init(&t->cut, opened_retained(c->opened), err);
	return code ? code : find_singles(t, err);
}

static void note_places(struct result *r, const struct growth *growth)
{
	struct text note = TEXT_INIT;
	text_add_count(&note, growth->n_fell);
	text_addf(&note, " of the program's own places rose and fell, as caches do (diff lists %s; ",
	    growth->n_fell == 1 ? "it" : "them");
	text_add_count(&note, growth->n_looked_at);
	text_add(&note, " places in all)");
	result_add_note_text(r, &note);
}

/* By how much -fail-over is passed, where it is: the exit status alone says nothing. */
static bool note_over(struct result *r, struct amount all, uint64_t most)
{
	struct text note = TEXT_INIT;
	if (amount_signed(all) <= 0 || all.n <= most)
		return false;
	text_add(&note, "reachable memory grew by ");
	add_cell(&note, cell_bytes(all));
	text_add(&note, ", more than ");
	text_add_bytes(&note, most);
	result_warn(r, note.s);
	text_release(&note);
	return true;
}

static int run_growth(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct comparing *comparing;
	struct growth growth = {.n = 0};
	struct telling t;
	int code = comparing_begin(&comparing, s, PROFILE_PATH, true, err);
	if (code)
		return code;
	struct growth_rows *rows = xcalloc(1, sizeof *rows);
	struct result *r = *out = result_new_rows("growth", comparing->opened, &shape);
	rows->comparing = comparing;
	result_rows_members(r, comparing->opened ? growth_members : NULL, growth_rows_release, rows);
	code = telling_begin(&t, comparing, err);
	if (!code)
		code = comparing_growth(&growth, comparing, comparing->opened, err);
	if (!code && !comparing->other_program)
		add_rows(r, &t, &growth, rows);
	what_if_release(&t.cut);
	big_free(t.single);
	if (!comparing->opened)
		result_show(r, G_FREED, false); /* objects would tell */
	comparing_tell(r, comparing, growth_blamed);
	if (comparing->n == 2 && rows->n)
		result_add_note(r, "with two dumps a leak looks like a cache that fills; a third dump helps");
	if (comparing->n == 1)
		result_add_note(r, "only one dump is left to compare; growth needs two");
	else if (!rows->n && !comparing->other_program)
		result_add_note(r, profile_in_part(comparing->newest) ? "nothing in its readable part grew" :
		    "nothing grew without shrinking in between");
	if (growth.n_fell && !comparing->other_program)
		note_places(r, &growth);
	growth_release(&growth);
	result_mark(r, RESULT_FAILED, !rows->n);
	if (call_has(call, DASH_FAIL_OVER)) /* what compared nothing has not passed */
		result_mark(r, RESULT_FAILED, note_over(r, t.all, call_number(call, DASH_FAIL_OVER, 0)) ||
		    comparing->n == 1 || comparing->other_program);
	return code;
}

const struct command cmd_growth = {
    .name = "growth",
    .options = OPTIONS({DASH_FAIL_OVER, OPT_SIZE, "SIZE", "exit status 1 if reachable memory grew by more"}),
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_NEEDS_RETAINED | COMMAND_OF_PROFILES |
	COMMAND_COMPARES,
    .group = "compare",
    .summary = "find growth since the older dumps and the references to clear",
    .shapes = SHAPES(&shape),
    .description = "One headline per place that grew: the reference that holds the objects, how much more it "
	"retains, and its share of net growth. The objects in each dump follow, and what clearing the reference "
	"frees.\n"
	"place\tgrows if its objects never became fewer and are more in the end, or if a longer array replaced its "
	"array\n"
	"net growth\tgrowth of all reachable memory; shares may exceed 100% in sum, because other places shrank\n"
	"retained, d_retained\tof the reference, or of the objects in it that retain most more\n"
	"share\tpercent of net growth; on the screen places with a tenth of it are red\n"
	"Caches that rise and fall and objects that replace others do not grow; a note counts such places. Between "
	"a PHD and a system dump or HPROF a place grows only if its class has more objects or bytes in total. Older "
	"dumps that were read in part are left out. The exit status is 1 if nothing grew; with -fail-over, if "
	"reachable memory grew by more than SIZE or nothing could be compared.",
    .examples = {{"growth", ON_SERIES, "growth, and the references to clear"},
	{"ls %2", ON_SERIES, "the objects of its second row"},
	{"growth -fail-over 10M", ON_SERIES, "exit status 1 if the heap grew by more than 10 MiB"}},
    .run = run_growth,
};
