#!/bin/bash
# lab ab --patch builds and boots a patched kernel, and measures what the patch costs. build.t tests patches with stand-ins.

# shellcheck disable=SC2016,SC2154 # text for scripts; names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
need baseline
export KPROTPERF=$kprotperf

# The patch adds 1,000 instructions to a function.
try "$lab" ab --patch "$repo/tests/lab/planted.patch" --accel icount --func __set_task_comm -- perl -e '$0 = "a$_" for 1 .. 1000'
is 'ab --patch builds what it needs, boots both and compares' "$status" 0
"$kprotperf" diff baseline.data hardened.data --format=json >diff.json
# Measured: 995.2 to 1,008.6 instructions in ten comparisons, more than 10 off in an eleventh. An interrupt's 10,000 instructions
# add 10 per call.
is 'the patch costs what it adds, to 3 %' \
	"$(query diff.json 'function("__set_task_comm"; "*") | close(.delta; 1000; 30)')" true
done_testing
