// SPDX-License-Identifier: Apache-2.0

//go:build steptest

package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// testStep lets a test end or stop this process at a step: QUOIT_TEST_STEP is "kill N", which is kill -9 at the Nth step, or
// "stop TEXT", which is SIGSTOP at the first step whose name contains the text.
var testStep = func() func(string) {
	action, argument, _ := strings.Cut(os.Getenv("QUOIT_TEST_STEP"), " ")
	left, _ := strconv.Atoi(argument)
	return func(step string) {
		switch {
		case action == "kill":
			if left--; left == 0 {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		case action == "stop" && strings.Contains(step, argument):
			action = ""
			syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			time.Sleep(100 * time.Millisecond) // until all threads are stopped
		}
	}
}()
