/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names.h - the one rule by which names are shortened: packages to their first letters, then without packages; a simple
 * name, field or frame stays whole as long as there is room for it.  Then the steps in the middle of a path.
 *
 * Pure functions, any thread.
 */
#ifndef CAIRN_VIEW_NAMES_H
#define CAIRN_VIEW_NAMES_H

#include "base/text.h"

/* Append s, with the packages of all names in it shortened no more than it takes to fit into so many columns:
 * "com.acme.shop.Order[]", "c.a.s.Order[]", "Order[]"; of Go "github.com/acme/shop.Order", "shop.Order", and
 * "goroutine 10" is "g10".  What then does not fit is left to whoever draws it. */
void names_fit(const char *s, int width, struct text *to);
/* The same; of a path that does not fit even so, what it begins with and its last steps are kept:
 * "static Log.ENTRIES > … > key", "Log.ENTRIES…key", "ENTRIES…key"; of a branch of the tree its label:
 * "static Log.ENTRIES  ArrayList", "static Log.ENTRIES"; of a local its frame, rather than its thread. */
void names_fit_path(const char *s, int width, struct text *to);
/* Of names that are joined, whole ones: 'Log.ALL + a local of thread "w"' without its frame, "Log.ALL + a local",
 * "Log.ALL + 1 more"; "static Log · 60" is "static Log".  False: names_fit is enough, they are not joined, or
 * nothing fits; then nothing is appended. */
bool names_fit_joined(const char *s, int width, struct text *to);

#endif
