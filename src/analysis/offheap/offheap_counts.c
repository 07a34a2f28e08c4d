/* SPDX-License-Identifier: GPL-3.0-or-later */
/* offheap_counts.c - what the JDK and Netty count themselves of memory outside of the heap. */
#include "analysis/offheap/offheap.h"

#include "analysis/java/java.h"
#include "base/progress.h"
#include "base/text.h"
#include "dump/facts.h"
#include "dump/process.h"
#include "heap/heap.h"
#include "heap/value.h"

#include <string.h>

/* A static field that is a number, or leads to one (AtomicLong); unknown where there is none, or it is below 0. */
static struct amount counter(const struct heap *h, const char *class, const char *const *fields)
{
	for (; *fields; fields++) {
		struct value v;
		struct values atomic;
		if (!values_static(h, class, *fields, &v))
			continue;
		uint32_t id = value_object_id(h, &v);
		if (v.type == VALUE_OBJECT && (id == HEAP_NONE || values_open(&atomic, h, id, NULL) ||
		        !values_field(&atomic, "value", &v)))
			continue;
		if ((v.type == VALUE_LONG || v.type == VALUE_INT) && (int64_t)v.bits >= 0)
			return amount_exact(v.bits);
	}
	return amount_unknown(REASON_SILENT);
}
#define COUNTER(h, class, ...) counter(h, class, (const char *const[]){__VA_ARGS__, NULL})

static bool is_known(const struct offheap_count *c)
{
	return c->count.certainty != UNKNOWN || c->capacity.certainty != UNKNOWN || c->reserved.certainty != UNKNOWN ||
	    c->limit.certainty != UNKNOWN;
}

static struct offheap_count count_direct(const struct heap *h)
{
	static const char bits[] = "java.nio.Bits";
	struct amount limit = COUNTER(h, bits, "MAX_MEMORY", "maxMemory");
	uint64_t of_vm = limit.certainty == UNKNOWN || !limit.n ? java_direct_limit(h) : 0;
	limit = of_vm ? amount_exact(of_vm) : limit;
	return (struct offheap_count){"java.nio.Bits", COUNTS_DIRECT, COUNTER(h, bits, "COUNT", "count"),
	    COUNTER(h, bits, "TOTAL_CAPACITY", "totalCapacity"), COUNTER(h, bits, "RESERVED_MEMORY", "reservedMemory"),
	    limit};
}

static struct offheap_count count_mapped(const struct heap *h, const char *name, enum offheap_counter which,
    const char *class)
{
	return (struct offheap_count){name, which, COUNTER(h, class, "count"), COUNTER(h, class, "totalCapacity"),
	    COUNTER(h, class, "totalSize"), amount_unknown(REASON_SILENT)};
}

static struct offheap_count count_netty(const struct heap *h)
{
	const char *class = "io.netty.util.internal.PlatformDependent";
	static const char shaded[] = "io.grpc.netty.shaded.io.netty.util.internal.PlatformDependent";
	struct amount none = amount_unknown(REASON_SILENT), used = COUNTER(h, class, "DIRECT_MEMORY_COUNTER");
	if (used.certainty == UNKNOWN && values_class_named(h, class) == HEAP_NONE) {
		class = shaded;
		used = COUNTER(h, class, "DIRECT_MEMORY_COUNTER");
	}
	return (struct offheap_count){"Netty", COUNTS_NETTY, none, used, none, COUNTER(h, class, "DIRECT_MEMORY_LIMIT")};
}

/* The limit that the VM was started with, where a javacore tells it. */
static bool count_option(const struct heap *h, struct offheap_count *out)
{
	static const char option[] = "-XX:MaxDirectMemorySize=";
	struct amount none = amount_unknown(REASON_SILENT);
	uint64_t bytes = 0;
	for (size_t i = 0; h->process && i < h->process->arguments.n; i++) {
		const char *value = h->process->arguments.list[i].value;
		if (value && !strncmp(value, option, sizeof option - 1) && !parse_size(value + sizeof option - 1, &bytes))
			bytes = 0;
	}
	*out = (struct offheap_count){"MaxDirectMemorySize", COUNTS_OPTION, none, none, none, amount_exact(bytes)};
	return bytes > 0;
}

unsigned offheap_counts(const struct heap *h, struct offheap_count to[OFFHEAP_COUNTS])
{
	unsigned n = 0;
	if (h->facts.values != DECLARED_FIELDS)
		return count_option(h, &to[0]);
	struct offheap_count all[OFFHEAP_COUNTS] = {count_direct(h),
	    count_mapped(h, "mapped files", COUNTS_MAPPED, "sun.nio.ch.FileChannelImpl$DefaultUnmapper"),
	    count_mapped(h, "synchronously mapped files", COUNTS_SYNC, "sun.nio.ch.FileChannelImpl$SyncUnmapper"),
	    count_netty(h)};
	if (!is_known(&all[1]))
		all[1] = count_mapped(h, "mapped files", COUNTS_MAPPED, "sun.nio.ch.FileChannelImpl$Unmapper");
	for (unsigned i = 0; i < OFFHEAP_COUNTS; i++)
		if (is_known(&all[i]))
			to[n++] = all[i];
	return n;
}

void offheap_sum(const struct offheap *o, bool mapped, uint64_t *n, uint64_t *bytes)
{
	*n = *bytes = 0;
	for (size_t i = 0; i < o->n && !progress_own_stops(i); i++) {
		const struct offheap_owner *w = &o->owner[i];
		if (mapped ? w->kind == OFFHEAP_MAPPED : w->reserved && w->capacity.certainty == EXACT) {
			++*n;
			*bytes += w->capacity.n;
		}
	}
}
