/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * search.c - classes by name, objects by address.
 */
#include "analysis/search.h"

#include "algorithms/bisect.h"
#include "algorithms/bits.h"
#include "algorithms/sort.h"
#include "base/mem.h"
#include "base/progress.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- the index -------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b, void *context)
{
	const struct heap *h = context;
	return heap_class_order(h->classes, *(const uint32_t *)a, *(const uint32_t *)b);
}

struct name_index *name_index_new(const struct heap *heap, struct err *err)
{
	uint32_t *list = big_alloc(heap->n_classes, sizeof *list, err);
	if (!list)
		return NULL;
	for (uint32_t c = 0; c < heap->n_classes; c++)
		list[c] = c;
	if (sort_with(list, heap->n_classes, sizeof *list, by_name, (void *)heap, err)) {
		big_free(list);
		return NULL;
	}
	struct name_index *ix = xcalloc(1, sizeof *ix);
	ix->heap = heap;
	ix->n = heap->n_classes;
	ix->by_name = list;
	return ix;
}

void name_index_free(struct name_index *ix)
{
	if (!ix)
		return;
	big_free(ix->by_name);
	free(ix);
}

const char *name_index_name(const struct name_index *ix, uint32_t position)
{
	return ix->heap->classes[ix->by_name[position]].name;
}

bool name_index_repeats(const struct name_index *ix, uint32_t position)
{
	const struct heap_class *classes = ix->heap->classes;
	return position && classes[ix->by_name[position]].name_rank ==
	    classes[ix->by_name[position - 1]].name_rank;
}

/* Position of the first name that is not below the first n bytes of word. */
static uint32_t lower_bound(const struct name_index *ix, const char *word)
{
	uint32_t at;
	BISECT(at, ix->n, strcmp(name_index_name(ix, at), word) < 0);
	return at;
}

uint32_t name_index_exact(const struct name_index *ix, const char *name, uint32_t *first)
{
	uint32_t at = *first = lower_bound(ix, name);
	while (at < ix->n && (at > *first ? name_index_repeats(ix, at) : !strcmp(name_index_name(ix, at), name)))
		at++;
	return at - *first;
}

uint32_t name_index_prefix(const struct name_index *ix, const char *prefix, uint32_t *first)
{
	size_t n = strlen(prefix);
	uint32_t at = *first = lower_bound(ix, prefix);
	while (at < ix->n && ((at > *first && name_index_repeats(ix, at)) ||
	    !strncmp(name_index_name(ix, at), prefix, n)))
		at++;
	return at - *first;
}

/* --- spellings -------------------------------------------------------------------------------- */

const char *class_last_part(const char *name)
{
	const char *last = name;
	for (const char *s = name; *s && *s != '/' && *s != '['; s++) {
		if (*s == '.')
			last = s + 1;
	}
	return last;
}

const char *class_inner_part(const char *name)
{
	const char *last = class_last_part(name), *inner = NULL;
	for (const char *s = last; *s && *s != '['; s++) {
		if (*s == '$' && s[1])
			inner = s + 1;
	}
	return inner;
}

static const char *primitive_of(char letter)
{
	static const struct {
		char letter;
		const char *name;
	} table[] = {{'Z', "boolean"}, {'B', "byte"}, {'C', "char"}, {'S', "short"}, {'I', "int"},
	    {'J', "long"}, {'F', "float"}, {'D', "double"}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		if (table[i].letter == letter)
			return table[i].name;
	}
	return NULL;
}

static void add_dotted(struct text *to, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		/* "Outer$$Lambda/0x1": the number of a hidden class keeps its slash */
		bool hidden = i + 1 < n && isdigit((unsigned char)s[i + 1]);
		text_add_char(to, s[i] == '/' && !hidden ? '.' : s[i]);
	}
}

bool class_name_as_source(const char *word, struct text *to)
{
	size_t dimensions = strspn(word, "["), n = strlen(word) - dimensions;
	const char *element = word + dimensions;
	if (!dimensions) {
		if (!strchr(word, '/')) {
			text_add(to, word);
			return false;
		}
		add_dotted(to, word, n);
		return true;
	}
	if (n == 1 && primitive_of(*element)) {
		text_add(to, primitive_of(*element));
	} else if (n > 2 && *element == 'L' && element[n - 1] == ';') {
		add_dotted(to, element + 1, n - 2);
	} else {
		text_add(to, word);
		return false;
	}
	for (; dimensions; dimensions--)
		text_add(to, "[]");
	return true;
}

bool glob_match(const char *pattern, const char *s)
{
	const char *star = NULL, *again = NULL;
	while (*s) {
		if (*pattern == '*') {
			star = ++pattern;
			again = s;
		} else if (*pattern == '?' || *pattern == *s) {
			pattern++;
			s++;
		} else if (star) { /* let the last star take one byte more */
			pattern = star;
			s = ++again;
		} else {
			return false;
		}
	}
	return !pattern[strspn(pattern, "*")];
}

/* --- nearest names ---------------------------------------------------------------------------- */

#define LONGEST 255 /* names beyond this are not compared */

unsigned edit_distance(const char *a, const char *b, unsigned limit)
{
	size_t n = strlen(a), m = strlen(b);
	if (n > LONGEST || m > LONGEST || (n > m ? n - m : m - n) > limit)
		return limit + 1;
	unsigned rows[3][LONGEST + 1];
	unsigned *before = rows[0], *last = rows[1], *now = rows[2];
	for (size_t j = 0; j <= m; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned least = now[0] = (unsigned)i;
		int x = tolower((unsigned char)a[i - 1]);
		for (size_t j = 1; j <= m; j++) {
			int y = tolower((unsigned char)b[j - 1]);
			unsigned best = last[j - 1] + (x != y);
			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
			    y == tolower((unsigned char)a[i - 2]) && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			now[j] = best;
			if (best < least)
				least = best;
		}
		if (least > limit)
			return limit + 1;
		unsigned *swap = before;
		before = last;
		last = now;
		now = swap;
	}
	return last[m] > limit ? limit + 1 : last[m];
}

unsigned name_index_nearest(const struct name_index *ix, const char *word, const char *out[NEAREST])
{
	unsigned distance[NEAREST], n = 0;
	unsigned limit = (unsigned)strlen(word) / 3;
	if (limit < 1)
		limit = 1;
	if (limit > 8)
		limit = 8;
	for (uint32_t i = 0; i < ix->n && !progress_own_stops(64 * i); i++) {
		const char *name = name_index_name(ix, i);
		if (name_index_repeats(ix, i))
			continue;
		unsigned d = edit_distance(word, name, limit);
		unsigned tail = edit_distance(word, class_last_part(name), limit);
		if (tail < d)
			d = tail;
		if (d > limit)
			continue;
		unsigned at = n < NEAREST ? n++ : NEAREST;
		while (at && distance[at - 1] > d) {
			if (at < NEAREST) {
				distance[at] = distance[at - 1];
				out[at] = out[at - 1];
			}
			at--;
		}
		if (at < NEAREST) {
			distance[at] = d;
			out[at] = name;
		}
	}
	while (n > 1 && distance[n - 1] > distance[0] + 1)
		n--; /* much farther than the nearest: not what was meant */
	return n;
}

/* Bytes of a name up to its dot number `dots`, from 1; 0: it has fewer. */
static size_t up_to_dot(const char *name, unsigned dots)
{
	for (size_t i = 0; name[i]; i++)
		if (name[i] == '.' && --dots == 0)
			return i;
	return 0;
}

const char *name_index_nearest_package(const struct name_index *ix, const char *pattern, size_t *n)
{
	enum { EDITS_MOST = 2 };
	char wanted[LONGEST + 1], other[LONGEST + 1];
	const char *found = NULL;
	unsigned dots = 0, least = EDITS_MOST + 1;
	size_t length = strcspn(pattern, "*?");
	while (length && pattern[length - 1] != '.')
		length--;
	if (length < 2 || length > LONGEST)
		return NULL;
	memcpy(wanted, pattern, --length);
	wanted[length] = '\0';
	for (const char *s = pattern; s <= pattern + length; s++)
		dots += *s == '.';
	for (uint32_t i = 0; i < ix->n && least && !progress_own_stops(64 * i); i++) {
		const char *name = name_index_name(ix, i);
		size_t of_name = up_to_dot(name, dots);
		if (!of_name || of_name > LONGEST)
			continue;
		memcpy(other, name, of_name);
		other[of_name] = '\0';
		unsigned edits = edit_distance(wanted, other, EDITS_MOST);
		if (edits >= least)
			continue;
		least = edits;
		found = name;
		*n = of_name;
	}
	return least ? found : NULL;
}

/* --- objects ---------------------------------------------------------------------------------- */

uint32_t object_around(const struct heap *heap, uint64_t address)
{
	uint32_t id = heap_find_below(heap, address);
	if (id == HEAP_NONE)
		return HEAP_NONE;
	uint64_t offset = address - heap_address(heap, id);
	return offset == 0 || offset < heap_shallow(heap, id) ? id : HEAP_NONE;
}

uint32_t *objects_of_classes(const struct heap *heap, const uint32_t *classes, size_t n_classes,
    size_t *n, struct err *err)
{
	struct bits wanted;
	uint64_t most = 0;
	if (bits_init(&wanted, heap->n_classes, err))
		return NULL;
	for (size_t i = 0; i < n_classes && !progress_own_stops(i); i++) {
		if (!bits_get(&wanted, classes[i]))
			most += heap->classes[classes[i]].n_objects;
		bits_set(&wanted, classes[i]);
	}
	uint32_t *ids = big_alloc(most, sizeof *ids, err);
	*n = 0;
	for (uint32_t id = 0; ids && id < heap->n_objects && *n < most && !progress_own_stops(id); id++) {
		if (bits_get(&wanted, heap_class_index(heap, id)))
			ids[(*n)++] = id;
	}
	bits_release(&wanted);
	return big_fit(ids, *n, sizeof *ids);
}

uint32_t class_of_all(const struct heap *heap, const uint32_t *ids, size_t n)
{
	uint32_t class = n ? heap_class_index(heap, ids[0]) : HEAP_NONE;
	size_t same = 0;
	if (!n || heap->classes[class].n_objects != n)
		return HEAP_NONE;
	while (same < n && heap_class_index(heap, ids[same]) == class)
		same++;
	return same == n ? class : HEAP_NONE;
}

void objects_mark(const struct heap *heap, const struct bits *classes, const struct bits *only,
    struct bits *to)
{
	for (uint32_t id = 0; id < heap->n_objects && !progress_own_stops(id); id++) {
		if (bits_get(classes, heap_class_index(heap, id)) && (!only || bits_get(only, id)))
			bits_set(to, id);
	}
}
