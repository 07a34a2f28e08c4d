/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * columns_page.c - the columns of a table, to be shown and hidden.
 *
 * The page is about the table of the page below it in the stack, so it is always the last one: what is pushed
 * takes its place (app_push).  What it says is shown is what one would see there now.
 */
#include "view/page/page.h"

#include "base/mem.h"
#include "command/exec/exec.h"

struct columns_page {
	struct page page;
	struct result *list;
	struct table table;   /* of the list */
	struct table *about;  /* of the page below */
	struct opened *dump;  /* that keeps what is chosen, borrowed; NULL: nobody does */
};

static struct columns_page *own(struct page *p)
{
	return (struct columns_page *)p;
}

static bool is_seen(const struct columns_page *c, unsigned column)
{
	const struct result *r = c->about->result;

	return r->chosen ? !r->columns[column].hidden : table_sees(c->about, column);
}

static unsigned n_columns(const struct columns_page *c)
{
	unsigned n = c->about->result->n_columns;

	return n < TABLE_COLUMNS ? n : TABLE_COLUMNS;
}

static void mark_all(struct columns_page *c)
{
	for (unsigned i = 0; i < n_columns(c); i++)
		columns_mark(c->list, i, is_seen(c, i));
}

static void draw(struct page *p, struct rect at)
{
	mark_all(own(p));
	table_draw(&own(p)->table, at, true);
}

/* All that are seen, this one turned round. */
static void turn(struct columns_page *c, unsigned column, const char **message)
{
	struct result *r = c->about->result;
	struct text names = TEXT_INIT;

	if (columns_stays(r, column) && is_seen(c, column)) {
		*message = (int)column == r->sorted_by ? "the table is sorted by this column; s sorts by another"
							: "this column names the rows and always stays";
		return;
	}
	text_add(&names, "");
	for (unsigned i = 0; i < n_columns(c); i++)
		if (is_seen(c, i) != (i == column))
			text_addf(&names, "%s\t", column_word(&r->columns[i]));
	columns_choose(r, c->dump, names.s);
	c->about->left = 0;
	text_release(&names);
}

/* All of them, or as many as fit again. */
static void turn_all(struct columns_page *c, const char **message)
{
	struct result *r = c->about->result;
	bool all = r->chosen;

	for (unsigned i = 0; i < r->n_columns; i++)
		all &= !r->columns[i].hidden;
	columns_choose(r, c->dump, all ? NULL : "");
	c->about->left = 0;
	*message = all ? "showing as many columns as fit"
		       : "showing all columns; } and { scroll sideways; W again: as many as fit";
}

static bool action(struct page *p, enum action a, const char **message)
{
	struct columns_page *c = own(p);
	struct result *list = c->list;

	if (a == ACTION_WIDE) {
		turn_all(c, message);
		return true;
	}
	if (a == ACTION_INTO)
		return true; /* there is nothing behind a column */
	if (a != ACTION_OPEN)
		return table_action(&c->table, a, message);
	if (c->table.row < list->n_rows)
		turn(c, list->order ? list->order[c->table.row] : (unsigned)c->table.row, message);
	return true;
}

static struct table *get_table(struct page *p)
{
	return &own(p)->table;
}

/* %N, save and the like mean the table that one chooses for. */
static struct result *get_result(struct page *p)
{
	return own(p)->about->result;
}

static bool click(struct page *p, struct rect at, int y, int x)
{
	return table_click(&own(p)->table, at, y, x);
}

static void release(struct page *p)
{
	table_release(&own(p)->table);
	result_free(own(p)->list);
}

static const struct page_ops ops = {
    .place = PLACE_COLUMNS,
    .draw = draw,
    .action = action,
    .table = get_table,
    .result = get_result,
    .click = click,
    .release = release,
};

struct page *page_new_columns(struct table *about, struct opened *dump)
{
	struct columns_page *c = xcalloc(1, sizeof *c);

	c->about = about;
	c->dump = dump;
	c->list = columns_list(about->result);
	page_init(&c->page, &ops, "columns", NULL);
	table_init(&c->table, c->list);
	return &c->page;
}
