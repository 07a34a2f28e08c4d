#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Made dumps of Go 1.22 and later: pages with bitmaps at their ends, objects with headers, slack.

The generator fills pages as each release's allocator does and knows which records are objects; hostile dumps
state wrong numbers, or have headers that lead nowhere.
"""

import json
import os
import random
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Tap, cairn  # noqa: E402

HEAP, PAGE, DESCRIPTOR = 0xC000000000, 8192, 0x500000
SMALL = [8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 208, 240, 288, 352, 416, 480, 512]


def varint(n):
    out = b""
    while n >= 128:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def text(s):
    return varint(len(s)) + s


class Maker:
    def __init__(self, version, word, seed, reserves):
        self.version, self.word, self.reserves = version, word, reserves
        self.chance = random.Random(seed)
        self.objects, self.out, self.page = {}, [], HEAP
        self.counted = None # what the dump states; None: the truth
        self.references = 0

    def pack(self, n):
        return struct.pack("<Q" if self.word == 8 else "<I", n)

    def record(self, address, contents, fields, is_object=True):
        listed = b"".join(b"\x01" + varint(f) for f in fields) + b"\x00"
        self.out.append(b"\x01" + varint(address) + text(contents) + listed)
        if is_object:
            self.objects[address] = len(contents)

    def small_page(self):
        bitmap, marks = self.reserves
        limit = 8 * self.word * self.word
        size = self.chance.choice([s for s in SMALL if s <= limit])
        pointers = self.chance.random() < 0.6 and size >= self.word
        reserve = (bitmap if pointers else 0) + (marks if size >= 16 else 0)
        n = (PAGE - reserve) // size
        live = set(i for i in range(n) if self.chance.random() < 0.7) or {0}
        if pointers:
            live.add(self.chance.randrange(0, n))
        for i in range(PAGE // size):
            address = self.page + i * size
            if i < n and i in live:
                self.record(address, bytes(size), [0] if pointers else [])
            elif i >= n: # what the writer takes for objects, with any bytes
                self.record(address, self.chance.randbytes(size), [], False)
        self.page += PAGE

    def with_header(self, descriptor, size, each, fields, pointer_at):
        """Of one value or several of `each` bytes; the pattern goes on over the slack."""
        contents = bytearray(size)
        contents[:self.word] = self.pack(descriptor)
        target = next(iter(self.objects))
        listed = [8 + k + f for k in range(0, size - 8, each) for f in fields if 8 + k + f + self.word <= size]
        for at in pointer_at:
            contents[at:at + self.word] = self.pack(target)
        self.record(self.page, bytes(contents), listed)
        self.page += (size + PAGE - 1) // PAGE * PAGE
        return self.page - (size + PAGE - 1) // PAGE * PAGE

    def write(self, path):
        arch = b"amd64" if self.word == 8 else b"386"
        head = b"go1.7 heap dump\n" + b"\x06" + varint(0) + varint(self.word) + varint(HEAP & self.top()) + \
            varint((self.page + PAGE) & self.top()) + text(arch) + text(self.version.encode()) + varint(2)
        types = b"".join(b"\x03" + varint(d) + varint(n) + text(b"main." + name) + varint(1)
                         for d, n, name in ((DESCRIPTOR, 600, b"Big"), (DESCRIPTOR + 64, 700, b"Huge")))
        n, size = self.counted or (len(self.objects), sum(self.objects.values()))
        numbers = [0] * 281
        numbers[6], numbers[11] = size, n
        with open(path, "wb") as f:
            f.write(head + types + b"".join(self.out) + b"\x0a" + b"".join(varint(x) for x in numbers) + b"\x00")

    def top(self):
        return (1 << 64) - 1


RELEASES = [
    ("go1.21.9", 8, (0, 0)), ("go1.22.1", 8, (128, 0)), ("go1.25.3", 8, (128, 0)),
    ("go1.25.3 X:greenteagc", 8, (128, 128)), ("go1.26.1", 8, (128, 128)), ("go1.26.1 X:nogreenteagc", 8, (128, 0)),
    # not what its release has: told by the number of objects alone
    ("go1.27.2", 8, (128, 0)), ("go1.24.2", 8, (128, 128)), ("go1.23.0", 8, (0, 0)),
]


def look(path):
    info = json.loads(cairn("--format", "json", "-x", "info", path).out)
    rows = json.loads(cairn("--format", "json", "-x", "ls * | cut address", path).out)
    return info, {int(r["address"], 16) for r in rows}


def own_counts(path):
    rows = json.loads(cairn("--format", "json", "-x", "check", path).out)
    return [r["result"] for r in rows if r["check"] == "the dump's own counts agree"]


def check_layouts(tap, directory):
    for i, (version, word, reserves) in enumerate(RELEASES):
        made = Maker(version, word, i, reserves)
        for _ in range(60):
            made.small_page()
        path = os.path.join(directory, "layout%d.dump" % i)
        made.write(path)
        info, found = look(path)
        tap.ok(found == set(made.objects) and info["warnings"] == 0 and info["shallow"] == sum(made.objects.values()),
               "%s, reserves %s: %d objects" % (version, reserves, len(made.objects)),
               (len(found), len(found - set(made.objects)), info["warnings"], info.get("warning_text")))
        check = cairn("-x", "check", path)
        tap.ok(check.status == 0 and "broken" not in check.out, version + ": all promises hold", check)
        tap.equal(own_counts(path), ["ok"], version + ": check compares the dump's own counts")


def check_forged(tap, directory):
    """No layout leaves as many objects as the dump states: all records are kept, and it is said."""
    made = Maker("go1.26.1", 8, 77, (128, 128))
    for _ in range(20):
        made.small_page()
    made.counted = (3, 100)
    path = os.path.join(directory, "forged.dump")
    made.write(path)
    info, found = look(path)
    tap.ok(len(found) == len(made.out) and "HeapObjects of the dump is 3" in info["warning_text"] and
           "bitmap" in info["warning_text"], "a forged number of objects", info)
    tap.equal(own_counts(path), ["broken", "broken"], "a forged number of objects and of bytes: check says so")


def check_headers(tap, directory):
    made = Maker("go1.24.0", 8, 5, (128, 0))
    made.small_page()
    big = made.with_header(DESCRIPTOR, 640, 600, [0, 16], [8, 608]) # 608: behind the value
    nowhere = made.with_header(0x1234, 640, 600, [0], [8])
    larger = made.with_header(DESCRIPTOR + 64, 640, 600, [0], [8])
    path = os.path.join(directory, "headers.dump")
    made.write(path)
    rows = json.loads(cairn("--format", "json", "-x", "ls * | cut address,class", path).out)
    classes = {int(r["address"], 16): r["class"] for r in rows}
    tap.ok(classes[big] == "main.Big" and "{" in classes[nowhere] and "{" in classes[larger],
           "types that headers tell without a program", [classes[a] for a in (big, nowhere, larger)])
    for address, name in ((big, "main.Big"), (nowhere, "one that leads nowhere"), (larger, "of a larger type")):
        out = json.loads(cairn("--format", "json", "-x", "refs %#x -out | cut field" % address, path).out)
        tap.equal(len(out), 1, "the pointer of %s" % name)
        rows = cairn("--format", "csv", "-x", "x %#x" % (address + 8), path)
        tap.ok(rows.status == 0 and "+0x0," not in rows.out, "%s: its header is no word of it" % name, rows)


def check_largest(tap, directory):
    """32,768 bytes are what a request of 28,673 to 32,760 gets with its header, and one of up to 32,768 without."""
    made = Maker("go1.24.0", 8, 6, (128, 0))
    made.small_page()
    target, size, descriptor = next(iter(made.objects)), 32768, made.pack(DESCRIPTOR)

    def add(fields, words):
        contents = bytearray(size)
        for at, word in words.items():
            contents[at:at + 8] = word if isinstance(word, bytes) else made.pack(word)
        made.record(made.page, bytes(contents), fields)
        made.page += size
        return made.page - size

    every = list(range(0, size, 8))
    second = list(range(8, size, 16))
    values = [8 + k + f for k in range(0, size - 600, 600) for f in (0, 16)]
    plain = {
        "an array of pointers": add(every, {0: target, size - 8: target}),
        "a struct that begins with its own size": add([8, size - 8], {0: size, 8: target, size - 8: target}),
        "a struct that begins with nil": add([0, 8], {8: target}),
        "an array of interfaces": add(second, {0: descriptor, 8: target, 16: descriptor, 24: target}),
        "one whose second is nil": add(second, {0: descriptor, 8: target, 32: descriptor, 40: target}),
    }
    headed = {
        "with a header": add(values, {0: descriptor, 8: target}),
        "with a header, as an array of interfaces lists its words": add(second, {0: descriptor, 8: target, 16: 7, 24: target}),
        "the same, the second words all zero": add(second, {0: descriptor, 8: target, 24: target}),
    }
    path = os.path.join(directory, "largest.dump")
    made.write(path)
    for name, address in list(plain.items()) + list(headed.items()):
        cells = json.loads(cairn("--format", "json", "-x", "x %#x" % address, path).out)["fields"]
        want = name in headed
        first = cells[0]["name"]
        tap.ok(first == ("+0x8" if want else "+0x0") or (want and "[0]" in first),
               "an object of 32 KiB, %s: its value begins at %d" % (name, 8 if want else 0), first)
        held = json.loads(cairn("--format", "json", "-x", "refs %#x -out | cut address" % address, path).out)
        n = {"an array of pointers": 2, "a struct that begins with its own size": 2, "a struct that begins with nil": 1,
             "with a header": 1}.get(name, 2)
        tap.equal(len(held), n, "%s: all of its pointers" % name)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as directory:
        check_layouts(tap, directory)
        check_forged(tap, directory)
        check_headers(tap, directory)
        check_largest(tap, directory)
    tap.done()


if __name__ == "__main__":
    main()
