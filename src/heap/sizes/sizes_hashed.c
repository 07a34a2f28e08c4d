/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sizes_hashed.c - OpenJ9: hashed objects that a collection moved.
 *
 * An object whose identity hash was asked for keeps it once it moves: in a gap of its fields, or in a slot after them,
 * with which it is 8 bytes larger (OpenJ9, runtime/gc_glue_java/ObjectModel: the hash slot is at the backfill offset or
 * at the end).  A PHD records which objects are hashed, but neither where the hash is nor which ones moved.  The
 * distance to the next object shows it: it is the size of the class, or 8 bytes more.  Where the next object is farther
 * away, what the other hashed objects of the class take is likely; where many take the same, it is taken for sure.
 *
 * A distance that is 8 bytes too long proves the slot only where no other object is followed by 8 free bytes.  Where
 * many are, it says nothing.
 */
#include "heap/sizes/sizes_rules.h"

#include "base/progress.h"
#include "dump/facts.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <stdint.h>

enum { SLOT = 8, SAMPLE = 1 << 15, UNANIMOUS = 16 };

/* How the hashed objects of one class lie. */
struct hashed_class {
	uint32_t n_fit, n_grown, n_open; /* their distance is the size; 8 bytes more; anything else */
};

enum lie { FITS, GROWN, OPEN };

static enum lie lies(const struct heap *h, uint32_t id)
{
	uint64_t size = heap_class_of(h, id)->instance_size, distance = sizes_distance(h, id);
	return distance == size ? FITS : distance == size + SLOT ? GROWN : OPEN;
}

/* How many objects without a hash do 8 free bytes follow? */
enum gaps { NO_GAPS, SOME_GAPS, MANY_GAPS };

static enum gaps small_gaps(const struct heap *h)
{
	uint32_t stride = h->n_objects / SAMPLE + 1, n_exact = 0, n_gaps = 0;
	size_t at = 0;
	for (uint64_t i = 0; i < h->n_objects && !progress_own_stops(i); i += stride) {
		uint32_t id = (uint32_t)i;
		while (at < h->n_odd && h->odd[at].id < id)
			at++;
		if ((at < h->n_odd && h->odd[at].id == id) || !heap_size_known(h, id))
			continue;
		uint64_t distance = sizes_distance(h, id), size = heap_shallow(h, id);
		n_exact += distance == size;
		n_gaps += distance == size + SLOT;
	}
	return !n_gaps ? NO_GAPS : n_gaps > n_exact / 10 ? MANY_GAPS : SOME_GAPS;
}

static void tell(struct heap *h, const struct hashed_class *classes, enum gaps gaps)
{
	struct text names = TEXT_INIT;
	for (uint32_t i = 0; i < h->n_classes; i++) {
		struct heap_class *c = &h->classes[i];
		const struct hashed_class *k = &classes[i];
		bool unanimous = (!k->n_fit || !k->n_grown) && k->n_fit + k->n_grown >= UNANIMOUS;
		c->size_measured = (k->n_open && !unanimous) || (k->n_grown && gaps != NO_GAPS);
		if (c->size_measured)
			sizes_add_name(&names, &h->n_measured, c->name);
	}
	h->measured_names = sizes_keep_names(h, &names, h->n_measured);
}

int sizes_hashed(struct heap *h, struct err *err)
{
	struct hashed_class *classes = big_alloc(h->n_classes, sizeof *classes, err);
	struct progress *work = progress_own();
	size_t kept = 0;
	if (!classes)
		return ERR_NOMEM;
	enum gaps gaps = h->n_odd ? small_gaps(h) : NO_GAPS;
	for (size_t i = 0; i < h->n_odd && !progress_stops(work, i); i++) {
		struct hashed_class *c = &classes[heap_class_index(h, h->odd[i].id)];
		enum lie lie = heap_class_of(h, h->odd[i].id)->instance_size == SIZE_UNKNOWN ? FITS : lies(h, h->odd[i].id);
		c->n_fit += lie == FITS;
		c->n_grown += lie == GROWN;
		c->n_open += lie == OPEN;
	}
	for (size_t i = 0; i < h->n_odd && !progress_stops(work, i); i++) {
		uint32_t id = h->odd[i].id, class = heap_class_index(h, id);
		struct heap_class *c = &h->classes[class];
		enum lie lie = c->instance_size == SIZE_UNKNOWN ? FITS : lies(h, id);
		if (lie == OPEN && classes[class].n_grown > classes[class].n_fit && sizes_distance(h, id) > c->instance_size)
			lie = GROWN;
		if (lie == GROWN && gaps != MANY_GAPS)
			h->odd[kept++] = (struct odd){ id, c->instance_size + SLOT };
	}
	h->n_odd = kept;
	for (size_t i = 0; i < kept; i++)
		h->classes[heap_class_index(h, h->odd[i].id)].sizes_vary = true;
	tell(h, classes, gaps);
	big_free(classes);
	return progress_cancelled(work) ? err_cancelled(err) : 0;
}
