# SPDX-License-Identifier: GPL-3.0-or-later
"""A directory in place of a dump: the list of its dumps, opening them and coming back, tags."""

import os
import shutil
import subprocess
import zipfile

from cairntest import CAIRN, GO, SERIES, SHOP
from tui import BOTH, case, enter, leave, need, wait_selected


def open_folder(t, *more):
    """The hours of the shop, a file that is none, and what cannot be opened; times in the list are those of 2020."""
    folder = os.path.join(t.home, "d")
    os.mkdir(folder)
    for path in SERIES:
        shutil.copy(path, folder)
    for name, content in (("notes.txt", "hello\n"),) + more:
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(content)
        os.utime(os.path.join(folder, name), (1577836800, 1577836800))
    t.line("cd '%s'" % t.home)
    t.line('"$CAIRN" d')
    t.wait(r"^7 growth +8 trend +9 dumps")
    return folder


@case("a directory: its dumps, the newest first; Enter opens one, Esc is back in the list, which knows more then", BOTH)
def opens(t):
    open_folder(t, ("empty.phd", ""))
    t.wait(r"^cairn +d +.*4 dumps")
    wait_selected(t, r" shop\.hprof +HPROF +.* not read")
    t.wait(r" empty\.phd +.* unreadable")
    need(not any("notes" in line for line in t.screen()), "files that are no dumps are left out", t)
    t.keys("Down", "Enter")
    wait_selected(t, r"byte\[\] +1,0\d\d ")
    t.wait(r"^cairn .*shop-2\.hprof +3/4")
    t.keys("Escape")
    wait_selected(t, r" shop-2\.hprof +HPROF .* current")
    t.wait(r" shop-2\.hprof +HPROF .* \d+K .* \d+K +current")  # its file, and what is in it
    t.keys("Down", "Enter")
    wait_selected(t, r"byte\[\] +948 ")
    t.keys("2")
    t.wait(r"^> .*static Shop\.INSTANCE  ")
    t.keys("q")
    wait_selected(t, r"byte\[\] +948 ")
    t.keys("q")
    t.wait(r" shop-2\.hprof +.* open")
    wait_selected(t, r" shop-1\.hprof +.* current")
    t.keys("Up", "Enter")
    wait_selected(t, r"byte\[\] +1,0\d\d ")  # its view, not the list from which one went
    t.keys("BSpace", "q")
    t.wait("^READY>")


@case("a directory: what cannot be opened says why, and what asks about a dump says that none is open")
def refused(t):
    open_folder(t, ("empty.phd", ""))
    t.keys("End", "Enter")
    t.wait(r"^use: d/empty\.phd: empty file \(0 bytes\)")
    t.keys("T")
    t.wait(r"^tag: cannot compare dump 1: is empty")
    t.keys("1")
    t.wait(r"^no dump is open: press Enter in the list \(9\) or use N \(4 dumps in d")
    t.keys("Home")
    t.wait("no dump is open", gone=True)
    t.keys("End", "d")
    t.wait(r"no dump is open: press Enter in the list")
    enter(t, "histo")
    t.wait(r"histo: no dump is open: press Enter in the list")
    t.keys("C-c", "7")
    t.wait(r"^growth: there are 4 dumps")
    t.keys("q")
    t.wait("^READY>")


@case("a directory that goes away under the list is named, and the list stays")
def vanishes(t):
    folder = open_folder(t)
    shutil.rmtree(folder)
    t.keys("Enter")
    t.wait(r"^use: d/shop\.hprof: no such file")
    wait_selected(t, r" shop\.hprof ")
    leave(t)


@case("tags: growth and trend are about those tagged alone, and again about others when these change", BOTH)
def tags(t):
    open_folder(t)
    t.keys("T")
    t.wait(r"^1 dump is tagged; tag another one")
    wait_selected(t, r" shop-2\.hprof ")  # and on to the next row
    t.wait(r"^ .*\* +shop\.hprof ")
    t.keys("Down", "T")
    t.wait(r"^2 dumps are tagged: 7 growth, 8 trend")
    t.keys("7")
    wait_selected(t, r" 20→60 ▃█")
    t.keys("Escape")
    wait_selected(t, r" shop-1\.hprof ")
    t.keys("T", "Up", "T")
    t.wait(r"^2 dumps are tagged")
    t.keys("7")
    wait_selected(t, r" 40→60 ▆█")
    t.keys("8")
    t.wait(r"^  path .* slope ")
    t.keys("q")
    t.wait(r" shop-2\.hprof ")
    enter(t, "tag")
    t.wait(r"^no dump is tagged")
    t.keys("7")
    t.wait(r"^growth: there are 3 dumps")
    leave(t)


@case("tags in a list of dumps that were named: without them all are compared")
def tags_of_series(t):
    t.line('"$CAIRN" ' + " ".join("'%s'" % path for path in SERIES))
    t.wait(r"^> byte\[\] +1,106 ")
    t.keys("9")
    wait_selected(t, r"1 +.*shop-1\.hprof ")
    t.keys("Down", "T")
    t.wait(r"^1 dump is tagged")
    wait_selected(t, r"3 +.*shop\.hprof ")
    t.keys("T")
    t.wait(r"^2 dumps are tagged")
    t.keys("7")
    wait_selected(t, r" 40→60 ▆█")
    t.keys("9", "T", "7")
    wait_selected(t, r" 20→40→60 ▃▆█")
    t.keys("1", "T")
    t.wait(r"^T tags dumps for comparison in the list of dumps \(9\)")
    leave(t)


@case("a directory with one dump is that dump")
def single(t):
    os.mkdir(os.path.join(t.home, "one"))
    shutil.copy(SHOP, os.path.join(t.home, "one"))
    t.line("cd '%s'" % t.home)
    t.line('"$CAIRN" one')
    wait_selected(t, r"byte\[\] +1,106 ")
    t.wait(r"^cairn +shop\.hprof  ")
    t.keys("q")
    t.wait("^READY>")


@case("a directory: open adds a dump to its list, close takes one out of memory, and a filter stays", ((120, 24),))
def adds(t):
    open_folder(t)
    t.type("fshop-")
    t.keys("Enter")
    t.wait(r"filter: shop- +1/2")
    t.keys("Enter")
    wait_selected(t, r"byte\[\] +1,0\d\d ")
    t.keys("Escape")
    t.wait(r"filter: shop- +1/2")
    wait_selected(t, r" shop-2\.hprof .* current")
    enter(t, "use 1")
    wait_selected(t, r"byte\[\] +948 ")
    enter(t, "close 2")
    t.wait(r"^dump 2, .* is closed")
    t.keys("9")
    t.wait(r" shop-2\.hprof .* \d,\d{3} .* closed")  # what was known of it is
    enter(t, "open %s" % GO)
    t.wait(r"^cairn +gocart\.dump  4/4")
    t.keys("9")
    t.wait(r"gocart\.dump .* current")
    leave(t)


@case("an archive of several dumps: the same list; Enter opens one, Esc is back in it, tags compare", BOTH)
def archive(t):
    if b"without libarchive" in subprocess.run([CAIRN, "--version"], capture_output=True, check=True).stdout:
        return
    t.line("cd '%s'" % t.home)
    with zipfile.ZipFile(os.path.join(t.home, "hours.zip"), "w", zipfile.ZIP_DEFLATED) as z:
        for path in SERIES:
            z.write(path, "dumps/" + os.path.basename(path))
        z.writestr("notes.txt", "hello\n")
    t.line('"$CAIRN" hours.zip')
    t.wait(r"^7 growth +8 trend +9 dumps")
    t.wait(r"^cairn +hours\.zip +.*3 dumps")
    wait_selected(t, r" dumps/shop\.hprof +HPROF +.* not read")
    need(not any("notes" in line for line in t.screen()), "files that are no dumps are left out", t)
    t.keys("Down", "Enter")
    wait_selected(t, r"byte\[\] +1,0\d\d ")
    t.wait(r"^cairn .*shop-2\.hprof +2/3")
    t.keys("Escape")
    wait_selected(t, r" dumps/shop-2\.hprof +HPROF .* \d+K .* \d+K +current")
    t.keys("T", "T")
    t.wait(r"^2 dumps are tagged: 7 growth, 8 trend")
    t.keys("7")
    wait_selected(t, r" 20→40 ▅█")
    t.keys("Escape", "q")
    t.wait("^READY>")


@case("an archive that is cut: the list says so in its note, in 80 columns")
def cut_archive(t):
    if b"without libarchive" in subprocess.run([CAIRN, "--version"], capture_output=True, check=True).stdout:
        return
    t.line("cd '%s'" % t.home)
    whole = os.path.join(t.home, "whole.zip")
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as z:
        for path in SERIES:
            z.write(path, os.path.basename(path))
        z.writestr("notes.txt", "hello\n")
    with open(whole, "rb") as f, open(os.path.join(t.home, "cut.zip"), "wb") as to:
        to.write(f.read()[:-40000])
    t.line('"$CAIRN" cut.zip')
    t.wait(r"^truncated at byte %d, and the rest is missing; " % (os.path.getsize(whole) - 40000))
    t.keys("q")
    t.wait("^READY>")


@case("cairn alone: the dumps of the current directory with causes; Enter opens one, Left and q are back in the list", BOTH)
def alone(t):
    os.mkdir(os.path.join(t.home, "d"))
    shutil.copy(SHOP, os.path.join(t.home, "d", "java_pid7.hprof"))
    t.line('cd "$HOME/d"; "$CAIRN"; echo "status $?"')
    t.wait(r"^cairn +\S*/d +1 dump ")
    t.wait(r"^9 dumps ")  # a list, even of one
    wait_selected(t, r"^> .*java_pid7\.hprof +HPROF +.* \d+K .* ~OutOfMemoryError")
    t.keys("Enter")
    wait_selected(t, r"byte\[\] +1,106 ")
    t.keys("Left")
    wait_selected(t, r"java_pid7\.hprof +HPROF .* current")
    t.keys("Enter", "2")
    t.wait(r"^> .*static Shop\.INSTANCE  ")
    t.keys("q", "q")
    wait_selected(t, r"java_pid7\.hprof +HPROF .* current")
    t.keys("q")
    t.wait("^status 0$")


@case("cairn alone where no dump is: what to do; q quits, open opens one, and the list knows it then", BOTH)
def alone_empty(t):
    os.mkdir(os.path.join(t.home, "none"))
    with open(os.path.join(t.home, "none", "notes.txt"), "w", encoding="utf-8") as f:
        f.write("hello\n")
    t.line('cd "$HOME/none"; "$CAIRN"; echo "status $?"')
    t.wait(r"^ *no dump is in this directory \(1 other file\)")
    for what in (":open FILE", "cairn FILE", "cairn DIRECTORY", "cairn --help"):
        need(any(line.strip().startswith(what) for line in t.screen()), what, t)
    t.keys("Down", "Enter", "1")
    t.wait(r"^no dump is open \(open FILE opens one\)")
    t.keys("q")
    t.wait("^status 0$")
    t.line('clear; "$CAIRN"; echo "status $?"')
    t.wait(r"^ *no dump is in ")
    enter(t, "open '%s'" % SHOP)
    wait_selected(t, r"byte\[\] +1,106 ")
    t.keys("q")
    wait_selected(t, r"shop\.hprof +HPROF .* current")
    t.keys("q")
    t.wait("^status 0$")


@case("cairn alone, its output through a pipe: no screen, but its usage")
def alone_piped(t):
    t.line('"$CAIRN" | cat; echo "status ${PIPESTATUS[0]}"')
    t.wait(r"^cairn: usage: cairn \[OPTION\]\.\.\. DUMP")
    t.wait("^status 2$")
