/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * render_lock.h - a lock for data that a worker changes for long while another thread (the screen) reads it in between.
 *
 * The reader waits until the worker offers a turn, and the worker until the reader is done.  A worker enters
 * and leaves on its own thread; while none is inside, a reader gets its turn at once.
 */
#ifndef CAIRN_BASE_RENDER_LOCK_H
#define CAIRN_BASE_RENDER_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct render_lock {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool working, looking;
	atomic_bool asked; /* a reader waits for a turn */
};

void render_lock_init(struct render_lock *t);
void render_lock_release(struct render_lock *t);

/* All of these do nothing if t is NULL: there is no reader. */
void render_lock_enter(struct render_lock *t); /* waits while a reader has its turn */
void render_lock_leave(struct render_lock *t);
/* A reader may have its turn here, if the calling thread has entered.  Costs nothing while none waits. */
void render_lock_offer(void);
/* For a while the calling thread uses nothing of it: leave what it has entered, if it has; render_lock_enter of what
 * this returns goes back. */
struct render_lock *render_lock_step_out(void);

/* Take a turn to read: wait so long at most.  False: none came.  After true, render_lock_give_back. */
bool render_lock_take(struct render_lock *t, unsigned ms);
void render_lock_give_back(struct render_lock *t);

#endif
