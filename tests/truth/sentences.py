#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""No sentence calls garbage what the program that was dumped held, and no proposal is the VM's own.

The dumps here are of living objects, and their manifests say how many of each class the program held:
path finds a way to each of them, or says that the dump does not record what holds it, but never that it
was garbage.  The same for what only unrecorded fields of java.lang.Class hold.  And neither cut -plan nor
leaks proposes a root that only the VM holds, <resolved_references>, a Finalizer's referent, a virtual
thread's stack or a static field of the JDK.  What was planted as garbage in the dumps of all objects has to be called just that.
"""

import glob
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import QUICK, Tap, cairn, need_dumps, some  # noqa: E402
from hprofedit import Edit  # noqa: E402

OF_A_CLASS = 6  # objects asked of each class


def called_garbage(path, objects):
    """Which of these objects path calls garbage."""
    lines = [w for a in objects for w in ("-x", "path -weak 0x%x" % a)]
    run = cairn("--format", "jsonl", *lines, path) if lines else None
    said = re.findall(r"(0x[0-9a-f]+)[^\n]*garbage", run.err) if run else []
    return [int(a, 16) for a in said]


def by_name(edit):
    """Class names as the program wrote them, and the addresses of their instances."""
    return {name: [a for c in classes for a in edit.by_class.get(c, [])] for name, classes in edit.by_name.items()}


def manifest_of(path):
    for name in (path.split(".hprof")[0] + ".manifest.json",
                 os.path.join(os.path.dirname(path), "waste.manifest.json")):
        if os.path.exists(name):
            with open(name, encoding="utf-8") as f:
                return json.load(f)
    return None


def planted(manifest):
    """{class: number of objects that the program held}; None: it does not tell how many of all."""
    found = dict(manifest.get("exact_instances_live") or {})
    for row in manifest.get("planted", []):
        if isinstance(row, dict) and row.get("class", "").startswith("tide."):
            found[row["class"]] = None
    return found


def check_planted(tap, name, path, edit, manifest):
    instances, called, some = by_name(edit), {}, []
    for cls, count in sorted(planted(manifest).items()):
        have = instances.get(cls, [])
        if count is not None and count != len(have):
            continue  # arrays of the name, or objects that were made behind the count
        step = max(1, len(have) // OF_A_CLASS)
        chosen = have[::step][:OF_A_CLASS] + have[-1:]
        called.update((a, cls) for a in chosen)
        some += chosen
    wrong = ["%s 0x%x" % (called[a], a) for a in called_garbage(path, some)]
    tap.ok(some and not wrong, "%s: none of %d planted objects is called garbage" % (name, len(some)), "\n".join(wrong))


def texts_of(edit):
    """{text: addresses} of the Strings."""
    d, found = edit.dump, {}
    for a in by_name(edit).get("java.lang.String", []):
        for _, label, at in edit.fields(a):
            place = edit.places.get(d.id(at)) if label == "value" else None
            if place and place[0] == 0x23:
                body = place[1]
                raw = d.data[body + d.ids + 9:place[2]]
                if d.data[body + d.ids + 8] == 5:
                    raw = raw[1::2]
                found.setdefault(bytes(raw).decode("latin-1"), []).append(a)
    return found


def check_classes(tap, name, path, edit):
    """Names of classes, and soft references to their ReflectionData: fields of java.lang.Class hold them."""
    instances, texts = by_name(edit), texts_of(edit)
    names = sorted({n for n in edit.names.values() if not n.endswith("[]")})
    strings = [a for n in names for a in texts.get(n, [])]
    kept = instances.get("java.lang.Class$ReflectionData", [])
    reference, those = edit.by_name["java.lang.ref.Reference"][0], set(kept)
    soft = [a for c, members in sorted(edit.by_class.items()) if reference in edit.lineage(c) for a in members
            if any(label == "referent" and target in those for _, label, _, target in edit.out(a))]
    some = strings[::max(1, len(strings) // 60)] + kept[:20] + soft[:20]
    wrong = ["0x%x" % a for a in called_garbage(path, some)]
    tap.ok(some and not wrong, "%s: none of %d names of classes and data of reflection is called garbage" % (name, len(some)),
           "\n".join(wrong))


def vm_roots(edit):
    """Objects that JNI globals hold and that are the archive's root arrays: they have dangling elements."""
    d, found = edit.dump, set()
    for a, records in edit.roots.items():
        tag, body, _ = edit.places[a]
        if tag == 0x22 and {t for _, _, t in records} == {1}:
            ids = [d.id(body + 2 * d.ids + 8 + i * d.ids) for i in range(d.u4(body + d.ids + 4))]
            if any(x and x not in edit.places for x in ids):
                found.add(a)
    return found


def answers(path, *lines):
    """What lines of one session answer."""
    run = cairn("--format", "json", *[w for line in lines for w in ("-x", line)], path)
    decode, found, text = json.JSONDecoder().raw_decode, [], run.out.strip()
    while text:
        answer, end = decode(text)
        found.append(answer)
        text = text[end:].lstrip()
    assert len(found) == len(lines), "%d answers to %s\n%s" % (len(found), lines, run)
    return found


def check_proposals(tap, name, path, edit):
    total = answers(path, "info")[0]["reachable_shallow"]
    own, words = vm_roots(edit), []
    *plans, leaks = answers(path, *["cut -plan %d" % (total * share // 100) for share in (100, 5)], "leaks -share 1")
    words += [r["reference"] for plan in plans for r in plan["fields"]]
    words += [r["reference"] for r in leaks if r["reference"]]
    accused = [int(r["address"], 16) for r in leaks if r["address"]]
    if own:
        tap.none(own.intersection(accused), accused, "%s: %d suspects, none a root of the VM's" % (name, len(accused)))
    wrong = [w for w in words if "<resolved_references>" in w or re.search(r"Finalizer\.referent$", w)
             or re.match(r"(java|javax|jdk|sun|com\.sun)\.", w)]
    for w in words:
        at = re.search(r"0x[0-9a-f]+", w)
        a = int(at[0], 16) if at else None
        if a in own:
            wrong.append(w)
        holder = edit.names.get(edit.instance_class.get(a), "")
        if w.endswith(".referent") and holder == "java.lang.ref.Finalizer":
            wrong.append(w)
        if w.endswith(".tail") and holder.endswith("Continuation"):  # the stack of a virtual thread
            wrong.append(w)
    tap.ok(words and not wrong, "%s: %d proposals, none the VM's own" % (name, len(words)), "\n".join(sorted(set(wrong))))
    return len(own)


def check_dead(tap, name, path, edit, manifest):
    """The sentence is still said of what was planted as garbage."""
    cls = manifest["garbage"]["class"]
    some = by_name(edit).get(cls, [])[:5]
    wrong = set(some) - set(called_garbage(path, some))
    tap.ok(some and not wrong, "%s: planted garbage is called garbage" % name, sorted(map(hex, wrong)))


def check_untold(tap, name, path):
    """PHD records no roots: nobody knows that it is the VM which holds an object that nothing references."""
    leaks = json.loads(cairn("--format", "json", "-x", "leaks -share 1", path).out)
    wrong = [r["sentence"] for r in leaks if "VM itself" in r["sentence"]]
    tap.ok(leaks and not wrong, "%s: %d suspects, none is said to be held by the VM" % (name, len(leaks)), "\n".join(wrong))


def main():
    dumps = need_dumps()
    tap = Tap()
    paths = sorted(p for d in ("grove", "today", "waste/*")
                   for p in glob.glob(os.path.join(dumps, d, "*.hprof")))
    paths += sorted(glob.glob(os.path.join(dumps, "tide", "*", "tide-4.hprof")))
    tap.ok(len(paths) >= 25, "there are dumps", paths)
    own = 0
    archived = [path for path in paths if path.endswith("grove25-coh.hprof")]  # whose VM has roots of its own
    for path in paths[::6] + archived if QUICK else some(paths, 5):
        name, manifest = os.path.relpath(path, dumps), manifest_of(path)
        edit = Edit(path)
        if path.endswith("-all.hprof"):
            if manifest and "garbage" in manifest:
                check_dead(tap, name, path, edit, manifest)
            continue
        if manifest and planted(manifest):
            check_planted(tap, name, path, edit, manifest)
        check_classes(tap, name, path, edit)
        own += check_proposals(tap, name, path, edit)
    tap.ok(own, "some of the dumps have roots of the VM's")
    for path in sorted(glob.glob(os.path.join(dumps, "openj9", "*.phd"))):
        check_untold(tap, os.path.relpath(path, dumps), path)
    tap.done()


main()
