#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# quoit in a minute: prints each command and its output. `./dev demo` runs it with the built command first in PATH. It
# uses its own database, and fails if a command gives an unexpected result.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
QUOIT_DB=$tmp/fleet.db
export QUOIT_DB
cd "$here/.."

fail ()
{
  printf 'demo: %s\n' "$*" >&2
  exit 1
}

# quoted WORD...: prints the command line with shell quoting.
quoted ()
{
  for word; do
    case $word in
      *[!A-Za-z0-9_./@=:-]*) printf " '%s'" "$word" ;;
      *) printf ' %s' "$word" ;;
    esac
  done
}

# demo STATUS WORD...: runs quoit WORD..., which must exit with STATUS.
demo ()
{
  expected=$1
  shift
  printf '\n$ quoit%s\n' "$(quoted "$@")"
  status=0
  quoit "$@" 2>&1 || status=$?
  [ "$expected" -eq 0 ] || printf '(exit status %s)\n' "$status"
  [ "$status" -eq "$expected" ] || fail "exit status $status, expected $expected: quoit$(quoted "$@")"
}

say ()
{
  printf '\n# %s\n' "$*"
}

say "A fleet: one RayCluster manifest with two v6e 4x4 slices, 2 replicas x 4 hosts x 4 chips."
demo 0 --version
demo 0 init
demo 0 import raycluster examples/raycluster-v6e-4x4-x2.yaml
demo 0 status
demo 0 slots

say "Both slices for one job, in one atomic and durable step; the key makes a retry safe."
demo 0 reserve train --topology 4x4 --accelerator v6e --slices 2 --key job-17
demo 0 reserve train --topology 4x4 --accelerator v6e --slices 2 --key job-17

say "The environment of each worker."
demo 0 env train --slice-id 0 --worker 0 -o env
demo 0 env train --slice-id 1 --worker 3 -o env

say "One more is refused: why, and what would help. Exit status 5 is 'not now', 6 is 'never'."
demo 5 reserve more --topology 4x4 --accelerator v6e --slices 1
demo 6 fits --topology 4x4 --accelerator v6e --slices 3

say "Which group has the slice, and the end of the job."
demo 0 who-holds tpu-group-1
demo 0 release train@1
demo 0 fits --topology 4x4 --accelerator v6e --slices 2

say "The journal has every change, and its replay gives the current state."
demo 0 journal
demo 0 verify
