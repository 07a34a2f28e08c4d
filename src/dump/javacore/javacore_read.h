/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * javacore_read.h - what the files of the javacore reader share; private to src/dump/javacore.
 *
 *     javacore.c          opening, lines, character sets, the title and class loader sections
 *     javacore_process.c  what the sections say of the process
 *     javacore_threads.c  the thread and lock sections
 *     javacore_find.c     which file is the javacore of a dump
 */
#ifndef CAIRN_DUMP_JAVACORE_JAVACORE_READ_H
#define CAIRN_DUMP_JAVACORE_JAVACORE_READ_H

#include "dump/javacore/javacore.h"

#include "base/text.h"

#include <iconv.h>

/* A stretch of the file's text, borrowed: from p to the byte before end. */
struct span {
	const uint8_t *p, *end;
};

/* What the lock section says of one object and one thread.  The section comes before the threads,
 * so it is kept and given to them at the end (javacore_assign_locks). */
struct javacore_lock {
	uint64_t object, vm_thread; /* addresses */
	struct javacore_wait wait;  /* only if waiting */
	bool waiting;               /* the thread waits for the object; else it owns it */
};

/* The state of one reading, by one thread. */
struct javacore_reading {
	struct javacore *j;
	iconv_t charset;
	bool has_set;          /* the text is not UTF-8: of a set of one byte a character (code_pages.h) */
	uint16_t set[256];
	bool has_charset; /* the text is not UTF-8: strings go through charset */
	bool is_utf8;     /* the text was translated as a whole; ignore the charset that it names */
	bool any_tag;     /* some line had a tag that javacores have */
	bool refused;     /* some memory was refused: *err says so, and the reading ends */
	struct err *err;

	uint64_t loader; /* address of the loader whose classes are being listed */
	/* In javacores of Sovereign VMs: the VM's own address of a loader, and that of its object.
	 * Big memory, as the other lists here. */
	struct javacore_shadow { uint64_t vm, object; } *shadows;
	size_t n_shadows, cap_shadows;

	size_t thread;        /* index of the thread being read; SIZE_MAX: none */
	bool next_is_current; /* the next thread block shows the current thread */
	struct javacore_frame *frames; /* of the thread being read, until javacore_end_thread */
	size_t n_frames, cap_frames;
	struct javacore_monitor *monitors; /* likewise */
	size_t n_monitors, cap_monitors;

	uint64_t heap_free; /* as J9 up to 2.5 says it, before how large the heap is */
	uint64_t lock_object; /* the object of the lock being read; 0: the lock has no object */
	struct span lock_line; /* where it stands */
	struct javacore_wait lock_wait; /* what a thread waits for that waits for it; made for the first one */
	struct javacore_lock *locks;
	size_t n_locks, cap_locks;
};

/* Copy the text of a span into the javacore's arena, as UTF-8 and escaped.  "" when memory is
 * refused. */
const char *javacore_string(struct javacore_reading *r, struct span s);

/* The same in the arena of the process's facts, with secrets masked; NULL for no text. */
const char *javacore_told(struct javacore_reading *r, struct span s);
/* Append the text of a span in UTF-8, escaped. */
void javacore_text(struct javacore_reading *r, struct span s, struct text *to);
/* "2016/04/04 at 08:34:17" behind a word as ISO 8601; false: it does not stand there. */
#define JAVACORE_DATE "nnnn-nn-nnTnn:nn:nn"
bool javacore_date(struct span s, const char *word, char out[sizeof JAVACORE_DATE]);

/* The span without the blanks at both ends. */
struct span span_trim(struct span s);
static inline size_t span_size(struct span s)
{
	return (size_t)(s.end - s.p);
}
bool span_starts(struct span s, const char *word);
/* The first place, or the last, where word stands in s; NULL when it does not. */
const uint8_t *span_find(struct span s, const char *word);
const uint8_t *span_find_last(struct span s, const char *word);
/* Read a hexadecimal number at p: at most 16 digits, with or without "0x".  False: there is none. */
bool span_hex(const uint8_t *p, const uint8_t *end, uint64_t *value);
/* The hexadecimal number behind the first place where word stands in s; 0 when there is none. */
uint64_t span_hex_after(struct span s, const char *word);

/* Handlers, each for lines of one kind of tag; s is what follows the tag. */
typedef void javacore_line(struct javacore_reading *r, struct span s);
javacore_line javacore_current_thread, javacore_thread_list, javacore_thread, javacore_thread_native,
    javacore_thread_java, javacore_thread_block, javacore_frame_line, javacore_entered,
    javacore_monitor_object, javacore_monitor_other, javacore_waiter, javacore_cause, javacore_started,
    javacore_process_id, javacore_command_line, javacore_vm_version, javacore_os, javacore_cpus,
    javacore_signal, javacore_heap_total, javacore_heap_used, javacore_heap_free,
    javacore_heap_allocated, javacore_argument, javacore_limit,
    javacore_variable, javacore_memory;
/* The thread being read is over: give it the frames and monitors that were gathered. */
void javacore_end_thread(struct javacore_reading *r);
/* At the end of the file: give each thread the monitors that the lock section says it has. */
void javacore_assign_locks(struct javacore_reading *r);

#endif
