#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real program in a real terminal: keys in, screens out.

    run.py [-k] [WORD...]    only the cases with one of the words in the title, in the name of the function
                             or in the name of the file in tests/tui/cases

A few run at a time (CAIRN_TERMINALS): mostly they wait.  Without words, a case with several sizes has one by turns.
"""

import concurrent.futures
import glob
import importlib.util
import os
import shutil
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from cairntest import Tap, skip_all, turn  # noqa: E402
from tmux import Gone, Terminal  # noqa: E402
from tui import CASES  # noqa: E402


def wanted(words):
    """The cases of all files: their names, functions, sizes and what differs in the environment."""
    found = []
    for path in sorted(glob.glob(os.path.join(HERE, "cases", "*.py"))):
        name = os.path.basename(path)[:-len(".py")]
        spec = importlib.util.spec_from_file_location("case_" + name, path)
        before = len(CASES)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
        found += [c for c in CASES[before:]
                  if not words or any(word in text for word in words for text in (name, c[1].__name__, c[0]))]
    return found


def run(name, function, size, env):
    """What to say of the case, and what is wrong with it."""
    began, terminal, wrong = time.monotonic(), None, ""
    try:
        terminal = Terminal(*size, env)
        function(terminal)
    except Gone as e:
        wrong = str(e)
    except Exception as e:  # of one case: the others run
        wrong = "%s: %s" % (type(e).__name__, e)
    finally:
        if terminal:
            terminal.close()
    return "%s (%dx%d, %.1f s)" % (name, *size, time.monotonic() - began), wrong


def main():
    for program in ("tmux", "bash"):
        if not shutil.which(program):
            skip_all(program + " is not installed")
    words = [word for word in sys.argv[1:] if word != "-k"]
    cases = wanted(words)
    if not cases:
        sys.exit("run.py: no case has one of these words")
    tap = Tap()
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("CAIRN_TERMINALS", "2"))) as pool:
        runs = [pool.submit(run, name, function, size, env)
                for i, (name, function, sizes, env) in enumerate(cases)
                for size in (sizes if words else turn(i, sizes))]
        for done in runs:
            name, wrong = done.result()
            tap.ok(wrong == "", name, wrong)
    tap.done()


main()
