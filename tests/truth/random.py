#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random graphs in every layout of the formats: the heap must be the one that was planted.

Object by object: kind, class, sizes, lengths, references out in file order and in by mirroring;
with one thread and with four.  CAIRN_SEEDS gives another number of seeds than 60 (160 in the long run).
"""

import gzip
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Graph, Tap, compare, make_dump, seeds, try_seeds  # noqa: E402

SEEDS = seeds(60, 160)


def one(directory, seed):
    prefix, made = make_dump(directory, "random", seed)
    if made.status != 0:
        return "mkdump", [str(made)], 0
    path, layout = made.out.strip().split("\t")
    if seed % 5 == 0:
        with open(path, "rb") as plain, gzip.open(path + ".gz", "wb", 1) as packed:
            shutil.copyfileobj(plain, packed)
        path += ".gz"
    graph, wrong = Graph.of_dump_by_threads(path)
    truth = Graph.of_file(prefix + ".truth")
    return layout, wrong or compare(graph, truth), len(truth.objects)


def main():
    tap = Tap()
    try_seeds(tap, SEEDS, one)
    tap.done()


main()
