/* SPDX-License-Identifier: GPL-3.0-or-later */
/* naive_dominators.c - retained sizes compared; see naive.h. */
#include "naive.h"

#include "algorithms/parallel.h"
#include "analysis/what_if/what_if.h"
#include "base/mem.h"
#include "heap/heap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS_TAKEN_AWAY = 300 }; /* each a walk through the heap */

/* Every seventh, fifth, … object as a set. */
static unsigned compare_sets(struct naive *w)
{
	const struct heap *h = w->h;
	unsigned wrong = 0;
	for (uint32_t step = 2; step < 8; step++) {
		uint32_t *set = xcalloc((size_t)h->n_objects + 1, sizeof *set), n = 0;
		struct what_if_loss loss;
		for (uint32_t id = step; id < h->n_objects; id += step)
			set[n++] = id;
		if (what_if_find(&loss, w->m, NULL, set, n, NULL, NULL))
			return 1;
		uint64_t kept = naive_kept(w, set, n);
		if (w->all - kept != loss.bytes.n && wrong++ < 5)
			printf("every %" PRIu32 ". object retains %" PRIu64 ", naively %" PRIu64 "\n", step,
			    loss.bytes.n, w->all - kept);
		what_if_loss_release(&loss);
		free(set);
	}
	return wrong;
}

/* What groups of classes retain: their objects that have no other of the group on their way up. */
static unsigned compare_groups(const struct retained *r, const uint32_t *group, uint32_t n_groups,
    const struct retained_sum *found)
{
	const struct heap *h = r->heap;
	unsigned wrong = 0;
	struct retained_sum *want = xcalloc((size_t)n_groups + 1, sizeof *want);
	for (uint32_t id = 0; id < h->n_objects; id++) {
		uint32_t up = r->dominators.immediate[id], of = group[heap_class_index(h, id)];
		if (up == NOT_REACHABLE || of == HEAP_NONE)
			continue;
		while (up != DOMINATED_BY_ROOTS && group[heap_class_index(h, up)] != of)
			up = r->dominators.immediate[up];
		if (up != DOMINATED_BY_ROOTS)
			continue;
		want[of].bytes += retained_size(r, id);
		want[of].topmost++;
	}
	for (uint32_t c = 0; c < n_groups; c++)
		if ((want[c].bytes != found[c].bytes || want[c].topmost != found[c].topmost) && wrong++ < 5)
			printf("group %" PRIu32 " of %" PRIu32 " retains %" PRIu64 ", naively %" PRIu64 "\n", c,
			    n_groups, found[c].bytes, want[c].bytes);
	free(want);
	return wrong;
}

/* What is called exact is what goes with all members taken away, and no sum is more than that. */
static unsigned compare_certainty(struct naive *w, const struct retained *r, const uint32_t *group,
    uint32_t n_groups, const struct retained_sum *found)
{
	const struct heap *h = r->heap;
	unsigned wrong = 0;
	uint32_t *member = xcalloc((size_t)h->n_objects + 1, sizeof *member);
	for (uint32_t c = 0; c < n_groups && c < GROUPS_TAKEN_AWAY; c++) {
		uint32_t n = 0;
		for (uint32_t id = 0; id < h->n_objects; id++)
			if (group[heap_class_index(h, id)] == c)
				member[n++] = id;
		uint64_t freed = w->all - naive_kept(w, member, n);
		bool exact = retained_sum_exact(r, &found[c]);
		if ((found[c].bytes > freed || (exact && found[c].bytes != freed)) && wrong++ < 5)
			printf("group %" PRIu32 " of %" PRIu32 " retains %s %" PRIu64 ", naively %" PRIu64 "\n",
			    c, n_groups, exact ? "exactly" : "at least", found[c].bytes, freed);
	}
	free(member);
	return wrong;
}

/* Many at a time, as exactly as they are noted. */
static unsigned compare_noted(struct naive *w, const struct retained *r, const uint32_t *group)
{
	uint32_t n_classes = w->h->n_classes;
	unsigned wrong = 0;
	struct retained_sum *noted = xcalloc((size_t)n_classes + 1, sizeof *noted);
	for (uint32_t at = 0; at < n_classes; at += WHAT_IF_CLASSES) {
		struct what_if_class class[WHAT_IF_CLASSES];
		unsigned n = n_classes - at < WHAT_IF_CLASSES ? n_classes - at : WHAT_IF_CLASSES;
		for (unsigned i = 0; i < n; i++)
			class[i].class = at + i;
		wrong += r->dominators.n_reachable && what_if_classes(class, n, r, 1, NULL, NULL) != ERR_CANCELLED;
		if (what_if_classes(class, n, r, UINT64_MAX, NULL, NULL))
			return 1;
		for (unsigned i = 0; i < n; i++)
			retained_note_class(r, at + i, class[i].bytes, class[i].doubts);
	}
	for (uint32_t c = 0; c < n_classes; c++) {
		noted[c] = retained_of_class(r, c);
		wrong += !retained_sum_exact(r, &noted[c]);
	}
	wrong += compare_certainty(w, r, group, n_classes, noted);
	free(noted);
	return wrong;
}

/* Many at a time, of every class each second object. */
static unsigned compare_parts(struct naive *w, const struct retained *r)
{
	const struct heap *h = r->heap;
	unsigned wrong = 0, n = h->n_classes < WHAT_IF_CLASSES ? h->n_classes : WHAT_IF_CLASSES;
	struct what_if_class class[WHAT_IF_CLASSES];
	uint32_t *ids = xcalloc((size_t)h->n_objects + 1, sizeof *ids);
	for (unsigned taken = n > 1 ? n / 2 : 1; n && taken <= n; taken += n - taken ? n - taken : 1) {
		uint32_t end = 0;
		for (unsigned i = 0; i < taken; i++) {
			class[i].class = i;
			for (uint32_t id = 0, k = 0; id < h->n_objects; id++)
				if (heap_class_index(h, id) == i && k++ % 2 == 0)
					ids[end++] = id;
		}
		if (what_if_some_of_classes(class, taken, ids, end, r, NULL, NULL))
			wrong++;
		for (unsigned i = 0, begin = 0; i < taken; i++) {
			uint32_t of_class = 0;
			while (begin + of_class < end && heap_class_index(h, ids[begin + of_class]) == i)
				of_class++;
			uint64_t freed = w->all - naive_kept(w, ids + begin, of_class);
			begin += of_class;
			if (class[i].bytes != freed && wrong++ < 5)
				printf("half of class %u retains %" PRIu64 ", naively %" PRIu64 "\n", i, class[i].bytes,
				    freed);
		}
	}
	free(ids);
	return wrong;
}

/* Each class for itself; then every third class together, every fifth in no group. */
static unsigned compare_classes(struct naive *w)
{
	const struct heap *h = w->h;
	struct retained r;
	unsigned wrong = 0;
	uint32_t *group = xcalloc((size_t)h->n_classes + 1, sizeof *group);
	struct retained_sum found[3];
	if (retained_find(&r, w->m, NULL, NULL) || retained_complete(&r, NULL, NULL))
		return 1;
	for (uint32_t c = 0; c < h->n_classes; c++)
		group[c] = c;
	wrong += compare_groups(&r, group, h->n_classes, r.by_class);
	wrong += compare_certainty(w, &r, group, h->n_classes, r.by_class);
	wrong += compare_noted(w, &r, group);
	wrong += compare_parts(w, &r);
	for (uint32_t c = 0; c < h->n_classes; c++)
		group[c] = c % 5 == 4 ? HEAP_NONE : c % 3;
	if (retained_by_group(&r, group, 3, NULL, NULL, found, NULL, NULL))
		return 1;
	wrong += compare_groups(&r, group, 3, found);
	wrong += compare_certainty(w, &r, group, 3, found);
	free(group);
	retained_release(&r);
	return wrong;
}

/* The same with one thread as with many. */
static unsigned compare_threads(const struct model *m, const struct dominators *d)
{
	const struct heap *h = m->heap;
	unsigned wrong = 0;
	for (unsigned n = 1; n < 10; n += 4) {
		struct dominators other;
		parallel_set_threads(n);
		if (dominators_find(&other, m, NULL, NULL))
			return 1;
		wrong += other.n_reachable != d->n_reachable ||
		    memcmp(other.immediate, d->immediate, h->n_objects * sizeof *d->immediate) != 0;
		for (uint32_t id = 0; id < h->n_objects; id++)
			wrong += dominators_retained(&other, id) != dominators_retained(d, id);
		dominators_release(&other);
	}
	parallel_set_threads(0);
	if (wrong)
		printf("another number of threads, another answer\n");
	return wrong;
}

/* What one object retains, and that those hung on it directly cannot be reached without it. */
static unsigned compare_one(struct naive *w, const struct dominators *d, uint32_t id)
{
	const struct heap *h = w->h;
	unsigned wrong = 0;
	uint64_t kept = naive_kept(w, &id, 1);
	if (w->all - kept != dominators_retained(d, id) && wrong++ < 5)
		printf("0x%" PRIx64 " retains %" PRIu64 ", naively %" PRIu64 "\n", heap_address(h, id),
		    dominators_retained(d, id), w->all - kept);
	for (uint32_t k = 0; k < h->n_objects; k++)
		if (d->immediate[k] == id && w->seen[k] && wrong++ < 5)
			printf("0x%" PRIx64 " does not hold 0x%" PRIx64 "\n", heap_address(h, id),
			    heap_address(h, k));
	return wrong;
}

/* An object's immediate dominator is that one of its dominators that retains the least; with equal
 * sizes any may be meant, so only its retained size and that it dominates are compared. */
unsigned naive_compare_dominators(struct naive *w, const struct dominators *d, uint32_t step)
{
	const struct heap *h = w->h;
	char *whole = xcalloc((size_t)h->n_objects + 1, 1);
	unsigned wrong = naive_kept(w, NULL, 0) != d->shallow_reachable;
	memcpy(whole, w->seen, h->n_objects);
	for (uint32_t id = 0; id < h->n_objects; id++)
		wrong += (d->immediate[id] == NOT_REACHABLE) == (whole[id] == 1);
	for (uint32_t id = 0; id < h->n_objects && wrong < 5; id += step)
		if (whole[id])
			wrong += compare_one(w, d, id);
	wrong += compare_sets(w);
	wrong += compare_classes(w);
	wrong += compare_threads(w->m, d);
	free(whole);
	return wrong;
}
