# SPDX-License-Identifier: GPL-3.0-or-later
"""The real program on a bare pseudo-terminal: quicker to ask than tmux, and exact about time.

What it draws is kept as it came; there is no screen.  Whoever wants one takes tmux.py.
"""

import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time

from cairntest import BUILD, CAIRN

PATIENCE = float(os.environ.get("CAIRN_PATIENCE", "20"))  # seconds until something must have come
GO_BACK = b"\033[?1049l"  # from the second screen of TERM=xterm to the first


class Silent(Exception):
    pass


class OnTerminal:
    """cairn, or a command that ends in it, on a terminal of its own."""

    def __init__(self, *arguments, program=CAIRN, before=(), env=None, width=100, height=30):
        self.home = tempfile.mkdtemp(prefix="tui.", dir=os.path.join(BUILD, "tests"))
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.modes = termios.tcgetattr(self.slave)
        self.seen = b""
        self.process = subprocess.Popen(
            [*before, program, *(["--start", "histo"] if "cairn" in os.path.basename(program) else []), *map(str, arguments)], stdin=self.slave, stdout=self.slave,
            stderr=self.slave, start_new_session=True, preexec_fn=self._take_terminal,
            env=dict(os.environ, TERM="xterm", LC_ALL="C.UTF-8", HOME=self.home, XDG_CONFIG_HOME=self.home,
                     XDG_STATE_HOME=self.home, **(env or {})))

    @staticmethod
    def _take_terminal():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def read(self, seconds):
        """Take what is drawn within this time; False when nothing was."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        try:
            self.seen += os.read(self.master, 1 << 16)
        except OSError:  # the other side is closed
            return False
        return True

    def wait(self, *words):
        """Until one of these was drawn since the last wait."""
        end = time.monotonic() + PATIENCE
        while True:
            for word in words:
                if word.encode() in self.seen:
                    self.seen = b""
                    return word
            if time.monotonic() > end or self.process.poll() is not None:
                raise Silent("never drawn: %s; what was: %r" % (" or ".join(words), self.seen[-2000:]))
            self.read(0.05)

    def idle(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(max(0, min(0.05, end - time.monotonic())))

    def type(self, text):
        os.write(self.master, text.encode())

    def kill(self, number):
        os.kill(self.process.pid, number)

    def ended(self, reading=True, patience=PATIENCE):
        """Seconds until the process is gone."""
        begin = time.monotonic()
        while self.process.poll() is None:
            if time.monotonic() - begin > patience:
                raise Silent("still there after %g s; drawn last: %r" % (patience, self.seen[-300:]))
            if reading:
                self.read(0.005)
            else:
                time.sleep(0.005)
        took = time.monotonic() - begin
        while self.read(0):
            pass
        return took

    def restored(self):
        """None, or what is left of the program on the terminal."""
        if termios.tcgetattr(self.slave) != self.modes:
            return "the terminal's modes differ"
        if GO_BACK not in self.seen:
            return "the first screen did not come back: %r" % self.seen[-300:]
        return None

    def close(self):
        if self.process.poll() is None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)
        shutil.rmtree(self.home, ignore_errors=True)
