#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What comparing several dumps costs beside loading each of them, retained sizes included.
#
#     bench/compare.sh BUILD DUMP DUMP...
#
# Each line: what ran, processor seconds, wall seconds, peak memory in MB.  The best of three.
set -eu
[ $# -ge 3 ] || { sed -n '6,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$1
shift

# measure NAME COMMAND...
measure() {
	name=$1
	shift
	for _ in 1 2 3; do
		/usr/bin/time -f '%U %S %e %M' -o "$work/time" "$@" >/dev/null 2>&1 || :
		tail -n 1 "$work/time"
	done | awk -v name="$name" '
		NR == 1 || $1 + $2 < cpu { cpu = $1 + $2; wall = $3; peak = $4 / 1000 }
		END { printf "%-40.40s %8.2f %8.2f %8.0f\n", name, cpu, wall, peak }'
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
	for dump; do
		measure "dom ${dump##*/}" "$build/cairn" -n --no-config -x 'dom | head 1' "$dump"
	done
	measure "growth of all" "$build/cairn" -n --no-config -x growth "$@"
} | tee "$work/all"
awk '/^dom/ { cpu += $(NF - 2); if ($NF > peak) peak = $NF }
	/^growth/ { printf "all against the sum of each: %.2f times the processor time; memory of the largest: %.2f times\n", \
		$(NF - 2) / cpu, $NF / peak }' "$work/all"
