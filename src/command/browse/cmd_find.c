/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_find.c - find: what is called so, what has this text, what lies there, what holds this number.
 */
#include "command/commands.h"
#include "command/query/query.h"

#include "analysis/strings/strings.h"
#include "base/render_lock.h"
#include "command/browse/find_values.h"
#include "command/resolve/resolve.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/hashes.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "memory/big.h"
#include "result/objects.h"
#include "result/result.h"

#include <string.h>

static const struct column find_columns[] = {
    [FOUND_KIND] = {.id = COL_KIND},
    [FOUND_ADDRESS] = {.id = COL_ADDRESS},
    [FOUND_CLASS] = {.id = COL_CLASS},
    [FOUND_NAME] = {.id = COL_NAME},
    [FOUND_OBJECTS] = {.id = COL_OBJECTS},
    [FOUND_SHALLOW] = {.id = COL_SHALLOW},
    [FOUND_OFFSET] = {.id = COL_OFFSET, .hidden = true},
    [FOUND_FIELD] = {.id = COL_FIELD, .hidden = true},
};
static const struct shape find_shape = {SHAPE_COLUMNS(find_columns)};

static int find_classes(
    struct result *r, const struct session *s, struct pattern *regex, struct err *err)
{
	const struct heap *h = session_heap(s);
	const struct name_index *ix = opened_names(s->dump, err);
	bool matches = false;
	for (uint32_t i = 0; ix && i < ix->n && !progress_own_stops(i); i++) {
		const struct heap_class *c = &h->classes[ix->by_name[i]];
		render_lock_offer();
		if (!name_index_repeats(ix, i))
			matches = pattern_matches(regex, c->name);
		if (!matches)
			continue;
		result_add_row(r, (struct cell[]){cell_text("class"),
		    !c->address && h->facts.no_class_objects ? cell_blank() : cell_address_or_none(c->address),
		    h->facts.no_class_objects ? cell_blank() : cell_text("java.lang.Class"), cell_text(c->name),
		    cell_count(class_objects(h, c)), cell_bytes(class_shallow(h, c)), cell_blank(), cell_blank()},
		    &(struct target){.kind = TARGET_CLASS, .id = ix->by_name[i]});
	}
	return ix ? 0 : ERR_NOMEM;
}

static void find_threads(struct result *r, const struct heap *h, struct pattern *regex)
{
	for (uint32_t t = 0; t < h->n_threads; t++) {
		const struct heap_thread *thread = &h->threads[t];
		bool known = thread->object != HEAP_NONE;
		if (!thread->name || !pattern_matches(regex, thread->name))
			continue;
		result_add_row(r, (struct cell[]){cell_text("thread"),
		    cell_address_or_none(thread->address),
		    known ? cell_text(heap_class_of(h, thread->object)->name) : cell_none(),
		    cell_text(thread->name), cell_blank(), cell_blank(), cell_blank(), cell_blank()},
		    &(struct target){.kind = TARGET_THREAD, .id = t});
	}
}

/* Words of global variables, each with what it points to. */
static void find_globals(struct result *r, const struct heap *h, struct pattern *regex)
{
	struct text name = TEXT_INIT;
	for (size_t i = 0; i < h->n_roots && !progress_own_stops(i); i++) {
		const struct heap_root *root = &h->roots[i];
		render_lock_offer();
		text_clear(&name);
		if ((root->kind != ROOT_DATA && root->kind != ROOT_BSS) || !heap_symbol(h, root->slot, &name) ||
		    !pattern_matches(regex, name.s))
			continue;
		result_add_row(r, (struct cell[]){cell_text("global"),
		    cell_address(heap_address(h, root->object)),
		    cell_text(heap_class_of(h, root->object)->name), cell_text(name.s), cell_blank(),
		    cell_bytes(heap_size(h, root->object)), cell_blank(), cell_blank()},
		    &(struct target){.kind = TARGET_OBJECT, .id = root->object});
	}
	text_release(&name);
}

static void add_string(struct result *r, uint32_t id)
{
	struct text t = TEXT_INIT;
	struct cell value;
	object_cell(r->opened, id, OBJECT_VALUE, &value, &t);
	find_add(r, "string", id, value, cell_blank(), NULL);
	text_release(&t);
}

/* Strings that are found get rows while others are looked for. */
struct found_strings {
	struct result *r;
	struct render_lock *turns; /* stepped out of */
	size_t n, most;      /* rows; and how many there may be */
};

static void add_strings(void *context, const uint32_t *ids, size_t n)
{
	struct found_strings *f = context;
	render_lock_enter(f->turns);
	for (; f->n < n && f->n < f->most && !progress_own_stops(f->n); f->n++) {
		add_string(f->r, ids[f->n]);
		render_lock_offer();
	}
	(void)render_lock_step_out();
}

/* Strings, where the format holds their text; on the screen so many are shown. */
static int find_strings(struct result *r, const struct call *call, struct err *err)
{
	const struct heap *h = r->heap;
	struct string_list list;
	if (inspect_texts_held(h, NULL))
		return 0;
	struct found_strings found = {r, render_lock_step_out(), 0, call->shown ? FOUND_SHOWN : SIZE_MAX};
	int code = command_strings_matching(&list, h, call->argument[0].word, call_has(call, DASH_I),
	    call->shown ? &(struct string_watcher){add_strings, &found} : NULL, err);
	if (!code)
		add_strings(&found, list.ids, list.n);
	render_lock_enter(found.turns);
	if (code)
		return code;
	if (list.n > found.most)
		result_notef(r, "%d of %zu strings are shown (strings lists all)", FOUND_SHOWN, list.n);
	if (list.n <= FOUND_SHOWN)
		find_keys(r, list.ids, list.n);
	string_list_release(&list);
	return 0;
}

/* The word as an address or object id; *done when it can be nothing else.  ERR_NOT_FOUND: it is an address, and
 * nothing lies there. */
static int find_place(struct result *r, const struct session *s, const char *word, bool *done,
    struct err *err)
{
	uint64_t address;
	uint32_t id;
	bool prefixed;
	*done = false;
	if (*word && strchr("#%$", *word)) {
		/* "$" alone and the like are regular expressions */
		if (!word[1] || !strchr("0123456789abcdefghijklmnopqrstuvwxyz_", word[1]))
			return 0;
		*done = true;
		int code = value_object(s, word, &id, err);
		if (!code)
			find_object(r, id, 0);
		return code;
	}
	if (!value_address(word, &prefixed, &address))
		return 0;
	*done = prefixed;
	id = object_around(session_heap(s), address);
	if (id != HEAP_NONE && (prefixed || heap_address(session_heap(s), id) == address))
		find_object(r, id, address - heap_address(session_heap(s), id));
	else if (prefixed)
		return value_object(s, word, &id, err); /* which says what is near */
	return 0;
}

/* The objects whose identity hash is asked for. */
static int find_hash(struct session *s, struct result *r, const struct call *call, struct err *err)
{
	if (call->argument[0].given)
		return err_set(err, ERR_USAGE, "-hash and RE exclude each other (use one of them)");
	int code = find_hashes(s, r, (uint32_t)call_number(call, DASH_HASH, 0), err);
	result_mark(r, RESULT_FAILED, !r->n_rows);
	if (result_is(r, RESULT_FAILED))
		r->note = "no object has this identity hash; an object has one only after its first use";
	return code;
}

static const char *nothing_found(const struct heap *h)
{
	static const char *const notes[4][2] = {
	    {"nothing matches in classes, threads or objects",
	     "nothing matches in classes, threads or objects that were read"},
	    {"nothing matches in classes, threads, variables, texts, values or objects",
	     "nothing matches in classes, threads, variables, texts, values or objects that were read"},
	    {"nothing matches in classes or threads; values and texts are in the dump, and only its index is open",
	     "nothing matches in classes or threads that were read; values and texts are in the dump, and only its "
	     "index is open"},
	    {"nothing matches in what this dump has; info says what it lacks",
	     "nothing matches in what was read of this dump; info says what it lacks"},
	};
	return notes[h->facts.redacted ? 3 : values_away(h) ? 2 : values_held(h)][h->incomplete];
}

/* By names and texts. */
static int find_words(struct session *s, struct result *r, const struct call *call, struct err *err)
{
	const char *word = call->argument[0].word;
	struct pattern *regex;
	int code = line_regex(word, call_has(call, DASH_I), &regex, err);
	if (code)
		return code;
	code = find_classes(r, s, regex, err);
	find_threads(r, session_heap(s), regex);
	find_globals(r, session_heap(s), regex);
	if (!code)
		code = find_enums(r, regex, call->shown, err);
	pattern_free(regex);
	if (!code)
		code = find_strings(r, call, err);
	return code ? code : find_values(r, word, call_has(call, DASH_I), call->shown, err);
}

/* Of all objects those of which an expression is true. */
static int find_where(struct session *s, struct result *r, const struct call *call, struct err *err)
{
	uint32_t *ids;
	size_t n;
	int code = command_objects(s, call, &ids, &n, err);
	if (!code)
		code = ask_where(s, call, ids, &n, err);
	for (size_t i = 0; !code && i < n && !progress_own_stops(i); i++)
		find_object(r, ids[i], 0);
	big_free(ids);
	return code;
}

static int find_all(struct session *s, struct result *r, const struct call *call, struct err *err)
{
	const char *word = call->argument[0].word;
	struct err nowhere = ERR_INIT;
	bool done = call_has(call, DASH_HASH);
	int code = 0;
	if (done)
		code = find_hash(s, r, call, err);
	else if (!word && call_has(call, DASH_WHERE))
		return find_where(s, r, call, err);
	else if (!word)
		code = call_missing(call->command, "RE, -hash or -where is missing", "", 1, err);
	else
		code = find_place(r, s, word, &done, &nowhere);
	bool lies_nowhere = code && done && nowhere.code == ERR_NOT_FOUND;
	if (nowhere.code && err)
		*err = nowhere;
	/* an address that lies somewhere is no number of a log */
	if ((!code && !done) || lies_nowhere)
		code = find_number(s, r, word, call->shown, err);
	if (!code && !done) {
		size_t before = r->n_rows;
		code = find_printed(s, r, word, err);
		done = r->n_rows > before;
	}
	if (!code && !done)
		code = find_words(s, r, call, err);
	if (!code && lies_nowhere && !r->n_rows) {
		*err = nowhere;
		code = nowhere.code;
	}
	return code;
}

/* A log's "Foo@1a2b3c" of a dump that cannot tell which object that is. */
static void note_printed(struct result *r, const struct call *call)
{
	struct err why = ERR_INIT;
	uint32_t hash;
	if (!call->argument[0].given || !find_is_printed(call->argument[0].word, &hash) ||
	    !hashes_recorded(r->heap, &why) || why.code != ERR_UNSUPPORTED)
		return;
	result_notef(r, "no text matches, and %s: cairn cannot find an object by its hash after @", why.message);
}

static int run_find(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct result *r = *out = result_new_rows("found", s->dump, &find_shape);
	bool grows = session_grows(s, r);
	int code = find_all(s, r, call, err);
	if (grows)
		session_grown(s);
	if (!code && call->argument[0].given)
		code = ask_where_rows(s, call, r, err);
	if (code)
		return code;
	result_mark(r, RESULT_FAILED, !r->n_rows);
	if (r->n_rows && !r->note && values_away(session_heap(s)))
		r->note = "only classes and threads were searched; values and texts are in the dump, and only its index is "
		    "open";
	if (!r->n_rows && !r->note)
		note_printed(r, call);
	if (!r->n_rows && !r->note)
		r->note = nothing_found(session_heap(s));
	if (values_away(session_heap(s)))
		r->warning = r->note;
	return 0;
}

const struct command cmd_find = {
    .name = "find",
    .arguments = {{ARG_REGEX, "RE", true}},
    .options = OPTIONS({DASH_I, OPT_FLAG, NULL, "ignore case"},
	{DASH_HASH, OPT_HASH, "HASH", "objects with this identity hash (instead of RE)"},
	WHERE_OPTION),
    .flags = COMMAND_COUNTS_VALUES,
    .group = "browse",
    .summary = "find names, texts, numbers and addresses",
    .shapes = SHAPES(&find_shape),
    .description = "RE is a POSIX extended regular expression, an address (also inside an object) or #ID. find "
	"searches names of classes, threads, global variables and enum constants, texts of Strings, and what a value "
	"column shows: dates, UUIDs, URLs, boxes (on the screen at most 1000 of each).\n"
	"NUMBER\talso fields, boxes (Long), BigDecimal, static fields and arrays of numbers, except bytes, chars and "
	"booleans\n"
	"Foo@1a2b3c\tobject by class and hash, as in a log (PHD)\n"
	"-hash\tidentity hash: the hex digits of Object.toString (PHD)\n"
	"kind key\ta text or box that is the key of a map entry\n"
	"2026-11-21T09:12:40Z\talso a number that x shows with this date (UTC)\n"
	"Numbers are 4711, -3, 10.5 or 0x1b6d3586; a hexadecimal number may be negative. field is the place of a "
	"number. Exit status 1 if nothing is found.",
    .examples = {{"find Session", ON_SHOP, "classes, threads and texts with this word"},
	{"find -i '^com.*status$'", ON_SHOP, "texts that match, in any case"},
	{"find 4711000004", ON_SHOP, "which field holds this number of a log?"}, {"find 0xE0000AF4", ON_PHD},
	{"find -hash 0x66501cf5", ON_PHD}},
    .run = run_find,
};
