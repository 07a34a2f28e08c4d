/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * field_words.h - names of fields where an object has several of one name.
 *
 * A subclass may declare a field that its superclass has too, and hides that one (JLS 8.3).  As in Java a plain name
 * is the field of the nearest class: the class asked about, then its superclasses.  A hidden field is named by the
 * class that declares it, "Base.next".  Obfuscators give one class several fields of one name and different types (JVMS
 * 4.5): the second of them is "next_2".
 *
 * Of the fields before one in a class and its superclasses at most FIELD_WORDS_MOST are compared: a field after so many
 * has its plain name.  Any thread.
 */
#ifndef CAIRN_HEAP_FIELD_WORDS_H
#define CAIRN_HEAP_FIELD_WORDS_H

#include "base/text.h"

struct heap;
struct heap_field;

#define FIELD_WORDS_MOST 1000

/* Append the word of a field of a class's instances, which the class or a superclass declares, or of a static field of
 * the class itself. */
void field_word(const struct heap *h, uint32_t class, const struct heap_field *field, struct text *to);

/* Is that word not just the field's name? */
bool field_has_twin(const struct heap *h, uint32_t class, const struct heap_field *field);

/* Do the words begin with this name, and end after it or go on with '.' or '['?  Returns its length, or 0. */
size_t field_name_begins(const char *name, const char *words);

/* The same of a name of this field that is not plain, "Base.next", "com.acme.Base.next" or "next_2". */
size_t field_word_begins(const struct heap *h, uint32_t class, const struct heap_field *field, const char *words);

#endif
