/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_info.c - info and check: the dump as a whole.
 */
#include "command/commands.h"

#include "algorithms/chunks.h"
#include "analysis/check/check.h"
#include "analysis/holes.h"
#include "analysis/java/java.h"
#include "command/browse/process.h"
#include "command/resolve/resolve.h"
#include "dump/process.h"
#include "dump/reader.h"
#include "dump/source/source.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "heap/index_file/index_file.h"
#include "result/result.h"

#include <stdlib.h>
#include <string.h>

/* --- info ------------------------------------------------------------------------------------- */

static const enum column_id info_values[] = {
    COL_FORMAT, COL_VERSION, COL_VM, COL_WORD_BITS, COL_BYTE_ORDER, COL_FILE_SIZE, COL_CREATED,
    COL_OBJECTS, COL_CLASSES, COL_INSTANCES, COL_OBJECT_ARRAYS, COL_PRIMITIVE_ARRAYS,
    COL_REFERENCES, COL_DANGLING, COL_ROOTS, COL_SHALLOW, COL_REACHABLE_OBJECTS,
    COL_REACHABLE_SHALLOW, COL_UNREACHABLE_OBJECTS, COL_UNREACHABLE_SHALLOW,
    COL_WEAKLY_REACHABLE_OBJECTS, COL_WEAKLY_REACHABLE_SHALLOW, COL_WARNINGS,
    COL_WARNING_TEXT, COL_DAMAGE, COL_TRUE_UP_TO, COL_CANNOT_TELL, COL_UNKNOWN_SIZES,
    COL_ROOT_ENTRIES, COL_DROPPED_ROOTS, COL_OUTSIDE_ROOTS, COL_HEAPS, COL_HEAP, COL_HEAP_NAMES, COL_THREADS,
    COL_COMPANION, COL_SIZE_MODEL, COL_SIZES, COL_PROGRAM, COL_TYPED_OBJECTS, COL_TYPED_SHALLOW,
    COL_TYPED_BY, COL_TYPE_CONFLICTS, COL_MEASURED_CLASSES, COL_UNSURE_CLASSES,
    COL_ARCHIVED_MIRRORS, COL_DANGLING_MIRRORS, COL_FILE, COL_INDEX_FILE, COL_INDEX_PACKED,
    COL_INDEX_ALONE, COL_HOLES, PROCESS_VALUES,
};
static const struct shape info_shape = {SHAPE_HEAD(info_values), .more = true};

static struct cell text_or_unknown(const char *s)
{
	return s && *s ? cell_text(s) : cell_none();
}

/* What the dump's header says of the VM, or what the VM says of itself. */
static void info_vm(struct result *r, const struct heap *h)
{
	struct text vm = TEXT_INIT;
	if (*h->facts.vm)
		text_add(&vm, h->facts.vm);
	else
		(void)java_vm(h, &vm);
	result_head(r, COL_VM, text_or_unknown(vm.s));
	text_release(&vm);
}

static void info_dump(struct result *r, const struct heap *h)
{
	const struct dump_facts *f = &h->facts;
	result_head(r, COL_FORMAT, cell_text(f->format));
	result_head(r, COL_VERSION, cell_text_or_blank(f->version));
	info_vm(r, h);
	result_head(r, COL_WORD_BITS, f->word_unknown ? cell_none() : cell_plain(heap_word_bits(h)));
	result_head(r, COL_BYTE_ORDER, cell_text(f->big_endian ? "big" : "little"));
	bool left_out = h->dump_absent && !h->source->file_size; /* of an index without names */
	result_head(r, COL_FILE_SIZE, h->source && !left_out ? cell_bytes(amount_exact(h->source->file_size)) :
	    cell_none());
	result_head(r, COL_CREATED, text_or_unknown(f->created));
	struct text path = TEXT_INIT; /* of a dump in an archive with the name there, also where none was named */
	if (h->source)
		text_addf(&path, "%s%s", h->source->path, source_inside(h->source));
	result_head(r, COL_FILE, left_out ? cell_none() : h->source ? cell_text(path.s) : cell_blank());
	text_release(&path);
	result_head(r, COL_INDEX_FILE, cell_text_or_blank(h->index_path));
	result_head(r, COL_INDEX_PACKED, !h->index_path ? cell_blank() :
	    cell_text(chunks_packed(index_file_chunks(h)) ? "yes" : "no"));
	result_head(r, COL_INDEX_ALONE, h->dump_absent ? cell_text("yes") : cell_blank());
}

/* How many references there are, and what they lead to. */
static void info_references(struct result *r, const struct heap *h)
{
	bool known = !h->no_references;
	struct cell none = cell_none();
	result_head(r, COL_REFERENCES, known ? cell_count(heap_counted(h, h->n_references)) : none);
	result_head(r, COL_DANGLING, known ? cell_count(heap_lost(h, h->n_dangling)) : none);
	result_head(r, COL_ROOTS, known ? cell_count(heap_roots_counted(h, h->n_root_objects)) : none);
	result_head(r, COL_ROOT_ENTRIES, known ? cell_count(heap_roots_counted(h, h->n_roots)) : none);
	result_head(r, COL_DROPPED_ROOTS, cell_count(heap_lost(h, h->n_dropped_roots)));
	if (h->facts.outside_pointers_normal)
		result_head(r, COL_OUTSIDE_ROOTS, cell_count(heap_lost(h, h->n_outside_roots)));
}

static void add_part(struct text *to, const char *name, uint64_t objects, uint64_t bytes)
{
	text_addf(to, "%s%s ", to->len ? ", " : "", name);
	text_add_count(to, objects);
	text_add(to, " (");
	text_add_bytes(to, bytes);
	text_add(to, ")");
}

/* "app 1,234 (5.6M), zygote 200 (12K)": of Android, objects and their shallow size by heap. */
static void info_heaps(struct result *r, const struct heap *h)
{
	uint64_t objects[SPACES_MOST + 1] = {0}, shallow[SPACES_MOST + 1] = {0};
	struct text all = TEXT_INIT;
	for (uint32_t id = 0; h->n_spaces && id < h->n_objects && !progress_own_stops(id); id++) {
		objects[h->space_of[id]]++;
		shallow[h->space_of[id]] += heap_shallow(h, id);
	}
	for (unsigned i = 0; i < h->n_spaces; i++) {
		if (!objects[i])
			continue;
		add_part(&all, h->spaces[i], objects[i], shallow[i]);
	}
	if (all.len)
		result_head(r, COL_HEAP_NAMES, cell_text(all.s));
	text_release(&all);
}

static void info_counts(struct result *r, const struct heap *h, bool brief)
{
	result_head(r, COL_CLASSES, cell_count(heap_counted(h, h->n_class_objects)));
	result_head(r, COL_INSTANCES, cell_count(heap_counted(h, h->n_instances)));
	result_head(r, COL_OBJECT_ARRAYS, cell_count(heap_counted(h, h->n_object_arrays)));
	result_head(r, COL_PRIMITIVE_ARRAYS, cell_count(heap_counted(h, h->n_primitive_arrays)));
	result_head(r, COL_UNKNOWN_SIZES, cell_count(heap_counted(h, h->n_unknown_size)));
	if (!brief)
		info_references(r, h);
	result_head(r, COL_HEAPS, cell_count(heap_counted(h, h->facts.n_heaps ? h->facts.n_heaps : 1)));
	result_head(r, COL_HEAP, cell_plain(h->facts.heap_number ? h->facts.heap_number : 1));
	info_heaps(r, h);
}

static void info_all(struct result *r, const struct heap *h)
{
	result_head(r, COL_OBJECTS, cell_count(heap_counted(h, h->n_objects)));
	result_head(r, COL_SHALLOW, cell_bytes(heap_size_of_all(h)));
}

/* Dumps without recorded roots take garbage for alive: say at least that there is some. */
static void info_holes(struct result *r, const struct opened *o)
{
	const struct heap *h = o->heap;
	uint64_t holes = holes_count(h);
	result_head(r, COL_HOLES, cell_count(heap_sized_any(h, heap_counted(h, holes), 0)));
	if (holes)
		result_add_note(r, r->note ? "the VM did not compact the heap before the dump, so it contains garbage" :
		    "~; the VM did not compact the heap before the dump, so it contains garbage");
}

static int info_live(const struct session *s, struct result *r, struct err *err)
{
	const struct heap *h = session_heap(s);
	struct amount none = amount_unknown(REASON_SILENT);
	struct reachable reach = {.n = none, .shallow = none, .unreachable_n = none, .unreachable_shallow = none};
	bool known = h->out.offset && h->n_roots;
	if (known) {
		int code = session_find(s, FIND_REACHABLE, err);
		if (code)
			return code;
		reach = s->dump->reachable;
	}
	info_all(r, h);
	result_head(r, COL_REACHABLE_OBJECTS, cell_count(reach.n));
	result_head(r, COL_REACHABLE_SHALLOW, cell_bytes(reach.shallow));
	result_head(r, COL_UNREACHABLE_OBJECTS, cell_count(reach.unreachable_n));
	result_head(r, COL_UNREACHABLE_SHALLOW, cell_bytes(reach.unreachable_shallow));
	bool weakly = reach.weakly_n.n;
	result_head(r, COL_WEAKLY_REACHABLE_OBJECTS, weakly ? cell_count(reach.weakly_n) : cell_blank());
	result_head(r, COL_WEAKLY_REACHABLE_SHALLOW, weakly ? cell_bytes(reach.weakly_shallow) : cell_blank());
	return 0;
}

static void info_warnings(struct result *r, const struct heap *h)
{
	struct text all = TEXT_INIT;
	size_t kept = h->n_warnings < HEAP_WARNINGS_KEPT ? (size_t)h->n_warnings : HEAP_WARNINGS_KEPT;
	result_head(r, COL_WARNINGS, cell_count(amount_exact(h->n_warnings)));
	for (size_t i = 0; i < kept; i++) {
		text_addf(&all, "%s%s", i ? "; " : "", h->warnings[i].text);
		if (h->warnings[i].has_offset)
			text_addf(&all, " at byte %llu", (unsigned long long)h->warnings[i].offset);
	}
	if (h->n_warnings > kept)
		text_addf(&all, "; and %llu more", (unsigned long long)(h->n_warnings - kept));
	result_head(r, COL_WARNING_TEXT, cell_text_or_blank(all.s));
	text_release(&all);
}

static void info_damage(struct result *r, const struct opened *o)
{
	const struct heap *h = o->heap;
	const struct err *damage = o->fate != FILE_SAME ? &o->fate_words : h->damaged ? &h->damage : NULL;
	result_head(r, COL_DAMAGE, damage ? cell_text(damage->message) : cell_blank());
	result_head(r, COL_TRUE_UP_TO, damage && damage->has_offset ? cell_plain(damage->offset) : cell_blank());
	result_head(r, COL_CANNOT_TELL, cell_text_or_blank(h->facts.cannot_tell));
}

/* Of computed sizes: which classes the rules do not fit. */
static void info_doubts(struct result *r, const struct heap *h)
{
	if (h->measured_names)
		result_head(r, COL_MEASURED_CLASSES, cell_text(h->measured_names));
	if (h->doubtful_names)
		result_head(r, COL_UNSURE_CLASSES, cell_text(h->doubtful_names));
}

static int info_archive(struct result *r, const struct heap *h, struct err *err)
{
	struct java_archived archived;
	int code = java_archived(h, &archived, err);
	if (code || !archived.class_objects)
		return code;
	result_head(r, COL_ARCHIVED_MIRRORS, cell_count(amount_exact(archived.class_objects)));
	result_head(r, COL_DANGLING_MIRRORS, cell_count(amount_exact(archived.references)));
	return 0;
}

/* Statistics that the program kept of itself. */
static void info_stated(struct result *r, const struct heap *h)
{
	for (size_t i = 0; h->facts.states_itself && i < h->n_stated; i++) {
		const struct heap_stated *s = &h->stated[i];
		if (!strcmp(s->what, STATED_PAUSE_LAST) || !strcmp(s->what, STATED_PAUSE_LONGEST))
			continue; /* process_head has shown them */
		struct amount n = amount_exact(s->count);
		result_head_named(r, s->what, s->unit == STATED_BYTES ? cell_bytes(n) :
		    s->unit == STATED_TIME ? cell_time(n) : cell_count(n));
	}
}

/* Which files of the program were read; of a format whose objects get types how many did, and by what. */
static void info_types(struct result *r, const struct heap *h)
{
	struct text how = TEXT_INIT;
	uint64_t objects = 0, shallow = 0;

	if (h->dump && (h->dump->reader->memory || h->dump->program_note))
		result_head(r, COL_PROGRAM, cell_text_or_blank(h->dump->program_note));
	if (!h->dump || !h->dump->reader->memory)
		return;
	for (unsigned by = TYPED_BY_SHAPE + 1; by < TYPED_BYS; by++) {
		const struct typed_sum *sum = &h->typed[by];
		objects += sum->objects;
		shallow += sum->shallow;
		if (!sum->objects)
			continue;
		add_part(&how, typed_by_name((enum typed_by)by), sum->objects, sum->shallow);
	}
	result_head(r, COL_TYPED_OBJECTS, cell_count(heap_counted(h, objects)));
	result_head(r, COL_TYPED_SHALLOW, cell_bytes(heap_sized_any(h, heap_counted(h, shallow), 0)));
	result_head(r, COL_TYPED_BY, cell_text_or_blank(how.s));
	result_head(r, COL_TYPE_CONFLICTS, cell_count(heap_counted(h, h->dump->type_conflicts)));
	text_release(&how);
}

static int run_info(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	bool brief = call_has(call, DASH_BRIEF);
	bool lists[] = {[PROCESS_ARGUMENTS] = call_has(call, DASH_ARGS), [PROCESS_LIMITS] = call_has(call, DASH_LIMITS),
	    [PROCESS_VARIABLES] = call_has(call, DASH_ENV)};
	for (enum process_list i = PROCESS_ARGUMENTS; i <= PROCESS_VARIABLES; i++)
		if (lists[i])
			return process_list(out, s->dump, i, err);
	struct result *r = *out = result_new("info", s->dump, &info_shape, NULL, NULL, 0);
	struct process_facts *own;
	const struct process_facts *process = process_of(h, &own);
	info_dump(r, h);
	process_cause(r, h, process, brief);
	result_group(r, "reachable and unreachable");
	int code = 0;
	if (brief)
		info_all(r, h);
	else
		code = info_live(s, r, err);
	process_memory(r, h, process);
	result_group(r, "warnings and missing facts");
	if (!brief)
		info_warnings(r, h);
	info_damage(r, s->dump);
	result_group(r, "counts");
	info_counts(r, h, brief);
	if (!code && !brief)
		code = info_archive(r, h, err);
	result_group(r, "process");
	process_head(r, h, process);
	if (!brief)
		result_head(r, COL_THREADS, h->companion || h->n_threads ? cell_count(heap_counted(h, h->n_threads)) :
		    cell_none());
	result_head(r, COL_COMPANION, cell_text_or_blank(h->companion));
	result_group(r, "sizes and types");
	if (process && process->reference_bytes)
		result_head(r, COL_REFERENCE_BYTES, cell_plain(process->reference_bytes));
	result_head(r, COL_SIZE_MODEL, cell_text_or_blank(h->size_model));
	result_head(r, COL_SIZES, cell_text(s->settings.mat_sizes ? "mat" : "true"));
	info_doubts(r, h);
	info_types(r, h);
	process_free(own);
	result_group(r, "counters of the program");
	info_stated(r, h);
	if (!brief)
		command_add_roots_note(r);
	if (!brief && !h->facts.roots_recorded)
		info_holes(r, s->dump);
	return code;
}

const struct command cmd_info = {
    .name = "info",
    .options = OPTIONS({DASH_BRIEF, OPT_FLAG, NULL, "without references and values that need them"},
	{DASH_ARGS, OPT_FLAG, NULL, "options of the VM, one per row"},
	{DASH_ENV, OPT_FLAG, NULL, "environment variables of the process"},
	{DASH_LIMITS, OPT_FLAG, NULL, "resource limits of the process"}),
    .flags = COMMAND_OBJECTS_ONLY | COMMAND_EARLY_BY_OPTION,
    .group = "browse",
    .summary = "summarize the dump: format, VM, process and sizes",
    .shapes = SHAPES(&info_shape, &process_arguments_shape, &process_limits_shape, &process_variables_shape),
    .description = "objects\tall records: classes (class objects), instances, object_arrays, primitive_arrays\n"
	"references\tnon-null references; dangling ones lead to no object\n"
	"roots\tobjects that are GC roots; root_entries counts their records\n"
	"weakly_reachable_*\treachable only through weak, final or phantom references\n"
	"true_up_to\tbyte up to which a damaged dump is correct\n"
	"cannot_tell\tfacts that the format does not record\n"
	"heaps\theap dumps in the file; heap is the current one (--dump N)\n"
	"cause\twhy the VM wrote the dump; oom_kind is inferred\n"
	"typed_by\thow objects of a Go dump got their types\n"
	"-brief needs half the time. Secrets (password, token, key) are shown as ***.",
    .examples = {{"info"}, {"info -brief | cut objects,shallow", ON_ANY, "two numbers for a script"},
	{"info -args", ON_PHD, "the options of the VM"}, {"info -env", ON_PHD}},
    .key = "i",
    .run = run_info,
};

/* --- check ------------------------------------------------------------------------------------ */

static const struct column check_columns[] = {
    {.id = COL_CHECK},
    {.id = COL_RESULT},
    {.id = COL_DETAIL},
    {.id = COL_MILLISECONDS, .hidden = true},
};
static const struct shape check_shape = {SHAPE_COLUMNS(check_columns)};

struct checking {
	struct checks checks;
	const struct heap *heap;
	const struct retained *tree; /* NULL: not looked at */
};

static int check_graph(void *context, struct progress *progress, struct err *err)
{
	struct checking *c = context;
	return check_heap(&c->checks, c->heap, progress, err);
}

static int check_its_tree(void *context, struct progress *progress, struct err *err)
{
	struct checking *c = context;
	c->checks.progress = progress;
	return check_tree(&c->checks, c->tree, err);
}

/* On a graph that is broken no tree can be found. */
static int check_all(struct session *s, struct checking *c, bool wanted, struct err *err)
{
	c->tree = opened_retained(s->dump);
	/* beside the screen it may be found already, or is waited for before anything is checked */
	int code = wanted && s->finds_beside ? session_find(s, FIND_RETAINED, err) : 0;
	if (!code)
		code = session_work(s, check_graph, c, err);
	if (!code && c->checks.walkable && wanted && !c->tree)
		code = session_find(s, FIND_RETAINED, err);
	c->tree = opened_retained(s->dump);
	if (!code && c->checks.walkable && c->tree)
		code = session_work(s, check_its_tree, c, err);
	return code;
}

/* "18 checks passed, 2 do not apply; it took 1.3 seconds" */
static void proof_note(struct result *r, const struct checks *checks)
{
	uint64_t milliseconds = 0;
	size_t kept = 0;
	for (size_t i = 0; i < checks->n; i++) {
		milliseconds += checks->line[i].milliseconds;
		kept += checks->line[i].outcome == CHECK_OK;
	}
	struct text note = TEXT_INIT;
	text_addf(&note, "%zu checks passed", kept);
	if (checks->n_broken)
		text_addf(&note, ", %zu failed", checks->n_broken);
	size_t others = checks->n - kept - checks->n_broken;
	text_addf(&note, ", %zu %s not apply; it took ", others, others == 1 ? "does" : "do");
	if (milliseconds < 1000)
		text_addf(&note, "%u milliseconds", (unsigned)milliseconds);
	else
		text_addf(&note, "%.1f seconds", (double)milliseconds / 1000);
	result_add_note_text(r, &note);
}

static int run_check(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	static const char *const words[] = {
	    [CHECK_OK] = "ok",
	    [CHECK_BROKEN] = "broken",
	    [CHECK_DOES_NOT_APPLY] = "none",
	};
	struct checking c = {.heap = session_heap(s)};
	int code = check_all(s, &c, call_has(call, DASH_TREE), err);
	struct result *r = *out = result_new_rows("check", s->dump, &check_shape);
	for (size_t i = 0; !code && i < c.checks.n; i++) {
		struct text detail = TEXT_INIT;
		text_add_escaped(&detail, c.checks.line[i].detail, strlen(c.checks.line[i].detail));
		result_add_row(r, (struct cell[]){cell_text(c.checks.line[i].name),
		    cell_text(words[c.checks.line[i].outcome]), cell_text(detail.len ? detail.s : ""),
		    cell_plain(c.checks.line[i].milliseconds)}, NULL);
		text_release(&detail);
	}
	result_mark(r, RESULT_FAILED, c.checks.n_broken > 0);
	proof_note(r, &c.checks);
	checks_release(&c.checks);
	return code;
}

const struct command cmd_check = {
    .name = "check",
    .options = OPTIONS({DASH_TREE, OPT_FLAG, NULL, "also check the dominator tree"}),
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_OF_SESSION,
    .group = "session",
    .summary = "verify the loaded object graph",
    .shapes = SHAPES(&check_shape),
    .description = "cairn counts again, with other code than the loader, what every command depends on. Addresses "
	"ascend and are found again. References lead to objects and are the same in both directions. Sizes and kinds "
	"add up, roots are objects, and the counts of the dump agree. If the dominator tree is known, or with -tree, "
	"cairn checks it, too. Every reference leads through the immediate dominator of its target. No sibling "
	"dominates another, and the tree has all reachable objects. Retained sizes add up, and shortest paths are "
	"the shortest.\n"
	"result\tok, broken, or none if there is nothing to compare\n"
	"milliseconds\ttime of the check\n"
	"Exit status 1 if a result is broken.",
    .examples = {{"check", ON_ANY, "every check with its result"},
	{"check | grep- '^ok$'", ON_ANY, "only the checks that are not ok"}},
    .run = run_check,
};
