/* SPDX-License-Identifier: GPL-3.0-or-later */
/* go_shape.c - find or make the shape of an object, and name it; see go_shape.h. */
#include "dump/go/go_shape.h"

#include "memory/big.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_SHAPES = 1 << 16, LISTED_SLOTS = 64, NAME_LIMIT = 72, LEAST_FOLD = 4 };

int go_shapes_init(struct go_shapes *s, const struct go *go, struct err *err)
{
	*s = (struct go_shapes){ .go = go, .err = err };
	s->cap_offsets = 64; /* never NULL, so that a shape without any needs no question */
	s->offsets = big_alloc(s->cap_offsets, sizeof *s->offsets, err);
	return s->offsets ? 0 : ERR_NOMEM;
}

void go_shapes_release(struct go_shapes *s)
{
	big_free(s->list);
	map_release(&s->map);
	big_free(s->offsets);
}

/* --- finding ---------------------------------------------------------------------------------------- */

static uint64_t hash_shape(const struct go_shape *s)
{
	return hash_step(s->key || s->by ? hash_number(s->key + s->by) : hash_bytes(s->list, s->list_bytes), s->size);
}

static bool same_shape(const struct go_shape *a, const struct go_shape *b)
{
	return a->size == b->size && a->key == b->key && a->by == b->by &&
	    (a->key || a->by || (a->list_bytes == b->list_bytes && !memcmp(a->list, b->list, b->list_bytes)));
}

MAP(shapes, const struct go_shape *, const struct go_shape *, map_element, hash_shape, same_shape)

/* A dump made to have ever new shapes must not fill memory with them. */
static void forget_all(struct go_shapes *s)
{
	s->n = 0;
	s->n_offsets = 0;
	memset(s->predicted, 0, sizeof s->predicted);
	memset(s->recent, 0, sizeof s->recent);
	map_release(&s->map);
}

/* --- new ones --------------------------------------------------------------------------------------- */

/* Put the pointers into offsets.  The bytes of a list were seen to be one. */
static int settle(struct go_shapes *s, struct go_shape *shape, struct go_pointers p)
{
	const struct go *g = s->go;
	uint64_t kind, offset;
	bool listed = true;

	shape->first = s->n_offsets;
	while (go_pointers_next(&p, &kind, &offset)) {
		uint64_t at = go_pointer_at(g, kind, offset);
		if (at < offset || !go_slot_fits(g, at, shape->size)) {
			shape->n_bad += g->word != 0;
			continue;
		}
		listed = listed && shape->n_slots++ < LISTED_SLOTS && at <= UINT32_MAX;
		if (!listed && shape->by)
			break; /* bits have none that are bad */
		if (!listed)
			continue;
		uint32_t *to = BIG_PUSH(s->offsets, s->n_offsets, s->cap_offsets, s->err);
		if (!to)
			return ERR_NOMEM;
		*to = (uint32_t)at;
	}
	if (!listed) {
		s->n_offsets = shape->first;
		shape->first = GO_NOT_LISTED;
	}
	return 0;
}

/* NULL: memory was refused. */
static struct go_shape *find_or_add(struct go_shapes *s, struct go_shape *wanted, const struct go_pointers *pointers)
{
	uint32_t known = shapes_get(&s->map, s->list, wanted);
	if (known)
		return &s->list[known - 1];
	if (s->n >= MOST_SHAPES)
		forget_all(s);
	uint32_t *slot = shapes_enter(&s->map, s->list, s->n, wanted, s->err);
	if (!slot)
		return NULL;
	struct go_shape *to = settle(s, wanted, *pointers) < 0 ? NULL : BIG_PUSH(s->list, s->n, s->cap, s->err);
	if (!to)
		return NULL;
	wanted->handle = UINT32_MAX;
	wanted->sure_below = go_sure_below(&s->go->layout, wanted->size);
	wanted->head = go_header(&s->go->layout, wanted->size, wanted->n_slots);
	wanted->page_mask = wanted->n_slots + wanted->n_bad ? 0 : GO_NO_PAGE;
	*to = *wanted;
	*slot = s->n;
	return &s->list[s->n - 1];
}

static struct go_shape *of_list(struct go_shapes *s, struct go_shape *wanted)
{
	struct go_pointers p = { .list = wanted->list, .end = wanted->list + wanted->list_bytes };
	return find_or_add(s, wanted, &p);
}

struct go_shape *go_shape_by_pattern(struct go_shapes *s, uint64_t size, unsigned by, uint64_t pattern,
    const struct go_pointers *pointers)
{
	struct go_shape wanted = { .size = size, .key = pattern, .by = by };
	struct go_shape *found = find_or_add(s, &wanted, pointers);
	if (!found)
		return NULL;
	unsigned at = hash_number(pattern + by + size) & 511;
	s->recent[at].key = pattern;
	s->recent[at].size = size;
	s->recent[at].shape_plus_1 = (uint32_t)(found - s->list) + 1;
	return found;
}

/* --- long lists --------------------------------------------------------------------------------------- */

static bool is_list(const struct go_shape *s, const uint8_t *p, const uint8_t *end, uint64_t size)
{
	return s->size == size && !s->key && s->list_bytes <= (uint64_t)(end - p) &&
	    !memcmp(s->list, p, s->list_bytes);
}

/* Bytes of the list at p, its end included; 0: it is none. */
static uint64_t list_bytes(const struct go *g, const uint8_t *p, const uint8_t *end)
{
	const uint64_t last = g->version == 3 ? GO_EMPTY_INTERFACE : g->version == 4 ? 3 : GO_POINTER;
	const uint8_t *begin = p;
	uint64_t kind, offset;

	for (;;) {
		while (end - p >= 2 && p[0] == GO_POINTER && p[1] < 0x80)
			p += 2;
		if (!go_varint(&p, end, &kind) || kind > last)
			return 0;
		if (!kind)
			return (uint64_t)(p - begin);
		if (!go_varint(&p, end, &offset))
			return 0;
	}
}

/* No list is the beginning of another, so that one which begins here is the one. */
static struct go_shape *long_shape(struct go_shapes *s, const uint8_t *p, const uint8_t *end,
    uint64_t size)
{
	uint32_t *predicted = &s->predicted[(uint8_t)hash_number(size)];
	if (*predicted && is_list(&s->list[*predicted - 1], p, end, size))
		return &s->list[*predicted - 1];
	struct go_shape wanted = { .size = size, .list = p, .list_bytes = list_bytes(s->go, p, end) };
	if (!wanted.list_bytes)
		return NULL;
	struct go_shape *found = of_list(s, &wanted);
	if (!found)
		return NULL;
	*predicted = (uint32_t)(found - s->list) + 1;
	return found;
}

struct go_shape *go_shape_slow(struct go_shapes *s, const uint8_t *p, const uint8_t *end,
    uint64_t size, uint64_t key)
{
	if (!key)
		return long_shape(s, p, end, size);
	struct go_shape wanted = { .size = size, .key = key, .list = p, .list_bytes = key >> 56 };
	if (list_bytes(s->go, p, end) != wanted.list_bytes)
		return NULL; /* of a kind that there is not */
	struct go_shape *found = of_list(s, &wanted);
	if (!found)
		return NULL;
	unsigned at = hash_number(key + size) & 511;
	s->recent[at].key = key;
	s->recent[at].size = size;
	s->recent[at].shape_plus_1 = (uint32_t)(found - s->list) + 1;
	return found;
}

/* --- names ------------------------------------------------------------------------------------------ */

struct field {
	uint64_t kind, offset;
};

/* Write fields [begin, begin + n), which stand `step` apart. */
static void add_run(struct text *to, unsigned version, struct field first, uint64_t step, uint64_t n)
{
	static const char *const names[] = { "", "ptr", "str", "slice", "iface", "eface" };
	static const char *const names_4[] = { "", "ptr", "iface", "eface" };
	const char *name = version == 4 ? names_4[first.kind & 3] : names[first.kind];
	if (n < LEAST_FOLD) {
		for (uint64_t i = 0; i < n; i++)
			text_addf(to, "%s%s@%" PRIu64, to->len ? " " : "", name, first.offset + i * step);
		return;
	}
	text_addf(to, "%s%s@%" PRIu64 "+%" PRIu64 "\xC3\x97%" PRIu64, to->len ? " " : "", name,
	    first.offset, step, n);
}

/* The list of fields, as a heap dump writes it, in groups of 8 bytes. */
struct check {
	uint64_t sum, n, group; /* bytes; those of the group that is not full, the first the lowest */
};

static void add_byte(struct check *c, uint8_t byte)
{
	c->group |= (uint64_t)byte << c->n % 8 * 8;
	if (++c->n % 8 == 0) {
		c->sum = (c->sum ^ c->group) * UINT64_C(0x9E3779B97F4A7C15);
		c->sum ^= c->sum >> 32;
		c->group = 0;
	}
}

static void add_number(struct check *c, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		add_byte(c, (uint8_t)(n | 0x80));
	add_byte(c, (uint8_t)n);
}

static void add_list(struct check *c, struct go_pointers p)
{
	struct field f;
	while (go_pointers_next(&p, &f.kind, &f.offset)) {
		add_number(c, f.kind);
		add_number(c, f.offset);
	}
	add_number(c, GO_END);
}

/* Tells lists whose names are cut from each other.  It is shown, so it is the same in each run. */
static unsigned check_sum(const struct go_pointers *p)
{
	struct check count = { 0, 0, 0 };
	add_list(&count, *p);
	struct check c = { count.n, 0, 0 };
	add_list(&c, *p);
	for (uint64_t left = c.n % 8; left; left--, c.group >>= 8) {
		c.sum = (c.sum ^ (uint8_t)c.group) * UINT64_C(0x9E3779B97F4A7C15);
		c.sum ^= c.sum >> 32;
	}
	return c.sum >> 8 & 0xffff;
}

void go_shape_name(const struct go *g, uint64_t size, const struct go_pointers *pointers, struct text *to)
{
	struct go_pointers p = *pointers;
	struct field run = { 0, 0 }, f;
	uint64_t step = 0, in_run = 0, n_fields = 0;
	struct text fields = TEXT_INIT;

	while (fields.len <= NAME_LIMIT && go_pointers_next(&p, &f.kind, &f.offset)) {
		n_fields++;
		if (in_run == 1 && f.kind == run.kind)
			step = f.offset - run.offset;
		if (in_run && f.kind == run.kind && f.offset == run.offset + in_run * step) {
			in_run++;
			continue;
		}
		/* A short run gives its last field to the next one. */
		bool lend = in_run > 1 && in_run < LEAST_FOLD && f.kind == run.kind;
		if (in_run)
			add_run(&fields, g->version, run, step, in_run - lend);
		run = lend ? (struct field){ run.kind, run.offset + (in_run - 1) * step } : f;
		step = lend ? f.offset - run.offset : 0;
		in_run = lend ? 2 : 1;
	}
	if (in_run)
		add_run(&fields, g->version, run, step, in_run);
	text_addf(to, "%" PRIu64 " B {", size);
	if (fields.len <= NAME_LIMIT) {
		text_add(to, fields.len ? fields.s : "");
	} else {
		while (go_pointers_next(&p, &f.kind, &f.offset))
			n_fields++;
		size_t fit = NAME_LIMIT / 2;
		while (fit && fields.s[fit] != ' ')
			fit--;
		text_add_n(to, fields.s, fit);
		text_addf(to, " \xE2\x80\xA6 %" PRIu64 " fields #%04x", n_fields,
		    check_sum(pointers));
	}
	text_add(to, "}");
	text_release(&fields);
}
