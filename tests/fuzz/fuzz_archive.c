/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_archive.c - fuzz target: any bytes as a packed dump, and as an archive of which each member is opened.
 *
 * Not as dumps: what comes out of it is only looked at from its first byte to its last.
 */
#include "dump/registry.h"
#include "memory/big.h"
#include "base/text.h"
#include "dump/reader.h"
#include "dump/source/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LIMIT = 32 << 20, OPENED_MOST = 12 }; /* bytes of a bomb; members of an archive */

static void promise(bool kept, const char *what)
{
	if (kept)
		return;
	fprintf(stderr, "fuzz_archive: %s\n", what);
	abort();
}

static void promise_sentence(const struct err *err, const char *path)
{
	promise(!strncmp(err->message, path, strlen(path)), "a refusal names the file");
	promise(err->code < 0 && strlen(err->message) > strlen(path) + 10, "and is a sentence");
	promise(!strpbrk(err->message, "\n\r\033\t"), "of one line that a terminal can show");
}

/* A sum of all bytes, so that each is read. */
static uint64_t look_through(const struct source *s)
{
	uint64_t sum = s->size;
	promise(s->size > 0 && s->size <= (uint64_t)LIMIT + s->file_size, "there are bytes, within the limit");
	promise(!s->doubtful || s->truncated, "what is doubtful is cut");
	promise(!s->truncated || s->remark[0], "what is cut says why");
	promise(!strpbrk(s->remark, "\n\r\033\t"), "in one line that a terminal can show");
	for (uint64_t i = 0; i < s->size; i++)
		sum = sum * 31 + s->bytes[i];
	return sum;
}

/* The same, unpacked when it is needed. */
static void open_later(const char *path, const struct source *now, uint64_t sum)
{
	struct source *waits, *s;
	struct err err = ERR_INIT;
	int code = source_open_waiting(&waits, path, &err);
	promise(code >= 0, "what was opened can wait to be");
	if (code == 1)
		return;
	code = source_inflate(&s, waits, NULL, NULL, &err);
	promise(code || s->size == now->size, "of the same size");
	promise(code || look_through(s) == sum, "with the same bytes");
	promise(!code || code == ERR_NOMEM, "and then it opens"); /* two of them are in memory */
	source_close(s);
	source_close(waits);
}

static void open_one(const char *path, const char *file, bool whole)
{
	const struct source_look look = dump_look(NULL);
	struct source *s;
	struct err err = ERR_INIT;
	int code = source_open_if(&s, path, whole ? &look : NULL, NULL, &err);
	promise((code == 0) == (s != NULL), "either a source or an error");
	if (code)
		promise_sentence(&err, file);
	else {
		uint64_t sum = look_through(s);
		if (!*source_inside(s)) /* else it is looked for once more, by nobody */
			open_later(path, s, sum);
	}
	source_close(s);
}

static void list(const char *file)
{
	struct source_members *m;
	struct err err = ERR_INIT;
	int code = source_members(&m, file, dump_label_of_member, NULL, &err);
	promise((code == 0) == (m != NULL), "either a list or none");
	if (code < 0)
		promise_sentence(&err, file);
	for (size_t i = 0; !code && i < m->n; i++) {
		const struct source_member *one = &m->member[i];
		struct text path = TEXT_INIT;
		promise(one->name && *one->name, "every member has a name");
		promise(!one->label || !one->archive, "a dump is no archive");
		promise(memchr(one->created, 0, sizeof one->created) != NULL, "its time is a text");
		text_addf(&path, "%s::%s", file, one->name);
		if (i < OPENED_MOST)
			open_one(path.s, file, false);
		text_release(&path);
	}
	promise(code || !strpbrk(m->remark, "\n\r\033\t"), "why there may be more is one line");
	source_members_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[40];
	int fd = memfd_create("archive", MFD_CLOEXEC);
	uint64_t before = big_in_use() + big_spilled();
	big_set_limit(LIMIT, "the fuzzer");
	promise(fd >= 0 && write(fd, data, size) == (ssize_t)size, "a file in memory");
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	open_one(path, path, true);
	open_one(path, path, false);
	list(path);
	close(fd);
	promise(big_in_use() + big_spilled() == before, "no memory is kept");
	return 0;
}
