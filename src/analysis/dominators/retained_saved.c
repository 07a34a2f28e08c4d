/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * retained_saved.c - retained sizes in an index, and out of it; see dominators.h.
 *
 * What is taken is checked so that whatever walks the tree comes to an end and stays in its arrays.  A
 * circle would have to lead through objects that retain as much as the next one does: anything
 * else is seen by comparing an object with the one above it.  Such pairs are rare, for an object adds its own size to
 * what it retains, and they are followed one by one.
 */
#include "analysis/dominators/retained_saving.h"

#include "algorithms/chunks.h"
#include "algorithms/pack.h"
#include "analysis/maybe_live.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "heap/index_file/index_file.h"
#include "heap/references.h"
#include "memory/big.h"

#include <stdatomic.h>
#include <string.h>

struct chunks;

/* --- writing ------------------------------------------------------------------------------------ */

static void pack_sums(struct pack *p, struct retained *r, struct err *err)
{
	uint32_t n = r->heap->n_classes;
	uint64_t classes = n;
	PACK(p, r->dominators.n_reachable, r->heap->n_objects);
	PACK(p, r->dominators.shallow_reachable, UINT64_MAX);
	pack_count(p, &classes, n);
	p->bad |= classes != n;
	if (p->reading && !p->bad) {
		r->by_class = big_alloc(n, sizeof *r->by_class, err);
		p->bad |= !r->by_class || bits_init(&r->joint, n, err);
	}
	for (uint32_t c = 0; c < n && !p->bad; c++) {
		struct retained_sum *sum = &r->by_class[c];
		PACK(p, sum->bytes, UINT64_MAX);
		PACK(p, sum->topmost, r->heap->n_objects);
		PACK(p, sum->joint, 1);
		PACK(p, sum->doubts, SIZE_DOUBTS);
		if (p->reading && sum->joint)
			bits_set(&r->joint, c);
	}
}

int retained_write(const struct retained *r, struct chunks_writer *w, struct err *err)
{
	struct pack p = { .reading = false };
	struct retained copy = *r;
	uint64_t n = r->dominators.n_objects;
	pack_sums(&p, &copy, err);
	int code = pack_written(&p, err);
	if (!code)
		code = chunks_add(w, "class_sums", p.out, p.n, err);
	pack_release(&p);
	if (code || w->packed)
		return code ? code : retained_pack(r, w, err);
	const struct narrow *retained = &r->dominators.retained;
	code = chunks_add(w, "dominator", r->dominators.immediate, n * sizeof *r->dominators.immediate, err);
	if (!code)
		code = chunks_add(w, "retained", retained->low, n * sizeof *retained->low, err);
	if (!code && retained->high)
		code = chunks_add(w, "retained_high", retained->high, narrow_high_bytes(retained, n), err);
	return code;
}

/* --- reading ------------------------------------------------------------------------------------ */

static int damaged(struct err *err)
{
	return err_set(err, ERR_FORMAT, "its retained sizes are damaged");
}

bool retained_saved(const struct model *m)
{
	const struct chunks *c = index_file_chunks(m->heap);
	return c && model_is_default(m) && chunks_bytes(c, "class_sums") != UINT64_MAX;
}

int retained_read_sums(struct retained *out, const struct model *m, struct err *err)
{
	const struct chunks *c = index_file_chunks(m->heap);
	const void *bytes;
	uint64_t n;
	struct pack p;
	struct err lack = ERR_INIT;
	*out = (struct retained){ .heap = m->heap, .model = *m };
	out->dominators.n_objects = m->heap->n_objects;
	int code = chunks_take(c, "class_sums", &bytes, &n, err);
	if (!code)
		code = chunks_check(c, &(struct chunk_look){ .name = "class_sums", .bytes = bytes }, 1, err);
	if (!code && pack_open(&p, bytes, n, NULL, 0)) {
		pack_sums(&p, out, &lack);
		code = lack.code ? (*err = lack, lack.code) : pack_ends(&p) ? 0 : damaged(err);
	}
	big_free(bytes);
	if (!code && out->dominators.n_reachable < out->dominators.n_objects)
		out->doubt = maybe_live_reason(m->heap, NULL);
	if (code)
		retained_release(out);
	return code;
}

struct tree {
	const uint32_t *above;
	struct narrow retained;
	uint32_t n;
	_Atomic uint64_t reachable;
	_Atomic bool doubtful; /* some object retains no more than one below it */
};

static bool tree_holds(void *context, uint64_t from, uint64_t n)
{
	struct tree *t = context;
	uint64_t reachable = 0;
	bool doubtful = false;
	for (uint64_t id = from / 4; id < (from + n) / 4; id++) {
		uint32_t above = t->above[id];
		reachable += above != NOT_REACHABLE;
		if (above >= NOT_REACHABLE)
			continue;
		uint64_t own = narrow_get(&t->retained, id);
		if (above >= t->n || t->above[above] == NOT_REACHABLE || narrow_get(&t->retained, above) < own)
			return false;
		doubtful |= narrow_get(&t->retained, above) == own;
	}
	atomic_fetch_add(&t->reachable, reachable);
	if (doubtful)
		atomic_store(&t->doubtful, true);
	return true;
}

/* Is there no circle?  Only steps between objects that retain the same are followed. */
static int follow_doubts(const struct tree *t, struct err *err)
{
	uint32_t *seen = big_alloc(t->n, sizeof *seen, err);
	int code = seen ? 0 : ERR_NOMEM;
	for (uint32_t id = 0; id < t->n && !code; id++) {
		for (uint32_t at = id; !seen[at];) {
			uint32_t above = t->above[at];
			seen[at] = id + 1;
			if (above >= NOT_REACHABLE || narrow_get(&t->retained, above) > narrow_get(&t->retained, at))
				break;
			at = above;
			if (seen[at] == id + 1)
				code = damaged(err);
		}
	}
	big_free(seen);
	return code;
}

/* A chunk, read only as all of a found tree is. */
static int take_one(void *to, const struct chunks *c, const char *name, uint64_t *bytes, struct err *err)
{
	const void *taken;
	int code = chunks_take(c, name, &taken, bytes, err);
	if (!code)
		memcpy(to, &taken, sizeof taken);
	return code;
}

/* As they stand in the file. */
static int take_mapped(struct dominators *out, const struct chunks *c, uint32_t n, struct err *err)
{
	struct tree t = { .n = n };
	uint64_t n_above = 0, n_low = 0, n_high = 0;
	bool high = chunks_bytes(c, "retained_high") != UINT64_MAX;
	int code = take_one(&out->immediate, c, "dominator", &n_above, err);
	big_vanishes_as_ones(out->immediate); /* none: zeros would lead round in a circle */
	if (!code)
		code = take_one(&out->retained.low, c, "retained", &n_low, err);
	if (!code && high)
		code = take_one(&out->retained.high, c, "retained_high", &n_high, err);
	out->retained.wide = n_high > n;
	if (!code && (n_above != 4 * (uint64_t)n || n_low != n_above || n_high != narrow_high_bytes(&out->retained, n)))
		code = damaged(err);
	t.above = out->immediate;
	t.retained = out->retained;
	if (!code) {
		const struct chunk_look looks[] = {
			{ .name = "retained", .bytes = t.retained.low },
			{ .name = "dominator", .bytes = t.above, .holds = tree_holds, .context = &t },
			{ .name = "retained_high", .bytes = t.retained.high } };
		code = chunks_check(c, looks, high ? 3 : 2, err);
	}
	if (!code && t.doubtful)
		code = follow_doubts(&t, err);
	if (code)
		dominators_release(out);
	out->n_reachable = (uint32_t)t.reachable;
	return code;
}

int retained_read(struct retained *out, const struct model *m, struct progress *progress, struct err *err)
{
	const struct chunks *c = index_file_chunks(m->heap);
	struct dominators d = { .immediate = NULL };
	struct progress *before = progress_set_own(progress);
	progress_phase(progress, PHASE_SUM_RETAINED, 0);
	int code = chunks_packed(c) ? retained_unpack(&d, m, err) : take_mapped(&d, c, m->heap->n_objects, err);
	if (!code)
		code = retained_read_sums(out, m, err);
	if (!code && d.n_reachable != out->dominators.n_reachable) {
		retained_release(out);
		code = damaged(err);
	}
	progress_set_own(before);
	if (code) {
		dominators_release(&d);
		return code;
	}
	out->dominators.immediate = d.immediate;
	out->dominators.retained = d.retained;
	code = retained_mark_unsure(out, err);
	if (code)
		retained_release(out);
	return code;
}
