#!/bin/bash
# Test lab run --on and lab matrix --on. A guest with sshd stands for the other machine. When the machine is reset, its QEMU
# ends, and a new QEMU starts with the default kernel. A kernel that kexec starts runs in the same QEMU.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/../lab/lib.sh
. "$(dirname "$0")/../lab/lib.sh"
PATH=$PATH:/usr/sbin:/sbin
for program in sshd kexec ssh-keygen; do
	command -v "$program" >/dev/null || {
		skip 'a machine with sshd and kexec' "missing: $program; scripts/setup --for=lab-on"
		done_testing
		exit
	}
done
fetch debian-6.1 debian-6.1-rt
export KPROTPERF=$kprotperf
mkdir bin
ssh-keygen -q -t ed25519 -N '' -f key
ssh-keygen -q -t ed25519 -N '' -f host-key
# Choose a port that is never the source of a connection. Otherwise, while the machine is off, a connection to this port could
# come from this port and connect to itself.
port=$(perl -MIO::Socket::INET -e 'for (1..100) { $p = 20000 + int rand 10000;
	IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1:$p") and last } print $p')
cat >bin/qemu-system-x86_64 <<TEXT
#!/bin/sh
exec $(command -v qemu-system-x86_64) "\$@" -nic user,model=virtio-net-pci,restrict=on,hostfwd=tcp:127.0.0.1:$port-10.0.2.15:22
TEXT
cat >bin/ssh <<TEXT
#!/bin/sh
exec $(command -v ssh) -F none -i $scratch/key -p $port -o ServerAliveInterval=10 -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "\$@"
TEXT
# This script runs in the guest. It sets up the machine's kernels, network, reset and sshd.
cat >machine <<TEXT
#!/bin/bash
mkdir -p /run/boot /run/modules /run/sshd
for dir in $("$lab" path debian-6.1) $("$lab" path debian-6.1-rt); do
	release=\$(ls "\$dir/lib/modules")
	ln -s "\$dir/bzImage" "/run/boot/vmlinuz-\$release"
	ln -s "\$dir/initramfs" "/run/boot/initrd.img-\$release"
	ln -s "\$dir/config" "/run/boot/config-\$release"
	ln -s "\$dir/lib/modules/\$release" /run/modules/
done
mount --bind /run/boot /boot
mount --bind /run/modules /lib/modules
modprobe virtio_net
until [ -e /sys/class/net/eth0 ]; do sleep 0.1; done
ip addr add 10.0.2.15/24 dev eth0
ip link set eth0 up
printf '#!/bin/sh\nsync\necho b >/proc/sysrq-trigger\n' >/usr/local/sbin/reboot
chmod 755 /usr/local/sbin/reboot
install -m 600 key.pub host-key /run
exec /usr/sbin/sshd -D -e -f /dev/null -h /run/host-key -o AuthorizedKeysFile=/run/key.pub -o StrictModes=no -o UsePAM=no -o PidFile=none
TEXT
chmod +x bin/* machine
export PATH=$scratch/bin:$PATH
touch plugged
trap 'rm -f plugged; kill "$(<lab.pid)"; rm -rf "$scratch"' EXIT
while [ -e plugged ]; do
	"$lab" run --kernel debian-6.1 --timeout 100000 -- ./machine &
	echo $! >lab.pid
	wait $!
done >machine.log 2>&1 &
host=root@127.0.0.1
release=$(ls "$("$lab" path debian-6.1-rt)/lib/modules")

# default: wait until the machine answers, and print the release of its kernel.
default() {
	until ssh -o LogLevel=ERROR -o ConnectTimeout=10 "$host" 'uname -r; grep -ow kprotperf.lab /proc/cmdline' 2>/dev/null; [ $? -ne 255 ]; do
		sleep 1
	done
}
is 'the machine' "$(default)" "$(ls "$("$lab" path debian-6.1)/lib/modules")"
was=$(default)

try "$lab" run --on "ssh:$host" --kernel nosuch -- true
like 'a kernel that is not there' "$status:$(wc -l <err):$err" "^120:1:lab: $host: cannot boot kernel nosuch: there is no /boot/vmlinuz-nosuch; .*$release"

try "$lab" run --on "ssh:$host" --kernel "$release" --append sysrq_always_enabled -- sh -c 'uname -r; tail -c 21 /proc/cmdline; exit 3'
is 'it runs a command under the kernel, with the parameter' "$status:$out" "3:$release
sysrq_always_enabled"
is 'the default kernel is back after it' "$(default)" "$was"

try "$lab" matrix --on "ssh:$host" --kernel "$release" --protection init_on_alloc --workload cow-fault --boots 1
is 'a matrix of it' "$status" 0
is 'has the boots of both sides, and of the floor' "$(for file in matrix/boots/*/cow-fault/*.data; do
	"$kprotperf" report --format=json --section=environment "$file" 2>/dev/null | jq -r '.environment |
		"\(.["kernel.release"]) \(.["kernel.cmdline"] | match("init_on_alloc=.") | .string)"'
done | sort | paste -sd,)" "$release init_on_alloc=0,$release init_on_alloc=0,$release init_on_alloc=1"
# In instructions, the protection costs the command 5 %, and the noise is 0.5 %.
is 'the cell has the cost of the protection' "$(jq '.cells | map(.delta_pct) | .[0] > 2 and .[0] > .[1]' matrix/matrix.json)" true
is 'the default kernel is back after the matrix' "$(default)" "$was"

"$lab" run --on "ssh:$host" --kernel "$release" -- sh -c 'touch started; sleep 1000000' >out 2>err &
pid=$!
until [ -e started ]; do sleep 1; done
kill -KILL "$pid"
wait "$pid" 2>/dev/null
# A process of the lab still runs. It holds this lock until the machine runs its default kernel again.
flock -w 1000 "$cache/locks/on-$host" true
is 'the default kernel is back if the lab is killed' "$(default)" "$was"
done_testing
