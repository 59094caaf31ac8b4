/* SPDX-License-Identifier: Apache-2.0 */
/* The mesh of a group and the options that describe it, for `mesh` and `map --axis`. */
#pragma once

#include <quoit/models.h>
#include <quoit/quoit.h>

#include "axes.h"

typedef struct {
  char *axes, *dcn; /* NULL: not given */
  gboolean contiguous, split_physical, process_granule;
} MeshOptions;

void mesh_options_clear (MeshOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MeshOptions, mesh_options_clear)

/* Returns the options of a mesh and @others for session_parse(). @others ends with G_OPTION_ENTRY_NULL. g_free() it. */
GOptionEntry *mesh_entries (MeshOptions *options, const GOptionEntry *others);

/* The parsed options of a mesh. */
typedef struct {
  Axes axes;
  gint64 *dcn_sizes; /* the size of each axis across granules; NULL: the mesh is not hybrid */
  gint64 *sizes;     /* the size of each axis within a granule */
  unsigned flags;    /* of QuoitMeshFlags */
} MeshSpec;

void mesh_spec_clear (MeshSpec *spec);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MeshSpec, mesh_spec_clear)

/* Parses the options. Fails with USAGE if --axes is missing, or if an option is wrong or conflicts with another one,
 * and with INVALID for sizes that no mesh has. */
bool mesh_spec_parse (const MeshOptions *options, MeshSpec *spec, GError **error);

typedef struct {
  QuoitDevices *devices;
  QuoitMesh *mesh;
  QuoitMeshLinks *links;
} GroupMesh;

void group_mesh_clear (GroupMesh *group_mesh);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GroupMesh, group_mesh_clear)

/* Counts the slices of the devices. quoit_group_get_n_slices() is 0 for a group of bundles. */
uint32_t group_mesh_count_slices (const QuoitDevices *devices);

/* Creates the mesh. If the library refuses the sizes, the message begins with the options that contain them. */
bool group_mesh_build (const QuoitGroup *group, const MeshSpec *spec, GroupMesh *group_mesh, GError **error);
