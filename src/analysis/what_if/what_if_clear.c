/* SPDX-License-Identifier: GPL-3.0-or-later */
/* what_if_clear.c - which references the program's authors can make go away (what_if.h). */
#include "analysis/what_if/what_if.h"

#include "analysis/describe/describe.h"
#include "heap/classes.h"
#include "heap/roots.h"

#include <string.h>

/* Its list of objects that wait for their finalizers is the VM's. */
static bool is_finalizer(const struct heap *h, uint32_t id)
{
	return h->java_lang_class != HEAP_NONE && !strcmp(heap_class_of(h, id)->name, "java.lang.ref.Finalizer");
}

/* The stack of a virtual thread goes when the thread ends. */
static bool is_stack(const struct heap *h, uint32_t id)
{
	return h->java_lang_class != HEAP_NONE && !strcmp(heap_class_of(h, id)->name, "jdk.internal.vm.StackChunk");
}

/* Of a class object: does a static field of the source code hold the target?  Others have names like
 * <resolved_references>. */
static bool holds_by_static(const struct heap *h, uint32_t holder, uint32_t target)
{
	static const char made[] = "static <";
	struct reference_names names;
	struct text name = TEXT_INIT;
	bool any = false, by_static = false;
	reference_names_begin(&names, h, holder);
	while (!by_static && reference_names_next(&names, target, &name)) {
		any = true;
		by_static = strncmp(name.s, made, sizeof made - 1) != 0;
		text_clear(&name);
	}
	text_release(&name);
	return by_static || !any; /* without a name the dump tells no names at all */
}

bool what_if_clearable(const struct heap *h, uint32_t holder, uint32_t target)
{
	struct implied_reference implied[HEAP_IMPLIED];
	if (holder == HEAP_NONE) {
		size_t first, n = heap_roots_of(h, target, &first);
		for (size_t i = 0; i < n; i++)
			if (!heap_root_clearable(&h->roots[first + i]))
				return false;
		return true;
	}
	for (unsigned i = heap_implied(h, holder, implied); i-- > 0;)
		if (implied[i].target == target)
			return false;
	if (heap_class_mirrored(h, holder) != HEAP_NONE)
		return holds_by_static(h, holder, target);
	return !is_finalizer(h, holder) && !is_stack(h, target);
}
