/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layout_models.c - which model a dump was written under.
 *
 * The addresses tell.  HotSpot's heap has few gaps, so by the right model nearly every object ends
 * just where the next one begins, and none reaches beyond; with a wrong header or reference width
 * thousands do not fit.  Sizes are computed without injected fields and padding, which differ by
 * release.  That makes the objects of a few classes too small, which counts against no model.
 */
#include "heap/sizes/layout.h"

#include "algorithms/parallel.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One object that would reach into the next outweighs so many objects that fit. */
enum { VIOLATION_WEIGHT = 100 };
/* Fewer objects that fit than this prove nothing; fewer that fit by one width of references and not by the other
 * prove nothing of that. */
enum { EXACT_LEAST = 64, DECISIVE_LEAST = 8 };

/* 64-bit models in the order in which a tie is settled: the usual first. */
static const struct layout_model wide_models[] = {
	{ .name = "compressed references", .header = 12, .reference = 4, .word = 8 },
	{ .name = "compressed references, compact headers", .header = 8, .reference = 4, .word = 8 },
	{ .name = "wide references, compressed class pointers", .header = 12, .reference = 8, .word = 8 },
	{ .name = "wide references", .header = 16, .reference = 8, .word = 8 },
	{ .name = "compressed references, wide class pointers", .header = 16, .reference = 4, .word = 8 },
	{ .name = "wide references, compact headers", .header = 8, .reference = 8, .word = 8 },
};
static const struct layout_model narrow_models[] = {
	{ .name = "32 bit", .header = 8, .reference = 4, .word = 4 },
};
/* Each of them by either rule, which comes in variants, the likeliest first. */
enum { VARIANTS = 6, CANDIDATES_MAX = VARIANTS * sizeof wide_models / sizeof *wide_models };

struct candidate {
	struct layout_model model;
	uint64_t n_exact, n_violations;
};

struct contest {
	const struct heap_class *classes;
	uint32_t n_classes;
	const struct layout_pair *pairs;
	size_t n_pairs;
	struct candidate candidates[CANDIDATES_MAX];
	unsigned n_candidates;
	bool stated; /* they are those that the VM states */
};

static bool has_class(const struct heap_class *classes, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (classes[i].defined && !strcmp(classes[i].name, name))
			return true;
	return false;
}

/* Compact headers came with arrays that begin right behind their length; 32-bit ones always have. */
static bool relaxed_only(const struct layout_model *m)
{
	return m->header == 8;
}

static struct layout_model variant_of(struct layout_model m, unsigned variant, bool newer, unsigned alignment)
{
	m.alignment = alignment;
	m.rule = newer == !(variant & 2) ? LAYOUT_NEW : LAYOUT_OLD;
	m.relaxed = variant & 1 || relaxed_only(&m);
	if (variant >= 4) { /* releases with the old rule have no relaxed arrays */
		m.rule = LAYOUT_OLD;
		m.relaxed = relaxed_only(&m);
		m.gapped = true;
	}
	return m;
}

/* What the VM states of itself narrows the list, unless no model agrees. */
static void list_candidates(struct contest *c, unsigned word_bits, unsigned alignment)
{
	struct layout_stated stated = layout_stated_of(c->classes, c->n_classes);
	bool wide = word_bits == 64 || stated.word == 8;
	const struct layout_model *models = wide ? wide_models : narrow_models;
	unsigned n_models = wide ? sizeof wide_models / sizeof *wide_models : 1, n_stated = 0;
	/* What decides a tie: JDK 14 has records already and still the old rule, but a tie is harmless. */
	bool newer = has_class(c->classes, c->n_classes, "java.lang.Record");
	for (unsigned i = 0; i < n_models; i++)
		for (unsigned k = 0; k < VARIANTS; k++) {
			struct layout_model m = variant_of(models[i], k, newer, alignment);
			if (k & 1 && (relaxed_only(&m) || m.gapped))
				continue;
			c->candidates[c->n_candidates++] = (struct candidate){ .model = m };
			if (layout_is_stated(&m, &stated))
				c->candidates[n_stated++] = c->candidates[c->n_candidates - 1];
		}
	c->n_candidates = n_stated ? n_stated : c->n_candidates;
	c->stated = n_stated;
}

static uint64_t pair_size(const struct contest *c, const struct layout_model *m, const uint64_t *instances,
    const struct layout_pair *p)
{
	const struct heap_class *class = &c->classes[p->class];
	if (class->kind == CLASS_PLAIN)
		return instances[p->class];
	bool references = class->kind == CLASS_OBJECT_ARRAY;
	unsigned width = references ? m->reference : class->element_size;
	return layout_array_size(layout_array_base(m, references, width), width, p->length, m->alignment);
}

static int try_candidate(void *context, unsigned task, struct err *err)
{
	struct contest *c = context;
	struct candidate *k = &c->candidates[task];
	uint64_t *instances = big_alloc(c->n_classes, sizeof *instances, err);
	int code = instances ?
	    layout_instances(c->classes, c->n_classes, &k->model, LAYOUT_PLAIN, NULL, instances, err) : ERR_NOMEM;
	uint64_t n_exact = 0, n_violations = 0;
	for (size_t i = 0; !code && i < c->n_pairs; i++) {
		uint64_t size = pair_size(c, &k->model, instances, &c->pairs[i]);
		n_exact += size == c->pairs[i].distance;
		n_violations += size > c->pairs[i].distance && size != SIZE_UNKNOWN;
	}
	k->n_exact = n_exact;
	k->n_violations = n_violations;
	big_free(instances);
	return code;
}

static int64_t score(const struct candidate *k)
{
	return (int64_t)k->n_exact - VIOLATION_WEIGHT * (int64_t)k->n_violations;
}

/* Do too few pairs tell the width of references from the other one? */
static bool reference_is_guessed(const struct contest *c, const struct candidate *best)
{
	int64_t other = INT64_MIN;
	for (unsigned i = 0; i < c->n_candidates; i++)
		if (c->candidates[i].model.reference != best->model.reference && score(&c->candidates[i]) > other)
			other = score(&c->candidates[i]);
	return other != INT64_MIN && score(best) - other < DECISIVE_LEAST;
}

int layout_choose(const struct heap_class *classes, uint32_t n_classes,
    const struct layout_pair *pairs, size_t n_pairs, unsigned word_bits, unsigned alignment,
    struct layout_choice *out, struct err *err)
{
	struct contest c = {
		.classes = classes,
		.n_classes = n_classes,
		.pairs = pairs,
		.n_pairs = n_pairs,
	};
	list_candidates(&c, word_bits, alignment);
	const struct candidate *best = &c.candidates[0];
	if (n_pairs) {
		int code = parallel_run(0, c.n_candidates, try_candidate, &c, err);
		if (code < 0)
			return code;
		for (unsigned i = 1; i < c.n_candidates; i++)
			if (score(&c.candidates[i]) > score(best))
				best = &c.candidates[i];
	}
	bool guessed = best->n_exact < EXACT_LEAST || score(best) < 0;
	if (guessed)
		best = &c.candidates[0];
	*out = (struct layout_choice){
		.model = best->model,
		.n_pairs = n_pairs,
		.n_exact = best->n_exact,
		.n_violations = best->n_violations,
		.guessed = guessed,
		.stated = c.stated,
		.reference_guessed = reference_is_guessed(&c, best),
	};
	return 0;
}

void layout_describe(const struct layout_choice *choice, char *text, size_t size)
{
	const struct layout_model *m = &choice->model;
	int n = snprintf(text, size, "HotSpot, %s, fields as in JDK %s, header %u bytes, references %u, array "
	    "elements from %u, objects every %u: ", m->name,
	    m->rule == LAYOUT_OLD ? "14 and earlier" : "15 and later", m->header, m->reference,
	    layout_array_base(m, false, 1), m->alignment);
	if (n < 0 || (size_t)n >= size)
		return;
	if (choice->guessed || choice->reference_guessed)
		snprintf(text + n, size - (size_t)n, "%s, %s",
		    choice->stated ? "the VM records header and reference sizes" : "assumed",
		    choice->n_pairs ? "neighbouring objects do not confirm it" : "identifiers are not addresses");
	else
		snprintf(text + n, size - (size_t)n,
		    "%" PRIu64 " of %" PRIu64 " objects end exactly where the next begins, %" PRIu64 " overlap",
		    choice->n_exact, choice->n_pairs, choice->n_violations);
}

struct layout_model layout_mat_model(unsigned pointer, unsigned reference, unsigned alignment)
{
	return (struct layout_model){
		.name = "Eclipse MAT's rule",
		.rule = LAYOUT_MAT,
		.header = pointer + reference,
		.reference = reference,
		.word = reference,
		.alignment = alignment,
	};
}
