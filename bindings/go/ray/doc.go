// SPDX-License-Identifier: Apache-2.0

// Package ray has the rules of Ray 2.60, so that a program can compute Ray's answers without Ray: types and topologies,
// labels and selectors, hosts and their environment, node lists, placement groups, slices, sub-slices, and what Ray
// Train computes from its arguments.
//
// The functions return Ray's answers even if these are odd: "-4x4" has -16 chips, and Ray hardly validates a type. For
// what quoit itself accepts, see package quoit. If Ray refuses an input, the functions fail with quoit.Invalid and a
// message that is not Ray's. All functions are pure: they use no state, environment or clock, and any number of
// goroutines can call them. A function that takes text fails with quoit.Invalid for text with a NUL, or treats it as
// unknown to Ray if it returns no error.
package ray
