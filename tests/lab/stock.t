#!/bin/bash
# The lab fetches and verifies kernels of a distribution, boots them with their own modules, and measures them. tests/live/demo.t
# compares two boots of such a kernel by a kernel parameter. tests/long/stock.t does both with more kernels.

# shellcheck disable=SC2016,SC2154 # text for guests; names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/../live/lib.sh
. "$(dirname "$0")/../live/lib.sh"
# shellcheck source=SCRIPTDIR/../live/flavour.sh
. "$repo/tests/live/flavour.sh"
side "$@"
export KPROTPERF=$kprotperf
fetch debian-6.1-cloud
dir=$("$lab" path debian-6.1-cloud)

try "$lab" fetch debian-6.1-cloud
is 'fetching again says nothing' "$status:$out$err" 0:
try env http_proxy=http://127.0.0.1:9 "$lab" fetch debian-6.1-cloud
is 'and needs no network' "$status:$out$err" 0:
try env http_proxy=http://127.0.0.1:9 "$lab" fetch --newer debian-6.1-cloud
like 'without a network one line says so' "$status:$(wc -l <err):$err" "^1:1:lab: cannot read Debian's list of packages, .*connect"
is 'and what was fetched is still there' "$("$lab" path debian-6.1-cloud)" "$dir"
try "$lab" fetch debian-6.0-cloud@bookworm-security
like 'a kernel that Debian does not have' "$status:$err" '^1:lab: Debian has no kernel debian-6.0-cloud@bookworm-security '
try "$lab" fetch baseline
like 'one that is not of Debian is wrong usage' "$status:$err" "^2:lab: cannot fetch 'baseline': debian-6.1, "
try "$lab" run --kernel debian-6.1-cloud@sid -- true
like 'one that was not fetched: how to' "$status:$err" '^120:lab: .*not fetched; fetch it with: scripts/lab fetch debian-6.1-cloud@sid$'
try "$lab" build debian-6.1-cloud
like 'nor can it be built' "$status:$err" '^2:lab: .* is fetched, not built'
try "$lab" list
like 'list shows it, with its version' "$out" '^debian-6.1-cloud +fetched +.*6\.1\.0-[0-9]+-cloud-amd64 \(6\.1\.'

# --- kernel images -----------------------------------------------------------

# Use an empty cache, where no kernel name is taken. Its files are as small as possible.
export KPROTPERF_LAB=$scratch/cache
release=$(ls "$dir/lib/modules")
mkdir -p image/usr/lib/modules
try "$lab" fetch file:image
like 'a folder that is no image' "$status:$err" '^1:lab: image is not an unpacked kernel image: no folder lib/modules/RELEASE$'
cp -r "$dir/lib/modules/$release" image/usr/lib/modules/
try "$lab" fetch file:image
like 'one without the kernel' "$status:$err" "^1:lab: image has modules of $release, but neither boot/vmlinuz-$release nor "
cp "$dir/bzImage" "image/usr/lib/modules/$release/vmlinuz"
try "$lab" fetch file:image baseline
like 'a name that is taken' "$status:$err" "^1:lab: 'baseline' is the name of another kernel"
mkdir -p "image/usr/lib/debug/lib/modules/$release/kernel/fs"
cp "$dir/lib/modules/$release/kernel/fs/overlayfs/overlay.ko" "image/usr/lib/debug/lib/modules/$release/kernel/fs/overlay.ko.debug"
# Compress modules as other distributions do.
find image -name overlay.ko -exec xz {} + -o -name virtiofs.ko -exec zstd -q --rm {} +
try "$lab" fetch file:image mine
is 'an image of any distribution' "$status:$err" "0:lab: keeping the debug symbols of modules of $release"
is 'is a kernel' "$("$lab" path mine)/bzImage" "$(ls "$scratch"/cache/stock/versions/*/bzImage)"
is 'with its modules in its initramfs' "$(cpio --quiet -it <"$scratch/cache/stock/mine/initramfs" | grep -c '\.ko$')" \
	"$(cpio --quiet -it <"$dir/initramfs" | grep -c '\.ko$')"
is 'the debug files of its modules are kept, compressed' \
	"$(gzip -cd "$scratch/cache/stock/mine/debug/modules/$release/kernel/fs/overlay.ko.debug.gz" | sha256sum)" \
	"$(sha256sum <"image/usr/lib/debug/lib/modules/$release/kernel/fs/overlay.ko.debug")"
try "$lab" run --accel icount --kernel mine -- sh -c 'uname -r; ls /lib/modules; modprobe loop && touch /usr/x ./written && echo done'
is 'that runs commands, with its own modules' "$status:$out" "0:$release"$'\n'"$release"$'\ndone'
ok 'the current directory is the host'\''s' test -e written
ok 'and / is not' test ! -e /usr/x
# This stand-in for QEMU fails before it asks for any file.
mkdir -p fake
printf '#!/bin/sh\nexit 1\n' >fake/qemu-system-x86_64
chmod +x fake/qemu-system-x86_64
try env PATH="$scratch/fake:$PATH" "$lab" run --accel icount --kernel mine -- true
is 'what serves files ends with the run, even without a guest' "$status:$(pgrep -af -- "$KPROTPERF_LAB/runs" | grep -v pgrep)" 120:
ln -s mine "$KPROTPERF_LAB/stock/debian-6.1-cloud"
try env PATH="$scratch/fake:$PATH" "$lab" ab --accel icount --kernel debian-6.1-cloud --protection init_on_alloc -- true
like 'what a protection needs debug symbols for: how to get them' "$status:$err" \
	'^120:lab: without debug symbols .* inlined in debian-6.1-cloud; .*: scripts/lab fetch --dbg debian-6.1-cloud$'
find image -name 'virtiofs.ko*' -delete
try "$lab" fetch file:image mine2
is 'an image is known by its kernel' "$status:$err" 0:
rm -rf cache
try "$lab" fetch file:image mine
like 'what a kernel lacks to be a guest is named' "$status:$err" \
	"^1:lab: kernel $release cannot be a guest of the lab: it lacks CONFIG_9P_FS with CONFIG_NET_9P_VIRTIO, and CONFIG_VIRTIO_FS$"
is 'and leaves nothing that looks fetched' "$("$lab" path mine 2>/dev/null)" ''
# Let no file grow beyond 1 MB, as on a full disk.
(ulimit -f 1000 && trap '' XFSZ && "$lab" fetch file:image mine) >out 2>err
like 'nor does one that there is no room for' "$?:$(wc -l <err):$(<err)" '^1:1:lab: cannot copy image into .*: File size limit exceeded'
unset KPROTPERF_LAB

# --- recordings on this kernel -----------------------------------------------

flavour debian-6.1-cloud

try "$lab" ab --kernel debian-6.1-cloud --protection kfence -- true
like 'a protection that the kernel was built without' "$status:$err" '^120:lab: kernel debian-6.1-cloud has no kfence: CONFIG_KFENCE is not set$'
try "$lab" ab --kernel debian-6.1-cloud --protection debug_list -- true
like 'and one that no parameter switches' "$status:$err" '^120:lab: no kernel parameter switches debug_list'
try "$lab" ab --kernel debian-6.1-cloud --hardened hardened -- true
like 'both sides are this kernel' "$status:$err" '^120:lab: --kernel is for both sides'

done_testing
