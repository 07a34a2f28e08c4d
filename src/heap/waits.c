/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waits.c - see waits.h. */
#include "heap/waits.h"

#include "dump/reader.h"
#include "dump/types.h"
#include "heap/heap.h"
#include "heap/threads.h"

#include <string.h>

enum {
	MOST_WAITS = 1 << 16, /* a select has at most so many cases */
	MOST_RIVALS = 1 << 10, /* that are looked at of a channel where others wait for both */
};

static bool struct_at(const struct heap *h, uint64_t address, const char *type, struct typed *out)
{
	uint32_t is = types_by_name(h->dump->types, type);
	return address && is != TYPE_NONE && h->dump->types->type[is].kind == TYPE_STRUCT &&
	    typed_at(h, address, is, out);
}

/* The pointer in a field; since Go 1.26 elem and c are structs of the pointer, which may be hidden from the
 * collector, and the same as a number. */
static uint64_t pointer_in(const struct typed *v, const char *field)
{
	struct typed f, number;
	if (!typed_field(v, field, &f))
		return 0;
	return typed_field(&f, "vu", &number) ? typed_word(&number, 0) : typed_word(&f, 0);
}

static uint64_t first_of(const struct typed *channel, const char *queue)
{
	struct typed q;
	return typed_field(channel, queue, &q) ? pointer_in(&q, "first") : 0;
}

/* Is it in the list that begins with `at`? */
static bool is_among(const struct heap *h, uint64_t at, uint64_t sudog)
{
	struct typed v;
	for (unsigned n = 0; at && at != sudog && n < MOST_RIVALS; n++)
		at = struct_at(h, at, "runtime.sudog", &v) ? pointer_in(&v, "next") : 0;
	return at && at == sudog;
}

/* Nobody waits to send where others wait to receive, but for selects that do both. */
static void look_at_channel(const struct heap *h, const struct typed *channel, uint64_t sudog, uint64_t elem,
    struct wait *out)
{
	uint64_t senders = first_of(channel, "sendq"), receivers = first_of(channel, "recvq");
	uint32_t element = types_by_descriptor(h->dump->types, pointer_in(channel, "elemtype"));
	if (senders && receivers) {
		senders = is_among(h, senders, sudog) ? sudog : 0;
		receivers = !senders && is_among(h, receivers, sudog) ? sudog : 0;
	}
	if (!senders == !receivers)
		return;
	out->how = senders ? WAIT_SENDS : WAIT_RECEIVES;
	if (senders && elem && element != TYPE_NONE && typed_at(h, elem, element, &out->sent))
		out->sent.size = h->dump->types->type[element].size;
	else
		out->sent.bytes = NULL;
}

bool waits_next(const struct heap *h, uint32_t thread, struct waits_walk *walk, struct wait *out)
{
	struct typed v, channel;
	*out = (struct wait){ .how = WAIT_EITHER };
	if (h->facts.values != TYPED_MEMORY || !h->dump->types || walk->n >= MOST_WAITS)
		return false;
	if (!walk->n && struct_at(h, h->threads[thread].address, "runtime.g", &v))
		walk->next = pointer_in(&v, "waiting");
	if (walk->next == walk->mark && walk->n)
		return false;
	if (!(walk->n & (walk->n + 1))) /* the 1st, 2nd, 4th, 8th … */
		walk->mark = walk->next;
	walk->n++;
	uint64_t sudog = walk->next;
	if (!struct_at(h, sudog, "runtime.sudog", &v))
		return false;
	walk->next = pointer_in(&v, "waitlink");
	out->channel = pointer_in(&v, "c");
	if (struct_at(h, out->channel, "runtime.hchan", &channel))
		look_at_channel(h, &channel, sudog, pointer_in(&v, "elem"), out);
	return true;
}

bool waits_told(const struct heap *h)
{
	return h->facts.values == TYPED_MEMORY && h->dump->types &&
	    types_by_name(h->dump->types, "runtime.sudog") != TYPE_NONE;
}

bool sudog_at(const struct heap *h, uint64_t address, struct sudog *out)
{
	struct typed v;
	if (h->facts.values != TYPED_MEMORY || !h->dump->types || !struct_at(h, address, "runtime.sudog", &v))
		return false;
	*out = (struct sudog){ .address = address, .goroutine = pointer_in(&v, "g"), .elem = pointer_in(&v, "elem"),
		.channel = pointer_in(&v, "c"), .next = pointer_in(&v, "next") };
	return true;
}
