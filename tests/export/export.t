#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Test kprotperf export. Open each format with the program that it is made for.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
# shellcheck source=tests/export/npm.sh
. "$repo/tests/export/npm.sh"

fixture hardened hostile exact empty

usage 'no format specified' export hardened.data
usage ", not 'svg'" export --to=svg hardened.data
formats=$(sed -n "s/.*--to is \(.*\), not 'svg'.*/\1/p" err | sed 's/,\| or / /g')
fails 1 'record with --freq' export --to=pprof empty.data
fails 1 'Is a directory' export --to=pprof -o . hardened.data

# export_to FORMAT NAME: export NAME.data to the file NAME.FORMAT.
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

# 63 of the 75 samples have extract_entropy in their stack, and 61 end in it.
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

# dom NAME [SCRIPT]: open the flame graph NAME.svg in a browser, run SCRIPT, and print the document, one frame per line.
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

if fetched 'opened by speedscope'; then
  if has chromium; then
    # page NAME: open NAME.speedscope in a browser, as the speedscope command does, and print the page's text. Retry if the
    # browser's virtual time passes before the profile is loaded: with a load of 15, one page of three had no rows.
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
