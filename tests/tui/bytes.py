#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many bytes a key sends to the terminal: over a slow line that is how long it takes.

The limits: for a row and a page what the screen sent when names had no colours; for the prompt and a letter what a
line of 9600 baud takes in a third of a second; for a row with panes, which are sent again when they know more, what
they sent without the keys below them.  Else without panes.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import SOURCE, Tap  # noqa: E402
from pty_cairn import OnTerminal  # noqa: E402

SHOP = os.path.join(SOURCE, "data", "shop-2.hprof")
QUIET = 0.4  # seconds without a byte: all of a key's answer is there, that of a pane too


def cost(t, key):
    t.seen = b""
    t.type(key)
    while t.read(QUIET):
        pass
    return len(t.seen)


def mean(of):
    return sum(of) / len(of)


def main():
    tap = Tap()
    for (width, height), row_most, page_most in (((80, 24), 220, 800), ((200, 50), 360, 7400)):
        t = OnTerminal(SHOP, width=width, height=height, before=("env", "TERM=xterm-256color"))
        size = "%dx%d: " % (width, height)
        try:
            t.wait("byte[]")
            cost(t, "")
            if height >= 30:
                rows = [cost(t, "j") for _ in range(6)]
                tap.ok(0 < mean(rows) <= 1600, size + "a row of the histogram with panes", rows)
                cost(t, "v")
                cost(t, "g")
            rows = [cost(t, "j") for _ in range(8)]
            tap.ok(0 < mean(rows) <= row_most, size + "a row of the histogram", rows)
            opened = cost(t, ":")
            tap.ok(0 < opened <= 300, size + "the prompt", opened)
            letters = [cost(t, letter) for letter in "dups"]
            tap.ok(0 < mean(letters) <= 300, size + "a letter in it", letters)
            cost(t, "\x15" + "ls com.acme.shop.Session\r")
            page = cost(t, "\x06")
            tap.ok(0 < page <= page_most, size + "a page of objects", page)
        finally:
            t.close()
    tap.done()


main()
