/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * app_row.c - what is selected, and the command lines that keys make of it.
 *
 * A key that asks about the selected row means just the objects that the row counts.  Where it can ask nothing
 * about such a row it says so, and key_hint does not show it.
 */
#include "view/app/app.h"

#include "base/mem.h"
#include "command/commands.h"
#include "command/resolve/resolve.h"
#include "dump/source/source.h"
#include "heap/classes.h"
#include "view/names.h"
#include "view/prompt.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum place app_place(struct app *a)
{
	struct page *p = app_page(a);

	return !p ? PLACE_LOADING : panes_focused(&a->panes) ? PLACE_PANE : p->ops->place;
}

struct table *app_table(struct app *a)
{
	struct page *p = app_page(a);

	return p ? p->ops->table(p) : NULL;
}

bool app_target(struct app *a, struct target *out)
{
	struct page *p = app_page(a);
	struct table *t = app_table(a);

	*out = (struct target){.kind = TARGET_NONE};
	if (panes_focused(&a->panes))
		result_target(a->panes.shown, a->panes.row, out);
	else if (t && t->on_head)
		*out = (struct target){.kind = TARGET_OBJECT, .id = p->ops->object(p), .opened = a->session.dump};
	else if (t && t->result->n_rows > 0)
		result_target(t->result, t->row, out);
	if (out->kind != TARGET_COMMAND && out->opened != a->session.dump) /* its ids mean nothing here */
		*out = (struct target){.kind = out->kind == TARGET_NONE ? TARGET_NONE : TARGET_GROUP, .opened = out->opened};
	return out->kind != TARGET_NONE;
}

void app_select(struct app *a, struct selection *out)
{
	struct page *p = app_page(a);
	struct table *t = app_table(a);
	const struct heap *h = session_heap(&a->session);
	struct target target;
	struct text row = TEXT_INIT, page = TEXT_INIT;
	uint32_t id = p && p->ops->object ? p->ops->object(p) : HEAP_NONE;

	*out = (struct selection){.row = NULL};
	if (id != HEAP_NONE)
		text_addf(&page, "0x%" PRIx64, heap_address(h, id));
	if (panes_focused(&a->panes) && app_target(a, &target) && target.kind == TARGET_OBJECT)
		text_addf(&row, "0x%" PRIx64, heap_address(h, target.id));
	else if (t && t->on_head && !panes_focused(&a->panes))
		text_add(&row, page.s);
	else if (panes_focused(&a->panes))
		;
	else if (app_target(a, &target) && row_word(&a->session, t->result, t->row, &row))
		out->several = target_is_several(&target);
	if (t) {
		out->first = t->top;
		out->last = t->top + t->height < t->result->n_rows ? t->top + t->height : t->result->n_rows;
	}
	if (row.len > 0)
		out->row = text_take(&row);
	if (page.len > 0)
		out->page = text_take(&page);
	text_release(&row);
	text_release(&page);
}

/* The text in this column of the selected row of such a page; false: there is none. */
static bool add_of_row(struct app *a, unsigned places, enum column_id column, struct text *to)
{
	struct page *p = app_page(a);
	struct table *t = app_table(a);
	struct cell cell;

	if (!p || !(p->ops->place & places) || panes_focused(&a->panes) || t->row >= t->result->n_rows ||
	    t->result->opened != a->session.dump || !result_cell_in(t->result, t->row, column, &cell) ||
	    cell.type == CELL_NONE)
		return false;
	cell_print_plain(&cell, to);
	return true;
}

static bool add_of_suspect(struct app *a, enum column_id column, struct text *to)
{
	return add_of_row(a, PLACE_CARDS | PLACE_OVERVIEW, column, to);
}

/* Is a line of the overview selected that is a sentence itself: a cause, an event, damage, a deadlock? */
static bool is_alert(struct app *a)
{
	struct text section = TEXT_INIT;
	bool alert = add_of_row(a, PLACE_OVERVIEW, COL_SECTION, &section) &&
	    (!strcmp(section.s, "cause") || !strcmp(section.s, "event") || !strcmp(section.s, "damage") ||
	    !strcmp(section.s, "deadlock"));

	text_release(&section);
	return alert;
}

bool app_add_sentence(struct app *a, struct text *to)
{
	if (is_alert(a))
		return add_of_row(a, PLACE_OVERVIEW, COL_NAME, to);
	return add_of_row(a, PLACE_CARDS | PLACE_OVERVIEW, COL_SENTENCE, to);
}

static bool lists_dumps(const struct page *p)
{
	return p->asked && p->asked->command && p->asked->command->flags & COMMAND_LISTS_DUMPS;
}

/* Of the first line of a class object's page: the class, if it has objects. */
static bool class_of_head(struct app *a, struct target *out)
{
	const struct heap *h = session_heap(&a->session);
	struct page *p = app_page(a);
	uint32_t class = p->ops->object ? heap_class_mirrored(h, p->ops->object(p)) : HEAP_NONE;

	*out = (struct target){.kind = TARGET_CLASS, .id = class, .opened = a->session.dump};
	return class != HEAP_NONE && h->classes[class].n_objects;
}

unsigned app_abilities(struct app *a)
{
	const struct heap *h = session_heap(&a->session);
	struct table *t = app_table(a);
	struct target target, class;
	struct branch b;
	unsigned can = app_leaves(a, ACTION_LEAVE) ? CAN_LEAVE : CAN_GO_BACK;

	if (!t)
		return can;
	/* while another row's answer is on its way the hint stays */
	if (app_pane_table(a) && a->panes.shown && a->panes.wanted.kind != TARGET_NONE && !panes_lack(&a->panes))
		can |= CAN_PANE;
	if (t->result->n_source > 0)
		can |= CAN_ROWS;
	bool list = !panes_focused(&a->panes);
	if (!list && about_line(a->panes.shown, a->panes.row))
		can |= CAN_OPEN;
	if (list && !t->on_head && t->row < t->result->n_rows && tree_branch(t->result, t->row, &b)) {
		can |= b.state != BRANCH_LEAF ? CAN_BRANCH | CAN_OPEN : 0;
		can |= b.state == BRANCH_OPEN || b.depth > 0 ? CAN_CLOSE : 0;
		can |= tree_has_groups(t->result) && b.state != BRANCH_REST ? CAN_GROUP : 0;
		can |= tree_is_way(t->result, t->row) ? CAN_FOLD : 0;
	}
	struct text reference = TEXT_INIT;
	can |= add_of_suspect(a, COL_REFERENCE, &reference) ? CAN_CUT : 0;
	text_release(&reference);
	can |= app_unfolding(a, NULL) ? CAN_FOLD : 0;
	if (!app_target(a, &target))
		return can;
	if (target.process && list)
		return can | CAN_DUMP | (target.part ? 0 : CAN_WATCH);
	can |= list && t->on_head && !class_of_head(a, &class) ? 0 : CAN_OPEN;
	if (target.kind == TARGET_COMMAND && list && lists_dumps(app_page(a)) && !strncmp(target.command, "use ", 4))
		can |= CAN_TAG;
	if (target.kind == TARGET_COMMAND)
		return can;
	if (target_is_several(&target))
		can |= CAN_SEVERAL;
	uint32_t id = target_object(h, &target);
	struct collection_size size;
	if (id != HEAP_NONE)
		can |= target.kind == TARGET_CLASS ? CAN_CLASS_OBJECT : CAN_OBJECT;
	if (can & CAN_OBJECT && app_references_ready(a) && inspect_size(h, id, &size))
		can |= CAN_ENTRIES;
	if (id != HEAP_NONE)
		return can;
	return can | CAN_SEVERAL; /* a thread without an object: what its stack holds */
}

/* --- paths with and without each step ------------------------------------------------------------ */

bool app_unfolding(struct app *a, struct text *line)
{
	static const char unfolded[] = " -unfolded";
	struct page *p = app_page(a);
	struct result *r = p ? page_result(p) : NULL;

	if (!r || !p->asked || p->asked->of_view || !invocation_is_plain(p->asked) ||
	    !(result_is(r, RESULT_FOLDED) || result_is(r, RESULT_UNFOLDED)))
		return false;
	const char *at = strstr(p->line, unfolded);
	if (line)
		text_addf(line, "%.*s%s", at ? (int)(at - p->line) : (int)strlen(p->line), p->line,
		    at ? at + strlen(unfolded) : unfolded);
	return true;
}

/* --- opening ------------------------------------------------------------------------------------ */

enum { SORTED_MOST = 1000000 }; /* objects of a class that are shown in an order: it takes some tenths of a second */

enum { SAME_ROWS = 1000 };

/* The row of the heap's page that the overview showed. */
static void select_branch(struct app *a, const char *branch)
{
	struct table *t = app_table(a);
	struct cell cell;

	for (size_t row = 0; t && row < t->result->n_rows && row < SAME_ROWS; row++)
		if (result_cell_in(t->result, row, COL_BRANCH, &cell) && cell.type == CELL_TEXT && !strcmp(cell.text, branch)) {
			table_select(t, row);
			return;
		}
}

/* A row of the overview that the heap's page has, too; NULL, or the caller's words. */
static char *branch_of_row(struct app *a, const struct table *t, const struct target *target)
{
	struct cell cell;

	if (!t || !page_is_overview(app_page(a)) || target->kind != TARGET_COMMAND ||
	    strcmp(target->command, "heap") != 0 || !result_cell_in(t->result, t->row, COL_NAME, &cell) ||
	    cell.type != CELL_TEXT)
		return NULL;
	return xstrdup(cell.text);
}

/* The command line that the selected row of about proposes, in a pane or on the page; NULL: none. */
static const char *proposed_line(struct app *a)
{
	struct page *p = app_page(a);
	struct table *t = app_table(a);

	if (panes_focused(&a->panes))
		return about_line(a->panes.shown, a->panes.row);
	if (!p || !p->ops->on_words || !p->ops->on_words(p) || t->row >= t->result->n_rows)
		return NULL;
	return about_line(t->result, t->row);
}

/* Of a suspect the name, in place of an address and of what it is. */
static void run_of_suspect(struct app *a, const char *line)
{
	size_t before = a->here.pages.at;
	struct text name = TEXT_INIT, title = TEXT_INIT;
	bool suspect = add_of_suspect(a, COL_REFERENCE, &title) && add_of_suspect(a, COL_NAME, &name);

	app_run_line(a, line);
	struct page *p = app_page(a);
	if (suspect && p && a->here.pages.at == before + 1) {
		const char *address = strstr(p->title, "0x"), *end = address ? address + strcspn(address, " ,:") : "";
		text_clear(&title);
		text_add_n(&title, p->title, address ? (size_t)(address - p->title) : 0);
		names_fit(name.s, 1, &title);
		text_add(&title, end);
		free(p->title);
		p->title = text_take(&title);
	}
	text_release(&name);
	text_release(&title);
}

void app_open_row(struct app *a)
{
	struct table *t = app_table(a);
	const struct heap *h = session_heap(&a->session);
	struct target target;
	struct text line = TEXT_INIT;

	const char *proposed = proposed_line(a);

	bool head = t && t->on_head && !panes_focused(&a->panes);
	if (head && !class_of_head(a, &target)) {
		app_say(a, ROLE_NOTE, "this is the object itself; Down: its contents, Tab: incoming references");
		return;
	}
	bool row = !proposed && !head;
	if (row && app_target(a, &target) && target.kind != TARGET_COMMAND && app_is_of_other(a, "Enter"))
		return;
	if (row && !app_target(a, &target)) {
		app_say(a, ROLE_NOTE, "nothing to open in this row");
		return;
	}
	if (proposed)
		text_add(&line, proposed);
	else if (target.command)
		text_add(&line, target.command);
	else if (target.part)
		text_addf(&line, "ls %%%zu", t->row + 1);
	else if (target.kind == TARGET_GROUP)
		text_addf(&line, "histo %%%zu", t->row + 1);
	else if (target.kind == TARGET_THREAD)
		text_addf(&line, "bt %" PRIu64, thread_number(h, target.id));
	else if (target.kind == TARGET_OBJECT)
		text_addf(&line, "x 0x%" PRIx64, heap_address(h, target.id));
	else { /* a class without objects is looked at itself: it may hold much */
		const struct heap_class *class = &h->classes[target.id];
		text_add(&line, class->n_objects || class->object == HEAP_NONE ? "ls " : "x ");
		if (class->address && class->object != HEAP_NONE) /* two loaders may have one of this name each */
			text_addf(&line, "0x%" PRIx64, class->address);
		else
			text_addf(&line, "'%s'", class->name);
		if (class->n_objects && class->n_objects <= SORTED_MOST && opened_retained(a->session.dump))
			text_add(&line, " -sort retained");
	}
	char *branch = proposed ? NULL : branch_of_row(a, t, &target);
	run_of_suspect(a, line.s);
	if (branch)
		select_branch(a, branch);
	free(branch);
	text_release(&line);
}

/* --- keys of commands --------------------------------------------------------------------------- */

/* Why nothing can be asked about the row. */
static void refuse(struct app *a, char key, unsigned can)
{
	struct text said = TEXT_INIT;
	const struct command *c = key_command(key);
	char word[2] = {key, '\0'};

	if (app_is_of_other(a, word))
		return;
	struct err none = ERR_INIT;
	if (app_profiles_alone(a) && a->session.folder && session_no_dump(&a->session, &none))
		text_add(&said, none.message);
	else if (app_profiles_alone(a))
		text_addf(&said, "%c asks about objects, and " NO_DUMP_AT_HAND, key);
	else if (can & CAN_OBJECT && c && c->flags & COMMAND_OF_COLLECTIONS)
		text_addf(&said, "%c needs a list, set, map or queue of a known class; Enter: its fields", key);
	else if (!app_table(a) || !(can & CAN_ROWS))
		text_addf(&said, "%c needs a selected row; there is none here", key);
	else if (can & CAN_SEVERAL && !panes_focused(&a->panes))
		text_addf(&said, "%c needs a single object; this row is several: press Enter to list them", key);
	else
		text_addf(&said, "%c needs an object; this row is not an object", key);
	app_say(a, ROLE_NOTE, said.s);
	text_release(&said);
}

static void ask_about_row(struct app *a, char key, const char *words, const char *behind)
{
	struct selection selection;
	struct text line = TEXT_INIT;

	app_select(a, &selection);
	if (selection.row) {
		text_addf(&line, "%s %s%s", words, selection.row, behind);
		run_of_suspect(a, line.s);
	} else {
		refuse(a, key, 0);
	}
	selection_release(&selection);
	text_release(&line);
}

void app_referrers(struct app *a)
{
	unsigned can = app_abilities(a);

	if (can & CAN_OBJECT)
		ask_about_row(a, 'u', "refs", " -in");
	else
		refuse(a, 'u', can);
}

/* "leak" to "shop-AuditLog.ENTRIES.md", of the file and the simple name of the suspect. */
static void add_ticket_name(struct app *a, const char *name, struct text *to)
{
	enum { NAME_MOST = 40 };
	const struct heap *h = session_heap(&a->session);
	const char *path = h && h->source && h->source->path ? h->source->path : "leak", *slash = strrchr(path, '/');
	struct text simple = TEXT_INIT;

	path = slash ? slash + 1 : path;
	text_add_n(&simple, path, strcspn(path, "."));
	text_add_char(&simple, '-');
	names_fit(name, 1, &simple);
	for (size_t i = 0, n = 0; i < simple.len && n < NAME_MOST; i++) {
		bool plain = isalnum((unsigned char)simple.s[i]) || strchr("._-$", simple.s[i]);
		if (!plain && to->s[to->len - 1] == '-')
			continue;
		text_add_char(to, plain && simple.s[i] != '$' ? simple.s[i] : '-');
		n++;
	}
	text_add(to, ".md");
	text_release(&simple);
}

/* The share that the page was asked with decides what is a suspect, and so their numbers. */
static void add_share(const struct page *p, struct text *to)
{
	const struct stage *stage = p->asked && p->asked->line.n ? p->asked->line.stages : NULL;

	for (size_t i = 0; stage && i + 1 < stage->n; i++) {
		const struct option_spec *option = command_option(p->asked->command, stage->words[i].s);
		if (option && option->word == DASH_SHARE)
			text_addf(to, " -share %s", stage->words[i + 1].s);
	}
}

void app_ticket(struct app *a)
{
	struct text number = TEXT_INIT, name = TEXT_INIT, line = TEXT_INIT;

	if (add_of_suspect(a, COL_NUMBER, &number) && add_of_suspect(a, COL_NAME, &name)) {
		text_addf(&line, "report -suspect %s", number.s);
		add_share(app_page(a), &line);
		text_add(&line, " -o ");
		add_ticket_name(a, name.s, &line);
		text_clear(&a->notice.text);
		prompt_open(PROMPT_COMMAND, line.s, SIZE_MAX);
	} else {
		app_say(a, ROLE_NOTE, "no suspect to write about here");
	}
	text_release(&number);
	text_release(&name);
	text_release(&line);
}

/* What clearing the references frees that the selected suspect names. */
static void cut_suspect(struct app *a)
{
	struct text line = TEXT_INIT;

	text_add(&line, "cut ");
	add_of_suspect(a, COL_REFERENCE, &line);
	app_run_line(a, line.s);
	text_release(&line);
}

void app_run_key(struct app *a, const struct command *c)
{
	unsigned can = app_abilities(a);
	const char *words;

	if (c->flags & COMMAND_CUTS && can & CAN_CUT) {
		cut_suspect(a);
		return;
	}
	/* the top of the heap where there are no rows that it could be asked about */
	if (!command_of_row(c) || (c->arguments[0].optional && c->arguments[0].kind == ARG_OBJECT && !app_table(a)))
		app_run_line(a, c->name);
	else if (key_asks(c, can, &words))
		ask_about_row(a, c->key[0], words, "");
	else
		refuse(a, c->key[0], can);
}
