/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sizes_fields.c - shallow sizes of HPROF dumps, which record none (but see below).
 *
 * A sample of neighbouring objects chooses the layout model (layout.h).  With it sizes follow from
 * declared fields and from lengths.  Only two kinds of objects get a size of their own: class
 * objects, which hold their static fields, and stack chunks, which hold frames.
 *
 * Injected fields and padding are known for some releases of the VM only.  They are believed as
 * long as no object of the dump would reach into its neighbour with them.  What is not known of a
 * release shows as room behind every instance of a class (sizes_net.c).
 *
 * Android and GraalVM record the true size of instances, so only arrays are computed there.  The
 * old agent numbers objects instead of giving their addresses: then nothing can be compared.
 */
#include "heap/sizes/sizes_rules.h"

#include "algorithms/bits.h"
#include "algorithms/sort.h"
#include "base/progress.h"
#include "heap/classes.h"
#include "heap/index.h"
#include "heap/sizes/layout.h"
#include "memory/arena.h"
#include "memory/big.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Neighbours to compare: runs of some that lie together, spread over the whole heap. */
enum { SAMPLE_RUNS = 2048, RUN_OBJECTS = 64, SAMPLE_MAX = SAMPLE_RUNS * RUN_OBJECTS };

struct sizing {
	struct sizes *sizes;
	struct heap *heap;
	struct layout_model model;
	enum layout_release release;
	bool addresses;  /* identifiers are addresses: distances mean something */
	uint32_t chunks; /* the class of stack chunks, or HEAP_NONE */
	struct net net;
	size_t cap_odd;
	struct err lost; /* memory that was refused */
};

/* --- the sample --------------------------------------------------------------------------------- */

struct sample {
	struct layout_pair *pairs;
	size_t n_pairs;
	uint32_t n_objects, n_unaligned; /* looked at; at an address that no VM would give */
	uint64_t bits;                   /* all aligned addresses together */
};

/* Class objects hold their statics as well, and stack chunks their frames. */
static bool comparable(const struct sizing *z, uint32_t id)
{
	const struct heap *h = z->heap;
	uint32_t class = heap_class_index(h, id);
	const struct heap_class *c = &h->classes[class];
	if (bits_get(&h->sized, id))
		return c->kind == CLASS_OBJECT_ARRAY || c->kind == CLASS_PRIMITIVE_ARRAY;
	return !h->facts.has_instance_sizes && class != h->java_lang_class && class != z->chunks &&
	    c->defined && c->kind == CLASS_PLAIN;
}

static void take(const struct sizing *z, struct sample *s, uint32_t id, uint64_t address, uint64_t next)
{
	s->n_objects++;
	if (address & 7)
		s->n_unaligned++;
	else
		s->bits |= address;
	if (!comparable(z, id))
		return;
	uint64_t length = heap_length(z->heap, id);
	if (length == LENGTH_UNKNOWN && bits_get(&z->heap->sized, id))
		return;
	s->pairs[s->n_pairs++] = (struct layout_pair){ heap_class_index(z->heap, id), length, next - address };
}

static struct sample take_sample(struct sizing *z)
{
	const struct heap *h = z->heap;
	uint32_t n = h->n_objects;
	struct sample s = {
		.pairs = big_alloc(n < SAMPLE_MAX ? n : SAMPLE_MAX, sizeof *s.pairs, &z->lost)
	};
	if (!s.pairs)
		return s;
	uint32_t runs = n <= SAMPLE_MAX ? 1 : SAMPLE_RUNS;
	uint32_t in_run = n <= SAMPLE_MAX ? n : RUN_OBJECTS;
	for (uint32_t r = 0; r < runs && n; r++) {
		uint32_t id = (uint32_t)((uint64_t)(n - in_run) * r / runs);
		struct index_walk walk;
		uint64_t address, next;
		index_walk_seek(&walk, h->index, id);
		if (!index_walk_next(&walk, &address))
			break;
		for (uint32_t k = 0; k < in_run && !progress_own_stops(k) && index_walk_next(&walk, &next);
		     k++, id++, address = next)
			take(z, &s, id, address, next);
	}
	if (s.n_unaligned > s.n_objects / 64)
		s.n_pairs = 0; /* numbers, not addresses */
	return s;
}

static unsigned alignment_of(const struct sample *s)
{
	return s->n_pairs ? 1u << __builtin_ctzll(s->bits | 256) : 8;
}

/* --- instances ---------------------------------------------------------------------------------- */

enum { OPINIONS_MAX = 4 };

/* How large instances are under each release that may have written the dump, the likeliest first. */
struct opinions {
	unsigned n;
	uint64_t *size[OPINIONS_MAX]; /* of instances, by class */
};

static struct opinions ask(struct sizing *z)
{
	const struct heap *h = z->heap;
	enum layout_release release[OPINIONS_MAX];
	struct opinions o = { .n = 0 };
	release[o.n++] = z->release;
	/* between the releases that the tables know a class may be as in either */
	if (z->release >= LAYOUT_JDK_11 && z->release + 1 < LAYOUT_RELEASES)
		release[o.n++] = z->release + 1;
	if (z->release > LAYOUT_JDK_11)
		release[o.n++] = z->release - 1;
	if (z->release != LAYOUT_PLAIN)
		release[o.n++] = LAYOUT_PLAIN;
	for (unsigned i = 0; i < o.n; i++) {
		o.size[i] = big_alloc(h->n_classes, sizeof *o.size[i], &z->lost);
		if (!o.size[i] || layout_instances(h->classes, h->n_classes, &z->model, release[i],
		    z->net.measured, o.size[i], &z->lost) < 0)
			break; /* lost says so */
	}
	return o;
}

static void forget(struct opinions *o)
{
	while (o->n)
		big_free(o->size[--o->n]);
}

/* Take the sizes of the first opinion for now, and watch some instances of every class. */
static void take_first_opinion(struct sizing *z, const struct opinions *o)
{
	struct heap *h = z->heap;
	for (uint32_t i = 0; i < h->n_classes; i++) {
		h->classes[i].instance_size = o->size[0][i];
		if (o->size[0][i] != SIZE_UNKNOWN && i != h->java_lang_class)
			z->sizes->watch[i] = WATCH_SOME;
	}
	if (z->chunks != HEAP_NONE)
		z->sizes->watch[z->chunks] = WATCH_ALL;
}

struct verdict {
	uint32_t n_exact[OPINIONS_MAX], n_violations[OPINIONS_MAX];
};

/*
 * Choose among the opinions under which no object reaches into the next one: the one under which
 * most objects end just where the next begins.  The last opinion injects no fields.  Under it
 * objects are smallest, so it is never refuted.
 */
static uint64_t judge(const struct opinions *o, const struct verdict *v, uint32_t class)
{
	unsigned best = o->n - 1;
	for (unsigned i = o->n - 1; i-- > 0;)
		if (!v->n_violations[i] && v->n_exact[i] >= v->n_exact[best])
			best = i;
	return o->size[best][class];
}

static void settle_opinions(struct sizing *z, const struct opinions *o)
{
	struct heap *h = z->heap;
	const struct sizes *s = z->sizes;
	struct verdict *verdicts = big_alloc(h->n_classes, sizeof *verdicts, &z->lost);
	if (!verdicts)
		return;
	struct progress *work = progress_own();
	for (size_t k = 0; k < s->n_watched && !progress_stops(work, k); k++) {
		uint32_t class = heap_class_index(h, s->watched[k]);
		uint64_t distance = sizes_distance(h, s->watched[k]);
		for (unsigned i = 0; i < o->n; i++) {
			verdicts[class].n_exact[i] += net_fits(&z->net, o->size[i][class], distance);
			verdicts[class].n_violations[i] += o->size[i][class] > distance;
		}
	}
	for (uint32_t i = 0; i < h->n_classes; i++)
		if (s->watch[i] == WATCH_SOME)
			h->classes[i].instance_size = judge(o, &verdicts[i], i);
	big_free(verdicts);
}

/* --- class objects and stack chunks ------------------------------------------------------------- */

static void add_odd(struct sizing *z, uint32_t id, uint64_t size)
{
	struct heap *h = z->heap;
	if (size == SIZE_UNKNOWN)
		return;
	struct odd *at = BIG_PUSH(h->odd, h->n_odd, z->cap_odd, &z->lost);
	if (!at)
		return;
	*at = (struct odd){ id, size };
	h->classes[heap_class_index(h, id)].sizes_vary = true;
}

static bool has_static_fields(const struct heap_class *c)
{
	for (uint32_t i = 0; i < c->n_statics; i++)
		if (c->statics[i].name[0] != '<') /* under such a name the class holds what is no field */
			return true;
	return false;
}

/*
 * The bytes of a class object without static fields.  `said` follows from the fields of
 * java.lang.Class.  The smallest distance from such a class object to the next object is taken
 * instead if it is smaller, or if most of them (at least 16) lie just so far from the next object.
 */
static uint64_t class_object_base(const struct heap *h, uint64_t said)
{
	uint64_t least = UINT64_MAX;
	uint32_t n_least = 0, n_all = 0;
	for (uint32_t i = 0; i < h->n_defined_classes; i++) {
		const struct heap_class *c = &h->classes[i];
		if (c->object == HEAP_NONE || has_static_fields(c))
			continue;
		uint64_t distance = sizes_distance(h, c->object);
		if (distance < least) {
			least = distance;
			n_least = 0;
		}
		n_least += distance == least;
		n_all++;
	}
	bool common = n_least >= 16 && n_least > n_all / 2;
	return least < said || common ? least : said;
}

static void size_class_objects(struct sizing *z, uint64_t base)
{
	const struct heap *h = z->heap;
	for (uint32_t i = 0; i < h->n_defined_classes; i++)
		if (h->classes[i].object != HEAP_NONE && base != SIZE_UNKNOWN)
			add_odd(z, h->classes[i].object,
			    layout_class_object(&h->classes[i], base, &z->model, z->release));
}

/* An int field that the class itself declares, out of an instance's bytes in the dump. */
static bool int_field(const struct heap *h, uint32_t id, const char *name, uint32_t *value)
{
	const struct heap_class *c = heap_class_of(h, id);
	struct object_view view;
	uint32_t i = 0;
	while (i < c->n_fields && (strcmp(c->fields[i].name, name) || c->fields[i].type != VALUE_INT))
		i++;
	if (i == c->n_fields || heap_view(h, id, &view, NULL) < 0 || view.n_bytes < (uint64_t)c->fields[i].offset + 4)
		return false;
	const uint8_t *p = view.bytes + c->fields[i].offset;
	*value = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	return true;
}

static void size_stack_chunks(struct sizing *z)
{
	const struct heap *h = z->heap;
	const struct sizes *s = z->sizes;
	for (size_t k = 0; k < s->n_watched; k++) {
		uint32_t id = s->watched[k], words;
		if (heap_class_index(h, id) != z->chunks)
			continue;
		if (int_field(h, id, "size", &words))
			add_odd(z, id, layout_stack_chunk(h->classes[z->chunks].instance_size, words, &z->model));
	}
}

static int by_id(const void *x, const void *y)
{
	uint32_t a = ((const struct odd *)x)->id, b = ((const struct odd *)y)->id;
	return (a > b) - (a < b);
}

/* --- the rule ----------------------------------------------------------------------------------- */

static void set_array_rule(struct sizing *z)
{
	struct heap *h = z->heap;
	const struct layout_model *m = &z->model;
	h->array_rule = (struct array_rule){ .reference = m->reference, .alignment = m->alignment };
	for (uint32_t i = 0; i < h->n_classes; i++) {
		struct heap_class *c = &h->classes[i];
		bool primitive = c->kind == CLASS_PRIMITIVE_ARRAY;
		c->array_base = layout_array_base(m, !primitive, primitive ? c->element_size : m->reference);
	}
}

/* The model, from a sample; said in the heap's words. */
static void choose_model(struct sizing *z)
{
	struct heap *h = z->heap;
	struct layout_choice choice = { .n_pairs = 0 };
	char text[400];
	struct sample s = take_sample(z);
	int code = layout_choose(h->classes, h->n_classes, s.pairs, s.n_pairs, h->facts.word_bits,
	    alignment_of(&s), &choice, &z->lost);
	big_free(s.pairs);
	if (code < 0 || z->lost.code)
		return;
	z->model = choice.model;
	z->addresses = s.n_pairs > 0;
	if (z->sizes->as_mat) {
		unsigned pointer = h->facts.word_bits / 8, reference = choice.model.reference;
		z->model = layout_mat_model(pointer, reference < pointer ? reference : pointer, choice.model.alignment);
		z->release = LAYOUT_PLAIN;
		snprintf(text, sizeof text, "Eclipse MAT's rule, references %u bytes, objects every %u",
		    z->model.reference, z->model.alignment);
	} else if (h->facts.has_instance_sizes) {
		snprintf(text, sizeof text, "instances as recorded, array elements from byte %u, references %u "
		    "bytes%s",
		    layout_array_base(&z->model, false, 1), z->model.reference,
		    choice.reference_guessed ? ", assumed from too few arrays" : "");
		h->sizes_assumed = choice.reference_guessed;
	} else {
		layout_describe(&choice, text, sizeof text);
		h->sizes_assumed = choice.guessed || choice.reference_guessed;
	}
	h->wide_words = h->facts.word_bits == 32 && choice.model.word == 8;
	h->size_model = arena_strndup(&h->arena, text, strlen(text));
}

/* Android and GraalVM: class objects take what is recorded for java.lang.Class, or their statics. */
static void size_recorded_class_objects(struct sizing *z)
{
	struct heap_class *c = &z->heap->classes[z->heap->java_lang_class];
	if (c->instance_size && c->instance_size != SIZE_UNKNOWN)
		return;
	struct layout_model statics = z->model;
	statics.rule = LAYOUT_MAT;
	z->model = statics;
	size_class_objects(z, 0);
}

static int size_recorded_instances(struct sizing *z, struct err *err)
{
	int code = sizes_count(z->sizes, err);
	if (code == 0)
		size_recorded_class_objects(z);
	return code;
}

/* The opinions, and where distances refute them all, the distances.  A class that is mended may mend its
 * subclasses, or show that they are wrong, too. */
static int settle_instances(struct sizing *z, struct opinions *o, struct err *err)
{
	enum { ROUNDS = 8 };
	int code = net_open(&z->net, z->sizes, &z->model, err);
	for (unsigned round = 0; !code && round < ROUNDS; round++) {
		bool more = false;
		settle_opinions(z, o);
		code = z->lost.code ? z->lost.code : net_cast(&z->net, &more, err);
		if (code || !more)
			break;
		forget(o);
		*o = ask(z);
	}
	if (!code)
		net_tell(&z->net);
	net_close(&z->net);
	return code;
}

static int size_laid_out_instances(struct sizing *z, struct err *err)
{
	struct heap *h = z->heap;
	struct heap_class *class = &h->classes[h->java_lang_class];
	struct opinions o = ask(z);
	int code = z->lost.code;
	if (code == 0) {
		take_first_opinion(z, &o);
		code = sizes_count(z->sizes, err);
	}
	if (code == 0 && z->model.rule != LAYOUT_MAT) {
		if (z->addresses) {
			code = settle_instances(z, &o, err);
			class->instance_size = class_object_base(h, class->instance_size);
		}
		size_stack_chunks(z);
	}
	if (code == 0)
		size_class_objects(z, class->instance_size);
	forget(&o);
	return code;
}

uint32_t sizes_stack_chunks(const struct heap *h)
{
	uint32_t found = HEAP_NONE;
	for (uint32_t i = 0; i < h->n_defined_classes; i++)
		if (heap_class_has_no_loader(&h->classes[i]) && !strcmp(h->classes[i].name, "jdk.internal.vm.StackChunk"))
			found = i;
	return found;
}

int sizes_from_fields(struct sizes *s, struct err *err)
{
	struct heap *h = s->heap;
	struct sizing z = {
		.sizes = s,
		.heap = h,
		.release = layout_release_of(h->classes, h->n_classes),
		.chunks = sizes_stack_chunks(h),
	};
	choose_model(&z);
	if (z.lost.code) {
		*err = z.lost;
		return ERR_NOMEM;
	}
	set_array_rule(&z);
	int code = h->facts.has_instance_sizes && z.model.rule != LAYOUT_MAT
	    ? size_recorded_instances(&z, err) : size_laid_out_instances(&z, err);
	if (z.lost.code)
		*err = z.lost;
	if (z.lost.code || code)
		return z.lost.code ? z.lost.code : code;
	return sort(h->odd, h->n_odd, sizeof *h->odd, by_id, err);
}
