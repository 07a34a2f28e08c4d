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

static int run_sql(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct sql_wishes wishes = {.subclasses = call_has(call, DASH_SUB)};
	struct text text = TEXT_INIT;
	struct sql *q;
	int code = add_question(call, &text, err);
	if (!code)
		code = ask_open(s, &q, err);
	if (!code)
		code = sql_run(q, text.s ? text.s : "", &wishes, s->now, out, err);
	if (!code && !*out)
		session_say(s, "done");
	text_release(&text);
	return code;
}

static const struct option_spec sql_options[] = {
    {DASH_SUB, OPT_FLAG, NULL, "tables of classes have instances of subclasses, too"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

static const struct shape shape = {.fields = true}; /* its columns are those of the question */

const struct command cmd_sql = {
    .name = "sql",
    .arguments = {{ARG_REST, "QUESTION", false}},
    .options = sql_options,
    .group = "ask",
    .summary = "a question in SQL about objects, classes and references",
    .shapes = SHAPES(&shape),
    .description = "SQLite answers, and reads the dump while it does: nothing is copied before. Tables are objects "
	"(address, class, shallow, retained, length, value), refs (source, field, target and their classes), entries(a), "
	"each class by its name in double quotes with its fields as columns, and each line of a command (\"threads\", "
	"\"bt -all\") with its columns.",
    .examples = {{"sql SELECT class, count(*), sum(shallow) FROM objects GROUP BY class ORDER BY 3 DESC", ON_ANY},
	{"sql SELECT status, count(*), setof(address) FROM \"com.acme.shop.Order\" GROUP BY status", ON_SHOP}},
    .key = "",
    .run = run_sql,
};
