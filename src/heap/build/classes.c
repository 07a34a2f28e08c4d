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

#include "base/big.h"
#include "base/bisect.h"
#include "base/text.h"

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
static void add_java_name(struct text *to, const char *internal)
{
	size_t depth = strspn(internal, "["), n = strlen(internal) - depth;
	const char *rest = internal + depth;
	const struct primitive *p = depth && n == 1 ? primitive_of_letter(*rest) : NULL;
	if (depth && !p && !(n > 2 && rest[0] == 'L' && rest[n - 1] == ';')) {
		depth = 0;
		rest = internal;
		n = strlen(internal);
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
static const char *component_name(const char *internal, size_t *n)
{
	const char *rest = internal + 1;
	*n = strlen(rest);
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

/* HEAP_NONE: there was no memory for it, or for its internal name. */
static uint32_t add_class(struct build *b, const char *internal, const char *shown)
{
	struct heap *h = b->heap;
	uint32_t at = h->n_classes;
	const char **place = internal ? BIG_PUSH(b->internal_names, at, b->cap_names, &b->lost) : NULL;
	struct heap_class *c =
	    place ? BIG_PUSH(h->classes, h->n_classes, b->cap_classes, &b->lost) : NULL;
	if (!c)
		return HEAP_NONE;
	struct text name = TEXT_INIT;
	if (shown)
		text_add(&name, shown);
	else
		add_java_name(&name, internal);
	const char *kept = arena_try_strndup(&h->arena, name.s, name.len, &b->lost);
	*c = (struct heap_class){
		.name = kept ? kept : "",
		.object = HEAP_NONE,
		.superclass = HEAP_NONE,
		.loader = HEAP_NONE,
		.component = HEAP_NONE,
		.instance_size = SIZE_UNKNOWN,
		.type = HEAP_NONE,
	};
	text_release(&name);
	set_kind(c, internal);
	*place = internal;
	return h->n_classes - 1;
}

struct record_class {
	struct survey_class class;
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
	qsort(all, n, sizeof *all, by_address_then_order);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || all[i].class.address != all[i - 1].class.address)
			b->defined[b->n_defined++] = all[i].class;
	big_free(all);

	struct heap *h = b->heap;
	for (uint32_t i = 0; i < b->n_defined; i++) {
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
		c->instance_size = c->kind == CLASS_PLAIN ? b->defined[i].instance_size : SIZE_UNKNOWN;
		uint32_t id = index_find(h->index, c->address);
		if (id != HEAP_NONE && h->class_of[id] == HANDLE_JAVA_LANG_CLASS)
			c->object = id;
	}
	h->n_defined_classes = b->n_defined;
}

uint32_t class_at_address(const struct build *b, uint64_t address)
{
	uint32_t at;
	BISECT(at, b->n_defined, b->defined[at].address < address);
	return at < b->n_defined && b->defined[at].address == address ? at : HEAP_NONE;
}

static int by_internal_name(const void *x, const void *y, void *context)
{
	const struct build *b = context;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	int order = strcmp(b->internal_names[i], b->internal_names[k]);
	return order ? order : (i > k) - (i < k);
}

static void sort_by_name(struct build *b)
{
	b->by_name = big_alloc(b->n_defined, sizeof *b->by_name, &b->lost);
	if (!b->by_name)
		return;
	b->n_by_name = b->n_defined;
	for (uint32_t i = 0; i < b->n_by_name; i++)
		b->by_name[i] = i;
	qsort_r(b->by_name, b->n_by_name, sizeof *b->by_name, by_internal_name, b);
}

/* strcmp of a NUL-terminated string with a stretch of n bytes. */
static int compare_stretch(const char *s, const char *stretch, size_t n)
{
	int order = strncmp(s, stretch, n);
	return order ? order : s[n] != '\0';
}

uint32_t class_named(const struct build *b, const char *internal_name, size_t n, uint32_t loader)
{
	uint32_t at;
	BISECT(at, b->n_by_name,
	    compare_stretch(b->internal_names[b->by_name[at]], internal_name, n) < 0);
	uint32_t found = HEAP_NONE;
	for (; at < b->n_by_name; at++) {
		uint32_t i = b->by_name[at];
		if (compare_stretch(b->internal_names[i], internal_name, n))
			break;
		if (found == HEAP_NONE || b->heap->classes[i].loader == loader)
			found = i;
		if (b->heap->classes[i].loader == loader)
			break;
	}
	return found;
}

/* --- superclasses ------------------------------------------------------------------------------- */

/* Superclass by address.  A chain that comes back to itself is cut where it does; a superclass that
 * claims to be java.lang.Class is an old VM's defect and counts as none. */
static void link_superclasses(struct build *b)
{
	struct heap *h = b->heap;
	uint32_t *seen = big_alloc(b->n_defined, sizeof *seen, &b->lost);
	if (!seen)
		return;
	for (uint32_t i = 0; i < b->n_defined; i++) {
		uint64_t address = b->defined[i].superclass;
		if (!address)
			continue;
		uint32_t super = class_at_address(b, address);
		if (super == HEAP_NONE)
			build_warn(b, "superclass 0x%llx of %s is not in the dump", (unsigned long long)address,
			    h->classes[i].name);
		else if (strcmp(b->internal_names[super], "java/lang/Class"))
			h->classes[i].superclass = super;
	}
	for (uint32_t i = 0; i < b->n_defined; i++) {
		uint32_t at = i, last = HEAP_NONE;
		while (at != HEAP_NONE && !seen[at]) {
			seen[at] = i + 1;
			last = at;
			at = h->classes[at].superclass;
		}
		if (at != HEAP_NONE && seen[at] == i + 1) {
			build_warn(b, "superclasses of %s form a loop", h->classes[i].name);
			h->classes[last].superclass = HEAP_NONE;
		}
	}
	big_free(seen);
}

/* --- handles ------------------------------------------------------------------------------------ */

static uint32_t unknown_class(struct build *b, const struct class_handle *c, bool array)
{
	char shown[64], internal[80];
	snprintf(shown, sizeof shown, "<unknown 0x%llx>%s", (unsigned long long)c->address,
	    array ? "[]" : "");
	snprintf(internal, sizeof internal, "%s%s%s", array ? "[L" : "", shown, array ? ";" : "");
	return add_class(b, arena_try_strndup(&b->arena, internal, strlen(internal), &b->lost), shown);
}

static uint32_t array_of(struct build *b, const struct class_handle *handle)
{
	uint32_t component = class_at_address(b, handle->address);
	if (component == HEAP_NONE)
		return unknown_class(b, handle, true);
	const char *name = b->internal_names[component];
	struct text internal = TEXT_INIT;
	text_addf(&internal, name[0] == '[' ? "[%s" : "[L%s;", name);
	uint32_t array =
	    class_named(b, internal.s, internal.len, b->heap->classes[component].loader);
	if (array == HEAP_NONE) {
		array = add_class(b, arena_try_strndup(&b->arena, internal.s, internal.len, &b->lost), NULL);
		if (array != HEAP_NONE)
			b->heap->classes[array].loader = b->heap->classes[component].loader;
	}
	text_release(&internal);
	return array;
}

static void resolve_plain_handles(struct build *b)
{
	for (uint32_t i = 0; i < b->n_handles; i++) {
		struct class_handle *c = &b->handles[i];
		if (c->kind == HANDLE_UNUSED)
			continue;
		if (c->how == CLASS_AT) {
			c->resolved = class_at_address(b, c->address);
			if (c->resolved == HEAP_NONE)
				c->resolved = unknown_class(b, c, false);
		} else if (c->how == CLASS_NAMED) {
			c->resolved = class_named(b, c->name, strlen(c->name), HEAP_NONE);
			if (c->resolved == HEAP_NONE)
				c->resolved = add_class(b, c->name, NULL); /* handles differ by name */
		} else if (c->how == CLASS_SHOWN) {
			c->resolved = add_class(b, "", c->name);
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
	for (uint32_t i = 0; i < b->n_handles; i++)
		if (b->handles[i].how == CLASS_NAMED && b->handles[i].resolved != HEAP_NONE)
			named[b->handles[i].resolved] = true;
	for (uint32_t i = 0, end; i < b->n_by_name; i = end) {
		const char *name = b->internal_names[b->by_name[i]];
		bool any = false;
		for (end = i; end < b->n_by_name && !strcmp(b->internal_names[b->by_name[end]], name); end++)
			any |= named[b->by_name[end]];
		if (!any || end - i < 2)
			continue;
		for (uint32_t k = i; k < end; k++)
			h->classes[b->by_name[k]].name_shared = h->names_shared = true;
		build_warn(b, "%u classes are called %s: the dump does not tell which objects are whose, all "
		    "count for one", end - i, h->classes[b->by_name[i]].name);
	}
	big_free(named);
}

/* Whether every object array names an array class: then the dump names the arrays themselves. */
static bool component_is_self(const struct build *b)
{
	bool any = false;
	for (uint32_t i = 0; i < b->n_handles; i++) {
		const struct class_handle *c = &b->handles[i];
		if (c->how != CLASS_COMPONENT_OR_SELF || c->kind == HANDLE_UNUSED)
			continue;
		uint32_t class = class_at_address(b, c->address);
		if (class == HEAP_NONE || b->internal_names[class][0] != '[')
			return false;
		any = true;
	}
	return any;
}

static void resolve_array_handles(struct build *b)
{
	bool self = component_is_self(b);
	for (uint32_t i = 0; i < b->n_handles; i++) {
		struct class_handle *c = &b->handles[i];
		if (c->kind == HANDLE_UNUSED)
			continue;
		if (c->how == CLASS_COMPONENT_OR_SELF && self)
			c->resolved = class_at_address(b, c->address);
		else if (c->how == CLASS_ARRAY_OF || c->how == CLASS_COMPONENT_OR_SELF)
			c->resolved = array_of(b, c);
	}
}

static void link_components(struct build *b)
{
	struct heap *h = b->heap;
	for (uint32_t i = 0; i < h->n_classes; i++) {
		if (h->classes[i].kind != CLASS_OBJECT_ARRAY && h->classes[i].kind != CLASS_PRIMITIVE_ARRAY)
			continue;
		size_t n;
		const char *name = component_name(b->internal_names[i], &n);
		h->classes[i].component = class_named(b, name, n, h->classes[i].loader);
	}
}

/* Where records carry sizes, the first instance tells its class's size. */
static void take_instance_sizes(struct build *b)
{
	for (uint32_t i = 0; i < b->n_handles; i++) {
		const struct class_handle *c = &b->handles[i];
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
		if (!strcmp(b->internal_names[i], name))
			h->java_lang_class = i;
	if (h->java_lang_class == HEAP_NONE)
		h->java_lang_class = add_class(b, name, NULL);
	if (h->java_lang_class == HEAP_NONE)
		return;
	struct heap_class *class = &h->classes[h->java_lang_class];
	if (class->instance_size == SIZE_UNKNOWN)
		class->instance_size = b->class_objects.instance_size;
}

int classes_resolve(struct build *b, struct err *err)
{
	static void (*const step[])(struct build *) = {
		collect, sort_by_name, link_superclasses, resolve_plain_handles, note_namesakes, loaders_find,
		resolve_array_handles, take_instance_sizes, find_java_lang_class, link_components,
	};
	struct heap *h = b->heap;
	for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
		step[i](b);
		int code = build_check(b, err);
		if (code < 0)
			return code;
	}
	for (uint32_t id = 0; id < h->n_objects; id++)
		h->class_of[id] = h->class_of[id] == HANDLE_JAVA_LANG_CLASS
		    ? h->java_lang_class : b->handles[h->class_of[id]].resolved;
	return 0;
}
