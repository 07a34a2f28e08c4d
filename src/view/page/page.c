/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page.c - what pages have in common, and the plainest of them: a table with its head.
 */
#include "view/page/page.h"

#include "base/mem.h"
#include "view/page/about_lines.h"
#include "view/page/band.h"

#include <stdlib.h>
#include <string.h>

void page_init(struct page *p, const struct page_ops *ops, const char *title, struct invocation *asked)
{
	struct text shown = TEXT_INIT;

	p->ops = ops;
	text_add_escaped(&shown, title, strlen(title));
	p->title = text_take(&shown);
	p->asked = invocation_keep(asked);
	p->line = asked ? asked->text : "";
}

void page_free(struct page *p)
{
	if (!p)
		return;
	p->ops->release(p);
	free(p->title);
	invocation_drop(p->asked);
	free(p);
}

struct result *page_result(struct page *p)
{
	struct table *t = p->ops->table(p);

	if (p->ops->result)
		return p->ops->result(p);
	return t ? t->result : NULL;
}

/* --- what about says ---------------------------------------------------------------------------- */

static struct about_lines *lines_of(struct page *p)
{
	uint32_t id, class;

	return p->ops->about(p, &id, &class);
}

bool page_about(struct page *p, const struct opened *o, uint32_t *id, uint32_t *class)
{
	struct result *r = page_result(p);

	return p->ops->about && r && r->opened == o && p->ops->about(p, id, class);
}

bool page_lacks_about(struct page *p, uint64_t serial, bool *quick)
{
	const struct about_lines *lines = lines_of(p);

	*quick = !lines->result;
	return !lines->result || lines->quick || lines->serial != serial;
}

void page_take_about(struct page *p, struct result *r, uint64_t serial, bool quick)
{
	about_lines_take(lines_of(p), r, serial, quick);
}

/* --- head -------------------------------------------------------------------------------------- */

static bool says_nothing(const struct cell *cell)
{
	return cell->type == CELL_NONE || (cell->type == CELL_TEXT && !*cell->text);
}

void page_add_label(const char *name, struct text *to)
{
	for (; *name; name++)
		text_add_char(to, *name == '_' ? ' ' : *name);
}

int page_draw_head(struct result *r, size_t from, struct rect at, int height, bool selected)
{
	struct text value = TEXT_INIT, label = TEXT_INIT;
	int x = 0, line = 0;

	if (selected) {
		draw_blank(at.y, at.x, at.width, theme_role(ROLE_SELECTED));
		draw_text(at.y, at.x - 2, 2, "> ", theme_role(ROLE_SELECTED));
	}
	for (size_t i = from; i < r->n_head; i++) {
		struct field *f = &r->head[i];
		if (says_nothing(&f->cell))
			continue;
		text_clear(&value);
		text_clear(&label);
		result_head_print(f, &value);
		page_add_label(f->name, &label);
		int name_width = (int)text_width(f->name);
		int width = name_width + 1 + (int)text_width_most(value.s, (size_t)at.width);
		if (x > 0 && x + width > at.width) {
			line++;
			x = 0;
		}
		if (line >= height)
			break;
		bool unsure = f->cell.amount.certainty != EXACT, marked = selected && line == 0;
		draw_text(at.y + line, at.x + x, at.width - x, label.len ? label.s : "",
		    theme_role(marked ? ROLE_SELECTED : ROLE_QUIET));
		draw_name(at.y + line, at.x + x + name_width + 1, at.width - x - name_width - 1,
		    value.s, theme_role(marked ? ROLE_SELECTED : unsure ? ROLE_UNSURE : ROLE_PLACE));
		x += width + 3;
	}
	text_release(&value);
	text_release(&label);
	return x > 0 && line < height ? line + 1 : line;
}

/* --- a table ----------------------------------------------------------------------------------- */

struct table_page {
	struct page page;
	struct result *result;
	struct table table;
	int head_lines; /* drawn the last time */
	struct band *band; /* of a tree; else NULL */
};

static void draw(struct page *p, struct rect at)
{
	struct table_page *t = (struct table_page *)p;
	int head = page_draw_head(t->result, 0, (struct rect){at.y, at.x + 2, at.height, at.width - 2},
	    at.height / 3, false);

	t->head_lines = head;
	at.y += head;
	at.height -= head;
	table_draw(&t->table, at, true);
}

static bool action(struct page *p, enum action a, const char **message)
{
	return table_action(&((struct table_page *)p)->table, a, message);
}

static struct table *get_table(struct page *p)
{
	return &((struct table_page *)p)->table;
}

static bool click(struct page *p, struct rect at, int y, int x)
{
	struct table_page *t = (struct table_page *)p;

	at.y += t->head_lines;
	at.height -= t->head_lines;
	return table_click(&t->table, at, y, x);
}

static void release(struct page *p)
{
	struct table_page *t = (struct table_page *)p;

	table_release(&t->table);
	free(t->band);
	result_free(t->result);
}

static const struct page_ops table_ops = {
    .place = PLACE_TABLE,
    .draw = draw,
    .action = action,
    .table = get_table,
    .click = click,
    .release = release,
};

static const struct page_ops cards_ops = {
    .place = PLACE_TABLE | PLACE_CARDS,
    .draw = draw,
    .action = action,
    .table = get_table,
    .click = click,
    .release = release,
};

static const struct page_ops tree_ops = {
    .place = PLACE_TREE,
    .draw = draw,
    .action = action,
    .table = get_table,
    .click = click,
    .release = release,
};

struct page *page_new_table(struct result *r, struct invocation *asked)
{
	struct table_page *t = xcalloc(1, sizeof *t);

	page_init(&t->page, tree_is(r) ? &tree_ops :
	    table_result_has_cards(r) ? &cards_ops : &table_ops, r->title, asked);
	t->result = r;
	t->band = tree_has_groups(r) ? xcalloc(1, sizeof *t->band) : NULL;
	table_init(&t->table, r);
	return &t->page;
}

/* --- the lines over a tree ---------------------------------------------------------------------- */

static struct table_page *with_band(struct page *p)
{
	struct table_page *t = p && p->ops == &tree_ops ? (struct table_page *)p : NULL;

	return t && t->band ? t : NULL;
}

int page_draw_band(struct page *p, struct rect at, int window, struct page *overview)
{
	struct table_page *t = with_band(p);

	return t ? band_draw(t->band, &t->table, at, window, overview) : 0;
}

bool page_lacks_band(struct page *p)
{
	struct table_page *t = with_band(p);

	return t && band_lacks(t->band);
}

static int find_band(struct result **r, const void *context, struct err *err)
{
	return band_find(*(struct band *const *)context, *r, err);
}

int page_find_band(struct page *p, struct err *err)
{
	struct table_page *t = with_band(p);

	return t && t->table.session ? session_on_shown(t->table.session, &t->result, find_band, &t->band, err) : 0;
}

void page_give_band_up(struct page *p)
{
	struct table_page *t = with_band(p);

	if (t)
		band_give_up(t->band);
}

bool page_click_band(struct page *p, int y, int x)
{
	struct table_page *t = with_band(p);

	return t && band_click(t->band, &t->table, y, x);
}
