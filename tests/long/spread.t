#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Saved boots with different seeds differ as much as full boots do. Therefore ab, why and matrix may use saved boots (see
# docs/internals/lab.md).

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/../lab/lib.sh
. "$(dirname "$0")/../lab/lib.sh"
need hardened

# record NAME OPTION…: record in eight boots. Write the command's instructions in each boot to the file NAME, one line per boot.
record() {
	local name=$1 seed
	shift
	for seed in 1 2 3 4 5 6 7 8; do
		"$lab" run --exact --accel icount --seed "$seed" "$@" -o "$name.data" -- "$workloads/big-fork" >record.log 2>&1 || cat record.log
		"$kprotperf" report --format=json --section=workload "$name.data" | jq '.workload[] | select(.name == "[command cpu]").mean'
	done >"$name"
}
record full
record saved --resume
record quiet --resume --in-memory
is 'all were recorded' "$(cat full saved quiet | grep -c .)" 24

# The first 24 boots took 477 million instructions, with standard deviations of 303,891 (full), 304,412 (saved) and 266,578
# (quiet). By chance alone, the standard deviation of eight boots is 3.9 times that of eight others once in 1,000 tests. Equally
# seldom, their means differ by more than 3.3 standard errors.
for name in saved quiet; do
	said=$(paste full $name | awk '
		{ for (i = 1; i <= 2; i++) { sum[i] += $i; square[i] += $i * $i } }
		END {
			for (i = 1; i <= 2; i++) { mean[i] = sum[i] / NR; variance[i] = (square[i] - NR * mean[i] ^ 2) / (NR - 1) }
			printf "%.2f %.2f", sqrt(variance[2] / variance[1]), (mean[2] - mean[1]) / sqrt((variance[1] + variance[2]) / NR)
		}')
	read -r ratio apart <<<"$said"
	ok "$name boots spread $ratio times as much as full ones" awk -v r="$ratio" 'BEGIN { exit !(r > 1 / 3.9 && r < 3.9) }'
	ok "their means are $apart standard errors apart" awk -v a="$apart" 'BEGIN { exit !(a > -3.3 && a < 3.3) }'
done
done_testing
