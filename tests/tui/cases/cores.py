# SPDX-License-Identifier: GPL-3.0-or-later
"""Core files: data/gocart.core.gz of a Go program, which lies next to it, and made ones of OpenJ9."""

import os

import j9_made
import j9_memory
from cairntest import SOURCE
from tui import BOTH, PROMPT, case, enter, leave, start

CORE = os.path.join(SOURCE, "data", "gocart.core.gz")


@case("a core opens like a dump: histogram, a goroutine's frames, the path to a session", BOTH)
def core_opens(t):
    start(t, dump=CORE)
    t.wait(r"^cairn +gocart\.core\.gz .*go1\.19\.8 \(core file\) .* 1,234 objects")
    t.wait(r"^. main\.Session +103 ")
    enter(t, "bt 6")
    t.wait(r"3 +main\.waitForAnswer\+0x25")
    t.wait(r"^ +s +0xc00004e0a0 +main\.Session")
    enter(t, "path main.last")
    t.wait(r"main\.last")
    leave(t)


@case("a core in a small window: suspects first", ((40, 10),))
def core_small(t):
    t.line('"$CAIRN_ITSELF" \'%s\'' % CORE)
    t.wait(r"^SUSPECTS")
    t.wait(r"100 × main\.Session")
    leave(t)


@case("a core without its program: one sentence, and the shell is there again", ((200, 50),))
def core_alone(t):
    t.line("cd; cp '%s' c.core.gz; \"$CAIRN\" c.core.gz" % CORE)
    t.wait(r"a core file needs the program that wrote it, which is not at /srv/gocart/gocart\.elf")
    t.wait("^" + PROMPT)


@case("a core with a hole is incomplete, and truncated is one whose end is missing; line 1 says which", ((100, 30),))
def core_holes(t):
    made = j9_made.Made()
    whole = made.core()
    del made.m.areas["more"]  # a region of the heap
    for name, data in ("hole", made.core()), ("end", whole[:-j9_memory.PAGE]):
        with open(os.path.join(t.home, name), "wb") as f:
            f.write(data)
        t.line("cd; clear; \"$CAIRN\" " + name)
        t.wait(lambda lines: lines[0].endswith({"hole": "incomplete", "end": "truncated"}[name]))
        leave(t)
