/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tour.h - a tour of two minutes through the sample: what to look at, and the next key.
 *
 * The tour only watches: a step is done when the view that it names is shown, by whatever key.  Main thread only.
 */
#ifndef CAIRN_VIEW_TOUR_H
#define CAIRN_VIEW_TOUR_H

#include "base/text.h"

struct tour {
	bool on;
	unsigned step; /* from 0 */
};

/* A view is shown that answers this command line. */
void tour_look(struct tour *t, const char *line);
/* Append what the tour says now, "3/8 …"; nothing if there is none. */
void tour_says(const struct tour *t, struct text *to);

#endif
