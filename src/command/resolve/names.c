/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names.c - objects by the names that the program has for them: static fields of classes, global
 * variables and parts of them.
 */
#include "command/resolve/resolve.h"

#include "base/mem.h"
#include "heap/classes.h"
#include "heap/field_words.h"
#include "heap/roots.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

/* The global variable of this name, or part of one, that points to an object; NULL. */
static const struct heap_root *global_root(const struct heap *h, const char *word)
{
	struct text name = TEXT_INIT;
	const struct heap_root *found = NULL;
	for (size_t i = 0; !found && i < h->n_roots; i++) {
		const struct heap_root *root = &h->roots[i];
		if (root->kind != ROOT_DATA && root->kind != ROOT_BSS)
			continue;
		text_clear(&name);
		if (heap_symbol(h, root->slot, &name) && !strcmp(name.s, word))
			found = root;
	}
	text_release(&name);
	return found;
}

/* The one class that stands before the last dot of "com.acme.Shop.INSTANCE"; *field gets what stands
 * behind it.  HEAP_NONE: there is none, or several have the name. */
static uint32_t class_before(
    const struct session *s, const char *word, const char **field, struct err *err)
{
	const char *dot = strrchr(word, '.');
	uint32_t *classes, class;
	size_t n;
	if (!dot || dot == word || strpbrk(word, "*?/>[") || strchr("#%$", *word))
		return HEAP_NONE;
	char *name = xstrndup(word, (size_t)(dot - word));
	int code = value_classes(s, name, &classes, &n, NULL);
	free(name);
	if (code == ERR_NOMEM)
		code = err_set(err, ERR_NOMEM, "not enough memory to find the class of %.100s", dot);
	if (code)
		return HEAP_NONE;
	class = n == 1 ? *classes : HEAP_NONE;
	big_free(classes);
	*field = dot + 1;
	return class;
}

/* The object of the static field CLASS.FIELD; *id HEAP_NONE: it is null.  *err says why there is no
 * such class. */
static bool static_object(
    const struct session *s, const char *word, uint32_t *id, struct err *err)
{
	const struct heap *h = session_heap(s);
	const char *name;
	uint32_t class = class_before(s, word, &name, err);
	for (uint32_t i = 0; class != HEAP_NONE && *name && i < h->classes[class].n_statics; i++) {
		const struct heap_field *field = &h->classes[class].statics[i];
		if (field->type != VALUE_OBJECT || strcmp(field->name, name) != 0)
			continue;
		*id = value_object_id(h, &(struct value){VALUE_OBJECT, field->value});
		return true;
	}
	return false;
}

int value_static(const struct session *s, const char *word, bool *found, uint32_t *id, struct err *err)
{
	struct err own = ERR_INIT;
	*found = static_object(s, word, id, &own);
	if (own.code == ERR_NOMEM) { /* whether it is one stays open: no other meaning is looked for */
		*found = true;
		if (err)
			*err = own;
		return ERR_NOMEM;
	}
	if (*found && *id == HEAP_NONE)
		return err_set(err, ERR_NOT_FOUND, "%.150s is null", word);
	return 0;
}

int value_named(const struct session *s, const char *word, bool *found, uint32_t *id, struct err *err)
{
	const struct heap_root *global = global_root(session_heap(s), word);
	if (!global)
		return value_static(s, word, found, id, err);
	*found = true;
	*id = global->object;
	return 0;
}

/* The field of a class, if its word goes on like the name that was begun. */
static void offer_field(const struct heap *h, uint32_t class, const struct heap_field *field, const char *word,
    const char *name, inspect_name_found *found, void *context)
{
	struct text whole = TEXT_INIT;
	if (field->type != VALUE_OBJECT)
		return;
	text_add_n(&whole, word, (size_t)(name - word));
	field_word(h, class, field, &whole);
	if (!strncmp(whole.s, word, strlen(word)))
		found(context, whole.s);
	text_release(&whole);
}

void value_fields(const struct session *s, const char *word, inspect_name_found *found, void *context)
{
	enum { SUPERCLASSES = 64 }; /* a hostile dump may go on */
	const struct heap *h = session_heap(s);
	const char *name;
	uint32_t of = class_before(s, word, &name, NULL), class = of;
	for (unsigned n = 0; class != HEAP_NONE && n < SUPERCLASSES; n++) {
		const struct heap_class *c = &h->classes[class];
		for (uint32_t i = 0; i < c->n_fields; i++)
			offer_field(h, of, &c->fields[i], word, name, found, context);
		class = c->superclass;
	}
}

void value_names(const struct session *s, const char *word, inspect_name_found *found, void *context)
{
	const struct heap *h = session_heap(s);
	const char *name;
	uint32_t class = class_before(s, word, &name, NULL);
	for (uint32_t i = 0; class != HEAP_NONE && i < h->classes[class].n_statics; i++)
		offer_field(h, class, &h->classes[class].statics[i], word, name, found, context);
	inspect_variable_names(h, word, found, context);
}

struct near_name {
	const char *word;
	struct text found;
	unsigned edits;
};

static void look_at_name(void *context, const char *candidate)
{
	struct near_name *near = context;
	unsigned edits = edit_distance(near->word, candidate, near->edits);
	if (edits >= near->edits)
		return;
	near->edits = edits;
	text_clear(&near->found);
	text_add(&near->found, candidate);
}

void value_add_near_name(const struct session *s, const char *word, bool fields, struct text *to)
{
	const char *dot = strrchr(word, '.');
	size_t length = dot ? strlen(dot + 1) : 0;
	if (length < 2)
		return;
	struct near_name near = {.word = word, .edits = length < 6 ? 2 : 3};
	char *all = xstrndup(word, (size_t)(dot + 1 - word));
	value_names(s, all, look_at_name, &near);
	if (fields)
		value_fields(s, all, look_at_name, &near);
	if (near.found.len)
		text_addf(to, " (nearest: %s)", near.found.s);
	text_release(&near.found);
	free(all);
}
