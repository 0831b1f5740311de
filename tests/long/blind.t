#!/bin/bash
# Run lab why on a kernel with planted costs (tests/lab/blind.patch). Their author did not know how lab why finds costs. The first
# sentence on each syscall must name the cost and its cause. docs/internals/why.md lists facts that the sentences omit.

# shellcheck disable=SC2154,SC2016 # names from lib.sh and tap.sh; perl's variables
# shellcheck source=SCRIPTDIR/../lab/lib.sh
. "$(dirname "$0")/../lab/lib.sh"
need baseline
export KPROTPERF=$kprotperf

cat >calls.pl <<'TEXT'
use Socket; use Time::HiRes qw(clock_gettime CLOCK_BOOTTIME);
my $buf = "\0" x 2100;
# Read a shared mapping of a file in memory, page by page.
open(my $file, "+>", "/tmp/file") or die; syswrite($file, "\1" x 4096) for 1 .. 512;
for (1 .. 5) {
	my $at = syscall(9, 0, 512 * 4096, 1, 1, fileno $file, 0); $at > 0 or die "mmap: $!";
	unpack("P1", pack("Q", $at + 4096 * $_)) for 0 .. 511;
	syscall(11, $at, 512 * 4096);
}
open(my $log, ">", "/tmp/log") or die; syswrite($log, "one line of a log\n") for 1 .. 1000;
# Send and receive messages of 2,000 bytes by a System V queue.
my $queue = syscall(68, 0, 01600); my $message = pack("q", 1) . ("x" x 2000);
for (1 .. 400) { syscall(69, $queue, $message, 2000, 0); syscall(70, $queue, $buf, 2000, 0, 0) == 2000 or die "msgrcv: $!" }
syscall(71, $queue, 0, 0);
# Send datagrams to one of 100 Unix sockets.
my @sockets; mkdir "/tmp/u";
for (1 .. 100) { socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die; bind($s, pack_sockaddr_un("/tmp/u/s$_")) or die; push @sockets, $s }
socket(my $client, AF_UNIX, SOCK_DGRAM, 0); my $to = pack_sockaddr_un("/tmp/u/s3");
for (1 .. 300) { send($client, "hello", 0, $to) or die; recv($sockets[2], $buf, 100, 0) }
my $bad = 8; my $there = "/tmp\0"; chdir "/";
for (1 .. 300) { syscall(80, $there); syscall(80, $bad) == -1 or die }
syscall(24) for 1 .. 2000;
clock_gettime(CLOCK_BOOTTIME) for 1 .. 1000;
my $statfs = "\0" x 200; for (1 .. 400) { syscall(137, $there, $statfs) == 0 or die }
open(my $null, "+<", "/dev/null") or die; my $big = "x" x (1 << 20);
for (1 .. 300) { syscall(18, fileno $null, $big, 1 << 20, 0); syscall(18, fileno $null, $statfs, 100, 0) }
setpriority(0, 0, $_ % 5) for 1 .. 500;
for (1 .. 200) { open(my $name, "<", "/proc/self/comm") or die; sysread($name, $buf, 100) }
# Duplicate a descriptor while 400 files are open. Then run 15 programs with 200 environment variables of 40 bytes.
my @files; for (1 .. 400) { open(my $f, "<", "/dev/null") or die; push @files, $f }
for (1 .. 300) { my $d = syscall(32, 0); syscall(3, $d) }
undef @files;
$ENV{"V$_"} = "0123456789" x 4 for 1 .. 200;
for (1 .. 15) { my $pid = fork // die; if (!$pid) { exec "/bin/true" } waitpid $pid, 0 }
TEXT
try "$lab" ab --exact --boots 3 --patch "$repo/tests/lab/blind.patch" -- perl calls.pl
is 'lab ab --exact builds, boots and counts' "$status" 0
[ "$status" = 0 ] || echo "#   ${err//$'\n'/$'\n#   '}"

contexts=('[page_fault]' write msgrcv sendto chdir sched_yield clock_gettime statfs pwrite64 setpriority read dup execve '[none]')
"$kprotperf" why --format=json "${contexts[@]/#/--context=}" baseline.data hardened.data >why.json
is 'each context is explained' "$(jq -r .of why.json)" "$(printf '%s\n' "${contexts[@]}")"
# names CONTEXT REGEX: pass if the answer for CONTEXT matches REGEX
names() {
	local answer
	answer=$(jq -r --arg of "$1" 'select(.of == $of).answer' why.json | tr '\n' ' ' | sed 's/  */ /g')
	like "$1" "$answer" "$2"
	echo "#   ${answer:0:500}"
}
names '[page_fault]' 'occurs [0-9,]+ times per run instead of [0-9,]+ .*, and is [0-9.]+ % faster per call\. .* in do_fault_around .*, which calls filemap_map_pages'
names write 'in file_update_time .* executes __file_update_time \(inlined, .*\) [0-9,]+ times as often'
names msgrcv 'in free_msg .* executes memzero_explicit \(inlined, [^)]*, a loop with 249 iterations per call\) on the hardened side only'
names sendto 'in unix_find_bsd .* executes unix_find_socket_byinode .* 98 times as often'
names chdir 'in getname_flags .* executes memzero_explicit .* on the hardened side only'
names sched_yield 'in do_sched_yield .* calls yield_fairness \(.*, a loop with [0-9.]+ iterations per call[^)]*\) in 1\.5[0-9]* % of calls on the hardened side only'
names clock_gettime 'is called on the hardened side only, 1,00[0-9] times per run'
names statfs 'in do_statfs_native .* additional code at fs/statfs.c:[0-9-]+, a loop with 120 iterations per call, while i != 120'
names pwrite64 'in rw_verify_area .* executes rw_verify_pages .*, while end > pos\) on the hardened side only'
names setpriority 'in set_one_prio .* calls atomic_notifier_call_chain .* on the hardened side only'
names read 'in slab_post_alloc_hook .* calls memset .* on the hardened side only, although its code is the same'
names dup 'in find_next_fd .* additional code at fs/file.c:[0-9-]+, a loop with [0-9.]+ iterations per call, while start < fdt->max_fds'
names execve 'in copy_strings .* calls strnlen_user [0-9,]+ times per run instead of [0-9,]+, also at fs/exec.c:549'
# The context [none] is code outside of syscalls, page faults and interrupts. Most of its change is in the entry of page faults.
# The planted cost must be among the causes.
is '[none]' "$(jq -r 'select(.of == "[none]").causes[] | select(.name == "schedule_tail" and .kind == "new") |
	"\(.of) \(.delta_total > 15 * 5000 and .delta_total < 17 * 8000)"' why.json)" 'check_new_stack true'
done_testing
