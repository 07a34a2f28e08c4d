/* SPDX-License-Identifier: GPL-3.0-or-later */
/* go_program.c - see go_program.h. */
#include "attach/go_program.h"

#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SECTIONS_MOST = 512,
	NAMES_MOST = 16 << 10, /* of the sections */
	INFO_MOST = 1 << 20,
	INFO_HEAD = 32,
	INFO_INLINE = 2,       /* flag: the texts follow the head; before Go 1.18 pointers did */
	FRAME = 16,            /* bytes around the text of modules, at both ends */
};

struct elf {
	int fd;
	bool wide, big; /* 64 bits; most significant byte first */
};

static uint64_t elf_number(const struct elf *e, const uint8_t *at, unsigned size)
{
	uint64_t v = 0;
	for (unsigned i = 0; i < size; i++)
		v = v << 8 | at[e->big ? i : size - 1 - i];
	return v;
}

static bool read_at(int fd, void *to, size_t n, uint64_t at)
{
	return at <= INT64_MAX && pread(fd, to, n, (off_t)at) == (ssize_t)n;
}

/* Offset and size of a section, by its header. */
static void section_place(const struct elf *e, const uint8_t *header, uint64_t *at, uint64_t *size)
{
	*at = e->wide ? elf_number(e, header + 24, 8) : elf_number(e, header + 16, 4);
	*size = e->wide ? elf_number(e, header + 32, 8) : elf_number(e, header + 20, 4);
}

/* Find a section by name. */
static bool section_find(const struct elf *e, const uint8_t *head, const char *name, uint64_t *at, uint64_t *size)
{
	/* the size of a header, and where the table, this size, its number, and the names stand in the head */
	static const size_t narrow[] = { 40, 32, 46, 48, 50 }, wide[] = { 64, 40, 58, 60, 62 };
	const size_t *where = e->wide ? wide : narrow;
	uint64_t table = elf_number(e, head + where[1], e->wide ? 8 : 4), names_at, names_size;
	uint64_t each = elf_number(e, head + where[2], 2), n = elf_number(e, head + where[3], 2);
	uint64_t names = elf_number(e, head + where[4], 2);
	bool found = false;

	if (each != where[0] || n > SECTIONS_MOST || names >= n)
		return false;
	uint8_t *headers = xmalloc(n * each);
	if (read_at(e->fd, headers, n * each, table)) {
		section_place(e, headers + names * each, &names_at, &names_size);
		names_size = names_size < NAMES_MOST ? names_size : NAMES_MOST;
		char *text = xcalloc(names_size + 1, 1);
		bool read = read_at(e->fd, text, names_size, names_at);
		for (uint64_t i = 0; read && !found && i < n; i++) {
			uint64_t own = elf_number(e, headers + i * each, 4);
			found = own < names_size && !strcmp(text + own, name);
			if (found)
				section_place(e, headers + i * each, at, size);
		}
		free(text);
	}
	free(headers);
	return found;
}

/* A text with its length in front of it, 7 bits a byte, the lowest first.  *at is moved behind it.  NULL: none. */
static const char *text_at(const uint8_t *bytes, size_t n, size_t *at, size_t *length)
{
	uint64_t len = 0;
	for (unsigned shift = 0; *at < n && shift < 63; shift += 7) {
		uint8_t b = bytes[(*at)++];
		len |= (uint64_t)(b & 0x7f) << shift;
		if (b & 0x80)
			continue;
		if (len > n - *at)
			return NULL;
		*length = (size_t)len;
		*at += *length;
		return (const char *)bytes + *at - *length;
	}
	return NULL;
}

/* "path\tPACKAGE" is a line of what is said of the modules. */
static char *package_of(const char *modules, size_t n)
{
	if (n < 2 * FRAME)
		return NULL;
	const char *end = modules + n - FRAME;
	for (const char *line = modules + FRAME; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		stop = stop ? stop : end;
		if (stop - line > 5 && !memcmp(line, "path\t", 5))
			return xstrndup(line + 5, (size_t)(stop - line) - 5);
		line = stop + 1;
	}
	return NULL;
}

static bool info_parse(const uint8_t *bytes, size_t n, struct go_program *to)
{
	static const char magic[] = "\xff Go buildinf:";
	size_t at = INFO_HEAD, length;
	const char *text;

	if (n < INFO_HEAD || memcmp(bytes, magic, sizeof magic - 1))
		return false;
	if (!(bytes[15] & INFO_INLINE))
		return true;
	if ((text = text_at(bytes, n, &at, &length)) != NULL) {
		to->version = xstrndup(text, length);
		if ((text = text_at(bytes, n, &at, &length)) != NULL)
			to->package = package_of(text, length);
	}
	return true;
}

bool go_binary_read(int fd, struct go_program *to)
{
	uint8_t head[64];
	struct elf e = { .fd = fd };
	uint64_t at, size;
	bool is = false;

	*to = (struct go_program){ 0 };
	if (!read_at(fd, head, sizeof head, 0) || memcmp(head, "\177ELF", 4))
		return false;
	e.wide = head[4] == 2;
	e.big = head[5] == 2;
	if (!section_find(&e, head, ".go.buildinfo", &at, &size) || size > INFO_MOST)
		return false;
	uint8_t *bytes = xmalloc(size ? size : 1);
	is = read_at(fd, bytes, size, at) && info_parse(bytes, size, to);
	free(bytes);
	return is;
}

void go_binary_release(struct go_program *g)
{
	free(g->version);
	free(g->package);
	*g = (struct go_program){ 0 };
}
