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
	// LWS is the LeaderWorkerSet, for ProfileLWS.
	LWS LeaderWorkerSet
	// Job is the name of the Job, for ProfileJob; "" stands for the group's name.
	Job string
	// Subdomain is the subdomain of the Job's pods, the name of a headless service; "" is right only for slices with
	// one host.
	Subdomain string
}

// LeaderWorkerSet is the object that makes the pods, for ProfileLWS.
type LeaderWorkerSet struct {
	Name      string // "" stands for the group's name
	Namespace string // "" stands for "default"
	// Subgroups is the number of subgroups of a replica, each of which is a slice. With 0, a replica without
	// subgroups is a slice.
	Subgroups     int
	LeaderApart   bool // the leaders request no chips, so that they are no workers of a slice
	OwnSubdomains bool // subdomainPolicy is UniquePerReplica
}

// set sets the object for the profile, which copies the names.
func (l *LeaderWorkerSet) set(launch *C.QuoitLaunch, arguments *cconv.Arguments, gerror **C.GError) error {
	name := (*C.char)(arguments.TextUnlessEmpty("LeaderWorkerSet", l.Name))
	namespace := (*C.char)(arguments.TextUnlessEmpty("namespace", l.Namespace))
	if err := arguments.Err(); err != nil {
		return err
	}
	if err := checkUnsigned("subgroups", l.Subgroups); err != nil {
		return err
	}
	var flags C.uint32_t
	if l.Subgroups > 0 {
		flags |= C.QUOIT_LWS_SUBGROUPS
	}
	if l.LeaderApart {
		flags |= C.QUOIT_LWS_LEADER_APART
	}
	if l.OwnSubdomains {
		flags |= C.QUOIT_LWS_OWN_SUBDOMAINS
	}
	C.quoit_launch_set_lws(launch, name, namespace, C.uint32_t(max(l.Subgroups, 1)), flags, gerror)
	return nil
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
	defer arguments.Free()
	jobSet := (*C.char)(arguments.TextUnlessEmpty("jobset", l.JobSet))
	replicatedJob := (*C.char)(arguments.TextUnlessEmpty("replicated job", l.ReplicatedJob))
	job := (*C.char)(arguments.TextUnlessEmpty("job", l.Job))
	subdomain := (*C.char)(arguments.TextUnlessEmpty("subdomain", l.Subdomain))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	profile := l.Profile
	if profile == 0 {
		profile = ProfileQuoit
	}
	if profile < ProfileQuoit || profile > ProfileJob {
		return nil, cconv.InvalidError("profile '%d': expected ProfileQuoit, ProfileRayTrain, ProfileKubeRay, ProfileJobSet, "+
			"ProfileLWS or ProfileJob", int(profile))
	}
	c := C.quoit_launch_new(C.QuoitProfile(profile))
	var gerror *C.GError
	if bool(C.quoit_launch_set_processes_per_host(c, C.uint32_t(processes), &gerror)) &&
		bool(C.quoit_launch_set_jobset(c, jobSet, replicatedJob, &gerror)) &&
		bool(C.quoit_launch_set_job(c, job, subdomain, &gerror)) {
		if err := l.LWS.set(c, &arguments, &gerror); err != nil {
			C.quoit_launch_free(c)
			return nil, err
		}
	}
	if err := errorFromC(gerror); err != nil {
		C.quoit_launch_free(c)
		return nil, err
	}
	return c, nil
}
