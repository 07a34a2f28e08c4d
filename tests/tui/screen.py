#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inside GNU screen: what is copied gets to the terminal around it whole, and that one's background to the program."""

import base64
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import SHOP, Tap, cairn, skip_all  # noqa: E402
from pty_cairn import OnTerminal  # noqa: E402

QUIET = 0.6  # seconds without a byte
LIGHT_BLUE = b"38;5;24m"  # of the title, where the background is light


def sent(t, keys):
    """What the terminal around screen gets."""
    t.seen = b""
    t.type(keys)
    while t.read(QUIET):
        pass
    return t.seen


def copied(t, keys):
    found = re.findall(rb"\033]52;c;([A-Za-z0-9+/=]*)(?:\a|\033\\)", sent(t, keys))
    return [base64.b64decode(text).decode() for text in found]


def main():
    if not shutil.which("screen"):
        skip_all("screen is not installed")
    tap = Tap()
    folder = tempfile.mkdtemp()  # with mode 700, as screen wants it
    t = OnTerminal(SHOP, before=("env", "-u", "TMUX", "-u", "STY", "COLORFGBG=", "TERM=xterm-256color",
                                 "SCREENDIR=" + folder, "screen"))
    try:
        t.wait("\033]11;?")
        sent(t, "")
        tap.ok(LIGHT_BLUE in sent(t, "\033]11;rgb:ffff/ffff/ffff\a"), "the answer about the background")
        one = copied(t, "y")
        tap.ok(one == ["byte[]"], "a name", one)
        copied(t, "Y")
        table = copied(t, "Y")
        rows = [row.split(",")[0] for row in cairn("-x", "histo", "--format", "csv", SHOP).out.splitlines()]
        tap.ok(len(table) == 1 and [row.split("\t")[0] for row in table[0].splitlines()] == rows,
               "a table that does not go through in one piece", table)
        t.type("Q")
        t.ended()
    finally:
        t.close()
        shutil.rmtree(folder, ignore_errors=True)
    tap.done()


main()
