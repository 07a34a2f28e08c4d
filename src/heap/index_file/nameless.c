/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nameless.c - a heap with numbers in place of the names that tell of its program; see saved.h.
 *
 * It is a copy of the heap's struct in which whatever has names is a copy too: so what is written is written as ever,
 * and a name that is not replaced here can only be one of those that are listed in doc/index-format.md.
 */
#include "heap/index_file/saving.h"

#include "algorithms/map.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/text.h"
#include "dump/facts.h"
#include "dump/idmap.h"
#include "heap/classes.h"
#include "heap/index_file/index_file.h"
#include "heap/library.h"
#include "heap/sites.h"
#include "heap/threads.h"
#include "memory/arena.h"
#include "memory/big.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum numbered_kind {
	NUMBERED_CLASS, NUMBERED_FIELD, NUMBERED_THREAD, NUMBERED_FRAME, NUMBERED_VARIABLE, NUMBERED_HEAP,
	NUMBERED_KINDS
};

static const char *const kind_names[NUMBERED_KINDS] = { "class", "field", "thread", "frame", "variable", "heap" };

struct numbered_name {
	const char *name; /* the heap's, or the arena's */
	const char *word; /* "class #17" */
	size_t n;         /* bytes of the name: of a class without the [] behind it */
	enum numbered_kind kind;
};

struct nameless {
	struct heap heap;
	struct arena arena;
	struct heap_sites sites;
	struct numbered_name *list;
	uint64_t n, cap;
	struct map map;
	uint32_t count[NUMBERED_KINDS];
	struct err *err;
	bool lost;
	bool stays; /* all names do, and what else drop_words leaves is left out */
};

/* --- which names are no secret ------------------------------------------------------------------ */

/* The class library's and the VM's own, of HotSpot, OpenJ9 and Android. */
static bool is_javas(const char *name)
{
	return library_public_name(name) || library_primitive_name(name);
}

bool nameless_knows(const uint8_t *name, size_t n)
{
	char words[64]; /* what tells stands at the beginning */
	n = n < sizeof words ? n : sizeof words - 1;
	for (size_t i = 0; i < n; i++)
		words[i] = name[i] == '/' ? '.' : (char)name[i];
	words[n] = '\0';
	return is_javas(words);
}

static bool is_among(const char *const *words, size_t n_words, const char *word, size_t n)
{
	for (size_t i = 0; i < n_words; i++)
		if (strlen(words[i]) == n && !strncmp(words[i], word, n))
			return true;
	return false;
}

/* "net/http.Server", "runtime.g": of Go's own packages, whose first part no module may have. */
static bool is_gos(const char *word, size_t n)
{
	static const char *const words[] = { "bool", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16",
		"uint32", "uint64", "uintptr", "float32", "float64", "complex64", "complex128", "string", "error", "any",
		"map", "chan", "func", "interface", "buckets", "header", "pointer", "table", "tiny", "block", "closure", "of",
		"B", "ptr", "fields", "bss", "data" };
	size_t first = 0;
	while (first < n && word[first] != '.' && word[first] != '/')
		first++;
	if (first < n)
		return library_go_package(word, first);
	return is_among(words, sizeof words / sizeof *words, word, n) || strspn(word, "0123456789abcdefx") >= n;
}

/* All words of it are. */
static bool is_gos_own(const char *name)
{
	static const char in_word[] = "/._-%~$";
	if (strspn(name, "0123456789") && strstr(name, " B {")) /* "96 B {ptr@0}", of an object without a type */
		return true;
	for (const char *p = name; *p;) {
		const char *end = p;
		while ((*end >= '0' && *end <= '9') || (*end >= 'a' && *end <= 'z') || (*end >= 'A' && *end <= 'Z') ||
		    (uint8_t)*end >= 0x80 || (*end && strchr(in_word, *end)))
			end++;
		if (end > p && !is_gos(p, (size_t)(end - p)))
			return false;
		p = end > p ? end : p + 1;
	}
	return true;
}

static bool is_known(const struct nameless *n, const char *name)
{
	return n->heap.facts.no_class_objects ? is_gos_own(name) : is_javas(name);
}

/* --- numbers ------------------------------------------------------------------------------------ */

static uint64_t hash_name(const struct numbered_name *name)
{
	return hash_step(hash_bytes(name->name, name->n), name->kind);
}

static bool same_name(const struct numbered_name *a, const struct numbered_name *b)
{
	return a->kind == b->kind && a->n == b->n && !memcmp(a->name, b->name, b->n);
}

MAP(names, const struct numbered_name *, const struct numbered_name *, map_element, hash_name, same_name)

static const char *lose(struct nameless *n)
{
	n->lost = true;
	return "";
}

/* The word for so many bytes of a name, which must stay. */
static const char *number(struct nameless *n, enum numbered_kind kind, const char *name, size_t bytes)
{
	struct numbered_name like = {.name = name, .n = bytes, .kind = kind};
	uint32_t *slot = names_enter(&n->map, n->list, (uint32_t)n->n, &like, n->err);
	if (!slot)
		return lose(n);
	if (*slot)
		return n->list[*slot - 1].word;
	char word[32];
	int length = snprintf(word, sizeof word, "%s #%" PRIu32, kind_names[kind], ++n->count[kind]);
	const char *kept = arena_try_strndup(&n->arena, word, (size_t)length, n->err);
	struct numbered_name *to = kept ? BIG_PUSH(n->list, n->n, n->cap, n->err) : NULL;
	if (!to)
		return lose(n);
	like.word = kept;
	*to = like;
	*slot = (uint32_t)n->n;
	return kept;
}

static const char *word_of(struct nameless *n, enum numbered_kind kind, const char *name)
{
	return name ? number(n, kind, name, strlen(name)) : NULL;
}

/* "class #17[]" */
static const char *class_word(struct nameless *n, const char *name)
{
	size_t bytes = strlen(name), brackets = 0;
	if (is_known(n, name))
		return name;
	while (bytes > 2 && name[bytes - 2] == '[' && name[bytes - 1] == ']')
		bytes -= 2, brackets += 2;
	const char *word = number(n, NUMBERED_CLASS, name, bytes);
	if (!brackets)
		return word;
	struct text t = TEXT_INIT;
	text_addf(&t, "%s%s", word, name + bytes);
	const char *kept = arena_try_strndup(&n->arena, t.s, t.len, n->err);
	text_release(&t);
	return kept ? kept : lose(n);
}

const char *nameless_symbol(struct nameless *n, const char *name)
{
	if (n->stays || is_gos_own(name))
		return name;
	const char *kept = arena_try_strndup(&n->arena, name, strlen(name), n->err);
	return kept ? word_of(n, NUMBERED_VARIABLE, kept) : lose(n);
}

/* --- copies ------------------------------------------------------------------------------------- */

static void *copy_of(struct nameless *n, const void *from, uint64_t count, size_t size)
{
	void *to = arena_try(&n->arena, count + 1, size, n->err);
	if (!to)
		n->lost = true;
	else if (count)
		memcpy(to, from, count * size);
	return to;
}

static void number_fields(struct nameless *n, struct heap_class *c)
{
	struct heap_field *fields = copy_of(n, c->fields, c->n_fields, sizeof *fields);
	struct heap_field *statics = copy_of(n, c->statics, c->n_statics, sizeof *statics);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < c->n_fields && !n->lost; i++)
		fields[i].name = word_of(n, NUMBERED_FIELD, fields[i].name);
	for (uint32_t i = 0; i < c->n_statics && !n->lost; i++) {
		if (statics[i].type != VALUE_OBJECT)
			continue;
		statics[kept] = statics[i];
		statics[kept].name = word_of(n, NUMBERED_FIELD, statics[kept].name);
		kept++;
	}
	c->fields = fields;
	c->statics = statics;
	c->n_statics = kept;
}

static void number_classes(struct nameless *n, const struct heap *h)
{
	n->heap.classes = copy_of(n, h->classes, h->n_classes, sizeof *h->classes);
	for (uint32_t i = 0; i < h->n_classes && !n->lost; i++) {
		struct heap_class *c = &n->heap.classes[i];
		n->lost |= progress_own_stops(i);
		if (is_known(n, c->name))
			continue;
		c->name = class_word(n, c->name);
		number_fields(n, c);
	}
	if (!n->lost)
		n->lost = heap_order_names(&n->heap, n->err) < 0;
}

static const char **number_frames(struct nameless *n, const char *const *frames, uint32_t count)
{
	const char **to = copy_of(n, frames, count, sizeof *to);
	for (uint32_t i = 0; i < count && !n->lost; i++)
		if (!is_known(n, to[i]))
			to[i] = word_of(n, NUMBERED_FRAME, to[i]);
	return to;
}

static void number_threads(struct nameless *n, const struct heap *h)
{
	struct idmap traces = { .slots = NULL };
	n->heap.threads = copy_of(n, h->threads, h->n_threads, sizeof *h->threads);
	for (uint32_t i = 0; i < h->n_threads && !n->lost; i++) {
		struct heap_thread *t = &n->heap.threads[i];
		t->name = word_of(n, NUMBERED_THREAD, t->name);
		if (!h->facts.no_class_objects) /* of a lock, and who has it */
			t->waits_for = NULL;
		t->creator = t->creator && !is_known(n, t->creator) ? word_of(n, NUMBERED_FRAME, t->creator) : t->creator;
		uint64_t key = (uint64_t)(uintptr_t)t->frames ^ (uint64_t)t->n_frames << 48;
		uint64_t before = t->n_frames ? idmap_get(&traces, key) : IDMAP_NONE;
		n->lost |= progress_own_stops(i);
		if (before != IDMAP_NONE)
			t->frames = n->heap.threads[before].frames;
		else if (t->n_frames) {
			t->frames = number_frames(n, t->frames, t->n_frames);
			n->lost |= idmap_put(&traces, key, i, n->err) < 0;
		}
	}
	idmap_release(&traces);
}

static void number_sites(struct nameless *n, const struct heap *h)
{
	if (!h->sites)
		return;
	n->sites = *h->sites;
	n->sites.site = copy_of(n, h->sites->site, h->sites->n, sizeof *h->sites->site);
	for (uint32_t i = 0; i < h->sites->n && !n->lost; i++)
		n->sites.site[i].frames = number_frames(n, n->sites.site[i].frames, n->sites.site[i].n_frames);
	n->heap.sites = &n->sites;
}

/* Android's own names are no secret. */
static void number_spaces(struct nameless *n, const struct heap *h)
{
	static const char *const known[] = { SPACE_DEFAULT, "app", "image", "zygote", "others" };
	n->heap.spaces = copy_of(n, h->spaces, h->n_spaces, sizeof *h->spaces);
	for (unsigned i = 0; i < h->n_spaces && !n->lost; i++)
		if (!is_among(known, sizeof known / sizeof *known, h->spaces[i], strlen(h->spaces[i])))
			n->heap.spaces[i] = word_of(n, NUMBERED_HEAP, h->spaces[i]);
}

/* Sentences that may have a name, a path or a property in them. */
static void drop_words(struct heap *h)
{
	h->companion = h->companion ? "left-out" : NULL; /* whether there was one says how sure roots are */
	h->companion_refused = h->measured_names = h->doubtful_names = NULL;
	h->process = NULL;
	for (size_t i = 0; i < HEAP_WARNINGS_KEPT && i < h->n_warnings; i++)
		h->warnings[i].text = "omitted from this index";
	if (h->damaged)
		snprintf(h->damage.message, sizeof h->damage.message, "the dump is damaged");
}

struct nameless *nameless_keeping(const struct heap *h)
{
	struct nameless *n = xcalloc(1, sizeof *n);
	n->heap = *h;
	n->stays = true;
	drop_words(&n->heap);
	return n;
}

int nameless_make(struct nameless **out, const struct heap *h, struct err *err)
{
	struct nameless *n = xcalloc(1, sizeof *n);
	n->heap = *h;
	n->err = err;
	drop_words(&n->heap);
	number_classes(n, h);
	if (!n->lost)
		number_threads(n, h);
	if (!n->lost)
		number_sites(n, h);
	if (!n->lost)
		number_spaces(n, h);
	if (!n->lost) {
		*out = n;
		return 0;
	}
	nameless_free(n);
	return err->code ? err->code : err_cancelled(err);
}

void nameless_free(struct nameless *n)
{
	if (!n)
		return;
	big_free(n->list);
	map_release(&n->map);
	arena_release(&n->arena);
	free(n);
}

const struct heap *nameless_heap(const struct nameless *n)
{
	return &n->heap;
}

int nameless_write_map(const struct nameless *n, FILE *to, struct err *err)
{
	for (uint64_t i = 0; i < n->n; i++)
		if (fprintf(to, "%s\t%.*s\n", n->list[i].word, (int)n->list[i].n, n->list[i].name) < 0)
			return err_set(err, ERR_IO, "%s", strerror(errno));
	return fflush(to) ? err_set(err, ERR_IO, "%s", strerror(errno)) : 0;
}
