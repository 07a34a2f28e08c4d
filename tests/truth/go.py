#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real Go dumps: what two other programs say of them, and what their own program planted.

counts.json comes from a reader that shares no code with cairn, manifest.json from the program that
wrote the dump: addresses it knows and what they point to, its goroutines, its finalizers, dominators
that it built on purpose.  Everything is asked with commands, through machine formats.
"""

import bisect
import glob
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, Graph, Run, Tap, cairn, need_dumps  # noqa: E402
from godump import records  # noqa: E402

TOOL = os.path.join(BUILD, "tests", "tools", "dominators")

# How the program words what a goroutine does, and state and reason in the dump.
STATES = {"in a system call": ("syscall", None), "runnable (was running)": ("runnable", None)}


def ask(path, *commands):
    """The answers of several commands, which are printed one after another."""
    arguments = [a for c in commands for a in ("-x", c)]
    run = cairn(*arguments, "--format", "json", path)
    answers, decoder, at = [], json.JSONDecoder(), 0
    while at < len(run.out.rstrip()):
        answer, at = decoder.raw_decode(run.out, at)
        answers.append(answer)
        while at < len(run.out) and run.out[at].isspace():
            at += 1
    return run, answers


def check_counts(tap, name, path, counts):
    run, answers = ask(path, "info", "check -tree")
    if not tap.ok(run.status == 0 and len(answers) == 2, name + ": opens, and all promises hold", run):
        return
    info, checks = answers
    tap.none([c for c in checks if c["result"] == "broken"], checks, name + ": nothing is broken")
    params = counts["params"]
    want = {"format": "go", "version": "1.7", "word_bits": 8 * params["pointer_size"],
            "byte_order": "big" if params["big_endian"] else "little",
            "vm": params["version"] + " " + params["arch"],
            "objects": counts["records"]["object"], "shallow": counts["object_bytes"],
            "threads": counts["records"]["goroutine"], "warnings": 0,
            "reachable_objects": counts["reachable"]["objects"],
            "reachable_shallow": counts["reachable"]["bytes"]}
    want.update(counts["memstats"])
    tap.equal({k: info.get(k) for k in want}, want, name + ": overview and memory statistics")


def check_objects(tap, name, graph, counts):
    sizes = {}
    for o in graph.objects.values():
        sizes[o.shallow] = sizes.get(o.shallow, 0) + 1
    want = {size: n for size, n in counts["objects_by_size_top"]}
    tap.equal({s: sizes.get(s) for s in want}, want, name + ": objects of each size")


def covering(graph, starts, address):
    """The object that an address lies in, by bisection over all of them."""
    low, high = 0, len(starts)
    while low < high:
        middle = (low + high) // 2
        if starts[middle] <= address:
            low = middle + 1
        else:
            high = middle
    start = starts[low - 1] if low else None
    inside = low and address < start + graph.objects[start].shallow
    return start if inside else None


def check_known(tap, name, graph, manifest):
    wrong, n = [], 0
    starts = sorted(graph.objects)
    for known in manifest["known"]:
        address = int(known["addr"], 0)
        if not starts[0] <= address <= starts[-1]:  # nil, or static data
            continue
        n += 1
        o = graph.objects.get(covering(graph, starts, address))
        if o is None or o.shallow < known["object_size_at_least"]:
            wrong.append("%s: %s" % (known["name"], o and o.shallow))
            continue
        for pointer in known.get("pointers", []):
            target = int(pointer["to"], 0)
            start = covering(graph, starts, target)
            if start not in o.out:
                wrong.append("%s: nothing leads from +%d to 0x%x" % (known["name"], pointer["offset"], target))
    tap.none(wrong, n, "%s: %d known objects of %d and what they point to" % (name, n, len(manifest["known"])), 20)


def check_chain(tap, name, graph, manifest):
    head = [k for k in manifest["known"] if k["name"] == "Chain head"][0]
    at, n = int(head["addr"], 0), 0
    while at is not None and n <= 10 ** 6:
        n += 1
        out = graph.objects[at].out
        at = out[0] if out else None
    tap.equal(n, manifest["expect"]["chain"], name + ": the chain, link by link")


def check_goroutines(tap, name, path, manifest, counts):
    run, answers = ask(path, "goroutines -retained")
    if not tap.ok(run.status == 0 and answers, name + ": goroutines", run):
        return
    threads = {t["tid"]: t for t in answers[0]}
    tap.equal(sum(t["frames"] for t in threads.values()), counts["goroutines"]["frames"],
              name + ": frames of all goroutines")
    tap.equal(sum(1 for t in threads.values() if t["system"]), counts["goroutines"]["system"],
              name + ": goroutines of the runtime")
    reasons = {}
    for t in threads.values():
        if t["waits_for"]:
            reasons[t["waits_for"]] = reasons.get(t["waits_for"], 0) + 1
    tap.equal(reasons, {r: n for r, n in counts["goroutine_reasons"].items() if r},
              name + ": what they wait for")
    wrong = []
    for g in manifest["goroutines"]:
        t = threads.get(g["goid"], {})
        state = STATES.get(g["kind"], ("waiting", g["kind"]))
        if (t.get("state"), t.get("waits_for")) != state:
            wrong.append("%d: %s, not %s" % (g["goid"], (t.get("state"), t.get("waits_for")), state))
        if t.get("name") != "goroutine %d %s" % (g["goid"], g["func"]):
            wrong.append("%d: %s, not %s" % (g["goid"], t.get("name"), g["func"]))
        if not (t.get("retained") or 0) > 0:
            wrong.append("%d: retains %s" % (g["goid"], t.get("retained")))
    tap.none(wrong, manifest["goroutines"], name + ": goroutines as their program made them")


def check_frames(tap, name, path, manifest, counts):
    """The Payload that each goroutine was given, in one of its frames."""
    without = {int(w.split()[1]) for w in counts["payload_not_in_a_frame_slot"]}
    asked = [g for g in manifest["goroutines"] if g["goid"] not in without]
    run, answers = ask(path, *["bt %d" % g["goid"] for g in asked])
    wrong = [] if len(answers) == len(asked) else [str(run)]
    for g, frames in zip(asked, answers):
        held = [f for f in frames if f["address"] == g["payload_addr"] and f["kind"] == "Stack frame"]
        if not held:
            wrong.append("%d %s does not hold %s" % (g["goid"], g["func"], g["payload_addr"]))
    tap.none(wrong, answers, "%s: what %d goroutines hold in their frames" % (name, len(asked)))
    deep = [f for g, a in zip(asked, answers) if g["func"] == "main.recurse" for f in a]
    deep = {f["frame"] for f in deep if (f["method"] or "").split("+")[0] == "main.recurse"}
    tap.equal(len(deep), 201, name + ": a goroutine 201 calls deep")


def check_dominators(tap, name, path, manifest, counts):
    address = manifest["dominators"]["addr"]
    letter = {int(a, 0): which for which, a in address.items()}
    above = {}
    for line in Run([TOOL, path]).out.splitlines():
        child, parent, _ = line.split("\t")
        above[int(child, 16)] = 0 if parent == "-" else int(parent, 16)
    got = []
    for which, a in address.items():
        at = above.get(int(a, 0), 0)
        while at and at not in letter:  # through the slice that holds its edges
            at = above[at]
        if at:
            got.append("%s:%s" % (which, letter[at]))
    tap.equal(sorted(got), sorted(manifest["dominators"]["immediate_dominator_of"].split()),
              name + ": immediate dominators as planted")
    removal = counts.get("retained_by_removal", {})
    run, answers = ask(path, *["size %s" % r["addr"] for r in removal.values()])
    got = {k: (a.get("retained"), a.get("retained_objects")) for k, a in zip(removal, answers)}
    want = {k: (r["retained_bytes"], r["objects"]) for k, r in removal.items()}
    tap.equal(got, want, "%s: %d retained sizes, found there by taking the object away" % (name, len(want)))


def check_roots(tap, name, path, manifest, counts):
    run, answers = ask(path, "roots")
    roots = answers[0] if answers else []
    of = {}
    for r in roots:
        of.setdefault(r["kind"], set()).add(r["address"])
    queued = set(manifest["finalizers"]["queued"])
    kept = set(manifest["finalizers"]["kept"])
    tap.ok(queued <= of.get("Finalizable", set()), name + ": queued finalizers hold their objects", of)
    tap.none(kept & of.get("Finalizable", set()), kept, name + ": registered ones do not")
    base = int(counts["bss_segment"]["addr"], 0)
    data = int(counts["data_segment"]["addr"], 0)
    held = {r["slot"] for r in roots if r["kind"] in ("BSS segment", "Data segment")}
    wrong, n = [], 0
    for variable, v in manifest["package_variables"].items():
        first, at = int(v["first_word"], 0), int(v["var_addr"], 0)
        if not int(counts["params"]["heap_start"], 0) <= first < int(counts["params"]["heap_end"], 0):
            continue
        n += 1
        names = {variable, "bss+0x%x" % (at - base), "data+0x%x" % (at - data)}
        if not names & held:
            wrong.append("%s at 0x%x" % (variable, at))
    tap.none(wrong, n, "%s: %d variables of the program are roots" % (name, n), 12)


ROOT_WORDS = {"root": ("pointer",), "goroutine": ("address", "context"), "thread": ("address",),
              "finalizer": ("object", "closure"), "queued": ("object", "closure"),
              "defer": ("address", "closure"), "panic": ("address", "data")}


def root_words(path):
    """Every non-nil word that a record tells as a root, and where the objects lie: begin and end."""
    words, objects, width, order = [], [], 8, "little"
    for r in records(path):
        if r.kind == "params":
            width, order = r.pointer, "big" if r.big_endian else "little"
        elif r.kind == "object":
            objects.append((r.address, r.address + len(r.contents)))
        elif r.kind in ROOT_WORDS:
            words += [r[field] for field in ROOT_WORDS[r.kind]]
        elif r.kind in ("frame", "data", "bss"):
            words += [int.from_bytes(r.contents[at:at + width], order) for at in r.fields
                      if at + width <= len(r.contents)]
    return [w for w in words if w], sorted(objects)


def check_outside(tap, name, path):
    words, objects = root_words(path)
    outside = 0
    for w in words:
        at = bisect.bisect_right(objects, (w, 1 << 64)) - 1
        outside += at < 0 or not (w < objects[at][1] or w == objects[at][0])
    run, answers = ask(path, "info")
    got = answers[0] if answers else {}
    tap.equal([got.get("dropped_roots"), got.get("outside_roots")], [0, outside],
              "%s: of %d root words those that lead outside of the heap" % (name, len(words)))


def check_garbage(tap, name, path, counts):
    run, answers = ask(path, "ls * -dead")
    sizes = {}
    for o in answers[0] if answers else []:
        sizes[o["shallow"]] = sizes.get(o["shallow"], 0) + 1
    want = {size: n for size, n in counts["unreachable_by_size_top"]}
    tap.equal({s: sizes.get(s) for s in want}, want, name + ": garbage by size")


def main():
    folder = os.path.join(need_dumps(), "go")
    tap = Tap()
    manifests = sorted(glob.glob(os.path.join(folder, "*.manifest.json")))
    tap.ok(len(manifests) >= 8, "there are dumps with their manifests", manifests)
    with tempfile.TemporaryDirectory() as directory:
        for source in manifests:
            name = os.path.basename(source).split(".manifest")[0]
            with open(source, encoding="utf-8") as f:
                manifest = json.load(f)
            with open(os.path.join(folder, name + ".counts.json"), encoding="utf-8") as f:
                counts = json.load(f)
            beside = os.path.join(folder, name + ".dump")
            alone = os.path.join(directory, name + ".dump") # no executable beside it
            os.symlink(beside, alone)
            graph = Graph.of_dump(alone)
            check_counts(tap, name, alone, counts)
            check_counts(tap, name + " with its program", beside, counts)
            check_objects(tap, name, graph, counts)
            check_known(tap, name, graph, manifest)
            check_chain(tap, name, graph, manifest)
            check_goroutines(tap, name, alone, manifest, counts)
            check_frames(tap, name, alone, manifest, counts)
            check_dominators(tap, name, alone, manifest, counts)
            check_roots(tap, name, alone, manifest, counts)
            check_outside(tap, name, alone)
            check_garbage(tap, name, alone, counts)
    tap.done()


if __name__ == "__main__":
    main()
