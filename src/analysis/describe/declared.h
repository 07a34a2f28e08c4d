/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * declared.h - where classes declare fields: names of references (declared_names.c) and the fields
 * that objects share (declared_fields.c), for the inspector in declared.c.  Each does what inspector.h
 * says of the function of the same name.
 */
#ifndef CAIRN_ANALYSIS_DESCRIBE_DECLARED_H
#define CAIRN_ANALYSIS_DESCRIBE_DECLARED_H

#include "analysis/describe/inspector.h"

void declared_value(const struct any_value *v, uint64_t limit, struct text *to);
struct value_target declared_target(const struct any_value *v);
const char *declared_type(const struct any_value *v);

void declared_names_begin(struct reference_names *n, const struct heap *h, uint32_t holder);
bool declared_names_next(struct reference_names *n, uint32_t target, struct text *to);
bool declared_names_any(struct reference_names *n, uint32_t *target, uint64_t *place);
void declared_name_at(struct reference_names *n, uint64_t place, uint32_t target, struct text *to);
MUST_CHECK int declared_named_of_class(struct named_references *n, const struct heap *h,
    uint32_t class, struct err *err);
MUST_CHECK int declared_named_of_object(struct named_references *n, const struct heap *h,
    uint32_t holder, struct err *err);
bool declared_field(const struct heap *h, uint32_t holder, uint32_t target, uint32_t *class,
    const char **field);

/* declared_numbers.c */
MUST_CHECK int declared_plan(struct number_plan *p, struct err *err);
MUST_CHECK int declared_find_number(struct number_finder *f, uint32_t id, struct err *err);
void declared_number_place(const struct heap *h, uint32_t id, uint64_t place, struct text *to);

/* declared_fields.c */
bool declared_number(const struct any_value *v, struct number *out);
MUST_CHECK int declared_fields(struct shared_fields **out, const struct heap *h, const uint32_t *ids,
    size_t n, struct err *err);
void declared_field_named(const struct shared_fields *f, size_t i, struct shared_field *out);
bool declared_field_value(const struct shared_fields *f, struct fields_walk *w, uint32_t id,
    size_t i, struct any_value *out);
void declared_fields_close(struct shared_fields *f);

#endif
