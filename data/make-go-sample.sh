#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Make the Go sample anew: data/gocart.elf (the program) and data/gocart.dump (its heap dump).
#
#     data/make-go-sample.sh [DIRECTORY]      default: the folder of this script
#
# The program runs without an environment and under a bare name, so the dump contains nothing of the machine;
# -trimpath does the same for the program.  Addresses and times differ from run to run: after a change, update the
# expected output in tests/cli.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=${1:-$here}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/gocart"
cp "$here/gocart/main.go" "$scratch/gocart/"
printf 'module gocart\n\ngo 1.19\n' >"$scratch/gocart/go.mod"
(cd "$scratch/gocart" && GOFLAGS='' GOOS=linux GOARCH=amd64 CGO_ENABLED=0 GOCACHE="$scratch/cache" \
	go build -trimpath -buildvcs=false -ldflags='-buildid=' -o ../gocart.elf .)
(cd "$scratch" && env -i GOMAXPROCS=1 ./gocart.elf >gocart.dump)
for word in "$scratch" "$(hostname)" "$here" "$HOME"; do
	[ ${#word} -gt 4 ] || continue # too short to mean anything
	if grep -qaF -- "$word" "$scratch/gocart.elf" "$scratch/gocart.dump"; then
		echo "$0: $word is in what was made" >&2
		exit 1
	fi
done
cp "$scratch/gocart.elf" "$scratch/gocart.dump" "$to/"
ls -l "$to/gocart.elf" "$to/gocart.dump"
