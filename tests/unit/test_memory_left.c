/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_memory_left.c - machines and control groups, made as trees of files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/memory_left.h"

#define MB UINT64_C(1048576)
#define NONE MEMORY_NO_BOUND

static char top[256], proc[300];

static int begin(void **state)
{
	(void)state;
	const char *tmp = getenv("TMPDIR");
	snprintf(top, sizeof top, "%s/cairn-test-XXXXXX", tmp && strlen(tmp) < 200 ? tmp : "/tmp");
	if (!mkdtemp(top))
		return -1;
	snprintf(proc, sizeof proc, "%s/proc", top);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st, (void)kind, (void)where;
	return remove(path);
}

static int end(void **state)
{
	(void)state;
	return nftw(top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* A file below top, with the folders that lead to it. */
static void put(const char *name, const char *text)
{
	char path[600];
	snprintf(path, sizeof path, "%s/%s", top, name);
	for (char *slash = path + strlen(top) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* The process's groups, and one mount of their hierarchy at top/name. */
static void groups(const char *cgroup, const char *root, const char *name, const char *type)
{
	char line[900];
	snprintf(line, sizeof line, "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n31 22 0:28 %s %s/%s rw,nosuid shared:4 - %s\n",
	    root, top, name, type);
	put("proc/self/mountinfo", line);
	put("proc/self/cgroup", cgroup);
}

static void is(uint64_t bytes, const char *whose)
{
	struct memory_left left = memory_left(proc, NONE, NONE);
	assert_int_equal(left.bytes, bytes);
	assert_string_equal(left.whose, whose);
}

static void machines(void **state)
{
	(void)state;
	is(NONE, "nobody"); /* no /proc at all */
	put("proc/meminfo", "MemTotal:  24684092 kB\nMemFree:  100 kB\nMemAvailable:    2048 kB\n");
	is(2 * MB, "this machine");
	put("proc/meminfo", "MemTotal:  24684092 kB\nMemAvailableNot:    2048 kB\n");
	is(NONE, "nobody");
	put("proc/meminfo", "MemAvailable: much\n");
	is(NONE, "nobody");
	put("proc/meminfo", "MemAvailable: 99999999999999999999 kB\n");
	is(NONE, "nobody");
	put("proc/meminfo", "MemAvailable: 4194304 kB\n");
}

static void second_version(void **state)
{
	(void)state;
	groups("0::/a/b c\n", "/", "unified", "cgroup2 cgroup2 rw");
	is(4096 * MB, "this machine"); /* groups without files */
	put("unified/a/b c/memory.max", "max\n");
	put("unified/a/b c/memory.high", "max\n");
	put("unified/a/b c/memory.current", "1048576\n");
	is(4096 * MB, "this machine");
	put("unified/a/memory.max", "104857600\n"); /* an ancestor's: 100 MB */
	put("unified/a/memory.current", "41943040\n");
	is(60 * MB, "its control group");
	put("unified/a/memory.stat", "anon 5\nactive_file 1048576\ninactive_file_not 7\ninactive_file 2097152\n");
	is(63 * MB, "its control group");
	put("unified/a/b c/memory.high", "11534336\n"); /* the group's own: 11 MB, 1 in use */
	is(10 * MB, "its control group");
	put("unified/a/b c/memory.current", "12582912\n"); /* more than that */
	is(0, "its control group");
	put("unified/a/b c/memory.stat", "active_file 20971520\n"); /* more file pages than are in use */
	is(11 * MB, "its control group");
	put("unified/memory.max", "5242880\n"); /* the mount itself */
	put("unified/memory.current", "0\n");
	is(5 * MB, "its control group");
	/* nothing above the mount is asked */
	put("memory.max", "1\n");
	put("memory.current", "0\n");
	is(5 * MB, "its control group");
}

static void within_containers(void **state)
{
	(void)state;
	put("box/memory.max", "8388608\n");
	put("box/memory.current", "1048576\n");
	put("box/in/memory.max", "3145728\n");
	put("box/in/memory.current", "1048576\n");
	groups("0::/docker/7/in\n", "/docker/7", "box", "cgroup2 cgroup2 rw");
	is(2 * MB, "its control group");
	groups("0::/docker/7\n", "/docker/7", "box", "cgroup2 cgroup2 rw");
	is(7 * MB, "its control group");
	groups("0::/docker/77/in\n", "/docker/7", "box", "cgroup2 cgroup2 rw"); /* not below the root */
	is(7 * MB, "its control group");
	groups("0::/../in\n", "/", "box", "cgroup2 cgroup2 rw");
	is(7 * MB, "its control group");
	put("b x/memory.max", "6291456\n");
	put("b x/memory.current", "0\n");
	groups("0::/\n", "/", "b\\040x", "cgroup2 cgroup2 rw");
	is(6 * MB, "its control group");
}

static void first_version(void **state)
{
	(void)state;
	put("mem/g/memory.limit_in_bytes", "9437184\n");
	put("mem/g/memory.usage_in_bytes", "4194304\n");
	put("mem/memory.limit_in_bytes", "9223372036854771712\n"); /* none */
	put("mem/memory.usage_in_bytes", "4194304\n");
	groups("5:cpu,memory:/g\n1:name=memory:/no\n0::/\n", "/", "mem", "cgroup cgroup rw,cpu,memory");
	is(5 * MB, "its control group");
	put("mem/g/memory.stat", "cache 9\ninactive_file 9437184\n"
	    "total_inactive_file 1048576\ntotal_active_file 1048576\n");
	is(7 * MB, "its control group");
	groups("5:cpu:/g\n4:memory:/other\n", "/", "mem", "cgroup cgroup rw,cpu,memory");
	is(4096 * MB, "this machine");
	groups("4:memory:/g\n", "/", "mem", "cgroup cgroup rw,cpu");
	is(4096 * MB, "this machine");
	groups("without colons\n:\n4:memory\n", "/", "mem", "cgroup cgroup rw,memory");
	is(4096 * MB, "this machine");
}

static void limits_of_processes(void **state)
{
	char statm[100];
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	(void)state;
	assert_int_equal(memory_left(proc, 100 * MB, NONE).bytes, 4096 * MB); /* no statm */
	snprintf(statm, sizeof statm, "%d 30 20 10 0 %d 0\n", 1000, 200);
	put("proc/self/statm", statm);
	struct memory_left left = memory_left(proc, 100 * MB, NONE);
	assert_int_equal(left.bytes, 100 * MB - 1000 * page);
	assert_string_equal(left.whose, "ulimit -v");
	left = memory_left(proc, 100 * MB, 50 * MB);
	assert_int_equal(left.bytes, 50 * MB - 200 * page);
	assert_string_equal(left.whose, "ulimit -d");
	assert_int_equal(memory_left(proc, 1, NONE).bytes, 0);
	assert_int_equal(memory_left(proc, NONE, NONE).bytes, 4096 * MB);
}

static void this_process(void **state)
{
	(void)state;
	struct memory_left left = memory_left_now();
	assert_true(left.bytes > 0);
	assert_non_null(left.whose);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines), cmocka_unit_test(second_version),
		cmocka_unit_test(within_containers), cmocka_unit_test(first_version),
		cmocka_unit_test(limits_of_processes), cmocka_unit_test(this_process),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
