/* SPDX-License-Identifier: GPL-3.0-or-later */
/* storage.c - what collections are made of, for who looks at them from outside: classes, tables and their room. */
#include "analysis/describe/collection.h"

#include "analysis/describe/describers.h"
#include "heap/classes.h"

#include <string.h>

enum { INNER_DEEPEST = 8, PART_NAME_MOST = 512 };

static bool is_part(const char *name)
{
	size_t n = strnlen(name, COLLECTION_NAME_MOST); /* names may be long, and many: none is known that ends later */
	const char *end = name + n, *at = memchr(name, '$', n);
	for (int deep = 0; at && deep < INNER_DEEPEST; deep++, at = memchr(at + 1, '$', (size_t)(end - at - 1)))
		if (collection_known(name, (size_t)(at - name)))
			return true;
	return false;
}

/* "map[string]int buckets", "map[string]int table" */
static bool is_part_of_map(const char *name)
{
	const char *last = strncmp(name, "map[", 4) ? NULL : strrchr(name, ' ');
	return last && (!strcmp(last, " buckets") || !strcmp(last, " table"));
}

static bool ends(const char *name, const char *with)
{
	size_t n = strnlen(name, PART_NAME_MOST), m = strlen(with);
	return n < PART_NAME_MOST && n >= m && !strcmp(name + n - m, with);
}

static bool is_library(const struct collection_kind *kind)
{
	return kind->shape == SHAPE_VIEW || strchr(kind->class, '$');
}

static enum storage_arrays arrays_of(const struct collection_kind *kind)
{
	static const enum storage_arrays arrays[SHAPES] = {[SHAPE_ARRAY] = ARRAYS_OF_ELEMENTS,
	    [SHAPE_SPARSE] = ARRAYS_OF_ELEMENTS, [SHAPE_RING] = ARRAYS_OF_ELEMENTS, [SHAPE_PAIRS] = ARRAYS_OF_ELEMENTS,
	    [SHAPE_COLUMNS] = ARRAYS_OF_ELEMENTS, [SHAPE_ENUM] = ARRAYS_OF_ELEMENTS, [SHAPE_BITS] = ARRAYS_OF_ELEMENTS,
	    [SHAPE_BUCKETS] = ARRAYS_OF_CHAINS, [SHAPE_CHAIN] = ARRAYS_OF_CHAINS, [SHAPE_QUEUE] = ARRAYS_OF_CHAINS,
	    [SHAPE_TREE] = ARRAYS_OF_CHAINS, [SHAPE_TRIE] = ARRAYS_OF_NODES, [SHAPE_NESTED] = ARRAYS_OF_ARRAYS,
	    [SHAPE_RADIX] = ARRAYS_OF_ARRAYS};
	return kind->chained ? ARRAYS_OF_CHAINS : arrays[kind->shape];
}

enum storage_role inspect_storage_role(const struct heap *h, uint32_t class, enum storage_arrays *arrays)
{
	const struct collection_kind *kind = collection_kind_of(h, class);
	*arrays = ARRAYS_NONE;
	if (kind) {
		*arrays = arrays_of(kind);
		return is_library(kind) ? STORAGE_VIEW : kind->shape == SHAPE_WRAPPER ||
		    kind->shape == SHAPE_JOINED ? STORAGE_WRAPPER : STORAGE_OWN;
	}
	if (!is_part(h->classes[class].name))
		return STORAGE_NONE;
	if (ends(h->classes[class].name, "$Segment")) /* of an old ConcurrentHashMap: a table of its own */
		*arrays = ARRAYS_OF_CHAINS;
	return STORAGE_PART;
}

/* Most collections count their changes; of the others a table or a moved head tells. */
static bool was_used(const struct collection *c, const struct collection_size *size)
{
	int64_t changes, head;
	if (description_number(&c->store, "modCount", &changes))
		return changes != 0;
	if (c->kind->shape == SHAPE_RING && c->kind->next)
		return description_number(&c->store, c->kind->next, &head) && head != 0;
	return c->kind->shape == SHAPE_BUCKETS && size->has_capacity && size->capacity;
}

/* Hash tables have a power of two of places, three quarters of them taken at most; two thirds of those of pairs. */
static uint64_t enough_for(const struct collection_kind *kind, uint64_t size)
{
	uint64_t places = 1;
	if (!kind->table && (kind->shape == SHAPE_ARRAY || kind->shape == SHAPE_RING))
		return size + (kind->shape == SHAPE_RING);
	uint64_t least = kind->shape == SHAPE_PAIRS ? size + size / 2 + size % 2 : size + size / 3 + (size % 3 > 0);
	while (places < least && places < UINT64_MAX / 4)
		places *= 2;
	return kind->shape == SHAPE_PAIRS ? 2 * places : places;
}

bool inspect_storage(const struct heap *h, uint32_t id, struct storage *out)
{
	struct collection c = { .heap = h };
	struct values table;
	*out = (struct storage){ .table = HEAP_NONE };
	if (!collection_size(h, id, &out->size) || !collection_find(&c, h, id))
		return false;
	const struct collection_kind *kind = c.kind;
	const char *field = kind->table ? kind->table : kind->shape <= SHAPE_BUCKETS ? kind->store : NULL;
	out->library = is_library(kind);
	out->used = was_used(&c, &out->size);
	out->enough = enough_for(kind, out->size.taken);
	if (field && description_object(&c.store, field, &table) && !table.is_class &&
	    table.view.kind != OBJECT_INSTANCE) {
		out->table = table.id;
		out->chains = (kind->shape == SHAPE_BUCKETS || kind->table) && table.view.kind == OBJECT_ARRAY;
	}
	return true;
}

/* --- by one reference ------------------------------------------------------------------------------ */

static unsigned make_of_shape(const struct collection_kind *kind)
{
	if (!kind)
		return 0;
	if (kind->shape == SHAPE_WRAPPER || kind->shape == SHAPE_VIEW || kind->shape == SHAPE_JOINED)
		return MAKE_WRAPPER;
	return kind->store && !strcmp(kind->store, "this") ? MAKE_NODE : 0;
}

unsigned inspect_make(const struct heap *h, uint32_t id)
{
	uint32_t class = heap_class_index(h, id);
	const char *name = h->classes[class].name;
	if (is_part_of_map(name))
		return MAKE_PART | MAKE_MAP_PART;
	unsigned part = is_part(name) ? MAKE_PART : 0;
	if (h->classes[class].kind == CLASS_OBJECT_ARRAY)
		return part ? part : MAKE_ARRAY;
	if (!inspect_is_collection(h, id))
		return part;
	return part | MAKE_COLLECTION | make_of_shape(collection_kind_of(h, class));
}

bool inspect_is_made_of(unsigned holder, unsigned object)
{
	if (object & MAKE_PART)
		return holder & (MAKE_COLLECTION | MAKE_PART) || (holder & MAKE_ARRAY && object & MAKE_MAP_PART);
	return (object & MAKE_ARRAY && holder & MAKE_COLLECTION) || (object & MAKE_COLLECTION && holder & MAKE_WRAPPER) ||
	    (object & MAKE_NODE && holder & MAKE_NODE);
}

enum { KEY_SHOWN = 40 }; /* characters of a map's key */

static bool keys_hidden(void)
{
	bool hidden = inspect_hide_keys(true);
	inspect_hide_keys(hidden);
	return hidden;
}

bool inspect_entry_name(const struct heap *h, uint32_t collection, uint32_t entry, uint32_t target, struct text *to)
{
	const struct collection_kind *kind = values_of_fields(h) ?
	    collection_kind_of(h, heap_class_index(h, collection)) : NULL;
	struct values node;
	struct value key;
	if (!kind || !kind->key || keys_hidden() || values_open(&node, h, entry, NULL) ||
	    !description_field(&node, kind->key, &key))
		return false;
	bool is_key = key.type == VALUE_OBJECT && value_object_id(h, &key) == target;
	text_add(to, is_key ? "key " : "[");
	describe_value(h, &key, KEY_SHOWN, to);
	text_add(to, is_key ? "" : "]");
	return true;
}

bool inspect_is_list(const struct heap *h, uint32_t collection)
{
	const struct collection_kind *kind = values_of_fields(h) ?
	    collection_kind_of(h, heap_class_index(h, collection)) : NULL;
	struct values list;
	int64_t first;
	return kind && kind->shape == SHAPE_ARRAY && !values_open(&list, h, collection, NULL) &&
	    (!kind->next || !description_number(&list, kind->next, &first));
}
