# SPDX-License-Identifier: GPL-3.0-or-later
"""Work beside the screen: what one sees meanwhile, what keys do, how it is stopped."""

import os
import random
import re
import subprocess

from cairntest import DUMPS, MKDUMP, SHOP
from tmux import PROMPT
from tui import case, enter, leave, need, settled


@case("keys typed before the first page wait for it, in their order")
def type_ahead(t):
    big = os.path.join(t.home, "big.phd")
    subprocess.run([MKDUMP, "bench", "--objects", "3000000", "--phd", big], check=True)
    t.line('"$CAIRN" -t 1 "$HOME/big.phd"')
    t.wait(r"^cairn  big\.phd")  # a quick machine may have read it all by then
    t.type(":ls quitquit")  # no q of these may leave
    t.keys("Enter")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram")
    t.wait(r"no class matches .quitquit")
    leave(t)


@case("check -tree works beside the screen: it tells how far it is, ^C stops it, other keys wait")
def check_beside(t):
    big = os.path.join(t.home, "big.phd")
    subprocess.run([MKDUMP, "bench", "--objects", "3000000", "--phd", big], check=True)
    t.line('"$CAIRN" -t 1 "$HOME/big.phd"')
    t.wait(r"^(?:0 (?:overview )? ?)?1 histogram .*6 (?:info)? +shallow v")  # references are there, and retained sizes
    t.wait(lambda lines: lines[2].endswith("retained"))
    t.type(":check -tree")
    t.keys("Enter")
    t.wait(r"^check -tree(, \d+ s)?: (checking|following)[a-z ]* \d+%; \^C stops it")
    t.keys("C-c")
    t.wait(r"^check: stopped")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram(?! >)")
    t.type(":check -tree")
    t.keys("Enter")
    t.wait(r"^check -tree.*: checking[a-z ]* \d+%")
    t.keys("Down")  # what only moves is answered at once
    t.wait(lambda lines: lines[3].startswith("  ") and lines[4].startswith(">") and
           re.search("; \\^C stops it", "\n".join(lines)))
    t.type("i")  # heard when the answer is there
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > check > info")
    leave(t)


@case("retained sizes are computed beside the screen: ^C stops that, d begins again, tables fill in")
def beside(t):
    big = os.path.join(t.home, "big.phd")
    subprocess.run([MKDUMP, "bench", "--objects", "3000000", "--phd", big], check=True)
    t.line('"$CAIRN" -t 1 "$HOME/big.phd"')
    t.wait(lambda lines: "retained" in lines[0])  # beside the facts
    t.keys("2")  # a main page that waits for sizes; dropped, it takes no other view along
    t.wait(r"^heap: waits until retained sizes are computed")
    t.keys("C-c", "Enter")
    t.wait(r"^histogram > ")
    leave(t)
    t.line('clear; "$CAIRN" -t 1 "$HOME/big.phd"')
    lines = t.wait(lambda lines: "retained" in lines[0])  # beside the facts
    need(lines[1].startswith("0 overview 1 histogram 2 heap 3 leaks 4 threads 5 packages 6"), "the tabs give way", t)
    need(not re.search(r" 0%", lines[0]), "0 %% says nothing: %r" % lines[0], t)
    t.keys("C-c")
    t.wait(r"retained sizes stay unknown until dom or top computes them")
    need(t.wait(lambda lines: "retained" not in lines[0])[1] == lines[1], "the tabs moved", t)
    need("retained" not in t.screen()[2], "a column of sizes that nobody knows", t)
    t.keys("Down")
    enter(t, "dom")
    t.wait(r"^dom: waits until retained sizes are computed|> dominators")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > dominators")
    t.keys("Escape")
    # the histogram below has filled in, and the cursor stayed
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram(?! >)")
    t.wait(lambda lines: lines[2].endswith("retained") and lines[4].startswith("> "))
    t.keys("2")
    t.wait(r"^  retained .*  branch")
    t.keys("1")
    t.wait(r"^ +class +objects")
    leave(t)


@case("a main page that waits takes nobody away who went on meanwhile")
def tab_waits(t):
    big = os.path.join(t.home, "big.phd")
    subprocess.run([MKDUMP, "bench", "--objects", "3000000", "--phd", big], check=True)
    t.line('"$CAIRN" -t 1 "$HOME/big.phd"')
    t.wait(lambda lines: "retained" in lines[0])  # beside the facts
    t.keys("2")
    t.wait(r"^heap: waits until retained sizes are computed")
    t.keys("Enter")
    t.wait(r"^histogram > ")
    t.wait(r"^heap is ready: 2 shows it")
    need(t.screen()[1].startswith("histogram > "), "another page", t)
    t.keys("2")
    t.wait(r"^  retained .*  branch")
    leave(t)


@case("--start: the histogram until the page asked for is there; keys that come before keep it")
def begins_with(t):
    big = os.path.join(t.home, "big.phd")
    subprocess.run([MKDUMP, "bench", "--objects", "2000000", "--phd", big], check=True)
    t.line('"$CAIRN" -t 1 --start heap "$HOME/big.phd"')
    t.wait(r"^  retained .*  branch")
    leave(t)
    t.line("clear")
    t.line('"$CAIRN" -t 1 --start heap "$HOME/big.phd"')
    t.keys("Down")  # while the dump is read: the first key that the histogram gets
    t.wait(r"^heap is ready: 2 shows it")
    need(re.search(r"^ +class +objects", "\n".join(t.screen()), re.M), "another page", t)
    leave(t)
    t.line('"$CAIRN" --start threads "%s"' % SHOP)
    t.wait(r"^> +0 +main ")
    leave(t)


@case("before the first table: how far in bytes and objects, how to stop; keys wait for nothing",
      ((80, 24), (40, 10)))
def first_screen(t):
    big = os.path.join(t.home, "big.phd")
    subprocess.run([MKDUMP, "bench", "--objects", "12000000", "--phd", big], check=True)
    t.line('"$CAIRN" -t 1 "$HOME/big.phd"')
    t.wait(r"^  reading objects \d+%")
    t.wait(r"^  [\d.]+[KMG]? of [\d.]+M, [\d,]+ objects$")
    t.wait(r"^  \^C quits cairn$")
    t.type(":dups")  # what waits is shown, and ^C drops it first
    t.wait(r"^:dups waits until objects are read; \^C")
    t.keys("C-c")
    t.wait(r"^dropped; \^C again quits cairn")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram")
    enter(t, "histo -live")  # what the roots reach is not known before they are
    t.wait(r"^histo -live: waits until ")
    t.keys("C-c", "C-c")  # the first one drops that
    t.wait(r"^still reading references|^retained sizes stay|^nothing to stop")
    t.wait(r"still being read", gone=True)  # nor is that said any more when they are
    leave(t)


@case("no memory for references: what would do, and the page is still seen", ((80, 24), (40, 10)))
def left_out(t):
    big = os.path.join(t.home, "big.phd")
    subprocess.run([MKDUMP, "bench", "--objects", "100000", "--phd", big], check=True)
    t.line('"$CAIRN" -t 1 --mem 3M --spill none "$HOME/big.phd"; echo "status $?"')
    t.wait(r"^no memory for references: give a( larger --mem, about [\d.]+M at least, or --spill)?")
    t.wait(lambda lines: sum(bool(re.match(r"[ >] \S+ +[\d,]+ ", line)) for line in lines) >= 3 and
           re.search(r"or\s+--spill\s+DIR", "\n".join(lines)))
    t.type("q")
    t.wait(r"^status 4")


@case("a long read shows how far it is, and ^C stops it")
def cancel(t):
    big = os.path.join(t.home, "big.phd")
    subprocess.run([MKDUMP, "bench", "--objects", "6000000", "--phd", big], check=True)
    before = t.stty()
    t.line('"$CAIRN" -t 1 "$HOME/big.phd"')
    t.wait(r"\d+%|objects|reading")
    t.keys("C-c")
    t.wait(lambda lines: any(line.startswith(PROMPT) for line in lines)
           or any(re.search("cancel|stopped", line) for line in lines))
    if not any(line.startswith(PROMPT) for line in t.screen()):
        leave(t)
    need(t.stty() == before, "stty differs", t)
    t.line("clear")
    t.line('"$CAIRN" --plain --progress always "$HOME/big.phd"; echo "status $?"')
    t.wait(r"^cairn>")
    t.type("dom")
    t.keys("Enter")
    t.wait(r"walking the heap|finding dominators")
    t.keys("C-c")
    t.wait(r"cairn: dom: stopped")
    t.type("quit")
    t.keys("Enter")
    t.wait(r"status 0")


@case("a storm of keys while it reads, finds sizes and works: all is heard, the terminal is whole after it")
def storm(t):
    big = os.path.join(t.home, "big.phd")
    subprocess.run([MKDUMP, "bench", "--objects", "1000000", "--phd", big], check=True)
    before, modes, keys = t.stty(), t.modes(), random.Random(12)
    # all that moves, arranges, opens and asks; not what ends the program, stops it, or opens a prompt
    calm = list("jkgG*<>srFnNW{}wPvu]123456iRtKHdpcoex?") + ["Down", "Up", "NPage", "PPage", "Home", "End", "Left", "Right",
                                                           "Enter", "Tab", "Escape", "BSpace", "C-l", "C-d", "C-u"]
    t.line('"$CAIRN" -t 1 "$HOME/big.phd"')
    for wave in range(8):
        t.keys(*[keys.choice(calm) for _ in range(60)])
        if wave % 3 == 2:  # a drag of the window's edge in between
            t.resize(*((60, 15), (120, 40), (80, 24))[wave // 3])
    t.resize(80, 24)
    t.wait(r"^(?:0 (?:overview )? ?)?1 histogram|^\S.* > ")
    t.keys("C-c", "C-c")  # what still waits is given up
    t.type(":info\r")
    t.wait(r"^ +format +phd")
    leave(t)
    need(t.stty() == before, "stty differs", t)
    need(t.modes() == modes, "modes %s, were %s" % (t.modes(), modes), t)


@case("a page that is asked for while a dump is read is there again after it is read anew", ((120, 30),))
def read_anew(t):
    if not DUMPS:
        return
    for _ in range(3):
        t.line('"$CAIRN" "%s"' % os.path.join(DUMPS, "apps", "tc1.hprof"))
        t.keys("5")
        t.wait(r"^> ▾ java .* 4\.4M .*\d[KM] *│ objects ")  # all was read, and the pane is there
        settled(t)
        t.wait(r"^> ▾ java .* 4\.4M")
        leave(t)
