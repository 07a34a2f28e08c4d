/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_base.c - the base room: text, sizes, bits, threads, errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algorithms/bisect.h"
#include "algorithms/bits.h"
#include "algorithms/parallel.h"
#include "base/err.h"
#include "base/masking.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/text.h"
#include "memory/big.h"

/* --- errors ------------------------------------------------------------------------------------ */

static void errors(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(err_at(&err, ERR_FORMAT, 77, "tag %d", 9), ERR_FORMAT);
	assert_true(err.has_offset);
	assert_int_equal(err.offset, 77);
	err_context(&err, "file %s", "a");
	assert_string_equal(err.message, "file a: tag 9");
	/* an argument may be the message that is replaced */
	assert_int_equal(err_set(&err, ERR_IO, "<%s>", err.message), ERR_IO);
	assert_string_equal(err.message, "<file a: tag 9>");
	assert_false(err.has_offset);
	assert_int_equal(err_set(NULL, ERR_IO, "nobody"), ERR_IO);

	/* whatever the words are, and however often they are passed on */
	err_set(&err, ERR_USAGE, "no %s", "\033[2J\n\xFF\xE2\x80\xAE");
	assert_string_equal(err.message, "no \\x1b[2J\\n\\xff\\u202e");
	err_context(&err, "\r%s", "\xC3\xA4");
	assert_string_equal(err.message, "\\x0d\xC3\xA4: no \\x1b[2J\\n\\xff\\u202e");
	err_set(&err, ERR_IO, "<file a: tag 9>");

	char longest[2 * sizeof err.message];
	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	err_context(&err, "%s", longest);
	assert_string_equal(err.message, "<file a: tag 9>"); /* the message matters more */
	err_set(&err, ERR_IO, "%s", longest);
	assert_int_equal(strlen(err.message), sizeof err.message - 1);
	err_context(&err, "front");
	assert_int_equal(strlen(err.message), sizeof err.message - 1);
	assert_memory_equal(err.message, "front: xxx", 10);
}

/* --- text -------------------------------------------------------------------------------------- */

static void check_escaped(const char *bytes, size_t n, const char *want)
{
	struct text t = TEXT_INIT;

	text_add_escaped(&t, bytes, n);
	assert_string_equal(t.s, want);
	assert_int_equal(t.len, strlen(want));
	/* what was escaped once stays */
	struct text again = TEXT_INIT;
	text_add_escaped(&again, t.s, t.len);
	assert_string_equal(again.s, want);
	text_release(&again);
	text_release(&t);
}
#define ESCAPED(literal, want) check_escaped(literal, sizeof(literal) - 1, want)

static void escaping(void **state)
{
	(void)state;
	ESCAPED("", "");
	ESCAPED("plain\\n", "plain\\n");
	ESCAPED("a\nb\tc\rd\033[2J", "a\\nb\\tc\\x0dd\\x1b[2J");
	ESCAPED("\0x\177", "\\x00x\\x7f");
	ESCAPED("\xC2\x85|\xC2\x9B", "\\u0085|\\u009b");         /* C1: also terminal controls */
	ESCAPED("\xE2\x80\xAE" "evil\xE2\x81\xA6", "\\u202eevil\\u2066");
	ESCAPED("\xE2\x80\xA8", "\\u2028");
	ESCAPED("\xC3\xA4\xE6\x97\xA5\xF0\x9F\x98\x80", "\xC3\xA4\xE6\x97\xA5\xF0\x9F\x98\x80");
	ESCAPED("\xFF\xC3", "\\xff\\xc3");
	ESCAPED("\xC0\x80", "\\xc0\\x80");                       /* overlong */
	ESCAPED("\xE0\x80\x80", "\\xe0\\x80\\x80");
	ESCAPED("\xF4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");     /* above U+10FFFF */
	ESCAPED("\xED\xA0\xBD\xED\xB8\x80", "\\ud83d\\ude00");   /* a pair is no UTF-8 either */
	ESCAPED("\xF0\x9F\x98", "\\xf0\\x9f\\x98");
	/* what nobody sees: soft hyphen, joiners, byte order mark, filler, selector, tag */
	ESCAPED("a\xC2\xAD" "b\xE2\x80\x8B\xE2\x80\x8C\xE2\x80\x8D", "a\\u00adb\\u200b\\u200c\\u200d");
	ESCAPED("\xE2\x81\xA0\xEF\xBB\xBF\xE3\x85\xA4\xEF\xB8\x8F", "\\u2060\\ufeff\\u3164\\ufe0f");
	ESCAPED("A\xF3\xA0\x81\x81", "A\\u{e0041}");
	/* eight marks stay on their letter, and begin anew on the next one */
	ESCAPED("a\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x82" "b\xCC\x82",
	    "a\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81\\u0302" "b\xCC\x82");
	/* wherever it stands among plain bytes */
	for (size_t at = 0; at < 24; at++) {
		char bytes[25] = "abcdefghijklmnopqrstuvwx", want[32];
		bytes[at] = at % 2 ? '\x1f' : '\x7f';
		snprintf(want, sizeof want, "%.*s\\x%s%s", (int)at, bytes, at % 2 ? "1f" : "7f", bytes + at + 1);
		check_escaped(bytes, strlen(bytes), want);
	}
	/* into a place of its own: whole characters only, and the NUL */
	char room[8];
	text_escape(room, sizeof room, "1234567");
	assert_string_equal(room, "1234567");
	text_escape(room, sizeof room, "12345\xC3\xA4\xC3\xA4");
	assert_string_equal(room, "12345..");
	text_escape(room, sizeof room, "1234\xC3\xA4\xC3\xA4");
	assert_string_equal(room, "1234..");
	text_escape(room, sizeof room, "1234\0335");
	assert_string_equal(room, "1234..");
	text_escape(room, sizeof room, "\033567890");
	assert_string_equal(room, "\\x1b5..");
	text_escape(room, 3, "123");
	assert_string_equal(room, "..");
}

/* --- texts in sentences ------------------------------------------------------------------------ */

static void sentences(void **state)
{
	struct err err = ERR_INIT;
	struct text t = TEXT_INIT;
	(void)state;
	/* of every length, in front of arguments that must still be theirs */
	for (size_t n = 0; n < 16; n++) {
		char word[16 * 3 + 1] = "", want[100], cut[16 * 3 + 1] = "";
		for (size_t i = 0; i < n; i++)
			memcpy(word + 3 * i, "\xE6\x97\xA5", 4);
		memcpy(cut, word, 3 * (n > 6 ? 6 : n)); /* 20 bytes hold 6, and with the mark 6 as well */
		snprintf(want, sizeof want, "7 %s%s 9 8 %s 5%%", cut, n > 6 ? ".." : "", word);
		err_set(&err, ERR_USAGE, "%u %.20s %llu %zu %s %d%%", 7u, word, 9ULL, (size_t)8, word, 5);
		assert_string_equal(err.message, want);
		text_clear(&t);
		text_addf(&t, "%u %.20s %llu %zu %s %d%%", 7u, word, 9ULL, (size_t)8, word, 5);
		assert_string_equal(t.s, want);
	}
	text_release(&t);
	err_set(&err, ERR_USAGE, "%.4s %.4s %.*s %.1f %.3s", "1234", "12345", 3, "12345", 0.25, "\xFF\xFF\xFF\xFF");
	assert_string_equal(err.message, "1234 12.. 123 0.2 \\xff..");
	/* arguments of every width in front of one that is cut */
	err_set(&err, ERR_USAGE, "%c %hhu %ld %lx %lld %jd %td%.0s %.5s", 'c', (unsigned char)1, 2L, 3UL, 4LL,
	    (intmax_t)5, (ptrdiff_t)6, "", "1234567");
	assert_string_equal(err.message, "c 1 2 3 4 5 6 123..");
	/* the whole, wherever a character ends */
	for (size_t n = 0; n < 8; n++) {
		char word[2 * sizeof err.message] = "";
		memset(word, 'x', n);
		for (size_t at = n; at < sizeof err.message + 80; at += 4)
			memcpy(word + at, "\xF0\x9F\x98\x80", 5);
		err_set(&err, ERR_USAGE, "%s", word);
		size_t length = strlen(err.message);
		assert_in_range(length, sizeof err.message - 5, sizeof err.message - 1);
		assert_string_equal(err.message + length - 2, "..");
		assert_int_equal((length - 2 - n) % 4, 0);
	}
}

static void check_modified(const char *bytes, size_t n, const char *want)
{
	struct text t = TEXT_INIT;

	text_add_modified_utf8(&t, (const uint8_t *)bytes, n);
	assert_string_equal(t.s, want);
	text_release(&t);
}
#define MODIFIED(literal, want) check_modified(literal, sizeof(literal) - 1, want)

static void modified_utf8(void **state)
{
	(void)state;
	MODIFIED("java/lang/String", "java/lang/String");
	MODIFIED("a\xC0\x80z", "a\\x00z");
	MODIFIED("\xED\xA0\xBD\xED\xB8\x80!", "\xF0\x9F\x98\x80!");
	MODIFIED("\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80"); /* plain UTF-8 is taken as well */
	MODIFIED("\xED\xA0\xBDx", "\\ud83dx");
	MODIFIED("\xED\xB8\x80\xED\xA0\xBD", "\\ude00\\ud83d");
	MODIFIED("\xED\xA0\xBD\xED\xB8", "\\ud83d\\xed\\xb8");
	MODIFIED("\xC3\xA4\xFE\x80\xC0", "\xC3\xA4\\xfe\\x80\\xc0");
	MODIFIED("x\033y", "x\\x1by");
}

/* Every code point there and back; every byte string of 3 bytes decodes to something or nothing. */
static void utf8_both_ways(void **state)
{
	(void)state;
	for (uint32_t p = 0; p <= 0x10FFFF; p++) {
		char bytes[4];
		int32_t back;
		size_t n = utf8_encode(bytes, p);
		size_t used = utf8_decode(bytes, n, &back);
		if (p >= 0xD800 && p <= 0xDFFF) {
			assert_int_equal(back, -1);
			assert_int_equal(used, 1);
			continue;
		}
		assert_int_equal(used, n);
		assert_int_equal(back, p);
		for (size_t cut = 1; cut < n; cut++) {
			assert_int_equal(utf8_decode(bytes, cut, &back), 1);
			assert_int_equal(back, -1);
		}
	}
}

static void width(void **state)
{
	size_t used;

	(void)state;
	assert_int_equal(text_width(""), 0);
	assert_int_equal(text_width("abc"), 3);
	assert_int_equal(text_width("a\xCC\x88" "b"), 2);                 /* a combining mark */
	assert_int_equal(text_width("\xE6\x97\xA5\xE6\x9C\xAC"), 4);      /* two wide characters */
	assert_int_equal(text_width("\xC3\xA4\xFF"), 2);                  /* an invalid byte */
	assert_int_equal(text_fit("\xE6\x97\xA5\xE6\x9C\xAC", 3, &used), 3);
	assert_int_equal(used, 2);
	assert_int_equal(text_fit("a\xCC\x88" "b", 1, &used), 3);         /* the mark stays with its letter */
	assert_int_equal(text_fit("abc", 10, &used), 3);
	assert_int_equal(used, 3);
	assert_int_equal(text_fit("abc", 0, NULL), 0);
}

static void growing(void **state)
{
	struct text t = TEXT_INIT;
	char want[3001] = "";

	(void)state;
	text_clear(&t);
	assert_string_equal(t.s, "");
	for (int i = 0; i < 300; i++) {
		text_addf(&t, "%09d;", i);
		snprintf(want + 10 * i, 11, "%09d;", i);
	}
	assert_string_equal(t.s, want);
	text_addf(&t, "%s", want); /* longer than what is left */
	assert_int_equal(t.len, 6000);
	assert_string_equal(t.s + 3000, want);
	char *s = text_take(&t);
	assert_null(t.s);
	assert_int_equal(strlen(s), 6000);
	free(s);
	s = text_take(&t);
	assert_string_equal(s, "");
	free(s);
}

static void check_number(void (*add)(struct text *, uint64_t), uint64_t n, const char *want)
{
	struct text t = TEXT_INIT;

	add(&t, n);
	assert_string_equal(t.s, want);
	text_release(&t);
}

static void numbers(void **state)
{
	uint64_t n;

	(void)state;
	check_number(text_add_count, 0, "0");
	check_number(text_add_count, 999, "999");
	check_number(text_add_count, 1000, "1,000");
	check_number(text_add_count, 1234567, "1,234,567");
	check_number(text_add_count, UINT64_MAX, "18,446,744,073,709,551,615");
	check_number(text_add_bytes, 999, "999");
	check_number(text_add_bytes, 1000, "1.0K");
	check_number(text_add_bytes, 1536, "1.5K");
	check_number(text_add_bytes, 100 << 10, "100K");
	check_number(text_add_bytes, 1023 << 10, "1.0M");
	check_number(text_add_bytes, UINT64_C(3) << 30, "3.0G");
	check_number(text_add_bytes, UINT64_MAX, "16.0E");

	static const struct {
		const char *s;
		uint64_t bytes;
	} good[] = {
		{ "0", 0 }, { "512", 512 }, { "64K", 64 << 10 }, { "2m", 2 << 20 },
		{ "1.5G", UINT64_C(3) << 29 }, { "0.125K", 128 }, { "3T", UINT64_C(3) << 40 },
		{ "18446744073709551615", UINT64_MAX }, { "16383P", UINT64_C(16383) << 50 },
	};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_true(parse_size(good[i].s, &n));
		assert_int_equal(n, good[i].bytes);
	}
	static const char *const bad[] = { "", "K", "-1", "+1", " 1", "1 ", "1KB", "1.K", ".5K", "1.5", "0x10",
		"18446744073709551616", "16384P", "16383.9999999P1", "1e3", "1,000" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(parse_size(bad[i], &n));
}

/* --- bits -------------------------------------------------------------------------------------- */

static void check_bits(uint64_t n, unsigned one_in, unsigned seed)
{
	struct bits b;
	struct err err = ERR_INIT;
	bool *naive = xcalloc((size_t)n + 1, sizeof *naive);
	uint32_t ones = 0;

	assert_int_equal(bits_init(&b, n, &err), 0);
	for (uint64_t i = 0; i < n; i++) {
		seed = seed * 1103515245u + 12345u;
		if ((seed >> 8) % one_in == 0) {
			naive[i] = true;
			bits_set(&b, i);
		}
	}
	assert_int_equal(bits_seal(&b, &err), 0);
	struct bits_walk walk = bits_walk(&b);
	uint64_t one;
	for (uint64_t i = 0; i < n; i++) {
		assert_int_equal(bits_get(&b, i), naive[i]);
		assert_int_equal(bits_rank(&b, i), ones);
		if (naive[i]) {
			assert_int_equal(bits_select(&b, ones), i);
			assert_true(bits_next(&walk, &one));
			assert_int_equal(one, i);
			ones++;
		}
	}
	assert_false(bits_next(&walk, &one));
	assert_int_equal(bits_count(&b), ones);
	bits_release(&b);
	free(naive);
}

static void rank_and_select(void **state)
{
	static const uint64_t sizes[] = { 0, 1, 2, 63, 64, 65, 511, 512, 513, 1024, 4097, 20000 };
	uint64_t before = big_in_use();

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		check_bits(sizes[i], 1, 1);    /* all */
		check_bits(sizes[i], 3, 2);
		check_bits(sizes[i], 700, 3);  /* whole blocks without any */
		check_bits(sizes[i], 1u << 20, 4);
	}
	assert_int_equal(big_in_use(), before);
}

static void bisecting(void **state)
{
	static const int sorted[] = { 1, 3, 3, 3, 8, 9, 9 };
	(void)state;
	for (size_t n = 0; n <= sizeof sorted / sizeof *sorted; n++)
		for (int key = 0; key < 11; key++) {
			size_t naive = 0, at = 77;
			while (naive < n && sorted[naive] < key)
				naive++;
			BISECT(at, n, sorted[at] < key);
			assert_int_equal(at, naive);
		}
}

/* --- threads ----------------------------------------------------------------------------------- */

struct tally {
	_Atomic unsigned runs[500];
	unsigned fails_from;
};

static int count_task(void *context, unsigned task, struct err *err)
{
	struct tally *t = context;

	t->runs[task]++;
	if (task >= t->fails_from)
		return err_set(err, ERR_FORMAT, "task %u", task);
	return 0;
}

static void parallel(void **state)
{
	(void)state;
	for (unsigned threads = 0; threads <= 5; threads++) {
		struct tally all = { .fails_from = UINT32_MAX };
		struct err err = ERR_INIT;
		assert_int_equal(parallel_run(threads, 500, count_task, &all, &err), 0);
		for (unsigned i = 0; i < 500; i++)
			assert_int_equal(all.runs[i], 1);
		assert_int_equal(parallel_run(threads, 0, count_task, &all, &err), 0);

		struct tally some = { .fails_from = 100 };
		assert_int_equal(parallel_run(threads, 500, count_task, &some, &err), ERR_FORMAT);
		/* tasks start in order, so task 100 has run, and of those that failed it is the lowest */
		assert_string_equal(err.message, "task 100");
		for (unsigned i = 0; i <= 100; i++)
			assert_int_equal(some.runs[i], 1);
		assert_int_equal(some.runs[499], 0);
		assert_int_equal(parallel_run(threads, 500, count_task, &some, NULL), ERR_FORMAT);
	}
	parallel_set_threads(3);
	assert_int_equal(parallel_threads(), 3);
	parallel_set_threads(0);
	assert_true(parallel_threads() >= 1);
}

static int wait_for_cancel(void *context, struct job *job)
{
	sigset_t blocked;

	(void)context;
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	if (!sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGWINCH) ||
	    sigismember(&blocked, SIGBUS))
		return err_set(&job->err, ERR_IO, "wrong signals");
	progress_phase(&job->progress, PHASE_FIND_PATH, 10);
	while (progress_add(&job->progress, 1))
		usleep(100);
	return err_set(&job->err, ERR_CANCELLED, "cancelled");
}

static void jobs(void **state)
{
	struct job job = { .result = 0 };
	int wake[2];

	(void)state;
	assert_int_equal(pipe(wake), 0);
	assert_int_equal(job_start(&job, wait_for_cancel, NULL, wake[1]), 0);
	while (!job.progress.done)
		usleep(100);
	assert_int_equal(job.progress.phase, PHASE_FIND_PATH);
	assert_false(progress_expected(&job.progress, PHASE_FIND_TYPES));
	progress_expect(&job.progress, PHASE_FIND_TYPES);
	assert_true(progress_expected(&job.progress, PHASE_FIND_TYPES));
	assert_false(progress_expected(&job.progress, PHASE_FIND_ROOTS));
	assert_false(job_finished(&job));
	job_cancel(&job);
	struct pollfd ready = { .fd = wake[0], .events = POLLIN };
	assert_int_equal(poll(&ready, 1, 10000), 1);
	assert_true(job_finished(&job));
	assert_int_equal(job_wait(&job), ERR_CANCELLED);
	assert_int_equal(job_wait(&job), ERR_CANCELLED);
	assert_string_equal(job.err.message, "cancelled");
	close(wake[0]);
	close(wake[1]);

	progress_phase(NULL, PHASE_FIND_PATH, 1);
	assert_true(progress_add(NULL, 1));
	assert_false(progress_cancelled(NULL));
}

/* Every phase has its words, no two the same; those of a job stand together and share its time. */
static void phases(void **state)
{
	(void)state;
	for (enum phase i = PHASE_NONE + 1; i < PHASES; i++) {
		const struct phase_info *p = &phase_info[i];
		assert_non_null(p->words);
		assert_true(strlen(p->words) > 3);
		assert_non_null(p->word);
		assert_true(strlen(p->word) > 3 && strlen(p->word) <= strlen(p->words));
		for (enum phase k = PHASE_NONE + 1; k < i; k++)
			assert_string_not_equal(phase_info[k].words, p->words);
		assert_true((p->work != WORK_ALONE) == (p->share > 0));
		assert_false(p->announced && p->work == WORK_ALONE);
		if (p->work != WORK_ALONE && p->work != p[-1].work)
			for (enum phase k = PHASE_NONE + 1; k < i; k++)
				assert_int_not_equal(phase_info[k].work, p->work);
	}
}

/* --- secrets ------------------------------------------------------------------------------------ */

static void time_is_over(void **state)
{
	(void)state;
	struct progress p = PROGRESS_INIT;
	struct err err = ERR_INIT;
	p.until = progress_clock() + UINT64_C(3600000000000);
	assert_true(progress_add(&p, 1));
	assert_false(progress_cancelled(&p));
	assert_false(progress_late(&p));
	p.until = progress_clock();
	assert_false(progress_add(&p, 1));
	assert_true(progress_stops(&p, 0));
	assert_true(progress_late(&p));
	assert_int_equal(progress_check(&p, &err), ERR_CANCELLED);
	p.cancel = true; /* who asked to stop is not told that there was no time */
	assert_true(progress_cancelled(&p));
	assert_false(progress_late(&p));
	progress_reset(&p);
	assert_false(progress_cancelled(&p));
	assert_false(progress_late(NULL));
}

struct held {
	atomic_uint looks;
};

static int look_on(void *context, struct job *job)
{
	struct held *h = context;
	while (progress_add(&job->progress, 1))
		atomic_fetch_add(&h->looks, 1);
	return err_cancelled(&job->err);
}

static void wait_for_look(struct held *h, unsigned after)
{
	while (atomic_load(&h->looks) <= after)
		usleep(1000);
}

/* A job that is held stands still where it looks, goes on when it is let, and can be stopped while held. */
static void another_goes_first(void **state)
{
	(void)state;
	struct held h = { .looks = 0 };
	struct job job;
	assert_int_equal(job_start(&job, look_on, &h, -1), 0);
	wait_for_look(&h, 0);
	progress_hold(&job.progress, true);
	usleep(20000); /* the look it was at */
	unsigned before = atomic_load(&h.looks);
	usleep(30000);
	assert_int_equal(atomic_load(&h.looks), before);
	progress_hold(&job.progress, false);
	wait_for_look(&h, before);
	progress_hold(&job.progress, true);
	job_cancel(&job);
	assert_int_equal(job_wait(&job), ERR_CANCELLED);
}

static void secrets(void **state)
{
	static const char *const secret[] = {
		"password", "DB_PASSWD", "javax.net.ssl.trustStorePassword", "GITHUB_TOKEN", "api-key", "AWS_ACCESS_KEY_ID",
		"clientSecret", "PGPWD", "gcp.credentials", "Authorization", "ERLANG_COOKIE", "storepass",
	}, *const open[] = {"PWD", "OLDPWD", "HOME", "java.class.path", "user.dir", "SHELL", ""};
	static const struct {
		const char *text, *masked;
	} texts[] = {
		{"java -Xmx5m -cp /srv/keys.jar:/srv/b.jar a.TokenServer 80",
		    "java -Xmx5m -cp /srv/keys.jar:/srv/b.jar a.TokenServer 80"},
		{"java -Dx.password=abc -jar a.jar", "java -Dx.password=*** -jar a.jar"},
		{"-Dpassword=\"a b\" c", "-Dpassword=*** c"},
		{"\"-Dpassword=a b\" c", "\"-Dpassword=***\" c"},
		{"'-Dpassword=a \"b\" c' d", "'-Dpassword=***' d"},
		{"-Dpassword=", "-Dpassword=***"},
		{"run --token abc --verbose", "run --token *** --verbose"},
		{"run --token --verbose", "run --token --verbose"},
		{"keytool -storepass changeit -list", "keytool -storepass *** -list"},
		{"java -Dmonkey Main", "java -Dmonkey Main"},
		{"jdbc:x://h/d?user=a&password=b;c,d&e=f g", "jdbc:x://h/d?user=a&password=*** g"},
		{"postgres://shop:p:w/1@db:5432/shop", "postgres://***@db:5432/shop"},
		{"http://db/x user@host", "http://db/x user@host"},
		{"x://y://z x://u:p@h", "x://y://z x://***@h"}, {"x://y://u:p@h", "x://***@h"},
		{"{\"user\":\"u\",\"password\" : \"p q\",\"z\":1}", "{\"user\":\"u\",\"password\" : ***,\"z\":1}"},
		{"{\\\"token\\\":\\\"p\\\"}", "{\\\"token\\\":\\***}"},
		{"AccountName=a;AccountKey=b/c==;x", "AccountName=a;AccountKey=***"},
		{"", ""}, {"=", "="}, {"://", "://"}, {"--key", "--key"}, {"key\"", "key\""}, {"\"key\":", "\"key\":***"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof secret / sizeof *secret; i++)
		assert_true(masking_secret_name(secret[i], strlen(secret[i])));
	for (size_t i = 0; i < sizeof open / sizeof *open; i++)
		assert_false(masking_secret_name(open[i], strlen(open[i])));
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		size_t n = strlen(texts[i].text);
		char *exact = xmalloc(n + 1); /* nothing behind it may be read */
		struct text t = TEXT_INIT;
		memcpy(exact, texts[i].text, n);
		masking_mask(exact, n, &t);
		assert_string_equal(t.s ? t.s : "", texts[i].masked);
		text_release(&t);
		free(exact);
	}
	/* a long row of what could begin a login: each byte is looked at a few times, not each time again */
	enum { MANY = 1000000 };
	char *row = xmalloc(3 * MANY);
	for (size_t i = 0; i < MANY; i++)
		memcpy(row + 3 * i, "://", 3);
	struct text t = TEXT_INIT;
	masking_mask(row, 3 * MANY, &t);
	assert_int_equal(t.len, 3 * MANY);
	text_clear(&t);
	free(row);
	masking_secret_value("SHOP_KEY", 8, "abc", 3, &t);
	text_add(&t, " ");
	masking_secret_value("SHOP_KEY", 8, "", 0, &t);
	masking_secret_value("URL", 3, "http://u:p@h/", 13, &t);
	assert_string_equal(t.s, "*** http://***@h/");
	text_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors),
		cmocka_unit_test(escaping),
		cmocka_unit_test(sentences),
		cmocka_unit_test(modified_utf8),
		cmocka_unit_test(utf8_both_ways),
		cmocka_unit_test(width),
		cmocka_unit_test(growing),
		cmocka_unit_test(numbers),
		cmocka_unit_test(rank_and_select),
		cmocka_unit_test(bisecting),
		cmocka_unit_test(parallel),
		cmocka_unit_test(jobs),
		cmocka_unit_test(phases),
		cmocka_unit_test(time_is_over),
		cmocka_unit_test(another_goes_first),
		cmocka_unit_test(secrets),
	};
	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
