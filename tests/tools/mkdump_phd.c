/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mkdump_phd.c - the PHD writer: versions 4 to 6, every record kind.
 *
 * Written from the published description of the format and the behaviour of real files, apart from
 * the reader.  Without "wild" it chooses as the VM does: the tightest record that fits.
 */
#include "mkdump.h"

#include <string.h>

/* Size code of a signed number: 0 one byte, 1 two, 2 four, 3 eight. */
static unsigned signed_code(int64_t v)
{
	if (v >= INT8_MIN && v <= INT8_MAX)
		return 0;
	if (v >= INT16_MIN && v <= INT16_MAX)
		return 1;
	return v >= INT32_MIN && v <= INT32_MAX ? 2 : 3;
}

static unsigned larger(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* Sometimes a code wider than needed, up to limit. */
static unsigned widened(struct phd *w, unsigned code, unsigned limit)
{
	if (w->options.wild && code < limit && chance_percent(w->options.wild, 8))
		return code + 1 + (unsigned)chance_below(w->options.wild, limit - code);
	return code;
}

static bool maybe(struct phd *w, unsigned percent)
{
	return w->options.wild && chance_percent(w->options.wild, percent);
}

void phd_begin(struct phd *w, struct out *out, const struct phd_options *options)
{
	*w = (struct phd){ .out = out, .options = *options };
	w->word = options->flags & PHD_64 ? 8 : 4;
	w->mask = w->word == 8 ? UINT64_MAX : UINT32_MAX;
	w->shift = options->version == 5 || options->flags & PHD_J9 ? 2 : 3;
	w->hashed16 = (options->flags & (PHD_HASHED | PHD_J9)) == (PHD_HASHED | PHD_J9);
	out_be(out, 18, 2);
	out_text(out, "portable heap dump");
	out_be(out, options->version, 4);
	out_be(out, options->flags, 4);
	out_byte(out, 1);
	if (options->old_header) {
		out_byte(out, 1);
		out_be(out, options->n_objects, 4);
		out_be(out, options->n_references, 4);
		out_byte(out, 3);
		out_be(out, 0x5EED0001, 4);
		out_be(out, 0x5EED0002, 4);
	}
	if (options->full_version) {
		out_byte(out, 4);
		out_be(out, strlen(options->full_version), 2);
		out_text(out, options->full_version);
	}
	out_byte(out, 2);
	out_byte(out, 2);
}

/* Distance from one address to another in the dump's units, which are at least 4 bytes: that of two
 * 32-bit addresses fits 32 bits. */
static int64_t distance(const struct phd *w, uint64_t from, uint64_t to)
{
	int64_t bytes = (int64_t)(to - from);
	if (bytes % (1 << w->shift) != 0)
		die("an address is not a multiple of the dump's unit");
	return bytes / (1 << w->shift);
}

static int64_t take_gap(struct phd *w, uint64_t address)
{
	int64_t gap = distance(w, w->previous, address);
	w->previous = address;
	return gap;
}

static unsigned reference_code(struct phd *w, uint64_t from, const uint64_t *to, uint32_t n)
{
	unsigned code = 0;
	for (uint32_t i = 0; i < n; i++)
		code = larger(code, signed_code(distance(w, from, to[i])));
	return widened(w, code, 3);
}

static void put_references(struct phd *w, uint64_t from, const uint64_t *to, uint32_t n,
    unsigned code)
{
	for (uint32_t i = 0; i < n; i++)
		out_be(w->out, (uint64_t)distance(w, from, to[i]), 1u << code);
	w->n_references += n;
}

static void put_hash(struct phd *w, int64_t hash)
{
	if (w->hashed16)
		out_be(w->out, (uint64_t)hash & 0x7FFF, 2);
	else if (hash >= 0)
		out_be(w->out, (uint64_t)hash, 4);
}

/* The hash as a flag of the record: never set where every record carries one anyway, except that
 * readers must ignore it there. */
static bool hash_flag(struct phd *w, int64_t hash)
{
	return w->hashed16 ? maybe(w, 50) : hash >= 0;
}

static void remember_class(struct phd *w, uint64_t class_address)
{
	w->cache[w->next] = class_address;
	w->next = (w->next + 1) % 4;
}

void phd_object(struct phd *w, uint64_t address, uint64_t class_address, int64_t hash,
    const uint64_t *references, uint32_t n)
{
	int64_t gap = take_gap(w, address);
	unsigned gap_code = signed_code(gap);
	unsigned code = reference_code(w, address, references, n);
	bool own_hash = !w->hashed16 && hash >= 0;
	unsigned slot = 0;
	while (slot < 4 && w->cache[slot] != class_address)
		slot++;
	if (gap_code <= 1 && !own_hash && n <= 3 && slot < 4 && !maybe(w, 15)) {
		gap_code = widened(w, gap_code, 1);
		out_byte(w->out, 0x80 | slot << 5 | n << 3 | gap_code << 2 | code);
		out_be(w->out, (uint64_t)gap, 1u << gap_code);
		put_hash(w, hash);
		w->n_short++;
	} else if (gap_code <= 1 && !own_hash && n <= 7 && !maybe(w, 15)) {
		gap_code = widened(w, gap_code, 1);
		out_byte(w->out, 0x40 | n << 3 | gap_code << 2 | code);
		out_be(w->out, (uint64_t)gap, 1u << gap_code);
		out_be(w->out, class_address, w->word);
		put_hash(w, hash);
		remember_class(w, class_address);
		w->n_medium++;
	} else {
		gap_code = widened(w, gap_code, 3);
		out_byte(w->out, 4);
		out_byte(w->out, gap_code << 6 | code << 4 | hash_flag(w, hash) << 1 | 1);
		out_be(w->out, (uint64_t)gap, 1u << gap_code);
		out_be(w->out, class_address, w->word);
		put_hash(w, hash);
		out_be(w->out, n, 4);
		remember_class(w, class_address);
		w->n_long++;
	}
	put_references(w, address, references, n, code);
}

void phd_array(struct phd *w, uint64_t address, uint64_t class_word, int64_t hash,
    const uint64_t *references, uint32_t n, uint32_t length, uint64_t size)
{
	bool old = w->options.version == 4;
	int64_t gap = take_gap(w, address);
	unsigned gap_code = widened(w, signed_code(gap), 3);
	unsigned code = reference_code(w, address, references, n);
	out_byte(w->out, old ? 5 : 8);
	out_byte(w->out, gap_code << 6 | code << 4 | hash_flag(w, hash) << 1 | 1);
	out_be(w->out, (uint64_t)gap, 1u << gap_code);
	out_be(w->out, class_word, w->word);
	put_hash(w, hash);
	out_be(w->out, n, 4);
	put_references(w, address, references, n, code);
	if (!old)
		out_be(w->out, length, 4);
	if (w->options.version >= 6)
		out_be(w->out, size / 4, 4);
	if (old)
		w->n_old_array++;
	else
		w->n_array++;
}

void phd_primitives(struct phd *w, uint64_t address, enum element type, int64_t hash,
    uint64_t length, uint64_t size)
{
	int64_t gap = take_gap(w, address);
	bool own_hash = !w->hashed16 && hash >= 0;
	if (!own_hash && !maybe(w, 20)) {
		/* The VM widens the length at 128; readers take it unsigned all the same. */
		unsigned length_code = signed_code((int64_t)length);
		if (length > 127 && length <= 255 && maybe(w, 50))
			length_code = 0;
		unsigned code = widened(w, larger(signed_code(gap), length_code), 3);
		out_byte(w->out, 0x20 | (unsigned)type << 2 | code);
		out_be(w->out, (uint64_t)gap, 1u << code);
		out_be(w->out, length, 1u << code);
		w->n_primitive++;
	} else {
		bool wide = signed_code(gap) > 0 || length > 127 || maybe(w, 30);
		unsigned bytes = wide ? w->word : 1;
		out_byte(w->out, 7);
		out_byte(w->out, (unsigned)type << 5 | wide << 4 | hash_flag(w, hash) << 1);
		out_be(w->out, (uint64_t)gap, bytes);
		out_be(w->out, length, bytes);
		w->n_long_primitive++;
	}
	put_hash(w, hash);
	if (w->options.version >= 6)
		out_be(w->out, size / 4, 4);
}

void phd_class(struct phd *w, uint64_t address, uint32_t instance_size, int64_t hash,
    uint64_t superclass, const char *name, const uint64_t *references, uint32_t n)
{
	int64_t gap = take_gap(w, address);
	unsigned gap_code = widened(w, signed_code(gap), 3);
	unsigned code = reference_code(w, address, references, n);
	bool flag = hash_flag(w, hash);
	out_byte(w->out, 6);
	out_byte(w->out, gap_code << 6 | code << 4 | flag << 3);
	out_be(w->out, (uint64_t)gap, 1u << gap_code);
	out_be(w->out, instance_size, 4);
	put_hash(w, hash);
	out_be(w->out, superclass, w->word);
	out_be(w->out, strlen(name), 2);
	out_text(w->out, name);
	out_be(w->out, n, 4);
	put_references(w, address, references, n, code);
	w->n_class++;
}

void phd_end(struct phd *w)
{
	out_byte(w->out, 3);
}
