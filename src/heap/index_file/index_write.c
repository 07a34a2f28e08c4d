/* SPDX-License-Identifier: GPL-3.0-or-later */
/* index_write.c - a heap to chunks; see saved.h. */
#include "heap/index_file/saving.h"

#include "algorithms/chunks.h"
#include "base/files.h"
#include "dump/lazy_dump.h"
#include "dump/reader.h"
#include "dump/source/source.h"
#include "heap/heap.h"
#include "heap/index.h"
#include "heap/index_file/index_file.h"
#include "heap/places.h"
#include "memory/big.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

int index_file_may(const struct heap *h, struct err *err)
{
	if (h->dump_absent)
		return err_set(err, ERR_UNSUPPORTED, "cannot write an index: only the index of the dump is "
		    "present");
	if (lazy_dump_failed(h->dump, NULL))
		return err_set(err, ERR_UNSUPPORTED, "cannot write an index: the dump cannot be read");
	if (!h->source || !h->dump || h->no_references)
		return err_set(err, h->no_references ? ERR_NOMEM : ERR_UNSUPPORTED,
		    "cannot write an index: the references did not fit into memory");
	if (source_changed(h->source) || source_damage(h->source, &(uint64_t){ 0 }))
		return err_set(err, ERR_UNSUPPORTED, "cannot write an index: the dump has changed since it was "
		    "read (open it again)");
	if (!classes_end(h, err))
		return err_set(err, ERR_UNSUPPORTED, "cannot write an index: superclasses in the dump form a "
		    "cycle, so it is damaged");
	return 0;
}

static int write_packed(struct chunks_writer *w, struct pack *p, const char *numbers, const char *texts,
    struct err *err)
{
	int code = pack_written(p, err);
	if (!code)
		code = chunks_add(w, numbers, p->out, p->n, err);
	if (!code)
		code = chunks_add(w, texts, p->text, p->n_text, err);
	pack_release(p);
	return code;
}

static int write_key(const struct heap *h, bool nameless, struct chunks_writer *w, struct err *err)
{
	struct index_file_key k;
	struct pack p = { .reading = false };
	if (h->source->n_pieces && source_fd(h->source) >= 0)
		return err_set(err, ERR_UNSUPPORTED, "%.200s consists of several parts, and an index needs a "
		    "single file", h->source->path);
	char *path = file_real_path(h->source->path);
	int code = key_of_dump(&k, h->source, path, &h->asked, err);
	if (code) {
		free(path);
		return code;
	}
	if (nameless)
		k = (struct index_file_key){ .version = k.version, .program = k.program, .path = "left-out", .member = "",
			.mat_sizes = k.mat_sizes, .heap_number = k.heap_number, .nameless = 1 };
	pack_key(&p, &k);
	free(path);
	return write_packed(w, &p, "key", "key_texts", err);
}

static int write_reader(const struct heap *h, struct chunks_writer *w, struct err *err)
{
	struct pack p = { .reading = false };
	if (!h->dump->reader->keep)
		return 0;
	int code = h->dump->reader->keep(h->dump, &p, err);
	if (!code)
		return write_packed(w, &p, "reader", "reader_texts", err);
	pack_release(&p);
	return code;
}

static int write_symbols(const struct heap *h, struct nameless *names, struct chunks_writer *w, struct err *err)
{
	struct pack p = { .reading = false };
	if (!h->dump->reader->symbol)
		return 0;
	pack_symbols(&p, (struct heap *)(uintptr_t)h, names, err);
	if (!p.bad)
		return write_packed(w, &p, "symbols", "symbol_texts", err);
	pack_release(&p);
	return err_cancelled(err);
}

/* The store without the room that records of one address leave, so that its pages follow from their numbers. */
static int write_store(const struct address_index *x, struct chunks_writer *w, struct err *err)
{
	enum { PAGE_BYTES = INDEX_PAGE_WORDS * 10 };
	uint8_t *store = big_alloc(x->store_size, 1, err);
	uint64_t n = 0;
	for (uint32_t i = 0; store && i < x->n_pages; i++) {
		const struct index_page *p = &x->pages[i];
		if (p->bits)
			memcpy(store + n, p->bits, PAGE_BYTES);
		else if (p->n_objects)
			memcpy(store + n, p->list, (uint64_t)p->n_objects * 2);
		n += p->bits ? PAGE_BYTES : ((uint64_t)p->n_objects * 2 + 7) & ~UINT64_C(7);
	}
	int code = store ? chunks_add(w, "addresses", store, n, err) : ERR_NOMEM;
	big_free(store);
	return code;
}

static int write_adjacency(const struct adjacency *a, uint32_t n, const char *const names[4],
    struct chunks_writer *w, struct err *err)
{
	int code = chunks_add(w, names[0], a->base, adjacency_blocks(n) * sizeof *a->base, err);
	if (!code)
		code = chunks_add(w, names[1], a->wide, big_bytes(a->wide), err);
	if (!code)
		code = chunks_add(w, names[2], a->offset, ((uint64_t)n + 1) * sizeof *a->offset, err);
	return code ? code : chunks_add(w, names[3], a->target, a->n * sizeof *a->target, err);
}

static int write_places(const struct places *p, struct chunks_writer *w, struct err *err)
{
	int code = p ? chunks_add_numbers(w, "places", p->offset, p->n_offsets, sizeof *p->offset, true, err) : 0;
	if (!code && p && p->numbers)
		code = chunks_add_numbers(w, "place_numbers", p->numbers, p->n_numbers, sizeof *p->numbers, true, err);
	else if (!code && p)
		code = chunks_add(w, "place_runs", p->runs, p->n_runs * sizeof *p->runs, err);
	return code;
}

static int write_sizes(const struct heap *h, struct chunks_writer *w, struct err *err)
{
	int code = chunks_add(w, "sized", h->sized.word, ((uint64_t)h->n_objects + 63) / 64 * 8, err);
	if (!code && h->own_size)
		code = chunks_add_numbers(w, "own_size", h->own_size, h->n_sized, sizeof *h->own_size, false, err);
	if (!code && h->own_length)
		code = chunks_add_numbers(w, "own_length", h->own_length, h->n_sized, sizeof *h->own_length, false, err);
	if (!code)
		code = chunks_add(w, "wide", h->wide, h->n_wide * sizeof *h->wide, err);
	return code ? code : chunks_add(w, "odd", h->odd, h->n_odd * sizeof *h->odd, err);
}

int index_file_write(const struct heap *h, struct nameless *names, struct chunks_writer *w, struct err *err)
{
	static const char *const out[] = {"out_base", "out_wide", "out_offset", "out_target"};
	static const char *const in[] = {"in_base", "in_wide", "in_offset", "in_target"};
	struct pack p = { .reading = false };
	int code = write_key(h, names, w, err);
	if (!code && !names)
		code = write_reader(h, w, err);
	if (!code)
		code = write_symbols(h, names, w, err);
	if (code)
		return code;
	pack_heap(&p, (struct heap *)(uintptr_t)(names ? nameless_heap(names) : h), err);
	code = write_packed(w, &p, "heap", "heap_texts", err);
	if (!code)
		code = chunks_add(w, "class_low", h->class_low, 2 * (uint64_t)h->n_objects, err);
	if (!code && h->class_high)
		code = chunks_add(w, "class_high", h->class_high, 2 * (uint64_t)h->n_objects, err);
	if (!code && h->typed_by)
		code = chunks_add(w, "typed_by", h->typed_by, h->n_objects, err);
	if (!code && h->n_spaces)
		code = chunks_add(w, "space_of", h->space_of, h->n_objects, err);
	if (!code)
		code = write_store(h->index, w, err);
	if (!code)
		code = write_sizes(h, w, err);
	if (!code && !names)
		code = write_places(h->places, w, err);
	if (code || w->packed)
		return code ? code : packed_references_write(h, w, err);
	code = write_adjacency(&h->out, h->n_objects, out, w, err);
	return code ? code : write_adjacency(&h->in, h->n_objects, in, w, err);
}
