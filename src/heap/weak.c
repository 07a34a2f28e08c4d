/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weak.c - find weak references: first the classes that have a weak field, then the value of that
 * field in each of their few instances.
 */
#include "heap/weak.h"

#include "algorithms/bisect.h"
#include "base/mem.h"
#include "base/progress.h"
#include "heap/classes.h"
#include "heap/index_file/index_file.h"
#include "heap/value.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum { CANCEL_EVERY = 1 << 14 };

static const char chunk[] = "weak", inactive_chunk[] = "weak_inactive";

static bool is_saved(const struct heap *h)
{
	return index_file_chunks(h) && chunks_bytes(index_file_chunks(h), chunk) != UINT64_MAX;
}

bool weak_known(const struct heap *h)
{
	return (values_held(h) && h->facts.values == DECLARED_FIELDS && !h->facts.fields_invented) || is_saved(h);
}

int weak_told(const struct heap *h, struct err *err)
{
	if (weak_known(h))
		return 0;
	if (values_held(h) && !h->facts.fields_invented)
		return err_set(err, ERR_UNSUPPORTED, "%s has no weak references", h->facts.title);
	int code = heap_holds_no_values(h, err);
	err_context(err, "weak references cannot be distinguished from others");
	return code;
}

const char *weak_kind_name(enum weak_kind kind)
{
	static const char *const names[WEAK_KINDS] = {"soft", "weak", "final", "phantom", "cleaner"};
	return kind < WEAK_KINDS ? names[kind] : "?";
}

/* The kind that begins with a class of this name; WEAK_KINDS: its instances are what its superclass's are. */
static enum weak_kind kind_of_name(const char *name)
{
	static const struct {
		const char *name;
		enum weak_kind kind;
	} kinds[] = {
		{"java.lang.ref.SoftReference", WEAK_SOFT}, {"java.lang.ref.WeakReference", WEAK_WEAK},
		{"java.lang.ref.FinalReference", WEAK_FINAL}, {"java.lang.ref.FinalizerReference", WEAK_FINAL},
		{"java.lang.ref.PhantomReference", WEAK_PHANTOM},
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(name, kinds[i].name))
			return kinds[i].kind;
	return WEAK_KINDS;
}

/* Is a phantom reference of this class a cleaner: through JDK 28, OpenJ9 and Android? */
static bool is_cleaner(const char *name)
{
	static const char *const names[] = {"sun.misc.Cleaner", "jdk.internal.ref.Cleaner",
	    "jdk.internal.ref.PhantomCleanable", "java.nio.BufferCleaner$PhantomCleaner"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Of a class's instances, whose superclass's are of the kind above. */
static enum weak_kind kind_below(const struct heap_class *c, enum weak_kind above)
{
	enum weak_kind own = kind_of_name(c->name);
	if (own != WEAK_KINDS)
		return own;
	return above == WEAK_PHANTOM && is_cleaner(c->name) ? WEAK_CLEANER : above;
}

/* Where the fields of java.lang.ref.Reference lie in the records of a class's instances, in which the fields of
 * subclasses come first. */
struct weak_way {
	struct field_place place; /* of the referent */
	struct field_place next;  /* of type VALUE_BYTE: there is no such field, as on Android */
	bool known; /* this class was looked at */
	bool found; /* it has the field; place says where */
	enum weak_kind kind; /* of its instances; WEAK_KINDS: they hold nothing weakly */
};

/* From the superclass's way (NULL: there is none) to this class's. */
static struct weak_way weak_way(const struct heap *h, uint32_t class, const struct weak_way *above)
{
	const struct heap_class *c = &h->classes[class];
	struct weak_way w = { .known = true, .kind = WEAK_KINDS, .next.type = VALUE_BYTE };
	if (!strcmp(c->name, "java.lang.ref.Reference")) {
		w.found = values_place(h, class, "referent", &w.place) && w.place.type == VALUE_OBJECT;
		if (!values_place(h, class, "next", &w.next) || w.next.type != VALUE_OBJECT)
			w.next.type = VALUE_BYTE;
		return w;
	}
	w.kind = kind_below(c, above ? above->kind : WEAK_KINDS);
	if (!above || !above->found)
		return w;
	w.found = true;
	w.place = above->place;
	w.next = above->next;
	w.place.offset += c->fields_size;
	w.next.offset += c->fields_size;
	return w;
}

/* Each class once: up to the first superclass that is known, then down again. */
static void find_ways(const struct heap *h, struct weak_way *way, uint32_t *chain)
{
	for (uint32_t i = 0; i < h->n_classes && !progress_own_stops(i); i++) {
		uint32_t up = i, n = 0;
		for (; up != HEAP_NONE && !way[up].known; up = h->classes[up].superclass)
			chain[n++] = up;
		for (; n-- > 0; up = chain[n])
			way[chain[n]] = weak_way(h, chain[n], up == HEAP_NONE ? NULL : &way[up]);
	}
}

/* Of each class; the caller's (big_free). */
static struct weak_way *weak_ways(const struct heap *h, struct err *err)
{
	struct weak_way *way = big_alloc(h->n_classes, sizeof *way, err);
	uint32_t *chain = way ? big_alloc(h->n_classes, sizeof *chain, err) : NULL;
	if (chain)
		find_ways(h, way, chain);
	else
		big_free(way);
	big_free(chain);
	return chain ? way : NULL;
}

uint8_t *weak_kinds(const struct heap *h, struct err *err)
{
	struct weak_way *way = weak_ways(h, err);
	uint8_t *kind = way ? big_alloc(h->n_classes, sizeof *kind, err) : NULL;
	for (uint32_t i = 0; kind && i < h->n_classes && !progress_own_stops(i); i++)
		kind[i] = h->classes[i].kind == CLASS_PLAIN ? way[i].kind : WEAK_KINDS;
	big_free(way);
	return kind;
}

/* The instances of this class hold something weakly. */
static bool holds_weakly(const struct heap *h, const struct weak_way *way, uint32_t class)
{
	return h->classes[class].kind == CLASS_PLAIN && way[class].found && way[class].kind != WEAK_KINDS;
}

/* What is found of a heap, until it belongs to it. */
struct finding {
	struct weak_references *all;
	uint32_t *inactive; /* holders, ascending; or a chunk of the index */
	size_t n, cap;
};

/* The object that the weak field alone holds, or HEAP_NONE. */
static uint32_t held_weakly(const struct heap *h, uint32_t id, const struct weak_way *way, bool *inactive)
{
	struct values values;
	struct value value, next;
	unsigned times = 0;
	if (values_open(&values, h, id, NULL) || !values_at(&values, &way->place, &value))
		return HEAP_NONE;
	*inactive = way->next.type == VALUE_OBJECT && values_at(&values, &way->next, &next) && next.bits;
	uint32_t referent = value_object_id(h, &value);
	uint64_t end = adjacency_start(&h->out, id + 1);
	for (uint64_t k = adjacency_start(&h->out, id); k < end; k++)
		times += h->out.target[k] == referent;
	return times < 2 && heap_class_of(h, id)->object != referent ? referent : HEAP_NONE;
}

static int add_one(struct finding *f, uint32_t holder, uint32_t referent, bool inactive, size_t *cap, struct err *err)
{
	struct weak_reference *at = BIG_PUSH(f->all->reference, f->all->n, *cap, err);
	uint32_t *too = at && inactive ? BIG_PUSH(f->inactive, f->n, f->cap, err) : NULL;
	if (!at || (inactive && !too))
		return ERR_NOMEM;
	*at = (struct weak_reference){holder, referent};
	bits_set(&f->all->holders, holder);
	if (too)
		*too = holder;
	return 0;
}

/* Out of the values of all instances. */
static int find_all(struct finding *f, const struct heap *h, struct progress *progress, struct err *err)
{
	size_t cap = 0;
	struct weak_way *way = weak_ways(h, err);
	int code = way ? bits_init(&f->all->holders, h->n_objects, err) : ERR_NOMEM;
	for (uint32_t id = 0; id < h->n_objects && !code; id++) {
		uint32_t class = heap_class_index(h, id);
		bool inactive;
		if (progress_stops(progress, id))
			code = err_cancelled(err);
		if (!holds_weakly(h, way, class))
			continue;
		uint32_t referent = held_weakly(h, id, &way[class], &inactive);
		if (referent != HEAP_NONE)
			code = add_one(f, id, referent, inactive, &cap, err);
	}
	big_free(way);
	return code;
}

static bool is_inactive(const struct heap *h, const uint8_t *kind, uint32_t holder)
{
	return kind[heap_class_index(h, holder)] != WEAK_SOFT && !bits_get(&h->weak->holders, holder);
}

int weak_count_inactive(const struct heap *h, uint64_t *n, struct err *err)
{
	*n = 0;
	uint8_t *kind = h->soft_and_weak ? weak_kinds(h, err) : NULL;
	if (!kind)
		return h->soft_and_weak ? ERR_NOMEM : 0;
	for (size_t i = 0; i < h->soft_and_weak->n && !progress_own_stops(i); i++)
		*n += is_inactive(h, kind, h->soft_and_weak->reference[i].holder);
	big_free(kind);
	return 0;
}

/* Those that are no soft ones, and hold all the same. */
static int write_inactive(const struct heap *h, struct chunks_writer *to, struct err *err)
{
	uint32_t *inactive = NULL;
	size_t n = 0, cap = 0;
	uint8_t *kind = weak_kinds(h, err);
	int code = kind ? 0 : ERR_NOMEM;
	for (size_t i = 0; !code && i < h->soft_and_weak->n && !progress_own_stops(i); i++) {
		uint32_t holder = h->soft_and_weak->reference[i].holder;
		uint32_t *at = is_inactive(h, kind, holder) ? BIG_PUSH(inactive, n, cap, err) : NULL;
		if (at)
			*at = holder;
		else if (is_inactive(h, kind, holder))
			code = ERR_NOMEM;
	}
	if (!code)
		code = progress_check(progress_own(), err);
	if (!code)
		code = chunks_add_numbers(to, inactive_chunk, inactive, n, sizeof *inactive, false, err);
	big_free(kind);
	big_free(inactive);
	return code;
}

int weak_write(const struct heap *h, struct chunks_writer *to, struct err *err)
{
	const struct weak_references *w = h->soft_and_weak;
	int code = w ? chunks_add_numbers(to, chunk, w->reference, 2 * w->n, sizeof w->reference->holder, false, err) : 0;
	return w && !code ? write_inactive(h, to, err) : code;
}

static int take_chunk(const struct heap *h, const char *name, void *to, uint64_t *n, struct err *err)
{
	const void *bytes;
	int code = chunks_take(index_file_chunks(h), name, &bytes, n, err);
	if (code)
		return code;
	memcpy(to, &bytes, sizeof bytes); /* read only, as all that was found is */
	return chunks_check(index_file_chunks(h), &(struct chunk_look){ .name = name, .bytes = bytes }, 1, err);
}

/* Out of the index, each number held against the heap. */
static int take_saved(struct finding *f, const struct heap *h, struct err *err)
{
	uint64_t n = 0, n_inactive = 0;
	bool holds = true;
	int code = bits_init(&f->all->holders, h->n_objects, err);
	if (!code)
		code = take_chunk(h, chunk, &f->all->reference, &n, err);
	if (!code)
		code = take_chunk(h, inactive_chunk, &f->inactive, &n_inactive, err);
	f->all->n = code ? 0 : n / sizeof *f->all->reference;
	f->n = code ? 0 : n_inactive / sizeof *f->inactive;
	for (size_t i = 0; i < f->all->n && holds; i++) {
		const struct weak_reference *r = &f->all->reference[i];
		holds = r->holder < h->n_objects && r->referent < h->n_objects && !(i && r[-1].holder >= r->holder);
		if (holds)
			bits_set(&f->all->holders, r->holder);
	}
	for (size_t i = 0; i < f->n && holds; i++)
		holds = f->inactive[i] < h->n_objects;
	return code || holds ? code : err_set(err, ERR_FORMAT, "the weak references in the index are damaged");
}

static void drop_found(struct finding *f)
{
	weak_release(f->all);
	big_free(f->inactive);
	*f = (struct finding){.all = f->all};
}

static int find_soft_and_weak(struct finding *f, const struct heap *h, struct progress *progress, struct err *err)
{
	int code = is_saved(h) ? take_saved(f, h, err) : find_all(f, h, progress, err);
	if (!is_saved(h) || (code != ERR_FORMAT && code != ERR_IO) || !values_held(h))
		return code;
	drop_found(f); /* the dump has them, too */
	return find_all(f, h, progress, err);
}

/* The same without what holds: soft ones, and those that are inactive. */
static int leave_out_holding(struct weak_references *out, const struct finding *f, const struct heap *h,
    struct err *err)
{
	const struct weak_references *all = f->all;
	uint8_t *kind = weak_kinds(h, err);
	int code = kind ? bits_init(&out->holders, h->n_objects, err) : ERR_NOMEM;
	for (size_t i = 0; !code && i < all->n && !progress_own_stops(i); i++)
		if (kind[heap_class_index(h, all->reference[i].holder)] != WEAK_SOFT)
			bits_set(&out->holders, all->reference[i].holder);
	for (size_t i = 0; !code && i < f->n && !progress_own_stops(i); i++)
		out->holders.word[f->inactive[i] >> 6] &= ~(UINT64_C(1) << (f->inactive[i] & 63));
	big_free(kind);
	out->reference = all->reference;
	out->n = all->n;
	out->borrowed = true;
	return code ? code : progress_check(progress_own(), err);
}

int weak_find(struct heap *h, struct progress *progress, struct err *err)
{
	if (!weak_known(h))
		return 0;
	weak_forget(h);
	h->soft_and_weak = xcalloc(1, sizeof *h->soft_and_weak);
	h->weak = xcalloc(1, sizeof *h->weak);
	struct finding f = {.all = h->soft_and_weak};
	int code = find_soft_and_weak(&f, h, progress, err);
	if (!code)
		code = leave_out_holding(h->weak, &f, h, err);
	big_free(f.inactive);
	if (code)
		weak_forget(h);
	return code;
}

void weak_forget(struct heap *h)
{
	if (h->weak)
		weak_release(h->weak);
	if (h->soft_and_weak)
		weak_release(h->soft_and_weak);
	free(h->weak);
	free(h->soft_and_weak);
	h->weak = h->soft_and_weak = NULL;
}

void weak_release(struct weak_references *w)
{
	bits_release(&w->holders);
	if (!w->borrowed)
		big_free(w->reference);
	*w = (struct weak_references){.n = 0};
}

uint32_t weak_referent(const struct weak_references *w, uint32_t holder)
{
	size_t at;
	BISECT(at, w->n, w->reference[at].holder < holder);
	return at < w->n ? w->reference[at].referent : HEAP_NONE;
}

/* --- reference objects, whatever they hold -------------------------------------------------------- */

static uint32_t referent_of(const struct heap *h, uint32_t id, const struct field_place *place, struct view_walk *walk)
{
	struct values values;
	struct value value;
	if (values_open_along(&values, h, id, walk, NULL) || !values_at(&values, place, &value))
		return REFERENT_UNREAD;
	if (!value.bits)
		return REFERENT_NULL;
	uint32_t referent = value_object_id(h, &value);
	return referent == HEAP_NONE ? REFERENT_LOST : referent;
}

/* Out of the values of all instances. */
static int read_referents(struct reference_objects *out, const struct heap *h, const uint8_t *kind,
    struct progress *progress, struct err *err)
{
	struct view_walk walk = {.run = 0};
	size_t cap = 0;
	struct weak_way *way = weak_ways(h, err);
	int code = way ? 0 : ERR_NOMEM;
	for (uint32_t id = 0; id < h->n_objects && !code; id++) {
		uint32_t class = heap_class_index(h, id);
		if (id % CANCEL_EVERY == 0 && !progress_add(progress, CANCEL_EVERY))
			code = err_cancelled(err);
		else if (holds_weakly(h, way, class)) {
			struct reference_object *at = BIG_PUSH(out->at, out->n, cap, err);
			if (at)
				*at = (struct reference_object){id, referent_of(h, id, &way[class].place, &walk), kind[class]};
			else
				code = ERR_NOMEM;
		}
	}
	big_free(way);
	return code;
}

int reference_objects_find(struct reference_objects *out, const struct heap *h, struct progress *progress,
    struct err *err)
{
	const struct weak_references *held = h->soft_and_weak;
	*out = (struct reference_objects){.only_held = !values_held(h)};
	uint8_t *kind = weak_kinds(h, err);
	int code = kind ? 0 : ERR_NOMEM;
	progress_phase(progress, PHASE_FIND_WEAK, h->n_objects);
	if (!code && !out->only_held) {
		code = read_referents(out, h, kind, progress, err);
	} else if (!code && held) {
		out->at = big_alloc(held->n, sizeof *out->at, err);
		code = out->at ? 0 : ERR_NOMEM;
		for (size_t i = 0; !code && i < held->n; i++) {
			uint32_t holder = held->reference[i].holder;
			if (progress_stops(progress, i))
				code = err_cancelled(err);
			else if (kind[heap_class_index(h, holder)] != WEAK_KINDS)
				out->at[out->n++] = (struct reference_object){holder, held->reference[i].referent,
				    kind[heap_class_index(h, holder)]};
		}
	}
	big_free(kind);
	if (code)
		reference_objects_release(out);
	return code;
}

void reference_objects_release(struct reference_objects *r)
{
	big_free(r->at);
	*r = (struct reference_objects){.n = 0};
}
