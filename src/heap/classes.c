/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * classes.c - see classes.h.
 *
 * The order of the classes' names is found once.  Classes that share a name share its bytes, so texts are compared only
 * where their places differ: two classes of one name cost nothing, however long it is.
 */
#include "heap/classes.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "base/assert.h"
#include "memory/big.h"

#include <string.h>

uint32_t heap_class_mirrored(const struct heap *h, uint32_t id)
{
	cairn_assert(id < h->n_objects);
	if (!heap_has_class(h, id, h->java_lang_class))
		return HEAP_NONE;
	uint64_t address = heap_address(h, id);
	uint32_t at;
	BISECT(at, h->n_defined_classes, h->classes[at].address < address);
	return at < h->n_defined_classes && h->classes[at].object == id ? at : HEAP_NONE;
}

static bool holds_classes(const struct heap *h, uint32_t id)
{
	return h->facts.loaders_hold_classes &&
	    (heap_class_of(h, id)->makes_loaders || id == h->boot_loader);
}

bool heap_loader_holds(const struct heap *h, uint32_t class)
{
	cairn_assert(class < h->n_classes);
	uint32_t loader = h->classes[class].loader;
	return class < h->n_defined_classes && loader != HEAP_NONE && holds_classes(h, loader);
}

uint32_t heap_classes_of(const struct heap *h, uint32_t loader, const uint32_t **classes)
{
	uint32_t at, end;
	BISECT(at, h->n_defined_classes, h->classes[h->classes_by_loader[at]].loader < loader);
	BISECT(end, h->n_defined_classes, h->classes[h->classes_by_loader[end]].loader <= loader);
	*classes = h->classes_by_loader + at;
	return end - at;
}

uint32_t heap_loaded_classes(const struct heap *h, uint32_t id, const uint32_t **classes)
{
	return holds_classes(h, id) ? heap_classes_of(h, id, classes) : 0;
}

uint32_t heap_array_keeper(const struct heap *h, uint32_t class)
{
	uint32_t keeper = h->classes[class].kept_with;
	return keeper ? h->classes[keeper - 1].object : HEAP_NONE;
}

void heap_keep_arrays(struct heap *h)
{
	uint32_t object = HEAP_NONE;
	if (!h->facts.array_classes_kept || h->asked.mat_sizes)
		return;
	for (uint32_t c = 0; c < h->n_defined_classes && object == HEAP_NONE; c++)
		if (!strcmp(h->classes[c].name, "java.lang.Object"))
			object = c;
	for (uint32_t c = 0; c < h->n_defined_classes; c++) {
		struct heap_class *array = &h->classes[c];
		uint32_t with = array->kind == CLASS_PRIMITIVE_ARRAY ? object : array->component, n = 0;
		if (array->object == HEAP_NONE || with >= h->n_defined_classes || with == c ||
		    h->classes[with].object == HEAP_NONE ||
		    (array->kind != CLASS_PRIMITIVE_ARRAY && array->kind != CLASS_OBJECT_ARRAY))
			continue;
		for (uint32_t k = h->classes[with].keeps; k; k = h->classes[k - 1].next_kept)
			n++;
		if (n == HEAP_ARRAYS_KEPT)
			continue;
		array->kept_with = with + 1;
		array->next_kept = h->classes[with].keeps;
		h->classes[with].keeps = c + 1;
	}
}

/* --- names ------------------------------------------------------------------------------------- */

struct named {
	const char *name;
	uint32_t class;
};

static int by_place(const void *x, const void *y)
{
	const struct named *a = x, *b = y;
	int order = ((uintptr_t)a->name > (uintptr_t)b->name) - ((uintptr_t)a->name < (uintptr_t)b->name);
	return order ? order : (a->class > b->class) - (a->class < b->class);
}

static int by_text(const void *x, const void *y)
{
	return strcmp(((const struct named *)x)->name, ((const struct named *)y)->name);
}

/* The first class of each place to the front of the list; how many these are. */
static uint32_t gather(struct named *list, uint32_t n, uint32_t *first_of)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!kept || list[kept - 1].name != list[i].name)
			list[kept++] = list[i];
		first_of[list[i].class] = list[kept - 1].class;
	}
	return kept;
}

int heap_order_names(struct heap *h, struct err *err)
{
	struct named *list = big_alloc(h->n_classes, sizeof *list, err);
	uint32_t *first_of = list ? big_alloc(h->n_classes, sizeof *first_of, err) : NULL;
	int code = first_of ? 0 : ERR_NOMEM;
	for (uint32_t c = 0; code == 0 && c < h->n_classes; c++)
		list[c] = (struct named){ h->classes[c].name, c };
	if (code == 0)
		code = sort(list, h->n_classes, sizeof *list, by_place, err);
	uint32_t n = code == 0 ? gather(list, h->n_classes, first_of) : 0;
	if (code == 0)
		code = sort(list, n, sizeof *list, by_text, err);
	for (uint32_t i = 0, rank = 0; code == 0 && i < n; i++) {
		rank += i && by_text(&list[i - 1], &list[i]);
		h->classes[list[i].class].name_rank = rank;
	}
	for (uint32_t c = 0; code == 0 && c < h->n_classes; c++)
		h->classes[c].name_rank = h->classes[first_of[c]].name_rank;
	big_free(list);
	big_free(first_of);
	return code;
}

bool heap_names_repeat(const struct heap *h, const struct bits *classes)
{
	struct bits named;
	bool repeats = false;
	if (bits_init(&named, h->n_classes, NULL))
		return false;
	for (uint32_t c = 0; c < h->n_classes && !repeats; c++) {
		if (!bits_get(classes, c))
			continue;
		repeats = bits_get(&named, h->classes[c].name_rank);
		bits_set(&named, h->classes[c].name_rank);
	}
	bits_release(&named);
	return repeats;
}
