# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that people try first, and the red line above the main pages."""

import os

from cairntest import SHOP
from tui import BOTH, case, click, enter, leave, need, place_of, said, start, wait_selected

DUMPS = os.environ.get("CAIRN_DUMPS")


@case("damage in a red line above the first view of each main page; Esc hides it, then goes back", BOTH)
def alert_of_damage(t):
    path = os.path.join(t.home, "half.hprof")
    with open(SHOP, "rb") as whole, open(path, "wb") as half:
        half.write(whole.read()[:60000])
    t.line('clear; "$CAIRN" \'%s\'' % path)
    t.wait(r"^! .*truncated.* b info +Esc hide$")
    t.keys("6")
    t.wait(r"^ +format +hprof")
    t.wait(r"^! .*truncated.* b info ")
    t.keys("1", "b")
    t.wait(r"^histogram > info")
    t.wait(r"^! ", gone=True)  # no first view
    t.keys("Escape")
    t.wait(r"^! .*truncated")
    t.keys("Escape")
    t.wait(r"^! ", gone=True)
    t.keys("6")
    t.wait(r"^ +format +hprof")
    need(not any(line.startswith("! ") for line in t.screen()), "the alert is there again", t)
    leave(t)


@case("an OutOfMemoryError in a red line: a click or b shows the stack; the overview has it itself")
def alert_of_cause(t):
    if not DUMPS:
        return
    t.line('clear; "$CAIRN" \'%s\'' % os.path.join(DUMPS, "waste", "oom", "waste-oom.hprof"))
    t.wait(r"^! OutOfMemoryError in thread oom-hog, .* b stack +Esc hide$")
    click(t, *place_of(t, "OutOfMemoryError"))
    t.wait(r"^histogram > oom-hog")
    t.wait(r"^> ▾ +1 +waste\.Waste\.lambda\S+\(Waste\.java:518\)")  # not the frame that makes the error
    t.keys("0")
    t.wait(r"^[>!] OutOfMemoryError in thread oom-hog")
    need(not any("Esc hide" in line for line in t.screen()), "said twice", t)
    leave(t)
    t.line('clear; "$CAIRN" "%s"/heapdump.*.0002.phd' % os.path.join(DUMPS, "openj9-real", "leaky-default"))
    t.wait(r"^! OutOfMemoryError: Java heap space in thread leaky-eater +b stack +Esc hide$")
    t.keys("4")
    t.wait(r"^> leaky-eater ")
    leave(t)


@case("an alert has a line of a small window, too", ((40, 10),))
def small_alert(t):
    if not DUMPS:
        return
    t.line('clear; "$CAIRN" \'%s\'' % os.path.join(DUMPS, "waste", "oom", "waste-oom.hprof"))
    t.wait(r"^! OutOfMemoryError in thread oom-hog")
    t.wait(r"^> byte\[\] ")
    t.keys("Escape")
    t.wait(r"^! ", gone=True)
    leave(t)


@case("no alert where nothing is wrong: b says so")
def no_alert(t):
    start(t, dump=SHOP)
    t.wait(r"^> byte\[\] .*%")
    need(not any(line.startswith("! ") for line in t.screen()), "an alert", t)
    t.keys("b")
    t.wait(r"^no OutOfMemoryError, deadlock or damage is known")
    leave(t)


@case("b where a user asked for the dump says that, and which event it was")
def asked_for(t):
    start(t)
    t.wait(r"^> byte\[\] .*%")
    need(not any(line.startswith("! ") for line in t.screen()), "an alert", t)
    t.keys("b")
    t.wait(said(r'a user asked for this dump: Dump Event "user" .*; no OutOfMemoryError, deadlock or damage is known'))
    leave(t)


@case("w is about the row, in words as well")
def why_of_row(t):
    start(t, dump=SHOP)
    t.wait(r"^> byte\[\] .*%")
    t.keys("v")  # panes would find the exact size
    enter(t, "histo -by package")
    wait_selected(t, r"<primitive> .*>=91\.5K")
    t.keys("w")
    t.wait(r"^retained .* is a lower bound: ")
    enter(t, "ls java.util.UUID")
    t.wait(r"^> 0x")
    t.keys("w")
    t.wait(r"^all numbers of this row are exact$")
    leave(t)


@case("Esc shows all rows first; Backspace and ^O go back and keep the filter", BOTH)
def escape(t):
    start(t, dump=SHOP)
    t.keys("Down", "Enter")
    t.wait(r"^histogram > ")
    t.keys("Escape")
    t.wait(r"^0 overview")
    t.keys("f")
    t.type("Order")
    t.keys("Enter")
    t.wait(r"filter: Order +\d+/\d+$")
    t.keys("Enter")
    t.wait(r"^histogram > ")
    t.keys("C-o")
    t.wait(r"filter: Order +\d+/\d+$")
    t.keys("Escape")
    t.wait(r"filter: Order", gone=True)
    wait_selected(t, r"Order")  # the row stays
    leave(t)


@case("l opens as Right does, ^O goes back, Tab goes forward where there is no pane")
def open_and_back(t):
    start(t, dump=SHOP)
    t.keys("l")
    t.wait(r"^histogram > byte\[\]")
    t.keys("C-o")
    t.wait(r"^0 overview")
    t.keys("Tab")
    t.wait(r"^histogram > byte\[\]")
    t.keys("BSpace", "]")
    t.wait(r"^histogram > byte\[\]")
    leave(t)


@case("arrows move in the rows while a filter or a search is typed", BOTH)
def arrows(t):
    start(t, dump=SHOP)
    t.keys("f")
    t.type("java.util.")
    t.wait(r"^filter: java\.util\. ")
    t.keys("Down", "Down")
    t.wait(r" 3/\d+$")
    t.keys("Up", "Enter")
    t.wait(r"filter: java\.util\. +2/\d+$")
    t.keys("F", "Home", "/", "Down", "Down", "Down")
    t.wait(r" 4/\d+$")
    t.keys("C-c")
    leave(t)


@case("/ says which match it found, of how many; the same again finds the next", BOTH)
def counts_matches(t):
    start(t, dump=SHOP)
    t.wait(r"^> byte\[\] .*%")
    with_map = sum("HashMap" in line for line in t.rows(t.screen()))
    t.keys("/")
    t.type("HashMap")
    t.keys("Enter")
    t.wait(r"^match 1/\d")
    of = int(t.wait(r"^match 1/\d")[-2].split("/")[1])
    need(of >= with_map > 1, "%d rows are seen, %d were counted" % (with_map, of), t)
    t.keys("n")
    t.wait(r"^match 2/%d$" % of)
    t.keys("/")
    t.type("HashMap")
    t.keys("Enter")
    t.wait(r"^match 3/%d$" % of)
    t.keys("N", "N", "N")
    t.wait(r"match %d/%d$" % (of, of))
    leave(t)


@case("/ without a row that matches: Enter finds in the whole dump, any other key means itself", BOTH)
def finds_in_all(t):
    start(t, dump=SHOP)
    t.keys("/")
    t.type("[4711000004]")
    t.keys("Enter")
    t.wait(r"^no row matches; Enter: find in the whole dump")
    t.keys("Down", "Up", "Enter")
    t.wait(r"^histogram > byte\[\]")
    t.keys("C-o", "/")
    t.type("4711000004")
    t.keys("Enter")
    t.wait(r"^no row matches; Enter: find in the whole dump")
    t.keys("Enter")
    t.wait(r"^histogram > found")
    t.wait(r"^> field +0xe0011310 +com\.acme\.shop\.Order ")
    leave(t)


@case("s sorts by the columns of numbers that are seen, and by no other; > takes all", BOTH)
def numbers_only(t):
    start(t, dump=SHOP)
    t.wait(r"^> byte\[\] .*% +>?=?\d")
    for column in ("retained", "objects", "shallow", "retained"):
        t.keys("s")
        t.wait(r" %s v +1/43$" % column)
    t.keys(">")
    t.wait(r" class \^ +1/43$")
    leave(t)


@case("Enter on a class: its objects, those that retain most first", BOTH)
def largest_first(t):
    start(t, dump=SHOP)
    t.wait(r"^> byte\[\] .*% +>?=?\d")  # retained sizes are known
    t.keys("Enter")
    t.wait(r"retained v +1/")
    leave(t)


@case("the pane of a row that is no object is empty, not that of the row before", ((120, 30), (200, 50)))
def empty_pane(t):
    start(t, dump=SHOP)
    enter(t, "bt main")
    t.wait(r"^> +0  ")
    t.keys("Down", "Down")
    wait_selected(t, "Java local")
    t.wait(r"│ ?0x\w+ com\.acme", panes=True)
    t.keys("Up")
    t.wait(r"│ ?0x\w+ com\.acme", panes=True, gone=True)
    leave(t)


@case("info: words in two columns where there is room, in one where there is not", ((80, 24), (120, 30)))
def info_in_columns(t):
    start(t, dump=SHOP)
    t.keys("6")
    t.wait(r"^ +word bits +64 +byte order +big$" if t.width > 100 else r"^ +word bits +64$")
    leave(t)


@case("save leaks.md: each sentence once")
def sentences_once(t):
    start(t, dump=SHOP)
    t.keys("3")
    t.wait(r"^> 1 ")
    enter(t, "save %s/leaks.md" % t.home)
    t.wait(r"^wrote 2 rows")
    leave(t)
    with open(os.path.join(t.home, "leaks.md"), encoding="utf-8") as f:
        text = " ".join(f.read().split())
    need(text.count("AuditLog.ENTRIES") == 1 and text.count("Clearing it frees 80.0K.") == 1, text, t)


@case("a column in which no row has anything is not shown", BOTH)
def no_empty_columns(t):
    start(t, dump=SHOP)
    enter(t, "find Session")
    words = next(line for line in t.wait(r"^ +kind +address") if "kind" in line)
    need("field" not in words.split("\u2502")[-2 if t.width > 160 else 0].split(), words, t)
    enter(t, "find 4711000004")
    t.wait(r"kind +address +class .*field")
    leave(t)
