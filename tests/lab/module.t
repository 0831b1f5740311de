#!/bin/bash
# lab module builds an external module for a built kernel, and leaves the module's folder unchanged.

# shellcheck disable=SC2016,SC2154 # text for guests; names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
need hardened notrace

mkdir 'a module'
cat >'a module/Kbuild' <<'TEXT'
obj-m := lab_test.o
TEXT
cat >'a module/lab_test.c' <<'TEXT'
#include <linux/module.h>
noinline int lab_test_function(int a);
noinline int lab_test_function(int a)
{
	return a + 1;
}
static int __init lab_test_init(void)
{
	pr_info("lab_test: %d\n", lab_test_function(41));
	return 0;
}
static void __exit lab_test_exit(void)
{
}
module_init(lab_test_init);
module_exit(lab_test_exit);
MODULE_LICENSE("GPL");
TEXT
find 'a module' -type f | sort | xargs -d '\n' sha256sum >before

# The cache may have modules of other folders with this name. Make the hash of this module's sources unique.
printf '/* %s */\n' "$scratch" >>'a module/lab_test.c'
find 'a module' -type f | sort | xargs -d '\n' sha256sum >before
folders=()
for kernel in notrace hardened; do
	try "$lab" module --kernel "$kernel" 'a module'
	is "a module builds for $kernel" "$status" 0
	like 'and its path is told' "$out" "/kernels/$kernel-.*/modules/a_module-.*/lab_test\.ko$"
	ok 'there it is' test -s "$out"
	ko=$out
	folders+=("${ko%/*}")
	# Loading fails unless version, layout and BTF match the kernel's.
	try "$lab" run --resume --kernel "$kernel" -- sh -c 'insmod "$1" && dmesg | grep -o "lab_test: 42" &&
		grep -c "lab_test_function.*lab_test" /proc/kallsyms && ls /sys/kernel/btf && rmmod lab_test' sh "$ko"
	is "the $kernel guest loads it, with BTF" "$status:$out" $'0:lab_test: 42\n1\nlab_test\nvmlinux'
done
# tests/live/modules.t loads a module from a file.
try "$lab" run --resume --insmod 'a module' -- cat /sys/module/lab_test/refcnt
is 'run --insmod builds one of a folder, and has it before the command' "$status:$out" 0:0
try "$lab" run --resume --insmod "$ko" --insmod /nonexistent.ko -- echo ran
is 'one that is not there is an error' "$status:$out" 126:
cp -r 'a module' plain
try "$lab" module plain
like 'its lines are those of the folder' "$(readelf --debug-dump=info "$out" 2>&1)" "DW_AT_name +: .* $(readlink -f plain)/lab_test\.c"
rm -rf "${out%/*}"
find 'a module' -type f | sort | xargs -d '\n' sha256sum >after
ok 'the folder is as it was' cmp before after

built=$(stat -c '%i %y' "$ko")
try "$lab" module 'a module'
is 'again, it is the same one' "$status:$out" "0:$ko"
is 'not built again' "$(stat -c '%i %y' "$ko")" "$built"

echo 'static int x = "not C";;;(' >>'a module/lab_test.c'
try "$lab" module 'a module'
is 'what does not compile fails' "$status:$out" 1:
like "with the compiler's words, and where they are in the log" "$err" \
	'^lab: cannot build module a_module: .*lab_test\.c:[0-9]+:.*error.*; log: .*/module-a_module\.log:[0-9]+$'
ok 'an older build stays' test -s "$ko"
mkdir empty
try "$lab" run --resume --insmod empty -- true
is 'nor does it run' "$status:$err" '120:lab: neither empty/Kbuild nor empty/Makefile exists'
try "$lab" module empty
is 'a folder without Kbuild is none' "$status:$err" '1:lab: neither empty/Kbuild nor empty/Makefile exists'
try "$lab" module --kernel nosuch 'a module'
is 'an unknown kernel is wrong usage' "$status" 2
try "$lab" module
is 'so is no folder' "$status" 2
try env KPROTPERF_LAB="$scratch/cache" "$lab" module 'a module'
is 'a kernel that is not built is said to be' "$status:$err" \
	"1:lab: kernel 'hardened' is not built; build it with: scripts/lab build hardened"

rm -rf "${folders[@]}" "$cache/logs/module-a_module.log" "$cache/logs/module-plain.log"

done_testing
