/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * big_bytes.c - the bytes of a block many at once: asked ahead of the kernel, and read and written without pages where
 * the block lives in the file.  Without it `top` in a small control group may take 1.15 times the processor time.
 */
#include "memory/big.h"

#include "memory/mappings.h"
#include "memory/spill.h"

#include <string.h>
#include <sys/mman.h>

void big_touch(void *p, uint64_t count, uint64_t size)
{
#ifdef MADV_POPULATE_WRITE
	uintptr_t page = (uintptr_t)mapping_page();
	uintptr_t begin = (uintptr_t)p & ~(page - 1), end = (uintptr_t)p + count * size;
	/* a wish: a kernel before 5.14 does not know it */
	if (count)
		madvise((void *)begin, ((end + page - 1) & ~(page - 1)) - begin, MADV_POPULATE_WRITE);
#else
	(void)p, (void)count, (void)size;
#endif
}

void big_write(void *p, uint64_t at, const void *from, uint64_t bytes)
{
	const struct mapping *m = mapping_find(p);

	if (!m || m->owner != BIG_SPILLED || !spill_write(m->offset + at, from, bytes))
		memcpy((char *)p + at, from, bytes);
}

void big_read(void *to, const void *p, uint64_t at, uint64_t bytes)
{
	const struct mapping *m = mapping_find(p);

	if (!m || m->owner != BIG_SPILLED || !spill_read(to, m->offset + at, bytes))
		memcpy(to, (const char *)p + at, bytes);
}

const void *big_look(const void *p, uint64_t at, uint64_t bytes, void *room)
{
	if (big_owner(p) != BIG_SPILLED)
		return (const char *)p + at;
	big_read(room, p, at, bytes);
	return room;
}

void big_fetch(const void *p, uint64_t bytes)
{
#ifdef MADV_POPULATE_READ
	uintptr_t page = (uintptr_t)mapping_page();
	uintptr_t begin = (uintptr_t)p & ~(page - 1), end = (uintptr_t)p + bytes;
	if (bytes >= page)
		madvise((void *)begin, ((end + page - 1) & ~(page - 1)) - begin, MADV_POPULATE_READ);
#else
	(void)p, (void)bytes;
#endif
}
