#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Requests that break a rule: the right code, a message with place, value and expectation, and no change.
. "$top_srcdir/tests/cli/lib.sh"
fresh 'v6e 4x4 x2; v5p 2x2x4 x1; v5e 2x4 x2 hostchips=8'

topology ()
{
  refused 3 "topology $1" "'$1'|$2" reserve train --topology "$1" --accelerator v6e --slices 1 --now "$now"
  refused 3 "topology $1, for fits" "'$1'|$2" fits --topology "$1" --accelerator v6e --slices 1
}

topology 4X4 "Ray|lower-case"
topology 4x "byte 2"
topology 0x4 "byte 0"
topology 4x4x "byte 4"
topology 5x5 "v6e|4x4"
topology 2x2x2 "v6e"
topology 99999x99999 "1 to 4096"
topology '' "byte 0"
topology '4x4 ' "byte 3"
topology '+4x4' "byte 0"
topology 04x4 "zero"
refused 2 "a topology is wanted" "expected also --topology SHAPE" reserve train --accelerator v6e --slices 1 --now "$now"
refused 2 "an accelerator is wanted" "expected also --accelerator GEN" reserve train --topology 4x4 --slices 1 --now "$now"
refused 2 "a number of slices is wanted" "expected also --slices N" reserve train --topology 4x4 --accelerator v6e --now "$now"
refused 2 "all that is missing is named at once" "expected also --accelerator GEN, --topology SHAPE, --slices N" fits
refused 2 "before a database is looked for" "expected also --topology SHAPE, --slices N" --db /no/such reserve train \
  --accelerator v6e
refused 3 "a wrong topology is told before" "topology '5x5'|expected one that v6e has|4x4" --db /no/such fits \
  --topology 5x5 --accelerator v6e
refused 3 "a wrong accelerator too" "'v99'" --db /no/such fits --accelerator v99
refused 3 "and a wrong number" "'0'" --db /no/such fits --slices 0

for accelerator in v99 '' v6e-16 tpu8i 'v6e '; do
  refused 3 "accelerator '$accelerator'" "'$accelerator'" reserve train --topology 4x4 --accelerator "$accelerator" \
    --slices 1 --now "$now"
done

slices ()
{
  refused "$1" "slices $2" "$2" reserve train --topology 4x4 --accelerator v6e --slices "$2" --now "$now"
}
slices 3 0
slices 3 -1
slices 3 1000001
slices 3 9223372036854775808
slices 3 -9223372036854775809
slices 2 2x
slices 2 ''
slices 2 1.0
slices 2 ' 1'
slices 2 1e3
slices 2 NaN
ok 6 "a million slices are a number" fits --topology 4x4 --accelerator v6e --slices 1000000

for chips in 3 16 -4 9223372036854775808; do
  refused 3 "$chips chips per host" "$chips" fits --topology 4x4 --accelerator v6e --slices 1 --chips-per-host "$chips"
done
refused 2 "chips per host are a number" "--chips-per-host 'four'" fits --topology 4x4 --accelerator v6e --slices 1 \
  --chips-per-host four
ok 0 "2x4 is one host of 8 by default" fits --topology 2x4 --accelerator v5e --slices 2
ok 6 "or two of 4, which are not there" fits --topology 2x4 --accelerator v5e --slices 1 --chips-per-host 4

# --- names
newline='a
b'
long=$(printf '%0254d' 0)
name ()
{
  refused 3 "the name $2" "$3" reserve "$1" --topology 4x4 --accelerator v6e --slices 1 --now "$now"
}
name '' "of no bytes" "1 to 253"
name "$long" "of 254 bytes" "1 to 253"
name "$newline" "with a newline" "printable"
name 'a@b' "with an @" "'@'"
name 'a/b' "with a /" "'/'"
name "$(printf 'a\033[31mb')" "with an escape sequence" "printable"
name "$(printf 'a\377b')" "that is no UTF-8" "UTF-8"
refused 3 "a key is a name too" "key|printable" reserve train --topology 4x4 --accelerator v6e --slices 1 --key "$newline" \
  --now "$now"
refused 3 "and so is an owner" "owner|'/'" reserve train --topology 4x4 --accelerator v6e --slices 1 --owner a/b --now "$now"
refused 3 "a reference is NAME@ID" "train@x" release train@x --now "$now"
refused 3 "with an id" "train@" release train@ --now "$now"
refused 3 "of 64 bits" "train@18446744073709551616" release train@18446744073709551616 --now "$now"
for name in "it's" '$(touch x)' '-x' 'Zürich'; do
  ok 0 "$name is a name" reserve --topology 4x4 --accelerator v6e --slices 1 --now "$now" -o json -- "$name"
  fact "and comes back as it is" 'd["group"]["name"]' "$name"
  ok 0 "and is released" release --now "$now" -- "$name"
done

# --- selectors
baseline
for value in '!' 'in(' 'a b' 'in()x'; do
  refused 3 "selector value '$value'" "$value" fits --topology 4x4 --accelerator v6e --slices 1 --select "k=$value"
done
refused 3 "a selector's key" "''" fits --topology 4x4 --accelerator v6e --slices 1 --select '=v'

# --- identity
ok 0 "train" reserve train --topology 4x4 --accelerator v6e --slices 1 --key k1 --now "$now" -o json
id=$(sed -n 's/^ *"group" *: *"train@\([0-9]*\)".*/\1/p' "$tmp/out")
baseline
refused 7 "a name is taken once" "'train'" reserve train --topology 4x4 --accelerator v6e --slices 1 --now "$now"
refused 7 "a key is for one request" "k1" reserve train --topology 4x4 --accelerator v6e --slices 2 --key k1 --now "$now"
refused 7 "also under another name" "k1" reserve other --topology 4x4 --accelerator v6e --slices 1 --key k1 --now "$now"
refused 7 "a wrong id is a conflict" "'train'|train@$id|@$((id + 1))" release "train@$((id + 1))" --now "$now"
ok 0 "the right one is not" release "train@$id" --now "$now"
ok 0 "another train" reserve train --topology 4x4 --accelerator v6e --slices 1 --now "$now"
baseline
refused 7 "a late release never frees another's group" "'train'|@$id" release "train@$id" --now "$now"
ok 0 "a key names the released one still" show "train@$id" -o json
fact "which is the one that one asked for" 'd["group"]["group"], d["group"]["state"], d["workers"]' "('train@$id', 'removed', [])"
refused 7 "an id that never was is shown by none" "'train'|@99" show train@99

# --- slices by name
ok 0 "a named slice" reserve named --topology 4x4 --accelerator v6e --slices 1 --slice v6e-4x4-1 --now "$now" -o json
fact "is the one that one gets" 'd["workers"][0]["slice"]' v6e-4x4-1
baseline
refused 5 "an excluded slice is not" "not now" reserve more --topology 4x4 --accelerator v6e --slices 1 \
  --exclude-slice v6e-4x4-0 --now "$now"

# --- a lease ends by itself
ok 0 "the slice is free" release train --now "$now"
ok 0 "no group but one with a lease" hold leased --topology 4x4 --accelerator v6e --slices 1 --lease 20s \
  --slice v6e-4x4-0 --exclude-slice v6e-4x4-1 --now "$now"
baseline
refused 5 "what is held for a while is worth waiting for" \
  "wait until 2026-05-01T09:30:20.000Z, when the lease of leased@" \
  reserve more --topology 4x4 --accelerator v6e --slices 1 --slice v6e-4x4-0 --now 2026-05-01T09:30:19Z
ok 0 "and no longer" reserve more --topology 4x4 --accelerator v6e --slices 1 --slice v6e-4x4-0 \
  --now 2026-05-01T09:30:20Z

finish
