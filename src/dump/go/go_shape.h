/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_shape.h - which words of an object are pointers.
 *
 * Objects of one type have the same size and, but for their last bytes, the same list of fields: so a
 * list is decoded once, and found again by its raw bytes.  One thread each.
 */
#ifndef CAIRN_DUMP_GO_GO_SHAPE_H
#define CAIRN_DUMP_GO_GO_SHAPE_H

#include "algorithms/map.h"
#include "base/text.h"
#include "dump/go/go_dump.h"

struct go_shape {
	uint64_t size;       /* of the object */
	uint64_t key;        /* the list itself, if it takes at most 7 bytes and each number in it one byte;
	                        else 0.  Without a list: its pattern */
	unsigned by;         /* without a list: what the pattern means; 0 with one */
	const uint8_t *list; /* where the list stands in the file; its end mark counts as part of it; or NULL */
	uint64_t list_bytes;
	uint64_t n_slots;    /* pointers that lie in the object and are aligned */
	uint64_t n_bad;      /* pointers that lie outside of the object or are not aligned */
	uint64_t first;      /* index of its first offset in go_shapes.offsets; GO_NOT_LISTED: there are too
	                        many, so they are decoded from the list each time */
	uint64_t sure_below; /* go_sure_below */
	uint64_t head;       /* go_header */
	uint64_t page_mask;  /* 0 with pointers, GO_NO_PAGE without */
	uint32_t handle;     /* of its class; UINT32_MAX: not asked for yet */
};
#define GO_NOT_LISTED UINT64_MAX

/* Arrays are big memory. */
struct go_shapes {
	const struct go *go;
	struct err *err; /* of memory refused */
	struct {
		uint64_t key, size;
		uint32_t shape_plus_1;
	} recent[512];    /* those with a key, by a hash of it and the size */
	struct go_shape *list;
	uint32_t n, cap;
	struct map map;
	uint32_t *offsets;
	uint64_t n_offsets, cap_offsets;
	uint32_t predicted[256]; /* by object size: index + 1 of the shape with a long list that was met last */
};

MUST_CHECK int go_shapes_init(struct go_shapes *s, const struct go *go, struct err *err); /* ERR_NOMEM */
void go_shapes_release(struct go_shapes *s);

struct go_shape *go_shape_slow(struct go_shapes *s, const uint8_t *p, const uint8_t *end,
    uint64_t size, uint64_t key);

/*
 * The shape of an object of `size` bytes whose list begins at p; *bytes gets the length of the list.
 * NULL where no list can be read (go_record_decode says why) and when memory is refused.  Valid until the next call.
 *
 * Most lists are pairs of a kind and an offset of one byte each, up to the first kind that is 0: every
 * second byte, of which the lowest zero one is found.  Such a list is its own key; its length stands
 * in the highest byte.
 */
static inline struct go_shape *go_shape_of(struct go_shapes *s, const uint8_t *p,
    const uint8_t *end, uint64_t size, uint64_t *bytes)
{
	const uint64_t high = UINT64_C(0x8080808080808080);
	uint64_t word = end - p < 8 ? high : load_le64(p), kinds = word & UINT64_C(0x00ff00ff00ff00ff);
	uint64_t zero = (kinds - UINT64_C(0x0001000100010001)) & ~kinds & UINT64_C(0x8000800080008000);
	uint64_t n = zero ? 1 + 2 * ((uint64_t)__builtin_ctzll(zero) / 16) : 8;
	uint64_t key = n < 8 ? word & ((UINT64_C(1) << 8 * n) - 1) : high;
	struct go_shape *shape;
	*bytes = n;
	if (__builtin_expect(!(key & high), 1)) {
		key |= n << 56;
		unsigned at = hash_number(key + size) & 511;
		if (__builtin_expect(s->recent[at].key == key && s->recent[at].size == size, 1))
			return &s->list[s->recent[at].shape_plus_1 - 1];
		shape = go_shape_slow(s, p, end, size, key);
	} else {
		shape = go_shape_slow(s, p, end, size, 0);
	}
	*bytes = shape ? shape->list_bytes : 0;
	return shape;
}

/* The shape of an object that has no list: what tells its pointers is the word `pattern`, of kind `by` (not 0).
 * pointers: those of such an object.  NULL: memory is refused.  Valid until the next call. */
struct go_shape *go_shape_by_pattern(struct go_shapes *s, uint64_t size, unsigned by, uint64_t pattern,
    const struct go_pointers *pointers);

/* The same, if it was met lately; else NULL. */
static inline struct go_shape *go_shape_recent(struct go_shapes *s, uint64_t size, unsigned by, uint64_t pattern)
{
	unsigned at = hash_number(pattern + by + size) & 511;
	struct go_shape *shape = s->recent[at].shape_plus_1 && s->recent[at].key == pattern && s->recent[at].size == size ?
	    &s->list[s->recent[at].shape_plus_1 - 1] : NULL;
	return shape && shape->by == by ? shape : NULL;
}

/* Where the pointer of a field stands, from the field's own offset. */
static inline uint64_t go_pointer_at(const struct go *g, uint64_t kind, uint64_t offset)
{
	bool second = g->version == 4 ? kind >= 2 : kind >= GO_INTERFACE; /* behind the type word */
	return second ? offset + g->word : offset;
}

static inline bool go_slot_fits(const struct go *g, uint64_t offset, uint64_t size)
{
	return g->word && offset <= size && size - offset >= g->word && offset % g->word == 0;
}

/* "96 B {ptr@0 ptr@16}"; repeats are folded, long ones are clipped and numbered. */
void go_shape_name(const struct go *g, uint64_t size, const struct go_pointers *pointers, struct text *to);

#endif
