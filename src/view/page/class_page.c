/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * class_page.c - a class: how much there is of it, what holds its objects, what to clear, and the list of them.
 *
 * The list has the keyboard.  Tab goes on to the words above it, each of which can be opened.
 */
#include "view/page/page.h"

#include "base/mem.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "opened/opened.h"
#include "view/name_role.h"
#include "view/names.h"
#include "view/page/about_lines.h"

#include <stdlib.h>
#include <string.h>

enum { MARGIN = 2, WORD = 9, ROWS = 3, ROWS_LOW = 2, LOW = 10, ROOMY = 20, BESIDE = 120, GAP = 2 };

struct class_page {
	struct page page;
	struct result *result;
	struct table table;
	struct about_lines about;
	uint32_t class;
	bool on_words;
	int above; /* lines above the list, as drawn last */
};

/* --- drawing ------------------------------------------------------------------------------------ */

/* "100 objects · 3.9K shallow · 92.2K retained" */
static void add_numbers(const struct class_page *c, struct text *to)
{
	const struct heap *h = c->result->heap;
	const struct heap_class *class = &h->classes[c->class];
	struct cell objects = cell_count(class_objects(h, class)), shallow = cell_bytes(class_shallow(h, class));
	const struct result *about = c->about.result;
	const char *dot = theme_glyph(GLYPH_DOT);

	cell_print(&objects, to);
	text_addf(to, " object%s %s ", objects.amount.n == 1 ? "" : "s", dot);
	cell_print(&shallow, to);
	text_addf(to, " shallow %s ", dot);
	for (size_t i = 0; about && i < about->n_head; i++) {
		if (about->head[i].column != COL_RETAINED || about->head[i].cell.type == CELL_NONE)
			continue;
		cell_print(&about->head[i].cell, to);
		text_add(to, " retained");
		return;
	}
	text_addf(to, "%s retained", theme_glyph(GLYPH_ELLIPSIS));
}

/* " · loader AppClassLoader"; nothing of what the VM itself loads. */
static void add_loader(const struct class_page *c, struct text *to)
{
	const struct heap *h = c->result->heap;
	const struct heap_class *class = &h->classes[c->class];

	if (h->facts.no_class_objects || class->loader == HEAP_NONE)
		return;
	text_addf(to, " %s loader ", theme_glyph(GLYPH_DOT));
	names_fit(heap_class_of(h, class->loader)->name, 0, to);
}

static void draw_name_line(const struct class_page *c, struct rect at)
{
	const struct heap *h = c->result->heap;
	const char *name = h->classes[c->class].name;
	struct text numbers = TEXT_INIT, loader = TEXT_INIT;

	add_numbers(c, &numbers);
	add_loader(c, &loader);
	int wished = (int)text_width_most(name, (size_t)at.width);
	if (loader.len && wished + 3 + (int)(text_width(numbers.s) + text_width(loader.s)) <= at.width)
		text_add(&numbers, loader.s);
	text_release(&loader);
	int needed = (int)text_width(numbers.s), room = at.width - needed - 3;
	int x = room > 0 ? draw_name(at.y, at.x, room, name, theme_role(name_role(h, name))) + 3 : 0;
	draw_text(at.y, at.x + x, at.width - x, numbers.s, theme_role(ROLE_TEXT));
	text_release(&numbers);
}

static void draw_word(const struct rect *at, const char *word)
{
	draw_text(at->y, at->x, at->width, word, theme_role(ROLE_HEADER));
}

/* What holds them, and what to clear beside it or below.  Lines that are kept for it. */
static int draw_worded(struct class_page *c, struct rect at, int rows)
{
	bool beside = at.width >= BESIDE;
	int left = at.width - WORD - about_lines_width(&c->about, ABOUT_CUT), y = at.y;

	left = left > at.width / 2 ? left : at.width / 2;
	struct rect held = {y, at.x, rows, beside ? left - GAP : at.width};
	draw_word(&held, "HELD BY");
	about_lines_rows(&c->about, (struct rect){y, held.x + WORD, rows, held.width - WORD}, ABOUT_HOLDERS,
	    c->on_words);
	struct rect clear = beside ? (struct rect){y, at.x + left, rows, at.width - left} :
	    (struct rect){y + rows, at.x, 1, at.width};
	draw_word(&clear, "CLEAR");
	about_lines_rows(&c->about, (struct rect){clear.y, clear.x + WORD, clear.height, clear.width - WORD}, ABOUT_CUT,
	    c->on_words);
	return beside ? rows : rows + 1;
}

static void draw(struct page *p, struct rect at)
{
	struct class_page *c = (struct class_page *)p;
	int rows = at.height >= ROOMY ? ROWS : ROWS_LOW;

	about_lines_begin(&c->about);
	c->above = 0;
	if (at.height >= LOW) {
		struct rect inner = {at.y, at.x + MARGIN, 1, at.width - MARGIN};
		draw_name_line(c, inner);
		inner.y++;
		c->above = 1 + draw_worded(c, inner, rows);
	}
	table_draw(&c->table, (struct rect){at.y + c->above, at.x, at.height - c->above, at.width}, !c->on_words);
}

int class_page_lines(struct page *p)
{
	return ((struct class_page *)p)->above;
}

int class_page_wishes(struct page *p, int width)
{
	enum { GAPS = MARGIN + 3, RETAINED = 6 };
	struct class_page *c = (struct class_page *)p;
	struct text numbers = TEXT_INIT, name = TEXT_INIT;

	add_numbers(c, &numbers);
	names_fit(c->result->heap->classes[c->class].name, 0, &name);
	int line = GAPS + (int)(text_width(name.s) + text_width(numbers.s)) + (c->about.result ? 0 : RETAINED);
	int held = MARGIN + WORD + about_lines_width(&c->about, ABOUT_HOLDERS), list = table_wishes(&c->table);
	int both = held + GAP + WORD + about_lines_width(&c->about, ABOUT_CUT);
	held = both >= BESIDE && both <= width * 4 / 5 ? both : held;
	text_release(&numbers);
	text_release(&name);
	line = line > held ? line : held;
	return line > list ? line : list;
}

/* --- keys --------------------------------------------------------------------------------------- */

static struct table *get_table(struct page *p)
{
	struct class_page *c = (struct class_page *)p;

	if (!c->on_words || !c->about.result)
		return &c->table;
	c->about.table.session = c->table.session;
	return &c->about.table;
}

static void tables(struct page *p, struct table *both[2])
{
	both[0] = &((struct class_page *)p)->table;
	both[1] = NULL;
}

static struct result *get_result(struct page *p)
{
	return ((struct class_page *)p)->result;
}

static bool on_words(const struct page *p)
{
	return ((const struct class_page *)p)->on_words;
}

static bool action(struct page *p, enum action a, const char **message)
{
	struct class_page *c = (struct class_page *)p;

	if (a == ACTION_SIDE) {
		c->on_words = !c->on_words && about_lines_enter(&c->about);
		return c->about.n > 0;
	}
	if (c->on_words)
		return about_lines_action(&c->about, a);
	return table_action(&c->table, a, message);
}

static struct table *table_at(struct page *p, int y, int x)
{
	(void)y, (void)x;
	return &((struct class_page *)p)->table;
}

static bool click(struct page *p, struct rect at, int y, int x)
{
	struct class_page *c = (struct class_page *)p;

	c->on_words = about_lines_click(&c->about, y, x);
	if (c->on_words)
		return true;
	at.y += c->above;
	at.height -= c->above;
	return table_click(&c->table, at, y, x);
}

static struct about_lines *about(struct page *p, uint32_t *id, uint32_t *class)
{
	struct class_page *c = (struct class_page *)p;

	*id = HEAP_NONE;
	*class = c->class;
	return &c->about;
}

static void release(struct page *p)
{
	struct class_page *c = (struct class_page *)p;

	table_release(&c->table);
	about_lines_release(&c->about);
	result_free(c->result);
}

static const struct page_ops class_ops = {
    .place = PLACE_TABLE,
    .draw = draw,
    .action = action,
    .table = get_table,
    .tables = tables,
    .result = get_result,
    .table_at = table_at,
    .click = click,
    .about = about,
    .on_words = on_words,
    .release = release,
};

bool page_is_class(const struct page *p)
{
	return p && p->ops == &class_ops;
}

struct page *page_new_class(struct result *r, struct invocation *asked)
{
	struct class_page *c = xcalloc(1, sizeof *c);

	page_init(&c->page, &class_ops, r->title, asked);
	c->result = r;
	c->class = (uint32_t)(r->all_of - r->heap->classes);
	result_bar_retained(r);
	table_init(&c->table, r);
	if (!r->arranged && !r->chosen)
		result_show_column(r, COL_CLASS, false); /* stands above */
	return &c->page;
}
