#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines about a running VM: the examples of attach and live, the series of --live, and how each ends."""

import json
import os
import re
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


def java_name(name):
    """[Ljava.lang.String; is java.lang.String[]."""
    array = len(name) - len(name.lstrip("["))
    name = name[array:]
    if array:
        name = name[1:-1] if name.startswith("L") else dict(B="byte", C="char", D="double", F="float", I="int", J="long",
                                                            S="short", Z="boolean")[name]
    return name + "[]" * array


def of_jcmd(pid, *words):
    out = subprocess.run(["jcmd", str(pid), *words], stdout=subprocess.PIPE, check=True).stdout.decode()
    return re.findall(r"^ *\d+: +(\d+) +(\d+) +(\S+)", out, re.M) if "histogram" in words[0] else \
        sum(int(n) for n in re.findall(r"^sun\.rt\.safepoint(?:Sync)?Time=(\d+)", out, re.M)) / 1e6


def check_figures(tap, pid):
    """As jcmd counts them: each after a full collection.  What the questions themselves leave may differ."""
    want = {java_name(name): (int(n), int(b)) for n, b, name in of_jcmd(pid, "GC.class_histogram")}
    run = cairn("-x", "live %d -live" % pid, "--format", "json")
    rows = json.loads(run.out)
    got = {row["class"]: (row["objects"], row["shallow"]) for row in rows}
    odd = {name for name in want.keys() | got.keys() if want.get(name) != got.get(name)}
    tap.ok(len(want) > 200 and len(odd) < len(want) / 20 and "Sleeper$Node" not in odd, "the figures of jcmd",
           sorted((name, want.get(name), got.get(name)) for name in odd))
    before = of_jcmd(pid, "PerfCounter.print")
    run = cairn("-x", "live %d -live" % pid)
    stopped = of_jcmd(pid, "PerfCounter.print") - before  # milliseconds; asking for them may stop it, too
    said = re.search(r"stopped its threads for ([\d.]+) ms", run.out)
    tap.ok(said and 0 < float(said[1]) <= stopped + 0.1, "for how long it stopped the VM", "%s of %s" % (said, stopped))


GROWER = """
import java.util.ArrayList;
public class Grower {
    static ArrayList<byte[]> all = new ArrayList<>();
    public static void main(String[] a) throws Exception {
        System.out.println("ready");
        for (int i = 0; i < 600; i++) { all.add(new byte[10000]); Thread.sleep(10); }
    }
}
"""


def check_growth(tap, folder):
    """Against the rows of the answers before."""
    with open(os.path.join(folder, "Grower.java"), "w", encoding="ascii") as f:
        f.write(GROWER)
    subprocess.run(["javac", "-d", folder, f.name], check=True)
    vm = subprocess.Popen(["java", "-Xmx256m", "-cp", folder, "Grower"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    vm.stdout.readline()
    rows = json.loads(cairn("-x", "live %d -n 3 -seconds 1" % vm.pid, "--format", "json").out)
    vm.kill()
    vm.wait()
    sizes = [row["shallow"] for row in rows if row["class"] == "byte[]"]
    changes = [row["d_shallow"] for row in rows if row["class"] == "byte[]"]
    rates = [row["rate"] for row in rows if row["class"] == "byte[]"]
    tap.ok(len(sizes) == 3 and sizes[0] < sizes[1] < sizes[2], "byte arrays grow", sizes)
    tap.equal(changes, [size - sizes[0] for size in sizes], "d_shallow: since the first answer")
    steps = list(zip(sizes, sizes[1:], rates[1:]))
    tap.none([step for step in steps if not 0 < step[2] <= 1.05 * (step[1] - step[0])], steps,
             "rate: per second, of answers a second and more apart", 2)
    plot = [row["plot"] for row in rows if row["class"] == "byte[]"][-1]
    tap.ok(len(plot) == 3 and plot[0] == "\u2581" <= plot[1] <= "\u2588" == plot[2], "the plot rises", plot)


def check_claims(tap, pid):
    """assert without a dump, about the answers of the VM."""
    nodes = "(SELECT objects FROM `live -live` WHERE class = 'Sleeper$Node')"
    for claim, status, ok in (
            (nodes + " = %d" % NODES, 0, True), (nodes + " > %d" % NODES, 1, False), ("live.shallow < 64M", 0, True),
            ("live.objects < %d" % NODES, 1, False), ("rows(live) > 200", 0, True), ('"live %d".shallow < 64M' % pid, 0, True),
            ("(SELECT max(seconds) FROM \"live -n 2 -seconds 1\") = 1", 0, True), ("live.rate < 1", 1, None),
            ("(SELECT count(*) FROM objects) = 0", 2, None), ("(SELECT count(*) FROM histo) = 0", 2, None),
            ("leaks.share < 5", 2, None), ("objects(Missing) < 1", 2, None), ("path(1) = 1", 2, None)):
        run = cairn("--live", str(pid), "-x", ("assert '%s'" if '"' in claim else 'assert "%s"') % claim, "--format", "json")
        got = json.loads(run.out)[0]["ok"] if run.out else None
        tap.ok((run.status, got) == (status, ok), "assert " + claim, run)
    run = cairn("-x", "assert 'live.shallow < 64M'")
    tap.ok(run.status == 2 and "PID" in run.err, "assert about live of no process", run)
    run = cairn("-x", "live %d -where \"class = 'Sleeper$Node'\"" % pid, "--format", "json")
    tap.equal([row["objects"] for row in json.loads(run.out or "[]")], [NODES], "live -where")


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
    tap.equal([row["plot"] for row in rows[:2]], ["\u2581", "\u2581" * 2], "the plot of a class that keeps its size")
    tap.ok(b"has ended" in err or b"ended meanwhile" in err, "it ends with its VM, and says so", err)


def check_ends(tap):
    """Once, not for ever, and with one exit status for what cannot be read."""
    one, none = str(os.getpid()), "no such process"
    for words in (("--live", one), (one,), ("--live", none), ("-p", none), ("-x", "live " + one), ("-x", "attach " + one),
                  ("-x", "live '%s'" % none), ("-x", "attach '%s'" % none)):
        run = cairn(*words, "--format", "jsonl", timeout=20)
        tap.ok(run.status == 3 and run.err.count("\n") == 1 and not run.out, "cairn " + " ".join(words), run)


def check_once(tap, pid):
    """-n: one answer.  A series is no JSON document."""
    run = cairn("--live", str(pid), "-n", "--format", "json", timeout=20)
    rows = json.loads(run.out) if run.status == 0 else []
    tap.ok([row["objects"] for row in rows if row["class"] == "Sleeper$Node"] == [NODES], "--live -n: one answer", run)
    run = cairn("--live", str(pid), "--gc", "-n", timeout=20)
    tap.ok(run.status == 0 and "with a full collection" in run.out, "--live --gc: it collects", run)
    run = cairn("--live", str(pid), "--gc", "-x", "live", timeout=20)
    tap.ok(run.status == 0 and "with a full collection" in run.out, "--live --gc -x live: it collects", run)
    for words in (["--format", "json"], ["-o", os.devnull + ".json"]):
        run = cairn("--live", str(pid), *words, timeout=20)
        tap.ok(run.status == 2 and "jsonl" in run.err and not run.out, "--live %s: refused" % words[0], run)


def check_kept(tap, folder, pid):
    """A prompt says where the dump is kept, and how large the file is."""
    path = os.path.join(folder, "said.hprof")
    run = cairn("--plain", os.path.join(SOURCE, "data", "shop.hprof"), stdin=b"attach %d -o %s\ny\n" % (pid, path.encode()))
    size = os.path.getsize(path) if os.path.exists(path) else 0
    tap.ok(size and "is current; 2 of 2 dumps are open; wrote the dump to %s, %.1fM" % (path, size / (1 << 20)) in run.out,
           "attach -o: the file is named", run)


def check_first(tap, folder, pid):
    """What is wrong with a file is said before the VM is spoken of, and nothing is written."""
    missing, other = os.path.join(folder, "missing", "x.hprof"), os.path.join(folder, "results.hprof")
    for words, said in ((["-o", other], "unknown output format"), (["--keep", missing], "choose another file for the dump"),
                        *((["--keep", os.path.join(folder, "kept" + ending)], "another format (name the dump FILE.hprof)")
                          for ending in (".hprof.gz", ".phd", ".zip", ".tar.gz", ".json"))):
        run = cairn(*words, str(pid), "-n", "-x", "info")
        tap.ok(run.status == 2 and run.err.count("\n") == 1 and said in run.err and "pauses" not in run.err and
               not os.path.exists(words[1]), "cairn %s: refused before the VM is spoken of" % words[0], run)


def main():
    if not shutil.which("java") or not shutil.which("javac"):
        skip_all("no java or javac")
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="live.", dir=os.path.join(BUILD, "tests")) as folder:
        vm = start(folder)
        try:
            check_examples(tap, folder, vm.pid)
            check_figures(tap, vm.pid)
            check_growth(tap, folder)
            check_claims(tap, vm.pid)
            check_ends(tap)
            check_once(tap, vm.pid)
            check_kept(tap, folder, vm.pid)
            check_first(tap, folder, vm.pid)
            check_series(tap, vm)
            run = cairn("-x", "assert '\"live %d\".shallow < 64M'" % vm.pid)
            tap.ok(run.status == 3 and not run.out, "assert about a VM that has ended", run)
        finally:
            vm.kill()
            vm.wait()
    tap.done()


main()
