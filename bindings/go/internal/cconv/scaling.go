// SPDX-License-Identifier: Apache-2.0

package cconv

import "unsafe"

// WithScaling converts a *ray.Scaling to a C object and runs use with it. It returns the error of the conversion, or
// that of use. Package ray sets this variable.
var WithScaling func(scaling any, use func(unsafe.Pointer) error) error
