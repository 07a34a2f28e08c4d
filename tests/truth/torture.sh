# SPDX-License-Identifier: GPL-3.0-or-later
# Calls of the system that fail, at every one, while loading and in every command (TAP); see torture.c.
# CAIRN_FAULTS is how many of a line's calls are made to fail (5; 0: all, which takes an hour).  Each command is tried on
# one dump, by turns (CAIRN_QUICK: each fourth command); "./bootstrap check --long" tries 10 calls on all dumps.
set -u
top=$(cd "$CAIRN_SOURCE" && pwd) || exit 1
build=$(cd "$CAIRN_BUILD" && pwd) || exit 1
turns=-turns
most=${CAIRN_FAULTS:-5}
if [ -n "${CAIRN_LONG:-}" ]; then
	turns=
	most=${CAIRN_FAULTS:-10}
elif [ -n "${CAIRN_QUICK:-}" ]; then
	turns=-few
	most=${CAIRN_FAULTS:-3}
fi
[ "$most" != 0 ] || most=1000000000
# which processes run changes from one time to the next: none (CAIRN_PROC)
# one with stack frames that lead to garbage, and the program that wrote it, where there is one
further=${CAIRN_DUMPS:+$(cd "$CAIRN_DUMPS" && pwd)/go/go-mini.dump}
[ -e "$further" ] || further=
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
# shellcheck disable=SC2086 # a word and a path, or nothing
CAIRN_PROC=/nowhere "$build/tests/tools/torture" "$most" $turns $further "$top/data/heapdump.20261121.101500.4711.0001.phd" \
	"$top/data/heapdump.20261121.101500.4711.0001.txt" "$top/data/shop.hprof" "$top/data/gocart.dump"
