# SPDX-License-Identifier: GPL-3.0-or-later
"""The mouse."""

import os
import signal

from cairntest import SHOP
from tmux import PROMPT
from tui import BOTH, case, click, enter, leave, mouse, need, place_of, settled, start, wait_selected


@case("the mouse: rows, headers, main pages, steps, keys of the last line, the wheel over a side", BOTH)
def mouse_clicks(t):
    start(t, dump=SHOP)
    t.wait(r"^> byte\[\] .*1,106")
    if t.width >= 200:
        click(t, 4, 6)  # a pane: no row
        t.keys("v")
        t.wait("no panes")
        t.wait(r"^> byte\[\] .*1,106")
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
    t.wait(r"class v +filter: HashMap\*Node +1/\d")
    wait_selected(t, r"HashMap\$Node")
    t.keys("Enter")
    t.wait(r"^filter:", gone=True)
    click(t, 4, 4)  # the row that is selected: its objects
    t.wait(r"^histogram > java\.util\.\S+Node")
    click(t, *place_of(t, "histogram"))
    t.wait(r"class v +filter: HashMap\*Node +1/\d")
    enter(t, "x com.acme.shop.Status.NEW")
    t.wait(r"REFERRERS \(")
    x, y = place_of(t, "REFERRERS (")
    fourth = settled(t)[y + 3][x - 1:x + 20]
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
        t.line('"$CAIRN" %s' % SHOP)
        t.wait(r"^(?:0 (?:overview )? ?)?1 histogram")
        t.type(report)
        t.resize(90, 20)
        t.wait(lambda lines: len(lines) <= 20 and any(line.endswith(("quit", "back")) for line in lines[18:]))
        os.kill(t.pid_of("cairn"), signal.SIGTERM)
        t.wait("^" + PROMPT)
        t.resize(80, 24)
        t.line("clear")
    need(t.stty() == before, "stty differs", t)
    need(t.modes().split()[2] == "0", "the mouse is on", t)


@case("the mouse: the hint of ? opens the box of keys, a click in it acts on what was found, one beside it closes it")
def mouse_key_box(t):
    start(t, dump=SHOP)
    t.wait(r"\? help")
    click(t, *place_of(t, "help"))
    t.wait("Keys: histogram")
    click(t, 2, 1)
    t.wait("Keys: histogram", gone=True)
    t.wait(r"^> byte\[\] .*1,106")
    t.keys("?")
    t.type("reverse")
    t.wait(r">r, S +reverse the order")
    click(t, *place_of(t, "reverse the order"))
    t.wait(r"shallow \^")
    leave(t)


@case("the mouse is on where Shift selects text; the first click says so, once; --no-mouse and mouse = off leave it alone")
def mouse_default(t):
    start(t, dump=SHOP)
    need(t.modes().split()[2] == "1", "the mouse is off", t)
    click(t, *place_of(t, "java.math.BigDecimal"))
    t.wait(r"^a click acts here; hold Shift to select text")
    t.keys("Down")
    t.wait(r"^a click acts here", gone=True)
    click(t, *place_of(t, "java.math.BigDecimal"))
    wait_selected(t, r"BigDecimal")
    need("hold Shift" not in t.text(), "said twice", t)
    leave(t)
    need(t.modes().split()[2] == "0", "the mouse stays on", t)
    start(t, dump=SHOP, options="--no-mouse")
    need(t.modes().split()[2] == "0", "--no-mouse", t)
    leave(t)
    os.makedirs(os.path.join(t.home, "conf", "cairn"))
    with open(os.path.join(t.home, "conf", "cairn", "config"), "w") as f:
        f.write("mouse = off\n")
    t.line('clear; XDG_CONFIG_HOME="$HOME/conf" "$CAIRN" \'%s\'' % SHOP)
    t.wait(r"^> byte\[\]")
    need(t.modes().split()[2] == "0", "mouse = off", t)
    leave(t)
