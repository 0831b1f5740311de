#!/bin/bash
# The lab builds kernels from the user's patches, trees and options. After one real build, a stand-in replaces make. Like make,
# the stand-in compiles files that are newer than their objects. It writes their names to a log.

# shellcheck disable=SC2016,SC2154 # text for scripts; names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
need baseline
export KPROTPERF=$kprotperf

# --- a real build: 1,000 instructions more in a function ---------------------------

try "$lab" ab --patch "$repo/tests/lab/planted.patch" --accel icount --func __set_task_comm -- perl -e '$0 = "a$_" for 1 .. 1000'
is 'ab --patch builds what it needs, boots both and compares' "$status" 0
"$kprotperf" diff baseline.data hardened.data --format=json >diff.json
# Measured: 995.2 to 1,008.6 instructions in ten comparisons, more than 10 off in an eleventh. An interrupt's 10,000 instructions
# add 10 per call.
is 'the patch costs what it adds, to 3 %' \
	"$(query diff.json 'function("__set_task_comm"; "*") | close(.delta; 1000; 30)')" true

# --- stand-ins -------------------------------------------------------------------

export HOLD=$scratch/hold
mkdir bin
cat >bin/tar <<'TEXT'
#!/bin/bash
# Stand-in for `tar -xf ARCHIVE -C DIR …`
mkdir -p "$4/mm" "$4/kernel"
printf 'VERSION = 6\nPATCHLEVEL = 1\n' >"$4/Makefile"
for file in mm/slub.c mm/util.c kernel/fork.c; do
	seq -f "line %g of $file" 9 >"$4/$file"
done
find "$4" -exec touch -d 2020-01-01 {} +
TEXT
chmod +x bin/tar
make_stands_in bin <<'TEXT'
[ ! -e "$HOLD" ] || { touch "$HOLD-reached"; sleep 60; }
for file in "$src"/*/*.c; do
	object=$obj/$(basename "$file" .c).o
	[ "$file" -nt "$object" ] || continue
	basename "$file" >>"$LOG"
	! grep -n '#error' "$file" || { echo "$file:5:2: error: #error broken"; exit 2; }
	cp "$file" "$object"
done
cat "$obj"/*.o "$obj/.config" >"$obj/vmlinux"
TEXT

# change FILE LINE TEXT: print a patch that replaces LINE by TEXT.
change() {
	printf -- '--- a/%s\n+++ b/%s\n@@ -%d,3 +%d,3 @@\n line %d of %s\n-line %d of %s\n+%s\n line %d of %s\n' \
		"$1" "$1" $(($2 - 1)) $(($2 - 1)) $(($2 - 1)) "$1" "$2" "$1" "$3" $(($2 + 1)) "$1"
}

# compiled: print the files that were compiled since the last time, on one line.
compiled() {
	sort "$LOG" | tr '\n' ' '
	: >"$LOG"
}

# state [FOLDER…]: print the files of these folders of the cache, with times and checksums.
state() {
	[ $# -gt 0 ] || set -- src obj own kernels
	(cd cache && find "$@" -name 'git*' -prune -o -type f -printf '%p %T@\n' -o -printf '%p\n' &&
		find "$@" -name 'git*' -prune -o -type f -exec sha256sum {} +) 2>/dev/null | sort
}

# has KERNEL TEXT: succeed if KERNEL was built of sources with the line TEXT.
has() {
	grep -qx "$2" "$("$lab" path "$1")/vmlinux"
}

: >log
try "$lab" build
is 'a kernel without patches is built of all its files' "$status:$(compiled)" '0:fork.c slub.c util.c '
change mm/slub.c 3 'slub patched' >slub.patch
change kernel/fork.c 3 'fork patched' >fork.patch
printf 'From: A\nSubject: as in a mail\n\ntext\n---\n' | cat - fork.patch <(printf -- '-- \n2.39\n') >mail.patch

# --- patches -------------------------------------------------------------------

state src obj >before
try "$lab" build mine --patch slub.patch
is 'with one, of what it changes' "$status:$(compiled)" '0:slub.c '
ok 'and has it' has mine 'slub patched'
is 'files that the patch changes are kept as they were compiled' "$(cd "$("$lab" path mine)/source" && find . -type f | paste -sd' ')" ./mm/slub.c
ok 'with the patch' grep -qx 'slub patched' "$("$lab" path mine)/source/mm/slub.c"
ok 'it is baseline otherwise' cmp "$("$lab" path baseline)/config" "$("$lab" path mine)/config"
state src obj >after
ok 'sources and object trees are as they were, to their times' cmp before after
try "$lab" build hardened notrace
is 'so the next kernel compiles nothing again' "$status:$(compiled)" '0:'
try "$lab" build mine2 --patch slub.patch --patch mail.patch --on hardened
is 'two patches, one of them a mail, on another kernel' "$status:$(compiled)" '0:fork.c slub.c '
ok 'are both in it' eval 'has mine2 "slub patched" && has mine2 "fork patched" && has mine2 CONFIG_SLAB_FREELIST_RANDOM=y'
try "$lab" build more --patch slub.patch mail.patch
ok 'as the shell writes out *.patch' eval 'has more "slub patched" && has more "fork patched"'
try "$lab" build more2 --on mine --patch fork.patch
ok 'and on a kernel that has patches itself' eval 'has more2 "slub patched" && has more2 "fork patched"'
: >log
rm slub.patch
try "$lab" build mine
is 'it is known from then on, whatever becomes of the patch' "$status:$(compiled)$err" '0:'
try "$lab" list
like 'list shows it, and what it is' "$out" '^mine +built +baseline \+ slub\.patch$'
like 'and the others' "$out" '^mine2 +built +hardened \+ slub\.patch \+ mail\.patch$'

for text in second third; do
	change mm/slub.c 3 "slub $text" >slub.patch
	try "$lab" build mine --patch slub.patch
done
ok 'defined anew, it is what it was defined last' has mine 'slub third'
is 'one older build of it is kept' "$(cat cache/kernels/mine-*/vmlinux | grep -c 'slub second\|slub patched')" 1
# This patch adds a file and removes another.
cat >files.patch <<'TEXT'
diff --git a/mm/new.c b/mm/new.c
new file mode 100644
--- /dev/null
+++ b/mm/new.c
@@ -0,0 +1 @@
+new file
diff --git a/mm/util.c b/mm/util.c
deleted file mode 100644
TEXT
diff -u --label a/mm/util.c --label /dev/null cache/src/6.1*/mm/util.c /dev/null >>files.patch
: >log
state src >before
try "$lab" build files --patch files.patch
is 'a patch with a new file' "$status:$(compiled)" '0:new.c '
state src >after
ok 'which then is gone, and one that it removes is back' cmp before after

# --- what is refused -----------------------------------------------------------

# fails NAME REGEX COMMAND…: check that COMMAND ends with status 1 and one line, and leaves the cache as it was.
fails() {
	local name=$1 regex=$2
	shift 2
	state >before
	try "$@"
	is "$name: status 1, one line" "$status:$(grep -vc '^lab: building' err)" 1:1
	like 'which says so' "$err" "$regex"
	state >after
	ok 'and the cache is as it was' cmp before after
}

fails 'a patch that is not there' '^lab: cannot read nosuch.patch$' "$lab" build bad --patch nosuch.patch
: >empty.patch
fails 'an empty one' '^lab: empty.patch is empty$' "$lab" build bad --patch empty.patch
head -c 3000 "$lab" | gzip >binary.patch
fails 'one that is none' '^lab: cannot apply binary.patch to linux-source-6.1 .*: No valid patches' \
	"$lab" build bad --patch binary.patch
change mm/slub.c 3 'context' | sed 's/^ line 2 /&not /' >context.patch
fails 'one for other sources' '^lab: cannot apply context.patch to linux-source-6.1 .*: patch failed: mm/slub.c:2' \
	"$lab" build mine --patch context.patch
printf -- '--- a/../../x\n+++ b/../../x\n@@ -0,0 +1 @@\n+x\n' >outside.patch
fails 'one that reaches out of the sources' '^lab: cannot apply outside.patch' "$lab" build bad --patch outside.patch
change kernel/fork.c 5 '#error broken' >error.patch
fails 'one that does not compile' \
	'^lab: cannot build kernel bad: kernel/fork.c:5:2: error: #error broken; log: .*/build-bad.log:[0-9]+$' \
	"$lab" build bad --patch error.patch
echo 'CONFIG_X86=y and' >bad.config
echo 'option X' >>bad.config
fails 'options that are none' '^lab: bad.config:2: not an option line: option X$' "$lab" build bad --config bad.config
ok 'what was built under that name is there still' has mine 'slub third'

# The lab must not mistake a name for an option of a tool, or for a line of a kernel's definition.
cp bad.config ./-e.config
fails 'a name like an option' '^lab: -e.config:2: not an option line' "$lab" build bad --config -e.config
try "$lab" build bad --patch $'slub.patch\n# patch: /etc/passwd'
like 'a name of two lines is wrong usage' "$status:$err" '^2:lab: there is a line feed in'

for wrong in 'hardened --patch slub.patch' 'base --patch slub.patch' 'Mine --patch slub.patch' 'a.b --patch slub.patch' \
	'debug_list --patch slub.patch' 'debug_list-on --patch slub.patch' 'a b --patch=slub.patch' '--patch slub.patch' \
	'a --patch' 'a --on nosuch' 'a --on debian-6.1' 'mine --on more2' '--nosuch'; do
	# shellcheck disable=SC2086 # words
	try "$lab" build $wrong
	is "wrong usage 'build $wrong': status 2 and one line" "$status:$(wc -l <err)" 2:1
done

# Kill a build and all its child processes. The next build must find an unchanged cache.
: >log
change mm/util.c 3 'util patched' >util.patch
touch hold
setsid "$lab" build killed --patch util.patch >/dev/null 2>&1 &
pid=$!
for ((i = 0; i < 1200; i++)); do
	[ ! -e hold-reached ] || break
	sleep 0.05
done
ok 'a patched kernel is being built' test -d cache/src/6.1*.kept -a -d cache/obj/6.1*-main.kept
while read -r child; do
	kill -KILL "$child" 2>/dev/null
done < <(ps -o pid= -s "$pid")
rm hold
echo 'CONFIG_KFENCE=y' >other.config
try "$lab" build other --config other.config --on hardened
is 'after a SIGKILL the next kernel is built of sources as they were' "$status:$(compiled):$(find cache -name '*.kept')" '0::'
ok 'really' eval '! has other "util patched"'

# --- source trees --------------------------------------------------------------

mkdir -p 'my linux'
"$scratch/bin/tar" -xf - -C "$PWD/my linux"
git -C 'my linux' init -q
git -C 'my linux' add -A
git -C 'my linux' commit -qm 1
# theirs: print times and checksums of the user's repository.
theirs() {
	find 'my linux' -printf '%p %T@\n' | sort
	find 'my linux' -type f -exec sha256sum {} + | sort
}
: >log
theirs >before
try "$lab" build tree --tree 'my linux'
is 'a tree is built of all its files' "$status:$(compiled)" '0:fork.c slub.c util.c '
theirs >after
ok 'of which none, nor its repository, is touched' cmp before after
sed -i 's/^line 2 .*/slub edited/' 'my linux/mm/slub.c'
echo 'new' >'my linux/mm/untracked.c'
theirs >before
try "$lab" build tree --tree 'my linux'
is 'then of what has been changed since' "$status:$(compiled)" '0:slub.c untracked.c '
theirs >after
ok 'nothing of it is touched' cmp before after
ok 'what is not committed is in it' has tree 'slub edited'
try "$lab" build head --tree 'my linux@HEAD'
is 'a revision is what is committed: that has been built already' "$status:$(compiled)" '0:'
ok 'and no more' has head 'line 2 of mm/slub.c'
try "$lab" build tree
is 'a kernel stays what it was built of' "$status:$(compiled)$err" 0:
like 'and list says of what' "$("$lab" list 2>&1)" '^head +built +baseline of .*my linux@HEAD$'
try "$lab" build both --tree 'my linux@HEAD' --patch fork.patch
is 'a patch of a revision, which is checked out' "$status:$(compiled):$(find cache/src/git-* -name untracked.c)" '0:fork.c slub.c :'
ok 'is in it' has both 'fork patched'
mkdir -p no-guest
printf '#!/bin/sh\nexit 1\n' >no-guest/qemu-system-x86_64
chmod +x no-guest/qemu-system-x86_64
try env PATH="$scratch/no-guest:$PATH" "$lab" ab --baseline tree --tree 'my linux@HEAD' --accel icount -- true
like 'ab --tree builds the hardened kernel of a tree, and boots the baseline' "$status:$(tail -n 1 err)" '^120:lab: recording baseline \(kernel tree, '
ok 'which is another' eval 'has ab-my-linux-head "line 2 of mm/slub.c" && has tree "slub edited"'
try "$lab" remove ab-my-linux-head
: >log
fails 'a tree that is not there' '^lab: .*/nosuch is not a git repository' "$lab" build bad --tree nosuch
fails 'a revision that is not there' "^lab: .*/my linux has no revision 'nosuch'$" "$lab" build bad --tree 'my linux@nosuch'
git init -q other
echo hello >other/Makefile
fails 'a tree that is no kernel' '^lab: .*/other is not a Linux source tree: ' "$lab" build bad --tree other

# --- configuration fragments ---------------------------------------------------

cp -r "$(dirname "$lab")" scripts
mkdir -p patches
change mm/slub.c 5 'slub of a fragment' >patches/a.patch
printf '%s\n' '# about: patched' '# on: hardened' '# patch: patches/a.patch' "# patch: $PWD/fork.patch" \
	>scripts/kernels/patched.config
printf '%s\n' '# about: a tree' '# on: baseline' "# tree: $PWD/my linux" >scripts/kernels/ofgit.config
try scripts/lab build patched
is 'a fragment names patches' "$status:$(compiled)" '0:fork.c slub.c '
first=$(scripts/lab path patched)
change mm/slub.c 5 'slub anew' >patches/a.patch
try scripts/lab path patched
like 'with another content it is another kernel' "$status:$err" "^1:.*kernel 'patched' is not built"
try scripts/lab build patched
is 'built of what has changed' "$status:$(compiled)" '0:fork.c slub.c '
ok 'beside the other' test "$(scripts/lab path patched)" != "$first" -a -d "$first"
try scripts/lab build ofgit
is 'or a tree, by its content: it has been built already' "$status:$(compiled):$(scripts/lab path ofgit)" "0::$("$lab" path tree)"
rm patches/a.patch
try scripts/lab path patched
like 'a patch of it that is not there is named' "$status:$err" "^1:lab: kernel 'patched': cannot read the patch .*/patches/a.patch$"

# --- removal of kernels --------------------------------------------------------

try "$lab" remove nosuch
is 'a kernel that there is not' "$status:$(wc -l <err)" 2:1
try "$lab" remove mine
like 'one that another builds on stays' "$status:$err" "^1:lab: kernel 'more2' is based on 'mine'; remove it first$"
ok 'really' has mine 'slub third'
state src obj >before
try "$lab" remove more2 mine
is 'removed, a kernel of one'\''s own is not known any more' \
	"$status:$err:$(find cache/own cache/kernels -name 'mine-*' -o -name mine -o -name 'more2*')" 0::
state src obj >after
ok 'sources and objects are there for the others' cmp before after
: >log
try "$lab" remove hardened
try "$lab" path hardened
like 'one of the lab is to be built again' "$status:$err" "^1:lab: kernel 'hardened' is not built"
try "$lab" build hardened
is 'of what is there' "$status:$(compiled)" 0:
try "$lab" remove tree both
is 'a build that is another kernel, too, stays' "$status:$("$lab" path head >/dev/null && echo there)" 0:there
is 'as do the sources' "$(find cache/src -maxdepth 1 -name 'git-*' | wc -l)" 2
try "$lab" remove head
is 'with the last kernel of a repository its sources and objects go' \
	"$status:$(find cache/src cache/obj cache/kernels -maxdepth 1 -name '*git-*')" 0:

rm -rf cache/own cache/kernels/baseline-*
try "$lab" build baseline
is 'no patched kernel is taken for one with its options, known or not' \
	"$status:$(compiled):$(find "$("$lab" path baseline)" -type l)" 0::

done_testing
