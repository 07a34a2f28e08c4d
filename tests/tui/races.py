#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys and commands while a dump of each format is read: cairn neither crashes nor stops answering.

    races.py [-n OBJECTS] [-s SEEDS] [WORD]     only the formats whose name contains WORD

In a build with --enable-sanitizer=thread (./bootstrap check --long) every data race that ThreadSanitizer sees fails
the test; with address, every use of freed memory.
"""

import argparse
import concurrent.futures
import glob
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from cairntest import BUILD, CAIRN, GO, MKDUMP, SAMPLE_TEXT, SHOP, Tap  # noqa: E402
from pty_cairn import PATIENCE, OnTerminal, Silent  # noqa: E402

ESC, DOWN, TAB, ENTER = "\033", "\033[B", "\t", "\r"
# What may be typed while references are read, and what then has to wait for them.
LINES = ("histo", "histo -by package", "ls java.lang.String", "ls *", "ls char[]", "ls node", "ls *Node*", "find shop",
         "dups", "strings", "info", "threads", "roots", "classes", "loaders", "packages", "size *", "fields *",
         "set", "help ls", "dumps", "sets", "process", "why %1", "x %1", "refs %1", "path %1", "histo -retained",
         "top", "waste", "collections", "set weak off", "set weak on", "check", "sql SELECT count(*) FROM objects",
         "sql SELECT class, count(*) FROM objects GROUP BY class", "ls * | top 5", "$a = ls *", "leaks", "dom")
# What is answered before the references are read.
EARLY_LINES = ("histo", "histo -by package", "ls java.lang.String", "ls *", "ls char[]", "ls *Node*", "classes", "dups",
               "strings", "find shop", "size *", "ls * | top 5")
EARLY = (ENTER, ENTER + DOWN, ENTER + "G", ESC, DOWN, "j", "G", "g", "s", "/st" + ENTER, ":ls ja" + TAB + TAB + ESC + ESC,
         ":ls g" + TAB + TAB + ESC + ESC, ":x 0" + TAB + ESC + ESC, "3", "1")
KEYS = (ENTER, ESC + ESC, DOWN, DOWN + DOWN + ENTER, "j", "k", "G", "g", "s", "S", "1", "2", "3", "4", "5", "6", "r",
        "p", "P", "w", "i", "e", "/st" + ENTER, "/" + ESC + ESC, ":ls ja" + TAB + TAB + ESC + ESC, ":x 0" + TAB + ESC + ESC,
        ":refs " + TAB + ESC + ESC, "\f", "b", "f", "y", "ma", "'a", ":set weak off" + ENTER)


def made(folder, objects):
    """A dump of each format: its name, its path."""
    def make(name, *words):
        path = os.path.join(folder, name)
        subprocess.run([MKDUMP, *[w.replace("FILE", path) for w in words]], check=True, stdout=subprocess.DEVNULL)
        return path
    n = str(objects)
    yield "HPROF", make("made.hprof", "bench", "--objects", n, "--hprof", "FILE")
    yield "PHD", make("heapdump.phd", "bench", "--objects", n, "--phd", "FILE")
    yield "classic", make("heapdump.txt", "bench", "--objects", n, "--classic", "FILE")
    yield "Go", make("made.dump", "go-bench", "--objects", n, "--out", "FILE")
    indexed = make("indexed.hprof", "bench", "--objects", n, "--hprof", "FILE")
    subprocess.run([CAIRN, "-x", "index", indexed], check=True, stdout=subprocess.DEVNULL)
    yield "HPROF with its index", indexed
    yield "Go with its program", GO
    yield "shop.hprof", SHOP
    yield "classic sample", SAMPLE_TEXT


def hammer(path, seed, rest):
    """Until references and retained sizes are there, and `rest` keys more.  What is wrong, or ''."""
    chosen = random.Random(seed)
    logs = tempfile.mkdtemp(prefix="tui.", dir=os.path.join(BUILD, "tests"))
    options = os.environ.get("TSAN_OPTIONS", "") + " exitcode=66 log_path=" + os.path.join(logs, "race")
    t = OnTerminal("--no-config", path, env={"TSAN_OPTIONS": options})
    typed = ""
    try:
        t.wait("histogram")  # keys that come before it wait
        end, left = time.monotonic() + PATIENCE, rest
        while left and time.monotonic() < end and t.process.poll() is None:
            early = left == rest  # nothing has been read since the table came
            keys = chosen.choice(EARLY if early else KEYS) if chosen.random() < 0.5 else ":" + chosen.choice(LINES) + ENTER
            if early and keys.startswith(":") and keys.endswith(ENTER):
                keys = ":" + chosen.choice(EARLY_LINES) + ENTER
            typed += keys
            t.type(keys)
            t.idle(chosen.random() * (0.04 if early else 0.1))
            if b"retained" in t.seen or left < rest:
                left -= 1
            t.seen = b""
        if t.process.poll() is not None:
            raise Silent("it ended with status %d: %r" % (t.process.returncode, t.seen[-500:]))
        t.kill(signal.SIGTERM)
        t.ended()
        status = t.process.returncode
        races = "".join(open(name, encoding="utf-8", errors="replace").read() for name in glob.glob(logs + "/*"))
        wrong = races or ("status %d: %r" % (status, t.seen[-500:]) if status != 143 else "")
    except Silent as e:
        wrong = str(e)
    finally:
        t.close()
        shutil.rmtree(logs, ignore_errors=True)
    return wrong and "%s\nafter the keys %r" % (wrong, typed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=int(os.environ.get("CAIRN_RACE_OBJECTS", "30000")))
    parser.add_argument("-s", type=int, default=int(os.environ.get("CAIRN_RACE_SEEDS", "1")))
    parser.add_argument("word", nargs="?", default="")
    asked = parser.parse_args()
    tap = Tap()
    folder = tempfile.mkdtemp(prefix="tui.", dir=os.path.join(BUILD, "tests"))
    with concurrent.futures.ThreadPoolExecutor(3) as pool:  # mostly they wait
        runs = [(name, seed, pool.submit(hammer, path, seed, 15)) for name, path in made(folder, asked.n)
                if asked.word in name for seed in range(asked.s)]
        for name, seed, run in runs:
            tap.ok(run.result() == "", "%s, keys while it is read, seed %d" % (name, seed), run.result())
    shutil.rmtree(folder)
    tap.done()


main()
