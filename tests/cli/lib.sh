# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For the tests of commands that read data files; to be sourced. BUILD names the folder of the build
# (default: build). UPDATE=1 rewrites the expected outputs: look at the difference before a commit.

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
top=$PWD
build=$(cd "${BUILD:-build}" && pwd) || exit 1
kprotperf=$build/kprotperf
make_fixture=$build/tests/make_fixture
if [ ! -x "$kprotperf" ] || [ ! -x "$make_fixture" ]; then
  echo "Bail out! no $kprotperf or $make_fixture: run make check"
  exit 1
fi
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
# What a table fills must not depend on who looks on.
export COLUMNS=100 LC_ALL=C
n=0
status=0

# report_test STATUS NAME: one line of TAP, and what the last run said where it failed
report_test() {
  n=$((n + 1))
  if [ "$1" -eq 0 ]; then
    echo "ok $n - $2"
  else
    echo "not ok $n - $2"
    echo "# status $status"
    sed 's/^/# /' "$tmp/err" "$tmp/out" 2>/dev/null | head -60
  fi
}

skip() {
  n=$((n + 1))
  echo "ok $n - $1 # SKIP $2"
}

finish() {
  echo "1..$n"
}

# fixture NAME…: data files of those names, as make_fixture.c builds them
fixture() {
  local name
  for name; do
    "$make_fixture" "$name" "$name.data" || exit 1
  done
}

# run ARG…: kprotperf's status in $status, its output in files out and err
run() {
  "$kprotperf" "$@" >"$tmp/out" 2>"$tmp/err"
  status=$?
}

# prints FILE ARG…: status 0, nothing on stderr, and on stdout what tests/cli/expected/FILE holds
prints() {
  local expected=$top/tests/cli/expected/$1
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

# json NAME PYTHON ARG…: the output of kprotperf ARG… is JSON d, of which PYTHON is true
json() {
  local name=$1 expression=$2
  shift 2
  run "$@"
  [ "$status" -eq 0 ] && python3 -c '
import json, sys
d = json.load(open("out"))
def rows(key, **want):
    return [r for r in d[key] if all(r[k] == v for k, v in want.items())]
def row(key, **want):
    found = rows(key, **want)
    assert len(found) == 1, (key, want, found)
    return found[0]
def mech(name):
    return {m["name"]: m for m in d["costs"]["mechanisms"]}[name]
assert eval("(" + sys.argv[1] + ")"), sys.argv[1]' "$expression" 2>>err
  report_test $? "$name"
}
