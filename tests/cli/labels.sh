#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Labels of groups, reasons of releases, and the options of `groups` that select by them.
. "$top_srcdir/tests/cli/lib.sh"

now=2026-05-01T09:30:00Z
slice='--topology 4x4 --accelerator v6e --slices 1'
names='[g["group"] for g in d["groups"]]'

# selected "EXPRESSION" OPTION...: `groups OPTION...` lists these groups, as JSON and as CSV.
selected ()
{
  wanted=$1
  shift
  ok 0 "groups $* succeeds" groups "$@" --now "$now" -o json
  fact "groups $* lists $wanted" "$names" "$wanted"
}

# shellcheck disable=SC2086
{
fresh 'v6e 4x4 x6'
ok 0 "reserve with labels succeeds" reserve a $slice --label team=nlp --label run=7 --priority 3 --now "$now" -o json
fact "the group has both labels" 'd["group"]["labels"], d["group"]["release_reason"]' "({'run': '7', 'team': 'nlp'}, None)"
ok 0 "hold with a label succeeds" hold b $slice --lease 1h --label team=vision --expect 2h --owner me --now "$now"
ok 0 "reserve with a strange label succeeds" reserve c $slice --label 'ż ó;,"=a=b' --priority -2 --expect 1h --now "$now" -o json
fact "the value begins after the first '='" 'd["group"]["labels"]' "{'ż ó;,\"': 'a=b'}"
ok 0 "reserve without labels succeeds" reserve d $slice --key k --now "$now" -o json
fact "the group has no labels" 'd["group"]["labels"]' "{}"

# --- selection
selected "['a@1', 'b@2', 'c@3', 'd@4']"
selected "['a@1']" --label team=nlp
selected "['a@1', 'b@2']" --label team
selected "['a@1']" --label team --label run=7
selected "[]" --label team=nl
selected "['c@3']" --label 'ż ó;,"=a=b'
selected "['b@2']" --owner me
selected "['b@2']" --state held
selected "['a@1']" --priority 3
selected "['a@1', 'b@2', 'd@4']" --priority 0..
selected "['c@3']" --priority ..-1
selected "['c@3']" --priority -5..-2
selected "['b@2']" --expect-after 2026-05-01T11:30:00Z
selected "['c@3']" --expect-before 2026-05-01T11:30:00Z
selected "[]" --expect-after 2026-05-01T10:30:00Z --expect-before 2026-05-01T11:00:00Z --label team
selected "[]" --reason x

# --- updates
ok 0 "update of labels succeeds" update a --label run=8 --label x=y --remove-label team --remove-label absent --now "$now" -o json
fact "the labels have changed" 'd["group"]["labels"], d["group"]["priority"]' "({'run': '8', 'x': 'y'}, 3)"
baseline
ok 0 "the same update succeeds" update a --label run=8 --remove-label team --now "$now"
holds "the same update changes nothing" unchanged
refused 2 "a label without a value" "--label 'team': expected KEY=VALUE" reserve e $slice --label team
refused 3 "a label with an empty key" "label key ''" reserve e $slice --label =x
refused 3 "a label with an empty value" "label 'team': value ''" update a --label team= --now "$now"
refused 3 "a label with a line end" "control characters, see byte 1" update a --label "t=x
y" --priority 9 --now "$now"
many=$(i=0; while [ $i -lt 65 ]; do printf -- '--label k%d=v ' $i; i=$((i + 1)); done)
refused 3 "65 labels of a request" "at most 64 labels" reserve e $slice $many
refused 3 "65 labels of an update" "more than 64 labels" update a $many --priority 9 --now "$now"
refused 2 "a state that does not exist" "--state 'x': expected ahead, held, reserved" groups --state x
refused 2 "a priority that is no range" "--priority 'x'" groups --priority 1..x
refused 2 "a range without ends" "--priority ''" groups --priority ..
refused 3 "a range of priorities the wrong way round" "the smaller number first" groups --priority 3..1
refused 3 "a priority of more than 32 bits" "--priority '3000000000'" groups --priority ..3000000000
refused 3 "a time without an offset" "--expect-after '2026-05-01': expected ISO 8601" groups --expect-after 2026-05-01
refused 2 "a label without a key to select" "--label '=x': expected KEY or KEY=VALUE" groups --label =x
holds "refused calls change nothing" unchanged

# --- reasons
ok 0 "release with a reason succeeds" release a@1 --reason 'preempted by job-7' --now "$now" -o json
fact "the answer has the reason" 'd["released"], d["release_reason"]' "('a@1', 'preempted by job-7')"
ok 0 "release of a group with a key succeeds" release d --reason 'disk full; see log' --now "$now"
ok 0 "the journal is read" journal -o json
fact "the journal has the reasons" '[e["release_reason"] for n in d["entries"] for e in n["effects"] if e["type"] == "group-removed"]' \
  "['preempted by job-7', 'disk full; see log']"
fact "the text of an effect has the reason" 'd["entries"][-1]["effects"][0]["text"]' "d@4 holds nothing any more: disk full; see log"
baseline
refused 7 "a second release" "'a@1' holds nothing any more: it was released for the reason 'preempted by job-7'" release a@1 --now "$now"
refused 3 "an empty reason" "reason '': expected 1 to 1024 bytes" release b --reason '' --now "$now"
refused 3 "a reason of two lines" "reason 'two" release b --reason "two
lines" --now "$now"
refused 2 "a reason for a slice" "--reason cannot be combined with --slice" release b --slice v6e-4x4-1 --reason x --now "$now"
holds "refused releases change nothing" unchanged
selected "['a@1', 'd@4']" --state removed
selected "['a@1']" --reason preempted
ok 0 "show finds the released group" show a -o json --now "$now"
fact "show prints labels and reason" 'd["group"]["labels"], d["group"]["release_reason"]' "({'run': '8', 'x': 'y'}, 'preempted by job-7')"
ok 0 "export writes labels and reasons" export json --now "$now"
fact "the export has labels and reasons" '[(g["labels"], g["release_reason"]) for g in d["groups"]][:2]' \
  "[({'run': '8', 'x': 'y'}, 'preempted by job-7'), ({'team': 'vision'}, None)]"
ok 0 "groups reads the past" groups --at 3 --label team -o json
fact "the past has the old labels" '[(g["group"], g["labels"]) for g in d["groups"]]' "[('a@1', {'run': '7', 'team': 'nlp'}), ('b@2', {'team': 'vision'})]"
ok 0 "verify replays labels and reasons" verify
last=$(quoit journal -o csv | tail -n 1 | cut -d , -f 1)
ok 0 "the journal is compacted" journal compact --before $((last + 1)) --now "$now"
selected "['a@1']" --reason 'preempted by job-7' --label run=8
ok 0 "verify accepts the checkpoint" verify
ok 0 "a release with a reason, days later, succeeds" release c --reason later --now 2026-05-02T09:00:00Z
ok 0 "groups succeeds" groups --now 2026-05-02T09:00:00Z -o json
fact "records of less than a day stay" "$names" "['a@1', 'b@2', 'c@3', 'd@4']"
ok 0 "a reservation days later succeeds" reserve e $slice --now 2026-05-02T10:00:00Z
ok 0 "a release with a reason, days later, succeeds" release e --reason later --now 2026-05-02T10:00:00Z
ok 0 "groups succeeds" groups --now 2026-05-02T10:00:00Z -o json
fact "older records without a key are forgotten" '"a@1" in '"$names"', "d@4" in '"$names" "(False, True)"
ok 0 "verify replays forgotten records" verify
}

finish
