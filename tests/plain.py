#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts that people read are plain: no words of a private language, short sentences, short help.

Texts are the string literals of src/ with three words or more, the help of every command, the meanings of
columns, README.md and doc/manual.md.  MOST says how many faults of a kind are left; fewer is fine, more fails.
"""

import glob
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from commands import table  # noqa: E402
from cairntest import GO, SAMPLE, SHOP, SOURCE, Tap, cairn  # noqa: E402

OUT = re.compile(r"\b(tells?|told|stands?|at hand|behind|beside|of which|of whom|whose|but for|so many|so much|alike|whoever|"
                 r"somebody|nobody knows|hangs? on|goes with|go with|lays? by|lies beside|mend(?:s|ed)?)\b", re.I)
# A word of the glossary (doc/architecture.md), and what says the same with another word of it.
MISUSED = {"truncated": r"\b(?:dump|file|index|stream|archive|profile|record)s? (?:is|was|are|were) cut\b|\bcut (?:dumps?|files?|index|at byte)\b",
           "clipped": r"\b(?:text|name|line|row)s? (?:is|was|are|were) cut\b",
           "stage": r"\bcommands? (?:behind|after) (?:a|the) \|", "page": r"\bviews? of (?:the|a) screen\b"}
GLOSSARY_MOST = 40
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
JOINED = re.compile(LITERAL + r"(?:\s*(?:PRI\w+\s*)?" + LITERAL + r")*")
WORDS_MOST = 25     # of a sentence
LINES_MOST = 12     # of prose in the help of a command
SUMMARY_MOST = 70   # characters
MEANING_MOST = 8    # words of a column's meaning
EMPTY_MEANING = re.compile(r"of the (?:row|result)$|\bor row\b")  # says nothing
# What is left of each kind; nothing may be added.
MOST = {"out-words": 0, "sentences": 0, "help": 0, "summaries": 0, "meanings": 0, "errors": 0, "printed errors": 0, "misused words": 0}


def literals():
    """(file, text) of each literal that is a text."""
    for path in sorted(glob.glob(os.path.join(SOURCE, "src", "**", "*.[ch]"), recursive=True)):
        with open(path, encoding="utf-8") as f:
            code = re.sub(r"/\*.*?\*/", " ", f.read(), flags=re.S)
        code = re.sub(r"^[ \t]*#(?!define).*$", "", code, flags=re.M)
        for found in JOINED.finditer(code):
            text = re.sub(r'"\s*(?:PRI\w+\s*)?"', "", found.group(0)[1:-1])
            if len(text.split()) > 2:
                yield os.path.relpath(path, SOURCE), text.replace(r"\"", '"')


def prose(name):
    """(file, text) of each paragraph that is no code."""
    with open(os.path.join(SOURCE, name), encoding="utf-8") as f:
        for paragraph in re.split(r"\n\s*\n|\n(?=[*|])", f.read()):
            if not paragraph.startswith("    "):
                yield name, re.sub(r"`[^`]*`|\[|\]\([^)]*\)", " ", paragraph)


def sentences(text):
    for sentence in re.split(r"(?<=[.!?;:])\s+|\\[nt]|\n", text):
        yield len([w for w in sentence.split() if re.search(r"\w", w)]), sentence


def help_of(name):
    """The lines of prose in the help of a command, and its summary."""
    lines = cairn("-x", "help " + name).out.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("  "))
    summary = lines[first].strip()
    after = [i for i, line in enumerate(lines) if re.match(r"  (columns|values|also called)\b|(more )?examples|options", line)]
    begin = max([i for i in after if lines[i].startswith(("options", "examples"))] + [first]) + 1
    body = []
    for line in lines[begin:]:
        if re.match(r"  (columns|values|also called)\b|more examples", line):
            break
        body.append(line)
    # a row of a table has two blanks between word and meaning, or the meaning on the next line
    row = [re.match(r"  (-|\S.*\S  |\S[^.]*:$)|   |  # ", line) or after.startswith("   ") for line, after in zip(body, body[1:] + [""])]
    return summary, [line for line, in_table in zip(body, row) if not in_table]


def defined_twice(name):
    """Words that the help of a command defines in its text and once more in the list of columns."""
    lines = cairn("-x", "help " + name).out.splitlines()
    ends = [i for i, line in enumerate(lines) if re.match(r"  (?:columns|values)\b", line)]
    begin = max([i for i, line in enumerate(lines) if re.match(r"options|examples", line)] + [0])
    words = [[w for line in part for found in [re.match(r"  (\w+(?:, \w+)*)  +\S", line)] if found
              for w in found.group(1).split(", ")] for part in (lines[begin:ends[0] if ends else None], lines[ends[-1]:] if ends else [])]
    return sorted(set(words[0]) & set(words[1]))


def errors():
    """(file, text) of each error that the source sets."""
    for path in sorted(glob.glob(os.path.join(SOURCE, "src", "**", "*.c"), recursive=True)):
        with open(path, encoding="utf-8") as f:
            code = re.sub(r"/\*.*?\*/", " ", f.read(), flags=re.S)
        for found in re.finditer(r"\b(?:err_set|wrong|complain)\s*\([^;\"]*?(" + JOINED.pattern + ")", code):
            yield os.path.relpath(path, SOURCE), re.sub(r'"\s*(?:PRI\w+\s*)?"', "", found.group(1)[1:-1])


def form(text):
    """What is wrong with the form of an error, WHAT: WHY (WHAT TO DO), or None."""
    if re.match(r"(?!SQLite|TERM)[A-Z][a-z]+ ", text):
        return "a capital letter first"
    if re.search(r"[^.]\.$", text):
        return "a full stop at the end"
    if re.search(r"; (use|try|name|give|write|run|open|start|see|\w+ (FILE|DUMP|lists|searches))\b(?![^(]*\))", text):
        return "what to do is not in ( )"
    return None


def printed_errors(names):
    """(command line, line) of what each command says on standard error without arguments and with a wrong one."""
    for sample in (SAMPLE, SHOP, GO):
        for name in names:
            for line in (name, name + " -nosuch", name + " no.such.Thing 0x1 %99"):
                if name not in ("quit", "index", "profile", "redact", "report", "save", "source"):
                    for said in cairn("-x", line, sample).err.splitlines():
                        yield line, said


def check_glossary(tap, texts):
    """The glossary is short, gives each word one meaning, and its words are used."""
    with open(os.path.join(SOURCE, "doc", "architecture.md"), encoding="utf-8") as f:
        table = f.read().split("## Glossary")[1].split("\n\n## ")[0]
    words = [w for w in re.findall(r"^\| ([^|]+?) \|", table, re.M) if w not in ("word", "---")]
    tap.ok(20 < len(words) <= GLOSSARY_MOST and len(set(words)) == len(words) and set(MISUSED) <= set(words),
           "the glossary has %d words, each once" % len(words), sorted(words))
    report(tap, "misused words", [(name, "%s, not \"%s\"" % (word, m.group(0))) for name, text in texts
                                  for word, wrong in MISUSED.items() for m in re.finditer(wrong, text)])


def report(tap, kind, faults):
    most = MOST[kind]
    tap.ok(len(faults) <= most, "%s: %d, at most %d" % (kind, len(faults), most), "\n".join("%s: %s" % f for f in faults[:40]))


def main():
    tap = Tap()
    texts = list(literals()) + [t for name in ("README.md", os.path.join("doc", "manual.md")) for t in prose(name)]
    tap.ok(len(texts) > 2000, "%d texts are read" % len(texts))
    report(tap, "out-words", [(name, "%s: %s" % (m.group(0), text[:90])) for name, text in texts for m in OUT.finditer(text)])
    report(tap, "sentences", [(name, "%d words: %s" % (n, s[:90])) for name, text in texts for n, s in sentences(text)
                              if n > WORDS_MOST and " = " not in s and "SELECT" not in s])
    check_glossary(tap, texts)
    schema = json.loads(cairn("--dump-docs", "schema").out)
    commands = [name for name in table() if name != "help"]
    tap.ok(len(commands) > 50 and schema, "%d commands have help" % len(commands))
    known = {name: help_of(name) for name in commands}
    report(tap, "help", [(name, "%d lines of prose" % len(lines)) for name, (_, lines) in known.items() if len(lines) > LINES_MOST])
    report(tap, "summaries", [(name, s) for name, (s, _) in known.items() if len(s) > SUMMARY_MOST])
    with open(os.path.join(SOURCE, "src", "result", "columns.c"), encoding="utf-8") as f:
        meanings = re.findall(r'\[COL_\w+\] = \{"[^"]*", \w+, \d+,\s*"([^"]*)"', f.read())
    tap.ok(len(meanings) > 100, "%d columns have a meaning" % len(meanings))
    report(tap, "meanings", [("columns.c", m) for m in meanings if len(m.split()) > MEANING_MOST or EMPTY_MEANING.search(m)])
    with open(os.path.join(SOURCE, "src", "result", "columns.c"), encoding="utf-8") as f:
        words = set(re.findall(r'\[COL_\w+\] = \{"([^"]*)", \w+, -?\d+,\s*"([^"]*)"', f.read()))
    again = sorted(m for m in {m for _, m in words} if len([w for w, other in words if other == m]) > 1)
    tap.ok(len(words) > 100 and not again, "no two words of columns have one meaning", again)
    twice = ["%s: %s" % (name, ", ".join(found)) for name in commands for found in [defined_twice(name)] if found]
    tap.none(twice, commands, "no help defines a column twice")
    sources = list(errors())
    tap.ok(len(sources) > 500, "%d errors are read" % len(sources))
    report(tap, "errors", [(name, "%s: %s" % (form(text), text)) for name, text in sources if form(text)])
    said = list(printed_errors(commands))
    tap.ok(len(said) > 200, "%d errors are printed" % len(said))
    report(tap, "printed errors", [(line, "%s: %s" % (wrong, text)) for line, text in said for wrong in
                                   [None if text.startswith("cairn: ") else "no cairn: at the beginning",
                                    form(text.split(": ")[-1]), OUT.search(text) and "an out-word"] if wrong])
    with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as f:
        readme = f.read().splitlines()
    tap.ok(len(readme) < 120 and max(map(len, readme)) <= 100, "README.md: under 120 lines of at most 100 characters")
    tap.done()


main()
