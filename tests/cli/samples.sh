# SPDX-License-Identifier: GPL-3.0-or-later
# The samples in data/ are what the generator writes, byte for byte (TAP).
set -u
made=$CAIRN_BUILD/tests/cli/samples.tmp
rm -rf "$made"
mkdir -p "$made"
"$CAIRN_BUILD/tests/tools/mkdump" sample "$made" || exit 1
echo 1..6
n=0
for name in heapdump.20261121.101500.4711.0001.phd heapdump.20261121.101500.4711.0001.txt \
	javacore.20261121.101500.4711.0001.txt shop.hprof shop-1.hprof shop-2.hprof; do
	n=$((n + 1))
	if cmp "$made/$name" "$CAIRN_SOURCE/data/$name" >&2; then
		echo "ok $n - data/$name is what mkdump sample writes"
	else
		echo "not ok $n - data/$name is what mkdump sample writes"
	fi
done
rm -rf "$made"
