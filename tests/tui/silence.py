#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing leaves the screen silent: each command, and what arranges many rows, on a crowded dump.

While the screen says that it works, a key that moves is pressed over and over.  Measured are the time until
something is seen (the answer, or that it works), the longest time in which nothing was drawn while it worked,
the longest that such a key waited, and with -v how long ^C took.

    silence.py [-v] [WORD]     only the lines that hold WORD; -v prints all figures

CAIRN_CROWD: objects of the dump (250000); with 5000000 it is what doc/performance.md tells of.
"""

import os
import re
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib")]
import commands  # noqa: E402
from cairntest import BUILD, Tap  # noqa: E402
from crowd import crowd  # noqa: E402
from vt52 import Screen  # noqa: E402

OBJECTS = int(os.environ.get("CAIRN_CROWD", "250000"))
# Seconds.  A machine that is busy with other tests may take that long to run us at all.
BOUND = float(os.environ.get("CAIRN_SILENCE_BOUND", "1.5"))
WORKS = re.compile(r"; (\^C stops it|stopping)")
LONGEST = max(20, OBJECTS / 20000)
LAST = "0x10000000"  # the list that holds all

# From the histogram; of each command what may take long.
LINES = [
    "info", "histo *", "histo -live", "histo -by package", "ls *", "ls * -sort address -r", "ls * | grep Box",
    "ls * | sort -class", "$all = ls *", "ls java.lang.String -sort value", "x " + LAST, "entries " + LAST, "find city",
    "find -hash 1234", "strings", "strings city", "strings -sort shallow -r", "waste", "dups", "props", "threads", "bt 1",
    "sites", "collections", "references", "references -only", "finalizers", "threadlocals", "threadlocals -by class", "offheap",
    "loaders", "duplicate-classes", "tree", "tree -by package", "ls *; why", "refs " + LAST, "roots",
    "path #100", "paths *", "about " + LAST, "heap", "heap -each", "dom", "dom -by class", "holders *", "top", "top -by class",
    "size *", "cut *", "cut * -each", "cut -plan 1M", "leaks", "check", "check -tree", "ls *; save {folder}/all.csv",
    "ls *; index {folder}/all.cairn", "ls *; redact {folder}/its.hprof",
    "bundle", "ls *; bundle -o {folder}/away",
    "help", "apropos class", "alias", "history", "sets -retained", "set", "source {folder}/script",
]


def others():
    """Commands that have no line above, as they are; quit would end it."""
    driven = {part.split()[0] for line in LINES for part in line.split("; ")} | {"quit"}
    return [name for name in commands.table() if name not in driven]


# On the page of all objects, one after the other; what is there then.
ACTIONS = [
    ("s", r"   \S+ [v^]   "), ("s", r"   \S+ [v^]   "), ("r", r"   \S+ [v^]   "), ("fBox\r", r"filter: Box"),
    ("s", r"filter: Box"), ("F", r"^histogram > \*(?!.*filter).*/[\d,]+$"), ("/nobody has this\r", "no row matches"),
    ("/ava.lang.Object\r", "no row matches|Object"), ("n", "no other row|no row"), ("G", r" ([\d,]+)/\1$"), ("w", "are inferred: |sure"),
]


class Silence(AssertionError):
    pass


class Measured:
    def __init__(self, name):
        self.name, self.first, self.silent, self.waited, self.total = name, None, 0.0, 0.0, 0.0
        self.answered, self.stopped = 0, None

    def row(self):
        def ms(value):
            return "%8.0f" % (value * 1000) if value is not None else "       -"
        return "%-40s %s %s %s %5d %s %s" % (self.name[:40], ms(self.total), ms(self.first), ms(self.silent), self.answered,
                                             ms(self.waited), ms(self.stopped))


def position(text):
    return re.search(r"\S+/[\d,]+( so far)?$|$", text.split("\n")[1]).group().split("/")[0]


def press(screen, name, keys, done):
    """Press the keys and wait until done(text) is true and nothing works."""
    m = Measured(name)
    began = last = time.monotonic()
    before, at, pressed, down, there, worked = screen.text(), None, None, True, False, False
    screen.type(keys)
    while True:
        drawn = screen.take(0.01)
        now, text = time.monotonic(), screen.text()
        if drawn:
            m.silent = max(m.silent, now - last)
            last = now
        works = WORKS.search(text) or text.split("\n")[1].endswith(" so far")
        if m.first is None and drawn and text != before:
            m.first = now - began
        if pressed and position(text) != at:
            m.waited, pressed = max(m.waited, now - pressed), None
            m.answered += 1
        there = there or (not works and not drawn and done(text))  # the whole picture is there
        worked = worked or bool(works)
        if worked and not works and now - last > 0.2:  # a key may have taken its message away
            there, pressed = True, None
        if there and not works and not pressed:
            m.total = last - began
            return m
        if works and not pressed:
            at, pressed = position(text), now
            screen.type("j" if down else "k")
            down = not down
        if now - began > LONGEST or screen.process.poll() is not None:
            raise Silence("%s: never answered; the screen:\n%s" % (name, text))


def settle(screen):
    while screen.take(0.05):
        pass


def home(screen):
    if screen.lines()[-2].startswith(":"):  # a line that failed stands there
        screen.type("\x03")
        settle(screen)
    screen.type("1g")
    screen.until(lambda text: text.split("\n")[1].startswith("0 overview  1 histogram"))
    settle(screen)


def pushed(line):
    word = line.split()[0]

    def done(text):
        lines = text.split("\n")
        answered = not lines[1].startswith("0 overview  1 histogram") and not lines[-2].startswith(":")
        return answered or any(re.match(" *(" + re.escape(word) + ": |no dump is tagged)", end) for end in lines[2:])
    return done


def run(screen, line, folder):
    home(screen)
    *first, line = line.replace("{folder}", folder).split("; ")
    for other in first:
        press(screen, other, ":" + other + "\r", pushed(other))
        settle(screen)
    last = screen.lines()[1]
    done = pushed(line)
    return press(screen, line, ":" + line + "\r", lambda text: done(text) and (not first or text.split("\n")[1] != last or
                                                                               re.search(r"done$|wrote the index|is a copy of this dump|are in it$", text, re.M)))


def stop(screen, line, folder, m):
    """How long ^C takes at about the middle."""
    home(screen)
    screen.type(":" + line.replace("{folder}", folder) + "\r")
    end = time.monotonic() + m.total / 2
    while time.monotonic() < end or (not WORKS.search(screen.text()) and time.monotonic() < end + 1):
        screen.take(0.01)
    if not WORKS.search(screen.text()):
        return
    began = time.monotonic()
    screen.type("\x03")
    screen.until(lambda text: not WORKS.search(text))
    m.stopped = time.monotonic() - began


def catch(screen, before, keys, seen):
    """Press keys and see that it works.  Where the machine lets us look too late, the answer is there: once more."""
    for _ in range(5):
        before()
        settle(screen)
        screen.type(keys)
        try:
            screen.until(seen, 5)
            return
        except AssertionError as e:
            late = e
    raise late


def stops_that_alone(tap, screen, folder):
    """^C and Esc stop what works, leave what is shown as it is, and mean nothing else."""
    run(screen, "ls *", folder)
    settle(screen)
    place = screen.lines()[1]
    catch(screen, lambda: run(screen, "ls *", folder), "fBox\r", WORKS.search)
    screen.type("\x03")
    screen.until(lambda text: not WORKS.search(text))
    settle(screen)
    tap.equal((screen.lines()[1], screen.lines()[-2]), (place, "stopped"), "^C: the filter is stopped, all rows are shown")
    left = []
    for share in (0, 50, 90):
        late = []  # the answer was there before Esc was heard: then it goes back
        catch(screen, lambda: screen.type("F"), "fEntry\r", WORKS.search)
        screen.until(lambda text: not WORKS.search(text) or int((re.search(r"(\d+)%;", text) or [0, 0])[1]) >= share)
        if WORKS.search(screen.text()):
            screen.type("\x1b")
        screen.until(lambda text: not WORKS.search(text) and (late.append("filter: Entry" in text) or True))
        settle(screen)
        if not screen.lines()[1].startswith("histogram > *"):
            left += [] if any(late) else [screen.text()]
            run(screen, "ls *", folder)
        settle(screen)
        screen.type("F")
        settle(screen)
    tap.none(left, 3, "Esc: the view is still there")


def place(screen):
    """The number of the row that is selected, and the row."""
    found = re.search(r" ([\d,]+)/[\d,]+(?: so far)?$", screen.lines()[1])
    row = next((line for line in screen.lines() if line.startswith(">")), "")
    return found and found[1], row.split()[1:3]  # beside a pane there may be fewer columns


def rows_appear(tap, screen, folder, before, keys, name):
    """Rows are there as they are found, one may go on to others, and the last page has the same one selected."""
    def look():
        catch(screen, lambda: run(screen, before, folder), keys,
              lambda text: re.search(r"/[\d,]+ so far$", text.split("\n")[1]) and WORKS.search(text))

    def moved():
        screen.type("jj")
        screen.until(lambda text: place(screen)[0] == "3")
        while screen.take(0.02):  # the rest of that picture
            pass
        return place(screen)[1]

    def shown():
        return screen.lines()[1].split("   ")[0], [re.findall(r"0x\w+|[\d,]{2,}|$", line)[0] for line in screen.lines()[3:8]]

    run(screen, before, folder)
    settle(screen)
    old = shown()
    look()
    selected = moved()
    screen.until(lambda text: not WORKS.search(text) and " so far" not in text)
    settle(screen)
    tap.equal(place(screen), ("3", selected), "%s: rows so far, and the row selected stays" % name)
    look()
    moved()
    screen.type("\x03")
    screen.until(lambda text: not WORKS.search(text))
    settle(screen)
    tap.equal(shown(), old, "%s: ^C, and what was shown is shown again" % name)


def check(tap, m):
    worst = max(m.first or 0, m.silent, m.waited)
    tap.ok(worst <= BOUND, "%s: silent for %.0f ms at most, %d keys answered meanwhile" % (m.name, worst * 1000, m.answered),
           m.row())


def main():
    verbose = "-v" in sys.argv
    word = ([a for a in sys.argv[1:] if a != "-v"] + [""])[0]
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="silence.", dir=os.path.join(BUILD, "tests")) as folder:
        dump = os.path.join(folder, "crowd.hprof")
        crowd(dump, OBJECTS)
        with open(os.path.join(folder, "script"), "w") as script:
            script.write("ls *\nhisto *\n")
        screen = Screen(dump, "-t", "2")
        try:
            screen.until(r"1 histogram")
            screen.until(r"> com\.acme\.Entry .*\d\S*$", 300)
            screen.until(lambda text: "retained:" not in text, 300)
            settle(screen)
            rows = []
            for line in LINES + others():
                if word not in line:
                    continue
                m = run(screen, line, folder)
                if verbose and m.total > 0.2 and ";" not in line:
                    stop(screen, line, folder, m)
                rows.append(m)
            if not word:
                run(screen, "ls *", folder)
                settle(screen)
                for keys, done in ACTIONS:
                    rows.append(press(screen, repr(keys), keys, lambda text: re.search(done, text, re.M)))
                    settle(screen)
                stops_that_alone(tap, screen, folder)
                rows_appear(tap, screen, folder, "histo *", ":ls * | grep Box\r", "grep")
                rows_appear(tap, screen, folder, "ls *", "fBox\r", "filter")
                if OBJECTS >= 2000000:  # with fewer the answer is there before
                    rows_appear(tap, screen, folder, "histo *", ":strings [0-9]$\r", "strings")
                    rows_appear(tap, screen, folder, "histo *", ":find ^city\r", "find")
        except (Silence, AssertionError) as e:
            tap.ok(False, "every line is answered", str(e))
            rows = []
        finally:
            screen.close()
    if verbose:
        print("# %-38s %8s %8s %8s %5s %8s %8s ms" % ("", "all", "first", "silent", "keys", "waited", "^C"))
        for m in rows:
            print("# " + m.row())
    for m in rows:
        check(tap, m)
    tap.done()


main()
