/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recorder.c - a sink that writes down what a reader says. */
#include "recorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const char *recorded_name(const struct recorder *r, const struct recorded_class *c)
{
	return r->names.s + c->name_at;
}

static uint32_t on_handle(struct sink *sink, enum class_naming how, uint64_t address,
    const uint8_t *name, size_t n)
{
	struct recorder *r = (struct recorder *)sink;

	r->n_handles++;
	if (r->lines->handle)
		r->lines->handle(r, (const char *)name, n);
	for (uint32_t i = 0; i < r->n_classes; i++) {
		const struct recorded_class *c = &r->classes[i];
		if (c->how == how && c->address == address && c->name_size == n &&
		    (!n || !memcmp(recorded_name(r, c), name, n)))
			return i;
	}
	VEC_PUSH(r->classes, r->n_classes, r->cap_classes) = (struct recorded_class){
		.how = how, .address = address, .name_at = r->names.len, .name_size = n };
	if (n)
		text_add_n(&r->names, (const char *)name, n);
	return r->n_classes - 1;
}

static int on_object(struct sink *sink, const struct object_record *o)
{
	struct recorder *r = (struct recorder *)sink;

	assert_int_equal(r->due, 0);
	bool known = o->class_handle < r->n_classes;
	assert_true(known || sink->wants_references);
	r->due = sink->wants_references ? o->n_references : 0;
	r->n_objects++;
	r->lines->object(r, o, known ? &r->classes[o->class_handle] : NULL);
	return 0;
}

static int on_class(struct sink *sink, const struct class_record *c)
{
	struct recorder *r = (struct recorder *)sink;

	assert_int_equal(r->due, 0);
	assert_non_null(r->lines->class_record);
	r->lines->class_record(r, c);
	return 0;
}

static int on_references(struct sink *sink, const uint64_t *targets, size_t n)
{
	struct recorder *r = (struct recorder *)sink;

	assert_true(sink->wants_references);
	assert_true(n > 0 && n <= r->due);
	r->due -= n;
	for (size_t i = 0; i < n; i++)
		r->lines->reference(r, targets[i]);
	return 0;
}

static int on_root(struct sink *sink, const struct root_record *root)
{
	struct recorder *r = (struct recorder *)sink;

	assert_false(sink->wants_references);
	assert_non_null(r->lines->root);
	r->lines->root(r, root);
	return 0;
}

static int on_thread(struct sink *sink, const struct thread_record *thread)
{
	struct recorder *r = (struct recorder *)sink;

	assert_false(sink->wants_references);
	assert_non_null(r->lines->thread);
	r->lines->thread(r, thread);
	return 0;
}

static int on_cut(struct sink *sink, const struct part *here)
{
	struct recorder *r = (struct recorder *)sink;

	assert_int_equal(r->due, 0);
	assert_true(here->begin < here->end);
	if (r->n_cuts < RECORDED_CUTS)
		r->cuts[r->n_cuts++] = *here;
	return 0;
}

__attribute__((format(printf, 3, 4))) static void on_warn(struct sink *sink, uint64_t offset,
    const char *format, ...)
{
	struct recorder *r = (struct recorder *)sink;
	char message[300];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof message, format, args);
	va_end(args);
	text_addf(&r->warnings, "%" PRIu64 ": %s\n", offset, message);
	r->warned_at = offset;
	r->n_warnings++;
	if (r->lines->warning)
		r->lines->warning(r, message);
}

static void on_stated(struct sink *sink, const char *what, enum stated_unit unit, uint64_t count)
{
	(void)unit;
	struct recorder *r = (struct recorder *)sink;

	text_addf(&r->stated, "%s=%" PRIu64 "\n", what, count);
	if (r->lines->stated)
		r->lines->stated(r, what, count);
}

void recorder_init(struct recorder *r, const struct recorder_lines *lines, bool wants_references)
{
	*r = (struct recorder){ .lines = lines };
	r->sink = (struct sink){
		.wants_references = wants_references,
		.class_handle = on_handle,
		.object = on_object,
		.class_record = on_class,
		.references = on_references,
		.root = on_root,
		.thread = on_thread,
		.part_begins = on_cut,
		.warn = on_warn,
		.stated = on_stated,
		.err = &r->err,
	};
	/* Texts that can be compared though nothing comes. */
	text_clear(&r->events);
	text_clear(&r->warnings);
	text_clear(&r->stated);
	text_clear(&r->names);
}

void recorder_release(struct recorder *r)
{
	text_release(&r->events);
	text_release(&r->warnings);
	text_release(&r->stated);
	text_release(&r->names);
	free(r->classes);
}

int recorder_read(struct recorder *r, const struct dump *dump, const struct part *parts, unsigned n)
{
	int result = 0;

	for (unsigned i = 0; i < n && result == 0; i++) {
		result = dump->reader->read(dump, &parts[i], &r->sink, &r->err);
		if (result == 0)
			assert_int_equal(r->due, 0);
	}
	return result;
}

int recorder_read_all(struct recorder *r, const struct dump *dump, unsigned want)
{
	struct part *parts = xcalloc(want, sizeof *parts);
	unsigned n = dump->reader->parts(dump, want, parts);

	assert_in_range(n, 1, want);
	for (unsigned i = 0; i < n; i++) {
		assert_true(i == 0 || parts[i].begin == parts[i - 1].end);
		assert_true(parts[i].begin <= parts[i].end);
	}
	int result = recorder_read(r, dump, parts, n);
	free(parts);
	return result;
}
