#!/bin/bash
# lab run --exact counts what another plugin (tests/bench/executions.c) counts in the same guest, of functions that are drawn
# by lot: each function's own instructions, each block's executions, each inlined body's instructions, in many syscalls.
# In the lab's kernel and in one of Debian. SEED=N: other functions.

# shellcheck disable=SC2154,SC2016 # names from lib.sh and tap.sh; perl's variables
# shellcheck source=SCRIPTDIR/../live/lib.sh
. "$(dirname "$0")/../live/lib.sh"
need hardened

# Syscalls that a perl which starts does not make; between two of sethostname.
syscalls='clone mkdir rmdir rename unlink symlink chmod truncate socketpair sendto recvfrom pselect6 flock time nanosleep readv'
# Memory that is not there yet is stored to, read, filled and copied, across pages, by instructions that fault and are retried; at
# address 1 they are not. Calls are by number: time, nanosleep, readv, sendto, recvfrom.
work='my $name = "lab"; syscall 170, $name, 3; open my $zero, "<", "/dev/zero";
	for my $i (1 .. 8) {
		mkdir "/tmp/d$i"; rename "/tmp/d$i", "/tmp/e$i"; symlink "x", "/tmp/e$i/l"; chmod 0700, "/tmp/e$i";
		open my $file, ">", "/tmp/e$i/f"; print $file "x" x 9000; flock $file, 2; close $file; truncate "/tmp/e$i/f", 100;
		socketpair my $a, my $b, 1, 1, 0; send $a, "hello" x $i, 0; recv $b, my $got, 100, 0;
		my $new = syscall 9, 0, 1 << 20, 3, 0x22, -1, 0; my $iov = pack "QQ", $new + 0x20003, 30000;
		syscall 201, $new; syscall 201, 1; syscall 35, $new + 0x10000, 0; syscall 19, fileno $zero, $iov, 1;
		syscall 44, fileno $a, $new + 0x40003, 20000, 0, 0, 0; syscall 45, fileno $b, $new + 0x60005, 20000, 0, 0, 0;
		select undef, undef, undef, 0;
		unlink "/tmp/e$i/l", "/tmp/e$i/f"; rmdir "/tmp/e$i";
		my $child = fork; exit unless $child; waitpid $child, 0;
	}
	syscall 170, $name, 3'

# range SYMBOL: START-END of its code, up to the next symbol, in the kernel's file.
range() {
	awk -v name="$1" 'start && $1 != start { print start "-" $1; exit } $3 == name { start = $1 }' symbols
}

# body_of VMLINUX SYMBOL: SYMBOL, or what it does nothing but jump to at its end: the plugin sees no return of what is left so.
body_of() {
	local vmlinux=$1 name=$2 range next
	while range=$(range "$name") && [ "$range" ]; do
		next=$(objdump -d --no-show-raw-insn --start-address="0x${range%-*}" --stop-address="0x${range#*-}" "$vmlinux" |
			sed -n 's/.*\t\(ret\|j[a-z]* .*<\([^+>]*\)>\).*/\2/p' | sort -u)
		case $next in
		'' | *thunk* | *[[:space:]]*) break ;;
		*) name=$next ;;
		esac
	done
	printf '%s\n' "$name"
}

# shim VMLINUX: a QEMU with the plugin, under the name by which the lab finds it, that counts the functions in the file "drawn".
shim() {
	local options name
	options=out=$PWD/emulator,mark=$(range __x64_sys_sethostname),switch=$(range __switch_to)
	options+=,irq_enter=$(range irq_enter_rcu),irq_exit=$(range "$(body_of "$1" irq_exit_rcu)"),softirq=$(range handle_softirqs)
	options+=,fault=$(range asm_exc_page_fault)
	while read -r name; do
		options+=,outer=$(range "$name")
	done <bodies
	while read -r name; do
		options+=,count=$(range "$name")
	done <drawn
	mkdir -p shim
	printf '#!/bin/sh\nexec "%s" -plugin "%s,%s" "$@"\n' "$(command -v qemu-system-x86_64)" \
		"$build/bench/executions.so" "$options" >shim/qemu-system-x86_64
	chmod +x shim/qemu-system-x86_64
}

# Rows of the functions drawn, in all of these syscalls together.
of_drawn='(["'${syscalls// /\",\"}'"]) as $in | ($drawn | split("\n")) as $names |'
sums() {
	jq -r --rawfile drawn drawn "$of_drawn $1" both.json | LC_ALL=C sort
}

# same NAME A B: files are the same, and have lines.
same() {
	report_test "$(LC_ALL=C diff "$2" "$3" >"$2.differ" && [ -s "$2" ]; echo $?)" "$1" "$(wc -l <"$2") lines; $(head -n 6 "$2.differ")"
	echo "# $1: $(wc -l <"$2")"
}

# compare KERNEL VMLINUX N SEED: N functions.
compare() {
	local kernel=$1 vmlinux=$2
	nm "$vmlinux" | grep -i ' [tw] ' | sort >symbols
	ok "$kernel: a guest is counted" "$lab" run --kernel "$kernel" --exact --append nokaslr -o first.data -- perl -e "$work"
	for name in $syscalls; do
		body_of "$vmlinux" "__x64_sys_$name"
	done >bodies
	# Functions of one name, and those with a part elsewhere, have several ranges; what jumps to the syscall's body is outside for the
	# other, and so is the return of that.
	json first "(\"$syscalls\" | split(\" \")) as \$in | .functions[] | select(.syscall | IN(\$in[])) | .name" | grep -v '_sys_' | LC_ALL=C sort -u >executed
	awk '{ part = sub(/\..*/, "", $3); n[$3] += 1 + part } END { for (name in n) if (n[name] == 1) print name }' symbols | LC_ALL=C sort |
		LC_ALL=C join - executed | grep -vxFf bodies >known
	shuf --random-source=<(yes "$4") -n "$3" known >drawn
	# Functions that access memory of user space, and one that calls itself, by way of an overlay.
	grep -E '^(inode_permission|_*(copy|clear|get|put)_(user|from_user|to_user|from_iter|to_iter)[a-z0-9_]*|rep_[a-z_]*)$' known >>drawn
	sort -u -o drawn drawn
	echo "# $kernel, SEED=$4: $(wc -l <executed) functions, of which $(head -n 24 drawn | tr '\n' ' ')"
	shim "$vmlinux"
	ok "$kernel: by both" env PATH="$PWD/shim:$PATH" "$lab" run --kernel "$kernel" --accel icount --exact --append nokaslr -o both.data -- perl -e "$work"
	is "$kernel: the other has seen where to begin and to end" "$(grep marks emulator)" 'marks 2'
	"$kprotperf" report both.data --format=json --section=functions,ranges,blocks >both.json
	grep -v marks emulator | LC_ALL=C sort >executions

	# By function.
	while read -r name; do
		printf '%s %s\n' "$(range "$name" | tr - ' ')" "$name"
	done <drawn | sort >ranges
	sort -s -k1,1 ranges - <executions | awk 'NF == 3 { name = $3; end = $2; next } $1 < end { sum[name] += $2 }
		END { for (name in sum) print name, sum[name] }' | LC_ALL=C sort >functions.theirs
	sums '[.functions[] | select(.syscall | IN($in[])) | select(.name | IN($names[]))] | group_by(.name)[] |
		"\(.[0].name) \(map(.self_total) | add)"' >functions.ours
	same "$kernel: functions have the instructions that the other counts" functions.ours functions.theirs

	# By block: at its first instruction.
	sums '[.blocks[] | select(.syscall | IN($in[])) | select(.function | IN($names[]))] | group_by([.function, .offset])[] |
		"\(.[0].function) \(.[0].offset) \(map(.executions) | add)"' | while read -r name offset executions; do
		start=$(awk -v name="$name" '$3 == name { print $1 }' ranges)
		printf '%x %s\n' $((0x$start + offset)) "$executions"
	done | LC_ALL=C sort >blocks.ours
	LC_ALL=C join -a 1 -e 0 -o 0,2.2 <(cut -d' ' -f1 blocks.ours) executions >blocks.theirs
	same "$kernel: blocks have the executions that the other counts" blocks.ours blocks.theirs

	# By inlined body, with what is inlined into it: which instructions are in it says LLVM's reading of the DWARF.
	cut -d' ' -f1 executions | sed 's/^/0x/' | llvm-symbolizer-14 --inlines --obj="$vmlinux" |
		awk 'BEGIN { RS = ""; FS = "\n" } { line = ""; for (i = 1; i < NF; i += 2) line = line " " $i; print substr(line, 2) }' |
		paste -d ' ' executions - | awk '{ split("", seen); for (i = 3; i < NF; i++) if (!seen[$i]++) sum[$NF " " $i] += $2 }
			END { for (body in sum) print body, sum[body] }' | LC_ALL=C sort >bodies.theirs
	sums '[.ranges[] | select(.syscall | IN($in[])) | select(.function | IN($names[])) |
		select(.name as $name | (.chain // "") | split(" < ") | index($name) | not)] | group_by([.function, .name])[] |
		"\(.[0].function) \(.[0].name) \(map(.estimate.self_total) | add)"' >bodies.ours
	same "$kernel: inlined bodies have the instructions that the other counts" bodies.ours bodies.theirs
}

fetch --dbg debian-6.12-cloud
for kernel in hardened debian-6.12-cloud; do
	compare "$kernel" "$("$lab" path "$kernel")/vmlinux" 400 "${SEED:-1}"
done

done_testing
