/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_leaks.c - leaks: leak suspects, in a sentence each.
 */
#include "command/commands.h"

#include "algorithms/sort.h"
#include "analysis/leaks.h"
#include "analysis/what_if/what_if.h"
#include "base/mem.h"
#include "base/text.h"
#include "command/resolve/resolve.h"
#include "command/retention/leaks_told.h"
#include "command/session/session.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/library.h"
#include "heap/roots.h"
#include "memory/big.h"
#include "result/objects.h"
#include "result/result.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	L_ADDRESS, L_CLASS, L_OBJECTS, L_RETAINED, L_SHARE, L_POINT, L_POINT_CLASS, L_POINT_RETAINED,
	L_FREED, L_REFERENCE, L_PATH, L_SENTENCE, L_FIELD, L_KIND, L_NAME,
	L_NUMBER, L_HOLDER_KIND, L_NAME_RETAINED, L_NAME_SHARE, L_CONTENTS, L_REMEDY, L_COURSE, L_PLOT
};

static const struct column columns[] = {
    [L_ADDRESS] = {.id = COL_ADDRESS},
    [L_CLASS] = {.id = COL_CLASS},
    [L_OBJECTS] = {.id = COL_OBJECTS, .hidden = true},
    [L_RETAINED] = {.id = COL_RETAINED, .card = CARD_OUT},
    [L_SHARE] = {.id = COL_SHARE, .card = CARD_OUT},
    [L_POINT] = {.id = COL_ACCUMULATED_IN},
    [L_POINT_CLASS] = {.id = COL_ACCUMULATED_CLASS, .hidden = true},
    [L_POINT_RETAINED] = {.id = COL_ACCUMULATED, .hidden = true},
    [L_FREED] = {.id = COL_FREED},
    [L_REFERENCE] = {.id = COL_REFERENCE, .hidden = true},
    [L_PATH] = {.id = COL_PATH, .hidden = true},
    [L_SENTENCE] = {.id = COL_SENTENCE, .hidden = true},
    [L_FIELD] = {.id = COL_FIELD, .hidden = true},
    [L_KIND] = {.id = COL_KIND, .hidden = true},
    [L_NAME] = {.id = COL_NAME, .hidden = true, .card = CARD_HEAD},
    [L_NUMBER] = {.id = COL_NUMBER, .hidden = true, .card = CARD_FIRST},
    [L_HOLDER_KIND] = {.id = COL_HOLDER_KIND, .hidden = true, .card = CARD_HEAD},
    [L_NAME_RETAINED] = {.id = COL_NAME_RETAINED, .title = "retained", .hidden = true, .card = CARD_HEAD},
    [L_NAME_SHARE] = {.id = COL_NAME_SHARE, .title = "share", .hidden = true, .card = CARD_HEAD},
    [L_CONTENTS] = {.id = COL_CONTENTS, .hidden = true, .card = CARD_BELOW},
    [L_REMEDY] = {.id = COL_REMEDY, .hidden = true, .card = CARD_BELOW_LEFT},
    [L_COURSE] = {.id = COL_COURSE, .hidden = true, .card = CARD_BELOW_RIGHT},
    [L_PLOT] = {.id = COL_PLOT, .hidden = true, .card = CARD_BELOW_RIGHT},
};
static const struct shape shape = {SHAPE_COLUMNS(columns)};

void command_add_wrapped(struct text *to, const char *s, size_t most)
{
	size_t used = 0;
	while (*s) {
		size_t n = strcspn(s, " ");
		char *word = xstrndup(s, n);
		size_t width = text_width(word);
		if (used && used + 1 + width > most) {
			text_add(to, "\n");
			used = 0;
		}
		text_addf(to, "%s%s", used ? " " : "", word);
		used += width + (used > 0);
		free(word);
		s += n + strspn(s + n, " ");
	}
	text_add(to, "\n");
}

/* "com.acme.Cache.all", "main.orders + main.sessions": what to clear, if that frees most of it; else what holds it, or
 * its class.  Returns the object that the name means; HEAP_NONE: several. */
static uint32_t add_suspect_name(struct text *to, const struct retained *r, const struct suspect *s,
    const struct told *t)
{
	const struct heap *h = r->heap;
	enum told_name by = told_named_by(t, r, s);
	if (s->ids) {
		text_add_count(to, s->n);
		text_addf(to, " \u00d7 %s", heap_class_of(h, s->id)->name);
	} else if (by == TOLD_BY_REFERENCE) {
		told_add_names(to, t, false);
		return t->n_cleared == 1 ? t->cleared[0].target : HEAP_NONE;
	} else if (by == TOLD_BY_FIELD) {
		const char *of_class = path_static_name(t->field.s);
		text_add(to, of_class ? of_class : t->field.s);
		return t->field_target;
	} else {
		object_class_words(h, s->id, to);
	}
	return HEAP_NONE;
}

/* With the loader where two suspects have one name. */
static void add_loader(struct text *to, const struct heap *h, const struct told *t)
{
	if (t->loader != HEAP_NONE)
		text_addf(to, ", loader 0x%" PRIx64, heap_address(h, t->loader));
}

/* What finding them takes. */
struct asking {
	struct session *s;
	struct what_if cut;
	struct what_if_owner owner;
	struct since *since; /* what older dumps have; NULL: nothing */
};

static struct cell text_or_blank(const struct text *t)
{
	return t->len ? cell_text(t->s) : cell_blank();
}

/* What a row says, besides what is told. */
struct row_words {
	struct text class, point, name, holder_kind, contents, remedy, course, plot, opens;
	uint32_t named; /* what the name means, if one object; else HEAP_NONE, and + 1 is 0 */
};

static void row_words_release(struct row_words *w)
{
	text_release(&w->class);
	text_release(&w->point);
	text_release(&w->name);
	text_release(&w->holder_kind);
	text_release(&w->contents);
	text_release(&w->remedy);
	text_release(&w->course);
	text_release(&w->plot);
	text_release(&w->opens);
}

static void find_words(struct row_words *w, struct asking *q, const struct suspect *s, const struct told *t)
{
	const struct heap *h = session_heap(q->s);
	w->named = add_suspect_name(&w->name, q->cut.retained, s, t);
	add_loader(&w->name, h, t);
	if (s->ids)
		text_add(&w->class, heap_class_of(h, s->id)->name);
	else
		object_class_words(h, s->id, &w->class);
	object_class_words(h, s->piles_up, &w->point);
	told_add_holder_kind(&w->holder_kind, t, q->s->dump, q->cut.retained, s);
	told_add_contents(&w->contents, q->s->dump, &q->cut, t, s);
	told_add_remedy(&w->remedy, t, s);
	since_add_course(q->since, s->piles_up, s->n, w->contents.len ? w->contents.s : "", &w->course,
	    &w->plot);
	text_addf(&w->opens, "x 0x%" PRIx64, heap_address(h, told_point(q->cut.retained, t, s)));
}

static void add_row(struct result *out, struct asking *q, const struct suspect *s, const struct told *t,
    const char *kind)
{
	const struct retained *r = q->cut.retained;
	const struct heap *h = r->heap;
	struct row_words w = {.class = TEXT_INIT};
	find_words(&w, q, s, t);
	struct target target = {.kind = TARGET_OBJECT, .id = s->id, .command = w.opens.s, .about = w.named + 1U};
	struct amount of_name = w.named == HEAP_NONE ? s->retained : retained_of(r, w.named);
	for (uint32_t i = 0; i < (s->ids ? s->n : 1); i++) /* a row stands for the suspect, or the objects of a group */
		result_add_member(out, out->n_source, s->ids ? s->ids[i] : s->id);
	if (s->ids)
		target = (struct target){.kind = TARGET_CLASS, .id = heap_class_index(h, s->id), .part = true};
	result_add_row(out, (struct cell[]){
	    s->ids ? cell_blank() : cell_address(heap_address(h, s->id)), cell_text(w.class.s),
	    cell_count(heap_held(h, s->n)), cell_bytes(s->retained), command_share(r, s->retained),
	    cell_address(heap_address(h, s->piles_up)), cell_text(w.point.s),
	    cell_bytes(retained_of(r, s->piles_up)),
	    s->ids && !t->reference.len ? cell_blank() : cell_bytes(t->freed),
	    text_or_blank(&t->reference), text_or_blank(&t->path), cell_text(t->sentence.s),
	    text_or_blank(&t->field), cell_text(kind), cell_text(w.name.s), cell_plain(out->n_source + 1),
	    text_or_blank(&w.holder_kind), cell_bytes(of_name), command_share(r, of_name),
	    text_or_blank(&w.contents), text_or_blank(&w.remedy), text_or_blank(&w.course),
	    text_or_blank(&w.plot)}, &target);
	row_words_release(&w);
}

/* Is it, or what clearing it takes, of the program rather than of the JDK or of Go's library? */
static bool is_own(const struct heap *h, const struct suspect *s, const struct told *t)
{
	uint32_t class = heap_class_mirrored(h, s->id), point = heap_class_mirrored(h, s->piles_up);
	return (t->freed.n && t->fame != FAME_NONE) ||
	    library_programs_class(h, class != HEAP_NONE ? class : heap_class_index(h, s->id)) ||
	    library_programs_class(h, point != HEAP_NONE ? point : heap_class_index(h, s->piles_up));
}

/* Is it a group of the JDK's class, or of Go's library, that no reference of the program frees?  Such objects, the
 * Strings of a whole web server, are all over the heap: nobody can do anything about them as a group. */
static bool leads_nowhere(const struct heap *h, const struct suspect *s, const struct told *t)
{
	return s->ids && !t->reference.len && !library_programs_class(h, heap_class_index(h, s->id));
}

bool command_has_suspects(struct result *leaks)
{
	struct cell kind;
	return leaks->n_rows && result_cell_in(leaks, leaks->n_rows - 1, COL_KIND, &kind) && kind.type == CELL_TEXT &&
	    !strcmp(kind.text, "suspect");
}

/* What was found, and what is told of each. */
struct found {
	struct leaks leaks;
	struct told *told;
	size_t n_told;
	size_t suspects;       /* the first so many are; the others are holders */
	struct amount gos_own; /* what is left out, since Go's own tables retain it */
};

static void found_release(struct found *f)
{
	while (f->n_told)
		told_release(&f->told[--f->n_told]);
	free(f->told);
	leaks_release(&f->leaks);
}

/* Does number a come before number b?  Where two retain about the same, within a tenth, the program's own does; what
 * leads nowhere comes last. */
static bool comes_first(const struct heap *h, const struct found *f, size_t a, size_t b)
{
	const struct suspect *one = &f->leaks.suspect[a], *other = &f->leaks.suspect[b];
	bool nowhere = leads_nowhere(h, one, &f->told[a]), other_nowhere = leads_nowhere(h, other, &f->told[b]);
	if (nowhere != other_nowhere)
		return other_nowhere;
	return is_own(h, one, &f->told[a]) && !is_own(h, other, &f->told[b]) &&
	    one->retained.n >= other->retained.n / 10 * 9;
}

/* order[i]: the number of the one to name then.  Holders come before a suspect, if there is one. */
static void order_found(const struct heap *h, const struct found *f, size_t *order)
{
	for (size_t i = 0; i < f->leaks.n && !progress_own_stops(i); i++) {
		size_t at = i;
		for (; at && comes_first(h, f, i, order[at - 1]); at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

static void add_rows(struct result *out, struct asking *q, const struct found *f, const size_t *order)
{
	struct text story = TEXT_INIT;
	for (size_t i = 0; i < f->leaks.n && !progress_own_stops(i); i++) {
		const struct told *told = &f->told[order[i]];
		add_row(out, q, &f->leaks.suspect[order[i]], told, order[i] < f->suspects ? "suspect" : "holder");
		if (f->suspects) { /* they tell a story below */
			text_add(&story, "\n");
			command_add_wrapped(&story, told->sentence.s, 78);
		}
	}
	if (story.len)
		out->text_below = arena_strndup(&out->arena, story.s, story.len);
	text_release(&story);
}

/* Of each that was found. */
static int tell(struct found *f, struct asking *q, struct err *err)
{
	int code = 0;
	f->told = xcalloc(f->leaks.n + 1, sizeof *f->told);
	for (; !code && f->n_told < f->leaks.n; f->n_told++)
		code = told_find(&f->told[f->n_told], q->s, &q->cut, &q->owner, &f->leaks.suspect[f->n_told], err);
	return code;
}

struct named {
	struct text name;
	size_t i; /* whose */
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name.s, ((const struct named *)b)->name.s);
}

/* Of two with one name, as a class has that several loaders loaded, whose it is. */
static void tell_loaders(struct found *f, const struct retained *r)
{
	size_t n = f->leaks.n;
	struct named *named = xcalloc(n + 1, sizeof *named);
	for (size_t i = 0; i < n; i++) {
		named[i] = (struct named){.i = i};
		text_add(&named[i].name, "");
		add_suspect_name(&named[i].name, r, &f->leaks.suspect[i], &f->told[i]);
	}
	sort_array(named, n, sizeof *named, compare_names);
	for (size_t i = 0; i < n && !progress_own_stops(i); i++)
		if ((i && !compare_names(&named[i - 1], &named[i])) ||
		    (i + 1 < n && !compare_names(&named[i], &named[i + 1])))
			told_add_loader(&f->told[named[i].i], r, &f->leaks.suspect[named[i].i]);
	for (size_t i = 0; i < n; i++)
		text_release(&named[i].name);
	free(named);
}

/* How each got where it is, by older dumps. */
static void tell_since(struct found *f, const struct since *since)
{
	for (size_t i = 0; i < f->leaks.n && !progress_own_stops(i); i++) {
		const struct suspect *one = &f->leaks.suspect[i];
		struct told *t = &f->told[i];
		since_add(since, one->piles_up, one->n, t->subject == one->piles_up ? "It" : "The accumulation point",
		    &t->sentence);
	}
}

enum {
	HOLDERS = 12,   /* rows where there is no suspect */
	OWN_HOLDERS = 3 /* where each suspect leads nowhere */
};

static int wanted_share(const struct call *call, double *share, struct err *err)
{
	int i = call_option(call, DASH_SHARE);
	char *end;
	*share = 10;
	if (!call->option[i].given)
		return 0;
	errno = 0;
	*share = strtod(call->option[i].word, &end);
	end += *end == '%';
	if (errno || end == call->option[i].word || *end || !(*share > 0 && *share <= 100))
		return err_set(err, ERR_USAGE, "not a percentage: \"%.40s\" (use a number above 0, at most 100)",
		    call->option[i].word);
	return 0;
}

/* alone: its rows are shown, not those of a command that asks for them. */
static void add_note(struct result *r, const struct leaks *leaks, bool found, double share, struct amount gos_own,
    bool alone)
{
	if (!found)
		result_notef(r, "nothing retains more than %g%% of the heap%s", share, leaks->n && alone ?
		    "; the rows are the largest holders" : "");
	if (leaks->vms_own.n > leaks->least) {
		struct text bytes = TEXT_INIT;
		struct cell cell = cell_bytes(leaks->vms_own);
		cell_print(&cell, &bytes);
		result_notef(r, "%s more is retained by roots of the VM itself; no program can clear them", bytes.s);
		text_release(&bytes);
	}
	if (gos_own.n) {
		struct text bytes = TEXT_INIT;
		struct cell cell = cell_bytes(gos_own);
		cell_print(&cell, &bytes);
		result_notef(r, "%s more is retained by Go's own tables; no program can clear them", bytes.s);
		text_release(&bytes);
	}
	command_add_roots_note(r);
}

/* Is it one of the tables of Go's runtime and library, and holds nothing of the program? */
static bool is_gos_own(const struct heap *h, struct what_if_owner *owner, uint32_t id)
{
	struct text name = TEXT_INIT;
	size_t first, n = heap_roots_of(h, id, &first), runtime = 0;
	bool any;
	if (!what_if_owner_internal(owner, id))
		return false;
	if (library_go_foreign(heap_class_of(h, id)->name, &any) || any)
		return !library_go_foreign(heap_class_of(h, id)->name, &any);
	for (size_t i = 0; i < n && !progress_own_stops(i); i++) {
		text_clear(&name);
		runtime += heap_symbol(h, h->roots[first + i].slot, &name) && library_go_runtime(name.s);
	}
	text_release(&name);
	return n && runtime == n;
}

/* *bytes: what those retain that are left out. */
static void leave_out_gos_own(const struct heap *h, struct leaks *leaks, struct what_if_owner *owner,
    struct amount *bytes)
{
	size_t kept = 0;
	for (size_t i = 0; h->java_lang_class == HEAP_NONE && i < leaks->n; i++) {
		struct suspect *one = &leaks->suspect[i];
		uint32_t member = 0, n = one->ids ? one->n : 1;
		while (member < n && !progress_own_stops(member) &&
		    is_gos_own(h, owner, one->ids ? one->ids[member] : one->id))
			member++;
		if (member < n) {
			leaks->suspect[kept++] = *one;
		} else {
			*bytes = amount_add(*bytes, one->retained);
			big_free(one->ids);
		}
	}
	if (h->java_lang_class == HEAP_NONE)
		leaks->n = kept;
}

static int find_suspects(struct found *f, struct asking *q, double share, struct err *err)
{
	const struct retained *r = opened_tree(q->s->dump);
	int code = leaks_find(&f->leaks, r, share, session_progress(q->s), err);
	if (!code)
		leave_out_gos_own(r->heap, &f->leaks, &q->owner, &f->gos_own);
	bool found = !code && f->leaks.n;
	if (!code && !found) {
		struct amount of_holders = amount_exact(0);
		leaks_release(&f->leaks);
		code = leaks_find_holders(&f->leaks, r, share, HOLDERS, session_progress(q->s), err);
		if (!code)
			leave_out_gos_own(r->heap, &f->leaks, &q->owner, &of_holders);
	}
	if (!code)
		code = leaks_size_groups(&f->leaks, r, session_progress(q->s), err);
	f->suspects = found ? f->leaks.n : 0;
	return code ? code : tell(f, q, err);
}

/* Is it one object, not among those found, and frees a reference that the program's authors know half of it? */
static bool is_own_holder(const struct found *f, const struct suspect *s, const struct told *t)
{
	bool known = s->retained.n > f->leaks.least || f->n_told >= f->suspects + OWN_HOLDERS;
	return !known && t->fame != FAME_NONE && !t->untold && t->freed.n >= s->retained.n / 2;
}

/* Where each suspect leads nowhere: the largest objects that references of the program hold, down to a quarter of the
 * share. */
static int add_own_holders(struct found *f, struct asking *q, double share, struct err *err)
{
	const struct retained *r = opened_tree(q->s->dump);
	struct leaks more = {.n = 0};
	for (size_t i = 0; i < f->leaks.n && !progress_own_stops(i); i++)
		if (!leads_nowhere(r->heap, &f->leaks.suspect[i], &f->told[i]))
			return 0;
	int code = f->suspects ? leaks_find(&more, r, share / 4, session_progress(q->s), err) : 0;
	f->told = xrealloc(f->told, f->n_told + more.n + 1, sizeof *f->told);
	for (size_t i = 0; !code && i < more.n; i++) {
		struct told *t = &f->told[f->n_told];
		if (more.suspect[i].ids)
			continue;
		code = told_find(t, q->s, &q->cut, &q->owner, &more.suspect[i], err);
		if (!code && is_own_holder(f, &more.suspect[i], t))
			code = BIG_ADD(f->leaks.suspect, f->leaks.n, f->leaks.cap, err, more.suspect[i]);
		else
			told_release(t);
		f->n_told = f->leaks.n;
	}
	for (size_t i = 0; i < f->n_told; i++) /* both lists may have moved */
		f->told[i].suspect = &f->leaks.suspect[i];
	leaks_release(&more); /* none that was taken over has members */
	return code;
}

static int find_all(struct found *f, struct result **out, struct asking *q, double share, struct err *err)
{
	int code = what_if_owner_init(&q->owner, opened_tree(q->s->dump), err);
	if (!code)
		code = what_if_init(&q->cut, opened_tree(q->s->dump), err);
	if (!code)
		code = find_suspects(f, q, share, err);
	if (!code)
		code = add_own_holders(f, q, share, err);
	if (!code)
		code = what_if_owner_check(&q->owner, err);
	struct result *r = *out = result_new_rows(f->suspects ? "leaks" : "leaks: no suspect, largest holders",
	    q->s->dump, &shape);
	if (!code)
		code = since_new(&q->since, q->s, err);
	size_t *order = xcalloc(f->leaks.n + 1, sizeof *order);
	if (!code) {
		tell_since(f, q->since);
		tell_loaders(f, q->cut.retained);
		order_found(session_heap(q->s), f, order);
		add_rows(r, q, f, order);
	}
	add_note(r, &f->leaks, f->suspects, share, f->gos_own, !q->s->asks);
	since_add_note(q->since, r);
	free(order);
	return code;
}

static int run_leaks(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct asking q = {.s = s};
	struct found f = {.gos_own = amount_exact(0)};
	double share;
	bool asked = call_has(call, DASH_SHARE);
	int code = wanted_share(call, &share, err);
	if (!code)
		code = session_find(s, FIND_TREE, err);
	if (code)
		return code;
	if (session_heap(s)->roots_missing) { /* no suspect has a meaning, and none is no answer either */
		*out = result_new_rows("leaks", s->dump, &shape);
		command_add_roots_note(*out);
		result_mark(*out, RESULT_LACKS_ROWS, true);
		result_mark(*out, RESULT_FAILED, asked);
		return 0;
	}
	code = find_all(&f, out, &q, share, err);
	what_if_release(&q.cut);
	what_if_owner_release(&q.owner);
	since_free(q.since);
	result_mark(*out, RESULT_FAILED, !f.suspects && asked); /* so much was looked for */
	result_show(*out, L_POINT, f.suspects);
	result_show(*out, L_FIELD, !f.suspects);
	result_show(*out, L_REFERENCE, !f.suspects);
	if (s->finds_beside) /* where the story does not stand below */
		result_show(*out, L_SENTENCE, true);
	found_release(&f);
	return code;
}

static const struct option_spec options[] = {
    {DASH_SHARE, OPT_COLUMN, "N", "least percent of the heap (default 10)"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

const struct command cmd_leaks = {
    .name = "leaks",
    .options = options,
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_NEEDS_RETAINED | COMMAND_COMPARES,
    .group = "references and retained sizes",
    .summary = "find leak suspects and the references to clear",
    .shapes = SHAPES(&shape),
    .description = "A suspect is an object at the top of the dominator tree that retains more than -share of the "
	"reachable heap. It may also be a group of objects of one class. Weak, final and phantom references hold "
	"nothing (unless set weak on).\n"
	"accumulated_in\taccumulation point: below it no single object retains nearly all\n"
	"path\tshortest strong path to the accumulation point\n"
	"reference\tthe reference on it to clear, as an argument of cut; two or three if only several free it or most of "
	"it\n"
	"freed\twhat clearing it frees, exact; 0 if other references hold it\n"
	"kind\tsuspect, or holder if there is no suspect\n"
	"name\treference as people say it; a group, or what no reference frees half of, by its class\n"
	"name_retained\twhat the object that the name means retains; retained is of address\n"
	"Classes and class loaders with several suspects below are not suspects themselves, nor are roots of the VM and "
	"tables of Go's own. Of two that retain about the same the program's own comes first. A group of the JDK's "
	"objects that no reference frees comes last; alone, the program's largest holders come before it. "
	"With older dumps (cairn OLD... DUMP) the sentence also says how the suspect grew. -share: exit status 1 "
	"without a suspect.",
    .examples = {{"leaks", ON_ANY, "which references keep most of the heap?"},
	{"leaks -share 5", ON_ANY, "also suspects from 5% of the heap on"}},
    .key = "K",
    .run = run_leaks,
};
