/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_gocore_stacks.c - functions, frames and pointers of stacks in a core that is made here: 128 KB of memory, four
 * functions, one stack.  main.inner was called by main.outer, and that by runtime.goexit.
 *
 * Expected offsets are worked out by hand from the rules of runtime/stkframe.go and heapdump.go.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <string.h>

#include "dump/go/go_record.h"
#include "dump/gocore/gocore_stack.h"
#include "dump/source/source.h"
#include "memory/big.h"

enum {
	MEMORY = 0x400000, MEMORY_BYTES = 0x20000, HEAD = 64 + 56,
	FUNCTION_DATA = MEMORY + 0x1000, READ_ONLY = MEMORY + 0x8000, STACK = MEMORY + 0x10000,
	STACK_END = MEMORY + 0x18000,
	TEXT = 0x600000, FUNCTION_BYTES = 0x100, INFO_BYTES = 128,
	INNER = 0, OUTER, GOEXIT, FAULT, N_FUNCTIONS,
};

static struct {
	uint8_t file[HEAD + MEMORY_BYTES];
	uint8_t infos[INFO_BYTES * (N_FUNCTIONS + 1)], tables[4096], ftab[8 * (N_FUNCTIONS + 1)];
	char names[256], files[64];
	uint8_t units[16];
	uint32_t n_tables, n_names, n_data;
	struct source source;
	struct core *core;
	struct gocore g;
	struct gocore_unwinder u;
	struct gocore_stack s;
	struct err err;
} w;

static void put(uint8_t *p, unsigned size, uint64_t value)
{
	for (unsigned i = 0; i < size; i++)
		p[i] = (uint8_t)(value >> 8 * i);
}

static void poke(uint64_t address, unsigned size, uint64_t value)
{
	assert_true(address >= MEMORY && address + size <= MEMORY + MEMORY_BYTES);
	put(w.file + HEAD + (address - MEMORY), size, value);
}

static void word(uint64_t address, uint64_t value)
{
	poke(address, 8, value);
}

/* --- making ------------------------------------------------------------------------------------------------ */

static void lay(enum gocore_member member, uint64_t offset, uint64_t size)
{
	w.g.at[member] = (struct gocore_place){ .offset = offset, .size = size };
}

static void number(uint32_t n)
{
	for (; n >= 0x80; n >>= 7)
		w.tables[w.n_tables++] = (uint8_t)(n | 0x80);
	w.tables[w.n_tables++] = (uint8_t)n;
}

/* A table that has a value for the first bytes of a function, then another one. */
static uint32_t table(int32_t first, uint32_t bytes, int32_t then)
{
	const unsigned step = w.g.machine == CORE_ARM64 ? 4 : 1;
	uint32_t at = w.n_tables;
	int32_t changes[] = { first + 1, then - first };

	for (unsigned i = 0; i < 2; i++) {
		number(changes[i] < 0 ? (uint32_t)(-changes[i] - 1) << 1 | 1 : (uint32_t)changes[i] << 1);
		number((i ? FUNCTION_BYTES - bytes : bytes) / step);
	}
	number(0);
	return at;
}

/* Two maps of up to 8 bits. */
static uint32_t map(uint32_t bits, uint8_t first, uint8_t second)
{
	uint32_t at = w.n_data;

	poke(FUNCTION_DATA + at, 4, 2);
	poke(FUNCTION_DATA + at + 4, 4, bits);
	poke(FUNCTION_DATA + at + 8, 1, first);
	poke(FUNCTION_DATA + at + 9, 1, second);
	w.n_data += 16;
	return at;
}

static void function(unsigned i, const char *name, uint32_t frame, unsigned flags, int32_t arguments, uint32_t maps,
    uint32_t argument_maps, uint32_t locals, uint32_t objects)
{
	uint8_t *p = w.infos + INFO_BYTES * i + 8;
	uint32_t behind[] = { 0, maps, argument_maps, locals, objects };

	put(p, 4, i * FUNCTION_BYTES);
	put(p + 4, 4, w.n_names);
	put(p + 8, 4, (uint32_t)arguments);
	put(p + 16, 4, frame);
	put(p + 28, 4, 2);
	p[41] = (uint8_t)flags;
	p[43] = 3;
	for (unsigned k = 0; k < 5; k++)
		put(p + 44 + 4 * k, 4, behind[k]);
	put(w.ftab + 8 * i, 4, i * FUNCTION_BYTES);
	put(w.ftab + 8 * i + 4, 4, INFO_BYTES * i + 8);
	memcpy(w.names + w.n_names, name, strlen(name));
	w.n_names += (uint32_t)strlen(name) + 1;
}

static const uint32_t none = UINT32_MAX;

static void make_head(enum core_machine machine)
{
	Elf64_Ehdr e = { .e_ident = ELFMAG, .e_type = ET_CORE, .e_version = 1, .e_phoff = 64, .e_ehsize = 64,
	    .e_phentsize = 56, .e_phnum = 1, .e_machine = machine == CORE_ARM64 ? EM_AARCH64 : EM_X86_64 };
	Elf64_Phdr p = { .p_type = PT_LOAD, .p_offset = HEAD, .p_vaddr = MEMORY, .p_filesz = MEMORY_BYTES,
	    .p_memsz = MEMORY_BYTES, .p_flags = PF_R | PF_W };

	e.e_ident[EI_CLASS] = ELFCLASS64;
	e.e_ident[EI_DATA] = ELFDATA2LSB;
	e.e_ident[EI_VERSION] = 1;
	memcpy(w.file, &e, sizeof e);
	memcpy(w.file + 64, &p, sizeof p);
}

static void make(enum core_machine machine)
{
	static const struct { enum gocore_member member; unsigned offset, size; } layout[] = {
		{ AT_FUNCTION_ENTRY, 0, 4 }, { AT_FUNCTION_NAME, 4, 4 }, { AT_FUNCTION_ARGUMENTS, 8, 4 },
		{ AT_FUNCTION_DEFER_RETURN, 12, 4 }, { AT_FUNCTION_SP_TABLE, 16, 4 }, { AT_FUNCTION_FILE_TABLE, 20, 4 },
		{ AT_FUNCTION_LINE_TABLE, 24, 4 }, { AT_FUNCTION_N_TABLES, 28, 4 }, { AT_FUNCTION_UNIT, 32, 4 },
		{ AT_FUNCTION_ID, 40, 1 }, { AT_FUNCTION_FLAGS, 41, 1 }, { AT_FUNCTION_N_DATA, 43, 1 },
	};

	memset(&w, 0, sizeof w);
	w.n_tables = w.n_names = 1;
	w.g.machine = machine;
	w.g.word = 8;
	w.g.out.err = w.s.err = &w.err;
	for (size_t i = 0; i < sizeof layout / sizeof *layout; i++)
		lay(layout[i].member, layout[i].offset, layout[i].size);
	make_head(machine);
	w.g.n_modules = 1;
	w.g.module[0] = (struct gocore_module){
		.first_pc = TEXT, .last_pc = TEXT + N_FUNCTIONS * FUNCTION_BYTES, .text = TEXT,
		.functions_base = FUNCTION_DATA, .read_only = READ_ONLY, .table = w.ftab, .n_table = N_FUNCTIONS + 1,
		.names = { (const uint8_t *)w.names, sizeof w.names }, .files = { (const uint8_t *)w.files, sizeof w.files },
		.units = { w.units, sizeof w.units }, .tables = { w.tables, sizeof w.tables },
		.functions = { w.infos, sizeof w.infos },
	};
	put(w.ftab + 8 * N_FUNCTIONS, 4, N_FUNCTIONS * FUNCTION_BYTES);
	w.u.image = w.s.image = &w.g;
	w.u.site = big_alloc(SITES, sizeof *w.u.site, &w.err);
	assert_non_null(w.u.site);
}

/* Open the core; nothing is made any more. */
static void settle(void)
{
	w.source = (struct source){ .path = "made", .bytes = w.file, .size = sizeof w.file, .file_size = sizeof w.file };
	if (core_open(&w.core, &w.source, &w.err))
		fail_msg("%s", w.err.message);
	w.g.core = w.core;
	w.g.source = &w.source;
}

static void drop(void)
{
	core_close(w.core);
	big_free(w.u.site);
	big_free(w.g.out.bytes);
	gocore_stack_release(&w.s);
}

static uint64_t pc_of(unsigned i, unsigned offset)
{
	return TEXT + i * FUNCTION_BYTES + offset;
}

/* --- looking ------------------------------------------------------------------------------------------------- */

/* The records of the frames from a pc on; n pointers from elsewhere; the first of them was interrupted. */
static void walk(uint64_t pc, uint64_t lr, const uint64_t *pointers, size_t n, bool interrupted)
{
	gocore_stack_clear(&w.s);
	w.g.out.n = 0;
	for (bool more = gocore_unwind(&w.u, pc, STACK, lr, STACK_END); more; more = gocore_unwind_next(&w.u))
		assert_int_equal(gocore_stack_add(&w.s, &w.u.frame, interrupted && !w.s.n_frames), 0);
	assert_int_equal(gocore_stack_tell(&w.s, pointers, n, &w.g.out), 0);
}

static struct go_record frame(unsigned i)
{
	struct go_record r = { .next = 0 };

	for (unsigned k = 0; k <= i; k++) {
		assert_true(r.next < w.g.out.n);
		assert_int_equal(go_record_decode(w.g.out.bytes, w.g.out.n, r.next, 7, &r, &w.err), 0);
		assert_int_equal(r.tag, GO_FRAME);
	}
	return r;
}

/* A bit for each word of a frame that is listed. */
static uint64_t fields(unsigned i)
{
	struct go_record r = frame(i);
	const uint8_t *p = r.fields.p;
	uint64_t kind, offset, bits = 0;

	while (go_field_next(&p, r.fields.p + r.fields.n, &kind, &offset)) {
		assert_int_equal(kind, GO_POINTER);
		assert_int_equal(offset % 8, 0);
		assert_true(offset < r.s[0].n);
		assert_false(bits >> offset / 8 & 1);
		bits |= UINT64_C(1) << offset / 8;
	}
	return bits;
}

static void is_frame(unsigned i, uint64_t sp, uint64_t size, uint64_t pc, uint64_t continue_pc, const char *name)
{
	struct go_record r = frame(i);

	assert_int_equal(r.u[FRAME_SP], sp);
	assert_int_equal(r.u[FRAME_DEPTH], i);
	assert_int_equal(r.u[FRAME_PC], pc);
	assert_int_equal(r.u[FRAME_ENTRY], (pc - TEXT) / FUNCTION_BYTES * FUNCTION_BYTES + TEXT);
	assert_int_equal(r.u[FRAME_CONTINUE_PC], continue_pc);
	assert_int_equal(r.s[0].n, size);
	assert_memory_equal(r.s[0].p, w.file + HEAD + (sp - MEMORY), size);
	assert_int_equal(r.s[1].n, strlen(name));
	assert_memory_equal(r.s[1].p, name, r.s[1].n);
}

static void is_last(unsigned i)
{
	assert_int_equal(frame(i).next, w.g.out.n);
}

/* --- functions and tables ---------------------------------------------------------------------------------------- */

static void plain_functions(void)
{
	function(INNER, "main.inner", table(32, FUNCTION_BYTES, 32), 0, 16, table(0, 0x80, 1), map(2, 2, 0),
	    map(3, 5, 2), none);
	function(OUTER, "main.outer", table(48, FUNCTION_BYTES, 48), 0, 0, table(0, 0x80, 1), none, map(3, 1, 4), none);
	function(GOEXIT, "runtime.goexit", table(0, FUNCTION_BYTES, 0), FLAG_TOP_FRAME, 0, 0, none, none, none);
	function(FAULT, "runtime.sigpanic", table(16, FUNCTION_BYTES, 16), 0, 0, 0, none, none, none);
}

static void functions(void **state)
{
	struct gocore_function f;

	(void)state;
	make(CORE_AMD64);
	plain_functions();
	settle();
	assert_false(gocore_function_at(&w.g, TEXT - 1, &f));
	assert_false(gocore_function_at(&w.g, pc_of(N_FUNCTIONS, 0), &f));
	for (unsigned i = 0; i < N_FUNCTIONS; i++)
		for (unsigned k = 0; k < 2; k++) {
			assert_true(gocore_function_at(&w.g, pc_of(i, k * (FUNCTION_BYTES - 1)), &f));
			assert_int_equal(f.entry, pc_of(i, 0));
		}
	assert_string_equal(f.name, "runtime.sigpanic");
	put(w.ftab + 4, 4, sizeof w.infos - 8); /* a _func that ends behind the table */
	assert_false(gocore_function_at(&w.g, pc_of(INNER, 0), &f));
	drop();
}

static void tables(void **state)
{
	struct gocore_function f;

	(void)state;
	make(CORE_AMD64);
	plain_functions();
	uint32_t up = table(7, 3, 700), down = table(700, FUNCTION_BYTES - 1, -1);
	settle();
	assert_true(gocore_function_at(&w.g, pc_of(OUTER, 0), &f));
	assert_int_equal(gocore_pc_value(&w.g, &f, up, pc_of(OUTER, 0)), 7);
	assert_int_equal(gocore_pc_value(&w.g, &f, up, pc_of(OUTER, 2)), 7);
	assert_int_equal(gocore_pc_value(&w.g, &f, up, pc_of(OUTER, 3)), 700);
	assert_int_equal(gocore_pc_value(&w.g, &f, up, pc_of(OUTER, FUNCTION_BYTES)), -1);
	assert_int_equal(gocore_pc_value(&w.g, &f, down, pc_of(OUTER, 0)), 700);
	assert_int_equal(gocore_pc_value(&w.g, &f, down, pc_of(OUTER, FUNCTION_BYTES - 1)), -1);
	assert_int_equal(gocore_pc_value(&w.g, &f, 0, pc_of(OUTER, 0)), -1);
	assert_int_equal(gocore_pc_value(&w.g, &f, sizeof w.tables, pc_of(OUTER, 0)), -1);
	memset(w.tables, 0xff, sizeof w.tables); /* numbers without an end */
	assert_int_equal(gocore_pc_value(&w.g, &f, up, pc_of(OUTER, 0)), -1);
	memset(w.tables, 2, sizeof w.tables); /* a table without an end */
	assert_int_equal(gocore_pc_value(&w.g, &f, sizeof w.tables - 3, pc_of(OUTER, 0x50)), -1);
	drop();
}

static void lines(void **state)
{
	struct gocore_function f;
	struct gocore_bytes file;
	uint64_t line;

	(void)state;
	make(CORE_AMD64);
	plain_functions();
	put(w.infos + 8 + 20, 4, table(1, FUNCTION_BYTES, 1)); /* of main.inner: file 1 of its unit, which begins at 1 */
	put(w.infos + 8 + 24, 4, table(40, 0x10, 41));
	put(w.infos + 8 + 32, 4, 1);
	put(w.units + 8, 4, 10);
	memcpy(w.files + 10, "/src/main.go", strlen("/src/main.go"));
	settle();
	assert_true(gocore_function_at(&w.g, pc_of(INNER, 0), &f));
	assert_true(gocore_line(&w.g, &f, pc_of(INNER, 0x10), &file, &line));
	assert_int_equal(line, 41);
	assert_int_equal(file.n, strlen("/src/main.go"));
	assert_memory_equal(file.p, "/src/main.go", file.n);
	put(w.units + 8, 4, none);
	assert_false(gocore_line(&w.g, &f, pc_of(INNER, 0x10), &file, &line));
	put(w.infos + 8 + 32, 4, none); /* a unit behind the table */
	assert_false(gocore_line(&w.g, &f, pc_of(INNER, 0x10), &file, &line));
	drop();
}

/* --- frames ---------------------------------------------------------------------------------------------------- */

/* amd64: the return address is above the frame, below it the caller's frame pointer. */
static void amd64_stack(void)
{
	make(CORE_AMD64);
	plain_functions();
	word(STACK + 32, pc_of(OUTER, 0x90)); /* main.inner: 40 bytes; locals end 16 below */
	word(STACK + 40 + 48, pc_of(GOEXIT, 1)); /* main.outer: 56 bytes */
	word(STACK + 96, 0xdead);
}

static void frames(void **state)
{
	(void)state;
	amd64_stack();
	settle();
	walk(pc_of(INNER, 0x20), 0, NULL, 0, false);
	is_frame(0, STACK, 40, pc_of(INNER, 0x20), pc_of(INNER, 0x20), "main.inner");
	is_frame(1, STACK + 40, 56, pc_of(OUTER, 0x90), pc_of(OUTER, 0x90), "main.outer");
	is_frame(2, STACK + 96, 8, pc_of(GOEXIT, 1), pc_of(GOEXIT, 1), "runtime.goexit");
	is_last(2);
	assert_int_equal(frame(0).u[FRAME_CHILD_SP], 0);
	assert_int_equal(frame(1).u[FRAME_CHILD_SP], STACK);
	assert_int_equal(fields(0), 1 << 0 | 1 << 2);  /* map 0 of 3 words below STACK + 24: bits 0 and 2 */
	/* its argument 1 is at STACK + 48; map 1 (pc behind 0x80) of 3 words below STACK + 80 has bit 2, at STACK + 72 */
	assert_int_equal(fields(1), 1 << 1 | 1 << 4);
	assert_int_equal(fields(2), 0);
	walk(pc_of(INNER, 0), 0, NULL, 0, false); /* has not begun: map 0 */
	assert_int_equal(fields(0), 1 << 0 | 1 << 2);
	drop();
}

/* arm64: the return address is at the low end; the frame pointer of the caller below its frame. */
static void frames_arm64(void **state)
{
	(void)state;
	make(CORE_ARM64);
	plain_functions();
	word(STACK, pc_of(OUTER, 0x90));
	word(STACK + 32, pc_of(GOEXIT, 4));
	settle();
	walk(pc_of(INNER, 0x20), 0, NULL, 0, false);
	is_frame(0, STACK, 32, pc_of(INNER, 0x20), pc_of(INNER, 0x20), "main.inner");
	is_frame(1, STACK + 32, 48, pc_of(OUTER, 0x90), pc_of(OUTER, 0x90), "main.outer");
	is_frame(2, STACK + 80, 0, pc_of(GOEXIT, 4), pc_of(GOEXIT, 4), "runtime.goexit");
	is_last(2);
	assert_int_equal(fields(0), 1 << 0 | 1 << 2);  /* 3 words below STACK + 24 */
	assert_int_equal(fields(1), 1 << 2 | 1 << 4);  /* argument 1 at STACK + 48; bit 2 of 3 words below STACK + 72 */
	drop();
	/* a function without a frame, interrupted: lr has the return address */
	make(CORE_ARM64);
	plain_functions();
	put(w.infos + 8 + 16, 4, table(0, FUNCTION_BYTES, 0));
	word(STACK, pc_of(GOEXIT, 4));
	settle();
	walk(pc_of(INNER, 0x20), pc_of(OUTER, 0x90), NULL, 0, true);
	is_frame(0, STACK, 0, pc_of(INNER, 0x20), pc_of(INNER, 0x20), "main.inner");
	is_frame(1, STACK, 48, pc_of(OUTER, 0x90), pc_of(OUTER, 0x90), "main.outer");
	is_last(2);
	drop();
}

static void interrupted(void **state)
{
	(void)state;
	amd64_stack();
	settle();
	walk(pc_of(INNER, 0x20), 0, NULL, 0, true);
	assert_int_equal(fields(0), 7);                /* all words of locals */
	assert_int_equal(fields(1), 1 << 0 | 1 << 1 | 1 << 4); /* all words of arguments */
	drop();
}

/* main.outer was stopped by a fault: runtime.sigpanic was put above it. */
static void fault(unsigned defer_return)
{
	make(CORE_AMD64);
	plain_functions();
	put(w.infos + INFO_BYTES * OUTER + 8 + 12, 4, defer_return);
	word(STACK + 16, pc_of(OUTER, 0x90));
	word(STACK + 24 + 48, pc_of(GOEXIT, 1));
	settle();
	walk(pc_of(FAULT, 8), 0, NULL, 0, false);
}

static void faults(void **state)
{
	(void)state;
	fault(0x20);
	is_frame(1, STACK + 24, 56, pc_of(OUTER, 0x90), pc_of(OUTER, 0x21), "main.outer");
	assert_int_equal(fields(1), 1 << 2); /* map 0, that of deferreturn: bit 0 of 3 words below STACK + 64 */
	w.g.as_heap_dump = true;
	walk(pc_of(FAULT, 8), 0, NULL, 0, false);
	assert_int_equal(fields(1), 1 << 4); /* map 1 */
	drop();
	fault(0);
	is_frame(1, STACK + 24, 56, pc_of(OUTER, 0x90), 0, "main.outer");
	assert_int_equal(fields(1), 0);
	drop();
}

/* A signal stopped main.outer anywhere, and let it call runtime.asyncPreempt, which has its registers. */
static void preempted(void **state)
{
	(void)state;
	make(CORE_AMD64);
	plain_functions();
	function(FAULT, "runtime.asyncPreempt", table(16, FUNCTION_BYTES, 16), 0, 0, 0, none, none, none);
	word(STACK + 16, pc_of(OUTER, 0x90));
	word(STACK + 24 + 48, pc_of(GOEXIT, 1));
	settle();
	walk(pc_of(FAULT, 8), 0, NULL, 0, false);
	assert_int_equal(fields(0), 1 << 0);   /* below STACK + 8 */
	assert_int_equal(fields(1), 0x1f);     /* below STACK + 64 */
	assert_int_equal(fields(2), 0);
	w.g.as_heap_dump = true;
	walk(pc_of(FAULT, 8), 0, NULL, 0, false);
	assert_int_equal(fields(0), 1 << 0);
	assert_int_equal(fields(1), 1 << 4);
	drop();
}

static void ends(void **state)
{
	struct gocore_unwinder *u = &w.u;

	(void)state;
	amd64_stack();
	word(STACK + 32, TEXT - 1); /* called by C */
	settle();
	walk(pc_of(INNER, 0x20), 0, NULL, 0, false);
	is_last(0);
	assert_true(u->in_c);
	walk(TEXT - 1, 0, NULL, 0, false);
	assert_int_equal(w.g.out.n, 0);
	assert_true(u->in_c);
	assert_false(gocore_unwind(u, pc_of(INNER, 0), STACK + 1, 0, STACK_END));
	assert_false(gocore_unwind(u, pc_of(INNER, 0), STACK_END + 8, 0, STACK_END));
	assert_true(gocore_unwind(u, pc_of(INNER, 0), STACK_END - 8, 0, STACK_END)); /* has no room */
	assert_int_equal(u->frame.fp, u->frame.sp);
	assert_false(gocore_unwind_next(u));
	word(STACK, pc_of(INNER, 0x20)); /* a nil function was called */
	assert_true(gocore_unwind(u, 0, STACK, 0, STACK_END));
	assert_int_equal(u->frame.pc, pc_of(INNER, 0x20));
	assert_int_equal(u->frame.sp, STACK + 8);
	drop();
	/* arm64: a function without a frame that returns to itself */
	make(CORE_ARM64);
	plain_functions();
	put(w.infos + 8 + 16, 4, table(0, FUNCTION_BYTES, 0));
	word(STACK, pc_of(INNER, 0x20));
	settle();
	walk(pc_of(INNER, 0x20), 0, NULL, 0, false);
	is_last(0);
	drop();
}

/* --- objects of the stack --------------------------------------------------------------------------------------- */

static void object(uint32_t list, unsigned i, int32_t offset, uint32_t size, int32_t pointers, uint32_t mask)
{
	uint64_t at = FUNCTION_DATA + list + 8 + 16 * i;

	poke(at, 4, (uint32_t)offset);
	poke(at + 4, 4, size);
	poke(at + 8, 4, (uint32_t)pointers);
	poke(at + 12, 4, mask);
}

/* main.outer has a frame of 120 bytes, locals below STACK + 144, and three objects: a (24 bytes, its word 1 may be a
 * pointer), b (16 bytes, word 0), c (8 bytes).  main.inner's live word 0 points into a. */
enum { A = STACK + 144 - 80, B = STACK + 144 - 48, C = STACK + 144 - 16 };

static void stack_with_objects(int32_t pointers_of_a)
{
	enum { LIST = 0x200 };

	amd64_stack();
	put(w.infos + INFO_BYTES * OUTER + 8 + 16, 4, table(112, FUNCTION_BYTES, 112));
	put(w.infos + INFO_BYTES * OUTER + 8 + 44 + 4 * 4, 4, LIST);
	word(STACK + 40 + 112, pc_of(GOEXIT, 1));
	word(FUNCTION_DATA + LIST, 3);
	object(LIST, 0, -80, 24, pointers_of_a, 0);
	object(LIST, 1, -48, 16, 8, 1);
	object(LIST, 2, -16, 8, 8, 1);
	poke(READ_ONLY, 1, 2);
	poke(READ_ONLY + 1, 1, 1);
	word(STACK, A + 16);
}

static uint64_t bit(uint64_t address)
{
	return UINT64_C(1) << (address - (STACK + 40)) / 8;
}

static void objects(void **state)
{
	(void)state;
	stack_with_objects(16);
	word(A, C);          /* is no pointer by the mask */
	word(A + 8, B + 8);
	word(B, A);          /* a circle */
	settle();
	walk(pc_of(INNER, 0x20), 0, NULL, 0, false);
	uint64_t plain = bit(STACK + 48) | bit(STACK + 136); /* argument 1; map 1: bit 2 of 3 words */
	assert_int_equal(fields(1), plain | bit(A + 8) | bit(B));
	w.g.as_heap_dump = true;
	walk(pc_of(INNER, 0x20), 0, NULL, 0, false);
	assert_int_equal(fields(1), plain);
	w.g.as_heap_dump = false;
	uint64_t deferred[] = { STACK_END, C + 7, 0 };
	walk(pc_of(INNER, 0x20), 0, deferred, 3, false);
	assert_int_equal(fields(1), plain | bit(A + 8) | bit(B) | bit(C));
	word(STACK, A + 24); /* behind the object */
	walk(pc_of(INNER, 0x20), 0, NULL, 0, false);
	assert_int_equal(fields(1), plain);
	drop();
}

static void objects_by_program(void **state)
{
	(void)state;
	stack_with_objects(-16); /* up to 1.23: its mask is a program; any of its first two words may be a pointer */
	word(A, C);
	word(A + 8, 5);
	settle();
	walk(pc_of(INNER, 0x20), 0, NULL, 0, false);
	assert_int_equal(fields(1), bit(STACK + 48) | bit(STACK + 136) | bit(A) | bit(A + 8) | bit(C));
	drop();
}

static void hostile(void **state)
{
	(void)state;
	/* maps that are larger than the frame, or than the memory; an object that is larger, or that goes backwards */
	static const uint32_t bits[] = { 8, 0xffff, 0x7fffffff, 0xffffffff };
	for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
		stack_with_objects(0x7ffffff8);
		poke(FUNCTION_DATA + 16 + 4, 4, bits[i]);
		poke(FUNCTION_DATA + 0x200 + 8 + 4, 4, 0xffffffff);
		poke(FUNCTION_DATA + 0x200 + 8 + 16, 4, (uint32_t)-96);
		word(FUNCTION_DATA + 0x200, i < 3 ? 3 : UINT64_MAX);
		settle();
		walk(pc_of(INNER, 0x20), 0, NULL, 0, false);
		(void)fields(0);
		(void)fields(1);
		drop();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions), cmocka_unit_test(tables), cmocka_unit_test(lines),
		cmocka_unit_test(frames), cmocka_unit_test(frames_arm64), cmocka_unit_test(interrupted),
		cmocka_unit_test(faults), cmocka_unit_test(preempted), cmocka_unit_test(ends), cmocka_unit_test(objects),
		cmocka_unit_test(objects_by_program), cmocka_unit_test(hostile),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
