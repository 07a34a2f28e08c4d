# SPDX-License-Identifier: GPL-3.0-or-later
"""A second and much simpler way to find the ways on which an HPROF dump's objects are reached.

It follows the rules as src/analysis/path_keys/path_keys.h states them, over tuples of words; it shares
nothing with the program.  A way is a tuple of steps: first (kind, words, class), then (words, class).
"""

import re

from hprof import KINDS

DEEP, PERIODS = 48, range(2, 9)
FAR = (b"\xe2\x80\xa6", b"\xff")  # the step beyond all others: no class, which comes last
USUAL_LOADERS = ("jdk.internal.loader.", "sun.misc.Launcher$", "com.ibm.oti.vm.")
CLASS, LOADER, THREAD, LOCAL, ROOT = range(1, 6)
WEAK = {"java.lang.ref." + n for n in ("SoftReference", "WeakReference", "PhantomReference", "FinalReference",
                                       "FinalizerReference")}


class Way:
    """A group of objects, and the groups below it."""

    def __init__(self, plain):
        self.objects, self.chain, self.plain, self.below = [], False, plain, {}

    def take(self, other):
        self.objects += other.objects
        self.chain |= other.chain
        for step, way in other.below.items():
            if step in self.below:
                self.below[step].take(way)
            else:
                self.below[step] = way


class Ways:
    def __init__(self, edit, alive):
        """alive: the objects that can be reached, over weak references as well."""
        self.edit, self.alive, d = edit, alive, edit.dump
        self.graph = d.graph(-1)
        self.cls = {a: o.cls for a, o in self.graph.objects.items()}
        for a in d.classes:
            self.cls[a] = edit.names[a]  # a class object goes by the class it stands for
        self.loaders = {c["loader"] for c in d.classes.values()} & set(edit.places)
        self.threads = {d.u4(start + 1 + d.ids): a for a, roots in edit.roots.items()
                        for start, _, tag in roots if tag == 8}
        self.level, self.way = {}, {}
        self.chains = set()
        self.walk()

    # --- what an object holds

    def plain(self, a):
        return not self.cls[a].endswith("[]")

    def holds(self, a):
        """(field, target) of each strong reference."""
        found = self.edit.out(a)
        if self.edit.places[a][0] == 0x21:
            line = [self.edit.names[c] for c in self.edit.lineage(self.edit.instance_class[a])]
            below = line[:line.index("java.lang.ref.Reference")] if "java.lang.ref.Reference" in line else []
            if WEAK & set(below):
                at = [p for c, n, p in self.edit.fields(a)
                      if n == "referent" and self.edit.names[c] == "java.lang.ref.Reference"]
                for r in [r for r in found if r[2] in at]:
                    if sum(q[3] == r[3] for q in found) == 1 and r[3] != self.edit.instance_class[a]:
                        found = [q for q in found if q[3] != r[3]]
        return [(self.field(label), target) for _, label, _, target in found]

    @staticmethod
    def field(label):
        return re.sub(r"^\[\d+\]$", "[]", re.sub("^static ", "", label)).encode()

    # --- where ways begin

    def text(self, a):
        """Of a String, or, in old JDKs, of its characters."""
        d, array = self.edit.dump, a
        if self.edit.places[a][0] == 0x21:
            array = d.id(dict((n, p) for _, n, p in self.edit.fields(a))["value"])
        if array not in self.edit.places:
            return ""
        _, body, end = self.edit.places[array]
        data = d.data[body + d.ids + 9:end]
        wide = d.data[body + d.ids + 8] == 5
        if wide or (data and len(data) % 2 == 0 and 0 in data[::1]):
            return data.decode("utf-16-be" if wide else "utf-16-le")
        return data.decode("latin-1")

    def thread_name(self, a):
        for c, name, at in self.edit.fields(a):
            if name == "name" and self.edit.names[c] == "java.lang.Thread":
                text = self.edit.dump.id(at)
                return self.text(text) if text in self.edit.places else "<unnamed>"
        return "<unnamed>"

    def loader_name(self, a):
        if a not in self.edit.places or self.cls[a].startswith(USUAL_LOADERS):
            return ""
        for c, name, at in self.edit.fields(a):
            if name == "name" and self.edit.names[c] == "java.lang.ClassLoader":
                text = self.edit.dump.id(at)
                return re.sub(r"\d+", "#", self.text(text)) if text in self.edit.places else ""
        return ""

    def of_loader(self, a):
        """What a class is called by beside its name."""
        loader = self.edit.dump.classes[a]["loader"]
        if loader not in self.edit.places or self.cls[loader].startswith(USUAL_LOADERS):
            return ""
        name = self.loader_name(loader)
        return self.cls[loader] + (' "%s"' % name if name else "")

    def begins(self):
        """(object, way) of all starts."""
        d, edit = self.edit.dump, self.edit
        for a in self.alive:
            if a in d.classes:
                yield a, ((CLASS, self.of_loader(a).encode(), self.cls[a].encode()),)
            if a in self.loaders and a not in d.classes:
                yield a, ((LOADER, self.loader_name(a).encode(), self.cls[a].encode()),)
        for a, roots in edit.roots.items():
            if a in d.classes:
                continue
            cls = self.cls[a].encode()
            is_loader = edit.places[a][0] == 0x21 and "java.lang.ClassLoader" in [
                edit.names[c] for c in edit.lineage(edit.instance_class[a])]
            for start, _, tag in roots:
                thread = self.threads.get(d.u4(start + 1 + d.ids)) if tag in (2, 3, 4, 6, 8) else None
                name = re.sub(r"\d+", "#", self.thread_name(thread)) if thread else ""
                if is_loader:
                    yield a, ((LOADER, self.loader_name(a).encode(), cls),)
                elif thread == a:
                    yield a, ((THREAD, name.encode(), cls),)
                elif thread:
                    yield a, ((LOCAL, ('local of "%s"' % name).encode(), cls),)
                else:
                    yield a, ((ROOT, KINDS[tag].encode(), cls),)

    # --- the walk

    def step(self, way, field, target):
        last, cls = way[-1], self.cls[target].encode()
        if last == FAR:
            return way
        if last[-1] == cls and self.plain(target) and not (len(way) == 1 and last[0] == CLASS):
            return way
        longer = way + ((field, cls),)
        for p in PERIODS:
            if 2 * p < len(longer) and longer[-p:] == longer[-2 * p:-p]:
                return longer[:-p]
        return way + (FAR,) if len(way) == DEEP else longer

    def walk(self):
        first = lambda s: (s[0], s[2], s[1]) if s[0] in (CLASS, LOADER) else s  # noqa: E731
        best = lambda way: (len(way), (first(way[0]),) + way[1:])  # noqa: E731
        level, late = {}, {}  # what stacks hold comes when all else has a way
        for a, way in self.begins():
            where = late if way[0][0] == LOCAL else level
            where[a] = min(where.get(a, way), way, key=best)
        for number in range(1 << 30):
            if not level:
                level, late = {a: way for a, way in late.items() if a not in self.way}, {}
            if not level:
                break
            self.level.update((a, number) for a in level)
            self.way.update(level)
            below = {}
            for a in level:
                for field, target in self.holds(a):
                    if target not in self.way:
                        way = self.step(self.way[a], field, target)
                        below[target] = min(below.get(target, way), way, key=best)
            level = below

    # --- chains

    def holder(self, way):
        """Of a step: the way of what has it as a field, or as an element of an array in a field."""
        up = way[:-1]
        return up[:-1] if up and up[-1][-1].endswith(b"[]") else up

    def is_chain(self, a, target):
        way, other = self.way[a], self.way[target]
        if a == target or not self.plain(a) or self.cls[a] != self.cls[target] or way[-1] == FAR:
            return False
        if len(way) == 1 and way[0][0] == CLASS:
            return False
        return self.level[target] == self.level[a] + 1 or way == other or \
            (len(way) > 1 and len(other) > 1 and self.holder(way) and self.holder(way) == self.holder(other))

    def tree(self):
        """The ways before chains are joined."""
        top, nodes = Way(False), {}
        for a in self.way:
            at = top
            for i, s in enumerate(self.way[a]):
                if s not in at.below:
                    at.below[s] = Way(s != FAR and not s[-1].endswith(b"[]"))
                at = at.below[s]
            at.objects.append(a)
            nodes[a] = at
        for a in self.way:
            nodes[a].chain |= any(self.is_chain(a, t) for _, t in self.holds(a))
        return top


# --- chains are joined

def join(holder):
    """What leads into chains of one class becomes one."""
    entries = {}
    for step, way in holder.below.items():
        if way.plain:
            entries.setdefault(step[-1], []).append((1, (step,), holder, way))
        else:
            for k, element in way.below.items():
                if element.plain:
                    entries.setdefault(k[-1], []).append((0, (step, k), way, element))
    for ways in entries.values():
        if any(w[3].chain for w in ways):
            first, *others = sorted(ways, key=lambda w: w[:2])
            for _, steps, above, way in others:
                first[3].take(way)
                del above.below[steps[-1]]


def rows(top):
    """Join, then (path, class, whether it is a chain, objects) of each way."""
    waiting = [((s,), w) for s, w in top.below.items()]
    names = [s[2] for s in top.below if s[0] == CLASS]
    shared = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else ()
    while waiting:
        steps, way = waiting.pop()
        if way.plain:
            join(way)
        waiting += [(steps + (s,), w) for s, w in way.below.items()]
        if way.objects:
            begins = len(steps) == 1 and steps[0][0] == CLASS
            yield in_words(steps, shared), "java.lang.Class" if begins else \
                None if steps[-1] == FAR else steps[-1][-1].decode(), way.chain, way.objects


def in_words(steps, shared):
    """shared: names of classes that loaders of several kinds have."""
    kind, words, cls = (b.decode() if isinstance(b, bytes) else b for b in steps[0])
    of = " (%s)" % words if words and cls.encode() in shared else ""
    text = {CLASS: ("static " if len(steps) > 1 else "class ") + cls + of,
            LOADER: "loader " + cls + (' "%s"' % words if words else ""),
            THREAD: 'thread "%s"' % words}.get(kind, words)
    for i, (field, cls) in enumerate(steps[1:]):
        field = field.decode()
        if field == "[]":
            text += field
        elif not field:
            text += " > " + cls.decode()
        else:
            text += ("." if i == 0 and kind == CLASS else " > ") + field
    return text


def moved(edit, path):
    """Write the dump with the order of its objects' addresses turned round."""
    d, s = edit.dump, edit.dump.ids
    old = sorted(edit.places)
    new = dict(zip(old, reversed(old)))
    data = bytearray(d.data)

    def put(at):
        ident = d.id(at)
        if ident in new:
            data[at:at + s] = new[ident].to_bytes(s, "big")

    at = d.data.index(b"\0") + 13
    while at < len(d.data):
        if d.data[at] == 2:
            put(at + 9 + 4)
        at += 9 + d.u4(at + 5)
    for tag, body, _ in d.records(-1):
        put(body)
        if tag == 0x20:
            address = d.id(body)
            for k in (0, 1):
                put(body + s + 4 + k * s)
            for _, where in edit.class_slots(address):
                put(where)
        elif tag == 0x21:
            put(body + s + 4)
            for _, _, where in edit.fields(d.id(body)):
                put(where)
        elif tag == 0x22:
            put(body + s + 8)
            for i in range(d.u4(body + s + 4)):
                put(body + 2 * s + 8 + i * s)
    with open(path, "wb") as f:
        f.write(data)
