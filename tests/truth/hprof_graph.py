#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real HPROF dumps, object by object, against a second and much simpler reader.

The reader (tests/lib/hprof.py) shares nothing with the program.  Compared are every object with its
class, length and references in their order, every class with its name, superclass and loader, and every
root.  With it go the counts that the dumps' makers state (*.counts.json).
"""

import glob
import gzip
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Graph, Tap, cairn, compare, need_dumps, some  # noqa: E402
from hprof import java_name, reachable, read  # noqa: E402


def normal(name):
    """As java_name, but the number of a hidden class keeps its slash in the program."""
    head, slash, tail = name.rpartition("/")
    return head + "." + tail if slash and tail[:1].isdigit() else name


def count_fillers(graph):
    """The program tells fillers of the collector from other int[]; the dump does not."""
    fillers = [o for o in graph.objects.values() if o.cls == "<filler>"]
    for a, c in graph.classes.items() if fillers else ():
        if c[0] == "int[]":
            graph.classes[a] = c[:3] + (c[3] + len(fillers),) + c[4:]
            for o in fillers:
                o.cls, o.class_address = "int[]", a


def check(tap, path, threads):
    name = os.path.basename(path)
    dump = read(path)
    want = dump.graph(-1)
    for t in threads:
        got = Graph.of_dump(path, "-t", t)
        count_fillers(got)
        for o in got.objects.values():
            o.cls = normal(o.cls)
        got.classes = {a: (normal(c[0]),) + c[1:] for a, c in got.classes.items()}
        tap.ok(got.run.status == 0, "%s opens (-t %s)" % (name, t), got.run.err)
        wrong = compare(got, want)
        tap.none(wrong, want.objects, "%s: every object and class as the simple reader has it (-t %s)" % (name, t))
        tap.equal(sorted(set(got.roots) ^ want.roots)[:9], [], "%s: every root (-t %s)" % (name, t))
    inferred = len(want.roots) - len({e[:2] for e in want.entries})
    tap.equal(json.loads(cairn("-x", "info", "--format", "json", path).out)["root_entries"],
              len(want.entries) + inferred, "%s: what makes objects roots, alike ones once" % name)
    return dump


def check_reachable(tap, path, dump):
    """What is reachable: as a simple walk finds it, and without what Eclipse MAT does not follow (a class's
    constants, which the old agent wrote, its signers and its protection domain) as MAT counts it."""
    name = os.path.basename(path)
    for truth in sorted(glob.glob(path + ".mat.json.gz") + glob.glob(path + ".heap*.mat.json.gz")):
        heap = int(truth[len(path) + 5]) if ".heap" in truth[len(path):] else len(dump.heaps)
        with gzip.open(truth, "rt", encoding="utf-8") as f:
            mat = json.load(f)
        graph = dump.graph(heap - 1)
        by_mat = reachable(graph, {a: c["beyond"] for a, c in dump.classes.items()})
        tap.equal(len(by_mat), mat["objects"] - 1, "%s, heap %d: reachable by MAT" % (name, heap))
        run = cairn("-x", "info", "--format", "json", "--sizes", "mat", "--dump", str(heap), path)
        tap.equal(json.loads(run.out or "{}").get("reachable_objects"), len(reachable(graph)),
                  "%s, heap %d: reachable, all that a class holds followed" % (name, heap))


def check_counts(tap, path):
    """What the dump's maker counted in it, and what the program built."""
    name = os.path.basename(path)
    base = path.split(".hprof")[0]
    with open(base + ".counts.json", encoding="utf-8") as f:
        counts = json.load(f)
    run = cairn("-x", "info", "--format", "json", path)
    info = json.loads(run.out or "{}")
    heap = counts["heap_records"]
    want = {"objects": counts["objects"], "classes": heap["CLASS_DUMP"],
            "instances": heap["INSTANCE_DUMP"], "object_arrays": heap["OBJ_ARRAY_DUMP"],
            "primitive_arrays": heap["PRIM_ARRAY_DUMP"], "word_bits": 8 * counts["id_size"],
            "threads": heap["ROOT_THREAD_OBJECT"]}
    tap.equal({k: info.get(k) for k in want}, want, "%s: info" % name)
    run = cairn("-x", "histo", "--format", "json", path)
    ours = {}
    for row in json.loads(run.out or "[]"):
        name_of = "int[]" if row["class"] == "<filler>" else row["class"]
        ours[name_of] = ours.get(name_of, 0) + row["objects"]
    want = {java_name(k): sum(r["instances"] for r in (v if isinstance(v, list) else [v]))
            for k, v in counts["instances"].items()}
    if "java.lang.Class" in want:
        want["java.lang.Class"] += heap["CLASS_DUMP"]
    tap.equal({k: ours.get(k) for k in want}, want, "%s: objects of %d classes" % (name, len(want)))


def main():
    dumps = need_dumps()
    tap = Tap()
    real = sorted(glob.glob(os.path.join(dumps, "hotspot", "*.hprof")))
    tap.ok(len(real) >= 4, "there are dumps in hotspot/", real)
    for path in some(real, 2):
        check_reachable(tap, path, check(tap, path, ("1", "3")))
    for name in ("grove25-gz.hprof.gz", "grove-i386.hprof", "grove-zgc.hprof"):
        check(tap, os.path.join(dumps, "grove", name), ("2",))
    counted = [p for p in sorted(glob.glob(os.path.join(dumps, "grove", "*.hprof*")))]
    tap.ok(len(counted) >= 10, "there are dumps in grove/", counted)
    for path in some(counted, 2):
        check_counts(tap, path)
    tap.done()


main()
