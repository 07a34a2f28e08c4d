#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""PHD dumps of a real OpenJ9 against its system dumps of the same moment, as OpenJ9's own reader (DTFJ) has those.

Each set has a system dump, a PHD, the classic text and a javacore of one moment; ref-core.txt.xz is what DTFJ says of
the system dump: objects with references in the order of elements, classes with superclass and loader.
"""

import collections
import glob
import gzip
import json
import lzma
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Graph, Tap, cairn, need_dumps  # noqa: E402
from phdparse import parse  # noqa: E402

REAL = os.path.join(need_dumps(), "openj9-real")


def java_name(name):
    """java/lang/String, [I as Java source has them."""
    depth = len(name) - len(name.lstrip("["))
    core = name[depth:]
    if depth:
        core = core[1:-1] if core.startswith("L") else dict(zip(
            "ZCFDBSIJ", "boolean char float double byte short int long".split()))[core]
    return re.sub(r"/(?![0-9])", ".", core) + "[]" * depth


def address(word):
    """0x..., or c0x... of a class: the address of its object; /N is a kind of reference."""
    return int(word.split("/")[0].lstrip("c"), 16)


def read_core(folder):
    """address -> (class, length or None, references) of each object; address -> (name, superclass, loader)."""
    objects, classes = {}, {}
    with lzma.open(os.path.join(folder, "ref-core.txt.xz"), "rt", encoding="utf-8", errors="replace") as f:
        for line in f:
            if line[0] not in "OC":
                continue
            head, _, tail = line.rstrip("\n").partition(" :")
            part = head.split(" ")
            if line[0] == "O":
                length = int(part[4])
                fields = [address(w) for w in tail.split() if "/" not in w]
                objects[int(part[1], 16)] = (part[2], length if length >= 0 else None, fields)
            else:
                classes[int(part[1], 16)] = (part[2], part[3], part[6])
    return objects, classes


def of(folder, ending):
    return sorted(glob.glob(os.path.join(REAL, folder, "*" + ending)))[0]


def ask(command, dump):
    return json.loads(cairn("-x", command, "--format", "json", dump).out or "[]")


def check_references(tap, folder):
    """No reference is lost; elements come in their order."""
    objects, classes = read_core(os.path.join(REAL, folder))
    dump = of(folder, ".phd")
    graph = Graph.of_dump(dump, "-n")
    lost, order, n_arrays, to_class = [], [], 0, 0
    for a, o in graph.objects.items():
        want = objects.get(a)
        if want is None or o.kind == "class" or o.cls != java_name(want[0]):
            continue
        targets = [t for t in want[2] if t in graph.objects]
        to_class += o.kind == "instance" and o.class_address in targets
        if collections.Counter(o.out) != collections.Counter(targets) and folder != "shop-full":
            lost.append((hex(a), o.cls, [hex(t) for t in o.out][:4], [hex(t) for t in targets][:4]))
        if o.kind == "object_array":
            n_arrays += len(targets) > 1
            if o.out != targets:
                order.append((hex(a), o.cls))
    # threads that the VM makes between the dumps: a few objects are newer in the PHD
    tap.ok(len(lost) <= 9, "%s: references as the system dump has them" % folder, lost[:12])
    tap.none(order[:5], n_arrays, "%s: elements in their order, in %d arrays" % (folder, n_arrays), 501)
    return objects, classes, to_class


def check_places(tap, folder, objects):
    """Arrays without nulls name their elements; others name none."""
    dump = of(folder, ".phd")
    full = next(a for a, o in objects.items() if o[1] and o[1] == len(o[2]) > 3 and len(set(o[2])) == o[1])
    nulls = next(a for a, o in objects.items() if o[0].startswith("[L") and o[1] and 1 < len(o[2]) < o[1])
    rows = [r for r in ask("refs 0x%x -out" % full, dump) if not (r["field"] or "").startswith("<")]
    tap.equal([(r["field"], int(r["address"], 16)) for r in rows],
              [("[%d]" % i, t) for i, t in enumerate(objects[full][2])], "%s: refs names elements" % folder)
    rows = ask("entries 0x%x -start 1 -length 2" % full, dump)
    tap.equal([(r["index"], int(r["address"], 16)) for r in rows],
              list(enumerate(objects[full][2]))[1:3], "%s: entries of an array" % folder)
    rows = ask("refs 0x%x -out" % nulls, dump)
    run = cairn("-x", "entries 0x%x" % nulls, dump)
    tap.none([r for r in rows if (r["field"] or "").startswith("[")], rows, "%s: an array with nulls has no places" % folder)
    tap.ok(run.status == 1 and run.err, "%s: nor entries" % folder, run)


def classic_sizes(folder):
    with gzip.open(of(folder, ".txt.gz"), "rt", encoding="utf-8", errors="replace") as f:
        found = (re.match(r"0x([0-9A-F]+) \[(\d+)\] ", line) for line in f)
        return {int(m[1], 16): int(m[2]) for m in found if m}


def check_sizes(tap, folder):
    """As the classic text of the same moment has them, hashed objects included."""
    want = classic_sizes(folder)
    dump = of(folder, ".phd")
    got = {int(r["address"], 16): (r["shallow"], r.get("shallow_certainty")) for r in ask("ls *", dump)}
    wrong = [(hex(a), got[a], want[a]) for a in got if a in want and got[a][0] != want[a]]
    marked = [w for w in wrong if w[1][1]]
    tap.ok(len(want) > 20000 and len(wrong) == len(marked) <= 1, "%s: sizes of %d objects" % (folder, len(got)),
           "%d wrong: %s" % (len(wrong), wrong[:5]))
    hashed = [r["a"] for r in parse(dump)[2] if r["h"] is not None and r["a"] in want]
    tap.ok(len(hashed) > 100 and sum(got[a][0] == want[a] for a in hashed) >= len(hashed) - 1,
           "%s: of %d hashed ones" % (folder, len(hashed)))


def check_loaders(tap, folder, classes):
    dump = of(folder, ".phd")
    loader = {int(r["class_address"], 16): r["loader"] for r in ask("histo -all", dump) if r["class_address"]}
    wrong = [(hex(a), c[0], loader[a], c[2]) for a, c in classes.items()
             if a in loader and int(loader[a] or "0", 16) != int(c[2], 16)]
    tap.ok(len(loader) > 1000 and not wrong, "%s: loaders as the system dump has them" % folder, wrong[:5])
    rows = {r["class"]: r for r in ask("loaders", dump)}
    tap.equal((rows["java.lang.InternalAnonymousClassLoader"]["parent"] or None), None, "%s: *none* is none" % folder)
    text = cairn("-x", "loaders | grep Anonymous | cut parent", "--format", "csv", dump).out.splitlines()
    tap.ok(text[1].strip(",") == "", "%s: and not unknown" % folder, text)


def check_names(tap):
    """A letter beyond the BMP, in a thread's name and in the name of a class whose loader the javacore knows."""
    names = [t["name"] for t in ask("threads", of("grove-clean", ".phd"))]
    tap.ok("grove-ñ-日本-\U0001f332" in names or any("\U00010000" <= c for n in names for c in n),
           "letters beyond the BMP in names of threads", names)


def check_converted(tap):
    """What jdmpview made of a system dump: superclasses by the VM's own addresses, no true lengths."""
    folder = "conv-grove-full"
    dump = of(folder, ".phd")
    info = ask("info", dump)
    tap.ok((info["companion"] or "").endswith("javacore.20261126.190335.2292.0003.txt"), "its javacore", info["companion"])
    records = parse(dump)[2]
    names = {}
    with open(of(folder, ".txt"), encoding="utf-8", errors="replace") as f:
        for line in f:
            m = re.match(r"3CLTEXTCLASS\s+(\S+)\(0x([0-9A-F]+)", line)
            if m:
                names[int(m[2], 16)] = m[1]
    want = {r["a"]: java_name(names[r["sup"]]) for r in records if r["k"] == "C" and r["sup"] in names}
    graph = Graph.of_dump(dump)
    got = {a: graph.classes[c[2]][0] for a, c in graph.classes.items() if a in want and c[2] in graph.classes}
    ascii_only = {a: n for a, n in want.items() if n.isascii()}
    tap.ok(len(want) > 1500 and all(got.get(a) == n for a, n in ascii_only.items()), "superclasses of %d classes" % len(want),
           [(hex(a), got.get(a), n) for a, n in ascii_only.items() if got.get(a) != n][:5])
    rows = ask("ls byte[]", dump)
    unmarked = [r for r in rows if r["length"] is not None and r.get("length_certainty") != "inferred"]
    tap.ok(len(rows) > 1000 and not unmarked, "no length is shown unmarked", unmarked[:3])
    manifest = ask("ls int[]", of("grove-clean", ".phd"))
    tap.ok(manifest and not any(r.get("length_certainty") for r in manifest), "those of the VM's own PHD are exact")


def made_order(tap):
    """The class comes first in all objects or in none: in between a reference to one's own class is kept."""
    dump = of("self-clean", ".phd")
    with open(dump, "rb") as f:
        whole = f.read()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cut.phd")
        with open(path, "wb") as f:
            f.write(whole[:len(whole) // 2])
        raw = {r["a"]: r for r in parse(path, True)[2] if r["k"] in "OA"}
        graph = Graph.of_dump(path, "-n")
        wrong = [hex(a) for a, r in raw.items() if a in graph.objects and
                 len(graph.objects[a].out) != sum(t in graph.objects for t in r["refs"])]
        tap.ok(len(raw) > 5000 and not wrong, "a truncated dump loses none of %d objects' references" % len(raw), wrong[:5])


def main():
    tap = Tap()
    objects, classes, to_class = check_references(tap, "self-clean")
    tap.ok(to_class >= 1000, "self-clean: %d objects refer to their own class" % to_class)
    check_places(tap, "self-clean", objects)
    check_loaders(tap, "self-clean", classes)
    check_references(tap, "grove-balanced")
    for folder in ("grove-clean", "shop-full"):
        check_sizes(tap, folder)
    check_names(tap)
    check_converted(tap)
    made_order(tap)
    tap.done()


if __name__ == "__main__":
    main()
