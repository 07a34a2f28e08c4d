/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_theme.c - colours can be read, and mean what names and values are. */
#include "view/theme.h"

#include "heap/heap.h"
#include "view/name_role.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { BLACK = 0x000000, WHITE = 0xffffff };

/* --- contrast, as the W3C's guidelines (WCAG 2) define it ---------------------------------------- */

static double part(int level)
{
	double v = level / 255.0;
	return v <= 0.03928 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double luminance(int rgb)
{
	return 0.2126 * part(rgb >> 16 & 0xFF) + 0.7152 * part(rgb >> 8 & 0xFF) + 0.0722 * part(rgb & 0xFF);
}

static double contrast(int a, int b)
{
	double one = luminance(a) + 0.05, other = luminance(b) + 0.05;
	return one > other ? one / other : other / one;
}

/* --- what the numbers of colours look like -------------------------------------------------------- */

/* The sixteen as the console of a PC has them, and as xterm does. */
static const int sixteen[2][16] = {
    {0x000000, 0xaa0000, 0x00aa00, 0xaa5500, 0x0000aa, 0xaa00aa, 0x00aaaa, 0xaaaaaa, 0x555555, 0xff5555, 0x55ff55,
	0xffff55, 0x5555ff, 0xff55ff, 0x55ffff, 0xffffff},
    {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00,
	0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff},
};

/* Of the palette of 256 behind the sixteen: a cube of six levels, then greys. */
static int of_256(int number)
{
	static const int levels[] = {0, 95, 135, 175, 215, 255};

	assert_in_range(number, 16, 255);
	if (number >= 232)
		return (8 + 10 * (number - 232)) * 0x010101;
	number -= 16;
	return levels[number / 36] << 16 | levels[number / 6 % 6] << 8 | levels[number % 6];
}

static bool has_color(enum role role, enum theme_name theme, int colors, int *number)
{
	*number = theme_color(role, theme, colors);
	return *number != THEME_OWN_COLOR;
}

static void readable(enum theme_name theme, int background)
{
	for (enum role role = 0; role < ROLE_COUNT; role++) {
		int number;
		if (has_color(role, theme, THEME_DIRECT, &number))
			assert_true(contrast(number, background) >= 4.5);
		if (has_color(role, theme, 256, &number)) {
			assert_true(contrast(of_256(number), background) >= 4.5);
			assert_int_equal(of_256(number), theme_color(role, theme, THEME_DIRECT));
		}
		for (unsigned i = 0; i < 2; i++)
			if (has_color(role, theme, 16, &number))
				assert_true(contrast(sixteen[i][number], background) >= 4.5);
		/* those with eight are consoles, where bold letters are the bright ones */
		bool bold = theme_attributes(role) & A_BOLD && background == BLACK;
		if (has_color(role, theme, 8, &number))
			assert_true(contrast(sixteen[0][number + (bold ? 8 : 0)], background) >= 4.5);
	}
}

static void dark(void **state)
{
	(void)state;
	readable(THEME_DARK, BLACK);
}

static void bright(void **state)
{
	(void)state;
	readable(THEME_LIGHT, WHITE);
}

static void either(void **state)
{
	(void)state;
	readable(THEME_EITHER, BLACK);
	readable(THEME_EITHER, WHITE);
}

/* A theme that had no colours would be readable, too. */
static void means_something(void **state)
{
	static const enum role roles[] = {ROLE_LIBRARY, ROLE_ARRAY, ROLE_STRING, ROLE_SUSPECT, ROLE_BAR};
	static const enum theme_name themes[] = {THEME_DARK, THEME_LIGHT, THEME_EITHER};
	int number;

	(void)state;
	for (unsigned t = 0; t < 3; t++)
		for (unsigned r = 0; r < sizeof roles / sizeof *roles; r++)
			for (unsigned other = 0; other <= r; other++) {
				assert_true(has_color(roles[r], themes[t], 256, &number));
				assert_true((other == r) == (theme_color(roles[other], themes[t], 256) == number));
			}
	for (enum role role = 0; role < ROLE_COUNT; role++)
		assert_false(has_color(role, THEME_MONO, 256, &number));
	assert_int_equal(theme_color(ROLE_UNSURE, THEME_DARK, 256), theme_color(ROLE_QUIET, THEME_DARK, 256));
}

/* --- the background ------------------------------------------------------------------------------- */

static void backgrounds(void **state)
{
	enum { STEP = 0x11 };
	unsigned clear = 0;

	(void)state;
	for (int red = 0; red < 256; red += STEP)
		for (int green = 0; green < 256; green += STEP)
			for (int blue = 0; blue < 256; blue += STEP) {
				int rgb = red << 16 | green << 8 | blue;
				double by_white = contrast(rgb, WHITE) / contrast(rgb, BLACK);
				if (by_white > 1.5 || by_white < 1 / 1.5) {
					assert_int_equal(theme_is_dark(rgb), by_white > 1);
					clear++;
				}
			}
	assert_in_range(clear, 2000, 4096);
}

/* --- names and values ----------------------------------------------------------------------------- */

static void names(void **state)
{
	(void)state;
	const struct heap go = {.java_lang_class = HEAP_NONE};
	assert_int_equal(name_role(NULL, "com.acme.shop.Order"), ROLE_OWN_CLASS);
	assert_int_equal(name_role(NULL, "java.util.HashMap$Node"), ROLE_LIBRARY);
	assert_int_equal(name_role(NULL, "int"), ROLE_LIBRARY);
	assert_int_equal(name_role(NULL, "class java.util.HashMap"), ROLE_LIBRARY);
	assert_int_equal(name_role(NULL, "byte[]"), ROLE_ARRAY);
	assert_int_equal(name_role(NULL, "java.lang.Object[73]"), ROLE_ARRAY);
	assert_int_equal(name_role(NULL, "java.lang.String"), ROLE_STRING);
	assert_int_equal(name_role(NULL, "<primitive>"), ROLE_TEXT);
	assert_int_equal(name_role(NULL, ""), ROLE_TEXT);
	assert_int_equal(name_role(&go, "main.Line"), ROLE_OWN_CLASS);
	assert_int_equal(name_role(&go, "*main.Line"), ROLE_OWN_CLASS);
	assert_int_equal(name_role(&go, "runtime.g"), ROLE_LIBRARY);
	assert_int_equal(name_role(&go, "[]*main.Line"), ROLE_ARRAY);
	assert_int_equal(name_role(&go, "string"), ROLE_STRING);
}

static void cells(void **state)
{
	static const struct {
		enum column_id column;
		const char *text;
		enum role role;
	} wanted[] = {
	    {COL_BRANCH, "1  com.acme.shop.Shop.main(Shop.java:42)", ROLE_OWN_CLASS},
	    {COL_BRANCH, "0  java.lang.Thread.sleep(Native Method)", ROLE_LIBRARY},
	    {COL_BRANCH, "sessions  HashMap", ROLE_TEXT},
	    {COL_BRANCH, "static System.props  Properties", ROLE_TEXT},
	    {COL_BRANCH, "java.util", ROLE_LIBRARY},
	    {COL_CLASS, "java.util.HashMap", ROLE_LIBRARY},
	    {COL_STATE, "java.util.HashMap", ROLE_TEXT},
	    {COL_VALUE, "\"java.util.HashMap\"", ROLE_STRING},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		struct cell cell = {.type = CELL_TEXT, .text = wanted[i].text, .amount = {.certainty = EXACT}};
		assert_int_equal(cell_role_in(NULL, wanted[i].column, &cell), wanted[i].role);
		cell.amount.certainty = INFERRED;
		assert_int_equal(cell_role_in(NULL, wanted[i].column, &cell), ROLE_UNSURE);
	}
}

static void values(void **state)
{
	(void)state;
	assert_int_equal(value_role("\"session-4740\""), ROLE_STRING);
	assert_int_equal(value_role("-42"), ROLE_NUMBER);
	assert_int_equal(value_role("1.0E10"), ROLE_NUMBER);
	assert_int_equal(value_role("0xe00200a8"), ROLE_ADDRESS);
	assert_int_equal(value_role("true"), ROLE_TEXT);
	assert_int_equal(value_role("-"), ROLE_TEXT);
	assert_int_equal(value_role(""), ROLE_TEXT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(dark),
	    cmocka_unit_test(bright),
	    cmocka_unit_test(either),
	    cmocka_unit_test(means_something),
	    cmocka_unit_test(backgrounds),
	    cmocka_unit_test(names),
	    cmocka_unit_test(cells),
	    cmocka_unit_test(values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
