# SPDX-License-Identifier: GPL-3.0-or-later
"""What a program has in a made OpenJ9 VM (j9_made.py): fields with values, methods, stacks with frames, monitors, and
options of the command line."""

import struct

from j9_memory import BLOCKED, DEBUG_INFO, OBJECT_FIELD, STATIC, SYNCHRONIZED, WIDE_FIELD, up

SINGLES = "ZBCSIF"
FIELDS = {  # by class: name, type, value of an instance (of references: by the name of a plan), or that of a static
    "Fields": (("b", "B", -5), ("z", "Z", 1), ("j", "J", -0x123456789abcdef), ("c", "C", 0x20ac), ("s", "S", -300),
               ("l", "LNode;", "node"), ("i", "I", 0x12345678), ("d", "D", 2.5), ("f", "F", -0.375), ("a", "[B", "text")),
    "SubFields": (("x", "I", 77), ("y", "J", 1 << 40), ("w", "LNode;", "node")),
    "Lock": (("n", "I", 7),),
}
STATICS = {
    "Fields": (("sb", "B", -7), ("sj", "J", 0x7edcba9876543210), ("so", "LNode;", "node"), ("si", "I", -2),
               ("sc", "C", 0x41), ("sd", "D", -1.25), ("sz", "Z", 1)),
}
OPTIONS = "-Xmx64m", "-Dmade.property=twelve"
# The methods of a stack, innermost first: class, name, line of the call, arguments and locals, is it synchronized
METHODS = ("Node", "inner", 17, 1, 2, False), ("SubNode", "locked", 4711, 1, 0, True), ("Node", "main", 3, 1, 1, False)


def number(kind, value):
    """The bits of a value, of 8 bytes or 4."""
    if kind == "F":
        return struct.unpack("<I", struct.pack("<f", value))[0]
    if kind == "D":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    return value


def lay_out(made, c, lock):
    """The places of a class's fields as the VM has it: those of 8 bytes, references, those of 4 bytes, of which the
    first gets a gap of 4 bytes that is left; a lock word is the last of its kind."""
    slot = made.slot
    fields = list(FIELDS[c.name]) + ([("", "I" if slot == 4 else "J", 0)] if lock else [])
    wide = [f for f in fields if f[1] in "JD"]
    refs = [f for f in fields if f[1][0] in "L["]
    singles = [f for f in fields if f[1] in SINGLES]
    at, gap = c.above.size, c.above.gap
    if (wide or refs and slot == 8) and (at + slot) % 8:
        at, gap = at + 4, at
    c.places = {}
    first = (singles or (refs if slot == 4 else []))[:1] if gap is not None else []
    for f in first:
        c.places[f[0]], gap = gap, None
    for kind, size in (wide, 8), (refs, slot), (singles, 4):
        for f in kind:
            if f not in first:
                c.places[f[0]], at = at, at + size
    if (at + slot) % 8:
        gap, at = at, at + 4
    c.size, c.gap = at, gap
    c.slots = sorted(c.above.slots + [c.places[f[0]] // slot for f in refs])
    c.lock = slot + c.places[""] if lock else None


def field_shape(made, at, name, kind, static):
    """A J9ROMFieldShape."""
    m, shape = made.m, "J9ROMFieldShape"
    names = at + m.offset(shape, "nameAndSignature")
    flags = OBJECT_FIELD if kind[0] in "L[" else WIDE_FIELD if kind in "JD" else 0
    m.set(at, shape, modifiers=flags | (STATIC if static else 0))
    for member, text in ("name", name), ("signature", kind):
        m.relative(names, "J9ROMNameAndSignature", member, m.utf8("vm", text))


def write_fields(made, c, rom):
    """Records of fields, and the memory of statics."""
    m, statics = made.m, STATICS.get(c.name, ())
    fields = [(*f, False) for f in FIELDS.get(c.name, ())] + [(*f, True) for f in statics]
    if not fields:
        return
    size = made.d.size["J9ROMFieldShape"]
    first = m.take("vm", size * len(fields), 8)
    for i, (name, kind, _, static) in enumerate(fields):
        field_shape(made, first + i * size, name, kind, static)
    singles = [f for f in statics if f[1] in SINGLES]
    m.set(rom, "J9ROMClass", romFieldCount=len(fields), singleScalarStaticCount=len(singles))
    m.relative(rom, "J9ROMClass", "romFields", first)
    if not statics:
        return
    refs = [f for f in statics if f[1][0] in "L["]
    wide = up(made.word * (len(refs) + len(singles)), 8)
    at = m.take("vm", wide + 8 * len(statics), 8)
    for i, f in enumerate(refs + singles):
        ref = i < len(refs)
        m.put(at + i * made.word, made.named[f[2]] if ref else number(f[1], f[2]), made.word if ref else 4)
    for i, f in enumerate(f for f in statics if f[1] in "JD"):
        m.put(at + wide + 8 * i, number(f[1], f[2]), 8)
    m.set(c.at, "J9Class", ramStatics=at)


def make_instances(made):
    """One of each class with fields."""
    made.with_fields = {}
    for name in FIELDS:
        c, values = made.classes[name], {}
        for k in made.above(c) + [c]:
            values.update({f[0]: (k.places[f[0]], *f[1:]) for f in FIELDS.get(k.name, ())})
        refs = {at // made.slot: made.named[v] for at, kind, v in values.values() if kind[0] in "L["}
        o = made.instance(c, [refs.get(s, 0) for s in c.slots])
        made.with_fields[name] = o, {n: (kind, v) for n, (_, kind, v) in values.items()}
        for at, kind, v in values.values():
            if kind[0] not in "L[":
                made.m.put(o + made.slot + at, number(kind, v), 8 if kind in "JD" else 4)
        if c.lock:
            made.m.put(o + c.lock, 0, made.slot)
    made.inflated = made.instance(made.classes["Lock"])
    made.m.put(made.inflated + made.slot + made.classes["Lock"].places["n"], 8, 4)


# --- methods and stacks ----------------------------------------------------------------------------------------------

def line_table(order, entries):
    """Distances of location and line from those before: in 1 byte, 2, 3 or 5."""
    out, location, line = b"", 0, 0
    for l, n in entries:
        x, y = l - location, n - line
        location, line = l, n
        if x < 32 and 0 <= y < 4:
            out += bytes([x << 2 | y])
        elif x < 32 and -256 <= y < 256:
            out += bytes([0x80 | x << 1 | (y >> 8 & 1), y & 0xff])
        elif x < 128 and -8192 <= y < 8192:
            both = x << 14 | (y & 0x3fff)
            out += bytes([0xc0 | both >> 16]) + struct.pack(order + "H", both & 0xffff)
        else:
            out += b"\xe0" + struct.pack(order + "HH", x, y)
    return out


def method(made, c, name, line, arguments, locals_, synchronized):
    """A J9Method, and the pc in it where a call of this line is."""
    m, code, call = made.m, 41, 38
    rom = m.new("vm", "J9ROMMethod", more=up(code, 4) + 4, bytecodeSizeLow=code, argCount=arguments, tempCount=locals_,
                modifiers=DEBUG_INFO | (SYNCHRONIZED if synchronized else 0))
    m.relative(rom, "J9ROMMethod", "name", m.utf8("vm", name))
    at = rom + made.d.size["J9ROMMethod"]
    lines = [(0, 1), (2, 2), (3, 240), (5, 239), (35, line), (40, 65000)]
    info = m.new("vm", "J9MethodDebugInfo", more=64, lineNumberCount=len(lines) << 1)
    m.write(info + made.d.size["J9MethodDebugInfo"], line_table(made.d.order, lines))
    m.put(at + up(code, 4), info - at - up(code, 4), 4)
    pool = m.new("vm", "J9ConstantPool", align=16, ramClass=c.at)
    return m.new("vm", "J9Method", bytecodes=at, constantPool=pool | 3), at + call


def stack_of(made, held):
    """A stack of frames of METHODS: the words of it, from its low end, and the registers of the innermost frame."""
    word, words, frames = made.word, [], []
    for c, name, line, arguments, locals_, synchronized in METHODS:
        at, pc = method(made, made.classes[c], name, line, arguments, locals_, synchronized)
        frames.append((at, pc, arguments + locals_, synchronized))
    base = made.m.take("vm", 64 * word, word)
    words += [7]  # pushed
    registers = None
    places = []
    for i, (at, pc, n, synchronized) in enumerate(frames):
        places.append(len(words))
        words += [0, 0, 0] + ([made.with_fields["Lock"][0]] if synchronized else []) + [0] * n
        words[-1] = held[i]  # the first argument has the highest address
        a0 = base + word * (len(words) - 1)
        if i:
            words[places[i - 1]:places[i - 1] + 3] = [at, pc, a0]
        else:
            registers = {"literals": at, "pc": pc, "arg0EA": a0, "sp": base}
    made.m.words(base, words)
    return base + word * len(words), registers


# --- monitors ---------------------------------------------------------------------------------------------------------

def make_monitors(made, owner, os_owner, waiter):
    """The owner has a flat lock and an inflated one, for which the other waits."""
    m, lock = made.m, made.classes["Lock"]
    m.put(made.with_fields["Lock"][0] + lock.lock, owner, made.slot)
    monitor = m.new("low", "J9ThreadAbstractMonitor", align=256, count=2, owner=os_owner, userData=made.inflated)
    m.put(made.inflated + lock.lock, monitor | 1, made.slot)
    monitors = made.pool(1, made.d.size["J9ObjectMonitor"],
                         lambda i, at: m.set(at, "J9ObjectMonitor", monitor=monitor))
    m.set(waiter, "J9VMThread", blockingEnterObject=made.inflated, publicFlags=BLOCKED)
    return m.new("vm", "J9MonitorTableListEntry", monitorTable=m.new("vm", "J9HashTable", listNodePool=monitors))


def arguments(made):
    """A J9VMInitArgs."""
    m, size = made.m, made.d.size["JavaVMOption"]
    options = m.take("vm", size * len(OPTIONS), 8)
    for i, text in enumerate(OPTIONS):
        at = m.take("vm", len(text) + 1)
        m.write(at, text.encode())
        m.set(options + i * size, "JavaVMOption", optionString=at)
    return m.new("vm", "J9VMInitArgs", actualVMArgs=m.new("vm", "JavaVMInitArgs", nOptions=len(OPTIONS),
                                                          options=options))
