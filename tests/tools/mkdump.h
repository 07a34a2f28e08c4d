/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mkdump.h - what the parts of the dump generator share.
 *
 * The generator is a second opinion: it links none of the program's own code, so that a dump and
 * the truth file beside it come from what was planted and not from what a reader understood.
 * Everything is seeded; the same arguments write the same bytes on every machine.
 */
#ifndef CAIRN_TESTS_MKDUMP_H
#define CAIRN_TESTS_MKDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- output, memory, chance (mkdump.c) -------------------------------------------------------- */

struct out {
	int fd;
	const char *path;
	uint64_t written; /* bytes, those still in the buffer included */
	size_t used;
	unsigned char *buffer;
};

void out_open(struct out *o, const char *path); /* "-": standard output; ends the program on error */
void out_close(struct out *o);
void out_bytes(struct out *o, const void *p, size_t n);
void out_byte(struct out *o, unsigned value);
void out_be(struct out *o, uint64_t value, unsigned bytes); /* big-endian, 1 to 8 bytes */
void out_text(struct out *o, const char *s);
void out_format(struct out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
void out_hex(struct out *o, uint64_t value, unsigned digits); /* upper case, no 0x */
void out_decimal(struct out *o, uint64_t value);

_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *get_memory(size_t count, size_t size); /* zeroed; ends the program when there is none */
void *more_memory(void *old, size_t count, size_t size);

struct chance {
	uint64_t state;
};

uint64_t mix(uint64_t x); /* one number from another, well stirred */
uint64_t chance_next(struct chance *c);
uint64_t chance_below(struct chance *c, uint64_t n);           /* 0 … n-1, n > 0 */
bool chance_percent(struct chance *c, unsigned percent);

static inline uint64_t round_up(uint64_t x, uint64_t to)
{
	return (x + to - 1) / to * to;
}

/* --- one class's array element types, in PHD's numbering --------------------------------------- */

enum element { E_BOOLEAN, E_CHAR, E_FLOAT, E_DOUBLE, E_BYTE, E_SHORT, E_INT, E_LONG, ELEMENTS };
extern const char element_letter[ELEMENTS];      /* as in "[C" */
extern const char *const element_name[ELEMENTS]; /* as Java writes them */
extern const unsigned element_size[ELEMENTS];    /* bytes */

/* --- PHD (mkdump_phd.c) ------------------------------------------------------------------------ */

enum { PHD_64 = 1, PHD_HASHED = 2, PHD_J9 = 4 };

struct phd_options {
	unsigned version; /* 4, 5, 6 */
	unsigned flags;
	const char *full_version; /* NULL: no tag 4 */
	bool old_header;          /* totals and hash seeds, as pre-J9 VMs wrote them */
	uint32_t n_objects, n_references;
	struct chance *wild; /* not NULL: any encoding the format allows, not only the tightest */
};

struct phd {
	struct out *out;
	struct phd_options options;
	unsigned word, shift;
	bool hashed16;
	uint64_t mask, previous, cache[4];
	unsigned next;
	uint64_t n_short, n_medium, n_long, n_primitive, n_long_primitive, n_array, n_old_array,
	    n_class, n_references; /* written so far */
};

/* hash: negative for none; ignored (but present) where every record carries 16 bits. */
void phd_begin(struct phd *w, struct out *out, const struct phd_options *options);
void phd_object(struct phd *w, uint64_t address, uint64_t class_address, int64_t hash,
    const uint64_t *references, uint32_t n);
void phd_array(struct phd *w, uint64_t address, uint64_t class_word, int64_t hash,
    const uint64_t *references, uint32_t n, uint32_t length, uint64_t size);
void phd_primitives(struct phd *w, uint64_t address, enum element type, int64_t hash,
    uint64_t length, uint64_t size);
void phd_class(struct phd *w, uint64_t address, uint32_t instance_size, int64_t hash,
    uint64_t superclass, const char *name, const uint64_t *references, uint32_t n);
void phd_end(struct phd *w);

/* --- classic text (mkdump_classic.c) ----------------------------------------------------------- */

struct classic_options {
	unsigned digits;     /* 8 or 16 */
	const char *version; /* NULL: no version line */
	bool crlf;
	bool jdmpview;       /* the second writer's spelling of the same */
	bool ebcdic;         /* IBM-1047; names must then be ASCII */
};

struct classic {
	struct out *out;
	struct classic_options options;
	const char *newline;
	uint64_t n_classes, n_objects, n_arrays, n_primitives, n_references, n_nulls;
};

enum classic_kind { CLASSIC_CLASS, CLASSIC_OBJECT, CLASSIC_ARRAY, CLASSIC_PRIMITIVES };

/* nulls: references that are null; only the trailer knows them. */
void classic_begin(struct classic *w, struct out *out, const struct classic_options *options);
void classic_record(struct classic *w, enum classic_kind kind, uint64_t address, uint64_t size,
    const char *type, const uint64_t *references, size_t n, uint64_t nulls);
void classic_end(struct classic *w);

/* --- modes -------------------------------------------------------------------------------------- */

int mkdump_bench(int argc, char **argv);
int mkdump_sample(int argc, char **argv);
int mkdump_random(int argc, char **argv);
int mkdump_go(int argc, char **argv);
int mkdump_go_bench(int argc, char **argv);

/* The value of an option "--name VALUE" at argv[*i], or NULL when argv[*i] is another one. */
const char *option_value(int argc, char **argv, int *i, const char *name);
uint64_t option_number(const char *text);

#endif
