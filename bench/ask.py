#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long questions in SQL take, in one session: bench/ask.py CAIRN DUMP [QUESTION...]

Seconds each, the time of the first listing (loading) and of retained sizes apart; without questions those of
doc/performance.md, which are about the shop that it names.
"""

import subprocess
import sys
import time

OWN = ["SELECT class, count(*), sum(shallow) FROM objects GROUP BY class ORDER BY 3 DESC LIMIT 3",
       "SELECT address, class, retained FROM objects ORDER BY retained DESC LIMIT 10",
       "SELECT count(*), count(DISTINCT r.source_class) FROM objects o JOIN refs r ON r.target = o.address "
       "WHERE o.class = 'shop.Shop$Customer'",
       'SELECT count(*), sum(hash), min(hash), max(coder) FROM "java.lang.String"',
       'SELECT count(hash), count(key), count(value) FROM "java.util.HashMap$Node"',
       "SELECT source_class, field, count(*) FROM refs GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 3",
       "SELECT source_class, count(*) FROM refs GROUP BY 1 ORDER BY 2 DESC LIMIT 3",
       "SELECT target_class, count(*) FROM refs GROUP BY 1 ORDER BY 2 DESC LIMIT 3",
       "SELECT field, count(*) FROM refs WHERE target_class = 'java.lang.String' GROUP BY 1 ORDER BY 2 DESC LIMIT 3",
       "SELECT DISTINCT source_class, field FROM refs ORDER BY 1, 2 LIMIT 3",
       "SELECT max(shallow) FROM objects",
       'SELECT avg(length) FROM "byte[]"',
       "SELECT 1"]


def main():
    program, dump, *questions = sys.argv[1:]
    lines = ["histo | head 1", "top | head 1"] + ["sql " + q for q in questions or OWN]
    with subprocess.Popen([program, "--no-config", "-f", "-", dump], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as run:
        for line in lines:
            began = time.monotonic()
            run.stdin.write(line + "\nsql SELECT 'that was all' AS m\n")
            run.stdin.flush()
            for said in run.stdout:
                if said.strip() == "that was all":
                    break
            else:
                sys.exit("it ended: " + line)
            print("%8.3f s  %s" % (time.monotonic() - began, line))
        run.stdin.close()


main()
