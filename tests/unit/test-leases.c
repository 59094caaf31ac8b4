/* SPDX-License-Identifier: Apache-2.0 */
/* Holds, leases, owners and request keys: the validity of groups, and the answers to calls that are late, repeated
 * or made with a jumping clock. */
#include "script.h"

static const ScriptFact facts[] = {
  { "a lease is valid while the time is before its end",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 hold train 1 10s -> train@1 HELD a-0 until=10s",
      "9999 show train -> train@1 HELD a-0 until=10s", "9999 free -> a-1", "9999 hold other 2 10s -> NOT_NOW",
      "9999 renew train 1 -> train@1 HELD a-0 until=10s", "9999 renew train 10s -> train@1 HELD a-0 until=19999" } },
  { "a lease has ended at the exact time of its end",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 hold train 1 10s -> train@1 HELD a-0 until=10s",
      "10s show train -> EXPIRED", "10s free -> a-0,a-1",
      "10s renew train 10s -> EXPIRED the lease of group 'train@1' has ended",
      "10s hold other 2 10s -> other@2 HELD a-0,a-1 until=20s" } },
  { "every query counts the slices of an ended lease as free before the journal has the expiry",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 hold train 2 10s -> train@1 HELD a-0,a-1", "9999 fits 1 -> not-now 0",
      "9999 try other 1 -> NOT_NOW", "10s fits 2 -> fits 2", "10s free -> a-0,a-1",
      "10s try other 2 -> other@2 RESERVED a-0,a-1", "10s try train 2 -> train@2 RESERVED a-0,a-1",
      "0 show train -> train@1 HELD", "0 journal -> import: fleet imported; hold: train@1 added" } },
  { "an expiry is journaled before the change that needs its slices, in the same transaction",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 hold train 2 10s -> train@1", "0 journal",
      "20s reserve other 2 -> other@2 RESERVED a-0,a-1",
      "20s journal -> expire: train@1 gone; reserve: other@2 added" } },
  { "a refused change journals no expiry",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 hold train 1 10s -> train@1", "0 journal", "20s reserve other 3 -> NEVER",
      "20s confirm train -> EXPIRED", "20s journal -> nothing", "20s state a-0-0 alive -> ok",
      "20s journal -> expire: train@1 gone" } },
  { "expiries are journaled in the order of ids",
    { "0 import v6e 4x4 x5 pool=a -> new", "0 hold e 1 40s -> e@1", "0 hold d 1 30s -> d@2", "0 hold c 1 20s -> c@3",
      "0 hold b 1 10s -> b@4", "10s hold a 1 1s -> a@5", "10s release d -> ok", "10s hold late 1 1s -> late@6",
      "10s journal", "60s free -> a-0,a-1,a-2,a-3,a-4", "60s owner-set me -> ok",
      "60s journal -> expire: e@1 gone, c@3 gone, a@5 gone, late@6 gone; owner set: " } },
  { "a lease of 0 or less, or beyond the year 2199, is invalid",
    { "0 import v6e 4x4 x2 pool=a -> new",
      "0 hold train 1 0 -> INVALID lease '0' ms: expected 1 ms or more",
      "0 hold train 1 -1 -> INVALID lease '-1' ms: expected 1 ms or more",
      "0 hold train 1 300y -> INVALID lease '9467280000000' ms: expected one that ends before the year 2200",
      "0 reserve train 1 lease=0 -> INVALID lease '0'",
      "0 reserve train 1 lease=-1 -> INVALID lease '-1'",
      "0 reserve train 1 lease=300y -> INVALID lease '9467280000000' ms",
      "0 hold train 1 9223372036854775807 -> INVALID lease '9223372036854775807' ms",
      "0 hold train 1 10s -> train@1",
      "0 confirm train -1 -> INVALID lease '-1'",
      "0 confirm train 300y -> INVALID lease '9467280000000'",
      "0 renew train 0 -> INVALID lease '0'",
      "0 renew train -1 -> INVALID lease '-1'",
      "0 renew train 300y -> INVALID lease '9467280000000'",
      "0 owner-set me -1 -> INVALID lease '-1'",
      "0 owner-set me 300y -> INVALID lease '9467280000000'",
      "0 owner-set me 10s -> ok",
      "0 owner-renew me 0 -> INVALID lease '0'",
      "0 owner-renew me 300y -> INVALID lease '9467280000000'",
      "0 hold longest 1 170y -> longest@3 HELD a-1 until=5364792000s" } },
  { "a time before the last entry is raised to that of the last entry",
    { "0 import v6e 4x4 x2 pool=a -> new", "100s hold train 1 10s -> train@1 HELD a-0 until=110s",
      "-1y hold other 1 5s -> other@2 HELD a-1 until=105s", "-1y renew train 20s -> train@1 HELD a-0 until=120s",
      "-1y confirm other 7s -> other@2 RESERVED a-1 until=107s", "-1y free -> none",
      "119999 show train -> train@1 HELD", "-1y release train -> ok", "1y free -> a-0,a-1" } },
  { "an ended lease stays ended if the clock jumps back",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 hold train 1 10s -> train@1", "20s state a-1-0 draining -> ok",
      "-1y confirm train -> EXPIRED", "5s confirm train@1 -> EXPIRED", "5s free -> a-0" } },
  { "a time of 0, in seconds or in microseconds is invalid",
    { "0 import v6e 4x4 x2 pool=a -> new",
      "-1748250000s hold train 1 10s -> INVALID clock '1750000000': expected milliseconds since 1970 of the years 2000 "
      "to 2199; this looks like seconds",
      "1748250000000s hold train 1 10s -> INVALID clock '1750000000000000': expected milliseconds since 1970 of the "
      "years 2000 to 2199; this looks like microseconds",
      "-1750000000s hold train 1 10s -> INVALID clock '0': expected milliseconds",
      "-1748250000s owner-set me -> INVALID clock", "-1748250000s owner-end me -> INVALID clock",
      "-1748250000s forget-key me -> INVALID clock", "-1748250000s free -> INVALID clock",
      "-1748250000s resize train 1 -> INVALID clock", "-1748250000s repair train -> INVALID clock",
      "-1748250000s drop train a-0 -> INVALID clock", "-1748250000s sync v6e 4x4 x2 pool=a -> INVALID clock",
      "-1748250000s confirm train -> INVALID clock", "-1748250000s renew train 1s -> INVALID clock" } },

  { "many leases are renewed in one entry, each group once",
    { "0 import v6e 4x4 x3 pool=a -> new", "0 hold a 1 10s -> a@1", "0 hold b 1 20s -> b@2", "0 hold c 1 30s -> c@3",
      "5s confirm b 20s -> b@2 RESERVED", "5s journal", "6s renew-groups a,b@2,a@1 10s -> ok",
      "6s journal -> renew: a@1 lease, b@2 lease", "6s renew-groups a,b 10s -> ok", "6s renew-groups a,c 10s -> ok",
      "6s journal -> renew: c@3 lease", "15s show a -> a@1 HELD a-0 until=16s",
      "15s show b -> b@2 RESERVED a-1 until=16s", "16s show c -> EXPIRED" } },
  { "if one of many groups cannot be renewed, no lease changes, and the message names the group",
    { "0 import v6e 4x4 x4 pool=a -> new", "0 hold a 1 20s -> a@1", "0 hold b 1 10s -> b@2", "0 reserve c 1 -> c@3",
      "0 hold d 1 20s -> d@4", "1s release d -> ok", "1s journal", "1s renew-groups a,,b 1m -> INVALID",
      "1s renew-groups a,b@ 1m -> INVALID group 'b@'", "1s renew-groups a,x,b 1m -> NOT_FOUND no group 'x'",
      "1s renew-groups a,d@4 1m -> CONFLICT group 'd' of id 4 holds nothing any more",
      "1s renew-groups a,b@1 1m -> CONFLICT ", "1s renew-groups a,c,x 1m -> CONFLICT group 'c@3' has no lease",
      "1s renew-groups a,b 0 -> INVALID lease '0'",
      "10s renew-groups a,b,x 1m -> EXPIRED the lease of group 'b@2' has ended", "10s journal -> nothing",
      "10s show a -> a@1 HELD a-0 until=20s", "10s renew-groups a 1m -> ok",
      "10s journal -> expire: b@2 gone; renew: a@1 lease" } },
  { "a confirmed hold stays, and a second confirm changes nothing",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 hold train 1 10s -> train@1",
      "5s confirm train@1 -> train@1 RESERVED a-0", "0 journal", "6s confirm train@1 -> train@1 RESERVED a-0",
      "1d confirm train -> train@1 RESERVED a-0", "1d journal -> nothing", "1d show train -> train@1 RESERVED a-0" } },
  { "confirm with a lease starts the lease now, and a retry does not restart it",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 hold train 1 10s -> train@1",
      "5s confirm train@1 60s -> train@1 RESERVED a-0 until=65s",
      "9s confirm train@1 60s -> train@1 RESERVED a-0 until=65s", "65s confirm train@1 60s -> EXPIRED" } },
  { "an ended hold cannot be confirmed after a new hold has its name",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 hold train 1 10s -> train@1", "10s hold train 1 10s -> train@2",
      "11s confirm train@1 -> EXPIRED the lease of group 'train@1' has ended", "11s renew train@1 1s -> EXPIRED",
      "11s release train@1 -> EXPIRED", "11s resize train@1 2 -> EXPIRED", "11s repair train@1 -> EXPIRED",
      "11s drop train@1 a-0 -> EXPIRED", "11s confirm train@3 -> CONFLICT group 'train' is 'train@2' now, not '@3'",
      "11s confirm train@2 -> train@2 RESERVED a-0" } },
  { "a released group cannot be confirmed",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 hold train 1 10s -> train@1", "1s release train@1 -> ok",
      "1s confirm train@1 -> CONFLICT", "1s renew train@1 5s -> CONFLICT", "1s release train@1 -> CONFLICT",
      "1s confirm train -> NOT_FOUND", "1s confirm other -> NOT_FOUND", "1s confirm other@7 -> NOT_FOUND",
      "20s confirm train@1 -> CONFLICT", "20s hold train 1 10s -> train@2", "20s release train -> ok",
      "21s confirm train -> NOT_FOUND" } },
  { "an ended lease is EXPIRED before and after the journal has the expiry",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 hold train 1 10s -> train@1", "10s confirm train -> EXPIRED",
      "10s confirm train@1 -> EXPIRED", "11s owner-set me -> ok", "12s confirm train -> EXPIRED",
      "12s confirm train@1 -> EXPIRED", "12s show train -> EXPIRED", "12s release train -> EXPIRED" } },
  { "the record of an ended group stays for a day, and the next expiry after that removes it",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 hold train 1 10s -> train@1", "0 hold other 1 10s key=k -> other@2",
      "10s owner-set me -> ok", "86409s hold again 1 1s -> again@4", "86410s owner-set you -> ok",
      "86410s confirm train@1 -> EXPIRED", "86411s hold again 1 1s -> again@6", "0 journal",
      "86412s owner-set him -> ok", "0 journal -> expire: train@1 forgotten, again@6 gone; owner set:",
      "86413s confirm train@1 -> CONFLICT", "86413s confirm train -> NOT_FOUND", "86413s confirm other@2 -> EXPIRED",
      "86413s confirm again@4 -> EXPIRED", "86413s hold other 1 10s key=k -> other@2 REMOVED expired" } },
  { "only a group with a lease can be renewed",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 reserve train 1 -> train@1 RESERVED a-0",
      "0 renew train 10s -> CONFLICT group 'train@1' has no lease",
      "0 reserve other 1 lease=10s -> other@2 RESERVED a-1 until=10s",
      "5s renew other@2 10s -> other@2 RESERVED a-1 until=15s", "15s renew other@2 10s -> EXPIRED",
      "15s renew never 10s -> NOT_FOUND" } },
  { "renew can shorten a lease",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 hold train 1 60s -> train@1 HELD a-0 until=60s",
      "0 hold other 1 90s -> other@2 HELD a-1 until=90s", "1s renew other 1s -> other@2 HELD a-1 until=2s",
      "2s free -> a-1", "2s renew other 1s -> EXPIRED", "2s confirm train -> train@1 RESERVED a-0" } },

  { "a forgotten key can be used again",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 reserve train 1 key=k -> train@1 RESERVED a-0",
      "0 forget train@1 -> CONFLICT group 'train@1' is live", "0 forget-key k -> CONFLICT group 'train@1' is live",
      "0 release train -> ok", "0 reserve train 1 key=k -> train@1 REMOVED", "0 forget other@1 -> NOT_FOUND",
      "0 forget train@2 -> NOT_FOUND", "0 forget train -> INVALID group 'train': expected NAME@ID",
      "0 forget train@1 -> ok", "0 forget train@1 -> NOT_FOUND no record of a group 'train' with id 1",
      "0 forget-key k -> NOT_FOUND no group has the request key 'k'",
      "0 reserve train 2 key=k -> train@2 RESERVED a-0,a-1", "0 release train@2 -> ok", "0 forget-key k -> ok",
      "0 forget-key k -> NOT_FOUND" } },
  { "a forgotten group is no longer EXPIRED",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 hold train 1 10s -> train@1", "10s forget train@1 -> ok",
      "11s confirm train@1 -> CONFLICT", "11s confirm train -> NOT_FOUND",
      "0 journal -> import: fleet imported; hold: train@1 added; expire: train@1 gone; forget: train@1 forgotten" } },
  { "all groups that ended before a time are forgotten at once",
    { "0 import v6e 4x4 x4 pool=a -> new", "0 reserve first 1 key=k -> first@1", "0 hold second 1 10s -> second@2",
      "0 reserve third 1 key=m -> third@3", "0 reserve live 1 key=n -> live@4", "5s release first -> ok",
      "9s release third -> ok", "10s forget-before 5s -> ok 0", "10s forget-before 9s -> ok 1",
      "10s forget-key k -> NOT_FOUND", "10s confirm second@2 -> EXPIRED", "11s forget-before 60s -> ok 2",
      "11s forget-before 60s -> ok 0", "11s confirm second@2 -> CONFLICT", "11s forget-key m -> NOT_FOUND",
      "11s reserve live 1 key=n -> live@4 RESERVED", "11s forget-before 60s -> ok 0",
      "0 journal -> import: fleet imported; reserve: first@1 added; hold: second@2 added; reserve: third@3 added; "
      "reserve: live@4 added; release: first@1 gone; release: third@3 gone; expire: second@2 gone; "
      "forget: first@1 forgotten; forget: second@2 forgotten, third@3 forgotten" } },
  { "a released group without a key leaves no record",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 reserve train 1 -> train@1", "0 release train -> ok",
      "0 forget train@1 -> NOT_FOUND", "0 reserve train 1 -> train@2", "0 forget train@1 -> NOT_FOUND",
      "0 forget train@2 -> CONFLICT" } },

  { "a key names its hold until it is forgotten",
    { "0 import v6e 4x4 x3 pool=a -> new", "0 hold train 1 10s key=k -> train@1 HELD a-0 until=10s",
      "1s hold train 1 30s key=k -> train@1 HELD a-0 until=10s",
      "1s reserve train 1 key=k -> CONFLICT key 'k' was used to hold group 'train@1', which is not confirmed",
      "1s try train 1 key=k -> CONFLICT", "1s hold train 2 10s key=k -> CONFLICT key 'k' was used for another request",
      "1s hold other 1 10s key=k -> CONFLICT", "1s hold train 1 10s key=k owner=me -> CONFLICT",
      "2s confirm train@1 -> train@1 RESERVED a-0", "3s hold train 1 10s key=k -> train@1 RESERVED a-0",
      "3s reserve train 1 key=k -> train@1 RESERVED a-0", "4s release train@1 -> ok",
      "4s hold train 1 10s key=k -> train@1 REMOVED", "4s reserve train 1 key=k -> train@1 REMOVED",
      "4s free -> a-0,a-1,a-2" } },
  { "a retry after the end returns the removed group and allocates nothing",
    { "0 import v6e 4x4 x3 pool=a -> new", "0 hold train 1 10s key=k -> train@1 HELD",
      "10s hold train 1 10s key=k -> train@1 REMOVED expired", "10s reserve train 1 key=k -> train@1 REMOVED expired",
      "10s confirm train@1 -> EXPIRED", "10s free -> a-0,a-1,a-2", "10s forget-key k -> ok",
      "10s hold train 1 10s key=k -> train@2 HELD a-0 until=20s" } },
  { "a retry with another lease is the same request",
    { "0 import v6e 4x4 x3 pool=a -> new", "0 reserve train 1 key=k lease=10s -> train@1 RESERVED a-0 until=10s",
      "1s reserve train 1 key=k lease=20s -> train@1 RESERVED a-0 until=10s",
      "1s reserve train 1 key=k -> train@1 RESERVED a-0 until=10s", "1s reserve train 1..2 key=k -> CONFLICT" } },

  { "the end of an owner's lease frees all its groups, with longer leases and with none",
    { "0 import v6e 4x4 x5 pool=a -> new", "0 owner-set me 10s -> ok",
      "0 reserve one 1 owner=me -> one@2 RESERVED a-0 until=10s",
      "0 hold two 1 1h owner=me -> two@3 HELD a-1 until=10s", "0 hold three 1 5s owner=me -> three@4 HELD a-2 until=5s",
      "0 hold other 1 1h owner=you -> other@5 HELD a-3 until=3600s", "0 reserve nobody 1 -> nobody@6 RESERVED a-4",
      "10s free -> a-0,a-1,a-2", "10s confirm one -> EXPIRED", "10s confirm two -> EXPIRED", "0 journal",
      "10s confirm other -> other@5 RESERVED a-3",
      "0 journal -> expire: owner/me@1 gone, one@2 gone, two@3 gone, three@4 gone; confirm: other@5 lease" } },
  { "groups stay while their owner is renewed",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 owner-set me 10s -> ok",
      "0 reserve one 1 owner=me -> one@2 RESERVED a-0 until=10s", "9s owner-renew me 10s -> ok",
      "18999 show one -> one@2 RESERVED a-0 until=19s",
      "19s owner-renew me 10s -> EXPIRED the lease of owner 'me' has ended", "19s owner-end me -> EXPIRED",
      "19s free -> a-0,a-1" } },
  { "requests of an owner whose lease has ended are refused until it is set again",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 owner-set me 10s -> ok", "10s reserve one 1 owner=me -> EXPIRED",
      "10s hold one 1 1s owner=me -> EXPIRED", "10s try one 1 owner=me -> EXPIRED",
      "10s reserve one 1 owner=you -> one@2 RESERVED a-0", "11s reserve two 1 owner=me -> EXPIRED",
      "12s owner-set me -> ok", "12s reserve two 1 owner=me -> two@4 RESERVED a-1",
      "1y show two -> two@4 RESERVED a-1" } },
  { "an owner whose lease ended days ago is still refused",
    { "0 import v6e 4x4 x3 pool=a -> new", "0 owner-set me 10s -> ok", "10s hold one 1 1s -> one@2",
      "20h hold two 1 1s -> two@3", "40h hold three 1 1s -> three@4", "60h reserve mine 1 owner=me -> EXPIRED",
      "60h owner-renew me 10s -> EXPIRED", "60h owner-end me -> EXPIRED", "60h owner-set me 10s -> ok",
      "60h reserve mine 1 owner=me -> mine@6 RESERVED a-0" } },
  { "owner-end frees all groups of the owner at once, and removes the owner",
    { "0 import v6e 4x4 x4 pool=a -> new", "0 owner-set me 10s -> ok", "0 reserve one 1 owner=me key=k -> one@2",
      "0 hold two 1 1h owner=me -> two@3", "0 reserve other 1 owner=you -> other@4", "0 owner-end me -> 2",
      "0 free -> a-0,a-1,a-3", "0 confirm two@3 -> CONFLICT", "0 reserve one 1 owner=me key=k -> one@2 REMOVED",
      "0 owner-end me -> NOT_FOUND owner 'me' is not registered, and no group belongs to it",
      "0 owner-renew me 10s -> NOT_FOUND no owner 'me' was set",
      "0 reserve again 1 owner=me -> again@5 RESERVED a-0" } },
  { "an owner that was never set can have groups, and owner-end ends them",
    { "0 import v6e 4x4 x3 pool=a -> new", "0 owner-end me -> NOT_FOUND", "0 owner-renew me 5s -> NOT_FOUND",
      "0 reserve one 1 owner=me -> one@1 RESERVED a-0", "0 hold two 1 5s owner=me -> two@2 HELD a-1 until=5s",
      "0 owner-renew me 5s -> NOT_FOUND", "0 owner-end me -> 2", "0 free -> a-0,a-1,a-2" } },
  { "owner-set of an existing owner replaces its lease",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 owner-set me -> ok",
      "0 owner-renew me 5s -> CONFLICT owner 'me' has no lease", "0 reserve one 1 owner=me -> one@2 RESERVED a-0",
      "1s owner-set me 10s -> ok", "1s show one -> one@2 RESERVED a-0 until=11s", "2s owner-set me -> ok",
      "2s show one -> one@2 RESERVED a-0", "0 journal", "3s owner-set me -> ok", "3s journal -> nothing",
      "1y show one -> one@2 RESERVED a-0" } },
  { "an owner's name follows the rules for names",
    { "0 owner-set a/b 10s -> INVALID", "0 owner-set a@b 10s -> INVALID", "0 owner-renew a/b 10s -> INVALID",
      "0 owner-end a/b -> INVALID" } },
  { "an owner cannot be used as a group",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 owner-set me 10s -> ok", "0 reserve one 1 owner=me -> one@2",
      "0 release owner/me -> NOT_FOUND", "0 release owner/me@1 -> CONFLICT", "0 confirm owner/me@1 -> CONFLICT",
      "0 renew owner/me@1 10s -> CONFLICT", "0 forget owner/me@1 -> NOT_FOUND", "0 show owner/me -> NOT_FOUND",
      "10s confirm owner/me@1 -> CONFLICT", "10s forget owner/me@1 -> NOT_FOUND",
      "10s release owner/me -> NOT_FOUND" } },
  { "confirm and renew show the lost slice of a group",
    { "0 import v6e 4x4 x2 pool=a -> new", "0 hold train 2 10s -> train@1 HELD a-0,a-1", "1s state a-1-2 dead -> ok",
      "1s renew train 10s -> train@1 HELD a-0,a-1! until=11s",
      "2s confirm train 10s -> train@1 RESCHEDULING a-0,a-1! until=12s",
      "3s confirm train -> train@1 RESCHEDULING a-0,a-1! until=12s",
      "3s renew train 5s -> train@1 RESCHEDULING a-0,a-1! until=8s" } },
};

START_TEST (facts_hold_in_memory) { script_run (facts[_i].what, facts[_i].lines, FALSE, script_do); }
END_TEST

START_TEST (facts_hold_in_a_file_reopened_before_each_line)
{
  script_run (facts[_i].what, facts[_i].lines, TRUE, script_do);
}
END_TEST

START_TEST (refused_change_leaves_a_fork_unchanged)
{
  Script script = script_begin (FALSE);
  g_autoptr (QuoitSnapshot) snapshot = NULL, before = NULL, after = NULL;
  g_autoptr (QuoitFork) fork = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *was = NULL, *is = NULL;

  script_step (&script, "fork", "0 import v6e 4x4 x2 pool=a -> new");
  script_step (&script, "fork", "0 hold train 1 10s -> train@1");
  snapshot = quoit_ledger_snapshot (script.ledger);
  fork = quoit_snapshot_fork (snapshot);
  before = quoit_fork_snapshot (fork);
  was = quoit_snapshot_dup_json (before);
  ck_assert (!quoit_fork_release (fork, "train", T0 + 20000, &error));
  ck_assert_refused (error, QUOIT_ERROR_EXPIRED, "train@1");
  after = quoit_fork_snapshot (fork);
  is = quoit_snapshot_dup_json (after);
  ck_assert_str_eq (was, is);
  ck_assert_uint_eq (quoit_snapshot_get_seq (after), quoit_snapshot_get_seq (before));
  script_end (&script);
}
END_TEST

START_TEST (fork_can_end_an_owner_and_reserve_for_it)
{
  Script script = script_begin (FALSE);
  g_autoptr (QuoitRequest) request = quoit_request_new ("train", NULL);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitFork) fork = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (GError) error = NULL;

  script_step (&script, "owner", "0 import v6e 4x4 x2 pool=a -> new");
  script_step (&script, "owner", "0 owner-set me 10s -> ok");
  snapshot = quoit_ledger_snapshot (script.ledger);
  fork = quoit_snapshot_fork (snapshot);
  ck_assert (quoit_fork_end_owner (fork, "me", T0, NULL, NULL));
  ck_assert (quoit_request_set_accelerator (request, "v6e", NULL) && quoit_request_set_topology (request, "4x4", NULL)
             && quoit_request_set_slices (request, 1, NULL) && quoit_request_set_owner (request, "me", NULL));
  group = quoit_fork_reserve (fork, request, T0, NULL, &error);
  ck_assert_ok (error);
  quoit_ledger_commit_fork (script.ledger, fork, T0, &error);
  ck_assert_ok (error);
  script_end (&script);
}
END_TEST

START_TEST (ten_thousand_leases_expire_together_in_id_order)
{
  Script script = script_begin (FALSE);
  g_autoptr (QuoitJournal) journal = NULL;
  g_autoptr (GError) error = NULL;
  guint n = 10000;

  script_step (&script, "many", "0 import v6e 2x4 x10000 pool=a -> new");
  for (guint i = 0; i < n; i++)
    {
      /* Neighbours swap their expiries, so that the order of expiries is not that of ids. */
      g_autofree char *name = g_strdup_printf ("g%u", i);
      g_autoptr (QuoitRequest) request = quoit_request_new (name, NULL);
      g_autoptr (QuoitGroup) group = NULL;

      ck_assert (quoit_request_set_accelerator (request, "v6e", NULL)
                 && quoit_request_set_topology (request, "2x4", NULL) && quoit_request_set_slices (request, 1, NULL));
      group = quoit_ledger_hold (script.ledger, request, 1000 + (gint64) (i ^ 1), T0, NULL, &error);
      ck_assert_ok (error);
    }
  script_step (&script, "many", "1m free");
  script_step (&script, "many", "1m hold new 1 1s shape=2x4 -> new@10001 HELD a-0 until=61s");
  journal = quoit_ledger_read_journal (script.ledger, 10001, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_journal_get_n_entries (journal), 2);
  ck_assert_str_eq (quoit_journal_get_verb (journal, 0), "expire");
  ck_assert_str_eq (quoit_journal_get_actor (journal, 0), "");
  ck_assert_uint_eq (quoit_journal_get_n_effects (journal, 0), n);
  for (guint i = 0; i < n; i++)
    ck_assert_uint_eq (quoit_journal_get_effect_group_id (journal, 0, i), i + 1);
  script_end (&script);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("leases");
  TCase *tcase = tcase_create ("leases");

  tcase_set_timeout (tcase, 120);
  tcase_add_loop_test (tcase, facts_hold_in_memory, 0, G_N_ELEMENTS (facts));
  tcase_add_loop_test (tcase, facts_hold_in_a_file_reopened_before_each_line, 0, G_N_ELEMENTS (facts));
  tcase_add_test (tcase, refused_change_leaves_a_fork_unchanged);
  tcase_add_test (tcase, fork_can_end_an_owner_and_reserve_for_it);
  tcase_add_test (tcase, ten_thousand_leases_expire_together_in_id_order);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
