#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A running VM's first histogram: cairn PID, beside jcmd GC.heap_dump to disk and cairn with that file.
#
#     bench/process.sh [-b BUILD] [-l LISTS] [-r RUNS] [-j JAVA_HOME] [-d DIR]
#
# Starts a VM with LISTS lists (4,200: about 4.4 GB of dump) and measures both in turn, RUNS (3) times.  Of each it shows
# seconds, milliseconds for which the VM stands still, and MB that the VM writes to disk; DIR has the dump (BUILD/bench).
set -eu
build=build lists=4200 runs=3 directory= home=
while getopts b:l:r:j:d: option; do
	case $option in
	b) build=$OPTARG ;;
	l) lists=$OPTARG ;;
	r) runs=$OPTARG ;;
	j) home=$OPTARG ;;
	d) directory=$OPTARG ;;
	*) sed -n '5,8s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
	esac
done
source=$(cd "$(dirname "$0")/.." && pwd)
cairn=$(cd "$build" && pwd)/cairn
mkdir -p "${directory:=$build/bench}"
work=$(mktemp -d "$(cd "$directory" && pwd)/process.XXXXXX")
bin=${home:-$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")}/bin
"$bin/javac" -d "$work" "$source/tests/truth/attach/Sleeper.java"
"$bin/java" -Xmx$((lists + 500))m -XX:+UseParallelGC -Xlog:safepoint:file="$work/log" -cp "$work" Sleeper "$lists" >"$work/out" &
vm=$!
trap 'kill $vm; rm -rf "$work"' EXIT
until grep -q ready "$work/out"; do
	kill -0 $vm
	sleep 1
done

by_file() {
	"$bin/jcmd" $vm GC.heap_dump -all -overwrite "$work/dump.hprof"
	"$cairn" --no-index -n -x histo "$work/dump.hprof"
	rm "$work/dump.hprof"
}

by_process() {
	"$cairn" -y -p $vm --no-index -n -x histo
}

# measure HOW
measure() {
	wrote=$(awk '/^write_bytes/ { print $2 }' /proc/$vm/io)
	began=$(date +%s.%N)
	"by_$1" >"$work/answer" 2>&1
	ended=$(date +%s.%N)
	wrote=$(($(awk '/^write_bytes/ { print $2 }' /proc/$vm/io) - wrote))
	sed -n 's/.*HeapDumper.* At safepoint: *\([0-9]*\) ns.*/\1/p' "$work/log" | tail -n 1 |
		awk -v how="$1" -v a="$began" -v b="$ended" -v wrote="$wrote" \
			'{ printf "%-8s %8.2f s %8.0f ms %8.0f MB\n", how, b - a, $1 / 1e6, wrote / 1e6 }'
}

while [ "$runs" -gt 0 ]; do
	measure file
	measure process
	runs=$((runs - 1))
done
