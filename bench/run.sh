#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# How fast a large dump opens and how much memory that takes, beside what the file itself costs.
#
#     bench/run.sh [-b BUILD] [-n OBJECTS] [-r RUNS] [-t THREADS] [-d DIR] [DUMP...]
#
# Each stage is told with one thread and with THREADS (2): seconds of the clock, and processor seconds of
# all threads.  Without DUMP it makes a PHD of OBJECTS (20,000,000: about 310 MB, 60 million references) and
# its classic twin (about 2 GB) in DIR (BUILD/bench), once.  The best of RUNS (3) is shown, file warm.
# Measure on a quiet machine: make -C BUILD bench.
#
# Other programs that are installed (ParseHeapDump.sh of Eclipse MAT, hprof-slurp, hprof-analyzer) read the
# same HPROF dumps once each, and their time is given as a multiple of ours to retained sizes.
set -eu
LC_ALL=C
export LC_ALL

build=build objects=20000000 runs=3 threads=2 directory=
while getopts b:n:r:t:d: option; do
	case $option in
	b) build=$OPTARG ;;
	n) objects=$OPTARG ;;
	r) runs=$OPTARG ;;
	t) threads=$OPTARG ;;
	d) directory=$OPTARG ;;
	*) sed -n '5,11s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
	esac
done
shift $((OPTIND - 1))
directory=${directory:-$build/bench}

for program in cairn bench/phases bench/sumfile tests/tools/mkdump; do
	[ -x "$build/$program" ] || {
		echo "run.sh: $build/$program is missing: make -C $build bench/phases bench/sumfile tests/tools/mkdump" >&2
		exit 2
	}
done

if [ $# -eq 0 ]; then
	mkdir -p "$directory"
	base=$directory/bench-$objects
	if [ ! -e "$base.truth" ]; then
		echo "making $base.phd and $base.txt" >&2
		"$build/tests/tools/mkdump" bench --objects "$objects" --phd "$base.phd" \
			--classic "$base.txt" --truth "$base.part"
		mv "$base.part" "$base.truth"
	fi
	set -- "$base.phd" "$base.txt"
fi

# seconds COMMAND...: how long it takes, output thrown away
seconds() {
	began=$(date +%s.%N)
	"$@" >/dev/null
	ended=$(date +%s.%N)
	awk -v a="$began" -v b="$ended" 'BEGIN { printf "%.3f\n", b - a }'
}

# best COMMAND...: the least of several runs' seconds
best() {
	i=0
	while [ "$i" -lt "$runs" ]; do
		seconds "$@"
		i=$((i + 1))
	done | sort -n | head -n 1
}

least_sum() {
	i=0
	while [ "$i" -lt "$runs" ]; do
		"$build/bench/sumfile" "$1" | cut -d' ' -f1
		i=$((i + 1))
	done | sort -n | head -n 1
}

# best_phases THREADS: the run of phases with the least time to the whole graph.
best_phases() {
	best_time=
	i=0
	while [ "$i" -lt "$runs" ]; do
		"$build/bench/phases" -t "$1" "$dump" >"$work/try"
		time=$(awk '$1 == "whole_graph" { print $2 }' "$work/try")
		if [ -z "$best_time" ] || awk -v a="$time" -v b="$best_time" 'BEGIN { exit !(a < b) }'; then
			best_time=$time
			cp "$work/try" "$work/phases.$1"
		fi
		i=$((i + 1))
	done
}

# peer NAME COMMAND...: its seconds beside ours; MAT leaves its index files beside the dump, so it gets
# a link in a folder of its own
peer() {
	name=$1
	shift
	command -v "$1" >/dev/null 2>&1 || return 0
	its_time=$(seconds "$@" 2>/dev/null)
	awk -v name="$name" -v its="$its_time" '$1 == "retained_sizes" {
		printf "  %-44s %8.3f s  %5.1f x ours to retained sizes\n", name, its, its / $2 }' "$work/phases.$threads"
}

peers() {
	case $1 in
	*.hprof) ;;
	*) return 0 ;;
	esac
	mkdir -p "$work/mat"
	ln -sf "$(readlink -f "$1")" "$work/mat/dump.hprof"
	peer "Eclipse MAT (ParseHeapDump.sh)" ParseHeapDump.sh "$work/mat/dump.hprof"
	peer "hprof-slurp (histogram alone)" hprof-slurp -i "$1"
	peer "hprof-analyzer" hprof-analyzer "$1"
	rm -rf "$work/mat"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

echo "$(getconf _NPROCESSORS_ONLN) processors, $(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1); best of $runs"
for dump; do
	cat "$dump" >/dev/null
	cat_time=$(best cat "$dump")
	sum_time=$(least_sum "$dump")
	best_phases 1
	best_phases "$threads"
	info_time=$(best "$build/cairn" -n -t "$threads" -x info "$dump")
	histo_time=$(best "$build/cairn" -n -t "$threads" -x 'histo | head 20' "$dump")
	awk -v name="${dump##*/}" -v cat="$cat_time" -v sum="$sum_time" -v info="$info_time" \
		-v histo="$histo_time" -v threads="$threads" '
		FNR == NR { one[$1] = $2 }
		{ v[$1] = $2 }
		function line(what, seconds) {
			printf "  %-44s %8.3f s  %7.1f M objects/s  %7.0f MB/s  %5.1f x sum\n", what, seconds, \
				v["objects"] / seconds / 1e6, v["bytes"] / seconds / 1e6, seconds / sum
		}
		function stage(what, wall, processor) {
			printf "  %-44s %8.3f s %8.3f s  %8.3f s %8.3f s  %5.1f x sum\n", what, one[wall], one[processor], \
				v[wall], v[processor], v[wall] / sum
		}
		END {
			printf "%s: %d objects, %d references, %.0f MB\n", name, v["objects"], v["references"], \
				v["bytes"] / 1e6
			line("cat FILE >/dev/null", cat)
			line("one summing pass over the mapped file", sum)
			line("cairn -x info, the whole program", info)
			line("cairn -x histo, the whole program", histo)
			printf "  %-44s %10s %10s  %10s %10s\n", "from the file", "1 thread", "processor", threads " threads", "processor"
			stage("to the first histogram", "first_histogram", "histogram_cpu")
			stage("to both directions of references", "whole_graph", "cpu_seconds")
			stage("to retained sizes", "retained_sizes", "retained_cpu")
			target = 16 * v["objects"] + 8 * v["references"]
			printf "  %-44s %8.0f MB  %5.1f bytes an object  %5.2f of 16 an object + 8 a reference\n", \
				"anonymous memory once loaded", v["anonymous"] / 1e6, v["anonymous"] / v["objects"], \
				v["anonymous"] / target
			printf "  %-44s %8.0f MB  %25s %5.2f of the same\n", "peak of memory sized by the dump", \
				v["big_peak"] / 1e6, "", v["big_peak"] / target
			printf "  %-44s %8.0f MB  %5.1f bytes an object\n", "the same while retained sizes are found", \
				v["retained_peak"] / 1e6, v["retained_peak"] / v["objects"]
			printf "  %-44s %8.0f MB  (the mapped file included)\n", "peak resident", v["peak_rss"] / 1e6
		}' "$work/phases.1" "$work/phases.$threads"
	peers "$dump"
done
