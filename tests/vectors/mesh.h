/* SPDX-License-Identifier: Apache-2.0 */
/* A mesh as the rows of more than one suite record it. */
#pragma once

#include "runner.h"

#include <quoit/models/mesh.h>

JsonArray *vector_shape_of_mesh (const QuoitMesh *mesh);
/* The first @most of its devices. */
JsonArray *vector_ids_of_mesh (const QuoitMesh *mesh, uint32_t most);
