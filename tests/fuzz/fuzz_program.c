/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_program.c - fuzz target: any bytes as the executable that wrote a dump.  Holds the types to
 * their promises (dump/types.h) and asks everything that can be asked of a program.
 */
#include "dump/go/go_typing.h"
#include "dump/types.h"
#include "promise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_type(const struct types *t, uint32_t i)
{
	const struct type *of = &t->type[i];

	PROMISE(of->name && strlen(of->name) < 5 * 4096);
	PROMISE(of->element == TYPE_NONE || of->element < t->n);
	PROMISE(of->key == TYPE_NONE || of->key < t->n);
	PROMISE(of->layout == TYPE_NONE || of->layout < t->n);
	for (uint32_t k = 0; k < of->n_fields; k++) {
		const struct type_field *f = &types_fields(t, of)[k];
		PROMISE(f->name && f->type < t->n);
		PROMISE(f->offset <= of->size && t->type[f->type].size <= of->size - f->offset);
	}
	if (of->kind == TYPE_ARRAY)
		PROMISE(of->element < t->n && (!of->count ||
		    (t->type[of->element].size && of->count <= of->size / t->type[of->element].size)));
	PROMISE(types_by_name(t, of->name) <= i);
	if (of->descriptor)
		PROMISE(types_by_descriptor(t, of->descriptor) <= i);
}

static void check_slots(const struct types *t)
{
	struct type_book book;

	PROMISE(!type_book_build(&book, t, NULL));
	for (uint32_t i = 0; i < t->n; i++)
		for (uint32_t k = 0; k < book.of[i].n_slots; k++) {
			const struct slot *s = &book.slot[book.of[i].first_slot + k];
			PROMISE(s->count && s->offset < t->type[i].size);
			PROMISE(s->count == 1 || (s->count - 1) * s->stride < t->type[i].size - s->offset);
			PROMISE(s->type < t->n || s->kind == SLOT_BLIND || s->kind == SLOT_INTERFACE ||
			    s->kind == SLOT_EMPTY || s->kind == SLOT_FUNC);
		}
	type_book_release(&book);
}

static void ask(struct program *p, uint64_t address)
{
	struct text t = TEXT_INIT;
	uint32_t number = 0;
	size_t n;
	const struct program_local *l;
	struct err err = ERR_INIT;

	if (program_function_at(p, address, &number))
		PROMISE(program_function_name(p, number));
	if (program_locals(p, address, &l, &n, &err))
		return;
	for (size_t i = 0; i < n; i++) {
		uint64_t size = program_types(p)->type[l[i].type].size;
		PROMISE(l[i].first <= size && l[i].size <= size - l[i].first);
	}
	if (program_symbol(p, address, &t))
		PROMISE(t.len == strlen(t.s));
	text_release(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = ERR_INIT;
	struct program *p;
	char path[64];
	int fd = memfd_create("program", 0);

	if (fd < 0 || (size && write(fd, data, size) != (ssize_t)size))
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (!program_open(&p, path, &err)) {
		const struct types *t = program_types(p);
		struct program_match match = {.arch = "amd64", .word = 8,
		    .data = {0x7000500000, 0x100}, .bss = {0x7000501000, 0x200}};
		size_t n;
		for (uint32_t i = 0; i < t->n; i++)
			check_type(t, i);
		check_slots(t);
		for (uint64_t pc = 0x400ff8; pc < 0x401090; pc += 8)
			ask(p, pc);
		const struct program_variable *v = program_variables(p, &n);
		for (size_t i = 0; i < n; i++)
			ask(p, v[i].address + i % 32);
		if (program_check(p, &match, &err) < 0 && !err.message[0])
			abort(); /* refused without a word */
		ask(p, 0x7000501008);
		program_close(p);
	}
	close(fd);
	return 0;
}
