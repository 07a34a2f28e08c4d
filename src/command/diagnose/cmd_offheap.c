/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_offheap.c - offheap: memory outside of the heap that objects own.
 */
#include "command/commands.h"

#include "analysis/offheap/offheap.h"
#include "base/amount.h"
#include "command/diagnose/held_groups.h"
#include "dump/process.h"
#include "heap/amounts.h"
#include "heap/heap.h"

#include <ctype.h>
#include <string.h>

#define AMOUNTS {.id = COL_OBJECTS, .total = true}, {.id = COL_CAPACITY_BYTES, .total = true}, {.id = COL_LIMIT}, \
    {.id = COL_CERTAINTY, .room = COLUMN_EARLY}
static const struct column by_class[] = {{.id = COL_KIND}, {.id = COL_CLASS}, AMOUNTS};
static const struct column by_holder[] = {{.id = COL_HOLDER}, {.id = COL_KIND, .room = COLUMN_LATE},
    {.id = COL_CLASS, .room = COLUMN_EARLY}, AMOUNTS};
static const struct column each_columns[] = {{.id = COL_ADDRESS}, {.id = COL_KIND, .room = COLUMN_LATE},
    {.id = COL_CLASS, .room = COLUMN_EARLY}, {.id = COL_CAPACITY_BYTES, .total = true}, {.id = COL_LIMIT},
    {.id = COL_MEMORY}, {.id = COL_HOLDER}, {.id = COL_CERTAINTY, .room = COLUMN_EARLY}};
static const struct column count_columns[] = {{.id = COL_NAME}, {.id = COL_COUNT}, {.id = COL_CAPACITY_BYTES},
    {.id = COL_RESERVED}, {.id = COL_LIMIT}};
static const struct column native_columns[] = {{.id = COL_NAME}, {.id = COL_COUNT}, {.id = COL_CAPACITY_BYTES}};
static const struct shape class_shape = {.form = "-by class", .apart = true, SHAPE_COLUMNS(by_class)};
static const struct shape holder_shape = {.form = "-by holder", .apart = true, SHAPE_COLUMNS(by_holder)};
static const struct shape each_shape = {.form = "-each", SHAPE_COLUMNS(each_columns)};
static const struct shape count_shape = {.form = "-limits", SHAPE_COLUMNS(count_columns)};
static const struct shape native_shape = {.form = "-native", SHAPE_COLUMNS(native_columns)};

static const struct option_spec options[] = {
    {DASH_BY, OPT_CHOICE, "class|holder", "group by (default kind and class)"},
    {DASH_EACH, OPT_FLAG, NULL, "one row for each owner"},
    {DASH_LIMITS, OPT_FLAG, NULL, "the JDK's own counters and limits"},
    {DASH_NATIVE, OPT_FLAG, NULL, "the VM's own allocations, from its javacore"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

/* --- groups ------------------------------------------------------------------------------------- */

enum { LIMIT, LIMITED }; /* what held_groups sums: LIMITED are those that tell a limit */

struct owners {
	struct offheap found;
	struct held_groups in; /* a row each */
	bool by_holder, each;
};

static int group_owner(struct owners *o, struct result *r, size_t i, struct err *err)
{
	const struct offheap_owner *w = &o->found.owner[i];
	bool asked = (o->by_holder || o->each) && w->kind != OFFHEAP_STACK; /* threads hold their own */
	struct held_group *to = held_groups_put(&o->in, i, w->kind, heap_class_index(r->heap, w->object),
	    asked ? w->object : HEAP_NONE, err);
	if (!to)
		return ERR_NOMEM;
	to->bytes = to->n > 1 ? amount_add(to->bytes, w->capacity) : w->capacity;
	to->sum[LIMIT] += w->limit == OFFHEAP_NO_LIMIT ? 0 : w->limit;
	to->sum[LIMITED] += w->limit != OFFHEAP_NO_LIMIT;
	result_add_member(r, (size_t)(to - o->in.group), w->object);
	return 0;
}

static int group_all(struct owners *o, struct result *r, const char *kind, struct err *err)
{
	int code = held_groups_init(&o->in, r->heap, err);
	o->in.apart = o->each;
	for (size_t i = 0; !code && i < o->found.n && !progress_own_stops(i); i++)
		if (!kind || !strcmp(kind, offheap_kind_name(o->found.owner[i].kind)))
			code = group_owner(o, r, i, err);
	return code ? code : progress_check(progress_own(), err);
}

/* --- rows --------------------------------------------------------------------------------------- */

/* The line that lists the owners of a row, in words that a pattern takes for themselves. */
static void add_line(struct text *to, const struct held_group *g, const char *name)
{
	text_addf(to, "offheap %s -each", offheap_kind_name(g->kind));
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._$[]-", *c))
			return;
	text_add(to, " | grep '");
	for (const char *c = name; *c; c++)
		text_addf(to, isalnum((unsigned char)*c) || *c == '_' || *c == '-' ? "%c" : "\\%c", *c);
	text_add(to, "'");
}

static void add_row(struct result *r, const struct owners *o, const struct held_group *g)
{
	const struct heap *h = r->heap;
	const struct offheap_owner *w = &o->found.owner[g->first];
	const char *class = h->classes[g->class].name, *kind = offheap_kind_name(g->kind);
	struct text holder = TEXT_INIT, line = TEXT_INIT;
	struct cell cells[8];
	unsigned at = 0;
	struct amount n = heap_counted(h, g->n), capacity = amount_as_sure(g->bytes, heap_counted(h, 0));
	if (o->found.told_by_references)
		n = amount_weaken(n, INFERRED, REASON_OUTSIDE);
	if (g->kind == OFFHEAP_STACK)
		text_add(&holder, "the thread");
	else if (o->by_holder || o->each)
		field_holder_add(&o->in.holders, &g->holder, w->object, &holder);
	if (o->each)
		cells[at++] = cell_address(heap_address(h, w->object));
	if (o->by_holder)
		cells[at++] = cell_text(holder.s);
	cells[at++] = cell_text(kind);
	cells[at++] = cell_text(class);
	if (!o->each)
		cells[at++] = cell_count(n);
	cells[at++] = cell_bytes(capacity);
	cells[at++] = g->sum[LIMITED] ? cell_bytes(amount_exact(g->sum[LIMIT])) : cell_blank();
	if (o->each) {
		cells[at++] = w->address ? cell_address(w->address) : cell_blank();
		cells[at++] = cell_text(holder.s);
	}
	cells[at++] = cell_certainty(o->found.told_by_references ? amount_as_sure(capacity, n) : capacity);
	add_line(&line, g, o->by_holder ? holder.s : class);
	result_add_row(r, cells, o->each || g->n == 1 ? &(struct target){.kind = TARGET_OBJECT, .id = w->object} :
	    &(struct target){.kind = TARGET_COMMAND, .command = line.s});
	text_release(&holder);
	text_release(&line);
}

/* --- notes -------------------------------------------------------------------------------------- */

/* "12 buffers, 3.0M" */
static void add_amounts(struct text *to, uint64_t n, const char *what, uint64_t bytes)
{
	text_add_count(to, n);
	if (*what)
		text_addf(to, " %s%s", what, n == 1 ? "" : "s");
	text_add(to, ", ");
	text_add_bytes(to, bytes);
}

static void add_compared(struct result *r, const struct offheap_count *c, const struct offheap *found)
{
	struct text note = TEXT_INIT;
	bool mapped = c->which == COUNTS_MAPPED, any = c->count.n || c->capacity.n;
	uint64_t n, bytes;
	offheap_sum(found, mapped, &n, &bytes);
	text_addf(&note, "%s%s", mapped ? "the JDK counts " : "java.nio.Bits counts ", any ? "" : "none");
	if (any)
		add_amounts(&note, c->count.n, mapped ? "mapping" : "buffer", c->capacity.n);
	if (n == c->count.n && bytes == c->capacity.n) {
		text_add(&note, ", as found");
	} else {
		text_add(&note, "; found: ");
		add_amounts(&note, n, "", bytes);
	}
	if (c->limit.certainty != UNKNOWN && c->limit.n) {
		text_add(&note, "; limit: ");
		text_add_bytes(&note, c->limit.n);
		text_add(&note, " (MaxDirectMemorySize, default -Xmx)");
	}
	result_add_note_text(r, &note);
}

static void add_option(struct result *r, uint64_t bytes)
{
	struct text size = TEXT_INIT;
	text_add_bytes(&size, bytes);
	result_notef(r, "limit of direct memory: %s (-XX:MaxDirectMemorySize)", size.s);
	text_release(&size);
}

static void add_notes(struct result *r, const struct offheap *found)
{
	struct offheap_count counts[OFFHEAP_COUNTS];
	unsigned n = offheap_counts(r->heap, counts);
	for (unsigned i = 0; i < n; i++)
		if (counts[i].count.certainty != UNKNOWN && counts[i].capacity.certainty != UNKNOWN &&
		    (counts[i].which == COUNTS_DIRECT || counts[i].which == COUNTS_MAPPED))
			add_compared(r, &counts[i], found);
		else if (counts[i].which == COUNTS_OPTION)
			add_option(r, counts[i].limit.n);
	result_mark(r, RESULT_LACKS_ROWS, !values_held(r->heap)); /* what has no buffer, or no cleaner, is not seen then */
	if (!found->n) {
		result_add_note(r, "no object owns known off-heap memory");
		result_mark(r, RESULT_NONE_ANSWERS, true);
	} else if (found->told_by_references)
		result_add_note(r, "without field values, each buffer with a reference to a cleaner counts as an owner, and "
		    "capacities are unknown");
	else
		result_add_number_note(r, found->views, "buffer or segment shares the memory of another and does not count",
		    "buffers and segments share the memory of others and do not count");
	result_add_number_note(r, found->lost, "of them has no owner in the dump", "of them have no owner in the dump");
	result_add_number_note(r, found->freed, "owner was closed and has no memory any more",
	    "owners were closed and have no memory any more");
	result_add_number_note(r, found->broken, "object is left out: its memory size or address is impossible",
	    "objects are left out: their memory sizes or addresses are impossible");
}

/* --- Go ----------------------------------------------------------------------------------------- */

/* What Go's runtime has of the system besides the heap, as it counted itself. */
static const char *const go_parts[][2] = {
    {"StackSys", "stacks of goroutines"}, {"MSpanSys", "mspan structures"}, {"MCacheSys", "mcache structures"},
    {"BuckHashSys", "profiling buckets"}, {"GCSys", "garbage collector"}, {"OtherSys", "other"},
};

static const struct heap_stated *stated(const struct heap *h, const char *what)
{
	for (size_t i = 0; i < h->n_stated; i++)
		if (!strcmp(h->stated[i].what, what))
			return &h->stated[i];
	return NULL;
}

static int run_go(struct session *s, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	if (!stated(h, go_parts[0][0]))
		return err_set(err, ERR_UNSUPPORTED, "%s does not record off-heap memory", h->facts.title);
	struct result *r = result_new_rows("off-heap memory", s->dump, &class_shape);
	for (unsigned c = 0; c < r->n_columns; c++) /* no object owns it */
		if (r->columns[c].id == COL_CLASS || r->columns[c].id == COL_OBJECTS || r->columns[c].id == COL_LIMIT)
			result_show(r, c, false);
	for (size_t i = 0; i < sizeof go_parts / sizeof *go_parts; i++) {
		const struct heap_stated *part = stated(h, go_parts[i][0]);
		if (part)
			result_add_row(r, (struct cell[]){cell_text(go_parts[i][1]), cell_blank(), cell_blank(),
			    cell_bytes(amount_exact(part->count)), cell_blank(), cell_certainty(amount_exact(0))}, NULL);
	}
	result_add_note(r, "these are the counters of Go's runtime (memstats); they exclude memory of C code and memory "
	    "that the program maps itself");
	*out = r;
	return 0;
}

/* --- what the VM allocated itself ---------------------------------------------------------------- */

/* The part by which a javacore counts direct buffers; NULL: it does not. */
static const struct process_memory *native_named(const struct heap *h, const char *name)
{
	for (size_t i = 0; h->process && i < h->process->n_memory && !progress_own_stops(i); i++)
		if (!strcmp(h->process->memory[i].name, name))
			return &h->process->memory[i];
	return NULL;
}

static void add_native(struct result *r)
{
	const struct process_facts *p = r->heap->process;
	const struct process_memory *direct = native_named(r->heap, "Direct Byte Buffers");
	struct text note = TEXT_INIT;
	if (!p || !p->n_memory)
		return;
	if (direct) {
		text_add(&note, "the VM counts ");
		add_amounts(&note, direct->count, "direct buffer", direct->bytes);
		text_add(&note, "; ");
	}
	text_addf(&note, "%s has allocated ", p->memory[0].name);
	text_add_bytes(&note, p->memory[0].bytes);
	text_add(&note, " (javacore; offheap -native lists the parts)");
	result_add_note_text(r, &note);
}

static int run_native(struct session *s, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	const struct process_facts *p = h->process;
	const char *above[PROCESS_MEMORY_DEEP] = {NULL};
	struct text name = TEXT_INIT;
	if (!p || !p->n_memory)
		return err_set(err, ERR_UNSUPPORTED, "%s: no javacore with the VM's allocations (section NATIVEMEMINFO, of "
		    "OpenJ9 and of IBM's VMs since Java 6)", h->facts.title);
	struct result *r = result_new_rows("native memory", s->dump, &native_shape);
	for (size_t i = 0; i < p->n_memory && !progress_own_stops(i); i++) {
		const struct process_memory *m = &p->memory[i];
		above[m->deep] = m->name;
		text_clear(&name);
		for (size_t deep = m->deep ? 1 : 0; deep < m->deep; deep++)
			text_addf(&name, "%.100s: ", above[deep] ? above[deep] : "?");
		text_add(&name, m->name);
		result_add_row(r, (struct cell[]){cell_text(name.s), cell_count(amount_exact(m->count)),
		    cell_bytes(amount_exact(m->bytes))}, NULL);
	}
	text_release(&name);
	result_add_note(r, "each row includes the rows with longer names below it; Java Heap is the heap itself");
	return command_order(s, *out = r, COL_CAPACITY_BYTES, err);
}

/* --- all ---------------------------------------------------------------------------------------- */

static int run_limits(struct session *s, struct result **out, struct err *err)
{
	struct offheap_count counts[OFFHEAP_COUNTS];
	const struct heap *h = session_heap(s);
	unsigned n = offheap_counts(h, counts);
	if (!n)
		return err_set(err, ERR_UNSUPPORTED, "%s holds no counters of off-heap memory%s", h->facts.title,
		    h->facts.values == DECLARED_FIELDS ? "" : ": it has no values");
	struct result *r = result_new_rows("counters of off-heap memory", s->dump, &count_shape);
	for (unsigned i = 0; i < n; i++)
		result_add_row(r, (struct cell[]){cell_text(counts[i].name), cell_count(counts[i].count),
		    cell_bytes(counts[i].capacity), cell_bytes(counts[i].reserved), cell_bytes(counts[i].limit)}, NULL);
	*out = r;
	return 0;
}

/* ERR_USAGE: no kind has this name. */
static int find_kind(const char *word, const char **out, struct err *err)
{
	struct text names = TEXT_INIT;
	for (unsigned k = 0; k < OFFHEAP_KINDS; k++) {
		*out = offheap_kind_name(k);
		if (!strncmp(*out, word, strlen(word)))
			return 0;
		text_addf(&names, "%s%s", k ? ", " : "", *out);
	}
	int code = err_set(err, ERR_USAGE, "unknown kind of off-heap memory \"%.40s\" (use %s)", word, names.s);
	text_release(&names);
	return code;
}

static int run_owners(struct session *s, const struct call *call, const char *kind, struct result **out,
    struct err *err)
{
	struct owners o = {.each = call_has(call, DASH_EACH)};
	o.by_holder = !o.each && call_choice(call, DASH_BY, 0) == 1;
	struct result *r = *out = result_new_rows("off-heap memory", s->dump, o.each ? &each_shape :
	    o.by_holder ? &holder_shape : &class_shape);
	int code = offheap_find(&o.found, r->heap, session_progress(s), err);
	if (!code)
		code = group_all(&o, r, kind, err);
	for (size_t i = 0; !code && i < o.in.n && !progress_own_stops(i); i++)
		add_row(r, &o, &o.in.group[i]);
	if (!code && !kind) {
		add_notes(r, &o.found);
		add_native(r);
	}
	offheap_release(&o.found);
	held_groups_release(&o.in);
	return code ? code : command_order(s, r, COL_CAPACITY_BYTES, err);
}

static int run_offheap(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	const char *kind = NULL;
	int code = call->argument[0].given ? find_kind(call->argument[0].word, &kind, err) : 0;
	if (code)
		return code;
	if (call_has(call, DASH_LIMITS))
		return run_limits(s, out, err);
	if (call_has(call, DASH_NATIVE))
		return run_native(s, out, err);
	if (h->facts.redacted == REDACT_ALL)
		return heap_holds_no_values(h, err);
	if (!h->facts.no_class_objects)
		return run_owners(s, call, kind, out, err);
	if (kind || call_has(call, DASH_EACH) || call_choice(call, DASH_BY, 0) == 1)
		return err_set(err, ERR_UNSUPPORTED, "no objects own off-heap memory in %s (offheap alone lists the "
		    "runtime's)", h->facts.title);
	return run_go(s, out, err);
}

const struct command cmd_offheap = {
    .name = "offheap",
    .arguments = {{ARG_WORD, "KIND", true}},
    .options = options,
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_COUNTS_VALUES,
    .group = "problems",
    .summary = "list off-heap memory and the objects that own it",
    .shapes = SHAPES(&class_shape, &holder_shape, &each_shape, &count_shape, &native_shape),
    .description = "One row per kind of memory and class of its owners. capacity is the memory outside of the "
	"heap, limit the part that buffers have set for use. -by holder groups by the field that holds the owners, "
	"through arrays, the JDK's collections and shared buffers. The note compares with the JDK's own counters.\n"
	"direct\tbuffers with a cleaner, without slices and duplicates\n"
	"mapped\tmapped files\n"
	"segment\tmemory segments, freed by their sessions, without slices\n"
	"netty, lent\tbuffers that Netty, native code or Unsafe frees\n"
	"cleaner\tother cleaners with a size\n"
	"registered\tAndroid's NativeAllocationRegistry\n"
	"deflater, inflater\topen ones: zlib's default sizes (~)\n"
	"zip\topen files of JDK 8, size unknown\n"
	"stack\tstacks of running threads, size by constructor or -Xss, else unknown\n"
	"Go: the runtime's own memory (memstats).",
    .examples = {{"offheap", ON_GO, "how much memory the runtime uses outside of the heap"},
	{"offheap | sort -capacity | head 1", ON_GO, "the largest part of it"}},
    .key = "",
    .run = run_offheap,
};
