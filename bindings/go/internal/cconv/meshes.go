// SPDX-License-Identifier: Apache-2.0

package cconv

import "unsafe"

// The packages of this module exchange C objects with the functions below. A package cannot export such a function,
// because callers of the module must not get C objects. Therefore the package that defines the type sets a variable
// here.

// WithDevices runs use with the C object of a *quoit.Devices, which stays valid during the call. It returns the error
// of use, or an error if the list is closed. Package quoit sets this variable and the next two.
var WithDevices func(devices any, use func(unsafe.Pointer) error) error

// NewDevices returns a *quoit.Devices that owns the C list.
var NewDevices func(devices unsafe.Pointer) any

// NewMesh returns a *quoit.Mesh that owns the C mesh.
var NewMesh func(mesh unsafe.Pointer) any
