// SPDX-License-Identifier: Apache-2.0

package ray

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"unsafe"

	"quoit/internal/door"
)

func init() {
	door.LendScaling = func(scaling any, use func(unsafe.Pointer) error) error {
		var a call
		defer a.free()
		c := scaling.(*Scaling).opened(&a)
		defer C.quoit_ray_scaling_free(c)
		if err := a.Err(); err != nil {
			return err
		}
		return use(unsafe.Pointer(c))
	}
}
