#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Test kprotperf report with files of known content.
# shellcheck disable=SC2016 # variables of jq

# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

fixture baseline hardened control-hardened troubled hostile nanoseconds three-runs empty \
  ranges-hardened captured

prints report.txt report control-hardened.data
"$make_fixture" words kprotperf.data 'calls f read 1 100'
fails 1 kprotperf.data report --trace
prints report-all.txt report --all control-hardened.data
COLUMNS=80 prints report-80.txt report control-hardened.data
prints report-ns.txt report nanoseconds.data
prints report-runs.txt report three-runs.data
prints report-wall.txt report --time=wall --top=4 hardened.data
prints report-self.txt report --time=self --top=4 hardened.data
prints report-costs.csv report --format=csv --section=costs hardened.data
prints report.csv report --format=csv hardened.data
prints report-losses.csv report --format=csv --section=losses hardened.data
prints report-ranges.txt report ranges-hardened.data
COLUMNS=160 prints report-ranges-160.txt report ranges-hardened.data
prints report-ranges.csv report --format=csv --section=ranges ranges-hardened.data
json "json: a body that was timed, with its estimate" \
  'row("ranges"; {name: "shuffle_freelist", syscall: "clone"}) | .source == "exact" and .calls == 4600 and
     .entries == 9200 and .function == "allocate_slab" and .location == "mm/slub.c:1978" and .estimate.samples > 60' \
  report --format=json ranges-hardened.data
json "json: a body that was sampled" \
  '(row("ranges"; {name: "check_stack", syscall: "clone"}) | .source == "estimated" and has("calls") and
     .calls == null and .estimate.samples == 60 and has("caveat") and .caveat == null) and
   row("ranges"; {name: "spin_unlock_irqrestore", syscall: "clone"}).caveat == "interrupts off" and
   (row("ranges"; {name: "page_slab", syscall: "*"}) | .why == "an indirect jump" and has("source") and
     .source == null and has("estimate") and .estimate == null)' \
  report --format=json ranges-hardened.data
run report --callers=kmem_cache_alloc --callees=kmem_cache_alloc --format=json hardened.data
[ "$status" -eq 0 ] && jq -e 'def all: [.[].samples] | add; (.callers | all) == (.callees | all) and
	([.callers[].share] | add | . > 0.999 and . < 1.001)' out >/dev/null
report_test $? "callers and callees of a function have all of its samples" "$(head -c 400 out)"
fails 1 "no samples in 'no_such' or its callees" report --callers=no_such hardened.data
usage "one function at a time" report --callers=a --callees=b hardened.data
prints report-samples.csv report --format=csv --section=samples hardened.data

run report captured.data
grep -qx 'report --why-varies=allocate_slab shows what explains how long these calls take.' out
report_test $? 'the captured values end with what to ask next, of the function that took most'
prints report-why-varies.txt report --why-varies=allocate_slab captured.data
prints report-why-varies.csv report --why-varies=allocate_slab --format=csv captured.data
prints report-why-varies-none.txt report --why-varies=vm_area_dup captured.data
json 'json: what explains the latency, and by which conditions' \
  '.variation.function == "allocate_slab" and .variation.explained > 0.999 and .variables[0].name == "crng_init" and
     .variables[0].significant and [.variable_tree[].condition] == ["all calls", "crng_init = 0", "crng_init = 1"] and
     .variable_tree[0].slope == null and (.variable_tree[2] | .variable == "s->objects" and .slope_interval[0] < 20 and .slope_interval[1] > 20)' \
  report --why-varies=allocate_slab --format=json captured.data
fails 1 "no values of 'read' were captured" report --why-varies=read captured.data

run report --top=2 hardened.data
[ "$status" -eq 0 ] && grep -q '^Syscalls, by total on-CPU time (2 of 18):' out
report_test $? "--top cuts tables and says so"
run report --top=0 hardened.data
[ "$status" -eq 0 ] && ! grep -q ' of 18' out && grep -q '^rseq' out
report_test $? "--top=0 shows all"

for width in 100 80; do
  for file in *.data; do
    COLUMNS=$width run report "$file"
    [ "$status" -eq 0 ] && [ "$(wc -l <out)" -le 40 ] && [ "$(wc -L <out)" -le $width ]
    report_test $? "$file: a screen of 40 lines and $width columns"
  done
done

cp hardened.data kprotperf.data
run report
[ "$status" -eq 0 ] && grep -q 'kernel 6.1.192-hardened' out
report_test $? "without a file: kprotperf.data"

# Warnings follow the report's first sentence. If stdout is no terminal, warnings also go to stderr.
run report troubled.data
[ "$status" -eq 0 ] && ! grep -q 'calls not timed\|not accounted for' out err &&
  grep -q '^warning: 31 samples missed' out && [ "$(wc -l <out)" -le 40 ]
report_test $? "the first screen leaves out what moves no figure"
run report --all troubled.data
[ "$status" -eq 0 ] && grep -m 1 -A 1 '^$' out | grep -q '^warning: 12 calls not timed' &&
  [ "$(grep -c '^kprotperf: warning: ' err)" -eq 6 ] &&
  [ "$(grep -c 'subtracts more than the probes cost in 1 row, .* allocate_slab in mmap' err)" -eq 1 ] &&
  grep -q '7 of 136,163 calls entered are not accounted for' err &&
  grep -q 'the cost of tracepoint probes is unknown' err &&
  grep -q 'Losses: see the warnings' out
report_test $? "losses, a failed run and impossible costs are said first"

json "json: schema, unit and keys" \
  '.schema == "kprotperf-report/1" and .unit == "insn" and (keys | has_all(["environment", "workload", "runs",
     "syscalls", "functions", "samples", "losses", "accounting", "warnings"]))' \
  report --format=json control-hardened.data
json "json: rows" \
  '["calls", "total", "mean", "p50", "p90", "p99", "p999", "min", "max", "oncpu_total", "oncpu_mean", "wall_total",
     "wall_mean", "self_total", "self_mean"] as $figures |
   (syscall("clone") | keys) == ($figures + ["name", "errors", "caveat"] | sort) and
   (function("allocate_slab"; "clone") | keys) == ($figures + ["name", "syscall", "caveat"] | sort) and
   syscall("wait4").errors == 1 and syscall("clone").calls == 20 and
   function("allocate_slab"; "*").calls == 4600 + 310 + 3 and function("allocate_slab"; "clone").calls == 4600 and
   function("allocate_slab_never"; "*").mean == null' \
  report --format=json hardened.data
json "json: the workload, unprobed first" \
  '[.workload[] | [.name, .probed]] == [["big-fork", false], ["big-fork", true], ["[command]", false],
     ["[command]", true], ["[command cpu]", false]] and (.workload[0] | has("p50") and .p50 == null and .mean == 14120000) and
   .runs[0].wall == 320000000 and .runs[1].probed == false' \
  report --format=json control-hardened.data
json "json: what the kernel takes of the command's CPU time" \
  '.kernel_share | .command == 490000000 and .kernel == 404195512 and (.share | digits(4)) == 0.8249' \
  report --format=json control-hardened.data
json "json: not counted is null, counted is a number" \
  '(.losses | has("probe_missed") and .probe_missed == null and .depth_exceeded == 0) and
   .accounting.closed_by_exit == 20 and .warnings == []' \
  report --format=json hardened.data
json "json: three runs are summed" \
  'syscall("clone").calls == 60 and (.runs | length) == 3 and row("workload"; {name: "big-fork"}).iterations == 60' \
  report --format=json three-runs.data
json "json: nothing in the file" '.syscalls == [] and .functions == []' \
  report --format=json empty.data
json "json: names that are no UTF-8" 'syscall("ev\u001b[31mil;a b").calls == 1' \
  report --format=json hostile.data

for format in table csv; do
  run report --format=$format --top=0 hostile.data
  [ "$status" -eq 0 ] && ! LC_ALL=C grep -q '[^ -~]' out err
  report_test $? "no control byte reaches the terminal: $format"
done

run report --raw --format=csv --section=syscalls troubled.data
# The probes of 20 calls cost 500,000 each. With --raw the total includes this cost. Percentiles are missing, because they are
# known only without probe cost.
grep -q '^clone,20,274697591,13734879.55,,,,,,,274697591,' out && ! grep -q 'probes cost' err
report_test $? "--raw"

# Negative times are shown unchanged: the probes of 310 calls of allocate_slab cost 20,000 each.
json "json: negative times" \
  'function("allocate_slab"; "mmap") | .total == 3651026 - 310 * 20000 and .self_total == .total' \
  report --format=json troubled.data
json "json: what was entered and what became of it" \
  '.accounting | .entries == .calls + 7 and .unaccounted == 7 and .returned + .closed_by_exit == .calls' \
  report --format=json troubled.data
json "json: entries that were not counted are null" \
  '(.accounting | .entries == null and .unaccounted == null and (keys | has_all(["entries", "unaccounted"]))) and
   .warnings == []' report --format=json three-runs.data
json "json: the cost of each mechanism, and the slowdown" \
  '[.costs.mechanisms[].name] == ["fentry", "sample", "tracepoint"] and
   (mechanism("fentry") | .full == 332 and .full_spread == 2 and .functions == 4 and
     .calls == 4913 + 120180 + 4600 + 310) and
   (mechanism("tracepoint") | has("full") and .full == null) and
   mechanism("sample").calibration == "latency=344 interrupt=2187" and
   .accounting.probe_cost == .costs.subtracted and
   (.costs.slowdown | (.measured_pct | digits(6)) == 6.666667 and .estimated_kernel_pct > 9 and
     .estimated_kernel_pct < .estimated_pct + 2)' \
  report --format=json control-hardened.data

fails 1 "no-such.data" report no-such.data
head -c 200 hardened.data >short.data
fails 1 "short.data" report short.data
usage "--format is table, json, csv or html" report --format=xml hardened.data
usage "--time is oncpu, wall or self, not ''" report --time= hardened.data
usage "--section is environment, workload, runs, calls, syscalls, " report --section=all hardened.data
usage "accounting or costs, not 'all'" report --section=losses,all hardened.data
usage "--format=csv has no section environment" report --format=csv --section=environment \
  hardened.data
usage "--format=csv prints one table" report --format=csv --section=losses,costs hardened.data
prints report-sections.txt report --section=losses,accounting --section=costs control-hardened.data
run report --section=syscalls,losses --format=json hardened.data
[ "$status" -eq 0 ] && [ "$(jq -r 'keys_unsorted | join(" ")' out)" = \
  'schema unit raw time warnings kernel_share syscalls losses' ]
report_test $? "json: sections that were asked for"
usage "expected one file" report hardened.data baseline.data
usage "not a number from 0 to 1000000" report --top=-3 hardened.data
if [ -w /dev/full ]; then
  "$kprotperf" report hardened.data >/dev/full 2>err
  status=$?
  [ $status -eq 1 ] && grep -q 'cannot write the output' err
  report_test $? "a full disk is no success"
fi

done_testing
