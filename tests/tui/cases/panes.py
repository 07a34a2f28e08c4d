# SPDX-License-Identifier: GPL-3.0-or-later
"""The panes beside a list."""

import re

from cairntest import SHOP
from tui import BOTH, case, leave, need, selected, start


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
