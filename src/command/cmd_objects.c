/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_objects.c - ls, x, find: lists of objects, one object, and where something is.
 */
#include "command/commands.h"

#include "command/objects.h"
#include "command/values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- ls --------------------------------------------------------------------------------------- */

enum { LS_ADDRESS, LS_CLASS, LS_SHALLOW, LS_RETAINED, LS_LENGTH, LS_VALUE };

static const struct column ls_columns[] = {
    {.name = "address", .type = CELL_ADDRESS, .shown_by_default = true},
    {.name = "class", .type = CELL_TEXT, .shown_by_default = true},
    {.name = "shallow", .type = CELL_BYTES, .shown_by_default = true, .total = true},
    {.name = "retained", .type = CELL_BYTES},
    {.name = "length", .type = CELL_COUNT},
    {.name = "value", .type = CELL_TEXT},
};
static const unsigned char ls_what[] = {OBJECT_ADDRESS, OBJECT_CLASS, OBJECT_SHALLOW,
    OBJECT_RETAINED, OBJECT_LENGTH, OBJECT_VALUE};

static const struct option ls_options[] = {
    {"-min", OPT_SIZE, "SIZE", "objects of at least this shallow size"},
    {"-max", OPT_SIZE, "SIZE", "objects of at most this shallow size"},
    {"-sort", OPT_COLUMN, "COL", "order by a column (default address)"},
    {"-r", OPT_FLAG, NULL, "the other way round"},
    {NULL, OPT_FLAG, NULL, NULL},
};

static uint64_t size_option(const struct call *call, const char *name, uint64_t otherwise)
{
	int i = call_option(call, name);
	return call->option[i].given ? call->option[i].number : otherwise;
}

/* Drop what is too small or too large; objects of unknown size stay only where no bound is set. */
static int keep_sizes(const struct heap *h, const struct call *call, uint32_t **ids, size_t *n,
    struct err *err)
{
	uint64_t min = size_option(call, "-min", 0), max = size_option(call, "-max", UINT64_MAX);
	if (min == 0 && max == UINT64_MAX)
		return 0;
	size_t kept = 0;
	for (size_t i = 0; i < *n; i++) {
		uint64_t size = heap_shallow(h, (*ids)[i]);
		if (size >= min && size <= max && heap_size_known(h, (*ids)[i]))
			(*ids)[kept++] = (*ids)[i];
	}
	uint32_t *less = big_resize(*ids, *n, kept, sizeof **ids, err);
	if (!less)
		return ERR_NOMEM;
	*ids = less;
	*n = kept;
	return 0;
}

/* The ids that the first argument names, as big memory. */
static int named_objects(const struct heap *h, const struct call *call, uint32_t **ids, size_t *n,
    struct err *err)
{
	if (call->argument[0].objects) {
		*n = call->argument[0].n_ids;
		*ids = big_alloc(*n, sizeof **ids, err);
		if (*ids && *n)
			memcpy(*ids, call->argument[0].ids, *n * sizeof **ids);
	} else {
		*ids = objects_of_classes(
		    h, call->argument[0].ids, call->argument[0].n_ids, n, err);
	}
	return *ids ? 0 : ERR_NOMEM;
}

/* Lengths are shown where there are arrays, values where there are class objects. */
static void show_what_applies(struct result *r, const struct heap *h, const struct call *call)
{
	struct column *columns = command_own_columns(r);
	bool sets = call->argument[0].objects;
	for (size_t i = 0; i < call->argument[0].n_ids && !sets; i++) {
		uint32_t class = call->argument[0].ids[i];
		enum class_kind kind = h->classes[class].kind;
		if (kind == CLASS_OBJECT_ARRAY || kind == CLASS_PRIMITIVE_ARRAY)
			columns[LS_LENGTH].shown_by_default = true;
		if (class == h->java_lang_class)
			columns[LS_VALUE].shown_by_default = true;
	}
}

static int run_ls(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = s->heap;
	uint32_t *ids = NULL;
	size_t n = 0;
	int code = named_objects(h, call, &ids, &n, err);
	if (!code)
		code = keep_sizes(h, call, &ids, &n, err);
	if (code) {
		big_free(ids, n, sizeof *ids);
		return code;
	}
	struct object_rows *rows = object_rows_new(h);
	object_rows_add(rows, NULL, NULL, ids, n, true);
	const char *title = call->argument[0].word;
	if (!call->argument[0].objects && call->argument[0].n_ids == 1)
		title = h->classes[call->argument[0].ids[0]].name;
	struct result *r =
	    object_rows_result(rows, title, ls_columns, N_COLUMNS(ls_columns), ls_what);
	show_what_applies(r, h, call);
	code = command_sort(r, call, "address", true, err);
	if (code)
		result_free(r);
	else
		*out = r;
	return code;
}

const struct command cmd_ls = {
    .name = "ls",
    .aliases = {"instances", "list_objects", "dumpheap -type"},
    .arguments = {{ARG_CLASS, "PAT", false}},
    .options = ls_options,
    .group = "look",
    .summary = "the objects of a class",
    .columns = "address class shallow retained length value",
    .description = "The objects of exactly the classes that PAT matches, by address; those of subclasses "
	"are not among them. PAT may be a kept set ($name). value is the class that a class "
	"object stands for.",
    .examples = {"ls java.lang.String", "ls char[] -min 1K", "ls java.util.Date", "ls '*[]' -sort shallow"},
    .key = "",
    .run = run_ls,
};

/* --- x ---------------------------------------------------------------------------------------- */

static const struct column x_columns[] = {
    {.name = "name", .type = CELL_TEXT, .shown_by_default = true},
    {.name = "type", .type = CELL_TEXT},
    {.name = "value", .type = CELL_ADDRESS, .shown_by_default = true},
    {.name = "declared_in", .type = CELL_TEXT},
    {.name = "class", .type = CELL_TEXT, .shown_by_default = true},
    {.name = "shallow", .type = CELL_BYTES, .shown_by_default = true},
};
static const unsigned char x_what[] = {OBJECT_FIELD, OBJECT_UNKNOWN, OBJECT_ADDRESS, OBJECT_UNKNOWN,
    OBJECT_CLASS, OBJECT_SHALLOW};

static void x_head_cell(struct result *r, uint32_t id, const char *name, enum object_column what)
{
	struct cell cell;
	object_cell(r->heap, id, what, &cell, &r->scratch);
	result_head(r, name, cell);
}

/* What makes it a root: "System class, Thread". */
static struct cell root_cell(const struct heap *h, uint32_t id, struct text *to)
{
	size_t first, n = heap_roots_of(h, id, &first);
	enum certainty weakest = EXACT;
	text_clear(to);
	for (size_t i = 0; i < n; i++) {
		const struct heap_root *root = &h->roots[first + i];
		if (root->certainty > weakest)
			weakest = root->certainty;
		if (!i || root[-1].kind != root->kind)
			text_addf(to, "%s%s", i ? ", " : "", root_kind_name(root->kind));
	}
	return n ? cell_marked(cell_text(to->s), weakest) : cell_blank();
}

/* What an object is called: a class object's class, a thread's name. */
static struct cell value_cell(const struct heap *h, uint32_t id, struct text *scratch)
{
	struct cell cell;
	for (uint32_t t = 0; t < h->n_threads; t++) {
		if (h->threads[t].object == id)
			return cell_text(h->threads[t].name);
	}
	object_cell(h, id, OBJECT_VALUE, &cell, scratch);
	return cell;
}

static struct cell address_or_none(const struct heap *h, uint32_t id)
{
	return id == HEAP_NONE ? cell_none() : cell_address(heap_address(h, id));
}

/* Of a class object: the class it stands for. */
static void x_class(struct result *r, const struct heap *h, const struct heap_class *class)
{
	result_head(r, "superclass", class->superclass == HEAP_NONE ? cell_none() :
	        cell_text(h->classes[class->superclass].name));
	result_head(r, "instance_size", class->instance_size == SIZE_UNKNOWN ? cell_none() :
	        cell_bytes(class->instance_size));
	result_head(r, "instances",
	    cell_marked(cell_count(class->n_objects), command_count_certainty(h)));
	result_head(r, "instances_shallow",
	    cell_marked(cell_bytes(class->shallow), command_count_certainty(h)));
}

static void x_head(struct result *r, const struct heap *h, uint32_t id)
{
	uint32_t mirrored = heap_class_mirrored(h, id);
	const struct heap_class *class =
	    mirrored == HEAP_NONE ? heap_class_of(h, id) : &h->classes[mirrored];
	struct text t = TEXT_INIT;
	x_head_cell(r, id, "address", OBJECT_ADDRESS);
	x_head_cell(r, id, "class", OBJECT_CLASS);
	x_head_cell(r, id, "shallow", OBJECT_SHALLOW);
	x_head_cell(r, id, "retained", OBJECT_RETAINED);
	x_head_cell(r, id, "length", OBJECT_LENGTH);
	result_head(r, "loader", address_or_none(h, class->loader));
	result_head(r, "root", root_cell(h, id, &t));
	result_head(r, "value", value_cell(h, id, &t));
	result_head(r, "id", cell_count(id));
	if (mirrored != HEAP_NONE)
		x_class(r, h, class);
	text_release(&t);
}

static int run_x(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = s->heap;
	uint32_t id = call->argument[0].id;
	struct object_rows *rows = object_rows_new(h);
	struct text text = TEXT_INIT;
	(void)err;
	object_rows_out(rows, id, NULL);
	text_addf(&text, "0x%" PRIx64, heap_address(h, id));
	struct result *r =
	    object_rows_result(rows, text.s, x_columns, N_COLUMNS(x_columns), x_what);
	x_head(r, h, id);
	text_clear(&text);
	text_addf(&text, "%s holds no field names or values: these are its references",
	    command_format_name(h));
	r->note = arena_strndup(&r->arena, text.s, text.len);
	text_release(&text);
	*out = r;
	return 0;
}

const struct command cmd_x = {
    .name = "x",
    .aliases = {"do", "inspect", "x/j"},
    .arguments = {{ARG_OBJECT, "OBJ", false}},
    .flags = COMMAND_NEEDS_REFERENCES,
    .group = "look",
    .summary = "one object: what it is and what it holds",
    .columns = "name type value declared_in class shallow",
    .description = "A head (address class shallow retained length loader root value id), then a row for "
	"each thing it holds. Formats without field values list references: those that the dump "
	"implies (<class>, <super>, <loader>) by name, the others without. A class object tells "
	"of the class it stands for as well. A line that begins with an object means x.",
    .examples = {"x 0xE0000AF0", "x 0xE00174F0", "x java.util.Date"},
    .key = "x",
    .run = run_x,
};

/* --- find ------------------------------------------------------------------------------------- */

static const struct column find_columns[] = {
    {.name = "kind", .type = CELL_TEXT, .shown_by_default = true},
    {.name = "address", .type = CELL_ADDRESS, .shown_by_default = true},
    {.name = "class", .type = CELL_TEXT, .shown_by_default = true},
    {.name = "name", .type = CELL_TEXT, .shown_by_default = true},
    {.name = "objects", .type = CELL_COUNT, .shown_by_default = true},
    {.name = "shallow", .type = CELL_BYTES, .shown_by_default = true},
    {.name = "offset", .type = CELL_COUNT},
};

static const struct option find_options[] = {
    {"-i", OPT_FLAG, NULL, "upper and lower case are the same"},
    {NULL, OPT_FLAG, NULL, NULL},
};

static void find_object(struct result *r, const struct heap *h, uint32_t id, uint64_t offset)
{
	struct text t = TEXT_INIT, scratch = TEXT_INIT;
	struct cell shallow, name = offset ? cell_none() : value_cell(h, id, &scratch);
	object_cell(h, id, OBJECT_SHALLOW, &shallow, &scratch);
	if (offset) {
		text_addf(&t, "byte %" PRIu64 " of it", offset);
		name = cell_text(t.s);
	}
	result_add_row(r, (struct cell[]){cell_text(offset ? "inside" : "object"),
	    cell_address(heap_address(h, id)), cell_text(heap_class_of(h, id)->name), name,
	    cell_count(1), shallow, cell_count(offset)},
	    &(struct target){.kind = TARGET_OBJECT, .id = id});
	text_release(&t);
	text_release(&scratch);
}

static void find_classes(struct result *r, const struct session *s, const regex_t *regex)
{
	const struct heap *h = s->heap;
	const struct name_index *ix = session_names(s);
	for (uint32_t i = 0; i < ix->n; i++) {
		const struct heap_class *c = &h->classes[ix->by_name[i]];
		if (regexec(regex, c->name, 0, NULL, 0))
			continue;
		result_add_row(r, (struct cell[]){cell_text("class"),
		    c->address ? cell_address(c->address) : cell_none(),
		    cell_text("java.lang.Class"), cell_text(c->name),
		    cell_marked(cell_count(c->n_objects), command_count_certainty(h)),
		    cell_marked(cell_bytes(c->shallow), command_count_certainty(h)), cell_blank()},
		    &(struct target){.kind = TARGET_CLASS, .id = ix->by_name[i]});
	}
}

static void find_threads(struct result *r, const struct heap *h, const regex_t *regex)
{
	for (uint32_t t = 0; t < h->n_threads; t++) {
		const struct heap_thread *thread = &h->threads[t];
		bool known = thread->object != HEAP_NONE;
		if (regexec(regex, thread->name, 0, NULL, 0))
			continue;
		result_add_row(r, (struct cell[]){cell_text("thread"),
		    thread->address ? cell_address(thread->address) : cell_none(),
		    known ? cell_text(heap_class_of(h, thread->object)->name) : cell_none(),
		    cell_text(thread->name), cell_blank(), cell_blank(), cell_blank()},
		    &(struct target){.kind = TARGET_THREAD, .id = t});
	}
}

/* The word as an address or object id; *done when it can be nothing else. */
static int find_place(struct result *r, const struct session *s, const char *word, bool *done,
    struct err *err)
{
	uint64_t address;
	uint32_t id;
	bool prefixed;
	*done = false;
	if (strchr("#%$", *word)) {
		/* "$" alone and the like are regular expressions */
		if (!word[1] || !strchr("0123456789abcdefghijklmnopqrstuvwxyz_", word[1]))
			return 0;
		*done = true;
		int code = value_object(s, word, &id, err);
		if (!code)
			find_object(r, s->heap, id, 0);
		return code;
	}
	if (!value_address(word, &prefixed, &address))
		return 0;
	*done = prefixed;
	id = object_around(s->heap, address);
	if (id != HEAP_NONE && (prefixed || heap_address(s->heap, id) == address))
		find_object(r, s->heap, id, address - heap_address(s->heap, id));
	else if (prefixed)
		return value_object(s, word, &id, err); /* which says what is near */
	return 0;
}

static int run_find(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const char *word = call->argument[0].word;
	struct result *r = result_new_rows("found", s->heap, find_columns, N_COLUMNS(find_columns));
	regex_t regex;
	bool done;
	int code = find_place(r, s, word, &done, err);
	if (!code && !done) {
		code = value_regex(word, call_has(call, "-i") ? REG_ICASE : 0, &regex, err);
		if (!code) {
			find_classes(r, s, &regex);
			find_threads(r, s->heap, &regex);
			regfree(&regex);
		}
	}
	if (code) {
		result_free(r);
		return code;
	}
	r->failed = !r->n_rows;
	if (r->failed)
		r->note = "nothing is called so: no class, no thread, no object";
	*out = r;
	return 0;
}

const struct command cmd_find = {
    .name = "find",
    .aliases = {"whatis"},
    .arguments = {{ARG_REGEX, "RE", false}},
    .options = find_options,
    .group = "look",
    .summary = "names of classes and threads, and what an address is",
    .columns = "kind address class name objects shallow offset",
    .description = "RE is a POSIX extended regular expression, looked for in the names of classes and "
	"threads; or an address, which may lie inside an object; or #ID. Exit status 1 when "
	"nothing is found.",
    .examples = {"find Date", "find 0xE0000AF4", "find -i '^java.*error$'"},
    .key = "",
    .run = run_find,
};
