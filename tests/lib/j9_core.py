# SPDX-License-Identifier: GPL-3.0-or-later
"""A naive reader of core files of OpenJ9 VMs, which knows nothing of cairn: the VM's description of its structures,
regions, classes, objects with their sizes and references.  For undamaged cores alone, with arrays in one piece."""

import bisect
import mmap
import struct

POINTERS = 12                 # shape of arrays of references
LETTER = dict(zip("boolean byte char double float int long short".split(), "ZBCDFIJS"))
NUMBERS = (3, 4, 5, 6)        # J9CPTYPE_INT, _FLOAT, _LONG, _DOUBLE
HOLDS = (5, 7, 8, 10)         # types of regions with objects one after another


class Memory:
    """The segments of an ELF file: of a path, or of its bytes."""

    def __init__(self, what):
        self.file = what
        if isinstance(what, str):
            with open(what, "rb") as f:
                self.file = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
        self.order = {1: "little", 2: "big"}[self.file[5]]
        self.sign = {"little": "<", "big": ">"}[self.order]
        wide = self.file[4] == 2
        self.pointer = 8 if wide else 4
        where, size, n = (struct.unpack_from(self.sign + "Q", self.file, 32)[0], 56, 56) if wide else \
            (struct.unpack_from(self.sign + "I", self.file, 28)[0], 32, 44)
        n = struct.unpack_from(self.sign + "H", self.file, n)[0]
        self.segments = []
        for i in range(n):
            at = where + size * i
            if wide:
                kind, _, offset, address, _, length = struct.unpack_from(self.sign + "IIQQQQ", self.file, at)
            else:
                kind, offset, address, _, length = struct.unpack_from(self.sign + "IIIII", self.file, at)
            if kind == 1 and length:
                self.segments.append((address, address + length, offset))
        self.segments.sort()

    def offset(self, address, n=1):
        """In the file."""
        i = bisect.bisect_right(self.segments, (address, 1 << 64, 0)) - 1
        begin, end, offset = self.segments[i]
        if i < 0 or address + n > end:
            raise LookupError("%d bytes at %#x" % (n, address))
        return offset + address - begin

    def bytes(self, address, n):
        at = self.offset(address, n)
        return self.file[at:at + n]

    def number(self, address, n):
        return int.from_bytes(self.bytes(address, n), self.order)

    def words(self, address, n, word):
        return struct.unpack("%s%d%s" % (self.sign, n, "Q" if word == 8 else "I"), self.bytes(address, n * word))

    def places(self, pattern):
        """Addresses of some bytes."""
        for begin, end, offset in self.segments:
            at = self.file.find(pattern, offset, offset + end - begin)
            while at >= 0:
                yield begin + at - offset
                at = self.file.find(pattern, at + 1, offset + end - begin)


class Description:
    """fields: (structure, member) -> (offset, type); size; parent; constants: name -> value, whatever structure."""

    def __init__(self, memory, address):
        head = memory.bytes(address, 20)
        self.word = head[5]
        n_records, n_names, n = struct.unpack_from(memory.sign + "3I", head, 8)
        data = memory.bytes(address + 20, n_records + n_names)
        self.fields, self.size, self.parent, self.constants = {}, {}, {}, {}

        def name(at):
            length = struct.unpack_from(memory.sign + "H", data, n_records + at)[0]
            return data[n_records + at + 2:n_records + at + 2 + length].decode()

        at = 0
        for _ in range(n):
            its, parent, size, n_fields, n_constants = struct.unpack_from(memory.sign + "5I", data, at)
            its, at = name(its), at + 20
            self.size[its], self.parent[its] = size, None if parent == 0xffffffff else name(parent)
            for field, kind, offset in struct.iter_unpack(memory.sign + "3I", data[at:at + 12 * n_fields]):
                self.fields[its, name(field)] = (offset, name(kind))
            at += 12 * n_fields
            for constant, value in struct.iter_unpack(memory.sign + "IQ", data[at:at + 12 * n_constants]):
                self.constants[name(constant)] = value
            at += 12 * n_constants

    def find(self, structure, member):
        while structure and (structure, member) not in self.fields:
            structure = self.parent.get(structure)
        return self.fields.get((structure, member))

    def width(self, kind):
        """Bytes of a number or pointer."""
        words = kind.replace("volatile ", "").replace("const ", "")
        if "*" not in words:
            for begin, n in (("U8", 1), ("I8", 1), ("bool", 1), ("U16", 2), ("I16", 2), ("U32", 4), ("I32", 4),
                             ("enum ", 4), ("J9SRP", 4), ("U64", 8), ("I64", 8)):
                if words.startswith(begin):
                    return n
        return self.word


class Structures:
    """A VM's structures, by their names."""

    def __init__(self, what):
        self.memory = m = Memory(what)
        pattern = (0xaa55aa55).to_bytes(4, m.order) * 2
        self.ras = next(m.places(b"J9VMRAS\0" + pattern))
        self.names = Description(m, m.number(self.ras + 24, m.pointer))
        self.word = self.names.word
        self.vm = self.get(self.ras, "J9RAS", "vm")

    def get(self, structure, kind, member):
        found = self.names.find(kind, member)
        if not found:
            return 0
        return self.memory.number(structure + found[0], self.names.width(found[1]))

    def chain(self, first, kind, member):
        """A list: to its end, or to where it is a ring."""
        at = first
        while at:
            yield at
            at = self.get(at, kind, member)
            if at == first:
                return


class Class:
    """at: of its J9Class; mirror: its class object; offsets: of the references in an object."""


class Vm(Structures):
    """objects: address -> (class, bytes, elements or None, references)."""

    def __init__(self, path):
        super().__init__(path)
        known = self.names.constants
        compressed = self.get(self.vm, "J9JavaVM", "extendedRuntimeFlags2") & \
            known["J9_EXTENDED_RUNTIME2_COMPRESS_OBJECT_REFERENCES"] if known.get("MIXED_REFERENCE_MODE") else \
            known.get("J9VM_GC_COMPRESSED_POINTERS")
        self.slot = 4 if compressed else self.word
        self.shift = self.get(self.vm, "J9JavaVM", "compressedPointersShift") if compressed else 0
        self.align = self.get(self.get(self.vm, "J9JavaVM", "omrVM"), "OMR_VM", "_objectAlignmentInBytes")
        behind = "WithDataAddress" if self.get(self.vm, "J9JavaVM", "isIndexableDataAddrPresent") else ""
        self.head, self.split_head = (
            self.names.size["J9IndexableObject%s%s%s" % (behind, form, "Compressed" if compressed else "Full")]
            for form in ("Contiguous", "Discontiguous"))
        self.classes = {}
        for address in self.class_addresses():
            self.class_at(address)
        self.objects = dict(self.walk())

    # --- classes -----------------------------------------------------------------------------------------------

    def class_addresses(self):
        ram = self.names.constants.get("MEMORY_TYPE_RAM_CLASS", 0x10000)
        every = self.get(self.vm, "J9JavaVM", "classMemorySegments")
        for s in self.chain(self.get(every, "J9MemorySegmentList", "nextSegment"), "J9MemorySegment", "nextSegment"):
            if self.get(s, "J9MemorySegment", "type") & ram:
                first = self.memory.number(self.get(s, "J9MemorySegment", "heapBase"), self.word)
                yield from self.chain(first, "J9Class", "nextClassInSegment")

    def relative(self, at, kind, member):
        """The address that a member tells by its distance from itself."""
        at += self.names.find(kind, member)[0]
        away = self.memory.number(at, 4)
        return at + away - ((away >> 31) << 32)

    def text(self, address):
        n = self.memory.number(address, 2)
        halves = self.memory.bytes(address + 2, n).decode("utf-8", "surrogatepass")  # of letters beyond the BMP
        return halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def class_at(self, address):
        if address in self.classes:
            return self.classes[address]
        if self.get(address, "J9Class", "eyecatcher") != 0x99669966:
            raise LookupError("no class at %#x" % address)
        c = self.classes[address] = Class()
        c.at = address
        flags, c.rom = self.get(address, "J9Class", "classDepthAndFlags"), self.get(address, "J9Class", "romClass")
        known = self.names.constants
        c.array, c.shape = bool(flags & known["J9AccClassRAMArray"]), flags >> 16 & 0xe
        c.dead = bool(flags & known["J9AccClassDying"])
        c.mirror = self.get(address, "J9Class", "classObject")
        c.size = self.get(address, "J9Class", "totalInstanceSize")
        c.hash_at = self.get(address, "J9Class", "backfillOffset")
        depth, supers = flags & known["J9AccClassDepthMask"], self.get(address, "J9Class", "superclasses")
        c.parents = [self.memory.number(supers + self.word * i, self.word) for i in range(depth)]
        c.loader = self.get(self.get(address, "J9Class", "classLoader"), "J9ClassLoader", "classLoaderObject")
        c.name = self.text(self.relative(c.rom, "J9ROMClass", "className"))
        if c.array:
            c.shift = self.get(c.rom, "J9ROMArrayClass", "arrayShape") & 0xffff
            if c.shape == POINTERS:
                leaf = self.class_at(self.get(address, "J9ArrayClass", "leafComponentType")).name
                c.name = "[" * self.get(address, "J9ArrayClass", "arity") + LETTER.get(leaf, "L%s;" % leaf)
        else:
            bits = self.bits(address, c.size // self.slot)
            c.offsets = [self.slot * (1 + i) for i, bit in enumerate(bits) if bit == "1"]
        return c

    def bits(self, address, n):
        """The bitmap of references, the first slot first."""
        description = self.get(address, "J9Class", "instanceDescription")
        if description & 1:
            return format(description >> 1, "0%db" % max(n, 1))[::-1][:n]
        words = (self.memory.number(description + self.word * i, self.word) for i in range(-(-n // (8 * self.word))))
        return "".join(format(w, "0%db" % (8 * self.word))[::-1] for w in words)[:n]

    def kin(self, c):
        """Objects of all that a class derives from: superclasses and interfaces."""
        found = set()
        for a in [c.at] + c.parents:
            found.update(self.get(t, "J9ITable", "interfaceClass")
                         for t in self.chain(self.get(a, "J9Class", "iTable"), "J9ITable", "next"))
        return {self.class_at(a).mirror for a in found.union(c.parents)}

    def is_number(self, c, i):
        """Is this constant an int, float, long or double?  Four kinds are in a word."""
        kinds = self.relative(c.rom, "J9ROMClass", "cpShapeDescription")
        return self.memory.number(kinds + i // 4 * 4, 4) >> i % 4 * 8 & 0xff in NUMBERS

    def side_tables(self, c):
        """Words of the constant pool, call sites and the like, but for numbers: objects, classes, and what else."""
        found = set()
        if c.array:
            return found
        for table, count, words in (("ramConstantPool", "ramConstantPoolCount", 2),
                                    ("callSites", "callSiteCount", 1),
                                    ("invokeCache", "invokeCacheCount", 1), ("methodTypes", "methodTypeCount", 1),
                                    ("varHandleMethodTypes", "varHandleMethodTypeCount", 1)):
            at, n = self.get(c.at, "J9Class", table), self.get(c.rom, "J9ROMClass", count)
            held = self.memory.words(at, n * words, self.word) if at and n else ()
            found.update(w for i, w in enumerate(held) if words == 1 or not self.is_number(c, i // words))
        return found

    # --- objects -----------------------------------------------------------------------------------------------

    def regions(self):
        def region(at):
            low, high, span = (self.get(at, "MM_HeapRegionDescriptor", m)
                               for m in ("_lowAddress", "_highAddress", "_regionsInSpan"))
            return low, low + (high - low) * max(1, span), self.get(at, "MM_HeapRegionDescriptor", "_regionType")

        manager = self.get(self.get(self.vm, "J9JavaVM", "gcExtensions"), "MM_GCExtensions", "heapRegionManager")
        table, n, stride, more = (self.get(manager, "MM_HeapRegionManager", m) for m in (
            "_regionTable", "_tableRegionCount", "_tableDescriptorSize", "_auxRegionDescriptorList"))
        found = [region(at) for at in self.chain(more, "MM_HeapRegionDescriptor", "_nextRegion")]
        covered = 0
        for at in range(table, table + n * stride, stride):
            if at >= covered and self.get(at, "MM_HeapRegionDescriptor", "_isAllocated"):
                found.append(region(at))
                covered = at + stride * max(1, self.get(at, "MM_HeapRegionDescriptor", "_regionsInSpan"))
        return sorted(r[:2] for r in found if r[2] in HOLDS)

    def taken(self):
        """Begin -> end of what threads have taken for objects to come."""
        found = {}
        for thread in self.chain(self.get(self.vm, "J9JavaVM", "mainThread"), "J9VMThread", "linkNext"):
            for a, b in (("heapAlloc", "heapTop"), ("nonZeroHeapAlloc", "nonZeroHeapTop")):
                begin, end = self.get(thread, "J9VMThread", a), self.get(thread, "J9VMThread", b)
                if begin < end:
                    found[begin] = end
            local = self.names.find("J9VMThread", "allocateThreadLocalHeap")
            if local:
                begin, end = (self.get(thread + local[0], "J9ModronThreadLocalHeap", m)
                              for m in ("realHeapAlloc", "realHeapTop"))
                if 0 < begin < end:
                    found[begin] = end
        return found

    def measure(self, at, c, moved):
        """Bytes, elements, where elements begin."""
        if not c.array:
            size, hash_end, length, head = self.slot + c.size, c.hash_at + 4, None, 0
        else:
            length, head = self.memory.number(at + self.slot, 4), self.head
            if not length:
                length, head = self.memory.number(at + self.slot + 4, 4), self.split_head
            size = head + -(-(length << c.shift) // self.word) * self.word
            hash_end = -(-(head + (length << c.shift)) // 4) * 4 + 4
        size = max(size, hash_end) if moved else size
        return max(16, -(-size // self.align) * self.align), length, head

    def references(self, at, c, length, head):
        if c.array and c.shape != POINTERS:
            return []
        offsets = range(head, head + length * self.slot, self.slot) if c.array else c.offsets
        if c.array and not self.memory.number(at + self.slot, 4):
            return []
        found = (self.memory.number(at + o, self.slot) << self.shift for o in offsets)
        return [t for t in found if t]

    def walk(self):
        taken, free = self.taken(), self.names.find("MM_HeapLinkedFreeHeader", "_size")[0]
        for low, high in self.regions():
            at = low
            while at < high:
                first = self.memory.number(at, self.slot)
                if at in taken:
                    at = taken[at]
                elif first & 1:
                    at += self.word if first & 2 else self.memory.number(at + free, self.word)
                else:
                    c = self.class_at(first & ~0xff)
                    size, length, head = self.measure(at, c, first & 2)
                    if not c.dead:
                        yield at, (c, size, length, self.references(at, c, length, head))
                    at += size
