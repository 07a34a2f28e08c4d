/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vm_roots.c - which JNI globals are the VM's own.
 *
 * HotSpot's writer lists its own handles among the JNI globals (heapDumper.cpp: what Universe keeps is
 * walked by the same closure): mirrors of primitive types, errors made in advance, the roots of the
 * class archive.  No native code made them, so nobody can clear them.  They lie apart from those of
 * programs: in static variables up to JDK 8, from 9 on in blocks of 64 handles of a storage of their own
 * (oopStorage.hpp), where at least 8 words stand between the handles of one block and those of the next.
 * So handles with less than that between them are of one table, and a table that has the mirror of a
 * primitive type is the VM's; so is one of nothing but MethodTypes, its cache of invokers.
 */
#include "heap/build/build.h"

#include "algorithms/sort.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "memory/big.h"

#include <string.h>

enum { APART = 8 }; /* words */

static int by_slot(const void *x, const void *y)
{
	const struct heap_root *const *a = x, *const *b = y;
	return ((*a)->slot > (*b)->slot) - ((*a)->slot < (*b)->slot);
}

static bool is_table_of_vm(const struct heap *h, struct heap_root *const *handle, size_t n)
{
	size_t n_method_types = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t id = handle[i]->object;
		if (heap_class_index(h, id) == h->java_lang_class && heap_class_mirrored(h, id) == HEAP_NONE)
			return true;
		n_method_types += !strcmp(heap_class_of(h, id)->name, "java.lang.invoke.MethodType");
	}
	return n_method_types == n;
}

int vm_roots_mark(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	size_t n = 0;
	if (h->java_lang_class == HEAP_NONE)
		return 0;
	for (size_t i = 0; i < h->n_roots; i++)
		n += h->roots[i].kind == ROOT_JNI_GLOBAL && h->roots[i].slot;
	if (!n)
		return 0;
	struct heap_root **handle = big_alloc(n, sizeof *handle, err);
	if (!handle)
		return ERR_NOMEM;
	n = 0;
	for (size_t i = 0; i < h->n_roots && !build_stops(b, i); i++)
		if (h->roots[i].kind == ROOT_JNI_GLOBAL && h->roots[i].slot)
			handle[n++] = &h->roots[i];
	int code = sort(handle, n, sizeof(struct heap_root *), by_slot, err);
	for (size_t i = 0, end; !code && i < n; i = end) {
		for (end = i + 1; end < n && handle[end]->slot - handle[end - 1]->slot <
		    (uint64_t)APART * h->facts.word_bits / 8; end++)
			;
		bool vms_own = is_table_of_vm(h, handle + i, end - i);
		for (size_t k = i; k < end; k++)
			handle[k]->vms_own = vms_own;
	}
	/* Which handle it is says nothing more: two to one object are one root. */
	for (size_t i = 0; i < n; i++)
		handle[i]->slot = 0;
	big_free(handle);
	return code;
}
