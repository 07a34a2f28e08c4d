/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * live_dump_file.h - a dump by a file in the VM's temporary folder, where the VM cannot write to FIFOs.
 *
 * Java before 17 never writes over a file; OpenJ9 takes another name if there is one.  The file is in a folder as
 * dump_folder.h makes it, and taken away when it is read.  So is a core of OpenJ9, which the kernel writes when a child
 * of the VM aborts there (core_pattern), and which is copied to the file that the user names.
 */
#ifndef CAIRN_ATTACH_LIVE_DUMP_FILE_H
#define CAIRN_ATTACH_LIVE_DUMP_FILE_H

#include "attach/dump_folder.h"

struct taking {
	const struct vm_process *vm;
	struct live_dump_wishes *wishes;
	struct progress *progress;
	char *remark;
	size_t remark_room;
	struct vm_link link;
	struct packed_bytes *bytes;
};

/* ERR_NOMEM: as much came. */
int live_dump_no_memory(const struct packed_bytes *bytes, struct err *err);

/* take_by_fifos: this VM or its folders cannot; do it otherwise. */
enum { LIVE_DUMP_OTHERWISE = 1 };

/* Memory that a process has, in RAM or swapped out; 0: unknown. */
uint64_t live_dump_resident(const struct vm_process *p);
/* Bytes that the VM's file may have at most; Java 22 and later write twice as many.  0: unknown. */
uint64_t live_dump_room(const struct vm_process *p);
/* Read what a descriptor has now; *came counts it.  ERR_NOMEM, ERR_IO, ERR_CANCELLED. */
MUST_CHECK int live_dump_drain(struct taking *t, int fd, unsigned stream, uint64_t *came, struct err *err);
/* Only a part came, and why: 0 with a remark.  Nothing did: ERR_NOT_FOUND if the VM has ended, LIVE_DUMP_OTHERWISE. */
MUST_CHECK int live_dump_incomplete(struct taking *t, const struct err *why, struct err *err);
MUST_CHECK int live_dump_take_file(struct taking *t, struct err *err);

/* The folder that a file is in, the caller's (free). */
char *live_dump_folder_of(const char *path);
/* Bytes that a core of the VM has at most; 0: unknown. */
uint64_t live_core_room(const struct vm_process *p);
/* As live_dump_check, of a core. */
MUST_CHECK int live_core_check(const struct vm_process *p, const char *path, struct err *err);

#endif
