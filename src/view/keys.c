/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys.c - the table of keys.
 */
#include "view/keys.h"

#include "command/help/help.h"
#include "view/term.h"
#include "view/view.h"

#include <string.h>

#define CTRL(letter) ((letter) & 0x1F)
#define BOTH (PLACE_TABLE | PLACE_OBJECT | PLACE_TREE)
#define ANY (BOTH | PLACE_TEXT)

static const struct binding {
	int keys[6];       /* ended by 0 */
	enum action action;
	const char *name;  /* as help writes the keys */
	const char *help;
	const char *hint;  /* one word for the last line; NULL: not shown there */
	const char *hint_key;
	unsigned places;   /* where the hint is shown */
} bindings[] = {
    {{'\r', '\n', SPECIAL(KEY_ENTER)}, ACTION_OPEN, "Enter",
	"open the selected row: a class's objects, an object, a thread; in a tree a closed branch",
	"open", "Enter", BOTH},
    {{SPECIAL(KEY_RIGHT)}, ACTION_INTO, "Right",
	"the same; in a tree open the branch, then into it", NULL, NULL, 0},
    {{SPECIAL(KEY_LEFT)}, ACTION_OUT, "Left",
	"back; in a tree close the branch, then to the row above it", "close", "Left", PLACE_TREE},
    {{'*'}, ACTION_DROP, "*", "in a tree: open down the heaviest row, to where the weight scatters",
	"to the big drop", "*", PLACE_TREE},
    {{27, SPECIAL(KEY_BACKSPACE), 127, 8, SPECIAL(KEY_ALT_LEFT)}, ACTION_BACK,
	"Esc, Backspace", "back to the view before; its row, sort and filter are as they were",
	"back", "Esc", PLACE_OBJECT | PLACE_TEXT},
    {{']', SPECIAL(KEY_ALT_RIGHT), CTRL('O')}, ACTION_FORWARD, "], Alt-Right, ^O",
	"forward again", NULL, NULL, 0},
    {{'\t', SPECIAL(KEY_BTAB)}, ACTION_SIDE, "Tab",
	"object view: from what it references to what references it", "side", "Tab", PLACE_OBJECT},
    {{'u'}, ACTION_REFERRERS, "u", "what references the selected object, as a table of its own",
	NULL, NULL, 0},
    {{'s'}, ACTION_SORT_NEXT, "s", "sort by the next column", "sort", "s", PLACE_TABLE | PLACE_TREE},
    {{'r', 'S'}, ACTION_REVERSE, "r, S", "the other way round", NULL, NULL, 0},
    {{'<'}, ACTION_SORT_LEFT, "<", "sort by the column left of it", NULL, NULL, 0},
    {{'>'}, ACTION_SORT_RIGHT, ">", "sort by the column right of it", NULL, NULL, 0},
    {{'f'}, ACTION_FILTER, "f", "filter: rows that have all these words; * is anything; of a tree the open ones",
	"filter", "f", PLACE_TABLE | PLACE_TREE},
    {{'F'}, ACTION_CLEAR_FILTER, "F", "all rows again", NULL, NULL, 0},
    {{'/'}, ACTION_SEARCH, "/", "search a row that has these words", "search", "/",
	PLACE_TABLE | PLACE_TREE | PLACE_TEXT},
    {{'n'}, ACTION_SEARCH_NEXT, "n", "the next such row", NULL, NULL, 0},
    {{'N'}, ACTION_SEARCH_BACK, "N", "the one before", NULL, NULL, 0},
    {{SPECIAL(KEY_UP), 'k', CTRL('P')}, ACTION_UP, "Up, k", "a row up", NULL, NULL, 0},
    {{SPECIAL(KEY_DOWN), 'j', CTRL('N')}, ACTION_DOWN, "Down, j", "a row down", NULL, NULL, 0},
    {{SPECIAL(KEY_PPAGE), CTRL('B')}, ACTION_PAGE_UP, "PgUp, ^B", "a page up", NULL, NULL, 0},
    {{SPECIAL(KEY_NPAGE), CTRL('F'), ' '}, ACTION_PAGE_DOWN, "PgDn, ^F, Space", "a page down",
	NULL, NULL, 0},
    {{'1', '2', '3', '4', '5', '6'}, ACTION_TAB, "1 to 6",
	"the main pages: histogram, heap, leaks, threads, packages, info; again: its first view", NULL, NULL, 0},
    {{CTRL('U')}, ACTION_HALF_UP, "^U", "half a page up", NULL, NULL, 0},
    {{CTRL('D')}, ACTION_HALF_DOWN, "^D", "half a page down", NULL, NULL, 0},
    {{SPECIAL(KEY_HOME), 'g'}, ACTION_FIRST, "Home, g", "the first row", NULL, NULL, 0},
    {{SPECIAL(KEY_END), 'G'}, ACTION_LAST, "End, G", "the last row", NULL, NULL, 0},
    {{'W'}, ACTION_WIDE, "W", "all columns, also those hidden at first or for want of room; W again: as before",
	NULL, NULL, 0},
    {{SPECIAL(KEY_SRIGHT), '}'}, ACTION_PAN_RIGHT, "Shift-Right, }",
	"after W: further columns on the right, beside the name", NULL, NULL, 0},
    {{SPECIAL(KEY_SLEFT), '{'}, ACTION_PAN_LEFT, "Shift-Left, {", "and back to the left", NULL, NULL, 0},
    {{'w'}, ACTION_WHY, "w", "how sure the numbers of the selected row are, and why", "why", "w", BOTH},
    {{'P'}, ACTION_PATH, "P", "show or hide the path from a root to the selected row's object",
	NULL, NULL, 0},
    {{':'}, ACTION_PROMPT, ":", "type a command; Tab completes, Up brings back earlier ones",
	"command", ":", ANY},
    {{'?', SPECIAL(KEY_F(1))}, ACTION_HELP, "?, F1", "the keys and the commands", "help", "?", ANY},
    {{'y'}, ACTION_COPY, "y", "copy the selected address (or class name) to the clipboard",
	"copy", "y", PLACE_OBJECT},
    {{CTRL('L')}, ACTION_REDRAW, "^L", "draw the screen again", NULL, NULL, 0},
    {{CTRL('Z')}, ACTION_SUSPEND, "^Z", "to the shell; fg comes back", NULL, NULL, 0},
    {{CTRL('C')}, ACTION_CANCEL, "^C", "stop what is going on", "stop", "^C", PLACE_LOADING},
    {{'q'}, ACTION_QUIT, "q", "quit", "quit", "q", ANY | PLACE_LOADING},
};
#define N_BINDINGS (sizeof bindings / sizeof *bindings)

enum action key_action(int key)
{
	for (size_t i = 0; i < N_BINDINGS; i++)
		for (size_t k = 0; k < 6 && bindings[i].keys[k]; k++)
			if (bindings[i].keys[k] == key)
				return bindings[i].action;
	return ACTION_NONE;
}

const struct command *key_command(int key)
{
	for (size_t i = 0; commands[i]; i++) {
		const char *name = commands[i]->key;
		if (name && name[0] && !name[1] && (unsigned char)name[0] == (unsigned)key)
			return commands[i];
	}
	return NULL;
}

/* In the hints the commands stand where the arranging keys end. */
static bool command_hint(unsigned *left, const char **key, const char **word)
{
	for (size_t i = 0; commands[i]; i++) {
		const char *name = commands[i]->key;
		/* the ones that ask about the selected row; the others are found with ? */
		enum argument_kind kind = commands[i]->arguments[0].kind;
		if (!name || !name[0] || name[1] || key_action((unsigned char)name[0]) ||
		    strcmp(name, commands[i]->name) == 0 || (kind != ARG_OBJECT && kind != ARG_SET))
			continue;
		if ((*left)-- == 0) {
			*key = name;
			*word = commands[i]->name;
			return true;
		}
	}
	return false;
}

bool key_hint(enum place place, unsigned i, const char **key, const char **word)
{
	unsigned left = i;

	for (int late = 0; late < 2; late++) {
		for (size_t b = 0; b < N_BINDINGS; b++) {
			bool is_late = bindings[b].action >= ACTION_PROMPT;
			if (!bindings[b].hint || !(bindings[b].places & place) || is_late != late)
				continue;
			if (left-- == 0) {
				*key = bindings[b].hint_key;
				*word = bindings[b].hint;
				return true;
			}
		}
		if (!late && (place & BOTH) && command_hint(&left, key, word))
			return true;
	}
	return false;
}

/* --- help -------------------------------------------------------------------------------------- */

static void write_commands(struct text *to)
{
	struct text usage = TEXT_INIT;
	const char *group = "";

	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];
		bool has_key = c->key && c->key[0] && key_action((unsigned char)c->key[0]) == ACTION_NONE;
		if (strcmp(group, c->group) != 0) {
			text_addf(to, "\nCommands: %s\n", c->group);
			group = c->group;
		}
		text_clear(&usage);
		command_usage(c, &usage);
		text_addf(to, "  %-3s %s\n", has_key ? c->key : "", usage.s);
		text_addf(to, "        %s\n", c->summary);
	}
	text_release(&usage);
}

void keys_write_help(struct text *to)
{
	text_add(to, "Keys\n");
	for (size_t i = 0; i < N_BINDINGS; i++)
		text_addf(to, "  %-22s %s\n", bindings[i].name, bindings[i].help);
	text_add(to, "\nAt the prompt\n"
	    "  Tab                    complete; again: the candidates in turn (Shift-Tab: backwards)\n"
	    "  Up, Down, ^R           earlier lines, search among them\n"
	    "  Esc, ^C, ^G            leave without running anything\n"
	    "\nNumbers\n"
	    "  ~12.3M                 inferred: follows from a stated rule, not from the dump alone\n"
	    "  >=12.3M                a lower bound: there may be more, of which why tells the reason\n"
	    "  ?                      unknown: the dump does not tell\n");
	text_add(to, "\nA key in front of a command runs it, for the selected row where it takes one.\n");
	write_commands(to);
}

void view_write_man(struct text *to)
{
	text_add(to, ".SH KEYS\n");
	for (size_t i = 0; i < N_BINDINGS; i++) {
		text_add(to, ".TP\n.B ");
		troff_add(to, bindings[i].name);
		text_add(to, "\n");
		troff_add(to, bindings[i].help);
		text_add(to, "\n");
	}
	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];
		if (!c->key || !c->key[0] || key_action((unsigned char)c->key[0]) != ACTION_NONE)
			continue;
		text_add(to, ".TP\n.B ");
		troff_add(to, c->key);
		text_addf(to, "\nthe command\n.BR %s :\n", c->name);
		troff_add(to, c->summary);
		text_add(to, "\n");
	}
}
