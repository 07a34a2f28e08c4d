/* SPDX-License-Identifier: GPL-3.0-or-later */
/* objects.c - objects by id and address: see ids.h.  It knows classes, which ids.h does not. */

#include "algorithms/bisect.h"
#include "base/assert.h"
#include "base/text.h"
#include "dump/reader.h"
#include "heap/classes.h"
#include "heap/index.h"

uint64_t heap_address(const struct heap *h, uint32_t id)
{
	return index_address(h->index, id);
}

uint32_t heap_find(const struct heap *h, uint64_t address)
{
	return index_find(h->index, address);
}

uint32_t heap_find_below(const struct heap *h, uint64_t address)
{
	return index_find_below(h->index, address);
}

uint32_t heap_covering(const struct heap *h, uint64_t address, uint64_t *start)
{
	uint32_t id = index_covering(h->index, address, start);
	return id != HEAP_NONE && address - *start < heap_shallow(h, id) ? id : HEAP_NONE;
}

uint32_t heap_target(const struct heap *h, uint64_t address)
{
	uint64_t start;
	return h->facts.interior_pointers ? heap_covering(h, address, &start) : heap_find(h, address);
}

static const struct wide *wide_of(const struct heap *h, uint32_t id)
{
	size_t at;
	BISECT(at, h->n_wide, h->wide[at].id < id);
	cairn_assert(at < h->n_wide && h->wide[at].id == id);
	return &h->wide[at];
}

static uint64_t odd_size(const struct heap *h, uint32_t id, const struct heap_class *c)
{
	size_t at;
	BISECT(at, h->n_odd, h->odd[at].id < id);
	return at < h->n_odd && h->odd[at].id == id ? h->odd[at].size : c->instance_size;
}

/* Elements of an object that is the place-th one with a size of its own, where lengths are what is kept. */
static inline uint64_t own_length(const struct heap *h, uint32_t id, uint32_t place)
{
	uint32_t length = h->own_length[place];
	if (length == OWN_UNKNOWN)
		return LENGTH_UNKNOWN;
	return length == OWN_WIDE ? wide_of(h, id)->length : length;
}

/* The shallow size in bytes of an object that is the place-th one with a size of its own; SIZE_UNKNOWN when nobody
 * knows it. */
static inline uint64_t own_size(const struct heap *h, uint32_t id, uint32_t place)
{
	uint32_t own = OWN_UNKNOWN;
	cairn_assert(place < h->n_sized);
	if (h->own_size)
		own = h->own_size[place];
	else if (h->own_length && h->own_length[place] == OWN_WIDE)
		own = OWN_WIDE;
	uint64_t size = own == OWN_WIDE ? wide_of(h, id)->size : own == OWN_UNKNOWN ? SIZE_UNKNOWN : own;
	if (size != SIZE_UNKNOWN || !h->own_length) /* without lengths these follow from sizes, never sizes from them */
		return size;
	return heap_array_size(h, heap_class_of(h, id), own_length(h, id, place));
}

/* The same of one that has none. */
static inline uint64_t class_size(const struct heap *h, uint32_t id)
{
	const struct heap_class *c = heap_class_of(h, id);
	return c->sizes_vary ? odd_size(h, id, c) : c->instance_size;
}

static uint64_t size_of(const struct heap *h, uint32_t id)
{
	return bits_get(&h->sized, id) ? own_size(h, id, bits_rank(&h->sized, id)) : class_size(h, id);
}

uint64_t heap_shallow(const struct heap *h, uint32_t id)
{
	uint64_t size = size_of(h, id);
	return size == SIZE_UNKNOWN ? 0 : size;
}

void heap_sizes(const struct heap *h, uint32_t first, uint32_t n, uint64_t *bytes)
{
	uint32_t place = n ? bits_rank(&h->sized, first) : 0;
	for (uint32_t i = 0; i < n; i++)
		bytes[i] = bits_get(&h->sized, first + i) ? own_size(h, first + i, place++) : class_size(h, first + i);
}

bool heap_size_known(const struct heap *h, uint32_t id)
{
	return size_of(h, id) != SIZE_UNKNOWN;
}

uint64_t heap_length(const struct heap *h, uint32_t id)
{
	unsigned stride = heap_class_of(h, id)->stride;
	if (!h->own_length || !bits_get(&h->sized, id)) {
		uint64_t size = stride ? size_of(h, id) : SIZE_UNKNOWN;
		return size == SIZE_UNKNOWN ? LENGTH_UNKNOWN : size / stride;
	}
	return own_length(h, id, bits_rank(&h->sized, id));
}

bool heap_symbol(const struct heap *h, uint64_t address, struct text *to)
{
	const struct reader *reader = h->dump && address ? h->dump->reader : NULL;
	struct text name = TEXT_INIT;
	bool known = reader && reader->symbol && reader->symbol(h->dump, address, &name);
	if (known)
		text_add_escaped(to, name.s ? name.s : "", name.len);
	text_release(&name);
	return known;
}
