# SPDX-License-Identifier: GPL-3.0-or-later
"""Several dumps in one session: use, open, close."""

import os
import shutil
import subprocess

from cairntest import BUILD, MKDUMP, SERIES, SHOP
from tui import BOTH, case, enter, leave, need, wait_selected


def open_dumps(t, *paths):
    t.line('"$CAIRN" ' + " ".join("'%s'" % path for path in paths))
    t.wait(r"^> byte\[\] +1,106 ")


@case("use: each dump has its views, and they are there again; which one it is stands above", BOTH)
def use(t):
    open_dumps(t, *SERIES)
    t.wait(r"^cairn .*shop\.hprof +3/3")
    t.keys("Down", "Down", "m", "a")  # a mark of this dump
    t.wait(r"is marked")
    enter(t, "entries com.acme.shop.AuditLog.ENTRIES")
    t.wait(r"histogram > ")
    t.keys("G")
    t.wait(r" 60/60$")
    wait_selected(t, r"> +59 +id=")
    enter(t, "use 1")
    t.wait(r"^dump 1, shop-1\.hprof, 2026-11-21T08:15:00Z, is current; 2 of 3 dumps are open")
    wait_selected(t, r"byte\[\] +948 ")
    t.wait(r"^cairn .*shop-1\.hprof +1/3")
    t.wait(r"^> byte\[\] +948 .*% +(>=)?\d")  # retained sizes fill in
    enter(t, "entries com.acme.shop.AuditLog.ENTRIES")
    t.wait(r" 1/20$")
    t.keys("'", "a")
    t.wait(r"^no mark named a")
    enter(t, "use 3")
    t.wait(r" 60/60$")
    wait_selected(t, r"> +59 +id=")  # the same row of the same view
    t.keys("'", "a")
    t.wait(r" 3/\d+$")
    enter(t, "use 1")
    t.wait(r" 1/20$")
    leave(t)


@case("dumps: Enter goes to the dump of the row, and the list says which is at hand", BOTH)
def rows(t):
    open_dumps(t, *SERIES)
    t.keys("9")
    wait_selected(t, r"1 +.*shop-1\.hprof ")
    t.keys("Down", "Enter")
    wait_selected(t, r"byte\[\] +1,0\d\d ")
    t.wait(r"^cairn .*shop-2\.hprof +2/3")
    t.keys("9")
    t.wait(r"^[> ]+2 .* current")
    t.wait(r"^[> ]+3 .* open")
    t.keys("G", "Enter")  # back: the list was left there, and tells what is
    t.wait(r"^cairn .*shop\.hprof +3/3")
    t.wait(r"^[> ]+3 .* current")
    enter(t, "close 2")
    t.wait(r"use N restores what was kept")
    t.wait(r"^dump 2, .*is closed: \d+[\d.]*K freed")
    t.wait(r"^[> ]+2 .* closed")
    enter(t, "close 3")
    t.wait(r"close: dump 3 is current \(switch to another first: use N\)")
    t.keys("C-c")
    t.wait("close: dump 3", gone=True)
    wait_selected(t, r"2 +.*shop-2\.hprof ")  # the list was made anew, the cursor is where it was
    leave(t)


@case("growth in an older dump: rows are of the newest, and say where to go")
def foreign_rows(t):
    open_dumps(t, *SERIES)
    enter(t, "use 1")
    t.wait(r"is current; ")
    enter(t, "growth")
    wait_selected(t, r"\S*AuditLog\.ENTRIES .*20→40→60 ")
    for key in ("Enter", "c", "d"):
        t.keys(key)
        t.wait(r"^%s: this row is from dump 3 \(use 3 switches to it\)" % key)
    enter(t, "ls %1")
    t.wait(r"ls: %1: the last table is from dump 3 \(use 3 switches to it\)")
    t.keys("C-c")
    enter(t, "use 2")
    t.wait(r"^dump 2, .* is current; ")
    enter(t, "use 3")
    t.wait(r"^dump 3, .* is current; ")
    enter(t, "set weak on")  # what waits in the other dump with rows of this one goes
    t.wait(r"^weak on: ")
    enter(t, "use 1")
    wait_selected(t, r"byte\[\] +948 ")
    enter(t, "close 3")
    t.wait(r"^dump 3, .* is closed")
    enter(t, "growth")
    t.wait(r"rose from 20 to 40 to")
    t.keys("Enter")
    t.wait(r"^Enter: this row is from a dump that is not open")
    leave(t)


@case("open: one more dump, gone to; the same one is not read twice; what is none changes nothing")
def open_file(t):
    t.line("cd " + t.home)  # names that do not fill the message, however long the folder's is
    open_dumps(t, SHOP)
    need("/" not in t.screen()[0], "one dump has no number", t)
    enter(t, "open %s" % SERIES[0])
    wait_selected(t, r"byte\[\] +948 ")
    t.wait(r"comparisons take it as older than dump 1")
    t.wait(r"^cairn .*shop-1\.hprof +2/2")
    t.keys("7")
    t.wait(r"rose from 20 to 60")
    enter(t, "open %s" % os.path.relpath(SHOP, t.home))
    t.wait(r"^dump 1, shop\.hprof, .* is current; ")
    wait_selected(t, r"byte\[\] +1,106 ")
    with open(os.path.join(t.home, "broken"), "wb") as f:
        f.write(b"JAVA PROFILE 1.0.2\0")
    enter(t, "open broken")
    t.wait(r"^open: .*broken:\s")
    wait_selected(t, r"byte\[\] +1,106 ")
    t.wait(r"^cairn .*shop\.hprof +1/2")
    leave(t)


@case("a message of several lines in a small window: nothing of the table stands beside it", ((40, 10),))
def long_message(t):
    open_dumps(t, *SERIES)
    enter(t, "use 1")
    t.wait(r"^dump 1, shop-1\.hprof, *$")
    t.wait(r"^2026-11-21T08:15:00Z, is current; 2 of *$")
    leave(t)


@case("^C while another dump is read: the one at hand stays, with all that is shown of it")
def stopped(t):
    big = os.path.join(t.home, "big.phd")
    subprocess.run([MKDUMP, "bench", "--objects", "3000000", "--phd", big], check=True)
    t.line('"$CAIRN" -t 1 "$HOME/big.phd" "%s"' % SHOP)
    t.wait(r"^> byte\[\] +1,106 ")
    enter(t, "use 1")
    t.wait(r"^use 1(, \d+ s)?: .*\^C stops it")
    t.keys("Down")
    wait_selected(t, r"java\.lang\.String ")
    t.keys("C-c")
    t.wait(r"^use: stopped")
    wait_selected(t, r"java\.lang\.String ")
    t.wait(r"^cairn .*shop\.hprof +2/2")
    shutil.copy(SERIES[0], big)  # what stands there now is another one
    enter(t, "use 1")
    wait_selected(t, r"byte\[\] +948 ")
    leave(t)


@case("profiles alone: open brings a dump to them")
def beside_profiles(t):
    for i, dump in enumerate(SERIES[:2]):
        subprocess.run([os.path.join(BUILD, "cairn"), "-x",
                        "profile %s/%d.profile" % (t.home, i), dump], check=True)
    t.line('"$CAIRN" "$HOME/0.profile" "$HOME/1.profile"')
    t.wait(r"^cairn  1\.profile .*2 profiles")
    t.wait(r"^> .*█ ")
    enter(t, "use 1")
    t.wait(r"^use: dump 1 is a profile without objects")
    enter(t, "open %s" % SHOP)
    wait_selected(t, r"byte\[\] +1,106 ")
    t.keys("7")
    t.wait(r"rose from 20 to 40 to")
    t.keys("Enter")
    wait_selected(t, r"com\.acme\.shop\.Session +60 ")
    leave(t)
