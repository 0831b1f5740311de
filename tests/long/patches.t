#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# why names the lines of twelve patches that add work to real programs, from exact recordings and from probes alone. If a
# patch's work is lost in the variation between boots, why names no other code as certain.

# shellcheck disable=SC2016,SC2154 # text for guests; names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/../lab/lib.sh
. "$(dirname "$0")/../lab/lib.sh"
need baseline
patches=$repo/tests/long/patches
cp "$patches"/*.py .

# commands: print a patch and its command in each line, separated by a tab.
commands() {
	cat <<'TEXT'
namei	find /usr/include/linux /usr/include/x86_64-linux-gnu -type f -size +10k
readdir	ls -R /usr/include /usr/share/perl
shmem	cp -r /usr/include/linux /tmp/include
epoll	python3 epoll.py
futex	python3 threads.py
pipe	sh -c 'seq 1 200000 | cat | wc -l'
signal	perl -e '$SIG{USR1} = sub {}; kill USR1 => $$ for 1 .. 3000'
seq	sh -c 'for i in 1 2 3 4 5; do cat /proc/[0-9]*/status >/dev/null; done'
fork	bash -c 'for i in $(seq 60); do (true); done'
elf	sh -c 'i=0; while [ $i -lt 40 ]; do /bin/true; i=$((i+1)); done'
open	tar -cf out.tar /usr/include/linux
anon	python3 -c 'x = [str(i) for i in range(150000)]; x.sort()'
TEXT
}

# answer: print the paragraph of stdin that says how much more CPU time the command takes, in one line.
answer() {
	sed -n '/ takes .* CPU time/,/^$/p' | sed '/^$/q' | tr -s ' \n' ' '
}

# Sum up how many answers name a line of the patch, and how many say that a cause is certain and name no line of it.
declare -A named=([why]=0 [auto]=0) wrong=([why]=0 [auto]=0)
while IFS=$'\t' read -r name command; do
	for how in why auto; do
		options=(why)
		[ $how = why ] || options=(ab --auto --boots 3)
		eval "words=($command)"
		"$lab" "${options[@]}" --patch "$patches/$name.patch" -- "${words[@]}" </dev/null >said.txt 2>said.err ||
			sed 's/^/# /' said.err
		said=$(answer <said.txt)
		echo "# $name, $how: ${said:0:600}"
		case $said in
		*"$name.patch changes "*) named[$how]=$((named[$how] + 1)) ;;
		*' of it is in '* | *'A significant change is in '*) wrong[$how]=$((wrong[$how] + 1)) ;;
		esac
	done
done < <(commands)

# Measured in three runs of all: 11, 11 and 10 by exact recordings, 9, 9 and 10 by probes. The work of pipe.patch is 0.04 % of its
# command and is never found. That of futex.patch is 0.013 % of its command: chance decides (found in 4 of 5 exact comparisons).
ok "${named[why]} of 12 patches are named by exact recordings" test "${named[why]}" -ge 10
ok "${named[auto]} of 12 patches are named by probes alone" test "${named[auto]}" -ge 8
is 'nothing else is named as certain, by exact recordings' "${wrong[why]}" 0
is 'nor by probes' "${wrong[auto]}" 0
done_testing
