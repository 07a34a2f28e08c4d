/* SPDX-License-Identifier: GPL-3.0-or-later */
/* leaks_card.c - what a card says about a suspect, in a few words each: see leaks_told.h. */
#include "command/retention/leaks_told.h"

#include "analysis/describe/describe.h"
#include "base/text.h"
#include "command/retention/heap_labels.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <inttypes.h>
#include <string.h>

enum { CHILDREN_LOOKED_AT = 1 << 20, PARTS_NAMED = 2, MANY = 10 };

static void add_bytes(struct text *to, struct amount bytes)
{
	struct cell cell = cell_bytes(bytes);
	cell_print(&cell, to);
}

/* The object that the card is about. */
static uint32_t subject_of(const struct told *t, const struct suspect *s)
{
	return t->subject != HEAP_NONE ? t->subject : s->id;
}

bool told_frees_little(const struct told *t)
{
	return t->freed.n && !t->untold && t->freed.n < t->suspect->retained.n / 10;
}

/* Is it half of what the suspect retains, or more? */
static bool is_half(struct amount bytes, const struct suspect *s)
{
	return bytes.n >= s->retained.n - s->retained.n / 2;
}

enum told_name told_named_by(const struct told *t, const struct retained *r, const struct suspect *s)
{
	if (s->ids || t->untold)
		return TOLD_BY_CLASS;
	if (t->names.n && (t->label.len || strncmp(t->names.name[0].s, "0x", 2)) && is_half(t->freed, s))
		return TOLD_BY_REFERENCE;
	if (t->field.len && t->field_target != HEAP_NONE && is_half(retained_of(r, t->field_target), s))
		return TOLD_BY_FIELD;
	return TOLD_BY_CLASS;
}

void told_add_names(struct text *to, const struct told *t, bool whole)
{
	const char *of_class = path_static_name(t->label.len ? t->label.s : "");
	if (t->names.n != 1 || !t->label.len)
		told_names_join(&t->names, " + ", to);
	else
		text_add(to, of_class ? of_class : t->label.s);
	if (t->names.n == 1 && t->label.len && whole)
		text_addf(to, of_class ? " of class %.*s" : " of %.*s",
		    (int)strcspn(t->names.name[0].s, ".[>"), t->names.name[0].s);
}

/* Whose static field the name is, or which class it is; HEAP_NONE: none. */
static uint32_t class_of_name(const struct told *t, const struct retained *r, const struct suspect *s)
{
	uint32_t holder = s->ids ? HEAP_NONE : s->id;
	if (told_named_by(t, r, s) == TOLD_BY_REFERENCE)
		holder = t->n_cleared == 1 ? t->cleared[0].holder : HEAP_NONE;
	return holder == HEAP_NONE ? HEAP_NONE : heap_class_mirrored(r->heap, holder);
}

void told_add_loader(struct told *t, const struct retained *r, const struct suspect *s)
{
	const struct heap *h = r->heap;
	uint32_t class = class_of_name(t, r, s);
	t->loader = class == HEAP_NONE ? HEAP_NONE : h->classes[class].loader;
	if (t->loader == HEAP_NONE)
		return;
	text_add(&t->sentence, " Class ");
	text_add_name(&t->sentence, h->classes[class].name);
	text_add(&t->sentence, " is loaded by ");
	text_add_name(&t->sentence, heap_class_of(h, t->loader)->name);
	text_addf(&t->sentence, " 0x%" PRIx64 ".", heap_address(h, t->loader));
}

/* --- which kind of holder ------------------------------------------------------------------------ */

static void add_number_of(struct text *to, const struct opened *o, uint32_t id, uint32_t store)
{
	struct told_elements e;
	if (!told_find_elements(&e, o, id, store, NULL, NULL))
		return;
	text_add(to, " \u00b7 ");
	text_add_count(to, e.n);
}

void told_add_holder_kind(struct text *to, const struct told *t, const struct opened *o, const struct retained *r,
    const struct suspect *s)
{
	const struct heap *h = o->heap;
	uint32_t id = subject_of(t, s);
	enum told_name by = told_named_by(t, r, s);
	bool named = t->kind && t->freed.n && !t->untold && !s->ids && is_half(t->freed, s);
	if (by == TOLD_BY_CLASS && !s->ids && heap_class_mirrored(h, id) != HEAP_NONE)
		return; /* its name says so */
	if (named)
		text_add(to, t->kind);
	if (named && t->together < 2)
		text_add_char(to, ' ');
	if (s->ids)
		text_add(to, "group");
	else if (named && t->together > 1)
		; /* the names take the room */
	else if (heap_class_mirrored(h, id) != HEAP_NONE)
		text_add(to, "class");
	else
		text_add(to, heap_brief_name(h, heap_class_of(h, id)->name));
	if (!s->ids)
		add_number_of(to, o, id, s->piles_up);
}

/* --- what is in it ------------------------------------------------------------------------------- */

/* What the elements hold: the class whose objects right below them retain most, and by which field all of these are
 * held, if it is one. */
struct held {
	const struct retained *r;
	struct what_if *cut;
	uint32_t above;  /* the subject */
	uint64_t below, looked; /* elements that only it holds; children looked at */
	uint32_t *class; /* classes found, with what their objects retain */
	uint64_t *bytes;
	size_t n;
	uint32_t most;   /* the class to name, in the second look */
	struct text field;
	bool same_field, any;
};
enum { CLASSES_HELD = 32 };

static void add_child(struct held *held, uint32_t class, uint64_t bytes)
{
	size_t i = 0;
	while (i < held->n && held->class[i] != class)
		i++;
	if (i == CLASSES_HELD) /* what comes so late is hardly the most */
		return;
	held->n += i == held->n;
	held->class[i] = class;
	held->bytes[i] += bytes;
}

/* An element: what it holds by itself. */
static void look_at_element(void *context, uint32_t id)
{
	struct held *held = context;
	uint32_t n;
	const uint32_t *child = retained_children(held->r, id, &n);
	if (!what_if_below(held->cut, id, held->above))
		return;
	held->below++;
	for (uint32_t i = 0; i < n && held->looked < CHILDREN_LOOKED_AT && !progress_own_stops(i); i++, held->looked++)
		add_child(held, heap_class_index(held->r->heap, child[i]), retained_of(held->r, child[i]).n);
}

static void look_at_field(void *context, uint32_t id)
{
	struct held *held = context;
	const struct heap *h = held->r->heap;
	struct text field = TEXT_INIT;
	uint32_t n;
	const uint32_t *child = retained_children(held->r, id, &n);
	for (uint32_t i = 0; held->same_field && i < n && !progress_own_stops(i); i++) {
		struct reference_names names;
		if (heap_class_index(h, child[i]) != held->most || !what_if_below(held->cut, id, held->above))
			continue;
		text_clear(&field);
		reference_names_begin(&names, h, id);
		held->same_field = reference_names_next(&names, child[i], &field) && field.len && field.s[0] != '[' &&
		    (!held->any || !strcmp(field.s, held->field.s));
		if (!held->any)
			text_add(&held->field, field.s ? field.s : "");
		held->any = true;
	}
	text_release(&field);
}

/* "; mostly byte[] in viewState (60.9K)": where the elements hold it by themselves. */
static void add_most(struct text *to, const struct opened *o, struct held *held, uint32_t id, uint32_t store)
{
	struct told_elements again;
	size_t best = 0;
	for (size_t i = 1; i < held->n; i++)
		if (held->bytes[i] > held->bytes[best])
			best = i;
	if (!held->n || held->bytes[best] <= retained_of(held->r, held->above).n / 2)
		return;
	held->most = held->class[best];
	held->same_field = true;
	(void)told_find_elements(&again, o, id, store, look_at_field, held);
	text_add(to, "; mostly ");
	text_add_name(to, held->r->heap->classes[held->most].name);
	if (held->same_field && held->any)
		text_addf(to, " in %s", held->field.s);
	text_add(to, " (");
	add_bytes(to, heap_held_sized(held->r->heap, held->bytes[best], 0));
	text_add(to, ")");
}

/* "60 com.acme.shop.Session, reached only from here" */
static bool add_elements(struct text *to, const struct opened *o, struct held *held, uint32_t id, uint32_t store)
{
	struct told_elements e;
	if (!told_find_elements(&e, o, id, store, look_at_element, held) || e.class == HEAP_NONE)
		return false;
	text_add_count(to, e.of_class);
	if (e.of_class < e.n) {
		text_add(to, e.looked < e.n ? " of the first " : " of ");
		text_add_count(to, e.looked);
		text_add(to, " elements are");
	}
	text_add(to, " ");
	text_add_name(to, held->r->heap->classes[e.class].name);
	if (held->below == e.of_class)
		text_add(to, ", reached only from here");
	if (e.looked == e.n)
		add_most(to, o, held, id, store);
	text_add(to, ".");
	return true;
}

/* Objects that only the subject holds: one, or all of a class where these are many. */
struct held_part {
	uint64_t bytes;
	uint32_t n, child; /* child: one of them */
};

/* Keep it if it is one of the largest. */
static void keep_largest(struct held_part *largest, uint32_t *n, const struct held_part *one)
{
	uint32_t at = *n < PARTS_NAMED ? (*n)++ : PARTS_NAMED;
	for (; at && one->bytes > largest[at - 1].bytes; at--)
		if (at < PARTS_NAMED)
			largest[at] = largest[at - 1];
	if (at < PARTS_NAMED)
		largest[at] = *one;
}

static uint32_t find_parts(const struct retained *r, uint32_t id, struct held_part *largest)
{
	const struct heap *h = r->heap;
	uint32_t n, found = 0;
	const uint32_t *child = retained_children(r, id, &n);
	struct held_part *of_class = big_alloc(h->n_classes, sizeof *of_class, NULL);
	for (uint32_t i = 0; of_class && i < n && !progress_own_stops(i); i++) {
		struct held_part *to = &of_class[heap_class_index(h, child[i])];
		*to = (struct held_part){to->bytes + retained_size(r, child[i]), to->n + 1, child[i]};
	}
	for (uint32_t i = 0; of_class && i < n && !progress_own_stops(i); i++)
		if (of_class[heap_class_index(h, child[i])].n < MANY)
			keep_largest(largest, &found, &(struct held_part){retained_size(r, child[i]), 1, child[i]});
	for (size_t class = 0; of_class && class < h->n_classes; class++)
		if (of_class[class].n >= MANY)
			keep_largest(largest, &found, &of_class[class]);
	big_free(of_class);
	return found;
}

/* "2,000 app.Session (>=594K)", "orders java.util.TreeMap (72.0K)" */
static void add_part(struct text *to, const struct retained *r, uint32_t id, const struct held_part *part)
{
	struct reference_names names;
	struct text field = TEXT_INIT;
	struct amount bytes = retained_of(r, part->child);
	if (part->n > 1) {
		bytes.n = part->bytes;
		bytes = amount_weaken(bytes, LOWER_BOUND, REASON_JOINT); /* some may be held by several of them */
		text_add_count(&field, part->n);
	} else {
		reference_names_begin(&names, r->heap, id);
		(void)reference_names_next(&names, part->child, &field);
	}
	if (field.len)
		text_addf(to, "%s ", field.s);
	text_add_name(to, heap_class_of(r->heap, part->child)->name);
	text_add(to, " (");
	add_bytes(to, bytes);
	text_add(to, ")");
	text_release(&field);
}

/* "Largest parts: 2,000 app.Session (>=594K), orders java.util.TreeMap (72.0K)." of an object without elements. */
static void add_parts(struct text *to, const struct retained *r, uint32_t id)
{
	struct held_part largest[PARTS_NAMED];
	uint32_t n = find_parts(r, id, largest);
	for (uint32_t i = 0; i < n; i++) {
		text_add(to, i ? ", " : n == 1 ? "Largest part: " : "Largest parts: ");
		add_part(to, r, id, &largest[i]);
	}
	text_add(to, n ? "." : "");
}

void told_add_many(struct text *to, const struct opened *o, const struct retained *r, const struct told *t,
    const struct suspect *s)
{
	struct held_part largest[PARTS_NAMED];
	struct told_elements e;
	if ((told_find_elements(&e, o, told_point(r, t, s), s->piles_up, NULL, NULL) && e.class != HEAP_NONE) ||
	    !find_parts(r, s->piles_up, largest) || largest[0].n < 2 ||
	    largest[0].bytes <= retained_of(r, s->piles_up).n / 2)
		return;
	text_add(to, " Most of it is ");
	add_part(to, r, s->piles_up, &largest[0]);
	text_add(to, ".");
}

/* Objects of a group's class that a class object or a loader alone holds: no suspect has them, the heap's tree does. */
static uint64_t held_by_classes(const struct retained *r, const struct suspect *s)
{
	const struct heap *h = r->heap;
	uint32_t class = heap_class_index(h, s->id), k = 0;
	uint64_t n = 0;
	for (uint32_t id = 0; id < h->n_objects; id++) {
		if (heap_class_index(h, id) != class)
			continue;
		uint32_t up = r->dominators.immediate[id];
		bool member = k < s->n && s->ids[k] == id;
		k += member;
		n += !member && up < NOT_REACHABLE &&
		    (heap_class_mirrored(h, up) != HEAP_NONE || heap_class_of(h, up)->makes_loaders);
	}
	return n;
}

static void add_of_group(struct text *to, const struct retained *r, const struct told *t, const struct suspect *s)
{
	text_add(to, t->reference.len ? "The largest retains " : "All over the heap; the largest retains ");
	add_bytes(to, retained_of(r, s->id));
	text_add(to, ".");
	uint64_t others = held_by_classes(r, s);
	if (!others)
		return;
	text_add(to, " ");
	text_add_count(to, others);
	text_addf(to, " more that only a class or a loader holds %s not counted.", others == 1 ? "is" : "are");
}

void told_add_contents(struct text *to, const struct opened *o, struct what_if *cut, const struct told *t,
    const struct suspect *s)
{
	const struct retained *r = cut->retained;
	uint32_t class[CLASSES_HELD], link, id = subject_of(t, s);
	uint64_t bytes[CLASSES_HELD] = {0};
	struct held held = {.r = r, .cut = cut, .above = id, .class = class, .bytes = bytes};
	if (s->ids) {
		add_of_group(to, r, t, s);
	} else if (s->chain && leaks_largest_children(r, s->id, &link, 1)) {
		text_add(to, "Nearly all of it is in a chain of ");
		text_add_name(to, heap_class_of(r->heap, link)->name);
		text_add(to, ".");
	} else if (!add_elements(to, o, &held, told_point(r, t, s), s->piles_up)) {
		add_parts(to, r, s->piles_up);
	}
	text_release(&held.field);
}

/* --- what to do ---------------------------------------------------------------------------------- */

void told_add_remedy(struct text *to, const struct told *t, const struct suspect *s)
{
	if (!t->freed.n || t->untold || !t->names.n) {
		text_add(to, t->remedy.len ? t->remedy.s : "No strong reference from a root leads to it.");
		return;
	}
	if (told_frees_little(t) && !t->together) {
		text_add(to, s->ids ? "No single reference on the path frees a tenth of them. " :
		    "None of its references frees a tenth of it. ");
		told_add_names(to, t, true);
		text_add(to, s->ids ? " leads to the largest" : " holds the largest part");
		text_add(to, "; clearing that frees ");
		add_bytes(to, t->freed);
		text_add(to, ".");
		return;
	}
	text_add(to, t->names.n < 2 ? "CLEAR " : t->names.n == 2 ? "CLEAR both " : "CLEAR all of ");
	told_add_names(to, t, true);
	text_add(to, " \u2192 frees ");
	add_bytes(to, t->freed);
	bool others = t->freed.n > s->retained.n;
	if (t->some && !s->ids && !others) {
		text_add(to, " of ");
		add_bytes(to, s->retained);
	} else if (t->some) {
		text_add(to, others ? ": not all, others too" : ", not all of these objects");
	} else if (others) {
		text_add(to, ", others too");
	}
}
