// SPDX-License-Identifier: Apache-2.0

// Command calls measures the overhead of calls from Go. It prints lines of SCENARIO, FLEET and the best time in
// nanoseconds, separated by tabs.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"quoit"
)

const (
	fleet  = "v6e 4x4 x1000"
	batch  = 200 // reservations per measurement
	rounds = 300 // measurements; the best one counts
)

var now = time.UnixMilli(1_767_225_600_000)

// reserveAndRelease returns the mean time of a reservation and its release. It measures many of them together, so that
// the time for reading the clock does not matter.
func reserveAndRelease(request *quoit.Request) (time.Duration, error) {
	ctx := context.Background()
	ledger := quoit.OpenMemory()
	defer ledger.Close()
	if _, err := ledger.ImportFleetText(ctx, fleet, now); err != nil {
		return 0, err
	}
	start := time.Now()
	for count := 0; count < batch; count++ {
		group, err := ledger.Reserve(ctx, request, now)
		if err != nil {
			return 0, err
		}
		if err := ledger.Release(ctx, group.Handle(), now); err != nil {
			return 0, err
		}
		group.Close()
	}
	return time.Since(start) / batch, nil
}

func main() {
	request := &quoit.Request{Name: "train", Accelerator: "v6e", Topology: "4x4", Slices: 1}
	best := time.Hour
	for round := 0; round < rounds; round++ {
		took, err := reserveAndRelease(request)
		if err != nil {
			log.Fatal(err)
		}
		if took < best {
			best = took
		}
	}
	fmt.Printf("reserve and release\t%s\t%d\n", fleet, best.Nanoseconds())
}
