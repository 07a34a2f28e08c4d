/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mkdump_classic.c - the writer of classic text dumps, as the VM or as jdmpview spells them.
 */
#include "mkdump.h"

#include <string.h>

/* ASCII to IBM-1047 for what these files hold besides letters and digits. */
static unsigned char to_ebcdic(unsigned char c)
{
	static const char plain[] = " .<(+&!$*);^-/,%_>?`:#@'=\"~{}\\[]|\n\t";
	static const unsigned char coded[] = { 0x40, 0x4B, 0x4C, 0x4D, 0x4E, 0x50, 0x5A, 0x5B, 0x5C,
		0x5D, 0x5E, 0x5F, 0x60, 0x61, 0x6B, 0x6C, 0x6D, 0x6E, 0x6F, 0x79, 0x7A, 0x7B, 0x7C, 0x7D,
		0x7E, 0x7F, 0xA1, 0xC0, 0xD0, 0xE0, 0xAD, 0xBD, 0x4F, 0x15, 0x05 };
	if (c >= '0' && c <= '9')
		return (unsigned char)(0xF0 + c - '0');
	unsigned letter = c | 0x20;
	unsigned lower = c & 0x20 ? 0 : 0x40;
	if (letter >= 'a' && letter <= 'i')
		return (unsigned char)(0x81 + letter - 'a' + lower);
	if (letter >= 'j' && letter <= 'r')
		return (unsigned char)(0x91 + letter - 'j' + lower);
	if (letter >= 's' && letter <= 'z')
		return (unsigned char)(0xA2 + letter - 's' + lower);
	const char *at = c ? strchr(plain, c) : NULL;
	if (!at)
		die("byte 0x%02x has no place in an EBCDIC dump", c);
	return coded[at - plain];
}

static void put(struct classic *w, const char *s)
{
	if (!w->options.ebcdic) {
		out_text(w->out, s);
		return;
	}
	for (; *s; s++)
		out_byte(w->out, to_ebcdic((unsigned char)*s));
}

static void put_number(struct classic *w, uint64_t value)
{
	if (!w->options.ebcdic) {
		out_decimal(w->out, value);
		return;
	}
	char digits[21];
	size_t at = sizeof digits - 1;
	digits[at] = '\0';
	do
		digits[--at] = (char)('0' + value % 10);
	while (value /= 10);
	put(w, digits + at);
}

static void put_address(struct classic *w, uint64_t address)
{
	put(w, "0x");
	if (!w->options.ebcdic) {
		out_hex(w->out, address, w->options.digits);
		return;
	}
	for (unsigned i = w->options.digits; i-- > 0;)
		out_byte(w->out, to_ebcdic((unsigned char)"0123456789ABCDEF"[address >> 4 * i & 15]));
}

void classic_begin(struct classic *w, struct out *out, const struct classic_options *options)
{
	*w = (struct classic){ .out = out, .options = *options };
	w->newline = options->crlf ? "\r\n" : "\n";
	if (options->version) {
		put(w, "// Version: ");
		put(w, options->version);
		/* The VM writes no newline here: each record brings its own. */
		if (options->jdmpview)
			put(w, w->newline);
	}
}

void classic_record(struct classic *w, enum classic_kind kind, uint64_t address, uint64_t size,
    const char *type, const uint64_t *references, size_t n, uint64_t nulls)
{
	if (!w->options.jdmpview)
		put(w, w->newline);
	put_address(w, address);
	put(w, " [");
	put_number(w, size);
	put(w, kind == CLASSIC_CLASS ? "] CLS " : "] OBJ ");
	put(w, type);
	put(w, w->newline);
	put(w, "\t");
	for (size_t i = 0; i < n; i++) {
		put_address(w, references[i]);
		put(w, " ");
	}
	if (w->options.jdmpview)
		put(w, w->newline);
	/* The VM tells arrays apart by their innermost element: int[][] is an array of primitives. */
	size_t depth = strspn(type, "[");
	if (kind == CLASSIC_ARRAY && depth > 1 && type[depth] != 'L' && !w->options.jdmpview)
		kind = CLASSIC_PRIMITIVES;
	*(kind == CLASSIC_CLASS ? &w->n_classes
	    : kind == CLASSIC_OBJECT ? &w->n_objects
	    : kind == CLASSIC_ARRAY ? &w->n_arrays : &w->n_primitives) += 1;
	w->n_references += n;
	w->n_nulls += nulls;
}

static void put_count(struct classic *w, const char *label, uint64_t count)
{
	put(w, label);
	put(w, w->options.jdmpview ? ":" : ": ");
	put_number(w, count);
}

void classic_end(struct classic *w)
{
	bool second = w->options.jdmpview;
	uint64_t nulls = second ? 0 : w->n_nulls;
	if (!second)
		put(w, w->newline);
	put_count(w, "// Breakdown - Classes", w->n_classes);
	put_count(w, ", Objects", w->n_objects);
	put_count(w, ", ObjectArrays", w->n_arrays);
	put_count(w, ", PrimitiveArrays", w->n_primitives);
	put(w, w->newline);
	put(w, second ? "// EOF: Total 'Objects',Refs(null) : " : "// EOF:  Total 'Objects',Refs(null) : ");
	put_number(w, w->n_classes + w->n_objects + w->n_arrays + w->n_primitives);
	put(w, ",");
	put_number(w, w->n_references + nulls);
	put(w, "(");
	put_number(w, nulls);
	put(w, ")");
	put(w, w->newline);
}
