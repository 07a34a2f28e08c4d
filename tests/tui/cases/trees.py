# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees: dominators, packages, the heap by what holds what, backtraces."""

import os
import re
import time

from cairntest import SHOP
from tui import BOTH, case, click, enter, leave, need, place_of, start, wait_selected


@case("the heap's tree: what only some rows can do is the last hint, so no other moves", ((80, 24), (120, 35)))
def last_hint(t):
    start(t, dump=SHOP)
    t.keys("2")
    wait_selected(t, r"static Shop\.INSTANCE")
    t.keys("Home", "Down")
    t.wait(r"^Enter open +\* expand +g group .* \? help  q back  a split$")
    t.keys("Down", "Down")
    t.wait(r" \? help  q back$")
    leave(t)


@case("bt: frames are headings that keep their ends, what they hold opens and closes below", BOTH)
def headings(t):
    start(t, dump=SHOP)
    t.type(":bt http-2")
    t.keys("Enter")
    t.wait(r"^> . 0  com\.acme\.shop\.Order\.total\(Shop\.java:102\)$")
    t.wait(r"^      Java local  0xe00111f8  com\.acme\.shop\.Order( +144)?$")
    t.keys("Left")
    t.wait(r"Java local  0xe00111f8", gone=True)
    t.keys("Right", "Down", "Enter")
    t.wait(r"FIELDS \(7\)")
    t.resize(36, 12)
    t.keys("q")
    t.wait(r"^  . 0  .*Order\.total\(Shop\.java:102\)$")
    leave(t)


@case("at 40 columns a backtrace keeps what tells: methods, and the classes of locals")
def narrow_backtrace(t):
    start(t, dump=SHOP)
    t.keys("t")
    t.wait(r"^> +0 +main ")
    t.keys("Enter")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > threads > main")
    t.wait(r"^  branch +address +class")
    t.resize(40, 10)
    t.wait(r"^  branch +(address +)?class")
    t.wait(r"^>   0  .*Thread\.sleep\(Native Method\)$")
    t.keys("d")  # of a row that is no object
    t.wait(r"^d needs an object; this row is")
    enter(t, "dom")
    t.wait(r"^  object +retained")
    t.wait(r"^> ▸ java\.net\.URLClassLoader ")
    leave(t)


@case("set weak on: said in the title as long as there is room, views of the old tree close with a word",
      ((80, 24), (200, 50), (40, 10), (30, 8)))
def weak_on(t):
    start(t, dump=SHOP)
    enter(t, "dom")
    t.wait(r"nators .*retained v")
    t.type(":set weak on")
    t.keys("Enter")
    if t.height >= 10:
        t.wait(r"weak on: retained sizes are computed")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram(?! >)")
    title = t.wait(r"^cairn .*weak on$")[0]
    need(t.width < 80 or "HPROF 1.0.2 · 64 bit · 4,861 objects" in title, "the facts are gone", t)
    t.type(":set weak off")
    t.keys("Enter")
    t.wait(r"^cairn .*weak on$", gone=True)
    leave(t)


@case("K: suspects; c: what clearing the reference of one frees; the plan of a cut", BOTH)
def cuts(t):
    start(t, dump=SHOP)
    t.keys("K")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > leaks")
    t.keys("Down")
    t.wait(r"^> 2 +\S*AuditLog\.ENTRIES ")  # the planted leak
    t.keys("c")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > leaks > cut com\.acme\.shop\.AuditLog\.ENTRIES")
    t.keys("Escape")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > leaks(?! >)")
    t.type(":cut -plan 190K")
    t.keys("Enter")
    t.wait(r"^  c\S*AuditLog\.ENTRIES ")  # cut off where the screen is narrow
    leave(t)


@case("the heap's tree: live and garbage, bars against the largest sibling, a and g take rows apart", BOTH)
def heap_groups(t):
    start(t, dump=SHOP)
    t.keys("2")
    t.wait(r"live 217K . garbage 0$")
    t.wait(r"^ +retained siblings +% all  branch ")
    t.wait(r"^> +108K \u2588{4,} +50%  . static Shop\.INSTANCE  Shop")
    t.keys("Right")
    t.wait(r"^ +72\.4K +\u2501{3,}\u2578? +33%    . orders  ArrayList")  # it has its own scale
    t.type("/File > path")
    t.keys("Enter")
    wait_selected(t, r"home  File > path  String")
    t.keys("a")
    wait_selected(t, r". home  File( |$)")
    t.wait(r"%      \S path  String")
    t.keys("Down", "a")  # on any of them: they are one row again
    wait_selected(t, r"home  File > path  String")
    t.keys("f")
    t.type("INSTANCE")
    t.keys("Enter")
    t.wait(r"filter of open rows: INSTANCE")
    t.keys("F", "Left")
    t.type("/Session")
    t.keys("Enter")
    wait_selected(t, r"\d \u00d7 Session")
    t.keys("g")
    t.wait(r" \d+/2[2-9]$")  # four rows instead of one
    wait_selected(t, r"^[^\u00d7]*Session( |$)")
    t.keys("g")
    wait_selected(t, r"4 \u00d7 Session")
    leave(t)


def reversed_on(t, y):
    """What is in reverse video on this line of the screen, from 0 on."""
    on, found = False, ""
    for i, line in enumerate(t.screen(escapes=True)):
        for sequence, codes, text in re.findall(r"(\033\[([\d;]*)m)|([^\033]+)", line):
            if sequence:
                for code in re.sub(r"[34]8;5;\d+", "", codes).split(";"):
                    on = code == "7" or (on and code not in ("", "0", "27"))
            elif on and i == y:
                found += text
    return found


TOP, BELOW = 2, 3  # the first lines of the boxes over the heap's tree, in a window without an alert


@case("boxes over the heap's tree, each over its children: the selected row's are marked, a click goes to a row", BOTH)
def heap_boxes(t):
    start(t, dump=SHOP)
    t.keys("2")
    t.wait(r"^ static Shop\.INSTANCE  Shop 108K 50% +│ .*AuditLog\.ENTRIES .*80\.0K 37% +│", panes=True)
    t.wait(r"^ orders  ArrayList 72\.4K( 33%)? +│.*│ 60 × Session >=79\.7K >=36% +│", panes=True)  # without opening anything
    lines = t.screen()
    edge = lines[TOP].index("│ ")
    need(lines[BELOW][edge] == "│", "a child reaches over the box above it", t)
    need(0.45 * t.width <= edge <= 0.55 * t.width, "a half is not half of the line", t)
    t.wait(lambda lines: "Shop.INSTANCE" in reversed_on(t, TOP))
    need(not reversed_on(t, BELOW), "a child is marked", t)
    t.keys("Down")
    t.wait(lambda lines: re.match(r" (static )?AuditLog\.ENTRIES ", reversed_on(t, TOP)))
    t.keys("Right", "Right")
    wait_selected(t, "60 × Session")
    t.wait(lambda lines: re.match(r" 60 × Session >=79\.7K >=36% *$", reversed_on(t, BELOW)))
    need("AuditLog" in reversed_on(t, TOP), "the box above is not marked", t)
    click(t, *place_of(t, "orders  ArrayList"))
    wait_selected(t, "▸ orders  ArrayList")
    t.wait("▾ static Shop.INSTANCE")
    t.wait(lambda lines: "orders" in reversed_on(t, BELOW))
    click(t, 2, TOP + 1)
    wait_selected(t, "▾ static Shop.INSTANCE")
    click(t, *place_of(t, "other"))
    wait_selected(t, r"▸ via Order\.customer|class objects, own bytes")
    t.wait(lambda lines: reversed_on(t, TOP).strip() == "other")
    t.keys("f")
    t.type("AuditLog")
    t.keys("Enter")
    wait_selected(t, "▾ static AuditLog.ENTRIES")
    click(t, 2, TOP + 1)  # its row is filtered out
    t.keys("F")
    wait_selected(t, "▾ static AuditLog.ENTRIES")
    leave(t)


@case("boxes over the heap's tree where there is room for their names: one line more from 35 lines on, none in small windows")
def heap_boxes_room(t):
    start(t, dump=SHOP)
    t.keys("2")
    first = r"^ static Shop\.INSTANCE  Shop 108K 50% "
    for (width, height), lines in (((80, 24), 2), ((80, 35), 3), ((80, 16), 2), ((50, 16), 2), ((50, 15), 0), ((49, 24), 0)):
        t.resize(width, height)
        t.wait(lambda shown: len(shown) <= height and any("  branch" in line for line in shown) and
               ["  branch" in line for line in shown].index(True) == 2 + lines)
        if width == 80:
            t.wait(first, panes=True)
    t.resize(20, 6)
    wait_selected(t, "stati")
    leave(t)


@case("boxes over the tree of a heap without a large holder: one line, in a narrow window, too")
def heap_boxes_flat(t):
    dump = os.path.join(os.environ.get("CAIRN_DUMPS", ""), "apps", "tc1.hprof")
    if not os.path.exists(dump):
        return
    t.line('clear; "$CAIRN" \'%s\'' % dump)
    t.wait(r"^> byte\[\]")
    t.keys("2")
    t.wait(r"^ String +│ other$")
    need("  branch" in t.screen()[3], "one line of boxes", t)
    t.resize(200, 50)
    t.wait(r"^ 18,113 × String ", panes=True)
    leave(t)


def look_of(t, words):
    """The escape sequences in force where these words begin, as far as their line says."""
    for line in t.screen(escapes=True):
        if words in line:
            return re.findall(r"\033\[[\d;]*m", line[:line.index(words)])[-1:]
    return None


@case("boxes over the heap's tree: those of the overview's suspects look as suspects do there; what stays is not written again")
def heap_boxes_looks(t):
    t.line('"$CAIRN_ITSELF" --theme dark \'%s\'' % SHOP)
    t.wait(r"^ALSO +waste ")
    t.keys("Down", "Down")
    t.wait(r"^> byte\[\]")
    suspect = look_of(t, "com.acme.shop.AuditLog.ENTRIES")
    need(suspect, "a suspect has no look", t)
    t.keys("2", "Down", "Down")
    t.wait(lambda lines: reversed_on(t, TOP).strip() == "other" and "60 × Session >=79.7K" in lines[BELOW])
    need(look_of(t, "AuditLog.ENTRIES 80.0K 37%") == suspect, "the suspect's box looks otherwise", t)
    need(look_of(t, "60 × Session >=79.7K") != suspect, "what is no suspect looks as one", t)
    log = os.path.join(t.home, "log")
    t.tmux("pipe-pane", "cat >>'%s'" % log)
    for row in range(4, 9):
        t.keys("Down")
        t.wait(r" %d/21$" % row)
    written, before = "", None
    for _ in range(200):  # cat writes what it reads at once, but beside us
        if "3 × Worker" in written and written == before:
            break
        time.sleep(0.1)
        with open(log, encoding="utf-8") as f:
            before, written = written, f.read()
    need("3 × Worker" in written, "the rows are not in what was written", t)
    for words in ("INSTANCE", "AuditLog", "orders", "60 × Session", "other"):
        need(words not in written, "%r was written again" % words, t)
    leave(t)


@case("boxes over the heap's tree in ASCII", env={"LC_ALL": "C"})
def heap_boxes_ascii(t):
    start(t, dump=SHOP)
    t.keys("2")
    t.wait(r"^ static Shop\.INSTANCE  Shop 108K 50% +\| AuditLog\.ENTRIES 80\.0K 37% +\| other")
    t.wait(r"^ orders  ArrayList 72\.4K +\|.*\| 60 x Session >=79\.7K >=36% +\|")
    leave(t)


@case("dom shows the dominator tree: Right opens, Left closes, * goes down to the drop", BOTH)
def dominators(t):
    start(t)
    enter(t, "dom")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > dominators")
    t.wait(r"^> 0xe0000090 +▸ .* ~267K ")
    t.keys("Right")
    t.wait(r"^> 0xe0000090 +▾ ")
    t.wait(r"^  0xe\w+ +  ▸ ")
    t.keys("Right")  # into the branch
    t.wait(r"^> 0xe\w+ +  ▸ ")
    t.keys("Left")   # and out of it
    t.wait(r"^> 0xe0000090 +▾ ")
    t.keys("Left")
    t.wait(r"^> 0xe0000090 +▸ ")
    t.keys("*")  # half of the bytes are one child's, the others scatter
    t.wait(r"^> 0xe0000090 +▾ ")
    t.keys("Down", "*")  # its child holds nearly all that the class object does
    t.wait(r"^  0xe\w+ +  ▾ class com\.acme\.shop\.AuditLog ")
    t.wait(r"^> 0x\w+ +    ( )*▾ ")
    t.keys("Escape")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram(?! >)")
    t.type(":top")
    t.keys("Enter")
    t.wait(r"> largest objects")
    t.wait(r"9\d(\.\d)?%")
    t.keys("Enter")
    t.wait(r"> dominated by \S+ 0xe0000090")
    leave(t)


@case("in a tree: Enter on a leaf opens the object, d on a row makes it the top, filters keep parents")
def tree_rows(t):
    start(t)
    enter(t, "dom")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > dominators")
    t.keys("*", "End", "Home", "d")
    t.wait(r"> dominated by \S+ 0xe0000090")
    t.keys("Escape")
    t.type(":tree -by package")
    t.keys("Enter")
    t.wait(r"package tree")
    t.keys("f")
    t.type("acme")
    t.keys("Enter")
    t.wait(r"^. ▾ com ")
    t.wait(r"^.   ▸ acme ")
    t.wait(lambda lines: not any("java" in line for line in lines[2:-2]))
    t.keys("End", "Enter")
    t.wait(r"^>   ▾ acme ")
    t.wait(r"^      ▸ plugin ")
    t.keys("F", "/")
    t.type("plugin")
    t.keys("Enter", "Enter", "Right", "Enter")
    t.wait(r"package tree > com\.acme\.plugin\.\w+")
    leave(t)


@case("--ascii: branches carry + and -")
def ascii_tree(t):
    start(t, options="--ascii")
    enter(t, "dom")
    t.wait(r"^> 0xe0000090 +\+ ")
    t.keys("Right")
    t.wait(r"^> 0xe0000090 +- ")
    leave(t)


def plain_tree(t):
    start(t, dump=SHOP)
    enter(t, "dom")
    t.wait(r"^> 0x\w+ +\+ java\.net\.URLClassLoader ")
    t.keys("*")
    t.wait(r"^  0x\w+ +- java\.net\.URLClassLoader ")
    t.wait(r"^> 0x\w+ +(  )+- ")
    t.resize(40, 10)
    t.wait(r"^> +(  )+- ")
    t.wait(lambda lines: all(len(line) <= 40 for line in lines))
    leave(t)


@case("the console's font has no triangles: branches carry + and -", env={"TERM": "linux"})
def linux_tree(t):
    plain_tree(t)


@case("a vt100 shows trees as well", env={"TERM": "vt100"})
def vt100_tree(t):
    plain_tree(t)
