// SPDX-License-Identifier: Apache-2.0

// Package webhook has the rules of the TPU webhook of GKE's KubeRay (kuberay-tpu-webhook ef658db): its checks of worker
// groups, and its changes of their pods, which are names, places and environment. The caller fills in the pods; the
// package does not access a cluster.
//
// Errors are those of package quoit: errors.Is(err, quoit.Invalid). The package accepts everything that the webhook
// accepts, even if it cannot work: quoit.CheckManifest reports that.
package webhook
