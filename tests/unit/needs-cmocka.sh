# SPDX-License-Identifier: GPL-3.0-or-later
# Stands for the unit tests where cmocka is not installed (TAP).
set -u
cd "$CAIRN_SOURCE/tests/unit" || exit 1
names=$(ls test_*.c | sed 's/\.c$//' | tr '\n' ' ')
echo "1..0 # SKIP these need cmocka: ${names% }"
