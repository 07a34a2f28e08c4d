/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * describe_time.c - dates and times in ISO 8601, as java.time prints them; instants in UTC.
 */
#include "analysis/describe/describers.h"
#include "dump/facts.h"
#include "heap/string.h"
#include "heap/value.h"

#include <inttypes.h>

/* Beyond these no calendar is meant: damaged, or Instant.MAX. */
static bool sane_year(int64_t year)
{
	return year > -1000000000 && year < 1000000000;
}

/* Days since 1970-01-01 as a date of the proleptic Gregorian calendar, counted in eras of 400 years
 * that begin in March. */
static void date_of_days(int64_t days, int64_t *year, unsigned *month, unsigned *day)
{
	int64_t shifted = days + 719468;
	int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
	unsigned of_era = (unsigned)(shifted - era * 146097);
	unsigned y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	unsigned of_year = of_era - (365 * y + y / 4 - y / 100);
	unsigned m = (5 * of_year + 2) / 153;
	*day = of_year - (153 * m + 2) / 5 + 1;
	*month = m < 10 ? m + 3 : m - 9;
	*year = (int64_t)y + era * 400 + (*month <= 2);
}

static void add_date(struct text *to, int64_t year, unsigned month, unsigned day)
{
	if (year > 9999)
		text_add(to, "+");
	text_addf(to, year < 0 ? "-%04" PRId64 : "%04" PRId64, year < 0 ? -year : year);
	text_addf(to, "-%02u-%02u", month, day);
}

/* Nanoseconds of a second in groups of three digits, as many as are needed. */
static void add_fraction(struct text *to, uint32_t nano)
{
	if (nano % 1000000 == 0 && nano)
		text_addf(to, ".%03" PRIu32, nano / 1000000);
	else if (nano % 1000 == 0 && nano)
		text_addf(to, ".%06" PRIu32, nano / 1000);
	else if (nano)
		text_addf(to, ".%09" PRIu32, nano);
}

bool describe_add_instant(struct text *to, int64_t seconds, uint32_t nano)
{
	int64_t days = seconds / 86400 - (seconds % 86400 < 0), year;
	unsigned rest = (unsigned)(seconds - days * 86400), month, day;
	date_of_days(days, &year, &month, &day);
	if (!sane_year(year))
		return false;
	add_date(to, year, month, day);
	text_addf(to, "T%02u:%02u:%02u", rest / 3600, rest / 60 % 60, rest % 60);
	add_fraction(to, nano);
	text_add(to, "Z");
	return true;
}

bool describe_date(struct description *d)
{
	struct value v;
	if (!description_field(d->values, d->fields, &v) || v.type != VALUE_LONG)
		return false;
	int64_t millis = (int64_t)v.bits;
	int64_t seconds = millis / 1000 - (millis % 1000 < 0);
	return describe_add_instant(d->to, seconds, (uint32_t)(millis - seconds * 1000) * 1000000);
}

bool describe_instant(struct description *d)
{
	int64_t seconds, nano;
	if (!description_number(d->values, "seconds", &seconds) ||
	    !description_number(d->values, "nanos", &nano) || nano < 0 || nano > 999999999 ||
	    seconds > INT64_MAX / 2 || seconds < INT64_MIN / 2)
		return false;
	return describe_add_instant(d->to, seconds, (uint32_t)nano);
}

static bool add_local_date(struct text *to, const struct values *v)
{
	int64_t year, month, day;
	if (!description_number(v, "year", &year) || !description_number(v, "month", &month) ||
	    !description_number(v, "day", &day) || !sane_year(year) || month < 0 || month > 99 ||
	    day < 0 || day > 99)
		return false;
	add_date(to, year, (unsigned)month, (unsigned)day);
	return true;
}

static bool add_local_time(struct text *to, const struct values *v)
{
	int64_t hour, minute, second, nano;
	if (!description_number(v, "hour", &hour) || !description_number(v, "minute", &minute) ||
	    !description_number(v, "second", &second) || !description_number(v, "nano", &nano))
		return false;
	text_addf(to, "%02d:%02d", (int)(hour % 100), (int)(minute % 100));
	if (second || nano)
		text_addf(to, ":%02d", (int)(second % 100));
	if (nano > 0 && nano <= 999999999)
		add_fraction(to, (uint32_t)nano);
	return true;
}

bool describe_local_date(struct description *d)
{
	return add_local_date(d->to, d->values);
}

bool describe_local_time(struct description *d)
{
	return add_local_time(d->to, d->values);
}

/* LocalDateTime has date and time, OffsetDateTime and ZonedDateTime one of those and an offset. */
bool describe_date_time(struct description *d)
{
	struct values local = *d->values, date, time, offset;
	struct value id;
	if (d->fields && !description_object(d->values, "dateTime", &local))
		return false;
	if (!description_object(&local, "date", &date) || !description_object(&local, "time", &time) ||
	    !add_local_date(d->to, &date))
		return false;
	text_add(d->to, "T");
	add_local_time(d->to, &time);
	if (d->fields && description_object(d->values, d->fields, &offset) &&
	    values_field(&offset, "id", &id))
		heap_add_string(d->heap, &id, d->limit, d->to);
	return true;
}

bool describe_duration(struct description *d)
{
	int64_t seconds, nano;
	if (!description_number(d->values, "seconds", &seconds) ||
	    !description_number(d->values, "nanos", &nano) || nano < 0 || nano > 999999999)
		return false;
	text_addf(d->to, "%" PRId64, seconds);
	add_fraction(d->to, (uint32_t)nano);
	text_add(d->to, " s");
	return true;
}
