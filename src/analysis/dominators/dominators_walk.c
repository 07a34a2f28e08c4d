/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dominators_walk.c - which edges there are, which objects are junctions, and the depth-first walk.
 *
 * The walk needs no recursion and no stack: it goes back by parents, and keeps its place among an
 * object's references in place.group, which gets its own value only when the walk leaves the
 * object.  One thread walks; a second one meanwhile touches the memory that the walk is about to
 * fill, so that the kernel has cleared it by then.
 */
#include "analysis/dominators/dominance.h"

#include "base/assert.h"
#include "base/big.h"
#include "base/bisect.h"
#include "base/parallel.h"
#include "base/sort.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { STRETCH = 1 << 20, REPORT_EVERY = 1 << 14, AHEAD = 8 };

/* --- edges that no array of references holds ---------------------------------------------------- */

static int by_from(const void *x, const void *y)
{
	uint32_t a = ((const struct edge *)x)->from, b = ((const struct edge *)y)->from;
	return (a > b) - (a < b);
}

static void add_edge(struct dominance *d, uint32_t from, uint32_t to)
{
	if (from == HEAP_NONE || to == HEAP_NONE)
		return;
	d->edges[d->n_edges++] = (struct edge){ from, to };
	d->has_edges[d->h->class_of[from]] = true;
}

/* The object of the thread on whose stack a root stands, or HEAP_NONE. */
static uint32_t stack_owner(const struct heap *h, const struct heap_root *r)
{
	uint32_t owner = r->thread == HEAP_NONE ? HEAP_NONE : h->threads[r->thread].object;
	return owner == r->object ? HEAP_NONE : owner;
}

/* Is it a root by more than some thread's stack? */
static bool held_by_vm(const struct heap *h, uint32_t id)
{
	size_t first, n = heap_roots_of(h, id, &first);
	for (size_t i = first; i < first + n; i++)
		if (stack_owner(h, &h->roots[i]) == HEAP_NONE)
			return true;
	return false;
}

uint32_t dominators_stack_owner(const struct heap *h, const struct heap_root *root)
{
	uint32_t owner = stack_owner(h, root);
	return owner != HEAP_NONE && held_by_vm(h, owner) ? owner : HEAP_NONE;
}

static int list_edges(struct dominance *d, struct err *err)
{
	const struct heap *h = d->h;
	d->is_root = big_alloc(h->n_roots, sizeof *d->is_root, err);
	d->has_edges = big_alloc(h->n_classes, sizeof *d->has_edges, err);
	d->edges = big_alloc(3 * (uint64_t)h->n_classes + h->n_roots, sizeof *d->edges, err);
	if (!d->is_root || !d->has_edges || !d->edges)
		return ERR_NOMEM;
	for (uint32_t c = 0; c < h->n_classes; c++) {
		const struct heap_class *class = &h->classes[c];
		if (class->object == HEAP_NONE)
			continue;
		if (class->superclass != HEAP_NONE)
			add_edge(d, class->object, h->classes[class->superclass].object);
		add_edge(d, class->object, class->loader);
		if (heap_loader_holds(h, c))
			add_edge(d, class->loader, class->object);
	}
	for (size_t i = 0; i < h->n_roots; i++) {
		uint32_t owner = dominators_stack_owner(h, &h->roots[i]);
		d->is_root[i] = owner == HEAP_NONE;
		add_edge(d, owner, h->roots[i].object);
	}
	sort_array(d->edges, d->n_edges, sizeof *d->edges, by_from);
	return 0;
}

/* Index of the first edge from id; its edges stand together. */
static size_t first_edge(const struct dominance *d, uint32_t id)
{
	size_t at;
	BISECT(at, d->n_edges, d->edges[at].from < id);
	return at;
}

/* --- junctions ------------------------------------------------------------------------------------ */

/* Mark the objects with more than one referrer.  This also is the first touch of the numbers, so
 * all threads share the work of clearing them. */
static int mark_stretch(void *context, unsigned task, struct err *err)
{
	struct dominance *d = context;
	const struct adjacency *in = &d->h->in;
	uint32_t begin = task * (uint32_t)STRETCH, n = d->h->n_objects;
	uint32_t end = n - begin < STRETCH ? n : begin + STRETCH;
	uint64_t start = adjacency_start(in, begin), next;
	(void)err;
	memset(d->number + begin, 0, (end - begin) * sizeof *d->number);
	for (uint32_t id = begin; id < end; id++, start = next) {
		next = adjacency_start(in, id + 1);
		/* sorted, so that equal ones make the ends equal */
		if (next - start > 1 && in->target[start] != in->target[next - 1])
			bits_set(&d->meets, id);
	}
	return 0;
}

/* Mark as junctions what the virtual root holds, what a reference holds that stands in no array,
 * and what loses a referrer because the model leaves that reference out. */
static void mark_special(struct dominance *d)
{
	const struct heap *h = d->h;
	for (size_t i = 0; i < h->n_roots; i++)
		if (d->is_root[i])
			bits_set(&d->meets, h->roots[i].object);
	for (size_t i = 0; i < d->n_edges; i++)
		bits_set(&d->meets, d->edges[i].to);
	for (size_t i = 0; d->left_out && i < d->left_out->n; i++)
		bits_set(&d->meets, d->left_out->reference[i].referent);
	for (uint32_t c = 0; c < h->n_classes; c++) {
		uint32_t object = h->classes[c].object;
		d->instances[c].hold = object != HEAP_NONE;
		if (object != HEAP_NONE)
			bits_set(&d->meets, object);
	}
	for (size_t i = 0; i < h->n_roots; i++) {
		uint32_t class = d->is_root[i] ? heap_class_mirrored(h, h->roots[i].object) : HEAP_NONE;
		if (class != HEAP_NONE)
			d->instances[class].hold = false; /* nothing can hold it more than a root does */
	}
}

int dominance_prepare(struct dominance *d, struct err *err)
{
	const struct heap *h = d->h;
	progress_phase(d->progress, PHASE_WALK_HEAP, h->n_objects);
	d->instances = big_alloc(h->n_classes, sizeof *d->instances, err);
	int code = d->instances ? list_edges(d, err) : ERR_NOMEM;
	if (code)
		return code;
	code = parallel_run(0, (unsigned)(((uint64_t)h->n_objects + STRETCH - 1) / STRETCH),
	    mark_stretch, d, err);
	if (code)
		return code;
	mark_special(d);
	d->most = 1;
	for (uint64_t word = 0; word < ((uint64_t)h->n_objects + 63) / 64; word++)
		d->most += bits_ones(d->meets.word[word]);
	return 0;
}

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
		below = d->junction[below].above;
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
	if (!i->hold)
		return 0;
	if (!d->number[d->h->classes[class].object]) {
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
	uint32_t k, id, group;
	uint32_t place, degree; /* place: the next of the references; behind them the class, then edges */
	const uint32_t *target;
	uint32_t weak;          /* a target not to follow, or HEAP_NONE */
	bool has_edges;
};

static inline void look_at(const struct dominance *d, struct cursor *c, uint32_t id, uint32_t place)
{
	const struct heap *h = d->h;
	LOOK(d, out_offset, id);
	LOOK(d, class_of, id);
	uint64_t start = adjacency_start(&h->out, id);
	LOOK(d, out_target, start);
	c->id = id;
	c->place = place;
	c->target = h->out.target + start;
	c->degree = (uint32_t)(adjacency_start(&h->out, id + 1) - start);
	c->has_edges = d->has_edges[h->class_of[id]];
	c->weak = d->left_out && bits_get(&d->left_out->holders, id) ? weak_referent(d->left_out, id)
	                                                             : HEAP_NONE;
}

/* The next object that leads on from here and has no number yet; HEAP_NONE behind the last. */
static inline uint32_t next_new(const struct dominance *d, struct cursor *c)
{
	const struct heap *h = d->h;
	while (c->place < c->degree) {
		uint32_t target = c->target[c->place++];
		LOOK(d, number, target);
		if (c->place + AHEAD < c->degree)
			__builtin_prefetch(&d->number[c->target[c->place + AHEAD]]);
		if (!d->number[target] && target != c->weak)
			return target;
	}
	if (c->place == c->degree) {
		uint32_t class = heap_class_of(h, c->id)->object;
		c->place++;
		if (class != HEAP_NONE && !d->number[class])
			return class;
	}
	if (!c->has_edges)
		return HEAP_NONE;
	size_t edge = first_edge(d, c->id) + (c->place - c->degree - 1);
	for (; edge < d->n_edges && d->edges[edge].from == c->id; edge++) {
		c->place++;
		if (!d->number[d->edges[edge].to])
			return d->edges[edge].to;
	}
	return HEAP_NONE;
}

/* Give the next number to an object; parent is the number of its parent.  *group: the parent's
 * group, then the object's own. */
static inline uint32_t enter(struct dominance *d, uint32_t id, uint32_t parent, uint32_t *group)
{
	uint32_t k = ++d->n;
	LOOK(d, number, id);
	LOOK(d, object, k);
	LOOK(d, place, k);
	cairn_assert(k < d->size && !d->number[id] && parent < k);
	d->number[id] = k;
	d->object[k] = id;
	if (bits_get(&d->meets, id)) {
		bits_set(&d->at, k);
		cairn_assert(d->m + 1 < d->most);
		d->junction[++d->m] = (struct junction){ .above = *group, .parent = parent };
		*group = d->m;
	}
	d->place[k] = (struct place){ parent, *group };
	return k;
}

/* Back to the parent: c->k gets 0 at the top. */
static inline void leave(struct dominance *d, struct cursor *c)
{
	struct place *p = &d->place[c->k];
	LOOK(d, place, c->k);
	LOOK(d, object, p->up);
	cairn_assert(p->up < c->k);
	p->group = c->group;
	if (bits_get(&d->at, c->k))
		c->group = d->junction[c->group].above;
	c->k = p->up;
	if (c->k)
		look_at(d, c, d->object[c->k], d->place[c->k].group);
}

/* Down to a target: it becomes the place where the walk is, unless nothing can lead on from it. */
static inline int step(struct dominance *d, struct cursor *c, uint32_t target, struct err *err)
{
	const struct heap *h = d->h;
	LOOK(d, class_of, target);
	LOOK(d, out_offset, target);
	uint32_t class = h->class_of[target], group = c->group, object = h->classes[class].object;
	uint32_t k = enter(d, target, c->k, &group);
	int code = note_instance(d, class, k, group, err);
	if (adjacency_start(&h->out, target) == adjacency_start(&h->out, target + 1) &&
	    !d->has_edges[class] && (object == HEAP_NONE || d->number[object]))
		return code;
	if (c->k)
		d->place[c->k].group = c->place;
	c->k = k;
	c->group = group;
	look_at(d, c, target, 0);
	for (uint32_t i = 0; i < c->degree && i <= AHEAD; i++)
		__builtin_prefetch(&d->number[c->target[i]]);
	return code;
}

static int walk_from(struct dominance *d, uint32_t start, struct err *err)
{
	struct cursor c = { .k = 0 };
	if (d->number[start])
		return 0;
	int code = step(d, &c, start, err);
	while (c.k && !code) {
		uint32_t target = next_new(d, &c);
		if (target == HEAP_NONE) {
			leave(d, &c);
			continue;
		}
		code = step(d, &c, target, err);
		if (d->n % REPORT_EVERY == 0 && !progress_add(d->progress, REPORT_EVERY))
			return err_cancelled(err);
	}
	return code;
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
	for (uint64_t k = 0; task == 1 && in_memory && k < d->size && !atomic_load(&w->over); k += STRETCH) {
		uint64_t n = d->size - k < STRETCH ? d->size - k : STRETCH;
		big_touch(d->place + k, n, sizeof *d->place);
		big_touch(d->object + k, n, sizeof *d->object);
	}
	if (task == 1)
		return 0;
	for (size_t i = 0; !code && i < d->h->n_roots; i++)
		if (d->is_root[i])
			code = walk_from(d, d->h->roots[i].object, err);
	atomic_store(&w->over, true);
	return code;
}

int dominance_walk(struct dominance *d, struct err *err)
{
	struct walking w = { .d = d };
	return parallel_run(0, parallel_threads() > 1 ? 2 : 1, walk_task, &w, err);
}
