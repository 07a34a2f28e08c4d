/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * values.c - words of a command line into objects, classes and threads.
 */
#include "command/resolve/resolve.h"

#include "heap/classes.h"
#include "heap/threads.h"
#include "memory/big.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CANDIDATES 5 /* named in a message */

bool value_address(const char *word, bool *prefixed, uint64_t *address)
{
	*prefixed = word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
	const char *digits = word + (*prefixed ? 2 : 0);
	size_t zeros = strspn(digits, "0"), n = strlen(digits);
	if (!n || n - zeros > 16 || strspn(digits, "0123456789abcdefABCDEF") != n)
		return false;
	*address = strtoull(digits, NULL, 16);
	return true;
}

static bool decimal(const char *s, uint64_t *n)
{
	size_t length = strlen(s);
	if (!length || length > 18 || strspn(s, "0123456789") != length)
		return false;
	*n = strtoull(s, NULL, 10);
	return true;
}

/* --- rows ------------------------------------------------------------------------------------- */

int value_row(const struct session *s, const char *word, struct target *target, struct err *err)
{
	struct result *r = session_rows(s);
	uint64_t row;
	if (!decimal(word + 1, &row) || !row)
		return err_set(err, ERR_USAGE, "\"%s\" is not a row (%%1 is the first of the last table)", word);
	if (!r || !r->n_columns)
		return err_set(err, ERR_NOT_FOUND, "%s: no last table", word);
	int other = session_not_of_other(s, r->opened, word, "the last table", err);
	if (other)
		return other;
	if (row > r->n_rows)
		return err_set(err, ERR_NOT_FOUND, "%s: the last table has %zu row%s", word,
		    r->n_rows, r->n_rows == 1 ? "" : "s");
	result_target(r, row - 1, target);
	return 0;
}

/* --- objects ---------------------------------------------------------------------------------- */

/* What is not there may be in the part of the dump that was not read. */
static const char *where_looked(const struct heap *h)
{
	return h->incomplete ? " in the readable part of the dump" : "";
}

/* "no object at 0xe0000af4 (inside …)": what is near. */
static int no_object_at(const struct heap *h, uint64_t address, struct err *err)
{
	uint32_t below = heap_find_below(h, address);
	uint32_t above = below == HEAP_NONE ? 0 : below + 1;
	if (below != HEAP_NONE && object_around(h, address) == below)
		return err_set(err, ERR_NOT_FOUND,
		    "no object begins at 0x%" PRIx64 " (inside 0x%" PRIx64
		    ", a %.200s, at byte %" PRIu64 " of %" PRIu64 ")", address,
		    heap_address(h, below), heap_class_of(h, below)->name,
		    address - heap_address(h, below), heap_shallow(h, below));
	uint32_t near = below;
	if (above < h->n_objects && (below == HEAP_NONE ||
	    heap_address(h, above) - address < address - heap_address(h, below)))
		near = above;
	if (near == HEAP_NONE)
		return err_set(err, ERR_NOT_FOUND, "no object at 0x%" PRIx64 "%s", address, where_looked(h));
	return err_set(err, ERR_NOT_FOUND, "no object at 0x%" PRIx64 "%s (nearest: 0x%" PRIx64
	    ", a %.200s)", address, where_looked(h), heap_address(h, near), heap_class_of(h, near)->name);
}

static int row_object(const struct session *s, const char *word, uint32_t *id, struct err *err)
{
	struct target t;
	int code = value_row(s, word, &t, err);
	if (code)
		return code;
	t.part = false; /* of several objects the first */
	t.about = 0; /* the one whose address the row has */
	*id = target_object(session_heap(s), &t);
	return *id == HEAP_NONE ? err_set(err, ERR_NOT_FOUND, "row %s is not an object", word) : 0;
}

/* The class of a word that is no pattern; n: so many have the name. */
static uint32_t one_class(const struct session *s, const char *word, uint32_t *n, struct err *err)
{
	uint32_t *classes, class = HEAP_NONE;
	size_t found;
	*n = 0;
	if (strpbrk(word, "*?>") || *word == '/' || value_classes(s, word, &classes, &found, err))
		return class;
	*n = (uint32_t)found;
	class = *classes;
	big_free(classes);
	return class;
}

static int no_class_object(const struct heap *h, uint32_t class, struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "%.150s has no class object in this dump (ls %.150s lists its %" PRIu32
	    " object%s)", h->classes[class].name, h->classes[class].name, h->classes[class].n_objects,
	    h->classes[class].n_objects == 1 ? "" : "s");
}

/* " (thread 18 has this name: bt 18)" */
static void add_thread_of_name(const struct heap *h, const char *word, struct text *to)
{
	for (uint32_t t = 0; t < h->n_threads && !to->len && !progress_own_stops(t); t++)
		if (h->threads[t].name && !strcmp(h->threads[t].name, word))
			text_addf(to, " (thread %" PRIu64 " has this name: bt %" PRIu64 ")", thread_number(h, t),
			    thread_number(h, t));
}

static int no_named_object(const struct session *s, const char *word, struct err *err)
{
	struct text near = TEXT_INIT;
	if (err)
		add_thread_of_name(session_heap(s), word, &near);
	if (err && !near.len)
		value_add_near_name(s, word, false, &near);
	int code = near.len ? err_set(err, ERR_NOT_FOUND, "no object \"%.100s\"%s", word, near.s) :
	    err_set(err, ERR_NOT_FOUND, "no object \"%.100s\" (use 0xADDRESS, #ID, %%ROW, $name, or the name of a class, "
	    "static field or global variable)", word);
	text_release(&near);
	return code;
}

static int class_object(const struct session *s, const char *word, uint32_t *id, struct err *err)
{
	bool found;
	uint32_t n;
	struct err unclear = ERR_INIT;
	int code = value_named(s, word, &found, id, err);
	if (found)
		return code;
	uint32_t class = one_class(s, word, &n, &unclear);
	if (unclear.code == ERR_NOMEM) {
		if (err)
			*err = unclear;
		return ERR_NOMEM;
	}
	if (!n && unclear.reason == ERR_SEVERAL) {
		if (err)
			*err = unclear;
		return unclear.code;
	}
	if (!n)
		return no_named_object(s, word, err);
	if (n > 1)
		return err_set(err, ERR_NOT_FOUND,
		    "\"%.100s\" is loaded %" PRIu32 " times (duplicate-classes lists the addresses)", word, n);
	*id = session_heap(s)->classes[class].object;
	return *id == HEAP_NONE ? no_class_object(session_heap(s), class, err) : 0;
}

int value_object(const struct session *s, const char *word, uint32_t *id, struct err *err)
{
	uint64_t number;
	bool prefixed;
	if (*word == '#') {
		if (!decimal(word + 1, &number))
			return err_set(err, ERR_USAGE, "\"%s\" is not an object id (#0 is the first)", word);
		if (number >= session_heap(s)->n_objects)
			return err_set(err, ERR_NOT_FOUND, "no object %s: there are %" PRIu32, word,
			    session_heap(s)->n_objects);
		*id = (uint32_t)number;
		return 0;
	}
	if (*word == '%')
		return row_object(s, word, id, err);
	if (*word == '$')
		return set_one_object(s, word, id, err);
	if (value_address(word, &prefixed, &number)) {
		*id = heap_find_value(session_heap(s), number);
		if (*id != HEAP_NONE)
			return 0;
		/* "Face" may be an address or a class */
		if (prefixed || class_object(s, word, id, NULL))
			return no_object_at(session_heap(s), number, err);
		return 0;
	}
	return class_object(s, word, id, err);
}

int value_of(const struct session *s, const char *word, struct variable *variable, bool *is_variable,
    uint32_t *id, struct err *err)
{
	int code = inspect_variable(variable, session_heap(s), word, err);
	*id = HEAP_NONE;
	*is_variable = !code;
	if (code == ERR_UNSUPPORTED || code == ERR_USAGE)
		return code;
	if (code)
		return value_object(s, word, id, err);
	*id = variable->target.id;
	return 0;
}

/* --- classes ---------------------------------------------------------------------------------- */

struct class_list {
	uint32_t *ids;
	size_t n, cap;
	struct err lost; /* memory that was refused */
};

static void take_one(struct class_list *list, uint32_t class)
{
	uint32_t *at = BIG_PUSH(list->ids, list->n, list->cap, &list->lost);
	if (at)
		*at = class;
}

static void take_range(
    struct class_list *list, const struct name_index *ix, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		take_one(list, ix->by_name[first + i]);
}

static void take_exact(struct class_list *list, const struct name_index *ix, const char *word)
{
	uint32_t first, n = name_index_exact(ix, word, &first);
	take_range(list, ix, first, n);
	if (n)
		return;
	struct text name = TEXT_INIT;
	if (class_name_as_source(word, &name)) {
		n = name_index_exact(ix, name.s, &first);
		take_range(list, ix, first, n);
	}
	text_release(&name);
}

/* The names that a glob or, if it is not NULL, a regular expression fits. */
static void take_matching(struct class_list *list, const struct name_index *ix, const char *glob, struct pattern *regex)
{
	bool matches = false;
	for (uint32_t i = 0; i < ix->n && !progress_own_stops(8 * i); i++) {
		if (!name_index_repeats(ix, i))
			matches = regex ? pattern_matches(regex, name_index_name(ix, i)) : glob_match(glob, name_index_name(ix, i));
		if (matches)
			take_range(list, ix, i, 1);
	}
}

static int take_regex(
    struct class_list *list, const struct name_index *ix, const char *word, struct err *err)
{
	struct pattern *regex;
	int code = line_regex(word, false, &regex, err);
	if (code)
		return code;
	take_matching(list, ix, NULL, regex);
	pattern_free(regex);
	return 0;
}

/* "String": the class whose name ends so, if only one does; "Entry" may be an inner class. */
static int take_last_part(struct class_list *list, const struct name_index *ix, const char *word,
    bool inner, struct err *err)
{
	struct text names = TEXT_INIT;
	bool matches = false;
	unsigned different = 0;
	for (uint32_t i = 0; i < ix->n && !progress_own_stops(8 * i); i++) {
		const char *name = name_index_name(ix, i);
		if (name_index_repeats(ix, i)) {
			if (matches)
				take_range(list, ix, i, 1);
			continue;
		}
		const char *part = inner ? class_inner_part(name) : class_last_part(name);
		matches = part && !strcmp(part, word);
		if (!matches)
			continue;
		take_range(list, ix, i, 1);
		if (++different <= CANDIDATES)
			text_addf(&names, "%s%s", different > 1 ? ", " : "", name);
	}
	int code = 0;
	if (different > 1) {
		if (different > CANDIDATES)
			text_addf(&names, " and %u more", different - CANDIDATES);
		code = err_set(err, ERR_NOT_FOUND, "\"%.100s\" is ambiguous (%s)", word, names.s);
		code = err_because(err, code, ERR_SEVERAL);
	}
	text_release(&names);
	return code;
}

/* Append the nearest fields, packages or classes. */
static void add_near_classes(const struct session *s, const struct name_index *ix, const char *name, struct text *to)
{
	const char *near[NEAREST], *package;
	size_t n;
	value_add_near_name(s, name, false, to);
	if (!to->len && strpbrk(name, "*?") && (package = name_index_nearest_package(ix, name, &n)) != NULL) {
		const char *rest = name + strcspn(name, "*?");
		while (rest > name && *rest != '.')
			rest--;
		text_add(to, " (nearest: ");
		text_add_n(to, package, n);
		text_addf(to, "%s)", rest);
	}
	unsigned found = to->len ? 0 : name_index_nearest(ix, name, near);
	for (unsigned i = 0; i < found; i++)
		text_addf(to, "%s%s", i ? ", " : " (nearest: ", near[i]);
	if (found)
		text_add(to, ")");
}

static int no_class(const struct session *s, const struct name_index *ix, const char *word, struct err *err)
{
	struct text name = TEXT_INIT, list = TEXT_INIT;
	if (!err) /* nobody reads which are near, and that takes its time */
		return ERR_NOT_FOUND;
	class_name_as_source(word, &name);
	if (name.len)
		add_near_classes(s, ix, name.s, &list);
	int code = err_set(err, ERR_NOT_FOUND, "no class matches \"%.150s\"%s%s", word, where_looked(session_heap(s)),
	    list.len ? list.s : "");
	code = err_because(err, code, ERR_NO_CLASS);
	text_release(&name);
	text_release(&list);
	return code;
}

static int row_class(const struct session *s, const char *word, uint32_t *class, struct err *err)
{
	struct target t;
	int code = value_row(s, word, &t, err);
	if (code)
		return code;
	*class = HEAP_NONE;
	if (t.kind == TARGET_CLASS)
		*class = t.id;
	else if (t.kind == TARGET_OBJECT) {
		*class = heap_class_mirrored(session_heap(s), t.id);
		if (*class == HEAP_NONE)
			*class = heap_class_index(session_heap(s), t.id);
	}
	return *class == HEAP_NONE ? err_set(err, ERR_NOT_FOUND, "row %s is not a class", word) : 0;
}

/* A class by the address of its class object. */
static int address_class(
    const struct session *s, uint64_t address, uint32_t *class, struct err *err)
{
	uint32_t id = heap_find(session_heap(s), address);
	*class = id == HEAP_NONE ? HEAP_NONE : heap_class_mirrored(session_heap(s), id);
	if (*class != HEAP_NONE)
		return 0;
	if (id == HEAP_NONE)
		return no_object_at(session_heap(s), address, err);
	return err_set(err, ERR_NOT_FOUND, "0x%" PRIx64 " is a %.200s, not a class object", address,
	    heap_class_of(session_heap(s), id)->name);
}

int value_classes(
    const struct session *s, const char *word, uint32_t **ids, size_t *n, struct err *err)
{
	const struct name_index *ix = opened_names(s->dump, err);
	struct class_list list = {.ids = NULL};
	size_t length = strlen(word);
	uint64_t address;
	uint32_t one = HEAP_NONE;
	bool prefixed = false;
	int code = 0;

	if (!ix)
		return ERR_NOMEM;
	take_exact(&list, ix, word);
	if (list.n) {
		/* nothing else can be meant */
	} else if (length >= 2 && word[0] == '/' && word[length - 1] == '/') {
		code = take_regex(&list, ix, word, err);
	} else if (*word == '%') {
		code = row_class(s, word, &one, err);
	} else if (strpbrk(word, "*?")) {
		take_matching(&list, ix, word, NULL);
		if (!list.n && strchr(word, '/')) {
			struct text name = TEXT_INIT;
			class_name_as_source(word, &name);
			take_matching(&list, ix, name.s, NULL);
			text_release(&name);
		}
	} else {
		bool hex = value_address(word, &prefixed, &address), part = !prefixed && class_last_part(word) == word;
		if (part)
			code = take_last_part(&list, ix, word, false, err);
		if (!code && !list.n && part)
			code = take_last_part(&list, ix, word, true, err);
		if (!code && !list.n && hex)
			code = address_class(s, address, &one, prefixed ? err : NULL);
		if (code && hex && !prefixed && !list.n)
			code = 0; /* "cafe" was meant as a name: say so below */
	}
	if (!code && one != HEAP_NONE)
		take_one(&list, one);
	if (list.lost.code) {
		code = ERR_NOMEM;
		if (err)
			*err = list.lost;
	}
	if (!code && !list.n)
		code = no_class(s, ix, word, err);
	if (code)
		big_free(list.ids);
	else {
		*ids = list.ids;
		*n = list.n;
	}
	return code;
}

/* --- heaps of Android --------------------------------------------------------------------------- */

/* Those that objects are in. */
static void name_heaps(const struct heap *h, struct text *to)
{
	bool used[SPACES_MOST + 1] = {false};
	for (uint32_t id = 0; id < h->n_objects && !progress_own_stops(id); id++)
		used[h->space_of[id]] = true;
	for (unsigned i = 0; i < h->n_spaces && to->len < 200; i++)
		if (used[i])
			text_addf(to, "%s%.40s", to->len ? ", " : "", h->spaces[i]);
}

int value_heap(const struct session *s, const char *name, unsigned *space, struct err *err)
{
	const struct heap *h = session_heap(s);
	struct text names = TEXT_INIT;
	if (!h->n_spaces)
		return err_set(err, ERR_UNSUPPORTED, "the dump has only one heap (Android dumps have several: app, "
		    "zygote, image)");
	for (*space = 0; *space < h->n_spaces; ++*space)
		if (!strcmp(h->spaces[*space], name))
			return 0;
	name_heaps(h, &names);
	err_set(err, ERR_NOT_FOUND, "no heap \"%.60s\" (there are %s)", name, names.len ? names.s : "none");
	text_release(&names);
	return err->code;
}

/* --- threads ---------------------------------------------------------------------------------- */

static int thread_by_name(const struct heap *h, const char *word, uint32_t *thread, struct err *err)
{
	struct text names = TEXT_INIT;
	unsigned parts = 0;
	for (uint32_t t = 0; t < h->n_threads; t++) {
		const char *name = h->threads[t].name;
		if (!name)
			continue;
		if (!strcmp(name, word)) {
			*thread = t;
			text_release(&names);
			return 0;
		}
		if (!strstr(name, word))
			continue;
		*thread = t;
		if (++parts <= CANDIDATES)
			text_addf(&names, "%s\"%.60s\"", parts > 1 ? ", " : "", name);
	}
	int code = 0;
	if (!parts)
		code = err_set(err, ERR_NOT_FOUND, "no thread \"%.100s\" (threads lists them)", word);
	else if (parts > 1)
		code = err_set(err, ERR_NOT_FOUND, "\"%.100s\" is ambiguous (%s%s)", word, names.s,
		    parts > CANDIDATES ? " or others" : "");
	text_release(&names);
	return code;
}

bool thread_numbers_are_own(const struct heap *h)
{
	return h->n_threads && h->threads[0].own_id && h->facts.threads_numbered;
}

uint64_t thread_number(const struct heap *h, uint32_t thread)
{
	return thread_numbers_are_own(h) ? h->threads[thread].own_id : thread;
}

static int numbered_thread(const struct heap *h, uint64_t number, uint32_t *thread, struct err *err)
{
	for (int own = 0; own < 2; own++) { /* else by Thread.getId(), which narrow screens show instead */
		for (uint32_t t = 0; t < h->n_threads; t++) {
			if ((own ? h->threads[t].own_id : thread_number(h, t)) == number) {
				*thread = t;
				return 0;
			}
		}
	}
	return err_set(err, ERR_NOT_FOUND, "no thread %" PRIu64 ": there are %" PRIu32 "%s", number, h->n_threads,
	    thread_numbers_are_own(h) ? " (goroutines lists their numbers)" : "");
}

int command_no_threads(const struct heap *h, struct err *err)
{
	if (h->facts.roots_recorded)
		return err_set(err, ERR_UNSUPPORTED, "%s", h->incomplete
		    ? "the readable part of this dump has no threads" : "this dump has no threads");
	return err_set(err, ERR_UNSUPPORTED,
	    "%s has no threads (a javacore adds them: --javacore FILE)", h->facts.title);
}

int value_thread(const struct session *s, const char *word, uint32_t *thread, struct err *err)
{
	const struct heap *h = session_heap(s);
	uint64_t number;
	uint32_t id;
	if (!h->n_threads)
		return command_no_threads(h, err);
	if (decimal(word, &number))
		return numbered_thread(h, number, thread, err);
	if (*word == '%') {
		struct target t;
		int code = value_row(s, word, &t, err);
		if (!code && t.kind == TARGET_THREAD) {
			*thread = t.id;
			return 0;
		}
		if (code)
			return code;
	}
	if (!strncasecmp(word, "0x", 2) || strchr("#$%", *word)) {
		int code = value_object(s, word, &id, err);
		if (code)
			return code;
		*thread = heap_thread_of(h, id);
		return *thread != HEAP_NONE ? 0 : err_set(err, ERR_NOT_FOUND, "%s is a %.200s, not a thread", word,
		    heap_class_of(h, id)->name);
	}
	return thread_by_name(h, word, thread, err);
}

/* --- dumps ------------------------------------------------------------------------------------- */

static bool is_number(const char *word)
{
	return *word && word[strspn(word, "0123456789")] == '\0';
}

/* By its path, or the file's name where only one has it. */
static struct session_dump *dump_of_file(const struct session *s, const char *word)
{
	struct session_dump *found = NULL;
	for (size_t i = 0; i < s->n_dumps; i++) {
		const char *path = s->dumps[i]->path, *slash = strrchr(path, '/');
		if (!strcmp(path, word))
			return s->dumps[i];
		if (!slash || strcmp(slash + 1, word))
			continue;
		if (found)
			return NULL;
		found = s->dumps[i];
	}
	return found;
}

bool word_is_dump(const struct session *s, const struct word *word)
{
	return !word->quoted && is_number(word->s) ? true : dump_of_file(s, word->s) != NULL;
}

int value_dump(const struct session *s, const char *word, struct session_dump **dump, struct err *err)
{
	bool number = is_number(word) && strlen(word) < 10;
	*dump = number ? session_numbered(s, strtoull(word, NULL, 10)) : dump_of_file(s, word);
	if (*dump)
		return 0;
	if (!s->n_dumps)
		return err_set(err, ERR_USAGE, "no dump in this session (open FILE adds one)");
	return err_set(err, ERR_USAGE, "no dump \"%.60s\": %s%zu (dumps lists them, open FILE adds one)", word,
	    s->n_dumps == 1 ? "the only one is " : "their numbers are 1 to ", s->n_dumps);
}
