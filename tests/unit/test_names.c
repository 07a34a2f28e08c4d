/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_names.c - how names are shortened. */
#include "view/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void fits_as(const char *s, int width, const char *wanted)
{
	struct text t = TEXT_INIT;
	names_fit(s, width, &t);
	assert_string_equal(t.len ? t.s : "", wanted);
	text_release(&t);
}

static void path_fits_as(const char *s, int width, const char *wanted)
{
	struct text t = TEXT_INIT;
	names_fit_path(s, width, &t);
	assert_string_equal(t.len ? t.s : "", wanted);
	text_release(&t);
}

static void whole(void **state)
{
	(void)state;
	fits_as("", 0, "");
	fits_as("com.acme.shop.Order[]", 21, "com.acme.shop.Order[]");
}

static void letters(void **state)
{
	(void)state;
	fits_as("com.acme.shop.Order[]", 20, "c.a.s.Order[]");
	fits_as("static com.acme.Shop.DB  java.util.HashMap", 40, "static c.a.Shop.DB  j.u.HashMap");
	fits_as("github.com/acme/shop.Order", 20, "g.c/a/shop.Order");
}

static void simple(void **state)
{
	(void)state;
	fits_as("com.acme.shop.Order[]", 12, "Order[]");
	fits_as("java.util.HashMap$Node > com.acme.Shop.DB", 25, "HashMap$Node > Shop.DB");
	fits_as("github.com/acme/shop.Order", 10, "shop.Order");
}

static void joined(void **state)
{
	static const struct {
		const char *s;
		int width;
		const char *wanted; /* NULL: nothing */
	} cases[] = {
		{"a.Log.ALL + a local of thread \"in w + x\" in a.Job.run(Job.java:7)", 70, NULL},
		{"a.Log.ALL + a local of thread \"in w + x\" in a.Job.run(Job.java:7)", 63, NULL},
		{"a.Log.ALL + a local of thread \"in w + x\" in a.Job.run(Job.java:7)", 50,
		    "a.Log.ALL + a local of thread \"in w + x\""},
		{"a.Log.ALL + a local of thread \"in w + x\" in a.Job.run(Job.java:7)", 39,
		    "Log.ALL + a local of thread \"in w + x\""},
		{"a.Log.ALL + a local of thread \"in w + x\" in a.Job.run(Job.java:7)", 37, "a.Log.ALL + a local"},
		{"a.Log.ALL + a local of thread \"in w + x\" in a.Job.run(Job.java:7)", 16, "Log.ALL + 1 more"},
		{"a.Log.ALL + a local of thread \"in w + x\" in a.Job.run(Job.java:7)", 15, NULL},
		{"a local of thread \"worker in pool 3\" + b.C.x", 42, NULL},
		{"a local of thread \"worker in pool 3\" + b.C.x", 41, "a local + b.C.x"},
		{"a local of thread \"in w\" in a.B.c + b.C.x", 36, "a local of thread \"in w\" + b.C.x"},
		{"a local of goroutine 7 in main.f + b.C.x", 32, "a local of goroutine 7 + b.C.x"},
		{"static b.A.x + static b.B.y + Java local, thread \"w\", b.C.run(C.java:7)", 45,
		    "static b.A.x + static b.B.y + Java local"},
		{"static b.A.x + static b.B.y + Java local, thread \"w\", b.C.run(C.java:7)", 34,
		    "static A.x + static B.y + 1 more"},
		{"static b.A.x + static b.B.y + Java local, thread \"w\", b.C.run(C.java:7)", 21, "static b.A.x + 2 more"},
		{"a + b + c + d + e + f + g + h + i + j", 33, "a + b + c + d + e + f + 4 more"},
		{"a + b + c + d + e + f + g + h + i + j", 10, "a + 9 more"},
		{"static java.util.ArrayList \u00b7 60", 21, NULL},
		{"static java.util.ArrayList \u00b7 60", 20, "static j.u.ArrayList"},
		{"a.Log.ALL", 5, NULL}, {"", 5, NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct text t = TEXT_INIT;
		assert_int_equal(names_fit_joined(cases[i].s, cases[i].width, &t), cases[i].wanted != NULL);
		assert_string_equal(t.len ? t.s : "", cases[i].wanted ? cases[i].wanted : "");
		text_release(&t);
	}
}

/* Of a path what it begins with and its last steps; then no blanks; then no "static"; then no class. */
static void paths(void **state)
{
	static const char path[] = "static com.acme.AuditLog.ENTRIES > elementData[] > cart > table[] > key";
	(void)state;
	path_fits_as(path, 80, path);
	path_fits_as(path, 62, "static AuditLog.ENTRIES > elementData[] > cart > table[] > key");
	path_fits_as(path, 45, "static AuditLog.ENTRIES > … > table[] > key");
	path_fits_as(path, 42, "static AuditLog.ENTRIES > … > key");
	path_fits_as(path, 27, "static AuditLog.ENTRIES…key");
	path_fits_as(path, 26, "AuditLog.ENTRIES > … > key");
	path_fits_as(path, 20, "AuditLog.ENTRIES…key");
	path_fits_as(path, 18, "ENTRIES > … > key");
	path_fits_as("loader URLClassLoader \"app\" > classes", 27, "URLClassLoader > classes");
	path_fits_as("Java local, thread \"main\", Shop.main(Shop.java:42) > cart", 27, "Java local, Shop.main(…cart");
	path_fits_as(path, 12, "static AuditLog.ENTRIES > elementData[] > cart > table[] > key");
	path_fits_as("static AuditLog.ENTRIES > elementData", 28, "AuditLog.ENTRIES…elementData");
	path_fits_as("a > ", 2, "a > ");
	path_fits_as("via Order.lines  3 × ArrayList > elementData  3 × Object[]", 43,
	    "via Order.lines > elementData  3 × Object[]");
}

/* Of a branch of the heap's tree the label. */
static void labels(void **state)
{
	(void)state;
	path_fits_as("static com.acme.AuditLog.ENTRIES  java.util.ArrayList", 34, "static AuditLog.ENTRIES  ArrayList");
	path_fits_as("static com.acme.AuditLog.ENTRIES  java.util.ArrayList", 33, "static AuditLog.ENTRIES");
	path_fits_as("static com.acme.AuditLog.ENTRIES  java.util.ArrayList", 22, "static AuditLog.ENTRIES  ArrayList");
	path_fits_as("Java local, thread \"main\"  Session", 30, "Java local, thread \"main\"  Session");
	path_fits_as("  [0]", 4, "  [0]");
}

/* A frame stays whole, rather than the name of its thread. */
static void frames(void **state)
{
	static const char local[] = "Java local, thread \"http-1\", shop.Cart.add(Cart.java:7)";

	(void)state;
	path_fits_as(local, 70, local);
	path_fits_as(local, 52, "Java local, thread \"http-1\", s.Cart.add(Cart.java:7)");
	path_fits_as(local, 40, "Java local, shop.Cart.add(Cart.java:7)");
	path_fits_as(local, 34, "Java local, Cart.add(Cart.java:7)");
	path_fits_as("Java local, thread \"http-1\", shop.Cart.add(Cart.java:7)  ArrayList", 34,
	    "Java local, Cart.add(Cart.java:7)");
}

static void goroutines(void **state)
{
	(void)state;
	fits_as("goroutine 10 main.wait", 22, "goroutine 10 main.wait");
	fits_as("goroutine 10 main.wait", 14, "g10 main.wait");
	fits_as("goroutine leak", 10, "goroutine leak");
}

/* What has no package is nobody's to shorten. */
static void kept(void **state)
{
	(void)state;
	fits_as("main.sessions", 4, "main.sessions");
	fits_as("Waste.java:518", 4, "Waste.java:518");
	fits_as("a.b.c", 2, "a.b.c");
	fits_as("3 of 7, i.e. half", 4, "3 of 7, i.e. half");
	fits_as("com.acme.日本.注文", 4, "com.acme.日本.注文");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(whole),
	    cmocka_unit_test(letters),
	    cmocka_unit_test(simple),
	    cmocka_unit_test(joined), cmocka_unit_test(paths),
	    cmocka_unit_test(labels),
	    cmocka_unit_test(frames),
	    cmocka_unit_test(goroutines),
	    cmocka_unit_test(kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
