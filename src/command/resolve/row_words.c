/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * row_words.c - rows into words of a command line: what keys say of the row that they are pressed on, and
 * what a missing argument and "." mean on the screen.
 */
#include "command/resolve/resolve.h"

#include "heap/classes.h"
#include "heap/threads.h"
#include "memory/big.h"

#include <inttypes.h>
#include <string.h>

bool target_is_several(const struct target *target)
{
	return target->part || target->kind == TARGET_CLASS || target->kind == TARGET_GROUP;
}

uint32_t target_object(const struct heap *h, const struct target *target)
{
	if (target->part)
		return HEAP_NONE;
	switch (target->kind) {
	case TARGET_OBJECT:
		return target_subject(target);
	case TARGET_CLASS:
		return h->classes[target->id].object;
	case TARGET_THREAD:
		return h->threads[target->id].object;
	default:
		return HEAP_NONE;
	}
}

/* Letters, digits, dots and dollars, perhaps behind them brackets: nothing that a line could take for
 * anything else than a name. */
static bool is_plain(const char *name)
{
	bool letter = false;
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.");
	for (size_t i = 0; i < n; i++)
		letter |= strchr("ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ_", name[i]) != NULL; /* no address */
	if (!letter || strchr("$.0123456789", *name))
		return false;
	while (!strncmp(name + n, "[]", 2))
		n += 2;
	return !name[n];
}

/* Does the name mean this class and nothing else, as a set and as a class? */
static bool names_class(const struct session *s, const char *name, uint32_t class)
{
	uint32_t *classes, id;
	size_t n;
	bool found = false;
	if (!is_plain(name) || value_named(s, name, &found, &id, NULL) || found)
		return false;
	if (value_classes(s, name, &classes, &n, NULL))
		return false;
	bool alone = n == 1 && *classes == class;
	big_free(classes);
	return alone;
}

bool row_word(const struct session *s, const struct result *r, size_t row, struct text *to)
{
	const struct heap *h = session_heap(s);
	struct target t = {.kind = TARGET_NONE};
	if (!h || r->opened != s->dump || row >= r->n_rows)
		return false;
	result_target(r, row, &t);
	if (t.kind == TARGET_NONE || t.kind == TARGET_COMMAND)
		return false;
	uint32_t id = target_object(h, &t);
	if (!target_is_several(&t) && id != HEAP_NONE)
		text_addf(to, "0x%" PRIx64, heap_address(h, id));
	/* names are looked up once all is read: until then classes may get others */
	else if (t.kind == TARGET_CLASS && !t.part && s->dump->own && names_class(s, h->classes[t.id].name, t.id))
		text_add(to, h->classes[t.id].name);
	else
		text_addf(to, "%%%zu", row + 1);
	return true;
}

int word_here(const struct session *s, struct word *word, struct err *err)
{
	struct selection *selection = s->results.selection;
	if (word->quoted || strcmp(word->s, ".") != 0)
		return 0;
	if (!selection)
		return err_set(err, ERR_USAGE, "\".\" needs a selected row on the screen");
	if (!selection->page && !selection->row)
		return err_set(err, ERR_USAGE, "\".\" needs an object: neither the page nor its selected row has one");
	word->s = selection->page ? selection->page : selection->row;
	selection->used = true;
	return 0;
}
