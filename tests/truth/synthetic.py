#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Synthetic dumps in every layout against what their generator says is in them.

The truth gives a plain object the size in its class record; the true size rounds it up to 8, and
64-bit J9 of today knows no object under 16 bytes.  Arrays of versions 4 and 5 have no size in the
dump: of these only numbers and lengths are compared here.
"""

import glob
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Graph, Tap, mirror, need_dumps, some_synthetic  # noqa: E402
from phdparse import hash_slots, parse  # noqa: E402

LETTERS = dict(zip("ZCFDBSIJ", "boolean char float double byte short int long".split()))


def java_name(name, ebcdic=False):
    if ebcdic:
        # z/OS writes what its code page lacks as \\uXXXX, in UTF-16 units.
        name = "".join(c if ord(c) < 256 else
                       "".join("\\u%04x" % u for u in memoryview(c.encode("utf-16-le")).cast("H"))
                       for c in name)
    depth = len(name) - len(name.lstrip("["))
    core = name[depth:]
    if depth:
        core = core[1:-1] if core.startswith("L") else LETTERS[core]
    # A hidden class keeps the slash before its suffix, as Class.getName writes it.
    core = re.sub(r"/(?!0x[0-9a-f]+$)", ".", core).replace("\0", "\\x00")
    return core + "[]" * depth


def rounded(size, truth):
    size = (size + 7) // 8 * 8
    # J9 2.6 and later: version 6, or version 5 without a hash in every record.
    newest = truth["format"] == "phd" and truth["bits"] == 64 and truth["j9"] and (
        truth["phd_version"] >= 6 or truth["phd_version"] == 5 and not truth["all_objects_hashed"])
    return max(size, 16) if newest else size


def merged(rows, graph):
    """Classic text names classes only: objects of two of one name all go to one of them."""
    by_name = {}
    for row in rows:
        by_name.setdefault(row["class"], []).append(row)
    result = []
    for name, same in by_name.items():
        addresses = [int(r["class_address"], 16) for r in same]
        taken = [a for a in addresses if a in graph.classes and graph.classes[a][3]]
        result.append(dict(same[0], class_address=hex(taken[0] if taken else addresses[0]),
                           count=sum(r["count"] for r in same),
                           shallow=sum(r["shallow"] for r in same)))
    return result


def slots(truth, dump):
    """Of a J9 of which only some objects are hashed: those that have a slot for the hash, which the truth leaves out."""
    if truth["format"] != "phd" or not truth["j9"] or truth["phd_version"] < 5 or truth["all_objects_hashed"]:
        return {}
    return hash_slots(parse(dump)[2], lambda n: rounded(n, truth))


def check_histogram(tap, name, truth, graph, slot):
    wrong = {}
    more = {}
    for a, n in slot.items():
        o = graph.objects[a]
        more[o.class_address] = more.get(o.class_address, 0) + n
    text = truth["format"] == "classic"
    sizes_known = text or truth["phd_version"] >= 6
    rows = merged(truth["histogram"], graph) if text else truth["histogram"]
    for row in rows:
        address = int(row["class_address"], 16)
        got = graph.classes.get(address)
        if got is None:
            wrong[row["class"]] = "missing"
            continue
        array = row["class"].startswith("[")
        shallow = row["shallow"]
        if not text and not array:
            shallow = rounded(row["shallow"] // row["count"], truth) * row["count"] + more.get(address, 0)
        java = java_name(row["class"], "ebcdic" in name)
        if got[0] != java:
            wrong[row["class"]] = (got[0], java)
        elif got[3] != row["count"]:
            wrong[row["class"]] = ("objects", got[3], row["count"])
        elif (sizes_known or not array) and got[4] != shallow:
            wrong[row["class"]] = ("shallow", got[4], shallow)
    tap.equal(wrong, {}, "%s: histogram" % name)
    rest = sum(c[3] for a, c in graph.classes.items()
               if a not in {int(r["class_address"], 16) for r in truth["histogram"]})
    tap.equal(rest, 0, "%s: no object of another class" % name)


def check_counts(tap, name, truth, graph):
    want = truth["counts"]
    got = graph.counts
    tap.equal({"objects": got.get("objects"), "classes": got.get("classes"),
               "instances": got.get("instances"), "object_arrays": got.get("object_arrays"),
               "primitive_arrays": got.get("primitive_arrays"), "references": got.get("references")},
              {"objects": want["total"], "classes": want["classes"], "instances": want["objects"],
               "object_arrays": want["object_arrays"], "primitive_arrays": want["primitive_arrays"],
               "references": want["refs_nonnull"]}, "%s: counts" % name)
    tap.equal(got.get("dangling"), 0, "%s: no reference to nowhere" % name)


def check_selected(tap, name, truth, graph, slot):
    wrong = {}
    text = truth["format"] == "classic"
    for label, want in truth["selected"].items():
        o = graph.objects.get(int(want["address"], 16))
        if o is None:
            wrong[label] = "missing"
            continue
        sources = sorted(set(o.into))
        pairs = {
            # the truth has elements in the file's order, last to first
            "outbound": ([hex(t) for t in (o.out[::-1] if o.kind == "object_array" else o.out)[:50]], want["outbound"]),
            "outbound_count": (len(o.out), want["outbound_count"]),
            "inbound": ([hex(t) for t in sources[:50]], want["inbound"]),
            "inbound_count": (len(sources), want["inbound_count"]),
            "class": (o.cls, java_name(want["class"], "ebcdic" in name)),
        }
        twins = [r for r in truth["histogram"] if r["class"] == want["class"]]
        if want.get("class_address") and not (text and len(twins) > 1):
            pairs["class_address"] = (o.class_address, int(want["class_address"], 16))
        if not text and "array_length" in want:
            pairs["length"] = (o.length, want["array_length"])
        if o.kind in ("instance", "class"):
            size = want["size"] if text else rounded(want["size"], truth) + slot.get(o.address, 0)
            pairs["size"] = (o.shallow, size)
        elif text or truth["phd_version"] >= 6:
            pairs["size"] = (o.shallow, want["size"])
        for key, (got, expected) in pairs.items():
            if got != expected:
                wrong["%s %s" % (label, key)] = (got, expected)
    tap.equal(wrong, {}, "%s: %d selected objects" % (name, len(truth["selected"])))


def check_in_degrees(tap, name, truth, graph):
    wrong = {}
    for row in truth["in_degree_top10"]:
        o = graph.objects.get(int(row["address"], 16))
        got = (len(o.into), len(set(o.into))) if o else None
        if got != (row["refs"], row["referrers"]):
            wrong[row["address"]] = (got, (row["refs"], row["referrers"]))
    tap.equal(wrong, {}, "%s: the ten most referenced" % name)
    into = mirror(graph.objects)
    odd = [hex(a) for a, o in graph.objects.items() if o.into != into[a]]
    tap.none(odd, graph.objects, "%s: in mirrors out" % name)


def main():
    folder = os.path.join(need_dumps(), "synthetic")
    tap = Tap()
    found = sorted(glob.glob(os.path.join(folder, "*.expected.json")))
    tap.ok(len(found) > 40, "there are dumps in synthetic/", folder)
    for expected in some_synthetic(found):
        dump = expected[:-len(".expected.json")]
        name = os.path.basename(dump)
        if not os.path.exists(dump):
            dump += ".gz"
        with open(expected, encoding="utf-8") as f:
            truth = json.load(f)
        graph = Graph.of_dump(dump, "-t", "2", "-n")
        if not tap.ok(graph.run.status == 0, "%s opens" % name, graph.run):
            continue
        check_counts(tap, name, truth, graph)
        slot = slots(truth, dump)
        check_histogram(tap, name, truth, graph, slot)
        check_selected(tap, name, truth, graph, slot)
        check_in_degrees(tap, name, truth, graph)
    tap.done()


main()
