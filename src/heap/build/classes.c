/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * classes.c - which classes there are, and which one each record meant.
 *
 * A dump may mention a class long before it defines it, define two classes of one name (two
 * loaders), or mention a class that it never defines.  So records carry handles until all of the
 * dump was read; here handles become class indices.  A class that the dump mentions and never
 * defines is made up, and heap_class.defined is false for it.
 */
#include "heap/build/build.h"

#include "algorithms/bisect.h"
#include "algorithms/parallel.h"
#include "algorithms/sort.h"
#include "base/text.h"
#include "dump/facts.h"
#include "heap/classes.h"
#include "heap/index.h"
#include "memory/big.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- names -------------------------------------------------------------------------------------- */

static const struct primitive {
	const char *name;
	char letter;
	unsigned size;
} primitives[] = {
	{ "boolean", 'Z', 1 }, { "char", 'C', 2 }, { "float", 'F', 4 }, { "double", 'D', 8 },
	{ "byte", 'B', 1 }, { "short", 'S', 2 }, { "int", 'I', 4 }, { "long", 'J', 8 },
	{ "void", 'V', 0 },
};
enum { N_PRIMITIVES = sizeof primitives / sizeof *primitives };

static const struct primitive *primitive_of_letter(char letter)
{
	for (int i = 0; i < N_PRIMITIVES; i++)
		if (primitives[i].letter == letter)
			return &primitives[i];
	return NULL;
}

static bool is_primitive_name(const char *name)
{
	for (int i = 0; i < N_PRIMITIVES; i++)
		if (!strcmp(primitives[i].name, name))
			return true;
	return false;
}

/* "[[Ljava/lang/String;" is "java.lang.String[][]"; what is no VM signature only trades its slashes. */
static void add_java_name(struct text *to, const char *internal, size_t whole)
{
	size_t depth = strspn(internal, "["), n = whole - depth;
	const char *rest = internal + depth;
	const struct primitive *p = depth && n == 1 ? primitive_of_letter(*rest) : NULL;
	if (depth && !p && !(n > 2 && rest[0] == 'L' && rest[n - 1] == ';')) {
		depth = 0;
		rest = internal;
		n = whole;
	} else if (depth && !p) {
		rest++;
		n -= 2;
	}
	struct text plain = TEXT_INIT;
	if (p)
		text_add(&plain, p->name);
	else
		text_add_n(&plain, rest, n);
	for (size_t i = 0; i < plain.len; i++) /* but "Cls/0x0123": a hidden class and its number */
		if (plain.s[i] == '/' && !(plain.s[i + 1] >= '0' && plain.s[i + 1] <= '9'))
			plain.s[i] = '.';
	for (size_t i = 0; i < depth; i++)
		text_add(&plain, "[]");
	text_add_escaped(to, plain.s ? plain.s : "", plain.len);
	text_release(&plain);
}

/* The internal name of an array's component, as a stretch of the array's own name. */
static const char *component_name(const struct class_name *name, size_t *n)
{
	const char *rest = name->internal + 1;
	*n = name->n - 1;
	if (*rest == 'L' && *n > 2 && rest[*n - 1] == ';') {
		*n -= 2;
		return rest + 1;
	}
	const struct primitive *p = *n == 1 ? primitive_of_letter(*rest) : NULL;
	if (p) {
		*n = strlen(p->name);
		return p->name;
	}
	return rest;
}

static void set_kind(struct heap_class *c, const char *internal)
{
	if (internal[0] == '[') {
		const struct primitive *p = internal[1] && !internal[2] ? primitive_of_letter(internal[1]) : NULL;
		c->kind = p ? CLASS_PRIMITIVE_ARRAY : CLASS_OBJECT_ARRAY;
		c->element_size = p ? p->size : 0;
	} else {
		c->kind = is_primitive_name(internal) ? CLASS_PRIMITIVE : CLASS_PLAIN;
	}
}

/* --- the table ---------------------------------------------------------------------------------- */

/* What people read, made once for each internal name. */
static const char *shown_name(struct build *b, struct class_name *name)
{
	if (name->shown)
		return name->shown;
	struct text made = TEXT_INIT;
	add_java_name(&made, name->internal, name->n);
	name->shown = arena_try_strndup(&b->heap->arena, made.s, made.len, &b->lost);
	text_release(&made);
	return name->shown;
}

/* shown: escaped, or NULL to be made of the internal name.  HEAP_NONE: there was no memory for the class,
 * or for its name, an index in b->names. */
static uint32_t add_class(struct build *b, uint32_t name, const char *shown)
{
	struct heap *h = b->heap;
	uint32_t at = h->n_classes;
	bool room = name != HEAP_NONE && build_class_room(h, (uint64_t)at + 1, &b->lost) == 0;
	uint32_t *place = room ? BIG_PUSH(b->name_of, at, b->cap_names, &b->lost) : NULL;
	struct heap_class *c =
	    place ? BIG_PUSH(h->classes, h->n_classes, b->cap_classes, &b->lost) : NULL;
	if (!c)
		return HEAP_NONE;
	const char *kept = shown ? arena_try_strndup(&h->arena, shown, strlen(shown), &b->lost)
	                         : shown_name(b, &b->names.list[name]);
	*c = (struct heap_class){
		.name = kept ? kept : "",
		.object = HEAP_NONE,
		.superclass = HEAP_NONE,
		.loader = HEAP_NONE,
		.component = HEAP_NONE,
		.instance_size = SIZE_UNKNOWN,
		.type = HEAP_NONE,
	};
	set_kind(c, b->names.list[name].internal);
	*place = name;
	return h->n_classes - 1;
}

struct record_class {
	struct count_pass_class class;
	uint64_t order;
};

static int by_address_then_order(const void *a, const void *b)
{
	const struct record_class *x = a, *y = b;
	if (x->class.address != y->class.address)
		return x->class.address < y->class.address ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* All class records in address order; of two at one address the first in the dump. */
static void collect(struct build *b)
{
	size_t n = 0, k = 0;
	for (unsigned i = 0; i < b->n_parts; i++)
		n += b->parts[i].n_classes;
	struct record_class *all = big_alloc(n, sizeof *all, &b->lost);
	b->defined = big_alloc(n, sizeof *b->defined, &b->lost);
	if (!all || !b->defined) {
		big_free(all);
		return;
	}
	for (unsigned i = 0; i < b->n_parts; i++)
		for (size_t c = 0; c < b->parts[i].n_classes; c++, k++)
			all[k] = (struct record_class){ b->parts[i].classes[c], k };
	if (sort(all, n, sizeof *all, by_address_then_order, &b->lost) < 0)
		n = 0;
	for (size_t i = 0; i < n; i++)
		if (i == 0 || all[i].class.address != all[i - 1].class.address)
			b->defined[b->n_defined++] = all[i].class;
	big_free(all);

	struct heap *h = b->heap;
	for (uint32_t i = 0; i < b->n_defined && !build_stops(b, i); i++) {
		uint32_t index = add_class(b, b->defined[i].name, NULL);
		if (index == HEAP_NONE)
			return;
		struct heap_class *c = &h->classes[index];
		c->address = b->defined[i].address;
		c->defined = true;
		c->fields = b->defined[i].fields;
		c->statics = b->defined[i].statics;
		c->n_fields = b->defined[i].n_fields;
		c->n_statics = b->defined[i].n_statics;
		c->fields_size = b->defined[i].fields_size;
		c->taken = b->defined[i].taken;
		c->instance_size = c->kind == CLASS_PLAIN ? b->defined[i].instance_size : SIZE_UNKNOWN;
		uint32_t id = index_find(h->index, c->address);
		if (id != HEAP_NONE && heap_class_index(h, id) == handle_of_class_objects(b))
			c->object = id;
	}
	h->n_defined_classes = b->n_defined;
}

/* The class whose class object lies at this address, or HEAP_NONE. */
static uint32_t class_at_address(const struct build *b, uint64_t address)
{
	uint32_t at;
	BISECT(at, b->n_defined, b->defined[at].address < address);
	return at < b->n_defined && b->defined[at].address == address ? at : HEAP_NONE;
}

/* Loaders count once they are known; before, all classes have none. */
static int by_name_then_loader(const void *x, const void *y, void *context)
{
	const struct build *b = context;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	uint32_t p = build_class_name(b, i)->rank, q = build_class_name(b, k)->rank;
	if (p == q) {
		p = b->heap->classes[i].loader;
		q = b->heap->classes[k].loader;
	}
	return p != q ? (p > q) - (p < q) : (i > k) - (i < k);
}

static uint32_t *sorted_by_name(struct build *b)
{
	uint32_t *sorted = big_alloc(b->n_defined, sizeof *sorted, &b->lost);
	for (uint32_t i = 0; sorted && i < b->n_defined; i++)
		sorted[i] = i;
	if (sorted && sort_with(sorted, b->n_defined, sizeof *sorted, by_name_then_loader, b, &b->lost) == 0)
		return sorted;
	big_free(sorted);
	return NULL;
}

static void sort_by_name(struct build *b)
{
	if (names_rank(&b->names, &b->lost) == 0)
		b->by_name = sorted_by_name(b);
	b->n_by_name = b->by_name ? b->n_defined : 0;
}

static void sort_by_name_and_loader(struct build *b)
{
	b->by_name_and_loader = sorted_by_name(b);
}

/* strcmp of a NUL-terminated string with a stretch of n bytes. */
static int compare_stretch(const char *s, const char *stretch, size_t n)
{
	size_t length = strnlen(s, n + 1); /* the stretch may have a NUL in it */
	int order = memcmp(s, stretch, length < n ? length : n);
	return order ? order : (length > n) - (length < n);
}

/* The place in by_name of the first class of this name, or HEAP_NONE. */
static uint32_t first_named(const struct build *b, const char *internal_name, size_t n)
{
	uint32_t at;
	BISECT(at, b->n_by_name,
	    compare_stretch(build_class_name(b, b->by_name[at])->internal, internal_name, n) < 0);
	return at < b->n_by_name &&
	    !compare_stretch(build_class_name(b, b->by_name[at])->internal, internal_name, n) ? at : HEAP_NONE;
}

/* Of the classes of one name, which stand from `first` on in by_name, the first with this loader, or the
 * first of all. */
static uint32_t preferred(const struct build *b, uint32_t first, uint32_t loader)
{
	if (first == HEAP_NONE)
		return HEAP_NONE;
	const struct heap_class *classes = b->heap->classes;
	const uint32_t *order = b->by_name_and_loader ? b->by_name_and_loader : b->by_name;
	uint32_t name = b->name_of[b->by_name[first]], rank = b->names.list[name].rank, at;
	if (b->by_name_and_loader) {
		BISECT(at, b->n_by_name, build_class_name(b, order[at])->rank < rank ||
		    (b->name_of[order[at]] == name && classes[order[at]].loader < loader));
	} else {
		at = first;
		while (at < b->n_by_name && b->name_of[order[at]] == name && classes[order[at]].loader != loader)
			at++;
	}
	bool found = at < b->n_by_name && b->name_of[order[at]] == name && classes[order[at]].loader == loader;
	return found ? order[at] : b->by_name[first];
}

uint32_t class_named(const struct build *b, const char *internal_name, size_t n, uint32_t loader)
{
	return preferred(b, first_named(b, internal_name, n), loader);
}

/* --- superclasses ------------------------------------------------------------------------------- */

static int by_vm_class(const void *x, const void *y)
{
	uint64_t a = ((const struct javacore_class *)x)->vm_class, b = ((const struct javacore_class *)y)->vm_class;
	return (a > b) - (a < b);
}

/* The javacore's classes by the addresses of the VM's own classes, big memory, made when the first is asked for. */
struct vm_classes {
	struct javacore_class *sorted;
	bool made;
};

/* The class that the VM has at an address: jdmpview writes that address for a superclass, and the javacore says which
 * class it is.  HEAP_NONE: it does not. */
static uint32_t class_of_vm(struct build *b, struct vm_classes *v, uint64_t address)
{
	const struct javacore *j = b->javacore;
	if (j && !v->made) {
		v->made = true;
		v->sorted = big_alloc(j->n_classes, sizeof *v->sorted, &b->lost);
		if (v->sorted && j->n_classes)
			memcpy(v->sorted, j->classes, j->n_classes * sizeof *v->sorted);
		if (v->sorted && sort(v->sorted, j->n_classes, sizeof *v->sorted, by_vm_class, &b->lost) < 0) {
			big_free(v->sorted);
			v->sorted = NULL;
		}
	}
	struct javacore_class key = { .vm_class = address };
	const struct javacore_class *found =
	    v->sorted ? find_sorted(&key, v->sorted, j->n_classes, sizeof key, by_vm_class) : NULL;
	return found ? class_named(b, found->name, strlen(found->name), index_find(b->heap->index, found->loader)) :
	    HEAP_NONE;
}

/* Superclass by address.  A chain that comes back to itself is cut where it does; a superclass that
 * claims to be java.lang.Class is an old VM's defect and counts as none. */
static void link_superclasses(struct build *b)
{
	struct heap *h = b->heap;
	uint32_t *seen = big_alloc(b->n_defined, sizeof *seen, &b->lost);
	struct vm_classes of_vm = { .sorted = NULL };
	if (!seen)
		return;
	for (uint32_t i = 0; i < b->n_defined && !build_stops(b, i); i++) {
		uint64_t address = b->defined[i].superclass;
		if (!address)
			continue;
		uint32_t super = class_at_address(b, address);
		if (super == HEAP_NONE)
			super = class_of_vm(b, &of_vm, address);
		if (super == HEAP_NONE)
			build_warn(b, "superclass 0x%llx of %s is not in the dump", (unsigned long long)address,
			    h->classes[i].name);
		else if (strcmp(build_class_name(b, super)->internal, "java/lang/Class"))
			h->classes[i].superclass = super;
	}
	big_free(of_vm.sorted);
	for (uint32_t i = 0; i < b->n_defined; i++) {
		uint32_t at = i, last = HEAP_NONE;
		while (at != HEAP_NONE && !seen[at]) {
			seen[at] = i + 1;
			last = at;
			at = h->classes[at].superclass;
		}
		if (at != HEAP_NONE && seen[at] == i + 1) {
			build_warn(b, "the superclasses of %s form a cycle", h->classes[i].name);
			h->classes[last].superclass = HEAP_NONE;
		}
	}
	big_free(seen);
}

/* --- handles ------------------------------------------------------------------------------------ */

/* A class without a record: its loader is not known, and its objects' records say whether it is one of arrays. */
static uint32_t unknown_class(struct build *b, const struct class_handle *c, bool array)
{
	char shown[64], internal[80];
	uint32_t name = c->known_as;
	snprintf(shown, sizeof shown, "<unknown 0x%llx>%s", (unsigned long long)c->address,
	    array ? "[]" : "");
	snprintf(internal, sizeof internal, "%s%s%s", array ? "[L" : "", shown, array ? ";" : "");
	if (name == HEAP_NONE)
		name = names_add(&b->names, internal, strlen(internal), &b->lost);
	uint32_t at = add_class(b, name, c->known_as == HEAP_NONE ? shown : NULL);
	if (at == HEAP_NONE)
		return HEAP_NONE;
	b->heap->classes[at].kind = c->kind == RECORD_OBJECT_ARRAY ? CLASS_OBJECT_ARRAY : CLASS_PLAIN;
	b->heap->classes[at].element_size = 0;
	b->heap->classes[at].loader_lost = b->heap->facts.boot_loader_is_null;
	return at;
}

static void take_loader(struct heap_class *array, const struct heap_class *component)
{
	array->loader = component->loader;
	array->loader_lost = component->loader_lost;
}

static uint32_t array_of(struct build *b, const struct class_handle *handle)
{
	uint32_t component = class_at_address(b, handle->address);
	if (component == HEAP_NONE)
		return unknown_class(b, handle, true);
	const char *name = build_class_name(b, component)->internal;
	struct text internal = TEXT_INIT;
	text_addf(&internal, name[0] == '[' ? "[%s" : "[L%s;", name);
	uint32_t array =
	    class_named(b, internal.s, internal.len, b->heap->classes[component].loader);
	if (array == HEAP_NONE) {
		array = add_class(b, names_add(&b->names, internal.s, internal.len, &b->lost), NULL);
		if (array != HEAP_NONE)
			take_loader(&b->heap->classes[array], &b->heap->classes[component]);
	}
	text_release(&internal);
	return array;
}

static int by_first_use(const void *x, const void *y, void *handles)
{
	const struct class_handle *all = handles;
	uint64_t a = all[*(const uint32_t *)x].first, b = all[*(const uint32_t *)y].first;
	return (a > b) - (a < b);
}

static void order_handles(struct build *b)
{
	b->used_handles = big_alloc(b->n_handles, sizeof *b->used_handles, &b->lost);
	for (uint32_t i = 0; b->used_handles && i < b->n_handles && !build_stops(b, i); i++)
		if (b->handles[i].kind != HANDLE_UNUSED)
			b->used_handles[b->n_used_handles++] = i;
	if (b->used_handles)
		(void)!sort_with(b->used_handles, b->n_used_handles, sizeof *b->used_handles, by_first_use, b->handles,
		    &b->lost);
}

/* Records say so of a class whose name is lost. */
static void make_array_class(struct heap_class *c)
{
	if (c->kind != CLASS_PLAIN)
		return;
	c->kind = CLASS_OBJECT_ARRAY;
	c->instance_size = SIZE_UNKNOWN;
}

static void resolve_plain_handles(struct build *b)
{
	for (uint32_t i = 0; i < b->n_used_handles && !build_stops(b, i); i++) {
		struct class_handle *c = &b->handles[b->used_handles[i]];
		if (c->how == CLASS_AT) {
			c->resolved = class_at_address(b, c->address);
			if (c->resolved == HEAP_NONE)
				c->resolved = unknown_class(b, c, false);
			else if (c->kind == RECORD_OBJECT_ARRAY)
				make_array_class(&b->heap->classes[c->resolved]);
		} else if (c->how == CLASS_NAMED) {
			c->resolved = class_named(b, c->name, strlen(c->name), HEAP_NONE);
			if (c->resolved == HEAP_NONE)
				c->resolved = add_class(b, names_add(&b->names, c->name, strlen(c->name), &b->lost), NULL);
		} else if (c->how == CLASS_SHOWN) {
			c->resolved = add_class(b, names_add(&b->names, "", 0, &b->lost), c->name);
		}
	}
}

/* Classic records name their class by its name alone: where several have it, say what is not known. */
static void note_namesakes(struct build *b)
{
	struct heap *h = b->heap;
	bool *named = big_alloc(h->n_classes, sizeof *named, &b->lost);
	if (!named)
		return;
	for (uint32_t i = 0; i < b->n_used_handles; i++) {
		const struct class_handle *c = &b->handles[b->used_handles[i]];
		if (c->how == CLASS_NAMED && c->resolved != HEAP_NONE)
			named[c->resolved] = true;
	}
	for (uint32_t i = 0, end; i < b->n_by_name && !build_stops(b, i); i = end) {
		uint32_t name = b->name_of[b->by_name[i]];
		bool any = false;
		for (end = i; end < b->n_by_name && b->name_of[b->by_name[end]] == name; end++)
			any |= named[b->by_name[end]];
		if (!any || end - i < 2)
			continue;
		for (uint32_t k = i; k < end; k++)
			h->classes[b->by_name[k]].name_shared = h->names_shared = true;
		build_warn(b, "%u classes have the name %s: the dump does not record which objects belong to "
		    "which, so the first gets all of them", end - i, h->classes[b->by_name[i]].name);
	}
	big_free(named);
}

/* Whether every object array names an array class: then the dump names the arrays themselves. */
static bool component_is_self(const struct build *b)
{
	bool any = false;
	for (uint32_t i = 0; i < b->n_used_handles; i++) {
		const struct class_handle *c = &b->handles[b->used_handles[i]];
		if (c->how != CLASS_COMPONENT_OR_SELF)
			continue;
		uint32_t class = class_at_address(b, c->address);
		if (class == HEAP_NONE || build_class_name(b, class)->internal[0] != '[')
			return false;
		any = true;
	}
	return any;
}

static void resolve_array_handles(struct build *b)
{
	bool self = component_is_self(b);
	for (uint32_t i = 0; i < b->n_used_handles && !build_stops(b, i); i++) {
		struct class_handle *c = &b->handles[b->used_handles[i]];
		if (c->how == CLASS_COMPONENT_OR_SELF && self)
			c->resolved = class_at_address(b, c->address);
		else if (c->how == CLASS_ARRAY_OF || c->how == CLASS_COMPONENT_OR_SELF)
			c->resolved = array_of(b, c);
	}
}

/* The classes of a component's name are looked up once for each name. */
static void link_components(struct build *b)
{
	struct heap *h = b->heap;
	for (uint32_t i = 0; i < h->n_classes && !build_stops(b, i); i++) {
		if (h->classes[i].kind != CLASS_OBJECT_ARRAY && h->classes[i].kind != CLASS_PRIMITIVE_ARRAY)
			continue;
		struct class_name *name = &b->names.list[b->name_of[i]];
		if (name->internal[0] != '[') /* only its objects' records say that it is one of arrays */
			continue;
		if (!name->component_known) {
			size_t n;
			const char *component = component_name(name, &n);
			name->component = first_named(b, component, n);
			name->component_known = true;
		}
		h->classes[i].component = preferred(b, name->component, h->classes[i].loader);
	}
	heap_keep_arrays(h);
}

/* Where records carry sizes, the first instance tells its class's size. */
static void take_instance_sizes(struct build *b)
{
	for (uint32_t i = 0; i < b->n_used_handles; i++) {
		const struct class_handle *c = &b->handles[b->used_handles[i]];
		if (c->resolved == HEAP_NONE)
			continue;
		struct heap_class *class = &b->heap->classes[c->resolved];
		if (class->instance_size == SIZE_UNKNOWN && class->kind == CLASS_PLAIN)
			class->instance_size = c->instance_size;
	}
}

/* java.lang.Class, made up when neither a record nor a mention tells of it. */
static void find_java_lang_class(struct build *b)
{
	static const char name[] = "java/lang/Class";
	struct heap *h = b->heap;
	h->java_lang_class = HEAP_NONE;
	if (h->facts.no_class_objects)
		return;
	h->java_lang_class = class_named(b, name, strlen(name), h->boot_loader);
	for (uint32_t i = b->n_defined; i < h->n_classes && h->java_lang_class == HEAP_NONE; i++)
		if (!strcmp(build_class_name(b, i)->internal, name))
			h->java_lang_class = i;
	if (h->java_lang_class == HEAP_NONE)
		h->java_lang_class = add_class(b, names_add(&b->names, name, strlen(name), &b->lost), NULL);
	if (h->java_lang_class == HEAP_NONE)
		return;
	struct heap_class *class = &h->classes[h->java_lang_class];
	if (class->instance_size == SIZE_UNKNOWN)
		class->instance_size = b->class_objects.instance_size;
}

/* ART and Dalvik write a static field with an array of zeros for the room that static fields and tables take in a class
 * object (art/runtime/hprof/hprof.cc, kClassOverheadName; dalvik/vm/hprof/HprofHeap.cpp, STATIC_OVERHEAD_NAME). */
static bool is_class_overhead(const struct heap *h, const struct heap_field *f, uint32_t *id)
{
	if (f->type != VALUE_OBJECT || f->name[0] != '$' ||
	    (strcmp(f->name, "$classOverhead") != 0 && strcmp(f->name, "$staticOverhead") != 0))
		return false;
	*id = heap_find(h, f->value);
	return *id != HEAP_NONE && !strcmp(h->classes[heap_class_index(h, *id)].name, "byte[]");
}

/* Nothing of the program allocated them, so they get a class of their own. */
static void set_class_overhead_apart(struct build *b)
{
	struct heap *h = b->heap;
	uint32_t own = HEAP_NONE, n = h->n_classes, id;
	for (uint32_t c = 0; c < n && !build_stops(b, c); c++) {
		for (uint32_t i = 0; i < h->classes[c].n_statics; i++) {
			if (!is_class_overhead(h, &h->classes[c].statics[i], &id))
				continue;
			uint32_t bytes = heap_class_index(h, id);
			if (own == HEAP_NONE && (own = add_class(b, b->name_of[bytes], CLASS_OVERHEAD)) == HEAP_NONE)
				return;
			h->classes[own].component = h->classes[bytes].component;
			heap_set_class_index(h, id, own);
		}
	}
}

enum { RESOLVED_AT_ONCE = 1 << 18 };

struct resolving {
	struct heap *heap;
	uint32_t *classes; /* of each handle, and of that of class objects */
};

static int resolve_some(void *context, unsigned task, struct err *err)
{
	const struct resolving *r = context;
	uint64_t id = (uint64_t)task * RESOLVED_AT_ONCE, end = id + RESOLVED_AT_ONCE;
	(void)err;
	for (end = end < r->heap->n_objects ? end : r->heap->n_objects; id < end; id++)
		heap_set_class_index(r->heap, (uint32_t)id, r->classes[heap_class_index(r->heap, (uint32_t)id)]);
	return 0;
}

static int resolve_objects(struct build *b, struct err *err)
{
	const uint32_t n = handle_of_class_objects(b);
	struct resolving r = { b->heap, big_alloc((uint64_t)n + 1, sizeof *r.classes, err) };
	if (!r.classes)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < n; i++)
		r.classes[i] = b->handles[i].resolved;
	r.classes[n] = b->heap->java_lang_class;
	int code = parallel_run(0, b->heap->n_objects / RESOLVED_AT_ONCE + 1, resolve_some, &r, err);
	big_free(r.classes);
	return code;
}

int classes_resolve(struct build *b, struct err *err)
{
	static void (*const step[])(struct build *) = {
		collect, sort_by_name, link_superclasses, order_handles, resolve_plain_handles, note_namesakes, loaders_find,
		sort_by_name_and_loader, resolve_array_handles, take_instance_sizes, find_java_lang_class, link_components,
	};
	struct heap *h = b->heap;
	for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
		step[i](b);
		int code = build_check(b, err);
		if (code < 0)
			return code;
	}
	int code = resolve_objects(b, err);
	if (code == 0) {
		set_class_overhead_apart(b);
		code = build_check(b, err);
	}
	return code < 0 ? code : heap_order_names(h, err);
}
