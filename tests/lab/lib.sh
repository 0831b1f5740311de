# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # names the tests use
# The lab and its kernels, for all tests that boot guests. To be sourced.

# shellcheck source=SCRIPTDIR/../tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
lab=$repo/scripts/lab
cache=${KPROTPERF_LAB:-$HOME/.cache/kprotperf/lab}

# need KERNEL...: builds what is not built yet; nothing can be tested without.
need() {
	"$lab" build "$@" >build.log 2>&1 || {
		sed 's/^/# /' build.log
		bail "cannot build $*"
	}
}

# fetch KERNEL...: the same of kernels that a distribution built.
fetch() {
	"$lab" fetch "$@" >fetch.log 2>&1 || {
		sed 's/^/# /' fetch.log
		bail "cannot fetch $*"
	}
}

# qemu_stands_in: a QEMU, first in PATH, that runs the guest's command here, which finds of the guest: BOOTED, the folder of its
# kernel, SEED, and LAST_APPENDED, its last parameter. In the folder machine, for more of its kind.
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
			# It cannot save a boot.
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

# make_stands_in FOLDER: in FOLDER, first in PATH, a make that configures a kernel with the fragment alone and builds it by what stands
# in the input: of the sources $src it makes $obj/vmlinux. The lab's cache is the test's own, LOG a file for what is noted, and git
# anybody's.
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
