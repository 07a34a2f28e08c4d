# SPDX-License-Identifier: GPL-3.0-or-later
# "make dist" of one commit makes the same bytes everywhere (TAP): of a clone whose user has odd habits the files of the
# archive are in order, of the commit's time and mode, and as git has them.  "./bootstrap check --long" makes that of a
# second clone at another place, by a user with other habits, and at another time, and compares the bytes.
set -u
if ! git -C "$CAIRN_SOURCE" rev-parse --verify -q HEAD >/dev/null 2>&1 || [ ! -e "$CAIRN_SOURCE/.git" ]; then
	echo '1..0 # SKIP no git here'
	exit 0
fi
if ! tar --sort=name -cf /dev/null "$CAIRN_SOURCE/configure.ac" 2>/dev/null; then
	echo '1..0 # SKIP this tar cannot sort names'
	exit 0
fi
work=$(mktemp -d "$CAIRN_BUILD/tests/cli.dist.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# made FOLDER UMASK DAYS: the clone's files are that many days old; its archives are in FOLDER/clone/build.  What
# autoreconf and configure make is the same for the same tools: it is taken from here, as it takes long.
made() (
	umask "$2"
	unset SOURCE_DATE_EPOCH MAKEFLAGS MFLAGS MAKELEVEL
	mkdir -p "$1" && git clone -q "$CAIRN_SOURCE" "$1/clone" && cd "$1/clone" &&
		find . -path ./.git -prune -o -type f -exec touch -d "$3 days ago" {} + &&
		cp -RL "$CAIRN_SOURCE/build-aux" . && cp "$CAIRN_SOURCE/aclocal.m4" . && sleep 0.02 &&
		cp "$CAIRN_SOURCE/config.h.in" "$CAIRN_SOURCE/configure" "$CAIRN_SOURCE/Makefile.in" . && mkdir build && cd build &&
		sed "s#^ac_pwd=.*#ac_pwd='$PWD'#; s#^srcdir=.*#srcdir='..'#" "$CAIRN_BUILD/config.status" |
		sed '/AMDEP_TRUE/s/""/"#"/' >config.status &&
		sh ./config.status -q Makefile config.h && make -s dist-gzip
) >"$work/log.$3" 2>&1
second() { [ -z "${CAIRN_LONG:-}" ] || made "$work/here" 022 1; }
made "$work/quite/elsewhere" 077 400 && second || {
	tail -n 20 "$work"/log.* | sed 's/^/# /'
	echo 'not ok 1 - clones make their archives'
	echo 1..1
	exit 1
}
a=$(ls "$work"/quite/elsewhere/clone/build/*.tar.gz)
mkdir "$work/out" && tar xf "$a" -C "$work/out" --strip-components=1
odd=$(git -C "$work/quite/elsewhere/clone" --work-tree="$work/out" diff --name-only --diff-filter=MT HEAD)
names=$(tar tf "$a" | tr '/' '\001')
if [ -z "${CAIRN_LONG:-}" ]; then
	if [ -n "$names" ] && [ "$names" = "$(printf '%s\n' "$names" | LC_ALL=C sort)" ] && [ -z "$odd" ]; then
		echo "ok 1 - the files of the archive are in order, and as git has them"
	else
		printf '%s\n' "$odd" | sed 's/^/# /'
		echo 'not ok 1 - the files of the archive are in order, and as git has them'
	fi
elif b=$(ls "$work"/here/clone/build/*.tar.gz) && cmp "$a" "$b" >"$work/odd"; then
	echo "ok 1 - the same archive, $(wc -c <"$a") bytes"
else
	sed 's/^/# /' "$work/odd"
	tar tvf "$a" >"$work/a"
	tar tvf "$b" | diff "$work/a" - | head -n 20 | sed 's/^/# /'
	echo 'not ok 1 - the same archive'
fi
commit=$(git -C "$CAIRN_SOURCE" log -1 --format=%ct)
odd=$(TZ=UTC tar --full-time -tvf "$a" | grep -v "^[-d]rw[-x]r-[-x]r-[-x] *\(root/root\|0/0\) .*$(date -u -d "@$commit" '+%Y-%m-%d %H:%M:%S')" | head -n 5)
if [ -z "$odd" ]; then
	echo "ok 2 - every file is of the commit's time and nobody's"
else
	printf '%s\n' "$odd" | sed 's/^/# /'
	echo "not ok 2 - every file is of the commit's time and nobody's"
fi
version=$(sed -n 's/^AC_INIT(\[cairn\], \[\(.*\)\])$/\1/p' "$CAIRN_SOURCE/configure.ac")
if [ -n "$version" ] && [ "$(sed -n '1s/^cairn (\(.*\)) .*/\1/p' "$CAIRN_SOURCE/debian/changelog")" = "$version" ]; then
	echo "ok 3 - the Debian package is of version $version, too"
else
	echo 'not ok 3 - the Debian package has the version of configure.ac'
fi
echo 1..3
