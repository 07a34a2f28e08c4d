/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_links.c - what a class refers to, as the collector has it (GC_ClassIterator and
 * GC_ClassIteratorClassSlots of runtime/gc_structs): the fields of its class object, its statics, its loader, its
 * superclasses, interfaces and array class, and what was resolved for its code: classes, Strings, method types and
 * handles.  A PHD has the same but for the array class and for what was resolved that is no class.
 */
#include "dump/j9core/j9core_read.h"

#include "memory/big.h"

enum { POOL_ENTRY = 2 }; /* words of an entry of a constant pool: J9RAMConstantPoolItem */

struct links {
	const struct j9core *image;
	struct j9_links *to;
	struct err *err;
};

static int add(struct links *l, uint64_t target)
{
	return target ? BIG_ADD(l->to->target, l->to->n, l->to->cap, l->err, target) : 0;
}

/* The class object of what should be a class. */
static int add_class(struct links *l, uint64_t address)
{
	const struct j9_class *c = address ? j9core_class(l->image, address) : NULL;
	return c ? add(l, j9_get(l->image, c->address, AT_CLASS_OBJECT)) : 0;
}

static int add_superclasses(struct links *l, const struct j9_class *c)
{
	uint64_t supers = j9_get(l->image, c->address, AT_CLASS_SUPERS), n = c->flags & l->image->depth_mask;
	int code = 0;

	n = n < l->image->n_classes ? n : 0; /* it has not more than there are classes: damaged */
	for (uint64_t i = n; i-- > 0 && code == 0;)
		code = add_class(l, j9_word(l->image, supers + i * l->image->word));
	return code;
}

/* Those that a class has besides its superclass: the list of a superclass is the end of its own. */
static int add_interfaces(struct links *l, const struct j9_class *c)
{
	const struct j9core *j = l->image;
	uint64_t depth = c->flags & j->depth_mask, inherited = 0, at = j9_get(j, c->address, AT_CLASS_INTERFACES);
	int code = 0;

	if (depth)
		inherited = j9_get(j, j9_word(l->image, j9_get(j, c->address, AT_CLASS_SUPERS) + (depth - 1) * j->word),
		    AT_CLASS_INTERFACES);
	for (uint32_t i = 0; at && at != inherited && i < j->n_classes && code == 0; i++) {
		code = add_class(l, j9_get(j, at, AT_INTERFACE_CLASS));
		at = j9_get(j, at, AT_INTERFACE_NEXT);
	}
	return code;
}

/* --- constant pools ---------------------------------------------------------------------------------------- */

void j9_read_pool_kinds(struct j9core *j)
{
	static const char pool[] = "J9ConstantPool";

	j->kinds = (struct j9_pool_kinds){
		.bits = j9_constant(j, pool, "J9_CP_BITS_PER_DESCRIPTION", 4),
		.in_word = j9_constant(j, pool, "J9_CP_DESCRIPTIONS_PER_U32", 8),
		.class = j9_constant(j, pool, "J9CPTYPE_CLASS", 1),
		.string = j9_constant(j, pool, "J9CPTYPE_STRING", 2),
		.annotation = j9_constant(j, pool, "J9CPTYPE_ANNOTATION_UTF8", UINT64_MAX),
		.method_type = j9_constant(j, pool, "J9CPTYPE_METHOD_TYPE", UINT64_MAX),
		.method_handle = j9_constant(j, pool, "J9CPTYPE_METHODHANDLE", UINT64_MAX),
		.dynamic = j9_constant(j, pool, "J9CPTYPE_CONSTANT_DYNAMIC", UINT64_MAX),
	};
	if (!j->kinds.bits || j->kinds.bits > 32 || !j->kinds.in_word || j->kinds.in_word > 32 / j->kinds.bits)
		j->kinds.in_word = 0; /* none is read */
}

static int add_entry(struct links *l, uint64_t kinds, uint64_t i, uint64_t entry)
{
	const struct j9_pool_kinds *k = &l->image->kinds;
	uint64_t word, kind;

	if (!core_load(l->image->core, kinds + i / k->in_word * 4, 4, &word))
		return 0;
	kind = word >> i % k->in_word * k->bits & ((UINT64_C(1) << k->bits) - 1);
	if (kind == k->class)
		return add_class(l, j9_word(l->image, entry));
	if (kind != k->string && kind != k->annotation && kind != k->method_type && kind != k->method_handle &&
	    kind != k->dynamic)
		return 0;
	int code = add(l, j9_word(l->image, entry));
	return code || kind != k->dynamic ? code : add(l, j9_word(l->image, entry + l->image->word)); /* an exception */
}

static int add_pool(struct links *l, const struct j9_class *c)
{
	const struct j9core *j = l->image;
	uint64_t n = c->array ? 0 : j9_get(j, c->rom, AT_ROM_POOL_N), pool = j9_get(j, c->address, AT_CLASS_POOL);
	uint64_t kinds = j9_relative(j, c->rom, AT_ROM_POOL_KINDS);
	int code = 0;

	if (!kinds || n > UINT16_MAX || !j->kinds.in_word)
		return 0;
	for (uint64_t i = 0; i < n && code == 0; i++)
		code = add_entry(l, kinds, i, pool + i * POOL_ENTRY * j->word);
	return code;
}

/* What was resolved for invokedynamic and its kin: lists of objects. */
static int add_resolved(struct links *l, const struct j9_class *c)
{
	static const struct {
		enum j9_member list, count;
	} lists[] = {
		{AT_CLASS_CALL_SITES, AT_ROM_N_CALL_SITES},
		{AT_CLASS_INVOKE_CACHE, AT_ROM_N_INVOKE_CACHE},
		{AT_CLASS_METHOD_TYPES, AT_ROM_N_METHOD_TYPES},
		{AT_CLASS_VAR_HANDLE_TYPES, AT_ROM_N_VAR_HANDLE_TYPES},
	};
	const struct j9core *j = l->image;
	int code = 0;

	for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
		uint64_t at = j9_get(j, c->address, lists[k].list), n = c->array ? 0 : j9_get(j, c->rom, lists[k].count);
		for (uint64_t i = 0; at && i < n && n <= UINT16_MAX && code == 0; i++)
			code = add(l, j9_word(l->image, at + i * j->word));
	}
	return code;
}

/* --- all of them ------------------------------------------------------------------------------------------- */

static int add_statics(struct links *l, const struct j9_class *c)
{
	const struct j9core *j = l->image;
	uint64_t at = j9_get(j, c->address, AT_CLASS_STATICS), target;
	uint64_t n = c->array ? 0 : j9_get(j, c->rom, AT_ROM_N_STATICS);
	int code = 0;

	for (uint64_t i = 0; i < n && code == 0 && core_load(j->core, at + i * j->word, j->word, &target); i++)
		code = add(l, target);
	return code;
}

static int add_fields(struct links *l, uint64_t object)
{
	struct j9_object o;
	struct j9_slots s;
	uint64_t offset;
	int code = 0;

	if (!j9core_class_object(l->image, object, &o))
		return 0;
	for (j9core_slots(&s, l->image, &o); code == 0 && j9core_next_slot(&s, &offset);)
		code = add(l, j9core_reference(l->image, object + offset));
	return code;
}

int j9core_links(const struct j9core *j, const struct j9_class *c, struct j9_links *to, struct err *err)
{
	struct links l = {j, to, err};

	to->n = 0;
	int code = add_statics(&l, c); /* what has names comes first, in the order of j9_records_of */
	if (code == 0)
		code = add_fields(&l, j9_get(j, c->address, AT_CLASS_OBJECT));
	if (code == 0)
		code = add_superclasses(&l, c);
	if (code == 0)
		code = add(&l, j9_get(j, j9_get(j, c->address, AT_CLASS_LOADER), AT_LOADER_OBJECT));
	if (code == 0)
		code = add_interfaces(&l, c);
	if (code == 0)
		code = add_pool(&l, c);
	if (code == 0)
		code = add_resolved(&l, c);
	return code ? code : add_class(&l, j9_get(j, c->address, AT_CLASS_ARRAY));
}

void j9_links_release(struct j9_links *l)
{
	big_free(l->target);
	*l = (struct j9_links){.target = NULL};
}
