/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys.c - the table of keys.
 */
#include "view/keys.h"

#include "command/args/args.h"
#include "command/help/help.h"
#include "view/term/term.h"
#include "view/view.h"

#include <string.h>

#define CTRL(letter) ((letter) & 0x1F)
#define ROWS (PLACE_TABLE | PLACE_OBJECT | PLACE_TREE)
#define OBJECTS (ROWS | PLACE_OVERVIEW)
#define KEYS_MOST 11
#define PAGES (OBJECTS | PLACE_TEXT | PLACE_COLUMNS | PLACE_PANE)

/* In the order of the hints: what opens and asks about the row (the keys of commands stand behind these), what
 * arranges, what is always there. */
static const struct binding {
	int keys[KEYS_MOST]; /* ended by 0 */
	enum action action;
	unsigned acts;     /* the places where it acts: a key may mean something else in others */
	const char *name;  /* as help writes the keys */
	const char *help;
	const char *hint;  /* one word for the last line; NULL: not shown there */
	const char *hint_key;
	unsigned hinted;   /* the places where the hint is shown */
	unsigned needs;    /* and what the row must be able to do, one of these; 0: nothing */
	const char *brief; /* in the overview of help; NULL: not there */
} bindings[] = {
    {{'\r', '\n', SPECIAL(KEY_ENTER)}, ACTION_OPEN, PLACE_CARDS, "Enter",
	"on a leak suspect: the object where the bytes have accumulated, with its elements", NULL, NULL, 0, 0,
	.brief = "what accumulated"},
    {{'\r', '\n', SPECIAL(KEY_ENTER)}, ACTION_OPEN, OBJECTS | PLACE_PANE, "Enter",
	"open the selected row: objects of a class, an object, a thread; in a tree its children",
	"open", "Enter", OBJECTS | PLACE_PANE, CAN_OPEN, .brief = "open the row"},
    {{'\r', '\n', SPECIAL(KEY_ENTER)}, ACTION_OPEN, PLACE_TABLE, "Enter",
	"on a process: dump its heap into memory and open it (attach)", "dump", "Enter", PLACE_TABLE, CAN_DUMP,
	.brief = "dump its heap"},
    {{'\r', '\n', SPECIAL(KEY_ENTER), ' '}, ACTION_OPEN, PLACE_COLUMNS, "Enter, Space", "show or hide this column",
	"show/hide", "Enter", PLACE_COLUMNS, 0, .brief = "show or hide"},
    {{SPECIAL(KEY_RIGHT), 'l'}, ACTION_INTO, PAGES, "Right, l",
	"as Enter; in a tree expand the row, then move into it", NULL, NULL, 0, 0},
    {{SPECIAL(KEY_LEFT)}, ACTION_OUT, PAGES, "Left",
	"back; in a tree collapse the row, then move to the row above", "close", "Left", PLACE_TREE, CAN_CLOSE},
    {{'*'}, ACTION_DROP, PLACE_TREE, "*", "in a tree: expand the largest child until no child dominates",
	"expand", "*", PLACE_TREE, CAN_BRANCH, .brief = "expand largest"},
    {{'g'}, ACTION_GROUP, PLACE_TREE, "g",
	"in the heap's tree: split or join a row of several similar objects; elsewhere as Home",
	"group", "g", PLACE_TREE, CAN_GROUP, .brief = "split a group"},
    {{'a'}, ACTION_FOLD, PLACE_TREE, "a",
	"in the heap's tree: split or join a row of several references (Config > props.table); in paths: show or fold each "
	"step", "split", "a", PLACE_TREE, CAN_FOLD, .brief = "split a chain"},
    {{'a'}, ACTION_FOLD, PLACE_TABLE, NULL, NULL, "steps", "a", PLACE_TABLE, CAN_FOLD},
    {{'\t', SPECIAL(KEY_BTAB)}, ACTION_SIDE, OBJECTS | PLACE_PANE, "Tab",
	"into the pane next to a list, and back; in an object from its fields to its "
	"referrers, its path and what it would free; in a collection from entries to fields",
	"switch", "Tab", PLACE_OBJECT, 0, .brief = "next pane or side"},
    {{'\t', SPECIAL(KEY_BTAB)}, ACTION_SIDE, ROWS | PLACE_PANE, NULL, NULL, "pane", "Tab", PLACE_TABLE | PLACE_TREE,
	CAN_PANE},
    {{'\t', SPECIAL(KEY_BTAB)}, ACTION_SIDE, ROWS | PLACE_PANE, NULL, NULL, "next", "Tab", PLACE_PANE, 0},
    {{27}, ACTION_BACK, PLACE_PANE, NULL, NULL, "list", "Esc", PLACE_PANE, 0},
    {{'u'}, ACTION_REFERRERS, OBJECTS | PLACE_PANE, "u", "incoming references of the selected object, in a table",
	NULL, NULL, 0, 0, .brief = "referrers"},
    {{'b'}, ACTION_CAUSE, OBJECTS | PLACE_TEXT, "b",
	"why the dump was written, or what is wrong with it: the red line above the page (Esc hides it)", NULL, NULL, 0, 0,
	.brief = "cause, damage"},
    {{'T', SPECIAL(KEY_IC)}, ACTION_TAG, PLACE_TABLE, "T, Insert",
	"in the list of dumps: tag or untag a dump for growth and trend (7, 8)",
	"tag", "T", PLACE_TABLE, CAN_TAG, .brief = "tag the dump"},
    {{'H'}, ACTION_WATCH, PLACE_TABLE, "H", "on a process: watch the class histogram of its VM (live)",
	"live", "H", PLACE_TABLE, CAN_WATCH, .brief = "watch its heap"},
    {{'s', SPECIAL(KEY_F(6))}, ACTION_SORT_NEXT, ROWS, "s, F6",
	"sort by the next column of numbers; the selection stays, unless it is the first row",
	"sort", "s", PLACE_TABLE | PLACE_TREE, CAN_ROWS, .brief = "sort by the next"},
    {{'r', 'S'}, ACTION_REVERSE, ROWS, "r, S", "reverse the order", NULL, NULL, 0, 0, .brief = "reverse the order"},
    {{'<'}, ACTION_SORT_LEFT, ROWS, "<", "sort by the column to the left", NULL, NULL, 0, 0,
	.brief = "sort by the left"},
    {{'>'}, ACTION_SORT_RIGHT, ROWS, ">", "sort by the column to the right", NULL, NULL, 0, 0,
	.brief = "sort by the right"},
    {{'f', SPECIAL(KEY_F(4))}, ACTION_FILTER, ROWS, "f, F4",
	"filter: rows with all these words; * is a wildcard; in a tree only expanded rows",
	"filter", "f", PLACE_TABLE | PLACE_TREE, CAN_ROWS, .brief = "filter rows"},
    {{'F'}, ACTION_CLEAR_FILTER, ROWS, "F", "show all rows again", NULL, NULL, 0, 0},
    {{'/', SPECIAL(KEY_F(3))}, ACTION_SEARCH, PAGES, "/, F3", "search for a row with these words", "search", "/",
	PLACE_TABLE | PLACE_TREE | PLACE_TEXT, 0, .brief = "search"},
    {{'n'}, ACTION_SEARCH_NEXT, PAGES, "n", "next match", NULL, NULL, 0, 0, .brief = "next match"},
    {{'N'}, ACTION_SEARCH_BACK, PAGES, "N", "previous match", NULL, NULL, 0, 0},
    {{'W'}, ACTION_WIDE, PLACE_CARDS, "W",
	"on a leak suspect: the suspects as a table with all columns; W again: choose among them", NULL, NULL, 0, 0,
	.brief = "as a table"},
    {{'W'}, ACTION_WIDE, ROWS, "W",
	"choose the columns (+3 in the header: three have no room); W again: show all", NULL, NULL, 0, 0,
	.brief = "choose columns"},
    {{'W'}, ACTION_WIDE, PLACE_COLUMNS, "W", "show all columns; W again: as many as fit", "all", "W", PLACE_COLUMNS, 0,
	.brief = "all columns"},
    {{SPECIAL(KEY_SRIGHT), '}'}, ACTION_PAN_RIGHT, ROWS, "Shift-Right, }",
	"with all columns (W): scroll to the right; the name stays", NULL, NULL, 0, 0, .brief = "scroll right"},
    {{SPECIAL(KEY_SLEFT), '{'}, ACTION_PAN_LEFT, ROWS, "Shift-Left, {", "scroll back to the left", NULL, NULL, 0, 0,
	.brief = "scroll left"},
    {{'w'}, ACTION_WHY, PAGES, "w", "why the numbers of the selected row are exact or not", "why", "w",
	PLACE_TABLE | PLACE_OBJECT, CAN_ROWS, .brief = "why exact or not"},
    {{'P'}, ACTION_PATH, OBJECTS, "P", "show or hide the path from a GC root to the selected object",
	NULL, NULL, 0, 0, .brief = "path of the row"},
    {{'y'}, ACTION_COPY, PLACE_CARDS, "y", "on a leak suspect: copy its sentence, for a ticket", "copy", "y",
	PLACE_CARDS, CAN_ROWS, .brief = "copy the sentence"},
    {{'E'}, ACTION_TICKET, PLACE_CARDS | PLACE_OVERVIEW, "E",
	"on a leak suspect: write a report about it alone to a file; the prompt opens with its name", "ticket", "E",
	PLACE_CARDS, CAN_ROWS, .brief = "write a ticket"},
    {{'y'}, ACTION_COPY, OBJECTS | PLACE_PANE, "y",
	"copy the row's address, class name or value to the terminal's clipboard (set copy FILE: to a file)",
	"copy", "y", PLACE_OBJECT | PLACE_PANE, 0, .brief = "copy the value"},
    {{'Y'}, ACTION_COPY_ROW, PAGES, "Y",
	"copy the row, columns separated by tabs; Y again: the whole table", NULL, NULL, 0, 0,
	.brief = "copy row or table"},
    {{SPECIAL(KEY_UP), 'k', CTRL('P')}, ACTION_UP, PAGES, "Up, k", "up one row", NULL, NULL, 0, 0},
    {{SPECIAL(KEY_DOWN), 'j', CTRL('N')}, ACTION_DOWN, PAGES, "Down, j", "down one row", NULL, NULL, 0, 0},
    {{SPECIAL(KEY_PPAGE), CTRL('B')}, ACTION_PAGE_UP, PAGES, "PgUp, ^B", "up one page", NULL, NULL, 0, 0},
    {{SPECIAL(KEY_NPAGE), CTRL('F'), ' '}, ACTION_PAGE_DOWN, PAGES, "PgDn, ^F, Space", "down one page",
	NULL, NULL, 0, 0, .brief = "page down"},
    {{CTRL('U')}, ACTION_HALF_UP, PAGES, "^U", "up half a page", NULL, NULL, 0, 0},
    {{CTRL('D')}, ACTION_HALF_DOWN, PAGES, "^D", "down half a page", NULL, NULL, 0, 0},
    {{SPECIAL(KEY_HOME), 'g'}, ACTION_FIRST, PAGES, "Home, g", "first row", NULL, NULL, 0, 0},
    {{SPECIAL(KEY_END), 'G'}, ACTION_LAST, PAGES, "End, G", "last row", NULL, NULL, 0, 0},
    {{'0', '1', '2', '3', '4', '5', '6', '7', '8', '9'}, ACTION_TAB, PAGES, "0 to 9",
	"the main pages: overview, histogram, heap, leaks, threads, packages, info; with several dumps growth, trend, "
	"dumps; again: its first view", NULL, NULL, 0, 0, .brief = "main pages"},
    {{'v'}, ACTION_LAYOUT, ROWS | PLACE_PANE, "v",
	"panes for the selected row, next to a list: on the right, below, both, none",
	NULL, NULL, 0, 0, .brief = "place of the panes"},
    {{27}, ACTION_ESCAPE, PAGES, "Esc",
	"all rows again, if they are filtered; hide the red line; else the previous view",
	NULL, NULL, 0, 0, .brief = "unfilter, or back"},
    {{SPECIAL(KEY_BACKSPACE), 127, 8, SPECIAL(KEY_ALT_LEFT), CTRL('O')}, ACTION_BACK, PAGES,
	"Backspace, ^O", "previous view; its row, sort order and filter are kept",
	NULL, NULL, 0, 0},
    {{']', SPECIAL(KEY_ALT_RIGHT)}, ACTION_FORWARD, PAGES, "], Alt-Right",
	"next view; so does Tab where there is no pane", NULL, NULL, 0, 0, .brief = "next view"},
    {{'\t'}, ACTION_FORWARD, PLACE_TEXT | PLACE_COLUMNS, NULL, NULL, NULL, NULL, 0, 0},
    {{'m'}, ACTION_MARK, PAGES, "m LETTER",
	"mark this place; marks, notes (note) and kept sets return with the dump",
	NULL, NULL, 0, 0, .brief = "mark this place"},
    {{'\''}, ACTION_GO_TO_MARK, PAGES, "' LETTER", "go to a mark; '' returns to the place of the last session",
	NULL, NULL, 0, 0, .brief = "go to a mark"},
    {{':'}, ACTION_PROMPT, PAGES, ":",
	"type a command: those that fit are listed; Tab completes, Up recalls earlier lines",
	"command", ":", PAGES, 0, .brief = "command line"},
    {{';'}, ACTION_ASK, PAGES, ";", "ask in SQL: open the prompt with sql", NULL, NULL, 0, 0, .brief = "ask in SQL"},
    {{'?', SPECIAL(KEY_F(1))}, ACTION_HELP, PAGES, "?, F1",
	"the keys of this page and row; letters search all keys and commands; ? again: the whole help",
	"help", "?", PAGES, 0},
    {{CTRL('L')}, ACTION_REDRAW, ANYWHERE, "^L", "redraw the screen", NULL, NULL, 0, 0},
    {{CTRL('Z')}, ACTION_SUSPEND, ANYWHERE, "^Z", "suspend to the shell; fg returns", NULL, NULL, 0, 0},
    {{CTRL('C')}, ACTION_CANCEL, ANYWHERE, "^C", "stop the current work; while a dump is read, quit", NULL,
	NULL, 0, 0, .brief = "stop the work"},
    {{'q'}, ACTION_LEAVE, ANYWHERE, "q",
	"previous view, or quit from the first one (set q quit: quit everywhere)",
	"back", "q", ANYWHERE, CAN_GO_BACK, .brief = "back, or quit"},
    {{'q'}, ACTION_LEAVE, ANYWHERE, NULL, NULL, "quit", "q", ANYWHERE, CAN_LEAVE},
    {{'Q', SPECIAL(KEY_F(10))}, ACTION_QUIT, ANYWHERE, "Q, F10", "quit immediately", NULL, NULL, 0, 0,
	.brief = "quit"},
};
#define N_BINDINGS (sizeof bindings / sizeof *bindings)

static const struct binding *binding_of(int key, unsigned places)
{
	for (size_t i = 0; i < N_BINDINGS; i++)
		for (size_t k = 0; k < KEYS_MOST && bindings[i].keys[k] && bindings[i].acts & places; k++)
			if (bindings[i].keys[k] == key)
				return &bindings[i];
	return NULL;
}

enum action key_action(int key, unsigned places)
{
	const struct binding *b = binding_of(key, places);

	return b ? b->action : ACTION_NONE;
}

/* Has the command a key?  Not one that the screen has a meaning of its own for; tests/cli/docs.sh reports that. */
static bool has_own_key(const struct command *c)
{
	return c->key && c->key[0] && !c->key[1] && !binding_of((unsigned char)c->key[0], ANYWHERE);
}

bool key_asks(const struct command *c, unsigned can, const char **words)
{
	*words = c->name;
	if (c->flags & COMMAND_CUTS && can & CAN_CUT)
		return true;
	if (c->flags & COMMAND_OF_COLLECTIONS)
		return can & CAN_ENTRIES;
	if (can & CAN_OBJECT)
		return true;
	if (can & CAN_SEVERAL && c->several) {
		*words = c->several;
		return true;
	}
	return can & CAN_CLASS_OBJECT && c->flags & COMMAND_SHOWS_CLASSES;
}

const char *key_summary(const struct command *c, const char *words)
{
	const struct command *asked = command_named(words, strlen(words));

	return (asked ? asked : c)->summary;
}

const char *key_elsewhere(int key)
{
	const struct binding *b = binding_of(key, ANYWHERE & ~PLACE_CARDS);

	if (binding_of(key, PLACE_CARDS) && (!b || b->acts & PLACE_CARDS))
		return "this key works on leak suspects; press 3 for them";
	if (!b)
		return "this key is not bound here; press ? for keys";
	return b->acts == PLACE_TREE ? "this key works in a tree; press 2 for one" : "no rows here";
}

const struct command *key_command(int key)
{
	for (size_t i = 0; commands[i]; i++)
		if (has_own_key(commands[i]) && (unsigned char)commands[i]->key[0] == (unsigned)key)
			return commands[i];
	return NULL;
}

/* The commands that ask about the selected row; the others are found with ?.  several: those that can ask about
 * several objects as well. */
static bool command_hint(unsigned can, bool several, unsigned *left, struct hint *out)
{
	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];
		const char *words;
		if (!has_own_key(c) || !command_of_row(c) || strcmp(c->key, c->name) == 0 ||
		    (c->several != NULL) != several || !key_asks(c, can, &words) || (*left)-- > 0)
			continue;
		*out = (struct hint){.key = c->key, .word = words, .pressed = (unsigned char)c->key[0]};
		return true;
	}
	return false;
}

static bool binding_hint(enum place place, unsigned can, enum action first, enum action last, unsigned *left,
    struct hint *out)
{
	for (size_t i = 0; i < N_BINDINGS; i++) {
		const struct binding *b = &bindings[i];
		if (!b->hint || !(b->hinted & place) || (b->needs && !(b->needs & can)) || b->action < first ||
		    b->action > last || (*left)-- > 0)
			continue;
		*out = (struct hint){.key = b->hint_key, .word = b->hint, .pressed = b->keys[0],
		    .always = b->action == ACTION_HELP || b->action == ACTION_LEAVE || b->action == ACTION_FOLD};
		return true;
	}
	return false;
}

/* What changes from row to row stands where it moves nothing else, or behind what stays. */
bool key_hint(enum place place, unsigned can, unsigned i, struct hint *out)
{
	unsigned left = i;
	bool rows = place & (OBJECTS | PLACE_PANE);

	return binding_hint(place, can, ACTION_NONE, ACTION_REFERRERS, &left, out) ||
	       (rows && command_hint(can, true, &left, out)) ||
	       binding_hint(place, can, ACTION_SORT_NEXT, ACTION_LAYOUT, &left, out) ||
	       (rows && command_hint(can, false, &left, out)) ||
	       binding_hint(place, can, ACTION_PROMPT, ACTION_QUIT, &left, out) ||
	       binding_hint(place, can, ACTION_FOLD, ACTION_FOLD, &left, out);
}

/* --- help -------------------------------------------------------------------------------------- */

static void write_commands(struct text *to)
{
	const char *group = "";

	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];
		if (strcmp(group, c->group) != 0) {
			text_addf(to, "\nCommands: %s\n", c->group);
			group = c->group;
		}
		text_addf(to, "  %-3s %-18s %s\n", has_own_key(c) ? c->key : "", c->name, c->summary);
	}
}

/* A table of keys with a few words each, in as many columns as there is room for. */
struct overview {
	struct text *to;
	int across, at;
};

enum { OVERVIEW_CELL = 25, OVERVIEW_KEY = 6 };

static void add_brief(struct overview *o, const char *key, const char *words)
{
	struct text cell = TEXT_INIT;
	size_t n = strcspn(key, ",");

	if (memchr(key, '-', n) && key[n]) { /* Shift-Right, } */
		key += n + strspn(key + n, ", ");
		n = strcspn(key, ",");
	}
	text_addf(&cell, "%-*.*s %s", OVERVIEW_KEY, (int)n, key, words);
	text_addf(o->to, "%s%-*s", o->at ? "" : "  ", OVERVIEW_CELL, cell.s);
	o->at = (o->at + 1) % o->across;
	text_add(o->to, o->at ? "" : "\n");
	text_release(&cell);
}

static void end_overview(struct overview *o)
{
	text_add(o->to, o->at ? "\n\n" : "\n");
	o->at = 0;
}

/* Does an earlier one take its key in this place, on the same rows? */
static bool is_shadowed(const struct binding *b, enum place place)
{
	const struct binding *first = binding_of(b->keys[0], place);

	return first != b && (!first || !first->needs || !b->needs || first->needs == b->needs);
}

enum key_part { OF_PAGE, EVERYWHERE, ELSEWHERE };

static enum key_part part_of(const struct binding *b, enum place place)
{
	return (b->acts & PAGES) == PAGES ? EVERYWHERE : b->acts & place ? OF_PAGE : ELSEWHERE;
}

/* Those of this place alone, those of all pages, or the rest. */
static void write_keys(enum place place, enum key_part part, struct text *to)
{
	for (size_t i = 0; i < N_BINDINGS; i++) {
		const struct binding *b = &bindings[i];
		if (b->name && part_of(b, place) == part && !(part == OF_PAGE && is_shadowed(b, place)))
			text_addf(to, "  %-22s %s\n", b->name, b->help);
	}
}

/* What the keys of commands ask about the selected row, or, with can 0, about rows. */
static void write_row_keys(unsigned can, struct text *to)
{
	const char *words;

	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];
		if (!has_own_key(c) || !command_of_row(c))
			continue;
		if (can && !key_asks(c, can, &words))
			continue;
		text_addf(to, "  %-22s %s%s%s", c->key, can ? words : c->name, !can && c->several ? "; for several: " : "",
		    !can && c->several ? c->several : "");
		text_addf(to, ": %s\n", can ? key_summary(c, words) : c->summary);
	}
}

bool key_help_at(size_t i, enum place place, struct key_help *out)
{
	for (const struct binding *b = bindings; b < bindings + N_BINDINGS; b++) {
		if (!b->name || i-- > 0)
			continue;
		*out = (struct key_help){b->name, b->brief, b->help, b->keys, b->action,
		    b->acts & place && !is_shadowed(b, place), b->needs};
		return true;
	}
	return false;
}

/* What keys do here, on one screen of 80x24. */
static void write_overview(enum place place, unsigned can, int width, const char *tabs, struct text *to)
{
	struct overview o = {.to = to, .across = width > 2 + OVERVIEW_CELL ? (width - 2) / OVERVIEW_CELL : 1};
	bool rows = place & OBJECTS && can & (CAN_OBJECT | CAN_SEVERAL);
	const char *words;

	if (rows)
		text_addf(to, "The selected row: %s\n", can & CAN_OBJECT ? "an object" : "several objects");
	for (size_t i = 0; rows && commands[i]; i++)
		if (has_own_key(commands[i]) && command_of_row(commands[i]) && key_asks(commands[i], can, &words))
			add_brief(&o, commands[i]->key, strcmp(words, commands[i]->key) ? words : "show it");
	if (rows)
		end_overview(&o);
	for (enum key_part part = OF_PAGE; part <= EVERYWHERE; part++) {
		text_add(to, part == OF_PAGE ? "Keys on this page\n" : "Keys on all pages\n");
		for (size_t i = 0; i < N_BINDINGS; i++) {
			const struct binding *b = &bindings[i];
			bool useless = (b->needs & (CAN_TAG | CAN_WATCH | CAN_DUMP) && !(can & b->needs)) ||
			    (part == OF_PAGE && is_shadowed(b, place));
			if (b->brief && part_of(b, place) == part && !useless)
				add_brief(&o, b->action == ACTION_TAB ? tabs : b->name, b->brief);
		}
		end_overview(&o);
	}
	text_add(to, "Below: these keys in detail, other pages, the prompt, numbers, all commands.\n\n");
}

static const char *const at_prompt[][2] = {
    {"Tab", "complete; again: next candidate (Shift-Tab: previous)"},
    {"Up, Down, ^R", "earlier lines; search in them; after Tab, and with Down in a new line, the list of commands"},
    {"of / and f", "Up, Down, PgUp, PgDn move in the rows; ^P, ^N: earlier words"},
    {"F1", "explain the command in the line"},
    {"Esc, ^C, ^G", "close without running anything (Esc edits if an inputrc sets editing-mode vi)"},
    {"after an error", "keys act on the page again; : and Up edit the line"},
    {"no argument", "the selected row; . is the page's object, or that row"},
};

void keys_write_help(enum place place, unsigned can, int width, const char *tabs, struct text *to)
{
	bool rows = place & OBJECTS;

	write_overview(place, can, width, tabs, to);
	if (rows && can & (CAN_OBJECT | CAN_SEVERAL)) {
		text_addf(to, "In detail: the selected row, %s\n", can & CAN_OBJECT ? "an object" : "several objects");
		write_row_keys(can, to);
		text_add(to, "\n");
	}
	text_add(to, "In detail: this page\n");
	write_keys(place, OF_PAGE, to);
	text_add(to, "\nIn detail: all pages\n");
	write_keys(place, EVERYWHERE, to);
	text_add(to, "\nKeys on other pages\n");
	write_keys(place, ELSEWHERE, to);
	if (!(rows && can & (CAN_OBJECT | CAN_SEVERAL)))
		write_row_keys(0, to);
	text_add(to, "\nAt the prompt\n");
	for (size_t k = 0; k < sizeof at_prompt / sizeof *at_prompt; k++)
		text_addf(to, "  %-22s %s\n", at_prompt[k][0], at_prompt[k][1]);
	text_add(to, "\nNumbers\n"
	    "  ~12.3M                 inferred: from a stated rule, not from the dump alone\n"
	    "  >=12.3M                a lower bound: there may be more (why gives the reason)\n"
	    "  ?                      unknown: not recorded in the dump\n");
	text_add(to, "\nThe key before a command runs it, for the selected row if it takes one.\n");
	write_commands(to);
}

void view_write_keys(struct text *to)
{
	text_add(to, "On the screen, ? lists the keys of the current page first. key K = LINE in the configuration binds a "
	    "key to a command.\n");
	for (size_t i = 0; i < N_BINDINGS; i++)
		if (bindings[i].name)
			text_addf(to, "%s\t%s\n", bindings[i].name, bindings[i].help);
	text_add(to, "Keys that run a command, for the selected row if it takes one:\n");
	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];
		if (has_own_key(c))
			text_addf(to, "%s\t%s: %s%s%s\n", c->key, c->name, c->summary, c->several ? "; for several: " : "",
			    c->several ? c->several : "");
	}
	text_add(to, "At the prompt:\n");
	for (size_t i = 0; i < sizeof at_prompt / sizeof *at_prompt; i++)
		text_addf(to, "%s\t%s\n", at_prompt[i][0], at_prompt[i][1]);
}

void view_write_man(struct text *to)
{
	text_add(to, ".SH KEYS\n");
	for (size_t i = 0; i < N_BINDINGS; i++) {
		if (!bindings[i].name)
			continue;
		text_add(to, ".TP\n.B ");
		troff_add(to, bindings[i].name);
		text_add(to, "\n");
		troff_add(to, bindings[i].help);
		text_add(to, "\n");
	}
	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];
		if (!has_own_key(c))
			continue;
		text_add(to, ".TP\n.B ");
		troff_add(to, c->key);
		text_addf(to, "\nthe command\n.BR %s :\n", c->name);
		troff_add(to, c->summary);
		if (c->several)
			text_addf(to, ".\nOn a row of several objects it runs\n.BR %s",
			    c->several);
		text_add(to, "\n");
	}
}
