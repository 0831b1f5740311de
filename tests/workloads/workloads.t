#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Each workload: its line, how often it does what it times, what it says when called wrongly.
# BUILD names the folder of the build (default: build).

# strace and the leak check of SAN=1 both want ptrace.
export ASAN_OPTIONS=detect_leaks=0
cd "$(dirname "$0")/../.." || exit 1
bin=${BUILD:-build}/workloads
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
n=0

# ok NAME: what the last command's status says
ok() {
	local status=$?
	n=$((n + 1))
	if [ $status -eq 0 ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		sed 's/^/# /' "$tmp/out" "$tmp/err" 2>/dev/null
	fi
}

skip() {
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# run CMD…: status in $status, output in $tmp/out and $tmp/err
run() {
	"$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
}

# failed STATUS TEXT: the last run said nothing but one line with TEXT, on stderr
failed() {
	[ $status -eq "$1" ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		grep -q -- "$2" "$tmp/err"
}

line() {
	local name=$1 iterations=$2 number='[0-9]+(\.[0-9])?' child=

	case $name in
	fork | thr-create)
		child=" child_mean_ns=$number child_p50_ns=$number child_min_ns=[0-9]+"
		;;
	esac
	grep -Eqx "$name iterations=$iterations mean_ns=$number p50_ns=$number min_ns=[0-9]+$child" "$3"
}

check_common() {
	local name=$1

	run "$bin/$name" --iterations=3
	[ $status -eq 0 ] && [ ! -s "$tmp/err" ] && [ "$(wc -l <"$tmp/out")" -eq 1 ] &&
		line "$name" 3 "$tmp/out"
	ok "$name: one line"

	KPROTPERF_REPORT_FD=7 run "$bin/$name" --iterations 2 7>"$tmp/report"
	[ $status -eq 0 ] && line "$name" 2 "$tmp/out" && cmp -s "$tmp/out" "$tmp/report"
	ok "$name: the same line to KPROTPERF_REPORT_FD"

	run env KPROTPERF_REPORT_FD=77 "$bin/$name" -n 1
	[ $status -eq 1 ] && grep -q 'KPROTPERF_REPORT_FD=77: Bad file descriptor' "$tmp/err"
	ok "$name: a descriptor that is not open"

	run "$bin/$name" --help
	[ $status -eq 0 ] && [ ! -s "$tmp/err" ] && grep -q "^Usage: $name " "$tmp/out"
	ok "$name: --help"

	run "$bin/$name" --bogus
	failed 2 "$name: .*--bogus"
	ok "$name: unknown option"
	run "$bin/$name" 5
	failed 2 "$name: .*'5'"
	ok "$name: stray argument"
	for wrong in 0 -1 abc 5x '' 99999999999999999999; do
		run "$bin/$name" --iterations="$wrong"
		failed 2 "$name: --iterations takes a number .* not '$wrong'" || break
	done
	ok "$name: numbers that make no sense"

	run "$bin/$name" -n 1 >/dev/null
	"$bin/$name" -n 1 >/dev/full 2>"$tmp/err"
	[ $? -eq 1 ] && grep -q 'No space left' "$tmp/err"
	ok "$name: full disk under stdout"
}

# count_with NAME N SYSCALLS: how many of them there are in N iterations
count_with() {
	strace -o "$tmp/trace" -e "trace=$3" "$bin/$1" -n "$2" >/dev/null 2>&1
	grep -Ec '^[a-z0-9_]+\(' "$tmp/trace"
}

# once NAME SYSCALLS: one call an iteration. The loader and ASan make some of their own, so it is
# the difference between few and many iterations that counts.
once() {
	local many few

	if ! strace -o /dev/null true 2>/dev/null; then
		skip "$1: one $2 an iteration" 'no strace, or not allowed'
		return
	fi
	many=$(count_with "$1" 25 "$2")
	few=$(count_with "$1" 5 "$2")
	echo "$many calls of $2 in 25, $few in 5" >"$tmp/err"
	[ $((many - few)) -eq 20 ]
	ok "$1: one $2 an iteration"
}

for name in big-fork huge-fork fork getpid set-name thr-create small-read page-fault; do
	check_common "$name"
done

for name in big-fork huge-fork fork thr-create; do
	once "$name" clone,clone3,fork,vfork
done
once getpid getpid
once set-name prctl
once small-read read
once small-read lseek
once page-fault mmap
once page-fault munmap

# big-fork makes that many and not one more.
if strace -o /dev/null true 2>/dev/null; then
	[ "$(count_with big-fork 20 clone,clone3,fork,vfork)" -eq 20 ]
	ok 'big-fork: 20 forks are 20 calls of clone'
else
	skip 'big-fork: 20 forks are 20 calls of clone' 'no strace, or not allowed'
fi

# The mappings are all there, and apart.
if strace -o /dev/null true 2>/dev/null; then
	for row in 'big-fork 6000' 'huge-fork 12000'; do
		read -r name mappings <<<"$row"
		run strace -o "$tmp/trace" -e trace=mmap "$bin/$name" -n 1
		[ "$(grep -c 'NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS, -1, 0' \
			"$tmp/trace")" -eq "$mappings" ]
		ok "$name: $mappings mappings"
	done
else
	skip 'big-fork: 6000 mappings' 'no strace, or not allowed'
	skip 'huge-fork: 12000 mappings' 'no strace, or not allowed'
fi

# Address space for a few hundred mappings. (ASan needs terabytes: not there.)
if nm "$bin/huge-fork" 2>/dev/null | grep -q __asan_init; then
	skip 'huge-fork: too few mappings' 'built with ASan'
else
	run bash -c "ulimit -v 20000; $bin/huge-fork"
	failed 1 'huge-fork: mapping [0-9]* of 12000 .*: Cannot allocate memory'
	ok 'huge-fork: too few mappings'
fi

for name in small-read page-fault; do
	run env TMPDIR=/nonexistent "$bin/$name"
	failed 1 "$name: cannot create a file in /nonexistent: No such file or directory"
	ok "$name: no folder for its file"
	mkdir -p "$tmp/files"
	run env TMPDIR="$tmp/files" "$bin/$name" -n 1
	[ $status -eq 0 ] && [ -z "$(ls -A "$tmp/files")" ]
	ok "$name: leaves no file"
done

echo "1..$n"
