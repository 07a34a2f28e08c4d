/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gocore_read.h - what the files of src/dump/gocore share; private to them.
 *
 *   gocore.c            opening: in which order things are read
 *   gocore_layout.c     where the members of the runtime's structures stand
 *   gocore_records.c    writes records
 *   gocore_types.c      type descriptors: sizes and masks of pointers
 *   gocore_spans.c      spans: which objects there are
 *   gocore_pointers.c   which words of an object are pointers
 *   gocore_roots.c      parameters, itabs, data, bss, specials of spans, queued finalizers, profile
 *   gocore_goroutines.c goroutines, threads, deferred calls, panics
 *   gocore_stats.c      the memory statistics of the runtime
 *   gocore_code.c       functions: the tables of pclntab
 *   gocore_unwind.c     the frames of a stack
 *   gocore_frame.c      which words of a frame are pointers
 *
 * Whatever is read from the core is hostile: an address may lead anywhere, a number may be anything, a list may be a
 * circle.
 */
#ifndef CAIRN_DUMP_GOCORE_GOCORE_READ_H
#define CAIRN_DUMP_GOCORE_GOCORE_READ_H

#include "dump/core/core.h"
#include "dump/cursor.h"
#include "dump/gocore/gocore.h"
#include "dump/program/program.h"
#include "dump/types.h"
#include "memory/arena.h"

#include <pthread.h>

/* --- members of the runtime's structures ------------------------------------------------------------------- */

/*
 * A name, the type, the path to the member ('|' between what it is called in different releases), and whether
 * nothing works without it.
 */
#define GOCORE_MEMBERS(M) \
	M(SPAN_START, "runtime.mspan", "startAddr", true) \
	M(SPAN_PAGES, "runtime.mspan", "npages", true) \
	M(SPAN_SIZE, "runtime.mspan", "elemsize", true) \
	M(SPAN_N, "runtime.mspan", "nelems", true) \
	M(SPAN_FREE_INDEX, "runtime.mspan", "freeindex", true) \
	M(SPAN_ALLOC_BITS, "runtime.mspan", "allocBits", true) \
	M(SPAN_MARK_BITS, "runtime.mspan", "gcmarkBits", true) \
	M(SPAN_CLASS, "runtime.mspan", "spanclass", true) \
	M(SPAN_STATE, "runtime.mspan", "state.s.value|state.s", true) \
	M(SPAN_SWEEP, "runtime.mspan", "sweepgen", true) \
	M(SPAN_SPECIALS, "runtime.mspan", "specials", true) \
	M(SPAN_TYPE, "runtime.mspan", "largeType", false) \
	M(HEAP_SPANS, "runtime.mheap", "allspans", true) \
	M(HEAP_LOCK, "runtime.mheap", "lock.key", false) \
	M(HEAP_FREE_SPANS, "runtime.mheap", "spanalloc.list", false) \
	M(HEAP_SWEEP, "runtime.mheap", "sweepgen", true) \
	M(HEAP_ARENAS, "runtime.mheap", "arenas", false) \
	M(ARENA_BITMAP, "runtime.heapArena", "bitmap|heapArenaPtrScalar.bitmap", false) \
	M(ARENA_NO_MORE, "runtime.heapArena", "noMorePtrs|heapArenaPtrScalar.noMorePtrs", false) \
	M(SPECIAL_NEXT, "runtime.special", "next", true) \
	M(SPECIAL_OFFSET, "runtime.special", "offset", true) \
	M(SPECIAL_KIND, "runtime.special", "kind", true) \
	M(FINALIZER_FUNCTION, "runtime.specialfinalizer", "fn", false) \
	M(FINALIZER_ARGUMENT_TYPE, "runtime.specialfinalizer", "fint", false) \
	M(FINALIZER_OBJECT_TYPE, "runtime.specialfinalizer", "ot", false) \
	M(CLEANUP_FUNCTION, "runtime.specialCleanup", "fn|cleanup.fn", false) \
	M(CLEANUP_ARGUMENT, "runtime.specialCleanup", "cleanup.arg", false) \
	M(CLEANUP_CALL, "runtime.specialCleanup", "cleanup.call", false) \
	M(CLEANUPS_ALL, "runtime.cleanupQueue", "all", false) \
	M(CLEANUPS_ALL_NEXT, "runtime.cleanupBlock", "cleanupBlockHeader.alllink", false) \
	M(CLEANUPS_N, "runtime.cleanupBlock", "cleanupBlockHeader.n", false) \
	M(CLEANUPS_LIST, "runtime.cleanupBlock", "cleanups", false) \
	M(CLEANED_FUNCTION, "runtime.cleanupFn", "fn", false) \
	M(CLEANED_CALL, "runtime.cleanupFn", "call", false) \
	M(CLEANED_ARGUMENT, "runtime.cleanupFn", "arg", false) \
	M(WEAK_HANDLE, "runtime.specialWeakHandle", "handle", false) \
	M(PROFILE_BUCKET, "runtime.specialprofile", "b", false) \
	M(QUEUE_ALL_NEXT, "runtime.finblock|runtime.finBlock", "alllink", false) \
	M(QUEUE_N, "runtime.finblock|runtime.finBlock", "cnt", false) \
	M(QUEUE_LIST, "runtime.finblock|runtime.finBlock", "fin", false) \
	M(QUEUED_FUNCTION, "runtime.finalizer", "fn", false) \
	M(QUEUED_OBJECT, "runtime.finalizer", "arg", false) \
	M(QUEUED_ARGUMENT_TYPE, "runtime.finalizer", "fint", false) \
	M(QUEUED_OBJECT_TYPE, "runtime.finalizer", "ot", false) \
	M(BUCKET_ALL_NEXT, "runtime.bucket", "allnext", false) \
	M(BUCKET_OBJECT_SIZE, "runtime.bucket", "size", false) \
	M(BUCKET_N_FRAMES, "runtime.bucket", "nstk", false) \
	M(STATS_STACKS, "runtime.mstats", "stacks_sys", false) \
	M(STATS_SPANS, "runtime.mstats", "mspan_sys", false) \
	M(STATS_CACHES, "runtime.mstats", "mcache_sys", false) \
	M(STATS_BUCKETS, "runtime.mstats", "buckhash_sys", false) \
	M(STATS_COLLECTOR, "runtime.mstats", "gcMiscSys", false) \
	M(STATS_OTHER, "runtime.mstats", "other_sys", false) \
	M(STATS_LAST, "runtime.mstats", "last_gc_unix", false) \
	M(STATS_PAUSED, "runtime.mstats", "pause_total_ns", false) \
	M(STATS_COLLECTIONS, "runtime.mstats", "numgc", false) \
	M(STATS_DELTAS, "runtime.mstats", "heapStats.stats", false) \
	M(DELTA_STACKS, "runtime.heapStatsDelta", "inStacks", false) \
	M(DELTA_WORK, "runtime.heapStatsDelta", "inWorkBufs", false) \
	M(DELTA_MASKS, "runtime.heapStatsDelta", "inPtrScalarBits", false) \
	M(CONTROL_IN_USE, "runtime.gcControllerState", "heapInUse", false) \
	M(CONTROL_FREE, "runtime.gcControllerState", "heapFree", false) \
	M(CONTROL_RELEASED, "runtime.gcControllerState", "heapReleased", false) \
	M(HEAP_SPANS_IN_USE, "runtime.mheap", "spanalloc.inuse", false) \
	M(HEAP_CACHES_IN_USE, "runtime.mheap", "cachealloc.inuse", false) \
	M(STATS_PAUSES, "runtime.mstats", "pause_ns", false) \
	M(ITABS_SIZE, "runtime.itabTableType", "size", false) \
	M(ITABS_ENTRIES, "runtime.itabTableType", "entries", false) \
	M(MODULE_FUNCTION_NAMES, "runtime.moduledata", "funcnametab", true) \
	M(MODULE_UNIT_FILES, "runtime.moduledata", "cutab", true) \
	M(MODULE_FILE_NAMES, "runtime.moduledata", "filetab", true) \
	M(MODULE_PC_TABLES, "runtime.moduledata", "pctab", true) \
	M(MODULE_FUNCTIONS, "runtime.moduledata", "pclntable", true) \
	M(MODULE_FUNCTION_TABLE, "runtime.moduledata", "ftab", true) \
	M(MODULE_FIRST_PC, "runtime.moduledata", "minpc", true) \
	M(MODULE_LAST_PC, "runtime.moduledata", "maxpc", true) \
	M(MODULE_TEXT, "runtime.moduledata", "text", true) \
	M(MODULE_TEXT_SECTIONS, "runtime.moduledata", "textsectmap", false) \
	M(MODULE_GO_FUNCTIONS, "runtime.moduledata", "gofunc", true) \
	M(MODULE_READ_ONLY, "runtime.moduledata", "rodata", true) \
	M(MODULE_DATA, "runtime.moduledata", "data", true) \
	M(MODULE_DATA_END, "runtime.moduledata", "edata", true) \
	M(MODULE_BSS, "runtime.moduledata", "bss", true) \
	M(MODULE_BSS_END, "runtime.moduledata", "ebss", true) \
	M(MODULE_DATA_MASK_N, "runtime.moduledata", "gcdatamask.n", true) \
	M(MODULE_DATA_MASK, "runtime.moduledata", "gcdatamask.bytedata", true) \
	M(MODULE_BSS_MASK_N, "runtime.moduledata", "gcbssmask.n", true) \
	M(MODULE_BSS_MASK, "runtime.moduledata", "gcbssmask.bytedata", true) \
	M(MODULE_NEXT, "runtime.moduledata", "next", true) \
	M(FUNCTION_ENTRY, "runtime._func", "entryOff|entryoff", true) \
	M(FUNCTION_NAME, "runtime._func", "nameOff|nameoff", true) \
	M(FUNCTION_ARGUMENTS, "runtime._func", "args", true) \
	M(FUNCTION_DEFER_RETURN, "runtime._func", "deferreturn", true) \
	M(FUNCTION_SP_TABLE, "runtime._func", "pcsp", true) \
	M(FUNCTION_FILE_TABLE, "runtime._func", "pcfile", true) \
	M(FUNCTION_LINE_TABLE, "runtime._func", "pcln", true) \
	M(FUNCTION_N_TABLES, "runtime._func", "npcdata", true) \
	M(FUNCTION_UNIT, "runtime._func", "cuOffset", true) \
	M(FUNCTION_ID, "runtime._func", "funcID", true) \
	M(FUNCTION_FLAGS, "runtime._func", "flag", true) \
	M(FUNCTION_N_DATA, "runtime._func", "nfuncdata", true) \
	M(G_STACK_LOW, "runtime.g", "stack.lo", true) \
	M(G_STACK_HIGH, "runtime.g", "stack.hi", true) \
	M(G_SP, "runtime.g", "sched.sp", true) \
	M(G_PC, "runtime.g", "sched.pc", true) \
	M(G_LR, "runtime.g", "sched.lr", false) \
	M(G_CONTEXT, "runtime.g", "sched.ctxt", true) \
	M(G_SYSCALL_SP, "runtime.g", "syscallsp", true) \
	M(G_SYSCALL_PC, "runtime.g", "syscallpc", true) \
	M(G_STATUS, "runtime.g", "atomicstatus.value|atomicstatus", true) \
	M(G_ID, "runtime.g", "goid", true) \
	M(G_WAIT_SINCE, "runtime.g", "waitsince", true) \
	M(G_WAIT_REASON, "runtime.g", "waitreason", true) \
	M(G_CREATED_AT, "runtime.g", "gopc", true) \
	M(G_STARTED_AT, "runtime.g", "startpc", true) \
	M(G_THREAD, "runtime.g", "m", true) \
	M(G_DEFER, "runtime.g", "_defer", true) \
	M(G_PANIC, "runtime.g", "_panic", true) \
	M(G_VECTOR_REGISTERS, "runtime.g", "xRegs.state", false) \
	M(G_RUNS_CLEANUPS, "runtime.g", "runningCleanups.u.value", false) \
	M(P_N_SPANS, "runtime.p", "mspancache.len", false) \
	M(P_SPANS, "runtime.p", "mspancache.buf", false) \
	M(M_SIGNAL_G, "runtime.m", "gsignal", true) \
	M(M_GOROUTINE, "runtime.m", "curg", true) \
	M(M_OS_ID, "runtime.m", "procid", true) \
	M(M_ID, "runtime.m", "id", true) \
	M(M_ALL_NEXT, "runtime.m", "alllink", true) \
	M(M_IN_C, "runtime.m", "incgo", true) \
	M(M_VDSO_SP, "runtime.m", "vdsoSP", true) \
	M(M_VDSO_PC, "runtime.m", "vdsoPC", true) \
	M(DEFER_SP, "runtime._defer", "sp", true) \
	M(DEFER_PC, "runtime._defer", "pc", true) \
	M(DEFER_FUNCTION, "runtime._defer", "fn", true) \
	M(DEFER_NEXT, "runtime._defer", "link", true) \
	M(PANIC_ARGUMENT, "runtime._panic", "arg", true) \
	M(PANIC_NEXT, "runtime._panic", "link", true)

#define GOCORE_ENUM(name, type, path, needed) AT_##name,
enum gocore_member { GOCORE_MEMBERS(GOCORE_ENUM) GOCORE_N_MEMBERS };

struct gocore_place {
	uint64_t offset, size; /* bytes from the start of the structure; size 0: this release has none */
	uint32_t type;         /* of the member */
};

/* Find all members.  ERR_UNSUPPORTED names the first needed one that is missing. */
MUST_CHECK int gocore_find_members(struct gocore *g, struct err *err);
/* Bytes of a type of the runtime by its name, 0: there is none. */
uint64_t gocore_size_of(const struct gocore *g, const char *type);
/* The address of a global variable of the runtime ("runtime.allgs"), 0: there is none. */
uint64_t gocore_global(const struct gocore *g, const char *name);

/* --- the image -------------------------------------------------------------------------------------------------- */

/* Records as they grow; big memory. */
struct gocore_records {
	uint8_t *bytes;
	uint64_t n, cap;
	bool refused;   /* memory was: *err says so */
	struct err *err;
};

/* A module: the program, or a plugin. */
struct gocore_module {
	uint64_t address;          /* of its moduledata */
	uint64_t first_pc, last_pc, text, functions_base; /* gofunc: what offsets of FUNCDATA count from */
	uint64_t read_only;        /* rodata: what offsets of the masks of stack objects count from */
	struct gocore_bytes { const uint8_t *p; uint64_t n; } names, units, files, tables, functions; /* slices of bytes;
	                              units: cutab, uint32 each */
	const uint8_t *table;      /* ftab: pairs of uint32, n_table of them, the last one marks the end */
	uint64_t n_table;
	uint64_t sections, n_sections; /* textsectmap: address and number; with one section text + offset is the pc */
};
enum { GOCORE_MODULES = 64 };

/* Types that were asked for, by their descriptors' addresses: open addressing.  A slot is set once. */
enum { GOCORE_TYPES = 1 << 17 };
struct gocore_types {
	pthread_mutex_t lock;      /* of whoever adds */
	struct arena arena;
	uint64_t room;             /* bytes that masks may yet take */
	uint32_t n;
	struct gocore_noted {
		uint64_t address;
		struct gocore_type is;
	} *slot[GOCORE_TYPES];     /* each is set by one atomic store */
};

/* Up to Go 1.21: the bitmap of an arena; NULL: it is not there. */
struct gocore_arena {
	const uint8_t *bitmap, *no_more;
};
enum { GOCORE_ARENA = 64 << 20, GOCORE_PAGE = 8192 };

struct gocore {
	const struct core *core;
	const struct source *source;
	struct program *program;
	const struct types *types;
	unsigned word;             /* 8 */
	enum core_machine machine;
	unsigned release;          /* X of Go 1.X */
	struct gocore_place at[GOCORE_N_MEMBERS];
	struct gocore_module module[GOCORE_MODULES];
	unsigned n_modules;
	struct gocore_records out;
	struct gocore_state state;
	struct gocore_span *span;  /* big memory */
	uint32_t n_spans, cap_spans;
	struct gocore_noting {
		uint64_t start, specials;  /* of a span in use: where it begins; the first of its list */
	} *noting;                 /* big memory: spans that note something of their objects */
	size_t n_noting, cap_noting;
	uint32_t *span_at;         /* big memory: by offset / GOCORE_PAGE, the first span that ends behind it */
	uint64_t n_span_at;
	struct gocore_types *noted; /* big memory */
	struct arena arena;        /* bits that were made */
	struct gocore_arena *arenas; /* big memory: of heap_start and behind */
	uint64_t n_arenas;
	bool as_heap_dump;         /* of frames: what debug.WriteHeapDump writes, not what the collector looks at */
	unsigned marks;            /* bytes of mark bits at the end of a span: runtime.spanInlineMarkBits */
	uint64_t heap_start, heap_end; /* whole arenas */
};

/* A member of the structure at an address: a number of 1, 2, 4 or 8 bytes, or a pointer.  0: it is not there. */
uint64_t gocore_get(const struct gocore *g, uint64_t structure, enum gocore_member member);
static inline bool gocore_has(const struct gocore *g, enum gocore_member member)
{
	return g->at[member].size != 0;
}
/* A word at an address, 0: it is not there. */
uint64_t gocore_word(const struct gocore *g, uint64_t address);
/* A slice or string that is a member (or, gocore_slice_at, at an address): where its first element stands and how many
 * there are (at most `most`; more is taken for damage: 0). */
struct gocore_slice { uint64_t address, n; };
struct gocore_slice gocore_slice(const struct gocore *g, uint64_t structure, enum gocore_member member, uint64_t most);
struct gocore_slice gocore_slice_at(const struct gocore *g, uint64_t address, uint64_t most);

/* --- records ----------------------------------------------------------------------------------------------------- */

/* Kinds of records: runtime/heapdump.go. */
enum {
	TAG_END = 0, TAG_ROOT = 2, TAG_GOROUTINE = 4, TAG_FRAME = 5, TAG_PARAMS = 6, TAG_FINALIZER = 7, TAG_ITAB = 8,
	TAG_THREAD = 9, TAG_QUEUED = 11, TAG_DATA = 12, TAG_BSS = 13, TAG_DEFER = 14, TAG_PANIC = 15, TAG_BUCKET = 16,
	TAG_SAMPLE = 17
};

void gocore_put(struct gocore_records *r, uint64_t number); /* a varint */
void gocore_put_bytes(struct gocore_records *r, const void *bytes, uint64_t n); /* their number, then they */
void gocore_put_text(struct gocore_records *r, const char *s);
/* Room for n bytes (their number stands before them), which the caller fills before anything else is put; NULL:
 * memory was refused. */
uint8_t *gocore_put_room(struct gocore_records *r, uint64_t n);
/* A pointer at an offset, of a list of fields; and the end of that list. */
void gocore_put_field(struct gocore_records *r, uint64_t offset);
void gocore_put_end(struct gocore_records *r);

/* --- code (gocore_code.c) ----------------------------------------------------------------------------- */

/* A function, by its _func. */
struct gocore_function {
	const struct gocore_module *module;
	const uint8_t *info;       /* its _func, with all of its tables in front of `end` */
	const uint8_t *end;
	uint64_t entry;
	const char *name;          /* "main.(*T).f", borrowed from the core; "" unknown */
	uint64_t n_name;
	unsigned id, flags;        /* abi.FuncID, abi.FuncFlag */
	int32_t arguments;         /* bytes of arguments in the frame of the caller; negative: unknown */
};
MUST_CHECK int gocore_read_modules(struct gocore *g, struct err *err);
/* The function that contains a pc; false: none does. */
bool gocore_function_at(const struct gocore *g, uint64_t pc, struct gocore_function *out);
/* The file and the line of a pc in a function, as runtime.funcline has them; false: unknown. */
bool gocore_line(const struct gocore *g, const struct gocore_function *f, uint64_t pc, struct gocore_bytes *file,
    uint64_t *line);

/* --- parts of opening -------------------------------------------------------------------------------------------- */

MUST_CHECK int gocore_read_spans(struct gocore *g, struct err *err);
/* The type of a descriptor; NULL: there is none at the address, or no room for one more.  Any thread. */
const struct gocore_type *gocore_type_at(const struct gocore *g, uint64_t address);
void gocore_release_types(struct gocore *g);
/* Put the records of parameters and itabs; of data, bss, specials, queued finalizers and the profile. */
void gocore_tell_head(struct gocore *g);
void gocore_tell_roots(struct gocore *g);
/* Put the records of goroutines with their frames, deferred calls and panics; of threads. */
MUST_CHECK int gocore_tell_goroutines(struct gocore *g, struct err *err);

#endif
