#!/bin/bash
# lab run --on and lab matrix --on boot a machine with the wanted kernel, then with its default kernel, even if something fails or
# is killed. Each failure is one line. A stand-in replaces ssh and the machine; tests/long/on.t uses a real one.

# shellcheck disable=SC2094,SC2154 # text for the stand-in; names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

# The stand-in for the machine: m/state is its answer to `on-host state`, m/next its state after the next boot, m/log its
# commands. A reset removes m/hold, which ends the running command.
host=machine.$$
mkdir bin m
cat >bin/ssh <<TEXT
#!/bin/bash
cd "$scratch" || exit
while [ "\$1" = -o ]; do shift 2; done
[ "\$1" != -- ] || shift
[ ! -e m/down ] || { echo "ssh: connect to host \$1 port 22: No route to host" >&2; exit 255; }
shift
# Run the command like sshd on the machine, with the test's folder m in place of /run.
set -- "\${1//\/run\//$scratch/m/}"
case \$1 in
"sh -s -- 'state'") cat m/state ;;
"sh -s -- 'home'")
	cat m/state
	grep -q 'default\$' m/state || { echo home >>m/log; rm -f m/hold; echo "home\$EPOCHREALTIME 1.0 default" >m/state; }
	;;
"sh -s -- 'boot' "*)
	[ ! -e m/refuse ] || { echo refused >&2; exit 1; }
	echo "\$1" >>m/log
	cp m/next m/state
	;;
"sh -s -- 'kernel' "*) printf 'abc\nCONFIG_SOME=y\n' ;;
*) exec sh -c "\$1" ;;
esac
TEXT
chmod +x bin/ssh
export PATH=$scratch/bin:$PATH

# machine: bring the stand-in for the machine into its first state.
machine() {
	rm -rf m
	mkdir m
	: >m/log
	echo 'id0 1.0 default' >m/state
	echo 'id1 6.1.0-x lab' >m/next
}
on=("$lab" run --on "ssh:$host" --kernel 6.1.0-x)

# after NAME [END]: check that the machine runs its default kernel again, and that its log ends with END (default: home).
after() {
	is "$1: the machine has its default kernel" "$(cut -d' ' -f3 m/state; tail -n 1 m/log)" "default${2-$'\n'home}"
}

# --- lab run --on -----------------------------------------------------------------

machine
try "${on[@]}" --append 'a=1 b="2 3"' -- sh -c 'cat m/state; pwd; exit 3'
is 'the command runs under the kernel' "$status:$out" "3:id1 6.1.0-x lab
$scratch"
is 'which has the parameters' "$(head -n 1 m/log)" "sh -s -- 'boot' '6.1.0-x' 'a=1 b=\"2 3\"' 'sh'"
after 'a command'

echo 'id1 6.1.0-x lab' >m/state
try "${on[@]}" -- true
is 'what an earlier lab left there returns first' "$status:$(cut -d' ' -f4 m/log | tail -n 3 | paste -sd' ')" "0:home 'boot' home"

# --- failures ---------------------------------------------------------------------

# fails NAME REGEX: check that the status is 120, and that stderr is one line, which matches REGEX.
fails() {
	like "$1" "$status:$(wc -l <err):$err" "^120:1:lab: $host: $2"
}
machine
touch m/down
try "${on[@]}" -- true
fails 'a machine that cannot be reached' "cannot log in: .*No route to host; see that this works: ssh $host true"
machine
touch m/refuse
try "${on[@]}" -- true
fails 'one that cannot boot the kernel' 'cannot boot kernel 6\.1\.0-x: refused$'
after 'which stays' ''
machine
echo 'id1 1.0 default' >m/next
try "${on[@]}" -- true
fails 'one that comes back with another' 'came back with its default kernel instead of 6\.1\.0-x'
machine
cp m/state m/next
try "${on[@]}" --timeout 1 -- true
fails 'one that does not come back' 'did not come back with kernel 6\.1\.0-x within 1 s; .*reset it'
machine
try "${on[@]}" -- sh -c 'echo "id2 1.0 default" >m/state; exit 255'
fails 'one that panics while the command runs' 'the connection ended while the command ran'
machine
KPROTPERF=true try "${on[@]}" -o some.data -- true
fails 'a recording that does not come' 'cannot fetch the recording: .*No such file'
after 'whose machine returns'
ok 'and leaves no file' test ! -e some.data
like 'what is on the machine says what is missing there' "$(sh "$repo/scripts/kernellab/guests/on-host" boot nosuch '' 2>&1)" \
	'^there is no /boot/vmlinuz-nosuch; install it'

# --- a lab that is killed ---------------------------------------------------------

for signal in TERM KILL; do
	machine
	touch m/hold
	"${on[@]}" -- sh -c 'touch m/started; while [ -e m/hold ]; do sleep 0.1; done' >out 2>err &
	pid=$!
	until [ -e m/started ]; do sleep 0.05; done
	kill -"$signal" "$pid"
	wait "$pid" 2>/dev/null
	status=$?
	is "SIG$signal ends it" "$status" "$((128 + $(kill -l "$signal")))"
	# If the lab was killed, its guard process holds the lock until the machine runs its default kernel.
	flock -w 600 "$cache/locks/on-$host" true
	after "SIG$signal"
done

# --- lab matrix --on --------------------------------------------------------------

machine
cat >kprotperf <<TEXT
#!/bin/bash
case \$1 in
list) exec "$kprotperf" "\$@" ;;
record)
	[[ \$* = "record --warmup=1 --control-run -o $scratch/m/"*" -- "* ]] || exit 9
	tail -n 1 m/log >"\$5"
	;;
merge) cat "\${@:4}" >"\$3" ;;
diff)
	printf '{"unit": "ns", "warnings": [], "workload": [{"name": "[command cpu]", "probed": false, "baseline": {"mean": 100},
		"hardened": {"mean": 110}, "delta": 10, "delta_pct": 10, "ci": [9, 11], "ci_pct": [9, 11], "verdict": "%s"}]}' \
		"\$(grep -o '=[01]' hardened.data | paste -sd+)"
	;;
*) exit 1 ;;
esac
TEXT
chmod +x kprotperf
export KPROTPERF=$scratch/kprotperf
matrix=("$lab" matrix --on "ssh:$host" --kernel 6.1.0-x --boots 2 --workload w=true --protection)
try "${matrix[@]}" init_on_alloc,hardened_usercopy
is 'a matrix has the boots of both sides, and of the floor' "$status:$(grep -o 'init_on_alloc=[01]' m/log | paste -sd' ')" \
	'0:init_on_alloc=0 init_on_alloc=1 init_on_alloc=0 init_on_alloc=0 init_on_alloc=1 init_on_alloc=0'
like 'and the cells of diff' "$out" '^init_on_alloc +\+10\.00 \[\+9\.00, \+11\.00\] =1\+=1$'
like 'what the kernel does not have is a marked one' "$out" \
	'^  hardened_usercopy, w: kernel 6\.1\.0-x has no hardened_usercopy: CONFIG_HARDENED_USERCOPY is not set'
after 'a matrix'
rm -rf matrix
touch m/refuse
try "${matrix[@]}" init_on_alloc
like 'what fails has its reason there' "$status:$out" "init_on_alloc, w: off, boot 1: status 120: $host: cannot boot kernel 6\.1\.0-x: refused"

# --- wrong usage ------------------------------------------------------------------

for wrong in 'run --on ssh: --kernel x true' 'run --on ssh:-oProxyCommand=x --kernel x true' 'run --on x --kernel x true' 'run --on ssh:x true' 'run --on ssh:x --kernel x --cpus 2 true' \
	'matrix --on ssh:x' 'matrix --on ssh:x --series 6.12' 'matrix --on x --kernel x' 'matrix --on ssh:x --kernel x --sshlogin y'; do
	# shellcheck disable=SC2086 # words
	try "$lab" $wrong
	is "'$wrong': status 120 and one line" "$status:$(wc -l <err)" 120:1
done
done_testing
