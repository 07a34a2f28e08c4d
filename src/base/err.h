/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * err.h - what went wrong, in words a user can act on.
 *
 * A function that can fail returns 0 or a negative enum err_code and fills the struct err it was
 * given.  Messages start in lower case, carry no full stop, name the subject first and, where there
 * is one, the next step.  Arguments need not be escaped: messages are (base/text.h).  Library layers
 * never print.
 */
#ifndef CAIRN_BASE_ERR_H
#define CAIRN_BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum err_code {
	ERR_OK = 0,
	ERR_NOMEM = -1,       /* not enough memory, or more than --mem allows */
	ERR_IO = -2,          /* the system refused: open, read, write, map */
	ERR_FORMAT = -3,      /* the bytes are not what the format allows */
	ERR_TRUNCATED = -4,   /* the bytes end too early */
	ERR_CANCELLED = -5,   /* the user asked to stop */
	ERR_NOT_FOUND = -6,   /* a lookup found nothing */
	ERR_USAGE = -7,       /* the command line is wrong */
	ERR_UNSUPPORTED = -8, /* the dump does not have what was asked for */
	ERR_FAILED = -9,      /* a command of the shell failed, or cairn has a fault */
};

/* Why nothing was found, for code that then tries something else. */
enum err_reason {
	ERR_OTHER,
	ERR_NO_CLASS, /* no class has the name */
	ERR_SEVERAL,  /* several things have it */
	ERR_SOURCE,   /* the message is the remark of a damaged source */
	ERR_NO_COMMAND, /* no command has the name, nor begins so */
};

struct err {
	enum err_code code;
	enum err_reason reason;
	bool has_offset;
	uint64_t offset; /* byte of the dump (inflated bytes when it is compressed) */
	uint16_t subject; /* bytes at the beginning of message that err_context put there */
	uint32_t begin, end; /* bytes of the command line that are wrong; end 0: none in particular */
	uint16_t advice;  /* where in message what to do begins, in parentheses at its end; 0: it says none */
	uint16_t nearest; /* where in that words begin that may have been meant; 0: it has none */
	char message[480];
};

#define ERR_INIT { .code = ERR_OK }

/* Before a function whose result tells that it failed: whoever calls it must look. */
#define MUST_CHECK __attribute__((warn_unused_result))

/* Fill *err (which may be NULL) and return code, so that callers can write "return err_set(...)". */
int err_set(struct err *err, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* The same for a fault at a byte of the dump. */
int err_at(struct err *err, enum err_code code, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));

/* Say why of *err (which may be NULL), and return its code. */
int err_because(struct err *err, enum err_code code, enum err_reason reason) __attribute__((cold));

/* Say where in the command line *err (which may be NULL) is; end 0: nowhere in particular. */
void err_place(struct err *err, size_t begin, size_t end);

/* What to do about it, without its parentheses: *n bytes of the message.  NULL: the message says nothing of that. */
const char *err_advice(const struct err *err, size_t *n);

/* Word i of those that may have been meant, the nearest first: *n bytes of the message.  NULL: there are no more; of
 * commands, which the message explains, there is but the nearest. */
const char *err_nearest(const struct err *err, unsigned i, size_t *n);

/* ERR_CANCELLED, in the one word for it. */
int err_cancelled(struct err *err) __attribute__((cold));

/* Put "context: " in front of the message already there. */
void err_context(struct err *err, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

#endif
