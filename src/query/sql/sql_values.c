/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sql_values.c - objects, amounts and cells as SQLite's values, and back. */
#include "heap/classes.h"
#include "query/sql/sql_private.h"

#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- objects ------------------------------------------------------------------------------------ */

uint32_t sql_object(const struct sql *q, sqlite3_value *value)
{
	const char *s;
	char *end;
	uint64_t address;
	double real;
	switch (sqlite3_value_type(value)) {
	case SQLITE_INTEGER:
		return heap_find_value(q->heap, (uint64_t)sqlite3_value_int64(value));
	case SQLITE_TEXT:
		s = (const char *)sqlite3_value_text(value);
		if (!s)
			return HEAP_NONE;
		if (s[0] != '0' || (s[1] != 'x' && s[1] != 'X'))
			return sqlite3_value_numeric_type(value) == SQLITE_INTEGER ?
			    heap_find_value(q->heap, (uint64_t)sqlite3_value_int64(value)) : HEAP_NONE;
		address = strtoull(s + 2, &end, 16);
		return end > s + 2 && !*end ? heap_find_value(q->heap, address) : HEAP_NONE;
	case SQLITE_FLOAT:
		real = sqlite3_value_double(value);
		if (!(real >= 0 && real < 9.2e18) || (double)(uint64_t)real != real)
			return HEAP_NONE;
		return heap_find_value(q->heap, (uint64_t)real);
	default:
		return HEAP_NONE;
	}
}

uint32_t sql_object_around(const struct sql *q, sqlite3_value *value)
{
	uint32_t id = sql_object(q, value);
	if (id == HEAP_NONE && sqlite3_value_type(value) == SQLITE_INTEGER)
		id = heap_target(q->heap, (uint64_t)sqlite3_value_int64(value));
	return id;
}

int sql_classes_named(const struct sql *q, sqlite3_value *value, struct bits *classes, bool *some)
{
	const char *name = sqlite3_value_type(value) == SQLITE_TEXT ? (const char *)sqlite3_value_text(value) : NULL;
	struct err err = ERR_INIT;
	if (!classes->word && bits_init(classes, q->heap->n_classes, &err))
		return SQLITE_NOMEM;
	*some = false;
	for (uint32_t i = 0; name && i < q->heap->n_classes; i++) {
		if (strcmp(q->heap->classes[i].name, name))
			continue;
		bits_set(classes, i);
		*some = true;
	}
	return SQLITE_OK;
}

bool sql_addresses_ordered(const struct heap *h)
{
	return !h->n_objects || heap_address(h, h->n_objects - 1) <= INT64_MAX;
}

void sql_result_address(sqlite3_context *to, const struct heap *h, uint32_t id)
{
	if (id == HEAP_NONE)
		sqlite3_result_null(to);
	else
		sqlite3_result_int64(to, (sqlite3_int64)heap_address(h, id));
}

void sql_result_place(sqlite3_context *to, const struct heap *h, uint32_t id)
{
	char word[24];
	snprintf(word, sizeof word, "0x%" PRIx64, heap_address(h, id));
	sqlite3_result_text(to, word, -1, SQLITE_TRANSIENT);
}

/* --- numbers ------------------------------------------------------------------------------------ */

void sql_result_amount(struct sql *q, sqlite3_context *to, struct amount a)
{
	if (a.certainty != UNKNOWN) /* that is NULL */
		q->now.doubt = amount_as_sure(q->now.doubt, a);
	if (a.certainty == UNKNOWN)
		sqlite3_result_null(to);
	else if (a.n > INT64_MAX)
		sqlite3_result_double(to, (double)a.n);
	else
		sqlite3_result_int64(to, (sqlite3_int64)a.n);
	if (a.certainty == EXACT)
		sqlite3_result_subtype(to, SQL_EXACT);
}

void sql_result_text(sqlite3_context *to, const struct text *t)
{
	sqlite3_result_text64(to, t->s ? t->s : "", t->len, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void result_number(sqlite3_context *to, const struct number *n)
{
	double real;
	if (n->kind == NUMBER_REAL) {
		memcpy(&real, &n->bits, sizeof real);
		sqlite3_result_double(to, real); /* NaN is NULL in SQL */
	} else if (n->kind == NUMBER_UNSIGNED && n->bits > INT64_MAX) {
		sqlite3_result_double(to, (double)n->bits);
	} else {
		sqlite3_result_int64(to, (sqlite3_int64)n->bits);
	}
}

enum { NO_VALUE = 1, TOLD, WHOLE /* whole numbers */ }; /* of sql.values, by class */

bool sql_is_value(const struct sql *q, uint32_t id)
{
	unsigned char *known = &q->values[heap_class_index(q->heap, id)];
	if (!*known)
		*known = describe_is_whole(q->heap, heap_class_index(q->heap, id)) ? WHOLE :
		    describe_is_value(q->heap, heap_class_index(q->heap, id)) ? TOLD : NO_VALUE;
	return *known != NO_VALUE;
}

/* Digits as a number, so that SQL adds and compares it; anything else is a text. */
static void result_digits(sqlite3_context *to, const struct text *t, bool whole)
{
	enum { REAL_DIGITS = 15 };
	static const char digits[] = "0123456789.eE+-";
	bool number = t->len && strspn(t->s, digits) == t->len;
	char *end_of_integer, *end_of_real;
	errno = 0;
	long long n = number ? strtoll(t->s, &end_of_integer, 10) : 0;
	bool integer = number && !*end_of_integer && !errno;
	bool plain = number && !strpbrk(t->s, "eE");
	double real = number ? strtod(t->s, &end_of_real) : 0;
	if (integer)
		sqlite3_result_int64(to, n);
	else if (number && !*end_of_real && !(whole && plain && t->len > REAL_DIGITS + 2))
		sqlite3_result_double(to, real);
	else if (t->len && (!strcmp(t->s, "true") || !strcmp(t->s, "false")))
		sqlite3_result_int(to, t->s[0] == 't');
	else if (t->len > 2 && t->s[0] == '\'' && t->s[t->len - 1] == '\'') /* a character */
		sqlite3_result_text64(to, t->s + 1, t->len - 2, SQLITE_TRANSIENT, SQLITE_UTF8);
	else
		sql_result_text(to, t);
}

void sql_result_contents(const struct sql *q, sqlite3_context *to, uint32_t id, bool whole,
    struct sql_reader *reader)
{
	const struct heap *h = q->heap;
	struct text *scratch = &reader->scratch;
	struct string_view view;
	struct number n;
	text_clear(scratch);
	if (sql_is_value(q, id) && q->values[heap_class_index(h, id)] == WHOLE &&
	    describe_whole(h, id, &reader->walk.string, &n)) {
		result_number(to, &n);
	} else if (inspect_text_along(h, id, &reader->walk, &view)) {
		string_add_raw(&view, scratch);
		sql_result_text(to, scratch);
	} else if (!describe_object(h, id, DESCRIBE_SHORT, scratch)) {
		sqlite3_result_null(to);
	} else if (sql_is_value(q, id)) {
		result_digits(to, scratch, whole);
	} else {
		sql_result_text(to, scratch);
	}
}

/* What is no reference, no number and no text: a character, a struct. */
static void result_other(sqlite3_context *to, struct text *t)
{
	if (!strcmp(t->s, "null") || !strcmp(t->s, "nil"))
		sqlite3_result_null(to);
	else if (t->len > 1 && (t->s[0] == '"' || t->s[0] == '\'') && t->s[t->len - 1] == t->s[0])
		sqlite3_result_text64(to, t->s + 1, t->len - 2, SQLITE_TRANSIENT, SQLITE_UTF8);
	else
		sql_result_text(to, t);
}

/* What a field and a variable have in common; false: v is none of these; *target gets where it leads. */
static bool result_itself(const struct sql *q, sqlite3_context *to, const struct any_value *v, bool contents,
    struct sql_reader *reader, struct value_target *target)
{
	struct number n;
	*target = (struct value_target){.id = HEAP_NONE};
	text_clear(&reader->scratch);
	if (inspect_number(v, &n)) {
		result_number(to, &n);
		return true;
	}
	if (inspect_string(v, &reader->scratch)) {
		sql_result_text(to, &reader->scratch);
		return true;
	}
	*target = inspect_target(v);
	if (!contents || target->id == HEAP_NONE || !sql_is_value(q, target->id))
		return false;
	sql_result_contents(q, to, target->id, false, reader);
	return true;
}

void sql_result_value(const struct sql *q, sqlite3_context *to, const struct any_value *v, bool contents,
    struct sql_reader *reader)
{
	struct value_target target;
	if (result_itself(q, to, v, contents, reader, &target))
		return;
	if (target.address) {
		sqlite3_result_int64(to, (sqlite3_int64)target.address);
		return;
	}
	text_clear(&reader->scratch);
	inspect_value(v, UINT32_MAX, &reader->scratch);
	result_other(to, &reader->scratch);
}

void sql_result_words(const struct sql *q, sqlite3_context *to, const struct any_value *v,
    struct sql_reader *reader)
{
	struct value_target target;
	if (result_itself(q, to, v, true, reader, &target))
		return;
	text_clear(&reader->scratch);
	inspect_value(v, DESCRIBE_SHORT, &reader->scratch);
	result_other(to, &reader->scratch);
}

void sql_result_cell(struct sql *q, sqlite3_context *to, const struct cell *c)
{
	char *end;
	if (c->amount.certainty != UNKNOWN)
		q->now.doubt = amount_as_sure(q->now.doubt, c->amount);
	switch (c->type) {
	case CELL_NONE:
		sqlite3_result_null(to);
		break;
	case CELL_TEXT:
		sqlite3_result_text(to, c->text, -1, SQLITE_TRANSIENT);
		break;
	case CELL_NUMBER: {
		long long n = strtoll(c->text, &end, 10);
		if (*end)
			sqlite3_result_double(to, strtod(c->text, NULL));
		else
			sqlite3_result_int64(to, n);
		break;
	}
	case CELL_PERCENT:
		sqlite3_result_double(to, (double)c->amount.n / 10);
		break;
	case CELL_DELTA:
	case CELL_BYTES_DELTA:
		sqlite3_result_int64(to, amount_signed(c->amount));
		break;
	default:
		if (c->amount.certainty == UNKNOWN)
			sqlite3_result_null(to);
		else
			sqlite3_result_int64(to, (sqlite3_int64)c->amount.n);
	}
	if (c->amount.certainty == EXACT)
		sqlite3_result_subtype(to, SQL_EXACT);
}

/* A set is a blob: the mark, then ids, ascending.  A statement may write any blob, so one that is none but begins like
 * it is just that. */
const char *sql_set(const struct sql *q, sqlite3_value *value, size_t *n)
{
	enum { HEAD = (sizeof SQL_SET_MARK + 3) / 4 * 4 };
	if (sqlite3_value_type(value) != SQLITE_BLOB)
		return NULL;
	const char *bytes = sqlite3_value_blob(value);
	size_t length = (size_t)sqlite3_value_bytes(value);
	if (!bytes || length < HEAD || length % 4 || memcmp(bytes, SQL_SET_MARK, sizeof SQL_SET_MARK))
		return NULL;
	*n = (length - HEAD) / 4;
	uint32_t id, before = 0;
	for (size_t i = 0; i < *n; i++, before = id) {
		memcpy(&id, bytes + HEAD + 4 * i, sizeof id);
		if (id >= q->heap->n_objects || (i && id <= before))
			return NULL;
	}
	return bytes + HEAD;
}
