# SPDX-License-Identifier: GPL-3.0-or-later
"""VMs of OpenJ9, which fake_vm.py stands in for: locks, semaphore, answers, dumps and cores."""

import ctypes
import fcntl
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from cairntest import LONG, Run
from vms import ASK, DUMP_BYTES, ERRORS, FAKE, WORK, Process, ask, child_of, fake, left_behind, nothing_left, wait_for

CORE_BYTES = 3 << 20
JAVACORE_BYTES = len("0SECTION       TITLE subcomponent dump routine\n")
OPENJ9 = "/tmp/.com_ibm_tools_attach"
THREADS = ("Thread.print", "one\ntwo: three=\\four\t!#\rfive\fs\xe9chs 7")


def posts(drop=False):
    """What is left in the semaphore; drop: of those before."""
    libc, st = ctypes.CDLL(None), os.stat(os.path.join(OPENJ9, "_notifier"))
    key = 0xa1 << 24 | (st.st_dev & 0xff) << 16 | st.st_ino & 0xffff
    semaphore = libc.semget(ctypes.c_int(key - (1 << 32)), 1, 0)
    return libc.semctl(semaphore, 0, 16, 0) if drop else libc.semctl(semaphore, 0, 12)  # SETVAL, GETVAL


def end_openj9(vm):
    vm.process.terminate()
    vm.process.wait()
    shutil.rmtree(os.path.join(OPENJ9, str(vm.pid)), ignore_errors=True)  # of one that was killed


def check_fake_openj9(tap):
    vm = fake("openj9", "good")
    posts(True)
    run = ask(vm, "ATTACH_DIAGNOSTICS", THREADS[0])
    tap.ok(run.status == 0 and run.out == THREADS[1], "OpenJ9: an answer", "%s %s" % (run, vm.said()))
    tap.ok("reply 0o600 %d 16 ['']" % os.geteuid() in vm.said(), "OpenJ9: its reply is for its user alone", vm.said())
    tap.ok(wait_for(lambda: "ATTACH_DETACH" in vm.said(), 2), "OpenJ9: it is detached from", vm.said())
    kept = os.path.join(WORK, "kept.phd")
    run = ask(vm, "-dump", kept)
    tap.ok(run.status == 0 and os.path.getsize(kept) == DUMP_BYTES and "%d %d bytes" % (DUMP_BYTES, JAVACORE_BYTES) in run.out and
           "collects garbage" in run.out,
           "OpenJ9: a dump and its javacore", "%s %s" % (run, vm.said()))
    tap.ok(not nothing_left() and not glob.glob(OPENJ9 + "/%d/replyInfo" % vm.pid), "OpenJ9: nothing is left", left_behind())
    core = os.path.join(WORK, "core.dmp")
    run = ask(vm, "-dump", env={**os.environ, "ASK_CORE": core})
    st = os.stat(core) if os.path.exists(core) else None
    tap.ok(run.status == 0 and "the core file is %s (3.0M)" % core in run.out and st and st.st_mode & 0o777 == 0o600 and
           st.st_size == CORE_BYTES and st.st_blocks < 4096, "OpenJ9: a core file", "%s %s %s" % (run, st, vm.said()))
    run = ask(vm, "-dump", env={**os.environ, "ASK_CORE": core})
    tap.ok(run.status == ERRORS["usage"] and "there already" in run.err, "OpenJ9: no file becomes a core", run)
    script = "mount -t tmpfs -o size=1m none /mnt && ASK_CORE=/mnt/core %s %d -dump; echo status $?" % (ASK, vm.pid)
    run = Run(["unshare", "--mount", "sh", "-c", script])
    tap.ok("status" not in run.out or "no room for a core file" in run.err, "OpenJ9: no room for a core file", run)
    with open(OPENJ9 + "/_attachlock", "r+b") as f:
        fcntl.lockf(f, fcntl.LOCK_EX, 1)  # as the JDK's tools do it
        before = vm.said()
        one = subprocess.Popen([ASK, str(vm.pid), "ATTACH_DIAGNOSTICS", "Thread.print"], stdout=subprocess.PIPE)
        time.sleep(0.5)
        waited = one.poll() is None and vm.said() == before
    out = one.communicate()[0]
    tap.ok(waited and one.returncode == 0 and out, "OpenJ9: another tool is let attach first", vm.said())
    end_openj9(vm)
    option = "-Dcom.ibm.tools.attach.directory="
    for options, environment in (([option], {}), ([], {"JAVA_TOOL_OPTIONS": "-Xrs " + option})):
        vm = fake("openj9", "good", *options, **environment)
        run = ask(vm, "ATTACH_DIAGNOSTICS", "Thread.print")
        tap.ok(run.status == 0 and run.out == THREADS[1], "OpenJ9: its folder is named by %s" % (options or environment),
               "%s %s" % (run, vm.said()))
        end_openj9(vm)
    lock = os.stat(os.path.join(vm.folder, "_attachlock"))
    tap.equal(oct(lock.st_mode & 0o777), "0o666", "OpenJ9: VMs of all users can take the lock that was made")
    for manner in ("six", "named", "pieces", "huge", "stranger"):
        vm = fake("openj9", manner)
        run = ask(vm, "ATTACH_DIAGNOSTICS", "Thread.print")
        tap.ok(run.status == 0 and run.out == THREADS[1] + (999999 * " 7" if manner == "huge" else ""),
               "OpenJ9: a VM that is %s" % manner, "%d %.300s %s" % (run.status, run.out + run.err, vm.said()))
        end_openj9(vm)
    vm = fake("openj9", "piped")
    run = ask(vm, "-dump", env={**os.environ, "ASK_CORE": core + ".2"})
    tap.ok(run.status == 0 and re.search("no core file: .*(was not found|pipes core files)", run.out) and
           not os.path.exists(core + ".2"), "OpenJ9: a host that pipes core files to a program", run)
    end_openj9(vm)
    for manner, error, words in (("refuses", "io", "no dump today"), ("elsewhere", "io", "Dump written to"),
                                 ("old", "unsupported", "no diagnostic commands"), ("ends", "not found", "ended"),
                                 ("mute", "io", "did not connect"), ("wrong", "io", "did not connect")):
        if manner == "wrong" and not LONG:
            continue
        vms = [fake("openj9", manner) for _ in range(2 if manner == "mute" else 1)]
        vm = vms[0]
        run = ask(vm, "-dump")
        tap.ok(run.status == ERRORS[error] and words in run.err and not nothing_left() and (vm.lives() or manner == "ends"),
               "OpenJ9: a VM that is %s" % manner, "%s %s" % (run, left_behind()))
        tap.ok(not os.path.exists(OPENJ9 + "/%d/replyInfo" % vm.pid), "OpenJ9: no reply is left, %s" % manner)
        if manner == "mute":
            said = [wait_for(lambda: "locked" in vm.said(), 2) and re.findall("^(woken|.*locked)$", vm.said(), re.M) for vm in vms]
            tap.equal(said, [["woken", "was locked"]] * 2, "OpenJ9: each VM takes one post")
            tap.equal(posts(), 0, "OpenJ9: no post is left")
        for vm in vms:
            end_openj9(vm)


def check_killed(tap):
    """cairn is killed while it waits for the VM: the kernel takes posts back that no VM took."""
    vm = fake("openj9", "mute")
    posts(True)
    dead = os.path.join(OPENJ9, "0")  # of a VM that was killed
    os.makedirs(dead, exist_ok=True)
    one = subprocess.Popen([ASK, str(vm.pid), "ATTACH_DIAGNOSTICS", "Thread.print"])
    locked = wait_for(lambda: vm.said().count("woken") == 1)
    one.kill()
    one.wait()
    time.sleep(0.5)
    tap.ok(locked and vm.said().count("woken") == 1 and posts() == 0, "OpenJ9: cairn is killed, and no VM wakes for nothing",
           "%s %s" % (posts(), vm.said()))
    shutil.rmtree(dead)
    end_openj9(vm)


def check_openj9_container(tap):
    """With processes, mounts, network and semaphores of its own."""
    if Run(["unshare", "--pid", "--mount", "--net", "--ipc", "--fork", "true"]).status:
        tap.skip("OpenJ9: other namespaces", "this user may not make any")
        return
    script = ("mount -t tmpfs none /mnt && cp %s /mnt; mount -t tmpfs none /tmp; mount -t proc none /proc; "
              "exec %s /mnt/fake_vm.py openj9 /mnt good" % (FAKE, sys.executable))
    outside = Process(["unshare", "--pid", "--mount", "--net", "--ipc", "--fork", "sh", "-c", script])
    pid = child_of(outside.pid, sys.executable)
    run = Run([ASK, str(pid), "ATTACH_DIAGNOSTICS", "Thread.print"])
    tap.ok(run.status == 0 and run.out == THREADS[1], "OpenJ9: in other namespaces", "%s %s" % (run, outside.said()))
    os.kill(pid, signal.SIGKILL)
    outside.process.wait()
