/* SPDX-License-Identifier: Apache-2.0 */
/* The mesh of a group, as options ask for it: `mesh` and `map --axis` have the same. */
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

/* For session_parse(): those and @others, which end with one that has no name; g_free() it. */
GOptionEntry *mesh_entries (MeshOptions *options, const GOptionEntry *others);

/* The wanted mesh, read from the options, without a ledger. */
typedef struct {
  Axes axes;
  gint64 *dcn_sizes; /* NULL: not hybrid */
  gint64 *sizes;     /* in a granule */
  unsigned flags;
} MeshSpec;

void mesh_spec_clear (MeshSpec *spec);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MeshSpec, mesh_spec_clear)

/* USAGE where options are wrong or do not go together, --axes is missing among them; INVALID for sizes that no mesh
 * has. */
bool mesh_spec_parse (const MeshOptions *options, MeshSpec *spec, GError **error);

typedef struct {
  QuoitDevices *devices;
  QuoitMesh *mesh;
  QuoitMeshLinks *links;
} GroupMesh;

void group_mesh_clear (GroupMesh *group_mesh);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GroupMesh, group_mesh_clear)

/* Those that the devices are in, of which a group of bundles says nothing. */
uint32_t group_mesh_count_slices (const QuoitDevices *devices);

/* Fails as the library does; messages about sizes begin with the options that contain them. */
bool group_mesh_make (const QuoitGroup *group, const MeshSpec *spec, GroupMesh *group_mesh, GError **error);
