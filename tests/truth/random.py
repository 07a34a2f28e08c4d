#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random graphs in every layout of the formats: the heap must be the one that was planted.

Object by object: kind, class, sizes, lengths, references out in file order and in by mirroring;
with one thread and with four.  CAIRN_SEEDS gives another number of seeds than 260.
"""

import gzip
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, GRAPHDUMP, Graph, MKDUMP, Run, Tap, compare  # noqa: E402

SEEDS = int(os.environ.get("CAIRN_SEEDS", "260"))


def one(tap, directory, seed):
    prefix = os.path.join(directory, "r%d" % seed)
    made = Run([MKDUMP, "random", "--seed", str(seed), "--out", prefix])
    if made.status != 0:
        return tap.ok(False, "seed %d" % seed, made)
    path, layout = made.out.strip().split("\t")
    truth = Graph.of_file(prefix + ".truth")
    if seed % 5 == 0:
        with open(path, "rb") as plain, gzip.open(path + ".gz", "wb", 1) as packed:
            shutil.copyfileobj(plain, packed)
        path += ".gz"
    wrong = []
    outputs = []
    for threads in ("1", "4"):
        graph = Graph.of_dump(path, "-t", threads, "-n")
        outputs.append(graph.run.out)
        if graph.run.status != 0:
            wrong.append(str(graph.run))
            break
        wrong += ["-t %s: %s" % (threads, w) for w in compare(graph, truth)]
    if len(outputs) == 2 and outputs[0] != outputs[1]:
        wrong.append("one thread and four differ")
    tap.ok(not wrong, "seed %d: %s" % (seed, layout), "\n".join(wrong))
    if not wrong:
        for name in os.listdir(directory):
            os.unlink(os.path.join(directory, name))


def main():
    tap = Tap()
    directory = tempfile.mkdtemp(prefix="random.", dir=os.path.join(BUILD, "tests"))
    for seed in range(SEEDS):
        one(tap, directory, seed)
        if tap.failed > 20:
            print("# more than 20 failures: stopping")
            break
    if not tap.failed:
        shutil.rmtree(directory)
    else:
        print("# the failing dumps are kept in", directory)
    tap.done()


main()
