/* SPDX-License-Identifier: GPL-3.0-or-later */
/* loading.h - long works while standard error tells how far they are. */
#ifndef CAIRN_COMMAND_SESSION_LOADING_H
#define CAIRN_COMMAND_SESSION_LOADING_H

#include "base/parallel.h"
#include "heap/heap.h"

enum progress_wish { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

/* heap_open beside a progress line.  Main thread only. */
int heap_open_watched(struct heap **out, const struct heap_options *options,
    enum progress_wish wish, struct err *err);
/* Any other long work likewise. */
int work_watched(long_work *work, void *argument, enum progress_wish wish, struct err *err);

#endif
