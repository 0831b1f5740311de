#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Check the catalogue against the kernel's sources: each name in an entry exists in the kernel versions that the entry gives,
# and in no others. Take the sources from the lab if it has unpacked them, otherwise from their package.

# shellcheck source=SCRIPTDIR/../tap.sh
. "$(dirname "$0")/../tap.sh"
cache=${KPROTPERF_LAB:-$HOME/.cache/kprotperf/lab}
tmp=$scratch
export LC_ALL=C

"$kprotperf" list --protections --format=json >"$tmp/all.json" 2>"$tmp/wrong"
report_test $? 'the catalogue as JSON'

# rows LIST VERSION FIELDS: print a line "PROTECTION VALUE… WITHIN" for each entry of LIST, a list of the catalogue's rows. WITHIN
# is true if the entry exists in VERSION. If VERSION does not have the protection, print only the options that build it.
rows() {
	jq -r --arg list "$1" --argjson version "$2" --arg fields "$3" '
		def number: split(".") | (.[0] | tonumber) * 1000 + (.[1] | tonumber);
		def has: ((.since // "0.0") | number) <= $version and ((.until // "99.0") | number) > $version;
		.protections[] | . as $row | .[$list][] |
			select(($row | has) or .role == "builds") |
			[$row.name, (. as $entry | $fields | split(" ")[] | $entry[.]), (has and ($row | has))] | @tsv
	' "$tmp/all.json"
}

# symbols SOURCE: print the kconfig symbols of x86 and of common code.
symbols() {
	find "$1" -path "$1/arch/*" ! -path "$1/arch/x86*" ! -path "$1/arch/Kconfig" -prune -o \
		-name 'Kconfig*' -print0 | xargs -0 sed -nE 's/^[ \t]*(menu)?config ([A-Za-z0-9_]+).*/\2/p' |
		sort -u
}

# parameters SOURCE: print the names that the kernel looks for on its command line.
parameters() {
	grep -rhoE --include='*.c' \
		'\b(early_param|__setup|__setup_param|core_param|cmdline_find_option|cmdline_find_option_bool)\([a-z_]*,? ?"[A-Za-z0-9_.]+' \
		"$1"/{arch/x86,mm,kernel,init,security,lib} | sed 's/.*"//' | sort -u
	# Names of module_param() have the module's name as a prefix. mm/Makefile makes shuffle.o a part of page_alloc.
	grep -hoE 'module_param[a-z_]*\([a-z_]+' "$1/mm/kfence/core.c" | sed 's/.*(/kfence./'
	grep -hoE 'module_param[a-z_]*\([a-z_]+' "$1/mm/shuffle.c" | sed 's/.*(/page_alloc./'
}

# defined SOURCE FILE NAME: succeed if FILE defines the function, macro or assembly label NAME.
defined() {
	local name=${3//\*/[^ ,]*}
	grep -qE "^([a-zA-Z_][^;=]*[ *])?$name\(|^#[ \t]*define[ \t]+$name\b|^[ \t]*SYM_[A-Z_]+\($name\b|^$name:" "$1/$2" 2>/dev/null
}

# unpacked SERIES: print the folder of the kernel's sources. If the lab has built no kernel of SERIES, unpack the files that
# this test reads from the package: 112 of 1,500 MB, in 8 s of CPU time.
unpacked() {
	local dir tarball=/usr/src/linux-source-$1.tar.xz version

	# source_version() in scripts/kernellab/kernels/sources.py makes the folder's name. The sources in it are patched while
	# there is a folder with the suffix .kept.
	version=$(dpkg-query -W -f '${Version}' "linux-source-$1" 2>/dev/null)
	dir=$cache/src/${version//[^A-Za-z0-9.+-]/_}
	[ ! -f "$dir/Makefile" ] || [ ! "$version" ] || [ -d "$dir.kept" ] || {
		printf '%s\n' "$dir"
		return
	}
	[ -f "$tarball" ] || return
	mkdir "$tmp/$1"
	tar -xf "$tarball" -C "$tmp/$1" --strip-components=1 --wildcards '*/Kconfig*' '*/arch/x86/*.[chS]' \
		'*/mm/*.[ch]' '*/kernel/*.c' '*/init/*.c' '*/security/*.c' '*/lib/*.c' '*/include/linux/*.h' &&
		printf '%s\n' "$tmp/$1"
}

check_symbols() {
	local source=$1 version=$2 row symbol within there

	symbols "$source" >"$tmp/symbols"
	while IFS=$'\t' read -r row symbol within; do
		there=false
		! grep -qx "$symbol" "$tmp/symbols" || there=true
		[ $there = "$within" ] || echo "$row: CONFIG_$symbol: in the sources: $there, expected: $within"
	done < <(rows options "$version" symbol)
}

check_parameters() {
	local source=$1 version=$2 row name within

	parameters "$source" >"$tmp/parameters"
	while IFS=$'\t' read -r row name within; do
		[ "$within" = false ] || grep -Fqx "$name" "$tmp/parameters" ||
			echo "$row: nobody looks for $name on the command line"
	done < <(rows parameters "$version" name)
	jq -r '.protections[] | select(.file != null and (.file | startswith("/proc/sys/"))) | "\(.name) \(.file)"' \
		"$tmp/all.json" >"$tmp/sysctls"
	while read -r row name; do
		grep -rqE "procname[[:space:]]*= *\"${name##*/}\"" "$source"/{kernel,mm} ||
			echo "$row: there is no sysctl ${name##*/}"
	done <"$tmp/sysctls"
}

check_functions() {
	local source=$1 version=$2 row name file code within

	while IFS=$'\t' read -r row name file code within; do
		if [ "$within" = false ]; then
			# If the name is a macro in one version and a function in another, the catalogue has two entries for it.
			! defined "$source" "$file" "$name" || [ "$(jq -r --arg row "$row" --arg name "$name" \
				'.protections[] | select(.name == $row) | .functions | map(select(.name == $name)) |
				length' "$tmp/all.json")" -gt 1 ] || echo "$row: $file has $name, which the row denies"
		else
			defined "$source" "$file" "$name" || echo "$row: $file does not define $name ($code)"
		fi
	done < <(rows functions "$version" 'name file code')
}

for series in 6.1 6.12; do
	source=$(unpacked "$series")
	for what in symbols parameters functions; do
		if [ -z "$source" ]; then
			skip "Linux $series: $what" "missing: /usr/src/linux-source-$series.tar.xz (scripts/setup --for=test)"
			continue
		fi
		"check_$what" "$source" "$((${series%.*} * 1000 + ${series#*.}))" >"$tmp/wrong" 2>&1
		[ ! -s "$tmp/wrong" ]
		report_test $? "Linux $series: $what"
	done
done

# Each protection that a boot parameter switches must be built into the lab's kernel "baseline" or "switches".
jq -r '.protections[] | select(.switched_by == "boot" and .missing == null) |
	.options | map(select(.role == "builds") | .symbol) | select(length > 0) | join("|")' "$tmp/all.json" |
	while read -r symbols; do
		grep -qE "^CONFIG_($symbols)=y$" "$repo"/scripts/kernels/{base,base-6.12,baseline,switches}.config || echo "$symbols: in no kernel"
	done >"$tmp/wrong"
[ ! -s "$tmp/wrong" ]
report_test $? 'what parameters switch is built into baseline or switches'

jq -r '.protections[].workloads[]' "$tmp/all.json" | sort -u >"$tmp/named"
(cd "$build/workloads" && printf '%s\n' *) | sort >"$tmp/built"
comm -23 "$tmp/named" "$tmp/built" >"$tmp/wrong"
[ -s "$tmp/named" ] && [ ! -s "$tmp/wrong" ]
report_test $? 'the workloads that rows name are built'

KPROTPERF=$kprotperf "$repo/scripts/protections-svg" 2>"$tmp/wrong" | cmp - "$repo/docs/protections.svg" >>"$tmp/wrong" 2>&1
report_test $? 'docs/protections.svg is the map of this table (else: scripts/protections-svg >docs/protections.svg)'

done_testing
