#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values in system dumps of OpenJ9 against what the dumped programs planted.

The manifests say what grove, shop and waste put into their fields, strings and collections: the questions are those that
hprof_values.py, waste.py and collections.py ask of HotSpot's dumps of the same programs.  Sizes are those of OpenJ9's
rules, written down here again; identity hashes are those that DTFJ reads from the same cores.
"""

import importlib.util
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from cairntest import Run, CAIRN, Tap, cairn, some  # noqa: E402
from j9_sets import dtfj, folders, unpack  # noqa: E402


def module(name):
    spec = importlib.util.spec_from_file_location("truth_" + name, os.path.join(HERE, name + ".py"))
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


values, waste, collections = module("hprof_values"), module("waste"), module("collections")


class Layout:
    """Objects of a VM with references of 4 bytes: a header of 4, a lock word of 4 where the class has one, fields of at
    least 4, all in units of 8, 16 at least; arrays have 8 before the elements."""

    reference, old, wide = 4, False, False
    WITHOUT_LOCK = ("node",)

    def end(self, n):
        return max(16, (n + 7) // 8 * 8)

    def array(self, element, n):
        width = self.reference if element == "ref" else waste.WIDTH[element]
        return self.end(8 + (n * width + 7) // 8 * 8) if n else 16

    def of(self, name):
        references, others = waste.FIELDS[name]
        return self.end(4 + (0 if name in self.WITHOUT_LOCK else 4) + 4 * references + others)

    def string(self, chars):
        return self.end(4 + 4 + 3 * 4) + self.array("byte", chars)


def rows(path, line, *options):
    return json.loads(Run([CAIRN, *options, "-x", line, "--format", "json", path]).out)


def check_grove(t, core, folder, options):
    with open(os.path.join(folder, "m.json"), encoding="utf-8") as f:
        m = json.load(f)
    values.release = lambda manifest: 21
    d = values.Dump(core, *options, big_endian=False)
    grove = d.fields("grove.Grove")
    cache = values.check_orders(t, d, m, grove)
    values.check_statics(t, d, m)
    values.check_text(t, d, m, grove)
    values.check_arrays(t, d, grove)
    values.check_shelf(t, d, m, grove)
    values.check_found_in_words(t, d, m)
    values.check_sizes(t, d, m, grove)
    values.check_references(t, d, grove, cache)
    values.check_chain(t, d, grove, m)
    values.check_names(t, d, grove)
    values.check_loaders(t, d, core)
    values.check_strings(t, d, m, None)
    values.check_properties(t, d, m)


def check_shop(t, core, folder, options):
    with open(os.path.join(folder, "m.json"), encoding="utf-8") as f:
        m = json.load(f)
    want = m["sample_customer"]
    got = rows(core, "ls 'shop.Shop$Customer' -fields id,name,email,createdAt,active,Shop$Customer.address,orders "
               "-where 'id = %d'" % want["id"], *options)
    t.equal([{k: r[k] for k in ("id", "name", "email", "createdAt", "active")} for r in got],
            [{k: '"%s"' % want[k] if isinstance(want[k], str) else want[k]
              for k in ("id", "name", "email", "createdAt", "active")}], "a customer by number")
    d = values.Dump(core, *options)
    address = d.fields(d.fields(got[0]["address"])["address"]["address"])
    t.equal([address[k]["value"] for k in ("street", "city")],
            ['"%s"' % want["address." + k] for k in ("street", "city")], "its address")
    order = d.fields(d.entries(d.fields(got[0]["address"])["orders"]["address"])[1]["address"])
    t.equal({k: order[k]["value"].strip('"') for k in ("id", "total", "status", "ref")},
            {k: str(v) for k, v in want["orders[1]"].items()}, "its second order")
    city = [r for r in d.one("dups") if r["value"] == want["address.city"]]
    t.equal([r["count"] for r in city], [m["duplicate_strings"]["copies_of_City-A0_in_addresses"] + 1],
            "Strings of one city")


def check_hashes(t, core, folder, options):
    """Identity hashes of objects that have one, as DTFJ has them."""
    ref = {p[1]: p[6] for p, _, _ in dtfj(folder, "O")}
    hashed = sorted(a for a, h in ref.items() if h != "-")
    some = hashed[::len(hashed) // 40]
    heads = values.Dump(core, *options).run(*["x " + a for a in some])
    t.equal({a: int(h["hash"], 16) for a, h in zip(some, heads)}, {a: int(ref[a], 16) for a in some},
            os.path.basename(folder) + ": identity hashes")


def check_waste(t, core, folder):
    waste.check(t, core, Layout())
    collections.planted(t, core, os.path.join(folder, "waste.manifest.json"))
    booleans = [r for r in rows(core, "waste fields") if r["field"] == "java.lang.String.hashIsZero"]
    t.equal([r["wasted"] / r["objects"] for r in booleans], [4], "a boolean takes 4 bytes")


def main():
    t = Tap()
    with tempfile.TemporaryDirectory() as work:
        for folder in some(folders(), 3):
            name = os.path.basename(folder)
            os.makedirs(os.path.join(work, name))
            core = unpack(folder, os.path.join(work, name, "core"))
            info = json.loads(cairn("-x", "info", "--format", "json", core).out)
            t.ok("not certain" not in json.dumps(info), name + ": of all classes it is certain where fields are", info)
            options = ["--index", os.path.join(work, name, "index")]
            try:
                check_hashes(t, core, folder, ["--no-index"])
                if name.startswith("grove"):
                    check_grove(values.Named(t, name), core, folder, options)
                elif name.startswith("shop"):
                    check_shop(values.Named(t, name), core, folder, options)
                elif name.startswith("waste"):
                    for beside in ("waste.manifest.json", "command.txt"):
                        os.symlink(os.path.join(folder, beside), os.path.join(work, name, beside))
                    check_waste(t, core, os.path.join(work, name))
            except (KeyError, IndexError, RuntimeError, AttributeError) as e:
                t.ok(False, name + ": all questions are answered", repr(e))
    t.ok(t.count > 0, "there were dumps to look at")
    t.done()


if __name__ == "__main__":
    main()
