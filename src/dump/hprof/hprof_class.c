/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof_class.c - sub-records by size, and the layout of instances from the class records.
 *
 * HotSpot writes all class records before the first object, so the class table is made of those.
 * If an object of another class turns up, the table is made anew of all class records.
 */
#include "dump/hprof/hprof_dump.h"

#include "base/mem.h"
#include "base/progress.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char *hprof_sub_name(unsigned tag)
{
	switch (tag) {
	case SUB_CLASS: return "a class record";
	case SUB_INSTANCE: return "an instance record";
	case SUB_OBJECT_ARRAY: return "an object array record";
	case SUB_PRIMITIVE_ARRAY: return "a primitive array record";
	case SUB_ARRAY_WITHOUT_DATA: return "an array record without data";
	case SUB_HEAP_INFO: return "a heap info record";
	default: return "a root record";
	}
}

/* --- sizes of sub-records ----------------------------------------------------------------------- */

/* A class record that is passed over entry by entry: constants, static fields, fields. */
struct entries {
	struct cursor c;
	unsigned id_size;
	unsigned most; /* entries that may still be looked at */
	bool unseen;   /* and there were more */
};

/* Pass over a value of the type that stands at the cursor.  False: no such type. */
static bool skip_typed(struct cursor *c, unsigned id_size)
{
	unsigned size = hprof_type_size(cursor_u8(c), id_size);

	cursor_take(c, size);
	return size > 0 || c->short_of;
}

/* A list of entries that each begin with `head` bytes, then a type and, if valued, a value of it.
 * False: one has a type that does not exist, or no more may be looked at. */
static bool skip_entries(struct entries *e, unsigned head, bool valued)
{
	bool fine = true;

	for (unsigned n = cursor_u16(&e->c); n > 0 && fine && !e->c.short_of; n--) {
		e->unseen = !e->most;
		if (e->unseen)
			return false;
		e->most--;
		cursor_take(&e->c, head);
		fine = valued ? skip_typed(&e->c, e->id_size)
		              : hprof_type_size(cursor_u8(&e->c), e->id_size) > 0 || e->c.short_of;
	}
	return fine;
}

uint64_t hprof_class_size(const struct hprof *h, const uint8_t *p, uint64_t left, unsigned most,
    uint64_t *seen)
{
	unsigned ids = h->id_size;
	struct entries e = { cursor_make(p, p + left), ids, most, false };

	cursor_take(&e.c, 1 + ids + 4 + 6 * ids + 4);
	bool fine = skip_entries(&e, 2, true) && skip_entries(&e, ids, true) && skip_entries(&e, ids, false);
	*seen = (uint64_t)(e.c.p - p);
	if (!fine)
		return e.unseen ? HPROF_UNSEEN : 0;
	return e.c.short_of ? UINT64_MAX : *seen;
}

uint64_t hprof_class_fields(const struct hprof *h, const uint8_t *p, uint64_t left)
{
	unsigned ids = h->id_size;
	struct entries e = { cursor_make(p, p + left), ids, UINT_MAX, false };

	cursor_take(&e.c, 1 + ids + 4 + 6 * ids + 4);
	return skip_entries(&e, 2, true) && skip_entries(&e, ids, true) ? (uint64_t)(e.c.p - p) : left;
}

uint64_t hprof_sub_size(const struct hprof *h, const uint8_t *p, uint64_t left, const char **why)
{
	unsigned ids = h->id_size, element;
	uint64_t size, seen;

	switch (*p) {
	case SUB_UNKNOWN: case SUB_STICKY_CLASS: case SUB_MONITOR: case SUB_INTERNED:
	case SUB_FINALIZING: case SUB_DEBUGGER: case SUB_REFERENCE_CLEANUP: case SUB_VM_INTERNAL:
	case SUB_UNREACHABLE:
		size = 1 + ids;
		break;
	case SUB_JNI_GLOBAL:
		size = 1 + 2 * ids;
		break;
	case SUB_JNI_LOCAL: case SUB_JAVA_FRAME: case SUB_THREAD_OBJECT: case SUB_JNI_MONITOR:
		size = 1 + ids + 8;
		break;
	case SUB_NATIVE_STACK: case SUB_THREAD_BLOCK: case SUB_HEAP_INFO:
		size = 1 + ids + 4;
		break;
	case SUB_INSTANCE:
		size = 1 + 2 * ids + 8;
		if (left >= size)
			size += load_be32(p + size - 4);
		break;
	case SUB_OBJECT_ARRAY:
		size = 1 + 2 * ids + 8;
		if (left >= size)
			size += (uint64_t)load_be32(p + 1 + ids + 4) * ids;
		break;
	case SUB_PRIMITIVE_ARRAY: case SUB_ARRAY_WITHOUT_DATA:
		size = 1 + ids + 9;
		if (left < size)
			break;
		element = hprof_type_size(p[size - 1], ids);
		if (element == 0 || p[size - 1] < VALUE_BOOLEAN) {
			*why = "a primitive array of an invalid type";
			return 0;
		}
		if (*p == SUB_PRIMITIVE_ARRAY)
			size += (uint64_t)load_be32(p + 1 + ids + 4) * element;
		break;
	case SUB_CLASS:
		*why = "a field of an invalid type";
		return hprof_class_size(h, p, left, UINT_MAX, &seen);
	default:
		*why = "a sub-record of unknown kind";
		return 0;
	}
	return size <= left ? size : UINT64_MAX;
}

/* --- the table ---------------------------------------------------------------------------------- */

static int add_class(const struct hprof *h, struct hprof_classes *t, const uint8_t *p,
    uint64_t size, struct err *err)
{
	unsigned ids = h->id_size;
	struct cursor c = cursor_make(p, p + size);
	struct hprof_class class = { 0 };

	cursor_u8(&c);
	class.id = hprof_id(cursor_take(&c, ids), ids);
	if (idmap_get(&t->by_id, class.id) != IDMAP_NONE || t->n == UINT32_MAX)
		return 0; /* the first record of a class counts */
	cursor_take(&c, 4);
	class.superclass = hprof_id(cursor_take(&c, ids), ids);
	cursor_take(&c, 5 * ids);
	class.stated_size = cursor_u32(&c);
	for (unsigned n = cursor_u16(&c); n-- > 0;) {
		cursor_take(&c, 2);
		skip_typed(&c, ids);
	}
	for (unsigned n = cursor_u16(&c); n-- > 0;) {
		cursor_take(&c, ids);
		skip_typed(&c, ids);
	}
	for (unsigned n = cursor_u16(&c); n-- > 0;) {
		cursor_take(&c, ids);
		unsigned type = cursor_u8(&c);
		if (type <= VALUE_OBJECT) {
			uint32_t *offset = BIG_PUSH(t->offsets, t->n_offsets, t->cap_offsets, err);
			if (!offset)
				return ERR_NOMEM;
			*offset = class.own_size;
			class.n_references++;
		}
		class.own_size += hprof_type_size(type, ids);
	}
	int code = idmap_put(&t->by_id, class.id, t->n, err);
	if (code < 0)
		return code;
	struct hprof_class *place = BIG_PUSH(t->list, t->n, t->cap, err);
	if (!place)
		return ERR_NOMEM;
	*place = class;
	return 0;
}

static struct hprof_class *find(const struct hprof_classes *t, uint64_t id)
{
	uint64_t i = idmap_get(&t->by_id, id);
	return i == IDMAP_NONE ? NULL : &t->list[i];
}

const struct hprof_class *hprof_class_of(const struct hprof_classes *t, uint64_t id)
{
	return find(t, id);
}

static void flatten(struct hprof_class *c, unsigned ids)
{
	uint64_t at = 0;
	unsigned n = 0;

	c->n_flat = HPROF_NOT_FLAT;
	if (!c->known)
		return;
	for (const struct hprof_class *level = c; level; at += level->up_offset, level = level->up)
		for (uint32_t i = 0; i < level->n_references; i++) {
			if (n == HPROF_FLAT || at + level->references[i] > INT16_MAX)
				return;
			c->flat[n++] = (int16_t)(at + level->references[i]);
		}
	c->n_flat = (uint8_t)n;
	while (n < HPROF_FLAT)
		c->flat[n++] = (int16_t)-(int)(2 * ids + 8);
}

static void settle(struct hprof_class *c, const struct hprof_class *super, unsigned ids)
{
	c->settled = true;
	c->known = !c->superclass || (super && super->known);
	c->chain_size = c->known ? c->own_size : UINT64_MAX;
	if (super) {
		if (c->known && __builtin_add_overflow(super->chain_size, c->own_size, &c->chain_size))
			c->chain_size = UINT64_MAX;
		c->up = super->n_references ? super : super->up;
		c->up_offset = c->own_size + (super->n_references ? 0 : super->up_offset);
	}
	flatten(c, ids);
}

/* Superclasses before their subclasses, without recursion; a loop is cut where it closes. */
static int settle_all(const struct hprof *h, struct hprof_classes *t, struct err *err)
{
	struct hprof_class **stack = big_alloc(t->n, sizeof *stack, err);
	bool *waiting = stack ? big_alloc(t->n, sizeof *waiting, err) : NULL;
	uint64_t at = 0;

	if (!waiting) {
		big_free(stack);
		return ERR_NOMEM;
	}

	for (uint32_t i = 0; i < t->n; i++) {
		t->list[i].references = t->offsets ? t->offsets + at : NULL;
		at += t->list[i].n_references;
	}
	struct progress *work = progress_own();
	for (uint32_t i = 0; i < t->n && !progress_stops(work, i); i++) {
		uint32_t n = 0;
		struct hprof_class *c = &t->list[i];
		while (c && !c->settled && !waiting[c - t->list]) {
			waiting[c - t->list] = true;
			stack[n++] = c;
			c = c->superclass ? find(t, c->superclass) : NULL;
		}
		if (c && !c->settled && n) {
			stack[n - 1]->superclass = 0; /* leads back into the chain that is being walked */
			c = NULL;
		}
		while (n > 0) {
			settle(stack[--n], c, h->id_size);
			c = stack[n];
		}
	}
	big_free(stack);
	big_free(waiting);
	return progress_check(work, err);
}

static int read_classes(const struct hprof *h, struct hprof_classes *t, struct err *err)
{
	const uint8_t *bytes = h->dump.source->bytes;
	struct progress *work = progress_own();
	uint64_t round = 0;

	for (uint32_t i = 0; i < h->n_segments; i++) {
		const struct hprof_segment *s = &h->segments[i];
		for (uint64_t at = s->begin; at < s->end;) {
			if (progress_stops(work, round++))
				return err_cancelled(err);
			const char *why;
			uint64_t size = hprof_sub_size(h, bytes + at, s->end - at, &why);
			if (size == 0 || size == UINT64_MAX)
				break; /* said when the objects are read */
			unsigned tag = bytes[at];
			if (!t->whole && (tag == SUB_INSTANCE || tag == SUB_OBJECT_ARRAY ||
			    tag == SUB_PRIMITIVE_ARRAY || tag == SUB_ARRAY_WITHOUT_DATA))
				return 0;
			int code = tag == SUB_CLASS ? add_class(h, t, bytes + at, size, err) : 0;
			if (code < 0)
				return code;
			at += size;
		}
	}
	t->whole = true;
	return 0;
}

static int make_table(const struct hprof *h, bool whole, struct hprof_classes **out, struct err *err)
{
	struct hprof_classes *t = xcalloc(1, sizeof *t);

	t->whole = whole;
	int code = read_classes(h, t, err);
	if (code == 0)
		code = settle_all(h, t, err);
	if (code < 0) {
		hprof_classes_free(t);
		return code;
	}
	*out = t;
	return 0;
}

int hprof_classes_first(struct hprof *h, struct err *err)
{
	struct hprof_classes *t;
	int code = make_table(h, false, &t, err);

	if (code == 0)
		h->classes = t;
	return code;
}

int hprof_classes_whole(struct hprof *h, struct err *err)
{
	struct hprof_classes *t;
	int code = 0;

	pthread_mutex_lock(&h->lock);
	if (!h->classes->whole && (code = make_table(h, true, &t, err)) == 0) {
		t->older = h->classes;
		h->classes = t;
	}
	pthread_mutex_unlock(&h->lock);
	return code;
}

void hprof_classes_free(struct hprof_classes *t)
{
	while (t) {
		struct hprof_classes *older = t->older;
		idmap_release(&t->by_id);
		big_free(t->list);
		big_free(t->offsets);
		free(t);
		t = older;
	}
}
