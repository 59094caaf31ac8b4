// SPDX-License-Identifier: Apache-2.0

package door

import "unsafe"

// LendScaling makes of a *ray.Scaling what C has of one, for as long as use runs; its error is that of the arguments, or of
// use. Package ray, which has the type, sets it.
var LendScaling func(scaling any, use func(unsafe.Pointer) error) error
