/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index_references.c - references out of an index, when somebody asks for them; see saved.h.
 *
 * Both directions are looked at once.  They have to be the same references, for much is computed by going
 * forth along one and back along the other.  That is seen by a sum over all pairs, of a hash with this
 * process's own seed: nobody can forge two directions that differ and have the same sum.  A packed index has
 * one of them, and the caller turns it round.
 */
#include "heap/index_file/saving.h"

#include "algorithms/chunks.h"
#include "algorithms/hash.h"
#include "base/progress.h"
#include "heap/heap.h"
#include "heap/index_file/index_file.h"
#include "memory/big.h"

#include <stdatomic.h>
#include <string.h>

struct direction {
	struct adjacency a;
	uint64_t n_wide; /* numbers in a.wide */
	uint32_t n;      /* objects */
	bool in;         /* referrers, which are in order */
	_Atomic uint64_t sum;
};

/* Each base is in its bounds by itself, for in a truncated file the offsets may become 0. */
static bool bases_are(void *direction, uint64_t from, uint64_t n)
{
	const struct direction *d = direction;
	for (uint64_t i = from / sizeof *d->a.base; i < (from + n) / sizeof *d->a.base; i++) {
		uint64_t base = d->a.base[i], place = base ^ ADJACENCY_WIDE;
		if (base & ADJACENCY_WIDE ? place >= d->n_wide : base > d->a.n)
			return false;
	}
	return true;
}

/* UINT64_MAX: there is none. */
static inline uint64_t start_of(const struct direction *d, uint64_t i)
{
	uint64_t at = d->a.base[i >> ADJACENCY_SHIFT] + d->a.offset[i], place = at ^ ADJACENCY_WIDE;
	return !(at & ADJACENCY_WIDE) ? at : place < d->n_wide ? d->a.wide[place] : UINT64_MAX;
}

/* Starts ascend and end where the targets do; each list is looked at with its start.  Offsets do not pass the targets,
 * for a base may become 0. */
static bool offsets_are(void *direction, uint64_t from, uint64_t n)
{
	struct direction *d = direction;
	const uint32_t *target = d->a.target;
	uint64_t sum = 0, at = start_of(d, from / sizeof *d->a.offset), end;
	for (uint64_t i = from / sizeof *d->a.offset; i < (from + n) / sizeof *d->a.offset; i++, at = end) {
		end = i < d->n ? start_of(d, i + 1) : d->a.n;
		if (at > end || end > d->a.n || (!i && at) || (i == d->n && at != end) || d->a.offset[i] > d->a.n)
			return false;
		for (uint64_t k = at; k < end && i < d->n; k++) {
			if (target[k] >= d->n || (d->in && k > at && target[k - 1] > target[k]))
				return false;
			sum += hash_number(d->in ? (uint64_t)target[k] << 32 | i : i << 32 | target[k]);
		}
	}
	atomic_fetch_add(&d->sum, sum);
	return true;
}

static int take(const struct chunks *c, const char *name, void *to, uint64_t *n, struct err *err)
{
	const void *bytes;
	int code = chunks_take(c, name, &bytes, n, err);
	if (!code)
		memcpy(to, &bytes, sizeof bytes);
	return code;
}

static int take_direction(const struct chunks *c, struct direction *d, const char *const names[4], struct err *err)
{
	uint64_t base = 0, wide = 0, offset = 0, target = 0;
	int code = take(c, names[0], &d->a.base, &base, err);
	if (!code)
		code = take(c, names[1], &d->a.wide, &wide, err);
	if (!code)
		code = take(c, names[2], &d->a.offset, &offset, err);
	if (!code)
		code = take(c, names[3], &d->a.target, &target, err);
	d->a.n = target / sizeof *d->a.target;
	d->n_wide = wide / sizeof *d->a.wide;
	if (!code && (base != adjacency_blocks(d->n) * sizeof *d->a.base || wide % sizeof *d->a.wide ||
	    offset != ((uint64_t)d->n + 1) * sizeof *d->a.offset || target % sizeof *d->a.target))
		code = err_set(err, ERR_FORMAT, "its references have a wrong length");
	return code;
}

static int check(const struct chunks *c, struct direction *out, struct direction *in, const char *const o[4],
    const char *const i[4], struct err *err)
{
	const struct chunk_look looks[] = {
		{ .name = o[0], .bytes = out->a.base, .holds = bases_are, .context = out },
		{ .name = i[0], .bytes = in->a.base, .holds = bases_are, .context = in },
		{ .name = o[1], .bytes = out->a.wide }, { .name = i[1], .bytes = in->a.wide },
		{ .name = o[3], .bytes = out->a.target }, { .name = i[3], .bytes = in->a.target },
		{ .name = o[2], .bytes = out->a.offset, .holds = offsets_are, .context = out },
		{ .name = i[2], .bytes = in->a.offset, .holds = offsets_are, .context = in },
	};
	int code = chunks_check(c, looks, sizeof looks / sizeof *looks, err);
	return !code && out->sum != in->sum ? err_set(err, ERR_FORMAT, "its references are damaged") : code;
}

int index_file_references(struct heap *h, struct progress *progress, struct err *err)
{
	static const char *const o[] = {"out_base", "out_wide", "out_offset", "out_target"};
	static const char *const i[] = {"in_base", "in_wide", "in_offset", "in_target"};
	struct direction out = { .n = h->n_objects }, in = { .n = h->n_objects, .in = true };
	const struct chunks *c = h->saved->chunks;
	struct progress *before = progress_set_own(progress);
	progress_phase(progress, PHASE_READ_REFERENCES, 0);
	h->references_wait = false;
	bool packed = chunks_packed(c);
	int code = packed ? packed_references(h, &out.a, err) : take_direction(c, &out, o, err);
	if (!code && !packed)
		code = take_direction(c, &in, i, err);
	if (!code && !packed)
		code = check(c, &out, &in, o, i, err);
	progress_set_own(before);
	if (code) {
		adjacency_release(&out.a);
		adjacency_release(&in.a);
		return code;
	}
	h->out = out.a;
	h->in = in.a;
	return 0;
}
