/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof_bytes.h - HPROF dumps written as hexadecimal digits with 'text', read, and what the reader says, a
 * line for each record; and a small dump with one of everything.
 */
#ifndef CAIRN_TESTS_HPROF_BYTES_H
#define CAIRN_TESTS_HPROF_BYTES_H

#include "dump/hprof/hprof_dump.h"
#include "guarded.h"
#include "recorder.h"

/* A dump in memory. */
struct hprof_fixture {
	struct guarded bytes;
	struct dump *dump;
	struct err err;
	int result; /* of opening: 0 or an err_code */
};

extern const struct recorder_lines hprof_lines;

/* Append a record with its length: the tag and the body in hex. */
void add_record(struct text *t, const char *tag, const char *body);

void open_hprof(struct hprof_fixture *f, const char *bytes, size_t n, unsigned heap_number);
void close_hprof(struct hprof_fixture *f);
/* Read all parts in turn, those behind a damaged one, too; the last negative result. */
int read_hprof(struct hprof_fixture *f, struct recorder *w, unsigned want);

/* Read this dump, for the survey: the result, words of the error, and the lines unless they are NULL.
 * Releases t. */
void expect_hprof(const char *title, struct text *t, int code, const char *message,
    const char *written);

#define HEADER "'JAVA PROFILE 1.0.2' 00 00000004 00000135 39F8DE7D"

/* Strings 1 …, classes 0x100 (Object), 0x110 (Node: next 02, n 0A, other 02), 0x120 (Sub of Node:
 * mine 02), 0x130 (int[] by the agent's spelling), 0x140 (Object[]). */
void add_names(struct text *t);

/* The header and the names: what stands in front of every heap here. */
void begin_hprof(struct text *t);

#define ZERO4 "00000000 00000000 00000000 00000000"
#define CLASS_OBJECT "20 00000100 00000001 00000000 00000000" ZERO4 "00000000 0000 0000 0000"
#define CLASS_NODE                                                                                 \
	"20 00000110 00000001 00000100 00000000" ZERO4 "0000000C 0001 0005 02 00000666"            \
	"0002 00000008 02 00000200 00000009 09 FFFE 0003 00000004 02 00000005 0A 00000006 02"
#define CLASS_SUB                                                                                  \
	"20 00000120 00000001 00000110 00000900" ZERO4 "00000010 0000 0000 0001 00000007 02"
#define CLASS_INTS "20 00000130 00000001 00000100 00000000" ZERO4 "00000000 0000 0000 0000"
#define CLASS_OBJECTS "20 00000140 00000001 00000100 00000000" ZERO4 "00000000 0000 0000 0000"
#define CLASSES CLASS_OBJECT CLASS_NODE CLASS_SUB CLASS_INTS CLASS_OBJECTS
#define NODE "21 00000200 00000001 00000110 0000000C 00000210 0000002A 00000000"
#define SUB "21 00000210 00000001 00000120 00000010 00000220 00000200 00000007 00000230"
#define OBJECTS "22 00000220 00000001 00000004 00000140 00000200 00000000 00000210 00000777"
#define INTS "23 00000230 00000001 00000002 0A 00000001 00000002"
#define ROOTS                                                                                      \
	"08 00000200 00000007 00000009 03 00000210 00000007 00000001 01 00000220 0000ABCD"         \
	"02 00000230 00000007 FFFFFFFF 05 00000100 07 00000200"

/* All of the above. */
void small_hprof(struct text *t);

/* The lines that the reader must write of it. */
#define WRITTEN_CLASSES                                                                            \
	"C 100 super 0 loader 0 size 0 java/lang/Object\n"                                         \
	"C 110 super 100 loader 0 size 12 demo/Node ->666 ->200 "                                  \
	"static <constant>:2=666 static ROOT:2=200 "                                               \
	"static COUNT:9=fffffffffffffffe next:2 n:10 other:2\n"                                    \
	"C 120 super 110 loader 900 size 16 demo/Node$Sub mine:2\n"                                \
	"C 130 super 100 loader 0 size 0 [I\n"                                                     \
	"C 140 super 100 loader 0 size 0 [Ljava/lang/Object;\n"
#define WRITTEN_OBJECTS                                                                            \
	"O 200 class 110 refs 1\n"                                                                 \
	"O 210 class 120 refs 3\n"                                                                 \
	"A 220 class 140 refs 3 length 4\n"                                                        \
	"P 230 class [I refs 0 length 2\n"
#define WRITTEN_ROOTS                                                                              \
	"T 7 200 worker\n"                                                                         \
	"  at demo.Node$Sub.run(Demo.java:17)\n"                                                   \
	"  at demo.Node.run(Native Method)\n"                                                      \
	"  at demo.Node.run(Unknown Source)\n"                                                     \
	"  at <unknown class>.run(Demo.java)\n"                                                    \
	"R 200 kind 8 thread 7 frame -1\n"                                                         \
	"R 210 kind 6 thread 7 frame 1\n"                                                          \
	"R 220 kind 3 thread 0 frame -1\n"                                                         \
	"R 230 kind 2 thread 7 frame -1\n"                                                         \
	"R 100 kind 1 thread 0 frame -1\n"                                                         \
	"R 200 kind 5 thread 0 frame -1\n"

#endif
