/* SPDX-License-Identifier: GPL-3.0-or-later */
/* no_sqlite.c - what a build without SQLite answers instead; Makefile.am takes this file or those with SQLite. */
#include "query/profile_file.h"
#include "query/sql/sql.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static int no_sqlite(const char *can, struct err *err)
{
	return err_set(err, ERR_UNSUPPORTED, "this build has no SQLite (libsqlite3) and cannot %s", can);
}

/* --- questions: there is no connection, so only the first of these is ever called ------------------ */

int sql_open(struct sql **out, struct opened *o, const struct sql_source *source, struct err *err)
{
	*out = NULL;
	return no_sqlite("run SQL", err);
}

void sql_close(struct sql *q)
{
}

int sql_run(struct sql *q, const char *text, const struct sql_wishes *wishes, struct progress *progress,
    struct result **out, struct err *err)
{
	return no_sqlite("run SQL", err);
}

int sql_run_over(struct sql *q, struct result *rows, const char *text, struct progress *progress,
    struct result **out, struct err *err)
{
	return no_sqlite("run SQL", err);
}

int sql_rows(struct sql *q, const char *table, struct progress *progress, struct result **out, struct err *err)
{
	return no_sqlite("run SQL", err);
}

int sql_describe(struct sql *q, const char *table, const struct sql_wishes *wishes, struct progress *progress,
    sql_tell *tell, void *context, struct err *err)
{
	return no_sqlite("run SQL", err);
}

int sql_where(struct sql *q, const char *expression, uint32_t *ids, size_t *n, struct progress *progress,
    struct err *err)
{
	return no_sqlite("run SQL", err);
}

int sql_keep_rows(struct sql *q, struct result *r, const char *condition, struct progress *progress, struct err *err)
{
	return no_sqlite("run SQL", err);
}

int sql_each_own(struct sql *q, sql_tell_own *tell, void *context, struct err *err)
{
	return 0;
}

void sql_own_table_columns(struct sql *q, const char *name, void (*tell)(void *context, const char *column),
    void *context)
{
}

/* Every text may be a view. */
int sql_check_view(const char *name, const char *text, struct err *err)
{
	return 0;
}

/* --- files ----------------------------------------------------------------------------------------- */

int sql_file_open(struct sql_file **out, const char *path, struct progress *progress, struct err *err)
{
	*out = NULL;
	return no_sqlite("write .sqlite files (export -dir writes CSV)", err);
}

int sql_file_add(struct sql_file *f, const char *name, struct result *r, struct err *err)
{
	return no_sqlite("write .sqlite files", err);
}

int sql_file_close(struct sql_file *f, int code, struct err *err)
{
	return code;
}

int profile_write(const struct profile *p, FILE *to, bool compressed, struct progress *progress, struct err *err)
{
	return no_sqlite("write profiles", err);
}

int profile_read(struct profile *out, const char *path, struct progress *progress, struct err *err)
{
	int code = no_sqlite("read profiles", err);
	err_context(err, "%.200s", path);
	return code;
}

bool profile_glance(const char *path, char created[static 32], struct amount *objects, struct amount *shallow)
{
	return false;
}

const char *profile_support(void)
{
	return NULL;
}
