/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_gocore.c - fuzz target: the sample core of data/, with words of it changed.
 *
 * A core of a Go program is mostly memory that says nothing.  An input is therefore no core, but a list of changes to
 * the sample: each names a word by what it belongs to (the ELF structures, spans, specials, the heap, global variables,
 * objects, goroutines, stacks) and says what becomes of it.  Any bytes are such a list.
 *
 * FUZZ_CORE and FUZZ_PROGRAM name another core, up to 256 MB, and its program: releases of Go differ in how they note
 * pointers, and the sample is of Go 1.19.
 */
#include "dump/go/go_dump.h"
#include "dump/go/go_core.h"
#include "dump/gocore/gocore_read.h"
#include "dump/source/source.h"
#include "fuzz_reader.h"
#include "promise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* --- the sample ------------------------------------------------------------------------------------------ */

enum { MOST_BYTES = 256 << 20, ELF_BYTES = 8192 };

enum owner { OF_ELF, OF_SPANS, OF_SPECIALS, OF_HEAP, OF_GLOBALS, OF_OBJECTS, OF_GOROUTINES, OF_STACKS, OWNERS };

struct words {
	struct word { uint64_t address, offset; } *at; /* offset: in the file; address of OF_ELF: as offset */
	size_t n, cap;
};

static struct sample {
	uint8_t *core;
	size_t size;
	const char *program;
	struct words of[OWNERS];
	size_t n_listed; /* words of OF_SPANS: of the list of spans; the spans are behind them */
} sample;

static void add(enum owner owner, uint64_t address, uint64_t offset)
{
	struct words *w = &sample.of[owner];

	if (w->n == w->cap) {
		w->cap = w->cap ? 2 * w->cap : 1024;
		w->at = realloc(w->at, w->cap * sizeof *w->at);
		PROMISE(w->at);
	}
	w->at[w->n++] = (struct word){address, offset};
}

/* Those of n bytes that are the core's own, not the program's file. */
static void add_range(const struct core *core, enum owner owner, uint64_t address, uint64_t n)
{
	for (uint64_t i = 0; address && i + 8 <= n; i += 8) {
		uintptr_t p = (uintptr_t)core_range(core, address + i, 8), begin = (uintptr_t)sample.core;
		if (p >= begin && p - begin + 8 <= sample.size)
			add(owner, address + i, p - begin);
	}
}

static void add_spans(const struct gocore *g)
{
	uint64_t heap = gocore_global(g, "runtime.mheap_");
	struct gocore_slice all = gocore_slice(g, heap, AT_HEAP_SPANS, 1 << 24);

	add_range(g->core, OF_HEAP, heap, 1024);
	add_range(g->core, OF_SPANS, all.address, 8 * all.n);
	sample.n_listed = sample.of[OF_SPANS].n;
	for (uint64_t i = 0; i < all.n; i++) {
		uint64_t span = gocore_word(g, all.address + 8 * i);
		for (unsigned m = AT_SPAN_START; m <= AT_SPAN_TYPE; m++)
			add_range(g->core, OF_SPANS, span + (g->at[m].offset & ~7u), g->at[m].size ? 8 : 0);
		uint64_t special = gocore_get(g, span, AT_SPAN_SPECIALS);
		for (unsigned k = 0; special && k < 40; k++, special = gocore_get(g, special, AT_SPECIAL_NEXT))
			add_range(g->core, OF_SPECIALS, special, 64);
	}
}

static void add_globals(const struct gocore *g)
{
	static const char *const names[] = {"runtime.allgs", "runtime.allm", "runtime.itabTable", "runtime.allfin",
	    "runtime.mbuckets", "runtime.gcCleanups", "runtime.buildVersion", "runtime.memstats", "runtime.gcphase"};

	add_range(g->core, OF_GLOBALS, gocore_global(g, "runtime.firstmoduledata"),
	    gocore_size_of(g, "runtime.moduledata"));
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		uint64_t at = gocore_global(g, names[i]);
		add_range(g->core, OF_GLOBALS, at, 24);
		add_range(g->core, OF_GLOBALS, gocore_word(g, at), 400);
	}
}

/* The first word of an object may lead to its type. */
static void add_objects(const struct gocore *g)
{
	uint32_t n;
	const struct gocore_span *s = gocore_spans(g, &n);

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = s[i].first; k < s[i].end && s[i].by == GOCORE_BY_HEADER; k++)
			add_range(g->core, OF_OBJECTS, s[i].start + k * s[i].size, 8);
}

static void add_goroutines(const struct gocore *g)
{
	struct gocore_slice all = gocore_slice_at(g, gocore_global(g, "runtime.allgs"), 1 << 20);

	for (uint64_t i = 0; i < all.n; i++) {
		uint64_t its = gocore_word(g, all.address + 8 * i);
		add_range(g->core, OF_GOROUTINES, its, gocore_size_of(g, "runtime.g"));
		add_range(g->core, OF_STACKS, gocore_get(g, its, AT_G_SP), 1024);
		add_range(g->core, OF_SPECIALS, gocore_get(g, its, AT_G_DEFER), 64);
	}
}

static struct gocore *open_core(const struct source *source, struct program *program, struct core **core)
{
	struct gocore *g = NULL;
	struct err err = ERR_INIT;

	PROMISE(core_open(core, source, &err) == 0);
	PROMISE(core_add_file(*core, sample.program, 0, &err) == 0);
	PROMISE(gocore_open(&g, *core, source, program, &err) == 0);
	return g;
}

/* Zeros in place of the spans that the heap lists: the core says that they were lost. */
static void check_lost(struct program *program)
{
	uint8_t *bytes = malloc(sample.size);
	struct source source = {.path = "core", .bytes = bytes, .size = sample.size, .file_size = sample.size};
	struct core *core;

	PROMISE(bytes);
	memcpy(bytes, sample.core, sample.size);
	for (size_t i = sample.n_listed; i < sample.of[OF_SPANS].n; i++) /* behind the list itself */
		memset(bytes + sample.of[OF_SPANS].at[i].offset, 0, 8);
	struct gocore *g = open_core(&source, program, &core);
	PROMISE(gocore_state(g)->n_lost > 0);
	gocore_close(g);
	core_close(core);
	free(bytes);
}

static void find_words(void)
{
	struct source source = {.path = "core", .bytes = sample.core, .size = sample.size, .file_size = sample.size};
	struct err err = ERR_INIT;
	struct program *program = NULL;
	struct core *core = NULL;

	for (uint64_t i = 0; i + 8 <= ELF_BYTES; i += 4)
		add(OF_ELF, i, i);
	PROMISE(program_open(&program, sample.program, &err) == 0);
	struct gocore *g = open_core(&source, program, &core);
	PROMISE(gocore_state(g)->n_lost == 0);
	add_spans(g);
	add_globals(g);
	add_objects(g);
	add_goroutines(g);
	gocore_close(g);
	core_close(core);
	check_lost(program);
	program_close(program);
}

/* The file of data/, where the environment names no other. */
static const char *path_of(const char *asked, const char *name, char room[4096])
{
	const char *source = getenv("CAIRN_SOURCE");

	snprintf(room, 4096, "%s/data/%s", source ? source : ".", name);
	return getenv(asked) ? getenv(asked) : room;
}

static void open_sample(void)
{
	static char core[4096], program[4096];
	const char *path = path_of("FUZZ_CORE", "gocart.core.gz", core);

	sample.program = path_of("FUZZ_PROGRAM", "gocart.elf", program);
	gzFile f = gzopen(path, "rb");
	sample.core = malloc(MOST_BYTES);
	int n = f && sample.core ? gzread(f, sample.core, MOST_BYTES) : -1;
	if (n <= 0 || n == MOST_BYTES) {
		fprintf(stderr, "%s cannot be read\n", path);
		exit(99);
	}
	gzclose(f);
	sample.size = (size_t)n;
	find_words();
}

/* --- changes --------------------------------------------------------------------------------------------- */

enum { CHANGE = 16, MOST_CHANGES = 64 };
enum how { TO_NUMBER, BY_NUMBER, TURN_BIT, TO_ADDRESS, TO_OTHER_WORD, LOW_BYTE, LOW_HALF, ZERO_PAGE, CUT_FILE, HOWS };

/* Not every release has headers before objects. */
static const struct word *word_of(uint8_t owner, uint64_t number)
{
	const struct words *w = &sample.of[owner % OWNERS];

	if (!w->n)
		w = &sample.of[OF_ELF];
	return &w->at[number % w->n];
}

/* owner, how (a byte each), 2 bytes of another owner, which word (4 bytes), a number (8 bytes).  The size of the file
 * is returned. */
static size_t change(uint8_t *core, size_t size, const uint8_t *c)
{
	uint32_t which;
	uint64_t number, old;

	memcpy(&which, c + 4, 4);
	memcpy(&number, c + 8, 8);
	const struct word *w = word_of(c[0], which), *other = word_of(c[2], number);
	uint8_t *p = core + w->offset;
	memcpy(&old, p, 8);
	switch ((enum how)(c[1] % HOWS)) {
	case TO_NUMBER:
		break;
	case BY_NUMBER:
		number += old;
		break;
	case TURN_BIT:
		number = old ^ UINT64_C(1) << number % 64;
		break;
	case TO_ADDRESS:
		number = other->address;
		break;
	case TO_OTHER_WORD:
		memcpy(&number, core + other->offset, 8);
		break;
	case LOW_BYTE:
		number = (old & ~UINT64_C(0xff)) | (number & 0xff);
		break;
	case LOW_HALF:
		number = (old & ~UINT64_C(0xffffffff)) | (number & 0xffffffff);
		break;
	case ZERO_PAGE:
		memset(core + (w->offset & ~UINT64_C(4095)), 0, 4096);
		return size;
	default:
		return number % size + 1;
	}
	memcpy(p, &number, 8);
	return size;
}

static const char *const told[] = {"info", "histo", "threads", "bt", "roots", "finalizers", "globals", "check", NULL};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static unsigned turn;

	if (!sample.core)
		open_sample();
	uint8_t *core = malloc(sample.size + 4096);
	PROMISE(core);
	memcpy(core, sample.core, sample.size);
	size_t size = sample.size;
	for (size_t i = 0; i + CHANGE <= n && i < (size_t)CHANGE * MOST_CHANGES; i += CHANGE)
		size = change(core, size, data + i);
	struct dump_options options = {.no_companion = true, .exe = sample.program};
	fuzz_reader_with(&go_core_reader, &options, turn++ % 16 ? told : NULL, &go_part_bytes, core, size);
	free(core);
	return 0;
}
