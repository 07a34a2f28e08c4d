/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layout_stated.c - what a VM says of its own layout.
 *
 * The class Unsafe has static fields with the bytes of an address, those of a reference in an array, and the offsets
 * at which the elements of arrays begin (sun.misc.Unsafe up to JDK 8, jdk.internal.misc.Unsafe from JDK 9 on; checked
 * in dumps of JDK 8 to 28).  JDK 6 lacks them, but AtomicInteger has the offset of
 * its only field, which is the bytes of a header (valueOffset, from JDK 9 on VALUE).  The VM computes all of them
 * when it starts.  They are true also where identifiers are not addresses (the old agent) or neighbours are few.
 */
#include "heap/classes.h"
#include "heap/sizes/layout.h"

#include <string.h>

/* The value of a static field that is an int or, from JDK 25 on, a long; 0: the class has none, or did not set it. */
static unsigned static_number(const struct heap_class *c, const char *name)
{
	for (uint32_t i = 0; i < c->n_statics; i++) {
		const struct heap_field *f = &c->statics[i];
		if ((f->type == VALUE_INT || f->type == VALUE_LONG) && !strcmp(f->name, name))
			return f->value < 256 ? (unsigned)f->value : 0;
	}
	return 0;
}

/* The class of this name that the boot loader made, or NULL. */
static const struct heap_class *find_class(const struct heap_class *classes, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (heap_class_has_no_loader(&classes[i]) && !strcmp(classes[i].name, name))
			return &classes[i];
	return NULL;
}

static bool read_unsafe(const struct heap_class *c, struct layout_stated *s)
{
	if (!c)
		return false;
	s->word = static_number(c, "ADDRESS_SIZE");
	s->reference = static_number(c, "ARRAY_OBJECT_INDEX_SCALE");
	s->base[0] = static_number(c, "ARRAY_BYTE_BASE_OFFSET");
	s->base[1] = static_number(c, "ARRAY_LONG_BASE_OFFSET");
	s->base[2] = static_number(c, "ARRAY_OBJECT_BASE_OFFSET");
	return (s->word == 4 || s->word == 8) && (s->reference == 4 || s->reference == 8) && s->base[0] && s->base[1] &&
	    s->base[2];
}

struct layout_stated layout_stated_of(const struct heap_class *classes, uint32_t n)
{
	struct layout_stated s = { .word = 0 };
	if (read_unsafe(find_class(classes, n, "jdk.internal.misc.Unsafe"), &s) ||
	    read_unsafe(find_class(classes, n, "sun.misc.Unsafe"), &s))
		return s;
	s = (struct layout_stated){ .word = 0 };
	const struct heap_class *atomic = find_class(classes, n, "java.util.concurrent.atomic.AtomicInteger");
	if (atomic)
		s.header = static_number(atomic, "valueOffset") + static_number(atomic, "VALUE");
	if (s.header == 12 || s.header == 16)
		s.word = 8;
	return s;
}

bool layout_is_stated(const struct layout_model *m, const struct layout_stated *s)
{
	if (s->header)
		return m->header == s->header && (!s->word || m->word == s->word);
	return m->word == s->word && m->reference == s->reference && layout_array_base(m, false, 1) == s->base[0] &&
	    layout_array_base(m, false, 8) == s->base[1] && layout_array_base(m, true, m->reference) == s->base[2];
}
