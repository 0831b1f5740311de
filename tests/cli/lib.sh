# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # names from tap.sh
#
# Functions for tests of commands that read data files. Tests source this file. UPDATE=1 rewrites the expected outputs:
# check the difference before a commit.

# shellcheck source=SCRIPTDIR/../tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
make_fixture=$build/tests/make_fixture
if [ ! -x "$kprotperf" ] || [ ! -x "$make_fixture" ]; then
  bail "no $kprotperf or $make_fixture: run make all tests"
fi
tmp=$scratch
# A table's width must not depend on the terminal.
export COLUMNS=100 LC_ALL=C

# fixture NAME…: make the data file NAME.data with make_fixture (tests/unit/make_fixture.c)
fixture() {
  local name
  for name; do
    "$make_fixture" "$name" "$name.data" || exit 1
  done
}

# run ARG…: run kprotperf. Put its exit status into $status, and its output into the files out and err
run() {
  "$kprotperf" "$@" >out 2>err
  status=$?
}

# prints FILE ARG…: pass if kprotperf ARG… succeeds, prints the text of tests/cli/expected/FILE, and writes nothing to stderr
prints() {
  local expected=$repo/tests/cli/expected/$1
  shift
  run "$@"
  if [ "${UPDATE:-}" = 1 ]; then
    cp out "$expected"
  fi
  diff -u "$expected" out >difference
  local same=$?
  [ $same -eq 0 ] || cp difference out
  [ $status -eq 0 ] && [ $same -eq 0 ] && [ ! -s err ]
  report_test $? "$*"
}

# fails STATUS TEXT ARG…: pass if kprotperf ARG… exits with STATUS, prints nothing, and writes one line with TEXT to stderr
fails() {
  local expected=$1 text=$2
  shift 2
  run "$@"
  [ "$status" -eq "$expected" ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] &&
    grep -qF -- "$text" err
  report_test $? "$*: $text"
}

# usage TEXT ARG…: pass if kprotperf ARG… exits with status 2, prints nothing, and writes TEXT to stderr
usage() {
  local text=$1
  shift
  run "$@"
  [ "$status" -eq 2 ] && [ ! -s out ] && grep -qF -- "$text" err
  report_test $? "$*: $text"
}

# json NAME FILTER ARG…: pass if kprotperf ARG… prints JSON for which jq's FILTER is true. FILTER can use tests/json.jq
json() {
  local name=$1 filter=$2
  shift 2
  run "$@"
  [ "$status" -eq 0 ] && [ "$(query out "$filter" 2>>err)" = true ]
  report_test $? "$name"
}

# csv NAME FILTER ARG…: pass if kprotperf ARG… prints CSV for which FILTER is true. FILTER gets an array of objects, one per row
csv() {
  local name=$1 filter=$2
  shift 2
  run "$@"
  [ "$status" -eq 0 ] && [ "$(query out "csv | $filter" -R -s 2>>err)" = true ]
  report_test $? "$name"
}
