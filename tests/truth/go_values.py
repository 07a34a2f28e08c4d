#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of real Go dumps against what their program planted and wrote down: fields of structs, maps,
channels, slices, interfaces, texts, goroutines with what they hold, globals, finalizers, samples.

The same program on machines of 4 and 8 bytes, both byte orders, moved in memory and stripped.
"""

import glob
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Tap, cairn, need_dumps, need_libdw, skip_all  # noqa: E402


class Dump:
    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path)[:-len(".dump")]
        with open(path[:-len(".dump")] + ".manifest.json", encoding="utf-8") as f:
            self.truth = json.load(f)
        self.answers = {}

    def ask(self, lines):
        """The lines that are asked singly later, in one run: opening the dump is most of a run's work."""
        run = cairn("--format", "json", *(word for line in lines for word in ("-x", line)), self.path)
        decoder, at, values = json.JSONDecoder(), 0, []
        while run.out[at:at + 1]:
            value, at = decoder.raw_decode(run.out, at)
            values.append(value)
            at += len(run.out[at:at + 2]) - len(run.out[at:at + 2].lstrip())
        if len(values) == len(lines):  # else each tells for itself what it lacks
            self.answers.update(zip(lines, values))

    def fields(self, address):
        return {r["name"]: r for r in self.rows("x %s" % address)}

    def rows(self, line):
        """The rows that a command answers with; none where it fails."""
        if line not in self.answers:
            run = cairn("--format", "json", "-x", line, self.path)
            self.answers[line] = json.loads(run.out) if run.out.strip() else []
        got = self.answers[line]
        if isinstance(got, dict):
            lists = [v for v in got.values() if isinstance(v, list)]
            return lists[0] if lists else [got]
        return got


def check_orders(tap, d):
    wrong = []
    for o in d.truth["order_samples"]:
        f = {k: v["value"] for k, v in d.fields(o["addr"]).items()}
        want = {k: str(o[k]) for k in ("ID", "B", "S", "I", "Status")}
        want["Paid"] = "true" if o["Paid"] else "false"
        want["Name"] = '"%s"' % o["Name"]
        for k, v in want.items():
            if f.get(k) != v:
                wrong.append("%s.%s: %r, not %r" % (o["addr"], k, f.get(k), v))
        for k in ("Price", "F32"):
            if abs(float(f.get(k, "nan")) - o[k]) > 1e-12:
                wrong.append("%s.%s: %r, not %r" % (o["addr"], k, f.get(k), o[k]))
        tags = '["%s"' % o["Tags"][0]
        if tags not in f.get("Tags", ""):
            wrong.append("%s.Tags: %r has no %r" % (o["addr"], f.get("Tags"), tags))
        meta = "nil" if o["Meta"] == "<nil>" else o["Meta"]
        if not f.get("Meta", "").startswith(meta):
            wrong.append("%s.Meta: %r is no %s" % (o["addr"], f.get("Meta"), meta))
    tap.none(wrong, d.truth["order_samples"], "%s: fields of orders" % d.name)


def check_known(tap, d):
    """Pointers at known offsets of known objects, whatever types are known."""
    wrong, n = [], 0
    for k in d.truth["known"]:
        if "NOT in the heap" in k.get("note", ""):
            continue
        rows = d.rows("refs %s -out" % k["addr"])
        to = {int(r["address"], 16) for r in rows}
        for edge in k.get("pointers", []):
            n += 1
            if int(edge["to"], 16) not in to:
                # a short text may stand in the middle of a shared block of 16 bytes
                if int(edge["to"], 16) & ~15 not in to:
                    wrong.append("%s: nothing at +%d leads to %s" % (k["name"], edge["offset"], edge["to"]))
    tap.ok(n > 10 and not wrong, "%s: %d pointers of known objects" % (d.name, n), "\n".join(wrong))


def check_globals(tap, d):
    rows = {r["slot"]: r for r in d.rows("roots | grep segment")}
    wrong, n = [], 0
    for name, v in d.truth["package_variables"].items():
        first = int(v["first_word"], 16)
        row = rows.get(name) or rows.get(name + "[0]")
        if name in ("main.DataVar", "main.IfaceVar") or not first:  # static data; an itab
            continue
        n += 1
        if row is None:
            wrong.append("%s is no root" % name)
        elif int(row["address"], 16) + (row["offset"] or 0) != first:
            wrong.append("%s: %s+%s, not 0x%x" % (name, row["address"], row["offset"], first))
    tap.ok(n > 10 and not wrong, "%s: %d globals by name" % (d.name, n), "\n".join(wrong))


def check_contents(tap, d):
    squares = {r["key"]: r["value"] for r in d.rows("entries main.IntMap")}
    tap.equal(squares, {str(k): str(k * k) for k in range(1000)}, "%s: a map of int" % d.name)
    small = {r["key"]: r["value"] for r in d.rows("entries main.SmallMap")}
    tap.equal(small, {'"one"': "1", '"two"': "2", '"three"': "3"}, "%s: a small map" % d.name)
    orders = {r["key"] for r in d.rows("entries main.Cache")}
    want = {'"order-%d"' % k for k in range(d.truth["expect"]["orders"])}
    tap.equal(orders, want, "%s: the keys of the cache" % d.name)
    big = {int(r["key"]) for r in d.rows("entries main.BigMap")}
    tap.equal(big, set(range(1000)), "%s: a map with pointers" % d.name)
    buffered = [r["value"].partition("N: ")[2].partition(",")[0] for r in d.rows("entries main.Buffered")]
    tap.equal(buffered, [str(600 + k) for k in range(6)], "%s: a channel, oldest first" % d.name)
    strings = {r["key"]: r["value"] for r in d.rows("entries main.Strings")}
    want = {'"latin1"': '"caf\u00e9"', '"cjk"': '"\u65e5\u672c\u8a9e"', '"emoji"': '"tree \U0001F333"',
            '"invalid"': '"\\xff\\xfe\\x00x"', '"empty"': '""'}
    tap.equal(strings, want, "%s: texts of the program, escaped" % d.name)
    kinds = [r["value"].split(" ")[0] for r in d.rows("x main.Ifaces")]
    want = ["int", "int", "int64", "float64", "string", "bool", "*main.Payload", "main.Inner", "[]int",
            "map[string]int", "nil", "*errors.errorString", "main.Pair[string,int]", "[3]int", "main.Status",
            "func()", "uint8"]
    tap.equal(kinds[:17], want, "%s: dynamic types of interfaces" % d.name)  # and room for one more
    got = [r["value"] for r in d.rows("x main.Ifaces")]
    tap.ok({"bool true", "uint8 200"} <= set(got), "%s: small values in interfaces" % d.name, got)
    tap.ok(any(v.startswith("*main.Payload 0x") and 'Tag: "iface", N: 77' in v for v in got),
           "%s: a pointer in an interface is followed" % d.name, got)
    shapes = [r["value"].partition(" ")[0] for r in d.rows("x main.Shapes")]
    want = ["main.Circle", "*main.Rect", "main.Blob", "*main.Blob"]
    tap.equal(shapes, want, "%s: dynamic types behind itabs" % d.name)
    ring = d.fields("main.RingHead")
    tap.equal(ring["Pos"]["value"], "0", "%s: a ring" % d.name)


def check_slices(tap, d):
    """Slices and strings that mean a part of an array, as the program cut them."""
    part = [r["value"] for r in d.rows("entries main.SubSlice")]
    tap.equal(part, [str(k) for k in range(900, 950)], "%s: a slice of the end of an array" % d.name)
    backing = next(r["address"] for r in d.rows("roots | grep SubSlice"))
    tap.equal([r["value"] for r in d.rows("entries %s" % backing)], part,
              "%s: the array that one slice alone holds" % d.name)
    hoard = d.rows("entries main.Hoard")
    tap.equal(len(hoard), d.truth["expect"]["hoard"], "%s: elements of a slice with room for more" % d.name)
    for name, held in (("SubSlice", "len 50 cap 50 at +7200"), ("SubString", "len 11 at +6000")):
        head = cairn("-x", "x main.%s -length 0" % name, d.path).out
        tap.ok(["held_as", *held.split(), "of", "main.%s" % name] in [l.split() for l in head.split("\n")],
               "%s: how the array of %s is held" % (d.name, name), head)


def check_closures(tap, d):
    """Closures capture a Payload with N 500 + k; a method value the receiver with N 12321."""
    wrong = []
    closures = [d.rows("x " + next(o["addr"] for o in d.truth["known"] if o["name"] == "closure %d" % k))[:2]
                for k in range(5)]
    d.ask(["x %s" % captured["address"] for _, captured in closures])
    for k, (code, captured) in enumerate(closures):
        if code["type"] != "code" or " main.main.func" not in code["value"]:
            wrong.append("closure %d: its code is %s" % (k, code))
        # nothing tells the type of what they hold: text, its length, N
        words = d.rows("x %s" % captured["address"])
        if captured["type"] != "pointer" or int(words[2]["value"].split()[0], 16) != 500 + k:
            wrong.append("closure %d: captured %s" % (k, captured))
    code, receiver = d.rows("x main.FuncVar")[:2]
    if not code["value"].endswith(".method-fm") or "N: 12321," not in receiver["value"]:
        wrong.append("method value: %s, %s" % (code, receiver))
    tap.none(wrong, closures, "%s: what closures capture" % d.name)


def check_goroutines(tap, d):
    rows = {r["id"]: r for r in d.rows("threads")}
    wrong = []
    for g in d.truth["goroutines"]:
        row = rows.get(g["goid"])
        if row is None:
            wrong.append("goroutine %d is missing" % g["goid"])
        elif g["kind"] in ("in a system call", "runnable (was running)"):
            if row["state"] == "waiting":
                wrong.append("goroutine %d waits" % g["goid"])
        elif (row["state"], row["waits_for"]) != ("waiting", g["kind"]):
            wrong.append("goroutine %d: %s %s, not %s" % (g["goid"], row["state"], row["waits_for"], g["kind"]))
    tap.none(wrong, d.truth["goroutines"], "%s: %d goroutines" % (d.name, len(d.truth["goroutines"])))
    groups = {}
    for r in d.rows("threads -by stack"):
        for name in ("main.leakRecv", "main.leakSend", "main.recurse"):
            if name in r["stack"]:
                groups[name] = groups.get(name, 0) + r["count"]
    tap.equal(groups, {"main.leakRecv": 40, "main.leakSend": 15, "main.recurse": 1},
              "%s: goroutines by stack" % d.name)
    held = {}
    for r in d.rows("roots | grep 'Stack frame'"):
        held.setdefault(int(r["thread"].split()[1]), {})[r["address"]] = r
    # the compiler lets go of arguments that are not used any more
    let_go = {"main.blockEmptySelect", "main.withDefers", "main.openDefer", "main.inPanic", "main.recurse"}
    wrong, n = [], 0
    for g in d.truth["goroutines"]:
        row = held.get(g["goid"], {}).get(g.get("payload_addr"))
        if "payload_addr" not in g or g["func"] in let_go:
            continue
        n += 1
        if row is None:
            wrong.append("goroutine %d does not hold %s" % (g["goid"], g["payload_addr"]))
        elif "N: %d," % g["payload_n"] not in row["value"]:
            wrong.append("goroutine %d: %r" % (g["goid"], row))
    tap.none(wrong, n, "%s: what %d blocked goroutines hold" % (d.name, n))
    if d.name == "go-mini":  # amd64 spills the argument into the frame of the function itself
        one = [g for g in d.truth["goroutines"] if g["func"] == "main.leakRecv"][0]
        rows = [r for r in d.rows("bt %d" % one["goid"]) if r["address"] == one["payload_addr"]]
        tap.equal([(r["variable"], r["method"].partition("+")[0]) for r in rows], [("p", "main.leakRecv")],
                  "%s: a local variable by its name" % d.name)
    last = [g["goid"] for g in d.truth["goroutines"] if g["func"] == "main.recurse"][0]
    frames = {r["frame"] for r in d.rows("bt %d" % last) if (r["method"] or "").startswith("main.recurse")}
    tap.equal(len(frames), 201, "%s: a deep stack" % d.name)


def check_rest(tap, d):
    queued = set(d.truth["finalizers"]["queued"])
    missing = queued - {r["address"] for r in d.rows("roots | grep ^Finalizable")}
    tap.none(missing, queued, "%s: queued finalizers are roots" % d.name)
    dups = {r["value"]: r["count"] for r in d.rows("dups")}
    tap.equal(dups.get("a duplicated string value"), 300, "%s: duplicated texts" % d.name)
    found = {r["address"] for r in d.rows("strings '^a duplicated string value$'")}
    want = {k["addr"] for k in d.truth["known"] if k["name"].startswith("Dups[")}
    tap.ok(len(found) == 300 and want <= found, "%s: texts by pattern" % d.name, len(found))
    run = cairn("--format", "json", "-x", "sites", d.path)
    if d.truth["environment"]["MemProfileRate"] != 1:
        tap.ok(run.status == 1 and "MemProfile" in run.err, "%s: says why there are no sites" % d.name, run)
        return
    rows = json.loads(run.out)
    with open(d.path[:-len(".dump")] + ".counts.json", encoding="utf-8") as f:
        samples = json.load(f)["records"]["allocsample"]
    tap.equal(sum(r["objects"] for r in rows), samples, "%s: every sample has its site" % d.name)
    order = d.rows("x %s" % d.truth["order_samples"][0]["addr"])
    tap.ok(any(r["site"].startswith("main.order") for r in rows) and order, "%s: sites by name" % d.name)


def check_stripped(tap, d):
    """Without names and types: segments and words."""
    slots = [r["slot"] for r in d.rows("roots | grep segment")]
    tap.ok(slots and all(s.startswith(("bss+0x", "data+0x")) for s in slots), "%s: places of globals" % d.name,
           slots[:5])
    for k in d.truth["known"][:4]:
        rows = {r["name"]: r for r in d.rows("x %s" % k["addr"])}
        for edge in k.get("pointers", []):
            row = rows.get("+0x%x" % edge["offset"], {})
            tap.equal((row.get("type"), row.get("value", "").partition("+")[0]), ("pointer", edge["to"]),
                      "%s: %s, the word at +%d" % (d.name, k["name"][:20], edge["offset"]))


# Of every dump with names; what is asked besides follows from their answers.
ASKED = ["roots | grep segment", "roots | grep SubSlice", "roots | grep 'Stack frame'", "roots | grep ^Finalizable",
         "threads", "threads -by stack", "dups", "strings '^a duplicated string value$'", "x main.Ifaces", "x main.Shapes",
         "x main.RingHead", "x main.FuncVar"] + \
        ["entries main." + name for name in ("IntMap", "SmallMap", "Cache", "BigMap", "Buffered", "Strings", "SubSlice", "Hoard")]


def main():
    tap = Tap()
    paths = sorted(glob.glob(os.path.join(need_dumps(), "go", "*.dump")))
    if not paths:
        skip_all("CAIRN_DUMPS holds no Go dumps")
    need_libdw()
    for path in paths:
        d = Dump(path)
        known = [k["addr"] for k in d.truth["known"] if int(k["addr"], 16) and "NOT in the heap" not in k.get("note", "")]
        d.ask(["refs %s -out" % a for a in known])
        if "stripped" not in d.name:
            closures = [k["addr"] for k in d.truth["known"] if k["name"].startswith("closure ")]
            d.ask(["x %s" % a for a in closures + [o["addr"] for o in d.truth["order_samples"]]] + ASKED)
        check_known(tap, d)
        if "stripped" in d.name:
            check_stripped(tap, d)
            continue
        for check in (check_orders, check_globals, check_contents, check_slices, check_closures,
                      check_goroutines, check_rest):
            check(tap, d)
    tap.done()


main()
