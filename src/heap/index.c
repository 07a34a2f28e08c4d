/* SPDX-License-Identifier: GPL-3.0-or-later */
/* index.c - building the index of addresses, and the slow ways through it; see index.h. */
#include "heap/index.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "base/assert.h"
#include "base/progress.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_WORDS = INDEX_PAGE_WORDS, PAGE_BYTES = PAGE_WORDS * 8 + PAGE_WORDS * 2 };

/* Below this many objects a page is a list: at most ten probes, and never larger than the bits. */
enum { LIST_MAX = 1024 };

/* The table of page numbers has at most so many for each page with bits, so that it is small beside these. */
enum { DIRECT_MOST = 64 };

enum { PAGES_AT_ONCE = 1024 }; /* sealed between two looks at the cancel flag */

void index_init(struct address_index *x, unsigned granule_shift)
{
	*x = (struct address_index){ .granule_shift = granule_shift };
}

void index_release(struct address_index *x)
{
	big_free(x->pages);
	map_release(&x->map);
	big_free(x->direct);
	big_free(x->store);
	*x = (struct address_index){ .granule_shift = x->granule_shift };
}

#define page_number(pages, i) ((pages)[i].number)
MAP(pages, const struct index_page *, uint64_t, page_number, hash_number, map_same)

/* Once the pages stay where they are.  Without the memory for it hashing does. */
static void list_by_number(struct address_index *x)
{
	uint64_t n = x->n_pages ? x->pages[x->n_pages - 1].number - x->pages[0].number + 1 : 0;
	uint64_t n_bits = x->store_size / PAGE_BYTES; /* and lists, which count for little */
	if (!n || n > DIRECT_MOST * (n_bits + 1) || !(x->direct = big_alloc(n, sizeof *x->direct, NULL)))
		return;
	x->first_number = x->pages[0].number;
	x->n_direct = n;
	for (uint32_t i = 0; i < x->n_pages; i++)
		x->direct[x->pages[i].number - x->first_number] = &x->pages[i];
}

struct index_page *index_page_slow(const struct address_index *x, uint64_t number)
{
	uint32_t at = pages_get(&x->map, x->pages, number);
	return at ? &x->pages[at - 1] : NULL;
}

static int add_page(struct address_index *x, uint64_t number, uint32_t n, struct err *err)
{
	uint32_t *slot = pages_enter(&x->map, x->pages, x->n_pages, number, err);
	struct index_page *to = slot ? BIG_PUSH(x->pages, x->n_pages, x->cap_pages, err) : NULL;
	if (!to)
		return ERR_NOMEM;
	*to = (struct index_page){ .number = number, .n_objects = n };
	*slot = x->n_pages;
	return 0;
}

int index_note(struct address_index *x, uint64_t number, uint32_t n, struct err *err)
{
	struct index_page *p = x->n_pages ? (struct index_page *)index_page_of(x, number) : NULL;
	if (!p)
		return add_page(x, number, n, err);
	if (__builtin_add_overflow(p->n_objects, n, &p->n_objects))
		return err_set(err, ERR_UNSUPPORTED, "too many records at nearly one address (more than "
		    "4,294,967,295)");
	return 0;
}

int index_join(struct address_index *x, const struct address_index *other, struct err *err)
{
	int code = progress_check(progress_own(), err);
	for (uint32_t i = 0; i < other->n_pages && code == 0; i++)
		code = index_note(x, other->pages[i].number, other->pages[i].n_objects, err);
	return code;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = ((const struct index_page *)a)->number, y = ((const struct index_page *)b)->number;
	return (x > y) - (x < y);
}

int index_layout(struct address_index *x, struct err *err)
{
	int code = sort(x->pages, x->n_pages, sizeof *x->pages, by_number, err);
	if (code == 0)
		code = pages_build(&x->map, x->pages, x->n_pages, err);
	if (code < 0)
		return code;
	uint64_t size = 0;
	for (uint32_t i = 0; i < x->n_pages; i++) {
		uint32_t n = x->pages[i].n_objects;
		size += n > LIST_MAX ? PAGE_BYTES : ((uint64_t)n * 2 + 7) & ~UINT64_C(7);
	}
	x->store = big_alloc(size, 1, err);
	if (!x->store)
		return ERR_NOMEM;
	x->store_size = size;
	uint8_t *at = x->store;
	for (uint32_t i = 0; i < x->n_pages; i++) {
		struct index_page *p = &x->pages[i];
		if (p->n_objects > LIST_MAX) {
			p->bits = (uint64_t *)(void *)at;
			at += PAGE_BYTES;
		} else {
			p->list = (uint16_t *)(void *)at;
			at += ((size_t)p->n_objects * 2 + 7) & ~(size_t)7;
		}
		p->n_objects = 0;
	}
	list_by_number(x);
	return 0;
}

static int by_granule(const void *a, const void *b)
{
	return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

/* Sort a list page and drop what was entered twice. */
static void seal_list(struct index_page *p)
{
	bool sorted = true;
	for (uint32_t i = 1; i < p->n_objects && sorted; i++)
		sorted = p->list[i - 1] < p->list[i];
	if (sorted)
		return;
	sort_array(p->list, p->n_objects, sizeof *p->list, by_granule);
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->n_objects; i++)
		if (i == 0 || p->list[i] != p->list[i - 1])
			p->list[n++] = p->list[i];
	p->n_objects = n;
}

static void seal_bits(struct index_page *p)
{
	uint16_t *rank = (uint16_t *)(void *)(p->bits + PAGE_WORDS);
	uint32_t n = 0;
	for (unsigned w = 0; w < PAGE_WORDS; w++) {
		rank[w] = (uint16_t)n; /* a full page has 65,536, but before its last word fewer */
		n += bits_ones(p->bits[w]);
	}
	p->n_objects = n;
}

int index_seal(struct address_index *x, struct err *err)
{
	uint64_t n = 0;
	struct progress *work = progress_own();
	for (uint32_t i = 0; i < x->n_pages; i++) {
		struct index_page *p = &x->pages[i];
		if (p->bits)
			seal_bits(p);
		else
			seal_list(p);
		p->first_id = (uint32_t)n;
		n += p->n_objects;
		if (i % PAGES_AT_ONCE == 0 && progress_cancelled(work))
			return err_cancelled(err);
		if (n > UINT32_MAX - 1)
			return err_set(err, ERR_UNSUPPORTED,
			    "too many objects for one heap (more than 4,294,967,294)");
	}
	x->n_objects = (uint32_t)n;
	return 0;
}

int index_adopt(struct address_index *x, struct err *err)
{
	uint64_t n = 0, left = x->store_size;
	uint8_t *at = x->store;
	for (uint32_t i = 0; i < x->n_pages; i++) {
		struct index_page *p = &x->pages[i];
		uint64_t size = p->list ? ((uint64_t)p->n_objects * 2 + 7) & ~UINT64_C(7) : PAGE_BYTES;
		p->first_id = (uint32_t)n;
		n += p->n_objects;
		if (size > left || n > UINT32_MAX - 1)
			return err_set(err, ERR_FORMAT, "its addresses are damaged");
		if (p->list)
			p->list = (uint16_t *)(void *)at;
		else
			p->bits = (uint64_t *)(void *)at;
		at += size;
		left -= size;
	}
	if (left)
		return err_set(err, ERR_FORMAT, "its addresses are damaged");
	x->n_objects = (uint32_t)n;
	int code = pages_build(&x->map, x->pages, x->n_pages, err);
	if (code == 0)
		list_by_number(x);
	return code;
}

uint32_t index_rank_listed(const struct index_page *p, uint16_t granule)
{
	uint32_t at;
	BISECT(at, p->n_objects, p->list[at] < granule);
	return at < p->n_objects && p->list[at] == granule ? p->first_id + at : INDEX_NONE;
}

/* Objects of the page at or below the granule. */
static uint32_t count_up_to(const struct index_page *p, uint16_t granule)
{
	if (!p->bits) {
		uint32_t at;
		BISECT(at, p->n_objects, p->list[at] <= granule);
		return at;
	}
	const uint16_t *rank = (const uint16_t *)(p->bits + PAGE_WORDS);
	uint64_t up_to = UINT64_MAX >> (63 - (granule & 63));
	return rank[granule >> 6] + bits_ones(p->bits[granule >> 6] & up_to);
}

/* The last page at or below a number that holds an object, NULL: none. */
static const struct index_page *page_below(const struct address_index *x, uint64_t number)
{
	uint32_t at; /* the first page beyond number */
	BISECT(at, x->n_pages, x->pages[at].number <= number);
	return at ? &x->pages[at - 1] : NULL;
}

uint32_t index_find_below(const struct address_index *x, uint64_t address)
{
	uint64_t granule = address >> x->granule_shift, number = granule >> 16;
	const struct index_page *p = page_below(x, number);
	if (!p)
		return INDEX_NONE;
	uint32_t n = p->first_id + (p->number == number ? count_up_to(p, (uint16_t)granule) : p->n_objects);
	return n ? n - 1 : INDEX_NONE;
}

/* The page of object id < n_objects. */
static uint32_t page_of_id(const struct address_index *x, uint32_t id)
{
	uint32_t at;
	BISECT(at, x->n_pages, x->pages[at].first_id <= id);
	cairn_assert(id < x->n_objects && at > 0);
	return at - 1;
}

/* The word of a page with bits that holds its k-th object; *word: that object's bit and those above. */
static uint32_t word_of(const struct index_page *p, uint32_t k, uint64_t *word)
{
	const uint16_t *rank = (const uint16_t *)(p->bits + PAGE_WORDS);
	uint32_t w = 0;
	cairn_assert(k < p->n_objects);
	for (uint32_t step = PAGE_WORDS / 2; step; step /= 2)
		if (rank[w + step] <= k)
			w += step;
	*word = p->bits[w];
	for (k -= rank[w]; k; k--)
		*word &= *word - 1;
	return w;
}

/* The address of the k-th object of a page. */
static uint64_t address_in_page(const struct address_index *x, const struct index_page *p, uint32_t k)
{
	uint64_t granule, word;
	if (p->bits) {
		granule = (uint64_t)word_of(p, k, &word) * 64;
		granule += (unsigned)__builtin_ctzll(word);
	} else {
		cairn_assert(k < p->n_objects);
		granule = p->list[k];
	}
	return (p->number << 16 | granule) << x->granule_shift;
}

uint64_t index_address(const struct address_index *x, uint32_t id)
{
	const struct index_page *p = &x->pages[page_of_id(x, id)];
	return address_in_page(x, p, id - p->first_id);
}

uint32_t index_covering(const struct address_index *x, uint64_t address, uint64_t *start)
{
	uint64_t granule = address >> x->granule_shift, number = granule >> 16;
	const struct index_page *p = index_page_of(x, number);
	uint32_t n = p ? count_up_to(p, (uint16_t)granule) : 0;
	if (!n) {
		p = number ? page_below(x, number - 1) : NULL;
		n = p ? p->n_objects : 0;
		if (!n)
			return INDEX_NONE;
		*start = address_in_page(x, p, n - 1);
		return p->first_id + n - 1;
	}
	uint64_t here = p->bits ? p->bits[(uint16_t)granule >> 6] & UINT64_MAX >> (63 - (granule & 63)) : 0;
	if (here) /* the usual case: it begins in the same word */
		*start = ((granule & ~UINT64_C(63)) | (63 - (unsigned)__builtin_clzll(here))) << x->granule_shift;
	else
		*start = address_in_page(x, p, n - 1);
	return p->first_id + n - 1;
}

/* --- walking ------------------------------------------------------------------------------------ */

/* Let a walk stand before the word of its page, or before the place in its list. */
static void walk_enter(struct index_walk *w, uint32_t at)
{
	const struct index_page *p = &w->x->pages[w->page];
	cairn_assert(w->page < w->x->n_pages);
	w->at = at;
	w->word = p->bits ? p->bits[at] : 0;
	w->first = ((p->number << 16) + (uint64_t)at * 64) << w->x->granule_shift;
}

void index_walk_seek(struct index_walk *w, const struct address_index *x, uint32_t id)
{
	*w = (struct index_walk){ .x = x, .page = page_of_id(x, id) };
	const struct index_page *p = &x->pages[w->page];
	uint64_t word = 0;
	uint32_t k = id - p->first_id;
	walk_enter(w, p->bits ? word_of(p, k, &word) : k);
	w->word = word;
}

void index_walk_init(struct index_walk *w, const struct address_index *x)
{
	*w = (struct index_walk){ .x = x };
	if (x->n_pages)
		walk_enter(w, 0);
}

bool index_walk_beyond(struct index_walk *w, uint64_t *address)
{
	const struct address_index *x = w->x;
	while (w->page < x->n_pages) {
		const struct index_page *p = &x->pages[w->page];
		if (p->bits) {
			while (!w->word && w->at + 1 < PAGE_WORDS)
				walk_enter(w, w->at + 1);
			if (w->word)
				return index_walk_next(w, address);
		} else if (w->at < p->n_objects) {
			*address = (p->number << 16 | p->list[w->at++]) << x->granule_shift;
			return true;
		}
		if (++w->page < x->n_pages)
			walk_enter(w, 0);
	}
	return false;
}

void index_cursor_init(struct index_cursor *c, const struct address_index *x)
{
	*c = (struct index_cursor){ .id = 0 };
	index_walk_init(&c->walk, x);
	index_walk_next(&c->walk, &c->address);
}

/* Let the cursor expect this address, if it is an object's. */
bool index_cursor_seek(struct index_cursor *c, uint64_t address)
{
	const struct address_index *x = c->walk.x;
	uint64_t granule = address >> x->granule_shift;
	const struct index_page *p = index_page_of(x, granule >> 16);
	uint32_t id = index_find(x, address);
	if (id == INDEX_NONE)
		return false;
	c->id = id;
	c->address = address;
	c->walk.page = (uint32_t)(p - x->pages);
	if (!p->bits) {
		walk_enter(&c->walk, id - p->first_id + 1);
		return true;
	}
	walk_enter(&c->walk, (uint16_t)granule >> 6);
	c->walk.word &= ~UINT64_C(1) << (granule & 63);
	return true;
}
