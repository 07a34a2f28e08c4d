/* SPDX-License-Identifier: GPL-3.0-or-later */
/* index_key.c - which dump an index is of, and where indexes lie; see saving.h. */
#include "heap/index_file/saving.h"

#include "base/files.h"
#include "base/mem.h"
#include "base/text.h"
#include "dump/javacore/javacore.h"
#include "dump/source/source.h"
#include "heap/index_file/index_file.h"
#include "heap/open.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SAMPLES = 64, SAMPLE_BYTES = 4096 };

/* The name of the file, and of a member of it without the signs that would make it a path. */
static void add_name_of(struct text *t, const char *path)
{
	const char *member = file_member(path), *end = member ? member : path + strlen(path), *name = end;
	while (name > path && name[-1] != '/')
		name--;
	text_add_n(t, name, (size_t)(end - name));
	for (; member && *member; member++)
		text_add_char(t, *member == '/' ? '!' : *member);
}

bool index_file_has_place(const char *dump)
{
	static const char *const numbered[] = {"/dev/fd/", "/proc/self/fd/", "/dev/stdin"};
	const char *member = file_member(dump);
	char *file = xstrndup(dump, member ? (size_t)(member - dump) : strlen(dump));
	struct stat st;
	bool has = !source_has_no_file(dump) && (stat(file, &st) < 0 || !S_ISFIFO(st.st_mode));
	for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++)
		has &= strncmp(file, numbered[i], strlen(numbered[i])) != 0;
	free(file);
	return has;
}

char *index_file_beside(const char *dump)
{
	struct text t = TEXT_INIT;
	const char *member = file_member(dump);
	if (!index_file_has_place(dump))
		return NULL;
	text_add_n(&t, dump, member ? (size_t)(member - dump) : strlen(dump));
	for (; member && *member; member++)
		text_add_char(&t, *member == '/' ? '!' : *member);
	text_add(&t, INDEX_FILE_ENDING);
	return text_take(&t);
}

char *index_file_in_cache(const char *dump)
{
	struct text t = TEXT_INIT;
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	if (!index_file_has_place(dump))
		return NULL;
	if (cache && *cache == '/')
		text_addf(&t, "%s/cairn/", cache);
	else if (home && *home == '/')
		text_addf(&t, "%s/.cache/cairn/", home);
	if (t.len) {
		add_name_of(&t, dump);
		text_add(&t, INDEX_FILE_ENDING);
	}
	return text_take(&t);
}

/* --- which dump --------------------------------------------------------------------------------- */

/* Of a dump without a file, which is in memory, s are its bytes. */
static bool read_sample(void *to, uint64_t n, uint64_t at, int fd, const struct source *s)
{
	if (fd >= 0)
		return pread(fd, to, n, (off_t)at) >= 0;
	memcpy(to, s->bytes + at, s->size - at < n ? s->size - at : n);
	return true;
}

/* A sum over blocks spread over the file; it finds files that were put in another's place. */
static int sum_samples(int fd, const struct source *s, uint64_t size, uint64_t *sum)
{
	uint64_t block[SAMPLE_BYTES / sizeof(uint64_t)];
	*sum = size;
	for (uint64_t i = 0; i < SAMPLES; i++) {
		uint64_t room = size > SAMPLE_BYTES ? size - SAMPLE_BYTES : 0;
		memset(block, 0, sizeof block);
		if (!read_sample(block, sizeof block, room / (SAMPLES - 1) * i, fd, s))
			return -1;
		for (size_t k = 0; k < sizeof block / sizeof *block; k++)
			*sum = (*sum ^ block[k]) * UINT64_C(0x9E3779B185EBCA87) + (*sum >> 29);
	}
	return 0;
}

static void file_key(struct index_file_key *k, const struct stat *st)
{
	k->size = (uint64_t)st->st_size;
	k->written = (uint64_t)st->st_mtim.tv_sec;
	k->written_ns = (uint64_t)st->st_mtim.tv_nsec;
}

/* The javacore that would be read with the dump.  Where the dump has its roots none is looked for. */
static void companion_key(struct index_file_key *k, const char *path, const struct heap_options *o)
{
	struct stat st;
	char *found = NULL;
	const char *named = o->dump.javacore;
	k->companion = k->companion_size = k->companion_written = 0;
	if (!named && !o->dump.no_companion && javacore_find(&found, NULL, path, NULL) == 0)
		named = found;
	if (named && !o->dump.no_companion && stat(named, &st) == 0) {
		k->companion = 1;
		k->companion_size = (uint64_t)st.st_size;
		k->companion_written = (uint64_t)st.st_mtim.tv_sec;
	}
	free(found);
}

static const char *member_of(const char *path)
{
	const char *member = file_member(path);
	return member ? member : "";
}

int key_of_dump(struct index_file_key *k, const struct source *s, const char *path, const struct heap_options *o,
    struct err *err)
{
	struct stat st = {.st_size = (off_t)s->size};
	int fd = source_fd(s);
	*k = (struct index_file_key){ .version = INDEX_FILE_VERSION, .program = PACKAGE_VERSION, .path = path,
		.member = member_of(path),
		.heap_number = o->dump.heap_number, .mat_sizes = o->mat_sizes };
	if ((fd >= 0 && fstat(fd, &st)) || sum_samples(fd, s, (uint64_t)st.st_size, &k->sample))
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	file_key(k, &st);
	companion_key(k, path, o);
	return 0;
}

static int unfit(struct text *why, const char *sentence)
{
	text_add(why, sentence);
	return 1;
}

int key_fits_options(const struct index_file_key *k, const struct heap_options *o, struct text *why)
{
	if (k->version != INDEX_FILE_VERSION || strcmp(k->program, PACKAGE_VERSION))
		return unfit(why, "another version of cairn wrote it");
	if (k->mat_sizes != o->mat_sizes)
		return unfit(why, "its sizes follow another rule (--sizes)");
	if (k->heap_number != o->dump.heap_number)
		return unfit(why, "it belongs to another heap of the file (--dump)");
	return 0;
}

/* Which of what binds it differs.  A time alone proves nothing, for files are copied without it; but bytes between the
 * samples may be others, so it does not fit. */
static int fits_dump(const struct index_file_key *k, const struct index_file_key *now, int fd, struct text *why)
{
	uint64_t sample;
	bool same_time = now->written == k->written && now->written_ns == k->written_ns;
	if (now->size != k->size) {
		text_addf(why, "the dump has another size (%" PRIu64 " byte%s, not %" PRIu64 ")", now->size,
		    now->size == 1 ? "" : "s", k->size);
		return 1;
	}
	if (sum_samples(fd, NULL, now->size, &sample) || sample != k->sample)
		return unfit(why, same_time ? "the dump has other contents" :
		    "the dump has other contents: it was changed or replaced");
	return same_time ? 0 : unfit(why, "the dump has another modification time than the index records, but "
	    "the same size and samples (cp -p keeps the time; the command index writes a new index)");
}

int key_fits_file(const struct index_file_key *k, const char *path, const struct heap_options *o, struct text *why)
{
	struct index_file_key now;
	struct stat st;
	int fd = source_peek(path);
	if (fd < 0 && !index_file_has_place(path))
		return unfit(why, "the dump comes through a pipe and is read each time");
	if (fd < 0 || fstat(fd, &st)) {
		unfit(why, "the dump cannot be read: ");
		text_add(why, strerror(errno));
		if (fd >= 0)
			close(fd);
		return 1;
	}
	file_key(&now, &st);
	companion_key(&now, path, o);
	int code = strcmp(member_of(path), k->member) ? unfit(why, "it belongs to another member of the archive") :
	    fits_dump(k, &now, fd, why);
	if (!code && (now.companion != k->companion || now.companion_size != k->companion_size ||
	    now.companion_written != k->companion_written))
		code = unfit(why, "the dump has another javacore");
	close(fd);
	return code;
}

/* A path may have any bytes, and texts of an index have none that would steer a terminal: hexadecimal. */
static void pack_path(struct pack *p, const char **path)
{
	uint64_t n = p->reading ? 0 : strlen(*path);
	char *to = NULL;
	pack_count(p, &n, PATH_MAX);
	if (p->reading && !p->bad)
		*path = to = xcalloc(n + 1, 1);
	for (uint64_t i = 0; i < n && !p->bad; i++) {
		uint64_t byte = p->reading ? 0 : (uint8_t)(*path)[i];
		pack_number(p, &byte, UINT8_MAX);
		p->bad |= !byte;
		if (to)
			to[i] = (char)byte;
	}
}

void pack_key(struct pack *p, struct index_file_key *k)
{
	uint64_t *const numbers[] = {&k->size, &k->written, &k->written_ns, &k->sample, &k->heap_number, &k->mat_sizes,
	    &k->companion, &k->companion_size, &k->companion_written, &k->nameless};
	pack_number(p, &k->version, UINT64_MAX);
	pack_text(p, &k->program);
	p->bad |= !k->program;
	pack_path(p, &k->path);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		pack_number(p, numbers[i], UINT64_MAX);
	if (!p->reading || k->version == INDEX_FILE_VERSION) {
		pack_path(p, &k->member);
		return;
	}
	k->member = xcalloc(1, 1);
	p->at = p->end; /* so that the error names another version, not damage, whatever follows */
}
