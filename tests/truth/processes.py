#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of processes: of a host that this test makes (tests/lib/fakehost.py), and of real JVMs beside jps, jstat and jcmd."""

import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import fakehost  # noqa: E402
from cairntest import DUMPS, SOURCE, Run, Tap, cairn, CAIRN  # noqa: E402
from fakehost import Host, counters, hotspot  # noqa: E402

ID = "4f6c0e1d2b3a" + "0123456789abcdef" * 3 + "0123"
M = 1 << 20


def listed(proc="", user=None):
    """pid -> row"""
    if user is None:
        run = cairn("-x", "processes", "--format", "json", env={"CAIRN_PROC": proc})
    else:
        done = subprocess.run([CAIRN, "-x", "processes", "--format", "json"], user=user, group=user, extra_groups=[],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, cwd="/",
                              env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]})
        run = Run(["true"])
        run.out, run.err, run.status = done.stdout.decode(), done.stderr.decode(), done.returncode
    try:
        return {row["pid"]: row for row in json.loads(run.out)}
    except ValueError:
        return {"error": str(run)}


def one(words, proc=""):
    run = cairn("-x", "processes " + words, "--format", "json", env={"CAIRN_PROC": proc})
    return json.loads(run.out)["pid"] if run.out else run.err


# --- a host that is made --------------------------------------------------------------------------------

def check_made(tap, folder):
    h = Host(folder)
    age = int(time.clock_gettime(time.CLOCK_BOOTTIME)) // 2
    h.java(100, "com.acme.shop.Main --port 80 --password geheim", age=300, group="0::/system.slice/docker-%s.scope\n" % ID)
    h.java(200, "/opt/my shop/shop.jar x", inner=7, user="inside",
           arguments=["/usr/bin/java", "-jar", "/opt/my shop/shop.jar", "x"],
           values=hotspot("/opt/my shop/shop.jar x", "25.0.3", 300 * M, 2048 * M, fakehost.G1, 5, 0, .25))
    old = hotspot("app.Old", used=8 * M)
    del old["java.property.java.version"]
    old["java.property.java.vm.specification.version"] = "1.8"
    old["sun.rt.internalVersion"] = "OpenJDK 64-Bit Server VM (25.402-b06) for linux-amd64 JRE (1.8.0_402-b06), built on x"
    h.java(300, "app.Old", values=old)
    h.java(310, "big.Endian", values=counters(hotspot("big.Endian", used=6 * M), ">"))
    h.java(320, "m.shop/com.acme.Modular", arguments=["java", "-p", "lib", "-m", "m.shop/com.acme.Modular"])
    h.java(330, "stale.Counters", arguments=["java", "fresh.Main"],
           values=dict(hotspot("stale.Counters"), **{"sun.rt.createVmBeginTime": 1000}))
    h.process(340, ["java", "-cp", "a:b", "--add-opens", "java.base/java.lang=ALL-UNNAMED", "-Xmx1g", "silent.Main", "a"],
              catches=0)  # -Xrs -XX:-UsePerfData
    h.java(350, "native.Image", values=dict(hotspot("native.Image"), **{"java.property.java.vm.name": "Substrate VM"}),
           arguments=["/opt/native"])
    h.go(400, ["/srv/server", "--token", "abc"], age=age)
    h.go(410, ["./scratch"], program=fakehost.go_program(path="command-line-arguments"))
    h.go(420, ["/srv/old"], program=fakehost.go_program(inline=False))
    for pid in (330, 340):
        h.put(pid, "maps", "7f00-7f01 r-xp 0 08:01 1 /jdk/lib/server/libjvm.so\n")
    h.process(430, ["/bin/editor"])
    h.put(430, "exe", b"\x7fELF" + bytes(60))
    h.process(440, ["/bin/quiet"], catches=0)
    h.java(450, "zombie.Main", state="Z (zombie)")
    h.process(500, ["/opt/ibm/bin/java", "j9.Main", "x"])
    h.put(500, "root/tmp/.com_ibm_tools_attach/500_1/attachInfo",
          "#comment\nversion=0.1\nuserId=7\nprocessId=500\ndisplayName=j9.M\\u00e4in\\:x y\n")
    h.put(500, "maps", "7f00-7f01 r-xp 00000000 08:01 1  /opt/ibm/lib/default/libj9vm29.so\n")
    h.put(500, "root/opt/ibm/release", 'IMPLEMENTOR="IBM"\nJAVA_VERSION="21.0.2"\n')
    h.process(510, ["/usr/sbin/jsvc", "x"])
    h.put(510, "maps", "00-01 r-xp 0 08:01 1 /bin/jsvc\n7f00-7f01 r-xp 0 08:01 1  /jdk8/jre/lib/amd64/server/libjvm.so\n")
    h.put(510, "root/jdk8/release", 'JAVA_VERSION="1.8.0_402"\n')
    rows = listed(folder)
    want = {
        100: ("com.acme.shop.Main", "OpenJDK 17.0.15", 400 * M, 512 * M, ID[:12]),
        200: ("shop.jar", "OpenJDK 25.0.3", 300 * M, 2048 * M, None),
        300: ("app.Old", "OpenJDK 1.8.0_402", 8 * M, 512 * M, None),
        310: ("big.Endian", "OpenJDK 17.0.15", 6 * M, 512 * M, None),
        320: ("com.acme.Modular", "OpenJDK 17.0.15", 400 * M, 512 * M, None),
        400: ("github.com/acme/shop/cmd/server", "go1.24.2", None, None, None),
        410: ("scratch", "go1.24.2", None, None, None), 420: ("old", None, None, None, None),
        500: ("j9.M\u00e4in:x", "OpenJ9 21.0.2", None, None, None),
        330: ("fresh.Main", None, None, None, None), 340: ("silent.Main", None, None, None, None),
        510: ("jsvc", "OpenJDK 1.8.0_402", None, None, None),
    }
    got = {pid: tuple(row[c] for c in ("main", "vm", "heap_used", "heap_max", "container"))
           for pid, row in rows.items() if pid in want}
    for pid in want:
        tap.ok(got.get(pid) == want[pid], "process %d: name, version, heap, container" % pid, (got.get(pid), rows.get("error")))
    tap.ok(not {350, 430, 440, 450} & set(rows), "native images, other programs and zombies are not listed", sorted(rows))
    commands = json.dumps(list(rows.values()))
    tap.ok("geheim" not in commands and "abc" not in commands and "--password ***" in commands, "secrets are masked", commands)
    up = rows.get(400, {}).get("uptime", 0)
    tap.ok(age <= up <= age + 9 and rows[100]["gc"] == "37 young, 1 full, 1.50s", "uptime and collections", (up, rows[100]["gc"]))
    check_names(tap, folder, h)
    check_hostile(tap, h, folder)


def check_names(tap, folder, h):
    got = one("com.acme.shop", folder)
    tap.ok(got == 100, "a part of the main class names a process", got)
    for words, what in (("com.acme", r'"com\.acme" matches several processes: 100 com\.acme\.shop\.Main '
                                       r'--port 80 --password \*\*\*, 320 com\.acme\.Modular \(give the number of one\)'),
                        ("99999", r"no process 99999"), ("nothing.such", r'no process of Java or Go has "nothing\.such"'),
                        ("450", r"process 450 \(zombie\.Main\) has ended: only its exit status is left")):
        said = one(words, folder)
        tap.ok(isinstance(said, str) and re.search(what, said), "processes " + words, said)
    for claim, status in (("\"processes -where 'heap_used > 0'\".heap_used < 401M", 0), ("processes.heap_used < 400M", 1), ("rows(processes) > 9", 0),
                          ("rows(\"processes -where 'pid < 250'\") = 2", 0),
                          ("(SELECT sum(heap_max) FROM processes WHERE pid = 200) = %d" % (2048 * M), 0)):
        run = cairn("-x", "assert \"%s\"" % claim.replace('"', '\\"'), env={"CAIRN_PROC": folder})
        tap.ok(run.status == status and not run.err, "assert " + claim, run)
    for name in ("com.acme.shop", "com.acme"):
        run = cairn(name, "-n", env={"CAIRN_PROC": folder})
        tap.ok(run.status == 3 and "no such file" in run.err and "cairn -p %s dumps it" % name in run.err,
               "cairn NAME: -p is named", run)
    h.process(101, ["java"], tid=100)
    got = one("101", folder)
    tap.ok(got == 100, "a thread names its process", got)
    shutil.rmtree(h.path(101))


def check_hostile(tap, h, folder):
    """Files of the wrong kind, owner or content, and links that lead out of a container."""
    outside = os.path.join(folder, "outside")
    os.mkdir(outside)
    with open(os.path.join(outside, "600"), "wb") as f:
        f.write(counters(hotspot("outside.Secret")))
    made = hotspot("hostile.Main")
    for pid, how in ((600, "folder is a link"), (601, "file is a link"), (602, "file is a pipe"), (603, "folder is a file"),
                     (604, "/tmp is a link out"), (605, "file is a socket"), (606, "other owner")):
        h.process(pid, ["java", "plain.Main"])
        tmp = h.path(pid, "root", "tmp")
        inside = os.path.join(tmp, "hsperfdata_x")
        if pid == 600:
            os.symlink(outside, inside)
        elif pid == 603:
            h.put(pid, "root/tmp/hsperfdata_x", b"file")
        elif pid == 604:
            os.rmdir(tmp)
            os.mkdir(os.path.join(outside, "hsperfdata_x"))
            shutil.copy(os.path.join(outside, "600"), os.path.join(outside, "hsperfdata_x", "604"))
            os.symlink(outside, tmp)
        else:
            os.mkdir(inside)
            path = os.path.join(inside, str(pid))
            if pid == 601:
                os.symlink(os.path.join(outside, "600"), path)
            elif pid == 602:
                os.mkfifo(path)
            elif pid == 605:
                socket.socket(socket.AF_UNIX).bind(path)
            else:
                h.put(pid, "root/tmp/hsperfdata_x/606", counters(made))
                if os.getuid() == 0:
                    os.chown(path, 12345, 12345)
                else:
                    os.unlink(path)
        h.put(pid, "maps", "7f00-7f01 r-xp 0 08:01 1 /jdk/lib/server/libjvm.so\n")
        start = time.time()
        row = listed(folder).get(pid, {})
        tap.ok(row.get("main") == "plain.Main" and row.get("heap_used") is None and time.time() - start < 5,
               "counters are not read: " + how, row)
    good = counters(hotspot("cut.Main"))
    h.process(610, ["java", "cut.Main"])
    h.put(610, "maps", "7f00-7f01 r-xp 0 08:01 1 /jdk/lib/server/libjvm.so\n")
    bad = []
    cuts = list(range(0, 40)) + list(range(40, 2400, 61))
    for n in cuts:
        h.put(610, "root/tmp/hsperfdata_x/610", good[:n])
        run = cairn("-x", "processes 610", "--format", "json", env={"CAIRN_PROC": folder})
        if run.status != 0 or "cut.Main" not in run.out:
            bad.append((n, str(run)))
    tap.none(bad, cuts, "counters that are cut anywhere: the process is there all the same")
    for pid in list(range(600, 607)) + [610]:
        h.end(pid)


def check_go(tap):
    """Real programs, and what is written beside them about how they were built."""
    said = {}
    for path in glob.glob(os.path.join(DUMPS, "**", "*.elf"), recursive=True) if DUMPS else []:
        if os.path.exists(path[:-4] + ".how.txt"):
            with open(path[:-4] + ".how.txt", encoding="utf-8", errors="replace") as f:
                said[path] = re.findall(r"go1\.[\d.]*\d", f.read())
    paths = [os.path.join(SOURCE, "data", "gocart.elf")] + sorted(path for path in said if said[path])
    with tempfile.TemporaryDirectory(prefix="cairn-") as folder:
        h = Host(folder)
        for i, path in enumerate(paths):
            with open(path, "rb") as f:
                h.go(i + 1, ["./program"], program=f.read())
        rows = listed(folder)
        vm = [rows.get(i + 1, {}).get("vm") or "" for i in range(len(paths))]
    tap.none([(p, v) for p, v in zip(paths, vm) if not re.match(r"go1\.\d", v) or v not in said.get(p, [v])], paths,
             "programs that Go built, with the version that built them")


# --- real ones -------------------------------------------------------------------------------------------

PROGRAM = """
public class Sleeper {
    static Object[] keep = new Object[20000];
    public static void main(String[] a) throws Exception {
        for (int i = 0; i < keep.length; i++) keep[i] = new byte[200];
        System.gc();
        System.out.println("ready");
        Thread.sleep(600000);
    }
}
"""


def homes():
    """Java homes with the tools: those installed, and those of CAIRN_JVMS."""
    named = os.environ.get("CAIRN_JVMS", "").split(":") + [os.path.join("/usr/lib/jvm", name)
                                                            for name in sorted(os.listdir("/usr/lib/jvm"))
                                                            ] if os.path.isdir("/usr/lib/jvm") else []
    found = {}
    for home in named:
        if home and all(os.access(os.path.join(home, "bin", tool), os.X_OK) for tool in ("java", "javac", "jps", "jstat", "jcmd")):
            found[os.path.realpath(home)] = home
    return sorted(found)


class Jvm:
    def __init__(self, home, folder, options, before=(), **how):
        self.home = home
        self.process = subprocess.Popen([*before, os.path.join(home, "bin", "java"), *options, "-cp", folder, "Sleeper", "first",
                                         "--password", "geheim"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **how)
        said = self.process.stdout.readline()
        while said and said != b"ready\n":
            said = self.process.stdout.readline()
        self.ready = bool(said)
        self.pid = self.process.pid

    def tool(self, name, *words):
        return subprocess.run([os.path.join(self.home, "bin", name), *map(str, words)], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False).stdout.decode()

    def end(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def jstat(jvm):
    """used and committed bytes of the heap, young and full collections, seconds in all"""
    lines = jvm.tool("jstat", "-gc", jvm.pid).split("\n")
    v = {k: float(x) for k, x in zip(lines[0].split(), lines[1].split()) if x not in "-"}
    used = sum(v.get(k, 0) for k in ("S0U", "S1U", "EU", "OU")) * 1024
    return used, (v.get("YGC", 0), v.get("FGC", 0)), v.get("GCT", 0)


def same(row, told):
    used, (young, full), seconds = told
    gc = row["gc"] or ""
    return abs((row["heap_used"] or 0) - used) <= 512 and gc.startswith("%d young, %d full" % (young, full)) and \
        abs(float(gc.split()[-1][:-1]) - seconds) < .02


def check_jvm(tap, jvm, what):
    name = "%s, %s" % (os.path.basename(jvm.home), what)
    jps = [line for line in jvm.tool("jps", "-lm").split("\n") if line.startswith("%d " % jvm.pid)]
    row, told, looked = {}, None, 0
    for _ in range(6):  # it samples its counters itself
        row, looked = listed().get(jvm.pid), time.monotonic()
        told = jstat(jvm)
        if row and same(row, told):
            break
        time.sleep(.2)
    tap.ok(row and jps == ["%d %s first --password geheim" % (jvm.pid, row["main"])], name + ": jps has the same name", (row, jps))
    if not row:
        return
    tap.ok(same(row, told), name + ": jstat has the same heap and collections", (row, told))
    flags = jvm.tool("jcmd", jvm.pid, "VM.flags", "-all")
    most = re.search(r"\bMaxHeapSize +:?= +(\d+)", flags)
    tap.ok(most and row["heap_max"] == int(most.group(1)), name + ": jcmd has the same maximum", (row["heap_max"], most and most.group()))
    uptime = re.search(r"([\d.]+) s", jvm.tool("jcmd", jvm.pid, "VM.uptime"))
    later = time.monotonic() - looked
    tap.ok(uptime and -2 < float(uptime.group(1)) - row["uptime"] < later + 2, name + ": jcmd has the same uptime", (row["uptime"], uptime))
    version = jvm.tool("jcmd", jvm.pid, "VM.version")
    release = re.search(r"(?:1\.)?(\d+)\S*$", row["vm"]).group(1)  # "1.8.0_504", "28-ea+18"
    tap.ok(release in re.findall(r"\bJDK (\d+)", version), name + ": jcmd has the same version", version)


def check_real(tap, folder, home):
    with open(os.path.join(folder, "Sleeper.java"), "w", encoding="ascii") as f:
        f.write(PROGRAM)
    subprocess.run([os.path.join(home, "bin", "javac"), "-d", folder, f.name], check=True)
    for gc in ("Serial", "Parallel", "G1", "Z", "Shenandoah"):
        jvm = Jvm(home, folder, ["-Xmx160m", "-XX:+Use%sGC" % gc])
        if jvm.ready:
            check_jvm(tap, jvm, gc)
        else:
            tap.skip("%s %s" % (home, gc), "this JVM has no such collector")
        jvm.end()
    jvm = Jvm(home, folder, ["-XX:-UsePerfData", "-Xrs"])
    row = listed().get(jvm.pid, {})
    tap.ok(row.get("main") == "Sleeper" and row["heap_used"] is None and
           bool(row["vm"]) == os.path.exists(os.path.join(home, "release")), "a VM without counters and signals", row)
    jvm.end()
    if os.getuid() == 0:
        check_others(tap, folder, home)
    else:
        tap.skip("other users and namespaces", "needs root")


def check_others(tap, folder, home):
    os.chmod(folder, 0o755)
    jvm = Jvm(home, folder, ["-Xmx64m"], user=65534, group=65534, extra_groups=[])
    row = listed().get(jvm.pid, {})
    tap.ok(row.get("main") == "Sleeper" and row["heap_max"] == 64 * M and row["state"] is None, "root: a VM of another user", row)
    jvm.end()
    jvm = Jvm(home, folder, ["-Xmx64m"])
    if os.access(CAIRN, os.X_OK):
        row = listed(user=65534).get(jvm.pid, {})
        tap.ok(row.get("main") == "Sleeper" and row["heap_max"] is None and row["state"] == "no permission (user root)",
               "another user: a VM of root", row)
    jvm.end()
    inside = ["unshare", "--pid", "--mount", "--fork", "sh", "-c", 'mount -t tmpfs none /tmp && exec "$@"', "sh"]
    classes = tempfile.mkdtemp(prefix="cairn-", dir="/var/tmp")
    shutil.copy(os.path.join(folder, "Sleeper.class"), classes)
    jvm = Jvm(home, classes, ["-Xmx64m"], inside)
    if not jvm.ready:
        tap.skip("a VM in namespaces of its own", "unshare is not allowed")
    else:
        rows = [row for row in listed().values() if isinstance(row, dict) and classes in row["command_line"]]
        tap.ok(len(rows) == 1 and rows[0]["heap_max"] == 64 * M, "a VM in a pid namespace with its own /tmp", rows)
        for row in rows:
            os.kill(row["pid"], signal.SIGKILL)
    jvm.end()
    shutil.rmtree(classes)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="cairn-") as folder:
        check_made(tap, os.path.join(folder, "proc"))
    check_go(tap)
    for home in homes():
        with tempfile.TemporaryDirectory(prefix="cairn-") as folder:
            check_real(tap, folder, home)
    if not homes():
        tap.skip("real JVMs", "no JDK is installed")
    tap.done()


main()
