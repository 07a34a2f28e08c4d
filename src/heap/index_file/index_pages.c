/* SPDX-License-Identifier: GPL-3.0-or-later */
/* index_pages.c - the index of addresses: its pages packed, what they point to as it is; see saving.h. */
#include "heap/index_file/saving.h"

#include "algorithms/parallel.h"
#include "base/mem.h"
#include "heap/heap.h"
#include "heap/index.h"
#include "memory/big.h"

enum { MOST_SHIFT = 8, PAGES_AT_ONCE = 64 };

void pack_pages(struct pack *p, struct heap *h, struct err *err)
{
	if (p->reading) {
		h->index = xcalloc(1, sizeof *h->index);
		index_init(h->index, 0);
	}
	struct address_index *x = h->index;
	PACK(p, x->granule_shift, MOST_SHIFT);
	PACK_COUNT(p, x->n_pages, UINT32_MAX / 4);
	if (p->reading && !p->bad) {
		x->pages = big_alloc(x->n_pages, sizeof *x->pages, err);
		x->cap_pages = x->n_pages;
		p->bad |= !x->pages;
	}
	uint64_t before = 0;
	for (uint32_t i = 0; i < x->n_pages && !p->bad; i++) {
		struct index_page *page = &x->pages[i];
		uint64_t step = page->number - before;
		bool listed = !page->bits;
		pack_number(p, &step, UINT64_MAX >> (16 + x->granule_shift));
		PACK(p, page->n_objects, 1 << 16);
		PACK(p, listed, 1);
		before += step;
		p->bad |= !page->n_objects || (i && !step) || before > UINT64_MAX >> (16 + x->granule_shift);
		if (!p->reading)
			continue;
		page->number = before;
		page->list = listed ? (uint16_t *)x : NULL; /* a mark, until there is a store */
	}
}

static bool list_holds(const struct index_page *p)
{
	for (uint32_t i = 1; i < p->n_objects; i++)
		if (p->list[i - 1] >= p->list[i])
			return false;
	return true;
}

static bool bits_hold(const struct index_page *p)
{
	const uint16_t *rank = (const uint16_t *)(p->bits + INDEX_PAGE_WORDS);
	uint32_t n = 0;
	for (unsigned w = 0; w < INDEX_PAGE_WORDS; w++) {
		if (rank[w] != (uint16_t)n)
			return false;
		n += bits_ones(p->bits[w]);
	}
	return n == p->n_objects;
}

static int check_pages(void *index, unsigned task, struct err *err)
{
	const struct address_index *x = index;
	for (uint32_t i = task * PAGES_AT_ONCE; i < x->n_pages && i < (task + 1) * PAGES_AT_ONCE; i++) {
		const struct index_page *p = &x->pages[i];
		if (p->bits ? !bits_hold(p) : !list_holds(p))
			return err_set(err, ERR_FORMAT, "its addresses are damaged");
	}
	return 0;
}

int pages_check(struct heap *h, struct err *err)
{
	struct address_index *x = h->index;
	int code = index_adopt(x, err);
	if (code || x->n_objects != h->n_objects)
		return code ? code : err_set(err, ERR_FORMAT, "its addresses do not belong to its objects");
	return parallel_run(0, (x->n_pages + PAGES_AT_ONCE - 1) / PAGES_AT_ONCE, check_pages, x, err);
}
