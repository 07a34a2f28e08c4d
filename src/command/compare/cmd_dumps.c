/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_dumps.c - dumps: which dumps the session knows, and which of them is current. */
#include "command/compare/comparing.h"

#include "base/files.h"
#include "base/mem.h"
#include "base/text.h"
#include "command/session/session.h"
#include "dump/source/source.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "result/result.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
	D_NUMBER, D_FILE, D_FORMAT, D_CREATED, D_FILE_SIZE, D_OBJECTS, D_SHALLOW, D_STATE, D_DAMAGE, D_TAG, D_COLUMNS
};

static const struct column columns[D_COLUMNS] = {
    [D_NUMBER] = {.id = COL_NUMBER},
    [D_FILE] = {.id = COL_FILE},
    [D_FORMAT] = {.id = COL_FORMAT},
    [D_CREATED] = {.id = COL_CREATED},
    [D_FILE_SIZE] = {.id = COL_FILE_SIZE, .hidden = true},
    [D_OBJECTS] = {.id = COL_OBJECTS},
    [D_SHALLOW] = {.id = COL_SHALLOW},
    [D_STATE] = {.id = COL_STATE},
    [D_DAMAGE] = {.id = COL_DAMAGE},
    [D_TAG] = {.id = COL_TAG, .hidden = true},
};
static const struct shape shape = {SHAPE_COLUMNS(columns)};

static struct cell file_size(const char *path)
{
	struct stat st;
	return file_stat(path, &st) ? cell_none() : cell_bytes(amount_exact((uint64_t)st.st_size));
}

static const char *state_of(const struct session *s, const struct session_dump *d)
{
	if (d->opened)
		return d->opened == s->dump ? "current" : "open";
	if (d->code || (!d->read && d->listed && d->listed->why.code))
		return "unreadable";
	if (d->is_profile || d->read || d->was_open)
		return d->is_profile ? "profile" : "closed";
	return d->listed && d->listed->grows ? "growing" : "not read";
}

static struct cell tag_of(const struct session_dump *d)
{
	return d->tagged ? cell_text("*") : cell_blank();
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
		*shallow = cell_bytes(heap_size_of_all(h));
	} else if (d->read && !d->code) {
		*format = cell_text(d->profile.title);
		*objects = cell_count(d->profile.objects);
		*shallow = cell_bytes(d->profile.shallow);
	} else if (d->was_open) {
		*objects = cell_count(d->objects);
		*shallow = cell_bytes(d->shallow);
	} else if (d->listed && d->listed->told) {
		*objects = cell_count(d->listed->objects);
		*shallow = cell_bytes(d->listed->shallow);
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
		text_add(&damage, "read in part");
	text_addf(&command, "use %zu", d->number);
	struct cell cells[D_COLUMNS] = {
	    [D_NUMBER] = cell_plain(d->number),
	    [D_FILE] = cell_text(path.s),
	    [D_FORMAT] = format,
	    [D_CREATED] = *created ? cell_text(created) : cell_none(),
	    [D_FILE_SIZE] = file_size(d->path),
	    [D_OBJECTS] = objects,
	    [D_SHALLOW] = shallow,
	    [D_STATE] = cell_text(state_of(s, d)),
	    [D_DAMAGE] = damage.len ? cell_text(damage.s) : cell_blank(),
	    [D_TAG] = tag_of(d)};
	result_add_row(r, cells, &(struct target){.kind = TARGET_COMMAND, .command = command.s});
	text_release(&path);
	text_release(&damage);
	text_release(&command);
}

/* --- the dumps in a folder ------------------------------------------------------------------------ */

enum { F_NUMBER, F_TAG, F_FILE, F_FORMAT, F_CREATED, F_FILE_SIZE, F_OBJECTS, F_SHALLOW, F_STATE, F_DAMAGE };

static const struct column folder_columns[] = {
    [F_NUMBER] = {.id = COL_NUMBER},
    [F_TAG] = {.id = COL_TAG},
    [F_FILE] = {.id = COL_FILE, .room = COLUMN_LAST},
    [F_FORMAT] = {.id = COL_FORMAT, .room = COLUMN_EARLY},
    [F_CREATED] = {.id = COL_CREATED, .room = COLUMN_LATE},
    [F_FILE_SIZE] = {.id = COL_FILE_SIZE, .room = COLUMN_LATE},
    [F_OBJECTS] = {.id = COL_OBJECTS, .room = COLUMN_EARLY},
    [F_SHALLOW] = {.id = COL_SHALLOW},
    [F_STATE] = {.id = COL_STATE},
    [F_DAMAGE] = {.id = COL_DAMAGE, .room = COLUMN_EARLY},
};
static const struct shape folder_shape = {.form = "of a directory", SHAPE_COLUMNS(folder_columns)};

/* Rows are made when somebody looks: what becomes known of a dump stands in its row at once. */
struct folder_rows {
	const struct session *s;
	struct session_dump **dump; /* the newest first: one is wanted most often just after it was written; owned */
	struct text line;
};

/* Below these widths some columns are shorter or hidden, so that a file's name and its state still fit. */
enum { ROOM_FOR_TIME = 100, ROOM_FOR_DAMAGE = 140 }; /* columns */

static bool is_narrow(const struct session *s, unsigned room)
{
	return s->interactive && s->settings.print.width < room;
}

/* With the time of the day where it is of this year, and else with the year, as ls has it. */
static void add_short_time(const char *created, struct text *to)
{
	char year[] = "0000-";
	time_t now = time(NULL);
	struct tm t;
	if (gmtime_r(&now, &t))
		strftime(year, sizeof year, "%Y-", &t);
	if (strlen(created) < sizeof "2026-11-21T09:15" - 1)
		text_add(to, created);
	else if (strncmp(created, year, strlen(year)))
		text_add_n(to, created, sizeof "2026-11-21" - 1);
	else {
		text_add_n(to, created + sizeof "2026-" - 1, sizeof "11-21" - 1);
		text_add_char(to, ' ');
		text_add_n(to, created + sizeof "2026-11-21T" - 1, sizeof "09:15" - 1);
	}
}

static struct cell folder_created(const struct session *s, const struct session_dump *d, struct text *scratch)
{
	const char *created = session_created(d);
	bool by_file = !*created && d->listed;
	if (by_file)
		created = d->listed->created;
	if (!*created)
		return cell_none();
	if (is_narrow(s, ROOM_FOR_TIME))
		add_short_time(created, scratch);
	else
		text_add(scratch, created);
	return cell_text_as_sure(scratch->s, by_file ? (struct amount){0, INFERRED, REASON_FILE_TIME} : amount_exact(0));
}

/* On the screen all of them are in the folder or the archive that stands above. */
static void add_path(const struct session *s, const struct session_dump *d, struct text *to)
{
	bool inside = s->interactive && d->listed;
	const char *slash = inside && !s->folder->is_archive ? strrchr(d->path, '/') : NULL;
	const char *path = slash ? slash + 1 : d->path;
	if (inside && s->folder->is_archive)
		path += strlen(s->folder->path) + 2;
	text_add_escaped(to, path, strlen(path));
}

static struct cell folder_damage(const struct session_dump *d, struct text *scratch)
{
	if (d->opened && d->opened->heap->damaged)
		text_add(scratch, d->opened->heap->damage.message);
	else if (d->listed && d->listed->grows)
		text_add(scratch, "it is still growing and may be incomplete");
	else if (!d->opened && d->code)
		text_add_escaped(scratch, d->err.message, strlen(d->err.message));
	else if (!d->opened && !d->read && d->listed && d->listed->why.code)
		text_add_escaped(scratch, d->listed->why.message, strlen(d->listed->why.message));
	else if (!d->opened && d->read && profile_in_part(&d->profile))
		text_add(scratch, "read in part");
	return scratch->len ? cell_text(scratch->s) : cell_blank();
}

static void folder_cell(const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct folder_rows *f = r->data;
	const struct session_dump *d = f->dump[row];
	struct cell format = cell_none(), objects = cell_unknown(REASON_NOT_READ), shallow = objects;
	text_clear(scratch);
	tell_contents(d, &format, &objects, &shallow);
	if (d->listed && d->listed->label)
		format = cell_text(d->listed->label);
	switch (column) {
	case F_NUMBER:
		*out = cell_plain(d->number);
		break;
	case F_TAG:
		*out = tag_of(d);
		break;
	case F_FILE:
		add_path(f->s, d, scratch);
		*out = cell_text(scratch->s);
		break;
	case F_FORMAT:
		*out = d->is_profile ? cell_text("profile") : format;
		break;
	case F_CREATED:
		*out = folder_created(f->s, d, scratch);
		break;
	case F_FILE_SIZE:
		*out = d->listed && !d->listed->sized ? cell_blank() : d->listed ? cell_bytes(amount_exact(d->listed->size)) :
		    file_size(d->path);
		break;
	case F_OBJECTS:
		*out = objects;
		break;
	case F_SHALLOW:
		*out = shallow;
		break;
	case F_STATE:
		*out = cell_text(state_of(f->s, d));
		break;
	case F_DAMAGE:
		*out = folder_damage(d, scratch);
		break;
	}
}

static void folder_target(const struct result *r, size_t row, struct target *out)
{
	struct folder_rows *f = r->data;
	text_clear(&f->line);
	text_addf(&f->line, "use %zu", f->dump[row]->number);
	*out = (struct target){.kind = TARGET_COMMAND, .command = f->line.s};
}

static void folder_release(void *data)
{
	struct folder_rows *f = data;
	free(f->dump);
	text_release(&f->line);
	free(f);
}

static const struct result_ops folder_ops = {
    .cell = folder_cell, .target = folder_target, .release = folder_release};

static struct result *list_folder(const struct session *s)
{
	struct folder_rows *f = xcalloc(1, sizeof *f);
	struct text note = TEXT_INIT;
	*f = (struct folder_rows){s, xcalloc(s->n_dumps + 1, sizeof(*f->dump)), TEXT_INIT};
	for (size_t i = 0; i < s->n_dumps; i++)
		f->dump[i] = s->dumps[s->n_dumps - 1 - i];
	struct result *r = result_new("dumps", NULL, &folder_shape, &folder_ops, f, s->n_dumps);
	if (s->folder->n_unseen) {
		text_add_count(&note, s->folder->n_unseen);
		text_add(&note, " more files of the archive are not listed (limit: ");
		text_add_count(&note, SOURCE_MEMBERS_MOST);
		text_add(&note, "); ");
	}
	if (s->folder->remark[0]) /* first: of a long note its first clause is seen */
		text_addf(&note, "%s; ", s->folder->remark);
	text_add(&note, "in ");
	text_add_name(&note, s->folder->path);
	if (s->folder->n_others)
		text_addf(&note, ", with %zu other file%s", s->folder->n_others, s->folder->n_others == 1 ? "" : "s");
	folder_add_archives(s->folder, &note);
	result_add_note(r, note.s);
	text_release(&note);
	result_mark(r, RESULT_NO_PANES, true);
	if (is_narrow(s, ROOM_FOR_TIME)) {
		result_show(r, F_NUMBER, false);
		result_show(r, F_OBJECTS, false);
	}
	if (is_narrow(s, ROOM_FOR_DAMAGE)) /* Enter tells it, too */
		result_show(r, F_DAMAGE, false);
	return r;
}

/* --- dumps ---------------------------------------------------------------------------------------- */

static int run_dumps(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	int code = 0;
	(void)call;
	if (s->folder) { /* its dumps may be many: none is read for its row */
		*out = list_folder(s);
		return 0;
	}
	for (size_t i = 0; !code && i < s->n_dumps; i++)
		if (!s->dumps[i]->opened)
			code = session_read_profile(s, s->dumps[i], err);
	if (code)
		return code;
	struct result *r = result_new_rows("dumps", s->dump, &shape);
	for (size_t i = 0; i < s->n_dumps; i++) {
		add_dump(r, s, s->dumps[i]);
		if (s->dumps[i]->tagged)
			result_show(r, D_TAG, true);
	}
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
    .flags = COMMAND_OBJECTS_ONLY | COMMAND_OF_PROFILES | COMMAND_COMPARES | COMMAND_LISTS_DUMPS,
    .group = "compare",
    .summary = "list the dumps of this session or directory",
    .shapes = SHAPES(&shape, &folder_shape),
    .description = "The dumps of the command line (cairn OLD... DUMP) and those added by open, the oldest first. "
	"Commands ask the current dump: at first the last one; use N (or Enter) switches to another. close N frees the "
	"memory of a dump; comparisons still know it. A profile can replace a dump in comparisons (profile FILE).\n"
	"state\tcurrent, open, closed, profile, unreadable, not read, or growing (still being written)\n"
	"damage\twhy a dump is unreadable; comparisons skip it, and growth also skips older dumps read in part\n"
	"~created\tin a directory: the time of the file\n"
	"objects\tin a directory: known of profiles, dumps with an index, and dumps read before\n"
	"Of a directory (cairn DIRECTORY) or an archive it lists dumps, profiles and indexes, the newest first. It reads "
	"only the first bytes of each file. open FILE adds a file that came later.",
    .examples = {{"dumps", ON_SERIES, "which dumps are open, and which is current"},
	{"dumps | sort -file_size", ON_SERIES, "the largest files first"}},
    .key = "",
    .run = run_dumps,
};
