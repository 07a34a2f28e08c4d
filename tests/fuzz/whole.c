/* SPDX-License-Identifier: GPL-3.0-or-later */
/* whole.c - see whole.h. */
#include "whole.h"

#include "heap/classes.h"
#include "heap/roots.h"
#include "memory/big.h"
#include "algorithms/parallel.h"
#include "command/commands.h"
#include "command/help/help.h"
#include "command/exec/exec.h"
#include "heap/typed/typed.h"
#include "lines.h"
#include "printed.h"
#include "promise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_ROWS = 30 }; /* printed of a result */
enum { SMALL_PART = 300 }; /* bytes, so that small inputs have many */

void check_message(int code, const struct err *err)
{
	size_t n = strlen(err->message);
	PROMISE(code < 0);
	PROMISE(n > 0);
	PROMISE(is_clean(err->message, n, false));
}

/* --- a heap ------------------------------------------------------------------------------------- */

static void check_graph(const struct heap *h)
{
	uint64_t before = 0, in = 0, shallow = 0;
	for (uint32_t id = 0; id < h->n_objects; id++) {
		uint64_t address = heap_address(h, id);
		PROMISE(id == 0 || address > before);
		PROMISE(heap_find(h, address) == id);
		before = address;
		PROMISE(heap_class_index(h, id) < h->n_classes);
		shallow += heap_shallow(h, id);
		for (uint64_t i = adjacency_start(&h->out, id); i < adjacency_start(&h->out, id + 1); i++)
			PROMISE(h->out.target[i] < h->n_objects);
		for (uint64_t i = adjacency_start(&h->in, id); i < adjacency_start(&h->in, id + 1); i++)
			PROMISE(h->in.target[i] < h->n_objects);
		in += adjacency_start(&h->in, id + 1) - adjacency_start(&h->in, id);
	}
	PROMISE(in == h->out.n && h->in.n == h->out.n);
	PROMISE(shallow == h->shallow);
	PROMISE(h->out.n + h->n_dangling == h->n_references);
	for (uint32_t i = 0; i < h->n_classes; i++)
		PROMISE(h->classes[i].name);
}

/* Where objects are memory: the pointers of each, found one by one, are its references in their order;
 * values and names of everything can be asked for. */
static void check_memory(const struct heap *h)
{
	struct text text = TEXT_INIT;
	for (uint32_t id = 0; h->facts.values == TYPED_MEMORY && id < h->n_objects; id++) {
		struct typed_object o;
		struct slot_walk w = { 0 };
		const uint8_t *bytes;
		uint64_t n, i = adjacency_start(&h->out, id), end = adjacency_start(&h->out, id + 1);
		PROMISE(typed_open(&o, h, id));
		while (typed_next_slot(&o, &w)) {
			PROMISE(w.offset < o.view.n_bytes);
			uint64_t to = typed_number(&o.value, w.offset, typed_word_size(h));
			struct typed_reference r = typed_resolve(h, to);
			if (r.id == HEAP_NONE) {
				heap_symbol(h, to, &text);
				continue;
			}
			PROMISE(i < end && h->out.target[i] == r.id);
			i++;
			typed_path(&o, w.offset, &text);
		}
		PROMISE(i == end);
		typed_text(&o, &bytes, &n);
		text_clear(&text);
	}
	for (size_t i = 0; i < h->n_roots; i++)
		heap_symbol(h, h->roots[i].slot, &text);
	text_release(&text);
}

/* --- commands ----------------------------------------------------------------------------------- */

struct asking {
	struct session session;
	unsigned n; /* lines run */
	const char *const *only; /* commands whose lines are run, NULL: all */
	bool tell;  /* each line on standard error before it runs: FUZZ_TELL in the environment */
};

static void print_as(struct result *r, struct print_options o)
{
	char *printed = NULL;
	size_t n = 0;
	struct err err = ERR_INIT;
	FILE *f = open_memstream(&printed, &n);
	PROMISE(f);
	PROMISE(print_result(r, &o, f, &err) == 0);
	fclose(f);
	if (!is_printed(o.format, printed, n)) {
		fprintf(stderr, "%s, format %d:\n%.*s\n", r->title, (int)o.format, (int)(n < 2000 ? n : 2000), printed);
		PROMISE(!"what is printed is what that format may look like");
	}
	free(printed);
}

static void walk(struct result *r)
{
	struct text to = TEXT_INIT, scratch = TEXT_INIT;
	for (size_t row = 0; row < r->n_rows; row += row < 10 ? 1 : 1 + r->n_rows / 10) {
		struct target target;
		result_target(r, row, &target);
		for (unsigned column = 0; column < r->n_columns; column++) {
			struct cell cell;
			result_read(r, row, column, &cell, &scratch);
			cell_print(&cell, &to);
		}
	}
	text_release(&to);
	text_release(&scratch);
}

/* Broken by dumps that contradict themselves, not by us. */
static bool is_of_the_dump(const char *check)
{
	return !strcmp(check, "the dump's own counts agree") || !strcmp(check, "kinds add up");
}

/* The graph that was made keeps its promises. */
static void check_answer(const struct command *c, struct result *r)
{
	int check = result_column(r, "check"), found = result_column(r, "result");
	if (strcmp(c->name, "check") || check < 0 || found < 0)
		return;
	for (size_t row = 0; row < r->n_rows; row++) {
		struct cell cell;
		result_cell(r, row, (unsigned)found, &cell);
		bool broken = !strcmp(cell.text, "broken");
		result_cell(r, row, (unsigned)check, &cell);
		if (!broken || is_of_the_dump(cell.text))
			continue;
		fprintf(stderr, "check: %s: broken\n", cell.text);
		abort();
	}
}

static bool is_among(const char *const *list, const char *name)
{
	while (*list && strcmp(*list, name))
		list++;
	return *list;
}

static void run_line(void *context, const struct command *c, const char *line)
{
	struct asking *a = context;
	if (a->only && !is_among(a->only, c->name))
		return;
	struct err err = ERR_INIT;
	struct result *r = NULL;
	unsigned n = a->n++;
	if (a->tell)
		fprintf(stderr, "%s\n", line);
	int code = session_run_line(&a->session, line, &r, &err);
	if (code < 0)
		check_message(code, &err);
	if (code < 0 || !r)
		return;
	check_answer(c, r);
	walk(r);
	static const struct print_options ways[] = {
	    {.format = PRINT_TEXT, .top = MOST_ROWS, .width = 60}, {.format = PRINT_CSV, .top = MOST_ROWS},
	    {.format = PRINT_JSON, .top = MOST_ROWS}, {.format = PRINT_TEXT, .top = MOST_ROWS, .wide = true},
	    {.format = PRINT_JSONL, .top = MOST_ROWS}, {.format = PRINT_MD, .top = MOST_ROWS},
	    {.format = PRINT_HTML, .top = MOST_ROWS}};
	print_as(r, ways[n % (sizeof ways / sizeof *ways)]);
}

static void complete(const struct session *s, const char *line)
{
	size_t start = 0, found = 0, end = strlen(line);
	char **word = session_complete(s, line, end, 40, &start, &found);
	PROMISE(start <= end);
	for (size_t i = 0; i < found; i++) {
		PROMISE(is_clean(word[i], strlen(word[i]), false));
		free(word[i]);
	}
	free(word);
}

static void ask(const struct heap *heap, const char *const *only)
{
	struct asking a = {.only = only, .tell = getenv("FUZZ_TELL") != NULL};
	struct words words;
	session_init(&a.session);
	a.session.settings.progress = PROGRESS_NEVER;
	session_open(&a.session, NULL, heap);
	words_find(&words, &a.session);
	run_line(&a, &cmd_ls, "$kept = ls *");
	lines_each(&words, run_line, &a);
	for (const char *const *line = lines_begun; *line; line++)
		complete(&a.session, *line);
	complete(&a.session, words.field);
	/* what counts as a reference changes, and with it all that was found */
	run_line(&a, &cmd_set, "set weak on");
	run_line(&a, &cmd_check, "check -tree");
	run_line(&a, &cmd_leaks, "leaks");
	run_line(&a, &cmd_histo, "histo -live -retained");
	run_line(&a, &cmd_cut, "cut -plan 1");
	session_release(&a.session);
}

/* --- an input ----------------------------------------------------------------------------------- */

/* A heap, or NULL where it is refused in a sentence. */
static struct heap *open_heap(const struct heap_options *options, unsigned threads)
{
	struct heap *heap = NULL;
	struct err err = ERR_INIT;
	parallel_set_threads(threads);
	int code = heap_open(&heap, options, NULL, &err);
	if (code < 0)
		check_message(code, &err);
	else if (heap->damaged)
		check_message(-1, &heap->damage);
	return code < 0 ? NULL : heap;
}

/* However many threads read a dump, they read the same. */
static void check_same(const struct heap *one, const struct heap *other)
{
	PROMISE(!one == !other);
	if (!one)
		return;
	PROMISE(one->damaged == other->damaged);
	PROMISE(one->n_objects == other->n_objects && one->n_classes == other->n_classes);
	PROMISE(one->shallow == other->shallow && one->n_roots == other->n_roots);
	PROMISE(one->out.n == other->out.n && one->n_dangling == other->n_dangling);
	for (uint32_t id = 0; id < one->n_objects; id++) {
		PROMISE(heap_address(one, id) == heap_address(other, id));
		PROMISE(heap_shallow(one, id) == heap_shallow(other, id));
		PROMISE(heap_class_index(one, id) == heap_class_index(other, id));
	}
	for (uint64_t i = 0; i < one->out.n; i++)
		PROMISE(one->out.target[i] == other->out.target[i]);
}

/* What is told of objects and classes before references are read is what is told afterwards; then they are the same. */
static void check_later(const struct heap_options *options, const struct heap *whole)
{
	struct heap_options later = *options;
	struct err err = ERR_INIT;
	later.references_later = true;
	struct heap *heap = open_heap(&later, 2);
	PROMISE(!heap == !whole);
	if (heap && heap->rest) {
		PROMISE(heap->n_classes == whole->n_classes && heap->n_objects == whole->n_objects);
		for (uint32_t c = 0; c < heap->n_classes; c++)
			PROMISE(heap->classes[c].n_objects == whole->classes[c].n_objects &&
			    heap->classes[c].shallow == whole->classes[c].shallow &&
			    heap->classes[c].loader == whole->classes[c].loader &&
			    heap->classes[c].objects_inferred == whole->classes[c].objects_inferred &&
			    !strcmp(heap->classes[c].name, whole->classes[c].name));
		for (uint32_t id = 0; id < heap->n_objects; id++)
			PROMISE(heap_class_index(heap, id) == heap_class_index(whole, id));
		int code = heap_read_rest(heap, NULL, &err);
		if (code < 0)
			check_message(code, &err);
	}
	check_same(whole, heap);
	heap_close(heap);
}

static void try_heap(const struct heap_options *options, uint64_t *part_bytes, const char *const *only)
{
	big_set_limit(UINT64_C(1) << 30, "the test"); /* no input of a fuzzer deserves more */
	struct heap *alone = open_heap(options, 1);
	if (part_bytes)
		*part_bytes = SMALL_PART;
	struct heap *heap = open_heap(options, 2);
	if (part_bytes)
		*part_bytes = PART_BYTES;
	check_same(alone, heap);
	check_later(options, alone);
	heap_close(alone);
	if (heap) {
		check_graph(heap);
		check_memory(heap);
		if (!heap->no_references)
			ask(heap, only);
	}
	heap_close(heap);
}

/* A file in memory, and its path. */
static int file_of(const uint8_t *data, size_t size, char path[64])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	PROMISE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

void fuzz_whole(const struct reader *reader, const struct dump_options *dump, const char *const *only,
    uint64_t *part_bytes, const uint8_t *data, size_t size)
{
	char path[64];
	int fd = file_of(data, size, path);
	struct heap_options options = {.path = path, .dump = *dump};
	options.dump.also = reader;
	try_heap(&options, part_bytes, only);
	close(fd);
}

/* Whatever the javacore, the dump is the same: one input in eight, the first among them, is asked everything, the
 * others what a javacore has a say in. */
void fuzz_javacore(const char *dump, const uint8_t *data, size_t size)
{
	static const char *const told[] = {
	    "info", "threads", "bt", "loaders", "duplicate-classes", "roots", "leaks", "props", "about", NULL};
	static unsigned turn;
	char path[64];
	int fd = file_of(data, size, path);
	struct heap_options options = {.path = dump, .dump = {.javacore = path}};
	try_heap(&options, NULL, turn++ % 8 ? told : NULL);
	close(fd);
}
