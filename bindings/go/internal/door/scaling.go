// SPDX-License-Identifier: Apache-2.0

package door

import "unsafe"

// LendScaling passes the C object of a *ray.Scaling to use and keeps it valid during the call. It returns the error of
// the arguments, or that of use. Package ray, which defines the type, sets this variable.
var LendScaling func(scaling any, use func(unsafe.Pointer) error) error
