/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mkdump.c - writes heap dumps with known contents, and the truth about them.
 *
 *     mkdump sample DIR                     the samples of data/
 *     mkdump random --seed N --out PREFIX   a small random graph in one of many layouts
 *     mkdump bench --objects N --phd FILE   a large dump, streamed; its twins --classic, --hprof FILE
 *     mkdump go --seed N --out PREFIX       a small random Go dump, any version
 *     mkdump go-bench --objects N --out FILE a large Go dump, streamed
 */
#include "mkdump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 1 << 20 };

const char element_letter[ELEMENTS] = { 'Z', 'C', 'F', 'D', 'B', 'S', 'I', 'J' };
const char *const element_name[ELEMENTS] = { "boolean", "char", "float", "double", "byte", "short",
	"int", "long" };
const unsigned element_size[ELEMENTS] = { 1, 2, 4, 8, 1, 2, 4, 8 };

void die(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fputs("mkdump: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(2);
}

void *get_memory(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size);
	if (!p)
		die("no memory");
	return p;
}

void *more_memory(void *old, size_t count, size_t size)
{
	size_t bytes;
	void *p = NULL;
	if (!__builtin_mul_overflow(count, size, &bytes))
		p = realloc(old, bytes ? bytes : 1);
	if (!p)
		die("no memory");
	return p;
}

/* --- output ------------------------------------------------------------------------------------ */

void out_open(struct out *o, const char *path)
{
	*o = (struct out){ .path = path };
	o->fd = strcmp(path, "-") == 0
	    ? dup(STDOUT_FILENO)
	    : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (o->fd < 0)
		die("%s: %s", path, strerror(errno));
	o->buffer = get_memory(BUFFER, 1);
}

static void out_flush(struct out *o)
{
	for (size_t done = 0; done < o->used;) {
		ssize_t n = write(o->fd, o->buffer + done, o->used - done);
		if (n < 0 && errno != EINTR)
			die("%s: %s", o->path, strerror(errno));
		if (n > 0)
			done += (size_t)n;
	}
	o->used = 0;
}

void out_close(struct out *o)
{
	out_flush(o);
	if (close(o->fd) != 0)
		die("%s: %s", o->path, strerror(errno));
	free(o->buffer);
	o->buffer = NULL;
}

void out_bytes(struct out *o, const void *p, size_t n)
{
	const unsigned char *from = p;
	o->written += n;
	while (n) {
		if (o->used == BUFFER)
			out_flush(o);
		size_t part = BUFFER - o->used < n ? BUFFER - o->used : n;
		memcpy(o->buffer + o->used, from, part);
		o->used += part;
		from += part;
		n -= part;
	}
}

void out_byte(struct out *o, unsigned value)
{
	if (o->used == BUFFER)
		out_flush(o);
	o->buffer[o->used++] = (unsigned char)value;
	o->written++;
}

void out_be(struct out *o, uint64_t value, unsigned bytes)
{
	unsigned char b[8];
	for (unsigned i = 0; i < bytes; i++)
		b[i] = (unsigned char)(value >> 8 * (bytes - 1 - i));
	out_bytes(o, b, bytes);
}

void out_text(struct out *o, const char *s)
{
	out_bytes(o, s, strlen(s));
}

void out_format(struct out *o, const char *format, ...)
{
	char line[4096];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(line, sizeof line, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof line)
		die("a line of the output is too long");
	out_bytes(o, line, (size_t)n);
}

void out_hex(struct out *o, uint64_t value, unsigned digits)
{
	char b[16];
	for (unsigned i = digits; i-- > 0; value >>= 4)
		b[i] = "0123456789ABCDEF"[value & 15];
	out_bytes(o, b, digits);
}

void out_decimal(struct out *o, uint64_t value)
{
	char b[20];
	size_t at = sizeof b;
	do
		b[--at] = (char)('0' + value % 10);
	while (value /= 10);
	out_bytes(o, b + at, sizeof b - at);
}

/* --- chance ------------------------------------------------------------------------------------ */

/* The output function of splitmix64. */
uint64_t mix(uint64_t x)
{
	x += 0x9E3779B97F4A7C15u;
	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
	x = (x ^ x >> 27) * 0x94D049BB133111EBu;
	return x ^ x >> 31;
}

uint64_t chance_next(struct chance *c)
{
	uint64_t value = mix(c->state);
	c->state += 0x9E3779B97F4A7C15u;
	return value;
}

uint64_t chance_below(struct chance *c, uint64_t n)
{
	return chance_next(c) % n; /* the bias of small n does not matter here */
}

bool chance_percent(struct chance *c, unsigned percent)
{
	return chance_below(c, 100) < percent;
}

/* --- arguments --------------------------------------------------------------------------------- */

const char *option_value(int argc, char **argv, int *i, const char *name)
{
	if (strcmp(argv[*i], name) != 0)
		return NULL;
	if (*i + 1 >= argc)
		die("%s needs a value", name);
	return argv[++*i];
}

uint64_t option_number(const char *text)
{
	char *end;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-')
		die("%s is no number", text);
	return value;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} modes[] = {
		{ "bench", mkdump_bench },
		{ "sample", mkdump_sample },
		{ "random", mkdump_random },
		{ "go", mkdump_go },
		{ "go-bench", mkdump_go_bench },
	};
	for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++) {
		if (strcmp(argv[1], modes[i].name) == 0)
			return modes[i].run(argc - 2, argv + 2);
	}
	die("usage: mkdump sample DIR | random --seed N --out PREFIX | bench --objects N --phd FILE | "
	    "go --seed N --out PREFIX | go-bench --objects N --out FILE");
}
