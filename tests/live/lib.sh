# shellcheck shell=bash disable=SC2034 # names the tests use
# Functions that the live tests share. A test file has functions that `boot` runs in a guest, and checks that run on the host and
# read the files that the guest left in the current directory. A guest costs seconds, so one guest does many things.
#
#     guest_main() { record clone --func kernel_clone -- "$acts" forks 10; }
#     side "$@"
#     boot hardened guest_main
#     is 'calls' "$(calls clone kernel_clone)" 10
#     done_testing

set -u
self=$(readlink -f "$0")
# Put the scratch folder below the clone if possible: a guest sees only the current directory of the host's /tmp, and the clone
# may be in /tmp.
scratch_below=$(readlink -m "$(dirname "$self")/../../build/tests/live")
if [ "${1-}" = --guest ]; then
	scratch=$PWD
else
	mkdir -p "$scratch_below"
fi
# shellcheck source=SCRIPTDIR/../lab/lib.sh
. "$(dirname "$self")/../lab/lib.sh"
acts=$build/tests/live/acts

# --- functions for the guest -------------------------------------------------

# side "$@": in a guest, run the function "$@", save the kernel's log and exit. On the host, build acts.
side() {
	if [ "${1-}" = --guest ]; then
		shift
		"$@"
		local status=$?
		dmesg >dmesg.txt
		exit "$status"
	fi
	make_acts
}

# keep NAME COMMAND...: run COMMAND and write its stdout, stderr and status to NAME.{out,err,status}.
keep() {
	local name=$1
	shift
	"$@" >"$name.out" 2>"$name.err"
	echo $? >"$name.status"
}

# Resolve names from kallsyms alone, because reading DWARF in the guest takes very long. A test that needs DWARF sets
# KPROTPERF_RESOLVE_LATER to $lab_list, the lab's list of files to resolve.
lab_list=${KPROTPERF_RESOLVE_LATER-}
export KPROTPERF_RESOLVE_LATER=/dev/null

# record NAME ARG...: run record with ARG..., into NAME.data.
record() {
	local name=$1
	shift
	keep "$name" "$kprotperf" record -o "$name.data" "$@"
}

# hurry: shorten RCU grace periods, because removing a probe takes several of them. Nothing that the tests time waits for a grace
# period.
hurry() {
	echo 1 >/sys/kernel/rcu_expedited
}

# await COMMAND...: repeat COMMAND until it succeeds, for 20 s at most.
await() {
	local i
	for i in $(seq 200); do
		if "$@" 2>/dev/null; then
			return 0
		fi
		sleep 0.1
	done
	echo "timed out: $*" >&2
	return 1
}

# traces: print what recording could leave in this kernel, in lines to compare before and after. Start two programs only, because
# starting one in a guest takes 20 ms of the host's CPU.
traces() {
	local file files=()
	for file in /sys/kernel/debug/kprobes/list /sys/kernel/tracing/{kprobe_events,uprobe_events,enabled_functions} \
		/sys/kernel/rcu_expedited /proc/sys/debug/kprobes-optimization /proc/sys/kernel/perf_event_max_sample_rate; do
		[ ! -r "$file" ] || files+=("$file")
	done
	printf '%s show\n' prog map link | bpftool batch file - | awk '
		FILENAME != "-" { print FILENAME, $0; next }
		/^[0-9]+: / && !/ name pid_iter/ { print $2, match($0, / name [^ ]+/) ? substr($0, RSTART + 1, RLENGTH - 1) : "" }' - "${files[@]}"
}

# around: print the output of traces, and the files in this folder that tests do not write.
around() {
	traces
	find . -maxdepth 1 | grep -vE '\.(kprotperf-index|out|err|status|data|around|txt)$' | sort
}

# settle NAME: write around's output to NAME.around, once it equals before.txt or after 10 s.
settle() {
	local i
	for i in $(seq 50); do
		around >"$1.around"
		cmp -s "$1.around" before.txt && return
		sleep 0.2
	done
}

# --- functions for the host --------------------------------------------------

make_acts() {
	mkdir -p "${acts%/*}"
	[ "$repo/tests/live/acts.c" -nt "$acts" ] || return 0
	if ! "${CC:-cc}" -std=gnu11 -O1 -fno-omit-frame-pointer -Wall -Wextra -Werror -o "$acts.$$" \
		"$repo/tests/live/acts.c" -lpthread; then
		bail 'tests/live/acts.c does not build'
	fi
	mv "$acts.$$" "$acts"
}

# need_module KERNEL: build tests/module for KERNEL, and write its path to module.txt for the guest.
need_module() {
	if ! "$lab" module --kernel "$1" "$repo/tests/module" >module.txt; then
		bail 'tests/module does not build'
	fi
}

# boot KERNEL FUNCTION [RUN-OPTION...]: run FUNCTION of this file in a guest. If the guest does not end well, fail the test and
# print why.
boot() {
	local kernel=$1 function=$2 status TIMEFORMAT='%U + %S'
	{ time boot_guest "$@"; } 2>boot.cpu
	status=$?
	echo "# $kernel, $function: $(cat boot.cpu) s of CPU"
	is "the $kernel guest ran $function" "$status" 0
	[ "$status" = 0 ] || sed 's/^/#   /' boot.out boot.err
}

boot_guest() {
	local kernel=$1 function=$2 share=$scratch
	shift 2
	case $scratch in
	"$repo"/*) share=$repo ;;
	esac
	(
		cd "$share" || exit
		# shellcheck disable=SC2016 # for the shell in the guest
		exec "$lab" run ${resume---resume} --kernel "$kernel" "$@" -- env BUILD="$build" LONG="${LONG-}" bash -c 'cd "$1" && exec bash "$2" --guest "$3"' \
			boot "$scratch" "$self" "$function"
	) >boot.out 2>boot.err
}

# json NAME FILTER: print the result of jq's FILTER on NAME.data, or nothing. All tables of an exact recording are 100 MB, and
# reading one takes a second: from a large file read the small tables, and only those large tables that FILTER names.
json() {
	local file=$1.json tables=()
	if [ "$(stat -c %s "$1.data")" -gt 1000000 ]; then
		tables=("--section=environment,workload,syscalls,loops,samples,losses,accounting$(grep -oE '\.[a-z_]+' <<<"$2" |
			sort -u | grep -xE '\.(functions|ranges|block_functions|blocks|trace|misses|miss_objects)' | tr . , | tr -d '\n')")
		file=$1$tables.json
	fi
	[ "$file" -nt "$1.data" ] || "$kprotperf" report "$1.data" --format=json "${tables[@]}" >"$file" || return 1
	query "$file" "$2"
}

# calls NAME FUNCTION [CONTEXT], syscalls NAME SYSCALL: print the number of calls, 0 if there is no row.
calls() {
	json "$1" "[.functions[] | select(.name == \"$2\" and .syscall == \"${3-*}\") | .calls] | add // 0"
}

syscalls() {
	json "$1" "[.syscalls[] | select(.name == \"$2\") | .calls] | add // 0"
}

# function_row NAME FUNCTION KEY [CONTEXT], syscall_row NAME SYSCALL KEY: print one figure of a row.
function_row() {
	json "$1" "first(.functions[] | select(.name == \"$2\" and .syscall == \"${4-*}\")) | .$3"
}

syscall_row() {
	json "$1" "first(.syscalls[] | select(.name == \"$2\")) | .$3"
}

# lost NAME: print every loss that is not 0, or "nothing". Leave out samples: contexts.t checks them.
lost() {
	json "$1" '[.losses | to_entries[] | select(.key != "samples_not_received" and .value != 0
		and .value != null) | "\(.key)=\(.value)"] | if . == [] then "nothing" else join(" ") end'
}

# loss NAME KEY, accounting NAME KEY: print one number of the recording's losses or accounting.
loss() {
	json "$1" ".losses.$2 // 0"
}

accounting() {
	json "$1" ".accounting.$2 // 0"
}

# balanced WHAT NAME: check that every call is accounted for, and that the terms of report's line add up.
balanced() {
	equal "$1: every call entered is accounted for" "$(json "$2" '.accounting.unaccounted')" 0
	holds "$1: by terms that add up" "$(json "$2" '.accounting | .entries - .calls - .open_at_end') ==
		$(json "$2" '.losses | .entry_without_return + .depth_exceeded + .cells_full + .probe_detached')"
}

# equal WHAT GOT EXPECTED: check as `is` does, but fail if GOT is empty.
equal() {
	if [ -n "$2" ]; then
		is "$@"
	else
		is "$1" 'no figure' "$3"
	fi
}

# within WHAT GOT EXPECTED PERCENT: check that GOT differs from EXPECTED by PERCENT % at most.
within() {
	jq -en "(${2:-null}) as \$got | ($3) as \$want | \$got != null and (\$got - \$want | fabs) <= \$want * $4 / 100" >/dev/null
	report_test $? "$1 (${2:-nothing}, expected $3)" "got ${2:-nothing}, expected $3 within $4 %"
}

# holds WHAT EXPRESSION: check that the jq expression is true. jq computes fractions too.
holds() {
	jq -en "$2" >/dev/null 2>&1
	report_test $? "$1" "does not hold: $2"
}

# clean_dmesg: check that the guest's log since its boot has no message that a kernel prints when something is wrong with it.
clean_dmesg() {
	local bad='WARNING:|BUG:|KASAN|INFO: |Call Trace|Oops|scheduling while atomic|possible |deadlock|lockup|rcu.*stall|Kernel panic|general protection|bad frame|unsafe'
	[ -s dmesg.txt ] && ! grep -nE "$bad" dmesg.txt >check.log
	report_test $? "the kernel's log is clean" "$(head -n 40 check.log)"
}

# one_line WHAT FILE REGEX: check that FILE is one line "kprotperf: ..." that matches REGEX.
one_line() {
	[ "$(wc -l <"$2")" = 1 ] && grep -qE "^kprotperf: $3" "$2"
	report_test $? "$1" "expected one line \"kprotperf: $3\", got:" "$(<"$2")"
}
