#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What it costs that a dump is packed: the first histogram of one dump, packed in every way, beside the program that
# unpacks it to nowhere.
#
#     bench/packed.sh [-b BUILD] [-n OBJECTS] [-r RUNS] [-d DIR]
#
# Makes an HPROF of OBJECTS (15,000,000: about 1.1 GB) and its packed forms in DIR (BUILD/bench), once.  Every round
# measures each of them in turn, so that what else the machine does meets all alike; the best of RUNS (3) is shown, and
# as a multiple of the plain dump's.
set -eu
LC_ALL=C
export LC_ALL

build=build objects=15000000 runs=3 directory=
while getopts b:n:r:d: option; do
	case $option in
	b) build=$OPTARG ;;
	n) objects=$OPTARG ;;
	r) runs=$OPTARG ;;
	d) directory=$OPTARG ;;
	*) sed -n '6,11s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
	esac
done
directory=${directory:-$build/bench}
mkdir -p "$directory"
base=$directory/packed-$objects
cairn=$(cd "$build" && pwd)/cairn

# pack FILE COMMAND...: unless it is there
pack() {
	to=$1
	shift
	[ -e "$to" ] || { "$@" >"$to.part" && mv "$to.part" "$to"; }
}

[ -e "$base.hprof" ] || {
	"$build/tests/tools/mkdump" bench --objects "$objects" --phd "$base.phd" --hprof "$base.part" && rm "$base.phd"
	mv "$base.part" "$base.hprof"
}
name=$(basename "$base.hprof")
pack "$base.tar" tar -C "$directory" -cf - "$name"
pack "$base.stored.zip" sh -c "cd '$directory' && zip -q -0 - '$name'"
pack "$base.lz4" lz4 -q -c "$base.hprof"
pack "$base.zst" zstd -q -3 -c "$base.hprof"
pack "$base.gz" gzip -c "$base.hprof"
pack "$base.tar.gz" gzip -c "$base.tar"
pack "$base.zip" sh -c "cd '$directory' && zip -q - '$name'"
pack "$base.xz" xz -1 -c "$base.hprof"
pack "$base.bz2" bzip2 -1 -c "$base.hprof"

# seconds COMMAND...: how long it takes, output thrown away
seconds() {
	began=$(date +%s.%N)
	"$@" >/dev/null
	ended=$(date +%s.%N)
	awk -v a="$began" -v b="$ended" 'BEGIN { printf "%.3f\n", b - a }'
}

# unpacked KIND: by the program that everybody has for it
unpacked() {
	case $1 in
	hprof) cat "$base.hprof" ;;
	tar) tar -xOf "$base.tar" ;;
	stored.zip | zip) unzip -p "$base.$1" ;;
	lz4) lz4 -dc "$base.lz4" ;;
	zst) zstd -qdc "$base.zst" ;;
	gz) gzip -dc "$base.gz" ;;
	tar.gz) tar -xzOf "$base.tar.gz" ;;
	xz) xz -dc "$base.xz" ;;
	bz2) bzip2 -dc "$base.bz2" ;;
	esac
}

kinds="hprof tar stored.zip lz4 zst gz tar.gz zip xz bz2"
round=0
while [ "$round" -lt "$runs" ]; do
	for kind in $kinds; do
		echo "$kind $(seconds "$cairn" --no-index -x histo "$base.$kind") $(seconds unpacked "$kind") $(wc -c <"$base.$kind")"
	done
	round=$((round + 1))
done | awk -v kinds="$kinds" '
	!($1 in ours) || $2 < ours[$1] { ours[$1] = $2 }
	!($1 in theirs) || $3 < theirs[$1] { theirs[$1] = $3 }
	{ size[$1] = $4 }
	END {
		printf "%-11s %12s %10s %10s %8s %8s\n", "", "bytes", "histo s", "unpack s", "/ plain", "/ unpack"
		for (i = 1; i <= split(kinds, k, " "); i++)
			printf "%-11s %12d %10.2f %10.2f %8.1f %8.2f\n", k[i], size[k[i]], ours[k[i]], theirs[k[i]],
			    ours[k[i]] / ours["hprof"], ours[k[i]] / theirs[k[i]]
	}'
