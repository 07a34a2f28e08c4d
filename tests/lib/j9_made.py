# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes tiny system dumps of OpenJ9: Made(...).core() is the file, .plan what is in it."""

import j9_program
from j9_memory import ARRAY, DYING, RAM_CLASS, Description, Memory, up

MIXED, REFERENCES, BYTES, LONGS = 14, 12, 2, 6
SMALL, LARGE, LEAF, ORDERED, ORDERED_MARKED, BUMP, BUMP_MARKED = 2, 3, 4, 5, 7, 8, 10  # types of regions
FREE = 1
HEADS = {  # bytes before elements: behind the head, and elsewhere
    (8, 4): (8, 16, "Compressed"), (8, 8): (16, 16, "Full"), (4, 4): (8, 12, "Full"),
}


class Class:
    def __init__(self, name, above, size, slots, array=False, shape=MIXED, shift=0, leaf=None, arity=0, gap=None):
        self.name, self.above, self.size, self.slots, self.array = name, above, size, slots, array
        self.shape, self.shift, self.leaf, self.arity, self.gap = shape, shift, leaf, arity, gap
        self.statics, self.interfaces, self.of_array, self.dying = [], [], None, False
        self.at = self.object = 0
        self.lock = None

    def title(self):
        """As dumps have it."""
        return self.name.replace("/", ".")


class Plan:
    """What is in the core: of each object (class, kind, size, length, addresses it refers to)."""

    def __init__(self):
        self.objects, self.roots, self.threads = {}, [], []


class Made:
    """Variants: word, big, compressed, shift; collector "gencon", "balanced" (arrays in leaves, marked regions),
    "offheap" (the same with elements outside of the heap) or "metronome" (cells)."""

    THIRD = "Node", "Dead", "Fitting"  # and arrays: classes of a third loader

    def __init__(self, word=8, big=False, compressed=True, shift=3, collector="gencon", seed=1, without=(), align=8):
        self.align = align
        self.word, self.big, self.compressed = word, big, compressed and word == 8
        self.slot = 4 if self.compressed else word
        self.shift = shift if self.compressed else 0
        self.collector, self.outside = collector, collector == "offheap"
        self.regional = collector in ("balanced", "offheap")
        head, split, title = HEADS[word, self.slot]
        between = "WithDataAddress" if self.outside else ""
        self.head, self.split = (head + 8, split + 8) if self.outside else (head, split)
        self.d = Description(word, big, seed, without, {
            "J9IndexableObject%sContiguous%s" % (between, title): self.head,
            "J9IndexableObject%sDiscontiguous%s" % (between, title): self.split})
        low, high = 0x20000000, 0x7f5500000000 if word == 8 else 0xe0000000
        heap = 0x140000000 if self.compressed else 0x7e1200000000 if word == 8 else 0x90000000
        self.m = Memory(self.d, {"low": low, "vm": high, "marks": high + 0x10000000, "heap": heap,
                                 "more": heap + 0x100000, "third": heap + 0x180000,
                                 "leaves": heap + 0x200000, "outside": high + 0x800000})
        self.plan, self.classes, self.marked, self.area = Plan(), {}, [], "heap"
        self.cells = {"heap": 64, "third": 768} if collector == "metronome" else {}
        self.leaf, self.spine_most = 256, 256
        self.build()

    # --- classes -------------------------------------------------------------------------------------------

    def cls(self, name, above=None, slots=(), n_slots=0, **more):
        c = Class(name, above, up(n_slots * self.slot, 4), list(slots), **more)
        self.classes[name] = c
        c.at = self.m.new("low", "J9ArrayClass" if c.array else "J9Class", 256)
        return c

    def bitmap(self, c):
        wide, bits = 8 * self.word, sum(1 << i for i in c.slots)
        if c.size // self.slot < wide:
            return bits << 1 | 1
        at = self.m.take("vm", up(c.size // self.slot, wide) // 8, self.word)
        self.m.words(at, [bits >> i & ((1 << wide) - 1) for i in range(0, c.size // self.slot, wide)])
        return at

    def rom(self, c):
        """The names of some classes are before them."""
        m, structure = self.m, "J9ROMArrayClass" if c.array else "J9ROMClass"
        written = "[L" if c.shape == REFERENCES else c.name
        name = m.utf8("vm", written) if len(c.name) % 2 else None
        own = [f for f in j9_program.STATICS.get(c.name, ()) if f[1][0] in "L["]
        at = m.new("vm", structure, objectStaticCount=len(c.statics) + len(own))
        name = name or m.utf8("vm", written)
        m.relative(at, structure, "className", name)
        if c.array:
            m.set(at, structure, arrayShape=c.shift)
        else:
            m.set(at, structure, optionalFlags=1)
            source = m.take("vm", 4)
            m.put(source, m.utf8("vm", "Made.java") - source, 4)
            m.relative(at, structure, "optionalInfo", source)
        return at

    def above(self, c):
        return self.above(c.above) + [c.above] if c.above else []

    def write_class(self, c, after, loader):
        m, above = self.m, self.above(c)
        supers = m.take("vm", self.word * max(1, len(above)), self.word)
        m.words(supers, [s.at for s in above])
        flags = len(above) | c.shape << 16 | (ARRAY if c.array else 0) | (DYING if c.dying else 0)
        none = (1 << 8 * self.word) - 1
        rom = self.rom(c)
        m.set(c.at, "J9Class", eyecatcher=0x99669966, romClass=rom, superclasses=supers,
              classDepthAndFlags=flags, classLoader=loader, classObject=c.object, totalInstanceSize=c.size,
              instanceDescription=1 if c.array else self.bitmap(c), lockOffset=c.lock or none,
              backfillOffset=self.hash_at(c), arrayClass=c.of_array.at if c.of_array else 0,
              nextClassInSegment=after)
        if c.array:
            m.set(c.at, "J9ArrayClass", arity=c.arity, leafComponentType=c.leaf.at, componentType=c.leaf.at)
        if c.statics:
            statics = m.take("vm", self.word * len(c.statics), self.word)
            m.words(statics, c.statics)
            m.set(c.at, "J9Class", ramStatics=statics)
        j9_program.write_fields(self, c, rom)
        c.tables = c.above.tables if c.above else 0  # a superclass's list is the end
        for i in c.interfaces:
            c.tables = m.new("vm", "J9ITable", interfaceClass=i.at, next=c.tables)
        m.set(c.at, "J9Class", iTable=c.tables)

    def hash_at(self, c):
        return self.slot + (c.gap if c.gap is not None else c.size)

    # --- objects -------------------------------------------------------------------------------------------

    def token(self, address):
        assert address % (1 << self.shift) == 0
        return address >> self.shift

    def class_slot(self, at, c, flags):
        self.m.put(at, c.at | flags, self.slot)

    def place(self, size, area=None):
        """Where an object of so many bytes goes; metronome: in a cell."""
        area = area or self.area
        return self.m.take(area, up(size, self.cells.get(area, self.align)))

    def instance(self, c, refs=(), hashed=False, area=None):
        """refs: of the slots that are references, in their order; 0 null.  hashed: and moved since."""
        size = self.slot + c.size
        if hashed:
            size = max(size, self.hash_at(c) + 4)
        size = max(16, up(size, self.align))
        at = self.place(size, area)
        self.class_slot(at, c, 10 if hashed else 0)
        for i in range(c.size // self.slot):  # what is no reference looks like one
            self.m.put(at + self.slot + i * self.slot, 0x11111110 + i, self.slot)
        for slot in c.slots:
            self.m.put(at + self.slot * (1 + slot), 0, self.slot)
        if hashed:
            self.m.put(at + self.hash_at(c), 0x7ea57ea5, 4)
        self.point(at, c, refs)
        self.note(at, c, "instance", size, None, refs)
        return at

    def point(self, at, c, refs):
        for slot, target in zip(c.slots, refs):
            self.m.put(at + self.slot * (1 + slot), self.token(target), self.slot)

    def note(self, at, c, kind, size, length, refs):
        self.marked.append(at)
        self.plan.objects[at] = (c.title(), kind, size, length, sorted(r for r in refs if r))

    def form(self, length, c):
        """Where elements go, and bytes of the spine with each of them and of what is elsewhere."""
        bytes_ = up(length << c.shift, self.word)
        padding = 8 - self.slot if self.slot < self.word else 0
        n = -(-bytes_ // self.leaf)
        if not self.regional or self.head + bytes_ + self.align <= self.spine_most:
            return ("split", self.split, 0) if self.regional and not length else ("behind", self.head + bytes_, 0)
        if self.outside:
            return "outside", self.head, bytes_
        if bytes_ % self.leaf:
            spine = self.split + padding + n * self.slot + bytes_ % self.leaf
            if up(spine, self.align) + self.align <= self.spine_most:
                return "last", spine, (n - 1) * self.leaf
        return "split", self.split + padding + n * self.slot, n * self.leaf

    def array(self, c, length, refs=(), hashed=False, area=None):
        """refs: of each element, as far as they go."""
        form, spine, elsewhere = self.form(length, c)
        size = spine
        if hashed:
            exact = spine - up(length << c.shift, self.word) + (length << c.shift)
            size = max(size, up(exact, 4) + 4)
        size = max(16, up(size, self.align))
        at = self.place(size, area)
        self.class_slot(at, c, 10 if hashed else 0)
        split = form in ("split", "last") or not length
        self.m.put(at + self.slot + (4 if split else 0), length, 4)
        places = self.elements(at, form, length << c.shift, spine)
        for i in range(length):
            place = places[(i << c.shift) // self.leaf] + (i << c.shift) % self.leaf
            value = (self.token(refs[i]) if i < len(refs) else 0) if c.shape == REFERENCES else 0x55
            self.m.put(place, value, 1 << c.shift)
        kind = "object_array" if c.shape == REFERENCES else "primitive_array"
        self.note(at, c, kind, size + elsewhere, length, refs)
        return at

    def elements(self, at, form, n, spine):
        """Of each leaf's elements the address."""
        if form in ("behind", "outside"):
            first = at + self.head if form == "behind" else self.m.take("outside", max(n, 8))
            if self.outside:
                title = HEADS[self.word, self.slot][2]
                self.m.set(at, "J9IndexableObjectWithDataAddressContiguous" + title, dataAddr=first)
            return [first + i for i in range(0, n, self.leaf)]
        count = -(-up(n, self.word) // self.leaf)
        places = [self.m.take("leaves", self.leaf, self.leaf) for _ in range(count - (form == "last"))]
        if form == "last":
            places.append(at + up(self.split + count * self.slot, 8 if self.slot < self.word else self.slot))
        for i, place in enumerate(places):
            self.m.put(at + self.split + i * self.slot, self.token(place), self.slot)
        return places

    # --- what nobody should find ---------------------------------------------------------------------------

    def hole(self, size, area=None):
        area = area or self.area
        size = up(size, self.cells.get(area, self.word if self.align == 8 else self.align))
        at = self.m.take(area, size, self.word)
        self.m.put(at, 3 if size == self.word else 1, self.slot)
        if size > self.word:
            self.m.set(at, "MM_HeapLinkedFreeHeader", _size=size)

    def garbage(self, n=3):
        """Looks like objects."""
        first = self.m.take(self.area, 0)
        for _ in range(n):
            at = self.m.take(self.area, 64)
            self.class_slot(at, self.classes["Node"], 0)
        return first, self.m.take(self.area, 0)

    def not_there(self):
        """Between objects: holes and a dead object, or what is not marked."""
        if self.regional:
            self.garbage(1)
            return
        self.hole(64)
        if not self.cells and self.align == 8:
            self.hole(self.word)
            self.hole(self.word)
        dead = self.classes["Dead"]
        at = self.place(max(16, up(self.slot + dead.size, self.align)))
        self.class_slot(at, dead, 0)
        self.m.put(at + self.slot, self.classes["Node"].at, self.slot)  # looks like an object where none begins

    # --- all of it -----------------------------------------------------------------------------------------

    def make_classes(self):
        top = self.cls("java/lang/Object")
        longs = 8 // self.slot
        self.cls("java/lang/Class", top, [0, 1], 2 + longs)
        self.cls("java/lang/String", top, [0], 2)
        self.cls("java/lang/ClassLoader", top, [0], 1)
        self.cls("java/lang/Thread", top, [1], 3)
        face, other = self.cls("Face", top), self.cls("OtherFace", top)
        node = self.cls("Node", top, [0, 2], 3)
        node.interfaces = [face]
        sub = self.cls("SubNode", node, [0, 2, 3], 4)
        sub.interfaces = [other]
        self.cls("WithGap", top, [0], 3, gap=2 * self.slot)
        wide = 8 * self.word
        self.cls("Wide", top, [0, 5, wide - 2, wide - 1, wide, wide + 5], wide + 6)
        self.cls("Exact", top, [1, wide - 1], wide)
        self.cls("Fitting", top, [0, wide - 2], wide - 1)
        self.cls("Dead", top, [0], 2).dying = True
        for name, above in ("Fields", top), ("Lock", top), ("SubFields", None):
            j9_program.lay_out(self, self.cls(name, above or self.classes["Fields"]), name == "Lock")
        for primitive, name, shape, shift in ("byte", "[B", BYTES, 0), ("long", "[J", LONGS, 3):
            leaf = self.cls(primitive)
            leaf.of_array = self.cls(name, top, array=True, shape=shape, shift=shift, leaf=leaf, arity=1)
        name, of = "Node", node
        for arity in 1, 2:
            name = "[" + ("LNode;" if arity == 1 else name)
            of.of_array = self.cls(name, top, array=True, shape=REFERENCES, shift=2 if self.slot == 4 else 3,
                                   leaf=node, arity=arity)
            of = of.of_array

    def make_objects(self):
        c = self.classes
        bytes_, longs, nodes = c["[B"], c["[J"], c["[LNode;"]
        for k in c.values():
            k.object = self.instance(c["java/lang/Class"]) if not k.dying else 0
        self.loaders = [self.instance(c["java/lang/ClassLoader"]) for _ in range(3)]
        self.not_there()
        text = self.array(bytes_, 5)
        self.first = self.instance(c["java/lang/String"], [text])
        node = [self.instance(c["Node"]) for _ in range(6)]
        self.not_there()
        node.append(self.instance(c["Node"], [node[0], node[1]], hashed=True))
        node.append(self.instance(c["WithGap"], [node[6]], hashed=True))
        node.append(self.instance(c["SubNode"], [0, node[2], node[3]], hashed=True))
        self.array(bytes_, 0)
        self.array(bytes_, 11, hashed=True)
        self.array(bytes_, 13, hashed=True)
        self.array(longs, 3, hashed=True)
        few = self.array(nodes, 3, [node[5], 0, node[4]])
        self.not_there()
        self.array(c["[[LNode;"], 1, [few])
        self.array(nodes, 0)
        self.local = self.garbage()
        self.not_there()
        self.area = "third" if self.cells else "more"
        for name in "Wide", "Exact", "Fitting":
            self.instance(c[name], [node[i % 6] for i in range(len(c[name].slots))])
            self.not_there()
        for n in 55, 57, 64, 70, 128, 150:
            self.array(nodes, n, [node[i % 7] for i in range(n)])
        for n in 230, 240, 250, 256, 300, 512, 700:
            self.array(bytes_, n)
            self.not_there()
        self.hole(64)
        if self.cells:
            self.array(longs, 500, area="more")
        self.node, self.named = node, {"node": node[6], "text": text}
        self.area = "third" if self.cells else "more"
        j9_program.make_instances(self)
        at, refs = node[0], [node[0], self.first]
        self.point(at, c["Node"], refs)
        self.plan.objects[at] = self.plan.objects[at][:4] + (sorted(refs),)
        c["Node"].statics = [node[1], 0, node[6]]

    def link_classes(self):
        """Class objects, and what they refer to."""
        c, loader = self.classes, [self.m.new("vm", "J9ClassLoader", classLoaderObject=o) for o in self.loaders]
        self.plan.roots += [(self.loaders[0], "System class"), (self.loaders[1], "System class")]
        after = 0
        for i, k in enumerate(c.values()):
            which = 2 if k.leaf or k.name in self.THIRD else i % 2
            self.write_class(k, after, loader[which])
            after = k.at
            if k.dying:
                continue
            fields = [self.loaders[which], self.first]
            self.point(k.object, c["java/lang/Class"], fields)
            kin = self.above(k) + [x for x in k.interfaces] + ([k.of_array] if k.of_array else [])
            own = [self.named[f[2]] for f in j9_program.STATICS.get(k.name, ()) if f[1][0] in "L["]
            refs = fields + [self.loaders[which]] + k.statics + own + [x.object for x in kin]
            title, _, size, length, _ = self.plan.objects[k.object]
            self.plan.objects[k.object] = (title, "class", size, length, sorted(r for r in refs if r))
            if which < 2:
                self.plan.roots.append((k.object, "System class"))
        self.loader = loader
        self.last_class = after

    def segments(self):
        """Two of classes, one that is none."""
        m, every = self.m, list(self.classes.values())
        middle = every[len(every) // 2]
        last = 0
        for kind, first in (RAM_CLASS, middle.at), (0x10000, 0), (RAM_CLASS | 1, every[-1].at):
            base = m.take("vm", 16)
            m.put(base, first, self.word)
            last = m.new("vm", "J9MemorySegment", type=kind, heapBase=base, nextSegment=last)
        m.set(every[len(every) // 2 + 1].at, "J9Class", nextClassInSegment=0)
        self.segment = last
        return m.new("vm", "J9MemorySegmentList", nextSegment=last)

    def region(self, at, area, kind, span=1, **more):
        base, data = self.m.areas[area]
        if kind != LARGE and len(data) % (self.cells.get(area, 8) * span):
            self.hole(self.word, area)
        self.m.set(at, "MM_HeapRegionDescriptorSegregated", _lowAddress=base, _highAddress=base + len(data) // span,
                   _regionType=kind, _regionsInSpan=span, _isAllocated=1, **more)

    def make_regions(self):
        m, structure = self.m, "MM_HeapRegionDescriptorSegregated"
        stride = self.d.size[structure] + 24
        table = m.take("vm", 5 * stride)
        entry = [table + i * stride for i in range(5)]
        more = 0
        for i in 1, 2, 3:  # none of these counts: the first is the second half of the first region
            m.set(entry[i], structure, _lowAddress=m.areas["heap"][0], _highAddress=m.areas["heap"][0] + 4096,
                  _regionType=FREE if i == 2 else ORDERED, _regionsInSpan=0, _isAllocated=i != 3)
        if self.cells:
            sizes = m.new("vm", "OMR_SizeClasses")
            m.words(sizes + m.offset("OMR_SizeClasses", "smallCellSizes"), [0, 768, 8, 64])
            self.region(entry[0], "heap", SMALL, 2, _sizeClass=3, _segregatedSizeClasses=sizes)
            self.region(entry[4], "third", SMALL, _sizeClass=1, _segregatedSizeClasses=sizes)
            more = m.new("vm", structure)
            self.region(more, "more", LARGE)
        elif self.regional:
            self.region(entry[0], "heap", ORDERED_MARKED, 2)
            self.region(entry[4], "more", BUMP_MARKED)
            if m.areas["leaves"][1]:
                more = m.new("vm", structure)
                self.region(more, "leaves", LEAF)
        else:
            self.region(entry[0], "heap", ORDERED)
            m.set(entry[1], structure, _isAllocated=0)
            more = m.new("vm", structure)
            end = m.areas["more"][0] + len(m.areas["more"][1])
            for word in 0xfff8, 0xfff8, 0xfff8:  # nothing is behind the next object but what was there before
                m.put(m.take("more", self.word), word, self.word)
            self.region(more, "more", BUMP, _memoryPool=m.new("vm", "MM_MemoryPoolBumpPointer", _allocatePointer=end))
        self.aux = more
        return m.new("vm", "MM_HeapRegionManager", _regionTable=table, _tableRegionCount=5,
                     _tableDescriptorSize=stride, _auxRegionDescriptorList=more)

    def marks(self):
        """A collector with a map of the objects."""
        m, base = self.m, self.m.areas["heap"][0]
        wide = 8 * self.word
        end = max(self.marked) + 8
        bits = m.take("marks", up((end - base) // 8, wide) // 8 + self.word, self.word)
        words = {}
        for at in self.marked:
            word, bit = divmod((at - base) // 8, wide)
            words[word] = words.get(word, 0) | 1 << bit
        for word, value in words.items():
            m.put(bits + word * self.word, value, self.word)
        marked = m.new("vm", "MM_MarkMap", _heapBase=base, _heapMapBits=bits)
        return m.new("vm", "MM_IncrementalGenerationalGC",
                     _markMapManager=m.new("vm", "MM_MarkMapManager", _previousMarkMap=marked))

    def extensions(self):
        m, at = self.m, self.m.new("vm", "MM_GCExtensions", heapRegionManager=self.make_regions())
        m.set(at, "MM_GCExtensions", dynamicClassUnloading=1)
        if self.regional:
            m.set(at, "MM_GCExtensions", _isVLHGC=1, _globalCollector=self.marks(),
                  isVirtualLargeObjectHeapEnabled=int(self.outside))
        model = at + m.offset("MM_GCExtensions", "indexableObjectModel")
        if model == at:  # the description leaves it out
            return at
        m.set(model, "GC_ArrayletObjectModelBase", _arrayletRangeBase=m.areas["heap"][0],
              _arrayletRangeTop=m.areas["heap"][0] + 0x400000,
              _largestDesirableArraySpineSize=self.spine_most if self.regional else (1 << 8 * self.word) - 1)
        return at

    def pool(self, n, size, fill):
        """A J9Pool with so many puddles: of two elements of each the second is in use."""
        m, puddles = self.m, []
        for i in range(n):
            head = m.new("vm", "J9PoolPuddle", more=4, usedElements=1)
            m.put(head + self.d.size["J9PoolPuddle"], 0xbfffffff, 4)
            elements = m.take("vm", 2 * size, 8)
            m.put(elements, 0xdead0000, self.word)
            fill(i, elements + size)
            m.relative(head, "J9PoolPuddle", "firstElementAddress", elements)
            puddles.append(head)
        for a, b in zip(puddles, puddles[1:]):
            m.relative(a, "J9PoolPuddle", "nextPuddle", b)
        first = m.new("vm", "J9PoolPuddleList")
        m.relative(first, "J9PoolPuddleList", "nextPuddle", puddles[0])
        at = m.new("vm", "J9Pool", elementSize=size, elementsPerPuddle=2)
        m.relative(at, "J9Pool", "puddleList", first)
        self.puddles = puddles
        return at

    def threads(self):
        """A ring of two: one with frames, which has the monitors, and one that waits."""
        m, held = self.m, self.node[7:9]
        end, registers = j9_program.stack_of(self, [held[0], self.node[5], self.node[4]])
        words = m.take("vm", 8 * self.word, self.word)
        m.words(words, [7, held[1], 0, held[1] + self.slot, 0, 0, 1, 0x1234])
        main = self.thread("main", end, registers)
        worker = self.thread("worker", words + 8 * self.word, {"sp": words})
        m.set(main, "J9VMThread", linkNext=worker)
        m.set(worker, "J9VMThread", linkNext=main)
        locks = self.with_fields["Lock"][0], self.inflated
        self.plan.roots += [(o, "Java local") for o in held + self.node[4:6] + [locks[0]]]
        self.plan.roots += [(o, "Busy monitor") for o in locks] + [(locks[1], "Thread block")]
        return [main, worker]

    def thread(self, name, end, registers):
        m, i = self.m, len(self.plan.threads)
        text = m.take("vm", len(name) + 1)
        m.write(text, name.encode())
        stack = m.new("vm", "J9JavaStack", end=end, size=end - registers["sp"])
        os_thread = m.new("low", "J9AbstractThread", tid=100 + i)
        at = m.new("low", "J9VMThread", align=256, osThread=os_thread, threadObject=self.thread_object[i],
                   stackObject=stack, **registers)
        omr = m.new("vm", "OMR_VMThread", threadName=text, _language_vmthread=at)
        m.set(at, "J9VMThread", omrVMThread=omr)
        tls = m.offset("J9AbstractThread", "tls")
        if tls:
            m.put(os_thread + tls + 2 * self.word, omr, self.word)
        self.plan.roots.append((self.thread_object[i], "Thread"))
        self.plan.threads.append(name)
        self.os_threads.append(os_thread)
        return at

    def build(self):
        m = self.m
        self.make_classes()
        m.take("low", 100)
        m.write(m.take("low", 8, 1), b"J9VMRAS\0")  # not where the VM is
        m.take("low", 100)
        self.thread_object = [self.instance(self.classes["java/lang/Thread"]) for _ in range(2)]
        self.make_objects()
        self.link_classes()
        self.os_threads = []
        self.ring = threads = self.threads()
        if not self.regional:
            low, high = self.local
            half = low + 64
            m.set(threads[0], "J9VMThread", heapAlloc=low, heapTop=half)
            m.set(threads[1] + m.offset("J9VMThread", "allocateThreadLocalHeap"), "J9ModronThreadLocalHeap",
                  realHeapAlloc=half, realHeapTop=high)
        hidden = []
        for kind in "I" if self.slot == 4 else "J", "LObject;":
            hidden.append(m.new("vm", "J9ROMFieldShape"))
            j9_program.field_shape(self, hidden[-1], "hidden", kind, False)
        monitors = j9_program.make_monitors(self, threads[0], self.os_threads[0], threads[1])
        globals_ = self.pool(2, self.word, lambda i, at: m.put(at, self.node[2 + i], self.word))
        self.plan.roots += [(self.node[2], "JNI global"), (self.node[3], "JNI global")]
        self.vm = m.new("vm", "J9JavaVM", gcExtensions=self.extensions(),
                        extendedRuntimeFlags2=0x40 if self.compressed else 0, compressedPointersShift=self.shift,
                        mainThread=threads[0], omrVM=m.new("vm", "OMR_VM", _objectAlignmentInBytes=self.align, _vmThreadKey=3),
                        isIndexableDataAddrPresent=int(self.outside), systemClassLoader=self.loader[0],
                        applicationClassLoader=self.loader[1], jniGlobalReferences=globals_,
                        hiddenLockwordFieldShape=hidden[0], hiddenFinalizeLinkFieldShape=hidden[1],
                        monitorTableList=monitors, vmArgsArray=j9_program.arguments(self),
                        arrayletLeafSize=self.leaf if self.regional else 0, classMemorySegments=self.segments(),
                        exclusiveAccessState=7)
        blob = self.d.blob()
        description = m.take("vm", len(blob))
        m.write(description, blob)
        ras = m.new("low", "J9RAS", vm=self.vm, pid=4711)
        m.write(ras, b"J9VMRAS\0")
        for at, value in (8, 0xaa55aa55), (12, 0xaa55aa55), (16, 5 << 16):
            m.put(ras + at, value, 4)
        m.put(ras + 24, description, self.word)

    def core(self, **options):
        machines = {(8, False): 62, (8, True): 22, (4, False): 3, (4, True): 20}  # x86-64, s390x, i386, ppc
        return self.m.elf(machines[self.word, self.big], **options)
