/* SPDX-License-Identifier: Apache-2.0 */
/* MaxText's rings of its own: custom_mesh. */
#include <string.h>

#include "topology/maxtext-mesh.h"

static gboolean
are_the_sizes (const QuoitMaxtextMesh *mesh, const int64_t wanted[3])
{
  unsigned seen = 0;

  for (unsigned i = 0; i < mesh->n; i++)
    {
      unsigned k = 0;

      while (k < 3 && mesh->sizes[QUOIT_LINK_ICI][i] != wanted[k])
        k++;
      if (k == 3)
        return FALSE;
      seen |= 1u << k;
    }
  return seen == 7;
}

void
quoit_maxtext_check_custom_mesh (QuoitMaxtextLook *look, const QuoitMaxtextMesh *mesh, int64_t n_slices)
{
  static const struct {
    const char *name;
    int64_t sizes[3];
  } rings[] = { { "hybrid_ring_64x4", { 1, 4, 64 } }, { "hybrid_ring_32x8", { 1, 8, 32 } } };
  const char *name = quoit_maxtext_settings_find (look->settings, "custom_mesh");
  QuoitShape shape = look->slice.shape;
  unsigned i = 0;

  if (name == NULL || *name == '\0')
    return;
  if (n_slices == 1 && !quoit_maxtext_settings_flag (look->settings, "allow_split_physical_axes", FALSE))
    {
      quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_CUSTOM_MESH_UNUSED, "custom_mesh", name,
                                "allow_split_physical_axes=true beside it: on one slice it has no effect without");
      return;
    }
  while (i < G_N_ELEMENTS (rings) && strcmp (rings[i].name, name) != 0)
    i++;
  if (i == G_N_ELEMENTS (rings))
    quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_CUSTOM_MESH, "custom_mesh", name, "%s or %s",
                              rings[0].name, rings[1].name);
  else if (!are_the_sizes (mesh, rings[i].sizes))
    quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_CUSTOM_MESH, "custom_mesh", name,
                              "it with ICI sizes of %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " and others of 1",
                              (gint64) rings[i].sizes[2], (gint64) rings[i].sizes[1]);
  else if (shape.dims[0] != 16 || shape.dims[1] != 16 || shape.dims[2] != 1)
    {
      g_autofree char *text = quoit_shape_format (shape);

      quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_CUSTOM_MESH, "custom_mesh", name,
                                "it with slices of 16x16, not '%s'", text);
    }
}
