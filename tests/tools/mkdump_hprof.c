/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mkdump_hprof.c - see mkdump_hprof.h.
 *
 * Sizes: HotSpot 17, 64 bit with compressed references: 12 bytes of header and the fields, which
 * since JDK 15 leave no holes that rounding would not fill; arrays 16 bytes and the elements; class
 * objects the instance of java.lang.Class and the static fields; each rounded up to 8.
 */
#include "mkdump_hprof.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER = 12, ARRAY_HEADER = 16, SEGMENT = 60000, STRING_IDS = 0x7f00 };

/* --- types -------------------------------------------------------------------------------------- */

static const struct {
	char letter;
	unsigned tag, in_dump, in_heap;
} types[] = {
	{ 'L', 2, 8, 4 }, { 'Z', 4, 1, 1 }, { 'C', 5, 2, 2 }, { 'F', 6, 4, 4 }, { 'D', 7, 8, 8 },
	{ 'B', 8, 1, 1 }, { 'S', 9, 2, 2 }, { 'I', 10, 4, 4 }, { 'J', 11, 8, 8 },
};

static unsigned type_of(char letter)
{
	for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
		if (types[i].letter == letter)
			return i;
	}
	die("no type %c", letter);
}

/* --- classes ------------------------------------------------------------------------------------ */

/* "next:L hash:I"; returns how many. */
static unsigned parse_fields(const char *s, struct hp_field **out)
{
	unsigned n = 0;
	for (const char *at = s; at && *at;) {
		size_t length = strcspn(at, ":");
		*out = more_memory(*out, n + 1, sizeof **out);
		struct hp_field *f = &(*out)[n++];
		memset(f, 0, sizeof *f);
		if (length >= sizeof f->name)
			die("a long name: %s", at);
		memcpy(f->name, at, length);
		f->type = at[length + 1];
		at += length + 2;
		at += strspn(at, " ");
	}
	return n;
}

static uint64_t fields_size(const struct hp_field *f, unsigned n)
{
	uint64_t size = 0;
	for (unsigned i = 0; i < n; i++)
		size += types[type_of(f[i].type)].in_heap;
	return size;
}

static uint32_t add_object(struct hp *h, uint32_t class, uint64_t size)
{
	h->objects = more_memory(h->objects, h->n_objects + 1, sizeof *h->objects);
	struct hp_object *o = &h->objects[h->n_objects];
	memset(o, 0, sizeof *o);
	o->class = class;
	o->address = h->next;
	o->size = round_up(size, 8);
	h->next += o->size;
	return h->n_objects++;
}

/* What the VM puts into objects of these classes beside the fields it tells. */
static uint64_t injected(const char *class)
{
	if (!strcmp(class, "java/lang/ClassLoader"))
		return 8;
	if (!strcmp(class, "java/lang/Class"))
		return 36;
	return !strcmp(class, "java/lang/String");
}

static uint64_t instance_size(const struct hp *h, uint32_t class)
{
	uint64_t size = HEADER;
	for (; class != HP_NONE; class = h->classes[class].super)
		size += fields_size(h->classes[class].fields, h->classes[class].n_fields) +
		    injected(h->classes[class].name);
	return round_up(size, 8);
}

uint32_t hp_find_class(const struct hp *h, const char *name)
{
	for (uint32_t i = 0; i < h->n_classes; i++) {
		if (!strcmp(h->classes[i].name, name))
			return i;
	}
	die("no class %s", name);
}

uint32_t hp_class(struct hp *h, const char *name, uint32_t super, uint32_t loader, const char *fields,
    const char *statics)
{
	h->classes = more_memory(h->classes, h->n_classes + 1, sizeof *h->classes);
	uint32_t class = h->n_classes++;
	struct hp_class *c = &h->classes[class];
	memset(c, 0, sizeof *c);
	c->name = name;
	c->super = super;
	c->loader = loader;
	c->n_fields = parse_fields(fields, &c->fields);
	c->n_statics = parse_fields(statics, &c->statics);
	uint64_t statics_size = fields_size(c->statics, c->n_statics);
	/* java.lang.Class is the second class made: the one before it has no static fields */
	uint64_t base = h->n_classes > 2 ? instance_size(h, hp_find_class(h, "java/lang/Class")) : 112;
	uint32_t object = add_object(h, class, base + statics_size);
	h->objects[object].is_class = true;
	h->classes[class].object = object;
	return class;
}

uint32_t hp_array_class(struct hp *h, const char *name)
{
	for (uint32_t i = 0; i < h->n_classes; i++) {
		if (!strcmp(h->classes[i].name, name))
			return i;
	}
	uint32_t class = hp_class(h, name, hp_find_class(h, "java/lang/Object"), HP_NONE, NULL, NULL);
	h->classes[class].element = name[1] == '[' ? 'L' : name[1];
	return class;
}

/* --- objects ------------------------------------------------------------------------------------ */

static unsigned n_slots(const struct hp *h, uint32_t class)
{
	unsigned n = 0;
	for (; class != HP_NONE; class = h->classes[class].super)
		n += h->classes[class].n_fields;
	return n;
}

uint32_t hp_new_of(struct hp *h, uint32_t class)
{
	uint32_t object = add_object(h, class, instance_size(h, class));
	h->objects[object].value = get_memory(n_slots(h, class) + 1, sizeof(uint64_t));
	return object;
}

uint32_t hp_new(struct hp *h, const char *class)
{
	return hp_new_of(h, hp_find_class(h, class));
}

void hp_set(struct hp *h, uint32_t object, const char *field, uint64_t bits)
{
	unsigned slot = 0;
	for (uint32_t c = h->objects[object].class; c != HP_NONE; c = h->classes[c].super) {
		for (unsigned i = 0; i < h->classes[c].n_fields; i++, slot++) {
			if (!strcmp(h->classes[c].fields[i].name, field)) {
				h->objects[object].value[slot] = bits;
				return;
			}
		}
	}
	die("%s has no field %s", h->classes[h->objects[object].class].name, field);
}

static uint64_t address_of(const struct hp *h, uint32_t object)
{
	return object == HP_NONE ? 0 : h->objects[object].address;
}

void hp_refer(struct hp *h, uint32_t object, const char *field, uint32_t target)
{
	hp_set(h, object, field, address_of(h, target));
}

void hp_set_static(struct hp *h, uint32_t class, const char *field, uint64_t bits)
{
	struct hp_class *c = &h->classes[class];
	for (unsigned i = 0; i < c->n_statics; i++) {
		if (!strcmp(c->statics[i].name, field)) {
			c->statics[i].value = bits;
			return;
		}
	}
	die("%s has no static %s", c->name, field);
}

void hp_refer_static(struct hp *h, uint32_t class, const char *field, uint32_t target)
{
	hp_set_static(h, class, field, address_of(h, target));
}

uint32_t hp_array(struct hp *h, const char *class, uint32_t length)
{
	uint32_t c = hp_array_class(h, class);
	unsigned width = types[type_of(h->classes[c].element)].in_heap;
	uint32_t array = add_object(h, c, ARRAY_HEADER + (uint64_t)length * width);
	h->objects[array].length = length;
	h->objects[array].value = get_memory(length + 1, sizeof(uint64_t));
	return array;
}

void hp_element(struct hp *h, uint32_t array, uint32_t i, uint64_t bits)
{
	h->objects[array].value[i] = bits;
}

void hp_refer_element(struct hp *h, uint32_t array, uint32_t i, uint32_t target)
{
	hp_element(h, array, i, address_of(h, target));
}

uint32_t hp_bytes(struct hp *h, const void *bytes, uint32_t n)
{
	uint32_t array = add_object(h, hp_array_class(h, "[B"), ARRAY_HEADER + (uint64_t)n);
	char *kept = get_memory(n + 1, 1);
	memcpy(kept, bytes, n);
	h->objects[array].length = n;
	h->objects[array].bytes = kept;
	return array;
}

/* --- strings ------------------------------------------------------------------------------------ */

/* UTF-16 units of UTF-8 text, where half a surrogate pair may stand in three bytes. */
static size_t utf16_of(const char *utf8, uint16_t *out)
{
	const unsigned char *p = (const unsigned char *)utf8;
	size_t n = 0;
	while (*p) {
		unsigned more = *p < 0x80 ? 0 : *p < 0xE0 ? 1 : *p < 0xF0 ? 2 : 3;
		uint32_t point = more ? *p & (0x3Fu >> more) : *p;
		for (p++; more; more--)
			point = point << 6 | (*p++ & 0x3F);
		if (point < 0x10000) {
			out[n++] = (uint16_t)point;
		} else {
			out[n++] = (uint16_t)(0xD800 + ((point - 0x10000) >> 10));
			out[n++] = (uint16_t)(0xDC00 + ((point - 0x10000) & 0x3FF));
		}
	}
	return n;
}

uint32_t hp_string_hash(const char *utf8)
{
	uint16_t *unit = get_memory(strlen(utf8) + 1, sizeof *unit);
	uint32_t hash = 0;
	size_t n = utf16_of(utf8, unit);
	for (size_t i = 0; i < n; i++)
		hash = 31 * hash + unit[i];
	free(unit);
	return hash;
}

uint32_t hp_string(struct hp *h, const char *utf8)
{
	uint16_t *unit = get_memory(strlen(utf8) + 1, sizeof *unit);
	size_t n = utf16_of(utf8, unit);
	unsigned width = 1;
	for (size_t i = 0; i < n; i++) {
		if (unit[i] > 0xFF)
			width = 2;
	}
	unsigned char *bytes = get_memory(n + 1, 2);
	for (size_t i = 0; i < n; i++) {
		bytes[i * width] = (unsigned char)unit[i];
		if (width == 2)
			bytes[i * 2 + 1] = (unsigned char)(unit[i] >> 8);
	}
	uint32_t string = hp_new(h, "java/lang/String");
	hp_set(h, string, "coder", width - 1);
	hp_refer(h, string, "value", hp_bytes(h, bytes, (uint32_t)(n * width)));
	free(bytes);
	free(unit);
	return string;
}

/* --- writing ------------------------------------------------------------------------------------ */

void hp_root(struct hp *h, unsigned tag, uint32_t object, uint32_t thread, uint32_t frame)
{
	h->roots = more_memory(h->roots, h->n_roots + 1, sizeof *h->roots);
	h->roots[h->n_roots++] = (struct hp_root){ tag, object, thread, frame };
}

/* Texts of the dump: written when they are first asked for, numbered in that order. */
struct texts {
	struct out *out;
	const char **text;
	uint32_t n;
};

static uint64_t text_id(struct texts *t, const char *s)
{
	for (uint32_t i = 0; i < t->n; i++) {
		if (!strcmp(t->text[i], s))
			return STRING_IDS + i;
	}
	t->text = more_memory(t->text, t->n + 1, sizeof *t->text);
	t->text[t->n] = s;
	out_byte(t->out, 0x01);
	out_be(t->out, 0, 4);
	out_be(t->out, 8 + strlen(s), 4);
	out_be(t->out, STRING_IDS + t->n, 8);
	out_text(t->out, s);
	return STRING_IDS + t->n++;
}

static void collect_texts(const struct hp *h, struct texts *t)
{
	for (uint32_t c = 0; c < h->n_classes; c++) {
		text_id(t, h->classes[c].name);
		for (unsigned i = 0; i < h->classes[c].n_fields; i++)
			text_id(t, h->classes[c].fields[i].name);
		for (unsigned i = 0; i < h->classes[c].n_statics; i++)
			text_id(t, h->classes[c].statics[i].name);
	}
	for (uint32_t i = 0; i < h->n_threads; i++) {
		for (uint32_t k = 0; k < h->thread[i].n_frames; k++) {
			text_id(t, h->thread[i].frame[k].method);
			text_id(t, h->thread[i].frame[k].signature);
			text_id(t, h->thread[i].frame[k].source);
		}
	}
}

static void head(struct out *o, unsigned tag, uint64_t length)
{
	out_byte(o, tag);
	out_be(o, 0, 4);
	out_be(o, length, 4);
}

static void put_stacks(const struct hp *h, struct texts *t)
{
	struct out *o = t->out;
	uint64_t frame = 1;
	head(o, 0x05, 12);
	out_be(o, 1, 4);
	out_be(o, 0, 8);
	for (uint32_t i = 0; i < h->n_threads; i++) {
		const struct hp_thread *thread = &h->thread[i];
		for (uint32_t k = 0; k < thread->n_frames; k++) {
			const struct hp_frame *f = &thread->frame[k];
			head(o, 0x04, 40);
			out_be(o, frame + k, 8);
			out_be(o, text_id(t, f->method), 8);
			out_be(o, text_id(t, f->signature), 8);
			out_be(o, text_id(t, f->source), 8);
			out_be(o, f->class + 1, 4);
			out_be(o, (uint32_t)f->line, 4);
		}
		head(o, 0x05, 12 + 8ull * thread->n_frames);
		out_be(o, i + 2, 4);
		out_be(o, i + 1, 4);
		out_be(o, thread->n_frames, 4);
		for (uint32_t k = 0; k < thread->n_frames; k++)
			out_be(o, frame++, 8);
	}
}

static uint64_t dumped_size(const struct hp *h, uint32_t class)
{
	uint64_t size = 0;
	for (; class != HP_NONE; class = h->classes[class].super)
		for (unsigned i = 0; i < h->classes[class].n_fields; i++)
			size += types[type_of(h->classes[class].fields[i].type)].in_dump;
	return size;
}

/* Each sub-record twice: counted (out NULL), then written. */
static uint64_t put(struct out *o, uint64_t value, unsigned bytes)
{
	if (o)
		out_be(o, value, bytes);
	return bytes;
}

static uint64_t put_class(struct hp *h, struct texts *t, struct out *o, uint32_t class)
{
	const struct hp_class *c = &h->classes[class];
	uint64_t n = put(o, 0x20, 1) + put(o, h->objects[c->object].address, 8) + put(o, 1, 4);
	n += put(o, c->super == HP_NONE ? 0 : h->objects[h->classes[c->super].object].address, 8);
	n += put(o, address_of(h, c->loader), 8);
	for (int i = 0; i < 4; i++)
		n += put(o, 0, 8);
	n += put(o, c->element ? 0 : dumped_size(h, class), 4) + put(o, 0, 2) + put(o, c->n_statics, 2);
	for (unsigned i = 0; i < c->n_statics; i++) {
		unsigned type = type_of(c->statics[i].type);
		n += put(o, text_id(t, c->statics[i].name), 8) + put(o, types[type].tag, 1);
		n += put(o, c->statics[i].value, types[type].in_dump);
		h->n_references += o && c->statics[i].type == 'L' && c->statics[i].value;
	}
	n += put(o, c->n_fields, 2);
	for (unsigned i = 0; i < c->n_fields; i++)
		n += put(o, text_id(t, c->fields[i].name), 8) +
		    put(o, types[type_of(c->fields[i].type)].tag, 1);
	return n;
}

static uint64_t put_instance(struct hp *h, struct out *o, const struct hp_object *obj)
{
	unsigned slot = 0;
	uint64_t n = put(o, 0x21, 1) + put(o, obj->address, 8) + put(o, 1, 4);
	n += put(o, h->objects[h->classes[obj->class].object].address, 8);
	n += put(o, dumped_size(h, obj->class), 4);
	for (uint32_t c = obj->class; c != HP_NONE; c = h->classes[c].super) {
		for (unsigned i = 0; i < h->classes[c].n_fields; i++, slot++) {
			char letter = h->classes[c].fields[i].type;
			n += put(o, obj->value[slot], types[type_of(letter)].in_dump);
			h->n_references += o && letter == 'L' && obj->value[slot];
		}
	}
	return n;
}

static uint64_t put_array(struct hp *h, struct out *o, const struct hp_object *obj)
{
	const struct hp_class *c = &h->classes[obj->class];
	unsigned type = type_of(c->element);
	bool objects = c->element == 'L';
	uint64_t n = put(o, objects ? 0x22 : 0x23, 1) + put(o, obj->address, 8) + put(o, 1, 4);
	n += put(o, obj->length, 4);
	n += objects ? put(o, h->objects[c->object].address, 8) : put(o, types[type].tag, 1);
	if (obj->bytes) {
		if (o)
			out_bytes(o, obj->bytes, obj->length);
		return n + obj->length;
	}
	for (uint32_t i = 0; i < obj->length; i++) {
		n += put(o, obj->value[i], types[type].in_dump);
		h->n_references += o && objects && obj->value[i];
	}
	return n;
}

static uint64_t put_root(struct hp *h, struct out *o, const struct hp_root *r)
{
	uint64_t n = put(o, r->tag, 1) + put(o, address_of(h, r->object), 8);
	if (r->tag == 0x08) /* thread object: its serial and that of its stack */
		n += put(o, r->thread, 4) + put(o, r->thread + 1, 4);
	else if (r->tag == 0x02 || r->tag == 0x03) /* local */
		n += put(o, r->thread, 4) + put(o, r->frame, 4);
	else if (r->tag == 0x01)
		n += put(o, 0x7f5100000000 + r->object, 8);
	return n;
}

/* Sub-record number i of all: class dumps, objects, roots. */
static uint64_t put_part(struct hp *h, struct texts *t, struct out *o, uint32_t i)
{
	if (i < h->n_classes)
		return put_class(h, t, o, i);
	i -= h->n_classes;
	if (i >= h->n_objects)
		return put_root(h, o, &h->roots[i - h->n_objects]);
	const struct hp_object *obj = &h->objects[i];
	if (obj->is_class)
		return 0;
	return h->classes[obj->class].element ? put_array(h, o, obj) : put_instance(h, o, obj);
}

static void put_segments(struct hp *h, struct texts *t)
{
	uint32_t n = h->n_classes + h->n_objects + h->n_roots;
	for (uint32_t begin = 0, end; begin < n; begin = end) {
		uint64_t length = 0;
		for (end = begin; end < n && (length < SEGMENT || end == begin); end++)
			length += put_part(h, t, NULL, end);
		head(t->out, 0x1C, length);
		for (uint32_t i = begin; i < end; i++)
			put_part(h, t, t->out, i);
	}
	head(t->out, 0x2C, 0);
}

static void count_objects(struct hp *h)
{
	uint32_t class_class = hp_find_class(h, "java/lang/Class");
	for (uint32_t i = 0; i < h->n_objects; i++) {
		struct hp_class *c = &h->classes[h->objects[i].is_class ? class_class : h->objects[i].class];
		c->n_objects++;
		c->shallow += h->objects[i].size;
	}
}

void hp_write(struct hp *h, const char *path)
{
	struct out out;
	struct texts t = { .out = &out };
	out_open(&out, path);
	out_bytes(&out, "JAVA PROFILE 1.0.2", 19);
	out_be(&out, 8, 4);
	out_be(&out, 1000 * h->seconds, 8);
	collect_texts(h, &t);
	for (uint32_t c = 0; c < h->n_classes; c++) {
		head(&out, 0x02, 24);
		out_be(&out, c + 1, 4);
		out_be(&out, h->objects[h->classes[c].object].address, 8);
		out_be(&out, 1, 4);
		out_be(&out, text_id(&t, h->classes[c].name), 8);
	}
	put_stacks(h, &t);
	h->n_references = 0;
	put_segments(h, &t);
	out_close(&out);
	count_objects(h);
	free(t.text);
}

void hp_release(struct hp *h)
{
	for (uint32_t c = 0; c < h->n_classes; c++) {
		free(h->classes[c].fields);
		free(h->classes[c].statics);
	}
	for (uint32_t i = 0; i < h->n_objects; i++) {
		free(h->objects[i].value);
		free((void *)(uintptr_t)h->objects[i].bytes);
	}
	free(h->classes);
	free(h->objects);
	free(h->roots);
}
