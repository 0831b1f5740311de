#!/bin/bash
# scripts/setup prints what it would install, without installing anything.

# shellcheck disable=SC2016,SC2154 # text for guests; names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
setup=$(dirname "$lab")/setup

# Imitate two Debian systems: in one nothing is installed, in the other everything.
mkdir none all other
printf '#!/bin/sh\nexit 1\n' >none/dpkg-query
printf '#!/bin/sh\nshift 3; for p; do echo "installed $p"; done\n' >all/dpkg-query
for dir in none all; do
	printf '#!/bin/sh\necho called >>%s/apt\nexit 1\n' "$scratch" >$dir/apt-get
	chmod +x $dir/*
done
for tool in bash sort cut sed cat comm awk; do
	ln -s "$(command -v "$tool")" other/
done

try env PATH="$scratch/none:$PATH" "$setup" --dry-run
is 'a dry run succeeds' "$status" 0
for package in build-essential clang bpftool libbpf-dev libdw-dev libcapstone-dev r-mathlib \
	libcmocka-dev bpftrace libdevel-nytprof-perl shellcheck qemu-system-x86 linux-source-6.1 dwarves; do
	ok "it names $package" grep -qx "$package" out
done
try env PATH="$scratch/none:$PATH" "$setup" --dry-run --for=lab
is '--for=lab leaves out what only the build needs' "$(grep -cx libbpf-dev out)" 0
try env PATH="$scratch/none:$PATH" "$setup" --dry-run --for=lab --for=bench
is 'several purposes add up' "$(grep -cxE 'libbpf-tools|dwarves|cppcheck' out)" 2
try env PATH="$scratch/none:$PATH" "$setup" --dry-run --for=lab-plugins
is 'plugins want the headers of the compiler that is there' "$status:$out" "0:gcc-$(gcc -dumpversion)-plugin-dev"
try env PATH="$scratch/all:$PATH" "$setup" --dry-run
is 'where all is installed it prints nothing' "$status:$out$err" 0:
try env PATH="$scratch/all:$PATH" "$setup"
is 'and does nothing' "$status:$out$err" 0:
ok 'in neither case is apt-get called' test ! -e apt

try env PATH="$scratch/other" "$setup"
is 'on another system it fails' "$status" 1
like 'with the list and what each is for' "$err$out" '^libdw-dev +elfutils'
try "$setup" --for=nothing
is 'an unknown purpose is wrong usage' "$status" 2

done_testing
