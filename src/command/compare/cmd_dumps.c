/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_dumps.c - dumps: which dumps the session knows, and which of them is at hand. */
#include "command/compare/comparing.h"

#include "base/text.h"
#include "command/session/session.h"

#include <string.h>
#include <sys/stat.h>

static const struct column columns[] = {
    {.id = COL_NUMBER},
    {.id = COL_FILE},
    {.id = COL_FORMAT},
    {.id = COL_CREATED},
    {.id = COL_FILE_SIZE, .hidden = true},
    {.id = COL_OBJECTS},
    {.id = COL_SHALLOW},
    {.id = COL_STATE},
    {.id = COL_DAMAGE},
};
enum { N_COLUMNS = sizeof columns / sizeof *columns };
static const struct shape shape = {SHAPE_COLUMNS(columns)};

static struct cell file_size(const char *path)
{
	struct stat st;
	return stat(path, &st) ? cell_none() : cell_bytes(amount_exact((uint64_t)st.st_size));
}

static const char *state_of(const struct session *s, const struct session_dump *d)
{
	if (d->opened)
		return d->opened == s->dump ? "at hand" : "open";
	return d->code ? "unreadable" : d->is_profile ? "profile" : d->read ? "closed" : "not read";
}

/* Each row is of a dump of its own. */
static bool its_own(const struct result *r, size_t row, unsigned column, enum reason reason, size_t dump)
{
	(void)r, (void)column, (void)reason;
	return row == dump;
}

/* Why is to name them. */
static void name_dumps(struct result *r, const struct session *s)
{
	struct result_dumps *dumps = arena_alloc(&r->arena, sizeof *dumps);
	const char **name = arena_alloc(&r->arena, s->n_dumps * sizeof *name);
	struct text one = TEXT_INIT;
	*dumps = (struct result_dumps){.n = s->n_dumps, .own = s->n_dumps, .name = name, .blamed = its_own};
	for (size_t i = 0; i < s->n_dumps; i++) {
		text_clear(&one);
		comparing_name(s->dumps[i]->number, s->dumps[i]->path, &one);
		name[i] = arena_strndup(&r->arena, one.s, one.len);
		if (s->dump && s->dumps[i]->opened == s->dump)
			dumps->own = i;
	}
	text_release(&one);
	r->dumps = dumps;
}

/* What is open tells itself, of the others their profiles do. */
static void tell_contents(const struct session_dump *d, struct cell *format, struct cell *objects, struct cell *shallow)
{
	const struct heap *h = d->opened ? d->opened->heap : NULL;
	if (h) {
		*format = cell_text(h->facts.title);
		*objects = cell_count(heap_counted(h, h->n_objects));
		*shallow = cell_bytes(heap_sized(h, heap_counted(h, h->shallow), h->n_unknown_size));
	} else if (d->read && !d->code) {
		*format = cell_text(d->profile.title);
		*objects = cell_count(d->profile.objects);
		*shallow = cell_bytes(d->profile.shallow);
	}
}

static void add_dump(struct result *r, const struct session *s, const struct session_dump *d)
{
	struct text path = TEXT_INIT, damage = TEXT_INIT, command = TEXT_INIT;
	struct cell format = cell_none(), objects = cell_none(), shallow = cell_none();
	const char *created = session_created(d);
	tell_contents(d, &format, &objects, &shallow);
	text_add_escaped(&path, d->path, strlen(d->path));
	if (d->opened && d->opened->heap->damaged)
		text_add(&damage, d->opened->heap->damage.message);
	else if (!d->opened && d->code)
		text_add_escaped(&damage, d->err.message, strlen(d->err.message));
	else if (!d->opened && d->read && profile_in_part(&d->profile))
		text_add(&damage, "it was read in part");
	text_addf(&command, "use %zu", d->number);
	struct cell cells[N_COLUMNS] = {cell_plain(d->number), cell_text(path.s), format,
	    *created ? cell_text(created) : cell_none(), file_size(d->path), objects, shallow,
	    cell_text(state_of(s, d)), damage.len ? cell_text(damage.s) : cell_blank()};
	result_add_row(r, cells, &(struct target){.kind = TARGET_COMMAND, .command = command.s});
	text_release(&path);
	text_release(&damage);
	text_release(&command);
}

static int run_dumps(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	int code = 0;
	(void)call;
	for (size_t i = 0; !code && i < s->n_dumps; i++)
		if (!s->dumps[i]->opened)
			code = session_read_profile(s, s->dumps[i], err);
	if (code)
		return code;
	struct result *r = result_new_rows("dumps", s->dump, &shape);
	for (size_t i = 0; i < s->n_dumps; i++)
		add_dump(r, s, s->dumps[i]);
	name_dumps(r, s);
	struct text same = TEXT_INIT;
	comparing_add_same(s->dumps, s->n_dumps, &same);
	if (same.len)
		result_add_note(r, same.s);
	text_release(&same);
	*out = r;
	return 0;
}

const struct command cmd_dumps = {
    .name = "dumps",
    .flags = COMMAND_OBJECTS_ONLY | COMMAND_OF_PROFILES | COMMAND_COMPARES,
    .group = "compare",
    .summary = "the dumps of this session, and which of them is at hand",
    .shapes = SHAPES(&shape),
    .description = "The dumps of the command line (cairn OLD... DUMP) and those that open added, the oldest first. "
	"Commands are about the one whose state is at hand, at first the last one; use N goes to another one (Enter on "
	"its row), and close N gives the memory of one that is open back. Of those that are closed only what diff and "
	"growth need is kept. A profile may stand for any of them (profile FILE); it has no objects to look at. One "
	"that cannot be read says why under damage, and is left out of comparisons; growth leaves out older ones that were "
	"read in part.",
    .examples = {{"dumps", ON_SERIES}},
    .key = "",
    .run = run_dumps,
};
