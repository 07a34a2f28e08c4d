#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines about a running VM: the examples of attach and live, the series of --live, and how each ends."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import commands  # noqa: E402
from cairntest import BUILD, CAIRN, SOURCE, Tap, cairn, skip_all  # noqa: E402

NODES = 9000  # of Sleeper, for each list
RUNNING = "on a running VM"


def start(folder):
    subprocess.run(["javac", "-d", folder, os.path.join(SOURCE, "tests", "truth", "attach", "Sleeper.java")], check=True)
    vm = subprocess.Popen(["java", "-Xmx64m", "-Dapp=com.acme.shop", "-cp", folder, "Sleeper"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    if vm.stdout.readline().strip() != b"ready":
        raise RuntimeError("the program does not start")
    return vm


def check_examples(tap, folder, pid):
    """They name com.acme.shop, which only our VM may have; where another has it, the pid takes its place."""
    n = 0
    for name in ("attach", "live"):
        for example in commands.table()[name].examples:
            if example["on"] != RUNNING:
                continue
            run = cairn("-x", example["line"].replace("com.acme.shop", str(pid)), "--format", "csv", cwd=folder)
            rows = run.out.count("\n") - 1
            tap.ok(run.status == 0 and (rows > 0 or name == "attach"), example["line"], run)
            n += 1
    tap.ok(n > 4, "there are examples")
    kept = cairn("-x", "histo 'Sleeper$Node'", "--format", "json", os.path.join(folder, "heap.hprof"))
    tap.equal([row["objects"] for row in json.loads(kept.out or "[]")], [NODES], "the dump that an example keeps")


def check_series(tap, vm):
    reader = subprocess.Popen([CAIRN, "--live", str(vm.pid), "--format", "jsonl"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=dict(os.environ, LC_ALL="C.UTF-8"))
    time.sleep(5)
    vm.send_signal(signal.SIGKILL)
    vm.wait()
    try:
        out, err = reader.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        reader.kill()
        out, err = reader.communicate()
    rows = [row for row in map(json.loads, out.decode().splitlines()) if row["class"] == "Sleeper$Node"]
    tap.ok(len(rows) >= 2 and all(row["objects"] == NODES and row["d_shallow"] == 0 for row in rows),
           "--live: a row of the class in each answer", rows)
    tap.ok([row["rate"] for row in rows[:2]] == [None, 0], "a rate from the second answer on", rows)
    tap.ok(b"has ended" in err or b"ended meanwhile" in err, "it ends with its VM, and says so", err)


def check_ends(tap):
    """Once, not for ever."""
    for words in (("--live", str(os.getpid())), (str(os.getpid()),), ("--live", "no such process")):
        run = cairn(*words, "--format", "jsonl", timeout=20)
        tap.ok(run.status == 3 and run.err.count("\n") == 1 and not run.out, "cairn " + " ".join(words[:1]), run)


def main():
    if not shutil.which("java") or not shutil.which("javac"):
        skip_all("no java or javac")
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="live.", dir=os.path.join(BUILD, "tests")) as folder:
        vm = start(folder)
        try:
            check_examples(tap, folder, vm.pid)
            check_ends(tap)
            check_series(tap, vm)
        finally:
            vm.kill()
            vm.wait()
    tap.done()


main()
