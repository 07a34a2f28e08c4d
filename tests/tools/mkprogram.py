#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small executables with DWARF as Go writes it, byte by byte; nothing in them can run.

    mkprogram.py DIRECTORY     writes plain.elf, mips.elf, packed.elf, moved.elf, hostile.elf, bare.elf

What they hold is what tests/unit/test_program.c expects of them; the fuzz corpus are the same files.
"""

import os
import struct
import sys
import zlib

DATA, BSS, TEXT, TYPES = 0x500000, 0x501000, 0x401000, 0x480000

# attributes and forms
NAME, SIZE, ENCODING, TYPE, LOCATION, MEMBER = 0x03, 0x0B, 0x3E, 0x49, 0x02, 0x38
LOW, HIGH, FRAME, COUNT = 0x11, 0x12, 0x40, 0x37
KIND, KEY, ELEMENT, EMBEDDED, RUNTIME, CAPTURED = 0x2900, 0x2901, 0x2902, 0x2903, 0x2904, 0x2907
ADDR, BLOCK1, DATA1, STRING, UDATA, REF = 0x01, 0x0A, 0x0B, 0x08, 0x0F, 0x10

ABBREV = {  # tag, children, attributes
    "unit": (0x11, 1, [(NAME, STRING)]),
    "base": (0x24, 0, [(NAME, STRING), (ENCODING, DATA1), (SIZE, DATA1), (KIND, DATA1), (RUNTIME, ADDR)]),
    "struct": (0x13, 1, [(NAME, STRING), (SIZE, UDATA), (KIND, DATA1), (RUNTIME, ADDR)]),
    "slice": (0x13, 1, [(NAME, STRING), (SIZE, UDATA), (KIND, DATA1), (RUNTIME, ADDR), (ELEMENT, REF)]),
    "member": (0x0D, 0, [(NAME, STRING), (MEMBER, UDATA), (TYPE, REF), (EMBEDDED, DATA1)]),
    "pointer": (0x0F, 0, [(NAME, STRING), (TYPE, REF), (KIND, DATA1), (RUNTIME, ADDR)]),
    "array": (0x01, 1, [(NAME, STRING), (SIZE, UDATA), (TYPE, REF), (KIND, DATA1), (RUNTIME, ADDR)]),
    "range": (0x21, 0, [(TYPE, REF), (COUNT, UDATA)]),
    "map": (0x16, 0, [(NAME, STRING), (TYPE, REF), (KIND, DATA1), (RUNTIME, ADDR), (KEY, REF), (ELEMENT, REF)]),
    "chan": (0x16, 0, [(NAME, STRING), (TYPE, REF), (KIND, DATA1), (RUNTIME, ADDR), (ELEMENT, REF)]),
    "interface": (0x16, 0, [(NAME, STRING), (TYPE, REF), (KIND, DATA1), (RUNTIME, ADDR)]),
    "alias": (0x16, 0, [(NAME, STRING), (TYPE, REF)]),
    "func": (0x15, 0, [(NAME, STRING), (SIZE, UDATA), (KIND, DATA1), (RUNTIME, ADDR)]),
    "variable": (0x34, 0, [(NAME, STRING), (LOCATION, BLOCK1), (TYPE, REF)]),
    "parameter": (0x05, 0, [(NAME, STRING), (TYPE, REF), (LOCATION, BLOCK1)]),
    "function": (0x2E, 1, [(NAME, STRING), (LOW, ADDR), (HIGH, ADDR), (FRAME, BLOCK1)]),
    "captured": (0x34, 0, [(NAME, STRING), (TYPE, REF), (CAPTURED, UDATA)]),
    "block": (0x0B, 1, [(LOW, ADDR), (HIGH, ADDR)]),
}
CODES = {name: i + 1 for i, name in enumerate(ABBREV)}


def uleb(n):
    out = b""
    while True:
        n, low = n >> 7, n & 0x7F
        out += bytes([low | (0x80 if n else 0)])
        if not n:
            return out


def sleb(n):
    out = b""
    while True:
        low, n = n & 0x7F, n >> 7
        done = (n == 0 and not low & 0x40) or (n == -1 and low & 0x40)
        out += bytes([low | (0 if done else 0x80)])
        if done:
            return out


class Program:
    def __init__(self, word=8, big=False, movable=False, packed=False):
        self.word, self.order = word, "big" if big else "little"
        self.end = ">" if big else "<"
        self.movable, self.packed = movable, packed
        self.info = b""
        self.marks, self.holes = {}, []  # where entries are; (offset in info, name of the entry wanted)
        self.symbols = []

    def number(self, n, size):
        return (n & ((1 << 8 * size) - 1)).to_bytes(size, self.order)

    def address(self, n):
        return self.number(n, self.word)

    def entry(self, abbrev, mark=None, **values):
        """Values by attribute; references by the mark of an entry, which may come later."""
        if mark:
            self.marks[mark] = len(self.info) + 11
        self.info += uleb(CODES[abbrev])
        for attribute, form in ABBREV[abbrev][2]:
            value = values[{NAME: "name", SIZE: "size", ENCODING: "encoding", TYPE: "type", LOCATION: "at",
                            MEMBER: "offset", LOW: "low", HIGH: "high", FRAME: "frame", COUNT: "count",
                            KIND: "kind", KEY: "key", ELEMENT: "element", EMBEDDED: "embedded",
                            RUNTIME: "runtime", CAPTURED: "captured"}[attribute]]
            if form == STRING:
                self.info += value.encode() + b"\0"
            elif form == ADDR:
                self.info += self.address(value)
            elif form == BLOCK1:
                self.info += bytes([len(value)]) + value
            elif form == DATA1:
                self.info += bytes([value])
            elif form == UDATA:
                self.info += uleb(value)
            else:
                self.holes.append((len(self.info), value))
                self.info += bytes(4)

    def done(self):
        self.info += b"\0"

    def members(self, *fields):
        for name, offset, kind in fields:
            self.entry("member", name=name, offset=offset, type=kind, embedded=0)
        self.done()

    def struct(self, name, size, *fields, runtime=0, kind=25):
        self.entry("struct", name, name=name, size=size, kind=kind, runtime=runtime)
        self.members(*fields)

    def pointer(self, name, to, runtime=0):
        self.entry("pointer", name, name=name, type=to, kind=22, runtime=runtime)

    def array(self, name, element, count, size):
        self.entry("array", name, name=name, size=size, type=element, kind=17, runtime=0)
        self.entry("range", type="int", count=count)
        self.done()

    def variable(self, name, address, kind):
        self.entry("variable", name=name, at=b"\x03" + self.address(address), type=kind)

    # --- what all of them hold

    def common(self):
        w = self.word
        self.entry("unit", name="main")
        self.entry("base", "int", name="int", encoding=5, size=w, kind=2, runtime=0x40)
        self.entry("base", "uint8", name="uint8", encoding=7, size=1, kind=8, runtime=0x80)
        self.pointer("*uint8", "uint8")
        self.entry("struct", "string", name="string", size=2 * w, kind=24, runtime=0xC0)
        self.members(("str", 0, "*uint8"), ("len", w, "int"))
        self.struct("main.Node", 5 * w, ("Name", 0, "string"), ("Next", 2 * w, "*main.Node"),
                    ("Any", 3 * w, "any"), runtime=0x100)
        self.entry("alias", "Node again", name="main.Node", type="main.Node")
        self.pointer("*main.Node", "Node again", 0x140)
        self.struct("runtime.eface", 2 * w, ("_type", 0, "*uint8"), ("data", w, "*uint8"))
        self.entry("interface", "any", name="interface {}", type="runtime.eface", kind=20, runtime=0x180)
        self.entry("slice", "[]main.Node", name="[]main.Node", size=3 * w, kind=23, runtime=0x1C0,
                   element="Node again")
        self.members(("array", 0, "*main.Node"), ("len", w, "int"), ("cap", 2 * w, "int"))
        self.array("[8]uint8", "uint8", 8, 8)
        self.array("[8]string", "string", 8, 16 * w)
        self.array("[3]main.Node", "Node again", 3, 15 * w)
        self.struct("bucket<string,string>", 8 + 33 * w, ("tophash", 0, "[8]uint8"),
                    ("keys", 8, "[8]string"), ("values", 8 + 16 * w, "[8]string"),
                    ("overflow", 8 + 32 * w, "*bucket"), kind=0)
        self.pointer("*bucket", "bucket<string,string>")
        self.struct("hash<string,string>", 6 * w, ("count", 0, "int"), ("B", w + 1, "uint8"),
                    ("buckets", 2 * w, "*bucket"), ("oldbuckets", 3 * w, "*bucket"), kind=0)
        self.pointer("*hash", "hash<string,string>")
        self.entry("map", "map", name="map[string]string", type="*hash", kind=21, runtime=0x200,
                   key="string", element="string")
        self.entry("func", "func()", name="func()", size=w, kind=19, runtime=0x240)
        self.variable("main.root", DATA, "*main.Node")
        self.variable("main.all", DATA + 4 * w, "[]main.Node")
        self.variable("main.table", BSS, "map")
        self.variable("main.three", BSS + 4 * w, "[3]main.Node")
        self.entry("function", name="main.walk", low=TEXT, high=TEXT + 0x40, frame=b"\x9c")
        # at the frame's base, 24 bytes below it, and half of it there and half in a register
        self.entry("parameter", name="n", type="*main.Node", at=b"\x9c")
        self.entry("parameter", name="m", type="*main.Node", at=b"\x91" + sleb(-24))
        self.entry("parameter", name="s", type="string",
                   at=b"\x91" + sleb(-40) + b"\x93" + uleb(w) + b"\x50\x93" + uleb(w))
        self.entry("block", low=TEXT + 0x10, high=TEXT + 0x20)
        self.entry("variable", name="inner", at=b"\x91" + sleb(-64), type="[]main.Node")
        self.done()
        self.done()
        self.entry("function", name="main.leaf", low=TEXT + 0x40, high=TEXT + 0x60, frame=b"\x9c")
        self.done()
        self.symbols = [("runtime.data", DATA, 0, 0), ("runtime.edata", DATA + 0x100, 0, 0),
                        ("runtime.bss", BSS, 0, 0), ("runtime.ebss", BSS + 0x200, 0, 0),
                        ("runtime.types", TYPES, 0, 0), ("runtime.etypes", TYPES + 0x1000, 0, 0),
                        ("main.walk", TEXT, 0x40, 2), ("main.asm", TEXT + 0x60, 0x20, 2),
                        ("main.other", BSS + 0x180, 0x20, 1)]

    def hostile(self):
        """What breaks a reader that believes it."""
        self.struct("bad.Self", 16, ("again", 0, "bad.Self"), ("n", 8, "int"))
        self.struct("bad.A", 16, ("b", 0, "bad.B"))
        self.struct("bad.B", 16, ("a", 0, "bad.A"))
        self.struct("bad.Outside", 16, ("far", 1 << 60, "int"), ("wide", 12, "int"), ("fine", 8, "int"))
        self.array("bad.Huge", "int", 1 << 61, 1 << 20)
        self.array("bad.Wide", "int", 3, 1 << 20)
        self.entry("alias", "loop", name="loop", type="loop again")
        self.entry("alias", "loop again", name="loop", type="loop")
        self.pointer("*loop", "loop")
        for i in range(60):
            self.struct("bad.Deep%d" % i, 512, ("in", 0, "bad.Deep%d" % (i + 1) if i < 59 else "int"))
        self.array("bad.Zero", "bad.Empty", 1 << 40, 0)
        self.struct("bad.Empty", 0)
        self.variable("bad.far", (1 << 8 * self.word) - 8, "bad.Outside")
        self.entry("map", "badmap", name="map[bad]bad", type="loop", kind=21, runtime=1 << 40, key="loop",
                   element="badmap")

    # --- the file

    def abbreviations(self):
        out = b""
        for name, (tag, children, attributes) in ABBREV.items():
            out += uleb(CODES[name]) + uleb(tag) + bytes([children])
            out += b"".join(uleb(a) + uleb(f) for a, f in attributes) + b"\0\0"
        return out + b"\0"

    def write(self, path, dwarf=True, symbols=True):
        w, e = self.word, self.end
        info = bytearray(self.info + b"\0")
        for at, mark in self.holes:
            info[at:at + 4] = self.number(self.marks[mark], 4)
        unit = struct.pack(e + "IHIB", len(info) + 7, 4, 0, w) + bytes(info)
        strings, table = b"\0", bytes(24 if w == 8 else 16)
        for name, value, size, kind in self.symbols:
            at = len(strings)
            strings += name.encode() + b"\0"
            table += struct.pack(e + "IBBHQQ", at, 16 + kind, 0, 1, value, size) if w == 8 else \
                struct.pack(e + "IIIBBH", at, value, size, 16 + kind, 0, 1)
        sections = [(".text", 1, 6, TEXT, bytes(0x80), 0), (".data", 1, 3, DATA, bytes(0x100), 0),
                    (".bss", 8, 3, BSS, 0x200, 0)]
        if symbols:
            sections += [(".symtab", 2, 0, 0, table, 5), (".strtab", 3, 0, 0, strings, 0)]
        if dwarf:
            for name, body in ((".debug_abbrev", self.abbreviations()), (".debug_info", unit)):
                if self.packed:
                    head = struct.pack(e + "IIQQ", 1, 0, len(body), 1) if w == 8 else \
                        struct.pack(e + "III", 1, len(body), 1)
                    sections.append((name, 1, 0x800, 0, head + zlib.compress(body, 9), 0))
                else:
                    sections.append((name, 1, 0, 0, body, 0))
        names = b"\0"
        offsets = []
        for s in sections:
            offsets.append(len(names))
            names += s[0].encode() + b"\0"
        offsets.append(len(names))
        names += b".shstrtab\0"
        sections.append((".shstrtab", 3, 0, 0, names, 0))
        head = 64 if w == 8 else 52
        body, headers = b"", bytes(64 if w == 8 else 40)
        for (name, kind, flags, address, content, link), at in zip(sections, offsets):
            while (head + len(body)) % 8:
                body += b"\0"
            size = content if isinstance(content, int) else len(content)
            each = (24 if w == 8 else 16) if kind == 2 else 0
            headers += struct.pack(e + ("IIQQQQIIQQ" if w == 8 else "IIIIIIIIII"), at, kind, flags, address,
                                   head + len(body), size, link, 1 if kind == 2 else 0, 1, each)
            body += b"" if isinstance(content, int) else content
        while (head + len(body)) % 8:
            body += b"\0"
        ident = b"\x7fELF" + bytes([2 if w == 8 else 1, 2 if self.order == "big" else 1, 1]) + bytes(9)
        machine = 62 if w == 8 else 8
        top = ident + struct.pack(e + ("HHIQQQIHHHHHH" if w == 8 else "HHIIIIIHHHHHH"),
                                  3 if self.movable else 2, machine, 1, TEXT, 0, head + len(body), 0, head,
                                  0, 0, 64 if w == 8 else 40, len(sections) + 1, len(sections))
        with open(path, "wb") as f:
            f.write(top + body + headers)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name, options in (("plain", {}), ("mips", {"word": 4, "big": True}), ("packed", {"packed": True}),
                          ("moved", {"movable": True}), ("hostile", {}), ("bare", {})):
        p = Program(**options)
        p.common()
        if name == "hostile":
            p.hostile()
        p.write(os.path.join(folder, name + ".elf"), dwarf=name != "bare", symbols=name != "bare")


if __name__ == "__main__":
    main()
