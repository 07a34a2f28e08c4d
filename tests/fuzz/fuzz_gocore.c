/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_gocore.c - fuzz target: the sample core of data/, with words of it changed.
 *
 * An input is a list of changes (changes.h) to words of the ELF structures, spans, specials, the heap, global
 * variables, objects, goroutines and stacks.
 *
 * FUZZ_CORE and FUZZ_PROGRAM name another core, up to 256 MB, and its program: releases of Go differ in how they note
 * pointers, and the sample is of Go 1.19.
 */
#include "dump/go/go_dump.h"
#include "dump/go/go_core.h"
#include "dump/gocore/gocore_read.h"
#include "dump/source/source.h"
#include "changes.h"
#include "fuzz_reader.h"
#include "promise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the sample ------------------------------------------------------------------------------------------ */

enum { MOST_BYTES = 256 << 20, ELF_BYTES = 8192 };

enum owner { OF_ELF, OF_SPANS, OF_SPECIALS, OF_HEAP, OF_GLOBALS, OF_OBJECTS, OF_GOROUTINES, OF_STACKS, OWNERS };

static struct sample sample = {.n_owners = OWNERS};
static const char *exe;
static size_t n_listed; /* words of OF_SPANS: of the list of spans; the spans are behind them */

/* Those of n bytes that are the core's own, not the program's file. */
static void add_range(const struct core *core, enum owner owner, uint64_t address, uint64_t n)
{
	for (uint64_t i = 0; address && i + 8 <= n; i += 8) {
		uintptr_t p = (uintptr_t)core_range(core, address + i, 8), begin = (uintptr_t)sample.bytes;
		if (p >= begin && p - begin + 8 <= sample.size)
			sample_add(&sample, owner, (struct word){.at = address + i, .address = address + i, .offset = p - begin,
			    .bytes = 8});
	}
}

static void add_spans(const struct gocore *g)
{
	uint64_t heap = gocore_global(g, "runtime.mheap_");
	struct gocore_slice all = gocore_slice(g, heap, AT_HEAP_SPANS, 1 << 24);

	add_range(g->core, OF_HEAP, heap, 1024);
	add_range(g->core, OF_SPANS, all.address, 8 * all.n);
	n_listed = sample.of[OF_SPANS].n;
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
	PROMISE(core_add_file(*core, exe, 0, &err) == 0);
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
	memcpy(bytes, sample.bytes, sample.size);
	for (size_t i = n_listed; i < sample.of[OF_SPANS].n; i++) /* behind the list itself */
		memset(bytes + sample.of[OF_SPANS].word[i].offset, 0, 8);
	struct gocore *g = open_core(&source, program, &core);
	PROMISE(gocore_state(g)->n_lost > 0);
	gocore_close(g);
	core_close(core);
	free(bytes);
}

static void find_words(void)
{
	struct source source = {.path = "core", .bytes = sample.bytes, .size = sample.size, .file_size = sample.size};
	struct err err = ERR_INIT;
	struct program *program = NULL;
	struct core *core = NULL;

	for (uint64_t i = 0; i + 8 <= ELF_BYTES; i += 4)
		sample_add(&sample, OF_ELF, (struct word){.at = i, .address = i, .offset = i, .bytes = 8});
	PROMISE(program_open(&program, exe, &err) == 0);
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

	exe = path_of("FUZZ_PROGRAM", "gocart.elf", program);
	sample_read(&sample, path, MOST_BYTES);
	find_words();
}

/* --- one input ------------------------------------------------------------------------------------------- */

static const char *const told[] = {"info", "histo", "threads", "bt", "roots", "finalizers", "globals", "check", NULL};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static unsigned turn;

	if (!sample.bytes)
		open_sample();
	size_t size;
	uint8_t *core = sample_changed(&sample, data, n, &size);
	struct dump_options options = {.no_companion = true, .exe = exe};
	fuzz_reader_with(&go_core_reader, &options, turn++ % 16 ? told : NULL, &go_part_bytes, core, size);
	free(core);
	return 0;
}
