/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * histogram.c - objects and bytes per class, and the same summed by what classes have in common.
 *
 * The heap has counted its classes already; only a histogram of chosen objects walks objects.
 * Any thread.
 */
#include "analysis/histogram.h"

#include "analysis/search.h"
#include "base/arena.h"
#include "base/big.h"

#include <stdlib.h>
#include <string.h>

/* Objects and bytes of every class within the scope. */
struct tally {
	uint64_t objects, shallow, unknown;
	bool in_scope;
};

static int tally_classes(struct tally **out, const struct heap *h,
    const struct histogram_scope *scope, struct err *err)
{
	struct tally *t = big_alloc(h->n_classes, sizeof *t, err);
	if (!t)
		return ERR_NOMEM;
	for (uint32_t c = 0; c < h->n_classes; c++)
		t[c].in_scope = !scope->classes;
	for (size_t i = 0; i < scope->n_classes; i++)
		t[scope->classes[i]].in_scope = true;
	if (scope->objects) {
		for (size_t i = 0; i < scope->n_objects; i++) {
			uint32_t c = h->class_of[scope->objects[i]];
			t[c].objects++;
			t[c].shallow += heap_shallow(h, scope->objects[i]);
			t[c].unknown += h->n_unknown_size && !heap_size_known(h, scope->objects[i]);
		}
	} else {
		for (uint32_t c = 0; c < h->n_classes; c++) {
			t[c].objects = h->classes[c].n_objects;
			t[c].shallow = h->classes[c].shallow;
			t[c].unknown = h->classes[c].n_unknown;
		}
	}
	*out = t;
	return 0;
}

/* Of a type as Go writes it: the package of what it is made of, "main" of "map[string]*main.Order".
 * The last slash before a name is in the path of its package.  NULL: it is in none. */
static const char *package_of_type(const char *name, size_t *n)
{
	static const char *const before[] = {"*", "[]", "chan ", "<-chan ", "chan<- ", "closure of "};
	for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
		if (!strncmp(name, before[i], strlen(before[i]))) {
			name += strlen(before[i]);
			i = (size_t)-1; /* from the first again */
		} else if (*name == '[' || !strncmp(name, "map[", 4)) { /* "[4]", a key, which may have "]" */
			unsigned deep = 0;
			for (name += strcspn(name, "["); *name; name++) {
				deep += *name == '[';
				deep -= *name == ']';
				if (!deep)
					break;
			}
			name += *name == ']';
			i = (size_t)-1;
		}
	}
	const char *end = name + strcspn(name, "[<{( "), *start = name, *dot;
	for (const char *s = name; s < end; s++)
		start = *s == '/' ? s : start;
	dot = memchr(start, '.', (size_t)(end - start));
	*n = dot ? (size_t)(dot - name) : 0;
	return dot ? name : NULL;
}

const char *package_of(const struct heap_class *c, size_t *n)
{
	bool closure = !strncmp(c->name, "closure of ", 11);
	const char *of_type = c->type != HEAP_NONE || closure ? package_of_type(c->name, n) : NULL;
	if (of_type)
		return of_type;
	const char *end = c->type != HEAP_NONE ? c->name : strchr(c->name, '['), *dot = NULL;
	if (!end)
		end = c->name + strlen(c->name);
	/* what follows a slash is a hidden class's number, not a part of the name */
	for (const char *s = c->name; s < end && *s != '/'; s++) {
		if (*s == '.')
			dot = s;
	}
	if (dot) {
		*n = (size_t)(dot - c->name);
		return c->name;
	}
	bool primitive = c->kind == CLASS_PRIMITIVE || c->kind == CLASS_PRIMITIVE_ARRAY;
	const char *name = primitive ? "<primitive>" : "<default>";
	*n = strlen(name);
	return name;
}

/* by_name: the row that it becomes a part of has all classes of its name. */
static struct histogram_row row_of_class(const struct heap *h, uint32_t c, const struct tally *t,
    const struct histogram_scope *scope, bool by_name)
{
	struct amount objects = scope->chosen ? scope->chosen(h, t->objects) : heap_counted(h, t->objects);
	struct amount shallow = objects;
	shallow.n = t->shallow;
	shallow = heap_sized(h, shallow, t->unknown);
	if (h->classes[c].name_shared && !by_name) {
		objects = amount_weaken(objects, INFERRED, REASON_NAMES_SHARED);
		shallow = amount_weaken(shallow, INFERRED, REASON_NAMES_SHARED);
	}
	if (t->unknown && t->unknown == t->objects)
		shallow = amount_unknown(REASON_SIZES_UNKNOWN);
	return (struct histogram_row){
	    .name = h->classes[c].name,
	    .class = c,
	    .loader = h->classes[c].loader,
	    .n_classes = 1,
	    .objects = objects,
	    .shallow = shallow,
	};
}

/* What the row is summed under: fields that do not belong to the group are emptied. */
static int generalise(struct histogram *out, const struct heap *h, enum histogram_by by,
    struct histogram_row *row, struct err *err)
{
	const struct heap_class *c = &h->classes[row->class];
	size_t n;
	switch (by) {
	case BY_CLASS:
		return 0;
	case BY_PACKAGE: {
		const char *s = package_of(c, &n);
		row->name = arena_try_strndup(&out->arena, s, n, err);
		row->class = row->loader = HEAP_NONE;
		return row->name ? 0 : ERR_NOMEM;
	}
	case BY_LOADER:
		row->name = c->loader == HEAP_NONE ? NULL : heap_class_of(h, c->loader)->name;
		row->class = HEAP_NONE;
		return 0;
	case BY_SUPERCLASS:
		row->class = c->superclass;
		row->name = c->superclass == HEAP_NONE ? NULL : h->classes[c->superclass].name;
		row->loader = HEAP_NONE;
		return 0;
	}
	return 0;
}

static int by_group(const void *a, const void *b)
{
	const struct histogram_row *x = a, *y = b;
	int order = strcmp(x->name ? x->name : "", y->name ? y->name : "");
	if (!order)
		order = (x->loader > y->loader) - (x->loader < y->loader);
	return order ? order : (x->class > y->class) - (x->class < y->class);
}

static void merge_groups(struct histogram *out)
{
	size_t n = 0;
	qsort(out->rows, out->n, sizeof *out->rows, by_group);
	for (size_t i = 0; i < out->n; i++) {
		struct histogram_row *row = &out->rows[i];
		if (n && !by_group(&out->rows[n - 1], row)) {
			out->rows[n - 1].n_classes++;
			out->rows[n - 1].objects = amount_add(out->rows[n - 1].objects, row->objects);
			out->rows[n - 1].shallow = amount_add(out->rows[n - 1].shallow, row->shallow);
		} else {
			out->rows[n++] = *row;
		}
	}
	out->n = n;
}

int histogram_make(struct histogram *out, const struct heap *heap, enum histogram_by by,
    const struct histogram_scope *scope, struct err *err)
{
	struct tally *t = NULL;
	size_t cap = 0;
	*out = (struct histogram){.arena = ARENA_INIT};
	int code = tally_classes(&t, heap, scope, err);
	if (code)
		return code;
	for (uint32_t c = 0; !code && c < heap->n_classes; c++) {
		if (!t[c].in_scope || (!t[c].objects && !scope->empty))
			continue;
		struct histogram_row row = row_of_class(heap, c, &t[c], scope, by == BY_PACKAGE);
		code = generalise(out, heap, by, &row, err);
		struct histogram_row *to = code ? NULL : BIG_PUSH(out->rows, out->n, cap, err);
		if (to)
			*to = row;
		else
			code = ERR_NOMEM;
	}
	big_free(t);
	if (code)
		histogram_release(out);
	else if (by != BY_CLASS && out->n)
		merge_groups(out);
	return code;
}

static int group_classes(struct histogram *h, const struct heap *heap, enum histogram_by by,
    const struct histogram_scope *scope, const struct bits *chosen, uint32_t *group,
    struct err *err)
{
	uint32_t next = 0;
	for (uint32_t c = 0; c < heap->n_classes; c++) {
		group[c] = HEAP_NONE;
		if (scope->classes && !bits_get(chosen, c))
			continue;
		if (by == BY_CLASS) { /* rows in class order, some left out */
			if (next < h->n && h->rows[next].class == c)
				group[c] = next++;
			continue;
		}
		struct histogram_row key = {.class = c, .loader = heap->classes[c].loader};
		if (generalise(h, heap, by, &key, err))
			return ERR_NOMEM;
		const struct histogram_row *row =
		    h->n ? bsearch(&key, h->rows, h->n, sizeof *h->rows, by_group) : NULL;
		if (row)
			group[c] = (uint32_t)(row - h->rows);
	}
	return 0;
}

uint32_t *histogram_groups(struct histogram *h, const struct heap *heap, enum histogram_by by,
    const struct histogram_scope *scope, struct err *err)
{
	struct bits chosen;
	if (bits_init(&chosen, heap->n_classes, err))
		return NULL;
	for (size_t i = 0; i < scope->n_classes; i++)
		bits_set(&chosen, scope->classes[i]);
	uint32_t *group = big_alloc((uint64_t)heap->n_classes + 1, sizeof *group, err);
	if (group && group_classes(h, heap, by, scope, &chosen, group, err)) {
		big_free(group);
		group = NULL;
	}
	bits_release(&chosen);
	return group;
}

int histogram_members(const struct heap *heap, const uint32_t *group, const struct bits *rows,
    const struct bits *only, struct bits *to, struct err *err)
{
	struct bits classes;
	int code = bits_init(&classes, heap->n_classes, err);
	for (uint32_t c = 0; !code && c < heap->n_classes; c++) {
		if (group[c] != HEAP_NONE && bits_get(rows, group[c]))
			bits_set(&classes, c);
	}
	if (!code)
		objects_mark(heap, &classes, only, to);
	bits_release(&classes);
	return code;
}

void histogram_release(struct histogram *h)
{
	big_free(h->rows);
	arena_release(&h->arena);
	*h = (struct histogram){.arena = ARENA_INIT};
}
