// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"quoit"
)

func wantLabels(t *testing.T, group *quoit.Group, labels map[string]string) {
	t.Helper()
	if info := must[quoit.GroupInfo](t)(group.Info()); !reflect.DeepEqual(info.Labels, labels) {
		t.Errorf("labels %v: expected %v", info.Labels, labels)
	}
}

func TestLabelsAreSetAndRemovedTogether(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	request := sliceRequest("a", 1)
	request.Labels = map[string]string{"team": "nlp", "run": "7"}
	group := reserve(t, ledger, request)
	wantLabels(t, group, request.Labels)
	fork := must[*quoit.Fork](t)(newSnapshot(t, ledger).Fork())
	defer fork.Close()
	wanted := map[string]string{"run": "8", "x": "=,;"}
	set, remove := map[string]string{"run": "8", "x": "=,;"}, []string{"team", "absent"}
	wantLabels(t, must[*quoit.Group](t)(fork.SetLabels("a", set, remove, now)), wanted)
	changed := must[*quoit.Group](t)(ledger.SetLabels(bg, "a", set, remove, now))
	wantLabels(t, changed, wanted)
	if value, ok, err := changed.Label("run"); value != "8" || !ok || err != nil {
		t.Errorf("label run: %q, %v, %v", value, ok, err)
	}
	if value, ok, err := changed.Label("team"); value != "" || ok || err != nil {
		t.Errorf("label team: %q, %v, %v", value, ok, err)
	}
	_, _, err := changed.Label("a\x00b")
	wantCode(t, err, quoit.Invalid)
	wantLabels(t, must[*quoit.Group](t)(ledger.SetLabels(bg, "a", nil, nil, now)), wanted)
}

func TestBadLabelsChangeNothing(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	reserve(t, ledger, sliceRequest("a", 1))
	many := map[string]string{}
	for i := 0; i < 65; i++ {
		many[fmt.Sprint(i)] = "v"
	}
	for _, labels := range []map[string]string{
		{"": "x"}, {"a": ""}, {"a=b": "x"}, {"a": "\n"}, {"a": "\xff"}, {"a\x00": "x"}, {"a": "\x00"},
		{strings.Repeat("k", 254): "x"}, {"a": strings.Repeat("v", 513)}, many,
	} {
		request := sliceRequest("b", 1)
		request.Labels = labels
		_, err := ledger.Reserve(bg, request, now)
		wantCode(t, err, quoit.Invalid)
		_, err = ledger.SetLabels(bg, "a", labels, nil, now)
		wantCode(t, err, quoit.Invalid)
	}
	_, err := ledger.SetLabels(bg, "nobody", nil, nil, now)
	wantCode(t, err, quoit.NotFound)
	snapshot := newSnapshot(t, ledger)
	if seq := must[uint64](t)(snapshot.Seq()); seq != 2 {
		t.Errorf("entry %d: expected no entry after the second", seq)
	}
}

func TestReasonOfAReleaseIsRecorded(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	group := reserve(t, ledger, sliceRequest("a", 1))
	fork := must[*quoit.Fork](t)(newSnapshot(t, ledger).Fork())
	defer fork.Close()
	for _, reason := range []string{"", "a\nb", "a\x00b", strings.Repeat("x", 1025)} {
		wantCode(t, ledger.ReleaseWithReason(bg, "a", reason, now), quoit.Invalid)
		wantCode(t, fork.ReleaseWithReason("a", reason, now), quoit.Invalid)
	}
	if err := fork.ReleaseWithReason("a", "preempted by job-7", now); err != nil {
		t.Fatal(err)
	}
	if err := ledger.CommitFork(bg, fork, now); err != nil {
		t.Fatal(err)
	}
	err := ledger.ReleaseWithReason(bg, group.Handle(), "again", now)
	wantCode(t, err, quoit.Conflict)
	if !strings.Contains(err.Error(), "preempted by job-7") {
		t.Errorf("%v: expected the reason", err)
	}
	record := must[*quoit.Group](t)(newSnapshot(t, ledger).GroupByID(group.ID()))
	if info := must[quoit.GroupInfo](t)(record.Info()); info.ReleaseReason != "preempted by job-7" || info.State != quoit.GroupRemoved {
		t.Errorf("%+v: expected the reason", info)
	}
	entries := must[[]quoit.Entry](t)(ledger.ChangesSince(bg, 2))
	if len(entries) != 1 || entries[0].Effects[0].ReleaseReason != "preempted by job-7" {
		t.Errorf("%+v: expected the reason", entries)
	}
}
