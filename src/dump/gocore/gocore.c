/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gocore.c - see gocore.h: in which order a core is read, and what state the runtime was in. */
#include "dump/gocore/gocore_read.h"

#include "base/mem.h"
#include "base/progress.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <stdlib.h>

enum { OLDEST = 19, VERSION_MOST = 1000, PAUSES = 256 };

/* "go1.24.4 X:...": which release is it? */
static int read_release(struct gocore *g, struct err *err)
{
	struct gocore_slice s = gocore_slice_at(g, gocore_global(g, "runtime.buildVersion"), VERSION_MOST);
	const char *text = (const char *)core_range(g->core, s.address, s.n);
	uint64_t at = 4;

	if (!text)
		return err_set(err, ERR_UNSUPPORTED, "the core does not have the version of the Go runtime: the program "
		    "was not written in Go, or is another one than the core's (name it with --exe)");
	g->state.release = text;
	g->state.n_release = s.n;
	if (s.n > 4 && !memcmp(text, "go1.", 4))
		for (; at < s.n && text[at] >= '0' && text[at] <= '9' && g->release < 1000; at++)
			g->release = 10 * g->release + (unsigned)(text[at] - '0');
	else
		g->release = UINT16_MAX; /* "devel ...": newer than any */
	if (g->release < OLDEST)
		return err_set(err, ERR_UNSUPPORTED, "the program was built with %.*s, but cairn reads cores of Go 1.19 "
		    "and later", (int)s.n, text);
	return 0;
}

/* runtime/mgc.go: gcphase, mgcsweep.go: isSweepDone. */
static void read_state(struct gocore *g)
{
	enum { OFF, MARK, TERMINATION };
	uint64_t phase = 0, stats = gocore_global(g, "runtime.memstats"), n;

	core_load(g->core, gocore_global(g, "runtime.gcphase"), 4, &phase);
	g->state.collector = phase == MARK ? "marking" : phase == TERMINATION ? "ending to mark" :
	    g->state.n_unswept ? "sweeping" : "idle";
	n = g->state.n_collections = stats ? gocore_get(g, stats, AT_STATS_COLLECTIONS) : 0;
	for (uint64_t i = 0; i < PAUSES && i < n && g->at[AT_STATS_PAUSES].size == PAUSES * 8; i++) {
		uint64_t pause = gocore_word(g, stats + g->at[AT_STATS_PAUSES].offset + i * 8);
		g->state.pause_longest = pause > g->state.pause_longest ? pause : g->state.pause_longest;
		g->state.pause_last = i == (n - 1) % PAUSES ? pause : g->state.pause_last;
	}
}

static int read_all(struct gocore *g, struct err *err)
{
	int code = read_release(g, err);

	if (code == 0)
		code = gocore_find_members(g, err);
	if (code == 0)
		code = gocore_read_modules(g, err);
	if (code == 0)
		code = gocore_read_spans(g, err);
	if (code)
		return code;
	read_state(g);
	gocore_tell_head(g);
	code = gocore_tell_goroutines(g, err);
	if (code == 0)
		gocore_tell_roots(g);
	gocore_put(&g->out, TAG_END);
	if (code == 0 && progress_cancelled(progress_own()))
		return err_cancelled(err);
	return g->out.refused ? ERR_NOMEM : code;
}

int gocore_open(struct gocore **out, const struct core *core, const struct source *source, struct program *program,
    struct err *err)
{
	struct gocore *g = xcalloc(1, sizeof *g);
	int code = 0;

	*out = NULL;
	*g = (struct gocore){ .core = core, .source = source, .program = program, .types = program_types(program),
		.word = core_word(core), .machine = core_machine(core), .out.err = err };
	g->noted = big_alloc(1, sizeof *g->noted, err);
	if (!g->noted)
		code = ERR_NOMEM;
	else
		pthread_mutex_init(&g->noted->lock, NULL);
	if (code == 0) {
		g->noted->room = source->size / 8;
		code = g->machine == CORE_OTHER ? err_set(err, ERR_UNSUPPORTED, "cairn reads cores of Go programs on amd64 and "
		    "arm64") : read_all(g, err);
	}
	g->out.err = NULL;
	if (code)
		gocore_close(g);
	else
		*out = g;
	return code;
}

void gocore_close(struct gocore *g)
{
	if (!g)
		return;
	gocore_release_types(g);
	arena_release(&g->arena);
	big_free(g->out.bytes);
	big_free(g->span);
	big_free(g->span_at);
	big_free(g->arenas);
	big_free(g->noting);
	free(g);
}

const uint8_t *gocore_records(const struct gocore *g, uint64_t *n)
{
	*n = g->out.n;
	return g->out.bytes;
}

const struct gocore_state *gocore_state(const struct gocore *g)
{
	return &g->state;
}
