#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The terminal is asked for its background where that helps, and its answer never gets to the shell.

Which colours follow from it: cases/looks.py.
"""

import os
import sys
import termios
import time
import tty

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib")]
from cairntest import SHOP, Tap  # noqa: E402
from pty_cairn import OnTerminal, PATIENCE  # noqa: E402

QUESTION, ANSWER = b"\033]11;?\a", "\033]11;rgb:ffff/ffff/ffff\a"
SOON = 1.0  # seconds: ten times what an answer is waited for


def left_for_shell(t):
    """What was typed and nobody read."""
    tty.setraw(t.slave, termios.TCSANOW)
    os.set_blocking(t.slave, False)
    try:
        return os.read(t.slave, 1000)
    except BlockingIOError:
        return b""


def quits(answers, pause):
    """Quit at once; the answer, if one comes, comes then."""
    t = OnTerminal(SHOP, env={"COLORFGBG": ""})
    try:
        t.wait(QUESTION.decode())
        t.type("Q")
        time.sleep(pause)
        if answers:
            t.type(ANSWER)
        took = t.ended()
        wrong = t.restored()
        left = left_for_shell(t)
        t.type("later\n")
        while left_for_shell(t) != b"later\n":  # what is left is seen
            time.sleep(0.01)
        return took, left, wrong
    finally:
        t.close()


def asks(**env):
    t = OnTerminal(SHOP, before=("env", *("%s=%s" % word for word in {"COLORFGBG": "", **env}.items())))
    try:
        end = time.monotonic() + PATIENCE
        while b"HashMap" not in t.seen and time.monotonic() < end:  # nobody answers, and it is drawn
            t.read(0.05)
        return QUESTION in t.seen if b"HashMap" in t.seen else None
    finally:
        t.close()


def fails():
    """What it says of a file that is no dump, where nobody answers."""
    t = OnTerminal(os.path.abspath(__file__), env={"COLORFGBG": ""})
    try:
        t.ended()
        return t.seen.split(b"?1049l")[-1]
    finally:
        t.close()


def main():
    tap = Tap()
    said = [fails() for _ in range(10)]
    tap.none([words for words in said if b"cairn: " not in words], len(said),
             "what went wrong is said although no answer comes")
    for pause in (0, 0.02, 0.05):
        took, left, wrong = quits(True, pause)
        tap.ok(left == b"" and not wrong, "an answer %d ms after the program was left does not get to the shell" % (pause * 1000),
               "left: %r, %s" % (left, wrong))
    took, left, wrong = quits(False, 0)
    tap.ok(took < SOON and not wrong, "without an answer it quits at once", "%.2f s, %s" % (took, wrong))
    tap.ok(asks() is True, "a terminal is asked")
    for env in ({"NO_COLOR": "1"}, {"COLORFGBG": "15;0"}, {"TERM": "linux"}, {"TERM": "vt220"}):
        tap.ok(asks(**env) is False, "with %s it is not" % env)
    tap.done()


main()
