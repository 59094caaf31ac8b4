#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Requests that break a rule: the right code, a message with place, value and expectation, and no change.
. "$top_srcdir/tests/cli/lib.sh"
fresh 'v6e 4x4 x2; v5p 2x2x4 x1; v5e 2x4 x2 hostchips=8'

topology ()
{
  refused 3 "reserve with topology $1" "'$1'|$2" reserve train --topology "$1" --accelerator v6e --slices 1 --now "$now"
  refused 3 "fits with topology $1" "'$1'|$2" fits --topology "$1" --accelerator v6e --slices 1
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
refused 2 "reserve without --topology" "expected also --topology SHAPE" reserve train --accelerator v6e --slices 1 --now "$now"
refused 2 "reserve without --accelerator" "expected also --accelerator GEN" reserve train --topology 4x4 --slices 1 --now "$now"
refused 2 "reserve without --slices" "expected also --slices N" reserve train --topology 4x4 --accelerator v6e --now "$now"
refused 2 "fits without three required options" "expected also --accelerator GEN, --topology SHAPE, --slices N" fits
refused 2 "missing options with a missing database" "expected also --topology SHAPE, --slices N" --db /no/such reserve train \
  --accelerator v6e
refused 3 "invalid topology with a missing database and missing options" "topology '5x5'|expected one that v6e has|4x4" --db /no/such fits \
  --topology 5x5 --accelerator v6e
refused 3 "invalid accelerator with a missing database and missing options" "'v99'" --db /no/such fits --accelerator v99
refused 3 "invalid number of slices with a missing database and missing options" "'0'" --db /no/such fits --slices 0

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
ok 6 "fits accepts a million slices" fits --topology 4x4 --accelerator v6e --slices 1000000

for chips in 3 16 -4 9223372036854775808; do
  refused 3 "$chips chips per host" "$chips" fits --topology 4x4 --accelerator v6e --slices 1 --chips-per-host "$chips"
done
refused 2 "--chips-per-host that is no number" "--chips-per-host 'four'" fits --topology 4x4 --accelerator v6e --slices 1 \
  --chips-per-host four
ok 0 "2x4 has one host of 8 chips by default" fits --topology 2x4 --accelerator v5e --slices 2
ok 6 "2x4 with hosts of 4 chips does not exist in the fleet" fits --topology 2x4 --accelerator v5e --slices 1 --chips-per-host 4

# --- names
newline='a
b'
long=$(printf '%0254d' 0)
name ()
{
  refused 3 "group name $2" "$3" reserve "$1" --topology 4x4 --accelerator v6e --slices 1 --now "$now"
}
name '' "of no bytes" "1 to 253"
name "$long" "of 254 bytes" "1 to 253"
name "$newline" "with a newline" "printable"
name 'a@b' "with an @" "'@'"
name 'a/b' "with a /" "'/'"
name "$(printf 'a\033[31mb')" "with an escape sequence" "printable"
name "$(printf 'a\377b')" "that is no UTF-8" "UTF-8"
refused 3 "key that is no valid name" "key|printable" reserve train --topology 4x4 --accelerator v6e --slices 1 --key "$newline" \
  --now "$now"
refused 3 "owner that is no valid name" "owner|'/'" reserve train --topology 4x4 --accelerator v6e --slices 1 --owner a/b --now "$now"
refused 3 "handle with an invalid id" "train@x" release train@x --now "$now"
refused 3 "handle without an id" "train@" release train@ --now "$now"
refused 3 "handle with an id beyond 64 bits" "train@18446744073709551616" release train@18446744073709551616 --now "$now"
for name in "it's" '$(touch x)' '-x' 'Zürich'; do
  ok 0 "reserve accepts the name $name" reserve --topology 4x4 --accelerator v6e --slices 1 --now "$now" -o json -- "$name"
  fact "the name $name is printed unchanged" 'd["group"]["name"]' "$name"
  ok 0 "the group $name is released" release --now "$now" -- "$name"
done

# --- selectors
baseline
for value in '!' 'in(' 'a b' 'in()x'; do
  refused 3 "selector value '$value'" "$value" fits --topology 4x4 --accelerator v6e --slices 1 --select "k=$value"
done
refused 3 "selector without a key" "''" fits --topology 4x4 --accelerator v6e --slices 1 --select '=v'

# --- identity
ok 0 "the group train is reserved" reserve train --topology 4x4 --accelerator v6e --slices 1 --key k1 --now "$now" -o json
id=$(sed -n 's/^ *"group" *: *"train@\([0-9]*\)".*/\1/p' "$tmp/out")
baseline
refused 7 "name of a live group" "'train'" reserve train --topology 4x4 --accelerator v6e --slices 1 --now "$now"
refused 7 "key of a different request" "k1" reserve train --topology 4x4 --accelerator v6e --slices 2 --key k1 --now "$now"
refused 7 "key of a different request under a different name" "k1" reserve other --topology 4x4 --accelerator v6e --slices 1 --key k1 --now "$now"
refused 7 "release with an unknown id" "'train'|train@$id|@$((id + 1))" release "train@$((id + 1))" --now "$now"
ok 0 "release with the correct id succeeds" release "train@$id" --now "$now"
ok 0 "a second group train is reserved" reserve train --topology 4x4 --accelerator v6e --slices 1 --now "$now"
baseline
refused 7 "release with a stale id" "'train'|@$id" release "train@$id" --now "$now"
ok 0 "show accepts the handle of the released group" show "train@$id" -o json
fact "the handle selects the released group" 'd["group"]["group"], d["group"]["state"], d["workers"]' "('train@$id', 'removed', [])"
refused 7 "show with an unknown id" "'train'|@99" show train@99

# --- slices by name
ok 0 "a named slice is reserved" reserve named --topology 4x4 --accelerator v6e --slices 1 --slice v6e-4x4-1 --now "$now" -o json
fact "the group has the named slice" 'd["workers"][0]["slice"]' v6e-4x4-1
baseline
refused 5 "request for an excluded slice" "not now" reserve more --topology 4x4 --accelerator v6e --slices 1 \
  --exclude-slice v6e-4x4-0 --now "$now"

# --- a lease ends by itself
ok 0 "the group train is released" release train --now "$now"
ok 0 "a group is held for 20 seconds" hold leased --topology 4x4 --accelerator v6e --slices 1 --lease 20s \
  --slice v6e-4x4-0 --exclude-slice v6e-4x4-1 --now "$now"
baseline
refused 5 "request for a held slice" \
  "1 of 1 slice is allocated to groups" \
  reserve more --topology 4x4 --accelerator v6e --slices 1 --slice v6e-4x4-0 --now 2026-05-01T09:30:19Z
err "the refusal names the end of the lease" "would help: wait until 2026-05-01T09:30:20.000Z, when the lease of leased@"
ok 0 "reserve gets the slice when the hold has expired" reserve more --topology 4x4 --accelerator v6e --slices 1 --slice v6e-4x4-0 \
  --now 2026-05-01T09:30:20Z

finish
