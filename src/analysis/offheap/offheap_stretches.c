/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * offheap_stretches.c - memory that objects show, without a word whose it is: memory segments, and buffers of native
 * code.
 *
 * What lies in memory that has an owner is a view of it, the largest segment of which is what the program knows the
 * memory by.  What is left, with what overlaps it, is a piece that something else frees.
 */
#include "analysis/offheap/offheap_finding.h"

#include "algorithms/sort.h"
#include "base/progress.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <string.h>

static int by_address(const void *x, const void *y)
{
	const struct stretch *a = x, *b = y;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return (a->object > b->object) - (a->object < b->object);
}

struct owned {
	uint64_t address, end;
	size_t owner;
	uint64_t shown; /* bytes of the largest segment of it */
};

static int by_begin(const void *x, const void *y)
{
	const struct owned *a = x, *b = y;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->owner > b->owner) - (a->owner < b->owner);
}

/* The owners with an address and a size, by address. */
static int list_owned(struct finding *f, struct owned **out, size_t *n)
{
	struct owned *list = big_alloc(f->out->n, sizeof *list, f->err);
	*n = 0;
	for (size_t i = 0; list && i < f->out->n; i++) {
		const struct offheap_owner *o = &f->out->owner[i];
		bool memory = o->kind == OFFHEAP_DIRECT || o->kind == OFFHEAP_MAPPED || o->kind == OFFHEAP_SEGMENT ||
		    o->kind == OFFHEAP_CLEANER;
		if (memory && o->address && o->capacity.certainty != UNKNOWN && o->address <= UINT64_MAX - o->capacity.n)
			list[(*n)++] = (struct owned){.address = o->address, .end = o->address + o->capacity.n, .owner = i};
	}
	*out = list;
	return list ? sort(list, *n, sizeof *list, by_begin, f->err) : ERR_NOMEM;
}

/* A segment stands for the owner where that is only what the JDK's session has of it. */
static void show(struct finding *f, struct owned *in, const struct stretch *s)
{
	struct offheap_owner *owner = &f->out->owner[in->owner];
	if (s->segment && s->size > in->shown && (owner->kind == OFFHEAP_SEGMENT || in->shown ||
	        strstr(heap_class_of(f->heap, owner->object)->name, "jdk.internal.foreign."))) {
		owner->object = s->object;
		in->shown = s->size;
	}
}

enum { HOLDERS_LOOKED_AT = 64 };

static bool netty_holds(const struct heap *h, uint32_t id)
{
	uint64_t first = adjacency_start(&h->in, id), end = adjacency_start(&h->in, id + 1);
	for (uint64_t i = first; i < end && i < first + HOLDERS_LOOKED_AT; i++)
		if (strstr(heap_class_of(h, h->in.target[i])->name, "netty.buffer.") ||
		    strstr(heap_class_of(h, h->in.target[i])->name, "netty.util.internal."))
			return true;
	return false;
}

/* Does Netty hold it?  Since 4.2 it may have a buffer over a segment of its own instead. */
static bool is_netty(const struct heap *h, uint32_t id)
{
	static const char direct[] = "java.nio.Direct";
	uint64_t first = adjacency_start(&h->in, id), end = adjacency_start(&h->in, id + 1);
	bool held = netty_holds(h, id);
	for (uint64_t i = first; !held && i < end && i < first + HOLDERS_LOOKED_AT; i++)
		held = !strncmp(heap_class_of(h, h->in.target[i])->name, direct, sizeof direct - 1) &&
		    netty_holds(h, h->in.target[i]);
	return held;
}

/* n of them that overlap, one behind the other: one owner, the largest. */
static int add_lent(struct finding *f, const struct stretch *s, size_t n)
{
	const struct stretch *largest = s;
	uint64_t end = 0;
	for (size_t i = 0; i < n; i++) {
		end = s[i].address + s[i].size > end ? s[i].address + s[i].size : end;
		largest = s[i].size > largest->size ? &s[i] : largest;
	}
	f->out->views += n - 1;
	return offheap_add(f, largest->object, is_netty(f->heap, largest->object) ? OFFHEAP_NETTY :
	    largest->segment ? OFFHEAP_SEGMENT : OFFHEAP_LENT, offheap_usual(end - s->address),
	    largest->limit, s->address);
}

int offheap_settle_stretches(struct finding *f)
{
	struct owned *owned = NULL;
	size_t n_owned = 0, at = 0, kept = 0;
	int code = f->n_stretches ? sort(f->stretch, f->n_stretches, sizeof *f->stretch, by_address, f->err) : 0;
	if (!code && f->n_stretches)
		code = list_owned(f, &owned, &n_owned);
	for (size_t i = 0; !code && i < f->n_stretches; i++) {
		struct stretch *s = &f->stretch[i];
		if (progress_stops(f->progress, i))
			code = err_cancelled(f->err);
		while (at < n_owned && owned[at].end <= s->address)
			at++;
		if (at < n_owned && owned[at].address < s->address + s->size) {
			bool first = !owned[at].shown;
			show(f, &owned[at], s);
			f->out->views += !(first && owned[at].shown);
		} else {
			f->stretch[kept++] = *s;
		}
	}
	for (size_t i = 0, n; !code && i < kept; i += n) {
		uint64_t end = f->stretch[i].address + f->stretch[i].size;
		for (n = 1; i + n < kept && f->stretch[i + n].address < end; n++) {
			uint64_t its = f->stretch[i + n].address + f->stretch[i + n].size;
			end = its > end ? its : end;
		}
		code = add_lent(f, &f->stretch[i], n);
	}
	big_free(owned);
	return code;
}
