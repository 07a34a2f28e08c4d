/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fake_heap.h - a heap of eight objects filled by hand, for tests above the heap.
 *
 *     #0 0x1000  java.lang.Class    64  class object of java.lang.String
 *     #1 0x1040  java.lang.String   16  -> #2
 *     #2 0x1050  char[]             32  4 long
 *     #3 0x1080  java.lang.String   16  -> #2, #1
 *     #4 0x1090  com.acme.Session   24  -> #1, #1       (of the first class so called)
 *     #5 0x10b0  com.acme.Session   24                  (of the second, loaded by #4)
 *     #6 0x1100  java.lang.Class    64  class object of java.lang.Class
 *     #7 0x1140  com.acme.Lost     ???  -> #3           (size unknown)
 *
 * Roots: #4 (Thread, exact, of thread 0 "main", frame 1), #5 and #7 (Unknown, inferred).
 */
#ifndef CAIRN_TESTS_FAKE_HEAP_H
#define CAIRN_TESTS_FAKE_HEAP_H

#include "heap/classes.h"
#include "heap/index.h"
#include "heap/roots.h"
#include "heap/threads.h"

enum { C_STRING, C_CLASS, C_CHARS, C_SESSION_1, C_SESSION_2, C_LOST, C_ENTRY, C_TEXT_1, C_TEXT_2,
       FAKE_CLASSES };
#define FAKE_OBJECTS 8

struct fake_heap {
	struct heap heap;
	struct address_index index;
	struct heap_class classes[FAKE_CLASSES];
	uint32_t classes_by_loader[2];
	uint16_t class_low[FAKE_OBJECTS];
	uint32_t out_target[6], in_target[6];
	uint16_t out_offset[FAKE_OBJECTS + 1], in_offset[FAKE_OBJECTS + 1];
	uint64_t base[1];
	uint32_t own_size[1], own_length[1];
	struct heap_root roots[3];
	struct heap_thread threads[2];
	const char *frames[2];
};

void fake_heap_fill(struct fake_heap *f);
void fake_heap_release(struct fake_heap *f);

#endif
