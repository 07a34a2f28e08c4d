#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every example of "help COMMAND" finds something in the sample that it names.

They are those of the table of commands, so none can be forgotten.
"""

import csv
import io
import itertools
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import commands  # noqa: E402
from cairntest import BUILD, GO, SAMPLE, SHOP, SOURCE, Tap, cairn  # noqa: E402

SAMPLES = ((SAMPLE,), (SHOP,), (GO,))

# Lines that answer with nothing when all is well.
SILENT = ("$", "set ", "quit", "use ", "close ", "tag", "save ", "open ")
# Writes a file when it has no arguments.
WRITES = ("index",)
# Nothing can be added to these.
ALONE = ("quit", "source")
# No sample has any, and on no host they must be.
NONE_THERE = ("threadlocals", "processes")
# Their examples run in tests/truth/live.py.
RUNNING = "a running VM"


EXAMPLES_LEAST = 2


def examples_of(name):
    """The examples of help, as (dumps or "", lines)."""
    return [(on.replace("on ", ""), [e["line"] for e in those])
            for on, those in itertools.groupby(commands.table()[name].examples, lambda e: e["on"])]


def tables(text):
    """CSV tables, between which stand empty lines, as lists of rows with the header first."""
    rows = list(csv.reader(io.StringIO(text)))
    found = [[]]
    for row in rows:
        if row:
            found[-1].append(row)
        elif found[-1]:
            found.append([])
    return [table for table in found if table]


def answer(lines, sample):
    """The last line's answer, after the others: (run, tables).  In a folder of their own, for some write files."""
    words = [word for line in lines[:-1] for word in ("-x", line + " > " + os.devnull
                                                        if not line.startswith(SILENT) else line)]
    with tempfile.TemporaryDirectory(prefix="examples.", dir=os.path.join(BUILD, "tests")) as folder:
        os.symlink(os.path.abspath(os.path.join(SOURCE, "data")), os.path.join(folder, "data"))
        with open(os.path.join(folder, "leaks.txt"), "w", encoding="ascii") as script:
            script.write("# what keeps most of the heap\nleaks\n")
        run = cairn(*words, "-x", lines[-1], "--format", "csv", *map(os.path.abspath, sample), cwd=folder)
    return run, tables(run.out)


def try_example(tap, before, line, sample):
    """Run it after those before it."""
    run, found = answer(before + [line], sample)
    rows = sum(len(table) - 1 for table in found)
    silent = line.startswith(SILENT + NONE_THERE)
    tap.ok(run.status == 0 and not run.err and (rows > 0 or silent),
           "%s finds something in %s" % (line, " ".join(os.path.basename(d) for d in sample)),
           "status %s, %d rows\n%s" % (run.status, rows, run.err))


def try_command(tap, name, go):
    examples = examples_of(name)
    for named, lines in examples:
        if named == RUNNING:
            tap.skip("%s on %s" % (name, named), "tests/truth/live.py starts one")
            continue
        for sample in [[os.path.join(SOURCE, d) for d in named.split()]] if named else SAMPLES:
            if GO in sample and not go:
                tap.skip("%s on %s" % (name, named), "Go types need libdw")
                continue
            before = []
            for line in lines:
                try_example(tap, before, line, sample)
                before.append(line)
    return sum(len(lines) for _, lines in examples)


def missing(tap, name):
    """A command without the arguments that it needs names one of its examples."""
    said = cairn("-x", name, SHOP).err.strip() if name not in WRITES else ""
    if " is missing" not in said:
        return 0
    lines = [line for _, lines in examples_of(name) for line in lines]
    found = re.search(r" is missing \(for example: (.*); help (\S+) explains it\)$", said)
    tap.ok(found and found.group(1) in lines and found.group(2) == name, name + " without arguments names an example", said)
    return 1


def main():
    tap = Tap()
    go = "without libdw" not in cairn("--version").out
    names = commands.table()
    shown = {name: cairn("-x", "help " + name).out.splitlines() for name in names}
    hidden = [e["line"] for name, c in names.items() for e in c.examples if "  " + e["line"] not in shown[name]]
    tap.none(hidden, names, "help shows all examples")
    bare = [name for name, c in names.items() if len(c.examples) < (EXAMPLES_LEAST if name not in ALONE else 1)]
    tap.none(bare, names, "each command has %d examples or more" % EXAMPLES_LEAST)
    tap.ok(sum(missing(tap, name) for name in names) > 15, "commands need arguments")
    tap.ok(sum(try_command(tap, name, go) for name in names) > 60, "there are examples")
    tap.done()


main()
