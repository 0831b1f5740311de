#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Test each workload: the line that it prints, its system calls per iteration, and its messages for wrong usage.
# strace counts the system calls. If there are thousands, kprotperf counts them on this host: it takes 0.3 s of CPU time to
# start.

# strace and ASan's leak check (SAN=1) both need ptrace.
export ASAN_OPTIONS=detect_leaks=0
# shellcheck source=SCRIPTDIR/../tap.sh
. "$(dirname "$0")/../tap.sh"
bin=$workloads
tmp=$scratch
no_strace='missing: strace'
! command -v strace >/dev/null || no_strace='strace may not trace here'

# run CMD…: run CMD. Put its exit status into $status, and its output into the files out and err
run() {
	"$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
}

# failed STATUS TEXT: succeed if the last run exited with STATUS and wrote only one line with TEXT, to stderr
failed() {
	[ $status -eq "$1" ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		grep -q -- "$2" "$tmp/err"
}

# line NAME ITERATIONS FILE: succeed if FILE is the line that workload NAME prints
line() {
	local name=$1 iterations=$2 number='[0-9]+(\.[0-9])?' child=

	case $name in
	fork | thr-create)
		child=" child_mean_ns=$number child_p50_ns=$number child_min_ns=[0-9]+"
		;;
	esac
	grep -Eqx "$name iterations=$iterations mean_ns=$number p50_ns=$number min_ns=[0-9]+$child" "$3"
}

# operand NAME: print the workload's operand
operand() {
	[ "$1" != calls ] || echo "$repo/tests/workloads/pipe.calls"
}

# check_line NAME: test the line that the workload prints.
check_line() {
	local name=$1

	# shellcheck disable=SC2046 # one word or none
	KPROTPERF_REPORT_FD=7 run "$bin/$name" --iterations=3 $(operand "$name") 7>"$tmp/report"
	[ $status -eq 0 ] && [ ! -s "$tmp/err" ] && [ "$(wc -l <"$tmp/out")" -eq 1 ] &&
		line "$name" 3 "$tmp/out"
	report_test $? "$name: one line"
	cmp "$tmp/out" "$tmp/report" >"$tmp/err" 2>&1
	report_test $? "$name: the same line to KPROTPERF_REPORT_FD"
}

# check_usage NAME: test the workload's options, which are in workloads/common.c. One workload of each source is enough.
check_usage() {
	local name=$1 operands

	mapfile -t operands < <(operand "$name")
	run env KPROTPERF_REPORT_FD=7777 "$bin/$name" -n 1 "${operands[@]}"
	[ $status -eq 1 ] && grep -q 'KPROTPERF_REPORT_FD=7777: Bad file descriptor' "$tmp/err"
	report_test $? "$name: a descriptor that is not open"

	run "$bin/$name" --help
	[ $status -eq 0 ] && [ ! -s "$tmp/err" ] && grep -q "^Usage: $name " "$tmp/out"
	report_test $? "$name: --help"

	run "$bin/$name" --bogus
	failed 2 "$name: .*--bogus"
	report_test $? "$name: unknown option"
	run "$bin/$name" "${operands[@]}" 5
	failed 2 "$name: .*'5'"
	report_test $? "$name: stray argument"
	for wrong in 0 -1 abc 5x '' 99999999999999999999; do
		run "$bin/$name" --iterations="$wrong"
		failed 2 "$name: --iterations takes a number .* not '$wrong'" || break
	done
	report_test $? "$name: numbers that make no sense"

	run "$bin/$name" -n 1 "${operands[@]}" >/dev/null
	"$bin/$name" -n 1 "${operands[@]}" >/dev/full 2>"$tmp/err"
	[ $? -eq 1 ] && grep -q 'No space left' "$tmp/err"
	report_test $? "$name: full disk under stdout"
}

# counted NAME N: run N iterations, and print lines "SYSCALL CALLS" as counted by $counter. Leave out clock_gettime, which reads
# the clock; getrandom, which libc calls once or twice for the name of a file; and sigaltstack, which ASan calls before a
# child's _exit().
counted() {
	case $counter in
	kprotperf)
		# On some kernels a recording may lack calls, and says so (docs/workloads.md). Then try again.
		for _ in {1..20}; do
			"$kprotperf" record -F 0 -o "$tmp/data" -- "$bin/$1" -n "$2" >"$tmp/out" 2>"$tmp/err"
			grep -q 'nothing lost' "$tmp/err" && break
			echo "# $1: counted anew: $(tail -n 1 "$tmp/err")" >&2
		done
		"$kprotperf" report --format=csv "$tmp/data" 2>>"$tmp/err" | awk -F, '$1 == "syscall" { print $2, $4 }'
		;;
	strace)
		strace -f -o "$tmp/trace" "$bin/$1" -n "$2" >"$tmp/out" 2>"$tmp/err"
		sed -nE 's/^[0-9]+ +([a-z0-9_]+)\(.*/\1/p' "$tmp/trace" | sort | uniq -c |
			awk '{ print $2, $1 }'
		;;
	esac | sed '/^clock_gettime /d; /^getrandom /d; /^sigaltstack /d' | sort
}

# turn NAME: print the system calls of one iteration, "SYSCALL=CALLS …". The loader and ASan make system calls too, so
# subtract the calls of 2 iterations from those of 12.
turn() {
	counted "$1" 12 >"$tmp/many"
	counted "$1" 2 >"$tmp/few"
	join -a 1 "$tmp/many" "$tmp/few" |
		awk '$2 != $3 { printf "%s%s=%g", n++ ? " " : "", $1, ($2 - $3) / 10 }'
}

# turns NAME REGEX: pass if REGEX matches the system calls of an iteration, in alphabetical order. If REGEX ends in " …", the
# iteration may make other system calls too.
turns() {
	local what="$1: an iteration is $2" got regex=$2

	if [ "$counter" = none ]; then
		skip "$what" "$no_strace, and kprotperf record does not work"
		return
	fi
	got=$(turn "$1")
	if [[ $regex == *… ]]; then
		grep -Eq "(^| )${regex% …}( |\$)" <<<"$got"
	else
		grep -Eqx "$regex" <<<"$got"
	fi
	report_test $? "$what (got $got)"
}

counter=none
if "$kprotperf" record -F 0 -o "$tmp/data" -- true >/dev/null 2>&1; then
	counter=kprotperf
fi
counter_of_many=$counter
if strace -o /dev/null true 2>/dev/null; then
	counter=strace
	[ $counter_of_many != none ] || counter_of_many=strace
fi

built=()
for source in "$repo"/workloads/*.c; do
	[ "${source##*/}" != common.c ] || continue
	names=$(sed -n 's/^ \* Names: //p' "$source" | xargs)
	names=${names:-$(basename "$source" .c)}
	for name in $names; do
		check_line "$name"
		built+=("$name")
	done
	check_usage "${names%% *}"
done
[ "$(printf '%s\n' "${built[@]}" | sort | xargs)" = "$(cd "$bin" && echo *)" ]
report_test $? 'what the sources name is what is built'

for name in fork big-fork huge-fork; do
	turns "$name" 'clone3?=1 exit_group=1 set_robust_list=1 wait4=1'
done
# Joining a thread may take a futex call or none.
turns thr-create 'clone3?=1 …'
turns getpid getpid=1
turns set-name prctl=1
turns getpid-filtered getpid=1
for size in small mid big huge; do
	turns "$size-read" 'lseek=1 read=1'
	turns "$size-write" 'lseek=1 write=1'
	turns "$size-mmap" 'mmap=1 munmap=1'
	turns "$size-munmap" 'mmap=1 munmap=1'
	turns "$size-page-fault" 'mmap=1 munmap=1'
done
for name in page-fault anon-fault cow-fault; do
	turns "$name" 'mmap=1 munmap=1'
done
for name in send recv big-send big-recv; do
	turns "$name" 'recvfrom=1 sendto=1'
done
for size in '' big-; do
	turns "${size}select" 'p?select6?=1'
	turns "${size}poll" 'poll=1'
	turns "${size}epoll" 'epoll_(p?)wait=1'
done
turns context-switch 'read=2 write=2'
turns user-copies 'recvfrom=17 sendto=17'
counter=$counter_of_many turns slab-sizes 'msgrcv=763 msgsnd=763'
counter=$counter_of_many turns signalfd-rounds read=4000
counter=$counter_of_many turns eventfd-rounds read=4000
# Each of these calls waits for RCU. Of such calls, a recording lacks one in a hundred, so kprotperf cannot count them here.
if [ "$counter" = strace ]; then
	turns page-orders 'setsockopt=20'
else
	skip 'page-orders: an iteration is setsockopt=20' "$no_strace"
fi
total=$([ "$counter" = none ] || turn syscall-mix | tr ' ' '\n' | awk -F= '{ n += $2 } END { print n }')
if [ "$counter" = none ]; then
	skip 'syscall-mix: 55 system calls, 2 of its child' "$no_strace, and kprotperf record does not work"
else
	[ "$total" = 57 ]
	report_test $? "syscall-mix: 55 system calls, 2 of its child (got $total)"
fi

# Each iteration makes one call with this number of bytes.
while read -r name calls regex; do
	if [ "$counter" != strace ]; then
		skip "$name: $regex" "$no_strace"
		continue
	fi
	run strace -f -e "trace=$calls" -o "$tmp/trace" "$bin/$name" -n 3
	grep -E -- "$regex" "$tmp/trace" >"$tmp/err"
	[ "$(wc -l <"$tmp/err")" -eq 3 ]
	report_test $? "$name: $regex"
done <<'TEXT'
small-read read , 4096\) += 4096$
mid-read read , 40960\) += 40960$
big-read read , 4096000\) += 4096000$
huge-read read , 40960000\) += 40960000$
mid-write write , 40960\) += 40960$
big-write write , 4096000\) += 4096000$
huge-write write , 40960000\) += 40960000$
small-mmap mmap NULL, 4096, PROT_READ\|PROT_WRITE, MAP_PRIVATE, [0-9]
mid-mmap mmap NULL, 40960, PROT_READ\|PROT_WRITE, MAP_PRIVATE, [0-9]
big-mmap mmap NULL, 4096000, PROT_READ\|PROT_WRITE, MAP_PRIVATE, [0-9]
huge-mmap mmap NULL, 40960000, PROT_READ\|PROT_WRITE, MAP_PRIVATE, [0-9]
mid-munmap munmap , 40960\) += 0$
big-munmap munmap , 4096000\) += 0$
huge-munmap munmap , 40960000\) += 0$
big-page-fault mmap NULL, 4096000, PROT_READ\|PROT_WRITE, MAP_PRIVATE, [0-9]
send sendto , 1, 0, NULL, 0\) += 1$
big-send sendto , 96000, 0, NULL, 0\) += 96000$
big-recv recvfrom , 96000, 0, NULL, NULL\) += 96000$
poll poll , 10, 0\) += 10 
big-poll poll , 1000, 0\) += 1000 
big-select select,pselect6 select6?\([0-9]+, .* = 1000 
big-epoll epoll_wait,epoll_pwait , 1000, 0.*\) += 1000$
page-orders setsockopt PACKET_RX_RING, .*block_size=2097152, (tp_)?block_nr=4,
TEXT

# The workload makes all its mappings, each by a separate call.
if [ "$counter" = strace ]; then
	for row in 'big-fork 6000' 'huge-fork 12000'; do
		read -r name mappings <<<"$row"
		run strace -o "$tmp/trace" -e trace=mmap "$bin/$name" -n 1
		[ "$(grep -c 'NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS, -1, 0' \
			"$tmp/trace")" -eq "$mappings" ]
		report_test $? "$name: $mappings mappings"
	done
else
	skip 'big-fork: 6000 mappings' "$no_strace"
	skip 'huge-fork: 12000 mappings' "$no_strace"
fi

# Limit the address space, so that the workload can make a few hundred mappings only. ASan needs terabytes.
if nm "$bin/huge-fork" 2>/dev/null | grep -q __asan_init; then
	skip 'huge-fork: too few mappings' 'built with ASan'
else
	run bash -c "ulimit -v 20000; $bin/huge-fork"
	failed 1 'huge-fork: mapping [0-9]* of 12000 .*: Cannot allocate memory'
	report_test $? 'huge-fork: too few mappings'
fi

for name in small-read page-fault huge-write syscall-mix; do
	run env TMPDIR=/nonexistent "$bin/$name"
	failed 1 "$name: cannot create a .* in /nonexistent: No such file or directory"
	report_test $? "$name: no folder for its file"
	mkdir -p "$tmp/files"
	run env TMPDIR="$tmp/files" "$bin/$name" -n 1
	[ $status -eq 0 ] && [ -z "$(ls -A "$tmp/files")" ]
	report_test $? "$name: leaves no file"
done

suite() {
	BUILD=$build run "$repo/workloads/suite" "$@"
}

suite --times 2 getpid 'small-*'
[ $status -eq 0 ] && [ ! -s "$tmp/err" ] && [ "$(awk '{ print $1 }' "$tmp/out" | xargs)" = \
	'workload getpid small-write small-read small-mmap small-munmap small-page-fault' ] &&
	[ "$(awk 'NR > 1 && $2 == 2 && $3 > 0 && $5 <= $3' "$tmp/out" | wc -l)" -eq 6 ]
report_test $? 'suite: a row for each workload asked for, in LEBench'\''s order'
suite --list
[ $status -eq 0 ] && [ "$(sort "$tmp/out" | xargs)" = "$(cd "$bin" && echo * | sed 's/ page-fault / /; s/ calls / /')" ]
report_test $? 'suite: --list names all that are built'
TMPDIR=/nonexistent suite --times 2 small-read getpid
[ $status -eq 1 ] && grep -q 'small-read: cannot create' "$tmp/err" && grep -Eq '^small-read +failed$' "$tmp/out" &&
	grep -q '^getpid  *2 ' "$tmp/out"
report_test $? 'suite: one that fails is said to, the others are run'
suite nosuch
failed 2 "suite: no workload matches nosuch"
report_test $? 'suite: a glob that nothing matches'
suite --times x
failed 2 "suite: --times takes a number"
report_test $? 'suite: a number that makes no sense'

done_testing
