/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hprof.c - HPROF: header, facts and division into parts; see hprof_dump.h. */
#include "dump/hprof/hprof_dump.h"

#include "base/mem.h"
#include "base/progress.h"
#include "dump/process.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "JAVA PROFILE ";
enum { MAGIC_SIZE = sizeof magic - 1, MAGIC_LEAST = 4, LONGEST_VERSION = 8 };

uint64_t hprof_part_bytes = PART_BYTES;

static int probe(const uint8_t *head, size_t n)
{
	size_t seen = n < MAGIC_SIZE ? n : MAGIC_SIZE; /* a dump may be cut as soon as that */
	return seen >= MAGIC_LEAST && !memcmp(head, magic, seen) ? 100 : 0;
}

/* --- header ------------------------------------------------------------------------------------- */

static bool known_version(const char *version)
{
	return !strcmp(version, "1.0") || !strcmp(version, "1.0.1") || !strcmp(version, "1.0.2") ||
	    !strcmp(version, "1.0.3");
}

/* Of a file that is not opened: heaps that the agent wrote later say so further behind. */
static void created_of_head(const uint8_t *head, size_t n, const char *path, char *to, size_t room)
{
	struct cursor c = cursor_make(head, head + n);

	(void)path;
	for (unsigned i = 0; i < MAGIC_SIZE + LONGEST_VERSION && cursor_u8(&c); i++)
		continue;
	cursor_u32(&c);
	uint64_t milliseconds = cursor_u64(&c);
	if (!c.short_of)
		dump_write_created(to, room, milliseconds);
}

int hprof_header(struct hprof_header *out, const struct source *s, uint64_t at, struct err *err)
{
	struct cursor c = cursor_make(s->bytes + at, s->bytes + s->size);
	unsigned n = 0;

	*out = (struct hprof_header){.id_size = 0};
	const uint8_t *begin = cursor_take(&c, MAGIC_SIZE);
	if (!c.short_of && memcmp(begin, magic, MAGIC_SIZE))
		return err_at(err, ERR_FORMAT, at, "no header of an HPROF dump");
	while (n < LONGEST_VERSION && (out->version[n] = (char)cursor_u8(&c)) != '\0')
		n++;
	if (!c.short_of && memchr(out->version, ',', n))
		return err_at(err, ERR_FORMAT, at, "the text form of HPROF (format=a), which cairn does not read "
		    "(write it with format=b)");
	if (!c.short_of && (out->version[n] != '\0' || !known_version(out->version)))
		return err_at(err, ERR_FORMAT, at,
		    "unknown HPROF version (cairn reads 1.0, 1.0.1, 1.0.2 and 1.0.3)");
	out->id_size = cursor_u32(&c);
	if (!c.short_of && out->id_size != 4 && out->id_size != 8)
		return err_at(err, ERR_FORMAT, (uint64_t)(c.p - s->bytes) - 4,
		    "the header gives identifiers %" PRIu32 " bytes, but only 4 and 8 are valid", out->id_size);
	out->created = cursor_u64(&c);
	out->body = (uint64_t)(c.p - s->bytes);
	return !c.short_of ? 0 : err_at(err, ERR_TRUNCATED, s->size,
	    "truncated in the header at byte %" PRIu64 "; no object was written", s->size);
}

/*
 * GraalVM's native images and Android write the true size of instances into class records, HotSpot
 * and the old agent the sum of the fields: then java.lang.Object, which declares none, has 0.
 */
static bool instance_sizes_are_true(const struct hprof *h)
{
	const struct hprof_classes *c = h->classes;

	if (h->android)
		return true;
	for (uint32_t i = 0; i < c->n; i++) {
		if (c->list[i].superclass)
			continue;
		if (hprof_is_class(h, c->list[i].id, "java/lang/Object"))
			return c->list[i].own_size == 0 && c->list[i].chain_size == 0 &&
			    c->list[i].stated_size > 0;
	}
	return false;
}

static void state_redaction(struct dump_facts *f, enum redact_what what)
{
	static const char *const why[] = {
	    [REDACT_STRINGS] = "a redacted copy without the contents of Strings (redact -strings)",
	    [REDACT_ARRAYS] = "a redacted copy without the contents of primitive arrays and strings (redact "
		"-arrays)",
	    [REDACT_ALL] = "a redacted copy without strings, numbers and all other values except references "
		"(redact)"};
	f->redacted = what;
	if (what != REDACT_NOTHING)
		f->no_values = f->cannot_tell = why[what];
}

/* The words for the formats that cairn exports; another is one of a later release. */
static const char *title_of(const char *format)
{
	static const char *const titles[][2] = {{"phd", "PHD"}, {"classic", "a classic heap dump"},
	    {"j9core", "a system dump"}, {"hprof", "HPROF"}};
	for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
		if (!strcmp(format, titles[i][0]))
			return titles[i][1];
	return "another dump";
}

/* Of a file that cairn exported: what the dump was like that it was made of. */
static void state_origin(struct hprof *h, const struct hprof_origin *o)
{
	struct dump_facts *f = &h->dump.facts;
	bool redacted = f->redacted > o->left_out;

	snprintf(h->exported, sizeof h->exported, "exported from %s by cairn%s%s%s%s", title_of(o->format),
	    o->fields_invented ? ", so names of fields are invented (?)" : "",
	    o->left_out == REDACT_ALL || redacted ? "; it has no values except references" : "",
	    !redacted && o->left_out == REDACT_ARRAYS ? "; it has no contents of primitive arrays and strings" : "",
	    !redacted && o->left_out == REDACT_STRINGS ? "; it has no contents of Strings" : "");
	f->exported = true;
	f->fields_invented = o->fields_invented;
	if (o->fields_invented || f->redacted || o->left_out)
		f->cannot_tell = h->exported;
	if (o->left_out > f->redacted)
		f->redacted = o->left_out;
	if (f->redacted != REDACT_NOTHING)
		f->no_values = h->exported;
	f->references_superclass_recorded = o->superclasses_recorded;
	f->loaders_hold_classes = o->loaders_hold_classes;
	f->array_classes_kept = o->array_classes_kept;
	f->class_fields_missing = o->class_fields_missing;
	f->roots_were_inferred = o->roots_inferred;
	f->locals_inferred = o->locals_inferred;
	f->other_thread_status = !strcmp(o->format, "j9core");
	f->wide_words = o->word_bits == 64;
	f->has_instance_sizes = o->instance_sizes;
	if (o->sizes_recorded) {
		f->size_rule = SIZES_RECORDED;
		f->array_sizes_need_model = true;
		f->arrays = o->arrays;
		f->sizes_inferred = o->sizes_inferred;
	}
	if (o->damaged)
		hprof_note(h, h->body, "exported from a damaged dump: what that lacks is missing here");
}

static int state_facts(struct hprof *h, struct err *err)
{
	struct dump_facts *f = &h->dump.facts;

	f->parts_guessed = h->n_segments == 1;
	/* of the chosen heap: the agent may write several, hours apart */
	dump_write_created(f->created, sizeof f->created, h->created ? h->created + h->delay / 1000 : 0);
	f->word_bits = 8 * h->id_size;
	f->big_endian = true;
	f->cannot_tell = "HPROF holds no object sizes, identity hashes or monitor owners; sizes are computed from "
	    "the VM's likely layout";
	f->has_instance_sizes = instance_sizes_are_true(h);
	if (f->has_instance_sizes)
		f->cannot_tell = "HPROF holds no array sizes, identity hashes or lock states; array sizes are "
		    "computed";
	f->no_sites = "allocation sites are in an HPROF dump only if its writer recorded them: HotSpot never "
	    "does; the old agent does (heap=dump), and Android with allocation tracking";
	if (h->alloc_sites && !h->n_segments)
		f->no_sites = "the hprof agent counted allocations without stacks (heap=sites, depth=0)";
	f->size_rule = SIZES_FROM_FIELDS;
	f->roots_recorded = true;
	f->class_fields_missing = true;
	f->values = DECLARED_FIELDS;
	f->boot_loader_is_null = true;
	f->references_superclass_recorded = true;
	f->array_classes_kept = true;
	state_redaction(f, hprof_redacted(h));
	struct hprof_origin origin;
	uint64_t extras = hprof_exported(h, &origin);
	if (extras)
		state_origin(h, &origin);
	int code = extras ? hprof_extras_read(h, extras, err) : 0;
	if (f->owners_recorded && !f->redacted && f->has_instance_sizes)
		f->cannot_tell = "HPROF holds no array sizes or identity hashes; array sizes are computed";
	return code;
}

/* --- opening ------------------------------------------------------------------------------------ */

static void hprof_close(struct dump *dump)
{
	struct hprof *h = (struct hprof *)dump;

	hprof_classes_free(h->classes);
	idmap_release(&h->strings);
	idmap_release(&h->names);
	idmap_release(&h->class_names);
	arena_release(&h->arena);
	idmap_release(&h->serials);
	idmap_release(&h->frames);
	idmap_release(&h->traces);
	idmap_release(&h->starts);
	idmap_release(&h->gaps);
	idmap_release(&h->hubs);
	idmap_release(&h->extra_threads);
	idmap_release(&h->replaced);
	big_free(h->extra_root);
	process_free(h->dump.process);
	big_free(h->hub_fields);
	big_free(h->segments);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

static int hprof_open(struct dump **out, const struct source *source,
    const struct dump_options *options, struct err *err)
{
	struct hprof *h = xcalloc(1, sizeof *h);

	dump_begin(&h->dump, &hprof_reader, source);
	pthread_mutex_init(&h->lock, NULL);
	int code = hprof_choose(h, options ? options->heap_number : 0, err);
	if (code == 0)
		code = hprof_classes_first(h, err);
	if (code < 0) {
		hprof_close(&h->dump);
		return code;
	}
	code = state_facts(h, err);
	if (code == 0)
		code = hprof_hubs_find(h, err);
	if (code < 0) {
		hprof_close(&h->dump);
		return code;
	}
	*out = &h->dump;
	return 0;
}

/* --- parts -------------------------------------------------------------------------------------- */

enum { ROW = 32, ROW_WITHIN = 1 << 20 }; /* records; bytes */

/* Bytes of the object record that seems to begin at p, 0 where none does. */
static uint64_t plausible_object(const struct hprof *h, const uint8_t *p, uint64_t left)
{
	const unsigned ids = h->id_size;
	const struct hprof_class *c;
	const char *why;

	if (!left || (*p != SUB_INSTANCE && *p != SUB_OBJECT_ARRAY && *p != SUB_PRIMITIVE_ARRAY))
		return 0;
	uint64_t size = hprof_sub_size(h, p, left, &why);
	if (size == 0 || size == UINT64_MAX)
		return 0;
	switch (*p) {
	case SUB_INSTANCE:
		c = hprof_class_of(h->classes, hprof_id(p + 1 + ids + 4, ids));
		return c && size - (1 + 2 * ids + 8) == c->chain_size ? size : 0;
	case SUB_OBJECT_ARRAY:
		c = hprof_class_of(h->classes, hprof_id(p + 1 + ids + 8, ids));
		return c ? size : 0;
	default:
		return size;
	}
}

/* The first instance between from and to that a row of objects begins with, or UINT64_MAX. */
static uint64_t find_row(const struct hprof *h, uint64_t from, uint64_t to)
{
	const uint8_t *bytes = h->dump.source->bytes, *end = bytes + h->segments[0].end;

	struct progress *work = progress_own();
	for (const uint8_t *p = bytes + from; p < bytes + to; p++) {
		if (progress_cancelled(work))
			break;
		p = memchr(p, SUB_INSTANCE, (size_t)(bytes + to - p));
		if (!p)
			break;
		const uint8_t *q = p;
		uint64_t size;
		unsigned n = 0;
		for (; n < ROW && (size = plausible_object(h, q, (uint64_t)(end - q))) > 0; n++)
			q += size;
		if (n == ROW)
			return (uint64_t)(p - bytes);
	}
	return UINT64_MAX;
}

/*
 * A single heap dump record, as JDK 5 to 8 write it, has nothing to divide it by.  But where instances
 * of known classes and of just their size follow each other in a row, records begin most likely; the
 * survey sees whether they do (facts.parts_guessed).
 */
static unsigned guess_parts(const struct hprof *h, unsigned want, struct part *out)
{
	const struct hprof_segment *s = &h->segments[0];
	uint64_t step = (s->end - s->begin) / want;
	unsigned n = 0;

	if (step < hprof_part_bytes)
		step = hprof_part_bytes;
	out[n++] = (struct part){ .begin = s->begin, .end = s->end };
	for (uint64_t at = s->begin + step; n < want && at < s->end && s->end - at >= step / 2; at += step) {
		uint64_t within = step < ROW_WITHIN ? step : ROW_WITHIN;
		uint64_t row = find_row(h, at, s->end - at < within ? s->end : at + within);
		if (row == UINT64_MAX)
			continue;
		out[n - 1].end = row;
		out[n++] = (struct part){ .begin = row, .end = s->end };
	}
	return n;
}

/* Groups of whole segments of about the same number of bytes. */
static unsigned group_segments(const struct hprof *h, unsigned want, struct part *out)
{
	uint64_t total = 0, done = 0;
	unsigned n = 0;

	for (uint32_t i = 0; i < h->n_segments; i++)
		total += h->segments[i].end - h->segments[i].begin;
	if (!h->n_segments)
		out[n++] = (struct part){ .begin = h->end, .end = h->end };
	for (uint32_t i = 0; i < h->n_segments; i++) {
		if (n == 0 || (n < want && done >= total / want * n))
			out[n++] = (struct part){ .begin = h->segments[i].begin, .state = { i } };
		out[n - 1].end = h->segments[i].end;
		done += h->segments[i].end - h->segments[i].begin;
	}
	return n;
}

/* state: the segment to begin in, and whether the part is the first. */
static unsigned hprof_parts(const struct dump *dump, unsigned want, struct part *out)
{
	const struct hprof *h = (const struct hprof *)dump;
	unsigned n = dump->facts.parts_guessed ? guess_parts(h, want, out) : group_segments(h, want, out);

	out[0].state[1] = 1;
	return n;
}

/* --- the files of an unfinished dump ------------------------------------------------------------ */

static bool begins_part(const uint8_t *bytes)
{
	return bytes[0] == HPROF_HEAP_SEGMENT;
}

static uint64_t record_end(const uint8_t *bytes, uint64_t n, uint64_t at)
{
	return n - at < RECORD_HEAD ? n + 1 : at + RECORD_HEAD + load_be32(bytes + at + 5);
}

/* Is there no record that ends it?  Some releases write that one before they append the parts: then it is unfinished
 * without objects. */
static bool unfinished(const uint8_t *bytes, uint64_t n, struct source_own *own)
{
	const struct source s = {.bytes = bytes, .size = n};
	struct hprof_header header;
	if (hprof_header(&header, &s, 0, NULL))
		return false;
	*own = (struct source_own){.body = header.body};
	uint64_t at = header.body;
	for (uint64_t i = 0; at < n && !own->objects && !progress_stops(progress_own(), i); i++) {
		own->names |= bytes[at] == HPROF_LOAD_CLASS;
		own->objects = begins_part(bytes + at) || bytes[at] == HPROF_HEAP_DUMP;
		at = record_end(bytes, n, at);
	}
	own->names &= at == n || own->objects;
	return bytes[n - RECORD_HEAD] != HPROF_HEAP_END || load_be32(bytes + n - 4) || !own->objects;
}

const struct source_division hprof_division = {
	.begins_part = begins_part,
	.unfinished = unfinished,
	.record_end = record_end,
};

const struct reader hprof_reader = {
	.name = "hprof",
	.title = "HPROF",
	.label = "HPROF",
	.created = created_of_head,
	.probe = probe,
	.open = hprof_open,
	.close = hprof_close,
	.parts = hprof_parts,
	.read = hprof_read,
	.locate = hprof_locate,
	.redact = hprof_redact,
	.symbols = hprof_symbols,
	.sites = hprof_sites,
};
