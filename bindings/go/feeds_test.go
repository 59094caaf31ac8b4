// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"context"
	"testing"
	"time"

	"quoit"
)

func TestFeedWaitsForEntries(t *testing.T) {
	first, second := newDatabase(t, "v6e 4x4 x2", 20*time.Second)
	memory := newLedger(t, "v6e 4x4 x2")
	for _, pair := range [][2]*quoit.Ledger{{first, second}, {memory, memory}} {
		seq := must[uint64](t)(newSnapshot(t, pair[0]).Seq())
		feed := must[*quoit.Feed](t)(pair[0].Feed(seq))
		go func() {
			for index := 0; index < 20; index++ {
				time.Sleep(time.Millisecond)
				state := []quoit.NodeState{quoit.NodeDead, quoit.NodeAlive}[index%2]
				if err := pair[1].SetNodeState(bg, "v6e-4x4-0-0", state, now); err != nil {
					panic(err)
				}
			}
		}()
		last := seq
		for last < seq+20 {
			ctx, cancel := context.WithTimeout(bg, 20*time.Second)
			for _, entry := range must[[]quoit.Entry](t)(feed.Next(ctx)) {
				if last++; entry.Seq != last {
					t.Fatalf("entry %d: expected %d", entry.Seq, last)
				}
			}
			cancel()
		}
		if entries := must[[]quoit.Entry](t)(feed.Read()); len(entries) != 0 || must[uint64](t)(feed.Seq()) != last {
			t.Errorf("%v: expected no more entries", entries)
		}
		feed.Close()
	}
}

func TestFeedFollowsTheStatesOfNodes(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	feed := must[*quoit.Feed](t)(ledger.Feed(0))
	defer feed.Close()
	if err := ledger.SetNodeState(bg, "v6e-4x4-0-1", quoit.NodeDead, now); err != nil {
		t.Fatal(err)
	}
	input := &quoit.Input{Kind: quoit.FleetText, Text: []byte("v6e 4x4 x1; v6e 2x2 x1")}
	must[*quoit.Import](t)(ledger.Sync(bg, input, now))
	states := map[uint32]quoit.NodeState{}
	events := map[quoit.NodeEvent]int{}
	for _, entry := range must[[]quoit.Entry](t)(feed.Read()) {
		for _, effect := range entry.Effects {
			for _, node := range effect.Nodes {
				events[node.Event]++
				if node.HasState {
					states[node.ID] = node.State
				}
				if node.Event == quoit.NodeEventRemoved {
					delete(states, node.ID)
				}
			}
		}
	}
	snapshot := newSnapshot(t, ledger)
	nodes := must[[]quoit.Node](t)(snapshot.Nodes())
	if len(nodes) != len(states) {
		t.Errorf("%d nodes, expected %d", len(states), len(nodes))
	}
	for _, node := range nodes {
		if state, known := states[node.ID]; !known || state != node.State {
			t.Errorf("node %s: state %v, expected %v", node.Name, state, node.State)
		}
	}
	if events[quoit.NodeEventAdded] != 9 || events[quoit.NodeEventRemoved] != 4 || events[quoit.NodeEventState] == 0 {
		t.Errorf("%v: expected 9 nodes added, 4 removed and a state", events)
	}
}

func TestFeedStopsWithItsContextAndWithClose(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	feed := must[*quoit.Feed](t)(ledger.Feed(must[uint64](t)(newSnapshot(t, ledger).Seq())))
	for round := 0; round < 2; round++ {
		ctx, cancel := context.WithTimeout(bg, 10*time.Millisecond)
		_, err := feed.Next(ctx)
		wantCode(t, err, quoit.Cancelled)
		_, err = feed.Next(ctx)
		wantCode(t, err, quoit.Cancelled)
		cancel()
	}
	if err := ledger.DrainNode(bg, "v6e-4x4-0-0", now); err != nil {
		t.Fatal(err)
	}
	if entries := must[[]quoit.Entry](t)(feed.Next(bg)); len(entries) != 1 || entries[0].Verb != "drain" {
		t.Errorf("%v: expected the drain", entries)
	}
	time.AfterFunc(10*time.Millisecond, feed.Close)
	_, err := feed.Next(bg)
	wantCode(t, err, quoit.Invalid)
	feed.Close()
	_, err = feed.Read()
	wantCode(t, err, quoit.Invalid)
	_, err = feed.Seq()
	wantCode(t, err, quoit.Invalid)
}
