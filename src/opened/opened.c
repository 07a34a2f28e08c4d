/* SPDX-License-Identifier: GPL-3.0-or-later */
/* opened.c - see opened.h: what is not found (findings.c).  Main thread only. */
#include "opened/opened.h"

#include "algorithms/chunks.h"
#include "base/mem.h"
#include "base/text.h"
#include "dump/lazy_dump.h"
#include "dump/reader.h"
#include "dump/source/source.h"
#include "heap/heap.h"
#include "heap/index_file/index_file.h"
#include "heap/open.h"
#include "heap/value.h"
#include "heap/weak.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void opened_settle_model(struct opened *o)
{
	o->model = (struct model){.heap = o->heap, .left_out = o->counts_weak ? NULL : o->heap->weak};
}

struct opened *opened_new(const struct heap *heap)
{
	struct opened *o = xcalloc(1, sizeof *o);
	o->heap = heap;
	o->counts_weak = heap->asked.mat_sizes;
	opened_settle_model(o);
	return o;
}

void opened_own(struct opened *o, struct heap *heap)
{
	o->own = heap;
	opened_settle_model(o);
}

const char *opened_note(const struct opened *o, uint32_t id)
{
	for (size_t i = 0; i < o->n_notes; i++) {
		if (o->notes[i].id == id)
			return o->notes[i].text;
	}
	return NULL;
}

void opened_write_note(struct opened *o, uint32_t id, const char *text)
{
	size_t kept = 0;
	for (size_t i = 0; i < o->n_notes; i++) {
		if (o->notes[i].id == id)
			free(o->notes[i].text);
		else
			o->notes[kept++] = o->notes[i];
	}
	o->n_notes = kept;
	if (text)
		VEC_PUSH(o->notes, o->n_notes, o->cap_notes) = (struct note){id, xstrdup(text)};
}

const char *opened_columns(const struct opened *o, const char *kind)
{
	for (size_t i = 0; o && kind && i < o->n_columns; i++) {
		if (!strcmp(o->columns[i].kind, kind))
			return o->columns[i].names;
	}
	return NULL;
}

void opened_choose_columns(struct opened *o, const char *kind, const char *names)
{
	struct chosen_columns chosen = {names ? xstrdup(kind) : NULL, names ? xstrdup(names) : NULL};
	size_t kept = 0;
	for (size_t i = 0; i < o->n_columns; i++) {
		if (strcmp(o->columns[i].kind, kind)) {
			o->columns[kept++] = o->columns[i];
			continue;
		}
		free(o->columns[i].kind);
		free(o->columns[i].names);
	}
	o->n_columns = kept;
	if (names)
		VEC_PUSH(o->columns, o->n_columns, o->cap_columns) = chosen;
}

void opened_free(struct opened *o)
{
	if (!o)
		return;
	opened_forget(o, true);
	name_index_free(o->names);
	for (size_t i = 0; i < o->n_sets; i++) {
		free(o->sets[i].name);
		big_free(o->sets[i].ids);
	}
	free(o->sets);
	for (size_t i = 0; i < o->n_notes; i++)
		free(o->notes[i].text);
	free(o->notes);
	for (size_t i = 0; i < o->n_columns; i++) {
		free(o->columns[i].kind);
		free(o->columns[i].names);
	}
	free(o->columns);
	heap_close(o->own);
	free(o);
}

/* --- the file ----------------------------------------------------------------------------------- */

static enum file_fate lost(struct opened *o, const char *path, uint64_t from)
{
	err_at(&o->fate_words, ERR_IO, from, "%s: the file shrank or is unreadable from byte %" PRIu64 " on: "
	    "values and strings there are missing; objects, sizes and references are complete", path, from);
	return FILE_LOST;
}

static enum file_fate changed(struct opened *o, const char *path)
{
	err_set(&o->fate_words, ERR_IO, "%s: the file was changed after loading: values and strings may be wrong", path);
	return FILE_CHANGED;
}

static enum file_fate index_lost(struct opened *o)
{
	struct text path = TEXT_INIT;
	text_add_escaped(&path, o->heap->index_path, strlen(o->heap->index_path));
	err_set(&o->fate_words, ERR_IO, "%.300s: this index was changed while in use, so no answer is valid (open "
	    "the dump again)", path.s);
	text_release(&path);
	return FILE_INDEX_LOST;
}

/* Could its bytes, which were left for later, not be had? */
static bool bytes_failed(struct opened *o)
{
	struct err why;
	if (!o->own || !lazy_dump_failed(o->heap->dump, &why))
		return false;
	err_at(&o->fate_words, ERR_IO, 0, "%s: values and strings are missing; objects, sizes and references are "
	    "complete",
	    why.message);
	return true;
}

bool opened_lose_values(struct opened *o)
{
	const struct heap *h = o->heap;
	if (!o->own || !lazy_dump_failed(h->dump, NULL) || (!values_held(h) && !h->facts.hashes_recorded))
		return false;
	heap_lose_values(o->own);
	return true;
}

enum file_fate opened_look(struct opened *o)
{
	const struct heap *h = o->heap;
	uint64_t from;
	if (o->fate == FILE_INDEX_LOST)
		return o->fate;
	if (o->own && index_file_chunks(h) && chunks_changed(index_file_chunks(h)))
		return o->fate = index_lost(o);
	if (o->fate != FILE_LOST && bytes_failed(o))
		return o->fate = FILE_LOST;
	/* while it is read the loader looks; a format without values is not read again */
	if (!o->own || !h->source || !h->dump || !h->dump->reader->locate)
		return FILE_SAME;
	bool gone = source_damage(h->source, &from);
	bool told = gone ? (o->fate == FILE_LOST && o->fate_words.offset <= from) ||
	        (h->damaged && h->damage.code == ERR_IO && h->damage.offset <= from) /* by the loader */
	                 : o->fate != FILE_SAME || !source_changed(h->source);
	if (told)
		return o->fate;
	struct text path = TEXT_INIT;
	text_add_escaped(&path, h->source->path, strlen(h->source->path));
	o->fate = gone ? lost(o, path.s, from) : changed(o, path.s);
	text_release(&path);
	return o->fate;
}

int opened_references(const struct opened *o, struct err *err)
{
	const struct heap *h = o->heap;
	if (h->no_references)
		return err_set(err, ERR_NOMEM, "the references did not fit: %s", h->shortage.message);
	if (!h->out.offset || (!h->in.offset && !h->referrers_wait))
		return err_set(err, ERR_UNSUPPORTED, "still reading references");
	return 0;
}

const struct name_index *opened_names(struct opened *o, struct err *err)
{
	if (o->names && o->names->n != o->heap->n_classes) {
		name_index_free(o->names);
		o->names = NULL;
	}
	if (!o->names)
		o->names = name_index_new(o->heap, err);
	return o->names;
}

/* --- the model ---------------------------------------------------------------------------------- */

int opened_may_count_weak(const struct opened *o, struct err *err)
{
	int code = opened_references(o, err);
	return code ? code : weak_told(o->heap, err);
}

bool opened_counts_weak(const struct opened *o)
{
	return o->counts_weak || !weak_known(o->heap);
}

int opened_count_weak(struct opened *o, bool counts, struct err *err)
{
	if (counts == opened_counts_weak(o))
		return 0;
	int code = opened_may_count_weak(o, err);
	if (code)
		return code;
	opened_forget(o, false);
	o->counts_weak = counts;
	opened_settle_model(o);
	return 0;
}
