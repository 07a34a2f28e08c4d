#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged HPROF dumps: all that is whole is there, what is missing is said, nothing ends badly.

expected.json tells how many records stand before the damage.  Where the damage costs nothing, or the
records behind it are found again, there are more.

Bytes after the end take nothing away: the numbers are those of the dump without them.  Dumps one after the other are
several heaps, each with the numbers that it has in a file of its own.
"""

import gzip
import json
import os
import re
import struct
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, GO, SAMPLE, SHOP, Tap, broken_dumps, cairn, some  # noqa: E402
from hprofedit import Edit  # noqa: E402
from hprofmade import Made, record  # noqa: E402

WHOLE = 27609  # objects of the dump that was damaged

# Damage that takes nothing away: all objects, and no worse than a warning.
HARMLESS = {"h-bitflip-segment-length", "h-huge-length", "h-zero-length-segment", "h-unknown-toptag",
            "h-invalid-utf8", "h-trailing-garbage", "h-superclass-cycle", "h-superclass-self",
            "h-superclass-missing", "h-unknown-class"}
ONE_LESS = {"h-duplicate-id", "h-null-id"}
# Strings are lost, objects are not.
ALL_BUT_NAMES = {"h-bitflip-utf8-length", "h-bitflip-utf8-length-small", "h-utf8-length-under-id",
                 "h-no-end"}
UNREADABLE = {"empty", "h-cut-in-magic", "h-cut-in-header", "h-idsize-0", "h-idsize-3",
              "h-idsize-huge", "h-bad-version", "h-no-nul", "h-not-a-dump", "h-text", "h-gz-empty"}


# What people and transfers append; 31 is a record of a kind that nobody has.
TAILS = {"a newline": b"\n", "words": b"\r\ndone\n", "zeros": bytes(4096), "garbage": bytes(range(256)) * 3,
         "a record of an unknown kind": bytes([31]) + bytes(4) + b"\0\0\0\3abc"}
NUMBERS = ("objects", "classes", "instances", "roots", "root_entries", "reachable_objects", "word_bits", "damage")


def numbers(path, *options):
    run = cairn(*options, "-x", "info", "--format", "json", path)
    info = json.loads(run.out or "{}")
    return {k: info.get(k) for k in NUMBERS}, info, run


class Joined:
    """A file of several stretches of bytes, for one call."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "joined.hprof")

    def __call__(self, *stretches):
        with open(self.path, "wb") as f:
            f.write(b"".join(stretches))
        return self.path


def low_roots(tag, end):
    """A heap that begins at 0x700000000, with roots that look like records: 01 00000007 00000008 is a text of 8 bytes."""
    m = Made()
    at = 0x700000008
    m.heap.append((at, "java.lang.Object", 0, {}))
    held = [m.new("java.lang.Object") for _ in range(5)]
    m.array("java.lang.Object", held)
    data = m.bytes()
    body = data.index(b"\x1C\0\0\0\0")
    n = struct.unpack(">I", data[body + 5:body + 9])[0]
    inside = struct.pack(">BQQ", 1, at, 0x7F00) * 6 + data[body + 9:body + 9 + n]
    inside += b"".join(struct.pack(">BQQ", 1, h, 0x7F00) for h in held)
    return data[:body] + record(tag, inside) + end, 6 + 1 + 3


def after_the_end(tap, joined):
    heap_end = record(0x2C, b"")
    for name, tag, end in (("a segment", 0x1C, heap_end), ("a record with an end", 0x0C, heap_end), ("a record", 0x0C, b"")):
        data, objects = low_roots(tag, end)
        for what, tail in TAILS.items():
            got, info, run = numbers(joined(data, tail))
            tap.equal((run.status, got["objects"], got["classes"], info.get("root_entries")), (0, objects, 3, 9),
                      "%s, then %s: objects and roots" % (name, what))
            if "record" not in what:
                tap.ok(("1 byte after the end of the dump is ignored" if len(tail) == 1 else
                        "%d bytes after the end of the dump are ignored" % len(tail)) in json.dumps(info),
                       "%s, then %s: and it is said" % (name, what), run)
        # a length that is too long is one of a file that was cut
        at = data.index(bytes([tag]) + b"\0\0\0\0", 31)
        n = struct.unpack(">I", data[at + 5:at + 9])[0]
        got, _, run = numbers(joined(data[:at + 5], struct.pack(">I", n + 5000), data[at + 9:at + 9 + n]))
        tap.equal((run.status, got["objects"]), (4, objects), "%s, cut at the end of a root: all objects" % name)


def wrong_lengths(tap, joined):
    """Each of many heap records states a length that none has: the search for the end takes no square of the size."""
    block = struct.pack(">BIIIB", 0x23, 64, 0, 9, 8) + b"\x0C\0\0\0\0\x7F\xFF\xFF\xFF" + struct.pack(">BIBII", 0xFF, 64, 1, 7, 14)
    head = b"JAVA PROFILE 1.0.1\0" + struct.pack(">IQ", 4, 1700000000000)
    seconds = []
    for n in (20000, 80000):
        begin = time.monotonic()
        run = cairn("--format", "json", "-x", "info -brief", joined(head, b"\x0C\0\0\0\0\0\0\0\0", block * n, bytes(64)))
        seconds.append(time.monotonic() - begin)
        tap.equal(run.status, 4, "%d heap records of a wrong length are read in part" % n)
    tap.ok(seconds[1] < 10 * seconds[0] + 1, "four times as many take about four times as long", seconds)


def real_ends(tap, joined):
    folder = os.path.join(DUMPS, "hotspot")
    if not os.path.isdir(folder):
        tap.skip("dumps of JDK 6", "CAIRN_DUMPS has none")
        return
    dumps = {}
    for short in ("sun_jdk6_18_x32", "sun_jdk6_18_x64", "sun_jdk6_31_hprofagent_nocompressedOops"):
        with open(os.path.join(folder, short + ".hprof"), "rb") as f:
            dumps[short] = f.read()
        whole, _, _ = numbers(joined(dumps[short]))
        for what, tail in some(TAILS.items(), 3):
            got, _, _ = numbers(joined(dumps[short], tail))
            tap.equal(got, whole, "%s, then %s: the same numbers" % (short, what))
    agent = dumps["sun_jdk6_31_hprofagent_nocompressedOops"]
    whole, _, _ = numbers(joined(agent))
    cut, _, run = numbers(joined(agent, record(6, bytes(500))[:-7]))
    tap.equal({k: cut[k] for k in NUMBERS[:5]}, {k: whole[k] for k in NUMBERS[:5]}, "cut in a record after the heap")
    small, large = dumps["sun_jdk6_18_x32"], dumps["sun_jdk6_18_x64"]
    alone = [numbers(joined(d))[0] for d in (small, large)]
    tap.ok(alone[0]["word_bits"] == 32 and alone[1]["word_bits"] == 64, "the two are not of one kind")
    for what, between in some({"nothing": b"", **TAILS}.items(), 3):
        path = joined(small, between, large)
        both = [numbers(path, "--dump", str(n))[0] for n in (1, 2)]
        tap.equal(both, alone, "two dumps with %s in between" % what)
        last, info, _ = numbers(path)
        tap.equal((last, info["heaps"], info["heap"]), (alone[1], 2, 2), "the last of two, with %s in between" % what)
    run = cairn("--dump", "3", "-x", "info", joined(small, large))
    tap.ok(run.status == 2 and "has 2 heap dumps, but no number 3" in run.err, "there are only two", run)
    heaps = [numbers(joined(small, agent), "--dump", str(n))[0] for n in (1, 2, 3)]
    tap.equal(heaps, [alone[0]] + [numbers(joined(agent), "--dump", str(n))[0] for n in (1, 2)], "heaps of both, counted on")
    got, info, _ = numbers(joined(small, large[:len(large) // 3]))
    tap.equal((got, info["heap"]), (alone[0], 1), "the whole one before one that was cut")
    with tempfile.TemporaryDirectory() as folder:
        for n in (1, 2):
            copy = os.path.join(folder, "%d.hprof" % n)
            run = cairn("--dump", str(n), "-x", "redact " + copy, joined(small, b"\n", large))
            tap.equal((run.status, numbers(copy)[0]), (0, alone[n - 1]), "a copy without contents has number %d alone" % n)


def found(tap):
    folder = os.path.join(DUMPS, "found", "reports")
    if not os.path.isdir(folder):
        tap.skip("files of bug reports", "CAIRN_DUMPS has none")
        return
    for name, words in (("19-crlf-transfer/tty.hprof", "each LF became CR LF"),
                        ("11-sentences-of-no-heap/ascii.hprof.txt", "the text form"),
                        ("11-sentences-of-no-heap/sites.hprof", "with heap=sites")):
        run = cairn("-x", "info", os.path.join(folder, name))
        tap.ok(words in run.err and ".p0" not in run.err and run.status in (3, 4), "found: " + name, run)
    for name in ("03-bytes-behind-the-end/good", "03-bytes-behind-the-end/seven-bytes-more", "14-two-dumps-in-one-file/two"):
        path = os.path.join(folder, name + ".hprof")
        for options in ((), ("--dump", "1"), ("--dump", "2")) if "two" in name else ((),):
            got, info, run = numbers(path, *options)
            size = json.loads(cairn(*options, "-x", "size com.ex.Holder", "--format", "json", path).out)
            size = size[0] if isinstance(size, list) else size
            tap.equal((run.status, got["roots"], got["damage"], size["retained"], info["heaps"]),
                      (0, 5, None, 3032, 2 if "two" in name else 1), "%s %s" % (name, " ".join(options)))


SYSTEM_CLASS = 5  # the tag of such a root


def roots_missing(tap, joined):
    """A dump without one of its system classes lacks the roots, whichever byte it ends at: what rests on them is
    unknown, and no suspect is named.  Where they are is read off the bytes."""
    whole = Edit(SHOP)
    places = [place for root in whole.roots.values() for place in root if place[2] == SYSTEM_CLASS]
    first = min(end for _, end, _ in places)
    objects = [end for _, _, end in whole.places.values()]
    data = whole.dump.data
    for at in some(sorted([len(data) * n // 10 for n in range(2, 10)] + [first - 1, first, first + 20, max(objects)]), 4):
        path, missing, name = joined(data[:at]), at < first, "truncated at byte %d" % at
        info = json.loads(cairn("--format", "json", "-x", "info", path).out)
        tap.equal((info["reachable_objects"] is None, info["objects"]), (missing, sum(end <= at for end in objects)),
                  name + ": what is reachable is unknown just without system classes; all objects are there")
        rows = json.loads(cairn("--format", "json", "-x", "histo -retained", path).out)
        tap.equal({r["retained"] is None for r in rows}, {missing}, name + ": so is what classes retain")
        rows = json.loads(cairn("--format", "json", "-x", "leaks", path).out)
        tap.equal(not rows, missing, name + ": there are suspects just with them")
        said = {line: cairn("-x", line, path).out for line in ("leaks", "report", "heap", "about java.lang.String",
                "size java.lang.String", "cut -plan 1k", "info", "sql SELECT count(reachable) FROM objects")}
        if missing:
            tap.equal([line for line in said if "GC roots are in the part" not in " ".join(said[line].split()) and
                       "sql" not in line], [], name + ": each of them says so")
            tap.ok(not re.search(r"retains? [~>=?\d]", said["report"] + said["leaks"]), name + ": nobody is accused", said)
            tap.equal(said["sql SELECT count(reachable) FROM objects"].split("\n")[1].strip(" >=~"), "0",
                      name + ": SQL knows of no object whether it is reachable")
        run = cairn("-x", "assert 'leaks.share < 101'", path)
        tap.equal("undecided" in run.out, missing, name + ": a condition on suspects stays open")


def sentences(tap, joined):
    """What a file is not, each in its own sentence."""
    head = b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 1700000000000)
    data, _ = low_roots(0x1C, record(0x2C, b""))
    names = data[:data.index(b"\x1C\0\0\0\0")]
    sampled = head + record(0x0E, struct.pack(">IH", 2, 4)) + record(0x0D, bytes(8))
    for what, content, status, words, parts in (
            ("its header alone", head, 4, "before the objects", False),
            ("cut among its names", names[:-5], 4, "before the objects", False),
            ("the file of an unfinished parallel dump", names, 4, "in .p0, .p1", True),
            ("cpu=samples", sampled, 4, "no heap in the file: the hprof agent wrote it with cpu=samples", False),
            ("the text form", b"JAVA PROFILE 1.0.1, created Tue Jan  1 10:00:00 2008\n\nHeader for -agentlib:hprof\n", 3,
             "the text form of HPROF (format=a)", False)):
        run = cairn("-x", "info", joined(content))
        tap.ok(run.status == status and words in run.err and (".p0" in run.err) == parts, "the sentence of " + what, run)
    for what, path in (("HPROF", SHOP), ("PHD", SAMPLE), ("Go", GO)):
        with open(path, "rb") as f:
            content = f.read()
        whole = cairn("-x", "info -brief", joined(content))
        run = cairn("-x", "info", joined(content.replace(b"\n", b"\r\n")))
        tap.ok(whole.status == 0 and run.status == 3 and "each LF became CR LF" in run.err,
               "%s through a terminal: a sentence that names the cause" % what, run)
    with open(SHOP, "rb") as f:
        packed = gzip.compress(f.read())
    run = cairn("-x", "info", joined(packed.replace(b"\n", b"\r\n")))
    tap.ok(run.status == 3 and "each LF became CR LF" in run.err, "a packed one, too", run)
    lines = b"".join(b"0x%08X [16] OBJ a/B\r\n\t\r\n" % (0x1000 + 16 * i) for i in range(40))
    run = cairn("-x", "info", joined(b"// Version: J2RE 1.4.2\r\n" + lines + b"// EOF: Total: 40 objects\r\n"))
    tap.ok("each LF" not in run.err, "lines of the classic format may end so", run)


def missing_table(tap):
    """System properties whose table the dump does not have."""
    m = Made()
    m.cls("java.util.Hashtable", [("L", "table"), ("I", "count")])
    m.cls("java.util.Properties", [("L", "defaults")], "java.util.Hashtable")
    m.string("a text")
    at = m.new("java.util.Properties", table=0x7777777, count=3)
    m.cls("java.lang.System", statics=[("L", "props", at)])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made.hprof")
        with open(path, "wb") as f:
            f.write(m.bytes())
        for line in ("props", "entries 0x%x" % at):
            run = cairn("-x", line, path)
            tap.ok(run.status == 1 and "it states 3, but the dump has none of them" in run.out + run.err,
                   "made: %s" % line, run)
    path = os.path.join(DUMPS, "found", "reports", "16-props-without-table", "p1.hprof")
    if not os.path.exists(path):
        tap.skip("props without table", "CAIRN_DUMPS has none")
        return
    for line in ("props", "entries 0xe0000000"):
        run = cairn("-x", line, path)
        tap.ok(run.status == 1 and "it states 3" in run.out + run.err, "found: %s" % line, run)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        after_the_end(tap, Joined(folder))
        wrong_lengths(tap, Joined(folder))
        real_ends(tap, Joined(folder))
        roots_missing(tap, Joined(folder))
        sentences(tap, Joined(folder))
    missing_table(tap)
    found(tap)
    for path, name, short, want in broken_dumps(tap, ".hprof", 40):
        run = cairn("-x", "info", "-x", "check", "--format", "json", path)
        if short in UNREADABLE:
            tap.ok(run.status == 3 and run.err.strip(), "%s: refused with a reason" % name, run)
            continue
        tap.ok(run.status in (0, 4), "%s: opens" % name, run)
        run = cairn("-x", "info", "--format", "json", path)
        info = json.loads(run.out or "{}")
        objects = info.get("objects", -1)
        if short in HARMLESS:
            tap.equal((run.status, objects), (0, WHOLE), "%s: all objects" % name)
            if short != "h-invalid-utf8":
                tap.ok(info.get("warnings", 0) > 0, "%s: but a warning" % name, run)
        elif short in ONE_LESS:
            tap.equal((run.status, objects), (0, WHOLE - 1), "%s: all objects but one" % name)
            tap.ok(info.get("warnings", 0) > 0, "%s: and a warning" % name, run)
        elif short in ALL_BUT_NAMES:
            tap.equal((run.status, objects), (4, WHOLE), "%s: all objects, read in part" % name)
        else:
            tap.equal(run.status, 4, "%s: read in part" % name)
            tap.ok("byte" in run.err or "gzip" in run.err, "%s: and it is said up to where" % name, run)
        if "-cut-" in name and want:
            of = want["of_them"]
            got = {"CLASS_DUMP": info.get("classes"), "INSTANCE_DUMP": info.get("instances"),
                   "OBJ_ARRAY_DUMP": info.get("object_arrays"),
                   "PRIM_ARRAY_DUMP": info.get("primitive_arrays")}
            tap.equal(got, of, "%s: exactly what is whole" % name)
        elif want:
            tap.ok(objects >= want["whole_heap_objects"], "%s: at least what is before it" % name, run)
    tap.done()


main()
