// SPDX-License-Identifier: Apache-2.0

// Package maxtext has the rules of MaxText 0.2.5: how it replaces the one size of a mesh that is -1, its table of
// accelerators, and the checks of a job's settings on TPU slices, before the job is submitted.
//
// Errors are those of package quoit: errors.Is(err, quoit.Invalid). A job that would fail is not an error but has
// findings. All functions are pure: they use no state, files, environment or clock.
package maxtext
