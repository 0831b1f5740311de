#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A few seconds of each fuzzer, as make check builds them; make fuzz runs them optimized, and for longer.

# shellcheck source=SCRIPTDIR/../tap.sh
. "$(dirname "$0")/../tap.sh"
export FUZZ_BUILD=$repo/build-fuzz/check
for source in "$repo"/tests/fuzz/*.c; do
	target=$(basename "$source" .c)
	if [ ! -x "$FUZZ_BUILD/fuzz/$target" ]; then
		skip "$target" 'not built: make check builds it'
		continue
	fi
	BUILD=$build "$repo/tests/fuzz/run" "$target" 2 >log 2>&1
	report_test $? "$target: nothing found" "$(tail -n 30 log)"
done
done_testing
