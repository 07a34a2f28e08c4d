# SPDX-License-Identifier: GPL-3.0-or-later
"""Older dumps beside the one that is browsed."""

import os
import re
import shutil
import subprocess

from cairntest import CAIRN, MKDUMP, SERIES, SHOP
from tmux import PROMPT
from tui import BOTH, case, enter, leave, need, said, selected, wait_selected

ENTRIES = r"(?:\S*AuditLog|static A).*(?:ENTRIES|S > elementData)"


def open_series(t):
    t.line('"$CAIRN" ' + " ".join("'%s'" % dump for dump in SERIES))
    t.wait(r"^> byte\[\] +1,106 ")


@case("growth: what rose, in sentences; a row opens its objects, keys are about them", BOTH)
def growth(t):
    open_series(t)
    enter(t, "growth")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram > growth")
    wait_selected(t, ENTRIES + r" .*20→40→60 ▃▆█")  # however narrow, what it hangs on and the figures
    t.wait(r"rose from 20 to 40 to")
    t.keys("Enter")
    t.wait(r"growth > histogram of com\.acme\.shop\.AuditLog\.ENTRIES")
    wait_selected(t, r"com\.acme\.shop\.Session +60 ")
    t.keys("Enter")
    t.wait(r"^> 0xe00200a8 ")
    t.keys("Escape", "Escape")
    wait_selected(t, ENTRIES)
    t.keys("c")
    t.wait(r"> growth > cut com\.acme\.shop\.AuditLog\.ENTRIES")
    t.wait(r"set 60 ")
    t.keys("Escape", "Down")
    wait_selected(t, r'thread "http-#" .*1→2→3 ')
    t.keys("p")
    t.wait(r'> growth > paths to thread "http-#"')
    t.wait(r"com\.acme\.shop\.Worker +3 ")
    t.keys("Escape", "d")
    t.wait(r'> growth > holders of thread "http-#"')
    leave(t)


@case("growth of four dumps: a narrow window has the first and the last number, a wide one all; each dump has its block", BOTH)
def course_of_four(t):
    t.line('"$CAIRN" ' + " ".join("'%s'" % dump for dump in SERIES[:1] + SERIES))
    t.wait(r"^> byte\[\] +1,106 ")
    t.keys("7")
    wait_selected(t, ENTRIES + (r" .*20→…→60 ▃▃▆█" if t.width < 100 else r" .*20→20→40→60 ▃▃▆█"))
    leave(t)


@case("7 to 9: with older dumps three main pages more, each where it was left", BOTH)
def tabs(t):
    open_series(t)
    t.wait(r"^(?:0 (?:overview )? ?)?1 histogram .*7 growth +8 trend +9(?: dumps)? ")
    t.wait(r"^2 older dumps: press 7 for growth")
    t.keys("7")
    wait_selected(t, ENTRIES + r" .*20→40→60 ▃▆█")
    t.keys("Enter")
    t.wait(r"^growth > histogram of com\.acme\.shop\.AuditLog\.ENTRIES")
    t.keys("8")
    wait_selected(t, r"(\S*AuditLog\.)?ENTRIES.*elementData\[\] .*▃▆█")
    t.keys("9")
    t.wait(r"^> +1 +.*shop-1\.hprof ")
    t.wait(lambda lines: not any("│" in line for line in lines))  # a dump's row has no pane
    t.keys("7")  # where it was left
    t.wait(r"^growth > histogram of com\.acme\.shop\.AuditLog\.ENTRIES")
    t.keys("Escape", "Escape")
    t.wait(r"^> byte\[\] +1,106 ")
    leave(t)


@case("an older dump that is not there is named once the newest is loaded; growth leaves out what was read in part")
def left_out(t):
    t.line('"$CAIRN" nope.hprof \'%s\'' % SHOP)
    t.wait(r"^1 older dump: press 7 for growth; nope\.hprof cannot be opened: ")
    leave(t)
    with open(SERIES[1], "rb") as whole, open(t.home + "/cut.hprof", "wb") as cut:
        cut.write(whole.read()[:150000])
    t.line('"$CAIRN" \'%s\' "$HOME/cut.hprof" \'%s\'' % (SERIES[0], SHOP))
    t.wait(r"^2 older dumps: press 7 for growth *$")
    t.keys("7")
    wait_selected(t, ENTRIES + r" .*20→60 ▃█")
    t.wait(r"^left out: cut\.hprof was read in part; com\.acme")
    t.keys("w")
    t.wait(said("with two dumps a leak"))
    leave(t)


@case("7 to 9: with one dump they say what is missing; in a narrow window 7 is there longest", ((40, 24),))
def tabs_missing(t):
    t.line('"$CAIRN" \'%s\'' % SHOP)
    t.wait(r"^(?:0 (?:overview )? ?)?1 histogram 2 3 4 5 6 ")
    need("7" not in t.screen()[1], "there is nothing to compare", t)
    t.keys("8")
    t.wait(r"^only one dump is open \(cairn OLD\.\.\. DUMP")
    leave(t)
    open_series(t)
    t.wait(r"^(?:0 (?:overview )? ?)?1 histogram 7 growth  ")
    leave(t)


@case("the box of keys and the page of help name the main pages that there are", BOTH)
def pages_that_are(t):
    t.line('"$CAIRN" \'%s\'' % SHOP)
    t.wait(r"^> byte\[\] +1,106 ")
    t.keys("?")
    t.wait(r" 0 to 6 main pages")
    t.keys("?")
    t.wait(r"^ *Keys on this page")
    t.wait(r" 0 to 6 main pages")
    t.keys("q")
    leave(t)
    open_series(t)
    t.keys("?")
    t.wait(r" 0 to 9 main pages")
    t.keys("Escape")
    leave(t)


@case("--start growth: the first page, and the histogram where nothing older is named")
def start_growth(t):
    t.line('"$CAIRN" --start growth ' + " ".join("'%s'" % dump for dump in SERIES))
    wait_selected(t, ENTRIES + r" .*20→40→60 ▃▆█")
    leave(t)
    t.line('"$CAIRN" --start growth \'%s\'' % SHOP)
    t.wait(r"^> byte\[\] +1,106 ")
    leave(t)


@case("diff: rows by the way to their objects, cut in the middle where they are too long", BOTH)
def diff(t):
    open_series(t)
    enter(t, "diff -grew")
    wait_selected(t, r"^> \S.*elementData\[\] +\S*Session .*\+53\.1K .*20→40→60 ▃▆█")
    t.keys("Enter")
    t.wait(r"histogram of static ")
    wait_selected(t, r"com\.acme\.shop\.Session +60 ")
    t.keys("Escape")
    wait_selected(t, r"^> \S.*elementData\[\]")
    enter(t, "dumps")
    t.wait(r"^> +1  .*shop-1\.hprof ")
    need("3" in t.screen()[1], "how many dumps there are", t)
    leave(t)


def open_profiles(t, dumps=SERIES):
    """Profiles of these dumps, and nothing else."""
    for i, dump in enumerate(dumps):
        subprocess.run([CAIRN, "-x", "profile %s/%d.profile" % (t.home, i + 1), dump], check=True, capture_output=True)
    t.line("cd " + t.home)  # names that do not fill the message, however long the folder's is
    t.line('"$CAIRN" ?.profile')
    t.wait(r"trend +9 dumps ")


@case("profiles alone: trend comes first, of the main pages those that compare; nothing asks about objects", BOTH)
def profiles(t):
    open_profiles(t)
    wait_selected(t, r"\S.*elementData\[\] .*▃▆█")
    need(t.screen()[1].startswith("7 growth"), "those about objects are not there", t)
    need(re.search(r"3 profiles · 2026-11-21$", t.screen()[0]), "how many there are, and of when", t)
    for key, what in (("1", "no dump is open, only profiles"), ("p", "p asks about objects"), ("i", "info: no dump is open")):
        t.keys(key)
        t.wait("^" + what)
    t.type("fcustomer > email")
    t.keys("Enter")
    t.wait(r"^ +\d+ \(\d+\) paths")
    t.keys("F", ">")
    t.wait(r"path \^ ")
    t.keys("m", "a", "7")
    wait_selected(t, ENTRIES + r" .*20→40→60 ▃▆█")
    t.keys("w")
    t.wait(r"(exact|lower bound)")
    t.keys("W")
    t.wait(r"growth > columns")
    t.keys("W", "Escape", "'", "a")
    t.wait(r"path \^ ")
    enter(t, "save out.csv")
    t.wait(r"wrote \d+ rows of .* to out\.csv")
    t.keys("q")  # the first page of the first tab
    t.wait("^" + PROMPT)


@case("trend: Enter shows a row dump by dump, from a profile or with a dump at hand; then its objects", BOTH)
def course(t):
    open_profiles(t)
    t.type("/ENTRIES > elementData[] > v")
    t.keys("Enter", "Enter")
    t.wait(r"path-history of static.*viewState")
    wait_selected(t, r"^> +1 +2026-11-21T08:15:00Z +20 ")  # which it is stays on narrow screens
    t.keys("Enter")
    t.wait(r"dump 1 is a profile without objects")
    t.wait(r"^  .*2026-11-21T10:15:00Z +60 .* ████████████████ ")
    t.keys("7")
    wait_selected(t, ENTRIES)
    t.keys("Enter")
    t.wait(r"^(growth > )?path-history of static.*ENTRIES")
    enter(t, "diff -by class")
    t.wait(r"growth by class")
    t.keys("Enter")
    t.wait(r"growth by class > path-history of ")
    leave(t)
    open_series(t)
    enter(t, "trend -by class | grep shop.Session")
    wait_selected(t, r"com\.acme\.shop\.Session ")
    t.keys("Enter")
    t.wait(r"> path-history of com\.acme\.shop\.Session")
    wait_selected(t, r"T08:15:00Z +50 ")
    t.wait("│", gone=True, panes=True)  # no pane stands beside it
    t.keys("G")
    wait_selected(t, r"T10:15:00Z +100 ")
    t.keys("Enter")
    t.wait(r" > histogram of 2026-11-21T10:15:00Z")
    wait_selected(t, r"com\.acme\.shop\.Session +100 ")
    leave(t)


@case("trend: where several dumps share a column of the plot it shows the most of them, and says so; in ASCII, too")
def many_profiles(t):
    names = []
    for i, dump in enumerate(SERIES[:2] + [SHOP]):
        names.append("%s/%d" % (t.home, i))
        subprocess.run([CAIRN, "-x", "profile " + names[-1], dump], check=True, capture_output=True)
    copies = [name + "-%02d" % i for name in names for i in range(33)]
    for copy in copies:
        shutil.copy(copy[:-3], copy)
    t.line('"$CAIRN" ' + " ".join(copies))
    wait_selected(t, r" ▃{4,}▆{4,}█{4,} ")
    t.wait(r"^with 99 dumps a column of the plot may show the maximum")
    need("99 profiles" in t.screen()[0], "how many", t)
    leave(t)
    t.line('"$CAIRN" --ascii ' + " ".join(names))
    wait_selected(t, r" 368 ")
    t.keys("Enter")
    t.wait(r"^  .* ################ ")
    leave(t)


@case("one profile alone: its paths by what they retain, and nothing to compare")
def one_profile(t):
    open_profiles(t, SERIES[2:])
    t.wait(r"^8 trend  9 dumps ")
    t.keys("7")
    t.wait(r"^only one profile is open \(cairn OLD")
    t.keys("9")
    t.wait(r"^> +1 .*1\.profile")
    leave(t)


@case("a profile that is cut, and nothing else: that is said, and it ends")
def cut_profile(t):
    subprocess.run([CAIRN, "-x", "profile %s/whole" % t.home, SHOP], check=True, capture_output=True)
    with open(t.home + "/whole", "rb") as whole, open(t.home + "/cut.profile", "wb") as cut:
        cut.write(whole.read()[:5000])
    t.line('"$CAIRN" "$HOME/cut.profile"; echo "status $?"')
    t.wait(said(r"cut\.profile: "))
    t.wait(r"^status 3$")


@case("older dumps are read beside the screen: ^C stops that, and what is there stays")
def read_beside(t):
    big = os.path.join(t.home, "big.phd")
    subprocess.run([MKDUMP, "bench", "--objects", "3000000", "--phd", big], check=True)
    t.line('"$CAIRN" -t 1 "$HOME/big.phd" "%s"' % SHOP)
    t.wait(r"^> byte\[\] +1,106 ")  # without waiting for the older one
    enter(t, "growth")
    t.wait(r"^growth(, \d+ s)?: .*\^C stops it")
    t.keys("Down")
    t.wait(r"^> java\.lang\.String ")
    t.keys("C-c")
    t.wait(r"^growth: stopped")
    need(selected(t).startswith("> java.lang.String "), "what was there stays", t)
    leave(t)
