#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""However a dump is read, every command answers the same, byte for byte: with one thread, two and five, from an index,
from a packed one, and where what does not fit into --mem goes into a file.  So do the files that commands write.

The lines are those of tests/lib/commands.py, of which each dump is asked some by turns, and for the samples README.md's.  The dumps: one of each format as
programs wrote them, all rows of each answer, as text and as JSON; and made ones, large enough that threads share the work
and that memory can be too small, the first rows of each answer.  Arguments name the dumps to try.

Each dump takes turns: two threads or five, an index or a packed one, of written ones text or JSON on each way; what one dump is not asked another one is, and "./bootstrap check --long" asks all of all.
"""

import glob
import gzip
import os
import re
import shutil
import sqlite3
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
import commands  # noqa: E402
from cairntest import DUMPS, GO, LONG, MKDUMP, SAMPLE, SAMPLE_TEXT, SERIES, SHOP, SOURCE, Run, Tap, cairn, manual_commands, some, turn  # noqa: E402

OBJECTS = 100000  # of made dumps
FEWER = OBJECTS if LONG else 70000  # of those without values; some works begin to be shared at 65536
ROWS = "40"      # of each answer about these
EVERY = 16       # so many lines are asked in turns
# What may differ in a line: how long checks took, how many threads, which limit; lines that name the index; how large
# the index's lists of places are, which are noted by stretches that a thread reads, and what export writes of info.
MAY = re.compile(r'it took [\d,.]+ \w+|"milliseconds": \d+|^.*\bthreads\b.*worker.*|^.*\bmem\b.*memory.*|'
                 r'^[^:]*"part": "place.*|^place.*|wrote the index of this dump to.*|^.*/info/host=.*')
INDEX = re.compile("index_(file|packed)")
# Of made dumps each row has a text or a group of its own, and these stay in memory.
TEXTS = re.compile(r"refs \* -by holder|top -n 1000000")
PLAIN = ["--threads", "1", "--no-index"]


def rows_of(path):
    with sqlite3.connect(path) as db:
        return [line for line in db.iterdump() if not INDEX.search(line)]


class Answer:
    """What lines answered: status, what was printed, and the files that were written."""

    def __init__(self, run, folder):
        self.status, self.folder = run.status, folder
        self.out, self.err = ([line for line in text.split("\n") if not INDEX.search(line)] for text in (run.out, run.err))
        self.files = sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)

    def same_file(self, other, name):
        a, b = (os.path.join(answer.folder, name) for answer in (self, other))
        if name.endswith(".cairn"):  # as good in another order: an index is a way itself
            return True
        with open(a, "rb") as f, open(b, "rb") as g:
            x, y = f.read(), g.read()
        if x == y:
            return True
        if name.endswith((".sqlite", ".db")):
            return rows_of(a) == rows_of(b)
        x, y = ([line for line in text.split(b"\n") if not INDEX.search(line.decode("utf-8", "replace"))] for text in (x, y))
        return x == y

    def differs(self, other):
        """How, or nothing."""
        told = [] if self.status == other.status else ["- status %s\n+ status %s" % (self.status, other.status)]
        for a, b in (self.out, other.out), (self.err, other.err):
            told += ["- %.600s\n+ %.600s" % (x, y) for x, y in zip(a, b) if x != y and MAY.sub("", x) != MAY.sub("", y)][:3]
            if len(a) != len(b):
                told.append("%d lines, %d lines" % (len(a), len(b)))
        if self.files != other.files:
            told.append("files: %s, %s" % (self.files, other.files))
        else:
            told += ["another %s" % name for name in self.files if not self.same_file(other, name)]
        return "\n".join(told)


class Dump:
    def __init__(self, number, name, path, older, mem, formats=("text", "json"), rows=None):
        self.name, self.older, self.mem, self.formats, self.path = name, older, mem, formats, path
        self.common = ["--no-config"] + (["--top", rows] if rows else [])
        n = int(cairn("--format", "csv", "-x", "info | cut objects", path).out.split()[-1])
        words = {"class": "*", "object": ["#%d" % (n // 2), "#%d" % (n - 1)], "thread": ["0", "1"], "folder": "out"}
        self.lines = [line for dump, lines in manual_commands() for line in lines if path.endswith(dump)]
        scripts = [script for lines in commands.lines(words).values() for script in lines]
        self.lines += [line for script in some(scripts, EVERY, number) for line in script.split("; ")
                       if not re.match(r"index .* -(by|sort|where|r)\b", line)]  # the sizes of its parts may differ
        if mem:
            self.lines = [line for line in self.lines if not TEXTS.match(line)]

    def run(self, folder, options, n=None):
        """The first n lines (all) in one session."""
        own = tempfile.mkdtemp(dir=folder)
        os.mkdir(os.path.join(own, "out"))
        with open(os.path.join(own, "out", "script"), "w", encoding="utf-8") as f:
            f.write("histo\nsize #0\n")
        words = [word for line in self.lines[:n] for word in ("-x", line)]
        run = cairn(*self.common, *options, *words, self.older, self.path, cwd=own, timeout=600, env={"HOME": own})
        return Answer(run, own)

    def culprit(self, folder, one, other):
        """The first line after which two ways differ, and how."""
        low, high, told = 0, len(self.lines), ""
        while high - low > 1:
            middle = (low + high) // 2
            found = self.run(folder, one, middle).differs(self.run(folder, other, middle))
            low, high, told = (low, middle, found) if found else (middle, high, told)
        return "%s\n%s" % (self.lines[low], told)


def indexed(tap, dump, number, folder):
    """The ways through an index that this dump has."""
    kinds = [("an index", "index")]
    if "-packed" in cairn("-x", "help index").out:
        kinds.append(("a packed index", "index -packed"))
    else:
        tap.skip(dump.name + ": a packed index", "there is none")
    for name, line in turn(number, kinds):
        at = os.path.join(folder, "%s.%s" % (dump.name.replace(" ", "-"), line.replace(" ", "")))
        written = cairn("-x", "%s %s" % (line, at), dump.path)
        if written.status and "Go" in dump.name and "no index" in written.err:
            tap.skip("%s: %s" % (dump.name, name), "a Go dump has none")
        elif tap.ok(not written.status and os.path.exists(at), "%s: %s is written" % (dump.name, name), written):
            yield name, ["--threads", "2", "--index", at]


def spilled(tap, dump, threads, folder):
    """A limit that does not suffice, with a folder for the rest."""
    if not dump.mem:
        return
    alone = cairn("--no-index", "--mem", dump.mem, "--spill", "none", "-x", "dom | head 1", dump.path)
    tap.ok(alone.status and "--mem allows" in alone.err, "%s: --mem %s alone does not suffice" % (dump.name, dump.mem), alone)
    yield "--mem %s and a file" % dump.mem, ["--threads", threads, "--no-index", "--mem", dump.mem, "--spill", folder]


def same(tap, dump, number, folder):
    threads = ["2", "5"] if number % 2 == 0 else ["5", "2"]
    ways = [("%s threads" % n, ["--threads", n, "--no-index"]) for n in turn(0, threads)]
    ways += [*indexed(tap, dump, number // 2, folder), *spilled(tap, dump, threads[1], folder)]
    told = {format: ["--format", format] for format in dump.formats}
    plain = {format: dump.run(folder, PLAIN + told[format]) for format in dump.formats}
    for format, answer in plain.items():
        size = sum(map(len, answer.out))
        tap.ok(size > 10000 and answer.files, "%s: %d lines answer, %d bytes of %s and %d files" %
               (dump.name, len(dump.lines), size, format, len(answer.files)), answer.err)
    for i, (name, options) in enumerate(ways):
        for format in turn(number + i, dump.formats):
            odd = plain[format].differs(dump.run(folder, options + told[format]))
            tap.ok(odd == "", "%s: %s: the same %s" % (dump.name, name, format), odd and odd[:3000] + "\nafter " +
                   dump.culprit(folder, PLAIN + told[format], options + told[format]))


def made(tap, folder):
    at = {kind: os.path.join(folder, "made." + kind) for kind in ("phd", "classic", "hprof", "go")}
    runs = [Run([MKDUMP, "bench", "--objects", str(FEWER), "--phd", at["phd"], "--classic", at["classic"]]),
            Run([MKDUMP, "bench", "--objects", str(OBJECTS), "--hprof", at["hprof"]]),
            Run([MKDUMP, "go-bench", "--objects", str(OBJECTS), "--out", at["go"]])]
    tap.none([run for run in runs if run.status], runs, "dumps are made")
    made = (("phd", "PHD", SAMPLE, "5M"), ("classic", "classic", SAMPLE, "5M"), ("hprof", "HPROF", SAMPLE, "6M"),
            ("go", "Go", GO, "3M"))
    return [Dump(i, "made " + name, at[key], like, mem, ["text"], ROWS)
            for i, (key, name, like, mem) in enumerate(made)]


def in_gzip(folder):
    """With an index such a dump is inflated only when something asks for its bytes."""
    path = os.path.join(folder, "shop.hprof.gz")
    with open(SHOP, "rb") as f, gzip.open(path, "wb") as g:
        g.write(f.read())
    return Dump(4, "HPROF in gzip", path, SERIES[0], None, ["text"])


def core(folder):
    """Of the program of data/, beside it, as an older dump the one of the same program."""
    path = os.path.join(folder, "gocart.core")
    with gzip.open(os.path.join(SOURCE, "data", "gocart.core.gz")) as f, open(path, "wb") as g:
        g.write(f.read())
    shutil.copy(os.path.join(SOURCE, "data", "gocart.elf"), folder)
    return Dump(10, "Go core", path, GO, None, ["text"])


def written():
    """One of each format as programs wrote them, and another one to compare with."""
    yield Dump(5, "PHD", SAMPLE, SAMPLE_TEXT, None)
    yield Dump(6, "classic", SAMPLE_TEXT, SAMPLE, None, ["text"])
    yield Dump(7, "HPROF", SHOP, SERIES[0], None)
    yield Dump(8, "Go", GO, GO, None)
    for path in sorted(glob.glob(os.path.join(DUMPS, "openj9", "*.hprof")))[:1] if DUMPS else []:
        yield Dump(9, "HPROF of OpenJ9", path, SHOP, None)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        for number, dump in enumerate([*made(tap, folder), *written(), in_gzip(folder), core(folder)]):
            if not sys.argv[1:] or dump.name in sys.argv[1:]:
                same(tap, dump, number, folder)
    tap.done()


main()
