/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_map.h - the mappings of a process, and which of their pages a copy of it has.
 *
 * As a core file of the kernel has them (core(5), coredump_filter), but for shared memory: private mappings that no
 * file has, those of files that the process has written to, and the first page of every file that is mapped from its
 * beginning, with the build id.  Pages that were never touched (/proc/PID/pagemap) are zeros, and not read.  The text
 * is untrusted.  One thread.
 */
#ifndef CAIRN_ATTACH_MEMORY_MAP_H
#define CAIRN_ATTACH_MEMORY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
	uint64_t begin, end, offset; /* bytes; offset of the file */
	const char *path;   /* of a file as it is called where the process runs; "[heap]"; "": none */
	bool readable, writable, executable, shared;
	bool left_out;      /* the program asked for that (madvise, MADV_DONTDUMP) */
	uint64_t resident;  /* bytes in memory or swapped out; UINT64_MAX: unknown */
	uint64_t copied;    /* bytes of it that are copied, from its beginning */
	uint64_t page;      /* the first of them, counted in the copy */
};

struct memory_map {
	struct mapping *list; /* in the order of addresses */
	size_t n, capacity;
	char *text;
	uint64_t page_size;
	bool any_large;     /* some mapping is so large that smaps should say what is resident of it */
	uint64_t too_sparse; /* bytes that are resident of mappings that are not copied, as they have hardly any pages */
	uint64_t pages;     /* of the copy */
	uint64_t to_read;   /* of these, those that are not zeros */
	uint64_t *touched;  /* a bit for each page of the copy: it has to be read */
	uint64_t words;     /* of touched */
};

/* Take over the text of maps or smaps.  Lines that are not understood are passed over. */
void memory_map_parse(struct memory_map *m, char *text, uint64_t page_size);
void memory_map_release(struct memory_map *m);
/* Leave out what was left out before: maps does not say it, only smaps. */
void memory_map_keep_left_out(struct memory_map *m, const struct memory_map *before);
/* Decide what is copied.  read: n entries of the pagemap from a page of the address space on; returns how many came;
 * where they do not, all of the page are read. */
typedef size_t memory_map_pages(void *context, uint64_t page, uint64_t *to, size_t n);
void memory_map_choose(struct memory_map *m, memory_map_pages *read, void *context);

/* The end of the pages from this one on, before `end`, that are touched as this one is. */
uint64_t memory_map_run(const struct memory_map *m, uint64_t page, uint64_t end);
static inline bool memory_map_touched(const struct memory_map *m, uint64_t page)
{
	return m->touched[page / 64] >> page % 64 & 1;
}
/* The mapping that a page of the copy is of. */
const struct mapping *memory_map_of_page(const struct memory_map *m, uint64_t page);
/* Is it of a file? */
bool mapping_has_file(const struct mapping *a);

#endif
