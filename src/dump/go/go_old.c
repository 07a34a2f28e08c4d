/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_old.c - objects of go1.3: they name their type, and the type knows the pointers.
 *
 * An object is one value, an array of values, or a channel; a channel is a header, whose size the
 * parameters tell, and values behind it.  If the runtime did not know an object's type, every word
 * counts as a pointer.  The data word of an interface is a pointer or the value itself; the type of
 * the value, or the interface table, tells which.
 */
#include "dump/go/go_reading.h"

#include "dump/source/source.h"
#include "memory/big.h"

#include <inttypes.h>

enum { ONE_VALUE, ARRAY, CHANNEL, CONSERVATIVE = 127 };
enum { TYPE_NAME_LIMIT = 4096 };

static int keep_type(struct go *g, const struct go_record *r, struct err *err)
{
	int code = idmap_put(&g->type_at, r->u[TYPE_ADDRESS], g->n_types, err);
	struct go_type *to = code == 0 ? BIG_PUSH(g->types, g->n_types, g->cap_types, err) : NULL;
	if (!to)
		return ERR_NOMEM;
	*to = (struct go_type){
		r->u[TYPE_ADDRESS], r->u[TYPE_SIZE], r->s[0], r->fields, r->u[TYPE_INDIRECT]
	};
	return 0;
}

int go_old_types(struct go *g, struct err *err)
{
	const struct source *s = g->dump.source;
	struct go_record r = { .tag = GO_TYPE };
	int code = 0;
	for (uint64_t at = g->body; code == 0 && at < s->size && r.tag != GO_EOF; at = r.next) {
		struct err damage;
		if (go_record_decode(s->bytes, s->size, at, g->version, &r, &damage) < 0)
			break; /* the reading tells */
		if (r.tag == GO_TYPE)
			code = keep_type(g, &r, err);
		else if (r.tag == GO_ITAB)
			code = idmap_put(&g->itab_at, r.u[ITAB_ADDRESS], r.u[ITAB_TYPE] != 0, err);
	}
	return code;
}

static const struct go_type *type_of(const struct go *g, uint64_t address)
{
	uint64_t i = address ? idmap_get(&g->type_at, address) : IDMAP_NONE;
	return i == IDMAP_NONE ? NULL : &g->types[i];
}

/* Is the data word of the interface at p a pointer?  Unknown ones are taken for one. */
static bool holds_pointer(const struct go *g, uint64_t kind, const uint8_t *p)
{
	uint64_t first = go_word(g, p);
	if (kind == GO_INTERFACE)
		return first && idmap_get(&g->itab_at, first) != 0;
	const struct go_type *type = type_of(g, first);
	return first && (!type || type->indirect);
}

/* Called with each pointer. */
struct taking {
	struct go_reading *r;
	bool deliver;
	uint64_t n;
	size_t waiting;
	int code;
};

static void take(struct taking *t, uint64_t pointer)
{
	t->n += pointer != 0;
	if (pointer && t->deliver && t->code == 0)
		t->code = go_deliver(t->r, &t->waiting, pointer);
}

static void take_value(struct taking *t, const struct go_type *type, const uint8_t *p, uint64_t n)
{
	const struct go *g = t->r->go;
	const uint8_t *list = type->fields.p, *end = list + type->fields.n;
	uint64_t kind, offset;
	while (list && go_field_next(&list, end, &kind, &offset)) {
		uint64_t at = go_pointer_at(g, kind, offset);
		if (at < offset || !go_slot_fits(g, at, n))
			continue;
		if (kind < GO_INTERFACE || holds_pointer(g, kind, p + offset))
			take(t, go_word(g, p + at));
	}
}

static void take_all(struct taking *t, const struct go_record *o, const struct go_type *type)
{
	const struct go *g = t->r->go;
	const uint8_t *p = o->s[0].p;
	uint64_t n = o->s[0].n, kind = o->u[OBJECT_KIND];
	uint64_t at = kind == CHANNEL ? g->channel_header : 0;
	if (!g->word)
		return;
	if (kind == CONSERVATIVE) {
		for (at = 0; n - at >= g->word; at += g->word)
			take(t, go_word(g, p + at));
		return;
	}
	if (!type)
		return;
	uint64_t step = type->size;
	for (; at < n && (step == 0 || n - at >= step); at += step) {
		take_value(t, type, p + at, step ? step : n - at);
		if (kind == ONE_VALUE || !step)
			break;
	}
}

/* walk->at: the value looked at; walk->left: bytes of its type's list that were read. */
bool go_old_next_slot(const struct go *g, const struct object_view *view, struct slot_walk *walk)
{
	const struct go_type *type = type_of(g, view->class_address);
	uint64_t n = view->n_bytes, kind = view->length, field, offset;
	if (!g->word || (kind != CONSERVATIVE && (!type || !type->fields.p)))
		return false;
	if (kind == CONSERVATIVE) {
		walk->offset = walk->at;
		walk->at += g->word;
		return walk->offset <= n && n - walk->offset >= g->word;
	}
	if (!walk->at && !walk->left && kind == CHANNEL)
		walk->at = g->channel_header;
	uint64_t step = type->size ? type->size : n;
	for (; walk->at < n && n - walk->at >= step; walk->at += step, walk->left = 0) {
		const uint8_t *p = type->fields.p + walk->left, *end = type->fields.p + type->fields.n;
		while (go_field_next(&p, end, &field, &offset)) {
			uint64_t at = go_pointer_at(g, field, offset);
			walk->left = (uint64_t)(p - type->fields.p);
			walk->offset = walk->at + at;
			if (at >= offset && go_slot_fits(g, at, step) && (field < GO_INTERFACE ||
			    holds_pointer(g, field, view->bytes + walk->at + offset)))
				return true;
		}
		if (kind == ONE_VALUE || !type->size)
			return false;
	}
	return false;
}

/* Append the name of an object's class: "main.Node", "[]main.Node", "chan main.Node"; for an object
 * without a type its size alone. */
static void add_name(struct text *to, const struct go_record *o, const struct go_type *type)
{
	uint64_t kind = o->u[OBJECT_KIND];
	if (!type || !type->name.n) {
		text_addf(to, "%" PRIu64 " B {%s}", o->s[0].n, kind == CONSERVATIVE ? "?" : "");
		return;
	}
	text_add(to, kind == ARRAY ? "[]" : kind == CHANNEL ? "chan " : "");
	bool whole = type->name.n <= TYPE_NAME_LIMIT;
	text_add_n(to, (const char *)type->name.p, whole ? (size_t)type->name.n : TYPE_NAME_LIMIT);
	if (!whole) /* it must not pass for a whole name */
		text_addf(to, "..<%" PRIu64 " bytes>", type->name.n);
}

int go_old_object(struct go_reading *r, const struct go_record *o)
{
	const struct go *g = r->go;
	const struct go_type *type = type_of(g, o->u[OBJECT_TYPE]);
	uint64_t address = o->u[OBJECT_ADDRESS], last = g->word == 4 ? UINT32_MAX : UINT64_MAX;
	if (!address || address > last || o->s[0].n > last - address) {
		if (r->survey)
			r->sink->warn(r->sink, o->offset, "an invalid object of %" PRIu64 " bytes at address "
			    "0x%" PRIx64 " is ignored", o->s[0].n, address);
		return 0;
	}
	if (r->survey && o->u[OBJECT_TYPE] && !type)
		r->sink->warn(r->sink, o->offset, "object 0x%" PRIx64 " has type 0x%" PRIx64 ", but no earlier "
		    "record describes it", address, o->u[OBJECT_TYPE]);
	struct taking count = { .r = r };
	take_all(&count, o, type);
	text_clear(&r->text);
	add_name(&r->text, o, type);
	struct object_record record = {
		.address = address,
		.class_handle = r->survey ? r->sink->class_handle(r->sink, CLASS_SHOWN, 0,
		    (const uint8_t *)r->text.s, r->text.len) : 0,
		.kind = OBJECT_INSTANCE,
		.size = o->s[0].n,
		.length = LENGTH_UNKNOWN,
		.n_references = count.n,
		.offset = o->offset,
		.contents = (uint64_t)(o->s[0].p - r->bytes),
	};
	int code = r->sink->object(r->sink, &record);
	if (code < 0 || r->survey)
		return code;
	struct taking deliver = { .r = r, .deliver = true };
	take_all(&deliver, o, type);
	if (deliver.code == 0 && deliver.waiting)
		deliver.code = r->sink->references(r->sink, r->targets, deliver.waiting);
	return deliver.code;
}
