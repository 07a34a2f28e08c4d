/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * err.c - filling struct err.
 *
 * The new text is made in another buffer first, because an argument may point into the message that
 * it replaces.  Words of a user and names of files stand in messages as they are given: here they are
 * escaped, all of them.  Any thread, each with its own struct err.
 */
#include "base/err.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NEAREST "(nearest: "

/* Where the parentheses at the end begin, and in these the words that are near. */
static void find_advice(struct err *err)
{
	const char *message = err->message;
	size_t at = strlen(message);
	unsigned open = 0;

	err->advice = err->nearest = 0;
	if (!at || message[at - 1] != ')')
		return;
	do {
		at--;
		open += message[at] == ')';
		open -= message[at] == '(';
	} while (open && at);
	if (!at || message[at - 1] != ' ')
		return;
	err->advice = (uint16_t)at;
	if (!strncmp(message + at, NEAREST, strlen(NEAREST)))
		err->nearest = (uint16_t)(at + strlen(NEAREST));
}

static void fill(struct err *err, enum err_code code, const char *format, va_list args)
{
	char text[2 * sizeof err->message];

	text_format(text, sizeof text, format, args);
	text_escape(err->message, sizeof err->message, text);
	err->code = code;
	err->reason = ERR_OTHER;
	err->subject = 0;
	find_advice(err);
	err->has_offset = false;
	err->offset = 0;
	err->begin = err->end = 0;
}

int err_set(struct err *err, enum err_code code, const char *format, ...)
{
	if (!err)
		return code;
	va_list args;
	va_start(args, format);
	fill(err, code, format, args);
	va_end(args);
	return code;
}

/* "A, B", or "A: what it is; B: what that is", of which A alone is known from what follows. */
const char *err_nearest(const struct err *err, unsigned i, size_t *n)
{
	const char *s = err->nearest ? err->message + err->nearest : NULL, *end = err->message + strlen(err->message) - 1;
	for (; s; i--) {
		const char *stop = s;
		while (stop < end && !(strchr(",:", *stop) && stop[1] == ' '))
			stop++;
		*n = (size_t)(stop - s);
		if (!i)
			return s;
		s = stop < end && *stop == ',' ? stop + 2 : NULL;
	}
	return NULL;
}

int err_cancelled(struct err *err)
{
	return err_set(err, ERR_CANCELLED, "stopped");
}

int err_at(struct err *err, enum err_code code, uint64_t offset, const char *format, ...)
{
	if (!err)
		return code;
	va_list args;
	va_start(args, format);
	fill(err, code, format, args);
	va_end(args);
	err->has_offset = true;
	err->offset = offset;
	return code;
}

int err_because(struct err *err, enum err_code code, enum err_reason reason)
{
	if (err)
		err->reason = reason;
	return code;
}

void err_place(struct err *err, size_t begin, size_t end)
{
	if (!err)
		return;
	err->begin = (uint32_t)begin;
	err->end = (uint32_t)end;
}

const char *err_advice(const struct err *err, size_t *n)
{
	*n = err->advice ? strlen(err->message) - err->advice - 2 : 0;
	return err->advice ? err->message + err->advice + 1 : NULL;
}

void err_context(struct err *err, const char *format, ...)
{
	char text[2 * sizeof err->message + 2], context[sizeof err->message];

	if (!err)
		return;
	va_list args;
	va_start(args, format);
	text_format(context, sizeof context, format, args);
	va_end(args);
	if (strlen(context) >= sizeof context - 3)
		return; /* no room for the message itself: that matters more than the context */
	size_t subject = strlen(context) + 2 + err->subject;
	snprintf(text, sizeof text, "%s: %s", context, err->message);
	text_escape(err->message, sizeof err->message, text);
	err->subject = (uint16_t)(subject < strlen(err->message) ? subject : 0);
	find_advice(err);
}
