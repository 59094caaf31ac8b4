#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Requests that exclude nodes, are kept to one pool or zone, spread over several, or near another group.
. "$top_srcdir/tests/cli/lib.sh"
fresh 'v6e 4x4 x2 pool=a zone=x; v6e 4x4 x3 pool=b zone=y; v6e 4x4 x3 pool=c zone=x'

# The slices that a request would get, by name.
places ()
{
  what=$1 wanted=$2
  shift 2
  ok 0 "$what" reserve t --accelerator v6e --topology 4x4 --dry-run --now "$now" -o json "$@"
  fact "$what" '" ".join(sorted({w["slice"] for w in d["workers"]}))' "$wanted"
}

places "a pool with enough slices" "b-0 b-1 b-2" --slices 3 --keep-to pool
places "a zone with enough slices" "a-0 c-0 c-1 c-2" --slices 4 --keep-to zone
places "spread over pools" "a-0 b-0 c-0" --slices 3 --spread pool
places "spread over zones with a skew" "a-0 b-0 b-1" --slices 3 --spread zone --max-skew 2 --min-domains 3
places "an excluded node" "a-1" --slices 1 --exclude-node a-0-3
ok 0 "the other group" reserve o --accelerator v6e --topology 4x4 --slices 1 --pool c --now "$now"
places "near another group" "c-1" --slices 1 --near o
places "near another group by its handle" "c-1" --slices 1 --near o@1
baseline

try ()
{
  code=$1 what=$2 texts=$3
  shift 3
  refused "$code" "$what" "$texts" reserve t --accelerator v6e --topology 4x4 --slices 4 --now "$now" "$@"
}

try 2 "another domain to keep to" "--keep-to 'rack': expected pool or zone" --keep-to rack
try 2 "another domain to spread over" "--spread '': expected pool or zone" --spread ''
try 2 "--max-skew alone" "--max-skew: expected also --spread DOMAIN" --max-skew 1
try 2 "--min-domains alone" "--min-domains: expected also --spread DOMAIN" --min-domains 1
try 2 "a skew that is no number" "--max-skew 'x'" --spread pool --max-skew x
try 3 "a skew of 0" "maximum skew '0'|expected 1 to 1000000" --spread pool --max-skew 0
try 3 "too many domains" "minimum of domains '1000001'" --spread pool --min-domains 1000001
try 3 "kept together and spread" "keep to 'pool' and spread over 'zone'" --keep-to pool --spread zone
try 3 "near no name" "near group 'a/b'" --near a/b
try 4 "near a group that does not exist" "near group 'nobody'" --near nobody
try 7 "near a group with another id" "near group 'o@7'|'o@1'" --near o@7
try 4 "an excluded node that does not exist" "nothing" --exclude-node nothing
try 6 "no pool has four slices" "never, at most 3 of 4|outside the domain that has most, 'pool b'" --keep-to pool
try 6 "the skew allows fewer" "maximum skew of '1 over 2 pools, fewer than 3'" --spread pool --min-domains 3 \
  --exclude-slice a-0 --exclude-slice a-1
refused 3 "bundles to keep together" "expected a request for slices" reserve t --bundle TPU=4 --keep-to pool --now "$now"

ok 0 "explain prints the reason" explain --accelerator v6e --topology 4x4 --slices 4 --keep-to zone --now "$now" -o json --exclude-slice a-0
fact "explain has the reason" 'd["reasons"][0]["constraint"]' keep-to
finish
