// SPDX-License-Identifier: Apache-2.0

// Package ray is Ray's own rules, as Ray 2.60 has them, so that what Ray would say can be asked without Ray: types and
// topologies, labels and selectors, hosts and their environment, node lists, placement groups, slices, sub-slices, and
// what Ray Train makes of its arguments.
//
// These functions answer what Ray answers, also where that is odd: "-4x4" has -16 chips, and a type is hardly looked at.
// For what quoit itself accepts see package quoit. What Ray refuses they refuse with quoit.Invalid and a message of their
// own. Everything here is pure: no state but what is passed, no environment, no clock; any number of goroutines may call
// it. Every function that takes text fails with quoit.Invalid for text with a NUL, or, where it has no error to return,
// takes it for text that Ray does not know.
package ray
