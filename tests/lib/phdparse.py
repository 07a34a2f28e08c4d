# SPDX-License-Identifier: GPL-3.0-or-later
"""A naive reader of PHD files, apart from the program's: every record as the file has it, nothing left out."""

import gzip
import struct


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        if self.at + n > len(self.data):
            raise EOFError
        self.at += n
        return self.data[self.at - n:self.at]

    def signed(self, n):
        return int.from_bytes(self.take(n), "big", signed=True)

    def unsigned(self, n):
        return int.from_bytes(self.take(n), "big")


def header(b):
    b.at = 20
    version, flags = struct.unpack(">ii", b.take(8))
    b.take(1)
    while True:
        tag = b.unsigned(1)
        if tag == 2:
            break
        b.take(b.unsigned(2) if tag == 4 else 8)
    b.take(1)
    return version, flags


class Reader:
    def __init__(self, b):
        self.b = b
        self.version, self.flags = header(b)
        self.word = 8 if self.flags & 1 else 4
        self.shift = 2 if self.version == 5 or self.flags & 4 else 3
        self.mask = (1 << 8 * self.word) - 1
        self.previous, self.cache, self.next = 0, [0] * 4, 0

    def far(self, start, gap):
        return (start + (gap << self.shift)) & self.mask

    def hash(self, flagged):
        if self.flags & 6 == 6:
            return self.b.unsigned(2)
        return self.b.unsigned(4) if flagged else None

    def references(self, start, n, width):
        return [self.far(start, self.b.signed(width)) for _ in range(n)]

    def size(self):
        return self.b.unsigned(4) * 4 if self.version >= 6 else None

    def remember(self, cls):
        self.cache[self.next] = cls
        self.next = (self.next + 1) & 3

    def small(self, tag):
        b = self.b
        r = {"k": "O", "a": self.far(self.previous, b.signed(1 + (tag >> 2 & 1)))}
        if tag & 0x80:
            r["c"], n = self.cache[tag >> 5 & 3], tag >> 3 & 3
        else:
            r["c"], n = b.unsigned(self.word), tag >> 3 & 7
            self.remember(r["c"])
        r["h"] = self.hash(False)
        r["refs"] = self.references(r["a"], n, 1 << (tag & 3))
        return r

    def large(self, tag):
        b = self.b
        if tag == 7:
            flags = b.unsigned(1)
            width = self.word if flags & 0x10 else 1
            return {"k": "P", "a": self.far(self.previous, b.signed(width)), "len": b.unsigned(width),
                    "h": self.hash(flags & 2), "size": self.size(), "refs": []}
        flags = b.unsigned(1)
        r = {"k": {4: "O", 6: "C"}.get(tag, "A"), "a": self.far(self.previous, b.signed(1 << (flags >> 6)))}
        if tag == 6:
            r["isize"], r["h"], r["sup"] = b.signed(4), self.hash(flags & 8), b.unsigned(self.word)
            r["name"] = b.take(b.unsigned(2))
        else:
            r["c"], r["h"] = b.unsigned(self.word), self.hash(flags & 2)
        r["refs"] = self.references(r["a"], b.unsigned(4), 1 << (flags >> 4 & 3))
        if tag == 4:
            self.remember(r["c"])
        elif tag in (5, 8):
            r["len"] = b.unsigned(4) if tag == 8 else len(r["refs"])
            r["size"] = self.size()
        return r

    def record(self):
        """The next one; None behind the last."""
        b = self.b
        tag = b.unsigned(1)
        if tag & 0xC0:
            r = self.small(tag)
        elif tag & 0x20:
            width = 1 << (tag & 3)
            r = {"k": "P", "a": self.far(self.previous, b.signed(width)), "len": b.unsigned(width),
                 "h": self.hash(False), "size": self.size(), "refs": []}
        elif tag == 3:
            return None
        else:
            r = self.large(tag)
        self.previous = r["a"]
        return r


def parse(path, may_end=False):
    """(version, flags, records); may_end: the file may be truncated."""
    with open(path, "rb") as f:
        data = f.read()
    reader = Reader(Bytes(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data))
    records = []
    try:
        while (r := reader.record()) is not None:
            records.append(r)
    except EOFError:
        if not may_end:
            raise
    return reader.version, reader.flags, records


def hash_slots(records, rounded):
    """Hashed instances and class objects -> 8, if they have a slot for the hash after the size of their class (which
    rounded makes of the stored one), else 0: as far as the next object lies; where that lies farther away, as most
    hashed ones of the class."""
    sizes = {r["a"]: r["isize"] for r in records if r["k"] == "C"}
    mirror = next(r for r in records if r["k"] == "C" and r["name"] == b"java/lang/Class")
    order = sorted(r["a"] for r in records)
    after = dict(zip(order, order[1:]))
    room, votes = {}, {}
    hashed = [(r["a"], r["c"] if r["k"] == "O" else mirror["a"]) for r in records if r["h"] is not None and r["k"] in "OC"]
    for a, cls in hashed:
        room[a] = after[a] - a - rounded(sizes[cls]) if a in after else None
        votes.setdefault(cls, []).append(room[a])
    return {a: room[a] if room[a] in (0, 8) else 8 * (votes[cls].count(8) > votes[cls].count(0)) for a, cls in hashed}
