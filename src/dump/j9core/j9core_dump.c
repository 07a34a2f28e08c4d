/* SPDX-License-Identifier: GPL-3.0-or-later */
/* j9core_dump.c - system dumps of OpenJ9 VMs, as dumps. */
#include "dump/j9core/j9core.h"

#include "algorithms/bisect.h"
#include "base/mem.h"
#include "base/text.h"
#include "dump/core/core.h"
#include "dump/j9core/j9core_files.h"
#include "dump/j9core/j9core_info.h"
#include "dump/j9core/j9core_values.h"
#include "dump/reader.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERED = 512, NAME_SHOWN = 200 };

uint64_t j9_part_bytes = PART_BYTES;

struct j9_dump {
	struct dump dump; /* first */
	struct core *core;
	struct j9core *image;
	struct j9_files files;
	struct text cannot_tell;
};

struct reading {
	const struct j9core *image;
	uint32_t *handle;           /* of each class, and 1; 0: none yet.  big memory */
	struct sink *sink;
	struct j9_links links;
	struct j9_records records;
	struct object_record gathered[SINK_OBJECTS]; /* for the sink, and their targets */
	unsigned n_gathered, most_gathered;
	uint32_t n_targets;
	uint64_t targets[BUFFERED];
};

static int probe(const uint8_t *head, size_t n)
{
	return core_begins(head, n) ? 50 : 0;
}

static bool claims(const struct source *source)
{
	struct core *core;
	struct err err = ERR_INIT;
	bool is = core_open(&core, source, &err) == 0 && j9core_is_vms(core);

	core_close(core);
	return is;
}

static void close_dump(struct dump *dump)
{
	struct j9_dump *d = (struct j9_dump *)dump;

	process_free(d->dump.process);
	text_release(&d->cannot_tell);
	j9core_close(d->image);
	core_close(d->core);
	j9_files_close(&d->files);
	free(d);
}

/* What may be wrong in a core that was written while the VM ran. */
static void add_state(const struct j9_dump *d, struct text *to)
{
	struct j9_state s;

	j9core_state(d->image, &s);
	if (s.collecting)
		text_add(to, "; the garbage collector was running, so objects may be missing or incomplete");
	else if (!s.exclusive && s.n_running > 1)
		text_addf(to, "; %" PRIu64 " threads were running, so new objects may be missing or incomplete",
		    s.n_running);
}

static void state_facts(struct j9_dump *d)
{
	struct dump_facts *f = &d->dump.facts;

	f->word_bits = 8 * j9core_word(d->image);
	f->big_endian = core_big_endian(d->core);
	f->values = DECLARED_FIELDS;
	f->field_least = 4;
	f->hashes_recorded = true;
	f->reference_bytes = j9core_reference_bytes(d->image);
	f->reference_shift = j9core_reference_shift(d->image);
	f->roots_recorded = f->locals_inferred = f->owners_recorded = true;
	text_add(&d->cannot_tell, "which words of a stack are references: every word that is the address of an object "
	    "counts as one");
	add_state(d, &d->cannot_tell);
	f->cannot_tell = d->cannot_tell.s;
	d->dump.program_note = d->files.laid.s;
	dump_write_created(f->created, sizeof f->created, j9core_dumped_at(d->image));
	if (d->dump.process && d->dump.process->java_version)
		snprintf(f->vm, sizeof f->vm, "%s", d->dump.process->java_version);
	f->size_rule = SIZES_RECORDED;
	f->parts_guessed = true;
	f->loaders_hold_classes = true;
	f->takes_javacore = true;
	f->references_superclass_recorded = true;
	f->array_sizes_need_model = true;
	j9core_array_sizes(d->image, &f->arrays);
}

static int open_dump(struct dump **out, const struct source *source, const struct dump_options *options,
    struct err *err)
{
	struct j9_dump *d = xcalloc(1, sizeof *d);

	dump_begin(&d->dump, &j9_core_reader, source);
	int code = core_open(&d->core, source, err);
	if (code == 0)
		code = j9_files_open(&d->image, d->core, source, options, &d->files, err);
	if (code == 0)
		code = j9core_process(d->image, &d->dump.process, err);
	if (code) {
		close_dump(&d->dump);
		return code;
	}
	state_facts(d);
	*out = &d->dump;
	return 0;
}

/* --- parts: stretches of all regions, one behind another --------------------------------------------------- */

/* The region of a byte of all regions; their number behind the last. */
static uint32_t region_of(const struct j9_region *r, uint32_t n, uint64_t byte)
{
	uint32_t i;

	BISECT(i, n, r[i].before + (r[i].high - r[i].low) <= byte);
	return i;
}

/* Bytes of all regions. */
static uint64_t end_of(const struct j9core *j)
{
	uint32_t n;
	const struct j9_region *r = j9core_regions(j, &n);

	return n ? r[n - 1].before + (r[n - 1].high - r[n - 1].low) : 0;
}

/* Parts begin with a region, or where an object seems to begin: a guess, which the survey proves. */
static unsigned parts(const struct dump *dump, unsigned want, struct part *out)
{
	const struct j9core *j = ((const struct j9_dump *)dump)->image;
	uint32_t n;
	const struct j9_region *r = j9core_regions(j, &n);
	uint64_t all = end_of(j);
	unsigned k = 1;

	want = all / j9_part_bytes < want ? (unsigned)(all / j9_part_bytes) : want;
	out[0] = (struct part){.begin = 0};
	for (unsigned i = 1; i < want; i++) {
		uint64_t byte = all / want * i;
		uint32_t at = region_of(r, n, byte);
		byte = r[at].before + j9core_object_from(j, &r[at], r[at].low + (byte - r[at].before)) - r[at].low;
		if (byte > out[k - 1].begin && byte < all)
			out[k++] = (struct part){.begin = byte};
	}
	for (unsigned i = 0; i < k; i++)
		out[i].end = i + 1 < k ? out[i + 1].begin : all ? all : 1;
	return k;
}

/* --- objects ----------------------------------------------------------------------------------------------- */

static uint32_t handle_of(struct reading *r, const struct j9_class *c)
{
	uint32_t *handle = &r->handle[j9core_class_number(r->image, c)];
	struct j9_class_facts facts;

	if (!*handle) {
		j9core_class_facts(r->image, c, &facts);
		*handle = 1 + r->sink->class_handle(r->sink, CLASS_AT, facts.object, NULL, 0);
	}
	return *handle - 1;
}

/* The sink gets what was gathered. */
static int tell_gathered(struct reading *r)
{
	struct sink *sink = r->sink;
	unsigned n = r->n_gathered;
	uint32_t n_targets = r->n_targets;

	r->n_gathered = r->n_targets = 0;
	if (!n)
		return 0;
	int code = sink->objects ? sink->objects(sink, r->gathered, n) : sink->object(sink, r->gathered);
	return code || !n_targets ? code : sink->references(sink, r->targets, n_targets);
}

/* Of a large object: the sink has got all others. */
static int tell_references(struct reading *r, const struct j9_object *o)
{
	struct j9_slots s;
	uint32_t n;
	int code = tell_gathered(r);

	j9core_slots(&s, r->image, o);
	while (code == 0 && (n = j9core_take(&s, o, r->targets, BUFFERED)))
		code = r->sink->references(r->sink, r->targets, n);
	return code;
}

static enum object_kind kind_of(const struct j9_class *c)
{
	return !j9core_is_array(c) ? OBJECT_INSTANCE : j9core_holds_references(c) ? OBJECT_ARRAY : PRIMITIVE_ARRAY;
}

static int object(struct reading *r, const struct j9_object *o)
{
	struct object_record *record = &r->gathered[r->n_gathered];
	bool references = r->sink->wants_references;

	record->address = record->offset = o->address;
	record->class_handle = handle_of(r, o->class);
	record->kind = kind_of(o->class);
	record->size = j9core_size_follows(r->image, o) ? SIZE_UNKNOWN : o->size + o->elsewhere;
	record->length = o->length;
	record->hashed = j9core_may_hash(o) && j9core_hash(r->image, o, &record->hash);
	uint64_t *to = references ? r->targets + r->n_targets : NULL;
	bool all = j9core_references(r->image, o, to, &record->n_references);
	r->n_gathered++;
	if (references && !all && record->n_references)
		return tell_references(r, o);
	r->n_targets += references ? (uint32_t)record->n_references : 0;
	return r->n_gathered < r->most_gathered && r->n_targets <= BUFFERED - J9_GATHERED ? 0 : tell_gathered(r);
}

/* --- classes ----------------------------------------------------------------------------------------------- */

static int class_record(struct reading *r, const struct j9_class *c, struct err *err)
{
	struct j9_class_facts facts;
	char unknown[32];
	size_t n = 0;
	const char *name = j9core_class_name(r->image, c, &n);

	j9core_class_facts(r->image, c, &facts);
	if (!facts.object)
		return 0;
	if (!name)
		n = (size_t)snprintf(unknown, sizeof unknown, "<unknown 0x%" PRIx64 ">", facts.object);
	int code = r->sink->sample ? 0 : j9core_links(r->image, c, &r->links, err); /* a sample only counts classes */
	struct class_record record = {
		.address = facts.object, .superclass = facts.superclass, .loader = facts.loader,
		.name = (const uint8_t *)(name ? name : unknown), .name_size = n, .name_stays = name,
		.instance_size = j9core_is_array(c) ? SIZE_UNKNOWN : j9core_instance_size(c), .object_size = SIZE_UNKNOWN,
		.taken = facts.taken,
		.n_references = r->links.n, .references = r->links.target,
	};
	struct j9_object object;
	if (j9core_class_object(r->image, facts.object, &object)) {
		record.object_size = j9core_size_follows(r->image, &object) ? SIZE_UNKNOWN : object.size;
		record.hashed = j9core_hash(r->image, &object, &record.hash);
	}
	bool certain = true;
	if (code == 0 && !r->sink->wants_references && !r->sink->sample)
		code = j9_records_of(&r->records, c, &record, &certain, err);
	if (code == 0 && !certain)
		r->sink->warn(r->sink, NO_OFFSET, "%.*s: where its fields are in objects is not certain: they are left out",
		    (int)(n < NAME_SHOWN ? n : NAME_SHOWN), (const char *)record.name);
	return code ? code : r->sink->class_record(r->sink, &record);
}

static int classes(struct reading *r, const struct core *core, struct err *err)
{
	const struct j9_class *c;
	int code = j9_records_open(&r->records, r->image, core, err);

	for (uint32_t i = 0; code == 0 && (c = j9core_class_at(r->image, i)); i++)
		code = class_record(r, c, err);
	return code;
}

/* --- a part ------------------------------------------------------------------------------------------------ */

/* The objects of a region that begin between two bytes of all regions. */
static int region(struct reading *r, const struct j9_region *region, uint64_t begin, uint64_t end)
{
	struct sink *sink = r->sink;
	struct j9_walk w;
	struct j9_object o;
	uint64_t cut = begin, before = region->before - region->low;
	int code = 0;

	j9core_walk(&w, r->image, region, begin - before);
	w.end = end - before < w.high ? end - before : w.high;
	while (code == 0 && j9core_next(&w, &o)) {
		if (o.address + before >= cut) {
			struct part here = {.begin = o.address + before};
			code = tell_gathered(r);
			code = code ? code : sink->part_begins(sink, &here);
			cut = o.address + before + j9_part_bytes;
		}
		if (code == 0)
			code = object(r, &o);
	}
	sink->reached = w.at + before;
	sink->lost += w.n_skipped;
	return code ? code : tell_gathered(r);
}

static int read_regions(struct reading *r, const struct part *part)
{
	uint32_t n;
	const struct j9_region *all = j9core_regions(r->image, &n);
	int code = 0;

	for (uint32_t i = region_of(all, n, part->begin); i < n && all[i].before < part->end && code == 0; i++)
		code = region(r, &all[i], part->begin > all[i].before ? part->begin : all[i].before, part->end);
	return code;
}

static int read_part(const struct dump *dump, const struct part *part, struct sink *sink, struct err *err)
{
	const struct j9_dump *d = (const struct j9_dump *)dump;
	struct reading *r = xcalloc(1, sizeof *r);
	uint32_t n = j9core_n_classes(d->image);

	*r = (struct reading){.image = d->image, .sink = sink, .most_gathered = sink->objects ? SINK_OBJECTS : 1};
	r->handle = big_alloc(n ? n : 1, sizeof *r->handle, err);
	int code = r->handle ? 0 : ERR_NOMEM;
	if (code == 0 && part->begin == 0)
		code = classes(r, d->core, err);
	if (code == 0 && part->begin == 0 && !sink->wants_references)
		code = j9core_roots(d->image, sink, err);
	if (code == 0)
		code = read_regions(r, part);
	if (code == 0 && (part->end >= end_of(d->image) || sink->reached >= end_of(d->image)))
		code = j9core_missing(d->image, d->files.refused.s, err);
	big_free(r->handle);
	j9_links_release(&r->links);
	j9_records_close(&r->records);
	free(r);
	return code;
}

static int locate(const struct dump *dump, uint64_t offset, uint32_t steps, struct object_view *out, struct err *err)
{
	const struct j9_dump *d = (const struct j9_dump *)dump;
	return j9_locate(d->image, d->core, offset, steps, out, err);
}

const struct reader j9_core_reader = {
	.name = "j9core",
	.title = "a system dump of an OpenJ9 VM",
	.label = "system dump",
	.probe = probe,
	.claims = claims,
	.open = open_dump,
	.close = close_dump,
	.parts = parts,
	.read = read_part,
	.locate = locate,
};
