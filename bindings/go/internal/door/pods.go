// SPDX-License-Identifier: Apache-2.0

package door

import "unsafe"

// LendPod passes the C object of a *webhook.Pod to use and keeps it valid during the call. what is the pod's name for
// messages. It returns the error of the pod, or that of use. Package webhook, which defines the type, sets this
// variable and the next two.
var LendPod func(pod any, what string, use func(unsafe.Pointer) error) error

// TakenPatch converts a C patch for a number of containers to a *webhook.Patch and frees it.
var TakenPatch func(patch unsafe.Pointer, containers int) any

// TakenAdmitted converts a C pod to a *webhook.Admitted and frees it.
var TakenAdmitted func(pod unsafe.Pointer) any
