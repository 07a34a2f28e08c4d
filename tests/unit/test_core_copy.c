/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_core_copy.c - which pages of a process a copy has, by maps and a pagemap that are written here, and the headers
 * of the core file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/core_image.h"
#include "base/mem.h"

#define PRESENT (UINT64_C(1) << 63)
#define SWAPPED (UINT64_C(1) << 62)
#define OF_FILE (UINT64_C(1) << 61)

/* Pages that have an entry, by their numbers; all others have none. */
struct entry {
	uint64_t page, entry;
};
struct made {
	const struct entry *list;
	size_t n;
	uint64_t known; /* the pagemap ends there */
	unsigned asked;
};

static size_t read_made(void *context, uint64_t page, uint64_t *to, size_t n)
{
	struct made *m = context;

	m->asked++;
	if (page >= m->known)
		return 0;
	n = page + n > m->known ? (size_t)(m->known - page) : n;
	memset(to, 0, n * sizeof *to);
	for (size_t i = 0; i < m->n; i++)
		if (m->list[i].page >= page && m->list[i].page < page + n)
			to[m->list[i].page - page] = m->list[i].entry;
	return n;
}

static struct memory_map parsed(const char *text)
{
	struct memory_map m;
	memory_map_parse(&m, xstrdup(text), 4096);
	return m;
}

static void lines(void **state)
{
	struct memory_map m = parsed("00400000-00402000 r-xp 00001000 fe:00 1174596        /srv/my server\n"
	    "c000000000-c000400000 rw-p 00000000 00:00 0 \n"
	    "c000400000-c004000000 ---p 00000000 00:00 0\n"
	    "7f0000000000-7f0000001000 rw-s 00003000 00:05 77   /tmp/two\\012lines (deleted)\n"
	    "nonsense\n7f0000003000-7f0000002000 rw-p 00000000 00:00 0\n7f0000003000-7f0000004001 rw-p 00000000 00:00 0\n"
	    "00403000-00404000 rw-p 00000000 00:00 0\n7f0000005000-7f0000006000 rw 00000000 00:00 0\n"
	    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0    [vsyscall]");

	(void)state;
	assert_int_equal(m.n, 5); /* those that end before they begin, are no pages, or come again are passed over */
	assert_string_equal(m.list[0].path, "/srv/my server");
	assert_int_equal(m.list[0].begin, 0x400000);
	assert_int_equal(m.list[0].end, 0x402000);
	assert_int_equal(m.list[0].offset, 0x1000);
	assert_true(m.list[0].readable && !m.list[0].writable && m.list[0].executable && !m.list[0].shared);
	assert_string_equal(m.list[1].path, "");
	assert_true(m.list[1].readable && m.list[1].writable && !m.list[1].executable && !m.list[1].shared);
	assert_string_equal(m.list[2].path, "");
	assert_false(m.list[2].readable);
	assert_string_equal(m.list[3].path, "/tmp/two\nlines (deleted)");
	assert_true(m.list[3].shared);
	assert_string_equal(m.list[4].path, "[vsyscall]");
	assert_false(m.any_large);
	memory_map_release(&m);
	m = parsed("");
	assert_int_equal(m.n, 0);
	memory_map_choose(&m, read_made, &(struct made){.n = 0});
	assert_int_equal(m.pages, 0);
	memory_map_release(&m);
}

/* Name, what is copied of it in pages, and which of these are read: "x.x". */
struct expected {
	const char *line;
	unsigned copied;
	const char *read;
};

static const struct expected expected[] = {
	{"00100000-00103000 r-xp 00000000 fe:00 1  /srv/server", 1, "x"}, /* the ELF header */
	{"00103000-00105000 r--p 00003000 fe:00 1  /srv/server", 0, ""},
	{"00105000-00107000 r--p 00005000 fe:00 1  /srv/server", 2, "xx"}, /* relocated: page 0x105 was written to */
	{"00107000-00109000 rw-p 00007000 fe:00 1  /srv/server", 2, "xx"}, /* page 0x108, which is swapped out */
	{"00109000-0010b000 rw-p 00009000 fe:00 1  /srv/server", 0, ""},   /* its pages are the file's */
	{"0010b000-0010f000 rw-p 00000000 00:00 0", 4, ".xx."},
	{"0010f000-00111000 r--p 00000000 00:00 0", 2, ".."},
	{"00111000-00113000 ---p 00000000 00:00 0", 0, ""},
	{"00113000-00115000 -w-p 00000000 00:00 0", 0, ""},
	{"00115000-00117000 rw-s 00000000 00:05 9  /dev/zero (deleted)", 0, ""},
	{"00117000-00119000 rw-s 00000000 fe:00 9  /srv/data", 0, ""},
	{"00119000-0011b000 rw-p 00000000 00:06 9  /dev/dri/card0", 0, ""},
	{"0011b000-0011c000 rw-p 00000000 00:00 0  [heap]", 1, "."},
	{"0011c000-0011d000 rw-p 00000000 00:00 0  [anon: Go: heap]", 1, "x"},
	{"0011d000-0011f000 r--p 00000000 00:00 0  [vvar]", 0, ""},
	{"0011f000-00120000 r--p 00000000 00:00 0  [vvar_vclock]", 0, ""},
	{"00120000-00122000 r-xp 00000000 00:00 0  [vdso]", 2, "xx"}, /* not zeros until it is touched */
	{"00122000-00124000 rw-p 00000000 00:00 0  [stack]", 2, ".x"},
	{"00124000-00125000 --xp 00000000 00:00 0  [vsyscall]", 0, ""},
};
enum { EXPECTED = sizeof expected / sizeof *expected };
static const struct entry made[] = {
	{0x100, PRESENT | OF_FILE}, {0x103, PRESENT | OF_FILE}, {0x105, PRESENT}, {0x108, SWAPPED},
	{0x109, PRESENT | OF_FILE},
	{0x10c, PRESENT}, {0x10d, SWAPPED}, {0x111, PRESENT}, {0x113, PRESENT}, {0x115, PRESENT}, {0x119, PRESENT},
	{0x11c, PRESENT}, {0x11d, PRESENT}, {0x123, PRESENT},
};

static void check_map(const struct memory_map *m, const char *const *read, const unsigned *copied)
{
	uint64_t page = 0, all = 0;

	assert_int_equal(m->n, EXPECTED);
	for (size_t i = 0; i < EXPECTED; i++) {
		assert_int_equal(m->list[i].copied, copied[i] * 4096);
		assert_int_equal(m->list[i].page, page);
		for (unsigned k = 0; k < copied[i]; k++, page++) {
			assert_int_equal(memory_map_touched(m, page), read[i][k] == 'x');
			assert_ptr_equal(memory_map_of_page(m, page), &m->list[i]);
			all += read[i][k] == 'x';
		}
	}
	assert_int_equal(m->pages, page);
	assert_int_equal(m->to_read, all);
}

static char *all_lines(const char *more)
{
	struct text t = TEXT_INIT;
	for (size_t i = 0; i < EXPECTED; i++)
		text_addf(&t, "%s\n%s", expected[i].line, i == 5 ? more : "");
	return text_take(&t);
}

static void chosen(void **state)
{
	const char *read[EXPECTED];
	unsigned copied[EXPECTED];
	struct made pages = {made, sizeof made / sizeof *made, UINT64_MAX, 0};
	struct memory_map m, later;

	(void)state;
	for (size_t i = 0; i < EXPECTED; i++) {
		read[i] = expected[i].read;
		copied[i] = expected[i].copied;
	}
	memory_map_parse(&m, all_lines(""), 4096);
	memory_map_choose(&m, read_made, &pages);
	check_map(&m, read, copied);
	memory_map_release(&m);

	/* what smaps says of the mapping at 0x10b000 holds for maps later */
	copied[5] = 0;
	memory_map_parse(&m, all_lines("Size:     16 kB\nRss:      8 kB\nSwap:      4 kB\nVmFlags: rd wr mr dd ac\n"),
	    4096);
	assert_int_equal(m.list[5].resident, 12 << 10);
	assert_int_equal(m.list[6].resident, UINT64_MAX);
	memory_map_choose(&m, read_made, &pages);
	check_map(&m, read, copied);
	memory_map_parse(&later, all_lines(""), 4096);
	memory_map_keep_left_out(&later, &m);
	memory_map_choose(&later, read_made, &pages);
	check_map(&later, read, copied);
	memory_map_release(&later);
	memory_map_release(&m);

	/* without a pagemap all is read */
	struct made none = {NULL, 0, 0, 0};
	static const char *const each[EXPECTED] = {"x", "", "", "xx", "xx", "xxxx", "xx", "", "", "", "", "", "x", "x", "",
		"", "xx", "xx", ""};
	for (size_t i = 0; i < EXPECTED; i++)
		copied[i] = (unsigned)strlen(each[i]);
	memory_map_parse(&m, all_lines(""), 4096);
	memory_map_choose(&m, read_made, &none);
	check_map(&m, each, copied);
	memory_map_release(&m);
}

static void runs(void **state)
{
	static struct entry at[3000];
	struct made pages = {at, 0, UINT64_MAX, 0};
	struct memory_map m = parsed("10000000-20000000 rw-p 00000000 00:00 0\n");
	const uint64_t touched[][2] = {{3, 4}, {64, 192}, {200, 263}, {9000, 9001}, {32768, 34000}, {65535, 65536}};
	uint64_t page = 0;

	(void)state;
	for (size_t i = 0; i < 6; i++)
		for (uint64_t k = touched[i][0]; k < touched[i][1]; k++)
			at[pages.n++] = (struct entry){0x10000 + k, PRESENT};
	memory_map_choose(&m, read_made, &pages);
	assert_int_equal(m.pages, 65536);
	assert_int_equal(m.to_read, pages.n);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(memory_map_run(&m, page, m.pages), touched[i][0]);
		assert_int_equal(memory_map_run(&m, touched[i][0], m.pages), touched[i][1]);
		assert_int_equal(memory_map_run(&m, touched[i][0], touched[i][0] + 1), touched[i][0] + 1);
		page = touched[i][1];
	}
	memory_map_release(&m);
}

/* Addresses that are only reserved cost nothing. */
static void large(void **state)
{
	static const struct entry at[] = {{UINT64_C(0x7f000000000), PRESENT}};
	static const char text[] = "10000000000-20000000000 rw-p 00000000 00:00 0\nRss: 0 kB\nSwap: 0 kB\n"
	    "7f000000000000-7f800000000000 rw-p 00000000 00:00 0\nRss: 4 kB\nSwap: 0 kB\n"
	    "90000000000000-90000100000000 rw-p 00000000 00:00 0\nRss: 0 kB\n";
	struct made pages = {at, 1, UINT64_MAX, 0};
	struct memory_map m = parsed(text);

	(void)state;
	assert_true(m.any_large);
	memory_map_choose(&m, read_made, &pages);
	assert_int_equal(m.list[0].copied, 0);
	assert_int_equal(m.list[1].copied, 0);
	assert_int_equal(m.too_sparse, 4096);
	assert_int_equal(m.list[2].copied, UINT64_C(1) << 32); /* 4 GB of zeros */
	assert_int_equal(m.pages, 1 << 20);
	assert_int_equal(m.to_read, 0);
	assert_int_equal(pages.asked, (1 << 20) / 8192);
	memory_map_release(&m);
}

/* --- headers ------------------------------------------------------------------------------------- */

static struct text head_of(struct memory_map *m, uint64_t size)
{
	char name[] = "x";
	const struct vm_process p = {.pid = 1, .inner_pid = 1, .name = name};
	const struct ptrace_stop stop = {.vm = &p, .process = -1};
	struct text t = TEXT_INIT;
	const struct core_target target = {.machine = EM_AARCH64, .flags = 7};
	assert_int_equal(core_image_head(&t, &target, &stop, m, size, NULL), 0);
	return t;
}

static void headers(void **state)
{
	struct made pages = {made, sizeof made / sizeof *made, UINT64_MAX, 0};
	struct memory_map m;
	Elf64_Ehdr h;
	Elf64_Phdr p;

	(void)state;
	memory_map_parse(&m, all_lines(""), 4096);
	memory_map_choose(&m, read_made, &pages);
	uint64_t size = core_image_head_size(&m, 5);
	struct text t = head_of(&m, size);
	assert_int_equal(t.len, size);
	assert_int_equal(size % CORE_HEAD_UNIT, 0);
	memcpy(&h, t.s, sizeof h);
	assert_memory_equal(h.e_ident, ELFMAG, SELFMAG);
	assert_int_equal(h.e_type, ET_CORE);
	assert_int_equal(h.e_machine, EM_AARCH64);
	assert_int_equal(h.e_flags, 7);
	assert_int_equal(h.e_phnum, EXPECTED + 1);
	assert_int_equal(h.e_shnum, 0);
	memcpy(&p, t.s + h.e_phoff, sizeof p);
	assert_int_equal(p.p_type, PT_NOTE);
	assert_int_equal(p.p_offset, h.e_phoff + h.e_phnum * sizeof p);
	for (size_t i = 0; i < EXPECTED; i++) {
		memcpy(&p, t.s + h.e_phoff + (i + 1) * sizeof p, sizeof p);
		assert_int_equal(p.p_type, PT_LOAD);
		assert_int_equal(p.p_vaddr, m.list[i].begin);
		assert_int_equal(p.p_filesz, expected[i].copied * 4096);
		assert_int_equal(p.p_memsz, m.list[i].end - m.list[i].begin);
		assert_int_equal(p.p_offset, size + m.list[i].page * 4096);
	}
	assert_int_equal(p.p_flags, PF_X);
	text_release(&t);
	t = head_of(&m, 0); /* more than was expected */
	assert_int_equal(t.len, CORE_HEAD_UNIT);
	text_release(&t);
	memory_map_release(&m);
}

/* 65,535 program headers and more: their number is elsewhere. */
static void many(void **state)
{
	const unsigned n[] = {65533, 65534, 70000};
	Elf64_Ehdr h;
	Elf64_Phdr p;
	Elf64_Shdr s;

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		struct text lines = TEXT_INIT;
		struct memory_map m;
		for (uint64_t i = 0; i < n[k]; i++)
			text_addf(&lines, "%" PRIx64 "-%" PRIx64 " rw-p 00000000 00:00 0\n", (2 * i + 1) << 12, (2 * i + 2) << 12);
		memory_map_parse(&m, text_take(&lines), 4096);
		struct made pages = {NULL, 0, UINT64_MAX, 0};
		memory_map_choose(&m, read_made, &pages);
		struct text t = head_of(&m, core_image_head_size(&m, 1));
		memcpy(&h, t.s, sizeof h);
		memcpy(&p, t.s + h.e_phoff, sizeof p);
		assert_int_equal(h.e_phnum, k ? PN_XNUM : n[k] + 1);
		assert_int_equal(h.e_shnum, k ? 1 : 0);
		if (k) {
			memcpy(&s, t.s + h.e_shoff, sizeof s);
			assert_int_equal(s.sh_info, n[k] + 1);
			assert_int_equal(h.e_shentsize, sizeof s);
			assert_int_equal(h.e_shoff, h.e_phoff + (n[k] + 1) * sizeof p);
		}
		assert_int_equal(p.p_offset, sizeof h + (n[k] + 1) * sizeof p + (k ? sizeof s : 0));
		memcpy(&p, t.s + h.e_phoff + n[k] * sizeof p, sizeof p); /* the last */
		assert_int_equal(p.p_offset, t.len + (n[k] - 1) * UINT64_C(4096));
		text_release(&t);
		memory_map_release(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(chosen),
		cmocka_unit_test(runs),
		cmocka_unit_test(large),
		cmocka_unit_test(headers),
		cmocka_unit_test(many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
