/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_process_dump.c - what a process dumps, as a source: a VM of our own writes two streams.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algorithms/packed_bytes.h"
#include "attach/attach.h"
#include "base/memory_limit.h"
#include "dump/javacore/javacore.h"
#include "dump/source/source.h"

static const char *first, *second, *says; /* what the VM writes, and what is said of it */
static int fails;
static bool keeps; /* the file to keep has it */
static unsigned asked;

/* In place of attach's. */
int live_dump_take(struct packed_bytes **out, const struct vm_process *p, struct live_dump_wishes *w, char *remark,
    size_t room, struct progress *progress, struct err *err)
{
	(void)progress;
	asked++;
	assert_int_equal(p->pid, 4711);
	assert_string_equal(p->version, "OpenJDK 25");
	assert_true(w->collect);
	assert_string_equal(w->keep, "kept.hprof");
	if (fails)
		return err_set(err, fails, "said no");
	snprintf(remark, room, "%s", says);
	assert_int_equal(packed_bytes_new(out, p->kind == VM_GO ? 1 : 2, 0, err), 0);
	assert_true(packed_bytes_add(*out, 0, first, strlen(first)));
	if (p->kind != VM_GO)
		assert_true(packed_bytes_add(*out, 1, second, strlen(second)));
	w->kept = keeps;
	w->pause_ns = p->kind == VM_GO ? 4711 : 0;
	return 0;
}

static int program_fd = -1;

int live_dump_program(const struct vm_process *p)
{
	assert_int_equal(p->kind, VM_GO);
	return program_fd;
}

int live_dump_write(struct packed_bytes *dump, enum vm_kind kind, int fd, struct progress *progress, struct err *err)
{
	(void)kind;
	return packed_bytes_write(dump, 1, fd, progress, err);
}

static const char *taken(const char *name, enum vm_kind kind)
{
	char texts[5][40] = {"shop", "", "java Main", "OpenJDK 25", ""}, keep[] = "kept.hprof";
	snprintf(texts[1], sizeof texts[1], "%s", name);
	const struct vm_process p = {.pid = 4711, .kind = kind, .user = texts[0], .name = texts[1],
		.command = texts[2], .version = texts[3], .container = texts[4]};
	const struct live_dump_wishes w = {.collect = true, .keep = keep};
	const char *path = source_take_process(&p, &w);
	memset(texts, 'x', sizeof texts); /* all was copied */
	memset(keep, 'x', sizeof keep);
	return path;
}

static struct source *opened(const char *path)
{
	struct err err = ERR_INIT;
	struct source *s = NULL;
	assert_int_equal(source_open(&s, path, NULL, &err), 0);
	assert_string_equal(s->path, path);
	assert_int_equal(source_fd(s), -1);
	assert_false(s->compressed);
	assert_false(source_changed(s));
	assert_false(source_damage(s, &(uint64_t){0}));
	return s;
}

static void two_pieces(void **state)
{
	first = "names";
	second = "objects";
	says = "is whole";
	const char *path = taken("com.acme.shop.Main", VM_HOTSPOT);
	unsigned before = asked;

	(void)state;
	assert_string_equal(path, "pid 4711 (com.acme.shop.Main)");
	assert_true(source_is_process(path) && source_has_no_file(path));
	assert_int_equal(asked, before); /* nothing happens before it is opened */
	for (int i = 0; i < 2; i++) { /* once */
		struct source *s = opened(path);
		assert_int_equal(asked, before + 1);
		assert_int_equal(s->n_pieces, 2);
		assert_memory_equal(s->bytes + s->pieces[0].begin, first, 5);
		assert_int_equal(s->pieces[0].begin, 0);
		assert_int_equal(s->pieces[0].end, 5);
		assert_memory_equal(s->bytes + s->pieces[1].begin, second, 7);
		assert_int_equal(s->pieces[1].end, s->pieces[1].begin + 7);
		assert_int_equal(s->size, s->pieces[1].end);
		assert_int_equal(s->file_size, 12);
		assert_string_equal(s->remark, "is whole");
		source_close(s);
	}
	assert_null(source_process_javacore(path));
	assert_int_equal(source_peek(path), -1);
	struct source *waiting;
	assert_int_equal(source_open_waiting(&waiting, path, NULL), 1);
	/* another moment is another dump */
	second = "";
	const char *again = taken("com.acme.shop.Main", VM_HOTSPOT);
	assert_string_not_equal(path, again);
	struct source *s = opened(again);
	assert_int_equal(s->n_pieces, 0);
	assert_int_equal(s->size, 5);
	source_close(s);
	s = opened(path);
	assert_int_equal(s->n_pieces, 2);
	source_close(s);
}

/* Names of programs are neither paths nor members of archives. */
static void names(void **state)
{
	const char *path = taken("../a::b/c::d", VM_HOTSPOT), *none = taken("", VM_GO);

	(void)state;
	assert_null(strchr(path, '/'));
	assert_null(strstr(path, "::"));
	assert_non_null(strstr(path, "c"));
	assert_true(source_is_process(path) && source_is_process(none));
	assert_false(source_is_process("pid 4711"));
	assert_false(source_is_process("com.acme.shop.Main"));
}

static void refused(void **state)
{
	first = "dump";
	second = says = "";
	const char *path = taken("Main", VM_HOTSPOT);
	struct err err = ERR_INIT;
	struct source *s;

	(void)state;
	fails = ERR_IO;
	assert_int_equal(source_open(&s, path, NULL, &err), ERR_IO);
	assert_non_null(strstr(err.message, "said no"));
	assert_non_null(strstr(err.message, path));
	fails = ERR_CANCELLED;
	assert_int_equal(source_open(&s, path, NULL, &err), ERR_CANCELLED);
	fails = 0;
	first = "";
	assert_int_equal(source_open(&s, path, NULL, &err), ERR_FORMAT);
	first = "dump";
	s = opened(path); /* asked again */
	assert_memory_equal(s->bytes, "dump", 4);
	assert_int_equal(s->n_pieces, 0);
	source_close(s);
}

/* It stays until it is dropped and nobody uses it; a file may have it before that. */
static void saved_and_dropped(void **state)
{
	char name[] = "/tmp/test_process_dump.XXXXXX", bytes[8];
	struct err err = ERR_INIT;
	int fd = mkstemp(name);

	(void)state;
	assert_true(fd >= 0 && !unlink(name));
	first = "names";
	second = "objects";
	says = "";
	const char *path = taken("Main", VM_HOTSPOT);
	assert_false(source_is_unsaved(path)); /* there is nothing yet */
	struct source *s = opened(path), *other = opened(path);
	assert_true(source_is_unsaved(path));
	assert_string_equal(source_process_ending(path), ".hprof");
	assert_null(source_process_ending("shop.hprof"));
	assert_int_equal(source_save_process(path, fd, NULL, &err), 0);
	assert_int_equal(pread(fd, bytes, sizeof bytes, 0), 7);
	assert_memory_equal(bytes, second, 7);
	source_saved_process(path);
	assert_false(source_is_unsaved(path));
	source_close(other);
	uint64_t used = memory_limit_of_dumps();
	source_drop_process(path);
	source_drop_process("shop.hprof");
	assert_int_equal(memory_limit_of_dumps(), used);
	assert_memory_equal(s->bytes, first, 5); /* it is in use */
	source_close(s);
	assert_true(memory_limit_of_dumps() < used);
	assert_int_equal(source_open(&s, path, NULL, &err), ERR_NOT_FOUND);
	assert_non_null(strstr(err.message, "attach 4711"));
	keeps = true;
	path = taken("Main", VM_HOTSPOT);
	source_close(opened(path));
	assert_false(source_is_unsaved(path));
	keeps = false;
	close(fd);
}

static void openj9(void **state)
{
	char *found = NULL;

	(void)state;
	first = "phd";
	second = "javacore text";
	says = "";
	const char *path = taken("Main", VM_OPENJ9);
	assert_null(source_process_javacore(path)); /* not yet */
	assert_string_equal(source_process_ending(path), ".phd");
	struct source *s = opened(path);
	assert_int_equal(s->n_pieces, 0);
	assert_int_equal(s->size, 3);
	source_close(s);
	assert_int_equal(javacore_find(&found, NULL, path, NULL), 0);
	assert_non_null(found);
	s = opened(found);
	assert_int_equal(s->size, strlen(second));
	assert_memory_equal(s->bytes, second, s->size);
	source_close(s);
	free(found);
	second = ""; /* it wrote none */
	path = taken("Main", VM_OPENJ9);
	source_close(opened(path));
	assert_int_equal(javacore_find(&found, NULL, path, NULL), 0);
	assert_null(found);
}

/* Its program is held as long as its copy is. */
static void go(void **state)
{
	char name[] = "/tmp/test_process_dump.XXXXXX", byte;
	int own = mkstemp(name);

	(void)state;
	assert_int_equal(write(own, "P", 1), 1);
	unlink(name);
	first = "a core file";
	says = "";
	program_fd = dup(own);
	const char *path = taken("server", VM_GO);
	assert_null(source_process_program(path)); /* not yet */
	struct source *s = opened(path);
	assert_string_equal(source_process_ending(path), ".core");
	assert_int_equal(s->size, strlen(first));
	assert_int_equal(s->n_pieces, 0);
	assert_int_equal(source_process_pause(path), 4711);
	int fd = open(source_process_program(path), O_RDONLY);
	assert_int_equal(pread(fd, &byte, 1, 0), 1);
	assert_int_equal(byte, 'P');
	close(fd);
	source_drop_process(path);
	assert_non_null(source_process_program(path)); /* it is in use */
	source_close(s);
	assert_null(source_process_program(path));
	assert_int_equal(fcntl(program_fd, F_GETFD), -1);
	program_fd = -1;
	path = taken("server", VM_GO); /* it cannot be opened */
	source_close(opened(path));
	assert_null(source_process_program(path));
	assert_null(source_process_program("shop.core"));
	assert_int_equal(source_process_pause("shop.core"), 0);
	close(own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_pieces),
		cmocka_unit_test(names),
		cmocka_unit_test(refused),
		cmocka_unit_test(saved_and_dropped),
		cmocka_unit_test(openj9),
		cmocka_unit_test(go),
	};
	return cmocka_run_group_tests_name("process_dump", tests, NULL, NULL);
}
