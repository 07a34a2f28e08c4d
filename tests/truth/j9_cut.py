#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Truncated cores of OpenJ9 VMs, cores without a shared class cache, and the files that have what they lack:
j9ddr.dat, from which the VM copies the description of its structures, and the cache.

Both files are cut out of a real core.  What a truncated core still has must be what the whole one has.
"""

import glob
import json
import lzma
import os
import re
import struct
import sys
import tempfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import QUICK, Tap, cairn, need_dumps, some  # noqa: E402
from j9_core import Description, Memory  # noqa: E402
import j9_made  # noqa: E402

REAL = os.path.join(need_dumps(), "openj9-real")
PAGE = 4096
NT_FILE = 0x46494c45
TIMEOUT = 60  # seconds
PATTERN = bytes.fromhex("55aa55aa55aa55aa")
LACKS_DESCRIPTION = r"among them the VM's description of its structures.* \(put the VM's j9ddr.dat next to the core"
LACKS_VM = r"among them the VM's (own structure, J9JavaVM|classes|first structure)"
ANSWERS = [r"truncated at byte \d+", r"needs the program that wrote it", r"description of its structures",
           r"does not have the (VM's|names of)", r"only a part of the VM's lists", r"of the heap", "empty file",
           "a core file without memory"]


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)
    return path


def histogram(path):
    """class -> objects, with the run."""
    run = cairn("-n", "--no-index", "--format", "json", "-x", "histo -all", path, timeout=TIMEOUT)
    return {row["class"]: row["objects"] for row in json.loads(run.out or "[]")}, run


class Core:
    """A core and where things are in it."""

    def __init__(self, path):
        self.memory = Memory(path)
        self.data = self.memory.file
        self.ras = next(self.memory.places(b"J9VMRAS\0" + PATTERN))
        self.at = self.memory.number(self.ras + 24, 8)
        head = self.memory.bytes(self.at, 20)
        self.blob = self.memory.bytes(self.at, 20 + sum(struct.unpack_from("<II", head, 8)))
        self.names = Description(self.memory, self.at)
        self.vm = self.get(self.ras, "J9RAS", "vm")

    def get(self, structure, kind, member):
        offset, kind = self.names.find(kind, member)
        return self.memory.number(structure + offset, self.names.width(kind))

    def offset(self, address):
        return next(o + address - b for b, e, o in self.memory.segments if b <= address < e)

    def segments(self, wanted):
        s = self.get(self.get(self.vm, "J9JavaVM", "classMemorySegments"), "J9MemorySegmentList", "nextSegment")
        while s:
            if self.get(s, "J9MemorySegment", "type") & self.names.constants[wanted]:
                yield self.get(s, "J9MemorySegment", "heapBase"), self.get(s, "J9MemorySegment", "heapTop")
            s = self.get(s, "J9MemorySegment", "nextSegment")

    def cache(self, whole):
        """The pages of the VM's largest segment of ROM classes; whole: with all of it, else with nothing else."""
        low, high = max(self.segments("MEMORY_TYPE_ROM_CLASS"), key=lambda s: s[1] - s[0])
        if not whole:
            low, high = low + PAGE - 1, high - PAGE + 1
        return low // PAGE * PAGE, -(-high // PAGE) * PAGE

    def without(self, begin, end, path):
        """The core, where memory between two addresses was mapped from a file and is left out."""
        headers, notes = [], b""
        where, n = struct.unpack_from("<Q", self.data, 32)[0], struct.unpack_from("<H", self.data, 56)[0]
        for i in range(n):
            kind, flags, offset, address, physical, length, in_memory, align = \
                struct.unpack_from("<IIQQQQQQ", self.data, where + 56 * i)
            if kind == 4:
                notes = with_file(self.data[offset:offset + length], begin, end, path)
                headers.append([4, flags, 0, 0, 0, len(notes), 0, 4])
            elif kind == 1 and address <= begin and end <= address + length:
                headers.append([1, flags, offset, address, 0, begin - address, begin - address, align])
                headers.append([1, flags, offset, begin, 0, 0, end - begin, align])
                headers.append([1, flags, offset + end - address, end, 0, address + length - end,
                                address + length - end, align])
            else:
                headers.append([kind, flags, offset, address, physical, length, in_memory, align])
        data = bytearray(self.data)
        for h in headers:
            if h[0] == 4:
                h[2] = len(data)
        data += notes + b"\0" * (-len(notes) % 8)
        struct.pack_into("<Q", data, 32, len(data))
        struct.pack_into("<H", data, 56, len(headers))
        return bytes(data + b"".join(struct.pack("<IIQQQQQQ", *h) for h in headers))


def with_file(notes, begin, end, path):
    """Notes of a core, whose list of mapped files has one more."""
    out, at = b"", 0
    while at + 12 <= len(notes):
        n_name, n, kind = struct.unpack_from("<III", notes, at)
        name = notes[at + 12:at + 12 + (n_name + 3) // 4 * 4]
        body = notes[at + 12 + len(name):at + 12 + len(name) + n]
        at += 12 + len(name) + (n + 3) // 4 * 4
        if kind == NT_FILE:
            count, page = struct.unpack_from("<QQ", body)
            places = [struct.unpack_from("<QQQ", body, 16 + 24 * i) for i in range(count)]
            every = sorted(zip(places + [(begin, end, 1)], body[16 + 24 * count:].split(b"\0")[:count] + [path.encode()]))
            body = struct.pack("<QQ", count + 1, page) + b"".join(struct.pack("<QQQ", *p) for p, _ in every) + \
                b"".join(name + b"\0" for _, name in every)
        out += struct.pack("<III", n_name, len(body), kind) + name + body + b"\0" * (-len(body) % 4)
    return out


# --- truncated -------------------------------------------------------------------------------------------------

def check_description(tap, name, core, whole, folder):
    """At some place between the VM and its description."""
    path, beside = os.path.join(folder, "core.dmp"), os.path.join(folder, "j9ddr.dat")
    blob, vm = core.offset(core.at), core.offset(core.vm)
    for cut, unnamed in ((blob * 3 // 4, True), (blob, False), (blob + len(core.blob) // 2, False)):
        write(path, core.data[:cut])
        run = cairn("-n", "--no-index", "-x", "histo", path, timeout=TIMEOUT)
        tap.ok(run.status == 3 and re.search(LACKS_DESCRIPTION, run.err) and "truncated at byte %d" % cut in run.err,
               "%s: truncated at %d, and no j9ddr.dat" % (name, cut), run)
        write(beside, core.blob)
        got, run = histogram(path)
        lost = re.search(r"names of (\d+) of", run.err)
        lost = int(lost.group(1)) if lost else 0
        tap.ok(run.status == 4 and "truncated at byte %d:" % cut in run.err and run.err.count("\n") == 1,
               "%s: truncated at %d, with j9ddr.dat" % (name, cut), run)
        named = {c: n for c, n in got.items() if not c.startswith("<unknown")}
        wrong = {c: (n, whole.get(c)) for c, n in named.items() if whole.get(c) != n}
        tap.none(list(wrong.items()), len(named), "%s: objects of %d classes" % (name, len(named)), 1000)
        tap.ok(sum(got.values()) == sum(whole.values()) and (lost > 20 if unnamed else got == whole),
               "%s: all objects, and %d classes have no name" % (name, lost), run)
        os.unlink(beside)
    write(beside, core.blob)
    write(path, core.data[:vm])
    run = cairn("-n", "--no-index", "-x", "histo", path, timeout=TIMEOUT)
    tap.ok(run.status == 3 and re.search(LACKS_VM, run.err), name + ": truncated before the VM's structure", run)
    check_refused(tap, name, core, path, beside)


def check_refused(tap, name, core, path, beside):
    """A file of another VM is not used, and that is said."""
    cut = core.offset(core.at) + PAGE
    other = bytearray(core.blob)
    other[100] ^= 1
    larger = core.blob.replace(b"\x05\0J9RAS", b"\x05\0J9RAX")
    write(path, core.data[:cut])
    none = "is not a VM's description"
    for what, data, says in (("short", core.blob[:-1], none), ("other bytes", other, "other bytes"),
                             ("zeros", bytes(len(core.blob)), none)):
        write(beside, data)
        run = cairn("-n", "--no-index", "-x", "histo", path, timeout=TIMEOUT)
        tap.ok(run.status == 3 and says in run.err, "%s: another j9ddr.dat: %s" % (name, what), run)
    write(path, core.data[:core.offset(core.at)])
    write(beside, larger)
    run = cairn("-n", "--no-index", "-x", "histo", path, timeout=TIMEOUT)
    tap.ok(run.status == 3 and "other sizes" in run.err and larger != core.blob, name + ": another: other sizes", run)


def check_places(tap, name, core, whole, folder):
    """In an archive, as jpackcore writes it, and unpacked from one."""
    cut, archive = core.offset(core.at), os.path.join(folder, "core.zip")
    with zipfile.ZipFile(archive, "w") as z:
        z.writestr("/dumps/core.dmp", core.data[:cut])
        z.writestr("/opt/openj9/lib/default/j9ddr.dat", core.blob)
        z.writestr("/opt/openj9/lib/default/libj9vm29.so", b"\x7fELF")
    got, run = histogram(archive)
    tap.ok(run.status == 4 and sum(got.values()) == sum(whole.values()), name + ": j9ddr.dat in its archive", run)
    os.makedirs(os.path.join(folder, "x/dumps/y"))
    os.makedirs(os.path.join(folder, "x/opt/openj9/lib/default"))
    write(os.path.join(folder, "x/opt/openj9/lib/default/j9ddr.dat"), core.blob)
    got, run = histogram(write(os.path.join(folder, "x/dumps/y/core.dmp"), core.data[:cut]))
    tap.ok(run.status == 4 and sum(got.values()) == sum(whole.values()), name + ": j9ddr.dat below one above", run)


# --- a class cache ---------------------------------------------------------------------------------------------

def check_cache(tap, name, core, whole, folder):
    """Pages of ROM classes that are in a file alone, from its second page on."""
    path = os.path.join(folder, "cache.dmp")
    cache = os.path.join(folder, "C290M11F1A64P_made_G43L00")
    where = "/tmp/javasharedresources/C290M11F1A64P_made_G43L00"
    begin, end = core.cache(whole=False)
    pages = bytes(PAGE) + core.memory.bytes(begin, end - begin)
    write(path, core.without(begin, end, where))
    got, run = histogram(path)
    lost = re.search(r"does not have the names of (\d+) of (\d+) classes: some are in %s" % where, run.err)
    tap.ok(run.status == 4 and lost and int(lost.group(1)) > 20 and sum(got.values()) == sum(whole.values()),
           name + ": without the class cache", run)
    for what, data, says in (("shorter", pages[:-PAGE], "is shorter than"),
                             ("other", pages[PAGE:] + pages[:PAGE], "does not have this VM's classes"),
                             ("empty", bytes(len(pages)), "does not have this VM's classes")):
        write(cache, data)
        got, run = histogram(path)
        tap.ok(run.status == 4 and says in run.err and lost.group(1) + " of" in run.err and
               sum(got.values()) == sum(whole.values()), "%s: with another class cache: %s" % (name, what), run)
    begin, end = core.cache(whole=True)
    write(path, core.without(begin, end, where))
    write(cache, bytes(PAGE) + core.memory.bytes(begin, end - begin))
    got, run = histogram(path)
    tap.ok(run.status == 0 and got == whole, name + ": with the class cache next to it", run)
    info = cairn("-n", "--no-index", "--format", "json", "-x", "info", path, timeout=TIMEOUT)
    tap.ok("names of classes are from " + cache in json.loads(info.out)["program"], name + ": which is said", info)


# --- every page ------------------------------------------------------------------------------------------------

def check_every_page(tap, folder):
    """A small core, truncated at every page, with j9ddr.dat next to it."""
    made = j9_made.Made()
    data = bytearray(made.core())
    at = next(i for i in range(len(data)) if data[i:i + 16] == b"J9VMRAS\0" + PATTERN)
    struct.pack_into("<I", data, at + 20, made.d.size["J9RAS"])
    blob = made.d.blob()
    path, beside = os.path.join(folder, "small.core"), os.path.join(folder, "j9ddr.dat")
    write(beside, blob)
    faults, read, pages = [], 0, list(some(range(0, len(data), PAGE), 3 if QUICK else 1))
    for page in pages:
        run = cairn("-n", "--no-index", "-x", "histo", "-x", "roots", write(path, data[:page]), timeout=TIMEOUT)
        said = run.err.strip().split("\n")
        read += run.status == 4
        if run.status not in (3, 4) or len(said) != 1 or not any(re.search(a, said[0]) for a in ANSWERS):
            faults.append("%d: %s" % (page, run))
    tap.none(faults, len(pages), "a small core truncated at each page, with j9ddr.dat", 2)
    os.unlink(beside)
    alone = sum(cairn("-n", "--no-index", "-x", "histo", write(path, data[:page]), timeout=TIMEOUT).status == 4
                for page in pages)
    tap.ok(read > alone, "more of these are read with it: %d, and %d without, of %d" % (read, alone, len(pages)))


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        check_every_page(tap, folder)
        found = glob.glob(os.path.join(REAL, "shop-full", "core*.dmp.xz"))
        tap.ok(found, "a real core is there", REAL)
        for packed in found:
            path = os.path.join(folder, "whole.core")
            with lzma.open(packed) as f:
                write(path, f.read())
            core = Core(path)
            whole, _ = histogram(path)
            check_description(tap, "shop-full", core, whole, folder)
            os.unlink(os.path.join(folder, "j9ddr.dat"))
            check_places(tap, "shop-full", core, whole, folder)
            check_cache(tap, "shop-full", core, whole, folder)
    tap.done()


main()
