/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_sql.c - sql: questions in SQL about the dump. */
#include "command/commands.h"

#include "command/ask/ask.h"

#include <string.h>

/* --- the command -------------------------------------------------------------------------------- */

/* The question, without the quotes that may stand around all of it: no statement begins with one. */
static int add_question(const struct call *call, struct text *to, struct err *err)
{
	const char *s = call->argument[0].word;
	char quote = *s == '\'' || *s == '"' ? *s : '\0';
	for (s += quote != '\0'; *s && (!quote || *s != quote); s++) {
		if (quote == '"' && *s == '\\' && s[1])
			s++;
		text_add_char(to, *s);
	}
	return quote && *s && s[1] ? err_set(err, ERR_USAGE, "behind the quotes around the question:%.100s", s + 1) : 0;
}

static uint64_t seconds_of(const struct call *call)
{
	uint64_t n = call_has(call, DASH_SECONDS) ? call->option[call_option(call, DASH_SECONDS)].number : 0;
	return n < SECONDS_MOST ? n : SECONDS_MOST;
}

/* A question, watched by somebody: by its time, if by nobody else. */
static int ask(struct session *s, struct sql *q, const char *text, const struct sql_wishes *wishes,
    struct result **out, struct err *err)
{
	struct progress own = PROGRESS_INIT, *before = progress_own();
	bool alone = !s->now && wishes->seconds;
	if (alone)
		progress_set_own(s->now = &own);
	int code = sql_run(q, text, wishes, s->now, out, err);
	if (alone) {
		s->now = NULL;
		progress_set_own(before);
	}
	return code;
}

static int run_sql(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct sql_wishes wishes = {.subclasses = call_has(call, DASH_SUB), .seconds = seconds_of(call)};
	struct text text = TEXT_INIT;
	struct sql *q;
	int code = add_question(call, &text, err);
	if (!code)
		code = ask_open(s, &q, err);
	if (!code)
		code = ask(s, q, text.s ? text.s : "", &wishes, out, err);
	if (!code && !*out)
		session_say(s, "done");
	text_release(&text);
	return code;
}

static const struct option_spec sql_options[] = {
    {DASH_SECONDS, OPT_COUNT, "N", "no more than N seconds, commands as tables included"},
    {DASH_SUB, OPT_FLAG, NULL, "tables of classes have instances of subclasses, too"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

#define TABLE_HELP(name, columns, what) name ": " what " (" columns ").\n"
#define FUNCTION_HELP(name, n, usage, what) #name "(" usage "): " what ".\n"

static const struct shape shape = {.fields = true}; /* its columns are those of the question */

const struct command cmd_sql = {
    .name = "sql",
    .arguments = {{ARG_REST, "QUESTION", false}},
    .options = sql_options,
    .group = "ask",
    .summary = "a question in SQL about objects, classes and references",
    .shapes = SHAPES(&shape),
    .description = "SQLite answers, and reads the dump while it does: nothing is copied before. > and || are part of a "
	"question; put it in quotes, or ; behind it, for a > FILE. A row with an address is that object and one with a set "
	"that set: %1, $x = sql ..., size and the keys take it. What nobody knows is NULL, and NAME_certainty, a hidden "
	"column of numbers, tells how sure they are. Views and tables of one's own: CREATE TEMP VIEW, CREATE TEMP "
	"TABLE; nothing else is written. A line view NAME = SELECT ... of the configuration keeps a view for every dump, "
	"which goes before a class of its name; scripts do not know it. EXPLAIN in front of a question tells in words how "
	"it is answered. In a script (-f) sql alone on a line takes the lines below, until one ends with a semicolon; a "
	"line that ends with \\ goes on in the next, on the screen, too.\n"
	"Tables:\n" SQL_TABLES(TABLE_HELP)
	"\"com.acme.Order\": a class, in double quotes: its objects, with the columns of objects and its fields; where two "
	"fields have one name, the superclass's is \"Base.name\". \"class histo\": a class, whatever else is called so; "
	"\"class 0xe0001550\": one of several of a name.\n"
	"threads, \"bt main\", \"histo -by loader\": any line of a command, with its columns.\n"
	"Functions, where a is an address:\n" SQL_FUNCTIONS(FUNCTION_HELP),
    .examples = {{"sql SELECT class, count(*), sum(shallow) FROM objects GROUP BY class ORDER BY 3 DESC", ON_ANY},
	{"sql SELECT r.source_class, r.field, count(*) FROM objects o JOIN refs r ON r.target = o.address WHERE o.class = "
	"'java.lang.String' GROUP BY 1, 2 ORDER BY 3 DESC", ON_SHOP},
	{"sql SELECT status, count(*), sum(total), setof(address) FROM \"com.acme.shop.Order\" GROUP BY status", ON_SHOP}},
    .key = "",
    .complete = ask_complete,
    .run = run_sql,
};
