#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A data file cannot make kprotperf open other files, wait, or write escape sequences to the terminal.

# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

# at_once ARG...: run kprotperf, and stop it if it waits for something
at_once() {
  timeout 120 "$kprotperf" "$@" >out 2>err
  status=$?
}

mkfifo pipe
at_once report pipe
[ "$status" -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'cannot open pipe: not a regular file' err
report_test $? 'a pipe that nobody writes to'
at_once changes pipe pipe
is 'changes, too' "$status:$(wc -l <err)" 1:1
echo for somebody else >pipe &
writer=$!
sleep 0.2
at_once report pipe
kill -0 $writer
report_test $? 'a pipe that is for somebody else is not opened'
kill $writer
at_once report /dev/zero
[ "$status" -eq 1 ] && grep -q 'cannot open /dev/zero: not a regular file' err
report_test $? 'a device'

id=00112233445566778899aabbccddeeff00112233
for named in "$tmp/pipe" /dev/zero /dev/tty "$tmp"; do
  "$make_fixture" words named.data "record.vmlinux=$named" "kernel.build_id=$id" 'sample read 9 40'
  at_once report named.data
  report_test "$status" "a vmlinux that is $named is not opened"
done
for release in .. ../../.. '.' /; do
  "$make_fixture" words named.data "kernel.release=$release" "kernel.build_id=$id" \
    "record.module.ext4=$id" 'sample read 9 40'
  at_once report named.data
  report_test "$status" "a release '$release' is no folder"
done
export XDG_CACHE_HOME=$tmp/cache
mkdir -p cache/kprotperf/index
mkfifo "cache/kprotperf/index/$id"
at_once report named.data
report_test "$status" 'a pipe in the cache is not opened'

# Put escape sequences into all values that messages quote.
evil=$(printf 'x\033]0;owned\a\033[2J\302\2330m')
"$make_fixture" words evil.data "machine.cpu=$evil" "kernel.build_id=$id" "calls $evil read 1 100"
"$make_fixture" words good.data "machine.cpu=good" "kernel.build_id=$id" 'calls f read 1 100'
fixture hostile
for command in 'merge --force -o merged.data good.data hostile.data' 'merge -o merged.data good.data evil.data' 'merge --force -o merged.data good.data evil.data' \
  'diff good.data evil.data' 'diff --strict good.data evil.data' 'diff --fail-above=1@x good.data evil.data' \
  'report evil.data' 'report --all evil.data' 'report --format=json evil.data' 'diff --format=json good.data evil.data' 'annotate evil.data f' 'annotate --color=never evil.data x' \
  "report --section=$evil" "report --$evil" "diff --map=$evil a b" "record --plan=$evil -- true"; do
  # shellcheck disable=SC2086 # the words of a command
  at_once $command
  ! LC_ALL=C grep -q "$(printf '[\033\a]\\|\302\233')" out err
  report_test $? "${command//$evil/ESCAPES}: nothing for the terminal"
done

fixture captured-hostile
at_once report --why-varies=vfs_read captured-hostile.data
[ "$status" -eq 0 ] && ! LC_ALL=C grep -q "$(printf '[\033\a]')" out err &&
  grep -qF 'current->comm = x\x20\x1b]0;y\x07' out
report_test $? 'a captured name is one word, escaped, in conditions' "$(cat out err)"
at_once report --format=csv --section=values captured-hostile.data
[ "$status" -eq 0 ] && [ "$(grep -cE '^vfs_read.*,current->comm=(z\\x5c\\x20flags=1|x\\x20\\x1b]0;y\\x07)$' out)" -eq 2 ]
report_test $? 'and in the rows of values' "$(cat out err)"

# docs/internals/file-format.md lists all checks of the reader, and names only functions that exist.
missing=$(cat "$repo"/src/profile/{fields,layout,file/decode,file/wire}.c | tr -d '\n\t' | sed 's/" *"//g' |
  grep -oE '"(has|refers|counts|announces|ends|is|does|would) [^"]*"' | sort -u | grep -vFf <(grep -oE '"[^"]+"' "$repo/docs/internals/file-format.md"))
is 'docs/internals/file-format.md has each check of a reader' "$missing" ''
missing=$(sed -n '/^| checked by/,/^$/s/^| \([^|]*\) |.*/\1/p' "$repo/docs/internals/file-format.md" | grep -oE '[a-z_]+\(' |
  grep -vxFf <(cat "$repo"/src/profile/*.c | grep -oE '[a-z_]+\('))
is 'the functions that it names exist' "$missing" ''


done_testing
