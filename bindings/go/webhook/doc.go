// SPDX-License-Identifier: Apache-2.0

// Package webhook is what the TPU webhook of GKE's KubeRay (kuberay-tpu-webhook ef658db) says of a worker group, and what it
// writes into the pods of one: names, places, environment. Pods are values that the caller fills in; nothing is asked of a
// cluster.
//
// Errors are those of package quoit: errors.Is(err, quoit.Invalid). What the webhook accepts though it means nothing is
// accepted here too: quoit.CheckManifest says what is wrong with it.
package webhook
