#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of running Go programs: the same bytes, threads and registers as gdb's gcore finds, and the program goes on
whatever happens to cairn.

The program is tests/tools/like_go, which looks like one of Go and has all kinds of memory, and a real one where CAIRN_GO
names a go command, or there is one.
"""

import calendar
import ctypes
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), *words) for words in (["attach"], ["..", "lib"])]
from cairntest import BUILD, CAIRN, LONG, Run, Tap, skip_all  # noqa: E402
from vms import ASK, ERRORS, HERE, NOBODY, WORK, Process, ask, wait_for  # noqa: E402

LIKE_GO = os.path.join(BUILD, "tests", "tools", "like_go")
PAGE = os.sysconf("SC_PAGE_SIZE")
PRSTATUS, PRPSINFO, AUXV, FILES, OWN = 1, 3, 6, 0x46494c45, 0x6e726163
REGISTERS = 112  # byte of the registers in elf_prstatus of 64 bits, which ends with a number and padding
FIELDS = ["rounds", "signals", "begun", "sparse", "random", "left_out", "written", "sealed", "reserved", "large", "signal"]
GO = """package main
import ("fmt"; "os"; "time")
type node struct { next *node; text string; n [5]int }
var kept []*node
func main() {
	for i := 0; i < 50000; i++ { kept = append(kept, &node{text: fmt.Sprint("node ", i), n: [5]int{i}}) }
	for i := 0; i < 9; i++ { go func() { for { time.Sleep(time.Millisecond); _ = make([]byte, 5000) } }() }
	fmt.Println("ready")
	for i := 0; ; i++ { time.Sleep(10 * time.Millisecond); fmt.Fprintln(os.Stderr, i) }
}
"""


# --- core files ---------------------------------------------------------------------------------------

class Core:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.bytes = f.read()
        phoff, phnum = struct.unpack_from("<Q", self.bytes, 32)[0], struct.unpack_from("<H", self.bytes, 56)[0]
        self.loads, self.threads, self.notes = [], {}, {}
        for i in range(phnum):
            kind, flags, at, address, _, size, memory = struct.unpack_from("<IIQQQQQ", self.bytes, phoff + 56 * i)
            if kind == 4:
                self.read_notes(at, at + size)
            elif kind == 1:
                self.loads.append((address, at, size, memory, flags))

    def read_notes(self, at, end):
        while at < end:
            name_size, size, kind = struct.unpack_from("<III", self.bytes, at)
            name = self.bytes[at + 12:at + 12 + name_size - 1]
            at += 12 + (name_size + 3) // 4 * 4
            note = self.bytes[at:at + size]
            at += (size + 3) // 4 * 4
            if (name, kind) == (b"CORE", PRSTATUS):
                self.threads[struct.unpack_from("<I", note, 32)[0]] = note[REGISTERS:-8]
            else:
                self.notes[name, kind] = note

    def files(self):
        """(begin, end, offset in bytes, path)"""
        note = self.notes[b"CORE", FILES]
        n, unit = struct.unpack_from("<QQ", note)
        names = note[16 + 24 * n:].split(b"\0")
        each = [struct.unpack_from("<QQQ", note, 16 + 24 * i) for i in range(n)]
        return [(b, e, offset * unit, names[i].decode()) for i, (b, e, offset) in enumerate(each)]

    def load_of(self, address):
        return next((l for l in self.loads if l[0] <= address < l[0] + l[3]), None)

    def read(self, address, n=PAGE):
        """None: not in the file."""
        l = self.load_of(address)
        if not l or address + n > l[0] + l[2]:
            return None
        return self.bytes[l[1] + address - l[0]:l[1] + address - l[0] + n]


def equal_bytes(ours, theirs):
    """What differs where both have a page; how many they share; pages that theirs alone has, which a file does not."""
    wrong, same, lacking = [], 0, []
    files = {}
    for begin, end, offset, path in ours.files():
        if os.path.exists(path):
            with open(path, "rb") as f:
                f.seek(offset)
                data = f.read(end - begin)
            files[begin] = (end, data.ljust(end - begin, b"\0"))
    for address, _, size, _, _ in theirs.loads:
        for page in range(address, address + size, PAGE):
            got, want = ours.read(page), theirs.read(page)
            if got is not None:
                same += 1
                if got != want:
                    wrong.append("%x" % page)
                continue
            file = next((b for b in files if b <= page < files[b][0]), None)
            kept = files[file][1][page - file:page - file + PAGE] if file is not None else bytes(PAGE)
            if want != kept:
                lacking.append("%x" % page)
    return wrong, same, lacking


# --- processes ------------------------------------------------------------------------------------------

class LikeGo(Process):
    def __init__(self, *words, **options):
        self.shared = os.path.join(WORK, "shared.%d" % random.getrandbits(60))
        with open(self.shared, "wb"):
            pass
        os.chmod(self.shared, 0o666)
        super().__init__([LIKE_GO, self.shared, *words], **options)

    def __getattr__(self, name):
        with open(self.shared, "rb") as f:
            return dict(zip(FIELDS, struct.unpack("<11Q", f.read(88))))[name]

    def goes_on(self):
        """It runs, and nothing holds one of its threads."""
        before = self.rounds
        return bool(wait_for(lambda: self.rounds > before + 2, 5)) and not self.traced() and "t" not in self.states()

    def traced(self):
        with open("/proc/%d/status" % self.pid, encoding="utf-8") as f:
            return "TracerPid:\t0\n" not in f.read()

    def states(self):
        found = ""
        for tid in os.listdir("/proc/%d/task" % self.pid):
            try:
                with open("/proc/%d/task/%s/stat" % (self.pid, tid), encoding="utf-8") as f:
                    found += f.read().rsplit(")", 1)[1][1]
            except OSError:
                pass
        return found


def copy(process, path="", *words, **options):
    return ask(process, "-dump", path, *words, **options)


def resident(process, address):
    """Kilobytes of a mapping that are in memory."""
    with open("/proc/%d/smaps" % process.pid, encoding="utf-8") as f:
        here = re.search(r"^%x-[^\n]*\n(?:[A-Z][^\n]*\n)*?Rss: +(\d+) kB" % address, f.read(), re.M)
    return int(here.group(1)) if here else None


def random_bytes():
    """What like_go has in 24 MB."""
    n, words = 4711, []
    for _ in range((24 << 20) // 8):
        n = (n * 6364136223846793005 + 1442695040888963407) & 0xffffffffffffffff
        words.append(n)
    return struct.pack("<%dQ" % len(words), *words)


def as_user(argv):
    """The same command as another user."""
    return ["setpriv", "--reuid=%d" % NOBODY, "--regid=%d" % NOBODY, "--clear-groups", *argv]


# --- what is copied ------------------------------------------------------------------------------------------

def check_equal(tap, process, what):
    """Beside gcore of the same stopped process."""
    ours, theirs = os.path.join(WORK, "ours.core"), os.path.join(WORK, "theirs")
    os.kill(process.pid, signal.SIGSTOP)
    wait_for(lambda: set(LikeGo.states(process)) == {"T"})
    run = copy(process, ours)
    tap.ok(run.status == 0 and set(LikeGo.states(process)) == {"T"}, what + ": a stopped process is copied, and stays stopped",
           (run, LikeGo.states(process)))
    done = Run(["gcore", "-o", theirs, str(process.pid)], timeout=60)
    os.kill(process.pid, signal.SIGCONT)
    if done.status:
        tap.skip(what + ": beside gcore", "gcore fails: " + done.err[:60])
        return Core(ours)
    a, b = Core(ours), Core(theirs + ".%d" % process.pid)
    wrong, same, lacking = equal_bytes(a, b)
    tap.none(wrong + ["not copied: " + page for page in lacking], same, what + ": every page is that of gcore, or of a file",
             1000)
    tap.equal(sorted(a.threads), sorted(b.threads), what + ": the threads of gcore")
    tap.ok(a.threads == b.threads, what + ": their registers", [t for t in a.threads if a.threads[t] != b.threads.get(t)])
    tap.equal(a.files(), b.files(), what + ": mapped files")
    tap.ok(a.notes[b"CORE", AUXV] == b.notes[b"CORE", AUXV], what + ": the auxiliary vector")
    os.unlink(theirs + ".%d" % process.pid)
    return a


def check_memory(tap, process, core):
    at = {name: getattr(process, name) for name in FIELDS}
    half = 32 << 20
    sparse = core.read(at["sparse"], 2 * half)
    want = b"".join(bytes([i % 255 + 1]) * PAGE if i % 37 == 0 else bytes(PAGE) for i in range(half // PAGE)) + bytes(half)
    tap.ok(sparse == want, "pages that were never touched are zeros")
    tap.ok(b"\x3c\xa7" * 64 not in core.bytes and core.load_of(at["left_out"])[2] == 0,
           "what the program wants left out of core files is")
    with open(LIKE_GO, "rb") as f:
        file = bytearray(f.read(3 * PAGE))
    file[PAGE] ^= 0xff
    for name in ("written", "sealed"):
        tap.ok(core.read(at[name], 3 * PAGE) == file, "a mapping of a file that the process has written to: " + name)
    own = core.notes[b"cairn", OWN]
    tap.ok(own[8:] == b"%s\0/proc/%d/root%s\0" % (LIKE_GO.encode(), process.pid, LIKE_GO.encode()) and
           abs(struct.unpack_from("<Q", own)[0] / 1000 - time.time()) < 300, "when, and which program", own)
    elf = [l for l in core.loads if core.read(l[0], 4) == b"\x7fELF"]
    tap.ok(elf and core.read(elf[0][0]), "the first page of the program, with its build id")


def check_large(tap):
    path = os.path.join(WORK, "large.core")
    process = LikeGo("large")
    run = copy(process, path)
    core = Core(path)
    loads = [core.load_of(process.reserved), core.load_of(process.large)]
    tap.equal([l and l[2:4] for l in loads], [(0, 1 << 40), (0, 300 << 30)],
              "a terabyte that is reserved is not copied, nor one page in so many")
    pages = 64 - (os.path.getsize(LIKE_GO) + PAGE - 1) // PAGE
    tap.ok("%d pages could not be read, and are zeros; 4K of memory are not copied, in mappings that are hardly used" % pages
           in run.out, "the latter is said, and that pages behind the end of a file could not be read", run)
    process.end()


def check_gdb(tap, process, core):
    if not shutil.which("gdb"):
        tap.skip("gdb opens the copy", "no gdb")
        return
    run = Run(["gdb", "-nx", "-batch", "-ex", "info threads", "-ex", "print info[1]", LIKE_GO, os.path.join(WORK, "ours.core")],
              timeout=60)
    tap.ok(len(re.findall(r"LWP \d+", run.out)) >= len(core.threads) and "warning: " not in run.err.replace("debuginfod", ""),
           "gdb opens the copy", run)


def check_sizes(tap):
    process = LikeGo()  # gcore has touched all pages of the other
    path = os.path.join(WORK, "sparse.core")
    before = resident(process, process.sparse)
    run = copy(process, path)
    st = os.stat(path)
    tap.ok(run.status == 0 and st.st_blocks * 512 < st.st_size * 3 // 4, "zeros take no room in the file", (st.st_blocks, st.st_size))
    tap.ok(before and resident(process, process.sparse) == before, "copying touches no page of the process",
           (before, resident(process, process.sparse)))
    tap.ok(re.search(r"^\d+\.\d{3} ms$", run.out, re.M), "the pause is measured", run)
    os.kill(process.pid, signal.SIGSTOP)
    wait_for(lambda: set(process.states()) == {"T"})
    whole, packed = os.path.join(WORK, "whole.core"), os.path.join(WORK, "packed.core")
    copy(process, whole)
    run = copy(process, packed, str(44 << 20))
    os.kill(process.pid, signal.SIGCONT)
    a, b = Core(whole), Core(packed) if run.status == 0 else None
    tap.ok(b and a.bytes[a.loads[0][1]:] == b.bytes[b.loads[0][1]:], "the same bytes where they have to be packed", run)
    run = copy(process, "", str(8 << 20))
    tap.ok(run.status == ERRORS["memory"] and "no memory for more than" in run.err and process.goes_on(),
           "no memory for them: said, and the process goes on", run)
    process.end()


# --- whatever happens ------------------------------------------------------------------------------------------

def is_stopped(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
        return f.read().rsplit(")", 1)[1][1] == "T"


def check_killed(tap, process, what, times):
    """SIGKILL, ^Z or ^C at any moment.  A process group of its own, for the kernel does not stop one that has no parent
    in the session; and what has not stopped has ended before anything is said."""
    rng = random.Random(4711)
    took, failed = [], []
    for _ in range(3):
        begun = time.monotonic()
        copy(process)
        took.append(time.monotonic() - begun)
    for i in range(times):
        child = subprocess.Popen([ASK, str(process.pid), "-dump"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 preexec_fn=os.setpgrp)
        time.sleep(rng.random() * max(took))
        child.send_signal({3: signal.SIGTSTP, 4: signal.SIGINT}.get(i % 5, signal.SIGKILL))
        wait_for(lambda: child.poll() is not None or is_stopped(child.pid), 30)
        if not process.goes_on():
            failed.append((i, process.states()))
        child.kill()
        child.wait()
    tap.none(failed, times, "%s: goes on when cairn is killed or stopped, at any of %d moments" % (what, times))


def check_signals(tap, process):
    """None is lost, though many come while it stands still."""
    sent, number, before = 0, process.signal, process.signals
    for _ in range(3):
        child = subprocess.Popen([ASK, str(process.pid), "-dump"], stdout=subprocess.DEVNULL)
        while child.poll() is None:
            os.kill(process.pid, number)
            sent += 1
            time.sleep(0.0003)
    got = wait_for(lambda: process.signals - before == sent) or process.signals - before
    tap.ok(got is True and sent > 30, "signals that come meanwhile are delivered", (got, sent))


def check_threads(tap):
    process = LikeGo("threads")
    wait_for(lambda: process.begun > 300)
    runs = [copy(process) for _ in range(12 if LONG else 5)]
    tap.none([run for run in runs if run.status], runs, "threads that begin and end meanwhile", 5)
    tap.ok(process.goes_on(), "and it goes on")
    check_killed(tap, process, "with such threads", 30 if LONG else 8)
    process.end()


def check_waiting(tap):
    process = LikeGo("vfork")
    wait_for(lambda: "D" in process.states())
    path = os.path.join(WORK, "waiting.core")
    with open("/proc/%d/syscall" % process.pid, encoding="utf-8") as f:
        sp, pc = (int(word, 16) for word in f.read().split()[-2:])
    run = copy(process, path)
    thread = Core(path).threads.get(process.pid, b"") if run.status == 0 else b""
    at = (19, 16) if os.uname().machine == "x86_64" else (31, 32)
    tap.ok(len(thread) > 26 * 8 and [struct.unpack_from("<Q", thread, 8 * n)[0] for n in at] == [sp, pc] and
           Core(path).read(process.random, 24 << 20) == random_bytes(),
           "of a thread that waits in the kernel: where its stack and its code are", (run, thread, sp, pc))
    tap.ok("D" in process.states(), "it waits there on", process.states())
    tap.ok(wait_for(lambda: process.rounds > 5) and process.goes_on(), "and goes on when it may", process.states())
    process.end()


# --- who may ---------------------------------------------------------------------------------------------------

def check_permission(tap, process):
    if os.geteuid() or not shutil.which("setpriv"):
        tap.skip("a process of another user", "not root, or no setpriv")
    else:
        run = Run(as_user([CAIRN, "-y", str(process.pid), "-x", "info"]))
        tap.ok(run.status == 3 and "process %d (like_go) cannot be read: it belongs to user root (run the same command with sudo)"
               % process.pid in run.err, "a process of another user: said", run)
        other = LikeGo(user=NOBODY, group=NOBODY, extra_groups=[])
        run = Run(as_user([ASK, str(other.pid), "-dump"]))
        tap.ok(run.status == 0 or "cannot be stopped: this host allows ptrace to root alone" in run.err,
               "one of the same user, without capabilities", run)
        run = copy(other)
        tap.ok(run.status == 0 and other.goes_on(), "root copies one of another user", run)
        other.end()
    for call in ("ptrace", "process_vm_readv"):
        path = os.path.join(WORK, "forbidden.core")
        run = Run([sys.executable, os.path.join(HERE, "forbid.py"), call, ASK, str(process.pid), "-dump", path])
        if "no filter" in run.err:
            tap.skip("where a filter forbids " + call, run.err)
        elif call == "ptrace":
            tap.ok(run.status == ERRORS["io"] and "cannot be stopped: this container does not allow ptrace (docker run --cap-add SYS_PTRACE" in run.err,
                   "where a filter forbids ptrace: said", run)
        else:
            core = Core(path) if run.status == 0 else None
            tap.ok(core and core.read(process.random, 24 << 20) == random_bytes(), "where a filter forbids " + call, run)
    child = os.fork()
    if not child:
        libc = ctypes.CDLL(None)
        libc.ptrace.argtypes = [ctypes.c_long] * 4
        libc.ptrace(0x4206, process.pid, 0, 0)  # PTRACE_SEIZE; the end of this child ends it
        time.sleep(30)
        os._exit(0)
    wait_for(process.traced)
    run = copy(process)
    tap.ok(run.status == ERRORS["io"] and "cannot be stopped: process %d, a debugger, has it (let it go there)" % child in run.err,
           "a process that a debugger has: said", run)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    tap.ok(process.goes_on(), "it goes on")


def check_program(tap, process):
    """cairn itself."""
    path = os.path.join(WORK, "kept.core")
    run = Run([CAIRN, "-y", "--keep", path, str(process.pid), "-x", "info"])
    tap.ok("process %d (like_go) pauses for less than a second while cairn copies up to " % process.pid in run.err and
           path + " keeps the copy" in run.err, "what is going to be done is said", run)
    tap.ok(os.path.exists(path) and len(Core(path).threads) >= 9, "--keep leaves a core file", run)
    for words, what in ((["--keep", os.path.join(WORK, "x.hprof")], r'x\.hprof" is another format \(name the dump FILE\.core\)'),
                        (["--gc"], r"is a Go program, which cairn cannot have collect garbage \(leave out --gc\)")):
        run = Run([CAIRN, "-y", *words, str(process.pid), "-x", "info"])
        tap.ok(run.status == 2 and re.search(what, run.err), " ".join(words[:1]) + " is refused", run)
    run = Run([CAIRN, "-n", "--live", str(process.pid)])
    tap.ok(run.status == 3 and "is a Go program, which counts no objects by class (open a copy of it: cairn %d)" % process.pid
           in run.err, "--live: said", run)
    run = Run([CAIRN, "-x", "attach %d -core x.core" % process.pid])
    tap.ok(run.status == 2 and "but its dump is a core file" in run.err, "-core: said", run)
    tap.ok(process.goes_on(), "and the process goes on")


def real_go(tap):
    go = os.environ.get("CAIRN_GO") or shutil.which("go")
    if not go:
        tap.skip("a program of Go", "no go command (CAIRN_GO)")
        return
    source, program = os.path.join(WORK, "real.go"), os.path.join(WORK, "real")
    with open(source, "w", encoding="utf-8") as f:
        f.write(GO)
    built = Run([go, "build", "-o", program, source], timeout=110)
    if built.status:
        tap.skip("a program of Go", "it cannot be built: " + built.err[:60])
        return
    process = Process([program])
    check_equal(tap, process, "Go")
    check_after = process.said()
    tap.ok(wait_for(lambda: len(process.said()) > len(check_after)), "Go: it goes on")
    began = int(time.time())
    run = Run([CAIRN, "-y", "--format", "csv", "-x", "info | cut created", "-x", "sql SELECT count(*) FROM \"main.node\"",
               str(process.pid)])
    words = run.out.split()
    created = calendar.timegm(time.strptime(words[1], "%Y-%m-%dT%H:%M:%SZ")) if len(words) == 4 and words[1] else 0
    tap.ok(began <= created <= time.time(), "Go: info tells when it was copied", run)
    tap.ok(words[-1:] == ["50000"], "Go: its objects", run)
    process.end()


def main():
    if sys.platform != "linux" or struct.calcsize("P") != 8 or sys.byteorder != "little":
        skip_all("processes are copied on Linux, by programs of 64 bits")
    tap = Tap()
    process = LikeGo()
    run = copy(process)
    if run.status == ERRORS["io"] and "cannot be stopped" in run.err and os.geteuid():
        skip_all("ptrace is not permitted here")
    tap.ok(run.status == 0 and process.goes_on(), "it is copied, and goes on", run)
    if shutil.which("gcore"):
        core = check_equal(tap, process, "like_go")
        check_gdb(tap, process, core)
    else:
        tap.skip("beside gcore", "no gcore")
        copy(process, os.path.join(WORK, "ours.core"))
        core = Core(os.path.join(WORK, "ours.core"))
    check_memory(tap, process, core)
    check_large(tap)
    check_sizes(tap)
    check_signals(tap, process)
    check_killed(tap, process, "at once", 60 if LONG else 24)
    check_permission(tap, process)
    check_program(tap, process)
    process.end()
    check_threads(tap)
    check_waiting(tap)
    real_go(tap)
    tap.done()


main()
