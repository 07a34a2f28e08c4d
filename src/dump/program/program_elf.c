/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program_elf.c - header, sections and symbols of an executable, through libelf.
 */
#include "dump/program/program_read.h"

#include "memory/big.h"

#ifdef HAVE_LIBDW
#include <elfutils/version.h>
#include <errno.h>
#include <gelf.h>
#include <string.h>

#define AS_TEXT(x) #x
#define IN_TEXT(x) AS_TEXT(x)

const char *program_support(void)
{
	return "libdw 0." IN_TEXT(_ELFUTILS_VERSION);
}

/* The machine as Go calls it, or NULL. */
static const char *architecture(unsigned machine, bool wide, bool big)
{
	switch (machine) {
	case EM_X86_64: return wide ? "amd64" : "amd64p32";
	case EM_386: return "386";
	case EM_ARM: return big ? "armbe" : "arm";
	case EM_AARCH64: return big ? "arm64be" : "arm64";
	case EM_MIPS: return wide ? big ? "mips64" : "mips64le" : big ? "mips" : "mipsle";
	case EM_PPC64: return big ? "ppc64" : "ppc64le";
	case EM_PPC: return "ppc";
	case EM_S390: return wide ? "s390x" : "s390";
	case EM_RISCV: return wide ? "riscv64" : "riscv";
	case 258: return "loong64"; /* EM_LOONGARCH: missing in older headers */
	default: return NULL;
	}
}

static int read_header(struct program *p, struct err *err)
{
	GElf_Ehdr head;

	elf_version(EV_CURRENT);
	p->elf = elf_begin(p->fd, ELF_C_READ, NULL);
	if (!p->elf) {
		int error = errno, own = elf_errno();
		return err_set(err, ERR_IO, "cannot be read: %s", own ? elf_errmsg(own) : strerror(error));
	}
	if (elf_kind(p->elf) != ELF_K_ELF || !gelf_getehdr(p->elf, &head))
		return err_set(err, ERR_FORMAT,
		    "is not an ELF executable (other kinds of programs are not supported)");
	if (head.e_type != ET_EXEC && head.e_type != ET_DYN)
		return err_set(err, ERR_FORMAT, "is an ELF file, but not an executable");
	bool wide = head.e_ident[EI_CLASS] == ELFCLASS64;
	p->word = wide ? 8 : 4;
	p->big_endian = head.e_ident[EI_DATA] == ELFDATA2MSB;
	p->movable = head.e_type == ET_DYN;
	p->entry = head.e_entry;
	p->arch = architecture(head.e_machine, wide, p->big_endian);
	p->types.word = p->word;
	p->types.big_endian = p->big_endian;
	return 0;
}

/* --- symbols ----------------------------------------------------------------------------------- */

/* Where the runtime's own marks stand; all of its symbols are link addresses. */
struct marks {
	uint64_t data, edata, bss, ebss, types, etypes;
};

static void note_mark(struct marks *m, const char *name, uint64_t value)
{
	static const struct { const char *name; size_t at; } all[] = {
	    {"runtime.data", offsetof(struct marks, data)},
	    {"runtime.edata", offsetof(struct marks, edata)},
	    {"runtime.bss", offsetof(struct marks, bss)},
	    {"runtime.ebss", offsetof(struct marks, ebss)},
	    {"runtime.types", offsetof(struct marks, types)},
	    {"runtime.etypes", offsetof(struct marks, etypes)},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(name, all[i].name))
			memcpy((char *)m + all[i].at, &value, sizeof value);
}

/* Put a range of this name there; NULL: the memory for it was refused. */
static void add_range(struct program *p, struct program_range *to, struct program_range range,
    const char *name)
{
	p->refused |= !to;
	if (!to)
		return;
	*to = range;
	to->name = program_keep(p, &p->arena, name);
}

static void note_symbol(struct program *p, const GElf_Sym *s, const char *name)
{
	unsigned kind = GELF_ST_TYPE(s->st_info);
	uint64_t high = s->st_value + s->st_size;

	if (!*name || !s->st_size || high < s->st_value || s->st_shndx == SHN_UNDEF)
		return;
	struct program_range range = {.low = s->st_value, .high = high};
	if (kind == STT_FUNC && p->n_functions < MOST_ENTRIES) {
		add_range(p, BIG_PUSH(p->function, p->n_functions, p->cap_functions, p->err), range, name);
	} else if (kind == STT_OBJECT && p->n_objects < MOST_ENTRIES) {
		add_range(p, BIG_PUSH(p->object, p->n_objects, p->cap_objects, p->err), range, name);
	}
}

static void read_symbols(struct program *p, Elf *elf, Elf_Scn *section, const GElf_Shdr *head, struct marks *m)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t each = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);

	if (!data || !each)
		return;
	size_t n = data->d_size / each;
	for (size_t i = 0; i < n && i < MOST_ENTRIES && !p->refused; i++) {
		GElf_Sym symbol;
		if (!gelf_getsym(data, (int)i, &symbol))
			break;
		const char *name = elf_strptr(elf, head->sh_link, symbol.st_name);
		if (!name)
			continue;
		if (!strncmp(name, "runtime.", 8))
			note_mark(m, name, symbol.st_value);
		note_symbol(p, &symbol, name);
	}
	p->has_symbols = p->has_symbols || n > 1;
}

static struct program_section between(uint64_t begin, uint64_t end)
{
	return begin && end > begin ? (struct program_section){begin, end - begin} :
	                              (struct program_section){0, 0};
}

/* Returns whether there is DWARF among them. */
static bool read_sections(struct program *p, Elf *elf, struct marks *m)
{
	size_t names;
	bool dwarf = false;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
		GElf_Shdr head;
		if (!gelf_getshdr(s, &head))
			continue;
		const char *name = elf_strptr(elf, names, head.sh_name);
		if (name && !strcmp(name, ".data"))
			p->data_header = (struct program_section){head.sh_addr, head.sh_size};
		else if (name && !strcmp(name, ".bss"))
			p->bss_header = (struct program_section){head.sh_addr, head.sh_size};
		else if (name && (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info")))
			dwarf = true;
		else if (head.sh_type == SHT_SYMTAB && !p->has_symbols)
			read_symbols(p, elf, s, &head, m);
	}
	return dwarf;
}

int program_read_elf(struct program *p, struct err *err)
{
	struct marks m = {0};
	size_t names;
	int code = read_header(p, err);

	if (code)
		return code;
	if (elf_getshdrstrndx(p->elf, &names))
		return err_set(err, ERR_FORMAT, "has no section headers");
	if (!read_sections(p, p->elf, &m))
		program_find_debug(p);
	if (p->debug_elf)
		read_sections(p, p->debug_elf, &m);
	p->data = between(m.data, m.edata);
	p->bss = between(m.bss, m.ebss);
	p->types_begin = m.types;
	p->types_end = m.etypes > m.types ? m.etypes : m.types ? UINT64_MAX : 0;
	return p->refused ? ERR_NOMEM : 0;
}

void program_release_elf(struct program *p)
{
	if (p->reader)
		type_reader_free(p->reader);
	if (p->dwarf)
		dwarf_end(p->dwarf);
	if (p->debug_elf)
		elf_end(p->debug_elf);
	if (p->elf)
		elf_end(p->elf);
	p->dwarf = p->debug_elf = p->elf = NULL;
	p->reader = NULL;
}
/* The contents of a section; not of one that is packed or not in the file. */
static const uint8_t *section_bytes(Elf_Scn *s, const GElf_Shdr *head)
{
	const Elf_Data *data = head->sh_type == SHT_PROGBITS && !(head->sh_flags & SHF_COMPRESSED)
	    ? elf_rawdata(s, NULL) : NULL;
	return data && data->d_size == head->sh_size ? data->d_buf : NULL;
}

const uint8_t *program_constant(const struct program *p, uint64_t address, uint64_t *n)
{
	uint64_t at = address - p->bias;
	for (Elf_Scn *s = NULL; p->elf && (s = elf_nextscn(p->elf, s));) {
		GElf_Shdr head;
		if (!gelf_getshdr(s, &head) || (head.sh_flags & (SHF_ALLOC | SHF_WRITE)) != SHF_ALLOC ||
		    at < head.sh_addr || at - head.sh_addr >= head.sh_size)
			continue;
		const uint8_t *bytes = section_bytes(s, &head);
		*n = head.sh_size - (at - head.sh_addr);
		return bytes ? bytes + (at - head.sh_addr) : NULL;
	}
	return NULL;
}
#endif
