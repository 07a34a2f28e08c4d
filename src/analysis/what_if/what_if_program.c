/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * what_if_program.c - what the program's own objects, static fields and stacks lead to, and what the library keeps
 * without them (what_if_owner.h).
 *
 * The first is what a walk from all of these comes to.  It does not enter class objects of the JDK and what describes
 * modules and the types of method handles: everything leads to them, and they lead to everything that the VM and the
 * JDK keep for themselves.  The same holds of loaders, but for the fields that the program's own subclasses declare.
 * Few objects are asked about, so for each a search goes the other way, from the object to what holds it.  It ends
 * soon: at something of the program, or where the JDK's own objects do.  What implies references are class objects,
 * from which the walk begins or which it does not enter, so a search needs recorded references alone.
 * Once searches have looked at half as many references as the heap has objects, the walk is done after all.
 *
 * The second is one walk from all other roots.  It enters neither class objects nor instances of the program.
 */
#include "analysis/what_if/what_if_owner.h"

#include "analysis/what_if/what_if.h"
#include "dump/idmap.h"
#include "heap/classes.h"
#include "heap/library.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "heap/value.h"
#include "heap/weak.h"
#include "memory/big.h"

#include <string.h>

/* Is this frame ("com.acme.Shop.run(Shop.java:12)") of a class of the program? */
static bool is_programs_frame(const struct heap *h, const char *frame)
{
	return library_programs_name(h->java_lang_class != HEAP_NONE, frame);
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

/* classes: by class, those whose instances are barred; barred: by id, class objects. */
static int bar_classes(struct bits *classes, struct bits *barred, const struct heap *h, const struct bits *own,
    struct err *err)
{
	int code = bits_init(classes, h->n_classes, err);
	if (!code)
		code = bits_init(barred, h->n_objects, err);
	for (uint32_t c = 0; !code && c < h->n_classes && !progress_own_stops(8 * c); c++) {
		if (h->classes[c].object != HEAP_NONE && !bits_get(own, c))
			bits_set(barred, h->classes[c].object);
		if (h->classes[c].makes_loaders || describes_the_vm(h->classes[c].name))
			bits_set(classes, c);
	}
	return code;
}

static inline bool is_programs(const struct heap *h, const struct bits *own, uint32_t id)
{
	uint32_t class = heap_class_mirrored(h, id);
	return bits_get(own, class == HEAP_NONE ? heap_class_index(h, id) : class);
}

/* What the program's own subclass of ClassLoader declares is the program's. */
static void mark_from_loader(struct marking *m, const struct bits *own, uint32_t id)
{
	const struct heap *h = m->model->heap;
	struct values values;
	if (!values_held(h)) {
		uint64_t end = adjacency_start(&h->out, id + 1);
		for (uint64_t k = adjacency_start(&h->out, id); k < end; k++)
			if (!bits_get(m->filter.barred, h->out.target[k]))
				mark(m, h->out.target[k]);
		return;
	}
	if (values_open(&values, h, id, NULL))
		return;
	struct field_walk walk = { .values = &values };
	while (values_next_field(&walk)) {
		uint32_t target = bits_get(own, walk.declared_in) ? value_object_id(h, &walk.value) : HEAP_NONE;
		if (target != HEAP_NONE && !bits_get(m->filter.barred, target))
			mark(m, target);
	}
}

/* Loaders that the walk came to are the program's, too. */
static void mark_loaders(struct marking *m, const struct bits *own)
{
	const struct heap *h = m->model->heap;
	for (uint32_t id = 0; id < h->n_objects && !progress_own_stops(id); id++) {
		if (!heap_class_of(h, id)->makes_loaders)
			continue;
		if (bits_get(own, heap_class_index(h, id)) ||
		    (bits_get(m->filter.met, id) && !library_usual_loader(h, id)))
			bits_set(m->marked, id);
	}
}

/* from_library: walk from all roots but the program's, else from the program's and all that is the program's. */
static int walk(struct bits *out, const struct model *model, const struct bits *own, const struct bits *barred,
    bool from_library, struct err *err)
{
	const struct heap *h = model->heap;
	struct bits asked, met, threads;
	int code = bits_init(&asked, h->n_objects, err) | bits_init(&met, h->n_objects, err) |
	    mark_threads(&threads, h, err);
	struct marking m = { .model = model, .marked = out,
		.filter = { barred, &asked, follows, NULL, &met, progress_own() },
		.stack = code ? NULL : big_alloc(h->n_objects, sizeof *m.stack, err) };
	code = m.stack ? 0 : ERR_NOMEM;
	for (uint32_t id = 0; !code && !from_library && id < h->n_objects && !progress_own_stops(id); id++)
		if (is_programs(h, own, id) && !bits_get(barred, id))
			mark(&m, id);
		else if (heap_class_of(h, id)->makes_loaders && bits_get(own, heap_class_index(h, id)))
			mark_from_loader(&m, own, id);
	for (size_t i = 0; !code && i < h->n_roots && !progress_own_stops(i); i++)
		if (!bits_get(barred, h->roots[i].object) && is_programs_root(&h->roots[i], &threads) != from_library)
			mark(&m, h->roots[i].object);
	if (!code && !from_library)
		mark_loaders(&m, own);
	big_free(m.stack);
	bits_release(&asked);
	bits_release(&met);
	bits_release(&threads);
	return code ? code : progress_check(progress_own(), err);
}

int what_if_library_mark(struct bits *out, const struct model *model, const struct bits *own, struct err *err)
{
	const struct heap *h = model->heap;
	struct bits barred;
	int code = bits_init(&barred, h->n_objects, err);
	for (uint32_t id = 0; !code && id < h->n_objects && !progress_own_stops(id); id++)
		if (is_programs(h, own, id))
			bits_set(&barred, id);
	if (!code)
		code = walk(out, model, own, &barred, true, err);
	bits_release(&barred);
	return code;
}

/* --- by searches backward ------------------------------------------------------------------------- */

static bool is_barred(const struct what_if_program *p, uint32_t id)
{
	return bits_get(&p->barred, id) || bits_get(&p->barred_classes, heap_class_index(p->model->heap, id));
}

/* What class objects of the program imply.  False: the address of a class object does not lead back to its class, so
 * paths may lead through what is implied, and a search cannot find them. */
static bool mark_implied(struct what_if_program *p, const struct bits *own)
{
	const struct heap *h = p->model->heap;
	struct implied_reference implied[HEAP_IMPLIED];
	bool usual = true;
	for (uint32_t c = 0; c < h->n_classes && !progress_own_stops(8 * c); c++) {
		uint32_t id = h->classes[c].object;
		if (id == HEAP_NONE || !bits_get(own, c) || is_barred(p, id))
			continue;
		usual = usual && is_programs(h, own, id);
		for (unsigned k = heap_implied(h, id, implied); k-- > 0;)
			bits_set(&p->starts, implied[k].target);
	}
	return usual;
}

int what_if_program_init(struct what_if_program *p, const struct model *model, const struct bits *own,
    struct err *err)
{
	const struct heap *h = model->heap;
	struct bits threads;
	*p = (struct what_if_program){.model = model};
	int code = mark_threads(&threads, h, err);
	if (!code)
		code = bar_classes(&p->barred_classes, &p->barred, h, own, err);
	if (!code && (bits_init(&p->starts, h->n_objects, err) || bits_init(&p->leads, h->n_objects, err) ||
	    bits_init(&p->none, h->n_objects, err)))
		code = ERR_NOMEM;
	for (size_t i = 0; !code && i < h->n_roots && !progress_own_stops(i); i++)
		if (!is_barred(p, h->roots[i].object) && is_programs_root(&h->roots[i], &threads))
			bits_set(&p->starts, h->roots[i].object);
	if (!code && mark_implied(p, own))
		p->effort = h->n_objects / 2;
	bits_release(&threads);
	return code ? code : progress_check(progress_own(), err);
}

void what_if_program_release(struct what_if_program *p)
{
	bits_release(&p->barred_classes);
	bits_release(&p->barred);
	bits_release(&p->starts);
	bits_release(&p->leads);
	bits_release(&p->none);
	big_free(p->list);
}

/* All that searches would find. */
static int find_all(struct what_if_program *p, const struct bits *own, struct err *err)
{
	const struct heap *h = p->model->heap;
	struct bits barred;
	int code = bits_init(&barred, h->n_objects, err);
	for (uint32_t id = 0; !code && id < h->n_objects && !progress_own_stops(id); id++)
		if (is_barred(p, id))
			bits_set(&barred, id);
	bits_clear(&p->leads);
	if (!code)
		code = walk(&p->leads, p->model, own, &barred, false, err);
	bits_release(&barred);
	p->complete = !code;
	return code;
}

/* Does a field that a class of the program declares hold it, in this loader of such a class? */
static bool loader_declares(const struct heap *h, const struct bits *own, uint32_t loader, uint32_t target)
{
	struct values values;
	if (!values_held(h))
		return true;
	if (values_open(&values, h, loader, NULL))
		return false;
	struct field_walk walk = { .values = &values };
	bool found = false;
	while (!found && values_next_field(&walk))
		found = bits_get(own, walk.declared_in) && value_object_id(h, &walk.value) == target;
	return found;
}

/* Put aside what holds the object of this place.  *found: by this something of the program leads there. */
static int add_holders(struct what_if_program *p, const struct bits *own, uint32_t place, bool *found,
    struct err *err)
{
	const struct heap *h = p->model->heap;
	uint32_t id = p->list[place].id;
	uint64_t end = adjacency_start(&h->in, id + 1);
	uint32_t last = HEAP_NONE;
	int code = 0;
	for (uint64_t k = adjacency_start(&h->in, id); !code && !*found && k < end && p->effort; k++, p->effort--) {
		uint32_t from = h->in.target[k], class = heap_class_index(h, from);
		if (progress_own_stops(p->effort))
			return err_cancelled(err);
		if (from == last) /* they are sorted */
			continue;
		last = from;
		if (is_barred(p, from)) {
			*found = h->classes[class].makes_loaders && bits_get(own, class) && !is_barred(p, id) &&
			    loader_declares(h, own, from, id);
		} else if (!bits_get(&p->none, from) && !weak_is(p->model->left_out, from, id)) {
			*found = bits_get(&p->leads, from) || bits_get(&p->starts, from) || is_programs(h, own, from);
			code = BIG_ADD(p->list, p->n_list, p->cap_list, err, (struct what_if_step){from, place});
			if (!code)
				bits_set(&p->none, from);
		}
	}
	return code;
}

/* The search from an object that is no beginning itself. */
static int search(struct what_if_program *p, const struct bits *own, uint32_t id, struct err *err)
{
	bool found = false;
	p->n_list = 0;
	int code = BIG_ADD(p->list, p->n_list, p->cap_list, err, (struct what_if_step){id, 0});
	if (!code)
		bits_set(&p->none, id);
	uint32_t at = 0;
	for (; !code && !found && at < p->n_list && p->effort && !progress_own_stops(at); at++)
		code = add_holders(p, own, at, &found, err);
	if (!code && !found && at == p->n_list && p->effort)
		return progress_check(progress_own(), err); /* nothing leads to any of them */
	for (size_t i = 0; i < p->n_list; i++)
		bits_unset(&p->none, p->list[i].id);
	if (!code && !found)
		return p->effort ? progress_check(progress_own(), err) : find_all(p, own, err);
	for (uint32_t step = at - 1; found; step = p->list[step].to) {
		bits_set(&p->leads, p->list[step].id);
		found = step > 0;
	}
	return code;
}

bool what_if_program_leads_to(struct what_if_program *p, const struct bits *own, uint32_t id)
{
	const struct heap *h = p->model->heap;
	uint32_t class = heap_class_index(h, id);
	bool leads = bits_get(&p->leads, id);
	if (leads || p->complete || bits_get(&p->none, id))
		return leads;
	if (p->err.code) /* it would fail again, as long as it took before */
		return false;
	if (h->classes[class].makes_loaders) { /* loaders that the walk came to are the program's, too */
		leads = bits_get(own, class);
		if (!leads && library_usual_loader(h, id))
			return false;
	} else if (is_barred(p, id)) {
		return false;
	}
	if (leads || bits_get(&p->starts, id) || is_programs(h, own, id))
		return true;
	if (search(p, own, id, &p->err))
		return false;
	return bits_get(&p->leads, id);
}
