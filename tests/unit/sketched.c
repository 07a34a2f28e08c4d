/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sketched.c - see sketched.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sketched.h"

static enum value_type type_of(char letter)
{
	switch (letter) {
	case 'Z': return VALUE_BOOLEAN;
	case 'C': return VALUE_CHAR;
	case 'F': return VALUE_FLOAT;
	case 'D': return VALUE_DOUBLE;
	case 'B': return VALUE_BYTE;
	case 'S': return VALUE_SHORT;
	case 'I': return VALUE_INT;
	case 'J': return VALUE_LONG;
	default: return VALUE_OBJECT;
	}
}

static uint32_t read_fields(const char *text, char *copy, struct heap_field *out)
{
	uint32_t n = 0;
	snprintf(copy, 1200, "%s", text ? text : "");
	for (char *at = copy; *at;) {
		size_t length = strcspn(at, ":");
		assert_true(n < FIELDS_MAX && at[length] == ':');
		out[n++] = (struct heap_field){ .name = at, .type = type_of(at[length + 1]) };
		at[length] = '\0';
		at += length + 2;
		at += *at == ' ';
	}
	return n;
}

struct table *sketched(const struct sketch *sketches, uint32_t n)
{
	struct table *t = calloc(1, sizeof *t);
	assert_non_null(t);
	assert_true(n <= 64);
	t->n = n;
	for (uint32_t i = 0; i < n; i++) {
		struct heap_class *c = &t->classes[i];
		*c = (struct heap_class){
			.name = sketches[i].name,
			.superclass = sketches[i].superclass,
			.loader = HEAP_NONE,
			.object = HEAP_NONE,
			.component = HEAP_NONE,
			.kind = CLASS_PLAIN,
			.defined = true,
			.fields = t->fields[i],
			.statics = t->fields[i] + FIELDS_MAX,
		};
		c->n_fields = read_fields(sketches[i].fields, t->text[i][0], t->fields[i]);
		c->n_statics = read_fields(sketches[i].statics, t->text[i][1], t->fields[i] + FIELDS_MAX);
	}
	return t;
}

const struct layout_model coops = { "coops", LAYOUT_NEW, 12, 4, 8, 8, false, false },
    wide_ccp = { "wide+ccp", LAYOUT_NEW, 12, 8, 8, 8, false, false },
    plain64 = { "plain64", LAYOUT_NEW, 16, 8, 8, 8, false, false },
    coops_noccp = { "coops-ccp", LAYOUT_NEW, 16, 4, 8, 8, false, false },
    compact = { "compact", LAYOUT_NEW, 8, 4, 8, 8, true, false },
    compact_wide = { "compact wide", LAYOUT_NEW, 8, 8, 8, 8, true, false },
    x32 = { "x32", LAYOUT_NEW, 8, 4, 4, 8, false, false };

struct layout_model model_with_rule(struct layout_model m, enum layout_rule rule)
{
	m.rule = rule;
	return m;
}

struct layout_model model_relaxed(struct layout_model m)
{
	m.relaxed = true;
	return m;
}

uint64_t sketched_size(const struct table *t, uint32_t class, struct layout_model m,
    enum layout_release release)
{
	uint64_t size[64];
	assert_int_equal(layout_instances(t->classes, t->n, &m, release, NULL, size, NULL), 0);
	return size[class];
}
