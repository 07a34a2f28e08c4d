/* SPDX-License-Identifier: GPL-3.0-or-later */
/* go_record.c - decode any record by the table of layouts; see go_record.h. */
#include "dump/go/go_record.h"

#include <inttypes.h>

/*
 * What stands in a record, in this order: n a number, s a string (length and bytes), T a type's name, F a list of
 * fields, - a place in u that this version leaves out; A the architecture, which some versions write
 * as a string and some as the number of a character; M the memory statistics, K the frames of a bucket.
 */
static const char *const layouts[GO_TAGS] = {
	[GO_EOF] = "", [GO_OBJECT] = "nsF", [GO_ROOT] = "sn", [GO_TYPE] = "nnTn",
	[GO_GOROUTINE] = "nnnnnnnnsnnnn", [GO_FRAME] = "nnnsnnnsF", [GO_PARAMS] = "nn-nnAsn",
	[GO_FINALIZER] = "nnnnn", [GO_ITAB] = "nn", [GO_THREAD] = "nnn", [GO_MEMSTATS] = "M",
	[GO_QUEUED] = "nnnnn", [GO_DATA] = "nsF", [GO_BSS] = "nsF", [GO_DEFER] = "nnnnnnn",
	[GO_PANIC] = "nnnnnn", [GO_BUCKET] = "nnKnn", [GO_SAMPLE] = "nn",
};

/* Where go1.3 differs. */
static const char *layout_of(unsigned version, enum go_tag tag)
{
	if (version > 3)
		return layouts[tag];
	return tag == GO_OBJECT ? "nnns" : tag == GO_TYPE ? "nnsnF" : tag == GO_PARAMS ? "nnnnnAsn" :
	    layouts[tag];
}

const char *go_tag_name(enum go_tag tag)
{
	static const char *const names[GO_TAGS] = {
		"the end record", "an object record", "a root record", "a type record",
		"a goroutine record", "a stack frame record", "a parameter record",
		"a finalizer record", "an itab record", "an OS thread record",
		"a memory statistics record", "a queued finalizer record", "a data segment record",
		"a bss segment record", "a defer record", "a panic record",
		"an allocation bucket record", "an allocation sample record",
	};
	return names[tag];
}

const char *go_memstats_name(unsigned place, enum stated_unit *unit)
{
	static const struct {
		const char *name;
		enum stated_unit unit;
	} stats[] = {
		{ "Alloc", STATED_BYTES }, { "TotalAlloc", STATED_BYTES }, { "Sys", STATED_BYTES },
		{ "Lookups", STATED_THINGS }, { "Mallocs", STATED_THINGS }, { "Frees", STATED_THINGS },
		{ "HeapAlloc", STATED_BYTES }, { "HeapSys", STATED_BYTES }, { "HeapIdle", STATED_BYTES },
		{ "HeapInuse", STATED_BYTES }, { "HeapReleased", STATED_BYTES }, { "HeapObjects", STATED_THINGS },
		{ "StackInuse", STATED_BYTES }, { "StackSys", STATED_BYTES }, { "MSpanInuse", STATED_BYTES },
		{ "MSpanSys", STATED_BYTES }, { "MCacheInuse", STATED_BYTES }, { "MCacheSys", STATED_BYTES },
		{ "BuckHashSys", STATED_BYTES }, { "GCSys", STATED_BYTES }, { "OtherSys", STATED_BYTES },
		{ "NextGC", STATED_BYTES }, { "LastGC", STATED_TIME },
		{ "PauseTotalNs", STATED_THINGS }, /* its name tells the unit */
		{ "NumGC", STATED_THINGS },
	};
	if (place >= sizeof stats / sizeof *stats)
		return NULL;
	*unit = stats[place].unit;
	return stats[place].name;
}

enum { VARINT_MAX = 10, LETTERS_FROM = 32 };

bool go_varint_slow(const uint8_t **p, const uint8_t *end, uint64_t *out)
{
	const uint8_t *at = *p;
	uint64_t value = 0;
	for (unsigned i = 0; i < VARINT_MAX && at < end; i++) {
		uint8_t byte = *at++;
		if (i == VARINT_MAX - 1 && byte > 1)
			return false;
		value |= (uint64_t)(byte & 0x7f) << 7 * i;
		if (!(byte & 0x80)) {
			*p = at;
			*out = value;
			return true;
		}
	}
	return false;
}

struct decoder {
	const uint8_t *p, *end;
	uint64_t left_behind; /* bytes that a string said it has, if that is what went wrong */
	uint64_t bad_kind;    /* of a field, likewise */
	unsigned version;
};

static bool number(struct decoder *d, uint64_t *out)
{
	return go_varint(&d->p, d->end, out);
}

static bool string(struct decoder *d, uint64_t n, struct go_bytes *out)
{
	if (n > (uint64_t)(d->end - d->p)) {
		d->left_behind = n;
		return false;
	}
	*out = (struct go_bytes){ d->p, n };
	d->p += n;
	return true;
}

static bool sized_string(struct decoder *d, struct go_bytes *out)
{
	uint64_t n;
	return number(d, &n) && string(d, n, out);
}

/*
 * The name of a type.  Where it has a package, go1.4 and go1.5 take the address of the two strings for the strings
 * (runtime/heapdump.go, dumptype): the length is the sum of two addresses, and neither write succeeds.  What follows is
 * the dot between them, a bool and the next record.
 */
static bool type_name(struct decoder *d, struct go_bytes *out)
{
	enum { LEAST_ADDRESS = 1 << 12 };
	const uint8_t *begin = d->p;
	uint64_t n, left;
	if (d->version > 6)
		return sized_string(d, out);
	if (!number(d, &n))
		return false;
	left = (uint64_t)(d->end - d->p);
	if (n >= LEAST_ADDRESS && left >= 3 && d->p[0] == '.' && d->p[1] <= 1 && d->p[2] < GO_TAGS) {
		*out = (struct go_bytes){ d->p++, 0 };
		return true;
	}
	d->p = begin;
	return sized_string(d, out);
}

static bool field_list(struct decoder *d, struct go_bytes *out)
{
	const uint64_t last = d->version == 3 ? GO_EMPTY_INTERFACE : d->version == 4 ? 3 : GO_POINTER;
	const uint8_t *begin = d->p;
	uint64_t kind, offset;
	for (;;) {
		const uint8_t *at = d->p;
		if (!number(d, &kind))
			return false;
		if (!kind)
			break;
		if (kind > last) {
			d->p = at;
			d->bad_kind = kind;
			return false;
		}
		if (!number(d, &offset))
			return false;
	}
	*out = (struct go_bytes){ begin, (uint64_t)(d->p - begin) };
	return true;
}

/* A letter's number is at least 32, an architecture's name is shorter. */
static bool architecture(struct decoder *d, uint64_t *letter, struct go_bytes *out)
{
	uint64_t n;
	if (!number(d, &n))
		return false;
	*letter = n >= LETTERS_FROM ? n : 0;
	return n >= LETTERS_FROM || string(d, n, out);
}

/* The lengths of pauses between the statistics stay as they are: *pauses. */
static bool memstats(struct decoder *d, uint64_t *u, struct go_bytes *pauses)
{
	uint64_t pause;
	for (unsigned i = 0; i < MEMSTATS_N_GC; i++)
		if (!number(d, &u[i]))
			return false;
	const uint8_t *begin = d->p;
	for (unsigned i = 0; i < GO_PAUSES; i++)
		if (!number(d, &pause))
			return false;
	*pauses = (struct go_bytes){ begin, (uint64_t)(d->p - begin) };
	return number(d, &u[MEMSTATS_N_GC]);
}

static bool bucket_frames(struct decoder *d, uint64_t *n, struct go_bytes *out)
{
	if (!number(d, n))
		return false;
	const uint8_t *begin = d->p;
	for (uint64_t i = 0; i < *n; i++) { /* each takes three bytes at least: ends with the file */
		struct go_bytes text;
		uint64_t line;
		if (!sized_string(d, &text) || !sized_string(d, &text) || !number(d, &line))
			return false;
	}
	*out = (struct go_bytes){ begin, (uint64_t)(d->p - begin) };
	return true;
}

static bool decode(struct decoder *d, const char *layout, struct go_record *out)
{
	unsigned u = 0, s = 0;
	for (bool ok = true; *layout; layout++) {
		switch (*layout) {
		case 'n': ok = number(d, &out->u[u++]); break;
		case 's': ok = sized_string(d, &out->s[s++]); break;
		case 'T': ok = type_name(d, &out->s[s++]); break;
		case 'F': ok = field_list(d, &out->fields); break;
		case '-': u++; break;
		case 'A': ok = architecture(d, &out->u[u++], &out->s[s++]); break;
		case 'M': ok = memstats(d, out->u, &out->s[s++]); break;
		case 'K': ok = bucket_frames(d, &out->u[u++], &out->s[s++]); break;
		}
		if (!ok)
			return false;
	}
	return true;
}

/* Why the record could not be decoded. */
static int refuse(const struct decoder *d, const struct go_record *r, const uint8_t *bytes,
    struct err *err)
{
	const char *what = go_tag_name(r->tag);
	uint64_t left = (uint64_t)(d->end - d->p), at = (uint64_t)(d->p - bytes);
	if (d->left_behind)
		return err_at(err, ERR_TRUNCATED, r->offset, "truncated in %s at byte %" PRIu64 ": it should have "
		    "%" PRIu64 " more bytes and has %" PRIu64, what, r->offset, d->left_behind, left);
	if (d->bad_kind)
		return err_at(err, ERR_FORMAT, r->offset, "%s at byte %" PRIu64 " lists a field of kind %"
		    PRIu64 " at byte %" PRIu64 ", which go1.%u does not have", what, r->offset, d->bad_kind,
		    at, d->version);
	if (left >= VARINT_MAX)
		return err_at(err, ERR_FORMAT, r->offset, "%s at byte %" PRIu64 " holds a number of more "
		    "than 64 bits at byte %" PRIu64, what, r->offset, at);
	return err_at(err, ERR_TRUNCATED, r->offset, "truncated in %s at byte %" PRIu64, what, r->offset);
}

int go_record_decode(const uint8_t *bytes, uint64_t size, uint64_t offset, unsigned version,
    struct go_record *out, struct err *err)
{
	struct decoder d = { .p = bytes + offset, .end = bytes + size, .version = version };
	uint64_t tag = 0;
	*out = (struct go_record){ .offset = offset };
	if (!number(&d, &tag) || tag >= GO_TAGS)
		return err_at(err, ERR_FORMAT, offset, "unknown record type %" PRIu64 " at byte %" PRIu64 "; the "
		    "%" PRIu64 " bytes from there on are unreadable", tag, offset, size - offset);
	out->tag = (enum go_tag)tag;
	if (!decode(&d, layout_of(version, out->tag), out))
		return refuse(&d, out, bytes, err);
	out->next = (uint64_t)(d.p - bytes);
	return 0;
}

bool go_site_next(struct go_bytes *frames, struct go_site_frame *out)
{
	struct decoder d = { .p = frames->p, .end = frames->p + frames->n };
	if (!frames->n || !sized_string(&d, &out->function) || !sized_string(&d, &out->file) ||
	    !number(&d, &out->line))
		return false;
	frames->n -= (uint64_t)(d.p - frames->p);
	frames->p = d.p;
	return true;
}

void go_pauses(const struct go_record *r, uint64_t *last, uint64_t *longest)
{
	const uint8_t *p = r->s[0].p, *end = p + r->s[0].n;
	uint64_t n_gc = r->u[MEMSTATS_N_GC], pause;
	*last = *longest = 0;
	for (uint64_t i = 0; i < GO_PAUSES && i < n_gc && go_varint(&p, end, &pause); i++) {
		*longest = pause > *longest ? pause : *longest;
		*last = i == (n_gc - 1) % GO_PAUSES ? pause : *last;
	}
}
