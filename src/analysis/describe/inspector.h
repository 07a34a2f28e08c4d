/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inspector.h - the table of functions for one form of values, called by describe.h.
 *
 * To add a form, add a name to enum value_form (dump/reader.h), write a struct
 * inspector in a file of its own, and add its line to the table in describe.c.  Nothing else changes.
 * Each function does what the function of the same name in describe.h promises.  A function marked
 * "or NULL" may be missing: then dumps of this kind cannot do that.
 */
#ifndef CAIRN_ANALYSIS_DESCRIBE_INSPECTOR_H
#define CAIRN_ANALYSIS_DESCRIBE_INSPECTOR_H

#include "analysis/describe/describe.h"

struct inspector {
	bool texts_run_on; /* inspect_texts_run_on */

	bool (*object)(const struct heap *h, uint32_t id, uint64_t limit, struct text *to);
	bool (*knows_class)(const struct heap *h, uint32_t class);

	void (*value)(const struct any_value *v, uint64_t limit, struct text *to);
	struct value_target (*target)(const struct any_value *v);
	const char *(*type)(const struct any_value *v);
	bool (*number)(const struct any_value *v, struct number *out);
	bool (*string)(const struct any_value *v, struct text *to); /* or NULL */

	int (*plan)(struct number_plan *p, struct err *err);
	int (*find_number)(struct number_finder *f, uint32_t id, struct err *err);
	void (*number_place)(const struct heap *h, uint32_t id, uint64_t place, struct text *to);

	int (*parts)(struct object_parts **out, const struct heap *h, uint32_t id, const struct range *which,
	    struct err *err);
	void (*part)(const struct object_parts *p, size_t i, struct object_part *out);
	void (*part_name)(const struct object_parts *p, size_t i, struct text *to);
	void (*parts_close)(struct object_parts *p);
	int (*bytes)(struct object_bytes *out, const struct heap *h, uint32_t id, struct err *err);

	int (*fields)(struct shared_fields **out, const struct heap *h, const uint32_t *ids, size_t n,
	    struct err *err); /* n > 0 */
	void (*field)(const struct shared_fields *f, size_t i, struct shared_field *out);
	bool (*field_value)(const struct shared_fields *f, struct fields_walk *w, uint32_t id, size_t i,
	    struct any_value *out);
	void (*fields_close)(struct shared_fields *f);

	int (*entries)(struct entries **out, const struct heap *h, uint32_t id,
	    const struct range *which, struct err *err);
	void (*entry)(const struct entries *e, size_t i, struct any_value *key, struct any_value *value);
	void (*entries_close)(struct entries *e);
	bool (*size)(const struct heap *h, uint32_t id, struct collection_size *out);
	bool (*count)(const struct heap *h, uint32_t id, uint64_t *left, struct collection_size *out);
	bool (*held_as)(const struct heap *h, uint32_t id, struct text *to); /* or NULL */

	bool (*text)(
	    const struct heap *h, uint32_t id, struct string_walk *walk, struct string_view *out);
	bool (*characters)(const struct heap *h, uint32_t id, struct string_view *out);
	enum text_class (*text_class)(const struct heap *h, uint32_t class);
	int (*texts_held)(const struct heap *h, struct err *err);

	void (*names_begin)(struct reference_names *n, const struct heap *h, uint32_t holder);
	bool (*names_next)(struct reference_names *n, uint32_t target, struct text *to);
	/* Go on to the next reference of all, to whatever object; name_at names it by its place then. */
	bool (*names_any)(struct reference_names *n, uint32_t *target, uint64_t *place);
	void (*name_at)(struct reference_names *n, uint64_t place, uint32_t target, struct text *to);
	int (*named_of_class)(
	    struct named_references *n, const struct heap *h, uint32_t class, struct err *err);
	int (*named_of_object)(
	    struct named_references *n, const struct heap *h, uint32_t holder, struct err *err);
	bool (*declared_field)(const struct heap *h, uint32_t holder, uint32_t target, uint32_t *class,
	    const char **field); /* or NULL */

	/* Global variables: all or none of them NULL. */
	int (*variable)(struct variable *out, const struct heap *h, const char *word, struct err *err);
	void (*variable_names)(
	    const struct heap *h, const char *word, inspect_name_found *found, void *context);
	int (*variable_parts)(
	    struct object_parts **out, const struct variable *v, const struct range *which, struct err *err);
	void (*variable_bytes)(struct object_bytes *out, const struct variable *v);
	int (*variable_entries)(
	    struct entries **out, const struct variable *v, const struct range *which, struct err *err);
	bool (*variable_size)(const struct variable *v, uint64_t *size);
};

/* What is known of classes, or types, when numbers are looked for; the inspector fills it. */
struct number_plan {
	const struct heap *heap;
	bool *may;      /* big memory: by class, or by type: there are numbers in it */
	uint32_t *next; /* big memory: where classes declare fields, the next superclass that declares some */
};
/* Is this number of an object the one? */
bool sought_is(const struct sought_number *s, const struct number *n, unsigned width);

/* No values (nothing.c), fields that classes declare (declared.c), types in memory (memory.c), values of a dump that
 * is not here (away.c). */
extern const struct inspector no_inspector, declared_inspector, memory_inspector, away_inspector;

/* nothing.c */
/* Where the holder's references are in the order of its places and none is null: names_any and names_next, which ask
 * name_at. */
bool place_names_any(struct reference_names *n, uint32_t *target, uint64_t *place);
bool place_names_next(struct reference_names *n, uint32_t target, struct text *to);
MUST_CHECK int no_plan(struct number_plan *p, struct err *err);
MUST_CHECK int no_bytes(struct object_bytes *out, const struct heap *h, uint32_t id, struct err *err);
MUST_CHECK int no_entries(struct entries **out, const struct heap *h, uint32_t id, const struct range *which,
    struct err *err);
bool no_size(const struct heap *h, uint32_t id, struct collection_size *out);
bool no_count(const struct heap *h, uint32_t id, uint64_t *left, struct collection_size *out);
bool no_text(const struct heap *h, uint32_t id, struct string_walk *walk, struct string_view *out);
bool no_characters(const struct heap *h, uint32_t id, struct string_view *out);
enum text_class no_text_class(const struct heap *h, uint32_t class);

/* Let *which start at most at n, and return how many of n it means. */
static inline size_t range_of(struct range *which, uint64_t n)
{
	if (which->start > n)
		which->start = n;
	return (size_t)(which->length < n - which->start ? which->length : n - which->start);
}

/* ERR_USAGE in words: the parts of such an object are fields, which have no numbers to choose by. */
MUST_CHECK int no_range(const char *type, struct err *err);

#endif
