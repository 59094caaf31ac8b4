// SPDX-License-Identifier: Apache-2.0

package door

import "unsafe"

// LendDevices passes the C object of a *quoit.Devices to use and keeps it valid during the call. It returns the error
// of a closed list, or that of use. Package quoit, which defines the type, sets this variable and the next two.
var LendDevices func(devices any, use func(unsafe.Pointer) error) error

// OwnedDevices returns a *quoit.Devices that takes ownership of a C list.
var OwnedDevices func(devices unsafe.Pointer) any

// OwnedMesh returns a *quoit.Mesh that takes ownership of a C mesh.
var OwnedMesh func(mesh unsafe.Pointer) any
