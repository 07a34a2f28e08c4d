/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gocore_frame.c - which words of a stack are pointers, and the records of its frames.
 *
 * A stack map says which words hold a live pointer at a call (runtime/heapdump.go, dumpframe; stkframe.go,
 * getStackMap).  It leaves out variables whose address was taken: the collector looks at such an object of the stack
 * if a live pointer leads to it (runtime/mgcmark.go, scanstack; mgcstack.go).  The same is done here: each word is
 * marked once, and what it points to is looked up once.
 *
 * Where a frame was interrupted between two calls, any word may be a pointer, as for the collector after a preemption.
 */
#include "dump/gocore/gocore_stack.h"

#include "algorithms/bisect.h"
#include "memory/big.h"

#include <string.h>

enum {
	WORD = 8,
	MAP_HEAD = 8,          /* bytes of a stackmap before the bits: how many maps, bits of each */
	OBJECT_RECORD = 16,    /* stackObjectRecord */
	MOST_OBJECTS = 1 << 16, /* of a frame */
	MOST_OBJECT = 1 << 28, /* bytes */
};

/* --- bits ----------------------------------------------------------------------------------------------- */

/* Mark a word; false: it was. */
static bool mark(struct gocore_stack *s, uint64_t address)
{
	uint64_t i = (address - s->low) / WORD, bit = UINT64_C(1) << i % 64;
	bool is_new = !(s->live[i / 64] & bit);

	s->live[i / 64] |= bit;
	return is_new;
}

static bool bit_of(const uint8_t *map, uint64_t i)
{
	return !map || (map[i / 8] >> i % 8 & 1);
}

/* Mark those of the words from an address on that the map has, as far as they are in a frame. */
static void mark_words(struct gocore_stack *s, uint64_t address, uint64_t n, const uint8_t *map,
    const struct gocore_frame *f)
{
	int64_t below = (int64_t)(f->sp - address) / WORD;

	for (uint64_t i = below > 0 ? (uint64_t)below : 0; i < n; i++) {
		uint64_t at = address + i * WORD;
		if (at < f->sp || at >= f->fp)
			return;
		if (bit_of(map, i))
			mark(s, at);
	}
}

static uint64_t word_at(const struct gocore_stack *s, uint64_t address)
{
	if (!s->bytes)
		return gocore_word(s->image, address);
	return core_number(s->image->core, s->bytes + (address - s->low), WORD);
}

/* --- the maps of a frame -------------------------------------------------------------------------------- */

/* One of a function's maps of bits; false: it has none, or not this one, and *n then is 0. */
static bool find_map(const struct gocore *g, uint64_t maps, int32_t number, const uint8_t **map, uint64_t *n)
{
	uint64_t n_maps, n_bits;

	*n = 0;
	if (!core_load(g->core, maps, 4, &n_maps) || !core_load(g->core, maps + 4, 4, &n_bits))
		return false;
	if (number < 0 || (uint64_t)number >= n_maps || n_bits > INT32_MAX)
		return false;
	uint64_t bytes = (n_bits + 7) / 8;
	*map = core_range(g->core, maps + MAP_HEAD + (uint64_t)number * bytes, bytes);
	*n = *map ? n_bits : 0;
	return *map != NULL;
}

/* Bytes of arguments of one of reflect's stubs, which are those of the function that it stands for: the stub keeps
 * its reflect.methodValue on top of the stack, and whether the results are set. */
static uint64_t stub_arguments(const struct gocore *g, const struct gocore_frame *f)
{
	uint64_t at = f->sp + (g->machine == CORE_ARM64 ? WORD : 0), bits, results;
	uint64_t value = gocore_word(g, at), length = gocore_word(g, value + 2 * WORD);

	if (at >= f->fp || gocore_word(g, value) != f->site->function.entry)
		return 0;
	core_load(g->core, gocore_word(g, value + WORD), 4, &bits);
	core_load(g->core, at + 4 * WORD, 1, &results);
	return results || length / WORD > bits ? bits * WORD : length / WORD * WORD;
}

static uint64_t argument_bytes(const struct gocore *g, const struct gocore_frame *f)
{
	if (f->site->special == REFLECT_STUB)
		return stub_arguments(g, f);
	return f->site->function.arguments == INT32_MIN ? 0 : (uint32_t)f->site->function.arguments;
}

static void find_arguments(struct gocore_stack *s, const struct gocore_frame *f, int32_t number, bool any)
{
	const struct gocore *g = s->image;
	uint64_t maps = gocore_function_data(g, &f->site->function, DATA_ARGUMENTS);
	struct gocore_arguments *a = &s->arguments;

	*a = (struct gocore_arguments){ .address = f->argp, .bytes = argument_bytes(g, f) };
	if (maps && !any)
		find_map(g, maps, number, &a->map, &a->n_words);
	else
		a->n_words = a->bytes / WORD;
}

/* passed: bytes of arguments of the function that this one called. */
static void mark_locals(struct gocore_stack *s, const struct gocore_frame *f, int32_t number, uint64_t passed)
{
	const struct gocore *g = s->image;
	uint64_t maps = gocore_function_data(g, &f->site->function, DATA_LOCALS), n;
	const uint8_t *map;

	core_load(g->core, maps, 4, &n);
	if (!maps) {
		n = f->varp - f->sp;
		mark_words(s, f->sp + passed, passed < n ? (n - passed) / WORD : 0, NULL, f);
	} else if ((int32_t)n < 0) { /* only their size is known */
		n = (0 - n) & UINT32_MAX;
		mark_words(s, f->varp - n, n / WORD, NULL, f);
	} else if (find_map(g, maps, number, &map, &n))
		mark_words(s, f->varp - n * WORD, n, map, f);
}

/* --- objects of the stack ------------------------------------------------------------------------------- */

static int add_object(struct gocore_stack *s, const struct gocore_frame *f, uint64_t record)
{
	const struct gocore *g = s->image;
	const uint8_t *p = core_range(g->core, record, OBJECT_RECORD);

	if (!p)
		return 0;
	int32_t offset = (int32_t)core_number(g->core, p, 4);
	int32_t pointers = (int32_t)core_number(g->core, p + 8, 4);
	struct gocore_stack_object o = {
		.address = (offset >= 0 ? f->argp : f->varp) + (uint64_t)(int64_t)offset,
		.size = core_number(g->core, p + 4, 4),
	};
	uint64_t end = s->n_objects ? s->object[s->n_objects - 1].address + s->object[s->n_objects - 1].size : 0;
	/* below sp it is not there yet; the compiler writes them in ascending order */
	if (o.address % WORD || o.address < f->sp || o.address < end || o.size > MOST_OBJECT)
		return 0;
	/* up to 1.23 a negative number says that the mask is a program that makes it: then any word may be a pointer */
	o.n_words = (uint64_t)(pointers < 0 ? -(int64_t)pointers : pointers) / WORD;
	o.n_words = o.n_words < o.size / WORD ? o.n_words : o.size / WORD;
	uint64_t mask = f->site->function.module->read_only + core_number(g->core, p + 12, 4);
	o.mask = pointers < 0 ? NULL : core_range(g->core, mask, (o.n_words + 7) / 8);
	return BIG_ADD(s->object, s->n_objects, s->cap_objects, s->err, o);
}

static int add_objects(struct gocore_stack *s, const struct gocore_frame *f)
{
	const struct gocore *g = s->image;
	uint64_t at = gocore_function_data(g, &f->site->function, DATA_STACK_OBJECTS), n;
	int code = 0;

	if (f->site->special == REFLECT_STUB) /* one, which the runtime makes when it starts */
		return s->stub_object ? add_object(s, f, s->stub_object) : 0;
	if (!at || !core_load(g->core, at, WORD, &n) || n > MOST_OBJECTS)
		return 0;
	for (uint64_t i = 0; i < n && !code; i++)
		code = add_object(s, f, at + WORD + i * OBJECT_RECORD);
	return code;
}

static struct gocore_stack_object *object_at(struct gocore_stack *s, uint64_t address)
{
	size_t i; /* the first that begins behind it */

	BISECT(i, s->n_objects, s->object[i].address <= address);
	struct gocore_stack_object *o = i ? &s->object[i - 1] : NULL;
	return o && address - o->address < o->size && !o->live ? o : NULL;
}

static int reach(struct gocore_stack *s, uint64_t pointer)
{
	if (pointer < s->low || pointer >= s->high)
		return 0;
	return BIG_ADD(s->queue, s->n_queue, s->cap_queue, s->err, pointer);
}

/* Mark the pointers of an object, and reach what they lead to. */
static int mark_object(struct gocore_stack *s, struct gocore_stack_object *o)
{
	int code = 0;

	o->live = true;
	for (uint64_t i = 0; i < o->n_words && !code; i++) {
		uint64_t at = o->address + i * WORD;
		if (at < s->high && bit_of(o->mask, i) && mark(s, at))
			code = reach(s, word_at(s, at));
	}
	return code;
}

static int mark_objects(struct gocore_stack *s, const uint64_t *pointers, size_t n)
{
	int code = 0;

	s->n_queue = 0;
	for (size_t i = 0; i < n && !code; i++)
		code = reach(s, pointers[i]);
	for (uint64_t i = 0; i < s->n_live && s->n_objects && !code; i++)
		for (uint64_t bits = s->live[i]; bits && !code; bits &= bits - 1)
			code = reach(s, word_at(s, s->low + (i * 64 + (uint64_t)__builtin_ctzll(bits)) * WORD));
	while (s->n_queue && !code) {
		struct gocore_stack_object *o = object_at(s, s->queue[--s->n_queue]);
		code = o ? mark_object(s, o) : 0;
	}
	return code;
}

/* --- frames --------------------------------------------------------------------------------------------- */

void gocore_stack_clear(struct gocore_stack *s)
{
	s->n_frames = s->n_objects = s->n_queue = 0;
	s->low = s->high = s->n_live = 0;
	s->any_word = false;
	s->arguments = (struct gocore_arguments){ .address = 0 };
}

/* Make room for the bits of a frame that ends at fp; they are 0. */
static int grow(struct gocore_stack *s, uint64_t fp)
{
	uint64_t n = (fp - s->low) / WORD / 64 + 1;

	if (n * sizeof *s->live > (s->live ? big_bytes(s->live) : 0)) {
		uint64_t *live = big_resize(s->live, 2 * n + 64, sizeof *live, s->err);
		if (!live)
			return ERR_NOMEM;
		s->live = live;
	}
	if (n > s->n_live)
		memset(s->live + s->n_live, 0, (n - s->n_live) * sizeof *s->live);
	s->n_live = n > s->n_live ? n : s->n_live;
	s->high = fp;
	return 0;
}

/* The number of the map for where a frame goes on. */
static int32_t map_at(const struct gocore *g, const struct gocore_frame *f, uint64_t pc)
{
	int32_t number = f->site->map;

	if (pc != f->pc)
		number = gocore_pc_data(g, &f->site->function, TABLE_STACK_MAP, pc - 1);
	return number == -1 ? 0 : number; /* at the function's entry */
}

int gocore_stack_add(struct gocore_stack *s, const struct gocore_frame *f, bool interrupted)
{
	const struct gocore *g = s->image;
	const struct gocore_arguments passed = s->arguments;
	uint64_t pc = g->as_heap_dump ? f->pc : f->continue_pc;
	bool by_signal = !g->as_heap_dump && (f->site->special == ASYNC_PREEMPT || f->site->special == DEBUG_CALL);
	bool any = interrupted || s->any_word || by_signal;
	struct gocore_stack_frame frame = {
		.pc = f->pc, .continue_pc = f->continue_pc, .entry = f->site->function.entry, .sp = f->sp, .fp = f->fp,
		.name = f->site->function.name, .n_name = f->site->function.n_name,
	};

	if (!s->n_frames)
		s->low = f->sp;
	if (grow(s, f->fp) || BIG_ADD(s->frame, s->n_frames, s->cap_frames, s->err, frame))
		return ERR_NOMEM;
	s->any_word = by_signal;
	mark_words(s, passed.address, passed.n_words, passed.map, f);
	s->arguments = (struct gocore_arguments){ .address = 0 };
	if (!pc) /* it does not go on */
		return 0;
	int32_t number = map_at(g, f, pc);
	if (any)
		mark_words(s, f->sp, (f->varp - f->sp) / WORD, NULL, f);
	else
		mark_locals(s, f, number, passed.bytes);
	find_arguments(s, f, number, any);
	return any || g->as_heap_dump ? 0 : add_objects(s, f);
}

static void tell_frame(const struct gocore_stack *s, size_t i, struct gocore_records *out)
{
	const struct gocore *g = s->image;
	const struct gocore_stack_frame *f = &s->frame[i];
	uint64_t n = f->fp - f->sp;

	gocore_put(out, TAG_FRAME);
	gocore_put(out, f->sp);
	gocore_put(out, i);
	gocore_put(out, i ? f[-1].sp : 0);
	n = gocore_is_there(g, f->sp, n) ? n : 0;
	uint8_t *room = gocore_put_room(out, n);
	if (room && !core_copy(g->core, f->sp, room, n))
		memset(room, 0, n);
	gocore_put(out, f->entry);
	gocore_put(out, f->pc);
	gocore_put(out, f->continue_pc);
	if (f->n_name)
		gocore_put_bytes(out, f->name, f->n_name);
	else
		gocore_put_text(out, "unknown function");
	for (uint64_t at = 0; at < n; at += WORD) {
		uint64_t word = (f->sp + at - s->low) / WORD;
		if (s->live[word / 64] >> word % 64 & 1)
			gocore_put_field(out, at);
	}
	gocore_put_end(out);
}

int gocore_stack_tell(struct gocore_stack *s, const uint64_t *pointers, size_t n, struct gocore_records *out)
{
	s->bytes = s->n_frames ? core_range(s->image->core, s->low, s->high - s->low) : NULL;
	int code = s->image->as_heap_dump ? 0 : mark_objects(s, pointers, n);
	for (size_t i = 0; i < s->n_frames && !code; i++)
		tell_frame(s, i, out);
	return code;
}

void gocore_stack_release(struct gocore_stack *s)
{
	big_free(s->frame);
	big_free(s->object);
	big_free(s->queue);
	big_free(s->live);
}
