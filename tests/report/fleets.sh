#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fleets.sh FOLDER: writes the pages of three fleets with quoit report: FOLDER/fleet-2.html, fleet-220.html and
# fleet-25000.html. $QUOIT is the command. The bytes are the same on each run.
set -eu
folder=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
day=2026-05-01
: "${QUOIT:=quoit}"

quoit ()
{
  "$QUOIT" "$@" >"$work/out"
}

# begin TEXT: a new ledger with that fleet. Each change is 20 minutes after the one before.
begin ()
{
  rm -f "$work"/ledger.db*
  export QUOIT_DB="$work/ledger.db"
  minute=480
  quoit init --now "${day}T08:00:00Z"
  quoit import fleet "$1" --now "${day}T08:00:00Z"
}

change ()
{
  minute=$((minute + 20))
  quoit "$@" --now "$(printf '%sT%02d:%02d:00Z' "$day" $((minute / 60)) $((minute % 60)))"
}

reserve ()
{
  change reserve "$1" --accelerator "$2" --topology "$3" --slices "$4"
}

# page NUMBER TITLE
page ()
{
  quoit report --html --title "$2" --file "$folder/fleet-$1.html" --now "${day}T21:00:00Z"
}

begin 'v6e 4x4 x2 pool=small'
reserve train v6e 4x4 2
change set-state small-1-2 dead
page 2 "Two slices"

begin 'v6e 4x4 x120 pool=train; v5p 2x2x4 x60 pool=big; v5e 2x4 x40 pool=serve'
for i in 1 2 3 4 5 6; do
  reserve pretrain-$i v6e 4x4 $((i * 3))
done
for i in 1 2 3 4; do
  reserve moe-$i v5p 2x2x4 $((i * 4))
done
for i in 1 2 3 4 5 6 7 8 9; do
  change reserve eval-$i --bundle TPU=4 --slice train-$((70 + i))
done
change reserve half --bundle TPU=2 --slice train-80
for i in 1 2 3 4 5; do
  reserve serve-$i v5e 2x4 2
done
change release pretrain-2 --reason "finished"
change release moe-1
change drain train-90-1
change drain train-91-0
change set-state train-5-2 dead
change set-state big-40-3 dead
change set-state train-61-0 dead
page 220 "TPU fleet, 220 slices"

begin 'v6e 4x4 x12000 pool=train; v5p 2x2x4 x8000 pool=big; v5e 4x4 x5000 pool=serve'
for i in 1 2 3 4 5 6; do
  reserve pretrain-$i v6e 4x4 $((i * 300))
  reserve moe-$i v5p 2x2x4 $((i * 200))
done
change set-state train-5-2 dead
change set-state big-40-3 dead
change set-state train-3000-1 dead
change set-state train-11999-3 dead
change drain train-9000-1
change drain train-9001-0
page 25000 "TPU fleet, 25,000 slices"
