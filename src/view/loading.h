/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loading.h - reads the dump on a thread of its own while the screen draws.
 *
 * Three things can be learnt: the objects are there (the histogram is true, references are not),
 * all is there, or it failed.  A heap that was shown early may be taken away again; then the
 * loading thread waits until loader_let_go().  All functions: main thread.
 */
#ifndef CAIRN_VIEW_LOADING_H
#define CAIRN_VIEW_LOADING_H

#include "algorithms/parallel.h"
#include "base/text.h"
#include "heap/open.h"
#include "view/draw.h"
#include "view/eta.h"

#include <semaphore.h>
#include <stdatomic.h>

enum loader_event { LOADER_EARLY = 1, LOADER_GONE = 2, LOADER_DONE = 4 };

struct loader {
	struct heap_options options;
	struct heap_watcher watcher;
	struct job job;
	int wake[2];
	_Atomic(const struct heap *) early; /* set by the loading thread */
	atomic_bool gone;
	struct heap_need need;              /* set by the loading thread, before need_known */
	atomic_bool need_known;
	sem_t let_go;
	struct heap *heap;                  /* once done; owned until somebody takes it */
	bool told_early, told_gone, finished;
	uint64_t started;                   /* ns */
	struct eta pace;
};

MUST_CHECK int loader_start(struct loader *l, const struct heap_options *options, struct err *err);
int loader_fd(const struct loader *l);

/* What happened since the last call, as bits of loader_event. */
unsigned loader_poll(struct loader *l);

/* The screen does not use the early heap any more. */
void loader_let_go(struct loader *l);

/* Cancel and wait; nothing may look at the heap any more.  The heap, if there is one, is closed. */
/* Is it at the bytes of a pipe?  They are of use before all came. */
bool loader_reads_pipe(struct loader *l);
void loader_close(struct loader *l);

uint64_t loader_age_ms(const struct loader *l);

/* The whole page while nothing else can be shown. */
void loader_draw(struct loader *l, struct rect at);
/* "references 41%, 2 s left" */
void loader_word(struct loader *l, struct text *to);

#endif
