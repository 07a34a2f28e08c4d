/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mkdump_go_make.c - see mkdump_go.h. */
#include "mkdump_go.h"

#include <stdio.h>
#include <string.h>

static unsigned words_of(unsigned kind)
{
	static const unsigned words[] = { 0, 1, 2, 3, 2, 2 };
	return words[kind];
}

static void make_memory(struct go *g, struct memory *m, uint64_t address, uint64_t size)
{
	m->address = address;
	m->size = size;
	m->bytes = get_memory(size, 1);
	for (uint64_t i = 0; i < size; i++)
		m->bytes[i] = (unsigned char)(percent(g, 60) ? 0 : ' ' + below(g, 95));
}

static unsigned random_kind(struct go *g)
{
	if (g->version >= 5 || percent(g, 60))
		return POINTER;
	return g->version == 3 ? (unsigned)(TEXT + below(g, 4)) : (unsigned)(INTERFACE + below(g, 2));
}

static unsigned random_fields(struct go *g, struct field *field, uint64_t size, unsigned most)
{
	unsigned n = 0, part = (unsigned)below(g, 100);
	uint64_t words = size / g->width;
	for (uint64_t w = 0; w < words && n < most;) {
		unsigned kind = random_kind(g);
		if (!percent(g, part) || w + words_of(kind) > words) {
			w++;
			continue;
		}
		field[n++] = (struct field){ kind, w * g->width };
		w += words_of(kind);
	}
	return n;
}

uint64_t go_random_pointer(struct go *g)
{
	uint64_t dice = below(g, 100);
	const struct memory *m = &g->object[below(g, percent(g, 30) && g->n_objects > 5 ? 5 : g->n_objects)];
	if (dice < 20)
		return 0;
	if (dice < 70)
		return m->address;
	if (dice < 85)
		return m->address + below(g, m->size);
	if (dice < 89)
		return m->address + m->size; /* what lies behind it, or nothing */
	if (dice < 93)
		return g->data.address + below(g, 64);
	return dice < 96 ? 1 + below(g, 4000) : g->high + below(g, 4096);
}

static void fill_pointers(struct go *g, struct memory *m)
{
	for (unsigned i = 0; i < m->n_fields; i++) {
		struct field *f = &m->field[i];
		uint64_t at = pointer_at(g, f);
		if (f->kind >= INTERFACE) /* its type or itab is one that points to its value */
			set_word(g, m, f->offset, percent(g, 80) ? g->type[0].address : 0);
		set_word(g, m, at, f->kind >= INTERFACE && !get_word(g, m, f->offset) ? 0 : go_random_pointer(g));
	}
}

void go_make_types(struct go *g)
{
	for (unsigned t = 0; t < MOST_TYPES; t++) {
		struct go_type *type = &g->type[t];
		type->address = 0x4a0000 + 0x40 * t + 0x1000;
		type->size = g->width * (1 + below(g, 6));
		type->n_fields = random_fields(g, type->field, type->size, 4);
	}
}

/* 1.3: the fields of an object are those of its type, once, for each element, or every word. */
static void lay_out_old(struct go *g, struct memory *m)
{
	static const unsigned kinds[] = { 0, 1, 2, 127 };
	unsigned t = (unsigned)below(g, MOST_TYPES);
	const struct go_type *type = &g->type[t];
	m->n_fields = 0;
	m->type = percent(g, 20) ? 0 : t + 1;
	m->kind = kinds[below(g, 4)];
	if (m->kind == 127) {
		for (uint64_t at = 0; at + g->width <= m->size && m->n_fields < MOST_FIELDS; at += g->width)
			m->field[m->n_fields++] = (struct field){ POINTER, at };
		if (m->n_fields == MOST_FIELDS)
			m->kind = m->type = m->n_fields = 0;
		return;
	}
	if (m->kind == 0 && m->type && type->size > m->size)
		m->type = 0;
	if (!m->type)
		return;
	uint64_t at = m->kind == 2 ? (uint64_t)HCHAN_WORDS * g->width : 0;
	for (; at + type->size <= m->size && m->n_fields + type->n_fields <= MOST_FIELDS; at += type->size) {
		for (unsigned i = 0; i < type->n_fields; i++)
			m->field[m->n_fields++] = (struct field){ type->field[i].kind, at + type->field[i].offset };
		if (m->kind == 0)
			return;
	}
	if (at + type->size <= m->size) /* more than there is room for here */
		m->type = m->n_fields = 0;
	else if (at < m->size) /* half an element: nobody can say what it holds */
		memset(m->bytes + at, 0, m->size - at);
}

void go_make_objects(struct go *g)
{
	uint64_t at = g->low + 8192 * below(g, 3);
	g->n_objects = (unsigned)(1 + below(g, percent(g, 20) ? 400 : 60));
	g->object = get_memory(g->n_objects, sizeof *g->object);
	for (unsigned i = 0; i < g->n_objects; i++) {
		struct memory *m = &g->object[i];
		uint64_t size = percent(g, 3) ? 8192 : 8 * (1 + below(g, percent(g, 10) ? 60 : 14));
		if (percent(g, 10))
			at += 8 * below(g, 30);
		if (percent(g, 2))
			at += 1u << (13 + below(g, 8));
		make_memory(g, m, at, size);
		at += size;
		if (g->version == 3)
			lay_out_old(g, m);
		else
			m->n_fields = percent(g, 30) ? 0 : random_fields(g, m->field, size, MOST_FIELDS);
	}
	g->high = round_up(at, 1 << 20);
	for (unsigned i = 0; i < g->n_objects; i++)
		fill_pointers(g, &g->object[i]);
}

void go_make_segment(struct go *g, struct memory *m, uint64_t address)
{
	make_memory(g, m, address, 64 + 8 * below(g, 100));
	m->n_fields = random_fields(g, m->field, m->size, MOST_FIELDS);
	fill_pointers(g, m);
}

void go_make_goroutine(struct go *g, unsigned i)
{
	static const char *const reasons[] = { "chan receive", "select", "semacquire", "sleep", "", "IO wait" };
	static const char *const names[] = { "runtime.gopark", "main.work", "main.(*Server).Serve",
		"main.main.func1", "net/http.(*conn).serve", "runtime.goexit" };
	static const unsigned statuses[] = { 1, 3, 4, 4, 4 };
	struct goroutine *r = &g->goroutine[i];
	uint64_t sp = g->high + 0x10000 * (i + 1);
	r->address = percent(g, 70) && i < g->n_objects ? g->object[i].address : 0x5c0000 + 512 * i;
	r->id = 1 + i * 3;
	r->status = statuses[below(g, 5)];
	r->reason = r->status == 4 ? reasons[below(g, 6)] : "";
	r->since = percent(g, 30) ? 1000000 + below(g, 1u << 30) : 0;
	r->system = percent(g, 10);
	r->context = percent(g, 20) ? g->object[below(g, g->n_objects)].address : 0;
	r->n_frames = (unsigned)below(g, 6);
	for (unsigned k = 0; k < r->n_frames; k++) {
		make_memory(g, &r->frame[k], sp, g->width * (1 + below(g, 30)));
		r->frame[k].n_fields = random_fields(g, r->frame[k].field, r->frame[k].size, 16);
		fill_pointers(g, &r->frame[k]);
		sp += r->frame[k].size;
		snprintf(r->name[k], sizeof r->name[k], "%s", names[below(g, 6)]);
	}
	if (percent(g, 30)) {
		r->defer = percent(g, 50) ? g->object[below(g, g->n_objects)].address : sp + 64;
		r->defer_closure = percent(g, 70) ? g->object[below(g, g->n_objects)].address : 0;
	}
	if (percent(g, 20)) {
		r->panic = sp + 128;
		r->panic_data = go_random_pointer(g);
	}
}
