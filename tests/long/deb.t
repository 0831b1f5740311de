#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Test make deb: two folders give the same bytes, lintian finds nothing, and the package can be installed on a clean Debian,
# works, and leaves nothing behind.

# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

for folder in one a/second; do
  git -c safe.directory='*' clone -q "$repo" "$folder"
  try make -C "$folder" deb
  report_test "$status" "make deb, in $folder"
done
ok 'the same package from two folders' cmp one/build/deb/kprotperf_*_amd64.deb a/second/build/deb/kprotperf_*_amd64.deb
# lintian may take machine code for a misspelt word: it found "Wth" (for "With"), which is in no string of kprotperf.
try lintian --allow-root --display-info --pedantic --tag-display-limit 0 --suppress-tags spelling-error-in-binary \
  one/build/deb/*.changes
[ "$status" -eq 0 ] && [ ! "$out" ]
report_test $? 'lintian has nothing to say'

"$build/tests/make_fixture" hardened hardened.data || bail 'no make_fixture: run make tests'
# mmdebstrap runs this script as a hook; $1 is the new system, which has package lists. The package's dependencies are removed
# with the package.
cat >clean <<'TEXT'
files() {
  (cd "$1" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./tmp -o -path ./var/cache -o -path ./var/log \
    -o -path ./var/lib/apt \) -prune -o -print | sort)
}
set -e
cp one/build/deb/kprotperf_*_amd64.deb "$1/tmp/kprotperf.deb"
cp hardened.data "$1/tmp/hardened.data"
files "$1" >before
chroot "$1" apt-get install -y -q --no-install-recommends /tmp/kprotperf.deb
chroot "$1" kprotperf --version >version
chroot "$1" ldconfig -p >libraries
chroot "$1" kprotperf report --html /tmp/hardened.data >page.html
LC_ALL=C chroot "$1" man kprotperf-fold >page
chroot "$1" kprotperf-lab --help >lab
chroot "$1" bash -c '. /usr/share/bash-completion/bash_completion
  _completion_loader kprotperf; complete -p kprotperf' >completion
chroot "$1" apt-get purge -y -q kprotperf
chroot "$1" apt-get autoremove --purge -y -q
files "$1" >after
TEXT
try mmdebstrap --format=null --variant=apt --include=man-db,bash-completion --customize-hook="bash $scratch/clean \"\$1\"" bookworm
if [ "$status" -ne 0 ] && [ ! -e before ]; then
  skip 'on a clean Debian 12' "none can be made here: $(tail -n 1 err)"
else
  report_test "$status" 'installed on a clean Debian 12, and purged'
  like 'it runs there' "$(<version)" '^kprotperf [0-9]'
  ok 'with the library that it loads only when it decodes' grep -q "libcapstone\.so\.$(sed -n 's/.*capstone \([0-9]*\).*/\1/p' version) " libraries
  like 'a page for a browser, without npm' "$(head -c 1000 page.html)" '^<!doctype html>'
  ok 'of the recording' grep -q '"allocate_slab"' page.html
  like 'man kprotperf-fold' "$(<page)" '--vmlinux=FILE'
  like 'the lab' "$(<lab)" 'kprotperf-lab run'
  is 'completion' "$(<completion)" 'complete -F _kprotperf kprotperf'
  ok 'after a purge nothing is left' diff before after
fi

done_testing
