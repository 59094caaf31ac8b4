// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"quoit"
)

func Example() {
	ctx, clock := context.Background(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) // or time.Now()
	ledger := quoit.OpenMemory()                                                    // or quoit.Open(path, 5*time.Second)
	defer ledger.Close()
	if _, err := ledger.ImportFleetText(ctx, "v6e 4x4 x2; v5p 2x2x4", clock); err != nil {
		log.Fatal(err)
	}

	request := &quoit.Request{Name: "train", Accelerator: "v6e", Topology: "4x4", Slices: 2, Key: "job-17"}
	train, err := ledger.Reserve(ctx, request, clock)
	if err != nil {
		log.Fatal(err)
	}
	defer train.Close()
	topology, err := train.Topology(quoit.Launch{})
	if err != nil {
		log.Fatal(err)
	}
	last := topology.Processes[7]
	fmt.Println(train, "has", len(topology.Processes), "processes; the last is worker", last.WorkerID, "of", last.Slice)

	_, err = ledger.Reserve(ctx, &quoit.Request{Name: "more", Accelerator: "v6e", Topology: "4x4", Slices: 1}, clock)
	fmt.Println(errors.Is(err, quoit.NotNow), err)
	// Output:
	// train@1 has 8 processes; the last is worker 3 of v6e-4x4-1
	// true 1 x v6e 4x4: not now, 0 of 1 slice free, 1 short; 2 of 2 slices are allocated to groups
}

func ExampleSnapshot_Explain() {
	ctx, clock := context.Background(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ledger := quoit.OpenMemory()
	defer ledger.Close()
	if _, err := ledger.ImportFleetText(ctx, "v6e 4x4 x3 busy=0 dead=1.2", clock); err != nil {
		log.Fatal(err)
	}
	snapshot, err := ledger.Snapshot()
	if err != nil {
		log.Fatal(err)
	}
	defer snapshot.Close()

	report, err := snapshot.Explain(&quoit.Request{Name: "train", Accelerator: "v6e", Topology: "4x4", Slices: 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Verdict, report.FreeNow, "of", report.Wanted)
	for _, reason := range report.Reasons {
		fmt.Printf("%v: %d -> %d: %s\n", reason.Constraint, reason.Before, reason.After, reason.Text)
	}
	fmt.Println("would help:", report.Options[0].Text)
	// Output:
	// NOT_NOW 1 of 2
	// EXTERNAL: 2 -> 1: 1 of 2 slices is in external use
	// INTACT: 3 -> 2: 1 of 3 slices is degraded: a host is missing or dead, or hosts contradict each other
	// would help: node v6e-4x4-1-2 alive again
}

func ExampleSnapshot_Fork() {
	ctx, clock := context.Background(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ledger := quoit.OpenMemory()
	defer ledger.Close()
	if _, err := ledger.ImportFleetText(ctx, "v6e 4x4 x5", clock); err != nil {
		log.Fatal(err)
	}
	snapshot, err := ledger.Snapshot()
	if err != nil {
		log.Fatal(err)
	}
	defer snapshot.Close()
	fork, err := snapshot.Fork()
	if err != nil {
		log.Fatal(err)
	}
	defer fork.Close()

	// How many more jobs of two slices would fit?
	jobs := 0
	for ; err == nil; jobs++ {
		request := &quoit.Request{Name: fmt.Sprint("job-", jobs), Accelerator: "v6e", Topology: "4x4", Slices: 2}
		_, err = fork.Reserve(request, clock)
	}
	fmt.Println(jobs-1, errors.Is(err, quoit.NotNow) || errors.Is(err, quoit.Never))
	// Output: 2 true
}
