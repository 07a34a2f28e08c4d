/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search.c - see search.h. */
#include "command/bundle/search.h"

#include "algorithms/chunks.h"
#include "algorithms/gzipped.h"
#include "base/files.h"
#include "base/progress.h"
#include "heap/index_file/index_file.h"
#include "memory/big.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OVERLAP = 2 * NEEDLE_ROOM };

/* --- the bytes of a file ------------------------------------------------------------------------ */

/* One time through them. */
struct pass {
	struct sieve *sieve;
	enum sieve_mark mark; /* 0: catch */
	pthread_mutex_t lock; /* a block at a time, each of which goes to all threads */
};

static int use_bytes(void *pass, const uint8_t *bytes, uint64_t n, struct err *err)
{
	struct pass *p = pass;
	return p->mark ? sieve_match(p->sieve, bytes, n, p->mark, err) : sieve_catch(p->sieve, bytes, n, err);
}

static int use_block(void *pass, unsigned block, const uint8_t *bytes, uint64_t n, struct err *err)
{
	struct pass *p = pass;
	(void)block;
	pthread_mutex_lock(&p->lock);
	int code = use_bytes(p, bytes, n, err);
	pthread_mutex_unlock(&p->lock);
	return code;
}

/* A chunk of a packed file may be no row of numbers: then its blocks are looked at as they are. */
static int each_of_chunk(const struct chunks *chunks, const char *name, struct pass *p, struct err *err)
{
	const void *bytes;
	uint64_t n;
	struct err own = ERR_INIT;
	int code = chunks_take(chunks, name, &bytes, &n, &own);
	if (code == ERR_FORMAT && chunks_packed(chunks))
		return chunks_use_blocks(chunks, name, chunks_blocks(chunks, name), use_block, p, err);
	if (code) {
		*err = own;
		return code;
	}
	code = use_bytes(p, bytes, n, err);
	big_free(bytes);
	return code;
}

static int each_chunk(const char *path, struct pass *p, struct err *err)
{
	struct chunks *chunks;
	enum sieve_mark mark = p->mark;
	const char *name;
	int code = chunks_open(&chunks, path, err);
	for (uint32_t i = 0; !code && (name = chunks_name(chunks, i)); i++) {
		p->mark = mark && !index_file_has_texts(name) ? MARK_AMONG_NUMBERS : mark;
		code = each_of_chunk(chunks, name, p, err);
	}
	chunks_close(chunks);
	return code;
}

/* As they stand there, and unpacked. */
static int each_bytes(const char *path, struct sieve *sieve, enum sieve_mark mark, struct err *err)
{
	struct pass p = {sieve, mark, PTHREAD_MUTEX_INITIALIZER};
	struct stat st;
	int fd = file_open_read(path);
	if (fd < 0 || fstat(fd, &st)) {
		int code = err_set(err, ERR_IO, "cannot read it again: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return code;
	}
	uint64_t n = (uint64_t)st.st_size;
	const uint8_t *bytes = n ? big_map(fd, 0, n, err) : NULL;
	int code = n && !bytes ? ERR_IO : 0;
	if (bytes)
		code = use_bytes(&p, bytes, n, err);
	if (!code && bytes && gzip_is(bytes, n))
		code = gzip_each(bytes, n, OVERLAP, use_bytes, &p, err);
	else if (!code && n > strlen(CHUNKS_MAGIC) && !memcmp(bytes, CHUNKS_MAGIC, strlen(CHUNKS_MAGIC)))
		code = each_chunk(path, &p, err);
	big_free(bytes);
	close(fd);
	return code;
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

/* Among so many numbers some are the characters of a short text, where there are millions of these. */
static bool by_chance(const struct needle *needle, const struct needle_of *of, unsigned marks, enum written_as as)
{
	enum { NO_CHANCE = 16 }; /* characters */
	unsigned width = needle->form == FORM_UTF16_LE || needle->form == FORM_UTF16_BE ? 2 : 1;
	if (as == AS_WORDS)
		return of->numeric;
	return of->binary || (!(marks & MARK_FOUND) && needle->n / width < NO_CHANCE);
}

static void take_left(const struct search *s, enum written_as as, struct left *left, struct searched *out)
{
	const struct needle *needle;
	struct needle_of of;
	unsigned marks;
	for (uint64_t i = 0; sieve_next(s->sieve, &i, &needle, &of, &marks);) {
		if (!(marks & (MARK_FOUND | MARK_AMONG_NUMBERS)))
			continue;
		if (marks & MARK_EXCUSED) {
			out->named++;
		} else if (by_chance(needle, &of, marks, as)) {
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
	code = each_bytes(path, s->sieve, 0, err);
	if (!code)
		code = texts_each(s->h, keep, s->sieve, &again, err);
	if (code)
		return code;
	progress_phase(progress_own(), PHASE_SEARCH_COPY, 0);
	code = each_bytes(path, s->sieve, MARK_FOUND, err);
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
