/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * render_lock.c - see render_lock.h.  Any thread; one worker and one that looks.
 */
#include "base/render_lock.h"

#include "base/assert.h"

#include <errno.h>
#include <time.h>

void render_lock_init(struct render_lock *t)
{
	pthread_condattr_t attributes;

	pthread_mutex_init(&t->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&t->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	t->working = t->looking = false;
	atomic_init(&t->asked, false);
}

void render_lock_release(struct render_lock *t)
{
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
}

static _Thread_local struct render_lock *own;

static void begin_work(struct render_lock *t)
{
	while (t->looking)
		pthread_cond_wait(&t->changed, &t->lock);
	t->working = true;
}

static void end_work(struct render_lock *t)
{
	t->working = false;
	pthread_cond_broadcast(&t->changed);
}

void render_lock_enter(struct render_lock *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	cairn_assert(!t->working);
	begin_work(t);
	pthread_mutex_unlock(&t->lock);
	own = t;
}

void render_lock_leave(struct render_lock *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	end_work(t);
	pthread_mutex_unlock(&t->lock);
	own = NULL;
}

void render_lock_offer(void)
{
	struct render_lock *t = own;

	if (!t || !atomic_load_explicit(&t->asked, memory_order_relaxed))
		return;
	pthread_mutex_lock(&t->lock);
	end_work(t);
	while (atomic_load(&t->asked))
		pthread_cond_wait(&t->changed, &t->lock);
	begin_work(t);
	pthread_mutex_unlock(&t->lock);
}

struct render_lock *render_lock_step_out(void)
{
	struct render_lock *t = own;

	render_lock_leave(t);
	return t;
}

bool render_lock_take(struct render_lock *t, unsigned ms)
{
	struct timespec until;
	bool given;

	if (!t)
		return true;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&t->lock);
	atomic_store(&t->asked, true);
	while (t->working && pthread_cond_timedwait(&t->changed, &t->lock, &until) != ETIMEDOUT)
		continue;
	given = !t->working;
	t->looking = given;
	atomic_store(&t->asked, false);
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
	return given;
}

void render_lock_give_back(struct render_lock *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->looking = false;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}
