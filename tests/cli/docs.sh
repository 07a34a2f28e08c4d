#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The manual page and the completions are those that the program's tables make today, the page has no
# fault that man would complain of, and the key of each command is its own.  Speaks TAP.
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

# The screen gives a command no key that another command or the screen itself has.
listed=$(awk '/^\.B ./ && NF == 2 { key = $2 }
	/^the command$/ { getline; print $2, key }' "$made/cairn.1" | tr -d '\\' | sort)
declared=$(find "$CAIRN_SOURCE/src/command" -name '*.c' -exec awk '
	/^const struct command cmd_/ { name = "" }
	/^    \.name = "/ { split($0, part, "\""); name = part[2] }
	/^    \.key = "[^"]/ { split($0, part, "\""); print name, part[2] }' {} + | sort)
number=$((number + 1))
taken=$(printf '%s\n' "$declared" | awk -v listed="$listed" '
	BEGIN { n = split(listed, line, "\n"); for (i = 1; i <= n; i++) shown[line[i]] = 1 }
	!(($1 " " $2) in shown) { print "the command " $1 ": the screen itself has its key " $2 " (src/view/keys.c)" }
	$2 in owner { print "the commands " owner[$2] " and " $1 " have the same key " $2 }
	{ owner[$2] = $1 }')
if [ -z "$taken" ] && [ "$(printf '%s\n' "$listed" | wc -l)" -gt 10 ]; then
	echo "ok $number - the key of each command is its own"
else
	printf '%s\n' "$taken" | sed 's/^/#   /'
	echo "not ok $number - the key of each command is its own"
fi
echo "1..$number"
