#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The worked examples of CONTRIBUTING.md work: they are applied to a copy of the sources, it is built, and the new
column, command and key are tried.  Only in a long check, or with -v: it needs a build of its own.
"""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from cairntest import LONG, SHOP, SOURCE, Run, Tap, skip_all  # noqa: E402
from vt52 import Screen  # noqa: E402

NEEDED = ("src", "tests", "doc", "data", "bench", "debian", "configure.ac", "Makefile.am", "COPYING", "NEWS", "README.md",
          "CONTRIBUTING.md", "bootstrap")


def examples():
    """The parts of the patches in the order of the document, as (file, text before, text after)."""
    with open(os.path.join(SOURCE, "CONTRIBUTING.md"), encoding="utf-8") as f:
        for block in re.findall(r"^```diff\n(.*?)^```", f.read(), re.M | re.S):
            for name, parts in re.findall(r"^--- (\S+)\n(.*?)(?=^--- |\Z)", block, re.M | re.S):
                for part in parts.split("@@\n")[1:]:
                    lines = part.splitlines(True)
                    yield (name, *("".join(line[1:] for line in lines if line[0] in wanted) for wanted in (" -", " +")))


def apply(tap, tree):
    wrong, done = [], 0
    for name, before, after in examples():
        path = os.path.join(tree, name)
        text = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
        if text.count(before) != 1 and (before or text):
            wrong.append("%s has %d times: %s" % (name, text.count(before), before))
            continue
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace(before, after) if before else after)
        done += 1
    return tap.none(wrong, done, "the examples fit the sources", 8)


def build(tap, tree):
    script = "autoreconf -i && mkdir build && cd build && ../configure -q CFLAGS=-O0 && make -s -j2 cairn"
    made = Run(["sh", "-c", script], cwd=tree, timeout=1800)
    return tap.ok(made.status == 0, "it builds", made.err[-3000:])


def use(tap, cairn):
    def ask(line):
        return Run([cairn, "--no-config", "--no-index", "--format", "csv", "-x", line, SHOP]).out.split()
    size = dict(zip(*(row.split(",") for row in ask("size java.lang.String"))))
    tap.equal(int(size["mean"]), int(size["shallow"]) // int(size["objects"]), "the column has the mean")
    tap.equal(ask("count java.lang.String"), ["objects", size["objects"]], "the command counts")
    tap.ok("count SET" in Run([cairn, "-x", "help count"]).out, "help has the command")
    keys = Run([cairn, "-x", "help keys"]).out
    tap.ok(re.search(r"^C  .*count", keys, re.M), "the key is listed", keys)
    screen = Screen(SHOP, program=cairn)
    try:
        screen.until(r"1 histogram")
        screen.type("C")
        screen.until(lambda text: text.split("\n")[1].startswith("histogram > byte[]"))
        tap.ok(re.search(r"^ +objects +1,106$", screen.text(), re.M), "the key asks it about the row", screen.text())
    finally:
        screen.close()


def main():
    if not LONG and "-v" not in sys.argv:
        skip_all("it needs a build of its own: ./bootstrap check --long")
    tap = Tap()
    with tempfile.TemporaryDirectory() as tree:
        for name in NEEDED:
            subprocess.run(["cp", "-r", os.path.join(SOURCE, name), tree], check=True)
        if apply(tap, tree) and build(tap, tree):
            use(tap, os.path.join(tree, "build", "cairn"))
    tap.done()


main()
