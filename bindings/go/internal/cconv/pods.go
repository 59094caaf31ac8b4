// SPDX-License-Identifier: Apache-2.0

package cconv

import "unsafe"

// WithPod converts a *webhook.Pod to a C object and runs use with it. what is the pod's name for messages. It returns
// the error of the conversion, or that of use. Package webhook sets this variable and the next two.
var WithPod func(pod any, what string, use func(unsafe.Pointer) error) error

// MovePatch converts a C patch for a pod with nContainers containers to a *webhook.Patch, and frees the C patch.
var MovePatch func(patch unsafe.Pointer, nContainers int) any

// MoveAdmitted converts a C pod to a *webhook.Admitted, and frees the C pod.
var MoveAdmitted func(pod unsafe.Pointer) any
