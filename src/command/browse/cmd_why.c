/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_why.c - why: how sure the numbers of the last table are, and what the dump leaves to inference.
 *
 * Rows about the dump say how many objects depend on each inference, and stand for them.  A further
 * one is a function in the table facts below.
 */
#include "command/commands.h"

#include "base/amount.h"
#include "base/mem.h"
#include "command/resolve/resolve.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/weak.h"
#include "memory/big.h"
#include "result/cursor.h"
#include "result/why.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct column why_columns[] = {
    {.id = COL_WHAT},
    {.id = COL_CERTAINTY},
    {.id = COL_OBJECTS},
    {.id = COL_SHALLOW},
    {.id = COL_WHY},
};
static const struct shape why_shape = {SHAPE_COLUMNS(why_columns)};

/* The objects that each row is about; word NULL: no particular ones. */
struct why_rows {
	struct bits *objects;
	size_t n, cap;
};

static int why_members(const struct result *r, void *data, const struct bits *rows, struct bits *to,
    struct err *err)
{
	const struct why_rows *w = data;
	(void)err;
	for (size_t row = 0; row < r->n_source; row++) {
		for (uint64_t i = 0; bits_get(rows, row) && w->objects[row].word && i <= to->n / 64; i++)
			to->word[i] |= w->objects[row].word[i];
	}
	return 0;
}

static void why_release(void *data)
{
	struct why_rows *w = data;
	for (size_t i = 0; i < w->n; i++)
		bits_release(&w->objects[i]);
	free(w->objects);
	free(w);
}

/* objects is taken over; NULL: about no particular ones.  all: 0, as sure as their number is. */
static void add_counted(struct result *r, struct why_rows *w, const char *what, enum certainty c,
    struct bits *objects, struct amount all, const char *sentence)
{
	struct cell count = cell_blank(), shallow = cell_blank();
	struct bits none = {.word = NULL};
	if (objects && objects->word) {
		all.n += bits_ones_of(objects);
		count = cell_count(all);
		shallow = cell_bytes(amount_as_sure(heap_size_of_marked(r->heap, objects), all));
	}
	VEC_PUSH(w->objects, w->n, w->cap) = objects ? *objects : none;
	result_add_row(r, (struct cell[]){cell_text(what), cell_text(certainty_name(c)), count, shallow,
	    cell_text(sentence)}, &(struct target){.kind = objects ? TARGET_GROUP : TARGET_NONE});
}

static void add_row(struct result *r, struct why_rows *w, const char *what, enum certainty c,
    struct bits *objects, const char *sentence)
{
	add_counted(r, w, what, c, objects, heap_counted(r->heap, 0), sentence);
}

/* --- the dump --------------------------------------------------------------------------------- */

/* What is reached, but from no root that is certain. */
static int on_inferred_roots(const struct session *s, struct bits *out, struct err *err)
{
	const struct heap *h = session_heap(s);
	uint32_t *stack = NULL;
	int code = session_find(s, FIND_REACHABLE, err);
	if (!code)
		code = bits_init(out, h->n_objects, err);
	if (!code && !(stack = big_alloc(h->n_objects, sizeof *stack, err)))
		code = ERR_NOMEM;
	for (size_t i = 0; !code && i < h->n_roots && !progress_own_stops(i); i++) {
		if (h->roots[i].certainty == EXACT)
			heap_reach(&s->dump->model, h->roots[i].object, out->word, stack);
	}
	for (uint64_t w = 0; !code && w < bits_words(out) && !progress_own_stops(w); w++)
		out->word[w] = opened_reachable(s->dump)->objects.word[w] & ~out->word[w];
	big_free(stack);
	if (code)
		bits_release(out);
	return code;
}

/* Objects that are unreachable by the roots recorded, and may be alive all the same. */
static int unrecorded_fact(
    const struct session *s, struct result *r, struct why_rows *w, struct err *err)
{
	struct text t = TEXT_INIT;
	int code = session_find(s, FIND_MAYBE_LIVE, err);
	if (code || !opened_maybe_live(s->dump)->n)
		return code;
	const struct maybe_live *maybe = opened_maybe_live(s->dump);
	const struct reachable *all = opened_reachable(s->dump);
	bool frames = maybe->reason == REASON_FRAMES;
	text_add_count(&t, all->unreachable_n.n);
	text_add(&t, all->unreachable_n.n == 1 ? " object is unreachable, but " : " objects are unreachable, but ");
	if (maybe->n < all->unreachable_n.n)
		text_add_count(&t, maybe->n);
	text_add(&t, maybe->n < all->unreachable_n.n ? " of them" : all->unreachable_n.n == 1 ? "it" : "all of them");
	if (frames)
		text_addf(&t, " may be alive: stack frames point to %s, in words that the dump does not record as "
		    "pointers", maybe->n == 1 ? "it" : "them");
	else
		text_addf(&t, " may be alive: the dump lacks %s, which may hold %s",
		    maybe->reason == REASON_STACKS_MISSING ? "stacks of parked virtual threads and others and "
		                                             "fields of java.lang.Class objects"
		    : maybe->reason == REASON_CLASS_DATA ? "the class data of hidden classes"
		                                         : "fields of java.lang.Class objects",
		    maybe->n == 1 ? "it" : "them");
	add_row(r, w, "unreachable", INFERRED, NULL, t.s);
	text_release(&t);
	return 0;
}

static int roots_fact(
    const struct session *s, struct result *r, struct why_rows *w, struct err *err)
{
	const struct heap *h = session_heap(s);
	struct text t = TEXT_INIT;
	struct bits hang = {.word = NULL};
	size_t inferred = 0;
	for (size_t i = 0; i < h->n_roots; i++)
		inferred += h->roots[i].certainty != EXACT;
	if (h->roots_missing) {
		add_row(r, w, "roots", UNKNOWN, NULL, "the GC roots are in the part of the dump that was not read: "
		    "retained sizes, and what is reachable, are unknown");
		return 0;
	}
	if (!inferred) {
		enum certainty sure = h->doubtful ? INFERRED : h->incomplete ? LOWER_BOUND : EXACT;
		add_row(r, w, "roots", sure, NULL, h->incomplete ?
		    "from the part of the dump that was read; objects of other roots count as garbage" :
		    "as the dump records them");
		return unrecorded_fact(s, r, w, err);
	}
	int code = on_inferred_roots(s, &hang, err);
	if (code)
		return code;
	if (heap_roots_were_inferred(h))
		text_add(&t, "cairn inferred them when it exported the dump");
	else if (h->facts.locals_inferred)
		text_add(&t, "the dump records all but local variables; cairn uses each word of a stack that is the address "
		    "of an object");
	else if (h->facts.roots_recorded)
		text_add(&t, "the dump records no system classes as roots; cairn adds classes of the boot loader");
	else
		text_addf(&t, "%s records none. Roots are: classes of the boot loader or of an unknown loader; the loader of "
		    "the class path; %s; objects that nothing references; the lowest object of each cycle that "
		    "remains. Only garbage with stale references counts as unreachable", h->facts.title, h->companion ?
		    "threads and monitors of the javacore (these are certain)" : "referenced thread objects");
	text_addf(&t, "; %zu of %zu are inferred; objects are those that only these reach", inferred,
	    h->n_roots);
	add_counted(r, w, "roots", INFERRED, &hang, heap_reached(h, 0), t.s);
	text_release(&t);
	return 0;
}

static int damage_fact(
    const struct session *s, struct result *r, struct why_rows *w, struct err *err)
{
	const struct heap *h = session_heap(s);
	struct text t = TEXT_INIT;
	(void)err;
	if (!h->damaged)
		return 0;
	text_add(&t, h->damage.message);
	if (h->damage.has_offset)
		text_addf(&t, "; everything is correct up to byte %llu%s", (unsigned long long)h->damage.offset,
		    heap_bytes_are(h));
	add_row(r, w, "counts", h->doubtful ? INFERRED : LOWER_BOUND, NULL, t.s);
	text_release(&t);
	return 0;
}

static int file_fact(
    const struct session *s, struct result *r, struct why_rows *w, struct err *err)
{
	(void)err;
	if (s->dump->fate != FILE_SAME)
		add_row(r, w, "values", UNKNOWN, NULL, s->dump->fate_words.message);
	return 0;
}

/* "strong and soft references hold their objects; ...; 2 of these still hold an object: ..." */
static int add_holding(const struct session *s, struct text *to, struct err *err)
{
	uint64_t n;
	int code = weak_count_inactive(session_heap(s), &n, err);
	if (s->dump->counts_weak) {
		text_add(to, "all references hold their objects, also weak, final and phantom ones, as in Eclipse MAT (set "
		    "weak off: not these)");
		return code;
	}
	text_add(to, "strong and soft references hold their objects; weak, final and phantom ones do not, as in the VM "
	    "(set weak on: all hold, as in Eclipse MAT)");
	if (!code && n) {
		text_add(to, "; ");
		text_add_count(to, n);
		text_addf(to, " of these still hold%s an object, because the VM has queued %s: a finalizer has not run, or "
		    "the program has not cleared it (see finalizers and weak)", n == 1 ? "s" : "", n == 1 ? "it" : "them");
	}
	return code;
}

/* Which references hold what they refer to. */
static int holding_fact(
    const struct session *s, struct result *r, struct why_rows *w, struct err *err)
{
	const struct heap *h = session_heap(s);
	struct text t = TEXT_INIT;
	int code = 0;
	if (weak_known(h)) {
		code = add_holding(s, &t, err);
		add_row(r, w, "references", EXACT, NULL, t.s);
	} else if (h->facts.values == NO_VALUES || h->facts.fields_invented) {
		add_row(r, w, "references", INFERRED, NULL,
		    "all references hold their objects: the dump has no field names that show weak ones");
	}
	text_release(&t);
	return code;
}

/* A row of the objects for which this is true, if there are any. */
static int add_marked(struct result *r, struct why_rows *w, const char *what, enum certainty c,
    bool (*is)(const struct heap *h, uint32_t id, unsigned value), unsigned value, const char *sentence,
    struct err *err)
{
	const struct heap *h = r->heap;
	struct bits objects;
	bool any = false;
	int code = bits_init(&objects, h->n_objects, err);
	for (uint32_t id = 0; !code && id < h->n_objects && !progress_own_stops(id); id++) {
		if (is(h, id, value)) {
			bits_set(&objects, id);
			any = true;
		}
	}
	if (!code && any)
		add_row(r, w, what, c, &objects, sentence);
	else
		bits_release(&objects);
	return code;
}

static bool of_unknown_size(const struct heap *h, uint32_t id, unsigned unused)
{
	(void)unused;
	return !heap_size_known(h, id);
}

static int sizes_fact(
    const struct session *s, struct result *r, struct why_rows *w, struct err *err)
{
	const struct heap *h = session_heap(s);
	struct text t = TEXT_INIT;
	bool doubtful = !h->size_model && h->doubtful_names;
	if (h->size_model)
		text_addf(&t, "computed: %s", h->size_model);
	else
		text_addf(&t, "as the dump records them%s%s", doubtful ? "; some instances may be larger: " : "",
		    doubtful ? h->doubtful_names : "");
	add_row(r, w, "sizes", h->sizes_assumed || doubtful ? INFERRED : EXACT, NULL, t.s);
	text_release(&t);
	return !h->n_unknown_size ? 0 : add_marked(r, w, "sizes", UNKNOWN, of_unknown_size, 0,
	    "the dump does not record the size of these objects; they count as 0, so sums with them are lower bounds", err);
}

static bool of_shared_name(const struct heap *h, uint32_t id, unsigned unused)
{
	(void)unused;
	return heap_class_of(h, id)->name_shared;
}

static int names_fact(
    const struct session *s, struct result *r, struct why_rows *w, struct err *err)
{
	const struct heap *h = session_heap(s);
	bool some = false;
	for (uint32_t c = 0; c < h->n_classes; c++)
		some |= h->classes[c].name_shared;
	return !some ? 0 : add_marked(r, w, "classes", INFERRED, of_shared_name, 0,
	    "several classes have the same name, and records give only the name: the first class has all objects", err);
}

static bool typed_by(const struct heap *h, uint32_t id, unsigned by)
{
	return h->typed_by[id] == by;
}

/* By what an object came to its type, in the order of enum typed_by. */
static const struct {
	enum certainty certainty;
	const char *sentence;
} type_means[TYPED_BYS] = {
    [TYPED_BY_SHAPE] = {UNKNOWN, "no type: only size and pointers are known"},
    [TYPED_BY_FIT] = {INFERRED, "by fit: the only type with this size and these pointers"},
    [TYPED_BY_POINTER] = {INFERRED, "by a pointer from an object with a known type"},
    [TYPED_BY_FRAME] = {INFERRED, "by a local variable of a stack frame"},
    [TYPED_BY_GLOBAL] = {INFERRED, "by a variable of the program"},
    [TYPED_BY_INTERFACE] = {EXACT, "by an interface that carries the type"},
    [TYPED_BY_RUNTIME] = {EXACT, "by the runtime's own descriptor"},
    [TYPED_BY_HEADER] = {EXACT, "by the object's own header, which is the address of its type"},
};

static int types_fact(
    const struct session *s, struct result *r, struct why_rows *w, struct err *err)
{
	const struct heap *h = session_heap(s);
	int code = 0;
	for (unsigned by = TYPED_BYS; h->typed_by && !code && by-- > 0;)
		code = add_marked(r, w, "types", type_means[by].certainty, typed_by, by, type_means[by].sentence, err);
	return code;
}

static int silence_fact(
    const struct session *s, struct result *r, struct why_rows *w, struct err *err)
{
	(void)err;
	if (session_heap(s)->facts.cannot_tell)
		add_row(r, w, "not recorded", UNKNOWN, NULL, session_heap(s)->facts.cannot_tell);
	return 0;
}

static int (*const facts[])(
    const struct session *s, struct result *r, struct why_rows *w, struct err *err) = {
    damage_fact, file_fact, roots_fact, holding_fact, sizes_fact, names_fact, types_fact, silence_fact};

/* --- the last table --------------------------------------------------------------------------- */

enum { ROWS_LOOKED_AT = 100000 };

/* The least sure of the rows' values in a column: the words about that one. */
static void add_column(struct result *r, struct why_rows *w, struct result *table, unsigned column)
{
	struct text said = TEXT_INIT, weakest = TEXT_INIT;
	enum certainty worst = EXACT;
	struct cursor cursor; /* the screen may be drawing the same table */
	cursor_init(&cursor, table);
	const char *name = column_word(&table->columns[column]);
	for (size_t row = 0; row < table->n_rows && row < ROWS_LOOKED_AT && !progress_own_stops(4 * row); row++) {
		struct cell cell;
		cursor_cell(&cursor, row, column, &cell);
		if (row && cell.amount.certainty <= worst && cell.type != CELL_TEXT)
			continue;
		enum certainty c = why_one(table, row, column, &cell, &said);
		if (row && c <= worst)
			continue;
		worst = c;
		text_clear(&weakest);
		text_add(&weakest, said.s);
	}
	if (table->n_rows)
		add_row(r, w, name, worst, NULL, weakest.s);
	cursor_release(&cursor);
	text_release(&said);
	text_release(&weakest);
}

/* A cell of this row (WHY_NO_ROW: a value of the head) and column. */
static void add_value(struct result *r, struct why_rows *w, const struct result *table, size_t row, unsigned column,
    const struct field *value)
{
	struct text said = TEXT_INIT;
	enum certainty c = why_one(table, row, column, &value->cell, &said);
	add_row(r, w, value->name, c, NULL, said.s);
	text_release(&said);
}

/* The values of a row, "%N"; those that are unknown as well. */
static int about_row(const struct session *s, struct result *r, struct why_rows *w, const char *word,
    struct err *err)
{
	struct result *table = session_explained(s);
	size_t row = strtoull(word + 1, NULL, 10);
	if (!table || !table->n_columns)
		return err_set(err, ERR_NOT_FOUND, "no last table for \"%s\" (run a command first)", word);
	if (!row || row-- > table->n_rows)
		return err_set(err, ERR_NOT_FOUND, "no row \"%s\": the last table has %zu row%s", word, table->n_rows,
		    table->n_rows == 1 ? "" : "s");
	struct cursor cursor;
	cursor_init(&cursor, table);
	for (unsigned c = 0; c < table->n_columns; c++) {
		const struct column *column = &table->columns[c];
		struct field value = {.column = column->id, .name = column_word(column)};
		cursor_cell(&cursor, row, c, &value.cell);
		if (cell_is_number(column_type(column)))
			add_value(r, w, table, row, c, &value);
	}
	cursor_release(&cursor);
	return 0;
}

static int about_column(const struct session *s, struct result *r, struct why_rows *w,
    const char *word, struct err *err)
{
	struct result *table = session_explained(s);
	int column = table ? result_column(table, word) : -1;
	if (!table)
		return err_set(err, ERR_NOT_FOUND, "no last table (run a command first)");
	if (column >= 0) {
		add_column(r, w, table, (unsigned)column);
		return 0;
	}
	for (size_t i = 0; i < table->n_head; i++) {
		if (strcmp(table->head[i].name, word))
			continue;
		add_value(r, w, table, WHY_NO_ROW, 0, &table->head[i]);
		return 0;
	}
	return err_set(err, ERR_NOT_FOUND, "the last table has no column or value \"%.60s\"", word);
}

static int all_facts(const struct session *s, struct result *r, struct why_rows *w, struct err *err)
{
	int code = 0;
	for (size_t i = 0; !code && i < sizeof facts / sizeof *facts; i++)
		code = facts[i](s, r, w, err);
	return code;
}

static int about_all(const struct session *s, struct result *r, struct why_rows *w, struct err *err)
{
	struct result *table = session_explained(s);
	for (size_t i = 0; table && i < table->n_head; i++) {
		if (cell_is_number(table->head[i].cell.type))
			add_value(r, w, table, WHY_NO_ROW, 0, &table->head[i]);
	}
	for (unsigned c = 0; table && c < table->n_columns; c++) {
		if (cell_is_number(column_type(&table->columns[c])))
			add_column(r, w, table, c);
	}
	return all_facts(s, r, w, err);
}

static struct result *explanation(const struct session *s, struct why_rows **w)
{
	struct result *r = result_new_rows("why", s->dump, &why_shape);
	result_mark(r, RESULT_NO_PANES, true);
	*w = xcalloc(1, sizeof **w);
	result_rows_members(r, why_members, why_release, *w);
	result_mark(r, RESULT_EXPLAINS, true);
	return r;
}

int command_facts(struct session *s, struct result **out, struct err *err)
{
	struct why_rows *w;
	*out = explanation(s, &w);
	return all_facts(s, *out, w, err);
}

static int run_why(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct why_rows *w;
	struct result *r = *out = explanation(s, &w);
	const char *word = call->argument[0].given ? call->argument[0].word : NULL;
	render_lock_enter(s->hooks.turns);
	int code = !word ? about_all(s, r, w, err) : *word == '%' ? about_row(s, r, w, word, err)
	                                                          : about_column(s, r, w, word, err);
	render_lock_leave(s->hooks.turns);
	return code;
}

const struct command cmd_why = {
    .name = "why",
    .arguments = {{ARG_WORD, "%N|COLUMN", true}},
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_NO_TABLE,
    .group = "browse",
    .summary = "explain how certain the numbers of the last table are",
    .shapes = SHAPES(&why_shape),
    .description = "A row per number, with its certainty and the reason.\n"
	"why %N\texplains each number of row N\n"
	"why COLUMN\texplains a column by its least certain value\n"
	"why\texplains all columns, then the properties that cairn infers: roots, sizes and types\n"
	"objects, shallow\tobjects that depend on the inference; Enter lists them\n"
	"certainty\texact, lower bound, inferred or unknown",
    .examples = {{"why", ON_ANY, "is anything in the last table inferred?"},
	{"histo -retained", ON_ANY, "a table with lower bounds (>=)"},
	{"why retained", ON_ANY, "why are these sizes lower bounds?"}, {"why %1", ON_ANY, "the numbers of its first row"}},
    .run = run_why,
};
