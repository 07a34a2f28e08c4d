/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ddr.c - see ddr.h. */
#include "dump/j9core/ddr.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "base/mem.h"
#include "dump/core/core.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of records: the head; of a structure, a member, a constant. */
enum { HEAD = 20, STRUCTURE = 20, FIELD = 12, CONSTANT = 12 };
enum { NAME_MOST = 4096, DEEPEST = 64 /* structures that derive from one another */ };
#define BYTES_MOST (64u << 20)
#define NO_NAME UINT32_MAX

struct name {
	const uint8_t *p;
	uint16_t n;
};

struct structure {
	struct name name, super;   /* super.p NULL: none */
	uint32_t size, record;     /* record: where its members are */
	uint32_t n_fields, n_constants;
};

struct ddr {
	const struct core *core;
	uint8_t *own;              /* big memory: a copy, where the core has it in several pieces; or NULL */
	const uint8_t *records, *names;
	uint32_t n_records, n_names; /* bytes */
	unsigned word, bool_bytes;
	struct structure *structure; /* big memory: by ascending name */
	uint32_t n;
};

static uint32_t u32(const struct ddr *d, const uint8_t *p)
{
	return (uint32_t)core_number(d->core, p, 4);
}

/* A name: its length in 16 bits, then the bytes.  p NULL: there is none, or it is damaged. */
static struct name name_at(const struct ddr *d, uint32_t offset)
{
	struct name none = {NULL, 0};

	if (offset == NO_NAME || d->n_names < 2 || offset > d->n_names - 2)
		return none;
	uint16_t n = (uint16_t)core_number(d->core, d->names + offset, 2);
	return n > NAME_MOST || n > d->n_names - 2 - offset ? none : (struct name){d->names + offset + 2, n};
}

static int compare(struct name a, const char *b, size_t n)
{
	int order = memcmp(a.p, b, a.n < n ? a.n : n);
	return order ? order : (a.n > n) - (a.n < n);
}

static int by_name(const void *a, const void *b)
{
	const struct structure *x = a, *y = b;
	return compare(x->name, (const char *)y->name.p, y->name.n);
}

/* --- opening ----------------------------------------------------------------------------------------------- */

/* Take a structure's record, and where the next one begins; false: it is damaged. */
static bool take(struct ddr *d, uint32_t *at)
{
	const uint8_t *p = d->records + *at;

	if (d->n_records - *at < STRUCTURE)
		return false;
	struct structure s = {.name = name_at(d, u32(d, p)), .super = name_at(d, u32(d, p + 4)), .size = u32(d, p + 8),
	    .record = *at + STRUCTURE, .n_fields = u32(d, p + 12), .n_constants = u32(d, p + 16)};
	uint64_t bytes = (uint64_t)s.n_fields * FIELD + (uint64_t)s.n_constants * CONSTANT;
	if (!s.name.p || bytes > d->n_records - s.record)
		return false;
	d->structure[d->n++] = s;
	*at = s.record + (uint32_t)bytes;
	return true;
}

/* How many structures there are; false: it is damaged. */
static bool read_head(struct ddr *d, const uint8_t head[static HEAD], uint32_t *n)
{
	*n = u32(d, head + 16);
	d->bool_bytes = head[4];
	d->word = head[5];
	d->n_records = u32(d, head + 8);
	d->n_names = u32(d, head + 12);
	return u32(d, head) == 1 && (d->word == 4 || d->word == 8) && d->n_records <= BYTES_MOST &&
	    d->n_names <= BYTES_MOST && *n <= d->n_records / STRUCTURE;
}

uint64_t ddr_bytes(const struct core *core, const uint8_t *bytes, uint64_t n)
{
	struct ddr d = {.core = core};
	uint32_t structures;

	return n >= HEAD && read_head(&d, bytes, &structures) ? HEAD + (uint64_t)d.n_records + d.n_names : 0;
}

static int read_all(struct ddr *d, uint64_t address, struct err *err)
{
	uint8_t head[HEAD];
	uint32_t n;

	if (!core_copy(d->core, address, head, sizeof head))
		return err_set(err, ERR_TRUNCATED, "the core does not have the VM's description of its structures");
	if (!read_head(d, head, &n))
		return err_set(err, ERR_FORMAT, "the VM's description of its structures at 0x%llx is damaged",
		    (unsigned long long)address);
	uint32_t bytes = d->n_records + d->n_names;
	d->records = core_range(d->core, address + HEAD, bytes);
	if (!d->records) {
		d->records = d->own = big_alloc(bytes, 1, err);
		if (!d->own)
			return ERR_NOMEM;
		if (!core_copy(d->core, address + HEAD, d->own, bytes))
			return err_set(err, ERR_TRUNCATED, "the core has only a part of the VM's description of its structures");
	}
	d->names = d->records + d->n_records;
	d->structure = big_alloc(n ? n : 1, sizeof *d->structure, err);
	if (!d->structure)
		return ERR_NOMEM;
	for (uint32_t at = 0; d->n < n;)
		if (!take(d, &at))
			return err_set(err, ERR_FORMAT, "the VM's description of its structures is damaged at structure %u of %u",
			    d->n + 1, n);
	sort_array(d->structure, d->n, sizeof *d->structure, by_name);
	return 0;
}

int ddr_open(struct ddr **out, const struct core *core, uint64_t address, struct err *err)
{
	struct ddr *d = xcalloc(1, sizeof *d);

	d->core = core;
	int code = read_all(d, address, err);
	if (code)
		ddr_close(d);
	*out = code ? NULL : d;
	return code;
}

void ddr_close(struct ddr *d)
{
	if (!d)
		return;
	big_free(d->structure);
	big_free(d->own);
	free(d);
}

/* --- looking things up ------------------------------------------------------------------------------------- */

static const struct structure *find(const struct ddr *d, const char *name, size_t n)
{
	uint32_t at;

	BISECT(at, d->n, compare(d->structure[at].name, name, n) < 0);
	return at < d->n && compare(d->structure[at].name, name, n) == 0 ? &d->structure[at] : NULL;
}

unsigned ddr_word(const struct ddr *d)
{
	return d->word;
}

uint32_t ddr_size(const struct ddr *d, const char *structure)
{
	const struct structure *s = find(d, structure, strlen(structure));
	return s ? s->size : 0;
}

static bool begins(struct name s, const char *with)
{
	size_t n = strlen(with);
	return s.n >= n && !memcmp(s.p, with, n);
}

/* Bytes of a number or a pointer by the words of its type; 0: it is neither. */
static uint32_t size_of(const struct ddr *d, struct name type)
{
	static const struct { const char *begin; uint8_t size; } sizes[] = {
	    {"U64", 8}, {"I64", 8}, {"double", 8}, {"U32", 4}, {"I32", 4}, {"float", 4}, {"enum ", 4}, {"J9SRP", 4},
	    {"U16", 2}, {"I16", 2}, {"U8", 1}, {"I8", 1}};

	while (begins(type, "const ") || begins(type, "volatile ")) {
		uint16_t n = *type.p == 'c' ? 6 : 9;
		type = (struct name){type.p + n, (uint16_t)(type.n - n)};
	}
	if (memchr(type.p, '[', type.n))
		return 0;
	if (memchr(type.p, '*', type.n) || begins(type, "UDATA") || begins(type, "IDATA") || begins(type, "J9WSRP") ||
	    begins(type, "j9object"))
		return d->word;
	if (begins(type, "bool"))
		return d->bool_bytes;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (begins(type, sizes[i].begin))
			return sizes[i].size;
	return 0;
}

static struct ddr_field read_field(const struct ddr *d, const uint8_t *p)
{
	struct name type = name_at(d, u32(d, p + 4));

	return (struct ddr_field){.offset = u32(d, p + 8), .size = type.p ? size_of(d, type) : 0,
	    .type = (const char *)type.p, .n_type = type.n};
}

static bool own_field(const struct ddr *d, const struct structure *s, const char *field, struct ddr_field *out)
{
	const uint8_t *p = d->records + s->record;
	size_t n = strlen(field);

	for (uint32_t i = 0; i < s->n_fields; i++, p += FIELD) {
		struct name name = name_at(d, u32(d, p));
		if (!name.p || compare(name, field, n))
			continue;
		*out = read_field(d, p);
		return true;
	}
	return false;
}

bool ddr_nth_field(const struct ddr *d, const char *structure, uint32_t i, struct ddr_field *out)
{
	const struct structure *s = find(d, structure, strlen(structure));

	if (!s || i >= s->n_fields)
		return false;
	*out = read_field(d, d->records + s->record + (size_t)i * FIELD);
	return true;
}

bool ddr_field(const struct ddr *d, const char *structure, const char *field, struct ddr_field *out)
{
	const struct structure *s = find(d, structure, strlen(structure));

	for (unsigned deep = 0; s && deep < DEEPEST; deep++) {
		if (own_field(d, s, field, out))
			return true;
		s = s->super.p ? find(d, (const char *)s->super.p, s->super.n) : NULL;
	}
	return false;
}

bool ddr_constant(const struct ddr *d, const char *structure, const char *name, uint64_t *out)
{
	const struct structure *s = find(d, structure, strlen(structure));
	size_t n = strlen(name);

	for (uint32_t i = 0; s && i < s->n_constants; i++) {
		const uint8_t *p = d->records + s->record + (size_t)s->n_fields * FIELD + (size_t)i * CONSTANT;
		struct name its = name_at(d, u32(d, p));
		if (its.p && !compare(its, name, n)) {
			*out = core_number(d->core, p + 4, 8);
			return true;
		}
	}
	return false;
}
