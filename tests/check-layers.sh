# SPDX-License-Identifier: GPL-3.0-or-later
# House rules that a compiler does not check (TAP): who may include whom, where curses and readline
# live, functions nobody calls, the licence line on top of every file.
set -u
cd "$CAIRN_SOURCE" || exit 1
export LC_ALL=C
n=0

# verdict NAME LINES: the lines are what offends
verdict() {
	n=$((n + 1))
	found=$2
	if [ -z "$found" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		printf '%s\n' "$found" | sed 's/^/#   /'
	fi
}

# Every #include of a folder as "file:line:#include ..."
includes() {
	grep -rnE '^[[:space:]]*#[[:space:]]*include' "$1"
}

# The direction of dependency: a room may include itself and what stands before it.
known=
for room in base dump heap analysis result query command view; do
	known="${known:+$known|}$room"
	[ -d "src/$room" ] || continue
	verdict "src/$room includes only $known" \
		"$(includes "src/$room" | grep '"' | grep -vE "\"($known)/[a-z0-9_/]+\.h\"")"
done

verdict 'curses only in src/view' \
	"$(includes src | grep -E '[<"](curses|ncurses|ncursesw|term|panel)[./]' | grep -v '^src/view/')"
verdict 'readline only in src/view/prompt.c' \
	"$(includes src | grep -E '[<"]readline/' | grep -v '^src/view/prompt\.c:')"
verdict 'SQLite only in src/query' "$(includes src | grep 'sqlite3' | grep -v '^src/query/')"

# Calls, with comments and strings taken out.
banned='strcpy|strcat|sprintf|vsprintf|strtok|atoi|atol|atoll|atof|alloca|gets|setjmp|longjmp'
calls=$(find src tests -name '*.[ch]' -exec awk -v banned="(^|[^a-zA-Z0-9_])($banned)[ \t]*\\\\(" '
	FNR == 1 { inside = 0 }
	{
		line = $0
		gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
		if (inside) {
			if (!sub(/^.*\*\//, "", line))
				next
			inside = 0
		}
		gsub(/\/\*[^*]*\*+([^\/*][^*]*\*+)*\//, " ", line)
		sub(/\/\/.*/, "", line)
		if (sub(/\/\*.*/, "", line))
			inside = 1
		if (line ~ banned)
			print FILENAME ":" FNR ": " $0
	}' {} +)
verdict "nobody calls $banned" "$calls"

unlicensed=$(find src tests bench -name '*.[ch]' -o -name '*.sh' -o -name '*.py' | while read -r file; do
	head -n 3 "$file" | grep -q 'SPDX-License-Identifier: GPL-3.0-or-later' || echo "$file"
done)
verdict 'the licence stands on top of every file' "$unlicensed"

left=$(grep -rnE '(^|[^A-Za-z])(TODO|FIXME|XXX)([^A-Za-z]|$)' src tests bench --include='*.[ch]' \
	--include='*.py' --include='*.sh' | grep -v '^tests/check-layers\.sh')
verdict 'nothing is left for later' "$left"

long=$(find src tests -name '*.[ch]' -exec awk '{ gsub(/\t/, "    ") }
	length($0) > 120 { print FILENAME ":" FNR }' {} +)
verdict 'no line runs off the screen' "$long"

echo "1..$n"
