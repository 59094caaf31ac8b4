/* SPDX-License-Identifier: Apache-2.0 */
/* Getters of meshes. */
#include "models/jax/mesh.h"

void
quoit_mesh_free (QuoitMesh *mesh)
{
  if (mesh == NULL)
    return;
  g_free (mesh->indices);
  g_free (mesh->ids);
  g_free (mesh->keys);
  g_free (mesh->granule_part);
  g_array_unref (mesh->parts);
  g_free (mesh);
}

uint32_t
quoit_mesh_get_n_axes (const QuoitMesh *mesh)
{
  g_return_val_if_fail (mesh != NULL, 0);

  return mesh->n_axes;
}

uint32_t
quoit_mesh_get_size (const QuoitMesh *mesh, uint32_t axis)
{
  g_return_val_if_fail (mesh != NULL && axis < mesh->n_axes, 0);

  return mesh->sizes[axis];
}

uint32_t
quoit_mesh_get_dcn_size (const QuoitMesh *mesh, uint32_t axis)
{
  g_return_val_if_fail (mesh != NULL && axis < mesh->n_axes, 0);

  return mesh->dcn_sizes[axis];
}

uint32_t
quoit_mesh_get_n_devices (const QuoitMesh *mesh)
{
  g_return_val_if_fail (mesh != NULL, 0);

  return mesh->n_devices;
}

const int64_t *
quoit_mesh_get_ids (const QuoitMesh *mesh)
{
  g_return_val_if_fail (mesh != NULL, NULL);

  return mesh->ids;
}

const uint32_t *
quoit_mesh_get_indices (const QuoitMesh *mesh)
{
  g_return_val_if_fail (mesh != NULL, NULL);

  return mesh->indices;
}

uint32_t
quoit_mesh_get_n_granules (const QuoitMesh *mesh)
{
  g_return_val_if_fail (mesh != NULL, 0);

  return mesh->n_granules;
}

static const QuoitMeshPart *
part_of (const QuoitMesh *mesh, uint32_t granule)
{
  g_return_val_if_fail (mesh != NULL && granule < mesh->n_granules, NULL);

  return &g_array_index (mesh->parts, QuoitMeshPart, mesh->granule_part == NULL ? 0 : mesh->granule_part[granule]);
}

int32_t
quoit_mesh_get_granule_key (const QuoitMesh *mesh, uint32_t granule)
{
  g_return_val_if_fail (mesh != NULL && granule < mesh->n_granules, -1);

  return mesh->keys == NULL ? -1 : mesh->keys[granule];
}

QuoitMeshOrder
quoit_mesh_get_order (const QuoitMesh *mesh, uint32_t granule)
{
  const QuoitMeshPart *part = part_of (mesh, granule);

  return part == NULL ? QUOIT_MESH_ORDER_LISTED : part->order;
}

uint32_t
quoit_mesh_get_n_physical_axes (const QuoitMesh *mesh, uint32_t granule)
{
  const QuoitMeshPart *part = part_of (mesh, granule);

  return part == NULL ? 0 : part->n_physical;
}

/* NULL if the granule does not have that physical axis. */
static const QuoitMeshPart *
part_with (const QuoitMesh *mesh, uint32_t granule, unsigned physical_axis)
{
  const QuoitMeshPart *part = part_of (mesh, granule);

  g_return_val_if_fail (part != NULL && physical_axis < part->n_physical, NULL);

  return part;
}

const char *
quoit_mesh_get_physical_axis (const QuoitMesh *mesh, uint32_t granule, uint32_t physical_axis)
{
  const QuoitMeshPart *part = part_with (mesh, granule, physical_axis);

  return part == NULL ? NULL : quoit_mesh_axis_name (part->axes[physical_axis]);
}

uint32_t
quoit_mesh_get_physical_size (const QuoitMesh *mesh, uint32_t granule, uint32_t physical_axis)
{
  const QuoitMeshPart *part = part_with (mesh, granule, physical_axis);

  return part == NULL ? 0 : part->sizes[physical_axis];
}

uint32_t
quoit_mesh_get_share (const QuoitMesh *mesh, uint32_t granule, uint32_t physical_axis, uint32_t axis)
{
  const QuoitMeshPart *part = part_with (mesh, granule, physical_axis);

  g_return_val_if_fail (part != NULL && axis < mesh->n_axes, 0);

  return part->shares.sizes[physical_axis][axis];
}
