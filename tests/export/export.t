#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kprotperf export, each format opened by what it is for. Perfetto's trace_processor is in neither Debian nor npm: its format is
# read by protoc, with the fields that Perfetto's schema has.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
# shellcheck source=tests/export/npm.sh
. "$repo/tests/export/npm.sh"

fixture hardened hostile exact empty nanoseconds slow

usage 'no format specified' export hardened.data
usage ", not 'svg'" export --to=svg hardened.data
formats=$(sed -n "s/.*--to is \(.*\), not 'svg'.*/\1/p" err | sed 's/,\| or / /g')
fails 1 'record with --freq' export --to=pprof empty.data
fails 1 'Is a directory' export --to=pprof -o . hardened.data

# export_to FORMAT NAME: NAME.data into the file NAME.FORMAT.
export_to() {
  run export --to="$1" -o "$2.$1" "$2.data"
  [ "$status" -eq 0 ] && [ ! -s out ] && [ ! -s err ] && [ -s "$2.$1" ]
  report_test $? "export --to=$1 $2.data"
}
# shellcheck disable=SC2086 # words
for format in ${formats:-none}; do
  ok "docs/exports.md says what opens $format" grep -q "^| \`$format\` | ." "$repo/docs/exports.md"
  for name in hardened hostile exact; do
    export_to $format $name
  done
done
run export --to=openmetrics nanoseconds.data
cp out nanoseconds.openmetrics

# 63 of fold's 75 samples have extract_entropy, and 61 end there.
if has go; then
  try go tool pprof -sample_index=samples -top hardened.pprof
  like 'pprof: self and total' "$out" '^ *61 81\.33% 81\.33% +63 84\.00%  extract_entropy$'
  like 'pprof: inlined bodies' "$out" '70 93\.33%  shuffle_freelist \(inlined\)$'
  try go tool pprof -sample_index=samples -peek='^extract_entropy$' hardened.pprof
  like 'pprof: callers' "$out" '^ +63   100% \|   shuffle_freelist \(inlined\)$'
  try go tool pprof -top hardened.pprof
  like 'pprof: CPU time, samples times their period' "$out" 'accounting for 75225675instructions, 100%'
  try go tool pprof -top exact.pprof
  like 'pprof: an exact recording has instructions' "$out" '^Type: instructions'
  ok 'pprof: hostile names' go tool pprof -top hostile.pprof
fi

if has promtool; then
  for name in hardened hostile exact nanoseconds; do
    mkdir -p "$name.tsdb/wal"
    try promtool tsdb create-blocks-from openmetrics "$name.openmetrics" "$name.tsdb"
    report_test "$status" "promtool takes $name.openmetrics"
  done
  try promtool tsdb dump hardened.tsdb
  like 'promtool: calls, at the time of the recording' "$out" '"kprotperf_calls_total".*kind="syscall", name="clone"} 20 [1-9][0-9]*000$'
  like 'promtool: on-CPU time' "$out" '"kprotperf_oncpu_instructions_total".*name="clone"} 2\.74697591e\+08 '
  like 'promtool: samples by function' "$out" '"kprotperf_samples_total".*context="clone".*name="extract_entropy"} 61 '
  try promtool tsdb dump nanoseconds.tsdb
  like 'promtool: seconds' "$out" '"kprotperf_oncpu_seconds_total".*name="\[page_fault\]"} 0\.00[0-9]+ '
fi

if has protoc; then
  # The slices of TRACK as "BEGIN NAME", then "END TIME", a line each.
  slices() {
    protoc -I "$here" --decode=Trace perfetto.proto <"$1.perfetto" | awk -v track="$2" '
      /timestamp:/ { time = $2 }
      /type:/ { type = $2 }
      /track_uuid:/ { mine = $2 == track; if (mine && type ~ /END/) print time, "end" }
      mine && /^    name:/ { sub(/.*name: /, ""); print time, $0 }'
  }
  is 'perfetto: stacks are slices in each other, as long as they were sampled' "$(slices hardened 1 | sed -n 7,16p)" \
    '4012036 "clone"
4012036 "[user]"
5015045 end
5015045 "kernel_clone"
5015045 "allocate_slab"
5015045 "shuffle_freelist (inlined)"
5015045 "extract_entropy"
66198594 "[irqs_off]"
68204612 end
68204612 end'
  is 'perfetto: a call that was kept whole, in order' "$(slices exact 2)" \
    '0 "allocate_slab"
0 "mm/slub.c:1900"
10 end
10 "loop, 8 times"
10 "mm/slub.c:1900"
82 end
82 end
82 "mm/slub.c:1900"
100 end
100 end'
  "$kprotperf" export --to=perfetto slow.data -o slow.perfetto
  is 'perfetto: slow calls, each in its caller' "$(slices slow 3)" \
    '0 "clone"
1000000 "allocate_slab"
21000000 end
30000000 end'
  is 'perfetto: a slow call has its values as arguments' "$(protoc -I "$here" --decode=Trace perfetto.proto <slow.perfetto |
    grep -A3 debug_annotations | tr -d ' \n')" \
    'debug_annotations{string_value:"4096"name:"n"}debug_annotations{string_value:"0xcc0"name:"flags"}'
  like 'perfetto: on a track of their thread' "$(protoc -I "$here" --decode=Trace perfetto.proto <slow.perfetto)" \
    'name: "slow calls of thread 4711 \(\?\), run 1"'
  is 'perfetto: each slice ends' "$(slices hostile 1 | grep -c '"')" "$(slices hostile 1 | grep -c end$)"
fi

# The flame graph; dom NAME [SCRIPT]: what it is in a browser after SCRIPT, a frame a line.
for name in hardened hostile exact; do
  run fold --svg $name.data
  cp out $name.svg
  ok "fold --svg $name.data is XML" xmllint --noout $name.svg
done
is 'flame graph: as wide as sampled, above its caller' \
  "$(grep -o 'data-n="\(shuffle_freelist (inlined)\|extract_entropy\)" data-x="5".*' hardened.svg | grep -o ' y="[0-9]*" width="[0-9.]*"')" \
  ' y="108" width="991.20"
 y="92" width="991.20"'
if has chromium; then
  dom() {
    sed "s~^]]></script>~frames.find(g => g.dataset.n == 'copy_process').id = 'there'; ${2-}\n&~" "$1.svg" >page.svg
    timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/chromium" --window-size="${width:-1200},800" --virtual-time-budget=5000 \
      --dump-dom "file://$scratch/page.svg" 2>chromium.log
  }
  click="dispatchEvent(new MouseEvent('click', { bubbles: true }));"
  shown=$(dom hardened "one('there').children[1].$click")
  like 'flame graph: a click makes a frame as wide as the page' "$shown" '<g data-n="copy_process".*<rect x="10" y="[0-9]*" width="1180"'
  like 'flame graph: what calls it is as wide, and paler' "$shown" 'data-n="clone".* style="opacity: 0.6;".*<rect x="10" y="[0-9]*" width="1180"'
  like 'flame graph: its name has room' "$shown" '>kmem_cache_alloc</text>'
  like 'flame graph: what is beside it is gone' "$shown" 'data-n="extract_entropy".* style="[^"]*display: none;'
  shown=$(dom hardened "one('there').children[1].$click one('reset').$click")
  like 'flame graph: and back' "$shown" '<g data-n="copy_process".*<rect x="1079\.86[0-9]*" y="[0-9]*" width="110\.13'
  like 'flame graph: as wide as the window' "$(width=700 dom hardened)" '<rect x="10" y="[0-9]*" width="680"'
  shown=$(dom hardened "window.prompt = () => 'entropy|^shuffle'; one('search').$click")
  is 'flame graph: names that were searched for' "$(grep -c 'class="hit"' <<<"$shown")" 3
  like 'flame graph: and their share, without those in another' "$shown" '>Matched: 93\.3 %</text>'
  shown=$(dom hardened "window.prompt = () => 'entropy'; document.dispatchEvent(new KeyboardEvent('keydown', { key: 'f', ctrlKey: true })); one('search').$click")
  is 'flame graph: Ctrl-F; a second click clears it' "$(grep -c 'class="hit"\|>Matched' <<<"$shown")" 0
  like 'flame graph: hostile names' "$(dom hostile)" '>frame one;two..0a3</text>'
fi

if fetched 'opened by speedscope and profiler-cli'; then
  export HOME=$scratch # where its daemon keeps a socket
  viewer=$npm/node_modules/.bin/profiler-cli
  for name in hardened hostile exact; do
    # As "load" does, which gives it half a second to begin with.
    "$viewer" --daemon "$PWD/$name.firefox-profiler" --session "$name" >/dev/null 2>&1 &
    log=$HOME/.profiler-cli/$name.log
    for _ in {1..600}; do
      grep -q 'Profile loaded\|Failed' "$log" 2>/dev/null && break
      sleep 0.1
    done
    ok "firefox-profiler opens $name.firefox-profiler" grep 'Profile loaded successfully' "$log"
    "$viewer" thread functions >"$name.functions" 2>&1
    "$viewer" thread samples >"$name.samples" 2>&1
    "$viewer" stop --all >/dev/null 2>&1
  done
  like 'firefox-profiler: self and total' "$(<hardened.functions)" 'extract_entropy - self: 61 \(81\.3%\), total: 63 \(84\.0%\)'
  like 'firefox-profiler: the heaviest stack' "$(<hardened.samples)" '4\. shuffle_freelist \(inlined\) - total: 70 .* self: 7 '
  like 'firefox-profiler: categories' "$(<hardened.samples)" 'Kernel, inlined .* 7 +9\.3%'

  if has chromium; then
    # As the speedscope command opens a file in a browser. Its virtual time does not wait for all that loads a profile: on a busy
    # machine (a load of 15, one page of three) it had passed before there were any rows.
    page() {
      local text
      printf 'speedscope.loadFileFromBase64("f", "%s")' "$(base64 -w0 "$1.speedscope")" >"$1.js"
      for _ in {1..6}; do
        text=$(timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/chromium" \
          --virtual-time-budget=10000 --dump-dom \
          "file://$npm/node_modules/speedscope/dist/release/index.html#view=sandwich&localProfilePath=$scratch/$1.js" \
          2>chromium.log | sed 's/<[^>]*>/ /g' | tr -s ' \n' ' ')
        [[ $text != *'%)'* ]] || break
      done
      printf '%s' "$text"
    }
    hardened=$(page hardened)
    like 'speedscope: the command' "$hardened" 'build/workloads/big-fork --iterations=20 - speedscope'
    like 'speedscope: total and self' "$hardened" ' 63 \(84%\) 61 \(81%\) extract_entropy '
    like 'speedscope: inlined bodies' "$hardened" ' 70 \(93%\) 7 \(9\.3%\) shuffle_freelist \(inlined\) '
    like 'speedscope: hostile names' "$(page hostile)" ' frame one;two\\x0a3 '
    like 'speedscope: instructions' "$(page exact)" ' instructions .* 63 \(84%\) 61 \(81%\) extract_entropy '
  fi
fi

done_testing
