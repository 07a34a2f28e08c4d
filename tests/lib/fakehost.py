# SPDX-License-Identifier: GPL-3.0-or-later
"""A host with processes that tests make: a folder in place of /proc, by proc(5), and what VMs publish in files.

The counters of HotSpot are written by the layout of perfMemory.hpp (32 bytes of prologue) and perfData.hpp (entries
with a name and an array or a long).
"""

import os
import shutil
import struct
import time

TICKS = os.sysconf("SC_CLK_TCK")
SERIAL = "Copy:MSC"
G1 = "GarbageFirst"
QUIT = 1 << 2  # bit of SIGQUIT in SigCgt


def entry(name, value, order="<"):
    """One counter: an int is a long, a str an array of bytes."""
    name = name.encode() + b"\0"
    at = 20 + len(name)
    pad = -at % 8
    if isinstance(value, int):
        kind, vector, data = b"J", 0, struct.pack(order + "q", value)
    else:
        data = value.encode() + b"\0"
        kind, vector = b"B", len(data)
    length = at + pad + len(data)
    length += -length % 8
    head = struct.pack(order + "iiicbbbi", length, 20, vector, kind, 0, 1, 3, at + pad)
    return (head + name + bytes(pad) + data).ljust(length, b"\0")


def counters(values, order="<"):
    """The bytes of a file of counters."""
    body = b"".join(entry(name, value, order) for name, value in values.items())
    prologue = struct.pack(order + "4sbbbbiiqii", b"\xca\xfe\xc0\xc0", order == "<", 2, 0, 1, 32 + len(body), 0, 0, 32,
                           len(values))
    return (prologue + body).ljust(32768, b"\0")


def hotspot(command, version="17.0.15", used=400 << 20, most=512 << 20, policy=SERIAL, young=37, full=1, seconds=1.5,
            **more):
    """What a VM of the kind publishes: half of the heap is young."""
    values = {
        "java.property.java.version": version,
        "java.property.java.vm.name": "OpenJDK 64-Bit Server VM",
        "java.property.java.vm.specification.version": version.split(".")[0],
        "sun.gc.policy.name": policy,
        "sun.os.hrt.frequency": 1000000000,
        "sun.rt.createVmBeginTime": int(time.time() * 1000),
        "sun.rt.javaCommand": command,
        "sun.gc.collector.0.invocations": young, "sun.gc.collector.0.time": int(seconds * 1e9),
        "sun.gc.collector.1.invocations": full, "sun.gc.collector.1.time": 0,
    }
    for g in range(2):
        start = "sun.gc.generation.%d." % g
        values[start + "capacity"] = most // 2
        values[start + "maxCapacity"] = most // 2 if policy == SERIAL else most + 8
        values[start + "space.0.used"] = used // 2
    values.update(more)
    return values


def go_program(version="go1.24.2", path="github.com/acme/shop/cmd/server", inline=True):
    """An ELF file with the one section .go.buildinfo, as the linker of Go writes it."""
    def text(s):
        n, length = len(s), b""
        while n > 0x7f:
            length += bytes([n & 0x7f | 0x80])
            n >>= 7
        return length + bytes([n]) + s
    frame = bytes(range(16))
    modules = frame + ("path\t%s\nmod\tgithub.com/acme/shop\t(devel)\t\n" % path).encode() + frame
    info = b"\xff Go buildinf:" + bytes([8, 2 if inline else 0]) + bytes(16)
    if inline:
        info += text(version.encode()) + text(modules)
    names = b"\0.go.buildinfo\0.shstrtab\0"
    at = 64
    sections = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    sections += struct.pack("<IIQQQQIIQQ", 1, 1, 3, 0, at, len(info), 0, 0, 16, 0)
    sections += struct.pack("<IIQQQQIIQQ", 15, 3, 0, 0, at + len(info), len(names), 0, 0, 1, 0)
    body = info + names
    head = struct.pack("<4sBBBB8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 2, 62, 1, 0, 0, at + len(body), 0, 64, 0, 0, 64,
                       3, 2)
    return head + body + sections


class Host:
    """A folder that stands for /proc (CAIRN_PROC)."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)

    def path(self, pid, *names):
        return os.path.join(self.folder, str(pid), *names)

    def put(self, pid, name, content):
        path = self.path(pid, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())

    def process(self, pid, arguments, age=0, inner=None, state="S (sleeping)", catches=QUIT, uid=None, group="0::/\n",
                tid=None):
        """A process of this many seconds; tid: pid is but a thread of this one."""
        uid = os.getuid() if uid is None else uid
        numbers = "\t".join([str(uid)] * 4)
        started = int((time.clock_gettime(time.CLOCK_BOOTTIME) - age) * TICKS)
        inner = [pid] + ([inner] if inner else [])
        self.put(pid, "status", "Name:\t%s\nState:\t%s\nTgid:\t%d\nPid:\t%d\nUid:\t%s\nGid:\t%s\nNStgid:\t%s\nSigIgn:\t%016x\n"
                 "SigCgt:\t%016x\n" % (os.path.basename(arguments[0])[:15], state, tid or pid, pid, numbers, numbers,
                                       "\t".join(map(str, inner)), 0, catches))
        self.put(pid, "stat", "%d (a) b) %s %s\n" % (pid, state[0], " ".join(["0"] * 18 + [str(started)] + ["0"] * 20)))
        self.put(pid, "cmdline", b"".join(a.encode() + b"\0" for a in arguments))
        self.put(pid, "comm", os.path.basename(arguments[0])[:15] + "\n")
        self.put(pid, "cgroup", group)
        os.makedirs(self.path(pid, "root", "tmp"), exist_ok=True)

    def java(self, pid, command, age=0, user="shop", inner=None, arguments=None, values=None, **more):
        """A HotSpot VM and its counters."""
        self.process(pid, arguments or ["java", "-Xmx512m"] + command.split(" "), age, inner=inner, **more)
        values = hotspot(command) if values is None else values
        self.put(pid, "root/tmp/hsperfdata_%s/%d" % (user, inner or pid),
                 values if isinstance(values, bytes) else counters(values))

    def go(self, pid, arguments, age=0, program=None, **more):
        self.process(pid, arguments, age, **more)
        self.put(pid, "exe", go_program() if program is None else program)

    def end(self, pid):
        shutil.rmtree(self.path(pid))
