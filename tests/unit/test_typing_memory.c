/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_typing_memory.c - what memory itself has a say in: the words that are pointers, values that share an object, and
 * the data of the program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "go_world.h"
#include "memory/big.h"

/* The list of pointer words behind the contents; n at most 3. */
static void pointers_at(struct world *w, uint32_t id, int n, const uint8_t *offset)
{
	for (int i = 0; i < n; i++) {
		w->bytes[id][w->size[id] + 2 * i] = 1;
		w->bytes[id][w->size[id] + 2 * i + 1] = offset[i];
	}
}

/* A type is refused where the object's pointer words are not its own: what lies there is followed all
 * the same.  And a variable that holds a map is no map. */
static void pointer_words(void **state)
{
	(void)state;
	struct world *w = world_new();
	uint32_t in = world_structure(w, "main.In", 24); /* sl0 = w.X[:2] of a main.W {X [2]In; Y *In} */
	world_field(w, "n", 0, 0);
	world_field(w, "text", 8, 2);
	uint32_t pair = world_structure(w, "main.Pair", 16);
	uint32_t map = world_simple(w, "map[int]int", TYPE_MAP, 8, 0);
	w->types.type[map].key = 0;
	w->types.type[map].layout = pair;
	uint32_t a = world_object(w, 64), b = world_object(w, 64), c = world_object(w, 16), d = world_object(w, 32);
	uint32_t e = world_object(w, 32), cell = world_object(w, 8), text = world_object(w, 16);
	pointers_at(w, a, 3, (uint8_t[]){8, 32, 48});
	pointers_at(w, b, 2, (uint8_t[]){8, 32});
	pointers_at(w, c, 1, (uint8_t[]){8});
	pointers_at(w, d, 1, (uint8_t[]){8});
	pointers_at(w, e, 1, (uint8_t[]){0});
	pointers_at(w, cell, 1, (uint8_t[]){0});
	world_begin(w);
	w->t.field_lists = true;
	world_set(w, a, 8, w->at[text]);
	world_set(w, a, 16, 16);
	typing_claim_array(&w->t, w->at[a], in, 2, TYPED_BY_GLOBAL); /* and a pointer behind them */
	typing_claim_array(&w->t, w->at[b], in, 2, TYPED_BY_GLOBAL);
	typing_claim(&w->t, w->at[c], 0, TYPED_BY_GLOBAL);     /* an int before a pointer */
	typing_claim(&w->t, w->at[d], in, TYPED_BY_GLOBAL);    /* fits */
	typing_claim(&w->t, w->at[e], in, TYPED_BY_GLOBAL);    /* its pointer is elsewhere */
	typing_claim(&w->t, w->at[cell], map, TYPED_BY_GLOBAL);
	world_finish(w);
	assert_string_equal(w->class_name[a], "");
	world_is(w, text, "[]uint8", 16, TYPED_BY_POINTER);
	world_is(w, b, "[]main.In", 2, TYPED_BY_GLOBAL);
	assert_string_equal(w->class_name[c], "");
	world_is(w, d, "main.In", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	assert_string_equal(w->class_name[e], "");
	world_is(w, cell, "map[int]int pointer", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	world_free(w);
}

/* Values of less than 16 bytes share objects: none of them names one that holds another, whichever is
 * met first; one that fills it does. */
static void tiny_blocks(void **state)
{
	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		struct world *w = world_new();
		uint32_t boolean = world_simple(w, "bool", TYPE_BOOL, 1, TYPE_NONE);
		uint32_t pair = world_structure(w, "main.Pair", 16);
		world_field(w, "a", 0, 0);
		world_field(w, "b", 8, 0);
		uint32_t mixed = world_object(w, 16), whole = world_object(w, 16), one = world_object(w, 16);
		uint32_t inside = world_object(w, 16), texts = world_object(w, 16), askew = world_object(w, 16);
		world_begin(w);
		w->t.field_lists = true;
		for (int i = 0; i < 2; i++) {
			if (i == turn) {
				typing_claim(&w->t, w->at[mixed], 0, TYPED_BY_GLOBAL);
				typing_claim(&w->t, w->at[whole], pair, TYPED_BY_GLOBAL);
				typing_claim_array(&w->t, w->at[texts], 1, 8, TYPED_BY_GLOBAL);
			} else {
				typing_claim_array(&w->t, w->at[mixed] + 8, boolean, 3, TYPED_BY_GLOBAL);
				typing_claim(&w->t, w->at[whole] + 8, 0, TYPED_BY_GLOBAL);
				typing_claim_array(&w->t, w->at[texts] + 8, 1, 8, TYPED_BY_GLOBAL);
			}
		}
		typing_claim(&w->t, w->at[one], 0, TYPED_BY_GLOBAL);
		typing_claim(&w->t, w->at[inside] + 8, 0, TYPED_BY_GLOBAL);
		typing_claim(&w->t, w->at[askew] + 4, 0, TYPED_BY_GLOBAL);
		world_finish(w);
		world_is(w, mixed, "tiny block", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
		world_is(w, whole, "main.Pair", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
		world_is(w, one, "int", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
		world_is(w, inside, "[]int", 2, TYPED_BY_GLOBAL);
		world_is(w, askew, "tiny block", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
		world_is(w, texts, "[]uint8", 16, TYPED_BY_GLOBAL);
		world_free(w);
	}
}

static void called(const struct program *p, uint64_t address, const char *want)
{
	struct text name = TEXT_INIT;

	assert_int_equal(program_symbol(p, address, &name), want != NULL);
	if (want)
		assert_string_equal(name.s, want);
	text_release(&name);
}

/* var first = &Node{...}; var all = []Node{{...}, {...}}; var count = &n: what they point to lies in
 * the program's data, has no name there, and leads to objects. */
static void statics(void **state)
{
	(void)state;
	enum { DATA = 0x1000, FIRST = 0x40, ALL = 0x80, CELL = 0xF0 };
	struct world *w = world_new();
	uint32_t node = world_structure(w, "main.Node", 24), to_node = world_pointer(w, "*main.Node", node);
	world_field(w, "n", 0, 0);
	world_field(w, "kept", 8, to_node);
	world_field(w, "next", 16, to_node);
	uint32_t slice = world_simple(w, "[]main.Node", TYPE_SLICE, 24, node);
	uint32_t to_pointer = world_pointer(w, "**main.Node", to_node);
	uint32_t a = world_object(w, 24), b = world_object(w, 24), c = world_object(w, 24), lost = world_object(w, 24);
	uint64_t data[32] = {0};
	data[0] = DATA + FIRST;                       /* first */
	data[1] = DATA + ALL, data[2] = data[3] = 2;  /* all */
	data[4] = DATA + CELL;                        /* cell */
	data[FIRST / W + 1] = w->at[a];
	data[FIRST / W + 2] = DATA + FIRST;           /* itself: must end */
	data[ALL / W + 3 + 1] = w->at[b];             /* all[1].kept */
	data[CELL / W] = w->at[c];
	data[5] = DATA + 31 * W;                      /* beyond: does not fit into the segment */
	struct program_variable variable[] = {{"main.first", DATA, to_node}, {"main.all", DATA + 8, slice},
	    {"main.cell", DATA + 32, to_pointer}, {"main.beyond", DATA + 40, to_node}};
	world_begin(w);
	struct program p = {.variable = variable, .n_variables = 4, .types = w->types};
	w->t.program = &p;
	typing_add_segment(&w->t, DATA, (const uint8_t *)data, sizeof data);
	for (int i = 0; i < 4; i++) {
		struct memory m = {.bytes = (const uint8_t *)data, .size = sizeof data, .address = DATA,
		    .variable = &variable[i]};
		typing_walk(&w->t, &m, variable[i].address - DATA, variable[i].type, 1, TYPED_BY_GLOBAL);
	}
	called(&p, DATA + FIRST + 8, NULL);
	world_finish(w);
	assert_int_equal(typing_end_statics(&w->t, true), 0);
	world_is(w, a, "main.Node", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	world_is(w, b, "main.Node", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	world_is(w, c, "main.Node", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	assert_string_equal(w->class_name[lost], "");
	assert_int_equal(w->t.conflicts, 1);
	called(&p, DATA, "main.first");
	called(&p, DATA + FIRST + 8, "main.first.kept");
	called(&p, DATA + ALL + 24 + 8, "main.all[1].kept");
	called(&p, DATA + CELL, "*main.cell");
	called(&p, DATA + 31 * W, NULL);
	arena_release(&p.statics->names);
	big_free(p.statics);
	w->t.program = NULL;
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(statics),
	    cmocka_unit_test(pointer_words),
	    cmocka_unit_test(tiny_blocks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
