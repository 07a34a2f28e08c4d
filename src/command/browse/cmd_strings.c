/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_strings.c - strings, dups and props: what the texts of a heap say.
 */
#include "command/commands.h"

#include "analysis/describe/describe.h"
#include "analysis/java/java.h"
#include "analysis/strings/strings.h"
#include "base/masking.h"
#include "base/mem.h"
#include "command/resolve/resolve.h"
#include "command/table_options.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "result/objects.h"
#include "result/result.h"

#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

enum { TEXT_LIMIT = 2000 }; /* characters of a text in a row; find and x tell the rest */

/* The text of a String without quotation marks. */
static struct cell text_cell(const struct heap *h, uint32_t id, struct text *scratch)
{
	struct string_view s;
	if (!inspect_text(h, id, &s))
		return cell_blank();
	text_clear(scratch);
	string_add(&s, 0, TEXT_LIMIT, scratch);
	if (s.length > TEXT_LIMIT)
		text_add(scratch, "…");
	return cell_text(scratch->s);
}

/* What is memory has a text up to its end, of which not all need be in use. */
static struct cell length_cell(const struct heap *h, uint32_t id)
{
	struct string_view s;
	if (!inspect_text(h, id, &s))
		return cell_blank();
	return cell_count(
	    amount_weaken(amount_exact(s.length), inspect_texts_run_on(h) ? INFERRED : EXACT, REASON_BLOCK));
}

int command_strings_matching(struct string_list *out, const struct heap *h, const char *word, bool any_case,
    const struct string_watcher *told, struct err *err)
{
	struct pattern *regex = NULL;
	int code = word ? line_regex(word, any_case, &regex, err) : 0;
	if (code)
		return code;
	pattern_free(regex);
	char *bare = word ? line_bare_regex(word) : NULL;
	code = strings_matching(out, h, bare, any_case, told, err);
	free(bare);
	return code;
}

/* --- strings ---------------------------------------------------------------------------------- */

static const struct column strings_columns[] = {
    {.id = COL_ADDRESS},
    {.id = COL_VALUE, .verbatim = true},
    {.id = COL_LENGTH},
    {.id = COL_SHALLOW, .total = true},
    {.id = COL_RETAINED, .hidden = true},
};
static const struct shape strings_shape = {SHAPE_COLUMNS(strings_columns)};

static void strings_cell(
    const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct string_list *list = r->data;
	const struct heap *h = r->heap;
	uint32_t id = list->ids[row];
	enum column_id what = r->shape->columns[column].id;
	if (what == COL_ADDRESS)
		*out = cell_address(heap_address(h, id));
	else if (what == COL_VALUE)
		*out = text_cell(h, id, scratch);
	else if (what == COL_LENGTH)
		*out = length_cell(h, id);
	else if (what == COL_SHALLOW)
		*out = cell_bytes(heap_size(h, id));
	else
		*out = object_retained_cell(r->opened, id);
}

static void strings_target(const struct result *r, size_t row, struct target *out)
{
	const struct string_list *list = r->data;
	*out = (struct target){.kind = TARGET_OBJECT, .id = list->ids[row]};
}

static void strings_release(void *data)
{
	string_list_release(data);
	free(data);
}

static const struct result_ops strings_ops = {
    .cell = strings_cell, .target = strings_target, .release = strings_release};

/* Rows so far are those whose ids are found. */
struct growing {
	struct string_list *list;
	struct result *r;
	struct render_lock *turns;
};

static void strings_grow(void *context, const uint32_t *ids, size_t n)
{
	struct growing *g = context;
	render_lock_enter(g->turns);
	g->list->ids = (uint32_t *)ids; /* read only, until all are found */
	g->r->n_source = g->r->n_rows = n;
	(void)render_lock_step_out();
}

static int run_strings(
    struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	const char *word = call->argument[0].given ? call->argument[0].word : NULL;
	struct string_list *list = xcalloc(1, sizeof *list), found;
	struct result *r = *out = result_new("strings", s->dump, &strings_shape, &strings_ops, list, 0);
	struct growing growing = {list, r, NULL};
	command_show_retained(r);
	bool grows = command_as_found(call) && session_grows(s, r);
	growing.turns = render_lock_step_out();
	int code = command_strings_matching(&found, h, word, call_has(call, DASH_I),
	    grows ? &(struct string_watcher){strings_grow, &growing} : NULL, err);
	render_lock_enter(growing.turns);
	if (grows)
		session_grown(s);
	if (code)
		found = (struct string_list){.ids = NULL};
	*list = found;
	r->n_source = r->n_rows = list->n;
	result_mark(r, RESULT_FAILED, word && !r->n_rows);
	if (result_is(r, RESULT_FAILED))
		r->note = h->incomplete ? "no String matches in the part of the dump that was read" :
		    "no String matches";
	else if (inspect_texts_run_on(h))
		r->note = "~ a text is read to the end of its block of memory and may include other texts; "
		    "held_as of x shows the range in use";
	return code;
}

const struct command cmd_strings = {
    .name = "strings",
    .arguments = {{ARG_REGEX, "RE", true}},
    .options = OPTIONS({DASH_I, OPT_FLAG, NULL, "ignore case"}),
    .flags = COMMAND_COUNTS_VALUES | COMMAND_EARLY,
    .group = "browse",
    .summary = "list Strings by their text",
    .shapes = SHAPES(&strings_shape),
    .description = "Strings with a text that matches RE (a POSIX extended regular expression), or all Strings, by "
	"address. RE matches the text as shown: control characters are \\n, \\t, \\xHH, \\uXXXX. length counts "
	"UTF-16 units, as in Java; shallow is the size of the String without its characters. Exit status 1 if "
	"nothing matches.",
    .examples = {{"strings", ON_SHOP, "all Strings with their text"},
	{"strings '^session-[0-9]*$'", ON_SHOP, "Strings that match a pattern"},
	{"strings -i berlin | head 5", ON_SHOP, "five Strings with this word, in any case"}},
    .told = inspect_texts_held,
    .run = run_strings,
};

/* --- dups ------------------------------------------------------------------------------------- */

static const struct column dups_columns[] = {
    {.id = COL_VALUE, .verbatim = true},
    {.id = COL_COUNT, .total = true},
    {.id = COL_WITH_PARTS, .total = true},
    {.id = COL_WASTED, .total = true},
    {.id = COL_LENGTH, .hidden = true},
    {.id = COL_ARRAYS, .hidden = true},
    {.id = COL_ADDRESS, .hidden = true},
};
static const struct shape dups_shape = {SHAPE_COLUMNS(dups_columns)};

static void dups_cell(
    const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct duplicates *d = r->data;
	const struct same_strings *g = &d->groups[row];
	switch (r->shape->columns[column].id) {
	case COL_VALUE:
		*out = text_cell(r->heap, g->first, scratch);
		break;
	case COL_COUNT:
		*out = cell_count(g->count);
		break;
	case COL_WITH_PARTS:
		*out = cell_bytes(g->shallow);
		break;
	case COL_WASTED:
		*out = cell_bytes(g->wasted);
		break;
	case COL_LENGTH:
		*out = length_cell(r->heap, g->first);
		break;
	case COL_ARRAYS:
		*out = cell_count(g->arrays);
		break;
	default:
		*out = cell_address(heap_address(r->heap, g->first));
	}
}

static void dups_target(const struct result *r, size_t row, struct target *out)
{
	const struct duplicates *d = r->data;
	*out = (struct target){.kind = TARGET_OBJECT, .id = d->groups[row].first, .part = true};
}

static int dups_members(
    const struct result *r, const struct bits *rows, struct bits *to, struct err *err)
{
	return duplicates_members(r->data, r->heap, rows, to, err);
}

static void dups_release(void *data)
{
	duplicates_release(data);
	free(data);
}

static const struct result_ops dups_ops = {
    .cell = dups_cell, .target = dups_target, .release = dups_release, .members = dups_members};

static int run_dups(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	(void)call;
	struct duplicates *d = xcalloc(1, sizeof *d);
	struct text note = TEXT_INIT;
	int code = duplicates_find(d, h, err);
	if (code) {
		free(d);
		return code;
	}
	struct result *r = *out = result_new("duplicate strings", s->dump, &dups_shape, &dups_ops, d, d->n);
	struct cell strings = cell_count(result_of_file(r, heap_counted(h, d->strings)));
	struct cell distinct = cell_count(result_of_file(r, heap_counted(h, d->distinct)));
	struct cell saved = cell_bytes(result_of_file(r, d->wasted));
	cell_print(&strings, &note);
	text_add(&note, " Strings, ");
	cell_print(&distinct, &note);
	text_add(&note, " different texts; one of each saves ");
	cell_print(&saved, &note);
	if (inspect_texts_run_on(h))
		text_add(&note, "; texts are read to the end of their block of memory; texts in one block count once");
	result_add_note_text(r, &note);
	return 0;
}

const struct command cmd_dups = {
    .name = "dups",
    .flags = COMMAND_COUNTS_VALUES | COMMAND_EARLY,
    .group = "browse",
    .summary = "list duplicate Strings and the bytes they waste",
    .shapes = SHAPES(&dups_shape),
    .description = "One row per text of more than one String, most wasted bytes first. with_parts is the size of these "
	"Strings and of the character arrays that no other Strings hold; a shared array counts once. wasted is what "
	"one String with one array saves; waste strings also leaves out arrays that other objects hold. address is "
	"one of the Strings.",
    .examples = {{"dups", ON_SHOP, "which texts waste most memory?"},
	{"dups -sort count", ON_SHOP, "which texts occur most often?"}},
    .told = inspect_texts_held,
    .run = run_dups,
};

/* --- props ------------------------------------------------------------------------------------ */

static const struct column props_columns[] = {
    {.id = COL_KEY},
    {.id = COL_VALUE, .verbatim = true},
    {.id = COL_ADDRESS, .hidden = true},
};
static const struct shape props_shape = {SHAPE_COLUMNS(props_columns)};

/* A String's text without quotation marks, of anything else what it is. */
static struct cell property_cell(const struct any_value *v, struct text *to)
{
	uint32_t id = inspect_target(v).id;
	if (id != HEAP_NONE && inspect_text_class(v->heap, heap_class_index(v->heap, id)) == TEXT_EACH)
		return text_cell(v->heap, id, to);
	text_clear(to);
	inspect_value(v, DESCRIBE_SHORT, to);
	return cell_text(to->s);
}

/* wanted: what its name or its value matches; NULL: all of them. */
static void add_property(struct result *r, const struct any_value *key, const struct any_value *value,
    struct pattern *wanted)
{
	struct text key_text = TEXT_INIT, value_text = TEXT_INIT, masked = TEXT_INIT;
	struct value_target to = inspect_target(value);
	struct cell name = property_cell(key, &key_text), text = property_cell(value, &value_text);
	if (name.type == CELL_TEXT && text.type == CELL_TEXT && name.text && text.text) {
		masking_secret_value(name.text, strlen(name.text), text.text, strlen(text.text), &masked);
		text.text = masked.s ? masked.s : "";
	}
	if (!wanted || (name.type == CELL_TEXT && name.text && pattern_matches(wanted, name.text)) ||
	    (text.type == CELL_TEXT && text.text && pattern_matches(wanted, text.text)))
		result_add_row(r, (struct cell[]){name, text, to.address ? cell_address(to.address) : cell_blank()},
		    to.id == HEAP_NONE ? NULL : &(struct target){.kind = TARGET_OBJECT, .id = to.id});
	text_release(&key_text);
	text_release(&value_text);
	text_release(&masked);
}

static int props_told(const struct heap *h, struct err *err)
{
	if (h->facts.no_class_objects)
		return err_set(err, ERR_UNSUPPORTED, "%s has no system properties (only Java has them)",
		    h->facts.title);
	return inspect_texts_held(h, err);
}

static int run_props(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	struct entries *entries;
	struct any_value key, value;
	struct pattern *wanted = NULL;
	uint32_t id = java_properties(h);
	if (id == HEAP_NONE)
		return err_set(err, ERR_NOT_FOUND,
		    "no system properties: java.lang.System.props is missing");
	int code = inspect_entries(&entries, h, id, &(struct range){.length = UINT64_MAX}, err);
	if (code)
		return code;
	if (entries->n && call->argument[0].given)
		code = line_regex(call->argument[0].word, false, &wanted, err);
	else if (!entries->n)
		code = err_set(err, ERR_NOT_FOUND, "no system properties in %s 0x%" PRIx64 ": %s",
		    heap_class_of(h, id)->name,
		    heap_address(h, id), entries->note.len ? entries->note.s : "no elements");
	struct result *r = code ? NULL : result_new_rows("system properties", s->dump, &props_shape);
	for (size_t i = 0; r && i < entries->n; i++) {
		inspect_entry(entries, i, &key, &value);
		add_property(r, &key, &value, wanted);
	}
	if (r) {
		result_sort_new(r, COL_KEY, false);
		result_mark(r, RESULT_FAILED, !r->n_rows);
		r->note = r->n_rows ? NULL : "no system property matches";
		*out = r;
	}
	inspect_entries_close(entries);
	pattern_free(wanted);
	return code;
}

const struct command cmd_props = {
    .name = "props",
    .arguments = {{ARG_REGEX, "RE", true}},
    .flags = COMMAND_COUNTS_VALUES | COMMAND_EARLY,
    .group = "browse",
    .summary = "list the system properties of the process",
    .shapes = SHAPES(&props_shape),
    .description = "The static field props of java.lang.System, by name, as from System.getProperties(); with RE those "
	"with a name or value that matches it. Exit status 1 if none does. Values of secrets (password, token, key) are "
	"shown as ***; x of their address shows them.",
    .examples = {{"props", ON_SHOP},
	{"props java", ON_SHOP, "properties with java in name or value"}},
    .told = props_told,
    .run = run_props,
};
