// SPDX-License-Identifier: Apache-2.0

package door

import "unsafe"

// LendDevices makes of a *quoit.Devices what C has of one, for as long as use runs; its error is that of a closed list, or
// of use. Package quoit, which has the type, sets it, and the next two.
var LendDevices func(devices any, use func(unsafe.Pointer) error) error

// OwnedDevices is the *quoit.Devices that owns a list of C's.
var OwnedDevices func(devices unsafe.Pointer) any

// OwnedMesh is the *quoit.Mesh that owns one of C's.
var OwnedMesh func(mesh unsafe.Pointer) any
