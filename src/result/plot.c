/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plot.c - see plot.h. */
#include "result/plot.h"

#include <string.h>

/* In the order of what they say of a column that several points share. */
static const char *const points[] = {PLOT_ABSENT, "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587",
    "\u2588", PLOT_UNKNOWN};
enum { ABSENT, LOWEST, LEVELS = 8, UNKNOWN_POINT = LOWEST + LEVELS };

static double part(uint64_t n, uint64_t most)
{
	return most ? (double)n / (double)most : 0;
}

void plot_add(struct text *to, uint64_t n, uint64_t most)
{
	text_add(to, points[LOWEST + (unsigned)(part(n, most) * (LEVELS - 1) + 0.5)]);
}

void plot_add_amount(struct text *to, struct amount amount, uint64_t most)
{
	if (amount.certainty == UNKNOWN)
		text_add(to, PLOT_UNKNOWN);
	else if (!amount.n)
		text_add(to, PLOT_ABSENT);
	else
		plot_add(to, amount.n, most);
}

static unsigned point_at(const char *s, size_t *bytes)
{
	unsigned i = UNKNOWN_POINT;
	while (i > ABSENT && strncmp(s, points[i], strlen(points[i])) != 0)
		i--;
	size_t n = strlen(points[i]);
	*bytes = strncmp(s, points[i], n) == 0 ? n : 1; /* whatever else stands there is nothing */
	return i;
}

void plot_squeeze(struct text *to, const char *plot, size_t columns)
{
	size_t n = 0, at = 0, bytes;
	for (const char *s = plot; *s; s += bytes, n++)
		point_at(s, &bytes);
	if (n < columns)
		columns = n;
	for (size_t i = 1; i <= columns; i++) {
		unsigned highest = ABSENT;
		for (; at < n * i / columns; at++, plot += bytes) {
			unsigned point = point_at(plot, &bytes);
			highest = point > highest ? point : highest;
		}
		text_add(to, points[highest]);
	}
}

void plot_add_ascii(struct text *to, const char *plot)
{
	for (size_t bytes; *plot; plot += bytes)
		text_add_char(to, "_12345678?"[point_at(plot, &bytes)]);
}

static const char *const eighths[] = {"", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589"};
#define FULL points[LOWEST + LEVELS - 1]

void plot_add_ascii_bar(struct text *to, const char *bar)
{
	for (; strncmp(bar, FULL, strlen(FULL)) == 0; bar += strlen(FULL))
		text_add_char(to, '#');
	for (size_t i = 4; i < 8; i++)
		text_add(to, strcmp(bar, eighths[i]) == 0 ? "#" : "");
}

void plot_add_bar(struct text *to, uint64_t n, uint64_t most, size_t columns)
{
	size_t filled = (size_t)(part(n, most) * (double)columns * 8 + 0.5);
	for (size_t i = 0; i < filled / 8; i++)
		text_add(to, FULL);
	text_add(to, n && !filled ? eighths[1] : eighths[filled % 8]);
}
