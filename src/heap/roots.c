/* SPDX-License-Identifier: GPL-3.0-or-later */
/* roots.c - see roots.h. */
#include "heap/roots.h"

#include "algorithms/bisect.h"
#include "base/assert.h"
#include "dump/reader.h"
#include "heap/heap.h"

const char *root_kind_name(enum root_kind kind)
{
	static const char *const names[ROOT_KINDS] = {
		[ROOT_UNKNOWN] = "Unknown",
		[ROOT_SYSTEM_CLASS] = "System class",
		[ROOT_JNI_LOCAL] = "JNI local",
		[ROOT_JNI_GLOBAL] = "JNI global",
		[ROOT_THREAD_BLOCK] = "Thread block",
		[ROOT_BUSY_MONITOR] = "Busy monitor",
		[ROOT_JAVA_LOCAL] = "Java local",
		[ROOT_NATIVE_STACK] = "Native stack",
		[ROOT_THREAD] = "Thread",
		[ROOT_FINALIZABLE] = "Finalizable",
		[ROOT_VM_INTERNAL] = "VM internal",
		[ROOT_DATA] = "Data segment",
		[ROOT_BSS] = "BSS segment",
		[ROOT_STACK_FRAME] = "Stack frame",
		[ROOT_FINALIZER] = "Finalizer function",
		[ROOT_FINALIZER_FIELD] = "Field of finalizable",
		[ROOT_DEFER] = "Defer",
		[ROOT_PANIC] = "Panic",
		[ROOT_INTERNED_STRING] = "Interned string",
		[ROOT_REFERENCE_CLEANUP] = "Reference cleanup",
		[ROOT_DEBUGGER] = "Debugger",
	};
	cairn_assert(kind < ROOT_KINDS);
	return names[kind];
}

bool heap_root_clearable(const struct heap_root *root)
{
	return !root->vms_own && root->kind != ROOT_SYSTEM_CLASS && root->kind != ROOT_THREAD &&
	    root->kind != ROOT_UNKNOWN && root->kind != ROOT_VM_INTERNAL && root->kind != ROOT_INTERNED_STRING &&
	    root->kind != ROOT_REFERENCE_CLEANUP && root->kind != ROOT_DEBUGGER;
}

bool heap_root_words(const struct heap *h, const struct heap_root *root, struct text *to)
{
	const struct reader *reader = h->dump ? h->dump->reader : NULL;
	return root->kind == ROOT_VM_INTERNAL && root->slot && reader && reader->memory &&
	    reader->memory->root_words(h->dump, root->slot, to);
}

enum { FEW_ROOTS = 4 }; /* of one object are counted, more are bisected */

size_t heap_roots_of(const struct heap *h, uint32_t id, size_t *first)
{
	size_t at;
	BISECT(at, h->n_roots, h->roots[at].object < id);
	size_t end = at;
	while (end < h->n_roots && end - at < FEW_ROOTS && h->roots[end].object == id)
		end++;
	if (end - at == FEW_ROOTS)
		BISECT(end, h->n_roots, h->roots[end].object <= id);
	*first = at;
	return end - at;
}

bool heap_is_root(const struct heap *h, uint32_t id)
{
	size_t first;
	return heap_roots_of(h, id, &first) > 0;
}

bool heap_roots_were_inferred(const struct heap *h)
{
	size_t i = 0;

	while (i < h->n_roots && (h->roots[i].certainty == EXACT || h->roots[i].kind == ROOT_SYSTEM_CLASS))
		i++;
	return h->facts.roots_recorded && !h->facts.locals_inferred && i < h->n_roots;
}
