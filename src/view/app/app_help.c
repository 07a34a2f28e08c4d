/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * app_help.c - the keys of the page, in a box over it; what is typed there searches all keys and commands.
 *
 * The box shows what the tables of keys and commands have, so it lists no key that does nothing.  ? once more opens the
 * whole help on a page of its own.
 */
#include "view/app/app.h"

#include "base/mem.h"
#include "command/commands.h"
#include "view/config.h"
#include "view/prompt.h"

#include <stdlib.h>
#include <string.h>

/* Of the box; where there is less room, help is a page. */
enum {
	CELL = 25, KEY = 6,           /* a key and what it does; the key in that */
	ACROSS_MOST = 3, DOWN_MOST = 14,
	AROUND = 8,                   /* lines of the screen that are not the box's */
	LEAST_LINES = 16, LEAST_COLUMNS = 2 * CELL + 3,
	FOUND_MOST = 160, FOUND_KEY = 18, SUMMARY_LEAST = 16, /* rows found; of one: the keys, what it says */
};

struct box {
	struct rect at;     /* with its border */
	int across, down;   /* columns of cells, lines */
};

static bool box_fits(struct box *b)
{
	b->across = (COLS - 3) / CELL < ACROSS_MOST ? (COLS - 3) / CELL : ACROSS_MOST;
	b->down = LINES - AROUND - 2 < DOWN_MOST ? LINES - AROUND - 2 : DOWN_MOST;
	b->at.width = b->across * CELL + 3;
	b->at.height = b->down + 2;
	b->at.y = (LINES - b->at.height) / 2;
	b->at.x = (COLS - b->at.width) / 2;
	return LINES >= LEAST_LINES && COLS >= LEAST_COLUMNS;
}

/* --- opening and closing ----------------------------------------------------------------------- */

static void open_page(struct app *a)
{
	struct text t = TEXT_INIT, tabs = TEXT_INIT;
	struct page *p = app_page(a);

	if (p && !*p->line && strcmp(p->title, "help") == 0)
		return;
	config_write_keys(a->options->config, &t);
	tabs_add_keys(a, &tabs);
	keys_write_help(app_place(a), app_abilities(a), COLS, tabs.s, &t);
	app_push(a, page_new_lines("help", t.s));
	text_release(&t);
	text_release(&tabs);
}

void app_close_help(struct app *a)
{
	text_release(&a->box.typed);
	free(a->box.line);
	a->box = (struct key_box){.open = false};
}

/* Back to the line that was being typed when the box opened. */
static void leave_box(struct app *a)
{
	char *line = a->box.line;

	a->box.line = NULL;
	app_close_help(a);
	if (line)
		prompt_open(PROMPT_COMMAND, line, SIZE_MAX);
	free(line);
}

void app_help(struct app *a)
{
	struct box b;
	bool page = a->box.open || !box_fits(&b);

	app_close_help(a);
	if (page)
		open_page(a);
	else
		a->box = (struct key_box){.open = true, .typed = TEXT_INIT};
}

void app_help_of_line(struct app *a)
{
	const char *s = prompt_text();
	char *typed = xstrdup(s);
	struct text line = TEXT_INIT;
	size_t n;

	s += strspn(s, " ");
	n = strcspn(s, " ");
	char *word = xstrndup(s, n);
	const struct command *c = n ? command_find(word, NULL) : NULL;
	if (*s)
		prompt_remember(s); /* Up brings it back */
	prompt_close();
	if (c) {
		text_addf(&line, "help %s", c->name);
		app_run_line(a, line.s);
	} else {
		app_help(a);
	}
	if (a->box.open) {
		a->box.line = typed;
		typed = NULL;
	}
	free(typed);
	free(word);
	text_release(&line);
}

/* --- all keys, in columns ---------------------------------------------------------------------- */

enum group { OF_ROW, MOVES, VIEWS, PAGES, NOT_SHOWN, GROUPS = NOT_SHOWN };

/* The others are found by typing. */
static enum group group_of(enum action action)
{
	if ((action >= ACTION_OPEN && action <= ACTION_GROUP) || action == ACTION_FOLD || action == ACTION_SIDE ||
	    action == ACTION_REFERRERS || action == ACTION_WHY || action == ACTION_COPY || action == ACTION_COPY_ROW ||
	    action == ACTION_TICKET || action == ACTION_TAG || action == ACTION_WATCH)
		return OF_ROW;
	if (action == ACTION_UP || action == ACTION_DOWN || action == ACTION_FIRST || action == ACTION_LAST ||
	    action == ACTION_SEARCH || action == ACTION_SEARCH_NEXT || action == ACTION_MARK ||
	    action == ACTION_GO_TO_MARK)
		return MOVES;
	if ((action >= ACTION_SORT_NEXT && action <= ACTION_CLEAR_FILTER) || action == ACTION_LAYOUT ||
	    action == ACTION_PATH)
		return VIEWS;
	if (action == ACTION_TAB || action == ACTION_PROMPT || action == ACTION_BACK || action == ACTION_LEAVE ||
	    action == ACTION_QUIT)
		return PAGES;
	return NOT_SHOWN;
}

/* Where the next cell goes: down a column, then the next one. */
struct layout_at {
	const struct box *box;
	int column, line;
};

static int cell_x(const struct layout_at *l)
{
	return l->box->at.x + 2 + l->column * CELL;
}

/* The line of the next cell; a column that is full goes on in the next one where flow is set.  -1: no room. */
static int next_line(struct layout_at *l, bool flow)
{
	if (l->line >= l->box->down && flow) {
		l->column++;
		l->line = 0;
	}
	return l->line < l->box->down && l->column < l->box->across ? l->box->at.y + 1 + l->line++ : -1;
}

/* Where there is no room for "PgDn, ^F, Space", the first key; of "Shift-Right, }" the letter is shorter. */
static void add_keys(const char *keys, struct text *to)
{
	size_t n = strcspn(keys, ", ");

	if (strlen(keys) <= KEY) {
		text_add(to, keys);
		return;
	}
	if (memchr(keys, '-', n) && keys[n])
		keys += n + strspn(keys + n, ", ");
	text_add_n(to, keys, strcspn(keys, ", "));
}

static void draw_cell(struct layout_at *l, bool flow, const char *keys, const char *words)
{
	struct text shown = TEXT_INIT;
	int y = next_line(l, flow);

	add_keys(keys, &shown);
	if (y >= 0) {
		draw_clipped(y, cell_x(l), KEY, shown.s, theme_role(ROLE_KEY));
		int room = CELL - KEY - 1 - (l->column + 1 < l->box->across); /* a blank before the next column */
		draw_text(y, cell_x(l) + KEY + 1, room, words, theme_role(ROLE_TEXT));
	}
	text_release(&shown);
}

static void draw_heading(struct layout_at *l, bool flow, const char *words)
{
	int y = next_line(l, flow);

	if (y >= 0)
		draw_text(y, cell_x(l), CELL - 1, words, theme_role(ROLE_HEADER));
}

/* Did the user give the key another meaning? */
static bool is_taken(struct app *a, int key)
{
	return config_key(a->options->config, key) != NULL;
}

static void draw_command_keys(struct app *a, struct layout_at *l, bool flow)
{
	unsigned can = app_abilities(a);
	const char *words;

	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];
		if (!c->key || !*c->key || key_command((unsigned char)*c->key) != c || !command_of_row(c) ||
		    is_taken(a, *c->key) || !(can & (CAN_OBJECT | CAN_SEVERAL)) || !key_asks(c, can, &words))
			continue;
		draw_cell(l, flow, c->key, strcmp(words, c->key) ? words : "show it");
	}
}

/* Those of the group that come first (Enter, the arrows), or the others. */
static void draw_keys(struct app *a, struct layout_at *l, bool flow, enum group group, bool first)
{
	struct key_help k;
	struct text tabs = TEXT_INIT;
	unsigned can = app_abilities(a);

	tabs_add_keys(a, &tabs);
	for (size_t i = 0; key_help_at(i, app_place(a), &k); i++) {
		const char *words = k.brief ? k.brief : strlen(k.help) < CELL - KEY - 1 ? k.help : NULL;
		unsigned needs = k.action == ACTION_REFERRERS ? CAN_OBJECT : group == OF_ROW ? k.needs : 0;
		bool useless = (needs && !(needs & can)) || is_taken(a, k.pressed[0]);
		if (k.here && words && !useless && group_of(k.action) == group && (k.action <= ACTION_OPEN) == first)
			draw_cell(l, flow, k.action == ACTION_TAB ? tabs.s : k.keys, words);
	}
	text_release(&tabs);
}

static void draw_group(struct app *a, struct layout_at *l, bool flow, enum group group)
{
	static const char *const headings[GROUPS] = {
	    [OF_ROW] = "THIS ROW", [MOVES] = "MOVE", [VIEWS] = "VIEW", [PAGES] = "PAGES"};
	struct text count = TEXT_INIT, heading = TEXT_INIT;

	if (group == OF_ROW)
		app_add_row_count(a, &count);
	text_addf(&heading, count.len ? "%s (%s)" : "%s", headings[group], count.s);
	draw_heading(l, flow, heading.s);
	draw_keys(a, l, flow, group, true);
	if (group == OF_ROW)
		draw_command_keys(a, l, flow);
	draw_keys(a, l, flow, group, false);
	text_release(&count);
	text_release(&heading);
}

/* A column for each group, and the pages below the movements; in a narrow window one group after the other. */
static void draw_all_keys(struct app *a, const struct box *b)
{
	struct layout_at l = {.box = b};
	bool flow = b->across < ACROSS_MOST;

	for (enum group group = OF_ROW; group <= VIEWS; group++) {
		draw_group(a, &l, flow, group);
		if (group == MOVES)
			draw_group(a, &l, flow, PAGES);
		if (!flow)
			l = (struct layout_at){.box = b, .column = (int)group + 1};
	}
}

/* --- what was typed, searched for ---------------------------------------------------------------- */

struct found {
	const char *keys;    /* NULL: only the command */
	const char *line;    /* of the command, or NULL */
	const char *says;
	int pressed;
	struct palette_row row; /* where line is set */
};

struct key_search {
	struct app *app;
	const char *words;
	struct found *row;
	size_t n;
};

static void add_key(struct key_search *f, const struct key_help *k, int pressed)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->row[i].keys == k->keys)
			return;
	if (f->n < FOUND_MOST)
		f->row[f->n++] = (struct found){.keys = k->keys, .says = k->help, .pressed = pressed};
}

/* The keys whose own letter was typed; or (words) those of which help says the words, here or elsewhere. */
static void find_keys(struct key_search *f, bool words, bool here)
{
	struct key_help k;

	for (size_t i = 0; key_help_at(i, app_place(f->app), &k); i++) {
		int typed = 0, pressed = 0; /* the letter; the first key that the user gave no other meaning */
		for (const int *key = k.pressed; *key; key++) {
			if (is_taken(f->app, *key))
				continue;
			typed = !f->words[1] && *key == (unsigned char)f->words[0] ? *key : typed;
			pressed = pressed ? pressed : *key;
		}
		bool says = palette_says(k.help, k.brief ? k.brief : "", f->words, strlen(f->words));
		if (k.here == here && pressed && (words ? says : typed != 0))
			add_key(f, &k, typed ? typed : pressed);
	}
}

static void add_command(struct key_search *f, const struct palette_row *row)
{
	const struct command *c = row->command;
	const char *words = row->line, *keys = NULL;

	for (size_t i = 0; i < f->n; i++)
		if (f->row[i].row.command == c && !strcmp(f->row[i].row.line, row->line))
			return;
	if (c->key && *c->key && key_command((unsigned char)*c->key) == c && !strcmp(row->line, c->name) &&
	    !is_taken(f->app, *c->key)) {
		keys = c->key;
		(void)(command_of_row(c) && key_asks(c, app_abilities(f->app), &words));
	}
	if (f->n < FOUND_MOST)
		f->row[f->n++] = (struct found){.keys = keys, .line = words, .says = key_summary(c, words), .row = *row};
}

/* Those whose name begins with the words; or all. */
static void find_commands(struct key_search *f, bool begun)
{
	struct palette_row row[PALETTE_MOST];
	size_t words = strlen(f->words), n = palette_find(f->words, words, row, PALETTE_MOST);

	for (size_t i = 0; i < n; i++)
		if (!begun || strncmp(row[i].line, f->words, words) == 0)
			add_command(f, &row[i]);
}

/* The command whose key was typed. */
static void find_command_of_key(struct key_search *f)
{
	const struct command *c = f->words[1] ? NULL : key_command((unsigned char)f->words[0]);

	if (c && !is_taken(f->app, (unsigned char)f->words[0]))
		add_command(f, &(struct palette_row){.line = c->name, .command = c});
}

static size_t find(struct app *a, struct found *row)
{
	struct key_search f = {.app = a, .words = a->box.typed.s, .row = row};

	find_command_of_key(&f);
	find_keys(&f, false, true);
	find_commands(&f, true);
	find_keys(&f, true, true);
	find_commands(&f, false);
	find_keys(&f, true, false);
	return f.n;
}

/* Is there anything that the command is about without a word: the row, or nothing at all? */
static bool runs_alone(struct app *a, const struct command *c)
{
	return c->arguments[0].kind == ARG_END || c->arguments[0].optional ||
	       (command_of_row(c) && app_abilities(a) & (CAN_OBJECT | CAN_SEVERAL | CAN_CLASS_OBJECT));
}

/* As its key, as its line, or, where the line lacks a word, in the prompt. */
static void act(struct app *a, const struct found *f)
{
	struct text line = TEXT_INIT;

	app_close_help(a);
	if (!f->line) {
		app_input(a, &(struct input){.key = f->pressed});
	} else if (f->keys) {
		app_run_key(a, f->row.command);
	} else {
		bool alone = runs_alone(a, f->row.command);
		text_addf(&line, alone ? "%s" : "%s ", f->row.line);
		text_clear(&a->notice.text);
		prompt_open(PROMPT_COMMAND, line.s, SIZE_MAX);
		if (alone) /* as if it were typed: Up brings it back, also after an error */
			app_input(a, &(struct input){.key = '\r'});
	}
	text_release(&line);
}

static size_t first_shown(const struct app *a, const struct box *b)
{
	return a->box.chosen / (size_t)b->down * (size_t)b->down;
}

static void draw_found(const struct box *b, int y, const struct found *f, bool chosen)
{
	struct text keys = TEXT_INIT, other = TEXT_INIT;
	int x = b->at.x + 1, width = b->at.width - 2, at = x + FOUND_KEY + 2;

	text_addf(&keys, "%s%s%s%s", f->keys ? f->keys : "", f->keys && f->line ? "  " : "", f->line ? ":" : "",
	    f->line ? f->line : "");
	if (f->line)
		palette_add_other_name(&f->row, &other);
	draw_clipped(y, x, 1, chosen ? ">" : " ", theme_role(ROLE_TEXT));
	int used = draw_text(y, x + 1, width - 2, keys.s, theme_role(chosen ? ROLE_CHOSEN : ROLE_KEY));
	at = x + 1 + used + 2 > at ? x + 1 + used + 2 : at;
	int end = x + width - 1, needed = other.len ? (int)text_width(other.s) : 0;
	if (needed && end - needed - 2 - at >= SUMMARY_LEAST) {
		end -= needed;
		draw_text(y, end, needed, other.s, theme_role(ROLE_FACTS));
		end -= 2;
	}
	draw_text(y, at, end - at, f->says, theme_role(ROLE_TEXT));
	text_release(&keys);
	text_release(&other);
}

static void draw_all_found(struct app *a, const struct box *b)
{
	struct found row[FOUND_MOST];
	size_t n = find(a, row), first = first_shown(a, b);

	for (int i = 0; i < b->down && first + (size_t)i < n; i++)
		draw_found(b, b->at.y + 1 + i, &row[first + (size_t)i], first + (size_t)i == a->box.chosen);
	if (n == 0)
		draw_text(b->at.y + 1, b->at.x + 2, b->at.width - 4, "no key and no command has these words",
		    theme_role(ROLE_QUIET));
}

/* --- drawing ----------------------------------------------------------------------------------- */

/* A line of the border with words in it; returns the column behind these. */
static int draw_edge(const struct box *b, bool top, const char *words, attr_t attr)
{
	int y = top ? b->at.y : b->at.y + b->at.height - 1, end = b->at.x + b->at.width - 1;
	bool fine = term_utf8();

	draw_clipped(y, b->at.x, 1, !fine ? "+" : top ? "\u250c" : "\u2514", theme_role(ROLE_QUIET));
	for (int x = b->at.x + 1; x < end; x++)
		draw_clipped(y, x, 1, theme_glyph(GLYPH_HORIZONTAL), theme_role(ROLE_QUIET));
	draw_clipped(y, end, 1, !fine ? "+" : top ? "\u2510" : "\u2518", theme_role(ROLE_QUIET));
	return b->at.x + 2 + draw_text(y, b->at.x + 2, b->at.width - 4, words, attr);
}

void app_draw_help(struct app *a, int *y, int *x)
{
	struct box b;
	struct text title = TEXT_INIT;
	struct page *p = app_page(a);

	if (!a->box.open || !box_fits(&b)) /* there is too little room for now */
		return;
	bool typed = a->box.typed.len > 0;
	text_addf(&title, " Keys: %s ", p ? p->title : "");
	int margin = b.at.x > 0; /* else ends of words stand beside it */
	for (int i = 0; i < b.at.height; i++)
		draw_blank(b.at.y + i, b.at.x - margin, b.at.width + 2 * margin, theme_role(ROLE_TEXT));
	draw_edge(&b, true, title.s, theme_role(ROLE_TITLE));
	for (int i = 0; i < b.down; i++) {
		draw_clipped(b.at.y + 1 + i, b.at.x, 1, theme_glyph(GLYPH_VERTICAL), theme_role(ROLE_QUIET));
		draw_clipped(b.at.y + 1 + i, b.at.x + b.at.width - 1, 1, theme_glyph(GLYPH_VERTICAL), theme_role(ROLE_QUIET));
	}
	text_clear(&title);
	if (typed)
		text_addf(&title, " %s ", a->box.typed.s);
	else
		text_addf(&title, " type to search%s  ? all help  Esc close ", b.across < ACROSS_MOST ? "" :
		    " all keys and commands");
	int end = draw_edge(&b, false, title.s, theme_role(typed ? ROLE_PLACE : ROLE_QUIET));
	if (typed) {
		draw_all_found(a, &b);
		*y = b.at.y + b.at.height - 1;
		*x = end - 1;
	} else {
		draw_all_keys(a, &b);
	}
	text_release(&title);
}

/* --- keys -------------------------------------------------------------------------------------- */

static void type(struct app *a, int key)
{
	char utf8[4];

	a->box.chosen = 0;
	text_add_n(&a->box.typed, utf8, utf8_encode(utf8, (uint32_t)key));
}

/* False: there was nothing. */
static bool untype(struct app *a, bool all)
{
	struct text *t = &a->box.typed;
	size_t n = t->len;

	if (n == 0)
		return false;
	do
		n--;
	while (n > 0 && (all || (t->s[n] & 0xC0) == 0x80));
	t->s[n] = '\0';
	t->len = n;
	a->box.chosen = 0;
	return true;
}

static void choose(struct app *a, int by)
{
	struct found row[FOUND_MOST];
	size_t n = a->box.typed.len ? find(a, row) : 0;

	if (by < 0 ? a->box.chosen > 0 : a->box.chosen + 1 < n)
		a->box.chosen += (size_t)by;
}

static void enter(struct app *a)
{
	struct found row[FOUND_MOST];
	size_t n = a->box.typed.len ? find(a, row) : 0;

	if (a->box.chosen < n)
		act(a, &row[a->box.chosen]);
	else if (!a->box.typed.len)
		app_close_help(a);
}

bool app_help_key(struct app *a, const struct input *in)
{
	enum { CTRL_C = 3, CTRL_G = 7, CTRL_N = 14, CTRL_P = 16, CTRL_U = 21, ESCAPE = 27 };
	struct box b;

	if (!box_fits(&b) || in->pasted) {
		app_close_help(a);
		return false;
	}
	switch (in->key) {
	case '?':
	case SPECIAL(KEY_F(1)):
		app_help(a);
		return true;
	case '\r':
	case '\n':
	case SPECIAL(KEY_ENTER):
		enter(a);
		return true;
	case SPECIAL(KEY_UP):
	case CTRL_P:
	case SPECIAL(KEY_BTAB):
		choose(a, -1);
		return true;
	case SPECIAL(KEY_DOWN):
	case CTRL_N:
	case '\t':
		choose(a, 1);
		return true;
	case SPECIAL(KEY_BACKSPACE):
	case '\b':
	case 127:
		if (!untype(a, false))
			leave_box(a);
		return true;
	case CTRL_U:
		untype(a, true);
		return true;
	case ESCAPE:
	case CTRL_C:
	case CTRL_G:
		leave_box(a);
		return true;
	default:
		break;
	}
	enum action action = key_action(in->key, ANYWHERE);
	if (in->key >= ' ' && in->key < KEY_SPECIAL && !point_steers(in->key)) {
		type(a, in->key);
		return true;
	}
	if (action != ACTION_REDRAW && action != ACTION_SUSPEND)
		app_close_help(a); /* the key is meant for the page */
	return false;
}

/* A row found is acted on; beside the box a click closes it. */
void app_help_click(struct app *a, const struct input *in)
{
	struct box b;
	bool fits = box_fits(&b);
	int line = in->y - b.at.y - 1;
	bool inside = fits && line >= -1 && line <= b.down && in->x >= b.at.x && in->x < b.at.x + b.at.width;

	if (mouse_scrolls(in)) {
		choose(a, in->key == SPECIAL(KEY_WHEEL_UP) ? -1 : 1);
	} else if (!inside) {
		app_close_help(a);
	} else if (a->box.typed.len && line >= 0 && line < b.down) {
		a->box.chosen = first_shown(a, &b) + (size_t)line;
		enter(a);
	}
}
