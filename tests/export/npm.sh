# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # names from tap.sh
#
# Functions for tests that need programs and npm packages. Tests source this file after cli/lib.sh. $npm is the folder of the
# packages.

here=$repo/tests/export
npm=$build/npm

# has PROGRAM: succeed if PROGRAM is installed. Otherwise skip the test "opened by PROGRAM".
has() {
  command -v "$1" >/dev/null && return
  skip "opened by $1" "missing: $1 (scripts/setup --for=export)"
  false
}

# fetched NAME: fetch the packages that package-lock.json lists, unless they are there. If this fails, skip the test NAME. npm
# ci verifies the packages by this file.
fetched() {
  has npm || return
  mkdir -p "$npm"
  (
    flock 9
    cmp -s "$here/package-lock.json" "$npm/fetched" && exit
    cp "$here"/package*.json "$npm"
    cd "$npm" && npm ci --ignore-scripts --no-audit --no-fund && cp package-lock.json fetched
  ) >npm.log 2>&1 9>"$npm/lock" && return
  skip "$1" "missing: their npm packages: $(tail -n 1 npm.log 2>/dev/null)"
  false
}
