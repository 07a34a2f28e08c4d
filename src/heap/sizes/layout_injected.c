/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layout_injected.c - what is in objects but in no class file: fields that the VM adds for itself,
 * and the padding around fields that threads contend for.
 *
 * Only classes of the boot loader have either.  The tables hold what was found by comparing dumps
 * with the same VM's class histogram (JDK 5, 6, 8, 11, 17, 21, 25, 28) and with distances between
 * objects (JDK 7, 8, 11).  For the releases between these the entries of a neighbouring release apply.
 * Where a field that a class declares came or went together with an injected one, that field tells,
 * not the release.
 */
#include "heap/classes.h"
#include "heap/sizes/layout.h"

#include <string.h>

/* Sets of releases. */
enum {
	IN_6 = 1 << LAYOUT_JDK_6,
	IN_7 = 1 << LAYOUT_JDK_7,
	IN_8 = 1 << LAYOUT_JDK_8,
	IN_11 = 1 << LAYOUT_JDK_11,
	FROM_28 = 1 << LAYOUT_JDK_28,
	FROM_25 = 1 << LAYOUT_JDK_25 | FROM_28,
	FROM_21 = 1 << LAYOUT_JDK_21 | FROM_25,
	FROM_12 = 1 << LAYOUT_JDK_17 | FROM_21,
	FROM_9 = IN_11 | FROM_12,
	FROM_8 = IN_8 | FROM_9,
};
#define UP_TO_17 (~(unsigned)FROM_21)
#define UP_TO_21 (~(unsigned)FROM_25)

/* --- the generation ----------------------------------------------------------------------------- */

static const struct heap_class *find_class(const struct heap_class *classes, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (classes[i].defined && !strcmp(classes[i].name, name))
			return &classes[i];
	return NULL;
}

static bool declares(const struct heap_class *c, const char *field)
{
	for (uint32_t i = 0; c && i < c->n_fields; i++)
		if (!strcmp(c->fields[i].name, field))
			return true;
	return false;
}

/* Of the releases with virtual threads. */
static enum layout_release newest_release_of(const struct heap_class *classes, uint32_t n)
{
	if (declares(find_class(classes, n, "java.lang.Thread"), "inheritedAccessControlContext"))
		return LAYOUT_JDK_21; /* gone with the security manager */
	return declares(find_class(classes, n, "java.lang.reflect.Field"), "flags") ? LAYOUT_JDK_28 : LAYOUT_JDK_25;
}

/* The VM loads each of these classes while it starts: if one is missing, the release has none. */
enum layout_release layout_release_of(const struct heap_class *classes, uint32_t n)
{
	if (find_class(classes, n, "jdk.internal.vm.StackChunk"))
		return newest_release_of(classes, n);
	if (find_class(classes, n, "java.lang.invoke.MethodHandleNatives$CallSiteContext"))
		return find_class(classes, n, "java.lang.constant.Constable") ? LAYOUT_JDK_17 : LAYOUT_JDK_11;
	if (!find_class(classes, n, "java.lang.invoke.MethodHandle"))
		return LAYOUT_JDK_6;
	return declares(find_class(classes, n, "java.lang.Thread"), "threadLocalRandomSeed")
	    ? LAYOUT_JDK_8 : LAYOUT_JDK_7;
}

/* --- injected fields ---------------------------------------------------------------------------- */

static const struct injected {
	const char *class;
	unsigned releases;
	uint8_t pointers, references, n[4]; /* n as in layout_fields */
	const char *with, *without; /* only if the class declares such a field, or none; NULL: whatever it has */
} injected[] = {
	/* declared, but JVMTI hides it, and so the old agent's dumps lack it */
	{ "java.lang.Throwable", IN_6 | IN_7 | IN_8, .references = 1, .without = "backtrace" },
	{ "java.lang.ClassLoader", FROM_8, .pointers = 1 },
	{ "java.lang.Module", FROM_9, .pointers = 1 },
	{ "java.lang.invoke.MemberName", FROM_8, .pointers = 2, .references = 1, .without = "method" },
	{ "java.lang.invoke.MemberName", FROM_9, .pointers = 1, .with = "method" },
	{ "java.lang.String", FROM_9, .n = { 1 } },
	{ "java.lang.invoke.ResolvedMethodName", FROM_9, .pointers = 1, .references = 1, .without = "vmholder" },
	{ "java.lang.invoke.ResolvedMethodName", FROM_9, .pointers = 1, .with = "vmholder" },
	{ "java.lang.StackFrameInfo", FROM_9, .n = { 0, 1 } },
	{ "java.lang.invoke.MethodHandleNatives$CallSiteContext", IN_11, .pointers = 1 },
	{ "java.lang.invoke.MethodHandleNatives$CallSiteContext", FROM_12, .pointers = 1, .n = { [3] = 1 } },
	{ "java.lang.invoke.CallSite", FROM_21, .pointers = 1, .n = { [3] = 1 }, .without = "context" },
	{ "java.lang.InternalError", FROM_9, .n = { 1 } },
	{ "java.lang.Thread", FROM_21, .pointers = 1, .n = { 1, 1, 1 } },
	{ "java.lang.VirtualThread", FROM_21, .pointers = 1, .with = "onWaitingList" },
	{ "java.lang.reflect.Field", FROM_28, .n = { [2] = 1 } },
	{ "jdk.internal.vm.StackChunk", FROM_21, .pointers = 1, .references = 1, .n = { 2, 0, 1 } },
	{ "java.lang.Class", IN_6, .references = 3 },
	{ "java.lang.Class", IN_7, .references = 3, .n = { [2] = 2 } },
	{ "java.lang.Class", FROM_8, .pointers = 2, .references = 3, .n = { [2] = 2 }, .without = "signers" },
	{ "java.lang.Class", FROM_8, .pointers = 2, .references = 2, .n = { [2] = 2 }, .with = "signers" },
};

static bool of_boot_loader(const struct heap_class *c)
{
	return heap_class_has_no_loader(c);
}

void layout_add_injected(const struct heap_class *c, enum layout_release release, unsigned word,
    struct layout_fields *to)
{
	if (release == LAYOUT_PLAIN || !of_boot_loader(c))
		return;
	for (size_t i = 0; i < sizeof injected / sizeof *injected; i++) {
		const struct injected *j = &injected[i];
		if (!(j->releases >> release & 1) || strcmp(j->class, c->name))
			continue;
		if ((j->with && !declares(c, j->with)) || (j->without && declares(c, j->without)))
			continue;
		to->references += j->references;
		to->n[word == 8 ? 3 : 2] += j->pointers;
		for (unsigned k = 0; k < 4; k++)
			to->n[k] += j->n[k];
	}
}

/* --- padded groups ------------------------------------------------------------------------------ */

/* A field of a class's padded group; NULL: the class as a whole.  No class has two groups. */
static const struct contended {
	const char *class;
	const char *field;
	unsigned releases;
} contended[] = {
	{ "java.lang.Thread", "threadLocalRandomSeed", FROM_8 & UP_TO_17 },
	{ "java.lang.Thread", "threadLocalRandomProbe", FROM_8 & UP_TO_17 },
	{ "java.lang.Thread", "threadLocalRandomSecondarySeed", FROM_8 & UP_TO_17 },
	{ "java.util.concurrent.ForkJoinPool", NULL, IN_8 },
	{ "java.util.concurrent.ForkJoinPool", "ctl", FROM_12 },
	{ "java.util.concurrent.ForkJoinPool", "parallelism", FROM_21 },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", NULL, IN_8 },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", "top", FROM_12 },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", "source", FROM_12 },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", "nsteals", FROM_12 },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", "phase", FROM_21 },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", "access", FROM_21 & UP_TO_21 },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", "parking", FROM_25 },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", "fifo", FROM_25 },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", "stackPred", FROM_25 },
	{ "java.util.concurrent.ConcurrentHashMap$CounterCell", NULL, FROM_8 },
	{ "java.util.concurrent.atomic.Striped64$Cell", NULL, FROM_8 },
	{ "java.util.concurrent.Exchanger$Node", NULL, FROM_8 & UP_TO_21 },
	{ "java.util.concurrent.Exchanger$Slot", NULL, FROM_25 },
	{ "java.util.concurrent.SubmissionPublisher$BufferedSubscription", NULL, FROM_9 },
	{ "java.util.concurrent.SubmissionPublisher$BufferedSubscription", "demand", FROM_9 },
	{ "java.util.concurrent.SubmissionPublisher$BufferedSubscription", "waiting", FROM_9 },
};

static const struct contended *next_contended(const struct contended *k, const struct heap_class *c,
    enum layout_release release)
{
	for (; k < contended + sizeof contended / sizeof *contended; k++)
		if (k->releases >> release & 1 && !strcmp(k->class, c->name))
			return k;
	return NULL;
}

unsigned layout_padding_of(const struct heap_class *c, enum layout_release release)
{
	unsigned padding = PADS_NOTHING;
	if (release == LAYOUT_PLAIN || !of_boot_loader(c))
		return padding;
	for (const struct contended *k = contended; (k = next_contended(k, c, release)); k++)
		padding |= k->field ? PADS_GROUP : PADS_CLASS;
	return padding;
}

bool layout_pads_field(const struct heap_class *c, enum layout_release release, const char *field)
{
	const struct contended *k = contended;
	while ((k = next_contended(k, c, release))) {
		if (k->field && !strcmp(k->field, field))
			return true;
		k++;
	}
	return false;
}

bool layout_fills_groups(enum layout_release release)
{
	return release >= LAYOUT_JDK_28;
}
