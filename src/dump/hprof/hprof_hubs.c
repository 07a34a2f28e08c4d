/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof_hubs.c - the class objects of GraalVM's native images.
 *
 * Their writer gives a class the address of its class object (the "hub") and 1 as identifier, and writes the hub as
 * an instance of java.lang.Class as well (com.oracle.svm.core.heap.dump.HeapDumpWriter, writeClassDumpRecord).  Both
 * are one object here: the class is at the hub's address, and the hub's fields become static fields of the class, with
 * names that no source code can have.  The instance record then has the address of a class; the builder drops it.
 */
#include "dump/hprof/hprof_dump.h"

#include "base/progress.h"
#include "dump/source/source.h"
#include "memory/big.h"

/* The fields of a hub, from the record of java.lang.Class at `at`; its superclass has none. */
static int read_fields(struct hprof *h, uint64_t at, uint64_t left, struct err *err)
{
	unsigned ids = h->id_size;
	uint32_t offset = 0, cap = 0;
	const uint8_t *bytes = h->dump.source->bytes;
	struct cursor c = cursor_make(bytes + at, bytes + at + left);
	uint64_t n_bytes = hprof_class_fields(h, bytes + at, left);

	cursor_take(&c, n_bytes);
	for (unsigned n = cursor_u16(&c); n-- > 0 && !c.short_of;) {
		struct hprof_hub_field *f = BIG_PUSH(h->hub_fields, h->n_hub_fields, cap, err);
		struct text name = TEXT_INIT;
		size_t size;
		if (!f)
			return ERR_NOMEM;
		const uint8_t *s = hprof_string(h, hprof_id(cursor_take(&c, ids), ids), &size);
		f->type = cursor_u8(&c);
		f->offset = offset;
		offset += hprof_type_size(f->type, ids);
		text_add_char(&name, '<');
		text_add_n(&name, (const char *)s, s ? size : 0);
		text_add_char(&name, '>');
		f->name = arena_try_strndup(&h->arena, name.s, name.len, err);
		f->name_size = name.len;
		text_release(&name);
		if (!f->name)
			return ERR_NOMEM;
	}
	return 0;
}

/* Does every class have such an identifier?  *class_class gets that of java.lang.Class. */
static bool are_artificial(const struct hprof *h, uint64_t *class_class)
{
	const struct hprof_classes *t = h->classes;

	*class_class = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		if (!(t->list[i].id & 1))
			return false;
		if (hprof_is_class(h, t->list[i].id, "java/lang/Class"))
			*class_class = t->list[i].id;
	}
	return *class_class != 0;
}

/* One pass over the heap: only native images pay for it, which are small. */
int hprof_hubs_find(struct hprof *h, struct err *err)
{
	const uint8_t *bytes = h->dump.source->bytes;
	unsigned ids = h->id_size;
	struct progress *work = progress_own();
	uint64_t class_class, round = 0;
	int code = 0;

	if (!h->dump.facts.has_instance_sizes || h->android || !are_artificial(h, &class_class))
		return 0;
	h->has_hubs = true;
	h->dump.facts.class_of_hubs = hprof_class_object(h, class_class);
	for (uint32_t i = 0; i < h->n_segments; i++) {
		const struct hprof_segment *s = &h->segments[i];
		const char *why;
		for (uint64_t at = s->begin, size; at < s->end && code == 0; at += size) {
			const uint8_t *p = bytes + at;
			size = hprof_sub_size(h, p, s->end - at, &why);
			if (size == 0 || size == UINT64_MAX)
				break; /* said when the objects are read */
			if (*p == SUB_CLASS && hprof_id(p + 1, ids) == class_class && !h->n_hub_fields)
				code = read_fields(h, at, size, err);
			else if (*p == SUB_INSTANCE && hprof_id(p + 1 + ids + 4, ids) == class_class &&
			    hprof_class_of(h->classes, hprof_id(p + 1, ids) + 1))
				code = idmap_put(&h->hubs, hprof_id(p + 1, ids), at, err);
			if (progress_stops(work, round++))
				return err_cancelled(err);
		}
	}
	return code;
}

const uint8_t *hprof_hub(const struct hprof *h, uint64_t address, uint32_t *n)
{
	uint64_t at = h->has_hubs ? idmap_get(&h->hubs, address) : IDMAP_NONE;
	unsigned ids = h->id_size;

	*n = 0;
	if (at == IDMAP_NONE)
		return NULL;
	const uint8_t *p = h->dump.source->bytes + at;
	*n = load_be32(p + 1 + 2 * ids + 4);
	return p + 1 + 2 * ids + 8;
}
