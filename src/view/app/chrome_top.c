/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chrome_top.c - what stands above the page: the title, with how far works are, and the line of the place. */
#include "dump/lazy_dump.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "result/result.h"
#include "view/app/app.h"

#include <stdio.h>
#include <string.h>

#define NAME_LEAST 22 /* columns of the file's name before the facts give way */

/* --- line 1 ------------------------------------------------------------------------------------ */

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void add_size(const struct heap *h, struct text *to)
{
	struct cell objects = cell_count(heap_counted(h, h->n_objects));
	struct cell bytes = cell_bytes(heap_size_of_all(h));

	cell_print(&objects, to);
	text_addf(to, " objects %s ", theme_glyph(GLYPH_DOT));
	cell_print(&bytes, to);
}

/* One word at the end of line 1, however narrow it is: nobody may take a part for the whole. */
static int draw_damage(const struct opened *o, int width)
{
	bool lost = o && o->fate != FILE_SAME;
	if (!o || (!o->heap->damaged && !lost))
		return 0;
	const struct err *damage = &o->heap->damage;
	const char *word = lost || damage->code != ERR_TRUNCATED ? "damaged" :
	    damage->has_offset ? "truncated" : "incomplete"; /* its end is missing, or something else */
	int needed = (int)strlen(word);
	if (width < needed + 8)
		return 0;
	draw_text(0, width - needed, needed, word, theme_role(ROLE_ERROR));
	if (width < 40)
		return needed + 1;
	draw_text(0, width - needed - 2, 1, theme_glyph(GLYPH_DOT), theme_role(ROLE_FACTS));
	return needed + 3;
}

static void add_format(const struct heap *h, struct text *to)
{
	const char *dot = theme_glyph(GLYPH_DOT);

	const struct dump_facts *f = &h->facts;
	if (f->vm_release && !f->version[0])
		text_addf(to, "%.*s (%s)", (int)f->vm_release, f->vm, f->label);
	else if (f->vm_release)
		text_addf(to, "%.*s (dump format %s)", (int)f->vm_release, f->vm, f->version);
	else
		text_addf(to, "%s%s%s", f->label, f->version[0] ? " " : "", f->version);
	if (!h->facts.word_unknown)
		text_addf(to, " %s %u bit", dot, heap_word_bits(h));
	text_addf(to, " %s ", dot);
}

/* What the top line says of the dump: with less room less, and longest that weak references hold. */
enum { FACTS_ALL, FACTS_SIZE, FACTS_WEAK, FACTS_NONE };

static void add_facts(const struct app *a, int how_much, struct text *to)
{
	const struct heap *h = session_heap(&a->session);

	text_clear(to);
	if (app_profiles_alone(a) && how_much < FACTS_NONE)
		text_addf(to, "%s%s", a->profiles.s, how_much == FACTS_ALL && a->profiles_when.len ? a->profiles_when.s : "");
	if (!h)
		return;
	/* the page of the heap's tree says what that leaves out */
	if (a->here.tab == TAB_HEAP && how_much <= FACTS_SIZE)
		command_live_words(a->session.dump, theme_glyph(GLYPH_DOT), to);
	if (how_much == FACTS_ALL && !to->len)
		add_format(h, to);
	if (how_much <= FACTS_SIZE && (a->here.tab != TAB_HEAP || !opened_retained(a->session.dump)))
		add_size(h, to);
	if (a->session.dump->counts_weak && how_much <= FACTS_WEAK)
		text_addf(to, "%s%s%s", to->len ? " " : "", to->len ? theme_glyph(GLYPH_DOT) : "",
		    to->len ? " weak on" : "weak on");
}

static void add_inflating(const struct app *a, struct text *to)
{
	struct progress *p = lazy_dump_progress(a->inflating);

	text_add(to, phase_info[PHASE_INFLATE].word);
	if (p)
		eta_add_share(p, to);
}

/* The place of the tabs is theirs: what works is named in line 1, before the facts. */
static void add_work(struct app *a, struct text *to)
{
	text_clear(to);
	if (a->here.pages.n == 0)
		return;
	if (!a->loader.finished)
		loader_word(&a->loader, to);
	else if (a->finding.running)
		retained_job_word(&a->finding, to);
	else if (a->inflating)
		add_inflating(a, to);
}

void app_draw_title(struct app *a, int width)
{
	struct text name = TEXT_INIT, facts = TEXT_INIT, work = TEXT_INIT;
	int x = draw_clipped(0, 0, width, "cairn", theme_role(ROLE_TITLE)) + 2, needed, room, how_much = 0;

	width -= draw_damage(a->session.dump, width);
	const struct session *s = &a->session;
	const struct session_dump *d = s->dump ? session_at_hand(s) : session_newest(s);
	const char *file = !s->dump && s->folder ? s->folder->shown : file_name(d->path);
	text_add_escaped(&name, file, strlen(file));
	if (s->n_dumps > 1 && !app_profiles_alone(a))
		text_addf(&name, "  %zu/%zu", d->number, s->n_dumps);
	/* both where they fit; a long name gives way, but keeps its end, where its time stands */
	int named = (int)text_width_most(name.s, (size_t)width), least[] = {NAME_LEAST, 12, 8, 0};
	add_work(a, &work);
	int works = (int)text_width(work.s) + (work.len ? 3 : 0);
	do {
		add_facts(a, how_much, &facts);
		needed = (int)text_width(facts.s);
		room = width - x - (needed ? needed + 3 : 0) - works;
	} while (room < named && room < least[how_much] && ++how_much < FACTS_NONE);
	if (how_much == FACTS_NONE || !needed) {
		needed = 0;
		works = works < width - x ? works : 0;
		room = width - x - works;
	}
	draw_text_keep_end(0, x, room, name.s, theme_role(ROLE_FACTS));
	draw_right(0, width - needed, needed, facts.s, theme_role(ROLE_FACTS));
	if (works)
		draw_right(0, x + room, width - x - room - (needed ? needed + 3 : 0), work.s, theme_role(ROLE_WORKING));
	text_release(&name);
	text_release(&facts);
	text_release(&work);
}

/* --- line 2 ------------------------------------------------------------------------------------ */

/* What a tree has below closed rows is not looked at. */
static void add_filter(const char *filter, bool tree, struct text *to)
{
	text_add(to, tree ? "   filter of open rows: " : "   filter: ");
	text_add_escaped(to, filter, strlen(filter));
}

/* What is said of columns without room, the less the narrower. */
enum { WIDTH_FOR_LOST = 60 }; /* where there is less, titles and tabs need it */
enum lost { LOST_WORDS, LOST_NUMBER, LOST_UNSAID };

static void add_state(struct app *a, enum lost lost, struct text *to)
{
	struct page *p = app_page(a);
	struct table *t = p ? p->ops->table(p) : NULL;

	if (!t) {
		size_t first, last, n;
		if (!p || !p->ops->lines || !p->ops->lines(p, &first, &last, &n))
			return;
		text_add(to, "   lines ");
		text_add_count(to, first);
		text_add_char(to, '-');
		text_add_count(to, last);
		text_add_char(to, '/');
		text_add_count(to, n);
		return;
	}
	const struct result *r = t->result;
	if (lost != LOST_UNSAID && t->lost > 0)
		text_addf(to, "   +%u", t->lost);
	if (lost == LOST_WORDS && t->lost > 0)
		text_add(to, t->lost == 1 ? " column: W" : " columns: W");
	if (r->sorted_by >= 0) {
		text_add(to, "   ");
		table_add_title(&r->columns[r->sorted_by], to);
		text_add(to, r->descending ? " v" : " ^");
	}
	if (t->filter)
		add_filter(t->filter, tree_is(t->result), to);
	if (r->chosen && t->more)
		text_add(to, "   } more");
	if (page_is_overview(p)) /* its parts are lists of their own */
		return;
	text_add(to, "   ");
	text_add_count(to, r->n_rows > 0 && !t->on_head ? t->row + 1 : 0);
	text_add_char(to, '/');
	text_add_count(to, r->n_rows);
	if (r->so_far)
		text_add(to, " so far");
}

static int step_width(const struct app *a, size_t i, int most)
{
	return (int)text_width_most(a->here.pages.page[i]->title, (size_t)most) + 3;
}

/* The first of the steps before the view shown that stand in so many columns together. */
static size_t first_step(const struct app *a, int room)
{
	size_t first = a->here.pages.at;

	while (first > 0 && room >= 0 && (room -= step_width(a, first - 1, room)) >= 0)
		first--;
	return first;
}

/* The path of views: whole steps, as many as fit.  Where not all do, the middle folds: where one came from is shown
 * before where one began.  Looks at no more of the titles than the line can show. */
static void add_step(struct app *a, int y, size_t i, struct text *to)
{
	const char *title = a->here.pages.page[i]->title;

	mouse_zone(a, (struct zone){y, (int)text_width(to->len ? to->s : ""), step_width(a, i, COLS) - 3, .page = i});
	text_addf(to, "%s > ", title);
}

/* Drop the last figures of a title, "com.acme.Main 4711 · heap 38M of 256M · 3+0 GCs", until it has room, if need be
 * without its package. */
static void fit_figures(struct text *title, int width)
{
	static const char dot[] = " \u00b7 ";
	size_t n, package = 0;

	for (size_t i = 0; i < title->len && title->s[i] != ' '; i++)
		package = title->s[i] == '.' ? i + 1 : package;
	while ((int)text_width(title->s) > width + (int)package) {
		for (n = title->len; n > 0 && strncmp(title->s + n, dot, sizeof dot - 1) != 0;)
			n--;
		if (!n)
			return;
		title->len = n;
		title->s[n] = '\0';
	}
}

static void draw_breadcrumb(struct app *a, int y, int width)
{
	struct text before = TEXT_INIT;
	const char *title = a->here.pages.page[a->here.pages.at]->title, *dots = theme_glyph(GLYPH_ELLIPSIS);
	int room = width - (int)text_width_most(title, (size_t)width), begin = step_width(a, 0, width), x = 0;
	size_t first = first_step(a, room);

	if (first > 0) {
		size_t without = first_step(a, room - 4), with = first_step(a, room - 4 - begin);
		bool folds = begin + 4 <= room && (with < a->here.pages.at || without == a->here.pages.at);
		first = folds ? with : without;
		if (folds)
			add_step(a, y, 0, &before);
		text_addf(&before, "%s > ", dots);
	}
	bool fits = first == 0 || room > 6;
	for (; first < a->here.pages.at; first++)
		add_step(a, y, first, &before);
	if (before.len > 0 && fits)
		x = draw_clipped(y, 0, room, before.s, theme_role(ROLE_QUIET));
	const struct result *r = page_result(app_page(a));
	text_clear(&before);
	text_add(&before, title);
	if (r && result_is(r, RESULT_REFRESHES))
		fit_figures(&before, width - x);
	draw_name(y, x, width - x, before.s, theme_role(ROLE_PLACE));
	text_release(&before);
}

/* Of all steps; no more than most + 1. */
static int breadcrumb_width(const struct app *a, int most)
{
	int sum = (int)text_width_most(a->here.pages.page[a->here.pages.at]->title, (size_t)most);

	for (size_t i = 0; i < a->here.pages.at && sum <= most; i++)
		sum += step_width(a, i, most);
	return sum;
}

/* False: the tabs or the title have no room beside that, and nothing is drawn. */
static bool draw_place(struct app *a, int y, int width, enum lost lost)
{
	struct text state = TEXT_INIT;

	text_clear(&state);
	add_state(a, lost, &state);
	int state_width = (int)text_width(state.s);
	if (state_width > width * 2 / 3)
		state_width = width * 2 / 3;
	int room = width - state_width - 1;
	int gap = (int)strspn(state.s, " "); /* before what it says, and one is enough where it is narrow */
	int said = (int)text_width(state.s) - gap, said_width = said < state_width ? said : state_width;
	bool tabs = a->here.pages.n > 0 && a->here.pages.at == 0 &&
		    tabs_draw(a, y, 0, room + gap);
	bool below = a->here.pages.at > 0, drawn = tabs || lost == LOST_UNSAID || (below && lost == LOST_NUMBER) ||
		(below && breadcrumb_width(a, width) <= room);

	if (drawn && !tabs && a->here.pages.n > 0)
		draw_breadcrumb(a, y, room);
	else if (drawn && a->here.pages.n == 0)
		draw_text(y, 0, room, "loading", theme_role(ROLE_PLACE));
	if (drawn)
		draw_right(y, width - said_width, said_width, state.s + gap, theme_role(ROLE_TEXT));
	text_release(&state);
	return drawn;
}

void app_draw_place(struct app *a, int y, int width)
{
	struct table *t = app_table(a);
	enum lost lost = !t || t->lost == 0 || width < WIDTH_FOR_LOST ? LOST_UNSAID :
			 a->here.pages.at > 0 ? LOST_WORDS : LOST_NUMBER;

	while (!draw_place(a, y, width, lost))
		lost++;
}
