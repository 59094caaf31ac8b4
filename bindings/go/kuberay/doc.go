// SPDX-License-Identifier: Apache-2.0

// Package kuberay models a RayCluster as the operator of KubeRay 1.7.0 manages it: the pods of its worker groups, their
// indices, and what happens to them when a pod fails and when groups grow and shrink. It needs no cluster: it creates
// pods like the operator, pass by pass, and Cluster.Mutate returns the changes of the TPU webhook to each.
//
// Errors are those of package quoit: errors.Is(err, quoit.Invalid).
package kuberay
