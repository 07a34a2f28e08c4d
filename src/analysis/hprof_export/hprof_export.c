/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hprof_export.c - see hprof_export.h. */
#include "analysis/hprof_export/hprof_writing.h"

#include "base/progress.h"
#include "heap/roots.h"
#include "memory/big.h"

#include <string.h>
#include <time.h>

int hprof_export_may(const struct heap *h, struct err *err)
{
	if (h->facts.interior_pointers || h->facts.no_class_objects)
		return err_set(err, ERR_UNSUPPORTED, "%s cannot become an HPROF file: its types are not Java "
		    "classes, and its pointers lead into objects (export FILE.sqlite writes tables)", h->facts.title);
	if (h->no_references)
		return err_set(err, ERR_UNSUPPORTED, "%s", h->shortage.message);
	return 0;
}

/* --- the beginning ------------------------------------------------------------------------------ */

static uint64_t milliseconds(const char *created)
{
	struct tm tm = {.tm_isdst = 0};
	if (!strptime(created, "%Y-%m-%dT%H:%M:%S", &tm))
		return 0;
	time_t seconds = timegm(&tm);
	return seconds > 0 ? (uint64_t)seconds * 1000 : 0;
}

static void write_header(struct hprof_writing *w)
{
	static const char magic[] = "JAVA PROFILE 1.0.2";
	hprof_put(&w->out, magic, sizeof magic);
	hprof_put_number(&w->out, w->out.ids, 4);
	hprof_put_number(&w->out, milliseconds(w->h->facts.created), 8);
}

/* An undamaged HPROF dump needs no such words: the file says all that it did. */
static int write_origin(struct hprof_writing *w)
{
	const struct heap *h = w->h;
	const struct dump_facts *f = &h->facts;
	struct hprof_origin o = {
		.left_out = !w->plan.values ? REDACT_ALL : f->redacted > hprof_left_out(w) ? f->redacted : hprof_left_out(w),
		.fields_invented = !w->plan.values || f->fields_invented,
		.roots_inferred = !f->roots_recorded ? h->n_inferred_roots > 0 : heap_roots_were_inferred(h),
		.locals_inferred = f->locals_inferred,
		.damaged = h->damaged || h->incomplete,
		.superclasses_recorded = f->references_superclass_recorded,
		.loaders_hold_classes = f->loaders_hold_classes,
		.array_classes_kept = f->array_classes_kept,
		.class_fields_missing = f->class_fields_missing,
		.instance_sizes = f->has_instance_sizes || f->size_rule == SIZES_RECORDED,
		.sizes_recorded = f->size_rule == SIZES_RECORDED,
		.sizes_inferred = f->size_rule == SIZES_RECORDED && (h->n_odd || h->n_wide || h->own_size),
		.word_bits = heap_word_bits(h),
	};
	if (!o.instance_sizes && !o.left_out && !o.damaged)
		return 0;
	snprintf(o.format, sizeof o.format, "%s", f->format);
	if (o.sizes_recorded)
		o.arrays = w->plan.arrays;
	struct text words = TEXT_INIT;
	hprof_origin_add(&o, &words);
	uint64_t id = words.s ? hprof_text_id(w, words.s, false) : 0;
	text_release(&words);
	if (!id)
		return err_set(w->err, ERR_NOMEM, "not enough memory");
	return hprof_left_out(w) ? 0 : hprof_write_extras(w);
}

/* --- all of it ---------------------------------------------------------------------------------- */

static int write_classes(struct hprof_writing *w)
{
	int code = 0;
	for (uint32_t i = 0; i < w->h->n_classes && !code; i++) {
		if (!w->plan.classes[i].id)
			continue;
		code = hprof_write_class(w, i);
		w->done->objects++;
		if (w->h->facts.size_rule == SIZES_RECORDED && w->h->classes[i].object != HEAP_NONE)
			w->done->sizes_lost += heap_shallow(w->h, w->h->classes[i].object) !=
			    w->h->classes[w->h->java_lang_class].instance_size;
		if (!code && progress_own_stops(i))
			code = err_cancelled(w->err);
	}
	return code;
}

static int write_all(struct hprof_writing *w)
{
	write_header(w);
	int code = write_origin(w);
	if (!code)
		code = hprof_write_names(w);
	if (!code)
		code = write_classes(w);
	if (!code)
		code = hprof_write_roots(w);
	if (!code)
		code = hprof_write_objects(w);
	if (!w->h->n_objects) { /* a root that is null: without a heap record the file would seem truncated */
		hprof_begin_sub(&w->out, SUB_UNKNOWN, w->out.ids);
		hprof_put_id(&w->out, 0);
	}
	hprof_begin_record(&w->out, HPROF_HEAP_END, 0);
	return code;
}

int hprof_export(const struct heap *h, const struct redaction *leave_out, FILE *to, struct hprof_exported *done,
    struct err *err)
{
	struct hprof_writing w = {.h = h, .leave_out = leave_out, .done = done, .next_class_serial = 1, .err = err};

	*done = (struct hprof_exported){.bytes = 0};
	progress_phase(progress_own(), PHASE_WRITE_HPROF, h->n_objects);
	int code = hprof_plan_make(&w.plan, h, err);
	if (!code)
		code = hprof_out_begin(&w.out, to, w.plan.ids, err);
	if (!code)
		code = write_all(&w);
	code = hprof_out_end(&w.out, code, err);
	done->bytes = w.out.written;
	done->invented = !w.plan.values;
	done->classes_made = w.plan.n_made;
	string_intern_release(&w.texts);
	text_release(&w.name);
	big_free(w.class_text);
	big_free(w.values);
	big_free(w.targets);
	hprof_plan_release(&w.plan);
	return code;
}

void hprof_add_count(struct text *to, uint64_t n, const char *one, const char *several)
{
	if (!n)
		return;
	text_add(to, to->len ? "; " : "");
	text_add_count(to, n);
	text_addf(to, " %s", n == 1 ? one : several);
}

void hprof_add_lost(const struct hprof_exported *done, struct text *to)
{
	hprof_add_count(to, done->references_lost, "reference that HPROF has no room for",
	    "references that HPROF has no room for");
	hprof_add_count(to, done->arrays_clipped, "end of an array larger than 4 GB", "ends of arrays larger than 4 GB");
	hprof_add_count(to, done->threads_lost, "thread without an object", "threads without an object");
	hprof_add_count(to, done->sizes_lost, "size that HPROF cannot record", "sizes that HPROF cannot record");
	hprof_add_count(to, done->lengths_unknown, "length of an array (made of its size)",
	    "lengths of arrays (made of their sizes)");
}
