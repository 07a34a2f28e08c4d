/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_j9core.c - fuzz target: system dumps of OpenJ9, with words of them changed.
 *
 * The corpus has tiny ones that tests/lib/j9_made.py made, which are inputs as they are and the samples of all others.
 * These are lists of changes (changes.h) to words of the ELF structures, of the VM's description of its structures, and
 * of what it describes.  Byte CHANGE_OWN of the first change says of which sample.
 *
 * FUZZ_CORE names another sample, up to 1 GB.
 */
#include "dump/j9core/j9core_roots.h"
#include "dump/source/source.h"
#include "changes.h"
#include "fuzz_reader.h"
#include "promise.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 30, MOST_SAMPLES = 32, LIST_MOST = 1 << 14, OBJECTS_MOST = 1 << 18, STACK_MOST = 4096 };

enum owner { OF_ELF, OF_SIZES, OF_OFFSETS, OF_NAMES, OF_VM, OF_REGIONS, OF_CLASSES, OF_ROM_CLASSES, OF_OBJECTS,
	OF_THREADS, OF_STACKS, OF_METHODS, OF_POOLS, OF_MONITORS, OWNERS };

/* --- words ----------------------------------------------------------------------------------------------- */

struct finding {
	struct sample *to;
	const struct j9core *j;
};

static void add(const struct finding *f, enum owner owner, struct word w)
{
	uintptr_t p = (uintptr_t)core_range(f->j->core, w.at, w.bytes), begin = (uintptr_t)f->to->bytes;

	if (!p)
		return;
	w.offset = p - begin;
	sample_add(f->to, owner, w);
}

/* Words of so many bytes, each with an address of its own. */
static void add_words(const struct finding *f, enum owner owner, uint64_t at, uint64_t n, unsigned bytes,
    enum form form)
{
	for (uint64_t i = 0; at && i < n && i < LIST_MOST; i++, at += bytes)
		add(f, owner, (struct word){.at = at, .address = at, .bytes = (uint8_t)bytes, .form = form});
}

static bool is_distance(const struct ddr_field *field)
{
	return field->type && field->n_type > 5 && (!memcmp(field->type, "J9SRP", 5) || !memcmp(field->type, "J9WSRP", 6));
}

/* The members of a structure that cairn reads. */
static void add_structure(const struct finding *f, enum owner owner, const char *structure, uint64_t address)
{
	static const char *const structures[] = {
#define STRUCTURE(name, structure, field, needed) structure,
		J9_MEMBERS(STRUCTURE)
	};
	const struct j9core *j = f->j;

	for (unsigned i = 0; address && i < J9_N_MEMBERS; i++)
		if (j->has[i] && !strcmp(structures[i], structure))
			add(f, owner, (struct word){.at = address + j->at[i].offset, .address = address,
			    .bytes = (uint8_t)(j->at[i].size ? j->at[i].size : j->word),
			    .form = is_distance(&j->at[i]) ? AS_DISTANCE : AS_IT_IS});
}

/* A list of structures: the first, and the member that leads on. */
static void add_list(const struct finding *f, enum owner owner, const char *structure, uint64_t first,
    enum j9_member next)
{
	uint64_t at = first;

	for (unsigned i = 0; at && i < LIST_MOST; i++) {
		add_structure(f, owner, structure, at);
		at = j9_get(f->j, at, next);
		if (at == first)
			break;
	}
}

/* --- the file and the description ------------------------------------------------------------------------ */

static void add_elf(const struct finding *f)
{
	enum { HEADS = 64 + 32 * 56 };

	for (uint64_t i = 0; i + 8 <= HEADS && i + 8 <= f->to->size; i += 2)
		sample_add(f->to, OF_ELF, (struct word){.at = i, .address = i, .offset = i,
		    .bytes = i % 8 == 0 ? 8 : i % 4 == 0 ? 4 : 2});
}

/* Of each structure name, parent, size, how many members and constants; of each member name, type and offset. */
static void add_description(const struct finding *f)
{
	const struct core *core = f->j->core;
	uint64_t at = 0, n = 0, n_members, n_constants;

	core_load(core, f->j->ras + 24, core_word(core), &at);
	add_words(f, OF_SIZES, at, 5, 4, AS_IT_IS);
	core_load(core, at + 16, 4, &n);
	for (at += 20; n; n--) {
		core_load(core, at + 12, 4, &n_members);
		core_load(core, at + 16, 4, &n_constants);
		add_words(f, OF_NAMES, at, 2, 4, AS_IT_IS);
		add_words(f, OF_SIZES, at + 8, 3, 4, AS_IT_IS);
		for (at += 20; n_members; n_members--, at += 12) {
			add_words(f, OF_NAMES, at, 2, 4, AS_IT_IS);
			add_words(f, OF_OFFSETS, at + 8, 1, 4, AS_IT_IS);
		}
		for (; n_constants; n_constants--, at += 12) {
			add_words(f, OF_NAMES, at, 1, 4, AS_IT_IS);
			add_words(f, OF_OFFSETS, at + 4, 1, 8, AS_IT_IS);
		}
	}
	add_words(f, OF_NAMES, at, 64, 2, AS_IT_IS); /* the first texts, which begin with their lengths */
}

/* --- the VM and its heap ----------------------------------------------------------------------------------- */

static void add_regions(const struct finding *f, uint64_t manager)
{
	const struct j9core *j = f->j;
	uint64_t table = j9_get(j, manager, AT_REGIONS_TABLE), stride = j9_get(j, manager, AT_REGIONS_STRIDE);
	uint64_t n = j9_get(j, manager, AT_REGIONS_N), more = j9_get(j, manager, AT_REGIONS_MORE);

	add_structure(f, OF_REGIONS, "MM_HeapRegionManager", manager);
	for (uint64_t i = 0; i < n && i < LIST_MOST; i++) {
		add_structure(f, OF_REGIONS, "MM_HeapRegionDescriptor", table + i * stride);
		add_structure(f, OF_REGIONS, "MM_HeapRegionDescriptorSegregated", table + i * stride);
		add_structure(f, OF_REGIONS, "OMR_SizeClasses", j9_get(j, table + i * stride, AT_REGION_CELL_SIZES));
	}
	add_list(f, OF_REGIONS, "MM_HeapRegionDescriptor", more, AT_REGION_NEXT);
	add_words(f, OF_REGIONS, j->marks, 64, j->word, AS_IT_IS);
}

static void add_vm(const struct finding *f)
{
	const struct j9core *j = f->j;
	uint64_t extensions = j9_get(j, j->vm, AT_VM_EXTENSIONS);
	uint64_t marks = j9_get(j, j9_get(j, extensions, AT_EXTENSIONS_COLLECTOR), AT_BALANCED_MARKS);
	const struct { const char *structure; uint64_t at; } all[] = {{"J9RAS", j->ras}, {"J9JavaVM", j->vm},
	    {"OMR_VM", j9_get(j, j->vm, AT_VM_OMR)}, {"MM_GCExtensions", extensions}, {"MM_MarkMapManager", marks},
	    {"MM_IncrementalGenerationalGC", j9_get(j, extensions, AT_EXTENSIONS_COLLECTOR)},
	    {"MM_HeapMap", j9_get(j, marks, AT_MARKS_PREVIOUS)},
	    {"GC_ArrayletObjectModelBase", extensions + j->at[AT_EXTENSIONS_ARRAYS].offset},
	    {"J9IdentityHashData", j9_get(j, j->vm, AT_VM_HASHES)},
	    {"MM_StringTable", j9_get(j, extensions, AT_EXTENSIONS_STRINGS)},
	    {"GC_FinalizeListManager", j9_get(j, extensions, AT_EXTENSIONS_FINALIZER)},
	    {"MM_ObjectAccessBarrier", j9_get(j, extensions, AT_EXTENSIONS_BARRIER)}};

	add_words(f, OF_VM, j->ras, 10, 4, AS_IT_IS);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		add_structure(f, OF_VM, all[i].structure, all[i].at);
	add_regions(f, j9_get(j, extensions, AT_EXTENSIONS_REGIONS));
}

static void add_object(const struct finding *f, uint64_t at, uint64_t size)
{
	const struct j9core *j = f->j;

	for (uint64_t i = 0; i < size && i < 64; i += j->slot)
		add(f, OF_OBJECTS, (struct word){.at = at + i, .address = at, .bytes = (uint8_t)j->slot,
		    .form = i ? AS_REFERENCE : AS_IT_IS});
}

static void add_objects(const struct finding *f)
{
	uint32_t n, n_objects = 0;
	const struct j9_region *all = j9core_regions(f->j, &n);

	for (uint32_t i = 0; i < n; i++) {
		struct j9_walk w;
		struct j9_object o;
		j9core_walk(&w, f->j, &all[i], all[i].low);
		while (j9core_next(&w, &o) && n_objects++ < OBJECTS_MOST)
			add_object(f, o.address, o.size);
	}
}

/* --- classes --------------------------------------------------------------------------------------------- */

static void add_text(const struct finding *f, uint64_t at)
{
	add_words(f, OF_ROM_CLASSES, at, 1, 2, AS_IT_IS);
}

static void add_rom_class(const struct finding *f, uint64_t rom)
{
	const struct j9core *j = f->j;
	uint64_t n = j9_get(j, rom, AT_ROM_N_FIELDS), at = j9_relative(j, rom, AT_ROM_FIELDS);

	add_structure(f, OF_ROM_CLASSES, "J9ROMClass", rom);
	add_text(f, j9_relative(j, rom, AT_ROM_NAME));
	for (; at && n; n--, at += ddr_size(j->ddr, "J9ROMFieldShape")) {
		uint64_t names = at + j->at[AT_FIELD_NAMES].offset;
		add_structure(f, OF_ROM_CLASSES, "J9ROMFieldShape", at);
		add_structure(f, OF_ROM_CLASSES, "J9ROMNameAndSignature", names);
		add_text(f, j9_relative(j, names, AT_NAMES_NAME));
		add_text(f, j9_relative(j, names, AT_NAMES_TYPE));
	}
}

static void add_class(const struct finding *f, const struct j9_class *c)
{
	const struct j9core *j = f->j;
	uint64_t at = c->address;
	struct j9_object hub;
	struct j9_class_facts facts;

	add_structure(f, OF_CLASSES, "J9Class", at);
	if (c->array) {
		add_structure(f, OF_CLASSES, "J9ArrayClass", at);
		add_structure(f, OF_ROM_CLASSES, "J9ROMArrayClass", c->rom);
	}
	add_rom_class(f, c->rom);
	add_words(f, OF_CLASSES, j9_get(j, at, AT_CLASS_SUPERS), c->flags & j->depth_mask, j->word, AS_IT_IS);
	add_words(f, OF_CLASSES, j9_get(j, at, AT_CLASS_STATICS), j9_get(j, c->rom, AT_ROM_N_STATICS), j->word, AS_IT_IS);
	add_words(f, OF_CLASSES, j9_get(j, at, AT_CLASS_POOL), 2 * j9_get(j, c->rom, AT_ROM_POOL_N), j->word, AS_IT_IS);
	add_list(f, OF_CLASSES, "J9ITable", j9_get(j, at, AT_CLASS_INTERFACES), AT_INTERFACE_NEXT);
	add_structure(f, OF_CLASSES, "J9ClassLoader", j9_get(j, at, AT_CLASS_LOADER));
	j9core_class_facts(j, c, &facts);
	if (facts.object && j9core_class_object(j, facts.object, &hub))
		add_object(f, facts.object, hub.size);
}

static void add_classes(const struct finding *f)
{
	const struct j9core *j = f->j;
	uint64_t segments = j9_get(j, j->vm, AT_VM_CLASS_SEGMENTS), at = j9_get(j, segments, AT_SEGMENTS_FIRST);

	add_structure(f, OF_CLASSES, "J9MemorySegmentList", segments);
	for (unsigned i = 0; at && i < LIST_MOST; i++, at = j9_get(j, at, AT_SEGMENT_NEXT)) {
		add_structure(f, OF_CLASSES, "J9MemorySegment", at);
		add_words(f, OF_CLASSES, j9_get(j, at, AT_SEGMENT_BASE), 1, j->word, AS_IT_IS);
	}
	add_list(f, OF_CLASSES, "J9HiddenInstanceField", j9_get(j, j->vm, AT_VM_HIDDEN), AT_HIDDEN_NEXT);
	for (uint32_t i = 0; i < j9core_n_classes(j) && i < LIST_MOST; i++)
		add_class(f, j9core_class_at(j, i));
}

/* --- threads and pools ------------------------------------------------------------------------------------- */

/* A method that a word of a stack leads to. */
static void add_method(const struct finding *f, uint64_t address)
{
	const struct j9core *j = f->j;
	struct j9_method m;

	if (!j9_read_method(j, address, &m))
		return;
	add_structure(f, OF_METHODS, "J9Method", address);
	add_structure(f, OF_METHODS, "J9ConstantPool", j9_get(j, address, AT_METHOD_POOL) & ~UINT64_C(15));
	add_structure(f, OF_METHODS, "J9ROMMethod", m.rom);
	add_structure(f, OF_METHODS, "J9ROMNameAndSignature", m.rom);
	add_words(f, OF_METHODS, m.bytecodes, 24, 4, AS_DISTANCE); /* and what is behind them */
}

static void add_stack(const struct finding *f, uint64_t thread)
{
	const struct j9core *j = f->j;
	uint64_t stack = j9_get(j, thread, AT_THREAD_STACK), end = j9_get(j, stack, AT_STACK_END);
	uint64_t at = j9_get(j, thread, AT_THREAD_SP);

	add_list(f, OF_THREADS, "J9JavaStack", stack, AT_STACK_PREVIOUS);
	add_method(f, j9_get(j, thread, AT_THREAD_LITERALS));
	for (unsigned i = 0; at < end && i < STACK_MOST; i++, at += j->word) {
		add_words(f, OF_STACKS, at, 1, j->word, AS_IT_IS);
		add_method(f, j9_word(j, at));
	}
}

static void add_threads(const struct finding *f)
{
	const struct j9core *j = f->j;
	uint64_t first = j9_get(j, j->vm, AT_VM_MAIN_THREAD), at = first;

	for (unsigned i = 0; at && i < LIST_MOST; i++) {
		add_structure(f, OF_THREADS, "J9VMThread", at);
		add_structure(f, OF_THREADS, "J9ModronThreadLocalHeap", at + j->at[AT_THREAD_LOCAL_HEAP].offset);
		add_structure(f, OF_THREADS, "OMR_VMThread", j9_get(j, at, AT_THREAD_OMR));
		add_structure(f, OF_THREADS, "J9AbstractThread", j9_get(j, at, AT_THREAD_OS));
		add_list(f, OF_THREADS, "J9JNIReferenceFrame", j9_get(j, at, AT_THREAD_LOCALS), AT_LOCALS_PREVIOUS);
		add_list(f, OF_THREADS, "J9MonitorEnterRecord", j9_get(j, at, AT_THREAD_ENTERED), AT_ENTERED_NEXT);
		add_list(f, OF_THREADS, "J9VMEntryLocalStorage", j9_get(j, at, AT_THREAD_ENTRY), AT_ENTRY_OLD);
		add_stack(f, at);
		at = j9_get(j, at, AT_THREAD_NEXT);
		if (at == first)
			break;
	}
}

static void add_pool(const struct finding *f, uint64_t pool)
{
	const struct j9core *j = f->j;
	struct j9_pool_walk w;
	uint64_t element, before = 0;

	add_structure(f, OF_POOLS, "J9Pool", pool);
	for (j9_pool_walk(&w, j, pool); j9_pool_next(&w, &element);) {
		add_words(f, OF_POOLS, element, 1, j->word, AS_IT_IS);
		if (w.puddle == before)
			continue;
		add_structure(f, OF_POOLS, "J9PoolPuddle", before = w.puddle);
		add_words(f, OF_POOLS, w.puddle + w.bitmap, 1, 4, AS_IT_IS);
	}
}

static void add_monitors(const struct finding *f)
{
	const struct j9core *j = f->j;
	struct j9_monitors m = {.n = 0};
	struct err err = ERR_INIT;
	uint64_t tables = j9_get(j, j->vm, AT_VM_MONITOR_TABLES);

	add_list(f, OF_MONITORS, "J9MonitorTableListEntry", tables, AT_MONITORS_NEXT);
	add_structure(f, OF_MONITORS, "J9HashTable", j9_get(j, tables, AT_MONITORS_TABLE));
	add_pool(f, j9_get(j, j9_get(j, tables, AT_MONITORS_TABLE), AT_TABLE_LIST_NODES));
	PROMISE(j9_read_monitors(&m, j, &err) == 0);
	for (uint32_t i = 0; i < m.n; i++)
		add_structure(f, OF_MONITORS, "J9ThreadAbstractMonitor", m.monitor[i].monitor);
	j9_monitors_release(&m);
}

/* --- samples --------------------------------------------------------------------------------------------- */

static struct sample sample[MOST_SAMPLES];
static unsigned n_samples;

static void add_sample(const char *path)
{
	struct sample *s = &sample[n_samples++];
	struct err err = ERR_INIT;
	struct core *core;
	struct j9core *j;

	PROMISE(n_samples < MOST_SAMPLES);
	sample_read(s, path, MOST_BYTES);
	struct source source = {.path = "core", .bytes = s->bytes, .size = s->size, .file_size = s->size};
	PROMISE(core_open(&core, &source, &err) == 0);
	PROMISE(j9core_open(&j, core, &err) == 0);
	s->n_owners = OWNERS;
	s->big_endian = j->big_endian;
	s->shift = j->shift;
	struct finding f = {.to = s, .j = j};
	add_elf(&f);
	add_description(&f);
	add_vm(&f);
	add_classes(&f);
	add_objects(&f);
	add_threads(&f);
	add_pool(&f, j9_get(j, j->vm, AT_VM_GLOBALS));
	add_pool(&f, j9_get(j, j->vm, AT_VM_LOADERS));
	add_monitors(&f);
	j9core_close(j);
	core_close(core);
}

static bool is_core(const uint8_t *data, size_t n)
{
	return n >= 4 && !memcmp(data, "\x7f" "ELF", 4);
}

static int is_named_core(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');
	return dot && !strcmp(dot, ".core");
}

static void open_samples(void)
{
	const char *source = getenv("CAIRN_SOURCE"), *asked = getenv("FUZZ_CORE");
	char folder[4096], path[8192];
	struct dirent **list;

	if (asked) {
		add_sample(asked);
		return;
	}
	snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/j9core", source ? source : ".");
	int n = scandir(folder, &list, is_named_core, alphasort);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
		add_sample(path);
		free(list[i]);
	}
	PROMISE(n > 0);
	free(list);
}

/* --- one input ------------------------------------------------------------------------------------------- */

/* Those that read what is only in a core; every fourth input gets all. */
static const char *const some[] = {"info", "histo", "threads", "bt", "roots", "locks", "finalizers", "check", "x",
    NULL};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct dump_options options = {.no_companion = true};
	static unsigned turn;

	if (is_core(data, n)) {
		fuzz_reader(&j9_core_reader, &j9_part_bytes, data, n);
		return 0;
	}
	if (!n_samples)
		open_samples();
	size_t size;
	uint8_t *core = sample_changed(&sample[n >= CHANGE ? data[CHANGE_OWN] % n_samples : 0], data, n, &size);
	fuzz_reader_with(&j9_core_reader, &options, turn++ % 4 ? some : NULL, &j9_part_bytes, core, size);
	free(core);
	return 0;
}
