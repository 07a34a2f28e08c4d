# SPDX-License-Identifier: GPL-3.0-or-later
# What git has stands in the release archive, by the lists of Makefile.am (TAP): a file forgotten there is
# missed by whoever builds from the archive, and by nobody here.
set -u
if ! list=$(git -C "$CAIRN_SOURCE" ls-files 2>/dev/null) || [ -z "$list" ]; then
	echo '1..0 # SKIP no git here'
	exit 0
fi
# these are of the repository alone
wanted=$(printf '%s\n' "$list" | grep -v '^\.' | sort)
cd "$CAIRN_SOURCE" || exit 1
brought=$(make -C "$CAIRN_BUILD" -s --no-print-directory distfiles | sed "s#^$CAIRN_SOURCE/##; s#^\(\.\./\)*##" | while read -r name; do
	if [ -d "$name" ]; then find "$name" -type f; else echo "$name"; fi
done | sort -u)
missing=$(printf '%s\n' "$wanted" | comm -23 - /dev/fd/3 3<<END
$brought
END
)
if [ -n "$brought" ] && [ -z "$missing" ]; then
	echo "ok 1 - the archive brings $(printf '%s\n' "$wanted" | wc -l) files that git has"
else
	printf '# not in the archive: %s\n' $missing
	echo 'not ok 1 - the archive brings what git has'
fi
echo 1..1
