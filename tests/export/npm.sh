# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # names from tap.sh
#
# Makes $npm the folder of the packages that these tests need. To be sourced behind cli/lib.sh.

here=$repo/tests/export
npm=$build/npm

# has THING: the program is there; else the test named so is skipped.
has() {
  command -v "$1" >/dev/null && return
  skip "opened by $1" "missing: $1 (scripts/setup --for=export)"
  false
}

# fetched NAME: what package-lock.json lists is there; else the test NAME is skipped. npm ci verifies what it fetches by that file.
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
