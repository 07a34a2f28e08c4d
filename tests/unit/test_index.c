/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_index.c - index files cut at every byte, and with each byte changed, by accident and by somebody who makes the
 * checksums right again.
 *
 * None may lead outside of an array or round in a circle: forged_opens looks at all of what opens.  Each promise of an
 * index that an array or a walk relies on is broken alone, too, and has to be noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../fuzz/forged.h"
#include "algorithms/chunks.h"
#include "algorithms/pack.h"
#include "algorithms/parallel.h"
#include "algorithms/zstd_block.h"
#include "heap/classes.h"
#include "made_hprof.h"
#include "memory/big.h"
#include "opened/opened.h"

enum { PLAIN, PACKED, UNSQUEEZED /* plain chunks, to be squeezed */, IMAGES };

static struct image {
	uint8_t bytes[1 << 17];
	size_t n;
} images[IMAGES];

/* A heap with something of each kind: statics, arrays, a thread, weak references, garbage. */
static void make(void)
{
	int box = class("demo/Box", object, "next:L size:J");
	int reference = class("java/lang/ref/Reference", object, "referent:L next:L");
	int weak = class("java/lang/ref/WeakReference", reference, "");
	uint64_t last = OBJECT(box, 0, 7), first = OBJECT(box, last, 8), held = OBJECT(weak, first, 0);
	OBJECTS(first, last, held, OBJECT(weak, last, held) /* inactive: it has a next one */);
	OBJECT(box, text("garbage"), 1);
	trace(1, "wait", 3);
	thread(OBJECTS(held, first), 1, 1);
	open_made();
	heap->class_high = big_alloc(heap->n_objects, sizeof *heap->class_high, NULL); /* as of many classes */
}

static FILE *file_in_memory(char name[40])
{
	int fd = memfd_create("index", MFD_CLOEXEC);
	FILE *f = fdopen(fd, "w+b");
	assert_non_null(f);
	snprintf(name, 40, "/proc/self/fd/%d", fd);
	return f;
}

static void take_image(struct image *i, FILE *f)
{
	rewind(f);
	i->n = fread(i->bytes, 1, sizeof i->bytes, f);
	fclose(f);
	assert_in_range(i->n, 1000, 60000);
}

static void write_image(struct opened *o, bool packed)
{
	char name[40];
	struct chunks_writer w;
	struct err err = ERR_INIT;
	FILE *f = file_in_memory(name), *laid;
	struct image *i = &images[packed ? PACKED : PLAIN];
	assert_int_equal(chunks_begin(&w, f, packed, &err), 0);
	assert_int_equal(opened_write(o, NULL, NULL, &w, &err), 0);
	assert_int_equal(chunks_end(&w, &err), 0);
	if (packed) {
		struct image copy;
		char other[40];
		rewind(f);
		copy.n = fread(copy.bytes, 1, sizeof copy.bytes, f);
		laid = file_in_memory(other);
		assert_true(forged_unsqueeze(name, copy.bytes, copy.n, laid));
		take_image(&images[UNSQUEEZED], laid);
	}
	take_image(i, f);
}

static int begin(void **state)
{
	struct err err = ERR_INIT;
	begin_made(state);
	make();
	struct opened *o = opened_new(heap);
	assert_int_equal(opened_find(o, FIND_RETAINED, NULL, &err), 0);
	write_image(o, false);
	if (zstd_block_may(NULL) == 0)
		write_image(o, true);
	opened_free(o);
	return 0;
}

/* In memory: a file system may write what was truncated and written anew. */
static bool opens(const struct image *i, size_t n, bool forged)
{
	char name[40];
	FILE *f = file_in_memory(name);
	forged |= i == &images[UNSQUEEZED];
	bool there = forged ? forged_write(i->bytes, n, i == &images[UNSQUEEZED], f) : fwrite(i->bytes, 1, n, f) == n;
	assert_int_equal(fflush(f), 0);
	bool opened = there && forged_opens(name);
	fclose(f);
	return opened;
}

/* A check changes each fourth byte, from the one whose turn it is; a long one changes all. */
static size_t step(void)
{
	return getenv("CAIRN_LONG") ? 1 : 4;
}

static size_t first(void)
{
	const char *round = getenv("CAIRN_ROUND");
	return round ? strtoul(round, NULL, 10) % step() : 0;
}

static void test_whole(void **state)
{
	(void)state;
	for (struct image *i = images; i < images + IMAGES && i->n; i++) {
		assert_true(opens(i, i->n, false));
		assert_true(opens(i, i->n, true));
	}
}

static void test_cut(void **state)
{
	(void)state;
	for (struct image *i = images; i <= &images[PACKED]; i++)
		for (size_t n = first(); n < i->n; n += step())
			assert_false(opens(i, n, false));
}

/* What stands in the chunks that are looked at when it opens is not the only thing that may change. */
static void test_accident(void **state)
{
	(void)state;
	for (struct image *i = images; i <= &images[PACKED]; i++) {
		size_t opened = 0;
		for (size_t at = first(); at < i->n; at += step()) {
			i->bytes[at] ^= 0x10;
			opened += opens(i, i->n, false);
			i->bytes[at] ^= 0x10;
		}
		assert_in_range(opened, i->n ? 1 : 0, i->n ? (i->n - 1000) / step() : 0);
	}
}

static void test_forged(void **state)
{
	static const uint8_t changes[] = {0x01, 0x80, 0xFF};
	(void)state;
	for (struct image *i = images; i < images + IMAGES; i++) {
		size_t opened = 0;
		for (size_t at = first(); at < i->n; at += step()) {
			for (size_t k = 0; k < sizeof changes; k++) {
				i->bytes[at] ^= changes[k];
				opened += opens(i, i->n, true);
				i->bytes[at] ^= changes[k];
			}
		}
		/* names, counts and doubts may be any */
		assert_in_range(opened, i->n / 100 / step(), i->n ? sizeof changes * (i->n / step()) - 1 : 0);
	}
}

/* --- promises, each broken alone ------------------------------------------------------------------ */

enum refusal { AT_ONCE, WITH_REFERENCES, WITH_SIZES, WITH_REACHABLE };

/* The bytes of a chunk of the plain image; *n gets their number. */
static void *chunk(struct image *i, const char *name, uint64_t *n)
{
	uint64_t toc, offset;
	memcpy(&toc, i->bytes + i->n - 40, sizeof toc);
	for (uint8_t *entry = i->bytes + toc; entry < i->bytes + i->n - 40; entry += 40) {
		if (strcmp((char *)entry, name))
			continue;
		memcpy(&offset, entry + 16, sizeof offset);
		memcpy(n, entry + 24, sizeof *n);
		return i->bytes + offset;
	}
	fail_msg("no chunk %s", name);
	return NULL;
}

static uint32_t *numbers(struct image *i, const char *name)
{
	uint64_t n;
	return chunk(i, name, &n);
}

/* An object that dominates another one, and one that no root reaches. */
static uint32_t a_dominator(struct image *i)
{
	const uint32_t *above = numbers(i, "dominator");
	for (uint32_t id = 0; id < heap->n_objects; id++)
		if (above[id] < NOT_REACHABLE)
			return above[id];
	fail();
	return 0;
}

static uint32_t garbage(struct image *i)
{
	const uint32_t *above = numbers(i, "dominator");
	for (uint32_t id = 0; id < heap->n_objects; id++)
		if (above[id] == NOT_REACHABLE)
			return id;
	fail();
	return 0;
}

static uint16_t *classes(struct image *i) { return (uint16_t *)numbers(i, "class_low"); }
static void class_beyond(struct image *i) { classes(i)[1] = (uint16_t)heap->n_classes; }
static void class_too_high(struct image *i) { ((uint16_t *)numbers(i, "class_high"))[1] = 1; }
static void class_count(struct image *i)
{
	uint16_t *of = classes(i);
	of[0] = (uint16_t)((of[0] + 1u) % heap->n_classes);
}

/* Counts stay the same, so that only the class object itself differs. */
static void class_object(struct image *i)
{
	uint16_t *of = classes(i);
	uint32_t id = heap->classes[0].object, other = 0;
	assert_int_not_equal(id, HEAP_NONE);
	while (heap_class_mirrored(heap, other) != HEAP_NONE)
		other++;
	uint16_t class = of[id];
	of[id] = of[other];
	of[other] = class;
}

static void address_twice(struct image *i)
{
	uint8_t *bits = (uint8_t *)numbers(i, "addresses");
	bits[0] ^= 1;
	bits[8] ^= 3;
}
static void sized_count(struct image *i) { numbers(i, "sized")[0] ^= 1; }
static void sized_beyond(struct image *i)
{
	uint64_t n;
	uint8_t *bits = chunk(i, "sized", &n);
	assert_int_not_equal(heap->n_objects % 64, 0);
	bits[n - 1] |= 0x80;
}
static void length_wide(struct image *i) { numbers(i, "own_length")[0] = OWN_WIDE; }
static void target_beyond(struct image *i) { numbers(i, "out_target")[0] = heap->n_objects; }
static void referrer_beyond(struct image *i) { numbers(i, "in_target")[0] = heap->n_objects; }
static void start_beyond(struct image *i)
{
	uint64_t n;
	uint16_t *offset = chunk(i, "out_offset", &n);
	offset[1] = UINT16_MAX;
}
static void set_base(struct image *i, uint64_t base)
{
	uint64_t n, *at = chunk(i, "in_base", &n);
	at[0] = base;
}
static void base_beyond(struct image *i) { set_base(i, 1 << 20); }
static void base_of_no_wide_block(struct image *i) { set_base(i, ADJACENCY_WIDE); }
static void base_far_beyond(struct image *i) { set_base(i, UINT64_MAX); }
static void one_way(struct image *i) { uint32_t *t = numbers(i, "out_target"); t[0] = t[0] ? 0 : 1; }
static void dominator_beyond(struct image *i) { numbers(i, "dominator")[a_dominator(i)] = heap->n_objects; }
static void dominator_itself(struct image *i)
{
	uint32_t id = a_dominator(i);
	numbers(i, "dominator")[id] = id;
}
/* As many are reachable as before. */
static void dominator_unreachable(struct image *i)
{
	uint32_t id = a_dominator(i), *above = numbers(i, "dominator");
	above[garbage(i)] = DOMINATED_BY_ROOTS;
	above[id] = NOT_REACHABLE;
}
static void retains_less(struct image *i)
{
	numbers(i, "retained")[a_dominator(i)] = 0;
}
static void reachable_count(struct image *i) { numbers(i, "reachable")[0] ^= 1; }
static void weak_beyond(struct image *i) { numbers(i, "weak")[1] = heap->n_objects; }
static void inactive_beyond(struct image *i) { numbers(i, "weak_inactive")[0] = heap->n_objects; }

static const struct {
	void (*forge)(struct image *i);
	enum refusal refusal;
	const char *promise;
} promises[] = {
	{ class_beyond, AT_ONCE, "a class of an object is a class" },
	{ class_too_high, AT_ONCE, "the same of its high bits" },
	{ class_count, AT_ONCE, "classes have as many objects as they say" },
	{ class_object, AT_ONCE, "a class object is the mirror of its class" },
	{ address_twice, AT_ONCE, "addresses ascend" },
	{ sized_count, AT_ONCE, "as many objects have sizes of their own as there are sizes" },
	{ sized_beyond, AT_ONCE, "bits are of objects" },
	{ length_wide, AT_ONCE, "a wide number is in the list of wide ones" },
	{ target_beyond, WITH_REFERENCES, "references lead to objects" },
	{ referrer_beyond, WITH_REFERENCES, "referrers are objects" },
	{ start_beyond, WITH_REFERENCES, "lists of references ascend" },
	{ base_beyond, WITH_REFERENCES, "lists of referrers begin at the first" },
	{ base_of_no_wide_block, WITH_REFERENCES, "a wide block has its starts" },
	{ base_far_beyond, WITH_REFERENCES, "a wide block is one of those that there are" },
	{ one_way, WITH_REFERENCES, "both directions have the same references" },
	{ dominator_beyond, WITH_SIZES, "dominators are objects" },
	{ dominator_itself, WITH_SIZES, "dominators lead to a root" },
	{ dominator_unreachable, WITH_SIZES, "a dominator is reachable" },
	{ retains_less, WITH_SIZES, "a dominator retains what it dominates" },
	{ reachable_count, WITH_REACHABLE, "as many objects are reachable as it says" },
	{ weak_beyond, WITH_REFERENCES, "a referent is an object" },
	{ inactive_beyond, WITH_REFERENCES, "an inactive reference is an object" },
};

/* When something was found to be damaged, or -1: never.  There is no dump to read instead. */
static int refused(const struct image *i)
{
	struct heap *h = NULL;
	struct err err = ERR_INIT;
	char name[40];
	FILE *f = file_in_memory(name);
	assert_true(forged_write(i->bytes, i->n, false, f));
	assert_int_equal(fflush(f), 0);
	int code = heap_open(&h, &(struct heap_options){ .path = name, .references_later = true }, NULL, &err), when = -1;
	fclose(f);
	if (code)
		return AT_ONCE;
	struct opened *o = opened_new(h);
	opened_own(o, h);
	if (opened_find(o, FIND_REFERENCES, NULL, &err))
		when = WITH_REFERENCES;
	else if (opened_find(o, FIND_RETAINED, NULL, &err) || h->index_refused)
		when = WITH_SIZES;
	else if (opened_find(o, FIND_REACHABLE, NULL, &err) || h->index_refused)
		when = WITH_REACHABLE;
	opened_free(o);
	return when;
}

static void test_promises(void **state)
{
	static struct image copy;
	(void)state;
	assert_int_equal(refused(&images[PLAIN]), -1);
	for (size_t i = 0; i < sizeof promises / sizeof *promises; i++) {
		copy = images[PLAIN];
		promises[i].forge(&copy);
		int when = refused(&copy);
		if (when != (int)promises[i].refusal)
			fail_msg("%s: %d, and not %d", promises[i].promise, when, (int)promises[i].refusal);
		copy = images[PLAIN];
		promises[i].forge(&copy);
		opens(&copy, copy.n, true);
	}
}

/* An index of an older or newer version is refused as that, not as damaged. */
static void test_version(void **state)
{
	static struct image copy;
	(void)state;
	for (int step = -1; step <= 1; step += 2) {
		struct heap *h = NULL;
		struct err err = ERR_INIT;
		char name[40];
		uint64_t n;
		FILE *f = file_in_memory(name);
		copy = images[PLAIN];
		*(uint8_t *)chunk(&copy, "key", &n) += (uint8_t)step;
		assert_true(forged_write(copy.bytes, copy.n, false, f));
		assert_int_equal(fflush(f), 0);
		assert_true(heap_open(&h, &(struct heap_options){.path = name}, NULL, &err) < 0);
		assert_non_null(strstr(err.message, "another version of cairn wrote it"));
		fclose(f);
	}
}

/* What classes retain is told before references are read, and is what was found without an index. */
static void tells_sums(const struct image *i)
{
	const struct retained *told;
	struct err err = ERR_INIT;
	struct heap *h = NULL;
	char name[40];
	FILE *f = file_in_memory(name);
	assert_int_equal(fwrite(i->bytes, 1, i->n, f), i->n);
	assert_int_equal(fflush(f), 0);
	assert_int_equal(heap_open(&h, &(struct heap_options){.path = name, .references_later = true}, NULL, &err), 0);
	fclose(f);
	struct opened *o = opened_new(h), *plain = opened_new(heap);
	opened_own(o, h);
	opened_read_class_sums(plain);
	assert_null(opened_class_sums(plain));
	assert_null(opened_class_sums(o));
	opened_read_class_sums(o);
	told = opened_class_sums(o);
	assert_non_null(told);
	assert_true(heap_waits(h));
	assert_int_equal(opened_find(plain, FIND_RETAINED, NULL, &err), 0);
	const struct retained *found = opened_retained(plain);
	for (uint32_t c = 0; c < heap->n_classes; c++) {
		assert_int_equal(told->by_class[c].bytes, found->by_class[c].bytes);
		assert_int_equal(told->by_class[c].topmost, found->by_class[c].topmost);
	}
	opened_free(plain);
	opened_free(o);
}

static void test_sums(void **state)
{
	(void)state;
	for (struct image *i = images; i <= &images[PACKED] && i->n; i++)
		tells_sums(i);
}

static void test_numbers(void **state)
{
	static const char *const texts[] = {"", "same", "other", "same"};
	struct pack out = { .reading = false }, in;
	struct err err = ERR_INIT;
	(void)state;
	for (uint64_t n = 1; n; n <<= 1)
		pack_number(&out, &n, UINT64_MAX);
	for (size_t i = 0; i < 4; i++) {
		const char *text = texts[i];
		pack_text(&out, &text);
	}
	assert_int_equal(pack_written(&out, &err), 0);
	assert_int_equal(out.n_text, sizeof "" + sizeof "same" + sizeof "other");
	assert_true(pack_open(&in, out.out, out.n, out.text, out.n_text));
	for (uint64_t n = 1, got; n; n <<= 1) {
		pack_number(&in, &got, n);
		assert_int_equal(got, n);
	}
	for (size_t i = 0; i < 4; i++) {
		const char *text;
		pack_text(&in, &text);
		assert_string_equal(text, texts[i]);
	}
	assert_true(pack_ends(&in));
	assert_true(pack_open(&in, out.out, out.n, out.text, out.n_text));
	uint64_t got;
	pack_number(&in, &got, 0); /* it is 1 */
	assert_true(in.bad && got == 0);
	assert_false(pack_open(&in, out.out, out.n, "\x1b[m", 4));
	assert_false(pack_open(&in, out.out, out.n, "no end", 6));
	pack_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_accident),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_promises),
		cmocka_unit_test(test_forged),
		cmocka_unit_test(test_sums),
	    cmocka_unit_test(test_numbers),
	};
	parallel_set_threads(1); /* files are small, and there are many */
	return cmocka_run_group_tests(tests, begin, end_made);
}
