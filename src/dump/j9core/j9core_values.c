/* SPDX-License-Identifier: GPL-3.0-or-later */
/* j9core_values.c - see j9core_values.h. */
#include "dump/j9core/j9core_values.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "dump/core/core.h"
#include "memory/big.h"

#include <inttypes.h>
#include <string.h>

static enum value_type type_of(char letter)
{
	static const struct {
		char letter;
		enum value_type type;
	} types[] = {{'Z', VALUE_BOOLEAN}, {'C', VALUE_CHAR}, {'F', VALUE_FLOAT}, {'D', VALUE_DOUBLE}, {'B', VALUE_BYTE},
	    {'S', VALUE_SHORT}, {'I', VALUE_INT}, {'J', VALUE_LONG}};

	for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
		if (types[i].letter == letter)
			return types[i].type;
	return VALUE_OBJECT;
}

/* --- fields -------------------------------------------------------------------------------------------------- */

static int by_offset(const void *a, const void *b)
{
	const struct j9_field *x = a, *y = b;
	return (x->at > y->at) - (x->at < y->at);
}

static int put_in_brackets(struct j9_records *r, struct j9_field *f, struct err *err)
{
	char *name = arena_try(&r->names, f->n_name + 2, 1, err);

	if (!name)
		return ERR_NOMEM;
	name[0] = '<';
	memcpy(name + 1, f->name, f->n_name);
	name[1 + f->n_name] = '>';
	f->name = name;
	f->n_name += 2;
	return 0;
}

int j9_records_open(struct j9_records *r, const struct j9core *j, const struct core *core, struct err *err)
{
	const struct j9_class *hub = j9core_class_of_hubs(j);
	struct j9_fields *f = &r->of_hubs;
	uint32_t n = 0;

	r->image = j;
	r->core = core;
	int code = hub ? j9core_fields(j, hub, f, err) : 0;
	for (uint32_t i = 0; i < f->n && f->instance_known && code == 0; i++) {
		if (f->field[i].is_static || f->field[i].type != 'L')
			continue;
		code = put_in_brackets(r, &f->field[i], err);
		f->field[n++] = f->field[i];
	}
	f->n = n;
	sort_array(f->field, n, sizeof *f->field, by_offset);
	return code;
}

void j9_records_close(struct j9_records *r)
{
	big_free(r->declared.field);
	big_free(r->of_hubs.field);
	big_free(r->field);
	arena_release(&r->names);
}

static uint64_t static_value(const struct j9_records *r, const struct j9_field *f, enum value_type type)
{
	uint64_t value = 0;
	unsigned bytes = type == VALUE_OBJECT ? j9core_word(r->image) : strchr("JD", f->type) ? 8 :
	    strchr("IF", f->type) ? 4 : strchr("CS", f->type) ? 2 : 1;

	core_load(r->core, f->at, bytes, &value);
	return type == VALUE_BYTE ? (uint64_t)(int8_t)value : type == VALUE_SHORT ? (uint64_t)(int16_t)value :
	    type == VALUE_INT ? (uint64_t)(int32_t)value : value;
}

static int add_fields(struct j9_records *r, bool statics, struct err *err)
{
	for (uint32_t i = 0; i < r->declared.n; i++) {
		const struct j9_field *f = &r->declared.field[i];
		if (f->is_static != statics)
			continue;
		struct field_record *to = BIG_PUSH(r->field, r->n, r->cap, err);
		if (!to)
			return ERR_NOMEM;
		*to = (struct field_record){.name = (const uint8_t *)f->name, .name_size = f->n_name, .type = type_of(f->type)};
		if (statics)
			to->value = static_value(r, f, to->type);
		else
			to->offset = (uint32_t)f->at;
	}
	return 0;
}

/* The references of a class object, as static fields of its class. */
static int add_hub(struct j9_records *r, uint64_t object, struct err *err)
{
	for (uint32_t i = 0; i < r->of_hubs.n; i++) {
		const struct j9_field *f = &r->of_hubs.field[i];
		uint64_t value = j9core_reference(r->image, object + j9core_reference_bytes(r->image) + f->at);
		if (value && BIG_ADD(r->field, r->n, r->cap, err, (struct field_record){
		    .name = (const uint8_t *)f->name, .name_size = f->n_name, .type = VALUE_OBJECT, .value = value}))
			return ERR_NOMEM;
	}
	return 0;
}

int j9_records_of(struct j9_records *r, const struct j9_class *c, struct class_record *record, bool *certain,
    struct err *err)
{
	int code = j9core_fields(r->image, c, &r->declared, err);

	r->n = 0;
	*certain = j9core_is_array(c) || r->declared.instance_known;
	if (code == 0 && r->declared.statics_known)
		code = add_fields(r, true, err);
	if (code == 0)
		code = add_hub(r, record->address, err);
	record->n_statics = r->n;
	if (code == 0 && r->declared.instance_known)
		code = add_fields(r, false, err);
	record->n_fields = r->n - record->n_statics;
	record->statics = r->field;
	record->fields = r->field ? r->field + record->n_statics : NULL;
	return code;
}

/* --- values of objects ---------------------------------------------------------------------------------------- */

/* The object at an address or the first behind it, so many objects on; false: there is none. */
static bool find_object(const struct j9core *j, uint64_t address, uint32_t steps, struct j9_object *o, uint64_t *next)
{
	uint32_t n, at;
	const struct j9_region *region = j9core_regions(j, &n);
	struct j9_walk w;

	BISECT(at, n, region[at].high <= address);
	for (; at < n; at++) {
		j9core_walk(&w, j, &region[at], region[at].low > address ? region[at].low : address);
		while (j9core_next(&w, o)) {
			*next = w.at;
			if (!steps--)
				return true;
		}
	}
	return false;
}

/* Elements as far as they are in one piece from the first on. */
static uint64_t elements(const struct j9core *j, const struct j9_object *o, uint64_t *bytes)
{
	uint64_t n, first = j9core_elements(j, o, 0, bytes), at = first;

	for (n = *bytes; at && n; *bytes += n) {
		at = j9core_elements(j, o, *bytes, &n);
		if (at != first + *bytes)
			break;
	}
	return first;
}

int j9_locate(const struct j9core *j, const struct core *core, uint64_t offset, uint32_t steps,
    struct object_view *out, struct err *err)
{
	struct j9_object o;
	uint64_t next, bytes, at;
	size_t n;

	if (!find_object(j, offset, steps, &o, &next))
		return err_at(err, ERR_FORMAT, offset, "no object from 0x%" PRIx64 " on", offset);
	const char *name = j9core_class_name(j, o.class, &n);
	*out = (struct object_view){.address = o.address, .next = next};
	if (j9core_is_array(o.class)) {
		out->kind = j9core_holds_references(o.class) ? OBJECT_ARRAY : PRIMITIVE_ARRAY;
		out->length = o.length;
		out->element = name && n > 1 ? type_of(name[1]) : VALUE_OBJECT;
		at = elements(j, &o, &bytes);
	} else {
		at = o.address + j9core_reference_bytes(j);
		bytes = j9core_fields_size(o.class);
	}
	out->bytes = core_bytes(core, at, &out->n_bytes);
	out->n_bytes = !out->bytes ? 0 : out->n_bytes < bytes ? out->n_bytes : bytes;
	return 0;
}
