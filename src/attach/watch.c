/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * watch.c - the class histogram of a running VM, read from the text that inspectheap answers with:
 *
 *      num     #instances         #bytes  class name (module)
 *     -------------------------------------------------------
 *        1:         12868       22940456  [B (java.base@17.0.15)
 *     ...
 *     Total         49532       26045408
 *
 * (heapInspection.cpp; without modules before JDK 9.)
 */
#include "attach/attach.h"

#include "algorithms/map.h"
#include "base/mem.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 4096 };

static inline const char *class_name(const struct vm_class *list, uint32_t i)
{
	return list[i].name;
}

static inline bool same_name(const char *a, const char *b)
{
	return !strcmp(a, b);
}

static inline uint64_t hash_name(const char *name)
{
	return hash_bytes(name, strlen(name));
}

MAP(classes, const struct vm_class *, const char *, class_name, hash_name, same_name)

struct vm_watch_own {
	struct map by_name;
	uint32_t cap;
	struct text answer, name;
	uint64_t first_at, last_at; /* of progress_clock: the end of these answers */
};

struct vm_watch *vm_watch_new(struct vm_process *p, bool collect)
{
	struct vm_watch *w = xcalloc(1, sizeof *w);
	w->process = *p;
	*p = (struct vm_process){.kind = VM_NONE};
	w->collect = collect;
	w->own = xcalloc(1, sizeof *w->own);
	return w;
}

void vm_watch_free(struct vm_watch *w)
{
	if (!w)
		return;
	for (uint32_t i = 0; i < w->n; i++)
		free(w->list[i].name);
	big_free(w->list);
	map_release(&w->own->by_name);
	text_release(&w->own->answer);
	text_release(&w->own->name);
	free(w->own);
	vm_process_release(&w->process);
	free(w);
}

/* --- reading an answer ---------------------------------------------------------------------------- */

/* "[[Lcom.acme.Order;" as people write it, "com.acme.Order[][]". */
static void add_java_name(struct text *to, const char *s, size_t n)
{
	static const struct {
		char code;
		const char *name;
	} primitive[] = {{'B', "byte"}, {'C', "char"}, {'D', "double"}, {'F', "float"}, {'I', "int"}, {'J', "long"},
	    {'S', "short"}, {'Z', "boolean"}};
	size_t deep = 0;
	while (deep < n && s[deep] == '[')
		deep++;
	if (deep && n - deep > 2 && s[deep] == 'L' && s[n - 1] == ';') {
		text_add_escaped(to, s + deep + 1, n - deep - 2);
	} else if (deep && n - deep == 1) {
		size_t i = 0;
		while (i < sizeof primitive / sizeof *primitive && primitive[i].code != s[deep])
			i++;
		if (i < sizeof primitive / sizeof *primitive)
			text_add(to, primitive[i].name);
		else
			text_add_escaped(to, s + deep, 1);
	} else {
		text_add_escaped(to, s + deep, n - deep);
	}
	for (size_t i = 0; i < deep; i++)
		text_add(to, "[]");
}

/* A number at *s, after blanks.  False: there is none, or it is too large. */
static bool read_number(const char **s, const char *end, uint64_t *to)
{
	const char *at = *s;
	uint64_t n = 0;
	while (at < end && *at == ' ')
		at++;
	const char *begin = at;
	for (; at < end && *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (uint64_t)(*at - '0'), &n))
			return false;
	*s = at;
	*to = n;
	return at > begin;
}

/* The line of a class; false: it is another one. */
static bool read_line(const char *s, const char *end, struct vm_class *c, const char **name, size_t *n)
{
	uint64_t rank;
	if (!read_number(&s, end, &rank) || s == end || *s++ != ':')
		return false;
	if (!read_number(&s, end, &c->objects) || !read_number(&s, end, &c->bytes))
		return false;
	while (s < end && *s == ' ')
		s++;
	*name = s;
	while (s < end && *s != '\r' && !(*s == ' ' && s + 1 < end && s[1] == '('))
		s++;
	*n = (size_t)(s - *name) < NAME_MOST ? (size_t)(s - *name) : NAME_MOST;
	return *n > 0;
}

/* The class of this name, entered if it is new.  NULL: ERR_NOMEM. */
static struct vm_class *class_of(struct vm_watch *w, const char *name, struct err *err)
{
	struct vm_watch_own *own = w->own;
	uint32_t *slot = classes_enter(&own->by_name, w->list, w->n, name, err);
	if (!slot)
		return NULL;
	if (*slot)
		return &w->list[*slot - 1];
	if (BIG_ADD(w->list, w->n, own->cap, err, (struct vm_class){.name = xstrdup(name)}))
		return NULL;
	*slot = w->n;
	return &w->list[w->n - 1];
}

static int read_answer(struct vm_watch *w, struct err *err)
{
	const char *s = w->own->answer.s, *all_end = s + w->own->answer.len;
	uint64_t lines = 0, objects = 0, bytes = 0;

	while (s < all_end) {
		const char *end = memchr(s, '\n', (size_t)(all_end - s)), *name;
		struct vm_class line, *class;
		size_t n;
		end = end ? end : all_end;
		if (read_line(s, end, &line, &name, &n)) {
			text_clear(&w->own->name);
			add_java_name(&w->own->name, name, n);
			class = class_of(w, w->own->name.s, err);
			if (!class)
				return ERR_NOMEM;
			class->objects += line.objects;
			class->bytes += line.bytes;
			objects += line.objects;
			bytes += line.bytes;
			lines++;
		}
		s = end + 1;
	}
	w->objects = objects;
	w->bytes = bytes;
	return lines ? 0 : err_set(err, ERR_FORMAT, "the VM's answer is not a class histogram");
}

/* --- asking ---------------------------------------------------------------------------------------- */

/* What the last answer said is the one before. */
static void step_back(struct vm_watch *w)
{
	for (uint32_t i = 0; i < w->n; i++) {
		w->list[i].before = w->list[i].bytes;
		w->list[i].objects = w->list[i].bytes = 0;
	}
}

static void note_answer(struct vm_watch *w, uint64_t asked, const struct vm_counters *before)
{
	struct vm_watch_own *own = w->own;
	uint64_t now = progress_clock();
	for (uint32_t i = 0; i < w->n; i++) {
		struct vm_class *c = &w->list[i];
		c->past[w->answers % VM_PAST] = c->bytes;
		if (!w->answers)
			c->first = c->before = c->bytes;
	}
	if (!w->answers)
		own->first_at = own->last_at = now;
	w->seconds = (double)(now - own->last_at) / 1e9;
	w->all_seconds = (double)(now - own->first_at) / 1e9;
	own->last_at = now;
	w->answer_ns = now - asked;
	w->pause_ns = 0;
	if (vm_process_counters(&w->process, &w->counters) && w->counters.safepoints > before->safepoints)
		w->pause_ns = w->counters.safepoint_ns - before->safepoint_ns;
	w->answers++;
}

int vm_watch_ask(struct vm_watch *w, struct progress *progress, struct err *err)
{
	static const char *const hotspot[2] = {"-all", "-live"}, *const openj9[2] = {"GC.class_histogram,all",
	    "GC.class_histogram,live"};
	bool is_openj9 = w->process.kind == VM_OPENJ9;
	const char *argument[3] = {(is_openj9 ? openj9 : hotspot)[w->collect], NULL, NULL};
	struct vm_counters before = {.safepoints = 0};
	uint64_t asked = progress_clock();

	(void)vm_process_counters(&w->process, &before);
	text_clear(&w->own->answer);
	int code = vm_ask(&w->process, is_openj9 ? "ATTACH_DIAGNOSTICS" : "inspectheap", argument,
	    &w->own->answer, progress, err);
	if (code)
		return code;
	step_back(w);
	code = w->own->answer.len ? read_answer(w, err) :
	    err_set(err, ERR_FORMAT, "the VM's answer is empty");
	if (!code)
		note_answer(w, asked, &before);
	return code;
}
