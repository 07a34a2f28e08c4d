#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collections of the libraries themselves: what their own size() says, against size() in SQL, and the rows of `entries`.

tests/truth/libraries/ has a class for each library, which is left out where its jar (as Debian has it) is not there.
"""

import csv
import glob
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import SOURCE, Tap, cairn  # noqa: E402

JARS = "/usr/share/java"
NEEDED = {
    "Jdk": [],
    "Guava": ["guava"], "Trove": ["trove-3"], "Fastutil": ["fastutil"], "JCTools": ["jctools-core"],
    "Netty": ["netty-all", "netty-common", "netty-codec", "netty-codec-http"],
    "Commons3": ["commons-collections3"], "Commons4": ["commons-collections4"],
    "Spring": ["spring3-core", "commons-logging"], "CaffeineCaches": ["caffeine"], "Clojure": ["clojure"],
    "Hppc": ["hppc"], "Scala": ["scala-library"], "Vavr": ["vavr-0.x", "vavr-match-0.x"],
}


def make(tap, folder):
    """The dump and what it holds, [(elements, class)], of the libraries that are here."""
    if not shutil.which("javac"):
        return None, []
    here = [n for n, jars in NEEDED.items() if all(os.path.exists("%s/%s.jar" % (JARS, j)) for j in jars)]
    for name in sorted(set(NEEDED) - set(here)):
        tap.skip(name, "no " + ", ".join(NEEDED[name]))
    path = ["%s/%s.jar" % (JARS, j) for n in here for j in NEEDED[n]] + sorted(glob.glob(JARS + "/spec*.alpha*.jar"))
    sources = [os.path.join(SOURCE, "tests", "truth", "libraries", n + ".java") for n in ["Planted"] + here]
    made = subprocess.run(["javac", "-nowarn", "-Xlint:none", "-cp", ":".join(path), "-d", folder] + sources,
                          capture_output=True, text=True)
    if not tap.ok(made.returncode == 0, "the programs are compiled", made.stderr):
        return None, []
    out = os.path.join(folder, "libraries")
    ran = subprocess.run(["java", "-Xmx256m", "-cp", ":".join([folder] + path), "Planted", out] + here,
                         capture_output=True, text=True)
    if not tap.ok(ran.returncode == 0, "they ran", ran.stderr):
        return None, []
    with open(out + ".tsv", encoding="utf-8") as f:
        return out + ".hprof", [line.rstrip("\n").split("\t") for line in f]


def field_address(path, what, name):
    run = cairn("--no-index", "--format", "csv", "-x", "x " + what, path)
    return {r[0]: r[5] for r in csv.reader(run.out.splitlines()) if len(r) > 5}.get(name)


def check(tap, path, expected):
    array = field_address(path, "Planted", "planted")
    run = cairn("--no-index", "--format", "csv", "-x", "x " + array, path)
    address = {r[0]: r[5] for r in csv.reader(run.out.splitlines()) if len(r) > 5}
    at = [address["[%d]" % i] for i in range(len(expected))]
    sizes = ", ".join("size(%s)" % a for a in at)
    run = cairn("--no-index", "--format", "csv", "-x", "sql SELECT " + sizes, path)
    told = list(csv.reader(run.out.splitlines()))[1] if run.status == 0 else []
    for (_, size, name), mine in zip(expected, told):
        if size:
            tap.equal(mine, "" if size == "?" else size, "%s: size() is %s" % (name, size))
    for (rows, _, name), a in zip(expected, at):
        if rows == "?":
            run = cairn("--no-index", "--format", "csv", "-x", "entries " + a, path)
            tap.ok(run.status and "is not a known collection" in run.err, name + " shows a part that is unknown", run)
    at = [a for a, e in zip(at, expected) if e[0] != "?"]
    expected = [e for e in expected if e[0] != "?"]
    lines = [x for a in at for x in ("-x", "entries " + a)]
    run = cairn("--no-index", "--format", "csv", *lines, path)
    blocks = [b for b in run.out.split("index,") if b]
    tap.equal((run.status, len(blocks)), (0, len(expected)), "each is a collection that is known")
    if len(blocks) != len(expected):
        tap.ok(False, "which are not", run.err)
        return
    for (rows, size, name), block in zip(expected, blocks):
        lines = [r for r in csv.reader(block.splitlines()) if r][1:]
        tap.equal(len(lines), int(rows), "%s has %s rows" % (name, rows))


def main():
    tap = Tap()
    folder = tempfile.mkdtemp()
    try:
        path, expected = make(tap, folder)
        if path:
            check(tap, path, expected)
        else:
            tap.skip("libraries", "no javac, or none of them")
    finally:
        shutil.rmtree(folder)
    tap.done()


main()
