/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_layout_choice.c - which VM laid a heap out, told from where its objects lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sketched.h"

static const struct sketch zoo[] = {
	{ "java.lang.Object", HEAP_NONE, "", NULL },
	{ "java.util.HashMap$Node", 0, "hash:I key:L value:L next:L", NULL },
	{ "java.lang.Integer", 0, "value:I", NULL },
	{ "Base", 0, "flag:Z", NULL },
	{ "Derived", 3, "flag:Z i:I", NULL },
	{ "java.lang.Object[]", 0, "", NULL },
	{ "byte[]", 0, "", NULL },
	{ "long[]", 0, "", NULL },
	{ "Tiny", 3, "flag:Z", NULL }, /* it and Derived tell the rules apart, whatever the header */
	{ "Gap", 0, "l:J i:I", NULL }, /* -XX:-CompactFields leaves the gap before the long, behind a header of 12 bytes */
};

/* A heap without gaps but for every hundredth object. */
static size_t fill_heap(const struct table *t, struct layout_model m, struct layout_pair *pairs, size_t n)
{
	uint64_t size[64];
	assert_int_equal(layout_instances(t->classes, t->n, &m, LAYOUT_PLAIN, NULL, size, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		uint32_t class = (uint32_t)rand() % t->n;
		const struct heap_class *c = &t->classes[class];
		uint64_t length = (uint64_t)rand() % 50, bytes = size[class];
		if (c->kind != CLASS_PLAIN) {
			bool references = c->kind == CLASS_OBJECT_ARRAY;
			unsigned width = references ? m.reference : c->element_size;
			bytes = layout_array_size(layout_array_base(&m, references, width), width, length,
			    m.alignment);
		}
		pairs[i] = (struct layout_pair){ class, length, bytes + (i % 100 ? 0 : 8 * m.alignment) };
	}
	return n;
}

static void choosing(void **state)
{
	(void)state;
	enum { PAIRS = 5000 };
	static const struct layout_model *const models[] = { &coops, &wide_ccp, &plain64, &coops_noccp,
		&compact, &compact_wide, &x32 };
	static struct layout_pair pairs[PAIRS];
	struct table *t = sketched(zoo, sizeof zoo / sizeof *zoo);
	t->classes[5].kind = CLASS_OBJECT_ARRAY;
	t->classes[6].kind = t->classes[7].kind = CLASS_PRIMITIVE_ARRAY;
	t->classes[6].element_size = 1;
	t->classes[7].element_size = 8;
	srand(4711);
	for (unsigned i = 0; i < 35; i++) {
		struct layout_model m = *models[i % 7];
		m.gapped = i >= 28;
		m.rule = i / 7 % 2 ? LAYOUT_OLD : LAYOUT_NEW;
		m.relaxed |= i >= 14 && !m.gapped;
		m.rule = m.gapped ? LAYOUT_OLD : m.rule;
		m.alignment = i % 3 ? 8 : 16;
		fill_heap(t, m, pairs, PAIRS);
		pairs[17].distance = 1; /* a damaged record or two must not matter */
		struct layout_choice choice;
		assert_int_equal(layout_choose(t->classes, t->n, pairs, PAIRS, m.word * 8, m.alignment, &choice, NULL), 0);
		assert_false(choice.guessed);
		assert_int_equal(choice.n_pairs, PAIRS);
		assert_int_equal(choice.n_violations, 1);
		assert_int_equal(choice.model.header, m.header);
		assert_int_equal(choice.model.reference, m.reference);
		if (m.alignment == 8)
			assert_int_equal(choice.model.rule, m.rule);
		if (m.alignment == 8)
			assert_int_equal(choice.model.gapped, m.gapped && m.header == 12);
		for (unsigned width = 1; width <= 8; width *= 8)
			if (m.alignment == 8)
				assert_int_equal(layout_array_base(&choice.model, false, width),
				    layout_array_base(&m, false, width));
	}
	free(t);
}

static void choosing_without_evidence(void **state)
{
	(void)state;
	struct table *t = sketched(zoo, sizeof zoo / sizeof *zoo);
	struct layout_choice choice;
	char text[400];
	assert_int_equal(layout_choose(t->classes, t->n, NULL, 0, 64, 8, &choice, NULL), 0);
	assert_true(choice.guessed);
	assert_int_equal(choice.model.header, 12);
	assert_int_equal(choice.model.reference, 4);
	assert_int_equal(choice.model.rule, LAYOUT_OLD);
	layout_describe(&choice, text, sizeof text);
	assert_non_null(strstr(text, "assumed"));
	t->classes[3].name = "java.lang.Record";
	assert_int_equal(layout_choose(t->classes, t->n, NULL, 0, 64, 8, &choice, NULL), 0);
	assert_int_equal(choice.model.rule, LAYOUT_NEW);
	assert_int_equal(layout_choose(t->classes, t->n, NULL, 0, 32, 8, &choice, NULL), 0);
	assert_int_equal(choice.model.header, 8);
	free(t);
}

/* Static fields of the VM's own class, and what they say of the model. */
static void choosing_what_is_stated(void **state)
{
	(void)state;
	static const struct { unsigned word, reference, bytes, longs, objects, header; } cases[] = {
		{ 8, 4, 16, 16, 16, 12 }, { 8, 8, 16, 16, 16, 12 }, { 8, 8, 24, 24, 24, 16 },
		{ 8, 8, 20, 24, 24, 16 }, { 8, 4, 24, 24, 24, 16 }, { 8, 4, 12, 16, 12, 8 },
		{ 8, 8, 12, 16, 16, 8 }, { 4, 4, 12, 16, 12, 8 },
	};
	struct table *t = sketched(zoo, sizeof zoo / sizeof *zoo);
	struct layout_choice choice;
	t->classes[3].name = "jdk.internal.misc.Unsafe";
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct heap_field stated[] = {
			{ "ADDRESS_SIZE", VALUE_INT, .value = cases[i].word },
			{ "ARRAY_OBJECT_INDEX_SCALE", VALUE_INT, .value = cases[i].reference },
			{ "ARRAY_BYTE_BASE_OFFSET", VALUE_LONG, .value = cases[i].bytes },
			{ "ARRAY_LONG_BASE_OFFSET", VALUE_LONG, .value = cases[i].longs },
			{ "ARRAY_OBJECT_BASE_OFFSET", VALUE_LONG, .value = cases[i].objects },
		};
		t->classes[3].statics = stated;
		t->classes[3].n_statics = sizeof stated / sizeof *stated;
		assert_int_equal(layout_choose(t->classes, t->n, NULL, 0, 32, 8, &choice, NULL), 0);
		assert_true(choice.guessed && choice.stated && !choice.reference_guessed);
		assert_int_equal(choice.model.header, cases[i].header);
		assert_int_equal(choice.model.reference, cases[i].reference);
		assert_int_equal(choice.model.word, cases[i].word);
		assert_int_equal(layout_array_base(&choice.model, false, 1), cases[i].bytes);
	}
	const struct heap_field absurd[] = { { "ADDRESS_SIZE", VALUE_INT, .value = 3 } };
	t->classes[3].statics = absurd;
	t->classes[3].n_statics = 1;
	assert_int_equal(layout_choose(t->classes, t->n, NULL, 0, 64, 8, &choice, NULL), 0);
	assert_false(choice.stated);
	const struct heap_field offset[] = { { "valueOffset", VALUE_LONG, .value = 16 } }; /* JDK 6, a dump of the agent */
	t->classes[3].name = "java.util.concurrent.atomic.AtomicInteger";
	t->classes[3].statics = offset;
	assert_int_equal(layout_choose(t->classes, t->n, NULL, 0, 32, 8, &choice, NULL), 0);
	assert_true(choice.stated);
	assert_int_equal(choice.model.header, 16);
	assert_int_equal(choice.model.reference, 8);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(choosing),
		cmocka_unit_test(choosing_without_evidence),
		cmocka_unit_test(choosing_what_is_stated),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
