/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_keep.c - what the readings of a Go dump found, to an index file and back.
 *
 * It is little: where records stand that are no objects, how spans are laid out, and what the variables lead to in
 * the program's own memory.  All else is found anew from these and from the program, which must be the same: types
 * are known by their numbers in it.
 */
#include "dump/go/go_dump.h"

#include "algorithms/pack.h"
#include "dump/source/source.h"
#include "memory/big.h"

static void keep_layout(struct go *g, struct pack *p)
{
	struct go_layout *l = &g->layout;
	PACK(p, l->small, GO_PAGE);
	PACK(p, l->bitmap, GO_PAGE);
	PACK(p, l->marks, GO_PAGE);
	PACK(p, l->header, GO_PAGE);
	PACK(p, g->dump.type_conflicts, UINT64_MAX);
}

/* Runs ascend, and none is empty. */
static void keep_runs(struct go *g, struct pack *p, struct err *err)
{
	uint64_t n = g->n_runs, end = 0, size = g->records.n;
	pack_count(p, &n, SIZE_MAX);
	if (p->reading) {
		g->runs = big_alloc(n, sizeof *g->runs, err);
		g->n_runs = g->cap_runs = n;
		p->bad |= !g->runs;
	}
	for (uint64_t i = 0; i < n && !p->bad; i++) {
		struct go_run *run = &g->runs[i];
		uint64_t gap = run->offset - end, length = run->end - run->offset;
		pack_number(p, &gap, size - end);
		pack_number(p, &length, size - end - gap);
		PACK(p, run->n, UINT64_MAX);
		PACK(p, run->tag, GO_TAGS - 1);
		p->bad |= !length || run->tag == GO_OBJECT;
		run->offset = end + gap;
		end = run->end = run->offset + length;
	}
}

/* Is it the program that types and statics were found by, or again none? */
static int keep_program(struct go *g, struct pack *p, struct err *err)
{
	uint64_t is = g->program ? program_print(g->program) : 0, was = is;
	bool there = g->program, was_there = there;
	PACK(p, was_there, 1);
	pack_number(p, &was, UINT64_MAX);
	if (p->bad || (was == is && was_there == there))
		return 0;
	return err_set(err, ERR_NOT_FOUND, !there ? "its types are from a program that is not next to the dump" :
	    was_there ? "its types are from another program than the one next to the dump" :
	    "it was written without the program next to the dump");
}

static int keep_statics(struct go *g, struct pack *p, struct err *err)
{
	size_t n_told = 0;
	const struct program_variable *told = g->program ? program_statics(g->program, &n_told) : NULL;
	uint64_t n = n_told;
	uint32_t n_types = g->program ? program_types(g->program)->n : 0;
	pack_count(p, &n, n_types ? SIZE_MAX : 0);
	struct program_variable *all = big_alloc(n, sizeof *all, err);
	p->bad |= !all;
	for (uint64_t i = 0; i < n && !p->bad; i++) {
		struct program_variable v = p->reading ? (struct program_variable){ .name = NULL } : told[i];
		pack_text(p, &v.name);
		pack_number(p, &v.address, UINT64_MAX);
		PACK(p, v.type, n_types - 1);
		p->bad |= !v.name;
		all[i] = v;
	}
	int code = !all ? ERR_NOMEM : p->reading && n && !p->bad ? program_tell_statics(g->program, all, n, err) : 0;
	big_free(all);
	return code;
}

int go_keep(struct dump *dump, struct pack *p, struct err *err)
{
	struct go *g = (struct go *)dump;
	keep_layout(g, p);
	keep_runs(g, p, err);
	if (p->reading && !g->runs)
		return ERR_NOMEM;
	int code = p->reading && !p->bad ? go_settle(g, err) : 0;
	if (!code)
		code = keep_program(g, p, err);
	return code || p->bad ? code : keep_statics(g, p, err);
}
