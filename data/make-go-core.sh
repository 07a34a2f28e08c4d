#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Make the core of the Go sample anew, with a heap dump of the same instant: data/gocart.core.gz and
# data/gocart-core.dump.gz, both of data/gocart.elf.  gdb stops the program when it exits.
#
#     data/make-go-core.sh [DIRECTORY]      default: the folder of this script
#
# The program runs without an environment in /srv/gocart, which is the only path in the core.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=${1:-$here}
place=/srv/gocart
mkdir -p "$place"
trap 'rm -rf "$place"' EXIT
cp "$here/gocart.elf" "$place/"
cd "$place"
gdb -nx -batch -ex 'set exec-wrapper env -i GOMAXPROCS=1' -ex 'handle SIGURG nostop noprint pass' \
	-ex 'catch syscall exit_group' -ex "run >$place/dump" -ex "generate-core-file $place/core" -ex kill \
	"$place/gocart.elf" >/dev/null 2>&1
"$here/../tests/tools/pack_core.py" core packed
for word in "$(hostname)" "$here" "$HOME"; do
	[ ${#word} -gt 4 ] || continue # too short to mean anything
	if grep -qaF -- "$word" packed dump; then
		echo "$0: $word is in what was made" >&2
		exit 1
	fi
done
gzip -9n <packed >"$to/gocart.core.gz"
gzip -9n <dump >"$to/gocart-core.dump.gz"
ls -l "$to/gocart.core.gz" "$to/gocart-core.dump.gz"
