/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorded.c - threads and GC roots as the dump itself records them.
 *
 * If a root names a Java thread whose object the dump has, the thread holds it.  The VM holds every
 * other root.  If the dump records no class as held by the VM (dumps of the old agent and of other
 * tools), the classes of the boot loader become roots.  Roots whose object the dump does not have
 * are dropped and counted.
 */
#include "heap/build/build.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "base/amount.h"
#include "base/text.h"
#include "dump/facts.h"
#include "dump/reader.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "memory/big.h"

#include <stddef.h>
#include <stdlib.h>

struct serial {
	uint64_t serial;
	uint32_t thread;
};

static int by_serial(const void *x, const void *y)
{
	const struct serial *a = x, *b = y;
	if (a->serial != b->serial)
		return a->serial < b->serial ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static uint32_t thread_of(const struct serial *serials, uint32_t n, uint64_t serial)
{
	uint32_t at;
	BISECT(at, n, serials[at].serial < serial);
	return at < n && serials[at].serial == serial ? serials[at].thread : HEAP_NONE;
}

/* "main.main+0x1c", or the bare address. */
static const char *code_name(struct build *b, uint64_t pc)
{
	struct heap *h = b->heap;
	struct text name = TEXT_INIT;
	if (!heap_symbol(h, pc, &name))
		text_addf(&name, "0x%llx", (unsigned long long)pc);
	const char *kept = arena_try_strndup(&h->arena, name.s, name.len, &b->lost);
	text_release(&name);
	return kept;
}

/* NULL: no memory. */
static struct serial *collect_threads(struct build *b)
{
	struct heap *h = b->heap;
	size_t n = 0;
	for (unsigned i = 0; i < b->n_parts; i++)
		n += b->parts[i].n_threads;
	h->threads = big_alloc(n, sizeof *h->threads, &b->lost);
	struct serial *serials = h->threads ? big_alloc(n, sizeof *serials, &b->lost) : NULL;
	if (!serials)
		return NULL;
	for (unsigned i = 0; i < b->n_parts; i++)
		for (size_t k = 0; k < b->parts[i].n_threads && !build_stops(b, k); k++) {
			const struct count_pass_thread *from = &b->parts[i].threads[k];
			serials[h->n_threads] = (struct serial){ from->serial, h->n_threads };
			h->threads[h->n_threads++] = (struct heap_thread){
				.name = from->name,
				.state = from->state,
				.waits_for = from->waits_for,
				.waits_since = from->waits_since,
				.creator = from->created_at ? code_name(b, from->created_at) : NULL,
				.system = from->system,
				.own_id = from->id,
				.native_id = from->native_id,
				.object = from->address ? heap_find(h, from->address) : HEAP_NONE,
				.address = from->address,
				.priority = -1,
				.frames = from->frames,
				.n_frames = from->n_frames,
				.stack = from->stack_unknown ? STACK_UNKNOWN : STACK_RECORDED,
			};
		}
	b->lost.code = b->lost.code ? b->lost.code : sort(serials, n, sizeof *serials, by_serial, &b->lost);
	return serials;
}

static bool held_by_thread(enum root_kind kind)
{
	return kind == ROOT_JNI_LOCAL || kind == ROOT_JAVA_LOCAL || kind == ROOT_NATIVE_STACK ||
	    kind == ROOT_THREAD_BLOCK || kind == ROOT_BUSY_MONITOR || kind == ROOT_THREAD ||
	    kind == ROOT_STACK_FRAME || kind == ROOT_DEFER || kind == ROOT_PANIC;
}

/* Held by the stack itself, whether the thread has an object or not. */
static bool on_stack(enum root_kind kind)
{
	return kind == ROOT_STACK_FRAME || kind == ROOT_DEFER || kind == ROOT_PANIC;
}

/* The object that a root's pointer leads to, into the root. */
static void set_object(const struct heap *h, struct heap_root *root, uint64_t address)
{
	uint64_t start;
	root->object = heap_find(h, address);
	if (root->object != HEAP_NONE || !h->facts.interior_pointers)
		return;
	root->object = heap_covering(h, address, &start);
	if (root->object == HEAP_NONE)
		return;
	uint64_t offset = address - start, head = heap_head(h, root->object);
	offset -= offset >= head ? head : 0;
	root->offset = offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX;
}

static void add_fields(struct build *b, struct heap_root root)
{
	const struct heap *h = b->heap;
	uint32_t id = root.object;
	uint64_t end = adjacency_start(&h->out, id + 1);
	root.offset = 0; /* which word of its target a field points to is not kept */
	for (uint64_t k = adjacency_start(&h->out, id); k < end; k++) {
		root.object = h->out.target[k];
		build_root(b, root);
	}
}

/* VMs write the locals of a frame one after another, in the frame's order. */
struct locals {
	uint64_t serial; /* of the thread */
	uint32_t frame, n; /* n: locals of this frame so far */
};

static uint32_t number_local(struct locals *l, const struct root_record *r)
{
	if (l->serial != r->thread_serial || l->frame != r->frame)
		*l = (struct locals){ r->thread_serial, r->frame, 0 };
	return ++l->n;
}

static void add_recorded(
    struct build *b, const struct root_record *r, const struct serial *serials, struct locals *locals)
{
	struct heap *h = b->heap;
	struct heap_root root = {
		.thread = HEAP_NONE,
		.frame = HEAP_NONE,
		.kind = r->kind,
		.certainty = r->inferred || h->facts.roots_were_inferred ? INFERRED : EXACT,
		.slot = r->slot,
	};
	set_object(h, &root, r->address);
	if (root.object == HEAP_NONE && r->inferred)
		return;
	if (root.object == HEAP_NONE) {
		*(h->facts.outside_pointers_normal ? &h->n_outside_roots : &h->n_dropped_roots) += 1;
		return;
	}
	uint32_t thread = r->thread_serial && held_by_thread(r->kind)
	    ? thread_of(serials, h->n_threads, r->thread_serial) : HEAP_NONE;
	if (thread != HEAP_NONE && (h->threads[thread].object != HEAP_NONE || on_stack(r->kind))) {
		root.thread = thread;
		if (r->frame < h->threads[thread].n_frames)
			root.frame = r->frame;
	}
	if (r->kind == ROOT_JAVA_LOCAL && root.frame != HEAP_NONE)
		root.offset = number_local(locals, r);
	if (r->fields_only)
		add_fields(b, root);
	else
		build_root(b, root);
}

static void add_boot_classes(struct build *b)
{
	struct heap *h = b->heap;
	for (uint32_t i = 0; i < h->n_defined_classes; i++) {
		const struct heap_class *c = &h->classes[i];
		if (heap_class_has_no_loader(c) && c->kind != CLASS_OBJECT_ARRAY &&
		    c->kind != CLASS_PRIMITIVE_ARRAY)
			build_root(b, (struct heap_root){
				.object = c->object, .thread = HEAP_NONE, .frame = HEAP_NONE,
				.kind = ROOT_SYSTEM_CLASS, .certainty = INFERRED
			});
	}
}

int recorded_collect(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	bool any_class = false;
	if (!h->facts.roots_recorded)
		return 0;
	struct serial *serials = collect_threads(b);
	struct locals locals = { .n = 0 };
	for (unsigned i = 0; serials && i < b->n_parts; i++)
		for (size_t k = 0; k < b->parts[i].n_roots && !build_stops(b, k); k++) {
			any_class |= b->parts[i].roots[k].kind == ROOT_SYSTEM_CLASS;
			add_recorded(b, &b->parts[i].roots[k], serials, &locals);
		}
	if (!any_class)
		add_boot_classes(b);
	big_free(serials);
	if (!b->lost.code && vm_roots_mark(b, err))
		return err->code;
	return build_check(b, err);
}
