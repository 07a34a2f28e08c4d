#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Redacted copies of HPROF dumps: the same graph and sizes as the original, and nothing of its contents.

What is in a copy is read here byte by byte: every primitive value is 0, and of the texts that the original holds none
is left.  Arguments: further dumps.
"""

import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, GO, GRAPHDUMP, SAMPLE, SHOP, Tap, cairn, some  # noqa: E402
from hprof import read, symbols  # noqa: E402
from javadump import with_references  # noqa: E402


def graph(path):
    return subprocess.run([GRAPHDUMP, path], stdout=subprocess.PIPE, check=True).stdout


def figures(path):
    run = cairn("-x", "histo -retained | cut class,objects,shallow,retained", "-x", "roots -by kind", "--format", "csv",
                path)
    return run.out


# In their static fields the VM states how it lays out objects, which a copy keeps.
STATE_LAYOUT = {"jdk.internal.misc.Unsafe", "sun.misc.Unsafe", "java.util.concurrent.atomic.AtomicInteger"}


def values_left(path, arrays_only):
    """Where the copy has a primitive value that is not 0: a few descriptions."""
    d, found = read(path), []
    d.classes = {}
    heap = len(d.heaps) - 1
    rows = list(d.records(heap))
    for tag, body, end in rows:
        if tag == 0x23 and d.data[body + d.ids + 9:end].strip(b"\0"):
            found.append("array at %d" % body)
        if arrays_only:
            continue
        if tag == 0x21 and d.class_name(d.id(body + d.ids + 4)) != "jdk.internal.vm.StackChunk":  # tell its size
            at = body + 2 * d.ids + 8
            for t in d.all_fields(d.id(body + d.ids + 4)):
                n = d.width(t)
                if t != 2 and d.data[at:at + n].strip(b"\0"):
                    found.append("field at %d" % at)
                at += n
        if tag == 0x20 and d.class_name(d.id(body)) not in STATE_LAYOUT:
            s, at = d.ids, body + 7 * d.ids + 8
            n, at = d.u2(at), at + 2
            for _ in range(n):
                w = d.width(d.data[at + 2])
                if d.data[at + 2] != 2 and d.data[at + 3:at + 3 + w].strip(b"\0"):
                    found.append("constant at %d" % at)
                at += 3 + w
            n, at = d.u2(at), at + 2
            for _ in range(n):
                w = d.width(d.data[at + s])
                if d.data[at + s] != 2 and d.data[at + s + 1:at + s + 1 + w].strip(b"\0"):
                    found.append("static field at %d" % at)
                at += s + 1 + w
    return found[:5]


def texts(path, least=12):
    """Texts of Strings of the original that no name has in it: what must not be found in a copy."""
    every, used = symbols(path)
    names = b"\0".join(every[k] for k in used)
    run = cairn("-x", "strings | cut value", "--format", "csv", path)
    found = set()
    for line in run.out.splitlines()[1:]:
        text = line.strip('"')
        if len(text) >= least and re.fullmatch(r"[ -!#-\[\]-~]+", text) and text.encode() not in names:
            found.add(text.encode())
    return found


def redact(tap, path, to, *options, name=""):
    if os.path.exists(to):
        os.remove(to)
    run = cairn("-x", "redact %s %s" % (" ".join(options), to), path)
    return tap.ok(run.status == 0 and os.path.exists(to), name + ": a copy is written", (run.status, run.err))


MARK = b"a copy without contents by cairn redact: "


def check_dump(tap, path, folder):
    name = os.path.join(os.path.basename(os.path.dirname(path)), os.path.basename(path))
    to = os.path.join(folder, "copy.hprof")
    if not redact(tap, path, to, name=name):
        return
    tap.ok(graph(path) == graph(to), name + ": the copy has the same graph")
    tap.equal(figures(to), figures(path), name + ": and the same sizes, held and roots")
    tap.equal(values_left(to, False), [], name + ": every primitive value is 0")
    before, used = symbols(path)
    after, _ = symbols(to)
    tap.ok(used and all(after[k] == before[k] for k in used) and
           all(not v.strip(b"*") for k, v in after.items() if k not in used and not v.startswith(MARK)), name + ": of symbols only names are left")
    with open(to, "rb") as f:
        data = f.read()
    hidden = sorted(texts(path))
    tap.none([t for t in hidden if t in data][:5], hidden, name + ": no text of a String is left")
    check = cairn("-x", "check", to)
    tap.ok(check.status == 0, name + ": check of the copy finds nothing", check.out)
    check_told(tap, path, to, name)


def check_told(tap, path, to, name):
    """What references tell is the same in the copy; what its zeros would tell is unknown there, and said to be."""
    for line in ("references", "threadlocals -by class", "path 1", "histo -retained"):
        both = [cairn("--format", "csv", "-x", line, p) for p in (path, to)]
        tap.equal(both[1].out, both[0].out, "%s: %s" % (name, line))
    why = "a redacted copy"
    info = json.loads(cairn("--format", "json", "-x", "info", to).out)
    tap.ok(why in info["cannot_tell"], name + ": info says what it is", info)
    for line in ("strings", "dups", "offheap"):
        run = cairn("-x", line, to)
        tap.ok(run.status and why in run.err, "%s: %s tells why not" % (name, line), run)
    run = cairn("-x", "find no-such-text", to)
    tap.ok(run.status == 1 and "info says what it lacks" in run.out, name + ": find searched only what is left", run)
    before, threads = (json.loads(cairn("--format", "json", "-x", "threads", p).out or "[]") for p in (path, to))
    tap.none([t for t in threads if t.get("state") or "\0" in str(t.get("name"))], threads,
             name + ": no state, no name of a thread", len(before))
    kinds = {r["kind"] for r in json.loads(cairn("--format", "json", "-x", "waste", to).out or "[]")}
    zeros = {"strings", "constant", "tails", "arrays", "objects", "fields", "unused", "emptied", "oversized"}
    tap.none(kinds & zeros, kinds, name + ": zeros are no waste")
    sizes = json.loads(cairn("--format", "json", "-x", "collections", to).out or "[]")
    tap.none([r for r in sizes if r["size"] is not None], sizes, name + ": no size of a collection")
    again = to + ".again"
    if redact(tap, to, again, "-strings", name=name + ": again, -strings"):
        told = json.loads(cairn("--format", "json", "-x", "info", again).out)["cannot_tell"]
        tap.equal(told, info["cannot_tell"], name + ": a copy of the copy says no less")


KNOWN = re.compile(r"(java|javax|jdk|sun|com\.sun|openj9|com\.ibm\.(oti|jvm|lang\.management)|android|com\.android|"
                   r"dalvik|libcore)\.|(boolean|byte|char|short|int|long|float|double|void)\b")


def classes(path, names=None):
    """Rows of the histogram by class, names in place of what stands for them."""
    rows = []
    for row in json.loads(cairn("-x", "histo -retained | cut class,objects,shallow,retained", "--format", "json",
                               path).out):
        word, behind = re.fullmatch(r"(.*?)((?:\[\])*)", row["class"]).groups()
        rows.append(((names or {}).get(word, word) + behind, row["objects"], row["shallow"], row["retained"]))
    return sorted(rows)


def check_names(tap, path, folder):
    """Other names: the graph is the same, the map leads back, and no name of the program's is among the bytes."""
    name = os.path.basename(os.path.dirname(path)) + ", -names"
    to, map_file = os.path.join(folder, "copy.hprof"), os.path.join(folder, "names.map")
    for file in to, map_file:
        os.remove(file) if os.path.exists(file) else None
    run = cairn("-x", "redact %s -names %s" % (to, map_file), path)
    if not tap.ok(run.status == 0, name + ": a copy is written", run.err):
        return
    with open(map_file, encoding="utf-8") as f:
        names = dict(line.rstrip("\n").split("\t", 1) for line in f)
    renamed = re.sub(rb"(?<=\t)C\d+(?=(?:\[\])*\t)", lambda m: names[m.group().decode()].encode(), graph(to))
    tap.ok(graph(path) == renamed, name + ": the same graph")
    before = classes(path)
    tap.equal(classes(to, names), before, name + ": the map leads back to the same histogram")
    secret = {re.sub(r"[\[\]]", "", row[0]) for row in before if not KNOWN.match(row[0]) and row[0][0] != "<"}
    with open(to, "rb") as f:
        data = f.read()
    left = [n for n in secret if n.encode() in data or n.replace(".", "/").encode() in data]
    tap.ok(secret and not left, name + ": no name of a class of the program is left", left[:5])
    tap.ok(secret <= set(names.values()) and all(not KNOWN.match(n) for w, n in names.items() if w[0] == "C"),
           name + ": each has a line of the map, and no class of the library has",
           sorted(secret - set(names.values()))[:5])
    tap.equal(oct(os.stat(map_file).st_mode & 0o777), "0o600", name + ": the map is its owner's alone")
    tap.ok(cairn("-x", "check", to).status == 0, name + ": check finds nothing")


def check_ways(tap, folder):
    """-arrays and -strings, and what is refused."""
    to = os.path.join(folder, "copy.hprof")
    redact(tap, SHOP, to, "-arrays", name="-arrays")
    tap.equal(values_left(to, True), [], "-arrays: elements are 0")
    statics = cairn("-x", "x com.acme.shop.Shop", "--format", "json", to).out
    tap.ok('"0.19"' in statics, "-arrays: fields keep their values", statics[:400])
    tap.ok(graph(SHOP) == graph(to), "-arrays: the same graph")
    both = [cairn("--format", "csv", "-x", "collections", p).out for p in (SHOP, to)]
    rows = both[0].splitlines()[1:]
    tap.ok(both[0] == both[1] and rows and all(row.split(",")[2] for row in rows), "-arrays: sizes of collections stand in fields, and are told", both[1][:400])
    run = cairn("-x", "strings", to)
    tap.ok(run.status and "contents of primitive arrays" in run.err, "-arrays: why there are no texts", run)
    redact(tap, SHOP, to, "-strings", name="-strings")
    tap.ok(graph(SHOP) == graph(to), "-strings: the same graph")
    with open(to, "rb") as f:
        data = f.read()
    hidden = sorted(texts(SHOP))
    tap.none([t for t in hidden if t in data], hidden, "-strings: no text of a String is left")
    shop = cairn("-x", "x com.acme.shop.Shop", "--format", "json", to).out
    tap.ok('"0.19"' in shop, "-strings: numbers are left", shop[:400])
    tap.equal(oct(os.stat(to).st_mode & 0o777), "0o600", "the copy is its owner's alone")

    packed = os.path.join(folder, "shop.hprof.gz")
    with open(SHOP, "rb") as f, gzip.open(packed, "wb") as g:
        g.write(f.read())
    redact(tap, packed, to, name="gzip")
    tap.ok(graph(SHOP) == graph(to), "gzip: the same graph")
    cut = os.path.join(folder, "cut.hprof")
    with open(SHOP, "rb") as f, open(cut, "wb") as g:
        g.write(f.read()[:-1000])
    for path, word in ((cut, "damaged dump"), (SAMPLE, "PHD"), (GO, "Go dump")):
        os.remove(to) if os.path.exists(to) else None
        run = cairn("-x", "redact " + to, path)
        tap.ok(run.status and word in run.err and not os.path.exists(to), "refused: " + os.path.basename(path), run.err)
    before = open(SHOP, "rb").read()
    run = cairn("-x", "redact " + SHOP, SHOP)
    tap.ok(run.status and open(SHOP, "rb").read() == before, "the dump itself is never written to", run.err)
    run = cairn("-x", "redact /dev/full", SHOP)
    tap.ok(run.status and "space" in run.err, "a full disk is told", run.err)

    made = os.path.join(folder, "made.hprof")
    d = with_references()
    d.add_class("acme.Secret", fields="pin:I next:L code:J", statics="KEY:J held:L names:L")
    d.static("acme.Secret", "KEY", 0x123456789)
    d.static("acme.Secret", "held", d.new("acme.Secret", pin=4711, code=99, next=d.string("the secret text")))
    d.add_class("java.util.ArrayList", fields="elementData:L size:I")
    d.static("acme.Secret", "names", d.new("java.util.ArrayList", elementData=d.array([d.string("a name")]), size=1))
    d.text("a literal of the program")
    d.write(made)
    check_dump(tap, made, folder)
    with open(to, "rb") as f:
        tap.ok(b"literal of" not in f.read(), "literals among the symbols are gone")


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        check_ways(tap, folder)
        check_dump(tap, SHOP, folder)
        check_names(tap, SHOP, folder)
        for path in ("waste/jdk17/waste.hprof", "today/grove21.hprof",
                     "hotspot/sun_jdk6_31_hprofagent_nocompressedOops.hprof"):
            if DUMPS and os.path.exists(os.path.join(DUMPS, path)):
                check_names(tap, os.path.join(DUMPS, path), folder)
        same = cairn("-x", "redact %s/x -names %s/x" % (folder, folder), SHOP)
        tap.ok(same.status == 2 and "name two files" in same.err, "one file is not both", same.err)
        real = ["waste/jdk8/waste.hprof", "waste/jdk28/waste.hprof", "grove/grove-i386.hprof", "grove/grove-zgc.hprof",
                "hotspot/sun_jdk6_18_x32.hprof", "hotspot/sun_jdk6_31_hprofagent_nocompressedOops.hprof"]
        for path in sys.argv[1:] or [os.path.join(DUMPS, p) for p in some(real, 3) if DUMPS]:
            check_dump(tap, path, folder)
    tap.done()


main()
