// SPDX-License-Identifier: Apache-2.0

package ray

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"unsafe"

	"quoit/internal/cconv"
)

// quoit/maxtext uses the C object of a Scaling.
func init() {
	cconv.WithScaling = func(scaling any, use func(unsafe.Pointer) error) error {
		var a call
		defer a.free()
		c := scaling.(*Scaling).toC(&a)
		defer C.quoit_ray_scaling_free(c)
		if err := a.Err(); err != nil {
			return err
		}
		return use(unsafe.Pointer(c))
	}
}
