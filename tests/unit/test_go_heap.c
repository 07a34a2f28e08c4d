/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_go_heap.c - heaps of Go dumps: divided where their own objects look like a dump, objects that
 * reach into others, addresses inside of objects, and classes that follow from types.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algorithms/parallel.h"
#include "base/text.h"
#include "bytes.h"
#include "dump/go/go_dump.h"
#include "dump/source/source.h"
#include "heap/build/build.h"
#include "heap/classes.h"
#include "heap/index.h"
#include "memory/big.h"

/* --- heaps ------------------------------------------------------------------------------------- */

/* A heap from these bytes. */
static struct heap *load(const struct text *t, unsigned threads)
{
	char path[] = "/tmp/cairn-test-go-XXXXXX";
	struct heap_options options = { .path = path };
	struct heap *h;
	struct err err;
	int fd = mkstemp(path);

	assert_true(fd >= 0 && write(fd, t->s, t->len) == (ssize_t)t->len);
	close(fd);
	parallel_set_threads(threads);
	assert_int_equal(heap_open(&h, &options, NULL, &err), 0);
	parallel_set_threads(0);
	unlink(path);
	return h;
}

/* --- parts ------------------------------------------------------------------------------------- */

enum { OBJECTS = 3000, FAKES = 2000, FAKE_AT = 1000 };

/* Objects 64 bytes apart, each with a pointer to one that a formula tells; and behind the first
 * FAKE_AT of them one whose memory is a row of object records. */
static uint64_t target_of(uint64_t i)
{
	return 0x10000000 + i * 7919 % OBJECTS * 64 + i % 64;
}

static void add_object(struct text *t, uint64_t i)
{
	add_varint(t, 1);
	add_varint(t, 0x10000000 + i * 64);
	add_varint(t, 64);
	for (unsigned k = 0; k < 8; k++)
		for (unsigned byte = 0; byte < 8; byte++)
			text_add_char(t, k == 3 ? (char)(target_of(i) >> 8 * byte) : 1); /* 1: looks like a tag */
	add_hex(t, "01 18 00");
}

static size_t parts_dump(struct text *t)
{
	struct text fake = TEXT_INIT;

	add_hex(t, "'go1.7 heap dump' 0A 06 00 08");
	add_varint(t, 0x10000000);
	add_varint(t, 0x20000000);
	add_hex(t, "05 'amd64' 08 'go1.19.8' 02");
	for (uint64_t i = 0; i < FAKE_AT; i++)
		add_object(t, i);
	for (uint64_t i = 0; i < FAKES; i++)
		add_object(&fake, 100000 + i);
	add_varint(t, 1);
	add_varint(t, 0x18000000);
	add_varint(t, fake.len);
	text_add_n(t, fake.s, fake.len);
	add_hex(t, "00");
	for (uint64_t i = FAKE_AT; i < OBJECTS; i++)
		add_object(t, i);
	add_hex(t, "0D");
	add_varint(t, 0x400000);
	add_hex(t, "08 0000001000000000 01 00 00 00");
	size_t n = fake.len;
	text_release(&fake);
	return n;
}

static void guessed_parts(void **state)
{
	struct text t = TEXT_INIT;
	uint64_t usual = go_part_bytes;
	(void)state;

	size_t n_fake = parts_dump(&t);
	go_part_bytes = 3000;
	for (unsigned threads = 1; threads <= 8; threads++) {
		struct heap *h = load(&t, threads);
		assert_int_equal(h->n_objects, OBJECTS + 1);
		assert_int_equal(h->n_warnings, 0);
		assert_false(h->damaged);
		assert_int_equal(h->out.n, OBJECTS);
		for (uint32_t id = 0; id < OBJECTS; id++) {
			assert_int_equal(heap_address(h, id), 0x10000000 + id * 64);
			assert_int_equal(heap_address(h, h->out.target[id]), target_of(id) & ~UINT64_C(63));
		}
		assert_int_equal(heap_shallow(h, OBJECTS), n_fake);
		assert_int_equal(h->n_roots, 1);
		struct object_view view;
		struct err err;
		assert_int_equal(heap_view(h, 1234, &view, &err), 0);
		assert_int_equal(view.address, heap_address(h, 1234));
		heap_close(h);
	}
	/* At least one guess lay in the object that looks like a dump, or nothing was tested. */
	struct heap *h = load(&t, 1);
	struct part parts[64];
	bool missed = false;
	unsigned n = go_reader.parts(h->dump, 64, parts);
	for (unsigned i = 1; i < n; i++) {
		const uint8_t *p = h->source->bytes + parts[i].begin + 1;
		uint64_t address = 0;
		assert_true(go_varint(&p, h->source->bytes + h->source->size, &address));
		missed |= address >= 0x10000000 + 100000 * UINT64_C(64) && address < 0x18000000;
	}
	assert_true(n > 8 && missed);
	heap_close(h);
	go_part_bytes = usual;
	text_release(&t);
}

/* What stands behind damage is not read, though a guess may find objects there. */
static void damage_between_parts(void **state)
{
	struct text t = TEXT_INIT;
	uint64_t usual = go_part_bytes;
	(void)state;

	parts_dump(&t);
	struct heap *h = load(&t, 1);
	struct object_view view;
	struct err err;
	assert_int_equal(heap_view(h, 2000, &view, &err), 0);
	const char *record = t.s + (view.bytes - h->source->bytes);
	size_t at = (size_t)(record - t.s) - 7; /* tag, 5 bytes of address, 1 of length */
	heap_close(h);
	assert_int_equal(t.s[at], GO_OBJECT);
	t.s[at] = 99;
	go_part_bytes = 3000;
	for (unsigned threads = 1; threads <= 8; threads++) {
		h = load(&t, threads);
		assert_true(h->damaged);
		assert_int_equal(h->damage.code, ERR_FORMAT);
		assert_int_equal(h->damage.offset, at);
		assert_int_equal(h->n_objects, 2001); /* and the one that looks like a dump */
		assert_int_equal(h->n_roots, 0);
		heap_close(h);
	}
	go_part_bytes = usual;
	text_release(&t);
}

/* --- objects by any of their addresses ---------------------------------------------------------- */

static uint64_t random_state = 1;

static uint64_t next_random(void)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return random_state >> 33;
}

/* Lookups against a search through all addresses: crowded pages, sparse ones, and gaps of many. */
static void covering_lookups(void **state)
{
	enum { N = 9000 };
	static uint64_t address[N];
	struct address_index x;
	uint64_t at = 0x7000;
	(void)state;

	for (unsigned i = 0; i < N; i++) {
		at += 8 * (1 + next_random() % 6);
		if (i % 1700 == 1699 || (i > 8000 && i % 100 == 99))
			at += next_random() % 64 << 20;
		address[i] = at;
	}
	index_init(&x, 3);
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(index_note(&x, index_page_number(&x, address[i]), 1, NULL), 0);
	assert_int_equal(index_layout(&x, NULL), 0);
	struct index_writer w = { .x = &x };
	for (unsigned i = 0; i < N; i++)
		index_insert(&w, address[i]);
	index_flush(&w);
	assert_int_equal(index_seal(&x, NULL), 0);
	for (unsigned k = 0; k < 20000; k++) {
		uint64_t wanted = k % 2 ? address[next_random() % N] + next_random() % 3000000
		                        : next_random() % (at + 5000), start = 0;
		unsigned below = 0;
		while (below < N && address[below] <= wanted)
			below++;
		uint32_t id = index_covering(&x, wanted, &start);
		assert_int_equal(id, below ? below - 1 : INDEX_NONE);
		if (below)
			assert_int_equal(start, address[below - 1]);
	}
	index_release(&x);
}

/* --- objects that overlap ----------------------------------------------------------------------- */

#define HEAD "'go1.7 heap dump' 0A 06 00 08 808004 808008 05 'amd64' 08 'go1.19.8' 02"
#define Z8 "0000000000000000"

static void overlapping_objects(void **state)
{
	struct text t = TEXT_INIT;
	(void)state;

	/* 0x10000 of 32 bytes reaches into 0x10010; the pointer to 0x10018 means the later one */
	add_hex(&t, HEAD "01 808004 20" Z8 Z8 Z8 "1800010000000000 01 18 00 01 908004 10" Z8 Z8 "00 00");
	struct heap *h = load(&t, 2);
	assert_int_equal(h->n_warnings, 1);
	assert_non_null(strstr(h->warnings[0].text, "1 object overlaps the next, first 0x10000 of 32 bytes"));
	assert_int_equal(h->out.n, 1);
	assert_int_equal(h->out.target[0], 1);
	uint64_t start;
	assert_int_equal(heap_covering(h, 0x1000f, &start), 0);
	assert_int_equal(start, 0x10000);
	assert_int_equal(heap_covering(h, 0x1001f, &start), 1);
	assert_int_equal(heap_covering(h, 0x10020, &start), HEAP_NONE);
	heap_close(h);
	text_release(&t);
}

/* --- classes by types ----------------------------------------------------------------------------- */

/* What the reader of this test gives: objects 0 and 1 the class "pair" (of different sizes), 2 "[]x" of
 * as many elements as fit, 3 "[]x" of fewer, 4 "[]x" of very many, 5 nothing. */
static int give_types(struct dump *dump, struct classifier *c, struct progress *p, struct err *err)
{
	uint64_t start, size;
	(void)dump, (void)p, (void)err;

	assert_int_equal(c->n_objects, 6);
	c->soon_at(c, 0x10008);
	assert_int_equal(c->object_at(c, 0x10008, &start), 0);
	assert_int_equal(start, 0x10000);
	assert_int_equal(c->size(c, 0), 16);
	assert_int_equal(c->object_at(c, 0x10010, &start), UINT32_MAX);
	c->soon(c, 1, true);
	const uint8_t *bytes = c->bytes(c, 1, &start, &size);
	assert_int_equal(start, 0x10020);
	assert_int_equal(size, 32);
	assert_int_equal(bytes[24], 0x18);
	uint32_t pair = c->new_class(c, "pair\n", OBJECT_INSTANCE, 0, UINT32_MAX);
	uint32_t array = c->new_class(c, "[]x", PRIMITIVE_ARRAY, 8, UINT32_MAX);
	c->assign(c, 0, pair, LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	c->assign(c, 1, pair, LENGTH_UNKNOWN, TYPED_BY_FRAME);
	c->assign(c, 2, array, 2, TYPED_BY_POINTER);
	c->assign(c, 3, array, 1, TYPED_BY_POINTER);
	c->assign(c, 4, array, 10000, TYPED_BY_INTERFACE);
	return 0;
}

/* The watcher must have let go before classes change, and learns of them afterwards. */
struct watching {
	const struct heap *heap;
	char calls[8];
	uint32_t n_classes[8];
};

static void note_call(struct watching *w, char what)
{
	size_t n = strlen(w->calls);
	w->calls[n] = what;
	w->n_classes[n] = w->heap->n_classes;
}

static void on_ready(void *context, const struct heap *heap)
{
	struct watching *w = context;
	w->heap = heap;
	note_call(w, 'r');
}

static void on_gone(void *context)
{
	note_call(context, 'g');
}

static void typed_dump(struct text *t)
{
	add_hex(t, HEAD "01 808004 10" Z8 Z8 "00 01 A08004 20" Z8 Z8 Z8 "1800010000000000 01 18 00");
	add_hex(t, "01 C08004 10" Z8 Z8 "00 01 D08004 10" Z8 Z8 "00 01 808005");
	add_varint(t, 80000);
	for (unsigned i = 0; i < 80000; i++)
		text_add_char(t, 0);
	add_hex(t, "00 01 80808001 10" Z8 Z8 "00 00");
}

static void classes_by_types(void **state)
{
	struct text t = TEXT_INIT;
	struct err err;
	(void)state;

	typed_dump(&t);
	struct heap *h = load(&t, 2);
	uint32_t n_shapes = h->n_classes;
	uint64_t shallow = h->shallow;
	struct reader reader = *h->dump->reader;
	struct watching watching = { .heap = h };
	const struct heap_watcher watcher = { on_ready, on_gone, &watching };
	struct heap_options options = { .watcher = &watcher };
	struct build b = { .heap = h, .options = &options, .shown = true, .cap_classes = h->n_classes };

	struct memory_reader memory = *reader.memory;
	memory.classify = give_types;
	reader.memory = &memory;
	h->dump->reader = &reader;
	pthread_mutex_init(&b.lock, NULL);
	assert_int_equal(classify_prepare(&b, &err), 0);
	for (uint32_t id = 0; id < h->n_objects; id++) {
		struct object_view view;
		assert_int_equal(heap_view(h, id, &view, &err), 0);
		note_contents(&b, id, (uint64_t)(view.bytes - h->source->bytes));
	}
	big_free(h->typed_by);
	h->typed_by = NULL;
	assert_int_equal(classify_run(&b, &err), 0);
	h->dump->reader = &go_reader;

	assert_string_equal(watching.calls, "gr");
	assert_int_equal(watching.n_classes[0], n_shapes);
	assert_int_equal(watching.n_classes[1], n_shapes + 2);
	const struct heap_class *pair = &h->classes[n_shapes], *array = pair + 1;
	assert_string_equal(pair->name, "pair\\n"); /* text of a program is escaped as well */
	assert_ptr_equal(heap_class_of(h, 0), pair);
	assert_int_equal(pair->n_objects, 2);
	assert_int_equal(pair->shallow, 48);
	assert_int_equal(array->n_objects, 3);
	assert_int_equal(array->shallow, 16 + 16 + 80000);
	assert_true(heap_class_index(h, 5) < n_shapes);
	assert_int_equal(h->shallow, shallow);
	static const uint64_t sizes[] = { 16, 32, 16, 16, 80000, 16 };
	static const uint64_t lengths[] = { LENGTH_UNKNOWN, LENGTH_UNKNOWN, 2, 1, 10000, LENGTH_UNKNOWN };
	static const uint8_t by[] = { TYPED_BY_GLOBAL, TYPED_BY_FRAME, TYPED_BY_POINTER, TYPED_BY_POINTER,
		TYPED_BY_INTERFACE, TYPED_BY_SHAPE };
	for (uint32_t id = 0; id < 6; id++) {
		assert_int_equal(heap_shallow(h, id), sizes[id]);
		assert_true(heap_length(h, id) == lengths[id]);
		assert_int_equal(h->typed_by[id], by[id]);
	}
	assert_int_equal(h->n_instances, 3);
	assert_int_equal(h->n_primitive_arrays, 3);
	pthread_mutex_destroy(&b.lock);
	heap_close(h);
	text_release(&t);
}

/* A size that is unknown gives no length, and a length that follows from sizes gives no size. */
static void unknown_size(void **state)
{
	struct heap_class class = { .stride = 8, .object = HEAP_NONE };
	uint16_t class_low = 0;
	uint32_t own_size = OWN_UNKNOWN;
	struct heap h = { .n_objects = 1, .n_classes = 1, .classes = &class, .class_low = &class_low, .n_sized = 1,
		.own_size = &own_size };
	struct err err;
	(void)state;

	assert_int_equal(bits_init(&h.sized, 1, &err), 0);
	bits_set(&h.sized, 0);
	assert_int_equal(bits_seal(&h.sized, &err), 0);
	assert_false(heap_size_known(&h, 0));
	assert_int_equal(heap_shallow(&h, 0), 0);
	assert_true(heap_length(&h, 0) == LENGTH_UNKNOWN);
	own_size = 80;
	assert_int_equal(heap_length(&h, 0), 10);
	bits_release(&h.sized);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guessed_parts),
		cmocka_unit_test(damage_between_parts),
		cmocka_unit_test(covering_lookups),
		cmocka_unit_test(overlapping_objects),
		cmocka_unit_test(classes_by_types),
		cmocka_unit_test(unknown_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
