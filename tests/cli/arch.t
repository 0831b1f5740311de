#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make and kprotperf refuse architectures other than x86-64 with a message of one line.

# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

make -s -C "$repo" MACHINE=aarch64 all >out 2>err
status=$?
[ $status -ne 0 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] &&
  grep -q 'kprotperf supports x86-64 kernels only, not aarch64\.  Stop\.$' err
report_test $? 'make refuses another architecture before it compiles anything'

setarch i686 "$kprotperf" list >out 2>err
status=$?
[ $status -eq 1 ] && [ ! -s out ] &&
  [ "$(cat err)" = 'kprotperf: only x86_64 kernels are supported; this one is i686' ]
report_test $? 'so does the program where the kernel says that it is another'

done_testing
