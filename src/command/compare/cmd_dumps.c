/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_dumps.c - dumps: which dumps the session knows, and which of them is current. */
#include "command/compare/comparing.h"

#include "attach/attach.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/text.h"
#include "command/processes/processes.h"
#include "command/session/session.h"
#include "dump/source/source.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "result/result.h"

#include <stdio.h>
#include <stdlib.h>
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
    {.id = COL_TAG, .hidden = true},
};
static const struct shape shape = {SHAPE_COLUMNS(columns)};

static const struct column folder_columns[] = {
    {.id = COL_NUMBER},
    {.id = COL_TAG},
    {.id = COL_FILE, .room = COLUMN_LAST},
    {.id = COL_FORMAT, .room = COLUMN_LATE},
    {.id = COL_CREATED, .room = COLUMN_LATE},
    {.id = COL_FILE_SIZE, .room = COLUMN_LATE},
    {.id = COL_OBJECTS, .room = COLUMN_EARLY},
    {.id = COL_SHALLOW},
    {.id = COL_STATE, .room = COLUMN_LATE},
    {.id = COL_DAMAGE, .room = COLUMN_EARLY},
    {.id = COL_CAUSE, .room = COLUMN_LATE},
};
static const struct shape folder_shape = {.form = "of a directory", SHAPE_COLUMNS(folder_columns),
    .named_by = COL_FILE};

/* Rows are made when somebody looks: what becomes known of a dump stands in its row at once. */
struct dump_rows {
	const struct session *s;
	size_t n_dumps;       /* the first rows; of a folder the newest first: one is wanted most often just after it was
	                         written */
	struct session_dump **dump; /* owned */
	struct vm_processes *running; /* the rows behind them: "cairn" alone lists these on the screen; or NULL; owned */
	size_t common;        /* bytes of the directory of all of them, which the screen leaves out */
	struct text line;
};

static struct cell file_size(const char *path)
{
	struct stat st;
	if (source_has_no_file(path))
		return cell_blank();
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

/* Below these widths some columns are shorter or hidden, so that a file's name and its state still fit. */
enum { ROOM_FOR_TIME = 100, ROOM_FOR_DAMAGE = 140 }; /* columns */

static bool is_narrow(const struct session *s, unsigned room)
{
	return s->interactive && s->settings.print.width < room;
}

static struct cell created_cell(const struct session *s, const struct session_dump *d, struct text *scratch)
{
	const char *created = session_created(d);
	bool by_file = !*created && d->listed;
	if (by_file)
		created = d->listed->created;
	if (!*created)
		return cell_none();
	if (is_narrow(s, ROOM_FOR_DAMAGE))
		comparing_add_short_time(created, scratch);
	else
		text_add(scratch, created);
	return cell_text_as_sure(scratch->s, by_file ? (struct amount){0, INFERRED, REASON_FILE_TIME} : amount_exact(0));
}

static struct cell cause_cell(const struct session_dump *d)
{
	const struct folder_file *f = d->listed;
	if (!f || !f->cause)
		return cell_blank();
	struct cell cell = cell_text_as_sure(f->cause, f->cause_by_name ? (struct amount){0, INFERRED, REASON_FILE_NAME} :
	    amount_exact(0));
	cell.suspect = strstr(f->cause, "OutOfMemoryError") != NULL;
	return cell;
}

/* Bytes of the directory in which all of them are; 0: they are in several. */
static size_t common_directory(const struct session *s)
{
	const char *first = s->dumps[0]->path, *slash = strrchr(first, '/');
	size_t n = slash ? (size_t)(slash + 1 - first) : 0;
	for (size_t i = 1; i < s->n_dumps; i++)
		if (strncmp(s->dumps[i]->path, first, n) != 0 || strchr(s->dumps[i]->path + n, '/'))
			return 0;
	return s->n_dumps > 1 ? n : 0;
}

/* On the screen what all have in common says nothing: the archive that stands above, the directory. */
static void add_path(const struct dump_rows *rows, const struct session_dump *d, struct text *to)
{
	const struct session *s = rows->s;
	bool inside = s->interactive && d->listed;
	const char *slash = inside && !s->folder->is_archive ? strrchr(d->path, '/') : NULL;
	const char *path = slash ? slash + 1 : d->path;
	if (inside && s->folder->is_archive)
		path += strlen(s->folder->path) + 2;
	else if (!s->folder)
		path += rows->common;
	text_add_escaped(to, path, strlen(path));
}

static struct cell damage_cell(const struct session_dump *d, struct text *scratch)
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

/* The process of a row; NULL: it is a dump's. */
static const struct vm_process *running_of(const struct dump_rows *rows, size_t row)
{
	return row < rows->n_dumps ? NULL : &rows->running->list[row - rows->n_dumps];
}

/* "com.acme.shop.Main", or "Main" where its heap would have no room after it. */
static const char *name_with_room(const struct session *s, const struct vm_process *p, int pid)
{
	enum { BESIDE = 28 }; /* columns of the marker, the heap and gaps: "  heap ~1023K of 1023M" */
	const char *dot = strrchr(p->name, '.');
	size_t width = s->settings.print.width, room = width > (size_t)pid + BESIDE ? width - (size_t)pid - BESIDE : 0;
	bool is_class = dot && dot[1] >= 'A' && dot[1] <= 'Z';
	return s->interactive && is_class && text_width_most(p->name, room + 1) > room ? dot + 1 : p->name;
}

/* "4711  com.acme.shop.Main  heap ~400M of 512M  OpenJDK 17.0.15  3d 4h  user shop": the rest of the line. */
static struct cell running_cell(const struct dump_rows *rows, const struct vm_process *p, enum column_id column,
    struct text *to)
{
	enum { NAME_MOST = 36 }; /* columns: longer ones are not lined up */
	int pid = 0, name = 0;
	if (column == COL_SHALLOW) /* not drawn, but sorted by and explained */
		return process_published(p, p->counters.heap_used);
	if (column != COL_FILE)
		return cell_blank();
	for (size_t i = 0; i < rows->running->n; i++) {
		int width = snprintf(NULL, 0, "%ld", (long)rows->running->list[i].pid);
		pid = width > pid ? width : pid;
	}
	for (size_t i = 0; i < rows->running->n; i++) {
		int width = (int)text_width_most(name_with_room(rows->s, &rows->running->list[i], pid), NAME_MOST + 1);
		name = width <= NAME_MOST && width > name ? width : name;
	}
	const char *shown = name_with_room(rows->s, p, pid);
	int gap = name - (int)text_width_most(shown, NAME_MOST + 1);
	text_addf(to, "%*ld  %s%*s", pid, (long)p->pid, shown, gap > 0 ? gap : 0, "");
	if (p->counters.heap_max) {
		text_add(to, p->counters.heap_used ? "  heap ~" : "  heap ?");
		if (p->counters.heap_used)
			text_add_bytes(to, p->counters.heap_used);
		text_add(to, " of ");
		text_add_bytes(to, p->counters.heap_max);
	}
	text_addf(to, "%s%s  ", *p->version ? "  " : "", p->version);
	process_add_uptime(p->uptime, to);
	text_addf(to, "  user %s%s%s%s", p->user, *p->container ? "  container " : "", p->container, p->readable ? "" :
	    ": no permission");
	return cell_text(to->s);
}

static void dumps_cell(const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct dump_rows *rows = r->data;
	text_clear(scratch);
	if (running_of(rows, row)) {
		*out = running_cell(rows, running_of(rows, row), r->shape->columns[column].id, scratch);
		return;
	}
	const struct session_dump *d = rows->dump[row];
	struct cell format = cell_none(), objects = rows->s->folder ? cell_unknown(REASON_NOT_READ) : cell_none();
	struct cell shallow = objects;
	tell_contents(d, &format, &objects, &shallow);
	if (d->listed && d->listed->label)
		format = cell_text(d->listed->label);
	if (d->is_profile && rows->s->folder)
		format = cell_text("profile");
	switch (r->shape->columns[column].id) {
	case COL_NUMBER:
		*out = cell_plain(d->number);
		break;
	case COL_TAG:
		*out = d->tagged ? cell_text("*") : cell_blank();
		break;
	case COL_FILE:
		add_path(rows, d, scratch);
		*out = cell_text(scratch->s);
		break;
	case COL_FORMAT:
		*out = format;
		break;
	case COL_CREATED:
		*out = created_cell(rows->s, d, scratch);
		break;
	case COL_FILE_SIZE:
		*out = d->listed && !d->listed->sized ? cell_blank() : d->listed ? cell_bytes(amount_exact(d->listed->size)) :
		    file_size(d->path);
		break;
	case COL_OBJECTS:
		*out = objects;
		break;
	case COL_SHALLOW:
		*out = shallow;
		break;
	case COL_STATE:
		*out = cell_text(state_of(rows->s, d));
		break;
	case COL_CAUSE:
		*out = cause_cell(d);
		break;
	default:
		*out = damage_cell(d, scratch);
	}
}

static void dumps_target(const struct result *r, size_t row, struct target *out)
{
	struct dump_rows *rows = r->data;
	const struct vm_process *p = running_of(rows, row);
	text_clear(&rows->line);
	if (p)
		process_add_line(p, &rows->line);
	else
		text_addf(&rows->line, "use %zu", rows->dump[row]->number);
	*out = (struct target){.kind = TARGET_COMMAND, .command = rows->line.s, .process = p ? p->pid : 0};
}

static void dumps_release(void *data)
{
	struct dump_rows *rows = data;
	free(rows->dump);
	vm_processes_free(rows->running);
	text_release(&rows->line);
	free(rows);
}

static enum row_heading dumps_heading(const struct result *r, size_t row)
{
	return running_of(r->data, row) ? HEADING_ALONE : NO_HEADING;
}

static const struct result_ops dumps_ops = {
    .cell = dumps_cell, .target = dumps_target, .release = dumps_release};
static const struct result_ops running_ops = {.cell = dumps_cell, .target = dumps_target, .heading = dumps_heading,
    .release = dumps_release};

static struct result *list_dumps(const struct session *s)
{
	struct dump_rows *rows = xcalloc(1, sizeof *rows);
	bool here = s->interactive && s->folder && s->folder->here;
	*rows = (struct dump_rows){.s = s, .n_dumps = s->n_dumps, .dump = xcalloc(s->n_dumps + 1, sizeof(*rows->dump)),
	    .running = here ? vm_processes_list() : NULL,
	    .common = s->interactive && !s->folder && s->n_dumps ? common_directory(s) : 0};
	for (size_t i = 0; i < s->n_dumps; i++)
		rows->dump[i] = s->dumps[s->folder ? s->n_dumps - 1 - i : i];
	return result_new("dumps", s->folder ? NULL : s->dump, s->folder ? &folder_shape : &shape,
	    here ? &running_ops : &dumps_ops, rows, s->n_dumps + (here ? rows->running->n : 0));
}

static const char no_dump[] = "no dump is in this directory";

/* On the screen, where no dump is; NULL: no process is either. */
static struct result *list_running(const struct session *s)
{
	bool here = s->interactive && s->folder && s->folder->here && !s->n_dumps;
	struct result *r = here ? processes_result() : NULL;
	if (r && r->n_rows) {
		result_add_note(r, no_dump);
		return r;
	}
	result_free(r);
	return NULL;
}

/* What a list without a dump says, and what to do. */
static void tell_empty(struct result *r, const struct session *s)
{
	struct text empty = TEXT_INIT, archives = TEXT_INIT;
	text_add(&empty, no_dump);
	if (s->folder->n_others)
		text_addf(&empty, " (%zu other file%s)", s->folder->n_others, s->folder->n_others == 1 ? "" : "s");
	if (!s->interactive) {
		folder_add_archives(s->folder, &empty);
		result_add_note_text(r, &empty);
		return;
	}
	folder_add_archives(s->folder, &archives);
	if (archives.len)
		text_addf(&empty, "\n%s", archives.s + strspn(archives.s, "; "));
	text_release(&archives);
	text_add(&empty, "\n\n:open FILE       opens a dump\nq                quits; then in the shell:\n"
	    "cairn FILE       opens a dump\ncairn DIRECTORY  lists the dumps of a directory\n"
	    "cairn --help     lists the options");
	r->empty = arena_strndup(&r->arena, empty.s, empty.len);
	text_release(&empty);
}

static bool any_cause(const struct session *s)
{
	for (size_t i = 0; i < s->n_dumps; i++)
		if (s->dumps[i]->listed && s->dumps[i]->listed->cause)
			return true;
	return false;
}

/* Which directory it is, or archive, and what else is there. */
static void note_folder(struct result *r, const struct session *s)
{
	struct text note = TEXT_INIT;
	if (s->folder->n_unseen) {
		text_add_count(&note, s->folder->n_unseen);
		text_add(&note, " more files of the archive are not listed (limit: ");
		text_add_count(&note, SOURCE_MEMBERS_MOST);
		text_add(&note, "); ");
	}
	if (s->folder->remark[0]) /* first: of a long note its first clause is seen */
		text_addf(&note, "%s; ", s->folder->remark);
	text_add(&note, "in ");
	text_add_name(&note, s->interactive ? s->folder->shown : s->folder->path);
	if (s->folder->n_others)
		text_addf(&note, ", with %zu other file%s", s->folder->n_others, s->folder->n_others == 1 ? "" : "s");
	folder_add_archives(s->folder, &note);
	result_add_note_text(r, &note);
}

static void tell_folder(struct result *r, const struct session *s)
{
	(s->n_dumps ? note_folder : tell_empty)(r, s);
	result_mark(r, RESULT_NO_PANES, true);
	result_mark(r, RESULT_REFRESHES, r->ops == &running_ops);
	result_show_column(r, COL_CAUSE, any_cause(s));
	if (is_narrow(s, ROOM_FOR_TIME)) {
		result_show_column(r, COL_NUMBER, false);
		result_show_column(r, COL_OBJECTS, false);
	}
	if (is_narrow(s, ROOM_FOR_DAMAGE)) /* Enter tells it, too */
		result_show_column(r, COL_DAMAGE, false);
}

/* --- dumps ---------------------------------------------------------------------------------------- */

static int run_dumps(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct text same = TEXT_INIT;
	(void)call;
	if ((*out = list_running(s)))
		return 0;
	for (size_t i = 0; !s->folder && i < s->n_dumps; i++) /* of a folder they may be many: none is read for its row */
		if (!s->dumps[i]->opened && session_read_profile(s, s->dumps[i], err))
			return err_cancelled(err);
	struct result *r = *out = list_dumps(s);
	if (s->folder) {
		tell_folder(r, s);
		return 0;
	}
	for (size_t i = 0; i < s->n_dumps; i++)
		if (s->dumps[i]->tagged)
			result_show_column(r, COL_TAG, true);
	name_dumps(r, s);
	comparing_add_same(s->dumps, s->n_dumps, &same);
	result_add_note_text(r, &same);
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
	"cause\tin a directory: as the javacore next to a dump says, or its name (~): java_pidN.hprof is what the VM "
	"calls the dump of an OutOfMemoryError\n"
	"objects\tin a directory: known of profiles, dumps with an index, and dumps read before\n"
	"Of a directory (cairn DIRECTORY, or cairn alone for the current one) or an archive it lists dumps, profiles and "
	"indexes, the newest first. It reads only the first bytes of each file. open FILE adds a file that came later.",
    .examples = {{"dumps", ON_SERIES, "which dumps are open, and which is current"},
	{"dumps | sort -file_size", ON_SERIES, "the largest files first"}},
    .run = run_dumps,
};
