/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_dumps.c - dumps: the dump at hand and the older ones. */
#include "command/commands.h"

#include "base/text.h"
#include "command/session/session.h"

#include <string.h>

static const struct column columns[] = {
    {.id = COL_NUMBER},
    {.id = COL_FILE},
    {.id = COL_FORMAT},
    {.id = COL_CREATED},
    {.id = COL_OBJECTS},
    {.id = COL_SHALLOW},
    {.id = COL_DAMAGE},
};
static const struct shape shape = {SHAPE_COLUMNS(columns)};

static void add_older(struct result *r, size_t number, const struct older_dump *d)
{
	struct text path = TEXT_INIT, damage = TEXT_INIT;
	const struct profile *p = &d->profile;
	text_add_escaped(&path, d->path, strlen(d->path));
	text_add_escaped(&damage, d->err.message, strlen(d->err.message));
	result_add_row(r, (struct cell[]){cell_plain(number), cell_text(path.s),
	    d->code ? cell_none() : cell_text(p->title), d->code || !*p->created ? cell_none() : cell_text(p->created),
	    d->code ? cell_none() : cell_count(p->objects), d->code ? cell_none() : cell_bytes(p->shallow),
	    d->code ? cell_text(damage.s) : cell_blank()},
	    &(struct target){.kind = TARGET_NONE});
	text_release(&path);
	text_release(&damage);
}

static void add_newest(struct result *r, size_t number, const struct heap *h)
{
	struct text path = TEXT_INIT;
	text_add_escaped(&path, h->source->path, strlen(h->source->path));
	result_add_row(r, (struct cell[]){cell_plain(number), cell_text(path.s), cell_text(h->facts.title),
	    *h->facts.created ? cell_text(h->facts.created) : cell_none(), cell_count(heap_counted(h, h->n_objects)),
	    cell_bytes(heap_sized(h, heap_counted(h, h->shallow), h->n_unknown_size)),
	    h->damaged ? cell_text(h->damage.message) : cell_blank()},
	    &(struct target){.kind = TARGET_NONE});
	text_release(&path);
}

static int run_dumps(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	(void)call;
	int code = session_read_older(s, err);
	if (code)
		return code;
	struct result *r = result_new_rows("dumps", s->dump, &shape);
	for (size_t i = 0; i < s->n_older; i++)
		add_older(r, i + 1, &s->older[i]);
	if (session_heap(s))
		add_newest(r, s->n_older + 1, session_heap(s));
	*out = r;
	return 0;
}

const struct command cmd_dumps = {
    .name = "dumps",
    .flags = COMMAND_OBJECTS_ONLY | COMMAND_OF_PROFILES,
    .group = "compare",
    .summary = "this dump and the older ones named before it",
    .shapes = SHAPES(&shape),
    .description = "The dumps of the command line (cairn OLD... DUMP), the oldest first. Commands are about the last "
	"one; of the others only what diff and growth need is kept. A profile may stand for any of them (profile FILE); "
	"where one stands last there are no objects to look at. One that cannot be read says why under damage, and "
	"is left out of comparisons.",
    .examples = {{"dumps", ON_SERIES}},
    .key = "",
    .run = run_dumps,
};
