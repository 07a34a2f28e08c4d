# SPDX-License-Identifier: GPL-3.0-or-later
"""cairn PID: what a running VM dumps into memory gives the answers of the file that --keep leaves of it, also where
most of the dump has to be packed, and nothing of it goes to disk.

Real VMs: the Java of this host and those of /usr/lib/jvm; CAIRN_JVMS names the homes of others.
"""

import atexit
import glob
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from cairntest import BUILD, CAIRN, LONG, SOURCE, Tap, cairn, skip_all  # noqa: E402

WORK = tempfile.mkdtemp(prefix="process_dump.", dir=os.path.join(BUILD, "tests"))
LISTS = 40  # some 50 MB of dump
LINES = ["histo -by package", "leaks", "threads", "waste", "strings | head 50", "top | head 30",
         "find 'node 8999' | head 9"]
# (options, are blocks packed): the dump and its heap take some 110 MB as they are, and waste needs 158M even if blocks are packed
LIMITS = [([], False), (["--mem", "170M", "--spill", "none"], True), (["--mem", "45M", "--spill", WORK], True)]
running = []


def end():
    for process in running:
        process.kill()
        process.wait()
    shutil.rmtree(WORK)


atexit.register(end)


def homes():
    java = shutil.which("java")
    if not java or not shutil.which("javac"):
        skip_all("no java or javac")
    found = {os.path.dirname(os.path.dirname(os.path.realpath(path)))
             for path in [java] + glob.glob("/usr/lib/jvm/*/bin/java")}
    found |= set(filter(None, os.environ.get("CAIRN_JVMS", "").split(":")))
    return sorted(home for home in found if os.path.exists(os.path.join(home, "bin", "java")))


def start(home):
    vm = subprocess.Popen([os.path.join(home, "bin", "java"), "-Xmx400m", "-XX:+UseSerialGC", "-cp", WORK, "Sleeper",
                           str(LISTS)], stdout=subprocess.PIPE)
    running.append(vm)
    if vm.stdout.readline() != b"ready\n":
        raise RuntimeError("%s does not start" % home)
    return vm


def lines(of):
    return [word for line in of for word in ("-x", line)]


def told(run):
    """What was printed, but how long it took."""
    return re.sub(r"it took .*", "", run.out)


def check_answers(tap, name, vm, kept):
    """Each dump of the VM is one of another moment: what asks for it adds some objects, so each has its file."""
    for number, (options, packs) in enumerate(LIMITS):
        label = "%s, %s" % (name, " ".join(options[:2]) or "all of it in memory")
        got = cairn("-y", "-p", str(vm.pid), "--keep", kept, *options, "-n", *lines(LINES))
        want = cairn("--no-index", "-n", kept, *lines(LINES))
        tap.ok(got.status == 0 and want.status == 0 and len(want.out.splitlines()) > 100, label + ": is read",
               "%s\n%s" % (got, want))
        tap.equal(told(got), told(want), label + ": the answers of its file")
        size = os.path.getsize(kept)
        limit = int(options[1][:-1]) << 20 if options else size + 1
        tap.ok(size > limit / 4 if packs else size > 40 << 20, label + ": the dump is large", "%d bytes" % size)
        os.remove(kept)
        if number and not LONG:
            break


def written():
    """Blocks that our children wrote to disks."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_oublock


def check_disk(tap, name, vm):
    before = written()
    run = cairn("-y", "-p", str(vm.pid), "-n", "-x", "info")
    blocks = written() - before
    tap.ok(run.status == 0 and blocks < 2048, name + ": nothing goes to disk", "%d blocks, %s" % (blocks, run))


def check_files(tap, name, vm, kept):
    """What a command makes of the dump is what it makes of the file."""
    ours, theirs, index = (os.path.join(WORK, word) for word in ("ours.hprof", "theirs.hprof", "alone.cairn"))
    run = cairn("-y", "-p", str(vm.pid), "--keep", kept, "-n", *lines(["redact " + ours, "index " + index, "index"]))
    tap.ok(run.status != 0 and "no default index file" in run.err and os.path.exists(index),
           name + ": an index needs a name", run)
    cairn("--no-index", "-n", kept, "-x", "redact " + theirs)
    with open(ours, "rb") as a, open(theirs, "rb") as b:
        tap.ok(a.read() == b.read(), name + ": the same redacted copy")
    alone = cairn("-n", index, "-x", "histo")
    whole = cairn("--no-index", "-n", kept, "-x", "histo")
    tap.equal(alone.out, whole.out, name + ": its index, alone")
    for path in (ours, theirs, index, kept):
        os.remove(path)


def check_keep(tap, name, vm, kept):
    """A dump that is there is replaced with --force alone, another file as by save; save writes the same dump."""
    other = os.path.join(WORK, "other.hprof")
    for content, options, status in ((b"words", [], 0), (None, [], 2), (None, ["--force"], 0)):
        if content:
            with open(kept, "wb") as f:
                f.write(content)
        before = os.stat(kept).st_mtime_ns
        run = cairn("-y", "-p", str(vm.pid), "--keep", kept, *options, "-n", "-x", "save " + other)
        replaced = os.stat(kept).st_mtime_ns > before
        tap.ok(run.status == status and replaced == (status == 0) and ("--force" in run.err) == (status == 2),
               name + ": --keep of a file that exists", run)
        if not status:
            with open(kept, "rb") as a, open(other, "rb") as b:
                tap.ok(a.read() == b.read(), name + ": save writes the dump")
            tap.equal(os.stat(other).st_mode & 0o777, 0o600, name + ": and only this user may read it")
            os.remove(other)
    run = cairn("-n", kept, "-x", "save " + other)
    tap.ok(run.status == 2 and "only what a process dumped" in run.err and not os.path.exists(other),
           name + ": a dump that is a file is not saved", run)
    os.remove(kept)


TRIES = 5  # progress is shown now and then: a VM may be quicker


def check_killed(tap, name, vm, kept):
    """A file that --keep makes has its name when all of the dump is in it."""
    run = subprocess.Popen([CAIRN, "-y", "-p", str(vm.pid), "-n", "--keep", kept, "-x", "info"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not os.path.exists(kept) and run.poll() is None:
        pass
    run.kill()
    run.wait()
    tap.equal(cairn("-n", kept, "-x", "info").status, 0, name + ": killed when the file to keep appears, which is whole")
    os.remove(kept)


def check_stopped(tap, name, vm, kept):
    """^C: cairn ends, the VM goes on, and no FIFO is left, nor an empty file."""
    for word, options in ((b"pauses", ["--keep", kept]), (b"writes its heap", [])):
        for _ in range(TRIES):
            run = subprocess.Popen([CAIRN, "-y", "-p", str(vm.pid), "-n", "--progress", "always", *options, "-x", "check"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            said, more = b"", b"more"
            while word not in said and more:
                more = os.read(run.stderr.fileno(), 4096)
                said += more
            run.send_signal(signal.SIGINT)
            run.communicate()
            if word in said:
                break
        else:
            tap.skip("%s: ^C where it says \"%s\"" % (name, word.decode()), "the VM was quicker than progress is shown")
            continue
        until = time.monotonic() + 5  # what takes the FIFOs away outlives it a little
        while left_behind(vm) and time.monotonic() < until:
            time.sleep(0.02)
        # between making a folder and the process that takes it away there is a moment: the next run does it then
        gone = not left_behind(vm) or word == b"pauses"
        tap.ok(run.returncode in (-signal.SIGINT, 130) and gone and not os.path.exists(kept) and
               vm.poll() is None, "%s: ^C where it says \"%s\"" % (name, word.decode()), (run.returncode, left_behind(vm), said))
    run = cairn("-y", "-p", str(vm.pid), "-n", "-x", "histo 'Sleeper$Node'", "--format", "csv")
    tap.ok(run.status == 0 and str(9000 * LISTS) in run.out and not left_behind(vm), name + ": the VM is asked again", run)


def left_behind(vm):
    return glob.glob("/tmp/.cairn-%d-*" % vm.pid) + glob.glob("/tmp/.attach_pid%d" % vm.pid)


def check_again(tap, name, vm):
    """A VM that went away: nothing to open; and before, two moments are two dumps."""
    run = cairn("-y", "-p", str(vm.pid), "-n", "-x", "attach %d" % vm.pid, "-x", "dumps")
    tap.ok(run.status == 0 and run.out.count("pid %d (Sleeper)" % vm.pid) >= 2 and "#2" in run.out,
           name + ": two moments are two dumps", run)
    run = cairn("-y", "-p", str(vm.pid), "-n", *lines(["attach %d" % vm.pid, "close 1", "use 1"]))
    tap.ok(run.status == 1 and "its memory was freed (attach %d " % vm.pid in run.err,
           name + ": what is closed is not read again", run)
    vm.kill()
    vm.wait()
    time.sleep(0.1)
    run = cairn("-y", "-p", str(vm.pid), "-n", "-x", "info")
    tap.ok(run.status == 3 and not run.out, name + ": a VM that ended", run)


def main():
    tap = Tap()
    found = homes()
    compiled = subprocess.run(["javac", "--release", "8", "-d", WORK,
                               os.path.join(SOURCE, "tests", "truth", "attach", "Sleeper.java")],
                              stderr=subprocess.PIPE, check=False)
    if compiled.returncode:
        skip_all("javac: %s" % compiled.stderr.decode())
    kept = os.path.join(WORK, "kept.hprof")
    for home in found:
        vm = start(home)
        check_disk(tap, home, vm)
        check_answers(tap, home, vm, kept)
        check_files(tap, home, vm, kept)
        check_keep(tap, home, vm, kept)
        check_killed(tap, home, vm, kept)
        check_stopped(tap, home, vm, kept)
        check_again(tap, home, vm)
    tap.done()


main()
