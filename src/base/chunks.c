/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chunks.c - see chunks.h. */
#include "base/chunks.h"

#include "base/assert.h"
#include "base/big.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC_BYTES = 8, ALIGNMENT = 1 << 16, MAPPED_FROM = 1 << 17, FORM = 1 };

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
	uint32_t n;
	struct chunk_entry entry[CHUNKS_MOST];
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

/* Of one stretch: four sums side by side, for a multiplication takes as long as four are begun in. */
static uint64_t sum_stretch(const uint8_t *p, uint64_t n, uint64_t number)
{
	uint64_t sum[4] = { number, 1, 2, 3 }, word[4] = { 0 };
	for (; n >= sizeof word; n -= sizeof word, p += sizeof word) {
		memcpy(word, p, sizeof word);
		for (unsigned i = 0; i < 4; i++)
			sum[i] = stir(sum[i], word[i]);
	}
	memset(word, 0, sizeof word);
	if (n)
		memcpy(word, p, n);
	uint64_t all = stir(n, number);
	for (unsigned i = 0; i < 4; i++)
		all = stir(all, stir(sum[i], word[i]));
	return all ^ all >> 32;
}

/* Of stretches in any order. */
static uint64_t sum_all(const uint8_t *p, uint64_t n)
{
	uint64_t sum = n;
	for (uint64_t from = 0; from < n; from += CHUNK_STRETCH)
		sum += sum_stretch(p + from, n - from < CHUNK_STRETCH ? n - from : CHUNK_STRETCH, from / CHUNK_STRETCH);
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

int chunks_begin(struct chunks_writer *w, FILE *to, struct err *err)
{
	*w = (struct chunks_writer){ .to = to };
	int code = check_machine(err);
	return code ? code : put(w, CHUNKS_MAGIC, MAGIC_BYTES, err);
}

int chunks_add(struct chunks_writer *w, const char *name, const void *bytes, uint64_t n, struct err *err)
{
	cairn_assert(w->n < CHUNKS_MOST && strlen(name) < CHUNK_NAME);
	int code = put_zeros(w, n < MAPPED_FROM ? 8 : ALIGNMENT, err);
	struct chunk_entry *e = &w->entry[w->n++];
	*e = (struct chunk_entry){ .offset = w->at, .bytes = n, .sum = n };
	memcpy(e->name, name, strlen(name));
	for (uint64_t from = 0; !code && from < n; from += CHUNK_STRETCH) {
		const uint8_t *stretch = (const uint8_t *)bytes + from;
		uint64_t length = n - from < CHUNK_STRETCH ? n - from : CHUNK_STRETCH;
		e->sum += sum_stretch(stretch, length, from / CHUNK_STRETCH);
		code = put(w, stretch, length, err);
		if (!code && !progress_add(progress_own(), length))
			code = err_cancelled(err);
	}
	return code;
}

int chunks_end(struct chunks_writer *w, struct err *err)
{
	int code = put_zeros(w, 8, err);
	struct trailer t = { .toc = w->at, .n = w->n, .version = FORM, .magic = CHUNKS_MAGIC };
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

static int read_at(int fd, void *to, uint64_t n, uint64_t offset, struct err *err)
{
	for (uint8_t *at = to; n;) {
		ssize_t got = pread(fd, at, n, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return err_set(err, ERR_IO, "%s", got ? strerror(errno) : "it became shorter");
		at += got;
		offset += (uint64_t)got;
		n -= (uint64_t)got;
	}
	return 0;
}

static bool entry_holds(const struct chunk_entry *e, uint64_t toc)
{
	return memchr(e->name, '\0', sizeof e->name) && e->offset >= MAGIC_BYTES && e->offset <= toc &&
	    e->bytes <= toc - e->offset && e->offset % (e->bytes < MAPPED_FROM ? 8 : ALIGNMENT) == 0;
}

static int read_toc(struct chunks *c, uint64_t size, struct err *err)
{
	struct trailer t;
	char magic[MAGIC_BYTES];
	if (size < MAGIC_BYTES)
		return err_set(err, ERR_FORMAT, "it is no index file");
	int code = read_at(c->fd, magic, sizeof magic, 0, err);
	if (!code && memcmp(magic, CHUNKS_MAGIC, sizeof magic))
		code = err_set(err, ERR_FORMAT, "it is no index file");
	if (!code && size < MAGIC_BYTES + sizeof t)
		code = err_set(err, ERR_TRUNCATED, "it was cut");
	if (!code)
		code = read_at(c->fd, &t, sizeof t, size - sizeof t, err);
	if (code)
		return code;
	if (memcmp(t.magic, CHUNKS_MAGIC, sizeof t.magic) || t.size != size)
		return err_set(err, ERR_TRUNCATED, "it was cut, or damaged at its end");
	if (t.version != FORM)
		return err_set(err, ERR_FORMAT, "it has version %" PRIu32 ", and this cairn knows %d", t.version, FORM);
	uint64_t bytes = size - sizeof t;
	if (t.n > CHUNKS_MOST || t.toc > bytes || bytes - t.toc != t.n * sizeof *c->entry)
		return err_set(err, ERR_FORMAT, "its table of contents is damaged");
	c->n = t.n;
	code = read_at(c->fd, c->entry, t.n * sizeof *c->entry, t.toc, err);
	if (!code && t.sum != (sum_all((const uint8_t *)c->entry, t.n * sizeof *c->entry) ^ stir(t.toc, t.size)))
		code = err_set(err, ERR_FORMAT, "its table of contents is damaged");
	for (uint32_t i = 0; i < c->n && !code; i++)
		if (!entry_holds(&c->entry[i], t.toc))
			code = err_set(err, ERR_FORMAT, "its table of contents is damaged");
	return code;
}

int chunks_open(struct chunks **out, const char *path, struct err *err)
{
	struct stat st;
	*out = NULL;
	int code = check_machine(err);
	if (code)
		return code;
	struct chunks *c = xcalloc(1, sizeof *c);
	c->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (c->fd < 0 || fstat(c->fd, &st))
		code = err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s", strerror(errno));
	else if (!S_ISREG(st.st_mode))
		code = err_set(err, ERR_FORMAT, "it is no index file");
	else
		code = read_toc(c, (uint64_t)st.st_size, err);
	if (code) {
		chunks_close(c);
		return code;
	}
	*out = c;
	return 0;
}

void chunks_close(struct chunks *c)
{
	if (c && c->fd >= 0)
		close(c->fd);
	free(c);
}

int chunks_fd(const struct chunks *c)
{
	return c->fd;
}

static const struct chunk_entry *find(const struct chunks *c, const char *name)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (!strcmp(c->entry[i].name, name))
			return &c->entry[i];
	return NULL;
}

uint64_t chunks_bytes(const struct chunks *c, const char *name)
{
	const struct chunk_entry *e = find(c, name);
	return e ? e->bytes : UINT64_MAX;
}

int chunks_take(const struct chunks *c, const char *name, const void **bytes, uint64_t *n, struct err *err)
{
	const struct chunk_entry *e = find(c, name);
	*bytes = NULL;
	if (!e)
		return err_set(err, ERR_FORMAT, "it has no chunk %s", name);
	*n = e->bytes;
	if (e->bytes >= MAPPED_FROM) {
		*bytes = big_map(c->fd, e->offset, e->bytes, err);
		return *bytes ? 0 : ERR_IO;
	}
	void *copy = big_alloc(e->bytes, 1, err);
	if (!copy)
		return ERR_NOMEM;
	int code = read_at(c->fd, copy, e->bytes, e->offset, err);
	if (code)
		big_free(copy);
	else
		*bytes = copy;
	return code;
}

/* --- checking ----------------------------------------------------------------------------------- */

struct checking {
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
	uint64_t n = k->entry[i]->bytes - from < CHUNK_STRETCH ? k->entry[i]->bytes - from : CHUNK_STRETCH;
	const uint8_t *at = (const uint8_t *)look->bytes + from;
	big_fetch(at, n);
	atomic_fetch_add(&k->sum[i], sum_stretch(at, n, number));
	if (look->holds && !look->holds(look->context, from, n))
		return err_set(err, ERR_FORMAT, "its chunk %s is damaged", look->name);
	return 0;
}

int chunks_check(const struct chunks *c, const struct chunk_look *looks, size_t n, struct err *err)
{
	uint64_t first[CHUNKS_MOST + 1] = { 0 };
	const struct chunk_entry *entry[CHUNKS_MOST];
	_Atomic uint64_t sum[CHUNKS_MOST];
	struct checking k = { .looks = looks, .n = n, .first = first, .entry = entry, .sum = sum };
	cairn_assert(n <= CHUNKS_MOST);
	for (size_t i = 0; i < n; i++) {
		entry[i] = find(c, looks[i].name);
		cairn_assert(entry[i]);
		sum[i] = entry[i]->bytes;
		first[i + 1] = first[i] + (entry[i]->bytes + CHUNK_STRETCH - 1) / CHUNK_STRETCH;
	}
	if (first[n] > UINT32_MAX)
		return err_set(err, ERR_FORMAT, "it is too large");
	int code = parallel_run(0, (unsigned)first[n], check_stretch, &k, err);
	for (size_t i = 0; i < n && !code; i++)
		if (sum[i] != entry[i]->sum)
			code = err_set(err, ERR_FORMAT, "the checksum of its chunk %s is wrong", looks[i].name);
	return code;
}
