/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mkdump_model.c - the logical heap, its dump and its truth file.
 */
#include "mkdump_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- building ---------------------------------------------------------------------------------- */

static uint32_t add_object(struct model *m, enum model_kind kind, uint32_t class, uint64_t length)
{
	if ((m->n_objects & (m->n_objects - 1)) == 0)
		m->objects = more_memory(m->objects, m->n_objects ? 2 * (size_t)m->n_objects : 1,
		    sizeof *m->objects);
	m->objects[m->n_objects] = (struct model_object){ .kind = kind, .class = class,
		.length = length, .hash = -1 };
	return m->n_objects++;
}

/* The VM's name as Java writes it: java/lang/String, [I, [Ljava/lang/String;. */
static char *to_java(const char *name)
{
	size_t depth = strspn(name, "["), n = strlen(name);
	char *java = get_memory(n + 2 * depth + 16, 1);
	const char *core = name + depth;
	size_t core_n = n - depth;
	if (depth && *core == 'L') {
		core++;
		core_n -= 2;
	} else if (depth) {
		for (unsigned i = 0; i < ELEMENTS; i++) {
			if (element_letter[i] == *core)
				core = element_name[i];
		}
		core_n = strlen(core);
	}
	memcpy(java, core, core_n);
	for (char *p = java; *p; p++) {
		if (*p == '/')
			*p = '.';
	}
	for (size_t i = 0; i < depth; i++)
		memcpy(java + core_n + 2 * i, "[]", 2);
	return java;
}

uint32_t model_class(struct model *m, const char *name, const char *java_name, uint32_t superclass,
    uint32_t loader, uint32_t instance_size)
{
	uint32_t i = m->n_classes;
	m->classes = more_memory(m->classes, i + 1, sizeof *m->classes);
	m->classes[i] = (struct model_class){ .name = strdup(name),
		.java_name = java_name ? strdup(java_name) : to_java(name), .superclass = superclass,
		.loader = loader, .instance_size = instance_size, .component = NOTHING, .element = -1 };
	m->n_classes++;
	uint32_t object = add_object(m, M_CLASS, i, 0);
	m->classes[i].object = object;
	return i;
}

enum { GARBAGE_SIZE = 47390468 }; /* what the size field of array classes holds in real dumps */

uint32_t model_array_class(struct model *m, uint32_t component)
{
	for (uint32_t i = 0; i < m->n_classes; i++) {
		if (m->classes[i].component == component)
			return i;
	}
	const struct model_class *c = &m->classes[component];
	size_t n = strlen(c->name) + 4;
	char *name = get_memory(n, 1), *java = get_memory(strlen(c->java_name) + 3, 1);
	snprintf(name, n, c->name[0] == '[' ? "[%s" : "[L%s;", c->name);
	snprintf(java, strlen(c->java_name) + 3, "%s[]", c->java_name);
	uint32_t class = model_class(m, name, java, m->object_class, c->loader, GARBAGE_SIZE);
	m->classes[class].component = component;
	free(name);
	free(java);
	return class;
}

uint32_t model_primitive_class(struct model *m, enum element element)
{
	for (uint32_t i = 0; i < m->n_classes; i++) {
		if (m->classes[i].element == (int)element)
			return i;
	}
	char name[3] = { '[', element_letter[element] };
	uint32_t class = model_class(m, name, NULL, m->object_class,
	    m->classes[m->object_class].loader, GARBAGE_SIZE);
	m->classes[class].element = (int)element;
	return class;
}

uint32_t model_instance(struct model *m, uint32_t class)
{
	return add_object(m, M_INSTANCE, class, 0);
}

uint32_t model_array(struct model *m, uint32_t component, uint64_t length)
{
	return add_object(m, M_ARRAY, model_array_class(m, component), length);
}

uint32_t model_primitives(struct model *m, enum element element, uint64_t length)
{
	return add_object(m, M_PRIMITIVES, model_primitive_class(m, element), length);
}

void model_refer(struct model *m, uint32_t from, uint32_t to)
{
	struct model_object *o = &m->objects[from];
	if (o->n_references == o->capacity) {
		o->capacity = o->capacity ? 2 * o->capacity : 4;
		o->references = more_memory(o->references, o->capacity, sizeof *o->references);
	}
	o->references[o->n_references++] = to;
}

uint32_t model_outside(struct model *m, uint64_t address)
{
	m->outside = more_memory(m->outside, m->n_outside + 1, sizeof *m->outside);
	m->outside[m->n_outside] = address;
	return OUTSIDE(m->n_outside++);
}

void model_sizes(struct model *m)
{
	for (uint32_t i = 0; i < m->n_objects; i++) {
		struct model_object *o = &m->objects[i];
		const struct model_class *c = &m->classes[o->kind == M_CLASS ? m->class_class : o->class];
		uint64_t bytes = c->instance_size;
		if (o->kind == M_ARRAY)
			bytes = m->array_header + o->length * m->reference_size;
		else if (o->kind == M_PRIMITIVES)
			bytes = m->array_header + o->length * element_size[c->element];
		o->size = round_up(bytes, 8);
		if (o->size < m->minimum_size)
			o->size = m->minimum_size;
	}
}

void model_release(struct model *m)
{
	for (uint32_t i = 0; i < m->n_objects; i++)
		free(m->objects[i].references);
	for (uint32_t i = 0; i < m->n_classes; i++) {
		free((char *)m->classes[i].name);
		free((char *)m->classes[i].java_name);
	}
	free(m->objects);
	free(m->classes);
	free(m->outside);
}

/* --- references as a dump lists them ----------------------------------------------------------- */

struct list {
	uint64_t *address;
	uint32_t n;
	uint64_t nulls;
};

static uint64_t target_address(const struct model *m, uint32_t to)
{
	return to & OUTSIDE(0) ? m->outside[to & ~OUTSIDE(0)] : m->objects[to].address;
}

static void list_add(const struct model *m, struct list *l, uint32_t to)
{
	if (to == NOTHING)
		l->nulls++;
	else
		l->address[l->n++] = target_address(m, to);
}

/*
 * The references of an object in file order.  A class record of PHD: its loader, the class object's
 * own fields (the loader once more), statics, the constant pool's classes, all superclasses; of a
 * classic dump only the fields and statics.  Array elements stand last to first.
 */
static void list_references(const struct model *m, const struct style *style, uint32_t i,
    struct list *l)
{
	const struct model_object *o = &m->objects[i];
	l->n = 0;
	l->nulls = 0;
	if (o->kind != M_CLASS) {
		for (uint32_t r = 0; r < o->n_references; r++)
			list_add(m, l, o->references[o->kind == M_ARRAY ? o->n_references - 1 - r : r]);
		return;
	}
	const struct model_class *c = &m->classes[o->class];
	if (c->loader != NOTHING && !style->text)
		list_add(m, l, c->loader);
	list_add(m, l, c->loader);
	for (uint32_t r = 0; r < o->n_references; r++)
		list_add(m, l, o->references[r]);
	if (style->text)
		return;
	for (uint32_t p = 0; p < c->n_pool; p++)
		list_add(m, l, m->classes[c->pool[p]].object);
	for (uint32_t s = c->superclass; s != NOTHING; s = m->classes[s].superclass)
		list_add(m, l, m->classes[s].object);
}

static struct list new_list(const struct model *m)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < m->n_objects; i++) {
		if (m->objects[i].n_references > most)
			most = m->objects[i].n_references;
	}
	return (struct list){ .address = get_memory((size_t)most + m->n_classes + 16, sizeof(uint64_t)) };
}

/* --- writing ----------------------------------------------------------------------------------- */

static uint64_t class_address(const struct model *m, uint32_t class)
{
	return class == NOTHING ? 0 : m->objects[m->classes[class].object].address;
}

/* Put one address in front of a list that has room for it. */
static void list_prepend(struct list *l, uint64_t address)
{
	memmove(l->address + 1, l->address, l->n * sizeof *l->address);
	l->address[0] = address;
	l->n++;
}

static void write_phd_record(const struct model *m, struct phd *w, const struct style *style,
    const struct model_object *o, struct list *l)
{
	const struct model_class *c = &m->classes[o->class];
	uint64_t class = class_address(m, o->class);
	switch (o->kind) {
	case M_INSTANCE:
		if (style->class_first)
			list_prepend(l, class);
		phd_object(w, o->address, class, o->hash, l->address, l->n);
		break;
	case M_ARRAY: {
		uint64_t word = class_address(m, c->component);
		uint32_t length = (uint32_t)o->length;
		if (style->leaf_array) {
			list_prepend(l, class);
			length++;
			uint32_t leaf = c->component;
			while (m->classes[leaf].component != NOTHING)
				leaf = m->classes[leaf].component;
			word = class_address(m, leaf);
		} else if (style->array_class) {
			word = class;
		}
		phd_array(w, o->address, word, o->hash, l->address, l->n, length, o->size);
		break;
	}
	case M_PRIMITIVES:
		phd_primitives(w, o->address, (enum element)c->element, o->hash, o->length, o->size);
		break;
	case M_CLASS:
		phd_class(w, o->address, c->instance_size, o->hash, class_address(m, c->superclass), c->name,
		    l->address, l->n);
		break;
	}
}

static void write_classic_record(const struct model *m, struct classic *w,
    const struct model_object *o, const struct list *l)
{
	static const enum classic_kind kind[] = { [M_INSTANCE] = CLASSIC_OBJECT,
		[M_ARRAY] = CLASSIC_ARRAY, [M_PRIMITIVES] = CLASSIC_PRIMITIVES, [M_CLASS] = CLASSIC_CLASS };
	classic_record(w, kind[o->kind], o->address, o->size, m->classes[o->class].name, l->address, l->n,
	    l->nulls);
}

/* What an old header states: objects, and references that are not null. */
static struct phd_options phd_totals(const struct model *m, const struct style *style, struct list *l)
{
	struct phd_options options = style->phd;
	options.n_objects = m->n_objects;
	for (uint32_t i = 0; i < m->n_objects; i++) {
		list_references(m, style, i, l);
		options.n_references += l->n;
	}
	return options;
}

void model_write(const struct model *m, const char *path, const struct style *style,
    const uint32_t *order)
{
	struct out out;
	struct phd phd;
	struct classic classic;
	struct list l = new_list(m);
	out_open(&out, path);
	if (style->text) {
		classic_begin(&classic, &out, &style->classic);
	} else {
		struct phd_options options = phd_totals(m, style, &l);
		phd_begin(&phd, &out, &options);
	}
	for (uint32_t i = 0; i < m->n_objects; i++) {
		list_references(m, style, order[i], &l);
		if (style->text)
			write_classic_record(m, &classic, &m->objects[order[i]], &l);
		else
			write_phd_record(m, &phd, style, &m->objects[order[i]], &l);
	}
	if (style->text)
		classic_end(&classic);
	else
		phd_end(&phd);
	out_close(&out);
	free(l.address);
}

/* --- the truth --------------------------------------------------------------------------------- */

static void put_hex(struct out *out, uint64_t value)
{
	out_format(out, "0x%llx", (unsigned long long)value);
}

/* A number, or "-" where the dump cannot tell it. */
static void put_known(struct out *out, bool known, uint64_t value)
{
	if (known)
		out_format(out, "\t%llu", (unsigned long long)value);
	else
		out_text(out, "\t-");
}

static void put_object(const struct model *m, struct out *out, const struct style *style,
    const struct model_object *o, const struct list *l)
{
	static const char *const kind[] = { "instance", "object_array", "primitive_array", "class" };
	uint32_t class = o->kind == M_CLASS ? m->class_class : o->class;
	bool array = o->kind == M_ARRAY || o->kind == M_PRIMITIVES;
	out_text(out, "object\t");
	put_hex(out, o->address);
	out_format(out, "\t%s\t%s\t", kind[o->kind], m->classes[class].java_name);
	put_hex(out, class_address(m, class));
	put_known(out, !style->sizes_lost || !array, o->size);
	bool lost = style->lengths_lost && o->kind == M_ARRAY;
	put_known(out, array && !style->text, lost ? l->n : o->length);
	out_byte(out, '\t');
	for (uint32_t r = 0; r < l->n; r++) {
		if (r)
			out_byte(out, ',');
		put_hex(out, l->address[o->kind == M_ARRAY ? l->n - 1 - r : r]); /* the heap has elements in order */
	}
	out_byte(out, '\n');
}

static void put_classes(const struct model *m, struct out *out, const struct style *style)
{
	uint64_t *count = get_memory(m->n_classes, sizeof *count);
	uint64_t *shallow = get_memory(m->n_classes, sizeof *shallow);
	for (uint32_t i = 0; i < m->n_objects; i++) {
		const struct model_object *o = &m->objects[i];
		uint32_t class = o->kind == M_CLASS ? m->class_class : o->class;
		count[class]++;
		shallow[class] += o->size;
	}
	for (uint32_t i = 0; i < m->n_classes; i++) {
		const struct model_class *c = &m->classes[i];
		bool array = c->component != NOTHING || c->element >= 0;
		out_text(out, "class\t");
		put_hex(out, class_address(m, i));
		out_format(out, "\t%s\t", c->java_name);
		if (c->loader != NOTHING && !style->text)
			put_hex(out, m->objects[c->loader].address);
		else
			out_byte(out, '-');
		out_byte(out, '\t');
		if (c->superclass != NOTHING && !style->text)
			put_hex(out, class_address(m, c->superclass));
		else
			out_byte(out, '-');
		put_known(out, true, count[i]);
		put_known(out, !style->sizes_lost || !array, shallow[i]);
		out_byte(out, '\n');
	}
	free(count);
	free(shallow);
}

void model_write_truth(const struct model *m, const char *path, const struct style *style)
{
	uint64_t kinds[4] = { 0 }, references = 0, dangling = 0, shallow = 0;
	struct list l = new_list(m);
	struct out out;
	out_open(&out, path);
	out_text(&out, "# object: address kind class class_address shallow length references\n"
	               "# class: address name loader superclass objects shallow\n"
	               "# count: name number; what the dump cannot tell is -\n");
	for (uint32_t i = 0; i < m->n_objects; i++) {
		const struct model_object *o = &m->objects[i];
		list_references(m, style, i, &l);
		put_object(m, &out, style, o, &l);
		kinds[o->kind]++;
		references += l.n;
		shallow += o->size;
		for (uint32_t r = 0; r < l.n; r++) {
			for (uint32_t x = 0; x < m->n_outside; x++)
				dangling += l.address[r] == m->outside[x];
		}
	}
	put_classes(m, &out, style);
	out_format(&out, "count\tobjects\t%u\ncount\tinstances\t%llu\ncount\tobject_arrays\t%llu\n"
	    "count\tprimitive_arrays\t%llu\ncount\tclasses\t%llu\ncount\treferences\t%llu\n"
	    "count\tdangling\t%llu\n", m->n_objects, (unsigned long long)kinds[M_INSTANCE],
	    (unsigned long long)kinds[M_ARRAY], (unsigned long long)kinds[M_PRIMITIVES],
	    (unsigned long long)kinds[M_CLASS], (unsigned long long)references,
	    (unsigned long long)dangling);
	if (!style->sizes_lost)
		out_format(&out, "count\tshallow\t%llu\n", (unsigned long long)shallow);
	out_close(&out);
	free(l.address);
}
