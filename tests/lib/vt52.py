# SPDX-License-Identifier: GPL-3.0-or-later
"""The real program on a pseudo-terminal that knows what is seen, and when it changed.

The terminal is a VT52, which has hardly any sequences; who wants colours, a mouse or other sizes takes tmux.py.
"""

import os
import re
import select
import time

from pty_cairn import OnTerminal


class Screen(OnTerminal):
    """lines(): what is seen.  changed: when something came last (time.monotonic)."""

    def __init__(self, *arguments, width=100, height=30, env=None, **more):
        self.width, self.height = width, height
        self.cells = [[" "] * width for _ in range(height)]
        self.y = self.x = 0
        self.rest = b""
        self.changed = time.monotonic()
        super().__init__("--ascii", *arguments, width=width, height=height,
                         before=("env", "TERM=vt52"), env=env, **more)

    def take(self, seconds):
        """Draw what comes within this time; False when nothing did."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        try:
            data = self.rest + os.read(self.master, 1 << 16)
        except OSError:
            return False
        self.changed = time.monotonic()
        at = 0
        while at < len(data):
            used = self.draw(data, at)
            if not used:
                break
            at += used
        self.rest = data[at:]
        return True

    def draw(self, data, at):
        """One character or sequence; the bytes it took, 0: its end is not there yet."""
        byte = data[at]
        if byte == 27:
            rest = data[at + 1:at + 4]
            if not rest or (rest[:1] == b"Y" and len(rest) < 3):
                return 0
            kind = rest[:1]
            if kind == b"Y":
                self.y, self.x = rest[1] - 32, rest[2] - 32
                return 4
            if kind == b"H":
                self.y = self.x = 0
            elif kind == b"J":
                self.cells[self.y][self.x:] = [" "] * (self.width - self.x)
                for y in range(self.y + 1, self.height):
                    self.cells[y] = [" "] * self.width
            elif kind == b"K":
                self.cells[self.y][self.x:] = [" "] * (self.width - self.x)
            elif kind in b"ABCD":
                dy, dx = {b"A": (-1, 0), b"B": (1, 0), b"C": (0, 1), b"D": (0, -1)}[kind]
                self.y, self.x = max(0, self.y + dy), max(0, self.x + dx)
            elif kind == b"I":
                if self.y == 0:
                    self.cells = [[" "] * self.width] + self.cells[:-1]
                else:
                    self.y -= 1
            return 2
        if byte == 13:
            self.x = 0
        elif byte == 8:
            self.x = max(0, self.x - 1)
        elif byte == 9:
            self.x = min(self.width - 1, self.x // 8 * 8 + 8)
        elif byte == 10:
            if self.y == self.height - 1:
                self.cells = self.cells[1:] + [[" "] * self.width]
            else:
                self.y += 1
        elif byte >= 32:
            self.cells[self.y][min(self.x, self.width - 1)] = chr(byte)
            self.x += 1
        return 1

    def lines(self):
        return ["".join(row).rstrip() for row in self.cells]

    def text(self):
        return "\n".join(self.lines())

    def until(self, what, seconds=60):
        """Until the screen holds this regular expression, or this function of its text is true.  The time."""
        end = time.monotonic() + seconds
        found = what if callable(what) else lambda text: re.search(what, text, re.M)
        while not found(self.text()):
            if time.monotonic() > end or self.process.poll() is not None:
                raise AssertionError("never seen: %s; the screen:\n%s" % (what, self.text()))
            self.take(0.05)
        return time.monotonic()
