/* SPDX-License-Identifier: GPL-3.0-or-later */
/* field_words.c - see field_words.h. */
#include "heap/field_words.h"

#include "heap/classes.h"

#include <string.h>

/* Where a field is among those of its name. */
struct twins {
	uint32_t declared_in; /* HEAP_NONE: it is none of these, or after too many */
	uint32_t hiding;      /* of its name in subclasses */
	uint32_t before;      /* of its name before it in its own class */
};

static uint32_t count(const struct heap_field *fields, uint32_t n, const char *name)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < n; i++)
		found += !strcmp(fields[i].name, name);
	return found;
}

/* Is it one of these?  *place gets which. */
static bool is_among(const struct heap_field *field, const struct heap_field *fields, uint32_t n, uint32_t *place)
{
	uintptr_t at = (uintptr_t)field, first = (uintptr_t)fields;
	if (!n || at < first || at >= first + n * sizeof *fields)
		return false;
	*place = (uint32_t)((at - first) / sizeof *fields);
	return true;
}

static struct twins find_twins(const struct heap *h, uint32_t class, const struct heap_field *field)
{
	struct twins t = {.declared_in = class};
	uint32_t place, looked = 0;
	const struct heap_class *c = &h->classes[class];
	bool is_static = is_among(field, c->statics, c->n_statics, &place);
	for (uint32_t steps = 0; !is_static && !is_among(field, c->fields, c->n_fields, &place); steps++) {
		looked += c->n_fields;
		t.declared_in = c->superclass;
		if (looked > FIELD_WORDS_MOST || steps > FIELD_WORDS_MOST || t.declared_in == HEAP_NONE)
			return (struct twins){.declared_in = HEAP_NONE};
		t.hiding += count(c->fields, c->n_fields, field->name);
		c = &h->classes[t.declared_in];
	}
	if (looked + place > FIELD_WORDS_MOST)
		return (struct twins){.declared_in = HEAP_NONE};
	t.before = count(is_static ? c->statics : c->fields, place, field->name);
	return t;
}

enum { COMPARED_MOST = 16 }; /* twins: more are no obfuscator's */

/* "next", "next_2": within the class that declares it.  A number is left out that would be another field's name. */
static void add_local(const struct heap *h, const struct twins *t, const struct heap_field *field, struct text *to)
{
	const struct heap_class *c = &h->classes[t->declared_in];
	struct text name = TEXT_INIT;
	uint32_t left = t->before < COMPARED_MOST ? t->before : 1, number = t->before + 1 - left;
	text_add(&name, field->name);
	while (left) {
		text_clear(&name);
		text_addf(&name, "%s_%u", field->name, ++number);
		left -= t->before >= COMPARED_MOST ||
		    (!count(c->fields, c->n_fields, name.s) && !count(c->statics, c->n_statics, name.s));
	}
	text_add(to, name.s);
	text_release(&name);
}

static const char *brief(const char *class)
{
	const char *dot = strrchr(class, '.');
	return dot ? dot + 1 : class;
}

/* Has a class from this one up to the other the same name without its package? */
static bool shares_name(const struct heap *h, uint32_t class, uint32_t with)
{
	const char *name = brief(h->classes[with].name);
	for (; class != with; class = h->classes[class].superclass)
		if (!strcmp(brief(h->classes[class].name), name))
			return true;
	return false;
}

void field_word(const struct heap *h, uint32_t class, const struct heap_field *field, struct text *to)
{
	struct twins t = find_twins(h, class, field);
	if (t.declared_in == HEAP_NONE) {
		text_add(to, field->name);
		return;
	}
	const char *owner = h->classes[t.declared_in].name;
	if (t.hiding)
		text_addf(to, "%s.", shares_name(h, class, t.declared_in) ? owner : brief(owner));
	add_local(h, &t, field, to);
}

bool field_has_twin(const struct heap *h, uint32_t class, const struct heap_field *field)
{
	struct twins t = find_twins(h, class, field);
	return t.hiding || t.before;
}

size_t field_name_begins(const char *name, const char *words)
{
	size_t n = strlen(name);
	return !strncmp(words, name, n) && (!words[n] || words[n] == '.' || words[n] == '[') ? n : 0;
}

size_t field_word_begins(const struct heap *h, uint32_t class, const struct heap_field *field, const char *words)
{
	struct text word = TEXT_INIT;
	size_t n = 0;
	if (!*field->name || !strstr(words, field->name))
		return 0;
	struct twins t = find_twins(h, class, field);
	if (t.declared_in == HEAP_NONE)
		return 0;
	const char *name = h->classes[t.declared_in].name, *owners[] = {name, brief(name)};
	for (unsigned i = 0; !n && i < sizeof owners / sizeof *owners; i++) {
		text_clear(&word);
		text_addf(&word, "%s.", owners[i]);
		if (strncmp(words, word.s, word.len) != 0)
			continue;
		add_local(h, &t, field, &word);
		n = field_name_begins(word.s, words);
	}
	if (!n && t.before && !t.hiding) {
		text_clear(&word);
		add_local(h, &t, field, &word);
		n = field_name_begins(word.s, words);
	}
	text_release(&word);
	return n;
}
