/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gocore_layout.c - where the members of the runtime's structures stand, by the program's DWARF. */
#include "dump/gocore/gocore_read.h"

#include <string.h>

static const struct member {
	const char *type, *path;
	bool needed;
} members[] = {
#define MEMBER(name, type, path, needed) [AT_##name] = { type, path, needed },
	GOCORE_MEMBERS(MEMBER)
};

/* Take the next of the names between '|'; false: there is none. */
static bool next_name(const char **list, char *name, size_t room)
{
	size_t n = strcspn(*list, "|");

	if (!n || n >= room)
		return false;
	memcpy(name, *list, n);
	name[n] = '\0';
	*list += n + ((*list)[n] == '|');
	return true;
}

enum { LONGEST = 80 };

/* Follow a path, "sched.sp", from a type on. */
static bool follow(const struct types *t, uint32_t type, char *path, struct gocore_place *out)
{
	*out = (struct gocore_place){ .offset = 0 };
	for (char *name = path; name;) {
		char *point = strchr(name, '.');
		if (point)
			*point = '\0';
		uint32_t field = type == TYPE_NONE ? UINT32_MAX : types_field(t, type, name);
		if (field == UINT32_MAX)
			return false;
		out->offset += t->field[field].offset;
		type = t->field[field].type;
		name = point ? point + 1 : NULL;
	}
	out->type = type;
	out->size = t->type[type].size;
	return out->size != 0;
}

static struct gocore_place find(const struct types *t, const struct member *m)
{
	char type[LONGEST], path[LONGEST];
	struct gocore_place place = { .size = 0 };

	for (const char *of = m->type; next_name(&of, type, sizeof type);)
		for (const char *at = m->path; next_name(&at, path, sizeof path);)
			if (follow(t, types_by_name(t, type), path, &place))
				return place;
	return (struct gocore_place){ .size = 0 };
}

int gocore_find_members(struct gocore *g, struct err *err)
{
	for (unsigned i = 0; i < GOCORE_N_MEMBERS; i++) {
		g->at[i] = find(g->types, &members[i]);
		if (members[i].needed && !g->at[i].size)
			return err_set(err, ERR_UNSUPPORTED, "the DWARF of the program does not have %s.%s of the Go runtime "
			    "(cairn reads cores of Go 1.19 to 1.27)", members[i].type, members[i].path);
	}
	return 0;
}

uint64_t gocore_size_of(const struct gocore *g, const char *type)
{
	uint32_t i = types_by_name(g->types, type);
	return i == TYPE_NONE ? 0 : g->types->type[i].size;
}

uint64_t gocore_global(const struct gocore *g, const char *name)
{
	return program_address_of(g->program, name);
}

static uint64_t module_word(const struct core *c, const struct program *p, uint64_t module, enum gocore_member member)
{
	struct gocore_place place = find(program_types(p), &members[member]);
	uint64_t value = 0;

	if (place.size)
		core_load(c, module + place.offset, (unsigned)(place.size < 8 ? place.size : 8), &value);
	return value;
}

static struct program_section section(const struct core *c, const struct program *p, uint64_t module,
    enum gocore_member begin, enum gocore_member end)
{
	uint64_t from = module_word(c, p, module, begin), to = module_word(c, p, module, end);
	return (struct program_section){ from, to > from ? to - from : 0 };
}

bool gocore_match(const struct core *c, const struct program *p, struct program_match *out)
{
	uint64_t module = program_address_of(p, "runtime.firstmoduledata");

	*out = (struct program_match){
		.arch = core_machine(c) == CORE_AMD64 ? "amd64" : core_machine(c) == CORE_ARM64 ? "arm64" : NULL,
		.word = core_word(c), .big_endian = core_big_endian(c),
		.data = section(c, p, module, AT_MODULE_DATA, AT_MODULE_DATA_END),
		.bss = section(c, p, module, AT_MODULE_BSS, AT_MODULE_BSS_END),
	};
	return module != 0;
}

/* --- values -------------------------------------------------------------------------------------------- */

uint64_t gocore_get(const struct gocore *g, uint64_t structure, enum gocore_member member)
{
	const struct gocore_place *p = &g->at[member];
	uint64_t value;

	core_load(g->core, structure + p->offset, p->size < 8 ? (unsigned)p->size : 8, &value);
	return p->size ? value : 0;
}

uint64_t gocore_word(const struct gocore *g, uint64_t address)
{
	uint64_t value;
	core_load(g->core, address, g->word, &value);
	return value;
}

struct gocore_slice gocore_slice_at(const struct gocore *g, uint64_t address, uint64_t most)
{
	struct gocore_slice s = { gocore_word(g, address), gocore_word(g, address + g->word) };
	return s.address && s.n <= most ? s : (struct gocore_slice){ 0, 0 };
}

struct gocore_slice gocore_slice(const struct gocore *g, uint64_t structure, enum gocore_member member, uint64_t most)
{
	return gocore_slice_at(g, structure + g->at[member].offset, most);
}
