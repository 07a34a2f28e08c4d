#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every command answers of a core what it answers of a heap dump of the same instant: data/make-go-core.sh.

The lines are those of tests/lib/commands.py.  Rows are compared without their order: equal ones come as records come.
What went on in between is left out: goroutine 1 wrote the heap dump and then ended the program, and its thread and
processor with it.  A core has what is outside of the heap, too: the arguments of the program, constants; and of what a
goroutine sends it tells in which frame that is.
"""

import gzip
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import commands  # noqa: E402
from cairntest import SOURCE, Tap, cairn, need_libdw  # noqa: E402

# Rows about what went on, and about the arguments.
WENT_ON = re.compile(r'goroutine (1|#) |"goroutine 1 |schedtick|^running,|^waiting,|GC cycle|^1,running|^1,waiting|'
                     r"gocart\.elf|22 bytes outside|^Stack frame,|main\.guard,|goroutine 14 |in main\.(offer|main\.func2)|"
                     r"via runtime\.sudog\.c|\[\]\*runtime\.moduledata")
# About the file itself, its format, its records, or all roots by number; processes; and what writes a file.
OTHERS = re.compile(r"(info|dumps|check|index|export|redact|bundle|report|help|attach|live|processes|save|source|open|histo -all)\b|finalizers\b.* -by")
FEWEST = 200  # lines that answer with rows


def rows(out):
    return sorted(line for line in out.splitlines() if not WENT_ON.search(line))


def main():
    need_libdw()
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        at = {}
        for name, packed in (("core", "gocart.core.gz"), ("dump", "gocart-core.dump.gz")):
            at[name] = os.path.join(folder, "gocart." + name)
            with gzip.open(os.path.join(SOURCE, "data", packed)) as f, open(at[name], "wb") as to:
                to.write(f.read())
        words = {"class": "main.Session", "object": ["main.last", "main.hot"], "thread": ["6", "8"], "folder": folder}
        lines = [line for of in commands.lines(words).values() for line in of if not OTHERS.match(line)]
        options = ["--no-index", "--no-config", "--exe", os.path.join(SOURCE, "data", "gocart.elf"), "--format", "csv"]
        answered, wrong = 0, []
        for line in lines:
            core, dump = (cairn(*options, "-x", line, at[name], cwd=folder) for name in ("core", "dump"))
            mine, its = rows(core.out), rows(dump.out)
            answered += len(mine) > 1
            more = ["core: " + r for r in mine if r not in its][:2] + ["dump: " + r for r in its if r not in mine][:2]
            if core.status != dump.status or more or len(mine) != len(its):
                wrong.append("%s: %d, %d; %d, %d rows\n%s" % (line, core.status, dump.status, len(mine), len(its), "\n".join(more)))
        tap.none(wrong, lines, "the same answers")
        tap.ok(answered >= FEWEST, "%d of %d lines answer with rows" % (answered, len(lines)))
    tap.done()


main()
