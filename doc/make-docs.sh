#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What is made from the program's own tables: the manual page and the completions of shells.
#
#     doc/make-docs.sh CAIRN DIR    with the program CAIRN, into DIR
#
# The results stand in doc/, so that nobody needs the program to build the documentation; a test says
# when they have drifted from the tables.
set -eu
cairn=$1 dir=$2
here=$(cd "$(dirname "$0")" && pwd)
sections=$(mktemp)
trap 'rm -f "$sections"' EXIT

"$cairn" --dump-docs man >"$sections"
version=$("$cairn" --version | awk '{ print $2; exit }')
awk -v sections="$sections" -v version="$version" '
	# The body of one section of what the program wrote.
	function insert(name,    line, on) {
		while ((getline line <sections) > 0) {
			if (line ~ /^\.SH /)
				on = line == ".SH " name
			else if (on)
				print line
		}
		close(sections)
	}
	/^@[A-Z]+@$/ { gsub("@", ""); insert($0); next }
	{ gsub("@VERSION@", version); print }
' "$here/cairn.1.in" >"$dir/cairn.1"
for shell in bash zsh fish; do
	"$cairn" --dump-docs $shell >"$dir/cairn.$shell"
done
