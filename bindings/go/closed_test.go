// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"time"

	"quoit"
)

// validArgument returns a valid argument for a method, so that the call can only fail because the value is closed.
func validArgument(kind reflect.Type) reflect.Value {
	switch {
	case kind == reflect.TypeOf((*context.Context)(nil)).Elem():
		return reflect.ValueOf(bg)
	case kind == reflect.TypeOf(now):
		return reflect.ValueOf(now)
	case kind == reflect.TypeOf((*quoit.Request)(nil)):
		return reflect.ValueOf(sliceRequest("train", 1))
	case kind == reflect.TypeOf((*quoit.NodesUpdate)(nil)):
		return reflect.ValueOf(&quoit.NodesUpdate{})
	case kind == reflect.TypeOf((*quoit.Input)(nil)):
		return reflect.ValueOf(&quoit.Input{Kind: quoit.FleetText, Text: []byte("v6e 4x4")})
	case kind == reflect.TypeOf(quoit.SliceFlags(0)):
		return reflect.ValueOf(quoit.SliceFree)
	case kind == reflect.TypeOf(quoit.DirectionUp):
		return reflect.ValueOf(quoit.DirectionUp)
	case kind.Kind() == reflect.String:
		return reflect.ValueOf("train@1").Convert(kind)
	case kind.Kind() == reflect.Func:
		return reflect.ValueOf(func() error { return nil })
	}
	return reflect.Zero(kind)
}

// callEveryMethod calls every method that returns an error, and returns the errors by the names of the methods.
func callEveryMethod(value any) map[string]error {
	failed := map[string]error{}
	receiver := reflect.ValueOf(value)
	for index := 0; index < receiver.NumMethod(); index++ {
		method := receiver.Method(index)
		kind := method.Type()
		last := kind.NumOut() - 1
		if last < 0 || kind.Out(last) != reflect.TypeOf((*error)(nil)).Elem() {
			continue
		}
		arguments := make([]reflect.Value, kind.NumIn())
		for argument := range arguments {
			arguments[argument] = validArgument(kind.In(argument))
		}
		err, _ := method.Call(arguments)[last].Interface().(error)
		failed[receiver.Type().Method(index).Name] = err
	}
	return failed
}

func TestEveryCallOnAClosedValueFails(t *testing.T) {
	ledger := quoit.OpenMemory()
	must[*quoit.Import](t)(ledger.ImportFleetText(bg, "v6e 4x4 x2", now))
	group := must[*quoit.Group](t)(ledger.Reserve(bg, sliceRequest("train", 1), now))
	snapshot := must[*quoit.Snapshot](t)(ledger.Snapshot())
	fork := must[*quoit.Fork](t)(snapshot.Fork())
	topology := must[*quoit.Topology](t)(group.Topology(quoit.Launch{}))

	devices := newDevices(t, "v6e", "4x4", 1)
	mesh := must[*quoit.Mesh](t)(devices.Mesh([]int64{16}, 0))
	links := must[*quoit.MeshLinks](t)(devices.Links(mesh))

	for _, closer := range []interface{ Close() }{ledger, group, snapshot, fork, topology, links, mesh, devices} {
		closer.Close()
		closer.Close()
	}
	minMethods := map[any]int{ledger: 30, snapshot: 20, fork: 7, group: 2, devices: 6, links: 2}
	for value, count := range minMethods {
		failed := callEveryMethod(value)
		if len(failed) < count {
			t.Errorf("%T: %d methods can fail: expected %d or more", value, len(failed), count)
		}
		for name, err := range failed {
			if !errors.Is(err, quoit.ErrClosed) || !errors.Is(err, quoit.Invalid) {
				t.Errorf("%T.%s: %v: expected ErrClosed", value, name, err)
			}
		}
	}
	_, err := quoit.Renumber(topology, nil)
	wantCode(t, err, quoit.Invalid)
	if group.Handle() != "train@1" || group.ID() != 1 || len(topology.Processes) != 4 {
		t.Error("Close has changed the values in Go's memory")
	}
}

func TestZeroValuesAndNilFailLikeClosedValues(t *testing.T) {
	var nothing *quoit.Ledger
	nothing.Close()
	for _, value := range []any{&quoit.Ledger{}, &quoit.Snapshot{}, &quoit.Fork{}, &quoit.Feed{}, &quoit.Group{}, nothing,
		(*quoit.Snapshot)(nil), (*quoit.Fork)(nil), &quoit.Devices{}, &quoit.MeshLinks{}, (*quoit.Devices)(nil),
		(*quoit.MeshLinks)(nil), &quoit.Coordinates{}, (*quoit.Coordinates)(nil), &quoit.JAXCluster{},
		(*quoit.JAXCluster)(nil)} {
		for name, err := range callEveryMethod(value) {
			if !errors.Is(err, quoit.ErrClosed) {
				t.Errorf("%T.%s: %v: expected ErrClosed", value, name, err)
			}
		}
	}
	_, err := quoit.OpenMemory().Reserve(bg, nil, now)
	wantCode(t, err, quoit.Invalid)
}

func TestSnapshotOutlivesItsLedger(t *testing.T) {
	ledger := quoit.OpenMemory()
	must[*quoit.Import](t)(ledger.ImportFleetText(bg, "v6e 4x4 x2", now))
	snapshot := newSnapshot(t, ledger)
	group := reserve(t, ledger, sliceRequest("train", 2))
	ledger.Close()
	if nodes := must[[]quoit.Node](t)(snapshot.Nodes()); len(nodes) != 8 {
		t.Errorf("%d nodes: expected 8", len(nodes))
	}
	if info := must[quoit.GroupInfo](t)(group.Info()); len(info.Slices) != 2 {
		t.Errorf("%d slices: expected 2", len(info.Slices))
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this system has no /proc/self/fd")
	}
	return len(entries)
}

func TestGarbageCollectorClosesUnclosedLedgers(t *testing.T) {
	before := openFiles(t)
	// Use one file per ledger, because SQLite keeps a file open while another ledger has locks on it.
	for count := 0; count < 20; count++ {
		must[*quoit.Ledger](t)(quoit.Create(filepath.Join(t.TempDir(), "quoit.db"), time.Second))
	}
	if openFiles(t) < before+20 {
		t.Fatal("open ledgers have no open files")
	}
	for try := 0; try < 100 && openFiles(t) > before+1; try++ {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	if after := openFiles(t); after > before+1 {
		t.Errorf("%d files are open: expected %d", after, before)
	}
}

func TestCloseWaitsForCallsOfOtherGoroutines(t *testing.T) {
	for round := 0; round < 50; round++ {
		ledger := newLedger(t, "v6e 4x4 x4")
		var all sync.WaitGroup
		for worker := 0; worker < 4; worker++ {
			all.Add(1)
			go func(name string) {
				defer all.Done()
				for {
					group, err := ledger.Reserve(bg, sliceRequest(name, 1), now)
					if err != nil {
						wantCode(t, err, quoit.Invalid)
						return
					}
					if err := ledger.Release(bg, group.Handle(), now); err != nil {
						wantCode(t, err, quoit.Invalid)
						return
					}
				}
			}(string(rune('a' + worker)))
		}
		time.Sleep(time.Millisecond)
		ledger.Close()
		all.Wait()
	}
}
