/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * describers.c - the table of the Java classes that are known, and values of fields in words.
 */
#include "analysis/describe/describers.h"

#include "analysis/describe/collection.h"
#include "analysis/describe/describe.h"
#include "base/text.h"
#include "heap/classes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	HOPS = 4,         /* an Optional of a WeakReference of …: so many are unwrapped */
	MOST_NUMBERS = 32, /* of an array */
	MOST_CELLS = 65536 /* of a counter; there are as many as processors */
};

/* The field of a box. */
#define BOXED "value"

/* A class and the length of its name, which tells most names apart at once. */
#define CLASS(name) name, sizeof name - 1
enum { LONGEST = 64 }; /* than all names of the table */

static const struct known {
	const char *class;
	size_t n;
	describer *describe;
	const char *fields;
	bool value; /* the text of an instance is all that it means */
} known[] = {
	{ CLASS("java.lang.String"), describe_string, NULL, true },
	{ CLASS("java.lang.Integer"), describe_field, BOXED, true },
	{ CLASS("java.lang.Long"), describe_field, BOXED, true },
	{ CLASS("java.lang.Boolean"), describe_field, BOXED, true },
	{ CLASS("java.lang.Double"), describe_field, BOXED, true },
	{ CLASS("java.lang.Float"), describe_field, BOXED, true },
	{ CLASS("java.lang.Character"), describe_field, BOXED, true },
	{ CLASS("java.lang.Byte"), describe_field, BOXED, true },
	{ CLASS("java.lang.Short"), describe_field, BOXED, true },
	{ CLASS("java.lang.Enum"), describe_text, "name", true },
	{ CLASS("java.lang.Class"), describe_class, NULL, false },
	{ CLASS("java.lang.AbstractStringBuilder"), describe_builder, NULL, false },
	{ CLASS("java.lang.StringBuilder"), describe_builder, NULL, false }, /* Java 1.4 */
	{ CLASS("java.lang.StringBuffer"), describe_builder, NULL, false },
	{ CLASS("java.lang.Thread"), describe_text, "name", false },
	{ CLASS("java.lang.ThreadGroup"), describe_text, "name", false },
	{ CLASS("java.lang.ClassLoader"), describe_text, "nameAndId|name", false },
	{ CLASS("java.lang.Module"), describe_text, "name", false },
	{ CLASS("java.lang.Package"), describe_text, "pkgName", false },
	{ CLASS("java.lang.Throwable"), describe_text, "detailMessage", false },
	{ CLASS("java.lang.StackTraceElement"), describe_frame, NULL, false },
	{ CLASS("java.lang.reflect.Method"), describe_member, "name", false },
	{ CLASS("java.lang.reflect.Field"), describe_member, "name", false },
	{ CLASS("java.lang.reflect.Constructor"), describe_member, NULL, false },
	{ CLASS("java.lang.invoke.MemberName"), describe_member, "name", false },
	{ CLASS("java.lang.ref.Reference"), describe_referent, "referent", false },
	{ CLASS("java.io.File"), describe_text, "path", true },
	{ CLASS("java.io.FileInputStream"), describe_text, "path", false },
	{ CLASS("java.io.FileOutputStream"), describe_text, "path", false },
	{ CLASS("java.io.RandomAccessFile"), describe_text, "path", false },
	{ CLASS("java.util.zip.ZipFile"), describe_text, "name", false },
	{ CLASS("java.util.zip.ZipEntry"), describe_text, "name", false },
	{ CLASS("sun.nio.fs.UnixPath"), describe_path, "path", false },
	{ CLASS("sun.nio.fs.WindowsPath"), describe_text, "path", false },
	{ CLASS("java.net.URL"), describe_url, NULL, true },
	{ CLASS("java.net.URI"), describe_text, "string", true },
	{ CLASS("java.net.InetAddress"), describe_inet, NULL, false },
	{ CLASS("java.nio.Buffer"), describe_buffer, NULL, false },
	{ CLASS("java.nio.charset.Charset"), describe_text, "name", false },
	{ CLASS("java.math.BigInteger"), describe_big_integer, NULL, true },
	{ CLASS("java.math.BigDecimal"), describe_big_decimal, NULL, true },
	{ CLASS("java.util.UUID"), describe_uuid, NULL, true },
	{ CLASS("java.util.BitSet"), describe_bits, NULL, false },
	{ CLASS("java.util.Locale"), describe_locale, NULL, true },
	{ CLASS("java.util.Currency"), describe_text, "currencyCode", true },
	{ CLASS("java.util.TimeZone"), describe_text, "ID", false },
	{ CLASS("java.util.regex.Pattern"), describe_text, "pattern", true },
	{ CLASS("java.text.SimpleDateFormat"), describe_text, "pattern", false },
	{ CLASS("java.security.Permission"), describe_text, "name", false },
	{ CLASS("java.util.Optional"), describe_optional, "value", true },
	{ CLASS("java.util.OptionalInt"), describe_optional, "value", true },
	{ CLASS("java.util.OptionalLong"), describe_optional, "value", true },
	{ CLASS("java.util.OptionalDouble"), describe_optional, "value", true },
	{ CLASS("java.util.concurrent.atomic.AtomicInteger"), describe_field, BOXED, true },
	{ CLASS("java.util.concurrent.atomic.AtomicLong"), describe_field, BOXED, true },
	{ CLASS("java.util.concurrent.atomic.AtomicBoolean"), describe_flag, "value", true },
	{ CLASS("java.util.concurrent.atomic.AtomicReference"), describe_wrapped, "value", false },
	{ CLASS("java.util.concurrent.atomic.AtomicIntegerArray"), describe_wrapped, "array", false },
	{ CLASS("java.util.concurrent.atomic.AtomicLongArray"), describe_wrapped, "array", false },
	{ CLASS("java.util.concurrent.atomic.LongAdder"), describe_adder, NULL, true },
	{ CLASS("java.util.Date"), describe_date, "fastTime", true },
	{ CLASS("java.util.Calendar"), describe_date, "time", false },
	{ CLASS("java.nio.file.attribute.FileTime"), describe_wrapped, "instant", true },
	{ CLASS("java.time.Instant"), describe_instant, NULL, true },
	{ CLASS("java.time.LocalDate"), describe_local_date, NULL, true },
	{ CLASS("java.time.LocalTime"), describe_local_time, NULL, true },
	{ CLASS("java.time.LocalDateTime"), describe_date_time, NULL, true },
	{ CLASS("java.time.OffsetDateTime"), describe_date_time, "offset", true },
	{ CLASS("java.time.ZonedDateTime"), describe_date_time, "offset", true },
	{ CLASS("java.time.ZoneOffset"), describe_text, "id", true },
	{ CLASS("java.time.ZoneRegion"), describe_text, "id", true },
	{ CLASS("java.time.Year"), describe_field, "year", true },
	{ CLASS("java.time.Duration"), describe_duration, NULL, true },
};

static const struct known *known_class(const char *name)
{
	size_t n = strnlen(name, LONGEST); /* names may be long, and many */
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (known[i].n == n && !memcmp(known[i].class, name, n))
			return &known[i];
	}
	return NULL;
}

/* The line of the nearest class upwards that has one; *class gets that class. */
static const struct known *known_above(const struct heap *h, uint32_t *class)
{
	for (uint32_t seen = 0; *class != HEAP_NONE && seen <= h->n_classes; seen++) {
		const struct known *k = known_class(h->classes[*class].name);
		if (k)
			return k;
		*class = h->classes[*class].superclass;
	}
	return NULL;
}

bool describers_know_class(const struct heap *h, uint32_t class)
{
	enum class_kind kind = h->classes[class].kind;
	if (!values_held(h)) /* no record of an object: then of class objects alone */
		return class == h->java_lang_class;
	return kind == CLASS_PRIMITIVE_ARRAY || collection_class(h, class) || known_above(h, &class);
}

bool describe_is_value(const struct heap *h, uint32_t class)
{
	const struct known *k = values_held(h) && h->classes[class].kind == CLASS_PLAIN ? known_above(h, &class) : NULL;
	return k && k->value;
}

#define DIGITS "0123456789"
#define DATES DIGITS "-+:.TZ"
#define REALS DIGITS "-.ENaInfity"

/* All that these describers append: words with other characters are not looked for in their objects. */
static const struct { describer *describe; const char *characters; } alphabets[] = {
	{ describe_big_integer, DIGITS "-a number of bits" }, { describe_big_decimal, DIGITS "-+.Ea number of bits" },
	{ describe_adder, DIGITS "-" }, { describe_uuid, DIGITS "-abcdef" }, { describe_flag, "truefals" },
	{ describe_date, DATES }, { describe_instant, DATES }, { describe_local_date, DATES },
	{ describe_local_time, DATES }, { describe_duration, DIGITS "-. s" }, { describe_bits, DIGITS "{}, …" },
};

/* NULL: it may append any character. */
static const char *alphabet_of(const struct heap *h, uint32_t class, const struct known *k)
{
	struct field_place place;
	if (k->describe == describe_field && values_place(h, class, k->fields, &place))
		return place.type == VALUE_CHAR ? NULL : place.type == VALUE_BOOLEAN ? "truefals" : REALS;
	for (size_t i = 0; i < sizeof alphabets / sizeof *alphabets; i++)
		if (alphabets[i].describe == k->describe)
			return alphabets[i].characters;
	return NULL;
}

/* What names something that has a row of its own, as a String or a class, is not looked for once more. */
static bool is_sought(const struct known *k)
{
	return (k->value && k->describe != describe_string && strcmp(k->class, "java.lang.Enum") != 0) ||
	    k->describe == describe_builder || k->describe == describe_bits || k->describe == describe_inet ||
	    k->describe == describe_path || k->describe == describe_frame || k->describe == describe_date;
}

bool describe_may_say(const struct heap *h, uint32_t class, const char *characters)
{
	uint32_t at = class;
	const struct known *k = values_held(h) && h->classes[class].kind == CLASS_PLAIN ? known_above(h, &at) : NULL;
	const char *alphabet = k && is_sought(k) ? alphabet_of(h, at, k) : NULL;
	return k && is_sought(k) && (!alphabet || strspn(characters, alphabet) == strlen(characters));
}

bool describe_is_number(const struct heap *h, uint32_t class)
{
	const struct known *k = values_held(h) && h->classes[class].kind == CLASS_PLAIN ? known_above(h, &class) : NULL;
	return k && (k->describe == describe_big_integer || k->describe == describe_big_decimal ||
	    k->describe == describe_adder);
}

static bool is_whole(enum value_type type)
{
	return type == VALUE_BOOLEAN || type == VALUE_BYTE || type == VALUE_SHORT || type == VALUE_INT ||
	    type == VALUE_LONG;
}

/* A class with a line of its own: of one below it "value" may be another field. */
bool describe_is_whole(const struct heap *h, uint32_t class)
{
	struct field_place place;
	bool plain = values_held(h) && h->classes[class].kind == CLASS_PLAIN;
	const struct known *k = plain ? known_class(h->classes[class].name) : NULL;
	return k && k->value && k->describe == describe_field && !strcmp(k->fields, BOXED) &&
	    values_place(h, class, BOXED, &place) && is_whole(place.type);
}

bool describe_whole(const struct heap *h, uint32_t id, struct view_walk *walk, struct number *out)
{
	struct values v;
	struct value value;
	if (values_open_along(&v, h, id, walk, NULL) || !values_field(&v, BOXED, &value))
		return false;
	*out = (struct number){ .kind = value.type == VALUE_BOOLEAN ? NUMBER_FLAG : NUMBER_SIGNED,
		.bits = value.type == VALUE_BOOLEAN ? value.bits != 0 : value.bits };
	return is_whole(value.type);
}

/* --- fields ------------------------------------------------------------------------------------- */

bool next_name(const char **names, char name[64])
{
	size_t n = strcspn(*names, "|"), kept = n < 63 ? n : 63;
	if (!n)
		return false;
	memcpy(name, *names, kept);
	name[kept] = '\0';
	*names += n + ((*names)[n] == '|');
	return true;
}

static bool open_value(const struct values *v, const struct value *value, struct values *out)
{
	uint32_t id = value_object_id(v->heap, value);
	return id != HEAP_NONE && !values_open(out, v->heap, id, NULL);
}

/* "array", or "array[0]": an element of the array in a field. */
static bool field_or_element(const struct values *v, char *name, struct value *out)
{
	struct values array;
	char *place = strchr(name, '[');
	if (!place)
		return values_field(v, name, out);
	*place = '\0';
	uint64_t i = strtoul(place + 1, NULL, 10);
	if (!values_field(v, name, out) || !open_value(v, out, &array) || i >= values_length(&array))
		return false;
	*out = values_element(&array, i);
	return true;
}

/* "table.array": a field of the object in a field. */
static bool field_along(const struct values *v, char *name, struct value *out)
{
	struct values at = *v;
	char *dot;
	for (; (dot = strchr(name, '.')); name = dot + 1) {
		*dot = '\0';
		if (!field_or_element(&at, name, out) || !open_value(v, out, &at))
			return false;
	}
	return field_or_element(&at, name, out);
}

bool description_field(const struct values *v, const char *names, struct value *out)
{
	char name[64];
	while (next_name(&names, name)) {
		if (field_along(v, name, out))
			return true;
	}
	return false;
}

bool description_object(const struct values *v, const char *names, struct values *out)
{
	struct value value;
	return description_field(v, names, &value) && open_value(v, &value, out);
}

bool description_number(const struct values *v, const char *name, int64_t *out)
{
	struct value value;
	if (!values_field(v, name, &value) || value.type == VALUE_OBJECT)
		return false;
	*out = (int64_t)value.bits;
	return true;
}

int64_t description_add_cells(const struct values *v, const char *field, int64_t sum)
{
	struct values cells, cell;
	int64_t more;
	uint64_t n = description_object(v, field, &cells) ? values_length(&cells) : 0;
	for (uint64_t i = 0; i < n && i < MOST_CELLS; i++) {
		struct value e = values_element(&cells, i);
		uint32_t id = value_object_id(v->heap, &e);
		if (id != HEAP_NONE && !values_open(&cell, v->heap, id, NULL) &&
		    description_number(&cell, "value", &more))
			sum = (int64_t)((uint64_t)sum + (uint64_t)more);
	}
	return sum;
}

/* --- values ------------------------------------------------------------------------------------- */

static void add_primitive(struct text *to, const struct value *v)
{
	uint32_t narrow = (uint32_t)v->bits;
	double d;
	float f;
	switch (v->type) {
	case VALUE_BOOLEAN:
		text_add(to, v->bits ? "true" : "false");
		return;
	case VALUE_CHAR:
		add_char(to, narrow);
		return;
	case VALUE_FLOAT:
		memcpy(&f, &narrow, sizeof f);
		add_float(to, f);
		return;
	case VALUE_DOUBLE:
		memcpy(&d, &v->bits, sizeof d);
		add_double(to, d);
		return;
	default:
		text_addf(to, "%" PRId64, (int64_t)v->bits);
		return;
	}
}

void describe_value(const struct heap *h, const struct value *v, uint64_t limit, struct text *to)
{
	uint32_t id = value_object_id(h, v);
	if (v->type != VALUE_OBJECT)
		add_primitive(to, v);
	else if (!v->bits)
		text_add(to, "null");
	else if (id == HEAP_NONE)
		text_addf(to, "0x%" PRIx64 " (no object)", v->bits);
	else if (!describe_instance(h, id, limit, to))
		text_addf(to, "0x%" PRIx64, v->bits);
}

/* --- objects that stand for another, or for a single number ------------------------------------- */

bool describe_field(struct description *d)
{
	struct value v;
	if (!description_field(d->values, d->fields, &v) || v.type == VALUE_OBJECT)
		return false;
	add_primitive(d->to, &v);
	return true;
}

bool describe_flag(struct description *d)
{
	struct value v;
	if (!description_field(d->values, d->fields, &v) || v.type == VALUE_OBJECT)
		return false;
	text_add(d->to, v.bits ? "true" : "false");
	return true;
}

bool describe_wrapped(struct description *d)
{
	struct value v;
	if (!description_field(d->values, d->fields, &v) || v.type != VALUE_OBJECT)
		return false;
	d->then = value_object_id(d->heap, &v);
	if (d->then == HEAP_NONE)
		describe_value(d->heap, &v, 0, d->to);
	return true;
}

bool describe_referent(struct description *d)
{
	struct value v;
	if (!description_field(d->values, d->fields, &v) || v.type != VALUE_OBJECT)
		return false;
	text_add(d->to, "-> ");
	return describe_wrapped(d);
}

bool describe_optional(struct description *d)
{
	struct value v, present;
	if (!description_field(d->values, d->fields, &v))
		return false;
	bool none = values_field(d->values, "isPresent", &present) ? !present.bits : !v.bits;
	text_add(d->to, none ? "Optional.empty" : "Optional[");
	if (none)
		return true;
	if (v.type == VALUE_OBJECT) {
		d->close = "]";
		return describe_wrapped(d);
	}
	add_primitive(d->to, &v);
	text_add(d->to, "]");
	return true;
}

/* --- arrays ------------------------------------------------------------------------------------- */

static bool is_text(const struct string_view *s, uint64_t limit)
{
	uint64_t n = s->length < limit ? s->length : limit;
	for (uint64_t i = 0; i < n; i++) {
		if (s->bytes[i] < 0x20 ? !strchr("\t\n\r", s->bytes[i]) || !s->bytes[i]
		                       : s->bytes[i] == 0x7F)
			return false;
		if (s->bytes[i] >= 0x80) {
			int32_t point;
			size_t used = utf8_decode((const char *)s->bytes + i, s->length - i, &point);
			if (point < 0 && s->length - i > 4)
				return false;
			i += used - 1;
		}
	}
	return n > 0;
}

static void add_numbers(const struct values *v, uint64_t limit, struct text *to)
{
	uint64_t n = values_length(v), begin = to->len;
	text_add(to, "[");
	for (uint64_t i = 0; i < n; i++) {
		struct value e = values_element(v, i);
		if (i == MOST_NUMBERS || to->len - begin > limit) {
			text_add(to, i ? ", …" : "…");
			break;
		}
		text_add(to, i ? ", " : "");
		add_primitive(to, &e);
	}
	text_add(to, "]");
}

static void add_quoted(const struct string_view *s, uint64_t limit, struct text *to)
{
	text_add(to, "\"");
	string_add(s, 0, limit, to);
	text_add(to, s->length > limit ? "…\"" : "\"");
}

static bool describe_array(const struct values *v, uint64_t limit, struct text *to)
{
	struct string_view s;
	if (v->view.kind == OBJECT_ARRAY) {
		text_addf(to, "length %" PRIu64, v->view.length);
	} else if (!heap_array_string(v, &s) || (s.width == 1 && !is_text(&s, limit))) {
		add_numbers(v, limit, to);
	} else if (s.width == 2) {
		add_quoted(&s, limit, to);
	} else { /* text that is stored as bytes is UTF-8 more often than Latin-1 */
		uint64_t n = s.length < limit ? s.length : limit;
		while (n < s.length && n > 0 && s.bytes[n] >> 6 == 2) /* not inside a character */
			n--;
		text_add(to, "\"");
		text_add_escaped(to, (const char *)s.bytes, n);
		text_add(to, s.length > limit ? "…\"" : "\"");
	}
	return true;
}

/* --- all together ------------------------------------------------------------------------------- */

static bool describe_known(struct description *d, struct values *v)
{
	uint32_t class = v->is_class ? d->heap->java_lang_class : v->class;
	const struct known *k = known_above(d->heap, &class);
	if (!k)
		return false;
	if (!v->is_class)
		values_as(v, class);
	d->values = v;
	d->fields = k->fields;
	return k->describe(d);
}

static bool describe_size(const struct heap *h, uint32_t id, struct text *to)
{
	struct collection_size size;
	uint64_t left = COUNT_BRIEFLY;
	if (!collection_count(h, id, &left, &size) || !size.known)
		return false;
	text_addf(to, "size %" PRIu64, size.size);
	return true;
}

static bool describe_one(struct description *d, uint32_t id)
{
	struct values v;
	if (heap_class_of(d->heap, id)->kind != CLASS_OBJECT_ARRAY &&
	    !describers_know_class(d->heap, heap_class_index(d->heap, id)))
		return false;
	if (values_open(&v, d->heap, id, NULL) && !v.is_class)
		return false;
	if (!v.is_class && v.view.kind != OBJECT_INSTANCE)
		return describe_array(&v, d->limit, d->to);
	return describe_known(d, &v) || describe_size(d->heap, id, d->to);
}

bool describe_instance(const struct heap *h, uint32_t id, uint64_t limit, struct text *to)
{
	struct description d = { .heap = h, .limit = limit, .to = to };
	const char *close[HOPS];
	unsigned hops = 0;
	size_t begin = to->len;
	for (uint32_t next = id; next != HEAP_NONE; hops++) {
		d.then = HEAP_NONE;
		d.close = "";
		if (hops == HOPS) {
			text_add(to, "…");
			break;
		}
		if (!describe_one(&d, next) && hops > 0)
			text_addf(to, "%s 0x%" PRIx64, heap_class_of(h, next)->name, heap_address(h, next));
		close[hops] = d.close;
		next = d.then;
	}
	bool said = to->len > begin;
	while (said && hops-- > 0)
		text_add(to, close[hops]);
	return said;
}
