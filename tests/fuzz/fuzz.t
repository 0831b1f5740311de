#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run each fuzzer for a few seconds, and valid recordings for twenty, as make check builds them. tests/long/fuzz.t and make fuzz
# run them optimized, and for longer.

# shellcheck source=SCRIPTDIR/../tap.sh
. "$(dirname "$0")/../tap.sh"
export FUZZ_BUILD=$repo/build-fuzz/check
for source in "$repo"/tests/fuzz/*.c; do
	target=$(basename "$source" .c)
	if [ ! -x "$FUZZ_BUILD/fuzz/$target" ]; then
		skip "$target" 'not built: make check builds it'
		continue
	fi
	# Valid recordings go through all commands.
	case $target in valid) seconds=20 ;; *) seconds=2 ;; esac
	BUILD=$build "$repo/tests/fuzz/run" "$target" "$seconds" >log 2>&1
	report_test $? "$target: nothing found" "$(tail -n 30 log)"
done
done_testing
