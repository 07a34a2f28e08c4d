/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kept.h - what is restored when a dump is opened again: marks, notes, kept sets, chosen columns, and the last
 * place.
 *
 * A file for each dump, $XDG_STATE_HOME/cairn/dumps/SIZE-TIME (else ~/.local/state), mode 0600, of lines; a dump
 * is known by its size and the time of its last change.  Nothing is written before something was marked, noted or
 * kept.  What cannot be read or written is silently not kept, as the history.  Main thread only.
 */
#ifndef CAIRN_VIEW_KEPT_H
#define CAIRN_VIEW_KEPT_H

#include "opened/opened.h"

#define MARK_LETTERS "abcdefghijklmnopqrstuvwxyz'" /* ' is the place of the last session */
#define MARKS (sizeof MARK_LETTERS - 1)

/* A row of a view. */
struct mark {
	char *line;  /* the view's command line; NULL: no mark */
	uint32_t id; /* the row's object, or HEAP_NONE */
	size_t row;  /* where it stood */
};

struct kept {
	struct mark mark[MARKS]; /* by MARK_LETTERS */
	char *path;              /* of the file; NULL: none can be */
	bool existed;
};

/* Find the file of the dump at this path, and take from it what is there: marks, and the dump's notes and sets. */
void kept_read(struct kept *k, const char *dump, struct opened *o);
/* Write all of it, or take the file away when there is nothing any more. */
void kept_write(const struct kept *k, const struct opened *o);
void kept_release(struct kept *k);

#endif
