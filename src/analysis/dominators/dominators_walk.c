/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dominators_walk.c - the depth-first walk.
 *
 * The walk needs no recursion.  Only objects that still have something to go on to wait on its stack, so that a long
 * list leaves it empty.  What an object's references lead to is asked for when the walk comes there, for memory is what
 * it waits for; and what leads no further gets its number without a step down.  Class objects and edges come before an
 * object's references: any order of children gives the same dominators.  Closed objects count as seen from the
 * beginning.  One thread walks; a second one meanwhile
 * touches the memory that the walk is about to fill, so that the kernel has cleared it by then.
 */
#include "analysis/dominators/dominance.h"

#include "algorithms/bisect.h"
#include "algorithms/parallel.h"
#include "algorithms/sort.h"
#include "base/assert.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "memory/big.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { STRETCH = 1 << 20, REPORT_EVERY = 1 << 13, AHEAD = 8 };

/* --- instances of classes ------------------------------------------------------------------------- */

/* A fresh block of the list, with the class's last instance in it. */
static int add_block(struct dominance *d, struct instances *i, struct err *err)
{
	if (d->n_blocks == d->cap_blocks) {
		uint32_t cap = d->cap_blocks + d->cap_blocks / 8 + 1;
		struct instance_block *more = big_resize(d->block, cap, sizeof *more, err);
		if (!more)
			return ERR_NOMEM;
		d->block = more;
		d->cap_blocks = cap;
	}
	d->block[d->n_blocks] = (struct instance_block){ .before = i->block, .first = i->last };
	i->block = d->n_blocks++;
	i->fill = 0;
	return 0;
}

/* Put the last one into the list. */
static inline int write_instance(struct dominance *d, struct instances *i, struct err *err)
{
	enum { MOST = 5 }; /* bytes */
	int code = 0;
	struct instance_block *b = &d->block[i->block];
	if (!i->block || i->fill + MOST > (int)sizeof b->further) {
		code = add_block(d, i, err);
	} else {
		uint32_t distance = i->last - i->written;
		for (; distance > 127; distance >>= 7)
			b->further[i->fill++] = (uint8_t)(distance | 128);
		b->further[i->fill++] = (uint8_t)distance;
	}
	i->written = i->last;
	return code;
}

/* Is "below" the group itself, or does it hang below the group?  Looks at the next few groups above
 * only, since further up the answer hardly ever is yes; so false may be wrong, which costs
 * memory. */
static inline bool stands_above(const struct dominance *d, uint32_t group, uint32_t below)
{
	enum { STEPS = 8 };
	for (unsigned i = 0; i < STEPS && below > group; i++)
		below = group_of(d, d->place[below].up);
	return below == group;
}

/*
 * Note that the object with number k, in this group, is an instance of the class, if that can
 * matter.  Of the instances met before the class object only the first one is kept: it has the
 * least number.  Of those met after it, only the last one of several in a row in one group is kept,
 * and not even that one if the next instance's group hangs below its group: for the others the
 * algorithm finds no lesser semidominator (see dominators_semi.c).
 */
static inline int note_instance(struct dominance *d, uint32_t class, uint32_t k, uint32_t group,
    struct err *err)
{
	struct instances *i = &d->instances[class];
	if (!bits_get(&d->seen, d->h->classes[class].object)) {
		if (!i->first)
			i->first = k;
		return 0;
	}
	int code = 0;
	if (i->last && i->group != group && !stands_above(d, i->group, group))
		code = write_instance(d, i, err);
	i->last = k;
	i->group = group;
	return code;
}

/* --- the walk ----------------------------------------------------------------------------------- */

/* Where the walk is. */
struct cursor {
	uint64_t next, end; /* its references not looked at yet */
	uint32_t k, id, group;
	uint32_t weak;      /* a target not to follow, or HEAP_NONE */
	size_t edge;        /* the next of d->edges */
	bool special;       /* there may be holders that stand in no array; they come first */
	int code;           /* what an object on the way failed with */
};

/* Where it will go on, once all below has its numbers. */
struct frame {
	uint64_t next : 62, special : 1, holds_weakly : 1; /* next: an edge if special */
	uint32_t k, left;
};

struct frames {
	struct frame *frame;
	size_t n, cap;
};

/* May an instance of the class lead on by other than its references? */
static inline bool leads_on(struct dominance *d, uint32_t class)
{
	if (!(d->leads[class] & (LEADS_TO_CLASS | LEADS_BY_EDGES)))
		return false;
	if (d->leads[class] & LEADS_TO_CLASS && bits_get(&d->seen, d->h->classes[class].object))
		d->leads[class] &= (uint8_t)~LEADS_TO_CLASS;
	return d->leads[class] & (LEADS_TO_CLASS | LEADS_BY_EDGES);
}

/* Index of the first edge from id; its edges stand together. */
static size_t first_edge(const struct dominance *d, uint32_t id)
{
	size_t at;
	BISECT(at, d->n_edges, d->edges[at].from < id);
	return at;
}

/* What this object needs when it is entered is on its way. */
static inline void ask(const struct dominance *d, uint32_t id)
{
	if (bits_get(&d->seen, id))
		return;
	__builtin_prefetch(&d->h->out.offset[id]);
	heap_prefetch_class_index(d->h, id);
	__builtin_prefetch(&d->number[id], 1);
}

/* Give the next number to an object below the cursor.  *group: the group it is in. */
static inline uint32_t enter(struct dominance *d, struct cursor *c, uint32_t id, uint32_t class, uint32_t *group,
    struct err *err)
{
	uint32_t k = ++d->n;
	LOOK(d, object, k);
	LOOK(d, place, k);
	cairn_assert(k < d->room && !bits_get(&d->seen, id) && c->k < k);
	bits_set(&d->seen, id);
	if (__builtin_expect(d->partition == NULL, 1))
		d->number[id] = k;
	else
		d->partition->parent[k] = c->k;
	d->object[k] = id;
	*group = c->group;
	if (bits_get(&d->meets, id)) {
		bits_set(&d->at, k);
		d->m++;
		*group = k;
	} else {
		bits_set(&d->inner, c->k);
	}
	d->place[k] = (struct place){ c->k, *group };
	if (d->leads[class] & HELD_BY_INSTANCES && !c->code)
		c->code = note_instance(d, class, k, *group, err);
	return k;
}

/* The target that is not to be followed, or HEAP_NONE. */
static inline uint32_t held_weakly(const struct dominance *d, uint32_t id)
{
	return d->left_out && bits_get(&d->left_out->holders, id) ? weak_referent(d->left_out, id) : HEAP_NONE;
}

static inline void look_at(const struct dominance *d, struct cursor *c, uint32_t id, uint32_t k, uint32_t group)
{
	c->id = id;
	c->k = k;
	c->group = group;
	LOOK(d, out_target, c->next);
	const uint32_t *target = d->h->out.target;
	uint64_t far = c->end - c->next < AHEAD ? c->end : c->next + AHEAD;
	for (uint64_t i = c->next; i < far; i++)
		ask(d, target[i]);
	for (uint64_t i = c->next; i < far; i++)
		if (!bits_get(&d->seen, target[i]))
			__builtin_prefetch(&target[adjacency_start(&d->h->out, target[i])]);
}

static uint32_t next_special(const struct dominance *d, struct cursor *c)
{
	uint32_t class = heap_class_of(d->h, c->id)->object;
	if (class != HEAP_NONE && !bits_get(&d->seen, class))
		return class;
	for (; c->edge < d->n_edges && d->edges[c->edge].from == c->id; c->edge++)
		if (!bits_get(&d->seen, d->edges[c->edge].to))
			return d->edges[c->edge].to;
	c->special = false;
	return HEAP_NONE;
}

/* The next object that has no number yet and leads on; those before it that do not lead on get their
 * numbers.  HEAP_NONE behind the last, or if something failed. */
static inline uint32_t next_new(struct dominance *d, struct cursor *c, struct err *err)
{
	const struct heap *h = d->h;
	uint32_t group;
	if (__builtin_expect(c->special, 0)) {
		uint32_t target = next_special(d, c);
		if (target != HEAP_NONE)
			return target;
	}
	while (c->next < c->end && !c->code) {
		uint32_t target = h->out.target[c->next++];
		if (c->end - c->next > AHEAD)
			ask(d, h->out.target[c->next + AHEAD]);
		if (__builtin_expect(d->partition != NULL, 0) && target != c->weak && bits_get(&d->meets, target))
			c->code = partition_note(d, target, c->k, err);
		if (bits_get(&d->seen, target) || target == c->weak)
			continue;
		LOOK(d, out_offset, target);
		LOOK(d, class_low, target);
		LOOK(d, class_high, target);
		uint32_t class = heap_class_index(h, target);
		if (adjacency_start(&h->out, target) != adjacency_start(&h->out, target + 1) || leads_on(d, class))
			return target;
		enter(d, c, target, class, &group, err);
	}
	return HEAP_NONE;
}

/* Down to a target. */
static inline void go_down(struct dominance *d, struct cursor *c, uint32_t target, struct err *err)
{
	const struct heap *h = d->h;
	uint32_t group, class = heap_class_index(h, target), k = enter(d, c, target, class, &group, err);
	c->next = adjacency_start(&h->out, target);
	c->end = adjacency_start(&h->out, target + 1);
	c->special = leads_on(d, class);
	c->edge = d->leads[class] & LEADS_BY_EDGES ? first_edge(d, target) : d->n_edges;
	c->weak = held_weakly(d, target);
	look_at(d, c, target, k, group);
}

/* Does anything that has no number seem to be left here, or anything to note? */
static inline bool more_is_left(const struct dominance *d, const struct cursor *c)
{
	if (c->special || c->end - c->next > (d->partition ? 0 : AHEAD))
		return true;
	for (uint64_t i = c->next; i < c->end; i++)
		if (!bits_get(&d->seen, d->h->out.target[i]))
			return true;
	return false;
}

static int push(struct frames *f, const struct cursor *c, struct err *err)
{
	struct frame *frame = BIG_PUSH(f->frame, f->n, f->cap, err);
	if (!frame)
		return ERR_NOMEM;
	*frame = (struct frame){ .next = c->special ? c->edge : c->next, .special = c->special, .k = c->k,
		.holds_weakly = c->weak != HEAP_NONE, .left = (uint32_t)(c->end - c->next) };
	return 0;
}

static void pop(struct dominance *d, struct frames *f, struct cursor *c)
{
	const struct frame *frame = &f->frame[--f->n];
	uint32_t id = c->id; /* any: it is not looked at */
	if (frame->special || frame->holds_weakly) {
		LOOK(d, object, frame->k);
		id = d->object[frame->k];
	}
	LOOK(d, place, frame->k);
	c->special = frame->special;
	c->edge = frame->special ? frame->next : d->n_edges;
	c->next = frame->special ? adjacency_start(&d->h->out, id) : frame->next;
	c->end = c->next + frame->left;
	c->weak = frame->holds_weakly ? held_weakly(d, id) : HEAP_NONE;
	if (f->n) {
		__builtin_prefetch(&d->h->out.target[frame[-1].next]);
		__builtin_prefetch(&d->place[frame[-1].k]);
	}
	look_at(d, c, id, frame->k, group_of(d, frame->k));
}

static int walk_from(struct dominance *d, uint32_t start, struct frames *f, struct err *err)
{
	struct cursor c = { .k = 0 };
	uint32_t target = start, reported = d->n;
	if (bits_get(&d->seen, start))
		return 0;
	for (;;) {
		go_down(d, &c, target, err);
		while ((target = next_new(d, &c, err)) == HEAP_NONE && f->n && !c.code)
			pop(d, f, &c);
		if (target == HEAP_NONE)
			return c.code;
		if (more_is_left(d, &c) && push(f, &c, err))
			return ERR_NOMEM;
		if (d->n - reported >= REPORT_EVERY) {
			if (!progress_add(d->progress, d->n - reported))
				return err_cancelled(err);
			reported = d->n;
		}
	}
}

struct walking {
	struct dominance *d;
	atomic_bool over;
};

/* Task 0 walks; task 1 has memory ready for it, and ends when the walk does. */
static int walk_task(void *context, unsigned task, struct err *err)
{
	struct walking *w = context;
	struct dominance *d = w->d;
	int code = 0;
	/* not in the file: there pages are as soon forgotten */
	bool in_memory = big_owner(d->place) == BIG_ANONYMOUS && big_owner(d->object) == BIG_ANONYMOUS;
	for (uint64_t k = 0; task == 1 && in_memory && k < d->room && !atomic_load(&w->over); k += STRETCH) {
		uint64_t n = d->room - k < STRETCH ? d->room - k : STRETCH;
		big_touch(d->place + k, n, sizeof *d->place);
		big_touch(d->object + k, n, sizeof *d->object);
	}
	if (task == 1)
		return 0;
	struct frames frames = { .frame = NULL };
	for (size_t i = 0; !code && i < d->h->n_roots; i++)
		if (d->is_root[i])
			code = walk_from(d, d->h->roots[i].object, &frames, err);
	for (uint32_t c = 0; !code && c < d->h->n_classes; c++)
		if (d->instances[c].top)
			code = walk_from(d, d->h->classes[c].object, &frames, err);
	big_free(frames.frame);
	atomic_store(&w->over, true);
	return code;
}

int dominance_walk(struct dominance *d, struct err *err)
{
	struct walking w = { .d = d };
	return parallel_run(0, parallel_threads() > 1 ? 2 : 1, walk_task, &w, err);
}
