/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * turns.h - a lock for data that a worker changes for long while another thread (the screen) reads it in between.
 *
 * The reader waits until the worker offers a turn, and the worker until the reader is done.  A worker enters
 * and leaves on its own thread; while none is inside, a reader gets its turn at once.
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
	atomic_bool asked; /* a reader waits for a turn */
};

void turns_init(struct turns *t);
void turns_release(struct turns *t);

/* All of these do nothing if t is NULL: there is no reader. */
void turns_enter(struct turns *t); /* waits while a reader has its turn */
void turns_leave(struct turns *t);
/* A reader may have its turn here, if the calling thread has entered.  Costs nothing while none waits. */
void turns_offer(void);
/* For a while the calling thread uses nothing of it: leave what it has entered, if it has; turns_enter of what this
 * returns goes back. */
struct turns *turns_step_out(void);

/* Take a turn to read: wait so long at most.  False: none came.  After true, turns_give_back. */
bool turns_take(struct turns *t, unsigned ms);
void turns_give_back(struct turns *t);

#endif
