/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_values.c - what is asked about the memory of a Go heap dump once it is loaded: which words of an
 * object are pointers, what lies outside of the heap, which type an itab or a descriptor means, what the
 * runtime noted of objects and goroutines.
 *
 * Segments and frames are found by their addresses in a sorted list.  Itabs and types are few; each
 * question looks them up in the dump.  Names of locals: one thread at a time
 * (dump/program/program.h).
 */
#include "dump/go/go_shape.h"
#include "dump/program/program.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "base/mem.h"
#include "base/progress.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- pointers of an object ---------------------------------------------------------------------- */

uint64_t go_values_end(const struct go *g, const uint8_t *contents, uint64_t size)
{
	const struct types *types = g->dump.types;
	uint64_t head = g->layout.header;
	if (!types || size < head || head < g->word)
		return size;
	uint32_t type = types_by_descriptor(types, go_word(g, contents));
	uint64_t each = type == TYPE_NONE ? 0 : types->type[type].size, room = size - head;
	return each && each <= room ? head + room / each * each : size;
}

/* walk->at: the word to look at next. */
static bool next_elsewhere(const struct go *g, const struct object_view *view, struct slot_walk *walk)
{
	struct go_pointers p;
	uint64_t kind;

	if (!view->n_bytes)
		return false;
	g->elsewhere->pointers(g, view->bytes, walk->at, &p);
	if (!go_pointers_next(&p, &kind, &walk->offset))
		return false;
	walk->at = walk->offset / g->word + 1;
	return true;
}

bool go_next_slot(const struct dump *dump, const struct object_view *view, struct slot_walk *walk)
{
	const struct go *g = (const struct go *)dump;
	if (g->version == 3)
		return go_old_next_slot(g, view, walk);
	if (g->elsewhere)
		return next_elsewhere(g, view, walk);
	const uint8_t *list = view->bytes + view->n_bytes, *p = list + walk->at;
	const uint8_t *end = dump->source->bytes + dump->source->size;
	uint64_t kind, offset, values_end = view->n_bytes;
	if (view->head)
		values_end = go_values_end(g, view->bytes, view->n_bytes);
	while (p < end && go_field_next(&p, end, &kind, &offset)) {
		uint64_t at = go_pointer_at(g, kind, offset);
		walk->at = (uint64_t)(p - list);
		if (at < offset || !go_slot_fits(g, at, values_end))
			continue;
		walk->offset = at;
		return true;
	}
	return false;
}

/* --- other memory ------------------------------------------------------------------------------- */

static int by_address(const void *x, const void *y)
{
	const struct go_stretch *a = x, *b = y;
	return (a->address > b->address) - (a->address < b->address);
}

int go_find_stretches(struct go *g, struct err *err)
{
	static const enum go_tag tags[] = { GO_DATA, GO_BSS, GO_FRAME };
	struct go_record r;
	for (unsigned i = 0; i < sizeof tags / sizeof *tags; i++) {
		size_t run = 0;
		uint64_t at = 0;
		while (go_next(g, tags[i], &run, &at, &r)) {
			/* the sp of a frame and the address of a segment stand at the same place */
			if (!r.s[0].n || r.s[0].n > UINT64_MAX - r.u[SEGMENT_ADDRESS])
				continue;
			struct go_stretch *to = BIG_PUSH(g->stretches, g->n_stretches, g->cap_stretches, err);
			if (!to)
				return ERR_NOMEM;
			*to = (struct go_stretch){ r.u[SEGMENT_ADDRESS], r.s[0].n, r.offset };
			if (tags[i] == GO_DATA && (!g->data_begins || r.u[SEGMENT_ADDRESS] < g->data_begins))
				g->data_begins = r.u[SEGMENT_ADDRESS];
			if (tags[i] == GO_FRAME && r.u[FRAME_ENTRY] < g->data_begins && r.u[FRAME_ENTRY] > g->code_known)
				g->code_known = r.u[FRAME_ENTRY];
		}
	}
	return sort(g->stretches, g->n_stretches, sizeof *g->stretches, by_address, err);
}

/* The record whose contents lie at an address. */
static bool record_at(const struct go *g, uint64_t address, struct go_record *out)
{
	size_t at; /* the first that begins behind it */
	BISECT(at, g->n_stretches, g->stretches[at].address <= address);
	const struct go_stretch *s = at ? &g->stretches[at - 1] : NULL;
	return s && address - s->address < s->size && go_record_decode(g->records.p, g->records.n, s->record, g->version,
	    out, NULL) == 0;
}

const uint8_t *go_memory(const struct dump *dump, uint64_t address, uint64_t *n)
{
	const struct go *g = (const struct go *)dump;
	struct go_record r;
	if (!record_at(g, address, &r))
		return g->elsewhere ? g->elsewhere->bytes(g, address, n) :
		    dump->program ? program_constant(dump->program, address, n) : NULL;
	uint64_t offset = address - r.u[SEGMENT_ADDRESS];
	if (offset >= r.s[0].n)
		return NULL;
	*n = r.s[0].n - offset;
	return r.s[0].p + offset;
}

void go_stack_words(const struct dump *dump, void (*take)(void *context, uint64_t word), void *context)
{
	const struct go *g = (const struct go *)dump;
	size_t run = 0;
	uint64_t at = 0;
	struct progress *work = progress_own();
	for (struct go_record r; g->word && go_next(g, GO_FRAME, &run, &at, &r);) {
		for (uint64_t i = 0; r.s[0].n >= g->word && i <= r.s[0].n - g->word &&
		    !progress_stops(work, i / g->word); i += g->word)
			take(context, go_word(g, r.s[0].p + i));
	}
}

/* --- names of addresses --------------------------------------------------------------------------- */

/* The variable of a frame that a word of it belongs to.  Locations count from the caller's stack
 * pointer, which is where the frame ends; the pc of a caller is behind its call. */
static bool local_name(const struct go *g, const struct go_record *frame, uint64_t address,
    struct text *out)
{
	size_t n = 0;
	int64_t offset = (int64_t)(address - frame->u[FRAME_SP]) - (int64_t)frame->s[0].n;
	uint64_t pc = frame->u[FRAME_PC] - (frame->u[FRAME_DEPTH] > 0);
	const struct program_local *l;
	struct err err = ERR_INIT;
	if (program_locals((struct program *)(uintptr_t)g->dump.program, pc, &l, &n, &err))
		mem_refused(err.message); /* a name cannot say so: the command does */
	for (size_t i = 0; i < n; i++) {
		if (offset < l[i].offset || (uint64_t)(offset - l[i].offset) >= l[i].size)
			continue;
		text_add(out, l[i].name);
		if (offset > l[i].offset || l[i].first)
			text_addf(out, "+%" PRIu64, (uint64_t)(offset - l[i].offset) + l[i].first);
		return true;
	}
	return false;
}

enum { WORDS_MOST = 200 };

bool go_root_words(const struct dump *dump, uint64_t offset, struct text *out)
{
	const struct go *g = (const struct go *)dump;
	struct go_record r;
	if (offset >= g->records.n || go_record_decode(g->records.p, g->records.n, offset, g->version, &r, NULL) < 0 ||
	    r.tag != GO_ROOT || !r.s[0].n)
		return false;
	text_add_escaped(out, (const char *)r.s[0].p, r.s[0].n < WORDS_MOST ? (size_t)r.s[0].n : WORDS_MOST);
	return true;
}

/* Without a program the place in its segment: "bss+0x1a40". */
bool go_symbol(const struct dump *dump, uint64_t address, struct text *out)
{
	const struct go *g = (const struct go *)dump;
	struct go_record r;
	bool known = record_at(g, address, &r);
	if (known && r.tag == GO_FRAME)
		return dump->program && local_name(g, &r, address, out);
	if (dump->program && program_symbol(dump->program, address, out))
		return true;
	if (known)
		text_addf(out, "%s+0x%" PRIx64, r.tag == GO_DATA ? "data" : "bss",
		    address - r.u[SEGMENT_ADDRESS]);
	return known;
}

/* --- types that the dump itself tells ----------------------------------------------------------- */

uint64_t go_itab_type(const struct dump *dump, uint64_t itab)
{
	const struct go *g = (const struct go *)dump;
	size_t run = 0;
	uint64_t at = 0;
	for (struct go_record r; g->version > 3 && go_next(g, GO_ITAB, &run, &at, &r);) {
		if (r.u[ITAB_ADDRESS] == itab)
			return r.u[ITAB_TYPE];
	}
	return 0;
}

/* A pointer type with methods has a package and no name: "main." is written "*main.?". */
bool go_type_name(const struct dump *dump, uint64_t descriptor, struct text *out)
{
	const struct go *g = (const struct go *)dump;
	size_t run = 0;
	if (dump->program && program_type_name(dump->program, descriptor, out))
		return true;
	uint64_t at = 0;
	for (struct go_record r; go_next(g, GO_TYPE, &run, &at, &r);) {
		size_t n = r.s[0].n < 200 ? (size_t)r.s[0].n : 200;
		if (r.u[TYPE_ADDRESS] != descriptor || !n)
			continue;
		bool nameless = r.s[0].p[n - 1] == '.';
		text_add(out, nameless ? "*" : "");
		text_add_escaped(out, (const char *)r.s[0].p, n);
		text_add(out, nameless ? "?" : "");
		return true;
	}
	return false;
}

/* --- allocation sites --------------------------------------------------------------------------- */

enum { MOST_FRAMES = 128, LONGEST_FRAME = 4096 };

static int tell_site(struct site_sink *sink, const struct go_record *r)
{
	struct text frame[MOST_FRAMES] = { { .s = NULL } };
	const char *frames[MOST_FRAMES];
	struct go_bytes rest = r->s[0];
	struct go_site_frame f;
	size_t n = 0;
	while (n < MOST_FRAMES && go_site_next(&rest, &f)) {
		uint64_t function = f.function.n < LONGEST_FRAME ? f.function.n : LONGEST_FRAME;
		uint64_t file = f.file.n < LONGEST_FRAME ? f.file.n : LONGEST_FRAME;
		text_add_n(&frame[n], (const char *)f.function.p, (size_t)function);
		text_add(&frame[n], " ");
		text_add_n(&frame[n], (const char *)f.file.p, (size_t)file);
		text_addf(&frame[n], ":%" PRIu64, f.line);
		frames[n] = frame[n].s;
		n++;
	}
	struct site_record site = { .key = r->u[BUCKET_ID], .frames = frames, .n_frames = n,
		.object_size = r->u[BUCKET_SIZE], .allocs = r->u[BUCKET_ALLOCS], .frees = r->u[BUCKET_FREES] };
	int code = sink->site(sink, &site);
	while (n)
		text_release(&frame[--n]);
	return code;
}

int go_sites(const struct dump *dump, struct site_sink *sink, struct err *err)
{
	const struct go *g = (const struct go *)dump;
	struct go_record r;
	size_t run = 0;
	int code = 0;
	(void)err;
	for (uint64_t at = 0; code == 0 && go_next(g, GO_BUCKET, &run, &at, &r);)
		code = tell_site(sink, &r);
	run = 0;
	for (uint64_t at = 0; code == 0 && go_next(g, GO_SAMPLE, &run, &at, &r);)
		code = sink->sample(sink, r.u[SAMPLE_ADDRESS], r.u[SAMPLE_BUCKET]);
	return code;
}

/* --- finalizers, deferred calls, panics --------------------------------------------------------- */

bool go_next_noted(const struct dump *dump, enum noted_kind kind, struct noted_walk *walk, struct noted *out)
{
	static const enum go_tag tags[] = {
		[NOTED_FINALIZER] = GO_FINALIZER, [NOTED_QUEUED] = GO_QUEUED, [NOTED_DEFER] = GO_DEFER,
		[NOTED_PANIC] = GO_PANIC,
	};
	struct go_record r;
	if (!go_next((const struct go *)dump, tags[kind], &walk->run, &walk->at, &r))
		return false;
	if (kind == NOTED_DEFER)
		*out = (struct noted){ .of = r.u[DEFER_GOROUTINE], .closure = r.u[DEFER_CLOSURE],
			.code = r.u[DEFER_ENTRY], .made_at = r.u[DEFER_PC] };
	else if (kind == NOTED_PANIC)
		*out = (struct noted){ .of = r.u[PANIC_GOROUTINE], .value = { r.u[PANIC_TYPE], r.u[PANIC_DATA] },
			.address = r.u[PANIC_ADDRESS] };
	else
		*out = (struct noted){ .of = r.u[FINALIZER_OBJECT], .closure = r.u[FINALIZER_CLOSURE],
			.code = r.u[FINALIZER_ENTRY] };
	return true;
}

/* The closure of a function that is in no program, or of one that Go before 1.23 compiled, may hold anything. */
int go_captures(const struct dump *dump, uint64_t code, void (*take)(void *context, uint32_t type, uint64_t offset),
    void *context, struct err *err)
{
	struct program *p = (struct program *)(uintptr_t)dump->program;
	const struct program_capture *c;
	uint32_t function;
	size_t n = 0;
	if (!p || !program_function_at(p, code, &function) || program_function_entry(p, function) != code)
		return 0;
	int failed = program_captures(p, function, &c, &n, err);
	for (size_t i = 0; !failed && i < n; i++)
		take(context, c[i].type, c[i].offset);
	return failed;
}
