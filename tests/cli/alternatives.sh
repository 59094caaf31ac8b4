#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Alternatives (--else) in reserve, hold, fits, explain and when, and groups that are reserved together (--with).
. "$top_srcdir/tests/cli/lib.sh"

now=2026-05-01T09:30:00Z
v6e='--topology 4x4 --accelerator v6e'
v5e='--topology 4x4 --accelerator v5e'

# shellcheck disable=SC2086
{
fresh 'v6e 4x4 x2; v5e 4x4 x2 pool=b; v6e 1x1 x1 pool=c'
ok 0 "the first alternative is reserved" reserve a $v6e --slices 2 --key k --else $v5e --slices 1 --now "$now" -o json
fact "the group has it" '[d["group"]["alternative"], d["group"]["request"]]' "[0, 'v6e 4x4 x 2 hostchips=4 else=\"v5e 4x4 x 1 hostchips=4\"']"
ok 0 "a dry run tries alternatives" reserve b $v6e --slices 1 --else $v5e --slices 1 --dry-run --now "$now" -o json
fact "it gets the second" '[d["group"]["alternative"], d["dry_run"]]' '[1, True]'
ok 0 "options of the verb can be last" reserve b $v6e --slices 1 --else --pool nowhere $v5e --slices 1 --else $v5e --slices 1 --now "$now" -o json
fact "the third alternative is reserved" 'd["group"]["alternative"]' '2'
ok 0 "groups lists them" groups --now "$now" -o json
fact "with their alternatives" '[g["alternative"] for g in d["groups"]]' '[0, 2]'
ok 0 "show prints the request" show b --now "$now"
out "with what came before" 'instead-of="v6e 4x4 x 1 hostchips=4"'
ok 0 "env is that of the choice" env b
out "of v5e" 'v5litepod-16'

ok 5 "fits is negative if no alternative fits" fits $v6e --slices 2 --else $v5e --slices 2 --now "$now" -o json
fact "each alternative has a verdict" '[[a["alternative"], a["verdict"]] for a in d["alternatives"]]' "[[0, 'not-now'], [1, 'not-now']]"
ok 0 "fits is positive if one fits" fits $v6e --slices 2 --else $v5e --slices 1 --now "$now"
out "it names the alternative" 'alternative 1: fits'
ok 0 "explain has them" explain $v6e --slices 9 --else $v5e --slices 2 --now "$now" -o json
fact "explain reports on one that fits later" '[d["verdict"], [a["verdict"] for a in d["alternatives"]]]' "['not-now', ['never', 'not-now']]"
ok 0 "when has them" when $v6e --slices 2 --else $v5e --slices 1 --now "$now" -o json
fact "when names the alternative" 'd["alternative"]' '1'
baseline
refused 5 "a request without a fitting alternative" 'alternative 1: 2 x v5e 4x4: not now, 1 of 2 slices free, 1 short; 1 of 2 slices is allocated to groups; no other alternative fits now' reserve c $v6e --slices 9 --else $v5e --slices 2 --now "$now"
refused 2 "an empty alternative" 'else: expected also --accelerator GEN' reserve c $v6e --slices 1 --else --now "$now"
refused 2 "a word after --else" "else: unexpected argument 'word'" reserve c $v6e --slices 1 --else word $v5e --slices 1 --now "$now"
refused 2 "an owner after --else" 'else: ' reserve c $v6e --slices 1 --else $v5e --slices 1 --owner o --now "$now"
refused 7 "other alternatives with a used key" "key 'k' was used for another request" reserve a $v6e --slices 2 --key k --else $v5e --slices 2 --now "$now"
refused 2 "a group with request options" 'not both' explain a --else $v5e --slices 1

ok 0 "hold has alternatives" hold h --lease 10s $v6e --slices 1 --else $v5e --slices 1 --now "$now" -o json
fact "the hold got the second" 'd["group"]["alternative"]' '1'
ok 0 "the hold is released" release h --now "$now"

baseline
refused 5 "a group without room for another" "group 'two': 1 x v5e 4x4: not now, 0 of 1 slice free" reserve one $v5e --slices 1 --with two $v5e --slices 1 --now "$now"
refused 2 "--with without a name" 'with: expected the NAME of a group' reserve one $v5e --slices 1 --with
refused 2 "an empty group" "with 'two': expected also --accelerator GEN" reserve one $v5e --slices 1 --with two --now "$now"
refused 2 "a key for one of the groups" 'key: expected it for each group' reserve one $v5e --slices 1 --key x --with two --bundle TPU=1 --now "$now"
refused 2 "--with and --from" 'cannot be combined with --from' reserve one $v5e --slices 1 --from 2026-05-02T00:00:00Z --with two --bundle TPU=1 --now "$now"
refused 3 "one name twice" "requests 0 and 1 are for one group 'one'" reserve one $v5e --slices 1 --with one --bundle TPU=1 --now "$now"
refused 2 "--with of fits" "unknown option '--with'; see quoit fits --help" fits $v5e --slices 1 --with two --bundle TPU=1
ok 0 "a dry run of two groups" reserve gang $v5e --slices 1 --with head --bundle TPU=1 --dry-run --now "$now"
out "names both" 'dry run: gang@4 would be reserved; nothing has changed; dry run: head@5 would be reserved'
holds "a dry run changes nothing" unchanged
ok 0 "two groups are reserved" reserve gang $v6e --slices 1 --key g --else $v5e --slices 1 --with=head --bundle TPU=9 --key h --owner ana --else --bundle TPU=1 --now "$now" -o json
fact "the groups are printed" '[d["group"]["name"], d["group"]["alternative"], [[g["name"], g["alternative"], g["owner"]] for g in d["with"]]]' "['gang', 1, [['head', 1, 'ana']]]"
ok 0 "the journal has one entry" journal -o json
fact "for both" '[len(d["entries"][-1]["effects"]), d["entries"][-1]["verb"]]' "[2, 'reserve']"
ok 0 "a retry returns both" reserve gang $v6e --slices 1 --key g --else $v5e --slices 1 --with=head --bundle TPU=9 --key h --owner ana --else --bundle TPU=1 --now "$now" -o json
fact "the same groups" '[d["group"]["id"], d["with"][0]["id"]]' '[4, 5]'
ok 0 "the ledger is sound" verify
}
finish
