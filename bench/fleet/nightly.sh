#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes a profile of a heap, and its rows for other engines, to the store.
# The unit sets SERVICE, RELEASE and STORE, and PID of the program or DUMP.
set -eu
umask 077
at="service=$SERVICE/release=$RELEASE/host=${HOST:-$(hostname -s)}/date=${DATE:-$(date -u +%F)}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${DUMP-}" ]; then
	DUMP=$work/heap.hprof
	jcmd "$PID" GC.heap_dump "$DUMP" >"$work/said" || { cat "$work/said" >&2; exit 1; }
fi
mkdir -p "$work/out/profiles/$at" "$work/out/rows/$at"
profile=$work/out/profiles/$at/heap.profile.gz
cairn -x "profile $profile" "$DUMP" >/dev/null
cairn --format jsonl -x 'diff -by path | cut path class objects shallow retained' \
	-x 'diff -by class | cut class objects shallow retained' "$profile" "$profile" |
	gzip >"$work/out/rows/$at/rows.jsonl.gz"
rsync -a "$work/out/" "$STORE/"
