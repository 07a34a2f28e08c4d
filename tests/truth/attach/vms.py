# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes that are asked, and what asking them leaves behind."""

import atexit
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from cairntest import BUILD, CAIRN, SOURCE, Run

ASK = os.path.join(BUILD, "tests", "tools", "ask")
HERE = os.path.join(SOURCE, "tests", "truth", "attach")
FAKE = os.path.join(HERE, "fake_vm.py")
NOBODY = 65534
DUMP_BYTES = len("a dump of 4711 bytes" * 1000)  # of fake_vm.py
ERRORS = {"memory": 1, "io": 2, "usage": 7, "cancelled": 5, "not found": 6, "unsupported": 8}
WORK = tempfile.mkdtemp(prefix="attach.", dir=os.path.join(BUILD, "tests"))
os.chmod(WORK, 0o755)
MARK = b"ATTACH_TEST=%d" % os.getpid()
os.environ["ATTACH_TEST"] = str(os.getpid())
running = []


def end():
    for process in running:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
    shutil.rmtree(WORK)


atexit.register(end)


def wait_for(condition, seconds=10):
    """What it gives, when it is true; or after so long."""
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    return condition()


class Process:
    """A program that has said "ready"; its output goes to a file."""

    def __init__(self, argv, **options):
        self.output = os.path.join(WORK, "output.%d" % len(running))
        with open(self.output, "wb") as f:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=f, stderr=f, cwd="/", **options)
        running.append(self.process)
        self.pid = self.process.pid
        if not wait_for(lambda: "ready" in self.said(), 30):
            raise RuntimeError("%s: %s" % (argv, self.said()))

    def said(self):
        with open(self.output, encoding="utf-8", errors="replace") as f:
            return f.read()

    def lives(self):
        return self.process.poll() is None

    def end(self):
        self.process.kill()
        self.process.wait()
        if os.path.exists("/tmp/.java_pid%d" % self.pid):  # another process may get its number
            os.unlink("/tmp/.java_pid%d" % self.pid)


def fake(kind, manner, *words, dump=None, **environment):
    """Words and environment that end with "=" get its folder there.  dump: a file with the bytes that it dumps."""
    folder = tempfile.mkdtemp(prefix="fake.", dir=WORK)
    os.chmod(folder, 0o777)
    process = Process([sys.executable, FAKE, kind, folder, manner, *(word + folder for word in words)],
                      env={**os.environ, **({"FAKE_DUMP": dump} if dump else {}), **{key: value + folder for key, value in environment.items()}})
    process.folder = folder
    return process


def ask(process, *words, **options):
    return Run([ASK, str(process.pid), *words], **options)


def left_behind(*pids):
    """Folders, triggers and guards of dumps of the VMs that were begun here."""
    pids = pids or [process.pid for process in running]
    paths = [place + name % pid for pid in pids for place, name in (
        ("/tmp", "/.cairn-%d-*"), ("/dev/shm", "/.cairn-%d-*"), ("/var/tmp", "/.cairn-%d-*"), ("/tmp", "/.attach_pid%d"))]
    return [path for pattern in paths for path in glob.glob(pattern)] + \
        ["process %s" % pid for program in (ASK, CAIRN) for pid in pids_of(program)]


def pids_of(program):
    """Processes of this test that run a program; others of the same program are other tests'."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink("/proc/%s/exe" % pid) != os.path.realpath(program):
                continue
            with open("/proc/%s/environ" % pid, "rb") as f:
                if MARK in f.read().split(b"\0"):
                    found.append(int(pid))
        except OSError:
            pass
    return found


def nothing_left():
    wait_for(lambda: not left_behind(), 5)
    return left_behind()


def child_of(pid, program):
    """Below a process, the one that runs a program."""
    for other in pids_of(program):
        above = other
        while above > 1:
            with open("/proc/%d/status" % above, encoding="ascii", errors="replace") as f:
                above = int(re.search(r"^PPid:\s+(\d+)", f.read(), re.M).group(1))
            if above == pid:
                return other
    return 0
