#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The manual page and the completions are those that the program's tables make today, and the page
# has no fault that man would complain of.  Speaks TAP.
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"$CAIRN_SOURCE/doc/make-docs.sh" "$CAIRN_BUILD/cairn" "$made"
number=0
for name in cairn.1 cairn.bash cairn.zsh cairn.fish; do
	number=$((number + 1))
	if diff -u "$CAIRN_SOURCE/doc/$name" "$made/$name" >"$made/diff"; then
		echo "ok $number - doc/$name is up to date"
	else
		sed 's/^/# /' "$made/diff"
		echo "not ok $number - doc/$name is up to date (make docs)"
	fi
done
number=$((number + 1))
if ! command -v groff >/dev/null 2>&1; then
	echo "ok $number - doc/cairn.1 has no faults # SKIP no groff"
elif [ -z "$(LC_ALL=C groff -man -ww -Tutf8 -z "$made/cairn.1" 2>&1 | tee "$made/faults")" ]; then
	echo "ok $number - doc/cairn.1 has no faults"
else
	sed 's/^/# /' "$made/faults"
	echo "not ok $number - doc/cairn.1 has no faults"
fi
echo "1..$number"
