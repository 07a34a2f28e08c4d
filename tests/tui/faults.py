#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The screen to which the system refuses a call (tests/tools/faults.h) while it starts and answers.

Of all calls as many as CAIRN_FAULTS says (40; 0 is all) fail, each alone in a session of its own: it opens a
dump, answers two commands and is left.  It must not crash, must end, and must give the terminal back; what was
not answered is told on the screen, or by the status and a sentence.
"""

import os
import re
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, SHOP, Tap  # noqa: E402
from pty_cairn import PATIENCE, OnTerminal, Silent  # noqa: E402

PROGRAM = os.path.join(BUILD, "tests", "tools", "cairn_faults")
MOST = int(os.environ.get("CAIRN_FAULTS", "40"))
COME = b"\033[?1049h"  # to the second screen
# Keys, and what their answer shows: the first table, then two commands.
STEPS = (("", "byte[]"), (":size *\r", "retained objects"), (":dups\r", "Berlin"))
TOLD = re.compile(rb"memory: |refuses|Cannot allocate|cannot |No space|Input/output|Too many|Resource temp")


def drawn(data):
    """What stands on the screen, without where."""
    return re.sub(rb"\033(\[[0-9;?]*[A-Za-z]|\(B|[=>78])", b"", data)


def wait(t, word):
    """Until the word was drawn, or the refusal was told, or it ended.  False: none of these came."""
    end, quiet = time.monotonic() + PATIENCE, 0
    while word.encode() not in drawn(t.seen) and not TOLD.search(drawn(t.seen)):
        if t.process.poll() is not None:
            return True
        if time.monotonic() > end:
            return False
        quiet = 0 if t.read(0.05) else quiet + 1
        if quiet == 8:
            t.type("\x0c")  # only what differs is drawn: two sentences may differ in a word
    return True


def session(env):
    """What is wrong with a session, or nothing."""
    t = OnTerminal(SHOP, program=PROGRAM, env=env)
    everything, answers = b"", 0
    try:
        for keys, word in STEPS:
            if t.process.poll() is None:
                t.type(keys)
            if not wait(t, word):
                return "no answer and no word to %r: %r" % (keys, drawn(t.seen)[-400:])
            answers += word.encode() in drawn(t.seen)
            everything += t.seen
            t.seen = b""
        if t.process.poll() is None:
            t.type("Q")
        t.ended()
        everything += t.seen
        t.seen = everything
        status = t.process.returncode
        if status not in (0, 1, 2, 3, 4):
            return "status %d" % status
        left = t.restored() if COME in everything else None
        if left:
            return left
        if status == 0 and answers < len(STEPS) and not TOLD.search(drawn(everything)):
            return "status 0, and an answer that is missing is not told"
        if status and b"cairn: " not in everything and not TOLD.search(drawn(everything)):
            return "status %d without a word" % status
        return ""
    except (Silent, OSError) as e:
        return str(e)
    finally:
        t.close()


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        count = os.path.join(folder, "count")
        tap.equal(session({"FAULTS": "0:0", "FAULTS_COUNT": count}), "", "where nothing is refused it answers")
        with open(count, encoding="ascii") as f:
            n = int(f.read().split()[0])
        tap.ok(n > 100, "calls are counted", n)
        faults, sessions = [], 0
        step = max(1, n / MOST) if MOST else 1
        at = 1.0
        while at <= n:
            wrong = session({"FAULTS": "%d:1" % at})
            sessions += 1
            if wrong:
                faults.append("call %d of %d: %s" % (at, n, wrong))
            at += step
        tap.none(faults, sessions, "ends well, whichever of %d calls fails" % n)
    tap.done()


main()
