/* SPDX-License-Identifier: Apache-2.0 */
/* Groups whose slices change: fewer and more slices, hosts that are lost, replaced and return, bundles of a host. */
#include "script.h"

#define A3 "v6e 4x4 x3 pool=a"
#define A4 "v6e 4x4 x4 pool=a"

static const ScriptFact facts[] = {
  { "a range gets as many slices as are free, and none if fewer than the lower bound are free",
    { "0 import " A3 " -> new", "0 reserve none 4..5 -> NEVER", "0 reserve one 1..2 -> one@1 RESERVED a-0,a-1",
      "0 reserve two 2..3 -> NOT_NOW", "0 reserve three 1..3 -> three@2 RESERVED a-2", "0 reserve four 1..3 -> NOT_NOW",
      "0 release three -> ok", "0 try five 1..1 -> five@3 RESERVED a-2", "0 reserve six 0..2 -> INVALID",
      "0 reserve six 3..2 -> INVALID", "0 reserve six -1..2 -> INVALID" } },
  { "a range uses only the pool and the slices that the request allows",
    { "0 import v6e 4x4 x2 pool=a; v6e 4x4 x3 pool=b -> new", "0 try t 1..5 -> t@1 RESERVED a-0,a-1,b-0,b-1,b-2",
      "0 try t 1..4 pool=b -> t@1 RESERVED b-0,b-1,b-2", "0 try t 1..2 slice=b-2 slice=a-1 slice=b-0 -> t@1",
      "0 try t 3..5 slice=b-2 slice=a-1 slice=b-0 -> t@1 RESERVED a-1,b-0,b-2",
      "0 try t 4..5 slice=b-2 slice=a-1 slice=b-0 -> NEVER", "0 try t 4..5 but=b-2 -> t@1 RESERVED a-0,a-1,b-0,b-1",
      "0 try t 5..5 but=b-2 -> NEVER", "0 fits 1..9 -> fits 5", "0 try t 1..2 pool=c -> NOT_FOUND" } },
  { "a retry of a range returns the same group, even if more slices are free now",
    { "0 import " A3 " -> new", "0 reserve other 1 slice=a-0 -> other@1",
      "0 reserve t 1..3 key=k -> t@2 RESERVED a-1,a-2", "0 release other -> ok",
      "0 reserve t 1..3 key=k -> t@2 RESERVED a-1,a-2",
      "0 resize t 3 -> t@2 RESERVED a-1,a-2 => t@2 RESERVED a-0,a-1,a-2",
      "0 reserve t 1..3 key=k -> t@2 RESERVED a-0,a-1,a-2" } },

  { "a group that was requested with a range is resized within it",
    { "0 import v6e 4x4 x5 pool=a -> new", "0 reserve t 2..4 -> t@1 RESERVED a-0,a-1,a-2,a-3",
      "0 resize t 0 -> INVALID slices '0': expected 1 to", "0 resize t -1 -> INVALID slices '-1'",
      "0 resize t 1 -> INVALID slices '1': expected 2 to 4", "0 resize t 5 -> INVALID slices '5': expected 2 to 4",
      "0 resize t 9223372036854775807 -> INVALID", "0 journal", "0 resize t@1 4 -> nothing", "0 journal -> nothing",
      "0 resize t@1 2 -> t@1 RESERVED a-0,a-1,a-2,a-3 => t@1 RESERVED a-0,a-1", "0 free -> a-2,a-3,a-4",
      "0 resize t@2 3 -> CONFLICT", "0 resize other 3 -> NOT_FOUND", "0 journal -> resize: t@1 other" } },
  { "a group that was requested with one number is resized to any number",
    { "0 import " A4 " -> new", "0 reserve t 2 -> t@1 RESERVED a-0,a-1",
      "0 rehearse resize t 4 -> t@1 RESERVED a-0,a-1 => t@1 RESERVED a-0,a-1,a-2,a-3",
      "0 show t -> t@1 RESERVED a-0,a-1", "0 resize t 5 -> NEVER",
      "0 resize t 1 -> t@1 RESERVED a-0,a-1 => t@1 RESERVED a-0",
      "0 resize t 3 -> t@1 RESERVED a-0 => t@1 RESERVED a-0,a-1,a-2", "0 resize t 0 -> INVALID",
      "0 resize t 1000001 -> INVALID" } },
  { "a group is resized to as many slices as there are between two numbers",
    { "0 import v6e 4x4 x6 pool=a -> new", "0 reserve other 2 lease=10s -> other@1 RESERVED a-0,a-1",
      "0 reserve t 2..6 slice=a-2 slice=a-3 slice=a-4 slice=a-5 slice=a-0 slice=a-1 -> t@2 RESERVED a-2,a-3,a-4,a-5",
      "0 resize t 2 -> t@2 RESERVED a-2,a-3,a-4,a-5 => t@2 RESERVED a-2,a-3", "0 journal", "0 resize t 2..2 -> nothing",
      "0 rehearse resize t 3..3 -> t@2 RESERVED a-2,a-3 => t@2 RESERVED a-2,a-3,a-4",
      "0 resize t 5..6 -> NOT_NOW 5 x v6e 4x4: not now, 4 of 5 slices free",
      "0 resize t 2..6 -> t@2 RESERVED a-2,a-3 => t@2 RESERVED a-2,a-3,a-4,a-5", "0 resize t 2..6 -> nothing",
      "0 resize t 4..5 -> nothing", "0 resize t 5..5 -> NOT_NOW",
      "0 rehearse resize t 2..3 -> t@2 RESERVED a-2,a-3,a-4,a-5 => t@2 RESERVED a-2,a-3,a-4",
      "10s rehearse resize t 3..5 -> t@2 RESERVED a-2,a-3,a-4,a-5 => t@2 RESERVED a-0,a-2,a-3,a-4,a-5",
      "10s resize t@2 2..6 -> t@2 RESERVED a-2,a-3,a-4,a-5 => t@2 RESERVED a-0,a-1,a-2,a-3,a-4,a-5",
      "10s resize t@2 2..3 -> t@2 RESERVED a-0,a-1,a-2,a-3,a-4,a-5 => t@2 RESERVED a-0,a-1,a-2",
      "10s journal -> resize: t@2 other; expire: other@1 gone; resize: t@2 other; resize: t@2 other" } },
  { "the two numbers are in order, and within the range of the request",
    { "0 import v6e 4x4 x5 pool=a -> new", "0 reserve t 2..4 -> t@1 RESERVED a-0,a-1,a-2,a-3",
      "0 reserve u 1 -> u@2 RESERVED a-4", "0 journal",
      "0 resize t 0..3 -> INVALID slices '0..3': expected 1 to 1000000; release the group to give up all",
      "0 resize t 3..2 -> INVALID slices '3..2': expected the smaller number first",
      "0 resize t 1..4 -> INVALID slices '1..4': expected 2 to 4, as in the request of group 't@1'; for another range, "
      "release the group and reserve it again with --slices 1..4",
      "0 resize t 2..5 -> INVALID slices '2..5': expected 2 to 4, as in the request of group 't@1'; for another range, "
      "release the group and reserve it again with --slices 2..5",
      "0 resize t 2..1000001 -> INVALID", "0 resize t -9223372036854775808..9223372036854775807 -> INVALID",
      "0 resize u 1..1000001 -> INVALID slices '1..1000001': expected 1 to 1000000", "0 resize u 2..9 -> NOT_NOW",
      "0 resize u 6..9 -> NEVER", "0 resize t@3 2..4 -> CONFLICT", "0 resize v 2..4 -> NOT_FOUND",
      "0 journal -> nothing", "0 resize t 2 -> t@1",
      "0 resize u 1..1000000 -> u@2 RESERVED a-4 => u@2 RESERVED a-2,a-3,a-4",
      "0 resize u 1..2 -> u@2 RESERVED a-2,a-3,a-4 => u@2 RESERVED a-2,a-3" } },
  { "a resize between two numbers counts lost slices, and gives them up first",
    { "0 import " A4 " -> new", "0 reserve t 1..4 -> t@1", "0 resize t 3 -> t@1", "0 state a-1-0 dead -> ok",
      "0 rehearse resize t 1..4 -> t@1 RESCHEDULING a-0,a-1!,a-2 => t@1 RESCHEDULING a-0,a-1!,a-2,a-3",
      "0 resize t 1..2 -> t@1 RESCHEDULING a-0,a-1!,a-2 => t@1 RESERVED a-0,a-2",
      "0 resize t 1..4 -> t@1 RESERVED a-0,a-2 => t@1 RESERVED a-0,a-2,a-3" } },
  { "a group with fewer slices than its range, after the release of single ones, grows into it or not at all",
    { "0 import " A4 " -> new", "0 reserve t 3..4 -> t@1 RESERVED a-0,a-1,a-2,a-3", "0 drop t a-0 -> t@1",
      "0 drop t a-1 -> t@1 RESERVED a-1,a-2,a-3 => t@1 RESERVED a-2,a-3", "0 reserve u 1 -> u@2 RESERVED a-0",
      "0 drop t a-2 -> t@1 RESERVED a-2,a-3 => t@1 RESERVED a-3", "0 reserve v 1 -> v@3 RESERVED a-1",
      "0 resize t 3..4 -> NOT_NOW 3 x v6e 4x4: not now, 2 of 3 slices free, 1 short", "0 release u -> ok",
      "0 resize t 3..4 -> t@1 RESERVED a-3 => t@1 RESERVED a-0,a-2,a-3" } },
  { "slices are in natural order after each change",
    { "0 import v6e 4x4 x12 pool=a; v6e 4x4 x1 pool=b -> new",
      "0 reserve t 1 slice=a-10 slice=a-2 slice=b-0 slice=a-1 -> t@1 RESERVED b-0",
      "0 resize t 4 -> t@1 RESERVED b-0 => t@1 RESERVED a-1,a-2,a-10,b-0",
      "0 resize t 2 -> t@1 RESERVED a-1,a-2,a-10,b-0 => t@1 RESERVED a-1,a-2",
      "0 drop t a-1 -> t@1 RESERVED a-1,a-2 => t@1 RESERVED a-2" } },
  { "a group grows only by slices that its request allows",
    { "0 import v6e 4x4 x2 pool=a; v6e 4x4 x4 pool=b -> new", "0 reserve t 1..4 pool=a -> t@1 RESERVED a-0,a-1",
      "0 resize t 3 -> NEVER", "0 reserve u 1 pool=b but=b-0 but=b-1 -> u@2 RESERVED b-2",
      "0 resize u 2 -> u@2 RESERVED b-2 => u@2 RESERVED b-2,b-3", "0 resize u 3 -> NEVER", "0 release t -> ok",
      "0 resize u 3 -> NEVER" } },
  { "a group that cannot grow now does not change",
    { "0 import " A3 " -> new", "0 reserve other 1 -> other@1 RESERVED a-0",
      "0 reserve t 1 lease=10s -> t@2 RESERVED a-1 until=10s", "0 resize t 3 -> NOT_NOW",
      "0 show t -> t@2 RESERVED a-1 until=10s",
      "0 resize t 2 -> t@2 RESERVED a-1 until=10s => t@2 RESERVED a-1,a-2 until=10s", "10s resize t 1 -> EXPIRED",
      "10s free -> a-1,a-2" } },
  { "a group can grow by the slices of an ended lease",
    { "0 import " A3 " -> new", "0 hold other 2 10s -> other@1 HELD a-0,a-1", "0 reserve t 1 -> t@2 RESERVED a-2",
      "9s resize t 2 -> NOT_NOW", "10s rehearse resize t 3 -> t@2 RESERVED a-2 => t@2 RESERVED a-0,a-1,a-2",
      "10s resize t 3 -> t@2 RESERVED a-2 => t@2 RESERVED a-0,a-1,a-2",
      "10s journal -> import: fleet imported; hold: other@1 added; reserve: t@2 added; expire: other@1 gone; resize: "
      "t@2 "
      "other" } },
  { "a group that shrinks releases lost slices first, then leaving ones, then the last ones",
    { "0 import v6e 4x4 x5 pool=a -> new", "0 reserve t 5 -> t@1 RESERVED a-0,a-1,a-2,a-3,a-4",
      "0 state a-1-0 dead -> ok", "0 state a-2-3 draining -> ok", "0 show t -> t@1 RESCHEDULING a-0,a-1!,a-2*,a-3,a-4",
      "0 rehearse resize t 1 -> t@1 RESCHEDULING a-0,a-1!,a-2*,a-3,a-4 => t@1 RESERVED a-0",
      "0 resize t 4 -> t@1 RESCHEDULING a-0,a-1!,a-2*,a-3,a-4 => t@1 RESCHEDULING a-0,a-2*,a-3,a-4",
      "0 resize t 3 -> t@1 RESCHEDULING a-0,a-2*,a-3,a-4 => t@1 RESERVED a-0,a-3,a-4",
      "0 resize t 2 -> t@1 RESERVED a-0,a-3,a-4 => t@1 RESERVED a-0,a-3" } },
  { "of several lost slices the last is released first",
    { "0 import " A4 " -> new", "0 reserve t 4 -> t@1", "0 state a-0-0 dead -> ok", "0 state a-2-0 dead -> ok",
      "0 state a-1-0 draining -> ok", "0 state a-1-1 dead -> ok",
      "0 resize t 2 -> t@1 RESCHEDULING a-0!,a-1!,a-2!,a-3 => t@1 RESCHEDULING a-0!,a-3", "0 resize t 3 -> NOT_NOW" } },
  { "a group that grows keeps its lost slices, because only repair replaces them",
    { "0 import " A4 " -> new", "0 reserve t 1 -> t@1 RESERVED a-0", "0 state a-0-1 dead -> ok",
      "0 resize t 2 -> t@1 RESCHEDULING a-0! => t@1 RESCHEDULING a-0!,a-1" } },

  { "repair of a whole group changes nothing",
    { "0 import " A3 " -> new", "0 reserve t 2 -> t@1 RESERVED a-0,a-1", "0 journal", "0 repair t -> nothing",
      "0 repair t@1 -> nothing", "0 repair t@2 -> CONFLICT", "0 repair u -> NOT_FOUND", "0 journal -> nothing" } },
  { "a lost slice is replaced, and the others stay",
    { "0 import " A4 " -> new", "0 reserve t 2 -> t@1 RESERVED a-0,a-1", "0 state a-0-2 dead -> ok",
      "0 rehearse repair t -> t@1 RESCHEDULING a-0!,a-1 => t@1 RESERVED a-1,a-2",
      "0 repair t -> t@1 RESCHEDULING a-0!,a-1 => t@1 RESERVED a-1,a-2", "0 free -> a-3", "0 state a-0-2 alive -> ok",
      "0 free -> a-0,a-3", "0 repair t -> nothing" } },
  { "a leaving slice is replaced like a lost one",
    { "0 import " A3 " -> new", "0 reserve t 2 -> t@1 RESERVED a-0,a-1", "0 state a-1-3 draining -> ok",
      "0 show t -> t@1 RESCHEDULING a-0,a-1*", "0 repair t -> t@1 RESCHEDULING a-0,a-1* => t@1 RESERVED a-0,a-2" } },
  { "repair changes nothing if too few slices are free",
    { "0 import " A4 " -> new", "0 reserve t 3 -> t@1 RESERVED a-0,a-1,a-2", "0 state a-0-0 dead -> ok",
      "0 state a-1-0 dead -> ok", "0 repair t -> NOT_NOW", "0 show t -> t@1 RESCHEDULING a-0!,a-1!,a-2",
      "0 resize t 2 -> t@1 RESCHEDULING a-0!,a-1!,a-2 => t@1 RESCHEDULING a-0!,a-2",
      "0 repair t -> t@1 RESCHEDULING a-0!,a-2 => t@1 RESERVED a-2,a-3" } },
  { "a group that has lost all its slices can be repaired",
    { "0 import " A4 " -> new", "0 reserve t 2 -> t@1 RESERVED a-0,a-1", "0 reserve u 2 tpu=1 -> u@2 RESERVED a-2,a-3",
      "0 state a-0-0 dead -> ok", "0 state a-1-0 dead -> ok", "0 state a-2-0 dead -> ok", "0 state a-3-0 dead -> ok",
      "0 repair t -> NOT_NOW", "0 repair u -> NOT_NOW", "0 sync v6e 4x4 x6 pool=a dead=0.0,1.0,2.0,3.0",
      "0 repair u -> u@2 RESCHEDULING a-2!,a-3! => u@2 RESERVED a-4,a-5", "0 repair t -> NOT_NOW" } },
  { "repair uses only slices that the request allows",
    { "0 import v6e 4x4 x2 pool=a; v6e 4x4 x2 pool=b -> new", "0 reserve t 1 pool=a but=a-0 -> t@1 RESERVED a-1",
      "0 state a-1-0 dead -> ok", "0 repair t -> NOT_NOW", "0 reserve u 1 slice=b-0 slice=b-1 -> u@2 RESERVED b-0",
      "0 state b-0-0 dead -> ok", "0 repair u -> u@2 RESCHEDULING b-0! => u@2 RESERVED b-1" } },
  { "resize and repair ignore slice names in the request that no longer exist",
    { "0 import v6e 4x4 x2 pool=a; v6e 4x4 x2 pool=b -> new", "0 reserve t 1 but=b-0 but=b-1 -> t@1 RESERVED a-0",
      "0 reserve u 1 slice=b-1 slice=a-1 -> u@2 RESERVED a-1", "0 sync v6e 4x4 x2 pool=a; v6e 4x4 x1 pool=c",
      "0 resize t 2 -> t@1 RESERVED a-0 => t@1 RESERVED a-0,c-0", "0 resize u 2 -> NEVER", "0 resize u@2 1 -> nothing",
      "0 release u -> ok", "0 reserve v 1 slice=b-1 -> NOT_FOUND", "0 reserve v 1 slice=a-1 -> v@3 RESERVED a-1",
      "0 sync v6e 4x4 x1 pool=a; v6e 4x4 x2 pool=c", "0 repair v -> NOT_NOW", "0 resize v 2 -> NEVER" } },
  { "a hold can be repaired and resized, and stays a hold",
    { "0 import " A4 " -> new", "0 hold t 2 10s -> t@1 HELD a-0,a-1 until=10s", "1s state a-0-0 dead -> ok",
      "1s show t -> t@1 HELD a-0!,a-1 until=10s",
      "1s repair t -> t@1 HELD a-0!,a-1 until=10s => t@1 HELD a-1,a-2 until=10s",
      "1s resize t 3 -> t@1 HELD a-1,a-2 until=10s => t@1 HELD a-1,a-2,a-3 until=10s",
      "1s drop t a-2 -> t@1 HELD a-1,a-2,a-3 until=10s => t@1 HELD a-1,a-3 until=10s", "10s repair t -> EXPIRED",
      "10s drop t a-1 -> EXPIRED" } },

  { "a slice can be released by name, and the group ends with its last slice",
    { "0 import " A3 " -> new", "0 reserve t 3 key=k -> t@1 RESERVED a-0,a-1,a-2", "0 drop t a-3 -> NOT_FOUND",
      "0 drop t a-1 -> t@1 RESERVED a-0,a-1,a-2 => t@1 RESERVED a-0,a-2",
      "0 drop t a-1 -> NOT_FOUND group 't@1' has no slice 'a-1'",
      "0 drop t fleet/a/a-0 -> t@1 RESERVED a-0,a-2 => t@1 RESERVED a-2", "0 drop t@2 a-2 -> CONFLICT",
      "0 drop t@1 a-2 -> t@1 RESERVED a-2 => gone", "0 drop t@1 a-2 -> CONFLICT", "0 drop t a-2 -> NOT_FOUND",
      "0 free -> a-0,a-1,a-2", "0 reserve t 3 key=k -> t@1 REMOVED",
      "0 journal -> import: fleet imported; reserve: t@1 added; release: t@1 other; release: t@1 other; release: t@1 "
      "gone" } },
  { "a lost slice can be released",
    { "0 import " A3 " -> new", "0 reserve t 2 -> t@1 RESERVED a-0,a-1", "0 sync v6e 4x4 x1 pool=a",
      "0 show t -> t@1 RESCHEDULING a-0,a-1!", "0 drop t a-1 -> t@1 RESCHEDULING a-0,a-1! => t@1 RESERVED a-0" } },

  { "missing nodes stay as dead while a group has them, and are removed afterwards",
    { "0 import " A3 " -> new", "0 reserve t 2 -> t@1 RESERVED a-0,a-1",
      "0 import v6e 4x4 x1 pool=a -> CONFLICT source 'fleet': node 'a-1-0' cannot be removed: group 't@1' uses it",
      "0 sync v6e 4x4 x1 pool=a -> lost a-1-0 (t@1); lost a-1-1 (t@1); lost a-1-2 (t@1); lost "
      "a-1-3 (t@1); removed a-2-0; removed a-2-1; removed a-2-2; removed a-2-3; group t slice 1, a-1, is lost (t@1)",
      "0 show t -> t@1 RESCHEDULING a-0,a-1!", "0 journal", "0 sync v6e 4x4 x1 pool=a -> nothing",
      "0 import v6e 4x4 x1 pool=a -> nothing", "0 journal -> nothing", "0 fits 1 -> not-now 0", "0 release t -> ok",
      "0 free -> a-0", "0 sync v6e 4x4 x1 pool=a -> removed a-1-0; removed a-1-1; removed a-1-2; removed a-1-3",
      "0 sync v6e 4x4 x1 pool=a -> nothing" } },
  { "sync reports which slices of which group are lost, leaving or whole again",
    { "0 import v6e 4x4 x2 pool=a; v6e 4x4 x2 pool=b -> new", "0 reserve t 2 pool=a -> t@1 RESERVED a-0,a-1",
      "0 reserve u 1 pool=b -> u@2 RESERVED b-0",
      "0 sync v6e 4x4 x2 pool=a dead=1.2; v6e 4x4 x2 pool=b draining=0.0,1.0 -> state a-1-2 alive -> dead (t@1); state "
      "b-0-0 alive -> draining (u@2); state b-1-0 alive -> draining; group t slice 1, a-1, is lost (t@1); group u "
      "slice "
      "0, b-0, is leaving (u@2)",
      "0 sync v6e 4x4 x2 pool=a dead=1.2; v6e 4x4 x2 pool=b draining=0.0,1.0 -> nothing",
      "0 sync v6e 4x4 x2 pool=a; v6e 4x4 x2 pool=b -> state a-1-2 dead -> alive (t@1); state b-0-0 draining -> alive "
      "(u@2); state b-1-0 draining -> alive; group t slice 1, a-1, is whole again (t@1); group u slice 0, b-0, is "
      "whole "
      "again (u@2)",
      "0 repair t -> nothing", "0 repair u -> nothing" } },
  { "a missing slice that comes back is whole again",
    { "0 import " A3 " -> new", "0 reserve t 2 -> t@1 RESERVED a-0,a-1", "0 sync v6e 4x4 x1 pool=a",
      "0 show t -> t@1 RESCHEDULING a-0,a-1!", "0 sync " A3, "0 show t -> t@1 RESERVED a-0,a-1", "0 free -> a-2",
      "0 repair t -> nothing" } },
  { "repair can use slices that a sync has added",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 reserve t 2 key=k -> t@1 RESERVED a-0,a-1",
      "0 sync v6e 4x4 x1 pool=a; v6e 4x4 x1 pool=b", "0 repair t -> t@1 RESCHEDULING a-0,a-1! => t@1 RESERVED a-0,b-0",
      "0 sync v6e 4x4 x1 pool=a; v6e 4x4 x1 pool=b -> removed a-1-0", "0 reserve t 2 key=k -> t@1 RESERVED a-0,b-0" } },
  { "a missing pool stays while it has lost nodes, and is removed with them",
    { "0 import v6e 4x4 x1 pool=a; v6e 4x4 x1 pool=b -> new", "0 reserve t 1 pool=a -> t@1 RESERVED a-0",
      "0 sync v6e 4x4 x1 pool=b -> lost a-0-0 (t@1); lost a-0-1 (t@1); lost a-0-2 (t@1); lost a-0-3 (t@1); group t "
      "slice "
      "0, a-0, is lost (t@1)",
      "0 sync v6e 4x4 x1 pool=b -> nothing", "0 release t -> ok",
      "0 sync v6e 4x4 x1 pool=b -> removed a-0-0; removed a-0-1; removed a-0-2; removed a-0-3; pool a gone" } },
  { "an allocated slice cannot change its class",
    { "0 import v6e 4x4 x1 pool=a -> new", "0 reserve t 1 -> t@1 RESERVED a-0",
      "0 sync v6e 2x4 x1 pool=a hostchips=4 -> CONFLICT", "0 import v5e 4x4 x1 pool=a -> CONFLICT" } },
  { "a node that a group has left stays in external use",
    { "0 import " A3 " -> new", "0 reserve t 1 -> t@1 RESERVED a-0", "0 sync v6e 4x4 x3 pool=a busy=0-1",
      "0 free -> a-2", "0 show t -> t@1 RESERVED a-0", "0 state a-0-0 dead -> ok",
      "0 repair t -> t@1 RESCHEDULING a-0! => t@1 RESERVED a-2", "0 state a-0-0 alive -> ok", "0 free -> none",
      "0 sync " A3, "0 free -> a-0,a-1" } },

  { "hosts that are divided into bundles are resized and repaired like whole hosts",
    { "0 import " A4 " -> new", "0 reserve t 1 tpu=1 -> t@1 RESERVED a-0",
      "0 resize t 2 -> t@1 RESERVED a-0 => t@1 RESERVED a-0,a-1", "0 state a-0-0 dead -> ok",
      "0 repair t -> t@1 RESCHEDULING a-0!,a-1 => t@1 RESERVED a-1,a-2", "0 free -> a-3",
      "0 resize t 1 -> t@1 RESERVED a-1,a-2 => t@1 RESERVED a-1", "0 drop t a-1 -> t@1 RESERVED a-1 => gone",
      "0 free -> a-1,a-2,a-3" } },
  { "the TPU per bundle must divide the chips of a host evenly",
    { "0 import " A4 " -> new", "0 reserve t 1 tpu=3 -> INVALID TPU per bundle '3': expected",
      "0 reserve t 1 tpu=0.3 -> INVALID TPU per bundle '0.3': expected",
      "0 reserve t 1 tpu=8 -> INVALID TPU per bundle '8': expected",
      "0 reserve t 1 tpu=1.5 -> INVALID TPU per bundle '1.5'", "0 reserve t 1 tpu=0 -> INVALID",
      "0 reserve t 1 tpu=-1 -> INVALID", "0 reserve t 1 tpu=0.00001 -> INVALID", "0 free -> a-0,a-1,a-2,a-3" } },
};

START_TEST (facts_hold_in_memory) { script_run (facts[_i].what, facts[_i].lines, FALSE, script_do); }
END_TEST

START_TEST (facts_hold_in_a_file_reopened_before_each_line)
{
  script_run (facts[_i].what, facts[_i].lines, TRUE, script_do);
}
END_TEST

/* --- the chips of each bundle --- */

static const struct {
  const char *fleet, *request, *bundles;
} divisions[] = {
  { "v6e 4x4 x1 pool=a", "0 reserve t 1 tpu=4",
    "a-0-0 0,1,2,3: TPU 4; a-0-1 0,1,2,3: TPU 4; a-0-2 0,1,2,3: TPU 4; a-0-3 0,1,2,3: TPU 4" },
  { "v6e 4x4 x1 pool=a", "0 reserve t 1 tpu=2",
    "a-0-0 0,1: TPU 2; a-0-0 2,3: TPU 2; a-0-1 0,1: TPU 2; a-0-1 2,3: TPU 2; a-0-2 0,1: TPU 2; a-0-2 2,3: TPU 2; a-0-3 "
    "0,1: TPU 2; a-0-3 2,3: TPU 2" },
  /* PyTorch/XLA's v5p-8 and v5p-16: one process per chip. */
  { "v5p 2x2x1 x1 pool=a", "0 reserve t 1 tpu=1 gen=v5p shape=2x2x1",
    "a-0-0 0: TPU 1; a-0-0 1: TPU 1; a-0-0 2: TPU 1; a-0-0 3: TPU 1" },
  { "v5p 2x2x2 x1 pool=a", "0 reserve t 1 tpu=1 gen=v5p shape=2x2x2",
    "a-0-0 0: TPU 1; a-0-0 1: TPU 1; a-0-0 2: TPU 1; a-0-0 3: TPU 1; a-0-1 0: TPU 1; a-0-1 1: TPU 1; a-0-1 2: TPU 1; "
    "a-0-1 3: TPU 1" },
  { "v5p 2x2x1 x1 pool=a", "0 reserve t 1 tpu=0.5 gen=v5p shape=2x2x1",
    "a-0-0 0: TPU 0.5; a-0-0 0: TPU 0.5; a-0-0 1: TPU 0.5; a-0-0 1: TPU 0.5; a-0-0 2: TPU 0.5; a-0-0 2: TPU 0.5; a-0-0 "
    "3: TPU 0.5; a-0-0 3: TPU 0.5" },
  { "v6e 2x4 x1 pool=a", "0 reserve t 1 tpu=8 shape=2x4", "a-0-0 0,1,2,3,4,5,6,7: TPU 8" },
  { "v6e 2x4 x1 pool=a", "0 reserve t 1 tpu=4 shape=2x4", "a-0-0 0,1,2,3: TPU 4; a-0-0 4,5,6,7: TPU 4" },
};

static char *
bundles_of (const QuoitGroup *group)
{
  GString *text = g_string_new (NULL);

  for (uint32_t i = 0; i < quoit_group_get_n_bundles (group); i++)
    {
      uint64_t chips = quoit_group_get_bundle_chips (group, i);

      g_string_append_printf (text, "%s%s", i == 0 ? "" : "; ", quoit_group_get_bundle_node (group, i));
      for (guint chip = 0; chip < 64; chip++)
        if ((chips >> chip & 1) != 0)
          g_string_append_printf (text, "%c%u", (chips & ((UINT64_C (1) << chip) - 1)) == 0 ? ' ' : ',', chip);
      for (uint32_t r = 0; r < quoit_group_get_bundle_n_resources (group, i); r++)
        {
          g_autofree char *amount = quoit_amount_format (quoit_group_get_bundle_amount (group, i, r));

          g_string_append_printf (text, ": %s %s", quoit_group_get_bundle_resource_name (group, i, r), amount);
        }
    }
  return g_string_free (text, FALSE);
}

START_TEST (each_bundle_has_its_chips)
{
  Script script = script_begin (TRUE);
  g_autofree char *import = g_strconcat ("0 import ", divisions[_i].fleet, NULL), *bundles = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitGroup) group = NULL;

  script_step (&script, "division", import);
  script_step (&script, "division", divisions[_i].request);
  script_reopen (&script);
  snapshot = quoit_ledger_snapshot (script.ledger);
  group = quoit_snapshot_lookup_group (snapshot, "t", NULL);
  bundles = bundles_of (group);
  ck_assert_str_eq (bundles, divisions[_i].bundles);
  script_end (&script);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("elastic");
  TCase *tcase = tcase_create ("elastic");

  tcase_set_timeout (tcase, 60);
  tcase_add_loop_test (tcase, facts_hold_in_memory, 0, G_N_ELEMENTS (facts));
  tcase_add_loop_test (tcase, facts_hold_in_a_file_reopened_before_each_line, 0, G_N_ELEMENTS (facts));
  tcase_add_loop_test (tcase, each_bundle_has_its_chips, 0, G_N_ELEMENTS (divisions));
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
