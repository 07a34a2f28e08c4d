/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof_read.c - the heap of an HPROF dump, told to a sink.
 *
 * Damage within a segment costs the rest of that segment: a sub-record carries no length, so nothing
 * behind an unknown one can be found, but the next segment can.  The first damage is returned at the
 * end of the part, as the reader's contract has it; what comes later is warned of.
 *
 * References are delivered as the dump has them: an instance's own fields first, then those of its
 * superclasses; elements in order; static fields in order.
 */
#include "dump/hprof.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CACHED_CLASSES = 2048, BUFFERED = 512, PRIMITIVE_TYPES = 12 };

#define NO_HANDLE UINT32_MAX

struct cached_class {
	uint64_t id;
	const struct hprof_class *class; /* NULL: the slot is empty */
	uint32_t handle;
};

struct reading {
	const struct hprof *h;
	struct sink *sink;
	bool survey;
	const uint8_t *bytes; /* of the whole file */
	struct part here;     /* what a cut hands on */
	uint64_t next_cut;
	struct err *err;      /* the first damage, or why the sink refused */
	int result;           /* its code */
	struct hprof_classes *classes;
	uint32_t primitive_handles[PRIMITIVE_TYPES];
	struct field_record *fields; /* of one class record, statics first */
	size_t cap_fields;
	uint64_t *class_references;
	size_t cap_class_references;
	struct text name;
	struct idmap told; /* classes whose instances had a wrong size, or that are missing */
	struct cached_class cache[CACHED_CLASSES];
	uint64_t targets[BUFFERED];
};

/* A class that the dump does not define: nothing is known of its instances. */
static const struct hprof_class missing_class = { .known = true };

/* --- damage ------------------------------------------------------------------------------------- */

static int truncated_or_damaged(const struct hprof_segment *s)
{
	return s->cut ? ERR_TRUNCATED : ERR_FORMAT;
}

static void damaged(struct reading *r, const struct hprof_segment *s, uint64_t at, uint64_t size,
    const char *why)
{
	int code = size == 0 ? ERR_FORMAT : truncated_or_damaged(s);
	char text[200];

	if (size == 0)
		snprintf(text, sizeof text, "%s at byte %" PRIu64 "; the %" PRIu64
		    " bytes behind it to the end of the segment cannot be read", why, at, s->end - at);
	else if (s->cut)
		snprintf(text, sizeof text, "cut in %s at byte %" PRIu64, hprof_sub_name(r->bytes[at]), at);
	else
		snprintf(text, sizeof text, "%s at byte %" PRIu64
		    " is longer than what is left of its segment (%" PRIu64 " bytes, skipped)",
		    hprof_sub_name(r->bytes[at]), at, s->end - at);
	if (r->result == 0)
		r->result = err_at(r->err, code, at, "%s", text);
	else
		r->sink->warn(r->sink, at, "%s", text);
}

/* An object without an identifier: nothing can refer to it, and it has no place among the others. */
static int nameless(struct reading *r, const uint8_t *p)
{
	if (r->survey)
		r->sink->warn(r->sink, (uint64_t)(p - r->bytes), "%s with the identifier 0 is left out",
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
		    "an object of class 0x%" PRIx64 ", which the dump does not define: what it references "
		    "cannot be told", class_id);
	else if (!c->known)
		r->sink->warn(r->sink, at,
		    "a superclass of %s is not in the dump: what its instances reference is told in part",
		    shown.s);
	else
		r->sink->warn(r->sink, at,
		    "an instance of %s has %" PRIu64 " bytes of fields where its class has %" PRIu64, shown.s,
		    n, c->chain_size);
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
	*slot = (struct cached_class){ id, c ? c : &missing_class, NO_HANDLE };
	slot->handle = r->sink->class_handle(r->sink, CLASS_AT, id, NULL, 0);
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

static int buffered(struct reading *r, size_t *n, uint64_t target)
{
	int code = 0;

	r->targets[(*n)++] = target;
	if (*n == BUFFERED) {
		code = r->sink->references(r->sink, r->targets, *n);
		*n = 0;
	}
	return code;
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
		for (uint32_t i = 0; i < c->n_references; i++)
			if (whole || c->references[i] + at + ids <= n)
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
	size_t n_buffered = 0;

	for (; c; at += c->up_offset, c = c->up) {
		for (uint32_t i = 0; i < c->n_references && at <= n; i++) {
			if (c->references[i] + at + ids > n)
				continue;
			uint64_t target = hprof_id(fields + at + c->references[i], ids);
			int code = target ? buffered(r, &n_buffered, target) : 0;
			if (code < 0)
				return code;
		}
		if (!c->up || at > n)
			break;
	}
	return n_buffered ? r->sink->references(r->sink, r->targets, n_buffered) : 0;
}

/* The common case of the fill: few references, gathered and counted in one go. */
static inline __attribute__((always_inline)) size_t gather_fields(struct reading *r,
    const struct hprof_class *c, const uint8_t *fields, const unsigned ids)
{
	size_t n = 0;

	for (;;) {
		for (uint32_t i = 0; i < c->n_references; i++) {
			uint64_t target = hprof_id(fields + c->references[i], ids);
			r->targets[n] = target;
			n += target != 0;
		}
		if (!c->up)
			return n;
		fields += c->up_offset;
		c = c->up;
	}
}

static inline __attribute__((always_inline)) int instance(struct reading *r, const uint8_t *p,
    uint32_t n, const unsigned ids)
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
	/* No more than n / ids references fit into n bytes. */
	bool few = n >= c->chain_size && c->chain_size / ids < BUFFERED && !r->survey;
	struct object_record record = {
		.address = hprof_id(p + 1, ids),
		.class_handle = slot->handle,
		.kind = OBJECT_INSTANCE,
		.size = SIZE_UNKNOWN,
		.length = LENGTH_UNKNOWN,
		.n_references = few ? gather_fields(r, c, fields, ids) : count_fields(c, fields, n, ids),
		.offset = (uint64_t)(p - r->bytes),
	};
	if (!record.address)
		return nameless(r, p);
	code = r->sink->object(r->sink, &record);
	if (code < 0 || r->survey || !record.n_references)
		return code;
	return few ? r->sink->references(r->sink, r->targets, record.n_references)
	           : deliver_fields(r, c, fields, n);
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
    uint32_t n, const unsigned ids)
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
	struct object_record record = {
		.address = hprof_id(p + 1, ids),
		.class_handle = slot->handle,
		.kind = OBJECT_ARRAY,
		.size = SIZE_UNKNOWN,
		.length = n,
		.n_references = count_elements(elements, n, ids),
		.offset = (uint64_t)(p - r->bytes),
	};
	if (!record.address)
		return nameless(r, p);
	code = r->sink->object(r->sink, &record);
	if (code < 0 || r->survey || !record.n_references)
		return code;
	size_t n_buffered = 0;
	for (uint32_t i = 0; i < n && code == 0; i++) {
		uint64_t target = hprof_id(elements + (uint64_t)i * ids, ids);
		if (target)
			code = buffered(r, &n_buffered, target);
	}
	return code == 0 && n_buffered ? r->sink->references(r->sink, r->targets, n_buffered) : code;
}

static inline __attribute__((always_inline)) int primitive_array(struct reading *r,
    const uint8_t *p, const unsigned ids)
{
	struct object_record record = {
		.address = hprof_id(p + 1, ids),
		.class_handle = primitive_handle(r, p[1 + ids + 8]),
		.kind = PRIMITIVE_ARRAY,
		.size = SIZE_UNKNOWN,
		.length = load_be32(p + 1 + ids + 4),
		.offset = (uint64_t)(p - r->bytes),
	};

	return record.address ? r->sink->object(r->sink, &record) : nameless(r, p);
}

/* --- class records ------------------------------------------------------------------------------ */

static uint64_t number(const uint8_t *p, unsigned type, unsigned ids)
{
	switch (type) {
	case VALUE_BOOLEAN: return *p;
	case VALUE_CHAR: return load_be16(p);
	case VALUE_BYTE: return (uint64_t)(int8_t)*p;
	case VALUE_SHORT: return (uint64_t)(int16_t)load_be16(p);
	case VALUE_FLOAT: return load_be32(p);
	case VALUE_INT: return (uint64_t)(int32_t)load_be32(p);
	case VALUE_DOUBLE: case VALUE_LONG: return load_be64(p);
	default: return hprof_id(p, ids);
	}
}

static void add_field(struct reading *r, size_t *n, uint64_t name_id, unsigned type, uint64_t value)
{
	struct field_record *f = &VEC_PUSH(r->fields, *n, r->cap_fields);

	f->name = hprof_string(r->h, name_id, &f->name_size);
	if (!f->name) {
		f->name = (const uint8_t *)"<unresolved>";
		f->name_size = strlen("<unresolved>");
	}
	f->type = type <= VALUE_OBJECT ? VALUE_OBJECT : (enum value_type)type;
	f->value = value;
}

/* Static fields, then those of instances, into r->fields; returns how many of the first.  Only the
 * references are of use in the second reading. */
static size_t read_fields(struct reading *r, struct cursor *c, size_t *n, size_t *n_references)
{
	unsigned ids = r->h->id_size;

	*n = *n_references = 0;
	for (unsigned k = cursor_u16(c); k-- > 0;) {
		cursor_take(c, 2);
		cursor_take(c, hprof_type_size(cursor_u8(c), ids));
	}
	for (unsigned k = cursor_u16(c); k-- > 0;) {
		uint64_t name = hprof_id(cursor_take(c, ids), ids);
		unsigned type = cursor_u8(c);
		uint64_t value = number(cursor_take(c, hprof_type_size(type, ids)), type, ids);
		if (type <= VALUE_OBJECT && value)
			VEC_PUSH(r->class_references, *n_references, r->cap_class_references) = value;
		if (r->survey)
			add_field(r, n, name, type, value);
	}
	size_t n_statics = *n;
	for (unsigned k = r->survey ? cursor_u16(c) : 0; k-- > 0;) {
		uint64_t name = hprof_id(cursor_take(c, ids), ids);
		add_field(r, n, name, cursor_u8(c), 0);
	}
	return n_statics;
}

static int class_record(struct reading *r, const uint8_t *p, uint64_t size)
{
	unsigned ids = r->h->id_size;
	struct cursor c = cursor_make(p + 1, p + size);
	struct class_record record = { .object_size = SIZE_UNKNOWN };
	size_t n, n_references;

	record.address = hprof_id(cursor_take(&c, ids), ids);
	cursor_take(&c, 4);
	record.superclass = hprof_id(cursor_take(&c, ids), ids);
	record.loader = hprof_id(cursor_take(&c, ids), ids);
	cursor_take(&c, 4 * ids); /* signers, protection domain: no references in the usual model */
	record.instance_size = cursor_u32(&c);
	record.n_statics = read_fields(r, &c, &n, &n_references);
	record.statics = r->fields;
	record.fields = r->fields ? r->fields + record.n_statics : NULL;
	record.n_fields = n - record.n_statics;
	record.n_references = n_references;
	record.references = r->class_references;
	if (!record.address)
		return nameless(r, p);
	text_clear(&r->name);
	hprof_add_class_name(r->h, &r->name, record.address);
	record.name = (const uint8_t *)r->name.s;
	record.name_size = r->name.len;
	return r->sink->class_record(r->sink, &record);
}

/* --- roots and threads -------------------------------------------------------------------------- */

static int add_root(struct reading *r, const uint8_t *p, enum root_kind kind, bool thread, bool frame)
{
	unsigned ids = r->h->id_size;
	struct root_record root = {
		.address = hprof_id(p + 1, ids),
		.kind = kind,
		.thread_serial = thread ? load_be32(p + 1 + ids) : 0,
		.frame = frame ? load_be32(p + 1 + ids + 4) : UINT32_MAX,
	};

	return root.address ? r->sink->root(r->sink, &root) : 0;
}

/* The frames of a TRACE record; its length and number of frames were compared. */
static size_t read_frames(struct reading *r, uint32_t stack_serial, struct text **out)
{
	uint64_t at = idmap_get(&r->h->traces, stack_serial);
	unsigned ids = r->h->id_size;

	*out = NULL;
	if (at == IDMAP_NONE)
		return 0;
	const uint8_t *p = r->bytes + at + RECORD_HEAD;
	size_t n = load_be32(p + 8);
	struct text *frames = xcalloc(n ? n : 1, sizeof *frames);
	for (size_t i = 0; i < n; i++)
		hprof_add_frame(r->h, &frames[i], hprof_id(p + 12 + i * ids, ids));
	*out = frames;
	return n;
}

static int add_thread(struct reading *r, const uint8_t *p)
{
	unsigned ids = r->h->id_size;
	uint32_t serial = load_be32(p + 1 + ids);
	struct text *frames, name = TEXT_INIT;
	size_t n = read_frames(r, load_be32(p + 1 + ids + 4), &frames);
	const char **borrowed = xcalloc(n ? n : 1, sizeof *borrowed);
	uint64_t start = idmap_get(&r->h->starts, serial);
	size_t name_size;

	for (size_t i = 0; i < n; i++)
		borrowed[i] = frames[i].s;
	if (start != IDMAP_NONE) {
		const uint8_t *body = r->bytes + start + RECORD_HEAD;
		const uint8_t *s = hprof_string(r->h, hprof_id(body + 8 + ids, ids), &name_size);
		if (s) {
			text_add_n(&name, "", 0);
			text_add_modified_utf8(&name, s, name_size);
		}
	}
	struct thread_record thread = {
		.serial = serial,
		.address = hprof_id(p + 1, ids),
		.name = name.s,
		.frames = borrowed,
		.n_frames = n,
	};
	int code = r->sink->thread(r->sink, &thread);
	for (size_t i = 0; i < n; i++)
		text_release(&frames[i]);
	free(frames);
	free(borrowed);
	text_release(&name);
	if (code < 0)
		return code;
	return add_root(r, p, ROOT_THREAD, true, false);
}

/* Everything that is no object. */
static int other(struct reading *r, const uint8_t *p, uint64_t size)
{
	if (*p == SUB_CLASS)
		return class_record(r, p, size);
	if (!r->survey)
		return 0;
	switch (*p) {
	case SUB_UNKNOWN: case SUB_INTERNED: case SUB_REFERENCE_CLEANUP:
		return add_root(r, p, ROOT_UNKNOWN, false, false);
	case SUB_JNI_GLOBAL:
		return add_root(r, p, ROOT_JNI_GLOBAL, false, false);
	case SUB_JNI_LOCAL:
		return add_root(r, p, ROOT_JNI_LOCAL, true, true);
	case SUB_JAVA_FRAME:
		return add_root(r, p, ROOT_JAVA_LOCAL, true, true);
	case SUB_NATIVE_STACK:
		return add_root(r, p, ROOT_NATIVE_STACK, true, false);
	case SUB_STICKY_CLASS:
		return add_root(r, p, ROOT_SYSTEM_CLASS, false, false);
	case SUB_THREAD_BLOCK:
		return add_root(r, p, ROOT_THREAD_BLOCK, true, false);
	case SUB_MONITOR:
		return add_root(r, p, ROOT_BUSY_MONITOR, false, false);
	case SUB_JNI_MONITOR:
		return add_root(r, p, ROOT_BUSY_MONITOR, true, true);
	case SUB_FINALIZING:
		return add_root(r, p, ROOT_FINALIZABLE, false, false);
	case SUB_DEBUGGER: case SUB_VM_INTERNAL:
		return add_root(r, p, ROOT_VM_INTERNAL, false, false);
	case SUB_THREAD_OBJECT:
		return add_thread(r, p);
	default:
		return 0; /* the name of an Android heap; what Android found unreachable is no root */
	}
}

/* --- segments ----------------------------------------------------------------------------------- */

/* Objects from *at to stop; *at moves on.  1: damage was met and described. */
static inline __attribute__((always_inline)) int read_stretch(struct reading *r,
    const struct hprof_segment *s, uint64_t *at, uint64_t stop, const unsigned ids)
{
	const uint8_t *p = r->bytes + *at, *end = r->bytes + s->end;
	const uint8_t *stop_at = r->bytes + stop;
	const uint64_t head = 1 + 2 * ids + 8; /* of instances and object arrays */
	int code = 0;

	while (p < stop_at && code == 0) {
		uint64_t left = (uint64_t)(end - p), size;
		const char *why = NULL;
		if (*p == SUB_INSTANCE && left >= head &&
		    (size = load_be32(p + head - 4)) <= left - head) {
			code = instance(r, p, (uint32_t)size, ids);
			p += head + size;
			continue;
		}
		size = hprof_sub_size(r->h, p, left, &why);
		if (size == 0 || size == UINT64_MAX) {
			*at = (uint64_t)(p - r->bytes);
			damaged(r, s, *at, size, why);
			return 1;
		}
		if (*p == SUB_OBJECT_ARRAY)
			code = object_array(r, p, load_be32(p + 1 + ids + 4), ids);
		else if (*p == SUB_PRIMITIVE_ARRAY || *p == SUB_ARRAY_WITHOUT_DATA)
			code = primitive_array(r, p, ids);
		else
			code = other(r, p, size);
		p += size;
	}
	*at = (uint64_t)(p - r->bytes);
	return code;
}

static __attribute__((noinline)) int read_stretch_4(struct reading *r,
    const struct hprof_segment *s, uint64_t *at, uint64_t stop)
{
	return read_stretch(r, s, at, stop, 4);
}

static __attribute__((noinline)) int read_stretch_8(struct reading *r,
    const struct hprof_segment *s, uint64_t *at, uint64_t stop)
{
	return read_stretch(r, s, at, stop, 8);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int read_segment(struct reading *r, uint32_t number_of_it, uint64_t at, uint64_t part_end)
{
	const struct hprof_segment *s = &r->h->segments[number_of_it];
	int code = 0;

	while (code == 0 && at < s->end && at < part_end) {
		if (at >= r->next_cut) {
			r->here.begin = at;
			r->here.state[0] = number_of_it;
			code = r->sink->cut(r->sink, &r->here);
			r->next_cut = at + hprof_part_bytes;
			if (code < 0)
				break;
		}
		uint64_t stop = least(least(s->end, part_end), r->next_cut);
		code = r->h->id_size == 8 ? read_stretch_8(r, s, &at, stop) : read_stretch_4(r, s, &at, stop);
	}
	r->sink->reached = at;
	return code < 0 ? code : 0;
}

/* Whether a part came to the end of the heap; what lies behind may be damaged. */
static bool came_to_the_end(const struct reading *r)
{
	const struct hprof *h = r->h;

	return !h->n_segments || r->sink->reached == h->segments[h->n_segments - 1].end;
}

/* What the walk over the top-level records met: warnings with the first part, damage with the last. */
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
	if (part->state[1] && r->survey)
		tell_notes(h, sink);
	for (uint64_t i = part->state[0]; i < h->n_segments && h->segments[i].begin < part->end; i++) {
		const struct hprof_segment *s = &h->segments[i];
		uint64_t at = part->begin > s->begin ? part->begin : s->begin;
		code = read_segment(r, (uint32_t)i, at, part->end);
		if (code < 0)
			break;
	}
	if (code == 0)
		code = r->result;
	if (code == 0 && h->damaged && came_to_the_end(r)) {
		*err = h->damage;
		code = h->damage.code;
	}
	idmap_release(&r->told);
	text_release(&r->name);
	free(r->fields);
	free(r->class_references);
	free(r);
	return code;
}
