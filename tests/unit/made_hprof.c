/* SPDX-License-Identifier: GPL-3.0-or-later */
/* made_hprof.c - a small HPROF of a few classes and objects. */
#include "made_hprof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bytes.h"

static struct text records, heap_part; /* top-level records; what goes into the heap dump */
struct heap *heap;
static uint64_t next_address;
enum { CLASSES = 0x1000, STRINGS = 0x10 }; /* addresses of classes, ids of texts */
static struct made_class {
	const char *name, *fields;
	int super;
} made[40];
static int n_made;
static uint64_t n_texts;
static size_t segment_end[60]; /* in heap_part, of those that damage ended */
static unsigned n_segments;

static uint64_t add_text(const char *s)
{
	add_be(&records, 1, 1);
	add_be(&records, 0, 4);
	add_be(&records, 8 + strlen(s), 4);
	add_be(&records, STRINGS + n_texts, 8);
	text_add(&records, s);
	return STRINGS + n_texts++;
}

static unsigned tag_of(char type)
{
	static const char letters[] = "L.ZCFDBSIJ";
	return (unsigned)(strchr(letters, type) - letters) + 2;
}

static unsigned width_of(char type)
{
	return type == 'L' || type == 'D' || type == 'J' ? 8 : type == 'I' || type == 'F' ? 4 :
	    type == 'C' || type == 'S' ? 2 : 1;
}

static uint64_t class_address(int class)
{
	return class < 0 ? 0 : CLASSES + (uint64_t)class * 0x100;
}

static unsigned count_fields(const char *fields)
{
	unsigned n = 0;
	for (const char *p = fields; *p; p++)
		n += *p == ':';
	return n;
}

int class(const char *name, int super, const char *fields)
{
	made[n_made] = (struct made_class){ name, fields, super };
	uint64_t id = add_text(name), address = class_address(n_made);
	add_be(&records, 2, 1);
	add_be(&records, 0, 4);
	add_be(&records, 24, 4);
	add_be(&records, (uint64_t)n_made + 1, 4);
	add_be(&records, address, 8);
	add_be(&records, 1, 4);
	add_be(&records, id, 8);
	add_be(&heap_part, 0x20, 1);
	add_be(&heap_part, address, 8);
	add_be(&heap_part, 1, 4);
	add_be(&heap_part, class_address(super), 8);
	for (int i = 0; i < 5; i++)
		add_be(&heap_part, 0, 8);
	add_be(&heap_part, 0, 4);
	add_be(&heap_part, 0, 4); /* no constants, no statics */
	add_be(&heap_part, count_fields(fields), 2);
	for (const char *p = fields; *p;) {
		char field[80];
		size_t n = strcspn(p, ":");
		memcpy(field, p, n);
		field[n] = '\0';
		add_be(&heap_part, add_text(field), 8);
		add_be(&heap_part, tag_of(p[n + 1]), 1);
		p += n + 2;
		p += *p == ' ';
	}
	return n_made++;
}

void trace(unsigned serial, const char *method, unsigned n_frames)
{
	uint64_t name = add_text(method), id = 0x10000 + (uint64_t)serial;
	add_be(&records, 4, 1); /* one frame, time and again */
	add_be(&records, 0, 4);
	add_be(&records, 40, 4);
	add_be(&records, id, 8);
	add_be(&records, name, 8);
	add_be(&records, name, 8);
	add_be(&records, 0, 8);
	add_be(&records, 1, 4);
	add_be(&records, 7, 4);
	add_be(&records, 5, 1);
	add_be(&records, 0, 4);
	add_be(&records, 12 + 8 * (uint64_t)n_frames, 4);
	add_be(&records, serial, 4);
	add_be(&records, 0, 4);
	add_be(&records, n_frames, 4);
	for (unsigned i = 0; i < n_frames; i++)
		add_be(&records, id, 8);
}

void thread(uint64_t address, unsigned serial, unsigned trace)
{
	add_be(&heap_part, 8, 1);
	add_be(&heap_part, address, 8);
	add_be(&heap_part, serial, 4);
	add_be(&heap_part, trace, 4);
}

uint64_t damage(void)
{
	uint64_t place = heap_part.len;
	add_be(&heap_part, 0xEEEEEEEE, 4);
	segment_end[n_segments++] = heap_part.len;
	return place;
}

enum { HEADER = 19 + 12, SEGMENT_HEAD = 9 };

uint64_t made_offset(uint64_t place)
{
	return HEADER + records.len + SEGMENT_HEAD + place;
}

uint64_t new_address(void)
{
	return next_address += 0x1000;
}

static void instance_head(uint64_t address, int c, uint64_t n)
{
	add_be(&heap_part, 0x21, 1);
	add_be(&heap_part, address, 8);
	add_be(&heap_part, 1, 4);
	add_be(&heap_part, class_address(c), 8);
	add_be(&heap_part, n, 4);
}

void short_instance(uint64_t address, int c, uint64_t number, unsigned n)
{
	instance_head(address, c, n);
	add_be(&heap_part, number, n);
}

uint64_t at(uint64_t address, int c, const uint64_t *values)
{
	uint64_t size = 0;
	for (int k = c, seen = 0; k >= 0 && seen < 10; k = made[k].super, seen++)
		for (const char *p = strchr(made[k].fields, ':'); p; p = strchr(p + 1, ':'))
			size += width_of(p[1]);
	instance_head(address, c, size);
	for (int k = c, seen = 0; k >= 0 && seen < 10; k = made[k].super, seen++)
		for (const char *p = strchr(made[k].fields, ':'); p; p = strchr(p + 1, ':'))
			add_be(&heap_part, *values++, width_of(p[1]));
	return address;
}

uint64_t primitives(char type, const uint64_t *values, unsigned n)
{
	uint64_t address = new_address();
	add_be(&heap_part, 0x23, 1);
	add_be(&heap_part, address, 8);
	add_be(&heap_part, 1, 4);
	add_be(&heap_part, n, 4);
	add_be(&heap_part, tag_of(type), 1);
	for (unsigned i = 0; i < n; i++)
		add_be(&heap_part, values[i], width_of(type));
	return address;
}

uint64_t bytes(const char *s)
{
	uint64_t values[200];
	unsigned n = 0;
	for (; s[n]; n++)
		values[n] = (unsigned char)s[n];
	return primitives('B', values, n);
}

int array_class = -1;

uint64_t objects(const uint64_t *values, unsigned n)
{
	uint64_t address = new_address();
	add_be(&heap_part, 0x22, 1);
	add_be(&heap_part, address, 8);
	add_be(&heap_part, 1, 4);
	add_be(&heap_part, n, 4);
	add_be(&heap_part, class_address(array_class), 8);
	for (unsigned i = 0; i < n; i++)
		add_be(&heap_part, values[i], 8);
	return address;
}

int object, string;

void clear_made(void)
{
	text_clear(&records);
	text_clear(&heap_part);
	n_made = 0;
	n_texts = 0;
	n_segments = 0;
	next_address = 0x100000;
}

int begin_made(void **state)
{
	(void)state;
	clear_made();
	object = class("java/lang/Object", -1, "");
	class("java/lang/Class", object, "");
	string = class("java/lang/String", object, "hash:I coder:B value:L");
	array_class = class("[Ljava/lang/Object;", object, "");
	return 0;
}

void open_made(void)
{
	char path[] = "/tmp/cairn-values-XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "wb");
	struct text head = TEXT_INIT, segment = TEXT_INIT;
	struct err err = ERR_INIT;
	assert_non_null(f);
	text_add_n(&head, "JAVA PROFILE 1.0.2", 19);
	add_be(&head, 8, 4);
	add_be(&head, 0, 8);
	assert_int_equal(fwrite(head.s, 1, head.len, f), head.len);
	assert_int_equal(fwrite(records.s, 1, records.len, f), records.len);
	segment_end[n_segments] = heap_part.len;
	for (size_t i = 0, from = 0; i <= n_segments; from = segment_end[i++]) {
		add_be(&segment, 0x1C, 1);
		add_be(&segment, 0, 4);
		add_be(&segment, segment_end[i] - from, 4);
		text_add_n(&segment, heap_part.s + from, segment_end[i] - from);
	}
	assert_int_equal(fwrite(segment.s, 1, segment.len, f), segment.len);
	text_clear(&segment);
	add_be(&segment, 0x2C, 1);
	add_be(&segment, 0, 8);
	assert_int_equal(fwrite(segment.s, 1, segment.len, f), segment.len);
	assert_int_equal(fclose(f), 0);
	text_release(&head);
	text_release(&segment);
	struct heap_options options = { .path = path };
	int code = heap_open(&heap, &options, NULL, &err);
	unlink(path);
	if (code)
		fail_msg("%s", err.message);
}

int end_made(void **state)
{
	(void)state;
	heap_close(heap);
	heap = NULL;
	text_release(&records);
	text_release(&heap_part);
	return 0;
}

uint64_t text(const char *s)
{
	return OBJECT(string, 0, 0, bytes(s));
}
