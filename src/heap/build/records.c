/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * records.c - packing records, and the room that they need; see records.h.
 *
 * An extent is the length and 1; or 0, what follows (EXTENT_…), then the size, then the length.
 */
#include "heap/build/records.h"

#include "algorithms/bits.h"
#include "dump/reader.h"
#include "memory/big.h"

#include <string.h>

enum { EXTENT_SIZE = 1, EXTENT_LENGTH = 2 };
enum { LONGEST_FAR = 22, LONGEST_EXTENT = 22, LONGEST_USUAL = 5 /* of a usual record */ }; /* bytes */

/* Room for element n and at least a few behind it. */
static int reserve(void *array, uint64_t *cap, uint64_t n, size_t size, struct err *err)
{
	if (n < *cap)
		return 0;
	void **at = array;
	uint64_t cap_new = 2 * *cap > n ? 2 * *cap : n + 256;
	void *p = big_resize(*at, cap_new, size, err);
	if (!p)
		return ERR_NOMEM;
	*at = p;
	*cap = cap_new;
	return 0;
}

static uint64_t groups_of(uint64_t n_records)
{
	return (n_records + GROUP_RECORDS - 1) / GROUP_RECORDS;
}

/* Room for a record and for the extents of a group of usual ones. */
static int reserve_record(struct records *r, struct err *err)
{
	const uint64_t extents = r->n_extents + LONGEST_EXTENT + GROUP_RECORDS * LONGEST_USUAL;
	uint64_t n = r->cap / GROUP_RECORDS;
	if (r->n < r->cap && extents <= r->cap_extents && r->n_far + LONGEST_FAR <= r->cap_far)
		return 0;
	int code = reserve(&r->groups, &n, r->n / GROUP_RECORDS, sizeof *r->groups, err);
	r->cap = n * GROUP_RECORDS;
	if (code == 0)
		code = reserve(&r->extents, &r->cap_extents, extents - 1, sizeof *r->extents, err);
	return code == 0 ? reserve(&r->far, &r->cap_far, r->n_far + LONGEST_FAR - 1, sizeof *r->far, err) : code;
}

void records_expect(struct records *r, uint64_t n)
{
	r->groups = big_alloc(groups_of(n), sizeof *r->groups, NULL);
	r->cap = r->groups ? groups_of(n) * GROUP_RECORDS : 0;
	r->extents = r->groups ? big_alloc(n / 2, sizeof *r->extents, NULL) : NULL;
	r->cap_extents = r->extents ? n / 2 : 0;
}

void records_trim(struct records *r)
{
	r->groups = big_fit(r->groups, groups_of(r->n), sizeof *r->groups);
	r->cap = groups_of(r->n) * GROUP_RECORDS;
	r->far = big_fit(r->far, r->cap_far = r->n_far, sizeof *r->far);
	r->extents = big_fit(r->extents, r->cap_extents = r->n_extents, sizeof *r->extents);
	void *all[] = { r->groups, r->far, r->extents };
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		big_hint(all[i], BIG_FORWARD);
		big_settle(all[i]);
	}
}

void records_release(struct records *r)
{
	big_free(r->groups);
	big_free(r->far);
	big_free(r->extents);
	*r = (struct records){ .groups = NULL };
}

/* --- adding --------------------------------------------------------------------------------------- */

static inline uint8_t *put(uint8_t *to, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		*to++ = (uint8_t)(number | 0x80);
	*to++ = (uint8_t)number;
	return to;
}

static void add_far(struct records *r, const struct record *record, bool many)
{
	uint64_t step = record->address - r->last_address;
	uint8_t *to = put(r->far + r->n_far, step << 1 ^ (step >> 63 ? UINT64_MAX : 0));
	if (many) {
		to = put(to, record->number);
		to = put(to, record->n_references);
		to = put(to, record->kind);
	}
	r->n_far = (uint64_t)(to - r->far);
}

static void add_extent(struct records *r, const struct record *record)
{
	uint8_t *to = r->extents + r->n_extents;
	bool size = record->size != SIZE_UNKNOWN, length = record->length != LENGTH_UNKNOWN;
	if (length && !size) {
		to = put(to, record->length + 1);
	} else {
		to = put(to, 0);
		to = put(to, (uint64_t)(size * EXTENT_SIZE | length * EXTENT_LENGTH));
		to = size ? put(to, record->size) : to;
		to = length ? put(to, record->length) : to;
		r->other_extents = true;
		r->any_size |= size;
	}
	r->n_extents = (uint64_t)(to - r->extents);
}

/* How many steps a near record's address is from that of the one before, else 0. */
static inline uint64_t near_steps(uint64_t before, uint64_t address)
{
	uint64_t bytes = address - before, steps = bytes / STEP_BYTES | bytes << 61; /* a remainder in the highest bits */
	return steps > UINT8_MAX ? 0 : steps;
}

int records_add(struct records *r, const struct record *record, bool usual, struct err *err)
{
	bool many = !usual || record->number > UINT16_MAX || record->n_references >= DEGREE_MANY;
	uint64_t steps = many ? 0 : near_steps(r->last_address, record->address);
	if (reserve_record(r, err) < 0)
		return ERR_NOMEM;
	if (record->sized)
		add_extent(r, record);
	if (!steps)
		add_far(r, record, many);
	struct record_group *g = &r->groups[r->n / GROUP_RECORDS];
	unsigned i = r->n++ % GROUP_RECORDS;
	g->number[i] = many ? 0 : (uint16_t)record->number;
	g->step[i] = (uint8_t)steps;
	g->degree[i] = many ? DEGREE_MANY : (uint8_t)record->n_references;
	g->sized |= (uint64_t)record->sized << i;
	r->last_address = record->address;
	r->all_addresses |= record->address;
	return 0;
}

/* Is its size to be kept?  An array's length is, anyway. */
static inline bool is_sized(const struct object_record *o, const struct part_class *class)
{
	return o->size != SIZE_UNKNOWN &&
	    (o->kind != OBJECT_INSTANCE || !o->size || o->size != class->common_size);
}

/* Those of a group or-ed.  Addresses are multiples of what they and the first address are multiples of. */
static uint64_t all_steps(const struct record_group *g)
{
	uint64_t all = 0, eight;
	for (unsigned i = 0; i < GROUP_RECORDS; i += sizeof eight) {
		memcpy(&eight, g->step + i, sizeof eight);
		all |= eight;
	}
	all |= all >> 32;
	all |= all >> 16;
	return (all | all >> 8) & UINT8_MAX;
}

size_t records_add_usual(struct records *r, const struct object_record *objects, size_t n,
    const struct part_class *classes, uint32_t n_classes, bool hashed_too, struct record_sums *sums)
{
	if (r->n == r->cap || r->cap_extents - r->n_extents < GROUP_RECORDS * LONGEST_USUAL)
		return 0;
	struct record_group *g = &r->groups[r->n / GROUP_RECORDS];
	const unsigned first = r->n % GROUP_RECORDS, left = GROUP_RECORDS - first;
	const unsigned end = first + (n < left ? (unsigned)n : left);
	uint64_t before = r->last_address, mask = g->sized, kinds = 0, n_references = 0;
	uint8_t *extent = r->extents + r->n_extents;
	unsigned i;
	n_classes = n_classes < UINT16_MAX + 1 ? n_classes : UINT16_MAX + 1;
	for (i = first; i < end; i++, objects++) {
		const struct object_record *o = objects;
		uint64_t steps = near_steps(before, o->address);
		if (!steps || o->n_references >= DEGREE_MANY || o->class_handle >= n_classes || (o->hashed && !hashed_too))
			break;
		const struct part_class *class = &classes[o->class_handle];
		bool sized = o->kind != OBJECT_INSTANCE;
		uint64_t length = sized ? o->length : 0;
		if (class->kind != (enum record_kind)o->kind || is_sized(o, class) || length > INT32_MAX)
			break;
		*extent = (uint8_t)(length + 1); /* without a branch that goes now this way, now that */
		extent = __builtin_expect(length + 1 < 0x80, 1) ? extent + sized : put(extent, length + 1);
		g->number[i] = (uint16_t)o->class_handle;
		g->step[i] = (uint8_t)steps;
		g->degree[i] = (uint8_t)o->n_references;
		mask |= (uint64_t)sized << i;
		kinds += o->kind;
		n_references += o->n_references;
		before = o->address;
	}
	const unsigned n_sized = bits_ones(mask ^ g->sized);
	sums->n_kind[RECORD_INSTANCE] += i - first - n_sized;
	sums->n_kind[RECORD_OBJECT_ARRAY] += (uint32_t)(2 * n_sized - kinds); /* each of which is 1, and the others 2 */
	sums->n_kind[RECORD_PRIMITIVE_ARRAY] += (uint32_t)(kinds - n_sized);
	sums->n_references += n_references;
	g->sized = mask;
	r->n += i - first;
	r->n_extents = (uint64_t)(extent - r->extents);
	r->last_address = before;
	r->all_addresses |= all_steps(g) * STEP_BYTES;
	return i - first;
}

/* --- walking -------------------------------------------------------------------------------------- */

/* The next number of the far list, which is a step. */
static uint64_t take_step(struct records_walk *w)
{
	uint64_t twice = records_take(w->r->far, &w->far);
	return twice >> 1 ^ (twice & 1 ? UINT64_MAX : 0);
}

void records_next_far(struct records_walk *w, unsigned degree, struct record *out)
{
	w->address += take_step(w);
	if (degree == DEGREE_MANY) {
		out->number = (uint32_t)records_take(w->r->far, &w->far);
		out->n_references = (uint32_t)records_take(w->r->far, &w->far);
		out->kind = (enum record_kind)records_take(w->r->far, &w->far);
	} else {
		out->kind = w->classes[out->number].kind;
	}
}

void records_next_other(struct records_walk *w, struct record *out)
{
	unsigned what = (unsigned)records_take(w->r->extents, &w->extent);
	if (what & EXTENT_SIZE)
		out->size = records_take(w->r->extents, &w->extent);
	if (what & EXTENT_LENGTH)
		out->length = records_take(w->r->extents, &w->extent);
}

/* The sum of 8 steps; 0: some are far. */
static inline uint64_t sum_eight(const uint8_t *steps)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), even = UINT64_C(0x00ff00ff00ff00ff);
	uint64_t all;
	memcpy(&all, steps, sizeof all);
	if ((all - ones) & ~all & ones << 7)
		return 0;
	return ((all & even) + (all >> 8 & even)) * UINT64_C(0x0001000100010001) >> 48;
}

uint64_t records_ascent(const struct records_walk *w, uint64_t most, uint64_t *first, uint64_t *last)
{
	uint64_t left = w->r->n - w->at, n = 1, steps = 0;
	struct records_walk ahead = *w;
	struct record record;
	if (!records_next_bare(&ahead, &record))
		return 0;
	*first = record.address;
	most = most < left ? most : left;
	for (bool near = true; near && n < most;) {
		unsigned i, n_here;
		const uint8_t *step = records_group(w, n, most - n, &i, &n_here)->step + i;
		unsigned k = 0;
		for (uint64_t sum; k + 8 <= n_here && (sum = sum_eight(step + k)) > 0; k += 8)
			steps += sum;
		for (; k < n_here && step[k]; k++)
			steps += step[k];
		near = k == n_here;
		n += k;
	}
	*last = *first + steps * STEP_BYTES;
	return n;
}

void records_skip(struct records_walk *w, uint64_t n, uint64_t last)
{
	struct record record;
	if (n)
		records_next_bare(w, &record);
	if (n > 1)
		records_skip_near(w, n - 1, last);
}
