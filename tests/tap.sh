# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # names the tests use
#
# TAP output, a scratch folder and JSON, for all tests in shell. A test sources this file. The test then runs in a scratch
# folder, which is removed when the test ends. BUILD names the build folder (default: build). LIVE_KEEP=1 keeps the folder.

set -u
repo=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/..")
build=${BUILD:-build}
case $build in
/*) ;;
*) build=$repo/$build ;;
esac
kprotperf=$build/kprotperf
workloads=$build/workloads

# In a guest, use the scratch folder that the test made on the host (live/lib.sh).
if [ -z "${scratch-}" ]; then
	scratch=$(mktemp -d "${scratch_below:-${TMPDIR:-/tmp}}/kprotperf-test.XXXXXX") || exit 1
	if [ -n "${LIVE_KEEP-}" ]; then
		echo "# $scratch"
	else
		trap 'rm -rf "$scratch"' EXIT
	fi
	cd "$scratch" || exit 1
fi

tests=0
failures=0
status=0 # exit status of the last command run by try()

# report_test STATUS NAME [DETAIL…]: print one line of TAP: "ok" if STATUS is 0, otherwise "not ok", followed by the
# DETAILs. Without DETAILs, print $status and the files err, wrong and out.
report_test() {
	local failed=$1 name=$2
	shift 2
	tests=$((tests + 1))
	if [ "$failed" -eq 0 ]; then
		printf 'ok %d - %s\n' "$tests" "$name"
		return
	fi
	failures=$((failures + 1))
	printf 'not ok %d - %s\n' "$tests" "$name"
	if [ $# -eq 0 ]; then
		echo "#   status $status"
		cat err wrong out 2>/dev/null | head -n 60 | sed 's/^/#   /'
	else
		printf '%s\n' "$@" | sed 's/^/#   /'
	fi
}

# ok NAME COMMAND…: pass if COMMAND succeeds.
ok() {
	local name=$1
	shift
	"$@" >"$scratch/check.log" 2>&1
	report_test $? "$name" "failed: $*" "$(<"$scratch/check.log")"
}

# is NAME GOT EXPECTED: pass if GOT and EXPECTED are equal.
is() {
	[ "$2" = "$3" ]
	report_test $? "$1" "got      $2" "expected $3"
}

# like NAME TEXT REGEX: pass if a line of TEXT matches REGEX.
like() {
	grep -qE -- "$3" <<<"$2"
	report_test $? "$1" "text  $2" "regex $3"
}

# skip NAME REASON: report test NAME as skipped. tests/run explains reasons "missing: …".
skip() {
	tests=$((tests + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tests" "$1" "$2"
}

# bail TEXT: stop, because nothing can be tested.
bail() {
	printf 'Bail out! %s\n' "$*"
	exit 1
}

done_testing() {
	printf '1..%d\n' "$tests"
}

# try COMMAND…: run COMMAND. Put its output into the files out and err, and into variables with the same names, without NULs
# and without line ends at the end. Put its exit status into the variable status.
try() {
	"$@" >out 2>err </dev/null
	status=$?
	{ out=$(<out) err=$(<err); } 2>/dev/null
}

# query FILE FILTER [JQ-OPTION…]: print the result of jq's FILTER, which can use json.jq, unless it is null or false.
query() {
	local file=$1 filter=$2
	shift 2
	jq -r -L "$repo/tests" "$@" "include \"json\"; ($filter) // empty" "$file"
}
