/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chunks.c - see chunks.h. */
#include "algorithms/chunks.h"

#include "algorithms/parallel.h"
#include "algorithms/zstd_block.h"
#include "base/assert.h"
#include "base/mem.h"
#include "base/progress.h"
#include "memory/big.h"
#include "memory/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { MAGIC_BYTES = 8, ALIGNMENT = 1 << 16, MAPPED_FROM = 1 << 17, FORM = 1, FORM_PACKED = 2 };

/* The last bytes of a file. */
struct trailer {
	uint64_t toc;    /* offset of the entries */
	uint64_t size;   /* of the file */
	uint64_t sum;    /* of the entries and the members above */
	uint32_t n;      /* entries */
	uint32_t version;
	char magic[MAGIC_BYTES];
};

struct chunks {
	int fd;
	struct stat was; /* the file when it was opened */
	uint32_t n;
	bool packed;
	struct chunk_entry entry[CHUNKS_MOST];
	struct zstd_blocks blocks[CHUNKS_MOST]; /* of a packed file */
};

static int check_machine(struct err *err)
{
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	(void)err;
	return 0;
#else
	return err_set(err, ERR_UNSUPPORTED, "index files are little-endian, and this machine is not");
#endif
}

/* --- checksums ---------------------------------------------------------------------------------- */

static inline uint64_t stir(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * UINT64_C(0x9E3779B185EBCA87);
	return sum << 29 | sum >> 35;
}

/* Of stretches in any order. */
static uint64_t sum_all(const uint8_t *p, uint64_t n)
{
	uint64_t sum = n;
	for (uint64_t from = 0; from < n; from += CHUNK_STRETCH)
		sum += stretch_sum(p + from, n - from < CHUNK_STRETCH ? n - from : CHUNK_STRETCH, from / CHUNK_STRETCH);
	return sum;
}

/* --- writing ------------------------------------------------------------------------------------ */

static int put(struct chunks_writer *w, const void *bytes, uint64_t n, struct err *err)
{
	w->at += n;
	return !n || fwrite(bytes, n, 1, w->to) == 1 ? 0 : err_set(err, ERR_IO, "%s", strerror(errno));
}

static int put_zeros(struct chunks_writer *w, uint64_t alignment, struct err *err)
{
	static const char zeros[ALIGNMENT];
	return put(w, zeros, -w->at & (alignment - 1), err);
}

int chunks_begin(struct chunks_writer *w, FILE *to, bool packed, struct err *err)
{
	*w = (struct chunks_writer){ .to = to, .packed = packed };
	int code = check_machine(err);
	if (!code && packed)
		code = zstd_block_may(err);
	return code ? code : put(w, CHUNKS_MAGIC, MAGIC_BYTES, err);
}

static struct chunk_entry *new_entry(struct chunks_writer *w, const char *name)
{
	cairn_assert(w->n < CHUNKS_MOST && strlen(name) < CHUNK_NAME);
	struct chunk_entry *e = &w->entry[w->n++];
	*e = (struct chunk_entry){ .offset = w->at };
	memcpy(e->name, name, strlen(name));
	return e;
}

static int note_place(struct chunks_writer *w, struct chunk_entry *e, const struct zstd_blocks_place *place, int code)
{
	e->bytes = place->bytes;
	e->sum = place->sum;
	w->at += place->bytes;
	return code;
}

int chunks_add(struct chunks_writer *w, const char *name, const void *bytes, uint64_t n, struct err *err)
{
	if (w->packed)
		return chunks_add_numbers(w, name, bytes, n, 1, false, err);
	int code = put_zeros(w, n < MAPPED_FROM ? 8 : ALIGNMENT, err);
	struct chunk_entry *e = new_entry(w, name);
	e->bytes = e->sum = n;
	for (uint64_t from = 0; !code && from < n; from += CHUNK_STRETCH) {
		const uint8_t *stretch = (const uint8_t *)bytes + from;
		uint64_t length = n - from < CHUNK_STRETCH ? n - from : CHUNK_STRETCH;
		e->sum += stretch_sum(stretch, length, from / CHUNK_STRETCH);
		code = put(w, stretch, length, err);
		if (!code && !progress_add(progress_own(), length))
			code = err_cancelled(err);
	}
	return code;
}

int chunks_add_numbers(struct chunks_writer *w, const char *name, const void *numbers, uint64_t count,
    unsigned width, bool ascending, struct err *err)
{
	struct zstd_blocks_place place;
	if (!w->packed)
		return chunks_add(w, name, numbers, count * width, err);
	struct chunk_entry *e = new_entry(w, name);
	int code = zstd_blocks_write(w->to, &place, numbers, count * width, width, ascending, err);
	return note_place(w, e, &place, code);
}

int chunks_end(struct chunks_writer *w, struct err *err)
{
	int code = put_zeros(w, 8, err);
	struct trailer t = { .toc = w->at, .n = w->n, .version = w->packed ? FORM_PACKED : FORM,
		.magic = CHUNKS_MAGIC };
	uint64_t bytes = w->n * sizeof *w->entry;
	t.size = w->at + bytes + sizeof t;
	t.sum = sum_all((const uint8_t *)w->entry, bytes) ^ stir(t.toc, t.size);
	if (!code)
		code = put(w, w->entry, bytes, err);
	if (!code)
		code = put(w, &t, sizeof t, err);
	if (!code && fflush(w->to))
		code = err_set(err, ERR_IO, "%s", strerror(errno));
	return code;
}

/* --- reading ------------------------------------------------------------------------------------ */

static bool entry_holds(const struct chunks *c, const struct chunk_entry *e, uint64_t toc)
{
	uint64_t alignment = c->packed ? 1 : e->bytes < MAPPED_FROM ? 8 : ALIGNMENT;
	return memchr(e->name, '\0', sizeof e->name) && e->offset >= MAGIC_BYTES && e->offset <= toc &&
	    e->bytes <= toc - e->offset && e->offset % alignment == 0;
}

static int read_toc(struct chunks *c, uint64_t size, struct err *err)
{
	struct trailer t;
	char magic[MAGIC_BYTES];
	if (size < MAGIC_BYTES)
		return err_set(err, ERR_FORMAT, "%s", size ? "it is not an index file" : "it is empty");
	int code = stretch_read(c->fd, magic, sizeof magic, 0, err);
	if (!code && memcmp(magic, CHUNKS_MAGIC, sizeof magic))
		code = err_set(err, ERR_FORMAT, "it is not an index file");
	if (!code && size < MAGIC_BYTES + sizeof t)
		code = err_set(err, ERR_TRUNCATED, "it is truncated");
	if (!code)
		code = stretch_read(c->fd, &t, sizeof t, size - sizeof t, err);
	if (code)
		return code;
	if (memcmp(t.magic, CHUNKS_MAGIC, sizeof t.magic) || t.size != size)
		return err_set(err, ERR_TRUNCATED, "it is truncated, or damaged at its end");
	c->packed = t.version == FORM_PACKED;
	if (t.version != FORM && !c->packed)
		return err_set(err, ERR_FORMAT, "it has version %" PRIu32 ", and this cairn reads version %d",
		    t.version, FORM_PACKED);
	if (c->packed && (code = zstd_block_may(err)))
		return code;
	uint64_t bytes = size - sizeof t;
	if (t.n > CHUNKS_MOST || t.toc > bytes || bytes - t.toc != t.n * sizeof *c->entry)
		return err_set(err, ERR_FORMAT, "its table of contents is damaged");
	c->n = t.n;
	code = stretch_read(c->fd, c->entry, t.n * sizeof *c->entry, t.toc, err);
	if (!code && t.sum != (sum_all((const uint8_t *)c->entry, t.n * sizeof *c->entry) ^ stir(t.toc, t.size)))
		code = err_set(err, ERR_FORMAT, "its table of contents is damaged");
	for (uint32_t i = 0; i < c->n && !code; i++)
		if (!entry_holds(c, &c->entry[i], t.toc))
			code = err_set(err, ERR_FORMAT, "its table of contents is damaged");
	for (uint32_t i = 0; c->packed && i < c->n && !code; i++)
		code = zstd_blocks_open(&c->blocks[i], c->fd, &(struct zstd_blocks_place){ c->entry[i].offset,
		    c->entry[i].bytes, c->entry[i].sum }, err);
	return code;
}

static bool maps(const struct chunks *c)
{
	for (uint32_t i = 0; i < c->n && !c->packed; i++)
		if (c->entry[i].bytes >= MAPPED_FROM)
			return true;
	return false;
}

int chunks_open(struct chunks **out, const char *path, struct err *err)
{
	*out = NULL;
	int code = check_machine(err);
	if (code)
		return code;
	struct chunks *c = xcalloc(1, sizeof *c);
	c->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (c->fd < 0 || !mapped_file_stat(c->fd, &c->was))
		code = err_set(err, errno == ENOENT || errno == ENAMETOOLONG ? ERR_NOT_FOUND : ERR_IO, "%s", strerror(errno));
	else if (!S_ISREG(c->was.st_mode))
		code = err_set(err, ERR_FORMAT, "it is not an index file");
	else
		code = read_toc(c, (uint64_t)c->was.st_size, err);
	if (!code && maps(c))
		mapped_file_guard(c->fd, &c->was);
	if (code) {
		chunks_close(c);
		return code;
	}
	*out = c;
	return 0;
}

void chunks_close(struct chunks *c)
{
	if (c && c->fd >= 0) {
		mapped_file_release(c->fd);
		close(c->fd);
	}
	for (uint32_t i = 0; c && c->packed && i < c->n; i++)
		zstd_blocks_release(&c->blocks[i]);
	free(c);
}

int chunks_fd(const struct chunks *c)
{
	return c->fd;
}

bool chunks_packed(const struct chunks *c)
{
	return c->packed;
}

static const struct chunk_entry *find(const struct chunks *c, const char *name)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (!strcmp(c->entry[i].name, name))
			return &c->entry[i];
	return NULL;
}

static uint64_t bytes_of(const struct chunks *c, const struct chunk_entry *e)
{
	return c->packed ? c->blocks[e - c->entry].bytes : e->bytes;
}

bool chunks_changed(const struct chunks *c)
{
	return maps(c) && mapped_file_changed(c->fd, &c->was);
}

bool chunks_exposed(const struct chunks *c)
{
	struct statvfs fs;
	bool others = (c->was.st_uid && c->was.st_uid != geteuid()) || c->was.st_mode & S_IWOTH;
	return maps(c) && others && !(fstatvfs(c->fd, &fs) == 0 && fs.f_flag & ST_RDONLY);
}

const char *chunks_name(const struct chunks *c, uint32_t i)
{
	return i < c->n ? c->entry[i].name : NULL;
}

uint64_t chunks_bytes(const struct chunks *c, const char *name)
{
	const struct chunk_entry *e = find(c, name);
	return e ? bytes_of(c, e) : UINT64_MAX;
}

int chunks_take(const struct chunks *c, const char *name, const void **bytes, uint64_t *n, struct err *err)
{
	const struct chunk_entry *e = find(c, name);
	*bytes = NULL;
	if (!e)
		return err_set(err, ERR_FORMAT, "it has no chunk %s", name);
	*n = bytes_of(c, e);
	if (!c->packed && e->bytes >= MAPPED_FROM) {
		*bytes = big_map(c->fd, e->offset, e->bytes, err);
		return *bytes ? 0 : ERR_IO;
	}
	void *copy = big_alloc(*n, 1, err);
	if (!copy)
		return ERR_NOMEM;
	int code = c->packed ? zstd_blocks_read(&c->blocks[e - c->entry], copy, err) :
	    stretch_read(c->fd, copy, e->bytes, e->offset, err);
	if (code)
		big_free(copy);
	else
		*bytes = copy;
	return code;
}

/* --- checking ----------------------------------------------------------------------------------- */

struct checking {
	const struct chunks *c;
	const struct chunk_look *looks;
	size_t n;
	uint64_t *first; /* by look: the number of its first stretch; one more for the end */
	const struct chunk_entry **entry;
	_Atomic uint64_t *sum;
};

static int check_stretch(void *context, unsigned task, struct err *err)
{
	struct checking *k = context;
	size_t i = 0;
	while (k->first[i + 1] <= task)
		i++;
	const struct chunk_look *look = &k->looks[i];
	uint64_t number = task - k->first[i], from = number * CHUNK_STRETCH;
	uint64_t left = bytes_of(k->c, k->entry[i]) - from, n = left < CHUNK_STRETCH ? left : CHUNK_STRETCH;
	const uint8_t *at = (const uint8_t *)look->bytes + from;
	if (!k->c->packed) { /* else its blocks had their checksums */
		big_fetch(at, n);
		atomic_fetch_add(&k->sum[i], stretch_sum(at, n, number));
	}
	if (look->holds && !look->holds(look->context, from, n))
		return err_set(err, ERR_FORMAT, "its chunk %s is damaged", look->name);
	return 0;
}

int chunks_check(const struct chunks *c, const struct chunk_look *looks, size_t n, struct err *err)
{
	uint64_t first[CHUNKS_MOST + 1] = { 0 };
	const struct chunk_entry *entry[CHUNKS_MOST];
	_Atomic uint64_t sum[CHUNKS_MOST];
	struct checking k = { .c = c, .looks = looks, .n = n, .first = first, .entry = entry, .sum = sum };
	cairn_assert(n <= CHUNKS_MOST);
	for (size_t i = 0; i < n; i++) {
		entry[i] = find(c, looks[i].name);
		cairn_assert(entry[i]);
		sum[i] = entry[i]->bytes;
		first[i + 1] = first[i] + (bytes_of(c, entry[i]) + CHUNK_STRETCH - 1) / CHUNK_STRETCH;
	}
	if (first[n] > UINT32_MAX)
		return err_set(err, ERR_FORMAT, "it is too large");
	int code = parallel_run(0, (unsigned)first[n], check_stretch, &k, err);
	for (size_t i = 0; i < n && !code && !c->packed; i++)
		if (sum[i] != entry[i]->sum)
			code = err_set(err, ERR_FORMAT, "the checksum of its chunk %s is wrong", looks[i].name);
	return code;
}
