/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chrome.c - what stands around the page: message or prompt, hints; title and breadcrumb are chrome_top.c's.
 *
 * From 12 lines on the last line holds hints, below it they stand where nothing is to be said; from 5 lines on
 * the first one holds the title.
 */
#include "view/app/app.h"

#include "command/resolve/resolve.h"
#include "heap/heap.h"
#include "view/config.h"
#include "view/prompt.h"

#include <inttypes.h>
#include <string.h>

#define LINES_FOR_HINTS 12
#define LINES_FOR_ALERT 10
#define WIDTH_FOR_KEYS 60 /* beside an alert */
#define WIDTH_FOR_ALL 100 /* hints of a row in the heap's tree */
#define LINES_FOR_TITLE 5
#define LINES_FOR_PATH 8 /* of the page: with fewer it needs them all */
#define CANDIDATE_LINES 8
#define LINES_FOR_LIST 6 /* of the window: with no more commands are not listed */

/* --- the last lines ---------------------------------------------------------------------------- */

static int hint_width(const struct hint *hint)
{
	return (int)(strlen(hint->key) + 1 + strlen(hint->word));
}

static void draw_hints(struct app *a, int y, int width)
{
	enum place place = app_place(a);
	unsigned can = app_abilities(a);
	unsigned of_others = width >= WIDTH_FOR_ALL && can & CAN_GROUP ? CAN_FOLD : 0; /* keeps its room in all rows */
	struct hint hint;
	int x = 0, kept = 0;

	for (unsigned i = 0; key_hint(place, can | of_others, i, &hint); i++)
		kept += hint.always ? hint_width(&hint) + 2 : 0;
	for (unsigned i = 0; key_hint(place, can, i, &hint); i++) {
		kept -= hint.always ? hint_width(&hint) + 2 : 0;
		if (x + hint_width(&hint) > width - kept)
			continue;
		mouse_zone(a, (struct zone){y, x, hint_width(&hint), .key = hint.pressed});
		int used = draw_clipped(y, x, width - x, hint.key, theme_role(ROLE_KEY)) + 1;
		draw_clipped(y, x + used, width - x - used, hint.word, theme_role(ROLE_QUIET));
		x += hint_width(&hint) + 2;
	}
}

static void draw_prompt_hints(struct app *a, int y, int width)
{
	static const char *const words[PROMPT_KINDS] = {
	    [PROMPT_FILTER] = "rows narrow as you type  Up Down move  Enter keep  Esc all rows",
	    [PROMPT_SEARCH] = "Enter search  n N next  Up Down move  Esc close"};

	static const char *const vi[PROMPT_KINDS] = {
	    [PROMPT_FILTER] = "rows narrow as you type  Enter keep  ^C all rows",
	    [PROMPT_SEARCH] = "Enter search  n N next  ^C close"};

	if (prompt_kind() == PROMPT_COMMAND)
		app_draw_palette_hints(a, y, width);
	else
		draw_text(y, 0, width, (prompt_is_vi() ? vi : words)[prompt_kind()], theme_role(ROLE_QUIET));
}

/* How many rows the filter keeps, behind what is typed. */
static void draw_preview(struct app *a, int y, int x, int width)
{
	struct table *t = app_table(a);
	struct text said = TEXT_INIT;

	if (prompt_kind() != PROMPT_FILTER || !t || a->work.filter_late)
		return;
	bool live = table_filters_live(t), tree = tree_is(t->result);
	if (!live)
		text_add(&said, "Enter filters ");
	else if (!tree) {
		text_add_count(&said, t->result->n_rows);
		text_add(&said, " of ");
	}
	size_t rows = tree ? t->result->n_rows : t->result->n_source;
	text_add_count(&said, rows);
	text_add(&said, rows == 1 ? " row" : " rows");
	text_add(&said, t->result->so_far ? " so far" : "");
	int needed = (int)text_width(said.s);
	if (x + 2 + needed <= width)
		draw_right(y, width - needed, needed, said.s, theme_role(ROLE_QUIET));
	text_release(&said);
}

static void draw_pending(struct app *a, int y, int width)
{
	struct text t = TEXT_INIT;

	text_add_escaped(&t, a->pending.asked->text, strlen(a->pending.asked->text));
	text_addf(&t, ": waits until %s; ^C drops it", a->loader.finished ?
	    "retained sizes are computed" : "the references are read");
	draw_text(y, 0, width, t.s, theme_role(ROLE_WORKING));
	text_release(&t);
}

/* What is longer than a line covers the lowest lines of the page, an empty one above it, but leaves so
 * many of the page; what does not fit then is clipped.  Returns its lines. */
static int draw_lines(
    const struct app *a, int y, int width, const char *s, attr_t attr, int leave)
{
	struct text line = TEXT_INIT;
	size_t next;
	int n = 0, most = y - a->drawn.area.y - leave;

	if (draw_count_lines(s, (size_t)width) < 2 || most < 2) {
		draw_text(y, 0, width, s, attr);
		return 1;
	}
	for (const char *at = s; *at && n < most; at += next, n++)
		draw_line_of(at, (size_t)width, &next);
	draw_blank(y - n, 0, COLS, theme_role(ROLE_TEXT)); /* what is beside a note that leaves room for a key, too */
	for (int i = n - 1; i > 0; i--, s += next) {
		size_t bytes = draw_line_of(s, (size_t)width, &next);
		text_clear(&line);
		text_add_n(&line, s, bytes);
		draw_blank(y - i, 0, COLS, theme_role(ROLE_TEXT));
		draw_text(y - i, 0, width, line.s, attr);
	}
	text_clear(&line);
	text_add_n(&line, s, strcspn(s, "\n"));
	draw_text(y, 0, width, line.s, attr);
	text_release(&line);
	return n;
}

/* The line that failed is above its error, and how to edit it. */
static void draw_failed_line(const struct app *a, int y, int width)
{
	const char *how = prompt_is_vi() ? ": Esc k edits it" : ": Up edits it";
	int room = width - (int)strlen(how) - 2;
	const size_t ends[] = {a->notice.err.begin, a->notice.err.end, a->notice.line.len}; /* in this order */
	struct text shown = TEXT_INIT;
	int x = 0;

	draw_blank(y, 0, COLS, theme_role(ROLE_TEXT));
	text_add_char(&shown, ':');
	for (size_t i = 0, at = 0; i < 3; at = ends[i++]) {
		text_add_escaped(&shown, a->notice.line.s + at, ends[i] - at);
		draw_text(y, x, room - x, shown.s, theme_role(i == 1 ? ROLE_ERROR : ROLE_QUIET));
		x += (int)text_width(shown.s);
		text_clear(&shown);
	}
	if (room > 0)
		draw_right(y, width - (int)strlen(how), (int)strlen(how), how, theme_role(ROLE_QUIET));
	text_release(&shown);
}

static void draw_message(const struct app *a, int y, int width)
{
	int above = y - draw_lines(a, y, width, a->notice.text.s, theme_role(a->notice.role), 0);

	if (a->notice.line.len > 0 && above > a->drawn.area.y)
		draw_failed_line(a, above, width);
}

/* What was typed before there is a page. */
static bool draw_typed(const struct app *a, int y, int width)
{
	struct text t = TEXT_INIT;

	if (a->here.pages.n == 0)
		term_kept_words(&t);
	bool any = t.len > 0;
	if (any) {
		text_add(&t, " waits until objects are read; ^C drops it");
		draw_lines(a, y, width, t.s, theme_role(ROLE_WORKING), 2);
	}
	text_release(&t);
	return any;
}

/* A note that is too long ends with its last whole clause, and where the rest is. */
static void draw_result_note(int y, int width, const char *s)
{
	static const char more[] = "; w: why";
	size_t used, n = text_fit(s, (size_t)width, &used);
	struct text t = TEXT_INIT;

	if (s[n]) {
		size_t most = text_fit(s, (size_t)width - sizeof more + 1, &used);
		for (n = most; n > 0 && s[n] != ';';)
			n--;
		for (n = n ? n : most; n > 0 && s[n] != ';' && s[n] != ':';)
			n--;
	}
	if (n > 0 && s[n]) {
		text_add_n(&t, s, n);
		text_add(&t, more);
		draw_text(y, 0, width, t.s, theme_role(ROLE_NOTE));
	} else {
		draw_text(y, 0, width, s, theme_role(ROLE_NOTE));
	}
	text_release(&t);
}

enum { SENTENCE_LEAVES = 3 }; /* the header and two rows: what the sentence is about */

/* What the selected row says in a sentence, which is too long for a column, behind what of the note must not be missed.
 * False: nothing. */
static bool add_sentence(struct table *t, struct text *to)
{
	struct cell cell;

	if (table_sentence(t) < 0 || t->row >= t->result->n_rows)
		return false;
	result_cell(t->result, t->row, (unsigned)t->sentence, &cell);
	if (cell.type != CELL_TEXT)
		return false;
	if (t->result->note_first)
		text_addf(to, "%s; ", t->result->note_first);
	text_add(to, cell.text);
	return true;
}

static bool draw_sentence(struct app *a, struct table *t, int y, int width)
{
	struct text said = TEXT_INIT;
	bool any = add_sentence(t, &said);

	if (any)
		draw_lines(a, y, width, said.s, theme_role(ROLE_TEXT), SENTENCE_LEAVES);
	text_release(&said);
	return any;
}

/* What the user wrote about the selected object, in front of what would stand there. */
static bool draw_own_note(struct app *a, struct table *t, int y, int width)
{
	const struct opened *o = a->session.dump;
	struct target target;

	if (!o || o->n_notes == 0 || !app_target(a, &target))
		return false;
	uint32_t id = target_object(o->heap, &target);
	const char *own = id == HEAP_NONE ? NULL : opened_note(o, id);
	if (own) {
		struct text shown = TEXT_INIT;
		text_add(&shown, "note: ");
		text_add_escaped(&shown, own, strlen(own));
		struct cell cell = cell_none();
		if (t && table_sentence(t) >= 0 && t->row < t->result->n_rows)
			result_cell(t->result, t->row, (unsigned)t->sentence, &cell);
		const char *else_there = cell.type == CELL_TEXT ? cell.text : t && t->result->note ? t->result->note : "";
		text_addf(&shown, "%s%s", *else_there ? "; " : "", else_there);
		draw_lines(a, y, width, shown.s, theme_role(ROLE_NOTE), SENTENCE_LEAVES);
		text_release(&shown);
	}
	return own != NULL;
}

/* False: there is nothing to say. */
static bool draw_note(struct app *a, int y, int width)
{
	struct page *p = app_page(a);
	struct table *t = p ? p->ops->table(p) : NULL;
	const struct heap *h = session_heap(&a->session);

	if (a->notice.text.len > 0)
		draw_message(a, y, width);
	else if (a->pending.asked)
		draw_pending(a, y, width);
	else if (draw_typed(a, y, width) || draw_own_note(a, t, y, width) || (t && draw_sentence(a, t, y, width)))
		return true;
	else if (t && t->result->note)
		draw_result_note(y, width, t->result->note);
	else if (h && h->damaged)
		draw_text(y, 0, width, h->incomplete ? "only a part of this dump was read; w says which" :
		    "any byte of this dump may be wrong; w says why", theme_role(ROLE_ERROR));
	else
		return false;
	return true;
}

/* Where there is no line for hints they stand where nothing is to be said, and else the key that lists all. */
static void draw_note_or_hints(struct app *a, int y, int width)
{
	enum { ROOM = 2 };

	if (!draw_note(a, y, width - ROOM)) {
		draw_hints(a, y, width);
	} else if (app_page(a)) {
		mouse_zone(a, (struct zone){y, width - 1, 1, .key = '?'});
		draw_clipped(y, width - 1, 1, "?", theme_role(ROLE_KEY));
	}
}

static int draw_bottom(struct app *a, int height, int width, int *cursor_y)
{
	bool hints = height >= LINES_FOR_HINTS;
	int y = height - (hints ? 2 : 1);

	*cursor_y = y;
	if (!prompt_is_open()) {
		if (hints) {
			draw_note(a, y, width);
			draw_hints(a, y + 1, width);
		} else {
			draw_note_or_hints(a, y, width);
		}
		return -1;
	}
	int x = prompt_draw(y, width);
	draw_preview(a, y, x, width);
	if (hints)
		draw_prompt_hints(a, y + 1, width);
	int room = y - 3 < CANDIDATE_LINES ? y - 3 : CANDIDATE_LINES;
	app_draw_candidates(y, room, width);
	app_draw_palette(y, hints ? (height / 3 < room ? height / 3 : room) : (height - LINES_FOR_LIST) / 2, width);
	return x;
}

/* --- the path ---------------------------------------------------------------------------------- */

/* "path  class com.acme.Cache > table > [17] > this          cut frees 8.1K" */
static void draw_path(struct app *a, int y, int width)
{
	struct page *p = app_page(a);
	struct path_job *f = &a->path.job;
	struct text label = TEXT_INIT;
	bool known = path_job_known(f) && !a->path.moved;
	int end = width;

	text_add(&label, "path");
	/* beside an object's own path that of another one is called by name */
	if (a->path.of_row && p->ops->object && !a->path.moved)
		text_addf(&label, " to 0x%" PRIx64, heap_address(session_heap(&a->session), f->wanted));
	int x = 2 + draw_text(y, 2, width - 2, label.s, theme_role(ROLE_QUIET)) + 2;
	text_release(&label);
	if (known && f->cut.len > 0 && x + 20 + (int)text_width(f->cut.s) < width) {
		end = width - (int)text_width(f->cut.s);
		draw_text(y, end, width - end, f->cut.s, theme_role(ROLE_FACTS));
		end -= 2;
	}
	const char *line = known                     ? f->line.s
			   : f->wanted != HEAP_NONE || a->path.moved ? theme_glyph(GLYPH_ELLIPSIS)
			   : !app_references_ready(a) ? "waiting for references"
						      : "the selected row is not an object";
	if (x < end)
		draw_name(y, x, end - x, line,
		    theme_role(known ? ROLE_PLACE : ROLE_QUIET));
}

static bool has_path(struct app *a, struct page *p, int height)
{
	return height >= LINES_FOR_PATH &&
	       a->path.wanted && p->ops->table(p);
}

/* --- all of it --------------------------------------------------------------------------------- */

/* What the tour says, above the page.  Returns its lines. */
static int draw_tour(const struct app *a, int y, int width, int height)
{
	struct text says = TEXT_INIT, line = TEXT_INIT;
	size_t next;
	int n = 0;

	tour_says(&a->tour, &says);
	for (const char *s = says.len ? says.s : ""; *s && n < height / 4; s += next, n++) {
		text_clear(&line);
		text_add_n(&line, s, draw_line_of(s, (size_t)width, &next));
		draw_text(y + n, 0, width, line.s, theme_role(ROLE_WORKING));
	}
	text_release(&says);
	text_release(&line);
	return n;
}

/* "! OutOfMemoryError in thread worker, at ...   b stack  Esc hide", above the page.  Returns its lines. */
static int draw_alert(struct app *a, int y, int width)
{
	static const char package[] = "java.lang.";
	const struct alert *alert = &a->here.alert;

	if (!app_shows_alert(a) || LINES < LINES_FOR_ALERT)
		return 0;
	const char *more = !strncmp(alert->line, "bt", 2) ? "stack" : !strncmp(alert->line, "locks", 5) ? "locks" : "info";
	bool narrow = width < WIDTH_FOR_KEYS;
	int end = narrow ? width : width - 4 - (int)strlen(more) - (int)strlen("  Esc hide");
	draw_clipped(y, 0, 1, "!", theme_role(ROLE_ERROR));
	const char *said = alert->sentence;
	if (!strncmp(said, package, sizeof package - 1) && (int)text_width_most(said, (size_t)width) > end - 2)
		said += sizeof package - 1;
	draw_text(y, 2, end - 2, said, theme_role(ROLE_ERROR));
	int x = end + 2;
	bool bound = !config_key(a->options->config, 'b'); /* else it is another key */
	if (narrow) {
		mouse_zone(a, (struct zone){y, 0, bound ? width : 0, .key = 'b'});
		return 1;
	}
	if (bound) {
		mouse_zone(a, (struct zone){y, 0, x + 2 + (int)strlen(more), .key = 'b'});
		draw_clipped(y, x, 1, "b", theme_role(ROLE_KEY));
		draw_clipped(y, x + 2, width - x - 2, more, theme_role(ROLE_QUIET));
	}
	x += 2 + (int)strlen(more) + 2;
	mouse_zone(a, (struct zone){y, x, 8, .key = 27});
	x += draw_clipped(y, x, 3, "Esc", theme_role(ROLE_KEY)) + 1;
	draw_clipped(y, x, width - x, "hide", theme_role(ROLE_QUIET));
	return 1;
}

/* The lines above the last one that a sentence of the selected row takes, and the empty one above it. */
static int lines_of_sentence(struct table *t, int width)
{
	struct text said = TEXT_INIT;
	int n = draw_count_lines(add_sentence(t, &said) ? said.s : "", (size_t)width);

	text_release(&said);
	return n > 1 ? n : 0;
}

/* Does one of the first rows represent anything?  Those of SQL are often only numbers. */
static bool has_targets(const struct result *r)
{
	enum { ROWS_LOOKED = 1000 };
	struct target target = {.kind = TARGET_NONE};

	for (size_t row = 0; row < r->n_rows && row < ROWS_LOOKED && target.kind == TARGET_NONE; row++)
		result_target(r, row, &target);
	return r->n_rows == 0 || target.kind != TARGET_NONE;
}

/* Without what a sentence covers. */
static struct pane_page page_for_panes(const struct app *a, struct page *p, struct rect area)
{
	enum { AROUND = 3, HEAD = 2 }; /* header, total and a spare line; values above */
	struct pane_page page = {.rect = area, .lines = SIZE_MAX};
	struct table *t = p ? p->ops->table(p) : NULL;

	if (!t)
		return page;
	page.empty = !a->session.dump || t->result->opened != a->session.dump || !t->result->n_source ||
	    result_is(t->result, RESULT_NO_PANES) || /* its rows are nothing */
	    !(p->ops->object || (result_has_sets(t->result) && has_targets(t->result)));
	page.columns = page_is_class(p) ? class_page_wishes(p, area.width) : table_wishes(t);
	if (p->ops->object) {
		page.empty = t->on_head; /* what the page is about it says itself */
		page.object = true;
		page.lines = object_page_lines(p);
		return page;
	}
	int sentence = lines_of_sentence(t, area.width);
	if (sentence < area.height / 2)
		page.rect.height -= sentence;
	/* a tree grows and shrinks: the pane would come and go with it */
	if (!tree_is(t->result))
		page.lines = AROUND + (table_has_cards(t) ? (size_t)table_cards_lines(t, area, LINES) : t->result->n_rows) +
		    (t->result->n_head ? HEAD : 0) + (page_is_class(p) ? (size_t)class_page_lines(p) : 0);
	return page;
}

void app_draw_message(struct app *a)
{
	int y = LINES - (LINES >= LINES_FOR_HINTS ? 2 : 1);

	if (prompt_is_open())
		return;
	draw_blank(y, 0, COLS, theme_role(ROLE_TEXT));
	draw_text(y, 0, COLS, a->notice.text.s ? a->notice.text.s : "", theme_role(a->notice.role));
	curs_set(0);
	move(y, 0);
	wnoutrefresh(stdscr);
	doupdate();
}

/* The lines over the heap's tree.  Lines used. */
static int draw_band(struct app *a, struct page *p, struct rect at)
{
	const struct page_stack *overview = &a->here.kept[TAB_OVERVIEW];

	return page_draw_band(p, at, LINES, overview->n ? overview->page[0] : NULL);
}

void app_draw(struct app *a)
{
	int height = LINES, width = COLS, top = 0, cursor_y;
	struct page *p = app_page(a);

	app_watch_file(a);
	if (app_profiles_alone(a) && !a->work.job)
		app_tell_profiles(a);
	erase();
	a->drawn.n_zones = 0;
	if (height >= LINES_FOR_TITLE)
		app_draw_title(a, width), top++;
	int place = top++;
	top += draw_tour(a, top, width, height);
	top += draw_alert(a, top, width);
	int bottom = height >= LINES_FOR_HINTS ? 2 : 1;
	top += draw_band(a, p, (struct rect){top, 0, height - top - bottom, width});
	a->drawn.area = (struct rect){top, 0, height - top - bottom, width};
	if (p && has_path(a, p, a->drawn.area.height)) {
		a->drawn.area.height--;
		draw_path(a, a->drawn.area.y + a->drawn.area.height, width);
	}
	a->drawn.page = page_for_panes(a, p, a->drawn.area);
	if (p && app_pane_table(a)) {
		struct pane_places places = panes_place(&a->panes, &a->drawn.page);
		a->drawn.area = places.list;
		p->ops->table(p)->aside = panes_focused(&a->panes);
		p->ops->draw(p, a->drawn.area);
		panes_draw(&a->panes, &places);
	} else if (p) {
		if (p->ops->table(p))
			p->ops->table(p)->aside = false;
		p->ops->draw(p, a->drawn.area);
	} else if (!app_profiles_alone(a)) {
		loader_draw(&a->loader, a->drawn.area);
	}
	app_draw_place(a, place, width); /* after the page, which knows then how much of it is seen */
	int x = draw_bottom(a, height, width, &cursor_y);
	app_draw_help(a, &cursor_y, &x);
	draw_join_colours();
	/* a cursor that nobody sees stays where it is */
	leaveok(stdscr, curs_set(x >= 0 ? 1 : 0) != ERR && x < 0);
	move(cursor_y, x >= 0 ? x : 0);
	wnoutrefresh(stdscr);
	doupdate();
}
