#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Help, questions after misspelt words, and what shells complete.
. "$top_srcdir/tests/cli/lib.sh"

fresh 'v6e 4x4 x2 pool=big zone=us-east5-b; v5e 2x4 pool=small; v6e 2x2 pool=lonely'
ok 0 "a group is reserved" reserve train --accelerator v6e --topology 4x4 --slices 1 --now "$now"
baseline

# --- help
ok 0 "help prints the verbs" help
quoit --help >"$tmp/all"
holds "help is the same as --help" cmp "$tmp/all" "$tmp/out"
ok 0 "help of a verb succeeds" help reserve
quoit reserve --help >"$tmp/one"
holds "help VERB is the same as VERB --help" cmp "$tmp/one" "$tmp/out"
refused 2 "help of no verb" "'frobnicate' is not a verb" help frobnicate

# --- misspelt words
refused 2 "a misspelt verb" "'resrve' is not a verb; did you mean 'reserve'?" resrve
refused 2 "a misspelt verb for help" "did you mean 'watch'?" help wacth
refused 2 "the beginning of a verb" "did you mean 'who-holds'?" who
refused 2 "the beginning of two verbs" "'re' is not a verb; quoit --help lists them" re
refused 2 "a word of another command" "did you mean 'release'?" delete
refused 2 "another one" "did you mean 'groups'?" ls
refused 2 "a misspelt option" "unknown option '--topolgy=4x4'; did you mean '--topology'?" fits --topolgy=4x4
refused 2 "a misspelt option before the verb" "did you mean '--now'?" --nwo 1 status
refused 4 "a misspelt group" "no group 'trina'; did you mean 'train'?" release trina
refused 4 "a misspelt pool" "did you mean 'small'?" fits --accelerator v6e --topology 4x4 --slices 1 --pool smaal
refused 4 "a slice for a node" "no node 'big-1' in the fleet; 'big-1' is the name of a slice" set-state big-1 dead
refused 4 "a pool for a slice" "'small' is the name of a pool" show small
refused 4 "a group for a slice" "'train' is the name of a group" who-holds train
refused 4 "a slice for a group" "no group 'big-0'; 'big-0' is the name of a slice" release big-0
refused 4 "a misspelt slice" "did you mean 'big-1'?" show bgi-1
refused 4 "another number is no misspelt name" "'big-7': expected the name of a node, slice or group" show big-7
holds "another number is no question" test "$(grep -c 'did you mean' "$tmp/err")" -eq 0
has err "the message names the lists of names" "expected the name of a node, slice or group; see quoit nodes and groups"
refused 4 "a group that does not exist" "no group 'zzz'; see quoit groups" release zzz
refused 4 "a pool that does not exist" "no pool 'zzz' in the fleet; see quoit status" \
  fits --accelerator v6e --topology 4x4 --slices 1 --pool zzz
refused 4 "a pool to drain that does not exist" "pool 'zzz': no such pool in the fleet, or it has no nodes; see quoit status" drain pool zzz
refused 4 "a file that is missing, with the name of a group but for a letter" "trina" import raycluster trina
holds "no name is proposed for a file" test "$(grep -c 'did you mean' "$tmp/err")" -eq 0
refused 2 "a word that is like no verb" "'frobnicate' is not a verb; quoit --help lists them" frobnicate
ok 4 "the question is in the JSON document of a failure" show trina -o json
has out "the document has the question" "did you mean 'train'?"

# --- names
ok 0 "names are listed" completion names
for name in train big small big-0 small-0 big-0-3; do
  has out "the names have $name" "$name"
done
ok 0 "names of groups are listed" completion names group
holds "they are only groups" test "$(cat "$tmp/out")" = train
ok 0 "names of pools are listed" completion names pool
holds "they are only pools" test "$(sort "$tmp/out" | tr '\n' ' ')" = "big lonely small "
ok 0 "names of zones are listed" completion names zone
holds "each zone once" test "$(cat "$tmp/out")" = us-east5-b
ok 0 "topologies are listed without a ledger" --db "$tmp/none.db" completion names topology
has out "they have those of all generations" 12x12x12
ok 0 "topologies of a generation are listed" completion names topology/v6e
holds "they have only those of the generation, once" test "$(tr '\n' ' ' <"$tmp/out")" = "1x1 2x2 2x4 4x4 4x8 8x8 8x16 16x16 2x8 "
refused 3 "topologies of no generation" "'v9'" completion names topology/v9
refused 2 "names of no kind" "names of 'job': expected group, pool, slice, node, zone, owner, quota, window, source, topology or topology/GEN" completion names job
refused 2 "a kind of a shell" "unexpected argument 'group'" completion bash group
refused 2 "a shell that quoit does not know" "shell 'tcsh': expected bash, zsh, fish, or names" completion tcsh
ok 0 "a group ends" release train --now "$now"
ok 0 "names are listed again" completion names
holds "a removed group is not proposed" test "$(grep -cx train "$tmp/out")" -eq 0

# --- shells: the words that they propose after a line
export PATH="$top_builddir/cli:$PATH"

in_bash ()
{
  bash --norc -c '. "$1"; shift; COMP_WORDS=(quoit "$@"); COMP_CWORD=$(($# )); _quoit; printf "%s\n" "${COMPREPLY[@]}"' \
    bash "$tmp/quoit.bash" "$@"
}

in_fish ()
{
  line=quoit
  for word; do line="$line $word"; done
  fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$tmp/quoit.fish" "$line" | cut -f1
}

in_zsh ()
{
  line=quoit
  for word; do line="$line $word"; done
  rm -f "$tmp/typed"
  zsh -f "$top_srcdir/tests/cli/completion.zsh" "${zsh_script:-$tmp/zsh/_quoit}" "$line" "$tmp/typed"
  sed 's/[=\\]*$//' "$tmp/typed"
}

# proposes SHELL WORD LINE...: the shell proposes the word after the line, whose last word is not complete. The word has no
# rival, because zsh completes the line.
proposes ()
{
  shell=$1 proposal=$2
  shift 2
  "in_$shell" "$@" >"$tmp/words" 2>"$tmp/errors"
  holds "$shell proposes $proposal after 'quoit $*': $(tr '\n' ' ' <"$tmp/words" | head -c 200) $(cat "$tmp/errors")" \
    grep -qxF -e "$proposal" "$tmp/words"
}

# lacks SHELL WORD LINE...: the shell does not propose the word.
lacks ()
{
  shell=$1 absent=$2
  shift 2
  "in_$shell" "$@" >"$tmp/words" 2>"$tmp/errors"
  holds "$shell does not propose $absent after 'quoit $*': $(tr '\n' ' ' <"$tmp/words" | head -c 200) $(cat "$tmp/errors")" \
    sh -c '! grep -qxF -e "$1" "$2"' sh "$absent" "$tmp/words"
}

ok 0 "an owner" owner set ann --now "$now"
ok 0 "a window" calendar add works --pool small --from 2100-06-01T00:00Z --until 2100-06-02T00:00Z --now "$now"
ok 0 "a quota" quota set team --owner ann --chips 8 --now "$now"
ok 0 "a group with the name of nothing else is reserved" reserve lone --accelerator v6e --topology 4x4 --slices 1 --now "$now"
: >"$tmp/plain.yaml"
generations=$(quoit catalogue -o csv | sed 1d | cut -d, -f1 | paste -sd' ')
for shell in bash zsh fish; do
  if ! command -v $shell >/dev/null; then
    skip "no $shell"
    continue
  fi
  quoit completion $shell >"$tmp/quoit.$shell"
  mkdir -p "$tmp/zsh"
  cp "$tmp/quoit.$shell" "$tmp/zsh/_quoit"
  holds "$shell accepts its script" $shell -n "$tmp/quoit.$shell"
  holds "the script for $shell has the generations of the catalogue: $generations" grep -qF -e "$generations" "$tmp/quoit.$shell"
  proposes $shell reserve reser
  proposes $shell --topology-label fits --topology-l
  proposes $shell small-0-0 show small-0-
  proposes $shell lone release l
  proposes $shell lonely fits --pool l
  proposes $shell lone fits --near l
  proposes $shell lonely-0-0 set-state l
  proposes $shell v6e fits --accelerator v6
  proposes $shell adjacent fits --cubes ad
  proposes $shell json status -o j
  proposes $shell raycluster import rayc
  proposes $shell end owner e
  proposes $shell watch help wat
  proposes $shell pool drain po
  proposes $shell lonely drain pool lo
  proposes $shell lonely-0 undrain slice lo
  proposes $shell lonely-0-0 drain node lo
  proposes $shell us-east5-b drain zone u
  proposes $shell us-east5-b drain u
  proposes $shell us-east5-b fits --zone u
  proposes $shell dead set-state lonely-0-0 de
  proposes $shell dead set-state --now 2026-05-01T09:30:00Z lonely-0-0 de
  proposes $shell 16x16 fits --accelerator v6e --topology 16
  proposes $shell 1x1x1 fits --topology 1x1x
  proposes $shell v6e catalogue v6
  proposes $shell 8x16 catalogue v6e 8x1
  proposes $shell ann owner end a
  proposes $shell ann reserve x --owner a
  proposes $shell works calendar remove wo
  proposes $shell team quota remove tea
  proposes $shell window completion names wi
  lacks $shell lonely-0 drain pool lonely-
  lacks $shell us-east5-b drain slice us
  lacks $shell dead set-state dea
  lacks $shell lone set-state lonely-0-0 lon
  lacks $shell lone release lone lon
  lacks $shell fleet export json flee
  proposes $shell "$tmp/plain.yaml" import raycluster "$tmp/pla"
  proposes $shell "$tmp/plain.yaml" reserve x --bundles "$tmp/pla"
  proposes $shell "$tmp/plain.yaml" plan --for "$tmp/pla"
  for line in env what-if 'fits --topology' 'fits --pool' 'status --output' 'groups --wait'; do
    lacks $shell "$tmp/plain.yaml" $line "$tmp/pla"
  done
  lacks $shell zsh completion bash z
  lacks $shell lone status lo
  proposes $shell watch --color never wat
  quoit --db "$tmp/other.db" init >/dev/null
  quoit --db "$tmp/other.db" import fleet 'v6e 4x4 pool=elsewhere' >/dev/null
  proposes $shell elsewhere-0 --db "$tmp/other.db" show elsewhere-
  rm -f "$tmp/other.db"*
done
if command -v zsh >/dev/null; then
  zsh_script=$tmp/quoit.zsh
  proposes zsh lone release l
  proposes zsh json status -o j
fi
in_bash -- >"$tmp/words"
for option in $(cat "$tmp/words"); do
  ok 2 "bash proposes $option before the verb" "$option"
  holds "quoit has $option before the verb" test "$(grep -c 'unknown option' "$tmp/err")" -eq 0
done
holds "the list of options is not empty: $(wc -l <"$tmp/words")" grep -qx -e --db "$tmp/words"
holds "bash completes the value after '='" sh -c '[ -n "$1" ]' sh "$(in_bash fits --place = sp | grep -x spread)"

# A name is data for the shells, not a command.
quoit --db "$tmp/evil.db" init >/dev/null
quoit --db "$tmp/evil.db" import fleet "v6e 4x4 x1" >/dev/null
quoit --db "$tmp/evil.db" reserve "\$(touch $tmp/evil)" --accelerator v6e --topology 4x4 --slices 1 >"$tmp/out" 2>&1 || :
QUOIT_DB="$tmp/evil.db" in_bash show '' >/dev/null
holds "a name runs nothing" test ! -e "$tmp/evil"
finish
