/* SPDX-License-Identifier: GPL-3.0-or-later */
/* builder.c - from a path to a heap: the steps of build.h in their order. */
#include "heap/build/build.h"

#include "algorithms/sort.h"
#include "base/mem.h"
#include "base/memory_refusals.h"
#include "base/text.h"
#include "dump/process.h"
#include "dump/program/program.h"
#include "dump/registry.h"
#include "dump/source/source.h"
#include "heap/amounts.h"
#include "heap/index.h"
#include "heap/index_file/index_file.h"
#include "heap/places.h"
#include "heap/sites.h"
#include "heap/sizes/sizes.h"
#include "heap/string.h"
#include "heap/weak.h"
#include "memory/big.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void build_warn(struct build *b, const char *format, ...)
{
	struct heap *h = b->heap;
	if (h->n_warnings < HEAP_WARNINGS_KEPT) {
		char line[400];
		va_list args;
		va_start(args, format);
		text_format(line, sizeof line, format, args);
		va_end(args);
		h->warnings[h->n_warnings] = (struct heap_warning){
			.text = arena_strndup(&h->arena, line, strlen(line))
		};
	}
	h->n_warnings++;
}

static int by_loader(const void *x, const void *y, void *context)
{
	const struct heap *h = context;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	if (h->classes[a].loader != h->classes[b].loader)
		return h->classes[a].loader < h->classes[b].loader ? -1 : 1;
	return (a > b) - (a < b);
}

int build_check(const struct build *b, struct err *err)
{
	if (b->lost.code)
		*err = b->lost;
	return b->lost.code;
}

static int sort_classes_by_loader(struct heap *h, struct err *err)
{
	h->classes_by_loader = big_alloc(h->n_defined_classes, sizeof *h->classes_by_loader, err);
	if (!h->classes_by_loader)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < h->n_defined_classes; i++)
		h->classes_by_loader[i] = i;
	return sort_with(h->classes_by_loader, h->n_defined_classes, sizeof *h->classes_by_loader, by_loader, h,
	    err);
}

/* Say why a javacore beside the dump is not read; format has one %s, for what. */
__attribute__((format(printf, 2, 0))) static void refuse_companion(struct build *b, const char *format,
    const char *what)
{
	struct text t = TEXT_INIT;
	text_addf(&t, format, what);
	build_warn(b, "%s", t.s);
	b->heap->companion_refused = arena_strndup(&b->heap->arena, t.s, t.len);
	text_release(&t);
}

/* The javacore that was named must be readable; one that merely stands beside the dump
 * need not, unless it is memory that lacks: then the heap says that it lacks. */
static int open_companion(struct build *b, struct err *err)
{
	const struct dump_options *o = &b->options->dump;
	if (o->no_companion)
		return 0;
	struct err own = ERR_INIT;
	struct text path = TEXT_INIT;
	char *passed;
	text_addf(&path, "%s%s", b->heap->source->path, source_inside(b->heap->source));
	int code = javacore_open(&b->javacore, &passed, o->javacore, path.s, &own);
	text_release(&path);
	if (passed)
		refuse_companion(b, "%s: ignored, because the same process wrote it at another time than the dump "
		    "(--javacore FILE reads it)", passed);
	free(passed);
	if (code < 0 && (o->javacore || code == ERR_NOMEM)) {
		*err = own;
		return code;
	}
	if (code < 0)
		refuse_companion(b, "the javacore next to the dump is ignored: %s", own.message);
	return 0;
}

/*
 * A javacore of another process or moment names loaders where this heap has none: it is left out
 * and that is said.  (In all real pairs every loader's address is an object of the dump.)
 */
static void check_companion(struct build *b)
{
	struct javacore *j = b->javacore;
	if (!j)
		return;
	size_t n_found = 0;
	for (size_t i = 0; i < j->n_loaders; i++)
		n_found += index_find(b->heap->index, j->loaders[i].address) != HEAP_NONE;
	if (j->n_loaders && 2 * n_found < j->n_loaders && !b->heap->damaged) {
		struct text t = TEXT_INIT;
		text_addf(&t, "%s is ignored because it belongs to another dump: of its %zu class loader%s, %zu "
		    "%s here", j->path,
		    j->n_loaders, j->n_loaders == 1 ? "" : "s", n_found, n_found == 1 ? "is an object" : "are objects");
		if (b->options->dump.javacore)
			build_warn(b, "%s", t.s); /* the user named it */
		else
			refuse_companion(b, "%s", t.s);
		text_release(&t);
		javacore_close(j);
		b->javacore = NULL;
		return;
	}
	b->heap->companion = arena_strndup(&b->heap->arena, j->path, strlen(j->path));
	b->heap->companion_hold = j->hold; /* outlives what was read of it */
	j->hold = 0;
	b->heap->process = j->process;
	j->process = NULL;
}

/* The process as the dump tells of it, where the javacore does not. */
static void adopt_process(struct heap *h)
{
	struct process_facts *own = h->dump->process;
	h->dump->process = NULL;
	if (h->process && own) {
		process_complete(h->process, own);
		process_free(own);
	} else if (own) {
		h->process = own;
	}
}

/* --- the steps ------------------------------------------------------------------------------------ */

/* Does the rest leave objects, classes and values as they are?  Not where types are found behind the references, and
 * not where something is to be reported of the file: that is about all of it. */
static bool is_settled(const struct build *b)
{
	const struct heap *h = b->heap;
	return !h->dump->reader->memory && !fillers_wanted(h) && !h->damaged && !h->source->truncated &&
	    !h->source->remark[0];
}

/* What values are read by: enough where references wait. */
static int find_values(struct build *b, struct err *err)
{
	int code = b->heap->places ? 0 : places_build(b, err);
	if (code == 0)
		string_layout_find(b->heap);
	return code;
}

/* Without memory for that they wait for the references, which will say so. */
static void settle(struct build *b)
{
	struct err why = ERR_INIT;
	b->heap->settled = is_settled(b) && find_values(b, &why) == 0;
}

static int read_objects(struct build *b, struct err *err)
{
	int code = count_pass_run(b, err);
	progress_phase(b->progress, PHASE_ORDER_OBJECTS, 0);
	if (code == 0)
		code = objects_index(b, err);
	progress_objects(b->progress, b->heap->n_objects);
	if (code == 0)
		code = objects_scatter(b, err);
	if (code == 0)
		code = android_heaps_collect(b, err);
	if (code < 0)
		return code;
	check_companion(b);
	adopt_process(b->heap);
	code = classes_resolve(b, err);
	if (code == 0)
		code = sort_classes_by_loader(b->heap, err);
	if (code == 0 && sizes_need_values(b->heap))
		code = places_build(b, err);
	if (code == 0)
		code = objects_list_odd(b, err);
	if (code == 0)
		code = sizes_settle(b->heap, b->options->mat_sizes, err);
	if (code < 0)
		return code;
	settle(b);
	build_show(b);
	return 0;
}

/* Lists of referrers take as much memory as references do, and with little memory as long as all else.  Inferred roots
 * and fillers are found by them. */
static bool may_wait(const struct build *b)
{
	const struct heap *h = b->heap;
	return b->options->referrers_later && big_owner(h->out.target) == BIG_SPILLED && h->facts.roots_recorded &&
	    !fillers_wanted(h) && !h->dump->reader->memory;
}

static int read_references(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	const struct reader *reader = h->dump->reader;
	int code = reader->prepare ? reader->prepare(h->dump, err) : 0;
	if (reader->memory && h->dump->program)
		progress_expect(b->progress, PHASE_FIND_TYPES); /* without a program there is little to find */
	h->facts.cannot_tell = h->dump->facts.cannot_tell; /* a program beside it may tell more */
	if (code == 0 && h->dump->program_refused)
		build_warn(b, "%s", h->dump->program_note);
	if (code == 0 && !h->places) /* unless they were needed before */
		code = places_build(b, err);
	if (code == 0)
		code = overlaps_warn(b, err);
	if (code == 0)
		code = classify_prepare(b, err);
	if (code == 0)
		code = edge_pass_run(b, err);
	if (code == 0)
		code = classify_run(b, err);
	if (code == 0)
		code = sites_collect(h, err);
	if (code == 0)
		code = recorded_collect(b, err);
	if (code == 0) {
		if (!h->strings)
			string_layout_find(h);
		code = threads_complete(h, err);
	}
	if (code == 0)
		code = stacks_match(b, err);
	h->referrers_wait = code == 0 && may_wait(b);
	if (code == 0 && !h->referrers_wait)
		code = adjacency_transpose(&h->out, &h->in, h->n_objects, b->progress, err);
	if (code == 0)
		code = goroutine_waits_collect(b, err);
	if (code == 0)
		code = roots_collect(b, err);
	if (code == 0) /* those of a companion came with the roots */
		code = threads_order(h, err);
	if (code == 0)
		code = fillers_find(b, err);
	if (code == 0)
		code = in_frames_find(h, err);
	if (code == 0)
		code = weak_find(h, b->progress, err);
	return code;
}

/* Where pointers to elsewhere are ordinary, one that leads to no object is no damage; all of them
 * are. */
static void check_pointers(struct build *b)
{
	const struct heap *h = b->heap;
	if (h->facts.outside_pointers_normal && h->n_references > 100 && h->n_dangling == h->n_references)
		build_warn(b, "none of the %llu pointers leads to an object: the pointer size or byte order in "
		    "the dump may be wrong", (unsigned long long)h->n_references);
}

static void warn_stated(struct build *b, const char *what, uint64_t stated, uint64_t read,
    const char *unit)
{
	const char *why = read > stated ? b->heap->facts.surplus : NULL;
	build_warn(b, "%s of the dump is %llu, but cairn read %llu %s%s%s", what, (unsigned long long)stated,
	    (unsigned long long)read, unit, why ? ": " : "", why ? why : "");
}

/* A format that states how much the heap holds: what was read should be as much. */
static void check_stated(struct build *b)
{
	const struct heap *h = b->heap;
	const struct {
		const char *what, *unit;
		uint64_t read;
	} counts[] = {
		{ "HeapObjects", "objects", h->n_objects }, { "HeapAlloc", "bytes", h->shallow },
	};
	for (size_t i = 0; i < h->n_stated && !h->damaged; i++)
		for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
			if (!strcmp(h->stated[i].what, counts[k].what) && h->stated[i].count != counts[k].read)
				warn_stated(b, counts[k].what, h->stated[i].count, counts[k].read, counts[k].unit);
}

/* Bytes that went away under the mapping read as zeros: say from where on nothing is true. */
static void note_lost_pages(struct heap *h)
{
	uint64_t offset;
	if (!source_damage(h->source, &offset))
		return;
	h->damaged = h->incomplete = true;
	err_at(&h->damage, ERR_IO, offset,
	    "%s: the file shrank or is unreadable from byte %llu on: the rest is missing", h->source->path,
	    (unsigned long long)offset);
}

/* Where the file went away or was written to while it was read, that is what happened, not damage. */
static int blame_file(const struct heap *h, int code, struct err *err)
{
	uint64_t offset;
	if (!h->source || (code != ERR_FORMAT && code != ERR_TRUNCATED && code != ERR_IO))
		return code;
	if (source_damage(h->source, &offset))
		return err_at(err, ERR_IO, offset, "%s: the file shrank or became unreadable from byte %llu on "
		    "while cairn read it", h->source->path, (unsigned long long)offset);
	if (source_changed(h->source) && code != ERR_IO)
		return err_set(err, ERR_IO, "%s: the file changed while cairn read it: %s", h->source->path, err->message);
	return code;
}

/* The same of damage that does not end the reading, as in a dump that is still being written. */
static void note_changed(struct heap *h)
{
	uint64_t offset;
	if (h->damaged && !source_damage(h->source, &offset) && source_changed(h->source)) {
		struct err found = h->damage;
		err_set(&h->damage, found.code, "%s; the file changed while cairn read it", found.message);
		h->damage.has_offset = found.has_offset;
		h->damage.offset = found.offset;
	}
}

/* What a reader found in bytes that may be wrong: the file, that they may be, and then what it found. */
static void doubt_damage(struct err *damage, const struct source *s)
{
	struct err found = *damage;
	err_set(damage, found.code, "%s: %s", s->remark, found.message + found.subject);
	err_context(damage, "%s", s->path);
}

/*
 * A gzip stream that ends early: the reader met the end of what could be inflated.  Where the checksum
 * is wrong, no byte can be named up to which all is true, and nothing is missing unless the reader says so;
 * and none where a part in the middle is missing.
 */
static void note_cut_source(struct build *b)
{
	const struct source *s = b->heap->source;
	if (s->remark[0])
		build_warn(b, "%s", s->remark);
	if (!s->truncated)
		return;
	struct err *damage = &b->heap->damage;
	b->heap->doubtful = s->doubtful;
	b->heap->incomplete |= !s->doubtful;
	if (!b->heap->damaged) {
		if (s->doubtful)
			err_set(damage, ERR_FORMAT, "%s", s->remark);
		else
			err_at(damage, ERR_TRUNCATED, s->size, "%s", s->remark);
		err_context(damage, "%s", s->path);
	} else if (s->doubtful && damage->reason != ERR_SOURCE) {
		doubt_damage(damage, s);
	} else if (s->broken_off) {
		struct err found = *damage;
		err_set(damage, found.code, "%.300s; %s", found.message, s->remark);
		damage->has_offset = found.has_offset;
		damage->offset = found.offset;
	}
	if (s->doubtful || s->gaps) /* what is missing stands in front of it */
		damage->has_offset = false;
	b->heap->damaged = true;
}

/* Objects, classes and sizes are there and true: keep them where the rest cannot be had. */
static void keep_objects(struct heap *h, const struct err *why)
{
	adjacency_release(&h->out);
	adjacency_release(&h->in);
	h->out = h->in = (struct adjacency){ .target = NULL };
	weak_forget(h);
	h->n_roots = 0;
	h->n_inferred_roots = 0;
	h->n_stale = 0;
	h->n_root_objects = 0;
	h->n_threads = 0;
	h->referrers_wait = false;
	h->no_references = true;
	h->shortage = *why;
}

static void build_free(struct build *b)
{
	count_pass_release(b);
	classify_release(b);
	big_free(b->handles);
	map_release(&b->handle_map);
	big_free(b->used_handles);
	names_release(&b->names);
	big_free(b->name_of);
	big_free(b->by_name);
	big_free(b->by_name_and_loader);
	big_free(b->defined);
	big_free(b->duplicates);
	big_free(b->stale);
	big_free(b->degrees);
	big_free(b->long_degrees);
	arena_release(&b->arena);
	javacore_close(b->javacore);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

static int read_rest(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	int code = read_references(b, err);
	/* not where types, and with them classes, are found after the references */
	if (code == ERR_NOMEM && !h->dump->reader->memory) {
		keep_objects(h, err);
		code = 0;
	}
	if (code == 0 && !h->no_references) {
		check_pointers(b);
		check_stated(b);
	}
	if (code == 0) /* a loop may have been left early */
		code = progress_check(b->progress, err);
	if (code == 0) {
		note_cut_source(b);
		note_lost_pages(h);
		note_changed(h);
		heap_find_missing_roots(h);
	}
	return code;
}

static int read_waiting(struct heap *h, struct progress *progress, struct err *err)
{
	uint64_t refusals = mem_refusals();
	struct build *b = h->rest;
	struct progress *before = progress_set_own(progress);
	b->progress = progress;
	h->rest = NULL;
	int code = read_rest(b, err);
	if (code == 0)
		code = memory_refusals_check(refusals, err);
	if (code < 0) {
		code = blame_file(h, code, err);
		keep_objects(h, err);
	}
	build_free(b);
	progress_set_own(before);
	return code;
}

static int open_objects(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	const struct heap_options *options = b->options;
	const struct source_look look = dump_look(&options->dump);
	int code = source_open_if(&h->source, options->path, &look, b->progress, err);
	if (code == 0)
		code = dump_open(&h->dump, h->source, &options->dump, err);
	if (code < 0)
		return code;
	h->facts = h->dump->facts;
	if (!h->facts.roots_recorded || h->facts.takes_javacore)
		code = open_companion(b, err);
	if (!code)
		code = need_tell(b, err);
	return code ? code : read_objects(b, err);
}

static int build_heap(struct heap **out, const struct heap_options *options, struct progress *progress,
    struct err *err)
{
	uint64_t refusals = mem_refusals();
	struct heap *h = xcalloc(1, sizeof *h);
	struct build *b = xcalloc(1, sizeof *b);
	struct progress *before = progress_set_own(progress);
	*b = (struct build){
		.heap = h,
		.options = &h->asked, /* the caller's may be gone when references are read later */
		.progress = progress,
		.class_objects = { .kind = RECORD_CLASS, .instance_size = SIZE_UNKNOWN },
	};
	pthread_mutex_init(&b->lock, NULL);
	h->boot_loader = HEAP_NONE;
	h->asked = *options;
	int code = open_objects(b, err);
	if (code == 0 && options->references_later && h->settled)
		h->rest = b;
	else if (code == 0)
		code = read_rest(b, err);
	if (code == 0)
		code = memory_refusals_check(refusals, err);
	if (code < 0) {
		code = blame_file(h, code, err);
		build_hide(b);
	}
	if (!h->rest)
		build_free(b);
	if (code < 0) {
		heap_close(h);
		h = NULL;
	}
	progress_set_own(before);
	*out = h;
	return code;
}

/* References that an index has and that are damaged are those of the dump: read it, and take them. */
static int read_instead(struct heap *h, const struct err *damage, struct progress *progress, struct err *err)
{
	const struct program *program = h->dump->program; /* by its types a reader knows which pointers are leftovers */
	struct heap_options o = { .dump = { .heap_number = h->asked.dump.heap_number, .no_companion = true,
		.exe = program ? program_path(program) : NULL }, .path = h->source->path, .mat_sizes = h->asked.mat_sizes };
	struct heap *fresh = NULL;
	struct text why = TEXT_INIT;
	if (h->dump_absent) {
		*err = *damage;
		index_file_broken(err, h->index_path);
		return err->code;
	}
	text_addf(&why, "references are read from the dump, because those in the index %s are damaged (%s); the "
	    "command index writes a new one",
	    h->index_path, damage->message);
	h->index_refused = arena_strndup(&h->arena, why.s, why.len);
	text_release(&why);
	int code = build_heap(&fresh, &o, progress, err);
	if (!code && fresh->n_objects != h->n_objects)
		code = err_set(err, ERR_FORMAT, "the index %s does not belong to this dump (try --no-index)", h->index_path);
	if (!code) {
		h->out = fresh->out;
		h->in = fresh->in;
		h->no_references = fresh->no_references;
		h->shortage = fresh->shortage;
		fresh->out = fresh->in = (struct adjacency){ .target = NULL };
	}
	heap_close(fresh);
	return code;
}

int heap_list_referrers(struct heap *h, struct progress *progress, struct err *err)
{
	struct progress *before = progress_set_own(progress);
	int code = adjacency_transpose(&h->out, &h->in, h->n_objects, progress, err);
	progress_set_own(before);
	if (code)
		adjacency_release(&h->in);
	h->referrers_wait = h->referrers_wait && code;
	return code;
}

static int read_saved(struct heap *h, struct progress *progress, struct err *err)
{
	struct err damage = ERR_INIT;
	int code = index_file_references(h, progress, &damage);
	if (!code && !h->in.offset) /* of a packed index */
		code = heap_list_referrers(h, progress, &damage);
	if (code == ERR_FORMAT || code == ERR_IO)
		code = read_instead(h, &damage, progress, err);
	else if (code)
		*err = damage;
	return code ? code : weak_find(h, progress, err);
}

bool heap_waits(const struct heap *h)
{
	return h->rest || h->references_wait;
}

int heap_read_rest(struct heap *h, struct progress *progress, struct err *err)
{
	if (!h->references_wait)
		return read_waiting(h, progress, err);
	int code = read_saved(h, progress, err);
	if (code)
		keep_objects(h, err);
	return code;
}

/* The objects of an index are there; somebody who looks on wants the references as well. */
static int finish_saved(struct heap *h, const struct heap_options *options, struct progress *progress, struct err *err)
{
	const struct heap_watcher *w = options->watcher;
	progress_objects(progress, h->n_objects);
	if (options->index_later || options->references_later)
		return 0;
	if (w)
		build_show_heap(h, w);
	int code = heap_read_rest(h, progress, err);
	if (code && w && w->objects_gone)
		w->objects_gone(w->context);
	return code;
}

int heap_open(struct heap **out, const struct heap_options *options, struct progress *progress,
    struct err *err)
{
	struct heap_options own = *options;
	struct text why = TEXT_INIT;
	char *dump = NULL;
	*out = NULL;
	int code = index_file_open(out, options, &why, &dump, progress, err);
	if (!code && (code = finish_saved(*out, options, progress, err))) {
		heap_close(*out);
		*out = NULL;
	}
	if (code == 1) {
		own.path = dump ? dump : options->path;
		code = build_heap(out, &own, progress, err);
	}
	if (!code && why.len)
		(*out)->index_refused = arena_strndup(&(*out)->arena, why.s, why.len);
	text_release(&why);
	free(dump);
	return code;
}

void heap_close(struct heap *h)
{
	if (!h)
		return;
	if (h->rest)
		build_free(h->rest);
	adjacency_release(&h->out);
	adjacency_release(&h->in);
	weak_forget(h);
	big_free(h->class_low);
	big_free(h->class_high);
	big_free(h->typed_by);
	big_free(h->space_of);
	big_free(h->own_size);
	big_free(h->own_length);
	bits_release(&h->sized);
	big_free(h->in_frames);
	big_free(h->wide);
	big_free(h->odd);
	places_release(h->places);
	sites_free(h->sites);
	if (h->index)
		index_release(h->index);
	free(h->index);
	big_free(h->classes);
	big_free(h->classes_by_loader);
	big_free(h->loader_parents);
	big_free(h->roots);
	big_free(h->threads);
	big_free(h->threads_by_object);
	big_free(h->stated);
	big_free(h->parts);
	file_let_go(h->companion_hold);
	index_file_close(h->saved);
	process_free(h->process);
	struct source *source = h->dump_absent ? NULL : h->source; /* else it belongs to the dump */
	dump_close(h->dump);
	source_close(source);
	free(h->shown);
	arena_release(&h->arena);
	free(h);
}
