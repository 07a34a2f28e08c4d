#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""No dump makes cairn slow: for each reader, each phase and each command, the steps that it takes of the
worst shapes we can think of (tests/tools/costly_dumps.py), at a size and at four times that size, grow 5-fold at
most.  And who works looks at the cancel flag: the steps between two looks do not grow with the dump.

Steps are counted, not timed (tests/tools/steps.h).  With -v it prints them all; further arguments are the
shapes to try, else all.  Lines are those of tests/lib/commands.py: of the commands that a shape is made for each
twelfth, of the others each 48th, by turns (MADE_FOR).  A graph that each format can write is asked in one of them,
by turns, and of the others the load is counted.  "./bootstrap check --long" asks all lines of all shapes.
"""

import concurrent.futures
import functools
import math
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
sys.path.insert(0, os.path.join(HERE, "..", "tools"))
import commands  # noqa: E402
from cairntest import BUILD, LONG as ALL, SOURCE, Run, Tap, cairn, skip_all, some, turn  # noqa: E402
import costly_dumps  # noqa: E402
import costly_graphs  # noqa: E402,F401  these add shapes
import costly_contents  # noqa: E402,F401

MEASURE = os.path.join(BUILD, "tests", "tools", "measure")

GROWTH = 5        # of four times the size
SORTS = re.compile("-by package")  # lines that sort as many names as the shape has parts: n log n is fair
SMALL = 100000    # steps that say nothing about growth
STRETCH = 2000000 # most steps between two looks: some milliseconds
SIZE = 2000       # of a shape, where SIZES does not tell; large enough for what is constant to vanish
LARGE = 100000    # of those where stretches are looked at
LENGTH = 500      # of the names of those shapes that have as many rows as their names have bytes
SIZES = {"shared-name": LENGTH, "nested-name": LENGTH, "wide-thread": LENGTH,
         "go-bipartite": 8000,  # its objects are long lists, which are read twice, at both sizes
         "broken-go": 8000, "interrupted": 8000, "hash-map": 700, "properties": 700}

# What is known to grow faster, and not mended: an expression for "SHAPE: LINE".
# - A record of Go is found from one of up to 15 before it, through the lists of their pointers: a row of a
#   large object costs its length.
# - A path in a random graph is as long as chance has it.
# - The hash of an object is found by reading its part of the dump up to it: as far as its record lies.
# - Plans of cuts, reports, tables of SQL, indexes, bundles and the classes of top look through the name of each class
#   once, and names may be long and shared; so does ls where it groups class objects by what they are, and why in each
#   cell of a table; export writes them so, and texts, which may be shared as well.
#   HPROF has each instance with all fields and each thread with a trace of its own: export writes them so.
# - Objects as large as -min asks for are in the larger dump alone.
KNOWN = re.compile("phd-.*: x #|wild: (print )?path|go-.*: print (refs #0|cut \\* -each) |(shared|nested)-name: (cut -plan|export|report|sql|index|bundle|top -by class|duplicate-classes -by|ls \\* -by value|why)|(shared-text|frames|short-instances|wide-thread): export|bipartite: print ls \\* -min")

# Commands and phases that need contents which no shape has yet: their growth is not tested.
# open and quit answer nothing.  The others are of the tables on the screen, which this program has not, and of what comes before a dump is open: a pipe
# (tests/cli/pipe.py) and the files of a directory (tests/tui/cases/folder.py).
# Those about running processes depend on them (tests/truth/attach.py, live.py, processes.py).
NEVER = {"attach", "live", "processes", "attaching to the VM", "the VM writes its heap", "filtering rows", "searching rows", "sorting rows", "reading profiles",
         "open", "close", "quit", "looking at files", "reading the pipe", "waiting for the pipe"}

# Shapes whose stretches are looked at, and those that are so only when they are named: large-SHAPE.
LONG = ["phd-ladder", "hprof-wild"]
LONG_TOO = ["classic-wild", "phd-class-each", "ebcdic-wild", "hprof-texts", "hprof-class-each", "go-wild", "go-fan", "gz-hprof-wild"]
# Shapes of a run with CAIRN_QUICK.
QUICK = ["phd-ladder", "hash-map", "go-fan"]

# What shapes are made for: these commands are asked of them more often than others.
READERS = {"info", "histo", "check", "ls"}
HOLDING = {"refs", "roots", "path", "paths", "heap", "about", "dom", "holders", "top", "size", "cut", "leaks", "sql", "trend"}
NAMES = {"histo", "tree", "ls", "loaders", "duplicate-classes", "find", "export", "index", "redact"}
STACKS = {"threads", "bt", "roots", "sites", "locks", "offheap", "paths"}
CONTENTS = {"entries", "collections", "waste", "props", "strings", "dups", "find", "x", "report"}
MADE_FOR = [("(phd|classic|hprof|go)-|chain|circle|ladder|fan|one-target|wild", HOLDING), ("name|class|package|super|loader|cycle|statics", NAMES),
            ("thread|frame|roots|javacore|trace|sites", STACKS), ("map|properties|texts?$|shared|chained|circle|gap", CONTENTS),
            ("weak", {"references", "threadlocals", "finalizers", "path", "paths"})]
OWN_EVERY, OTHERS_EVERY = 12, 48  # of its own lines each 12th by turns, of the others each 48th; in the long run all


class Counted:
    """Steps of a run: by what took them, phases in a load and lines after it."""

    def __init__(self, text):
        self.steps, self.stretch, self.place, self.failed, self.phases = {}, {}, {}, {}, set()
        self.bytes = {}  # that results print
        for row in (line.split("\t") for line in text.splitlines()):
            what, phase = row[0], row[1]
            if phase == "!":
                self.failed[what] = row[3]
                continue
            if phase == "=":
                self.bytes[what] = int(row[2])
                continue
            self.phases.add(phase)
            key = what + (" " + (phase or "before") if what == "load" else "")
            self.steps[key] = self.steps.get(key, 0) + int(row[2])
            at = what + ": " + phase
            if not what.startswith("print"):
                self.stretch[at] = int(row[3])
                self.place[at] = row[4:7]


def lines_of(dump, folder, name):
    """The lines for this dump of a shape, and the command of each."""
    found = re.search(r"^objects +([\d,]+)", cairn("-x", "info", dump).out, re.M)
    objects = int(found.group(1).replace(",", "")) if found else 1
    words = {"class": "*", "object": ["#0", "#%d" % (objects // 2), "#%d" % max(objects - 1, 0)], "thread": ["0", "1"],
             "folder": folder}
    number = list(costly_dumps.SHAPES).index(name) if name in costly_dumps.SHAPES else 0
    own = set().union(*(those for shape, those in MADE_FOR if re.search(shape, name))) or READERS
    asked = commands.lines(words)
    parts = [[(command, script) for command, those in asked.items() if (command in own) == mine for script in those]
             for mine in (True, False)]
    # why comes first: what it finds is kept, and in a larger dump another line might be the first to look for it
    scripts = [("why", "why")] + some(parts[0], OWN_EVERY, number) + some(parts[1], OTHERS_EVERY, number)
    # before a pipe stands a line of its own, so that printed() knows how much goes through it
    return [(command, line) for command, script in scripts for whole in script.split("; ")
            for line in ([whole.split(" | ")[0]] if " | " in whole else []) + [whole]]


def write(name, n, folder):
    path = os.path.join(folder, "%s.%d" % (name, n))
    plain = name[3:] if name.startswith("gz-") else name
    path = costly_dumps.write(plain, n, path)
    if plain != name:
        subprocess.run(["gzip", "-1", path], check=True)
        return path + ".gz"
    return path


def loaded_only():
    """The shapes of which the load alone is counted."""
    left = set()
    for number, graph in enumerate(costly_graphs.GRAPHS):
        written = [name for name in (kind + "-" + graph.replace("_", "-") for kind in costly_graphs.WRITERS) if name in costly_dumps.SHAPES]
        left |= set(written) - set(turn(number, written))
    return left


def measure(name, n, folder, *options, asked=True):
    """The run, what it counted, and the lines with their commands."""
    with tempfile.TemporaryDirectory(dir=folder) as own:
        with open(os.path.join(own, "script"), "w", encoding="utf-8") as f:
            f.write("histo\nsize #0\n")
        dump = write(name, n, own)
        lines = lines_of(dump, own, name) if asked else []
        run = Run([MEASURE, *options, dump] + [line for _, line in lines], timeout=400)
    return run, Counted(run.out), lines


@functools.lru_cache(None)
def function_at(place):
    """The function and line of an offset in the program."""
    if not int(place, 16):
        return "?"
    found = subprocess.run(["addr2line", "-f", "-s", "-e", MEASURE, "0x" + place], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, check=False).stdout.decode().split("\n")
    return "%s (%s)" % (found[0], found[1].split(" ")[0]) if len(found) > 1 else place


def meaning(what, lines):
    number = what.split(":")[0].split(" ")[-1]
    return what.replace(number, lines[int(number)][1], 1) if number.isdigit() else what


def printed(counted, what, lines):
    """The bytes that a line prints, or looks through: those of what stands before a pipe, or is saved."""
    most = counted.bytes.get(what, 0)
    number = what.split(" ")[-1]
    if number.isdigit():
        name, line = lines[int(number)]
        source = lines[int(number) - 1][1] if name == "save" else line.split(" | ")[0]
        most = max([most] + [counted.bytes.get(str(i), 0) for i, (_, other) in enumerate(lines) if other == source])
    return most


def grown(small, large, lines, verbose, name, n):
    """What grew too much, as text."""
    odd = []
    for what, steps in large.steps.items():
        if what.split(" ")[-1] in small.failed:
            continue  # fewer rows than the line speaks of: no answer to compare with
        before = small.steps.get(what, 0)
        factor = steps / max(before, 1)
        # a long name in each of many rows: work in proportion to what is printed is fair
        output = printed(large, what, lines) / max(printed(small, what, lines), 1)
        most = GROWTH * max(1, output / 4)
        text = "%-50s %12d %12d  x %.1f" % (meaning(what, lines), before, steps, factor)
        if SORTS.search(text):
            most *= math.log(4 * n) / math.log(n)
        if verbose and steps > SMALL:
            print("# %-24s %s" % (name, text))
        if steps > SMALL and factor > most and not KNOWN.search(name + ": " + text):
            odd.append(text)
    return odd


def stretched(counted, lines, verbose, name):
    odd = []
    for what, steps in counted.stretch.items():
        text = "%-50s %12d" % (meaning(what, lines), steps)
        if text.startswith("history"):
            continue  # its rows are the lines that were asked here, not the dump's
        if steps > STRETCH or verbose and steps > STRETCH // 8:
            text += "".join("\n      %-6s %s" % (word, function_at(place)) for word, place in
                            zip(("from", "within", "to"), counted.place[what]))
        if verbose and steps > STRETCH // 8:
            print("# " + (name + " " + text).replace("\n", "\n# "))
        if steps > STRETCH:
            odd.append(text)
    return odd


def growth_of(name, folder, asked):
    """Of the shape at a size and at four times that size."""
    n = SIZES.get(name, SIZE)
    return [measure(name, size, folder, asked=asked) for size in (n, 4 * n)]


def try_growth(tap, name, results, verbose, seen):
    n = SIZES.get(name, SIZE)
    lines = results[1][2]
    bad = [str(run) for run, _, _ in results if run.status]
    if not tap.none(bad, results, "%s: it runs" % name):
        return
    odd = grown(results[0][1], results[1][1], lines, verbose, name, n)
    tap.none(odd, results[1][1].steps, "%s: steps grow with its size" % name)
    note_seen(seen, results[1][1], lines)


def note_seen(seen, counted, lines):
    seen |= counted.phases
    seen |= {lines[int(w)][0] for w in counted.steps if w.isdigit() and w not in counted.failed}


def try_stretch(tap, name, measured, verbose, seen):
    run, counted, lines = measured
    if tap.ok(not run.status, "%s: it runs, large" % name, str(run)[-3000:]):
        odd = stretched(counted, lines, verbose, name)
        tap.none(odd, counted.stretch, "%s: who works looks at the cancel flag" % name)
        note_seen(seen, counted, lines)


def phases():
    """What the screen says in each phase."""
    with open(os.path.join(SOURCE, "src", "base", "progress.c"), encoding="utf-8") as f:
        return set(re.findall(r'\[PHASE_\w+\] = (?:ALONE\(|\{(?:\.words = )?)"([^"]+)"', f.read()))


def main():
    tap = Tap()
    if not os.path.exists(MEASURE):
        with open(os.path.join(BUILD, "Makefile"), encoding="utf-8") as f:
            can_count = "\ntests/truth/steps.log " in f.read()
        skip_all("tests/tools/measure is not built (run: make t T=tests/truth/steps.py)" if can_count else
                 "this build cannot count steps (it needs -fsanitize-coverage=trace-pc, and no sanitizer or fuzzer)")
    verbose = "-v" in sys.argv
    wanted = [a for a in sys.argv[1:] if a != "-v"] or (QUICK if os.environ.get("CAIRN_QUICK") else [])
    names = set(commands.table())
    seen = set()
    with tempfile.TemporaryDirectory() as folder:
        growing = [name for name in [*costly_dumps.SHAPES, "gz-phd-ladder"] if not wanted or name in wanted]
        long = [name for name in LONG + LONG_TOO if "large-" + name in wanted or not wanted and name in LONG]
        left = set() if wanted else loaded_only()
        # two at a time: the longest test should not be left to run alone
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            large = [pool.submit(measure, name, LARGE, folder, "-q") for name in long]
            grown_ones = pool.map(lambda name: growth_of(name, folder, name not in left), growing)
            for name, results in zip(growing, grown_ones):
                try_growth(tap, name, results, verbose, seen)
            for name, measured in zip(long, large):
                try_stretch(tap, name, measured.result(), verbose, seen)
    if not wanted and ALL:
        tap.ok(names - seen <= NEVER, "commands answered something", sorted(names - seen))
        tap.ok(phases() - seen <= NEVER, "phases were seen", sorted(phases() - seen))
    tap.done()


main()
