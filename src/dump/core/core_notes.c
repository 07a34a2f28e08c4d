/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_notes.c - the notes of a core: threads, mapped files, the auxiliary vector. */
#include "dump/core/core_read.h"

#include "attach/core_image.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <elf.h>
#include <string.h>

/* --- lists of notes --------------------------------------------------------------------------------- */

static uint64_t padded(uint64_t n)
{
	return (n + 3) & ~UINT64_C(3);
}

int elf_each_note(const uint8_t *bytes, uint64_t n, bool big_endian, int (*take)(void *context,
    const struct elf_note *note), void *context)
{
	const uint64_t head = sizeof(Elf64_Nhdr); /* three words of 32 bits, in ELF of 32 bits too */
	int code = 0;

	while (code == 0 && n >= head) {
		uint64_t name = elf_number(bytes, 4, big_endian), size = elf_number(bytes + 4, 4, big_endian);
		struct elf_note note = { .type = (unsigned)elf_number(bytes + 8, 4, big_endian), .n_bytes = size };
		if (padded(name) > n - head || size > n - head - padded(name))
			return 0; /* cut */
		note.name = bytes + head;
		note.n_name = strnlen((const char *)note.name, name);
		note.bytes = bytes + head + padded(name);
		code = take(context, &note);
		uint64_t used = head + padded(name) + padded(size);
		if (used > n)
			return code;
		bytes += used;
		n -= used;
	}
	return code;
}

/* --- threads ------------------------------------------------------------------------------------------ */

/* struct elf_prstatus of 64 bits: where its signal, the thread's id and its registers stand. */
enum { STATUS_SIGNAL = 12, STATUS_ID = 32, STATUS_REGISTERS = 112 };
/* Of user_regs_struct: rbp, rip and rsp; x29, x30, sp and pc. */
enum { AMD64_FP = 4, AMD64_PC = 16, AMD64_SP = 19, AMD64_REGISTERS = 27 };
enum { ARM64_FP = 29, ARM64_LR = 30, ARM64_SP = 31, ARM64_PC = 32, ARM64_REGISTERS = 34 };

static uint64_t of_register(const struct core *c, const struct core_thread *t, unsigned i)
{
	return core_number(c, t->registers + 8 * i, 8);
}

static void take_registers(const struct core *c, struct core_thread *t)
{
	if (c->machine == CORE_AMD64 && t->n_registers >= 8 * AMD64_REGISTERS) {
		t->pc = of_register(c, t, AMD64_PC);
		t->sp = of_register(c, t, AMD64_SP);
		t->fp = of_register(c, t, AMD64_FP);
	} else if (c->machine == CORE_ARM64 && t->n_registers >= 8 * ARM64_REGISTERS) {
		t->pc = of_register(c, t, ARM64_PC);
		t->sp = of_register(c, t, ARM64_SP);
		t->fp = of_register(c, t, ARM64_FP);
		t->lr = of_register(c, t, ARM64_LR);
	}
}

static int take_thread(struct core *c, const struct elf_note *note, struct err *err)
{
	if (c->word != 8 || note->n_bytes < STATUS_REGISTERS)
		return 0;
	struct core_thread *t = BIG_PUSH(c->thread, c->n_threads, c->cap_threads, err);
	if (!t)
		return ERR_NOMEM;
	*t = (struct core_thread){
		.id = core_number(c, note->bytes + STATUS_ID, 4),
		.registers = note->bytes + STATUS_REGISTERS,
		.n_registers = note->n_bytes - STATUS_REGISTERS,
	};
	take_registers(c, t);
	if (c->n_threads == 1)
		c->signal = (unsigned)core_number(c, note->bytes + STATUS_SIGNAL, 2);
	return 0;
}

/* --- files --------------------------------------------------------------------------------------------- */

/* Their number, the size of a page; begin, end and page of each; then their names. */
static int take_files(struct core *c, const struct elf_note *note, struct err *err)
{
	unsigned w = c->word;
	if (note->n_bytes < 2 * w)
		return 0;
	uint64_t n = core_number(c, note->bytes, w), page = core_number(c, note->bytes + w, w);
	if (n > (note->n_bytes - 2 * w) / (3 * w))
		return 0;
	const uint8_t *p = note->bytes + 2 * w, *end = note->bytes + note->n_bytes, *name = p + 3 * w * n;
	for (; n; n--, p += 3 * w) {
		const uint8_t *behind = memchr(name, 0, (size_t)(end - name));
		struct core_mapping *m = behind ? BIG_PUSH(c->mapping, c->n_mappings, c->cap_mappings, err) : NULL;
		if (!m)
			return behind ? ERR_NOMEM : 0;
		*m = (struct core_mapping){ .begin = core_number(c, p, w), .end = core_number(c, p + w, w),
			.offset = core_number(c, p + 2 * w, w) * page, .path = (const char *)name };
		name = behind + 1;
	}
	return 0;
}

/* --- all ------------------------------------------------------------------------------------------------- */

struct notes {
	struct core *core;
	struct err *err;
};

static int take(void *context, const struct elf_note *note)
{
	struct notes *n = context;

	if (note->type == CORE_NOTE_CAIRN && note->n_name == 5 && !memcmp(note->name, "cairn", 5) && note->n_bytes >= 8)
		n->core->created = core_number(n->core, note->bytes, 8);
	/* delve leaves the name out */
	if (note->n_name && (note->n_name != 4 || memcmp(note->name, "CORE", 4)))
		return 0;
	switch (note->type) {
	case NT_PRSTATUS: return take_thread(n->core, note, n->err);
	case NT_FILE: return take_files(n->core, note, n->err);
	case NT_AUXV:
		n->core->auxiliary = note->bytes;
		n->core->n_auxiliary = note->n_bytes;
		return 0;
	default: return 0;
	}
}

int core_read_notes(struct core *c, const uint8_t *bytes, uint64_t n, struct err *err)
{
	struct notes notes = { c, err };
	return elf_each_note(bytes, n, c->big_endian, take, &notes);
}
