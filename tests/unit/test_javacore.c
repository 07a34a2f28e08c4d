/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_javacore.c - finding and reading the javacore beside a dump.
 *
 * Files are written into a directory of the test's own.  The two real javacores are counted when
 * CAIRN_DUMPS says where they are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "dump/code_pages.h"
#include "dump/javacore/javacore.h"
#include "dump/process.h"

static char directory[] = "/tmp/cairn-javacore-XXXXXX";

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	(void)state;
	return rmdir(directory);
}

static void path_of(char path[512], const char *name)
{
	snprintf(path, 512, "%s/%s", directory, name);
}

static void put(const char *name, const void *bytes, size_t n)
{
	char path[512];
	path_of(path, name);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void drop(const char *name)
{
	char path[512];
	path_of(path, name);
	assert_int_equal(unlink(path), 0);
}

static struct javacore *read_bytes(const void *bytes, size_t n)
{
	struct javacore *j = NULL;
	struct err err = ERR_INIT;
	char path[512];
	path_of(path, "some.txt");
	put("some.txt", bytes, n);
	if (javacore_open(&j, NULL, path, NULL, &err) < 0)
		fail_msg("%s", err.message);
	assert_non_null(j);
	assert_string_equal(j->path, path);
	drop("some.txt");
	return j;
}

/* ---- finding --------------------------------------------------------------------------------- */

static void found(const char *dump, const char *core, bool expected)
{
	static const char text[] = "0SECTION       TITLE\n";
	struct javacore *j = NULL;
	struct err err = ERR_INIT;
	char dump_path[512], core_path[512];
	path_of(dump_path, dump);
	path_of(core_path, core);
	put(core, text, sizeof text - 1);
	assert_int_equal(javacore_open(&j, NULL, NULL, dump_path, &err), 0);
	if ((j != NULL) != expected)
		fail_msg("%s beside %s", core, dump);
	if (j)
		assert_string_equal(j->path, core_path);
	javacore_close(j);
	drop(core);
}

static void is_path(const char *got, const char *name)
{
	char path[512];
	if (name)
		path_of(path, name);
	if (!got != !name || (got && strcmp(got, path)))
		fail_msg("%s instead of %s", got ? got : "none", name ? name : "none");
}

/* Beside what is in the directory: the javacore of the dump, and the one that is passed over; NULL: none. */
static void found_of(const char *dump, const char *core, const char *passed)
{
	char dump_path[512], *got, *other;
	struct err err = ERR_INIT;
	path_of(dump_path, dump);
	assert_int_equal(javacore_find(&got, &other, dump_path, &err), 0);
	is_path(got, core);
	is_path(other, passed);
	free(got);
	free(other);
}

static void names(void **state)
{
	(void)state;
	static const char dump[] = "heapdump.20160404.083909.9480.0002.phd";
	found(dump, "javacore.20160404.083909.9480.0002.txt", true);
	found(dump, "javacore.20160404.083909.9480.0003.txt", true);
	found(dump, "javacore.20160404.083909.9480.0001.txt", true);
	found(dump, "javacore.20160404.083909.9480.0004.txt", true);
	found(dump, "javacore.20160404.083909.9480.0123.txt", true);
	found(dump, "javacore.20160404.083910.9480.0003.txt", false);
	found(dump, "WASjavacore.20160404.083909.9480.0003.txt", false);
	found(dump, "javacore.20160404.083909.9480.0003x.txt", false);
	found("core.20160404.083909.9480.0001.dmp.phd", "javacore.20160404.083909.9480.0003.txt", true);
	found("core.20160404.083909.9480.0001.dmp.phd", "javacore.20160404.083909.9481.0003.txt", false);
	found(dump, "javacore.20160404.083909.9481.0002.txt", false);
	found("heapdump.20160404.083909.9480.0009.phd.gz", "javacore.20160404.083909.9480.0010.txt",
	    true);
	found("heapdump.20160404.083909.9480.0002.txt", "javacore.20160404.083909.9480.0003.txt", true);
	found("heapdump.20160404.083909.9480.0002.txt.gz", "javacore.20160404.083909.9480.0003.txt",
	    true);
	found("WASheapdump.20160404.083909.9480.0002.phd",
	    "WASjavacore.20160404.083909.9480.0001.txt", true);
	found("heapdump.20160404.083909.9480.0000.phd", "javacore.20160404.083909.9480.0001.txt", true);
	found("heapdump.20160404.083909.9480.9999.phd", "javacore.20160404.083909.9480.10000.txt",
	    true);
	found("heapdump.20160404.083909.9480.phd", "javacore.20160404.083909.9480.txt", true);
	found("heapdump.20160404.083959.9480.phd", "javacore.20160404.084159.9480.txt", true);
	found("heapdump.20160404.083959.9480.phd", "javacore.20160404.084200.9480.txt", false);
	found("heapdump.20160404.083959.9480.phd", "javacore.20160404.083958.9480.txt", false);
	found("heapdump123.1100000000.phd", "javacore123.1100000300.txt", true);
	found("heapdump123.1100000000.phd", "javacore123.1100000301.txt", false);
	found("heapdump.phd", "javacore.txt", true);
	found("other.phd", "javacore.txt", false);
	/* The dump's own number comes before the neighbours. */
	put("javacore.20160404.083909.9480.0003.txt", "0SECTION\n", 9);
	put("javacore.20160404.083909.9480.0001.txt", "0SECTION\n", 9);
	found(dump, "javacore.20160404.083909.9480.0002.txt", true);
	drop("javacore.20160404.083909.9480.0003.txt");
	/* The VM writes the heap dump first: a higher number wins, and of two the nearer one. */
	put("javacore.20160404.083909.9480.0007.txt", "0SECTION\n", 9);
	found("heapdump.20160404.083909.9480.0002.phd", "javacore.20160404.083909.9480.0005.txt", true);
	found_of("heapdump.20160404.083909.9480.0002.phd", "javacore.20160404.083909.9480.0007.txt", NULL);
	found_of("heapdump.20160404.083909.9480.0009.phd", "javacore.20160404.083909.9480.0007.txt", NULL);
	/* One that the process wrote at another time is not read, but named: the nearest one. */
	found_of("heapdump.20160404.083908.9480.0002.phd", NULL, "javacore.20160404.083909.9480.0007.txt");
	put("javacore.20160404.083904.9480.0007.txt", "0SECTION\n", 9);
	found_of("heapdump.20160404.083903.9480.0002.phd", NULL, "javacore.20160404.083904.9480.0007.txt");
	found_of("heapdump.20160404.083909.9481.0002.phd", NULL, NULL);
	drop("javacore.20160404.083904.9480.0007.txt");
	drop("javacore.20160404.083909.9480.0007.txt");
	drop("javacore.20160404.083909.9480.0001.txt");
}

static void refused(void **state)
{
	(void)state;
	struct javacore *j = NULL;
	struct err err = ERR_INIT;
	char path[512];
	path_of(path, "missing.txt");
	assert_int_equal(javacore_open(&j, NULL, path, NULL, &err), ERR_IO);
	assert_null(j);
	path_of(path, "text.txt");
	put("text.txt", "just text\nand more\n", 19);
	assert_int_equal(javacore_open(&j, NULL, path, NULL, &err), ERR_FORMAT);
	assert_null(j);
	drop("text.txt");
	javacore_close(NULL);
}

/* ---- reading --------------------------------------------------------------------------------- */

static const char sample[] =
    "0SECTION       TITLE subcomponent dump routine\n"
    "1TICHARSET     UTF-8\n"
    "1TIDATETIME    Date: 2016/04/04 at 08:39:09:996\n"
    "NULL           ------------------------\n"
    "1CIJAVAVERSION JRE 1.8.0 Windows 7 amd64-64 build  (pwa6480sr2fp11)\n"
    "1CIGCVERSION   GC - R28_20160106_1341_B284759_CMPRSS\n"
    "0SECTION       LOCKS subcomponent dump routine\n"
    "2LKMONINUSE      sys_mon_t:0x00000000116A00A8 infl_mon_t: 0x00000000116A0120:\n"
    "3LKMONOBJECT       java/lang/Object@0x00000000FFC5AE60: owner \"a \"quoted\" name\" "
    "(J9VMThread:0x0000000002D00500), entry count 2\n"
    "3LKWAITERQ            Waiting to enter:\n"
    "3LKWAITER                \"worker\" (J9VMThread:0x0000000002D00700)\n"
    "2LKREGMON          VM mem segment list lock (0x00000000007A7048): <unowned>\n"
    "3LKNOTIFYQ            Waiting to be notified:\n"
    "3LKWAITNOTIFY            \"worker\" (J9VMThread:0x0000000002D00700)\n"
    "0SECTION       THREADS subcomponent dump routine\n"
    "1XMCURTHDINFO  Current thread\n"
    "3XMTHREADINFO      \"worker\" J9VMThread:0x0000000002D00700, omrthread_t:0x00000000007A75C0, "
    "java/lang/Thread:0x00000000FFB23D98, state:B, prio=7\n"
    "3XMJAVALTHREAD            (java/lang/Thread getId:0x14, isDaemon:true)\n"
    "3XMTHREADINFO1            (native thread ID:0x2310, native priority:0xA, vmstate:B)\n"
    "3XMTHREADBLOCK     Blocked on: java/lang/Object@0x00000000FFC5AE60 Owned by: \"x@0x1\" "
    "(J9VMThread:0x0000000002D00500, java/lang/Thread:0x00000000FFB23D90)\n"
    "3XMTHREADINFO3           Java callstack:\n"
    "4XESTACKTRACE                at a/B.c(B.java:1(Compiled Code))\n"
    "4XESTACKTRACE                at a/B.main(Native Method)\n"
    "5XESTACKTRACE                   (entered lock: a/B@0x00000000FFB044B0, entry count: 1)\n"
    "1XMTHDINFO     Thread Details\n"
    "3XMTHREADINFO      \"a \"quoted\" TID: name\" J9VMThread:0x0000000002D00500, "
    "j9thread_t:0x00000000007A75C0, java/lang/Thread:0x00000000FFB23D90, state:CW, prio=5\n"
    "3XMTHREADINFO1            (native thread ID:0x11EC, native priority:0x5)\n"
    "4XESTACKTRACE                at (Missing Method)\n"
    "3XMTHREADINFO      \"worker\" J9VMThread:0x0000000002D00700, omrthread_t:0x00000000007A75C0, "
    "java/lang/Thread:0x00000000FFB23D98, state:B, prio=7\n"
    "4XESTACKTRACE                at not/Counted.twice(Native Method)\n"
    "3XMTHREADINFO      Anonymous native thread\n"
    "3XMTHREADINFO1            (native thread ID:0x1720, native priority: 0x0)\n"
    "0SECTION       CLASSES subcomponent dump routine\n"
    "4XESTACKTRACE                at nobody/Owns.this(Native Method)\n"
    "2CLTEXTCLLOADER\t\tp---st-- Loader *System*(0x00000000FFB03EE8)\n"
    "2CLTEXTCLLOADER\t\t-----ta- Loader a/Loader(x)(0x00000000FFB23CE0), Parent "
    "*none*(0x0000000000000000)\n"
    "2CLTEXTCLLOADER\t\t----st-- Loader [locked](0x00000000FFB23CF0), Parent "
    "a/Loader(0x00000000FFB23CE0)\n"
    "2CLTEXTCLLOAD  \t\tLoader *System*(0x00000000FFB03EE8)\n"
    "3CLTEXTCLASS   \t\t\tjava/lang/Object(0x0000000002DD4300 shared)\n"
    "3CLTEXTCLASS   \t\t\t[locked]\n"
    "3CLTEXTCLASS   \t\t\t[I(0x0000000002DD4400)\n"
    "2CLTEXTCLLOAD  \t\tLoader a/Loader(0x00000000FFB23CE0)\n"
    "3CLTEXTCLASS   \t\t\ta/B(0x0000000002DD4500)\n"
    "9UNKNOWN       whatever\n";

static void check_sample(const struct javacore *j)
{
	assert_string_equal(j->date, "2016-04-04T08:39:09");
	assert_string_equal(j->java_version, "JRE 1.8.0 Windows 7 amd64-64 build  (pwa6480sr2fp11)");
	assert_true(j->compressed_references);
	assert_int_equal(j->word_bits, 64);

	assert_int_equal(j->n_loaders, 3);
	assert_true(j->loaders[0].system);
	assert_int_equal(j->loaders[0].address, 0xFFB03EE8);
	assert_string_equal(j->loaders[0].name, "*System*");
	assert_string_equal(j->loaders[1].name, "a/Loader(x)");
	assert_int_equal(j->loaders[1].address, 0xFFB23CE0);
	assert_int_equal(j->loaders[1].parent, 0);
	assert_false(j->loaders[1].system);
	assert_int_equal(j->loaders[2].parent, 0xFFB23CE0);

	assert_int_equal(j->n_classes, 3);
	assert_string_equal(j->classes[0].name, "java/lang/Object");
	assert_int_equal(j->classes[0].loader, 0xFFB03EE8);
	assert_string_equal(j->classes[1].name, "[I");
	assert_string_equal(j->classes[2].name, "a/B");
	assert_int_equal(j->classes[2].loader, 0xFFB23CE0);

	assert_int_equal(j->n_threads, 3);
	const struct javacore_thread *worker = &j->threads[0], *quoted = &j->threads[1];
	assert_string_equal(worker->name, "worker");
	assert_int_equal(worker->object, 0xFFB23D98);
	assert_int_equal(worker->vm_thread, 0x2D00700);
	assert_string_equal(worker->state, "blocked");
	assert_int_equal(worker->native_id, 0x2310);
	assert_int_equal(worker->priority, 7);
	assert_true(worker->daemon);
	assert_int_equal(worker->n_frames, 2);
	assert_string_equal(worker->frames[0].text, "a/B.c(B.java:1(Compiled Code))");
	assert_int_equal(worker->n_monitors, 2);
	assert_int_equal(worker->monitors[0].address, 0xFFC5AE60);
	assert_true(worker->monitors[0].waiting);
	assert_true(worker->monitors[0].frame == SIZE_MAX);
	assert_int_equal(worker->monitors[1].address, 0xFFB044B0);
	assert_false(worker->monitors[1].waiting);
	assert_int_equal(worker->monitors[1].frame, 1);

	assert_string_equal(quoted->name, "a \"quoted\" TID: name");
	assert_string_equal(quoted->state, "waiting");
	assert_int_equal(quoted->native_id, 0x11EC);
	assert_false(quoted->daemon);
	assert_int_equal(quoted->n_frames, 1);
	/* The thread's own line is later, and tells the owner's name in its own way. */
	assert_int_equal(worker->wait.address, 0xFFC5AE60);
	assert_string_equal(worker->wait.class_name, "java/lang/Object");
	assert_string_equal(worker->wait.owner, "x@0x1");
	assert_int_equal(worker->wait.owner_vm_thread, 0x2D00500);
	assert_false(worker->wait.unowned);
	assert_int_equal(quoted->wait.address, 0);

	assert_int_equal(quoted->n_monitors, 1);
	assert_int_equal(quoted->monitors[0].address, 0xFFC5AE60);
	assert_false(quoted->monitors[0].waiting);

	assert_string_equal(j->threads[2].name, "Anonymous native thread");
	assert_int_equal(j->threads[2].object, 0);
	assert_int_equal(j->threads[2].native_id, 0x1720);
	assert_int_equal(j->threads[2].n_frames, 0);
}

static void whole_sample(void **state)
{
	(void)state;
	struct javacore *j = read_bytes(sample, sizeof sample - 1);
	check_sample(j);
	javacore_close(j);
}

static void ebcdic_sample(void **state)
{
	(void)state;
	char bytes[sizeof sample];
	char *from = (char *)(uintptr_t)sample, *to = bytes;
	size_t left = sizeof sample - 1, room = sizeof bytes;
	iconv_t cd = iconv_open("IBM1047", "ISO-8859-1");
	assert_true(iconv(cd, &from, &left, &to, &room) != (size_t)-1);
	iconv_close(cd);
	assert_int_equal((uint8_t)bytes[0], 0xF0);
	struct javacore *j = read_bytes(bytes, sizeof sample - 1);
	check_sample(j);
	javacore_close(j);
}

/* Of the first bytes of a file, also in EBCDIC: the cause, in which a secret is masked; of other files nothing. */
static void glance(void **state)
{
	static const char core[] = "0SECTION       TITLE subcomponent dump routine\n1TICHARSET     UTF-8\n"
	    "1TISIGINFO     Dump Event \"throw\" (00000010) Detail \"java/lang/Error\" \"password=tulip\" received\n";
	static const char *const others[] = {"", "hello\n", "0SECTION       TITLE\n1TICHARSET     UTF-8\n"};
	char bytes[sizeof core], path[512];
	char *from = (char *)(uintptr_t)core, *to = bytes;
	size_t left = sizeof core - 1, room = sizeof bytes;
	struct text cause = TEXT_INIT;
	(void)state;
	path_of(path, "core.txt");
	iconv_t cd = iconv_open("IBM1047", "ISO-8859-1");
	assert_true(iconv(cd, &from, &left, &to, &room) != (size_t)-1);
	iconv_close(cd);
	for (int ebcdic = 0; ebcdic < 2; ebcdic++) {
		text_clear(&cause);
		put("core.txt", ebcdic ? bytes : core, sizeof core - 1);
		javacore_glance(path, &cause);
		assert_non_null(strstr(cause.s, "Dump Event \"throw\" (00000010) Detail \"java/lang/Error\""));
		assert_null(strstr(cause.s, "tulip"));
	}
	text_clear(&cause);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		put("core.txt", others[i], strlen(others[i]));
		javacore_glance(path, &cause);
	}
	drop("core.txt");
	javacore_glance(path, &cause);
	assert_int_equal(cause.len, 0);
	text_release(&cause);
}

static void charsets(void **state)
{
	(void)state;
	static const struct {
		const char *text, *name;
	} cases[] = {
		{ "1TICHARSET 1252\n3XMTHREADINFO \"\x80\xE9\" TID:0x1, state:R\n", "\xE2\x82\xAC\xC3\xA9" },
		{ "1TICHARSET Cp1252\n3XMTHREADINFO \"\x80\" TID:0x1, state:R\n", "\xE2\x82\xAC" },
		{ "1TICHARSET ISO8859-1\n3XMTHREADINFO \"\xE9\" TID:0x1, state:R\n", "\xC3\xA9" },
		{ "1TICHARSET IBM-850\n3XMTHREADINFO \"\x82\" TID:0x1, state:R\n", "\xC3\xA9" },
		{ "1TICHARSET UTF-8\n3XMTHREADINFO \"\xC3\xA9\" TID:0x1, state:R\n", "\xC3\xA9" },
		{ "1TICHARSET no-such-set\n3XMTHREADINFO \"\xC3\xA9\xFF\" TID:0x1, state:R\n",
		    "\xC3\xA9\\xff" },
		{ "3XMTHREADINFO \"a\033[31m\" TID:0x1, state:R\n", NULL },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct javacore *j = read_bytes(cases[i].text, strlen(cases[i].text));
		assert_int_equal(j->n_threads, 1);
		if (cases[i].name && strcasecmp(j->threads[0].name, cases[i].name))
			fail_msg("%zu: %s", i, j->threads[0].name);
		assert_null(strchr(j->threads[0].name, '\033'));
		javacore_close(j);
	}
}

extern const char *const code_pages_txt[];

/* Every table against iconv, byte by byte. */
static void code_pages_as_iconv(void **state)
{
	size_t n = 0;
	(void)state;
	for (const char *const *line = code_pages_txt; *line; line++) {
		char name[20];
		unsigned number = (unsigned)strtoul(*line, NULL, 10);
		uint16_t set[256];
		bool iso = number / 10 == 8859 || number / 100 == 8859;
		bool ebcdic = number < 400 || number == 500 || number == 1047;
		snprintf(name, sizeof name, ebcdic ? "IBM%03u" : "CP%u", number);
		if (iso)
			snprintf(name, sizeof name, "ISO-8859-%u", number % (number > 99999 ? 100 : 10));
		if (number == 20866 || number == 21866)
			snprintf(name, sizeof name, "KOI8-%c", number == 20866 ? 'R' : 'U');
		assert_true(code_page_find(number, set));
		assert_int_equal(code_page_named(name, set), !ebcdic);
		iconv_t cd = iconv_open("UTF-16LE", name);
		if (cd == (iconv_t)-1)
			continue;
		for (unsigned byte = ebcdic ? 0 : 128; byte < 256; byte++) {
			char in = (char)byte, *from = &in;
			unsigned char out[8] = {0};
			char *to = (char *)out;
			size_t left = 1, room = sizeof out;
			bool ok = iconv(cd, &from, &left, &to, &room) != (size_t)-1;
			iconv(cd, NULL, NULL, &to, &room); /* a letter that waited for its accent */
			assert_int_equal(set[byte], ok ? out[0] | out[1] << 8 : CODE_PAGE_NONE);
		}
		iconv_close(cd);
		n++;
	}
	assert_int_equal(n, 46);
	uint16_t one[256], other[256];
	assert_false(code_page_named("MS932", one));
	assert_false(code_page_named("UTF-8", one));
	assert_true(code_page_named("Cp1252", one) && code_page_named("windows-1252", other));
	assert_memory_equal(one, other, sizeof one);
}

/* Java 5 and 6: no thread object; 1.4.2: the thread's id is its object, loaders have shadows. */
static void older_vms(void **state)
{
	(void)state;
	static const char text[] =
	    "1CIJAVAVERSION J2RE 6.0 IBM J9 2.4 Windows XP x86-32 build jvmwi3260sr5\r\n"
	    "1TIDATETIME    Date:                 2010/01/12 at 14:11:29\r\n"
	    "3LKMONOBJECT       a/Queue@00CF8C90/00CF8C9C: Flat locked by \"main\" (0x000CBD00), entry "
	    "count 1\r\n"
	    "3XMTHREADINFO      \"main\" TID:0x000CBD00, j9thread_t:0x00295524, state:R, prio=5\r\n"
	    "3XMTHREADINFO      \"old\" (TID:0x2B1C08, sys_thread_t:0x1, state:XY, native ID:0x77) "
	    "prio=5\r\n"
	    "2CLTEXTCLLOADER\t\t-----ta- Loader a/L(0x00001000), Shadow 0x00ABC000, Parent "
	    "*none*(0x00000000)\r\n"
	    "2CLTEXTCLLOAD\t\tLoader a/L(0x00001000)\r\n"
	    "3CLTEXTCLASS\t\t\ta/B(0x00002000)\r\n";
	struct javacore *j = read_bytes(text, sizeof text - 1);
	assert_string_equal(j->date, "2010-01-12T14:11:29");
	assert_int_equal(j->word_bits, 32);
	assert_false(j->compressed_references);
	assert_int_equal(j->n_threads, 2);
	assert_int_equal(j->threads[0].object, 0);
	assert_int_equal(j->threads[0].vm_thread, 0xCBD00);
	assert_int_equal(j->threads[0].n_monitors, 1);
	assert_int_equal(j->threads[0].monitors[0].address, 0xCF8C90);
	assert_int_equal(j->threads[1].object, 0x2B1C08);
	assert_string_equal(j->threads[1].name, "old");
	assert_string_equal(j->threads[1].state, "XY");
	assert_int_equal(j->threads[1].native_id, 0x77);
	assert_int_equal(j->n_loaders, 1);
	assert_int_equal(j->loaders[0].address, 0xABC000);
	assert_int_equal(j->classes[0].loader, 0xABC000);
	javacore_close(j);
}

static void memory_is(const struct process_facts *p, size_t i, const char *name, unsigned deep, uint64_t bytes,
    uint64_t count)
{
	assert_true(i < p->n_memory);
	assert_string_equal(p->memory[i].name, name);
	assert_int_equal(p->memory[i].deep, deep);
	assert_int_equal(p->memory[i].bytes, bytes);
	assert_int_equal(p->memory[i].count, count);
}

static void native_memory(void **state)
{
	(void)state;
	static const char told[] = "0SECTION       NATIVEMEMINFO subcomponent dump routine\n0MEMUSER\n"
	    "1MEMUSER       JRE: 502,144,816 bytes / 2396 allocations\n1MEMUSER       |\n"
	    "2MEMUSER       +--VM: 228,411,152 bytes / 1,844 allocations\n2MEMUSER       |  |\n"
	    "3MEMUSER       |  +--Odd: name +--: 0 bytes / 0 allocations\n"
	    "9MEMUSER       |  |  |  |  |  |  |  |  |  |  |  |  |  |  |  |  |  +--Deep: 1 bytes / 1 allocation\n"
	    "3MEMUSER       |  +--No number: x bytes / 1 allocation\n"
	    "3MEMUSER       |  +--Too large: 99,999,999,999,999,999,999 bytes / 1 allocation\n"
	    "3MEMUSER       |  +--Nothing: bytes / 1 allocation\n"
	    "3MEMUSER       |  +--Cut: 5,416 bytes / 25\n"
	    "3MEMUSER       |  +--: 5 bytes / 25 allocations\n"
	    "3MEMUSER       bytes / : 7 allocations\n"
	    "3MEMUSER\n"
	    "2MEMUSER       +--JIT: 1 bytes / 1 allocation\n";
	struct javacore *j = read_bytes(told, sizeof told - 1);
	const struct process_facts *p = j->process;
	memory_is(p, 0, "JRE", 0, 502144816, 2396);
	memory_is(p, 1, "VM", 1, 228411152, 1844);
	memory_is(p, 2, "Odd: name +--", 2, 0, 0);
	memory_is(p, 3, "JIT", 1, 1, 1);
	assert_int_equal(p->n_memory, 4);
	javacore_close(j);
	for (size_t n = 8; n < sizeof told - 1; n++)
		javacore_close(read_bytes(told, n));
}

/* Cut anywhere, and with every byte once something else: damage is never fatal. */
static void damage(void **state)
{
	(void)state;
	for (size_t n = 8; n < sizeof sample - 1; n++)
		javacore_close(read_bytes(sample, n));
	char bytes[sizeof sample];
	memcpy(bytes, sample, sizeof sample);
	static const char odd[] = { '\n', '\0', '(', '"', '0', ' ' };
	for (size_t i = 16; i < sizeof sample - 1; i++) {
		bytes[i] = odd[i % sizeof odd];
		javacore_close(read_bytes(bytes, sizeof sample - 1));
		bytes[i] = sample[i];
	}
	/* A line longer than any is cut, and the next is read. */
	struct text t = TEXT_INIT;
	text_add(&t, "4XESTACKTRACE at ");
	for (unsigned i = 0; i < 200000; i++)
		text_add_char(&t, 'x');
	text_add(&t, "\n3XMTHREADINFO \"a\" TID:0x1, state:P\n");
	struct javacore *j = read_bytes(t.s, t.len);
	assert_int_equal(j->n_threads, 1);
	assert_string_equal(j->threads[0].state, "parked");
	javacore_close(j);
	text_release(&t);
}

/* ---- the real ones --------------------------------------------------------------------------- */

struct real {
	const char *dump, *date;
	unsigned word_bits;
	bool compressed;
	size_t loaders, classes, threads, thread_objects, frames;
};

static void real_files(void **state)
{
	(void)state;
	/* Threads: blocks in the file, the current one once; frames: its lines "at", likewise. */
	static const struct real files[] = {
		{ "heapdump.20100112.141124.11580.0002.phd", "2010-01-12T14:11:29", 32, false, 3, 411, 5,
		    0, 11 },
		{ "heapdump.20160404.083909.9480.0002.phd", "2016-04-04T08:39:09", 64, true, 5, 917, 19,
		    16, 30 },
	};
	const char *dumps = getenv("CAIRN_DUMPS");
	if (!dumps || !*dumps) {
		print_message("CAIRN_DUMPS is not set: the real javacores are not read\n");
		skip();
	}
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		const struct real *f = &files[i];
		char path[1024];
		snprintf(path, sizeof path, "%s/openj9/%s", dumps, f->dump);
		struct javacore *j = NULL;
		struct err err = ERR_INIT;
		assert_int_equal(javacore_open(&j, NULL, NULL, path, &err), 0);
		assert_non_null(j);
		assert_string_equal(j->date, f->date);
		assert_int_equal(j->word_bits, f->word_bits);
		assert_int_equal(j->compressed_references, f->compressed);
		assert_int_equal(j->n_loaders, f->loaders);
		assert_int_equal(j->n_classes, f->classes);
		assert_int_equal(j->n_threads, f->threads);
		size_t objects = 0, frames = 0;
		for (size_t k = 0; k < j->n_threads; k++) {
			objects += j->threads[k].object != 0;
			frames += j->threads[k].n_frames;
		}
		assert_int_equal(objects, f->thread_objects);
		assert_int_equal(frames, f->frames);
		assert_true(j->loaders[0].system);
		javacore_close(j);
	}
}

/* A message may have quotes of its own. */
static void short_causes(void **state)
{
	static const char *const cases[][2] = {
		{"Dump Event \"systhrow\" (00040000) Detail \"java/lang/OutOfMemoryError\" \"Java heap space\" received",
		    "OutOfMemoryError: Java heap space"},
		{"Dump Event \"uncaught\" (00008000) Detail \"java/lang/NullPointerException\" \"Cannot invoke "
		 "\"String.length()\" because \"<local1>\" is null\" received",
		    "NullPointerException: Cannot invoke \"String.length()\" because \"<local1>\" is null"},
		{"Dump Event \"throw\" (00000010) Detail \"java/lang/Error\" received", "Error"},
		{"Dump Event \"user\" (00004000) received", "event user"},
		{"something else", "something else"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct text got = TEXT_INIT;
		process_add_short_cause(cases[i][0], &got);
		assert_string_equal(got.s, cases[i][1]);
		text_release(&got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(refused),
		cmocka_unit_test(whole_sample),
		cmocka_unit_test(ebcdic_sample),
		cmocka_unit_test(glance),
		cmocka_unit_test(charsets),
		cmocka_unit_test(code_pages_as_iconv),
		cmocka_unit_test(older_vms),
		cmocka_unit_test(native_memory), cmocka_unit_test(damage),
		cmocka_unit_test(real_files),
		cmocka_unit_test(short_causes),
	};
	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
