# SPDX-License-Identifier: GPL-3.0-or-later
"""The number of a process is given to another one while cairn asks whether to go on; in a pid namespace of its own:

    unshare --pid --mount --fork --mount-proc reused_pid.py CAIRN COMMAND...     COMMAND is a VM that says "ready"
"""

import os
import pty
import subprocess
import sys


def until(terminal, words):
    said = b""
    while words not in said:
        try:
            said += os.read(terminal, 4096)
        except OSError:  # it has ended
            break
    return said


def main():
    cairn, *command = sys.argv[1:]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as vm:
        vm.stdout.readline()
        child, terminal = pty.fork()
        if child == 0:
            os.execv(cairn, [cairn, "-n", "-p", str(vm.pid), "-x", "info -brief"])
        until(terminal, b"[y/N]")
        vm.kill()
    other = None
    for _ in range(100):
        with open("/proc/sys/kernel/ns_last_pid", "w", encoding="ascii") as f:
            f.write(str(vm.pid - 1))
        other = subprocess.Popen(["sleep", "1000"])
        if other.pid == vm.pid:
            break
        other.kill()
        other.wait()
    os.write(terminal, b"y\n")
    print(until(terminal, b"no such words").decode())
    os.waitpid(child, 0)
    print("reused" if other.pid == vm.pid else "another number", "lives" if other.poll() is None else "has ended")
    other.kill()


main()
