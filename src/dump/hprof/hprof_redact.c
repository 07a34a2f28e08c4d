/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof_redact.c - a copy of an HPROF dump without contents: every record of the same length at the same place (but
 * for names that others stand for), every identifier as it was, zeros in place of values.
 *
 * Nothing is copied but what is known to be structure.  Of UTF8 records only those keep their bytes that name a class,
 * a method, a field, a signature or a source file: HotSpot writes all of its symbols, with the literals of the program
 * among them.  A first UTF8 record, which names nothing, says what was left out, so that zeros are not taken for
 * contents; other readers pass it over.  The names of threads in START THREAD records are contents.  Of a file that
 * holds several heaps or dumps the copy has the current one.  A dump that is damaged is refused: where no record can
 * be made out anything may stand.
 */
#include "dump/hprof/hprof_rename.h"

#include "base/progress.h"
#include "dump/source/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROOM = 1 << 16, REPORT_EVERY = 1 << 12 };

/* The text of the copy's first record; behind it the name of what was left out. */
static const char mark[] = DUMP_COPY_MARK;
static const char *const left_out[] = {[REDACT_NOTHING] = "nothing", [REDACT_STRINGS] = "strings",
    [REDACT_ARRAYS] = "arrays", [REDACT_ALL] = "all"};

struct copying {
	const struct hprof *h;
	const struct redaction *wanted;
	FILE *to;
	uint64_t written;
	size_t n;            /* bytes in room */
	int failed;          /* errno of the first write that failed, else 0 */
	struct renaming names; /* of UTF8 records */
	bool knows;          /* the current class is known */
	bool states_layout;  /* static fields of the current class are facts of the VM */
	uint32_t segment;    /* the next of h->segments */
	uint64_t chunks;     /* the class of stack chunks, whose own fields tell their sizes; 0: none */
	uint64_t rounds;
	struct err *err;
	uint8_t room[ROOM];
};

/* --- writing -------------------------------------------------------------------------------------- */

static void flush(struct copying *c)
{
	errno = 0;
	if (!c->failed && c->n && fwrite(c->room, 1, c->n, c->to) != c->n)
		c->failed = errno ? errno : EIO;
	c->n = 0;
}

static void put(struct copying *c, const uint8_t *p, uint64_t n)
{
	c->written += n;
	while (n && !c->failed) {
		size_t some = n < ROOM - c->n ? (size_t)n : ROOM - c->n;
		memcpy(c->room + c->n, p, some);
		c->n += some;
		p += some;
		n -= some;
		if (c->n == ROOM)
			flush(c);
	}
}

static void fill(struct copying *c, int with, uint64_t n)
{
	c->written += n;
	while (n && !c->failed) {
		size_t some = n < ROOM - c->n ? (size_t)n : ROOM - c->n;
		memset(c->room + c->n, with, some);
		c->n += some;
		n -= some;
		if (c->n == ROOM)
			flush(c);
	}
}

static int unclear(struct copying *c, uint64_t at)
{
	return err_at(c->err, ERR_UNSUPPORTED, at, "the bytes at %" PRIu64 " are unreadable, so their contents "
	    "cannot be removed (cairn does not redact damaged dumps)", at);
}

/* False: stop. */
static bool goes_on(struct copying *c, uint64_t bytes)
{
	return !c->failed && progress_add(progress_own(), bytes);
}

/* --- the mark --------------------------------------------------------------------------------------- */

/* The record of the mark at `at`: its length behind the head, or 0: none stands there. */
static uint64_t mark_at(const struct hprof *h, uint64_t at, enum redact_what *what)
{
	const struct source *s = h->dump.source;
	uint64_t head = RECORD_HEAD + h->id_size, length = sizeof mark - 1;
	if (s->size < at || s->size - at < head + length || s->bytes[at] != HPROF_UTF8 ||
	    memcmp(s->bytes + at + head, mark, length))
		return 0;
	uint64_t n = load_be32(s->bytes + at + 5);
	for (*what = REDACT_ALL; *what > REDACT_NOTHING; (*what)--) {
		size_t word = strlen(left_out[*what]);
		if (n == h->id_size + length + word && s->size - at - head - length >= word &&
		    !memcmp(s->bytes + at + head + length, left_out[*what], word))
			return n;
	}
	return 0;
}

enum redact_what hprof_redacted(const struct hprof *h)
{
	enum redact_what what;
	return mark_at(h, h->body, &what) ? what : REDACT_NOTHING;
}

uint64_t hprof_exported(const struct hprof *h, struct hprof_origin *out)
{
	enum redact_what what;
	uint64_t marked = mark_at(h, h->body, &what), at = h->body + (marked ? RECORD_HEAD + marked : 0);
	const uint8_t *p = hprof_origin_record(h, at, out);
	return p ? at + RECORD_HEAD + load_be32(p + 5) : 0;
}

static void put_mark(struct copying *c)
{
	const struct hprof *h = c->h;
	enum redact_what before = hprof_redacted(h), what = before > c->wanted->what ? before : c->wanted->what;
	uint64_t id = 1, length = sizeof mark - 1, word = strlen(left_out[what]), n = h->id_size + length + word;
	uint8_t head[RECORD_HEAD + 8] = {HPROF_UTF8};
	while (idmap_get(&h->strings, id) != IDMAP_NONE)
		id++;
	for (unsigned i = 0; i < 4; i++)
		head[5 + i] = (uint8_t)(n >> (24 - 8 * i));
	for (unsigned i = 0; i < h->id_size; i++)
		head[RECORD_HEAD + i] = (uint8_t)(id >> (8 * (h->id_size - 1 - i)));
	put(c, head, RECORD_HEAD + h->id_size);
	put(c, (const uint8_t *)mark, length);
	put(c, (const uint8_t *)left_out[what], word);
}

/* --- names ---------------------------------------------------------------------------------------- */

static int name(struct copying *c, const uint8_t *id, enum symbol_kind kind, bool known)
{
	return renaming_note(&c->names, hprof_id(id, c->h->id_size), kind, known, c->err);
}

/* Is the class of this id known?  What it declares is, then. */
static int look_at_class(struct copying *c, uint64_t class_id)
{
	struct hprof_name class;
	int code = hprof_class_name((struct hprof *)c->h, class_id, &class, c->err);
	c->knows = !code && renaming_knows(&c->names, class.bytes, class.n);
	return code;
}

/* Walk a class record: constants, static fields, fields.  each: NULL, or gets the bytes of each value of its type and
 * of all that stands in between as values of type 0.  Names are noted where there is none. */
typedef void class_bytes(struct copying *c, unsigned type, const uint8_t *p, uint64_t n);
static int walk_class(struct copying *c, const uint8_t *p, class_bytes *each)
{
	const unsigned ids = c->h->id_size;
	const uint8_t *from = p;
	int code = 0;
	if (!each)
		code = look_at_class(c, hprof_id(p + 1, ids));
	p += 1 + 7 * ids + 8;
	for (unsigned part = 0; part < 2; part++) {
		unsigned n = load_be16(p), head = part ? ids : 2;
		p += 2;
		for (unsigned i = 0; i < n && !code; i++) {
			unsigned type = p[head], size = hprof_type_size(type, ids);
			if (part && !each)
				code = name(c, p, SYMBOL_FIELD, c->knows);
			p += head + 1;
			if (each) {
				each(c, 0, from, (uint64_t)(p - from));
				each(c, type, p, size);
			}
			p += size;
			from = p;
		}
	}
	unsigned n = load_be16(p);
	p += 2;
	for (unsigned i = 0; i < n && !code; i++, p += ids + 1)
		if (!each)
			code = name(c, p, SYMBOL_FIELD, c->knows);
	if (each)
		each(c, 0, from, (uint64_t)(p - from));
	return code;
}

static int name_in_heap(struct copying *c, const uint8_t *p)
{
	if (*p == SUB_CLASS)
		return walk_class(c, p, NULL);
	return *p == SUB_HEAP_INFO ? name(c, p + 5, SYMBOL_FIELD, true) : 0; /* its name: app, zygote, image */
}

/* --- objects -------------------------------------------------------------------------------------- */

/* Classes in whose static fields the VM states how it lays out objects (heap/sizes/layout_stated.c): a copy keeps
 * these. */
static bool states_layout(struct copying *c, uint64_t class_id)
{
	static const char *const names[] = {
		"jdk/internal/misc/Unsafe", "sun/misc/Unsafe", "java/util/concurrent/atomic/AtomicInteger" };
	struct hprof_name class;
	if (hprof_class_name((struct hprof *)c->h, class_id, &class, c->err))
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		uint64_t k = 0;
		while (k < class.n && names[i][k] &&
		    (class.bytes[k] == '.' ? '/' : class.bytes[k]) == (uint8_t)names[i][k])
			k++;
		if (k == class.n && !names[i][k])
			return true;
	}
	return false;
}

static void put_static(struct copying *c, unsigned type, const uint8_t *p, uint64_t n)
{
	if (type > 2 && c->wanted->what == REDACT_ALL && !c->states_layout)
		fill(c, 0, n);
	else
		put(c, p, n);
}

/* Of the fields only the references; what belongs to no field of a class that is known may be anything. */
static void put_references(struct copying *c, const struct hprof_class *class, const uint8_t *fields, uint64_t n)
{
	const unsigned ids = c->h->id_size;
	uint64_t at = 0, done = 0;
	for (; class; at += class->up_offset, class = class->up) {
		for (uint32_t i = 0; i < class->n_references && class->references[i] + at + ids <= n; i++) {
			uint64_t place = class->references[i] + at;
			if (place < done)
				continue;
			fill(c, 0, place - done);
			put(c, fields + place, ids);
			done = place + ids;
		}
		if (!class->up || at > n)
			break;
	}
	fill(c, 0, n - done);
}

static void put_instance(struct copying *c, const uint8_t *p, uint64_t size)
{
	const unsigned ids = c->h->id_size;
	uint64_t head = 1 + 2 * ids + 8, class_id = hprof_id(p + 1 + ids + 4, ids);
	put(c, p, head);
	if (class_id != c->chunks && (c->wanted->what == REDACT_ALL || class_id == c->wanted->string_class))
		put_references(c, hprof_class_of(c->h->classes, class_id), p + head, size - head);
	else
		put(c, p + head, size - head);
}

static void put_array(struct copying *c, const uint8_t *p, uint64_t size)
{
	const unsigned ids = c->h->id_size;
	uint64_t head = 1 + ids + 9;
	bool contents = c->wanted->what != REDACT_STRINGS || c->wanted->of_string(c->wanted->context, hprof_id(p + 1, ids));
	put(c, p, head);
	if (contents)
		fill(c, 0, size - head);
	else
		put(c, p + head, size - head);
}

static void put_sub(struct copying *c, const uint8_t *p, uint64_t size)
{
	switch (*p) {
	case SUB_CLASS:
		c->states_layout = states_layout(c, hprof_id(p + 1, c->h->id_size));
		(void)walk_class(c, p, put_static); /* names are known by now */
		break;
	case SUB_INSTANCE: put_instance(c, p, size); break;
	case SUB_PRIMITIVE_ARRAY: put_array(c, p, size); break;
	default: put(c, p, size); /* identifiers and numbers of threads, frames and heaps */
	}
}

/* --- records -------------------------------------------------------------------------------------- */

/* The sub-records from begin to end: written, or their names noted, or (of another heap) only made out. */
enum pass { PASS_NAMES, PASS_WRITE, PASS_OVER };
static int walk_heap(struct copying *c, uint64_t begin, uint64_t end, enum pass pass)
{
	const uint8_t *bytes = c->h->dump.source->bytes;
	uint64_t reported = begin;
	int code = 0;
	for (uint64_t at = begin, size; at < end && !code; at += size) {
		const char *why;
		size = hprof_sub_size(c->h, bytes + at, end - at, &why);
		if (size == 0 || size == UINT64_MAX)
			return unclear(c, at);
		if (pass == PASS_NAMES)
			code = name_in_heap(c, bytes + at);
		else if (pass == PASS_WRITE)
			put_sub(c, bytes + at, size);
		if (++c->rounds % REPORT_EVERY == 0) {
			if (!goes_on(c, at - reported))
				break;
			reported = at;
		}
	}
	return code;
}

/* A symbol: a name with its bytes, or others; of what names nothing but its length. */
static int put_symbol(struct copying *c, const uint8_t *p, uint64_t n)
{
	const unsigned ids = c->h->id_size;
	const uint8_t *bytes = p + RECORD_HEAD + ids;
	size_t length = n < ids ? 0 : (size_t)(n - ids);
	uint8_t head[RECORD_HEAD];
	uint64_t symbol = n < ids ? 0 : hprof_id(p + RECORD_HEAD, ids);
	bool named = n >= ids && renaming_named(&c->names, symbol);
	if (named && !(bytes = renaming_of(&c->names, symbol, bytes, &length, c->err)))
		return ERR_NOMEM;
	memcpy(head, p, sizeof head);
	for (unsigned i = 0; named && i < 4; i++)
		head[5 + i] = (uint8_t)((length + ids) >> (24 - 8 * i));
	put(c, head, sizeof head);
	put(c, p + RECORD_HEAD, n < ids ? n : ids);
	if (named)
		put(c, bytes, length);
	else
		fill(c, '*', length);
	return 0;
}

static void put_top(struct copying *c, const uint8_t *p, uint64_t n)
{
	const uint8_t *body = p + RECORD_HEAD;
	put(c, p, RECORD_HEAD);
	switch (*p) {
	case HPROF_LOAD_CLASS: case HPROF_UNLOAD_CLASS: case HPROF_FRAME: case HPROF_TRACE: case HPROF_START_THREAD:
	case HPROF_END_THREAD: case HPROF_HEAP_SUMMARY: case HPROF_ALLOC_SITES: case HPROF_HEAP_END:
		put(c, body, n);
		break;
	default: /* whatever it is, no reader of heaps needs it */
		fill(c, 0, n);
	}
}

static int name_top(struct copying *c, const uint8_t *p, uint64_t n)
{
	const uint8_t *body = p + RECORD_HEAD;
	const unsigned ids = c->h->id_size;
	static const enum symbol_kind kinds[] = {SYMBOL_METHOD, SYMBOL_SIGNATURE, SYMBOL_SOURCE};
	int code = 0;
	if (*p == HPROF_LOAD_CLASS && n >= 8 + 2 * ids) {
		code = look_at_class(c, hprof_id(body + 4, ids));
		return code ? code : name(c, body + 8 + ids, SYMBOL_CLASS, c->knows);
	}
	if (*p != HPROF_FRAME || n < 4 * ids + 4)
		return 0;
	uint64_t class_id = idmap_get(&c->h->serials, load_be32(body + 4 * ids));
	code = look_at_class(c, class_id == IDMAP_NONE ? 0 : class_id);
	for (unsigned i = 0; i < 3 && !code; i++)
		code = name(c, body + (i + 1) * ids, kinds[i], c->knows && kinds[i] != SYMBOL_SIGNATURE);
	return code;
}

/* A heap record: its sub-records end where the reader found that they do, whatever length it states. */
static int walk_heap_record(struct copying *c, uint64_t at, uint64_t stated, bool write, uint64_t *next)
{
	const struct hprof *h = c->h;
	uint64_t body = at + RECORD_HEAD;
	bool ours = c->segment < h->n_segments && h->segments[c->segment].begin == body;
	uint64_t end = ours ? h->segments[c->segment++].end : body + stated;
	*next = end;
	if (end > h->end)
		return unclear(c, at);
	if (!ours)
		return walk_heap(c, body, end, PASS_OVER);
	if (write)
		put(c, h->dump.source->bytes + at, RECORD_HEAD);
	return walk_heap(c, body, end, write ? PASS_WRITE : PASS_NAMES);
}

/* Where the record after this byte begins: at the end of a piece, in the next one. */
static uint64_t record_from(const struct source *s, uint64_t at)
{
	for (size_t i = 0; i + 1 < s->n_pieces; i++)
		if (at == s->pieces[i].end)
			at = s->pieces[i + 1].begin;
	return at;
}

static int walk_file(struct copying *c, bool write)
{
	const struct source *s = c->h->dump.source;
	int code = 0;
	c->segment = 0;
	enum redact_what before;
	uint64_t marked = mark_at(c->h, c->h->body, &before);
	struct hprof_origin origin;
	if (write) {
		put(c, s->bytes + c->h->begin, c->h->body - c->h->begin);
		put_mark(c);
	}
	for (uint64_t at = c->h->body + (marked ? RECORD_HEAD + marked : 0), next; at < c->h->end && !code;
	     at = record_from(s, next)) {
		const uint8_t *p = s->bytes + at;
		if (!goes_on(c, 0))
			break;
		if (c->h->end - at < RECORD_HEAD)
			return unclear(c, at);
		uint64_t n = load_be32(p + 5);
		next = at + RECORD_HEAD + n;
		if (*p == HPROF_HEAP_DUMP || *p == HPROF_HEAP_SEGMENT)
			code = walk_heap_record(c, at, n, write, &next);
		else if (next > c->h->end)
			code = unclear(c, at);
		else if (write && *p == HPROF_UTF8 && hprof_origin_record(c->h, at, &origin))
			put(c, p, RECORD_HEAD + n);
		else if (write && *p == HPROF_UTF8)
			code = put_symbol(c, p, n);
		else if (write)
			put_top(c, p, n);
		else
			code = name_top(c, p, n);
	}
	if (!code && c->segment != c->h->n_segments && !c->failed && !progress_cancelled(progress_own()))
		code = unclear(c, c->h->segments[c->segment].begin);
	return code;
}

static void find_chunks(struct copying *c)
{
	const struct hprof_classes *all = c->h->classes;
	for (uint32_t i = 0; i < all->n && !c->chunks && !progress_own_stops(i); i++)
		if (hprof_is_class(c->h, all->list[i].id, "jdk/internal/vm/StackChunk"))
			c->chunks = all->list[i].id;
}

int hprof_redact(const struct dump *dump, const struct redaction *wanted, FILE *to, uint64_t *written, struct err *err)
{
	const struct hprof *h = (const struct hprof *)dump;
	struct copying c = {.h = h, .wanted = wanted, .to = to, .err = err, .names = {.wanted = wanted}};
	*written = 0;
	if (h->damaged)
		return unclear(&c, h->damage.offset);
	int code = hprof_classes_whole((struct hprof *)h, err);
	if (!code)
		find_chunks(&c);
	if (!code)
		code = walk_file(&c, false);
	if (!code)
		code = walk_file(&c, true);
	if (!code)
		code = progress_check(progress_own(), err);
	flush(&c);
	if (!code && c.failed)
		code = err_set(err, ERR_IO, "%s", strerror(c.failed));
	renaming_release(&c.names);
	*written = c.written;
	return code;
}

/* Where the dump is damaged, those that name something only behind the damage count as texts. */
int hprof_symbols(const struct dump *dump, symbol_take *take, void *context, struct err *err)
{
	const struct hprof *h = (const struct hprof *)dump;
	const struct redaction nothing = {.what = REDACT_NOTHING};
	struct copying c = {.h = h, .wanted = &nothing, .err = err, .names = {.wanted = &nothing}};
	int code = hprof_classes_whole((struct hprof *)h, err);
	if (!code)
		code = walk_file(&c, false);
	if (code == ERR_UNSUPPORTED)
		code = 0;
	if (!code)
		code = progress_check(progress_own(), err);
	for (uint64_t i = 0; i < h->strings.n_slots && !code; i++) {
		const struct idmap_slot *slot = &h->strings.slots[i];
		size_t n;
		const uint8_t *bytes = slot->value_plus_1 ? hprof_string(h, slot->key, &n) : NULL;
		if (bytes)
			code = take(context, bytes, n, renaming_named(&c.names, slot->key), err);
		if (!code && progress_own_stops(i))
			code = err_cancelled(err);
	}
	renaming_release(&c.names);
	return code;
}
