/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * core_image.h - the beginning of an ELF core file of a stopped process: headers and notes (elf(5), core(5)).
 *
 * A program header for each mapping; the bytes of those that are copied follow in the same order.  Notes are those of
 * a core file of the kernel (threads, arguments, auxiliary vector, files), and one of ours:
 *
 *	owner "cairn", type 0x6e726163: when the copy was made, in milliseconds since 1970 (64 bits), then texts that
 *	end with NUL: the path of the program where it runs, and the path by which it was reached from where cairn ran.
 */
#ifndef CAIRN_ATTACH_CORE_IMAGE_H
#define CAIRN_ATTACH_CORE_IMAGE_H

#include "attach/memory_map.h"
#include "attach/ptrace_stop.h"

enum { CORE_NOTE_CAIRN = 0x6e726163, CORE_HEAD_UNIT = 256 << 10 };

/* What the program is for: of the header of its file.  ERR_IO; ERR_UNSUPPORTED: not a program of 64 bits. */
struct core_target {
	uint16_t machine;
	uint32_t flags;
};
MUST_CHECK int core_target_read(struct core_target *to, const struct vm_process *p, int process, struct err *err);

/* Bytes that come before the copy, as far as is known before the process is stopped: a multiple of CORE_HEAD_UNIT. */
uint64_t core_image_head_size(const struct memory_map *map, uint64_t threads);
/* Append them: so many, or more if they do not do.  ERR_NOMEM. */
MUST_CHECK int core_image_head(struct text *to, const struct core_target *target, const struct ptrace_stop *stop,
    const struct memory_map *map, uint64_t size, struct err *err);

#endif
