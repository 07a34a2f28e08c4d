#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole runs of the program to which the system refuses a call (tests/tools/faults.h): how they end.

Each call in turn fails, alone and then with all behind it.  Of more calls than CAIRN_FAULTS (40; 0 is all) as
many are taken, spread evenly.  A run ends by itself, with a status of the contract; status 0 means the right
answer, or one without the file beside the dump and a warning that says so; any other comes with a sentence.

May end the program, and only with a sentence and status 3: a small allocation when the stock is used up too.
"""

import errno
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, CAIRN, GO, SAMPLE, SAMPLE_TEXT, SHOP, Tap  # noqa: E402

PROGRAM = os.path.join(BUILD, "tests", "tools", "cairn_faults")
JAVACORE = glob.glob(os.path.join(os.path.dirname(SAMPLE), "javacore.*.txt"))[0]
MOST = int(os.environ.get("CAIRN_FAULTS", "8" if os.environ.get("CAIRN_QUICK") else "40"))
LEFT_OUT = re.compile(r"^cairn: warning: (the (javacore|program) next to the dump is ignored: /[^:]*: \S"
                      r"|/[^:]*: its DWARF is unreadable$)", re.M)
RUNS = (
    (SAMPLE, "-x", "histo | head 3"),
    (SAMPLE, "--progress", "always", "--threads", "2", "-x", "leaks"),
    (SAMPLE_TEXT, "-x", "info"),
    (SHOP, "-x", "dups | head 3", "--format", "json"),
    (SHOP, "-f", "{script}", "-o", "{out}.csv"),
    (SHOP, "-x", "histo | head 2 > {out}.json"),
    (GO, "-x", "x main.last"),
    ("{packed}", "-x", "histo | head 3", "--threads", "2"),
    ("{index}", "-x", "top | head 3"),
)


class Run:
    def __init__(self, folder, arguments):
        names = {"script": os.path.join(folder, "script"), "out": os.path.join(folder, "out"),
                 "packed": os.path.join(folder, "packed.phd.gz"), "index": os.path.join(folder, "packed.cairn")}
        self.folder = folder
        self.arguments = [a.format(**names) for a in arguments]

    def __call__(self, faults="0:0"):
        """(status, answer, words on standard error, number of calls, name of the first that failed)"""
        for name in os.listdir(self.folder):
            if name.startswith("out"):
                os.unlink(os.path.join(self.folder, name))
        count = os.path.join(self.folder, "count")
        env = dict(os.environ, FAULTS=faults, FAULTS_COUNT=count)
        if os.path.exists(count):
            os.unlink(count)
        run = subprocess.run([PROGRAM, *self.arguments[1:], self.arguments[0]], env=env, timeout=60,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        answer = run.stdout
        for name in sorted(os.listdir(self.folder)):
            if name.startswith("out"):
                with open(os.path.join(self.folder, name), "rb") as f:
                    answer += f.read()
        told = ("0", "?")
        if os.path.exists(count):
            with open(count, encoding="ascii") as f:
                told = f.read().split()
        return run.returncode, answer, run.stderr.decode("utf-8", "replace"), int(told[0]), told[1]


def wrong(got, wanted):
    """What is wrong with how a run ended, or nothing."""
    status, answer, words = got[:3]
    if status < 0:
        return "killed by signal %d" % -status
    if status == 0:
        return "" if answer == wanted[1] or LEFT_OUT.search(words) else "status 0 and another answer"
    if status not in (1, 2, 3, 4):
        return "status %d" % status
    said = [line for line in words.splitlines() if line.startswith("cairn: ") and len(line) > 20]
    return "" if said else "status %d without a word" % status


def sweep(tap, run, name):
    wanted = run()
    if not tap.ok(wanted[0] == 0 and wanted[3] > 10, name + ": answers", wanted):
        return
    n, faults, runs = wanted[3], [], 0
    step = 1 if not MOST else max(1, n / MOST)
    at = 1.0
    while at <= n:
        for count in (1, 1 << 40):
            got = run("%d:%d" % (at, count))
            runs += 1
            if wrong(got, wanted):
                faults.append("call %d of %d (%s), %s: %s" %
                              (at, n, got[4], "alone" if count == 1 else "and all behind", wrong(got, wanted)))
                faults.append("  " + got[2][:200])
        at += step
    tap.none(faults, runs, "%s: ends with a sentence or the answer, whichever of %d calls fails" % (name, n))


def beside(tap, folder):
    """A file beside the dump of which the system does not say whether it is there, or what is in it."""
    for dump, name, kind in ((SAMPLE, JAVACORE, "javacore"), (GO, GO[:-len(".dump")] + ".elf", "program")):
        place = os.path.join(folder, kind)
        os.mkdir(place)
        shutil.copy(dump, place)
        loop = os.path.join(place, os.path.basename(name))
        os.symlink(loop, loop)
        run = subprocess.run([CAIRN, "-x", "info", os.path.join(place, os.path.basename(dump))], check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        told = "the %s next to the dump is ignored: %s: %s" % (kind, loop, os.strerror(errno.ELOOP))
        tap.ok(run.returncode == 0 and run.stderr == "cairn: warning: %s\n" % told and told in run.stdout,
               "a %s beside the dump that cannot be looked at: a warning, and info's remark" % kind,
               (run.returncode, run.stderr, run.stdout[:2000]))


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "script"), "w", encoding="ascii") as f:
            f.write("histo | head 2\ninfo | head 2\n")
        with open(os.path.join(folder, "packed.phd.gz"), "wb") as f:
            subprocess.run(["gzip", "-c", SAMPLE], stdout=f, check=True)
        # without zstd it is a plain one
        if subprocess.run([CAIRN, "-x", "index -packed " + os.path.join(folder, "packed.cairn"), SAMPLE], check=False).returncode:
            subprocess.run([CAIRN, "-x", "index " + os.path.join(folder, "packed.cairn"), SAMPLE], check=True)
        beside(tap, folder)
        for arguments in RUNS:
            name = os.path.basename(arguments[0]) + " " + " ".join(arguments[1:])
            sweep(tap, Run(folder, arguments), name.replace("{", "").replace("}", ""))
    tap.done()


if __name__ == "__main__":
    main()
