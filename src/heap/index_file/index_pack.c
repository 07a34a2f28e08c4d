/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index_pack.c - what has pointers, to a stream and back; see saving.h.
 *
 * Each function is both: it writes what stands in the struct, or fills it.  So whatever is added to a
 * struct is added here once, and INDEX_FILE_VERSION rises.
 */
#include "heap/index_file/saving.h"

#include "base/mem.h"
#include "base/progress.h"
#include "base/text.h"
#include "dump/dump_stub.h"
#include "dump/idmap.h"
#include "dump/process.h"
#include "dump/reader.h"
#include "dump/types.h"
#include "heap/amounts.h"
#include "heap/roots.h"
#include "heap/sites.h"
#include "heap/threads.h"
#include "memory/big.h"

#include <stdio.h>
#include <string.h>

/* Room for n things when reading; NULL and p->bad without memory. */
static void *room(struct pack *p, struct heap *h, uint64_t n, size_t size, struct err *err)
{
	void *to = arena_try(&h->arena, n, size, err);
	p->bad |= !to;
	return to;
}

static void *big_room(struct pack *p, uint64_t n, size_t size, struct err *err)
{
	void *to = big_alloc(n, size, err);
	p->bad |= !to;
	return to;
}

static void pack_bool(struct pack *p, bool *flag)
{
	PACK(p, *flag, 1);
}

/* A text in an array of its own. */
static void pack_chars(struct pack *p, char *chars, size_t size)
{
	const char *text = chars;
	pack_text(p, &text);
	if (!p->reading)
		return;
	p->bad |= !text || strlen(text) >= size;
	if (!p->bad)
		snprintf(chars, size, "%s", text);
}

static void pack_needed_text(struct pack *p, const char **text)
{
	pack_text(p, text);
	p->bad |= !*text;
	if (p->bad && !*text)
		*text = "";
}

/* --- facts -------------------------------------------------------------------------------------- */

/* All of them, also those that only the reading asks for: none is missing when something else asks. */
static void pack_flags(struct pack *p, struct dump_facts *f)
{
	bool *const flags[] = {&f->takes_javacore, &f->takes_program, &f->word_unknown, &f->big_endian,
	    &f->has_instance_sizes, &f->loader_is_first_reference, &f->array_classes_kept, &f->loaders_hold_classes,
	    &f->boot_loader_is_null, &f->roots_recorded, &f->hashes_recorded, &f->references_superclass_recorded,
	    &f->array_sizes_need_model, &f->states_itself, &f->class_fields_missing, &f->no_class_objects,
	    &f->interior_pointers,
	    &f->threads_numbered, &f->outside_pointers_normal, &f->parts_guessed, &f->lengths_from_sizes,
	    &f->locals_inferred, &f->owners_recorded, &f->fields_invented, &f->hashed_grow, &f->elements_last_first,
	    &f->sizes_inferred, &f->wide_words, &f->roots_were_inferred, &f->other_thread_status, &f->exported};
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		pack_bool(p, flags[i]);
}

static void pack_facts(struct pack *p, struct dump_facts *f)
{
	pack_needed_text(p, &f->format);
	pack_needed_text(p, &f->title);
	pack_needed_text(p, &f->label);
	pack_chars(p, f->version, sizeof f->version);
	pack_chars(p, f->vm, sizeof f->vm);
	PACK(p, f->vm_release, strlen(f->vm));
	pack_text(p, &f->thread);
	PACK(p, f->word_bits, 64);
	p->bad |= f->word_bits != 32 && f->word_bits != 64;
	pack_text(p, &f->experiments);
	PACK(p, f->cpus, UINT64_MAX);
	PACK(p, f->heap_start, UINT64_MAX);
	PACK(p, f->heap_end, UINT64_MAX);
	PACK(p, f->n_heaps, UINT32_MAX);
	PACK(p, f->heap_number, UINT32_MAX);
	pack_chars(p, f->created, sizeof f->created);
	PACK(p, f->reference_bytes, sizeof(uint64_t));
	PACK(p, f->reference_shift, 63);
	PACK(p, f->field_least, sizeof(uint64_t));
	PACK(p, f->values, TYPED_MEMORY);
	PACK(p, f->redacted, REDACT_ALL);
	pack_text(p, &f->no_sites);
	pack_text(p, &f->no_values);
	pack_text(p, &f->surplus);
	pack_text(p, &f->cannot_tell);
	PACK(p, f->size_rule, SIZES_FROM_FIELDS);
	PACK(p, f->minimum_object_size, UINT32_MAX);
	PACK(p, f->object_alignment, UINT32_MAX);
	PACK(p, f->headers.bytes, UINT32_MAX);
	PACK(p, f->headers.above, UINT32_MAX);
	PACK(p, f->headers.up_to, UINT32_MAX);
	pack_flags(p, f);
}

/* --- classes ------------------------------------------------------------------------------------ */

static const struct heap_field *pack_fields(struct pack *p, struct heap *h, const struct heap_field *fields,
    uint32_t n, bool values, struct err *err)
{
	struct heap_field *to = p->reading ? room(p, h, n, sizeof *to, err) : NULL;
	for (uint32_t i = 0; i < n && !p->bad; i++) {
		struct heap_field f = p->reading ? (struct heap_field){ .name = "" } : fields[i];
		pack_needed_text(p, &f.name);
		PACK(p, f.type, VALUE_LONG);
		PACK(p, f.offset, UINT32_MAX);
		p->bad |= f.type != VALUE_OBJECT && f.type < VALUE_BOOLEAN;
		if (values)
			PACK(p, f.value, UINT64_MAX);
		if (to)
			to[i] = f;
	}
	return p->reading ? to : fields;
}

/* Types are those of the dump; without it one is a number that says no more than that there is one. */
static void pack_type(struct pack *p, const struct heap *h, uint32_t *type)
{
	bool known = p->reading && !h->dump_absent;
	pack_id(p, type, !known ? UINT32_MAX : h->dump->types ? h->dump->types->n : 0);
}

static void pack_class(struct pack *p, struct heap *h, struct heap_class *c, struct err *err)
{
	bool *const flags[] = {&c->loader_lost, &c->defined, &c->makes_loaders, &c->name_shared, &c->objects_inferred,
	    &c->size_measured, &c->size_doubtful, &c->sizes_vary};
	pack_needed_text(p, &c->name);
	PACK(p, c->name_rank, h->n_classes - 1); /* of a class: there is one */
	PACK(p, c->address, UINT64_MAX);
	pack_id(p, &c->object, h->n_objects);
	pack_id(p, &c->superclass, h->n_classes);
	pack_id(p, &c->loader, h->n_objects);
	pack_id(p, &c->component, h->n_classes);
	PACK(p, c->kind, CLASS_PRIMITIVE);
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		pack_bool(p, flags[i]);
	PACK(p, c->element_size, UINT32_MAX);
	PACK(p, c->stride, UINT32_MAX);
	PACK(p, c->array_base, UINT32_MAX);
	p->bad |= c->stride && c->array_base; /* lengths from sizes, and these from lengths */
	PACK(p, c->instance_size, UINT64_MAX);
	PACK_COUNT(p, c->n_fields, UINT32_MAX);
	PACK_COUNT(p, c->n_statics, UINT32_MAX);
	PACK(p, c->fields_size, UINT32_MAX);
	PACK(p, c->taken, UINT32_MAX);
	c->fields = pack_fields(p, h, c->fields, c->n_fields, false, err);
	c->statics = pack_fields(p, h, c->statics, c->n_statics, true, err);
	pack_type(p, h, &c->type);
	PACK(p, c->n_objects, h->n_objects);
	PACK(p, c->n_unknown, c->n_objects);
	PACK(p, c->shallow, UINT64_MAX);
}

/* Superclasses and components lead to no class again. */
static bool ends_above(const struct heap_class *classes, uint32_t n, bool component, uint32_t *seen)
{
	for (uint32_t c = 0; c < n; c++) {
		uint32_t at = c;
		for (; at != HEAP_NONE && !seen[at]; at = component ? classes[at].component : classes[at].superclass)
			seen[at] = c + 1;
		if (at != HEAP_NONE && seen[at] == c + 1)
			return false;
	}
	return true;
}

bool classes_end(const struct heap *h, struct err *err)
{
	bool end = true;
	for (int component = 0; component < 2 && end; component++) {
		uint32_t *seen = big_alloc(h->n_classes, sizeof *seen, err);
		end = seen && ends_above(h->classes, h->n_classes, component, seen);
		big_free(seen);
	}
	return end;
}

static bool classes_hold(const struct heap *h, struct err *err)
{
	uint64_t objects = 0, unknown = 0;
	bool hold = h->java_lang_class < h->n_classes || h->facts.no_class_objects || (!h->n_classes && !h->n_objects);
	for (uint32_t i = 0; i < h->n_classes && hold; i++) {
		objects += h->classes[i].n_objects;
		unknown += h->classes[i].n_unknown;
		hold = i == 0 || i >= h->n_defined_classes || h->classes[i - 1].address < h->classes[i].address;
	}
	hold &= objects == h->n_objects && unknown == h->n_unknown_size;
	return hold && classes_end(h, err);
}

static void pack_classes(struct pack *p, struct heap *h, struct err *err)
{
	PACK_COUNT(p, h->n_classes, UINT32_MAX - 2);
	PACK(p, h->n_defined_classes, h->n_classes);
	pack_id(p, &h->java_lang_class, h->n_classes);
	if (p->reading)
		h->classes = big_room(p, h->n_classes, sizeof *h->classes, err);
	for (uint32_t i = 0; i < h->n_classes && !p->bad; i++) {
		struct heap_class c = p->reading ? (struct heap_class){ .name = "" } : h->classes[i];
		pack_class(p, h, &c, err);
		if (p->reading)
			h->classes[i] = c;
	}
	if (p->reading && !p->bad)
		p->bad = !classes_hold(h, err);
	if (p->reading && !p->bad)
		heap_find_size_doubts(h);
}

static void pack_by_loader(struct pack *p, struct heap *h, struct err *err)
{
	if (p->reading && !p->bad)
		h->classes_by_loader = big_room(p, h->n_defined_classes, sizeof *h->classes_by_loader, err);
	for (uint32_t i = 0; i < h->n_defined_classes && !p->bad; i++) {
		uint32_t *at = &h->classes_by_loader[i];
		PACK(p, *at, h->n_defined_classes - 1);
		if (!p->reading || !i)
			continue;
		uint32_t a = h->classes[at[-1]].loader, b = h->classes[*at].loader;
		p->bad |= a > b || (a == b && at[-1] >= *at);
	}
}

/* --- threads and roots -------------------------------------------------------------------------- */

static void pack_thread(struct pack *p, struct heap *h, struct heap_thread *t)
{
	uint64_t priority = (uint32_t)t->priority, stack = t->stack;
	pack_text(p, &t->name);
	pack_text(p, &t->state);
	pack_text(p, &t->waits_for);
	pack_text(p, &t->creator);
	PACK(p, t->waits_since, UINT64_MAX);
	pack_bool(p, &t->system);
	pack_id(p, &t->object, h->n_objects);
	PACK(p, t->address, UINT64_MAX);
	PACK(p, t->native_id, UINT64_MAX);
	pack_number(p, &priority, UINT32_MAX);
	if (p->reading)
		t->priority = (int)(uint32_t)priority;
	pack_bool(p, &t->daemon);
	pack_bool(p, &t->ran_out);
	PACK(p, t->own_id, UINT64_MAX);
	pack_number(p, &stack, STACK_BY_ORDER);
	if (p->reading)
		t->stack = (enum stack_known)stack;
}

/* The frames of a thread, or the number of the thread before it that has the same. */
static void pack_frames(struct pack *p, struct heap *h, uint32_t i, struct idmap *traces, struct err *err)
{
	struct heap_thread *t = &h->threads[i];
	uint64_t key = (uint64_t)(uintptr_t)t->frames ^ (uint64_t)t->n_frames << 48;
	uint64_t before = p->reading || !t->n_frames ? IDMAP_NONE : idmap_get(traces, key);
	uint64_t same = before == IDMAP_NONE ? 0 : before + 1;
	pack_number(p, &same, i);
	if (p->reading && same) {
		t->frames = h->threads[same - 1].frames;
		t->n_frames = h->threads[same - 1].n_frames;
	}
	if (same)
		return;
	PACK_COUNT(p, t->n_frames, UINT32_MAX);
	if (p->reading)
		t->frames = room(p, h, t->n_frames, sizeof *t->frames, err);
	else if (t->n_frames && idmap_put(traces, key, i, &p->lost))
		return;
	for (uint32_t k = 0; k < t->n_frames && !p->bad; k++)
		pack_needed_text(p, &t->frames[k]);
}

static void pack_threads(struct pack *p, struct heap *h, struct err *err)
{
	struct idmap traces = { .slots = NULL };
	bool ordered = h->threads_by_object != NULL;
	PACK_COUNT(p, h->n_threads, UINT32_MAX - 1);
	pack_bool(p, &ordered);
	if (p->reading)
		h->threads = big_room(p, h->n_threads, sizeof *h->threads, err);
	for (uint32_t i = 0; i < h->n_threads && !p->bad; i++) {
		pack_thread(p, h, &h->threads[i]);
		pack_frames(p, h, i, &traces, err);
	}
	idmap_release(&traces);
	if (p->reading && ordered && !p->bad)
		h->threads_by_object = big_room(p, h->n_threads, sizeof *h->threads_by_object, err);
	for (uint32_t i = 0; ordered && i < h->n_threads && !p->bad; i++) {
		uint32_t *at = &h->threads_by_object[i];
		PACK(p, *at, h->n_threads - 1);
		p->bad |= p->reading && i && h->threads[at[-1]].object > h->threads[*at].object;
	}
}

static void pack_root(struct pack *p, struct heap *h, struct heap_root *r)
{
	uint64_t kind = r->kind, certainty = r->certainty;
	pack_id(p, &r->object, h->n_objects);
	pack_id(p, &r->thread, h->n_threads);
	pack_id(p, &r->frame, r->thread == HEAP_NONE || p->bad ? 0 : h->threads[r->thread].n_frames);
	pack_number(p, &kind, ROOT_KINDS - 1);
	pack_number(p, &certainty, UNKNOWN);
	r->kind = (enum root_kind)kind;
	r->certainty = (enum certainty)certainty;
	pack_bool(p, &r->vms_own);
	PACK(p, r->offset, UINT32_MAX);
	PACK(p, r->slot, UINT64_MAX);
}

static void pack_roots(struct pack *p, struct heap *h, struct err *err)
{
	uint32_t objects = 0;
	PACK_COUNT(p, h->n_roots, UINT64_MAX);
	PACK(p, h->n_inferred_roots, h->n_roots);
	PACK(p, h->n_stale, h->n_objects);
	PACK(p, h->n_dropped_roots, UINT32_MAX);
	PACK(p, h->n_outside_roots, UINT32_MAX);
	if (p->reading)
		h->roots = big_room(p, h->n_roots, sizeof *h->roots, err);
	for (size_t i = 0; i < h->n_roots && !p->bad; i++) {
		struct heap_root r = p->reading ? (struct heap_root){ .object = 0 } : h->roots[i];
		pack_root(p, h, &r);
		p->bad |= r.object == HEAP_NONE || (i && p->reading && r.object < h->roots[i - 1].object);
		objects += !i || r.object != h->roots[i - 1].object;
		if (!p->reading)
			continue;
		h->roots[i] = r;
		if (r.thread != HEAP_NONE)
			h->threads[r.thread].n_roots++;
	}
	if (p->reading)
		h->n_root_objects = objects;
}

static void pack_in_frames(struct pack *p, struct heap *h, struct err *err)
{
	PACK_COUNT(p, h->n_in_frames, h->n_objects);
	if (p->reading && h->n_in_frames)
		h->in_frames = big_room(p, h->n_in_frames, sizeof *h->in_frames, err);
	for (size_t i = 0; i < h->n_in_frames && !p->bad; i++) {
		PACK(p, h->in_frames[i], (uint64_t)h->n_objects - 1);
		p->bad |= i && h->in_frames[i] <= h->in_frames[i - 1];
	}
}

/* --- where objects were allocated ----------------------------------------------------------------- */

static void pack_site(struct pack *p, struct heap *h, struct heap_site *s, struct err *err)
{
	PACK_COUNT(p, s->n_frames, UINT16_MAX);
	if (p->reading)
		s->frames = room(p, h, (uint64_t)s->n_frames + 1, sizeof *s->frames, err);
	for (uint32_t i = 0; i < s->n_frames && !p->bad; i++)
		pack_needed_text(p, &s->frames[i]);
	PACK(p, s->object_size, UINT64_MAX);
	PACK(p, s->allocs, UINT64_MAX);
	PACK(p, s->frees, UINT64_MAX);
	PACK(p, s->n_objects, h->n_objects);
	PACK(p, s->shallow, UINT64_MAX);
}

static void pack_samples(struct pack *p, struct heap *h, struct heap_sites *s, struct err *err)
{
	uint64_t next = 0; /* the least object that the next may be of */
	PACK_COUNT(p, s->n_samples, h->n_objects);
	if (p->reading) {
		s->sample = big_room(p, s->n_samples, sizeof *s->sample, err);
		s->cap_samples = s->n_samples;
	}
	for (size_t i = 0; i < s->n_samples && !p->bad; i++) {
		uint64_t gap = s->sample[i].object - next;
		p->bad |= next >= h->n_objects;
		pack_number(p, &gap, p->bad ? 0 : h->n_objects - next - 1);
		PACK(p, s->sample[i].site, (uint64_t)s->n - 1);
		s->sample[i].object = (uint32_t)(next + gap);
		next += gap + 1;
	}
}

static void pack_sites(struct pack *p, struct heap *h, struct err *err)
{
	bool known = h->sites != NULL;
	pack_bool(p, &known);
	if (!known)
		return;
	if (p->reading)
		h->sites = xcalloc(1, sizeof *h->sites);
	struct heap_sites *s = h->sites;
	PACK_COUNT(p, s->n, UINT32_MAX);
	p->bad |= !s->n;
	if (p->reading) {
		s->site = big_room(p, s->n, sizeof *s->site, err);
		s->cap = s->n;
	}
	for (uint32_t i = 0; i < s->n && !p->bad; i++)
		pack_site(p, h, &s->site[i], err);
	PACK(p, s->n_lost, UINT64_MAX);
	if (!p->bad)
		pack_samples(p, h, s, err);
}

/* --- facts about the dump ----------------------------------------------------------------------- */

static void pack_warnings(struct pack *p, struct heap *h, struct err *err)
{
	uint64_t damage = h->damaged ? (uint64_t)-h->damage.code : 0;
	PACK(p, h->n_warnings, UINT64_MAX);
	for (size_t i = 0; i < HEAP_WARNINGS_KEPT && i < h->n_warnings; i++) {
		PACK(p, h->warnings[i].offset, UINT64_MAX);
		pack_bool(p, &h->warnings[i].has_offset);
		pack_needed_text(p, &h->warnings[i].text);
	}
	PACK_COUNT(p, h->n_stated, UINT32_MAX);
	if (p->reading) {
		h->stated = big_room(p, h->n_stated, sizeof *h->stated, err);
		h->cap_stated = h->n_stated;
	}
	for (size_t i = 0; i < h->n_stated && !p->bad; i++) {
		pack_needed_text(p, &h->stated[i].what);
		PACK(p, h->stated[i].unit, STATED_TIME);
		PACK(p, h->stated[i].count, UINT64_MAX);
	}
	pack_bool(p, &h->damaged);
	pack_bool(p, &h->doubtful);
	pack_bool(p, &h->incomplete);
	pack_number(p, &damage, -ERR_FAILED);
	if (p->reading)
		h->damage.code = (enum err_code)-(int)damage;
	pack_bool(p, &h->damage.has_offset);
	PACK(p, h->damage.offset, UINT64_MAX);
	pack_chars(p, h->damage.message, sizeof h->damage.message);
	p->bad |= h->damaged != !!damage;
}

static void pack_settings(struct pack *p, struct process_settings *s, struct err *err)
{
	PACK_COUNT(p, s->n, UINT32_MAX);
	if (p->reading) {
		s->list = big_room(p, s->n, sizeof *s->list, err);
		s->cap = s->n;
	}
	for (size_t i = 0; i < s->n && !p->bad; i++) {
		pack_text(p, &s->list[i].name);
		pack_text(p, &s->list[i].value);
		pack_text(p, &s->list[i].hard);
	}
}

static void pack_process(struct pack *p, struct heap *h, struct err *err)
{
	bool known = h->process != NULL;
	pack_bool(p, &known);
	if (!known)
		return;
	if (p->reading)
		h->process = process_new();
	struct process_facts *f = h->process;
	const struct process_fact *fact;
	for (size_t i = 0; (fact = process_fact(i)); i++)
		if (fact->number)
			pack_number(p, process_number(f, fact), UINT64_MAX);
		else
			pack_text(p, process_text(f, fact));
	pack_settings(p, &f->arguments, err);
	pack_settings(p, &f->limits, err);
	pack_settings(p, &f->variables, err);
	PACK_COUNT(p, f->n_memory, UINT32_MAX);
	if (p->reading) {
		f->memory = big_room(p, f->n_memory, sizeof *f->memory, err);
		f->cap_memory = f->n_memory;
	}
	for (size_t i = 0; i < f->n_memory && !p->bad; i++) {
		pack_needed_text(p, &f->memory[i].name);
		PACK(p, f->memory[i].deep, PROCESS_MEMORY_DEEP - 1);
		PACK(p, f->memory[i].bytes, UINT64_MAX);
		PACK(p, f->memory[i].count, UINT64_MAX);
	}
}

static void pack_parts(struct pack *p, struct heap *h, struct err *err)
{
	bool known = h->parts != NULL;
	pack_bool(p, &known);
	PACK_COUNT(p, h->n_parts, UINT32_MAX);
	if (p->reading && known)
		h->parts = big_room(p, h->n_parts, sizeof *h->parts, err);
	for (unsigned i = 0; known && i < h->n_parts && !p->bad; i++) {
		struct heap_part *part = &h->parts[i];
		PACK(p, part->part.begin, UINT64_MAX);
		PACK(p, part->part.end, UINT64_MAX);
		for (size_t k = 0; k < sizeof part->part.state / sizeof *part->part.state; k++)
			PACK(p, part->part.state[k], UINT64_MAX);
		PACK(p, part->low, UINT64_MAX);
		PACK(p, part->high, UINT64_MAX);
		p->bad |= part->part.begin > part->part.end;
	}
}

static void pack_loaders(struct pack *p, struct heap *h, struct err *err)
{
	pack_id(p, &h->boot_loader, h->n_objects);
	PACK_COUNT(p, h->n_loader_parents, UINT32_MAX);
	if (p->reading)
		h->loader_parents = big_room(p, h->n_loader_parents, sizeof *h->loader_parents, err);
	for (uint32_t i = 0; i < h->n_loader_parents && !p->bad; i++) {
		pack_id(p, &h->loader_parents[i].loader, h->n_objects);
		pack_id(p, &h->loader_parents[i].parent, h->n_objects);
		p->bad |= h->loader_parents[i].loader == HEAP_NONE;
	}
}

static void pack_totals(struct pack *p, struct heap *h)
{
	pack_bool(p, &h->sizes_assumed);
	pack_bool(p, &h->wide_words);
	PACK(p, h->n_measured, UINT32_MAX);
	pack_text(p, &h->measured_names);
	pack_text(p, &h->doubtful_names);
	pack_text(p, &h->size_model);
	pack_text(p, &h->companion);
	pack_text(p, &h->companion_refused);
	PACK(p, h->n_objects, UINT32_MAX - 2);
	PACK(p, h->n_instances, h->n_objects);
	PACK(p, h->n_object_arrays, h->n_objects);
	PACK(p, h->n_primitive_arrays, h->n_objects);
	PACK(p, h->n_class_objects, h->n_objects);
	PACK(p, h->shallow, UINT64_MAX);
	PACK(p, h->n_references, UINT64_MAX);
	PACK(p, h->n_dangling, h->n_references);
	PACK(p, h->n_unknown_size, h->n_objects);
	pack_bool(p, &h->names_shared);
	pack_bool(p, &h->fillers_told);
	pack_bool(p, &h->fillers_mixed);
	PACK(p, h->n_sized, h->n_objects);
	for (unsigned by = 0; by < TYPED_BYS; by++) {
		PACK(p, h->typed[by].objects, h->n_objects);
		PACK(p, h->typed[by].shallow, UINT64_MAX);
	}
	PACK(p, h->array_rule.reference, UINT32_MAX);
	PACK(p, h->array_rule.alignment, UINT32_MAX);
	PACK(p, h->array_rule.minimum, UINT32_MAX);
	PACK(p, h->array_rule.empty, UINT32_MAX);
}

static void pack_spaces(struct pack *p, struct heap *h, struct err *err)
{
	PACK(p, h->n_spaces, SPACES_MOST + 1);
	if (p->reading && h->n_spaces)
		h->spaces = room(p, h, h->n_spaces, sizeof *h->spaces, err);
	for (unsigned i = 0; i < h->n_spaces && !p->bad; i++)
		pack_needed_text(p, &h->spaces[i]);
}

/* --- names of addresses ------------------------------------------------------------------------- */

/* Each word once, if neighbours share it: roots are by object. */
static uint64_t next_slot(const struct heap *h, size_t *root)
{
	uint64_t before = *root ? h->roots[*root - 1].slot : 0;
	while (*root < h->n_roots && (!h->roots[*root].slot || h->roots[*root].slot == before ||
	    h->roots[*root].kind == ROOT_VM_INTERNAL))
		++*root;
	return *root < h->n_roots ? h->roots[(*root)++].slot : 0;
}

void pack_symbols(struct pack *p, struct heap *h, struct nameless *names, struct err *err)
{
	struct text name = TEXT_INIT;
	struct named_address *list = NULL;
	uint64_t n = 0;
	size_t root = 0;
	while (!p->reading && next_slot(h, &root))
		n++;
	pack_count(p, &n, UINT32_MAX);
	if (p->reading)
		list = big_room(p, n, sizeof *list, err);
	root = 0;
	for (uint64_t i = 0; i < n && !p->bad; i++) {
		uint64_t at = p->reading ? 0 : next_slot(h, &root);
		text_clear(&name);
		const char *words = !p->reading && heap_symbol(h, at, &name) ? name.s : NULL;
		words = words && names ? nameless_symbol(names, words) : words;
		pack_number(p, &at, UINT64_MAX);
		pack_text(p, &words);
		if (list)
			list[i] = (struct named_address){ at, words };
		p->bad |= progress_own_stops(i);
	}
	text_release(&name);
	if (p->reading && !p->bad)
		dump_stub_names(h->dump, list, (size_t)n);
	else
		big_free(list);
}

void pack_totals_alone(struct pack *p, struct heap *h)
{
	pack_facts(p, &h->facts);
	pack_totals(p, h);
}

void pack_heap(struct pack *p, struct heap *h, struct err *err)
{
	pack_facts(p, &h->facts);
	pack_totals(p, h);
	pack_spaces(p, h, err);
	pack_classes(p, h, err);
	if (!p->bad)
		pack_by_loader(p, h, err);
	pack_loaders(p, h, err);
	pack_threads(p, h, err);
	if (!p->bad)
		pack_roots(p, h, err);
	pack_in_frames(p, h, err);
	pack_warnings(p, h, err);
	if (p->reading && !p->bad)
		heap_find_missing_roots(h);
	pack_sites(p, h, err);
	pack_process(p, h, err);
	pack_parts(p, h, err);
	pack_pages(p, h, err);
}
