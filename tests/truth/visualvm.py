#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Redacted copies and exports as VisualVM reads them: the same classes, instances, roots and references as in the
original.

Skipped where its library (Debian's package visualvm) is not there.
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, SHOP, SOURCE, Tap, cairn  # noqa: E402

LIBRARY = "/usr/share/visualvm/visualvm/modules/org-graalvm-visualvm-lib-jfluid-heap.jar"
BESIDE = [j for j in sorted(glob.glob("/usr/share/netbeans/platform*/lib/*.jar")) if "$" not in j]


def found(folder, paths):
    """By dump what VisualVM tells of it; an empty dictionary: it could not be asked."""
    path = ":".join([folder, LIBRARY] + BESIDE)
    source = os.path.join(SOURCE, "tests", "truth", "visualvm", "Graph.java")
    made = subprocess.run(["javac", "-nowarn", "-cp", path, "-d", folder, source], capture_output=True, text=True)
    if made.returncode:
        print("# " + made.stderr[:500].replace("\n", "\n# "))
        return {}
    ran = subprocess.run(["java", "-Xmx1g", "-cp", path, "Graph"] + paths, capture_output=True, text=True)
    told = {}
    for block in ran.stdout.split("dump ")[1:]:
        name, _, rest = block.partition("\n")
        told[name] = rest
    if ran.returncode:
        print("# " + ran.stderr[:500].replace("\n", "\n# "))
    return told


def main():
    tap = Tap()
    if not os.path.exists(LIBRARY) or not shutil.which("javac"):
        tap.skip("VisualVM", "neither its library nor javac" if not shutil.which("javac") else "no " + LIBRARY)
        tap.done()
    folder, pairs = tempfile.mkdtemp(), []
    some = ["waste/jdk17/waste.hprof", "waste/jdk8/waste.hprof", "today/grove21.hprof", "hotspot/oracle_jdk8_05_x64.hprof"]
    try:
        for i, path in enumerate([SHOP] + [os.path.join(DUMPS, p) for p in some if DUMPS]):
            if not os.path.exists(path):
                continue
            original = os.path.join(folder, "%d.hprof" % i)  # VisualVM may write beside what it reads
            shutil.copy(path, original)
            for options in ("", "-arrays", "-strings") if i < 2 else ("",):
                copy = os.path.join(folder, "%d%s.copy.hprof" % (i, options))
                run = cairn("-x", "redact %s %s" % (options, copy), original)
                tap.ok(run.status == 0, "%s %s: a copy is written" % (os.path.basename(path), options), run)
                pairs.append((os.path.basename(path) + " " + options, original, copy))
            copy = os.path.join(folder, "%d.export.hprof" % i)
            run = cairn("-x", "export -hprof " + copy, original)
            tap.ok(run.status == 0, os.path.basename(path) + ": it is exported", run)
            pairs.append((os.path.basename(path) + " exported", original, copy))
        told = found(folder, sorted({p for _, *both in pairs for p in both}))
        for name, original, copy in pairs:
            tap.ok(told.get(original) and told.get(original) == told.get(copy), name + ": VisualVM finds the same in the copy",
                   "%.300s\n%.300s" % (told.get(original), told.get(copy)))
    finally:
        shutil.rmtree(folder)
    tap.done()


main()
