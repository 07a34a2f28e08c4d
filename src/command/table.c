/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.c - all commands in the order of help, and what they share.
 */
#include "command/commands.h"

#include "analysis/class_tree.h"
#include "command/parse/parse.h"
#include "command/query/query.h"
#include "heap/heap.h"
#include "heap/roots.h"
#include "heap/weak.h"
#include "memory/big.h"
#include "result/tree.h"
#include "command/resolve/resolve.h"

#include <string.h>

const struct command *const commands[] = {
#define COMMAND(name) &cmd_##name,
    COMMANDS(COMMAND)
#undef COMMAND
    NULL};

int (*const command_keep_rows)(struct session *, struct result *, const char *, struct err *) = query_keep_rows;

static unsigned add_once(enum column_id *to, unsigned n, enum column_id column)
{
	for (unsigned i = 0; i < n; i++) {
		if (!strcmp(column_kinds[to[i]].word, column_kinds[column].word))
			return n;
	}
	to[n] = column;
	return n + 1;
}

unsigned command_columns(const struct command *c, bool heads, enum column_id *to)
{
	unsigned n = 0;
	for (size_t k = 0; heads && c->shapes && c->shapes[k]; k++) {
		for (unsigned i = 0; i < c->shapes[k]->n_head; i++)
			n = add_once(to, n, c->shapes[k]->head[i]);
	}
	for (size_t k = 0; c->shapes && c->shapes[k]; k++) {
		for (unsigned i = 0; i < c->shapes[k]->n_columns; i++)
			n = add_once(to, n, c->shapes[k]->columns[i].id);
	}
	return n;
}

static int order_rows(struct result **r, const void *context, struct err *err)
{
	return result_sort(*r, *(const unsigned *)context, true, err);
}

int command_order(const struct session *s, struct result *r, enum column_id column, struct err *err)
{
	unsigned at = (unsigned)result_column_of(r, column);
	if (column == COL_RETAINED && result_is_late(r)) { /* the order needs the sums of rows now */
		int code = result_find_late(r, session_progress(s), err);
		result_take_late(r, code);
		if (code)
			return code;
	}
	return session_on_rows(s, &r, order_rows, &at, err);
}

void command_add_roots_note(struct result *r)
{
	const struct heap *h = r->heap;
	struct text note = TEXT_INIT;
	if (r->opened->counts_weak && weak_known(h))
		text_add(&note, "weak, final and phantom references hold, too, as in Eclipse MAT (set weak on)");
	if ((h->n_inferred_roots || h->roots_missing) && note.len)
		text_add(&note, "; ");
	if (h->roots_missing)
		text_add(&note, "? the GC roots are in the part that was not read: what is reachable and what objects "
		    "retain is unknown");
	else if (heap_roots_were_inferred(h))
		text_add(&note, "~ roots were inferred when cairn exported the dump: an object that nothing references "
		    "counts as a root, so garbage counts as reachable");
	else if (h->n_inferred_roots && h->facts.locals_inferred)
		text_add(&note, "~ local variables are inferred: each word of a stack that is the address of an object "
		    "counts");
	else if (h->n_inferred_roots && h->facts.roots_recorded)
		text_add(&note, "~ no system class is among the dump's roots: those of the boot loader are taken");
	else if (h->n_inferred_roots)
		text_addf(&note, "~ roots are inferred (%s records none): an object that nothing references counts as a "
		    "root, so garbage counts as reachable", h->facts.title);
	if (h->incomplete && h->facts.roots_recorded && !h->roots_missing) {
		text_addf(&note, "%s~ roots may be in the part that was not read: what they hold counts as garbage "
		    "here", note.len ? "; " : "");
	}
	if (note.len)
		result_add_note(r, note.s);
	text_release(&note);
}

struct cell command_share(const struct retained *r, struct amount bytes)
{
	return cell_percent(bytes, retained_of_all(r));
}

struct cell command_retained_sum(const struct opened *o, const struct retained_sum *sum)
{
	const struct retained *r = opened_class_sums(o);
	return r ? cell_bytes(retained_sum_bytes(r, sum)) : cell_unknown(REASON_NOT_FOUND_YET);
}

struct cell command_retained_members(const struct opened *o, struct amount objects, const struct retained_sum *sum)
{
	const struct retained *r = opened_class_sums(o);
	return r ? cell_bytes(retained_of_members(r, objects.n, sum)) : cell_unknown(REASON_NOT_FOUND_YET);
}

int command_reach(const struct call *call, enum reach_wish *out, struct err *err)
{
	bool live = call_has(call, DASH_LIVE);
	bool dead = call_has(call, DASH_DEAD);
	*out = live ? REACH_LIVE : dead ? REACH_DEAD : REACH_ALL;
	return live && dead ? err_set(err, ERR_USAGE, "-live and -dead leave nothing") : 0;
}

static int keep_reached(const struct session *s, enum reach_wish wish, uint32_t *ids, size_t *n, struct err *err)
{
	size_t kept = 0;
	int code = wish == REACH_ALL ? 0 : session_find(s, FIND_REACHABLE, err);
	if (code || wish == REACH_ALL)
		return code;
	const struct reachable *reach = opened_reachable(s->dump);
	for (size_t i = 0; i < *n; i++) {
		if (progress_stops(session_progress(s), i))
			return err_cancelled(err);
		if (bits_get(&reach->objects, ids[i]) == (wish == REACH_LIVE))
			ids[kept++] = ids[i];
	}
	*n = kept;
	return 0;
}

static int keep_of_heap(const struct session *s, const struct call *call, uint32_t *ids, size_t *n, struct err *err)
{
	unsigned space;
	size_t kept = 0;
	if (!call_has(call, DASH_HEAP))
		return 0;
	int code = value_heap(s, call_word(call, DASH_HEAP), &space, err);
	for (size_t i = 0; !code && i < *n; i++) {
		if (progress_stops(session_progress(s), i))
			return err_cancelled(err);
		if (session_heap(s)->space_of[ids[i]] == space)
			ids[kept++] = ids[i];
	}
	*n = kept;
	return code;
}

int command_narrow(struct session *s, const struct call *call, uint32_t **ids, size_t *n, struct err *err)
{
	enum reach_wish wish;
	int code = command_reach(call, &wish, err);
	if (!code)
		code = keep_reached(s, wish, *ids, n, err);
	if (!code)
		code = keep_of_heap(s, call, *ids, n, err);
	if (!code)
		code = ask_where(s, call, *ids, n, err);
	*ids = big_fit(*ids, *n, sizeof **ids);
	return code;
}

static int instances(const struct heap *h, const struct call *call, uint32_t **ids, size_t *n, struct err *err)
{
	size_t n_classes = call->argument[0].n_ids;
	uint32_t *classes = big_alloc(n_classes, sizeof *classes, err);
	int code = classes ? 0 : ERR_NOMEM;
	for (size_t i = 0; classes && i < n_classes; i++)
		classes[i] = call->argument[0].ids[i];
	if (!code && call_has(call, DASH_SUB))
		code = class_tree_add_below(h, &classes, &n_classes, err);
	*ids = code ? NULL : objects_of_classes(h, classes, n_classes, n, err);
	big_free(classes);
	return code || *ids ? code : ERR_NOMEM;
}

int command_objects(const struct session *s, const struct call *call, uint32_t **ids, size_t *n, struct err *err)
{
	const struct heap *h = session_heap(s);
	bool given = call->argument[0].given;
	if (given && !call->argument[0].objects)
		return instances(h, call, ids, n, err);
	*n = given ? call->argument[0].n_ids : h->n_objects;
	*ids = big_alloc(*n, sizeof **ids, err);
	for (size_t i = 0; *ids && i < *n; i++)
		(*ids)[i] = given ? call->argument[0].ids[i] : (uint32_t)i;
	return *ids ? 0 : ERR_NOMEM;
}

/* Could this word name what rows retain, in some form of the command's results? */
static bool names_retained(const struct command *c, const char *word)
{
	for (size_t k = 0; c->shapes && c->shapes[k]; k++) {
		const struct shape *shape = c->shapes[k];
		int at = column_find(shape->columns, shape->n_columns, word);
		if (at >= 0 && shape->columns[at].id == COL_RETAINED)
			return true;
	}
	return false;
}

static bool retained_is_wanted(const struct call *call)
{
	const char *word = call_word(call, DASH_SORT);
	return call_has(call, DASH_RETAINED) ||
	    (word && names_retained(call->command, word + (*word == '-' || *word == '+')));
}

int command_retained(struct session *s, const struct call *call, struct err *err)
{
	return retained_is_wanted(call) ? session_find(s, FIND_RETAINED, err) : 0;
}

int command_class_sums(struct session *s, const struct call *call, bool of_classes, struct err *err)
{
	bool sums = of_classes && opened_has_class_sums(s->dump);
	return !retained_is_wanted(call) ? 0 : session_find(s, sums ? FIND_CLASS_SUMS : FIND_RETAINED, err);
}

void command_retained_beside(const struct session *s)
{
	if (!s->finds_beside)
		(void)!session_find(s, FIND_RETAINED, NULL); /* what asked goes on without them */
}

int command_before_stage(struct session *s, struct result *r, const struct stage *stage,
    struct err *err)
{
	if (stage->n != 2 || strcmp(stage->words[0].s, "sort"))
		return 0;
	const char *word = stage->words[1].s;
	int column = result_column(r, word + (*word == '-' || *word == '+'));
	if (column < 0 || r->columns[column].id != COL_RETAINED)
		return 0;
	return command_find_retained(s, r, err);
}

int command_find_retained(struct session *s, struct result *r, struct err *err)
{
	int code = session_find(s, FIND_RETAINED, err);
	if (!code)
		command_show_retained(r);
	if (!code && result_is_late(r)) {
		code = result_find_late(r, session_progress(s), err);
		result_take_late(r, code);
	}
	return code;
}

static void show_retained(struct result *r, const struct retained *known)
{
	int column = result_column_of(r, COL_RETAINED);
	if (column >= 0 && !r->arranged && !r->chosen && known)
		result_show(r, (unsigned)column, true);
}

void command_show_retained(struct result *r)
{
	show_retained(r, opened_tree(r->opened));
}

void command_show_class_sums(struct result *r)
{
	show_retained(r, opened_class_sums(r->opened));
}

uint32_t command_depth(const struct call *call, uint32_t otherwise)
{
	uint64_t depth = call_number(call, DASH_DEPTH, otherwise);
	return depth < TREE_ALL ? (uint32_t)depth : TREE_ALL;
}

uint32_t command_at_once(const struct session *s)
{
	return s->interactive ? 1000 : 0;
}
