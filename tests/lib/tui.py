# SPDX-License-Identifier: GPL-3.0-or-later
"""What the cases of tests/tui/cases have in common.

A case is a function that gets an open terminal; sizes says in which it runs, env what differs there.
"""

import re

from cairntest import SAMPLE
from tmux import Gone, PROMPT

BOTH = ((80, 24), (200, 50))
CASES = []


def case(name, sizes=((80, 24),), env=None):
    def add(function):
        CASES.append((name, function, sizes, env))
        return function
    return add


def need(condition, what, terminal):
    if not condition:
        raise Gone("%s; the screen:\n%s" % (what, terminal.text()))


def start(t, dump=SAMPLE, options=""):
    t.line('"$CAIRN" %s \'%s\'' % (options, dump))
    return t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram")


def selected(t):
    """The row under the cursor, which carries '>'."""
    rows = [line for line in t.rows(t.screen()) if line.startswith("> ")]
    return rows[0] if rows else ""


def wait_selected(t, what):
    t.wait(lambda lines: any(line.startswith(">") and re.search(what, line) for line in lines))


def held_by(t, what):
    """The words after HELD BY on the page of an object; they may take two lines."""
    t.wait(lambda lines: re.search("HELD BY .*" + what, " ".join(" ".join(line.split("\u2502")[0] for line in lines).split())))


def settled(t):
    """The screen once two looks at it agree: a page is drawn whole then."""
    return t.wait(lambda lines: lines == t.rows(t.screen()))


def leave(t):
    t.keys("Q")
    t.wait("^" + PROMPT)


def enter(t, line):
    t.type(":" + line)
    t.keys("Enter")


def said(words):
    """A message of several lines, which end anywhere, in words too, as the folder's name leaves them room."""
    return lambda lines: re.search(words.replace(" ", ""), re.sub(r"\s+", "", "".join(lines)))


def mouse(t, button, x, y, letter="M"):
    """What the mouse sends, from 1 on: button 0 left, 1 middle, 2 right, 64 and 65 the wheel."""
    t.type("\033[<%d;%d;%d%s" % (button, x, y, letter))


def click(t, x, y):
    mouse(t, 0, x, y)
    mouse(t, 0, x, y, "m")


def place_of(t, word):
    """Column and line of a word on the screen, from 1 on."""
    for y, line in enumerate(t.screen()):
        if word in line:
            return line.index(word) + 1, y + 1
    raise Gone("%r is not on the screen:\n%s" % (word, t.text()))
