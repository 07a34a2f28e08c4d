/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * describe.c - see describe.h: each question goes to the inspector of the dump.
 */
#include "analysis/describe/describe.h"

#include "analysis/describe/collection.h"
#include "analysis/describe/inspector.h"
#include "base/mem.h"
#include "heap/classes.h"
#include "heap/field_words.h"

#include <stdlib.h>
#include <string.h>

/* The one place that tells dumps apart by how they tell values. */
static const struct inspector *inspector_of(const struct heap *h)
{
	static const struct inspector *const inspectors[] = {
		[NO_VALUES] = &no_inspector,
		[DECLARED_FIELDS] = &declared_inspector,
		[TYPED_MEMORY] = &memory_inspector,
		[VALUES_AWAY] = &away_inspector,
	};
	return inspectors[h->dump ? h->facts.values : NO_VALUES]; /* heaps of tests have no dump */
}

/* --- an object, a value ------------------------------------------------------------------------- */

bool describe_object(const struct heap *h, uint32_t id, uint64_t limit, struct text *to)
{
	return inspector_of(h)->object(h, id, limit, to);
}

bool describe_knows_class(const struct heap *h, uint32_t class)
{
	return inspector_of(h)->knows_class(h, class);
}

void inspect_value(const struct any_value *v, uint64_t limit, struct text *to)
{
	inspector_of(v->heap)->value(v, limit, to);
}

struct value_target inspect_target(const struct any_value *v)
{
	return inspector_of(v->heap)->target(v);
}

const char *inspect_type(const struct any_value *v)
{
	return inspector_of(v->heap)->type(v);
}

bool inspect_number(const struct any_value *v, struct number *out)
{
	return inspector_of(v->heap)->number(v, out);
}

bool inspect_string(const struct any_value *v, struct text *to)
{
	const struct inspector *i = inspector_of(v->heap);
	return i->string && i->string(v, to);
}

uint64_t number_rank(const struct number *n)
{
	const uint64_t top = UINT64_C(1) << 63;
	if (n->kind == NUMBER_SIGNED)
		return n->bits ^ top;
	if (n->kind == NUMBER_REAL) /* IEEE 754: negative ones count downwards */
		return n->bits & top ? ~n->bits : n->bits | top;
	return n->bits;
}

/* --- a number that is looked for ---------------------------------------------------------------- */

int number_plan_make(struct number_plan **out, const struct heap *h, struct err *err)
{
	struct number_plan *p = xcalloc(1, sizeof *p);
	p->heap = h;
	int code = inspector_of(h)->plan(p, err);
	if (code)
		number_plan_free(p);
	else
		*out = p;
	return code;
}

int inspect_find_number(struct number_finder *f, uint32_t id, struct err *err)
{
	return inspector_of(f->plan->heap)->find_number(f, id, err);
}

void inspect_number_place(const struct heap *h, uint32_t id, uint64_t place, struct text *to)
{
	inspector_of(h)->number_place(h, id, place, to);
}

/* --- parts -------------------------------------------------------------------------------------- */

int no_range(const char *type, struct err *err)
{
	return err_set(err, ERR_USAGE, "-start and -length need an array or a string, not a %.200s", type);
}

int inspect_parts(struct object_parts **out, const struct heap *h, uint32_t id, const struct range *which,
    struct err *err)
{
	return inspector_of(h)->parts(out, h, id, which, err);
}

void inspect_part(const struct object_parts *p, size_t i, struct object_part *out)
{
	p->inspector->part(p, i, out);
}

void inspect_part_name(const struct object_parts *p, size_t i, struct text *to)
{
	p->inspector->part_name(p, i, to);
}

void inspect_parts_close(struct object_parts *p)
{
	if (p)
		p->inspector->parts_close(p);
}

int inspect_shared_fields(struct shared_fields **out, const struct heap *h, const uint32_t *ids, size_t n,
    struct err *err)
{
	static const struct shared_fields none;
	if (n)
		return inspector_of(h)->fields(out, h, ids, n, err);
	*out = xcalloc(1, sizeof **out);
	**out = none;
	return 0;
}

void inspect_shared_field(const struct shared_fields *f, size_t i, struct shared_field *out)
{
	f->inspector->field(f, i, out);
}

void inspect_shared_word(const struct shared_fields *f, size_t i, struct text *to)
{
	struct shared_field field;
	inspect_shared_field(f, i, &field);
	if (field.field)
		field_word(f->heap, field.shared, field.field, to);
	else
		text_add(to, field.name);
}

/* The names by which a field is looked for, one kind after the other. */
enum { PLAIN, OF_TWINS, ANY, KINDS_OF_NAMES };

static size_t begins_with_field(const struct heap *h, const struct shared_field *f, const char *words, int kind)
{
	if (kind == PLAIN)
		return field_name_begins(f->name, words);
	size_t n = f->field ? field_word_begins(h, f->shared, f->field, words) : 0;
	return kind == ANY || (n && field_has_twin(h, f->shared, f->field)) ? n : 0;
}

/* Where a path of plain names has a meaning, no class's name is looked for in it. */
size_t inspect_shared_find(const struct shared_fields *f, const char *words, size_t *at)
{
	struct shared_field field;
	size_t longest = 0, n;
	int kinds = strpbrk(words, "._") ? KINDS_OF_NAMES : PLAIN + 1; /* all names but plain ones have these */
	for (int kind = PLAIN; kind < kinds && (kind < ANY || !longest); kind++) {
		for (size_t i = 0; i < f->n; i++) {
			inspect_shared_field(f, i, &field);
			if ((n = begins_with_field(f->heap, &field, words, kind)) > longest) {
				longest = n;
				*at = i;
			}
		}
	}
	return longest;
}

bool inspect_shared_value(const struct shared_fields *f, struct fields_walk *w, uint32_t id, size_t i,
    struct any_value *out)
{
	return f->inspector->field_value(f, w, id, i, out);
}

void inspect_shared_fields_close(struct shared_fields *f)
{
	if (f && f->inspector)
		f->inspector->fields_close(f);
	else
		free(f);
}

int inspect_bytes(struct object_bytes *out, const struct heap *h, uint32_t id, struct err *err)
{
	return inspector_of(h)->bytes(out, h, id, err);
}

/* --- collections -------------------------------------------------------------------------------- */

int inspect_entries(struct entries **out, const struct heap *h, uint32_t id, const struct range *which,
    struct err *err)
{
	return inspector_of(h)->entries(out, h, id, which, err);
}

void inspect_entry(const struct entries *e, size_t i, struct any_value *key, struct any_value *value)
{
	e->inspector->entry(e, i, key, value);
}

void inspect_entries_close(struct entries *e)
{
	if (!e)
		return;
	text_release(&e->note);
	e->inspector->entries_close(e);
}

bool inspect_size(const struct heap *h, uint32_t id, struct collection_size *out)
{
	return inspector_of(h)->size(h, id, out);
}

bool inspect_count(const struct heap *h, uint32_t id, uint64_t *left, struct collection_size *out)
{
	return inspector_of(h)->count(h, id, left, out);
}

bool inspect_is_collection(const struct heap *h, uint32_t id)
{
	struct collection_size size;
	if (heap_class_of(h, id)->kind != CLASS_PLAIN)
		return false;
	return collection_class(h, heap_class_index(h, id)) || inspect_size(h, id, &size);
}

bool inspect_held_as(const struct heap *h, uint32_t id, struct text *to)
{
	const struct inspector *i = inspector_of(h);
	return i->held_as && i->held_as(h, id, to);
}

/* --- texts -------------------------------------------------------------------------------------- */

bool inspect_text(const struct heap *h, uint32_t id, struct string_view *out)
{
	return inspect_text_along(h, id, &(struct string_walk){ .string = { 0 } }, out);
}

bool inspect_text_along(
    const struct heap *h, uint32_t id, struct string_walk *walk, struct string_view *out)
{
	return inspector_of(h)->text(h, id, walk, out);
}

bool inspect_characters(const struct heap *h, uint32_t id, struct string_view *out)
{
	return inspector_of(h)->characters(h, id, out);
}

enum text_class inspect_text_class(const struct heap *h, uint32_t class)
{
	return inspector_of(h)->text_class(h, class);
}

int inspect_texts_held(const struct heap *h, struct err *err)
{
	return values_held(h) ? inspector_of(h)->texts_held(h, err) : heap_holds_no_values(h, err);
}

bool inspect_texts_run_on(const struct heap *h)
{
	return inspector_of(h)->texts_run_on;
}

/* --- names of references ------------------------------------------------------------------------ */

void reference_names_begin(struct reference_names *n, const struct heap *h, uint32_t holder)
{
	*n = (struct reference_names){ .inspector = inspector_of(h) };
	n->inspector->names_begin(n, h, holder);
}

bool reference_names_next(struct reference_names *n, uint32_t target, struct text *to)
{
	return n->open && n->inspector->names_next(n, target, to);
}

int inspect_named_of_class(
    struct named_references *n, const struct heap *h, uint32_t class, struct err *err)
{
	n->found = false;
	return inspector_of(h)->named_of_class(n, h, class, err);
}

int inspect_named_of_object(
    struct named_references *n, const struct heap *h, uint32_t holder, struct err *err)
{
	n->found = false;
	return inspector_of(h)->named_of_object(n, h, holder, err);
}

bool inspect_declares_fields(const struct heap *h)
{
	return values_held(h) && inspector_of(h)->declared_field;
}

bool inspect_declared_field(const struct heap *h, uint32_t holder, uint32_t target, uint32_t *class,
    const char **field)
{
	const struct inspector *i = inspector_of(h);
	return i->declared_field && i->declared_field(h, holder, target, class, field);
}

/* --- global variables --------------------------------------------------------------------------- */

bool inspect_has_variables(const struct heap *h)
{
	return inspector_of(h)->variable != NULL;
}

int inspect_variable(struct variable *out, const struct heap *h, const char *word, struct err *err)
{
	const struct inspector *i = inspector_of(h);
	if (!i->variable)
		return err_set(err, ERR_NOT_FOUND, "no global variable \"%.100s\"", word);
	return i->variable(out, h, word, err);
}

void inspect_variable_names(
    const struct heap *h, const char *word, inspect_name_found *found, void *context)
{
	const struct inspector *i = inspector_of(h);
	if (i->variable_names)
		i->variable_names(h, word, found, context);
}

int inspect_variable_parts(
    struct object_parts **out, const struct variable *v, const struct range *which, struct err *err)
{
	return inspector_of(v->value.heap)->variable_parts(out, v, which, err);
}

void inspect_variable_bytes(struct object_bytes *out, const struct variable *v)
{
	inspector_of(v->value.heap)->variable_bytes(out, v);
}

int inspect_variable_entries(
    struct entries **out, const struct variable *v, const struct range *which, struct err *err)
{
	return inspector_of(v->value.heap)->variable_entries(out, v, which, err);
}

bool inspect_variable_size(const struct variable *v, uint64_t *size)
{
	return inspector_of(v->value.heap)->variable_size(v, size);
}
