/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_sql.c - sql: questions in SQL about the dump. */
#include "command/commands.h"

#include "command/query/query.h"

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
	return quote && *s && s[1] ? err_set(err, ERR_USAGE, "text after the quoted query:%.100s", s + 1) : 0;
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

/* The table's name behind -schema: a question's rules, but that a semicolon may end it. */
static int tell_schema(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct text name = TEXT_INIT;
	int code = call->argument[0].given ? add_question(call, &name, err) : 0;
	while (name.len && strchr(" \t;", name.s[name.len - 1]))
		name.s[--name.len] = '\0';
	if (!code)
		code = ask_schema(s, name.len ? name.s : NULL, call_has(call, DASH_SUB), out, err);
	text_release(&name);
	return code;
}

/* What other programs are asked for their tables.  0: it is no such thing; ERR_USAGE: what is asked here. */
static int refuse_other_words(const char *question, struct err *err)
{
	static const char *const words[] = {"describe", "desc", "show", "pragma", NULL};
	static const char *const behind_dot[] = {"tables", "schema", NULL};
	const char *end = question + strlen(question);
	struct sql_token first, t;
	bool dot = sql_next(&question, end, &first) && sql_is_sign(&first, '.');
	t = first;
	if (dot)
		(void)sql_next(&question, end, &t);
	if (!sql_is_one_of(&t, dot ? behind_dot : words))
		return 0;
	return err_set(err, ERR_USAGE, "%.*s is not supported: sql lists the tables, sql -schema TABLE the columns of one",
	    (int)(t.s + t.n - first.s), first.s);
}

static int run_sql(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	if (call_has(call, DASH_SCHEMA))
		return tell_schema(s, call, out, err);
	if (!call->argument[0].given)
		return ask_list_tables(s, out, err);
	struct sql_wishes wishes = {.subclasses = call_has(call, DASH_SUB), .seconds = seconds_of(call)};
	struct text text = TEXT_INIT;
	struct sql *q;
	int code = add_question(call, &text, err);
	if (!code)
		code = refuse_other_words(text.s ? text.s : "", err);
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
    {DASH_SCHEMA, OPT_FLAG, NULL, "list the columns of a table instead"},
    {DASH_SECONDS, OPT_COUNT, "N", "time limit, including tables of commands"},
    {DASH_SUB, OPT_FLAG, NULL, "class tables include instances of subclasses"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

static const struct shape shape = {.fields = true}; /* its columns are those of the question */

const struct command cmd_sql = {
    .name = "sql",
    .arguments = {{ARG_REST, "QUESTION", true}},
    .flags = COMMAND_NO_TABLE,
    .options = sql_options,
    .group = "query and export",
    .summary = "query objects, classes and references in SQL",
    .shapes = SHAPES(&shape, &ask_tables_shape, &ask_schema_shape),
    .description = "SQLite runs the query. sql alone lists the tables; sql -schema TABLE lists the columns of a "
	"table, class or command.\n"
	"A row is the object or the set in it: use it as %1, or keep it by $x = sql ... Before > FILE, put the query "
	"in quotes or end it with ;.\n"
	"Unknown values and NaN are NULL. The hidden column NAME_certainty is the certainty of a number. A comparison "
	"of a text with a number gets a note, in -where an error: use CAST(value AS INTEGER) or AS TEXT.\n"
	"CREATE TEMP VIEW or TABLE adds your own; DROP removes it. EXPLAIN before a query describes its plan. "
	"Statements need no sql before them; in a script (-f) a semicolon ends them.\n",
    .more = ask_tell,
    .examples = {{"sql SELECT class, count(*), sum(shallow) FROM objects GROUP BY class ORDER BY 3 DESC LIMIT 20",
	ON_ANY, "the classes that use most memory"},
	{"sql SELECT address, class, retained FROM objects ORDER BY retained DESC LIMIT 10", ON_ANY,
	"the objects that retain most"},
	{"sql SELECT source_class, field, target_class, count(*) FROM refs GROUP BY 1, 2, 3 ORDER BY 4 DESC "
	"LIMIT 20", ON_ANY,
	"the fields with most references, and their targets"},
	{"sql SELECT number, total, status FROM \"com.acme.shop.Order\" WHERE total > 13.1 AND status = 'NEW' "
	"ORDER BY total DESC", ON_SHOP,
	"a condition on fields of all instances of a class"},
	{"sql SELECT status, count(*), sum(total), setof(address) FROM \"com.acme.shop.Order\" GROUP BY status", ON_SHOP,
	"one field summed by another; each row is a set of objects, so size %1 works"},
	{"sql SELECT c.name, count(*) AS orders, sum(o.total) AS total FROM \"com.acme.shop.Order\" o JOIN "
	"\"com.acme.shop.Customer\" c ON c.address = o.customer GROUP BY c.address ORDER BY orders DESC, "
	"total DESC LIMIT 10", ON_SHOP,
	"two classes joined by a field: customers with most orders"},
	{"sql SELECT field(address, 'customer.city') AS city, count(*), avg(total) FROM "
	"\"com.acme.shop.Order\" GROUP BY city ORDER BY 2 DESC", ON_SHOP,
	"a path of fields instead of a join"},
	{"sql SELECT r.source_class, r.field, count(*) FROM \"java.lang.String\" s JOIN refs r ON r.target = "
	"s.address GROUP BY 1, 2 ORDER BY 3 DESC", ON_SHOP,
	"the classes and fields that hold most Strings"},
	{"sql SELECT address, size(address) AS characters, text(address) AS text FROM \"java.lang.String\" "
	"ORDER BY characters DESC LIMIT 10", ON_SHOP,
	"the longest strings"},
	{"sql SELECT size(address) AS characters, count(*) AS strings FROM \"java.lang.String\" GROUP BY "
	"characters ORDER BY characters DESC", ON_SHOP,
	"strings by their length"},
	{"sql SELECT text(address) AS text, count(*) AS times, sum(shallow) FROM \"java.lang.String\" GROUP BY "
	"text HAVING times > 1 ORDER BY times DESC LIMIT 10", ON_SHOP,
	"equal strings, and their shallow size"},
	{"sql SELECT id, datetime(lastSeen / 1000, 'unixepoch') AS seen, closed FROM \"com.acme.shop.Session\" "
	"WHERE seen < '2026-11-21 10:13' ORDER BY seen", ON_SHOP,
	"sessions older than a date, from milliseconds (UTC)"},
	{"sql SELECT class, count(*) AS maps, setof(address) FROM objects WHERE instanceof(address, "
	"'java.util.AbstractMap') AND size(address) = 1 GROUP BY class", ON_SHOP,
	"maps with one entry, by class"},
	{"sql SELECT e.key, count(*) AS maps FROM \"java.util.HashMap\" m, entries(m.address) e GROUP BY e.key "
	"HAVING maps > 1 ORDER BY maps DESC, e.key", ON_SHOP,
	"keys that several maps have"},
	{"sql SELECT l.address, size(l.address) AS used, a.length AS room FROM \"java.util.ArrayList\" l JOIN "
	"objects a ON a.address = l.elementData WHERE room > 10 AND used < room / 2 ORDER BY room DESC", ON_SHOP,
	"lists with much more capacity than elements"},
	{"sql SELECT e.value_address, field(e.value_address, 'id') AS id FROM statics s, entries(s.address) e "
	"WHERE s.class = 'com.acme.shop.AuditLog' AND s.field = 'ENTRIES'", ON_SHOP,
	"the elements of a collection in a static field"},
	{"sql SELECT s.class, s.field, o.retained FROM statics s JOIN objects o USING (address) ORDER BY "
	"o.retained DESC LIMIT 10", ON_SHOP,
	"the static fields that retain most"},
	{"sql SELECT class, length, path(address) FROM objects WHERE length > 300 ORDER BY shallow DESC LIMIT "
	"5", ON_SHOP,
	"the paths that hold large arrays"},
	{"sql SELECT name, state, retained, with_locals FROM \"threads -retained\" ORDER BY with_locals DESC", ON_SHOP,
	"threads by retained size, including their locals"},
	{"sql SELECT method, count(DISTINCT id) AS threads FROM frames GROUP BY method ORDER BY threads DESC", ON_SHOP,
	"the methods on most stacks"},
	{"sql SELECT class, count(*) AS loaders, sum(objects) AS objects FROM classes GROUP BY class HAVING "
	"loaders > 1", ON_SHOP,
	"classes loaded by several class loaders"},
	{"sql SELECT Status, count(*), avg(Discount) FROM \"main.Session\" GROUP BY Status", ON_GO,
	"fields of Go structs"},
	{"sql SELECT g.field, g.type, o.retained FROM globals g JOIN objects o USING (address) ORDER BY "
	"o.retained DESC LIMIT 10", ON_GO,
	"the package variables that retain most"}},
    .key = "",
    .complete = ask_complete,
    .run = run_sql,
};
