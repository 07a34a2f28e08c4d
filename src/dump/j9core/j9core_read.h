/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_read.h - what the files of src/dump/j9core share; private to them.
 *
 *   ddr.c             the VM's description of its own structures
 *   j9core.c          opening: finds the VM, its members, in which order things are read
 *   j9core_files.c    files that have what the core lacks
 *   j9core_regions.c  where objects are, and what there is no object
 *   j9core_classes.c  classes: names, sizes of their objects, which slots are references
 *   j9core_links.c    what class objects refer to
 *   j9core_info.c     what the VM says of itself, its process and the core
 *   j9core_objects.c  objects one after another
 *   j9core_arrays.c   where elements of arrays are
 *   j9core_fields.c   fields of classes, and where they are
 *   j9core_hash.c     identity hash codes
 *
 * Whatever is read from the core is hostile: an address may lead anywhere, a number may be anything, a list may be a
 * circle.
 */
#ifndef CAIRN_DUMP_J9CORE_J9CORE_READ_H
#define CAIRN_DUMP_J9CORE_J9CORE_READ_H

#include "dump/core/core.h"
#include "dump/j9core/ddr.h"
#include "dump/j9core/j9core.h"
#include "memory/arena.h"

#include <endian.h>
#include <string.h>

/* A name, the structure, its member, and whether nothing works without it. */
#define J9_MEMBERS(M) \
	M(RAS_VM, "J9RAS", "vm", true) \
	M(VM_EXTENSIONS, "J9JavaVM", "gcExtensions", true) \
	M(VM_FLAGS2, "J9JavaVM", "extendedRuntimeFlags2", false) \
	M(VM_SHIFT, "J9JavaVM", "compressedPointersShift", false) \
	M(VM_MAIN_THREAD, "J9JavaVM", "mainThread", true) \
	M(VM_OMR, "J9JavaVM", "omrVM", true) \
	M(VM_DATA_ADDRESS, "J9JavaVM", "isIndexableDataAddrPresent", false) \
	M(OMR_ALIGNMENT, "OMR_VM", "_objectAlignmentInBytes", false) \
	M(EXTENSIONS_REGIONS, "MM_GCExtensions", "heapRegionManager", true) \
	M(REGIONS_TABLE, "MM_HeapRegionManager", "_regionTable", true) \
	M(REGIONS_N, "MM_HeapRegionManager", "_tableRegionCount", true) \
	M(REGIONS_STRIDE, "MM_HeapRegionManager", "_tableDescriptorSize", true) \
	M(REGIONS_MORE, "MM_HeapRegionManager", "_auxRegionDescriptorList", true) \
	M(REGION_LOW, "MM_HeapRegionDescriptor", "_lowAddress", true) \
	M(REGION_HIGH, "MM_HeapRegionDescriptor", "_highAddress", true) \
	M(REGION_TYPE, "MM_HeapRegionDescriptor", "_regionType", true) \
	M(REGION_SPAN, "MM_HeapRegionDescriptor", "_regionsInSpan", true) \
	M(REGION_ALLOCATED, "MM_HeapRegionDescriptor", "_isAllocated", true) \
	M(REGION_NEXT, "MM_HeapRegionDescriptor", "_nextRegion", true) \
	M(REGION_POOL, "MM_HeapRegionDescriptor", "_memoryPool", false) \
	M(POOL_NEXT_OBJECT, "MM_MemoryPoolBumpPointer", "_allocatePointer", false) \
	M(FREE_SIZE, "MM_HeapLinkedFreeHeader", "_size", true) \
	M(THREAD_NEXT, "J9VMThread", "linkNext", true) \
	M(THREAD_ALLOC, "J9VMThread", "heapAlloc", false) \
	M(THREAD_TOP, "J9VMThread", "heapTop", false) \
	M(THREAD_NONZERO_ALLOC, "J9VMThread", "nonZeroHeapAlloc", false) \
	M(THREAD_NONZERO_TOP, "J9VMThread", "nonZeroHeapTop", false) \
	M(THREAD_LOCAL_HEAP, "J9VMThread", "allocateThreadLocalHeap", false) \
	M(LOCAL_ALLOC, "J9ModronThreadLocalHeap", "realHeapAlloc", false) \
	M(LOCAL_TOP, "J9ModronThreadLocalHeap", "realHeapTop", false) \
	M(VM_SYSTEM_LOADER, "J9JavaVM", "systemClassLoader", false) \
	M(VM_APPLICATION_LOADER, "J9JavaVM", "applicationClassLoader", false) \
	M(VM_LOADERS, "J9JavaVM", "classLoaderBlocks", false) \
	M(VM_GLOBALS, "J9JavaVM", "jniGlobalReferences", false) \
	M(VM_MONITOR_TABLES, "J9JavaVM", "monitorTableList", false) \
	M(VM_CALL_IN, "J9JavaVM", "callInReturnPC", false) \
	M(OMR_THREAD_KEY, "OMR_VM", "_vmThreadKey", false) \
	M(EXTENSIONS_UNLOADING, "MM_GCExtensions", "dynamicClassUnloading", false) \
	M(EXTENSIONS_STRINGS, "MM_GCExtensions", "stringTable", false) \
	M(EXTENSIONS_STRINGS_WEAK, "MM_GCExtensions", "collectStringConstants", false) \
	M(EXTENSIONS_FINALIZER, "MM_GCExtensions", "finalizeListManager", false) \
	M(EXTENSIONS_BARRIER, "MM_GCExtensions", "accessBarrier", false) \
	M(EXTENSIONS_CONTINUATIONS, "MM_GCExtensions", "continuationObjectLists", false) \
	M(BARRIER_REFERENCE_LINK, "MM_ObjectAccessBarrier", "_referenceLinkOffset", false) \
	M(BARRIER_CONTINUATION_LINK, "MM_ObjectAccessBarrier", "_continuationLinkOffset", false) \
	M(STRINGS_N, "MM_StringTable", "_tableCount", false) \
	M(STRINGS_TABLES, "MM_StringTable", "_table", false) \
	M(STRINGS_CACHE, "MM_StringTable", "_cache", false) \
	M(FINALIZER_SYSTEM, "GC_FinalizeListManager", "_systemFinalizableObjects", false) \
	M(FINALIZER_DEFAULT, "GC_FinalizeListManager", "_defaultFinalizableObjects", false) \
	M(FINALIZER_REFERENCES, "GC_FinalizeListManager", "_referenceObjects", false) \
	M(CLASS_FLAGS2, "J9Class", "classFlags", false) \
	M(CLASS_FINALIZE_LINK, "J9Class", "finalizeLinkOffset", false) \
	M(CLASS_LOCK_AT, "J9Class", "lockOffset", false) \
	M(POOL_ELEMENT, "J9Pool", "elementSize", false) \
	M(POOL_PUDDLE_ELEMENTS, "J9Pool", "elementsPerPuddle", false) \
	M(POOL_LIST, "J9Pool", "puddleList", false) \
	M(PUDDLES_FIRST, "J9PoolPuddleList", "nextPuddle", false) \
	M(PUDDLE_USED, "J9PoolPuddle", "usedElements", false) \
	M(PUDDLE_ELEMENTS, "J9PoolPuddle", "firstElementAddress", false) \
	M(PUDDLE_NEXT, "J9PoolPuddle", "nextPuddle", false) \
	M(TABLE_SIZE, "J9HashTable", "tableSize", false) \
	M(TABLE_NODES, "J9HashTable", "nodes", false) \
	M(TABLE_LIST_NODES, "J9HashTable", "listNodePool", false) \
	M(TABLE_TREE_NODES, "J9HashTable", "treeNodePool", false) \
	M(MONITORS_TABLE, "J9MonitorTableListEntry", "monitorTable", false) \
	M(MONITORS_NEXT, "J9MonitorTableListEntry", "next", false) \
	M(OBJECT_MONITOR_MONITOR, "J9ObjectMonitor", "monitor", false) \
	M(MONITOR_COUNT, "J9ThreadAbstractMonitor", "count", false) \
	M(MONITOR_OWNER, "J9ThreadAbstractMonitor", "owner", false) \
	M(MONITOR_OBJECT, "J9ThreadAbstractMonitor", "userData", false) \
	M(OS_THREAD_TLS, "J9AbstractThread", "tls", false) \
	M(OS_THREAD_FLAGS, "J9AbstractThread", "flags", false) \
	M(OS_THREAD_ID, "J9AbstractThread", "tid", false) \
	M(OMR_THREAD_VM, "OMR_VMThread", "_language_vmthread", false) \
	M(OMR_THREAD_NAME, "OMR_VMThread", "threadName", false) \
	M(THREAD_OMR, "J9VMThread", "omrVMThread", false) \
	M(THREAD_OS, "J9VMThread", "osThread", false) \
	M(THREAD_OBJECT, "J9VMThread", "threadObject", false) \
	M(THREAD_BLOCKED_ON, "J9VMThread", "blockingEnterObject", false) \
	M(THREAD_FLAGS, "J9VMThread", "publicFlags", false) \
	M(THREAD_LOCALS, "J9VMThread", "jniLocalReferences", false) \
	M(THREAD_ENTERED, "J9VMThread", "monitorEnterRecords", false) \
	M(THREAD_JNI_ENTERED, "J9VMThread", "jniMonitorEnterRecords", false) \
	M(THREAD_STACK, "J9VMThread", "stackObject", false) \
	M(THREAD_SP, "J9VMThread", "sp", false) \
	M(THREAD_PC, "J9VMThread", "pc", false) \
	M(THREAD_LITERALS, "J9VMThread", "literals", false) \
	M(THREAD_A0, "J9VMThread", "arg0EA", false) \
	M(THREAD_J2I, "J9VMThread", "j2iFrame", false) \
	M(THREAD_ENTRY, "J9VMThread", "entryLocalStorage", false) \
	M(LOCALS_PREVIOUS, "J9JNIReferenceFrame", "previous", false) \
	M(LOCALS_POOL, "J9JNIReferenceFrame", "references", false) \
	M(ENTERED_OBJECT, "J9MonitorEnterRecord", "object", false) \
	M(ENTERED_A0, "J9MonitorEnterRecord", "arg0EA", false) \
	M(ENTERED_NEXT, "J9MonitorEnterRecord", "next", false) \
	M(STACK_END, "J9JavaStack", "end", false) \
	M(STACK_SIZE, "J9JavaStack", "size", false) \
	M(STACK_PREVIOUS, "J9JavaStack", "previous", false) \
	M(METHOD_BYTECODES, "J9Method", "bytecodes", false) \
	M(METHOD_POOL, "J9Method", "constantPool", false) \
	M(POOL_CLASS, "J9ConstantPool", "ramClass", false) \
	M(ROM_METHOD_NAME, "J9ROMNameAndSignature", "name", false) \
	M(ROM_METHOD_MODIFIERS, "J9ROMMethod", "modifiers", false) \
	M(ROM_METHOD_SIZE_LOW, "J9ROMMethod", "bytecodeSizeLow", false) \
	M(ROM_METHOD_SIZE_HIGH, "J9ROMMethod", "bytecodeSizeHigh", false) \
	M(ROM_METHOD_ARGUMENTS, "J9ROMMethod", "argCount", false) \
	M(ROM_METHOD_LOCALS, "J9ROMMethod", "tempCount", false) \
	M(DEBUG_N_LINES, "J9MethodDebugInfo", "lineNumberCount", false) \
	M(ROM_OPTIONS, "J9ROMClass", "optionalFlags", false) \
	M(ROM_OPTION_LIST, "J9ROMClass", "optionalInfo", false) \
	M(SPECIAL_FRAME_FLAGS, "J9SFSpecialFrame", "specialFrameFlags", false) \
	M(SPECIAL_FRAME_A0, "J9SFSpecialFrame", "savedA0", false) \
	M(METHOD_FRAME_METHOD, "J9SFMethodFrame", "method", false) \
	M(METHOD_FRAME_FLAGS, "J9SFMethodFrame", "specialFrameFlags", false) \
	M(METHOD_FRAME_A0, "J9SFMethodFrame", "savedA0", false) \
	M(TYPE_FRAME_SLOTS, "J9SFMethodTypeFrame", "argStackSlots", false) \
	M(TYPE_FRAME_FLAGS, "J9SFMethodTypeFrame", "specialFrameFlags", false) \
	M(TYPE_FRAME_A0, "J9SFMethodTypeFrame", "savedA0", false) \
	M(CALL_IN_FLAGS, "J9SFJNICallInFrame", "specialFrameFlags", false) \
	M(CALL_IN_A0, "J9SFJNICallInFrame", "savedA0", false) \
	M(RESOLVE_FLAGS, "J9SFJITResolveFrame", "specialFrameFlags", false) \
	M(RESOLVE_RETURN_SP, "J9SFJITResolveFrame", "taggedRegularReturnSP", false) \
	M(J2I_STATE, "J9SFJ2IFrame", "i2jState", false) \
	M(J2I_PREVIOUS, "J9SFJ2IFrame", "previousJ2iFrame", false) \
	M(J2I_FLAGS, "J9SFJ2IFrame", "specialFrameFlags", false) \
	M(J2I_RETURN_SP, "J9SFJ2IFrame", "taggedReturnSP", false) \
	M(I2J_SP, "J9I2JState", "returnSP", false) \
	M(I2J_A0, "J9I2JState", "a0", false) \
	M(I2J_LITERALS, "J9I2JState", "literals", false) \
	M(I2J_PC, "J9I2JState", "pc", false) \
	M(CONTINUATIONS_HEAD, "MM_ContinuationObjectList", "_head", false) \
	M(CONTINUATIONS_NEXT, "MM_ContinuationObjectList", "_nextList", false) \
	M(CONTINUATION_STACK, "J9VMContinuation", "stackObject", false) \
	M(CONTINUATION_SP, "J9VMContinuation", "sp", false) \
	M(VM_JIT, "J9JavaVM", "jitConfig", false) \
	M(JIT_CODE, "J9JITConfig", "translationArtifacts", false) \
	M(JIT_RETURNS, "J9JITConfig", "i2jReturnTable", false) \
	M(TREE_ROOT, "J9AVLTree", "rootNode", false) \
	M(TREE_LEFT, "J9AVLTreeNode", "leftChild", false) \
	M(TREE_RIGHT, "J9AVLTreeNode", "rightChild", false) \
	M(CODES_BUCKETS, "J9JITHashTable", "buckets", false) \
	M(CODES_START, "J9JITHashTable", "start", false) \
	M(CODES_END, "J9JITHashTable", "end", false) \
	M(CODE_METHOD, "J9JITExceptionTable", "ramMethod", false) \
	M(CODE_START, "J9JITExceptionTable", "startPC", false) \
	M(CODE_END_WARM, "J9JITExceptionTable", "endWarmPC", false) \
	M(CODE_COLD, "J9JITExceptionTable", "startColdPC", false) \
	M(CODE_END, "J9JITExceptionTable", "endPC", false) \
	M(CODE_FRAME, "J9JITExceptionTable", "totalFrameSize", false) \
	M(ENTRY_STATE, "J9VMEntryLocalStorage", "i2jState", false) \
	M(ENTRY_OLD, "J9VMEntryLocalStorage", "oldEntryLocalStorage", false) \
	M(VM_CLASS_SEGMENTS, "J9JavaVM", "classMemorySegments", true) \
	M(SEGMENTS_FIRST, "J9MemorySegmentList", "nextSegment", true) \
	M(SEGMENT_TYPE, "J9MemorySegment", "type", true) \
	M(SEGMENT_BASE, "J9MemorySegment", "heapBase", true) \
	M(SEGMENT_NEXT, "J9MemorySegment", "nextSegment", true) \
	M(CLASS_NEXT, "J9Class", "nextClassInSegment", true) \
	M(CLASS_EYECATCHER, "J9Class", "eyecatcher", true) \
	M(CLASS_ROM, "J9Class", "romClass", true) \
	M(CLASS_FLAGS, "J9Class", "classDepthAndFlags", true) \
	M(CLASS_SIZE, "J9Class", "totalInstanceSize", true) \
	M(CLASS_SLOTS, "J9Class", "instanceDescription", true) \
	M(CLASS_HASH_AT, "J9Class", "backfillOffset", true) \
	M(CLASS_OBJECT, "J9Class", "classObject", true) \
	M(CLASS_LOADER, "J9Class", "classLoader", true) \
	M(ARRAY_ARITY, "J9ArrayClass", "arity", true) \
	M(ARRAY_LEAF, "J9ArrayClass", "leafComponentType", true) \
	M(CLASS_STATICS, "J9Class", "ramStatics", true) \
	M(ROM_N_STATICS, "J9ROMClass", "objectStaticCount", true) \
	M(LOADER_OBJECT, "J9ClassLoader", "classLoaderObject", true) \
	M(CLASS_FINALIZE_AT, "J9Class", "finalizeLinkOffset", false) \
	M(ROM_N_FIELDS, "J9ROMClass", "romFieldCount", false) \
	M(ROM_FIELDS, "J9ROMClass", "romFields", false) \
	M(ROM_N_SINGLE_STATICS, "J9ROMClass", "singleScalarStaticCount", false) \
	M(FIELD_NAMES, "J9ROMFieldShape", "nameAndSignature", false) \
	M(FIELD_MODIFIERS, "J9ROMFieldShape", "modifiers", false) \
	M(NAMES_NAME, "J9ROMNameAndSignature", "name", false) \
	M(NAMES_TYPE, "J9ROMNameAndSignature", "signature", false) \
	M(VM_HIDDEN, "J9JavaVM", "hiddenInstanceFields", false) \
	M(VM_LOCK_SHAPE, "J9JavaVM", "hiddenLockwordFieldShape", false) \
	M(VM_FINALIZE_SHAPE, "J9JavaVM", "hiddenFinalizeLinkFieldShape", false) \
	M(VM_CACHE_LINE, "J9JavaVM", "dCacheLineSize", false) \
	M(HIDDEN_CLASS, "J9HiddenInstanceField", "className", false) \
	M(HIDDEN_SHAPE, "J9HiddenInstanceField", "shape", false) \
	M(VM_HASHES, "J9JavaVM", "identityHashData", false) \
	M(HASHES_LOW, "J9IdentityHashData", "hashData1", false) \
	M(HASHES_HIGH, "J9IdentityHashData", "hashData2", false) \
	M(HASHES_SHIFT, "J9IdentityHashData", "hashData3", false) \
	M(HASHES_POLICY, "J9IdentityHashData", "hashSaltPolicy", false) \
	M(HASHES_SALTS, "J9IdentityHashData", "hashSaltTable", false) \
	M(HIDDEN_NEXT, "J9HiddenInstanceField", "next", false) \
	M(CLASS_SUPERS, "J9Class", "superclasses", true) \
	M(CLASS_INTERFACES, "J9Class", "iTable", false) \
	M(INTERFACE_CLASS, "J9ITable", "interfaceClass", false) \
	M(INTERFACE_NEXT, "J9ITable", "next", false) \
	M(CLASS_ARRAY, "J9Class", "arrayClass", false) \
	M(CLASS_POOL, "J9Class", "ramConstantPool", false) \
	M(ROM_POOL_N, "J9ROMClass", "ramConstantPoolCount", false) \
	M(ROM_POOL_KINDS, "J9ROMClass", "cpShapeDescription", false) \
	M(CLASS_CALL_SITES, "J9Class", "callSites", false) \
	M(ROM_N_CALL_SITES, "J9ROMClass", "callSiteCount", false) \
	M(CLASS_INVOKE_CACHE, "J9Class", "invokeCache", false) \
	M(ROM_N_INVOKE_CACHE, "J9ROMClass", "invokeCacheCount", false) \
	M(CLASS_METHOD_TYPES, "J9Class", "methodTypes", false) \
	M(ROM_N_METHOD_TYPES, "J9ROMClass", "methodTypeCount", false) \
	M(CLASS_VAR_HANDLE_TYPES, "J9Class", "varHandleMethodTypes", false) \
	M(ROM_N_VAR_HANDLE_TYPES, "J9ROMClass", "varHandleMethodTypeCount", false) \
	M(VM_LEAF_SIZE, "J9JavaVM", "arrayletLeafSize", false) \
	M(EXTENSIONS_ARRAYS, "MM_GCExtensions", "indexableObjectModel", false) \
	M(EXTENSIONS_OUTSIDE, "MM_GCExtensions", "isVirtualLargeObjectHeapEnabled", false) \
	M(EXTENSIONS_BALANCED, "MM_GCExtensions", "_isVLHGC", false) \
	M(EXTENSIONS_COLLECTOR, "MM_GCExtensions", "_globalCollector", false) \
	M(ARRAYS_LOW, "GC_ArrayletObjectModelBase", "_arrayletRangeBase", false) \
	M(ARRAYS_HIGH, "GC_ArrayletObjectModelBase", "_arrayletRangeTop", false) \
	M(ARRAYS_LARGEST, "GC_ArrayletObjectModelBase", "_largestDesirableArraySpineSize", false) \
	M(ARRAY_OUTSIDE, "J9IndexableObjectWithDataAddressContiguousCompressed", "dataAddr", false) \
	M(FULL_ARRAY_OUTSIDE, "J9IndexableObjectWithDataAddressContiguousFull", "dataAddr", false) \
	M(BALANCED_MARKS, "MM_IncrementalGenerationalGC", "_markMapManager", false) \
	M(MARKS_PREVIOUS, "MM_MarkMapManager", "_previousMarkMap", false) \
	M(MARKS_BASE, "MM_HeapMap", "_heapBase", false) \
	M(MARKS_BITS, "MM_HeapMap", "_heapMapBits", false) \
	M(REGION_CELLS, "MM_HeapRegionDescriptorSegregated", "_sizeClass", false) \
	M(REGION_CELL_SIZES, "MM_HeapRegionDescriptorSegregated", "_segregatedSizeClasses", false) \
	M(CELL_SIZES, "OMR_SizeClasses", "smallCellSizes", false) \
	M(VM_CACHE_SIZE, "J9JavaVM", "segregatedAllocationCacheSize", false) \
	M(THREAD_CACHE, "J9VMThread", "segregatedAllocationCache", false) \
	M(CACHE_ALLOC, "J9VMGCSegregatedAllocationCacheEntry", "current", false) \
	M(CACHE_TOP, "J9VMGCSegregatedAllocationCacheEntry", "top", false) \
	M(ROM_NAME, "J9ROMClass", "className", true) \
	M(ROM_SUPER, "J9ROMClass", "superclassName", false) \
	M(ROM_SHAPE, "J9ROMArrayClass", "arrayShape", true)

#define J9_ENUM(name, structure, field, needed) AT_##name,
enum j9_member { J9_MEMBERS(J9_ENUM) J9_N_MEMBERS };

/* A class as objects need it, by its address. */
struct j9_class {
	uint64_t address;          /* of its J9Class */
	uint64_t rom;              /* of its J9ROMClass */
	uint64_t flags;            /* classDepthAndFlags */
	uint64_t size;             /* bytes of an instance without its header; of arrays: unused */
	uint64_t n_slots;          /* of an instance: how many references would fit into it */
	uint64_t few;              /* bit i: slot i is a reference; of the first ones, or of all */
	uint64_t whole, grown;     /* bytes of an instance; of one that was moved and keeps its hash code */
	const uint8_t *map;        /* the same of more than a word has, words of the core; NULL: few has all of them */
	uint64_t hash_at;          /* where the hash code is, in bytes of the object; of arrays: behind the elements */
	unsigned shift;            /* of arrays: an element has 1 << shift bytes */
	bool array, references;    /* references: an array of them */
	bool named_width;          /* an array whose elements are as wide as its name says */
	const char *name;          /* "java/lang/String", "[I", "[[Ljava/lang/String;": n_name bytes; NULL: not there */
	size_t n_name;
};

/* What entries of constant pools are, as J9ConstantPool numbers them: `in_word` numbers of `bits` in 4 bytes. */
struct j9_pool_kinds {
	uint64_t bits, in_word;
	uint64_t class, string, annotation, method_type, method_handle, dynamic;
};

/* Which arrays are split: those at low to high whose spine would be larger than `largest`. */
struct j9_array_model {
	uint64_t low, high, largest;
	uint64_t leaf;             /* bytes of a leaf, a power of two; 0: none are split */
	uint64_t grows;            /* bytes that are left to an array to grow by when it is moved */
	bool outside;              /* elements of large arrays are outside of the heap */
	bool one_more;             /* there is a leaf for the byte behind the last */
};

/* Flags and numbers of methods, lockwords and threads; 0: the release has none. */
struct j9_flags {
	uint64_t native, synchronized, constructor, empty;                   /* J9ROMMethod.modifiers */
	uint64_t debug_info, extended, generic, exceptions, annotated[3];    /* the same: what is behind its bytecodes */
	uint64_t extended_annotated[2];                                      /* of what `extended` means */
	uint64_t source_file;                                                /* J9ROMClass.optionalFlags */
	bool lines;                                                          /* tables of lines are compressed */
	uint64_t lock_flags, inflated, learning, reserved;                   /* of a lockword */
	unsigned entered_shift, learning_shift;
	uint64_t thread_blocked, thread_waiting, thread_suspended;           /* J9VMThread.publicFlags */
	uint64_t waiting, notified, blocked, parked, sleeping, dead, suspended; /* J9Thread.flags */
};

/* J9ROMFieldShape.modifiers; reused: of J9Class.classFlags, its static memory is that of another class. */
struct j9_modifiers {
	uint64_t is_static, object, wide, constant, generic, annotated, type_annotated, reused;
	bool compact;              /* the VM packs fields of less than 4 bytes */
};

struct j9core {
	const struct core *core;
	struct ddr *ddr;
	unsigned word, slot;       /* bytes of a UDATA, and of a reference in an object: 4 or 8 */
	unsigned shift;            /* of references of 4 bytes */
	bool big_endian;
	unsigned alignment;        /* of objects, bytes */
	uint32_t head, split_head; /* bytes before the elements of an array; of one whose elements are elsewhere */
	uint64_t ras, vm;
	uint64_t depth_mask;       /* of classDepthAndFlags: how many superclasses there are */
	struct j9_pool_kinds kinds;
	struct j9_modifiers modifiers;
	struct j9_flags flags;
	struct j9_array_model arrays;
	/* Marked objects: where the bits are, the address of the first one, bytes of the heap for each; 0: none. */
	uint64_t marks, marks_base, marks_step;
	uint64_t dying, replaced;  /* of classDepthAndFlags: a class that is unloaded, one that was redefined */
	struct ddr_field at[J9_N_MEMBERS];
	bool has[J9_N_MEMBERS];
	struct j9_region *region;  /* big memory: by ascending address */
	uint32_t n_regions, cap_regions;
	struct j9_range { uint64_t low, high; } *range; /* big memory: of threads, without objects; by ascending address */
	uint32_t n_ranges, cap_ranges;
	struct j9_class *class;    /* big memory: in the order of the VM's segments */
	uint32_t n_classes, cap_classes;
	const struct j9_class *hub; /* java/lang/Class, or NULL */
	uint64_t *class_object;    /* big memory: addresses of class objects, ascending */
	uint32_t n_class_objects, cap_class_objects;
	uint32_t *class_at;        /* big memory: open addressing by address: number and 1, or 0; a power of two of slots */
	uint32_t n_class_at;
	struct arena arena;        /* names of arrays */
	uint32_t n_nameless;       /* classes whose names the core does not have */
	/* a list leads to memory that the core does not have, or is damaged */
	bool regions_lost, classes_lost, threads_lost;
};

void j9_read_pool_kinds(struct j9core *j);
void j9_read_modifiers(struct j9core *j);
void j9_read_flags(struct j9core *j);
void j9_read_array_model(struct j9core *j);
/* Length and form of an array; bytes without those elsewhere; where a hash code would be.  False: it cannot be read. */
bool j9_measure_array(const struct j9core *j, struct j9_object *o, uint64_t *bytes, uint64_t *hash_at);
MUST_CHECK int j9_read_regions(struct j9core *j, struct err *err);
MUST_CHECK int j9_read_classes(struct j9core *j, struct err *err);

/* How many bytes instances of a class take: once its size is known. */
void j9_settle_size(const struct j9core *j, struct j9_class *c);
/* Is there a class object that a class record is about? */
bool j9_is_class_object(const struct j9core *j, uint64_t address);

enum { J9_LEAST = 16 }; /* bytes of the smallest object */
#define J9_CLASS_ALIGNMENT 256
#define J9_CLASS_FLAGS (UINT64_C(256) - 1) /* of the class slot of an object */

static inline uint64_t j9_rounded(uint64_t n, uint64_t to)
{
	return (n + to - 1) & ~(to - 1);
}

/* The class slot, or a reference as it stands, at p. */
static inline uint64_t j9_slot(const struct j9core *j, const uint8_t *p)
{
	uint64_t eight;
	uint32_t four;

	if (j->slot == 4) {
		memcpy(&four, p, sizeof four);
		return j->big_endian ? be32toh(four) : le32toh(four);
	}
	memcpy(&eight, p, sizeof eight);
	return j->big_endian ? be64toh(eight) : le64toh(eight);
}

/* A list that may be a circle.  Begins zeroed. */
struct j9_list {
	uint64_t mark, since, power;
};
/* Does the list end here: at 0, or where it has been before?  It may have gone round a few times by then. */
static inline bool j9_list_ends(struct j9_list *l, uint64_t at)
{
	if (!at || at == l->mark)
		return true;
	if (l->since++ == l->power) { /* Brent's way to find a circle */
		l->mark = at;
		l->power = 2 * l->power + 1;
		l->since = 0;
	}
	return false;
}

/* A member of the structure at an address; false: it is not there, and *out 0. */
bool j9_load(const struct j9core *j, uint64_t structure, enum j9_member member, uint64_t *out);
/* The same.  0: it is not there. */
uint64_t j9_get(const struct j9core *j, uint64_t structure, enum j9_member member);
/* A pointer at an address.  0: it is not there. */
uint64_t j9_word(const struct j9core *j, uint64_t address);
/* A text of the VM (J9UTF8) at an address: n bytes, borrowed; NULL: it is not there. */
const char *j9_text(const struct j9core *j, uint64_t at, size_t *n);
/* What a member leads to that holds a signed distance of 4 bytes from itself (J9SRP).  0: it is not there, or null. */
uint64_t j9_relative(const struct j9core *j, uint64_t structure, enum j9_member member);
/* The superclass of one that is no array; NULL: it has none. */
const struct j9_class *j9_super(const struct j9core *j, const struct j9_class *c);
/* A constant of any release; `otherwise` where there is none. */
uint64_t j9_constant(const struct j9core *j, const char *structure, const char *name, uint64_t otherwise);

#endif
