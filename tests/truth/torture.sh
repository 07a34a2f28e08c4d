# SPDX-License-Identifier: GPL-3.0-or-later
# Memory that is refused, at every request, while loading and in every command (TAP); see torture.c.
set -u
cd "$CAIRN_SOURCE/data" || exit 1
most=60
[ -z "${CAIRN_QUICK:-}" ] || most=8
# one with stack frames that lead to garbage, and the program that wrote it, where there is one
further=${CAIRN_DUMPS:+$CAIRN_DUMPS/go/go-mini.dump}
[ -e "$further" ] || further=
# shellcheck disable=SC2086 # a path or nothing
exec "$CAIRN_BUILD/tests/tools/torture" $most $further \
	heapdump.20261121.101500.4711.0001.phd heapdump.20261121.101500.4711.0001.txt shop.hprof gocart.dump
