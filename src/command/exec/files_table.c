/* SPDX-License-Identifier: GPL-3.0-or-later */
/* files_table.c - the table of files that a command wrote. */
#include "command/exec/exec.h"

#include <string.h>

static const struct column columns[] = {
    {.id = COL_FILE}, {.id = COL_BYTES}, {.id = COL_HOLDS_WORDS}, {.id = COL_LEAVES_OUT}};
const struct shape files_shape = {SHAPE_COLUMNS(columns)};

static const struct column of_one[] = {{.id = COL_FILE}, {.id = COL_BYTES}};
const struct shape file_shape = {SHAPE_COLUMNS(of_one)};
const struct shape file_by_option_shape = {.form = "-o FILE", SHAPE_COLUMNS(of_one)};

struct result *file_written(const struct session *s, const struct shape *shape, const char *title, const char *file,
    uint64_t bytes)
{
	struct text name = TEXT_INIT;
	struct result *r = s->typed ? NULL : result_new_rows(title, s->dump, shape);
	text_add_escaped(&name, file, strlen(file));
	if (r)
		result_add_row(r, (struct cell[]){cell_text(name.s ? name.s : ""), cell_bytes(amount_exact(bytes))}, NULL);
	text_release(&name);
	return r;
}

struct result *files_table(const struct session *s, const char *title)
{
	return result_new_rows(title, s->dump, &files_shape);
}

void files_table_add(struct result *r, const char *file, uint64_t bytes, const char *holds, const char *leaves_out)
{
	struct text name = TEXT_INIT;
	text_add_escaped(&name, file, strlen(file));
	result_add_row(r, (struct cell[]){cell_text(name.s ? name.s : ""), bytes ? cell_bytes(amount_exact(bytes)) :
	    cell_blank(), cell_text_or_blank(holds), cell_text_or_blank(leaves_out)}, NULL);
	text_release(&name);
}
