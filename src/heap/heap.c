/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heap.c - looking things up in a heap; see heap.h. */
#include "heap/heap.h"

#include "algorithms/bisect.h"
#include "base/assert.h"
#include "base/text.h"
#include "heap/index.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *typed_by_name(enum typed_by by)
{
	static const char *const names[TYPED_BYS] = {
		[TYPED_BY_SHAPE] = "shape",
		[TYPED_BY_FIT] = "fit",
		[TYPED_BY_POINTER] = "pointer",
		[TYPED_BY_FRAME] = "frame",
		[TYPED_BY_GLOBAL] = "global",
		[TYPED_BY_INTERFACE] = "interface",
		[TYPED_BY_RUNTIME] = "runtime",
		[TYPED_BY_HEADER] = "header",
	};
	return by < TYPED_BYS ? names[by] : "?";
}

unsigned heap_word_bits(const struct heap *h)
{
	return h->wide_words ? 64 : h->facts.word_bits;
}

uint64_t heap_address(const struct heap *h, uint32_t id)
{
	return index_address(h->index, id);
}

uint32_t heap_find(const struct heap *h, uint64_t address)
{
	return index_find(h->index, address);
}

uint32_t heap_find_below(const struct heap *h, uint64_t address)
{
	return index_find_below(h->index, address);
}

uint32_t heap_covering(const struct heap *h, uint64_t address, uint64_t *start)
{
	uint32_t id = index_covering(h->index, address, start);
	return id != HEAP_NONE && address - *start < heap_shallow(h, id) ? id : HEAP_NONE;
}

uint32_t heap_target(const struct heap *h, uint64_t address)
{
	uint64_t start;
	return h->facts.interior_pointers ? heap_covering(h, address, &start) : heap_find(h, address);
}

static const struct wide *wide_of(const struct heap *h, uint32_t id)
{
	size_t at;
	BISECT(at, h->n_wide, h->wide[at].id < id);
	cairn_assert(at < h->n_wide && h->wide[at].id == id);
	return &h->wide[at];
}

static uint64_t odd_size(const struct heap *h, uint32_t id, const struct heap_class *c)
{
	size_t at;
	BISECT(at, h->n_odd, h->odd[at].id < id);
	return at < h->n_odd && h->odd[at].id == id ? h->odd[at].size : c->instance_size;
}

/* Elements of an object that is the place-th one with a size of its own, where lengths are what is kept. */
static inline uint64_t own_length(const struct heap *h, uint32_t id, uint32_t place)
{
	uint32_t length = h->own_length[place];
	if (length == OWN_UNKNOWN)
		return LENGTH_UNKNOWN;
	return length == OWN_WIDE ? wide_of(h, id)->length : length;
}

/* The shallow size in bytes of an object that is the place-th one with a size of its own; SIZE_UNKNOWN when nobody
 * knows it. */
static inline uint64_t own_size(const struct heap *h, uint32_t id, uint32_t place)
{
	uint32_t own = OWN_UNKNOWN;
	cairn_assert(place < h->n_sized);
	if (h->own_size)
		own = h->own_size[place];
	else if (h->own_length && h->own_length[place] == OWN_WIDE)
		own = OWN_WIDE;
	uint64_t size = own == OWN_WIDE ? wide_of(h, id)->size : own == OWN_UNKNOWN ? SIZE_UNKNOWN : own;
	if (size != SIZE_UNKNOWN || !h->own_length) /* without lengths these follow from sizes, never sizes from them */
		return size;
	return heap_array_size(h, heap_class_of(h, id), own_length(h, id, place));
}

/* The same of one that has none. */
static inline uint64_t class_size(const struct heap *h, uint32_t id)
{
	const struct heap_class *c = heap_class_of(h, id);
	return c->sizes_vary ? odd_size(h, id, c) : c->instance_size;
}

static uint64_t size_of(const struct heap *h, uint32_t id)
{
	return bits_get(&h->sized, id) ? own_size(h, id, bits_rank(&h->sized, id)) : class_size(h, id);
}

uint64_t heap_shallow(const struct heap *h, uint32_t id)
{
	uint64_t size = size_of(h, id);
	return size == SIZE_UNKNOWN ? 0 : size;
}

void heap_sizes(const struct heap *h, uint32_t first, uint32_t n, uint64_t *bytes)
{
	uint32_t place = n ? bits_rank(&h->sized, first) : 0;
	for (uint32_t i = 0; i < n; i++)
		bytes[i] = bits_get(&h->sized, first + i) ? own_size(h, first + i, place++) : class_size(h, first + i);
}

bool heap_size_known(const struct heap *h, uint32_t id)
{
	return size_of(h, id) != SIZE_UNKNOWN;
}

uint64_t heap_length(const struct heap *h, uint32_t id)
{
	unsigned stride = heap_class_of(h, id)->stride;
	if (!h->own_length || !bits_get(&h->sized, id)) {
		uint64_t size = stride ? size_of(h, id) : SIZE_UNKNOWN;
		return size == SIZE_UNKNOWN ? LENGTH_UNKNOWN : size / stride;
	}
	return own_length(h, id, bits_rank(&h->sized, id));
}

uint32_t heap_class_mirrored(const struct heap *h, uint32_t id)
{
	cairn_assert(id < h->n_objects);
	if (h->class_of[id] != h->java_lang_class)
		return HEAP_NONE;
	uint64_t address = heap_address(h, id);
	uint32_t at;
	BISECT(at, h->n_defined_classes, h->classes[at].address < address);
	return at < h->n_defined_classes && h->classes[at].object == id ? at : HEAP_NONE;
}

unsigned heap_implied(const struct heap *h, uint32_t id, struct implied_reference out[HEAP_IMPLIED])
{
	unsigned n = 0;
	const struct heap_class *c = heap_class_of(h, id);
	if (c->object != HEAP_NONE)
		out[n++] = (struct implied_reference){ c->object, "<class>" };
	uint32_t mirrored = heap_class_mirrored(h, id);
	if (mirrored == HEAP_NONE)
		return n;
	const struct heap_class *m = &h->classes[mirrored];
	if (m->superclass != HEAP_NONE && h->classes[m->superclass].object != HEAP_NONE)
		out[n++] = (struct implied_reference){ h->classes[m->superclass].object, "<super>" };
	if (m->loader != HEAP_NONE)
		out[n++] = (struct implied_reference){ m->loader, "<loader>" };
	for (uint32_t k = m->keeps; k && n < HEAP_IMPLIED; k = h->classes[k - 1].next_kept)
		out[n++] = (struct implied_reference){ h->classes[k - 1].object, "<array>" };
	return n;
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

int heap_holds_no_values(const struct heap *h, struct err *err)
{
	return err_set(err, ERR_UNSUPPORTED, "%s",
	    h->facts.no_values ? h->facts.no_values : "this dump holds no field values");
}

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

bool heap_symbol(const struct heap *h, uint64_t address, struct text *to)
{
	const struct reader *reader = h->dump && address ? h->dump->reader : NULL;
	struct text name = TEXT_INIT;
	bool known = reader && reader->symbol && reader->symbol(h->dump, address, &name);
	if (known)
		text_add_escaped(to, name.s ? name.s : "", name.len);
	text_release(&name);
	return known;
}

bool heap_has_notes(const struct heap *h)
{
	return h->dump && h->dump->reader && h->dump->reader->next_noted;
}

bool heap_next_noted(const struct heap *h, enum noted_kind kind, struct noted_walk *walk, struct noted *out)
{
	return heap_has_notes(h) && h->dump->reader->next_noted(h->dump, kind, walk, out);
}

void heap_noted_function(const struct heap *h, const struct noted *noted, struct text *to)
{
	if (!heap_symbol(h, noted->code, to) && !heap_symbol(h, noted->closure, to))
		text_addf(to, "0x%" PRIx64, noted->code ? noted->code : noted->closure);
}

bool heap_root_words(const struct heap *h, const struct heap_root *root, struct text *to)
{
	const struct reader *reader = h->dump ? h->dump->reader : NULL;
	return root->kind == ROOT_VM_INTERNAL && root->slot && reader && reader->root_words &&
	    reader->root_words(h->dump, root->slot, to);
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

const char *heap_bytes_are(const struct heap *h)
{
	return h->source && h->source->compressed ? " of the unpacked data" : "";
}

uint32_t heap_thread_of(const struct heap *h, uint32_t id)
{
	const uint32_t *by_object = h->threads_by_object;
	uint32_t at = 0;
	if (by_object)
		BISECT(at, h->n_threads, h->threads[by_object[at]].object < id);
	else
		while (at < h->n_threads && h->threads[at].object != id)
			at++;
	uint32_t thread = at == h->n_threads ? HEAP_NONE : by_object ? by_object[at] : at;
	return thread != HEAP_NONE && h->threads[thread].object == id ? thread : HEAP_NONE;
}
