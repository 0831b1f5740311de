#!/bin/bash
# Compare the counts of lab run --exact with those of an independent plugin (tests/bench/executions.c) in the same guest, for
# functions drawn at random: each function's own instructions, each block's executions, each inlined function's instructions, in
# many syscalls. Test a kernel of the lab and a kernel of Debian. SEED=N draws other functions.

# shellcheck disable=SC2154,SC2016 # names from lib.sh and tap.sh; perl's variables
# shellcheck source=SCRIPTDIR/../live/lib.sh
. "$(dirname "$0")/../live/lib.sh"
need hardened

# perl's startup makes none of these syscalls. The script makes them between two calls of sethostname.
syscalls='clone mkdir rmdir rename unlink symlink chmod truncate socketpair sendto recvfrom pselect6 flock time nanosleep readv'
# The kernel stores to, reads, fills and copies memory whose pages do not exist yet, so its instructions fault and are retried.
# At address 1 they fault and are not retried. Calls by number are sethostname (170), mmap (9), time (201), nanosleep (35),
# readv (19), sendto (44) and recvfrom (45).
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

# range SYMBOL: print START-END of the code of SYMBOL, up to the next symbol in the kernel's file.
range() {
	awk -v name="$1" 'start && $1 != start { print start "-" $1; exit } $3 == name { start = $1 }' symbols
}

# body_of VMLINUX SYMBOL: print SYMBOL. If SYMBOL always ends with a jump to one other function, print that function: the plugin
# sees no return from a function that ends with a jump.
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

# shim VMLINUX: write a script to shim/ that the lab runs as QEMU. It runs QEMU with the plugin, which counts the functions that
# are listed in the file "drawn".
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

# sums FILTER: run jq's FILTER on both.json, and sort the lines. In FILTER, $in are the syscalls and $names the drawn functions.
of_drawn='(["'${syscalls// /\",\"}'"]) as $in | ($drawn | split("\n")) as $names |'
sums() {
	jq -r --rawfile drawn drawn "$of_drawn $1" both.json | LC_ALL=C sort
}

# same NAME A B: pass if the files A and B are equal and not empty.
same() {
	report_test "$(LC_ALL=C diff "$2" "$3" >"$2.differ" && [ -s "$2" ]; echo $?)" "$1" "$(wc -l <"$2") lines; $(head -n 6 "$2.differ")"
	echo "# $1: $(wc -l <"$2")"
}

# compare KERNEL VMLINUX N SEED: compare the counts of N functions, which SEED selects.
compare() {
	local kernel=$1 vmlinux=$2
	nm "$vmlinux" | grep -i ' [tw] ' | sort >symbols
	ok "$kernel: a guest is counted" "$lab" run --kernel "$kernel" --exact --append nokaslr -o first.data -- perl -e "$work"
	for name in $syscalls; do
		body_of "$vmlinux" "__x64_sys_$name"
	done >bodies
	# Leave out functions that have several ranges of code: functions with the same name, and functions with separate parts
	# (.cold). Leave out the syscalls' own functions: the plugin does not count a jump to the syscall's body, nor its return.
	json first "(\"$syscalls\" | split(\" \")) as \$in | .functions[] | select(.syscall | IN(\$in[])) | .name" | grep -v '_sys_' | LC_ALL=C sort -u >executed
	awk '{ part = sub(/\..*/, "", $3); n[$3] += 1 + part } END { for (name in n) if (n[name] == 1) print name }' symbols | LC_ALL=C sort |
		LC_ALL=C join - executed | grep -vxFf bodies >known
	shuf --random-source=<(yes "$4") -n "$3" known >drawn
	# Add functions that access user memory, and inode_permission, which calls itself in an overlay file system.
	grep -E '^(inode_permission|_*(copy|clear|get|put)_(user|from_user|to_user|from_iter|to_iter)[a-z0-9_]*|rep_[a-z_]*)$' known >>drawn
	sort -u -o drawn drawn
	echo "# $kernel, SEED=$4: $(wc -l <executed) functions, of which $(head -n 24 drawn | tr '\n' ' ')"
	shim "$vmlinux"
	ok "$kernel: by both" env PATH="$PWD/shim:$PATH" "$lab" run --kernel "$kernel" --accel icount --exact --append nokaslr -o both.data -- perl -e "$work"
	is "$kernel: the other has seen where to begin and to end" "$(grep marks emulator)" 'marks 2'
	"$kprotperf" report both.data --format=json --section=functions,ranges,blocks >both.json
	grep -v marks emulator | LC_ALL=C sort >executions

	while read -r name; do
		printf '%s %s\n' "$(range "$name" | tr - ' ')" "$name"
	done <drawn | sort >ranges
	sort -s -k1,1 ranges - <executions | awk 'NF == 3 { name = $3; end = $2; next } $1 < end { sum[name] += $2 }
		END { for (name in sum) print name, sum[name] }' | LC_ALL=C sort >functions.theirs
	sums '[.functions[] | select(.syscall | IN($in[])) | select(.name | IN($names[]))] | group_by(.name)[] |
		"\(.[0].name) \(map(.self_total) | add)"' >functions.ours
	same "$kernel: functions have the instructions that the other counts" functions.ours functions.theirs

	# Compare the blocks. A block's executions are those of its first instruction.
	sums '[.blocks[] | select(.syscall | IN($in[])) | select(.function | IN($names[]))] | group_by([.function, .offset])[] |
		"\(.[0].function) \(.[0].offset) \(map(.executions) | add)"' | while read -r name offset executions; do
		start=$(awk -v name="$name" '$3 == name { print $1 }' ranges)
		printf '%x %s\n' $((0x$start + offset)) "$executions"
	done | LC_ALL=C sort >blocks.ours
	LC_ALL=C join -a 1 -e 0 -o 0,2.2 <(cut -d' ' -f1 blocks.ours) executions >blocks.theirs
	same "$kernel: blocks have the executions that the other counts" blocks.ours blocks.theirs

	# Compare the inlined functions, each with the functions that are inlined into it. llvm-symbolizer reads from the DWARF
	# which instructions an inlined function has.
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
