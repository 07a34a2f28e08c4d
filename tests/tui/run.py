#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real program in a real terminal: keys in, screens out.

    run.py [WORD]      only the cases whose name holds WORD

Each case is a function that gets an open terminal; sizes says in which it runs.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import GO, MKDUMP, SAMPLE, SAMPLE_TEXT, SHOP, Tap, cairn, readme_commands, skip_all  # noqa: E402
from tmux import Gone, PROMPT, Terminal  # noqa: E402

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
    return t.wait(r"^(?:1 )?histogram")


def selected(t):
    """The row under the cursor, which carries '>'."""
    rows = [line for line in t.rows(t.screen()) if line.startswith("> ")]
    return rows[0] if rows else ""


def wait_selected(t, what):
    t.wait(lambda lines: any(line.startswith(">") and re.search(what, line) for line in lines))


def leave(t):
    t.keys("Q")
    t.wait("^" + PROMPT)


def enter(t, line):
    t.type(":" + line)
    t.keys("Enter")


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
    t.wait(r"^(?:1 )?histogram > java\.lang\.String")
    t.wait("0xe0000af0")
    for _ in range(10):
        t.keys("Down")
    wait_selected(t, "0xe0000af0")
    t.keys("Enter")
    t.wait(r"^(?:1 )?histogram > java\.lang\.String > 0xe0000af0")
    t.wait("0xfff07498")  # who references it
    t.wait("0xe0000b00")  # what it references
    # the path in words ends at the object; PHD names holders by class
    t.wait(r"^  path  .*java\.lang\.String\[\] > this")
    t.keys("Escape")
    t.wait(r"^(?:1 )?histogram > java\.lang\.String(?! >)")
    wait_selected(t, "0xe0000af0")
    t.keys("BSpace")
    t.wait(r"^(?:1 )?histogram(?! >)")
    wait_selected(t, r"java\.lang\.String ")
    leave(t)


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


@case("the mouse: rows, headers, main pages, steps, keys of the last line, the wheel over a side", BOTH)
def mouse_clicks(t):
    start(t, dump=SHOP, options="--mouse")
    t.wait(r"^> byte\[\] .*1,106")
    if t.width >= 200:
        click(t, 4, 6)  # a pane: no row
        t.wait(r"^> byte\[\] .*1,106")
        t.keys("v")
        t.wait("no panes")
    click(t, 4, 6)
    wait_selected(t, r"com\.acme\.shop\.Order ")
    click(t, 4, 3)  # the header
    t.wait(r"class \^")
    click(t, 4, 3)
    t.wait(r"class v")
    t.keys("F", "Home")
    mouse(t, 65, 10, 10)
    t.wait(r" 4/\d+$")
    mouse(t, 64, 10, 10)
    t.wait(r" 1/\d+$")
    click(t, *place_of(t, "4 threads"))
    t.wait(r"^> +0  main +")
    click(t, *place_of(t, "histogram"))
    t.wait(r"class v")
    click(t, *place_of(t, "filter"))
    t.type("HashMap*Node")
    wait_selected(t, r"HashMap\$Node")
    t.keys("Enter")
    t.wait(r"class v +filter: HashMap\*Node +1/\d")
    click(t, 4, 4)  # the row that is selected: its objects
    t.wait(r"^histogram > java\.util\.\S+Node")
    click(t, *place_of(t, "histogram"))
    t.wait(r"class v +filter: HashMap\*Node +1/\d")
    enter(t, "x com.acme.shop.Status.NEW")
    t.wait(r"referrers \(")
    x, y = place_of(t, "referrers (")
    fourth = t.screen()[y + 3][x - 1:x + 20]
    mouse(t, 65, x, y + 1)  # over the side that has not the keyboard
    t.wait(lambda lines: lines[y][x - 1:x + 20] == fourth)
    t.wait(r" 0/2$")
    leave(t)


@case("no click and no damaged report of one blocks: resizes are drawn, SIGTERM ends it")
def mouse_blocks(t):
    before = t.stty()
    for report in ("\033[<2;10;5M", "\033[<1;10;5M", "\033[<2;10;5m", "\033[<34;10;5M", "\033[<66;10;5M", "\033[<128;10;5M",
                   "\033[<0;", "\033[<0;10;5x", "\033[<99999999999;1;1M", "\033[<0;0;0M", "\033[M\042*%", "\033[M !",
                   "\033[<0;10;5M\033[<0;10;5m\033[<0;10;5M\033[<0;10;5m\033[<2;10;5M"):
        t.line('"$CAIRN" --mouse %s' % SHOP)
        t.wait(r"^1 histogram")
        t.type(report)
        t.resize(90, 20)
        t.wait(lambda lines: len(lines) <= 20 and any(line.endswith(("quit", "back")) for line in lines[18:]))
        os.kill(t.pid_of("cairn"), signal.SIGTERM)
        t.wait("^" + PROMPT)
        t.resize(80, 24)
        t.line("clear")
    need(t.stty() == before, "stty differs", t)
    need(t.modes().split()[2] == "0", "the mouse is on", t)


@case("] goes forward again")
def forward(t):
    start(t)
    t.keys("Enter")
    t.wait(r"^(?:1 )?histogram > byte\[\]")
    t.keys("Escape")
    t.wait(r"^(?:1 )?histogram(?! >)")
    t.keys("]")
    t.wait(r"^(?:1 )?histogram > byte\[\]")
    leave(t)


@case("1 to 6: the main pages, each with its own views and its own place", BOTH)
def tabs(t):
    names = r"^1 histogram +2 heap +3 leaks +4 threads +5 packages +6 info"
    start(t, dump=SHOP)
    t.wait(names)
    t.wait(r"^> byte\[\]")
    t.keys("2")
    t.wait(r"^> 0xe00011b0  ▸ loader  URLClassLoader")
    t.wait(names)
    t.keys("Right", "Down")
    wait_selected(t, r"classes  ArrayList")
    t.keys("Enter", "Enter")  # the branch, then the object
    t.wait(r"^heap > 0xe0036440")
    t.keys("4")
    t.wait(r"^> +0  main +")
    t.keys("2")  # where it was left
    t.wait(r"^heap > 0xe0036440")
    t.keys("Escape")
    wait_selected(t, r"classes  ArrayList")
    t.keys("1")
    t.wait(r"^> byte\[\]")
    t.keys("6")
    t.wait(r"^ +format +hprof")
    t.keys("3")
    t.wait(r"accumulated_in")
    t.keys("5")
    t.wait(r"^> ▾ <primitive>")
    t.keys("Escape")  # before the first view of a tab stands the histogram
    t.wait(r"^> byte\[\]")
    leave(t)


@case("what README.md says to type, in its order", BOTH)
def readme(t):
    for dump, lines in readme_commands():
        if dump != "data/shop.hprof":
            continue
        start(t, dump=SHOP)
        for line in lines:
            t.type(":" + line)
            t.wait(lambda lines: any(line[-30:] in shown for shown in lines))
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
    t.wait(r"> 0xc[0-9a-f]+")
    t.wait(r"Customer +\*main\.Customer +0xc")  # session-99, the last one
    t.wait(r"ID +uint64 +1099511627875")
    t.keys("Down", "Down")  # first comes the object itself
    t.wait(r"> Customer ")
    t.keys("Enter")
    t.wait(r'Name +string +"customer 99"')
    t.type(":goroutines")
    t.keys("Enter")
    t.wait(r"goroutine 8 main\.waitFor.* waiting +chan receive")
    leave(t)


@case("following references: Tab changes the side, Enter follows", BOTH)
def follow(t):
    start(t)
    t.type(":x 0xe0000af0")
    t.keys("Enter")
    t.wait("0xe0000b00")
    t.keys("Tab")
    t.keys("Tab")
    t.wait("0xfff07498")
    leave(t)


@case("s sorts by the next column, r turns it round", BOTH)
def sort(t):
    start(t)
    t.wait(r"shallow v")
    t.keys("r")
    t.wait(r"shallow \^")
    t.wait(lambda lines: not any("byte[]  " in line and line.startswith(">") and "195K" in line
                                 for line in lines[2:4]))
    t.keys("s")
    t.wait(r"^(?:1 )?histogram.*(?<!shallow) [v^]")
    leave(t)


@case("sorting: the first row stays the first, any other keeps the cursor, in view")
def sort_keeps(t):
    start(t, dump=SHOP)
    t.wait(r" 1/43$")
    t.keys("r")
    t.wait(r"shallow \^ +1/43$")
    t.keys("r", "Down", "Down")
    wait_selected(t, r"com\.acme\.shop\.Order ")
    t.keys("r")
    wait_selected(t, r"com\.acme\.shop\.Order ")
    t.wait(r"shallow \^ +41/43$")
    t.keys("5")
    wait_selected(t, r"<primitive>")
    t.keys("Down", "Down", "Down", "Down")
    wait_selected(t, r"▾ java ")
    t.keys("r")
    t.wait(r" \^ +\d+/16$")
    wait_selected(t, r"▾ java ")
    leave(t)


@case("f filters while one types; F shows all again", BOTH)
def filter_rows(t):
    start(t)
    t.keys("f")
    t.type("PriceRule")
    t.wait(lambda lines: sum("PriceRule" in line for line in lines) >= 2
           and not any("java.lang.String " in line for line in lines))
    t.keys("Enter")
    t.wait(r"filter.*PriceRule|PriceRule.*filter")
    t.wait(r"4 \(54\) classes +9 \(2,820\) +232 +?\(279K\)")
    t.keys("F")
    t.wait(r"54 classes +2,820 +279K" if t.height == 24 else r"31/54")
    wait_selected(t, r"com\.acme\.plugin\.PriceRule ")  # the row stays
    leave(t)


@case("Enter on a row of a set opens just what the row counts")
def rows_are_sets(t):
    start(t)
    t.type(":histo ( com.acme.* - com.acme.shop.Session ) -by package")
    t.keys("Enter")
    t.wait(r"histogram by package.*Session \)")
    wait_selected(t, r"com\.acme\.shop ")
    t.keys("Enter")
    t.wait(r"histogram of com\.acme\.shop")
    t.wait(lambda lines: any("com.acme.shop.Journal$Entry " in line for line in lines)
           and not any("com.acme.shop.Session " in line for line in lines))
    t.keys("Enter")  # the class's row: objects of one class
    wait_selected(t, r"0x[0-9a-f]+ +com\.acme\.shop\.")
    leave(t)


@case("/ searches, n and N walk the finds")
def search(t):
    start(t)
    t.type("/Journal")
    t.keys("Enter")
    wait_selected(t, r"Journal")
    # by name: retained sizes may fill in meanwhile, and the row then is another line
    first = re.escape(selected(t).split()[1])
    t.keys("n")
    t.wait(lambda lines: any(re.match(r"> \S*Journal", line) and not re.match("> %s " % first, line)
                             for line in lines))
    t.keys("N")
    wait_selected(t, "> %s " % first)
    leave(t)


@case("keys typed before the first page wait for it, in their order")
def type_ahead(t):
    big = os.path.join(t.home, "big.phd")
    subprocess.run([MKDUMP, "bench", "--objects", "3000000", "--phd", big], check=True)
    t.line('"$CAIRN" -t 1 "$HOME/big.phd"')
    t.wait(r"^cairn  big\.phd")  # a quick machine may have read it all by then
    t.type(":ls quitquit")  # no q of these may leave
    t.keys("Enter")
    t.wait(r"^(?:1 )?histogram")
    t.wait(r"no class matches quitquit")
    t.keys("C-c")
    t.wait(r"^:ls", gone=True)
    leave(t)


@case(": runs any command of the batch", BOTH)
def prompt(t):
    start(t)
    t.type(":refs 0xE0000AF0")
    t.keys("Enter")
    t.wait(r"out +\S* +0xe0000b00")
    t.wait(r"in +\S* +0xfff07498")
    leave(t)


@case("the prompt: an error stays on the screen, Escape or ^C leaves it")
def prompt_error(t):
    start(t)
    t.type(":frobnicate")
    t.keys("Enter")
    t.wait("^ *unknown command|no command.*frobnicate|^ +.*frobnicate")
    t.type(":his")  # begins anew
    t.wait("^:his$")
    t.keys("C-u", "Up")
    t.wait("^:frobnicate$")
    t.keys("Enter")
    t.wait("^ +.*frobnicate")
    t.keys("BSpace")  # any other key corrects it
    t.type("x:his")
    t.wait("^:frobnicatx:his$")
    t.keys("C-c")
    t.wait(r"^:his", gone=True)
    need("histogram" in t.text(), "the histogram is gone", t)
    leave(t)


@case("a file that exists is replaced after a question, appended to without; the dump never", BOTH)
def replaces(t):
    kept, dump = os.path.join(t.home, "kept.csv"), os.path.join(t.home, "own.phd")
    shutil.copy(SAMPLE, dump)
    with open(kept, "w", encoding="ascii") as f:
        f.write("old\r\n")

    def content(path):
        with open(path, "rb") as f:
            return f.read()

    def enter(line):
        t.type(":" + line)
        t.keys("Enter")

    t.line("cd " + t.home)  # names that do not fill the message, however long the folder's is
    start(t, dump="own.phd")
    for key in ("n", "Escape", "C-c"):
        enter("histo > kept.csv")
        t.wait(r"kept\.csv\s+exists:\s+replace\s+it\?\s+\(y\s+n\)")
        t.keys("x", key)  # x is no answer
        t.wait(r"kept\.csv\s+is\s+left\s+as\s+it\s+was")
        need(content(kept) == b"old\r\n", "it was replaced", t)
        t.keys("j")
    enter("histo | head 1 >> kept.csv")
    t.wait(r"^histo \| head 1 >> kept\.csv: done")
    need(content(kept).startswith(b"old\r\n\r\nclass,"), "it was not appended", t)
    enter("save kept.csv")
    t.wait(r"kept\.csv\s+exists:\s+replace\s+it\?\s+\(y\s+n\)")
    t.keys("y")
    t.wait(r"^save kept\.csv: done")
    need(content(kept).startswith(b"class,"), "it was not replaced", t)
    # nor is a y within a line that is typed while it stands there
    shown = content(kept)
    enter("histo > kept.csv")
    t.wait(r"kept\.csv\s+exists:\s+replace\s+it\?\s+\(y\s+n\)")
    t.type(":my")
    t.wait(r"replace\s+it\?\s+\(Enter,\s+then\s+y;\s+n\)")
    need(content(kept) == shown, "it was replaced by a letter of a line", t)
    t.keys("Enter")
    t.wait(r"kept\.csv\s+exists:\s+replace\s+it\?\s+\(y\s+n\)")
    t.keys("n")
    t.wait(r"kept\.csv\s+is\s+left\s+as\s+it\s+was")
    t.keys("j")
    # what was typed before the question stood there is no answer, and is not lost
    t.type(":histo > kept.csv\ry:size *\r")
    t.wait(r"kept\.csv\s+exists:\s+replace\s+it\?\s+\(y\s+n\)")
    t.keys("n")
    t.wait(r"retained_objects")
    t.keys("BSpace")
    other = os.path.join(t.home, "other.phd")
    shutil.copy(SAMPLE, other)
    enter("histo >> other.phd")
    t.wait(r"other\.phd\s+is\s+a\s+heap\s+dump\s+\(PHD\):\s+write")
    t.keys("n")
    t.wait(r"other\.phd\s+is\s+left\s+as\s+it\s+was")
    for line in ("histo > %s", "histo >> %s", "save %s"):
        enter(line % "own.phd")
        t.wait(r"own\.phd\s+is\s+the\s+dump,")
        t.keys("C-c")
        t.wait(r"^:", gone=True)
    need(content(dump) == content(SAMPLE) == content(other), "a dump was written to", t)
    leave(t)


@case("a command of the shell that fails is told, one that reads to its end is not", BOTH)
def shell_fails(t):
    start(t)
    for line, said in (("histo | !exit 7", r"!exit 7: the command ended with status 7"),
                       ("histo | !kill -9 $$", r"!kill -9 \$\$: the command ended by signal 9"),
                       ("histo | !no-such-command-here", r"!no-such-command-here: the shell cannot run it")):
        t.type(":" + line)
        t.keys("Enter")
        t.wait(r"\[Enter: back to cairn\]")
        t.keys("Enter")
        t.wait(said)
        t.keys("C-c")
        t.wait(r"^:", gone=True)
    need("histogram" in t.text(), "the histogram is gone", t)
    leave(t)


@case("the prompt completes commands and class names")
def completion(t):
    start(t)
    t.type(":ls com.acme.shop.Sess")
    t.keys("Tab")
    t.wait(r"com\.acme\.shop\.SessionStore")
    t.wait(r"^:ls com\.acme\.shop\.Session$")
    t.type("St")
    t.keys("Tab")
    t.wait(r"^:ls com\.acme\.shop\.SessionStore")
    t.keys("Enter")
    t.wait(r"^(?:1 )?histogram > com\.acme\.shop\.SessionStore|1 object")
    leave(t)


@case("the prompt completes what is on the screen, and what stands behind a class and a dot")
def completion_here(t):
    start(t, dump=SHOP)
    t.type(":cut com.acme.shop.Order.")
    t.wait(r"com\.acme\.shop\.Order\.customer +com\.acme\.shop\.Order\.items")
    t.keys("C-u")
    t.type("x com.acme.shop.Shop.")
    t.wait(r"^  com\.acme\.shop\.Shop\.INSTANCE  com\.acme\.shop\.Shop\.VERSION$")
    t.keys("C-u")
    t.type("ls com.acme.shop.Order")
    t.keys("Enter")
    seen = [found.group(1) for found in re.finditer(r"^. (0x\w+) ", "\n".join(t.wait(r"1/320$")), re.M)]
    t.type(":path ")
    t.keys("Tab")
    for address in seen[:5]:
        t.wait(r"^  .*%s" % address)
    t.wait(r"^:path \.$")
    t.keys("C-c")
    leave(t)


@case("set editing-mode vi: Esc is the editor's, ^C leaves; a filter says how many rows it keeps")
def vi_mode(t):
    with open(os.path.join(t.home, ".inputrc"), "w", encoding="ascii") as f:
        f.write("set editing-mode vi\n")
    start(t)
    t.type(":xinfo")
    t.wait(r"\^C leave$")
    t.keys("Escape")
    time.sleep(0.2)  # not one sequence with what follows
    t.type("0x")
    t.wait(r"^:info$")
    t.type("A | head 3")
    t.wait(r"^:info \| head 3$")
    t.keys("Escape", "C-c")
    t.wait(r"^:info", gone=True)
    t.keys("f")
    t.type("PriceRule")
    t.wait(r"^filter: PriceRule +4 of 54 rows$")
    t.keys("C-c")
    t.wait(r" 31/54$")  # all rows again, and the row stays
    leave(t)


@case("the prompt's history is kept from one run to the next")
def history(t):
    start(t)
    t.type(":ls com.acme.shop.Catalog")
    t.keys("Enter")
    t.wait(r"1 object")
    leave(t)
    need(any("history" in name for _, _, files in os.walk(t.home) for name in files),
         "no history file below XDG_STATE_HOME", t)
    t.line("clear")
    start(t)
    t.keys(":")
    t.wait(r"^:")
    t.keys("Up")
    t.wait(r"^:ls com\.acme\.shop\.Catalog")
    t.keys("C-c")
    leave(t)


@case("? shows the keys", BOTH)
def help_page(t):
    start(t)
    t.keys("?")
    t.wait(r"sort by the next column")
    t.keys("Escape")
    t.wait(r"^(?:1 )?histogram(?! >)")
    leave(t)


@case("wide and accented names keep the columns in line", BOTH)
def wide(t):
    start(t)
    t.keys("f")
    t.type("acme")
    t.keys("Enter")
    t.wait("acme")
    t.keys("End")
    t.wait("com.acme.日本.注文")
    t.wait("com.acme.shop.Währung")
    # Columns, not characters: a wide character takes two.
    rows = [line for line in t.screen() if "com.acme." in line]

    def number_end(line):
        found = re.search(r" (\d[\d,]*) +[\d.]+[KM]?( |$)", line)
        return sum(2 if ord(ch) >= 0x2E80 else 1 for ch in line[:found.end(1)])

    ends = {number_end(line) for line in rows if re.search(r" (\d[\d,]*) +[\d.]+[KM]?( |$)", line)}
    need(len(ends) == 1, "the numbers end in columns %s" % sorted(ends), t)
    leave(t)


@case("the classic twin opens on the screen as well")
def classic(t):
    start(t, SAMPLE_TEXT)
    t.wait(r"^> byte\[\] +114 +195K")
    leave(t)


@case("resizing: down to 40x10 and up, the selected row stays")
def resize(t):
    start(t)
    t.keys("Down", "Down")
    wait_selected(t, r"java\.lang\.String ")
    for width, height in ((40, 10), (200, 50), (60, 12), (80, 24)):
        t.resize(width, height)
        t.wait(lambda lines: len(lines) <= height and any(
            line.startswith("> java.lang.String") for line in lines))
        t.wait(lambda lines: all(len(line) <= width for line in lines))
    t.resize(20, 4)
    t.resize(80, 24)
    wait_selected(t, r"java\.lang\.String ")
    leave(t)


@case("a narrow screen gives up the columns that tell least")
def narrow(t):
    start(t)
    t.keys("R")
    t.wait(r"^> System class +0xe0000000 +com\.\S+Loader ")
    t.wait(r"^  System class +0xe0017270 +java\.lang\.Class +\S+ +java\.lang\.Stri")
    need("frame" not in t.screen()[2], "an almost empty column is shown", t)
    t.resize(40, 10)
    t.wait(r"^  System class +java\.lang\.Class")
    t.keys("L")
    t.resize(80, 24)
    t.wait(r"^> 0xe0000000 +com\.ibm\.\S+ClassLoader ")
    leave(t)


@case("what a command is about stays: fields, classes and what is freed", ((80, 24), (40, 12)))
def narrow_path(t):
    start(t, dump=SHOP)
    t.type(":path 0xe00200a8")
    t.keys("Enter")
    t.wait(r"^  (step +)?field +class +(root +)?freed")
    t.wait(r"\[0\] +com\.a\S*Session +1\.3K")
    if t.width == 80:
        t.wait(r"^  step .* root ")
    t.type(":cut -plan 190K")
    t.keys("Enter")
    t.wait(r"^  reference .* freed +adds +total")
    t.type(":paths com.acme.shop.Order")
    t.keys("Enter")
    t.wait(r"^  class .*retained$")
    leave(t)
    # and no line of a printed table is wider than the terminal
    t.line("clear; \"$CAIRN\" -x 'path 0xe00200a8' '%s'" % SHOP)
    lines = t.wait(r"^ *\d* *\[0\]  .*1\.3K")
    first = [i for i, line in enumerate(lines) if re.search(r"\bfield +class", line)][0]
    need(all(re.match(r" +\d  .*[a-z]", line) for line in lines[first + 1:first + 8]), "a line wraps", t)


@case("W brings every column, } and { move sideways", ((80, 24), (40, 12)))
def sideways(t):
    start(t, dump=SHOP)
    t.type(":path 0xe00200a8")
    t.keys("Enter")
    t.wait(r"^  .*field +class")
    t.keys("W")
    seen = set()
    for _ in range(12):
        t.wait(r"^  .*\bclass\b")
        seen |= set(t.screen()[2].split())
        if "value" in seen:
            break
        before = t.screen()[2]
        t.keys("}")
        t.wait(lambda lines: lines[2] != before)
    wanted = {"path", "step", "field", "address", "class", "root", "shallow", "retained", "freed",
              "others", "value"}
    need(seen == wanted, "columns %s, missing %s" % (seen - wanted, wanted - seen), t)
    t.keys("W")
    t.wait(r"^  (step +)?field +class")
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
    t.wait(r"contents \(7\)")
    t.resize(36, 12)
    t.keys("q")
    t.wait(r"^  . 0  .+Order\.total\(Shop\.java:102\)$")
    leave(t)


@case("at 40 columns a backtrace keeps what tells: methods, and the classes of locals")
def narrow_backtrace(t):
    start(t, dump=SHOP)
    t.keys("t")
    t.wait(r"^> +0 +main ")
    t.keys("Enter")
    t.wait(r"^(?:1 )?histogram > threads > main")
    t.wait(r"^  branch +address +class")
    t.resize(40, 10)
    t.wait(r"^  branch +class")
    t.wait(r"^>   0  .*Thread\.sleep\(Native Method\)$")
    t.keys("d")  # of a row that is no object
    t.wait(r"^d asks about an object, and this row$")
    enter(t, "dom")
    t.wait(r"^  object +retained")
    t.wait(r"^> ▸ java\.net\.URLClassLoader ")
    leave(t)


@case("set weak off: said in the title as long as there is room, views of the old tree close with a word",
      ((80, 24), (200, 50), (40, 10), (30, 8)))
def weak_off(t):
    start(t, dump=SHOP)
    enter(t, "dom")
    t.wait(r"nators  *retained v")
    t.type(":set weak off")
    t.keys("Enter")
    if t.height >= 10:
        t.wait(r"weak off: sizes are found anew")
    t.wait(r"^(?:1 )?histogram(?! >)")
    title = t.wait(r"^cairn .*weak off$")[0]
    need(t.width < 80 or "HPROF 1.0.2 · 64 bit · 4,861 objects" in title, "the facts are gone", t)
    t.type(":set weak on")
    t.keys("Enter")
    t.wait(r"^cairn .*weak off$", gone=True)
    leave(t)


@case("a list has the fields of its class as columns: all on a wide screen, the others with W", BOTH)
def fields(t):
    start(t, dump=SHOP)
    if t.width >= 200:
        t.keys("v")  # the list alone
    t.type(":ls com.acme.shop.Order")
    t.keys("Enter")
    t.wait(r"^  address .*shallow .*number +customer +items +status")
    if t.width >= 200:
        t.wait(r"^> 0xe0011028 .* 4711000000 .* NEW +10\.00 +2026-11-18T11:06:40Z")
        return leave(t)
    t.wait(r"total", gone=True)
    t.keys("W")
    t.wait(r"^all columns: ")
    t.keys("}", "}", "}", "}", "}", "}")
    t.wait(r"^> 0xe0011028 .* 10\.00 ")
    t.keys("q")
    enter(t, "ls com.acme.shop.Order")  # W is kept for lists of this class
    t.wait(r"^  address +class +shallow +retained")
    t.keys("W", "q")
    enter(t, "ls com.acme.shop.Order")
    t.wait(r"^  address +shallow +retained +number")
    t.keys("q")
    t.type(":ls com.acme.shop.Order -sort -total")
    t.keys("Enter")
    t.wait(r"^histogram > .* total v +1/320")
    t.wait(r"^> 0xe001c760 .* 13\.19")
    leave(t)


@case("panes beside a list tell of the selected row: right, below, both sides, none", ((120, 30), (80, 34), (200, 50)))
def panes(t):
    whole = r"every reference to them +92\.2K"
    start(t, dump=SHOP)
    t.wait(r">=?92\.2K")  # retained sizes are there
    t.type("/acme.shop.Session")
    t.keys("Enter")
    t.wait(whole, panes=True)
    t.wait(r"objects 100", panes=True)
    t.wait(r"Object\[\]\[…\] +79\.7K", panes=True)
    bars = {line.count("│") for line in t.screen()[2:-2]}
    need(bars == {120: {1}, 80: {0, 1}, 200: {2}}[t.width], "the layout: %s" % bars, t)
    t.keys("Enter")  # of an object its fields and its path
    t.wait("customer +256", panes=True)
    t.wait("Java lo", panes=True)
    t.keys("Escape", "v")
    t.wait("no panes: the list alone")
    t.wait(whole, panes=True, gone=True)
    t.keys("v")
    t.wait(whole, panes=True)
    leave(t)


@case("--tour: each step says which key comes next, and goes on when its view is shown", ((80, 24), (200, 50)))
def tour(t):
    start(t, dump=SHOP, options="--tour")
    t.wait(r"^1/10 ")
    t.keys("4")  # not what the step waits for
    t.wait(r"^> +0  main +")
    t.wait(r"^1/10 .*")
    for step, keys in enumerate((("1", "2"), ("*", "3"), ("Down", "c"), ("Escape", "Enter"), ("Down", "Enter"),
                                 ("Down", "Enter", "p"), ("4",), ("Down", "Enter"))):
        t.wait(r"^%d/10 " % (step + 1))
        t.keys(*keys)
    t.wait(r"^9/10 ")
    t.type(":find 4711000123")
    t.keys("Enter")
    t.wait(r"^10/10 ")
    t.wait(r"^> .*com\.acme\.shop\.Order")
    t.keys("Q")
    t.wait("^" + PROMPT)


@case("a short list leaves a low window a pane")
def pane_below(t):
    start(t, dump=SHOP)
    t.keys("3")
    t.wait(r"accumulated_in")
    t.wait(r"static INSTANCE|classes +204K", panes=True)
    t.keys("4")
    t.wait(r"^> +0  main +")
    t.keys("Down")
    t.wait(r"com\.acme\.shop\.Order\.place\(Shop\.java:101\)", panes=True)
    leave(t)


@case("P: the path of the selected row's object follows the cursor", BOTH)
def path_pane(t):
    start(t, dump=SHOP)
    t.keys("P")
    t.wait(r"^  path  the selected row is no object")
    t.type(":ls com.acme.shop.Order")
    t.keys("Enter")
    # a list alone holds the orders: what one retains is what the cut of its element frees
    t.wait(r"^> 0x\w+ +(com\.acme\.shop\.Order +)?48 +\d+ .*4711000000")
    for element in range(6):
        t.wait(r"^(?:1 )?histogram > .* %d/320$" % (element + 1))
        if element in (1, 2, 3):  # the stacks of threads hold these as well
            t.wait(r"^  path  a root: .* cut frees 0$")
        else:
            retained = re.search(r" 48 +(\d+) ", selected(t)).group(1)
            t.wait(r"^  path  .*\[%d\] > this +cut frees %s$" % (element, retained))
        t.keys("Down")
    t.keys("Up", "P")
    t.wait(r"cut frees", gone=True)
    t.keys("Enter")  # an object has its path without being asked
    t.wait(r"^  path  .*\[5\] > this +cut frees \d+$")
    t.keys("P")      # and with P that of the row under the cursor
    for _ in range(12):
        if any(re.search(r"^  path to 0x\w+  .*\[5\] > \w+ > this", line) for line in t.screen()):
            break
        t.keys("Down")
    t.wait(r"^  path to 0x\w+  .*\[5\] > \w+ > this")
    leave(t)


@case("check -tree works beside the screen: it tells how far it is, ^C stops it, other keys wait")
def check_beside(t):
    big = os.path.join(t.home, "big.phd")
    subprocess.run([MKDUMP, "bench", "--objects", "3000000", "--phd", big], check=True)
    t.line('"$CAIRN" -t 1 "$HOME/big.phd"')
    t.wait(r"^1 histogram .*6 info +shallow v")  # references are there, and retained sizes
    t.wait(lambda lines: lines[2].endswith("retained"))
    t.type(":check -tree")
    t.keys("Enter")
    t.wait(r"^check -tree(, \d+ s)?: (checking|following)[a-z ]* \d+%; \^C stops it")
    t.keys("C-c")
    t.wait(r"^check: stopped")
    t.wait(r"^(?:1 )?histogram(?! >)")
    t.type(":check -tree")
    t.keys("Enter")
    t.wait(r"^check -tree.*: checking[a-z ]* \d+%")
    t.keys("Down")  # what only moves is answered at once
    t.wait(lambda lines: lines[3].startswith("  ") and lines[4].startswith(">") and
           re.search("; \\^C stops it", "\n".join(lines)))
    t.type("i")  # heard when the answer is there
    t.wait(r"^(?:1 )?histogram > check > overview")
    leave(t)


@case("K: suspects with a sentence; c: what dies without an object; the plan of a cut", BOTH)
def cuts(t):
    start(t, dump=SHOP)
    t.keys("K")
    t.wait(r"^(?:1 )?histogram > suspects")
    t.keys("Down")
    t.wait(r"AuditLog\.ENTRIES")  # in the sentence, the planted leak
    t.keys("c")
    t.wait(r"^(?:1 )?histogram > suspects > cut 0x\w+")
    t.keys("Escape")
    t.wait(r"^(?:1 )?histogram > suspects(?! >)")
    t.type(":cut -plan 190K")
    t.keys("Enter")
    t.wait(r"com\.acme\.shop\.AuditLog\.E")  # cut off where the screen is narrow
    leave(t)


@case("retained sizes are found beside the screen: ^C stops that, d begins again, tables fill in")
def beside(t):
    big = os.path.join(t.home, "big.phd")
    subprocess.run([MKDUMP, "bench", "--objects", "3000000", "--phd", big], check=True)
    t.line('"$CAIRN" -t 1 "$HOME/big.phd"')
    t.wait(r"(^histogram|6 info) +retained")
    t.keys("2")  # a main page that waits for sizes; dropped, it takes no other view along
    t.wait(r"^heap: waits until retained sizes are found")
    t.keys("C-c", "Enter")
    t.wait(r"^histogram > ")
    t.keys("Escape")
    t.wait(r"^(?:1 )?histogram(?! >)")
    t.keys("C-c")
    t.wait(r"retained sizes stay unknown until dom or top asks for them")
    t.wait(r"(^histogram|6 info) +retained", gone=True)
    need("retained" not in t.screen()[2], "a column of sizes that nobody knows", t)
    t.keys("Down")
    enter(t, "dom")
    t.wait(r"^dom: waits until retained sizes are found|> dominators")
    t.wait(r"^(?:1 )?histogram > dominators")
    t.keys("Escape")
    # the histogram below has filled in, and the cursor stayed
    lines = t.wait(r"^(?:1 )?histogram(?! >)")
    need(lines[2].rstrip().endswith("retained"), "the column did not come", t)
    need(lines[4].startswith("> "), "the cursor moved", t)
    t.keys("2")
    t.wait(r"^ +address +branch")
    t.keys("1")
    t.wait(r"^ +class +objects")
    leave(t)


@case("a main page that waits takes nobody away who went on meanwhile")
def tab_waits(t):
    big = os.path.join(t.home, "big.phd")
    subprocess.run([MKDUMP, "bench", "--objects", "3000000", "--phd", big], check=True)
    t.line('"$CAIRN" -t 1 "$HOME/big.phd"')
    t.wait(r"(^histogram|6 info) +retained")
    t.keys("2")
    t.wait(r"^heap: waits until retained sizes are found")
    t.keys("Enter")
    t.wait(r"^histogram > ")
    t.wait(r"^heap is there: 2 shows it")
    need(t.screen()[1].startswith("histogram > "), "another page", t)
    t.keys("2")
    t.wait(r"^ +address +branch")
    leave(t)


@case("a collection opens at its entries, Tab shows its fields, then who holds it", BOTH)
def collection(t):
    start(t, dump=SHOP)
    enter(t, "x com.acme.shop.Shop.INSTANCE")
    t.wait(r"contents \(11\)")
    t.keys("Down", "Down", "Enter")
    t.wait(r"entries \(40\)")
    t.wait(r'^.*0  "session-47')
    t.keys("Tab")
    t.wait(r"contents \(12\)")
    t.keys("Tab", "Tab", "Down", "Enter")
    t.wait(r"class com\.acme\.shop\.Session")
    leave(t)


@case("the heap's tree: live and garbage, bars against the largest sibling, g takes a group apart", BOTH)
def heap_groups(t):
    start(t, dump=SHOP)
    t.keys("2")
    t.wait(r"live 217K . garbage 0$")
    t.wait(r"^ +address +branch .* retained .* % all")
    bars = [line.count("\u2588") for line in t.wait(r"^> 0xe00011b0  . loader  URLClassLoader .* 204K \u2588\u2588\u2588\u2588+ ")]
    need(max(bars) >= 4, "no bar", t)
    while not re.search(r"\d \u00d7 Session", selected(t)):
        t.keys("Down")
        time.sleep(0.05)
    t.keys("g")
    wait_selected(t, r"Session ")
    need("\u00d7" not in selected(t).split("Session")[0], "the group is still there", t)
    t.wait(r"1/24|[0-9]+/2[2-9]")  # four rows instead of one
    t.keys("g")
    wait_selected(t, r"4 \u00d7 Session")
    leave(t)


@case("--start: the histogram until the page asked for is there; keys that come before keep it")
def begins_with(t):
    big = os.path.join(t.home, "big.phd")
    subprocess.run([MKDUMP, "bench", "--objects", "2000000", "--phd", big], check=True)
    t.line('"$CAIRN" -t 1 --start heap "$HOME/big.phd"')
    t.wait(r"^(histogram|1 histogram) ")
    t.wait(r"^ +class +objects")
    t.wait(r"^ +address +branch")
    leave(t)
    t.line('"$CAIRN" -t 1 --start heap "$HOME/big.phd"')
    t.wait(r"^ +class +objects")
    t.keys("Down")
    t.wait(r"^heap is there: 2 shows it")
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
    t.wait(r"^  \^C stops$")
    t.wait(r"^(?:1 )?histogram")
    enter(t, "histo -live")  # what the roots reach is not known before they are
    t.wait(r"^histo -live: waits until ")
    leave(t)


@case("quitting puts the terminal back", BOTH)
def quit_clean(t):
    before, modes = t.stty(), t.modes()
    start(t)
    leave(t)
    need(t.stty() == before, "stty differs", t)
    need(t.modes() == modes, "modes %s, were %s" % (t.modes(), modes), t)


def killed_by(number):
    def kill(t):
        before, modes = t.stty(), t.modes()
        start(t)
        os.kill(t.pid_of("cairn"), number)
        t.wait("^" + PROMPT)
        need(t.modes() == modes, "modes %s, were %s" % (t.modes(), modes), t)
        need(t.stty() == before, "stty differs", t)
    return kill


for what, signal_number in (("kill -TERM", signal.SIGTERM), ("kill -HUP", signal.SIGHUP),
                            ("a crash", signal.SIGSEGV), ("an abort", signal.SIGABRT)):
    case(what + " puts the terminal back")(killed_by(signal_number))


@case("^C on the histogram does not end the program in a mess")
def interrupt(t):
    before = t.stty()
    start(t)
    t.keys("C-c")
    t.keys("Down")
    t.wait(lambda lines: any(line.startswith("> char[]") or line.startswith(PROMPT) for line in lines))
    if not any(line.startswith(PROMPT) for line in t.screen()):
        leave(t)
    need(t.stty() == before, "stty differs", t)


@case("^Z and fg: the shell in between is whole, the screen comes back")
def suspend(t):
    before, modes = t.stty(), t.modes()
    start(t)
    t.keys("Down")
    wait_selected(t, r"char\[\]")
    t.keys("C-z")
    t.wait("^" + PROMPT)
    need(t.modes() == modes, "modes %s, were %s" % (t.modes(), modes), t)
    need(t.stty() == before, "stty differs while stopped", t)
    t.line("fg")
    t.wait(r"^(?:1 )?histogram")
    wait_selected(t, r"char\[\]")
    t.keys("Down")
    wait_selected(t, r"java\.lang\.String ")
    leave(t)
    need(t.stty() == before, "stty differs", t)


@case("resized while stopped: the new size is used")
def suspend_resize(t):
    start(t)
    t.keys("C-z")
    t.wait("^" + PROMPT)
    t.resize(60, 15)
    t.line("fg")
    t.wait(r"^(?:1 )?histogram")
    t.wait(lambda lines: len(lines) <= 15 and all(len(line) <= 60 for line in lines))
    leave(t)


@case("TERM=dumb: says so, and a prompt edits, completes, is interrupted, stops and ends", env={"TERM": "dumb"})
def dumb(t):
    before = t.stty()
    t.line('"$CAIRN" \'%s\'; echo "status $?"' % SHOP)
    t.wait(r"dumb.*cannot place its cursor; a plain prompt instead")
    t.wait(lambda lines: "shop.hprof: 4,861 objects" in "".join(lines))  # its path may be long
    t.wait(r"^cairn> $|^cairn>$")
    t.type("hist")
    t.keys("Tab")
    t.wait(r"^cairn> histo$")  # what all have in common
    t.keys("Tab")
    t.wait(r"^histo +history")  # and all, below the line
    t.type(" -by loader")
    t.keys("Enter")
    t.wait(r"^\d+ loaders|^loader +")
    t.type("frobnicate")
    t.keys("Enter")
    t.wait(r"^cairn: no command is called frobnicate")
    t.type("quit")
    t.keys("C-c")  # the line is given up, and not the program
    t.wait(r"^cairn> quit\^C")
    t.type("histo | !echo begun; sleep 600")
    t.keys("Enter")
    t.wait(r"^begun$")
    t.keys("C-c")
    t.wait(r"sleep 600: the command ended by signal 2")
    t.keys("C-z")
    t.wait("^" + PROMPT)
    t.line("fg")
    t.type("histo | head 1")
    t.keys("Enter")
    t.wait(r"^byte\[\] +1,106")
    t.keys("Up", "Enter")
    t.wait(lambda lines: sum(line.startswith("byte[] ") for line in lines) >= 2)
    t.keys("C-d")
    t.wait("^" + PROMPT)
    t.line('echo "ended $?"')
    t.wait("^ended 0")
    need(t.stty() == before, "stty differs", t)
    t.line("grep -c '^histo | head 1$' \"$HOME/cairn/history\"")  # the screen's prompt has it, too
    t.wait(r"^2$")


@case("an unknown TERM is said, and there is a prompt, too", env={"TERM": "no-such-terminal"})
def unknown_term(t):
    t.line('"$CAIRN" \'%s\'; echo "status $?"' % SAMPLE)
    t.wait(r"no-such-terminal|terminal")
    t.wait(r"^cairn>")
    t.type("q")
    t.keys("Enter")
    t.wait(r"status 0")


@case("--plain: kill -TERM at its prompt puts the terminal back")
def plain_killed(t):
    before = t.stty()
    t.line('"$CAIRN" --plain \'%s\'' % SAMPLE)
    t.wait(r"^cairn>")
    os.kill(t.pid_of("cairn"), signal.SIGTERM)
    t.wait("^" + PROMPT)
    need(t.stty() == before, "stty differs", t)


@case("NO_COLOR: no colour, the selected row is still reversed", env={"NO_COLOR": "1"})
def no_color(t):
    start(t)
    t.wait(r"^> byte")
    text = "\n".join(t.screen(escapes=True))
    colours = re.findall(r"\x1b\[(?:[0-9;]*;)?(?:3[0-7]|4[0-7]|9[0-7]|10[0-7]|38|48)(?:;[0-9;]*)?m", text)
    need(not colours, "colours: %r" % colours[:5], t)
    need(re.search(r"\x1b\[(?:[0-9;]*;)?7(?:;[0-9;]*)?m", text), "nothing is reversed", t)
    leave(t)


def colours(t):
    """Red, green and blue of all letters on the screen that have a colour; of one of the eight its number alone."""
    found = set()
    for codes in re.findall(r"\x1b\[([0-9;:]*)m", "\n".join(t.screen(escapes=True))):
        codes = codes.replace("38:2::", "38:2:")
        for code in re.findall(r"38[;:][25][;:][0-9;:]+|\b(?:3[0-7]|9[0-7])\b", codes):
            parts = [int(c) for c in re.split("[;:]", code)]
            if len(parts) == 1:
                found.add(parts[0])
            elif parts[1] == 2:
                found.add(tuple(parts[2:5]))
            elif parts[2] < 16:
                found.add(parts[2])
            elif parts[2] < 232:  # xterm's palette: a cube, then greys
                n = parts[2] - 16
                found.add(tuple(0 if level == 0 else 55 + 40 * level for level in (n // 36, n // 6 % 6, n % 6)))
            else:
                found.add((8 + 10 * (parts[2] - 232),) * 3)
    return found


def contrast(colour, background):
    """As the W3C's guidelines define it; text wants 4.5."""
    def luminance(c):
        parts = [v / 255 for v in c]
        red, green, blue = (v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    a, b = sorted((luminance(colour), luminance(background)))
    return (b + 0.05) / (a + 0.05)


@case("themes: dark and light can be read on their background, by --theme or COLORFGBG; 8 and direct colours")
def themes(t):
    seen = {}
    tic = shutil.which("tic")
    if tic:  # a terminal with direct colours
        with open(os.path.join(t.home, "direct.ti"), "w") as f:
            f.write("cairn-direct|direct colours, use=screen-256color, RGB, colors#0x1000000, pairs#0x7fff,"
                    " setaf=\\E[38;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%dm,\n")
        subprocess.run([tic, "-x", "-o", os.path.join(t.home, ".terminfo"), os.path.join(t.home, "direct.ti")],
                       check=True)
    for name, words, options in (
            ("dark", "", "--theme dark"), ("light", "COLORFGBG='0;15'", ""), ("told dark", "COLORFGBG='15;0'", ""),
            ("classic8", "", ""), ("mono", "", "--theme mono"), ("told no", "NO_COLOR=1", "--theme dark"),
            ("few", "TERM=screen", "--theme light"), ("direct", "TERM=cairn-direct", "--theme dark")):
        if name == "direct" and not tic:
            continue
        t.line('clear; %s "$CAIRN" %s "%s"' % (words, options, SAMPLE))
        t.wait(r"^> byte\[\] +114 +195K")
        t.wait(r"^ *54 classes")
        seen[name] = colours(t)
        leave(t)
    for name, background in (("dark", (0, 0, 0)), ("light", (255, 255, 255))):
        need(len(seen[name]) >= 4, "%s: few colours: %r" % (name, seen[name]), t)
        for colour in seen[name]:
            need(isinstance(colour, tuple) and contrast(colour, background) >= 4.5,
                 "%s: %r cannot be read" % (name, colour), t)
    need(seen["told dark"] == seen["dark"] != seen["light"], "COLORFGBG: %r" % seen, t)
    need(seen.get("direct", seen["dark"]) == seen["dark"], "direct: %r" % seen, t)
    need(seen["classic8"] and seen["classic8"] <= {31, 32, 33, 36}, "classic8: %r" % seen["classic8"], t)
    need(seen["few"] and seen["few"] <= {31, 32, 34, 35}, "eight colours, light: %r" % seen["few"], t)
    need(not seen["mono"] and not seen["told no"], "colours: %r" % seen, t)


@case("the configuration: first page, layout, keys, columns, what q does; the command line goes before it",
      sizes=((130, 40),))
def configuration(t):
    os.makedirs(os.path.join(t.home, ".config", "cairn"))
    with open(os.path.join(t.home, ".config", "cairn", "config"), "w") as f:
        f.write("start = threads\nlayout = list\nkey z = size\nkey d = histo -by package\nq = quit\n"
                "columns histo = class objects superclass\ncolour = red\n")
    t.line('"$CAIRN" "%s"' % SHOP)
    t.wait(r"^> +\S+ +main +")
    t.wait(r"cairn/config:7: nothing here is called colour")
    t.keys("1")
    t.wait(r"^ *class +objects +superclass")
    lines = t.wait(r"^> byte\[\] +1,106 +java\.lang\.Object")
    need(not any(re.search(r"retained|91\.4K|│", line) for line in lines), "other columns, or a pane", t)
    t.keys("z")
    t.wait(r"^ +retained_objects +1,107")
    t.keys("Escape")
    t.wait(r"^> byte\[\] +1,106")
    t.keys("d")  # goes before the key of dominators
    t.wait(r"^> <primitive> +1,109")
    t.keys("?")
    t.wait(r"^ *Keys of your configuration")
    t.wait(r"^ +z +size")
    t.keys("q")
    t.wait("^" + PROMPT)
    t.line('clear; "$CAIRN" --start info "%s"' % SHOP)
    t.wait(r"^ +format +hprof")
    t.keys("q")
    t.wait("^" + PROMPT)
    t.line('clear; "$CAIRN" --no-config "%s"' % SHOP)
    t.wait(r"^ *class +objects +shallow +retained")
    leave(t)


@case("--ascii: nothing beyond ASCII on the frame of the screen")
def ascii_only(t):
    start(t, options="--ascii")
    lines = t.wait(r"^> byte")
    own = [line for line in lines if "acme" not in line]
    need(all(ord(ch) < 128 for line in own for ch in line), "a character beyond ASCII", t)
    need("####" in t.text(), "no bar", t)
    leave(t)


@case("a dump that cannot be read: one sentence, the terminal as it was")
def unreadable(t):
    before = t.stty()
    t.line('cd; echo no dump >x.phd; clear; "$CAIRN" x.phd; echo "status $?"')
    t.wait(r"cairn: .*x\.phd")
    t.wait(r"status 3")
    need(t.stty() == before, "stty differs", t)


@case("a damaged dump opens, says up to where it is true, and does not forget it", BOTH)
def damaged(t):
    t.line('cd; head -c 20000 \'%s\' >x.phd; clear; "$CAIRN" x.phd' % SAMPLE)
    t.wait(r"^(?:1 )?histogram")
    t.wait(r"x\.phd: .*at byte [0-9,]+|x\.phd: cut")
    for _ in range(3):
        t.keys("Down")
    t.wait(r"only a part of this dump was read")
    lines = t.screen()
    need(re.search(r">=[0-9,]+ objects . >=[0-9.]+K . cut$", lines[0]), "line 1 hides it", t)
    t.keys("End")
    t.wait(r"^ +>=\d+ classes +>=[0-9,]+ +>=[0-9.]+K +~100%")
    t.resize(40, 10)
    t.wait(lambda lines: lines[0].endswith("cut"))
    leave(t)


@case("w tells how sure the numbers are, and why, in full")
def why(t):
    start(t)
    t.wait(r"^> byte\[\] .*~195K$")
    t.keys("w")
    t.wait(r"^retained ~195K is inferred: PHD records no roots")
    t.keys("i")
    t.wait(r"^(?:1 )?histogram > overview")
    t.keys("w")
    t.wait(r"roots ~\d+, root_entries")
    t.wait(lambda lines: "and what nothing references; the other numbers are exact" in " ".join(lines))
    t.keys("Escape", "R", "w")
    t.wait(r"^certainty, retained ~\d+ are inferred: PHD records no roots")
    t.keys("Escape")
    t.type(":x 0xe0000af0")
    t.keys("Enter", "w")
    t.wait(lambda lines: "unknown: PHD does not tell" in " ".join(lines))
    leave(t)


@case("dom shows the dominator tree: Right opens, Left closes, * goes down to the drop", BOTH)
def dominators(t):
    start(t)
    enter(t, "dom")
    t.wait(r"^(?:1 )?histogram > dominators")
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
    t.wait(r"^(?:1 )?histogram(?! >)")
    t.type(":top")
    t.keys("Enter")
    t.wait(r"> largest objects")
    t.wait(r"95\.\d%")
    t.keys("Enter")
    t.wait(r"> held by 0xe0000090")
    leave(t)


@case("in a tree: Enter on a leaf opens the object, d on a row makes it the top, filters keep parents")
def tree_rows(t):
    start(t)
    enter(t, "dom")
    t.wait(r"^(?:1 )?histogram > dominators")
    t.keys("*", "End", "Home", "d")
    t.wait(r"> held by 0xe0000090")
    t.keys("Escape")
    t.type(":tree -by package")
    t.keys("Enter")
    t.wait(r"package tree")
    t.keys("f")
    t.type("acme")
    t.keys("Enter")
    t.wait(r"^. ▾ com ")
    t.wait(r"^.   ▸ acme ")
    need(not any("java" in line for line in t.screen()[2:-2]), "java is still there", t)
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


@case("Esc twice in a hurry leaves the prompt, and only the prompt")
def two_escapes(t):
    start(t)
    t.keys("Enter")
    t.wait(r"^(?:1 )?histogram > byte\[\]")
    t.type(":info")
    t.wait("^:info")
    t.keys("Escape", "Escape")
    t.wait("^:info", gone=True)
    need(any(line.startswith("histogram > byte[]") for line in t.screen()), "left the page", t)
    leave(t)


@case("asked for the same view again: it is not stacked")
def same_again(t):
    start(t)
    t.keys("H", "H", "Down")
    wait_selected(t, r"char\[\]")
    need("histogram >" not in t.text(), "stacked", t)
    t.keys("?", "?")
    t.wait(r"^(?:1 )?histogram > help +lines 1-\d+/\d+$")
    t.keys("Escape")
    t.wait(r"^(?:1 )?histogram(?! >)")
    leave(t)


@case("a terminal with one screen only: the shell goes on in an empty line", env={"TERM": "vt220"})
def one_screen(t):
    start(t)
    leave(t)
    need(not re.search("quit|filter", t.screen()[-1]), "the prompt stands among the hints", t)


@case(":quit leaves; q goes back a view at a time, then leaves, or, as set, at once")
def quits(t):
    start(t)
    enter(t, "quit")
    t.wait("^" + PROMPT)
    t.line("clear")
    start(t)
    enter(t, "info")
    t.wait(r"^histogram > overview")
    enter(t, "roots")
    t.wait(r"^histogram > overview > roots")
    t.keys("q")
    t.wait(r"^histogram > overview(?! >)")
    t.keys("q")
    t.wait(r"^1 histogram")
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
    t.wait(r"^histogram > overview")
    t.keys("q")
    t.wait("^" + PROMPT)


@case("the keys of a row mean the row: the instances of a class, what a group counts, an object", BOTH)
def row_keys(t):
    start(t, dump=SHOP)
    t.wait(r"^> byte\[\] +1,106")
    t.keys("Down", "Down", "Down")
    wait_selected(t, r"java\.math\.BigDecimal +360")
    hints = t.wait(r"p paths  d dom -up  c cut")[-1]
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
    t.wait(r"^o asks about one object, and this row counts several")
    enter(t, "path")  # as typed
    t.wait(r"^histogram > paths to java\.math\.BigDecimal")
    t.keys("q")
    enter(t, "histo -by package")
    t.wait(r"> histogram by package")
    wait_selected(t, "<primitive>")
    t.keys("Down", "c")
    t.wait(r"> cut com\.acme\.shop ")
    leave(t)


@case("y copies what the row is, Y the row, Y again the table; what a clipboard does not take is said")
def copies(t):
    def copied(what):
        t.wait(lambda lines: re.match(what, t.tmux("show-buffer"), re.S))

    t.tmux("set-option", "-s", "set-clipboard", "on")
    t.line("cd; clear")
    start(t, dump=SHOP)
    t.wait(r"^> byte\[\] .*>=91\.4K$")
    t.keys("y")
    copied(r"byte\[\]$")
    t.keys("Y")
    copied("byte\\[\\]\t1106\t93568\t>=93568$")
    t.keys("Y")
    t.wait(r"^copied 43 rows and their header$")
    copied("class\tobjects\tshallow\tretained\nbyte\\[\\]\t1106\t.*\n.*\n$")
    enter(t, "ls *")
    t.wait(r"1/4,861$")
    t.keys("Y", "Y")
    said = t.wait(r"^copied [\d,]+ of 4,861 rows: a clipboard takes no more; save FILE writes all$")
    n = int(re.search(r"^copied ([\d,]+)", "\n".join(said), re.M).group(1).replace(",", ""))
    text = t.tmux("show-buffer")
    enter(t, "set copy copied")
    t.keys("Home", "y", "Y")
    t.wait(r"^copied to copied$")
    with open(os.path.join(t.home, "copied"), encoding="utf-8") as f:
        need(re.match("0xe0000000\n0xe0000000\t.*\n$", f.read()), "the file", t)
    need(text.count("\n") == n + 1 and 74000 < len(text.encode()) <= 74994, "%d rows" % n, t)
    leave(t)


@case("a long way folds in its middle; a view that one came through is gone back to, where it stood")
def folds(t):
    start(t, dump=SHOP)
    enter(t, "ls java.lang.String")
    t.keys("Down", "Down")
    t.wait(r"3/1,046$")
    for line in ("roots", "histo -by package", "ls java.util.HashMap"):
        enter(t, line)
    t.wait("^histogram > \u2026 > .*histogram by package > java\\.util\\.HashMap +1/101$")
    enter(t, "ls java.lang.String")
    t.wait(r"^this view was there already")
    t.wait(r"^histogram > java\.lang\.String +3/1,046$")
    t.keys("q")
    t.wait(r"^1 histogram")
    leave(t)


@case("keys that a terminal sends and its type does not tell", env={"TERM": "vt100"})
def untold_keys(t):
    start(t)
    t.wait(r"^> byte")
    t.keys("End")
    t.wait(r" 54/54$")
    t.keys("Home")
    t.wait(r" 1/54$")
    t.keys("NPage")
    t.wait(r" (1[5-9]|2\d)/54$")
    t.keys("PPage")
    t.wait(r" 1/54$")
    t.keys("F1")
    t.wait(r"^histogram > help")
    t.keys("q", "F4")
    t.wait(r"^filter:")
    t.keys("C-c", "F10")
    t.wait("^" + PROMPT)


@case("marks, notes and sets come back with the dump; nothing is written before there are any")
def kept(t):
    def files():
        return [os.path.join(folder, name) for folder, _, names in os.walk(t.home) for name in names
                if folder.endswith("/dumps")]

    def again():
        t.line("clear")
        start(t, dump=SHOP)
        t.wait(r" 1/43$")

    start(t, dump=SHOP)
    enter(t, "ls com.acme.shop.Order")
    t.wait(r" 1/320$")
    leave(t)
    need(not files(), "written without a reason", t)
    again()
    t.keys("Down", "Down", "Down")
    enter(t, "note . decimals")
    t.keys("Up", "Down")
    t.wait(r"^note: decimals$")
    enter(t, "ls com.acme.shop.Order")
    t.wait(r" 1/320$")
    t.keys(*["Down"] * 6)
    t.wait(r" 7/320$")
    row = selected(t)
    t.keys("m", "a")
    t.wait(r"^marked: ' and a come back here$")
    t.keys("m", "!")
    t.wait(r"^a mark is a letter from a to z$")
    enter(t, "$mine = com.acme.shop.Order")
    t.wait(r"1/320$")
    enter(t, "roots")
    t.wait(r" 1/60$")
    t.keys("Down", "Down")
    t.wait(r" 3/60$")
    leave(t)
    need(len(files()) == 1 and os.stat(files()[0]).st_mode & 0o777 == 0o600, "files %s" % files(), t)
    again()
    t.wait(r"^marks, notes and sets of the last time are back")
    t.keys("'", "'")
    t.wait(r"> roots .* 3/60$")
    t.keys("'", "a")
    t.wait(r" 7/320$")
    need(selected(t) == row, "another row", t)
    t.keys("'", "b")
    t.wait(r"^no mark is called b; there are a$")
    enter(t, "size $mine")
    t.wait(r"^ +objects +320$")
    enter(t, "note")
    t.wait(r"^> 0x\w+ +class java\.math\.BigDecimal +decimals$")
    leave(t)
    # what was cut, and what means other objects, is left alone
    path = files()[0]  # which goes when nothing of it was kept
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for other in (text[:-4], text.replace(" 4861\n", " 4862\n"),
                  "cairn 1 4861\nset x 7-3\nset y 4861\nset z 1-\nnote 99999 a\nmark a 4861 0 ls\nmark b\nend\n"):
        with open(path, "w", encoding="utf-8") as f:
            f.write(other)
        again()
        t.keys("'", "a")
        t.wait(r"^no mark is called a; m and a letter makes one$")
        enter(t, "set")
        t.wait(r"> settings ")
        need(not re.search(r"\$|kept set", t.text()), "a set", t)
        leave(t)


@case("an object's page: its head is selected first, a missing argument is the row, . is the object", BOTH)
def head_keys(t):
    start(t, dump=SHOP)
    enter(t, "x com.acme.shop.Shop.INSTANCE")
    head = t.wait(r"> +address 0x\w+ +class com\.acme\.shop\.Shop ")
    own = re.search(r"address (0x\w+)", "\n".join(head)).group(1)
    t.keys("Enter")
    t.wait(r"^this is the object itself: Down goes to its contents")
    t.keys("d")
    t.wait(r"> held by " + own)
    t.keys("q")
    t.wait(r"> +address 0x")
    enter(t, "path")
    t.wait(r"> path to " + own)
    t.keys("q", "Down")
    t.wait(r"> +address 0x", gone=True)
    enter(t, "path")
    lines = t.wait(r"> path to 0x")
    of = re.search(r"path to (0x\w+)", lines[1]).group(1)
    need(of != own, "the path of the object, not of the row", t)
    t.wait(of if t.width > 80 else r"^ +\d  catalog +java\.util\.TreeMap")
    t.keys("q")
    enter(t, "size .")
    t.wait("> %s > %s " % (own, own))
    t.keys("q", "Up")
    t.wait(r"> +address 0x")
    leave(t)


@case("many keys at once are all heard", BOTH)
def hurry(t):
    start(t)
    t.keys(*(["Down"] * 12))
    wait_selected(t, r"com\.acme\.shop\.Order\$Line")
    t.keys("Home")
    wait_selected(t, r"byte\[\]")
    t.keys("End")
    t.wait(lambda lines: any(line.startswith(">") and "byte[]" not in line for line in lines))
    t.keys("NPage", "PPage", "Home")
    wait_selected(t, r"byte\[\]")
    leave(t)


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


def main():
    if not shutil.which("tmux"):
        skip_all("tmux is not installed")
    if not shutil.which("bash"):
        skip_all("bash is not installed")
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    tap = Tap()
    for name, function, sizes, env in CASES:
        if word not in name:
            continue
        for width, height in sizes:
            began = time.monotonic()
            terminal = None
            wrong = ""
            try:
                terminal = Terminal(width, height, env)
                function(terminal)
            except Gone as e:
                wrong = str(e)
            finally:
                if terminal:
                    terminal.close()
            tap.ok(not wrong, "%s (%dx%d, %.1f s)" % (name, width, height, time.monotonic() - began),
                   wrong)
    tap.done()


main()
