/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_read.c - announce the objects of a Go heap dump to a sink.
 *
 * Nearly all records are objects, and where one begins follows from the length of the one before.
 * So the processor waits for each length in turn: the code that gets from one object to the next is
 * kept short, and the rest of the work does not stand in its way.
 *
 * The survey reads pointers too, because nil ones do not count as references.  In small objects
 * that costs little: the pointers stand in the cache line that was just read.
 */
#include "dump/go/go_reading.h"

#include "base/mem.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- pointers --------------------------------------------------------------------------------------- */

/* The pointers of a shape with many slots: counted in the survey, delivered in the fill. */
static int many_pointers(struct go_reading *r, const struct go_shape *shape, const uint8_t *contents,
    bool deliver, uint64_t *n)
{
	const struct go *g = r->go;
	const uint8_t *p = shape->list, *end = p + shape->list_bytes;
	uint64_t kind, offset;
	uint64_t values_end = deliver && shape->head && go_head(g, contents, shape->size, true) ?
	    go_values_end(g, contents, shape->size) : shape->size;
	size_t waiting = 0;
	int code = 0;

	*n = 0;
	while (code == 0 && go_field_next(&p, end, &kind, &offset)) {
		uint64_t at = go_pointer_at(g, kind, offset);
		if (at < offset || !go_slot_fits(g, at, shape->size))
			continue;
		uint64_t target = go_word(g, contents + at);
		*n += target != 0;
		if (target && deliver)
			code = go_deliver(r, &waiting, at < values_end ? target : 0);
	}
	return code == 0 && waiting ? r->sink->references(r->sink, r->targets, waiting) : code;
}

/* The pointers of a shape with few, gathered; nil ones are not counted. */
static inline __attribute__((always_inline)) size_t few_pointers(struct go_reading *r,
    const struct go_shape *shape, const uint8_t *contents, const bool plain)
{
	const uint32_t *offsets = r->shapes.offsets + shape->first;
	size_t n = 0;

	for (uint64_t i = 0; i < shape->n_slots; i++) {
		uint64_t target = plain ? load_le64(contents + offsets[i])
		                        : go_word(r->go, contents + offsets[i]);
		r->targets[n] = target;
		n += target != 0;
	}
	return n;
}

/* Pointers in slack are no references, though the survey, which knows no types, counted them: to nowhere. */
static __attribute__((noinline)) void drop_slack(struct go_reading *r, const struct go_shape *shape,
    const uint8_t *contents)
{
	uint64_t values_end = go_values_end(r->go, contents, shape->size);
	size_t n = 0;

	if (!go_head(r->go, contents, shape->size, true))
		return;

	for (uint64_t i = 0; i < shape->n_slots; i++) {
		uint32_t at = r->shapes.offsets[shape->first + i];
		if (go_word(r->go, contents + at) && ++n && at >= values_end)
			r->targets[n - 1] = 0;
	}
}

/* --- objects ---------------------------------------------------------------------------------------- */

static __attribute__((noinline)) uint32_t class_of(struct go_reading *r, struct go_shape *shape)
{
	if (!r->survey)
		return 0;
	text_clear(&r->text);
	struct go_pointers p = { .list = shape->list, .end = shape->list + shape->list_bytes };
	go_shape_name(r->go, shape->size, &p, &r->text);
	shape->handle = r->sink->class_handle(r->sink, CLASS_SHOWN, 0, (const uint8_t *)r->text.s,
	    r->text.len);
	return shape->handle;
}

static __attribute__((noinline)) bool usable(struct go_reading *r, uint64_t offset, uint64_t address,
    const struct go_shape *shape)
{
	uint64_t last = r->go->word == 4 ? UINT32_MAX : UINT64_MAX;
	bool fits = address <= last && shape->size <= last - address;
	if (!r->survey)
		return address && fits;
	if (!address || !fits)
		r->sink->warn(r->sink, offset, "an invalid object of %" PRIu64 " bytes at address 0x%" PRIx64 " "
		    "is ignored", shape->size, address);
	else if (shape->n_bad)
		r->sink->warn(r->sink, offset, "object 0x%" PRIx64 " of %" PRIu64 " bytes lists %" PRIu64 " "
		    "pointer%s outside of it or not aligned: ignored", address, shape->size,
		    shape->n_bad, shape->n_bad == 1 ? "" : "s");
	return address && fits;
}

static inline __attribute__((always_inline)) int object(struct go_reading *r, uint64_t offset,
    uint64_t address, const uint8_t *contents, struct go_shape *shape, const bool plain)
{
	uint64_t last = address + shape->size;
	bool odd = shape->n_bad || !address || last < address || (!plain && last > UINT32_MAX);
	int code;

	if (__builtin_expect(odd, 0) && !usable(r, offset, address, shape))
		return 0;
	if (__builtin_expect(address % GO_PAGE > shape->sure_below, 0) &&
	    go_is_artefact(&r->go->layout, address, shape->size, r->pointer_page == address / GO_PAGE))
		return 0;
	r->pointer_page = address / GO_PAGE | shape->page_mask;
	struct object_record record = {
		.address = address,
		.class_handle = shape->handle != UINT32_MAX ? shape->handle : class_of(r, shape),
		.kind = OBJECT_INSTANCE,
		.size = shape->size,
		.length = LENGTH_UNKNOWN,
		.offset = offset,
		.contents = (uint64_t)(contents - r->bytes),
	};
	if (shape->first != GO_NOT_LISTED) {
		record.n_references = few_pointers(r, shape, contents, plain);
		if (__builtin_expect(shape->head && !r->survey, 0))
			drop_slack(r, shape, contents);
		code = r->sink->object(r->sink, &record);
		return code < 0 || r->survey || !record.n_references ? code :
		    r->sink->references(r->sink, r->targets, record.n_references);
	}
	code = many_pointers(r, shape, contents, false, &record.n_references);
	if (code == 0)
		code = r->sink->object(r->sink, &record);
	if (code < 0 || r->survey)
		return code;
	return many_pointers(r, shape, contents, true, &record.n_references);
}

/* Announce an object, whose pointers the shape has, to the sink.  Returns the sink's code. */
static int go_object(struct go_reading *r, uint64_t offset, uint64_t address, const uint8_t *contents,
    struct go_shape *shape)
{
	return object(r, offset, address, contents, shape, false);
}

/* One object, every step checked, or why it cannot be read. */
static __attribute__((noinline)) int careful_object(struct go_reading *r)
{
	struct go_record record;
	int code = go_record_decode(r->bytes, r->size, r->at, r->go->version, &record, r->err);
	if (code < 0)
		return code;
	r->at = record.next;
	if (r->go->version == 3)
		return go_old_object(r, &record);
	uint64_t bytes;
	struct go_shape *shape = go_shape_of(&r->shapes, record.fields.p, r->bytes + r->size,
	    record.s[0].n, &bytes);
	if (!shape) /* the record was decoded, so its list is one */
		return ERR_NOMEM;
	return go_object(r, record.offset, record.u[OBJECT_ADDRESS], record.s[0].p, shape);
}

/* Objects up to the first other record, or the first at or behind stop. */
static inline __attribute__((always_inline)) int objects(struct go_reading *r, uint64_t stop,
    const bool plain)
{
	const uint8_t *p = r->bytes + r->at, *end = r->bytes + r->size, *stop_at = r->bytes + stop;
	int code = 0;

	while (code == 0 && p < stop_at && *p == GO_OBJECT) {
		const uint8_t *q = p + 1;
		uint64_t address, n, bytes;
		struct go_shape *shape = NULL;
		if (go_varint(&q, end, &address) && go_varint(&q, end, &n) && n < (uint64_t)(end - q))
			shape = go_shape_of(&r->shapes, q + n, end, n, &bytes);
		if (__builtin_expect(!shape, 0)) {
			r->at = (uint64_t)(p - r->bytes);
			code = careful_object(r);
			p = r->bytes + r->at;
			continue;
		}
		code = object(r, (uint64_t)(p - r->bytes), address, q, shape, plain);
		p = q + n + bytes;
	}
	r->at = (uint64_t)(p - r->bytes);
	return code;
}

/* 64-bit pointers in our own byte order: nearly all dumps. */
static __attribute__((noinline)) int plain_objects(struct go_reading *r, uint64_t stop)
{
	return objects(r, stop, true);
}

static __attribute__((noinline)) int other_objects(struct go_reading *r, uint64_t stop)
{
	return objects(r, stop, false);
}

/*
 * What is an artefact at the end of a page follows from the objects before it.  So neither a part nor a
 * cut begins with an object that may be one: read on behind the stop.
 */
static int end_of_page(struct go_reading *r)
{
	int code = 0;
	while (code == 0 && go_depends(r->go, r->at))
		code = careful_object(r);
	return code;
}

static int old_objects(struct go_reading *r, uint64_t stop)
{
	int code = 0;
	while (code == 0 && r->at < stop && r->bytes[r->at] == GO_OBJECT)
		code = careful_object(r);
	return code;
}

static int object_run(struct go_reading *r)
{
	const struct go *g = r->go;
	struct part here = { .begin = r->at };
	int code = 0;

	if (r->survey)
		code = go_tell_goroutine(r); /* frames belong to the goroutine right before them */
	if (code == 0 && r->at >= r->next_cut) {
		code = r->sink->part_begins(r->sink, &here);
		r->next_cut = r->at + go_part_bytes;
	}
	uint64_t stop = r->end < r->next_cut ? r->end : r->next_cut;
	if (code < 0)
		return code;
	if (g->version == 3)
		return old_objects(r, stop);
	code = g->word == 8 && !g->swap ? plain_objects(r, stop) : other_objects(r, stop);
	return code < 0 || r->at < stop ? code : end_of_page(r);
}

/* --- the part --------------------------------------------------------------------------------------- */

static int note_run(struct go_survey *met, const struct go_record *record, struct err *err)
{
	struct go_run *last = met->n_runs ? &met->runs[met->n_runs - 1] : NULL;
	if (last && last->tag == record->tag && last->end == record->offset) {
		last->end = record->next;
		last->n++;
		return 0;
	}
	struct go_run *to = BIG_PUSH(met->runs, met->n_runs, met->cap_runs, err);
	if (!to)
		return ERR_NOMEM;
	*to = (struct go_run){ record->offset, record->next, 1, record->tag };
	return 0;
}

static void end_of_dump(struct go_reading *r)
{
	static const char another[] = "go1.";
	uint64_t left = r->size - r->at;

	r->ended = true;
	if (!left || !r->survey)
		return;
	bool dump = left >= sizeof another && !memcmp(r->bytes + r->at, another, sizeof another - 1);
	r->sink->warn(r->sink, r->at, "%" PRIu64 " byte%s the end record%s", left, left == 1 ? " follows" : "s follow",
	    dump ? ": another dump, which cairn does not read" : "");
}

static int other_record(struct go_reading *r)
{
	struct go_record record;
	int code = go_record_decode(r->bytes, r->size, r->at, r->go->version, &record, r->err);

	r->pointer_page = GO_NO_PAGE;
	if (code < 0)
		return code;
	if (record.tag == GO_OBJECT) /* its tag was written in more bytes than it needs */
		return careful_object(r);
	r->at = record.next;
	if (r->survey && note_run(&r->met, &record, r->err) < 0)
		return ERR_NOMEM;
	if (record.tag == GO_EOF)
		end_of_dump(r);
	return r->survey ? go_tell(r, &record) : 0;
}

static int read_part(struct go_reading *r)
{
	int code = 0;

	while (code == 0 && r->at < r->end && !r->ended)
		code = r->bytes[r->at] == GO_OBJECT ? object_run(r) : other_record(r);
	if (r->survey) {
		int told = go_tell_goroutine(r);
		code = code < 0 ? code : told;
	}
	if (code == 0 && !r->ended && r->at >= r->size)
		code = err_at(r->err, ERR_TRUNCATED, r->size,
		    "truncated at byte %" PRIu64 ": no end record, and the rest is missing", r->size);
	if (code == 0 && !r->go->word) {
		*r->err = r->go->fault; /* all was read but the references */
		code = r->err->code;
	}
	return code;
}

/* The beginning: what the header says, and what it does not. */
static void tell_header(struct go_reading *r)
{
	const struct go *g = r->go;
	if (g->dump.facts.version[2] > '7' || g->dump.facts.version[3])
		r->sink->warn(r->sink, 0, "unknown format go%s: read as go1.7", g->dump.facts.version);
}

/* What the survey of a part met is the dump's from now on. */
static int keep_survey(struct go *g, struct go_survey *met, struct err *err)
{
	pthread_mutex_lock(&g->lock);
	struct go_survey *to = BIG_PUSH(g->surveys, g->n_surveys, g->cap_surveys, err);
	if (to)
		*to = *met;
	pthread_mutex_unlock(&g->lock);
	if (!to)
		big_free(met->runs);
	return to ? 0 : ERR_NOMEM;
}

int go_read(const struct dump *dump, const struct part *part, struct sink *sink, struct err *err)
{
	struct go *g = (struct go *)dump;
	struct go_reading *r = xcalloc(1, sizeof *r);
	int code;

	*r = (struct go_reading){
		.go = g,
		.sink = sink,
		.err = err,
		.survey = !sink->wants_references,
		.bytes = g->records.p,
		.size = g->records.n,
		.at = part->begin,
		.end = part->end,
		.next_cut = part->begin + go_part_bytes,
		.pointer_page = GO_NO_PAGE,
		.met = { .begin = part->begin },
	};
	code = go_shapes_init(&r->shapes, g, err);
	if (r->survey && part->begin == g->body)
		tell_header(r);
	if (code == 0)
		code = read_part(r);
	sink->reached = r->ended ? UINT64_MAX : r->at;
	if (sink->sample) {
		big_free(r->met.runs);
	} else if (r->survey) {
		r->met.reached = sink->reached;
		if (keep_survey(g, &r->met, err) < 0)
			code = ERR_NOMEM;
	}
	go_shapes_release(&r->shapes);
	text_release(&r->text);
	big_free(r->frames);
	free(r);
	return code;
}
