/* SPDX-License-Identifier: GPL-3.0-or-later */
/* name_role.c - see name_role.h. */
#include "view/name_role.h"

#include "heap/heap.h"
#include "heap/library.h"
#include "result/tree.h"

#include <string.h>

static bool begins_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Go writes brackets before the type, Java after it; "Object[73]" has its length in them. */
static bool is_array(bool java, const char *name)
{
	if (!java)
		return *name == '[';
	size_t n = strcspn(name, " ");
	return n && name[n - 1] == ']';
}

enum role name_role(const struct heap *h, const char *name)
{
	static const char class_object[] = "class ";
	bool java = !h || h->java_lang_class != HEAP_NONE;

	if (!strncmp(name, class_object, sizeof class_object - 1))
		name += sizeof class_object - 1;
	if (is_array(java, name))
		return ROLE_ARRAY;
	if (!begins_name(*name) && (java || !strchr("*(", *name)))
		return ROLE_TEXT; /* "<primitive>", "?" */
	if (!strcmp(name, java ? "java.lang.String" : "string"))
		return ROLE_STRING;
	return library_programs_name(java, name) ? ROLE_OWN_CLASS : ROLE_LIBRARY;
}

/* Of the branch of a tree: a package, a class, or a frame behind its number; but "sessions  HashMap" names what the
 * program calls so. */
static enum role branch_role(const struct heap *h, const char *name)
{
	name += strspn(name, "0123456789");
	name += strspn(name, " ");
	size_t n = strcspn(name, " ("), dot = strcspn(name, ".");

	return dot < n && name[n] != ' ' ? name_role(h, name) : ROLE_TEXT;
}

const char *name_of_static(const char *field)
{
	static const char is_static[] = "static ";

	if (!strncmp(field, is_static, sizeof is_static - 1))
		field += sizeof is_static - 1;
	return strchr(field, ' ') || *field == '[' || !strchr(field, '.') ? NULL : field;
}

enum role name_role_of_holder(const struct heap *h, const char *field, const char *class)
{
	const char *name = name_of_static(field);
	bool of_object = *field && *field != '[' && !strchr(field, ' '), of_thread = strchr(field, '"');

	if (name)
		return name_role(h, name);
	return of_object || of_thread || !class ? ROLE_TEXT : name_role(h, class);
}

enum role value_role(const char *value)
{
	if (*value == '"' || *value == '\'')
		return ROLE_STRING;
	if (!strncmp(value, "0x", 2))
		return ROLE_ADDRESS;
	return is_digit(value[*value == '-']) ? ROLE_NUMBER : ROLE_TEXT;
}

enum role cell_role_in(const struct heap *h, enum column_id column, const struct cell *cell)
{
	if (cell->suspect)
		return ROLE_SUSPECT;
	if (cell->amount.certainty != EXACT)
		return ROLE_UNSURE;
	if (cell->type == CELL_ADDRESS)
		return ROLE_ADDRESS;
	if (cell->type == CELL_NUMBER)
		return ROLE_NUMBER;
	if (cell->type != CELL_TEXT)
		return ROLE_TEXT;
	switch (column) {
	case COL_BRANCH:
		return branch_role(h, cell->text);
	case COL_CLASS:
	case COL_LOADER:
	case COL_METHOD:
	case COL_PACKAGE:
	case COL_SUPERCLASS:
	case COL_TARGET_CLASS:
	case COL_TYPE:
	case COL_VALUE_CLASS:
	case COL_KEY_CLASS:
	case COL_ACCUMULATED_CLASS:
		return name_role(h, cell->text);
	default:
		return column_kinds[column].values ? value_role(cell->text) : ROLE_TEXT;
	}
}

enum role cell_role_in_row(struct result *r, size_t row, unsigned column, const struct cell *cell)
{
	struct text field = TEXT_INIT;
	struct cell held;

	if (!tree_has_groups(r) || column != tree_column(r) || !result_cell_in(r, row, COL_FIELD, &held))
		return cell_role_in(r->heap, r->columns[column].id, cell);
	text_add(&field, held.type == CELL_TEXT ? held.text : "");
	bool has_class = result_cell_in(r, row, COL_CLASS, &held) && held.type == CELL_TEXT;
	enum role role = name_role_of_holder(r->heap, field.len ? field.s : "", has_class ? held.text : NULL);
	text_release(&field);
	return role;
}
