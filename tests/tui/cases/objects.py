# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of an object and that of a class: each thing is said once, and each word opens what it names."""

import re

from cairntest import SHOP
from tui import BOTH, case, click, enter, held_by, leave, need, place_of, start, wait_selected


@case("the objects of a class, largest first, have bars before their fields", ((80, 24), (120, 35)))
def class_bars(t):
    start(t, dump=SHOP)
    enter(t, "ls com.acme.shop.Session -sort retained")
    t.wait(r'^> 0xe00200a8 +40 +1\.3K [█▉▊▋▌▍▎▏]{4,} +"session-4740" +0xe00042f8 ')
    leave(t)


@case("class, as jhat has it, shows the class object; Enter on its first line lists the objects of the class")
def class_of_jhat(t):
    start(t, dump=SHOP)
    enter(t, "class com.acme.shop.Session")
    t.wait(r"^> class com\.acme\.shop\.Session ")
    t.wait(r"^Enter open ")
    t.keys("Enter")
    t.wait(r" > com\.acme\.shop\.Session .* 1/100$")
    t.wait(r"^> 0xe00200a8 ")
    t.keys("Escape")
    t.wait(r"^> class com\.acme\.shop\.Session ")
    enter(t, "x 0xe00200a8")
    t.wait(r"^> com\.acme\.shop\.Session ")
    t.keys("Enter")
    t.wait(r"^this is the object itself; ")
    leave(t)


@case("while the first line of an object is selected, there is no empty pane beside it", ((200, 50),))
def head_without_pane(t):
    start(t, dump=SHOP)
    enter(t, "x 0xe00200a8")
    t.wait(r"^> com\.acme\.shop\.Session ")
    t.wait(r"^  WOULD FREE  3 byte")
    need(not any("│" in line for line in t.screen()), "a pane", t)
    t.keys("Down")
    t.wait(r"^> viewState .*│")
    t.wait(r"│ \S+ byte\[\]$")
    t.keys("Up")
    t.wait(lambda lines: not any("│" in line for line in lines))
    leave(t)


@case("an object: what holds it, fields by retained size, dates, referrers, what it would free", BOTH)
def object_once(t):
    start(t, dump=SHOP)
    enter(t, "x 0xe00200a8")
    held_by(t, r"static AuditLog\.ENTRIES ─ 80\.0K ─ ArrayList ─ \[0\] ─ 1\.3K ─ this")
    lines = t.wait(r"^  WOULD FREE +3 byte\[\] 1\.1K .*2 String 48")
    need(re.match(r"> com\.acme\.shop\.Session  0xe00200a8   40 own . 1\.3K retained", lines[2]), "the first line", t)
    fields = [line.split()[0] for line in lines if re.match(r"  \w+ +(byte\[\]|Customer|HashMap|String|long|boolean) ", line)]
    need(fields == ["viewState", "customer", "cart", "id", "lastSeen", "closed"], "by retained size: %s" % fields, t)
    t.wait(r"^  lastSeen +long +1795255960000  2026-11-21T10:12:40Z")
    t.wait(r"^  REFERRERS \(1\)")
    for once in ("0xe00200a8", "WOULD FREE", "path from root"):
        need(t.text().count(once) == (0 if once == "path from root" else 1), "%s is not there once" % once, t)
    t.type("/2026-11-21")  # what is shown beside a number is searched as well
    t.keys("Enter")
    wait_selected(t, "lastSeen")
    leave(t)


@case("an object: Tab goes on to the words of its path and of what it would free; each opens", BOTH)
def object_words(t):
    start(t, dump=SHOP)
    enter(t, "x 0xe00200a8")
    t.wait(r"^  WOULD FREE +3 byte\[\]")
    t.keys("Tab")
    wait_selected(t, r"\[0\] +0xe0033f80 ")
    if t.width == 200:  # the pane of the referrer comes first
        t.wait(r"│ 0xe0033f80 java\.lang\.Object\[\]", panes=True)
        t.keys("Tab")
    t.keys("Tab", "Enter")  # the first word: the list in the static field
    t.wait(r"^> java\.util\.ArrayList size 60  0xe0033f68 ")
    t.keys("Escape", "Down", "Down", "Enter")  # behind the path what would be freed
    t.wait(r"^histogram > Session > byte\[\] ")
    t.wait(r"^  byte\[\]   1,106 objects ")
    leave(t)


@case("a click selects a word of the path, another one opens it")
def object_mouse(t):
    start(t, dump=SHOP)
    enter(t, "x 0xe00200a8")
    t.wait(r"^  WOULD FREE +3 byte\[\]")
    x, y = place_of(t, "ArrayList")
    click(t, x, y)
    click(t, x, y)
    t.wait(r"^> java\.util\.ArrayList size 60  0xe0033f68 ")
    leave(t)


@case("a class: numbers, what holds its objects, what to clear, and the list by retained size", BOTH)
def class_page(t):
    start(t, dump=SHOP)
    t.wait(r"(>=)?92\.2K|\? *$" if t.width == 80 else r"(>=)?92\.2K")
    t.type("/acme.shop.Session")
    t.keys("Enter", "Enter")
    t.wait(r"^  com\.acme\.shop\.Session   100 objects . 3\.9K shallow . 92\.2K retained")
    t.wait(r"^  HELD BY  60 × AuditLog\.ENTRIES\[\] +79\.7K ████████")
    t.wait(r"40 × Shop\.sessions\[\] +11\.2K █")
    t.wait(r"CLEAR    every reference to them +92\.2K")
    wait_selected(t, r"0xe00200a8 +40 +1\.3K .*session-4740")
    if t.width == 200:
        t.wait(r"^> 0xe00200a8 .* 1795255960000  2026-11-21T10:12:40Z ")
    t.keys("Down")
    if t.width == 200:  # the pane of the row comes first
        t.wait(r"│ 0xe00205f8 com\.acme\.shop\.Session", panes=True)
        t.keys("Tab")
    t.keys("Tab", "Enter")  # the list that holds them
    t.wait(r"^[> ] *java\.util\.ArrayList size 60 ")
    t.keys("Escape", "Tab")  # back to the words, then to the list
    t.keys("Down")
    wait_selected(t, r"0xe0020b48 ")
    leave(t)


@case("low windows: the words give way, the list and the fields stay", ((60, 12), (40, 10)))
def low(t):
    start(t, dump=SHOP)
    enter(t, "x 0xe00200a8")
    t.wait(r"^  viewState ")
    need("WOULD FREE" not in t.text(), "no room for that", t)
    enter(t, "ls com.acme.shop.Session")
    t.wait(r"^> 0xe001ce38 ")
    leave(t)


@case("the head of a class object has words, not names of columns")
def words_of_head(t):
    start(t, dump=SHOP)
    enter(t, "x com.acme.shop.Session")
    t.wait(r" superclass java\.lang\.Object +instance size 40$")
    t.wait(r"^ +instances 100 +instances shallow 3\.9K$")
    leave(t)
