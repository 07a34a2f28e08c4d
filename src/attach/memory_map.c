/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory_map.c - see memory_map.h. */
#include "attach/memory_map.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Entries of the pagemap (Documentation/admin-guide/mm/pagemap.rst). */
#define PAGE_PRESENT (UINT64_C(1) << 63)
#define PAGE_SWAPPED (UINT64_C(1) << 62)
#define PAGE_OF_FILE (UINT64_C(1) << 61)
/* Mappings of so many bytes without any page are addresses that are reserved.  Of others even zeros would take memory,
 * unless they have a page in so many. */
#define LARGE (UINT64_C(1) << 34)
#define TOO_LARGE (UINT64_C(1) << 38)

enum { PAGES_AT_ONCE = 8192, SPARSE_PART = 256 };

/* --- text -------------------------------------------------------------------------------------- */

/* "\012" as the kernel writes a newline. */
static void unescape(char *s)
{
	char *to = s;
	for (; *s; s++, to++) {
		bool is = !strncmp(s, "\\012", 4);
		*to = is ? '\n' : *s;
		s += is ? 3 : 0;
	}
	*to = '\0';
}

/* "c000000000-c000400000 rw-p 00000000 00:00 0    PATH" */
static bool parse_line(char *line, struct mapping *to)
{
	int path = 0;
	char may[5];

	*to = (struct mapping){ .path = "", .resident = UINT64_MAX };
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &to->begin, &to->end, may, &to->offset,
	        &path) < 4 || to->begin >= to->end || strlen(may) != 4)
		return false;
	to->readable = may[0] == 'r';
	to->writable = may[1] == 'w';
	to->executable = may[2] == 'x';
	to->shared = may[3] == 's';
	if (path) {
		unescape(line + path);
		to->path = line + path;
	}
	return true;
}

void memory_map_parse(struct memory_map *m, char *text, uint64_t page_size)
{
	*m = (struct memory_map){ .text = text, .page_size = page_size };
	for (char *line = text, *next; line && *line; line = next) {
		struct mapping a;
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		struct mapping *last = m->n ? &m->list[m->n - 1] : NULL;
		if (last && !strncmp(line, "VmFlags:", 8))
			last->left_out = strstr(line, " dd") || strstr(line, " pf"); /* pf: of a device */
		else if (last && !strncmp(line, "Rss:", 4))
			last->resident = strtoull(line + 4, NULL, 10) << 10;
		else if (last && !strncmp(line, "Swap:", 5))
			last->resident += strtoull(line + 5, NULL, 10) << 10;
		else if (parse_line(line, &a) && a.begin % page_size == 0 && a.end % page_size == 0 &&
		    (!m->n || m->list[m->n - 1].end <= a.begin))
			VEC_PUSH(m->list, m->n, m->capacity) = a;
		else
			continue;
		m->any_large = m->any_large || (m->list[m->n - 1].end - m->list[m->n - 1].begin >= LARGE &&
		    m->list[m->n - 1].readable);
	}
}

void memory_map_release(struct memory_map *m)
{
	free(m->list);
	free(m->text);
	free(m->touched);
	*m = (struct memory_map){ 0 };
}

void memory_map_keep_left_out(struct memory_map *m, const struct memory_map *before)
{
	for (size_t i = 0, k = 0; i < m->n; i++) {
		struct mapping *a = &m->list[i];
		while (k < before->n && before->list[k].end <= a->begin)
			k++;
		a->left_out = k < before->n && before->list[k].left_out && before->list[k].begin < a->end;
	}
}

/* --- what is copied ---------------------------------------------------------------------------- */

bool mapping_has_file(const struct mapping *a)
{
	return *a->path == '/';
}

/* Room for n pages more, not touched. */
static void make_room(struct memory_map *m, uint64_t n)
{
	uint64_t need = (m->pages + n + 63) / 64, had = m->words;

	if (need <= had)
		return;
	m->words = need > 2 * had ? need : 2 * had;
	m->touched = xrealloc(m->touched, m->words, sizeof *m->touched);
	memset(m->touched + had, 0, (m->words - had) * sizeof *m->touched);
}

static void append_page(struct memory_map *m, bool touched)
{
	m->touched[m->pages / 64] |= (uint64_t)touched << m->pages % 64;
	m->pages++;
	m->to_read += touched;
}

static bool has_none(const uint64_t *entry, size_t n)
{
	uint64_t any = 0;
	for (size_t i = 0; i < n; i++)
		any |= entry[i];
	return !(any & (PAGE_PRESENT | PAGE_SWAPPED));
}

static void drop_pages(struct memory_map *m, uint64_t from)
{
	while (m->pages > from) {
		uint64_t page = --m->pages, bit = UINT64_C(1) << page % 64;
		m->to_read -= (m->touched[page / 64] & bit) != 0;
		m->touched[page / 64] &= ~bit;
	}
}

/* Are its pages zeros until they are touched?  Those of a file or of [vdso] are not. */
static bool begins_as_zeros(const struct mapping *a)
{
	return !*a->path || !strncmp(a->path, "[heap", 5) || !strncmp(a->path, "[stack", 6) ||
	    !strncmp(a->path, "[anon:", 6);
}

/* Append its pages.  False: it is of a file, and no page was written to. */
static bool append_pages(struct memory_map *m, const struct mapping *a, memory_map_pages *read, void *context)
{
	static _Thread_local uint64_t entry[PAGES_AT_ONCE];
	uint64_t page = a->begin / m->page_size, end = a->end / m->page_size;
	bool own = false, file = mapping_has_file(a), zeros = begins_as_zeros(a);

	while (page < end) {
		size_t n = end - page < PAGES_AT_ONCE ? (size_t)(end - page) : PAGES_AT_ONCE;
		size_t came = read(context, page, entry, n);
		page += n;
		make_room(m, n);
		if (zeros && came == n && has_none(entry, n)) {
			m->pages += n;
			continue;
		}
		for (size_t i = 0; i < n; i++) {
			bool has = i >= came || entry[i] & (PAGE_PRESENT | PAGE_SWAPPED);
			own = own || (i >= came ? !file || a->writable : has && !(file && entry[i] & PAGE_OF_FILE));
			append_page(m, has || !zeros);
		}
	}
	return own;
}

static bool is_of_kernel(const struct mapping *a)
{
	return !strncmp(a->path, "[vvar", 5) || !strncmp(a->path, "[vsyscall", 9) || !strncmp(a->path, "/dev/", 5);
}

void memory_map_choose(struct memory_map *m, memory_map_pages *read, void *context)
{
	for (size_t i = 0; i < m->n; i++) {
		struct mapping *a = &m->list[i];
		uint64_t size = a->end - a->begin;
		bool file = mapping_has_file(a);
		bool too_sparse = size >= TOO_LARGE && a->resident < size / SPARSE_PART;
		a->page = m->pages;
		if (a->shared || !a->readable || a->left_out || is_of_kernel(a) || (size >= LARGE && !a->resident))
			continue;
		m->too_sparse += too_sparse ? a->resident : 0;
		bool own = !too_sparse && append_pages(m, a, read, context);
		a->copied = own || (!file && !too_sparse) ? size : file && !a->offset ? m->page_size : 0;
		drop_pages(m, a->page + a->copied / m->page_size);
	}
}

uint64_t memory_map_run(const struct memory_map *m, uint64_t page, uint64_t end)
{
	bool touched = memory_map_touched(m, page);
	uint64_t same = touched ? UINT64_MAX : 0;

	while (page < end && memory_map_touched(m, page) == touched)
		page += page % 64 == 0 && end - page >= 64 && m->touched[page / 64] == same ? 64 : 1;
	return page;
}

const struct mapping *memory_map_of_page(const struct memory_map *m, uint64_t page)
{
	size_t from = 0, to = m->n;

	while (to - from > 1) { /* those of which nothing is copied begin where the next does */
		size_t middle = from + (to - from) / 2;
		if (m->list[middle].page <= page)
			from = middle;
		else
			to = middle;
	}
	return &m->list[from];
}
