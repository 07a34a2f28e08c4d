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

enum { TABLES_MOST = 1 << 16 };

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
	int code = 0;

	for (unsigned i = 0; at && i < TABLES_MOST && code == 0; i++, at = j9_get(j, at, AT_MONITORS_NEXT))
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
	return j9_get(j, j9_word(j, os_thread + j->at[AT_OS_THREAD_TLS].offset + (key - 1) * j->word), AT_OMR_THREAD_VM);
}

/* A lockword: owner and flags, and how often the owner entered besides. */
static uint64_t owner_in(const struct j9core *j, uint64_t lockword)
{
	static const char object[] = "J9Object";
	uint64_t flags = j9_constant(j, object, "OBJECT_HEADER_LOCK_BITS_MASK", 0xff), entered;

	entered = (lockword & flags) >> j9_constant(j, object, "OBJECT_HEADER_LOCK_V2_RECURSION_OFFSET",
	    j9_constant(j, object, "OBJECT_HEADER_LOCK_RECURSION_OFFSET", 3));
	if (lockword & j9_constant(j, object, "OBJECT_HEADER_LOCK_LEARNING", 0))
		entered = (lockword & flags) >> j9_constant(j, object, "OBJECT_HEADER_LOCK_LEARNING_RECURSION_OFFSET", 6);
	else if (!(lockword & j9_constant(j, object, "OBJECT_HEADER_LOCK_RESERVED", 4)))
		entered++;
	return entered ? lockword & ~flags : 0;
}

uint64_t j9_owner(const struct j9core *j, const struct j9_monitors *m, uint64_t object)
{
	const struct j9_class *c = j9_class_of(j, object);
	uint64_t at = c ? j9_get(j, c->address, AT_CLASS_LOCK_AT) : 0, lockword = 0, monitor = j9_inflated(m, object);
	bool own = c && at && at < c->size + j->slot; /* a lockword of its own: elsewhere its monitor tells */

	if (own)
		core_load(j->core, object + at, j->slot, &lockword);
	if (own && !(lockword & j9_constant(j, "J9Object", "OBJECT_HEADER_LOCK_INFLATED", 1)))
		return owner_in(j, lockword);
	return monitor && j9_get(j, monitor, AT_MONITOR_COUNT) ? vm_thread_of(j, j9_get(j, monitor, AT_MONITOR_OWNER)) : 0;
}
