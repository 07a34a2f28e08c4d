/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_instanceof.c - instanceof: is an object's class, or one of its superclasses, this one?
 *
 * Dumps record superclasses; HotSpot writes Object as that of an interface, and what implements it nowhere.  Which
 * classes of the JDK implement which of its interfaces is known from interfaces.txt, so classes of the program count
 * that extend one of these.
 */
#include "query/sql/sql_private.h"

#include "base/mem.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

extern const char *const interfaces_txt[]; /* the lines of interfaces.txt, which the build turns into an array */

struct sql_instanceof {
	const struct heap *heap;
	char *name;
	const char *const *implementing; /* lines of interfaces.txt up to the next "["; NULL: it is none of these */
	uint8_t *answer;                 /* by class: NOT_ASKED, or what it is; big memory */
};
enum { NOT_ASKED, IS_NONE, IS_ONE };

/* The lines after "[java.util.List]". */
static const char *const *lines_of(const char *interface)
{
	size_t n = strlen(interface);
	for (const char *const *line = interfaces_txt; *line; line++)
		if (**line == '[' && !strncmp(*line + 1, interface, n) && !strcmp(*line + 1 + n, "]"))
			return line + 1;
	return NULL;
}

/* Has a class of this name neither objects nor subclasses nor fields, as all interfaces?  *known: some class has it. */
static bool may_be_interface(const struct heap *h, const char *name, bool *known)
{
	bool may = h->java_lang_class != HEAP_NONE;
	*known = false;
	for (uint32_t c = 0; c < h->n_classes; c++) {
		const struct heap_class *k = &h->classes[c];
		if (!strcmp(k->name, name)) {
			*known = true;
			may &= k->kind == CLASS_PLAIN && !k->n_objects && !k->n_fields;
		} else if (may && k->superclass != HEAP_NONE) {
			may = strcmp(h->classes[k->superclass].name, name) != 0;
		}
	}
	return may && *known;
}

/* A name that no class has is more likely misspelt than meant, and what implements an interface is not recorded:
 * either is reported. */
static void report(struct sql *q, const struct sql_instanceof *i)
{
	const char *format = q->heap->dump ? q->heap->facts.title : "the dump";
	struct text note = TEXT_INIT;
	bool known, interface = may_be_interface(q->heap, i->name, &known);
	if (i->implementing)
		text_addf(&note, "%s records no interfaces: %s finds the JDK's classes that implement it, and their subclasses",
		    format, i->name);
	else if (interface)
		text_addf(&note, "no object is of %.200s; if it is an interface, %s does not record what implements it",
		    i->name, format);
	else if (!known)
		text_addf(&note, "no class \"%.200s\"", i->name);
	if (note.len)
		sql_note(q, note.s);
	text_release(&note);
}

struct sql_instanceof *sql_instanceof_new(struct sql *q, const char *name)
{
	struct err none = ERR_INIT;
	struct sql_instanceof *i = xcalloc(1, sizeof *i);
	i->heap = q->heap;
	i->name = xstrdup(name);
	i->implementing = q->heap->java_lang_class != HEAP_NONE ? lines_of(name) : NULL;
	/* without room for them each is found again */
	i->answer = big_alloc((uint64_t)q->heap->n_classes + 1, sizeof *i->answer, &none);
	if (i->answer)
		memset(i->answer, NOT_ASKED, q->heap->n_classes);
	report(q, i);
	return i;
}

void sql_instanceof_free(void *instanceof)
{
	struct sql_instanceof *i = instanceof;
	big_free(i->answer);
	free(i->name);
	free(i);
}

static bool is_one(const struct sql_instanceof *i, const char *class)
{
	for (const char *const *line = i->implementing; line && *line && **line != '['; line++)
		if (!strcmp(*line, class))
			return true;
	return !strcmp(class, i->name);
}

bool sql_instanceof_is(struct sql_instanceof *i, uint32_t class)
{
	const struct heap *h = i->heap;
	bool found = false;
	if (i->answer && i->answer[class] != NOT_ASKED)
		return i->answer[class] == IS_ONE;
	/* superclasses of a forged dump may go in a circle */
	uint32_t at = class;
	for (uint32_t seen = 0; !found && at != HEAP_NONE && seen < h->n_classes; seen++) {
		found = is_one(i, h->classes[at].name);
		at = h->classes[at].superclass;
	}
	if (i->answer)
		i->answer[class] = found ? IS_ONE : IS_NONE;
	return found;
}
