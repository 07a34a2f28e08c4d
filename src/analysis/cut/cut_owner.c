/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cut_owner.c - see cut_owner.h. */
#include "analysis/cut/cut_owner.h"

#include "analysis/cut/cut.h"
#include "base/text.h"

#include <string.h>

/* --- by name -------------------------------------------------------------------------------------- */

static bool of_the_jdk(const char *name)
{
	static const char *const prefixes[] = { "java.", "javax.", "jdk.", "sun.", "com.sun.", "com.ibm.oti.",
		"com.ibm.jvm.", "openj9." };
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
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

static bool of_primitives(const char *name)
{
	static const char *const primitives[] = { "boolean", "byte", "char", "short", "int", "long", "float",
		"double", NULL };
	size_t n = strnlen(name, sizeof "boolean["); /* names may be long, and many */
	const char *bracket = memchr(name, '[', n);
	return is_word(name, bracket ? (size_t)(bracket - name) : n, primitives);
}

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

/* Does a Go type or variable name a package that is not Go's own?  any: names one at all. */
static bool names_package(const char *name, bool *any)
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

/* "runtime.g", "[]*runtime.p", "internal/abi.Type" */
static bool of_the_go_runtime(const char *name)
{
	name += strspn(name, "[]*");
	return !strncmp(name, "runtime.", strlen("runtime.")) || !strncmp(name, "internal/", strlen("internal/"));
}

bool cut_owner_name(bool java, const char *name)
{
	bool any;
	return java ? !of_the_jdk(name) && !of_primitives(name) : names_package(name, &any);
}

bool cut_owner_class(const struct heap *h, const char *name)
{
	return cut_owner_name(h->java_lang_class != HEAP_NONE, name);
}

/* --- by what holds it ----------------------------------------------------------------------------- */

int cut_owner_init(struct cut_owner *o, const struct retained *r, struct err *err)
{
	const struct heap *h = r->heap;
	*o = (struct cut_owner){ .r = r };
	if (bits_init(&o->own, h->n_classes, err) || bits_init(&o->runtime, h->n_classes, err) ||
	    bits_init(&o->known, h->n_objects, err) ||
	    bits_init(&o->internal, h->n_objects, err))
		return ERR_NOMEM;
	for (uint32_t c = 0; c < h->n_classes && !progress_own_stops(8 * c); c++)
		if (cut_owner_class(h, h->classes[c].name))
			bits_set(&o->own, c);
		else if (h->java_lang_class == HEAP_NONE && of_the_go_runtime(h->classes[c].name))
			bits_set(&o->runtime, c);
	if (h->java_lang_class == HEAP_NONE)
		return 0;
	if (bits_init(&o->programs, h->n_objects, err))
		return ERR_NOMEM;
	return cut_program_mark(&o->programs, &r->model, &o->own, err);
}

void cut_owner_release(struct cut_owner *o)
{
	bits_release(&o->programs);
	bits_release(&o->own);
	bits_release(&o->runtime);
	bits_release(&o->known);
	bits_release(&o->internal);
}

bool cut_owner_names(const struct cut_owner *o, uint32_t class)
{
	const struct heap_class *c = &o->r->heap->classes[class];
	return bits_get(&o->own, class) && c->kind == CLASS_PLAIN &&
	    c->name[strcspn(c->name, "[*( {")] == '\0';
}

/* Of what hangs below the roots: do only variables of Go's library hold it? */
static bool held_by_library(const struct heap *h, uint32_t id)
{
	struct text name = TEXT_INIT;
	size_t first, n = heap_roots_of(h, id, &first);
	bool any, library = n > 0;
	for (size_t i = 0; library && i < n; i++) {
		const struct heap_root *root = &h->roots[first + i];
		text_clear(&name);
		library = (root->kind == ROOT_DATA || root->kind == ROOT_BSS) &&
		    heap_symbol(h, root->slot, &name) && !names_package(name.s, &any) && any;
	}
	text_release(&name);
	return library;
}

bool cut_owner_internal(struct cut_owner *o, uint32_t id)
{
	const struct heap *h = o->r->heap;
	const uint32_t *immediate = o->r->dominators.immediate;
	uint32_t at = id;
	bool internal = false;
	if (bits_get(&o->runtime, h->class_of[id]) || (o->programs.word && !bits_get(&o->programs, id)))
		return true;
	for (;; at = immediate[at]) {
		uint32_t mirrored = heap_class_mirrored(h, at);
		if (bits_get(&o->known, at)) {
			internal = bits_get(&o->internal, at);
		} else if (mirrored != HEAP_NONE) {
			internal = of_the_jdk(h->classes[mirrored].name);
		} else if (!bits_get(&o->own, h->class_of[at])) {
			if (immediate[at] < h->n_objects)
				continue;
			internal = held_by_library(h, at);
		}
		break;
	}
	for (uint32_t up = id;; up = immediate[up]) {
		bits_set(&o->known, up);
		if (internal)
			bits_set(&o->internal, up);
		if (up == at)
			return internal;
	}
}
