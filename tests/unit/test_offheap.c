/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_offheap.c - owners of memory outside of the heap, on objects made by hand: as the JDK lays them out, and as it
 * never does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "analysis/field_holders.h"
#include "analysis/offheap/offheap.h"
#include "base/text.h"
#include "made_hprof.h"

static struct offheap found;

static void find(void)
{
	struct err err = ERR_INIT;
	open_made();
	assert_int_equal(offheap_find(&found, heap, NULL, &err), 0);
}

/* "direct 1000, stack ?, deflater ~262144", in the order of kinds and objects. */
static void expect_owners(const char *wanted)
{
	struct text t = TEXT_INIT;
	text_clear(&t);
	for (size_t i = 0; i < found.n; i++) {
		const struct offheap_owner *o = &found.owner[i];
		text_addf(&t, "%s%s ", i ? ", " : "", offheap_kind_name(o->kind));
		if (o->capacity.certainty == UNKNOWN)
			text_add(&t, "?");
		else
			text_addf(&t, "%s%llu", o->capacity.certainty == EXACT ? "" : "~", (unsigned long long)o->capacity.n);
	}
	assert_string_equal(t.s, wanted);
	text_release(&t);
}

static int buffer, cleaner, deallocator, unmapper, reference;

static void jdk_classes(void)
{
	reference = class("java/lang/ref/Reference", object, "referent:L");
	cleaner = class("jdk/internal/ref/Cleaner", reference, "next:L thunk:L");
	deallocator = class("java/nio/DirectByteBuffer$Deallocator", object, "address:J size:J capacity:I");
	unmapper = class("sun/nio/ch/FileChannelImpl$DefaultUnmapper", object, "address:J size:J cap:I");
	int base = class("java/nio/Buffer", object, "capacity:I limit:I address:J");
	buffer = class("java/nio/DirectByteBuffer", base, "cleaner:L att:L");
}

/* A buffer and what frees its memory, an object of class action. */
static uint64_t owner_of(int action, uint64_t address, uint64_t capacity)
{
	uint64_t place = new_address();
	uint64_t run = OBJECT(action, address, capacity, capacity), frees = OBJECT(cleaner, 0, run, place);
	return OBJECT_AT(place, buffer, frees, 0, capacity, capacity, address);
}

static void test_buffers(void **state)
{
	(void)state;
	jdk_classes();
	uint64_t one = owner_of(deallocator, 0x10000, 1000), slice = OBJECT(buffer, 0, one, 10, 10, 0x10010);
	OBJECT(buffer, 0, slice, 5, 5, 0x10012);        /* a slice of a slice */
	owner_of(unmapper, 0x20000, 4096);
	owner_of(deallocator, 0, 500);                  /* freed */
	OBJECT(buffer, 0, 0, 64, 64, 0x30000);          /* lent by native code, twice in one piece of memory */
	OBJECT(buffer, 0, 0, 16, 16, 0x30010);
	OBJECT(buffer, 0, 0, 0, 0, 0);                  /* nothing */
	find();
	expect_owners("direct 1000, mapped 4096, lent ~64");
	assert_int_equal(found.owner[0].object, heap_find(heap, one));
	assert_int_equal(found.owner[0].address, 0x10000);
	assert_int_equal(found.owner[0].limit, 1000);
	assert_int_equal(found.views, 3);
	assert_int_equal(found.freed, 1);
	assert_int_equal(found.lost + found.broken, 0);
	uint64_t n, bytes;
	offheap_sum(&found, false, &n, &bytes);
	assert_true(n == 1 && bytes == 1000);
	offheap_sum(&found, true, &n, &bytes);
	assert_true(n == 1 && bytes == 4096);
	offheap_release(&found);
}

/* Sizes that lie, circles, one action behind several cleaners, references to what is no object of theirs. */
static void test_lies(void **state)
{
	(void)state;
	jdk_classes();
	uint64_t a = text("a"), round = new_address(), other = new_address();
	owner_of(deallocator, 0x10000, (uint64_t)-7);             /* below 0 */
	OBJECT_AT(round, buffer, 0, other, 5, 5, 0x20000);        /* attached to each other */
	OBJECT_AT(other, buffer, 0, round, 5, 5, 0x20000);
	OBJECT(buffer, 0, 0xDEAD0000, 5, 5, 0x20000);             /* to what is not in the dump */
	OBJECT(buffer, 0, 0, (uint64_t)-1, 5, 0x20000);           /* a capacity below 0 */
	uint64_t fair = OBJECT(deallocator, 0x30000, 300, 300), place = new_address();
	OBJECT_AT(place, buffer, OBJECT(cleaner, 0, fair, place), 0, 300, 900, 0x30000); /* a limit above the capacity */
	OBJECT(cleaner, 0, fair, place);                           /* a second cleaner of the same memory */
	OBJECT(cleaner, 0, a, 0);                                 /* runs what frees nothing */
	OBJECT(cleaner, 0, 0xDEAD0000, a);
	uint64_t ran = new_address();
	OBJECT_AT(ran, cleaner, ran, OBJECT(deallocator, 0x50000, 50, 50), a); /* ran: leads to itself */
	OBJECT(buffer, a, 0, 70, 70, 0x60000);                    /* its cleaner is a String */
	find();
	expect_owners("direct 300");
	assert_true(found.owner[0].limit == OFFHEAP_NO_LIMIT);
	assert_int_equal(found.views, 3);
	assert_int_equal(found.lost, 3);
	assert_int_equal(found.broken, 2);
	assert_int_equal(found.freed, 1);
	offheap_release(&found);
}

/* Fields of another type than theirs. */
static void test_types(void **state)
{
	(void)state;
	reference = class("java/lang/ref/Reference", object, "referent:I");
	cleaner = class("jdk/internal/ref/Cleaner", reference, "thunk:L next:Z");
	deallocator = class("java/nio/DirectByteBuffer$Deallocator", object, "address:L capacity:D size:Z");
	buffer = class("java/nio/DirectByteBuffer", object, "capacity:L limit:F address:L cleaner:J att:C");
	int thread_class = class("java/lang/Thread", object, "eetop:L stackSize:L");
	int deflater = class("java/util/zip/Deflater", object, "zsRef:J");
	int zip = class("java/util/zip/ZipFile", object, "jzfile:L");
	int segment = class("jdk/internal/foreign/NativeMemorySegmentImpl", object, "min:L length:Z scope:J");
	int list = class("jdk/internal/foreign/MemorySessionImpl$ResourceList", object, "fst:J");
	int thunk = class("libcore/util/NativeAllocationRegistry$CleanerThunk", object, "nativePtr:L this$0:I");
	int registered = class("libcore/util/NativeAllocationRegistry", object, "size:L");
	uint64_t a = text("a");
	OBJECT(buffer, a, 0, a, 17, 3);
	OBJECT(cleaner, OBJECT(deallocator, a, 0, 1), 1, 7);
	OBJECT(cleaner, OBJECT(thunk, a, 5), 0, 0);
	OBJECT(registered, a);
	OBJECT(thread_class, a, a);
	OBJECT(deflater, 7);
	OBJECT(zip, 0);
	OBJECT(segment, a, 1, 7);
	OBJECT(list, 77);
	find();
	expect_owners("");
	assert_int_equal(found.broken, 2); /* the buffer and the segment, which are nothing without these */
	offheap_release(&found);
}

static void test_others(void **state)
{
	(void)state;
	int base = class("java/lang/Thread", object, "eetop:J stackSize:J");
	int of_holder = class("java/lang/Thread$FieldHolder", object, "stackSize:J");
	int newer = class("com/acme/Worker", base, "holder:L");
	int virtual = class("java/lang/VirtualThread", base, "");
	int stream = class("java/util/zip/Deflater$DeflaterZStreamRef", object, "address:J");
	int deflater = class("java/util/zip/Deflater", object, "zsRef:L");
	int inflater = class("java/util/zip/Inflater", object, "zsRef:L");
	reference = class("java/lang/ref/Reference", object, "referent:L");
	cleaner = class("sun/misc/Cleaner", reference, "thunk:L next:L");
	int registry = class("libcore/util/NativeAllocationRegistry", object, "size:J");
	int thunk = class("libcore/util/NativeAllocationRegistry$CleanerThunk", object, "nativePtr:J this$0:L");
	int bitmap = class("android/graphics/Bitmap", object, "");
	uint64_t sizes = OBJECT(registry, 1235), picture = at(new_address(), bitmap, NULL);
	OBJECT(base, 0x7000, 65536);
	OBJECT(base, 0x7000, UINT64_MAX / 2);             /* no stack is that large */
	OBJECT(base, 0, 65536);                           /* ended */
	OBJECT(virtual, 0x7000, 65536);
	OBJECT(newer, OBJECT(of_holder, 131072), 0x7000, 0);
	OBJECT(deflater, OBJECT(stream, 0x9000));
	OBJECT(inflater, OBJECT(stream, 0));              /* ended */
	OBJECT(cleaner, OBJECT(thunk, 0x8000, sizes), 0, picture);
	OBJECT(cleaner, OBJECT(thunk, 0x8800, 0), 0, picture);
	find();
	expect_owners("registered 1234, registered ?, deflater ~262144, stack ~65536, stack ?, stack ~131072");
	assert_int_equal(found.freed, 1);
	offheap_release(&found);
}

/* The list of a session in a circle, one that ends in what is none of it, segments that overlap. */
static void test_sessions(void **state)
{
	(void)state;
	int list = class("jdk/internal/foreign/SharedSession$SharedResourceList", object, "fst:L");
	int cleanup = class("jdk/internal/foreign/NativeMemorySegmentImpl$1", object,
	    "next:L val$buf:J val$byteSize:J val$alignedSize:J");
	int segment = class("jdk/internal/foreign/NativeMemorySegmentImpl", object, "min:J length:J scope:L");
	uint64_t first = new_address(), second = new_address(), a = text("a");
	OBJECT_AT(first, cleanup, second, 0x10000, 500, 512);
	OBJECT_AT(second, cleanup, first, 0x20000, 700, 704);
	OBJECT(list, first);
	OBJECT(list, second);                            /* the same once more */
	OBJECT(list, OBJECT(cleanup, a, 0x30000, INT64_MAX, 8)); /* a size that lies, and a String behind it */
	uint64_t whole = OBJECT(segment, 0x10000, 500, 0);
	OBJECT(segment, 0x10010, 20, 0);
	OBJECT(segment, 0x40000, 100, 0);
	OBJECT(segment, 0x40020, 200, 0);                /* overlaps, and is nobody's */
	OBJECT(segment, UINT64_MAX - 5, 100, 0);         /* ends behind all memory */
	OBJECT(segment, 0, INT64_MAX, 0);
	find();
	expect_owners("segment 700, segment 500, segment ~232");
	assert_int_equal(found.owner[1].object, heap_find(heap, whole));
	assert_int_equal(found.broken, 1);
	offheap_release(&found);
}

/* --- who holds them ----------------------------------------------------------------------------- */

static void expect_holder(struct field_holders *f, uint64_t address, const char *wanted)
{
	struct field_holder holder;
	struct text t = TEXT_INIT;
	struct err err = ERR_INIT;
	uint32_t id = heap_find(heap, address);
	assert_int_equal(field_holder_of(f, id, &holder, &err), 0);
	field_holder_add(f, &holder, id, &t);
	assert_string_equal(t.s, wanted);
	text_release(&t);
}

static void test_holders(void **state)
{
	(void)state;
	jdk_classes();
	int list = class("java/util/ArrayList", object, "elementData:L");
	int weak = class("java/lang/ref/WeakReference", reference, "");
	int pool = class("com/acme/Pool", object, "buffers:L");
	int special = class("com/acme/Special", pool, "one:L");
	int channel = class("sun/nio/ch/IOUtil", object, "cache:L");
	uint64_t a = owner_of(deallocator, 0x10000, 10), b = owner_of(deallocator, 0x20000, 10);
	uint64_t c = owner_of(deallocator, 0x30000, 10), d = owner_of(deallocator, 0x40000, 10);
	uint64_t e = owner_of(deallocator, 0x50000, 10), round = new_address(), f = owner_of(deallocator, 0x60000, 10);
	uint64_t slice = OBJECT(buffer, 0, e, 5, 5, 0x50000);
	OBJECT(special, b, OBJECT(list, OBJECTS(a)));
	OBJECT(pool, OBJECTS(slice));
	OBJECT(channel, c);
	OBJECT(weak, d);
	OBJECT_AT(round, list, OBJECTS(f, round));       /* a list that contains itself, held by nothing else */
	open_made();
	struct field_holders holders;
	struct err err = ERR_INIT;
	assert_int_equal(field_holders_init(&holders, heap, &err), 0);
	expect_holder(&holders, a, "com.acme.Pool.buffers[]"); /* the class that declares the field */
	expect_holder(&holders, b, "com.acme.Special.one");
	expect_holder(&holders, c, "sun.nio.ch.IOUtil.cache");
	expect_holder(&holders, d, "nothing");
	expect_holder(&holders, e, "com.acme.Pool.buffers[]"); /* through what shares its memory */
	expect_holder(&holders, f, "java.util.ArrayList[]");
	field_holders_release(&holders);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_made, end_made)
	const struct CMUnitTest tests[] = {TEST(test_buffers), TEST(test_lies), TEST(test_types), TEST(test_others),
	    TEST(test_sessions), TEST(test_holders)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
