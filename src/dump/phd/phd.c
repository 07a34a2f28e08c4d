/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phd.c - the Portable Heap Dump of IBM's and OpenJ9's Java: header and facts.
 *
 * Layout: OpenJ9 documentation, "Portable Heap Dump (PHD) file format", and, where files differ
 * from it, the files.  All numbers are big-endian.  An opened dump is immutable: any thread.
 */
#include "dump/phd/phd_dump.h"

#include "base/mem.h"
#include "base/text.h"
#include "dump/cursor.h"
#include "dump/source/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC_SIZE 20
static const uint8_t magic_bytes[MAGIC_SIZE + 1] = "\0\022portable heap dump";

enum header_tag { TAG_TOTALS = 1, TAG_HEADER_END = 2, TAG_HASH_SEEDS = 3, TAG_FULL_VERSION = 4 };
#define START_OF_HEADER 1
#define START_OF_BODY 2

static int probe(const uint8_t *head, size_t n)
{
	if (n >= MAGIC_SIZE && !memcmp(head, magic_bytes, MAGIC_SIZE))
		return 100;
	if (n < MAGIC_SIZE && n > 3 && !memcmp(head, magic_bytes, n))
		return 60; /* a PHD cut in its first bytes */
	if (n >= MAGIC_SIZE && !memcmp(head + 2, magic_bytes + 2, 14))
		return 10; /* a PHD whose first bytes are damaged */
	return 0;
}

/* --- facts ------------------------------------------------------------------------------------- */

static void created_of_file(const uint8_t *head, size_t n, const char *path, char *to, size_t room)
{
	(void)head, (void)n;
	dump_created_from_name(to, room, path);
}

static void state_facts(struct phd *phd)
{
	struct dump_facts *f = &phd->dump.facts;

	snprintf(f->version, sizeof f->version, "%u", phd->version);
	f->word_bits = phd->word_code == 3 ? 64 : 32;
	f->big_endian = true;
	f->no_values = "PHD holds no field values";
	f->cannot_tell = "PHD holds no field names or values, primitive array contents, element positions in "
	    "arrays with nulls, GC roots or threads; roots are inferred, and threads come from a javacore if "
	    "present";
	f->has_instance_sizes = true;
	f->loader_is_first_reference = true;
	f->elements_last_first = true;
	f->loaders_hold_classes = true;
	f->roots_recorded = false;
	f->hashes_recorded = true;
	f->references_superclass_recorded = true;
	/* J9 2.6 gave up 16-bit hashes and took a least object size on 64 bits at the same time;
	 * version 6 is younger still */
	bool since_2_6 = phd->j9 && (phd->has_size || !(phd->flags & PHD_ALL_HASHED));
	f->minimum_object_size = since_2_6 && f->word_bits == 64 ? 16 : 0;
	f->hashed_grow = since_2_6 && !phd->all_hashed; /* VMs before have room for it in each header */
	f->object_alignment = 8;
	f->array_sizes_need_model = !phd->has_size;
	dump_created_from_name(f->created, sizeof f->created, phd->dump.source->path);
}

static void keep_version(struct phd *phd, const uint8_t *bytes, size_t n)
{
	char *vm = phd->dump.facts.vm;
	size_t room = sizeof phd->dump.facts.vm - 1;
	struct text text = TEXT_INIT;

	text_add_modified_utf8(&text, bytes, n);
	size_t kept = text.len < room ? text.len : room;
	while (kept < text.len && ((uint8_t)text.s[kept] & 0xC0) == 0x80)
		kept--; /* not inside a character */
	if (text.s)
		memcpy(vm, text.s, kept);
	vm[kept] = '\0';
	text_release(&text);
	/* One Java 1.4.2 build wrote 4 bytes where it said 8. */
	phd->narrow_code3 = n >= 4 && !memcmp(bytes + n - 4, "0917", 4);
}

/* --- header ------------------------------------------------------------------------------------ */

static int header_entries(struct phd *phd, struct cursor *c, struct err *err)
{
	const uint8_t *first = phd->dump.source->bytes;

	for (;;) {
		uint64_t at = (uint64_t)(c->p - first);
		unsigned tag = cursor_u8(c);
		if (c->short_of || tag == TAG_HEADER_END)
			return 0;
		if (tag == TAG_TOTALS) {
			phd->total_objects = cursor_u32(c);
			phd->total_references = cursor_u32(c);
			phd->has_totals = !c->short_of;
		} else if (tag == TAG_HASH_SEEDS) {
			cursor_take(c, 8); /* from these such a VM made hashes of addresses; records hold them */
		} else if (tag == TAG_FULL_VERSION) {
			uint16_t n = cursor_u16(c);
			const uint8_t *text = cursor_take(c, n);
			if (text)
				keep_version(phd, text, n);
		} else {
			return err_at(err, ERR_FORMAT, at,
			    "unknown header entry %u at byte %" PRIu64 "; entries have no length, so nothing "
			    "after it is readable", tag, at);
		}
	}
}

static int read_header(struct phd *phd, struct err *err)
{
	const struct source *source = phd->dump.source;
	struct cursor c = cursor_make(source->bytes, source->bytes + source->size);
	const uint8_t *magic = cursor_take(&c, MAGIC_SIZE);

	if (magic && memcmp(magic, magic_bytes, MAGIC_SIZE))
		return err_at(err, ERR_FORMAT, 0,
		    "the mark in the first 20 bytes is damaged: not a PHD dump, or damaged by a transfer in text "
		    "mode");
	phd->version = cursor_u32(&c);
	phd->flags = cursor_u32(&c);
	unsigned start = cursor_u8(&c);
	if (!c.short_of && (phd->version < 4 || phd->version > 6))
		return err_at(err, ERR_FORMAT, MAGIC_SIZE,
		    "PHD version %" PRId32 " (cairn reads versions 4, 5 and 6)", (int32_t)phd->version);
	if (!c.short_of && start != START_OF_HEADER)
		return err_at(err, ERR_FORMAT, MAGIC_SIZE + 8,
		    "no start of header at byte %d (found 0x%02x)", MAGIC_SIZE + 8, start);
	int code = c.short_of ? 0 : header_entries(phd, &c, err);
	if (code < 0)
		return code;
	phd->body_marked = cursor_u8(&c) == START_OF_BODY;
	if (c.short_of)
		return err_at(err, ERR_TRUNCATED, source->size,
		    "truncated in the header at byte %" PRIu64 "; no object was written", source->size);
	phd->body = (uint64_t)(c.p - source->bytes) - (phd->body_marked ? 0 : 1);
	return 0;
}

static int phd_open(struct dump **out, const struct source *source,
    const struct dump_options *options, struct err *err)
{
	struct phd *phd = xcalloc(1, sizeof *phd);

	(void)options;
	dump_begin(&phd->dump, &phd_reader, source);
	int code = read_header(phd, err);
	if (code < 0) {
		free(phd);
		return code;
	}
	phd->j9 = phd->flags & PHD_J9;
	phd->word_code = phd->flags & PHD_64_BIT ? 3 : 2;
	phd->mask = phd->flags & PHD_64_BIT ? UINT64_MAX : UINT32_MAX;
	phd->shift = phd->version == 5 || phd->j9 ? 2 : 3;
	phd->all_hashed = phd->j9 && phd->flags & PHD_ALL_HASHED;
	phd->has_size = phd->version >= 6;
	state_facts(phd);
	phd_look(phd);
	*out = &phd->dump;
	return 0;
}

static void phd_close(struct dump *dump)
{
	free((struct phd *)dump);
}

/* Addresses are relative to the record before: there is only one way in, until cuts are known. */
static unsigned phd_parts(const struct dump *dump, unsigned want, struct part *out)
{
	const struct phd *phd = (const struct phd *)dump;

	(void)want;
	*out = (struct part){ .begin = phd->body, .end = dump->source->size };
	return 1;
}

const struct reader phd_reader = {
	.name = "phd",
	.title = "PHD",
	.label = "PHD",
	.created = created_of_file,
	.probe = probe,
	.open = phd_open,
	.close = phd_close,
	.parts = phd_parts,
	.read = phd_read,
};
