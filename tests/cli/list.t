#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Test kprotperf list and kprotperf index with a program in place of another kernel. Its inlining is known.

# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# Test the catalogue of protections. Only the states and their evidence depend on the running kernel.
run list --protections
[ $status -eq 0 ] && grep -qE '^PROTECTION +STATE +RUNS +.*EVIDENCE$' out &&
  [ "$(awk 'NR > 1 { print $1 }' out)" = "$("$kprotperf" list --protections --format=json | jq -r '.protections[].name')" ] &&
  ! awk 'NR > 1' out | grep -vE '^[a-z0-9_]+ +(on|off|built in|unknown) +(build|boot only|run time, (seldom|often)) +[^ ]'
report_test $? 'list --protections: a row, a state and its evidence for each'
run list --protections --format=csv
[ $status -eq 0 ] && [ "$(head -1 out)" = name,state,runs,origin,position,in_syscall,by,how,title ]
report_test $? 'as CSV'
run list stackleak
[ $status -eq 0 ] && for line in 'against .*previous stack contents' 'kind .*compiler-inserted, data; ' 'switched by .*full rebuild' \
  'options .*CONFIG_GCC_PLUGIN_STACKLEAK: off n, on y' 'file .*/proc/sys/kernel/stack_erasing' \
  'functions .*stackleak_erase' 'workloads .*getpid' 'runs in syscalls .*partly' 'in instruction counts .*yes'; do
  grep -qE "^  $line" out || break
done
report_test $? 'list NAME explains one'
fails 1 "unknown protection 'nosuch'; see kprotperf list --protections" list --protections nosuch
fails 1 "; did you mean 'init_on_alloc'?" list --protections init_on_aloc
fails 2 "unknown command 'lits'; see kprotperf --help; did you mean 'list'?" lits

# build_kernel OPTION…: build a program. It defines _stext, because kprotperf counts addresses from there.
build_kernel() {
  cc -O2 -ffreestanding -nostdlib -static -fno-pic -no-pie -fno-stack-protector -fcf-protection=none \
    -Wl,-Ttext=0x10000000 -Wl,--defsym=_stext=0x10000000 -Wl,--build-id=sha1 "$@" \
    "$repo/tests/symbol/inlines.c"
}

# lists NAME REGEX ARG…: pass if `kprotperf list --vmlinux=kernel ARG…` succeeds, and prints a line that matches REGEX
lists() {
  local name=$1 regex=$2
  shift 2
  run list --vmlinux=kernel "$@"
  [ $status -eq 0 ] && grep -qE -- "$regex" out
  report_test $? "$name"
}

if ! build_kernel -g -o kernel 2>err || ! build_kernel -g0 -o plain 2>>err; then
  skip 'list of another kernel' 'missing: a compiler that can build a kernel'
  done_testing
  exit
fi
export KPROTPERF_CACHE=$tmp/cache
id=$(readelf -n kernel | awk '/Build ID/ { print $3 }')
line() {
  grep -n "/\* $1 \*/" "$repo/tests/symbol/inlines.c" | cut -d: -f1
}

lists 'an inlined body: into what, by way of what, called where' \
  "^innermost +outer +middle +.*inlines\.c:$(line 'innermost in middle') .*\+0x[0-9a-f]+-0x[0-9a-f]+" innermost
grep -q 'not the running kernel' err
report_test $? 'and that how it would be measured is not known'
[ -s "cache/index/$id" ]
report_test $? 'the index is kept under the build-id'
lists 'a body with a .cold part' '^body +split .*split\.cold\+0x[0-9a-f]+-0x' body
lists 'a function, and where it is declared' "^outer +.*inlines\.c:$(line outer)( |$)" outer
lists 'a glob: functions and inlined ones' '^middle' '[mo][iu][dt]*'
grep -q '^outer ' out
report_test $? 'both'
lists 'no GLOB: functions only' '^outer '
[ "$(grep -c '^twice' out)" -eq 0 ] && grep -q 'inlined bodies' err
report_test $? 'and a word on the others'
run list --vmlinux=kernel nothing
[ $status -eq 0 ] && [ ! -s out ] && grep -q "'nothing' is inlined, but has no instructions left" err
report_test $? 'a body without instructions is said to be one'
run list --vmlinux=kernel nowhere
[ $status -eq 1 ] && [ ! -s out ] && grep -q "no function matches 'nowhere', inlined or not" err
report_test $? 'nothing that matches'
usage '--format is table, json, csv or html' list --format=xml outer
usage 'expected one GLOB' list outer middle

json 'JSON of an inlined body' '
  .schema == "kprotperf-list/1" and .build_id == "'"$id"'" and .functions == [] and
  (row("inlined"; {name: "innermost"}) | .function == "outer" and .chain == "middle" and
    .called.line == '"$(line 'innermost in middle')"' and (.called.file | endswith("inlines.c")) and
    all(.ranges[]; .[0] < .[1]) and (.ranges | map(.[1] - .[0]) | add) == .bytes and
    .entry >= .symbol_addr and has("how") and .how == null)' \
  list --vmlinux=kernel --format=json innermost
json 'JSON: one object for each place' '(rows("inlined"; {name: "twice"}) | length) == 2 and
  ([.inlined[].called.line] | sort) == ['"$(line 'twice, first'), $(line 'twice, second')"']' \
  list --vmlinux=kernel --format=json twice
csv 'CSV: functions and inlined bodies in one table' '
  map([.kind, .name]) | has_all([["inlined", "middle"], ["function", "split"]])' list --vmlinux=kernel --format=csv '*i*'

run index kernel
[ $status -eq 0 ] && [ "$(cat out)" = "$KPROTPERF_CACHE/index/$id" ] && [ ! -s err ]
report_test $? 'index says where it is'
run index --beside kernel
[ $status -eq 0 ] && [ "$(cat out)" = kernel.kprotperf-index ] && cmp -s "$(cat out)" "cache/index/$id"
report_test $? 'index --beside puts it beside the vmlinux'
fails 1 'has no DWARF' index plain
fails 1 'no-such: No such file' index no-such
usage 'no VMLINUX specified' index

rm -r cache
lists 'the index beside is used' '^innermost +outer' innermost
[ ! -e cache ]
report_test $? 'and none is made in the cache'
printf 'X' | dd of=kernel.kprotperf-index bs=1 seek=2000 conv=notrunc 2>/dev/null
lists 'a damaged index costs a warning' '^innermost +outer' innermost
grep -q 'kernel.kprotperf-index is damaged and not used' err && [ -s "cache/index/$id" ]
report_test $? 'which names it, and another is made'
run index --beside kernel
cmp -s kernel.kprotperf-index "cache/index/$id"
report_test $? 'index makes it anew'
rm -r kernel.kprotperf-index cache
KPROTPERF_CACHE=/proc/none lists 'no cache that can be written: no matter' '^innermost +outer' innermost
fails 1 'plain has no DWARF' list --vmlinux=plain outer

done_testing
