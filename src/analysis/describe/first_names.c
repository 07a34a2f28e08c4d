/* SPDX-License-Identifier: GPL-3.0-or-later */
/* first_names.c - names of references one by one, in any order (describe.h). */
#include "analysis/describe/inspector.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "base/mem.h"
#include "dump/idmap.h"
#include "heap/heap.h"
#include "memory/big.h"

#include <stdlib.h>

enum { FEW = 64 }; /* references of a holder that are looked through each time */

/* The references of a holder, by target and then in their order. */
struct first_names {
	struct idmap begins; /* by holder: where its references begin */
	struct named_place {
		uint32_t holder, target;
		uint64_t place;
	} *places;
	uint64_t n, cap;
	uint32_t holder; /* the last one, opened in `names` where `opened`: finding its record may take long */
	bool opened;
	struct reference_names names;
};

struct first_names *first_names_new(void)
{
	return xcalloc(1, sizeof(struct first_names));
}

void first_names_free(struct first_names *f)
{
	if (!f)
		return;
	idmap_release(&f->begins);
	big_free(f->places);
	free(f);
}

static int by_target(const void *x, const void *y)
{
	const struct named_place *a = x, *b = y;
	return (a->target > b->target) - (a->target < b->target);
}

/* Note the references of one more holder.  False: there is no memory for it. */
static bool note(struct first_names *f, struct reference_names *n, uint32_t holder)
{
	struct err err = ERR_INIT;
	struct named_place one = { .holder = holder };
	uint64_t begin = f->n;
	while (n->inspector->names_any(n, &one.target, &one.place)) {
		struct named_place *to = BIG_PUSH(f->places, f->n, f->cap, &err);
		if (!to)
			break;
		*to = one;
	}
	if (!err.code && !sort(f->places + begin, f->n - begin, sizeof *f->places, by_target, &err) &&
	    !idmap_put(&f->begins, holder, begin, &err))
		return true;
	f->n = begin;
	return false;
}

static bool look_up(const struct first_names *f, struct reference_names *n, uint64_t begin,
    uint32_t holder, uint32_t target, struct text *to)
{
	const struct named_place *all = f->places + begin;
	uint64_t at;
	BISECT(at, f->n - begin, all[at].holder == holder && all[at].target < target);
	if (at == f->n - begin || all[at].holder != holder || all[at].target != target)
		return false;
	n->inspector->name_at(n, all[at].place, target, to);
	return true;
}

/* Where the references of the holder begin; IDMAP_NONE: there is no memory to note them. */
static uint64_t noted(struct first_names *f, const struct heap *h, uint32_t holder)
{
	uint64_t begin = idmap_get(&f->begins, holder);
	if (!f->opened || f->holder != holder) {
		reference_names_begin(&f->names, h, holder);
		f->holder = holder;
		f->opened = true;
	}
	if (begin == IDMAP_NONE && f->names.open && note(f, &f->names, holder))
		begin = idmap_get(&f->begins, holder);
	return begin;
}

bool first_name(struct first_names *f, const struct heap *h, uint32_t holder, uint32_t target,
    struct text *to)
{
	if (f && adjacency_degree(&h->out, holder) > FEW) {
		uint64_t begin = noted(f, h, holder);
		if (begin != IDMAP_NONE)
			return look_up(f, &f->names, begin, holder, target, to);
		f->opened = false; /* a walk that broke off */
	}
	struct reference_names n;
	reference_names_begin(&n, h, holder);
	return reference_names_next(&n, target, to);
}
