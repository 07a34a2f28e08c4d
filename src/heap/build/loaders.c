/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loaders.c - which object loaded each class.
 *
 * What tells the loader of a class, most trusted first:
 *   1. what the class record states;
 *   2. the first reference of the class record, where the format puts the loader there (OpenJ9
 *      PHD) and the reference leads to a loader object;
 *   3. the javacore's list of loaded classes, where only one loader has a class of that name.  It also replaces the
 *      boot loader as first reference, which hidden classes have that another loader of the VM made.
 * A class for which none of these tells a loader was loaded by the boot loader, if the format tells
 * loaders at all.  One whose loader is recorded, but is not an object of the dump, was not: it is in the part of the
 * dump that was not read, as a rule.
 */
#include "heap/build/build.h"

#include "algorithms/sort.h"
#include "heap/classes.h"
#include "heap/index.h"
#include "memory/big.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool ends_with(const struct class_name *name, const char *end)
{
	size_t m = strlen(end);
	return name->n >= m && !strcmp(name->internal + name->n - m, end);
}

/* Which classes have loaders as instances: by the superclass chain, or by name where the dump records
 * no superclasses or java.lang.ClassLoader is not among its classes.  Each chain is walked up to the
 * first class that is settled already. */
static void mark_loader_classes(struct build *b)
{
	static const char class_loader[] = "java/lang/ClassLoader";
	struct heap *h = b->heap;
	uint32_t top = class_named(b, class_loader, strlen(class_loader), HEAP_NONE);
	bool *settled = big_alloc(h->n_classes, sizeof *settled, &b->lost);
	if (!settled)
		return;
	for (uint32_t i = 0; i < h->n_classes && !build_stops(b, i); i++) {
		if (!h->facts.references_superclass_recorded || top == HEAP_NONE) {
			h->classes[i].makes_loaders = ends_with(build_class_name(b, i), "ClassLoader");
			continue;
		}
		uint32_t up = i;
		while (up != HEAP_NONE && up != top && !settled[up])
			up = h->classes[up].superclass;
		bool makes_loaders = up != HEAP_NONE && (up == top || h->classes[up].makes_loaders);
		for (uint32_t c = i; c != up; c = h->classes[c].superclass) {
			h->classes[c].makes_loaders = makes_loaders;
			settled[c] = true;
		}
	}
	if (top != HEAP_NONE)
		h->classes[top].makes_loaders = true;
	big_free(settled);
}

static bool is_loader_object(const struct build *b, uint32_t id)
{
	const struct heap *h = b->heap;
	if (id == HEAP_NONE || heap_class_index(h, id) == handle_of_class_objects(b))
		return false;
	uint32_t class = b->handles[heap_class_index(h, id)].resolved;
	return class != HEAP_NONE && h->classes[class].makes_loaders;
}

static void find_in_records(struct build *b)
{
	struct heap *h = b->heap;
	for (uint32_t i = 0; i < b->n_defined; i++) {
		const struct count_pass_class *c = &b->defined[i];
		uint64_t address = c->loader;
		if (!address && h->facts.loader_is_first_reference && c->n_references)
			address = c->references[0];
		uint32_t id = address ? index_find(h->index, address) : HEAP_NONE;
		if (is_loader_object(b, id))
			h->classes[i].loader = id;
		/* of a first reference nobody knows that it is a loader; if nothing is missing, it is none */
		h->classes[i].loader_lost = address && id == HEAP_NONE && (c->loader || h->incomplete);
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct javacore_class *)a)->name, ((const struct javacore_class *)b)->name);
}

/* The javacore's word for classes that still have none or have the boot loader, where only one loader has that name. */
static void find_in_javacore(struct build *b, uint32_t boot)
{
	const struct javacore *j = b->javacore;
	struct heap *h = b->heap;
	struct javacore_class *sorted = big_alloc(j->n_classes, sizeof *sorted, &b->lost);
	if (!sorted)
		return;
	if (j->n_classes)
		memcpy(sorted, j->classes, j->n_classes * sizeof *sorted);
	int code = sort(sorted, j->n_classes, sizeof *sorted, by_name, &b->lost);
	for (uint32_t i = 0; i < b->n_defined && !code && !build_stops(b, i); i++) {
		bool may_be_other = h->classes[i].loader == boot && !b->defined[i].loader;
		if (h->classes[i].loader != HEAP_NONE && !may_be_other)
			continue;
		struct javacore_class key = { .name = build_class_name(b, i)->internal };
		struct javacore_class *found = find_sorted(&key, sorted, j->n_classes, sizeof *sorted, by_name);
		if (!found)
			continue;
		bool unique = (found == sorted || by_name(found - 1, &key)) &&
		    (found + 1 == sorted + j->n_classes || by_name(found + 1, &key));
		uint32_t id = index_find(h->index, found->loader);
		if (!unique || id == HEAP_NONE)
			continue;
		h->classes[i].loader = id;
		h->classes[i].loader_lost = false;
	}
	big_free(sorted);
}

/* The loader of java.lang.Object; else the javacore's *System*; else the one object of OpenJ9's own
 * boot loader class. */
static uint32_t find_boot_loader(struct build *b)
{
	const struct heap *h = b->heap;
	uint32_t object = class_named(b, "java/lang/Object", strlen("java/lang/Object"), HEAP_NONE);
	if (object != HEAP_NONE && h->classes[object].loader != HEAP_NONE)
		return h->classes[object].loader;
	for (size_t i = 0; b->javacore && i < b->javacore->n_loaders; i++) {
		uint32_t id = index_find(h->index, b->javacore->loaders[i].address);
		if (b->javacore->loaders[i].system && id != HEAP_NONE)
			return id;
	}
	static const char boot_class[] = "com/ibm/oti/vm/BootstrapClassLoader";
	uint32_t class = class_named(b, boot_class, strlen(boot_class), HEAP_NONE);
	for (uint32_t id = 0; class != HEAP_NONE && id < h->n_objects && !build_stops(b, id); id++)
		if (heap_class_index(h, id) != handle_of_class_objects(b) &&
		    b->handles[heap_class_index(h, id)].resolved == class)
			return id;
	return HEAP_NONE;
}

static void keep_parents(struct build *b)
{
	const struct javacore *j = b->javacore;
	struct heap *h = b->heap;
	h->loader_parents = big_alloc(j->n_loaders, sizeof *h->loader_parents, &b->lost);
	for (size_t i = 0; h->loader_parents && i < j->n_loaders; i++) {
		uint32_t loader = index_find(h->index, j->loaders[i].address);
		if (loader == HEAP_NONE)
			continue;
		uint32_t parent = j->loaders[i].parent
		    ? index_find(h->index, j->loaders[i].parent) : HEAP_NONE;
		if (parent == HEAP_NONE && j->loaders[i].parent)
			continue; /* it has one, of which nothing is known here */
		h->loader_parents[h->n_loader_parents++] = (struct loader_parent){ loader, parent };
	}
}

void loaders_find(struct build *b)
{
	struct heap *h = b->heap;
	mark_loader_classes(b);
	find_in_records(b);
	if (b->javacore) {
		find_in_javacore(b, find_boot_loader(b));
		keep_parents(b);
	}
	h->boot_loader = find_boot_loader(b);
	if (h->facts.loader_is_first_reference)
		for (uint32_t i = 0; i < b->n_defined; i++)
			if (heap_class_has_no_loader(&h->classes[i]))
				h->classes[i].loader = h->boot_loader;
}
