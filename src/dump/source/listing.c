/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * listing.c - the files in an archive, each with what its first bytes tell.
 */
#include "dump/source/opening.h"

#include "algorithms/sort.h"
#include "base/mem.h"
#include "base/text.h"
#include "memory/arena.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

struct listing {
	struct source_members members; /* first: what the others see */
	struct arena names;
	size_t capacity;
	uint8_t *room; /* for member_head */
	source_label *label;
};

static void add(struct listing *l, struct walk *w, const struct member *m)
{
	const uint8_t *head;
	if (l->members.n == SOURCE_MEMBERS_MOST) {
		l->members.left_out++;
		return;
	}
	struct source_member one = {
	    .name = arena_strndup(&l->names, m->name, strlen(m->name)), .size = m->size, .size_known = m->size_known,
	    .written = m->written, .encrypted = m->encrypted};
	size_t n = m->encrypted || !l->label ? 0 : member_head(w, l->room, &head, &one.archive);
	if (n && !one.archive)
		one.label = l->label(head, n, one.name, one.created);
	VEC_PUSH(l->members.member, l->members.n, l->capacity) = one;
}

static int by_name(const void *a, const void *b)
{
	const struct source_member *x = *(struct source_member *const *)a, *y = *(struct source_member *const *)b;
	int order = strcmp(x->name, y->name);
	return order ? order : x < y ? -1 : x > y;
}

/* Of several of one name the last is what opening it takes. */
static void drop_earlier(struct source_members *m)
{
	struct source_member **order = xcalloc(m->n + 1, sizeof *order);
	size_t kept = 0;
	for (size_t i = 0; i < m->n; i++)
		order[i] = &m->member[i];
	sort_array(order, m->n, sizeof *order, by_name);
	for (size_t i = 0; i + 1 < m->n; i++)
		if (!strcmp(order[i]->name, order[i + 1]->name))
			order[i]->name = NULL;
	for (size_t i = 0; i < m->n; i++)
		if (m->member[i].name)
			m->member[kept++] = m->member[i];
	m->n = kept;
	free(order);
}

static int list(struct listing *l, const struct packing *p, struct stretch s, struct progress *progress,
    struct err *err)
{
	struct walk *w;
	struct member m;
	struct err broke = ERR_INIT;
	int got, code = walk_begin(&w, p, s, progress, err);
	if (code)
		return code;
	progress_phase(progress, PHASE_INFLATE, s.n);
	while ((got = walk_next(w, &m, &broke)) == 1)
		if (m.is_file)
			add(l, w, &m);
	walk_end(w);
	if (got == ERR_NOMEM || got == ERR_CANCELLED) {
		if (err)
			*err = broke;
		return got;
	}
	if (got)
		text_escape(l->members.remark, sizeof l->members.remark, broke.message);
	drop_earlier(&l->members);
	return 0;
}

void source_members_free(struct source_members *m)
{
	struct listing *l = (struct listing *)m;
	if (!l)
		return;
	free(l->members.member);
	big_free(l->room);
	arena_release(&l->names);
	free(l);
}

int source_members(struct source_members **out, const char *path, source_label *label, struct progress *progress,
    struct err *err)
{
	struct source_file *o = source_new(path);
	struct listing *l = xcalloc(1, sizeof *l);
	const struct packing *p = NULL;
	struct stretch s = {NULL, 0};
	l->label = label;
	l->room = big_alloc(2, MEMBER_HEAD, err);
	*out = NULL;
	int code = l->room ? stored_open(o, o->file, progress, err) : ERR_NOMEM;
	if (!code)
		code = stored_map(o, err);
	if (!code)
		code = source_unpack_archive(o, &s, &p, progress, err);
	if (!code)
		code = list(l, p, s, progress, err);
	if (!code && o->source.truncated) /* what else is missing in it is for that */
		text_escape(l->members.remark, sizeof l->members.remark, o->source.remark);
	if (code < 0)
		(void)source_failed(o, code, err);
	else
		source_close(&o->source);
	if (code)
		source_members_free(&l->members);
	else
		*out = &l->members;
	return code;
}
