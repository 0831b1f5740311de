# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # names from tap.sh
#
# For the tests of commands that read data files; to be sourced. UPDATE=1 rewrites the expected outputs: look at the
# difference before a commit.

# shellcheck source=SCRIPTDIR/../tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
make_fixture=$build/tests/make_fixture
if [ ! -x "$kprotperf" ] || [ ! -x "$make_fixture" ]; then
  bail "no $kprotperf or $make_fixture: run make all tests"
fi
tmp=$scratch
# A table's width must not depend on the terminal.
export COLUMNS=100 LC_ALL=C

# fixture NAME…: data files of those names, as make_fixture.c builds them
fixture() {
  local name
  for name; do
    "$make_fixture" "$name" "$name.data" || exit 1
  done
}

# run ARG…: kprotperf's status in $status, its output in files out and err
run() {
  "$kprotperf" "$@" >out 2>err
  status=$?
}

# prints FILE ARG…: status 0, nothing on stderr, and on stdout what tests/cli/expected/FILE holds
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

# fails STATUS TEXT ARG…: that status, nothing on stdout, on stderr one line with TEXT
fails() {
  local expected=$1 text=$2
  shift 2
  run "$@"
  [ "$status" -eq "$expected" ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] &&
    grep -qF -- "$text" err
  report_test $? "$*: $text"
}

# usage TEXT ARG…: status 2 and TEXT on stderr
usage() {
  local text=$1
  shift
  run "$@"
  [ "$status" -eq 2 ] && [ ! -s out ] && grep -qF -- "$text" err
  report_test $? "$*: $text"
}

# json NAME FILTER ARG…: what kprotperf ARG… prints is JSON of which jq's FILTER, with tests/json.jq, is true
json() {
  local name=$1 filter=$2
  shift 2
  run "$@"
  [ "$status" -eq 0 ] && [ "$(query out "$filter" 2>>err)" = true ]
  report_test $? "$name"
}

# csv NAME FILTER ARG…: the same of CSV, whose rows are objects
csv() {
  local name=$1 filter=$2
  shift 2
  run "$@"
  [ "$status" -eq 0 ] && [ "$(query out "csv | $filter" -R -s 2>>err)" = true ]
  report_test $? "$name"
}
