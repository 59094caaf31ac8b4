/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether the devices of a job can be arranged for its axes. It checks one slice, because all slices are
 * alike. */
#include <string.h>

#include "models/maxtext/mesh.h"

static QuoitDevices *
devices_of_slice (QuoitMaxtextLook *look)
{
  g_autofree char *topology = quoit_shape_format (look->slice.shape);
  const char *kind = quoit_generation_facts (look->slice.generation)->jax_kinds[0];
  g_autoptr (QuoitDevices) devices = quoit_devices_new_slices (kind, topology, 1, 0, 0, NULL);
  const int64_t box[3] = { look->box.dims[0], look->box.dims[1], look->box.dims[2] };

  if (devices == NULL || quoit_shape_equal (look->box, look->slice.shape))
    return g_steal_pointer (&devices);
  return quoit_maxtext_devices_new_box (devices, box, 3, NULL);
}

static unsigned
flags_of (QuoitMaxtextLook *look)
{
  return quoit_maxtext_settings_flag (look->settings, "allow_split_physical_axes", FALSE)
             ? QUOIT_MAXTEXT_MESH_SPLIT_PHYSICAL_AXES
             : 0;
}

static int64_t *
sizes_of (const QuoitMaxtextReport *report)
{
  int64_t *sizes = g_new0 (int64_t, report->axes->len + 1);

  for (guint i = 0; i < report->axes->len; i++)
    sizes[i] = g_array_index (report->axes, QuoitMaxtextAxis, i).ici;
  return sizes;
}

/* Returns whether the mesh is one of MaxText's rings. Then JAX does not arrange the devices. */
static gboolean
check_custom_mesh (QuoitMaxtextLook *look, const int64_t *sizes, int64_t n_slices, unsigned flags)
{
  const char *name = quoit_maxtext_settings_find (look->settings, "custom_mesh");
  guint n = look->report->axes->len;
  g_autoptr (GError) why = NULL;
  QuoitShape shape = look->box;

  if (name == NULL || *name == '\0')
    return FALSE;
  if (n_slices == 1 && flags == 0)
    {
      quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_CUSTOM_MESH_UNUSED, "custom_mesh", name,
                                "allow_split_physical_axes=true beside it: on one slice it has no effect without");
      return FALSE;
    }
  if (!quoit_maxtext_custom_mesh_check (name, sizes, n, &why))
    quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_CUSTOM_MESH, "custom_mesh", name, "%s",
                              strstr (why->message, ": expected ") + strlen (": expected "));
  else if (shape.dims[0] != 16 || shape.dims[1] != 16 || shape.dims[2] != 1)
    {
      g_autofree char *text = quoit_shape_format (shape);

      quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_CUSTOM_MESH, "custom_mesh", name,
                                "it with slices of 16x16, not '%s'", text);
    }
  return TRUE;
}

void
quoit_maxtext_look_layout (QuoitMaxtextLook *look, int64_t n_slices)
{
  unsigned flags = flags_of (look);
  g_autofree int64_t *sizes = sizes_of (look->report);
  g_autoptr (QuoitDevices) devices = NULL;
  g_autoptr (QuoitMesh) mesh = NULL;
  g_autoptr (GError) why = NULL;

  if (check_custom_mesh (look, sizes, n_slices, flags))
    return;
  devices = devices_of_slice (look);
  if (devices == NULL)
    return;

  mesh = quoit_maxtext_mesh_new (devices, sizes, sizes, look->report->axes->len, 1, NULL, flags, &why);
  if (mesh == NULL)
    quoit_maxtext_report_refusal (look->report, QUOIT_MAXTEXT_RULE_MESH, "ici_*_parallelism", why);
}
