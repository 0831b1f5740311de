#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Test the two examples of docs/ARCHITECTURE.md, which add a table and a format: the patches apply, compile, and are complete.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

fixture baseline
mkdir tree
# Copy the build's object files, so that make compiles only the files that the examples change.
cp -a "$repo"/{Makefile,src,bpf,include,vmlinux,emulator,workloads} tree/
# The build folder keeps its name, because the lists of headers (*.d) contain it.
name=$(basename "$build")
mkdir "tree/$name"
cp -a "$build"/{obj,bpf,libkprotperf.a,page.*,*.skel.h,*.bpf.o,.pkgs} "tree/$name/"

sed -n '/^    --- /,/^[^ ]/s/^    //p' "$repo/docs/ARCHITECTURE.md" >examples.patch
ok 'the examples apply' patch --silent -d tree -p1 -i "$PWD/examples.patch"
ok 'they compile' make -s -C tree BUILD="$name" "$name/kprotperf"
kprotperf=tree/$name/kprotperf
run report --section=probes baseline.data
like 'the new table is printed' "$(<out)" '^FUNCTION +PROBED BY +RETURNS MISSED$'
run report --format=json baseline.data
is 'JSON has the table' "$(jq -r '.probes[0] | keys_unsorted | join(" ")' out)" 'function mechanism missed'
run report --format=markdown --section=probes baseline.data
is 'in the new format too' "$(head -n 2 out)" "| function | mechanism | missed |
|---|---|---|"
usage 'markdown' report --format=none baseline.data
done_testing
