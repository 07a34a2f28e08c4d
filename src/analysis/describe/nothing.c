/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nothing.c - the inspector of dumps without values (PHD, classic): it says in the format's own
 * sentence what the dump cannot tell.  Only class objects have something to say: their class.
 */
#include "analysis/describe/inspector.h"

static bool class_object(const struct heap *h, uint32_t id, uint64_t limit, struct text *to)
{
	uint32_t class = heap_class_mirrored(h, id);
	(void)limit;
	if (class == HEAP_NONE || h->class_of[id] != h->java_lang_class)
		return false;
	text_add(to, h->classes[class].name);
	return true;
}

static bool is_java_lang_class(const struct heap *h, uint32_t class)
{
	return class == h->java_lang_class;
}

static void add_nothing(const struct any_value *v, uint64_t limit, struct text *to)
{
	(void)v, (void)limit, (void)to;
}

static struct value_target no_target(const struct any_value *v)
{
	(void)v;
	return (struct value_target){ 0, HEAP_NONE };
}

static const char *no_type(const struct any_value *v)
{
	(void)v;
	return NULL;
}

static int no_parts(struct object_parts **out, const struct heap *h, uint32_t id, const struct range *which,
    struct err *err)
{
	(void)out, (void)id, (void)which;
	return heap_holds_no_values(h, err);
}

static bool no_number(const struct any_value *v, struct number *out)
{
	(void)v, (void)out;
	return false;
}

int no_plan(struct number_plan *p, struct err *err)
{
	return heap_holds_no_values(p->heap, err);
}

static int no_fields(struct shared_fields **out, const struct heap *h, const uint32_t *ids, size_t n,
    struct err *err)
{
	(void)out, (void)ids, (void)n;
	return heap_holds_no_values(h, err);
}

int no_bytes(struct object_bytes *out, const struct heap *h, uint32_t id, struct err *err)
{
	(void)out, (void)id;
	return heap_holds_no_values(h, err);
}

int no_entries(struct entries **out, const struct heap *h, uint32_t id,
    const struct range *which, struct err *err)
{
	(void)out, (void)id, (void)which;
	return heap_holds_no_values(h, err);
}

bool no_size(const struct heap *h, uint32_t id, struct collection_size *out)
{
	(void)h, (void)id, (void)out;
	return false;
}

bool no_count(const struct heap *h, uint32_t id, uint64_t *left, struct collection_size *out)
{
	(void)h, (void)id, (void)left, (void)out;
	return false;
}

bool no_text(
    const struct heap *h, uint32_t id, struct string_walk *walk, struct string_view *out)
{
	(void)h, (void)id, (void)walk, (void)out;
	return false;
}

bool no_characters(const struct heap *h, uint32_t id, struct string_view *out)
{
	(void)h, (void)id, (void)out;
	return false;
}

enum text_class no_text_class(const struct heap *h, uint32_t class)
{
	(void)h, (void)class;
	return TEXT_NEVER;
}

static void no_names(struct reference_names *n, const struct heap *h, uint32_t holder)
{
	(void)n, (void)h, (void)holder; /* they stay closed */
}

static int nothing_named(
    struct named_references *n, const struct heap *h, uint32_t id, struct err *err)
{
	(void)n, (void)id;
	return heap_holds_no_values(h, err);
}

/* Parts, entries and names are never opened, so nobody asks for one of them. */
const struct inspector no_inspector = {
	.object = class_object,
	.knows_class = is_java_lang_class,
	.value = add_nothing,
	.target = no_target,
	.type = no_type,
	.number = no_number,
	.plan = no_plan,
	.parts = no_parts,
	.fields = no_fields,
	.bytes = no_bytes,
	.entries = no_entries,
	.size = no_size,
	.count = no_count,
	.text = no_text,
	.characters = no_characters,
	.text_class = no_text_class,
	.texts_held = heap_holds_no_values,
	.names_begin = no_names,
	.named_of_class = nothing_named,
	.named_of_object = nothing_named,
};
