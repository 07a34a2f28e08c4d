# SPDX-License-Identifier: GPL-3.0-or-later
"""A terminal to drive the real program in: a private tmux server of a fixed size.

Nothing waits for a fixed time: wait() polls the screen until it shows what it must, and a failure
shows the last screen.
"""

import itertools
import os
import re
import shutil
import subprocess
import tempfile
import time

from cairntest import BUILD, CAIRN

PATIENCE = float(os.environ.get("CAIRN_PATIENCE", "20"))  # seconds until a still screen is given up
MOST_PATIENCE = 10 * PATIENCE  # until one that goes on changing is
PROMPT = "READY>"


class Gone(Exception):
    pass


class Terminal:
    """A shell with a known prompt in a tmux window of width x height."""

    serial = itertools.count(1)  # several may be opened at a time

    def __init__(self, width=80, height=24, env=None):
        self.server = "cairn-test-%d-%d" % (os.getpid(), next(Terminal.serial))
        self.home = tempfile.mkdtemp(prefix="tui.", dir=os.path.join(BUILD, "tests"))
        self.width, self.height = width, height
        words = {"PS1": PROMPT + " ", "HOME": self.home, "XDG_STATE_HOME": self.home,
                 "HISTFILE": "/dev/null", "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "TERM": "screen-256color",
                 "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "CAIRN": self.starting("histo"), "CAIRN_ITSELF": CAIRN, "CAIRN_PROC": "/nowhere",
                 "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")}
        words.update(env or {})
        command = ["env", "-i"] + ["%s=%s" % w for w in words.items()]
        command += ["bash", "--norc", "--noprofile", "-i"]
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height),
                  " ".join("'%s'" % c.replace("'", "'\\''") for c in command))
        self.tmux("set-option", "-g", "status", "off")
        self.tmux("set-option", "-g", "escape-time", "0")
        self.resize(width, height)
        self.wait(PROMPT)

    def starting(self, page):
        """The program as most cases want it: it opens with this page, whose rows are all there at once."""
        path = os.path.join(self.home, "cairn-" + page)
        with open(path, "w") as f:
            f.write('#!/bin/sh\nexec \'%s\' --start %s "$@"\n' % (CAIRN, page))
        os.chmod(path, 0o755)
        return path

    def tmux(self, *arguments):
        done = subprocess.run(["tmux", "-L", self.server, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=30,
                              env=dict(os.environ, LC_ALL="C.UTF-8", TMUX=""))
        return done.stdout.decode("utf-8", "replace")

    def close(self):
        # What runs in the terminal may still write on its way out: wait for the last of it.
        tty = self.tmux("display-message", "-p", "#{pane_tty}").strip().replace("/dev/", "")
        self.tmux("kill-server")
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and subprocess.run(
                ["ps", "-t", tty], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            time.sleep(0.01)
        shutil.rmtree(self.home, ignore_errors=True)

    def keys(self, *names):
        """Keys by tmux's names: "Enter", "C-c", "Down", "q"."""
        self.tmux("send-keys", *names)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def line(self, text):
        """A command line for the shell."""
        self.type(text)
        self.keys("Enter")

    def screen(self, escapes=False):
        """The lines of the screen, blanks at their ends cut; with escapes: attributes too."""
        out = self.tmux("capture-pane", "-p", *(["-e"] if escapes else []))
        lines = [line.rstrip() for line in out.split("\n")]
        return lines[:-1] if lines and lines[-1] == "" else lines

    def text(self):
        return "\n".join(self.screen())

    @staticmethod
    def rows(lines):
        """The lines of the list, without the panes on both sides of it; of an object's page both halves."""
        first = 0 if any(line.startswith("  referrers") for line in lines[:4]) else 1
        return ["│".join(line.split("│")[first:2]).rstrip() if line.count("│") == 2 else line for line in lines]

    def wait(self, what, gone=False, panes=False):
        """Until the screen holds what (a regular expression, or a function of its lines); panes beside a
        list are left out unless panes is set.  Who shows that he gets on is given more time, so a slow machine is no fault."""
        begin = time.monotonic()
        end, before = begin + PATIENCE, None
        while True:
            lines = self.screen()
            if lines != before:
                end = min(time.monotonic() + PATIENCE, begin + MOST_PATIENCE)
                before = lines
            rows = lines if panes else self.rows(lines)
            if callable(what):
                found = what(rows)
            else:
                found = re.search(what, "\n".join(rows), re.M) is not None
            if bool(found) != gone:
                return lines
            if time.monotonic() > end:
                raise Gone("%s %r; the screen:\n%s" % (
                    "still there:" if gone else "never came:", what, "\n".join(lines)))
            time.sleep(0.02)

    def resize(self, width, height):
        self.width, self.height = width, height
        self.tmux("resize-window", "-x", str(width), "-y", str(height))

    def cursor(self):
        x, y = self.tmux("display-message", "-p", "#{cursor_x} #{cursor_y}").split()
        return int(x), int(y)

    def modes(self):
        """What a program may have left on: alternate screen, hidden cursor, mouse."""
        return self.tmux("display-message", "-p",
                         "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_flag}").strip()

    def stty(self):
        """The terminal's settings as the shell sees them."""
        mark = "S%d" % time.monotonic_ns()
        self.line("clear; stty -g; echo %s''E" % mark)
        lines = self.wait(mark + "E$")
        found = [line for line in lines if re.fullmatch(r"[0-9a-f]+(:[0-9a-f]+)+", line)]
        return found[0] if found else "\n".join(lines)

    def pid_of(self, name):
        """The process that runs in front in this terminal."""
        tty = self.tmux("display-message", "-p", "#{pane_tty}").strip()
        done = subprocess.run(["ps", "-o", "pid=,comm=", "-t", tty.replace("/dev/", "")],
                              stdout=subprocess.PIPE, text=True)
        for row in done.stdout.splitlines():
            pid, comm = row.split(None, 1)
            if comm.startswith(name[:15]):
                return int(pid)
        raise Gone("no process %s on %s:\n%s" % (name, tty, done.stdout))

    def resting(self, name="cairn"):
        """Do all threads of the program wait for something?  One that has work is ready or runs, however slow the machine."""
        folder = "/proc/%d/task" % self.pid_of(name)
        try:
            for thread in os.listdir(folder):
                with open(os.path.join(folder, thread, "stat"), encoding="utf-8", errors="replace") as f:
                    if f.read().rsplit(")", 1)[1].split()[0] != "S":
                        return False
        except FileNotFoundError:
            return False
        return True
