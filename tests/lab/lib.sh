# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # names the tests use
# The lab and its kernels, for all tests that boot guests. Source this file.

# shellcheck source=SCRIPTDIR/../tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
lab=$repo/scripts/lab
cache=${KPROTPERF_LAB:-$HOME/.cache/kprotperf/lab}

# need KERNEL...: build the kernels that are not built. If that fails, end the test.
need() {
	"$lab" build "$@" >build.log 2>&1 || {
		sed 's/^/# /' build.log
		bail "cannot build $*"
	}
}

# fetch KERNEL...: fetch the distribution's kernels. If that fails, end the test.
fetch() {
	"$lab" fetch "$@" >fetch.log 2>&1 || {
		sed 's/^/# /' fetch.log
		bail "cannot fetch $*"
	}
}

# qemu_stands_in: make a stand-in for QEMU, first in PATH, that runs the guest's command on the host, with the variables BOOTED
# (its kernel's folder), SEED and LAST_APPENDED (its last parameter). Tests may put more stand-ins into the folder machine.
qemu_stands_in() {
	mkdir machine
	cat >machine/qemu-system-x86_64 <<-'TEXT'
		#!/bin/bash
		while [ $# -gt 0 ]; do
			case $1:${2-} in
			-kernel:*) export BOOTED=${2%/*} ;;
			-append:*) export LAST_APPENDED=${2##* } ;;
			-seed:*) export SEED=$2 ;;
			-fsdev:*id=lab,*) control=${2#*path=} control=${control%%,*} ;;
			# This stand-in cannot save the state of a booted guest.
			-mon:*) exit 1 ;;
			esac
			shift
		done
		printf / >"$control/opened"
		. "$control/config"
		(lab_command) >"$control/out" 2>"$control/err"
		echo "exit $? 256" >"$control/status"
	TEXT
	chmod +x machine/qemu-system-x86_64
	export PATH=$scratch/machine:$PATH
}

# make_stands_in FOLDER: make a stand-in for make in FOLDER, first in PATH. It uses the fragment alone as configuration, and
# builds by the commands on stdin, which make $obj/vmlinux of the sources in $src. LOG is a file for the commands' notes. The lab
# gets a cache of its own, and git ignores the user's settings.
make_stands_in() {
	{
		cat <<-'TEXT'
			#!/bin/bash
			src=$2
			obj=$(printf '%s\n' "$@" | sed -n 's/^O=//p')
			case " $* " in
			*' allnoconfig '*)
				cp "$obj/fragment" "$obj/.config"
				exit
				;;
			esac
		TEXT
		cat
		cat <<-'TEXT'
			mkdir -p "$obj/arch/x86/boot"
			for file in arch/x86/boot/bzImage System.map Module.symvers; do
				cp "$obj/vmlinux" "$obj/$file"
			done
		TEXT
	} >"$1/make"
	chmod +x "$1/make"
	export PATH=$scratch/$1:$PATH LOG=$scratch/log KPROTPERF_LAB=$scratch/cache
	unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
	export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
}
