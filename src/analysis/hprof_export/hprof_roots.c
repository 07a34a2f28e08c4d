/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hprof_roots.c - threads and roots.  Kinds that only Android's dumps have are written as unknown ones. */
#include "analysis/hprof_export/hprof_writing.h"

#include "algorithms/sort.h"
#include "base/progress.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "memory/big.h"

/* A root's record, and what stands in it behind the object. */
struct form {
	enum hprof_sub_tag tag;
	bool thread, frame, slot;
};

static struct form form_of(const struct heap_root *r)
{
	switch (r->kind) {
	case ROOT_SYSTEM_CLASS:
		return (struct form){.tag = SUB_STICKY_CLASS};
	case ROOT_JNI_LOCAL:
		return (struct form){.tag = SUB_JNI_LOCAL, .thread = true, .frame = true};
	case ROOT_JNI_GLOBAL:
		return (struct form){.tag = SUB_JNI_GLOBAL, .slot = true};
	case ROOT_THREAD_BLOCK:
		return (struct form){.tag = SUB_THREAD_BLOCK, .thread = true};
	case ROOT_BUSY_MONITOR:
		return (struct form){.tag = SUB_MONITOR};
	case ROOT_JAVA_LOCAL:
		return (struct form){.tag = SUB_JAVA_FRAME, .thread = true, .frame = true};
	case ROOT_NATIVE_STACK:
		return (struct form){.tag = SUB_NATIVE_STACK, .thread = true};
	default:
		return (struct form){.tag = SUB_UNKNOWN};
	}
}

static void put_thread(struct hprof_writing *w, uint64_t address, uint32_t serial, uint32_t trace)
{
	hprof_begin_sub(&w->out, SUB_THREAD_OBJECT, w->out.ids + 8);
	hprof_put_id(&w->out, address);
	hprof_put_number(&w->out, serial, 4);
	hprof_put_number(&w->out, trace, 4);
}

static void put_root(struct hprof_writing *w, const struct heap_root *r)
{
	struct form f = form_of(r);
	struct hprof_out *o = &w->out;

	hprof_begin_sub(o, f.tag, o->ids + (f.thread ? 4 : 0) + (f.frame ? 4 : 0) + (f.slot ? o->ids : 0));
	hprof_put_id(o, heap_address(w->h, r->object));
	if (f.slot)
		hprof_put_id(o, r->slot);
	if (f.thread)
		hprof_put_number(o, r->thread == HEAP_NONE ? 0 : hprof_thread_serial(r->thread), 4);
	if (f.frame)
		hprof_put_number(o, r->frame == HEAP_NONE ? UINT32_MAX : r->frame, 4);
}

/* By thread and frame, since the reader counts the locals of a frame. */
static int by_place(const void *a, const void *b, void *roots)
{
	const struct heap_root *x = (const struct heap_root *)roots + *(const uint64_t *)a;
	const struct heap_root *y = (const struct heap_root *)roots + *(const uint64_t *)b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->frame != y->frame)
		return x->frame < y->frame ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Where a dump records roots, cairn's own are left out: a reader infers them again.  Not so local variables. */
static bool is_written(const struct heap_root *r, bool inferred_too)
{
	return r->kind != ROOT_THREAD && (inferred_too || r->certainty == EXACT);
}

static bool with_inferred(const struct heap *h)
{
	return !h->facts.roots_recorded || h->facts.locals_inferred || heap_roots_were_inferred(h);
}

static int write_text(struct hprof_writing *w, struct text *t)
{
	bool written = !t->len || hprof_text_id(w, t->s, false);
	text_clear(t);
	return written ? 0 : ERR_NOMEM;
}

static int write_thread_extras(struct hprof_writing *w, struct text *t)
{
	int code = 0;
	for (uint32_t i = 0; i < w->h->n_threads && !code; i++) {
		const struct heap_thread *of = &w->h->threads[i];
		if (of->object != HEAP_NONE && (of->state || of->waits_for || of->native_id))
			hprof_extra_thread(&(struct hprof_extra_thread){hprof_thread_serial(i), of->native_id, of->state,
			    of->waits_for}, t);
		code = progress_own_stops(i) ? err_cancelled(w->err) : write_text(w, t);
	}
	return code;
}

int hprof_write_extras(struct hprof_writing *w)
{
	const struct heap *h = w->h;
	bool inferred_too = with_inferred(h);
	struct text t = TEXT_INIT;
	int code = 0;

	for (size_t i = 0; h->process && !code && hprof_extra_process(h->process, i, &t); i++)
		code = write_text(w, &t);
	if (h->facts.owners_recorded)
		hprof_extra_owners(&t);
	if (!code)
		code = write_text(w, &t);
	if (!code)
		code = write_thread_extras(w, &t);
	for (size_t i = 0; i < h->n_roots && !code; i++) {
		const struct heap_root *r = &h->roots[i];
		bool alone = (!i || r[-1].object != r->object) && (i + 1 == h->n_roots || r[1].object != r->object);
		if (is_written(r, inferred_too) && (r->kind != ROOT_UNKNOWN || !alone))
			hprof_extra_root(&(struct hprof_extra_root){heap_address(h, r->object), r->kind,
			    r->thread == HEAP_NONE ? 0 : hprof_thread_serial(r->thread),
			    r->frame == HEAP_NONE ? UINT32_MAX : r->frame}, &t);
		code = progress_own_stops(i) ? err_cancelled(w->err) : write_text(w, &t);
	}
	text_release(&t);
	return code;
}

int hprof_write_roots(struct hprof_writing *w)
{
	const struct heap *h = w->h;
	uint64_t *order = big_alloc(h->n_roots, sizeof *order, w->err);
	bool inferred_too = with_inferred(h);
	size_t n = 0;

	if (!order)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < h->n_threads; i++)
		if (h->threads[i].object == HEAP_NONE)
			w->done->threads_lost++;
		else
			put_thread(w, heap_address(h, h->threads[i].object), hprof_thread_serial(i),
			    h->threads[i].stack == STACK_UNKNOWN ? EMPTY_TRACE : hprof_trace_serial(i));
	for (size_t i = 0; i < h->n_roots; i++) {
		if (is_written(&h->roots[i], inferred_too))
			order[n++] = i;
		else if (h->roots[i].kind == ROOT_THREAD && h->roots[i].thread == HEAP_NONE) /* inferred */
			put_thread(w, heap_address(h, h->roots[i].object), h->n_threads + 1 + (uint32_t)i,
			    EMPTY_TRACE);
	}
	int code = sort_with(order, n, sizeof *order, by_place, h->roots, w->err);
	for (size_t i = 0; i < n && !code; i++) {
		put_root(w, &h->roots[order[i]]);
		if (progress_own_stops(i))
			code = err_cancelled(w->err);
	}
	big_free(order);
	return code;
}
