/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * object_page.c - one object, each thing said once: what it is, what holds it, what it holds, what references it, and
 * what would be freed with it.
 *
 * The keyboard is on one of these parts; Tab changes.  The line that says what the object is is selected first, so
 * that keys mean the object itself.  In low windows the words of about give way, then all but one part.
 */
#include "view/page/page.h"

#include "base/mem.h"
#include "heap/classes.h"
#include "opened/opened.h"
#include "view/name_role.h"
#include "view/names.h"
#include "view/page/about_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARGIN = 2, WORD = 12, ROOMY = 16 /* lines */, SORTED_MOST = 100000 };

struct object_page {
	struct page page;
	struct result *x, *in;
	struct result *entries;   /* of a collection; or NULL */
	uint32_t id;
	struct table holds, held; /* what it holds; what it is held by */
	struct table contained;   /* the entries, in the place of holds until Tab asks for that */
	struct about_lines about; /* the path to it, and what it would free */
	enum side { SIDE_HOLDS, SIDE_FIELDS, SIDE_HELD, SIDE_WORDS } side; /* where the keyboard is */
	bool arranged;            /* by what they retain */
	bool value_beside;        /* its value stands beside its class */
	struct rect at_holds, at_held, at_head; /* of the tables and the head, as drawn last */
};

/* Of what it holds: the entries, or the fields. */
static struct table *inner(struct object_page *o)
{
	if (!o->entries || o->side == SIDE_FIELDS)
		return &o->holds;
	o->contained.session = o->holds.session;
	return &o->contained;
}

static bool on_held(const struct object_page *o)
{
	return o->side == SIDE_HELD;
}

/* --- what it is ---------------------------------------------------------------------------------- */

static const struct field *head_of(const struct object_page *o, enum column_id column)
{
	for (size_t i = 0; i < o->x->n_head; i++)
		if (o->x->head[i].column == column && o->x->head[i].cell.type != CELL_NONE)
			return &o->x->head[i];
	return NULL;
}

static void add_head(const struct object_page *o, enum column_id column, const char *behind, struct text *to)
{
	const struct field *f = head_of(o, column);

	if (!f)
		return;
	text_addf(to, "%s", to->len ? theme_glyph(GLYPH_DOT) : "");
	text_add(to, to->len ? " " : "");
	result_head_print(f, to);
	text_addf(to, " %s ", behind);
}

static bool value_begins(const struct object_page *o, const char *word)
{
	const struct field *f = head_of(o, COL_VALUE);

	return f && f->cell.type == CELL_TEXT && !strncmp(f->cell.text, word, strlen(word));
}

/* Is the value said in other words, or not worth a word? */
static bool is_said(const struct object_page *o, const struct field *f)
{
	bool is_class = head_of(o, COL_INSTANCES) != NULL;

	if (f->cell.type == CELL_NONE || (f->cell.type == CELL_TEXT && !*f->cell.text))
		return true;
	switch (f->column) {
	case COL_ADDRESS:
	case COL_CLASS:
	case COL_SHALLOW:
	case COL_RETAINED:
		return true;
	case COL_VALUE: /* Go shows a struct by its fields, which stand below */
		return is_class || o->value_beside || *f->cell.text == '{';
	case COL_LENGTH:
		return o->value_beside && value_begins(o, "length ");
	case COL_SIZE:
		return o->value_beside && (value_begins(o, "size ") || value_begins(o, "len "));
	case COL_REACHABLE: /* by whom stands below */
		return f->cell.amount.n && f->cell.amount.certainty == EXACT;
	default:
		return false;
	}
}

/* "com.acme.shop.Session  0xe00200a8   40 own · 1.3K retained" */
static void draw_name_line(struct object_page *o, struct rect at, bool selected)
{
	enum { NARROW = 50 };
	struct text numbers = TEXT_INIT, name = TEXT_INIT, value = TEXT_INIT;
	const struct field *said = head_of(o, COL_VALUE);
	bool is_class = head_of(o, COL_INSTANCES) != NULL;
	attr_t marked = theme_role(ROLE_SELECTED);

	bool narrow = at.width < NARROW; /* then the name says more than the address */
	text_add(&numbers, "");
	if (!narrow)
		text_addf(&numbers, "0x%" PRIx64 "   ", heap_address(o->x->heap, o->id));
	struct text sizes = TEXT_INIT;
	add_head(o, COL_SHALLOW, "own", &sizes);
	add_head(o, COL_RETAINED, "retained", &sizes);
	text_add(&numbers, sizes.len ? sizes.s : "");
	text_release(&sizes);
	if (said)
		result_head_print(said, &value);
	const struct field *class = head_of(o, COL_CLASS);
	text_addf(&name, "%s%s", is_class ? "class " : "", is_class ? value.s : class ? class->cell.text : "?");
	if (selected) {
		draw_blank(at.y, at.x, at.width, marked);
		draw_text(at.y, at.x - 2, 2, "> ", marked);
	}
	int room = at.width - (int)text_width(numbers.s) - 2;
	enum role role = is_class ? ROLE_PLACE : name_role(o->x->heap, name.s);
	int x = draw_name(at.y, at.x, room, name.s, selected ? marked : theme_role(role));
	int needed = value.len ? (int)text_width_most(value.s, (size_t)at.width) : 0;
	o->value_beside = needed && !is_class && x + 1 + needed <= room;
	if (o->value_beside)
		x += 1 + draw_text(at.y, at.x + x + 1, needed, value.s, selected ? marked : theme_role(value_role(value.s)));
	draw_text(at.y, at.x + x + 2, at.width - x - 2, numbers.s, selected ? marked : theme_role(ROLE_TEXT));
	text_release(&numbers);
	text_release(&name);
	text_release(&value);
}

/* What else is known of it, on so many lines.  Returns how many. */
static int draw_facts(struct object_page *o, struct rect at)
{
	struct text value = TEXT_INIT, label = TEXT_INIT;
	int x = 0, line = 0;

	for (size_t i = 0; i < o->x->n_head && line < at.height; i++) {
		const struct field *f = &o->x->head[i];
		if (is_said(o, f))
			continue;
		text_clear(&value);
		text_clear(&label);
		result_head_print(f, &value);
		page_add_label(f->name, &label);
		int named = (int)text_width(f->name), width = named + 1 + (int)text_width_most(value.s, (size_t)at.width);
		if (x > 0 && x + width > at.width) {
			line++;
			x = 0;
		}
		if (line >= at.height)
			break;
		draw_text(at.y + line, at.x + x, at.width - x, label.len ? label.s : "", theme_role(ROLE_QUIET));
		draw_name(at.y + line, at.x + x + named + 1, at.width - x - named - 1, value.s,
		    theme_role(f->cell.amount.certainty != EXACT ? ROLE_UNSURE : f->column == COL_VALUE ?
		    value_role(value.s) : ROLE_TEXT));
		x += width + 3;
	}
	text_release(&value);
	text_release(&label);
	return x > 0 && line < at.height ? line + 1 : line;
}

/* Returns the lines used. */
static int draw_head(struct object_page *o, struct rect at)
{
	enum { LOW = 10 };
	struct table *shown = inner(o);
	bool selected = shown->on_head && (o->side == SIDE_HOLDS || o->side == SIDE_FIELDS) && !shown->aside;

	at = (struct rect){at.y, at.x + MARGIN, at.height, at.width - MARGIN};
	draw_name_line(o, at, selected);
	o->at_head = (struct rect){at.y, at.x, 1, at.width};
	if (at.height <= LOW)
		return 1;
	return 1 + draw_facts(o, (struct rect){at.y + 1, at.x, 2, at.width});
}

/* --- its parts ----------------------------------------------------------------------------------- */

/* A word at the left, and behind it what about says. */
static int draw_worded(struct object_page *o, struct rect at, const char *word,
    int (*lines)(struct about_lines *a, struct rect at, bool active))
{
	draw_text(at.y, at.x + MARGIN, at.width - MARGIN, word, theme_role(ROLE_HEADER));
	return lines(&o->about, (struct rect){at.y, at.x + MARGIN + WORD, at.height, at.width - MARGIN - WORD},
	    o->side == SIDE_WORDS);
}

static void set_heading(struct table *t, const char *word, const char *behind)
{
	struct text words = TEXT_INIT;

	text_addf(&words, "%s (", word);
	text_add_count(&words, t->result->n_rows);
	text_addf(&words, ")%s", behind);
	snprintf(t->heading, sizeof t->heading, "%s", words.s);
	text_release(&words);
}

static void draw_held(struct object_page *o, struct rect at)
{
	/* grouped by class when the rows are commands that open a group */
	bool grouped = result_column_of(o->in, COL_REFERENCES) >= 0;

	set_heading(&o->held, grouped ? "REFERRERS by class" : "REFERRERS", "");
	o->at_held = at;
	table_draw(&o->held, at, on_held(o));
}

static const char *holds_word(const struct object_page *o)
{
	int type = result_column_of(o->x, COL_TYPE);
	const struct heap *h = o->x->heap;
	enum class_kind kind = heap_class_of(h, o->id)->kind;

	/* with types there are values, too: fields, elements, statics */
	if (type < 0 || o->x->columns[type].hidden)
		return "REFERENCES";
	return kind == CLASS_PLAIN ? "FIELDS" : "ELEMENTS";
}

static void draw_holds(struct object_page *o, struct rect at)
{
	struct table *shown = inner(o);
	bool entries = shown == &o->contained;

	set_heading(shown, entries ? "ENTRIES" : holds_word(o), entries ? "   Tab: its fields" : "");
	o->at_holds = at;
	table_draw(shown, at, o->side == SIDE_HOLDS || o->side == SIDE_FIELDS);
}

/* Fields stand by what they retain, the largest first; elements and entries in their own order.  Once that is known
 * and nobody has chosen a row. */
static void arrange(struct object_page *o)
{
	int retained = result_column_of(o->x, COL_RETAINED);

	if (o->arranged || retained < 0 || o->x->columns[retained].hidden || !opened_retained(o->x->opened))
		return;
	o->arranged = true;
	if (heap_class_of(o->x->heap, o->id)->kind != CLASS_PLAIN || o->x->sorted_by >= 0 || !o->holds.on_head ||
	    o->x->n_rows >= SORTED_MOST)
		return;
	const struct session *session = o->holds.session;
	o->holds.session = NULL; /* no job: few rows, and the page is being drawn */
	table_sort(&o->holds, (unsigned)retained, true);
	o->holds.session = session;
}

/* Lines for what it holds and for its referrers, each with its heading: what they need, or a share. */
static void share(struct object_page *o, int height, int *holds, int *held)
{
	size_t most = height > 0 ? (size_t)height : 0, rows = inner(o)->result->n_rows, referrers = o->in->n_rows;
	int need = (int)(rows < most ? rows : most) + 1 + (rows == 0);
	int other = (int)(referrers < most ? referrers : most) + 1 + (referrers == 0);
	int least = height / 3 < other ? height / 3 : other;

	*holds = need < height - least ? need : height - least;
	*held = other < height - *holds ? other : height - *holds;
}

size_t object_page_lines(struct page *p)
{
	enum { AROUND = 12 }; /* what it is, the words of about, headings, gaps */
	struct object_page *o = (struct object_page *)p;
	size_t lines = inner(o)->result->n_rows + o->in->n_rows + AROUND;

	return lines > ROOMY ? lines : ROOMY;
}

static void draw(struct page *p, struct rect at)
{
	enum { LOW = 7, WORDS_FROM = 11 };
	struct object_page *o = (struct object_page *)p;
	int bottom = at.y + at.height, holds, held;

	arrange(o);
	about_lines_begin(&o->about);
	o->at_held = o->at_holds = o->at_head = (struct rect){.y = -1};
	if (at.height < LOW) { /* only the side with the keyboard */
		if (on_held(o)) {
			draw_held(o, at);
			return;
		}
		int used = draw_head(o, at);
		draw_holds(o, (struct rect){at.y + used, at.x, at.height - used, at.width});
		return;
	}
	bool words = at.height >= WORDS_FROM, roomy = at.height >= ROOMY;
	int y = at.y + draw_head(o, at);
	if (words) { /* a second line for a long path, or else a gap */
		draw_worded(o, (struct rect){y, at.x, 1 + roomy, at.width}, "HELD BY", about_lines_path);
		y += 1 + roomy;
	}
	share(o, bottom - y - words - (roomy ? 2 : 0), &holds, &held);
	draw_holds(o, (struct rect){y, at.x, holds, at.width});
	y += holds + roomy;
	draw_held(o, (struct rect){y, at.x, held, at.width});
	y += held + roomy;
	if (words)
		draw_worded(o, (struct rect){y, at.x, bottom - y < 2 ? bottom - y : 2, at.width}, "WOULD FREE",
		    about_lines_freed);
}

/* --- keys ---------------------------------------------------------------------------------------- */

static struct table *get_table(struct page *p)
{
	struct object_page *o = (struct object_page *)p;

	if (o->side == SIDE_WORDS && o->about.result) {
		o->about.table.session = o->holds.session;
		return &o->about.table;
	}
	return on_held(o) ? &o->held : inner(o);
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

/* From entries to fields, to who references it, to the words around them, and to the beginning. */
static void next_side(struct object_page *o)
{
	switch (o->side) {
	case SIDE_HOLDS:
		o->side = o->entries ? SIDE_FIELDS : SIDE_HELD;
		break;
	case SIDE_FIELDS:
		o->side = SIDE_HELD;
		break;
	case SIDE_HELD:
		o->side = about_lines_enter(&o->about) ? SIDE_WORDS : SIDE_HOLDS;
		break;
	case SIDE_WORDS:
		o->side = SIDE_HOLDS;
		break;
	}
}

static bool action(struct page *p, enum action a, const char **message)
{
	struct object_page *o = (struct object_page *)p;

	if (a == ACTION_SIDE) {
		next_side(o);
		return true;
	}
	if (o->side == SIDE_WORDS) /* their order is what they say: they are not sorted */
		return about_lines_action(&o->about, a);
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
	enum side inner_side = o->side == SIDE_FIELDS ? SIDE_FIELDS : SIDE_HOLDS;

	(void)at;
	if (about_lines_click(&o->about, y, x)) {
		o->side = SIDE_WORDS;
		return true;
	}
	if (inside(o->at_held, y, x)) {
		o->side = SIDE_HELD;
		return table_click(&o->held, o->at_held, y, x);
	}
	if (inside(o->at_head, y, x)) {
		o->side = inner_side;
		return inner(o)->on_head = true;
	}
	if (inside(o->at_holds, y, x)) {
		o->side = inner_side;
		return table_click(inner(o), o->at_holds, y, x);
	}
	return false;
}

static struct about_lines *about(struct page *p, uint32_t *id, uint32_t *class)
{
	*id = object(p);
	*class = HEAP_NONE;
	return &((struct object_page *)p)->about;
}

static void release(struct page *p)
{
	struct object_page *o = (struct object_page *)p;

	table_release(&o->holds);
	table_release(&o->held);
	table_release(&o->contained);
	about_lines_release(&o->about);
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
    .about = about,
    .release = release,
};

/* "Session", "String "abc"", "class Shop": its name among the steps of the breadcrumb. */
static void add_title(const struct object_page *o, struct text *to)
{
	enum { VALUE_MOST = 24 };
	const struct heap *h = o->x->heap;
	const struct field *value = head_of(o, COL_VALUE);
	uint32_t mirrored = heap_class_mirrored(h, o->id);
	bool is_class = mirrored != HEAP_NONE;
	const char *class = is_class ? h->classes[mirrored].name : heap_class_of(h, o->id)->name;

	text_add(to, is_class ? "class " : "");
	names_fit(class, 0, to);
	if (!is_class && value && value->cell.type == CELL_TEXT && *value->cell.text == '"' &&
	    text_width_most(value->cell.text, VALUE_MOST + 1) <= VALUE_MOST)
		text_addf(to, " %s", value->cell.text);
}

struct page *page_new_object(
    struct result *x, struct result *in, struct result *entries, uint32_t id, struct invocation *asked)
{
	struct object_page *o = xcalloc(1, sizeof *o);

	struct text title = TEXT_INIT;

	o->x = x;
	o->in = in;
	o->id = id;
	text_add(&title, "");
	add_title(o, &title);
	page_init(&o->page, &object_ops, title.s, asked);
	text_release(&title);
	result_bar_retained(x);
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
