# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of the screen: its errors, completion, history, files it writes."""

import os
import re
import shutil
import time

import commands
from cairntest import SAMPLE, SHOP, some
from tui import BOTH, case, enter, leave, need, said, settled, start, wait_selected


@case(": runs any command of the batch", BOTH)
def prompt(t):
    start(t)
    t.type(":refs 0xE0000AF0")
    t.keys("Enter")
    t.wait(r"out +\S* +0xe0000b00")
    t.wait(r"in +\S* +0xfff07498")
    leave(t)


@case("the prompt: what is no stage of a pipe is an error")
def no_stage(t):
    start(t)
    t.type(":ls * | frobnicate")
    t.keys("Enter")
    t.wait(r"unknown pipe stage .frobnicate")
    leave(t)


@case("the prompt: an error closes the line, so keys act again; Up edits the line", ((80, 24), (80, 10)))
def prompt_error(t):
    start(t)
    enter(t, "frobnicate")
    t.wait("^unknown command .frobnicate. ")
    t.wait(r"^:frobnicate +: Up edits it$")  # below it
    t.keys("j")  # moves, and is no letter of a line
    wait_selected(t, r" char\[\] ")
    t.wait("frobnicate", gone=True)
    t.type(":")
    t.keys("Up")
    t.wait("^:frobnicate$")
    t.keys("BSpace")
    t.type("x:his")
    t.wait("^:frobnicatx:his$")
    t.keys("C-c")
    t.wait(r"^:", gone=True)
    need("histogram" in t.text(), "the histogram is gone", t)
    leave(t)


@case("the prompt: Enter on a word that only the list knows runs the best entry, if it writes nothing, else names the nearest", BOTH)
def prompt_only_listed(t):
    start(t, dump=SHOP)
    t.type(":dead")
    t.wait(r"^  locks -deadlock ")
    t.wait(r"^  locks ")  # its meaning has the word, too
    t.keys("Enter")
    t.wait(r"> deadlocks")
    t.type(":")
    t.keys("Up")
    t.wait(r"^:dead$")
    t.keys("Tab")
    t.wait(r"^:deadlock")
    t.keys("C-c")
    t.type(":monitors")
    t.wait(r"^  locks ")
    t.keys("Enter")
    t.wait(r"> locks ")
    t.type(":bytes")  # several entries are as good
    t.keys("Enter")
    t.wait(r'^unknown command "bytes" \(')
    t.type(":leave")  # its only entry is about files
    t.wait(r"^  bundle ")
    t.keys("Enter")
    t.wait(r'^unknown command "leave" \(nearest: ')
    leave(t)


@case("the prompt: where no word begins as what was wrong, Tab puts the nearest in its place")
def prompt_nearest(t):
    start(t, dump=SHOP)
    enter(t, "  rots -by kind")
    t.wait("^unknown command .rots. ")
    t.type(":")
    t.keys("Up")
    t.wait("^:  rots -by kind$")
    t.keys("C-a", "M-f", "Tab")
    t.wait("^:  roots -by kind$")
    t.keys("C-c")
    enter(t, "ls com.acme.shop.Ordr")
    t.wait("^no class matches|^ls: no class matches")
    t.type(":")
    t.keys("Up", "Tab")
    t.wait(r"^:ls com\.acme\.shop\.Order *$")
    t.keys("C-c")
    leave(t)


@case("an error that is too long for a line is shown whole, with what to do at its end")
def long_error(t):
    start(t, dump=SHOP)
    for line, end in (("memory", "an open dump)"), ("histo > x.xls", "none)"), ("ls -nosuch", "-r)")):
        enter(t, line)
        t.wait(said(re.escape(end).replace(r"\ ", " ")))
        rows = t.screen()
        first = next(i for i, row in enumerate(rows) if row.startswith(":" + line))
        need(first >= 24 - 6 and not rows[first + 1].startswith(" ") and rows[-1].startswith("Enter"),
             "the error of %s is not between the rows and the hints" % line, t)
    leave(t)


@case("a file that exists is replaced after a question, appended to without; the dump never", BOTH)
def replaces(t):
    kept, dump = os.path.join(t.home, "kept.csv"), os.path.join(t.home, "own.txt")
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
    start(t, dump="own.txt")
    for key in ("n", "Escape", "C-c"):
        enter("histo > kept.csv")
        t.wait(r"kept\.csv\s+exists:\s+replace\s+it\?\s+\[y/N\]")
        t.keys("x", key)  # x is no answer
        t.wait(r"kept\.csv\s+is\s+unchanged")
        need(content(kept) == b"old\r\n", "it was replaced", t)
        t.keys("j")
    enter("histo | head 1 >> kept.csv")
    t.wait(r"^appended 1 row of histogram to kept\.csv, as CSV$")
    need(content(kept).startswith(b"old\r\n\r\nclass,"), "it was not appended", t)
    enter("save kept.csv")
    t.wait(r"kept\.csv\s+exists:\s+replace\s+it\?\s+\[y/N\]")
    t.keys("y")
    t.wait(r"^wrote \d+ rows of histogram to kept\.csv, as CSV$")
    need(content(kept).startswith(b"class,"), "it was not replaced", t)
    # nor is a y within a line that is typed while it stands there
    shown = content(kept)
    enter("histo > kept.csv")
    t.wait(r"kept\.csv\s+exists:\s+replace\s+it\?\s+\[y/N\]")
    t.type(":my")
    t.wait(r"replace\s+it\?\s+\[y/N\]\s+\(Enter:\s+no\)")
    need(content(kept) == shown, "it was replaced by a letter of a line", t)
    t.keys("Enter")
    t.wait(r"kept\.csv\s+is\s+unchanged")
    t.keys("j")
    # what was typed before the question stood there is no answer, and is not lost
    t.type(":histo > kept.csv\ry:size *\r")
    t.wait(r"kept\.csv\s+exists:\s+replace\s+it\?\s+\[y/N\]")
    t.keys("n")
    t.wait(r"retained objects")
    t.keys("BSpace")
    other = os.path.join(t.home, "other.txt")
    shutil.copy(SAMPLE, other)
    enter("histo >> other.txt")
    t.wait(r"other\.txt\s+is\s+a\s+heap\s+dump\s+\(PHD\):\s+append")
    t.keys("n")
    t.wait(r"other\.txt\s+is\s+unchanged")
    for line in ("histo > %s", "histo >> %s", "save %s"):
        enter(line % "own.txt")
        t.wait(r"own\.txt\s+is\s+the\s+dump,")
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
        t.wait(r"\[Enter: return to cairn\]")
        t.keys("Enter")
        t.wait(said)
        t.keys("C-c")
        t.wait(said, gone=True)
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
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > com\.acme\.shop\.SessionStore|1 object")
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
    t.wait(r"\^C close")
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


@case("Esc twice in a hurry leaves the prompt, and only the prompt")
def two_escapes(t):
    start(t)
    t.keys("Enter")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > byte\[\]")
    t.type(":info")
    t.wait("^:info")
    t.keys("Escape", "Escape")
    t.wait("^:info", gone=True)
    need(any(line.startswith("histogram > byte[]") for line in t.screen()), "left the page", t)
    leave(t)


@case("after an error a digit is a main page's key")
def digits_after_errors(t):
    start(t, dump=SHOP)
    enter(t, "x 0xe0000")
    t.wait("no object")
    t.keys("6")
    t.wait(r"^  format +hprof")
    t.keys("q")
    t.wait(r"^[> ] *byte")
    leave(t)


@case("; asks in SQL: tables and columns complete, a backslash goes on, rows are objects and sets")
def asks(t):
    start(t, dump=SHOP)
    t.type("\\;")  # to tmux a plain one would end its command
    t.wait("^:sql *$")
    t.type("SELECT status, setof(address) AS s FROM Ord")
    t.keys("Tab")
    t.wait(r'FROM "com\.acme\.shop\.Order"')
    t.type(" GROUP BY sta")
    t.keys("Tab")
    t.wait("GROUP BY status")
    t.type(" \\")
    t.wait(r"GROUP BY status +\\$")
    t.keys("Enter")
    t.wait("GROUP BY status *$")
    t.type("LIMIT 2")
    t.keys("Enter")
    t.wait("^> *NEW +80")
    t.keys("Enter")
    t.wait(r"^> *com\.acme\.shop\.Order +80 ")
    t.type("\\;")
    t.type("SELECT totl FROM \"com.acme.shop.Order\"")
    t.keys("Enter")
    t.wait(r"no column .totl. \(nearest: total\)")
    leave(t)


@case("; each command of the table is answered by a page or a message")
def every_command(t):
    start(t, dump=SHOP)
    words = {"class": "java.lang.String", "object": "#100", "thread": "1", "folder": t.home}
    asked = [line for those in commands.lines(words, {"quit"}).values() for line in those if ";" not in line and not line.startswith("histo")]
    for line in some(asked, 12):
        before = t.screen()
        enter(t, line)
        failed = re.compile(" *(%s: |no dump is tagged)" % line.split()[0])
        t.wait(lambda lines: not any(re.match(r":\S", l) for l in lines) or any(map(failed.match, lines)))
        t.wait(lambda lines: t.resting())
        need(settled(t)[0].startswith(before[0][:20]), "%s: the screen is there" % line, t)
        t.keys("C-c")  # a line that failed stands there
        settled(t)
        t.keys("1", "g")
        t.wait("^(0 overview +)?1 histogram")
    leave(t)


def palette(lines):
    """The commands listed above the prompt, by name; the chosen one begins with >."""
    at = max(i for i, line in enumerate(lines) if line.startswith(":"))
    rows = []
    for line in lines[:at][::-1]:
        if not line.strip() and not rows:  # fewer than there are lines
            continue
        found = re.match(r"^([> ] [a-z][a-z-]*(?: -?[a-z*]+)?) +\S", line)
        if not found or len(rows) == 5:
            break
        rows.insert(0, found.group(1))
    return rows


@case("palette: commands with what they do, names before aliases before meanings; Tab and Enter run one", BOTH)
def palette_words(t):
    start(t, dump=SHOP)
    t.type(":")
    t.wait("^:$")
    need(not any(line.startswith("  overview ") for line in t.screen()), "all commands, at once", t)
    t.wait(r"^  overview +show what fills the heap")  # nobody typed for a while
    t.wait(r"^Tab complete  Enter run  F1 help .*on this row: byte\[\] \(1,106 objects\)$")
    t.type("dup")
    t.wait(lambda lines: palette(lines)[:2] == ["  dups", "  duplicate-classes"])
    t.wait(r"^  duplicate-classes +list classes loaded by .* MAT duplicate_classes$")
    t.keys("C-u")
    t.type("thread_overview")  # only MAT has it
    t.wait(r"^  threads +.*MAT thread_overview$")
    t.wait(r"^Tab complete  Enter threads ")  # it runs, too
    t.keys("C-u")
    t.type("fill ratio")  # no name: a meaning
    t.wait(r"^  collections +list collections ")
    t.keys("Tab", "Enter")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > collections")
    leave(t)


@case("palette: Tab, then Up and Down choose; Up without it recalls lines as ever, Down in an empty one goes in")
def palette_keys(t):
    start(t, dump=SHOP)
    enter(t, "roots")
    t.wait(r"^histogram > roots")
    t.type(":")
    t.wait(r"^  overview ")
    t.keys("Up")
    t.wait("^:roots$")
    t.keys("C-c")
    t.type(":dup")
    t.wait(r"^  dups ")
    t.keys("Tab")
    t.wait(r"^> dups ")
    t.wait("^:dups$")
    t.keys("Down")
    t.wait(r"^> duplicate-classes ")
    t.wait("^:duplicate-classes$")
    t.keys("Up", "Up")
    t.wait("^:dup$")
    t.keys("C-c", ":")
    t.wait(r"^  overview ")
    t.keys("Down", "Down")
    t.wait(r"^> info ")
    t.keys("F1")
    t.wait(r"> help ")
    t.wait(r"^ *info \[-brief\]")
    leave(t)


@case("palette: fewer lines in a low window, none in 20x6; arguments complete as ever", ((80, 12), (40, 10), (20, 6)))
def palette_low(t):
    t.line('"$CAIRN" \'%s\'' % SHOP)
    t.wait(r"^> byte\[\]")
    t.type(":his")
    t.wait("^:his$")
    shown = palette(settled(t))
    need(len(shown) == {12: 4, 10: 2, 6: 0}[t.height], "listed: %s" % shown, t)
    need(shown[:2] == ["  histo", "  history"][:len(shown)], "listed: %s" % shown, t)
    t.keys("C-u")
    t.type("bt ma")
    t.keys("Tab")
    t.wait(r"^:bt main *$")
    t.keys("C-c")
    leave(t)


@case("F1 in a prompt without a command opens the keys; Esc and Backspace go back to the line")
def keys_of_prompt(t):
    start(t, dump=SHOP)
    for line in ("", "nosuch word"):
        t.type(":" + line)
        t.wait("^:%s$" % line)
        for key in ("Escape", "BSpace"):
            t.keys("F1")
            t.wait("Keys: histogram")
            t.keys(key)
            t.wait("^:%s$" % line)
            need("Keys: histogram" not in t.text(), "the box is there", t)
        t.keys("C-c")
        t.wait(lambda lines: not any(row.startswith(":") for row in lines))
    leave(t)
