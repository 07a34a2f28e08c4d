# SPDX-License-Identifier: GPL-3.0-or-later
"""References of an HPROF dump by where they stand in its bytes, and copies of the dump without some.

A reference is a tuple (holder, label, position, target); label is the field as cairn writes it: a name, "Base.name",
"static NAME", "[17]", "<signers>", "<protection_domain>" or "<constant>".  What a dump implies (an
object's class, a class's superclass and loader) has no bytes of its own and cannot be taken away.
"""

from hprof import PRIMITIVES, read

ROOT_TAGS = {1, 2, 3, 4, 5, 6, 7, 8, 0xFF}


class Edit:
    """The last heap of a dump, to be edited."""

    def __init__(self, path):
        self.dump = d = read(path)
        d.classes = {}
        self.places, self.roots, self.by_class = {}, {}, {}
        self.own, self.instance_class = {}, {}
        for tag, body, end in d.records(-1):
            address = d.id(body)
            if tag in ROOT_TAGS:
                if address:
                    self.roots.setdefault(address, []).append((body - 1, end, tag))
                continue
            self.places[address] = (tag, body, end)
            if tag in (0x21, 0x22):
                c = d.id(body + d.ids + (4 if tag == 0x21 else 8))
                self.instance_class[address] = c
                self.by_class.setdefault(c, []).append(address)
        self.roots = {a: r for a, r in self.roots.items() if a in self.places}
        self.names = {a: d.class_name(a) for a in d.classes}
        self.by_name = {}
        self.called = {}
        for a, name in self.names.items():
            self.by_name.setdefault(name, []).append(a)
        self._into, self._out = None, {}

    def name(self, where):
        return self.dump.strings[self.dump.id(where)].decode("utf-8", "replace")

    def class_slots(self, address):
        """What the record of a class refers to; its own fields are noted on the way: (name, type)."""
        d, s = self.dump, self.dump.ids
        _, body, end = self.places[address]
        found = [("<signers>", body + 3 * s + 4), ("<protection_domain>", body + 4 * s + 4)]
        at = body + 7 * s + 8
        n, at = d.u2(at), at + 2
        for _ in range(n):
            if d.data[at + 2] == 2:
                found.append(("<constant>", at + 3))
            at += 3 + d.width(d.data[at + 2])
        n, at = d.u2(at), at + 2
        for _ in range(n):
            if d.data[at + s] == 2:
                found.append(("static " + self.name(at), at + s + 1))
            at += s + 1 + d.width(d.data[at + s])
        n, at = d.u2(at), at + 2
        self.own[address] = [(self.name(at + i * (s + 1)), d.data[at + i * (s + 1) + s]) for i in range(n)]
        assert at + n * (s + 1) == end
        return found

    def own_fields(self, c):
        if c not in self.own:
            self.class_slots(c)
        return self.own[c]

    def lineage(self, c):
        """The class and its superclasses."""
        found = []
        while c in self.dump.classes and c not in found:
            found.append(c)
            c = self.dump.classes[c]["super"]
        return found

    def fields(self, address):
        """(declaring class, name, position) of each field of an instance that can hold a reference."""
        d, found = self.dump, []
        at = self.places[address][1] + 2 * d.ids + 8
        for c in self.lineage(self.instance_class[address]):
            for name, t in self.own_fields(c):
                if t == 2:
                    found.append((c, name, at))
                at += d.ids if t == 2 else PRIMITIVES[t][1]
        return found

    def words(self, of):
        """{(declaring class, name, position in the record): word}: "next", of a hidden field "Base.next", of the second
        of a class "next_2"."""
        if of not in self.called:
            words, below, briefs, at = {}, set(), set(), 2 * self.dump.ids + 8
            for c in self.lineage(of):
                names = [n for n, _ in self.own_fields(c)]
                brief = self.names[c].rsplit(".", 1)[-1]
                for i, (name, t) in enumerate(self.own_fields(c)):
                    twins = names[:i].count(name)
                    free = [k for k in range(2, len(names) + twins + 3) if "%s_%d" % (name, k) not in names]
                    word = "%s_%d" % (name, free[twins - 1]) if twins else name
                    owner = self.names[c] if brief in briefs else brief
                    words[c, name, at] = owner + "." + word if name in below else word
                    at += self.dump.ids if t == 2 else PRIMITIVES[t][1]
                below.update(names)
                briefs.add(brief)
            self.called[of] = words
        return self.called[of]

    def out(self, address):
        """The references of an object to objects of the dump."""
        if address not in self._out:
            self._out[address] = self.read_out(address)
        return self._out[address]

    def read_out(self, address):
        d = self.dump
        tag, body, _ = self.places[address]
        if tag == 0x20:
            found = self.class_slots(address)
        elif tag == 0x21:
            words = self.words(self.instance_class[address])
            found = [(words[c, name, at - self.places[address][1]], at) for c, name, at in self.fields(address)]
        elif tag == 0x22:
            found = [("[%d]" % i, body + 2 * d.ids + 8 + i * d.ids) for i in range(d.u4(body + d.ids + 4))]
        else:
            found = []
        return [(address, label, at, d.id(at)) for label, at in found if d.id(at) in self.places]

    def into(self, address):
        """The references that lead to an object."""
        if self._into is None:
            self._into = {}
            for a in self.places:
                for r in self.out(a):
                    self._into.setdefault(r[3], []).append(r)
        return self._into.get(address, [])

    def copy(self, path, references, roots=()):
        """Write the dump without these references and without the root records of these objects."""
        d = self.dump
        data = bytearray(d.data)
        for _, _, at, target in references:
            assert d.id(at) == target
            data[at:at + d.ids] = bytes(d.ids)
        gone = sorted({(start, end) for a in roots for start, end, _ in self.roots[a]}, reverse=True)
        for body, segment_end in d.heaps[-1]:
            less = sum(end - start for start, end in gone if body <= start < segment_end)
            if less:
                data[body - 4:body] = (segment_end - body - less).to_bytes(4, "big")
        for start, end in gone:
            del data[start:end]
        with open(path, "wb") as f:
            f.write(data)
