/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mkdump_bench.c - a dump of any size in constant memory, for measuring.
 *
 * The heap is a row of blocks of BLOCK_OBJECTS objects and BLOCK_BYTES bytes each.  A block's inside
 * is one of SHAPES drawn beforehand (an array of bytes fills it up), which one follows from the
 * block's number; so the address of any object follows from its number alone and references can go
 * anywhere without a table of addresses.  Two regions of blocks, a few special objects before them,
 * the class records at the end, as a current OpenJ9 writes them.
 *
 * The mix is that of a real application heap: 38 % arrays, a few classes with most of the instances,
 * most references to near neighbours, some across the heap, some to a handful of hubs.  The HPROF dump is the
 * same heap: its classes all extend java.lang.Object, and roots, classes and threads, are told.
 */
#include "mkdump_hprof_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	BLOCK_OBJECTS = 64,
	BLOCK_BYTES = 3200,
	SHAPES = 256,
	CLASSES = 420,     /* with instances; the array classes stand behind them */
	HUBS = 200,        /* special objects that many others reference */
	MOST_REFERENCES = 512,
};

static const uint64_t special_base = 0x700000000, block_base = 0x700100000,
    region_gap = UINT64_C(1) << 30;

enum fixed_class { C_OBJECT, C_CLASS, C_STRING, C_LOADER, C_BOOT_LOADER, C_APP_LOADER, C_THREAD,
	C_NODE, C_INTEGER, C_FIXED };
static const struct {
	const char *name;
	unsigned size, references, superclass, weight;
} fixed[C_FIXED] = {
	{ "java/lang/Object", 16, 0, 0, 4 },
	{ "java/lang/Class", 64, 0, C_OBJECT, 0 },
	{ "java/lang/String", 24, 1, C_OBJECT, 600 },
	{ "java/lang/ClassLoader", 64, 0, C_OBJECT, 0 },
	{ "com/ibm/oti/vm/BootstrapClassLoader", 96, 0, C_LOADER, 0 },
	{ "sun/misc/Launcher$AppClassLoader", 104, 2, C_LOADER, 0 },
	{ "java/lang/Thread", 120, 3, C_OBJECT, 0 },
	{ "java/util/HashMap$Node", 32, 3, C_OBJECT, 420 },
	{ "java/lang/Integer", 16, 0, C_OBJECT, 30 },
};

struct class {
	char name[64];
	unsigned size, references, superclass, weight;
	uint64_t address, n_objects, shallow;
};

enum kind { K_INSTANCE, K_ARRAY, K_PRIMITIVES };

struct shape {
	struct item {
		enum kind kind;
		uint32_t offset, size, length, n;
		uint32_t class; /* of an array of references: its component */
		enum element element;
	} item[BLOCK_OBJECTS];
};

struct bench {
	uint64_t seed, n_objects, n_blocks, region_blocks;
	uint64_t n_in_blocks; /* objects before the class records, the special ones not counted */
	uint64_t class_base;
	struct class class[CLASSES], array_class[CLASSES], primitive_array[ELEMENTS];
	struct shape shape[SHAPES];
	struct phd *phd;         /* or NULL */
	struct classic *classic; /* or NULL */
	struct hprof_stream *hprof; /* or NULL */
	uint64_t n_instances, n_arrays, n_primitives, n_references, shallow;
};

static const uint64_t special_size = 256; /* bytes from one special object to the next */

static uint64_t special_address(unsigned i)
{
	return special_base + i * special_size;
}

static uint64_t address_of(const struct bench *b, uint64_t i)
{
	uint64_t block = i / BLOCK_OBJECTS;
	uint64_t base = block_base + block * BLOCK_BYTES + (block >= b->region_blocks ? region_gap : 0);
	const struct shape *s = &b->shape[mix(b->seed ^ block) % SHAPES];
	return base + s->item[i % BLOCK_OBJECTS].offset;
}

/* --- classes ----------------------------------------------------------------------------------- */

static void make_classes(struct bench *b)
{
	static const char *const package[] = { "com/acme/order", "com/acme/web", "java/util",
		"org/shop/catalog", "java/util/concurrent", "com/acme/billing/internal" };
	struct chance chance = { mix(b->seed) };
	for (unsigned i = 0; i < CLASSES; i++) {
		struct class *c = &b->class[i];
		if (i < C_FIXED) {
			snprintf(c->name, sizeof c->name, "%s", fixed[i].name);
			c->size = fixed[i].size;
			c->references = fixed[i].references;
			c->superclass = fixed[i].superclass;
			c->weight = fixed[i].weight;
			continue;
		}
		snprintf(c->name, sizeof c->name, "%s/Item%u", package[i % 6], i);
		c->references = (unsigned)chance_below(&chance, chance_percent(&chance, 5) ? 14 : 6);
		c->size = (unsigned)round_up(12 + 4 * c->references + 4 * chance_below(&chance, 4), 8);
		c->superclass = chance_percent(&chance, 30) && i > C_FIXED
		    ? C_FIXED + (unsigned)chance_below(&chance, i - C_FIXED)
		    : C_OBJECT;
		c->weight = 1 + 100 / (i - C_FIXED + 4);
	}
	for (unsigned i = 0; i < CLASSES; i++)
		snprintf(b->array_class[i].name, 64, "[L%.60s;", b->class[i].name);
	for (unsigned i = 0; i < ELEMENTS; i++)
		snprintf(b->primitive_array[i].name, 64, "[%c", element_letter[i]);
}

static uint32_t draw_class(struct bench *b, struct chance *chance)
{
	uint64_t total = 0;
	for (unsigned i = 0; i < CLASSES; i++)
		total += b->class[i].weight;
	uint64_t at = chance_below(chance, total);
	unsigned i = 0;
	while (at >= b->class[i].weight)
		at -= b->class[i++].weight;
	return i;
}

/* --- shapes ------------------------------------------------------------------------------------ */

static void draw_item(struct bench *b, struct item *item, struct chance *chance)
{
	uint64_t dice = chance_below(chance, 1000);
	*item = (struct item){ .kind = dice < 582 ? K_INSTANCE : dice < 602 ? K_ARRAY : K_PRIMITIVES };
	if (item->kind == K_INSTANCE) {
		item->class = draw_class(b, chance);
		item->size = b->class[item->class].size;
		item->n = b->class[item->class].references;
		/* A field is null now and then. */
		if (item->n && chance_percent(chance, 20))
			item->n--;
	} else if (item->kind == K_ARRAY) {
		item->class = draw_class(b, chance);
		item->length = (uint32_t)(chance_percent(chance, 80) ? chance_below(chance, 64)
		                                                     : 64 + chance_below(chance, 350));
		item->n = item->length ? item->length - (uint32_t)chance_below(chance, item->length / 4 + 1) : 0;
		item->size = (uint32_t)round_up(16 + 4 * (uint64_t)item->length, 8);
	} else {
		static const enum element often[] = { E_CHAR, E_CHAR, E_CHAR, E_CHAR, E_BYTE, E_BYTE, E_INT,
			E_LONG, E_DOUBLE, E_BOOLEAN, E_SHORT, E_FLOAT };
		item->element = often[chance_below(chance, 12)];
		item->length = (uint32_t)chance_below(chance, chance_percent(chance, 90) ? 40 : 200);
		item->size = (uint32_t)round_up(16 + (uint64_t)item->length * element_size[item->element], 8);
	}
}

static void make_shapes(struct bench *b)
{
	struct chance chance = { mix(b->seed + 1) };
	for (unsigned s = 0; s < SHAPES;) {
		uint32_t at = 0, references = 0;
		struct item *items = b->shape[s].item;
		for (unsigned i = 0; i < BLOCK_OBJECTS - 1; i++) {
			draw_item(b, &items[i], &chance);
			items[i].offset = at;
			at += items[i].size;
			references += items[i].n;
		}
		/* Keep those that leave room for the filler and hold three references an object. */
		if (at + 16 > BLOCK_BYTES || BLOCK_BYTES - at > 600 || references < 184 || references > 206)
			continue;
		items[BLOCK_OBJECTS - 1] = (struct item){ .kind = K_PRIMITIVES, .element = E_BYTE,
			.offset = at, .size = BLOCK_BYTES - at, .length = BLOCK_BYTES - at - 16 };
		s++;
	}
}

/* --- objects ----------------------------------------------------------------------------------- */

static uint64_t draw_target(struct bench *b, uint64_t from, bool near, struct chance *chance)
{
	uint64_t n = b->n_in_blocks;
	uint64_t dice = near ? 0 : chance_below(chance, 100);
	uint64_t reach = dice < 40 ? 500 : dice < 85 ? 60000 : 0;
	if (dice >= 95)
		return special_address((unsigned)(8 + chance_below(chance, chance_below(chance, HUBS) + 1)));
	uint64_t to;
	if (!reach || n <= 2 * reach)
		to = chance_below(chance, n);
	else
		to = (from + n - reach + chance_below(chance, 2 * reach)) % n;
	return address_of(b, to);
}

static void note(struct bench *b, struct class *c, uint64_t size, uint32_t references)
{
	c->n_objects++;
	c->shallow += size;
	b->shallow += size;
	b->n_references += references;
}

/* What is left of an instance behind its header and references; all inherit from the first class, which has none. */
static unsigned n_ints(const struct bench *b, const struct class *c)
{
	unsigned taken = 12 + 4 * c->references;
	return c != &b->class[C_OBJECT] && c->size > taken ? (c->size - taken) / 4 : 0;
}

static void put_instance(struct bench *b, uint64_t address, struct class *c, int64_t hash,
    const uint64_t *references, uint32_t n)
{
	if (b->phd)
		phd_object(b->phd, address, c->address, hash, references, n);
	if (b->classic)
		classic_record(b->classic, CLASSIC_OBJECT, address, c->size, c->name, references, n, 0);
	if (b->hprof)
		stream_instance(b->hprof, address, c->address, references, n, c->references, n_ints(b, c));
	note(b, c, c->size, n);
	b->n_instances++;
}

static void put_item(struct bench *b, uint64_t i)
{
	struct chance chance = { mix(b->seed + 2 + i) };
	const struct shape *s = &b->shape[mix(b->seed ^ i / BLOCK_OBJECTS) % SHAPES];
	const struct item *item = &s->item[i % BLOCK_OBJECTS];
	uint64_t address = address_of(b, i);
	uint64_t references[MOST_REFERENCES];
	bool near = chance_percent(&chance, item->kind == K_ARRAY ? 60 : 66);
	for (uint32_t r = 0; r < item->n; r++)
		references[r] = draw_target(b, i, near, &chance);
	int64_t hash = chance_percent(&chance, 3) ? (int64_t)(chance_next(&chance) & 0x7FFFFFFF) : -1;

	if (item->kind == K_INSTANCE) {
		struct class *c = &b->class[item->class];
		/* Readers drop a first reference that equals the class; no class is ever drawn here. */
		put_instance(b, address, c, hash, references, item->n);
	} else if (item->kind == K_ARRAY) {
		struct class *c = &b->array_class[item->class];
		if (b->phd)
			phd_array(b->phd, address, b->class[item->class].address, hash, references, item->n,
			    item->length, item->size);
		if (b->classic)
			classic_record(b->classic, CLASSIC_ARRAY, address, item->size, c->name, references,
			    item->n, item->length - item->n);
		if (b->hprof)
			stream_array(b->hprof, address, c->address, references, item->n, item->length);
		note(b, c, item->size, item->n);
		b->n_arrays++;
	} else {
		struct class *c = &b->primitive_array[item->element];
		if (b->phd)
			phd_primitives(b->phd, address, item->element, hash, item->length, item->size);
		if (b->classic)
			classic_record(b->classic, CLASSIC_PRIMITIVES, address, item->size, c->name, NULL, 0, 0);
		if (b->hprof)
			stream_primitives(b->hprof, address, item->element, item->length);
		note(b, c, item->size, 0);
		b->n_primitives++;
	}
}

static void put_specials(struct bench *b)
{
	uint64_t app[2] = { special_address(0), special_address(8) };
	put_instance(b, special_address(0), &b->class[C_BOOT_LOADER], -1, NULL, 0);
	put_instance(b, special_address(1), &b->class[C_APP_LOADER], -1, app, 2);
	for (unsigned i = 2; i < 8; i++) {
		uint64_t to[3] = { special_address(1), special_address(8), address_of(b, i) };
		put_instance(b, special_address(i), &b->class[C_THREAD], -1, to, 3);
		if (b->hprof)
			stream_root(b->hprof, 0x08, special_address(i));
	}
	for (unsigned i = 8; i < 8 + HUBS; i++)
		put_instance(b, special_address(i), &b->class[C_OBJECT], -1, NULL, 0);
}

static bool is_of_boot_loader(const struct class *c)
{
	return strncmp(c->name, "com/acme", 8) != 0 && strncmp(c->name, "org", 3) != 0;
}

/* All classes, which HotSpot writes before any object. */
static void stream_classes(struct bench *b)
{
	uint64_t object = b->class[C_OBJECT].address;
	for (unsigned i = 0; i < CLASSES; i++) {
		struct class *c = &b->class[i];
		stream_class(b->hprof, c->address, i == C_OBJECT ? 0 : object, is_of_boot_loader(c) ? 0 : special_address(1),
		    c->name, c->references, n_ints(b, c));
	}
	for (unsigned i = 0; i < CLASSES + ELEMENTS; i++) {
		struct class *c = i < CLASSES ? &b->array_class[i] : &b->primitive_array[i - CLASSES];
		stream_class(b->hprof, c->address, object, 0, c->name, 0, 0);
	}
	stream_classes_end(b->hprof);
	for (unsigned i = 0; i < CLASSES; i++) {
		if (is_of_boot_loader(&b->class[i]))
			stream_root(b->hprof, 0x05, b->class[i].address);
	}
}

static void put_class(struct bench *b, struct class *c, uint64_t superclass, bool boot,
    uint32_t instance_size)
{
	uint64_t references[4] = { special_address(boot ? 0 : 1), special_address(boot ? 0 : 1) };
	uint32_t n = 2;
	if (superclass)
		references[n++] = superclass;
	struct class *of = &b->class[C_CLASS];
	if (b->phd)
		phd_class(b->phd, c->address, instance_size, -1, superclass, c->name, references, n);
	if (b->classic)
		classic_record(b->classic, CLASSIC_CLASS, c->address, of->size, c->name, references, n, 0);
	note(b, of, of->size, n);
}

static void put_classes(struct bench *b)
{
	uint64_t object = b->class[C_OBJECT].address;
	for (unsigned i = 0; i < CLASSES; i++) {
		struct class *c = &b->class[i];
		put_class(b, c, i == C_OBJECT ? 0 : b->class[c->superclass].address, is_of_boot_loader(c), c->size);
	}
	/* Array classes: their instance size means nothing in real dumps either. */
	for (unsigned i = 0; i < CLASSES; i++)
		put_class(b, &b->array_class[i], object, true, 47390468);
	for (unsigned i = 0; i < ELEMENTS; i++)
		put_class(b, &b->primitive_array[i], object, true, 47390468);
}

/* --- the whole --------------------------------------------------------------------------------- */

static void write_truth(struct bench *b, const char *path)
{
	struct out out;
	out_open(&out, path);
	out_format(&out, "objects\t%llu\nclasses\t%u\ninstances\t%llu\nobject_arrays\t%llu\n"
	    "primitive_arrays\t%llu\nreferences\t%llu\nshallow\t%llu\n",
	    (unsigned long long)b->n_objects, 2 * CLASSES + ELEMENTS,
	    (unsigned long long)b->n_instances, (unsigned long long)b->n_arrays,
	    (unsigned long long)b->n_primitives, (unsigned long long)b->n_references,
	    (unsigned long long)b->shallow);
	for (unsigned i = 0; i < 2 * CLASSES + ELEMENTS; i++) {
		struct class *c = i < CLASSES ? &b->class[i]
		    : i < 2 * CLASSES ? &b->array_class[i - CLASSES] : &b->primitive_array[i - 2 * CLASSES];
		if (c->n_objects)
			out_format(&out, "class\t%s\t0x%llx\t%llu\t%llu\n", c->name,
			    (unsigned long long)c->address, (unsigned long long)c->n_objects,
			    (unsigned long long)c->shallow);
	}
	out_close(&out);
}

static void place(struct bench *b)
{
	uint64_t other = 8 + HUBS + 2 * CLASSES + ELEMENTS;
	if (b->n_objects < other + 1000)
		die("at least %llu objects", (unsigned long long)other + 1000);
	b->n_in_blocks = b->n_objects - other;
	b->n_blocks = (b->n_in_blocks + BLOCK_OBJECTS - 1) / BLOCK_OBJECTS;
	b->region_blocks = b->n_blocks / 2;
	b->class_base = block_base + b->n_blocks * BLOCK_BYTES + region_gap + (1 << 20);
	uint64_t at = b->class_base;
	for (unsigned i = 0; i < CLASSES; i++, at += 64)
		b->class[i].address = at;
	for (unsigned i = 0; i < CLASSES; i++, at += 64)
		b->array_class[i].address = at;
	for (unsigned i = 0; i < ELEMENTS; i++, at += 64)
		b->primitive_array[i].address = at;
}

int mkdump_bench(int argc, char **argv)
{
	struct bench *b = get_memory(1, sizeof *b);
	const char *phd_path = NULL, *classic_path = NULL, *hprof_path = NULL, *truth_path = NULL, *value;
	b->n_objects = 20000000;
	b->seed = 1;
	for (int i = 0; i < argc; i++) {
		if ((value = option_value(argc, argv, &i, "--objects")))
			b->n_objects = option_number(value);
		else if ((value = option_value(argc, argv, &i, "--seed")))
			b->seed = option_number(value);
		else if ((value = option_value(argc, argv, &i, "--phd")))
			phd_path = value;
		else if ((value = option_value(argc, argv, &i, "--classic")))
			classic_path = value;
		else if ((value = option_value(argc, argv, &i, "--hprof")))
			hprof_path = value;
		else if ((value = option_value(argc, argv, &i, "--truth")))
			truth_path = value;
		else
			die("bench: %s is no option (--objects, --seed, --phd, --classic, --hprof, --truth)", argv[i]);
	}
	b->seed = mix(b->seed);
	make_classes(b);
	make_shapes(b);
	place(b);

	static const char version[] = "JRE 1.8.0 Linux amd64-64 build (synthetic, mkdump bench)";
	struct out phd_out, classic_out, hprof_out;
	struct phd phd;
	struct classic classic;
	struct hprof_stream hprof;
	if (phd_path) {
		out_open(&phd_out, phd_path);
		phd_begin(&phd, &phd_out, &(struct phd_options){ .version = 6, .flags = PHD_64 | PHD_J9,
		    .full_version = version });
		b->phd = &phd;
	}
	if (classic_path) {
		out_open(&classic_out, classic_path);
		classic_begin(&classic, &classic_out,
		    &(struct classic_options){ .digits = 16, .version = version });
		b->classic = &classic;
	}
	if (hprof_path) {
		out_open(&hprof_out, hprof_path);
		stream_begin(&hprof, &hprof_out);
		b->hprof = &hprof;
		stream_classes(b);
	}
	put_specials(b);
	for (uint64_t i = 0; i < b->n_in_blocks; i++)
		put_item(b, i);
	put_classes(b);
	if (phd_path) {
		phd_end(&phd);
		out_close(&phd_out);
	}
	if (classic_path) {
		classic_end(&classic);
		out_close(&classic_out);
	}
	if (hprof_path) {
		stream_end(&hprof);
		out_close(&hprof_out);
	}
	if (truth_path)
		write_truth(b, truth_path);
	free(b);
	return 0;
}
