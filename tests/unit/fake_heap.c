/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fake_heap.c - see fake_heap.h. */
#include "fake_heap.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t addresses[FAKE_OBJECTS] = {
    0x1000, 0x1040, 0x1050, 0x1080, 0x1090, 0x10b0, 0x1100, 0x1140};

static struct heap_class plain(const char *name, uint64_t size, uint32_t objects)
{
	return (struct heap_class){
	    .name = name,
	    .object = HEAP_NONE,
	    .superclass = HEAP_NONE,
	    .loader = HEAP_NONE,
	    .component = HEAP_NONE,
	    .type = HEAP_NONE,
	    .instance_size = size,
	    .n_objects = objects,
	    .shallow = size == SIZE_UNKNOWN ? 0 : size * objects,
	};
}

static void fill_classes(struct fake_heap *f)
{
	f->classes[C_STRING] = plain("java.lang.String", 16, 2);
	f->classes[C_CLASS] = plain("java.lang.Class", 64, 2);
	f->classes[C_CHARS] = plain("char[]", SIZE_UNKNOWN, 1);
	f->classes[C_SESSION_1] = plain("com.acme.Session", 24, 1);
	f->classes[C_SESSION_2] = plain("com.acme.Session", 24, 1);
	f->classes[C_LOST] = plain("com.acme.Lost", SIZE_UNKNOWN, 1);
	f->classes[C_LOST].n_unknown = 1;
	f->classes[C_ENTRY] = plain("java.util.Map$Entry", 24, 0);
	f->classes[C_TEXT_1] = plain("com.acme.Text", 8, 0);
	f->classes[C_TEXT_2] = plain("org.other.Text", 8, 0);
	f->classes[C_STRING].address = 0x1000;
	f->classes[C_STRING].object = 0;
	f->classes[C_CLASS].address = 0x1100;
	f->classes[C_CLASS].object = 6;
	f->classes[C_STRING].defined = f->classes[C_CLASS].defined = true;
	f->classes[C_CHARS].kind = CLASS_PRIMITIVE_ARRAY;
	f->classes[C_CHARS].element_size = 2;
	f->classes[C_CHARS].shallow = 32;
	f->classes[C_SESSION_2].loader = 4;
	f->classes_by_loader[0] = C_STRING;
	f->classes_by_loader[1] = C_CLASS;
}

/* There is memory for eight objects. */
static void must(int code)
{
	if (code < 0)
		abort();
}

static void fill_index(struct fake_heap *f)
{
	struct index_writer w = {.x = &f->index};
	index_init(&f->index, 3);
	for (unsigned i = 0; i < FAKE_OBJECTS; i++)
		must(index_note(&f->index, index_page_number(&f->index, addresses[i]), 1, NULL));
	must(index_layout(&f->index, NULL));
	for (unsigned i = 0; i < FAKE_OBJECTS; i++)
		index_insert(&w, addresses[i]);
	index_flush(&w);
	must(index_seal(&f->index, NULL));
}

static void fill_references(struct fake_heap *f)
{
	static const uint32_t out[] = {2, 2, 1, 1, 1, 3}, in[] = {3, 4, 4, 1, 3, 7};
	static const uint16_t out_offset[] = {0, 0, 1, 1, 3, 5, 5, 5, 6};
	static const uint16_t in_offset[] = {0, 0, 3, 5, 6, 6, 6, 6, 6};
	memcpy(f->out_target, out, sizeof out);
	memcpy(f->in_target, in, sizeof in);
	memcpy(f->out_offset, out_offset, sizeof out_offset);
	memcpy(f->in_offset, in_offset, sizeof in_offset);
	f->heap.out = (struct adjacency){f->out_target, 6, f->out_offset, f->base, NULL};
	f->heap.in = (struct adjacency){f->in_target, 6, f->in_offset, f->base, NULL};
}

static void fill_roots(struct fake_heap *f)
{
	f->frames[0] = "java.lang.Object.wait(Native Method)";
	f->frames[1] = "com.acme.Main.main(Main.java:7)";
	f->threads[0] = (struct heap_thread){.name = "main", .state = "waiting", .object = 4,
	    .priority = 5, .frames = f->frames, .n_frames = 2, .n_roots = 1};
	f->threads[1] = (struct heap_thread){.name = "worker 1", .object = HEAP_NONE, .priority = -1};
	f->roots[0] = (struct heap_root){4, 0, 1, ROOT_THREAD, EXACT, false, 0, 0};
	f->roots[1] = (struct heap_root){5, HEAP_NONE, HEAP_NONE, ROOT_UNKNOWN, INFERRED, false, 0, 0};
	f->roots[2] = (struct heap_root){7, HEAP_NONE, HEAP_NONE, ROOT_UNKNOWN, INFERRED, false, 0, 0};
}

void fake_heap_fill(struct fake_heap *f)
{
	static const uint16_t class_of[] = {C_CLASS, C_STRING, C_CHARS, C_STRING, C_SESSION_1,
	    C_SESSION_2, C_CLASS, C_LOST};
	*f = (struct fake_heap){.own_size = {32}, .own_length = {4}};
	fill_classes(f);
	fill_index(f);
	fill_references(f);
	fill_roots(f);
	memcpy(f->class_low, class_of, sizeof class_of);
	struct heap *h = &f->heap;
	h->facts.format = "phd";
	h->facts.title = h->facts.label = "PHD";
	h->companion = "javacore.txt";
	h->facts.word_bits = 32;
	h->facts.references_superclass_recorded = true;
	h->n_objects = FAKE_OBJECTS;
	h->n_instances = 5;
	h->n_primitive_arrays = 1;
	h->n_class_objects = 2;
	h->shallow = 64 + 16 + 32 + 16 + 24 + 24 + 64;
	h->n_references = 7;
	h->n_dangling = 1;
	h->n_unknown_size = 1;
	h->classes = f->classes;
	h->n_classes = FAKE_CLASSES;
	must(heap_order_names(h, NULL));
	h->n_defined_classes = 2;
	h->classes_by_loader = f->classes_by_loader;
	h->java_lang_class = C_CLASS;
	h->class_low = f->class_low;
	h->index = &f->index;
	must(bits_init(&h->sized, FAKE_OBJECTS, NULL));
	bits_set(&h->sized, 2);
	must(bits_seal(&h->sized, NULL));
	h->n_sized = 1;
	h->own_size = f->own_size;
	h->own_length = f->own_length;
	h->boot_loader = HEAP_NONE;
	h->roots = f->roots;
	h->n_roots = 3;
	h->n_inferred_roots = 1;
	h->n_root_objects = 3;
	h->threads = f->threads;
	h->n_threads = 2;
}

void fake_heap_release(struct fake_heap *f)
{
	index_release(&f->index);
	bits_release(&f->heap.sized);
}
