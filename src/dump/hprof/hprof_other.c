/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof_other.c - tell a sink what an HPROF heap holds besides objects: classes, roots and threads.
 *
 * The references of a class are its signers, its protection domain, its constants and its static fields,
 * in order.  HotSpot's collector follows the first three as well (they are fields of the mirror, or of the
 * constant pool), so they hold what they lead to; they become static fields with names that no source
 * code can have, as the VM's own dumper names <resolved_references>.
 */
#include "dump/hprof/hprof_reading.h"

#include "memory/big.h"

#include <inttypes.h>
#include <string.h>

/* --- class records ------------------------------------------------------------------------------ */

static uint64_t number(const uint8_t *p, unsigned type, unsigned ids)
{
	switch (type) {
	case VALUE_BOOLEAN: return *p;
	case VALUE_CHAR: return load_be16(p);
	case VALUE_BYTE: return (uint64_t)(int8_t)*p;
	case VALUE_SHORT: return (uint64_t)(int16_t)load_be16(p);
	case VALUE_FLOAT: return load_be32(p);
	case VALUE_INT: return (uint64_t)(int32_t)load_be32(p);
	case VALUE_DOUBLE: case VALUE_LONG: return load_be64(p);
	default: return hprof_id(p, ids);
	}
}

/* A field of the class; a name of size 0 cannot be found. */
static int add_named(struct reading *r, size_t *n, const void *name, size_t size, unsigned type,
    uint64_t value)
{
	struct field_record *f = BIG_PUSH(r->fields, *n, r->cap_fields, r->err);

	if (!f)
		return ERR_NOMEM;
	f->name = name;
	f->name_size = size;
	f->type = type <= VALUE_OBJECT ? VALUE_OBJECT : (enum value_type)type;
	f->value = value;
	return 0;
}

static int add_field(struct reading *r, size_t *n, uint64_t name_id, unsigned type, uint64_t value)
{
	static const char unresolved[] = "<unresolved>";
	size_t size;
	const uint8_t *name = hprof_string(r->h, name_id, &size);

	/* one that other programs want to be there */
	if (r->h->dump.facts.fields_invented && name && (!size || *name != '?'))
		return add_named(r, n, "?", 1, type, value);
	return name ? add_named(r, n, name, size, type, value)
	            : add_named(r, n, unresolved, sizeof unresolved - 1, type, value);
}

static int add_reference(struct reading *r, size_t *n, uint64_t value)
{
	uint64_t *to = BIG_PUSH(r->class_references, *n, r->cap_class_references, r->err);

	if (!to)
		return ERR_NOMEM;
	*to = value;
	return 0;
}

/* What a class holds besides its static fields. */
static int add_unnamed(struct reading *r, size_t *n, size_t *n_references, const char *name,
    uint64_t value)
{
	int code = value ? add_reference(r, n_references, value) : 0;

	return code == 0 && value && r->survey ? add_named(r, n, name, strlen(name), VALUE_OBJECT, value)
	                                       : code;
}

/* Static fields, then those of instances, which take *size bytes, into r->fields: *n_statics and *n, the sum of both.
 * Only the references are of use in the second reading. */
static int read_fields(struct reading *r, struct cursor *c, size_t *n_statics, size_t *n,
    size_t *n_references, uint32_t *size)
{
	unsigned ids = r->h->id_size;
	int code = 0;

	for (unsigned k = cursor_u16(c); k-- > 0 && code == 0;) {
		cursor_take(c, 2);
		unsigned type = cursor_u8(c);
		const uint8_t *value = cursor_take(c, hprof_type_size(type, ids));
		if (type <= VALUE_OBJECT)
			code = add_unnamed(r, n, n_references, "<constant>", hprof_id(value, ids));
	}
	for (unsigned k = cursor_u16(c); k-- > 0 && code == 0;) {
		uint64_t name = hprof_id(cursor_take(c, ids), ids);
		unsigned type = cursor_u8(c);
		uint64_t value = number(cursor_take(c, hprof_type_size(type, ids)), type, ids);
		if (type <= VALUE_OBJECT && value)
			code = add_reference(r, n_references, value);
		if (code == 0 && r->survey)
			code = add_field(r, n, name, type, value);
	}
	*n_statics = *n;
	for (unsigned k = code == 0 && r->survey ? cursor_u16(c) : 0; k-- > 0 && code == 0;) {
		uint64_t name = hprof_id(cursor_take(c, ids), ids);
		code = add_field(r, n, name, cursor_u8(c), 0);
		if (code == 0) {
			r->fields[*n - 1].offset = *size;
			*size += hprof_type_size(r->fields[*n - 1].type, ids);
		}
	}
	return code;
}

/* The fields of a native image's class object, as static fields of its class. */
static int add_hub(struct reading *r, size_t *n, size_t *n_references, uint64_t address)
{
	uint32_t n_bytes;
	unsigned ids = r->h->id_size;
	const uint8_t *bytes = hprof_hub(r->h, address, &n_bytes);
	int code = 0;

	for (uint32_t i = 0; bytes && i < r->h->n_hub_fields && code == 0; i++) {
		const struct hprof_hub_field *f = &r->h->hub_fields[i];
		unsigned width = hprof_type_size(f->type, ids);
		if (!width || f->offset > n_bytes || width > n_bytes - f->offset)
			break;
		uint64_t value = number(bytes + f->offset, f->type, ids);
		if (f->type <= VALUE_OBJECT && value)
			code = add_reference(r, n_references, value);
		if (code == 0 && r->survey)
			code = add_named(r, n, f->name, f->name_size, f->type, value);
	}
	return code;
}

static int class_record(struct reading *r, const uint8_t *p, uint64_t size)
{
	unsigned ids = r->h->id_size;
	struct cursor c = cursor_make(p + 1, p + size);
	struct class_record record = { .object_size = SIZE_UNKNOWN };
	size_t n_statics = 0, n = 0, n_references = 0;

	uint64_t class_id = hprof_id(cursor_take(&c, ids), ids);
	record.address = hprof_class_object(r->h, class_id);
	cursor_take(&c, 4);
	record.superclass = hprof_class_object(r->h, hprof_id(cursor_take(&c, ids), ids));
	if (!r->h->dump.facts.references_superclass_recorded)
		record.superclass = 0;
	record.loader = hprof_id(cursor_take(&c, ids), ids);
	uint64_t signers = hprof_id(cursor_take(&c, ids), ids);
	uint64_t domain = hprof_id(cursor_take(&c, ids), ids);
	cursor_take(&c, 2 * ids); /* reserved */
	record.instance_size = cursor_u32(&c);
	if (!record.instance_size && r->h->dump.facts.size_rule == SIZES_RECORDED)
		record.instance_size = SIZE_UNKNOWN;
	int code = add_unnamed(r, &n, &n_references, "<signers>", signers);
	if (code == 0)
		code = add_unnamed(r, &n, &n_references, "<protection_domain>", domain);
	if (code == 0)
		code = add_hub(r, &n, &n_references, record.address);
	if (code == 0)
		code = read_fields(r, &c, &n_statics, &n, &n_references, &record.fields_size);
	if (code < 0)
		return code;
	record.n_statics = n_statics;
	record.statics = r->fields;
	record.fields = r->fields ? r->fields + record.n_statics : NULL;
	record.n_fields = n - record.n_statics;
	record.n_references = n_references;
	record.references = r->class_references;
	if (!record.address)
		return hprof_nameless(r, p);
	if (!r->sink->wants_references) {
		struct hprof_name name;
		code = hprof_class_name((struct hprof *)r->h, class_id, &name, r->err);
		if (code < 0)
			return code;
		record.name = name.bytes;
		record.name_size = name.n;
		record.name_stays = true;
	}
	return r->sink->class_record(r->sink, &record);
}

/* --- roots and threads -------------------------------------------------------------------------- */

/* By sub-tag: is the record a root, of which kind, and does it say, behind the object's identifier,
 * the serial of a thread and the number of a frame? */
static const struct root_form {
	bool is_root;
	enum root_kind kind;
	bool thread, frame;
} root_forms[UINT8_MAX + 1] = {
	[SUB_UNKNOWN] = { true, ROOT_UNKNOWN, false, false },
	[SUB_INTERNED] = { true, ROOT_INTERNED_STRING, false, false },
	[SUB_REFERENCE_CLEANUP] = { true, ROOT_REFERENCE_CLEANUP, false, false },
	[SUB_JNI_GLOBAL] = { true, ROOT_JNI_GLOBAL, false, false },
	[SUB_JNI_LOCAL] = { true, ROOT_JNI_LOCAL, true, true },
	[SUB_JAVA_FRAME] = { true, ROOT_JAVA_LOCAL, true, true },
	[SUB_NATIVE_STACK] = { true, ROOT_NATIVE_STACK, true, false },
	[SUB_STICKY_CLASS] = { true, ROOT_SYSTEM_CLASS, false, false },
	[SUB_THREAD_BLOCK] = { true, ROOT_THREAD_BLOCK, true, false },
	[SUB_THREAD_OBJECT] = { true, ROOT_THREAD, true, false },
	[SUB_MONITOR] = { true, ROOT_BUSY_MONITOR, false, false },
	[SUB_JNI_MONITOR] = { true, ROOT_BUSY_MONITOR, true, true },
	[SUB_FINALIZING] = { true, ROOT_FINALIZABLE, false, false },
	[SUB_DEBUGGER] = { true, ROOT_DEBUGGER, false, false },
	[SUB_VM_INTERNAL] = { true, ROOT_VM_INTERNAL, false, false },
};

static int add_root(struct reading *r, const uint8_t *p)
{
	unsigned ids = r->h->id_size;
	const struct root_form *form = &root_forms[*p];
	struct root_record root = {
		.address = hprof_class_object(r->h, hprof_id(p + 1, ids)),
		.kind = form->kind,
		.thread_serial = form->thread ? load_be32(p + 1 + ids) : 0,
		.frame = form->frame ? load_be32(p + 1 + ids + 4) : UINT32_MAX,
		.slot = *p == SUB_JNI_GLOBAL ? hprof_id(p + 1 + ids, ids) : 0,
		.inferred = form->kind == ROOT_JAVA_LOCAL && r->h->dump.facts.locals_inferred,
	};

	return root.address && !hprof_root_replaced(r->h, &root) ? r->sink->root(r->sink, &root) : 0;
}

/* The text of a frame, made once.  NULL: memory is refused. */
static const char *frame_text(struct reading *r, uint64_t id)
{
	uint64_t known = idmap_get(&r->texts, id);

	if (known != IDMAP_NONE)
		return (const char *)(uintptr_t)known;
	text_clear(&r->name);
	hprof_add_frame(r->h, &r->name, id);
	const char *text = arena_try_strndup(&r->stacks, r->name.s, r->name.len, r->err);
	if (text && idmap_put(&r->texts, id, (uintptr_t)text, r->err) < 0)
		return NULL;
	return text;
}

/* The stack of this serial, made once; *out is NULL where there is none.  The length of a TRACE record
 * and its number of frames were compared. */
static int find_stack(struct reading *r, uint32_t serial, const struct hprof_stack **out)
{
	uint64_t known = idmap_get(&r->traces, serial), at = idmap_get(&r->h->traces, serial);
	unsigned ids = r->h->id_size;

	*out = known == IDMAP_NONE ? NULL : (const struct hprof_stack *)(uintptr_t)known;
	if (*out || at == IDMAP_NONE)
		return 0;
	const uint8_t *p = r->bytes + at + RECORD_HEAD;
	size_t n = load_be32(p + 8);
	struct hprof_stack *s = arena_try(&r->stacks, 1, sizeof *s + n * sizeof *s->frames, r->err);
	for (size_t i = 0; s && i < n; i++) {
		s->frames[i] = frame_text(r, hprof_id(p + 12 + i * ids, ids));
		if (!s->frames[i])
			return ERR_NOMEM;
	}
	if (!s)
		return ERR_NOMEM;
	s->n = n;
	*out = s;
	return idmap_put(&r->traces, serial, (uintptr_t)s, r->err);
}

/* The stack's own number of its thread; 0: it has none. */
static uint32_t thread_of_stack(const struct reading *r, uint64_t trace)
{
	uint64_t at = idmap_get(&r->h->traces, trace);
	return at == IDMAP_NONE ? 0 : load_be32(r->bytes + at + RECORD_HEAD + 4);
}

/*
 * The serviceability agent (jhsdb jmap, jmap -F) gives all threads the stack 1, which is empty, and numbers in TRACE
 * records only threads that it does not hide (HeapHprofBinWriter.java, dumpStackTraces).
 */
static int tell_stacks(struct reading *r)
{
	const struct idmap *traces = &r->h->traces;
	int code = 0;

	r->stacks_told = true;
	for (uint64_t i = 0; r->sink->stack && i < traces->n_slots && code == 0 && !progress_own_stops(i); i++) {
		const struct hprof_stack *stack;
		uint64_t serial = traces->slots[i].key;
		uint32_t number = traces->slots[i].value_plus_1 ? thread_of_stack(r, serial) : 0;
		if (!number || (code = find_stack(r, (uint32_t)serial, &stack)) < 0)
			continue;
		struct thread_record record = {
			.serial = number, .frames = stack->frames, .n_frames = stack->n, .trace = serial + 1};
		code = r->sink->stack(r->sink, &record);
	}
	return code;
}

static int add_thread(struct reading *r, const uint8_t *p)
{
	unsigned ids = r->h->id_size;
	uint32_t serial = load_be32(p + 1 + ids), trace = load_be32(p + 1 + ids + 4);
	struct text name = TEXT_INIT, state = TEXT_INIT, waits = TEXT_INIT;
	const struct hprof_stack *stack;
	uint64_t start = idmap_get(&r->h->starts, serial);
	size_t name_size;
	bool cut;

	int code = find_stack(r, trace, &stack);
	if (code < 0)
		return code;
	if (start != IDMAP_NONE) {
		const uint8_t *body = r->bytes + start + RECORD_HEAD;
		const uint8_t *s = hprof_shown_string(r->h, hprof_id(body + 8 + ids, ids), &name_size, &cut);
		if (s) {
			text_add_n(&name, "", 0);
			text_add_modified_utf8(&name, s, name_size);
			text_add(&name, cut ? "\xE2\x80\xA6" : "");
		}
	}
	struct thread_record thread = {
		.serial = serial,
		.address = hprof_id(p + 1, ids),
		.name = name.s,
		.frames = stack ? stack->frames : NULL,
		.n_frames = stack ? stack->n : 0,
		.trace = (uint64_t)trace + 1,
		.stack_unknown = (!stack || !stack->n) && thread_of_stack(r, trace) != serial,
	};
	hprof_thread_extra(r->h, &thread, &state, &waits);
	code = r->sink->thread(r->sink, &thread);
	if (code == 0 && thread.stack_unknown && !r->stacks_told)
		code = tell_stacks(r);
	text_release(&name);
	text_release(&state);
	text_release(&waits);
	return code;
}

/* Android's heaps have names, and letters in case the dump lacks the name. */
static const char *usual_heap_name(uint32_t letter, struct text *t)
{
	switch (letter) {
	case 0: return NULL;
	case 'A': return "app";
	case 'I': return "image";
	case 'Z': return "zygote";
	}
	text_addf(t, "heap 0x%" PRIx32, letter);
	return t->s;
}

/* The heap of the objects that follow in the segment. */
static int begin_heap(struct reading *r, const uint8_t *p)
{
	uint32_t letter = load_be32(p + 1);
	size_t n = 0;
	bool cut = false;

	if (!r->sink->heap)
		return 0;
	const uint8_t *s = hprof_shown_string(r->h, hprof_id(p + 5, r->h->id_size), &n, &cut);
	text_clear(&r->name);
	if (!s || !n)
		return r->sink->heap(r->sink, usual_heap_name(letter, &r->name));
	text_add_modified_utf8(&r->name, s, n);
	text_add(&r->name, cut ? "\xE2\x80\xA6" : "");
	return r->sink->heap(r->sink, r->name.s);
}

/* What Android found unreachable is no root. */
int hprof_other(struct reading *r, const uint8_t *p, uint64_t size)
{
	int code = 0;

	if (*p == SUB_CLASS)
		return class_record(r, p, size);
	if (!r->survey)
		return 0;
	if (*p == SUB_HEAP_INFO)
		return begin_heap(r, p);
	if (*p == SUB_THREAD_OBJECT)
		code = add_thread(r, p);
	return code == 0 && root_forms[*p].is_root ? add_root(r, p) : code;
}
