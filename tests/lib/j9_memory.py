# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory of an OpenJ9 VM that never was, as a core: its structures have members at places of their own, and it
has the VM's description of them ("the DDR blob").  Written from the format's sheet.
"""

import random
import struct

# Of each structure the one that it derives from, and its members.  Types: p a pointer, w a word, 8 4 2 1 bytes, b a
# truth value, e an enum, s and S distances of 4 bytes and of a word, o an object, a* so many words.
STRUCTURES = """
J9RAS: vm.p dumpTimeMillis.8 pid.w
J9JavaVM: gcExtensions.p extendedRuntimeFlags2.4 compressedPointersShift.w mainThread.p omrVM.p classLoaderBlocks.p
 isIndexableDataAddrPresent.w systemClassLoader.p applicationClassLoader.p jniGlobalReferences.p arrayletLeafSize.w
 monitorTableList.p classMemorySegments.p segregatedAllocationCacheSize.w exclusiveAccessState.w
 hiddenInstanceFields.p hiddenLockwordFieldShape.p hiddenFinalizeLinkFieldShape.p vmArgsArray.p
J9HiddenInstanceField: className.p shape.p next.p
J9VMInitArgs: actualVMArgs.p
JavaVMInitArgs: nOptions.4 options.p
JavaVMOption: optionString.p
OMR_VM: _objectAlignmentInBytes.w _vmThreadKey.w
MM_GCExtensionsBase: heapRegionManager.p _isVLHGC.b _globalCollector.p isVirtualLargeObjectHeapEnabled.b
MM_GCExtensions(MM_GCExtensionsBase): indexableObjectModel.i16 dynamicClassUnloading.w
GC_ArrayletObjectModelBase: _arrayletRangeBase.p _arrayletRangeTop.p _largestDesirableArraySpineSize.w
MM_HeapRegionManager: _regionTable.p _tableRegionCount.w _tableDescriptorSize.w _auxRegionDescriptorList.p
MM_HeapRegionDescriptor: _lowAddress.p _highAddress.p _regionType.e _regionsInSpan.w _isAllocated.b _nextRegion.p
 _memoryPool.p
MM_MemoryPoolBumpPointer: _allocatePointer.p
MM_HeapRegionDescriptorSegregated(MM_HeapRegionDescriptor): _sizeClass.w _segregatedSizeClasses.p
OMR_SizeClasses: smallCellSizes.a4
MM_HeapLinkedFreeHeader: _next.w _size.w
MM_IncrementalGenerationalGC: _markMapManager.p
MM_MarkMapManager: _previousMarkMap.p
MM_HeapMap: _heapBase.p _heapMapBits.p
MM_MarkMap(MM_HeapMap): _extra.w
J9MemorySegmentList: nextSegment.p
J9MemorySegment: type.w heapBase.p nextSegment.p
J9ClassLoader: classLoaderObject.o
J9Class: eyecatcher.w romClass.p superclasses.p classDepthAndFlags.w classFlags.4 classLoader.p classObject.o
 totalInstanceSize.w instanceDescription.p backfillOffset.w lockOffset.w finalizeLinkOffset.w ramStatics.p
 arrayClass.p iTable.p nextClassInSegment.p
J9ArrayClass(J9Class): arity.w leafComponentType.p componentType.p
J9ITable: interfaceClass.p next.p
J9ROMClass: className.s objectStaticCount.4 romFieldCount.4 romFields.s singleScalarStaticCount.4 optionalFlags.4
 optionalInfo.s
J9ROMArrayClass(J9ROMClass): arrayShape.4
J9ROMNameAndSignature: name.s signature.s
J9ROMFieldShape: nameAndSignature.i16 modifiers.4
J9ROMMethod(J9ROMNameAndSignature): modifiers.4 bytecodeSizeLow.2 bytecodeSizeHigh.1 argCount.1 tempCount.2
J9Method: bytecodes.p constantPool.p
J9ConstantPool: ramClass.p
J9MethodDebugInfo: lineNumberCount.4
J9VMThread: linkNext.p heapAlloc.p heapTop.p omrVMThread.p osThread.p threadObject.o blockingEnterObject.o
 stackObject.p sp.p pc.p literals.p arg0EA.p jniLocalReferences.p publicFlags.w allocateThreadLocalHeap.i12
J9ModronThreadLocalHeap: realHeapAlloc.p realHeapTop.p
OMR_VMThread: threadName.p _language_vmthread.p
J9AbstractThread: tid.w flags.w tls.a4
J9ThreadAbstractMonitor: count.w owner.p userData.w
J9ObjectMonitor: monitor.p
J9HashTable: listNodePool.p
J9JavaStack: end.p size.w previous.p
J9JNIReferenceFrame: previous.p references.p
J9Pool: elementSize.w elementsPerPuddle.w puddleList.S
J9PoolPuddleList: nextPuddle.S
J9PoolPuddle: usedElements.w firstElementAddress.s nextPuddle.S
J9MonitorTableListEntry: monitorTable.p next.p
J9IndexableObjectWithDataAddressContiguousCompressed: dataAddr.p
J9IndexableObjectWithDataAddressContiguousFull: dataAddr.p
"""
NAMES = {"p": "void*", "w": "UDATA", "8": "U64", "4": "U32", "2": "U16", "1": "U8", "b": "bool", "e": "enum Kind",
         "s": "J9SRP(void)", "S": "J9WSRP(void)", "o": "j9object_t", "a": "UDATA[4]", "i": "struct Inner"}
ARRAY, DYING = 0x400000, 0x1000000  # of classDepthAndFlags
RAM_CLASS = 0x20
STATIC, OBJECT_FIELD, WIDE_FIELD = 0x80, 0x100000, 0x200000  # of fields
SYNCHRONIZED, DEBUG_INFO = 0x40, 0x8000  # of methods
BLOCKED = 0x400  # of J9VMThread.publicFlags
CONSTANTS = {
    "DDRAlgorithmVersions": {"MIXED_REFERENCE_MODE": 1, "ALG_GC_ARRAYLET_OBJECT_MODEL_VERSION": 2,
                             "VM_LINE_NUMBER_TABLE_VERSION": 1},
    "J9Consts": {"J9_EXTENDED_RUNTIME2_COMPRESS_OBJECT_REFERENCES": 0x40, "J9_XACCESS_EXCLUSIVE": 7,
                 "J9_PUBLIC_FLAGS_THREAD_BLOCKED": BLOCKED},
    "J9FieldFlags": {"J9FieldFlagObject": OBJECT_FIELD, "J9FieldSizeDouble": WIDE_FIELD},
    "J9JavaAccessFlags": {"J9AccClassDepthMask": 0xfff, "J9AccClassRAMArray": ARRAY, "J9AccClassDying": DYING,
                          "J9AccClassHotSwappedOut": 0x2000000, "J9AccStatic": STATIC,
                          "J9AccSynchronized": SYNCHRONIZED, "J9AccMethodHasDebugInfo": DEBUG_INFO},
    "J9MemorySegment": {"MEMORY_TYPE_RAM_CLASS": RAM_CLASS},
    "MM_GCExtensions__DynamicClassUnloading": {"DYNAMIC_CLASS_UNLOADING_NEVER": 3},
}
PAGE = 4096


def up(n, to):
    return (n + to - 1) // to * to


class Description:
    """Where the members of structures are, by chance of a seed, and the blob that says so."""

    def __init__(self, word, big, seed, without, heads):
        self.word, self.order = word, ">" if big else "<"
        self.at, self.size, self.supers, self.members = {}, {}, {}, {}
        self.constants = {**CONSTANTS, "MM_HeapMap": {"J9MODRON_HEAP_SLOTS_PER_HEAPMAP_BIT": 8 // word}}
        chance = random.Random(seed)
        for line in STRUCTURES.strip().replace("\n ", " ").split("\n"):
            head, members = line.split(": ")
            name, _, above = head.rstrip(")").partition("(")
            self.lay_out(chance, name, above, [m.rsplit(".", 1) for m in members.split()])
        for name, size in heads.items():
            self.size[name] = size
            self.members.setdefault(name, [])
        for structure, member in without:
            del self.at[structure, member]
            self.members[structure] = [m for m in self.members[structure] if m[0] != member]

    def bytes_of(self, kind):
        sizes = {"p": self.word, "w": self.word, "o": self.word, "S": self.word, "b": 1, "e": 4, "s": 4}
        if kind[0] in "ai":
            return int(kind[1:]) * self.word
        return sizes.get(kind) or int(kind)

    def lay_out(self, chance, name, above, members):
        at = self.size[above] if above else 8 * chance.randrange(4)
        if name == "J9RAS":
            at = 48
        if name == "MM_HeapLinkedFreeHeader":
            at = 8  # its first bytes are where an object has its class
        elif "WithDataAddress" not in name:
            chance.shuffle(members)
        self.supers[name], self.members[name] = above, members
        for member, kind in members:
            size = self.bytes_of(kind)
            if name != "MM_HeapLinkedFreeHeader":
                at += self.word * chance.randrange(3)
            at = up(at, min(size, 8))
            if "WithDataAddress" in name:
                at = 2 * self.word if name.endswith("Full") else 8
            self.at[name, member] = at
            at += size
        self.size[name] = up(at, 8)

    def blob(self):
        strings, places, records = b"", {}, b""

        def text(s):
            nonlocal strings
            if s not in places:
                places[s] = len(strings)
                strings += struct.pack(self.order + "H", len(s)) + s.encode() + b"\0" * (len(s) % 2)
            return places[s]

        names = sorted(set(self.members) | set(self.constants), key=lambda n: n[::-1])
        for name in names:
            members, constants = self.members.get(name, []), self.constants.get(name, {})
            above = self.supers.get(name)
            records += struct.pack(self.order + "IIIII", text(name), text(above) if above else 0xffffffff,
                                   self.size.get(name, 0), len(members), len(constants))
            for member, kind in members:
                records += struct.pack(self.order + "III", text(member), text(NAMES[kind[0]]), self.at[name, member])
            for constant, value in constants.items():
                records += struct.pack(self.order + "IQ", text(constant), value)
        strings += b"\0" * (-len(strings) % 4)
        return struct.pack(self.order + "IBBBBIII", 1, 1, self.word, 2 if self.order == ">" else 1, 0, len(records),
                           len(strings), len(names)) + records + strings


class Memory:
    """Areas of memory, each with bytes that grow."""

    def __init__(self, description, areas):
        self.d = description
        self.areas = {name: [base, bytearray()] for name, base in areas.items()}

    def take(self, area, size, align=8):
        base, data = self.areas[area]
        at = up(base + len(data), align)
        data.extend(bytes(at + size - base - len(data)))
        return at

    def put(self, at, value, size):
        for base, data in self.areas.values():
            if base <= at < base + len(data):
                value &= (1 << 8 * size) - 1
                data[at - base:at - base + size] = value.to_bytes(size, "big" if self.d.order == ">" else "little")
                return
        raise ValueError("no memory at 0x%x" % at)

    def write(self, at, data):
        for i, byte in enumerate(data):
            self.put(at + i, byte, 1)

    def words(self, at, values):
        for i, value in enumerate(values):
            self.put(at + i * self.d.word, value, self.d.word)

    def new(self, area, structure, align=8, more=0, **members):
        at = self.take(area, self.d.size[structure] + more, align)
        self.set(at, structure, **members)
        return at

    def set(self, at, structure, **members):
        for member, value in members.items():
            self.put(at + self.offset(structure, member), value, self.width(structure, member))

    def relative(self, at, structure, member, to):
        """A distance from the member itself."""
        self.set(at, structure, **{member: to - at - self.offset(structure, member)})

    def owner(self, structure, member):
        while structure and (structure, member) not in self.d.at:
            structure = self.d.supers[structure]
        return structure

    def offset(self, structure, member):
        """0 of what the description leaves out."""
        return self.d.at.get((self.owner(structure, member), member), 0)

    def width(self, structure, member):
        owner = self.owner(structure, member)
        return self.d.bytes_of(dict(self.d.members[owner])[member]) if owner else 0

    def utf8(self, area, text):
        at = self.take(area, 2 + len(text), 2)
        self.put(at, len(text), 2)
        self.write(at + 2, text.encode())
        return at

    def elf(self, machine, page=PAGE):
        """The core: all areas in whole pages."""
        word, e = self.d.word, self.d.order
        segments = [(name, base, bytes(data) + b"\0" * (-len(data) % page))
                    for name, (base, data) in self.areas.items() if data]
        head = struct.pack("4sBBB9x", b"\x7fELF", word // 4, 2 if e == ">" else 1, 1)
        ehdr, phdr = (64, 56) if word == 8 else (52, 32)
        pointers = "QQQ" if word == 8 else "III"
        head += struct.pack(e + "HHI" + pointers + "IHHHHHH", 4, machine, 1, 0, ehdr, 0, 0, ehdr, phdr,
                            len(segments), 0, 0, 0)
        offset, bodies = up(len(head) + phdr * len(segments), page), b""
        for _, base, data in segments:
            if word == 8:
                head += struct.pack(e + "IIQQQQQQ", 1, 6, offset, base, 0, len(data), len(data), page)
            else:
                head += struct.pack(e + "IIIIIIII", 1, offset, base, 0, len(data), len(data), 6, page)
            offset += len(data)
            bodies += data
        return head + b"\0" * (-len(head) % page) + bodies
