# SPDX-License-Identifier: GPL-3.0-or-later
# Every file of tests/ that is a test stands in a list of Makefile.am (TAP): a test that nobody runs
# cannot fail.  Nor can one that looks at nothing.
set -u
cd "$CAIRN_SOURCE" || exit 1
n=0

# listed VARIABLE: the words of this variable of Makefile.am, without those that name another
listed() {
	awk -v name="$1" '
		$1 == name && ($2 == "=" || $2 == "+=") { inside = 1; $1 = $2 = "" }
		inside { more = /\\$/; gsub(/\\/, ""); print; inside = more }' Makefile.am |
		tr -s ' \t' '\n' | grep -v '^\$' | grep .
}

# kind VARIABLE FOLDER: the tests of a kind, with those of its folder that take long
kind() {
	listed "$1"
	listed long_tests | grep "^$2/[^/]*$"
}

# wired KIND LIST FILES...: each of the files stands in the list, and the list names nothing else
wired() {
	kind=$1 list=$2
	shift 2
	n=$((n + 1))
	found=$(printf '%s\n' "$@" | sort)
	if odd=$(printf '%s\n%s\n' "$found" "$list" | sort | uniq -u) && [ -z "$odd" ] && [ -e "$1" ]; then
		echo "ok $n - every $kind is in its list"
	else
		printf '# only in the list or only in the folder: %s\n' $odd
		echo "not ok $n - every $kind is in its list"
	fi
}

wired 'unit test' "$(listed unit_programs | sed 's/$/.c/')" tests/unit/test_*.c
wired 'truth test' "$(kind truth_tests tests/truth)" tests/truth/*.py tests/truth/*.sh
wired 'test of command lines' "$(kind cli_tests tests/cli)" tests/cli/*.py tests/cli/*.sh
wired 'test of the screen' "$(kind tui_tests tests/tui)" tests/tui/*.py
wired 'file of cases of the screen' "$(listed tui_cases)" tests/tui/cases/*.py
wired 'script of the house' "$(kind house_tests tests)" tests/*.sh tests/*.py
wired 'fuzz target' "$(listed fuzz_tests | sed 's/replay_\(.*\)/fuzz_\1.c/')" \
	$(ls tests/fuzz/fuzz_*.c | grep -v /fuzz_reader.c)
wired 'folder of the corpus' "$(listed fuzz_tests | sed 's#.*/replay_#tests/fuzz/corpus/#')" tests/fuzz/corpus/*

# A list of faults that a loop filled is empty, too, where the loop went over nothing, and all() of nothing is true:
# Tap.none of tests/lib/cairntest.py wants to know what was looked at.  A statement may go on in the next line.
n=$((n + 1))
odd=$(find tests -name '*.py' -exec awk '
	FNR == 1 { before = "" }
	{ here = $0; sub(/^[ \t]+/, " ", here) }
	before ~ /\.(ok|equal)\(/ { print FILENAME ":" FNR - 1 ":" before here }
	{ before = $0 }' {} + |
	grep -E '\.ok\((not ([a-z_]+(\.(wrong|faults))?(,| and | or )|(any|all)\(|\[)|all\()|\.equal\(\[[^"]* for [^"]*\], *\[\],')
if [ -n "$odd" ] || ! grep -rq --include='*.py' '\.none(' tests; then
	printf '%s\n' "$odd" | sed 's/^/# say what was looked at, with none(): /'
	echo "not ok $n - every check of faults says what it looked at"
else
	echo "ok $n - every check of faults says what it looked at"
fi
echo "1..$n"
