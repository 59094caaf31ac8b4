// SPDX-License-Identifier: Apache-2.0

// Package maxtext is MaxText 0.2.5 without MaxText: how it fills in the one axis of a mesh that is -1, its table of
// accelerators, and what it would say of a job's settings on slices of TPUs, before the job is submitted.
//
// Errors are those of package quoit: errors.Is(err, quoit.Invalid). A job that would fail is no failure of the call: it is
// findings. Everything here is pure: no state but what is passed, no file, no environment, no clock.
package maxtext
