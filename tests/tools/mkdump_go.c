/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mkdump_go.c - small random Go heap dumps of every version, byte order and pointer width, with what
 * was planted as JSON beside them.
 *
 *     mkdump go --seed N [--version 3|4|5|6|7] [--big-endian 0|1] [--pointer 4|8]
 *         [--release go1.X] [--surplus N] --out PREFIX
 *
 * A surplus is of objects that the memory statistics do not count, as since Go 1.22.
 * What is not given follows from the seed.  Objects lie apart or side by side, in pages with holes;
 * pointers lead to their start, into them, just past them, into data and bss, to nowhere.  Where a
 * pointer leads is found again for the truth by looking at every object.
 */
#include "mkdump_go.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- writing ------------------------------------------------------------------------------------ */

static void put(struct go *g, uint64_t value)
{
	unsigned n = 0, more = g->loose && percent(g, 10) ? 1 : 0;
	for (; value >= 0x80; value >>= 7, n++)
		out_byte(&g->out, 0x80 | (value & 0x7F));
	if (n >= 9)
		more = 0;
	out_byte(&g->out, (unsigned)value | (more ? 0x80 : 0));
	if (more)
		out_byte(&g->out, 0);
}

static void put_text(struct go *g, const char *s)
{
	put(g, strlen(s));
	out_text(&g->out, s);
}

static unsigned kind_number(const struct go *g, unsigned kind)
{
	/* 1.4 has pointers, interfaces and empty interfaces; 1.3 all of them */
	if (g->version == 3 || kind == POINTER)
		return kind;
	return kind == INTERFACE ? 2 : 3;
}

static void put_fields(struct go *g, const struct field *field, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		put(g, kind_number(g, field[i].kind));
		put(g, field[i].offset);
	}
	put(g, 0);
}

static void put_contents(struct go *g, const struct memory *m)
{
	put(g, m->size);
	out_bytes(&g->out, m->bytes, m->size);
}

/* --- the truth ---------------------------------------------------------------------------------- */

static const struct memory *object_around(const struct go *g, uint64_t address)
{
	for (unsigned i = 0; i < g->n_objects; i++) {
		const struct memory *m = &g->object[i];
		if (address >= m->address && address - m->address < m->size)
			return m;
	}
	return NULL;
}

static void tell_object(struct go *g, const struct memory *m, bool first)
{
	out_format(&g->truth, "%s\n{\"at\":%llu,\"size\":%llu,\"slots\":[", first ? "" : ",",
	    (unsigned long long)m->address, (unsigned long long)m->size);
	for (unsigned i = 0; i < m->n_fields; i++)
		out_format(&g->truth, "%s%llu", i ? "," : "", (unsigned long long)pointer_at(g, &m->field[i]));
	out_text(&g->truth, "],\"out\":[");
	for (unsigned i = 0, n = 0; i < m->n_fields; i++) {
		uint64_t to = get_word(g, m, pointer_at(g, &m->field[i]));
		const struct memory *target = object_around(g, to);
		g->n_outside += to && !target;
		if (target)
			out_format(&g->truth, "%s[%llu,%llu]", n++ ? "," : "", (unsigned long long)target->address,
			    (unsigned long long)(to - target->address));
	}
	out_text(&g->truth, "]}");
}

/* holder: number of the goroutine that keeps it, -1 none; frame likewise. */
static void tell_root(struct go *g, const char *kind, uint64_t slot, uint64_t to, int holder, int frame)
{
	const struct memory *target = object_around(g, to);
	if (!target)
		return;
	out_format(&g->truth, "%s\n{\"kind\":\"%s\",\"slot\":%llu,\"at\":%llu,\"goroutine\":%d,\"frame\":%d}",
	    g->n_roots++ ? "," : "", kind, (unsigned long long)slot, (unsigned long long)target->address,
	    holder, frame);
}

static void tell_slots(struct go *g, const char *kind, const struct memory *m, int holder, int frame)
{
	for (unsigned i = 0; i < m->n_fields; i++) {
		uint64_t at = pointer_at(g, &m->field[i]);
		tell_root(g, kind, m->address + at, get_word(g, m, at), holder, frame);
	}
}

/* --- records ------------------------------------------------------------------------------------ */

static void put_params(struct go *g)
{
	put(g, 6);
	put(g, g->big);
	put(g, g->width);
	if (g->version == 3)
		put(g, (uint64_t)HCHAN_WORDS * g->width);
	put(g, g->low);
	put(g, g->high);
	if (g->version < 5 || (g->version < 7 && percent(g, 50)))
		put(g, g->width == 8 ? '6' : '8');
	else
		put_text(g, g->width == 8 ? g->big ? "s390x" : "amd64" : g->big ? "mips" : "386");
	put_text(g, g->version == 7 ? g->release : g->version == 3 ? "" : "fieldtrack");
	put(g, 2);
}

static void put_types(struct go *g)
{
	for (unsigned t = 0; t < MOST_TYPES; t++) {
		put(g, 3);
		put(g, g->type[t].address);
		put(g, g->type[t].size);
		char name[24];
		snprintf(name, sizeof name, "main.T%u", t);
		put_text(g, name);
		put(g, 1);
		if (g->version == 3)
			put_fields(g, g->type[t].field, g->type[t].n_fields);
	}
	put(g, 8); /* one itab, and it is at the address of the first type: words of interfaces hold it */
	put(g, g->type[0].address);
	put(g, g->version == 3 ? 1 : g->type[0].address);
}

static void put_object(struct go *g, const struct memory *m)
{
	put(g, 1);
	put(g, m->address);
	if (g->version == 3) {
		put(g, m->type ? g->type[m->type - 1].address : 0);
		put(g, m->kind);
	}
	put_contents(g, m);
	if (g->version > 3)
		put_fields(g, m->field, m->n_fields);
}

static void put_objects(struct go *g)
{
	unsigned *order = get_memory(g->n_objects, sizeof *order);
	for (unsigned i = 0; i < g->n_objects; i++) {
		unsigned k = (unsigned)below(g, i + 1);
		order[i] = order[k];
		order[k] = i;
	}
	for (unsigned i = 0; i < g->n_objects; i++)
		put_object(g, &g->object[order[i]]);
	free(order);
	for (unsigned i = 0; i < g->n_objects; i++)
		tell_object(g, &g->object[i], i == 0);
}

static void put_frames(struct go *g, int i)
{
	struct goroutine *r = &g->goroutine[i];
	for (unsigned k = 0; k < r->n_frames; k++) {
		uint64_t pc = 0x401000 + below(g, 1u << 16);
		put(g, 5);
		put(g, r->frame[k].address);
		put(g, k);
		put(g, k ? r->frame[k - 1].address : 0);
		put_contents(g, &r->frame[k]);
		put(g, 0x401000);
		put(g, pc);
		put(g, pc);
		put_text(g, r->name[k]);
		put_fields(g, r->frame[k].field, r->frame[k].n_fields);
		tell_slots(g, "frame", &r->frame[k], i, (int)k);
	}
}

static void put_defers(struct go *g, int i)
{
	struct goroutine *r = &g->goroutine[i];
	if (r->defer) {
		put(g, 14);
		put(g, r->defer);
		put(g, r->address);
		put(g, 0);
		put(g, 0x402000);
		put(g, r->defer_closure);
		put(g, r->defer_closure ? 0x403000 : 0);
		put(g, 0);
		tell_root(g, "defer", 0, r->defer, i, -1);
		tell_root(g, "defer", 0, r->defer_closure, i, -1);
	}
	if (!r->panic)
		return;
	put(g, 15);
	put(g, r->panic);
	put(g, r->address);
	put(g, g->type[0].address);
	put(g, r->panic_data);
	put(g, 0);
	put(g, 0);
	tell_root(g, "panic", 0, r->panic_data, i, -1);
}

static void put_goroutines(struct go *g)
{
	for (unsigned i = 0; i < g->n_goroutines; i++) {
		struct goroutine *r = &g->goroutine[i];
		put(g, 4);
		put(g, r->address);
		put(g, r->n_frames ? r->frame[0].address : 0);
		put(g, r->id);
		put(g, 0x404000);
		put(g, r->status);
		put(g, r->system);
		put(g, 0);
		put(g, r->since);
		put_text(g, r->reason);
		put(g, r->context);
		put(g, 0);
		put(g, r->defer);
		put(g, r->panic);
		tell_root(g, "goroutine", 0, r->address, (int)i, -1);
		tell_root(g, "context", 0, r->context, (int)i, -1);
		put_frames(g, (int)i);
		put_defers(g, (int)i);
	}
}

static void put_segment(struct go *g, unsigned tag, const char *kind, const struct memory *m)
{
	put(g, tag);
	put(g, m->address);
	put_contents(g, m);
	put_fields(g, m->field, m->n_fields);
	tell_slots(g, kind, m, -1, -1);
}

static void put_finalizer(struct go *g, bool queued)
{
	const struct memory *m = &g->object[below(g, g->n_objects)];
	uint64_t closure = percent(g, 50) ? g->object[below(g, g->n_objects)].address : 0x4c0000;
	put(g, queued ? 11 : 7);
	put(g, m->address);
	put(g, closure);
	put(g, 0x405000);
	put(g, g->type[0].address);
	put(g, g->type[0].address);
	tell_root(g, queued ? "queued" : "finalizer", 0, closure, -1, -1);
	if (queued)
		tell_root(g, "queued", 0, m->address, -1, -1);
	else
		tell_slots(g, "finalizer", m, -1, -1);
}

static void put_statistics(struct go *g)
{
	uint64_t bytes = 0;
	for (unsigned i = 0; i < g->n_objects; i++)
		bytes += g->object[i].size;
	put(g, 10);
	for (unsigned i = 0; i < 24; i++)
		put(g, i == 0 || i == 6 ? bytes : i == 11 ? g->n_objects - g->surplus : 1000 + i);
	for (unsigned i = 0; i < 256; i++)
		put(g, 0);
	put(g, 3);
}

static void put_profile(struct go *g)
{
	unsigned n = (unsigned)below(g, 4);
	for (unsigned b = 0; b < n; b++) {
		put(g, 16);
		put(g, 0x700000 + 64 * b);
		put(g, 32);
		put(g, 2);
		for (unsigned k = 0; k < 2; k++) {
			put_text(g, k ? "main.main" : b ? "main.leak" : "main.make");
			put_text(g, "app/main.go");
			put(g, 10 * (b + 1) + k);
		}
		put(g, 100);
		put(g, 40);
	}
	out_text(&g->truth, "\"samples\":[");
	for (unsigned i = 0, told = 0; n && i < g->n_objects; i++) {
		if (!percent(g, 40))
			continue;
		unsigned b = (unsigned)below(g, n);
		put(g, 17);
		put(g, g->object[i].address);
		put(g, 0x700000 + 64 * b);
		out_format(&g->truth, "%s[%llu,%u]", told++ ? "," : "",
		    (unsigned long long)g->object[i].address, b);
	}
	out_text(&g->truth, "],\n");
}

/* --- all of it ---------------------------------------------------------------------------------- */

static void tell_goroutines(struct go *g)
{
	out_text(&g->truth, "\n],\n\"goroutines\":[");
	for (unsigned i = 0; i < g->n_goroutines; i++) {
		const struct goroutine *r = &g->goroutine[i];
		out_format(&g->truth, "%s\n{\"at\":%llu,\"id\":%llu,\"status\":%llu,\"reason\":\"%s\",\"since\":%llu,"
		    "\"system\":%s,\"frames\":[", i ? "," : "", (unsigned long long)r->address,
		    (unsigned long long)r->id, (unsigned long long)r->status, r->reason,
		    (unsigned long long)r->since, r->system ? "true" : "false");
		for (unsigned k = 0; k < r->n_frames; k++)
			out_format(&g->truth, "%s\"%s\"", k ? "," : "", r->name[k]);
		out_text(&g->truth, "]}");
	}
	out_text(&g->truth, "\n],\n");
}

static void write_random(struct go *g)
{
	out_format(&g->out, "go1.%u heap dump\n", g->version);
	out_format(&g->truth, "{\"version\":%u,\"big_endian\":%s,\"pointer\":%u,\n\"objects\":[", g->version,
	    g->big ? "true" : "false", g->width);
	put_params(g);
	put_types(g);
	put_objects(g);
	out_text(&g->truth, "\n],\n\"roots\":[");
	put_goroutines(g);
	if (percent(g, 50)) {
		put(g, 9);
		put(g, g->object[0].address);
		put(g, 1);
		put(g, 4711);
		tell_root(g, "machine", 0, g->object[0].address, -1, -1);
	}
	put_segment(g, 12, "data", &g->data);
	put_segment(g, 13, "bss", &g->bss);
	for (unsigned n = (unsigned)below(g, 4); n; n--)
		put_finalizer(g, percent(g, 50));
	if (percent(g, 20)) {
		uint64_t to = go_random_pointer(g);
		put(g, 2);
		put_text(g, "runtime type info");
		put(g, to);
		tell_root(g, "other", 0, to, -1, -1);
	}
	tell_goroutines(g);
	put_statistics(g);
	put_profile(g);
	put(g, 0);
	out_format(&g->truth, "\"outside\":%llu}\n", (unsigned long long)g->n_outside);
}

static const char *read_options(struct go *g, int argc, char **argv)
{
	const char *value, *prefix = NULL;
	uint64_t seed = 0;
	int version = -1, big = -1, width = -1;
	g->release = "go1.19.8";
	for (int i = 0; i < argc; i++) {
		if ((value = option_value(argc, argv, &i, "--seed")))
			seed = option_number(value);
		else if ((value = option_value(argc, argv, &i, "--version")))
			version = (int)option_number(value);
		else if ((value = option_value(argc, argv, &i, "--big-endian")))
			big = (int)option_number(value);
		else if ((value = option_value(argc, argv, &i, "--release")))
			g->release = value;
		else if ((value = option_value(argc, argv, &i, "--surplus")))
			g->surplus = option_number(value);
		else if ((value = option_value(argc, argv, &i, "--pointer")))
			width = (int)option_number(value);
		else if (!(prefix = option_value(argc, argv, &i, "--out")))
			die("go: %s?", argv[i]);
	}
	if (!prefix)
		die("go: --out PREFIX is missing");
	g->chance.state = mix(seed);
	g->version = version < 0 ? 3 + (unsigned)(seed % 5) : (unsigned)version;
	g->big = big < 0 ? seed / 5 % 2 : big != 0;
	g->width = width < 0 ? (seed / 10 % 2 ? 4 : 8) : (unsigned)width;
	return prefix;
}

static void release(struct go *g)
{
	for (unsigned i = 0; i < g->n_objects; i++)
		free(g->object[i].bytes);
	for (unsigned i = 0; i < g->n_goroutines; i++)
		for (unsigned k = 0; k < g->goroutine[i].n_frames; k++)
			free(g->goroutine[i].frame[k].bytes);
	free(g->data.bytes);
	free(g->bss.bytes);
	free(g->object);
	free(g);
}

int mkdump_go(int argc, char **argv)
{
	struct go *g = get_memory(1, sizeof *g);
	const char *prefix = read_options(g, argc, argv);
	char path[4096];
	snprintf(path, sizeof path, "%s.dump", prefix);
	out_open(&g->out, path);
	snprintf(path, sizeof path, "%s.json", prefix);
	out_open(&g->truth, path);
	g->loose = percent(g, 20);
	g->low = g->width == 8 ? UINT64_C(0xc000000000) : 0x9800000;
	g->data.address = 0x520000;
	go_make_types(g);
	go_make_objects(g);
	go_make_segment(g, &g->data, g->data.address);
	go_make_segment(g, &g->bss, 0x540000);
	g->n_goroutines = (unsigned)below(g, MOST_GOROUTINES + 1);
	for (unsigned i = 0; i < g->n_goroutines; i++)
		go_make_goroutine(g, i);
	write_random(g);
	out_close(&g->out);
	out_close(&g->truth);
	release(g);
	return 0;
}
