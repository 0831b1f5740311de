#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kprotperf report on files of known content.

# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

fixture baseline hardened control-hardened troubled hostile nanoseconds three-runs empty \
  ranges-hardened

prints report.txt report control-hardened.data
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
  'row("ranges", name="shuffle_freelist", syscall="clone")["source"] == "exact" and
   row("ranges", name="shuffle_freelist", syscall="clone")["calls"] == 4600 and
   row("ranges", name="shuffle_freelist", syscall="clone")["entries"] == 9200 and
   row("ranges", name="shuffle_freelist", syscall="clone")["function"] == "allocate_slab" and
   row("ranges", name="shuffle_freelist", syscall="clone")["location"] == "mm/slub.c:1978" and
   row("ranges", name="shuffle_freelist", syscall="clone")["estimate"]["samples"] > 60' \
  report --format=json ranges-hardened.data
json "json: a body that was sampled" \
  'row("ranges", name="check_stack", syscall="clone")["source"] == "estimated" and
   row("ranges", name="check_stack", syscall="clone")["calls"] is None and
   row("ranges", name="check_stack", syscall="clone")["estimate"]["samples"] == 60 and
   row("ranges", name="check_stack", syscall="clone")["doubt"] is None and
   row("ranges", name="spin_unlock_irqrestore", syscall="clone")["doubt"] == "interrupts off" and
   row("ranges", name="page_slab", syscall="*")["why"] == "an indirect jump" and
   row("ranges", name="page_slab", syscall="*")["source"] is None and
   row("ranges", name="page_slab", syscall="*")["estimate"] is None' \
  report --format=json ranges-hardened.data
prints report-samples.csv report --format=csv --section=samples hardened.data

run report --top=2 hardened.data
[ "$status" -eq 0 ] && grep -q '^(16 more; --top=0 shows all)' out
report_test $? "--top cuts tables and says so"
run report --top=0 hardened.data
[ "$status" -eq 0 ] && ! grep -q ' more; ' out && grep -q '^rseq' out
report_test $? "--top=0 shows all"

# The default file is the one that record writes.
cp hardened.data kprotperf.data
run report
[ "$status" -eq 0 ] && grep -q 'kernel 6.1.192-hardened' out
report_test $? "without a file: kprotperf.data"

# Warnings are the first thing on the page, and on stderr where the page goes elsewhere.
run report troubled.data
[ "$status" -eq 0 ] && head -1 out | grep -q '^warning: 12 calls not timed' &&
  [ "$(grep -c '^kprotperf: warning: ' err)" -eq 6 ] &&
  [ "$(grep -c 'subtracts more than the probes cost in 1 row, .* allocate_slab in mmap' err)" -eq 1 ] &&
  grep -q '7 of 136,163 calls entered are not accounted for' err &&
  grep -q 'what tracepoint probes cost is not known' err &&
  grep -q '^losses: see the warnings above' out
report_test $? "losses, a failed run and impossible costs are said first"

json "json: schema, unit and keys" \
  'd["schema"] == "kprotperf-report/1" and d["unit"] == "insn" and set(d) >= {"environment",
   "workload", "runs", "syscalls", "functions", "samples", "losses", "accounting", "warnings"}' \
  report --format=json control-hardened.data
json "json: rows" \
  'set(row("syscalls", name="clone")) == {"name", "calls", "errors", "total", "mean", "p50", "p90",
     "p99", "p999", "min", "max", "oncpu_total", "oncpu_mean", "wall_total", "wall_mean", "self_total",
     "self_mean"} and
   set(row("functions", name="allocate_slab", syscall="clone")) == {"name", "syscall", "calls",
     "total", "mean", "p50", "p90", "p99", "p999", "min", "max", "oncpu_total", "oncpu_mean", "wall_total",
     "wall_mean", "self_total", "self_mean", "detached"} and
   row("syscalls", name="wait4")["errors"] == 1 and row("syscalls", name="clone")["calls"] == 20 and
   row("functions", name="allocate_slab", syscall="*")["calls"] == 4600 + 310 + 3 and
   row("functions", name="allocate_slab", syscall="clone")["calls"] == 4600 and
   row("functions", name="allocate_slab_never", syscall="*")["mean"] is None' \
  report --format=json hardened.data
json "json: the workload, unprobed first" \
  '[(w["name"], w["probed"]) for w in d["workload"]] == [("big-fork", False), ("big-fork", True),
     ("[command]", False), ("[command]", True)] and d["workload"][0]["p50"] is None and
   d["workload"][0]["mean"] == 14120000 and d["runs"][0]["wall"] == 320000000 and
   d["runs"][1]["probed"] is False' \
  report --format=json control-hardened.data
json "json: not counted is null, counted is a number" \
  'd["losses"]["probe_missed"] is None and d["losses"]["depth_exceeded"] == 0 and
   d["accounting"]["closed_by_exit"] == 20 and not d["warnings"]' \
  report --format=json hardened.data
json "json: three runs are summed" \
  'row("syscalls", name="clone")["calls"] == 60 and len(d["runs"]) == 3 and
   row("workload", name="big-fork")["iterations"] == 60' \
  report --format=json three-runs.data
json "json: nothing in the file" 'd["syscalls"] == [] and d["functions"] == []' \
  report --format=json empty.data
json "json: names that are no UTF-8" 'row("syscalls", name="ev\x1b[31mil;a b")["calls"] == 1' \
  report --format=json hostile.data

for format in table csv; do
  run report --format=$format --top=0 hostile.data
  [ "$status" -eq 0 ] && ! LC_ALL=C grep -q '[^ -~]' out err
  report_test $? "no control byte reaches the terminal: $format"
done

run report --raw --format=csv --section=syscalls troubled.data
# 20 calls with 500,000 of cost each: in the total, and no percentiles of what is not raw.
grep -q '^clone,20,274697591,13734879.55,,,,,,,274697591,' out && ! grep -q 'probes cost' err
report_test $? "--raw"

# What is below zero is shown as it is: 310 calls of allocate_slab with 20,000 of cost each.
json "json: negative times" \
  'row("functions", name="allocate_slab", syscall="mmap")["total"] == 3651026 - 310 * 20000 and
   row("functions", name="allocate_slab", syscall="mmap")["self_total"] == 3651026 - 310 * 20000' \
  report --format=json troubled.data
json "json: what was entered and what became of it" \
  'd["accounting"]["entries"] == d["accounting"]["calls"] + 7 and
   d["accounting"]["unaccounted"] == 7 and
   d["accounting"]["returned"] + d["accounting"]["closed_by_exit"] == d["accounting"]["calls"]' \
  report --format=json troubled.data
json "json: entries that were not counted are null" \
  'd["accounting"]["entries"] is None and d["accounting"]["unaccounted"] is None and
   not d["warnings"]' report --format=json three-runs.data
json "json: the cost of each mechanism, and the slowdown" \
  '[m["name"] for m in d["costs"]["mechanisms"]] == ["fentry", "sample", "tracepoint"] and
   mech("fentry")["full"] == 332 and
   mech("fentry")["full_spread"] == 2 and
   mech("fentry")["functions"] == 4 and
   mech("fentry")["calls"] == 4913 + 120180 + 4600 + 310 and
   mech("tracepoint")["full"] is None and
   mech("sample")["calibration"] == "latency=344 interrupt=2187" and
   d["accounting"]["probe_cost"] == d["costs"]["subtracted"] and
   round(d["costs"]["slowdown"]["measured_pct"], 6) == 6.666667 and
   9 < d["costs"]["slowdown"]["estimated_kernel_pct"] < d["costs"]["slowdown"]["estimated_pct"] + 2' \
  report --format=json control-hardened.data

fails 1 "no-such.data" report no-such.data
head -c 200 hardened.data >short.data
fails 1 "short.data" report short.data
usage "--format is table, json or csv" report --format=xml hardened.data
usage "--time is oncpu, wall or self, not ''" report --time= hardened.data
usage "--section is syscalls, functions, ranges, samples, losses, costs, blocks, paths, loops, turns, block_functions or path_turns, not 'all'" report --format=csv \
  --section=all hardened.data
usage "--section goes with" report --section=losses hardened.data
usage "one file at a time" report hardened.data baseline.data
usage "not a number of rows" report --top=-3 hardened.data
if [ -w /dev/full ]; then
  "$kprotperf" report hardened.data >/dev/full 2>err
  status=$?
  [ $status -eq 1 ] && grep -q 'cannot write the output' err
  report_test $? "a full disk is no success"
fi

finish
