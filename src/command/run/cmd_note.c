/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_note.c - note: words of the user's own about an object. */
#include "command/commands.h"

#include <string.h>

static const struct column note_columns[] = {
    {.id = COL_ADDRESS},
    {.id = COL_CLASS},
    {.id = COL_TEXT},
};
static const struct shape note_shape = {SHAPE_COLUMNS(note_columns)};

static struct result *list_notes(const struct session *s)
{
	const struct heap *h = session_heap(s);
	struct result *r = result_new_rows("notes", s->dump, &note_shape);
	for (size_t i = 0; i < s->dump->n_notes; i++) {
		const struct note *note = &s->dump->notes[i];
		uint32_t class = heap_class_mirrored(h, note->id);
		struct text name = TEXT_INIT;
		text_addf(&name, "%s%s", class == HEAP_NONE ? "" : "class ", class == HEAP_NONE
		    ? heap_class_of(h, note->id)->name : h->classes[class].name);
		result_add_row(r, (struct cell[]){cell_address(heap_address(h, note->id)), cell_text(name.s),
		    cell_text(note->text)}, &(struct target){.kind = TARGET_OBJECT, .id = note->id});
		text_release(&name);
	}
	r->note = s->dump->n_notes ? NULL : "none yet: note OBJ TEXT writes one";
	return r;
}

static int run_note(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	*out = NULL;
	if (!s->dump)
		return err_set(err, ERR_USAGE, "no dump is open (cairn DUMP)");
	bool writes = call->argument[0].given;
	const char *text = call->argument[1].given ? call->argument[1].word : "";
	if (writes)
		opened_write_note(s->dump, call->argument[0].id, *text ? text : NULL);
	if (!writes || !s->interactive) /* the screen shows it where one stands */
		*out = list_notes(s);
	return 0;
}

const struct command cmd_note = {
    .name = "note",
    .arguments = {{ARG_OBJECT, "OBJ", true}, {ARG_REST, "TEXT", true}},
    .flags = COMMAND_NO_DUMP,
    .group = "session",
    .summary = "words of your own about an object, or all of them",
    .shapes = SHAPES(&note_shape),
    .description = "The screen shows them whenever the object is selected; of a class's row they are those of the "
	"class's object. note . TEXT is about what the page is about, else about its selected row. Without TEXT "
	"the note goes. On the screen notes are kept for the next time that this dump is opened, with marks (the key "
	"m) and kept sets.",
    .examples = {{"note com.acme.shop.Shop holds it all", ON_SHOP}},
    .key = "",
    .run = run_note,
};
