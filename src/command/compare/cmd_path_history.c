/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_path_history.c - path-history: one row of trend, dump by dump. */
#include "command/compare/comparing.h"

#include "base/mem.h"
#include "command/args/args.h"
#include "command/parse/parse.h"
#include "command/session/session.h"
#include "result/plot.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { C_NUMBER, C_CREATED, C_OBJECTS, C_SHALLOW, C_RETAINED, C_BAR, C_D_RETAINED, C_FILE, C_COLUMNS };

static const struct column columns[] = {
    [C_NUMBER] = {.id = COL_NUMBER, .room = COLUMN_LAST},
    [C_CREATED] = {.id = COL_CREATED},
    [C_OBJECTS] = {.id = COL_OBJECTS},
    [C_SHALLOW] = {.id = COL_SHALLOW, .room = COLUMN_EARLY},
    [C_RETAINED] = {.id = COL_RETAINED},
    [C_BAR] = {.id = COL_BAR, .room = COLUMN_LATE},
    [C_D_RETAINED] = {.id = COL_D_RETAINED},
    [C_FILE] = {.id = COL_FILE},
};
static const struct shape shape = {.named_by = COL_FILE, SHAPE_COLUMNS(columns)};

enum { BAR_COLUMNS = 16 };

struct course_of {
	struct comparing *comparing;
	uint32_t row;     /* of the comparison */
};

/* The row of a dump, the i-th of all.  To the objects of the newest one, and to the other dumps, one goes. */
static void add_dump(struct result *r, const struct course_of *d, size_t i)
{
	const struct comparison *c = &d->comparing->comparison;
	const struct session_dump *dump = d->comparing->all[i].dump;
	size_t at = d->comparing->all[i].at;
	struct text path = TEXT_INIT, bar = TEXT_INIT, line = TEXT_INIT;
	struct cell cells[C_COLUMNS];
	for (unsigned column = 0; column < C_COLUMNS; column++)
		cells[column] = cell_none();
	text_add_escaped(&path, dump->path, strlen(dump->path));
	cells[C_NUMBER] = cell_plain(dump->number);
	cells[C_FILE] = cell_text(path.s);
	if (at != COMPARING_LEFT_OUT) {
		const struct compared_amounts *now = compared(c, d->row, at);
		plot_add_bar(&bar, now->retained.n, comparing_most(c, d->row), BAR_COLUMNS);
		cells[C_CREATED] = *c->profile[at]->created ? cell_text(c->profile[at]->created) : cell_none();
		cells[C_OBJECTS] = cell_count(now->objects);
		cells[C_SHALLOW] = cell_bytes(now->shallow);
		cells[C_RETAINED] = cell_bytes(now->retained);
		if (now->retained.certainty != UNKNOWN) /* how sure it is stands beside it */
			cells[C_BAR] = cell_text(bar.s ? bar.s : "");
		cells[C_D_RETAINED] = !at ? cell_blank() :
		    cell_bytes_delta(compared(c, d->row, at - 1)->retained, now->retained);
	}
	text_addf(&line, "use %zu", dump->number); /* which says it of what cannot be opened, or has no objects */
	bool objects = r->opened && i == d->comparing->n_all - 1;
	result_add_row(r, cells, objects ? &(struct target){.kind = TARGET_GROUP} :
	    &(struct target){.kind = TARGET_COMMAND, .command = line.s});
	text_release(&path);
	text_release(&bar);
	text_release(&line);
}

static int course_members(const struct result *r, void *data, const struct bits *rows, struct bits *to, struct err *err)
{
	const struct course_of *d = data;
	struct bits wanted;
	if (!bits_get(rows, d->comparing->n_all - 1))
		return 0;
	if (bits_init(&wanted, d->comparing->comparison.n_rows, err))
		return ERR_NOMEM;
	bits_set(&wanted, d->row);
	int code = comparing_members(d->comparing, r->opened, &wanted, to, err);
	bits_release(&wanted);
	return code;
}

static void course_release(void *data)
{
	struct course_of *d = data;
	comparing_free(d->comparing);
	free(d);
}

/* --- which row ------------------------------------------------------------------------------------ */

/* The row with these words, and of this class if one is named. */
static int find_row(const struct comparison *c, const char *words, const char *class, uint32_t *row, struct err *err)
{
	struct text one = TEXT_INIT;
	uint32_t found = 0;
	for (uint32_t i = 0; i < c->n_rows && !progress_own_stops(i); i++) {
		const char *of = c->row[i].class ? c->row[i].class : "";
		text_clear(&one);
		compared_add(c, i, &one);
		if (strcmp(one.s ? one.s : "", words) != 0 || (class && strcmp(of, class) != 0))
			continue;
		*row = found++ ? *row : i;
	}
	text_release(&one);
	if (!found)
		return err_set(err, ERR_NOT_FOUND, "no row \"%.200s\" in the dumps (trend lists the rows)", words);
	if (found > 1)
		return err_set(err, ERR_USAGE, "%" PRIu32 " rows of trend have this name (add -class CLASS, as %.100s)", found,
		    c->row[*row].class ? c->row[*row].class : "?");
	return 0;
}

static const char *const kinds[PROFILE_BYS] = {
    [PROFILE_PATH] = "path", [PROFILE_CLASS] = "class", [PROFILE_PACKAGE] = "package", [PROFILE_LOADER] = "loader",
    [PROFILE_FIELD] = "field", [PROFILE_SITE] = "site", [PROFILE_THREAD] = "thread"};

static void add_quoted(struct text *to, const char *s)
{
	text_add_char(to, '"');
	for (; *s; s++) {
		text_add(to, *s == '"' || *s == '\\' ? "\\" : "");
		text_add_char(to, *s);
	}
	text_add_char(to, '"');
}

void comparing_add_course_line(const struct comparison *c, uint32_t row, struct text *to)
{
	struct text words = TEXT_INIT;
	compared_add(c, row, &words);
	text_add(to, "path-history ");
	add_quoted(to, words.s ? words.s : "");
	if (c->by != PROFILE_PATH)
		text_addf(to, " -by %s", kinds[c->by]);
	if (c->row[row].class && (c->by == PROFILE_PATH || c->by == PROFILE_THREAD)) {
		text_add(to, " -class ");
		add_quoted(to, c->row[row].class);
	}
	text_release(&words);
}

/* --- the command ---------------------------------------------------------------------------------- */

static int course_of_words(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const char *words = call->argument[0].word;
	struct course_of *d = xcalloc(1, sizeof *d);
	struct text title = TEXT_INIT;
	int code = comparing_begin(&d->comparing, s, comparing_by(call), false, err);
	if (code) {
		free(d);
		return code;
	}
	struct comparing *c = d->comparing;
	text_addf(&title, "path-history of %s", words);
	struct result *r = *out = result_new_rows(title.s, c->opened, &shape);
	result_rows_members(r, c->opened ? course_members : NULL, course_release, d);
	text_release(&title);
	code = find_row(&c->comparison, words, call_word(call, DASH_CLASS), &d->row, err);
	for (size_t i = 0; !code && i < c->n_all; i++)
		add_dump(r, d, i);
	r->note = comparing_note(r, c);
	result_mark(r, RESULT_NO_PANES, true); /* most rows are of dumps that are not open */
	return code;
}

/* The line that Enter runs on row N of the last table, where that is this command's. */
static int line_of_row(const struct session *s, const char *word, struct text *to, struct err *err)
{
	const struct result *r = session_table(s);
	struct target target = {.kind = TARGET_NONE};
	char *end;
	unsigned long long row = strtoull(word + 1, &end, 10);
	if (r && row && row <= r->n_rows)
		result_target(r, (size_t)row - 1, &target);
	if (*end || !target.command || strncmp(target.command, "path-history ", strlen("path-history ")) != 0)
		return err_set(err, ERR_NOT_FOUND, "%.40s is not a row of trend in the last table (run trend first, or "
		    "give the row's name in quotes)", word);
	text_add(to, target.command); /* the row's own, which lasts until the next one is asked for */
	return 0;
}

static int run_path_history(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct text text = TEXT_INIT;
	struct call of_row;
	const char *word = call->argument[0].word;
	if (word[0] != '%' || !isdigit((unsigned char)word[1]))
		return course_of_words(s, call, out, err);
	if (call_has(call, DASH_BY) || call_has(call, DASH_CLASS))
		return err_set(err, ERR_USAGE, "%.40s is a row: -by and -class do not apply (use path-history "
		    "%.40s)", word, word);
	int code = line_of_row(s, word, &text, err);
	if (!code) {
		struct invocation *asked = invocation_of(text.s);
		code = call_parse(&of_row, s, call->command, asked, err);
		if (!code)
			code = course_of_words(s, &of_row, out, err);
		call_release(&of_row);
		invocation_drop(asked);
	}
	text_release(&text);
	return code;
}

const struct command cmd_path_history = {
    .name = "path-history",
    .arguments = {{ARG_WORD, "ROW", false}},
    .options = OPTIONS(COMPARING_BY("kind of the row (default path)"),
	{DASH_CLASS, OPT_CLASSES, "CLASS", "class, if several rows have this name"}),
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_NEEDS_RETAINED | COMMAND_OF_PROFILES |
	COMMAND_COMPARES,
    .group = "compare",
    .summary = "show one path or class of trend, dump by dump",
    .shapes = SHAPES(&shape),
    .description = "One row of trend, by its name there or as %N after trend, with a line per dump, the oldest "
	"first: its time, what the row had, and its retained size as a bar. d_retained is the change since the previous "
	"dump. An unreadable dump has no numbers. Enter on a row of trend runs this command; if all dumps are profiles, "
	"also on a row of diff and growth.",
    .examples = {{"path-history \"static com.acme.shop.AuditLog.ENTRIES\"", ON_SERIES, "how a static field grew"},
	{"path-history -by class com.acme.shop.Session", ON_SERIES}, {"trend", ON_SERIES}, {"path-history %1", ON_SERIES}},
    .run = run_path_history,
};
