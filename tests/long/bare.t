#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run the two commands of the README, make demo and make check, on a Debian with nothing installed. During make demo npm cannot
# be installed. make check runs only the test of pages, which make demo had to leave out.

# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

git -c safe.directory='*' clone -q "$repo" clone
# mmdebstrap runs this script as a hook; $1 is the new system. The new system uses this machine's lab kernels. These are mounted
# in a private namespace only, so that removing the system does not remove them.
cat >bare <<'TEXT'
set -e
cp -r clone "$1/clone"
mkdir "$1/kernels"
printf 'Package: npm nodejs\nPin: release *\nPin-Priority: -1\n' >"$1/etc/apt/preferences.d/none"
kernels=$2
# The new system reaches npm's registry as this machine does: with the same settings and the same local certificates, which the
# package ca-certificates adds.
[ ! -e ~/.npmrc ] || cp ~/.npmrc "$1/root/"
mkdir -p "$1/usr/local/share"
cp -r /usr/local/share/ca-certificates "$1/usr/local/share/"
run() {
  unshare --mount sh -c 'mount --rbind "$2" "$2" && mount --bind "$1" "$2/kernels" && shift && exec chroot "$@"' - "$kernels" "$1" \
    env HOME=/root KPROTPERF_LAB=/kernels NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt make -C /clone "${@:2}" && echo ended
}
run "$1" demo >demo.out 2>demo.err
cp -r "$1/clone/demo" demo
rm "$1/etc/apt/preferences.d/none"
run "$1" check TAP_LAB=tests/export/page.t TAP_UNIT= TAP_SHELL= >check.out 2>&1
run "$1" demo >again.out 2>again.err
cp -r "$1/clone/demo" again
TEXT
try mmdebstrap --format=null --variant=minbase --include=make,git --dpkgopt=force-unsafe-io --customize-hook="bash $scratch/bare \"\$1\" \
  '${KPROTPERF_LAB:-$HOME/.cache/kprotperf/lab}'" bookworm
if [ "$status" -ne 0 ] && [ ! -e demo.out ]; then
  skip 'on a bare Debian 12' "none can be made here: $(tail -n 1 err)"
else
  is 'make demo, without npm' "$(tail -n 1 demo.out)" ended
  is 'says in one line why there are no pages' "$(grep -c '^demo: no pages: .*npm' demo.err)" 1
  is 'no page is left' "$(find demo -name '*.html')" ''
  is 'make check, with npm' "$(tail -n 1 check.out)" ended
  like 'its page is there' "$(<check.out)" 'tests/export/page.t \.+ ok'
  is 'make demo has pages now' "$(find again -name '*.html' -size +100k | sort | paste -sd ' ')" \
    'again/diff.html again/init_on_alloc/diff.html again/unseeded/diff.html'
fi

done_testing
