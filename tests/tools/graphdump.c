/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * graphdump.c - everything that a heap holds as lines of text, for tests to compare with the truth.
 *
 *     graphdump [-t THREADS] [-j JAVACORE|-n] DUMP
 *
 *     object ADDRESS KIND CLASS CLASS_ADDRESS SHALLOW LENGTH OUT IN
 *     class  ADDRESS NAME LOADER SUPERCLASS OBJECTS SHALLOW
 *     root   ADDRESS KIND
 *     count  NAME NUMBER
 *
 * Tab-separated; addresses in lower-case hex; OUT and IN are addresses joined by commas in the order
 * of the graph; what is unknown is "-".  Exit status 3 when the dump cannot be opened, 4 when it is
 * damaged.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algorithms/parallel.h"
#include "heap/classes.h"
#include "heap/roots.h"

static void print_address(bool known, uint64_t address)
{
	if (known)
		printf("\t0x%" PRIx64, address);
	else
		printf("\t-");
}

static void print_number(bool known, uint64_t number)
{
	if (known)
		printf("\t%" PRIu64, number);
	else
		printf("\t-");
}

static void print_targets(const struct heap *h, const struct adjacency *a, uint32_t id)
{
	putchar('\t');
	for (uint64_t i = adjacency_start(a, id); i < adjacency_start(a, id + 1); i++) {
		if (i > adjacency_start(a, id))
			putchar(',');
		printf("0x%" PRIx64, heap_address(h, a->target[i]));
	}
}

static const char *kind_of(const struct heap *h, uint32_t id)
{
	if (heap_class_mirrored(h, id) != HEAP_NONE)
		return "class";
	switch (heap_class_of(h, id)->kind) {
	case CLASS_OBJECT_ARRAY:
		return "object_array";
	case CLASS_PRIMITIVE_ARRAY:
		return "primitive_array";
	default:
		return "instance";
	}
}

static void print_heap(const struct heap *h)
{
	for (uint32_t id = 0; id < h->n_objects; id++) {
		const struct heap_class *c = heap_class_of(h, id);
		printf("object\t0x%" PRIx64 "\t%s\t%s", heap_address(h, id), kind_of(h, id), c->name);
		print_address(c->address != 0, c->address);
		print_number(heap_size_known(h, id), heap_shallow(h, id));
		print_number(heap_length(h, id) != LENGTH_UNKNOWN, heap_length(h, id));
		print_targets(h, &h->out, id);
		print_targets(h, &h->in, id);
		putchar('\n');
	}
	for (uint32_t i = 0; i < h->n_classes; i++) {
		const struct heap_class *c = &h->classes[i];
		bool loader = c->loader != HEAP_NONE, super = c->superclass != HEAP_NONE;
		printf("class");
		print_address(c->address != 0, c->address);
		printf("\t%s", c->name);
		print_address(loader, loader ? heap_address(h, c->loader) : 0);
		print_address(super, super ? h->classes[c->superclass].address : 0);
		print_number(true, c->n_objects);
		print_number(true, c->shallow);
		putchar('\n');
	}
	for (size_t i = 0; i < h->n_roots; i++)
		printf("root\t0x%" PRIx64 "\t%s\n", heap_address(h, h->roots[i].object),
		    root_kind_name(h->roots[i].kind));
	printf("count\tobjects\t%" PRIu32 "\ncount\tinstances\t%" PRIu32 "\ncount\tobject_arrays\t%" PRIu32
	       "\ncount\tprimitive_arrays\t%" PRIu32 "\ncount\tclasses\t%" PRIu32 "\ncount\treferences\t%" PRIu64
	       "\ncount\tdangling\t%" PRIu64 "\ncount\tshallow\t%" PRIu64 "\ncount\troot_objects\t%" PRIu32
	       "\ncount\tthreads\t%" PRIu32 "\ncount\twarnings\t%" PRIu64 "\n",
	    h->n_objects, h->n_instances, h->n_object_arrays, h->n_primitive_arrays, h->n_class_objects,
	    h->n_references, h->n_dangling, h->shallow, h->n_root_objects, h->n_threads, h->n_warnings);
}

int main(int argc, char **argv)
{
	struct heap_options options = { .path = NULL };
	int option;
	while ((option = getopt(argc, argv, "t:j:nm")) != -1) {
		if (option == 't')
			parallel_set_threads((unsigned)strtoul(optarg, NULL, 10));
		else if (option == 'j')
			options.dump.javacore = optarg;
		else if (option == 'n')
			options.dump.no_companion = true;
		else if (option == 'm')
			options.mat_sizes = true;
		else
			return 2;
	}
	if (optind + 1 != argc) {
		fprintf(stderr, "usage: graphdump [-t THREADS] [-j JAVACORE|-n] [-m] DUMP\n");
		return 2;
	}
	options.path = argv[optind];
	struct heap *heap;
	struct err err = ERR_INIT;
	if (heap_open(&heap, &options, NULL, &err) != 0) {
		fprintf(stderr, "graphdump: %s\n", err.message);
		return 3;
	}
	static char buffer[1 << 18];
	setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
	print_heap(heap);
	int status = heap->damaged ? 4 : 0;
	if (heap->damaged)
		fprintf(stderr, "graphdump: %s\n", heap->damage.message);
	for (uint64_t i = 0; i < heap->n_warnings && i < HEAP_WARNINGS_KEPT; i++)
		fprintf(stderr, "graphdump: warning: %s\n", heap->warnings[i].text);
	heap_close(heap);
	return status;
}
