/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_layout.c - sizes from hand-made classes.
 *
 * Expected sizes are those that the VMs' own class histograms show for the very classes written out
 * here (JDK 17 and 25, every model), or were worked out by hand from the rules; random hierarchies
 * are laid out a second time by a naive byte map.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sketched.h"

/* --- arrays ------------------------------------------------------------------------------------- */

static void check_bases(struct layout_model m, unsigned small, unsigned eight, unsigned reference)
{
	for (unsigned width = 1; width < 8; width *= 2)
		assert_int_equal(layout_array_base(&m, false, width), small);
	assert_int_equal(layout_array_base(&m, false, 8), eight);
	assert_int_equal(layout_array_base(&m, true, m.reference), reference);
}

static void array_bases(void **state)
{
	(void)state;
	check_bases(x32, 12, 16, 12);
	check_bases(coops, 16, 16, 16);
	check_bases(wide_ccp, 16, 16, 16);
	check_bases(plain64, 24, 24, 24);
	check_bases(coops_noccp, 24, 24, 24);
	check_bases(model_relaxed(x32), 12, 16, 12);
	check_bases(model_relaxed(coops), 16, 16, 16);
	check_bases(model_relaxed(wide_ccp), 16, 16, 16);
	check_bases(model_relaxed(plain64), 20, 24, 24);
	check_bases(model_relaxed(coops_noccp), 20, 24, 20);
	check_bases(compact, 12, 16, 12);
	check_bases(compact_wide, 12, 16, 16);
	/* MAT: object arrays P + r + 4, primitive arrays that rounded up to r */
	check_bases(layout_mat_model(8, 4, 8), 16, 16, 16);
	check_bases(layout_mat_model(8, 8, 8), 24, 24, 20);
	check_bases(layout_mat_model(4, 4, 8), 12, 12, 12);
}

static void array_sizes(void **state)
{
	(void)state;
	assert_int_equal(layout_array_size(16, 1, 0, 8), 16);
	assert_int_equal(layout_array_size(16, 1, 1, 8), 24);
	assert_int_equal(layout_array_size(12, 4, 1, 8), 16);
	assert_int_equal(layout_array_size(16, 2, 1, 16), 32);
	assert_int_equal(layout_array_size(24, 8, UINT64_C(1) << 33, 8), 24 + (UINT64_C(1) << 36));
	assert_true(layout_array_size(16, 8, UINT64_MAX / 8, 8) == SIZE_UNKNOWN);
	assert_true(layout_array_size(16, 8, UINT64_MAX, 256) == SIZE_UNKNOWN);
}

/* --- instances: known classes ------------------------------------------------------------------- */

static const struct sketch jdk17[] = {
	{ "java.lang.Object", HEAP_NONE, "", NULL },
	{ "java.lang.Thread", 0,
	    "threadLocalRandomSecondarySeed:I threadLocalRandomProbe:I threadLocalRandomSeed:J "
	    "uncaughtExceptionHandler:L blockerLock:L blocker:L parkBlocker:L threadStatus:I tid:J "
	    "stackSize:J inheritableThreadLocals:L threadLocals:L inheritedAccessControlContext:L "
	    "contextClassLoader:L group:L target:L eetop:J stillborn:Z interrupted:Z daemon:Z priority:I "
	    "name:L", NULL },
	{ "java.lang.ref.Finalizer$FinalizerThread", 1, "running:Z", NULL },
	{ "java.lang.Class", 0,
	    "classValueMap:L annotationType:L annotationData:L enumConstantDirectory:L enumConstants:L "
	    "genericInfo:L classRedefinedCount:I reflectionData:L componentType:L packageName:L "
	    "classData:L classLoader:L module:L name:L cachedConstructor:L", NULL },
	{ "java.lang.invoke.MethodHandleNatives$CallSiteContext", 0, "", NULL },
	{ "java.lang.constant.Constable", 0, "", NULL },
};

static void threads_of_17(void **state)
{
	(void)state;
	struct table *t = sketched(jdk17, sizeof jdk17 / sizeof *jdk17);
	assert_int_equal(layout_release_of(t->classes, t->n), LAYOUT_JDK_17);
	assert_int_equal(sketched_size(t, 1, coops, LAYOUT_JDK_17), 368);
	assert_int_equal(sketched_size(t, 1, wide_ccp, LAYOUT_JDK_17), 408);
	assert_int_equal(sketched_size(t, 1, plain64, LAYOUT_JDK_17), 416);
	assert_int_equal(sketched_size(t, 1, x32, LAYOUT_JDK_17), 360);
	/* a subclass finds no holes, not even behind the padded group (histogram: 376) */
	assert_int_equal(sketched_size(t, 2, coops, LAYOUT_JDK_17), 376);
	/* without padding the thread is small */
	assert_int_equal(sketched_size(t, 1, coops, LAYOUT_PLAIN), 112);
	/* user classes are never padded, nor injected into */
	t->classes[1].loader = 7;
	assert_int_equal(sketched_size(t, 1, coops, LAYOUT_JDK_17), 112);
	free(t);
}

static const struct sketch jdk25[] = {
	{ "java.lang.Object", HEAP_NONE, "", NULL },
	{ "java.lang.Class", 0,
	    "cachedConstructor:L name:L module:L classLoader:L classData:L signers:L modifiers:C "
	    "primitive:Z packageName:L componentType:L protectionDomain:L reflectionData:L "
	    "classRedefinedCount:I genericInfo:L enumConstants:L enumConstantDirectory:L annotationData:L "
	    "annotationType:L classValueMap:L", NULL },
	{ "jdk.internal.vm.StackChunk", 0, "parent:L size:I sp:I bottom:I", NULL },
	{ "java.util.concurrent.ForkJoinPool", 0,
	    "termination:L saturate:L factory:L ueh:L container:L workerNamePrefix:L poolName:L "
	    "delayScheduler:L queues:L runState:J keepAlive:J config:J stealCount:J threadIds:J ctl:J "
	    "parallelism:I", NULL },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", 0,
	    "owner:L array:L base:I config:I top:I phase:I stackPred:I source:I nsteals:I parking:I", NULL },
	{ "java.util.concurrent.SubmissionPublisher$BufferedSubscription", 0,
	    "timeout:J head:I tail:I maxCapacity:I ctl:I array:L subscriber:L onNextHandler:L executor:L "
	    "waiter:L pendingError:L next:L nextRetry:L demand:J waiting:I", NULL },
};

static void class_object_bases(void **state)
{
	(void)state;
	struct table *t = sketched(jdk17, sizeof jdk17 / sizeof *jdk17);
	assert_int_equal(sketched_size(t, 3, coops, LAYOUT_JDK_17), 112);
	assert_int_equal(sketched_size(t, 3, coops_noccp, LAYOUT_JDK_17), 112);
	assert_int_equal(sketched_size(t, 3, wide_ccp, LAYOUT_JDK_17), 176);
	assert_int_equal(sketched_size(t, 3, plain64, LAYOUT_JDK_17), 184);
	assert_int_equal(sketched_size(t, 3, x32, LAYOUT_JDK_17), 96);
	free(t);
	t = sketched(jdk25, sizeof jdk25 / sizeof *jdk25);
	assert_int_equal(layout_release_of(t->classes, t->n), LAYOUT_JDK_25);
	assert_int_equal(sketched_size(t, 1, model_relaxed(coops), LAYOUT_JDK_25), 120);
	assert_int_equal(sketched_size(t, 1, compact, LAYOUT_JDK_25), 112);
	assert_int_equal(sketched_size(t, 1, model_relaxed(wide_ccp), LAYOUT_JDK_25), 192);
	assert_int_equal(sketched_size(t, 1, compact_wide, LAYOUT_JDK_25), 184);
	assert_int_equal(sketched_size(t, 1, model_relaxed(plain64), LAYOUT_JDK_25), 192);
	free(t);
}

/* What JDK 25's histograms show, compressed and with compact headers. */
static void padded_groups_of_25(void **state)
{
	(void)state;
	struct table *t = sketched(jdk25, sizeof jdk25 / sizeof *jdk25);
	assert_int_equal(sketched_size(t, 3, coops, LAYOUT_JDK_25), 720 / 2);
	assert_int_equal(sketched_size(t, 3, compact, LAYOUT_JDK_25), 720 / 2);
	assert_int_equal(sketched_size(t, 4, coops, LAYOUT_JDK_25), 936 / 3);
	assert_int_equal(sketched_size(t, 4, compact, LAYOUT_JDK_25), 912 / 3);
	/* a padded class with a padded group in it */
	assert_int_equal(sketched_size(t, 5, coops, LAYOUT_JDK_25), 472);
	assert_int_equal(sketched_size(t, 5, compact, LAYOUT_JDK_25), 464);
	assert_int_equal(sketched_size(t, 5, wide_ccp, LAYOUT_JDK_25), 504);
	assert_int_equal(sketched_size(t, 5, compact_wide, LAYOUT_JDK_25), 496);
	assert_int_equal(sketched_size(t, 5, plain64, LAYOUT_JDK_25), 504);
	assert_int_equal(sketched_size(t, 5, coops_noccp, LAYOUT_JDK_25), 472);
	free(t);
}

/* The same fields in JDK 28, whose groups fill their own holes: head at 140 and waiting at 324 of 464. */
static void padded_groups_of_28(void **state)
{
	(void)state;
	struct table *t = sketched(jdk25, sizeof jdk25 / sizeof *jdk25);
	assert_int_equal(sketched_size(t, 3, compact, LAYOUT_JDK_28), 704 / 2);
	assert_int_equal(sketched_size(t, 3, compact, LAYOUT_JDK_25), 720 / 2);
	assert_int_equal(sketched_size(t, 5, coops, LAYOUT_JDK_28), 464);
	free(t);
}

/* Histograms of JDK 21 and 28.  What declared fields tell is believed before the release. */
static void injected_of_21_and_28(void **state)
{
	(void)state;
	static const struct sketch sketches[] = {
		{ "java.lang.Object", HEAP_NONE, "", NULL },
		{ "java.lang.Thread", 0,
		    "eetop:J tid:J name:L interrupted:Z contextClassLoader:L inheritedAccessControlContext:L "
		    "holder:L threadLocals:L inheritableThreadLocals:L scopedValueBindings:L interruptLock:L "
		    "parkBlocker:L nioBlocker:L cont:L uncaughtExceptionHandler:L threadLocalRandomSeed:J "
		    "threadLocalRandomProbe:I threadLocalRandomSecondarySeed:I container:L headStackableScopes:L",
		    NULL },
		{ "java.lang.BaseVirtualThread", 1, "", NULL },
		{ "java.lang.VirtualThread", 2, "scheduler:L cont:L runContinuation:L state:I parkPermit:Z "
		    "carrierThread:L termination:L", NULL },
		{ "java.lang.invoke.ResolvedMethodName", 0, "", NULL },
		{ "jdk.internal.vm.StackChunk", 0, "parent:L size:I sp:I bottom:I", NULL },
		{ "java.lang.reflect.AccessibleObject", 0, "override:Z accessCheckCache:L", NULL },
		{ "java.lang.reflect.Field", 6, "clazz:L slot:I name:L type:L modifiers:I flags:I signature:L "
		    "annotations:L root:L genericInfo:L fieldAccessor:L overrideFieldAccessor:L "
		    "declaredAnnotations:L", NULL },
	};
	struct table *t = sketched(sketches, sizeof sketches / sizeof *sketches);
	assert_int_equal(layout_release_of(t->classes, t->n), LAYOUT_JDK_21);
	assert_int_equal(sketched_size(t, 3, coops, LAYOUT_JDK_21), 720 / 5);
	assert_int_equal(sketched_size(t, 3, wide_ccp, LAYOUT_JDK_21), 1120 / 5);
	assert_int_equal(sketched_size(t, 4, coops, LAYOUT_JDK_21), 24);
	assert_int_equal(sketched_size(t, 4, wide_ccp, LAYOUT_JDK_21), 13632 / 426);
	t->fields[1][5].name = "gone";
	assert_int_equal(layout_release_of(t->classes, t->n), LAYOUT_JDK_28);
	assert_int_equal(sketched_size(t, 7, compact, LAYOUT_JDK_28), 72);
	assert_int_equal(sketched_size(t, 7, model_relaxed(coops), LAYOUT_JDK_28), 6400 / 80);
	assert_int_equal(sketched_size(t, 7, model_relaxed(wide_ccp), LAYOUT_JDK_28), 120);
	t->fields[7][5].name = "gone";
	assert_int_equal(layout_release_of(t->classes, t->n), LAYOUT_JDK_25);
	free(t);
}

static void stack_chunks(void **state)
{
	(void)state;
	struct table *t = sketched(jdk25, sizeof jdk25 / sizeof *jdk25);
	assert_int_equal(sketched_size(t, 2, coops, LAYOUT_JDK_25), 48);
	assert_int_equal(sketched_size(t, 2, compact, LAYOUT_JDK_25), 48);
	assert_int_equal(sketched_size(t, 2, wide_ccp, LAYOUT_JDK_25), 56);
	assert_int_equal(layout_stack_chunk(48, 181, &coops), 1544);
	assert_int_equal(layout_stack_chunk(48, 181, &compact), 1544);
	assert_int_equal(layout_stack_chunk(56, 181, &wide_ccp), 1528);
	assert_true(layout_stack_chunk(48, UINT64_C(1) << 40, &coops) == SIZE_UNKNOWN);
	free(t);
}

/* --- instances: rules by hand ------------------------------------------------------------------- */

static void old_rule(void **state)
{
	(void)state;
	static const struct sketch sketches[] = {
		{ "java.lang.Object", HEAP_NONE, "", NULL },
		{ "A", 0, "j:J i:I", NULL },       /* 1: i fills the gap at 12, j at 16: 24 */
		{ "B", 0, "j:J s:S b:B l:L", NULL }, /* 2: s 12, b 14, gap 15; j 16, l 24: 28 -> 32 */
		{ "C", 0, "j:J l:L", NULL },       /* 3: l fills the gap: 24 */
		{ "D", 0, "b:B", NULL },           /* 4: 13, rounded to a reference: 16 */
		{ "E", 4, "b:B", NULL },           /* 5: from 16: the gap of D is lost: 24 */
		{ "F", 0, "", NULL },              /* 6: 12 -> 16 */
		{ "G", 6, "i:I", NULL },           /* 7: F declares nothing, so ends at 12: 16 */
		{ "java.lang.ref.SoftReference", 0, "timestamp:J referent:L", NULL }, /* 8: 12, 16: 24 */
		{ "java.lang.Throwable", 0, "depth:I a:L b:L c:L d:L", NULL }, /* 9: 12..28, 32: 32 */
		{ "java.lang.String", 0, "j:J a:L b:L", NULL }, /* 10: 12, 16, 20..24 skipped, 24..32: 32 */
	};
	static const unsigned want[] = { 16, 24, 32, 24, 16, 24, 16, 16, 24, 32, 32 };
	struct table *t = sketched(sketches, sizeof sketches / sizeof *sketches);
	for (uint32_t i = 0; i < t->n; i++)
		assert_int_equal(sketched_size(t, i, model_with_rule(coops, LAYOUT_OLD), LAYOUT_PLAIN), want[i]);
	/* in 32 bits: header 8, so no gap before 8-byte fields */
	assert_int_equal(sketched_size(t, 1, model_with_rule(x32, LAYOUT_OLD), LAYOUT_PLAIN), 24);
	assert_int_equal(sketched_size(t, 4, model_with_rule(x32, LAYOUT_OLD), LAYOUT_PLAIN), 16);
	assert_int_equal(sketched_size(t, 5, model_with_rule(x32, LAYOUT_OLD), LAYOUT_PLAIN), 16);
	assert_int_equal(sketched_size(t, 6, model_with_rule(x32, LAYOUT_OLD), LAYOUT_PLAIN), 8);
	free(t);
}

static void new_rule(void **state)
{
	(void)state;
	static const struct sketch sketches[] = {
		{ "java.lang.Object", HEAP_NONE, "", NULL },
		{ "A", 0, "b:B", NULL },        /* 1: 13 -> 16 */
		{ "B", 1, "b:B", NULL },        /* 2: 14 -> 16, the end is not rounded */
		{ "C", 2, "j:J", NULL },        /* 3: 16..24, hole 14..16 */
		{ "D", 3, "s:S", NULL },        /* 4: in the hole: 24 */
		{ "E", 3, "i:I b:B b:B", NULL }, /* 5: 24..28, both bytes in the hole: 32 */
		{ "F", 3, "s:S b:B", NULL },    /* 6: s in the hole, b at 24: 32 */
		{ "G", 4, "b:B", NULL },        /* 7: no hole is left: 32 */
		{ "H", 0, "j:J l:L", NULL },    /* 8: j 16, l in the hole 12..16: 24 */
		{ "I", 0, "j:J i:I l:L", NULL }, /* 9: the int takes the hole, l at 24: 32 */
	};
	static const unsigned want[] = { 16, 16, 16, 24, 24, 32, 32, 32, 24, 32 };
	struct table *t = sketched(sketches, sizeof sketches / sizeof *sketches);
	for (uint32_t i = 0; i < t->n; i++)
		assert_int_equal(sketched_size(t, i, coops, LAYOUT_PLAIN), want[i]);
	struct layout_model aligned = coops;
	aligned.alignment = 16;
	assert_int_equal(sketched_size(t, 3, aligned, LAYOUT_PLAIN), 32);
	assert_int_equal(sketched_size(t, 0, aligned, LAYOUT_PLAIN), 16);
	free(t);
}

static void mat_rule(void **state)
{
	(void)state;
	static const struct sketch sketches[] = {
		{ "java.lang.Object", HEAP_NONE, "", NULL },
		{ "A", 0, "b:B", "a:I l:L <resolved_references>:L" },
		{ "B", 1, "b:B", NULL },
		{ "C", 2, "j:J", NULL },
	};
	struct table *t = sketched(sketches, sizeof sketches / sizeof *sketches);
	struct layout_model four = layout_mat_model(8, 4, 8), eight = layout_mat_model(8, 8, 8);
	assert_int_equal(sketched_size(t, 0, four, LAYOUT_PLAIN), 16);  /* 12 */
	assert_int_equal(sketched_size(t, 1, four, LAYOUT_PLAIN), 16);  /* 13 -> 16 */
	assert_int_equal(sketched_size(t, 2, four, LAYOUT_PLAIN), 24);  /* 17 -> 20 */
	assert_int_equal(sketched_size(t, 3, four, LAYOUT_PLAIN), 32);  /* 28 */
	assert_int_equal(sketched_size(t, 2, eight, LAYOUT_PLAIN), 32); /* 16, 24, 32 */
	assert_int_equal(layout_class_object(&t->classes[1], 96, &four, LAYOUT_JDK_17), 16); /* 12 */
	assert_int_equal(layout_class_object(&t->classes[1], 96, &eight, LAYOUT_JDK_17), 24); /* 20 */
	assert_int_equal(layout_class_object(&t->classes[0], 96, &four, LAYOUT_JDK_17), 0);
	free(t);
}

static void class_objects(void **state)
{
	(void)state;
	static const struct sketch sketches[] = {
		{ "A", HEAP_NONE, "", "" },
		{ "B", HEAP_NONE, "", "l:L j:J b:B" }, /* l 112, j 120..128, b 128; 116..120 stays empty */
		{ "C", HEAP_NONE, "", "l:L <resolved_references>:L" }, /* 116 -> 120 */
		{ "D", HEAP_NONE, "", "i:I j:J l:L" }, /* l 112, j 120..128, i 128 */
		{ "E", HEAP_NONE, "", "i:I b:B l:L" }, /* l 112, i 116, b 120 */
		/* as far as the next objects lie in JDK 17's dumps, where the base is 112 */
		{ "java.lang.ProcessHandleImpl", HEAP_NONE, "", "a:L b:L c:L <resolved_references>:L j:J i:I" },
		{ "java.util.TreeMap", HEAP_NONE, "", "a:L z:Z y:Z j:J" },
	};
	static const unsigned want[] = { 112, 136, 120, 136, 128, 144, 136 };
	struct table *t = sketched(sketches, sizeof sketches / sizeof *sketches);
	struct layout_model old = model_with_rule(coops, LAYOUT_OLD);
	for (uint32_t i = 0; i < t->n; i++) {
		assert_int_equal(layout_class_object(&t->classes[i], 112, &coops, LAYOUT_JDK_17), want[i]);
		assert_int_equal(layout_class_object(&t->classes[i], 112, &old, LAYOUT_JDK_11), want[i]);
		assert_int_equal(layout_class_object(&t->classes[i], 104, &old, LAYOUT_JDK_6), 104);
	}
	free(t);
}

/* JDK 8 dumps the lock of a class that is not initialized as one more static field, the last. */
static void lock_of_a_class(void **state)
{
	(void)state;
	static const struct sketch sketches[] = {
		{ "A", HEAP_NONE, "", "l:L init_lock:L" },
		{ "B", HEAP_NONE, "", "l:L m:L init_lock:L" },
		{ "C", HEAP_NONE, "", "init_lock:L m:L" }, /* the program's own */
		{ "D", HEAP_NONE, "", "l:L m:L init_lock:I" },
	};
	struct table *t = sketched(sketches, sizeof sketches / sizeof *sketches);
	struct layout_model wide = model_with_rule(plain64, LAYOUT_OLD);
	static const unsigned in_8[] = { 168, 176, 176, 184 }, in_11[] = { 176, 184, 176, 184 };
	for (uint32_t i = 0; i < t->n; i++) {
		assert_int_equal(layout_class_object(&t->classes[i], 160, &wide, LAYOUT_JDK_8), in_8[i]);
		assert_int_equal(layout_class_object(&t->classes[i], 160, &wide, LAYOUT_JDK_11), in_11[i]);
	}
	free(t);
}

/* Loops of superclasses, indices out of range, undefined classes, thousands of levels. */
static void hostile_classes(void **state)
{
	(void)state;
	static const struct sketch sketches[] = {
		{ "A", 1, "i:I", NULL },
		{ "B", 0, "i:I", NULL },
		{ "C", 2, "i:I", NULL },
		{ "D", 99, "i:I", NULL },
	};
	struct table *t = sketched(sketches, sizeof sketches / sizeof *sketches);
	t->classes[3].defined = false;
	uint64_t size[4];
	assert_int_equal(layout_instances(t->classes, t->n, &coops, LAYOUT_PLAIN, NULL, size, NULL), 0);
	assert_int_equal(size[2], 16);
	assert_true(size[0] <= 24 && size[1] <= 24);
	assert_true(size[3] == SIZE_UNKNOWN);
	free(t);

	enum { DEEP = 100000 };
	static const struct heap_field fields[] = { { .name = "b", .type = VALUE_BYTE },
		{ .name = "j", .type = VALUE_LONG } };
	struct heap_class *deep = calloc(DEEP, sizeof *deep);
	uint64_t *sizes = calloc(DEEP, sizeof *sizes);
	assert_true(deep && sizes);
	for (uint32_t i = 0; i < DEEP; i++) /* the lowest class first: nothing is known of the chain */
		deep[i] = (struct heap_class){ .name = "x", .superclass = i + 1 < DEEP ? i + 1 : HEAP_NONE,
			.loader = HEAP_NONE, .kind = CLASS_PLAIN, .defined = true, .fields = &fields[i % 2],
			.n_fields = 1 };
	assert_int_equal(layout_instances(deep, DEEP, &coops, LAYOUT_PLAIN, NULL, sizes, NULL), 0);
	/* half of them are longs; the bytes fill at least what the first hole offers */
	assert_true(sizes[0] >= DEEP / 2 * 9 && sizes[0] <= DEEP / 2 * 9 + 16);
	free(deep);
	free(sizes);
}

/* --- a second opinion --------------------------------------------------------------------------- */

enum { BYTES = 8192, CLASSES = 24 };

/* Bytes taken in instances of one class; free ones below end are holes. */
struct map {
	bool taken[BYTES];
	unsigned end;
};

/* The smallest free run that takes the field; of equal ones the highest; else the end. */
static void put(struct map *m, unsigned width)
{
	unsigned best = BYTES, best_run = BYTES;
	for (unsigned begin = 0; begin < m->end; begin++) {
		if (m->taken[begin] || (begin && !m->taken[begin - 1]))
			continue;
		unsigned run = 0;
		while (begin + run < m->end && !m->taken[begin + run])
			run++;
		unsigned at = (begin + width - 1) / width * width;
		if (at + width <= begin + run && run <= best_run) {
			best = at;
			best_run = run;
		}
	}
	if (best == BYTES) {
		best = (m->end + width - 1) / width * width;
		m->end = best + width;
	}
	for (unsigned i = 0; i < width; i++)
		m->taken[best + i] = true;
}

static void put_all(struct map *m, const char *letters, unsigned reference)
{
	for (unsigned width = 8; width; width /= 2)
		for (const char *c = letters; *c; c++)
			if (*c != 'L' && (*c == 'J' ? 8u : *c == 'I' ? 4u : *c == 'S' ? 2u : 1u) == width)
				put(m, width);
	for (const char *c = letters; *c; c++)
		if (*c == 'L')
			put(m, reference);
}

static void random_hierarchies(void **state)
{
	(void)state;
	static const struct layout_model *const models[] = { &coops, &wide_ccp, &plain64, &coops_noccp,
		&compact, &compact_wide, &x32 };
	static struct map maps[CLASSES];
	srand(20261121);
	for (int round = 0; round < 400; round++) {
		struct layout_model m = *models[round % 7];
		struct sketch sketches[CLASSES];
		char letters[CLASSES][12], fields[CLASSES][64];
		for (uint32_t i = 0; i < CLASSES; i++) {
			size_t n = (size_t)(i ? rand() % 11 : 0), at = 0;
			for (size_t k = 0; k < n; k++) {
				letters[i][k] = "LJISBB"[rand() % 6];
				at += (size_t)snprintf(fields[i] + at, sizeof fields[i] - at, "f:%c ", letters[i][k]);
			}
			letters[i][n] = fields[i][at] = '\0';
			uint32_t superclass = i ? (uint32_t)rand() % i : HEAP_NONE;
			sketches[i] = (struct sketch){ "x", superclass, fields[i], NULL };
			if (i) {
				maps[i] = maps[superclass];
			} else {
				maps[0] = (struct map){ .end = m.header };
				memset(maps[0].taken, true, m.header);
			}
			put_all(&maps[i], letters[i], m.reference);
		}
		struct table *t = sketched(sketches, CLASSES);
		for (uint32_t i = 0; i < CLASSES; i++) {
			unsigned to = m.word > 8 ? m.word : 8;
			assert_int_equal(sketched_size(t, i, m, LAYOUT_PLAIN), (maps[i].end + to - 1) / to * to);
		}
		free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(array_bases),
		cmocka_unit_test(array_sizes),
		cmocka_unit_test(threads_of_17),
		cmocka_unit_test(class_object_bases),
		cmocka_unit_test(padded_groups_of_25),
		cmocka_unit_test(padded_groups_of_28),
		cmocka_unit_test(injected_of_21_and_28),
		cmocka_unit_test(stack_chunks),
		cmocka_unit_test(old_rule),
		cmocka_unit_test(new_rule),
		cmocka_unit_test(mat_rule),
		cmocka_unit_test(class_objects),
		cmocka_unit_test(lock_of_a_class),
		cmocka_unit_test(hostile_classes),
		cmocka_unit_test(random_hierarchies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
