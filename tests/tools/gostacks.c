/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gostacks.c - the stacks of a Go program in a core beside those of a heap dump of the same instant; a tool for tests.
 *
 *   gostacks [-c] [-p] [-v] PROGRAM CORE HEAPDUMP
 *
 * Compares goroutines, frames (contents and pointers), deferred calls, panics, threads and lines of allocations.  A
 * goroutine that ran in between, so that its state, its stack pointer or the bytes of its stack changed, is counted
 * and left out.  One line for each difference, then
 *
 *   goroutines=N equal=N ran=N frames=N fields=N defers=N panics=N threads=N lines=N added=N differences=N
 *
 * -c: the pointers are those that the collector looks at; the heap dump's must be among them (added counts the others).
 * -p: prints the core's pointers first, "pointer GOROUTINE FUNCTION VALUE" a line.
 * -v: the goroutines that ran or differ, too.  A HEAPDUMP of "-": there is none, and the program is not moved.
 * Exit status: 0 equal, 1 different, 3 not readable.
 */
#include "dump/go/go_record.h"
#include "dump/gocore/gocore_read.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FORMAT = 7, NOT_READABLE = 3 };

struct goroutine {
	struct go_record head;
	size_t first, n; /* of its records: frames, deferred calls, panics */
	bool seen;
};

struct side {
	struct goroutine *goroutine;
	struct go_record *record;
	struct go_record *thread;
	struct go_record data, bss, params;
	struct go_record *bucket;
	size_t n_goroutines, n_records, n_threads, n_roots, n_buckets;
};

static struct {
	unsigned long goroutines, equal, ran, frames, fields, defers, panics, threads, lines, added, differences;
} sum;
static bool collector, print, verbose;

static void fail(const struct err *err)
{
	fprintf(stderr, "gostacks: %s\n", err->message);
	exit(NOT_READABLE);
}

static void *more(void *list, size_t n, size_t size)
{
	if (n & (n - 1))
		return list;
	list = realloc(list, (n ? 2 * n : 1) * size);
	if (!list)
		abort();
	return list;
}

static void take(struct side *s, const struct go_record *r)
{
	switch (r->tag) {
	case GO_GOROUTINE:
		s->goroutine = more(s->goroutine, s->n_goroutines, sizeof *s->goroutine);
		s->goroutine[s->n_goroutines++] = (struct goroutine){ .head = *r, .first = s->n_records };
		break;
	case GO_FRAME: case GO_DEFER: case GO_PANIC:
		s->record = more(s->record, s->n_records, sizeof *s->record);
		s->record[s->n_records++] = *r;
		if (s->n_goroutines)
			s->goroutine[s->n_goroutines - 1].n++;
		break;
	case GO_THREAD:
		s->thread = more(s->thread, s->n_threads, sizeof *s->thread);
		s->thread[s->n_threads++] = *r;
		break;
	case GO_BUCKET:
		s->bucket = more(s->bucket, s->n_buckets, sizeof *s->bucket);
		s->bucket[s->n_buckets++] = *r;
		break;
	case GO_DATA: s->data = *r; break;
	case GO_BSS: s->bss = *r; break;
	case GO_PARAMS: s->params = *r; break;
	case GO_ROOT: s->n_roots++; break;
	default: break;
	}
}

static void decode(struct side *s, const uint8_t *bytes, uint64_t n, uint64_t at)
{
	struct err err;
	struct go_record r;

	for (; at < n; at = r.next) {
		if (go_record_decode(bytes, n, at, FORMAT, &r, &err))
			fail(&err);
		if (r.tag == GO_EOF)
			return;
		take(s, &r);
	}
}

/* --- comparing ------------------------------------------------------------------------------------------ */

static void differ(uint64_t goroutine, size_t frame, const char *what, uint64_t core, uint64_t dump)
{
	sum.differences++;
	printf("goroutine %" PRIu64 " record %zu: %s is 0x%" PRIx64 " in the core, 0x%" PRIx64 " in the heap dump\n",
	    goroutine, frame, what, core, dump);
}

static bool same_bytes(struct go_bytes a, struct go_bytes b)
{
	return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

/* A byte for each word of the contents. */
static uint8_t *fields_of(const struct go_record *r)
{
	uint8_t *set = calloc(r->s[0].n / 8 + 1, 1);
	const uint8_t *p = r->fields.p, *end = p + r->fields.n;
	uint64_t kind, offset;

	if (!set)
		abort();
	while (go_field_next(&p, end, &kind, &offset))
		if (offset < r->s[0].n)
			set[offset / 8] = 1;
	return set;
}

static void compare_frame(uint64_t id, size_t i, const struct go_record *core, const struct go_record *dump)
{
	static const char *const names[] = { "sp", "depth", "sp of the callee", "entry", "pc", "pc to go on at" };
	uint8_t *a = fields_of(core), *b = fields_of(dump);

	sum.frames++;
	for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
		if (core->u[k] != dump->u[k])
			differ(id, i, names[k], core->u[k], dump->u[k]);
	if (!same_bytes(core->s[1], dump->s[1]))
		differ(id, i, "function", core->s[1].n, dump->s[1].n);
	if (core->s[0].n != dump->s[0].n)
		differ(id, i, "size", core->s[0].n, dump->s[0].n);
	else {
		for (uint64_t k = 0; k < core->s[0].n / 8; k++) {
			sum.fields += b[k];
			if (collector && a[k] && !b[k])
				sum.added++;
			else if (a[k] != b[k])
				differ(id, i, "whether a word is a pointer", a[k], k * 8 + b[k]);
		}
		if (!same_bytes(core->s[0], dump->s[0]))
			for (uint64_t k = 0; k < core->s[0].n / 8; k++)
				if (memcmp(core->s[0].p + 8 * k, dump->s[0].p + 8 * k, 8) != 0) {
					differ(id, i, "contents", load_le64(core->s[0].p + 8 * k),
					    load_le64(dump->s[0].p + 8 * k));
					break;
				}
	}
	free(a);
	free(b);
}

static void compare_numbers(uint64_t id, size_t i, const struct go_record *core, const struct go_record *dump)
{
	for (unsigned k = 0; k < 7; k++)
		if (core->u[k] != dump->u[k])
			differ(id, i, core->tag == GO_DEFER ? "a number of a deferred call" : "a number of a panic",
			    core->u[k], dump->u[k]);
}

static struct goroutine *find(struct side *s, uint64_t address)
{
	for (size_t i = 0; i < s->n_goroutines; i++)
		if (s->goroutine[i].head.u[GOROUTINE_ADDRESS] == address)
			return &s->goroutine[i];
	return NULL;
}

static void print_goroutine(const struct side *s, const struct goroutine *g)
{
	printf("# goroutine %" PRIu64 " status %" PRIu64 " \"%.*s\" system %" PRIu64 "\n", g->head.u[GOROUTINE_ID],
	    g->head.u[GOROUTINE_STATUS], (int)g->head.s[0].n, (const char *)g->head.s[0].p, g->head.u[GOROUTINE_SYSTEM]);
	for (size_t i = 0; i < g->n; i++) {
		const struct go_record *r = &s->record[g->first + i];
		if (r->tag != GO_FRAME)
			continue;
		uint8_t *set = fields_of(r);
		unsigned n = 0;
		for (uint64_t k = 0; k < r->s[0].n / 8; k++)
			n += set[k];
		free(set);
		printf("#   0x%" PRIx64 " +%" PRIu64 " %.*s+0x%" PRIx64 " %u\n", r->u[FRAME_SP], r->s[0].n, (int)r->s[1].n,
		    (const char *)r->s[1].p, r->u[FRAME_PC] - r->u[FRAME_ENTRY], n);
	}
}

static void compare_goroutine(const struct side *core, struct goroutine *a, const struct side *dump,
    const struct goroutine *b)
{
	static const char *const names[] = { "address", "sp", "id", "created at", "status", "system", "background",
	    "since", "context", "m", "deferred call", "panic" };
	uint64_t id = a->head.u[GOROUTINE_ID];
	unsigned long before = sum.differences;

	a->seen = true;
	for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
		if (a->head.u[k] != b->head.u[k])
			differ(id, 0, names[k], a->head.u[k], b->head.u[k]);
	if (!same_bytes(a->head.s[0], b->head.s[0]))
		differ(id, 0, "wait reason", a->head.s[0].n, b->head.s[0].n);
	if (a->n != b->n)
		differ(id, 0, "number of records", a->n, b->n);
	for (size_t i = 0; i < a->n && i < b->n; i++) {
		const struct go_record *x = &core->record[a->first + i], *y = &dump->record[b->first + i];
		if (x->tag != y->tag)
			differ(id, i, "kind of record", x->tag, y->tag);
		else if (x->tag == GO_FRAME)
			compare_frame(id, i, x, y);
		else {
			sum.defers += x->tag == GO_DEFER;
			sum.panics += x->tag == GO_PANIC;
			compare_numbers(id, i, x, y);
		}
	}
	sum.equal += sum.differences == before;
	if (verbose && sum.differences != before) {
		print_goroutine(core, a);
		print_goroutine(dump, b);
	}
}

/* Did a goroutine run between the two?  If not, the core has the bytes that the heap dump has of its stack. */
static bool ran(const struct gocore *g, const struct goroutine *a, const struct side *dump, const struct goroutine *b)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct go_record *r = &dump->record[b->first + i];
		uint8_t *now = malloc(r->s[0].n + 1);
		bool same = now && (r->tag != GO_FRAME || (core_copy(g->core, r->u[FRAME_SP], now, r->s[0].n) &&
		    !memcmp(now, r->s[0].p, r->s[0].n)));
		free(now);
		if (!same)
			return true;
	}
	return a->head.u[GOROUTINE_SP] != b->head.u[GOROUTINE_SP] ||
	    a->head.u[GOROUTINE_STATUS] != b->head.u[GOROUTINE_STATUS] ||
	    a->head.u[GOROUTINE_SINCE] != b->head.u[GOROUTINE_SINCE];
}

/* The pointers of each goroutine's frames. */
static void print_pointers(const struct side *s)
{
	for (size_t i = 0; i < s->n_goroutines; i++) {
		const struct goroutine *g = &s->goroutine[i];
		for (size_t k = 0; k < g->n; k++) {
			const struct go_record *r = &s->record[g->first + k];
			if (r->tag != GO_FRAME)
				continue;
			uint8_t *set = fields_of(r);
			for (uint64_t w = 0; w < r->s[0].n / 8; w++)
				if (set[w] && load_le64(r->s[0].p + 8 * w))
					printf("pointer %" PRIu64 " %.*s 0x%" PRIx64 "\n", g->head.u[GOROUTINE_ID],
					    (int)r->s[1].n, (const char *)r->s[1].p, load_le64(r->s[0].p + 8 * w));
			free(set);
		}
	}
}

/* Functions, files and lines of the frames of a bucket, whose pcs follow it in memory. */
static void compare_lines(const struct gocore *g, const struct go_record *r)
{
	uint64_t at = r->u[BUCKET_ID] + gocore_size_of(g, "runtime.bucket");
	struct go_bytes frames = r->s[0];
	struct go_site_frame b;

	for (size_t i = 0; go_site_next(&frames, &b); i++, at += 8) {
		struct gocore_function f;
		struct gocore_bytes file;
		uint64_t line, pc = gocore_word(g, at);
		if (!gocore_function_at(g, pc, &f))
			continue;
		bool same = gocore_line(g, &f, pc - (i && pc > f.entry), &file, &line) && line == b.line &&
		    same_bytes((struct go_bytes){ file.p, file.n }, b.file) &&
		    same_bytes((struct go_bytes){ (const uint8_t *)f.name, f.n_name }, b.function);
		sum.lines++;
		if (!same)
			differ(0, i, "the line of an allocation", pc, b.line);
	}
}

static void compare(const struct gocore *g, struct side *core, struct side *dump)
{
	for (size_t i = 0; i < dump->n_goroutines; i++) {
		struct goroutine *b = &dump->goroutine[i], *a = find(core, b->head.u[GOROUTINE_ADDRESS]);
		sum.goroutines++;
		if (!a)
			differ(b->head.u[GOROUTINE_ID], 0, "goroutine", 0, 1);
		else if (ran(g, a, dump, b)) {
			sum.ran++;
			a->seen = true;
			if (verbose) {
				print_goroutine(core, a);
				print_goroutine(dump, b);
			}
		} else
			compare_goroutine(core, a, dump, b);
	}
	for (size_t i = 0; i < core->n_goroutines; i++)
		if (!core->goroutine[i].seen) {
			sum.ran++;
			if (verbose)
				print_goroutine(core, &core->goroutine[i]);
		}
	for (size_t i = 0; i < dump->n_threads; i++)
		for (size_t k = 0; k < core->n_threads; k++)
			sum.threads += !memcmp(core->thread[k].u, dump->thread[i].u, sizeof core->thread[k].u);
	for (size_t i = 0; i < dump->n_buckets; i++)
		compare_lines(g, &dump->bucket[i]);
	if (sum.threads != dump->n_threads)
		differ(0, 0, "number of equal threads", sum.threads, dump->n_threads);
}

/* --- opening -------------------------------------------------------------------------------------------- */

static uint64_t entry_of(const char *path)
{
	uint8_t head[64] = { 0 };
	FILE *f = fopen(path, "rb");

	if (!f || fread(head, 1, sizeof head, f) != sizeof head)
		exit(NOT_READABLE);
	fclose(f);
	return load_le64(head + 24);
}

static const struct source *open_source(const char *path)
{
	struct err err;
	struct source *s;

	if (source_open(&s, path, NULL, &err))
		fail(&err);
	return s;
}

static void open_core(struct gocore *g, const char *program, const char *core, const struct side *dump)
{
	struct err err;
	struct core *c;
	uint64_t entry;
	char arch[16] = "";
	struct program_match match = { .word = 8, .data = { dump->data.u[0], dump->data.s[0].n },
	    .bss = { dump->bss.u[0], dump->bss.s[0].n } };

	snprintf(arch, sizeof arch, "%.*s", (int)dump->params.s[0].n, (const char *)dump->params.s[0].p);
	match.arch = arch;
	g->source = open_source(core);
	if (core_open(&c, g->source, &err))
		fail(&err);
	if (!core_auxiliary(c, 9, &entry)) /* AT_ENTRY */
		entry = entry_of(program);
	if (core_add_file(c, program, entry - entry_of(program), &err))
		fail(&err);
	if (program_open(&g->program, program, &err) ||
	    (dump->params.s[0].n && program_check(g->program, &match, &err)))
		fail(&err);
	g->core = c;
	g->types = program_types(g->program);
	g->word = core_word(c);
	g->machine = core_machine(c);
	g->out.err = &err;
	g->as_heap_dump = !collector;
	g->heap_start = dump->params.u[PARAMS_START];
	g->heap_end = dump->params.s[0].n ? dump->params.u[PARAMS_END] : UINT64_MAX;
	if (gocore_find_members(g, &err) || gocore_read_modules(g, &err) || gocore_tell_goroutines(g, &err))
		fail(&err);
}

int main(int argc, char **argv)
{
	static struct gocore g;
	static struct side core, dump;
	static const char magic[] = "go1.7 heap dump\n";
	int option;

	while ((option = getopt(argc, argv, "cpv")) != -1) {
		collector |= option == 'c';
		print |= option == 'p';
		verbose |= option == 'v';
	}
	if (argc - optind != 3)
		return 2;
	const struct source *s = strcmp(argv[optind + 2], "-") ? open_source(argv[optind + 2]) : NULL;
	if (s && (s->size < strlen(magic) || memcmp(s->bytes, magic, strlen(magic)) != 0))
		return NOT_READABLE;
	if (s)
		decode(&dump, s->bytes, s->size, strlen(magic));
	open_core(&g, argv[optind], argv[optind + 1], &dump);
	decode(&core, g.out.bytes, g.out.n, 0);
	if (print)
		print_pointers(&core);
	compare(&g, &core, &dump);
	printf("goroutines=%lu equal=%lu ran=%lu frames=%lu fields=%lu defers=%lu panics=%lu threads=%lu lines=%lu "
	    "added=%lu differences=%lu\n", sum.goroutines, sum.equal, sum.ran, sum.frames, sum.fields, sum.defers,
	    sum.panics, sum.threads, sum.lines, sum.added, sum.differences);
	if (verbose)
		printf("# roots %zu, in C %" PRIu64 "\n", core.n_roots, g.state.n_in_c);
	program_close(g.program);
	core_close((struct core *)g.core);
	source_close((struct source *)g.source);
	source_close((struct source *)s);
	arena_release(&g.arena);
	big_free(g.out.bytes);
	free(core.goroutine);
	free(core.record);
	free(core.thread);
	free(dump.goroutine);
	free(dump.record);
	free(dump.thread);
	free(dump.bucket);
	return sum.differences != 0;
}
