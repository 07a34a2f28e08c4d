/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search.c - see search.h. */
#include "command/take/search.h"

#include "base/big.h"
#include "base/chunks.h"
#include "base/files.h"
#include "base/gzipped.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OVERLAP = 2 * NEEDLE_ROOM };

/* --- the bytes of a file ------------------------------------------------------------------------ */

struct blocks {
	bytes_use *use;
	void *context;
	pthread_mutex_t lock; /* one at a time, each of which goes to all threads */
};

static int use_block(void *context, unsigned block, const uint8_t *bytes, uint64_t n, struct err *err)
{
	struct blocks *b = context;
	(void)block;
	pthread_mutex_lock(&b->lock);
	int code = b->use(b->context, bytes, n, err);
	pthread_mutex_unlock(&b->lock);
	return code;
}

/* A chunk of a packed file may be no row of numbers: then its blocks are looked at as they are. */
static int each_of_chunk(const struct chunks *chunks, const char *name, struct blocks *blocks, struct err *err)
{
	const void *bytes;
	uint64_t n;
	struct err own = ERR_INIT;
	int code = chunks_take(chunks, name, &bytes, &n, &own);
	if (code == ERR_FORMAT && chunks_packed(chunks))
		return chunks_use_blocks(chunks, name, chunks_blocks(chunks, name), use_block, blocks, err);
	if (code) {
		*err = own;
		return code;
	}
	code = blocks->use(blocks->context, bytes, n, err);
	big_free(bytes);
	return code;
}

static int each_chunk(const char *path, bytes_use *use, void *context, struct err *err)
{
	struct blocks blocks = {use, context, PTHREAD_MUTEX_INITIALIZER};
	struct chunks *chunks;
	int code = chunks_open(&chunks, path, err);
	for (uint32_t i = 0; !code && chunks_name(chunks, i); i++)
		code = each_of_chunk(chunks, chunks_name(chunks, i), &blocks, err);
	chunks_close(chunks);
	return code;
}

/* As they stand there, and unpacked. */
static int each_bytes(const char *path, bytes_use *use, void *context, struct err *err)
{
	struct stat st;
	int fd = file_open_read(path);
	if (fd < 0 || fstat(fd, &st)) {
		int code = err_set(err, ERR_IO, "it cannot be read again: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return code;
	}
	uint64_t n = (uint64_t)st.st_size;
	const uint8_t *bytes = n ? big_map(fd, 0, n, err) : NULL;
	int code = n && !bytes ? ERR_IO : 0;
	if (bytes)
		code = use(context, bytes, n, err);
	if (!code && bytes && gzip_is(bytes, n))
		code = gzip_each(bytes, n, OVERLAP, use, context, err);
	else if (!code && n > strlen(CHUNKS_MAGIC) && !memcmp(bytes, CHUNKS_MAGIC, strlen(CHUNKS_MAGIC)))
		code = each_chunk(path, use, context, err);
	big_free(bytes);
	close(fd);
	return code;
}

static int catch(void *sieve, const uint8_t *bytes, uint64_t n, struct err *err)
{
	return sieve_catch(sieve, bytes, n, err);
}

static int match(void *sieve, const uint8_t *bytes, uint64_t n, struct err *err)
{
	return sieve_match(sieve, bytes, n, MARK_FOUND, err);
}

/* --- the texts ---------------------------------------------------------------------------------- */

static int learn(void *sieve, const struct needles *needles, const struct needle_of *of, struct err *err)
{
	(void)of;
	(void)err;
	sieve_learn(sieve, needles);
	return 0;
}

static int keep(void *sieve, const struct needles *needles, const struct needle_of *of, struct err *err)
{
	return sieve_keep(sieve, needles, of, err);
}

static int learn_all(struct search *s, struct err *err)
{
	int code = sieve_new(&s->sieve, texts_most(s->h), err);
	if (!code)
		code = texts_each(s->h, learn, s->sieve, &s->found, err);
	if (code) {
		sieve_free(s->sieve);
		s->sieve = NULL;
	}
	return code;
}

static int excuse(void *sieve, const uint8_t *bytes, uint64_t n, struct err *err)
{
	return sieve_match(sieve, bytes, n, MARK_EXCUSED, err);
}

/* --- what is left ------------------------------------------------------------------------------- */

/* Needles that were found and that nothing excuses yet, some of them. */
enum { LEFT_MOST = 64 };
struct left {
	const struct needle *needle[LEFT_MOST];
	struct needle_of of[LEFT_MOST];
	bool named[LEFT_MOST];
	unsigned n;
	uint64_t more;
};

/* Beside a name stand numbers, of whose bytes one may read as a character, or the rest of a sentence: "Provider" and a
 * blank. */
static int name_but_one(void *context, const uint8_t *bytes, uint64_t n, struct err *err)
{
	struct left *left = context;
	for (unsigned i = 0; i < left->n; i++) {
		const struct needle *needle = left->needle[i];
		if (progress_cancelled(progress_own()))
			return err_cancelled(err);
		for (unsigned first = 0; first < 2 && !left->named[i]; first++)
			left->named[i] = memmem(bytes, n, needle->bytes + first, needle->n - 1u) != NULL;
	}
	return 0;
}

static void take_left(const struct search *s, enum written_as as, struct left *left, struct searched *out)
{
	const struct needle *needle;
	struct needle_of of;
	unsigned marks;
	for (uint64_t i = 0; sieve_next(s->sieve, &i, &needle, &of, &marks);) {
		if (!(marks & MARK_FOUND))
			continue;
		if (marks & MARK_EXCUSED) {
			out->named++;
		} else if (as == AS_WORDS ? of.numeric : of.control) {
			out->by_chance++;
		} else if (left->n == LEFT_MOST) {
			left->more++;
		} else {
			left->needle[left->n] = needle;
			left->of[left->n++] = of;
		}
	}
}

static int judge(const struct search *s, enum written_as as, struct searched *out, struct err *err)
{
	struct left left = {.n = 0};
	take_left(s, as, &left, out);
	int code = left.n && !left.more ? names_each(s->h, name_but_one, &left, err) : 0;
	for (unsigned i = 0; i < left.n && !code; i++) {
		if (left.named[i]) {
			out->by_chance++;
			continue;
		}
		if (!out->texts++) {
			out->first = left.of[i];
			out->form = (enum needle_form)left.needle[i]->form;
		}
	}
	out->texts += left.more;
	return code;
}

/* --- all ---------------------------------------------------------------------------------------- */

bool search_has_texts(const struct search *s)
{
	uint64_t n = 0;
	for (unsigned kind = 0; kind < TEXT_KINDS; kind++)
		n += s->found.of[kind];
	return n;
}

int search_file(struct search *s, const char *path, enum written_as as, struct searched *out, struct err *err)
{
	struct texts_found again;
	*out = (struct searched){0};
	int code = s->sieve ? 0 : learn_all(s, err);
	if (code || !search_has_texts(s))
		return code;
	sieve_begin(s->sieve);
	progress_phase(progress_own(), PHASE_SEARCH_COPY, 0);
	code = each_bytes(path, catch, s->sieve, err);
	if (!code)
		code = texts_each(s->h, keep, s->sieve, &again, err);
	if (code)
		return code;
	progress_phase(progress_own(), PHASE_SEARCH_COPY, 0);
	code = each_bytes(path, match, s->sieve, err);
	if (!code)
		code = names_each(s->h, excuse, s->sieve, err);
	if (!code)
		code = words_each(excuse, s->sieve, err);
	if (!code)
		code = judge(s, as, out, err);
	sieve_begin(s->sieve);
	return code;
}

void search_release(struct search *s)
{
	sieve_free(s->sieve);
	s->sieve = NULL;
}
