#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""System dumps of OpenJ9 as HPROF files, whole and redacted; and what grew between dumps of one process.

An export is read by lib/hprof.py, which shares nothing with the program: each reference has the name of its field
there.  What else a core says must be the same of its export.  A PHD, a classic dump and a core of one moment show no
growth but of what the dumping thread made; of a dump in which the end of a chain is left out, that end grows.
"""

import collections
import csv
import glob
import gzip
import json
import lzma
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Tap, cairn, need_dumps, some  # noqa: E402
from hprof import read  # noqa: E402

REAL = os.path.join(need_dumps(), "openj9-real")


def rows(line, *paths):
    return json.loads(cairn("-n", "--no-index", "--format", "json", "-x", line, *paths).out or "[]")


# --- the export --------------------------------------------------------------------------------------------


def named(d):
    """Of each instance of the file, each reference with the name of its field."""
    d.classes, found, s = {}, collections.Counter(), d.ids
    records = [r for r in d.records(len(d.heaps) - 1)]
    for tag, body, _ in records:
        at, c = body + 2 * s + 8, d.id(body + s + 4) if tag == 0x21 else 0
        while c:
            for name, t in zip(d.classes[c]["names"], d.classes[c]["fields"]):
                if t == 2 and d.id(at):
                    found[d.id(body), d.strings[name].decode("utf-8", "replace"), d.id(at)] += 1
                at += d.width(t)
            c = d.classes[c]["super"]
    return found


def check_names(tap, name, core, d):
    want, got = named(d), collections.Counter()
    instances = {source for source, _, _ in want}
    run = cairn("-n", "--no-index", "--format", "csv", "-x", "sql SELECT source, field, target FROM refs", core)
    for source, field, target in list(csv.reader(run.out.split("\n")))[1:-1]:
        if int(source, 16) in instances and field:  # without one: what the VM keeps in an object besides its fields
            got[int(source, 16), field.split(".")[-1], int(target, 16)] += 1  # one of several of a name has its class
    only = [list((a - b).items()) for a, b in ((want, got), (got, want))]
    tap.ok(len(want) > 10000 and not only[0] and not only[1], name + ": each reference has the name of its field",
           [len(o) for o in only] + [[(hex(s), f, hex(t)) for (s, f, t), _ in o[:3]] for o in only])


def check_same(tap, name, core, export):
    cause = ["cause", "cause_thread", "oom_thread", "started", "process_id", "host", "os", "cpus",
             "gc_policy", "signal", "heap_total", "java_version"]
    both = [rows("info", p) for p in (core, export)]
    tap.equal(*[{c: i.get(c) for c in cause} for i in both], name + ": process and cause are those of the core")
    with open(export, "rb") as f:
        tap.ok(both[0]["command_line"].encode() not in f.read(), name + ": the export lacks the command line, as it says")
    tap.ok(both[0].get("cause") and (both[0].get("cause_thread") or both[0].get("oom_thread")),
           name + ": there is a cause, and its thread", both[0])
    cut = "threads | cut id name state waits_for frames native_id tid"
    tap.equal(rows(cut, export), rows(cut, core), name + ": threads with their states")
    tap.equal(rows("locks", export), rows("locks", core), name + ": locks, owners, who waits")
    roots = [{tuple(r.values()) for r in rows("roots | cut kind address thread frame", p)} for p in (core, export)]
    tap.ok(len(roots[0]) > 500 and roots[1] == roots[0], name + ": roots, with their kinds, threads and frames",
           sorted(map(str, roots[0] ^ roots[1]))[:5])
    frames = [re.findall(r"at .*", cairn("-n", "--no-index", "-x", "bt main", p).out) for p in (core, export)]
    tap.equal(frames[1], frames[0], name + ": frames of a stack")
    tap.equal((rows("growth", export, core), rows("growth", core, export)), ([], []),
              name + ": nothing grew from the core to its export, or back")


# --- redacted ----------------------------------------------------------------------------------------------


def numbers_left(d):
    """Primitive values that are not 0, and how many there are."""
    d.classes, s, n, left = {}, d.ids, 0, []
    for tag, body, end in [r for r in d.records(len(d.heaps) - 1)]:
        values = []
        if tag == 0x23:
            values = [(body + s + 9, end)]
        elif tag == 0x21:
            at = body + 2 * s + 8
            for t in d.all_fields(d.id(body + s + 4)):
                values += [(at, at + d.width(t))] if t != 2 else []
                at += d.width(t)
        elif tag == 0x20:
            at = body + 7 * s + 10
            for _ in range(d.u2(at - 2)):
                at += 3 + d.width(d.data[at + 2])
            for _ in range(d.u2(at)):
                t, at = d.data[at + 2 + s], at + s + 1
                values += [(at + 2, at + 2 + d.width(t))] if t != 2 else []
                at += d.width(t)
        n += len(values)
        left += [body for begin, end_ in values if d.data[begin:end_].strip(b"\0")]
    return left, n


def planted(value):
    """All texts of a manifest."""
    if isinstance(value, str):
        return {value}
    parts = value if isinstance(value, list) else value.values() if isinstance(value, dict) else []
    return set().union(*[planted(p) for p in parts]) if parts else set()


def check_redacted(tap, name, core, d, folder, work):
    to = os.path.join(work, "redacted.hprof")
    run = cairn("-n", "--no-index", "-x", "redact " + to, core)
    tap.ok(run.status == 0 and os.stat(to).st_mode & 0o77 == 0, name + ": a copy that only its owner can read", run)
    copy = read(to)
    left, n = numbers_left(copy)
    tap.ok(n > 10000 and not left, name + ": every number of the copy is 0", (n, left[:5]))
    tap.equal(named(copy), named(d), name + ": its references are those of the core")
    texts, threads = d.texts(len(d.heaps) - 1)
    symbols = set(copy.strings.values())
    manifest = [p for p in glob.glob(os.path.join(folder, "*.json"))]
    known = planted(json.load(open(manifest[0], encoding="utf-8"))) if manifest else set()
    odd = sorted(t for t in texts if len(t) > 7 and not re.fullmatch(r"[\w$/.;()<>\[\]+-]*", t))
    most = max(30, 10 ** 9 // len(copy.data) // 4)
    chosen = odd[::len(odd) // most + 1] + sorted(known & set(odd))[:most] + sorted(t for t in threads if len(t) > 4)
    found = [t for t in chosen if any(t.encode(e, "replace") in copy.data for e in (
        "utf-8", "latin-1", "utf-16-be", "utf-16-le") if t.encode("utf-8") not in symbols and "?" not in t)]
    tap.ok(len(chosen) > 30 and not found, name + ": no text of the core is in the copy", (len(chosen), found[:5]))
    if len(copy.data) < 10 ** 7:
        cairn("-n", "--no-index", "-x", "redact -strings " + to + ".strings", core)
        left = read(to + ".strings")
        others = set().union(*left.texts(len(left.heaps) - 1))
        tap.none([t for t in others if t.strip("\0")], others, name + ": -strings leaves no text of a String")
        tap.ok(numbers_left(left)[0], name + ": and other contents as they are")
    command = rows("info", core)["command_line"]
    tap.ok(command.encode() not in copy.data and b"-Xdump" not in copy.data and b"exported by cairn: " not in copy.data,
           name + ": nor its command line, nor what an export says of threads", command)
    info = rows("info", to)
    tap.ok("no values" in info["cannot_tell"], name + ": that values are missing is said", info)
    run = cairn("-n", "--no-index", "-x", "redact -names %s/map %s" % (work, to + "2"), core)
    tap.ok(run.status == 2 and "redact FILE.hprof" in run.err and not os.path.exists(to + "2"),
           name + ": how names are left out is said", run)
    run = cairn("-n", "--no-index", "-x", "redact -names %s/map %s" % (work, to + "2"), to)
    program = [s for s in symbols if re.match(rb"(grove|waste|shop)/[A-Z]", s)]
    with open(to + "2", "rb") as f:
        data = f.read()
    tap.ok(run.status == 0 and (program or manifest == []) and not [s for s in program if s in data],
           name + ": and that way works", (run, program[:3]))


# --- growth ------------------------------------------------------------------------------------------------


def counts(path):
    return {r["class"]: r["objects"] for r in rows("histo | cut class objects", path)}


def check_moment(tap, name, core, older):
    """Rows of classes alone that have more objects in the newer one, and no more rows than these classes."""
    have = {core: counts(core), older: counts(older)}
    for first, last in ((older, core), (core, older)):
        more = {c: n - have[first].get(c, 0) for c, n in have[last].items() if n > have[first].get(c, 0)}
        grown = rows("growth", first, last)
        tap.ok(len(grown) <= 5 and all(not r["d_objects"] or more.get(r["class"], 0) for r in grown),
               "%s: what the dumping thread made alone grows from %s" % (name, os.path.basename(first)),
               [(r["reference"], r["class"], r["d_objects"]) for r in grown] + [more])


def check_chain(tap, name, core, text, work):
    """A classic dump without the last of a chain: the core has these more."""
    link = "grove/Grove$Link"
    with gzip.open(text, "rt", encoding="utf-8", errors="surrogateescape") as f:
        lines = f.read().split("\n")
    held = {}
    for i, line in enumerate(lines):
        if line.endswith("] OBJ " + link):
            held[int(line.split()[0], 16)] = (i, [int(w, 16) for w in lines[i + 1].split()])
    into = {t for _, targets in held.values() for t in targets}
    chain = [a for a in held if a not in into]
    while chain and [t for t in held[chain[-1]][1] if t in held]:
        chain.append(next(t for t in held[chain[-1]][1] if t in held))
    gone = chain[len(chain) // 2:]
    tap.ok(len(chain) > 50, name + ": there is a chain", len(chain))
    for a in gone:
        lines[held[a][0]] = lines[held[a][0] + 1] = None
    path = os.path.join(work, "older.txt")
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write("\n".join(line for line in lines if line is not None))
    grown = rows("growth", path, core)
    tap.ok(grown and grown[0]["class"] == "grove.Grove$Link" and grown[0]["d_objects"] == len(gone) and len(grown) <= 3,
           name + ": of a chain that was shorter, what is new grows, and nothing else to speak of",
           [len(gone)] + [(r["reference"], r["class"], r["d_objects"]) for r in grown])


def check(tap, folder, work):
    name, packed = os.path.basename(folder), glob.glob(os.path.join(folder, "core*.xz"))[0]
    core, export = os.path.join(work, os.path.basename(packed)[:-3]), os.path.join(work, "export.hprof")
    with open(core, "wb") as f, lzma.open(packed) as unpacked:
        shutil.copyfileobj(unpacked, f)
    run = cairn("-n", "--no-index", "-x", "export -hprof " + export, core)
    tap.ok(run.status == 0, name + ": it is exported", run)
    d = read(export)
    check_names(tap, name, core, d)
    check_same(tap, name, core, export)
    check_redacted(tap, name, core, d, folder, work)
    older = sorted(glob.glob(os.path.join(folder, "heapdump*.phd")))
    check_moment(tap, name, core, older[0])
    for text in glob.glob(os.path.join(folder, "*.txt.gz")) if "grove" in name else []:
        check_chain(tap, name, core, text, work)


def main():
    tap = Tap()
    folders = [os.path.dirname(p) for p in sorted(glob.glob(os.path.join(REAL, "*", "core*.xz")))]
    for folder in some(folders, 3) if not sys.argv[1:] else [f for f in folders if os.path.basename(f) in sys.argv[1:]]:
        with tempfile.TemporaryDirectory() as work:
            check(tap, folder, work)
    tap.done()


main()
