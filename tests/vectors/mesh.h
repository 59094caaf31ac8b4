/* SPDX-License-Identifier: Apache-2.0 */
/* Compares a mesh with rows of more than one suite. */
#pragma once

#include "runner.h"

#include <quoit/models/mesh.h>

JsonArray *vector_shape_of_mesh (const QuoitMesh *mesh);
/* The ids of the first @most devices. */
JsonArray *vector_ids_of_mesh (const QuoitMesh *mesh, uint32_t most);
