/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dump_folder.h - a folder of the VM's user in which the VM finds FIFOs to write its dump to, and the guard of it.
 *
 * Its name cannot be guessed and only that user may enter it (0700), so nobody else puts a file or link there.  A VM
 * that opens a FIFO without a reader waits, and Java 22 and later do so while the whole VM stands still.  So a second
 * process, the guard, holds the FIFOs open too: if cairn ends or gives up, even by SIGKILL, it first takes the folder
 * away, so that the VM finds no file any more, then keeps reading ends for those that were just found, and ends.  The
 * VM gets ENOENT or EPIPE and goes on.  If cairn is stopped (^Z), the guard reads instead.  One thread.
 */
#ifndef CAIRN_ATTACH_DUMP_FOLDER_H
#define CAIRN_ATTACH_DUMP_FOLDER_H

#include "attach/vm_link.h"

enum { DUMP_FIFOS = 2, DUMP_NAME = 64 };
#define DUMP_FILE "heap.hprof" /* the first FIFO, or a file; the second FIFO is DUMP_FILE ".p0" */

struct dump_folder {
	const struct vm_process *vm;
	int parent, fd;         /* what it is in, and itself, locked as long as cairn or the guard lives */
	int fifo[DUMP_FIFOS];   /* read and written by us, so that no VM waits for a reader or writer; -1 */
	int guard;              /* a byte: all is done.  Its end: cairn has ended */
	char name[DUMP_NAME];
	char path[DUMP_NAME + 16]; /* as the VM names it: "/tmp/.cairn-PID-…" */
};

/* Make it, with FIFOs or with room for a file of so many bytes (0: FIFOs).  Folders without room are passed over:
 * /dev/shm has some where the disk is full.  ERR_IO.  Either way dump_folder_end ends it. */
MUST_CHECK int dump_folder_make(struct dump_folder *f, const struct vm_link *l, uint64_t room, struct err *err);
/* Did the guard read what we did not, because we were stopped? */
bool dump_folder_lost(const struct dump_folder *f);
/* Take it away.  whole: the VM has written all, so nobody needs the guard any more. */
void dump_folder_end(struct dump_folder *f, bool whole);
/* Those that a killed run left behind for this user: let the VM go on that waits there, and take them away. */
void dump_folder_clean(const struct vm_link *l);

#endif
