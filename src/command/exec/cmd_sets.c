/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_sets.c - sets: the objects that were kept. */
#include "command/commands.h"

#include "base/amount.h"
#include "command/resolve/resolve.h"
#include "heap/amounts.h"
#include "result/result.h"

#include <stdlib.h>

enum { SETS_NAME, SETS_OBJECTS, SETS_SHALLOW, SETS_RETAINED, SETS_COLUMNS };

static const struct column sets_columns[SETS_COLUMNS] = {
    [SETS_NAME] = {.id = COL_NAME},
    [SETS_OBJECTS] = {.id = COL_OBJECTS},
    [SETS_SHALLOW] = {.id = COL_SHALLOW},
    [SETS_RETAINED] = {.id = COL_RETAINED, .hidden = true},
};
static const struct shape sets_shape = {SHAPE_COLUMNS(sets_columns)};

/* The names are the result's; the sets may have been replaced meanwhile. */
static int sets_members(const struct result *r, void *data, const struct bits *rows, struct bits *to,
    struct err *err)
{
	const struct session *s = data;
	(void)err;
	for (size_t row = 0; row < r->n_source; row++) {
		struct cell name = cell_none();
		if (!bits_get(rows, row))
			continue;
		r->ops->cell(r, row, SETS_NAME, &name, NULL);
		const struct kept_set *set = set_find(s, name.text);
		for (size_t i = 0; set && i < set->n; i++)
			bits_set(to, set->ids[i]);
	}
	return 0;
}

static struct cell shallow_of(const struct heap *h, const struct kept_set *set)
{
	struct amount bytes = heap_size_of(h, set->ids, set->n);
	return cell_bytes(amount_as_sure(bytes, heap_count_of(h, set->ids, set->n)));
}

static int run_sets(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	struct text name = TEXT_INIT, command = TEXT_INIT;
	bool wanted = call_has(call, DASH_RETAINED);
	int code = 0;
	struct result *r = *out = result_new_rows("kept sets", s->dump, &sets_shape);
	if (wanted)
		code = session_find(s, FIND_REFERENCES, err);
	for (size_t i = 0; !code && i < s->dump->n_sets; i++) {
		const struct kept_set *set = &s->dump->sets[i];
		struct cell retained = cell_unknown(REASON_NOT_FOUND_YET);
		struct amount objects, bytes;
		if (wanted)
			code = command_set_retained(s, set->ids, set->n, &objects, &bytes, err);
		if (wanted && !code)
			retained = cell_bytes(bytes);
		text_clear(&name);
		text_addf(&name, "$%s", set->name);
		text_clear(&command);
		text_addf(&command, "ls $%s", set->name);
		result_add_row(r, (struct cell[SETS_COLUMNS]){
		    [SETS_NAME] = cell_text(name.s),
		    [SETS_OBJECTS] = cell_count(heap_count_of(h, set->ids, set->n)),
		    [SETS_SHALLOW] = shallow_of(h, set),
		    [SETS_RETAINED] = retained},
		    &(struct target){.kind = TARGET_GROUP, .command = command.s});
	}
	text_release(&name);
	text_release(&command);
	result_rows_members(r, sets_members, NULL, s);
	result_show(r, SETS_RETAINED, wanted);
	r->note = s->dump->n_sets ? NULL : "no kept sets yet ($name = COMMAND keeps the objects of a result's rows)";
	return code;
}

const struct command cmd_sets = {
    .name = "sets",
    .options = OPTIONS({DASH_RETAINED, OPT_FLAG, NULL, "compute the retained size of each"}),
    .flags = COMMAND_OBJECTS_ONLY | COMMAND_OF_SESSION,
    .group = "session",
    .summary = "list the kept sets of objects",
    .shapes = SHAPES(&sets_shape),
    .description = "$name = COMMAND keeps the objects that the rows of a result count, $name = SET those of a set. "
	"-retained computes what each set retains, by a walk through the heap. A SET is one of these, or several "
	"joined by + (union), - (difference) and & (intersection, binds closest), with blanks around them, and "
	"parentheses: size ( $a + %3 ) & char[].\n"
	"0xADDRESS\tan object\n"
	"CLASS\ta class pattern\n"
	"%N, %2-5, %1,4\texactly the objects that these rows count\n"
	"$name, $_\ta kept set; the last result's objects\n"
	"heap:app\tAndroid's heap of this name",
    .examples = {{"$sessions = com.acme.shop.Session", ON_SHOP, "keep all objects of a class"},
	{"$texts = ls byte[] -min 512", ON_SHOP, "keep the objects of a result"},
	{"sets -retained", ON_SHOP, "what each kept set retains"},
	{"size ( $sessions + $texts )", ON_SHOP, "what both retain together"}},
    .run = run_sets,
};
