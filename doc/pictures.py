#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures in README.md, made from the real screen: cairn runs in a terminal, and what stands there
becomes SVG.

    doc/pictures.py DIR          makes them (`make pictures` does, into doc/)

A recording is one picture of several screens, which follow each other every few seconds.

CAIRN_BUILD and CAIRN_SOURCE say where the program and the samples are, as for the tests;
tests/tui/pictures.py holds the pictures in doc/ against the screen.
"""

import html
import os
import re
import sys
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "lib"))
from cairntest import SERIES, SHOP  # noqa: E402
from tmux import PROMPT, Terminal  # noqa: E402

WIDTH, HEIGHT = 8.4, 18  # of a character, in pixels
PALETTE = {None: "#d0d4dc", 0: "#1b1f27", 1: "#f07178", 2: "#a5cf72", 3: "#e6c15c", 4: "#82aaff", 5: "#c792ea",
           6: "#7fd3e0", 7: "#d0d4dc"}
BACKGROUND = "#14171d"

# name, dumps, columns, lines, then (keys, what must stand there before the next ones)
PICTURES = (
    ("overview", [SHOP], 110, 26, ((), r"^ALSO +waste"), (("Down",), r"^> .*ENTRIES")),
    ("heap", [SHOP], 130, 30, ((), r"^ALSO +waste"), (("2",), r"^> .*▸ static Shop"), (("Down", "*"), r"60 × Session")),
    ("object", [SHOP], 110, 26, ((), r"^ALSO +waste"), ((":x com.acme.shop.Shop.INSTANCE", "Enter"), r"WOULD FREE +679")),
    ("leaks", [SHOP], 110, 24, ((), r"^ALSO +waste"), (("3",), r"AuditLog"), (("Down",), r"ENTRIES +80")),
    ("path", [SHOP], 110, 20, ((), r"^ALSO +waste"), ((":path 0xe00200a8", "Enter"), r"static \S*ENTRIES"), (("End",), r"if cut")),
    ("growth", SERIES, 130, 26, ((), r"^ALSO +waste"), ((":growth", "Enter"), r"rose from 20 to 40 to 60"),
     ((), r"60 × Session|if cut")),
    ("diff", SERIES, 150, 20, ((), r"^ALSO +waste"), ((":diff -grew", "Enter"), r"every reference to them"),
     (("v",), r"20→40→60")),
)

# name, dumps, columns, lines, then (what is typed, as a caption; keys; what must stand there before the next ones)
RECORDINGS = (
    ("tour", [SHOP], 100, 27,
     ("cairn data/shop.hprof: suspects, what fills the heap, what holds it", (), r"^ALSO +waste"),
     ("3: leak suspects", ("3",), r"AuditLog"),
     ("Down: the next suspect", ("Down",), r"ENTRIES +80"),
     ("Enter: open it", ("Enter",), r"ENTRIES"),
     (":path 0xe00200a8, a closed session", (":path 0xe00200a8", "Enter"), r"static \S*ENTRIES"),
     (":cut com.acme.shop.AuditLog.ENTRIES", (":cut com.acme.shop.AuditLog.ENTRIES", "Enter"), r"^freed|freed +80"),
     ("2: the heap by what it dominates", ("2",), r"^> .*▸ static Shop"),
     ("Down, *: down to where it branches", ("Down", "*"), r"60 × Session")),
)
SECONDS = 3.75  # that a screen of a recording is shown


def of_256(number):
    """A colour of the palette of 256: the eight, the bright eight as these, then xterm's cube and greys."""
    if number < 16:
        return number % 8
    if number >= 232:
        return "#" + "%02x" % (8 + 10 * (number - 232)) * 3
    number -= 16
    return "#%02x%02x%02x" % tuple(level and 55 + 40 * level for level in (number // 36, number // 6 % 6, number % 6))


class Style:
    """What escape sequences have said so far."""

    def __init__(self):
        self.color, self.bold, self.under, self.reverse = None, False, False, False

    def take(self, codes):
        numbers = [int(c or 0) for c in codes.split(";")]
        i = 0
        while i < len(numbers):
            n = numbers[i]
            if n == 0:
                self.__init__()
            elif n in (1, 4, 7):
                setattr(self, {1: "bold", 4: "under", 7: "reverse"}[n], True)
            elif n in (22, 24, 27):
                setattr(self, {22: "bold", 24: "under", 27: "reverse"}[n], False)
            elif 30 <= n <= 37 or 90 <= n <= 97:
                self.color = n % 10
            elif n == 39:
                self.color = None
            elif n == 38:
                self.color = of_256(numbers[i + 2]) if numbers[i + 1] == 5 else None
                i += 2 if numbers[i + 1] == 5 else 4
            i += 1

    def key(self):
        return self.color, self.bold, self.under, self.reverse


def columns(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def runs(lines):
    """(line, column, text, style) of every stretch that looks alike; styles last over ends of lines."""
    style = Style()
    for y, line in enumerate(lines):
        x = 0
        for codes, text in re.findall(r"\033\[([\d;]*)m|([^\033]+|\033)", line):
            if not text:
                style.take(codes)
                continue
            yield y, x, text, style.key()
            x += columns(text)


def element(y, x, text, style):
    color, bold, under, reverse = style
    left, top, wide = x * WIDTH, y * HEIGHT, columns(text) * WIDTH
    fill, out = PALETTE.get(color, color), []
    if reverse:
        out.append('<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>' % (left, top, wide, HEIGHT, fill))
        fill = BACKGROUND
    if text.strip():
        looks = (' font-weight="bold"' if bold else "") + (' text-decoration="underline"' if under else "")
        out.append('<text x="%.1f" y="%d" fill="%s"%s textLength="%.1f">%s</text>' % (
            left, top + 14, fill, looks, wide, html.escape(text, quote=False)))
    return "".join(out)


def screen(lines):
    return "\n".join(e for e in (element(*run) for run in runs(lines)) if e)


def svg(body, width, height, style=""):
    size = (width * WIDTH + 16, height * HEIGHT + 16)
    return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f">\n%s'
            '<rect width="100%%" height="100%%" rx="6" fill="%s"/>\n'
            '<g transform="translate(8 8)" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" '
            'font-size="14" xml:space="preserve">\n%s\n</g>\n</svg>\n' % (*size, *size, style, BACKGROUND, body))


def frames(shown, height):
    """Each screen with its caption, seen in its turn."""
    all_of_it = SECONDS * len(shown)
    for i, (caption, lines) in enumerate(shown):
        caption = element(height - 1, 1, caption, (3, True, False, False))
        yield ('<g class="f" style="animation-delay:%.2fs">\n<rect x="-8" y="-8" width="100%%" height="100%%" fill="%s"/>\n'
               '%s\n%s\n</g>' % (i * SECONDS - all_of_it, BACKGROUND, screen(lines), caption))


def turns(n):
    return ('<style>.f{visibility:hidden;animation:f %.2fs step-end infinite}'
            '@keyframes f{0%%{visibility:visible}%.4f%%{visibility:hidden}}</style>\n' % (n * SECONDS, 100 / n))


def still(terminal):
    """The screen once it does not change any more and the program rests."""
    import time
    before, since = None, time.monotonic()
    while time.monotonic() - since < 0.6:
        now = terminal.screen(escapes=True)
        if now != before or not terminal.resting():
            before, since = now, time.monotonic()
        time.sleep(0.05)
    return before


def run(dumps, width, height, steps):
    """The screen after each (keys, what must stand there)."""
    t = Terminal(width, height, env={"TERM": "screen-256color"})
    try:
        t.line("clear; \"$CAIRN_ITSELF\" --theme dark " + " ".join("'%s'" % d for d in dumps))
        for keys, what in steps:
            for key in keys:
                if key.startswith(":"):
                    t.type(key)
                else:
                    t.keys(key)
            t.wait(what, panes=not what.startswith("^>"))
            yield t
        t.keys("Q")
        t.wait("^" + PROMPT)
    finally:
        t.close()


def take(name, dumps, width, height, *steps):
    last = None
    for i, t in enumerate(run(dumps, width, height, steps)):
        last = still(t) if i == len(steps) - 1 else None
    return svg(screen(last), width, height)


def record(name, dumps, width, height, *steps):
    keys = [step[1:] for step in steps]
    shown = [(step[0], still(t)) for step, t in zip(steps, run(dumps, width, height, keys))]
    return svg("\n".join(frames(shown, height + 1)), width, height + 1, turns(len(shown)))


def main():
    for picture in PICTURES:
        with open(os.path.join(sys.argv[1], picture[0] + ".svg"), "w", encoding="utf-8") as to:
            to.write(take(*picture))
    for recording in RECORDINGS:
        with open(os.path.join(sys.argv[1], recording[0] + ".svg"), "w", encoding="utf-8") as to:
            to.write(record(*recording))


if __name__ == "__main__":
    main()
