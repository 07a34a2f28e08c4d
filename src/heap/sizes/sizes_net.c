/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sizes_net.c - the net under all layout rules: what the distances between objects say of a class.
 *
 * The rules know what some releases of the VM inject into objects and how they pad them.  In a dump of
 * any other release a class may be larger than its fields tell.  Then there is room behind each of its
 * instances, and where that room is no gap, instance and room together are the size.
 *
 * A gap is where the dump leaves out an object: garbage that the collector left in place, a class object
 * that was archived and never loaded.  Garbage has habits: a constructor drops the same builder each
 * time, a call site's contexts die with every collection.  So equal distances alone prove nothing, not
 * even in a heap that has few gaps.  Two things do:
 *   - room in which no object fits, which is less than that of an object without fields;
 *   - the same room behind all instances, of a size that the VM is apt to add (a field or three to its own
 *     classes, padding to any), in a heap where gaps are rare, and those of this size together no more
 *     than the instances.
 * Where neither holds the rules stay, and the class is said not to be sure.
 *
 * The collector may pad as well.  CMS gives no object less than three words (MinChunkSize of its free lists), so that
 * 8 bytes lie behind each object of 16.  java.lang.Object, which has no fields in any release, shows it.
 *
 * Distances across the end of a region of the heap, where any room may be left, are not looked at.
 */
#include "heap/sizes/sizes_rules.h"

#include "heap/sizes/layout.h"

#include "algorithms/bits.h"
#include "base/progress.h"
#include "base/text.h"
#include "heap/classes.h"
#include "heap/index.h"
#include "memory/arena.h"
#include "memory/big.h"

#include <stdint.h>
#include <string.h>

/* No collector's regions are smaller than 2 to this many bytes (Shenandoah's). */
enum { REGION_SHIFT = 18 };
/* A class of so many instances tells of the heap's habits; so few classes tell nothing. */
enum { INSTANCES_LEAST = 3, CLASSES_LEAST = 3 };
/* What the VM adds: fields of some bytes, or padding on both sides of a group, and a rest from alignment. */
enum { FIELDS_MAX = 24, PADDING = 128, PADDING_REST = 24 };
/* In a gapless heap at most every so manieth object, and class, has room behind it. */
enum { GAPS_ONE_IN = 50 };
/* Superclasses that are looked at, and names that are listed. */
enum { CHAIN_MAX = 64, NAMES_MAX = 20 };

/* The distances behind the watched instances of a class. */
struct seen {
	uint32_t n, n_exact;
	uint32_t n_least; /* instances with the least distance */
	uint64_t least;   /* bytes */
	bool found;       /* in this cast: wrong */
};

/* The least chunk of the collector, in bytes: that far the next object lies behind those of java.lang.Object, although
 * no other fits between, or they are many and it is so behind all.  0: it adds nothing. */
static uint64_t find_chunk(const struct net *n, unsigned word)
{
	enum { MANY = 8 };
	const struct sizes *s = n->sizes;
	const struct heap *h = s->heap;
	uint64_t chunk = (3 * word + n->alignment - 1) / n->alignment * n->alignment;
	uint32_t object = 0, n_padded = 0, n_all = 0;
	while (object < h->n_defined_classes && (!heap_class_has_no_loader(&h->classes[object]) ||
	    strcmp(h->classes[object].name, "java.lang.Object")))
		object++;
	for (size_t k = 0; k < s->n_watched; k++)
		if (heap_class_index(h, s->watched[k]) == object) {
			n_padded += sizes_distance(h, s->watched[k]) == chunk;
			n_all++;
		}
	bool proof = chunk - n->least < n->least ? n_padded : n_padded == n_all && n_all >= MANY;
	return chunk > n->least && proof ? chunk : 0;
}

int net_open(struct net *n, struct sizes *s, const struct layout_model *m, struct err *err)
{
	uint32_t classes = s->heap->n_classes;
	*n = (struct net){ .sizes = s, .least = layout_least(m), .alignment = m->alignment };
	n->chunk = find_chunk(n, m->word);
	n->measured = big_alloc(classes, sizeof *n->measured, err);
	n->refused = n->measured ? big_alloc(classes, sizeof *n->refused, err) : NULL;
	n->seen = n->refused ? big_alloc(classes, sizeof *n->seen, err) : NULL;
	return n->seen ? 0 : ERR_NOMEM;
}

void net_close(struct net *n)
{
	big_free(n->measured);
	big_free(n->refused);
	big_free(n->seen);
	n->measured = NULL;
	n->refused = NULL;
	n->seen = NULL;
}

/* The same without what the collector added to an object of its class. */
static uint64_t distance_behind(const struct net *n, uint32_t id)
{
	const struct heap *h = n->sizes->heap;
	uint64_t distance = sizes_distance(h, id), size = heap_class_of(h, id)->instance_size;
	return net_fits(n, size, distance) ? size : distance;
}

/* --- what is seen ------------------------------------------------------------------------------- */

static int look(struct net *n, struct err *err)
{
	const struct sizes *s = n->sizes;
	const struct heap *h = s->heap;
	struct progress *work = progress_own();
	memset(n->seen, 0, h->n_classes * sizeof *n->seen);
	for (size_t k = 0; k < s->n_watched; k++) {
		if (progress_stops(work, k))
			return err_cancelled(err);
		uint32_t id = s->watched[k], class = heap_class_index(h, id);
		uint64_t address = index_address(h->index, id), distance = distance_behind(n, id);
		struct seen *c = &n->seen[class];
		if (s->watch[class] != WATCH_SOME || distance > UINT64_MAX - address ||
		    address >> REGION_SHIFT != (address + distance) >> REGION_SHIFT)
			continue;
		if (!c->n++ || distance < c->least) {
			c->least = distance;
			c->n_least = 0;
		}
		c->n_least += distance == c->least;
		c->n_exact += distance == h->classes[class].instance_size;
	}
	return 0;
}

/* Of classes whose size some instance confirms: is there seldom room behind the others, and in no class
 * as a habit? */
static bool is_gapless(const struct net *n)
{
	const struct heap *h = n->sizes->heap;
	uint64_t objects = 0, gaps = 0, classes = 0, habits = 0;
	for (uint32_t i = 0; i < h->n_classes; i++) {
		const struct seen *c = &n->seen[i];
		if (c->n < INSTANCES_LEAST || !c->n_exact)
			continue;
		objects += c->n;
		gaps += c->n - c->n_exact;
		classes++;
		habits += c->n_exact < c->n - c->n_exact;
	}
	return classes >= CLASSES_LEAST && gaps <= objects / GAPS_ONE_IN && habits <= classes / GAPS_ONE_IN;
}

/* How many gaps of each size there are, in units of 8 bytes, behind instances of confirmed classes. */
static void count_gaps(struct net *n)
{
	const struct sizes *s = n->sizes;
	const struct heap *h = s->heap;
	memset(n->gaps, 0, sizeof n->gaps);
	for (size_t k = 0; k < s->n_watched; k++) {
		uint32_t class = heap_class_index(h, s->watched[k]);
		uint64_t gap = distance_behind(n, s->watched[k]) - h->classes[class].instance_size;
		if (n->seen[class].n_exact && gap && gap < NET_ROOM_MAX)
			n->gaps[gap / 8]++;
	}
}

static bool is_padding(const struct net *n, uint64_t room)
{
	const unsigned below = n->alignment; /* what was left of an alignment may be used now */
	return room + below >= 2 * PADDING && (room + below) % PADDING <= PADDING_REST + below;
}

/* Would the VM add so many bytes to instances of this class? */
static bool is_apt(const struct net *n, const struct heap_class *c, uint64_t room)
{
	return is_padding(n, room) || (room <= FIELDS_MAX && heap_class_has_no_loader(c));
}

/* Room behind all instances that were seen; in bytes, 0 none. */
static uint64_t room_behind(const struct net *n, uint32_t class)
{
	const struct seen *c = &n->seen[class];
	uint64_t size = n->sizes->heap->classes[class].instance_size;
	return c->n && size != SIZE_UNKNOWN && c->least > size && c->least - size < NET_ROOM_MAX ? c->least - size : 0;
}

/* A superclass that distances have mended, or HEAP_NONE. */
static uint32_t mended_above(const struct net *n, uint32_t class)
{
	const struct heap *h = n->sizes->heap;
	uint32_t at = h->classes[class].superclass;
	for (unsigned i = 0; i < CHAIN_MAX && at < h->n_classes; i++, at = h->classes[at].superclass)
		if (n->measured[at])
			return at;
	return HEAP_NONE;
}

static bool is_refuted(const struct net *n, uint32_t class)
{
	const struct seen *c = &n->seen[class];
	uint64_t room = room_behind(n, class), size = n->sizes->heap->classes[class].instance_size;
	bool all = c->n >= INSTANCES_LEAST && c->n_least == c->n;
	bool rare = room && n->gapless && n->gaps[room / 8] <= c->n; /* else it is a habit */
	if (n->measured[class] || n->refused[class] || size == SIZE_UNKNOWN || c->n_exact)
		return false;
	if (room)
		return (room < n->least && c->n_least > 1) ||
		    (all && rare && is_apt(n, &n->sizes->heap->classes[class], room));
	/* how its superclass ends was not quite known */
	return c->n && c->least < size && mended_above(n, class) != HEAP_NONE;
}

/* Does a superclass take the blame? */
static bool found_above(const struct net *n, uint32_t class)
{
	const struct heap *h = n->sizes->heap;
	uint32_t at = h->classes[class].superclass;
	for (unsigned i = 0; i < CHAIN_MAX && at < h->n_classes; i++, at = h->classes[at].superclass)
		if (at != class && n->seen[at].found)
			return true;
	return false;
}

/* --- casting it --------------------------------------------------------------------------------- */

/* Of some classes only a part of the instances was watched: an instance that is smaller than what the
 * others say refutes them. */
static int ask_all_instances(struct net *n, struct err *err)
{
	const struct heap *h = n->sizes->heap;
	struct progress *work = progress_own();
	for (uint32_t id = 0; id < h->n_objects; id++) {
		if (progress_stops(work, id))
			return err_cancelled(err);
		uint32_t class = heap_class_index(h, id);
		if (!n->seen[class].found || bits_get(&h->sized, id) || distance_behind(n, id) >= n->seen[class].least)
			continue;
		n->seen[class].found = false;
		n->refused[class] = true;
	}
	return 0;
}

int net_cast(struct net *n, bool *more, struct err *err)
{
	const struct heap *h = n->sizes->heap;
	uint32_t found = 0;
	bool some_unseen = false;
	int code = look(n, err);
	*more = false;
	if (code)
		return code;
	n->gapless = is_gapless(n);
	count_gaps(n);
	for (uint32_t i = 0; i < h->n_classes; i++) {
		n->seen[i].found = is_refuted(n, i);
		found += n->seen[i].found;
		some_unseen |= n->seen[i].found && n->sizes->tallies[i].n_plain > n->seen[i].n;
	}
	if (some_unseen)
		code = ask_all_instances(n, err);
	for (uint32_t i = 0; !code && found && i < h->n_classes; i++) {
		if (!n->seen[i].found || found_above(n, i))
			continue;
		n->measured[i] = n->seen[i].least;
		n->n_measured++;
		*more = true;
	}
	return code;
}

/* --- telling ------------------------------------------------------------------------------------ */

void sizes_add_name(struct text *to, uint32_t *n, const char *name)
{
	if ((*n)++ < NAMES_MAX)
		text_addf(to, "%s%s", to->len ? ", " : "", name);
}

const char *sizes_keep_names(struct heap *h, struct text *names, uint32_t n)
{
	if (n > NAMES_MAX)
		text_addf(names, " and %u more", (unsigned)(n - NAMES_MAX));
	const char *kept = n ? arena_strndup(&h->arena, names->s, names->len) : NULL;
	text_release(names);
	return kept;
}

/* Room behind each instance that is no proof: in a gapless heap any; elsewhere what no object fits in,
 * what looks like padding, or in classes of the VM room for that, or mostly the same room. */
static bool is_doubtful(const struct net *n, uint32_t class)
{
	const struct seen *c = &n->seen[class];
	uint64_t room = room_behind(n, class);
	if (n->measured[class] || !room)
		return false;
	if (n->gapless || room < n->least || (c->n > 1 && c->n_least > c->n / 2 && is_padding(n, room)))
		return true;
	return heap_class_has_no_loader(&n->sizes->heap->classes[class]) &&
	    ((c->n > 1 && room >= 2 * PADDING) || (c->n >= INSTANCES_LEAST && c->n_least > c->n / 2));
}

/* Is a superclass in doubt, and nothing that was seen confirms the class? */
static bool inherits_doubt(const struct net *n, uint32_t class)
{
	const struct heap *h = n->sizes->heap;
	uint32_t at = h->classes[class].superclass;
	for (unsigned i = 0; n->seen[class].n && !n->seen[class].n_exact && i < CHAIN_MAX && at < h->n_classes;
	     i++, at = h->classes[at].superclass)
		if (is_doubtful(n, at))
			return true;
	return false;
}

void net_tell(struct net *n)
{
	struct heap *h = n->sizes->heap;
	struct text measured = TEXT_INIT, doubtful = TEXT_INIT;
	uint32_t n_doubtful = 0;
	for (uint32_t i = 0; i < h->n_classes; i++) {
		struct heap_class *c = &h->classes[i];
		c->size_measured = n->measured[i] ||
		    (n->n_measured && c->instance_size != SIZE_UNKNOWN && mended_above(n, i) != HEAP_NONE);
		c->size_doubtful = !c->size_measured && (is_doubtful(n, i) || inherits_doubt(n, i));
		if (c->size_measured)
			sizes_add_name(&measured, &h->n_measured, c->name);
		else if (c->size_doubtful)
			sizes_add_name(&doubtful, &n_doubtful, c->name);
	}
	h->measured_names = sizes_keep_names(h, &measured, h->n_measured);
	h->doubtful_names = sizes_keep_names(h, &doubtful, n_doubtful);
}
