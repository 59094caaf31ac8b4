// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"quoit"
)

// wantError fails unless err has the code, and its message the part.
func wantError(t *testing.T, err error, code quoit.Code, part string) {
	t.Helper()
	wantCode(t, err, code)
	if err != nil && !strings.Contains(err.Error(), part) {
		t.Errorf("'%v': expected '%s'", err, part)
	}
}

// ownStore is a snapshot and the entries after it. It appends only to the entry that the caller knows.
type ownStore struct {
	start   []byte
	link    string
	entries []quoit.StoredEntry
}

var errOvertaken = errors.New("another writer was faster")

func newOwnStore(t *testing.T, fleet string) *ownStore {
	ledger := must[*quoit.Ledger](t)(quoit.OpenSnapshot(nil))
	defer ledger.Close()
	must[*quoit.Import](t)(ledger.Import(bg, &quoit.Input{Kind: quoit.FleetText, Text: []byte(fleet)}, now))
	snapshot := newSnapshot(t, ledger)
	return &ownStore{start: must[[]byte](t)(snapshot.Bytes()), link: must[string](t)(snapshot.Link())}
}

func (s *ownStore) append(link string, entries []quoit.StoredEntry) error {
	if link != s.link {
		return errOvertaken
	}
	s.entries = append(s.entries, entries...)
	s.link = entries[len(entries)-1].Link
	return nil
}

func (s *ownStore) open(t *testing.T) *quoit.Ledger {
	snapshot := must[*quoit.Snapshot](t)(quoit.SnapshotFromBytes(s.start))
	defer snapshot.Close()
	ledger := must[*quoit.Ledger](t)(quoit.OpenSnapshot(snapshot))
	t.Cleanup(ledger.Close)
	s.catchUp(t, ledger)
	return ledger
}

func (s *ownStore) catchUp(t *testing.T, ledger *quoit.Ledger) {
	for _, entry := range s.entries {
		if entry.Seq <= must[uint64](t)(newSnapshot(t, ledger).Seq()) {
			continue
		}
		if err := ledger.ApplyEntry(bg, entry.Data); err != nil {
			t.Fatal(err)
		}
	}
}

// reserve stores the reservation before it is committed.
func (s *ownStore) reserve(t *testing.T, ledger *quoit.Ledger, name string) error {
	link := must[string](t)(newSnapshot(t, ledger).Link())
	return ledger.Batch(bg, func() error {
		request := &quoit.Request{Name: name, Accelerator: "v6e", Topology: "4x4", Slices: 1}
		group, err := ledger.Reserve(bg, request, now)
		if err != nil {
			return err
		}
		group.Close()
		entries, err := ledger.BatchEntries()
		if err != nil {
			return err
		}
		return s.append(link, entries)
	})
}

func TestTwoWritersShareAStoreOfTheirOwn(t *testing.T) {
	store := newOwnStore(t, "v6e 4x4 x3")
	one, other := store.open(t), store.open(t)
	if err := store.reserve(t, one, "a"); err != nil {
		t.Fatal(err)
	}
	if err := store.reserve(t, other, "b"); !errors.Is(err, errOvertaken) {
		t.Fatalf("%v: expected that the other writer was faster", err)
	}
	store.catchUp(t, other)
	if err := store.reserve(t, other, "b"); err != nil {
		t.Fatal(err)
	}
	store.catchUp(t, one)
	first := must[[]byte](t)(newSnapshot(t, one).Bytes())
	if !bytes.Equal(first, must[[]byte](t)(newSnapshot(t, other).Bytes())) {
		t.Error("the ledgers of two writers differ")
	}
	if must[string](t)(newSnapshot(t, one).Link()) != store.link {
		t.Error("the ledger has another link than the store")
	}
	if must[string](t)(one.Identity()) != must[string](t)(other.Identity()) {
		t.Error("two ledgers of one history have different identities")
	}
}

func TestEntriesThatDoNotFollowAreRefused(t *testing.T) {
	store := newOwnStore(t, "v6e 4x4 x3")
	writer, reader := store.open(t), store.open(t)
	for _, name := range []string{"a", "b"} {
		if err := store.reserve(t, writer, name); err != nil {
			t.Fatal(err)
		}
	}
	first, second := store.entries[0].Data, store.entries[1].Data
	wantError(t, reader.ApplyEntry(bg, second), quoit.Conflict, "expected entry 2")
	if err := reader.ApplyEntry(bg, first); err != nil {
		t.Fatal(err)
	}
	wantError(t, reader.ApplyEntry(bg, first), quoit.Conflict, "already")
	wantError(t, reader.ApplyEntry(bg, second[:len(second)-1]), quoit.Damaged, "checksum")
	wantError(t, reader.ApplyEntry(bg, nil), quoit.Invalid, "no entry")
	later := bytes.Replace(second, []byte("quoit entry 1"), []byte("quoit entry 2"), 1)
	wantError(t, reader.ApplyEntry(bg, later), quoit.Version, "newer quoit")
	_, err := quoit.SnapshotFromBytes(store.start[1:])
	wantError(t, err, quoit.Invalid, "no snapshot")
	_, err = quoit.SnapshotFromBytes(store.start[:len(store.start)-1])
	wantError(t, err, quoit.Damaged, "")
	plain := newLedger(t, "v6e 4x4 x1")
	_, err = plain.EntriesSince(bg, 0)
	wantError(t, err, quoit.Invalid, "opened from a snapshot")
	_, err = reader.BatchEntries()
	wantError(t, err, quoit.Conflict, "in no batch")
	wantError(t, plain.ApplyEntry(bg, first), quoit.Invalid, "opened from a snapshot")
	if err := reader.ApplyEntry(bg, second); err != nil {
		t.Fatal(err)
	}
}

func TestLedgerInMemoryFollowsAFile(t *testing.T) {
	file, _ := newDatabase(t, "v6e 4x4 x2", 0)
	follower := must[*quoit.Ledger](t)(quoit.OpenSnapshot(newSnapshot(t, file)))
	defer follower.Close()
	if err := file.SetNodeState(bg, "v6e-4x4-0-0", quoit.NodeDead, now); err != nil {
		t.Fatal(err)
	}
	for _, entry := range must[[]quoit.StoredEntry](t)(file.EntriesSince(bg, 1)) {
		if err := follower.ApplyEntry(bg, entry.Data); err != nil {
			t.Fatal(err)
		}
	}
	if must[string](t)(newSnapshot(t, file).Link()) != must[string](t)(newSnapshot(t, follower).Link()) {
		t.Error("the follower has another link")
	}
}
