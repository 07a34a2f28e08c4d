#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What locks tells of Go's package sync: against the manifests, and against the runtime's own table of semaphores.

The manifests say which goroutines wait for the mutex, the RWMutex, the WaitGroup and the Cond that the program made.  The
second algorithm reads runtime.semtable, which locks does not: its address from the symbols of the program, its trees of
sudogs from the bytes of the dump.
"""

import glob
import json
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, Tap, cairn, need_dumps  # noqa: E402
from godump import records  # noqa: E402

KINDS = {"main.blockMutex": ("mutex", 1), "main.blockRW": ("write lock", 1), "main.blockWG": ("wait group", 1),
         "main.blockCond": ("condition", None)}
BUCKETS = 251


def ask(command, dump):
    done = cairn("-x", command, "--format", "json", dump)
    return json.loads(done.out) if done.status == 0 and done.out.strip() else []


def waiting(row):
    return {int(n) for n in re.findall(r"goroutine (\d+)", row["waiting"] or "")}


def symbol(path, wanted):
    """Address and size of a symbol of an ELF file, of whatever word size and byte order."""
    with open(path, "rb") as f:
        data = f.read()
    wide, order = data[4] == 2, "<" if data[5] == 1 else ">"
    at, = struct.unpack_from(order + ("Q" if wide else "I"), data, 40 if wide else 32)
    size, n = struct.unpack_from(order + "HH", data, 58 if wide else 46)
    sections = [struct.unpack_from(order + ("IIQQQQIIQQ" if wide else "10I"), data, at + i * size) for i in range(n)]
    for s in sections:
        if s[1] != 2:
            continue
        names = sections[s[6]][4]
        for offset in range(s[4], s[4] + s[5], s[9]):
            if wide:
                name, _, _, _, value, length = struct.unpack_from(order + "IBBHQQ", data, offset)
            else:
                name, value, length = struct.unpack_from(order + "III", data, offset)
            if data[names + name:data.index(b"\0", names + name)] == wanted:
                return value, length
    return None


class Memory:
    def __init__(self, path):
        self.parts, self.goroutine = [], {}
        for r in records(path):
            if r.kind in ("object", "data", "bss"):
                self.parts.append((r.address, r.contents))
            elif r.kind == "params":
                self.word, self.order = r.pointer, ">" if r.big_endian else "<"
                self.version = tuple(int(n) for n in re.match(rb"go(\d+)\.(\d+)", r.version).groups())
            elif r.kind == "goroutine":
                self.goroutine[r.address] = r.id
        self.parts.sort()

    def read(self, address):
        low, high = 0, len(self.parts)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.parts[middle][0] <= address else (low, middle)
        start, contents = self.parts[low - 1]
        return struct.unpack_from(self.order + ("Q" if self.word == 8 else "I"), contents, address - start)[0]


def semaphores(dump, program):
    """{semaphore: goroutines} of runtime.semtable; None: the program has no such symbol, or lies elsewhere."""
    memory, table = Memory(dump), symbol(program, b"runtime.semtable")
    if not table:
        return None
    word = memory.word
    late = memory.version >= (1, 26)  # then elem is two words
    link = (8 if word == 8 else 11) + late
    found, left = {}, []
    for i in range(BUCKETS):
        left.append(memory.read(table[0] + i * (table[1] // BUCKETS) + word))
    while left:
        sudog = left.pop()
        if not sudog:
            continue
        left += [memory.read(sudog + word), memory.read(sudog + 2 * word)]
        sema, at = memory.read(sudog + 3 * word), sudog
        while at:
            found.setdefault(sema, set()).add(memory.goroutine[memory.read(at)])
            at = memory.read(at + link * word)
    return found


def check(tap, dump):
    title = os.path.basename(dump)[:-5]
    with open(dump[:-5] + ".manifest.json", encoding="utf-8") as f:
        manifest = json.load(f)
    rows = ask("locks", dump)
    planned = {}
    for g in manifest["goroutines"]:
        planned.setdefault(g["func"], set()).add(g["goid"])
    for func, (kind, holds) in KINDS.items():
        got = [(waiting(r), r["waiters"], r["holds"], r["owner"]) for r in rows if r["kind"] == kind]
        tap.equal(got, [(planned[func], len(planned[func]), holds, None)], "%s: who waits in %s" % (title, func))
    if "pie" in title:
        return  # its symbols are not where it ran
    own = semaphores(dump, dump[:-5] + ".elf")
    got = {}
    for r in rows:
        if r["kind"] in ("mutex", "write lock", "read lock", "wait group", "semaphore"):
            got[int(r["address"], 16)] = waiting(r)
    tap.equal(sorted(map(sorted, own.values())), sorted(map(sorted, got.values())), "%s: as the runtime's table" % title)
    for sema, goroutines in own.items():
        at = [a for a, who in got.items() if who == goroutines]
        tap.ok(at and 4 <= sema - at[0] <= 12 and not sema % 4, "%s: the semaphore is in it" % title, (hex(sema), at))


def main():
    tap = Tap()
    need_dumps()
    dumps = [d for d in sorted(glob.glob(os.path.join(DUMPS, "go", "*.dump")) + glob.glob(os.path.join(DUMPS, "today", "go1*.dump")))
             if "stripped" not in d]
    tap.ok(len(dumps) >= 6, "dumps of several architectures and releases", dumps)
    for dump in dumps:
        check(tap, dump)
    stripped = os.path.join(DUMPS, "go", "go-small-stripped.dump")
    said = cairn("-x", "locks", stripped)
    tap.ok(said.status == 0 and "without the program (--exe)" in said.out, "without types that is said", said.out)
    tap.done()


if __name__ == "__main__":
    main()
