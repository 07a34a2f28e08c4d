# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds of terminals, and how each is left."""

import os
import re
import signal
import time

from cairntest import SAMPLE, SHOP
from tmux import PROMPT
from tui import BOTH, case, enter, leave, need, start, wait_selected


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
    t.wait(r"^\[1\]\+ +Stopped (?s:.*)\n" + PROMPT)
    need(t.modes() == modes, "modes %s, were %s" % (t.modes(), modes), t)
    need(t.stty() == before, "stty differs while stopped", t)
    t.line("fg")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram")
    wait_selected(t, r"char\[\]")
    t.keys("Down")
    wait_selected(t, r"java\.lang\.String ")
    leave(t)
    need(t.stty() == before, "stty differs", t)


@case("resized while stopped: the new size is used")
def suspend_resize(t):
    start(t)
    t.keys("C-z")
    t.wait(r"^\[1\]\+ +Stopped (?s:.*)\n" + PROMPT)
    t.resize(60, 15)
    t.line("fg")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram")
    t.wait(lambda lines: len(lines) <= 15 and all(len(line) <= 60 for line in lines))
    leave(t)


@case("TERM=dumb: says so, and a prompt edits, completes, is interrupted, stops and ends", env={"TERM": "dumb"})
def dumb(t):
    before = t.stty()
    t.line('"$CAIRN" \'%s\'; echo "status $?"' % SHOP)
    t.wait(r"dumb.*cannot move its cursor: using the plain prompt")
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
    t.wait(r'^cairn: unknown command "frobnicate"')
    t.type("quit")
    t.keys("C-c")  # the line is given up, and not the program
    t.wait(r"^cairn> quit\^C")
    t.type("histo | !echo begun; exec sleep 600")  # a shell that is about to fork would wait for what no key stops
    t.keys("Enter")
    t.wait(r"^begun$")
    t.keys("C-c")
    t.wait(r"sleep 600: the command ended by signal 2")
    t.keys("C-z")
    t.wait(r"^status 148\n" + PROMPT)
    t.line("fg")
    t.type("histo | head 1")
    t.keys("Enter")
    t.wait(r"^byte\[\] +1,106")
    t.keys("Up", "Enter")
    t.wait(lambda lines: sum(line.startswith("byte[] ") for line in lines) >= 2)
    t.keys("C-d")
    t.wait(PROMPT + r"\s*\Z")
    t.line('echo "ended $?"')
    t.wait("^ended 0")
    need(t.stty() == before, "stty differs", t)
    t.line("grep -c '^histo | head 1$' \"$HOME/cairn/history\"")  # the screen's prompt has it, too
    t.wait(r"^2$")


@case("an unknown TERM is taken for the nearest that is known, and that is said", env={"TERM": "xterm-no-such"})
def unknown_term(t):
    start(t)
    wait_selected(t, r"byte\[\]")
    t.keys("Down")
    wait_selected(t, r"char\[\]")
    need(re.search(r"\033\[[0-9;]*3[0-8]", "\n".join(t.screen(escapes=True))), "no color", t)
    leave(t)
    t.wait(r'unknown terminal type "xterm-no-such"; treated as xterm-256color')


@case("a TERM that is none is said, and there is a prompt, too", env={"TERM": "no such/terminal"})
def no_term(t):
    t.line('"$CAIRN" \'%s\'; echo "status $?"' % SAMPLE)
    t.wait(r"unknown terminal type .no such/terminal.")
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


@case("a dump that cannot be read: one sentence, the terminal as it was")
def unreadable(t):
    before = t.stty()
    t.line('cd; echo no dump >x.phd; clear; "$CAIRN" x.phd; echo "status $?"')
    t.wait(r"cairn: .*x\.phd")
    t.wait(r"status 3")
    need(t.stty() == before, "stty differs", t)


@case("a terminal with one screen only: the shell goes on in an empty line", env={"TERM": "vt220"})
def one_screen(t):
    start(t)
    leave(t)
    need(not re.search("quit|filter", t.screen()[-1]), "the prompt stands among the hints", t)


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
    t.wait(r"Keys: histogram")
    t.keys("F1")
    t.wait(r"^histogram > help")
    t.keys("q", "F4")
    t.wait(r"^filter:")
    t.keys("C-c", "F10")
    t.wait("^" + PROMPT)


def whole_tour(t):
    """The main pages, a list, an object, help, the prompt, a filter: each is there, nothing is beyond the screen."""
    narrow = t.width < 80

    def shows(what):
        lines = t.wait(what)
        need(all(len(line) <= t.width for line in lines) and len(lines) <= t.height, "beyond the screen", t)

    before, modes = t.stty(), t.modes()
    start(t, dump=SHOP)
    shows(r"^> byte\[\] ")
    for key, what in (("2", r"^> .*static Shop\.INSTANCE  "), ("3", r"^> 1 +\S*Shop\.INSTANCE "), ("4", r"^> +(0  )?main "),
                      ("5", r"^> . <primitive>"), ("6", r"^ +format +hprof")):
        t.keys(key)
        shows(what)
        need(narrow or t.width > 100 or "5 packages" in t.screen()[1], "the main pages", t)
    t.keys("1")
    enter(t, "ls com.acme.shop.Order")
    shows(r"^> 0xe0011028 ")
    t.keys("Down", "Enter")
    shows(r"^> (com\.acme\.shop\.|c\.a\.s\.)?Order  ")
    t.keys("Tab", "Tab", "q")
    t.wait("^> 0xe0011170 ")
    t.keys("s", "r", "End", "Home", "NPage", "PPage")
    t.keys("f")
    t.type("0xe0011170")
    t.keys("Enter")
    shows(r" filter: 0xe0011170 +1/1$")
    t.keys("F", "W")
    shows(r"^> address +yes ")
    t.keys("q", "?")
    shows(r"lines 1-|Keys: ")
    t.keys("?")
    shows(r"lines 1-")
    t.keys("q")
    enter(t, "path 0xe00200a8")
    shows(r"^  (step +)?field  ")
    t.keys("C-l")
    t.type(":frobnicate")
    t.keys("Enter")
    shows(r"frobnicate")
    t.keys("C-c")
    leave(t)
    need(t.modes() == modes, "modes %s, were %s" % (t.modes(), modes), t)
    need(t.stty() == before, "stty differs", t)


for term in ("xterm-256color", "screen", "linux", "vt100"):
    case("the whole tour on TERM=" + term, ((80, 24), (200, 50), (40, 10)), {"TERM": term})(whole_tour)


@case("a key writes no more to the terminal than it used to: a row 250 bytes, a page 1,700")
def bytes_of_keys(t):
    log = os.path.join(t.home, "log")
    start(t, dump=SHOP)
    t.wait(r"% +91\.4K$")  # nothing fills in any more
    t.tmux("pipe-pane", "cat >>'%s'" % log)
    t.keys("Down")
    t.wait(r" 2/43$")

    def written(key, expected):
        before = os.path.getsize(log)
        t.keys(key)
        t.wait(expected)
        return before

    def settled():
        """cat writes what it reads at once, but beside us."""
        size = -1
        while size != os.path.getsize(log):
            size = os.path.getsize(log)
            time.sleep(0.05)
        return size

    first = settled()
    for row in range(3, 13):
        written("Down", r" %d/43$" % row)
    line = (settled() - first) / 10
    first = settled()
    written("NPage", r" 3\d/43$")
    page = settled() - first
    need(0 < line <= 250, "%d bytes a row" % line, t)
    need(0 < page <= 1700, "%d bytes a page" % page, t)
    leave(t)


@case("a dump through a pipe: keys come from the terminal, a prompt edits, ^Z and fg work, the terminal is put back")
def piped(t):
    before, modes = t.stty(), t.modes()
    t.line('cat \'%s\' | "$CAIRN" -' % SHOP)
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram")
    t.wait("standard input")
    t.keys("Down")
    wait_selected(t, r"java\.lang\.String ")
    enter(t, "size *")
    t.wait("^ *objects +4,861")
    t.keys("C-z")
    t.wait(r"^\[1\]\+ +Stopped (?s:.*)\n" + PROMPT)
    t.line("fg")
    t.wait("^ *objects +4,861")
    t.keys("Q")
    t.wait("^" + PROMPT)
    need(t.modes() == modes, "modes %s, were %s" % (t.modes(), modes), t)
    need(t.stty() == before, "stty differs", t)


@case("^C leaves the rest of a pipe, and what came is shown")
def piped_in_part(t):
    before = t.stty()
    t.line('(head -c 100000 \'%s\'; sleep 4) | "$CAIRN" -' % SHOP)
    t.wait(r"reading the pipe 97\.7K")
    t.keys("C-c")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram")
    t.wait("the pipe at byte 100000")
    t.keys("Q")
    t.wait("^" + PROMPT)
    need(t.stty() == before, "stty differs", t)
