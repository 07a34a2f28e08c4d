/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_typing_claim.c - which of its claims an object keeps, and which objects' pointers are still to
 * be followed.
 */
#include "dump/go/go_typing.h"

#include "algorithms/bisect.h"
#include "algorithms/hash.h"
#include "dump/go/go_dump.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 1 << 12, MOST_CHUNKS = 1 << 20, CHUNK_SET = 1 << 21 };

/* The runtime's size classes (runtime/sizeclasses.go); larger objects take whole pages. */
static const uint16_t size_class[] = {
    0, 8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256, 288, 320, 352,
    384, 416, 448, 480, 512, 576, 640, 704, 768, 896, 1024, 1152, 1280, 1408, 1536, 1792, 2048, 2304,
    2688, 3072, 3200, 3456, 4096, 4864, 5376, 6144, 6528, 6784, 6912, 8192, 9472, 9728, 10240,
    10880, 12288, 13568, 14336, 16384, 18432, 19072, 20480, 21760, 24576, 27264, 28672, 32768,
};
enum { N_CLASSES = sizeof size_class / sizeof *size_class };

/* Would so many bytes have been put into a smaller object? */
static bool too_few(uint64_t bytes, uint64_t object)
{
	unsigned at;

	if (object > size_class[N_CLASSES - 1])
		return object - bytes >= GO_PAGE;
	BISECT(at, N_CLASSES, size_class[at] < object); /* the first class that is not below the object */
	return at && bytes <= size_class[at - 1];
}

uint64_t typing_size_class(uint64_t bytes)
{
	for (unsigned i = 0; i < N_CLASSES; i++)
		if (bytes <= size_class[i])
			return size_class[i];
	return bytes > UINT64_MAX - GO_PAGE ? bytes : (bytes + GO_PAGE - 1) / GO_PAGE * GO_PAGE;
}

uint64_t typing_address(const struct typing *t, uint32_t id)
{
	uint64_t start = 0;

	t->c->bytes(t->c, id, &start, NULL);
	return start;
}

static enum coverage coverage(uint64_t bytes, uint64_t object)
{
	if (!too_few(bytes, object))
		return COVER_ALL;
	return bytes >= object - bytes ? COVER_HALF : COVER_LITTLE;
}

uint64_t typing_head(struct typing *t, uint32_t id, uint64_t size)
{
	if (!go_header(&t->layout, size, true) || typing_pointer_free(t, id))
		return 0;
	const uint8_t *bytes = size == GO_LARGEST_SMALL && t->dump ? t->c->bytes(t->c, id, NULL, NULL) : NULL;
	return bytes ? go_head((const struct go *)t->dump, bytes, size, true) : t->layout.header;
}

/* --- states ------------------------------------------------------------------------------------- */

static uint32_t state_of(enum coverage c, uint32_t form, enum typed_by by)
{
	return (uint32_t)c << (FORM_BITS + BY_BITS) | form << BY_BITS | (uint32_t)by;
}

static uint32_t form_of(uint32_t state)
{
	return state >> BY_BITS & (MOST_FORMS - 1);
}

uint32_t typing_of(const struct typing *t, uint32_t id, bool *array)
{
	uint32_t form = form_of(t->state[id]);

	*array = form & 1;
	if (!t->state[id] || form >= 2 * t->go.types->n)
		return TYPE_NONE;
	return t->go.by_rank[form / 2];
}

/* The function whose closure an object is, or UINT32_MAX. */
static uint32_t typing_closure_of(const struct typing *t, uint32_t id)
{
	uint32_t form = form_of(t->state[id]);

	return t->state[id] && form != t->tiny_form && form >= 2 * t->go.types->n ? form - 2 * t->go.types->n : UINT32_MAX;
}

/* Does a value of type big begin with one of type small?  All pointers count as one type. */
static bool leads(const struct types *t, uint32_t big, uint32_t small)
{
	for (unsigned depth = 0; depth <= TYPE_DEPTH && big != TYPE_NONE; depth++) {
		const struct type *of = &t->type[big];
		if (big == small || (of->kind == TYPE_POINTER && t->type[small].kind == TYPE_POINTER))
			return true;
		if (of->kind == TYPE_ARRAY)
			big = of->element;
		else if (of->kind == TYPE_STRUCT && of->n_fields && !t->field[of->first_field].offset)
			big = t->field[of->first_field].type;
		else
			break;
	}
	return false;
}

/* Are these one struct under two names, as the compiler tells the shape of a generic one twice? */
static bool same_struct(const struct types *t, uint32_t a, uint32_t b)
{
	const struct type *x = &t->type[a], *y = &t->type[b];

	if (x->kind != TYPE_STRUCT || y->kind != TYPE_STRUCT || x->size != y->size || x->n_fields != y->n_fields)
		return false;
	for (uint32_t i = 0; i < x->n_fields; i++) {
		const struct type_field *f = &types_fields(t, x)[i], *g = &types_fields(t, y)[i];
		if (f->offset != g->offset || f->type != g->type || strcmp(f->name, g->name) != 0)
			return false;
	}
	return true;
}

/* Two claims that fill one object: can both be right? */
static bool agree(const struct typing *t, uint32_t a, uint32_t b)
{
	uint32_t limit = 2 * t->go.types->n;

	if (a == b)
		return true;
	if (a >= limit || b >= limit)
		return false;
	uint32_t x = t->go.by_rank[a / 2], y = t->go.by_rank[b / 2];
	return leads(t->go.types, x, y) || leads(t->go.types, y, x) || same_struct(t->go.types, x, y);
}

static bool to_follow(const struct typing *t, uint32_t state)
{
	uint32_t form = form_of(state), limit = 2 * t->go.types->n;

	if (state >> (FORM_BITS + BY_BITS) == COVER_GUESSED)
		return false;
	return (form >= limit && form != t->tiny_form) ||
	    (form < limit && t->go.of[t->go.by_rank[form / 2]].n_slots);
}

static void enqueue(struct typing *t, uint32_t id)
{
	if (t->n_queue == TYPING_QUEUE) {
		t->n_waiting += !(t->waiting[id / 64] >> id % 64 & 1);
		t->waiting[id / 64] |= UINT64_C(1) << id % 64;
		return;
	}
	t->queue[(t->head + t->n_queue++) % TYPING_QUEUE] = id;
}

static void join(struct typing *t, uint32_t id, uint32_t state)
{
	uint32_t had = t->state[id];
	uint32_t all = (uint32_t)COVER_ALL << (FORM_BITS + BY_BITS);

	if (had >= all && state >= all && !agree(t, form_of(had), form_of(state)))
		t->conflicts++;
	if (state <= had)
		return;
	t->state[id] = state;
	if ((!had || form_of(had) != form_of(state) || !to_follow(t, had)) && to_follow(t, state))
		enqueue(t, id);
}

void typing_claim_exact(struct typing *t, uint32_t id, uint32_t type, bool array)
{
	join(t, id, state_of(COVER_EXACT, 2 * t->go.of[type].rank + array, TYPED_BY_HEADER));
}

/* --- chunks ------------------------------------------------------------------------------------- */

static void note_chunk(struct typing *t, uint64_t address, uint32_t type, uint64_t count)
{
	uint64_t key = hash_step(hash_step(hash_number(address), type), count) | 1;
	uint64_t at = key >> 43;

	if (!t->go.of[type].n_slots)
		return;
	if (t->n_chunks >= MOST_CHUNKS) {
		t->lost++;
		return;
	}
	if (!t->chunk_set)
		t->chunk_set = big_alloc(CHUNK_SET, sizeof *t->chunk_set, t->err);
	t->refused |= !t->chunk_set;
	if (!t->chunk_set)
		return;
	for (; t->chunk_set[at % CHUNK_SET]; at++)
		if (t->chunk_set[at % CHUNK_SET] == key)
			return;
	t->chunk_set[at % CHUNK_SET] = key;
	struct chunk *to = BIG_PUSH(t->chunk, t->n_chunks, t->cap_chunks, t->err);
	t->refused |= !to;
	if (to)
		*to = (struct chunk){address, count, type};
}

/* --- claims ------------------------------------------------------------------------------------- */

/* Where a claim lies. */
struct place {
	uint32_t id;
	uint64_t offset, room; /* from the object's first value; bytes from there to its end */
	uint64_t size;         /* of the object */
	uint64_t head;         /* bytes before its first value */
};

static void place_in(struct typing *t, uint64_t address, uint64_t start, struct place *p)
{
	p->size = t->c->size(t->c, p->id);
	p->offset = address - start;
	p->room = p->size - p->offset;
	p->head = p->offset ? typing_head(t, p->id, p->size) : 0;
	if (p->offset < p->head)
		p->head = 0; /* nothing of Go points there */
	p->offset -= p->head;
}

static bool find(struct typing *t, uint64_t address, struct place *p)
{
	uint64_t start;

	if (address < t->low || address >= t->high)
		return false;
	p->id = t->c->object_at(t->c, address, &start);
	if (p->id == UINT32_MAX)
		return false;
	place_in(t, address, start, p);
	return true;
}

bool typing_pointers(struct typing *t, uint32_t id, uint64_t *size, struct go_pointers *out)
{
	const uint8_t *bytes = t->field_lists ? t->c->bytes(t->c, id, NULL, size) : NULL;

	if (bytes)
		go_pointers_of((const struct go *)t->dump, bytes, *size, out);
	return bytes && (!out->list || out->list < out->end);
}

bool typing_pointer_free(struct typing *t, uint32_t id)
{
	struct go_pointers p;
	uint64_t size, kind, offset;

	if (!typing_pointers(t, id, &size, &p))
		return false;
	return p.list ? *p.list == 0 : !go_pointers_next(&p, &kind, &offset);
}

/*
 * The allocator puts values without pointers that are smaller than 16 bytes together into one object
 * (runtime/malloc.go: the tiny allocator).  What only a part of one is claimed to be names it while
 * nothing else is known of it; values of one type beside one another are an array; else it is a block.
 * False: it is no such object, or it is claimed as a whole.
 */
static bool settle_part(struct typing *t, const struct claim *c, const struct place *p)
{
	uint64_t span = (c->count ? c->count : 1) * t->go.types->type[c->type].size;
	uint32_t form = 2 * t->go.of[c->type].rank + (c->count || p->offset), had = t->state[p->id];

	if (p->size != TINY || span >= TINY || t->go.of[c->type].pointers || t->go.of[c->type].unsure)
		return false;
	/* what fills it, or was asked about before, needs no second look */
	bool filled = !p->offset && span > TINY - t->word;
	if (!filled && had != state_of(COVER_HALF, form, c->by) && !typing_pointer_free(t, p->id))
		return false;
	bool mixed = (had && form_of(had) / 2 != form / 2) ||
	    p->offset % t->go.types->type[c->type].size != 0;
	join(t, p->id, state_of(COVER_HALF, mixed ? t->tiny_form : form, c->by));
	return true;
}

/* A claim at the beginning of an object: what does not fit it is a part of it.  Where it leaves no
 * room for a pointer behind it there is nothing to ask. */
static void settle_at_start(struct typing *t, const struct claim *c, const struct place *p,
    uint32_t state, uint64_t count)
{
	uint64_t span = (c->count ? c->count : 1) * t->go.types->type[c->type].size;

	if (state <= t->state[p->id] || p->room - span < t->word || typing_fits(t, p->id, c->type, count))
		join(t, p->id, state);
	else
		note_chunk(t, c->address, c->type, c->count ? c->count : 1);
}

/* Of the two types that begin with this one, that which the value says it is. */
static uint32_t continued(struct typing *t, uint32_t type, const struct place *p)
{
	const struct type_facts *g = &t->go.of[type];
	const uint8_t *bytes = t->c->bytes(t->c, p->id, NULL, NULL);
	uint32_t is = bytes && p->room && bytes[p->head + p->offset] ? g->if_set : g->if_clear;

	return bytes && p->room && is != TYPE_NONE ? is : type;
}

/* A channel of any type tells the descriptor of its elements' (runtime/chan.go: elemtype). */
static uint32_t channel_of(struct typing *t, uint32_t type, const struct place *p)
{
	const uint8_t *bytes = t->c->bytes(t->c, p->id, NULL, NULL);
	uint32_t f = types_field(t->go.types, type, "elemtype");
	uint64_t at = f == UINT32_MAX ? p->room : t->go.types->field[f].offset;

	if (!bytes || p->room < t->word || at > p->room - t->word)
		return type;
	uint32_t element = typing_described(t, typing_word(t, bytes + p->head + p->offset + at), NULL);
	uint32_t channel = element == TYPE_NONE ? TYPE_NONE : t->go.of[element].channel;
	return channel == TYPE_NONE ? type : channel;
}

static void settle_one(struct typing *t, struct claim *c, const struct place *p)
{
	if (c->type == t->go.any_channel && c->type != TYPE_NONE)
		c->type = channel_of(t, c->type, p);
	if (t->go.of[c->type].continues)
		c->type = continued(t, c->type, p);
	const struct type_facts *g = &t->go.of[c->type];
	uint64_t size = t->go.types->type[c->type].size;

	if (size > p->room)
		t->conflicts++;
	else if (settle_part(t, c, p))
		return;
	else if (p->offset)
		note_chunk(t, c->address, c->type, 1);
	else
		settle_at_start(t, c, p, state_of(g->open_ended ? COVER_ALL : coverage(size + p->head, p->size),
		    2 * g->rank, c->by), 0);
}

static void settle_array(struct typing *t, const struct claim *c, const struct place *p)
{
	const struct type_facts *g = &t->go.of[c->type];
	uint64_t size = t->go.types->type[c->type].size;
	uint32_t form = 2 * g->rank + 1;

	if (c->count > p->room / size) {
		t->conflicts++;
		return;
	}
	if (settle_part(t, c, p))
		return;
	if (!p->offset) {
		settle_at_start(t, c, p, state_of(coverage(c->count * size + p->head, p->size), form, c->by), c->count);
		return;
	}
	/* a slice of a part, or of an array in the middle of something else */
	note_chunk(t, c->address, c->type, c->count);
	uint32_t state = state_of(COVER_GUESSED, form, c->by);
	if (p->offset % size == 0 && (g->pointers || typing_pointer_free(t, p->id)) &&
	    (state <= t->state[p->id] || typing_fits(t, p->id, c->type, GUESSED_COUNT)))
		join(t, p->id, state);
}

/* Find the object of the oldest claim that has none. */
static void locate_next(struct typing *t)
{
	struct claim *c = &t->claim[(t->first_claim + t->n_located++) % CLAIMS];

	c->id = t->c->object_at(t->c, c->address, &c->start);
	if (c->id == UINT32_MAX)
		return;
	__builtin_prefetch(&t->state[c->id], 1);
	t->c->soon(t->c, c->id, false);
}

static void settle_next(struct typing *t)
{
	if (!t->n_located)
		locate_next(t);
	struct claim *c = &t->claim[t->first_claim];
	struct place p = {.id = c->id};
	t->first_claim = (t->first_claim + 1) % CLAIMS;
	t->n_claims--;
	t->n_located--;
	if (p.id == UINT32_MAX)
		return;
	place_in(t, c->address, c->start, &p);
	if (c->count)
		settle_array(t, c, &p);
	else
		settle_one(t, c, &p);
}

static void add_claim(struct typing *t, uint64_t address, uint32_t type, uint64_t count,
    enum typed_by by)
{
	if (t->go.of[type].ignored)
		return;
	if (address < t->low || address >= t->high) {
		typing_claim_static(t, address, type, count, by);
		return;
	}
	if (t->n_claims == CLAIMS)
		settle_next(t);
	t->claim[(t->first_claim + t->n_claims++) % CLAIMS] =
	    (struct claim){.address = address, .count = count, .type = type, .by = by};
	t->c->soon_at(t->c, address);
	if (t->n_claims - t->n_located > CLAIM_AHEAD)
		locate_next(t);
}

void typing_claim(struct typing *t, uint64_t address, uint32_t type, enum typed_by by)
{
	add_claim(t, address, type, 0, by);
}

void typing_claim_array(struct typing *t, uint64_t address, uint32_t type, uint64_t count,
    enum typed_by by)
{
	if (count)
		add_claim(t, address, type, count, by);
}

void typing_claim_slice(struct typing *t, uint64_t address, uint32_t element, enum typed_by by)
{
	uint64_t start, size;
	struct place p;

	if (!find(t, address, &p))
		return;
	const uint8_t *bytes = t->c->bytes(t->c, p.id, &start, &size);
	if (!bytes || size < 3 * t->word || address - start > size - 3 * t->word)
		return;
	bytes += address - start;
	typing_claim_array(t, typing_word(t, bytes), element, typing_word(t, bytes + 2 * t->word), by);
}

void typing_claim_closure(struct typing *t, uint64_t address, enum typed_by by)
{
	uint64_t size;
	uint32_t function;
	struct place p;

	if (!t->program || !find(t, address, &p) || p.offset || p.size < t->word)
		return;
	const uint8_t *bytes = t->c->bytes(t->c, p.id, NULL, &size);
	if (!bytes || size < t->word)
		return;
	uint64_t entry = typing_word(t, bytes);
	if (!program_function_at(t->program, entry, &function) ||
	    program_function_entry(t->program, function) != entry ||
	    function >= MOST_FORMS - 2 * t->go.types->n - 1)
		return;
	join(t, p.id, state_of(COVER_ALL, 2 * t->go.types->n + function, by));
}

/* --- following ---------------------------------------------------------------------------------- */

static void walk_object(struct typing *t, uint32_t id)
{
	uint64_t size, head;
	bool array;
	uint32_t type = typing_of(t, id, &array), function = typing_closure_of(t, id);
	const uint8_t *bytes = t->c->bytes(t->c, id, NULL, &size);

	if (!bytes)
		return;
	if (function != UINT32_MAX) {
		typing_walk_captures(t, function, bytes, size);
		return;
	}
	head = typing_head(t, id, size);
	struct memory m = {.bytes = bytes, .size = size};
	/* what follows from a guess is one */
	bool fit = (t->state[id] & ((1u << BY_BITS) - 1)) == TYPED_BY_FIT;
	typing_walk(t, &m, head, type, array ? (size - head) / t->go.types->type[type].size : 1,
	    fit ? TYPED_BY_FIT : TYPED_BY_POINTER);
}

/* A chunk tells something new unless its object is known as a whole. */
static void walk_chunk(struct typing *t, const struct chunk *c)
{
	uint64_t start, size, span = c->count * t->go.types->type[c->type].size;
	bool array;
	struct place p;

	if (!find(t, c->address, &p))
		return;
	uint32_t type = typing_of(t, p.id, &array);
	bool guessed = t->state[p.id] >> (FORM_BITS + BY_BITS) == COVER_GUESSED;
	if (type != TYPE_NONE && !guessed &&
	    (array || t->go.types->type[type].size >= p.offset + span))
		return;
	const uint8_t *bytes = t->c->bytes(t->c, p.id, &start, &size);
	struct memory m = {.bytes = bytes, .size = size};
	if (bytes)
		typing_walk(t, &m, c->address - start, c->type, c->count, TYPED_BY_POINTER);
}

/* Objects that did not fit, in ascending order from where the last sweep stopped; false: there are
 * none. */
static bool refill(struct typing *t)
{
	uint32_t words = t->c->n_objects / 64 + 1;

	for (uint32_t n = 0; n < words && t->n_waiting; n++, t->sweep = t->sweep + 1 < words ? t->sweep + 1 : 0)
		while (t->waiting[t->sweep]) {
			if (t->n_queue == TYPING_QUEUE / 2)
				return true;
			uint32_t bit = (uint32_t)__builtin_ctzll(t->waiting[t->sweep]);
			t->waiting[t->sweep] &= t->waiting[t->sweep] - 1;
			t->n_waiting--;
			enqueue(t, t->sweep * 64 + bit);
		}
	return t->n_queue > 0;
}

/* What the objects next in turn will be read for. */
static void look_ahead(struct typing *t)
{
	enum { NOTES = 12, CONTENTS = 6 };

	if (t->n_queue > NOTES) {
		t->c->soon(t->c, t->queue[(t->head + NOTES) % TYPING_QUEUE], true);
		const uint8_t *bytes = t->c->bytes(t->c, t->queue[(t->head + CONTENTS) % TYPING_QUEUE], NULL, NULL);
		__builtin_prefetch(bytes);
		__builtin_prefetch(bytes + 64);
	}
}

int typing_drain(struct typing *t)
{
	if (progress_cancelled(t->progress)) /* what claims came from may have been left early */
		return err_cancelled(t->err);
	for (unsigned steps = 1;; steps++) {
		if (t->refused)
			return ERR_NOMEM;
		if (steps % BATCH == 0 && !progress_add(t->progress, BATCH))
			return err_cancelled(t->err);
		if (!t->n_queue)
			while (t->n_claims)
				settle_next(t);
		if (t->n_queue || refill(t)) {
			look_ahead(t);
			uint32_t id = t->queue[t->head];
			t->head = (t->head + 1) % TYPING_QUEUE;
			t->n_queue--;
			walk_object(t, id);
		} else if (typing_walk_static(t)) {
			continue;
		} else if (t->done_chunks < t->n_chunks) {
			struct chunk c = t->chunk[t->done_chunks++];
			walk_chunk(t, &c);
		} else {
			return 0;
		}
	}
}
