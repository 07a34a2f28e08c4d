/* SPDX-License-Identifier: GPL-3.0-or-later */
/* packages.c - see packages.h. */
#include "analysis/packages.h"

#include "algorithms/sort.h"
#include "base/progress.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <string.h>

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

/* The dot before all else, so that what is in a package follows it at once. */
static int by_name(const void *x, const void *y, void *context)
{
	const struct packages *p = context;
	const struct package *a = &p->list[*(const uint32_t *)x], *b = &p->list[*(const uint32_t *)y];
	for (size_t i = 0; a->name != b->name && i < a->n && i < b->n; i++) {
		int k = a->name[i] == '.' ? 0 : (unsigned char)a->name[i];
		int l = b->name[i] == '.' ? 0 : (unsigned char)b->name[i];
		if (k != l)
			return k - l;
	}
	return (a->n > b->n) - (a->n < b->n);
}

static bool same_package(const struct heap_class *a, const struct heap_class *b)
{
	return a->name == b->name && a->kind == b->kind && a->type == b->type;
}

/* known: by rank of a name, 1 + the class of that name that was looked at last. */
static void find(struct packages *p, const struct heap *h, uint32_t *known)
{
	for (uint32_t c = 0; c < h->n_classes && !progress_own_stops(8 * c); c++) {
		const struct heap_class *class = &h->classes[c];
		uint32_t *last = &known[class->name_rank];
		if (*last && same_package(class, &h->classes[*last - 1])) {
			p->of[c] = p->of[*last - 1];
			continue;
		}
		p->list[p->n].name = package_of(class, &p->list[p->n].n);
		p->of[c] = p->n++;
		*last = c + 1;
	}
}

int packages_make(struct packages *out, const struct heap *h, struct err *err)
{
	*out = (struct packages){
		.list = big_alloc(h->n_classes, sizeof *out->list, err),
		.of = big_alloc(h->n_classes, sizeof *out->of, err),
	};
	uint32_t *order = big_alloc(h->n_classes, sizeof *order, err); /* zeroed */
	int code = out->list && out->of && order ? 0 : ERR_NOMEM;
	if (code == 0) {
		find(out, h, order);
		for (uint32_t i = 0; i < out->n; i++)
			order[i] = i;
		code = sort_with(order, out->n, sizeof *order, by_name, out, err);
		if (code == 0) /* not all classes have one */
			code = progress_check(progress_own(), err);
	}
	for (uint32_t i = 0, rank = 0; code == 0 && i < out->n; i++) {
		rank += i && by_name(&order[i - 1], &order[i], out);
		out->list[order[i]].rank = rank;
	}
	big_free(order);
	if (code < 0)
		packages_release(out);
	return code;
}

void packages_release(struct packages *p)
{
	big_free(p->list);
	big_free(p->of);
	*p = (struct packages){ .list = NULL };
}
