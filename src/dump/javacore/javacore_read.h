/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * javacore_read.h - what the files of the javacore reader share.  Nobody else includes it.
 *
 *     javacore.c          opening, lines, character sets, the title and class loader sections
 *     javacore_threads.c  the thread and lock sections
 *     javacore_find.c     which file it is
 */
#ifndef CAIRN_DUMP_JAVACORE_JAVACORE_READ_H
#define CAIRN_DUMP_JAVACORE_JAVACORE_READ_H

#include "dump/javacore/javacore.h"

#include <iconv.h>

/* A stretch of the file. */
struct span {
	const uint8_t *p, *end;
};

/* A lock of the lock section, which stands before the threads it speaks of. */
struct javacore_lock {
	uint64_t object, vm_thread;
	bool waiting;
};

struct javacore_reading {
	struct javacore *j;
	iconv_t charset;
	bool has_charset; /* the text is not UTF-8: strings go through charset */
	bool is_utf8;     /* it was translated as a whole: the charset it names is no longer its own */
	bool any_tag;     /* some line was one of a javacore's */

	uint64_t loader; /* whose classes are being listed */
	struct { uint64_t vm, object; } *shadows; /* Sovereign: loader in the VM -> loader object */
	size_t n_shadows, cap_shadows;

	size_t thread;        /* the one being read, SIZE_MAX none */
	bool next_is_current; /* the next thread block shows the current thread */
	size_t current;       /* that thread, which comes again in the full list; SIZE_MAX none */
	struct javacore_frame *frames;
	size_t n_frames, cap_frames;
	struct javacore_monitor *monitors;
	size_t n_monitors, cap_monitors;

	uint64_t lock_object; /* of the lock being read, 0 when it is none of an object */
	struct javacore_lock *locks;
	size_t n_locks, cap_locks;
};

/* The text of a span, in UTF-8, escaped, in the javacore's arena. */
const char *javacore_string(struct javacore_reading *r, struct span s);

struct span span_trim(struct span s);
static inline size_t span_size(struct span s)
{
	return (size_t)(s.end - s.p);
}
bool span_starts(struct span s, const char *word);
/* The first or last place where word stands in s; NULL when it does not. */
const uint8_t *span_find(struct span s, const char *word);
const uint8_t *span_find_last(struct span s, const char *word);
/* A hexadecimal number at p ("0x" or not, at most 16 digits).  False: there is none. */
bool span_hex(const uint8_t *p, const uint8_t *end, uint64_t *value);
/* The same for the number after the first "word" in s; 0 when there is none. */
uint64_t span_hex_after(struct span s, const char *word);

/* Handlers of one line each; s is what follows the tag. */
typedef void javacore_line(struct javacore_reading *r, struct span s);
javacore_line javacore_current_thread, javacore_thread_list, javacore_thread, javacore_thread_native,
    javacore_thread_java, javacore_thread_block, javacore_frame_line, javacore_entered,
    javacore_monitor_object, javacore_monitor_other, javacore_waiter;
void javacore_end_thread(struct javacore_reading *r);
void javacore_assign_locks(struct javacore_reading *r);

/*
 * The path of the javacore that belongs to the dump at dump_path, to be freed; NULL when no file is
 * there under any of the names it may have.
 */
char *javacore_find(const char *dump_path);

#endif
