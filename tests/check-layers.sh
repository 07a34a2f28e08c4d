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
for room in base memory algorithms attach dump heap analysis opened result query command view; do
	known="${known:+$known|}$room"
	[ -d "src/$room" ] || continue
	verdict "src/$room includes only $known" \
		"$(includes "src/$room" | grep '"' | grep -vE "\"($known)/[a-z0-9_/]+\.h\"")"
done

# A folder below a room has one door, the header named as the folder: who stands outside includes no
# other header of it.  Tests may look inside.
verdict 'a folder is entered by its door' "$(includes src |
	sed -nE 's|^(src/([a-z]+/[a-z0-9_]+)/[^:]*:[0-9]+):.*"([a-z]+/[a-z0-9_]+)/([a-z0-9_]+)\.h".*|\1 \2 \3 \4|p
		t
		s|^(src/[^:]*:[0-9]+):.*"([a-z]+/[a-z0-9_]+)/([a-z0-9_]+)\.h".*|\1 - \2 \3|p' |
	awk '$2 != $3 {
		split($3, name, "/")
		if ($4 != name[2])
			print $1 " includes " $3 "/" $4 ".h"
	}')"

# Folders of a room, and the files that stand in the room itself, include one another in one
# direction only: files are followed to all that they include, and no two may lead to each other.
circles=$(includes src | sed -nE 's|^src/([^:]*)\.[ch]:[0-9]+:.*"([a-z0-9_/]+)\.h".*|\1 \2|p' |
	awk '
	function place(file, part, n) {
		n = split(file, part, "/")
		return n > 2 ? part[1] "/" part[2] : file
	}
	{
		a = place($1)
		b = place($2)
		if (a == b || (a, b) in edge)
			next
		edge[a, b] = $1 " includes " $2 ".h"
		to[a] = to[a] " " b
		from[b] = from[b] " " a
		if (!(a in state)) { state[a] = 1; name[++n] = a }
		if (!(b in state)) { state[b] = 1; name[++n] = b }
	}
	END {
		# What nothing enters, or what enters nothing, is in no circle: take it away, again and again.
		do {
			changed = 0
			for (i = 1; i <= n; i++) {
				if (!state[name[i]])
					continue
				in_use = out_use = 0
				k = split(to[name[i]], other, " ")
				for (j = 1; j <= k; j++)
					out_use += state[other[j]]
				k = split(from[name[i]], other, " ")
				for (j = 1; j <= k; j++)
					in_use += state[other[j]]
				if (!in_use || !out_use) {
					state[name[i]] = 0
					changed = 1
				}
			}
		} while (changed)
		for (pair in edge) {
			split(pair, end, SUBSEP)
			if (state[end[1]] && state[end[2]])
				print edge[pair]
		}
	}' | sort)
verdict 'no circle of folders and files' "$circles"

# Formats are known below src/heap only: what stands above asks the facts of a dump.
verdict 'no format is known by its name above the readers' \
	"$(grep -rnE 'strn?cmp\([^;]*"(phd|classic|hprof|go)"|facts\.format|reader->name' src \
	--include='*.[ch]' | grep -v '^src/dump/')"

# Files are opened and unpacked whatever is in them: only the readers know formats.
verdict 'src/dump/source knows no format of dumps' \
	"$(grep -rnE '\b(hprof|phd|classic|go)_[a-z]|"JAVA PROFILE|portable heap dump' src/dump/source --include='*.[ch]')"

# Phases that a work runs through (base/progress.c), and those that its rooms begin.
phases() {
	sed -nE "s/.*\[(PHASE_[A-Z_]+)\] = .* WORK_($1), .*/\1/p" src/base/progress.c | sort -u
}
begun() {
	grep -rhoE 'progress_phase\([^;]*' "$@" --include='*.c' | grep -oE 'PHASE_[A-Z_]+' | sort -u
}
strays() {
	printf '%s\n%s\n' "$1" "$2" | sort | uniq -u
}
verdict 'the plan of opening has the phases that opening begins' \
	"$(strays "$(phases 'PIPE|INFLATE|TABLE|REST')" "$(begun src/dump src/heap/build)")"
verdict 'the plan of retained sizes has the phases that finding them begins' \
	"$(strays "$(phases RETAINED)" "$(begun src/analysis/dominators)")"

verdict 'curses only in src/view' \
	"$(includes src | grep -E '[<"](curses|ncurses|ncursesw|term|panel)[./]' | grep -v '^src/view/')"
# One prompt on the screen, fed by curses, and one without it, which has the terminal for itself.
verdict 'readline only in src/view/prompt.c and prompt_plain.c' \
	"$(includes src | grep -E '[<"]readline/' | grep -vE '^src/view/prompt(_plain)?\.c:')"
verdict 'SQLite only in src/query' "$(includes src | grep 'sqlite3' | grep -v '^src/query/')"

# One door writes to files: base/files.c.  Beside it there are files without a name, and the terminal.
verdict 'files are opened for writing by base/files.c alone' \
	"$(grep -rnE '\b(fopen|freopen|creat|rename|truncate|mkstemp)\(|\bopen(at)?\(.*O_(WRONLY|RDWR|TRUNC|APPEND)' \
	src --include='*.c' | grep -vE '^src/base/files\.c:|fopen\([^"]*"re?"|"/dev/(tty|null)"|O_TMPFILE')"

# Arrays that may be NULL because they are empty are sorted and searched through algorithms/sort.h.
verdict 'sorting and searching go through algorithms/sort.h' \
	"$(grep -rnE '\b(qsort|qsort_r|bsearch|lfind|lsearch)\(' src --include='*.[ch]' | grep -v '^src/algorithms/sort\.[ch]:')"

# A column put before another one changes its number.
verdict 'columns are found by name, not by number' \
	"$(grep -rnE 'result_(sort|sort_new|show|rows_late)\(\*?[a-z>.-]+, [0-9]|sorted_by = [0-9]|enum \{[^}]*\b[A-Z]+_RETAINED = [0-9]' \
	src/command src/query --include='*.[ch]')"

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

# Files that the pages name, with the folders that they name.
gone=$(grep -HnoE '`[a-z0-9_/-]+\.[ch]`' CONTRIBUTING.md doc/*.md doc/how-it-works/*.md | while IFS=: read -r page line file; do
	file=$(printf '%s' "$file" | tr -d '`')
	find src tests bench -path "*/$file" | grep -q . || [ -e "$file" ] || echo "$page:$line: $file"
done)
verdict "the pages name files that are there" "$gone"

# An error carries its parts as fields (base/err.h).
read_back=$(grep -rnE '(str[a-z]+|memcmp)\([^;]*(->|\.)message\b' src --include='*.c' |
	grep -vE '^src/base/err\.c:|str(len|dup)\([^()]*message|message\.s\b')
verdict "nobody searches the message of an error" "$read_back"

# The titles of help are text for people; help itself puts commands under them.
titles=$(grep -rnE 'str[a-z]*cmp\([^;]*->group' src --include='*.c' | grep -v '^src/command/help/\|^src/view/keys\.c')
verdict "no command is chosen by the title of its group" "$titles"

# What others must know of a command is a flag of its entry (enum command_flag).
compared=$(grep -rnE '[!=]= *&cmd_|&cmd_[a-z_]+ *[!=]=' src --include='*.[ch]')
verdict "no command is known by its entry's address" "$compared"

long=$(find src tests -name '*.[ch]' -exec awk '{ gsub(/\t/, "    ") }
	length($0) > 120 { print FILENAME ":" FNR }' {} +)
verdict 'no line runs off the screen' "$long"

echo "1..$n"
