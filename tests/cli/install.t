#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Test make install and make uninstall, and that man pages and each shell's completion agree with --help.

# shellcheck disable=SC2016,SC2154 # text for shells; names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

installed() { make -C "$repo" BUILD="$build" DESTDIR="$scratch/root" PREFIX=/usr "$1"; }
system() { find root -printf '%p %y %m %l\n' | sort; }

# These folders exist before the installation. One is empty, and one has a mode that make install does not set.
mkdir -p root/usr/share/{man,fish} && chmod 2775 root/usr/share/man && echo other >root/usr/share/fish/other
system >before
ok 'make install' installed install
ok 'make install, once more' installed install
lab=root/usr/bin/kprotperf-lab
try "$lab" --help
like 'the lab runs where it is installed, under its name there' "$status:$(head -n 1 out)" '^0:usage: kprotperf-lab build'
try "$lab" path debug-1.0
like 'it knows its kernels' "$status:$err" "^2:lab: unknown kernel 'debug-1\.0'.*see kprotperf-lab --help"
ok 'workloads' root/usr/lib/kprotperf/build/workloads/getpid -n 1
share=$scratch/root/usr/share
kprotperf=$scratch/root/usr/bin/kprotperf
export PATH=$scratch/root/usr/bin:$PATH
for page in README.md CHANGELOG.md docs/accounting.md docs/internals/why.md; do
  ok "$page" cmp "$repo/$page" "$share/doc/kprotperf/$page"
done

run --version
version=$(sed -n 's/^VERSION := //p' "$repo/Makefile")
like '--version: what was built' "$(<out)" "^kprotperf $version\$"
like '--version: with which libraries' "$(<out)" "libbpf $(pkg-config --modversion libbpf), .*libRmath $(pkg-config --modversion libRmath)"

# completes SHELL WORD…: print the sorted completions that SHELL offers after the last WORD.
completes() {
  local shell=$1
  shift
  case $shell in
  bash)
    bash --norc -c '. /usr/share/bash-completion/bash_completion; . "$0/bash-completion/completions/kprotperf"
      COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
      read -ra COMP_WORDS <<<"${COMP_LINE//=/ = }"
      [ "${COMP_LINE%[ =]}" = "$COMP_LINE" ] || COMP_WORDS+=("")
      COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
      _kprotperf 2>/dev/null; printf "%s\n" "${COMPREPLY[@]}"' "$share" "$@" | sed 's/=$//'
    ;;
  fish)
    XDG_CONFIG_HOME=$scratch fish -N -c 'source $argv[1]/fish/vendor_completions.d/kprotperf.fish; complete -C "$argv[2]"' \
      "$share" "$*" | cut -f 1 | sed 's/^--[a-z-]*=\(.\)/\1/; s/=$//'
    ;;
  zsh)
    # Replace zsh's completion functions by functions that print their arguments.
    zsh -f -c 'words=(${(z)2} "") CURRENT=$#words fpath=($1/zsh/site-functions)
      [[ $2 == *[^\ ] ]] && words[-1]=() CURRENT=$#words
      _describe() { print -rl -- ${${(P)2}%%:*} }
      _arguments() { for s; do
        [[ $words[-1] == *= && $s == \**$words[-1]*\(* ]] && print -rl -- ${(z)${${s##*\(}%\)}}
        [[ $words[-1] == *= || $s != \*--* ]] || print -r -- ${${s#\*}%%[=\[]*}
      done }
      autoload -U _kprotperf; _kprotperf' - "$share" "$*"
    ;;
  esac | grep -v '^$' | sort -u
}

export ARGP_HELP_FMT=opt-doc-col=60,rmargin=1000
run --help
commands=$(sed -n 's/^  \([a-z]*\) .*  [a-z].*/\1/p' out | grep -v kprotperf | sort)
is 'a man page for each command' "$(find "$share/man/man1" -name 'kprotperf-*.1' | sed 's/.*kprotperf-//; s/\.1$//' | sort)" \
  "$(printf '%s\n' "$commands" lab | sort)"
for shell in bash fish zsh; do
  if ! command -v $shell >/dev/null || { [ $shell = bash ] && [ ! -e /usr/share/bash-completion ]; }; then
    skip "completion in $shell" "missing: $shell (scripts/setup)"
    continue
  fi
  is "$shell: commands" "$(completes $shell 'kprotperf ' | grep -v '^-')" "$commands"
  like "$shell: choices" "$(completes $shell 'kprotperf diff --sort=' | paste -sd' ')" '^delta delta_pct delta_total name p$'
  wrong=''
  for command in $commands; do
    run "$command" --help
    sed -n 's/^  *\(-\|-.*, -\)\(-[a-z-]*\).*/-\2/p' out | sort -u >options
    completes $shell "kprotperf $command --" | grep -- '^--.' | diff options - >difference || wrong="$wrong$command: $(<difference)"
  done
  is "$shell: options of each command" "$wrong" ''
done

wrong=''
for command in $commands; do
  page=$share/man/man1/kprotperf-$command.1
  LC_ALL=C.UTF-8 man --warnings --local-file "$page" >text 2>err || wrong+="$command "
  [ ! -s err ] || wrong+="$command: $(<err) "
  run "$command" --help
  sed -n 's/^ *\(-[^ ]*\(, -[^ ]*\)*\).*/\1/p' out >options
  for section in EXAMPLES 'EXIT STATUS' 'SEE ALSO'; do
    grep -qx "$section" text || wrong+="$command: $section "
  done
  while read -r option; do
    grep -qF -- "$option" text || wrong+="$command: $option "
  done <options
done
is 'man pages have all options, and no mistakes' "$wrong" ''
is 'docs that they speak of are there' "$(sed 's/\\//g' "$share"/man/man1/* | grep -o 'docs/[a-z/-]*\.md' | sort -u |
  (cd "$share/doc/kprotperf" && xargs ls 2>&1 >/dev/null))" ''
ok 'make uninstall' installed uninstall
system >after
ok 'leaves what was there, as it was' diff before after

done_testing
