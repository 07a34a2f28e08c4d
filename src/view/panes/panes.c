/* SPDX-License-Identifier: GPL-3.0-or-later */
/* panes.c - see panes.h.  There is one job at most. */
#include "view/panes/panes.h"

#include "algorithms/hash.h"
#include "base/mem.h"
#include "command/resolve/resolve.h"
#include "heap/classes.h"
#include "heap/threads.h"
#include "memory/big.h"
#include "view/eta.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define REST_MS 120      /* a cursor that rests so long is meant to be there */
#define FADE_MS 250      /* most answers are there by then: what is drawn dim is sent twice */
#define LATE_MS 500      /* after which another row's answer would be taken for this one's */
#define RIGHT_FROM 100   /* columns */
#define THREE_FROM 160
#define BELOW_FROM 23    /* lines of the page: 30 of the window, less what stands around it and a spare */
#define SIDE_LEAST 36    /* columns of a pane at the side of a list that could use more than there are */
#define SIDE_GOOD 45     /* of two panes that are better than one */
#define PANE_LEAST 8     /* lines of a pane below a short list, however low the window is */

/* --- where ---------------------------------------------------------------------------------------- */

/* Lines of the page that a list leaves, and one for the border. */
static int left_by_list(const struct pane_page *page)
{
	int height = page->rect.height;

	return page->lines < (size_t)height ? height - (int)page->lines - 1 : 0;
}

static int left_beside_list(const struct pane_page *page)
{
	return page->rect.width - page->columns - PANE_GAP;
}

/* The layout that fits. */
static enum layout layout_in(const struct panes *p, const struct pane_page *page)
{
	enum layout wanted = p->layout;
	bool right = page->rect.width >= RIGHT_FROM, three = page->rect.width >= THREE_FROM;
	bool below = page->rect.height >= BELOW_FROM || left_by_list(page) >= PANE_LEAST;

	if (page->empty)
		return LAYOUT_LIST;
	/* its two halves come first */
	if (page->object && three && (wanted == LAYOUT_AUTO || wanted == LAYOUT_THREE))
		return LAYOUT_RIGHT;
	if (page->object) {
		right = three;
		below = page->rect.height >= BELOW_FROM && left_by_list(page) >= PANE_LEAST;
		three = false;
	}
	if (wanted == LAYOUT_AUTO)
		wanted = three && left_beside_list(page) > 2 * SIDE_GOOD ? LAYOUT_THREE : right ? LAYOUT_RIGHT : LAYOUT_BELOW;
	if (wanted == LAYOUT_THREE && !three)
		wanted = LAYOUT_RIGHT;
	if (wanted == LAYOUT_RIGHT && !right)
		wanted = LAYOUT_BELOW;
	return wanted == LAYOUT_BELOW && !below ? LAYOUT_LIST : wanted;
}

bool panes_show(const struct panes *p, const struct pane_page *page)
{
	return layout_in(p, page) != LAYOUT_LIST;
}

struct pane_places panes_place(const struct panes *p, const struct pane_page *on)
{
	struct rect page = on->rect;
	struct pane_places at = {.list = page};
	int held, self;

	switch (layout_in(p, on)) {
	case LAYOUT_BELOW:
		self = on->object ? 0 : page.height * 2 / 5;
		self = left_by_list(on) > self ? left_by_list(on) : self;
		held = page.width * 9 / 20;
		at.list.height = page.height - self - 1;
		at.held = (struct rect){page.y + at.list.height + 1, page.x + 1, self, held - 1};
		at.self = (struct rect){at.held.y, page.x + held + PANE_GAP, self, page.width - held - PANE_GAP};
		break;
	case LAYOUT_RIGHT:
		self = on->object ? page.width * 3 / 10 : page.width * 9 / 20;
		if (!on->object && left_beside_list(on) < self)
			self = left_beside_list(on) > SIDE_LEAST ? left_beside_list(on) : SIDE_LEAST;
		at.list.width = page.width - self - PANE_GAP;
		at.self = (struct rect){page.y, page.x + at.list.width + PANE_GAP, page.height, self};
		break;
	case LAYOUT_THREE:
		self = page.width * 11 / 20;
		if (left_beside_list(on) - 1 < self)
			self = left_beside_list(on) > 2 * SIDE_LEAST ? left_beside_list(on) - 1 : 2 * SIDE_LEAST;
		held = self * 5 / 11;
		self -= held;
		at.list.x += held + 1;
		at.list.width = page.width - held - self - 1 - PANE_GAP;
		at.held = (struct rect){page.y, page.x + 1, page.height, held - 1};
		at.self = (struct rect){page.y, at.list.x + at.list.width + PANE_GAP, page.height, self};
		break;
	default:
		break;
	}
	return at;
}

const char *panes_next_layout(struct panes *p, const struct pane_page *page)
{
	static const char *const words[LAYOUTS] = {
	    [LAYOUT_AUTO] = "as many panes as fit",
	    [LAYOUT_LIST] = "no panes, only the list; v shows them again",
	    [LAYOUT_RIGHT] = "one pane on the right",
	    [LAYOUT_BELOW] = "one pane below",
	    [LAYOUT_THREE] = "panes on both sides",
	};

	do
		p->layout = (p->layout + 1) % LAYOUTS;
	while (p->layout != LAYOUT_AUTO && layout_in(p, page) != p->layout);
	return panes_show(p, page) || p->layout == LAYOUT_LIST ? words[p->layout] :
	    "the window is too small for a pane (100 columns or 30 lines)";
}

/* --- which ---------------------------------------------------------------------------------------- */

/* What a row looks like, and which of those that look alike it is: with its result that tells it from others
 * while trees open and rows are sorted. */
static uint64_t looks_of(struct result *r, size_t row)
{
	struct text t = TEXT_INIT;

	for (unsigned c = 0; c < r->n_columns; c++) {
		struct cell cell;
		if (r->columns[c].id == COL_RETAINED) /* may be found more exactly */
			continue;
		result_cell(r, row, c, &cell);
		cell_print(&cell, &t);
		text_add_char(&t, '\n');
	}
	uint64_t looks = hash_bytes(t.s ? t.s : "", t.len);
	text_release(&t);
	return hash_step(looks, tree_is(r) ? tree_key(r, row) : r->order ? r->order[row] : row);
}

static struct about_subject row_under(struct table *t)
{
	struct target target = {.kind = TARGET_NONE};
	struct about_subject row = {.kind = TARGET_NONE};

	if (t && !t->on_head && t->row < t->result->n_rows)
		result_target(t->result, t->row, &target);
	if (target.kind == TARGET_COMMAND && !t->result->ops->members)
		target.kind = TARGET_NONE;
	row.kind = target.kind;
	row.id = target_subject(&target);
	if (target.part || target.kind == TARGET_GROUP || target.kind == TARGET_COMMAND) {
		row.kind = TARGET_GROUP;
		row.result = t->result;
		row.looks = looks_of(t->result, t->row);
	}
	return row;
}

/* --- the job -------------------------------------------------------------------------------------- */

/* "0xe0001220 java.lang.String"; of other rows what stands in the column that names them. */
static char *title_of(struct table *t, const struct about_subject *row, const struct heap *h)
{
	struct text title = TEXT_INIT;
	int named = result_column_of(t->result, t->result->named_by);
	struct cell cell;

	if (row->kind == TARGET_OBJECT) {
		uint32_t mirrored = heap_class_mirrored(h, row->id);
		text_addf(&title, mirrored != HEAP_NONE ? "0x%" PRIx64 " class %s" : "0x%" PRIx64 " %s",
		    heap_address(h, row->id),
		    mirrored != HEAP_NONE ? h->classes[mirrored].name : heap_class_of(h, row->id)->name);
	} else if (row->kind == TARGET_CLASS) {
		text_add(&title, h->classes[row->id].name);
	} else if (row->kind == TARGET_THREAD) {
		text_addf(&title, "thread %s", h->threads[row->id].name ? h->threads[row->id].name : "?");
	} else {
		result_cell(t->result, t->row, tree_is(t->result) ? tree_column(t->result) :
		    named >= 0 ? (unsigned)named : 0, &cell);
		cell.indent = 0;
		text_add(&title, result_is(t->result, RESULT_OF_PATHS) ? "by way of " : "");
		cell_print(&cell, &title);
	}
	return text_take(&title);
}

static bool take_members(const struct panes *p, struct table *t, struct bits *to)
{
	struct bits rows = {.word = NULL};
	bool done = bits_init(to, p->opened->heap->n_objects, NULL) == 0 &&
		    bits_init(&rows, t->result->n_rows, NULL) == 0;

	if (done) {
		bits_set(&rows, t->row);
		done = result_members(t->result, &rows, to, NULL) == 0;
	}
	bits_release(&rows);
	return done;
}

static void begin(struct panes *p, struct table *t, const struct about_wish *wish, int wake_fd)
{
	struct bits members = {.word = NULL};
	char *title = NULL;

	if (wish->quick || !p->find.title || !about_same(&p->find.at.of, &wish->of)) {
		if (wish->of.kind == TARGET_GROUP && !take_members(p, t, &members)) {
			bits_release(&members);
			p->failed = wish->of;
			return;
		}
		title = title_of(t, &wish->of, p->opened->heap);
	}
	about_job_begin(&p->find, wish, title, &members, wake_fd);
	if (p->find.failed)
		p->failed = wish->of;
}

bool panes_know(const struct panes *p)
{
	return p->shown && about_same(&p->shown_row, &p->wanted);
}

bool panes_lack(const struct panes *p)
{
	return !panes_know(p) && p->wanted.kind != TARGET_NONE && about_same(&p->failed, &p->wanted);
}

static bool lacks_some(const struct panes *p)
{
	return p->wanted.kind != TARGET_NONE && !p->find.running && !about_same(&p->failed, &p->wanted) &&
	       (!panes_know(p) || p->shown_quick);
}

static uint64_t ms_since(uint64_t ns)
{
	return (eta_now() - ns) / 1000000;
}

static uint64_t rested_ms(const struct panes *p)
{
	return ms_since(p->rested);
}

/* True once, when what is shown has been of another row for a while. */
static bool fades(struct panes *p)
{
	bool behind = p->shown && !panes_know(p);

	if (!behind) {
		p->behind = 0;
		p->faded = false;
		return false;
	}
	p->behind = p->behind ? p->behind : eta_now();
	bool now = !p->faded && ms_since(p->behind) >= FADE_MS;
	p->faded |= now;
	return now;
}

bool panes_want(struct panes *p, const struct opened *o, struct table *t, int wake_fd)
{
	const struct retained *known = o ? opened_retained(o) : NULL;
	uint64_t serial = known ? known->serial : 0;
	struct about_subject row = o ? row_under(t) : (struct about_subject){.kind = TARGET_NONE};

	if (p->opened != o || p->serial != serial) {
		panes_stop(p);
		p->opened = o;
		p->serial = serial;
	}
	bool other = !about_same(&row, &p->wanted), was_known = panes_know(p);
	if (other) {
		panes_leave(p);
		p->wanted = row;
		p->late = false;
		p->rested = eta_now();
	}
	bool lacked = panes_lack(p);
	bool now = rested_ms(p) >= REST_MS && (p->find.running || lacks_some(p));
	struct about_wish wish = {.opened = now ? o : NULL, .serial = serial, .of = row, .quick = !panes_know(p)};
	if (about_job_wants(&p->find, &wish))
		begin(p, t, &wish, wake_fd);
	bool late = p->find.running && !panes_know(p) && rested_ms(p) >= LATE_MS && !p->late;
	p->late |= late;
	bool title_fades = other && (was_known != panes_know(p) || row.kind == TARGET_NONE);
	return fades(p) || late || lacked != panes_lack(p) || (title_fades && p->shown);
}

void panes_look_away(struct panes *p)
{
	p->wanted = (struct about_subject){.kind = TARGET_NONE};
	p->late = false;
}

bool panes_poll(struct panes *p)
{
	struct result *found;

	if (!about_job_poll(&p->find, &found))
		return false;
	bool wanted = about_same(&p->find.at.of, &p->wanted);
	if (!found || !wanted) {
		result_free(found);
		if (wanted && p->find.failed)
			p->failed = p->wanted;
		return wanted;
	}
	panes_follow(p, found);
	result_free(p->shown);
	p->shown = found;
	p->shown_row = p->find.at.of;
	p->shown_quick = p->find.at.quick;
	return true;
}

void panes_note_exact(const struct panes *p, struct table *t)
{
	struct about_subject row = row_under(t);

	if (!panes_know(p) || p->shown_quick || row.kind != TARGET_GROUP || !about_same(&row, &p->shown_row))
		return;
	for (size_t i = 0; i < p->shown->n_head; i++) {
		if (p->shown->head[i].column == COL_RETAINED)
			result_note_exact(t->result, t->row, p->shown->head[i].cell.amount);
	}
}

int panes_wait_ms(const struct panes *p)
{
	uint64_t rested = rested_ms(p), behind = p->behind && !p->faded ? ms_since(p->behind) : FADE_MS;
	int wait = -1;

	if (p->find.running && !panes_know(p) && !p->late)
		wait = rested < LATE_MS ? (int)(LATE_MS - rested) : 0;
	else if (lacks_some(p))
		wait = rested < REST_MS ? (int)(REST_MS - rested) : 0;
	int fade = behind < FADE_MS ? (int)(FADE_MS - behind) : -1;
	return fade >= 0 && (wait < 0 || fade < wait) ? fade : wait;
}

void panes_stop(struct panes *p)
{
	about_job_stop(&p->find);
	result_free(p->shown);
	free(p->search);
	free(p->line);
	*p = (struct panes){.layout = p->layout};
}
