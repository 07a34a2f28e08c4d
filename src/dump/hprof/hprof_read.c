/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof_read.c - announce the objects of an HPROF dump to a sink; hprof_other.c announces the rest.
 *
 * Damage within a segment costs the rest of that segment: a sub-record carries no length, so
 * nothing behind an unknown one can be found until the next segment begins.  The first damage
 * becomes the result of the part when all of it is read (reader.h); later damage is warned of.
 *
 * References are delivered as the dump has them: an instance's own fields first, then those of its
 * superclasses; elements in order.
 */
#include "dump/hprof/hprof_reading.h"

#include "base/mem.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_HANDLE UINT32_MAX

/* A class that the dump does not define: nothing is known of its instances. */
static const struct hprof_class missing_class = { .known = true, .n_flat = HPROF_NOT_FLAT };

/* --- damage ------------------------------------------------------------------------------------- */

static int truncated_or_damaged(const struct hprof_segment *s)
{
	return s->truncated ? ERR_TRUNCATED : ERR_FORMAT;
}

static void damaged(struct reading *r, const struct hprof_segment *s, uint64_t at, uint64_t size,
    const char *why)
{
	int code = size == 0 ? ERR_FORMAT : truncated_or_damaged(s);
	char text[200];

	if (size == 0)
		snprintf(text, sizeof text, "%s at byte %" PRIu64 "; the %" PRIu64 " byte%s from there to the end "
		    "of the segment %s unreadable", why, at, s->end - at, s->end - at == 1 ? "" : "s",
		    s->end - at == 1 ? "is" : "are");
	else if (s->truncated)
		snprintf(text, sizeof text, "truncated in %s at byte %" PRIu64, hprof_sub_name(r->bytes[at]), at);
	else
		snprintf(text, sizeof text, "%s at byte %" PRIu64 " is longer than the rest of its segment "
		    "(%" PRIu64 " byte%s, skipped)",
		    hprof_sub_name(r->bytes[at]), at, s->end - at, s->end - at == 1 ? "" : "s");
	if (r->result == 0)
		r->result = err_at(r->err, code, at, "%s", text);
	else
		r->sink->warn(r->sink, at, "%s", text);
}

int hprof_nameless(struct reading *r, const uint8_t *p)
{
	if (r->survey)
		r->sink->warn(r->sink, (uint64_t)(p - r->bytes), "%s with the identifier 0 is ignored",
		    hprof_sub_name(*p));
	return 0;
}

/* Once a class. */
static void wrong_size(struct reading *r, uint64_t class_id, uint64_t at, uint64_t n,
    const struct hprof_class *c)
{
	if (!r->survey || idmap_get(&r->told, class_id) != IDMAP_NONE)
		return;
	if (r->told.n > 10000 || idmap_put(&r->told, class_id, 0, NULL) < 0)
		return;
	text_clear(&r->name);
	hprof_add_shown_name(r->h, &r->name, class_id);
	struct text shown = TEXT_INIT;
	text_add_escaped(&shown, r->name.s, r->name.len < 200 ? r->name.len : 200);
	if (c == &missing_class)
		r->sink->warn(r->sink, at,
		    "an object of class 0x%" PRIx64 ", which the dump does not define: its references are unknown", class_id);
	else if (!c->known)
		r->sink->warn(r->sink, at,
		    "a superclass of %s is not in the dump: some references of its instances are unknown",
		    shown.s);
	else
		r->sink->warn(r->sink, at,
		    "an instance of %s has %" PRIu64 " byte%s of fields, but its class has %" PRIu64, shown.s,
		    n, n == 1 ? "" : "s", c->chain_size);
	text_release(&shown);
}

/* --- classes ------------------------------------------------------------------------------------ */

static int find_class(struct reading *r, uint64_t id, struct cached_class *slot)
{
	const struct hprof_class *c = hprof_class_of(r->classes, id);

	if ((!c || !c->known) && !r->classes->whole) {
		int code = hprof_classes_whole((struct hprof *)r->h, r->err);
		if (code < 0)
			return code;
		r->classes = r->h->classes;
		c = hprof_class_of(r->classes, id);
	}
	struct hprof_name name = { NULL, 0 };
	if (!c && idmap_get(&r->h->names, id) != IDMAP_NONE) {
		int code = hprof_class_name((struct hprof *)r->h, id, &name, r->err);
		if (code < 0)
			return code;
	}
	*slot = (struct cached_class){ id, c ? c : &missing_class, NO_HANDLE };
	slot->handle = r->sink->class_handle(r->sink, CLASS_AT, hprof_class_object(r->h, id), name.bytes,
	    name.n);
	return 0;
}

static inline int class_slot(struct reading *r, uint64_t id, struct cached_class **out)
{
	struct cached_class *slot = &r->cache[(id >> 3 ^ id >> 14) % CACHED_CLASSES];

	*out = slot;
	return __builtin_expect(slot->class && slot->id == id, 1) ? 0 : find_class(r, id, slot);
}

static uint32_t primitive_handle(struct reading *r, unsigned type)
{
	static const char names[PRIMITIVE_TYPES][3] = {
		[4] = "[Z", "[C", "[F", "[D", "[B", "[S", "[I", "[J",
	};

	if (r->primitive_handles[type] == NO_HANDLE)
		r->primitive_handles[type] =
		    r->sink->class_handle(r->sink, CLASS_NAMED, 0, (const uint8_t *)names[type], 2);
	return r->primitive_handles[type];
}

/* --- objects ------------------------------------------------------------------------------------ */

/* Begin to tell the object at p.  HPROF records no sizes. */
static inline __attribute__((always_inline)) struct object_record *begin_object(struct reading *r, const uint8_t *p,
    enum object_kind kind, uint32_t handle, uint64_t length, const unsigned ids)
{
	struct object_record *record = &r->gathered[r->n_gathered];

	record->address = hprof_id(p + 1, ids);
	record->class_handle = handle;
	record->kind = kind;
	record->length = length;
	record->offset = (uint64_t)(p - r->bytes);
	return record;
}

static int tell_targets(struct reading *r)
{
	size_t n = r->n_targets;

	r->n_targets = 0;
	return n ? r->sink->references(r->sink, r->targets, n) : 0;
}

/* The sink gets what was gathered. */
static int tell_gathered(struct reading *r)
{
	unsigned n = r->n_gathered;

	r->n_gathered = 0;
	if (!n)
		return 0;
	int code = r->sink->objects ? r->sink->objects(r->sink, r->gathered, n) : r->sink->object(r->sink, r->gathered);
	return code < 0 ? code : tell_targets(r);
}

/* Tell the object that was begun, whose references, if wanted, are among the targets; with others. */
static inline __attribute__((always_inline)) int tell_object(struct reading *r)
{
	r->n_gathered++;
	return r->n_gathered < r->most_gathered && r->n_targets <= BUFFERED - HPROF_FLAT ? 0 : tell_gathered(r);
}

/* One more reference of the last object, which has many. */
static int tell_reference(struct reading *r, uint64_t target)
{
	r->targets[r->n_targets++] = target;
	return r->n_targets < BUFFERED ? 0 : tell_targets(r);
}

/* Non-null references among the fields that lie within the first n bytes. */
static inline __attribute__((always_inline)) uint64_t count_fields(const struct hprof_class *c,
    const uint8_t *fields, uint64_t n, const unsigned ids)
{
	uint64_t count = 0, at = 0;
	bool whole = n >= c->chain_size;

	for (; c; at += c->up_offset, c = c->up) {
		if (!whole && at > n)
			break;
		for (uint32_t i = 0; i < c->n_references && (whole || c->references[i] + at + ids <= n); i++)
			count += hprof_id(fields + at + c->references[i], ids) != 0;
		if (!c->up)
			break;
	}
	return count;
}

static int deliver_fields(struct reading *r, const struct hprof_class *c, const uint8_t *fields,
    uint64_t n)
{
	unsigned ids = r->h->id_size;
	uint64_t at = 0;

	for (; c; at += c->up_offset, c = c->up) {
		for (uint32_t i = 0; i < c->n_references && c->references[i] + at + ids <= n; i++) {
			uint64_t target = hprof_id(fields + at + c->references[i], ids);
			int code = target ? tell_reference(r, target) : 0;
			if (code < 0)
				return code;
		}
		if (!c->up || at > n)
			break;
	}
	return tell_targets(r);
}

/* Of four places of a flat class those that are not 0.  Without branches, which a processor could not guess. */
static inline __attribute__((always_inline)) uint64_t count_four(const uint8_t *fields, const int16_t *flat,
    const unsigned ids)
{
	return (uint64_t)(hprof_id(fields + flat[0], ids) != 0) + (hprof_id(fields + flat[1], ids) != 0) +
	    (hprof_id(fields + flat[2], ids) != 0) + (hprof_id(fields + flat[3], ids) != 0);
}

/* The common case: few references.  Each place that is unused counts one. */
static inline __attribute__((always_inline)) uint64_t count_flat(const struct hprof_class *c, const uint8_t *fields,
    const unsigned ids)
{
	uint64_t n = count_four(fields, c->flat, ids);

	if (c->n_flat <= 4)
		return n - (4 - c->n_flat);
	return n + count_four(fields, c->flat + 4, ids) - (HPROF_FLAT - c->n_flat);
}

static inline __attribute__((always_inline)) uint64_t gather_four(const uint8_t *fields, const int16_t *flat,
    uint64_t *targets, uint64_t n, const unsigned ids)
{
	n += (targets[n] = hprof_id(fields + flat[0], ids)) != 0;
	n += (targets[n] = hprof_id(fields + flat[1], ids)) != 0;
	n += (targets[n] = hprof_id(fields + flat[2], ids)) != 0;
	n += (targets[n] = hprof_id(fields + flat[3], ids)) != 0;
	return n;
}

/* The same and gathered, those unused behind the others. */
static inline __attribute__((always_inline)) uint64_t gather_flat(const struct hprof_class *c, const uint8_t *fields,
    uint64_t *targets, const unsigned ids)
{
	uint64_t n = gather_four(fields, c->flat, targets, 0, ids);

	if (c->n_flat <= 4)
		return n - (4 - c->n_flat);
	return gather_four(fields, c->flat + 4, targets, n, ids) - (HPROF_FLAT - c->n_flat);
}

static inline __attribute__((always_inline)) int instance(struct reading *r, const uint8_t *p,
    uint32_t n, const unsigned ids, const bool survey)
{
	uint64_t class_id = hprof_id(p + 1 + ids + 4, ids);
	const uint8_t *fields = p + 1 + 2 * ids + 8;
	struct cached_class *slot;
	int code = class_slot(r, class_id, &slot);

	if (code < 0)
		return code;
	const struct hprof_class *c = slot->class;
	if (__builtin_expect(n != c->chain_size || c == &missing_class, 0))
		wrong_size(r, class_id, (uint64_t)(p - r->bytes), n, c);
	bool flat = n >= c->chain_size && c->n_flat != HPROF_NOT_FLAT;
	struct object_record *record = begin_object(r, p, OBJECT_INSTANCE, slot->handle, LENGTH_UNKNOWN, ids);
	uint64_t n_references = !flat ? count_fields(c, fields, n, ids)
	    : survey ? count_flat(c, fields, ids) : gather_flat(c, fields, r->targets + r->n_targets, ids);
	if (!record->address)
		return hprof_nameless(r, p);
	record->n_references = n_references;
	if (flat && !survey)
		r->n_targets += n_references;
	code = tell_object(r);
	if (flat || survey || !n_references || code < 0)
		return code;
	code = tell_gathered(r);
	return code < 0 ? code : deliver_fields(r, c, fields, n);
}

static inline __attribute__((always_inline)) uint64_t count_elements(const uint8_t *elements,
    uint64_t n, const unsigned ids)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < n; i++)
		count += hprof_id(elements + i * ids, ids) != 0;
	return count;
}

static inline __attribute__((always_inline)) int object_array(struct reading *r, const uint8_t *p,
    uint32_t n, const unsigned ids, const bool survey)
{
	static const char object_array_name[] = "[Ljava/lang/Object;";
	uint64_t class_id = hprof_id(p + 1 + ids + 8, ids);
	const uint8_t *elements = p + 1 + 2 * ids + 8;
	struct cached_class *slot;
	int code = class_slot(r, class_id, &slot);

	if (code < 0)
		return code;
	if (!class_id)
		slot->handle = r->sink->class_handle(r->sink, CLASS_NAMED, 0,
		    (const uint8_t *)object_array_name, strlen(object_array_name));
	struct object_record *record = begin_object(r, p, OBJECT_ARRAY, slot->handle, n, ids);
	uint64_t n_references = count_elements(elements, n, ids);
	if (!record->address)
		return hprof_nameless(r, p);
	record->n_references = n_references;
	code = tell_object(r);
	if (code < 0 || survey || !n_references)
		return code;
	code = tell_gathered(r);
	for (uint32_t i = 0; i < n && code == 0; i++) {
		uint64_t target = hprof_id(elements + (uint64_t)i * ids, ids);
		if (target)
			code = tell_reference(r, target);
	}
	return code < 0 ? code : tell_targets(r);
}

static inline __attribute__((always_inline)) int primitive_array(struct reading *r,
    const uint8_t *p, const unsigned ids)
{
	uint32_t handle = primitive_handle(r, p[1 + ids + 8]), length = load_be32(p + 1 + ids + 4);
	struct object_record *record = begin_object(r, p, PRIMITIVE_ARRAY, handle, length, ids);

	record->n_references = 0;
	return record->address ? tell_object(r) : hprof_nameless(r, p);
}

/* --- segments ----------------------------------------------------------------------------------- */

/* Bytes of a primitive array; 0 for what hprof_sub_size has to look at. */
static inline __attribute__((always_inline)) uint64_t array_size(const uint8_t *p, uint64_t left, const unsigned ids)
{
	const uint64_t head = 1 + ids + 9;

	if (*p != SUB_PRIMITIVE_ARRAY || left < head || p[head - 1] < VALUE_BOOLEAN)
		return 0;
	uint64_t element = hprof_type_size(p[head - 1], ids), size = head + load_be32(p + 1 + ids + 4) * element;
	return element && size <= left ? size : 0;
}

/* Objects from *at to stop; *at moves on.  1: damage was met and described. */
static inline __attribute__((always_inline)) int read_stretch(struct reading *r,
    const struct hprof_segment *s, uint64_t *at, uint64_t stop, const unsigned ids, const bool survey)
{
	const uint8_t *p = r->bytes + *at, *end = r->bytes + s->end;
	const uint8_t *stop_at = r->bytes + stop;
	const uint64_t head = 1 + 2 * ids + 8; /* of instances and object arrays */
	int code = 0;

	while (p < stop_at && code == 0) {
		uint64_t left = (uint64_t)(end - p), size;
		const char *why = NULL;
		__builtin_prefetch(p + 768);
		if (*p == SUB_INSTANCE && left >= head &&
		    (size = load_be32(p + head - 4)) <= left - head) {
			code = instance(r, p, (uint32_t)size, ids, survey);
			p += head + size;
			continue;
		}
		size = array_size(p, left, ids);
		if (!size)
			size = hprof_sub_size(r->h, p, left, &why);
		if (size == 0 || size == UINT64_MAX) {
			*at = (uint64_t)(p - r->bytes);
			damaged(r, s, *at, size, why);
			code = tell_gathered(r);
			return code < 0 ? code : 1;
		}
		if (*p == SUB_OBJECT_ARRAY)
			code = object_array(r, p, load_be32(p + 1 + ids + 4), ids, survey);
		else if (*p == SUB_PRIMITIVE_ARRAY || *p == SUB_ARRAY_WITHOUT_DATA)
			code = primitive_array(r, p, ids);
		else if ((code = tell_gathered(r)) == 0)
			code = hprof_other(r, p, size);
		p += size;
	}
	*at = (uint64_t)(p - r->bytes);
	return code < 0 ? code : tell_gathered(r);
}

/* One for each way, so that what it depends on is known when it is compiled. */
static __attribute__((noinline)) int survey_4(struct reading *r, const struct hprof_segment *s, uint64_t *at,
    uint64_t stop)
{
	return read_stretch(r, s, at, stop, 4, true);
}

static __attribute__((noinline)) int survey_8(struct reading *r, const struct hprof_segment *s, uint64_t *at,
    uint64_t stop)
{
	return read_stretch(r, s, at, stop, 8, true);
}

static __attribute__((noinline)) int fill_4(struct reading *r, const struct hprof_segment *s, uint64_t *at,
    uint64_t stop)
{
	return read_stretch(r, s, at, stop, 4, false);
}

static __attribute__((noinline)) int fill_8(struct reading *r, const struct hprof_segment *s, uint64_t *at,
    uint64_t stop)
{
	return read_stretch(r, s, at, stop, 8, false);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int read_segment(struct reading *r, uint32_t number_of_it, uint64_t at, uint64_t part_end)
{
	const struct hprof_segment *s = &r->h->segments[number_of_it];
	int code = 0;

	if (r->survey && r->sink->heap && at == s->begin) /* each segment names the heap of its objects anew */
		code = r->sink->heap(r->sink, NULL);
	bool roots = r->survey && !r->sink->sample; /* a sample counts those of its stretches */
	for (uint64_t i = 0; roots && !number_of_it && at == s->begin && i < r->h->n_extra_roots && !code; i++)
		code = r->sink->root(r->sink, &r->h->extra_root[i]);
	while (code == 0 && at < s->end && at < part_end) {
		if (at >= r->next_cut) {
			r->here.begin = at;
			r->here.state[0] = number_of_it;
			code = r->sink->part_begins(r->sink, &r->here);
			r->next_cut = at + hprof_part_bytes;
			if (code < 0)
				break;
		}
		uint64_t stop = least(least(s->end, part_end), r->next_cut);
		if (r->survey)
			code = r->h->id_size == 8 ? survey_8(r, s, &at, stop) : survey_4(r, s, &at, stop);
		else
			code = r->h->id_size == 8 ? fill_8(r, s, &at, stop) : fill_4(r, s, &at, stop);
	}
	r->sink->reached = at;
	return code < 0 ? code : 0;
}

/*
 * Whether this part tells the damage of the top-level records: it lies in the part, or behind it and
 * before the next.  Of parts that are guessed it is the last: what is behind damage would be dropped.
 */
static bool tells_damage(const struct reading *r, const struct part *part, uint64_t next_segment)
{
	const struct hprof *h = r->h;

	if (!h->damaged)
		return false;
	if (!h->n_segments || h->dump.facts.parts_guessed)
		return !h->n_segments || r->sink->reached == h->segments[h->n_segments - 1].end;
	return (part->state[1] || h->damage.offset >= part->begin) &&
	    (next_segment >= h->n_segments || h->damage.offset < h->segments[next_segment].begin);
}

/* The first of the damage that the part met itself, if any, and that of the top-level records; the
 * other is warned of. */
static int first_damage(struct reading *r)
{
	const struct err *top = &r->h->damage;

	if (r->result < 0 && r->err->offset <= top->offset) {
		r->sink->warn(r->sink, top->offset, "%s", top->message);
		return r->result;
	}
	if (r->result < 0)
		r->sink->warn(r->sink, r->err->offset, "%s", r->err->message);
	*r->err = *top;
	return top->code;
}

/* What the walk over the top-level records met: warnings with the first part, damage with the one that
 * it belongs to. */
static void tell_notes(const struct hprof *h, struct sink *sink)
{
	for (unsigned i = 0; i < h->n_notes; i++)
		sink->warn(sink, h->notes[i].offset, "%s", h->notes[i].text);
}

int hprof_read(const struct dump *dump, const struct part *part, struct sink *sink, struct err *err)
{
	const struct hprof *h = (const struct hprof *)dump;
	struct reading *r = xcalloc(1, sizeof *r);
	int code = 0;

	r->h = h;
	r->sink = sink;
	r->survey = !sink->wants_references;
	r->bytes = dump->source->bytes;
	r->here = *part;
	r->here.state[1] = 0; /* a cut is no beginning */
	r->next_cut = part->begin + hprof_part_bytes;
	r->err = err;
	sink->reached = part->begin;
	r->classes = h->classes;
	memset(r->primitive_handles, 0xff, sizeof r->primitive_handles);
	r->most_gathered = sink->objects ? SINK_OBJECTS : 1;
	for (unsigned i = 0; i < SINK_OBJECTS; i++)
		r->gathered[i].size = SIZE_UNKNOWN;
	if (part->state[1] && r->survey)
		tell_notes(h, sink);
	uint64_t i = part->state[0];
	for (; i < h->n_segments && h->segments[i].begin < part->end; i++) {
		const struct hprof_segment *s = &h->segments[i];
		uint64_t at = part->begin > s->begin ? part->begin : s->begin;
		code = read_segment(r, (uint32_t)i, at, part->end);
		if (code < 0)
			break;
	}
	if (code == 0)
		code = tells_damage(r, part, i) ? first_damage(r) : r->result;
	idmap_release(&r->told);
	idmap_release(&r->traces);
	idmap_release(&r->texts);
	arena_release(&r->stacks);
	text_release(&r->name);
	big_free(r->fields);
	big_free(r->class_references);
	free(r);
	return code;
}
