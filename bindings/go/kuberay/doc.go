// SPDX-License-Identifier: Apache-2.0

// Package kuberay is a RayCluster as the operator of KubeRay 1.7.0 keeps it: which pods its worker groups have, with which
// indices, and what becomes of them when one fails and when the groups grow and shrink. No cluster is asked: pods are made
// here, pass by pass, as the operator makes them, and Cluster.Mutate says what the TPU webhook writes into each.
//
// Errors are those of package quoit: errors.Is(err, quoit.Invalid).
package kuberay
