/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_fields.c - fields by their names: those of a class's instances, and what a path of fields leads to.
 *
 * A field is found by its names (inspect_shared_find) and by that of its column.  What no column has is looked for part
 * by part: static fields of a class, elements of an array ("[3]"), fields beyond those that become columns.
 */
#include "heap/classes.h"
#include "query/sql/sql_private.h"

#include "base/mem.h"
#include "heap/field_words.h"
#include "memory/big.h"
#include "result/objects.h"

#include <stdlib.h>
#include <string.h>

/* --- of a class --------------------------------------------------------------------------------- */

struct class_fields {
	struct shared_fields *fields; /* NULL: there are none */
	struct sql_columns columns;   /* of a table of the class: the last of them are the fields' */
};

static int fields_of(struct sql *q, uint32_t id, const struct class_fields **out, struct err *err)
{
	const struct heap *h = q->heap;
	if (!q->fields && !(q->fields = big_alloc(h->n_classes, sizeof(*q->fields), err)))
		return ERR_NOMEM;
	struct class_fields **at = &q->fields[heap_class_index(h, id)];
	struct shared_fields *fields = NULL;
	int code = *at ? 0 : inspect_shared_fields(&fields, h, &id, 1, err);
	if (!code && !*at) {
		*at = xcalloc(1, sizeof **at);
		(*at)->fields = fields;
		sql_objects_columns(q, fields, NULL, &(*at)->columns);
	}
	*out = *at;
	return code;
}

const struct shared_fields *sql_fields_of(struct sql *q, uint32_t id, struct err *err)
{
	const struct class_fields *c;
	return fields_of(q, id, &c, err) ? NULL : c->fields;
}

void sql_fields_release(struct sql *q)
{
	for (uint32_t i = 0; q->fields && i < q->heap->n_classes; i++) {
		if (!q->fields[i])
			continue;
		inspect_shared_fields_close(q->fields[i]->fields);
		sql_columns_release(&q->fields[i]->columns);
		free(q->fields[i]);
	}
	big_free(q->fields);
	q->fields = NULL;
}

static const char *column_of(const struct class_fields *c, size_t i)
{
	return c->columns.name[c->columns.n - c->fields->n + i];
}

int sql_shared_fields(struct shared_fields **out, struct sql *q, const uint32_t *classes, size_t n, struct err *err)
{
	uint32_t *ids = big_alloc(n + 1, sizeof *ids, err), id; /* an object of each class */
	size_t found = 0;
	if (!ids)
		return ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		struct members_walk walk = members_instances(&q->members, classes[i]);
		if (members_next(&q->members, &walk, &id))
			ids[found++] = id;
	}
	int code = inspect_shared_fields(out, q->heap, ids, found, err);
	big_free(ids);
	return code;
}

/* --- one step ----------------------------------------------------------------------------------- */

/* The field that the words begin with: names may hold dots themselves (those of structs within structs), so the
 * longest counts.  Returns its length; 0: none. */
static size_t find_field(const struct class_fields *c, const char *words, size_t *field)
{
	size_t longest = inspect_shared_find(c->fields, words, field), n;
	for (size_t i = 0; i < c->fields->n; i++) {
		if ((n = field_name_begins(column_of(c, i), words)) > longest) {
			longest = n;
			*field = i;
		}
	}
	return longest;
}

/* "[17]" at the beginning: its length; 0: it is none. */
static size_t element_of(const char *words, struct range *which)
{
	char *end;
	if (words[0] != '[' || words[1] < '0' || words[1] > '9')
		return 0;
	which->start = strtoull(words + 1, &end, 10);
	which->length = 1;
	which->given = true;
	return *end == ']' ? (size_t)(end + 1 - words) : 0;
}

/* What is no column: *parts stays open for the value.  Returns the length of its name; 0: there is none. */
static size_t find_part(const struct sql *q, uint32_t id, const char *words, struct object_parts **parts,
    struct any_value *v)
{
	struct range which = {0, UINT64_MAX, false};
	size_t element = element_of(words, &which), longest = 0, n;
	struct object_part part;
	inspect_parts_close(*parts);
	*parts = NULL;
	if ((*words == '[' && !element) || inspect_parts(parts, q->heap, id, &which, NULL)) {
		*parts = NULL;
		return 0;
	}
	for (size_t i = 0; i < (*parts)->n; i++) {
		inspect_part(*parts, i, &part);
		n = element ? element : part.name ? field_name_begins(part.name, words) : 0;
		if (!n && part.name && strstr(words, part.name)) {
			struct text word = TEXT_INIT;
			inspect_part_name(*parts, i, &word);
			n = field_name_begins(word.s, words);
			text_release(&word);
		}
		if (part.missing || n <= longest)
			continue;
		longest = n;
		*v = part.value;
	}
	return longest;
}

/* May an object have what no column of its class has?  Class objects have statics; fields of java.lang.Class itself are
 * known for the few that represent primitives only, so they are not columns. */
static bool has_more(const struct sql *q, const struct class_fields *c, uint32_t id)
{
	const struct heap *h = q->heap;
	return c->fields->more || object_is_array(h, id) || heap_class_index(h, id) == h->java_lang_class ||
	    heap_class_mirrored(h, id) != HEAP_NONE;
}

bool sql_has_field(struct sql *q, uint32_t id, const char *name, struct err *err)
{
	const struct class_fields *c;
	struct object_parts *parts = NULL;
	struct any_value v;
	size_t field, n = strlen(name);
	if (fields_of(q, id, &c, err))
		return false;
	if (find_field(c, name, &field) == n)
		return true;
	bool found = has_more(q, c, id) && find_part(q, id, name, &parts, &v) == n;
	inspect_parts_close(parts);
	return found;
}

int sql_each_field(struct sql *q, uint32_t id, void (*take)(void *context, const char *name), void *context,
    struct err *err)
{
	const struct class_fields *c;
	struct shared_field f;
	int code = fields_of(q, id, &c, err);
	for (size_t i = 0; !code && i < c->fields->n; i++) {
		inspect_shared_field(c->fields, i, &f);
		take(context, f.name);
		if (strcmp(f.name, column_of(c, i)))
			take(context, column_of(c, i));
	}
	return code;
}

/* --- paths -------------------------------------------------------------------------------------- */

struct sql_path *sql_path_make(struct sql *q, const char *words)
{
	struct sql_path *p = xcalloc(1, sizeof *p);
	p->sql = q;
	p->words = xstrdup(words);
	p->n = strlen(words);
	return p;
}

void sql_path_free(struct sql_path *p)
{
	inspect_parts_close(p->parts);
	free(p->words);
	free(p->step);
	free(p);
}

/* What is known of the step that begins at this byte. */
static struct sql_step *step_at(struct sql_path *p, size_t at)
{
	size_t i = 0;
	while (i < p->n_steps && p->step[i].at != at)
		i++;
	if (i == p->n_steps)
		VEC_PUSH(p->step, p->n_steps, p->cap_steps) =
		    (struct sql_step){.at = at, .class = HEAP_NONE, .walk = {.id = HEAP_NONE}};
	return &p->step[i];
}

/* To the value of the field that the words from this byte on begin with.  0: there is none. */
static size_t step(struct sql_path *p, size_t at, uint32_t id, struct any_value *v, struct err *err)
{
	struct sql_step *s = step_at(p, at);
	const struct class_fields *c;
	size_t n;
	if (fields_of(p->sql, id, &c, err))
		return 0;
	if (s->class != heap_class_index(p->sql->heap, id)) {
		s->class = heap_class_index(p->sql->heap, id);
		s->walk.id = HEAP_NONE;
		s->length = find_field(c, p->words + at, &s->field);
	}
	n = s->length;
	if (n)
		return inspect_shared_value(c->fields, &s->walk, id, s->field, v) ? n : 0;
	if (has_more(p->sql, c, id))
		n = find_part(p->sql, id, p->words + at, &p->parts, v);
	if (!n && (!p->missed || at > p->missed_at)) {
		p->missed = true;
		p->missed_at = at;
		p->missed_id = id;
	}
	return n;
}

bool sql_path_is_missed(const struct sql_path *p)
{
	return p->missed && !p->led && p->missed_at >= p->found_to;
}

bool sql_path_walk(struct sql_path *p, uint32_t id, struct any_value *v, struct err *err)
{
	for (size_t at = 0, n; at < p->n; id = inspect_target(v).id) {
		if (id == HEAP_NONE || !(n = step(p, at, id, v, err)))
			return false;
		at += n + (p->words[at + n] == '.');
		if (at > p->found_to)
			p->found_to = at;
	}
	p->led = true;
	return p->n > 0;
}
