/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * describe_text.c - describers of Java objects that are a text or have a name.
 */
#include "analysis/describe/describers.h"
#include "heap/classes.h"
#include "heap/string.h"
#include "heap/value.h"

#include <inttypes.h>
#include <string.h>

static void add_part(const struct string_view *s, uint64_t limit, struct text *to)
{
	string_add(s, 0, limit, to);
	if (s->length > limit)
		text_add(to, "…");
}

bool describe_string(struct description *d)
{
	struct string_view s;
	if (!heap_string(d->heap, d->values->id, &s))
		return false;
	text_add(d->to, "\"");
	add_part(&s, d->limit, d->to);
	text_add(d->to, "\"");
	return true;
}

/* A String, or a char[] (the names of threads before Java 9), in a field. */
static bool add_text(struct description *d, const struct values *v, const char *names)
{
	struct value value;
	struct values array;
	struct string_view s;
	if (!description_field(v, names, &value))
		return false;
	if (heap_add_string(d->heap, &value, d->limit, d->to))
		return true;
	if (!description_object(v, names, &array) || !heap_array_string(&array, &s))
		return false;
	add_part(&s, d->limit, d->to);
	return true;
}

bool describe_text(struct description *d)
{
	return add_text(d, d->values, d->fields);
}

bool describe_builder(struct description *d)
{
	struct values array;
	struct string_view s;
	int64_t coder, count;
	if (!description_object(d->values, "value", &array) || !heap_array_string(&array, &s))
		return false;
	if (s.width == 1 && description_number(d->values, "coder", &coder) && coder == 1) {
		s.width = 2;
		s.length /= 2;
		s.big_endian = d->heap->strings && d->heap->strings->big_endian;
	}
	if (description_number(d->values, "count", &count) && (uint64_t)count < s.length)
		s.length = (uint64_t)count;
	text_add(d->to, "\"");
	add_part(&s, d->limit, d->to);
	text_add(d->to, "\"");
	return true;
}

/* Of the class objects of primitive types the dump has no record: Integer.TYPE and its like say. */
static const char *primitive_class(const struct heap *h, uint32_t id)
{
	static const char *const boxes[][2] = {
		{ "java.lang.Integer", "int" }, { "java.lang.Long", "long" },
		{ "java.lang.Boolean", "boolean" }, { "java.lang.Character", "char" },
		{ "java.lang.Byte", "byte" }, { "java.lang.Short", "short" },
		{ "java.lang.Float", "float" }, { "java.lang.Double", "double" },
		{ "java.lang.Void", "void" },
	};
	struct value type;
	for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
		if (values_static(h, boxes[i][0], "TYPE", &type) && value_object_id(h, &type) == id)
			return boxes[i][1];
	}
	return NULL;
}

bool describe_class(struct description *d)
{
	if (d->values->is_class) {
		text_add(d->to, d->heap->classes[d->values->class].name);
		return true;
	}
	const char *primitive = primitive_class(d->heap, d->values->id);
	if (primitive)
		text_add(d->to, primitive);
	return primitive || add_text(d, d->values, "name");
}

static bool add_class_in(struct description *d, const char *field)
{
	struct values class;
	if (!description_object(d->values, field, &class) || !class.is_class)
		return false;
	text_add(d->to, d->heap->classes[class.class].name);
	return true;
}

bool describe_member(struct description *d)
{
	size_t begin = d->to->len;
	if (!add_class_in(d, "clazz"))
		return false;
	if (!d->fields)
		return true;
	text_add(d->to, ".");
	if (add_text(d, d->values, d->fields))
		return true;
	d->to->len = begin;
	d->to->s[begin] = '\0';
	return false;
}

/* "java.lang.Thread.run(Thread.java:840)" */
bool describe_frame(struct description *d)
{
	int64_t line;
	if (!add_text(d, d->values, "declaringClass"))
		return false;
	text_add(d->to, ".");
	add_text(d, d->values, "methodName");
	text_add(d->to, "(");
	if (!description_number(d->values, "lineNumber", &line))
		line = 0;
	if (line == -2)
		text_add(d->to, "Native Method");
	else if (!add_text(d, d->values, "fileName"))
		text_add(d->to, "Unknown Source");
	else if (line > 0)
		text_addf(d->to, ":%" PRId64, line);
	text_add(d->to, ")");
	return true;
}

/* "de", "de_DE"; since Java 7 in a BaseLocale. */
bool describe_locale(struct description *d)
{
	struct values base;
	const struct values *v = d->values;
	if (description_object(d->values, "baseLocale", &base))
		v = &base;
	size_t begin = d->to->len;
	if (!add_text(d, v, "language"))
		return false;
	size_t language = d->to->len;
	text_add(d->to, "_");
	size_t country = d->to->len;
	add_text(d, v, "region|country");
	if (d->to->len == country) {
		d->to->len = language;
		d->to->s[language] = '\0';
	}
	if (d->to->len == begin)
		text_add(d->to, "ROOT");
	return true;
}

bool describe_url(struct description *d)
{
	int64_t port;
	if (!add_text(d, d->values, "protocol"))
		return false;
	text_add(d->to, ":");
	size_t before = d->to->len;
	text_add(d->to, "//");
	if (!add_text(d, d->values, "authority")) {
		add_text(d, d->values, "host");
		if (description_number(d->values, "port", &port) && port >= 0)
			text_addf(d->to, ":%" PRId64, port);
	}
	if (d->to->len == before + 2) { /* file:/tmp/x */
		d->to->len = before;
		d->to->s[before] = '\0';
	}
	add_text(d, d->values, "file");
	size_t file = d->to->len;
	text_add(d->to, "#");
	if (!add_text(d, d->values, "ref")) {
		d->to->len = file;
		d->to->s[file] = '\0';
	}
	return true;
}

/* A path in the bytes of the file system. */
bool describe_path(struct description *d)
{
	struct values array;
	struct string_view s;
	if (!description_object(d->values, "path", &array) || !heap_array_string(&array, &s) ||
	    s.width != 1)
		return false;
	uint64_t n = s.length < d->limit ? s.length : d->limit;
	text_add_escaped(d->to, (const char *)s.bytes, n);
	if (n < s.length)
		text_add(d->to, "…");
	return true;
}

/* "host/10.0.0.1" */
bool describe_inet(struct description *d)
{
	struct values holder;
	const struct values *v = d->values;
	int64_t address;
	if (description_object(d->values, "holder", &holder))
		v = &holder;
	bool named = add_text(d, v, "hostName");
	if (!description_number(v, "address", &address))
		return named;
	uint32_t a = (uint32_t)address;
	text_addf(d->to, "/%u.%u.%u.%u", a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255);
	return true;
}
