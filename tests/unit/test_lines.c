/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_lines.c - command lines from words to calls, the tables of commands and options, and completion.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/args/args.h"
#include "command/command.h"
#include "command/help/help.h"
#include "command/parse/parse.h"
#include "command/exec/exec.h"
#include "command/table_options.h"
#include "fake_session.h"

/* --- lines ------------------------------------------------------------------------------------ */

/* Stages as "[word][word]|[word]", then ">file" and "$keep". */
static void expect_line(const char *line, const char *wanted)
{
	struct command_line l;
	struct err err = ERR_INIT;
	struct text t = TEXT_INIT;
	text_add(&t, "");
	if (command_line_parse(&l, line, false, &err)) {
		text_add(&t, "error");
	} else {
		for (size_t i = 0; i < l.n; i++) {
			text_add(&t, i ? "|" : "");
			for (size_t w = 0; w < l.stages[i].n; w++)
				text_addf(&t, "[%s]", l.stages[i].words[w].s);
			if (l.stages[i].shell)
				text_addf(&t, "!%s", l.stages[i].shell);
		}
		if (l.file.s)
			text_addf(&t, "%s%s", l.append ? ">>" : ">", l.file.s);
		if (l.keep)
			text_addf(&t, "$%s", l.keep);
	}
	assert_string_equal(t.s, wanted);
	text_release(&t);
	command_line_release(&l);
}

static void test_lines(void **state)
{
	(void)state;
	expect_line("histo", "[histo]");
	expect_line("  ls  java.lang.String\t-min 2K ", "[ls][java.lang.String][-min][2K]");
	expect_line("histo|head 3", "[histo]|[head][3]");
	expect_line("histo | grep 'a|b' | sort -x", "[histo]|[grep][a|b]|[sort][-x]");
	expect_line("ls \"a > b\" > f.csv", "[ls][a > b]>f.csv");
	expect_line("ls x>>f", "[ls][x]>>f");
	/* of a question > and || are its own, until it ends */
	expect_line("sql SELECT a || b>1 >= c >> 2 | head 1 > f", "[sql][SELECT][a][||][b>1][>=][c][>>][2]|[head][1]>f");
	expect_line("sql -sub SELECT a / b > c; > f", "[sql][-sub][SELECT][a][/][b][>][c;]>f");
	expect_line("sql -sub \"SELECT a > b\" > f", "[sql][-sub][SELECT a > b]>f");
	expect_line("$x = sql SELECT a > b", "[sql][SELECT][a][>][b]$x");
	expect_line("sql SELECT a > 1 >> ./f", "[sql][SELECT][a][>][1]>>./f");
	expect_line("sql a \\|", "[sql][a][|]");
	expect_line("sql SELECT a FROM \"b\\\" | head 1", "[sql][SELECT][a][FROM][b\\]|[head][1]");
	expect_line("SELECT \"b\\\", 'c\\' FROM \"\\\\\" > ./f", "[SELECT][b\\,][c\\][FROM][\\\\]>./f");
	expect_line("sql -sub \"SELECT \\\"a | b\\\"\" | head 1", "[sql][-sub][SELECT \"a | b\"]|[head][1]");
	expect_line("sql SELECT 'it''s | it' | head 1", "[sql][SELECT][its | it]|[head][1]");
	expect_line("sql SELECT a AS \"a\"\"b | c\" | head 1", "[sql][SELECT][a][AS][ab | c]|[head][1]");
	expect_line("sql > f", "[sql]>f");
	expect_line("sql | head 1", "[sql]|[head][1]");
	expect_line("sql -schema \"histo -by loader\" > f", "[sql][-schema][histo -by loader]>f");
	expect_line("sql -schema threads >> f", "[sql][-schema][threads]>>f");
	expect_line("ls x -where a > 1", "error");
	expect_line("ls x -where 'a > 1' > f", "[ls][x][-where][a > 1]>f");
	expect_line("ls /a|b [c]/ | head", "[ls][/a|b [c]/]|[head]");
	expect_line("ls /a\\/b|c/", "[ls][/a\\/b|c/]");
	expect_line("source /tmp/x | head", "[source][/tmp/x]|[head]");
	expect_line("find \\.Map\\$Entry", "[find][\\.Map\\$Entry]");
	expect_line("find a\\ b\\|c\\'d", "[find][a b|c'd]");
	expect_line("find \"a\\\"b\\n\"", "[find][a\"b\\n]");
	expect_line("find x'y z'w", "[find][xy zw]");
	expect_line("histo | !sort | uniq > z", "[histo]|!sort | uniq > z");
	expect_line("$big = ls x", "[ls][x]$big");
	expect_line("$b2=ls x|head", "[ls][x]|[head]$b2");
	expect_line("x $_", "[x][$_]");
	expect_line("find 'open", "error");
	expect_line("histo |", "error");
	expect_line("histo | | head", "error");
	expect_line("histo >", "error");
	expect_line("histo > a b", "error");
	expect_line("$ = histo", "error");
}

static void expect_command(const char *word, const char *name)
{
	struct err err = ERR_INIT;
	const struct command *c = command_find(word, &err);
	if (name) {
		assert_non_null(c);
		assert_string_equal(c->name, name);
	} else {
		assert_null(c);
		assert_int_equal(err.code, ERR_USAGE);
	}
}

enum { EARLY = 1, EARLY_WITH_SUMS = 2, OF_ROW = 4, OF_VIEW = 8, BROKEN = 16, EMPTY = 32 };

/* The command of a line, the words that name it, and what else is known of it; broken lines fail with ERR_USAGE. */
static void expect_invoked(const char *line, const char *name, size_t words, unsigned wanted)
{
	struct invocation *i = invocation_of(line);
	unsigned known = (i->early ? EARLY | EARLY_WITH_SUMS : 0) | (i->early_with_sums ? EARLY_WITH_SUMS : 0) |
	    (i->of_row ? OF_ROW : 0) | (i->of_view ? OF_VIEW : 0) | (i->empty ? EMPTY : 0);
	assert_string_equal(i->text, line);
	assert_string_equal(i->command ? i->command->name : "none", name ? name : "none");
	assert_int_equal(i->words, words);
	assert_int_equal(known | (i->command && i->err.code ? BROKEN : 0), wanted | (wanted & EARLY ? EARLY_WITH_SUMS : 0));
	assert_int_equal(i->err.code, wanted & BROKEN || (!name && !i->empty) ? ERR_USAGE : 0);
	assert_ptr_equal(invocation_keep(i), i);
	invocation_drop(i);
	invocation_drop(i);
}

static void test_command_names(void **state)
{
	(void)state;
	expect_command("histo", "histo");
	expect_command("histogram", "histo");
	expect_command("inf", "info");
	expect_command("in", NULL); /* or index */
	expect_command("overview", "overview");
	expect_command("re", "refs");
	expect_command("referrers", "refs");
	expect_command("x", "x");
	expect_command("do", "x");
	expect_command("q", "quit");
	expect_command("dumpheap -stat", "histo");
	expect_command("whatis", "find");
	expect_command("hist", NULL); /* histo, history */
	expect_command("w", "why");   /* before weak and waste came */
	expect_command("lo", "loaders");
	expect_command("col", "columns");
	expect_command("o", "open");
	expect_command("r", NULL);    /* refs, roots */
	expect_command("nonsense", NULL);
	expect_command("q!", "quit");
	expect_command("com.acme.shop.Session", NULL); /* no command; as a line it is listed */
	expect_invoked("com.acme.shop.Session", "ls", 0, EARLY);
	expect_invoked("byte[] -min 1k", "ls", 0, EARLY);
	expect_invoked("Session", "ls", 0, EARLY);
	expect_invoked("session", NULL, 1, 0);
	expect_invoked("0xe0000010", "x", 0, 0);
	expect_invoked("0xe0000010 + 0xe0000020", "ls", 0, 0); /* an object is known when references are read */
	expect_invoked("ls %3", "ls", 1, OF_ROW | OF_VIEW);
	expect_invoked("ls $_ | head 3", "ls", 1, OF_VIEW);
	expect_invoked("histo -retained", "histo", 1, EARLY_WITH_SUMS);
	expect_invoked("histo -live", "histo", 1, 0);
	expect_invoked("dumpheap -stat", "histo", 1, EARLY);
	expect_invoked("$big = java.lang.String", "ls", 0, OF_VIEW);
	expect_invoked("histo 'java", "histo", 1, EARLY | BROKEN); /* what it is about is known */
	expect_invoked("  # a remark", NULL, 0, EMPTY);
	expect_invoked("$big =", NULL, 0, OF_VIEW);
	expect_command("", NULL);
	expect_command("DumpObj", "x");
	expect_command("imm", NULL); /* a tool's word works only when it is complete */
	expect_command("back", NULL);
	expect_command("thread_", NULL);
	expect_printed("hist", PRINT_TEXT, "!\"hist\" is ambiguous (histo, history)");
	expect_printed("rots", PRINT_TEXT, "!unknown command \"rots\" (nearest: roots: list GC roots)");
}

/* Which part of a line its error is about; "": none in particular. */
static void expect_place(const char *line, const char *wrong)
{
	struct err err = ERR_INIT;
	struct result *r;
	assert_int_not_equal(session_run_line(&session, line, &r, &err), 0);
	char *place = strndup(line + err.begin, err.end - err.begin);
	assert_string_equal(place, wrong);
	free(place);
}

/* The words that may have been meant. */
static void expect_near(const char *line, const char *wanted)
{
	struct err err = ERR_INIT;
	struct result *r;
	struct text near = TEXT_INIT;
	const char *word;
	size_t n;
	assert_int_not_equal(session_run_line(&session, line, &r, &err), 0);
	text_add(&near, "");
	for (unsigned i = 0; (word = err_nearest(&err, i, &n)) != NULL; i++)
		text_addf(&near, "%.*s|", (int)n, word);
	assert_string_equal(near.s, wanted);
	text_release(&near);
}

static void test_places(void **state)
{
	(void)state;
	expect_place("rots", "rots");
	expect_place("  histo -nonsense -live", "-nonsense");
	expect_place("histo -by foo | head 3", "-by foo");
	expect_place("ls 'no.such.Class'", "'no.such.Class'");
	expect_place("ls java.lang.String 'abc", "'abc");
	expect_place("histo | nonsense 3 | head", "nonsense 3");
	expect_place("histo | head > a.txt b", "b");
	expect_place("histo | | head", "|");
	expect_place("$1 = histo", "$1 =");
	expect_place("ls", "");
	expect_place("source /no/such/file", ""); /* nothing is wrong with the line */
	expect_near("rots", "roots|");
	expect_near("histo -nonsense", "");
	expect_near("locls", "locks|"); /* whose summary has a semicolon */
	expect_near("ls java.lang.Strnig", "java.lang.String|");
}

/* What a line becomes where it begins with words of another tool. */
static void expect_expanded(const char *line, bool more, const char *wanted)
{
	struct command_line l;
	struct text t = TEXT_INIT;
	assert_int_equal(command_line_parse(&l, line, true, NULL), 0);
	const char *means = NULL;
	const struct alias *a = call_expand(&l, more, &means);
	assert_true(!a || !strncmp(wanted, means, strlen(means)));
	text_add(&t, a ? "" : "as it was:");
	for (size_t i = 0; i < l.stages[0].n; i++)
		text_addf(&t, "%s%s", t.len ? " " : "", l.stages[0].words[i].s);
	assert_string_equal(t.s, wanted);
	text_release(&t);
	command_line_release(&l);
}

static void test_aliases(void **state)
{
	(void)state;
	expect_expanded("dumpobj 0x1040", false, "x 0x1040");
	expect_expanded("!DumpObj 0x1040", false, "x 0x1040");
	expect_expanded("users 0x1040 -by class", false, "refs -in 0x1040 -by class");
	expect_expanded("dumpheap -stat", false, "histo");
	expect_expanded("dumpheap -type String -stat", false, "histo String");
	expect_expanded("dumpheap -stat -min 64 -type String", false, "histo -min 64 String");
	expect_expanded("dumpheap -min 64", false, "ls * -min 64");
	expect_expanded("info", false, "as it was: info");
	expect_expanded("info class", false, "histo");
	expect_expanded("info class String", false, "histo String");
	expect_expanded("info thread", false, "threads");
	expect_expanded("info thread", true, "bt");
	expect_expanded("info thread *", false, "threads");
	expect_expanded("info thread main", false, "bt main");
	expect_expanded("thread apply all bt", false, "threads -by stack");
	expect_expanded("refe 0x1040", false, "refs -in 0x1040"); /* only referrers begins so */
	expect_expanded("re 0x1040", false, "as it was: re 0x1040"); /* refs does */
	expect_expanded("find_ x", false, "as it was: find_ x"); /* strings or leaks */
	expect_expanded("'dumpobj' 0x1040", false, "as it was: dumpobj 0x1040");
	expect_expanded("DESCRIBE objects;", false, "sql -schema objects;");
	expect_expanded("show TABLES;", false, "sql");
	expect_expanded(".schema", false, "sql -schema");
	expect_expanded("x 0x1040 -hex", false, "as it was: x 0x1040 -hex");
	expect_expanded("", false, "as it was:");
	/* each stands for a command that there is, with options that it has, and is no command's name */
	for (const struct alias *a = alias_list(); a->word; a++) {
		const char *const means[] = {a->means, a->with ? a->with : a->means};
		for (size_t k = 0; k < 2; k++) {
			struct command_line l;
			size_t words;
			assert_int_equal(command_line_parse(&l, means[k], false, NULL), 0);
			const struct command *c = call_command(&l.stages[0], &words, NULL);
			assert_non_null(c);
			assert_string_equal(c->name, l.stages[0].words[0].s);
			for (size_t i = 1; i < l.stages[0].n; i++) {
				const char *word = l.stages[0].words[i].s;
				assert_true(*word != '-' || command_option(c, word));
			}
			command_line_release(&l);
		}
		for (size_t i = 0; commands[i]; i++)
			assert_string_not_equal(commands[i]->name, a->word);
		assert_ptr_equal(alias_named(a->word), a); /* no word stands twice */
	}
}

/* No word stands twice in one shape, where it could not be asked for; only numbers have totals. */
static void test_shapes(void **state)
{
	(void)state;
	for (size_t i = 0; commands[i]; i++) {
		for (size_t k = 0; commands[i]->shapes && commands[i]->shapes[k]; k++) {
			const struct shape *shape = commands[i]->shapes[k];
			bool head[COL_COUNT_OF_ALL] = {false};
			assert_true(shape->n_columns || shape->n_head || shape->fields);
			for (unsigned h = 0; h < shape->n_head; h++) {
				assert_false(head[shape->head[h]]);
				head[shape->head[h]] = true;
			}
			for (unsigned c = 0; c < shape->n_columns; c++) {
				const struct column *column = &shape->columns[c];
				assert_in_range(column->id, COL_OWN_NAME + 1, COL_COUNT_OF_ALL - 1);
				assert_true(!column->total || cell_is_number(column_type(column)));
				for (unsigned d = 0; d < c; d++)
					assert_string_not_equal(column_word(column), column_word(&shape->columns[d]));
			}
		}
	}
}

/* Every option has a word; another word for an option leads to it. */
static void test_options(void **state)
{
	bool used[DASH_COUNT] = {true}; /* the end of a table */
	(void)state;
	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];
		bool here[DASH_COUNT] = {false};
		const struct option_spec *o;
		for (size_t k = 0; (o = command_option_at(c, k)) != NULL; k++) {
			assert_false(here[o->word]);
			here[o->word] = used[o->word] = true;
			assert_non_null(option_name(o));
			const struct option_spec *found = command_option(c, option_name(o));
			assert_non_null(found);
			assert_int_equal(found == o, o->kind != OPT_SAME);
			assert_true(o->value || o->kind == OPT_FLAG);
		}
	}
	for (unsigned word = 0; word < DASH_COUNT; word++)
		assert_true(used[word]);
}

/* A call has room for every option that a table may have, and for every argument. */
static void test_many_options(void **state)
{
	struct option_spec table[DASH_COUNT] = {{.word = DASH_NONE}};
	struct command many = {.name = "many", .options = table,
	    .arguments = {{ARG_WORD, "A", false}, {ARG_WORD, "B", false}, {ARG_WORD, "C", false}}};
	struct call call;
	struct err err = ERR_INIT;
	struct text line = TEXT_INIT;
	(void)state;
	text_add(&line, "many one");
	for (unsigned i = 0; i + 1 < DASH_COUNT; i++) {
		table[i] = (struct option_spec){(enum option_word)(i + 1), OPT_COUNT, "N", ""};
		text_addf(&line, " %s %u", option_name(&table[i]), 100 + i);
	}
	table[DASH_COUNT - 1].word = DASH_NONE;
	text_add(&line, " two three");
	struct invocation *asked = invocation_of(line.s);
	assert_int_equal(call_parse(&call, &session, &many, asked, &err), 0);
	for (unsigned i = 0; i + 1 < DASH_COUNT; i++) {
		assert_true(call_has(&call, table[i].word));
		assert_int_equal(call.option[i].number, 100 + i);
	}
	assert_string_equal(call.argument[COMMAND_ARGUMENTS - 1].word, "three");
	call_release(&call);
	invocation_drop(asked);
	text_release(&line);
}

/* Names and aliases are all different, and every command can be described. */
static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];
		assert_non_null(c->run);
		assert_non_null(c->group);
		assert_true(strlen(c->summary) <= 64);
		assert_ptr_equal(command_find(c->name, NULL), c);
		char line[40];
		snprintf(line, sizeof line, "help %s | head 1", c->name);
		char *printed = printed_by(line, PRINT_TEXT);
		assert_memory_equal(printed, c->name, strlen(c->name));
		free(printed);
	}
}

/* --- completion ------------------------------------------------------------------------------- */

/* The cursor stands in front of the rest. */
static void expect_completion_before(const char *typed, const char *rest, size_t start, const char *wanted)
{
	size_t at, n;
	struct text line = TEXT_INIT, t = TEXT_INIT;
	text_addf(&line, "%s%s", typed, rest);
	char **words = session_complete(&session, line.s, strlen(typed), 10, &at, &n);
	text_release(&line);
	text_add(&t, "");
	for (size_t i = 0; i < n; i++) {
		text_addf(&t, "%s ", words[i]);
		free(words[i]);
	}
	free(words);
	assert_string_equal(t.s, wanted);
	assert_int_equal(at, start);
	text_release(&t);
}

static void expect_completion(const char *line, size_t start, const char *wanted)
{
	expect_completion_before(line, "", start, wanted);
}

static void test_completion(void **state)
{
	(void)state;
	expect_completion("hi", 0, "histo history ");
	expect_completion("ls java.l", 3, "java.lang.Class java.lang.String ");
	expect_completion("ls Sess", 3, "com.acme.Session ");
	expect_completion("histo -", 6, "-by -all -retained -live -dead -where -heap -sort -r ");
	expect_completion("histo -by p", 10, "package path ");
	expect_completion("histo -sort cl", 12, "class class_address classes ");
	expect_completion("refs 0x10", 5, "0x1000 0x1040 0x1050 0x1080 0x1090 0x10b0 ");
	expect_completion("refs 0x11", 5, "0x1100 0x1140 ");
	expect_completion("histo | gr", 8, "grep grep- ");
	expect_completion("histo | sort -sh", 13, "-shallow ");
	expect_completion("histo | cut class,ob", 12, "class,objects ");
	expect_completion("bt wo", 3, "\"worker 1\" ");
	expect_completion("help pi", 5, "pipes ");
	free(printed_by("$mine = ls String", PRINT_TEXT));
	expect_completion("ls $", 3, "$_ $mine ");
	expect_completion("size String + $", 14, "$_ $mine ");
	expect_completion("$m", 0, "$mine ");
	expect_completion("histo | !l", 10, "");
	expect_completion("dumph", 0, "dumpheap ");
	expect_completion("dumpheap -", 9, "-stat -type -mt -strings -min -max -live -dead -where -heap ");
	expect_completion("info c", 5, "class ");
	expect_completion("info class Sess", 11, "com.acme.Session ");
	expect_completion("info thread wo", 12, "\"worker 1\" ");
	expect_completion("sql -sc", 4, "-schema ");
	expect_completion("sql -schema obj", 12, "objects ");
	expect_completion("sql -schema com.acme.S", 12, "\"com.acme.Session\" ");
	expect_completion("sql sel", 4, "select ");
	expect_completion("sql SEL", 4, "SELECT ");
	expect_completion("sql SELECT 1 FRO", 13, "FROM ");
	expect_completion("sql select 1 from ob", 18, "objects ");
	expect_completion("sql SELECT 1 FROM objects o join Sess", 33, "\"com.acme.Session\" ");
	expect_completion("sql SELECT 1 From refs, ent", 24, "entries( ");
	expect_completion("sql SELECT 1 FROM duplicate-c", 18, "\"duplicate-classes\" ");
	expect_completion("sql SELECT 1 FROM \"duplicate-", 18, "\"duplicate-classes\" ");
	expect_completion("sql SELECT 1 FROM \"com.acme.S", 18, "\"com.acme.Session\" ");
	expect_completion("sql SELECT 1 FROM refs r WHERE r.TARGET_", 31, "r.target_class r.target_id ");
	expect_completion("sql SELECT 1 FROM objects WHERE reta", 32, "retained retained_certainty retained( ");
	expect_completion("sql SELECT 1 FROM frames where meth", 31, "method ");
	expect_completion("sql SELECT 1 FROM \"histo -by package\" WHERE pack", 44, "package ");
	expect_completion("sql SELECT 1 FROM \"com.acme.Session\" s WHERE s.doma", 45, "");
	expect_completion("sql SELECT 1 FROM \"com.acme.Session\" s WHERE s.domi", 45, "s.dominator ");
	expect_completion("sql SELECT 1 FROM objects WHERE class = 'Sess", 40, "'com.acme.Session' ");
	expect_completion("sql SELECT inst", 11, "instanceof( ");
	free(printed_by("CREATE TEMP TABLE own_a AS SELECT 1 AS ones, 2 AS twos", PRINT_TEXT));
	free(printed_by("CREATE TEMP VIEW \"own b\" AS SELECT 1", PRINT_TEXT));
	expect_completion("SELECT 1 FROM own", 14, "own_a ");
	expect_completion("sql -schema \"own", 12, "\"own b\" ");
	expect_completion("SELECT 1 FROM own_a WHERE tw", 26, "twos ");
	expect_completion("drop table ", 11, "own_a \"own b\" ");
	expect_completion("DROP VIEW IF EXISTS obj", 20, "");
	free(printed_by("DROP TABLE own_a", PRINT_TEXT));
	expect_completion("SELECT 1 FROM own", 14, "");
	/* the tables stand behind the cursor */
	expect_completion_before("sql SELECT sou", " FROM refs", 11, "source source_class source_id ");
	expect_completion("users 0x11", 6, "0x1100 0x1140 ");
	expect_completion("immediate_dominators Sess", 21, "com.acme.Session ");
	expect_completion("dumpheap -stat | cut class,ob", 21, "class,objects ");
	expect_completion("i", 0, "info index ");
	expect_completion("", 0, "overview info histo ls x entries find strings dups props ");
}

/* What can be opened of an archive. */
/* --- the palette ------------------------------------------------------------------------------ */

static void expect_palette(const char *words, const char *wanted)
{
	struct palette_row row[PALETTE_MOST];
	struct text t = TEXT_INIT;
	size_t n = palette_find(words, strlen(words), row, PALETTE_MOST);
	text_add(&t, "");
	for (size_t i = 0; i < n; i++) {
		assert_non_null(row[i].command);
		text_addf(&t, "%s", row[i].line);
		text_add(&t, row[i].alias ? "=" : "");
		palette_add_other_name(&row[i], &t);
		text_add(&t, i + 1 < n ? "; " : "");
	}
	if (strncmp(t.s, wanted, strlen(wanted)) != 0)
		assert_string_equal(t.s, wanted);
	text_release(&t);
}

static void test_palette(void **state)
{
	(void)state;
	size_t n = 0;
	struct palette_row row[PALETTE_MOST];
	while (commands[n])
		n++;
	assert_int_equal(palette_find("", 0, row, PALETTE_MOST), n); /* of no word all, in the order of help */
	assert_int_equal(palette_find("", 0, row, 3), 3);
	assert_ptr_equal(row[2].command, commands[2]);
	expect_palette("dup", "dups=duplicate_strings; duplicate-classes=MAT duplicate_classes"); /* names that begin so */
	expect_palette("duplicate classes", "duplicate-classes=MAT duplicate_classes");
	expect_palette("DUPS", "dups");
	expect_palette("history", "history; path-history"); /* then those that contain it */
	expect_palette("thread_overview", "threads=MAT thread_overview"); /* then names of other tools */
	expect_palette("GC.class", "histo -live=jcmd GC.class_histogram");
	expect_palette("jmap -histo:", "histo -live=jmap -histo:live"); /* which say the tool themselves */
	expect_palette("fill ratio", "collections"); /* then what they do */
	expect_palette("ratio fill", "collections");
	expect_palette("dplct", "duplicate-classes"); /* and letters in this order */
	expect_palette("qqq", "");
	assert_int_equal(palette_find("dead", 4, row, PALETTE_MOST), 2); /* its alias begins so; its meaning says it */
	assert_string_equal(row[0].line, "locks -deadlock");
	assert_int_equal(row[0].match, OTHER_NAME_BEGINS);
	assert_int_equal(row[1].match, MEANING_SAYS);
}

static void test_member_completion(void **state)
{
	const char *source = getenv("CAIRN_SOURCE");
	char folder[4096], here[4096];
	(void)state;
	snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/archive", source ? source : ".");
	assert_non_null(getcwd(here, sizeof here));
	assert_int_equal(chdir(folder), 0);
	expect_completion("open several.z", 5, "several.zip ");
#ifdef HAVE_LIBARCHIVE
	expect_completion("open several.zip::", 5, "several.zip::../b::c.hprof several.zip::/d.gz several.zip::a.hprof "
	    "several.zip::e.zip ");
	expect_completion("open several.zip::a", 5, "several.zip::a.hprof ");
	expect_completion("open heap.tar::", 5, "heap.tar::dumps/heap.dump ");
#endif
	expect_completion("open several.zip::b", 5, "");
	expect_completion("open none.zip::", 5, "");
	assert_int_equal(chdir(here), 0);
}

/* Behind a class and a dot stand its static fields that can hold an object. */
static void test_static_completion(void **state)
{
	(void)state;
	static const struct heap_field statics[] = {{.name = "INSTANCE", .type = VALUE_OBJECT, .value = 0x1090},
	    {.name = "INDEX", .type = VALUE_OBJECT}, {.name = "INITIAL", .type = VALUE_INT},
	    {.name = "last", .type = VALUE_OBJECT}};
	fake.classes[C_LOST].statics = statics;
	fake.classes[C_LOST].n_statics = sizeof statics / sizeof *statics;
	expect_completion("x com.acme.Lost.", 2, "com.acme.Lost.INSTANCE com.acme.Lost.INDEX com.acme.Lost.last ");
	expect_completion("refs Lost.IN", 5, "Lost.INSTANCE Lost.INDEX ");
	expect_completion("cut com.acme.Lost.la", 4, "com.acme.Lost.last ");
	expect_completion("x com.acme.Session.", 2, ""); /* two have the name */
	/* wherever a set may stand, it may be of one object that has a name */
	expect_completion("histo com.acme.Lost.la", 6, "com.acme.Lost.last ");
	expect_completion("size String + com.acme.Lost.la", 14, "com.acme.Lost.last ");
	expect_completion("holders com.acme.Lost.la", 8, "com.acme.Lost.last ");
	expect_completion("dumpobj com.acme.Lost.la", 8, "com.acme.Lost.last ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test_setup_teardown(test_command_names, fake_session_open, fake_session_close),
		cmocka_unit_test_setup_teardown(test_table, fake_session_open, fake_session_close),
		cmocka_unit_test_setup_teardown(test_places, fake_session_open, fake_session_close),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_options),
		cmocka_unit_test_setup_teardown(test_many_options, fake_session_open, fake_session_close),
		cmocka_unit_test_setup_teardown(test_completion, fake_session_open, fake_session_close),
		cmocka_unit_test(test_palette),
		cmocka_unit_test_setup_teardown(test_member_completion, fake_session_open, fake_session_close),
		cmocka_unit_test_setup_teardown(test_static_completion, fake_session_open, fake_session_close),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
