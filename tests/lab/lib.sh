# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # names the tests use
# What tests that boot guests share: the lab and its kernels. To be sourced.

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
