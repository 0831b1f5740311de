#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Test kprotperf changes with two programs in place of kernels. tests/unit/analyze_changes_test.c tests which functions differ.

# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# build_kernel NAME OPTION…: build a program. It defines _stext, because kprotperf counts addresses from there
build_kernel() {
  cc -g -O2 -ffreestanding -nostdlib -static -fno-pic -no-pie -fno-stack-protector -fcf-protection=none \
    -Wl,-Ttext=0x10000000 -Wl,--defsym=_stext=0x10000000 -Wl,--build-id=sha1 "${@:2}" -o "$1" \
    "$repo/tests/symbol/changes.c"
}

# says TEXT ARG…: pass if kprotperf ARG… succeeds, and its first line is TEXT
says() {
  local text=$1
  shift
  run "$@"
  [ $status -eq 0 ] && [ "$(head -1 out)" = "$text" ]
  report_test $? "$*: $text"
}

export KPROTPERF_CACHE=$tmp/cache
if ! build_kernel baseline 2>err || ! build_kernel hardened -DCONSTANT -DADDED -DCONDITION 2>>err; then
  skip 'changes of two kernels' 'missing: a compiler that can build a kernel'
  done_testing
  exit
fi
says '2 functions differ, 1 is new; 7 are the same.' changes baseline hardened
[ "$(awk '/^(new|differs) / { print $1, $2 }' out | sort | tr '\n' ' ')" = 'differs constant differs loop new added ' ]
report_test $? 'a row for each, and no other'
says '2 functions differ, 1 is gone; 7 are the same.' changes hardened baseline
run changes --format=json baseline hardened
jq -e '.schema == "kprotperf-changes/1" and .same == 7 and (.functions | length) == 3 and
  (.functions[] | select(.function == "constant") | .change == "differs" and .added == 1 and .removed == 1 and
    .baseline_function == null and .init == false and (.file | endswith("changes.c"))) and
  .baseline.build_id != .hardened.build_id and .structs == []' out >/dev/null
report_test $? 'as JSON'
run changes --format=csv baseline hardened
[ "$(head -1 out)" = change,function,baseline_function,added,removed,baseline_insns,hardened_insns,callers,init,file,baseline_file,inlined ] &&
  [ "$(wc -l <out)" -eq 4 ]
report_test $? 'as CSV'
says 'No structure is known to have a different layout.' changes --section=structs baseline hardened
build_kernel switched -DSHIFTED -DVALUE 2>>err
says 'No function differs; 9 are the same.' changes baseline switched
run changes --format=csv --section=variables baseline switched
[ "$(cat out)" = 'variable,bytes,words,offset,baseline,hardened
counter,4,1,0,0x0,0x5
pointer,8,1,0,table,table+0x8' ]
report_test $? 'variables that begin with other values, wherever they lie' "$(cat out)"
run changes baseline baseline
[ $status -eq 0 ] && tr '\n' ' ' <out | grep -q '^Both are the same kernel, by build-id, so their code does not differ; which static keys were on is unknown'
report_test $? 'one kernel twice: that is said'

usage '--format=html is for recordings' changes --format=html baseline hardened
usage "unrecognized option '--raw'" changes --raw baseline hardened

fixture troubled
fails 1 'no vmlinux found for its kernel: pass the vmlinux instead' changes troubled.data hardened
fails 1 'nosuch' changes baseline nosuch
strip -s -o stripped baseline
fails 1 'has no symbol table' changes stripped hardened
usage 'each a vmlinux or a recording' changes baseline
done_testing
