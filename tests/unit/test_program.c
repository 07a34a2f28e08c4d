/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_program.c - the executable that wrote a dump, read from those that tests/tools/mkprogram.py
 * makes: what they hold stands there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump/program/program.h"
#include "dump/types.h"

enum { DATA = 0x500000, BSS = 0x501000, TEXT = 0x401000, TYPES = 0x480000 };

static struct program *open_made(const char *name)
{
	const char *source = getenv("CAIRN_SOURCE");
	char path[4096];
	struct err err = ERR_INIT;
	struct program *p = NULL;

	if (!program_support())
		skip();
	snprintf(path, sizeof path, "%s/tests/fuzz/corpus/program/%s.elf", source ? source : ".", name);
	if (program_open(&p, path, &err))
		fail_msg("%s", err.message);
	return p;
}

static uint32_t named(const struct program *p, const char *name)
{
	uint32_t i = types_by_name(program_types(p), name);

	if (i == TYPE_NONE)
		fail_msg("no type %s", name);
	return i;
}

static const struct type *type_of(const struct program *p, const char *name)
{
	return &program_types(p)->type[named(p, name)];
}

/* All that the makers of one word size have in common. */
static void check_common(struct program *p, unsigned w)
{
	const struct types *t = program_types(p);
	const struct type *node = type_of(p, "main.Node");

	assert_true(program_has_types(p));
	assert_true(program_has_symbols(p));
	assert_null(program_lacks(p));
	assert_int_equal(node->kind, TYPE_STRUCT);
	assert_int_equal(node->size, 5 * w);
	assert_int_equal(node->n_fields, 3);
	assert_int_equal(node->descriptor, TYPES + 0x100);
	assert_int_equal(types_by_descriptor(t, TYPES + 0x100), named(p, "main.Node"));
	assert_int_equal(types_by_descriptor(t, TYPES + 0x101), TYPE_NONE);
	const struct type_field *f = types_fields(t, node);
	assert_string_equal(f[1].name, "Next");
	assert_int_equal(f[1].offset, 2 * w);
	/* through another name for it */
	assert_int_equal(t->type[f[1].type].element, named(p, "main.Node"));
	assert_int_equal(t->type[f[2].type].kind, TYPE_EMPTY_INTERFACE);
	assert_int_equal(t->type[f[2].type].size, 2 * w);

	const struct type *map = type_of(p, "map[string]string");
	assert_int_equal(map->kind, TYPE_MAP);
	assert_int_equal(map->size, w);
	assert_string_equal(t->type[map->layout].name, "hash<string,string>");
	assert_int_equal(map->key, named(p, "string"));
	assert_int_equal(type_of(p, "[]main.Node")->element, named(p, "main.Node"));
	assert_int_equal(type_of(p, "[3]main.Node")->count, 3);
	assert_int_equal(type_of(p, "func()")->kind, TYPE_FUNC);
	assert_true(types_is_direct(t, named(p, "func()")));
	assert_true(types_is_direct(t, named(p, "*main.Node")));
	assert_false(types_is_direct(t, named(p, "main.Node")));
	assert_int_equal(types_by_name(t, "main.Nod"), TYPE_NONE);
}

static void check_symbol(const struct program *p, uint64_t address, const char *want)
{
	struct text t = TEXT_INIT;

	assert_int_equal(program_symbol(p, address, &t), want != NULL);
	if (want)
		assert_string_equal(t.s, want);
	text_release(&t);
}

static const struct program_local *locals_at(struct program *p, uint64_t pc, size_t *n)
{
	const struct program_local *found;
	struct err err = ERR_INIT;

	assert_int_equal(program_locals(p, pc, &found, n, &err), 0);
	return found;
}

static void check_locals(struct program *p, unsigned w)
{
	size_t n;
	const struct program_local *l = locals_at(p, TEXT + 0x18, &n);

	assert_int_equal(n, 4);
	assert_string_equal(l[0].name, "n");
	assert_int_equal(l[0].offset, 0);
	assert_true(l[0].parameter);
	assert_int_equal(l[1].offset, -24);
	assert_int_equal(l[2].offset, -40); /* the half that is not in a register */
	assert_int_equal(l[2].first, 0);
	assert_int_equal(l[2].size, w);
	assert_string_equal(l[3].name, "inner");
	assert_int_equal(l[3].size, 3 * w);
	locals_at(p, TEXT + 0x20, &n); /* behind the block */
	assert_int_equal(n, 3);
	locals_at(p, TEXT + 0x60, &n); /* no DWARF */
	assert_int_equal(n, 0);
	locals_at(p, 1, &n);
	assert_int_equal(n, 0);
}

static void plain(void **state)
{
	(void)state;
	struct program *p = open_made("plain");
	uint32_t number = 99;
	size_t n;

	check_common(p, 8);
	check_locals(p, 8);
	const struct program_variable *v = program_variables(p, &n);
	assert_int_equal(n, 4);
	assert_string_equal(v[0].name, "main.root");
	assert_int_equal(v[0].address, DATA);
	assert_string_equal(program_function_at(p, TEXT + 0x3f, &number), "main.walk");
	assert_int_equal(program_function_entry(p, number), TEXT);
	assert_string_equal(program_function_at(p, TEXT + 0x60, NULL), "main.asm");
	assert_null(program_function_at(p, TEXT + 0x80, NULL));
	check_symbol(p, DATA, "main.root");
	check_symbol(p, DATA + 32 + 16, "main.all"); /* its capacity */
	check_symbol(p, BSS + 32 + 2 * 40 + 16, "main.three[2].Next");
	check_symbol(p, BSS + 32 + 40 + 8, "main.three[1].Name"); /* its length */
	check_symbol(p, BSS + 0x188, "main.other+0x8");
	check_symbol(p, TEXT + 0x44, "main.leaf+0x4");
	check_symbol(p, 1, NULL);
	program_close(p);
}

static void other_kinds(void **state)
{
	(void)state;
	struct program *p = open_made("packed");
	check_common(p, 8);
	check_locals(p, 8);
	program_close(p);
	p = open_made("mips");
	assert_true(program_types(p)->big_endian);
	check_common(p, 4);
	check_locals(p, 4);
	check_symbol(p, BSS + 16 + 20 + 8, "main.three[1].Next");
	program_close(p);
	p = open_made("bare");
	assert_false(program_has_types(p));
	assert_non_null(strstr(program_lacks(p), "stripped"));
	program_close(p);
}

static int try(struct program *p, struct program_match match, const char *why)
{
	struct err err = ERR_INIT;
	int code = program_check(p, &match, &err);

	if (code)
		assert_non_null(strstr(err.message, why));
	return code;
}

static void belongs(void **state)
{
	(void)state;
	struct program *p = open_made("plain");
	struct program_match right = {.arch = "amd64", .word = 8, .data = {DATA, 0x100}, .bss = {BSS, 0x200}};
	struct program_match m = right;

	assert_int_equal(try(p, right, ""), 0);
	m.arch = "arm64";
	assert_int_equal(try(p, m, "arm64"), ERR_NOT_FOUND);
	m.arch = "6"; /* a letter of old dumps is not compared */
	assert_int_equal(try(p, m, ""), 0);
	m = right;
	m.big_endian = true;
	assert_int_equal(try(p, m, "endian"), ERR_NOT_FOUND);
	m = right;
	m.word = 4;
	assert_int_equal(try(p, m, "pointers"), ERR_NOT_FOUND);
	m = right;
	m.data.size = 0x108;
	assert_int_equal(try(p, m, "264"), ERR_NOT_FOUND);
	m = right;
	m.bss.size = 0;
	assert_int_equal(try(p, m, ".bss"), ERR_NOT_FOUND);
	m = right;
	m.bss.address += 4096;
	assert_int_equal(try(p, m, "other addresses"), ERR_NOT_FOUND);
	m = right;
	m.data.address += 4096;
	m.bss.address += 4096;
	assert_int_equal(try(p, m, "another build"), ERR_NOT_FOUND);
	program_close(p);
}

/* A program that can be loaded anywhere: everything moves with it. */
static void moved(void **state)
{
	(void)state;
	struct program *p = open_made("moved");
	uint64_t bias = 0x561999ca7000;
	struct program_match m = {.arch = "amd64", .word = 8, .data = {DATA + bias + 8, 0x100},
	    .bss = {BSS + bias + 8, 0x200}};
	size_t n;

	assert_int_equal(try(p, m, "any load address"), ERR_NOT_FOUND);
	m.data.address -= 8;
	m.bss.address -= 8;
	assert_int_equal(try(p, m, ""), 0);
	assert_int_equal(type_of(p, "main.Node")->descriptor, TYPES + 0x100 + bias);
	assert_int_equal(types_by_descriptor(program_types(p), TYPES + 0x100 + bias), named(p, "main.Node"));
	check_symbol(p, BSS + bias + 32 + 40 + 16, "main.three[1].Next");
	check_symbol(p, BSS + bias + 0x188, "main.other+0x8");
	assert_string_equal(program_function_at(p, TEXT + bias + 4, NULL), "main.walk");
	locals_at(p, TEXT + bias + 0x18, &n);
	assert_int_equal(n, 4);
	program_close(p);
}

static void hostile(void **state)
{
	(void)state;
	struct program *p = open_made("hostile");
	const struct types *t = program_types(p);

	check_common(p, 8);
	assert_int_equal(type_of(p, "bad.Self")->kind, TYPE_UNKNOWN);
	assert_int_equal(type_of(p, "bad.A")->kind, TYPE_UNKNOWN);
	const struct type *outside = type_of(p, "bad.Outside");
	assert_int_equal(outside->n_fields, 1);
	assert_string_equal(types_fields(t, outside)->name, "fine");
	assert_int_equal(type_of(p, "bad.Huge")->kind, TYPE_UNKNOWN);
	assert_int_equal(type_of(p, "bad.Wide")->count, (1 << 20) / 8);
	assert_int_equal(type_of(p, "bad.Zero")->count, 0);
	assert_int_equal(type_of(p, "*loop")->element, TYPE_NONE);
	assert_int_equal(type_of(p, "map[bad]bad")->descriptor, 0);
	program_close(p);
}

static void none(void **state)
{
	(void)state;
	struct err err = ERR_INIT;
	struct program *p;

	assert_int_equal(program_open(&p, "/", &err), program_support() ? ERR_IO : ERR_UNSUPPORTED);
	assert_null(p);
	program_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(plain), cmocka_unit_test(other_kinds), cmocka_unit_test(belongs),
	    cmocka_unit_test(moved), cmocka_unit_test(hostile), cmocka_unit_test(none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
