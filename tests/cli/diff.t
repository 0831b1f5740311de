#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kprotperf diff on pairs of files of known content.

# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

fixture baseline hardened control-baseline control-hardened troubled hostile nanoseconds \
  three-runs empty ranges-baseline ranges-hardened

prints diff.txt diff control-baseline.data control-hardened.data
COLUMNS=80 prints diff-80.txt diff control-baseline.data control-hardened.data
prints diff-same.txt diff baseline.data baseline.data
prints diff-wall.txt diff --time=wall control-baseline.data control-hardened.data
prints diff-self.txt diff --time=self control-baseline.data control-hardened.data
prints diff.csv diff --format=csv baseline.data hardened.data
prints diff-ranges.txt diff ranges-baseline.data ranges-hardened.data
prints diff-ranges.csv diff --format=csv --section=ranges ranges-baseline.data ranges-hardened.data
json "json: a body on one side only is all change" \
  'row("ranges", name="shuffle_freelist", syscall="clone")["hardened"]["source"] == "exact" and
   row("ranges", name="shuffle_freelist", syscall="clone")["delta_total"] ==
     row("ranges", name="shuffle_freelist", syscall="clone")["hardened"]["total"] and
   row("ranges", name="setup_object", syscall="clone")["delta_total"] == 0 and
   sum(r["delta_total"] for r in d["ranges"] if r["function"] == "allocate_slab" and
     r["syscall"] == "clone" and r["name"] in ("shuffle_freelist", "setup_object", "[rest]")) ==
     row("functions", name="allocate_slab", syscall="clone")["delta_total"]' \
  diff --format=json ranges-baseline.data ranges-hardened.data
prints diff-workload.csv diff --format=csv --section=workload baseline.data hardened.data
prints diff-environment.csv diff --format=csv --section=environment baseline.data hardened.data

json "json: schema, unit and keys" \
  'd["schema"] == "kprotperf-diff/1" and d["unit"] == "insn" and set(d) >= {"environment",
   "warnings", "workload", "syscalls", "functions"} and d["warnings"] == []' \
  diff --format=json baseline.data hardened.data
json "json: rows" \
  'set(row("syscalls", name="clone")) >= {"name", "baseline", "hardened", "delta", "delta_pct"} and
   round(row("syscalls", name="clone")["delta"]) == 2417990 and
   round(row("syscalls", name="clone")["delta_pct"], 2) == 21.37 and
   round(row("functions", name="allocate_slab", syscall="clone")["share"], 2) == 1.03 and
   row("functions", name="vm_area_dup", syscall="clone")["share"] == 0' \
  diff --format=json baseline.data hardened.data
json "json: what is on one side only has null on the other" \
  'row("functions", name="shuffle_freelist", syscall="clone")["baseline"] is None and
   row("functions", name="shuffle_freelist", syscall="clone")["hardened"]["calls"] == 4600 and
   row("functions", name="shuffle_freelist", syscall="clone")["share"] is None' \
  diff --format=json baseline.data hardened.data
json "json: the kernel option that differs" \
  'd["environment"]["protection"] == [{"name": "SLAB_FREELIST_RANDOM", "baseline": "n",
     "hardened": "y"}] and d["environment"]["config"] == []' \
  diff --format=json baseline.data hardened.data
json "json: counts and totals are a run" \
  'row("syscalls", name="clone")["hardened"]["calls"] == 20 and d["runs"]["hardened"]["runs"] == 3' \
  diff --format=json baseline.data three-runs.data
json "json: the workload from control runs" \
  'row("workload", name="big-fork")["probed"] is False and
   row("workload", name="big-fork")["delta"] == 2320000' \
  diff --format=json control-baseline.data control-hardened.data
json "json: a control run on one side only is no partner" \
  'row("workload", name="big-fork")["probed"] is True and
   row("workload", name="big-fork")["delta"] == 2333888' \
  diff --format=json control-baseline.data hardened.data

run diff baseline.data troubled.data
[ "$status" -eq 0 ] && grep -m 1 -A 1 '^$' out | grep -q '^warning: ' &&
  grep -q '^warning: hardened: 12 calls not timed' out &&
  grep -q '^kprotperf: warning: hardened: the workload failed' err
report_test $? "losses on one side are said right below the conclusion"
grep -q 'hardened: what tracepoint probes cost is not known' err &&
  grep -q 'what tracepoint probes cost is subtracted on the baseline side only' err
report_test $? "a cost known on one side only is a warning"
json "json: warnings" 'len(d["warnings"]) == 7' diff --format=json baseline.data troubled.data
json "--raw: nothing is subtracted, nothing said of it" 'len(d["warnings"]) == 4' \
  diff --raw --format=json baseline.data troubled.data

run diff hostile.data baseline.data
[ "$status" -eq 0 ] && ! LC_ALL=C grep -q '[^ -~]' out err && grep -q 'different work' err
report_test $? "no control byte reaches the terminal"

run diff empty.data empty.data
[ "$status" -eq 0 ] && grep -q 'nothing to compare' out
report_test $? "two empty files"

fails 1 "cannot compare" diff baseline.data nanoseconds.data
fails 1 "no-such.data" diff baseline.data no-such.data
usage "two files are needed" diff baseline.data
usage "and no more" diff baseline.data hardened.data empty.data
usage "--fold counts samples, which are of on-CPU time" diff --fold --time=wall baseline.data \
  hardened.data
usage "--time is oncpu, wall or self, not 'cpu'" diff --time=cpu baseline.data hardened.data
usage "--section is syscalls, functions, ranges, workload, environment, attribution or paths, not 'losses'" diff --format=csv \
  --section=losses baseline.data hardened.data
usage "--fold has a format of its own" diff --fold --format=csv baseline.data hardened.data

json "json: --time chooses the time of total, mean and their change" \
  'd["time"] == "wall" and row("syscalls", name="wait4")["hardened"]["mean"] == 20749.55 + 12000000 and
   row("syscalls", name="wait4")["hardened"]["mean"] ==
     row("syscalls", name="wait4")["hardened"]["wall_mean"] and
   row("syscalls", name="wait4")["hardened"]["oncpu_mean"] == 20749.55 and
   row("syscalls", name="wait4")["hardened"]["p50"] is None' \
  diff --time=wall --format=json baseline.data hardened.data
json "json: shares of self time are parts of the on-CPU change that do not overlap" \
  'abs(sum(f["share"] for f in rows("functions", syscall="clone") if f["share"] is not None) +
       row("syscalls", name="clone")["delta_total"] / 48359800 +
       row("functions", name="shuffle_freelist", syscall="clone")["hardened"]["self_total"] / 48359800
       - 1) < 1e-9' \
  diff --time=self --format=json baseline.data hardened.data

json "json: the attribution adds up, level by level" \
  'd["attribution"][0]["name"] == "[command]" and d["attribution"][0]["level"] == 0 and
   [r["kind"] for r in d["attribution"]].count("outside") == 1 and
   all(abs(sum(r["delta_total"] for r in (lambda below: below[:next((i for i, r in
         enumerate(below) if r["level"] <= whole["level"]), len(below))])(d["attribution"][n + 1:])
           if r["level"] == whole["level"] + 1) - whole["delta_total"]) <= 1e-6
       for n, whole in enumerate(d["attribution"][:-1])
       if d["attribution"][n + 1]["level"] > whole["level"])' \
  diff --format=json baseline.data hardened.data
prints diff-attribution.csv diff --format=csv --section=attribution control-baseline.data \
  control-hardened.data

# --fail-above: the diff is printed all the same.
above() {
  local expected=$1 limit=$2
  run diff --fail-above="$limit" baseline.data hardened.data
  [ "$status" -eq "$expected" ] && [ -s out ]
  report_test $? "--fail-above=$limit: status $expected"
}
above 3 5
grep -qx 'kprotperf: clone is 21.37 % slower: above the 5 % of --fail-above' err
report_test $? "the message names the row"
above 0 25
above 3 21@clone
above 0 22@clone
above 3 100@allocate_slab
above 0 1@mmap
fails 1 "recorded function is called 'no_such_call'" diff --fail-above=1@no_such_call baseline.data hardened.data
fails 1 "not both sides have calls of 'shuffle_freelist'" diff --fail-above=1@shuffle_freelist \
  baseline.data hardened.data
fails 1 "no syscall was called on both sides" diff --fail-above=1 empty.data empty.data
run diff --fail-above=5@clone --filter=syscall=mmap baseline.data hardened.data
[ $status -eq 3 ] && grep -q '^mmap' out && ! grep -q '^clone  ' out
report_test $? "--fail-above sees what --filter does not show"
usage "PCT@ROW" diff --fail-above=much baseline.data hardened.data
usage "PCT@ROW" diff --fail-above=5@ baseline.data hardened.data

# Three runs a side: verdicts, intervals, and the noise between two recordings.
prints diff-runs.txt diff three-runs.data three-runs.data
json "json: statistics over runs" \
  'd["statistics"]["unit"] == "run" and d["statistics"]["baseline"] == 3 and
   "from boot to boot" in d["statistics"]["note"] and
   all(r["verdict"] == "same" and r["p"] == 1 and r["ci"][0] <= 0 <= r["ci"][1] and
       r["noise"] is None for r in rows("syscalls") + rows("functions") + rows("workload"))' \
  diff --format=json three-runs.data three-runs.data
json "json: one run a side has no verdict, and says why" \
  'all(r["verdict"] is None and r["p"] is None and r["ci"] is None for r in rows("syscalls")) and
   "too few runs" in d["statistics"]["note"]' \
  diff --format=json baseline.data hardened.data
json "--control: noise, and what is under it" \
  'row("functions", name="allocate_slab", syscall="clone")["under_noise"] == False and
   row("syscalls", name="mmap")["noise"] == 0 and row("syscalls", name="clone")["noise"] == 0 and
   d["statistics"]["control"] == "baseline.data"' \
  diff --format=json --control baseline.data baseline.data hardened.data
prints diff-control.txt diff --control=control-baseline.data control-baseline.data control-hardened.data
fails 1 "hardened.data is not the baseline's kernel again: its kernel.release is another" \
  diff --control=hardened.data baseline.data hardened.data
fails 1 "none.data" diff --control=none.data baseline.data hardened.data
usage "--margin" diff --margin=0 baseline.data hardened.data
prints diff-percentiles.txt diff --percentiles control-baseline.data control-hardened.data

# What is shown, in what order, under which name.
json "--filter: rows of one syscall, no sums" \
  '[r["name"] for r in rows("syscalls")] == ["clone"] and rows("functions") and
   all(r["syscall"] == "clone" and "slab" in r["name"] for r in rows("functions"))' \
  diff --format=json --filter='syscall=clone,function=*slab*' baseline.data hardened.data
json "--filter: functions alone leave syscalls as they are" \
  'len(rows("syscalls")) > 5 and {r["name"] for r in rows("functions")} == {"vm_area_dup"} and
   d["attribution"][0]["name"] == "[command]" and len(d["attribution"]) > 10' \
  diff --format=json --filter=function=vm_area_dup baseline.data hardened.data
json "--sort: by name" \
  '[r["name"] for r in rows("syscalls")] == sorted(r["name"] for r in rows("syscalls"))' \
  diff --format=json --sort=name baseline.data hardened.data
json "--sort: by percent" \
  'rows("syscalls")[0]["name"] == "clone" and rows("functions")[0]["name"] == "allocate_slab"' \
  diff --format=json --sort=delta_pct baseline.data hardened.data
json "--map: what changed its name has a partner" \
  'row("functions", name="shuffle_freelist", syscall="clone")["baseline"]["calls"] == 120180 and
   not [r for r in rows("functions") if r["name"] == "vm_area_dup" and r["baseline"]]' \
  diff --format=json --map=vm_area_dup=shuffle_freelist baseline.data hardened.data
fails 1 "no function or syscall 'nothing'" diff --map nothing=clone baseline.data hardened.data
fails 1 "the hardened side has no function or syscall 'nothing'" diff --map clone=nothing \
  baseline.data hardened.data
fails 1 "--filter: no syscall, function or inlined body matches 'syscall=nothing'" \
  diff --filter=syscall=nothing baseline.data hardened.data
json "--filter: a context in brackets is no glob" \
  '[r["name"] for r in rows("syscalls")] == ["[page_fault]"]' \
  diff --format=json --filter='syscall=[page_fault]' baseline.data hardened.data
run diff --filter=function=nothing baseline.data hardened.data
[ $status -eq 0 ] && grep -qx 'Functions: none that --filter shows.' out
report_test $? "--filter: not shown is not taken for not recorded"
usage "--map is OLD=NEW" diff --map=clone= baseline.data hardened.data
usage "--filter is" diff --filter=clone baseline.data hardened.data
usage "--sort is" diff --sort=size baseline.data hardened.data
usage "--fold has all stacks" diff --fold --filter=syscall=clone baseline.data hardened.data
usage "--reverse goes with --fold" diff --reverse baseline.data hardened.data

# What else differs than the kernels.
json "json: a valid comparison" 'd["valid"] is True' diff --format=json baseline.data hardened.data
json "json: one of different work" 'd["valid"] is False and "different" in d["warnings"][0]' \
  diff --format=json baseline.data empty.data
fails 1 "not to be compared, as other things differ than the kernels: different work" diff --strict baseline.data empty.data
run diff --strict baseline.data hardened.data
[ "$status" -eq 0 ] && [ -s out ]
report_test $? "--strict lets kernels differ"

run diff --fold baseline.data hardened.data
sed -E 's/ ([0-9.]+) ([0-9.]+)$/ \2 \1/' out >turned
run diff --fold --reverse baseline.data hardened.data
cmp -s out turned && [ -s out ]
report_test $? "--fold --reverse has the sides the other way round"
prints diff.folded diff --fold baseline.data hardened.data
fails 1 "empty.data holds no samples" diff --fold baseline.data empty.data

finish
