# SPDX-License-Identifier: GPL-3.0-or-later
"""The page that a dump opens with."""

import os
import re

from cairntest import GO, SAMPLE, SHOP
from tmux import PROMPT
from tui import BOTH, case, enter, leave, need, wait_selected


def opened(t, dump=SHOP, options=""):
    t.line('clear; "$CAIRN_ITSELF" %s \'%s\'' % (options, dump))
    t.wait(r"^SUSPECTS .*(frees|retains)$")
    t.wait(r"^ALSO +waste ")  # the last that fills in


@case("overview: where there are few lines each part has a row", ((40, 10), (60, 14)))
def few_lines(t):
    opened(t)
    lines = t.screen()
    for word in ("SUSPECTS", "FILLED BY", "HELD BY"):
        at = [i for i, line in enumerate(lines) if line.startswith(word)]
        need(len(at) == 1 and re.search(r"[KM]$", lines[at[0] + 1]), word, t)
    t.keys("q")


@case("overview: suspects, what fills and what holds; Tab goes through its parts, Enter opens a row, 0 comes back", BOTH)
def overview(t):
    opened(t)
    lines = t.screen()
    need(any("FILLED BY" in line and "HELD BY" in line for line in lines), "both stand side by side", t)
    wait_selected(t, r"Shop\.INSTANCE +█+ +49\.\d% +108K +108K$")
    t.keys("Down")
    wait_selected(t, r"AuditLog\.ENTRIES .* 80\.\dK +80\.0K$")
    t.keys("Enter")
    t.wait(r"^overview > \S*AuditLog\.ENTRIES")
    t.wait(r"^> java\.util\.ArrayList size 60 ")  # the list, not the array in it
    t.keys("Escape")
    wait_selected(t, r"AuditLog\.ENTRIES")
    t.keys("Tab")
    t.wait(r"^> byte\[\] .* 91\.4K ")
    t.keys("Enter")
    t.wait(r"^overview > byte\[\]")
    t.keys("0")
    t.keys("Tab", "Tab", "Enter")
    t.wait(r"^overview > waste")
    t.keys("0", "1")
    t.wait(r"^> byte\[\] +1,106 ")
    t.keys("0")
    t.wait(r"^SUSPECTS ")
    t.keys("q")
    t.wait("^" + PROMPT)


@case("overview: that a user asked for the dump is a line without the mark of what is wrong")
def asked_for(t):
    opened(t, dump=SAMPLE)
    t.wait(r'^> Dump Event "user" ')
    t.keys("Down")
    t.wait(r'^  Dump Event "user" ')
    t.keys("q")


@case("overview: what fills and what holds go down as far as the window does", ((200, 50), (120, 30)))
def high(t):
    opened(t)
    lines = t.screen()
    first, also = (next(i for i, line in enumerate(lines) if line.startswith(word)) for word in ("FILLED BY", "ALSO"))
    rows = lines[first + 1:also - 1]
    need(len(rows) == t.height - 15 and all(re.search(r"^..\S.* [\d.]+K?(?:  .*|$)", row) for row in rows), rows, t)
    need(sum(bool(re.search(r"  \S.* [\d.]+K?  .* (?:>=)?[\d.]+K?$", row)) for row in rows) >= min(len(rows), 18), rows, t)
    t.keys("Tab", *["Down"] * len(rows))
    t.wait(r"^  \S.* > \S*Shop\.INSTANCE|^  \S.*  > static Shop\.INSTANCE")  # the first of the other list
    t.keys("q")


@case("overview: the cause in the first line, and Enter shows the stack; where there are no suspects it says so")
def cause(t):
    dumps = os.environ.get("CAIRN_DUMPS")
    opened(t, dump=GO)
    leave(t)
    if not dumps:
        return
    opened(t, dump=os.path.join(dumps, "waste", "oom", "waste-oom.hprof"))
    t.wait(r"^> (java\.lang\.)?OutOfMemoryError in thread oom-hog, at .*Waste\.lambda\$oom\$24\(Waste\.java:518\)$")  # whole
    t.keys("Enter")
    t.wait(r"waste\.Waste\.lambda")
    leave(t)


@case("overview: c on a suspect says what clearing its reference frees, and E writes a report of it, as on its card")
def suspect_keys(t):
    opened(t)
    t.keys("Down")
    wait_selected(t, r"AuditLog\.ENTRIES .* 80\.\dK +80\.0K$")
    t.keys("E")
    t.wait(r"^:report -suspect 2 -o shop-AuditLog\.ENTRIES\.md")
    t.keys("Escape", "Escape", "c")
    t.wait(r"^overview > cut com\.acme\.shop\.AuditLog\.ENTRIES ")
    t.wait(r"^  references 1 +objects 602 +freed 80\.0K")
    t.keys("Escape", "Tab", "E")
    t.wait(r"^no suspect to write about here")
    leave(t)


@case("overview of a truncated dump: where it ends, and why nothing is suspected, whole; nothing seems to be awaited")
def truncated(t):
    path = os.path.join(t.home, "half.hprof")
    with open(SHOP, "rb") as whole, open(path, "wb") as half:
        half.write(whole.read()[:150000])
    t.line('clear; "$CAIRN_ITSELF" \'%s\'' % path)
    t.wait(r"^> truncated in an instance record at byte \d+$")
    lines = t.wait(r"^  objects retain is unknown$")
    need(any(re.match(r"  . the GC roots are in the part .*: what is reachable and what$", line) for line in lines), "whole", t)
    need(not any("\u2026" in line for line in lines), "something is awaited or clipped", t)
    leave(t)


@case("overview: a suspect that nobody can clear is dim, one that frees bytes is red; holders are bright, dim, or as texts")
def dim_suspect(t):
    dumps = os.environ.get("CAIRN_DUMPS")
    if not dumps:
        return
    opened(t, dump=os.path.join(dumps, "apps", "tc1.hprof"), options="--theme dark")
    t.keys("Tab")
    t.wait(r"^> byte\[\]")
    text = "\n".join(t.screen(escapes=True))
    need(re.search(r"38;5;210m *leaky\.Leaky\.BASKETS", text), "BASKETS is not red", t)
    need(re.search(r"38;5;247m *15,073 × java\.lang\.String", text), "Strings are not dim", t)
    need(re.search(r"\x1b\[1m *static Leaky\.BASKETS", text), "what a class of the program holds is not bright", t)
    need(re.search(r"38;5;247m *77 × ConcurrentHashMap", text), "what is the JDK's is not dim", t)
    leave(t)


@case("overview: of an inferred deadlock w says why, and its row lists the threads and locks; no suspect is said once")
def deadlock(t):
    dump = os.path.join(os.environ.get("CAIRN_DUMPS", ""), "found", "truth", "06-false-deadlock", "staticdead.hprof")
    if not os.path.exists(dump):
        return
    opened(t, dump=dump)
    lines = t.wait(r"^> dl-2 holds class StaticDead\$B 0x")
    need(sum("nothing retains more than" in line for line in lines) == 1 and "largest holders" not in str(lines), "once", t)
    need(not re.search(r"\d/\d+ *$", lines[1]), "rows of several parts have no number", t)
    t.keys("w")
    t.wait(r"^this row is inferred: the dump does not record monitor owners")
    t.keys("Enter")
    t.wait(r"^> +1 +~dl-[12], dl-[12] *$")  # no pane with what to clear
    t.keys("Enter")
    t.wait(r"^overview > deadlocks > dl-[12], dl-[12] ")
    lines = t.wait(r"^> 0x[0-9a-f]+ .*Thread .* dl-1\b")
    need(any(re.match(r"  0x[0-9a-f]+ .*Thread .* dl-2\b", line) for line in lines), "both threads", t)
    leave(t)


@case("overview: a row of several objects opens the heap's page on that row")
def held_group(t):
    opened(t, dump=GO)
    t.keys("Tab", "Tab", "Down", "Down")
    t.wait(r"> 60 × main\.Item ")
    t.keys("Enter")
    t.wait(r"^overview > heap")
    wait_selected(t, r"60 × main\.Item")
    t.keys("0", "Down", "Down", "Down", "Enter")  # another one, of the page that is there
    wait_selected(t, r"19 × runtime\.g\b")
    leave(t)


@case("overview in narrow and low windows: what is selected is seen, nothing runs over", sizes=((40, 10), (60, 14), (20, 6)))
def small(t):
    t.line('"$CAIRN_ITSELF" \'%s\'' % SAMPLE)
    t.wait(r"^(SUSPECTS|> )")
    for key in ("Tab", "Tab", "Down", "Down", "Down", "G", "g"):
        t.keys(key)
    wait_selected(t, r"\w")
    enter(t, "info")
    t.wait(r"format")
    leave(t)
