#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reference objects, finalizers and ThreadLocals: what was planted, and a second algorithm that walks the heap anew for
each kind of references.  Reachable objects and what single ones and references keep, in the VM's model and in MAT's: by the
same algorithm, which takes them away.
"""

import glob
import json
import os
import random
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, Tap, cairn, some  # noqa: E402
from hprofedit import Edit  # noqa: E402
from javadump import JavaDump, with_references  # noqa: E402

KINDS = ("soft", "weak", "final", "phantom", "cleaner")
REF = "java.lang.ref."
BASES = {REF + "SoftReference": "soft", REF + "WeakReference": "weak", REF + "FinalReference": "final",
         REF + "PhantomReference": "phantom", "sun.misc.Cleaner": "cleaner", "jdk.internal.ref.Cleaner": "cleaner",
         "jdk.internal.ref.PhantomCleanable": "cleaner", "java.nio.BufferCleaner$PhantomCleaner": "cleaner"}


def ask(dump, *lines):
    run = cairn(*[x for line in lines for x in ("-x", line)], "--format", "jsonl", dump)
    return [json.loads(line) for line in run.out.splitlines()]


PRIMITIVE_NAMES = {"boolean", "byte", "char", "short", "int", "long", "float", "double"}


class Naive:
    """References by kind, and the objects that roots reach over those of some kinds."""

    def __init__(self, path):
        self.e = e = Edit(path)
        self.kind_of = {c: next((BASES[e.names[x]] for x in e.lineage(c) if e.names[x] in BASES), None)
                        for c in e.dump.classes}
        java_class = e.by_name["java.lang.Class"][0]
        self.strong, self.weak = {}, []  # (kind, holder, referent)
        self.inactive = set()  # holders: HotSpot treats their referents as any field
        for a, (tag, _, _) in e.places.items():
            kind = self.kind_of.get(e.instance_class.get(a))
            out = e.out(a)
            if kind:
                at = next(at for c, name, at in e.fields(a) if name == "referent" and e.names[c] == REF + "Reference")
                self.weak.append((kind, a, e.dump.id(at)))
                if any(name == "next" and e.names[c] == REF + "Reference" and e.dump.id(at) for c, name, at in e.fields(a)):
                    self.inactive.add(a)
                out = [r for r in out if r[2] != at]
            self.strong[a] = [r[3] for r in out]
            if tag == 0x20:
                c = e.dump.classes[a]
                self.strong[a] += [java_class] + [x for x in (c["super"], c["loader"]) if x]
                self.strong.setdefault(c["loader"], [])
            elif tag in (0x21, 0x22):
                self.strong[a].append(e.instance_class[a])
            elif self.class_of(a) in e.by_name:
                self.strong[a].append(e.by_name[self.class_of(a)][0])
        self.loaded = {}
        for c, facts in e.dump.classes.items():
            self.loaded.setdefault(facts["loader"], []).append(c)
            self.keep_array(c, facts["loader"])
        self.starts = set(e.roots)

    def keep_array(self, c, loader):
        """HotSpot keeps the class of an array with that of its elements, those of primitives for good."""
        name, e = self.e.names[c], self.e
        if not name.endswith("[]"):
            return
        element = "java.lang.Object" if name[:-2] in PRIMITIVE_NAMES else name[:-2]
        with_it = [k for k in e.by_name.get(element, []) if element == "java.lang.Object" or
                   self.e.dump.classes[k]["loader"] == loader]
        if with_it:
            self.strong.setdefault(with_it[0], []).append(c)

    def reach(self, kinds, inactive=False, without=None, cut=None):
        """without: an object that is not entered; cut: (holder, target), every reference of the one to the other."""
        led = {}
        for kind, holder, referent in self.weak:
            if kind in kinds or (inactive and holder in self.inactive):
                led.setdefault(holder, []).append(referent)
        found, stack = set(), list(self.starts)
        while stack:
            a = stack.pop()
            if a in found or a not in self.e.places or a == without:
                continue
            found.add(a)
            further = self.strong[a] + led.get(a, []) + self.loaded.get(a, [])
            stack += [t for t in further if (a, t) != cut]
        return found

    def holds(self, mat):
        """What reach takes for a model."""
        return (KINDS, True) if mat else (("soft",), True)

    def class_of(self, a):
        tag, body, _ = self.e.places[a]
        if tag == 0x20:
            return "java.lang.Class"
        if tag == 0x23:
            return {4: "boolean", 5: "char", 6: "float", 7: "double", 8: "byte", 9: "short", 10: "int",
                    11: "long"}[self.e.dump.data[body + self.e.dump.ids + 8]] + "[]"
        return self.e.names[self.e.instance_class[a]]

    def rows(self):
        """{(kind, class): (reference objects, referents, referents reached only so)}, as sets."""
        rows, before = {}, self.reach(())
        for i, kind in enumerate(KINDS):
            now = self.reach(KINDS[:i + 1])
            for k, holder, referent in self.weak:
                if k != kind:
                    continue
                name = ("<cleared>" if not referent else "<not in the dump>" if referent not in self.e.places
                        else self.class_of(referent))
                row = rows.setdefault((kind, name), (set(), set(), set()))
                row[0].add(holder)
                if referent in self.e.places:
                    row[1].add(referent)
                    if referent in now and referent not in before:
                        row[2].add(referent)
            before = now
        return rows


def check_naive(tap, path, name):
    want = Naive(path).rows()
    got = {(r["kind"], r["class"]): (r["objects"], r["referents"], r["only_through"]) for r in ask(path, "references")}
    tap.equal(got, {k: tuple(map(len, v)) for k, v in want.items()}, name + ": what each kind leads to")
    shown = ask(path, "references -only")
    tap.equal({(r["kind"], r["class"]): r["objects"] for r in shown}, {k: len(v[2]) for k, v in want.items() if v[2]},
              name + ": reached only so, by class")
    rows = ask(path, "references")
    lines = [line for i in range(len(rows)) for line in ("references | cut kind", "ls %%%d | cut address" % (i + 1))]
    run = cairn(*[x for line in lines for x in ("-x", line)], "--format", "json", path)
    sets, decoder, at = [], json.JSONDecoder(), 0
    while at < len(run.out):
        value, at = decoder.raw_decode(run.out, at)
        sets.append(value)
        while at < len(run.out) and run.out[at] in " \r\n":
            at += 1
    tap.equal([{int(o["address"], 16) for o in s} for s in sets[1::2]],
              [want[(r["kind"], r["class"])][0] for r in rows], name + ": each row is a set of references")


def check_planted(tap, path, name, planted, whole):
    rows = {(r["kind"], r["class"]): r for r in ask(path, "references")}

    def counted(kind, cls):
        r = rows.get((kind, cls), {})
        return [r.get("objects", 0), r.get("referents", 0), r.get("only_through", 0)]
    n = {r["id"]: r["count"] for r in planted}
    stuck = next(r for r in planted if r["id"] == "doomed")["pending"]
    weak = n["weakOnly"] if whole else 0
    want = {("soft", "waste.Held"): [n["softsHeld"]] * 2 + [0], ("weak", "waste.Held"): [n["weaksHeld"]] * 2 + [0],
            ("phantom", "waste.Held"): [n["phantoms"]] * 2 + [0], ("final", "waste.Mortal"): [n["mortals"]] * 2 + [0],
            ("cleaner", "waste.Cleaned"): [n["cleaned"]] * 2 + [0], ("soft", "waste.SoftOnly"): [n["softOnly"]] * 3,
            ("weak", "waste.WeakOnly"): [weak] * 3, ("final", "waste.Doomed"): [n["doomed"]] * 2 + [stuck]}
    tap.equal({k: counted(*k) for k in want}, want, name + ": planted references")
    tap.none([k for k in rows if k[1].startswith("waste.") and k not in want], rows, name + ": nothing else is accused")


def waste_dumps():
    """(path, name, manifest, all objects) of each dump of waste, or of a folder of further ones."""
    folders = sys.argv[1:] or sorted(glob.glob(os.path.join(DUMPS, "waste", "jdk*")) if DUMPS else [])
    for folder in folders:
        with open(os.path.join(folder, "waste.manifest.json"), encoding="utf-8") as f:
            manifest = json.load(f)
        for path in sorted(glob.glob(os.path.join(folder, "waste*.hprof"))):
            name = os.path.basename(folder) + "/" + os.path.basename(path)
            yield path, name, manifest, "-all" in name


def check_made(tap, folder):
    """Chains of references: each object counts for the firmest kind that its whole way needs."""
    path = os.path.join(folder, "chain.hprof")
    d = with_references()
    d.add_class("acme.Owner", statics="held:L twice:L")
    d.add_class("acme.Thing", fields="more:L")
    things = [d.new("acme.Thing") for _ in range(6)]
    d.put(things[1], more=things[2])
    weak_of_soft = d.new(REF + "WeakReference", referent=things[1])
    d.put(things[0], more=weak_of_soft)
    refs = [d.new(REF + "SoftReference", referent=things[0]), d.new(REF + "PhantomReference", referent=things[2]),
            d.new("jdk.internal.ref.PhantomCleanable", referent=things[3]), d.new(REF + "WeakReference"),
            d.new(REF + "SoftReference", referent=0x7777), d.new(REF + "PhantomReference", referent=things[3]),
            d.new(REF + "FinalReference", referent=things[4]), d.new(REF + "WeakReference", referent=things[5])]
    d.put(things[5], more=refs[7])
    d.static("acme.Owner", "held", d.array(refs[:7]))
    d.write(path)
    check_naive(tap, path, "a chain")
    got = {(r["kind"], r["class"]): (r["objects"], r["referents"], r["only_through"]) for r in ask(path, "references")}
    tap.equal(got, {("soft", "acme.Thing"): (1, 1, 1), ("soft", "<not in the dump>"): (1, 0, 0),
                    ("weak", "acme.Thing"): (2, 2, 1), ("weak", "<cleared>"): (1, 0, 0),
                    ("final", "acme.Thing"): (1, 1, 1), ("phantom", "acme.Thing"): (2, 2, 1),
                    ("cleaner", "acme.Thing"): (1, 1, 0)}, "a chain: by hand")


# --- which references hold -------------------------------------------------------------------------

FOUND = os.path.join(DUMPS, "found", "reports", "21-weak-references-hold")


def check_model(tap, path, name, tried=3):
    """What is reachable, what objects keep, and the trees of both models, by taking objects away."""
    naive, chance = Naive(path), random.Random(4)
    for mat in (False, True):
        whole = naive.reach(*naive.holds(mat))
        some = chance.sample(sorted(whole), min(tried, len(whole)))
        some += [r for _, h, r in naive.weak if h in whole and r in naive.e.places][:tried]
        answers = ask(path, "set weak " + ("on" if mat else "off"), "info", *("size 0x%x" % a for a in some))
        got = [answers[0][w + "reachable_objects"] or 0 for w in ("", "weakly_")]
        got += [r["retained_objects"] for r in answers[1:]]
        want = [len(whole), len(naive.reach(*naive.holds(True))) - len(whole)]
        want += [len(whole) - len(naive.reach(*naive.holds(mat), without=a)) for a in some]
        tap.equal(got, want, "%s: what is reachable and kept in %s" % (name, "MAT's model" if mat else "the VM's model"))
        checks = ask(path, "set weak " + ("on" if mat else "off"), "check -tree")
        tap.none([r for r in checks if r.get("result") == "broken"], checks, name + ": its dominator tree")


def model_dump():
    """A static field of acme.Owner for each sort of thing that is referenced weakly, softly or finally besides."""
    d = with_references()
    d.add_class("java.util.WeakHashMap$Entry", REF + "WeakReference", fields="value:L")
    d.add_class("java.nio.DirectByteBuffer", fields="cleaner:L")
    d.add_class("jdk.internal.ref.Cleaner", REF + "PhantomReference", fields="next:L prev:L thunk:L", statics="first:L")
    d.add_class("acme.Owner", statics=" ".join(x + ":L" for x in (
        "listener watchers key values own soft buffer local mortal dying enqueued").split()))
    d.add_class("acme.Thing", fields="more:L")
    d.add_class("acme.LocalKey", "java.lang.ThreadLocal")
    thing = {x: d.new("acme.Thing") for x in
             "listener key own soft buffer mortal dying enqueued faint mild gone".split()}
    for x in ("listener", "key", "soft", "mortal", "dying"):
        d.static("acme.Owner", x, thing[x])
    entry = lambda k, v: d.new("java.util.WeakHashMap$Entry", referent=k, value=v)  # noqa: E731
    value = d.new("acme.Thing", more=thing["own"])  # holds its own key
    d.static("acme.Owner", "watchers", d.array([d.new(REF + "WeakReference", referent=thing["listener"]),
                                                d.new(REF + "SoftReference", referent=thing["soft"]),
                                                d.new(REF + "WeakReference", referent=thing["faint"]),
                                                d.new(REF + "SoftReference", referent=thing["mild"])]))
    d.static("acme.Owner", "values", d.array([entry(thing["key"], d.new("acme.Thing")), entry(thing["own"], value)]))
    d.static("acme.Owner", "own", thing["own"])
    cleaner = d.new("jdk.internal.ref.Cleaner", thunk=d.new("acme.Thing"))
    buffer = d.new("java.nio.DirectByteBuffer", cleaner=cleaner)
    d.put(cleaner, referent=buffer)
    d.static("jdk.internal.ref.Cleaner", "first", cleaner)
    d.static("acme.Owner", "buffer", buffer)
    local = d.new("acme.LocalKey")
    table = d.array([d.new(MAP + "$Entry", referent=local, value=d.new("acme.Thing"))], MAP + "$Entry[]")
    d.thread(d.new("java.lang.Thread", name=d.string("t"), threadLocals=d.new(MAP, table=table, size=1)), [])
    d.static("acme.Owner", "local", local)
    active = d.new(REF + "Finalizer", referent=thing["mortal"])
    pending = d.new(REF + "Finalizer", referent=thing["dying"])
    d.put(pending, Reference__next=pending, Finalizer__prev=active)
    gone = d.new(REF + "Finalizer", referent=thing["gone"])  # nothing else holds it
    d.put(pending, Reference__next=gone, Finalizer__next=gone)
    d.put(gone, Reference__next=gone, Finalizer__prev=pending)
    d.put(active, Finalizer__next=pending)
    d.static(REF + "Finalizer", "unfinalized", active)
    d.static(REF + "Finalizer", "queue", d.new(REF + "ReferenceQueue", head=pending, queueLength=2))
    old = d.new(REF + "PhantomReference", referent=thing["enqueued"])  # up to JDK 8 it is not cleared
    d.put(old, Reference__next=old)
    d.static("acme.Owner", "enqueued", old)
    return d, thing


def check_compared(tap, path, folder):
    """Of two dumps that are the same nothing changed, whatever set weak is, and the setting changes no figure."""
    copy = os.path.join(folder, "model-2.hprof")
    shutil.copyfile(path, copy)
    for line in ("diff -by class", "diff", "growth", "trend -by class"):
        said = {}
        for weak in ("off", "on"):
            run = cairn("-x", "set weak " + weak, "-x", line, "--format", "json", copy, path)
            value = json.loads(run.out or "null")
            rows = value if isinstance(value, list) else value.get("fields", [])
            said[weak] = [{k: v for k, v in r.items() if k != "freed"} for r in rows]
            tap.ok(run.status < 2 and not [r for r in rows for k in r if k.startswith("d_") and r[k] and
                                            not k.endswith("_certainty")], "%s, set weak %s: nothing changed" % (line, weak), run)
            note = "use the default model" in cairn("-x", "set weak " + weak, "-x", line, copy, path).out
            tap.equal(note, weak == "on", "%s, set weak %s: the model is named where it is another" % (line, weak))
        tap.equal(said["on"], said["off"], "%s: set weak changes no figure" % line)
    run = cairn("-x", "set weak on", "-x", "diff acme.Owner -by package", copy, path)
    tap.ok(run.status == 2 and "default model" in run.err, "diff SET: refused by another model", run)


def check_made_model(tap, folder):
    """By hand: what a static field alone holds dies with it, whatever watches it; what is soft, or pending, does not."""
    path = os.path.join(folder, "model.hprof")
    d, thing = model_dump()
    d.write(path)
    fields = ("listener", "watchers", "key", "values", "own", "soft", "buffer", "local", "mortal", "dying", "enqueued")
    lines = ["cut acme.Owner." + f for f in fields]
    heads = lambda model: [json.loads(cairn("-x", "set weak " + model, "-x", line, "--format", "json",  # noqa: E731
                                            path).out)["objects"] for line in lines]
    tap.equal(dict(zip(fields, heads("off"))), {
        "listener": 1, "watchers": 6, "key": 1, "values": 5, "own": 0, "soft": 0, "buffer": 1, "local": 1, "mortal": 1,
        "dying": 0, "enqueued": 2}, "cut: weak, final and phantom references hold nothing")
    tap.equal(dict(zip(fields, heads("on"))), {
        "listener": 0, "watchers": 7, "key": 0, "values": 5, "own": 0, "soft": 0, "buffer": 0, "local": 0, "mortal": 0,
        "dying": 0, "enqueued": 2}, "cut, set weak on: all references hold, as in MAT")
    last = lambda name: cairn("-x", "path 0x%x | cut field" % thing[name], path)  # noqa: E731
    tap.ok("only weak, final or phantom references lead to" in last("faint").err, "path: weakly reachable", last("faint"))
    for name in ("mild", "gone"):
        tap.ok("referent" in last(name).out and "no strong path exists" in last(name).out,
               "path: %s is held by what is not strong" % name, last(name))
    tap.ok("no strong path" not in last("soft").out + last("dying").out, "path: a strong one, where there is one")
    said = cairn("-x", "why | grep references", path).out
    tap.ok("3 of these still hold" in said.replace("\n", " "), "why: two finalizers and a phantom reference are queued", said)
    check_model(tap, path, "made model")
    check_compared(tap, path, folder)
    index = os.path.join(folder, "model.cairn")
    alone = ("set weak off", "histo -retained", "set weak on", "histo -retained")
    want = ask(path, *alone)
    cairn("-x", "index " + index, path)
    cairn("-x", "set weak on", "-x", "index " + index + ".on", path)
    mat = lambda name: cairn("--sizes", "mat", "-x", "set", "-x", "histo -retained", "--format", "jsonl",  # noqa: E731
                             name).out
    wanted = mat(path)
    cairn("--sizes", "mat", "-x", "index " + index + ".mat", path)
    os.rename(path, path + ".away")
    for name in (index, index + ".on"):
        tap.equal(ask(name, *alone), want, "the same out of %s, without the dump" % os.path.basename(name))
    tap.equal(mat(index + ".mat"), wanted, "the same with MAT's sizes")
    tap.ok('{"name": "weak", "value": "on"' in wanted, "--sizes mat begins with weak on", wanted[:900])
    os.rename(path + ".away", path)


def check_found_model(tap):
    if not os.path.isdir(FOUND):
        tap.skip("found: what LeakCanary and a WeakReference watch", "CAIRN_DUMPS is not set")
        return
    dump = lambda name: os.path.join(FOUND, name + ".hprof")  # noqa: E731
    head = json.loads(cairn("-x", "cut com.ex.Cache.big", "--format", "json", dump("weak")).out)
    tap.equal([head["objects"], sorted((r["class"], r["objects"]) for r in head["fields"])],
              [31, [("byte[]", 30), ("java.lang.Object[]", 1)]], "found: a cache that a WeakReference watches")
    tap.equal({r["reference"] for r in ask(dump("weak"), "leaks")}, {"com.ex.Cache.big"}, "found: leaks names it alone")
    tap.equal({r["reference"] for r in ask(dump("activities"), "leaks")},
              {"com.ex.Bus.listeners", "android.os.Looper.sMainLooper"}, "found: leaks of Activities that LeakCanary watches")
    check_model(tap, dump("weak"), "found weak")


# --- finalizers ------------------------------------------------------------------------------------


def finalizers(path):
    """Rows as {(state, class): objects}, and what is said below."""
    rows = {(r["state"], r["class"]): r["objects"] for r in ask(path, "finalizers")}
    return rows, cairn("-x", "finalizers", path).out


def naive_lists(path):
    """Of Java: classes of the referents of Finalizer.queue and of the list of all, by position in the bytes."""
    e = Edit(path)
    d = e.dump
    fin = e.by_name[REF + "Finalizer"][0]
    e.class_slots(fin)

    def field(a, cls, name):
        return next((d.id(at) for c, n, at in e.fields(a) if n == name and e.names[c] == REF + cls), 0)
    held = {label: t for _, label, _, t in e.out(fin)}
    queue, a = [], field(held["static queue"], "ReferenceQueue", "head")
    while a and a not in queue:
        queue.append(a)
        a = field(a, "Reference", "next")
    listed, a = [], held.get("static unfinalized", 0)
    while a and a not in listed:
        listed.append(a)
        a = field(a, "Finalizer", "next")
    names = lambda seen: [e.names[e.instance_class[field(a, "Reference", "referent")]] for a in seen]  # noqa: E731
    return names(queue), names(listed)


def summed(rows, states):
    found = {}
    for (state, cls), n in rows.items():
        if state in states:
            found[cls] = found.get(cls, 0) + n
    return found


def counts(names):
    return {n: names.count(n) for n in set(names)}


def check_finalizers(tap, path, name, manifest, expected):
    rows, said = finalizers(path)
    n = {r["id"]: r for r in manifest["planted"]}
    queue, listed = naive_lists(path)
    tap.equal(summed(rows, ("queued",)), counts(queue), name + ": the queue, walked anew")
    tap.equal(summed(rows, ("queued", "pending", "registered")), counts(listed), name + ": all finalizers, walked anew")
    if expected:
        tap.equal(summed(rows, ("queued",)), expected["Finalizer.queue"]["referents"], name + ": the queue as expected")
    tap.equal([rows.get(("running", "waste.Doomed")), rows.get(("queued", "waste.Doomed")),
               rows.get(("registered", "waste.Mortal"))],
              [n["doomed"]["count"] - n["doomed"]["pending"] or None, n["doomed"]["pending"] or None,
               n["mortals"]["count"] or None], name + ": planted finalizers")
    tap.equal({k for k in rows if k[1].startswith("waste.")} - {
        ("running", "waste.Doomed"), ("queued", "waste.Doomed"), ("registered", "waste.Mortal")}, set(),
        name + ": no other object is said to have a finalizer")
    if n["doomed"]["count"]:
        behind = sum(summed(rows, ("queued", "pending")).values())
        tap.ok("thread Finalizer (WAITING (on object monitor)) runs finalize() of waste.Doomed 0x" in said and
               "called from waste.Doomed.finalize(Waste.java:" in said and "java.lang.Object.wait" in said and
               (not behind or "%d object%s for it" % (behind, " waits" if behind == 1 else "s wait") in said),
               name + ": where the finalizer thread stands", said)


def finalizer_dump(waiting=2, round_trip=False, frames=True):
    d = with_references()
    for c in ("Stuck", "Later"):
        d.add_class("acme." + c)
    fin = REF + "Finalizer"
    thread = d.new(fin + "$FinalizerThread", name=d.string("Finalizer"), threadStatus=0x191)
    running = d.new(fin, referent=d.new("acme.Stuck"))
    queued = [d.new(fin, referent=d.new("acme.Later")) for _ in range(waiting)]
    other = [d.new(fin, referent=d.new("acme.Stuck")) for _ in range(3)]
    for a, b in zip(queued, queued[1:] + ([queued[0]] if round_trip else queued[-1:])):
        d.put(a, Reference__next=b)
    every = queued + other
    for a, b in zip(every, every[1:]):
        d.put(a, Finalizer__next=b)
        d.put(b, Finalizer__prev=a)
    d.put(running, Finalizer__next=running, Finalizer__prev=running)
    d.static(fin, "unfinalized", every[0])
    d.static(fin, "queue", d.new(REF + "ReferenceQueue", head=queued[0] if queued else 0, queueLength=waiting))
    number = d.thread(thread, ["java.lang.Object.wait", "acme.Stuck.finalize", fin + ".runFinalizer",
                               fin + "$FinalizerThread.run"] if frames else ["java.lang.Object.wait",
                                                                                     REF + "ReferenceQueue.remove"])
    if frames:
        d.root("local", running, number, 2)
    return d


def android_dump():
    """Lists of their own, the object of a queued one in a field of its own."""
    d = JavaDump()
    ref = REF + "FinalizerReference"
    d.add_class(REF + "ReferenceQueue", fields="head:L tail:L", statics="unenqueued:L")
    d.add_class(REF + "Reference", fields="referent:L queue:L queueNext:L pendingNext:L")
    d.add_class(ref, REF + "Reference", fields="next:L prev:L zombie:L", statics="head:L queue:L")
    d.add_class("acme.Bitmap")
    every = [d.new(ref, referent=0 if i == 1 else d.new("acme.Bitmap"), zombie=d.new("acme.Bitmap") if i == 1 else 0)
             for i in range(4)]
    for a, b in zip(every, every[1:]):
        d.put(a, next=b)
    d.put(every[1], queueNext=every[1])
    d.put(every[2], pendingNext=every[2])
    d.static(ref, "head", every[0])
    d.static(ref, "queue", d.new(REF + "ReferenceQueue", head=every[1], tail=every[1]))
    d.static(REF + "ReferenceQueue", "unenqueued", every[2])
    return d


def check_made_finalizers(tap, folder):
    path = os.path.join(folder, "finalizers.hprof")
    planted = {("running", "acme.Stuck"): 1, ("queued", "acme.Later"): 2, ("registered", "acme.Stuck"): 3}
    finalizer_dump().write(path)
    rows, said = finalizers(path)
    tap.equal(rows, planted, "made: states of finalizers")
    tap.ok("runs finalize() of acme.Stuck 0x" in said and "called from acme.Stuck.finalize(" in said and
           "2 objects wait for it" in said, "made: what the thread does", said)
    finalizer_dump(round_trip=True).write(path)
    rows, said = finalizers(path)
    tap.ok(rows == planted and "is cyclic" in said, "made: a queue that goes round ends", (rows, said))
    finalizer_dump(frames=False).write(path)
    rows, said = finalizers(path)
    tap.equal(rows, {k: n for k, n in planted.items() if k[0] != "running"}, "made: who is on no list has no state")
    tap.ok("2 objects wait for the finalizer thread" in said, "made: nothing is said to block it", said)
    d = finalizer_dump(waiting=0)
    d.classes[REF + "Finalizer"][3].update(ENABLED=["Z", 0], unfinalized=["L", 0], queue=["L", 0])
    d.threads, d.roots = [], [r for r in d.roots if r[0] == 5]
    d.write(path)
    rows, said = finalizers(path)
    tap.ok("--finalization=disabled" in said and not rows, "made: finalization is off", said)
    android_dump().write(path)
    tap.equal(finalizers(path)[0], {("queued", "acme.Bitmap"): 1, ("pending", "acme.Bitmap"): 1,
                                    ("registered", "acme.Bitmap"): 2}, "made: Android's lists")


# --- ThreadLocals ----------------------------------------------------------------------------------

MAP = "java.lang.ThreadLocal$ThreadLocalMap"


def naive_locals(e):
    """(thread, key, value) of each entry of a map that a field of a thread holds; key 0: collected."""
    found = []
    for a, c in e.instance_class.items():
        if "java.lang.Thread" not in (e.names[x] for x in e.lineage(c)) or e.places[a][0] != 0x21:
            continue
        for _, _, _, target in e.out(a):
            if e.names.get(e.instance_class.get(target)) != MAP:
                continue
            table = next(t for _, label, _, t in e.out(target) if label == "table")
            for _, _, _, entry in e.out(table):
                held = {(e.names[c], n): e.dump.id(at) for c, n, at in e.fields(entry)}
                found.append((a, held[REF + "Reference", "referent"], held[MAP + "$Entry", "value"]))
    return found


def address(word):
    return int(word, 16) if word else 0


def check_locals(tap, path, name, planted):
    e = Edit(path)
    want = naive_locals(e)
    rows = ask(path, "threadlocals")
    tap.equal(sorted((r["key"] == "stale", address(r["address"])) for r in rows),
              sorted((not key, value) for _, key, value in want), name + ": ThreadLocals, walked anew")
    n = {r["id"]: r for r in planted}["threadLocalLeak"]
    stale = [r for r in rows if r["key"] == "stale"]
    tap.equal([len([r for r in stale if r["class"] == n["class"]]), len({r["thread"] for r in stale}),
               len({r["loader"] for r in stale}), {r["loader_class"] for r in stale} or {"waste.LeakLoader"}],
              [n["count"], n["threads"], n["loaders"], {"waste.LeakLoader"}], name + ": planted leaks of ThreadLocals")
    tap.none([r for r in rows if (r["loader_class"] or "").startswith("waste.") and r not in stale], rows,
             name + ": no other value is said to hold such a loader")
    grouped = ask(path, "threadlocals -by class")
    tap.equal({(r["key"], r["class"]): (r["threads"], r["objects"]) for r in grouped},
              {k: (len({r["thread"] for r in rows if (r["key"], r["class"]) == k}),
                   len({r["address"] for r in rows if (r["key"], r["class"]) == k}))
               for k in {(r["key"], r["class"]) for r in rows}}, name + ": ThreadLocals by class")
    said = cairn("-x", "threadlocals", path).out
    if n["count"]:
        tap.ok("%d %s stale" % (n["count"], "is" if n["count"] == 1 else "are") in said and
               "%d application class loader" % n["loaders"] in said, name + ": said of ThreadLocals", said[-400:])


def check_made_locals(tap, folder):
    """Of a virtual thread, inherited ones, null, a table that is none, and Android's older layout."""
    path = os.path.join(folder, "locals.hprof")
    d = with_references()
    d.add_class("java.lang.VirtualThread", "java.lang.Thread")
    d.add_class("java.lang.ThreadLocal$Values", fields="table:L")
    d.add_class("acme.Loader", "java.lang.ClassLoader")
    loader = d.new("acme.Loader")
    d.add_class("acme.Plugin", loader=loader, fields="more:L")
    d.add_class("acme.Box", fields="held:L")
    key = d.new("java.lang.ThreadLocal")
    entry = lambda k, v: d.new(MAP + "$Entry", referent=k, value=v)  # noqa: E731
    table = lambda *all: d.new(MAP, table=d.array(all, MAP + "$Entry[]"))  # noqa: E731
    plugin, box, deep = d.new("acme.Plugin"), d.new("acme.Box"), d.new("acme.Box")
    d.put(box, held=plugin)
    d.put(deep, held=d.array([plugin]))
    d.new("java.lang.VirtualThread", name=d.string("v"), threadLocals=table(entry(key, plugin), 0, entry(0, box)))
    d.new("java.lang.Thread", name=d.string("t"), inheritableThreadLocals=table(entry(key, 0), entry(0, deep)),
          threadLocals=d.new(MAP, table=d.string("no table")))
    pair = d.new(REF + "WeakReference", referent=key)
    gone = d.new(REF + "WeakReference")
    d.new("java.lang.Thread", name=d.string("old"), threadLocals=d.new("java.lang.ThreadLocal$Values", table=d.array(
        [pair, plugin, 0, 0, gone, box, d.new("java.lang.Object"), plugin, pair])))
    d.write(path)
    own = "0x%x" % loader
    tap.equal([(r["thread"], r["field"], r["key"], address(r["address"]), r["loader"]) for r in ask(path, "threadlocals")],
              [("v", "threadLocals", "java.lang.ThreadLocal", plugin, own), ("v", "threadLocals", "stale", box, own),
               ("t", "inheritableThreadLocals", "java.lang.ThreadLocal", 0, None),
               ("t", "inheritableThreadLocals", "stale", deep, None),
               ("old", "threadLocals", "java.lang.ThreadLocal", plugin, own), ("old", "threadLocals", "stale", box, own)],
              "made: ThreadLocals of all kinds of threads")
    tap.ok("1 map or entry with an unknown layout" in cairn("-x", "threadlocals", path).out, "made: a map without a table is told")


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        check_made(tap, folder)
        check_made_finalizers(tap, folder)
        check_made_locals(tap, folder)
        check_made_model(tap, folder)
    check_found_model(tap)
    for path, name, manifest, whole in waste_dumps() if sys.argv[1:] else some(waste_dumps(), 3):
        check_naive(tap, path, name)
        check_planted(tap, path, name, manifest["planted"], whole)
        check_model(tap, path, name)
        expected = path.replace(".hprof", ".expected.json")
        facts = json.load(open(expected, encoding="utf-8")) if os.path.exists(expected) else None
        check_finalizers(tap, path, name, manifest, facts)
        check_locals(tap, path, name, manifest["planted"])
    tap.done()


main()
