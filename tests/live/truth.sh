# shellcheck shell=bash disable=SC2154 # names from lib.sh and tap.sh
# Count the instructions of an inlined function by the emulator (tests/bench/truth.c), in a guest without probes where only the
# workload runs. llvm-symbolizer finds the inlined function's instructions by the DWARF.

# truth_points VMLINUX FUNCTION INLINED: print the addresses that truth.c watches.
truth_points() {
	local vmlinux=$1 function=$2 inlined=$3 start size
	nm -S "$vmlinux" | awk -v f="$function" '$4 == f || $4 == f ".cold" { print $1, $2 }' |
		while read -r start size; do
			objdump -d --no-show-raw-insn --start-address="0x$start" \
				--stop-address="$(printf 0x%x $((0x$start + 0x$size)))" "$vmlinux" |
				awk '/^ffffffff/ && $2 !~ /^</ { sub(":", "", $1); print $1 }'
		done >addresses
	sed 's/^/0x/' addresses | llvm-symbolizer-14 --inlines --obj="$vmlinux" |
		awk -v body="$inlined" 'BEGIN { RS = ""; FS = "\n" } {
			in_body = 0
			for (i = 1; i < NF - 1; i += 2)
				if ($i == body)
					in_body = 1
			print (in_body ? "in=" : "beside=") }' | paste -d '' - addresses
	call_points "$vmlinux" "$function" entry return
	call_points "$vmlinux" kernel_clone outer outer_return
}

# call_points VMLINUX FUNCTION ENTRY RETURN: print where FUNCTION begins (as ENTRY) and where its calls return to (as RETURN).
# Search the kernel's code for the bytes of a call, because objdump takes 3 s.
call_points() {
	local vmlinux=$1 function=$2 entry text
	entry=$(nm "$vmlinux" | awk -v f="$function" '$3 == f { print $1; exit }')
	text=$(objdump -h "$vmlinux" | awk '$2 == ".text" { print $4 }')
	printf '%s=%s\n' "$3" "$entry"
	objcopy -O binary -j .text "$vmlinux" text.bin
	perl -0777 -ne 'BEGIN { ($entry, $text, $key) = (hex shift, hex shift, shift) }
		while (/\xe8(?=(....))/gs) {
			$back = $text + pos() + 4;
			printf "%s=%x\n", $key, $back if $back + unpack("l<", $1) == $entry;
		}' "$entry" "$text" "$4" text.bin
	rm text.bin
}

# truth NAME KERNEL FUNCTION INLINED APPEND COMMAND...: run COMMAND in a guest and write the emulator's counts to NAME.truth.
truth() {
	local name=$1 kernel=$2 dir=$PWD
	dir=$("$lab" path "$kernel")
	truth_points "$dir/vmlinux" "$3" "$4" >points
	awk '$3 == "__x64_sys_sethostname" { print "mark=" $1 }' "$dir/System.map" >>points
	mkdir -p shim
	printf '#!/bin/sh\nexec "%s" -plugin "%s,out=%s,points=%s" "$@"\n' \
		"$(command -v qemu-system-x86_64)" "$build/bench/truth.so" "$PWD/$name.truth" "$PWD/points" \
		>shim/qemu-system-x86_64
	chmod +x shim/qemu-system-x86_64
	# nokaslr: the plugin uses addresses of the file. hostname(1) makes a system call (the mark) that nothing else makes.
	PATH=$PWD/shim:$PATH "$lab" run --kernel "$kernel" --accel icount --append "nokaslr $5" -- \
		sh -c "hostname lab; ${*:6}; hostname lab" >truth.log 2>&1 || sed 's/^/#   /' truth.log
	grep -qx 'marks 2' "$name.truth"
}

# true_calls NAME KEY, true_sum NAME KEY, true_max NAME KEY: print calls, instructions of all calls, or instructions of the most
# expensive call, from a line of NAME.truth.
true_calls() {
	sed -n "s/^$2 calls=\([0-9]*\) .*/\1/p" "$1.truth"
}

true_sum() {
	sed -n "s/^$2 .* insns=\([0-9]*\) .*/\1/p" "$1.truth"
}

true_max() {
	sed -n "s/^$2 .* max=\([0-9]*\)$/\1/p" "$1.truth"
}
