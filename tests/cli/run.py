#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Golden command lines: every block of tests/cli/*.test is one test.

    === a name that says what must hold
    $ a shell command line; several run one after another
    | a line of standard output, exactly
    ~ a regular expression for one whole line of standard output
    ...                  any number of lines
    ! a regular expression for the whole of standard error (without one it must be empty)
    ? the exit status (without one it must be 0)

Lines that start with none of these are comments.  The shell knows cairn, $PHD, $TXT, $SHOP and $GO (the samples),
$TMP (a directory of the block's own) and mkdump.  Expected lines come from the truth file that
"mkdump sample DIR --truth" writes, or from the contract; never from what the program happened to say.

    run.py [FILE.test...] [-k WORD]     only these files; only blocks whose name holds WORD

CAIRN_QUICK: each twelfth block, by turns.
"""

import glob
import os
import re
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from cairntest import BUILD, GO, QUICK, Run, SAMPLE, SAMPLE_TEXT, SHOP, SOURCE, Tap, some  # noqa: E402

SHELL = 'cairn() { "$CAIRN_BUILD/cairn" "$@"; }\nmkdump() { "$CAIRN_BUILD/tests/tools/mkdump" "$@"; }\n'


class Block:
    def __init__(self, name):
        self.name = name
        self.commands, self.out, self.err, self.status = [], [], None, "0"


def read_blocks(path):
    blocks = []
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            line = line.rstrip("\n")
            if line.startswith("=== "):
                blocks.append(Block(line[4:]))
                continue
            if not blocks:
                continue
            block = blocks[-1]
            mark, text = line[:1], line[2:]
            if mark == "$":
                block.commands.append(text)
            elif mark in ("|", "~"):
                block.out.append((mark, text))
            elif line == "...":
                block.out.append((".", ""))
            elif mark == "!":
                block.err = text
            elif mark == "?":
                block.status = text
            elif mark not in ("", "#"):
                sys.exit("%s:%d: what is %r?" % (path, number, line))
    return blocks


def lines_match(want, got):
    """True when the lines got are what the pattern says; '...' takes as many as it must."""
    if not want:
        return not got
    mark, text = want[0]
    if mark == ".":
        return any(lines_match(want[1:], got[i:]) for i in range(len(got) + 1))
    if not got:
        return False
    good = got[0] == text if mark == "|" else re.fullmatch(text, got[0])
    return bool(good) and lines_match(want[1:], got[1:])


def run_block(tap, folder, block):
    directory = tempfile.mkdtemp(prefix="cli.", dir=folder)
    env = {"PHD": SAMPLE, "TXT": SAMPLE_TEXT, "TMP": directory, "CAIRN_BUILD": BUILD, "SHOP": SHOP, "GO": GO,
           "CAIRN_SOURCE": SOURCE, "XDG_STATE_HOME": directory, "HOME": directory}
    run = Run(["/bin/sh", "-c", SHELL + "\n".join(block.commands)], env=env, cwd=directory)
    shutil.rmtree(directory)
    wrong = []
    if not re.fullmatch(block.status, str(run.status)):
        wrong.append("exit status %s, want %s" % (run.status, block.status))
    if not lines_match(block.out, run.out.splitlines()):
        wrong.append("standard output is not as wanted:")
        wrong += ["  " + (m + " " + t if m != "." else "...") for m, t in block.out[:20]]
        wrong.append("but:")
        wrong += ["  " + line for line in run.out.splitlines()[:25]]
    if block.err is None:
        if run.err:
            wrong.append("standard error is not empty: %.600s" % run.err)
    elif not re.fullmatch(block.err, run.err.strip("\n"), re.S):
        wrong.append("standard error: %.600s\nwant %s" % (run.err, block.err))
    tap.none(["$ " + line for line in block.commands] + wrong if wrong else [], block.commands, block.name)


def main():
    arguments, word = sys.argv[1:], ""
    if "-k" in arguments:
        at = arguments.index("-k")
        word = arguments[at + 1]
        del arguments[at:at + 2]
    tap = Tap()
    folder = tempfile.mkdtemp(prefix="cli.", dir=os.path.join(BUILD, "tests"))
    for path in arguments or sorted(glob.glob(os.path.join(HERE, "*.test"))):
        blocks = read_blocks(path)
        tap.ok(blocks, "%s holds tests" % os.path.basename(path))
        for block in some(blocks, 12) if QUICK and not word else blocks:
            if word in block.name:
                run_block(tap, folder, block)
    shutil.rmtree(folder, ignore_errors=True)
    tap.done()


main()
