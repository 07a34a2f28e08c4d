/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * saved_state.h - what is restored when a dump is opened again: marks, notes, kept sets, chosen columns, and the last
 * place.
 *
 * A file for each dump, $XDG_STATE_HOME/cairn/dumps/SIZE-TIME (else ~/.local/state), mode 0600, of lines; a dump
 * is known by its size and the time of its last change.  Nothing is written before something was marked, noted or
 * kept.  What cannot be read or written is silently not kept, as the history.  Main thread only.
 */
#ifndef CAIRN_VIEW_SAVED_STATE_H
#define CAIRN_VIEW_SAVED_STATE_H

#include "opened/opened.h"

#define MARK_LETTERS "abcdefghijklmnopqrstuvwxyz'" /* ' is the place of the last session */
#define MARKS (sizeof MARK_LETTERS - 1)

/* A row of a view. */
struct mark {
	char *line;  /* the view's command line; NULL: no mark */
	uint32_t id; /* the row's object, or HEAP_NONE */
	size_t row;  /* where it stood */
};

struct saved_state {
	struct mark mark[MARKS]; /* by MARK_LETTERS */
	char *path;              /* of the file; NULL: none can be */
	bool existed;
};

/* Find the file of the dump at this path, and take from it what is there: marks, and the dump's notes and sets. */
void saved_state_read(struct saved_state *k, const char *dump, struct opened *o);
/* Write all of it, or take the file away when there is nothing any more. */
void saved_state_write(const struct saved_state *k, const struct opened *o);
void saved_state_release(struct saved_state *k);

#endif
