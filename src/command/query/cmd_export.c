/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_export.c - export: tables of the dump for other programs, in a database or as parts of larger tables; or the
 * heap itself (export_hprof.c).
 *
 * A part stands in DIR/TABLE/KEY=VALUE/.../part-DUMP.csv, as Hive lays tables out: DuckDB and Spark read all that is
 * below DIR/TABLE as one table with the columns KEY.  Which columns a part has depends on its table alone.
 */
#include "command/commands.h"

#include "base/suffixes.h"
#include "base/mem.h"
#include "command/query/export_hprof.h"
#include "command/query/query.h"
#include "command/exec/exec.h"
#include "dump/source/source.h"
#include "heap/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What is written if no table is named: small, and what other programs join. */
static const char *const usual[] = {"info", "classes", "packages=histo -by package", "threads", "frames", "roots",
    "loaders"};
enum { USUAL = sizeof usual / sizeof *usual };

#define DUMP_TABLE "cairn" /* of a database: what it was made of */

/* --- tables ------------------------------------------------------------------------------------- */

static bool is_key(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool letter = s[i] == '_' || (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z');
		if (!letter && !(i && s[i] >= '0' && s[i] <= '9'))
			return false;
	}
	return n > 0;
}

/* "classes=histo -retained": the name (owned) and the line; of other words both are the whole. */
static char *name_of(const char *word, const char **line)
{
	size_t n = strcspn(word, "=");
	bool named = word[n] && word[n + 1] && is_key(word, n);
	char *name = xstrdup(word);
	*line = named ? word + n + 1 : word;
	if (named)
		name[n] = '\0';
	return name;
}

static const struct column head_columns[] = {{.id = COL_NAME}, {.id = COL_VALUE}, {.id = COL_CERTAINTY}};
static const struct shape head_shape = {SHAPE_COLUMNS(head_columns)};

/* The head of a result as rows. */
static struct result *rows_of_head(const struct result *r)
{
	struct result *rows = result_new_rows("values", r->opened, &head_shape);
	struct text value = TEXT_INIT;
	for (size_t i = 0; i < r->n_head; i++) {
		const struct cell *c = &r->head[i].cell;
		text_clear(&value);
		cell_print_plain(c, &value);
		result_add_row(rows, (struct cell[]){cell_text(r->head[i].name),
		    c->type == CELL_NONE ? cell_blank() : cell_text(value.s ? value.s : ""), cell_certainty(c->amount)}, NULL);
	}
	text_release(&value);
	return rows;
}

/* Where tables go: a database, or a folder of parts. */
struct export {
	struct session *s;
	const struct call *call;
	struct sql_file *file;  /* NULL: parts */
	const char *dir;
	struct text partitions; /* "/host=web1/day=2026-11-22" */
	char **keys;
	size_t n_keys, cap_keys;
	char **names;           /* of the tables so far */
	size_t n_names, cap_names;
	struct text left_out;
	uint64_t rows;
	bool without_retained;
	struct result *written; /* the files */
};

#define LACKS_RETAINED "retained sizes (-retained finds them)"

/* Would it have retained sizes, and nobody has found them yet? */
static bool lacks_retained(const struct export *e, const struct result *r)
{
	for (unsigned c = 0; c < r->n_columns; c++)
		if (r->columns[c].id == COL_RETAINED)
			return !opened_retained(e->s->dump);
	return false;
}

static int add_part(struct export *e, const char *name, struct result *r, struct err *err);

static int add_rows(struct export *e, const char *name, struct result *r, struct err *err)
{
	for (size_t i = 0; i < e->n_names; i++)
		if (!strcasecmp(e->names[i], name))
			return err_set(err, ERR_USAGE, "two tables have the name %.200s (name one: NAME=TABLE)", name);
	VEC_PUSH(e->names, e->n_names, e->cap_names) = xstrdup(name);
	e->without_retained |= lacks_retained(e, r);
	int code = e->file ? sql_file_add(e->file, name, r, err) : add_part(e, name, r, err);
	if (!code)
		e->rows += r->n_passed + r->n_rows;
	return code;
}

static int add_head(struct export *e, const char *name, const struct result *r, struct err *err)
{
	struct result *rows = rows_of_head(r);
	struct text own = TEXT_INIT;
	text_addf(&own, "%s%s", name, r->n_columns ? " head" : "");
	int code = result_check(rows, err);
	if (!code)
		code = add_rows(e, own.s ? own.s : name, rows, err);
	text_release(&own);
	result_free(rows);
	return code;
}

/* One table; optional: what the dump cannot tell is left out. */
static int add_table(struct export *e, const char *word, bool optional, struct err *err)
{
	const char *line;
	struct result *r = NULL;
	struct err own = ERR_INIT;
	char *name = name_of(word, &line);
	int code = ask_rows(e->s, line, &r, &own);
	if (!code && result_is(r, RESULT_PLAIN_TEXT))
		code = err_set(&own, ERR_USAGE, "%.200s is not a table", line);
	if (code && optional && (code == ERR_UNSUPPORTED || code == ERR_NOT_FOUND)) {
		text_addf(&e->left_out, "%s%s", e->left_out.len ? ", " : "", name);
		free(name);
		return 0;
	}
	if (code)
		*err = own;
	if (!code && r->n_head)
		code = add_head(e, name, r, err);
	if (!code && r->n_columns)
		code = add_rows(e, name, r, err);
	result_free(r);
	free(name);
	return code;
}

static int add_tables(struct export *e, size_t first, struct err *err)
{
	const struct call *call = e->call;
	int code = call_has(call, DASH_RETAINED) ? session_find(e->s, FIND_RETAINED, err) : 0;
	for (size_t i = first; !code && i < call->n_words; i++)
		code = add_table(e, call->words[i], false, err);
	for (size_t i = 0; !code && call->n_words <= first && i < USUAL; i++)
		code = add_table(e, usual[i], true, err);
	return code;
}

/* --- a database --------------------------------------------------------------------------------- */

static const struct column dump_columns[] = {{.id = COL_FILE}, {.id = COL_FORMAT}, {.id = COL_CREATED},
    {.id = COL_OWN_NAME, .name = "written_by", .type = CELL_TEXT}};
static const struct shape dump_shape = {SHAPE_COLUMNS(dump_columns)};

static int add_dump(struct export *e, struct err *err)
{
	const struct heap *h = session_heap(e->s);
	const struct dump_facts *f = &h->facts;
	struct result *r = result_new_rows("dump", e->s->dump, &dump_shape);
	result_add_row(r, (struct cell[]){h->source ? cell_text(h->source->path) : cell_blank(), cell_text(f->format),
	    *f->created ? cell_text(f->created) : cell_blank(), cell_text(PACKAGE_NAME " " PACKAGE_VERSION)}, NULL);
	int code = result_check(r, err);
	if (!code)
		code = add_rows(e, DUMP_TABLE, r, err);
	result_free(r);
	return code;
}

static int write_database(void *export, FILE *to, const char *path, struct err *err)
{
	struct export *e = export;
	(void)to; /* SQLite opens files itself */
	int code = path ? sql_file_open(&e->file, path, session_progress(e->s), err) :
	    err_set(err, ERR_IO, "cannot create a temporary file in the database's directory");
	if (code)
		return code;
	code = add_dump(e, err);
	if (!code)
		code = add_tables(e, 1, err);
	code = sql_file_close(e->file, code, err);
	e->file = NULL;
	return code;
}

static bool names_database(const char *word)
{
	static const char *const endings[] = {".sqlite", ".sqlite3", ".db", NULL};
	return suffix_of(word, strlen(word), endings) > 0;
}

/* --- parts -------------------------------------------------------------------------------------- */

/* A name as part of a path, as Hive writes it: what is no letter, digit or one of a few is %XX.  Neither . nor _ stands
 * in front: files called so are not read. */
static void add_escaped(struct text *to, const char *s)
{
	for (const char *at = s; *at; at++) {
		unsigned char c = (unsigned char)*at;
		bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80 ||
		    strchr("-+@", c) || (at > s && strchr("._", c));
		if (plain)
			text_add_char(to, (char)c);
		else
			text_addf(to, "%%%02X", c);
	}
}

/* One "host=web1". */
static int take_partition(struct export *e, char *part, struct err *err)
{
	char *value = strchr(part, '=');
	if (!value || !value[1] || !is_key(part, (size_t)(value - part)))
		return err_set(err, ERR_USAGE, "-partition: \"%.100s\" is not a KEY=VALUE (host=web1,day=2026-11-22)", part);
	*value++ = '\0';
	for (const char *s = value; *s; s++)
		if (*s == '/' || (unsigned char)*s < ' ' || *s == 0x7F)
			return err_set(err, ERR_USAGE, "-partition: %s has a / or a control character", part);
	if (!strcmp(value, ".") || !strcmp(value, ".."))
		return err_set(err, ERR_USAGE, "-partition: %s is %s, an invalid directory name", part, value);
	for (size_t i = 0; i < e->n_keys; i++)
		if (!strcasecmp(e->keys[i], part))
			return err_set(err, ERR_USAGE, "-partition: %s is given twice", part);
	VEC_PUSH(e->keys, e->n_keys, e->cap_keys) = xstrdup(part);
	text_addf(&e->partitions, "/%s=", part);
	add_escaped(&e->partitions, value);
	return 0;
}

static int take_partitions(struct export *e, const char *words, struct err *err)
{
	char *copy = xstrdup(words), *next = copy;
	int code = *copy ? 0 : err_set(err, ERR_USAGE, "-partition: no KEY=VALUE (host=web1,day=2026-11-22)");
	for (char *part; !code && (part = strsep(&next, ","));)
		code = take_partition(e, part, err);
	free(copy);
	return code;
}

/* "part-20261121T101500Z-304586.csv": by when the dump was made and how large it is, so the same dump has the same. */
static void add_part_name(const struct heap *h, struct text *to)
{
	struct stat st;
	struct tm tm;
	char written[32] = "";
	if (!*h->facts.created && h->source && !stat(h->source->path, &st) && gmtime_r(&st.st_mtime, &tm))
		strftime(written, sizeof written, "%Y%m%dT%H%M%SZ", &tm);
	text_add(to, "part-");
	for (const char *s = *h->facts.created ? h->facts.created : written; *s; s++)
		if (strchr("0123456789TZ", *s))
			text_add_char(to, *s);
	/* of one dump alone, whatever its file is called */
	text_addf(to, "-%llu", h->source ? (unsigned long long)h->source->file_size : 0);
	if (h->facts.n_heaps > 1)
		text_addf(to, "-heap%u", h->facts.heap_number);
	text_add(to, ".csv");
}

/* "classes/host=web1/day=2026-11-22/part-20261121T101500Z-304586.csv" */
static void add_part_path(const struct export *e, const char *table, struct text *to)
{
	add_escaped(to, table);
	text_add(to, e->partitions.s);
	text_add(to, "/");
	add_part_name(session_heap(e->s), to);
}

struct part_writing {
	struct result *rows;
	uint64_t bytes;
};

static int write_part(void *writing, FILE *to, const char *path, struct err *err)
{
	(void)path;
	static const struct print_options raw = {.format = PRINT_CSV, .csv_raw = true, .part = true};
	struct part_writing *w = writing;
	int code = print_result(w->rows, &raw, to, err);
	off_t end = code ? 0 : ftello(to);
	w->bytes = end > 0 ? (uint64_t)end : 0;
	return code;
}

static void add_rows_word(uint64_t n, struct text *to)
{
	text_add_count(to, n);
	text_add(to, n == 1 ? " row" : " rows");
}

static void add_written_part(struct export *e, const char *part, const struct part_writing *w)
{
	struct text holds = TEXT_INIT, path = TEXT_INIT;
	add_rows_word(w->rows->n_passed + w->rows->n_rows, &holds);
	text_addf(&path, "%s/%s", e->dir, part);
	files_table_add(e->written, path.s, w->bytes, holds.s, lacks_retained(e, w->rows) ? LACKS_RETAINED : NULL);
	text_release(&holds);
	text_release(&path);
}

static int add_part(struct export *e, const char *name, struct result *r, struct err *err)
{
	struct text part = TEXT_INIT;
	for (size_t i = 0; i < e->n_keys; i++)
		for (unsigned c = 0; c < r->n_columns; c++)
			if (!strcasecmp(e->keys[i], column_word(&r->columns[c])))
				return err_set(err, ERR_USAGE, "-partition: %s is already a column of %.200s", e->keys[i], name);
	add_part_path(e, name, &part);
	struct part_writing w = {.rows = r};
	int code = part.s ? session_write_in(e->s, e->dir, &(struct new_file){.path = part.s}, write_part, &w, err) :
	    err_set(err, ERR_NOMEM, "not enough memory for a name");
	if (!code)
		add_written_part(e, part.s, &w);
	text_release(&part);
	return code;
}

static bool is_there(const struct export *e, const char *word)
{
	struct text path = TEXT_INIT;
	const char *line;
	char *name = name_of(word, &line);
	text_addf(&path, "%s/", e->dir);
	add_part_path(e, name, &path);
	bool there = path.s && !access(path.s, F_OK);
	text_release(&path);
	free(name);
	return there;
}

/* Parts that are there are replaced all together or not at all: who types is asked once.  *agreed: and said yes. */
static int ask_once(const struct export *e, bool *agreed, struct err *err)
{
	size_t there = 0;
	for (size_t i = 0; i < e->call->n_words; i++)
		there += is_there(e, e->call->words[i]);
	for (size_t i = 0; !e->call->n_words && i < USUAL; i++)
		there += is_there(e, usual[i]);
	return session_may_replace_all(e->s, e->dir, there, agreed, err);
}

/* --- the command -------------------------------------------------------------------------------- */

static int write_parts(struct export *e, struct err *err)
{
	const struct call *call = e->call;
	e->dir = call->option[call_option(call, DASH_DIR)].word;
	if (!call_has(call, DASH_PARTITION))
		return err_set(err, ERR_USAGE, "-partition is missing: it identifies this dump "
		    "(host=web1,day=2026-11-22)");
	int code = *e->dir ? take_partitions(e, call->option[call_option(call, DASH_PARTITION)].word, err) :
	    err_set(err, ERR_USAGE, "-dir: a directory is missing");
	bool agreed = false, before = e->s->settings.writes.force;
	if (!code)
		code = ask_once(e, &agreed, err);
	e->s->settings.writes.force |= agreed;
	if (!code)
		code = add_tables(e, 0, err);
	e->s->settings.writes.force = before;
	return code;
}

static void add_left_out(const struct export *e, struct text *to)
{
	if (e->left_out.len)
		text_add(to, e->left_out.s);
	if (e->without_retained)
		text_addf(to, "%s" LACKS_RETAINED, to->len ? ", " : "");
}

/* "7 tables, 173 rows" */
static void add_tables_words(const struct export *e, struct text *to)
{
	text_addf(to, e->n_names == 1 ? "%zu table, " : "%zu tables, ", e->n_names);
	add_rows_word(e->rows, to);
}

static void add_written_database(struct export *e, const char *path)
{
	struct text holds = TEXT_INIT, out = TEXT_INIT;
	struct stat st;
	add_left_out(e, &out);
	add_tables_words(e, &holds);
	files_table_add(e->written, path, stat(path, &st) ? 0 : (uint64_t)st.st_size, holds.s, out.s);
	text_release(&holds);
	text_release(&out);
}

static int write_file(struct export *e, struct err *err)
{
	const struct call *call = e->call;
	if (call_has(call, DASH_PARTITION))
		return err_set(err, ERR_USAGE, "-partition needs -dir DIR");
	if (!call->n_words)
		return call_missing(call->command, "FILE.sqlite, -dir or -hprof is missing", "", 1, err);
	if (!names_database(call->words[0]))
		return err_set(err, ERR_USAGE, "\"%.200s\" is not a database name (use .sqlite, .sqlite3 or .db; for "
		    "one table, > FILE.csv, .json, .jsonl, .md or .html; for a dump, -hprof FILE)", call->words[0]);
	int code = session_write_whole(e->s, &(struct new_file){.path = call->words[0]}, write_database, e, err);
	if (!code)
		add_written_database(e, call->words[0]);
	return code;
}

static int write_heap(struct export *e, struct err *err)
{
	const struct call *call = e->call;
	const char *file = call->option[call_option(call, DASH_HPROF)].word;
	if (call->n_words || call_has(call, DASH_DIR) || call_has(call, DASH_PARTITION) ||
	    call_has(call, DASH_RETAINED))
		return err_set(err, ERR_USAGE, "-hprof writes the heap, not tables (export -hprof FILE.hprof)");
	if (!*file || names_database(file))
		return err_set(err, ERR_USAGE, "-hprof: \"%.200s\" is not a file name for a dump (use .hprof or "
		    ".hprof.gz)", file);
	return export_hprof(e->s, file, e->written, err);
}

static int run_export(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct export e = {.s = s, .call = call, .written = files_table(s, "export")};
	bool parts = call_has(call, DASH_DIR), heap = call_has(call, DASH_HPROF);
	*out = NULL;
	int code = heap ? write_heap(&e, err) : parts ? write_parts(&e, err) : write_file(&e, err);
	if (!code && s->typed && !heap) {
		struct text said = TEXT_INIT, left = TEXT_INIT;
		add_tables_words(&e, &said);
		add_left_out(&e, &left);
		session_say(s, "wrote %s to %s%s%s", said.s, parts ? e.dir : call->words[0], left.len ? "; left out: " : "",
		    left.len ? left.s : "");
		text_release(&said);
		text_release(&left);
	} else if (!code && !s->typed) {
		*out = e.written;
	}
	if (!*out)
		result_free(e.written);
	for (size_t i = 0; i < e.n_names; i++)
		free(e.names[i]);
	for (size_t i = 0; i < e.n_keys; i++)
		free(e.keys[i]);
	free(e.names);
	free(e.keys);
	text_release(&e.partitions);
	text_release(&e.left_out);
	return code;
}

static const struct option_spec options[] = {
    {DASH_DIR, OPT_WORDS, "DIR", "directory for CSV parts instead of a database"},
    {DASH_HPROF, OPT_WORDS, "FILE", "write the heap as an HPROF dump for MAT and VisualVM"},
    {DASH_PARTITION, OPT_WORDS, "KEY=VALUE,...", "identifies this dump: host=web1,day=2026-11-22"},
    {DASH_RETAINED, OPT_FLAG, NULL, "compute retained sizes first, which takes time"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

const struct command cmd_export = {
    .name = "export",
    .arguments = {{ARG_WORDS, "FILE.sqlite TABLE...", true}},
    .options = options,
    .flags = COMMAND_WRITES,
    .group = "query and export",
    .summary = "write tables for SQLite, DuckDB and Spark, or HPROF",
    .shapes = SHAPES(&files_shape),
    .description = "A TABLE is one of sql: a command line (\"histo -by loader\"), objects, refs, or a class with its "
	"fields; NAME=TABLE renames it. Default: info, classes, packages, threads, frames, roots and loaders. Numbers "
	"that are not all exact have a column NAME_certainty. In a database addresses are numbers (printf('0x%x', "
	"address)), and the table cairn describes the dump.\n"
	"With -dir the rows are in DIR/TABLE/KEY=VALUE/part-DUMP.csv, next to parts of other hosts and days; the same "
	"dump replaces its own part. Texts have quotes there, unknown values are empty without quotes. An existing "
	"file is replaced as by save.\n"
	"DuckDB and Spark read the parts as one table:\n"
	"DuckDB\tread_csv('DIR/classes/**/*.csv', hive_partitioning=true, escape='\"', allow_quoted_nulls=false)\n"
	"Spark\tspark.read.option(\"header\", True).option(\"inferSchema\", True).option(\"escape\", "
	"'\"').csv(\"DIR/classes\")\n"
	"-hprof writes the heap as an HPROF dump (FILE.gz: compressed). PHD has no fields, so they are invented: ?0, ?1 "
	"and so on are references in the dump's order, ?size0 makes the object as large as it is, and all numbers are 0. "
	"Inferred roots are roots of the file.",
    .examples = {{"export shop.sqlite", ON_SHOP, "a database of classes, packages, threads, frames, roots and loaders"},
	{"export objects.sqlite objects \"loaders=histo -by loader\"", ON_SHOP, "chosen tables, one under a new name"},
	{"export -dir tables -partition host=web1,day=2026-11-22", ON_SHOP, "CSV parts for DuckDB and Spark"},
	{"export -hprof heap.hprof.gz", ON_PHD, "the heap of a PHD file for MAT and VisualVM"}},
    .key = "",
    .run = run_export,
};
