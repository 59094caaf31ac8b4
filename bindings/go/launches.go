// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import "quoit/internal/cconv"

// Launch is how the processes of a group are started. Launch{} is profile quoit with one process per host.
type Launch struct {
	// Profile is the system whose environment is computed; 0 stands for ProfileQuoit.
	Profile Profile
	// ProcessesPerHost is 1, 2, 4 or 8; 0 stands for 1. The processes share the chips of the host evenly: use 1 for
	// JAX, and the number of chips for PyTorch/XLA. With more than 1, ProfileQuoit and
	// ProfileJobSet set TPU_PROCESS_BOUNDS, TPU_CHIPS_PER_PROCESS_BOUNDS, TPU_VISIBLE_CHIPS, TPU_PROCESS_ADDRESSES,
	// TPU_PROCESS_PORT and CLOUD_TPU_TASK_ID.
	ProcessesPerHost int
	// JobSet is the name of the JobSet, for ProfileJobSet; "" stands for the group's name.
	JobSet string
	// ReplicatedJob is the name of the JobSet's replicated job, for ProfileJobSet; "" stands for "slice-job". Each
	// of its jobs is a slice.
	ReplicatedJob string
}

// toC converts the launch to a C object, which the caller frees.
func (l *Launch) toC() (*C.QuoitLaunch, error) {
	processes := l.ProcessesPerHost
	if processes == 0 {
		processes = 1
	}
	if err := checkUnsigned("processes per host", processes); err != nil {
		return nil, err
	}
	var arguments cconv.Arguments
	jobSet := (*C.char)(arguments.TextUnlessEmpty("jobset", l.JobSet))
	replicatedJob := (*C.char)(arguments.TextUnlessEmpty("replicated job", l.ReplicatedJob))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	profile := l.Profile
	if profile == 0 {
		profile = ProfileQuoit
	}
	if profile < ProfileQuoit || profile > ProfileJobSet {
		return nil, cconv.InvalidError("profile '%d': expected ProfileQuoit, ProfileRayTrain, ProfileKubeRay or ProfileJobSet",
			int(profile))
	}
	c := C.quoit_launch_new(C.QuoitProfile(profile))
	var gerror *C.GError
	if bool(C.quoit_launch_set_processes_per_host(c, C.uint32_t(processes), &gerror)) {
		C.quoit_launch_set_jobset(c, jobSet, replicatedJob, &gerror)
	}
	if err := errorFromC(gerror); err != nil {
		C.quoit_launch_free(c)
		return nil, err
	}
	return c, nil
}
