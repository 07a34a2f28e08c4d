/* SPDX-License-Identifier: GPL-3.0-or-later */
/* summary.c - an object by its fields in one line, and what single fields of Java's own classes mean (describe.h). */
#include "analysis/describe/describe.h"
#include "heap/classes.h"

#include <string.h>

enum {
	FIELDS_SHOWN = 40,
	VALUE_BRIEF = 24, /* characters of a value among others */
	SUMMARY = 160,    /* bytes, about */
	FIELDS_LOOKED = 64,
};

static bool says_nothing(const struct text *value)
{
	return value->len && (!strcmp(value->s, "null") || !strcmp(value->s, "nil"));
}

void describe_summary(const struct heap *h, uint32_t id, struct text *to)
{
	struct object_parts *parts;
	size_t begun = to->len;
	if (describe_object(h, id, DESCRIBE_SHORT, to) ||
	    inspect_parts(&parts, h, id, &(struct range){.length = FIELDS_SHOWN}, NULL))
		return;
	for (size_t i = 0; i < parts->n && to->len - begun < SUMMARY; i++) {
		struct object_part part;
		struct text value = TEXT_INIT;
		inspect_part(parts, i, &part);
		if (!part.missing)
			inspect_value(&part.value, VALUE_BRIEF, &value);
		if (value.len && !says_nothing(&value)) {
			text_add(to, to->len > begun ? " " : "");
			inspect_part_name(parts, i, to);
			text_addf(to, "=%s", value.s);
		}
		text_release(&value);
	}
	inspect_parts_close(parts);
}

bool describe_is_box(const struct heap *h, uint32_t id)
{
	static const char *const boxes[] = {"Long", "Integer", "Short", "Byte", "Double", "Float"};
	const char *name = heap_class_of(h, id)->name;
	if (h->java_lang_class == HEAP_NONE || strncmp(name, "java.lang.", 10))
		return false;
	for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++)
		if (!strcmp(name + 10, boxes[i]))
			return true;
	return false;
}

bool describe_entry_value(const struct heap *h, uint32_t entry, struct text *to)
{
	struct object_parts *parts;
	bool found = false;
	if (inspect_parts(&parts, h, entry, &(struct range){.length = UINT64_MAX}, NULL))
		return false;
	for (size_t i = 0; i < parts->n && i < FIELDS_LOOKED && !found; i++) {
		struct object_part part;
		inspect_part(parts, i, &part);
		found = part.name && !part.missing && (!strcmp(part.name, "value") || !strcmp(part.name, "val"));
		if (found)
			inspect_value(&part.value, DESCRIBE_SHORT, to);
	}
	inspect_parts_close(parts);
	return found;
}
