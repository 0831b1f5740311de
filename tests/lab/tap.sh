# shellcheck shell=bash disable=SC2034 # names the tests use
# What the lab's tests share: TAP output, a scratch folder, the lab itself.
# Sourced by tests/lab/*.t, which `prove tests/lab` runs.

set -u
lab=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../scripts/lab
lab=$(readlink -f "$lab")
cache=${KPROTPERF_LAB:-$HOME/.cache/kprotperf/lab}

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kprotperf-lab.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

tests=0

# ok NAME CONDITION...: CONDITION is a command.
ok() {
	local name=$1
	shift
	tests=$((tests + 1))
	if "$@" >"$scratch/check.log" 2>&1; then
		printf 'ok %d - %s\n' "$tests" "$name"
	else
		printf 'not ok %d - %s\n#   failed: %s\n' "$tests" "$name" "$*"
		sed 's/^/#   /' "$scratch/check.log"
	fi
}

is() {
	local name=$1 got=$2 expected=$3
	tests=$((tests + 1))
	if [ "$got" = "$expected" ]; then
		printf 'ok %d - %s\n' "$tests" "$name"
	else
		printf 'not ok %d - %s\n' "$tests" "$name"
		printf 'got      %s\nexpected %s\n' "$got" "$expected" | sed 's/^/#   /'
	fi
}

# like NAME TEXT REGEX
like() {
	local name=$1 text=$2 regex=$3
	tests=$((tests + 1))
	if grep -qE -- "$regex" <<<"$text"; then
		printf 'ok %d - %s\n' "$tests" "$name"
	else
		printf 'not ok %d - %s\n' "$tests" "$name"
		printf 'text  %s\nregex %s\n' "$text" "$regex" | sed 's/^/#   /'
	fi
}

# try COMMAND...: leaves its stdout, stderr and status in out, err and status.
# A final line end is dropped from out and err, as $(...) does.
try() {
	"$@" >out.txt 2>err.txt </dev/null
	status=$?
	out=$(tr -d '\0' <out.txt)
	err=$(cat err.txt)
}

# need KERNEL...: builds what is not built yet; nothing can be tested without.
need() {
	"$lab" build "$@" >build.log 2>&1 || {
		sed 's/^/# /' build.log
		printf 'Bail out! cannot build %s\n' "$*"
		exit 1
	}
}

done_testing() {
	printf '1..%d\n' "$tests"
}
