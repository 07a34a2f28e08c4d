# SPDX-License-Identifier: GPL-3.0-or-later
"""The panes beside a list."""

import os
import re

from cairntest import SHOP, cairn
from tui import BOTH, case, click, enter, held_by, leave, mouse, need, place_of, selected, settled, start, wait_selected

DUMPS = os.environ.get("CAIRN_DUMPS")


@case("packages: a pane beside a wide list leaves no blanks, and has one ellipsis in a name", ((120, 35),))
def no_blanks(t):
    if not DUMPS:
        return
    start(t, dump=os.path.join(DUMPS, "apps", "tc1.hprof"))
    t.keys("5")
    t.wait(r"^> ▾ java .* 4\.4M [█▉▊▋▌▍▎▏]+ .*[KM]│ objects ")
    t.wait(r"│ .*\[…ConcurrentHashMap\$Node\[\]$")
    need(not any("……" in line for line in t.screen()), "two", t)
    leave(t)


@case("panes beside a list tell of the selected row: right, below, both sides, none", ((120, 30), (80, 34), (200, 50)))
def panes(t):
    whole = r"every reference to them +92\.2K"
    start(t, dump=SHOP)
    t.wait(r"(>=)?92\.2K")  # retained sizes are there
    t.type("/acme.shop.Session")
    t.keys("Enter")
    t.wait(whole, panes=True)
    t.wait(r"objects 100", panes=True)
    t.wait(r"AuditLog\.ENTRIES\[\] +79\.7K", panes=True)
    t.wait(lambda lines: {line.count("│") for line in lines[2:-2]} == {120: {1}, 80: {0, 1}, 200: {2}}[t.width], panes=True)
    t.keys("Enter")  # of an object its fields and its path
    t.wait("customer +256", panes=True)
    t.wait(r"AuditLog\.ENTRIES +80\.0K", panes=True)
    t.keys("Escape", "v")
    t.wait("no panes, only the list")
    t.wait(whole, panes=True, gone=True)
    t.keys("v")
    t.wait(whole, panes=True)
    leave(t)


@case("a short list leaves a low window a pane")
def pane_below(t):
    start(t, dump=SHOP)
    t.keys("3")
    t.wait(r"^> 1 +\S*Shop\.INSTANCE ")
    t.wait(r"static Shop\.INSTANCE +108K Shop", panes=True)
    t.keys("4")
    t.wait(r"^> +0  main +")
    t.keys("Down")
    t.wait(r"com\.acme\.shop\.Order\.place\(Shop\.java:101\)", panes=True)
    leave(t)


@case("P: the path of the selected row's object follows the cursor", BOTH)
def path_pane(t):
    start(t, dump=SHOP)
    t.keys("P")
    t.wait(r"^  path  the selected row is not an object")
    t.type(":ls com.acme.shop.Order")
    t.keys("Enter")
    # a list alone holds the orders: what one retains is what the cut of its element frees
    t.wait(r"^> 0x\w+ +(com\.acme\.shop\.Order +)?48 +\d+ .*4711000000")
    for element in range(6):
        t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > .* %d/320$" % (element + 1))
        settled(t)
        if element in (1, 2, 3):  # the stacks of threads hold these as well
            t.wait(r"^  path  a root: .* cut frees 0$")
        else:
            retained = re.search(r" 48 +(\d+) ", selected(t)).group(1)
            t.wait(r"^  path  .*\[%d\] > this +cut frees %s$" % (element, retained))
        t.keys("Down")
    t.keys("Up", "P")
    t.wait(r"cut frees", gone=True)
    t.keys("Enter")  # an object has its path without being asked
    held_by(t, r"\[5\] ─ (?:\S+ ─ )?this")
    t.keys("P")      # and with P that of the row under the cursor
    for _ in range(12):
        if any(re.search(r"^  path to 0x\w+  .*(\[5\]|INSTANCE > …) > \w+ > this", line) for line in t.screen()):
            break
        t.keys("Down")
    t.wait(r"^  path to 0x\w+  .*(\[5\]|INSTANCE > …) > \w+ > this")
    leave(t)


def in_pane(t, what):
    """The line of a pane that the keyboard is on."""
    t.wait(r"^[^│]*│>%s|^>%s" % (what, what) if t.width < 160 else r"│>%s|^>%s" % (what, what), panes=True)


@case("Tab goes into the pane and back: its keys mean its line", ((120, 30), (200, 50)))
def pane_keys(t):
    start(t, dump=SHOP)
    t.wait(r"(>=)?92\.2K")
    t.type("/acme.shop.Session")
    t.keys("Enter")
    t.wait(r"every reference to them +92\.2K", panes=True)
    at = t.rows(settled(t))
    row = next(line for line in at if line.startswith("> "))
    t.keys("Tab")
    if t.width == 200:  # beside the list what it is; what holds it is another Tab away
        in_pane(t, "0xe00200a8")
        t.keys("Tab")
    in_pane(t, r"60 × AuditLog\.ENTRIES\[\]")
    t.keys("f")
    t.wait("this key works in the list; Esc returns to it")
    t.keys("Escape")
    wait_selected(t, r"com\.acme\.shop\.Session ")
    t.keys("Tab")
    if t.width == 120:
        t.type("/session-4750")
        t.keys("Enter")
    else:
        t.keys("Down")
    in_pane(t, "0xe00235c8")
    t.keys("y")
    t.wait("copied 0xe00235c8")
    t.keys("u")
    t.wait(r"incoming references of 0xe00235c8|> 0xe00235c8|0xe00235c8 ")
    t.keys("Escape")
    t.wait(re.escape(row.split("│")[0].rstrip()))  # the list's row is what it was
    t.wait(r"every reference to them +92\.2K", panes=True)
    t.wait("0xe00200a8", panes=True)  # a busy machine brings a pane line by line
    t.keys("Tab")
    if t.width == 120:
        t.type("/session-4740")
        t.keys("Enter")
    in_pane(t, "0xe00200a8")
    t.keys("Enter")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > Session ")
    leave(t)


@case("a click opens a line of a pane, the wheel scrolls it", ((120, 30),))
def pane_mouse(t):
    start(t, dump=SHOP)
    t.type(":ls java.util.concurrent.ConcurrentHashMap")
    t.keys("Enter")
    t.wait("if cut, 6 of 10 classes", panes=True)  # the whole answer: its lines stay where they are
    x, y = place_of(t, "session-4733")
    click(t, x, y)
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > .* > Session ")
    t.keys("Escape")
    t.wait(r"^> 0xe00340b8 ")
    t.wait("if cut, 6 of 10 classes", panes=True)
    x, y = place_of(t, "path from root")
    mouse(t, 65, x, y)
    t.wait("path from root", panes=True, gone=True)
    mouse(t, 64, x, y)
    t.wait("path from root", panes=True)
    leave(t)


@case("the page of an object has a third pane: what the selected field leads to", ((160, 45), (200, 50)))
def pane_of_field(t):
    start(t, dump=SHOP)
    t.type(":x com.acme.shop.Shop.INSTANCE")
    t.keys("Enter")
    t.wait(r"WOULD FREE +679 byte\[\] 20\.0K")
    need("path from root" not in t.text(), "what the page says itself", t)
    t.keys("Down", "Down")
    t.wait(r"│ \"session-4733\" +320 +(████████ )?Session 0xe001f7e8", panes=True)
    t.keys("Tab")  # who references it
    t.wait(r"│ 0xe00016a8 class com\.acme\.shop\.Shop$", panes=True)
    t.wait(r"JNI global", panes=True)
    t.keys("Tab")  # then the pane
    in_pane(t, r"(?:static Shop\.INSTANCE|JNI global)")
    t.keys("Tab", "Tab", "Down")  # the words of the page, and its rows
    t.wait(r"^> catalog +TreeMap")
    leave(t)


@case("rows of a list that look alike are told apart beside it", ((120, 30),))
def alike(t):
    lines = cairn("-x", "heap -depth 12", SHOP).out.splitlines()[1:]
    status, category = (i for i, line in enumerate(lines) if re.search(r" value  4 × byte\[\] .* 96 +>=96 ", line))
    rows = next(i for i, line in enumerate(lines) if line.startswith("%d rows" % i))
    start(t, dump=SHOP)
    t.type(":heap -depth 12")
    t.keys("Enter")
    t.wait(r"/%d$" % rows)
    t.keys("End", *["Up"] * (rows - 1 - category))
    wait_selected(t, r">=96 .* value  4 × byte\[\]")
    t.wait('"KITCHEN"', panes=True)
    t.keys(*["Up"] * (category - status))
    t.wait('"SHIPPED"', panes=True)
    wait_selected(t, r">=96 .* value  4 × byte\[\]")
    leave(t)


@case("rows of SQL that represent no objects have no pane beside them; sets have one", ((130, 40),))
def panes_of_sql(t):
    start(t, dump=SHOP)
    enter(t, 'sql SELECT status, count(*) AS n FROM "com.acme.shop.Order" GROUP BY status')
    t.wait(r"^> NEW +80 *$")
    need("\u2502" not in t.text(), "a pane beside rows without objects", t)
    enter(t, 'sql SELECT status, setof(address) AS s FROM "com.acme.shop.Order" GROUP BY status')
    t.wait(r"\u2502 class com\.acme\.shop\.Order +objects 80 ", panes=True)
    leave(t)


def size_of(words):
    """What size says that a set retains: it clears the set's references and looks what is left."""
    return re.search(r"^retained +(\S+)", cairn("-x", "size '%s'" % words, SHOP).out, re.M).group(1)


@case("what classes on the screen retain is exact once nothing else is to be done; no row moves", ((130, 30),))
def exact_classes(t):
    lines = cairn("-x", "histo -retained -sort retained", SHOP).out.splitlines()[1:16]
    names, bounds = [line.split()[0] for line in lines], [line.split()[-1].lstrip(">=") for line in lines]
    sizes = [size_of(name) for name in names]
    need(sizes != bounds, "the bounds are exact: %r" % sizes, t)
    start(t, dump=SHOP)
    enter(t, "histo -sort retained")
    t.wait(lambda lines: [(line.split()[0], line.split()[-1]) for line in
                          (line.split("│")[0].lstrip("> ") for line in lines[3:3 + len(names)])] == list(zip(names, sizes)))
    leave(t)


@case("what a pane finds that a package retains stands in its row as well, and stays there", ((130, 30),))
def exact_row(t):
    size, other = size_of("com.acme.shop.*"), size_of("java.lang.*")
    start(t, dump=SHOP)
    enter(t, "histo -by package")
    wait_selected(t, r"<primitive> .* 91\.5K$")
    t.wait(r"^  com\.acme\.shop +12 +995 .* >=[\d.]+K│")
    t.keys("Down")
    wait_selected(t, r"com\.acme\.shop .* %s(│|$)" % size)
    t.keys("Down")
    wait_selected(t, r"java\.lang .* %s(│|$)" % other)
    t.wait(r"^  com\.acme\.shop .* %s(│|$)" % size)
    t.wait(r"^  java\.util +10 .* >=[\d.]+K│")  # nobody looked at it
    leave(t)
