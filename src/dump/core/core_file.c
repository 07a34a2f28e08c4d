/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * core_file.c - files under a core.
 *
 * What a program cannot write to is as the file has it; the rest of its segments the core must have itself.
 */
#include "dump/core/core_read.h"

#include "memory/big.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- does it belong to the core? ------------------------------------------------------------------------ */

struct build_id {
	const uint8_t *bytes;
	uint64_t n;
};

static int take_build_id(void *context, const struct elf_note *note)
{
	struct build_id *id = context;
	bool gnu = note->n_name == 3 && !memcmp(note->name, "GNU", 3) && note->type == NT_GNU_BUILD_ID;
	/* cmd/link: ELF_NOTE_GOBUILDID_TAG */
	bool go = note->n_name == 2 && !memcmp(note->name, "Go", 2) && note->type == 4;

	if (gnu || (go && !id->n))
		*id = (struct build_id){ note->bytes, note->n_bytes };
	return 0;
}

/* Notes of the file that are loaded, as the file and as the core's memory have them: of two builds they differ. */
static int check_build(const struct core *c, const struct elf_head *h, const struct core_file *f, uint64_t bias,
    struct err *err)
{
	struct elf_segment s;

	for (uint64_t i = 0; i < h->n_programs && elf_segment_read(h, f->bytes, f->size, i, &s); i++) {
		struct build_id of_file = { NULL, 0 }, of_core = { NULL, 0 };
		uint64_t there;
		if (s.type != PT_NOTE || s.offset > f->size || s.in_file > f->size - s.offset)
			continue;
		const uint8_t *memory = core_bytes(c, s.address + bias, &there);
		elf_each_note(f->bytes + s.offset, s.in_file, h->big_endian, take_build_id, &of_file);
		if (memory && there >= s.in_file)
			elf_each_note(memory, s.in_file, h->big_endian, take_build_id, &of_core);
		if (of_file.n && memory && there >= s.in_file &&
		    (of_core.n != of_file.n || memcmp(of_core.bytes, of_file.bytes, of_file.n)))
			return err_set(err, ERR_NOT_FOUND, "its build id is another one");
	}
	return 0;
}

static int check_machine(const struct core *c, const struct elf_head *h, struct err *err)
{
	if (h->type != ET_EXEC && h->type != ET_DYN)
		return err_set(err, ERR_FORMAT, "is an ELF file, but not an executable");
	if (h->word != c->word || h->big_endian != c->big_endian ||
	    (c->machine == CORE_AMD64 && h->machine != EM_X86_64) ||
	    (c->machine == CORE_ARM64 && h->machine != EM_AARCH64))
		return err_set(err, ERR_NOT_FOUND, "it was built for another machine than the core's");
	return 0;
}

/* --- under it -------------------------------------------------------------------------------------------- */

/* A part of a file's segment that no extent of the core covers; `all` is sorted up to n. */
static int add_gaps(struct core *c, size_t n, uint64_t begin, uint64_t end, const uint8_t *bytes, struct err *err)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < n && begin < end; i++) {
		const struct core_extent e = c->all.list[i];
		if (e.end <= begin)
			continue;
		if (e.begin >= end)
			break;
		if (e.begin > begin)
			code = core_add_extent(&c->all, begin, e.begin, bytes, err);
		bytes += e.end - begin;
		begin = e.end;
	}
	return code || begin >= end ? code : core_add_extent(&c->all, begin, end, bytes, err);
}

static int settle(struct core *c, struct err *err)
{
	int code = core_settle_extents(&c->all, err);
	return code ? code : core_index(c, err);
}

int core_add_bytes(struct core *c, uint64_t begin, const uint8_t *bytes, uint64_t n, struct err *err)
{
	if (n > UINT64_MAX - begin)
		return err_set(err, ERR_FORMAT, "no memory is at its addresses");
	int code = add_gaps(c, c->all.n, begin, begin + n, bytes, err);
	return code ? code : settle(c, err);
}

bool core_agrees(const struct core *c, uint64_t begin, const uint8_t *bytes, uint64_t n)
{
	uint64_t there, end = begin + n;

	for (uint64_t at = core_next(c, begin); at < end; at = core_next(c, at + there)) {
		const uint8_t *p = core_bytes(c, at, &there);
		there = there < end - at ? there : end - at;
		if (memcmp(p, bytes + (at - begin), there))
			return false;
	}
	return true;
}

static int add_segments(struct core *c, const struct elf_head *h, const struct core_file *f, uint64_t bias,
    struct err *err)
{
	struct elf_segment s;
	size_t n = c->all.n;
	int code = 0;

	for (uint64_t i = 0; code == 0 && i < h->n_programs && elf_segment_read(h, f->bytes, f->size, i, &s); i++) {
		uint64_t begin = s.address + bias;
		if (s.type != PT_LOAD || s.flags & PF_W || s.offset > f->size || s.in_file > f->size - s.offset ||
		    s.in_file > UINT64_MAX - begin)
			continue;
		code = add_gaps(c, n, begin, begin + s.in_file, f->bytes + s.offset, err);
	}
	return code ? code : settle(c, err);
}

static int map_file(struct core_file *f, const char *path, struct err *err)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), code = 0;

	if (fd < 0 || fstat(fd, &st))
		code = err_set(err, ERR_IO, "%s", strerror(errno));
	else if (!S_ISREG(st.st_mode))
		code = err_set(err, ERR_IO, "is not a regular file");
	if (code == 0) {
		f->size = (uint64_t)st.st_size;
		f->bytes = big_map(fd, 0, f->size, err);
		code = f->bytes ? 0 : err && err->code ? err->code : ERR_IO;
	}
	if (fd >= 0)
		close(fd);
	return code;
}

int core_add_file(struct core *c, const char *path, uint64_t bias, struct err *err)
{
	struct elf_head h;
	struct core_file f = { NULL, 0 };
	int code = map_file(&f, path, err);

	if (code == 0)
		code = elf_head_read(&h, f.bytes, f.size, err);
	if (code == 0)
		code = check_machine(c, &h, err);
	if (code == 0)
		code = check_build(c, &h, &f, bias, err);
	struct core_file *kept = code == 0 ? BIG_PUSH(c->file, c->n_files, c->cap_files, err) : NULL;
	if (!kept) {
		big_free(f.bytes);
		return code ? code : ERR_NOMEM;
	}
	*kept = f;
	return add_segments(c, &h, &f, bias, err);
}
