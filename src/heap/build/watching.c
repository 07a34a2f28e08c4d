/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * watching.c - the objects of a heap, shown while its references are still read.
 *
 * The loading thread shows a copy of the heap, without what it still writes; heap_publish puts the whole in its place.
 */
#include "heap/build/build.h"

#include "base/mem.h"

#include <stdlib.h>

/* What the loading thread still writes is empty in the copy.  An index brings all but the references at once. */
void build_show_heap(struct heap *h, const struct heap_watcher *w)
{
	if (!h->shown)
		h->shown = xcalloc(1, sizeof *h->shown);
	struct heap *s = h->shown;
	*s = *h;
	s->shown = NULL;
	s->arena = (struct arena)ARENA_INIT;
	s->out = s->in = (struct adjacency){ .target = NULL };
	s->soft_and_weak = s->weak = NULL;
	s->rest = NULL;
	s->references_wait = false;
	if (!h->settled)
		s->places = NULL, s->strings = NULL;
	if (!h->saved) {
		s->roots = NULL;
		s->threads = NULL;
		s->threads_by_object = s->in_frames = NULL;
		s->sites = NULL;
		s->parts = NULL;
		s->stated = NULL;
		s->n_roots = s->n_inferred_roots = s->n_in_frames = s->n_stated = 0;
		s->n_threads = s->n_parts = s->n_root_objects = 0;
	}
	w->objects_ready(w->context, s);
}

void build_show(struct build *b)
{
	b->shown = b->options->watcher != NULL;
	if (b->shown)
		build_show_heap(b->heap, b->options->watcher);
}

bool build_hide(struct build *b)
{
	const struct heap_watcher *w = b->options->watcher;
	bool shown = b->shown;
	if (shown && w->objects_gone)
		w->objects_gone(w->context);
	b->shown = false;
	return shown;
}

struct heap *heap_publish(struct heap *loaded)
{
	struct heap *shown = loaded->shown;
	if (!shown)
		return loaded;
	*shown = *loaded;
	shown->shown = NULL;
	free(loaded);
	return shown;
}
