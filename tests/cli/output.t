#!/bin/bash
# Commands do not write through other users' symbolic links, do not wait for a reader of a pipe, and report write errors.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

fixture baseline
mkfifo pipe
fails 1 'named pipe' merge -o pipe baseline.data
fails 1 'named pipe' record -o pipe -- true
fails 1 'Is a directory' merge -o . baseline.data

# Run commands with standard output closed, or on a full device.
for command in 'report baseline.data' 'report --format=json baseline.data' 'fold baseline.data' 'export --to=pprof baseline.data' 'diff --fold baseline.data baseline.data' \
  'merge -o /dev/stdout baseline.data' 'report --help' --version; do
  for output in '' /dev/full; do
    # shellcheck disable=SC2086 # the words of a command
    if [ "$output" ]; then
      "$kprotperf" $command >"$output" 2>err
    else
      "$kprotperf" $command >&- 2>err
    fi
    status=$?
    [ $status -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'cannot write' err
    report_test $? "$command: standard output is ${output:-closed}"
  done
done

if [ "$(id -u)" = 0 ]; then
  echo secret >shadow
  mkdir -m 1777 open
  ln -s ../shadow open/kprotperf.data
  ln -s .. open/way
  chown -h 65534:65534 open/*
  cd open || exit 1
  fails 1 "another user's symbolic link" merge -o kprotperf.data ../baseline.data
  fails 1 "another user's symbolic link" merge -o way/shadow ../baseline.data
  fails 1 "another user's symbolic link" record -- true
  is 'the target of the links is unchanged' "$(cat ../shadow)" secret
  cc -g -Wl,--build-id -o ../kernel -xc - <<<'int main(void) { return 0; }'
  export KPROTPERF_CACHE=way/cache
  fails 1 "another user's symbolic link" index ../kernel
  is 'no folder is made behind them either' "$(ls -d ../cache 2>&1)" "ls: cannot access '../cache': No such file or directory"
  KPROTPERF_CACHE=a/new run index ../kernel
  is 'folders that are missing are made elsewhere' "$status:$(ls a/new)" 0:index
  cd ..
  SUDO_UID=65534 SUDO_GID=65534 run merge -o theirs.data baseline.data
  is 'with sudo a file belongs to who invoked it' "$(stat -c %u:%g:%a theirs.data)" 65534:65534:600
else
  skip "others' links" 'not root'
fi

done_testing
