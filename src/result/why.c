/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * why.c - how sure the numbers of a row or of a head are, and for what reason.
 *
 * Values of one reason are named together, so that a row of eight unknowns is still one sentence.
 */
#include "result/why.h"

#include "heap/classes.h"
#include "heap/roots.h"
#include "opened/opened.h"

#include <string.h>

#define NAMED 8 /* values named for one reason; more are counted */

/* The values to tell of: head fields first, then the cells of the row, then what stands beside it. */
struct values_told {
	struct result *r;
	size_t row, n;
	const struct why_value *beside;
	size_t n_beside;
};

/* Value i and its name; false: not shown. */
static bool value_at(const struct values_told *v, size_t i, const char **name, struct cell *out)
{
	size_t n_cells = v->n - v->n_beside - v->r->n_head;
	if (i < v->r->n_head) {
		*name = v->r->head[i].name;
		*out = v->r->head[i].cell;
	} else if (i < v->r->n_head + n_cells) {
		unsigned c = (unsigned)(i - v->r->n_head);
		*name = column_title(&v->r->columns[c]);
		bool hidden = v->r->columns[c].hidden;
		if (hidden && v->r->columns[c].id != COL_CERTAINTY)
			return false;
		result_cell(v->r, v->row, c, out);
		if (hidden && !out->amount.reason)
			return false;
		*name = hidden ? "this row" : *name; /* of words that have no mark */
	} else {
		*name = v->beside[i - v->r->n_head - n_cells].name;
		*out = v->beside[i - v->r->n_head - n_cells].cell;
	}
	return true;
}

/* --- the sentences ------------------------------------------------------------------------------ */

static void say_damage(const struct heap *h, enum certainty certainty, struct text *to)
{
	text_add(to, h->damage.message);
	if (certainty == INFERRED && h->incomplete)
		text_add(to, "; the unread part may make it smaller or larger");
}

static void say_unknown_sizes(const struct heap *h, enum certainty certainty, struct text *to)
{
	text_add(to, "the dump does not record the size of ");
	if (certainty == UNKNOWN || !h->n_unknown_size) {
		text_add(to, certainty == UNKNOWN ? "it" : "some of these objects");
		return;
	}
	text_add_count(to, h->n_unknown_size);
	text_addf(to, " object%s", h->n_unknown_size == 1 ? "" : "s");
}

static void say_roots(const struct heap *h, enum certainty certainty, struct text *to)
{
	(void)certainty;
	if (heap_roots_were_inferred(h))
		text_add(to, "cairn exported the dump from one that records no roots, and wrote those that it inferred: system "
		    "classes, threads and every object that nothing references");
	else if (h->facts.locals_inferred)
		text_add(to, "the dump does not say which words of a stack are references, so cairn uses each that is "
		    "the address of an object");
	else if (h->facts.roots_recorded)
		text_add(to, "the dump's roots include no system class, so cairn uses the classes of the boot "
		    "loader");
	else
		text_addf(to, "%s records no roots, so cairn uses system classes, threads and every object that "
		    "nothing references", h->facts.title);
}

static void say_size_model(const struct heap *h, enum certainty certainty, struct text *to)
{
	(void)certainty;
	if (h->doubtful_names && !h->sizes_assumed)
		text_addf(to, "instances of some classes may be larger, because there is room after each: %s",
		    h->doubtful_names);
	else
		text_addf(to, "sizes are computed, %s", h->size_model ? h->size_model : "assumed");
}

static void say_measured(const struct heap *h, enum certainty certainty, struct text *to)
{
	(void)certainty;
	text_addf(to, "no rule gives the size of %s%s; cairn uses the distance from each to the next object",
	    h->n_measured == 1 ? "instances of " : "instances of some classes: ", h->measured_names);
}

static void say_fillers(const struct heap *h, enum certainty certainty, struct text *to)
{
	bool found = false;
	(void)certainty;
	for (uint32_t c = 0; c < h->n_classes && !found; c++)
		found = heap_class_is_filler(&h->classes[c]);
	text_add(to, "the VM writes the arrays that fill gaps of its collector as int[]: ");
	if (!found)
		text_add(to, "some unreferenced arrays may be such fillers");
	else
		text_addf(to, "cairn takes unreferenced ones for such fillers%s", h->fillers_mixed ? ", "
		    "except some that may also be garbage of the program or locks of classes: these stay int[]" : "");
}

static void say_silence(const struct heap *h, enum certainty certainty, struct text *to)
{
	(void)certainty;
	text_addf(to, "%s does not record it", h ? h->facts.title : "the dump");
	if (h && h->incomplete)
		text_add(to, ", or only in the part that was not read");
}

/* What follows "inferred: ": words, or what they are filled in by; then words are for other dumps than the result's. */
static const struct {
	const char *words;
	void (*say)(const struct heap *h, enum certainty certainty, struct text *to);
} sentences[REASONS] = {
    [REASON_DAMAGED] = {"only a part could be read", say_damage},
    [REASON_SIZES_UNKNOWN] = {"some objects are of unknown size", say_unknown_sizes},
    [REASON_JOINT] = {"it excludes objects that several members hold jointly; `size` of the row includes these", NULL},
    [REASON_ROWS_JOINED] = {"one dump separates groups that are one row here; their retained sizes are added and "
	"may overlap", NULL},
    [REASON_OTHER_RULE] = {"sizes follow another rule than in the newest dump (--sizes)", NULL},
    [REASON_OTHER_WORDS] = {"words, and so objects, are wider or narrower than in the newest dump; compare "
	"numbers of objects instead", NULL},
    [REASON_MORE] = {"counting stopped there, because there are many", NULL},
    [REASON_CLOCK] = {"the dump does not record its time; that of the latest recorded wait is the minimum", NULL},
    [REASON_LOCALS] = {"the dump does not record monitor owners and waiters; cairn infers them from blocked "
	"threads and the locals of their frames", NULL},
    [REASON_DIRECT_LIMIT] = {"HotSpot derives the limit of direct memory from the maximum heap size if "
	"MaxDirectMemorySize is not set, as here; some collectors exclude a survivor space", NULL},
    [REASON_ERROR_LATER] = {"the VM writes the dump before it creates the error; cairn infers its kind from the "
	"thread's stack and the heap usage", NULL},
    [REASON_TOO_LARGE] = {"the number does not fit into 64 bits", NULL},
    [REASON_ROOTS] = {"roots are inferred", say_roots},
    [REASON_ROOTS_MISSING] = {"the GC roots are in the part of the dump that was not read", NULL},
    [REASON_FRAMES] = {"no recorded root reaches it; a stack frame has its address, or that of a holder, where "
	"no pointer is recorded: it may be alive", NULL},
    [REASON_CLASS_FIELDS] = {"no recorded root reaches it; it or a holder may be in a field of java.lang.Class "
	"(names, reflection data, array classes, locks) or be a thread of the VM; HPROF does not record these: "
	"it may be alive", NULL},
    [REASON_STACKS_MISSING] = {"no recorded root reaches it; the VM omits the stacks of parked virtual threads "
	"and other continuations, which may hold it: it may be alive", NULL},
    [REASON_CLASS_DATA] = {"no recorded root reaches it; the program made hidden classes, and HPROF does not "
	"record the objects passed to them: it may be alive", NULL},
    [REASON_NAMES_SHARED] = {"several classes have the name in the records: the first gets all their objects", NULL},
    [REASON_FILLERS] = {"signs distinguish the collector's filler arrays from those of the program",
	say_fillers},
    [REASON_SIZES_ASSUMED] = {"sizes are computed, and nothing in that dump confirms them", say_size_model},
    [REASON_SIZES_MEASURED] = {"sizes of some classes are distances to the next object", say_measured},
    [REASON_TYPES_GUESSED] = {"no pointer or record gives its type, but only one type has this size and these "
	"pointers", NULL},
    [REASON_JUDGED] = {"a rule decides whether the program needs it (see help waste)", NULL},
    [REASON_PADDED] = {"jdmpview wrote wrong lengths into the file: cairn computes it from the size, padding "
	"included", NULL},
    [REASON_BLOCK] = {"it is the size of a block of memory, and the program may use less", NULL},
    [REASON_FILE_CHANGED] = {"it depends on values in the file, and the file has changed since it was loaded", NULL},
    [REASON_NOT_FOUND_YET] = {"retained sizes are not computed yet", NULL},
    [REASON_DUMP_AWAY] = {"values and strings are in the dump, and only its index is present or readable", NULL},
    [REASON_OUTSIDE] = {"the memory is not in the dump, and no field records its exact size or owner; this is the "
	"default size, the requested size or the visible part", NULL},
    [REASON_FILE_TIME] = {"it is the file's modification time, because the start of the file has no time of the "
	"dump", NULL},
    [REASON_FILE_NAME] = {"it follows from the name of the file: the VM calls the dump of an OutOfMemoryError "
	"java_pidN.hprof unless it is named", NULL},
    [REASON_NOT_READ] = {"only the first bytes of the dump were read: use N or Enter reads it", NULL},
    [REASON_STACK_ORDER] = {"the dump does not record which stack belongs to which thread; cairn uses the order "
	"of threads and stacks", NULL},
    [REASON_PUBLISHED] = {"the VM publishes it at its collections, and only its user and root can read it; "
	"cairn did not ask the VM", NULL},
    [REASON_BY_INDEX] = {"it comes from the start of an index or a profile: the dump itself was not read", NULL},
    [REASON_SILENT] = {"it is not recorded", say_silence},
};

/* A cell of a result; a value of the head has no row. */
struct place {
	size_t row;
	unsigned column;
};

static bool is_to_blame(const struct result *r, struct place at, enum reason reason, size_t dump)
{
	return at.row != WHY_NO_ROW && result_blames(r, at.row, at.column, reason, dump);
}

static void say_here(const struct result *r, enum certainty certainty, enum reason reason, struct text *to)
{
	bool here = sentences[reason].say && (r->heap || reason == REASON_SILENT) &&
	    (reason != REASON_DAMAGED || r->heap->damaged);
	if (here)
		sentences[reason].say(r->heap, certainty, to);
	else
		text_add(to, sentences[reason].words);
}

/* "of dump 1 (a.phd), dump 2 (b.phd): roots are inferred; of dump 3 (c.phd): PHD records no roots".  False: no dump is
 * to blame. */
static bool say_of_dumps(const struct result *r, struct place at, enum certainty certainty, enum reason reason,
    struct text *to)
{
	const struct result_dumps *dumps = result_dumps(r);
	size_t own = dumps && dumps->own < dumps->n ? dumps->own : SIZE_MAX, n = 0;
	bool apart = own != SIZE_MAX && sentences[reason].say && r->heap && is_to_blame(r, at, reason, own);
	for (size_t i = 0; dumps && i < dumps->n; i++) {
		if ((apart && i == own) || !is_to_blame(r, at, reason, i))
			continue;
		if (n < NAMED) {
			text_add(to, n ? ", " : "of ");
			text_add_name(to, dumps->name[i]);
		}
		n++;
	}
	if (n > NAMED)
		text_addf(to, " and %zu more", n - NAMED);
	if (n)
		text_addf(to, ": %s", sentences[reason].words);
	if (apart) {
		text_add(to, n ? "; of " : "of ");
		text_add_name(to, dumps->name[own]);
		text_add(to, ": ");
		say_here(r, certainty, reason, to);
	}
	return n || apart;
}

/* Reasons why objects may be alive, although they are unreachable. */
static bool is_of_unreachable(enum reason reason)
{
	return reason == REASON_FRAMES || reason == REASON_CLASS_FIELDS || reason == REASON_STACKS_MISSING ||
	    reason == REASON_CLASS_DATA;
}

/* share: only of a part in a whole, and then the whole is what is not sure. */
static void add_reason(const struct result *r, enum certainty certainty, enum reason reason, struct place at, bool many,
    bool share, struct text *to)
{
	static const char *const marks[][2] = {[LOWER_BOUND] = {"a lower bound", "lower bounds"},
	    [INFERRED] = {"inferred", "inferred"}, [UNKNOWN] = {"unknown", "unknown"}};
	text_addf(to, "%s: ", marks[certainty][many]);
	if (share && is_of_unreachable(reason))
		text_add(to, "some unreachable objects may be alive, so the size of the live heap is uncertain "
		    "(see `why`)");
	else if (!say_of_dumps(r, at, certainty, reason, to))
		say_here(r, certainty, reason, to);
}

/* How sure a value is.  Cells about certainty (of a root, say) are text, and handled like numbers. */
static enum certainty sureness(const struct cell *cell)
{
	for (enum certainty c = LOWER_BOUND; cell->type == CELL_TEXT && cell->amount.reason && c <= UNKNOWN; c++)
		if (!strcmp(cell->text, certainty_name(c)))
			return c;
	return cell->amount.certainty;
}

enum certainty why_one(const struct result *r, size_t row, unsigned column, const struct cell *cell, struct text *to)
{
	enum certainty certainty = sureness(cell);

	text_clear(to);
	if (certainty == EXACT)
		text_add(to, "exact");
	else
		add_reason(r, certainty, cell->amount.reason, (struct place){row, column}, false,
		    cell->type == CELL_PERCENT, to);
	return certainty;
}

/* --- a row or head ------------------------------------------------------------------------------ */

static struct place place_of(const struct values_told *v, size_t i)
{
	bool cell = i >= v->r->n_head && i < v->n - v->n_beside;
	return cell ? (struct place){v->row, (unsigned)(i - v->r->n_head)} : (struct place){WHY_NO_ROW, 0};
}

/* A value that this sentence is about: as sure, for this reason, and for that of the same dumps as value `like`. */
static bool is_told(const struct values_told *v, size_t i, enum certainty certainty, enum reason reason, size_t like,
    const char **name, struct cell *out)
{
	const struct result_dumps *dumps = result_dumps(v->r);
	bool told = value_at(v, i, name, out) && out->amount.reason == reason && sureness(out) == certainty;
	for (size_t d = 0; told && dumps && d < dumps->n; d++)
		told = is_to_blame(v->r, place_of(v, i), reason, d) == is_to_blame(v->r, place_of(v, like), reason, d);
	return told;
}

/* The values in one sentence with the first of them, then the reason; returns how many there are. */
static size_t tell(
    const struct values_told *v, enum certainty certainty, enum reason reason, size_t first, struct text *to)
{
	const char *name;
	struct cell cell;
	size_t n = 0, shares = 0;

	if (!is_told(v, first, certainty, reason, first, &name, &cell))
		return 0;
	for (size_t i = 0; i < v->n; i++) {
		if (!is_told(v, i, certainty, reason, first, &name, &cell))
			continue;
		if (i < first) /* and so a sentence has all of them */
			return 0;
		shares += cell.type == CELL_PERCENT;
		if (n++ >= NAMED)
			continue;
		text_add(to, n > 1 ? ", " : to->len > 0 ? "\n" : "");
		text_add(to, name);
		if (cell.type == CELL_NONE || cell.type == CELL_TEXT)
			continue;
		text_add_char(to, ' ');
		cell_print(&cell, to);
	}
	if (n > NAMED)
		text_addf(to, " and %zu more", n - NAMED);
	text_add(to, n > 1 ? " are " : " is ");
	add_reason(v->r, certainty, reason, place_of(v, first), n > 1, shares == n, to);
	return n;
}

static void tell_exact(const struct values_told *v, bool others, struct text *to)
{
	const struct heap *h = v->r->heap;
	const char *name;
	struct cell cell;
	size_t numbers = 0, bytes = 0;

	for (size_t i = 0; i < v->n; i++) {
		if (!value_at(v, i, &name, &cell) || !cell_is_number(cell.type) || cell.amount.certainty != EXACT)
			continue;
		numbers++;
		bytes += cell.type == CELL_BYTES;
	}
	if (others && numbers == 0)
		return;
	if (others)
		text_add(to, "\nthe other numbers are exact");
	else if (numbers == 0)
		text_add(to, "nothing of this row is uncertain");
	else
		text_add(to, "all numbers of this row are exact");
	if (bytes > 0 && h && h->size_model)
		text_addf(to, "\nsizes are computed: %s", h->size_model);
}

void why_explain(struct result *r, size_t row, const struct why_value *beside, size_t n_beside, struct text *to)
{
	struct values_told v = {.r = r, .row = row, .beside = beside, .n_beside = n_beside};
	size_t doubts = 0, damage = 0;

	v.n = r->n_head + (row == WHY_NO_ROW ? 0 : r->n_columns) + n_beside;
	text_clear(to);
	for (enum certainty c = LOWER_BOUND; c <= UNKNOWN; c++) {
		for (enum reason reason = REASON_NONE + 1; reason < REASONS; reason++) {
			for (size_t first = 0; first < v.n; first++) {
				size_t n = tell(&v, c, reason, first, to);
				doubts += n;
				damage += reason == REASON_DAMAGED ? n : 0;
			}
		}
	}
	tell_exact(&v, doubts > 0, to);
	if (r->heap && r->heap->damaged && damage == 0)
		text_addf(to, "\n%s%s", r->heap->incomplete ? "in the part that was read: " : "",
		    r->heap->damage.message);
}
