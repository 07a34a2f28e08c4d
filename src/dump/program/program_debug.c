/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program_debug.c - the file that has the DWARF of a program, where that was split off.
 *
 * Places and checks are those of gdb's manual, "Debugging Information in Separate Files": by the build id below
 * /usr/lib/debug, by the name in .gnu_debuglink beside the program.  No server is asked.
 */
#include "dump/program/program_read.h"

#ifdef HAVE_LIBDW
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define DEBUG_FOLDER "/usr/lib/debug"

static bool has_crc(int fd, uint32_t crc)
{
	uint8_t buffer[1 << 16];
	uLong sum = crc32(0, NULL, 0);
	ssize_t n;

	for (off_t at = 0; (n = pread(fd, buffer, sizeof buffer, at)) > 0; at += n)
		sum = crc32(sum, buffer, (uInt)n);
	return n == 0 && sum == crc;
}

static bool has_build_id(Elf *elf, const void *id, ssize_t n)
{
	const void *its;
	return n > 0 && dwelf_elf_gnu_build_id(elf, &its) == n && !memcmp(its, id, (size_t)n);
}

/* Take the file at this path if it is the program's: it has its build id, or the checksum that the program names. */
static bool take(struct program *p, const char *path, const uint32_t *crc)
{
	const void *id;
	ssize_t n = dwelf_elf_gnu_build_id(p->elf, &id);
	struct stat st;
	int fd = file_open_read(path);
	bool file = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode);
	Elf *elf = file ? elf_begin(fd, ELF_C_READ, NULL) : NULL;

	if (elf && (has_build_id(elf, id, n) || (crc && has_crc(fd, *crc)))) {
		p->debug_fd = fd;
		p->debug_elf = elf;
		p->debug_hold = file_hold_open(fd, "the debug file of the program");
		return true;
	}
	if (elf)
		elf_end(elf);
	if (fd >= 0)
		close(fd);
	return false;
}

static bool by_build_id(struct program *p, struct text *path)
{
	const void *id;
	ssize_t n = dwelf_elf_gnu_build_id(p->elf, &id);
	const uint8_t *b = id;

	text_clear(path);
	for (ssize_t i = 0; i < n; i++)
		text_addf(path, i == 0 ? DEBUG_FOLDER "/.build-id/%02x" : i == 1 ? "/%02x" : "%02x", b[i]);
	text_add(path, ".debug");
	return n > 2 && take(p, path->s, NULL);
}

static bool by_link(struct program *p, const char *name, uint32_t crc, struct text *path)
{
	static const char *const before[] = {"", "", DEBUG_FOLDER}, *const behind[] = {"", ".debug/", ""};
	char *real = file_real_path(p->path);
	const char *slash = strrchr(real, '/');
	size_t folder = slash ? (size_t)(slash + 1 - real) : 0;
	bool found = false;

	for (size_t i = 0; i < sizeof before / sizeof *before && !found && !strchr(name, '/'); i++) {
		text_clear(path);
		text_add(path, before[i]);
		text_add_n(path, real, folder);
		text_add(path, behind[i]);
		text_add(path, name);
		found = take(p, path->s, &crc);
	}
	free(real);
	return found;
}

void program_find_debug(struct program *p)
{
	GElf_Word crc = 0;
	const char *name = dwelf_elf_gnu_debuglink(p->elf, &crc);
	struct text path = TEXT_INIT;

	if (!by_build_id(p, &path) && name && !by_link(p, name, crc, &path)) {
		text_clear(&path);
		text_add(&path, "its DWARF is in ");
		text_add_escaped(&path, name, strnlen(name, MOST_NAME));
		text_add(&path, ", and no such file of this build is next to it");
		p->lacks = program_keep(p, &p->arena, path.s);
	}
	text_release(&path);
}
#endif
