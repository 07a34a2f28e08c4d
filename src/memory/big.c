/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * big.c - blocks of malloc and of mapped pages, their sum and its limit.
 *
 * A small block has its size in front of it.  A large block is a mapping, which begins at a page
 * and has no room in front; what is known of it stands in a table by address, which is looked at
 * only when a block is made, grown, freed or asked about.  A block that is not in the table is a
 * small one.
 */
#include "memory/big.h"

#include "base/emergency_reserve.h"
#include "base/mem.h"
#include "base/memory_limit.h"
#include "memory/cold_blocks.h"
#include "memory/guarded_alloc.h"
#include "memory/mappings.h"
#include "memory/sigbus_guard.h"
#include "memory/spill.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if CAIRN_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

/* Where malloc, too, begins to map pages; exact blocks are all malloc's. */
#define PAGES_FROM (CAIRN_EXACT ? UINT64_MAX : (uint64_t)128 << 10)

#define SPILL_FROM ((uint64_t)128 << 10) /* smaller blocks stay in memory */
/* Of the limit, what blocks that may live in the file leave to the file's pages, for in a control group these count as
 * well, and to blocks that may not. */
#define KEPT_PERCENT 70
#define HELD_AT_ONCE ((uint64_t)4 << 20)
#define KEPT_BESIDE_HELD_PERCENT 5 /* the same for big_hold */

/* --- the sum and its limit --------------------------------------------------------------------- */

uint64_t big_in_use(void)
{
	return memory_limit_in_use();
}

uint64_t big_peak(void)
{
	return memory_limit_peak();
}

uint64_t big_spilled(void)
{
	return spill_bytes();
}

void big_set_limit(uint64_t bytes, const char *whose)
{
	memory_limit_set(bytes, whose);
}

int big_refused(uint64_t count, uint64_t size, struct err *err)
{
	char sentence[MEM_SENTENCE];
	uint64_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return err_set(err, ERR_NOMEM,
		    "memory: the system refuses %" PRIu64 " times %" PRIu64 " bytes", count, size);
	mem_refusal(bytes, sentence);
	return err_set(err, ERR_NOMEM, "%s", sentence);
}

static void moved(struct cold_blocks *s);
static void *instead_of_memory(uint64_t bytes, struct err *err);
static void *held_pages(uint64_t bytes);

/* Count bytes that must be memory: for them settled blocks move out. */
static int reserve(uint64_t bytes, struct err *err)
{
	char why[300];

	while (!memory_limit_take(bytes, 0, why, sizeof why))
		if (!cold_blocks_move_out(bytes, 0, moved))
			return err_set(err, ERR_NOMEM, "%s", why);
	return 0;
}

/* The same for a block that may live in the file as well: it leaves some memory to what may not, and to
 * the pages of the file. */
static bool reserve_if_room(uint64_t bytes, unsigned kept_percent)
{
	uint64_t kept = memory_limit_bytes() / 100 * kept_percent;

	while (!memory_limit_take(bytes, kept, NULL, 0))
		if (!cold_blocks_move_out(bytes, kept, moved))
			return false;
	return true;
}

static void unreserve(uint64_t bytes)
{
	memory_limit_give_back(bytes);
}

/* --- small blocks ------------------------------------------------------------------------------ */

struct header {
	uint64_t bytes; /* that were asked for */
	enum big_use use;
	uint32_t unused;
};

static struct header *header_of(const void *p)
{
	return (struct header *)((uintptr_t)p - sizeof(struct header));
}

/* One byte at least, so that what is handed out lies within what malloc gave: leak checkers look there. */
static size_t with_header(uint64_t bytes)
{
	return sizeof(struct header) + (bytes ? bytes : 1);
}

/* Nobody may touch the byte of an empty block. */
static void guard_empty(struct header *h)
{
#if CAIRN_ADDRESS_SANITIZER
	if (!h->bytes)
		__asan_poison_memory_region(h + 1, 1);
#else
	(void)h;
#endif
}

#if CAIRN_ADDRESS_SANITIZER
/* Like the system's own, the sanitizer's malloc refuses what is too large instead of ending the program. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}
#endif

static void *small_new(uint64_t bytes)
{
	struct header *h = calloc(1, with_header(bytes));

	if (!h)
		return NULL;
	h->bytes = bytes;
	guard_empty(h);
	return h + 1;
}

/* A large one there is only where all blocks are malloc's. */
static void *small_to_file(void *old, uint64_t bytes, struct err *err)
{
	void *p = instead_of_memory(bytes, err);

	if (!p)
		return NULL;
	memcpy(p, old, header_of(old)->bytes);
	big_hint(p, header_of(old)->use);
	big_free(old);
	return p;
}

static void *small_resize(void *old, uint64_t bytes, struct err *err)
{
	uint64_t was = header_of(old)->bytes;

	if (bytes > was && bytes >= SPILL_FROM && spill_allowed()) {
		if (!reserve_if_room(bytes - was, KEPT_PERCENT))
			return small_to_file(old, bytes, err);
	} else if (bytes > was && reserve(bytes - was, err) < 0) {
		return NULL;
	}
	struct header *h = realloc(header_of(old), with_header(bytes));
	if (!h) {
		if (bytes > was)
			unreserve(bytes - was);
		big_refused(bytes, 1, err);
		return NULL;
	}
	if (bytes > was)
		memset((char *)(h + 1) + was, 0, bytes - was);
	else
		unreserve(was - bytes);
	h->bytes = bytes;
	guard_empty(h);
	return h + 1;
}

/* --- mappings ---------------------------------------------------------------------------------- */

/* New pages at a multiple of a huge page's size, so that all of them can be huge; or anywhere. */
static void *map_pages(uint64_t bytes, int access, int flags, int fd, uint64_t offset)
{
	uint64_t more = flags & MAP_ANONYMOUS && bytes >= BIG_HUGE_PAGE ? BIG_HUGE_PAGE : 0;
	char *at = mmap(NULL, bytes + more, access, flags, fd, (off_t)offset);

	if (at == MAP_FAILED && more) /* addresses may be scarce */
		return mmap(NULL, bytes, access, flags, fd, (off_t)offset);
	if (at == MAP_FAILED || !more)
		return at;
	uint64_t head = -(uint64_t)(uintptr_t)at & (BIG_HUGE_PAGE - 1);
	if (head)
		munmap(at, head);
	if (head < more)
		munmap(at + head + bytes, more - head);
	return at + head;
}

/* A new mapping. */
static void *map(uint64_t bytes, enum big_owner owner, int fd, uint64_t offset, struct err *err)
{
	struct mapping *m = calloc(1, sizeof *m);
	int access = owner == BIG_MAPPED ? PROT_READ : PROT_READ | PROT_WRITE;
	int flags = owner == BIG_SPILLED ? MAP_SHARED : MAP_PRIVATE;

	if (owner == BIG_ANONYMOUS)
		flags |= MAP_ANONYMOUS;
	void *at = m ? map_pages(whole_pages(bytes), access, flags, fd, offset) : MAP_FAILED;
	if (at != MAP_FAILED)
		*m = (struct mapping){.at = at, .bytes = bytes, .owner = owner, .offset = offset};
	if (at == MAP_FAILED) {
		free(m);
		big_refused(bytes, 1, err);
		return NULL;
	}
	mapping_enter(m);
	mapping_told(m, true);
	mapping_advise(m);
	return at;
}

/* A new block in the file.  ERR_IO: there is no room, and the sentence for it. */
static void *map_spilled(uint64_t bytes, struct err *err)
{
	uint64_t offset;
	int fd;

	if (spill_take(whole_pages(bytes), &fd, &offset, err) < 0)
		return NULL;
	void *p = map(bytes, BIG_SPILLED, fd, offset, err);
	if (!p)
		spill_give_back(offset, whole_pages(bytes));
	return p;
}

/* The same for somebody who asked for memory: then it is that which lacks.  Where there is no file, or no room in it,
 * what was left to its pages is memory as well.  Where the system has no addresses for it, the limit says how much
 * would do. */
static void *instead_of_memory(uint64_t bytes, struct err *err)
{
	struct err own = ERR_INIT;
	void *p = map_spilled(bytes, &own);

	if (!p && own.code == ERR_IO && bytes >= PAGES_FROM)
		p = held_pages(bytes);
	if (p)
		return p;
	if (own.code == ERR_IO)
		err_set(err, ERR_NOMEM, "%s", own.message);
	else if (reserve(bytes, err) == 0) {
		unreserve(bytes);
		err_set(err, ERR_NOMEM, "%s", own.message);
	}
	return NULL;
}

/* --- settled blocks ---------------------------------------------------------------------------- */

static void moved(struct cold_blocks *s)
{
	struct mapping *m = mapping_find(s->at);

	m->owner = BIG_SPILLED;
	m->offset = s->offset;
	mapping_advise(m);
	unreserve(s->bytes);
}

void big_settle(void *p)
{
	struct mapping *m = p ? mapping_find(p) : NULL;

	if (m && m->owner == BIG_ANONYMOUS)
		cold_blocks_enter(&m->settled, m->at, whole_pages(m->bytes));
}

static void mapping_free(struct mapping *m)
{
	uint64_t whole = whole_pages(m->bytes);

	cold_blocks_leave(&m->settled);
	mapping_told(m, false);
	mapping_leave(m);
	sigbus_guard_forget(m->watch);
	munmap(m->at, whole);
	if (m->owner == BIG_ANONYMOUS)
		unreserve(whole);
	else if (m->owner == BIG_SPILLED)
		spill_give_back(m->offset, whole);
	free(m);
}

/* Zeroed memory although little else is left of the limit; or NULL. */
static void *held_pages(uint64_t bytes)
{
	if (!reserve_if_room(whole_pages(bytes), KEPT_BESIDE_HELD_PERCENT))
		return NULL;
	void *p = map(bytes, BIG_ANONYMOUS, -1, 0, NULL);
	if (!p)
		unreserve(whole_pages(bytes));
	return p;
}

void *big_hold(void *p)
{
	struct mapping *m = p ? mapping_find(p) : NULL;

	if (!m || m->owner != BIG_SPILLED)
		return p;
	uint64_t bytes = m->bytes;
	void *held = held_pages(bytes);
	if (!held)
		return p;
	madvise(p, bytes, MADV_NORMAL);
	for (uint64_t at = 0, n; at < bytes; at += n) {
		n = bytes - at < HELD_AT_ONCE ? bytes - at : HELD_AT_ONCE;
		madvise((char *)p + at, n, MADV_WILLNEED);
		memcpy((char *)held + at, (char *)p + at, n);
		madvise((char *)p + at, n, MADV_DONTNEED); /* it stays in the file */
	}
	mapping_free(m);
	return held;
}

/* --- growing and shrinking --------------------------------------------------------------------- */

/* A block of memory that is to live in the file from now on, or one there that moves to where there is more room. */
static void *to_file(struct mapping *m, uint64_t bytes, struct err *err)
{
	void *p = instead_of_memory(bytes, err);

	if (!p)
		return NULL;
	memcpy(p, m->at, m->bytes < bytes ? m->bytes : bytes);
	big_hint(p, m->use);
	mapping_free(m);
	return p;
}

static void *spilled_resize(struct mapping *m, uint64_t bytes, struct err *err)
{
	uint64_t old_whole = whole_pages(m->bytes), whole = whole_pages(bytes);

	if (whole > old_whole)
		return to_file(m, bytes, err);
	mapping_told(m, false);
	if (whole < old_whole) {
		munmap((char *)m->at + whole, old_whole - whole);
		spill_give_back(m->offset + whole, old_whole - whole);
	}
	m->bytes = bytes;
	mapping_told(m, true);
	return m->at;
}

static void *shrunk(const struct mapping *m, uint64_t old_whole, uint64_t whole)
{
	return munmap((char *)m->at + whole, old_whole - whole) == 0 ? m->at : MAP_FAILED;
}

static void *anonymous_resize(struct mapping *m, uint64_t bytes, struct err *err)
{
	uint64_t old_whole = whole_pages(m->bytes), whole = whole_pages(bytes);

	if (whole > old_whole && spill_allowed()) {
		if (!reserve_if_room(whole - old_whole, KEPT_PERCENT))
			return to_file(m, bytes, err);
	} else if (whole > old_whole && reserve(whole - old_whole, err) < 0) {
		return NULL;
	}
	void *at = m->at;
	mapping_told(m, false);
	if (whole != old_whole) {
		mapping_leave(m); /* another thread may be given the old pages at once */
		at = whole > old_whole ? mremap(m->at, old_whole, whole, MREMAP_MAYMOVE) : shrunk(m, old_whole, whole);
		if (at != MAP_FAILED)
			m->at = at;
		mapping_enter(m);
		if (at == MAP_FAILED)
			big_refused(bytes, 1, err);
	}
	if (at != MAP_FAILED) {
		m->bytes = bytes;
		if (whole > old_whole)
			mapping_advise(m);
	}
	mapping_told(m, true);
	if ((at == MAP_FAILED) == (whole > old_whole))
		unreserve(whole > old_whole ? whole - old_whole : old_whole - whole);
	return at == MAP_FAILED ? NULL : at;
}

static void *mapping_resize(struct mapping *m, uint64_t bytes, struct err *err)
{
	uint64_t whole = whole_pages(bytes);

	cold_blocks_leave(&m->settled);
	if (bytes < m->bytes) { /* the rest of the last page kept must be zero should it grow again */
		uint64_t end = m->bytes < whole ? m->bytes : whole;
		memset((char *)m->at + bytes, 0, end - bytes);
	}
	return m->owner == BIG_SPILLED ? spilled_resize(m, bytes, err) : anonymous_resize(m, bytes, err);
}

/* --- the door ---------------------------------------------------------------------------------- */

static bool product(uint64_t count, uint64_t size, uint64_t *bytes)
{
	return !__builtin_mul_overflow(count, size, bytes) && *bytes <= PTRDIFF_MAX - mapping_page();
}

/* The bytes of a new piece of memory, unless there cannot be so many. */
static int request(uint64_t count, uint64_t size, uint64_t *bytes, struct err *err)
{
	return product(count, size, bytes) ? 0 : big_refused(count, size, err);
}

void *big_alloc(uint64_t count, uint64_t size, struct err *err)
{
	uint64_t bytes;

	if (request(count, size, &bytes, err) < 0)
		return NULL;
	bool small = bytes < PAGES_FROM;
	uint64_t taken = small ? bytes + sizeof(struct header) : whole_pages(bytes);
	if (spill_allowed() && bytes >= SPILL_FROM) {
		if (!reserve_if_room(taken, KEPT_PERCENT))
			return instead_of_memory(bytes, err);
	} else if (reserve(taken, err) < 0) {
		return NULL;
	}
	void *p = small ? small_new(bytes) : map(bytes, BIG_ANONYMOUS, -1, 0, err);
	if (!p) {
		unreserve(taken);
		big_refused(count, size, err);
	}
	return p;
}

void *big_alloc_held(uint64_t count, uint64_t size, struct err *err)
{
	uint64_t bytes;
	bool large = product(count, size, &bytes) && bytes >= PAGES_FROM && bytes >= SPILL_FROM && spill_allowed();
	void *p = large ? held_pages(bytes) : NULL;

	return p ? p : big_alloc(count, size, err);
}

void *big_must(size_t bytes)
{
	struct err err;
	void *p = big_alloc(bytes, 1, &err);

	if (p)
		return p;
	mem_refused(err.message);
	p = bytes < PAGES_FROM ? small_new(bytes) : map(bytes, BIG_ANONYMOUS, -1, 0, NULL);
	if (!p) {
		struct header *h = emergency_reserve_take(with_header(bytes));
		if (!h)
			mem_exhausted(bytes);
		h->bytes = bytes;
		p = h + 1;
	}
	memory_limit_take_anyway(mapping_find(p) ? whole_pages(bytes) : bytes + sizeof(struct header));
	return p;
}

void *big_spill(uint64_t count, uint64_t size, struct err *err)
{
	uint64_t bytes;

	if (request(count, size, &bytes, err) < 0)
		return NULL;
	return map_spilled(bytes, err);
}

const void *big_map(int fd, uint64_t offset, uint64_t bytes, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0) {
		err_set(err, ERR_IO, "cannot map a file: %s", strerror(errno));
		return NULL;
	}
	if (offset & (mapping_page() - 1) || offset > (uint64_t)st.st_size ||
	    bytes > (uint64_t)st.st_size - offset) {
		err_set(err, ERR_IO, "cannot map a file: %" PRIu64 " bytes from byte %" PRIu64 " on exceed its "
		    "%" PRIu64, bytes, offset, (uint64_t)st.st_size);
		return NULL;
	}
	void *p = map(bytes, BIG_MAPPED, fd, offset, err);
	if (p)
		mapping_find(p)->watch = sigbus_guard_watch(p, bytes, fd, offset);
	return p;
}

void big_vanishes_as_ones(const void *p)
{
	struct mapping *m = p ? mapping_find(p) : NULL;

	if (m && m->watch)
		sigbus_guard_as_ones(m->watch);
}

/* A block that outgrew malloc. */
static void *to_pages(void *old, uint64_t bytes, struct err *err)
{
	struct header *h = header_of(old);

	void *p = big_alloc(bytes, 1, err);
	if (!p)
		return NULL;
	memcpy(p, old, h->bytes);
	big_hint(p, h->use);
	big_free(old);
	return p;
}

void *big_resize(void *old, uint64_t count, uint64_t size, struct err *err)
{
	uint64_t bytes;

	if (!old)
		return big_alloc(count, size, err);
	if (!product(count, size, &bytes)) {
		big_refused(count, size, err);
		return NULL;
	}
	struct mapping *m = mapping_find(old);
	if (m)
		return mapping_resize(m, bytes, err);
	return bytes < PAGES_FROM ? small_resize(old, bytes, err) : to_pages(old, bytes, err);
}

void *big_fit(void *old, uint64_t count, uint64_t size)
{
	void *p = old && count * size < big_bytes(old) ? big_resize(old, count, size, NULL) : NULL;

	return p ? p : old;
}

void *big_more(void *old, uint64_t count, uint64_t size, struct err *err)
{
	uint64_t most = UINT32_MAX; /* a capacity may have 32 bits: fill them before passing them */
	uint64_t more = count < 8 ? 8 : 2 * count;

	void *p = big_resize(old, count < most && more > most ? most : more, size, err);
	return p ? p : old;
}

void big_free(const void *p)
{
	if (!p)
		return;
	struct mapping *m = mapping_find(p);
	if (m) {
		mapping_free(m);
	} else {
		unreserve(header_of(p)->bytes + sizeof(struct header));
		free(header_of(p));
	}
}

void big_hint(void *p, enum big_use use)
{
	struct mapping *m = p ? mapping_find(p) : NULL;

	if (m) {
		m->use = use;
		mapping_advise(m);
	} else if (p) {
		header_of(p)->use = use;
	}
}

uint64_t big_bytes(const void *p)
{
	if (!p)
		return 0;
	const struct mapping *m = mapping_find(p);
	return m ? m->bytes : header_of(p)->bytes;
}

enum big_owner big_owner(const void *p)
{
	const struct mapping *m = mapping_find(p);

	return m ? m->owner : BIG_ANONYMOUS;
}

enum big_use big_use(const void *p)
{
	const struct mapping *m = mapping_find(p);

	return m ? m->use : header_of(p)->use;
}
