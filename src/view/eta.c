/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * eta.c - see eta.h.
 *
 * The time shown runs like a clock and is drawn towards each new estimate, so that it does not jump
 * where the shares of the phases are not those of this dump.
 */
#include "view/eta.h"

#include <time.h>

#define FIRST_SECONDS 1.0 /* before that, and below this share, there is nothing to go by */
#define FIRST_SHARE 0.06
#define PULL 3.0          /* seconds in which two thirds of a wrong estimate are made good */

uint64_t eta_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

double eta_share(struct progress *progress)
{
	uint64_t done = atomic_load(&progress->done), total = atomic_load(&progress->total);

	if (total == 0 || atomic_load(&progress->again)) /* a share that began anew would run backwards */
		return -1;
	return done <= total ? (double)done / (double)total : -1; /* more than it said: nobody knows */
}

/* The share of the work, or of the phase alone, that is done; *steady: the phase tells how far it is. */
static double share_done(enum work work, enum phase phase, struct progress *progress, bool *steady)
{
	double all = 0, before = 0, share = eta_share(progress);

	*steady = share >= 0;
	if (work == WORK_ALONE)
		return share;
	for (enum phase i = PHASE_NONE; i < PHASES; i++) {
		if (phase_info[i].work != work || (phase_info[i].announced && !progress_expected(progress, i)))
			continue;
		all += phase_info[i].share;
		if (i < phase)
			before += phase_info[i].share;
		else if (i == phase && share > 0)
			before += share * phase_info[i].share;
	}
	return before / all;
}

static void look(struct eta *p, struct progress *progress, uint64_t now)
{
	bool steady;
	double done = share_done(p->work, p->phase, progress, &steady);
	double seconds = (double)(now - p->began) / 1e9, passed = (double)(now - p->told) / 1e9;
	double clock = p->left - passed;

	p->told = now;
	if (!steady || done < FIRST_SHARE || seconds < FIRST_SECONDS) {
		/* on with the clock, as long as it runs */
		p->left = p->left >= 0 && clock > 0 ? clock : -1;
		return;
	}
	double estimate = seconds * (1 - done) / done;
	if (p->left < 0) {
		p->left = estimate;
		return;
	}
	double pull = passed / PULL < 1 ? passed / PULL : 1;
	p->left = clock + (estimate - clock) * pull;
	if (p->left < 0)
		p->left = 0;
}

static void add_left(struct eta *p, struct progress *progress, uint64_t now, struct text *to)
{
	look(p, progress, now);
	if (p->left < 0)
		return;
	if (p->left < 90)
		text_addf(to, ", %.0f s left", p->left < 1 ? 1 : p->left);
	else
		text_addf(to, ", %.0f min left", p->left / 60);
}

static void begin(struct eta *p, enum work work, uint64_t now)
{
	*p = (struct eta){.work = work, .began = now, .left = -1, .told = now};
}

/* Until the phase is done: which ones follow nobody knows. */
static void add_phase(struct eta *p, struct progress *progress, uint64_t now, struct text *to)
{
	enum phase phase = atomic_load(&progress->phase);

	if (phase == PHASE_NONE)
		return;
	if (phase != p->phase)
		begin(p, WORK_ALONE, now);
	p->phase = phase;
	add_left(p, progress, now, to);
}

void eta_add_left(struct eta *p, struct progress *progress, uint64_t now, struct text *to)
{
	enum phase phase = atomic_load(&progress->phase);
	enum work work = phase_info[phase].work;

	if (work == WORK_ALONE) {
		add_phase(p, progress, now, to);
		return;
	}
	if (p->phase == PHASE_NONE || work != p->work)
		begin(p, work, now);
	p->phase = phase;
	add_left(p, progress, now, to);
}

void eta_add_share(struct progress *progress, struct text *to)
{
	double share = eta_share(progress);

	if (share >= 0.005) /* before that the phase says more than 0 % */
		text_addf(to, " %.0f%%", share * 100);
	progress_add_came(progress, to);
}

void eta_add_state(struct eta *p, struct progress *progress, struct text *to)
{
	eta_add_share(progress, to);
	eta_add_left(p, progress, eta_now(), to);
}
