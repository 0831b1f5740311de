#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Test kprotperf fold with files of known content, and flamegraph.pl with the output of fold.

# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

fixture baseline hardened control-hardened hostile empty

prints hardened.folded fold hardened.data
# fold leaves out the samples of control runs.
prints hardened.folded fold control-hardened.data
prints hostile.folded fold hostile.data
fails 1 "record with --freq" fold empty.data
fails 1 "no-such.data" fold no-such.data
usage "expected one file" fold hardened.data baseline.data

cp hardened.data kprotperf.data
prints hardened.folded fold

# Debian's libdevel-nytprof-perl installs flamegraph.pl in a folder outside of PATH.
flamegraph=$(command -v flamegraph.pl || ls /usr/share/perl5/Devel/NYTProf/flamegraph.pl 2>/dev/null)
if [ -z "$flamegraph" ]; then
  skip "flame graphs" "missing: flamegraph.pl (libdevel-nytprof-perl)"
else
  drawn() { # TEXT NAME: pass if flamegraph.pl draws the file out, and the picture contains TEXT
    perl "$flamegraph" <out >flame.svg 2>err && [ ! -s err ] && grep -q "$1" flame.svg
    report_test $? "flamegraph.pl draws $2"
  }
  run fold hostile.data
  drawn '<title>shuffle_freelist_\[i\] (11 samples' it
  run diff --fold baseline.data hardened.data
  drawn 'extract_entropy_\[k\] (63 samples.*; +' 'the difference'
fi

"$make_fixture" many deep.data deep 500
run fold --svg deep.data
is 'a picture leaves out the narrowest of 45,807 frames' "$(($(wc -c <out) < 4000000)) $(grep -o '>[0-9]* narrower frames are left out<' out)" \
  '1 >35807 narrower frames are left out<'
said() { # print the texts above the frames of the flame graph in the file out
  sed '/^<g id="frames">/,$d' out | grep -o '>[^<>]\+</text>' | sed 's/^>//; s/<.*//' | paste -sd'|'
}
run fold --svg hardened.data
is 'it says whose it is, what a width is, and what a color' "$(said)" "build/workloads/big-fork --iterations=20|\
Linux 6.1.192-hardened; width: samples (75 in all)|syscall or other context|kernel (_[k] in folded stacks)|inlined (_[i])"
run diff --svg baseline.data hardened.data
is 'a differential one: likewise' "$(said)" "build/workloads/big-fork --iterations=20|Linux 6.1.192-hardened against 6.1.192-baseline; \
width: samples per run, of the side with more|no significant change|more on the hardened side|less"
is 'more is orange, less blue, and grey what chance explains' \
  "$(grep -E '"(extract_entropy|clear_page_orig|copy_process)"' out | grep -o 'fill="[^"]*"' | paste -sd' ')" 'fill="#5a9be1" fill="#f08c32" fill="#d8d8d8"'
usage '--svg cannot be combined with --fold' diff --svg --fold baseline.data hardened.data

done_testing
