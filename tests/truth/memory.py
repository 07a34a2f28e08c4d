#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What --mem limits is what the system sees: anonymous memory stays within the limit and a tenth.

    memory.py [DUMP...]     tells of other dumps than the tests', and tests nothing
"""

import gzip
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import CAIRN, DUMPS, GO, SAMPLE, SHOP, Tap  # noqa: E402

MB = 1 << 20
# The program itself with its libraries' data, the stock, stacks of threads and a first arena.
FIXED = 4 * MB
COMMANDS = ("histo", "leaks", "roots", "threads", "dups", "check", "path #100", "bt 0", "tree", "strings")


def anonymous(pid):
    """Bytes of anonymous memory of a process now, 0 when it is gone."""
    try:
        with open("/proc/%d/status" % pid, encoding="ascii") as f:
            for line in f:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def run(dump, limit, *lines, seconds=60, address_space=0, spill=None):
    """(status, last words, most anonymous bytes seen) of one run; limit 0 is none, None the default."""
    arguments = [CAIRN, "--threads", "2"] + (["--spill", spill] if spill else [])
    if limit is not None:
        arguments += ["--mem", str(limit) if limit else "none"]
    for line in lines:
        arguments += ["-x", line]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(arguments + [dump], stdout=subprocess.DEVNULL, stderr=said, preexec_fn=lambda: (
            address_space and resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))))
        most, end = 0, time.monotonic() + seconds
        while process.poll() is None:
            most = max(most, anonymous(process.pid))
            time.sleep(0.002)
            if time.monotonic() > end:
                process.kill()
        said.seek(0)
        words = said.read().decode("utf-8", "replace").splitlines()
    return process.returncode, words[-1] if words else "", most


def held(tap, name, dump, limit, *lines, **how):
    status, words, most = run(dump, limit, *lines, **how)
    told = "%s: %.1fM of --mem %.1fM, status %d" % (name, most / MB, limit / MB, status)
    tap.ok(0 <= status <= 4 and most <= limit * 1.1 + FIXED, told, words)
    return status, words


def bomb(path, members, head=b"JAVA PROFILE 1.0.2\0"):
    """So many times 30 MB of zeros, of which the last one's length is all that the file promises."""
    with open(path, "wb") as f:
        f.write(gzip.compress(head) if head else b"")
        one = gzip.compress(bytes(30 * MB), 9)
        for _ in range(members):
            f.write(one)


def main():
    if len(sys.argv) > 1:
        for dump in sys.argv[1:]:
            for limit in (0, 64 * MB, 256 * MB, 1024 * MB):
                status, words, most = run(dump, limit, *COMMANDS)
                print("%s --mem %4dM: %8.1fM, status %d %s" %
                      (os.path.basename(dump), limit // MB, most / MB, status, words))
        return
    tap = Tap()
    with open(CAIRN, "rb") as f:
        if re.search(b"__[at]san_init", f.read()):
            tap.skip("anonymous memory", "sanitizers take as much again")
            tap.done()
    for dump in (SAMPLE, SHOP, GO):
        for limit in (1, 2, 4, 64):
            held(tap, os.path.basename(dump), dump, limit * MB, *COMMANDS)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bomb.gz")
        bomb(path, 30)
        status, words = held(tap, "a gzip bomb", path, 64 * MB, "info", spill="none")
        tap.ok(status == 3 and "--mem allows" in words, "it ends with a sentence", words)
        status, words, most = run(path, None, "info", address_space=512 * MB)
        tap.ok(status == 3 and re.search(r"the default \(85 % of the memory left by ulimit -v\) allows \d", words),
               "a gzip bomb without --mem, under ulimit -v: the default limit and its sentence", (status, words))
        status, words, most = run(path, None, "info", spill=folder, address_space=512 * MB)
        tap.ok(status == 3 and "the system refuses" in words,
               "the same with a folder that was named: it is used, until there are no addresses", (status, words))
        path = os.path.join(folder, "zeros.gz")
        bomb(path, 4, None)
        status, words, most = run(path, 0, "info")
        tap.ok(status == 3 and "its first bytes are zeros" in words and most < 2 * FIXED,
               "120 MB of gzipped zeros, no dump: refused before they are inflated", (status, words, most))
    attack = os.path.join(DUMPS, "attack") if DUMPS else ""
    if os.path.isdir(attack):
        for name in sorted(os.listdir(attack)):
            if not name.endswith(".md"):
                held(tap, name, os.path.join(attack, name), 64 * MB, "histo", "leaks", "threads", "bt 0")
    else:
        tap.skip("the attack's inputs", "CAIRN_DUMPS has none")
    tap.done()


if __name__ == "__main__":
    main()
