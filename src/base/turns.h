/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * turns.h - a worker uses something for long, and somebody else looks at it now and then in between.
 *
 * Not both at once: whoever looks waits until the worker offers a turn, and the worker until the other has
 * looked.  A worker enters and leaves on its own thread; while none is in, a turn is there at once.
 */
#ifndef CAIRN_BASE_TURNS_H
#define CAIRN_BASE_TURNS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct turns {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool working, looking;
	atomic_bool asked; /* somebody waits for a turn */
};

void turns_init(struct turns *t);
void turns_release(struct turns *t);

/* All of these do nothing if t is NULL: nobody looks. */
void turns_enter(struct turns *t); /* waits while somebody looks */
void turns_leave(struct turns *t);
/* Where others may look in between, if the calling thread has entered.  Costs nothing while nobody wants to. */
void turns_offer(void);
/* For a while the calling thread uses nothing of it: leave what it has entered, if it has; turns_enter of what this
 * returns goes back. */
struct turns *turns_step_out(void);

/* Look: wait so long at most.  False: no turn came.  After true, turns_give_back. */
bool turns_take(struct turns *t, unsigned ms);
void turns_give_back(struct turns *t);

#endif
