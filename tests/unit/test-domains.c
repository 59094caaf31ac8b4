/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that exclude nodes, are kept to one pool or zone, are spread over several, or are near another group. */
#include "script.h"

#define AB "v6e 4x4 x2 pool=a; v6e 4x4 x3 pool=b"
#define ZONES "v6e 4x4 x2 pool=a zone=x; v6e 4x4 x2 pool=b zone=x; v6e 4x4 x3 pool=c zone=y; v6e 4x4 x4 pool=d"

static const ScriptFact facts[] = {
  { "the slice of an excluded node is not used",
    { "0 import " AB " -> new", "0 try t 1 node=a-0-3 -> t@1 RESERVED a-1", "0 try t 3 pool=b node=b-2-0 -> NEVER",
      "0 try t 4 node=b-2-0 node=b-2-1 -> t@1 RESERVED a-0,a-1,b-0,b-1", "0 try t 5 node=b-2-0 -> NEVER",
      "0 try t 1 node=a-9-0 -> NOT_FOUND", "0 try t 1 node=fleet/a/a-1-0 node=a-0-0 pool=a -> NEVER",
      "0 fits 9 node=a-0-0 -> never 4" } },
  { "no bundle is placed on an excluded node",
    { "0 import v6e 4x4 x1 pool=a -> new", "0 try t 3x{TPU=4} strategy=STRICT_SPREAD node=a-0-1 -> t@1 RESERVED a-0-0",
      "0 try t 4x{TPU=4} node=a-0-1 -> NEVER", "0 try t 1x{TPU=4} node=a-0-0 -> t@1 RESERVED a-0-1/0123",
      "0 try t 1x{TPU=4} node=a-0-0 policy=ray -> t@1 RESERVED a-0-1/0123",
      "0 try t 4x{TPU=4} label=ray.io/tpu-slice-name node=a-0-3 -> NEVER",
      "0 try t 3x{TPU=4} label=ray.io/tpu-slice-name node=a-0-3 -> t@1 RESERVED a-0-0/0123+a-0-1/0123+a-0-2/0123",
      "0 try t 1x{TPU=4} node=nothing -> NOT_FOUND" } },
  { "repair and resize avoid excluded nodes, and ignore those that are gone",
    { "0 import v6e 4x4 x4 pool=a -> new", "0 reserve t 1 node=a-1-0 node=a-2-0 -> t@1 RESERVED a-0",
      "0 state a-0-0 dead -> ok", "0 repair t -> t@1 RESCHEDULING a-0! => t@1 RESERVED a-3", "0 resize t 2 -> NOT_NOW",
      "0 state a-0-0 alive -> ok", "0 resize t 2 -> t@1 RESERVED a-3 => t@1 RESERVED a-0,a-3", "0 resize t 3 -> NEVER",
      "0 sync v6e 4x4 x1 pool=a; v6e 4x4 x2 pool=c", "0 resize t@1 1 -> t@1 RESCHEDULING",
      "0 resize t 2 -> t@1 RESERVED a-0 => t@1 RESERVED a-0,c-0",
      "0 resize t 3 -> t@1 RESERVED a-0,c-0 => t@1 RESERVED a-0,c-0,c-1" } },
  { "bundles of a group are repaired without excluded nodes",
    { "0 import v6e 4x4 x1 pool=a -> new", "0 reserve t 1x{TPU=4} node=a-0-1 -> t@1 RESERVED a-0-0/0123",
      "0 state a-0-0 dead -> ok", "0 repair t -> t@1 RESCHEDULING a-0-0/0123! => t@1 RESERVED a-0-2/0123" } },

  { "a group is kept to one pool: the one with the fewest free slices that has enough",
    { "0 import " AB " -> new", "0 try t 2 keep=pool -> t@1 RESERVED a-0,a-1",
      "0 try t 3 keep=pool -> t@1 RESERVED b-0",
      "0 try t 4 keep=pool -> NEVER 4 x v6e 4x4: never, at most 3 of 4 slices, 1 short; 2 of 5 slices are outside the "
      "domain that has most, 'pool b'",
      "0 try t 1..9 keep=pool -> t@1 RESERVED b-0,b-1,b-2", "0 fits 4 keep=pool -> never 3",
      "0 reserve o 2 pool=b -> o@1 RESERVED b-0,b-1", "0 try t 1 keep=pool -> t@2 RESERVED b-2",
      "0 try t 3 keep=pool -> NOT_NOW 3 x v6e 4x4: not now, 2 of 3 slices free, 1 short; 1 of 3 slices is outside the "
      "domain that has most, 'pool a'",
      "0 try t 2..3 keep=pool -> t@2 RESERVED a-0,a-1" } },
  { "a group is kept to one zone, in which its slices are chosen as usual",
    { "0 import " ZONES " -> new", "0 try t 2 keep=zone -> t@1 RESERVED c-0,c-1",
      "0 try t 4 keep=zone -> t@1 RESERVED a-0,a-1,b-0,b-1",
      "0 try t 5 keep=zone -> NEVER 5 x v6e 4x4: never, at most 4 of 5 slices, 1 short; 3 of 7 slices are outside the "
      "domain that has most, 'zone x'",
      "0 reserve o 1 pool=b -> o@1 RESERVED b-0", "0 try t 3 keep=zone -> t@2 RESERVED a-0,a-1,b-1",
      "0 try t 1 keep=zone pool=d -> NEVER", "0 try t 2 keep=zone zone=y -> t@2 RESERVED c-0,c-1" } },
  { "a group that is kept to a pool grows and is repaired in it",
    { "0 import v6e 4x4 x3 pool=a; v6e 4x4 x5 pool=b -> new", "0 reserve t 2 keep=pool -> t@1 RESERVED a-0,a-1",
      "0 resize t 3 -> t@1 RESERVED a-0,a-1 => t@1 RESERVED a-0,a-1,a-2",
      "0 resize t 4 -> NOT_NOW 4 slices are free only if group 't@1' gives up those that it has",
      "0 resize t 6 -> NEVER", "0 resize t 2 -> t@1 RESERVED a-0,a-1,a-2 => t@1 RESERVED a-0,a-1",
      "0 state a-0-0 dead -> ok", "0 repair t -> t@1 RESCHEDULING a-0!,a-1 => t@1 RESERVED a-1,a-2",
      "0 state a-1-0 dead -> ok", "0 repair t -> NOT_NOW", "0 state a-2-0 dead -> ok",
      "0 repair t -> t@1 RESCHEDULING a-1!,a-2! => t@1 RESERVED b-0,b-1" } },
  { "a group that is kept to a zone stays there",
    { "0 import " ZONES " -> new", "0 reserve t 3 keep=zone -> t@1 RESERVED c-0,c-1,c-2",
      "0 state c-1-0 draining -> ok", "0 repair t -> NOT_NOW", "0 resize t 4 -> NOT_NOW", "0 drop t c-1 -> t@1",
      "0 state c-1-0 alive -> ok", "0 resize t 3 -> t@1 RESERVED c-0,c-2 => t@1 RESERVED c-0,c-1,c-2" } },

  { "slices are spread evenly; the rest goes to pools with fewer free slices",
    { "0 import v6e 4x4 x2 pool=a; v6e 4x4 x3 pool=b; v6e 4x4 x4 pool=c -> new",
      "0 try t 1 spread=pool/1/1 -> t@1 RESERVED a-0", "0 try t 3 spread=pool/1/1 -> t@1 RESERVED a-0,b-0,c-0",
      "0 try t 4 spread=pool/1/1 -> t@1 RESERVED a-0,a-1,b-0,c-0",
      "0 try t 8 spread=pool/1/1 -> t@1 RESERVED a-0,a-1,b-0,b-1,b-2,c-0,c-1,c-2",
      "0 try t 9 spread=pool/1/1 -> NEVER 9 x v6e 4x4: never, at most 8 of 9 slices, 1 short; 1 of 9 slices is over "
      "the "
      "maximum skew of '1 over 3 pools; pool a can have 2'",
      "0 try t 9 spread=pool/2/1 -> t@1",
      "0 try t 1..9 spread=pool/1/1 -> t@1 RESERVED a-0,a-1,b-0,b-1,b-2,c-0,c-1,c-2",
      "0 fits 9 spread=pool/1/1 -> never 8" } },
  { "a full pool counts for the skew",
    { "0 import v6e 4x4 x1 pool=a; v6e 4x4 x3 pool=b; v6e 4x4 x3 pool=c -> new", "0 reserve o 1 pool=a -> o@1",
      "0 try t 2 spread=pool/1/1 -> t@2 RESERVED b-0,c-0",
      "0 try t 3 spread=pool/1/1 -> NOT_NOW 3 x v6e 4x4: not now, 2 of 3 slices free, 1 short; 4 of 6 slices are over "
      "the "
      "maximum skew of '1 over 3 pools; pool a can have 0'",
      "0 try t 4 spread=pool/2/1 -> t@2 RESERVED b-0,b-1,c-0,c-1", "0 try t 5 spread=pool/2/1 -> NOT_NOW",
      "0 try t 3 spread=pool/1/1 but=a-0 -> t@2 RESERVED b-0,b-1,c-0", "0 release o -> ok",
      "0 try t 3 spread=pool/1/1 -> t@2 RESERVED a-0,b-0,c-0" } },
  { "with too few domains, each has at most as many slices as the skew",
    { "0 import " AB " -> new", "0 try t 2 spread=pool/1/3 -> t@1 RESERVED a-0,b-0",
      "0 try t 3 spread=pool/1/3 -> NEVER 3 x v6e 4x4: never, at most 2 of 3 slices, 1 short; 3 of 5 slices are over "
      "the "
      "maximum skew of '1 over 2 pools, fewer than 3'",
      "0 try t 4 spread=pool/2/3 -> t@1 RESERVED a-0,a-1,b-0,b-1", "0 try t 5 spread=pool/1/2 -> t@1" } },
  { "slices are spread over zones; those without a zone are not used",
    { "0 import " ZONES " -> new", "0 try t 4 spread=zone/1/1 -> t@1 RESERVED a-0,a-1,c-0,c-1",
      "0 try t 7 spread=zone/1/1 -> t@1 RESERVED a-0,a-1,b-0,b-1,c-0,c-1,c-2", "0 try t 8 spread=zone/1/1 -> NEVER",
      "0 try t 1 spread=zone/1/1 pool=d -> NEVER" } },
  { "a spread group grows where it has fewest, and shrinks where it has most",
    { "0 import v6e 4x4 x4 pool=a; v6e 4x4 x4 pool=b -> new", "0 reserve t 2 spread=pool/1/1 -> t@1 RESERVED a-0,b-0",
      "0 resize t 3 -> t@1 RESERVED a-0,b-0 => t@1 RESERVED a-0,a-1,b-0",
      "0 resize t 5 -> t@1 RESERVED a-0,a-1,b-0 => t@1 RESERVED a-0,a-1,a-2,b-0,b-1",
      "0 resize t 4 -> t@1 RESERVED a-0,a-1,a-2,b-0,b-1 => t@1 RESERVED a-0,a-1,b-0,b-1", "0 drop t a-0 -> t@1",
      "0 drop t a-1 -> t@1 RESERVED a-1,b-0,b-1 => t@1 RESERVED b-0,b-1",
      "0 resize t 3 -> t@1 RESERVED b-0,b-1 => t@1 RESERVED a-0,b-0,b-1", "0 state b-1-2 dead -> ok",
      "0 repair t -> t@1 RESCHEDULING a-0,b-0,b-1! => t@1 RESERVED a-0,b-0,b-2",
      "0 resize t 1 -> t@1 RESERVED a-0,b-0,b-2 => t@1 RESERVED a-0" } },
  { "a spread group is not repaired against the skew",
    { "0 import v6e 4x4 x2 pool=a; v6e 4x4 x4 pool=b -> new",
      "0 reserve t 4 spread=pool/1/1 -> t@1 RESERVED a-0,a-1,b-0,b-1", "0 state a-0-0 dead -> ok",
      "0 repair t -> NOT_NOW 4 x v6e 4x4: not now, 3 of 4",
      "0 resize t 3 -> t@1 RESCHEDULING a-0!,a-1,b-0,b-1 => t@1" } },

  { "slices near another group are in its pools, then in its zones",
    { "0 import v6e 4x4 x1 pool=e zone=y; " ZONES " -> new", "0 reserve o 1 pool=b -> o@1 RESERVED b-0",
      "0 try t 1 -> t@2 RESERVED b-1", "0 reserve p 1 pool=c -> p@2 RESERVED c-0",
      "0 try t 1 near=p -> t@3 RESERVED c-1", "0 try t 2 near=p@2 -> t@3 RESERVED c-1,c-2",
      "0 try t 3 near=p -> t@3 RESERVED c-1,c-2,e-0", "0 try t 2 near=o -> t@3 RESERVED a-0,b-1",
      "0 try t 4 near=o -> t@3 RESERVED a-0,a-1,b-1,e-0", "0 try t 9..20 near=o -> t@3",
      "0 try t 1 near=q -> NOT_FOUND near group 'q': no live group has this name",
      "0 try t 1 near=p@1 -> CONFLICT near group 'p@1': the group is 'p@2' now", "0 try t 1 near=x@y -> INVALID",
      "0 try t 1 near=a/b -> INVALID", "0 fits 1 near=q -> NOT_FOUND" } },
  { "a group to be near to only chooses among the domains that have enough",
    { "0 import " ZONES " -> new", "0 reserve o 1 pool=d -> o@1 RESERVED d-0",
      "0 try t 2 keep=pool near=o -> t@2 RESERVED d-1,d-2", "0 try t 2 keep=pool -> t@2 RESERVED a-0,a-1",
      "0 try t 4 keep=zone near=o -> t@2 RESERVED a-0,a-1,b-0,b-1",
      "0 try t 1 spread=pool/1/1 near=o -> t@2 RESERVED d-1", "0 reserve p 1 pool=b -> p@2 RESERVED b-0",
      "0 try t 2 keep=zone near=p -> t@3 RESERVED a-0,b-1" } },
  { "a group that was near one that has ended still grows",
    { "0 import " ZONES " -> new", "0 reserve o 1 pool=c -> o@1 RESERVED c-0",
      "0 reserve t 1 near=o -> t@2 RESERVED c-1", "0 reserve k 1 near=o key=k -> k@3 RESERVED c-2", "0 release o -> ok",
      "0 resize t 2 -> t@2 RESERVED c-1 => t@2 RESERVED c-0,c-1", "0 reserve k 1 near=o key=k -> k@3 RESERVED c-2",
      "0 reserve u 1 near=o -> NOT_FOUND" } },

  { "a repeated request has the same places",
    { "0 import " AB " -> new", "0 reserve t 1 keep=pool key=k -> t@1 RESERVED a-0",
      "0 reserve t 1 keep=pool key=k -> t@1 RESERVED a-0", "0 reserve t 1 key=k -> CONFLICT",
      "0 reserve t 1 keep=zone key=k -> CONFLICT", "0 reserve t 1 spread=pool/1/1 key=k -> CONFLICT",
      "0 reserve u 1 spread=pool/1/1 key=u node=b-0-0 near=t -> u@2",
      "0 reserve u 1 spread=pool/1/1 key=u node=b-0-0 near=t -> u@2",
      "0 reserve u 1 spread=pool/2/1 key=u node=b-0-0 near=t -> CONFLICT",
      "0 reserve u 1 spread=pool/1/2 key=u node=b-0-0 near=t -> CONFLICT",
      "0 reserve u 1 spread=pool/1/1 key=u node=b-0-1 near=t -> CONFLICT",
      "0 reserve u 1 spread=pool/1/1 key=u node=b-0-0 near=t@1 -> CONFLICT" } },
  { "places without a meaning are refused",
    { "0 import " AB " -> new",
      "0 reserve t 1 keep=pool spread=pool/1/1 -> INVALID keep to 'pool' and spread over 'pool'",
      "0 reserve t 1 spread=pool/0/1 -> INVALID maximum skew '0': expected 1 to 1000000",
      "0 reserve t 1 spread=pool/1/0 -> INVALID minimum of domains '0'", "0 reserve t 1 spread=pool/-1/1 -> INVALID",
      "0 reserve t 1 spread=zone/1000001/1 -> INVALID",
      "0 reserve t 1x{TPU=1} keep=pool -> INVALID keep to 'pool': expected a request for slices",
      "0 reserve t 1x{TPU=1} spread=zone/1/1 -> INVALID spread over 'zone': expected a request for slices",
      "0 reserve t 1x{TPU=1} near=t policy=ray -> INVALID near group 't': expected a request for slices" } },
};

START_TEST (facts_hold_in_memory) { script_run (facts[_i].what, facts[_i].lines, FALSE, script_do); }
END_TEST

START_TEST (facts_hold_in_a_file_reopened_before_each_line)
{
  script_run (facts[_i].what, facts[_i].lines, TRUE, script_do);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("domains");
  TCase *tcase = tcase_create ("domains");

  tcase_set_timeout (tcase, 60);
  tcase_add_loop_test (tcase, facts_hold_in_memory, 0, G_N_ELEMENTS (facts));
  tcase_add_loop_test (tcase, facts_hold_in_a_file_reopened_before_each_line, 0, G_N_ELEMENTS (facts));
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
