#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Test kprotperf annotate with a program in place of a kernel. Its inlining is known, and its samples are generated.

# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2086 # options are words
build_kernel() {
  cc -O2 -ffreestanding -nostdlib -static -fno-pic -no-pie -fno-stack-protector -fcf-protection=none \
    -Wl,-Ttext=0x10000000 -Wl,--defsym=_stext=0x10000000 -Wl,--build-id=sha1 "-ffile-prefix-map=$repo/=" $2 -o "$1" \
    "$repo/tests/symbol/inlines.c"
}

if ! build_kernel kernel -g 2>err || ! build_kernel other '-g -O1' 2>>err; then
  skip 'annotate' 'missing: a compiler that can build a kernel'
  done_testing
  exit
fi
export KPROTPERF_CACHE=$tmp/cache
unset NO_COLOR
line() {
  grep -n "/\* $1 \*/" "$repo/tests/symbol/inlines.c" | cut -d: -f1
}
# address NAME: print the offset of NAME from _stext, in hexadecimal
address() {
  printf '%x' $((0x$(nm kernel | awk -v name="$1" '$3 == name { print $1 }') - 0x10000000))
}
id=$(readelf -n kernel | awk '/Build ID/ { print $3 }')
innermost=$(address mark_innermost) own=$(address mark_outer) middle=$(address mark_middle)
start=$(address _start)

# made FILE WORD…: make a recording of the program with make_fixture, which explains the WORDs
made() {
  "$make_fixture" words "$1" "record.vmlinux=$tmp/kernel" "kernel.build_id=$id" "${@:2}" || exit 1
}
made a.data "sample read 60 $innermost $start" "sample read 30 $middle $start" \
  "sample write 10 $own $start" "sample read 100 $start"
made timed.data "sample read 60 $innermost" "sample read 40 $own" 'calls outer read 10 500'
outer=$(address outer)
made counted.data "sample read 60 $innermost" "blocks outer read $outer $innermost 10 30"
made more.data "blocks outer read $outer $innermost 10 70"
made none.data "sample read 5 $start"
made empty.data

# page NAME REGEX ARG…: pass if annotate ARG… succeeds, writes nothing to stderr, and prints a line that matches REGEX
page() {
  local name=$1 regex=$2
  shift 2
  run annotate "$@"
  [ $status -eq 0 ] && [ ! -s err ] && grep -qE -- "$regex" out
  report_test $? "$name"
}

page 'the headline names the body with most of the time' \
  '^90\.0 % of its samples in middle \(tests/symbol/inlines\.c:[0-9]+-[0-9]+\): ~90,000 instructions per run' a.data outer
page 'what the samples are of' '^Samples: 100, of 200 in the kernel: 100 in its own code' a.data outer
page 'whose code it is' "^The code is from $tmp/kernel, without the running kernel's patches" a.data outer
page 'a body has what is inlined into it' \
  "^ 0\.90 +~90,000 +90 +0 +middle .*tests/symbol/inlines\.c:$(line 'middle in outer')$" a.data outer
page 'where a body begins' "> middle, called at tests/symbol/inlines\.c:$(line 'middle in outer')$" a.data outer
grep -qE "^ +\| > innermost, called at tests/symbol/inlines\.c:$(line 'innermost in middle')$" out
report_test $? 'and one within it'
grep -qE "^  60\.0 % +60 +\+0x[0-9a-f]+  \| \|   nop$" out
report_test $? 'an instruction, its samples, the bodies that it is in'
grep -qE "^ +\| \| tests/symbol/inlines\.c:$(line 'in innermost')$" out
report_test $? 'its line'
grep -q '^No source tree found' out
report_test $? 'that there is no source'
page 'source text from --source' \
  "tests/symbol/inlines\.c:$(line 'in innermost')  MARK\(mark_innermost\); /\* in innermost \*/$" \
  "--source=$repo" a.data outer
page 'only what has samples, and what is around' '^ +\.\.\.$' --around=0 a.data outer
[ "$(grep -c '^  *[0-9.]* %' out)" -eq 3 ] && [ "$(grep -cE '^ .* \+0x[0-9a-f]+  ' out)" -eq 3 ]
report_test $? 'three instructions'
page '--all' '\+0x0  +[a-z]' --all a.data outer
! grep -q '^ *\.\.\.$' out
report_test $? 'and nothing left out'
page '--context' '^outer in write: ' --context=write a.data outer
grep -q '^Samples: 10, of 10 in the kernel' out
report_test $? 'and its samples alone'
page "a function that was timed: a call's time" '^10 calls timed, 500 instructions on-CPU per call' timed.data outer
grep -qE '^60\.0 % of the time of 10 calls in innermost .*: ~300 instructions per' out
report_test $? 'and what of it a body takes'
page 'a function that is only inlined' '^innermost, inlined into middle < outer, called at ' a.data innermost
page 'in one function' '^Samples: 60,' a.data innermost@outer
grep -qE '^These are few: a share of 0\.5 may be anything from 0\.3[0-9] to 0\.6[0-9]' out
report_test $? 'how little 60 samples say'
page "Intel's syntax" '(mov|add|lea) [er][a-z0-9]+, ' --intel --all a.data outer

page 'data is named' '\(%rip\).*  # sink$' --all a.data outer

run annotate a.data outer
! grep -q $'\033' out
report_test $? 'no colour where there is no terminal'
run annotate --color=always a.data outer
grep -q $'\033\[1;31m' out
report_test $? '--color=always'
if command -v script >/dev/null; then
  tty() { # COMMAND: run COMMAND on a terminal, and put its output into the file out
    TERM=xterm script -qec "$1" /dev/null </dev/null >out 2>err
  }
  tty "$kprotperf annotate a.data outer"
  grep -q $'\033\[1;31m' out
  report_test $? 'colour on a terminal'
  NO_COLOR=1 tty "$kprotperf annotate a.data outer"
  ! grep -q $'\033' out
  report_test $? 'none with NO_COLOR'
  PAGER='touch ran' tty "$kprotperf annotate a.data outer"
  [ ! -e ran ] && grep -q 'outer in all contexts' out
  report_test $? 'no pager is started'
else
  for name in 'colour on a terminal' 'none with NO_COLOR' 'no pager is started'; do
    skip "$name" 'missing: script (bsdutils)'
  done
fi

# In counted.data, each call executes the nop in innermost 3 times, and the code before the nop once.
page 'what a call executes, by counting' '^Executed: [0-9.]+ instructions per call, counted by block, excluding callees; the counts of [0-9]+ of its' \
  counted.data outer
grep -qE '^ +3 +1\.00 +~60,000 +60 +0 +tests/symbol/inlines\.c:[0-9]+ +innermost < middle' out
report_test $? 'the executions of a line'
grep -qE '^ 100\.0 % +60 +3 +\+0x[0-9a-f]+  \| \|   nop$' out && grep -qE '^ +1 +\+0x0  ' out
report_test $? 'and of instructions'
page 'without a sample too' '^Samples: none ' more.data outer
grep -qE '^ +7 +0 +0 +tests/symbol/inlines\.c:[0-9]+ +innermost < middle' out && grep -qE '^ +7 +\+0x[0-9a-f]+  ' out
report_test $? 'with lines by their executions'
run diff --annotate outer counted.data more.data
grep -qE '^ +~60,000 +1\.00 +60 +3 +0 +7 +innermost < middle +..ts/symbol/inlines\.c:[0-9]+$' out
report_test $? 'diff --annotate has what was executed on both sides'
COLUMNS=80 run diff --annotate outer counted.data more.data
[ $status -eq 0 ] && [ "$(wc -L <out)" -le 80 ]
report_test $? 'in 80 columns'
json 'and in JSON' 'first(.lines[] | select(.baseline.per_call == 3)) | .body == "innermost < middle" and
  (.hardened | .per_call == 7 and .samples == 0 and has("cost") and .cost == null)' \
  diff --annotate=outer --format=json counted.data more.data

json 'JSON: what it is' '
  .schema == "kprotperf-annotate/1" and .function == "outer" and .context == "*" and .build_id == "'"$id"'" and
  .code == "file" and has("calls") and .calls == null and .cost_of == "run" and
  .samples == {function: 100, self: 100, callees: 0, late: 0, at_return: 0, unplaced: 0, astray: 0, kernel: 200}' \
  annotate --format=json a.data outer
json 'JSON: instructions, lines and places add up' '
  all(.instructions, .lines, .places; map(.self + .callees) | add == 100) and
  all([.instructions[:-1], .instructions[1:]] | transpose[]; .[0].addr + .[0].length <= .[1].addr)' \
  annotate --format=json a.data outer
json 'JSON: an instruction' '
  row("instructions"; {addr: '$((0x$innermost))'}) | .self == 60 and .body == "innermost < middle" and
    .text == "nop" and .symbol == "outer" and .line == '"$(line 'in innermost')"' and .share == 0.6 and
    .share_low < 0.6 and 0.6 < .share_high and .cost == 60000 and has("executions") and .executions == null and
    .offset == '$((0x$innermost - 0x$outer))' and .address == "'"$(printf '+0x%x' $((0x$innermost - 0x$outer)))"'"' \
  annotate --format=json a.data outer
json 'JSON: a body' 'row("bodies"; {body: "innermost"}) | .chain == "middle" and .depth == 2 and
  .measured == "estimated" and .function == "outer" and has("exact") and .exact == null' \
  annotate --format=json a.data outer
csv 'CSV of lines' '(map(.self | tonumber) | add) == 100 and
  (map(.body) | unique) == ["", "innermost < middle", "middle"]' annotate --format=csv --section=lines a.data outer
run annotate --format=csv a.data outer
head -1 out | grep -q '^function,symbol,offset,addr,length,address,text,body,file,line,share,'
report_test $? 'CSV of instructions'

fails 1 'no function nowhere in this kernel, inlined or not; kprotperf list' annotate a.data nowhere
fails 1 'nothing is inlined, but has no instructions left' annotate a.data nothing
fails 1 'innermost is not inlined into caller' annotate a.data innermost@caller
fails 1 'no samples in outer or its callees: record with a higher --freq' annotate none.data outer
fails 1 'no samples of outer in write; it has samples in read (100)' annotate --context=write timed.data outer
fails 1 'contains no samples' annotate empty.data outer
fails 1 'is of a different build' annotate --vmlinux=other a.data outer
fails 1 'cannot read the directory /no-such' annotate --source=/no-such a.data outer
fails 1 'no-such.data' annotate no-such.data outer

made b.data "sample read 30 $innermost $start" "sample read 30 $own" 'calls outer read 10 900'
made exact-a.data record.engine=exact "sample read 60 $innermost" 'calls outer read 10 6'
made exact-b.data record.engine=exact "sample read 40 $innermost" 'calls outer read 10 4'
run diff --annotate outer exact-a.data exact-b.data
grep -qx 'innermost < middle: -2 instructions per call.' out && ! grep -q '[~%]' out
report_test $? 'diff --annotate of exact recordings shows counts, not estimates'
run diff --annotate outer exact-a.data exact-a.data
grep -qx 'No line or body costs more or less.' out
report_test $? 'and no change where there is none'
run diff --annotate outer timed.data b.data
[ $status -eq 0 ] && [ ! -s err ] && grep -q '^outer in all contexts, .*; costs are per call' out &&
  grep -qE '^ +~300 +0\.60 +60 +~450 +0\.50 +30 +~\+150 .* innermost < middle$' out
report_test $? 'diff --annotate: a body on both sides'
grep -qE "^ +~200 +40 +~450 +30 +~\+250 +- +tests/symbol/inlines\.c:[0-9]+$" out
report_test $? 'and a line'
grep -qE '^tests/symbol/inlines\.c:[0-9]+: ~\+250 instructions per call, between \+[0-9]+ and \+[0-9]+ ' out
report_test $? 'the headline has what changed most'
json 'diff --annotate as JSON' '
  .schema == "kprotperf-annotate-diff/1" and .cost_of == "call" and .baseline.mean == 500 and
  .hardened.mean == 900 and .baseline.samples == 100 and
  (rows("lines"; {body: "innermost < middle"}) | map(.delta) | add) == 150 and ([.lines[].delta] | add) == 400 and
  (row("bodies"; {body: "middle"}) | .delta_low < 150 and 150 < .delta_high)' \
  diff --annotate=outer --format=json timed.data b.data
run diff --annotate outer --format=csv timed.data b.data
head -1 out | grep -q '^baseline_cost,.*hardened_cost,.*delta,delta_low,delta_high,body,file,source$'
report_test $? 'diff --annotate as CSV'
fails 1 'no function nowhere in this kernel' diff --annotate nowhere timed.data b.data
fails 1 'no samples in split' diff --annotate split timed.data b.data
usage 'need --annotate' diff --context=read timed.data b.data
usage '--annotate cannot be combined with' diff --annotate=outer --fold timed.data b.data
usage '--annotate cannot be combined with' diff --annotate=outer --map=a=b timed.data b.data
fails 1 'other is of a different build' diff --annotate=outer --hardened-vmlinux=other timed.data b.data

mv kernel moved
fails 1 'specify one with --hardened-vmlinux' diff --annotate outer --baseline-vmlinux=moved timed.data b.data
fails 1 'no vmlinux found for its kernel 6.1.192-made-up: specify one with --vmlinux' annotate a.data outer
page '--vmlinux' '^90\.0 % of its samples in middle' --vmlinux=moved a.data outer
usage 'FILE and FUNC are required' annotate a.data
usage 'expected one FILE and one FUNC' annotate a.data outer middle
usage '--color is auto, always or never' annotate --color=red a.data outer
usage '--section needs' annotate --section=lines a.data outer

done_testing
