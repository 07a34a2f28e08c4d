/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_command.c - what command lines print, on a heap filled by hand.
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
#include "command/command.h"
#include "command/exec/exec.h"
#include "command/query/query.h"
#include "fake_session.h"

/* --- commands --------------------------------------------------------------------------------- */

static void test_histo(void **state)
{
	(void)state;
	expect_printed("histo | cut class,class_address,loader,objects,shallow", PRINT_CSV,
	    "class,class_address,loader,objects,shallow\r\n"
	    "java.lang.Class,0x1100,,2,128\r\n"
	    "java.lang.String,0x1000,,2,32\r\n"
	    "char[],,,1,32\r\n"
	    "com.acme.Session,,,1,24\r\n"
	    "com.acme.Session,,0x1090,1,24\r\n"
	    "com.acme.Lost,,,1,\r\n");
	expect_printed("histo -r -sort objects | head 1 | cut class", PRINT_CSV, "class\r\nchar[]\r\n");
	expect_printed("histo -sort class | head 2 | cut class", PRINT_CSV,
	    "class\r\nchar[]\r\ncom.acme.Lost\r\n");
	expect_printed("histo -by package | cut package,classes,objects,shallow", PRINT_CSV,
	    "package,classes,objects,shallow,shallow_certainty\r\n"
	    "java.lang,2,4,160,exact\r\n"
	    "com.acme,3,3,48,lower bound\r\n"
	    "<primitive>,1,1,32,exact\r\n");
	expect_printed("histo -by loader | cut loader,classes,objects,shallow | grep- ^0x", PRINT_CSV,
	    "loader,classes,objects,shallow,shallow_certainty\r\n,5,7,216,lower bound\r\n");
	expect_printed("histo Entry", PRINT_JSONL, "");
	expect_printed("histo Entry -all | cut class,objects", PRINT_JSONL,
	    "{\"class\": \"java.util.Map$Entry\", \"objects\": 0}\n");
	expect_printed("$s = ls String", PRINT_TEXT, "");
	expect_printed("histo $s | cut class,objects,shallow", PRINT_JSONL,
	    "{\"class\": \"java.lang.String\", \"objects\": 2, \"shallow\": 32}\n");
	expect_printed("histo -sort nix | head", PRINT_TEXT, "!histo: no column \"nix\" (there are class "
	    "class_address loader objects shallow retained loader_class superclass)");
	expect_printed("histo -by nix", PRINT_TEXT,
	    "!histo: -by \"nix\": unknown value (use class|package|loader|super|path|heap, or a column)");
}

/* How many rows of a line's answer a condition keeps; -1: it is an error, with these words in it. */
static int kept_rows(const char *line, const char *condition, const char *words)
{
	struct result *r = NULL;
	struct err err = ERR_INIT;
	assert_int_equal(session_ask_line(&session, line, &r, &err), 0);
	size_t before = r->n_rows;
	int code = query_keep_rows(&session, r, condition, &err);
	if (code == ERR_UNSUPPORTED)
		skip();
	int n = code ? -1 : (int)r->n_rows;
	if (code)
		assert_int_equal(r->n_rows, before);
	if (words)
		assert_non_null(strstr(code ? err.message : r->note ? r->note : "", words));
	else
		assert_null(code ? err.message : r->note);
	result_free(r);
	return n;
}

static void test_conditions(void **state)
{
	(void)state;
	assert_int_equal(kept_rows("histo", "objects = 2", NULL), 2);
	assert_int_equal(kept_rows("histo", "OBJECTS > 1 and class like \"%String\"", NULL), 1);
	assert_int_equal(kept_rows("histo", "obj = 1", NULL), 4); /* as -sort has it */
	assert_int_equal(kept_rows("histo", "loader = null", NULL), 5);
	assert_int_equal(kept_rows("histo", "loader = 0x1090", NULL), 1);
	assert_int_equal(kept_rows("histo", "`class` in ('char[]', 'x') or 1 = 0", NULL), 1);
	assert_int_equal(kept_rows("histo", "CAST(objects AS TEXT) = '2'", NULL), 2);
	assert_int_equal(kept_rows("histo", "shallow < 30", "not exact"), 2); /* that of Lost is unknown */
	assert_int_equal(kept_rows("histo", "shallow_certainty = 'unknown'", NULL), 1);
	assert_int_equal(kept_rows("histo", "objcts = 2", "no column \"objcts\" (nearest: objects)"), -1);
	assert_int_equal(kept_rows("histo", "a.b = 2", "no column \"a.b\" (there are class "), -1);
	assert_int_equal(kept_rows("histo", "class > 3", "class of these rows is a text"), -1);
	assert_int_equal(kept_rows("histo", "objects > 1); SELECT (1", "not allowed"), -1);
	assert_int_equal(kept_rows("histo", "objects >", "syntax error"), -1);
	assert_int_equal(kept_rows("histo -sort objects", "objects > 1", NULL), 2);
}

static void test_ls(void **state)
{
	(void)state;
	expect_printed("ls java.lang.String", PRINT_CSV,
	    "address,class,shallow,retained,length,value\r\n"
	    "0x1040,java.lang.String,16,,,\r\n0x1080,java.lang.String,16,,,\r\n");
	expect_printed("ls [C | cut address,length", PRINT_CSV, "address,length\r\n0x1050,4\r\n");
	expect_printed("ls java.lang.Class -sort value | cut value", PRINT_CSV,
	    "value\r\njava.lang.Class\r\njava.lang.String\r\n");
	expect_printed("ls * -min 24 -max 32 | cut address", PRINT_CSV,
	    "address\r\n0x1050\r\n0x1090\r\n0x10b0\r\n");
	expect_printed("ls * -sort shallow | head 3 | cut address", PRINT_CSV,
	    "address\r\n0x1000\r\n0x1100\r\n0x1050\r\n");
	expect_printed("ls", PRINT_TEXT,
	    "!ls: PAT is missing (for example: ls java.lang.String; help ls explains it)");
	expect_printed("ls String -min", PRINT_TEXT,
	    "!ls: -min needs SIZE (for example: ls byte[] -min 1K; help ls explains it)");
	expect_printed("ls String x", PRINT_TEXT,
	    "!ls: too many arguments (ls PAT [-min SIZE] [-max SIZE] "
	    "[-live] [-dead] [-where EXPR] "
	    "[-heap NAME] [-sub] [-retained] [-fields NAMES])");
}

static void test_refs(void **state)
{
	(void)state;
	expect_printed("refs 0x1040 | cut direction,field,address,class", PRINT_CSV,
	    "direction,field,address,class\r\n"
	    "out,<class>,0x1000,java.lang.Class\r\n"
	    "out,,0x1050,char[]\r\n"
	    "in,,0x1080,java.lang.String\r\n"
	    "in,,0x1090,com.acme.Session\r\n"
	    "in,,0x1090,com.acme.Session\r\n");
	expect_printed("refs 0x1000 -in | cut direction,field,address", PRINT_CSV,
	    "direction,field,address\r\nin,<class>,0x1040\r\nin,<class>,0x1080\r\n");
	expect_printed("referrers 0x1040 -by class | cut direction,class,references,objects,shallow",
	    PRINT_CSV,
	    "direction,class,references,objects,shallow\r\n"
	    "in,java.lang.String,1,1,16\r\nin,com.acme.Session,2,1,24\r\n");
	expect_printed("refs #1 -class com.acme.Session | cut address", PRINT_CSV,
	    "address\r\n0x1090\r\n0x1090\r\n");
	expect_printed("roots | cut kind,address,thread,frame,certainty", PRINT_CSV,
	    "kind,address,thread,frame,certainty\r\n"
	    "Thread,0x1090,main,com.acme.Main.main(Main.java:7),exact\r\n"
	    "Unknown,0x10b0,,,inferred\r\nUnknown,0x1140,,,inferred\r\n");
	expect_printed("roots -by kind | cut kind,roots,shallow | sort kind", PRINT_CSV,
	    "kind,roots,shallow,roots_certainty,shallow_certainty\r\n"
	    "Thread,1,24,exact,exact\r\nUnknown,2,24,inferred,inferred\r\n");
}

static void test_x_and_threads(void **state)
{
	(void)state;
	/* #7, a root, holds it; what it leads to, #4 and its class hold as well.  Its class object alone
	 * holds something: #6, the class object of java.lang.Class */
	expect_printed("x 0x1080", PRINT_JSON,
	    "{\"address\": \"0x1080\", \"class\": \"java.lang.String\", \"shallow\": 16, "
	    "\"retained\": 16, \"length\": null, \"loader\": null, \"root\": null, \"reachable\": true, "
	    "\"value\": null, "
	    "\"id\": 3, \"retained_certainty\": \"inferred\", \"fields\": [\n"
	    "{\"name\": \"<class>\", \"type\": null, \"value\": \"0x1000\", \"declared_in\": null, "
	    "\"class\": \"java.lang.Class\", \"shallow\": 64, \"retained\": 128, \"retained_certainty\": \"inferred\"},\n"
	    "{\"name\": null, \"type\": null, \"value\": \"0x1050\", \"declared_in\": null, "
	    "\"class\": \"char[]\", \"shallow\": 32, \"retained\": 32, \"retained_certainty\": \"inferred\"},\n"
	    "{\"name\": null, \"type\": null, \"value\": \"0x1040\", \"declared_in\": null, "
	    "\"class\": \"java.lang.String\", \"shallow\": 16, \"retained\": 16, "
	    "\"retained_certainty\": \"inferred\"}]}\n");
	expect_printed("#3 | cut value", PRINT_CSV, "value\r\n0x1000\r\n0x1050\r\n0x1040\r\n");
	expect_printed("x java.lang.String | cut address,instances,instance_size", PRINT_CSV,
	    "address,instances,instance_size\r\n0x1000,2,16\r\n");
	expect_printed("threads | cut id,name,state,frames,roots,priority,address", PRINT_CSV,
	    "id,name,state,frames,roots,priority,address\r\n"
	    "0,main,waiting,2,1,5,0x1090\r\n1,worker 1,,0,0,,\r\n");
	expect_printed("bt main | cut frame,method,kind,address", PRINT_CSV,
	    "frame,method,kind,address\r\n0,java.lang.Object.wait(Native Method),,\r\n"
	    "1,com.acme.Main.main(Main.java:7),Thread,0x1090\r\n");
	expect_printed("duplicate-classes | cut class,times,loader", PRINT_CSV,
	    "class,times,loader\r\ncom.acme.Session,2,\r\ncom.acme.Session,2,0x1090\r\n");
	expect_printed("find Sess | cut kind,name,objects", PRINT_CSV,
	    "kind,name,objects\r\nclass,com.acme.Session,1\r\nclass,com.acme.Session,1\r\n");
	expect_printed("find work | cut kind,name", PRINT_CSV, "kind,name\r\nthread,worker 1\r\n");
	expect_printed("find 0x1044 | cut kind,address,offset", PRINT_CSV,
	    "kind,address,offset\r\ninside,0x1040,4\r\n");
	expect_printed("find nonsense", PRINT_JSON, "[]\n");
	assert_int_equal(session_exit_status(0, session.results.last), 1);
}

static void test_info(void **state)
{
	(void)state;
	expect_printed("info | cut objects,classes,instances,primitive_arrays,references,dangling,roots,shallow",
	    PRINT_CSV,
	    "objects,classes,instances,primitive_arrays,references,dangling,roots,shallow,"
	    "roots_certainty,shallow_certainty\r\n8,2,5,1,7,1,3,240,inferred,lower bound\r\n");
	/* #6, the class object of java.lang.Class, is held by #0, the one of java.lang.String */
	expect_printed("info | cut reachable_objects,unreachable_objects | grep objects", PRINT_CSV,
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
	fake.class_low[1] = FAKE_CLASSES;
	assert_int_equal(broken("classes are known"), 1);
	fake.class_low[1] = C_LOST;
	assert_int_equal(broken("sizes sum up"), 1);
	fake.class_low[1] = C_STRING;
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
	struct heap_stated stated[] = {{"records", STATED_THINGS, 8}, {"objects", STATED_THINGS, 5}};
	fake.heap.stated = stated;
	fake.heap.n_stated = 2;
	assert_int_equal(broken(NULL), 0);
	stated[1].count = 6;
	assert_int_equal(broken("the dump's own counts agree"), 1);
	expect_printed("check | grep broken | cut result", PRINT_CSV, "result\r\nbroken\r\n");
	assert_int_equal(session_exit_status(0, session.results.last), 1);
	fake.heap.n_stated = 0;
}

/* --- sessions --------------------------------------------------------------------------------- */

static void test_session(void **state)
{
	(void)state;
	expect_printed("", PRINT_TEXT, "");
	expect_printed("# a remark", PRINT_TEXT, "");
	expect_printed("histo | nix", PRINT_TEXT, "!unknown pipe stage \"nix\" (use grep, grep-, head, sort, cut "
	    "or !COMMAND)");
	expect_printed("histo | head x", PRINT_TEXT, "!head: needs one number (head 20)");
	expect_printed("histo | cut nix", PRINT_TEXT, "!cut: no column \"nix\" (there are class "
	    "class_address loader objects shallow retained loader_class superclass)");
	expect_printed("ls String | sort -address | cut address", PRINT_CSV, "address\r\n0x1080\r\n0x1040\r\n");
	expect_printed("ls * | grep- String | grep -v acme | grep -i CHAR | cut address", PRINT_CSV,
	    "address\r\n0x1050\r\n");
	expect_printed("set top 5", PRINT_TEXT, "");
	assert_int_equal(session.settings.print.top, 5);
	expect_printed("set nix 5", PRINT_TEXT, "!set: no setting \"nix\" (set lists them)");
	expect_printed("set format nix", PRINT_TEXT,
	    "!set: invalid format \"nix\" (use text, csv, json, jsonl, md or html)");
	expect_printed("$a = ls com.acme.Session", PRINT_TEXT, "");
	expect_printed("ls $_ | cut address", PRINT_CSV, "address\r\n0x1090\r\n0x10b0\r\n");
	expect_printed("histo com.acme.Session | head 1", PRINT_JSONL,
	    "{\"class\": \"com.acme.Session\", \"class_address\": null, \"loader\": null, "
	    "\"objects\": 1, \"shallow\": 24, \"retained\": null, \"loader_class\": null, "
	    "\"superclass\": null}\n");
	expect_printed("ls $_ | cut address", PRINT_CSV, "address\r\n0x1090\r\n"); /* the row's instances */
	expect_printed("sets | grep ^\\$a | cut objects", PRINT_CSV, "objects\r\n2\r\n");
	session_close(&session, session.dump);
	expect_printed("histo", PRINT_TEXT, "!histo: no dump is open (cairn DUMP)");
	session_open(&session, NULL, &fake.heap);
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
	expect_printed(line, PRINT_TEXT, "");
	char *s = file_text(path);
	assert_string_equal(s, "address\r\n0x1040\r\n0x1080\r\n");
	free(s);
	snprintf(line, sizeof line, "ls char[] | cut length >> %s", path);
	expect_printed(line, PRINT_TEXT, "");
	s = file_text(path);
	assert_string_equal(s, "address\r\n0x1040\r\n0x1080\r\n\r\nlength\r\n4\r\n");
	free(s);
	snprintf(line, sizeof line, "save %s", path);
	expect_printed(line, PRINT_TEXT, ""); /* the last result: what went to the file above */
	s = file_text(path);
	assert_string_equal(s, "length\r\n4\r\n");
	free(s);
	snprintf(line, sizeof line, "ls char[] | cut length | !cat > %s", path);
	expect_printed(line, PRINT_TEXT, "");
	s = file_text(path);
	assert_string_equal(s, "length\n     4\n");
	free(s);
	FILE *f = fopen(path, "w");
	fputs("# first\nls String | cut address\n\nls nix\n", f);
	fclose(f);
	snprintf(line, sizeof line, "source %s", path);
	char *printed = printed_by(line, PRINT_TEXT), wanted[400];
	snprintf(wanted, sizeof wanted, "!%s:4: ls: no class matches \"nix\"", path);
	assert_string_equal(printed, wanted);
	free(printed);
	f = fopen(path, "w");
	fprintf(f, "source %s\n", path); /* itself */
	fclose(f);
	printed = printed_by(line, PRINT_TEXT);
	snprintf(wanted, sizeof wanted, "!%s:1: source: %s: scripts run scripts 16 deep", path, path);
	assert_string_equal(printed, wanted);
	free(printed);
	unlink(path);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_histo, fake_session_open, fake_session_close),
		cmocka_unit_test_setup_teardown(test_conditions, fake_session_open, fake_session_close),
		cmocka_unit_test_setup_teardown(test_ls, fake_session_open, fake_session_close),
		cmocka_unit_test_setup_teardown(test_refs, fake_session_open, fake_session_close),
		cmocka_unit_test_setup_teardown(test_x_and_threads, fake_session_open, fake_session_close),
		cmocka_unit_test_setup_teardown(test_info, fake_session_open, fake_session_close),
		cmocka_unit_test_setup_teardown(test_check, fake_session_open, fake_session_close),
		cmocka_unit_test_setup_teardown(test_session, fake_session_open, fake_session_close),
		cmocka_unit_test_setup_teardown(test_files, fake_session_open, fake_session_close),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
