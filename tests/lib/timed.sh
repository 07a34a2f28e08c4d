# SPDX-License-Identifier: GPL-3.0-or-later
# Runs a test and says last how long it took, so that ./bootstrap check can name the longest ($CAIRN_TIMES).  What a test
# lets run beside itself without waiting for it (tmux) is in the time of the clock alone.
began=$(date +%s)
"$@"
status=$?
for name; do :; done
times=$(mktemp) && times >"$times" && awk -v wall=$(($(date +%s) - began)) -v name="${name#*tests/}" -v all="${CAIRN_TIMES:-/dev/null}" '
	function seconds(s) { split(s, part, "m"); return 60 * part[1] + part[2] }
	NR == 2 {
		processor = seconds($1) + seconds($2)
		printf "# took %.1f s of processor time, %d s of the clock\n", processor, wall
		printf "%8.1f %5d  %s\n", processor, wall, name >>all
	}' "$times"
rm -f "$times"
exit "$status"
