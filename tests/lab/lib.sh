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
