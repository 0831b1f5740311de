#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Test the pages of report --html and diff --html in a browser.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
# shellcheck source=tests/export/npm.sh
. "$repo/tests/export/npm.sh"

fixture baseline hardened hostile exact empty captured captured-unseeded captured-hostile
"$make_fixture" many extreme.data extremes 40
"$make_fixture" many deep.data deep 500

# page NAME ARG…: write the page of kprotperf ARG… to NAME.html, and pass if nothing goes to stderr.
page() {
  local name=$1
  shift
  run "$@"
  mv out "$name.html"
  [ "$status" -eq 0 ] && [ -s "$name.html" ] && [ ! -s err ]
  report_test $? "$*"
}
page report report --html hardened.data
page diff diff --html baseline.data hardened.data
page hostile report --format=html hostile.data
page exact report --html exact.data
page captured report --html captured.data
page captured-diff diff --html captured.data captured-unseeded.data
page captured-hostile report --html captured-hostile.data
page empty report --html empty.data
page extreme report --html extreme.data
page extreme-diff diff --html captured.data extreme.data
page deep report --html deep.data
is 'pages stay small' "$(find . -name '*.html' -size +5000k)" ''
is 'nothing of a recording is markup' "$(grep -c '<script' hostile.html)" "$(grep -c '<script' empty.html)"
is 'a page has all tables, unless it is asked for some' \
  "$("$kprotperf" report --html --section=syscalls hardened.data | grep -o '"name":"syscalls"\|"name":"functions"' | sort -u)" '"name":"syscalls"'
usage '--format=html has no section calls' report --html --section=calls hardened.data

mkdir -p bin && for tool in bash dirname readlink; do ln -s "$(command -v $tool)" bin; done
try env PATH="$PWD/bin" "$repo/scripts/page" "$PWD/made" "$PWD/page.html"
like 'without npm the build says what is left out' "$status:$err" '^0:make: npm is not installed \(.*\); --format=html is left out'
is 'the page is empty' "$(stat -c %s page.html)" 0

# seen FILE KEY: print what page.mjs found for KEY in FILE.html.
seen() {
  sed -n "s/^$1\.html $2: //p" seen.txt
}
pages=(report diff hostile exact empty captured captured-diff captured-hostile extreme extreme-diff deep)
if fetched 'opened by Chromium' && has chromium; then
  # The timeout is for a browser that hangs. With a load of 15, three pages took 300 s.
  timeout 1800 node "$here/page.mjs" "$npm" "${pages[@]/%/.html}" >seen.txt 2>node.log
  report_test $? 'Chromium opens them' "$(<node.log)"
  for name in "${pages[@]}"; do
    is "$name: no error, and nothing from elsewhere" "$(seen "$name" wrong)" nothing
    is "$name: all tables are there" "$(seen "$name" missing)" nothing
    is "$name: axe finds nothing" "$(seen "$name" 'axe light'), $(seen "$name" 'axe dark')" 'nothing, nothing'
  done
  run diff baseline.data hardened.data
  is 'the answer is that of the page of text' "$(seen diff answer | sed 's/ | / /g')" "$(sed '/^$/,$d' out | paste -sd' ' | tr -s ' ')"
  is 'the answer is the title' "$(seen diff title)" "$(seen diff answer | sed 's/ | .*//') · kprotperf diff"
  is 'an empty recording has its losses' "$(seen empty sections)" 'Losses and accounting | Accounting'
  for how in 'a click' Enter; do
    is "flame graph: $how makes a frame as wide as all" "$(seen diff "widest after $how")" \
      'all clone kernel_clone allocate_slab shuffle_freelist (inlined)'
  done
  is 'flame graph: and back' "$(seen diff 'widest after Reset zoom')" all
  is 'flame graph: what was searched for' "$(seen diff found)" 1
  is 'the tree can be folded by keyboard' "$(seen diff 'rows of the tree, and folded'), $(seen diff 'unfolded as before')" 'true 1, true'
  is 'a header sorts' "$(seen hostile 'first function'), $(seen hostile sorted): $(seen hostile 'first function by name')" \
    'vm_area_dup, ascending: allocate_slab'
  is 'a name leads to its distribution' "$(seen hostile 'distribution of')" allocate_slab
  is 'of both sides' "$(seen diff curves) $(seen diff 'an empty curve')" '2 false'
fi
done_testing
