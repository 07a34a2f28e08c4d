/* SPDX-License-Identifier: GPL-3.0-or-later */
/* library.c - see library.h. */
#include "heap/library.h"

#include <string.h>

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static bool begins_with_one(const char *name, const char *const *with)
{
	for (; *with; with++)
		if (begins(name, *with))
			return true;
	return false;
}

static bool is_word(const char *s, size_t n, const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == n && !strncmp(s, *words, n))
			return true;
	return false;
}

/* --- Java --------------------------------------------------------------------------------------- */

bool library_java_name(const char *name)
{
	static const char *const packages[] = { "java.", "javax.", "jdk.", "sun.", "com.sun.", "openj9.", "com.ibm.oti.",
		"com.ibm.jvm.", "com.ibm.lang.management.", "libcore.", "dalvik.", NULL };
	return begins_with_one(name, packages);
}

bool library_public_name(const char *name)
{
	static const char *const android[] = { "android.", "com.android.", NULL };
	return library_java_name(name) || begins_with_one(name, android);
}

bool library_primitive_name(const char *name)
{
	static const char *const primitives[] = { "boolean", "byte", "char", "short", "int", "long", "float",
		"double", "void", NULL };
	size_t n = strnlen(name, sizeof "boolean["); /* names may be long, and many */
	const char *bracket = memchr(name, '[', n);
	return is_word(name, bracket ? (size_t)(bracket - name) : n, primitives);
}

/* Libraries apart from the JDK have packages there, too: javax.servlet, com.sun.jersey.  The JDK's own tools are
 * on the class path, and proxies are the VM's work. */
static bool may_be_brought_along(const char *name)
{
	static const char *const shared[] = { "javax.", "com.sun.", NULL };
	static const char *const jdk[] = { "com.sun.proxy.", "com.sun.tools.", NULL };
	return begins_with_one(name, shared) && !begins_with_one(name, jdk);
}

bool library_usual_loader(const struct heap *h, uint32_t loader)
{
	static const char *const usual[] = { "jdk.internal.loader.ClassLoaders$", "sun.misc.Launcher$", "com.ibm.oti.vm.",
		"java.lang.BootClassLoader", NULL };
	return loader == h->boot_loader || begins_with_one(heap_class_of(h, loader)->name, usual);
}

bool library_class_path_loader(const char *name)
{
	static const char *const class_path[] = { "jdk.internal.loader.ClassLoaders$AppClassLoader",
		"sun.misc.Launcher$AppClassLoader", NULL };
	return begins_with_one(name, class_path);
}

/* Does it load the program's classes?  Not the JDK's, nor those that reflection generates. */
static bool loads_program(const struct heap *h, uint32_t loader)
{
	static const char *const generated[] = { "jdk.internal.reflect.", "sun.reflect.", NULL };
	const char *name = heap_class_of(h, loader)->name;
	return library_class_path_loader(name) ||
	    (!library_usual_loader(h, loader) && !begins_with_one(name, generated));
}

/* --- Go ----------------------------------------------------------------------------------------- */

/* Packages below these come with Go: https://pkg.go.dev/std.  Modules' paths begin with a host. */
static bool of_go(const char *package)
{
	static const char *const std[] = { "archive", "bufio", "bytes", "cmp", "compress", "container",
		"context", "crypto", "database", "debug", "embed", "encoding", "errors", "expvar", "flag",
		"fmt", "go", "hash", "html", "image", "index", "internal", "io", "iter", "log", "maps",
		"math", "mime", "net", "os", "path", "plugin", "reflect", "regexp", "runtime", "slices",
		"sort", "strconv", "strings", "structs", "sync", "syscall", "testing", "text", "time",
		"unicode", "unique", "unsafe", "vendor", "weak", NULL };
	return is_word(package, strcspn(package, "/."), std);
}

bool library_go_foreign(const char *name, bool *any)
{
	static const char ends[] = " []*(){},;<>&=#:@+\"";
	*any = false;
	for (name += strspn(name, ends); *name; name += strspn(name, ends)) {
		size_t n = strcspn(name, ends);
		const char *dot = memchr(name, '.', n);
		if (dot && dot > name && *name != '.') {
			*any = true;
			if (!of_go(name))
				return true;
		}
		name += n;
	}
	return false;
}

bool library_go_runtime(const char *name)
{
	name += strspn(name, "[]*");
	return begins(name, "runtime.") || begins(name, "internal/");
}

/* --- both --------------------------------------------------------------------------------------- */

bool library_programs_name(bool java, const char *name)
{
	bool any;
	return java ? !library_java_name(name) && !library_primitive_name(name) : library_go_foreign(name, &any);
}

bool library_programs_class(const struct heap *h, uint32_t class)
{
	const struct heap_class *c = &h->classes[class];
	bool java = h->java_lang_class != HEAP_NONE;
	if (java && c->loader != HEAP_NONE && may_be_brought_along(c->name))
		return loads_program(h, c->loader);
	return library_programs_name(java, c->name);
}
