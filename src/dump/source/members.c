/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * members.c - which member of an archive is meant, and what is said where that is not clear.
 */
#include "dump/source/opening.h"

#include "base/mem.h"
#include "base/text.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TOLD = 5, LEAST = 16 }; /* names in a sentence; bytes: no dump has less */
enum { NAME_TOLD = 40 };       /* columns of a name in it */
enum { LAYERS = 3 };           /* a member may be packed */

struct choice {
	const char *rest;
	const struct source_look *look;
	uint8_t *room; /* MEMBER_HEAD bytes, twice */
	uint64_t ordinal;
	char *name;
	const char *behind; /* of rest, once ordinal is found */
	bool whole;         /* name is all of rest */
	uint64_t fitting, others;
	struct text those, them; /* names of both, for a sentence */
	const char *barred; /* why the one that was named cannot be read */
	char *archive;      /* one that is an archive itself */
	bool encrypted;     /* one is */
	bool parts;         /* one is called as a part is */
	struct text damaged; /* which one is, and how, for a sentence */
	struct err broke;   /* the archive is damaged, and how */
};

const char *member_name(const char *name)
{
	while (name[0] == '.' && name[1] == '/')
		for (name += 2; *name == '/';)
			name++;
	return name;
}

/* --- what a member is ------------------------------------------------------------------------------- */

size_t member_head(struct walk *w, uint8_t *room, const uint8_t **head, const char **archive)
{
	size_t n = walk_head(w, room, SOURCE_HEAD, MEMBER_HEAD);
	uint8_t *from = room, *to = room + MEMBER_HEAD;
	const struct packing *p = NULL;
	for (int layer = 0; layer < LAYERS && (p = packing_of(from, n)) != NULL && !packing_is_archive(p); layer++) {
		n = p->head(p, from, n, to, layer ? SOURCE_HEAD : 64 * SOURCE_HEAD);
		uint8_t *was = from;
		from = to;
		to = was;
	}
	*archive = p && packing_is_archive(p) ? p->name : NULL;
	*head = from;
	return n < SOURCE_HEAD ? n : SOURCE_HEAD;
}

/* It may have been a dump. */
static void tell_damage(struct choice *c, struct walk *w, const struct member *m)
{
	if (walk_broke(w) && !c->damaged.len)
		text_addf(&c->damaged, "; %.60s is damaged%s", m->name, walk_broke(w));
}

/* A member's bytes are taken only as far as they tell what it is: few, unless it is packed. */
static bool fits(struct choice *c, struct walk *w, const struct member *m)
{
	const uint8_t *head;
	const char *archive;
	if (!m->is_file || (m->size_known && m->size < LEAST))
		return false;
	if (m->encrypted) {
		c->encrypted = true;
		return false;
	}
	size_t n = member_head(w, c->room, &head, &archive);
	if (archive && !c->archive)
		c->archive = xstrdup(m->name);
	if (archive || !n || (c->look && c->look->at(c->look->context, head, n, NULL))) {
		tell_damage(c, w, m);
		return false;
	}
	return true;
}

/* --- looking for it --------------------------------------------------------------------------------- */

static void found(struct choice *c, const struct member *m, const char *behind)
{
	free(c->name);
	c->name = xstrdup(m->name);
	c->ordinal = m->ordinal;
	c->behind = behind;
	c->barred = m->encrypted ? "is encrypted (unpack it first, with its password)" :
	    m->link ? "is a link (name its target)" : m->is_file ? NULL : "is not a file";
}

static void add_told(struct text *to, uint64_t n, const struct member *m, bool size)
{
	struct text name = TEXT_INIT;
	if (n >= TOLD) {
		text_add(to, n == TOLD ? " .." : "");
		return;
	}
	text_add_escaped(&name, m->name, strlen(m->name));
	text_addf(to, "%s%.*s%s", n ? ", " : "", (int)text_fit(name.s ? name.s : "", NAME_TOLD, NULL), name.s ? name.s : "",
	    text_width_most(name.s ? name.s : "", NAME_TOLD) > NAME_TOLD ? TEXT_CLIP_SIGN : "");
	if (size && m->size_known) {
		text_add(to, " (");
		text_add_bytes(to, m->size);
		text_add(to, ")");
	}
	text_release(&name);
}

/* Of several of the same name the last is what unpacking would leave. */
static void compare(struct choice *c, const struct member *m)
{
	const char *rest = member_name(c->rest);
	size_t n = strlen(m->name);
	if (m->is_file)
		add_told(&c->them, c->others++, m, false);
	if (strncmp(rest, m->name, n))
		return;
	if (!rest[n]) {
		c->whole = true;
		found(c, m, rest + n);
	} else if (!c->whole && rest[n] == ':' && rest[n + 1] == ':') {
		found(c, m, rest + n + 2);
	}
}

static void consider(struct choice *c, struct walk *w, const struct member *m)
{
	bool again = c->name && !strcmp(c->name, m->name);
	if (fits(c, w, m)) {
		if (!again)
			add_told(&c->those, c->fitting++, m, true);
		found(c, m, "");
	} else if (m->is_file) {
		add_told(&c->them, c->others++, m, false);
	}
}

static int look_through(struct choice *c, const struct packing *p, struct stretch s, struct progress *progress,
    struct err *err)
{
	struct walk *w;
	struct member m;
	int got, code = walk_begin(&w, p, s, progress, err);
	if (code)
		return code;
	while ((got = walk_next(w, &m, &c->broke)) == 1) {
		c->parts |= parts_number(m.name) >= 0;
		if (c->rest && *c->rest)
			compare(c, &m);
		else
			consider(c, w, &m);
	}
	walk_end(w);
	if (got == ERR_NOMEM || got == ERR_CANCELLED) {
		if (err)
			*err = c->broke;
		return got;
	}
	return 0;
}

/* --- what is said ----------------------------------------------------------------------------------- */

static int no_such(const struct choice *c, const struct packing *p, struct err *err)
{
	return err_set(err, ERR_FORMAT, "a %s archive%s%s has no member %.100s%s%s%s", p->name,
	    c->broke.code ? ", " : "", c->broke.code ? c->broke.message : "", c->rest,
	    c->others ? " (its members: " : "", c->others ? c->them.s : "", c->others ? ")" : "");
}

static int none(const struct choice *c, const struct packing *p, struct err *err)
{
	if (c->broke.code && !c->others)
		return err_set(err, ERR_FORMAT, "a %s archive, %s", p->name, c->broke.message);
	if (!c->others)
		return err_set(err, ERR_FORMAT, "a %s archive without files", p->name);
	return err_set(err, ERR_FORMAT, "a %s archive without a heap dump, but with %s%s%s%s%.60s%s%s", p->name,
	    c->them.s, c->damaged.s ? c->damaged.s : "",
	    c->encrypted ? "; unpack encrypted members first, with their password" : "",
	    c->archive ? "; to look into the archive in it, add ::" : "", c->archive ? c->archive : "",
	    c->broke.code ? "; it is " : "", c->broke.code ? c->broke.message : "");
}

static int several(const struct choice *c, const struct packing *p, struct err *err)
{
	return err_set(err, ERR_USAGE, "a %s archive of %" PRIu64 " dumps (add :: and a name: %s)", p->name,
	    c->fitting, c->those.s);
}

static int choose(struct choice *c, const struct packing *p, struct err *err)
{
	if (c->rest && *c->rest && !c->ordinal)
		return no_such(c, p, err);
	if (c->barred)
		return err_set(err, ERR_FORMAT, "its member %.100s %s", c->name, c->barred);
	if (c->rest && *c->rest)
		return 0;
	return !c->fitting ? none(c, p, err) : c->fitting > 1 ? several(c, p, err) : 0;
}

int member_choose(const struct packing *p, struct stretch s, const char **rest, const struct source_look *look,
    uint64_t *ordinal, char **name, bool *parts, struct progress *progress, struct err *err)
{
	struct choice c = {.rest = *rest, .look = look, .those = TEXT_INIT, .them = TEXT_INIT, .damaged = TEXT_INIT,
	    .broke = ERR_INIT};
	c.room = big_alloc(2, MEMBER_HEAD, err);
	int code = c.room ? look_through(&c, p, s, progress, err) : ERR_NOMEM;
	if (!code)
		code = choose(&c, p, err);
	if (!code) {
		*ordinal = c.ordinal;
		*rest = c.behind;
		*parts = c.parts;
		*name = c.name;
		c.name = NULL;
	}
	free(c.name);
	free(c.archive);
	big_free(c.room);
	text_release(&c.those);
	text_release(&c.them);
	text_release(&c.damaged);
	return code;
}
