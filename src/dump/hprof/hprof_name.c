/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof_name.c - strings, class names and stack frames.
 *
 * Writers spell class names in three ways: HotSpot as the VM does (java/lang/String,
 * [Ljava/lang/String;), the old agent and Android as the language does (java.lang.String[]),
 * GraalVM as Class.getName does (java.lang.String).
 */
#include "dump/hprof/hprof_dump.h"
#include "dump/source/source.h"

#include <string.h>

enum { MOST_SHOWN = 1000 }; /* bytes of a string that is shown among others */

const uint8_t *hprof_string(const struct hprof *h, uint64_t id, size_t *n)
{
	const uint8_t *bytes = h->dump.source->bytes;
	uint64_t at = idmap_get(&h->strings, id);

	*n = 0;
	if (at == IDMAP_NONE)
		return NULL;
	*n = load_be32(bytes + at + 5) - h->id_size;
	return bytes + at + RECORD_HEAD + h->id_size;
}

/* --- classes ------------------------------------------------------------------------------------ */

static char letter_of(const char *name, size_t n)
{
	static const struct { const char *name; char letter; } primitives[] = {
		{ "boolean", 'Z' }, { "char", 'C' }, { "float", 'F' }, { "double", 'D' },
		{ "byte", 'B' }, { "short", 'S' }, { "int", 'I' }, { "long", 'J' },
	};

	for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++)
		if (strlen(primitives[i].name) == n && !memcmp(primitives[i].name, name, n))
			return primitives[i].letter;
	return '\0';
}

/* "java.lang.String[][]" to "[[Ljava/lang/String;". */
static void add_internal_name(struct text *to, const char *name, size_t n)
{
	size_t depth = 0;

	while (n > 2 && name[n - 2] == '[' && name[n - 1] == ']') {
		n -= 2;
		depth++;
		text_add_char(to, '[');
	}
	char letter = depth ? letter_of(name, n) : '\0';
	if (letter) {
		text_add_char(to, letter);
		return;
	}
	if (depth)
		text_add_char(to, 'L');
	size_t from = to->len;
	text_add_n(to, name, n);
	if (!memchr(name, '/', n)) /* else the VM's own spelling, where a dot can only be a part of it */
		for (size_t i = from; i < to->len; i++)
			if (to->s[i] == '.')
				to->s[i] = '/';
	if (depth)
		text_add_char(to, ';');
}

const uint8_t *hprof_shown_string(const struct hprof *h, uint64_t id, size_t *n, bool *cut)
{
	const uint8_t *s = hprof_string(h, id, n);

	*cut = s && *n > MOST_SHOWN;
	if (*cut)
		for (*n = MOST_SHOWN; *n > 0 && s[*n] >> 6 == 2;)
			--*n;
	return s;
}

static void add_class_name(const struct hprof *h, struct text *to, uint64_t class_id, bool shown)
{
	uint64_t name_id = idmap_get(&h->names, class_id);
	bool cut = false;
	size_t n;
	const uint8_t *name = name_id == IDMAP_NONE ? NULL
	    : shown ? hprof_shown_string(h, name_id, &n, &cut) : hprof_string(h, name_id, &n);

	text_add_n(to, "", 0);
	if (name) {
		add_internal_name(to, (const char *)name, n);
		if (cut)
			text_add(to, "\xE2\x80\xA6");
	} else if (name_id != IDMAP_NONE) {
		text_addf(to, "<unresolved 0x%llx>", (unsigned long long)name_id);
	} else {
		text_addf(to, "<unknown 0x%llx>", (unsigned long long)class_id);
	}
}

bool hprof_is_class(const struct hprof *h, uint64_t class_id, const char *internal)
{
	uint64_t name_id = idmap_get(&h->names, class_id);
	size_t n = 0, i = 0;
	const uint8_t *name = name_id == IDMAP_NONE ? NULL : hprof_string(h, name_id, &n);

	if (!name || n != strlen(internal))
		return false;
	while (i < n && (name[i] == internal[i] || (name[i] == '.' && internal[i] == '/')))
		i++;
	return i == n;
}

/* Classes that share a string share what is made of it, however many they are. */
int hprof_class_name(struct hprof *h, uint64_t class_id, struct hprof_name *out, struct err *err)
{
	uint64_t name_id = idmap_get(&h->names, class_id), known = IDMAP_NONE;
	struct text made = TEXT_INIT;
	int code = 0;

	pthread_mutex_lock(&h->lock);
	if (name_id != IDMAP_NONE)
		known = idmap_get(&h->class_names, name_id);
	struct hprof_name *name = (struct hprof_name *)(uintptr_t)known;
	if (known == IDMAP_NONE) {
		add_class_name(h, &made, class_id, false);
		name = arena_try(&h->arena, 1, sizeof *name + made.len, err);
		if (!name)
			code = ERR_NOMEM;
		else if (name_id != IDMAP_NONE)
			code = idmap_put(&h->class_names, name_id, (uintptr_t)name, err);
	}
	if (code == 0 && known == IDMAP_NONE) {
		uint8_t *bytes = (uint8_t *)(name + 1);
		memcpy(bytes, made.s, made.len);
		*name = (struct hprof_name){ bytes, made.len };
	}
	pthread_mutex_unlock(&h->lock);
	if (code == 0)
		*out = *name;
	text_release(&made);
	return code;
}

/* --- frames ------------------------------------------------------------------------------------- */

static void add_plain(const struct hprof *h, struct text *to, uint64_t string_id)
{
	bool cut;
	size_t n;
	const uint8_t *s = hprof_shown_string(h, string_id, &n, &cut);

	if (s) {
		text_add_modified_utf8(to, s, n);
		text_add(to, cut ? "\xE2\x80\xA6" : "");
	} else {
		text_addf(to, "<unresolved 0x%llx>", (unsigned long long)string_id);
	}
}

/* Slashes to dots, but for the one before the number of a hidden class. */
static void add_dotted(struct text *to, const char *name, size_t n)
{
	size_t from = to->len;

	text_add_modified_utf8(to, (const uint8_t *)name, n);
	for (size_t i = from; i < to->len; i++)
		if (to->s[i] == '/' && !(to->s[i + 1] >= '0' && to->s[i + 1] <= '9'))
			to->s[i] = '.';
}

void hprof_add_shown_name(const struct hprof *h, struct text *to, uint64_t class_id)
{
	struct text name = TEXT_INIT;

	add_class_name(h, &name, class_id, true);
	add_dotted(to, name.s, name.len);
	text_release(&name);
}

void hprof_add_frame(const struct hprof *h, struct text *to, uint64_t frame_id)
{
	uint64_t at = idmap_get(&h->frames, frame_id);
	unsigned ids = h->id_size;

	if (at == IDMAP_NONE) {
		text_addf(to, "<unresolved frame 0x%llx>", (unsigned long long)frame_id);
		return;
	}
	const uint8_t *p = h->dump.source->bytes + at + RECORD_HEAD;
	uint64_t method = hprof_id(p + ids, ids), file = hprof_id(p + 3 * ids, ids);
	int32_t line = (int32_t)load_be32(p + 4 * ids + 4);
	uint64_t class_id = idmap_get(&h->serials, load_be32(p + 4 * ids));
	if (class_id != IDMAP_NONE)
		hprof_add_shown_name(h, to, class_id);
	else
		text_add(to, "<unknown class>");
	text_add_char(to, '.');
	add_plain(h, to, method);
	size_t n;
	if (line == -3)
		text_add(to, "(Native Method)");
	else if (line == -2)
		text_add(to, "(Compiled Code)");
	else if (!file || !hprof_string(h, file, &n))
		text_add(to, "(Unknown Source)");
	else {
		text_add_char(to, '(');
		add_plain(h, to, file);
		if (line > 0)
			text_addf(to, ":%ld", (long)line);
		text_add_char(to, ')');
	}
}
