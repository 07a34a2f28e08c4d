/* SPDX-License-Identifier: GPL-3.0-or-later */
/* epoch.c - see epoch.h. */
#include "analysis/describe/epoch.h"

#include <ctype.h>
#include <string.h>

#define BEGIN INT64_C(946684800)        /* 2000-01-01T00:00:00Z */
#define END_UNKNOWN INT64_C(2524607999) /* 2049-12-31T23:59:59Z */

enum { YEARS_MORE = 10, CREATED_FIRST = 2000, CREATED_LAST = 2200 };

static const int64_t units[EPOCH_UNITS] = {1, 1000, 1000000, 1000000000}; /* of a second */

/* Days since 1970-01-01, counted in eras of 400 years that begin in March. */
static int64_t days_of(int64_t year, unsigned month, unsigned day)
{
	year -= month <= 2;
	int64_t era = (year >= 0 ? year : year - 399) / 400;
	unsigned of_era = (unsigned)(year - era * 400);
	unsigned of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
	return era * 146097 + (int64_t)(of_era * 365 + of_era / 4 - of_era / 100 + of_year) - 719468;
}

static unsigned days_in(unsigned year, unsigned month)
{
	static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return days[month - 1] + (month == 2 && leap);
}

/* n digits, and the character behind them, which is one of these; "": whatever it is, it is left. */
static bool take(const char **s, unsigned n, const char *behind, unsigned *out)
{
	*out = 0;
	for (unsigned i = 0; i < n; i++, ++*s) {
		if (!isdigit((unsigned char)**s))
			return false;
		*out = *out * 10 + (unsigned)(**s - '0');
	}
	if (*behind && (!**s || !strchr(behind, *(*s)++)))
		return false;
	return true;
}

/* ".25": up to nine digits of a second. */
static bool take_fraction(const char **s, uint32_t *nanos)
{
	size_t digits = **s == '.' ? strspn(*s + 1, "0123456789") : 0;
	*nanos = 0;
	if (**s != '.')
		return true;
	for (size_t i = 1; i <= 9; i++)
		*nanos = *nanos * 10 + (i <= digits ? (uint32_t)((*s)[i] - '0') : 0);
	*s += 1 + digits;
	return digits && digits <= 9;
}

/* Its year may be moved. */
static bool parse(const char *word, unsigned years, struct instant *out)
{
	unsigned year, month, day, hour, minute, second;
	if (!take(&word, 4, "-", &year) || !take(&word, 2, "-", &month) || !take(&word, 2, "T ", &day) ||
	    !take(&word, 2, ":", &hour) || !take(&word, 2, ":", &minute) || !take(&word, 2, "", &second) || month < 1 ||
	    month > 12 || day < 1 || day > days_in(year, month) || hour > 23 || minute > 59 || second > 59 ||
	    !take_fraction(&word, &out->nanos))
		return false;
	word += *word == 'Z';
	out->seconds = days_of((int64_t)year + years, month, day) * 86400 + (int64_t)hour * 3600 + minute * 60 + second;
	return !*word;
}

bool epoch_parse(const char *word, struct instant *out)
{
	return parse(word, 0, out);
}

int64_t epoch_end(const char *created)
{
	struct instant end;
	unsigned year;
	const char *s = created;
	if (!take(&s, 4, "-", &year) || year < CREATED_FIRST || year > CREATED_LAST || !parse(created, YEARS_MORE, &end))
		return END_UNKNOWN;
	return end.seconds;
}

static bool holds_one(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strcasestr(name, *words))
			return true;
	return false;
}

/* "createdAt", "expires_at" */
static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);
	return n >= m && !strcmp(name + n - m, end);
}

static bool speaks_of_time(const char *name)
{
	static const char *const words[] = {"time", "date", "stamp", "epoch", "when", "seen", "created", "modified",
	    "expir", "since", "until", "deadline", "instant", "seconds", "millis", "micros", "nanos", NULL};
	return holds_one(name, words) || ends_with(name, "At") || ends_with(name, "_at");
}

/* "previousNanoTime", "st_ctime_nsec": a number of another unit than the name says is no date. */
static bool denies_unit(const char *name, unsigned unit)
{
	static const char *const words[EPOCH_UNITS][3] = {{NULL}, {"milli", NULL}, {"micro", "usec", NULL},
	    {"nano", "nsec", NULL}};
	bool other = false, own = false;
	for (unsigned i = 1; i < EPOCH_UNITS; i++)
		*(i == unit ? &own : &other) |= holds_one(name, words[i]);
	return other && !own;
}

/* Numbers of all sizes are identities, hash codes and addresses. */
static bool speaks_of_identity(const char *name)
{
	static const char *const words[] = {"uid", "hash", "seed", "address", "sigbits", "dostime", NULL};
	return !strcmp(name, "id") || ends_with(name, "Id") || ends_with(name, "ID") || ends_with(name, "_id") ||
	    holds_one(name, words);
}

bool epoch_of(int64_t number, const char *name, int64_t end, struct instant *out)
{
	for (unsigned i = 0; i < EPOCH_UNITS; i++) {
		int64_t unit = units[i];
		if (number < BEGIN * unit || number > end * unit)
			continue;
		bool by_itself = i == 1 || i == 2;
		*out = (struct instant){number / unit, (uint32_t)(number % unit * (units[3] / unit))};
		return (by_itself || speaks_of_time(name)) && !denies_unit(name, i) && !speaks_of_identity(name);
	}
	return false;
}

unsigned epoch_numbers(const struct instant *time, int64_t end, uint64_t out[EPOCH_UNITS])
{
	unsigned n = 0;
	if (time->seconds < BEGIN || time->seconds > end)
		return 0;
	for (unsigned i = 0; i < EPOCH_UNITS; i++) {
		int64_t rest = units[3] / units[i]; /* nanoseconds of a unit */
		if (time->nanos % rest == 0)
			out[n++] = (uint64_t)(time->seconds * units[i] + time->nanos / rest);
	}
	return n;
}
