/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page.h - what is shown between the breadcrumb and the prompt: a table, an object, a text.
 *
 * A page owns its results and does not know the stack of pages, nor the terminal's lines outside its
 * rectangle.  Main thread only.
 */
#ifndef CAIRN_VIEW_PAGE_PAGE_H
#define CAIRN_VIEW_PAGE_PAGE_H

#include "command/args/args.h"
#include "view/draw.h"
#include "view/keys.h"
#include "view/table/table.h"

struct about_lines; /* view/page/about_lines.h */
struct page;

struct page_ops {
	enum place place;
	void (*draw)(struct page *p, struct rect at);
	/* False: not an action of this page.  *message gets a sentence or stays. */
	bool (*action)(struct page *p, enum action action, const char **message);
	/* The table that the keyboard acts on; NULL: none. */
	struct table *(*table)(struct page *p);
	/* The object that the page is about; NULL: none. */
	uint32_t (*object)(const struct page *p);
	/* Both tables, where there are two; NULL: there is the one. */
	void (*tables)(struct page *p, struct table *both[2]);
	/* What %N, $_ and save mean while this page is shown; NULL: the table's. */
	struct result *(*result)(struct page *p);
	/* Text pages have their own search; NULL: the table's.  *trouble: why it did not look at all lines, or stays. */
	bool (*search)(struct page *p, const char *words, bool here, bool backwards, const char **trouble);
	/* The lines of a text that are seen, from 1, and how many there are; NULL or false: no text. */
	bool (*lines)(struct page *p, size_t *first, size_t *last, size_t *n);
	/* The table that is seen at this place, or NULL; NULL: there is the one. */
	struct table *(*table_at)(struct page *p, int y, int x);
	/* A click on the screen, as table_click; true: it selected a row. */
	bool (*click)(struct page *p, struct rect at, int y, int x);
	/* What about says of its object, or (HEAP_NONE) of the instances of its class; NULL: it says nothing of that. */
	struct about_lines *(*about)(struct page *p, uint32_t *id, uint32_t *class);
	/* Is the keyboard on words above its one table?  NULL: it has none. */
	bool (*on_words)(const struct page *p);
	void (*release)(struct page *p);
};

struct page {
	const struct page_ops *ops;
	char *title; /* a step of the breadcrumb */
	struct invocation *asked; /* what it answers; NULL: nothing, or what means something else elsewhere */
	const char *line; /* the text of that; "" */
	const struct session *session; /* runs what looks at many lines; NULL: that is just done */
	uint64_t serial; /* of its coming, from 1 on: its address may be another one's later */
};

/* All take the result over, and keep what it answers. */
struct page *page_new_table(struct result *r, struct invocation *asked);
/* A result without rows (a head), or of plain text lines. */
struct page *page_new_text(struct result *r, struct invocation *asked);
/* x: the object with its head; in: what references it; entries: of a collection, shown first, or NULL. */
struct page *page_new_object(struct result *x, struct result *in, struct result *entries, uint32_t id,
    struct invocation *asked);
size_t object_page_lines(struct page *p); /* that it would fill */
/* A list of all objects of a class (r->all_of), below what is said of the class. */
struct page *page_new_class(struct result *r, struct invocation *asked);
bool page_is_class(const struct page *p);
int class_page_lines(struct page *p); /* above the list, as drawn last */
int class_page_wishes(struct page *p, int width); /* columns that its names and its list want, of so many */
/* The rows of overview, in parts. */
struct page *page_new_overview(struct result *r, struct invocation *asked);
bool page_is_overview(const struct page *p);
/* Does it name a suspect so: "com.acme.Shop.DB"?  p: NULL: no. */
bool overview_suspects(struct page *p, const char *name);
/* Another overview showed what was known before: stand where one stood there. */
void overview_go_on(struct page *p, const struct page *left);
/* Which columns of this table, of the page below, are shown; dump keeps what is chosen. */
struct page *page_new_columns(struct table *about, struct opened *dump);
/* The lines over the heap's tree (band.h), across the whole page: at its top, in a window of so many lines.  overview:
 * of the same dump, knows suspects; or NULL.  Returns the lines used; 0 of other pages. */
int page_draw_band(struct page *p, struct rect at, int window, struct page *overview);
/* Does something of them remain to be found, and find it, as a job.  0; ERR_CANCELLED, ERR_NOMEM. */
bool page_lacks_band(struct page *p);
MUST_CHECK int page_find_band(struct page *p, struct err *err);
void page_give_band_up(struct page *p); /* nobody wants it any more */
/* A click on them: the cursor goes to the row of the box.  False: there is none. */
bool page_click_band(struct page *p, int y, int x);
/* A text of ours. */
struct page *page_new_lines(const char *title, const char *lines);

void page_free(struct page *p);

/* Does the page say something of an object of this dump, or (*id HEAP_NONE) of the instances of a class, besides its
 * rows?  That is to be found (about_job.h) and given to it. */
bool page_about(struct page *p, const struct opened *o, uint32_t *id, uint32_t *class);
/* Is there more to be found, or something else with retained sizes of this serial?  *quick: what is quick comes
 * first. */
bool page_lacks_about(struct page *p, uint64_t serial, bool *quick);
void page_take_about(struct page *p, struct result *r, uint64_t serial, bool quick); /* takes it over */

/* For the pages' own files. */
void page_init(struct page *p, const struct page_ops *ops, const char *title, struct invocation *asked);

/* The result that the page shows, borrowed; NULL: a text of ours. */
struct result *page_result(struct page *p);

/* "word bits": the name of a value as people write it. */
void page_add_label(const char *name, struct text *to);
/* Head values of a result from number `from` on, flowing over at most height lines; returns the lines used.
 * selected: the first of them is drawn as a selected row, whose sign stands left of the rectangle. */
int page_draw_head(struct result *r, size_t from, struct rect at, int height, bool selected);

#endif
