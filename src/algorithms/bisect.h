/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bisect.h - binary search in whatever is sorted. */
#ifndef CAIRN_ALGORITHMS_BISECT_H
#define CAIRN_ALGORITHMS_BISECT_H

#include <stdint.h>

/*
 * Set `at` to the first place of 0 … count-1 where `below`, an expression in `at`, is false, or to
 * count when it is true everywhere.  It must be true for some first places and false for the rest:
 *     uint32_t at;
 *     BISECT(at, n, list[at].key < key);
 *     return at < n && list[at].key == key ? &list[at] : NULL;
 */
#define BISECT(at, count, below)                                                                   \
	do {                                                                                       \
		uint64_t low_ = 0, high_ = (count);                                                \
		while (low_ < high_) {                                                             \
			(at) = (__typeof__(at))(low_ + (high_ - low_) / 2);                        \
			if (below)                                                                 \
				low_ = (uint64_t)(at) + 1;                                         \
			else                                                                       \
				high_ = (at);                                                      \
		}                                                                                  \
		(at) = (__typeof__(at))low_;                                                       \
	} while (0)

#endif
