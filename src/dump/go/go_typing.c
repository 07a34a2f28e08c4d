/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_typing.c - the first claims: those of variables, of frames, and of what the runtime records.
 */
#include "dump/go/go_typing.h"

#include "algorithms/map.h"
#include "algorithms/sort.h"
#include "base/mem.h"
#include "dump/go/go_dump.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

/* --- variables in data and bss --------------------------------------------------------------------- */

static void from_segment(struct typing *t, const struct go *g, enum go_tag tag)
{
	size_t run = 0, n;
	uint64_t at = 0;
	struct go_record r;
	const struct program_variable *v = program_variables(t->program, &n);

	while (go_next(g, tag, &run, &at, &r)) {
		struct memory m = {
		    .bytes = r.s[0].p, .size = r.s[0].n, .address = r.u[SEGMENT_ADDRESS]};
		for (size_t i = 0; i < n; i++) {
			uint64_t offset = v[i].address - r.u[SEGMENT_ADDRESS];
			m.variable = &v[i];
			if (v[i].address >= r.u[SEGMENT_ADDRESS] && offset < m.size)
				typing_walk(t, &m, offset, v[i].type, 1, TYPED_BY_GLOBAL);
		}
	}
}

static void add_segments(struct typing *t, const struct go *g, enum go_tag tag)
{
	size_t run = 0;
	uint64_t at = 0;

	for (struct go_record r; go_next(g, tag, &run, &at, &r);)
		typing_add_segment(t, r.u[SEGMENT_ADDRESS], r.s[0].p, r.s[0].n);
}

/* --- frames ------------------------------------------------------------------------------------------ */

enum { MOST_VARIABLE = 1 << 16, MOST_PCS = 1 << 16 };

/* The variables of each pc met, so that a thousand goroutines at one place cost no more than one. */
struct pc_cache {
	struct pc_locals { uint64_t pc; size_t first, n; } *of;
	struct map map;
	struct program_local *local;
	size_t n, cap, n_pcs, cap_pcs;
};

#define pc_at(list, i) ((list)[i].pc)
MAP(pcs, const struct pc_locals *, uint64_t, pc_at, hash_number, map_same)

/* A stack frame and which of its words are live pointers. */
struct frame {
	uint64_t sp, size, pc;
	const uint8_t *bytes;
	uint64_t *live; /* a bit for each word */
	uint64_t cap;   /* words of it */
	unsigned word;
};

static const struct program_local *locals_at(struct typing *t, struct pc_cache *c, uint64_t pc,
    size_t *n)
{
	uint32_t *slot = pcs_enter(&c->map, c->of, (uint32_t)c->n_pcs, pc, t->err);

	t->refused |= !slot;
	if (slot && !*slot) {
		const struct program_local *found;
		t->refused |= program_locals(t->program, pc, &found, n, t->err) < 0;
		if (c->n_pcs == MOST_PCS)
			return found;
		struct pc_locals *of = t->refused ? NULL : BIG_PUSH(c->of, c->n_pcs, c->cap_pcs, t->err);
		t->refused |= !of;
		if (of) {
			*of = (struct pc_locals){pc, c->n, *n};
			*slot = (uint32_t)c->n_pcs;
		}
		for (size_t i = 0; i < *n && !t->refused; i++) {
			struct program_local *to = BIG_PUSH(c->local, c->n, c->cap, t->err);
			t->refused |= !to;
			if (to)
				*to = found[i];
		}
	}
	if (t->refused) {
		*n = 0;
		return NULL;
	}
	const struct pc_locals *of = &c->of[*slot - 1];
	*n = of->n;
	return *n ? c->local + of->first : NULL;
}

static bool set_live(void *context, uint64_t offset, uint64_t value)
{
	struct frame *f = context;
	uint64_t i = offset / f->word;

	(void)value;
	f->live[i / 64] |= UINT64_C(1) << i % 64;
	return true;
}

static int load_frame(struct frame *f, const struct go *g, const struct go_record *r, struct err *err)
{
	uint64_t words = r->s[0].n / g->word / 64 + 1;

	if (words > f->cap) {
		uint64_t *live = big_resize(f->live, words, sizeof *live, err);
		if (!live)
			return ERR_NOMEM;
		f->live = live;
		f->cap = words;
	}
	memset(f->live, 0, words * sizeof *f->live);
	*f = (struct frame){.sp = r->u[FRAME_SP], .size = r->s[0].n, .pc = r->u[FRAME_PC],
	    .bytes = r->s[0].p, .live = f->live, .cap = f->cap, .word = g->word};
	go_each_pointer(g, r, set_live, f);
	return 0;
}

/* A variable put together from its pieces, and which words of it are live pointers. */
struct variable {
	uint8_t *bytes;
	uint64_t *live;
	unsigned word;
};

static bool is_live(const struct memory *m, uint64_t offset)
{
	const struct variable *v = m->context;
	uint64_t i = offset / v->word;

	return v->live[i / 64] >> i % 64 & 1;
}

/* The variables of a function called from or running in frame f, as far as they lie in f. */
static void walk_locals(struct typing *t, struct pc_cache *c, const struct frame *f, uint64_t pc,
    uint64_t cfa, struct variable *v)
{
	size_t n;
	const struct program_local *l = locals_at(t, c, pc - 1, &n);

	for (size_t i = 0; i < n;) {
		uint64_t size = t->go.types->type[l[i].type].size;
		const struct program_local *first = &l[i];
		bool any = false;
		if (size > MOST_VARIABLE || !t->go.of[first->type].n_slots) {
			i++;
			continue;
		}
		memset(v->bytes, 0, size);
		memset(v->live, 0, (size / t->word / 64 + 1) * sizeof *v->live);
		do { /* the pieces of one variable follow one another */
			uint64_t at = cfa + (uint64_t)l[i].offset - f->sp;
			if (at < f->size && l[i].size <= f->size - at) {
				memcpy(v->bytes + l[i].first, f->bytes + at, l[i].size);
				for (uint64_t k = 0; k + t->word <= l[i].size; k += t->word) {
					uint64_t from = (at + k) / t->word, to = (l[i].first + k) / t->word;
					if ((at + k) % t->word == 0 && f->live[from / 64] >> from % 64 & 1)
						v->live[to / 64] |= UINT64_C(1) << to % 64;
				}
				any = true;
			}
			i++;
		} while (i < n && l[i].first && l[i].type == first->type && !strcmp(l[i].name, first->name));
		struct memory m = {.bytes = v->bytes, .size = size, .live = is_live, .context = v};
		if (any)
			typing_walk(t, &m, 0, first->type, 1, TYPED_BY_FRAME);
	}
}

/* A worker of the garbage collector keeps what it is in a place that DWARF does not tell (runtime/mgc.go:
 * gcBgMarkWorker): of what its frame points to, that which has the size and no pointers. */
enum { MOST_TAG_ALIGNMENT = 1024 };

static void walk_worker(struct typing *t, const struct frame *f)
{
	const char *function = program_function_at(t->program, f->pc, NULL);

	if (!function || strcmp(function, "runtime.gcBgMarkWorker") != 0)
		return;
	uint32_t type = types_by_name(t->go.types, "runtime.gcBgMarkWorkerNodePadded");
	if (type == TYPE_NONE)
		type = types_by_name(t->go.types, "runtime.gcBgMarkWorkerNode");
	for (uint64_t i = 0; type != TYPE_NONE && i < f->size / f->word; i++) {
		uint64_t start, at = f->live[i / 64] >> i % 64 & 1 ? typing_word(t, f->bytes + i * f->word) : 0;
		uint32_t id = at >= t->low && at < t->high ? t->c->object_at(t->c, at, &start) : UINT32_MAX;
		uint64_t size = id != UINT32_MAX ? t->c->size(t->c, id) : 0;
		/* padded, it has as many bytes as the alignment of its address, which need not be in DWARF */
		if (size >= t->go.types->type[type].size && size <= MOST_TAG_ALIGNMENT && at == start &&
		    typing_pointer_free(t, id))
			typing_claim(t, at, type, TYPED_BY_FIT);
	}
}

/* A frame ends where its caller's begins; what is passed on the stack lies there. */
static void from_frames(struct typing *t, const struct go *g)
{
	size_t run = 0;
	uint64_t at = 0, callee_pc = 0, callee_end = 0;
	struct frame f = {.word = t->word};
	struct pc_cache c = {.n = 0};
	struct variable v = {.word = t->word, .bytes = xmalloc(MOST_VARIABLE),
	    .live = xcalloc(MOST_VARIABLE / t->word / 64 + 1, sizeof *v.live)};

	for (struct go_record r; !t->refused && go_next(g, GO_FRAME, &run, &at, &r);) {
		if (load_frame(&f, g, &r, t->err) < 0) {
			t->refused = true;
			break;
		}
		if (r.u[FRAME_DEPTH] && callee_end == f.sp)
			walk_locals(t, &c, &f, callee_pc, callee_end, &v);
		walk_locals(t, &c, &f, f.pc, f.sp + f.size, &v);
		walk_worker(t, &f);
		callee_pc = f.pc;
		callee_end = f.sp + f.size;
	}
	big_free(f.live);
	big_free(c.of);
	map_release(&c.map);
	big_free(c.local);
	free(v.bytes);
	free(v.live);
}

/* --- what the runtime records ------------------------------------------------------------------------ */

static void claim_named(struct typing *t, uint64_t address, uint32_t type)
{
	if (type != TYPE_NONE)
		typing_claim(t, address, type, TYPED_BY_RUNTIME);
}

static void from_records(struct typing *t, const struct go *g)
{
	static const enum go_tag tags[] = {
	    GO_GOROUTINE, GO_THREAD, GO_DEFER, GO_PANIC, GO_FINALIZER, GO_QUEUED};
	uint32_t goroutine = types_by_name(t->go.types, "runtime.g");
	uint32_t thread = types_by_name(t->go.types, "runtime.m");
	uint32_t deferred = types_by_name(t->go.types, "runtime._defer");

	for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
		size_t run = 0;
		uint64_t at = 0;
		for (struct go_record r; go_next(g, tags[i], &run, &at, &r);) {
			switch (r.tag) {
			case GO_GOROUTINE:
				claim_named(t, r.u[GOROUTINE_ADDRESS], goroutine);
				typing_claim_closure(t, r.u[GOROUTINE_CONTEXT], TYPED_BY_RUNTIME);
				break;
			case GO_THREAD:
				claim_named(t, r.u[THREAD_ADDRESS], thread);
				break;
			case GO_DEFER:
				claim_named(t, r.u[DEFER_ADDRESS], deferred);
				typing_claim_closure(t, r.u[DEFER_CLOSURE], TYPED_BY_RUNTIME);
				typing_walk_closure(t, r.u[DEFER_CLOSURE], r.u[DEFER_ENTRY]);
				break;
			case GO_PANIC:
				typing_interface(t, r.u[PANIC_TYPE], r.u[PANIC_DATA], TYPED_BY_INTERFACE);
				break;
			default:
				typing_interface(t, r.u[FINALIZER_TYPE], r.u[FINALIZER_OBJECT], TYPED_BY_RUNTIME);
				typing_claim_closure(t, r.u[FINALIZER_CLOSURE], TYPED_BY_RUNTIME);
				break;
			}
		}
	}
}

/* --- interface tables --------------------------------------------------------------------------------- */

struct itab { uint64_t address, type; };

static int by_address(const void *a, const void *b)
{
	const struct itab *x = a, *y = b;
	return (x->address > y->address) - (x->address < y->address);
}

static void read_itabs(struct typing *t, const struct go *g)
{
	struct itab *all = NULL;
	size_t n = 0, cap = 0, run = 0;
	uint64_t at = 0;

	/* before go1.5 the record tells the type of the data word, not of the value */
	for (struct go_record r; g->version >= 5 && !t->refused && go_next(g, GO_ITAB, &run, &at, &r);) {
		struct itab *to = BIG_PUSH(all, n, cap, t->err);
		t->refused |= !to;
		if (to)
			*to = (struct itab){r.u[ITAB_ADDRESS], r.u[ITAB_TYPE]};
	}
	t->refused |= sort(all, n, sizeof *all, by_address, t->err) < 0;
	t->itab = (uint64_t *)all;
	t->n_itabs = n;
}

/* Interfaces that stand in memory of which nothing is known: a word that is an itab or a type
 * descriptor, and behind it a pointer to an object. */
static int from_unknown(struct typing *t)
{
	if (!t->n_itabs && !t->program)
		return 0;
	for (uint32_t id = 0; id < t->c->n_objects; id++) {
		uint64_t size;
		if (id % 65536 == 0 && !progress_add(t->progress, 0))
			return err_cancelled(t->err);
		if (t->state[id])
			continue;
		const uint8_t *bytes = t->c->bytes(t->c, id, NULL, &size);
		if (!bytes || typing_pointer_free(t, id))
			continue;
		for (uint64_t at = 0; at + 2 * t->word <= size; at += t->word) {
			uint64_t word = typing_word(t, bytes + at);
			uint64_t type = word ? typing_itab(t, word) : 0;
			if (type)
				typing_interface(t, type, typing_word(t, bytes + at + t->word), TYPED_BY_INTERFACE);
		}
		if (t->program)
			typing_claim_closure(t, typing_address(t, id), TYPED_BY_FIT);
	}
	return 0;
}

/* --- all of it ----------------------------------------------------------------------------------------- */

static int begin(struct typing *t, struct go *g, struct classifier *c, struct err *err)
{
	uint32_t n = c->n_objects;

	*t = (struct typing){
	    .c = c, .program = g->program, .word = g->word, .big_endian = g->big_endian,
	    .dump = &g->dump, .layout = g->layout, .low = g->heap_start, .high = g->heap_end,
	    .field_lists = g->version >= 4, .err = err,
	};
	if (type_book_build(&t->go, g->dump.types, err) < 0)
		return ERR_NOMEM;
	t->tiny_form = 2 * t->go.types->n + (g->program ? program_n_functions(g->program) : 0);
	read_itabs(t, g);
	t->state = big_alloc(n, sizeof *t->state, err);
	t->waiting = big_alloc((uint64_t)n / 64 + 1, sizeof *t->waiting, err);
	t->queue = big_alloc(TYPING_QUEUE, sizeof *t->queue, err);
	if (t->state && t->waiting && t->queue && !t->refused)
		return 0;
	return progress_cancelled(progress_own()) ? ERR_CANCELLED : ERR_NOMEM;
}

static void end(struct typing *t)
{
	big_free(t->state);
	big_free(t->waiting);
	big_free(t->queue);
	big_free(t->chunk);
	big_free(t->chunk_set);
	big_free(t->itab);
	type_book_release(&t->go);
}

int go_classify(struct dump *dump, struct classifier *c, struct progress *p, struct err *err)
{
	struct go *g = (struct go *)dump;
	struct typing t;

	if (!g->word)
		return 0;
	int code = begin(&t, g, c, err);
	t.progress = p;
	progress_phase(p, PHASE_FIND_TYPES, c->n_objects);
	if (!code)
		code = typing_from_headers(&t);
	if (!code && t.program && program_has_types(t.program)) {
		add_segments(&t, g, GO_DATA);
		add_segments(&t, g, GO_BSS);
		from_segment(&t, g, GO_DATA);
		from_segment(&t, g, GO_BSS);
		from_frames(&t, g);
		from_records(&t, g);
		code = typing_drain(&t);
	}
	if (!code)
		code = from_unknown(&t);
	if (!code)
		code = typing_drain(&t);
	if (!code && t.program)
		typing_fit(&t);
	if (!code)
		code = typing_drain(&t);
	if (!code)
		code = typing_assign(&t);
	int told = typing_end_statics(&t, !code);
	if (!code)
		code = told;
	dump->type_conflicts = t.conflicts;
	end(&t);
	return code;
}
