/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lazy_dump.h - a dump whose bytes are inflated only when somebody asks for them. */
#ifndef CAIRN_DUMP_LAZY_DUMP_H
#define CAIRN_DUMP_LAZY_DUMP_H

#include <stdbool.h>

struct dump;
struct dump_facts; /* dump/facts.h */
struct err;
struct progress;
struct source;

/*
 * A dump of which all that is known stands elsewhere, and whose gzip file waits to be inflated (source_open_waiting;
 * borrowed) until locate or read is asked.  Any thread may ask; it waits as long as its own work goes on
 * (progress_own), and ERR_CANCELLED leaves it to the next one.  After any other error it stays ERR_IO.
 */
struct dump *lazy_dump_new(const struct source *waiting, unsigned heap_number);
/* Its facts, whose texts must stay; cut: that the file ends too early is known. */
void lazy_dump_tells(struct dump *dump, const struct dump_facts *facts, bool cut);
/* All of these do nothing for any other dump, and may be asked by any thread. */
/* Inflate it beside what goes on, whether somebody asks or not, or no longer.  Was it still at it? */
void lazy_dump_begin(const struct dump *dump);
bool lazy_dump_stop(const struct dump *dump);
/* How far it is; NULL: nobody is at it. */
struct progress *lazy_dump_progress(const struct dump *dump);
/* Does it wait, or is somebody at it? */
bool lazy_dump_waits(const struct dump *dump);
/* Does it, and may the calling thread not wait for it (lazy_dump_wait_never)? */
bool lazy_dump_barred(const struct dump *dump);
/* Could it not be inflated?  *why, which may be NULL, gets a sentence with its path. */
bool lazy_dump_failed(const struct dump *dump, struct err *why);
/* May the calling thread never wait, since it draws a screen?  Then it gets ERR_IO meanwhile. */
void lazy_dump_wait_never(bool never);

#endif
