#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The catalogue against the kernel's sources, as the lab has them unpacked, or else out of their package:
# whatever a row names exists there, in the versions it says, and not in the others.

# shellcheck source=SCRIPTDIR/../tap.sh
. "$(dirname "$0")/../tap.sh"
cache=${KPROTPERF_LAB:-$HOME/.cache/kprotperf/lab}
tmp=$scratch
export LC_ALL=C

"$kprotperf" list --protections --format=json >"$tmp/all.json" 2>"$tmp/wrong"
report_test $? 'the catalogue as JSON'

# rows LIST VERSION FIELDS: "PROTECTION VALUE… WITHIN" lines of a list in the catalogue, where WITHIN says
# whether the entry is for that version. Of protections that the version does not have, only what builds them.
rows() {
	jq -r --arg list "$1" --argjson version "$2" --arg fields "$3" '
		def number: split(".") | (.[0] | tonumber) * 1000 + (.[1] | tonumber);
		def has: ((.since // "0.0") | number) <= $version and ((.until // "99.0") | number) > $version;
		.protections[] | . as $row | .[$list][] |
			select(($row | has) or .role == "builds") |
			[$row.name, (. as $entry | $fields | split(" ")[] | $entry[.]), (has and ($row | has))] | @tsv
	' "$tmp/all.json"
}

# symbols SOURCE: kconfig symbols of x86 and what is common.
symbols() {
	find "$1" -path "$1/arch/*" ! -path "$1/arch/x86*" ! -path "$1/arch/Kconfig" -prune -o \
		-name 'Kconfig*' -print0 | xargs -0 sed -nE 's/^[ \t]*(menu)?config ([A-Za-z0-9_]+).*/\2/p' |
		sort -u
}

# parameters SOURCE: names that the kernel looks for on its command line.
parameters() {
	grep -rhoE --include='*.c' \
		'\b(early_param|__setup|__setup_param|core_param|cmdline_find_option|cmdline_find_option_bool)\([a-z_]*,? ?"[A-Za-z0-9_.]+' \
		"$1"/{arch/x86,mm,kernel,init,security,lib} | sed 's/.*"//' | sort -u
	# These parts could be modules. (mm/Makefile makes shuffle.o one of page-alloc's.)
	grep -hoE 'module_param[a-z_]*\([a-z_]+' "$1/mm/kfence/core.c" | sed 's/.*(/kfence./'
	grep -hoE 'module_param[a-z_]*\([a-z_]+' "$1/mm/shuffle.c" | sed 's/.*(/page_alloc./'
}

# defined SOURCE FILE NAME: whether FILE defines the function, macro or assembly label.
defined() {
	local name=${3//\*/[^ ,]*}
	grep -qE "^([a-zA-Z_][^;=]*[ *])?$name\(|^#[ \t]*define[ \t]+$name\b|^[ \t]*SYM_[A-Z_]+\($name\b|^$name:" "$1/$2" 2>/dev/null
}

# unpacked SERIES: the folder of its sources. Where the lab has built no kernel of that series, what is
# looked at here comes out of the package: 112 of 1,500 MB, 8 s of CPU.
unpacked() {
	local dir tarball=/usr/src/linux-source-$1.tar.xz version

	# As source_version() in scripts/kernellab/kernels/sources.py names it; patched ones stand there while a .kept is beside them.
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
			# A macro here may be a function there, which has a row of its own.
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

# A protection that a parameter switches is built into one of the lab's two kernels.
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
