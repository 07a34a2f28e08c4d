/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_packed_bytes.c - bytes that come through pipes and are packed, beside the same bytes computed anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "algorithms/packed_bytes.h"
#include "algorithms/parallel.h"
#include "algorithms/zstd_block.h"
#include "memory/big.h"
#include "memory/mapped_file.h"
#include "memory/page_faults.h"
#include "memory/spill.h"

#define MB ((uint64_t)1 << 20)

/* Byte i of a stream of this kind. */
enum kind { DENSE /* nothing packs it */, LOOSE /* to about a third */ };
struct stream {
	enum kind kind;
	uint64_t seed, size;
};

static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint8_t byte_of(const struct stream *s, uint64_t i)
{
	uint64_t word = mixed(s->seed + i / 8);
	return s->kind == LOOSE && i % 8 > 2 ? (uint8_t)(i >> 20) : (uint8_t)(word >> i % 8 * 8);
}

struct feed {
	const struct stream *s;
	int fd;
	pthread_t thread;
};

static void *feed(void *context)
{
	struct feed *f = context;
	static _Thread_local uint8_t piece[64 << 10];
	uint64_t at = 0, n = 0, done = 0;

	while (at < f->s->size) {
		n = f->s->size - at < sizeof piece ? f->s->size - at : sizeof piece;
		for (uint64_t i = 0; i < n; i++)
			piece[i] = byte_of(f->s, at + i);
		for (done = 0; done < n;) {
			ssize_t now = write(f->fd, piece + done, n - done);
			if (now < 0)
				goto end; /* nobody reads it any more */
			done += (uint64_t)now;
		}
		at += n;
	}
end:
	close(f->fd);
	return NULL;
}

/* All of the streams, from a pipe each.  0, or the errno that ended it. */
static int fill(struct packed_bytes *p, const struct stream *s, unsigned n)
{
	struct feed f[PACKED_STREAMS];
	struct pollfd in[PACKED_STREAMS];
	unsigned open = n;
	int why = 0;

	for (unsigned i = 0; i < n; i++) {
		int ends[2];
		assert_int_equal(pipe(ends), 0);
		f[i] = (struct feed){.s = &s[i], .fd = ends[1]};
		in[i] = (struct pollfd){.fd = ends[0], .events = POLLIN};
		assert_int_equal(pthread_create(&f[i].thread, NULL, feed, &f[i]), 0);
	}
	while (open && !why && poll(in, n, -1) > 0) {
		for (unsigned i = 0; i < n; i++) {
			ssize_t got = in[i].fd >= 0 && in[i].revents ? packed_bytes_read(p, i, in[i].fd) : 1;
			why = got < 0 && errno != EAGAIN ? errno : why;
			if (got)
				continue;
			close(in[i].fd);
			in[i].fd = -1;
			open--;
		}
	}
	for (unsigned i = 0; i < n; i++) {
		if (in[i].fd >= 0)
			close(in[i].fd);
		pthread_join(f[i].thread, NULL);
	}
	return why;
}

struct reading {
	const uint8_t *bytes;
	const struct packed_bytes *p;
	const struct stream *s;
	unsigned n;
	_Atomic uint64_t wrong;
};

enum { READERS = 6, STRETCH = 4096 };

/* A reader walks all of one stream and jumps about in it. */
static int read_some(void *context, unsigned task, struct err *err)
{
	struct reading *r = context;
	unsigned which = task % r->n;
	const struct stream *s = &r->s[which];
	const uint8_t *bytes = r->bytes + packed_bytes_begin(r->p, which);
	uint64_t from = s->size / READERS * task;

	(void)err;
	for (uint64_t k = 0; k < s->size; k += task % 2 ? 32 * STRETCH : STRETCH) {
		uint64_t at = task % 2 ? mixed(k + task) % s->size : (from + k) % s->size;
		uint64_t end = at + 97 < s->size ? at + 97 : s->size;
		for (uint64_t i = at; i < end; i++)
			r->wrong += bytes[i] != byte_of(s, i);
	}
	return 0;
}

static void check_all(const struct packed_bytes *p, const uint8_t *bytes, const struct stream *s, unsigned n)
{
	struct reading r = {.bytes = bytes, .p = p, .s = s, .n = n};

	assert_int_equal(parallel_run(READERS, READERS, read_some, &r, NULL), 0);
	assert_int_equal(r.wrong, 0);
	for (unsigned k = 0; k < n; k++) /* and its ends */
		for (uint64_t i = 0; i < s[k].size; i += i < 9 || i + 9 > s[k].size ? 1 : s[k].size - 18)
			assert_int_equal(bytes[packed_bytes_begin(p, k) + i], byte_of(&s[k], i));
}

static struct packed_bytes *filled(const struct stream *s, unsigned n, uint64_t memory)
{
	struct err err = ERR_INIT;
	struct packed_bytes *p = NULL;

	assert_int_equal(packed_bytes_new(&p, n, memory, &err), 0);
	assert_int_equal(fill(p, s, n), 0);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(packed_bytes_size(p, i), s[i].size);
	return p;
}

static const uint8_t *ended(struct packed_bytes *p, const struct stream *s, unsigned n)
{
	uint64_t size, last = n - 1;
	const uint8_t *bytes = packed_bytes_end(p, &size);

	assert_non_null(bytes);
	while (last && !s[last].size)
		last--;
	assert_int_equal(size, packed_bytes_begin(p, (unsigned)last) + s[last].size);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(packed_bytes_begin(p, i) % (uint64_t)sysconf(_SC_PAGESIZE), 0);
	return bytes;
}

/* Where all fits nothing is packed. */
static void whole(void **state)
{
	const struct stream s[] = {{LOOSE, 1, 5 * MB + 12345}, {DENSE, 2, 0}, {DENSE, 3, 3 * MB}, {LOOSE, 4, 1}};
	uint64_t before = big_in_use(), in_file;
	struct packed_bytes *p = filled(s, 4, 0);

	(void)state;
	const uint8_t *bytes = ended(p, s, 4);
	check_all(p, bytes, &s[0], 1);
	check_all(p, bytes, s, 1);
	for (unsigned k = 0; k < 4; k++)
		for (uint64_t i = 0; i < s[k].size; i++)
			assert_int_equal(bytes[packed_bytes_begin(p, k) + i], byte_of(&s[k], i));
	uint64_t all = packed_bytes_memory(p, &in_file);
	assert_in_range(all, s[0].size + s[2].size + 1, 10 * MB);
	assert_int_equal(in_file, 0);
	assert_true(big_in_use() - before >= all);
	packed_bytes_free(p);
	assert_int_equal(big_in_use(), before);
}

static void empty(void **state)
{
	const struct stream s[] = {{LOOSE, 1, 0}, {LOOSE, 1, 0}};
	struct packed_bytes *p = filled(s, 2, 0);

	(void)state;
	(void)ended(p, s, 2);
	packed_bytes_free(p);
	assert_int_equal(packed_bytes_new(&p, 1, 0, NULL), 0);
	packed_bytes_free(p); /* nothing ever came */
	packed_bytes_free(NULL);
}

static void dropped(void **state)
{
	const struct stream s[] = {{LOOSE, 1, 40 * MB + 4}, {LOOSE, 2, 7 * MB + 9}};
	struct stream less[] = {s[0], s[1]};
	struct packed_bytes *p = filled(s, 2, 24 * MB);

	(void)state;
	packed_bytes_drop(p, 0, 9); /* across the beginning of a block */
	packed_bytes_drop(p, 1, 9);
	less[0].size -= 9;
	less[1].size -= 9;
	for (uint64_t i = 0; i < 3 * MB; i++, less[0].size++) { /* and the same anew, and more */
		uint8_t byte = byte_of(&s[0], less[0].size);
		assert_true(packed_bytes_add(p, 0, &byte, 1));
	}
	assert_int_equal(packed_bytes_size(p, 0), less[0].size);
	check_all(p, ended(p, less, 2), less, 2);
	packed_bytes_free(p);
}

/* Several readers where only a part may be there. */
static void packed(void **state)
{
	const struct stream s[] = {{LOOSE, 1, 3 * MB + 77}, {LOOSE, 2, 90 * MB + 1}, {DENSE, 3, 2 * MB}};
	const uint64_t budget = 32 * MB;
	uint64_t in_file;

	(void)state;
	if (zstd_block_may(NULL))
		skip();
	struct packed_bytes *p = filled(s, 3, budget);
	const uint8_t *bytes = ended(p, s, 3);
	for (unsigned round = 0; round < 3; round++) {
		uint64_t now = packed_bytes_memory(p, &in_file);
		assert_in_range(now, budget / 2, budget + 95 * MB / 2);
		check_all(p, bytes, s, 3);
		check_all(p, bytes + packed_bytes_begin(p, 0), s, 1);
	}
	assert_int_equal(in_file, 0);
	packed_bytes_free(p);
}

static uint64_t file_size(int fd)
{
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	return (uint64_t)st.st_size;
}

static void written(void **state)
{
	const struct stream s[] = {{LOOSE, 5, 50 * MB + 3}};
	char path[] = "/tmp/cairn-test-XXXXXX";
	static uint8_t piece[1 << 16];
	struct err err = ERR_INIT;
	int fd = mkstemp(path);
	struct packed_bytes *p = filled(s, 1, 16 * MB);

	(void)state;
	unlink(path);
	(void)ended(p, s, 1);
	assert_int_equal(packed_bytes_write(p, 0, fd, NULL, &err), 0);
	assert_int_equal(file_size(fd), s[0].size);
	for (uint64_t at = 0, n; at < s[0].size; at += n) {
		n = s[0].size - at < sizeof piece ? s[0].size - at : sizeof piece;
		assert_int_equal(pread(fd, piece, n, (off_t)at), n);
		for (uint64_t i = 0; i < n; i += 11)
			assert_int_equal(piece[i], byte_of(&s[0], at + i));
	}
	close(fd);
	fd = open("/dev/full", O_WRONLY);
	assert_int_equal(packed_bytes_write(p, 0, fd, NULL, &err), ERR_IO);
	struct progress stopped = PROGRESS_INIT;
	stopped.cancel = true;
	assert_int_equal(packed_bytes_write(p, 0, fd, &stopped, &err), ERR_CANCELLED);
	close(fd);
	packed_bytes_free(p);
}

/* Bytes that are put there by hand: rooms of data, and zeros between them of which some are large. */
enum { ROOMS = 40 };

static uint64_t zeros_after(unsigned i)
{
	return i % 3 ? (uint64_t)PACKED_ZEROS << i % 7 : 0;
}

static uint64_t put_rooms(struct packed_bytes *p, const struct stream *s)
{
	uint64_t at = 0;

	for (unsigned i = 0; i < ROOMS; i++) {
		uint64_t n = (uint64_t)PACKED_ZEROS * (1 + i % 20);
		uint8_t *to = packed_bytes_room(p, 0, n);
		assert_non_null(to);
		for (uint64_t k = 0; k < n; k++)
			if (k / 4096 % 5) /* a page that nobody writes to stays zeros */
				to[k] = byte_of(s, at + k);
			else
				assert_int_equal(to[k], 0);
		packed_bytes_came(p, 0, n);
		at += n;
		assert_true(packed_bytes_zeros(p, 0, zeros_after(i)));
		at += zeros_after(i);
	}
	assert_int_equal(packed_bytes_size(p, 0), at);
	return at;
}

static void check_rooms(const uint8_t *bytes, const struct stream *s)
{
	uint64_t at = 0;

	for (unsigned i = 0; i < ROOMS; i++) {
		uint64_t n = (uint64_t)PACKED_ZEROS * (1 + i % 20), end = at + n + zeros_after(i);
		for (uint64_t k = 0; at < end; k++, at++)
			assert_int_equal(bytes[at], k < n && k / 4096 % 5 ? byte_of(s, at) : 0);
	}
}

static void check_file_of_rooms(struct packed_bytes *p, const struct stream *s, uint64_t n)
{
	char path[] = "/tmp/cairn-test-XXXXXX";
	int fd = mkstemp(path);
	struct stat st;

	unlink(path);
	assert_int_equal(packed_bytes_write(p, 0, fd, NULL, NULL), 0);
	uint8_t *bytes = malloc(n + 1);
	assert_int_equal(pread(fd, bytes, n + 1, 0), n);
	check_rooms(bytes, s);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true((uint64_t)st.st_blocks * 512 < n * 7 / 8); /* it has holes */
	assert_int_equal(packed_bytes_write(p, 0, fd, NULL, NULL), 0); /* behind itself */
	assert_int_equal(pwrite(fd, "x", 1, 0), 1);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(packed_bytes_write(p, 0, fd, NULL, NULL), 0); /* over other bytes: no holes then */
	assert_int_equal(pread(fd, bytes, n, 0), n);
	check_rooms(bytes, s);
	free(bytes);
	close(fd);
}

static void rooms(void **state)
{
	const struct stream s = {LOOSE, 7, 0};
	const uint64_t budgets[] = {0, 12 * MB};
	uint64_t before = big_in_use(), in_file, size, none = 0;

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		for (unsigned expected = 0; expected < 3 && !(i && zstd_block_may(NULL)); expected++) {
			struct packed_bytes *p;
			assert_int_equal(packed_bytes_new(&p, 1, budgets[i], NULL), 0);
			uint64_t may = expected ? packed_bytes_expect(p, 0, expected * 20 * MB + 1) : 0;
			assert_true(i ? may <= budgets[i] : may >= (expected ? 1 : 0));
			packed_bytes_prepare(p, 0, 0, may); /* more than data in places */
			uint64_t n = put_rooms(p, &s);
			const uint8_t *bytes = packed_bytes_end(p, &size);
			assert_non_null(bytes);
			assert_int_equal(size, n);
			uint64_t there = packed_bytes_memory(p, &in_file);
			check_rooms(bytes, &s);
			for (unsigned k = 0; k < ROOMS; k++)
				none += zeros_after(k);
			assert_true(i || there <= n - none + 4 * PACKED_ZEROS);
			none = 0;
			check_file_of_rooms(p, &s, n);
			packed_bytes_free(p);
			assert_int_equal(big_in_use(), before);
		}
	big_set_limit(before + 10 * MB, "--mem"); /* it is not there: nothing is prepared, and a room refused */
	struct packed_bytes *p;
	assert_int_equal(packed_bytes_new(&p, 1, 0, NULL), 0);
	assert_true(packed_bytes_expect(p, 0, 40 * MB) <= 9 * MB);
	assert_null(packed_bytes_room(p, 0, 40 * MB));
	assert_int_equal(packed_bytes_size(p, 0), 0);
	packed_bytes_free(p);
	big_set_limit(0, "--mem");
}

/* Other memory is asked for before and after: blocks make room for it. */
static void gives_way(void **state)
{
	const struct stream s[] = {{LOOSE, 1, 60 * MB}};
	struct err err = ERR_INIT;
	uint64_t before = big_in_use(), in_file;

	(void)state;
	if (zstd_block_may(NULL))
		skip();
	big_set_limit(before + 100 * MB, "--mem");
	struct packed_bytes *p = filled(s, 1, 0);
	const uint8_t *bytes = ended(p, s, 1);
	uint64_t first = packed_bytes_memory(p, &in_file);
	assert_true(first >= 60 * MB); /* there was room for all */
	void *other = big_alloc(60 * MB, 1, &err);
	assert_non_null(other);
	assert_true(packed_bytes_memory(p, &in_file) <= 40 * MB);
	assert_true(big_in_use() <= before + 100 * MB);
	check_all(p, bytes, s, 1);
	assert_true(big_in_use() <= before + 102 * MB);
	assert_null(big_alloc(60 * MB, 1, &err)); /* not this, too: and what is there stays right */
	check_all(p, bytes, s, 1);
	big_free(other);
	packed_bytes_free(p);
	big_set_limit(0, "--mem");
	assert_int_equal(big_in_use(), before);
}

/* More comes than memory takes: packed, then refused. */
static void refused(void **state)
{
	const struct stream loose[] = {{LOOSE, 1, 60 * MB}}, dense[] = {{DENSE, 1, 60 * MB}};
	struct err err = ERR_INIT;
	struct packed_bytes *p;
	uint64_t before = big_in_use();

	(void)state;
	if (zstd_block_may(NULL))
		skip();
	big_set_limit(before + 48 * MB, "--mem");
	p = filled(loose, 1, 0);
	assert_true(big_in_use() <= before + 50 * MB);
	check_all(p, ended(p, loose, 1), loose, 1);
	packed_bytes_free(p);

	assert_int_equal(packed_bytes_new(&p, 1, 0, &err), 0);
	assert_int_equal(fill(p, dense, 1), ENOMEM);
	struct stream came = dense[0];
	came.size = packed_bytes_size(p, 0);
	assert_in_range(came.size, 30 * MB, 48 * MB);
	check_all(p, ended(p, &came, 1), &came, 1);
	packed_bytes_free(p);
	big_set_limit(0, "--mem");
	assert_int_equal(big_in_use(), before);
}

static void spilled(void **state)
{
	const struct stream s[] = {{DENSE, 1, 70 * MB + 5}, {LOOSE, 2, 60 * MB}};
	uint64_t before = big_in_use(), in_file;

	(void)state;
	spill_allow(true);
	big_set_limit(before + 48 * MB, "--mem");
	struct packed_bytes *p = filled(s, 2, 0);
	const uint8_t *bytes = ended(p, s, 2);
	(void)packed_bytes_memory(p, &in_file);
	assert_in_range(in_file, 40 * MB, 130 * MB);
	assert_int_equal(spill_bytes(), in_file);
	assert_true(big_in_use() <= before + 50 * MB);
	check_all(p, bytes, s, 2);
	void *other = big_alloc(30 * 1024, 1000, NULL); /* packed blocks go there, too, where it needs memory */
	void *small = big_alloc(100000, 1, NULL);
	assert_non_null(other);
	assert_non_null(small);
	check_all(p, bytes, s, 2);
	big_free(other);
	big_free(small);
	packed_bytes_free(p);
	assert_int_equal(spill_bytes(), 0);
	spill_allow(false);
	big_set_limit(0, "--mem");
	assert_int_equal(big_in_use(), before);
}

/* Freed while bytes come, and while jobs pack. */
static void given_up(void **state)
{
	const struct stream s[] = {{LOOSE, 1, 30 * MB}};
	struct packed_bytes *p = filled(s, 1, 16 * MB);

	(void)state;
	packed_bytes_free(p);
}

/* Through what is no pipe. */
static void from_file(void **state)
{
	const struct stream s = {LOOSE, 1, 2 * MB + 5};
	char path[] = "/tmp/cairn-test-XXXXXX";
	int fd = mkstemp(path);
	struct packed_bytes *p = NULL;
	struct feed f = {.s = &s, .fd = dup(fd)};
	ssize_t got;

	(void)state;
	unlink(path);
	feed(&f);
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(packed_bytes_new(&p, 1, 0, NULL), 0);
	while ((got = packed_bytes_read(p, 0, fd)) > 0)
		;
	assert_int_equal(got, 0);
	close(fd);
	assert_int_equal(packed_bytes_size(p, 0), s.size);
	check_all(p, ended(p, &s, 1), &s, 1);
	assert_int_equal(packed_bytes_read(p, 0, -1), -1);
	packed_bytes_free(p);
}

/* --- faults that are none of ours ---------------------------------------------------------------- */

enum fault { NULL_LOAD, STORE_THERE, STORE_ABSENT };

static void make_fault(enum fault kind, const uint8_t *bytes)
{
	volatile uint8_t *at = (volatile uint8_t *)(uintptr_t)bytes;
	static volatile uintptr_t nowhere = 8; /* the compiler does not know */

	if (kind == NULL_LOAD)
		(void)*(volatile uint8_t *)nowhere;
	else
		at[kind == STORE_THERE ? 50 * MB - 1 : 0] = 1;
}

/* The end of a child that does it with the handlers set in this order. */
static int end_of(enum fault kind, const uint8_t *bytes, bool mapped_too, bool changed)
{
	char path[] = "/tmp/cairn-test-XXXXXX";
	int fd = mkstemp(path), status;
	struct stat was;

	assert_true(mapped_file_stat(fd, &was));
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		close(STDERR_FILENO);
		alarm(60);
		signal(SIGSEGV, SIG_DFL); /* the test library's, which goes on after a fault */
		page_faults_catch();
		if (mapped_too)
			mapped_file_guard(fd, &was);
		if (changed && ftruncate(fd, 100))
			_exit(9);
		make_fault(kind, bytes);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	unlink(path);
	close(fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void other_faults(void **state)
{
	const struct stream s[] = {{LOOSE, 1, 50 * MB}};

	(void)state;
	if (zstd_block_may(NULL))
		skip();
	struct packed_bytes *p = filled(s, 1, 24 * MB);
	const uint8_t *bytes = ended(p, s, 1);
	for (unsigned round = 0; round < 2; round++) { /* before and after mapped_file.c has its own */
		for (enum fault kind = NULL_LOAD; kind <= STORE_ABSENT; kind++) {
			assert_int_not_equal(end_of(kind, bytes, false, false), 0);
			assert_int_not_equal(end_of(kind, bytes, true, false), -SIGALRM);
			assert_int_not_equal(end_of(kind, bytes, true, false), 0);
			assert_int_equal(end_of(kind, bytes, true, true), MAPPED_FILE_STATUS);
		}
		char path[] = "/tmp/cairn-test-XXXXXX";
		struct stat was;
		int fd = mkstemp(path);
		unlink(path);
		assert_true(mapped_file_stat(fd, &was));
		mapped_file_guard(fd, &was);
		mapped_file_release(fd);
		close(fd);
		page_faults_catch();
	}
	check_all(p, bytes, s, 1);
	packed_bytes_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole),
		cmocka_unit_test(empty),
		cmocka_unit_test(dropped),
		cmocka_unit_test(packed),
		cmocka_unit_test(written),
		cmocka_unit_test(rooms),
		cmocka_unit_test(gives_way),
		cmocka_unit_test(refused),
		cmocka_unit_test(spilled),
		cmocka_unit_test(given_up),
		cmocka_unit_test(from_file),
		cmocka_unit_test(other_faults),
	};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("packed_bytes", tests, NULL, NULL);
}
