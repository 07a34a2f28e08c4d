/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core.c - see core.h: the header of a core file, and its segments. */
#include "dump/core/core_read.h"

#include "base/mem.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <elf.h>
#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uint64_t elf_number(const uint8_t *p, unsigned size, bool big_endian)
{
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	switch (size) {
	case 8:
		memcpy(&eight, p, sizeof eight);
		return big_endian ? be64toh(eight) : le64toh(eight);
	case 4:
		memcpy(&four, p, sizeof four);
		return big_endian ? be32toh(four) : le32toh(four);
	case 2:
		memcpy(&two, p, sizeof two);
		return big_endian ? be16toh(two) : le16toh(two);
	default:
		return *p;
	}
}

/* --- headers ------------------------------------------------------------------------------------- */

/* A member of a header, whose place and size differ between ELF of 32 and of 64 bits. */
#define MEMBER(h, p, T, member) \
	((h)->word == 8 ? elf_number((p) + offsetof(Elf64_##T, member), sizeof ((Elf64_##T *)0)->member, (h)->big_endian) \
	                : elf_number((p) + offsetof(Elf32_##T, member), sizeof ((Elf32_##T *)0)->member, (h)->big_endian))

static bool begins_elf(const uint8_t *head, uint64_t n)
{
	return n >= EI_NIDENT && !memcmp(head, ELFMAG, SELFMAG) &&
	    (head[EI_CLASS] == ELFCLASS32 || head[EI_CLASS] == ELFCLASS64) &&
	    (head[EI_DATA] == ELFDATA2LSB || head[EI_DATA] == ELFDATA2MSB);
}

bool core_begins(const uint8_t *head, size_t n)
{
	return begins_elf(head, n) && n >= EI_NIDENT + 2 &&
	    elf_number(head + EI_NIDENT, 2, head[EI_DATA] == ELFDATA2MSB) == ET_CORE;
}

int elf_head_read(struct elf_head *h, const uint8_t *bytes, uint64_t size, struct err *err)
{
	if (!begins_elf(bytes, size))
		return err_at(err, ERR_FORMAT, 0, "not an ELF file");
	*h = (struct elf_head){ .word = bytes[EI_CLASS] == ELFCLASS64 ? 8 : 4,
		.big_endian = bytes[EI_DATA] == ELFDATA2MSB };
	if (size < (h->word == 8 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)))
		return err_at(err, ERR_TRUNCATED, size, "truncated in the ELF header at byte %" PRIu64, size);
	h->type = (unsigned)MEMBER(h, bytes, Ehdr, e_type);
	h->machine = (unsigned)MEMBER(h, bytes, Ehdr, e_machine);
	h->entry = MEMBER(h, bytes, Ehdr, e_entry);
	h->programs = MEMBER(h, bytes, Ehdr, e_phoff);
	h->sections = MEMBER(h, bytes, Ehdr, e_shoff);
	h->n_programs = MEMBER(h, bytes, Ehdr, e_phnum);
	h->program_bytes = MEMBER(h, bytes, Ehdr, e_phentsize);
	if (h->program_bytes < (h->word == 8 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return err_at(err, ERR_FORMAT, 0, "an ELF file without program headers");
	uint64_t section = h->word == 8 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	/* more than fit: the first section has their number */
	if (h->n_programs == PN_XNUM && h->sections <= size && size - h->sections >= section)
		h->n_programs = MEMBER(h, bytes + h->sections, Shdr, sh_info);
	return 0;
}

bool elf_segment_read(const struct elf_head *h, const uint8_t *bytes, uint64_t size, uint64_t i,
    struct elf_segment *out)
{
	if (h->programs > size || i >= (size - h->programs) / h->program_bytes)
		return false;
	const uint8_t *p = bytes + h->programs + i * h->program_bytes;
	*out = (struct elf_segment){
		.type = (unsigned)MEMBER(h, p, Phdr, p_type),
		.flags = (unsigned)MEMBER(h, p, Phdr, p_flags),
		.offset = MEMBER(h, p, Phdr, p_offset),
		.address = MEMBER(h, p, Phdr, p_vaddr),
		.in_file = MEMBER(h, p, Phdr, p_filesz),
		.in_memory = MEMBER(h, p, Phdr, p_memsz),
	};
	return true;
}

/* --- segments ------------------------------------------------------------------------------------- */

/* What of a segment is in the file. */
static int take_segment(struct core *c, const struct elf_segment *s, struct err *err)
{
	uint64_t size = c->source->size, there = s->offset < size ? size - s->offset : 0;
	uint64_t in_file = s->in_file < there ? s->in_file : there;

	if (s->in_file > UINT64_MAX - s->address)
		return 0; /* no memory ends there */
	if (c->cut <= ADDRESSES) /* more cannot be: the sum does not wrap */
		c->cut += s->in_file - in_file <= ADDRESSES ? s->in_file - in_file : ADDRESSES + 1;
	return !in_file ? 0 : core_add_extent(&c->own, s->address, s->address + in_file, c->source->bytes + s->offset, err);
}

static int take_notes(struct core *c, const struct elf_segment *s, struct err *err)
{
	uint64_t size = c->source->size, there = s->offset < size ? size - s->offset : 0;
	return core_read_notes(c, c->source->bytes + (there ? s->offset : 0),
	    s->in_file < there ? s->in_file : there, err);
}

static int read_segments(struct core *c, const struct elf_head *h, struct err *err)
{
	const struct source *s = c->source;
	struct elf_segment segment;
	uint64_t i = 0;
	int code = 0;

	for (; code == 0 && i < h->n_programs && elf_segment_read(h, s->bytes, s->size, i, &segment); i++) {
		if (segment.type == PT_LOAD)
			code = take_segment(c, &segment, err);
		else if (segment.type == PT_NOTE)
			code = take_notes(c, &segment, err);
	}
	if (code == 0 && i < h->n_programs && !c->own.n)
		return err_at(err, ERR_TRUNCATED, s->size, "truncated at byte %" PRIu64 ", in the list of segments",
		    s->size);
	return code;
}

int core_drop_added(struct core *c, struct err *err)
{
	int code = 0;

	c->all.n = 0;
	for (size_t i = 0; code == 0 && i < c->own.n; i++) {
		const struct core_extent *e = &c->own.list[i];
		code = core_add_extent(&c->all, e->begin, e->end, e->bytes, err);
	}
	return code ? code : core_index(c, err);
}

static enum core_machine machine_of(const struct elf_head *h)
{
	if (h->word != 8 || h->big_endian)
		return CORE_OTHER;
	return h->machine == EM_X86_64 ? CORE_AMD64 : h->machine == EM_AARCH64 ? CORE_ARM64 : CORE_OTHER;
}

int core_open(struct core **out, const struct source *source, struct err *err)
{
	struct elf_head h;
	struct core *c = xcalloc(1, sizeof *c);
	int code = elf_head_read(&h, source->bytes, source->size, err);

	*out = NULL;
	c->source = source;
	if (code == 0 && h.type != ET_CORE)
		code = err_at(err, ERR_FORMAT, 0, "an ELF file, but not a core file");
	if (code == 0) {
		c->word = h.word;
		c->big_endian = h.big_endian;
		c->machine = machine_of(&h);
		code = read_segments(c, &h, err);
	}
	if (code == 0)
		code = core_settle_extents(&c->own, err);
	if (code == 0)
		code = core_drop_added(c, err);
	if (code == 0 && !c->own.n)
		code = err_set(err, ERR_FORMAT, "a core file without memory");
	if (code)
		core_close(c);
	else
		*out = c;
	return code;
}

void core_close(struct core *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_files; i++)
		big_free(c->file[i].bytes);
	big_free(c->file);
	big_free(c->own.list);
	big_free(c->all.list);
	big_free(c->top);
	big_free(c->first);
	big_free(c->thread);
	big_free(c->mapping);
	free(c);
}

/* --- what it says ------------------------------------------------------------------------------------ */

enum core_machine core_machine(const struct core *c)
{
	return c->machine;
}

uint64_t core_created(const struct core *c)
{
	return c->created;
}

unsigned core_signal(const struct core *c)
{
	return c->signal;
}

unsigned core_word(const struct core *c)
{
	return c->word;
}

bool core_big_endian(const struct core *c)
{
	return c->big_endian;
}

const struct core_thread *core_threads(const struct core *c, size_t *n)
{
	*n = c->n_threads;
	return c->thread;
}

const struct core_mapping *core_mappings(const struct core *c, size_t *n)
{
	*n = c->n_mappings;
	return c->mapping;
}

bool core_auxiliary(const struct core *c, uint64_t type, uint64_t *value)
{
	for (uint64_t at = 0; c->n_auxiliary - at >= 2 * c->word; at += 2 * c->word) {
		*value = core_number(c, c->auxiliary + at + c->word, c->word);
		if (core_number(c, c->auxiliary + at, c->word) == type)
			return true;
	}
	return false;
}

int core_missing(const struct core *c, struct err *err)
{
	uint64_t size = c->source->size;

	if (c->cut > ADDRESSES)
		return err_at(err, ERR_FORMAT, size, "the table of segments is damaged: the file lacks %" PRIu64 " bytes of "
		    "memory, which no program has", c->cut);
	return !c->cut ? 0 : err_at(err, ERR_TRUNCATED, size, "truncated at byte %" PRIu64 ": the system or a "
	    "copy ended it early, and %" PRIu64 " byte%s of memory %s missing", size, c->cut, c->cut == 1 ? "" : "s",
	    c->cut == 1 ? "is" : "are");
}

uint64_t core_size(const struct core *c)
{
	uint64_t size = 0;

	for (size_t i = 0; i < c->own.n; i++)
		size += c->own.list[i].end - c->own.list[i].begin;
	return size;
}
