/* SPDX-License-Identifier: GPL-3.0-or-later */
/* j9core.c - see j9core.h: finds the VM, and where the members of its structures are. */
#include "dump/j9core/j9core_read.h"

#include "algorithms/sort.h"
#include "base/mem.h"
#include "base/progress.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct member {
	const char *structure, *field;
	bool needed;
} members[] = {
#define MEMBER(name, structure, field, needed) [AT_##name] = {structure, field, needed},
	J9_MEMBERS(MEMBER)
};

/* --- the VM ------------------------------------------------------------------------------------------------ */

/* J9RAS, whose first members are the same in all releases: runtime/oti/j9nonbuilder.h. */
static const char eyecatcher[8] = "J9VMRAS";
enum { RAS_PATTERN = 8, RAS_VERSION = 16, RAS_LENGTH = 20, RAS_DESCRIPTION = 24, RAS_BYTES = 32, OLDEST = 2 << 16 };
#define PATTERN UINT64_C(0xaa55aa55aa55aa55)
#define RAS_BELOW (UINT64_C(1) << 32)

static bool is_vm(const struct core *c, uint64_t address)
{
	uint64_t pattern, description;

	return core_load(c, address + RAS_PATTERN, 8, &pattern) && pattern == PATTERN &&
	    core_load(c, address + RAS_DESCRIPTION, core_word(c), &description);
}

struct piece {
	uint64_t address, size;
};

static int by_size(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	return x->size != y->size ? x->size < y->size ? -1 : 1 : (x->address > y->address) - (x->address < y->address);
}

/* UINT64_MAX: it is not there. */
static uint64_t find_in(const struct core *c, const struct piece *piece)
{
	uint64_t n;
	const uint8_t *p = core_bytes(c, piece->address, &n);

	for (const uint8_t *at = p; p && (at = memmem(at, n - (uint64_t)(at - p), eyecatcher, sizeof eyecatcher)); at++)
		if (is_vm(c, piece->address + (uint64_t)(at - p)))
			return piece->address + (uint64_t)(at - p);
	return UINT64_MAX;
}

/* VMs allocate it below 4 GB, where a heap may lie, too: the largest pieces of memory come last. */
uint64_t j9core_find(const struct core *core)
{
	struct piece *piece = NULL;
	uint32_t n_pieces = 0, cap = 0;
	uint64_t n, found = UINT64_MAX;
	struct err err = ERR_INIT;

	for (uint64_t at = core_next(core, 0); at < RAS_BELOW && core_bytes(core, at, &n); at = core_next(core, at + n))
		if (BIG_ADD(piece, n_pieces, cap, &err, (struct piece){.address = at, .size = n}))
			break;
	sort_array(piece, n_pieces, sizeof *piece, by_size);
	for (uint32_t i = 0; i < n_pieces && found == UINT64_MAX && !progress_cancelled(progress_own()); i++)
		found = find_in(core, &piece[i]);
	big_free(piece);
	return found;
}

bool j9core_is_vms(const struct core *core)
{
	static const char library[] = "/libj9vm"; /* and a number, .so */
	size_t n;
	const struct core_mapping *m = core_mappings(core, &n);

	for (size_t i = 0; i < n; i++) {
		const char *name = strrchr(m[i].path, '/');
		if (name && !strncmp(name, library, sizeof library - 1))
			return true;
	}
	return j9core_find(core) != UINT64_MAX;
}

/* --- members ----------------------------------------------------------------------------------------------- */

bool j9_load(const struct j9core *j, uint64_t structure, enum j9_member member, uint64_t *out)
{
	*out = 0;
	return j->has[member] && j->at[member].size &&
	    core_load(j->core, structure + j->at[member].offset, j->at[member].size, out);
}

uint64_t j9_get(const struct j9core *j, uint64_t structure, enum j9_member member)
{
	uint64_t value;

	j9_load(j, structure, member, &value);
	return value;
}

uint64_t j9_word(const struct j9core *j, uint64_t address)
{
	uint64_t word = 0;
	core_load(j->core, address, j->word, &word);
	return word;
}

uint64_t j9_relative(const struct j9core *j, uint64_t structure, enum j9_member member)
{
	uint64_t at = structure + j->at[member].offset, distance = 0;

	if (!j->has[member] || !core_load(j->core, at, 4, &distance) || !distance)
		return 0;
	return at + (uint64_t)(int64_t)(int32_t)distance;
}

const char *j9_text(const struct j9core *j, uint64_t at, size_t *n)
{
	uint64_t length;

	*n = 0;
	if (!at || !core_load(j->core, at, 2, &length))
		return NULL;
	*n = (size_t)length;
	return (const char *)core_range(j->core, at + 2, length);
}

uint64_t j9_constant(const struct j9core *j, const char *structure, const char *name, uint64_t otherwise)
{
	uint64_t value;
	return ddr_constant(j->ddr, structure, name, &value) ? value : otherwise;
}

static int find_members(struct j9core *j, struct err *err)
{
	for (unsigned i = 0; i < J9_N_MEMBERS; i++) {
		j->has[i] = ddr_field(j->ddr, members[i].structure, members[i].field, &j->at[i]);
		if (members[i].needed && !j->has[i])
			return err_set(err, ERR_UNSUPPORTED, "the VM's description of its structures does not have %s.%s",
			    members[i].structure, members[i].field);
	}
	return 0;
}

/* Of references of 4 bytes, as VMs do that have both kinds of references, and those that have one. */
static bool is_compressed(const struct j9core *j)
{
	if (j9_constant(j, "DDRAlgorithmVersions", "MIXED_REFERENCE_MODE", 0))
		return j9_get(j, j->vm, AT_VM_FLAGS2) &
		    j9_constant(j, "J9Consts", "J9_EXTENDED_RUNTIME2_COMPRESS_OBJECT_REFERENCES", 0);
	return j9_constant(j, "J9BuildFlags", "J9VM_GC_COMPRESSED_POINTERS", 0) ||
	    j9_constant(j, "J9BuildFlags", "gc_compressedPointers", 0);
}

static void find_shape(struct j9core *j)
{
	bool compressed = j->word == 8 && is_compressed(j), behind = j9_get(j, j->vm, AT_VM_DATA_ADDRESS);
	uint64_t alignment = j9_get(j, j9_get(j, j->vm, AT_VM_OMR), AT_OMR_ALIGNMENT);

	j->big_endian = core_big_endian(j->core);
	j->depth_mask = j9_constant(j, "J9JavaAccessFlags", "J9AccClassDepthMask", UINT16_MAX);
	j->dying = j9_constant(j, "J9JavaAccessFlags", "J9AccClassDying", 0);
	j->replaced = j9_constant(j, "J9JavaAccessFlags", "J9AccClassHotSwappedOut", 0);
	j->slot = compressed ? 4 : j->word;
	j->shift = compressed ? (unsigned)j9_get(j, j->vm, AT_VM_SHIFT) & 7 : 0;
	j->alignment = alignment >= 8 && alignment <= 4096 && !(alignment & (alignment - 1)) ? (unsigned)alignment : 8;
	j->head = ddr_size(j->ddr, compressed ? behind ? "J9IndexableObjectWithDataAddressContiguousCompressed" :
	    "J9IndexableObjectContiguousCompressed" : behind ? "J9IndexableObjectWithDataAddressContiguousFull" :
	    "J9IndexableObjectContiguousFull");
	j->split_head = ddr_size(j->ddr, compressed ? behind ? "J9IndexableObjectWithDataAddressDiscontiguousCompressed" :
	    "J9IndexableObjectDiscontiguousCompressed" : behind ? "J9IndexableObjectWithDataAddressDiscontiguousFull" :
	    "J9IndexableObjectDiscontiguousFull");
}

/* What nothing can be read without. */
static int without(const struct j9core *j, const char *what, const char *advice, struct err *err)
{
	struct err cut = ERR_INIT;

	if (core_missing(j->core, &cut))
		return err_set(err, ERR_TRUNCATED, "%s, among them %s (%s)", cut.message, what,
		    advice ? advice : "ulimit -c unlimited lets the system write a whole one");
	return err_set(err, ERR_TRUNCATED, "the core does not have %s (%s)", what,
	    advice ? advice : "coredump_filter leaves out memory");
}

/* The address of the VM's description; 0: it has none. */
static uint64_t description_of(const struct core *core, uint64_t ras)
{
	uint64_t version = 0, description = 0;

	core_load(core, ras + RAS_VERSION, 4, &version);
	core_load(core, ras + RAS_DESCRIPTION, core_word(core), &description);
	return version < OLDEST || description >= UINT64_MAX - 1 ? 0 : description;
}

uint64_t j9core_description(const struct core *core)
{
	struct ddr *ddr = NULL;
	struct err err = ERR_INIT;
	uint64_t ras = j9core_find(core), address = ras == UINT64_MAX ? 0 : description_of(core, ras);
	bool lacks = address && ddr_open(&ddr, core, address, &err) == ERR_TRUNCATED;

	ddr_close(ddr);
	return lacks ? address : 0;
}

bool j9core_describes(const struct core *core, struct err *err)
{
	struct ddr *ddr;
	struct ddr_field vm, back;
	uint64_t ras = j9core_find(core), length = 0, vm_at, ras_again;
	int code = ddr_open(&ddr, core, description_of(core, ras), err);

	if (code)
		return false;
	core_load(core, ras + RAS_LENGTH, 4, &length);
	bool is = length == ddr_size(ddr, "J9RAS");
	if (ddr_field(ddr, "J9RAS", "vm", &vm) && ddr_field(ddr, "J9JavaVM", "j9ras", &back) &&
	    core_load(core, ras + vm.offset, vm.size, &vm_at) &&
	    core_load(core, vm_at + back.offset, back.size, &ras_again))
		is &= ras_again == ras;
	ddr_close(ddr);
	return is;
}

/* --- opening ----------------------------------------------------------------------------------------------- */

/* What all else is found from. */
static int find_vm(struct j9core *j, struct err *err)
{
	uint64_t part;

	j->vm = j9_get(j, j->ras, AT_RAS_VM);
	if (!j9_load(j, j->vm, AT_VM_CLASS_SEGMENTS, &part))
		return without(j, "the VM's own structure, J9JavaVM, which leads to its classes and heap", NULL, err);
	find_shape(j);
	return 0;
}

static int read_all(struct j9core *j, struct err *err)
{
	j->ras = j9core_find(j->core);
	if (j->ras == UINT64_MAX)
		return without(j, "the VM's first structure, J9RAS", NULL, err);
	uint64_t description = description_of(j->core, j->ras);
	if (!description)
		return err_set(err, ERR_UNSUPPORTED, "the VM has no description of its structures in memory: it did not find "
		    "its j9ddr.dat when it started, or it is older than these");
	int code = ddr_open(&j->ddr, j->core, description, err);
	if (code == ERR_TRUNCATED)
		return without(j, "the VM's description of its structures", "put the VM's j9ddr.dat next to the core: it is "
		    "in the folder of libj9vm", err);
	if (code == 0) {
		j->word = ddr_word(j->ddr);
		code = find_members(j, err);
	}
	if (code == 0)
		code = find_vm(j, err);
	if (code)
		return code;
	j9_read_pool_kinds(j);
	j9_read_modifiers(j);
	j9_read_flags(j);
	j9_read_array_model(j);
	code = j9_read_classes(j, err);
	if (code == 0 && !j->n_classes)
		code = without(j, "the VM's classes", NULL, err);
	return code ? code : j9_read_regions(j, err);
}

int j9core_open(struct j9core **out, const struct core *core, struct err *err)
{
	struct j9core *j = xcalloc(1, sizeof *j);

	j->core = core;
	int code = read_all(j, err);
	if (code)
		j9core_close(j);
	*out = code ? NULL : j;
	return code;
}

void j9core_close(struct j9core *j)
{
	if (!j)
		return;
	big_free(j->class);
	arena_release(&j->arena);
	big_free(j->class_at);
	big_free(j->class_object);
	big_free(j->region);
	big_free(j->range);
	ddr_close(j->ddr);
	free(j);
}
