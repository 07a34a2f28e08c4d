/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hprof_names.c - the records in front of the heap: texts, names of classes, stacks of threads. */
#include "analysis/hprof_export/hprof_writing.h"

#include "base/progress.h"
#include "heap/threads.h"
#include "memory/big.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* --- texts -------------------------------------------------------------------------------------- */

/* UTF-8 as the VM writes it: a character beyond 16 bits is two halves of 3 bytes. */
static void add_modified(struct text *to, const char *s)
{
	for (size_t n = strlen(s), used; n; s += used, n -= used) {
		int32_t point;
		char half[4];
		used = utf8_decode(s, n, &point);
		if (point <= 0xFFFF) {
			text_add_n(to, s, used);
			continue;
		}
		for (unsigned i = 0; i < 2; i++) {
			uint32_t unit = i ? 0xDC00 | ((uint32_t)point & 0x3FF) : 0xD7C0 + ((uint32_t)point >> 10);
			half[0] = (char)(0xE0 | unit >> 12);
			half[1] = (char)(0x80 | (unit >> 6 & 0x3F));
			half[2] = (char)(0x80 | (unit & 0x3F));
			text_add_n(to, half, 3);
		}
	}
}

uint64_t hprof_text_id(struct hprof_writing *w, const char *text, bool stays)
{
	uint32_t number, before = w->texts.n;
	struct text bytes = TEXT_INIT;

	if (string_intern_number(&w->texts, text, stays, &number, w->err))
		return 0;
	if (number == before) {
		add_modified(&bytes, text);
		hprof_begin_record(&w->out, HPROF_UTF8, (uint32_t)(w->out.ids + bytes.len));
		hprof_put_id(&w->out, number + 1);
		hprof_put(&w->out, bytes.s ? bytes.s : "", bytes.len);
		text_release(&bytes);
	}
	return number + 1;
}

uint64_t hprof_invented_name(struct hprof_writing *w, bool for_size, uint32_t i)
{
	char name[24];
	snprintf(name, sizeof name, "?%s%u", for_size ? "size" : "", i);
	return hprof_text_id(w, name, false);
}

/* --- names of classes --------------------------------------------------------------------------- */

/* A dot in front of a digit is part of the name of a hidden class. */
static void add_internal_name(struct text *to, const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		text_add_char(to, name[i] == '.' && !isdigit((unsigned char)name[i + 1]) ? '/' : name[i]);
}

/* "java.util.Map$Entry[]" as the VM spells it: "[Ljava/util/Map$Entry;". */
static const char *internal_name(struct hprof_writing *w, uint32_t class)
{
	const struct heap_class *c = &w->h->classes[class];
	size_t n = strlen(c->name), depth = 0;

	text_clear(&w->name);
	if (c->kind == CLASS_OBJECT_ARRAY || c->kind == CLASS_PRIMITIVE_ARRAY)
		for (; n > 2 && c->name[n - 2] == '[' && c->name[n - 1] == ']'; n -= 2, depth++)
			text_add_char(&w->name, '[');
	unsigned type = depth > (c->kind == CLASS_OBJECT_ARRAY) ? hprof_type_named(c->name, n) : 0;
	if (type) {
		text_add_char(&w->name, "    ZCFDBSIJ"[type]);
		return w->name.s;
	}
	if (depth)
		text_add_char(&w->name, 'L');
	add_internal_name(&w->name, c->name, n);
	if (depth)
		text_add_char(&w->name, ';');
	return w->name.s;
}

static void write_load_class(struct hprof_writing *w, uint64_t id, uint64_t name)
{
	hprof_begin_record(&w->out, HPROF_LOAD_CLASS, 8 + 2 * w->out.ids);
	hprof_put_number(&w->out, w->next_class_serial++, 4);
	hprof_put_id(&w->out, id);
	hprof_put_number(&w->out, EMPTY_TRACE, 4);
	hprof_put_id(&w->out, name);
}

static int write_class_names(struct hprof_writing *w)
{
	for (uint32_t i = 0; i < w->h->n_classes; i++) {
		if (progress_own_stops(i))
			return err_cancelled(w->err);
		if (!w->plan.classes[i].id)
			continue;
		const char *internal = internal_name(w, i);
		uint64_t name = internal ? hprof_text_id(w, internal, false) : 0;
		if (!name)
			return err_set(w->err, ERR_NOMEM, "not enough memory for the names of classes");
		w->class_text[i] = (uint32_t)name;
		write_load_class(w, w->plan.classes[i].id, name);
		int code = hprof_class_texts(w, i);
		if (code)
			return code;
	}
	return 0;
}

/* --- stacks ------------------------------------------------------------------------------------- */

/* The number by which frames name a class, by the text of its name. */
struct frame_classes {
	uint32_t *serial; /* by number of the text; big memory */
	size_t n;
};

static int number_classes(struct hprof_writing *w, struct frame_classes *f)
{
	uint32_t serial = 1;

	f->n = w->texts.n;
	f->serial = big_alloc(f->n, sizeof *f->serial, w->err);
	if (!f->serial)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < w->h->n_classes; i++) {
		if (!w->plan.classes[i].id)
			continue;
		uint32_t *at = &f->serial[w->class_text[i] - 1];
		if (!*at)
			*at = serial;
		serial++;
	}
	return 0;
}

/* "com.acme.Shop.order(Shop.java:12)" in parts. */
struct frame_parts {
	const char *class, *method;
	char *source;
	int line; /* HPROF's: -3 native, -2 compiled, -1 unknown, 0 none */
};

static struct frame_parts frame_parts(char *text)
{
	struct frame_parts f = {.class = text, .method = text, .source = strchr(text, '('), .line = 0};
	if (f.source)
		*f.source++ = '\0';
	char *dot = strrchr(text, '.');
	if (dot) {
		*dot = '\0';
		f.method = dot + 1;
	} else {
		f.class = text + strlen(text);
	}
	if (!f.source)
		f.source = text + strlen(text);
	else if (!strncmp(f.source, "Native Method", 13))
		f.line = -3;
	else if (!strncmp(f.source, "Compiled Code", 13))
		f.line = -2;
	else if (!strncmp(f.source, "Unknown Source", 14))
		f.line = -1;
	char *end = f.source + strcspn(f.source, ":()");
	long line = !f.line && *end == ':' ? strtol(end + 1, NULL, 10) : 0;
	if (line > 0 && line <= INT32_MAX)
		f.line = (int)line;
	*end = '\0';
	return f;
}

static int write_frame(struct hprof_writing *w, struct frame_classes *classes, const char *text, uint32_t id)
{
	struct text copy = TEXT_INIT, class = TEXT_INIT;

	text_add_n(&copy, text, strlen(text));
	struct frame_parts f = copy.s ? frame_parts(copy.s) : (struct frame_parts){.class = ""};
	text_add_n(&class, "", 0);
	add_internal_name(&class, f.class, strlen(f.class));
	uint64_t name = copy.s && class.s ? hprof_text_id(w, class.s, false) : 0;
	uint64_t method = name ? hprof_text_id(w, f.method, false) : 0;
	uint64_t signature = method ? hprof_text_id(w, "()", true) : 0;
	uint64_t source = signature && f.line >= 0 && *f.source ? hprof_text_id(w, f.source, false) : 0;
	text_release(&copy);
	text_release(&class);
	if (!signature)
		return err_set(w->err, ERR_NOMEM, "not enough memory for the names of methods");
	uint32_t serial = name - 1 < classes->n ? classes->serial[name - 1] : 0;
	if (!serial) {
		serial = w->next_class_serial;
		write_load_class(w, hprof_make_id(&w->plan), name);
		if (name - 1 >= classes->n) {
			uint32_t *more = big_resize(classes->serial, 2 * name, sizeof *more, w->err);
			if (!more)
				return ERR_NOMEM;
			classes->serial = more;
			classes->n = 2 * name;
		}
		classes->serial[name - 1] = serial;
	}
	hprof_begin_record(&w->out, HPROF_FRAME, 4 * w->out.ids + 8);
	hprof_put_id(&w->out, id);
	hprof_put_id(&w->out, method);
	hprof_put_id(&w->out, signature);
	hprof_put_id(&w->out, source);
	hprof_put_number(&w->out, serial, 4);
	hprof_put_number(&w->out, (uint64_t)(int64_t)f.line, 4);
	return 0;
}

static void begin_trace(struct hprof_writing *w, uint32_t serial, uint32_t thread, uint32_t n)
{
	hprof_begin_record(&w->out, HPROF_TRACE, 12 + n * w->out.ids);
	hprof_put_number(&w->out, serial, 4);
	hprof_put_number(&w->out, thread, 4);
	hprof_put_number(&w->out, n, 4);
}

/* Frames, each text once, and the stack of them. */
static int write_stack(struct hprof_writing *w, struct frame_classes *classes, struct string_intern *frames,
    uint32_t thread)
{
	const struct heap_thread *t = &w->h->threads[thread];
	uint32_t number;
	int code = 0;

	for (uint32_t i = 0; i < t->n_frames && !code; i++) {
		uint32_t before = frames->n;
		const char *text = t->frames[i] ? t->frames[i] : "";
		code = string_intern_number(frames, text, true, &number, w->err);
		if (!code && number == before)
			code = write_frame(w, classes, text, number + 1);
	}
	if (code)
		return code;
	begin_trace(w, hprof_trace_serial(thread), hprof_thread_serial(thread), t->n_frames);
	for (uint32_t i = 0; i < t->n_frames && !code; i++) {
		code = string_intern_number(frames, t->frames[i] ? t->frames[i] : "", true, &number, w->err);
		hprof_put_id(&w->out, number + 1);
	}
	return code;
}

/* The thread object of a dump with values has the name itself. */
static int write_thread_name(struct hprof_writing *w, uint32_t thread)
{
	const struct heap_thread *t = &w->h->threads[thread];
	if (w->plan.values || t->object == HEAP_NONE || !t->name || !strcmp(t->name, THREAD_UNNAMED))
		return 0;
	uint64_t name = hprof_text_id(w, t->name, true);
	if (!name)
		return ERR_NOMEM;
	hprof_begin_record(&w->out, HPROF_START_THREAD, 8 + 4 * w->out.ids);
	hprof_put_number(&w->out, hprof_thread_serial(thread), 4);
	hprof_put_id(&w->out, heap_address(w->h, t->object));
	hprof_put_number(&w->out, hprof_trace_serial(thread), 4);
	hprof_put_id(&w->out, name);
	hprof_put_id(&w->out, 0);
	hprof_put_id(&w->out, 0);
	return 0;
}

static int write_stacks(struct hprof_writing *w)
{
	struct frame_classes classes = {.n = 0};
	struct string_intern frames = {.n = 0};
	int code = number_classes(w, &classes);

	begin_trace(w, EMPTY_TRACE, 0, 0);
	for (uint32_t i = 0; i < w->h->n_threads && !code; i++) {
		code = w->h->threads[i].stack == STACK_UNKNOWN ? 0 : write_stack(w, &classes, &frames, i);
		if (!code)
			code = write_thread_name(w, i);
		if (!code && progress_own_stops(i))
			code = err_cancelled(w->err);
	}
	string_intern_release(&frames);
	big_free(classes.serial);
	return code;
}

int hprof_write_names(struct hprof_writing *w)
{
	w->class_text = big_alloc(w->h->n_classes, sizeof *w->class_text, w->err);
	if (!w->class_text)
		return ERR_NOMEM;
	int code = write_class_names(w);
	return code ? code : write_stacks(w);
}
