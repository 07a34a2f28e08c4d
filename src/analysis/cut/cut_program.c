/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cut_program.c - what the program's own objects, static fields and stacks lead to (cut_owner.h).
 *
 * One walk from all of these.  It does not enter loaders, class objects of the JDK, and what describes
 * modules and the types of method handles: everything leads to them, and they lead to everything that the
 * VM and the JDK keep for themselves.
 */
#include "analysis/cut/cut_owner.h"

#include "analysis/cut/cut.h"
#include "base/big.h"
#include "dump/idmap.h"

#include <string.h>

/* Is this frame ("com.acme.Shop.run(Shop.java:12)") of a class of the program? */
static bool is_programs_frame(const struct heap *h, const char *frame)
{
	return cut_owner_class(h, frame);
}

/* Those of the VM and the JDK (Reference Handler, Common-Cleaner) run nothing of the program's. */
static bool is_programs_thread(const struct heap *h, uint32_t thread)
{
	const struct heap_thread *t = &h->threads[thread];
	for (uint32_t i = 0; i < t->n_frames; i++)
		if (t->frames[i] && is_programs_frame(h, t->frames[i]))
			return true;
	return !t->n_frames;
}

/* Threads of one trace share its frames, which may be many: each is looked through once. */
static int mark_threads(struct bits *out, const struct heap *h, struct err *err)
{
	struct idmap known = { .n = 0 };
	int code = bits_init(out, h->n_threads, err);
	for (uint32_t i = 0; !code && i < h->n_threads && !progress_own_stops(16 * (uint64_t)i); i++) {
		uint64_t trace = (uintptr_t)h->threads[i].frames, own = trace ? idmap_get(&known, trace) : IDMAP_NONE;
		if (own == IDMAP_NONE) {
			own = is_programs_thread(h, i);
			code = trace ? idmap_put(&known, trace, own, err) : 0;
		}
		if (own)
			bits_set(out, i);
	}
	idmap_release(&known);
	return code;
}

static bool is_programs_root(const struct heap_root *root, const struct bits *threads)
{
	if (root->kind == ROOT_UNKNOWN) /* what a dump without roots has no holder of */
		return true;
	return heap_root_clearable(root) && (root->thread == HEAP_NONE || bits_get(threads, root->thread));
}

struct marking {
	const struct model *model;
	struct reach_filter filter;
	struct bits *marked;
	uint32_t *stack;
};

static void mark(struct marking *m, uint32_t id)
{
	if (!bits_get(m->marked, id))
		heap_reach_without(m->model, id, m->marked->word, m->stack, &m->filter);
}

static bool follows(const void *context, uint32_t holder, uint32_t target)
{
	(void)context, (void)holder, (void)target;
	return true;
}

/* Stacks of virtual threads are of jdk.internal, too, but hold what the program's code holds. */
static bool describes_the_vm(const char *name)
{
	static const char *const prefixes[] = { "java.lang.Module", "java.lang.module.", "java.lang.invoke.LambdaForm",
		"java.lang.invoke.MethodType", "java.security.ProtectionDomain", "jdk.internal.", NULL };
	static const char stacks[] = "jdk.internal.vm.";
	for (const char *const *p = prefixes; *p; p++)
		if (!strncmp(name, *p, strlen(*p)))
			return strncmp(name, stacks, sizeof stacks - 1) != 0;
	return false;
}

static int bar(struct bits *barred, const struct heap *h, const struct bits *own, struct err *err)
{
	struct bits classes;
	int code = bits_init(&classes, h->n_classes, err);
	for (uint32_t c = 0; !code && c < h->n_classes && !progress_own_stops(8 * c); c++) {
		if (h->classes[c].object != HEAP_NONE && !bits_get(own, c))
			bits_set(barred, h->classes[c].object);
		if (h->classes[c].makes_loaders || describes_the_vm(h->classes[c].name))
			bits_set(&classes, c);
	}
	for (uint32_t id = 0; !code && id < h->n_objects && !progress_own_stops(id); id++)
		if (bits_get(&classes, h->class_of[id]))
			bits_set(barred, id);
	bits_release(&classes);
	return code;
}

int cut_program_mark(struct bits *out, const struct model *model, const struct bits *own, struct err *err)
{
	const struct heap *h = model->heap;
	struct bits barred, asked, met, threads;
	int code = bits_init(&barred, h->n_objects, err) | bits_init(&asked, h->n_objects, err) |
	    bits_init(&met, h->n_objects, err) | mark_threads(&threads, h, err);
	struct marking m = { .model = model, .marked = out,
		.filter = { &barred, &asked, follows, NULL, &met, progress_own() },
		.stack = code ? NULL : big_alloc(h->n_objects, sizeof *m.stack, err) };
	code = m.stack ? 0 : ERR_NOMEM;
	if (!code)
		code = bar(&barred, h, own, err);
	for (uint32_t id = 0; !code && id < h->n_objects && !progress_own_stops(id); id++) {
		uint32_t class = heap_class_mirrored(h, id);
		if (bits_get(own, class == HEAP_NONE ? h->class_of[id] : class) && !bits_get(&barred, id))
			mark(&m, id);
	}
	for (size_t i = 0; !code && i < h->n_roots && !progress_own_stops(i); i++)
		if (!bits_get(&barred, h->roots[i].object) && is_programs_root(&h->roots[i], &threads))
			mark(&m, h->roots[i].object);
	big_free(m.stack);
	bits_release(&barred);
	bits_release(&asked);
	bits_release(&met);
	bits_release(&threads);
	return code ? code : progress_check(progress_own(), err);
}
