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
