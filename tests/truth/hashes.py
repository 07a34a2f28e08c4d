#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Identity hashes of PHD dumps.

Real dumps: each record's hash as OpenJ9's own reader reported it (*.records.txt.gz).  Generated dumps: the
hashes of the objects that their generator chose to tell of (*.expected.json), in all versions and word sizes,
with 16 bits in each record or 32 in some.  Both by the reader and by the commands: x tells an object's hash,
find -hash the objects of a hash.  A dump made here has a hash twice, and is cut behind the first.
"""

import collections
import csv
import glob
import gzip
import io
import json
import os
import re
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, DUMPS, GO, SAMPLE_TEXT, SHOP, Run, Tap, cairn, some  # noqa: E402

TOOL = os.path.join(BUILD, "tests/tools/dumprecords")


def hashes_of_tool(path):
    found = {}
    for line in Run([TOOL, "-h", path]).out.splitlines():
        told = re.match(r"[COAP] (0x[0-9a-f]+) (?:.*? )??hash=(-?\d+)(?: |$)", line)
        if told:
            found[told[1]] = int(told[2]) & 0xFFFFFFFF
    return found


def answers(path, lines):
    """Each command line's answer in csv, in one run."""
    words = []
    for line in lines:
        words += ["-x", line]
    done = cairn("--format", "json", *words, path)
    decoder, text, out = json.JSONDecoder(), done.out.lstrip(), []
    while text:
        value, end = decoder.raw_decode(text)
        out.append(value)
        text = text[end:].lstrip()
    return out


def check_commands(tap, name, path, hashes, addresses):
    """hashes: of all objects, by address; addresses: those to ask about."""
    asked = answers(path, ["x " + a for a in addresses])
    have = [a.get("hash") for a in asked]
    want = [("0x%x" % hashes[a] if a in hashes else None) for a in addresses]
    tap.equal(have, want, "%s: x tells the hash of %d objects" % (name, len(addresses)))
    by_hash = collections.defaultdict(set)
    for a, h in hashes.items():
        by_hash[h].add(a)
    values = sorted({hashes[a] for a in addresses if a in hashes})[:40]
    if not values:
        return
    found = answers(path, ["find -hash %x" % v for v in values])
    tap.equal([{row["address"] for row in f} for f in found], [by_hash[v] for v in values],
              "%s: find -hash finds the objects of %d hashes" % (name, len(values)))


def real(tap, path):
    name = os.path.basename(path)
    header, hashes, all_addresses = {}, {}, []
    with gzip.open(path + ".records.txt.gz", "rt", encoding="utf-8") as f:
        for line in f:
            if line.startswith("#"):
                header.update(w.split("=", 1) for w in line.split() if "=" in w)
                continue
            address = line.split()[1]
            value = int(re.search(r" hash=(-?\d+)", line)[1])
            all_addresses.append(address)
            if value or header["allHashed"] == "true":
                hashes[address] = value & 0xFFFFFFFF
    tap.ok(len(hashes) > 1000, "%s: the truth has %d hashes" % (name, len(hashes)))
    tap.equal(hashes_of_tool(path), hashes, name + ": the reader has the hash of each record")
    hashed = sorted(hashes)
    some = hashed[::max(1, len(hashed) // 30)] + all_addresses[::max(1, len(all_addresses) // 30)]
    check_commands(tap, name, path, hashes, some)


def generated(tap, path):
    name = os.path.basename(path)
    with open(path + ".expected.json", encoding="utf-8") as f:
        truth = json.load(f)
    have = hashes_of_tool(path)
    want = {o["address"]: o["hash"] & 0xFFFFFFFF for o in truth["selected"].values() if o["hash"] is not None}
    asked = [o["address"] for o in truth["selected"].values()]
    tap.equal({a: have[a] for a in asked if a in have}, want, "%s: the reader has %d hashes" % (name, len(want)))
    if truth["all_objects_hashed"]:
        tap.equal(len(have), truth["counts"]["total"], name + ": every record has a hash")
        tap.none([h for h in have.values() if h >> 16 != h & 0x7FFF], have, name + ": each is 15 bits, twice")
    if truth["counts"]["total"] < 10000:
        check_commands(tap, name, path, have, asked)


# A PHD of version 6, 64 bits, made of long records: class, then objects with and without a hash.
def utf(s):
    return struct.pack(">H", len(s)) + s.encode()


def object_record(gap, cls, value):
    head = bytes([4, 0x80 | (0x02 if value is not None else 0) | 1]) + struct.pack(">iQ", gap, cls)
    return head + (struct.pack(">I", value) if value is not None else b"") + struct.pack(">I", 0)


def made(tap):
    header = utf("portable heap dump") + struct.pack(">II", 6, 5) + b"\1" + b"\4" + utf("made") + b"\2\2"
    cls = 0x10000
    record = bytes([6, 0x80 | 0x08]) + struct.pack(">iI", cls // 4, 16) + struct.pack(">I", 0xCAFE0001)
    record += struct.pack(">Q", 0) + utf("a/B") + struct.pack(">I", 0)
    first = object_record(4, cls, 0xCAFE0001)
    second = object_record(4, cls, None)
    third = object_record(4, cls, 0xCAFE0001)
    whole = header + record + first + second + third + b"\3"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made.phd")
        with open(path, "wb") as f:
            f.write(whole)
        found = cairn("--format", "csv", "-x", "find -hash 0xCAFE0001", path)
        rows = [r["address"] for r in csv.DictReader(io.StringIO(found.out))]
        tap.equal((found.status, rows), (0, ["0x10000", "0x10010", "0x10030"]), "a class and two objects of one hash")
        told = answers(path, ["x 0x10010", "x 0x10020"])
        tap.equal([t["hash"] for t in told], ["0xcafe0001", None], "an object with a hash, and one without")
        for word, want in (("a.B@cafe0001", ["0x10010", "0x10030"]), ("B@cafe0001", ["0x10010", "0x10030"]),
                           ("other.Name@cafe0001", ["0x10000", "0x10010", "0x10030"])):
            have = [r["address"] for r in answers(path, ["find " + word])[0]]
            tap.equal(have, want, "as a log prints it: " + word)
        array = answers(path, ["find '[B@cafe0001'"])[0]
        tap.equal(len(array), 3, "what an array prints is no regular expression")
        silent = cairn("-x", "find Foo@1a2b3c", SHOP)
        tap.ok(silent.status == 1 and "HPROF holds no identity hashes" in silent.out + silent.err,
               "a dump without hashes says so", silent)
        none = cairn("-x", "find -hash 1", path)
        tap.ok(none.status == 1 and "no object" in none.out, "a hash that no object has", none)
        wide = cairn("-x", "find -hash 0x100000000", path)
        tap.ok(wide.status == 2 and "is not a hash" in wide.err, "a hash of more than 32 bits", wide)
        both = cairn("-x", "find Foo -hash 1", path)
        tap.ok(both.status == 2 and "exclude each other" in both.err, "a hash and a name", both)
        with open(path, "wb") as f:
            f.write(whole[:len(header + record + first + second) + 3])
        found = cairn("--format", "csv", "-x", "find -hash CAFE0001", path)
        rows = [r["address"] for r in csv.DictReader(io.StringIO(found.out))]
        tap.equal((found.status, rows), (4, ["0x10000", "0x10010"]), "of a dump that is cut, what stands before")
    for path in (SHOP, GO, SAMPLE_TEXT):
        refused = cairn("-x", "find -hash 1", path)
        tap.ok(refused.status == 1 and "holds no identity hashes" in refused.err and not refused.out,
               os.path.basename(path) + ": a format without hashes says so", refused)


def main():
    tap = Tap()
    made(tap)
    if DUMPS:
        for path in sorted(glob.glob(os.path.join(DUMPS, "openj9/*.phd"))):
            real(tap, path)
        for path in some(sorted(glob.glob(os.path.join(DUMPS, "synthetic/*.phd.expected.json"))), 5):
            generated(tap, path[:-len(".expected.json")])
    else:
        tap.skip("real and generated dumps", "CAIRN_DUMPS is not set")
    tap.done()


main()
