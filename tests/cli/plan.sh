#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `quoit plan` and `quoit slots --for`: purchases for a queue.
. "$top_srcdir/tests/cli/lib.sh"

now=2026-05-01T09:00:00Z
queue=$tmp/queue prices=$tmp/prices
cat >"$queue" <<'END'
# jobs
v6e 4x4 x 2
v6e 8x8 x 1 else="v5e 4x4 x 2"   # or v5e
v5e 4x4 x 1
END
cat >"$prices" <<'END'
v6e 4x4 10.75/hour limit=4
v6e 8x8 40/hour
v5e 4x4 9/hour
END
rows='[[c[k] for k in ("topology", "wanted", "free", "shortfall", "taken", "buy", "price", "cost")] for c in d["classes"]]'

fresh 'v6e 4x4 x3 pool=p; v5e 4x4 x1 pool=q'
ok 0 "slices are reserved" reserve train --accelerator v6e --topology 4x4 --slices 2 --now "$now"
baseline
ok 0 "a purchase is planned" plan --for "$queue" --price "$prices" --now "$now"
out "the result is a fact" "result:   cheapest"
out "the cost has its unit" "28.75 per hour"
out "the alternative is listed" "1 v5e 4x4 x 2 hostchips=4"
ok 0 "plan prints JSON" plan --for "$queue" --price "$prices" --now "$now" -o json
fact "the facts are right" '[d[k] for k in ("result", "cost", "bound", "gap", "unit")]' "['cheapest', '28.75', '28.75', '0', 'hour']"
fact "the classes are right" "$rows" \
  "[['4x4', 2, 1, 1, 2, 1, '10.75', '10.75'], ['8x8', 1, 0, 1, 0, 0, '40', '0'], ['4x4', 1, 1, 0, 3, 2, '9', '18']]"
fact "the requests are listed" '[r["alternative"] for r in d["requests"]]' "[0, 1, 0]"
ok 0 "the past has other free slices" plan --for "$queue" --price "$prices" --at 1 -o json
fact "the past purchase is smaller" 'd["cost"]' "18"
ok 0 "nothing is there before" plan --for "$queue" --price "$prices" --from-nothing --now "$now" -o json
fact "all slices are bought" 'd["cost"]' "48.5"
ok 0 "plan prints CSV" plan --for "$queue" --price "$prices" --now "$now" -o csv
out "the classes are rows" "v6e,4x4,4,2,1,1,2,1,4,10.75,10.75"
echo 'v6e 4x4 1 limit=0' >"$tmp/none"
ok 6 "an impossible purchase is reported" plan --for "$queue" --price "$tmp/none" --now "$now" -o json
fact "nothing is claimed" '[d["result"], d["cost"], d["classes"][0]["buy"], "requests" in d]' "['impossible', None, None, False]"
fact "what the list lacks is data" 'd["lacks"]' \
  "['v6e 4x4, short of 1: its limit is 0', 'v6e 8x8, short of 1: the list has no price for it']"

# lacks QUEUE PRICES TEXT: QUEUE cannot be bought with PRICES, and the answer has TEXT.
lacks ()
{
  printf '%s\n' "$1" >"$tmp/wanted"
  printf '%s\n' "$2" >"$tmp/list"
  ok 6 "'$1' cannot be bought with '$2'" plan --for "$tmp/wanted" --price "$tmp/list" --now "$now"
  out "the list lacks something for '$1'" "what the price list lacks:"
  holds "this is '$3'" grep -qxF -e "$3" "$tmp/out"
}
lacks 'v5p 4x4x8 x 2 cubes=any' 'v5p 4x4x4 1' \
  'v5p 4x4x8 cubes=any, short of 2: the list has no cubes of blocks: add block=NAME or cubes=N to a price of 4x4x4'
lacks 'v5p 4x4x8 x 2 cubes=adjacent' 'v5p 4x4x4 1 cubes=8' \
  'v5p 4x4x8 cubes=adjacent, short of 2: the list has no new block whose cubes have positions: add grid=AxBxC to a price of 4x4x4'
lacks 'v5p 4x4x8 x 2 cubes=any' 'v5p 4x4x4 1 cubes=2 limit=1' \
  'the limits, or the blocks, are too small for all requests together'
lacks 'v5p 4x4x4 x 3' 'v5p 4x4x4 1 cubes=2 limit=1' \
  'the limits, or the blocks, are too small for all requests together'

ok 0 "the shortfall is printed" slots --for "$queue" --now "$now" -o json
fact "the shortfall is right" '[[c[k] for k in ("topology", "shortfall", "missing")] for c in d["classes"]]' \
  "[['4x4', 1, 1], ['8x8', 1, 0], ['4x4', 0, 2]]"
ok 0 "the past shortfall is printed" slots --for "$queue" --at 1
holds "nothing has changed" unchanged

# bad PRICE-LINE 'TEXT'
bad ()
{
  printf '# comment\n%s\n' "$1" >"$tmp/bad"
  refused 3 "the price '$1'" "bad: line 2: $2" plan --for "$queue" --price "$tmp/bad" --now "$now"
}
bad 'v6e 4x4 -1' "price '-1': expected a number"
bad 'v6e 4x4 nan' "price 'nan'"
bad 'v6e 4x4 1e3' "price '1e3'"
bad 'v6e 4x4 1/day' "price '1/day': expected /hour or /month"
bad 'v9 4x4 1' "generation 'v9'"
bad 'v6e 3x3 1' "topology '3x3'"
bad 'v6e 4x4' "expected ACCELERATOR TOPOLOGY PRICE"
bad 'v6e 4x4 1 limit=many' "limit 'many'"
printf 'v6e 4x4 1\nv6e 4x4 1\n' >"$tmp/bad"
refused 3 "two prices of a class" "bad: line 2: 'v6e 4x4 hostchips=4': expected one price" plan --for "$queue" --price "$tmp/bad"
for line in 'v6e 4x4' 'v6e 4x4 x 0' 'v6e 4x4 x 2147483648' 'v6e 4x4 x 1 pool=p' 'v6e 4x4 x 1 cubes=any' 'v6e 4x4 x 1 cut=any' 'PACK 1x{TPU=4}' 'v6e 4x4 x 1 else=x'; do
  echo "$line" >"$tmp/bad"
  refused 3 "the request '$line'" "bad: line 1: " plan --for "$tmp/bad" --price "$prices" --now "$now"
  refused 3 "the request '$line' of slots" "bad: line 1: " slots --for "$tmp/bad" --now "$now"
done

# Cubes: joined slices get free cubes of a block, bought ones, or new blocks.
cat >"$queue" <<'END'
v5p 4x8x8 x 2 cubes=any
v5p 4x4x8 x 1 cubes=any
v5p 4x4x4 x 2
v5p 8x8x8 x 1 cubes=any else="v5p 4x8x8 x 2 cubes=any"
v5p 4x4x8 x 1 cubes=adjacent
END
cat >"$prices" <<'END'
v5p 4x4x4 290/hour block=b limit=5
v5p 4x4x4 2100/hour cubes=8
v5p 4x4x4 900/hour grid=1x1x2
END
fresh 'v5p 4x4x4 x6 pool=a block=a; v5p 4x4x4 x3 pool=b block=b'
baseline
ok 0 "cubes are bought" plan --for "$queue" --price "$prices" --now "$now"
out "the block of the fleet is listed" "fleet/b       1    3     6   3   290  870"
out "the new block is listed" "new of 8      8    0     8   1  2100 2100"
out "the blocks of a request are listed" "0 fleet/a x1, fleet/b x1 v5p 4x8x8 x 2"
ok 0 "cubes in JSON" plan --for "$queue" --price "$prices" --now "$now" -o json
fact "the cost is right" '[d["result"], d["cost"]]' "['cheapest', '3870']"
fact "the blocks are right" '[[b[k] for k in ("block", "grid", "cubes", "free", "taken", "buy", "cost")] for b in d["blocks"]]' \
  "[['fleet/a', None, 1, 6, 6, 0, '0'], ['fleet/b', None, 1, 3, 6, 3, '870'], [None, None, 8, 0, 8, 1, '2100'], [None, '1x1x2', 2, 0, 2, 1, '900']]"
fact "the classes have their cubes" '[c["cubes"] for c in d["classes"]]' "['any', 'any', None, 'any', 'adjacent']"
fact "the requests have their blocks" '[[(j["block"], j["cubes"], j["slices"]) for j in r["joined"]] for r in d["requests"]]' \
  "[[('fleet/a', 1, 1), ('fleet/b', 1, 1)], [('fleet/a', 1, 1)], [], [(None, 8, 1)], [(None, 2, 1)]]"
ok 0 "the shortfall of joined slices" slots --for "$queue" --now "$now" -o json
fact "joined slices are missing as a whole" '[[c["topology"], c["missing"]] for c in d["classes"]]' \
  "[['4x8x8', 1], ['4x4x8', 0], ['4x4x4', 0], ['8x8x8', 1], ['4x4x8', 1]]"
holds "nothing has changed" unchanged
bad 'v6e 4x4 1 block=a' "'v6e 4x4 block=a': expected cubes, 4x4x4 of v4, v5p or tpu7x"
bad 'v5p 4x4x4 1 block=a cubes=2' "expected only one of block=NAME"
bad 'v5p 4x4x4 1 cubes=none' "cubes 'none': expected a number from 1 to 1000000"
bad 'v5p 4x4x4 1 grid=4x4' "grid '4x4': expected the cubes of the block along each axis"
echo 'v5p 4x4x4 1 block=z' >"$tmp/bad"
refused 4 "a block that the fleet lacks" "bad: price of cubes for block 'z': expected a block of v5p in the fleet, such as fleet/a" plan --for "$queue" --price "$tmp/bad"
refused 2 "no queue" "expected --for QUEUE and --price FILE" plan --price "$prices"
refused 2 "no prices" "expected --for QUEUE and --price FILE" plan --for "$queue"
refused 2 "two files on standard input" "at most one file on standard input" plan --for - --price -
refused 4 "a file that does not exist" "nothing" plan --for "$tmp/nothing" --price "$prices"
refused 2 "slots with a queue and a generation" "--for: expected no other option" slots --for "$queue" -a v6e
finish
