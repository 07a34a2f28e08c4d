/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pace.c - see pace.h.
 *
 * What is told runs like a clock and is drawn towards each new estimate, so that it does not jump
 * where a plan's shares are not those of this dump.
 */
#include "view/pace.h"

#include <string.h>
#include <time.h>

#define FIRST_SECONDS 1.0 /* before that, and below this share, there is nothing to go by */
#define FIRST_SHARE 0.06
#define PULL 3.0          /* seconds in which two thirds of a wrong estimate are made good */

uint64_t pace_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

double pace_share(struct progress *progress)
{
	uint64_t done = atomic_load(&progress->done), total = atomic_load(&progress->total);

	if (total == 0)
		return -1;
	return done < total ? (double)done / (double)total : 1;
}

static const struct pace_phase *plan_of(const struct pace_phase *const *plans, const char *phase)
{
	for (; *plans; plans++)
		for (const struct pace_phase *p = *plans; p->name; p++)
			if (strcmp(p->name, phase) == 0)
				return *plans;
	return NULL;
}

/* The share of the plan that is done; *steady: the phase tells how far it is. */
static double share_done(
    const struct pace_phase *plan, const char *phase, struct progress *progress, bool *steady)
{
	double all = 0, before = 0, own = 0, share = pace_share(progress);
	bool found = false;

	for (const struct pace_phase *p = plan; p->name; p++) {
		bool here = strcmp(p->name, phase) == 0;
		if (here)
			own = p->weight;
		found = found || here;
		before += found ? 0 : p->weight;
		all += p->weight;
	}
	*steady = share >= 0;
	return (before + (share > 0 ? share : 0) * own) / all;
}

static void look(struct pace *p, const char *phase, struct progress *progress, uint64_t now)
{
	bool steady;
	double done = share_done(p->plan, phase, progress, &steady);
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

static void add_left(struct pace *p, const char *phase, struct progress *progress, uint64_t now,
    struct text *to)
{
	look(p, phase, progress, now);
	if (p->left < 0)
		return;
	if (p->left < 90)
		text_addf(to, ", %.0f s left", p->left < 1 ? 1 : p->left);
	else
		text_addf(to, ", %.0f min left", p->left / 60);
}

void pace_add_left(struct pace *p, const struct pace_phase *const *plans, struct progress *progress,
    uint64_t now, struct text *to)
{
	const char *phase = atomic_load(&progress->phase);
	const struct pace_phase *plan = phase ? plan_of(plans, phase) : NULL;

	if (!plan)
		return;
	if (plan != p->plan)
		*p = (struct pace){.plan = plan, .began = now, .left = -1, .told = now};
	add_left(p, phase, progress, now, to);
}

void pace_add_phase(struct pace *p, const char *phase, struct progress *progress, uint64_t now,
    struct text *to)
{
	if (!p->plan || strcmp(p->alone[0].name, phase) != 0) {
		*p = (struct pace){.alone = {{phase, 1}}, .began = now, .left = -1, .told = now};
		p->plan = p->alone;
	}
	add_left(p, phase, progress, now, to);
}
