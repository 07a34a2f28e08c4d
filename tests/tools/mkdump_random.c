/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mkdump_random.c - small random graphs in every layout of the formats, for the model test.
 *
 * A seed decides everything: layout, classes, objects, places, order of the records.  What a format
 * leaves open is avoided: no array or instance has its class as its first reference unless the whole
 * dump does so, classic dumps hold no two classes of one name, and so on.
 */
#include "mkdump_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum quirk { CLASS_FIRST = 1, ARRAY_CLASS = 2, TAME = 4, CRLF = 8, JDMPVIEW = 16, EBCDIC = 32,
	NO_VERSION = 64, OLD_HEADER = 128 };

static const struct format {
	const char *name;
	unsigned version, flags; /* version 0: classic */
	unsigned quirks;
} formats[] = {
	{ "v6-64", 6, PHD_64 | PHD_J9, 0 },
	{ "v6-32", 6, PHD_J9, 0 },
	{ "v6-64-tame", 6, PHD_64 | PHD_J9, TAME },
	{ "v6-64-hashed", 6, PHD_64 | PHD_J9 | PHD_HASHED, 0 },
	{ "v6-32-hashed", 6, PHD_J9 | PHD_HASHED, 0 },
	{ "v6-64-classfirst", 6, PHD_64 | PHD_J9, CLASS_FIRST },
	{ "v6-32-classfirst", 6, PHD_J9, CLASS_FIRST },
	{ "v5-64", 5, PHD_64 | PHD_J9, 0 },
	{ "v5-32", 5, PHD_J9, NO_VERSION },
	{ "v5-64-hashed", 5, PHD_64 | PHD_J9 | PHD_HASHED, 0 },
	{ "v5-32-hashed", 5, PHD_J9 | PHD_HASHED, 0 },
	{ "v5-64-arrayclass", 5, PHD_64 | PHD_J9, ARRAY_CLASS },
	{ "v5-32-arrayclass", 5, PHD_J9 | PHD_HASHED, ARRAY_CLASS },
	{ "v5sov-32", 5, 0, OLD_HEADER },
	{ "v5sov-64", 5, PHD_64, OLD_HEADER },
	{ "v4j9-64-hashed", 4, PHD_64 | PHD_J9 | PHD_HASHED, 0 },
	{ "v4j9-32", 4, PHD_J9, 0 },
	{ "v4sov-32", 4, 0, OLD_HEADER },
	{ "v4sov-64", 4, PHD_64, OLD_HEADER | NO_VERSION },
	{ "v4sov-64-flag2", 4, PHD_64 | PHD_HASHED, OLD_HEADER },
	{ "classic-64", 0, PHD_64, 0 },
	{ "classic-32", 0, 0, 0 },
	{ "classic-64-crlf", 0, PHD_64, CRLF },
	{ "classic-32-noversion", 0, 0, NO_VERSION },
	{ "classic-64-jdmpview", 0, PHD_64, JDMPVIEW },
	{ "classic-64-ebcdic", 0, PHD_64, EBCDIC },
};
enum { FORMATS = sizeof formats / sizeof *formats };

struct random {
	struct model m;
	struct chance chance;
	const struct format *format;
	unsigned unit; /* addresses and distances are multiples of this */
	bool huge;     /* one array of gigabytes */
	uint32_t component[64], n_components; /* classes that arrays are made of */
	uint32_t plain[64], n_plain;          /* classes with instances */
	uint32_t *order;
};

static uint64_t below(struct random *r, uint64_t n)
{
	return chance_below(&r->chance, n);
}

static bool percent(struct random *r, unsigned p)
{
	return chance_percent(&r->chance, p);
}

/* --- classes ----------------------------------------------------------------------------------- */

static void note_class(struct random *r, uint32_t class)
{
	r->plain[r->n_plain++] = class;
	r->component[r->n_components++] = class;
}

static uint32_t random_size(struct random *r)
{
	/* Old VMs with a class of size 0 are read by another rule; J9's smallest object is 16 bytes on
	 * 64 bits whatever the class says, which only the newest layout is sure about. */
	bool may_be_small = r->format->version == 6 && r->format->flags & PHD_J9;
	uint32_t size = (uint32_t)(16 + 4 * below(r, 20));
	return may_be_small && percent(r, 10) ? 8 : size;
}

static void make_classes(struct random *r)
{
	struct model *m = &r->m;
	bool text = r->format->version == 0, ascii = r->format->quirks & EBCDIC;
	uint32_t object = model_class(m, "java/lang/Object", NULL, NOTHING, NOTHING, 16);
	m->object_class = object;
	m->class_class = model_class(m, "java/lang/Class", NULL, object, NOTHING, 48 + 8 * (uint32_t)below(r, 4));
	uint32_t loader = model_class(m, "java/lang/ClassLoader", NULL, object, NOTHING, 40);
	uint32_t boot = model_class(m, "com/ibm/oti/vm/BootstrapClassLoader", NULL, loader, NOTHING, 48);
	uint32_t app = model_class(m, "sun/misc/Launcher$AppClassLoader", NULL, loader, NOTHING, 56);
	uint32_t one[3];
	one[0] = model_instance(m, boot);
	one[1] = model_instance(m, app);
	one[2] = model_instance(m, app);
	for (uint32_t i = 0; i < m->n_classes; i++)
		m->classes[i].loader = one[0];
	note_class(r, object);
	note_class(r, model_class(m, "java/lang/String", NULL, object, one[0], 24));
	if (!text && percent(r, 50)) {
		/* One name, two loaders, two classes; and so their array classes. */
		note_class(r, model_class(m, "com/acme/Twice", NULL, object, one[1], 24));
		note_class(r, model_class(m, "com/acme/Twice", NULL, object, one[2], 32));
	}
	if (!ascii) {
		note_class(r, model_class(m, "com/acme/Stra\xc3\x9f" "e", NULL, object, one[1], 16));
		note_class(r, model_class(m, "\xe6\xb3\xa8\xe6\x96\x87", NULL, object, one[1], 24));
		/* A character beyond the basic plane: two surrogates of three bytes each in the dump. */
		note_class(r, model_class(m, "p/\xed\xa0\xbd\xed\xb8\x80", "p.\xf0\x9f\x98\x80", object, one[2], 16));
	}
	unsigned more = (unsigned)below(r, 14);
	for (unsigned i = 0; i < more; i++) {
		char name[64];
		snprintf(name, sizeof name, "com/acme/p%u/Item%u$Inner", i % 3, i);
		uint32_t super = percent(r, 40) ? r->plain[below(r, r->n_plain)] : object;
		/* one after another: compilers evaluate arguments in orders of their own, and a seed is one dump */
		uint32_t size = random_size(r);
		note_class(r, model_class(m, name, NULL, super, one[below(r, 3)], size));
	}
	if (percent(r, 60))
		model_class(m, "int", NULL, NOTHING, one[0], r->format->flags & PHD_J9 ? 0 : 16);
	for (uint32_t i = object; i < m->n_classes; i++) {
		struct model_class *c = &m->classes[i];
		while (c->n_pool < 4 && percent(r, 25))
			c->pool[c->n_pool++] = (uint32_t)below(r, m->n_classes);
	}
}

/* --- objects ----------------------------------------------------------------------------------- */

static uint64_t random_length(struct random *r)
{
	static const uint32_t edge[] = { 0, 1, 2, 126, 127, 128, 129, 254, 255, 256, 257, 32767, 32768, 65535,
		65536, 100000 };
	return percent(r, 20) ? edge[below(r, sizeof edge / sizeof *edge)] : below(r, 40);
}

static void make_objects(struct random *r)
{
	struct model *m = &r->m;
	bool leaf_only = r->format->version == 4 && r->format->flags & PHD_J9;
	uint32_t n = 5 + (uint32_t)below(r, percent(r, 20) ? 900 : 200);
	/* At least one array of plain objects: else nobody could tell a component from an array class. */
	model_array(m, r->component[1], 3);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t dice = below(r, 100);
		if (dice < 55) {
			model_instance(m, r->plain[below(r, r->n_plain)]);
		} else if (dice < 70) {
			uint32_t component = r->component[below(r, r->n_components)];
			uint64_t length = percent(r, 5) ? 300 : below(r, 12);
			uint32_t array = model_array(m, component, length);
			if (!leaf_only && r->n_components < 60 && percent(r, 30))
				r->component[r->n_components++] = m->objects[array].class;
		} else {
			uint64_t length = random_length(r);
			uint32_t array = model_primitives(m, (enum element)below(r, ELEMENTS), length);
			if (!leaf_only && r->n_components < 60 && percent(r, 20))
				r->component[r->n_components++] = m->objects[array].class;
		}
	}
	r->huge = r->format->version == 6 && r->format->flags & PHD_64 && percent(r, 25);
	if (r->huge)
		model_primitives(m, E_LONG, 1500000000);
}

static uint32_t random_target(struct random *r, uint32_t from)
{
	uint64_t dice = below(&*r, 100);
	if (dice < 5)
		return from;
	if (dice < 25) /* a hub */
		return (uint32_t)below(r, r->m.n_objects < 8 ? r->m.n_objects : 8);
	return (uint32_t)below(r, r->m.n_objects);
}

/* The first reference of the record must not be the class that the record names. */
static void keep_clear_of_class(struct model *m, struct model_object *o)
{
	for (uint32_t i = 0; i < o->n_references; i++) {
		uint32_t *at = &o->references[o->kind == M_ARRAY ? o->n_references - 1 - i : i];
		if (*at == NOTHING)
			continue;
		if (*at & OUTSIDE(0) || m->objects[*at].kind != M_CLASS)
			return;
		*at = NOTHING;
	}
}

static void make_references(struct random *r, unsigned nulls, unsigned outside)
{
	struct model *m = &r->m;
	for (uint32_t i = 0; i < m->n_objects; i++) {
		struct model_object *o = &m->objects[i];
		uint64_t n = 0;
		if (o->kind == M_ARRAY)
			n = o->length;
		else if (o->kind == M_INSTANCE)
			n = percent(r, 85) ? below(r, 5) : below(r, 24);
		else if (o->kind == M_CLASS)
			n = percent(r, 30) ? below(r, 6) : 0;
		for (uint64_t k = 0; k < n; k++) {
			uint32_t to = random_target(r, i);
			if (percent(r, nulls))
				to = NOTHING;
			else if (m->n_outside && percent(r, outside))
				to = OUTSIDE((uint32_t)below(r, m->n_outside));
			model_refer(m, i, to);
		}
		if (o->kind != M_CLASS)
			keep_clear_of_class(m, o);
	}
}

/* --- places and order -------------------------------------------------------------------------- */

static void shuffle(struct random *r, uint32_t *list, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = (uint32_t)below(r, i), was = list[i - 1];
		list[i - 1] = list[k];
		list[k] = was;
	}
}

static uint64_t random_base(struct random *r, unsigned region)
{
	bool wide = r->format->flags & PHD_64;
	if (!wide)
		return round_up(0x10000 + region * UINT64_C(0x40000000) + below(r, 0x20000000), 8);
	if (region == 2 && percent(r, 30))
		return UINT64_MAX - 0xFFFFFFF; /* the end of the address space */
	uint64_t apart = UINT64_C(1) << (35 + below(r, 10));
	return round_up(0x700000000 + region * apart + below(r, 1 << 20), 8);
}

static void place(struct random *r)
{
	struct model *m = &r->m;
	unsigned regions = 1 + (unsigned)below(r, 3);
	uint64_t at[3];
	bool odd = r->unit == 4 && percent(r, 15);
	for (unsigned i = 0; i < 3; i++)
		at[i] = random_base(r, i);
	uint32_t *list = get_memory(m->n_objects, sizeof *list);
	for (uint32_t i = 0; i < m->n_objects; i++)
		list[i] = i;
	if (percent(r, 70))
		shuffle(r, list, m->n_objects);
	for (uint32_t i = 0; i < m->n_objects; i++) {
		struct model_object *o = &m->objects[list[i]];
		if (o->size > UINT32_MAX)
			continue;
		uint64_t *here = &at[regions == 1 ? 0 : mix(i / 16) % regions];
		uint64_t free = percent(r, 10) ? below(r, 100) : 0;
		*here += 8 * (free == 1 ? 2 : free); /* after a hashed object 8 bytes would be its hash */
		o->address = *here + (odd && o->size > 8 && percent(r, 50) ? 4 : 0);
		*here += o->size + (odd ? 8 : 0);
	}
	for (uint32_t i = 0; i < m->n_objects; i++) {
		if (m->objects[i].size > UINT32_MAX) {
			m->objects[i].address = at[0];
			at[0] += round_up(m->objects[i].size, 4096);
		}
	}
	/* Addresses where nothing is: beyond every region, and inside an object. */
	for (unsigned i = 0; i < m->n_outside; i++)
		m->outside[i] = at[0] + 0x1000 + 8 * i;
	if (m->n_outside && r->unit == 4 && !odd)
		m->outside[0] = m->objects[0].address + 4;
	free(list);
}

static const struct model *sorting;

static int by_address(const void *a, const void *b)
{
	uint64_t x = sorting->objects[*(const uint32_t *)a].address;
	uint64_t y = sorting->objects[*(const uint32_t *)b].address;
	return (x > y) - (x < y);
}

static void order_records(struct random *r)
{
	struct model *m = &r->m;
	uint32_t *sorted = get_memory(m->n_objects, sizeof *sorted), n = 0;
	r->order = get_memory(m->n_objects, sizeof *r->order);
	for (uint32_t i = 0; i < m->n_objects; i++)
		sorted[i] = i;
	sorting = m;
	qsort(sorted, m->n_objects, sizeof *sorted, by_address);
	uint64_t dice = below(r, 10);
	if (dice < 2) { /* any order */
		shuffle(r, sorted, m->n_objects);
		memcpy(r->order, sorted, m->n_objects * sizeof *sorted);
	} else { /* the heap, the classes before it or after */
		for (unsigned pass = 0; pass < 2; pass++) {
			bool classes = pass == (dice < 5 ? 0 : 1);
			for (uint32_t i = 0; i < m->n_objects; i++) {
				if ((m->objects[sorted[i]].kind == M_CLASS) == classes)
					r->order[n++] = sorted[i];
			}
		}
	}
	free(sorted);
}

/* --- the whole --------------------------------------------------------------------------------- */

static void choose_style(struct random *r, struct style *style)
{
	const struct format *f = r->format;
	static const char version[] = "J2RE 5.0 or later, synthetic (mkdump random)";
	const char *said = f->quirks & NO_VERSION ? NULL : version;
	*style = (struct style){
		.text = f->version == 0,
		.phd = { .version = f->version, .flags = f->flags, .full_version = said,
		    .old_header = f->quirks & OLD_HEADER,
		    .wild = f->quirks & TAME ? NULL : &r->chance },
		.classic = { .digits = f->flags & PHD_64 ? 16 : 8, .version = said,
		    .crlf = f->quirks & CRLF, .jdmpview = f->quirks & JDMPVIEW,
		    .ebcdic = f->quirks & EBCDIC },
		.class_first = f->quirks & CLASS_FIRST,
		.array_class = f->quirks & ARRAY_CLASS,
		.leaf_array = f->version == 4 && f->flags & PHD_J9,
		.lengths_lost = f->version == 4,
		.sizes_lost = f->version == 4 || f->version == 5,
	};
}

static void write_all(struct random *r, const char *prefix)
{
	char path[4096];
	struct style style;
	choose_style(r, &style);
	snprintf(path, sizeof path, "%s.truth", prefix);
	model_write_truth(&r->m, path, &style);
	snprintf(path, sizeof path, "%s.%s", prefix, style.text ? "txt" : "phd");
	model_write(&r->m, path, &style, r->order);
	printf("%s\t%s\n", path, r->format->name);
}

static const struct format *find_format(const char *name)
{
	for (unsigned i = 0; i < FORMATS; i++) {
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	}
	die("%s is no format", name);
}

int mkdump_random(int argc, char **argv)
{
	struct random *r = get_memory(1, sizeof *r);
	const char *prefix = NULL, *value;
	uint64_t seed = 1;
	for (int i = 0; i < argc; i++) {
		if ((value = option_value(argc, argv, &i, "--seed")))
			seed = option_number(value);
		else if ((value = option_value(argc, argv, &i, "--format")))
			r->format = find_format(value);
		else if ((value = option_value(argc, argv, &i, "--out")))
			prefix = value;
		else
			die("random: %s is no option (--seed, --format, --out)", argv[i]);
	}
	if (!prefix || strlen(prefix) > 4000)
		die("random needs --out PREFIX");
	/* Formats take turns, so that a run of seeds meets all of them. */
	if (!r->format)
		r->format = &formats[seed % FORMATS];
	r->chance.state = mix(seed);
	struct model *m = &r->m;
	m->array_header = r->format->flags & PHD_64 ? 24 : 16;
	m->reference_size = r->format->flags & PHD_64 ? 8 : 4;
	bool newest = r->format->version == 6 && r->format->flags & PHD_64;
	m->minimum_size = newest ? 16 : 0;
	r->unit = r->format->version == 5 || r->format->flags & PHD_J9 || !r->format->version ? 4 : 8;
	make_classes(r);
	make_objects(r);
	for (unsigned i = 0; percent(r, 30) && i < 5; i++)
		model_outside(m, 0);
	make_references(r, (unsigned)below(r, 40), 5);
	model_sizes(m);
	for (uint32_t i = 0; i < m->n_objects; i++) {
		if (percent(r, 6))
			m->objects[i].hash = (int64_t)(chance_next(&r->chance) & 0x7FFFFFFF);
	}
	place(r);
	order_records(r);
	write_all(r, prefix);
	free(r->order);
	model_release(m);
	free(r);
	return 0;
}
