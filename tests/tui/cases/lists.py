# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows and columns: sorting, filtering, searching, widths."""

import re

from cairntest import SHOP
from tui import BOTH, case, enter, leave, need, selected, settled, start, wait_selected


@case("s sorts by the next column, r turns it round", BOTH)
def sort(t):
    start(t)
    t.wait(r"shallow v")
    t.keys("r")
    t.wait(r"shallow \^")
    t.wait(lambda lines: not any("byte[]  " in line and line.startswith(">") and "195K" in line
                                 for line in lines[2:4]))
    t.keys("s")
    t.wait(r"^(?:(?:0 (?:overview )? ?)?1 )?histogram.*(?<!shallow) [v^]")
    leave(t)


@case("where a column has percentages, too, those next to the sorted one have a title")
def two_percentages(t):
    start(t, dump=SHOP)
    t.resize(120, 24)
    enter(t, "waste")
    t.wait(r"^ +kind .* wasted +% sum +share")
    t.wait(r"^. duplicate strings +\d+ +[\d.]+K +[\d.]+K \S* +~\d+% ")
    t.wait(r"^. alignment padding +[\d,]+ +[\d.]+K +~[\d.]+K \S* +~4\.3%")  # no part of the sum
    enter(t, "waste strings")
    t.wait(r"^ +8 fields +417 .* 20\.1K .*\b9\.2%")  # of 222,584 bytes, not the sum of rounded shares
    leave(t)


@case("sorting: the first row stays the first, any other keeps the cursor, in view")
def sort_keeps(t):
    start(t, dump=SHOP)
    t.wait(r" 1/43$")
    t.keys("r")
    t.wait(r"shallow \^ +1/43$")
    t.keys("r", "Down", "Down")
    wait_selected(t, r"com\.acme\.shop\.Order ")
    t.keys("r")
    t.wait(r"shallow \^ +41/43$")
    wait_selected(t, r"com\.acme\.shop\.Order ")
    t.keys("5")
    wait_selected(t, r"<primitive>")
    t.keys("Down", "Down", "Down", "Down")
    wait_selected(t, r"▾ java ")
    t.keys("r")
    t.wait(r" \^ +\d+/16$")
    wait_selected(t, r"▾ java ")
    leave(t)


@case("keys that come faster than the screen is drawn scroll as slow ones do")
def scroll_ahead(t):
    start(t, dump=SHOP)
    t.wait(r"^> byte\[\] .*% +91\.4K$")  # nothing fills in any more
    t.keys("End")
    t.wait(r" 43/43$")
    down = ["Down"] * 25
    for key in ["Home"] + down:
        t.keys(key)
        t.screen()
    t.wait(r" 26/43$")
    slow = settled(t)
    t.keys("End")
    t.wait(r" 43/43$")
    t.keys("Home", *down)
    t.wait(r" 26/43$")
    fast = settled(t)
    need(fast == slow, "the same rows:\n" + "\n".join(slow), t)
    leave(t)


@case("a filter that keeps no row: the sentence has a line of its own, above the sums", BOTH)
def filter_none(t):
    start(t, dump=SHOP)
    t.keys("f")
    t.type("zzzq")
    t.keys("Enter")
    t.wait(r"^ +no row matches the filter; F: show all again( *$| *[│|])")
    if t.height > 24:  # in a small window the panes leave the list one line
        t.wait(r"^ +0 \(43\) classes +0 \(4,861\)")
    leave(t)


@case("f filters while one types; F shows all again", BOTH)
def filter_rows(t):
    start(t)
    t.keys("f")
    t.type("PriceRule")
    t.wait(lambda lines: sum("PriceRule" in line for line in lines) >= 2
           and not any("java.lang.String " in line for line in lines))
    t.keys("Enter")
    t.wait(r"^filter:", gone=True)
    t.wait(r" filter: PriceRule +1/4$")
    t.wait(r"4 \(54\) classes +9 \(2,820\) +232 +?\(279K\)")
    t.keys("F")
    t.wait(r"54 classes +2,820 +279K" if t.height == 24 else r"31/54")
    wait_selected(t, r"com\.acme\.plugin\.PriceRule ")  # the row stays
    leave(t)


@case("Enter on a row of a set opens just what the row counts")
def rows_are_sets(t):
    start(t)
    t.type(":histo ( com.acme.* - com.acme.shop.Session ) -by package")
    t.keys("Enter")
    t.wait(r"histogram by package.*Session \)")
    wait_selected(t, r"com\.acme\.shop ")
    t.keys("Enter")
    t.wait(r"histogram of com\.acme\.shop")
    t.wait(lambda lines: any("com.acme.shop.Journal$Entry " in line for line in lines)
           and not any("com.acme.shop.Session " in line for line in lines))
    t.keys("Enter")  # the class's row: objects of one class
    wait_selected(t, r"0x[0-9a-f]+ +\d")
    leave(t)


@case("/ searches, n and N walk the finds")
def search(t):
    start(t)
    t.type("/Journal")
    t.keys("Enter")
    wait_selected(t, r"Journal")
    # by name: retained sizes may fill in meanwhile, and the row then is another line
    first = re.escape(selected(t).split()[1])
    t.keys("n")
    t.wait(lambda lines: any(re.match(r"> \S*Journal", line) and not re.match("> %s " % first, line)
                             for line in lines))
    t.keys("N")
    wait_selected(t, "> %s " % first)
    leave(t)


@case("wide and accented names keep the columns in line", BOTH)
def wide(t):
    start(t)
    t.keys("f")
    t.type("acme")
    t.keys("Enter")
    t.wait(r" filter: acme +1/23$")
    t.keys("End")
    t.wait(r" 23/23$")
    t.wait("com.acme.日本.注文")
    t.wait("com.acme.shop.Währung")
    # Columns, not characters: a wide character takes two.
    rows = [line for line in t.screen() if "com.acme." in line]

    def number_end(line):
        found = re.search(r" (\d[\d,]*) +[\d.]+[KM]?( |$)", line)
        return sum(2 if ord(ch) >= 0x2E80 else 1 for ch in line[:found.end(1)])

    ends = {number_end(line) for line in rows if re.search(r" (\d[\d,]*) +[\d.]+[KM]?( |$)", line)}
    need(len(ends) == 1, "the numbers end in columns %s" % sorted(ends), t)
    leave(t)


@case("resizing: down to 40x10 and up, the selected row stays")
def resize(t):
    start(t)
    t.keys("Down", "Down")
    wait_selected(t, r"java\.lang\.String ")
    for width, height in ((40, 10), (200, 50), (60, 12), (80, 24)):
        t.resize(width, height)
        t.wait(lambda lines: len(lines) <= height and any(
            line.startswith("> java.lang.String") for line in lines))
        t.wait(lambda lines: all(len(line) <= width for line in lines))
    t.resize(20, 4)
    t.resize(80, 24)
    wait_selected(t, r"java\.lang\.String ")
    leave(t)


@case("a narrow screen gives up the columns that tell least")
def narrow(t):
    start(t)
    t.keys("R")
    t.wait(r"^> System class +0xe0000000 +(?:com\.\S+|\w+)Loader ")
    t.wait(r"^  System class +0xe0017270 +java\.lang\.Class +\S+ +java\.lang\.Stri")
    need("frame" not in t.screen()[2], "an almost empty column is shown", t)
    t.resize(40, 10)
    t.wait(r"^  System class +java\.lang\.Class")
    t.keys("L")
    t.resize(80, 24)
    t.wait(r"^> 0xe0000000 +c\S*ClassLoader ")
    leave(t)


@case("what a command is about stays: fields, classes and what is freed", ((80, 24), (40, 12)))
def narrow_path(t):
    start(t, dump=SHOP)
    t.type(":path 0xe00200a8")
    t.keys("Enter")
    t.wait(r"^  (step +)?field +class +(root +)?freed")
    t.wait(r"\[0\] +c\S*\.Session +1\.3K")
    if t.width == 80:
        t.wait(r"^  step .* root ")
    t.type(":cut -plan 190K")
    t.keys("Enter")
    t.wait(r"^  reference .* freed +adds +total")
    t.type(":paths com.acme.shop.Order")
    t.keys("Enter")
    t.wait(r"^  class .*retained( +root| +field| +\+\d)*$")
    leave(t)
    # and no line of a printed table is wider than the terminal
    t.line("clear; \"$CAIRN\" -x 'path 0xe00200a8' '%s'" % SHOP)
    lines = t.wait(r"^ *\d* *\[0\]  .*1\.3K")
    first = [i for i, line in enumerate(lines) if re.search(r"\bfield +class", line)][0]
    need(all(re.match(r" +\d  .*[a-z]", line) for line in lines[first + 1:first + 3]), "a line wraps", t)


@case("a: each step of a path, or those that a person knows; so in the tree of paths", ((80, 24), (120, 35)))
def unfolded_path(t):
    start(t, dump=SHOP)
    t.type(":path 0xe00200a8")
    t.keys("Enter")
    t.wait(r"^> +5 +(static com|static c|sta).*ENTRIES ")
    t.wait(r"^ +7 +\[0\]")
    need(not any(re.match(r"[> ] +\d+ +elementData ", line) for line in t.screen()), "the array is folded", t)
    t.wait(r" a steps$")
    t.keys("a")
    t.wait(r"path to 0xe00200a8, each step")
    for step, field in enumerate(("classes", "elementData", r"\[6\]", r"stat\S* ENTRIES", "elementData", r"\[0\]")):
        t.wait(r"^ +%d +%s " % (step + 2, field))
    t.keys("a")  # back to where one was
    t.wait(r"^> +5 +sta.*ENTRIES ")
    need("each step" not in t.screen()[1], "the page before", t)
    t.type(":paths com.acme.shop.Session")
    t.keys("Enter")
    t.wait(r"class com\.acme\.shop\.AuditLog|class c\.a\.s\.AuditLog")
    need(not any(re.match(r"[> ] +▾ \S*URLClassLoader", line) for line in t.screen()), "the loader is folded", t)
    t.keys("a")
    t.wait(r"> ▾ (java\.net|j\.n)\.URLClassLoader")
    t.keys("a")
    t.wait(r"> ▾ class (com\.acme\.shop|c\.a\.s)\.AuditLog")
    leave(t)


@case("W twice brings every column, } and { move sideways", ((80, 24), (40, 12)))
def sideways(t):
    start(t, dump=SHOP)
    t.type(":path 0xe00200a8")
    t.keys("Enter")
    t.wait(r"^  .*field +class")
    t.keys("W")
    t.wait(r"^. path +(yes|no) +\S")
    t.keys("W")
    t.wait(r"^showing all columns")
    t.keys("q")
    t.wait(r"} more +\d+/\d+$")
    seen = set()
    for _ in range(12):
        t.wait(r"^  .*\bclass\b")
        seen |= set(t.screen()[2].split())
        if "folded" in seen:
            break
        before = t.screen()[2]
        t.keys("}")
        t.wait(lambda lines: lines[2] != before)
    wanted = {"path", "step", "field", "address", "class", "root", "shallow", "retained", "freed",
              "others", "value", "through", "folded"}
    need(seen == wanted, "columns %s, missing %s" % (seen - wanted, wanted - seen), t)
    t.keys("W", "W")
    t.wait(r"^showing as many columns as fit")
    t.keys("q")
    t.wait(r"^  (step +)?field +class")
    leave(t)


@case("a list has the fields of its class as columns: all on a wide screen, the others with W", BOTH)
def fields(t):
    start(t, dump=SHOP)
    if t.width >= 200:
        t.keys("v")  # the list alone
    t.type(":ls com.acme.shop.Order")
    t.keys("Enter")
    t.wait(r"^  address .*shallow .*number +customer +items +status")
    if t.width >= 200:
        t.wait(r"^> 0xe0011028 .* 4711000000 .* NEW +10\.00 +2026-11-18T11:06:40Z")
        return leave(t)
    t.wait(r"total", gone=True)
    t.keys("W", "W")
    t.wait(r"^showing all columns")
    t.keys("q", "}", "}", "}", "}", "}", "}")  # before the list is drawn again
    t.wait(r"^> 0xe0011028 .* 10\.00( |$)")
    t.keys(*["}"] * 20)
    t.wait("^these are the last columns$")
    header = [line for line in settled(t) if line.startswith("  address")]
    t.keys("{")
    t.wait(lambda lines: [line for line in lines if line.startswith("  address")] != header)  # no further than that
    t.keys("q")
    enter(t, "ls com.acme.shop.Order")  # kept for lists of this class
    t.wait(r"^  address +class +shallow +retained")
    t.keys("W", "W")
    t.wait(r"^showing as many columns as fit")
    t.keys("q", "q")
    enter(t, "ls com.acme.shop.Order")
    t.wait(r"^  address +shallow +retained +number")
    t.keys("q")
    t.type(":ls com.acme.shop.Order -sort -total")
    t.keys("Enter")
    t.wait(r"^histogram > .* total v +1/320")
    t.wait(r"^> 0xe001c760 .* 13\.19")
    leave(t)


@case("W chooses columns: Space shows and hides, a class has its own, the next run has them again", BOTH)
def chosen_columns(t):
    start(t, dump=SHOP)
    if t.width >= 200:
        t.keys("v")
    enter(t, "ls com.acme.shop.Order")
    t.wait(r"^  address .*shallow .*number +customer")
    t.keys("W")
    t.wait(r"^> address +yes +address of the object$")
    t.wait(r"^  total +%s +a field of the objects$" % ("yes" if t.width >= 200 else "no"))
    t.keys("Space")
    t.wait(r"^this column names the rows and always stays$")
    t.keys("/")
    t.type("retained")
    t.keys("Enter")
    t.wait(r"^> retained +yes ")
    t.keys("Space")
    t.wait(r"^> retained +no ")
    t.keys("q")
    t.wait(r"^  address +(class +)?shallow +number +customer")
    enter(t, "columns number, total")  # the same as a line
    t.wait(r"^  address +number +total$")
    t.wait(r"^ls com\.acme\.shop\.Order: 3 of 13 columns are shown$")
    t.wait(r"^> 0xe0011028 +4711000000 +10\.00$")
    enter(t, "columns number, nonsense")
    t.wait(r"no column .nonsense")
    t.keys("C-c")
    enter(t, "ls com.acme.shop.Customer")  # another class, another choice
    t.wait(r"^  address +(class +)?shallow +retained")
    leave(t)
    t.line("clear")
    start(t, dump=SHOP)
    t.wait(r"^last place: ls com\.acme\.shop\.Customer > 0x\w+; '' returns there$")
    enter(t, "ls com.acme.shop.Order")
    t.wait(r"^  address +number +total$")
    enter(t, "columns -fit")
    t.wait(r"^ls com\.acme\.shop\.Order: as many columns as fit$")
    t.wait(r"^  address .*shallow +retained +number +customer")
    leave(t)


@case("many keys at once are all heard", BOTH)
def hurry(t):
    start(t)
    t.keys(*(["Down"] * 12))
    wait_selected(t, r"com\.acme\.shop\.Order\$Line")
    t.keys("Home")
    wait_selected(t, r"byte\[\]")
    t.keys("End")
    t.wait(lambda lines: any(line.startswith(">") and "byte[]" not in line for line in lines))
    t.keys("NPage", "PPage", "Home")
    wait_selected(t, r"byte\[\]")
    leave(t)


@case("a search says where the words stand if there is no room for them; the number of rows is never cut")
def unseen_match(t):
    start(t, dump=SHOP)
    enter(t, "ls com.acme.shop.Order")
    t.wait(r"^  address +shallow +retained +number")
    t.wait("total", gone=True)
    t.type("/13.19")
    t.keys("Enter")
    t.wait(r"^total: 13\.19   match 1/1$")
    wait_selected(t, "0xe001c760")
    t.type("/4711000007")  # there is room for this one
    t.keys("Enter")
    wait_selected(t, "4711000007")
    t.wait("^number: ", gone=True)
    enter(t, "ls *")
    t.wait(r"^  4,861 objects +217K$")
    t.keys("f")
    t.type("Order")
    t.keys("Enter")
    t.wait(r"^  322 \(4,861\) objects +15\.1K \(217K\)$")
    enter(t, "ls com.acme.shop.Session")
    t.wait(r'^> 0xe001ce38 +40 +\d+ +"session-4700" ')
    leave(t)


@case("40x10: the name of the main page, the numbers of the others, and ? stay on the screen", ((40, 10),))
def very_small(t):
    start(t, dump=SHOP)
    t.wait(r"^(?:0 (?:overview )? ?)?1 histogram 2 3 4 5 6 +shallow v +1/43$")
    t.wait(r"^Enter open .*\? help +q quit$")
    t.keys("4")
    t.wait(r"^(?:0 (?:overview )?)?1 .*2 .*3 4 threads 5 6 +1/5$")
    t.keys("3")
    t.wait(r"^(?:0 (?:overview )?)?1 .*2 .*3 leaks 4 5 6 +1/2$")
    t.wait(r"\? help +q back$")  # cards say what a sentence would cover
    t.keys("?")
    t.wait(r"> help +lines 1-")
    leave(t)


@case("columns without room leave their number in the header, or in the line above it", ((80, 24), (200, 50)))
def columns_without_room(t):
    def header(lines):
        return next((line for line in lines if re.search(r"\bname +state\b", line)), "")

    start(t, dump=SHOP)
    enter(t, "threads -retained")
    t.wait(r"^(.*│)? +(id +)?name +state")
    words = header(settled(t)).split("│")
    words = next(part for part in words if "state" in part).replace("with locals", "with_locals").split()
    known = ["id", "name", "state", "address", "frames", "roots", "retained", "with_locals", "tid"]
    lost = [word for word in known if word not in words]
    place = t.screen()[1]
    need(bool(lost) == (t.width == 80) and bool(re.search(r" \+\d", place + " ".join(words))) == bool(lost) and
         (not lost or " +%d column" % len(lost) in place or words[-1] == "+%d" % len(lost)),
         "lost are %s, the header is %s" % (lost, words), t)
    leave(t)
