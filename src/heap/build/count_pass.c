/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * count_pass.c - the first reading of a dump, which notes what is there, but not the references.
 *
 * Parts are read in parallel, each into arrays of its own; only class handles are shared, behind a
 * lock that a small cache in front of it makes rare.
 */
#include "heap/build/build.h"

#include "algorithms/parallel.h"
#include "base/mem.h"
#include "base/text.h"
#include "dump/idmap.h"
#include "dump/reader.h"
#include "dump/source/source.h"
#include "heap/classes.h"
#include "heap/places.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_PER_THREAD = 8, CACHED_HANDLES = 1024, BYTES_PER_RECORD = 64 };

uint64_t slice_records = (BIG_HUGE_PAGE / sizeof(struct record_group) + 1) * GROUP_RECORDS;

struct count_pass_sink {
	struct sink sink; /* first: the reader's view of us */
	struct build *build;
	struct count_pass_part *part;
	struct records *records; /* of the last slice */
	bool hashed_grow, sizes_follow; /* facts; sizes_follow: a size that a record has is an exception */
	uint64_t last_offset; /* of the cut before, for progress */
	struct text plain, escaped; /* of the current text */
	struct idmap kept;   /* address of a text that the reader keeps -> where we keep it */
	struct idmap traces; /* thread_record.trace -> frames */
	struct err lost;      /* memory that a handle or a text did not get */
	struct {
		uint64_t address;
		uint32_t handle_plus_1;
		enum class_naming how;
	} cache[CACHED_HANDLES];
};

/* --- class handles ------------------------------------------------------------------------------ */

/* The index of a class's name in build->names; HEAP_NONE: there is no memory, see refused.  stays: it stays where it
 * is while the dump is open.  The caller has the lock. */
static uint32_t number_name(struct count_pass_sink *s, const uint8_t *name, size_t n, bool stays)
{
	struct class_names *names = &s->build->names;
	uint64_t known = stays ? idmap_get(&names->known, (uintptr_t)name) : IDMAP_NONE;
	if (known != IDMAP_NONE)
		return (uint32_t)known;
	text_clear(&s->plain);
	text_add_modified_utf8(&s->plain, name, n);
	uint32_t index = names_add(names, s->plain.s, s->plain.len, &s->lost);
	if (index != HEAP_NONE && stays && idmap_put(&names->known, (uintptr_t)name, index, &s->lost) < 0)
		return HEAP_NONE;
	return index;
}

static uint32_t sink_class_handle(struct sink *sink, enum class_naming how, uint64_t address,
    const uint8_t *name, size_t name_size)
{
	struct count_pass_sink *s = (struct count_pass_sink *)sink;
	size_t place = (address >> 3 ^ address >> 13) % CACHED_HANDLES;
	if (!handle_is_by_name(how) && s->cache[place].handle_plus_1 && s->cache[place].how == how &&
	    s->cache[place].address == address)
		return s->cache[place].handle_plus_1 - 1;
	struct text plain = TEXT_INIT;
	if (how == CLASS_SHOWN)
		text_add_escaped(&plain, (const char *)name, name_size);
	else if (how == CLASS_NAMED)
		text_add_modified_utf8(&plain, name, name_size);
	pthread_mutex_lock(&s->build->lock);
	uint32_t handle = build_handle(s->build, how, address, plain.s ? plain.s : "", plain.len,
	    &s->lost);
	if (handle != HEAP_NONE && how == CLASS_AT && name && s->build->handles[handle].known_as == HEAP_NONE)
		s->build->handles[handle].known_as = number_name(s, name, name_size, true);
	pthread_mutex_unlock(&s->build->lock);
	text_release(&plain);
	if (handle == HEAP_NONE)
		return 0; /* no object will get it: see refused */
	if (!handle_is_by_name(how)) {
		s->cache[place].address = address;
		s->cache[place].how = how;
		s->cache[place].handle_plus_1 = handle + 1;
	}
	return handle;
}

/* --- records ------------------------------------------------------------------------------------ */

/* A class handle and a text cannot say that there was no memory for them: the record they belong to
 * does. */
static int refused(struct count_pass_sink *s)
{
	if (s->lost.code)
		*s->sink.err = s->lost;
	return s->lost.code;
}

static int begin_slice(struct count_pass_sink *s)
{
	struct count_pass_part *p = s->part;
	if (s->records)
		records_trim(s->records);
	struct slice *slice = BIG_PUSH(p->slices, p->n_slices, p->cap_slices, s->sink.err);
	if (!slice)
		return ERR_NOMEM;
	*slice = (struct slice){ .part = p };
	s->records = &slice->records;
	uint64_t n = (p->part.end - s->last_offset) / BYTES_PER_RECORD;
	records_expect(s->records, n < slice_records ? n : slice_records);
	return 0;
}

/* The look at the cancel flag and the sums are the caller's. */
static int add_record(struct count_pass_sink *s, const struct record *r, bool usual)
{
	if (s->records->n == slice_records && begin_slice(s) < 0)
		return ERR_NOMEM;
	s->part->n_records++;
	s->part->sums.n_kind[r->kind]++;
	s->part->sums.n_references += r->n_references;
	return records_add(s->records, r, usual, s->sink.err);
}

static int too_many_references(struct count_pass_sink *s, uint64_t address, uint64_t n_references)
{
	return err_set(s->sink.err, ERR_UNSUPPORTED,
	    "object 0x%llx holds %llu references: too many for one object",
	    (unsigned long long)address, (unsigned long long)n_references);
}

static struct part_class *class_of_handle(struct count_pass_part *p, uint32_t handle, struct err *err)
{
	if (handle >= p->n_by_handle) {
		uint32_t n = 2 * handle + 64;
		struct part_class *more = big_resize(p->by_handle, n, sizeof *more, err);
		if (!more)
			return NULL;
		p->by_handle = more;
		while (p->n_by_handle < n)
			more[p->n_by_handle++].kind = HANDLE_UNUSED;
	}
	return &p->by_handle[handle];
}

/*
 * Whether an instance's size must be remembered.  Where records carry sizes (classic dumps) nearly
 * all instances of a class have the size of the first one.
 */
static bool is_uncommon(struct count_pass_part *p, uint64_t *common, uint64_t size)
{
	if (size == SIZE_UNKNOWN)
		return false;
	p->tells_sizes = true;
	if (!*common)
		*common = size;
	return !size || *common != size;
}

/* Of n objects, one at least, which all have offsets or none. */
static int note_places(struct count_pass_part *p, const struct object_record *records, size_t n, struct err *err)
{
	int code = 0;
	if (!records[0].offset)
		return 0;
	for (size_t i = -p->n_placed % PLACE_STEP; i < n && code == 0; i += PLACE_STEP)
		code = BIG_ADD(p->places, p->n_places, p->cap_places, err, records[i].offset);
	p->n_placed += n;
	return code;
}

/* Note an object that is, or may be, of another size than its class and length say.  *size becomes unknown where only
 * such objects have one. */
static int note_odd(struct count_pass_sink *s, uint64_t address, bool hashed,
    uint64_t *size)
{
	struct count_pass_part *p = s->part;
	uint64_t odd = s->sizes_follow ? *size : SIZE_UNKNOWN;
	if (odd == SIZE_UNKNOWN && !(hashed && s->hashed_grow))
		return 0;
	if (odd != SIZE_UNKNOWN)
		*size = SIZE_UNKNOWN;
	return BIG_ADD(p->odd, p->n_odd, p->cap_odd, s->sink.err, (struct odd_record){ address, odd });
}

static int add_object(struct count_pass_sink *s, const struct object_record *r)
{
	struct count_pass_part *p = s->part;
	if (r->n_references >= UINT32_MAX)
		return too_many_references(s, r->address, r->n_references);
	struct part_class *class = class_of_handle(p, r->class_handle, s->sink.err);
	if (!class)
		return ERR_NOMEM;
	uint64_t size = r->size;
	if (note_odd(s, r->address, r->hashed && r->kind == OBJECT_INSTANCE, &size) < 0)
		return ERR_NOMEM;
	if (class->kind == HANDLE_UNUSED) {
		class->first = p->n_records;
		class->kind = (enum record_kind)r->kind;
	}
	struct record record = {
		.address = r->address,
		.number = r->class_handle,
		.n_references = (uint32_t)r->n_references,
		.kind = (enum record_kind)r->kind,
		.sized = r->kind != OBJECT_INSTANCE || is_uncommon(p, &class->common_size, size),
		.size = size,
		.length = r->length,
	};
	return add_record(s, &record, record.kind == class->kind);
}

/* The first of them that are as most are, by a shorter way.  Returns how many. */
static size_t add_usual(struct count_pass_sink *s, const struct object_record *r, size_t n)
{
	struct count_pass_part *p = s->part;
	uint64_t room = slice_records - s->records->n;
	size_t added = records_add_usual(s->records, r, n < room ? n : room, p->by_handle, p->n_by_handle,
	    !s->hashed_grow, &p->sums);
	p->n_records += added;
	return added;
}

/* Look at the cancel flag and note where some objects lie, before they are added. */
static int begin_objects(struct count_pass_sink *s, const struct object_record *records, size_t n)
{
	int code = refused(s);
	if (code == 0 && progress_stops_in(s->build->progress, s->part->n_records, n))
		code = err_cancelled(s->sink.err);
	return code < 0 ? code : note_places(s->part, records, n, s->sink.err);
}

static int sink_object(struct sink *sink, const struct object_record *r)
{
	struct count_pass_sink *s = (struct count_pass_sink *)sink;
	int code = begin_objects(s, r, 1);
	return code < 0 ? code : add_object(s, r);
}

static int sink_objects(struct sink *sink, const struct object_record *records, size_t n)
{
	struct count_pass_sink *s = (struct count_pass_sink *)sink;
	int code = begin_objects(s, records, n);
	for (size_t i = 0; i < n && code == 0; i++) {
		i += add_usual(s, records + i, n - i);
		if (i < n)
			code = add_object(s, &records[i]);
	}
	return code;
}

/* In the part's arena; empty where there is no memory, see refused. */
static const char *keep(struct count_pass_sink *s, const struct text *t)
{
	const char *kept = arena_try_strndup(&s->part->arena, t->s, t->len, &s->lost);
	return kept ? kept : "";
}

/* The name of a field made plain and harmless, in the part's arena, once. */
static const char *keep_name(struct count_pass_sink *s, const struct field_record *f)
{
	uint64_t known = idmap_get(&s->kept, (uintptr_t)f->name);
	if (known != IDMAP_NONE)
		return (const char *)(uintptr_t)known;
	text_clear(&s->plain);
	text_clear(&s->escaped);
	text_add_modified_utf8(&s->plain, f->name, f->name_size);
	text_add_escaped(&s->escaped, s->plain.s, s->plain.len);
	const char *kept = keep(s, &s->escaped);
	return idmap_put(&s->kept, (uintptr_t)f->name, (uintptr_t)kept, &s->lost) < 0 ? "" : kept;
}

static struct heap_field *keep_fields(struct count_pass_sink *s, const struct field_record *from,
    size_t n)
{
	if (!n)
		return NULL;
	struct heap_field *fields = arena_try(&s->part->arena, n, sizeof *fields, &s->lost);
	for (size_t i = 0; fields && i < n; i++)
		fields[i] = (struct heap_field){
			keep_name(s, &from[i]), from[i].type, from[i].offset, from[i].value
		};
	return fields;
}

static int sink_class_record(struct sink *sink, const struct class_record *r)
{
	struct count_pass_sink *s = (struct count_pass_sink *)sink;
	struct count_pass_part *p = s->part;
	if (r->n_references >= UINT32_MAX)
		return too_many_references(s, r->address, r->n_references);
	if (p->n_classes >= HANDLE_MAX)
		return err_set(sink->err, ERR_UNSUPPORTED, "more than %u classes", HANDLE_MAX);
	pthread_mutex_lock(&s->build->lock);
	uint32_t name = number_name(s, r->name, r->name_size, r->name_stays);
	pthread_mutex_unlock(&s->build->lock);
	struct count_pass_class *c = BIG_PUSH(p->classes, p->n_classes, p->cap_classes, sink->err);
	if (!c)
		return ERR_NOMEM;
	*c = (struct count_pass_class){
		.address = r->address,
		.superclass = r->superclass,
		.loader = r->loader,
		.instance_size = r->instance_size,
		.name = name,
		.n_references = r->n_references,
		.fields = keep_fields(s, r->fields, r->n_fields),
		.statics = keep_fields(s, r->statics, r->n_statics),
		.n_fields = (uint32_t)r->n_fields,
		.n_statics = (uint32_t)r->n_statics,
		.fields_size = r->fields_size,
		.taken = r->taken,
	};
	if (c->n_references) {
		c->references = arena_try(&p->arena, c->n_references, sizeof *c->references, &s->lost);
		if (c->references)
			memcpy(c->references, r->references, c->n_references * sizeof *c->references);
	}
	uint64_t size = r->object_size;
	if (refused(s) < 0 || note_odd(s, r->address, r->hashed, &size) < 0)
		return ERR_NOMEM;
	struct record record = {
		.address = r->address,
		.number = (uint32_t)(p->n_classes - 1),
		.n_references = (uint32_t)r->n_references,
		.kind = RECORD_CLASS,
		.sized = is_uncommon(p, &p->class_object_size, size),
		.size = size,
		.length = LENGTH_UNKNOWN,
	};
	return progress_stops(s->build->progress, p->n_records) ? err_cancelled(sink->err) : add_record(s, &record, false);
}

static int sink_root(struct sink *sink, const struct root_record *r)
{
	struct count_pass_part *p = ((struct count_pass_sink *)sink)->part;
	struct root_record *at = BIG_PUSH(p->roots, p->n_roots, p->cap_roots, sink->err);
	if (!at)
		return ERR_NOMEM;
	if (progress_stops(((struct count_pass_sink *)sink)->build->progress, p->n_roots))
		return err_cancelled(sink->err);
	*at = *r;
	return 0;
}

/* Text of the dump in UTF-8 made harmless, in the part's arena; NULL stays NULL. */
static const char *keep_text(struct count_pass_sink *s, const char *text)
{
	if (!text)
		return NULL;
	text_clear(&s->escaped);
	text_add_escaped(&s->escaped, text, strlen(text));
	return keep(s, &s->escaped);
}

/* The same of a text that stays where it is while the part is read: once. */
static const char *keep_once(struct count_pass_sink *s, const char *text)
{
	uint64_t known = idmap_get(&s->kept, (uintptr_t)text);
	if (known != IDMAP_NONE)
		return (const char *)(uintptr_t)known;
	const char *kept = keep_text(s, text);
	int code = idmap_put(&s->kept, (uintptr_t)text, (uintptr_t)kept, &s->lost);
	return code < 0 ? "" : kept;
}

/* The frames of a thread, which those of the same trace share.  NULL: no memory, see refused. */
static const char **keep_frames(struct count_pass_sink *s, const struct thread_record *r)
{
	uint64_t known = r->trace ? idmap_get(&s->traces, r->trace) : IDMAP_NONE;
	if (known != IDMAP_NONE)
		return (const char **)(uintptr_t)known;
	const char **frames = arena_try(&s->part->arena, r->n_frames + 1, sizeof *frames, &s->lost);
	for (size_t i = 0; frames && i < r->n_frames && !s->lost.code; i++)
		frames[i] = r->trace ? keep_once(s, r->frames[i]) : keep_text(s, r->frames[i]);
	if (!frames || s->lost.code)
		return NULL;
	if (r->trace && idmap_put(&s->traces, r->trace, (uintptr_t)frames, &s->lost) < 0)
		return NULL;
	return frames;
}

static int sink_thread(struct sink *sink, const struct thread_record *r)
{
	struct count_pass_sink *s = (struct count_pass_sink *)sink;
	struct count_pass_part *p = s->part;
	const char **frames = keep_frames(s, r);
	if (!frames)
		return refused(s);
	struct count_pass_thread *t = BIG_PUSH(p->threads, p->n_threads, p->cap_threads, sink->err);
	if (!t)
		return ERR_NOMEM;
	*t = (struct count_pass_thread){
		.serial = r->serial,
		.address = r->address,
		.id = r->id,
		.native_id = r->native_id,
		.waits_since = r->waits_since,
		.created_at = r->created_at,
		.system = r->system,
		.frames = frames,
		.n_frames = (uint32_t)r->n_frames,
		.stack_unknown = r->stack_unknown,
	};
	t->name = keep_text(s, r->name);
	t->state = keep_text(s, r->state);
	t->waits_for = keep_text(s, r->waits_for);
	return refused(s);
}

static int sink_stack(struct sink *sink, const struct thread_record *r)
{
	struct count_pass_sink *s = (struct count_pass_sink *)sink;
	struct count_pass_part *p = s->part;
	const char **frames = keep_frames(s, r);
	if (!frames)
		return refused(s);
	struct count_pass_thread *t = BIG_PUSH(p->stacks, p->n_stacks, p->cap_stacks, sink->err);
	if (!t)
		return ERR_NOMEM;
	*t = (struct count_pass_thread){.serial = r->serial, .frames = frames, .n_frames = (uint32_t)r->n_frames};
	return 0;
}

static int sink_heap(struct sink *sink, const char *name)
{
	struct count_pass_sink *s = (struct count_pass_sink *)sink;
	struct count_pass_part *p = s->part;
	text_clear(&s->escaped);
	text_add_escaped(&s->escaped, name ? name : SPACE_DEFAULT, strlen(name ? name : SPACE_DEFAULT));
	uint64_t run = p->n_records << 8 | android_heaps_number(&p->spaces, &p->arena, s->escaped.s, &s->lost);
	uint64_t last = p->n_space_runs ? p->space_runs[p->n_space_runs - 1] : SPACE_BEFORE;
	if ((run & UINT8_MAX) == (last & UINT8_MAX))
		return refused(s);
	uint64_t *at = p->n_space_runs && last >> 8 == p->n_records ? &p->space_runs[p->n_space_runs - 1] :
	    BIG_PUSH(p->space_runs, p->n_space_runs, p->cap_space_runs, sink->err);
	if (!at)
		return ERR_NOMEM;
	*at = run;
	return refused(s);
}

static int sink_references(struct sink *sink, const uint64_t *targets, size_t n)
{
	(void)sink, (void)targets, (void)n; /* not wanted, so never called */
	return 0;
}

static int sink_cut(struct sink *sink, const struct part *here)
{
	struct count_pass_sink *s = (struct count_pass_sink *)sink;
	struct count_pass_part *p = s->part;
	struct count_pass_cut *cut = BIG_PUSH(p->cuts, p->n_cuts, p->cap_cuts, sink->err);
	if (!cut)
		return ERR_NOMEM;
	*cut = (struct count_pass_cut){ *here, p->n_records };
	struct progress *progress = s->build->progress;
	if (progress)
		atomic_fetch_add(&progress->objects,
		    p->n_records - (p->n_cuts > 1 ? p->cuts[p->n_cuts - 2].record : 0));
	bool go_on = progress_add(progress, here->begin - s->last_offset);
	s->last_offset = here->begin;
	return go_on ? 0 : err_cancelled(sink->err);
}

__attribute__((format(printf, 3, 4))) static void sink_warn(struct sink *sink, uint64_t offset,
    const char *format, ...)
{
	struct count_pass_part *p = ((struct count_pass_sink *)sink)->part;
	if (p->n_warnings < HEAP_WARNINGS_KEPT) {
		char line[400];
		va_list args;
		va_start(args, format);
		vsnprintf(line, sizeof line, format, args);
		va_end(args);
		p->warnings[p->n_warnings] = (struct heap_warning){
			offset, offset != NO_OFFSET, arena_strndup(&p->arena, line, strlen(line))
		};
	}
	p->n_warnings++;
}

enum { STATED_MOST = 64 }; /* of one part */

static void sink_stated(struct sink *sink, const char *what, enum stated_unit unit, uint64_t count)
{
	struct count_pass_sink *s = (struct count_pass_sink *)sink;
	struct count_pass_part *p = s->part;
	if (p->n_stated == STATED_MOST)
		return;
	struct heap_stated *to = BIG_PUSH(p->stated, p->n_stated, p->cap_stated, &s->lost);
	if (to)
		*to = (struct heap_stated){arena_strndup(&p->arena, what, strlen(what)), unit, count};
}

/* --- running ------------------------------------------------------------------------------------ */

static int count_pass_part(void *context, unsigned task, struct err *err)
{
	struct build *b = context;
	struct count_pass_part *p = &b->parts[task];
	struct count_pass_sink *s = xcalloc(1, sizeof *s);
	s->sink = (struct sink){
		.class_handle = sink_class_handle,
		.object = sink_object,
		.objects = sink_objects,
		.class_record = sink_class_record,
		.references = sink_references,
		.root = sink_root,
		.thread = sink_thread,
		.stack = sink_stack,
		.heap = sink_heap,
		.part_begins = sink_cut,
		.warn = sink_warn,
		.stated = sink_stated,
		.err = &p->err,
	};
	const struct dump *dump = b->heap->dump;
	s->build = b;
	s->part = p;
	s->hashed_grow = dump->facts.hashed_grow;
	s->sizes_follow = dump->facts.size_rule == SIZES_RECORDED && dump->facts.arrays.header;
	s->last_offset = p->part.begin;
	p->result = begin_slice(s);
	struct count_pass_cut *cut = p->result ? NULL : BIG_PUSH(p->cuts, p->n_cuts, p->cap_cuts, &p->err);
	if (cut) {
		*cut = (struct count_pass_cut){ p->part, 0 };
		p->result = dump->reader->read(dump, &p->part, &s->sink, &p->err);
	} else {
		p->result = ERR_NOMEM;
	}
	if (p->result == 0) /* handles and texts without a record behind them */
		p->result = refused(s);
	p->reached = s->sink.reached;
	p->lost = s->sink.lost;
	text_release(&s->plain);
	text_release(&s->escaped);
	idmap_release(&s->kept);
	idmap_release(&s->traces);
	if (s->records)
		records_trim(s->records);
	free(s);
	if (p->result == ERR_FORMAT || p->result == ERR_TRUNCATED)
		return 0; /* damage: what was read before it stands */
	if (p->result < 0)
		*err = p->err;
	return p->result;
}

static void release_part(struct count_pass_part *p)
{
	for (size_t k = 0; k < p->n_slices; k++) {
		records_release(&p->slices[k].records);
		big_free(p->slices[k].place_notes.runs);
	}
	big_free(p->slices);
	big_free(p->by_handle);
	big_free(p->classes);
	big_free(p->cuts);
	big_free(p->stated);
	big_free(p->roots);
	big_free(p->threads);
	big_free(p->stacks);
	big_free(p->places);
	big_free(p->space_runs);
	big_free(p->odd);
}

/* Forget what a part announced, and let it begin elsewhere: behind its end it is empty. */
static void begin_part_at(struct count_pass_part *p, uint64_t begin)
{
	struct part part = { .begin = begin, .end = begin < p->part.end ? p->part.end : begin };
	release_part(p);
	arena_release(&p->arena);
	*p = (struct count_pass_part){ .part = part, .reached = begin };
}

/* Make guessed parts follow one another: see facts.parts_guessed. */
static int join_guessed_parts(struct build *b, struct err *err)
{
	const unsigned n = b->n_parts;
	for (unsigned i = 1; i < n; i++) {
		struct count_pass_part *before = &b->parts[i - 1], *p = &b->parts[i];
		if (before->result < 0) {
			b->n_parts = i;
			for (unsigned k = i; k < n; k++) {
				release_part(&b->parts[k]);
				arena_release(&b->parts[k].arena);
			}
			return 0;
		}
		if (p->part.begin == before->reached)
			continue;
		begin_part_at(p, before->reached);
		int code = p->part.begin < p->part.end ? count_pass_part(b, i, err) : 0;
		if (code < 0)
			return code;
	}
	return 0;
}

static int count_pass_once(struct build *b, struct err *err)
{
	const struct dump *dump = b->heap->dump;
	unsigned want = parallel_threads() > 1 ? PARTS_PER_THREAD * parallel_threads() : 1;
	struct part *parts = xcalloc(want, sizeof *parts);
	b->n_parts = dump->reader->parts(dump, want, parts);
	b->parts = xcalloc(b->n_parts, sizeof *b->parts);
	for (unsigned i = 0; i < b->n_parts; i++)
		b->parts[i].part = parts[i];
	free(parts);
	progress_phase(b->progress, PHASE_READ_OBJECTS, dump->source->size);
	int code = parallel_run(0, b->n_parts, count_pass_part, b, err);
	if (code == 0 && dump->facts.parts_guessed)
		code = join_guessed_parts(b, err);
	return code;
}

static void forget_parts(struct build *b)
{
	for (unsigned i = 0; i < b->n_parts; i++) {
		release_part(&b->parts[i]);
		arena_release(&b->parts[i].arena);
	}
	free(b->parts);
	b->parts = NULL;
	b->n_parts = 0;
}

/* Does the reader want to tell other objects? */
static int ask_again(struct build *b, struct err *err)
{
	struct dump *dump = b->heap->dump;
	uint64_t n = 0;
	for (unsigned i = 0; i < b->n_parts; i++) {
		if (b->parts[i].result < 0)
			return 0;
		n += b->parts[i].n_records;
	}
	int again = dump->reader->resurvey ? dump->reader->resurvey(dump, n, err) : 0;
	if (again > 0) {
		forget_parts(b);
		b->heap->facts.surplus = dump->facts.surplus;
		b->heap->facts.cannot_tell = dump->facts.cannot_tell;
	}
	return again;
}

int count_pass_run(struct build *b, struct err *err)
{
	int code;
	do {
		code = count_pass_once(b, err);
		code = code < 0 ? code : ask_again(b, err);
	} while (code > 0);
	return code < 0 ? code : count_pass_report(b, err);
}

void count_pass_release(struct build *b)
{
	for (unsigned i = 0; i < b->n_parts; i++) {
		release_part(&b->parts[i]);
		arena_move(&b->heap->arena, &b->parts[i].arena); /* names of fields, frames of threads */
	}
	big_free(b->slices);
	free(b->parts);
	b->slices = NULL;
	b->n_slices = 0;
	b->parts = NULL;
	b->n_parts = 0;
}
