/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether JAX can arrange the devices of a slice for the axes of the mesh. One slice is enough, because all
 * slices have the same class. */
#include "models/maxtext/mesh.h"

static QuoitDevices *
slice_devices (QuoitMaxtextCheck *check)
{
  g_autofree char *topology = quoit_shape_format (check->slice.shape);
  const char *kind = quoit_generation_facts (check->slice.generation)->jax_kinds[0];
  g_autoptr (QuoitDevices) devices = quoit_devices_new_slices (kind, topology, 1, 0, 0, NULL);
  const int64_t box[3] = { check->box.dims[0], check->box.dims[1], check->box.dims[2] };

  if (devices == NULL || quoit_shape_equal (check->box, check->slice.shape))
    return g_steal_pointer (&devices);
  return quoit_maxtext_devices_new_box (devices, box, 3, NULL);
}

static unsigned
mesh_flags (QuoitMaxtextCheck *check)
{
  return quoit_maxtext_settings_flag (check->settings, "allow_split_physical_axes", FALSE)
             ? QUOIT_MAXTEXT_MESH_SPLIT_PHYSICAL_AXES
             : 0;
}

static int64_t *
ici_sizes (const QuoitMaxtextReport *report)
{
  int64_t *sizes = g_new0 (int64_t, report->axes->len + 1);

  for (guint i = 0; i < report->axes->len; i++)
    sizes[i] = g_array_index (report->axes, QuoitMaxtextAxis, i).ici;
  return sizes;
}

/* Checks the setting custom_mesh. Returns whether it has an effect; then MaxText arranges the devices and JAX does
 * not. */
static gboolean
check_custom_mesh (QuoitMaxtextCheck *check, const int64_t *sizes, int64_t n_slices, unsigned flags)
{
  const char *name = quoit_maxtext_settings_find (check->settings, "custom_mesh");
  guint n = check->report->axes->len;
  g_autofree char *expected = NULL;
  unsigned columns;
  QuoitShape shape = check->box;

  if (name == NULL || *name == '\0')
    return FALSE;
  if (n_slices == 1 && flags == 0)
    {
      quoit_maxtext_report_add (
          check->report, QUOIT_MAXTEXT_RULE_CUSTOM_MESH_UNUSED, "custom_mesh", name,
          "allow_split_physical_axes=true too: without it, custom_mesh has no effect on one slice");
      return FALSE;
    }
  if (!quoit_maxtext_find_ring (name, sizes, n, &columns, &expected))
    quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_CUSTOM_MESH, "custom_mesh", name, "%s", expected);
  else if (shape.dims[0] != 16 || shape.dims[1] != 16 || shape.dims[2] != 1)
    {
      g_autofree char *text = quoit_shape_format (shape);

      quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_CUSTOM_MESH, "custom_mesh", name,
                                "slices of 16x16 for it, not '%s'", text);
    }
  return TRUE;
}

void
quoit_maxtext_check_layout (QuoitMaxtextCheck *check, int64_t n_slices)
{
  unsigned flags = mesh_flags (check);
  g_autofree int64_t *sizes = ici_sizes (check->report);
  g_autoptr (QuoitDevices) devices = NULL;
  g_autoptr (QuoitMesh) mesh = NULL;
  g_autoptr (GError) refusal = NULL;

  if (check_custom_mesh (check, sizes, n_slices, flags))
    return;
  devices = slice_devices (check);
  if (devices == NULL)
    return;

  mesh = quoit_maxtext_mesh_new (devices, sizes, sizes, check->report->axes->len, 1, NULL, flags, &refusal);
  if (mesh == NULL)
    quoit_maxtext_report_add_error (check->report, QUOIT_MAXTEXT_RULE_MESH, "ici_*_parallelism", refusal);
}
