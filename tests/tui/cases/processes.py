# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes beside dumps and in a list of their own, on a host that the case makes; both follow what happens there."""

import os
import re
import shutil
import signal
import time

import fakehost
from cairntest import SHOP, SOURCE
from tmux import PROMPT
from tui import BOTH, case, enter, leave, need, selected, wait_selected

M = 1 << 20
ID = "4f6c0e1d2b3a" + "0123456789abcdef" * 3 + "0123"


def host(t):
    h = fakehost.Host(os.path.join(t.home, "proc"))
    h.java(4711, "com.acme.shop.Main --port 80", age=100)
    h.java(4800, "/srv/app.jar", inner=7, group="0::/docker/%s\n" % ID,
           values=fakehost.hotspot("/srv/app.jar", "25.0.3", 0, 2048 * M, fakehost.G1))
    h.go(5000, ["/srv/server"])
    os.mkdir(os.path.join(t.home, "d"))
    t.line('export CAIRN_PROC="$HOME/proc"; cd "$HOME/d"')
    return h


@case("cairn alone: processes behind the dumps; heaps are read again, processes come and go, the row stays", BOTH)
def beside_dumps(t):
    h = host(t)
    shutil.copy(SHOP, os.path.join(t.home, "d"))
    t.line('"$CAIRN"; echo "status $?"')
    wait_selected(t, r"^> .*shop\.hprof +HPROF")
    t.wait(r"^ .*4711  com\.acme\.shop\.Main +heap ~400M of 512M  OpenJDK 17")
    t.wait(r"^ .*4800  app\.jar +heap \? of 2\.0G  OpenJDK 25")
    t.keys("End")
    wait_selected(t, r" 5000  github\.com/acme/shop/cmd/server +go1\.24\.2  ")
    t.keys("T")
    t.wait(r"^T tags dumps for comparison")
    h.java(4711, "com.acme.shop.Main --port 80", age=100, values=fakehost.hotspot("com.acme.shop.Main", used=100 * M))
    t.wait(r"^ .*4711  .* heap ~100M of 512M")
    h.java(42, "first.Main", age=3)
    t.wait(r"^ .* 42  first\.Main ")
    wait_selected(t, r" 5000  github")
    h.end(4711)
    t.wait(r" 4711 ", gone=True)
    need(" 5000 " in selected(t), "the selected process stays selected", t)
    t.keys("Home", "Enter")
    wait_selected(t, r"byte\[\] +1,106 ")
    t.keys("q")
    wait_selected(t, r"shop\.hprof +HPROF .* current")
    t.keys("q")
    t.wait("^status 0$")


@case("cairn alone: shallow sorts processes by their heaps, w says how sure these are", BOTH)
def heaps(t):
    h = host(t)
    h.java(4900, "large.Main", values=fakehost.hotspot("large.Main", used=460 * M))
    shutil.copy(SHOP, os.path.join(t.home, "d"))
    t.line('"$CAIRN"')
    wait_selected(t, r"^> .*shop\.hprof +HPROF")
    for _ in range(6):
        t.keys("s")
        if " shallow v " in "\n".join(t.wait(lambda lines: t.resting())):
            break
    t.wait(" shallow v ")
    t.keys("Home")
    wait_selected(t, r" 4900 +large\.Main ")
    t.keys("w")
    t.wait(r"^shallow ~460M is inferred: the VM publishes it at its collections")
    t.keys("j")
    wait_selected(t, r" 4711 ")
    t.type("/app.jar")
    t.keys("Enter")
    wait_selected(t, r" 4800 ")
    t.keys("w")
    t.wait(r"^shallow is unknown: the VM publishes it at its collections")
    leave(t)


@case("cairn alone in a narrow window: s sorts by a column that is seen", ((40, 24),))
def seen(t):
    host(t)
    shutil.copy(SHOP, os.path.join(t.home, "d"))
    t.line('"$CAIRN"')
    wait_selected(t, r"shop\.hprof +HPROF")
    t.keys("s")
    t.wait(r" (file|format|created) \^ ")
    leave(t)


@case("cairn alone where no dump is: the processes, and that there is no dump; then none of either")
def alone(t):
    h = host(t)
    t.line('"$CAIRN"')
    wait_selected(t, r" 4711 +\S+\.Main +OpenJDK 17\.0\.15 +~400M +512M ")
    t.wait(r"^9 processes ")
    t.wait(r"^ +pid +main +vm +heap.used +heap.max ")
    t.wait(r"^no dump is in this directory")
    h.java(4900, "large.Main", values=fakehost.hotspot("large.Main", used=460 * M))
    t.wait(r" 4900 +large")
    t.keys("s", "s")
    wait_selected(t, r" 4900 +large\.Main ")
    t.keys("w")
    t.wait(r"^heap_used ~460M.* the VM")
    for pid in (4711, 4800, 4900, 5000):
        h.end(pid)
    t.wait(r"^ *:open FILE +opens a dump")
    h.java(6000, "later.Main")
    wait_selected(t, r" 6000 +later\.Main ")
    leave(t)


@case("processes: a table of its own, which stays sorted and filtered as it is read again", ((80, 24), (160, 30)))
def table(t):
    h = host(t)
    t.line('"$CAIRN" \'%s\'' % SHOP)
    t.wait("^> ")
    enter(t, "processes")
    t.wait(r"^ +pid +main +vm +heap.used +heap.max")
    wait_selected(t, r" 4711 +\S*\.Main +OpenJDK 17\.0\.15 +~400M +512M")
    t.wait(r"^  +5000 +\S*server +go1\.24\.2 ")
    t.keys("s")
    wait_selected(t, r" 5000 ")  # by pid, the largest first
    for pid in (10, 20, 6000):
        h.java(pid, "some.Main%d" % pid, values=fakehost.hotspot("some.Main%d" % pid, used=pid * M // 100))
    t.wait(r"^ .* 10 +some\.Main10 ")
    pids = [line.split()[0] for line in t.screen() if "OpenJDK" in line or "go1" in line]
    need([p for p in pids if p != ">"] == ["6000", "4800", "4711", "20", "10"], "they stay sorted: %s" % pids, t)
    wait_selected(t, r" 5000 ")
    t.keys("f")
    t.type("some")
    t.keys("Enter")
    t.wait(" 4711 ", gone=True)
    h.java(10, "some.Main10", values=fakehost.hotspot("some.Main10", used=460 * M))
    t.wait(r" 10 +some\.Main10 +OpenJDK 17\.0\.15 +~460M")
    need(not any("server" in line for line in t.screen()), "the filter stays", t)
    leave(t)


@case("w in the list of processes: its lines stay lines while the list is read again")
def why(t):
    h = host(t)
    t.line('"$CAIRN" \'%s\'' % SHOP)
    t.wait("^> ")
    enter(t, "processes")
    wait_selected(t, r" 4711 ")
    t.keys("w")
    t.wait(r"^the other numbers are exact")
    h.java(4712, "later.Main")
    t.wait(r" 4712 ")
    t.wait(r"^the other numbers are exact")
    leave(t)


@case("processes with long names: at 80 columns pid, simple name and heap are whole")
def long_names(t):
    h = host(t)
    h.java(5100, "com.acme.platform.inventory.reservation.InventoryReservationServiceApplication")
    h.java(5200, "/srv/inventory-reservation-service-application-1.0.2-SNAPSHOT.jar")
    shutil.copy(SHOP, os.path.join(t.home, "d"))
    t.line('"$CAIRN"')
    wait_selected(t, r"^> .*shop\.hprof +HPROF")
    t.keys("j")
    wait_selected(t, r" 4711  com\.acme\.shop\.Main +heap ~400M of 512M ")
    t.wait(r"^ +5100  InventoryReservationServiceApplication  heap ~400M of 512M ")
    t.wait(r"^ +5200  inventory-reservation-service-application-1\.0\.2-SNAPSHOT\.jar  heap")
    t.line(":processes")
    t.wait(r"^ +5100  (c\.a\.p\.i\.r\.)?InventoryReservationServiceApplication +~400M +512M( |$)")
    t.wait(r"^> +4711  com\.acme\.shop\.Main +~400M +512M( |$)")
    leave(t)


@case("processes that are no JVM: what they are is said before any question")
def refused(t):
    host(t)
    t.line('"$CAIRN"')
    wait_selected(t, r" 4711 ")
    t.wait(r"^Enter dump .* H live ")
    t.keys("Right")
    t.wait(r"^Enter dumps the heap of this process")
    t.keys("?")
    t.wait(r"THIS ROW")
    t.wait(r"Enter +dump its heap ")
    t.wait(r" H +watch its heap ")
    t.keys("Escape", "End")
    wait_selected(t, r" 5000 ")
    t.wait(r"^Enter dump .* H live ")
    for key, what in (("H", r"live: process 5000 \(\S+server\) is a Go program, which"),
                      ("Enter", r"attach: process 5000 \(\S+server\) cannot be stopped: ")):
        t.keys(key)
        t.wait(r"^" + what)
        t.keys("Home", "End")
    leave(t)
    t.line('"$CAIRN" --keep x.hprof')
    t.wait(r"^cairn: --keep, --gc and --yes are about a dump of a process: cairn --keep FILE P")
    t.line('"$CAIRN" 5000; echo "status $?"')
    t.wait(r"^cairn: process 5000 .* cannot be stopped: ")
    t.wait(r"^status 3")
    need("Go on?" not in t.text(), "nothing is asked", t)


def name_of(t):
    return os.path.basename(t.home)


def java(t, lists=1):
    """The pid of a VM that sleeps, with 9,000 nodes in each list; None: there is no Java here."""
    if not shutil.which("javac"):
        return None
    t.line("unset CAIRN_PROC; cd \"$HOME\"; mkdir vm; javac -d vm '%s' && clear && echo compiled" %
           os.path.join(SOURCE, "tests", "truth", "attach", "Sleeper.java"))
    t.wait("^compiled")
    t.line("java -Xmx%dm -cp vm -Dname=%s Sleeper %d > vm/out & echo $! > vm/pid" % (64 + 2 * lists, name_of(t), lists))
    wait_file(t, os.path.join(t.home, "vm", "out"), "ready")
    with open(os.path.join(t.home, "vm", "pid"), encoding="ascii") as f:
        return int(f.read())


def wait_file(t, path, word):
    until = time.monotonic() + 30
    while time.monotonic() < until:
        if os.path.exists(path) and word in open(path, encoding="ascii").read():
            return
        time.sleep(0.05)
    need(False, "%s in %s" % (word, path), t)


@case("--live with a real VM: the title, an order that stays, a dump of a class, the end of the VM", BOTH)
def live(t):
    pid = java(t)
    if not pid:
        return
    try:
        t.line('clear; "$CAIRN" --live %s; echo "status $?"' % name_of(t))
        wait_selected(t, r"byte\[\]|Sleeper\$Node")
        t.wait(r"Sleeper %d \u00b7 .*paused \d+\.\dms" % pid)
        t.wait(r"^for this answer the VM stopped its threads for \d+\.\d ms")
        t.keys("f")
        t.type("Sleeper$Node")
        t.keys("Enter")
        wait_selected(t, r"Sleeper\$Node +9,000 ")
        t.wait(r"filter: Sleeper\$Node +1/\d")
        t.wait(lambda lines: any("Sleeper$Node" in line and "\u2581\u2581" in line.split("9,000")[-1] for line in lines) or
               t.width < 100)  # a second answer, filtered as the first
        t.keys("Enter")
        t.wait(r"VM %d \(Sleeper\) pauses for less than a second" % pid)
        t.keys("n")
        t.wait(r"^attach: VM %d \(Sleeper\) is not asked" % pid)
        wait_selected(t, r"Sleeper\$Node +9,000 ")
        t.keys("Enter")
        t.wait(r"Go on\? \[y/N\]")
        t.keys("y")
        t.wait(r"> Sleeper\$Node +1/9,000")
        t.keys("q", "q")
        t.wait(r"filter: Sleeper\$Node +1/\d")
        wait_selected(t, r"Sleeper\$Node +9,000 ")
        t.keys("W")
        t.wait(r"^  d_shallow +(yes|no) +change since the first answer")
        t.wait(r"^  plot +(yes|no) +shallow size in the last answers")
        t.keys("q", "q")
        t.wait("^[> ] +%d +Sleeper " % pid)
        t.wait(r"^[> ] pid %d \(Sleeper\) +HPROF +\S+( \S+)? +\d\S*M " % pid if t.width < 100 else "^[> ] +1  pid %d" % pid)
        t.keys("Q")
        t.wait("^this dump is in no file: q again leaves it, :save FILE.hprof keeps it")
        t.keys("j")
        t.wait("again leaves it", gone=True)
        t.line(":q")
        t.wait("this dump is in no file: q again leaves it")
        t.line(":q")
        t.wait("^status 0")
        t.line('clear; "$CAIRN" -p %s; echo "status $?"' % name_of(t))
        t.wait(r"Go on\? \[y/N\]")
        t.keys("Enter")
        t.wait("^cairn: nothing was done")
        t.wait("^status 130")
        t.line('clear; "$CAIRN" -y -p %s; echo "status $?"' % name_of(t))
        t.wait(r"^Enter ")
        t.line(":save rows.csv")
        t.wait(r"^wrote \d+ rows")
        t.keys("q")
        t.wait("^this dump is in no file: q again leaves it")
        t.line(":save kept.hprof")
        t.wait(r"^wrote the dump to kept\.hprof, \d+\.\dM")
        t.keys("q")
        t.wait("^status 0")
        t.line('clear; "$CAIRN" --plain -y -p %s; echo "status $?"' % name_of(t))
        t.wait("^cairn>")
        t.keys("C-d")
        t.wait("quit: this dump is in no file: quit again leaves it, save FILE.hprof keep")
        t.keys("C-d")
        t.wait("^status 0")
        t.line("clear; \"$CAIRN\" kept.hprof -x 'histo Sleeper$Node'")
        t.wait(r"^Sleeper\$Node +9,000 ")
        t.line('clear; "$CAIRN" --live %s; echo "status $?"' % name_of(t))
        wait_selected(t, r"byte\[\]|Sleeper\$Node")
        os.kill(pid, signal.SIGKILL)
        t.wait(r"^live: VM %d \(Sleeper\) has ended" % pid)
        leave(t)
    finally:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def to_shell(t):
    t.keys("Q")
    t.wait("^%s|again leaves it" % PROMPT)
    if "again leaves it" in t.text():
        t.keys("Q")
        t.wait("^" + PROMPT)


def stop_dump(t, begin, stopped_words, late):
    """Stop a dump with ^C while the VM writes it.  The VM of a busy machine may be done when the key comes: the dump is
    stopped later (late), or is there.  Then it is tried again."""
    for _ in range(10):
        begin()
        t.wait("the VM writes its heap")
        t.keys("C-c")
        t.wait("|".join((stopped_words, late, r"Sleeper\$Node +2,250,000 ")))
        if re.search(stopped_words, t.text(), re.M):
            return
        if not re.search("^status", t.text(), re.M):
            to_shell(t)
    need(False, "stopped while the VM writes", t)


@case("^C while a real VM writes its heap: the VM goes on, nothing is left, and the screen can be used")
def stopped(t):
    pid = java(t, 250)
    if not pid:
        return
    try:
        t.line('clear; "$CAIRN"')
        t.wait(r"^Enter ")
        t.line(":attach %s" % name_of(t))
        t.wait("Go on")
        t.keys("C-c")
        t.wait(r"^attach: VM %d \(Sleeper\) is not asked" % pid)
        to_shell(t)

        def attach():
            t.line('clear; "$CAIRN"')
            t.wait(r"^Enter ")
            t.line(":attach %s" % name_of(t))
            t.wait("Go on")
            t.keys("y")
        stop_dump(t, attach, r"^attach: stopped; VM %d \(Sleeper\) goes on" % pid, "^attach: stopped; the dump")
        left = [name for place in ("/tmp", "/dev/shm", "/var/tmp") for name in os.listdir(place)
                if name.startswith(".cairn-%d-" % pid) or name == ".attach_pid%d" % pid]
        need(not left, "FIFOs and triggers are removed: %s" % left, t)
        t.line(":live %s | grep Node" % name_of(t))
        wait_selected(t, r"Sleeper\$Node +2,250,000 ")
        leave(t)
        stop_dump(t, lambda: t.line('clear; "$CAIRN" -y -p %s; echo "status $?"' % name_of(t)),
                  r"^cairn: stopped; pid %d \(Sleeper\) goes on\n(?s:.*)^status 130" % pid, "^status 130")
    finally:
        os.kill(pid, signal.SIGKILL)
