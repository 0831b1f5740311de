#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Test kprotperf diff with pairs of files of known content.

# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

fixture baseline hardened control-baseline control-hardened troubled hostile nanoseconds \
  three-runs empty ranges-baseline ranges-hardened captured captured-unseeded

prints diff.txt diff control-baseline.data control-hardened.data
prints diff-all.txt diff --all control-baseline.data control-hardened.data
COLUMNS=80 prints diff-80.txt diff control-baseline.data control-hardened.data
prints diff-same.txt diff baseline.data baseline.data
prints diff-wall.txt diff --time=wall control-baseline.data control-hardened.data
prints diff-self.txt diff --time=self control-baseline.data control-hardened.data
prints diff.csv diff --format=csv baseline.data hardened.data
prints diff-ranges.txt diff ranges-baseline.data ranges-hardened.data
# shellcheck disable=SC2016 # variables are jq's
json "json: bodies are parts of their function's change" \
  '[.attribution | to_entries[] | select(.value.name == "allocate_slab" and .value.level == 2)][0].key as $at |
   .attribution[$at + 1:] | map(.level >= 3) as $in | .[:$in | index(false)] |
   (map(select(.name == "shuffle_freelist"))[0] | .kind == "range" and .baseline_total == 0 and
     .delta_total == .hardened_total and .hardened_calls > 0) and
   (map(.delta_total) | add) > 0' \
  diff --format=json ranges-baseline.data ranges-hardened.data
json "json: what other values carry, and of which variable" \
  '(.variables | map(.function) | unique) == ["allocate_slab"] and .variables[0].variable == null and
   (.variables[1] | .variable == "crng_init" and .by_values > 0.99 * .delta and .baseline.value > 0.9 and .hardened.value < 0.1) and
   (.variables | map(.by_values + .by_cost - .delta | fabs < 1e-6) | all) and
   (.conclusion_values | startswith("allocate_slab takes +5,940 instructions per call: +5,940 from different values, mostly of crng_init (0"))' \
  diff --format=json captured.data captured-unseeded.data
prints diff-workload.csv diff --format=csv --section=workload baseline.data hardened.data
prints diff-environment.csv diff --format=csv --section=environment baseline.data hardened.data

for width in 100 80; do
  for pair in 'baseline hardened' 'control-baseline control-hardened' 'baseline troubled' \
    'hostile baseline' 'ranges-baseline ranges-hardened' 'captured captured-unseeded' 'three-runs three-runs' 'empty empty'; do
    read -r one other <<<"$pair"
    COLUMNS=$width run diff "$one.data" "$other.data"
    [ "$status" -eq 0 ] && [ "$(wc -l <out)" -le 40 ] && [ "$(wc -L <out)" -le $width ]
    report_test $? "$pair: a screen of 40 lines and $width columns"
  done
done

json "json: schema, unit and keys" \
  '.schema == "kprotperf-diff/1" and .unit == "insn" and .warnings == [] and
   (keys | has_all(["environment", "warnings", "workload", "syscalls", "functions"]))' \
  diff --format=json baseline.data hardened.data
json "json: what the kernel takes of the command's CPU time, and what its change is of that" \
  '(.kernel_share.baseline.share | digits(3)) == 0.809 and .kernel_share.hardened.command == 490000000 and
   (.conclusion_cpu_pct | digits(2)) == 10.99' \
  diff --format=json control-baseline.data control-hardened.data
json "json: rows" \
  '(syscall("clone") | keys | has_all(["name", "baseline", "hardened", "delta", "delta_pct"])) and
   (syscall("clone").delta | round) == 2417990 and (syscall("clone").delta_pct | digits(2)) == 21.37 and
   (function("allocate_slab"; "clone").share | digits(2)) == 1.03 and
   function("vm_area_dup"; "clone").share == 0' \
  diff --format=json baseline.data hardened.data
json "json: what is on one side only has null on the other" \
  'function("shuffle_freelist"; "clone") |
     has("baseline") and .baseline == null and .hardened.calls == 4600 and has("share") and .share == null' \
  diff --format=json baseline.data hardened.data
json "json: the kernel option that differs" \
  '.environment | .protection == [{name: "SLAB_FREELIST_RANDOM", baseline: "n", hardened: "y"}] and .config == []' \
  diff --format=json baseline.data hardened.data
json "json: counts and totals are a run" \
  'syscall("clone").hardened.calls == 20 and .runs.hardened.runs == 3' \
  diff --format=json baseline.data three-runs.data
json "json: the workload from control runs" \
  'row("workload"; {name: "big-fork"}) | .probed == false and .delta == 2320000' \
  diff --format=json control-baseline.data control-hardened.data
json "json: a control run on one side only is no partner" \
  'row("workload"; {name: "big-fork"}) | .probed == true and .delta == 2333888' \
  diff --format=json control-baseline.data hardened.data

run diff --all baseline.data troubled.data
[ "$status" -eq 0 ] && grep -m 1 -A 1 '^$' out | grep -q '^warning: ' &&
  grep -q '^warning: hardened: 12 calls not timed' out &&
  grep -q '^kprotperf: warning: hardened: the command was killed by SIGKILL' err
report_test $? "losses on one side are said right below the conclusion"
grep -q 'hardened: the cost of tracepoint probes is unknown' err &&
  grep -q 'the cost of tracepoint probes is subtracted on the baseline side only' err
report_test $? "a cost known on one side only is a warning"
json "json: warnings" '.warnings | length == 7' diff --format=json baseline.data troubled.data
json "--raw: nothing is subtracted, nothing said of it" '.warnings | length == 4' \
  diff --raw --format=json baseline.data troubled.data

run diff hostile.data baseline.data
[ "$status" -eq 0 ] && ! LC_ALL=C grep -q '[^ -~]' out err && grep -q 'different work' err
report_test $? "no control byte reaches the terminal"

run diff empty.data empty.data
[ "$status" -eq 0 ] && grep -q 'Nothing to compare' out
report_test $? "two empty files"

fails 1 "cannot compare" diff baseline.data nanoseconds.data
fails 1 "no-such.data" diff baseline.data no-such.data
usage "two files are required" diff baseline.data
usage "expected two files" diff baseline.data hardened.data empty.data
usage "--fold counts samples, which are on-CPU" diff --fold --time=wall baseline.data \
  hardened.data
usage "--time is oncpu, wall or self, not 'cpu'" diff --time=cpu baseline.data hardened.data
usage "--section is environment, renamed, runs, statistics, workload, lines, attribution, calls, syscalls, " \
  diff --section=losses baseline.data hardened.data
usage "--fold cannot be combined with --format" diff --fold --format=csv baseline.data hardened.data

json "json: --time chooses the time of total, mean and their change" \
  '.time == "wall" and (syscall("wait4").hardened | .mean == 20749.55 + 12000000 and .mean == .wall_mean and
     .oncpu_mean == 20749.55 and has("p50") and .p50 == null)' \
  diff --time=wall --format=json baseline.data hardened.data
json "json: shares of self time are parts of the on-CPU change that do not overlap" \
  'close((rows("functions"; {syscall: "clone"}) | map(.share | numbers) | add) +
     (syscall("clone").delta_total + function("shuffle_freelist"; "clone").hardened.self_total) / 48359800; 1; 1e-9)' \
  diff --time=self --format=json baseline.data hardened.data

json "json: the attribution adds up, level by level" \
  '(.attribution[0] | .name == "[command]" and .level == 0) and
   ([.attribution[] | select(.kind == "outside")] | length) == 1 and (.attribution | adds_up(1e-6))' \
  diff --format=json baseline.data hardened.data
prints diff-attribution.csv diff --format=csv --section=attribution control-baseline.data \
  control-hardened.data

# above STATUS LIMIT: pass if diff --fail-above=LIMIT exits with STATUS, and still prints the diff.
above() {
  local expected=$1 limit=$2
  run diff --fail-above="$limit" baseline.data hardened.data
  [ "$status" -eq "$expected" ] && [ -s out ]
  report_test $? "--fail-above=$limit: status $expected"
}
above 3 5
grep -qx 'kprotperf: clone is 21.37 % slower: above the --fail-above limit of 5 %' err
report_test $? "the message names the row"
above 0 25
above 3 21@clone
above 0 22@clone
above 3 100@allocate_slab
above 0 1@mmap
fails 1 "recorded function is named 'no_such_call'" diff --fail-above=1@no_such_call baseline.data hardened.data
fails 1 "'shuffle_freelist' was called on one side only" diff --fail-above=1@shuffle_freelist \
  baseline.data hardened.data
fails 1 "no syscall was called on both sides" diff --fail-above=1 empty.data empty.data
run diff --fail-above=5@clone --filter=syscall=mmap baseline.data hardened.data
[ $status -eq 3 ] && grep -q '^mmap' out && ! grep -q '^clone  ' out
report_test $? "--fail-above sees what --filter does not show"
usage "PCT@ROW" diff --fail-above=much baseline.data hardened.data
usage "PCT@ROW" diff --fail-above=5@ baseline.data hardened.data

# Test recordings of three runs: verdicts, intervals, and the noise between two recordings.
prints diff-runs.txt diff three-runs.data three-runs.data
json "json: statistics over runs" \
  '(.statistics | .unit == "run" and .baseline == 3 and (.note | contains("between boots"))) and
   all(rows("syscalls", "functions", "workload")[]; .verdict == "same" and .p == 1 and .ci[0] <= 0 and .ci[1] >= 0 and
     has("noise") and .noise == null)' \
  diff --format=json three-runs.data three-runs.data
json "json: one run a side has no verdict, and says why" \
  'all(.syscalls[]; .verdict == null and .p == null and .ci == null and has("verdict") and has("p") and has("ci")) and
   (.statistics.note | contains("too few for intervals"))' \
  diff --format=json baseline.data hardened.data
json "--control: noise, and what is under it" \
  'function("allocate_slab"; "clone").under_noise == false and syscall("mmap").noise == 0 and
   syscall("clone").noise == 0 and .statistics.control == "baseline.data"' \
  diff --format=json --control baseline.data baseline.data hardened.data
prints diff-control.txt diff --control=control-baseline.data control-baseline.data control-hardened.data
fails 1 "hardened.data is not a recording of the baseline kernel: its kernel.release differs" \
  diff --control=hardened.data baseline.data hardened.data
fails 1 "none.data" diff --control=none.data baseline.data hardened.data
usage "--margin" diff --margin=0 baseline.data hardened.data
prints diff-percentiles.txt diff --percentiles control-baseline.data control-hardened.data

# Test the options that select, sort and rename rows.
json "--filter: rows of one syscall, no sums" \
  '[.syscalls[].name] == ["clone"] and .functions != [] and
   all(.functions[]; .syscall == "clone" and (.name | contains("slab")))' \
  diff --format=json --filter='syscall=clone,function=*slab*' baseline.data hardened.data
json "--filter: a pattern with alternatives" \
  '.functions | map(.name) | unique == ["allocate_slab", "vm_area_dup"]' \
  diff --format=json --filter='function=@(allocate_slab|vm_area_dup)' baseline.data hardened.data
json "--filter: functions alone leave syscalls as they are" \
  '(.syscalls | length) > 5 and ([.functions[].name] | unique) == ["vm_area_dup"] and
   .attribution[0].name == "[command]" and (.attribution | length) > 10' \
  diff --format=json --filter=function=vm_area_dup baseline.data hardened.data
json "--sort: by name" \
  '[.syscalls[].name] | . == sort' \
  diff --format=json --sort=name baseline.data hardened.data
json "--sort: by percent" \
  '.syscalls[0].name == "clone" and .functions[0].name == "allocate_slab"' \
  diff --format=json --sort=delta_pct baseline.data hardened.data
json "--map: what changed its name has a partner" \
  'function("shuffle_freelist"; "clone").baseline.calls == 120180 and
   all(rows("functions"; {name: "vm_area_dup"})[]; .baseline == null)' \
  diff --format=json --map=vm_area_dup=shuffle_freelist baseline.data hardened.data
fails 1 "no function or syscall 'nothing'" diff --map nothing=clone baseline.data hardened.data
fails 1 "the hardened side has no function or syscall 'nothing'" diff --map clone=nothing \
  baseline.data hardened.data
fails 1 "--filter: no syscall or function matches 'syscall=nothing'" \
  diff --filter=syscall=nothing baseline.data hardened.data
json "--filter: a context in brackets is no glob" \
  '[.syscalls[].name] == ["[page_fault]"]' \
  diff --format=json --filter='syscall=[page_fault]' baseline.data hardened.data
run diff --section=functions --filter=function=nothing baseline.data hardened.data
[ $status -eq 0 ] && grep -q '^Functions: .* or none matching --filter' out
report_test $? "--filter: not shown is not taken for not recorded"
usage "--map is OLD=NEW" diff --map=clone= baseline.data hardened.data
usage "--filter is" diff --filter=clone baseline.data hardened.data
usage "--sort is" diff --sort=size baseline.data hardened.data
usage "--fold prints all stacks" diff --fold --filter=syscall=clone baseline.data hardened.data
usage "--reverse needs --fold" diff --reverse baseline.data hardened.data

# Test recordings that differ in more than their kernels.
json "json: a valid comparison" '.valid == true' diff --format=json baseline.data hardened.data
json "json: one of different work" '.valid == false and (.warnings[0] | contains("different"))' \
  diff --format=json baseline.data empty.data
fails 1 "not comparable, since more than the kernels differs: different work" diff --strict baseline.data empty.data
run diff --strict baseline.data hardened.data
[ "$status" -eq 0 ] && [ -s out ]
report_test $? "--strict lets kernels differ"

run diff --fold baseline.data hardened.data
sed -E 's/ ([0-9.]+) ([0-9.]+)$/ \2 \1/' out >turned
run diff --fold --reverse baseline.data hardened.data
cmp -s out turned && [ -s out ]
report_test $? "--fold --reverse has the sides the other way round"
prints diff.folded diff --fold baseline.data hardened.data
fails 1 "empty.data contains no samples" diff --fold baseline.data empty.data

"$make_fixture" words first.data 'calls f read 1 100' kernel.build_id=aa kernel.version=1
"$make_fixture" words second.data 'calls f read 1 100' kernel.build_id=bb kernel.version=2
run diff --section=environment first.data second.data
is 'two builds that differ in nothing else: build-id and version are shown' \
  "$(grep -c '^kernel  ' out)" 2

done_testing
