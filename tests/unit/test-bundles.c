/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of bundles: placed, allocated, stored in a file, lost and placed again. */
#include <json-glib/json-glib.h>

#include "script.h"
#include "elastic.h"

#define A2 "v6e 4x4 x2 pool=a"
#define B3 "v6e 2x4 x3 pool=b"
#define I "node:__internal_implicit_resource_i"

static const ScriptFact facts[] = {
  /* --- each strategy, under both policies --- */
  { "bundles can select a whole slice by its name",
    { "0 import " A2 " -> new",
      "0 reserve t 4x{TPU=4;ray.io/tpu-slice-name=a-1} strategy=STRICT_SPREAD policy=ray -> t@1 RESERVED "
      "a-1-0/0123+a-1-1/0123+a-1-2/0123+a-1-3/0123",
      "0 free -> a-0",
      "0 reserve u 4x{TPU=4;ray.io/tpu-slice-name=a-1} strategy=STRICT_SPREAD policy=ray -> NOT_NOW 4 bundles, "
      "STRICT_SPREAD: not now, Ray answers FAILED; bundle 0, {TPU=4;ray.io/tpu-slice-name=a-1}, fits on no alive node "
      "that it may use",
      "0 reserve u 4x{TPU=4;ray.io/tpu-slice-name=a-1} strategy=STRICT_SPREAD -> NOT_NOW", "0 release t@1 -> ok",
      "0 reserve u 4x{TPU=4;ray.io/tpu-slice-name=a-1} strategy=STRICT_SPREAD -> u@2 RESERVED "
      "a-1-0/0123+a-1-1/0123+a-1-2/0123+a-1-3/0123" } },
  { "bundles that are whole slices get the slices that a request for slices would get",
    { "0 import v6e 4x4 x3 pool=a; v6e 4x4 x1 pool=b busy=0.1; v6e 2x4 x2 pool=c -> new",
      "0 reserve s 1x{TPU=1} slice=a-1 -> s@1 RESERVED a-1-0/0",
      "0 try t 4x{TPU=4} strategy=STRICT_SPREAD label=ray.io/tpu-slice-name -> t@2 RESERVED "
      "a-0-0/0123+a-0-1/0123+a-0-2/0123+a-0-3/0123",
      "0 try t 8x{TPU=4} strategy=SPREAD label=ray.io/tpu-slice-name*2 -> t@2 RESERVED "
      "a-0-0/0123+a-0-1/0123+a-0-2/0123+a-0-3/0123+a-2-0/0123+a-2-1/0123+a-2-2/0123+a-2-3/0123",
      "0 try t 12x{TPU=4} label=ray.io/tpu-slice-name*3 -> NOT_NOW", "0 state a-0-2 dead -> ok",
      "0 try t 8x{TPU=4} label=ray.io/tpu-slice-name*2 -> NOT_NOW",
      "0 try t 16x{TPU=4} label=ray.io/tpu-slice-name*5 -> INVALID",
      "0 try t 20x{TPU=4} label=ray.io/tpu-slice-name*5 -> NEVER", "0 state a-0-2 alive -> ok",
      "0 try t 3x{TPU=4} strategy=STRICT_SPREAD label=ray.io/tpu-slice-name -> t@2 RESERVED "
      "a-0-0/0123+a-0-1/0123+a-0-2/0123" } },
  { "a request that can never fit is NEVER, whatever Ray answers",
    { "0 import " B3 " -> new",
      "0 reserve t 1x{TPU=9} policy=ray -> NEVER 1 bundle, PACK: never, Ray answers INFEASIBLE; bundle 0, {TPU=9}, "
      "fits on no known node",
      "0 reserve t 4x{TPU=1} strategy=STRICT_SPREAD -> NEVER 4 bundles, STRICT_SPREAD: never; each bundle fits by "
      "itself",
      "0 state b-0-0 dead -> ok", "0 state b-1-0 draining -> ok",
      "0 reserve t 3x{TPU=1} strategy=STRICT_SPREAD policy=ray -> NOT_NOW 3 bundles, STRICT_SPREAD: not now, Ray "
      "answers "
      "INFEASIBLE",
      "0 reserve t 3x{TPU=1} strategy=STRICT_SPREAD -> NOT_NOW", "0 reserve t 3x{TPU=8} -> NOT_NOW",
      "0 reserve t 4x{TPU=8} -> NEVER", "0 reserve t 1x{TPU=1;ray.io/tpu-slice-name=c} policy=ray -> NEVER",
      "0 reserve t 1x{GPU=1} -> NEVER", "0 reserve t 1x{TPU=8} slice=b-1 -> NOT_NOW" } },
  { "each strategy places bundles as documented",
    { "0 import " B3 " -> new", "0 try t 3x{TPU=2} -> t@1 RESERVED b-0-0/01+b-0-0/23+b-0-0/45",
      "0 try t 3x{TPU=2} strategy=STRICT_PACK -> t@1 RESERVED b-0-0/01+b-0-0/23+b-0-0/45",
      "0 try t 3x{TPU=2} strategy=SPREAD -> t@1 RESERVED b-0-0/01+b-1-0/01+b-2-0/01",
      "0 try t 3x{TPU=2} strategy=STRICT_SPREAD -> t@1 RESERVED b-0-0/01+b-1-0/01+b-2-0/01",
      "0 try t 4x{TPU=2} strategy=STRICT_SPREAD -> NEVER", "0 try t 5x{TPU=2} strategy=STRICT_PACK -> NEVER",
      "0 try t 13x{TPU=2} -> NEVER", "0 try t 3x{TPU=2} policy=ray -> t@1 RESERVED b-0-0/01+b-0-0/23+b-0-0/45",
      "0 try t 3x{TPU=2} strategy=STRICT_PACK policy=ray -> t@1 RESERVED b-0-0/01+b-0-0/23+b-0-0/45",
      "0 try t 3x{TPU=2} strategy=SPREAD policy=ray -> t@1 RESERVED b-0-0/01+b-1-0/01+b-2-0/01",
      "0 try t 3x{TPU=2} strategy=STRICT_SPREAD policy=ray -> t@1 RESERVED b-0-0/01+b-1-0/01+b-2-0/01",
      "0 try t 2x{TPU=2} strategy=STRICT_PACK soft=b-1-0 -> t@1 RESERVED b-1-0/01+b-1-0/23",
      "0 try t 2x{TPU=2} strategy=STRICT_PACK soft=b-9-0 -> NOT_FOUND soft target: no node 'b-9-0'",
      "0 reserve u 1x{TPU=5} slice=b-1 -> u@1 RESERVED b-1-0/01234",
      "0 try t 2x{TPU=2} strategy=STRICT_PACK soft=b-1-0 -> t@2 RESERVED b-0-0/01+b-0-0/23" } },
  { "policy best finds a placement that policy ray misses, and ray's refusal reports it",
    { "0 import v6e 2x2 x1 pool=p; v6e 2x2 x1 pool=q -> new", "0 reserve u 1x{TPU=1} pool=q -> u@1 RESERVED q-0-0/0",
      "0 try t 1x{TPU=3}+2x{TPU=2} policy=ray -> NOT_NOW 3 bundles, PACK: not now, Ray answers FAILED; policy 'best' "
      "would place them now",
      "0 reserve t 1x{TPU=3}+2x{TPU=2} -> t@2 RESERVED q-0-0/123+p-0-0/01+p-0-0/23" } },
  { "pool, zone, labels and slice names restrict the nodes of bundles",
    { "0 import v6e 2x4 x2 pool=a zone=x; v6e 2x4 x2 pool=b zone=y -> new",
      "0 try t 2x{TPU=1} pool=b -> t@1 RESERVED b-0-0/0+b-0-0/1", "0 try t 2x{TPU=1} zone=y -> t@1 RESERVED b-0-0/0",
      "0 try t 1x{TPU=1} slice=b-1 -> t@1 RESERVED b-1-0/0",
      "0 try t 1x{TPU=1} but=a-0 but=b-1 but=a-1 -> t@1 RESERVED b-0-0/0", "0 try t 1x{TPU=1} select=1 -> NEVER",
      "0 try t 1x{TPU=1} pool=c -> NOT_FOUND no pool 'c'", "0 try t 1x{TPU=1} slice=c -> NOT_FOUND no slice 'c'",
      "0 try t 1x{TPU=1} but=c -> NOT_FOUND", "0 try t 1x{TPU=8}+1x{TPU=8} pool=b zone=x -> NEVER" } },

  /* --- chips --- */
  { "a bundle with a fraction has whole chips and a part of one more",
    { "0 import v6e 2x2 x1 pool=p -> new", "0 reserve t 2x{TPU=1.5} -> t@1 RESERVED p-0-0/01+p-0-0/12",
      "0 reserve u 1x{TPU=1} -> u@2 RESERVED p-0-0/3", "0 reserve v 1x{TPU=0.1} -> NOT_NOW", "0 free -> none",
      "0 release t -> ok", "0 reserve v 3x{TPU=0.6} -> v@3 RESERVED p-0-0/0+p-0-0/1+p-0-0/2",
      "0 reserve w 1x{TPU=0.8} -> NOT_NOW", "0 reserve w 1x{TPU=0.4} -> w@4 RESERVED p-0-0/0" } },
  { "a placement that Ray's sums grant and a raylet would refuse is refused",
    { "0 import v6e 1x1 x1 pool=p; v6e 2x2 x1 pool=q -> new",
      "0 reserve u 4x{TPU=0.6} pool=q -> u@1 RESERVED q-0-0/0+q-0-0/1+q-0-0/2+q-0-0/3",
      "0 reserve t 1x{TPU=0.8} pool=q policy=ray -> NOT_NOW bundle 0: not now, node 'q-0-0' has enough TPU, but its "
      "chips cannot be divided among the bundles: Ray's control plane answers SUCCESS, and its raylet would refuse it",
      "0 reserve t 1x{TPU=0.8} pool=q -> NOT_NOW",
      "0 reserve t 2x{TPU=0.4} pool=q policy=ray -> t@2 RESERVED q-0-0/0+q-0-0/1",
      "0 try v 1x{TPU=0.8} policy=ray -> v@3 RESERVED p-0-0/0" } },
  { "implicit and derived resources are used up like all others",
    { "0 import v6e 2x4 x2 pool=b -> new", "0 reserve t 2x{" I "=0.4} -> t@1 RESERVED b-0-0+b-0-0",
      "0 reserve u 1x{" I "=0.6} policy=ray -> u@2 RESERVED b-1-0",
      "0 reserve v 1x{" I "=0.3} policy=ray -> v@3 RESERVED "
      "b-1-0",
      "0 reserve w 1x{" I "=0.3} -> NOT_NOW", "0 release t -> ok", "0 reserve w 1x{" I "=1} -> w@4 RESERVED b-0-0",
      "0 try x 1x{b-1=0.5}+1x{b-1=0.5} -> x@5 RESERVED b-1-0+b-1-0", "0 try x 1x{b-1=1}+1x{b-1=0.5} -> NEVER",
      "0 try x 1x{TPU-v6e-8-head=1} -> x@5 RESERVED b-0-0", "0 try x 3x{TPU-v6e-8-head=1} -> NEVER",
      "0 try x 1x{TPU-v6e-16-head=1} -> NEVER" } },

  /* --- one value of a label, and several --- */
  { "bundles with a topology label are on nodes with the same value",
    { "0 import " A2 "; " B3 " -> new",
      "0 try t 4x{TPU=4} strategy=STRICT_SPREAD label=ray.io/tpu-slice-name -> t@1 RESERVED "
      "a-0-0/0123+a-0-1/0123+a-0-2/0123+a-0-3/0123",
      "0 reserve u 1x{TPU=1} slice=a-0 -> u@1 RESERVED a-0-0/0",
      "0 try t 4x{TPU=4} strategy=STRICT_SPREAD label=ray.io/tpu-slice-name policy=ray -> t@2 RESERVED "
      "a-1-0/0123+a-1-1/0123+a-1-2/0123+a-1-3/0123",
      "0 try t 8x{TPU=4} strategy=STRICT_SPREAD label=ray.io/tpu-slice-name*2 -> NOT_NOW", "0 release u -> ok",
      "0 reserve t 8x{TPU=4} strategy=STRICT_SPREAD label=ray.io/tpu-slice-name*2 -> t@2 RESERVED ",
      "0 free -> b-0,b-1,b-2", "0 try v 3x{TPU=8} label=ray.io/tpu-slice-name*3 -> v@3 RESERVED ",
      "0 try v 3x{TPU=8} label=ray.io/tpu-slice-name*2 -> INVALID",
      "0 try v 2x{TPU=8} label=ray.io/tpu-slice-name*2 policy=ray -> INVALID",
      "0 try v 1x{TPU=8} label=none -> NEVER" } },
  { "slices with the same name in two sources are two values of the label",
    { "0 import v6e 1x1 x1 pool=p -> new", "0 import v6e 1x1 x1 pool=q -> ",
      "0 reserve t 2x{TPU=1} label=ray.io/tpu-slice-name -> NEVER" } },

  /* --- properties of all groups --- */
  { "requests with the same key are compared by their bundles",
    { "0 import " B3 " -> new", "0 reserve t 2x{TPU=4} key=k -> t@1 RESERVED b-0-0/0123+b-0-0/4567",
      "0 reserve t 2x{TPU=4} key=k -> t@1 RESERVED", "0 reserve t 1x{TPU=4}+1x{TPU=4} key=k -> t@1 RESERVED",
      "0 reserve t 2x{TPU=4.0} key=k -> t@1 RESERVED", "0 reserve t 2x{TPU=3} key=k -> CONFLICT",
      "0 reserve t 3x{TPU=4} key=k -> CONFLICT", "0 reserve t 2x{TPU=4} key=k strategy=SPREAD -> CONFLICT",
      "0 reserve t 2x{TPU=4} key=k strategy=PACK -> t@1", "0 reserve t 2x{TPU=4} key=k policy=ray -> CONFLICT",
      "0 reserve t 2x{TPU=4;k=!v} key=k -> CONFLICT", "0 reserve t 2x{TPU=4} key=k label=k -> CONFLICT",
      "0 reserve t 2 key=k -> CONFLICT", "0 reserve u 1x{TPU=1} -> u@2 RESERVED b-1-0/0", "0 release t -> ok",
      "0 reserve t 2x{TPU=4} key=k -> t@1 REMOVED", "0 free -> b-0,b-2" } },
  { "a hold of bundles expires like a hold of slices",
    { "0 import " B3 " -> new",
      "0 hold t 3x{TPU=8} 10s -> t@1 HELD b-0-0/01234567+b-1-0/01234567+b-2-0/01234567 until=10s",
      "0 reserve u 1x{TPU=1} -> NOT_NOW", "5s confirm t -> t@1 RESERVED b-0-0/01234567", "5s release t -> ok",
      "5s hold t 1x{TPU=8} 5s -> t@2 HELD b-0-0/01234567 until=10s", "9s try u 3x{TPU=8} -> NOT_NOW",
      "10s reserve u 3x{TPU=8} lease=5s -> u@3 RESERVED", "15s free -> b-0,b-1,b-2",
      "15s journal -> import: fleet imported; hold: t@1 added; confirm: t@1 lease; release: t@1 gone; hold: t@2 added; "
      "expire: t@2 gone; reserve: u@3 added" } },
  { "a slice that bundles use in part is not free as a whole",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 reserve t 1x{TPU=1} -> t@1 RESERVED a-0-0/0", "0 free -> a-1",
      "0 reserve s 1 -> s@2 RESERVED a-1", "0 reserve u 1x{TPU=4} -> u@3 RESERVED a-0-1/0123",
      "0 reserve v 1x{TPU=1} slice=a-1 -> NOT_NOW", "0 release t -> ok", "0 release u -> ok", "0 free -> a-0",
      "0 owner-set me -> ok", "0 reserve w 1x{TPU=4} owner=me -> w@5 RESERVED a-0-0/0123", "0 owner-end me -> 1",
      "0 free -> a-0" } },
  { "calls for slices refuse a group of bundles with the remedy",
    { "0 import " B3 " -> new", "0 reserve t 2x{TPU=4} -> t@1",
      "0 resize t 1 -> INVALID group 't@1' has 2 bundles, not slices: expected a group of slices; release it, and "
      "reserve the bundles that you need",
      "0 drop t b-0 -> INVALID group 't@1' has 2 bundles",
      "0 reserve t 1x{TPU=1} -> CONFLICT there is a group 't' already: 't@1', PACK 2x{TPU=4}" } },

  /* --- loss --- */
  { "repair places only the lost bundles again",
    { "0 import " B3 " -> new", "0 reserve t 2x{TPU=8} -> t@1 RESERVED b-0-0/01234567+b-1-0/01234567",
      "0 repair t -> nothing", "0 state b-0-0 dead -> ok",
      "0 show t -> t@1 RESCHEDULING b-0-0/01234567!+b-1-0/01234567",
      "0 rehearse repair t -> t@1 RESCHEDULING b-0-0/01234567!+b-1-0/01234567 => t@1 RESERVED "
      "b-2-0/01234567+b-1-0/01234567",
      "0 reserve u 1x{TPU=1} -> u@2 RESERVED b-2-0/0", "0 repair t -> NOT_NOW 2 bundles, PACK: not now",
      "0 release u -> ok",
      "0 repair t@1 -> t@1 RESCHEDULING b-0-0/01234567!+b-1-0/01234567 => t@1 RESERVED b-2-0/01234567+b-1-0/01234567",
      "0 state b-1-0 draining -> ok", "0 show t -> t@1 RESCHEDULING b-2-0/01234567+b-1-0/01234567*",
      "0 state b-0-0 alive -> ok",
      "0 repair t -> t@1 RESCHEDULING b-2-0/01234567+b-1-0/01234567* => t@1 RESERVED "
      "b-2-0/01234567+b-0-0/01234567",
      "0 free -> none" } },
  { "repair with STRICT_SPREAD avoids the nodes of the other bundles",
    { "0 import " B3 " -> new", "0 reserve t 2x{TPU=1} strategy=STRICT_SPREAD -> t@1 RESERVED b-0-0/0+b-1-0/0",
      "0 reserve u 2x{TPU=1} strategy=STRICT_SPREAD policy=ray -> u@2",
      "0 reserve v 2x{TPU=1} strategy=SPREAD policy=ray "
      "-> v@3",
      "0 state b-0-0 dead -> ok", "0 state b-2-0 dead -> ok", "0 repair t -> NOT_NOW", "0 state b-2-0 alive -> ok",
      "0 repair t -> t@1 RESCHEDULING b-0-0/0!+b-1-0/0 => t@1 RESERVED b-2-0/" } },
  { "repair moves a STRICT_PACK group as a whole",
    { "0 import " B3 " -> new",
      "0 reserve t 2x{TPU=3} strategy=STRICT_PACK policy=ray -> t@1 RESERVED b-0-0/012+b-0-0/345",
      "0 state b-0-0 dead -> ok",
      "0 repair t -> t@1 RESCHEDULING b-0-0/012!+b-0-0/345! => t@1 RESERVED b-1-0/012+b-1-0/345" } },
  { "lost bundles keep the value of the topology label unless all bundles are lost",
    { "0 import v6e 4x4 x3 pool=a -> new",
      "0 reserve t 2x{TPU=4} strategy=STRICT_SPREAD label=ray.io/tpu-slice-name policy=ray -> t@1 RESERVED "
      "a-0-0/0123+a-0-1/0123",
      "0 state a-0-0 dead -> ok",
      "0 repair t -> t@1 RESCHEDULING a-0-0/0123!+a-0-1/0123 => t@1 RESERVED a-0-2/0123+a-0-1/0123",
      "0 reserve u 1x{TPU=4} slice=a-0 -> u@2 RESERVED a-0-3/0123", "0 state a-0-2 dead -> ok", "0 repair t -> NOT_NOW",
      "0 state a-0-1 dead -> ok",
      "0 repair t -> t@1 RESCHEDULING a-0-2/0123!+a-0-1/0123! => t@1 RESERVED a-1-0/0123+a-1-1/0123" } },
  { "the bundles of each value of a topology label are repaired separately",
    { "0 import v6e 4x4 x4 pool=a draining=3 -> new",
      "0 reserve t 2x{TPU=4;ray.io/tpu-slice-name=in(a-0,a-3)}+2x{TPU=4;ray.io/tpu-slice-name=in(a-1,a-3)}+"
      "2x{TPU=4;ray.io/tpu-slice-name=a-2} label=ray.io/tpu-slice-name*3 strategy=STRICT_SPREAD -> t@1 RESERVED "
      "a-0-0/0123+a-0-1/0123+a-1-0/0123+a-1-1/0123+a-2-0/0123+a-2-1/0123",
      "0 state a-0-0 dead -> ok", "0 state a-1-0 dead -> ok", "0 state a-1-1 dead -> ok",
      "0 repair t -> t@1 RESCHEDULING a-0-0/0123!+a-0-1/0123+a-1-0/0123!+a-1-1/0123!+a-2-0/0123+a-2-1/0123 => t@1 "
      "RESERVED a-0-2/0123+a-0-1/0123+a-1-2/0123+a-1-3/0123+a-2-0/0123+a-2-1/0123",
      "0 state a-1-2 dead -> ok", "0 state a-1-3 dead -> ok", "0 repair t -> NOT_NOW", "0 state a-3-0 alive -> ok",
      "0 state a-3-1 alive -> ok",
      "0 repair t -> t@1 RESCHEDULING a-0-2/0123+a-0-1/0123+a-1-2/0123!+a-1-3/0123!+a-2-0/0123+a-2-1/0123 => t@1 "
      "RESERVED a-0-2/0123+a-0-1/0123+a-3-0/0123+a-3-1/0123+a-2-0/0123+a-2-1/0123" } },
  { "a node that its source reports as used has no room for bundles",
    { "0 import v6e 2x4 x1 pool=b -> new", "0 reserve t 1x{TPU=1} -> t@1 RESERVED b-0-0/0",
      "0 sync v6e 2x4 x1 pool=b busy=0 -> changed b-0-0 other flags (t@1)", "0 reserve u 1x{TPU=1} -> NOT_NOW",
      "0 sync v6e 2x4 x1 pool=b -> changed b-0-0 other flags (t@1)",
      "0 reserve u 1x{TPU=1} -> u@2 RESERVED b-0-0/1" } },
  { "repair ignores names in the request that no longer exist",
    { "0 import v6e 2x4 x3 pool=b; v6e 2x2 x1 pool=c -> new",
      "0 reserve t 1x{TPU=8} strategy=STRICT_PACK soft=c-0-0 but=c-0 -> t@1 RESERVED b-0-0/01234567",
      "0 import v6e 2x4 x3 pool=b -> ", "0 state b-0-0 dead -> ok",
      "0 repair t -> t@1 RESCHEDULING b-0-0/01234567! => t@1 RESERVED b-1-0/01234567" } },
  { "an allocated node that its source no longer has is lost",
    { "0 import v6e 2x4 x3 pool=b -> new",
      "0 reserve t 2x{TPU=5} slice=b-1 slice=b-2 -> t@1 RESERVED b-1-0/01234+b-2-0/01234",
      "0 import v6e 2x4 x2 pool=b -> CONFLICT source 'fleet': node 'b-2-0' cannot be removed: group 't@1' uses it",
      "0 sync v6e 2x4 x2 pool=b -> lost b-2-0 (t@1)", "0 show t -> t@1 RESCHEDULING b-1-0/01234+b-2-0/01234!",
      "0 repair t -> NOT_NOW", "0 reserve u 1x{TPU=8} -> u@2 RESERVED b-0-0/01234567", "0 release t -> ok",
      "0 sync v6e 2x4 x2 pool=b -> removed b-2-0" } },
  { "sync reports its effect on bundles",
    { "0 import v6e 2x4 x3 pool=b -> new", "0 reserve t 3x{TPU=5} -> t@1",
      "0 sync v6e 2x4 x3 pool=b dead=0 draining=1 -> state b-0-0 alive -> dead (t@1); state b-1-0 alive -> draining "
      "(t@1); group t 1 of 3 bundles is lost, 1 is leaving (t@1)",
      "0 sync v6e 2x4 x3 pool=b draining=1 -> state b-0-0 dead -> alive (t@1); group t 1 of 3 bundles is leaving (t@1)",
      "0 sync v6e 2x4 x3 pool=b -> state b-1-0 draining -> alive (t@1); group t all 3 bundles are whole again "
      "(t@1)" } },
};

START_TEST (facts_hold_in_memory) { script_run (facts[_i].what, facts[_i].lines, FALSE, script_do); }
END_TEST

START_TEST (facts_hold_in_a_file_reopened_before_each_line)
{
  script_run (facts[_i].what, facts[_i].lines, TRUE, script_do);
}
END_TEST

static void
import_with_cpus (QuoitLedger *ledger, const char *cpus, GError **error)
{
  g_autofree char *nodes = elastic_nodes ("a b");
  g_auto (GStrv) pieces = g_strsplit (nodes, "\"CPU\": 8", -1);
  g_autofree char *amount = g_strdup_printf ("\"CPU\": %s", cpus), *changed = g_strjoinv (amount, pieces);
  QuoitInput *input = quoit_input_new (QUOIT_SOURCE_KIND_RAY_NODES, changed, strlen (changed));

  ck_assert_uint_gt (g_strv_length (pieces), 1);
  quoit_import_free (quoit_ledger_sync (ledger, input, T0, error));
  quoit_input_free (input);
}

START_TEST (import_cannot_shrink_a_host_below_its_bundles)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) request = quoit_request_new ("t", NULL);
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  GError *error = NULL;

  import_with_cpus (ledger, "8.0", &error);
  ck_assert_ok (error);
  ck_assert (quoit_request_add_bundles (request, "CPU=3", 2, NULL));
  group = quoit_ledger_reserve (ledger, request, T0, NULL, &error);
  ck_assert_ok (error);
  import_with_cpus (ledger, "5.5", &error);
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT,
                     "node 'a-0' would change: other resources, too few for the bundles there: group 't@1' uses it");
  import_with_cpus (ledger, "6.0", &error);
  ck_assert_ok (error);
  snapshot = quoit_ledger_snapshot (ledger);
  ck_assert (quoit_snapshot_check (snapshot, &error));
}
END_TEST

static QuoitGroup *
reserve_bundles (QuoitLedger *ledger, const char *name, const char *amounts, guint n)
{
  g_autoptr (QuoitRequest) request = quoit_request_new (name, NULL);
  GError *error = NULL;
  QuoitGroup *group;

  ck_assert (quoit_request_add_bundles (request, amounts, n, NULL));
  group = quoit_ledger_reserve (ledger, request, T0, NULL, &error);
  ck_assert_ok (error);
  return group;
}

START_TEST (group_lists_the_chips_of_its_bundles)
{
  static const char fleet[] = "v6e 2x4 x1 pool=a; v5e 2x2 x1 pool=b busy=0; v5e 2x2 x1 pool=c";
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) whole = quoit_request_new ("whole", NULL);
  g_autoptr (QuoitGroup) parts = NULL, one = NULL, slice = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  GError *error = NULL;
  uint32_t a, b, c;

  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_FLEET, fleet, NULL, T0, &error));
  ck_assert_ok (error);
  parts = reserve_bundles (ledger, "parts", "TPU=1.5", 2);
  one = reserve_bundles (ledger, "one", "TPU=1", 1);
  ck_assert (quoit_request_set_accelerator (whole, "v5e", NULL) && quoit_request_set_topology (whole, "2x2", NULL)
             && quoit_request_set_slices (whole, 1, NULL));
  slice = quoit_ledger_reserve (ledger, whole, T0, NULL, &error);
  ck_assert_ok (error);
  snapshot = quoit_ledger_snapshot (ledger);
  ck_assert (quoit_snapshot_lookup_node (snapshot, "a-0-0", &a, NULL));
  ck_assert (quoit_snapshot_lookup_node (snapshot, "b-0-0", &b, NULL));
  ck_assert (quoit_snapshot_lookup_node (snapshot, "c-0-0", &c, NULL));

  ck_assert_uint_eq (quoit_snapshot_get_node_n_users (snapshot, a), 2);
  ck_assert_uint_eq (quoit_snapshot_get_node_user_id (snapshot, a, 0), quoit_group_get_id (parts));
  ck_assert_uint_eq (quoit_snapshot_get_node_user_id (snapshot, a, 1), quoit_group_get_id (one));
  ck_assert_uint_eq (quoit_snapshot_get_node_user_id (snapshot, c, 0), quoit_group_get_id (slice));
  ck_assert_uint_eq (quoit_snapshot_get_node_user_chips (snapshot, a, 0),
                     quoit_group_get_bundle_chips (parts, 0) | quoit_group_get_bundle_chips (parts, 1));
  ck_assert_uint_eq (quoit_snapshot_get_node_user_chips (snapshot, a, 0), 7);
  ck_assert_uint_eq (quoit_snapshot_get_node_user_chips (snapshot, a, 1), 8);
  ck_assert_uint_eq (quoit_snapshot_get_node_external_chips (snapshot, a), 0);
  ck_assert_uint_eq (quoit_snapshot_get_node_n_users (snapshot, b), 0);
  ck_assert_uint_eq (quoit_snapshot_get_node_external_chips (snapshot, b), 15);
  ck_assert_uint_eq (quoit_snapshot_get_node_user_chips (snapshot, c, 0), 15);
  ck_assert_uint_eq (quoit_snapshot_get_node_external_chips (snapshot, c), 0);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("bundles");
  TCase *tcase = tcase_create ("bundles");

  tcase_set_timeout (tcase, 60);
  tcase_add_loop_test (tcase, facts_hold_in_memory, 0, G_N_ELEMENTS (facts));
  tcase_add_loop_test (tcase, facts_hold_in_a_file_reopened_before_each_line, 0, G_N_ELEMENTS (facts));
  tcase_add_test (tcase, import_cannot_shrink_a_host_below_its_bundles);
  tcase_add_test (tcase, group_lists_the_chips_of_its_bundles);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
