/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check.c - the promises of a heap, one function each.
 *
 * The order matters: what later checks use as an index is checked first.  A part that is broken is
 * not walked ("not looked at"), since it cannot be trusted.
 */
#include "analysis/check/check.h"

#include "algorithms/hash.h"
#include "analysis/check/check_tree.h"
#include "analysis/reachable.h"
#include "base/mem.h"
#include "dump/facts.h"
#include "dump/reader.h"
#include "dump/types.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROMISES = 16 }; /* about so many, for the progress */

struct checker {
	const struct heap *h;
	struct checks *to;
	struct progress *progress;
	bool indexes_sound; /* classes and references can be followed */
};

/* --- objects and classes ---------------------------------------------------------------------- */

static bool class_or_none(const struct heap *h, uint32_t class)
{
	return class == HEAP_NONE || class < h->n_classes;
}

static bool object_or_none(const struct heap *h, uint32_t id)
{
	return id == HEAP_NONE || id < h->n_objects;
}

static void check_classes(struct checker *k)
{
	const struct heap *h = k->h;
	for (uint32_t id = 0; id < h->n_objects && !progress_stops(k->progress, id); id++) {
		if (heap_class_index(h, id) >= h->n_classes) {
			k->indexes_sound = false;
			checks_add(k->to, "classes are known", CHECK_BROKEN, "#%" PRIu32 " has class %" PRIu32
			    " of %" PRIu32, id, heap_class_index(h, id), h->n_classes);
			return;
		}
	}
	for (uint32_t c = 0; c < h->n_classes && !progress_stops(k->progress, c); c++) {
		const struct heap_class *class = &h->classes[c];
		if (!class_or_none(h, class->superclass) || !class_or_none(h, class->component) ||
		    !object_or_none(h, class->object) || !object_or_none(h, class->loader)) {
			k->indexes_sound = false;
			checks_add(k->to, "classes are known", CHECK_BROKEN, "%.100s names a missing class",
			    class->name);
			return;
		}
	}
	uint32_t n_used = 0;
	for (uint32_t c = 0; c < h->n_classes; c++)
		n_used += h->classes[c].n_objects != 0;
	checks_add(k->to, "classes are known", CHECK_OK, "%" PRIu32 " classes, %" PRIu32 " with objects", h->n_classes,
	    n_used);
}

/* Each chain of superclasses ends.  Each class is passed once: a chain stops where an earlier one
 * went, and goes round if it meets itself. */
static int check_superclasses(struct checker *k, struct err *err)
{
	const struct heap *h = k->h;
	uint32_t *passed = big_alloc(h->n_classes, sizeof *passed, err); /* by which chain, from 1 */
	if (!passed)
		return ERR_NOMEM;
	for (uint32_t c = 0; c < h->n_classes && !progress_stops(k->progress, c); c++) {
		uint32_t at = c;
		for (; at != HEAP_NONE && !passed[at]; at = h->classes[at].superclass)
			passed[at] = c + 1;
		if (at == HEAP_NONE || passed[at] != c + 1)
			continue;
		big_free(passed);
		checks_add(k->to, "superclasses end", CHECK_BROKEN, "those of %.150s form a cycle", h->classes[c].name);
		return 0;
	}
	big_free(passed);
	checks_add(k->to, "superclasses end", CHECK_OK, "no class is its own ancestor");
	return 0;
}

static void check_class_objects(struct checker *k)
{
	const struct heap *h = k->h;
	const char *name = "class objects are java.lang.Class";
	uint32_t mirrors = 0, named = 0;
	if (h->facts.no_class_objects)
		return;
	for (uint32_t c = 0; c < h->n_classes && !progress_stops(k->progress, c); c++) {
		uint32_t id = h->classes[c].object;
		if (id == HEAP_NONE)
			continue;
		named++;
		if (heap_class_index(h, id) != h->java_lang_class || heap_class_mirrored(h, id) != c ||
		    heap_address(h, id) != h->classes[c].address) {
			checks_add(k->to, name, CHECK_BROKEN, "that of %.100s at 0x%" PRIx64 " is not",
			    h->classes[c].name, h->classes[c].address);
			return;
		}
	}
	for (uint32_t id = 0; id < h->n_objects && !progress_stops(k->progress, id); id++)
		mirrors += heap_class_mirrored(h, id) != HEAP_NONE;
	bool ok = mirrors == named && mirrors == h->n_class_objects;
	checks_add(k->to, name, ok ? CHECK_OK : CHECK_BROKEN,
	    "%" PRIu32 " class objects found, %" PRIu32 " classes have one, %" PRIu32
	    " are stated", mirrors, named, h->n_class_objects);
}

struct tally {
	uint64_t objects, shallow;
};

enum { SIZES = 1024 }; /* that are asked for at once */

static int check_sums(struct checker *k, struct err *err)
{
	const struct heap *h = k->h;
	const char *name = "sizes sum up";
	uint64_t shallow = 0;
	uint32_t unknown = 0;
	uint64_t sizes[SIZES];
	struct tally *tally = big_alloc(h->n_classes, sizeof *tally, err);
	if (!tally)
		return ERR_NOMEM;
	for (uint32_t id = 0; id < h->n_objects && !progress_stops(k->progress, id); id++) {
		if (id % SIZES == 0)
			heap_sizes(h, id, h->n_objects - id < SIZES ? h->n_objects - id : SIZES, sizes);
		uint64_t size = sizes[id % SIZES];
		if (size == SIZE_UNKNOWN) {
			unknown++;
			size = 0;
		}
		tally[heap_class_index(h, id)].objects++;
		tally[heap_class_index(h, id)].shallow += size;
		shallow += size;
	}
	for (uint32_t c = 0; c < h->n_classes && !progress_stops(k->progress, c); c++) {
		const struct heap_class *class = &h->classes[c];
		if (class->n_objects == tally[c].objects && class->shallow == tally[c].shallow)
			continue;
		checks_add(k->to, name, CHECK_BROKEN, "%.80s: %" PRIu32 " objects of %" PRIu64
		    " bytes stated, %" PRIu64 " of %" PRIu64 " found", class->name,
		    class->n_objects, class->shallow, tally[c].objects, tally[c].shallow);
		goto out;
	}
	bool ok = shallow == h->shallow && unknown == h->n_unknown_size;
	checks_add(k->to, name, ok ? CHECK_OK : CHECK_BROKEN, "%" PRIu64 " bytes found, %" PRIu64 " stated; %"
	    PRIu32 " of unknown size, %" PRIu32 " stated", shallow, h->shallow, unknown,
	    h->n_unknown_size);
out:
	big_free(tally);
	return 0;
}

/* Of Android: each object is in a heap that the dump names. */
static void check_spaces(struct checker *k)
{
	const struct heap *h = k->h;
	const char *name = "objects are in named heaps";
	uint32_t n = 0;
	if (!h->n_spaces)
		return;
	for (uint32_t id = 0; id < h->n_objects && !progress_stops(k->progress, id); id++)
		n += h->space_of[id] < h->n_spaces;
	checks_add(k->to, name, n == h->n_objects ? CHECK_OK : CHECK_BROKEN, "%" PRIu32 " of %" PRIu32
	    " objects in %u heaps", n, h->n_objects, h->n_spaces);
}

/* What was measured is not larger than any distance, and not smaller than all. */
static int check_measured(struct checker *k, struct err *err)
{
	const struct heap *h = k->h;
	const char *name = "sizes follow from rules";
	if (!h->size_model || h->facts.values == NO_VALUES) /* no distance changed the dump's own */
		return 0;
	if (!h->n_measured) {
		checks_add(k->to, name, CHECK_OK, "no class is larger than its fields need");
		return 0;
	}
	uint64_t *least = big_alloc(h->n_classes, sizeof *least, err);
	if (!least)
		return ERR_NOMEM;
	for (uint32_t id = 0; id + 1 < h->n_objects && !progress_stops(k->progress, id); id++) {
		uint64_t distance = heap_address(h, id + 1) - heap_address(h, id);
		uint64_t *of_class = &least[heap_class_index(h, id)];
		if (heap_class_of(h, id)->size_measured && (!*of_class || distance < *of_class))
			*of_class = distance;
	}
	for (uint32_t c = 0; c < h->n_classes; c++) {
		if (!least[c] || h->classes[c].instance_size <= least[c])
			continue;
		checks_add(k->to, name, CHECK_BROKEN, "%.80s: %" PRIu64 " bytes measured, but %" PRIu64
		    " to the next object", h->classes[c].name, h->classes[c].instance_size, least[c]);
		big_free(least);
		return 0;
	}
	big_free(least);
	checks_add(k->to, name, CHECK_OK, "except for %" PRIu32 " classes, measured by distances: %.120s",
	    h->n_measured, h->measured_names);
	return 0;
}

/* Records by kind, counted from the classes of the objects. */
struct kinds {
	uint64_t class_objects, instances, object_arrays, primitive_arrays;
	uint64_t arrays_of_primitive_arrays; /* int[][]: object arrays that a VM counts otherwise */
};

static struct kinds count_kinds(const struct checker *k)
{
	const struct heap *h = k->h;
	struct kinds n = {.class_objects = 0};
	for (uint32_t id = 0; id < h->n_objects && !progress_stops(k->progress, id); id++) {
		const struct heap_class *class = &h->classes[heap_class_index(h, id)];
		if (heap_class_mirrored(h, id) != HEAP_NONE) {
			n.class_objects++;
		} else if (class->kind == CLASS_PRIMITIVE_ARRAY) {
			n.primitive_arrays++;
		} else if (class->kind == CLASS_OBJECT_ARRAY) {
			static const char *const leaves[] = {"boolean", "byte", "char", "short",
			    "int", "long", "float", "double"};
			const char *bracket = memchr(class->name, '[', strnlen(class->name, sizeof "boolean["));
			size_t leaf = bracket ? (size_t)(bracket - class->name) : 0;
			n.object_arrays++;
			for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
				if (leaf == strlen(leaves[i]) &&
				    !memcmp(class->name, leaves[i], leaf))
					n.arrays_of_primitive_arrays++;
			}
		} else {
			n.instances++;
		}
	}
	return n;
}

static void check_kinds(struct checker *k, const struct kinds *n)
{
	const struct heap *h = k->h;
	uint64_t sum = (uint64_t)h->n_instances + h->n_object_arrays + h->n_primitive_arrays +
	    h->n_class_objects;
	bool ok = sum == h->n_objects && n->object_arrays == h->n_object_arrays && n->instances == h->n_instances &&
	    n->primitive_arrays == h->n_primitive_arrays && n->class_objects == h->n_class_objects;
	checks_add(k->to, "kinds add up", ok ? CHECK_OK : CHECK_BROKEN, "%" PRIu64 " instances, %" PRIu64
	    " object arrays, %" PRIu64 " primitive arrays, %" PRIu64 " class objects by their classes, %" PRIu32
	    ", %" PRIu32 ", %" PRIu32 " and %" PRIu32 " by their records, of %" PRIu32 " objects",
	    n->instances, n->object_arrays, n->primitive_arrays, n->class_objects, h->n_instances,
	    h->n_object_arrays, h->n_primitive_arrays, h->n_class_objects, h->n_objects);
}

/* --- references ------------------------------------------------------------------------------- */

/* Starts ascend from 0 to n, and every target is an object. */
static bool adjacency_sound(struct checker *k, const struct adjacency *a, const char *name)
{
	const struct heap *h = k->h;
	uint64_t before = 0;
	for (uint32_t id = 0; id <= h->n_objects; id++) {
		if (progress_stops(k->progress, id))
			return false;
		uint64_t start = adjacency_start(a, id);
		if (start < before || start > a->n || (id == 0 && start)) {
			checks_add(k->to, name, CHECK_BROKEN, "those of #%" PRIu32 " begin at %" PRIu64
			    " after %" PRIu64 " of %" PRIu64, id, start, before, a->n);
			return false;
		}
		before = start;
		if (id == UINT32_MAX)
			break;
	}
	if (before != a->n) {
		checks_add(k->to, name, CHECK_BROKEN, "they end at %" PRIu64 " of %" PRIu64, before, a->n);
		return false;
	}
	for (uint64_t i = 0; i < a->n && !progress_stops(k->progress, i); i++) {
		if (a->target[i] >= h->n_objects) {
			checks_add(k->to, name, CHECK_BROKEN, "reference %" PRIu64 " leads to #%" PRIu32
			    " of %" PRIu32, i, a->target[i], h->n_objects);
			return false;
		}
	}
	checks_add(k->to, name, CHECK_OK, "%" PRIu64 " lead to an object", a->n);
	return true;
}

/* A pair's share of a sum that does not depend on the order of pairs. */
static uint64_t hash_pair(uint32_t from, uint32_t to)
{
	return hash_number((uint64_t)from << 32 | to);
}

static int check_mirror(struct checker *k, struct err *err)
{
	const struct heap *h = k->h;
	const char *name = "in-references mirror out-references";
	uint64_t out_hash = 0, in_hash = 0;
	int code = 0;
	uint32_t *degree = big_alloc(h->n_objects, sizeof *degree, err);
	if (!degree)
		return ERR_NOMEM;
	for (uint32_t id = 0; id < h->n_objects && !progress_stops(k->progress, id); id++) {
		uint64_t end = adjacency_start(&h->out, id + 1);
		for (uint64_t i = adjacency_start(&h->out, id); i < end; i++) {
			degree[h->out.target[i]]++;
			out_hash += hash_pair(id, h->out.target[i]);
		}
	}
	code = progress_check(k->progress, err);
	if (code)
		goto out;
	for (uint32_t id = 0; id < h->n_objects && !progress_stops(k->progress, id); id++) {
		uint64_t start = adjacency_start(&h->in, id), end = adjacency_start(&h->in, id + 1);
		if (end - start != degree[id]) {
			checks_add(k->to, name, CHECK_BROKEN, "#%" PRIu32 " has %" PRIu64 " referrers, but %"
			    PRIu32 " references lead to it", id, end - start, degree[id]);
			goto out;
		}
		for (uint64_t i = start; i < end; i++) {
			if (i > start && h->in.target[i] < h->in.target[i - 1]) {
				checks_add(k->to, name, CHECK_BROKEN,
				    "the referrers of #%" PRIu32 " are out of order", id);
				goto out;
			}
			in_hash += hash_pair(h->in.target[i], id);
		}
	}
	if (out_hash != in_hash)
		checks_add(k->to, name, CHECK_BROKEN, "counts agree, pairs do not");
	else
		checks_add(k->to, name, CHECK_OK, "%" PRIu64 " pairs, the same in both directions", h->out.n);
out:
	big_free(degree);
	return code;
}

static void check_reference_count(struct checker *k)
{
	const struct heap *h = k->h;
	bool ok = h->out.n + h->n_dangling == h->n_references && h->in.n == h->out.n;
	checks_add(k->to, "references are all counted", ok ? CHECK_OK : CHECK_BROKEN, "%" PRIu64
	    " recorded, %" PRIu64 " of them to nowhere; %" PRIu64 " out, %" PRIu64 " in",
	    h->n_references, h->n_dangling, h->out.n, h->in.n);
}

/* --- types --------------------------------------------------------------------------------------- */

/* Does what the type describes fit into the object? */
static bool type_fits(const struct heap *h, uint32_t id)
{
	const struct types *types = h->dump ? h->dump->types : NULL;
	const struct heap_class *class = heap_class_of(h, id);
	uint64_t length = heap_length(h, id), size = heap_shallow(h, id);
	if (class->stride && length != LENGTH_UNKNOWN && length > size / class->stride)
		return false;
	if (class->type == HEAP_NONE || h->dump_absent)
		return true;
	return types && class->type < types->n &&
	    (class->kind != CLASS_PLAIN || types->type[class->type].size <= size);
}

static void check_types(struct checker *k)
{
	const struct heap *h = k->h;
	const char *name = "types fit their objects";
	uint64_t n = 0;
	if (!h->typed_by)
		return; /* of a format where classes are recorded */
	for (uint32_t id = 0; id < h->n_objects && !progress_stops(k->progress, id); id++) {
		if (h->typed_by[id] == TYPED_BY_SHAPE)
			continue;
		n++;
		if (h->typed_by[id] >= TYPED_BYS || !type_fits(h, id)) {
			checks_add(k->to, name, CHECK_BROKEN, "%.100s at 0x%" PRIx64 " does not",
			    heap_class_of(h, id)->name, heap_address(h, id));
			return;
		}
	}
	checks_add(k->to, name, CHECK_OK, "%" PRIu64 " objects have one", n);
}

/* --- roots and threads ------------------------------------------------------------------------ */

static const char *root_fault(const struct heap *h, const struct heap_root *r)
{
	if (r->object >= h->n_objects)
		return "is not an object";
	if (r->kind >= ROOT_KINDS)
		return "has no kind";
	if (r->thread != HEAP_NONE && r->thread >= h->n_threads)
		return "names a missing thread";
	if (r->frame != HEAP_NONE &&
	    (r->thread == HEAP_NONE || r->frame >= h->threads[r->thread].n_frames))
		return "names a missing frame";
	if (!h->facts.roots_recorded && r->certainty == EXACT && !h->companion)
		return "is marked exact, but the dump records no roots";
	return NULL;
}

static bool check_roots(struct checker *k)
{
	const struct heap *h = k->h;
	uint32_t objects = 0;
	bool sound = true;
	for (size_t i = 0; i < h->n_roots && !progress_stops(k->progress, i); i++) {
		const struct heap_root *r = &h->roots[i];
		const char *fault = root_fault(h, r);
		if (!fault && i && (r[-1].object > r->object ||
		    (r[-1].object == r->object && r[-1].kind > r->kind)))
			fault = "is out of order";
		if (fault) {
			checks_add(k->to, "roots are objects", CHECK_BROKEN, "root %zu (#%" PRIu32 ") %s", i,
			    r->object, fault);
			return false;
		}
		objects += !i || r[-1].object != r->object;
		sound &= heap_is_root(h, r->object);
	}
	bool ok = sound && objects == h->n_root_objects;
	checks_add(k->to, "roots are objects", ok ? CHECK_OK : CHECK_BROKEN, "%zu roots on %" PRIu32
	    " objects, %" PRIu32 " stated", h->n_roots, objects, h->n_root_objects);
	return true;
}

static int check_threads(struct checker *k, struct err *err)
{
	const struct heap *h = k->h;
	uint64_t *roots = big_alloc(h->n_threads, sizeof *roots, err);
	if (!roots)
		return ERR_NOMEM;
	for (size_t i = 0; i < h->n_roots && !progress_stops(k->progress, i); i++) {
		if (h->roots[i].thread < h->n_threads)
			roots[h->roots[i].thread]++;
	}
	for (uint32_t t = 0; t < h->n_threads && !progress_stops(k->progress, t); t++) {
		const struct heap_thread *thread = &h->threads[t];
		if (object_or_none(h, thread->object) && roots[t] == thread->n_roots)
			continue;
		checks_add(k->to, "threads hold their roots", CHECK_BROKEN, "%.80s states %" PRIu32
		    " roots, %" PRIu64 " name it", thread->name, thread->n_roots, roots[t]);
		big_free(roots);
		return 0;
	}
	big_free(roots);
	checks_add(k->to, "threads hold their roots", h->n_threads ? CHECK_OK : CHECK_DOES_NOT_APPLY,
	    "%" PRIu32 " threads", h->n_threads);
	return 0;
}

static int check_reachable(struct checker *k, struct err *err)
{
	struct reachable r;
	if (k->h->facts.roots_recorded) {
		checks_add(k->to, "inferred roots reach everything", CHECK_DOES_NOT_APPLY,
		    "the dump records its roots");
		return 0;
	}
	int code = reachable_from_roots(&r, &(struct model){.heap = k->h}, k->progress, err);
	if (code)
		return code;
	checks_add(k->to, "inferred roots reach everything",
	    r.unreachable_n.n != k->h->n_stale ? CHECK_BROKEN : CHECK_OK, "%" PRIu64 " of %" PRIu32
	    " objects; %" PRIu32 " are garbage with stale references", r.n.n, k->h->n_objects, k->h->n_stale);
	reachable_release(&r);
	return 0;
}

/* --- what the dump states of itself ----------------------------------------------------------- */

static bool stated(const struct heap *h, const char *what, uint64_t *count)
{
	for (size_t i = 0; i < h->n_stated; i++) {
		if (!strcmp(h->stated[i].what, what)) {
			*count = h->stated[i].count;
			return true;
		}
	}
	return false;
}

static void check_stated(struct checker *k, const struct kinds *n)
{
	const struct heap *h = k->h;
	uint64_t nulls = 0;
	stated(h, "nulls", &nulls);
	struct {
		const char *what;
		uint64_t found, or_else; /* writers differ on where int[][] belongs */
	} table[] = {
	    {"classes", n->class_objects, n->class_objects},
	    {"objects", n->instances, n->instances},
	    {"object arrays", n->object_arrays, n->object_arrays - n->arrays_of_primitive_arrays},
	    {"primitive arrays", n->primitive_arrays,
	        n->primitive_arrays + n->arrays_of_primitive_arrays},
	    {"records", h->n_objects, h->n_objects},
	    {"references and nulls", h->n_references + nulls, h->n_references},
	    {"references", h->n_references, h->n_references},
	    {"HeapObjects", h->n_objects, h->n_objects},
	    {"HeapAlloc", h->shallow, h->shallow}, /* bytes */
	};
	unsigned compared = 0;
	bool broken = false;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		uint64_t count;
		if (!stated(h, table[i].what, &count))
			continue;
		compared++;
		if (count == table[i].found || count == table[i].or_else)
			continue;
		broken = true;
		checks_add(k->to, "the dump's own counts agree", CHECK_BROKEN, "%s: %" PRIu64
		    " stated, %" PRIu64 " read", table[i].what, count, table[i].found);
	}
	if (!compared)
		checks_add(k->to, "the dump's own counts agree", CHECK_DOES_NOT_APPLY, "it states none");
	else if (!broken)
		checks_add(k->to, "the dump's own counts agree", CHECK_OK, "%u counts", compared);
}

/* --- all -------------------------------------------------------------------------------------- */

static int check_graph(struct checker *k, struct err *err)
{
	bool out = adjacency_sound(k, &k->h->out, "references lead to objects");
	bool in = adjacency_sound(k, &k->h->in, "referrers are objects");
	int code = progress_check(k->progress, err);
	check_reference_count(k);
	if (!code && out && in)
		code = check_mirror(k, err);
	bool roots = check_roots(k);
	if (!code)
		code = check_threads(k, err);
	k->to->walkable = out && in && roots;
	if (!code && out && roots)
		code = check_reachable(k, err);
	return code;
}

int check_heap(
    struct checks *out, const struct heap *heap, struct progress *progress, struct err *err)
{
	struct checker k = {
	    .h = heap, .to = out, .progress = progress, .indexes_sound = true};
	struct kinds kinds;
	int code;

	*out = (struct checks){.progress = progress};
	checks_begin(out);
	progress_phase(progress, PHASE_CHECK_GRAPH, PROMISES);
	code = check_addresses(out, heap, progress, err);
	if (!code)
		check_classes(&k);
	if (code || !k.indexes_sound) {
		if (!code)
			code = checks_lost(out, err);
		if (code)
			checks_release(out);
		return code;
	}
	code = progress_check(progress, err); /* what a loop that was left early did not see may be unsound */
	if (!code)
		code = check_superclasses(&k, err);
	if (code) {
		checks_release(out);
		return code;
	}
	check_class_objects(&k);
	kinds = count_kinds(&k);
	check_kinds(&k, &kinds);
	check_types(&k);
	check_spaces(&k);
	if (!code)
		code = progress_check(progress, err);
	if (!code)
		code = check_sums(&k, err);
	if (!code)
		code = check_measured(&k, err);
	if (!code)
		code = check_graph(&k, err);
	if (!code)
		check_stated(&k, &kinds);
	if (!code)
		code = progress_check(progress, err);
	if (!code)
		code = checks_lost(out, err);
	if (code)
		checks_release(out);
	return code;
}

void checks_release(struct checks *c)
{
	big_free(c->line);
	*c = (struct checks){.n = 0};
}
