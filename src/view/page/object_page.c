/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * object_page.c - one object: who holds it on one side, what it is and holds on the other.  The path
 * from a root below them is drawn by chrome.c.
 *
 * Side by side from 100 columns on, else one above the other.  The keyboard is on one of the two;
 * Tab changes.  Above what the object holds stands what it is: that line is selected first, so that keys mean
 * the object itself.
 */
#include "view/page/page.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define SIDE_BY_SIDE 100

struct object_page {
	struct page page;
	struct result *x, *in;
	struct result *entries;   /* of a collection; or NULL */
	uint32_t id;
	struct table holds, held; /* what it holds; what it is held by */
	struct table contained;   /* the entries, in the place of holds until Tab asks for that */
	bool on_held, on_fields;
	struct rect at_holds, at_held, at_head; /* of the tables and the head, as drawn last */
};

/* Of what it holds: the entries, or the fields. */
static struct table *inner(struct object_page *o)
{
	if (!o->entries || o->on_fields)
		return &o->holds;
	o->contained.session = o->holds.session;
	return &o->contained;
}

static int heading(int y, int x, int width, const char *word, size_t n, const char *behind,
    bool active)
{
	struct text t = TEXT_INIT;

	text_addf(&t, "%s (", word);
	text_add_count(&t, n);
	text_addf(&t, ")%s", behind);
	int used = draw_text(y, x, width, t.s, theme_role(active ? ROLE_SORTED : ROLE_HEADER));
	text_release(&t);
	return used;
}

static void draw_held(struct object_page *o, struct rect at)
{
	/* grouped by class when the rows are commands that open a group */
	size_t n = o->in->n_rows;
	bool grouped = result_column_of(o->in, COL_REFERENCES) >= 0;

	heading(at.y, at.x + 2, at.width - 2, grouped ? "referrers by class" : "referrers", n,
	    grouped ? ": references, objects, shallow" : "", o->on_held);
	o->at_held = (struct rect){at.y + 1, at.x, at.height - 1, at.width};
	table_draw(&o->held, o->at_held, o->on_held);
}

static void draw_holds(struct object_page *o, struct rect at)
{
	struct table *shown = inner(o);
	int head = page_draw_head(o->x, 0, (struct rect){at.y, at.x + 2, at.height, at.width - 2},
	    at.height > 8 ? 3 : 1, shown->on_head && !o->on_held && !shown->aside);

	o->at_head = (struct rect){at.y, at.x, head, at.width};
	at.y += head;
	at.height -= head;
	/* with types there are values, too: fields, elements, statics */
	int type = result_column_of(o->x, COL_TYPE);
	bool values = type >= 0 && !o->x->columns[type].hidden;
	heading(at.y, at.x + 2, at.width - 2, shown == &o->contained ? "entries" : values ? "contents" : "references",
	    shown->result->n_rows, shown == &o->contained ? "; Tab: its fields" : "", !o->on_held);
	o->at_holds = (struct rect){at.y + 1, at.x, at.height - 1, at.width};
	table_draw(shown, o->at_holds, !o->on_held);
}

static void draw(struct page *p, struct rect at)
{
	struct object_page *o = (struct object_page *)p;

	if (at.width >= SIDE_BY_SIDE) {
		int left = at.width * 2 / 5;
		draw_held(o, (struct rect){at.y, at.x, at.height, left});
		for (int y = 0; y < at.height; y++)
			draw_clipped(at.y + y, at.x + left, 1, theme_glyph(GLYPH_VERTICAL), theme_role(ROLE_QUIET));
		draw_holds(o, (struct rect){at.y, at.x + left + 1, at.height, at.width - left - 1});
		return;
	}
	/* the upper part gets what it needs, but at most half */
	int upper = (int)(o->in->n_rows < 64 ? o->in->n_rows : 64) + 2;
	if (upper > at.height / 2)
		upper = at.height / 2;
	if (at.height < 7) { /* only the side with the keyboard */
		if (o->on_held)
			draw_held(o, at);
		else
			draw_holds(o, at);
		return;
	}
	draw_held(o, (struct rect){at.y, at.x, upper, at.width});
	draw_holds(o, (struct rect){at.y + upper, at.x, at.height - upper, at.width});
}

static struct table *get_table(struct page *p)
{
	struct object_page *o = (struct object_page *)p;

	return o->on_held ? &o->held : inner(o);
}

static uint32_t object(const struct page *p)
{
	return ((const struct object_page *)p)->id;
}

static void tables(struct page *p, struct table *both[2])
{
	struct object_page *o = (struct object_page *)p;

	both[0] = &o->holds;
	both[1] = &o->held;
}

static bool action(struct page *p, enum action a, const char **message)
{
	struct object_page *o = (struct object_page *)p;

	if (a == ACTION_SIDE && o->entries && !o->on_held && !o->on_fields)
		return o->on_fields = true;
	if (a == ACTION_SIDE) {
		o->on_held = !o->on_held;
		o->on_fields = false;
		return true;
	}
	return table_action(get_table(p), a, message);
}

static bool inside(struct rect r, int y, int x)
{
	return y >= r.y && y < r.y + r.height && x >= r.x && x < r.x + r.width;
}

static struct table *table_at(struct page *p, int y, int x)
{
	struct object_page *o = (struct object_page *)p;

	return inside(o->at_held, y, x) ? &o->held : inside(o->at_holds, y, x) ? inner(o) : NULL;
}

static bool click(struct page *p, struct rect at, int y, int x)
{
	struct object_page *o = (struct object_page *)p;

	(void)at;
	if (inside(o->at_held, y, x)) {
		o->on_held = true;
		return table_click(&o->held, o->at_held, y, x);
	}
	if (inside(o->at_head, y, x)) {
		o->on_held = false;
		return inner(o)->on_head = true;
	}
	if (inside(o->at_holds, y, x)) {
		o->on_held = false;
		return table_click(inner(o), o->at_holds, y, x);
	}
	return false;
}

static void release(struct page *p)
{
	struct object_page *o = (struct object_page *)p;

	table_release(&o->holds);
	table_release(&o->held);
	table_release(&o->contained);
	result_free(o->entries);
	result_free(o->x);
	result_free(o->in);
}

static const struct page_ops object_ops = {
    .place = PLACE_OBJECT,
    .draw = draw,
    .action = action,
    .table = get_table,
    .tables = tables,
    .object = object,
    .table_at = table_at,
    .click = click,
    .release = release,
};

struct page *page_new_object(
    struct result *x, struct result *in, struct result *entries, uint32_t id, struct invocation *asked)
{
	struct object_page *o = xcalloc(1, sizeof *o);

	page_init(&o->page, &object_ops, x->title, asked);
	o->x = x;
	o->in = in;
	o->id = id;
	table_init(&o->holds, x);
	table_init(&o->held, in);
	o->holds.plain = o->held.plain = true;
	o->held.hidden = result_column_of(in, COL_DIRECTION);
	o->holds.has_head = o->holds.on_head = true;
	if (entries) {
		o->entries = entries;
		table_init(&o->contained, entries);
		o->contained.plain = o->contained.has_head = o->contained.on_head = true;
	}
	return &o->page;
}
