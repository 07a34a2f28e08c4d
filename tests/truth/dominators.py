#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dominators and retained sizes against three kinds of truth.

Random graphs against a naive algorithm (take an object away, see what can still be reached); shapes
whose dominators are known by the way they are built, so large that a quadratic algorithm would not
come to an end; and, where there are dumps, the generator's own dominators of every object and
Eclipse MAT's fifty largest.  CAIRN_SEEDS gives another number of seeds than 36 (160 in the long run).
"""

import glob
import gzip
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, DUMPS, LONG, MKDUMP, QUICK, Run, Tap, cairn, seeds, some_synthetic  # noqa: E402
from hprof import Dump  # noqa: E402

TOOL = os.path.join(BUILD, "tests", "tools", "dominators")
PROMISES = {
    "parents dominate", "no sibling dominates another", "the tree has all reachable objects",
    "retained sizes sum up", "classes retain the sum of their topmost objects",
    "paths are valid and shortest",
}
SEEDS = seeds(20, 160)
NODES = "20000" if QUICK else "1000000" if LONG else "150000"


def tree(*arguments):
    """Address of every object: address of its immediate dominator (0: roots, None), retained."""
    run = Run([TOOL, *arguments])
    if run.status != 0:
        return {"run": str(run)}
    found = {}
    for line in run.out.splitlines():
        address, above, retained = line.split("\t")
        found[int(address, 16)] = (None if above == "-" else int(above, 16), int(retained))
    return found


def check_random(tap, directory):
    wrong, proofs = [], 0
    for seed in SEEDS:
        made = Run([MKDUMP, "random", "--seed", str(seed), "--out", os.path.join(directory, "g")])
        if made.status != 0:
            wrong.append("seed %d: %s" % (seed, made))
            break
        path = made.out.split("\t")[0]
        run = Run([TOOL, "-n", path])
        proof = cairn("-x", "check -tree | cut check,result", "--format", "json", path)
        outcome = {line["check"]: line["result"] for line in json.loads(proof.out or "[]")}
        proved = {check for check, result in outcome.items() if result == "ok"}
        proofs += len(proved)
        if not PROMISES <= proved or "broken" in outcome.values():
            wrong.append("seed %d: check -tree: %s" % (seed, proof))
        if seed % 10 == 0 and Run([TOOL, "-spoil", path]).status != 0:
            wrong.append("seed %d: a spoiled tree passes as one" % seed)
        if run.status != 0:
            wrong.append("seed %d (%s): %s" % (seed, made.out.strip(), run))
        for name in os.listdir(directory):
            os.unlink(os.path.join(directory, name))
    tap.none(wrong, proofs, "%d random graphs as the naive algorithm has them" % len(SEEDS))


def check_shapes(tap):
    for shape in ("list", "list-array-first", "list-values", "list-values-array-first", "shared", "held-from-end"):
        run = Run([TOOL, "-shape", shape, NODES])
        tap.ok(run.status == 0, "%s of %s" % (shape, NODES), run)


def check_synthetic(tap, directory):
    for expected in some_synthetic(sorted(glob.glob(os.path.join(DUMPS, "synthetic", "*.expected.json")))):
        path = expected[:-len(".expected.json")]
        name = os.path.basename(path)
        with open(expected, encoding="utf-8") as f:
            truth = json.load(f)
        file = truth.get("retained_all_file")
        if not file or not os.path.exists(path):
            continue
        want, roots = {}, []
        with gzip.open(os.path.join(DUMPS, "synthetic", file), "rt", encoding="utf-8") as f:
            for line in f:
                if line.startswith("#"):
                    continue
                part = line.rstrip("\n").split("\t")
                want[int(part[0], 16)] = int(part[5], 16)
                if part[6] == "1":
                    roots.append(part[0])
        listed = os.path.join(directory, "roots")
        with open(listed, "w", encoding="ascii") as f:
            f.write("\n".join(roots) + "\n")
        got = tree("-r", listed, path)
        tap.equal({a: g[0] for a, g in got.items()}, want, "%s: every immediate dominator" % name)


def mat_truths():
    for path in sorted(glob.glob(os.path.join(DUMPS, "hotspot", "*.hprof*.mat.json.gz"))):
        if ".heap" not in os.path.basename(path):
            yield path[:-len(".mat.json.gz")], path
    for path in sorted(glob.glob(os.path.join(DUMPS, "openj9", "*.mat-loaderfix.json.gz"))):
        yield path[:-len(".mat-loaderfix.json.gz")], path


class AsMat(Dump):
    """A dump and where its classes name what Eclipse MAT does not follow: signers, protection domain and
    constants."""

    def __init__(self, data):
        super().__init__(data)
        self.places = []

    def read_class(self, body):
        s, at = self.ids, body + 9 * self.ids + 8 - 2 * self.ids
        self.places += [body + 3 * s + 4, body + 4 * s + 4]
        n, at = self.u2(at), at + 2
        for _ in range(n):
            if self.data[at + 2] == 2:
                self.places.append(at + 3)
            at += 3 + self.width(self.data[at + 2])
        return super().read_class(body)


def as_mat_reads(path, directory):
    """A copy without these references."""
    dump = (gzip.open if path.endswith(".gz") else open)(path, "rb").read()
    reader = AsMat(dump)
    reader.classes = {}
    for heap in range(len(reader.heaps)):
        for _ in reader.records(heap):
            pass
    data = bytearray(dump)
    for at in reader.places:
        data[at:at + reader.ids] = bytes(reader.ids)
    copy = os.path.join(directory, "mat.hprof")
    with open(copy, "wb") as f:
        f.write(data)
    return copy


def check_mat(tap, directory):
    for path, truth in mat_truths():
        with gzip.open(truth, "rt", encoding="utf-8") as f:
            mat = json.load(f)
        # PHD records no roots, and we guess others than MAT: the tree must be equal over MAT's
        options = []
        if path.endswith(".phd"):
            options = ["-R", os.path.join(directory, "roots")]
            with open(options[1], "w", encoding="ascii") as f:
                f.write("".join(r["address"] + "\n" for r in mat["roots"]))
        got = tree("-m", *options, as_mat_reads(path, directory) if ".hprof" in path else path)
        want = {int(r["address"], 16): r["retained"] for r in mat["top_dominators"]}
        found = {a: got[a][1] if a in got else None for a in want}
        tap.equal(found, want, "%s: what MAT's largest retain" % os.path.basename(path))
        check_top(tap, path, mat, got)


def check_top(tap, path, mat, got):
    """How many stand at the top, and what they retain together.  MAT's rules make it more by one
    object of java.lang.ClassLoader in HPROF, which stands for the boot loader; and in PHD by roots
    that are no objects of the dump: of these it tells no sizes."""
    top = [g[1] for g in got.values() if g[0] == 0]
    more, bytes_more = 0, 0
    if path.endswith(".phd"):
        more = len(set(r["address"] for r in mat["roots"] if int(r["address"], 16) not in got))
    else:
        more = 1
        bytes_more = sum(r["shallow"] // r["objects"] for r in mat["histogram"]
                         if r["class"] == "java.lang.ClassLoader" and r["objects"])
    name = os.path.basename(path)
    tap.equal(len(top) + more, mat["dominator_roots"], "%s: objects at the top" % name)
    if not more or bytes_more:
        tap.equal(sum(top) + bytes_more, mat["dominator_roots_retained_sum"],
                  "%s: what they retain together" % name)


def ask(path, line):
    return json.loads(cairn("-x", line, "--format", "json", path).out or "[]")


def check_shop(tap):
    """What a program built and knows the size of: 22,003 and 95,879 objects."""
    path = os.path.join(DUMPS, "grove", "shop-small.hprof")
    if not os.path.exists(path):
        return
    with open(path[:-len(".hprof")] + ".expected.json", encoding="utf-8") as f:
        truth = json.load(f)
    leak = ask(path, "ls shop.Shop$SessionCache -retained")
    tap.equal([r["retained"] for r in leak], [truth["SessionCache_LEAK"]["bytes"]], "shop: the leak")
    want = truth["Shop_DB"]["bytes"] # without the class of its arrays, which the VM keeps with OrderLine
    database = ask(path, "ls shop.Shop$Database -retained")
    tap.equal([r["retained"] for r in database], [want], "shop: the database")
    tap.equal(ask(path, "size shop.Shop$Database")["retained"], want, "shop: the database as a set")


def main():
    tap = Tap()
    directory = tempfile.mkdtemp(prefix="dominators.", dir=os.path.join(BUILD, "tests"))
    check_random(tap, directory)
    check_shapes(tap)
    if os.path.isdir(DUMPS):
        check_synthetic(tap, directory)
        check_mat(tap, directory)
        check_shop(tap)
    shutil.rmtree(directory)
    tap.done()


main()
