/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_source.c - files that are no dumps, gzip in every state, and files that shrink under us.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "algorithms/parallel.h"
#include "base/mem.h"
#include "dump/lazy_dump.h"
#include "dump/reader.h"
#include "dump/registry.h"
#include "dump/source/source.h"
#include "hprof_bytes.h"
#include "memory/big.h"
#include "one_file.h"

static void refused(const char *name, int code, const char *words)
{
	struct source *s;
	struct err err = ERR_INIT;

	assert_int_equal(source_open(&s, name, NULL, &err), code);
	assert_null(s);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.message, words));
}

static void no_dump_files(void **state)
{
	char want[400];

	(void)state;
	unlink(path);
	refused(path, ERR_IO, "no such file");
	refused(folder, ERR_IO, "is a directory");
	refused("/dev/null", ERR_IO, "is a device");
	write_file("", 0);
	snprintf(want, sizeof want, "%s: empty file", path);
	refused(path, ERR_FORMAT, want);
	refused("/nowhere/bad\033[2Jname", ERR_IO, "bad\\x1b[2Jname");
	write_file("x", 1);
	if (geteuid() != 0) { /* nothing is forbidden to root */
		assert_int_equal(chmod(path, 0), 0);
		refused(path, ERR_IO, "no permission");
	}
	unlink(path);
}

/* Its writer is waited for until that is cancelled; then what comes is there, as often as it is opened. */
static void fifo(void **state)
{
	static const char came[] = "what came";
	struct progress progress = PROGRESS_INIT;
	struct err err = ERR_INIT;
	struct source *s;
	int status;

	(void)state;
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	progress.until = progress_clock() + 1000000;
	assert_int_equal(source_open(&s, path, &progress, &err), ERR_CANCELLED);
	assert_int_equal(source_peek(path), -1);
	pid_t writer = fork();
	if (!writer) {
		int fd = open(path, O_WRONLY);
		_exit(fd >= 0 && write(fd, came, sizeof came) == sizeof came ? 0 : 1);
	}
	assert_true(writer > 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(source_open(&s, path, NULL, &err), 0);
		assert_int_equal(s->size, sizeof came);
		assert_memory_equal(s->bytes, came, sizeof came);
		assert_false(s->truncated);
		source_close(s);
	}
	int fd = source_peek(path);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(waitpid(writer, &status, 0), writer);
	assert_int_equal(status, 0);
	unlink(path);
}

/* --- gzip -------------------------------------------------------------------------------------- */

static size_t gzip_to(uint8_t *out, size_t room, const void *bytes, size_t n)
{
	z_stream z = { .next_in = (z_const Bytef *)(uintptr_t)bytes, .avail_in = (uInt)n,
		.next_out = out, .avail_out = (uInt)room };

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return room - z.avail_out;
}

#define PLAIN (3u << 20)
static uint8_t plain[PLAIN], packed[PLAIN + 4096];

/* Open what is packed; the content must be the first want bytes of plain. */
static struct source *opened(size_t n, size_t want)
{
	struct source *s;
	struct err err = ERR_INIT;

	write_file(packed, n);
	assert_int_equal(source_open(&s, path, NULL, &err), 0);
	assert_true(s->compressed);
	assert_int_equal(s->file_size, n);
	assert_int_equal(s->size, want);
	assert_memory_equal(s->bytes, plain, want);
	return s;
}

static void gzip_states(void **state)
{
	uint64_t before = big_in_use();

	(void)state;
	for (uint32_t i = 0, x = 1; i < PLAIN; i++) {
		x = x * 1664525u + 1013904223u;
		plain[i] = (uint8_t)(x >> 24 & 0x3F);
	}
	size_t n = gzip_to(packed, sizeof packed, plain, PLAIN);
	struct source *s = opened(n, PLAIN);
	assert_false(s->truncated);
	assert_string_equal(s->remark, "");
	source_close(s);

	/* zeros behind it are padding; anything else is remarked on */
	memset(packed + n, 0, 512);
	s = opened(n + 512, PLAIN);
	assert_string_equal(s->remark, "");
	source_close(s);
	char where[100];
	packed[n + 100] = 'x';
	snprintf(where, sizeof where, "512 bytes from byte %zu of the file on", n);
	s = opened(n + 512, PLAIN);
	assert_false(s->truncated);
	assert_non_null(strstr(s->remark, where));
	source_close(s);

	/* a wrong checksum, a cut, a damaged middle */
	packed[n - 6] ^= 1;
	s = opened(n, PLAIN);
	assert_true(s->truncated);
	assert_true(s->doubtful);
	/* the last 8 bytes of a member are its checksum and its length */
	snprintf(where, sizeof where, "checksum at byte %zu of the file", n - 8);
	assert_non_null(strstr(s->remark, where));
	source_close(s);
	packed[n - 6] ^= 1;
	write_file(packed, n / 2);
	struct err err = ERR_INIT;
	assert_int_equal(source_open(&s, path, NULL, &err), 0);
	assert_true(s->truncated && s->size > PLAIN / 4 && s->size < PLAIN);
	assert_memory_equal(s->bytes, plain, s->size);
	assert_non_null(strstr(s->remark, "truncated at byte"));
	assert_false(s->doubtful);
	source_close(s);

	/* two members; the second damaged */
	size_t first = gzip_to(packed, sizeof packed, plain, 1000);
	n = first + gzip_to(packed + first, sizeof packed - first, plain + 1000, PLAIN - 1000);
	s = opened(n, PLAIN);
	assert_false(s->truncated);
	source_close(s);
	packed[first + 2] = 99; /* no such method */
	s = opened(n, 1000);
	assert_true(s->truncated);
	source_close(s);

	/* nothing in it; cut before anything came out; a size in the trailer that cannot be */
	n = gzip_to(packed, sizeof packed, plain, 0);
	write_file(packed, n);
	refused(path, ERR_FORMAT, "gzip data without contents");
	write_file(packed, 2);
	refused(path, ERR_TRUNCATED, "truncated");
	n = gzip_to(packed, sizeof packed, plain, 1000);
	memset(packed + n - 4, 0xFF, 4);
	s = opened(n, 1000);
	assert_true(s->truncated);
	source_close(s);
	assert_int_equal(big_in_use(), before);
	unlink(path);
}

static void gzip_cancelled(void **state)
{
	struct progress progress = PROGRESS_INIT;
	struct source *s;
	struct err err = ERR_INIT;

	(void)state;
	size_t n = gzip_to(packed, sizeof packed, plain, PLAIN);
	write_file(packed, n);
	progress.cancel = true;
	assert_int_equal(source_open(&s, path, &progress, &err), ERR_CANCELLED);
	assert_null(s);
	unlink(path);
}

/* A few KB that inflate to 30 MB, as often as said: only the last one's length is promised. */
static void write_bomb(unsigned members)
{
	enum { STEP = 1 << 20, STEPS = 30 };
	uint8_t *zeros = xcalloc(1, STEP);
	z_stream z = { .next_out = packed, .avail_out = PLAIN };
	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
	for (int i = 0; i < STEPS; i++) {
		z.next_in = zeros;
		z.avail_in = STEP;
		assert_int_equal(deflate(&z, i + 1 < STEPS ? Z_NO_FLUSH : Z_FINISH), i + 1 < STEPS ? Z_OK : Z_STREAM_END);
	}
	size_t n = PLAIN - z.avail_out;
	deflateEnd(&z);
	free(zeros);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	for (unsigned i = 0; i < members; i++)
		assert_int_equal(fwrite(packed, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* What inflates beyond the limit is given up there. */
static void gzip_bombs(void **state)
{
	static const struct { unsigned members, limit; } of[] = {{1, 8u << 20}, {7, 64u << 20}};
	uint64_t before = big_in_use();
	struct source *s;
	struct err err = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		write_bomb(of[i].members);
		big_set_limit(before + of[i].limit, "the test");
		refused(path, ERR_NOMEM, "and the test allows");
		assert_true(big_peak() <= before + of[i].limit);
		big_set_limit(0, "--mem");
		assert_int_equal(big_in_use(), before);
	}
	/* content of just below the limit fits, although room grows by doubling */
	big_set_limit(before + 7 * UINT64_C(33) * (1u << 20), "the test");
	assert_int_equal(source_open(&s, path, NULL, &err), 0);
	assert_int_equal(s->size, 7 * UINT64_C(30) * (1u << 20));
	source_close(s);
	big_set_limit(0, "--mem");
	unlink(path);
}

/* --- inflated later ------------------------------------------------------------------------------ */

static void waiting_files(void **state)
{
	struct source *waiting, *s;
	struct err err = ERR_INIT;
	uint64_t lost;

	(void)state;
	write_file(plain, PLAIN);
	assert_int_equal(source_open_waiting(&waiting, path, &err), 1);
	assert_null(waiting);
	write_file(packed, gzip_to(packed, sizeof packed, plain, PLAIN));
	uint64_t before = big_in_use();
	assert_int_equal(source_open_waiting(&waiting, path, &err), 0);
	assert_true(waiting->compressed);
	assert_int_equal(waiting->size, 0);
	assert_int_equal(big_in_use(), before);
	assert_int_equal(source_inflate(&s, waiting, NULL, NULL, &err), 0);
	assert_int_equal(s->size, PLAIN);
	assert_memory_equal(s->bytes, plain, PLAIN);
	assert_int_equal(truncate(path, 100), 0); /* nobody needs it any more */
	assert_false(source_changed(waiting));
	assert_false(source_damage(waiting, &lost));
	source_close(s);
	source_close(waiting);
	assert_int_equal(source_open_waiting(&waiting, path, &err), 0);
	assert_int_equal(truncate(path, 50), 0);
	assert_true(source_changed(waiting));
	assert_true(source_damage(waiting, &lost));
	assert_int_equal(source_inflate(&s, waiting, NULL, NULL, &err), ERR_IO);
	assert_non_null(strstr(err.message, "was changed"));
	assert_true(source_changed(waiting));
	source_close(waiting);
	unlink(path);
}

struct later_hprof {
	struct source *waiting;
	struct dump *dump;
	uint64_t node; /* offset of an instance */
};

/* The first n bytes (0: all) of a small dump's gzip file. */
static void open_later_hprof(struct later_hprof *l, size_t n)
{
	struct text t = TEXT_INIT;
	struct err err = ERR_INIT;

	small_hprof(&t);
	for (l->node = 0; memcmp(t.s + l->node, "\x21\0\0\2\0\0\0\0\1\0\0\1\x10", 13) != 0;)
		l->node++;
	size_t all = gzip_to(packed, sizeof packed, t.s, t.len);
	write_file(packed, n ? n : all);
	text_release(&t);
	assert_int_equal(source_open_waiting(&l->waiting, path, &err), 0);
	l->dump = lazy_dump_new(l->waiting, 0);
	const struct dump_facts facts = {.format = "hprof", .title = "HPROF", .label = "HPROF", .values = DECLARED_FIELDS};
	lazy_dump_tells(l->dump, &facts, false);
}

static void close_later_hprof(struct later_hprof *l)
{
	dump_close(l->dump);
	source_close(l->waiting);
	unlink(path);
}

static int locate_node(const struct later_hprof *l, struct err *err)
{
	struct object_view view = {.near = 0};
	int code = l->dump->reader->locate(l->dump, l->node, 0, &view, err);
	if (!code)
		assert_int_equal(view.address, 0x200);
	return code;
}

static int ask_in_parallel(void *context, unsigned task, struct err *err)
{
	(void)task;
	return locate_node(context, err);
}

static void inflated_when_asked(void **state)
{
	struct later_hprof l;
	struct progress progress = PROGRESS_INIT;
	struct err err = ERR_INIT;

	(void)state;
	open_later_hprof(&l, 0);
	lazy_dump_wait_never(true);
	assert_int_equal(locate_node(&l, &err), ERR_IO);
	lazy_dump_wait_never(false);
	progress_set_own(&progress);
	progress.cancel = true;
	assert_int_equal(locate_node(&l, &err), ERR_IO);
	assert_int_equal(err.code, ERR_CANCELLED);
	assert_true(lazy_dump_waits(l.dump));
	progress.cancel = false;
	progress_phase(&progress, PHASE_READ_TEXTS, 7);
	assert_int_equal(parallel_run(5, 20, ask_in_parallel, &l, &err), 0);
	assert_false(lazy_dump_waits(l.dump));
	assert_false(lazy_dump_failed(l.dump, NULL));
	assert_int_equal(progress.phase, PHASE_READ_TEXTS); /* who waited is at its own work again */
	assert_int_equal(progress.total, 7);
	progress_set_own(NULL);
	close_later_hprof(&l);
}

static void inflated_beside(void **state)
{
	struct later_hprof l;
	struct err err = ERR_INIT;

	(void)state;
	open_later_hprof(&l, 0);
	assert_false(lazy_dump_stop(l.dump));
	lazy_dump_begin(l.dump);
	lazy_dump_stop(l.dump); /* whether it is through or not, who asks gets it */
	assert_int_equal(locate_node(&l, &err), 0);
	lazy_dump_begin(l.dump);
	assert_null(lazy_dump_progress(l.dump));
	close_later_hprof(&l);
	open_later_hprof(&l, 0); /* and closed while somebody is at it */
	lazy_dump_begin(l.dump);
	close_later_hprof(&l);
}

static void inflated_in_vain(void **state)
{
	struct later_hprof l;
	struct err err = ERR_INIT, why;

	(void)state;
	open_later_hprof(&l, 300);
	assert_false(lazy_dump_failed(l.dump, NULL));
	assert_int_equal(locate_node(&l, &err), ERR_IO);
	assert_true(lazy_dump_failed(l.dump, &why));
	assert_non_null(strstr(why.message, "is truncated at byte 300"));
	assert_int_equal(locate_node(&l, &err), ERR_IO);
	close_later_hprof(&l);
	open_later_hprof(&l, 0);
	big_set_limit(big_in_use() + 1000, "the test");
	assert_int_equal(locate_node(&l, &err), ERR_IO);
	assert_true(lazy_dump_failed(l.dump, &why));
	assert_non_null(strstr(why.message, "the test allows"));
	big_set_limit(0, "--mem");
	close_later_hprof(&l);
}

/* --- files that change ------------------------------------------------------------------------- */

static void shrinking(void **state)
{
	struct source *s;
	struct err err = ERR_INIT;
	uint64_t lost = 0;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = 16 * page;
	uint8_t *bytes = xmalloc(n);

	(void)state;
	memset(bytes, 0xAB, n);
	write_file(bytes, n);
	assert_int_equal(source_open(&s, path, NULL, &err), 0);
	assert_false(source_damage(s, &lost));
	assert_int_equal(s->bytes[n - 1], 0xAB);

	/* it grows: harmless */
	assert_int_equal(truncate(path, (off_t)(n + page)), 0);
	assert_false(source_damage(s, &lost));

	/* it shrinks: the rest reads as zeros, and from where on is told */
	assert_int_equal(truncate(path, (off_t)(3 * page + 100)), 0);
	for (size_t i = n; i-- > 0;)
		assert_int_equal(s->bytes[i], i < 3 * page + 100 ? 0xAB : 0);
	assert_true(source_damage(s, &lost));
	assert_int_equal(lost, 3 * page + 100);
	assert_int_equal(truncate(path, (off_t)(2 * page)), 0);
	assert_int_equal(s->bytes[0], 0xAB);
	assert_true(source_damage(s, &lost));
	assert_int_equal(lost, 2 * page);
	source_close(s);
	free(bytes);
	unlink(path);
}

static void handler_before(int number)
{
	(void)number;
	_exit(42);
}

/* A SIGBUS that is not ours goes to the handler that was there before, or ends the program. */
static void foreign_fault(void **state)
{
	(void)state;
	for (int with_handler = 0; with_handler < 2; with_handler++) {
		write_file("some bytes", 10);
		pid_t child = fork();
		assert_true(child >= 0);
		if (!child) {
			struct source *s;
			struct err err = ERR_INIT;
			signal(SIGBUS, with_handler ? handler_before : SIG_DFL);
			if (source_open(&s, path, NULL, &err) == 0)
				raise(SIGBUS);
			_exit(0);
		}
		int status;
		assert_int_equal(waitpid(child, &status, 0), child);
		if (with_handler)
			assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
		else
			assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	}
	unlink(path);
}

/* --- what no reader knows ---------------------------------------------------------------------- */

static void unknown(const char *bytes, size_t n, const char *words)
{
	struct source s = { .path = "dump", .bytes = (const uint8_t *)bytes, .size = n, .file_size = n };
	struct dump_options options = { .no_companion = true };
	struct dump *dump;
	struct err err = ERR_INIT;

	assert_int_equal(dump_open(&dump, &s, &options, &err), ERR_FORMAT);
	assert_null(dump);
	assert_memory_equal(err.message, "dump: ", 6);
	assert_non_null(strstr(err.message, words));
	assert_non_null(strstr(err.message, "phd"));
}
#define UNKNOWN(literal, words) unknown(literal, sizeof(literal) - 1, words)

static void unknown_formats(void **state)
{
	(void)state;
	UNKNOWN("\x00\x12\xD7\x3F\x94\xB1\x2F\xDF....", "EBCDIC");
	UNKNOWN("\x7F" "ELF\2\1\1", "no core file");
	UNKNOWN("\0\0\0\0", "its first bytes are zeros");
	UNKNOWN("\x01\x02\x03\x04\x05\x06\x07\x08", "unknown format");
	UNKNOWN("hello, this is a letter\n", "text");
}

int main(void)
{
	setenv("CAIRN_KEEP_MAPPING", "1", 1); /* for files that shrink: see dump/source/source.c */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_dump_files), cmocka_unit_test(fifo),
		cmocka_unit_test(gzip_states),
		cmocka_unit_test(gzip_cancelled), cmocka_unit_test(gzip_bombs), cmocka_unit_test(waiting_files),
		cmocka_unit_test(inflated_when_asked), cmocka_unit_test(inflated_beside),
		cmocka_unit_test(inflated_in_vain), cmocka_unit_test(shrinking),
		cmocka_unit_test(foreign_fault), cmocka_unit_test(unknown_formats),
	};
	return cmocka_run_group_tests_name("source", tests, make_folder, remove_folder);
}
