# SPDX-License-Identifier: GPL-3.0-or-later
"""Older dumps beside the one that is browsed."""

import os
import subprocess

from cairntest import MKDUMP, SERIES, SHOP
from tui import BOTH, case, enter, leave, need, selected, wait_selected

ENTRIES = r"com\.acme.*ENTRIES"


def open_series(t):
    t.line('"$CAIRN" ' + " ".join("'%s'" % dump for dump in SERIES))
    t.wait(r"^> byte\[\] +1,106 ")


@case("growth: what rose, in sentences; a row opens its objects, keys are about them", BOTH)
def growth(t):
    open_series(t)
    enter(t, "growth")
    t.wait(r"^(?:1 )?histogram > growth")
    wait_selected(t, ENTRIES + r" .* 60 +\+40 ")  # however narrow, what it hangs on and the figures
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
    wait_selected(t, r'thread "http-#" .* 3 +\+2 ')
    t.keys("p")
    t.wait(r'> growth > paths to thread "http-#"')
    t.wait(r"com\.acme\.shop\.Worker +3 ")
    t.keys("Escape", "d")
    t.wait(r'> growth > holders of thread "http-#"')
    leave(t)


@case("diff: rows by the way to their objects, cut in the middle where they are too long", BOTH)
def diff(t):
    open_series(t)
    enter(t, "diff -grew")
    wait_selected(t, r"^> static .*elementData\[\] +com\..*Session .*\+40 ")
    t.keys("Enter")
    wait_selected(t, r"com\.acme\.shop\.Session +60 ")
    t.keys("Escape")
    wait_selected(t, r"^> static .*elementData\[\]")
    enter(t, "dumps")
    t.wait(r"^> +1  .*shop-1\.hprof ")
    need("3" in t.screen()[1], "how many dumps there are", t)
    leave(t)


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
