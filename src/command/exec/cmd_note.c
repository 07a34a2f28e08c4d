/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_note.c - note: words of the user's own about an object. */
#include "command/commands.h"

#include "result/objects.h"

#include <inttypes.h>
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
	struct text name = TEXT_INIT;
	for (size_t i = 0; i < s->dump->n_notes; i++) {
		const struct note *note = &s->dump->notes[i];
		object_class_words(h, note->id, &name);
		result_add_row(r, (struct cell[]){cell_address(heap_address(h, note->id)), cell_text(name.s),
		    cell_text(note->text)}, &(struct target){.kind = TARGET_OBJECT, .id = note->id});
	}
	text_release(&name);
	r->note = s->dump->n_notes ? NULL : "no notes yet (note OBJ TEXT writes one)";
	return r;
}

/* "com.acme.shop.Order 0xe00340b8 is noted: TEXT" */
static void write_note(struct session *s, uint32_t id, const char *text)
{
	const struct heap *h = session_heap(s);
	bool had = opened_note(s->dump, id) != NULL;
	struct text what = TEXT_INIT;
	object_class_words(h, id, &what);
	text_addf(&what, " 0x%" PRIx64, heap_address(h, id));
	opened_write_note(s->dump, id, *text ? text : NULL);
	if (*text)
		session_say(s, "the note on %s is%s: %s", what.s, had ? " now" : "", text);
	else
		session_say(s, had ? "removed the note on %s" : "%s has no note (add a text to write one)", what.s);
	text_release(&what);
}

static int run_note(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	if (!s->dump)
		return session_no_dump(s, err);
	bool writes = call->argument[0].given;
	const char *text = call->argument[1].given ? call->argument[1].word : "";
	if (writes)
		write_note(s, call->argument[0].id, text);
	if (!writes || !s->interactive) /* the screen shows it where one stands */
		*out = list_notes(s);
	if (*out && writes) {
		result_add_note(*out, s->lines.said.s);
		text_clear(&s->lines.said);
	}
	return 0;
}

const struct command cmd_note = {
    .name = "note",
    .arguments = {{ARG_OBJECT, "OBJ", true}, {ARG_REST, "TEXT", true}},
    .flags = COMMAND_NO_DUMP | COMMAND_SAVED,
    .group = "session",
    .summary = "write a note about an object, or list all notes",
    .shapes = SHAPES(&note_shape),
    .description = "The screen shows the note when the object or the row of the class is selected. It keeps notes for "
	"the next time, with marks (the key m) and kept sets.\n"
	"note\tlists all notes\n"
	"note OBJ TEXT\tkeeps a note about the object; of a class, about its class object\n"
	"note OBJ\tremoves the note\n"
	"note . TEXT\tis about the object of the page, else about the selected row",
    .examples = {{"note com.acme.shop.Shop holds it all", ON_SHOP, "a note about a class object"},
	{"note", ON_SHOP, "all notes"}},
    .run = run_note,
};
