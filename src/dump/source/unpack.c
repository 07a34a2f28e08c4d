/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unpack.c - from a file's bytes to the dump's: one layer of packing after the other, each into memory of its own.
 *
 * A tar archive, or a member of a zip archive that is only stored, has the bytes of the dump as they are: these are
 * used where they stand.
 */
#include "dump/source/opening.h"

#include "base/mem.h"
#include "base/text.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LAYERS = 4 }; /* a dump that is packed by itself, in an archive that is packed, in another archive */

/* --- what is said, and room ------------------------------------------------------------------------- */

void source_mark(struct source_file *o, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_format(o->source.remark, sizeof o->source.remark, format, args);
	va_end(args);
}

void unpacked_cut(struct source_file *o, const char *what, uint64_t at)
{
	o->source.truncated = o->ends_early = true;
	source_mark(o, "the %s is truncated at byte %" PRIu64 " of %s", what, at, o->where);
}

void unpacked_ends(struct source_file *o, const char *packing, const uint8_t *in, uint64_t at, uint64_t n)
{
	for (uint64_t i = at; i < n && !progress_stops(progress_own(), i); i++)
		if (in[i]) {
			source_mark(o, "%" PRIu64 " byte%s from byte %" PRIu64 " of %s on follow%s the end of the "
			    "%s data and %s ignored", n - at, n - at == 1 ? "" : "s", at, o->where,
			    n - at == 1 ? "s" : "", packing, n - at == 1 ? "is" : "are");
			break;
		}
}

/* To n bytes at the least, twice as many as before where that can be had, for nobody knows how many it will be. */
static int grow(struct source_file *o, uint64_t n, struct err *err)
{
	uint64_t capacity = n / 2 > o->capacity ? n : 2 * o->capacity;
	if (o->most && n > o->most)
		return err_set(err, ERR_FORMAT, "it unpacks to more than %" PRIu64 " bytes", o->most);
	if (o->most && capacity > o->most)
		capacity = o->most;
	uint8_t *grown = big_resize(o->unpacked, capacity, 1, NULL);
	if (!grown) {
		uint64_t little = o->capacity + o->capacity / 8;
		capacity = little > n ? little : n;
		grown = big_resize(o->unpacked, capacity, 1, err);
	}
	if (!grown)
		return ERR_NOMEM;
	o->unpacked = grown;
	o->capacity = capacity;
	return 0;
}

int unpacked_room(struct source_file *o, struct err *err)
{
	return o->source.size < o->capacity ? 0 : grow(o, o->source.size + 1, err);
}

int unpacked_reserve(struct source_file *o, uint64_t n, struct err *err)
{
	if (!o->unpacked) {
		uint64_t wish = o->wish > n ? o->wish : n > 0 ? n : 1;
		o->capacity = wish;
		o->unpacked = big_alloc(wish, 1, wish > n ? NULL : err);
		if (!o->unpacked && wish > n)
			o->unpacked = big_alloc(o->capacity = n + 1, 1, err);
		return o->unpacked ? 0 : ERR_NOMEM;
	}
	return n <= o->capacity ? 0 : grow(o, n, err);
}

/* --- one layer -------------------------------------------------------------------------------------- */

struct layers {
	struct source_file *o;
	const struct source_look *look;
	struct progress *progress;
	struct stretch now;  /* what is unpacked so far */
	const char *rest;    /* which members are still to be taken; "" or NULL: none is named */
	struct text inside;  /* which were taken though none was named */
	char said[sizeof ((struct source *)0)->remark]; /* of the layers before */
};

/* Does it unpack to little, or break off soon? */
static bool ends_soon(const struct layers *l, const struct packing *p)
{
	uint8_t *room = big_alloc(1, MEMBER_HEAD, NULL);
	bool soon = room && p->head(p, l->now.at, l->now.n, room, MEMBER_HEAD) < MEMBER_HEAD;
	big_free(room);
	return soon;
}

/* Whether whoever opens it wants to have all of it. */
static int look_at_head(const struct layers *l, const struct packing *p, struct err *err)
{
	uint8_t head[SOURCE_HEAD];

	if (!l->look || (l->rest && *l->rest) || p->head(p, l->now.at, l->now.n, head, sizeof head) < sizeof head ||
	    packing_of(head, sizeof head))
		return 0; /* little, or cut: what there is to say is said of the whole */
	struct err refused = ERR_INIT;
	int code = l->look->at(l->look->context, head, sizeof head, &refused);
	if (!code || ends_soon(l, p)) /* then whether it is damaged is found out at little cost, and is why */
		return 0;
	if (err)
		*err = refused;
	return code;
}

static int take_stream(struct layers *l, const struct packing *p, struct err *err)
{
	struct source_file *o = l->o;
	if (source_newlines_changed(l->now.at, l->now.n))
		return err_set(err, ERR_FORMAT, "%s", source_changed_newlines);
	int code = look_at_head(l, p, err);
	if (code)
		return code;
	uint8_t *before = o->unpacked;
	o->unpacked = NULL;
	o->source.size = o->capacity = o->wish = 0;
	code = p->inflate(o, p, l->now.at, l->now.n, l->progress, err);
	big_free(before);
	l->now = (struct stretch){o->unpacked, o->source.size};
	return code;
}

/* Standard input has no name that one sees and could add it to. */
static void say_how_to_name(struct err *err)
{
	struct err said = err ? *err : (struct err)ERR_INIT;
	(void)err_set(err, ERR_USAGE, "%s; for standard input: cairn -::NAME", said.message);
}

/* One that ends before the cut of what its archive is packed in is all there. */
static int take_whole(struct layers *l, struct walk *w, const struct member *m, struct stretch *stands,
    const char *packing, struct err *err)
{
	struct source_file *o = l->o;
	bool cut = o->source.truncated, early = o->ends_early && !o->source.doubtful;
	o->source.truncated = o->ends_early = false;
	int code = walk_take(w, m, o, stands, packing, err);
	uint64_t got = stands->at ? stands->n : o->source.size;
	bool whole = m->size_known && got == m->size && !o->source.truncated;
	if (cut && early && whole) {
		source_mark(o, "%s, after this member", l->said);
		l->said[0] = '\0';
	} else {
		o->source.truncated |= cut;
	}
	return code;
}

/* Into memory of its own. */
static int copy_stretch(struct source_file *o, struct stretch *s, struct err *err)
{
	int code = unpacked_reserve(o, s->n, err);
	if (!code)
		memcpy(o->unpacked, s->at, s->n);
	o->source.size = s->n;
	s->at = NULL;
	return code;
}

static int take_member(struct layers *l, const struct packing *p, struct err *err)
{
	struct source_file *o = l->o;
	struct walk *w = NULL;
	struct member m;
	char *name = NULL;
	uint64_t ordinal;
	bool named = l->rest && *l->rest, parts = false;
	int code = member_choose(p, l->now, &l->rest, l->look, &ordinal, &name, &parts, l->progress, err);
	if (!code && !named)
		text_addf(&l->inside, "::%s", name);
	if (code == ERR_USAGE && source_is_standard_input(o->source.path))
		say_how_to_name(err);
	uint8_t *before = o->unpacked;
	o->unpacked = NULL;
	o->source.size = o->capacity = o->wish = 0;
	if (!code)
		code = walk_begin(&w, p, l->now, l->progress, err);
	for (m.ordinal = 0; !code && m.ordinal < ordinal;) {
		int got = walk_next(w, &m, err);
		code = got < 0 ? got : got ? 0 : err_set(err, ERR_IO, "was changed while cairn read it");
	}
	struct stretch stands;
	bool damaged = o->source.truncated && (!o->ends_early || o->source.doubtful);
	if (!code)
		code = take_whole(l, w, &m, &stands, p->name, err);
	parts_close(o); /* of an archive around this one */
	if (!code && parts && o->division) {
		parts_keep_archive(o, name, p, l->now, before);
		o->parts->damaged = damaged;
		code = stands.at && before ? copy_stretch(o, &stands, err) : 0;
		before = NULL;
	}
	free(name);
	walk_end(w);
	if (!code && stands.at) {
		o->unpacked = before;
		l->now = stands;
		return 0;
	}
	big_free(before);
	l->now = (struct stretch){o->unpacked, o->source.size};
	return code;
}

/* What an earlier layer had to say explains what comes of the later ones. */
static void keep_said(struct layers *l)
{
	struct source *s = &l->o->source;
	if (l->said[0])
		memcpy(s->remark, l->said, sizeof s->remark);
	else
		memcpy(l->said, s->remark, sizeof l->said);
}

static int take_layer(struct layers *l, const struct packing *p, struct err *err)
{
	struct source_file *o = l->o;
	bool is_archive = packing_is_archive(p);
	o->source.compressed = true;
	o->source.remark[0] = '\0';
	int code = is_archive ? take_member(l, p, err) : take_stream(l, p, err);
	if (code == ERR_NOMEM)
		err_context(err, "not enough memory to unpack it (%s it first where there is room)", is_archive ? "unpack" :
		    p->by_hand);
	keep_said(l);
	o->where = is_archive ? "the member" : "the unpacked data";
	bool truncated = o->source.truncated;
	if (!code && !l->now.n)
		code = err_set(err, truncated ? ERR_TRUNCATED : ERR_FORMAT, "%s%s", truncated ? o->source.remark :
		    p->name, truncated ? "" : is_archive ? " archive with an empty member: the dump in it is "
			"empty" :
		    " data without contents: the dump in it is empty");
	return code;
}

/* --- all of them ------------------------------------------------------------------------------------ */

static int too_many(struct err *err)
{
	return err_set(err, ERR_FORMAT, "packed in more than %d nested layers (unpack it first)", MOST_LAYERS);
}

int source_unpack_archive(struct source_file *o, struct stretch *s, const struct packing **p, struct progress *progress,
    struct err *err)
{
	struct layers l = {.o = o, .progress = progress, .rest = o->member, .now = {o->map, o->map_size},
	    .inside = TEXT_INIT};
	int code = 0;
	o->where = "the file";
	for (int layer = 0; !code && (*p = packing_of(l.now.at, l.now.n)) != NULL; layer++) {
		if (packing_is_archive(*p) && (!l.rest || !*l.rest))
			break;
		code = layer < MOST_LAYERS ? take_layer(&l, *p, err) : too_many(err);
	}
	text_release(&l.inside);
	*s = l.now;
	return code ? code : *p ? 0 : 1;
}

static int all_layers(struct layers *l, struct err *err)
{
	const struct packing *p;
	for (int layer = 0; (p = packing_of(l->now.at, l->now.n)) != NULL; layer++) {
		int code = layer < MOST_LAYERS ? take_layer(l, p, err) : too_many(err);
		if (code)
			return code;
	}
	return !l->rest || !*l->rest ? 0 : err_set(err, ERR_FORMAT, "%s is not a known archive, so it has no "
	    "member %.100s", l->rest == l->o->member ? "the file" : "the member before it", l->rest);
}

int source_unpack_member(struct source_file *o, struct walk *w, const struct member *m, const struct packing *p,
    struct stretch *s, struct progress *progress, struct err *err)
{
	struct layers l = {.o = o, .progress = progress, .inside = TEXT_INIT};
	int code = walk_take(w, m, o, &l.now, p->name, err);
	if (!l.now.at)
		l.now = (struct stretch){o->unpacked, o->source.size};
	o->where = "the member";
	if (!code)
		code = all_layers(&l, err);
	text_release(&l.inside);
	*s = l.now;
	return code;
}

static bool in_mapping(const struct source_file *o, const uint8_t *at)
{
	return o->map && at >= (const uint8_t *)o->map && at < (const uint8_t *)o->map + o->map_size;
}

/* What stands before and behind the dump in memory is given back. */
static void fit(struct source_file *o, struct stretch s)
{
	uint64_t before = (uint64_t)(s.at - o->unpacked);
	if (before + s.n < o->capacity && before > s.n / 8) {
		memmove(o->unpacked, s.at, s.n);
		before = 0;
	}
	o->unpacked = big_fit(o->unpacked, before + s.n, 1);
	o->capacity = before + s.n;
	o->source.bytes = o->unpacked + before;
}

int source_unpack(struct source_file *o, const struct source_look *look, bool in_place, struct progress *progress,
    struct err *err)
{
	struct layers l = {.o = o, .look = look, .progress = progress, .rest = o->member,
	    .now = {o->map, o->map_size}, .inside = TEXT_INIT};
	uint64_t lost;
	o->where = "the file";
	o->most = look ? look->most : 0;
	int code = all_layers(&l, err);
	if (!code && l.inside.len)
		o->inside = text_take(&l.inside);
	text_release(&l.inside);
	if (code)
		return code;
	o->source.size = l.now.n;
	if (in_mapping(o, l.now.at) && !in_place) {
		o->unpacked = big_alloc(l.now.n, 1, err);
		if (!o->unpacked)
			return ERR_NOMEM;
		memcpy(o->unpacked, l.now.at, l.now.n);
		o->capacity = l.now.n;
		l.now.at = o->unpacked;
	}
	if (in_mapping(o, l.now.at)) {
		o->source.bytes = l.now.at;
		return 0;
	}
	fit(o, l.now);
	if (source_damage(&o->source, &lost)) {
		o->source.truncated = true;
		source_mark(o, "the file shrank to %" PRIu64 " bytes while cairn unpacked it", lost);
	}
	return 0;
}
