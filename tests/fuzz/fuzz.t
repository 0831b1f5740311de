#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run each fuzzer that make check has built for two seconds, and "valid" for twenty. tests/long/fuzz.t and make fuzz run
# optimized fuzzers for longer.

# shellcheck source=SCRIPTDIR/../tap.sh
. "$(dirname "$0")/../tap.sh"
export FUZZ_BUILD=$repo/build-fuzz/check
for source in "$repo"/tests/fuzz/*.c; do
	target=$(basename "$source" .c)
	if [ ! -x "$FUZZ_BUILD/fuzz/$target" ]; then
		skip "$target" 'not built: make check builds it'
		continue
	fi
	case $target in valid) seconds=20 ;; *) seconds=2 ;; esac
	BUILD=$build "$repo/tests/fuzz/run" "$target" "$seconds" >log 2>&1
	report_test $? "$target: nothing found" "$(tail -n 30 log)"
done
done_testing
