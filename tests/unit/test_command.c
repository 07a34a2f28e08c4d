/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_command.c - command lines from words to printed results, on a heap filled by hand.
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

#include "analysis/check/check.h"
#include "analysis/reachable.h"
#include "base/big.h"
#include "command/command.h"
#include "command/call/call.h"
#include "command/help/help.h"
#include "command/run/run.h"
#include "command/line/line.h"
#include "command/words/words.h"
#include "fake_heap.h"

static struct fake_heap fake;
static struct session session;

static int set_up(void **state)
{
	(void)state;
	fake_heap_fill(&fake);
	session_init(&session);
	session_open(&session, &fake.heap);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	session_release(&session);
	fake_heap_release(&fake);
	return 0;
}

/* Run a line and return what it prints ("!message" for an error); the caller frees. */
static char *run(const char *line, enum print_format format)
{
	struct err err = ERR_INIT;
	struct result *r;
	char *printed = NULL;
	size_t n;
	if (session_run(&session, line, &r, &err)) {
		struct text t = TEXT_INIT;
		text_addf(&t, "!%s", err.message);
		return text_take(&t);
	}
	FILE *f = open_memstream(&printed, &n);
	struct print_options o = {.format = format};
	if (r)
		assert_int_equal(print_result(r, &o, f, &err), 0);
	fclose(f);
	return printed;
}

static void expect(const char *line, enum print_format format, const char *wanted)
{
	char *printed = run(line, format);
	assert_string_equal(printed, wanted);
	free(printed);
}

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

static void test_command_names(void **state)
{
	(void)state;
	expect_command("histo", "histo");
	expect_command("histogram", "histo");
	expect_command("i", "info");
	expect_command("overview", "info");
	expect_command("re", "refs");
	expect_command("referrers", "refs");
	expect_command("x", "x");
	expect_command("do", "x");
	expect_command("q", "quit");
	expect_command("dumpheap -stat", "histo");
	expect_command("whatis", "find");
	expect_command("hist", NULL); /* histo, history */
	expect_command("r", NULL);    /* refs, roots */
	expect_command("nonsense", NULL);
	expect_command("", NULL);
	expect("hist", PRINT_TEXT, "!hist may be histo, history");
	expect("rots", PRINT_TEXT, "!no command is called rots (nearest: roots; help lists all)");
}

/* No word stands twice in one shape, where it could not be asked for; only numbers have totals. */
static void test_shapes(void **state)
{
	(void)state;
	for (size_t i = 0; commands[i]; i++) {
		for (size_t k = 0; commands[i]->shapes && commands[i]->shapes[k]; k++) {
			const struct shape *shape = commands[i]->shapes[k];
			bool head[COL_COUNT_OF_ALL] = {false};
			assert_true(shape->n_columns || shape->n_head);
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

/* Every option has a word; another word for an option, or an alias that implies one, leads to it. */
static void test_options(void **state)
{
	bool used[DASH_COUNT] = {true}; /* the end of a table */
	(void)state;
	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];
		bool here[DASH_COUNT] = {false};
		for (const struct option_spec *o = c->options; o && o->word; o++) {
			assert_false(here[o->word]);
			here[o->word] = used[o->word] = true;
			assert_non_null(option_name(o));
			const struct option_spec *found = command_option(c, option_name(o));
			assert_non_null(found);
			assert_int_equal(found == o, o->kind != OPT_SAME);
			assert_true(o->value || o->kind == OPT_FLAG);
		}
		for (size_t k = 0; k < 6 && c->aliases[k].word; k++)
			assert_true(!c->aliases[k].implies || here[c->aliases[k].implies]);
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
	struct command_line l;
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
	assert_int_equal(command_line_parse(&l, line.s, false, &err), 0);
	assert_int_equal(call_parse(&call, &session, &many, &l, line.s, 1, &err), 0);
	for (unsigned i = 0; i + 1 < DASH_COUNT; i++) {
		assert_true(call_has(&call, table[i].word));
		assert_int_equal(call.option[i].number, 100 + i);
	}
	assert_string_equal(call.argument[COMMAND_ARGUMENTS - 1].word, "three");
	call_release(&call);
	command_line_release(&l);
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
		assert_true(strlen(c->summary) <= 60);
		assert_ptr_equal(command_find(c->name, NULL), c);
		for (size_t k = 0; k < 6 && c->aliases[k].word; k++)
			assert_ptr_equal(command_find(c->aliases[k].word, NULL), c);
		char line[40];
		snprintf(line, sizeof line, "help %s | head 1", c->name);
		char *printed = run(line, PRINT_TEXT);
		assert_memory_equal(printed, c->name, strlen(c->name));
		free(printed);
	}
}

/* --- values ----------------------------------------------------------------------------------- */

static void expect_spelling(const char *word, bool vm, const char *wanted)
{
	struct text t = TEXT_INIT;
	assert_int_equal(class_name_as_source(word, &t), vm);
	assert_string_equal(t.s, wanted);
	text_release(&t);
}

static void test_spellings(void **state)
{
	(void)state;
	expect_spelling("java/lang/String", true, "java.lang.String");
	expect_spelling("java.lang.String", false, "java.lang.String");
	expect_spelling("[C", true, "char[]");
	expect_spelling("[[J", true, "long[][]");
	expect_spelling("[Ljava/lang/String;", true, "java.lang.String[]");
	expect_spelling("[[Ljava.lang.String;", true, "java.lang.String[][]");
	expect_spelling("char[]", false, "char[]");
	expect_spelling("a/B$$Lambda/0x01f", true, "a.B$$Lambda/0x01f");
	expect_spelling("[Q", false, "[Q");
	expect_spelling("[", false, "[");
	assert_string_equal(class_last_part("java.util.Map$Entry[]"), "Map$Entry[]");
	assert_string_equal(class_last_part("char[]"), "char[]");
	assert_string_equal(class_last_part("a.B$$Lambda/0x1.2"), "B$$Lambda/0x1.2");
	assert_string_equal(class_inner_part("java.util.Map$Entry"), "Entry");
	assert_null(class_inner_part("java.util.Map"));
	assert_true(glob_match("*Hash*", "java.util.HashMap"));
	assert_true(glob_match("*[]", "char[]"));
	assert_true(glob_match("a?c*", "abc"));
	assert_true(glob_match("*", ""));
	assert_true(glob_match("*ab*ab", "abab"));
	assert_false(glob_match("a?c", "ac"));
	assert_false(glob_match("*x", "abc"));
}

/* The definition, without memory: exponential, for short words. */
static unsigned slow_distance(const char *a, const char *b)
{
	if (!*a || !*b)
		return (unsigned)(strlen(a) + strlen(b));
	unsigned best = slow_distance(a + 1, b + 1) + (*a != *b);
	unsigned other = slow_distance(a + 1, b) + 1;
	if (other < best)
		best = other;
	other = slow_distance(a, b + 1) + 1;
	if (other < best)
		best = other;
	if (a[1] && b[1] && a[0] == b[1] && a[1] == b[0]) {
		other = slow_distance(a + 2, b + 2) + 1;
		if (other < best)
			best = other;
	}
	return best;
}

static void test_edit_distance(void **state)
{
	(void)state;
	unsigned seed = 7;
	assert_int_equal(edit_distance("Sesion", "Session", 3), 1);
	assert_int_equal(edit_distance("session", "SESSION", 3), 0);
	assert_int_equal(edit_distance("abcdef", "x", 2), 3); /* beyond the limit */
	for (int round = 0; round < 2000; round++) {
		char a[7], b[7];
		for (int which = 0; which < 2; which++) {
			char *word = which ? b : a;
			size_t n = (seed = seed * 1103515245 + 12345) >> 16 & 0x7fff;
			n %= 7;
			for (size_t i = 0; i < n; i++)
				word[i] = (char)('a' + ((seed = seed * 1103515245 + 12345) >> 16 & 3) % 3);
			word[n] = '\0';
		}
		assert_int_equal(edit_distance(a, b, 20), slow_distance(a, b));
	}
}

static void expect_classes(const char *word, const char *wanted)
{
	struct err err = ERR_INIT;
	struct text t = TEXT_INIT;
	uint32_t *ids;
	size_t n;
	text_add(&t, "");
	if (value_classes(&session, word, &ids, &n, &err)) {
		text_addf(&t, "!%s", err.message);
	} else {
		for (size_t i = 0; i < n; i++)
			text_addf(&t, "%u ", ids[i]);
		big_free(ids);
	}
	assert_string_equal(t.s, wanted);
	text_release(&t);
}

static void test_class_patterns(void **state)
{
	(void)state;
	expect_classes("java.lang.String", "0 ");
	expect_classes("java/lang/String", "0 ");
	expect_classes("[C", "2 ");
	expect_classes("char[]", "2 ");
	expect_classes("String", "0 ");
	expect_classes("com.acme.Session", "3 4 ");
	expect_classes("Session", "3 4 "); /* two classes, one name */
	expect_classes("Entry", "6 ");
	expect_classes("Map$Entry", "6 ");
	expect_classes("com.acme.*", "5 3 4 7 ");
	expect_classes("com/acme/S*", "3 4 ");
	expect_classes("/^java\\.lang\\./", "1 0 ");
	expect_classes("/Lost|Entry/", "5 6 ");
	expect_classes("0x1000", "0 ");
	expect_classes("0X1100", "1 ");
	expect_classes("Text", "!Text may be com.acme.Text, org.other.Text");
	expect_classes("com.acme.Sesion", "!no class matches com.acme.Sesion (nearest: com.acme.Session)");
	expect_classes("*nothing*", "!no class matches *nothing*");
	expect_classes("/(/", "!/(/ is no regular expression: Unmatched ( or \\(");
	expect_classes("0x1040", "!0x1040 is no class but a java.lang.String");
	expect_classes("%1", "!%1: there is no last table");
}

static void expect_object(const char *word, const char *wanted)
{
	struct err err = ERR_INIT;
	struct text t = TEXT_INIT;
	uint32_t id;
	if (value_object(&session, word, &id, &err))
		text_addf(&t, "!%s", err.message);
	else
		text_addf(&t, "%u", id);
	assert_string_equal(t.s, wanted);
	text_release(&t);
}

static void test_objects(void **state)
{
	(void)state;
	expect_object("0x1080", "3");
	expect_object("0X10B0", "5");
	expect_object("10b0", "5");
	expect_object("1040", "1");
	expect_object("#7", "7");
	expect_object("java.lang.String", "0");
	expect_object("java/lang/Class", "6");
	expect_object("#8", "!no object #8: there are 8");
	expect_object("0x1044",
	    "!no object begins at 0x1044 (inside 0x1040, a java.lang.String, at byte 4 of 16)");
	expect_object("0x2000", "!no object at 0x2000 (nearest: 0x1140, a com.acme.Lost)");
	expect_object("0x10", "!no object at 0x10 (nearest: 0x1000, a java.lang.Class)");
	expect_object("0x10fc", "!no object at 0x10fc (nearest: 0x1100, a java.lang.Class)");
	expect_object("com.acme.Session",
	    "!com.acme.Session is loaded 2 times; dupclasses gives the addresses");
	expect_object("Nothing",
	    "!Nothing is no object (an object is written 0xADDRESS, #ID, %ROW, $name, or as the name of a "
	    "class, a static field or a global variable)");
	free(run("ls java.lang.String", PRINT_TEXT));
	expect_object("%2", "3");
	expect_object("%3", "!%3: the last table has 2 rows");
	free(run("histo java.lang.String", PRINT_TEXT));
	expect_object("%1", "0");
	free(run("$s = ls java.lang.String -sort -address | head 1", PRINT_TEXT));
	expect_object("$s", "3");
	expect_object("$nix", "!no set is called $nix ($nix = COMMAND keeps one)");
}

static void test_threads(void **state)
{
	(void)state;
	uint32_t t = 9;
	struct err err = ERR_INIT;
	assert_int_equal(value_thread(&session, "1", &t, &err), 0);
	assert_int_equal(t, 1);
	assert_int_equal(value_thread(&session, "main", &t, &err), 0);
	assert_int_equal(t, 0);
	assert_int_equal(value_thread(&session, "work", &t, &err), 0);
	assert_int_equal(t, 1);
	assert_int_equal(value_thread(&session, "0x1090", &t, &err), 0);
	assert_int_equal(t, 0);
	assert_int_equal(value_thread(&session, "2", &t, &err), ERR_NOT_FOUND);
	assert_int_equal(value_thread(&session, "0x1040", &t, &err), ERR_NOT_FOUND);
}

/* --- commands --------------------------------------------------------------------------------- */

static void test_histo(void **state)
{
	(void)state;
	expect("histo | cut class,class_address,loader,objects,shallow", PRINT_CSV,
	    "class,class_address,loader,objects,shallow\r\n"
	    "java.lang.Class,0x1100,,2,128\r\n"
	    "java.lang.String,0x1000,,2,32\r\n"
	    "char[],,,1,32\r\n"
	    "com.acme.Session,,,1,24\r\n"
	    "com.acme.Session,,0x1090,1,24\r\n"
	    "com.acme.Lost,,,1,\r\n");
	expect("histo -r -sort objects | head 1 | cut class", PRINT_CSV, "class\r\nchar[]\r\n");
	expect("histo -sort class | head 2 | cut class", PRINT_CSV,
	    "class\r\nchar[]\r\ncom.acme.Lost\r\n");
	expect("histo -by package | cut package,classes,objects,shallow", PRINT_CSV,
	    "package,classes,objects,shallow,shallow_certainty\r\n"
	    "java.lang,2,4,160,exact\r\n"
	    "com.acme,3,3,48,lower bound\r\n"
	    "<primitive>,1,1,32,exact\r\n");
	expect("histo -by loader | cut loader,classes,objects,shallow | grep- ^0x", PRINT_CSV,
	    "loader,classes,objects,shallow,shallow_certainty\r\n,5,7,216,lower bound\r\n");
	expect("histo Entry", PRINT_JSONL, "");
	expect("histo Entry -all | cut class,objects", PRINT_JSONL,
	    "{\"class\": \"java.util.Map$Entry\", \"objects\": 0}\n");
	expect("$s = ls String", PRINT_TEXT, "");
	expect("histo $s | cut class,objects,shallow", PRINT_JSONL,
	    "{\"class\": \"java.lang.String\", \"objects\": 2, \"shallow\": 32}\n");
	expect("histo -sort nix | head", PRINT_TEXT, "!histo: no column is called nix (there are class "
	    "class_address loader objects shallow retained loader_class superclass)");
	expect("histo -by nix", PRINT_TEXT, "!histo: -by nix: it is one of class|package|loader|super");
}

static void test_ls(void **state)
{
	(void)state;
	expect("ls java.lang.String", PRINT_CSV,
	    "address,class,shallow,retained,length,value\r\n"
	    "0x1040,java.lang.String,16,,,\r\n0x1080,java.lang.String,16,,,\r\n");
	expect("ls [C | cut address,length", PRINT_CSV, "address,length\r\n0x1050,4\r\n");
	expect("ls java.lang.Class -sort value | cut value", PRINT_CSV,
	    "value\r\njava.lang.Class\r\njava.lang.String\r\n");
	expect("ls * -min 24 -max 32 | cut address", PRINT_CSV,
	    "address\r\n0x1050\r\n0x1090\r\n0x10b0\r\n");
	expect("ls * -sort shallow | head 3 | cut address", PRINT_CSV,
	    "address\r\n0x1000\r\n0x1100\r\n0x1050\r\n");
	expect("ls", PRINT_TEXT, "!ls: PAT is missing (ls PAT [-min SIZE] [-max SIZE] "
	    "[-live] [-dead] [-unreachable] [-sort COL] [-r] [-retained])");
	expect("ls String -min", PRINT_TEXT, "!ls: -min wants a value (SIZE)");
	expect("ls String x", PRINT_TEXT,
	    "!ls: one word too many (ls PAT [-min SIZE] [-max SIZE] "
	    "[-live] [-dead] [-unreachable] [-sort COL] [-r] [-retained])");
}

static void test_refs(void **state)
{
	(void)state;
	expect("refs 0x1040 | cut direction,field,address,class", PRINT_CSV,
	    "direction,field,address,class\r\n"
	    "out,<class>,0x1000,java.lang.Class\r\n"
	    "out,,0x1050,char[]\r\n"
	    "in,,0x1080,java.lang.String\r\n"
	    "in,,0x1090,com.acme.Session\r\n"
	    "in,,0x1090,com.acme.Session\r\n");
	expect("refs 0x1000 -in | cut direction,field,address", PRINT_CSV,
	    "direction,field,address\r\nin,<class>,0x1040\r\nin,<class>,0x1080\r\n");
	expect("referrers 0x1040 -by class | cut direction,class,references,objects,shallow",
	    PRINT_CSV,
	    "direction,class,references,objects,shallow\r\n"
	    "in,java.lang.String,1,1,16\r\nin,com.acme.Session,2,1,24\r\n");
	expect("refs #1 -class com.acme.Session | cut address", PRINT_CSV,
	    "address\r\n0x1090\r\n0x1090\r\n");
	expect("roots | cut kind,address,thread,frame,certainty", PRINT_CSV,
	    "kind,address,thread,frame,certainty\r\n"
	    "Thread,0x1090,main,com.acme.Main.main(Main.java:7),exact\r\n"
	    "Unknown,0x10b0,,,inferred\r\nUnknown,0x1140,,,inferred\r\n");
	expect("roots -by kind | cut kind,roots,shallow | sort kind", PRINT_CSV,
	    "kind,roots,shallow,roots_certainty,shallow_certainty\r\n"
	    "Thread,1,24,exact,exact\r\nUnknown,2,24,inferred,inferred\r\n");
}

static void test_x_and_threads(void **state)
{
	(void)state;
	/* #7, a root, holds it; what it leads to, #4 and its class hold as well */
	expect("x 0x1080", PRINT_JSON,
	    "{\"address\": \"0x1080\", \"class\": \"java.lang.String\", \"shallow\": 16, "
	    "\"retained\": 16, \"length\": null, \"loader\": null, \"root\": null, \"reachable\": true, "
	    "\"value\": null, "
	    "\"id\": 3, \"retained_certainty\": \"inferred\", \"fields\": [\n"
	    "{\"name\": \"<class>\", \"type\": null, \"value\": \"0x1000\", \"declared_in\": null, "
	    "\"class\": \"java.lang.Class\", \"shallow\": 64},\n"
	    "{\"name\": null, \"type\": null, \"value\": \"0x1050\", \"declared_in\": null, "
	    "\"class\": \"char[]\", \"shallow\": 32},\n"
	    "{\"name\": null, \"type\": null, \"value\": \"0x1040\", \"declared_in\": null, "
	    "\"class\": \"java.lang.String\", \"shallow\": 16}]}\n");
	expect("#3 | cut value", PRINT_CSV, "value\r\n0x1000\r\n0x1050\r\n0x1040\r\n");
	expect("x java.lang.String | cut address,instances,instance_size", PRINT_CSV,
	    "address,instances,instance_size\r\n0x1000,2,16\r\n");
	expect("threads | cut id,name,state,frames,roots,priority,address", PRINT_CSV,
	    "id,name,state,frames,roots,priority,address\r\n"
	    "0,main,waiting,2,1,5,0x1090\r\n1,worker 1,,0,0,,\r\n");
	expect("bt main | cut frame,method,kind,address", PRINT_CSV,
	    "frame,method,kind,address\r\n0,java.lang.Object.wait(Native Method),,\r\n"
	    "1,com.acme.Main.main(Main.java:7),Thread,0x1090\r\n");
	expect("dupclasses | cut class,times,loader", PRINT_CSV,
	    "class,times,loader\r\ncom.acme.Session,2,\r\ncom.acme.Session,2,0x1090\r\n");
	expect("find Sess | cut kind,name,objects", PRINT_CSV,
	    "kind,name,objects\r\nclass,com.acme.Session,1\r\nclass,com.acme.Session,1\r\n");
	expect("find work | cut kind,name", PRINT_CSV, "kind,name\r\nthread,worker 1\r\n");
	expect("find 0x1044 | cut kind,address,offset", PRINT_CSV,
	    "kind,address,offset\r\ninside,0x1040,4\r\n");
	expect("find nonsense", PRINT_JSON, "[]\n");
	assert_int_equal(session_exit_status(0, session.last), 1);
}

static void test_info(void **state)
{
	(void)state;
	expect("info | cut objects,classes,instances,primitive_arrays,references,dangling,roots,shallow",
	    PRINT_CSV,
	    "objects,classes,instances,primitive_arrays,references,dangling,roots,shallow,"
	    "roots_certainty,shallow_certainty\r\n8,2,5,1,7,1,3,240,inferred,lower bound\r\n");
	/* #6, the class object of java.lang.Class, is held by #0, the one of java.lang.String */
	expect("info | cut reachable_objects,unreachable_objects | grep objects", PRINT_CSV,
	    "reachable_objects,unreachable_objects,reachable_objects_certainty,"
	    "unreachable_objects_certainty\r\n8,0,inferred,inferred\r\n");
	fake.heap.n_roots = 1; /* main holds #4 -> #1 -> #2, #0 -> #6 */
	struct reachable r;
	assert_int_equal(reachable_from_roots(&r, &session.dump->model, NULL, NULL), 0);
	assert_int_equal(r.n.n, 5);
	assert_int_equal(r.shallow.n, 24 + 16 + 32 + 64 + 64);
	assert_int_equal(r.unreachable_n.n, 3);
	assert_false(bits_get(&r.objects, 3));
	reachable_release(&r);
}

/* --- check: every promise can be seen broken ------------------------------------------------- */

static size_t broken(const char *name)
{
	struct checks c;
	size_t n = 0;
	assert_int_equal(check_heap(&c, &fake.heap, NULL, NULL), 0);
	for (size_t i = 0; i < c.n; i++)
		n += c.line[i].outcome == CHECK_BROKEN && (!name || !strcmp(c.line[i].name, name));
	checks_release(&c);
	return n;
}

static void test_check(void **state)
{
	(void)state;
	assert_int_equal(broken(NULL), 0);
	fake.in_target[0] = 4; /* as many, but another pair */
	assert_int_equal(broken("in-references mirror out-references"), 1);
	fake.in_target[0] = 3;
	fake.in_target[3] = 3;
	fake.in_target[4] = 1;
	assert_int_equal(broken("in-references mirror out-references"), 1);
	fake.in_target[3] = 1;
	fake.in_target[4] = 3;
	fake.out_target[0] = FAKE_OBJECTS;
	assert_int_equal(broken("references lead to objects"), 1);
	fake.out_target[0] = 2;
	fake.out_offset[3] = 9;
	assert_int_equal(broken("references lead to objects"), 1);
	fake.out_offset[3] = 1;
	fake.class_of[1] = FAKE_CLASSES;
	assert_int_equal(broken("classes are known"), 1);
	fake.class_of[1] = C_LOST;
	assert_int_equal(broken("sizes sum up"), 1);
	fake.class_of[1] = C_STRING;
	fake.heap.shallow++;
	assert_int_equal(broken("sizes sum up"), 1);
	fake.heap.shallow--;
	fake.heap.n_instances++;
	assert_int_equal(broken("kinds add up"), 1);
	fake.heap.n_instances--;
	fake.heap.n_dangling = 0;
	assert_int_equal(broken("references are all counted"), 1);
	fake.heap.n_dangling = 1;
	fake.classes[C_LOST].superclass = C_ENTRY;
	fake.classes[C_ENTRY].superclass = C_LOST;
	assert_int_equal(broken("superclasses end"), 1);
	fake.classes[C_LOST].superclass = fake.classes[C_ENTRY].superclass = HEAP_NONE;
	fake.classes[C_STRING].object = 1;
	assert_int_equal(broken("class objects are java.lang.Class"), 1);
	fake.classes[C_STRING].object = 0;
	fake.roots[0].object = 6;
	assert_int_equal(broken("roots are objects"), 1);
	fake.roots[0].object = 4;
	fake.roots[1].thread = 0;
	assert_int_equal(broken("threads hold their roots"), 1);
	fake.roots[1].thread = HEAP_NONE;
	fake.heap.n_roots = 2;
	fake.heap.n_root_objects = 2;
	assert_int_equal(broken("inferred roots reach everything"), 1);
	fake.heap.n_roots = fake.heap.n_root_objects = 3;
	struct heap_stated stated[] = {{"records", 8}, {"objects", 5}};
	fake.heap.stated = stated;
	fake.heap.n_stated = 2;
	assert_int_equal(broken(NULL), 0);
	stated[1].count = 6;
	assert_int_equal(broken("the dump's own counts agree"), 1);
	expect("check | grep broken | cut result", PRINT_CSV, "result\r\nbroken\r\n");
	assert_int_equal(session_exit_status(0, session.last), 1);
	fake.heap.n_stated = 0;
}

/* --- sessions --------------------------------------------------------------------------------- */

static void test_session(void **state)
{
	(void)state;
	expect("", PRINT_TEXT, "");
	expect("# a remark", PRINT_TEXT, "");
	expect("histo | nix", PRINT_TEXT, "!| nix: a pipe leads to grep, grep-, head, sort, cut or "
	    "!COMMAND (help pipes)");
	expect("histo | head x", PRINT_TEXT, "!head: one number is wanted (head 20)");
	expect("histo | cut nix", PRINT_TEXT, "!cut: no column is called nix (there are class "
	    "class_address loader objects shallow retained loader_class superclass)");
	expect("ls String | sort -address | cut address", PRINT_CSV, "address\r\n0x1080\r\n0x1040\r\n");
	expect("ls * | grep- String | grep -v acme | grep -i CHAR | cut address", PRINT_CSV,
	    "address\r\n0x1050\r\n");
	expect("set top 5", PRINT_TEXT, "");
	assert_int_equal(session.print.top, 5);
	expect("set nix 5", PRINT_TEXT, "!set: no setting is called nix (set alone lists them)");
	expect("set format nix", PRINT_TEXT, "!set: format is text, csv, json or jsonl");
	expect("$a = ls com.acme.Session", PRINT_TEXT, "");
	expect("ls $_ | cut address", PRINT_CSV, "address\r\n0x1090\r\n0x10b0\r\n");
	expect("histo com.acme.Session | head 1", PRINT_JSONL,
	    "{\"class\": \"com.acme.Session\", \"class_address\": null, \"loader\": null, "
	    "\"objects\": 1, \"shallow\": 24, \"retained\": null, \"loader_class\": null, "
	    "\"superclass\": null}\n");
	expect("ls $_ | cut address", PRINT_CSV, "address\r\n0x1090\r\n"); /* the row's instances */
	expect("set | grep ^\\$a | cut value", PRINT_CSV, "value\r\n2 objects\r\n");
	session_close(&session, session.dump);
	expect("histo", PRINT_TEXT, "!histo: no dump is open (cairn DUMP)");
	session_open(&session, &fake.heap);
}

static char *file_text(const char *path)
{
	char *s = calloc(1, 4096);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	size_t n = fread(s, 1, 4095, f);
	s[n] = '\0';
	fclose(f);
	return s;
}

static void test_files(void **state)
{
	(void)state;
	char folder[] = "/tmp/cairn-test-XXXXXX", line[200], path[100];
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/o.csv", folder);
	snprintf(line, sizeof line, "ls String | cut address > %s", path);
	expect(line, PRINT_TEXT, "");
	char *s = file_text(path);
	assert_string_equal(s, "address\r\n0x1040\r\n0x1080\r\n");
	free(s);
	snprintf(line, sizeof line, "ls char[] | cut length >> %s", path);
	expect(line, PRINT_TEXT, "");
	s = file_text(path);
	assert_string_equal(s, "address\r\n0x1040\r\n0x1080\r\n\r\nlength\r\n4\r\n");
	free(s);
	snprintf(line, sizeof line, "save %s", path);
	expect(line, PRINT_TEXT, ""); /* the last result: what went to the file above */
	s = file_text(path);
	assert_string_equal(s, "length\r\n4\r\n");
	free(s);
	snprintf(line, sizeof line, "ls char[] | cut length | !cat > %s", path);
	expect(line, PRINT_TEXT, "");
	s = file_text(path);
	assert_string_equal(s, "length\n     4\n");
	free(s);
	FILE *f = fopen(path, "w");
	fputs("# first\nls String | cut address\n\nls nix\n", f);
	fclose(f);
	snprintf(line, sizeof line, "source %s", path);
	char *printed = run(line, PRINT_TEXT), wanted[400];
	snprintf(wanted, sizeof wanted, "!%s:4: ls: no class matches nix", path);
	assert_string_equal(printed, wanted);
	free(printed);
	f = fopen(path, "w");
	fprintf(f, "source %s\n", path); /* itself */
	fclose(f);
	printed = run(line, PRINT_TEXT);
	snprintf(wanted, sizeof wanted, "!%s:1: source: %s: scripts run scripts 16 deep", path, path);
	assert_string_equal(printed, wanted);
	free(printed);
	unlink(path);
	rmdir(folder);
}

/* --- completion ------------------------------------------------------------------------------- */

static void expect_completion(const char *line, size_t start, const char *wanted)
{
	size_t at, n;
	char **words = session_complete(&session, line, strlen(line), 10, &at, &n);
	struct text t = TEXT_INIT;
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

static void test_completion(void **state)
{
	(void)state;
	expect_completion("hi", 0, "histo history ");
	expect_completion("ls java.l", 3, "java.lang.Class java.lang.String ");
	expect_completion("ls Sess", 3, "com.acme.Session ");
	expect_completion("histo -", 6, "-by -sort -r -all -retained -live -dead -unreachable ");
	expect_completion("histo -by p", 10, "package ");
	expect_completion("histo -sort cl", 12, "class class_address classes ");
	expect_completion("refs 0x10", 5, "0x1000 0x1040 0x1050 0x1080 0x1090 0x10b0 ");
	expect_completion("refs 0x11", 5, "0x1100 0x1140 ");
	expect_completion("histo | gr", 8, "grep grep- ");
	expect_completion("histo | sort -sh", 13, "-shallow ");
	expect_completion("histo | cut class,ob", 12, "class,objects ");
	expect_completion("bt wo", 3, "\"worker 1\" ");
	expect_completion("help pi", 5, "pipes ");
	free(run("$mine = ls String", PRINT_TEXT));
	expect_completion("ls $", 3, "$_ $mine ");
	expect_completion("size String + $", 14, "$_ $mine ");
	expect_completion("$m", 0, "$mine ");
	expect_completion("histo | !l", 10, "");
	expect_completion("", 0, "info histo ls x entries find strings dups props threads ");
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
	expect_completion("histo com.acme.Lost.", 6, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_lines),
	    cmocka_unit_test_setup_teardown(test_command_names, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_table, set_up, tear_down),
	    cmocka_unit_test(test_shapes),
	    cmocka_unit_test(test_options),
	    cmocka_unit_test_setup_teardown(test_many_options, set_up, tear_down),
	    cmocka_unit_test(test_spellings),
	    cmocka_unit_test(test_edit_distance),
	    cmocka_unit_test_setup_teardown(test_class_patterns, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_objects, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_threads, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_histo, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_ls, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_refs, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_x_and_threads, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_info, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_check, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_session, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_files, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_completion, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_static_completion, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
