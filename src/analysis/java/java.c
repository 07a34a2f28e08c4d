/* SPDX-License-Identifier: GPL-3.0-or-later */
/* java.c - a Java VM's own objects; see java.h. */
#include "analysis/java/java.h"

#include "algorithms/sort.h"
#include "analysis/describe/describe.h"
#include "base/progress.h"
#include "dump/facts.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "memory/big.h"

#include <string.h>

/* --- properties --------------------------------------------------------------------------------- */

uint32_t java_properties(const struct heap *h)
{
	/* Android's library calls it systemProperties; the VM keeps a copy of those it began with. */
	static const char *const places[][2] = {
		{"java.lang.System", "props"},
		{"java.lang.System", "systemProperties"},
		{"jdk.internal.misc.VM", "savedProps"},
		{"sun.misc.VM", "savedProps"},
	};
	uint32_t id = HEAP_NONE;
	for (size_t i = 0; i < sizeof places / sizeof *places && id == HEAP_NONE && values_held(h); i++) {
		struct value v;
		if (values_static(h, places[i][0], places[i][1], &v))
			id = value_object_id(h, &v);
	}
	return id;
}

bool java_text_of(const struct any_value *v, uint64_t limit, struct text *to)
{
	struct string_view s;
	uint32_t id = inspect_target(v).id;
	text_clear(to);
	if (id == HEAP_NONE || !inspect_text(v->heap, id, &s))
		return false;
	string_add(&s, 0, limit, to);
	return to->len > 0;
}

static bool read_properties(const struct heap *h, uint32_t map, const char *const *keys, unsigned n, uint64_t limit,
    struct text *found)
{
	struct entries *entries;
	struct text name = TEXT_INIT;
	if (map == HEAP_NONE || inspect_entries(&entries, h, map, &(struct range){.length = UINT64_MAX}, NULL))
		return false;
	bool whole = entries->map && entries->n && !entries->lacks_some;
	for (size_t i = 0; i < entries->n && !progress_own_stops(i); i++) {
		struct any_value key, value;
		inspect_entry(entries, i, &key, &value);
		if (!entries->map || !java_text_of(&key, DESCRIBE_SHORT, &name))
			continue;
		for (unsigned k = 0; k < n; k++)
			if (!strcmp(name.s, keys[k]))
				(void)java_text_of(&value, limit, &found[k]);
	}
	inspect_entries_close(entries);
	text_release(&name);
	return whole;
}

void java_read_properties(
    const struct heap *h, const char *const *keys, unsigned n, uint64_t limit, struct text *found)
{
	(void)read_properties(h, java_properties(h), keys, n, limit, found);
}

/* The properties that the VM began with have this one only where somebody gave it; "-1": nobody did. */
static bool direct_limit_not_given(const struct heap *h)
{
	static const char *const classes[] = {"jdk.internal.misc.VM", "sun.misc.VM"};
	static const char *const keys[] = {"sun.nio.MaxDirectMemorySize"};
	struct text found = TEXT_INIT;
	struct value v;
	bool whole = false;
	for (size_t i = 0; i < sizeof classes / sizeof *classes && values_held(h) && !whole; i++)
		whole = values_static(h, classes[i], "savedProps", &v) &&
		    read_properties(h, value_object_id(h, &v), keys, 1, DESCRIBE_SHORT, &found);
	whole &= !found.len || !strcmp(found.s, "-1");
	text_release(&found);
	return whole;
}

uint64_t java_heap_limit(const struct heap *h)
{
	return direct_limit_not_given(h) ? java_direct_limit(h) : 0;
}

bool java_vm(const struct heap *h, struct text *to)
{
	static const char *const keys[] = {"java.vm.name", "java.vm.version", "java.version"};
	enum { VM_NAME, VM_VERSION, JAVA_VERSION, PROPERTIES };
	struct text found[PROPERTIES] = {TEXT_INIT, TEXT_INIT, TEXT_INIT};
	java_read_properties(h, keys, PROPERTIES, DESCRIBE_SHORT, found);
	size_t before = to->len;
	if (found[VM_NAME].len)
		text_add(to, found[VM_NAME].s);
	if (found[VM_VERSION].len)
		text_addf(to, "%s%s", to->len > before ? " " : "", found[VM_VERSION].s);
	if (found[JAVA_VERSION].len)
		text_addf(to, "%sjava %s", to->len > before ? ", " : "", found[JAVA_VERSION].s);
	for (unsigned k = 0; k < PROPERTIES; k++)
		text_release(&found[k]);
	return to->len > before;
}

/* --- the archive -------------------------------------------------------------------------------- */

struct addresses {
	uint64_t *at;
	size_t n, cap;
};

static bool may_be_root_array(const struct heap *h, const struct heap_root *root)
{
	uint32_t id = root->object;
	return root->kind == ROOT_JNI_GLOBAL && !strcmp(heap_class_of(h, id)->name, "java.lang.Object[]") &&
	    adjacency_start(&h->in, id) == adjacency_start(&h->in, id + 1);
}

/* Add the addresses in an array that lead nowhere. */
static int add_missing(struct addresses *to, const struct values *array, struct err *err)
{
	const struct heap *h = array->heap;
	for (uint64_t i = 0; i < values_length(array); i++) {
		struct value v = values_element(array, i);
		uint32_t id = v.bits ? value_object_id(h, &v) : HEAP_NONE;
		if (progress_own_stops(i))
			return err_cancelled(err);
		if (!v.bits || id != HEAP_NONE)
			continue;
		uint64_t *at = BIG_PUSH(to->at, to->n, to->cap, err);
		if (!at)
			return ERR_NOMEM;
		*at = v.bits;
	}
	return 0;
}

static int by_address(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
	return (a > b) - (a < b);
}

int java_archived(const struct heap *h, struct java_archived *out, struct err *err)
{
	struct addresses missing = {.n = 0};
	int code = 0;
	*out = (struct java_archived){.references = 0};
	if (!h->n_dangling || h->no_references || h->damaged || !values_held(h))
		return 0;
	for (size_t i = 0; !code && i < h->n_roots; i++) {
		struct values array;
		if (progress_own_stops(i)) {
			code = err_cancelled(err);
			break;
		}
		if ((i && h->roots[i - 1].object == h->roots[i].object) || !may_be_root_array(h, &h->roots[i]) ||
		    values_open(&array, h, h->roots[i].object, NULL))
			continue;
		code = add_missing(&missing, &array, err);
	}
	if (!code)
		code = sort(missing.at, missing.n, sizeof *missing.at, by_address, err);
	out->references = missing.n;
	for (size_t i = 0; !code && i < missing.n; i++)
		out->class_objects += !i || missing.at[i] != missing.at[i - 1];
	big_free(missing.at);
	return code;
}
