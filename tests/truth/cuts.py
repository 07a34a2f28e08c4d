#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What references free, against a naive algorithm: take them away, see what can still be reached.

Every reference of many random graphs alone, and sets of them; with one thread and with four.
CAIRN_SEEDS gives another number of seeds than 260.
"""

import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, MKDUMP, Run, Tap  # noqa: E402

TOOL = os.path.join(BUILD, "tests", "tools", "cuts")
SEEDS = int(os.environ.get("CAIRN_SEEDS", "260"))


def check_random(tap, directory):
    wrong, compared, freeing = [], 0, 0
    for seed in range(SEEDS):
        made = Run([MKDUMP, "random", "--seed", str(seed), "--out", os.path.join(directory, "g")])
        if made.status != 0:
            wrong.append("seed %d: %s" % (seed, made))
            break
        run = Run([TOOL, made.out.split("\t")[0]])
        if run.status != 0:
            wrong.append("seed %d (%s): %s" % (seed, made.out.strip(), run))
        elif run.out:
            word = run.out.split()
            compared += int(word[0])
            freeing += int(word[2])
        for name in os.listdir(directory):
            os.unlink(os.path.join(directory, name))
    tap.ok(not wrong, "%d random graphs as the naive algorithm has them" % SEEDS, "\n".join(wrong))
    tap.ok(freeing * 20 > compared, "of %d cuts %d free something" % (compared, freeing))


def main():
    tap = Tap()
    directory = tempfile.mkdtemp(prefix="cuts.", dir=os.path.join(BUILD, "tests"))
    check_random(tap, directory)
    shutil.rmtree(directory)
    tap.done()


main()
