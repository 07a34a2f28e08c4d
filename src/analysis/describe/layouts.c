/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layouts.c - lines of layouts read, and found by the name of a class.
 */
#include "analysis/describe/layouts.h"

#include "algorithms/hash.h"
#include "analysis/describe/describe.h"
#include "base/mem.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1024, MOST_ADDED = 10000 }; /* a power of two; at most so many lines of a user */

static const char *const shapes[SHAPES] = {
	[SHAPE_ARRAY] = "array", [SHAPE_SPARSE] = "sparse", [SHAPE_RING] = "ring", [SHAPE_PAIRS] = "pairs",
	[SHAPE_COLUMNS] = "columns", [SHAPE_BUCKETS] = "buckets", [SHAPE_CHAIN] = "chain", [SHAPE_QUEUE] = "queue",
	[SHAPE_TREE] = "tree", [SHAPE_TRIE] = "trie", [SHAPE_RADIX] = "radix",
	[SHAPE_NESTED] = "nested", [SHAPE_FIELDS] = "fields",
	[SHAPE_ENUM] = "enum", [SHAPE_BITS] = "bits", [SHAPE_WRAPPER] = "wrapper", [SHAPE_VIEW] = "view",
	[SHAPE_JOINED] = "joined", [SHAPE_EMPTY] = "empty",
};
static const char *const views[] = {
	[VIEW_ELEMENTS] = "elements", [VIEW_KEYS] = "keys", [VIEW_VALUES] = "values", [VIEW_MAP] = "map",
};

#define FIELD(name) { #name, offsetof(struct collection_kind, name) }
static const struct field_word {
	const char *word;
	size_t at;
} fields[] = {
	FIELD(store), FIELD(next), FIELD(key), FIELD(value), FIELD(size), FIELD(table), FIELD(tail), FIELD(end),
	FIELD(taken), FIELD(index), FIELD(control), FIELD(last), FIELD(free), FIELD(chained), FIELD(extra),
	FIELD(parts), FIELD(leaf), FIELD(deep), FIELD(first), FIELD(focus), FIELD(counts), FIELD(hash),
	FIELD(null), FIELD(unless),
};
#undef FIELD
enum { N_FIELDS = sizeof fields / sizeof *fields };

/* Lines by the hash of their class, in chains. */
struct line {
	struct collection_kind kind;
	uint64_t hash;
	uint64_t start, start_mask; /* of a pattern: its characters before the *, at most 8, and where they stand */
	struct line *next;
};
struct table {
	struct line *slot[SLOTS];
	struct line *patterns, **last; /* those whose class has a * */
};
static struct table built, added;
static size_t n_added, n_blamed;
static char *blamed; /* what is wrong with the user's file */
static pthread_once_t made = PTHREAD_ONCE_INIT;

/* --- a line ------------------------------------------------------------------------------------- */

static bool take_shape(struct collection_kind *k, const char *word)
{
	for (int i = 0; i < SHAPES; i++) {
		if (!strcmp(shapes[i], word)) {
			k->shape = (enum collection_shape)i;
			return true;
		}
	}
	return false;
}

static bool take_view(struct collection_kind *k, const char *word)
{
	for (int i = 0; i <= VIEW_MAP; i++) {
		if (!strcmp(views[i], word)) {
			k->view = (enum collection_view)i;
			return true;
		}
	}
	return false;
}

/* "store=table" */
static int take_field(struct collection_kind *k, char *word, struct err *err)
{
	char *equals = strchr(word, '=');
	if (!equals)
		return err_set(err, ERR_USAGE, "unknown word \"%.100s\" (not a shape, map, keys, values or NAME=)", word);
	*equals = '\0';
	for (size_t i = 0; i < N_FIELDS; i++) {
		if (!strcmp(fields[i].word, word)) {
			const char **to = (const char **)(void *)((char *)k + fields[i].at);
			if (*to)
				return err_set(err, ERR_USAGE, "%s= occurs twice", word);
			*to = equals + 1;
			return 0;
		}
	}
	return err_set(err, ERR_USAGE, "unknown word \"%.100s=\"", word);
}

/* What a shape cannot be read without. */
static int check(const struct collection_kind *k, struct err *err)
{
	enum collection_shape s = k->shape;
	bool nodes = s == SHAPE_BUCKETS || s == SHAPE_CHAIN || s == SHAPE_QUEUE || s == SHAPE_TREE;
	const char *lacks = NULL;
	if (s != SHAPE_EMPTY && s != SHAPE_FIELDS && s != SHAPE_BITS && !k->store)
		lacks = "store";
	else if (s == SHAPE_FIELDS && !k->value)
		lacks = "value";
	else if ((s == SHAPE_BUCKETS || s == SHAPE_CHAIN || s == SHAPE_QUEUE || s == SHAPE_RING || s == SHAPE_BITS) &&
	    !k->next)
		lacks = "next";
	else if (nodes && !k->key && !k->value)
		lacks = "value";
	else if (nodes && k->view == VIEW_MAP && !k->key)
		lacks = "key";
	else if (s == SHAPE_ENUM && !k->key)
		lacks = "key";
	else if (s == SHAPE_RADIX && !k->size)
		lacks = "size";
	else if (s == SHAPE_RADIX && !k->deep && !k->next)
		lacks = "deep";
	if (lacks)
		return err_set(err, ERR_USAGE, "a layout of the shape %s needs %s=", shapes[s], lacks);
	if (s == SHAPE_SPARSE && k->next && strcmp(k->next, "last") != 0)
		return err_set(err, ERR_USAGE, "next= of the shape sparse can only be last, not %.100s", k->next);
	if (s == SHAPE_TREE && k->next && strcmp(k->next, "once") != 0)
		return err_set(err, ERR_USAGE, "next= of the shape tree can only be once, not %.100s", k->next);
	if (k->counts && strcmp(k->counts, "value") != 0)
		return err_set(err, ERR_USAGE, "counts= can only be value, not %.100s", k->counts);
	const char *null = s == SHAPE_TRIE ? "node" : s == SHAPE_NESTED ? "free" : "key";
	if (k->null && strcmp(k->null, null) != 0)
		return err_set(err, ERR_USAGE, "null= can only be %s, not %.100s", null, k->null);
	return 0;
}

static int parse(struct collection_kind *k, const char *line, struct err *err)
{
	char *rest = k->words = xstrdup(line), *word;
	bool shaped = false;
	int code = 0;
	while (!code && (word = strsep(&rest, " \t\r")) != NULL) {
		if (!*word)
			continue;
		if (!k->class)
			k->class = word;
		else if (!shaped && take_shape(k, word))
			shaped = true;
		else if (shaped && take_view(k, word))
			;
		else if (!shaped)
			code = err_set(err, ERR_USAGE, "unknown shape \"%.100s\" after the class", word);
		else
			code = take_field(k, word, err);
	}
	if (!code && !k->class)
		code = err_set(err, ERR_USAGE, "missing class");
	if (!code && !shaped)
		code = err_set(err, ERR_USAGE, "%.200s has no shape", k->class);
	return code ? code : check(k, err);
}

/* --- the table ---------------------------------------------------------------------------------- */

static struct line *find_exact(const struct table *t, const char *class, uint64_t hash)
{
	struct line *l = t->slot[hash & (SLOTS - 1)];
	while (l && (l->hash != hash || strcmp(l->kind.class, class) != 0))
		l = l->next;
	return l;
}

/* The first n characters, of at most 8: most names differ from most patterns in these. */
static uint64_t start_of(const char *name, size_t n)
{
	uint64_t start = 0;
	memcpy(&start, name, n < sizeof start ? n : sizeof start);
	return start;
}

/* A * stands for any characters. */
static bool fits(const char *pattern, const char *name)
{
	const char *star = NULL, *from = NULL;
	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			from = name;
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++from;
		} else {
			return false;
		}
	}
	return pattern[strspn(pattern, "*")] == '\0';
}

static struct line *find(const struct table *t, const char *class, uint64_t hash)
{
	struct line *l = find_exact(t, class, hash);
	if (l)
		return l;
	uint64_t start = start_of(class, strnlen(class, sizeof start));
	l = t->patterns;
	while (l && ((start & l->start_mask) != l->start || !fits(l->kind.class, class)))
		l = l->next;
	return l;
}

/* A further line of a class stands behind the earlier ones. */
static int enter(struct table *t, const char *line, struct err *err)
{
	struct line *l = xcalloc(1, sizeof *l), *first;
	int code = parse(&l->kind, line, err);
	if (code) {
		free(l->kind.words);
		free(l);
		return code;
	}
	l->hash = hash_bytes(l->kind.class, strlen(l->kind.class));
	size_t before = strcspn(l->kind.class, "*");
	bool pattern = l->kind.class[before] != '\0';
	l->start = start_of(l->kind.class, before);
	l->start_mask = start_of("\377\377\377\377\377\377\377\377", before);
	for (first = t->patterns; pattern && first && strcmp(first->kind.class, l->kind.class) != 0; first = first->next)
		;
	if (!pattern)
		first = find_exact(t, l->kind.class, l->hash);
	if (first) {
		struct collection_kind *k = &first->kind;
		while (k->same)
			k = k->same;
		k->same = &l->kind;
	} else if (pattern) {
		if (!t->last)
			t->last = &t->patterns;
		*t->last = l;
		t->last = &l->next;
	} else {
		l->next = t->slot[l->hash & (SLOTS - 1)];
		t->slot[l->hash & (SLOTS - 1)] = l;
	}
	return 0;
}

static void make(void)
{
	for (const char *const *line = layouts_txt; *line; line++)
		(void)!enter(&built, *line, NULL); /* a test reads them all */
}

const struct collection_kind *layout_named(const char *class)
{
	enum { LONGEST = 512 }; /* names in dumps may be long, and many: such a one is in no table */
	size_t n = strnlen(class, LONGEST);
	pthread_once(&made, make);
	if (n == LONGEST)
		return NULL;
	uint64_t hash = hash_bytes(class, n);
	const struct line *l = n_added ? find(&added, class, hash) : NULL;
	if (!l)
		l = find(&built, class, hash);
	return l ? &l->kind : NULL;
}

int layout_add(const char *line, struct err *err)
{
	if (n_added >= MOST_ADDED)
		return err_set(err, ERR_USAGE, "more than %d layouts", MOST_ADDED);
	int code = enter(&added, line, err);
	n_added += !code;
	return code;
}

void layouts_blame(const char *sentence)
{
	if (!n_blamed++)
		blamed = xstrdup(sentence);
}

const char *layouts_blamed(size_t *n)
{
	*n = n_blamed;
	return blamed;
}

static void free_lines(struct line *l)
{
	struct line *next;
	struct collection_kind *same;
	for (; l; l = next) {
		next = l->next;
		for (struct collection_kind *k = l->kind.same; k; k = same) {
			same = k->same;
			free(k->words);
			free((struct line *)(void *)k); /* its kind is the first in a line */
		}
		free(l->kind.words);
		free(l);
	}
}

void layouts_forget(void)
{
	for (size_t i = 0; i < SLOTS; i++)
		free_lines(added.slot[i]);
	free_lines(added.patterns);
	added = (struct table){ .patterns = NULL };
	n_added = n_blamed = 0;
	free(blamed);
	blamed = NULL;
}
