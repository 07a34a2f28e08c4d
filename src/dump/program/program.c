/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program.c - see program.h: opening, checking against a dump, and looking things up.
 */
#include "dump/program/program_read.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "base/mem.h"
#include "memory/big.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *program_keep(struct program *p, struct arena *arena, const char *name)
{
	struct text t = TEXT_INIT;
	size_t n = strnlen(name, MOST_NAME);

	text_add_escaped(&t, name, n);
	if (name[n])
		text_addf(&t, "..<%zu bytes>", strlen(name));
	const char *kept = arena_try_strndup(arena, t.s, t.len, p->err);
	text_release(&t);
	p->refused |= !kept;
	return kept ? kept : "";
}

/* --- opening ---------------------------------------------------------------------------------- */

static int open_file(struct program *p, struct err *err)
{
	struct stat st;

	p->fd = open(p->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (p->fd < 0 || fstat(p->fd, &st))
		return err_set(err, ERR_IO, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_IO, "is not a regular file");
	p->hold = file_hold_open(p->fd, "the program of the dump");
	return 0;
}

static int by_low(const void *a, const void *b)
{
	const struct program_range *x = a, *y = b;
	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return (x->die == 0) - (y->die == 0); /* what DWARF knows first */
}

static int by_address(const void *a, const void *b)
{
	const struct program_variable *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Sort by ascending low, and keep one range for each low. */
static void sort_ranges(struct program_range *range, uint32_t *n)
{
	uint32_t kept = 0;

	if (!*n)
		return;
	sort_array(range, *n, sizeof *range, by_low);
	for (uint32_t i = 0; i < *n; i++)
		if (!kept || range[i].low != range[kept - 1].low)
			range[kept++] = range[i];
	*n = kept;
}

int program_open(struct program **out, const char *path, struct err *err)
{
	struct program *p = xcalloc(1, sizeof *p);
	*out = NULL;
	p->fd = p->debug_fd = -1;
	p->err = err;
	p->path = xstrdup(path);
	int code = program_support() ? 0 : err_set(err, ERR_UNSUPPORTED,
	    "this cairn was built without elfutils' libdw and cannot read programs");
	if (!code)
		code = open_file(p, err);
	if (!code)
		code = program_read_elf(p, err);
	if (!code)
		code = program_read_dwarf(p, err);
	p->err = NULL;
	if (code) {
		struct text name = TEXT_INIT;
		text_add_escaped(&name, path, strlen(path));
		err_context(err, "%s", name.s ? name.s : "");
		text_release(&name);
		program_close(p);
		return code;
	}
	sort_ranges(p->function, &p->n_functions);
	sort_ranges(p->object, &p->n_objects);
	sort_array(p->variable, p->n_variables, sizeof *p->variable, by_address);
	if (!p->has_symbols && !p->has_types && !p->lacks)
		p->lacks = "it is stripped: it has neither symbols nor DWARF";
	else if (!p->has_types && !p->lacks)
		p->lacks = "it has no DWARF";
	*out = p;
	return 0;
}

void program_close(struct program *p)
{
	if (!p)
		return;
	program_release_elf(p);
	file_let_go(p->hold);
	file_let_go(p->debug_hold);
	if (p->fd >= 0)
		close(p->fd);
	if (p->debug_fd >= 0)
		close(p->debug_fd);
	types_release(&p->types);
	arena_release(&p->arena);
	if (p->statics)
		arena_release(&p->statics->names);
	big_free(p->statics);
	big_free(p->function);
	big_free(p->object);
	big_free(p->variable);
	big_free(p->number);
	big_free(p->local);
	big_free(p->capture);
	big_free(p->captured);
	free(p->path);
	free(p);
}

/* --- does it belong to the dump? --------------------------------------------------------------- */

static int check_machine(const struct program *p, const struct program_match *dump, struct err *err)
{
	/* dumps before go1.7 name the machine by a letter, which is not compared */
	bool named = dump->arch && strlen(dump->arch) > 1;

	if (named && p->arch && strcmp(p->arch, dump->arch))
		return err_set(err, ERR_NOT_FOUND, "it was built for %s, but the dump is for %s", p->arch,
		    dump->arch);
	if (p->word != dump->word)
		return err_set(err, ERR_NOT_FOUND, "its pointers have %u bytes, but the dump's have %u", p->word,
		    dump->word);
	if (p->big_endian != dump->big_endian)
		return err_set(err, ERR_NOT_FOUND, "it is %s-endian, but the dump is not",
		    p->big_endian ? "big" : "little");
	return 0;
}

/* The symbols and the header each tell where a section lies: take the one of the two that has the
 * dump's length; NULL: neither has it. */
static const struct program_section *fitting(const struct program_section *symbols,
    const struct program_section *header, uint64_t size)
{
	if (symbols->size && symbols->size == size)
		return symbols;
	return header->size == size ? header : NULL;
}

static int check_sections(const struct program *p, const struct program_match *dump, uint64_t *bias,
    struct err *err)
{
	const struct program_section *data = fitting(&p->data, &p->data_header, dump->data.size);
	const struct program_section *bss = fitting(&p->bss, &p->bss_header, dump->bss.size);

	if (!dump->data.size && !dump->bss.size)
		return err_set(err, ERR_NOT_FOUND,
		    "the dump has no data segment to compare the program with");
	if (!data || !bss) {
		const struct program_section *own = data ? &p->bss : &p->data;
		if (!own->size)
			own = data ? &p->bss_header : &p->data_header;
		return err_set(err, ERR_NOT_FOUND, "it is another program or another build: its %s has "
		    "%" PRIu64 " bytes, the dump's %" PRIu64, data ? ".bss" : ".data", own->size,
		    data ? dump->bss.size : dump->data.size);
	}
	*bias = dump->data.size ? dump->data.address - data->address :
	    dump->bss.address - bss->address;
	if (dump->data.size && dump->bss.size && dump->bss.address - bss->address != *bias)
		return err_set(err, ERR_NOT_FOUND,
		    "it is another build: its .data and .bss have other addresses than the dump's");
	if (*bias && !p->movable)
		return err_set(err, ERR_NOT_FOUND, "it is another build: its .data is at 0x%" PRIx64
		    ", the dump's at 0x%" PRIx64, data->address, dump->data.address);
	if (*bias % 4096)
		return err_set(err, ERR_NOT_FOUND, "it is another build: its .data would be at 0x...%03" PRIx64 " "
		    "at any load address, the dump's is at 0x%" PRIx64, data->address % 4096,
		    dump->data.address);
	return 0;
}

void program_move(struct program *p, uint64_t bias)
{
	uint64_t moved = bias - p->bias;
	uint64_t mask = p->word == 4 ? UINT32_MAX : UINT64_MAX;

	p->bias = bias;
	for (uint32_t i = 0; i < p->n_variables; i++)
		p->variable[i].address = (p->variable[i].address + moved) & mask;
	for (uint32_t i = 0; i < p->types.n; i++)
		if (p->types.type[i].descriptor)
			p->types.type[i].descriptor = (p->types.type[i].descriptor + moved) & mask;
}

bool program_is_movable(const struct program *p)
{
	return p->movable;
}

uint64_t program_entry(const struct program *p)
{
	return p->entry;
}

const char *program_machine(const struct program *p)
{
	return p->arch;
}

int program_check(struct program *p, const struct program_match *dump, struct err *err)
{
	uint64_t bias = 0;
	int code = check_machine(p, dump, err);
	if (!code)
		code = check_sections(p, dump, &bias, err);
	if (code)
		return code;
	program_move(p, bias);
	return 0;
}

/* --- looking things up ------------------------------------------------------------------------- */

const char *program_path(const struct program *p)
{
	return p->path;
}

bool program_has_symbols(const struct program *p)
{
	return p->has_symbols;
}

bool program_has_types(const struct program *p)
{
	return p->has_types;
}

bool program_unread(const struct program *p)
{
	return p->unread;
}

const char *program_lacks(const struct program *p)
{
	return p->lacks;
}

const struct types *program_types(const struct program *p)
{
	return &p->types;
}

const struct program_variable *program_variables(const struct program *p, size_t *n)
{
	*n = p->n_variables;
	return p->variable;
}

uint64_t program_address_of(const struct program *p, const char *name)
{
	for (uint32_t i = 0; i < p->n_variables; i++)
		if (!strcmp(p->variable[i].name, name))
			return p->variable[i].address;
	return 0;
}

static const struct program_variable *variable_in(const struct program *p,
    const struct program_variable *variable, uint32_t n, uint64_t address)
{
	uint32_t at;

	BISECT(at, n, variable[at].address <= address);
	if (!at)
		return NULL;
	const struct program_variable *v = &variable[at - 1];
	return address - v->address < p->types.type[v->type].size ? v : NULL;
}

const struct program_variable *program_variable_at(const struct program *p, uint64_t address)
{
	const struct program_variable *v = variable_in(p, p->variable, p->n_variables, address);
	const struct program_statics *s = v ? NULL : __atomic_load_n(&p->statics, __ATOMIC_ACQUIRE);

	return s ? variable_in(p, s->variable, s->n, address) : v;
}

/* By ascending address; of those that begin at one address the largest comes first. */
static int by_place(const void *a, const void *b, void *types)
{
	const struct program_variable *x = a, *y = b;
	const struct type *type = types;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (type[x->type].size < type[y->type].size) - (type[x->type].size > type[y->type].size);
}

int program_tell_statics(struct program *p, const struct program_variable *all, size_t n,
    struct err *err)
{
	struct program_variable *sorted = big_alloc(n, sizeof *sorted, err);
	struct program_statics *s =
	    sorted ? big_alloc(1, sizeof *s + n * sizeof *s->variable, err) : NULL;
	uint64_t end = 0;
	bool whole = s != NULL;

	if (n && whole)
		memcpy(sorted, all, n * sizeof *sorted);
	if (whole)
		sort_array_with(sorted, n, sizeof *sorted, by_place, p->types.type);
	for (size_t i = 0; whole && i < n; i++) {
		if (sorted[i].address < end)
			continue;
		end = sorted[i].address + p->types.type[sorted[i].type].size;
		sorted[i].name =
		    arena_try_strndup(&s->names, sorted[i].name, strlen(sorted[i].name), err);
		whole = sorted[i].name != NULL;
		s->variable[s->n++] = sorted[i];
	}
	big_free(sorted);
	if (!whole) {
		if (s)
			arena_release(&s->names);
		big_free(s);
		return ERR_NOMEM;
	}
	__atomic_store_n(&p->statics, s, __ATOMIC_RELEASE);
	return 0;
}

const struct program_variable *program_statics(const struct program *p, size_t *n)
{
	const struct program_statics *s = __atomic_load_n(&p->statics, __ATOMIC_ACQUIRE);
	*n = s ? s->n : 0;
	return s ? s->variable : NULL;
}

/* The same in each process, unlike algorithms/hash.h. */
static uint64_t add_print(uint64_t print, uint64_t number)
{
	print = (print ^ number) * UINT64_C(0x9E3779B185EBCA87);
	return print << 31 | print >> 33;
}

static uint64_t add_named(uint64_t print, const char *name, uint64_t a, uint64_t b)
{
	for (; *name; name++)
		print = add_print(print, (uint8_t)*name);
	return add_print(add_print(print, a), b);
}

uint64_t program_print(const struct program *p)
{
	uint64_t print = p->word;
	for (uint32_t i = 0; i < p->types.n; i++)
		print = add_named(print, p->types.type[i].name, p->types.type[i].kind, p->types.type[i].size);
	for (uint32_t i = 0; i < p->types.n_fields; i++)
		print = add_named(print, p->types.field[i].name, p->types.field[i].offset, p->types.field[i].type);
	for (uint32_t i = 0; i < p->n_variables; i++)
		print = add_named(print, p->variable[i].name, p->variable[i].address, p->variable[i].type);
	for (uint32_t i = 0; i < p->n_functions; i++)
		print = add_print(print, p->function[i].low);
	return print;
}

/* The range with this link address in it, or NULL. */
static const struct program_range *range_at(const struct program_range *range, uint32_t n,
    uint64_t address)
{
	uint32_t at;

	BISECT(at, n, range[at].low <= address);
	return at && address < range[at - 1].high ? &range[at - 1] : NULL;
}

const char *program_function_at(const struct program *p, uint64_t pc, uint32_t *number)
{
	const struct program_range *f = range_at(p->function, p->n_functions, pc - p->bias);

	if (f && number)
		*number = (uint32_t)(f - p->function);
	return f ? f->name : NULL;
}

uint32_t program_n_functions(const struct program *p)
{
	return p->n_functions;
}

const char *program_function_name(const struct program *p, uint32_t number)
{
	return number < p->n_functions ? p->function[number].name : NULL;
}

uint64_t program_function_entry(const struct program *p, uint32_t number)
{
	return number < p->n_functions ? p->function[number].low + p->bias : 0;
}

uint64_t program_path_in(const struct program *p, uint32_t type, uint64_t offset, struct text *out)
{
	const struct types *t = &p->types;

	for (unsigned depth = 0; depth <= TYPE_DEPTH && type != TYPE_NONE; depth++) {
		const struct type *of = &t->type[type];
		if (of->kind == TYPE_ARRAY && of->count && t->type[of->element].size) {
			uint64_t size = t->type[of->element].size;
			text_addf(out, "[%" PRIu64 "]", offset / size);
			offset %= size;
			type = of->element;
			continue;
		}
		const struct type_field *found = NULL;
		for (uint32_t i = 0; i < of->n_fields && of->kind == TYPE_STRUCT; i++) {
			const struct type_field *f = &t->field[of->first_field + i];
			if (offset >= f->offset && offset - f->offset < t->type[f->type].size)
				found = f;
		}
		if (!found)
			break;
		text_addf(out, ".%s", found->name);
		offset -= found->offset;
		type = found->type;
	}
	/* a later word of a string, slice or interface is part of it, not beside it */
	bool within = type != TYPE_NONE && (t->type[type].kind == TYPE_STRING ||
	    t->type[type].kind == TYPE_SLICE || t->type[type].kind == TYPE_INTERFACE ||
	    t->type[type].kind == TYPE_EMPTY_INTERFACE);
	return within ? 0 : offset;
}

bool program_symbol(const struct program *p, uint64_t address, struct text *out)
{
	const struct program_variable *v = program_variable_at(p, address);
	uint64_t offset = 0;

	if (v) {
		text_add(out, v->name);
		offset = program_path_in(p, v->type, address - v->address, out);
	} else {
		const struct program_range *r = range_at(p->object, p->n_objects, address - p->bias);
		if (!r)
			r = range_at(p->function, p->n_functions, address - p->bias);
		if (!r)
			return false;
		text_add(out, r->name);
		offset = address - p->bias - r->low;
	}
	if (offset)
		text_addf(out, "+0x%" PRIx64, offset);
	return true;
}

bool program_runtime_constant(const struct program *p, const char *name, uint64_t *out)
{
	for (uint32_t i = 0; i < p->n_numbers; i++) {
		if (strcmp(p->number[i].name, name) != 0)
			continue;
		*out = p->number[i].value;
		return true;
	}
	return false;
}

static uint64_t number_at(const struct program *p, const uint8_t *at, unsigned width)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < width; i++)
		n = n << 8 | at[p->big_endian ? i : width - 1 - i];
	return n;
}

bool program_type_name(const struct program *p, uint64_t descriptor, struct text *out)
{
	enum { EXTRA_STAR = 2 }; /* the name is "*T": it serves the type T and the pointer to it */
	const unsigned flags_at = 2 * p->word + 4, name_at = 4 * p->word + 8;
	uint64_t n, length = 0;
	if (!p->types_begin || descriptor < p->types_begin + p->bias || descriptor >= p->types_end + p->bias)
		return false;
	const uint8_t *type = program_constant(p, descriptor, &n);
	if (!type || n < name_at + 4)
		return false;
	bool star = type[flags_at] & EXTRA_STAR;
	uint64_t name = p->types_begin + p->bias + number_at(p, type + name_at, 4);
	const uint8_t *text = program_constant(p, name, &n);
	unsigned used = 1; /* behind the flags: length, seven bits a byte */
	for (unsigned shift = 0; text && used < 4 && used < n; shift += 7) {
		length |= (uint64_t)(text[used] & 0x7F) << shift;
		if (text[used++] < 0x80)
			break;
	}
	if (!text || !length || length > MOST_NAME || length > n - used || (star && length < 2))
		return false;
	text_add_escaped(out, (const char *)text + used + star, (size_t)length - star);
	return true;
}

#ifndef HAVE_LIBDW
const uint8_t *program_constant(const struct program *p, uint64_t address, uint64_t *n)
{
	(void)p, (void)address, (void)n;
	return NULL;
}

const char *program_support(void)
{
	return NULL;
}

int program_read_elf(struct program *p, struct err *err)
{
	(void)p;
	return err_set(err, ERR_UNSUPPORTED, "this cairn was built without elfutils' libdw");
}

int program_read_dwarf(struct program *p, struct err *err)
{
	(void)p, (void)err;
	return 0;
}

void program_release_elf(struct program *p)
{
	(void)p;
}

int program_captures(struct program *p, uint32_t function, const struct program_capture **out, size_t *n,
    struct err *err)
{
	(void)function, (void)err;
	*n = 0;
	*out = p->capture;
	return 0;
}

int program_locals(struct program *p, uint64_t pc, const struct program_local **out, size_t *n,
    struct err *err)
{
	(void)pc, (void)err;
	*n = 0;
	*out = p->local;
	return 0;
}
#endif
