/* SPDX-License-Identifier: GPL-3.0-or-later */
/* what_if_owner.c - see what_if_owner.h. */
#include "analysis/what_if/what_if_owner.h"

#include "base/text.h"
#include "dump/facts.h"
#include "heap/classes.h"
#include "heap/library.h"
#include "heap/roots.h"
#include "heap/threads.h"

#include <string.h>

/* --- by what holds it ----------------------------------------------------------------------------- */

int what_if_owner_init(struct what_if_owner *o, const struct retained *r, struct err *err)
{
	const struct heap *h = r->heap;
	*o = (struct what_if_owner){ .r = r };
	if (bits_init(&o->own, h->n_classes, err) || bits_init(&o->runtime, h->n_classes, err) ||
	    bits_init(&o->known, h->n_objects, err) ||
	    bits_init(&o->internal, h->n_objects, err))
		return ERR_NOMEM;
	for (uint32_t c = 0; c < h->n_classes && !progress_own_stops(8 * c); c++)
		if (library_programs_class(h, c))
			bits_set(&o->own, c);
		else if (h->java_lang_class == HEAP_NONE && library_go_runtime(h->classes[c].name))
			bits_set(&o->runtime, c);
	if (h->java_lang_class == HEAP_NONE)
		return 0;
	return what_if_program_init(&o->program, &r->model, &o->own, err);
}

void what_if_owner_release(struct what_if_owner *o)
{
	what_if_program_release(&o->program);
	bits_release(&o->library);
	bits_release(&o->by_globals);
	bits_release(&o->own);
	bits_release(&o->runtime);
	bits_release(&o->known);
	bits_release(&o->internal);
}

int what_if_owner_check(struct what_if_owner *o, struct err *err)
{
	struct err missing = o->program.err;
	o->program.err = (struct err)ERR_INIT;
	if (missing.code && err)
		*err = missing;
	return missing.code ? missing.code : progress_check(progress_own(), err);
}

bool what_if_owner_names(const struct what_if_owner *o, uint32_t class)
{
	const struct heap_class *c = &o->r->heap->classes[class];
	return bits_get(&o->own, class) && c->kind == CLASS_PLAIN &&
	    c->name[strcspn(c->name, "[*( {")] == '\0';
}

/* How many of the roots of an object are the Go library's: its variables, and what its own goroutines hold. */
static size_t held_by_library(const struct heap *h, uint32_t id, size_t *n)
{
	struct text name = TEXT_INIT;
	size_t first, library = 0;
	bool any;
	*n = heap_roots_of(h, id, &first);
	for (size_t i = 0; i < *n && !progress_own_stops(i); i++) {
		const struct heap_root *root = &h->roots[first + i];
		text_clear(&name);
		if (root->kind == ROOT_DATA || root->kind == ROOT_BSS)
			library += heap_symbol(h, root->slot, &name) && !library_go_foreign(name.s, &any) && any;
		else
			library += root->thread != HEAP_NONE && h->threads[root->thread].system;
	}
	text_release(&name);
	return library;
}

bool what_if_owner_internal(struct what_if_owner *o, uint32_t id)
{
	const struct heap *h = o->r->heap;
	const uint32_t *immediate = o->r->dominators.immediate;
	uint32_t at = id;
	bool internal = false;
	if (bits_get(&o->runtime, heap_class_index(h, id)) ||
	    (o->program.model && !what_if_program_leads_to(&o->program, &o->own, id)))
		return true;
	for (;; at = immediate[at]) {
		uint32_t mirrored = heap_class_mirrored(h, at);
		if (bits_get(&o->known, at)) {
			internal = bits_get(&o->internal, at);
		} else if (mirrored != HEAP_NONE) {
			internal = !bits_get(&o->own, mirrored);
		} else if (!bits_get(&o->own, heap_class_index(h, at))) {
			if (immediate[at] < h->n_objects)
				continue;
			size_t n, library = held_by_library(h, at, &n);
			internal = n && library == n;
		}
		break;
	}
	for (uint32_t up = id;; up = immediate[up]) {
		bits_set(&o->known, up);
		if (internal)
			bits_set(&o->internal, up);
		if (up == at)
			return internal;
	}
}

bool what_if_owner_inside(struct what_if_owner *o, uint32_t holder, uint32_t target)
{
	const struct heap *h = o->r->heap;
	uint32_t mirrored = holder == HEAP_NONE ? HEAP_NONE : heap_class_mirrored(h, holder);
	if (bits_get(&o->runtime, heap_class_index(h, target)))
		return true;
	size_t n;
	if (holder == HEAP_NONE && h->java_lang_class == HEAP_NONE && held_by_library(h, target, &n))
		return true; /* nobody clears those */
	if (mirrored != HEAP_NONE)
		return !bits_get(&o->own, mirrored);
	return (holder == HEAP_NONE || what_if_fame(h, holder, target) != FAME_OWN) && what_if_owner_internal(o, target);
}

bool what_if_owner_reached(struct what_if_owner *o, uint32_t id)
{
	size_t n;
	return o->program.model ? what_if_program_leads_to(&o->program, &o->own, id) :
	    held_by_library(o->r->heap, id, &n) < n;
}

int what_if_owner_library_keeps(struct what_if_owner *o, uint32_t id, bool *keeps, struct err *err)
{
	const struct heap *h = o->r->heap;
	*keeps = true;
	if (h->java_lang_class == HEAP_NONE)
		return 0;
	if (!o->library.word) {
		int code = bits_init(&o->library, h->n_objects, err);
		if (!code)
			code = what_if_library_mark(&o->library, &o->r->model, &o->own, err);
		if (code)
			return code;
	}
	*keeps = bits_get(&o->library, id);
	return 0;
}
