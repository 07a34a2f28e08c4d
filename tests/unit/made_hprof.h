/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * made_hprof.h - a small HPROF of a few classes and objects, written for one test and opened as any dump is.
 *
 * A test first makes classes and objects, then opens them.  Names are short, since tests are full of them:
 *
 *     int box = class("java/lang/Double", object, "value:D");
 *     uint64_t one = OBJECT(box, bits_of(1.0));
 *     open_made();
 */
#ifndef CAIRN_TESTS_MADE_HPROF_H
#define CAIRN_TESTS_MADE_HPROF_H

#include "heap/heap.h"

extern struct heap *heap; /* from open_made to end_made */
/* Classes by number: those that every dump has. */
extern int object, string, array_class;

/* cmocka's set-up and tear-down. */
int begin_made(void **state);
int end_made(void **state);
/* Forget all that was made, those classes as well. */
void clear_made(void);
/* Write it all to a file, open that as heap, and remove it. */
void open_made(void);

/* fields: "value:L coder:B", in the dump's order; super -1: none.  Returns the class's number: one more
 * than that of the last. */
int class(const char *name, int super, const char *fields);

/* All that follow make an object and return its address. */
uint64_t new_address(void); /* not yet taken; there is no object so far */
/* An instance with the values of all fields, own class first. */
uint64_t at(uint64_t address, int c, const uint64_t *values);
uint64_t primitives(char type, const uint64_t *values, unsigned n);
uint64_t objects(const uint64_t *values, unsigned n); /* an Object[] of these addresses */
uint64_t bytes(const char *s);                        /* a byte[] */
uint64_t text(const char *s);                         /* a String of Latin-1 */

#define OBJECT(c, ...) at(new_address(), c, (const uint64_t[]){ __VA_ARGS__ })
#define OBJECT_AT(address, c, ...) at(address, c, (const uint64_t[]){ __VA_ARGS__ })
#define ARRAY(type, ...)                                                                           \
	primitives(type, (const uint64_t[]){ __VA_ARGS__ },                                        \
	    sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))
#define OBJECTS(...)                                                                               \
	objects((const uint64_t[]){ __VA_ARGS__ },                                                 \
	    sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* A stack of frames in methods of this name, and a thread that stands there. */
void trace(unsigned serial, const char *method, unsigned n_frames);
void thread(uint64_t address, unsigned serial, unsigned trace);

/* End the segment of the heap with bytes that are no record.  made_offset says, once all is made, where in the
 * file the first such place lies. */
uint64_t damage(void);
uint64_t made_offset(uint64_t place);

/* An instance whose record holds n bytes, those of this number, whatever its class says. */
void short_instance(uint64_t address, int c, uint64_t number, unsigned n);

#endif
