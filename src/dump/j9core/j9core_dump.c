/* SPDX-License-Identifier: GPL-3.0-or-later */
/* j9core_dump.c - system dumps of OpenJ9 VMs, as dumps. */
#include "dump/j9core/j9core_dump.h"

#include "base/mem.h"
#include "dump/core/core.h"
#include "dump/j9core/j9core.h"
#include "dump/reader.h"
#include "dump/source/source.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFERED = 512 };

struct j9_dump {
	struct dump dump; /* first */
	struct core *core;
	struct j9core *image;
	const struct j9_class *hub; /* java/lang/Class */
};

struct reading {
	const struct j9core *image;
	const struct core *core;
	const struct j9_class *hub; /* java/lang/Class */
	struct sink *sink;
	const struct j9_class *last; /* of which the handle is */
	uint32_t handle;
	uint64_t targets[BUFFERED];
	struct j9_links links;
};

static int probe(const uint8_t *head, size_t n)
{
	return core_begins(head, n) ? 50 : 0;
}

static bool claims(const struct source *source)
{
	struct core *core;
	struct err err = ERR_INIT;
	bool is = core_open(&core, source, &err) == 0 && j9core_find(core) != UINT64_MAX;

	core_close(core);
	return is;
}

static void close_dump(struct dump *dump)
{
	struct j9_dump *d = (struct j9_dump *)dump;

	j9core_close(d->image);
	core_close(d->core);
	free(d);
}

static void state_facts(struct j9_dump *d)
{
	struct dump_facts *f = &d->dump.facts;
	const struct j9_class *c;
	struct j9_class_facts facts;
	size_t n;

	f->word_bits = 8 * j9core_word(d->image);
	f->big_endian = core_big_endian(d->core);
	f->no_values = "values of system dumps are not read yet";
	f->cannot_tell = "roots and threads of system dumps are not read yet";
	f->size_rule = SIZES_RECORDED;
	f->loaders_hold_classes = true;
	f->references_superclass_recorded = true;
	for (size_t i = 0; (c = j9core_class_at(d->image, i)); i++) {
		const char *name = j9core_class_name(d->image, c, &n);
		if (!name || n != 15 || memcmp(name, "java/lang/Class", 15))
			continue;
		j9core_class_facts(d->image, c, &facts);
		f->class_of_hubs = facts.object;
		d->hub = c;
	}
}

static int open_dump(struct dump **out, const struct source *source, const struct dump_options *options, struct err *err)
{
	struct j9_dump *d = xcalloc(1, sizeof *d);

	(void)options;
	dump_begin(&d->dump, &j9_core_reader, source);
	int code = core_open(&d->core, source, err);
	if (code == 0)
		code = j9core_open(&d->image, d->core, err);
	if (code) {
		close_dump(&d->dump);
		return code;
	}
	state_facts(d);
	*out = &d->dump;
	return 0;
}

/* Parts begin at addresses. */
static unsigned parts(const struct dump *dump, unsigned want, struct part *out)
{
	uint32_t n;
	const struct j9_region *r = j9core_regions(((const struct j9_dump *)dump)->image, &n);

	(void)want;
	*out = (struct part){.begin = 0, .end = n ? r[n - 1].high : 1};
	return 1;
}

static int object(struct reading *r, const struct j9_object *o)
{
	const struct j9core *j = r->image;
	struct j9_class_facts facts;
	struct j9_slots s;
	uint64_t offset, n = 0, waiting = 0;
	bool array = j9core_is_array(o->class);
	struct object_record record = {
		.address = o->address, .size = o->size, .length = array ? o->length : LENGTH_UNKNOWN,
		.kind = !array ? OBJECT_INSTANCE : j9core_holds_references(o->class) ? OBJECT_ARRAY : PRIMITIVE_ARRAY,
		.offset = o->address,
	};
	int code;

	for (j9core_slots(&s, j, o); j9core_next_slot(&s, &offset);)
		n += j9core_reference(j, o->address + offset) != 0;
	if (r->last != o->class) {
		j9core_class_facts(j, o->class, &facts);
		r->handle = r->sink->class_handle(r->sink, CLASS_AT, facts.object, NULL, 0);
		r->last = o->class;
	}
	record.class_handle = r->handle;
	record.n_references = n;
	code = r->sink->object(r->sink, &record);
	if (code < 0 || !r->sink->wants_references)
		return code;
	for (j9core_slots(&s, j, o); code == 0 && j9core_next_slot(&s, &offset);) {
		uint64_t target = j9core_reference(j, o->address + offset);
		if (target)
			r->targets[waiting++] = target;
		if (waiting == BUFFERED) {
			code = r->sink->references(r->sink, r->targets, waiting);
			waiting = 0;
		}
	}
	return code == 0 && waiting ? r->sink->references(r->sink, r->targets, waiting) : code;
}

static int class_record(struct reading *r, const struct j9_class *c, struct err *err)
{
	struct j9_class_facts facts;
	size_t n = 0;
	const char *name = j9core_class_name(r->image, c, &n);

	j9core_class_facts(r->image, c, &facts);
	if (!facts.object)
		return 0;
	int code = j9core_links(r->image, c, r->hub, &r->links, err);
	struct class_record record = {
		.address = facts.object, .superclass = facts.superclass, .loader = facts.loader,
		.name = (const uint8_t *)(name ? name : ""), .name_size = name ? n : 0, .name_stays = true,
		.instance_size = SIZE_UNKNOWN, .object_size = SIZE_UNKNOWN,
		.n_references = r->links.n, .references = r->links.target,
	};
	return code ? code : r->sink->class_record(r->sink, &record);
}

static int read_part(const struct dump *dump, const struct part *part, struct sink *sink, struct err *err)
{
	const struct j9core *j = ((const struct j9_dump *)dump)->image;
	struct reading r = {.image = j, .core = ((const struct j9_dump *)dump)->core,
	    .hub = ((const struct j9_dump *)dump)->hub, .sink = sink};
	uint32_t n;
	const struct j9_region *region = j9core_regions(j, &n);
	const struct j9_class *c;
	int code = 0;

	for (size_t i = 0; part->begin == 0 && code == 0 && (c = j9core_class_at(j, i)); i++)
		code = class_record(&r, c, err);
	for (uint32_t i = 0; i < n && code == 0; i++) {
		struct j9_walk w;
		struct j9_object o;
		if (region[i].high <= part->begin || region[i].low >= part->end)
			continue;
		uint64_t from = region[i].low > part->begin ? region[i].low : part->begin, cut = from;
		j9core_walk(&w, j, from, region[i].high);
		while (code == 0 && j9core_next(&w, &o) && o.address < part->end) {
			if (o.address >= cut) {
				struct part here = {.begin = o.address};
				code = sink->part_begins(sink, &here);
				cut = o.address + PART_BYTES;
			}
			if (code == 0)
				code = object(&r, &o);
		}
	}
	j9_links_release(&r.links);
	return code;
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
};
