#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Quotas: `quoit quota`, refusals with their reason, and quotas in fits, explain and when.
. "$top_srcdir/tests/cli/lib.sh"

now=2026-05-01T09:30:00Z
slice='--topology 4x4 --accelerator v6e'
quotas='[[q["quota"], q["used"], q["nominal"], q["borrowed"], q["max"]] for q in d["quotas"]]'

# shellcheck disable=SC2086
{
fresh 'v6e 4x4 x6; v5e 2x2 x4'
ok 0 "a list without quotas succeeds" quota --now "$now" -o json
fact "there are no quotas" 'd["quotas"]' "[]"
ok 0 "set for a label succeeds" quota set nlp --label team=nlp --accelerator v6e --chips 32 --max 64 --cohort lab --now "$now" -o json
fact "the quota is printed" 'd["quotas"]' "[{'quota': 'nlp', 'owner': None, 'label': {'team': 'nlp'}, 'accelerator': 'v6e', 'topology': None, 'used': '0', 'nominal': 32, 'borrowed': '0', 'max': 64, 'cohort': 'lab'}]"
ok 0 "set for an owner succeeds" quota set 'ana x' --owner 'ana x' --accelerator v6e --topology 4x4 --chips 16 --now "$now"
ok 0 "set in a cohort succeeds" quota set vision --label team=vision --accelerator v6e --chips 32 --cohort lab --now "$now"
baseline
ok 0 "the same set succeeds" quota set vision --label team=vision --accelerator v6e --chips 32 --cohort lab --now "$now"
holds "the same set changes nothing" unchanged

ok 0 "borrowing succeeds" reserve a $slice --slices 3 --label team=nlp --now "$now"
ok 0 "the other quota of the cohort admits its nominal chips" reserve b $slice --slices 1 --label team=vision --now "$now"
ok 0 "quota lists the chips in use" quota --now "$now" -o json
fact "nlp has borrowed" "$quotas" "[['ana x', '0', 16, '0', None], ['nlp', '48', 32, '16', 64], ['vision', '16', 32, '0', None]]"
ok 0 "quota prints a table" quota --now "$now"
out "the table names the target" 'label team=nlp'
out "the table names the owner" 'owner ana x'
ok 0 "a quota for another label succeeds" quota set ana --label who=ana --chips 0 --now "$now"
ok 0 "a group without labels is not limited" reserve d $slice --slices 1 --now "$now"
baseline
refused 5 "a request over the cohort" "over the quota of 'nlp: 48 of 32 chips in use (at most 64), 64 of 64 chips of cohort lab'" reserve c $slice --slices 1 --label team=nlp --now "$now"
refused 6 "a request over the maximum" "over the quota of 'ana x: at most 16 chips'" reserve c $slice --slices 2 --owner 'ana x' --now "$now"
refused 7 "a label that moves a group over a quota" "group 'd@7' would use 16 more chips over the quota of 'ana: 0 of 0 chips in use'" update d --label who=ana --now "$now"
refused 7 "a second quota for the same" "quota 'nlp' is for the same groups" quota set other --label team=nlp --accelerator v6e --chips 1 --now "$now"
refused 4 "removal of an unknown quota" "no quota 'none'" quota remove none --now "$now"
refused 3 "negative chips" "nominal chips '-1'" quota set q --owner o --chips -1 --now "$now"
refused 3 "a maximum below the nominal chips" "at least the nominal 4" quota set q --owner o --chips 4 --max 3 --cohort lab --now "$now"
refused 3 "a maximum without a cohort" "expected a cohort too" quota set q --owner o --chips 4 --max 5 --now "$now"
refused 3 "a topology without an accelerator" "expected an accelerator too" quota set q --owner o --chips 4 --topology 4x4 --now "$now"
refused 3 "an unknown accelerator" "v99" quota set q --owner o --chips 4 --accelerator v99 --now "$now"
refused 3 "a name with a slash" "quota 'a/b'" quota set a/b --owner o --chips 4 --now "$now"
refused 2 "another action" "'list': expected set, remove or no argument" quota list
refused 2 "set without a name" "set requires the NAME" quota set
refused 2 "set without a target" "either --owner NAME or --label KEY=VALUE" quota set q --chips 4
refused 2 "set with two targets" "either --owner NAME or --label KEY=VALUE" quota set q --chips 4 --owner o --label a=b
refused 2 "set without chips" "set requires --chips N" quota set q --owner o
refused 2 "remove with options" "the options of a quota require set" quota remove nlp --chips 4
refused 2 "a list with options" "the options of a quota require set" quota --owner o
refused 2 "set in the past" "--at '3': set changes" quota set q --owner o --chips 4 --at 3
refused 2 "chips that are not a number" "--chips 'many'" quota set q --owner o --chips many --now "$now"

# --- questions
ok 5 "fits prints not now" fits $slice --slices 1 --label team=nlp --now "$now" -o json
fact "fits has the reason" 'd["reasons"][0]["constraint"], d["reasons"][0]["before"], d["reasons"][0]["after"]' "('quota', 1, 0)"
ok 0 "explain succeeds" explain $slice --slices 2 --owner 'ana x' --now "$now" -o json
fact "explain has verdict and option" 'd["verdict"], [o["text"] for o in d["options"]]' "('never', ['ask for 1 slice'])"
ok 5 "when finds no start" when $slice --slices 1 --label team=nlp --now "$now" -o json
fact "the start is unknown" 'd["start"]' "None"

# --- changes
ok 0 "a lower quota is set" quota set nlp --label team=nlp --accelerator v6e --chips 16 --cohort lab --now "$now"
ok 0 "groups keep what they have" quota --now "$now" -o json
fact "more is borrowed now" "${quotas}[2]" "['nlp', '48', 16, '32', None]"
ok 0 "a release succeeds" release a --now "$now"
ok 0 "the quota is removed" quota remove ana --now "$now" -o json
fact "remove prints the name" 'd["removed"]' "ana"
ok 0 "quota reads the past" quota --at 3 --now "$now" -o json
fact "the past has the old quotas" '[q["quota"] for q in d["quotas"]]' "['ana x', 'nlp']"
ok 0 "verify replays quotas" verify
ok 0 "journal names the verbs" journal --now "$now"
out "set is in the journal" "quota set"
out "remove is in the journal" "quota remove"
out "the journal has the quota" "quota nlp is set now: nominal=16/accelerator=v6e/cohort=lab/label=team=nlp"
out "the journal has the removal" "quota ana is removed"
ok 0 "the past is exported" export json --at 5
fact "the export has quotas" '[(q["quota"], q["owner"], q["label"], q["accelerator"], q["topology"], q["nominal"], q["max"], q["cohort"], q["used"]) for q in d["quotas"]]' \
  "[('ana x', 'ana x', None, 'v6e', '4x4', 16, None, None, '0'), ('nlp', None, {'team': 'nlp'}, 'v6e', None, 32, 64, 'lab', '48'), ('vision', None, {'team': 'vision'}, 'v6e', None, 32, None, 'lab', '0')]"
last=$(quoit journal -o csv | tail -n 1 | cut -d , -f 1)
ok 0 "the journal is compacted" journal compact --before $((last + 1)) --now "$now"
ok 0 "quota reads the checkpoint" quota --now "$now" -o json
fact "the quotas are still there" "$quotas" "[['ana x', '0', 16, '0', None], ['nlp', '0', 16, '0', None], ['vision', '16', 32, '0', None]]"
ok 0 "verify accepts the checkpoint" verify

# --- a repair that only a release would make possible, which the quota forbids
fresh 'v6e 4x4 x2 pool=a; v6e 4x4 x2 pool=b'
ok 0 "a group is kept to a pool" reserve g --topology 4x4 --accelerator v6e --slices 2 --keep-to pool --owner ana --now "$now"
ok 0 "it loses a slice" set-state a-0-0 dead --now "$now"
baseline
refused 5 "a repair that needs another pool" "gives up those that it has: release it, and reserve again" repair g --now "$now"
err "the release is an option" "would help: release g@1"
ok 0 "a quota is set that a new request exceeds" quota set small --owner ana --chips 16 --now "$now"
baseline
refused 5 "the same repair" "gives up those that it has" repair g --now "$now"
holds "a release would not help" test "$(grep -c release "$tmp/err")" -eq 0
ok 0 "explain agrees" explain g --now "$now" -o json
fact "it has no option" 'd["verdict"], d["options"]' "('not-now', [])"
}

finish
