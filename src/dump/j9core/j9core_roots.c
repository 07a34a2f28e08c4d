/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_roots.c - the roots that the VM lists, after RootScanner of DDR_VM.
 *
 * Weak are the VM's JNI weak globals, its monitor tables, objects that wait for finalize() to be due, the remembered
 * set and mostly its table of interned Strings: none of these is a root.  What was resolved for a class's code is
 * among the references of its class object.
 */
#include "dump/j9core/j9core_roots.h"

#include "dump/reader.h"

#include <inttypes.h>

enum { TABLES_MOST = 1 << 12, CACHE_MOST = 1 << 16 };

const struct j9_class *j9_class_of(const struct j9core *j, uint64_t address)
{
	uint64_t slot;

	return core_load(j->core, address, j->slot, &slot) ? j9core_class(j, slot & ~J9_CLASS_FLAGS) : NULL;
}

void j9_root(struct j9_roots *r, uint64_t address, enum root_kind kind)
{
	struct root_record root = {.address = address, .kind = kind, .frame = UINT32_MAX};

	if (address && j9_step(r, 1))
		r->code = r->sink->root(r->sink, &root);
}

/* --- classes ----------------------------------------------------------------------------------------------- */

static bool unloads(const struct j9core *j)
{
	uint64_t when = j9_get(j, j9_get(j, j->vm, AT_VM_EXTENSIONS), AT_EXTENSIONS_UNLOADING);

	return !j->has[AT_EXTENSIONS_UNLOADING] ||
	    when != j9_constant(j, "MM_GCExtensions__DynamicClassUnloading", "DYNAMIC_CLASS_UNLOADING_NEVER", 0);
}

/* Of loaders that stay for good; all, if the VM never unloads any.  A hidden class is not its loader's. */
static void classes(struct j9_roots *r)
{
	const struct j9core *j = r->image;
	uint64_t system = j9_get(j, j->vm, AT_VM_SYSTEM_LOADER);
	uint64_t application = j9_get(j, j->vm, AT_VM_APPLICATION_LOADER);
	uint64_t hidden = j9_constant(j, "J9JavaClassFlags", "J9ClassIsAnonymous", 0), loader;
	bool all = !unloads(j);
	struct j9_pool_walk w;

	j9_root(r, j9_get(j, system, AT_LOADER_OBJECT), ROOT_SYSTEM_CLASS);
	j9_root(r, application ? j9_get(j, application, AT_LOADER_OBJECT) : 0, ROOT_SYSTEM_CLASS);
	for (uint32_t i = 0; i < j->n_classes && !r->code; i++) {
		uint64_t c = j->class[i].address;
		loader = j9_get(j, c, AT_CLASS_LOADER);
		if (all || ((loader == system || loader == application) && !(j9_get(j, c, AT_CLASS_FLAGS2) & hidden)))
			j9_root(r, j9_get(j, c, AT_CLASS_OBJECT), ROOT_SYSTEM_CLASS);
	}
	for (j9_pool_walk(&w, j, all ? j9_get(j, j->vm, AT_VM_LOADERS) : 0); j9_step(r, 1) && j9_pool_next(&w, &loader);)
		j9_root(r, j9_get(j, loader, AT_LOADER_OBJECT), ROOT_SYSTEM_CLASS);
}

/* --- others ------------------------------------------------------------------------------------------------ */

static void globals(struct j9_roots *r)
{
	const struct j9core *j = r->image;
	struct j9_pool_walk w;
	uint64_t at;

	for (j9_pool_walk(&w, j, j9_get(j, j->vm, AT_VM_GLOBALS)); j9_step(r, 1) && j9_pool_next(&w, &at);)
		j9_root(r, j9_word(j, at), ROOT_JNI_GLOBAL);
}

/* A list of objects, each of which has the next in a field of its own: at `offset`, or, 0, where its class says. */
static void linked(struct j9_roots *r, uint64_t object, uint64_t offset)
{
	const struct j9core *j = r->image;
	struct j9_list list = {.mark = 0};

	while (!j9_list_ends(&list, object) && j9_step(r, 1)) {
		const struct j9_class *c = j9_class_of(j, object);
		uint64_t link = offset || !c ? offset : j9_get(j, c->address, AT_CLASS_FINALIZE_LINK);
		j9_root(r, object, ROOT_FINALIZABLE);
		uint64_t next = c && link ? j9core_reference(j, object + link) : 0;
		object = next == object ? 0 : next; /* the last one of a list of References leads to itself */
	}
}

static void finalizable(struct j9_roots *r)
{
	const struct j9core *j = r->image;
	uint64_t extensions = j9_get(j, j->vm, AT_VM_EXTENSIONS), list = j9_get(j, extensions, AT_EXTENSIONS_FINALIZER);
	uint64_t link = j9_get(j, j9_get(j, extensions, AT_EXTENSIONS_BARRIER), AT_BARRIER_REFERENCE_LINK);

	if (!list)
		return;
	linked(r, j9_get(j, list, AT_FINALIZER_SYSTEM), 0);
	linked(r, j9_get(j, list, AT_FINALIZER_DEFAULT), 0);
	if (link)
		linked(r, j9_get(j, list, AT_FINALIZER_REFERENCES), link);
}

static void interned(struct j9_roots *r)
{
	const struct j9core *j = r->image;
	uint64_t extensions = j9_get(j, j->vm, AT_VM_EXTENSIONS);
	uint64_t strings = j9_get(j, extensions, AT_EXTENSIONS_STRINGS), entry;
	uint64_t tables = strings ? j9_get(j, strings, AT_STRINGS_TABLES) : 0, n = j9_get(j, strings, AT_STRINGS_N);
	uint64_t n_cached = j9_constant(j, "MM_StringTable", "cacheSize", 0);

	if (!tables || !j->has[AT_EXTENSIONS_STRINGS_WEAK] || j9_get(j, extensions, AT_EXTENSIONS_STRINGS_WEAK))
		return;
	for (uint64_t i = 0; i < n && i < TABLES_MOST && !r->code; i++) {
		struct j9_table_walk w;
		for (j9_table_walk(&w, j, j9_word(j, tables + i * j->word)); j9_step(r, 1) && j9_table_next(&w, &entry);)
			j9_root(r, j9_word(j, entry), ROOT_INTERNED_STRING);
	}
	for (uint64_t i = 0; j->has[AT_STRINGS_CACHE] && i < n_cached && i < CACHE_MOST; i++)
		j9_root(r, j9_word(j, strings + j->at[AT_STRINGS_CACHE].offset + i * j->word), ROOT_INTERNED_STRING);
}

int j9core_roots(const struct j9core *j, struct sink *sink, struct err *err)
{
	struct j9_roots r = {.image = j, .sink = sink, .err = err};

	classes(&r);
	globals(&r);
	finalizable(&r);
	interned(&r);
	j9_threads(&r);
	if (r.too_long)
		sink->warn(sink, NO_OFFSET, "threads and roots end after %" PRIu64 " steps: a list or a stack is too long",
		    r.n_steps);
	return r.code;
}
