/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_monitors.c - who owns the monitor of an object.
 *
 * An object's lockword holds its owner and how often it entered, or says that the monitor is inflated: then the VM's
 * monitor tables have it.  After ObjectMonitor_V1 and _V2 of DDR_VM.
 */
#include "dump/j9core/j9core_roots.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "memory/big.h"

void j9_read_flags(struct j9core *j)
{
	static const char method[] = "J9JavaAccessFlags", extended[] = "J9CfrClassFile", lock[] = "J9Object";
	static const char vm[] = "J9Consts", os[] = "J9AbstractThread", algorithms[] = "DDRAlgorithmVersions";

	j->flags = (struct j9_flags){
		.native = j9_constant(j, method, "J9AccNative", 0x100),
		.synchronized = j9_constant(j, method, "J9AccSynchronized", 0x20),
		.constructor = j9_constant(j, method, "J9AccMethodObjectConstructor", 0),
		.empty = j9_constant(j, method, "J9AccEmptyMethod", 0),
		.debug_info = j9_constant(j, method, "J9AccMethodHasDebugInfo", 0),
		.extended = j9_constant(j, method, "J9AccMethodHasExtendedModifiers", 0),
		.generic = j9_constant(j, method, "J9AccMethodHasGenericSignature", 0),
		.exceptions = j9_constant(j, method, "J9AccMethodHasExceptionInfo", 0),
		.annotated = {
			j9_constant(j, method, "J9AccMethodHasMethodAnnotations", 0),
			j9_constant(j, method, "J9AccMethodHasParameterAnnotations", 0),
			j9_constant(j, method, "J9AccMethodHasDefaultAnnotation", 0),
		},
		.extended_annotated = {
			j9_constant(j, extended, "CFR_METHOD_EXT_HAS_METHOD_TYPE_ANNOTATIONS", 0),
			j9_constant(j, extended, "CFR_METHOD_EXT_HAS_CODE_TYPE_ANNOTATIONS", 0),
		},
		.source_file = j9_constant(j, "J9NonbuilderConstants", "J9_ROMCLASS_OPTINFO_SOURCE_FILE_NAME", 1),
		.lines = j9_constant(j, algorithms, "VM_LINE_NUMBER_TABLE_VERSION", 0) >= 1,
		.lock_flags = j9_constant(j, lock, "OBJECT_HEADER_LOCK_BITS_MASK", 0xff),
		.inflated = j9_constant(j, lock, "OBJECT_HEADER_LOCK_INFLATED", 1),
		.learning = j9_constant(j, lock, "OBJECT_HEADER_LOCK_LEARNING", 0),
		.reserved = j9_constant(j, lock, "OBJECT_HEADER_LOCK_RESERVED", 4),
		.entered_shift = (unsigned)j9_constant(j, lock, "OBJECT_HEADER_LOCK_V2_RECURSION_OFFSET",
		    j9_constant(j, lock, "OBJECT_HEADER_LOCK_RECURSION_OFFSET", 3)) & 7,
		.learning_shift = (unsigned)j9_constant(j, lock, "OBJECT_HEADER_LOCK_LEARNING_RECURSION_OFFSET", 6) & 7,
		.thread_blocked = j9_constant(j, vm, "J9_PUBLIC_FLAGS_THREAD_BLOCKED", 0),
		.thread_waiting = j9_constant(j, vm, "J9_PUBLIC_FLAGS_THREAD_WAITING", 0),
		.thread_suspended = j9_constant(j, vm, "J9_PUBLIC_FLAGS_HALT_THREAD_JAVA_SUSPEND", 0),
		.waiting = j9_constant(j, os, "J9THREAD_FLAG_WAITING", 0),
		.notified = j9_constant(j, os, "J9THREAD_FLAG_NOTIFIED", 0),
		.blocked = j9_constant(j, os, "J9THREAD_FLAG_BLOCKED", 0),
		.parked = j9_constant(j, os, "J9THREAD_FLAG_PARKED", 0),
		.sleeping = j9_constant(j, os, "J9THREAD_FLAG_SLEEPING", 0),
		.dead = j9_constant(j, os, "J9THREAD_FLAG_DEAD", 0),
		.suspended = j9_constant(j, os, "J9THREAD_FLAG_SUSPENDED", 0),
	};
}

static int by_object(const void *x, const void *y)
{
	const struct j9_monitor *a = x, *b = y;
	return (a->object > b->object) - (a->object < b->object);
}

static int read_table(struct j9_monitors *m, const struct j9core *j, uint64_t table, struct err *err)
{
	struct j9_table_walk w;
	uint64_t entry;

	for (j9_table_walk(&w, j, table); j9_table_next(&w, &entry);) {
		uint64_t monitor = j9_get(j, entry, AT_OBJECT_MONITOR_MONITOR);
		struct j9_monitor *to = BIG_PUSH(m->monitor, m->n, m->cap, err);
		if (!to)
			return ERR_NOMEM;
		*to = (struct j9_monitor){j9_get(j, monitor, AT_MONITOR_OBJECT), monitor};
	}
	return 0;
}

int j9_read_monitors(struct j9_monitors *m, const struct j9core *j, struct err *err)
{
	uint64_t at = j9_get(j, j->vm, AT_VM_MONITOR_TABLES);
	struct j9_list list = {.mark = 0};
	int code = 0;

	for (; !j9_list_ends(&list, at) && code == 0; at = j9_get(j, at, AT_MONITORS_NEXT))
		code = read_table(m, j, j9_get(j, at, AT_MONITORS_TABLE), err);
	return code ? code : sort(m->monitor, m->n, sizeof *m->monitor, by_object, err);
}

void j9_monitors_release(struct j9_monitors *m)
{
	big_free(m->monitor);
}

uint64_t j9_inflated(const struct j9_monitors *m, uint64_t object)
{
	uint32_t at;

	BISECT(at, m->n, m->monitor[at].object < object);
	return at < m->n && m->monitor[at].object == object ? m->monitor[at].monitor : 0;
}

/* The J9VMThread of a thread of the operating system: what it has under the VM's key. */
static uint64_t vm_thread_of(const struct j9core *j, uint64_t os_thread)
{
	uint64_t key = j9_get(j, j9_get(j, j->vm, AT_VM_OMR), AT_OMR_THREAD_KEY);

	if (!os_thread || !key || !j->has[AT_OS_THREAD_TLS])
		return 0;
	uint64_t own = j9_word(j, os_thread + j->at[AT_OS_THREAD_TLS].offset + (key - 1) * j->word);
	return own ? j9_get(j, own, AT_OMR_THREAD_VM) : 0;
}

/* A lockword: owner and flags, and how often the owner entered besides. */
static uint64_t owner_in(const struct j9_flags *f, uint64_t lockword)
{
	uint64_t entered = (lockword & f->lock_flags) >> f->entered_shift;

	if (lockword & f->learning)
		entered = (lockword & f->lock_flags) >> f->learning_shift;
	else if (!(lockword & f->reserved))
		entered++;
	return entered ? lockword & ~f->lock_flags : 0;
}

uint64_t j9_owner(const struct j9core *j, const struct j9_monitors *m, uint64_t object)
{
	const struct j9_class *c = j9_class_of(j, object);
	uint64_t at = c ? j9_get(j, c->address, AT_CLASS_LOCK_AT) : 0, lockword = 0, monitor = j9_inflated(m, object);
	bool own = c && at && at < c->size + j->slot; /* a lockword of its own: elsewhere its monitor tells */

	if (own)
		core_load(j->core, object + at, j->slot, &lockword);
	if (own && !(lockword & j->flags.inflated))
		return owner_in(&j->flags, lockword);
	bool owned = monitor && j9_get(j, monitor, AT_MONITOR_COUNT);
	return owned ? vm_thread_of(j, j9_get(j, monitor, AT_MONITOR_OWNER)) : 0;
}
