// SPDX-License-Identifier: Apache-2.0

//go:build tools

// Package servers names the programs that check.sh builds: a control plane of Kubernetes, and Kueue.
package servers

import (
	_ "go.etcd.io/etcd/server/v3"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
	_ "k8s.io/kubernetes/cmd/kubectl"
	_ "sigs.k8s.io/kueue/cmd/kueue"
)
