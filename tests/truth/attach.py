# SPDX-License-Identifier: GPL-3.0-or-later
"""Dumps that running VMs write into memory: whole, and whatever happens to cairn or to the VM, the VM goes on.

Real VMs: the Java of this host and those of /usr/lib/jvm; CAIRN_JVMS names the homes of others.  A dump is compared
with one that jcmd wrote to a file while the program slept.  Where no real VM does what is tested, a program speaks its
protocol (attach/fake_vm.py; OpenJ9: attach/openj9_checks.py).
"""

import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path[:0] = [os.path.join(os.path.dirname(__file__), *words) for words in (["attach"], ["..", "lib"])]
from cairntest import CAIRN, LONG, SOURCE, Graph, Run, Tap, skip_all, turn  # noqa: E402
from openj9_checks import check_fake_openj9, check_killed, check_openj9_container  # noqa: E402
from vms import (ASK, DUMP_BYTES, ERRORS, HERE, NOBODY, WORK, Process, ask, child_of, fake, left_behind,  # noqa: E402
                 nothing_left, pids_of, running, wait_for)


class Jvm(Process):
    def __init__(self, home, *options, lists=1, **others):
        self.home = home
        self.user = ["setpriv", "--reuid=%d" % others["user"], "--regid=%d" % others["group"], "--clear-groups"] \
            if others else []
        super().__init__([os.path.join(home, "bin", "java"), "-Xshare:auto", *options, "-cp", WORK, "Sleeper",
                          str(lists)], **others)
        path = "/tmp/.java_pid%d" % self.pid
        if others and os.path.exists(path) and os.stat(path).st_uid != others["user"]:
            os.unlink(path)  # left by another VM of this number

    def jcmd(self, *words, timeout=20):
        """As its user: before Java 9 a VM refuses root."""
        return Run([*self.user, os.path.join(self.home, "bin", "jcmd"), str(self.pid), *words], timeout=timeout)

    def overwrites(self):
        """Can it write into a FIFO?"""
        return "-overwrite" in self.jcmd("help", "GC.heap_dump").out

    def answers(self):
        """It runs Java code and reaches safepoints."""
        run = self.jcmd("GC.heap_info")
        return self.lives() and run.status == 0 and str(self.pid) in run.out


def written(pid):
    """Bytes that a process has had written to disks."""
    with open("/proc/%d/io" % pid, encoding="ascii") as f:
        return int(re.search(r"^write_bytes: (\d+)", f.read(), re.M).group(1))


def homes():
    java = shutil.which("java")
    if not java or not shutil.which("javac"):
        skip_all("no java or javac")
    found = {os.path.dirname(os.path.dirname(os.path.realpath(java)))}
    found |= {os.path.dirname(os.path.dirname(os.path.realpath(path))) for path in glob.glob("/usr/lib/jvm/*/bin/java")}
    found |= set(filter(None, os.environ.get("CAIRN_JVMS", "").split(":")))
    return sorted(home for home in found if os.path.exists(os.path.join(home, "bin", "jcmd")))


def release_of(home):
    """Debian's Java 8 has no file "release"."""
    return int(re.search(r'version "(?:1\.)?(\d+)', Run([os.path.join(home, "bin", "java"), "-version"]).err).group(1))


# --- a dump is what the VM has --------------------------------------------------------------------------------------

COLLECTORS = ["Serial", "Parallel", "G1", "Z", "Shenandoah"]


def has_collector(home, collector):
    run = Run([os.path.join(home, "bin", "java"), "-XX:+Use%sGC" % collector, "-version"])
    return run.status == 0


def objects_of(path):
    graph = Graph.of_dump(path)
    return {o.address: (o.kind, o.cls, o.shallow, o.length) for o in graph.objects.values()}, graph.run


def check_dump(tap, home, collector):
    """No collection comes between: what jcmd's dump has is in ours, and ours has little more, of being asked."""
    name = "Java %d, %s" % (release_of(home), collector)
    if not has_collector(home, collector):
        tap.skip(name, "this VM has no such collector")
        return
    vm = Jvm(home, "-XX:+Use%sGC" % collector, "-Xmx256m")
    theirs, ours = os.path.join(WORK, "theirs.hprof"), os.path.join(WORK, "ours.hprof")
    by_fifos = vm.overwrites()
    theirs_run = vm.jcmd("GC.heap_dump", "-all", theirs)
    before = written(vm.pid)
    run = ask(vm, "-dump", ours)
    wrote = written(vm.pid) - before
    tap.ok(run.status == 0 and ":" not in run.out.splitlines()[-1], name + ": a dump", "%s\n%s" % (run, theirs_run))
    if run.status == 0:
        want, _ = objects_of(theirs)
        got, graph = objects_of(ours)
        tap.ok(graph.status == 0, name + ": it is not damaged", graph.err)
        if collector in ("Z", "Shenandoah"):  # objects may move at any time
            nodes = [sum(1 for o in objects.values() if o[1] == "Sleeper$Node") for objects in (want, got)]
            tap.equal(nodes, [9000, 9000], name + ": the same objects")
        else:
            missing = [address for address, o in want.items() if got.get(address) != o]
            tap.none(["0x%x %s, not %s" % (a, want[a], got.get(a)) for a in missing[:10]], want,
                     name + ": every object that jcmd's dump has", 40000)
        tap.ok(0 <= len(got) - len(want) < 3000, name + ": and little more", "%d and %d" % (len(got), len(want)))
        tap.ok(os.stat(ours).st_mode & 0o777 == 0o600, name + ": only this user may read the dump that is kept")
    if by_fifos:
        tap.ok(wrote < 65536, name + ": nothing is written to disk", wrote)
    else:
        tap.ok("folder has a file" in run.out and "nothing is written" not in run.out, name + ": it says what is written", run)
    live = ask(vm, "-live", ours)
    nodes = sum(1 for o in objects_of(ours)[0].values() if o[1] == "Sleeper$Node") if live.status == 0 else 0
    tap.ok(nodes == 9000, name + ": after a collection", live)
    tap.ok(vm.answers() and not nothing_left(), name + ": the VM goes on, nothing is left", left_behind())
    vm.end()
    for path in (theirs, ours):
        if os.path.exists(path):
            os.remove(path)


# --- nothing dies of it ----------------------------------------------------------------------------------------------

def moments():
    return [0.002, 0.01, 0.03, 0.06, 0.1, 0.2, 0.4] if LONG else [0.002, 0.02, 0.1, 0.3]


def check_ends(tap, vm, name):
    """cairn is killed, stopped or interrupted while it takes a dump."""
    faults = []
    asks = [[ASK, str(vm.pid), "-dump"], [CAIRN, "-p", str(vm.pid), "-x", "info -brief"], [ASK, str(vm.pid), "-live"]]
    for how in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
        for i, seconds in enumerate(moments()):
            one = subprocess.Popen(asks[i % len(asks)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
            time.sleep(seconds)
            guarded = how != signal.SIGKILL or len(pids_of(asks[i % len(asks)][0])) > 1
            one.send_signal(how)
            err = one.communicate()[1].decode()
            # what was made before there was a guard, and the trigger, the next run takes away
            early = seconds < 0.02 or not guarded
            folders = [path for path in nothing_left() if "attach_pid" not in path and not early]
            if not vm.answers() or folders:
                faults.append("%s after %.3f s: %s" % (how.name, seconds, folders or "the VM hangs"))
            if how == signal.SIGINT and one.returncode not in (0, ERRORS["cancelled"], 128 + signal.SIGINT, -signal.SIGINT):
                faults.append("%s after %.3f s: exit %d, %s" % (how.name, seconds, one.returncode, err))
    tap.none(faults, 3 * len(moments()), name + ": cairn is ended, and the VM goes on")
    run = ask(vm, "-dump")
    tap.ok(run.status == 0 and not nothing_left(), name + ": nothing is left after the next run", left_behind())


def check_stopped(tap, vm, name):
    one = subprocess.Popen([ASK, str(vm.pid), "-dump"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.2)
    one.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    goes_on = vm.answers()
    took = time.monotonic() - began
    one.send_signal(signal.SIGCONT)
    out, err = one.communicate()
    tap.ok(goes_on and took < 15, name + ": cairn is stopped, and the VM goes on", took)
    if not vm.overwrites():
        tap.ok(one.returncode == 0 and b"incomplete" not in out, name + ": its file has all", (one.returncode, out, err))
        return
    tap.ok(one.returncode == ERRORS["io"] and b"was stopped" in err, name + ": it says so, and has no dump with holes",
           (one.returncode, out, err))


def check_memory(tap, vm, name):
    """There is no room for the dump, not even when it is packed."""
    run = ask(vm, "-dump", "", str(2 << 20))
    tap.ok(run.status == ERRORS["memory"] and "--mem" in run.err and "--spill" in run.err,
           name + ": not enough memory", run)
    tap.ok(vm.answers() and not nothing_left(), name + ": the VM goes on without", left_behind())


def check_full(tap, vm, name):
    """The disk of the file to keep is full."""
    script = "mount -t tmpfs -o size=1m none /mnt && %s %d -dump /mnt/kept; echo status $?; ls -A /mnt" % (ASK, vm.pid)
    run = Run(["unshare", "--mount", "sh", "-c", script])
    if "status" not in run.out:
        tap.skip(name + ": no room for the file to keep", "this user may not mount any")
        return
    tap.ok(re.search(r"^[1-9]\d{6}.* bytes.*: the dump is not kept in /mnt/kept: No space left on device\nstatus 0\n\Z", run.out, re.M),
           name + ": no room for the file to keep", run)


def check_two(tap, vm, name):
    """Two at once: the VM does one after the other."""
    two = [subprocess.Popen([ASK, str(vm.pid), "-dump"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    outs = [one.communicate(timeout=60) for one in two]
    tap.ok([one.returncode for one in two] == [0, 0] and not any(b"incomplete" in out for out, _ in outs) and
           not nothing_left(), name + ": two dumps at once", "%s %s" % (outs, left_behind()))


def check_both_killed(tap, vm, name):
    """cairn and its guard are killed at once, as when their container is removed: the next run takes away what they
    left."""
    one = subprocess.Popen([ASK, str(vm.pid), "-dump"], stdout=subprocess.DEVNULL)
    wait_for(lambda: len(pids_of(ASK)) > 1 and glob.glob("/tmp/.cairn-%d-*" % vm.pid))
    time.sleep(0.05)  # there is a third for a moment
    for pid in sorted(pids_of(ASK), key=lambda pid: pid == one.pid):  # the guard first
        os.kill(pid, signal.SIGKILL)
    one.wait()
    wait_for(lambda: not pids_of(ASK))
    left = glob.glob("/tmp/.cairn-%d-*" % vm.pid)
    run = ask(vm, "-dump")
    tap.ok(left and run.status == 0 and not nothing_left(), name + ": both are killed, and the next run cleans up",
           "%s %s %s" % (left, run, left_behind()))


def check_hanging(tap, vm, name, *words):
    """The worst: both are killed just before the VM opens its second file, so that all of it waits for a reader."""
    folder = "/tmp/.cairn-%d-%s" % (vm.pid, "0123456789abcdef" * 2)
    os.mkdir(folder, 0o700)
    files = [os.path.join(folder, "heap.hprof" + end) for end in ("", ".p0")]
    for path in files:
        os.mkfifo(path, 0o600)
    jcmd = subprocess.Popen([os.path.join(vm.home, "bin", "jcmd"), str(vm.pid), "GC.heap_dump", "-all", "-overwrite",
                             files[0]], stdout=subprocess.DEVNULL)
    with open(files[0], "rb") as f:
        f.read(1 << 20)
    time.sleep(0.5)
    hangs = jcmd.poll() is None
    run = ask(vm, *words)
    jcmd.wait(10)
    tap.ok(hangs and run.status == 0 and vm.answers() and not nothing_left(),
           "%s: a VM that hangs is released by %s" % (name, words[0]), "%s %s %s" % (hangs, run, left_behind()))


def freeze(pid):
    """Freeze a process by its control group; what lets it go on, or None where this user may not."""
    for place, file, words in (("/sys/fs/cgroup", "cgroup.freeze", "10"), ("/sys/fs/cgroup/unified", "cgroup.freeze", "10"),
                               ("/sys/fs/cgroup/freezer", "freezer.state", ("FROZEN", "THAWED"))):
        folder = os.path.join(place, "cairn-test-%d" % os.getpid())
        try:
            os.mkdir(folder)
        except OSError:
            continue
        if not os.path.exists(os.path.join(folder, "cgroup.procs")):  # not such a file system
            os.rmdir(folder)
            continue

        def write(path, text):
            with open(path, "w", encoding="ascii") as f:
                f.write(text)

        def thaw(folder=folder, place=place, file=file, words=words):
            write(os.path.join(folder, file), words[1])
            write(os.path.join(place, "cgroup.procs"), str(pid))
            os.rmdir(folder)

        try:
            write(os.path.join(folder, "cgroup.procs"), str(pid))
            write(os.path.join(folder, file), words[0])
            return thaw
        except OSError:
            os.rmdir(folder)
    return None


def check_frozen(tap, vm, name):
    """As docker pause does it."""
    thaw = freeze(vm.pid)
    if not thaw:
        tap.skip(name + ": a VM whose container is paused", "this user may not freeze any")
        return
    run = ask(vm, "-dump")
    thaw()
    tap.ok(run.status == ERRORS["io"] and "is paused" in run.err and vm.answers(),
           name + ": a VM whose container is paused", run)


def check_vm_ends(tap, home, name):
    """The VM is stopped or killed while it writes."""
    vm = Jvm(home, "-Xmx1g", lists=200)
    one = subprocess.Popen([ASK, str(vm.pid), "-dump"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.15)
    os.kill(vm.pid, signal.SIGSTOP)
    out, err = one.communicate()
    tap.ok(one.returncode == ERRORS["io"] and b"is stopped" in err and b"kill -CONT" in err,
           name + ": a VM that is stopped while it writes", (one.returncode, out, err))
    run = ask(vm, "jcmd", "VM.version")
    tap.ok(run.status == ERRORS["io"] and "is stopped" in run.err, name + ": a VM that is stopped", run)
    os.kill(vm.pid, signal.SIGCONT)
    tap.ok(vm.answers() and not nothing_left(), name + ": it goes on", left_behind())
    kept = os.path.join(WORK, "kept.hprof")
    one = subprocess.Popen([ASK, str(vm.pid), "-dump", kept], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.15)
    vm.process.kill()
    out, err = one.communicate(timeout=20)
    tap.ok(one.returncode == 0 and b"incomplete" in out and b"ended" in out and os.path.getsize(kept) > 0,
           name + ": what came of a VM that was killed", (one.returncode, out, err))
    if os.path.exists(kept):
        os.remove(kept)
    run = ask(vm, "jcmd", "VM.version")  # not waited for: a zombie
    tap.ok(run.status == ERRORS["not found"] and "ended" in run.err, name + ": a zombie", run)
    vm.end()
    run = ask(vm, "jcmd", "VM.version")
    tap.ok(run.status == ERRORS["not found"] and "no process" in run.err, name + ": no process", run)
    tap.ok(not nothing_left(), name + ": nothing is left of it", left_behind())


def check_refusing(tap, home, name):
    """VMs that cannot be attached to get no signal."""
    vm = Jvm(home, "-XX:+DisableAttachMechanism")
    for what in ("", ", and the socket of a process that had its number"):
        run = ask(vm, "jcmd", "VM.version")
        tap.ok(run.status == ERRORS["unsupported"] and "DisableAttachMechanism" in run.err and vm.lives() and
               "Full thread dump" not in vm.said(), name + ": -XX:+DisableAttachMechanism" + what,
               "%s %s" % (run, vm.said()))
        if not what:
            path = "/tmp/.java_pid%d" % vm.pid
            if os.path.exists(path):  # of a process that really had its number
                os.unlink(path)
            with socket.socket(socket.AF_UNIX) as stale:
                stale.bind(path)
    vm.end()
    vm = Jvm(home, "-Xrs")
    run = ask(vm, "jcmd", "VM.version")
    tap.ok(run.status == 0 and vm.lives(), name + ": -Xrs, which has its socket from the beginning", run)
    os.unlink("/tmp/.java_pid%d" % vm.pid)
    run = ask(vm, "jcmd", "VM.version")
    tap.ok(run.status == ERRORS["unsupported"] and "SIGQUIT" in run.err and vm.lives(),
           name + ": -Xrs without its socket is not signalled", run)
    vm.end()
    sleeper = subprocess.Popen(["sleep", "1000"])
    running.append(sleeper)
    run = Run([ASK, str(sleeper.pid), "jcmd", "VM.version"])
    tap.ok(run.status == ERRORS["unsupported"] and "not a JVM: it runs sleep 1000 (" in run.err and sleeper.poll() is None,
           name + ": no VM at all", run)
    sleeper.kill()
    vm = Jvm(home)
    path = "/tmp/.java_pid%d" % vm.pid
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(path)
    stale.listen(1)
    run = ask(vm, "jcmd", "VM.version")
    tap.ok(run.status == ERRORS["io"] and "another process" in run.err, name + ": the socket of another process", run)
    stale.close()
    run = ask(vm, "jcmd", "VM.version")
    tap.ok(run.status == 0 and "JDK" in run.out, name + ": the socket of a process that has ended", run)
    os.unlink(path)
    run = ask(vm, "jcmd", "VM.version")
    tap.ok(run.status == 0 and "JDK" in run.out, name + ": its socket was removed", run)
    vm.end()


def check_reused(tap, home, name):
    """Another process has got the VM's number since it was found."""
    run = Run(["unshare", "--pid", "--mount", "--fork", "--mount-proc", sys.executable, os.path.join(HERE, "reused_pid.py"),
               CAIRN, os.path.join(home, "bin", "java"), "-cp", WORK, "Sleeper"])
    if "reused" not in run.out:
        tap.skip(name + ": a process with the number of another", "this user may not choose any")
        return
    tap.ok("(Sleeper) has ended" in run.out and "reused lives" in run.out, name + ": a process with the number of another", run)


# --- elsewhere --------------------------------------------------------------------------------------------------------

def check_user(tap, home, name):
    """Root asks the VM of another user; a user may not ask root's."""
    if os.geteuid():
        tap.skip(name + ": another user", "only root can begin its processes")
        return
    vm = Jvm(home, user=NOBODY, group=NOBODY, extra_groups=[])
    kept = os.path.join(WORK, "kept.hprof")
    run = ask(vm, "-dump", kept)
    tap.ok(run.status == 0 and os.stat(kept).st_uid == 0, name + ": the VM of another user", run)
    tap.ok(vm.answers() and not nothing_left(), name + ": nothing of it is left", left_behind())
    os.remove(kept)
    run = Run(["setpriv", "--reuid=%d" % NOBODY, "--regid=%d" % NOBODY, "--clear-groups", ASK, str(vm.pid), "-dump"])
    tap.ok(run.status == 0, name + ": that user asks it", run)
    run = Run(["setpriv", "--inh-caps=-all", "--bounding-set=-setuid,-setgid", ASK, str(vm.pid), "-dump"])
    tap.ok(run.status == ERRORS["io"] and "cannot act as user" in run.err and "--user %d:%d" % (NOBODY, NOBODY) in run.err,
           name + ": root may not act as another user", run)
    roots = Jvm(home)
    for words in (["jcmd", "VM.version"], ["-dump"]):
        run = Run(["setpriv", "--reuid=%d" % NOBODY, "--regid=%d" % NOBODY, "--clear-groups", ASK, str(roots.pid), *words])
        tap.ok(run.status == ERRORS["io"] and "belongs to user root" in run.err and "same command with sudo" in run.err and
               roots.lives(),
               name + ": a user asks the VM of root, %s" % words[0], run)
    vm.end()
    roots.end()
    for place in ("/tmp/.attach_pid%d", "/tmp/.java_pid%d"):  # which a third user made, or root's VM of this number left
        vm = Jvm(home, user=NOBODY, group=NOBODY, extra_groups=[])
        path = place % vm.pid
        if "attach" in path:
            os.mkfifo(path)
            os.chown(path, NOBODY - 1, NOBODY - 1)
        else:
            with socket.socket(socket.AF_UNIX) as stale:
                stale.bind(path)
        run = ask(vm, "jcmd", "VM.version")
        tap.ok(run.status == ERRORS["io"] and "(remove %s)" % path in run.err and "Full thread dump" not in vm.said(),
               name + ": a file of another user in the way, " + path[:10], "%s %s" % (run, vm.said()))
        os.unlink(path)
        run = ask(vm, "jcmd", "VM.version")
        tap.ok(run.status == 0, name + ": without it", run)
        vm.end()


def check_container(tap, home, name, overwrites):
    """Namespaces of its own for processes and mounts; a /tmp in memory, full but for a page, and no room elsewhere."""
    java = os.path.join(home, "bin", "java")
    if Run(["unshare", "--pid", "--mount", "--fork", "true"]).status:
        tap.skip(name + ": namespaces", "this user may not make any")
        return
    script = ("mount -t tmpfs none /mnt && cp %s/*.class /mnt; mount -t tmpfs -o size=256k none /tmp && head -c 252k /dev/zero >/tmp/full; mount -t proc none /proc; "
              "mount -t tmpfs -o size=64k,nr_inodes=1 none /var/tmp; exec %s -XX:-UsePerfData -cp /mnt Sleeper 1"
              % (WORK, java))
    outside = Process(["unshare", "--pid", "--mount", "--fork", "sh", "-c", script])
    pid = child_of(outside.pid, java)
    kept = os.path.join(WORK, "kept.hprof")
    run = Run([ASK, str(pid), "-dump", kept])
    objects = objects_of(kept)[0] if run.status == 0 else {}
    if not overwrites:
        tap.ok(run.status == ERRORS["io"] and "no disk for its dump" in run.err and not os.path.exists(kept),
               name + ": in other namespaces, and no room for its file", run)
        os.kill(pid, signal.SIGKILL)
        outside.process.wait()
        return
    tap.ok(sum(1 for o in objects.values() if o[1] == "Sleeper$Node") == 9000, name + ": in other namespaces, and a full /tmp",
           "%s %s" % (pid, run))
    inside = Run(["nsenter", "-t", str(pid), "-m", "ls", "-A", "/tmp"]).out.split()
    tap.equal(sorted(inside), [".java_pid1", "full"], name + ": nothing is left in its /tmp")
    for more, words in ((",+sys_ptrace", " bytes"), ("", "SYS_PTRACE")):  # as docker run --pid=container:NAME
        run = Run(["nsenter", "-t", str(pid), "-p", "unshare", "--mount", "sh", "-c", "mount -t proc none /proc; exec setpriv "
                   "--inh-caps=-all --bounding-set=-all,+chown,+dac_override,+fowner,+kill,+setgid,+setuid%s %s 1 -dump" %
                   (more, ASK)])
        tap.ok(words in run.out + run.err and (run.status == 0) == (more != ""),
               name + ": beside its container, with capabilities%s" % more, run)
    os.kill(pid, signal.SIGKILL)
    outside.process.wait()
    if os.path.exists(kept):
        os.remove(kept)


# --- protocols --------------------------------------------------------------------------------------------------------

def check_fake_hotspot(tap):
    vm = fake("hotspot", "old")
    kept = os.path.join(WORK, "kept.hprof")
    run = ask(vm, "-dump", kept)
    requests = [line for line in vm.said().splitlines() if line.startswith("request")]
    tap.ok(run.status == 0 and os.path.getsize(kept) == DUMP_BYTES and len(requests) == 2 and "-overwrite" not in requests[1],
           "a VM that does not write over a file: by a file", "%s %s" % (run, requests))
    run = ask(vm, "-dump", env={**os.environ, "ASK_CORE": kept + ".core"})
    tap.ok(run.status == ERRORS["usage"] and "only OpenJ9" in run.err, "a core file is asked of another VM", run)
    tap.ok("request 1 jcmd" in requests[0] and "SIGQUIT True" in vm.said(), "the protocol: a trigger, three arguments", vm.said())
    tap.ok(not nothing_left(), "the file is taken away", left_behind())
    vm.end()
    for manner, status, words in (("garbage", "io", "not an answer"), ("endless", "io", "without end"),
                                  ("closing", "io", "closed the connection"),
                                  ("ignores", "io", "did not open its socket")):
        vm = fake("hotspot", manner)
        run = ask(vm, "jcmd", "VM.version")
        tap.ok(run.status == ERRORS[status] and words in run.err and vm.lives(), "a VM whose answer is %s" % manner, run)
        tap.ok(not glob.glob("/tmp/.attach_pid%d" % vm.pid), "its trigger is taken away, %s" % manner)
        if manner == "garbage":
            run = ask(vm, "-dump")
            tap.ok(run.status == ERRORS["io"] and not nothing_left(), "no dump of it", "%s %s" % (run, left_behind()))
        vm.end()
    vm = fake("hotspot", "silent")
    one = subprocess.Popen([ASK, str(vm.pid), "-dump"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wait_for(lambda: "request" in vm.said())
    one.send_signal(signal.SIGINT)
    err = one.communicate(timeout=10)[1]
    tap.ok(one.returncode == ERRORS["cancelled"] and not nothing_left(), "^C while the VM is silent", (one.returncode, err))
    vm.end()


def check_saved_phd(tap):
    """What it dumped is saved as it came, by no other name than that of its format."""
    phd, = glob.glob(os.path.join(SOURCE, "data", "*.phd"))
    vm = fake("openj9", "good", dump=phd)
    saved, other = os.path.join(WORK, "saved.phd"), os.path.join(WORK, "saved.hprof")
    run = Run([CAIRN, "-y", "-n", "-p", str(vm.pid), "-x", "save " + other])
    tap.ok(run.status == 2 and "FILE.phd" in run.err and not os.path.exists(other), "OpenJ9: it is not saved as HPROF", run)
    run = Run([CAIRN, "-y", "-n", "-p", str(vm.pid), "-x", "save " + saved])
    with open(phd, "rb") as want, open(saved, "rb") as got:
        tap.ok(run.status == 0 and want.read() == got.read(), "OpenJ9: it is saved", run)
    vm.process.terminate()
    os.remove(saved)


def main():
    tap = Tap()
    vms = homes()
    Run(["javac", "-d", WORK, "--release", "8", "-Xlint:-options", os.path.join(HERE, "Sleeper.java")])
    if not os.path.exists(os.path.join(WORK, "Sleeper.class")):
        skip_all("javac makes no classes")
    if left_behind():
        skip_all("another cairn takes dumps here: %s" % left_behind())
    for i, home in enumerate(vms):
        for collector in turn(i, COLLECTORS):
            check_dump(tap, home, collector)
        if home not in turn(0, vms):
            continue
        name = "Java %d" % release_of(home)
        vm = Jvm(home, "-Xmx1g", lists=200)
        check_ends(tap, vm, name)
        check_stopped(tap, vm, name)
        check_both_killed(tap, vm, name)
        check_memory(tap, vm, name)
        check_full(tap, vm, name)
        check_two(tap, vm, name)
        check_frozen(tap, vm, name)
        if release_of(home) >= 22:
            check_hanging(tap, vm, name, "-dump")
            check_hanging(tap, vm, name, "jcmd", "VM.version")
        overwrites = vm.overwrites()
        vm.end()
        check_vm_ends(tap, home, name)
        check_refusing(tap, home, name)
        check_reused(tap, home, name)
        check_user(tap, home, name)
        check_container(tap, home, name, overwrites)
    check_fake_hotspot(tap)
    check_fake_openj9(tap)
    check_killed(tap)
    check_saved_phd(tap)
    check_openj9_container(tap)
    tap.done()


main()
