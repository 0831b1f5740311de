#!/bin/bash
# lab matrix makes each boot once and loses none, even if it is killed or if other programs run its jobs. It prints the right
# table. QEMU and the recorder are stand-ins. The last part is a matrix of real guests.

# shellcheck disable=SC2016,SC2094,SC2154 # text for guests; names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
need baseline hardened
# Boots on other machines do not inherit these variables.
export KPROTPERF=$kprotperf LANG=C.UTF-8

# --- stand-ins -------------------------------------------------------------------

# In the third boot, the stand-in for record writes half of its file, then waits while the file `hold` exists.
cat >kprotperf <<TEXT
#!/bin/bash
case \$1 in
list | difference) exec "$kprotperf" "\$@" ;;
index) ;;
record)
	shift 3
	printf 'recorded %s %s' "\$LAST_APPENDED" "\$SEED" >"\$1"
	[ ! -e "$scratch/hold" ] || [ "\$(wc -l <"$scratch/log")" -lt 2 ] || { echo \$\$ >"$scratch/held"; while [ -e "$scratch/hold" ]; do sleep 0.1; done; }
	echo " by \$3 on \${BOOTED##*/} in \${LANG-no} locale" >>"\$1"
	echo "\$LAST_APPENDED \$SEED \$3" >>"$scratch/log"
	exec "\${@:3}"
	;;
merge) cat "\${@:4}" >"\$3" ;;
diff | why)
	[[ \$* != *--html* ]] || { echo "<title>\$1"; exit; }
	[ "\$1" != why ] || { cat "$scratch/why.json"; exit; }
	# The parameter costs 10 and the kernel 20, but both together cost 5 less.
	cost() { echo "\$((100 + 10 * \$(grep -c -m1 =1 "\$1") + 20 * \$(grep -c -m1 'on hardened' "\$1") - 5 * \$(grep -c -m1 '=1.*on hardened' "\$1")))"; }
	off=\$(cost baseline.data) on=\$(cost hardened.data)
	printf '{"unit": "insn", "warnings": [%s], "workload": [{"name": "[command cpu]", "probed": false, "baseline": {"mean": %d},
		"hardened": {"mean": %d}, "delta": %d, "ci": [%d.5, %d], "delta_pct": 9.996, "ci_pct": [-0.004, 11], "verdict": "%s", "p": 0.01}]}' \
		"\$(grep -q sometimes hardened.data && echo '"half < of it"')" \$off \$on \$((on - off)) \$((on - off - 2)) \$((on - off + 2)) \
		"\$(sort -u hardened.data | cut -d' ' -f2 | sort -u | paste -sd+)"
	;;
esac
TEXT
printf '#!/bin/sh\n[ ! -e %s/broken ] || { echo no input >&2; exit 3; }\n' "$scratch" >sometimes
cat >why.json <<'TEXT'
{"of": "fork", "answer": "a < b", "contexts": [{"name": "fork", "delta_pct": 20, "delta_total": 1, "delta_total_low": 0.5, "significant": true,
	"cause": "f", "protection": null}]}
TEXT
chmod +x kprotperf sometimes
real_path=$PATH
qemu_stands_in
export KPROTPERF=$scratch/kprotperf
matrix=("$lab" matrix --kernel hardened "--protection=init_on_alloc,debug_list" --workload getpid "--workload=mine=./sometimes" --boots 2)
# The protection off and on, 2 workloads and 2 boots make 8 recordings. The row A+A needs 4 more with the protection off.
boots=12

# recorded: print the number of boots, the number of repeated boots, and the seeds used with the protection off.
recorded() {
	echo "$(wc -l <log) $(sort log | uniq -d | wc -l) $(grep '=0 .*sometimes' log | cut -d' ' -f2 | sort -n | paste -sd,)"
}

# start: start a matrix in the background, and wait until its third boot is held.
start() {
	rm -rf matrix log held
	: >log
	touch hold
	mkfifo held
	"${matrix[@]}" --jobs 1 >out 2>err &
	pid=$!
	read -r holder <held
}

# --- a matrix that is killed -----------------------------------------------------

start
kill -KILL "$pid"
wait "$pid" 2>/dev/null
rm hold
try "${matrix[@]}"
is 'killed and started again, it makes each boot once' "$status:$(recorded)" "0:$boots 0 1,2,3,4"
is 'with the table of the whole' "$(csv=$(cut -d, -f1,2,10 matrix/matrix.csv) && echo "${csv//\"/}")" 'protection,workload,verdict
init_on_alloc,getpid,init_on_alloc=1
init_on_alloc,mine,init_on_alloc=1
debug_list,getpid,
debug_list,mine,
A+A,getpid,init_on_alloc=0
A+A,mine,init_on_alloc=0'
# From here on use one boot per setting. All of these boots exist already.
matrix+=(--boots 1)
boots=6
try "${matrix[@]}"
is 'of which a matrix with fewer boots is made' "$status:$(recorded)" '0:12 0 1,2,3,4'
cp matrix/matrix.json whole.json
cp -r matrix/boots whole
# In the row A+A, the second boots have other seeds: 2 with --boots 1, and 3 and 4 with --boots 2.
find whole \( -name '[34].data' -o -path '*=1/*/2.data' \) -delete

start
# Stop all processes before killing them, so that none sees another one end, as in a crash of the machine. All processes but the
# guest's command have the lock open.
others=("$pid" "$holder")
for fd in /proc/[0-9]*/fd/*; do
	[ ! "$fd" -ef matrix/lock ] || others+=("$(cut -d/ -f3 <<<"$fd")")
done
kill -STOP "${others[@]}"
kill -KILL "${others[@]}"
wait "$pid" 2>/dev/null
like 'half a recording is left' "$(find matrix/boots -name '.*.data' -exec cat {} +)" '^recorded init_on_alloc=[01] [0-9]+$'
rm hold
try "${matrix[@]}"
is 'which is made anew, and nothing else' "$status:$(recorded)" "0:$boots 0 1,2"
ok 'the recordings are those of one that nobody killed' diff -r whole matrix/boots
try "${matrix[@]}" --html
is 'each cell has its pages, if one asks' "$(cd matrix && grep -o 'href="[^"]*"' matrix.html | cut -d'"' -f2 | sed 's/%2B/+/g' | xargs cat | sort | uniq -c | xargs)" \
	'4 <title>diff 4 <title>why'
ok 'and what why says, as text' grep -q 'title="a &lt; b"' matrix/matrix.html
is 'what to read with care is marked, and said once' "$(grep '^A+A  ' matrix/matrix.txt | tr -s ' ' | cut -d' ' -f 2,6; sed -n '/^\*/,/^$/p' matrix/matrix.txt)" \
	'+10.00 +10.00*
* To be read with care:
  init_on_alloc, mine; A+A, mine: half < of it'
ok 'on the page too' grep -q '<p>\* init_on_alloc, mine; A+A, mine: half &lt; of it</p>' matrix/matrix.html
is 'nothing is left to do' "$("${matrix[@]}" --print-jobs 2>&1)" ''

# --- failures --------------------------------------------------------------------

rm -rf matrix log
touch broken
try "${matrix[@]}"
is 'what fails is no end' "$status" 0
like 'a workload has a marked cell' "$out" '^init_on_alloc +\+10\.00 \[-0\.00, \+11\.00\] init_on_alloc=1 +failed$'
like 'with its reason' "$out" '^  init_on_alloc, mine: off, boot 1: status 3: no input$'
like 'a kernel, a marked row' "$out" '^  debug_list, getpid, mine: no kernel parameter switches debug_list'
is 'CSV has reasons too' "$(grep -c 'status 3: no input' matrix/matrix.csv)" 2
rm broken
try "${matrix[@]}"
is 'it is not tried again' "$status:$(recorded)" "0:$boots 0 1,2"
try "${matrix[@]}" --retry-failed
is 'until one asks' "$status:$(wc -l <log)" "0:$((boots + 3))"
ok 'and then is as if nothing had been' cmp matrix/matrix.json whole.json

# --- two protections together (--together) ----------------------------------------

rm -rf matrix log
try "$lab" matrix --together init_on_alloc,slab_freelist_random --together debug_list,slab_freelist_random --workload getpid --boots 1
is 'two together have the boots of four ways' "$status:$(cut -d' ' -f1 log | sort | uniq -c | xargs)" '0:3 init_on_alloc=0 2 init_on_alloc=1'
like 'and say whether their costs add up' "$out" \
	'^  init_on_alloc\+slab_freelist_random, getpid: \+10\.00 and \+20\.00, sum \+30\.00; both \+25\.00; -5\.00 \[-7\.50, -2\.50\] less$'
like 'which both must have a kernel for' "$out" '^  debug_list\+slab_freelist_random, getpid: they need two kernels, debug_list-off and slab_freelist_random-off'

# --- jobs for other programs (--print-jobs) ---------------------------------------

rm -rf matrix log
try "${matrix[@]}" --print-jobs
is '--print-jobs has a line for each boot, and makes none' "$status:$(wc -l <out):$(cat log 2>/dev/null)" "0:$boots:"
ok 'which are shell commands that need nothing else' env -i HOME="$HOME" PATH="$PATH" KPROTPERF="$KPROTPERF" sh -c 'cd / && . "$0"' "$scratch/out"
ok 'that make the same recordings' diff -r whole matrix/boots
try "${matrix[@]}"
is 'of which the table is made' "$status:$(recorded):$(cmp matrix/matrix.json whole.json)" "0:$boots 0 1,2:"

# The hosts are logins to this machine by sshd, which needs no port. A host that has a folder of its name here sees that folder in
# place of this test's. Otherwise it shares this test's folder. SHLVL keeps bash from running ~/.bashrc: 50 processes per login
# if it has pyenv.
mkdir bin
apart=()
! unshare -m true 2>/dev/null || apart=(unshare -m)
sshd=$(PATH=$PATH:/usr/sbin command -v sshd)
cat >bin/ssh <<TEXT
#!/bin/sh
case " \$* " in
*" nohost "*) echo "no route to host" >&2; exit 255 ;;
*" silent "*) exit 255 ;;
esac
exec $(command -v ssh) -F $scratch/ssh_config "\$@"
TEXT
cat >ssh_config <<TEXT
ProxyCommand $scratch/login %h
IdentityFile $scratch/key
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
BatchMode yes
LogLevel ERROR
TEXT
cat >login <<TEXT
#!/bin/sh
exec ${apart[*]} sh -c '[ "${apart[*]}" = "" ] || { mount -t tmpfs none /run && mkdir /run/sshd; }
	[ ! -d "\$0" ] || { mount --bind "\$0" $scratch && cd /; }
	exec $sshd -i -f /dev/null -h $scratch/key -o LogLevel=ERROR -o AuthorizedKeysFile=$scratch/key.pub -o StrictModes=no -o UsePAM=no \\
		-o "SetEnv=SHLVL=1 PATH=\$PATH KPROTPERF=\$KPROTPERF KPROTPERF_LAB=$cache"' $scratch/\$1
TEXT
chmod +x bin/ssh login
ssh-keygen -q -t ed25519 -N '' -f key
export PATH=$scratch/bin:$PATH
hosts=(--sshlogin 1/hosta --sshlogin 1/hostb)
# by_hosts NAME: make the matrix on both hosts, and compare it with the complete matrix in the folder whole.
by_hosts() {
	rm -rf matrix log
	try "${matrix[@]}" "${hosts[@]}"
	is "$1: the table is the same" "$status:$(cmp matrix/matrix.json whole.json)" 0:
	is "$1: both have worked" "$(tail -n +2 matrix/jobs.log | cut -f2 | sort -u | paste -sd' ')" 'hosta hostb'
	ok "$1: the recordings are" diff -r whole matrix/boots
}
if [ ! "$sshd" ]; then
	skip 'two machines' 'missing: sshd; scripts/setup'
	hosts=()
elif ! ssh hosta true >ssh.log 2>&1; then
	skip 'two machines' "no login to this one: $(tail -n 1 ssh.log)"
	hosts=()
else
	by_hosts 'two machines that share the folder'
	try "${matrix[@]}" --boots 2 --sshlogin 1/hosta --sshlogin 1/nohost
	like 'a machine that cannot be reached' "$status:$err" '^120:lab: nohost does not have .*no route to host'
	try "${matrix[@]}" --boots 2 --sshlogin 1/hosta --sshlogin 1/silent
	like 'of which ssh says nothing' "$status:$err" '^120:lab: cannot log in to all of 1/hosta 1/silent'
	if [ ${#apart[@]} -gt 0 ]; then
		# Give each host a folder with copies of the programs, so that it does not share this test's folder.
		for host in hosta hostb; do
			mkdir "$host"
			cp -r machine bin kprotperf sometimes key key.pub "$host"
		done
		by_hosts 'two that do not'
		is 'which keep nothing' "$(find hosta hostb -name '*.data')" ''
	else
		skip 'two that do not' 'no mount namespaces'
	fi
fi
# --- wrong usage -----------------------------------------------------------------

for wrong in '--protection nosuch' '--together init_on_alloc' '--together init_on_alloc,nosuch' '--boots none' '--dir /tmp' '--dir ../x' '--dir -x' '--sshlogin -oProxyCommand=x' '--workload nosuchcommand' '--kernel nosuch' '--what' '--boots' \
	getpid; do
	# shellcheck disable=SC2086 # words
	try "$lab" matrix $wrong
	is "'$wrong': status 120 and one line" "$status:$(wc -l <err)" 120:1
done

# --- real guests ------------------------------------------------------------------

export PATH=$scratch/bin:$real_path KPROTPERF=$kprotperf
rm -rf matrix hosta hostb
try "$lab" matrix --kernel hardened --protection init_on_alloc --workload cow-fault --boots 1 "${hosts[@]}"
is 'a matrix of guests' "$status" 0
[ "$status" = 0 ] || echo "#   ${err//$'\n'/$'\n#   '}"
"$kprotperf" diff --format=json --section=workload matrix/boots/*init_on_alloc=[01]/cow-fault/1.data >diff.json 2>/dev/null
is 'its figures are those of diff' "$(jq -c '.cells[0] | [.delta, .delta_pct]' matrix/matrix.json)" \
	"$(jq -c '.workload[] | select(.name == "[command cpu]") | [.delta, .delta_pct]' diff.json)"
like 'of one boot per side it has no interval' "$out" '^init_on_alloc +\+[0-9]+\.[0-9]{2} not known$'
is 'where it is, is of why' "$(jq -r '.cells[0].context | "\(.name) \(.cause) \(.protection)"' matrix/matrix.json)" \
	'[page_fault] post_alloc_hook init_on_alloc'
# The row A+A compares two boots with different seeds.
is 'A+A are two boots' "$(find matrix/boots/*init_on_alloc=0 -name '*.data' -printf '%f\n' | sort | paste -sd' ')" '1.data 2.data'
done_testing
