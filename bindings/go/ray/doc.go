// SPDX-License-Identifier: Apache-2.0

// Package ray has the rules of Ray 2.60, so that a program can compute Ray's answers without Ray: types and topologies,
// labels and selectors, hosts and their environment, node lists, placement groups, slices, sub-slices, and what Ray
// Train computes from its arguments.
//
// The functions give Ray's answers even if these are odd: "-4x4" has -16 chips, and a type is hardly validated. For
// what quoit itself accepts, see package quoit. If Ray refuses an input, they fail with quoit.Invalid and a message of
// their own. All functions are pure: they use no state, environment or clock, and any number of goroutines can call
// them. A function that takes text fails with quoit.Invalid for text with a NUL. If it returns no error, it treats such
// text as unknown to Ray.
package ray
