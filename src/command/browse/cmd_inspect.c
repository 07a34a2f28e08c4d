/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_inspect.c - x and entries: one object, what it holds, what a collection contains.
 */
#include "command/commands.h"

#include "analysis/describe/describe.h"
#include "command/browse/inspect.h"
#include "command/resolve/resolve.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/hashes.h"
#include "heap/noted.h"
#include "heap/roots.h"
#include "heap/sites.h"
#include "heap/typed/typed.h"
#include "heap/value.h"
#include "result/objects.h"
#include "result/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { VARIABLES_SHOWN = 8 }; /* of those that make an object a root */
enum { TEXT_SHOWN = 2000 }; /* characters of a String's text, unless -length says so */

/* --- x ---------------------------------------------------------------------------------------- */

static const unsigned char reference_what[R_COLUMNS] = {
    [R_NAME] = OBJECT_FIELD,
    [R_TYPE] = OBJECT_UNKNOWN,
    [R_VALUE] = OBJECT_ADDRESS,
    [R_DECLARED_IN] = OBJECT_UNKNOWN,
    [R_CLASS] = OBJECT_CLASS,
    [R_SHALLOW] = OBJECT_SHALLOW,
    [R_RETAINED] = OBJECT_RETAINED,
};

/* " (finalizer queue)", where the dump says it. */
static void add_root_words(const struct heap *h, const struct heap_root *root, struct text *to)
{
	struct text words = TEXT_INIT;
	if (heap_root_words(h, root, &words))
		text_addf(to, " (%s)", words.s);
	text_release(&words);
}

/* What makes it a root: "System class, Thread". */
static struct cell root_cell(const struct heap *h, uint32_t id, struct text *to)
{
	size_t first, n = heap_roots_of(h, id, &first), variables = 0;
	struct amount sure = amount_exact(n);
	text_clear(to);
	for (size_t i = 0; i < n; i++) {
		const struct heap_root *root = &h->roots[first + i];
		sure = amount_weaken(sure, root->certainty, REASON_ROOTS);
		bool variable = root->kind == ROOT_DATA || root->kind == ROOT_BSS;
		bool again = i && root[-1].kind == root->kind;
		variables += variable;
		if (again && (!variable || variables > VARIABLES_SHOWN))
			continue;
		text_add(to, i ? ", " : "");
		text_addf(to, "%s%s", again ? "" : root_kind_name(root->kind), variable && !again ? " " : "");
		add_root_words(h, root, to);
		if (variable && !heap_symbol(h, root->slot, to))
			text_add(to, "?");
		if (variable && root->offset)
			text_addf(to, "+%" PRIu64, (uint64_t)root->offset);
	}
	if (variables > VARIABLES_SHOWN)
		text_add(to, " and others (list: roots)");
	return n ? cell_text_as_sure(to->s, sure) : cell_blank();
}

/* Of a class object: the class it stands for. */
static void x_class(struct result *r, const struct heap *h, const struct heap_class *class)
{
	result_head(r, COL_SUPERCLASS, class->superclass == HEAP_NONE ? cell_none() :
	        cell_text(h->classes[class->superclass].name));
	result_head(r, COL_INSTANCE_SIZE, class->instance_size == SIZE_UNKNOWN ? cell_none() :
	        cell_bytes(class_sized(h, class, amount_exact(class->instance_size), 0)));
	result_head(r, COL_INSTANCES, cell_count(class_objects(h, class)));
	result_head(r, COL_INSTANCES_SHALLOW, cell_bytes(class_shallow(h, class)));
}

/* The text of a string: all of it within reason, or the part that is asked for. */
static struct cell text_cell(
    const struct heap *h, uint32_t id, const struct call *call, struct text *to)
{
	struct string_view s;
	if (!inspect_characters(h, id, &s))
		return object_value_cell(h, id, to);
	uint64_t start = call_number(call, DASH_START, 0);
	uint64_t length = call_number(call, DASH_LENGTH, TEXT_SHOWN);
	uint64_t left = start < s.length ? s.length - start : 0;
	text_clear(to);
	text_add(to, start ? "…" : "\"");
	string_add(&s, start, length, to);
	text_add(to, left > length ? "…" : "\"");
	return cell_text(to->s);
}

/* The functions that are its finalizers; as the dump notes few, all are looked at. */
static void x_finalizer(struct result *r, const struct heap *h, uint32_t id, struct text *t)
{
	static const enum noted_kind kinds[] = {NOTED_FINALIZER, NOTED_QUEUED};
	uint64_t rounds = 0;
	text_clear(t);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct noted_walk walk = {.run = 0};
		for (struct noted n; heap_next_noted(h, kinds[i], &walk, &n);) {
			if (progress_own_stops(rounds++))
				return;
			if (heap_target(h, n.of) != id || t->len > TEXT_SHOWN)
				continue;
			text_add(t, t->len ? ", " : "");
			heap_noted_function(h, &n, t);
			uint64_t offset = typed_resolve(h, n.of).offset;
			if (offset)
				text_addf(t, " of +%" PRIu64, offset);
			text_add(t, kinds[i] == NOTED_QUEUED ? " (queued)" : "");
		}
	}
	if (t->len)
		result_head(r, COL_FINALIZER, cell_text(t->s));
}

/* How its type is known, and who allocated it, where a dump tells. */
static void x_origin(struct result *r, const struct heap *h, uint32_t id, struct text *t)
{
	static const char *const means[TYPED_BYS] = {
	    [TYPED_BY_SHAPE] = "none: only size and pointers known",
	    [TYPED_BY_FIT] = "the only type with this size and pointers",
	    [TYPED_BY_POINTER] = "a pointer from a typed object",
	    [TYPED_BY_FRAME] = "a local variable",
	    [TYPED_BY_GLOBAL] = "a global variable",
	    [TYPED_BY_INTERFACE] = "an interface that holds it",
	    [TYPED_BY_RUNTIME] = "a record of the runtime",
	    [TYPED_BY_HEADER] = "its own header",
	};
	const struct heap_site *site = heap_site_of(h, id);
	if (h->typed_by && h->typed_by[id] < TYPED_BYS) {
		enum certainty sure = h->typed_by[id] == TYPED_BY_FIT ? INFERRED : EXACT;
		result_head(r, COL_TYPED_BY, cell_text_as_sure(means[h->typed_by[id]],
		    amount_weaken(amount_exact(0), sure, REASON_TYPES_GUESSED)));
	}
	if (!site)
		return;
	text_clear(t);
	for (uint32_t i = 0; i < site->n_frames; i++)
		text_addf(t, "%s%s", i ? " < " : "", site->frames[i]);
	result_head(r, COL_SITE, cell_text(t->s ? t->s : ""));
}

/* Blank where its record holds none.  0, ERR_NOMEM or ERR_CANCELLED. */
static int x_hash(struct result *r, uint32_t id, struct err *err)
{
	uint32_t hash;
	struct cell cell = cell_blank();
	if (hashes_recorded(r->heap, NULL))
		return 0;
	int code = heap_hash_of(r->heap, id, &hash, err);
	if (!code) {
		cell = cell_address(hash);
		cell.amount = result_of_file(r, cell.amount);
	}
	result_head(r, COL_HASH, cell);
	return code == ERR_NOT_FOUND ? 0 : code;
}

static int x_head(
    struct result *r, const struct heap *h, uint32_t id, const struct call *call,
    struct err *err)
{
	uint32_t mirrored = heap_class_mirrored(h, id);
	const struct heap_class *class =
	    mirrored == HEAP_NONE ? heap_class_of(h, id) : &h->classes[mirrored];
	struct text t = TEXT_INIT;
	object_head(r, id, COL_ADDRESS, OBJECT_ADDRESS);
	object_head(r, id, COL_CLASS, OBJECT_CLASS);
	object_head(r, id, COL_SHALLOW, OBJECT_SHALLOW);
	object_head(r, id, COL_RETAINED, OBJECT_RETAINED);
	object_head(r, id, COL_LENGTH, OBJECT_LENGTH);
	if (!h->facts.no_class_objects)
		result_head(r, COL_LOADER, cell_object_address(h, class->loader));
	if (h->n_spaces)
		object_head(r, id, COL_HEAP_NAME, OBJECT_HEAP);
	result_head(r, COL_ROOT, root_cell(h, id, &t));
	result_head(r, COL_REACHABLE, object_reachable_cell(r->opened, id));
	int code = x_hash(r, id, err);
	result_head(r, COL_VALUE, text_cell(h, id, call, &t));
	collection_head(r, h, id);
	x_finalizer(r, h, id, &t);
	x_origin(r, h, id, &t);
	result_head(r, COL_ID, cell_plain(id));
	if (mirrored != HEAP_NONE)
		x_class(r, h, class);
	text_release(&t);
	return code;
}

/* Does a row of what an object references say that it is this field? */
static bool is_told(struct result *r, size_t n, const char *field)
{
	struct cell name;
	for (size_t row = 0; row < n; row++) {
		result_cell(r, row, R_NAME, &name);
		if (name.type == CELL_TEXT && !strcmp(name.text, field))
			return true;
	}
	return false;
}

/* Of a dump of which only the index is here: fields are declared, and what they hold is unknown but for references that
 * have a name.  Takes r over. */
static struct result *with_fields(struct result *r, uint32_t class, const char *title)
{
	enum { DEEP = 1000, ROWS_MOST = 10000 };
	const struct heap *h = r->heap;
	if (h->classes[class].kind != CLASS_PLAIN || r->n_rows > ROWS_MOST)
		return r;
	struct result *all = result_new_rows(title, r->opened, &references_shape);
	for (size_t row = 0; row < r->n_rows; row++) {
		struct cell cells[R_COLUMNS];
		struct target target = {.kind = TARGET_NONE};
		for (unsigned c = 0; c < R_COLUMNS; c++) {
			result_cell(r, row, c, &cells[c]);
			cells[c] = result_keep_cell(all, cells[c]);
		}
		result_target(r, row, &target);
		result_add_row(all, cells, &target);
	}
	for (unsigned deep = 0; class != HEAP_NONE && deep < DEEP; class = h->classes[class].superclass, deep++) {
		const struct heap_class *c = &h->classes[class];
		for (uint32_t i = 0; i < c->n_fields; i++) {
			struct cell cells[R_COLUMNS] = {[R_NAME] = cell_text(c->fields[i].name), [R_TYPE] = cell_blank(),
			    [R_VALUE] = cell_unknown(REASON_DUMP_AWAY), [R_DECLARED_IN] = cell_text(c->name),
			    [R_CLASS] = cell_blank(), [R_SHALLOW] = cell_blank(), [R_RETAINED] = cell_blank()};
			bool reference = c->fields[i].type == VALUE_OBJECT;
			if (!reference)
				cells[R_TYPE] = cell_text(value_type_name(c->fields[i].type));
			if (!reference || !is_told(r, r->n_rows, c->fields[i].name))
				result_add_row(all, cells, &(struct target){.kind = TARGET_NONE});
		}
	}
	result_rows_late(all, COL_RETAINED, row_retained_cell);
	result_free(r);
	return all;
}

/* Formats without values: what it references. */
static struct result *x_references(const struct opened *o, uint32_t id, const char *title)
{
	struct object_rows *rows = object_rows_new(o);
	struct text note = TEXT_INIT;
	struct err why = ERR_INIT;
	object_rows_out(rows, id, NO_DIRECTION);
	struct result *r = object_rows_result(
	    rows, title, &references_shape, reference_what);
	(void)!heap_holds_no_values(o->heap, &why);
	text_addf(&note, "%s, so only references are shown", why.message);
	if (values_away(o->heap))
		r = with_fields(r, heap_class_index(o->heap, id), title);
	if (values_away(o->heap))
		result_warn(r, why.message);
	else
		result_add_note(r, note.s);
	text_release(&note);
	return r;
}

/* Is this a value that is looked at as itself, not as the object that it points to? */
static bool by_itself(const struct call *call)
{
	return call->argument[0].is_variable && call->argument[0].id == HEAP_NONE;
}

/* What -start and -length choose. */
static struct range range_of_call(const struct call *call)
{
	return (struct range){call_number(call, DASH_START, 0),
	    call_number(call, DASH_LENGTH, UINT64_MAX), call_has(call, DASH_START) || call_has(call, DASH_LENGTH)};
}

/* A global variable, whose memory is outside of the heap. */
static int x_variable(struct result **out, const struct opened *dump, const struct call *call, struct err *err)
{
	const struct variable *v = &call->argument[0].variable;
	const char *word = call->argument[0].word;
	struct range which = range_of_call(call);
	struct text text = TEXT_INIT;
	uint64_t size;
	if (call_has(call, DASH_HEX)) {
		struct object_bytes bytes;
		inspect_variable_bytes(&bytes, v);
		*out = bytes_result(dump, word, &bytes, &which);
	} else {
		struct object_parts *parts;
		int code = inspect_variable_parts(&parts, v, &which, err);
		if (code)
			return code;
		*out = parts_result(dump, parts, word);
	}
	result_head(*out, COL_VARIABLE, cell_text(word));
	result_head(*out, COL_ADDRESS, cell_address(v->address));
	result_head(*out, COL_CLASS, cell_text(inspect_type(&v->value)));
	result_head(*out, COL_SHALLOW, cell_bytes(amount_exact(v->size)));
	inspect_value(&v->value, TEXT_SHOWN, &text);
	result_head(*out, COL_VALUE, cell_text(text.s));
	if (inspect_variable_size(v, &size))
		result_head(*out, COL_SIZE, cell_count(result_of_file(*out, amount_exact(size))));
	text_release(&text);
	return 0;
}

/* Of the variable that was named what it holds itself: of an array the part that it means. */
static void x_meant(struct result *r, const struct call *call)
{
	struct text value = TEXT_INIT;
	if (!call->argument[0].is_variable)
		return;
	inspect_value(&call->argument[0].variable.value, TEXT_SHOWN, &value);
	result_head(r, COL_VARIABLE, cell_text(call->argument[0].word));
	result_head(r, COL_VARIABLE_VALUE, cell_text(value.s));
	text_release(&value);
}

/* What an object holds: its parts, its bytes, or where the dump has no values its references. */
static int x_rows(struct result **out, const struct opened *o, uint32_t id, const struct call *call,
    struct err *err)
{
	const struct heap *h = o->heap;
	struct range which = range_of_call(call);
	struct object_bytes bytes;
	struct object_parts *parts;
	struct string_view s;
	char title[32];
	int code;
	snprintf(title, sizeof title, "0x%" PRIx64, heap_address(h, id));
	bool told = values_held(h) || (values_away(h) && heap_class_mirrored(h, id) != HEAP_NONE); /* static fields */
	if (!told && (which.given || call_has(call, DASH_HEX))) {
		code = heap_holds_no_values(h, err);
		err_context(err, "no elements or bytes");
		return code;
	}
	if (!told) {
		*out = x_references(o, id, title);
		return 0;
	}
	if (call_has(call, DASH_HEX)) {
		code = inspect_bytes(&bytes, h, id, err);
		if (!code)
			*out = bytes_result(o, title, &bytes, &which);
		return code;
	}
	which.given &= !inspect_characters(h, id, &s); /* else they choose of the text */
	code = inspect_parts(&parts, h, id, &which, err);
	if (!code)
		*out = parts_result(o, parts, title);
	return code;
}

/* What fields retain, where some of them are references: not of an array of numbers. */
static void show_retained(struct result *r)
{
	enum { LOOKED_AT = 1000 };
	struct target target = {.kind = TARGET_NONE};
	for (size_t row = 0; r->ops->target && row < r->n_rows && row < LOOKED_AT; row++) {
		result_target(r, row, &target);
		if (target.kind == TARGET_OBJECT) {
			command_show_retained(r);
			return;
		}
	}
}

static int run_x(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	uint32_t id = call->argument[0].id;
	if (by_itself(call))
		return x_variable(out, s->dump, call, err);
	int code = x_rows(out, s->dump, id, call, err);
	if (code)
		return code;
	command_retained_beside(s);
	show_retained(*out);
	code = x_head(*out, h, id, call, err);
	x_meant(*out, call);
	return code;
}

const struct command cmd_x = {
    .name = "x",
    .arguments = {{ARG_VALUE, "OBJ", false}},
    .options = OPTIONS({DASH_START, OPT_COUNT, "N", "first element, or first character of a text"},
	{DASH_LENGTH, OPT_COUNT, "N", "number of elements or characters"},
	{DASH_HEX, OPT_FLAG, NULL, "bytes of an array or Go object, 16 per row"}),
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_SHOWS_CLASSES,
    .group = "browse",
    .summary = "show an object: its fields, elements and size",
    .shapes = SHAPES(&parts_shape, &parts_of_memory_shape, &references_shape, &bytes_shape),
    .description = "A head, then a row per field (also of superclasses), per static field of a class, or per "
	"element of an array. For a reference, type, class, shallow and retained describe its target. A line that "
	"begins with an object is an x command.\n"
	"hash\tidentity hash (PHD), empty if never used\n"
	"size\telements of a collection; also capacity and fill\n"
	"held_as\tthe range of a Go object that slices and strings use\n"
	"site\tstack that allocated the object\n"
	"declared_in\tclass of a field, where two have one name\n"
	"typed_by\thow the type of a Go object is known\n"
	"Formats without values show references: implied ones by name (<class>, <super>, <loader>, <array>), others "
	"without. Go objects without a type show their words. A global variable (x main.cache) is the object that it "
	"points to, or its own value.",
    .examples = {{"x 0xE0000AF0", ON_PHD, "the fields or references of one object"},
	{"x com.acme.shop.Shop", ON_SHOP, "a class with its static fields"},
	{"x com.acme.shop.Shop.INSTANCE", ON_SHOP, "the object in a static field"}, {"x main.last", ON_GO}},
    .key = "x",
    .run = run_x,
};

/* --- entries ---------------------------------------------------------------------------------- */

/* What was looked at is there and has no entries: all were asked for, and nothing says that some are lacking. */
static void say_empty(struct result *r, const struct entries *entries, const struct range *which, bool counted)
{
	if (entries->n || entries->note.len || entries->lacks_some || which->given || counted)
		return;
	r->note = entries->map ? "the map is empty" : "no elements";
	result_mark(r, RESULT_NONE_ANSWERS, true);
}

static int run_entries(
    struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	uint32_t id = call->argument[0].id;
	const struct variable *v = &call->argument[0].variable;
	struct range which = range_of_call(call);
	struct entries *entries;
	struct collection_size size = {.known = false};
	uint64_t left = COUNT_BRIEFLY;
	struct text title = TEXT_INIT;
	int code = 0;
	if (by_itself(call) || (call->argument[0].is_variable && v->is_slice)) {
		text_addf(&title, "entries of %s", call->argument[0].word);
		code = inspect_variable_entries(&entries, v, &which, err);
	} else {
		text_addf(&title, "entries of 0x%" PRIx64, heap_address(h, id));
		code = inspect_entries(&entries, h, id, &which, err);
		if (!code && !inspect_count(h, id, &left, &size))
			size.known = false;
	}
	if (!code) {
		*out = entries_result(s->dump, entries, title.s);
		say_empty(*out, entries, &which, size.known && size.size);
	}
	text_release(&title);
	return code;
}

const struct command cmd_entries = {
    .name = "entries",
    .arguments = {{ARG_VALUE, "OBJ", false}},
    .options = OPTIONS({DASH_START, OPT_COUNT, "N", "first entry"},
	{DASH_LENGTH, OPT_COUNT, "N", "number of entries"}),
    .flags = COMMAND_COUNTS_VALUES | COMMAND_NEEDS_REFERENCES | COMMAND_OF_COLLECTIONS,
    .group = "browse",
    .summary = "list the elements of a list, set, map or queue",
    .shapes = SHAPES(&entries_shape),
    .description = "One row per element or entry, in the order of the collection, for all kinds of collections; also "
	"for wrappers (unmodifiable, synchronized). Go: entries of a global variable lists the elements of its slice. "
	"An array that only one slice uses shows the elements of the slice; other arrays show their whole capacity.\n"
	"address\taddress of the element, or of the value of an entry",
    .examples = {{"entries 0xe0010228", ON_SHOP, "all entries of a map"},
	{"map 0xe00340b8 -length 10", ON_SHOP, "its first ten entries"},
	{"list 0xe001c7e8 -start 300", ON_SHOP, "its elements from number 300"}, {"entries main.sessions", ON_GO}},
    .key = "e",
    .run = run_entries,
};
