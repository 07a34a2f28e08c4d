# SPDX-License-Identifier: GPL-3.0-or-later
"""Leak suspects as cards: what they say, and their keys."""

import os
import re
import time

from cairntest import GO, SAMPLE, SHOP
from tui import BOTH, case, click, enter, leave, need, place_of, start, wait_selected

OLDER = [SHOP.replace("shop.hprof", name) for name in ("shop-1.hprof", "shop-2.hprof")]
DUMPS = os.environ.get("CAIRN_DUMPS")
PLACE = r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > leaks"


def leaks(t, line="leaks"):
    start(t, dump=SHOP)
    enter(t, line)
    t.wait(r"^> 1 ")


@case("leaks: a card says who holds it, how, how many, what is in it, what clearing frees", BOTH)
def card(t):
    leaks(t)
    t.wait(r"^> 1 +\S*Shop\.INSTANCE +static Shop +108K +49\.8% [█▉▊▋▌▍▎▏]+")
    t.wait(r"^  2 +\S*AuditLog\.ENTRIES +static ArrayList · 60 +80\.0K +36\.8% [█▉▊▋▌▍▎▏]+")
    t.wait(r"^     60 \S*Session, reached only from here; mostly byte\[\] in viewState \(60\.9K\)\.")
    t.wait(r"^     CLEAR \S*AuditLog\.ENTRIES → frees 80\.0K")
    leave(t)


@case("leaks with older dumps: how many there were in each, and a plot", ((80, 24), (120, 30)))
def over_dumps(t):
    t.line('clear; "$CAIRN" \'%s\' \'%s\' \'%s\'' % (OLDER[0], OLDER[1], SHOP))
    t.wait(r"^> byte\[\]")
    t.keys("3")
    t.wait(r"^     CLEAR \S*AuditLog\.ENTRIES → frees 80\.0K +20 → 40 → 60 over 3 dumps ▃▆█")
    leave(t)


@case("leaks with --ascii: signs that mean nothing else")
def ascii_card(t):
    t.line('clear; "$CAIRN" --ascii \'%s\'' % SHOP)
    t.wait(r"^> byte\[\]")
    t.keys("3")
    t.wait(r"^  2 +\S*AuditLog\.ENTRIES +static ArrayList \| 60 +80\.0K +36\.8% #+")
    t.wait(r"^     CLEAR \S*AuditLog\.ENTRIES -> frees 80\.0K")
    leave(t)


@case("cards: j, k, arrows, Home and End go from card to card; a click selects one, another opens it", BOTH)
def move(t):
    leaks(t, "leaks -share 1")
    t.keys("j")
    wait_selected(t, r"AuditLog\.ENTRIES")
    t.keys("Down")
    wait_selected(t, r"64 × \S*Customer")
    t.keys("k", "Up")
    wait_selected(t, r"Shop\.INSTANCE")
    t.keys("End")
    wait_selected(t, r"64 × \S*Customer")
    t.keys("Home")
    wait_selected(t, r"Shop\.INSTANCE")
    click(t, *place_of(t, "reached only"))
    wait_selected(t, r"AuditLog\.ENTRIES")
    click(t, *place_of(t, "reached only"))
    t.wait(PLACE + r" > \S*AuditLog\.ENTRIES")
    leave(t)


@case("cards: Enter shows what accumulated, c what clearing frees, also of a group", BOTH)
def opens(t):
    leaks(t, "leaks -share 1")
    t.keys("j", "Enter")
    t.wait(PLACE + r" > \S*AuditLog\.ENTRIES")
    t.wait(r"ENTRIES \(60\)")
    t.keys("Escape", "c")
    t.wait(PLACE + r" .*> cut com\.acme\.shop\.AuditLog\.ENTRIES")
    t.wait(r"freed 80\.0K")
    t.keys("Escape", "j")
    wait_selected(t, r"64 × \S*Customer")
    t.keys("c")
    t.wait(PLACE + r" .*> cut com\.acme\.shop\.AuditLog\.ENTRIES")
    leave(t)


@case("cards: p, d, o, u and the prompt ask about the object that the card names, as its pane does", BOTH)
def asks_of_named(t):
    leaks(t)
    t.keys("j")
    wait_selected(t, r"AuditLog\.ENTRIES")
    # the ArrayList, as the sentence says: what is in it, and what holds it
    for key, page, row in (("p", "path", "ENTRIES .*80"), ("d", "dominated", "0xe0033f80 "),
                           ("o", "outgoing", "0xe0033f80 "), ("u", "incoming", "static ENTRIES .*0xe0001550 ")):
        t.keys(key)
        t.wait(PLACE + r" > %s .*AuditLog\.ENTRIES" % page)
        t.wait(row)
        t.keys("Escape")
        wait_selected(t, r"AuditLog\.ENTRIES")
    t.keys(":")
    t.wait(r"on this row: \S*ArrayLi\S*(?: 0xe0033)?f68")
    t.keys("Escape")
    enter(t, "size .")
    t.wait(r"^ +retained +80\.0K")
    leave(t)


@case("cards: y copies the sentence as one line, Y the columns")
def copies(t):
    leaks(t)
    path = os.path.join(t.home, "copied")
    enter(t, "set copy %s" % path)
    t.keys("3", "j")
    wait_selected(t, r"AuditLog\.ENTRIES")
    t.keys("y")
    t.wait(r"^copied to ")
    t.keys("Y")
    t.wait(r"^copied to ")
    leave(t)
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    need(lines[0] == "com.acme.shop.AuditLog.ENTRIES (java.util.ArrayList 0xe0033f68, 60 elements, all "
         "com.acme.shop.Session) retains 80.0K, 36.8% of the heap. Clearing it frees 80.0K.", lines, t)
    need(lines[1].startswith("0xe0001550\tclass com.acme.shop.AuditLog\t82056\t") and len(lines) == 2, lines, t)


@case("cards: the sentence that y copies names the many objects that are most of it, as the card does")
def copies_many(t):
    path = os.path.join(t.home, "copied")
    start(t, dump=SAMPLE)
    enter(t, "set copy %s" % path)
    t.keys("3")
    t.wait(r"^> 1 ")
    t.keys("j")
    wait_selected(t, r"^> 2 .*PageCache")
    card = re.search(r"Largest parts: (\d\d+) \S*?([\w$]+) (\(\S+\))", " ".join(" ".join(t.screen()).split()))
    need(card, "the card names them", t)
    t.keys("y")
    t.wait(r"^copied to ")
    leave(t)
    with open(path, encoding="utf-8") as f:
        line = f.read()
    words = tuple(re.escape(word) for word in card.groups())
    need(re.search(r" Most of it is %s \S*\b%s %s\. " % words, line), line, t)


@case("where clearing frees more than the suspect retains, overview and card say why", BOTH)
def others_too(t):
    t.line('clear; "$CAIRN_ITSELF" \'%s\'' % GO)
    t.wait(r"^> 100 × main\.Session  frees others too +█+ +26\.6% +27\.7K +31\.2K$")
    t.keys("3")
    t.wait(r"frees 31\.2K:")
    t.wait(r"not all, others too")
    leave(t)


@case("overview: y copies the sentence of a suspect, and of an alert")
def copies_overview(t):
    path = os.path.join(t.home, "copied")
    t.line('clear; "$CAIRN_ITSELF" \'%s\'' % SHOP)
    t.wait(r"^> \S*Shop\.INSTANCE ")
    enter(t, "set copy %s" % path)
    t.keys("j")
    wait_selected(t, r"AuditLog\.ENTRIES")
    t.keys("y")
    t.wait(r"^copied to ")
    leave(t)
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    need(len(lines) == 1 and lines[0].startswith("com.acme.shop.AuditLog.ENTRIES (java.util.ArrayList 0xe0033f68, 60 elements"),
         lines, t)
    oom = os.path.join(DUMPS or "", "waste", "oom", "waste-oom.hprof")
    if not DUMPS or not os.path.exists(oom):
        return
    t.line('clear; "$CAIRN_ITSELF" \'%s\'' % oom)
    t.wait(r"^> .*OutOfMemoryError")
    enter(t, "set copy %s" % path)
    t.keys("Home", "y")
    t.wait(r"^copied to ")
    leave(t)
    with open(path, encoding="utf-8") as f:
        line = f.read().splitlines()[1]
    need("OutOfMemoryError" in line and not line.startswith("cause"), line, t)


@case("cards: E writes a report about this suspect alone, with the share of the page")
def ticket(t):
    leaks(t, "leaks -share 5")
    t.keys("j", "E")
    t.wait(r"^:report -suspect 2 -share 5 -o shop-AuditLog\.ENTRIES\.md$")
    t.keys("Escape")
    t.wait(r"^:report", gone=True)
    t.wait(r"^> 2 ")
    enter(t, "report -suspect 2 -share 5 -o %s/ticket.md" % t.home)
    t.wait(r"^wrote the report to ")
    leave(t)
    with open(os.path.join(t.home, "ticket.md"), encoding="utf-8") as f:
        text = f.read()
    need("AuditLog.ENTRIES (java.util.ArrayList 0xe0033f68, 60 elements" in text and "## Path" in text and
         "## Clearing" in text, text, t)
    need("Shop.INSTANCE" not in text and "## Waste" not in text, "about more than the suspect:\n" + text, t)


@case("cards: filter, search, sort, marks and columns of one's own work as in tables", BOTH)
def as_tables(t):
    leaks(t)
    t.keys("f")
    t.type("ENTRIES")
    t.keys("Enter")
    wait_selected(t, r"2 +\S*AuditLog\.ENTRIES")
    t.wait(r"Shop\.INSTANCE", gone=True)
    t.keys("Escape")
    t.wait(r"Shop\.INSTANCE")
    t.keys("Home", "/")
    t.type("viewState")
    t.keys("Enter")
    wait_selected(t, r"AuditLog\.ENTRIES")
    t.keys("m", "a", "Home", "'", "a")
    wait_selected(t, r"AuditLog\.ENTRIES")
    t.keys("s", "r")
    t.wait(r"^[> ] 2 ")
    leave(t)


@case("cards: W shows the suspects as a table, W W there the cards again; elsewhere W has no cards", BOTH)
def as_a_table(t):
    leaks(t)
    t.keys("j", "W")
    t.wait(r"^ +address +class +objects +retained ")
    wait_selected(t, r"0xe0001550 +class \S*AuditLog")
    t.keys("W")
    t.wait(r"> leaks > columns")
    t.wait(r"^  accumulated_in +yes")
    t.keys("W")
    t.wait(r"^showing as many columns as fit")
    t.keys("q")
    t.wait(r"^     60 \S*Session, reached only from here")
    t.keys("W", "1", "3")
    t.wait(r"^> 1 +\S*Shop\.INSTANCE +static")  # the next answer has cards
    t.keys("?")
    t.wait(r"W +as a table")
    t.keys("Escape", "?", "?")
    t.keys("W")
    t.wait(r"^no rows here$")
    leave(t)


TOMCAT = os.path.join(DUMPS or "", "apps", "tc1.hprof")


@case("a group that leads nowhere comes last; the overview says of what its shares are", ((120, 30),))
def nowhere(t):
    if not DUMPS or not os.path.exists(TOMCAT):
        return
    t.line('clear; "$CAIRN_ITSELF" \'%s\'' % TOMCAT)
    t.wait(r"^> leaky\.Leaky\.BASKETS +█\S* +~4\.9% +441K +441K$")
    t.wait(r"^  15,073 × java\.lang\.String +█{14} ")
    t.wait(r"^FILLED BY +% of all  shallow +HELD BY +% of reachable  retained$")
    t.keys("3")
    t.wait(r"^> 1 +\S*Leaky\.BASKETS +static \S+ · 152 +441K")
    t.wait(r"^     152 \S*Leaky\$Basket; mostly byte\[\] in blob \(\d+K\)\.")
    t.wait(r"^  2 +15,073 × \S*String +group +1\.0M")
    leave(t)


LINE = 210  # bytes that a key writes which goes to the next line of a list


@case("cards: going to the next one writes no more than three lines to the terminal")
def bytes_of_cards(t):
    log = os.path.join(t.home, "log")
    leaks(t, "leaks -share 1")
    t.keys("v")
    t.wait(r"^[^ ].*pane")
    t.tmux("pipe-pane", "cat >>'%s'" % log)
    t.keys("Down")
    t.wait(r" 2/3$")

    def settled():
        size = -1
        while size != os.path.getsize(log):
            size = os.path.getsize(log)
            time.sleep(0.1)
        return size

    for key, place in (("Down", 3), ("Up", 2), ("Up", 1)):
        before = settled()
        t.keys(key)
        t.wait(r" %d/3$" % place)
        written = settled() - before
        need(0 < written <= 3 * LINE, "%d bytes" % written, t)
    leave(t)


@case("the keys of cards are in the box of keys, and the general ones they replace are not")
def in_box(t):
    leaks(t)
    t.keys("?")
    t.wait(r"Enter +what accumulated")
    t.wait(r"y +copy the sentence")
    t.wait(r"E +write a ticket")
    t.wait(r"c +cut")
    need(not any("open the row" in line or "copy the value" in line for line in t.screen()), "twice", t)
    t.keys("Escape", "1")
    t.wait(r"^> byte")
    t.keys("?")
    t.wait(r"Enter +open the row")
    need(not any("write a ticket" in line for line in t.screen()), "a ticket about a class", t)
    t.keys("Escape", "E")
    t.wait(r"^this key works on leak suspects; press 3 for them$")
    leave(t)
