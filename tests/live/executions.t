#!/bin/bash
# record counts or deduces exactly the executions of blocks that the emulator counts in the same run.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

# do_anonymous_page is inlined into __handle_mm_fault in this kernel.
functions='allocate_slab kmem_cache_alloc copy_page_range __handle_mm_fault vm_area_dup copy_process'

guest_main() {
	local function names=()
	for function in $functions; do
		names+=(--blocks "$function")
	done
	record executions -v -F 0 "${names[@]}" -- "$acts" marked-forks 2
}

# range SYMBOL: print START-END of SYMBOL's code in the kernel's file, up to the next symbol.
range() {
	awk -v name="$1" 'start && $1 != start { print start "-" $1; exit } $3 == name { start = $1 }' symbols
}

# Make a script that runs QEMU with the plugin, under the name by which the lab finds QEMU.
make_shim() {
	local options function part
	sort "$("$lab" path hardened)/System.map" >symbols
	options=out=$PWD/emulator,mark=$(range __x64_sys_sethostname),switch=$(range __switch_to)
	options+=,irq_enter=$(range irq_enter_rcu),irq_exit=$(range irq_exit_rcu)
	options+=,softirq=$(range handle_softirqs),fault=$(range asm_exc_page_fault)
	options+=,outer=$(range kernel_clone),outer=$(range do_madvise)
	for function in $functions; do
		for part in "$function" "$function.cold"; do
			[ -z "$(range "$part")" ] || options+=,count=$(range "$part")
		done
	done
	mkdir shim
	printf '#!/bin/sh\nexec "%s" -plugin "%s,%s" "$@"\n' "$(command -v qemu-system-x86_64)" \
		"$build/bench/executions.so" "$options" >shim/qemu-system-x86_64
	chmod +x shim/qemu-system-x86_64
}

# counted FUNCTION: print addresses and executions of FUNCTION's blocks, in the system calls that the plugin watches.
counted() {
	local start
	start=$(range "$1")
	json executions "[.blocks[] | select(.function == \"$1\" and (.syscall == \"clone\" or .syscall == \"madvise\"))]
		| group_by(.offset)[] | \"\\(.[0].offset) \\(map(.executions) | if any(. == null) then \"?\" else add end)\"" |
		while read -r offset executions; do
			printf '%x %s\n' $((0x${start%-*} + offset)) "$executions"
		done | sort
}

side "$@"
need hardened
make_shim
# nokaslr: the plugin uses the addresses of the kernel's file. --accel: otherwise the lab would test which accelerator works with
# this QEMU, and store the result for all runs.
resume='' PATH=$PWD/shim:$PATH boot hardened guest_main --accel icount --append nokaslr
clean_dmesg
is 'it was recorded' "$(cat executions.status)" 0
is 'no execution of a block is lost' "$(loss executions block_without_call)" 0
is 'the emulator has seen where to begin and to end' "$(grep marks emulator)" 'marks 2'
for function in $functions; do
	counted "$function" >blocks
	# A block that the emulator did not report was not executed.
	join -a 1 blocks <(grep -v marks emulator | sort) | awk '$2 != "?" && $2 != $3 + 0' >differ
	calls=$(awk -v entry="$(range "$function" | cut -d- -f1)" '$1 == entry { print $2 }' blocks)
	echo "# $function: $calls calls, $(wc -l <blocks) blocks, $(awk '$2 > 0' blocks | wc -l) executed"
	holds "$function: it was called" "${calls:-0} >= 2"
	is "$function: each block was executed as often as the emulator says" "$(cat differ)" ''
	# In __handle_mm_fault one block consists of a jump label only. The kernel takes no probe there.
	holds "$function: all of them follow, or all but one" "$(grep -c '?' blocks) <= 1"
	holds "$function: few probes are enough" "$(sed -n \
		"s/.*'$function': \([0-9]*\) blocks, \([0-9]*\) of them probed.*/\2 < 0.7 * \1/p" executions.err)"
done
done_testing
