# SPDX-License-Identifier: GPL-3.0-or-later
"""The main pages, what their keys open, the way back; one object; how sure numbers are."""

import re

from cairntest import GO, SAMPLE, SAMPLE_TEXT, SHOP, cairn, manual_commands
from tmux import PROMPT
from tui import BOTH, case, enter, held_by, leave, need, start, wait_selected


@case("histogram first: the largest class on top, counts and totals", BOTH)
def histogram(t):
    start(t)
    t.wait(r"^> byte\[\] +114 +195K")
    lines = t.wait(r"54 classes +2,820 +279K" if t.height == 24 else r"java\.util\.Date +141 +3\.3K")
    need("PHD 6" in lines[0] and "64 bit" in lines[0] and "2,820 objects" in lines[0], "line 1", t)
    need(all(len(line) <= t.width for line in lines), "a line is too wide", t)
    leave(t)


@case("down, Enter, Enter: class, instances, object with both sides; Esc goes back", BOTH)
def walk(t):
    start(t)
    t.keys("Down", "Down")
    wait_selected(t, r"java\.lang\.String ")
    t.keys("Enter")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > java\.lang\.String")
    t.wait(r"^> 0x")
    t.keys("/")
    t.type("0xe0000af0")
    t.keys("Enter")
    wait_selected(t, "0xe0000af0")
    t.keys("Enter")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > java\.lang\.String > String +")
    t.wait("0xfff07498")  # who references it
    t.wait("0xe0000b00")  # what it references
    # the path in words ends at the object; PHD names holders by class
    held_by(t, r"String\[\] ─ \[0\] ─ \S+ ─ this")
    t.keys("Escape")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > java\.lang\.String(?! >)")
    wait_selected(t, "0xe0000af0")
    t.keys("BSpace")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram(?! >)")
    wait_selected(t, r"java\.lang\.String ")
    leave(t)


@case("] goes forward again")
def forward(t):
    start(t)
    t.keys("Enter")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > byte\[\]")
    t.keys("Escape")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram(?! >)")
    t.keys("]")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > byte\[\]")
    leave(t)


@case("1 to 6: the main pages, each with its own views and its own place", BOTH)
def tabs(t):
    names = r"^(?:0 (?:overview )? ?)?1 histogram +2 heap +3 leaks +4 threads +5 packages +6(?: info)?"
    start(t, dump=SHOP)
    t.wait(names)
    t.wait(r"^> byte\[\]")
    t.keys("2")
    t.wait(r"^> .*▸ static Shop\.INSTANCE  Shop")
    t.wait(names)
    t.keys("Right", "Down", "Up")
    wait_selected(t, r"static Shop\.INSTANCE  Shop")
    t.keys("Enter", "Enter")  # the branch, then the object
    t.wait(r"^heap > Shop +")
    t.keys("4")
    t.wait(r"^> +0  main +")
    t.keys("2")  # where it was left
    t.wait(r"^heap > Shop +")
    t.keys("Escape")
    wait_selected(t, r"static Shop\.INSTANCE  Shop")
    t.keys("1")
    t.wait(r"^> byte\[\]")
    t.keys("6")
    t.wait(r"^ +format +hprof")
    t.keys("3")
    t.wait(r"^> 1  com\.acme\.shop\.Shop\.INSTANCE")
    t.keys("5")
    t.wait(r"^> ▾ <primitive>")
    t.keys("Escape")  # before the first view of a tab stands the histogram
    t.wait(r"^> byte\[\]")
    leave(t)


@case("the commands of the manual, in its order", BOTH)
def readme(t):
    for dump, lines in manual_commands():
        if dump != "data/shop.hprof":
            continue
        start(t, dump=SHOP)
        for line in lines:
            t.type(":" + line)
            t.wait(lambda lines: any(shown.startswith(":") and line[-30:] in shown for shown in lines))
            t.keys("Enter")
            # what fails stays in the prompt; what needs retained sizes waits for them
            t.wait(lambda lines: not any(re.match(r":|\S+: waits", shown) for shown in lines[-9:]))
        leave(t)


@case("a Go dump: types, an object's fields, what a field leads to, goroutines", BOTH)
def go_dump(t):
    start(t, dump=GO)
    if "without libdw" in cairn("--version").out:  # no types to see: shapes
        t.wait(r"16 B \{\} +\d")
        leave(t)
        return
    t.wait(r"main\.Session +103 ")
    t.type(":x main.last")
    t.keys("Enter")
    t.wait(r"^> main\.Session  ?(0xc[0-9a-f]+|\{ID: 1099511627875)")  # its value where there is room
    t.wait(r"Customer +\*Customer +128 +\S+ +0xc")  # session-99, the last one
    t.wait(r"ID +uint64 +1099511627875")
    t.keys("Down", "Down")  # first comes the object itself
    t.wait(r"> Customer ")
    t.keys("Enter")
    t.wait(r'Name +string +16 +\S+ +"customer 99"')
    t.type(":goroutines")
    t.keys("Enter")
    t.wait(r"(goroutine |g)8 main\.waitFor.* waiting +chan receive")
    leave(t)


@case("following references: Tab changes the side, Enter follows", BOTH)
def follow(t):
    start(t)
    t.type(":x 0xe0000af0")
    t.keys("Enter")
    t.wait("0xe0000b00")
    t.keys("Down", "Down")
    t.wait(r"> \? +0xe0000b00 ")
    t.keys("Enter")
    t.wait(r"^histogram > String > char\[\] +")
    t.keys("Escape", "Tab")
    t.wait(r"> \[0\] +0xfff07498 ")
    t.keys("Enter")
    t.wait(r"^histogram > String > String\[\] +")
    leave(t)


@case("? shows the keys", BOTH)
def help_page(t):
    start(t)
    t.keys("?")
    t.wait(r"s, F6 +sort by the next")
    t.keys("Escape")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram(?! >)")
    leave(t)


@case("the classic twin opens on the screen as well")
def classic(t):
    start(t, SAMPLE_TEXT)
    t.wait(r"^> byte\[\] +114 +195K")
    leave(t)


@case("--tour: each step says which key comes next, and goes on when its view is shown", ((80, 24), (200, 50)))
def tour(t):
    t.line('clear; "$CAIRN_ITSELF" --tour \'%s\'' % SHOP)
    t.wait(r"^1/11 +The overview\.")
    t.wait(r"^SUSPECTS ")  # what it says is on the page
    t.keys("4")  # not what the step waits for
    t.wait(r"^> +0  main +")
    t.wait(r"^1/11 ")
    for step, keys in enumerate((("0", "1"), ("2",), ("*", "3"), ("Down", "c"), ("Escape", "Enter"), ("Down", "Enter"),
                                 ("p",), ("4",), ("Down", "Enter"))):
        t.wait(r"^%d/11 " % (step + 1))
        t.keys(*keys)
    t.wait(r"^10/11 ")
    t.type(":find 4711000123")
    t.keys("Enter")
    t.wait(r"^11/11 ")
    t.wait(r"^> .*com\.acme\.shop\.Order")
    t.keys("Q")
    t.wait("^" + PROMPT)


@case("a collection opens at its entries, Tab shows its fields, then who holds it", BOTH)
def collection(t):
    start(t, dump=SHOP)
    enter(t, "x com.acme.shop.Shop.INSTANCE")
    t.wait(r"FIELDS \(11\)")
    t.keys("Down", "Down", "Enter")
    t.wait(r"ENTRIES \(40\)")
    t.wait(r'^.*0  "session-47')
    t.keys("Tab")
    t.wait(r"FIELDS \(12\)")
    t.keys("Tab")
    wait_selected(t, r"sessions +0xe000e598 ")
    t.keys("Escape", "Enter")
    t.wait(r"ENTRIES \(40\)")
    t.keys("Down")
    t.wait(r'> +0  "session-47')
    t.keys("Enter")
    t.wait(r"^> com\.acme\.shop\.Session  0x")
    leave(t)


@case("a damaged dump opens, says up to where it is true, and does not forget it", BOTH)
def damaged(t):
    t.line('cd; head -c 20000 \'%s\' >x.phd; clear; "$CAIRN" x.phd' % SAMPLE)
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram")
    t.wait(r"x\.phd: .*at byte [0-9,]+|x\.phd: truncated")
    for _ in range(3):
        t.keys("Down")
    t.wait(r"only a part of this dump was read")
    lines = t.screen()
    need(re.search(r">=[0-9,]+ objects . >=[0-9.]+K . truncated$", lines[0]), "line 1 hides it", t)
    t.keys("End")
    t.wait(r" (\d+)/\1$")
    t.wait(r"^ +>=\d+ classes +>=[0-9,]+ +>=[0-9.]+K +~100%")
    t.resize(40, 10)
    t.wait(lambda lines: lines[0].endswith("truncated"))
    leave(t)


@case("w tells how sure the numbers are, and why, in full")
def why(t):
    start(t)
    t.wait(r"^> byte\[\] .*~195K$")
    t.keys("w")
    t.wait(r"^retained ~195K is inferred: PHD records no roots")
    t.keys("i")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > info")
    t.keys("w")
    t.wait(r"roots ~\d+, root_entries")
    t.wait(lambda lines: "and every object that nothing references" in " ".join(lines) and "the other numbers are exact" in lines)
    t.keys("Escape", "R", "w")
    t.wait(r"^certainty, retained ~\d+ are inferred: PHD records no roots")
    t.keys("Escape")
    t.type(":x 0xe0000af0")
    t.keys("Enter", "w")
    t.wait(lambda lines: "unknown: PHD does not record it" in " ".join(lines))
    leave(t)


@case("asked for the same view again: it is not stacked")
def same_again(t):
    start(t)
    t.keys("H", "H", "Down")
    wait_selected(t, r"char\[\]")
    need("histogram >" not in t.text(), "stacked", t)
    t.keys("?", "?")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > help +lines 1-\d+/\d+$")
    t.keys("Escape")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram(?! >)")
    leave(t)


@case(":quit leaves; q goes back a view at a time, then leaves, or, as set, at once")
def quits(t):
    start(t)
    enter(t, "quit")
    t.wait("^" + PROMPT)
    t.line("clear")
    start(t)
    enter(t, "info")
    t.wait(r"^histogram > info")
    enter(t, "roots")
    t.wait(r"^histogram > info > roots")
    t.keys("q")
    t.wait(r"^histogram > info(?! >)")
    t.keys("q")
    t.wait(r"^(?:0 (?:overview )? ?)?1 histogram")
    t.keys("6")
    t.wait(r"^ +format +phd")
    t.keys("q")  # the first view of another main page: before it stands the histogram
    t.wait(r"^> byte\[\]")
    t.keys("q")
    t.wait("^" + PROMPT)
    t.line("clear")
    start(t)
    enter(t, "set q quit")
    enter(t, "info")
    t.wait(r"^histogram > info")
    t.keys("q")
    t.wait("^" + PROMPT)


@case("the keys of a row mean the row: the instances of a class, what a group counts, an object", BOTH)
def row_keys(t):
    start(t, dump=SHOP)
    t.wait(r"^> byte\[\] +1,106")
    t.keys("Down", "Down", "Down")
    wait_selected(t, r"java\.math\.BigDecimal +360")
    hints = t.wait(r"p paths  d holders  c cut")[-1]
    need(" refs" not in hints, "refs asks about one object", t)
    t.keys("p")
    t.wait(r"^histogram > paths to java\.math\.BigDecimal")
    t.keys("q", "d")
    t.wait(r"^histogram > holders of java\.math\.BigDecimal")
    wait_selected(t, r"com\.acme\.shop\.Order +320 .*320 ")
    t.keys("c")  # a row of a table counts just its objects: those 320
    t.wait(r"> holders of java\.math\.BigDecimal > cut com\.acme\.shop\.Order")
    t.wait(r"^  set 320 ")
    t.keys("q", "q", "c")
    t.wait(r"^histogram > cut java\.math\.BigDecimal")
    t.wait(r"^  set 360 ")
    t.keys("q", "o")
    t.wait(r"^o needs a single object; this row is several")
    enter(t, "path")  # as typed
    t.wait(r"^histogram > paths to java\.math\.BigDecimal")
    t.keys("q")
    enter(t, "histo -by package")
    t.wait(r"> histogram by package")
    wait_selected(t, "<primitive>")
    t.keys("Down", "c")
    t.wait(r"> cut com\.acme\.shop ")
    leave(t)


@case("a long way folds in its middle; a view that one came through is gone back to, where it stood")
def folds(t):
    start(t, dump=SHOP)
    enter(t, "ls java.lang.String")
    t.keys("Down", "Down")
    t.wait(r"3/1,046$")
    for line in ("roots", "histo -by package", "ls java.util.HashMap"):
        enter(t, line)
    t.wait("^histogram > \u2026 > .*histogram by package > java\\.util\\.HashMap +(\\+\\d +)?1/101$")
    enter(t, "ls java.lang.String")
    t.wait(r"^returned to the open view")
    t.wait(r"^histogram > java\.lang\.String +3/1,046$")
    t.keys("q")
    t.wait(r"^(?:0 (?:overview )? ?)?1 histogram")
    leave(t)


@case("an object's page: its head is selected first, a missing argument is the row, . is the object", BOTH)
def head_keys(t):
    start(t, dump=SHOP)
    enter(t, "x com.acme.shop.Shop.INSTANCE")
    head = t.wait(r"^> com\.acme\.shop\.Shop  0x\w+ ")
    own = re.search(r"Shop  (0x\w+)", "\n".join(head)).group(1)
    t.keys("Enter")
    t.wait(r"^this is the object itself; Down: its contents")
    t.keys("d")
    t.wait(r"> dominated by Shop " + own)
    t.keys("q")
    t.wait(r"^> com\.acme\.shop\.Shop  0x")
    enter(t, "path")
    t.wait(r"> path to " + own)
    t.keys("q", "Down")
    t.wait(r"^  com\.acme\.shop\.Shop  " + own)
    enter(t, "path")
    lines = t.wait(r"> path to 0x")
    of = re.search(r"path to (0x\w+)", lines[1]).group(1)
    need(of != own, "the path of the object, not of the row", t)
    t.wait(of if t.width > 80 else r"^ +\d  orders +(0x\w+ +)?(java\.util\.)?ArrayList")
    t.keys("q")
    enter(t, "size .")
    t.wait("> Shop > %s " % own)
    t.keys("q", "Up")
    t.wait(r"^> com\.acme\.shop\.Shop  0x")
    leave(t)


@case("each kind of waste opens to the fields that hold it, and keys ask about all its objects")
def waste(t):
    start(t, dump=SHOP)
    enter(t, "waste")
    t.wait(r"^> duplicate strings +499 ")
    t.keys("p")
    t.wait(r"paths to strings")
    t.keys("Escape")
    t.wait(r"^> duplicate strings +499 ")
    t.keys("Enter")
    t.wait(r"^> com\.acme\.shop\.Customer\.city .* 200 ")
    t.keys("Enter")
    t.wait(r"1/200 *$")
    leave(t)


@case("why lists a reason in each row, and below the rows the whole one of the selected row")
def why_rows(t):
    start(t, dump=SHOP)
    enter(t, "why")
    t.wait(r"^histogram > why")
    t.keys("G")
    t.wait(lambda lines: "computed from the VM's likely layout" in " ".join(lines))
    need("\u2502" not in t.text(), "an empty pane", t)
    leave(t)


@case("? twice: help begins with one screen of keys: of the selected row, of this page, of all pages")
def keys_overview(t):
    start(t, dump=SHOP)
    for page, row in (("1", "several objects"), ("2", "an object")):
        t.keys(page, "?", "?")
        t.wait("^ *The selected row: " + row)
        shown = t.screen()
        for line in ("Keys on this page", "Keys on all pages", "Below: these keys in detail, .*"):
            need(any(re.fullmatch(" *" + line, s) for s in shown), "%s is not on the first screen" % line, t)
        for key, words in (("x", "show it"), ("c", "cut"), ("s", "sort"), ("/", "search"), (":", "command"), ("q", "back")):
            need(any(re.search(r"(^| ) +%s +%s" % (re.escape(key), words), s) for s in shown), "%s is missing" % key, t)
        t.keys("q")
        t.wait("The selected row", gone=True)
    leave(t)


@case("?: a box over the page has the keys of its row; letters search keys and commands, Enter acts, Esc closes", BOTH)
def key_box(t):
    start(t, dump=SHOP)
    t.keys("?")
    t.wait(r"Keys: histogram ")
    t.wait(r"THIS ROW \(1,106 objects\)")
    t.wait(r"d +holders")  # of several
    lines = t.wait(r"^> byte\[\]")  # rows are seen around it
    top, end = next((i, line.rindex("\u2510")) for i, line in enumerate(lines) if "Keys: histogram" in line)
    while "\u2518" not in lines[top]:
        need(lines[top][end + 1:end + 2].strip() == "", "the end of a word stands beside the box", t)
        top += 1
    t.type("dup")
    t.wait(r">:dups +list duplicate Strings")
    t.keys("Down")
    t.wait(r">:duplicate-classes ")
    t.keys("Escape")
    t.wait("Keys: histogram", gone=True)
    t.wait(r"^> byte\[\]")
    t.keys("?")
    t.type("d")  # what the key itself does is first
    t.wait(r">d +:holders +list the immediate dominators of objects")
    t.keys("Enter")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > holders")
    t.keys("Escape", "?")
    t.type("reverse")
    t.wait(r">r, S +reverse the order")
    t.keys("Enter")
    t.wait(r"shallow \^")
    t.keys("?")
    t.type("strings that wa")
    t.wait("no key and no command has these words")
    t.keys("Escape")
    t.wait("Keys: ", gone=True)
    t.keys("?")
    t.type("help for words")
    t.wait(r">:apropos +search the help for words")
    t.keys("Enter")  # it lacks a word: the prompt asks for it
    t.wait("^:apropos *$")
    t.keys("C-c", "?")
    t.type("find names")
    t.wait(r">:find +find names, texts")
    t.keys("Enter")  # or an error does
    t.wait("^:find +: Up edits it$")
    t.type(":")
    t.keys("Up")
    t.wait("^:find$")
    t.keys("C-c")
    leave(t)


@case("help of keys: on a row of several objects it says what the key asks about several")
def key_of_several(t):
    start(t, dump=SHOP)
    t.keys("?", "?")
    t.wait(r"> help +lines 1-")
    t.type("/holders: ")
    t.keys("Enter")
    t.wait(r"^[> ] *d +holders: list the immediate dominators of objects")
    leave(t)
