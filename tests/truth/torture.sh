# SPDX-License-Identifier: GPL-3.0-or-later
# Memory that is refused, at every request, while loading and in every command (TAP); see torture.c.
set -u
cd "$CAIRN_SOURCE/data" || exit 1
most=60
[ -z "${CAIRN_QUICK:-}" ] || most=8
exec "$CAIRN_BUILD/tests/tools/torture" $most \
	heapdump.20261121.101500.4711.0001.phd heapdump.20261121.101500.4711.0001.txt shop.hprof gocart.dump
