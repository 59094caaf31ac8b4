/* SPDX-License-Identifier: Apache-2.0 */
/* Determines the axes of a job's mesh and their sizes. */
#include <string.h>

#include "models/maxtext/mesh.h"

static const struct {
  const char *prefix;
  const char *filled_axis; /* the axis whose default size is -1 */
} links_of[] = {
  [QUOIT_LINK_ICI] = { "ici", "fsdp" },
  [QUOIT_LINK_DCN] = { "dcn", "data" },
};
G_STATIC_ASSERT (G_N_ELEMENTS (links_of) == QUOIT_N_MAXTEXT_LINKS);

static void
mesh_clear (QuoitMaxtextMesh *mesh)
{
  g_free (mesh->names);
  for (unsigned links = 0; links < QUOIT_N_MAXTEXT_LINKS; links++)
    g_free (mesh->sizes[links]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitMaxtextMesh, mesh_clear)

char *
quoit_maxtext_size_key (QuoitMaxtextLink links, const char *axis_key)
{
  return g_strdup_printf ("%s_%s_parallelism", links_of[links].prefix, axis_key);
}

int64_t
quoit_maxtext_size_unless_given (QuoitMaxtextLink links, const char *axis_key)
{
  return strcmp (links_of[links].filled_axis, axis_key) == 0 ? -1 : 1;
}

static int64_t
size_of (QuoitMaxtextLook *look, QuoitMaxtextLink links, const char *axis_key)
{
  g_autofree char *key = quoit_maxtext_size_key (links, axis_key);

  return quoit_maxtext_settings_integer (look->settings, key, quoit_maxtext_size_unless_given (links, axis_key));
}

gboolean
quoit_maxtext_size_is_given (const QuoitMaxtextLook *look, QuoitMaxtextLink links, const char *axis_key)
{
  g_autofree char *key = quoit_maxtext_size_key (links, axis_key);

  return quoit_maxtext_settings_find (look->settings, key) != NULL;
}

/* --- names --- */

/* Splits "[data, 'fsdp']", with or without the brackets. */
static char **
split_axes (const char *text)
{
  g_autofree char *inner = g_strdup (text);
  gsize length;
  char **names;

  g_strstrip (inner);
  length = strlen (inner);
  if (length >= 2 && inner[0] == '[' && inner[length - 1] == ']')
    {
      inner[0] = ' ';
      inner[length - 1] = '\0';
    }
  names = g_strsplit (inner, ",", -1);
  for (char **name = names; *name != NULL; name++)
    {
      g_strdelimit (*name, "'\"", ' ');
      g_strstrip (*name);
    }
  return names;
}

static gboolean
check_axes (QuoitMaxtextLook *look, char **names)
{
  for (unsigned i = 0; names[i] != NULL; i++)
    {
      if (quoit_maxtext_axis_find (names[i]) == NULL)
        {
          quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_MESH_AXES, "mesh_axes", names[i],
                                    "an axis that MaxText knows, as data, stage, fsdp, context, tensor or expert");
          return FALSE;
        }
      for (unsigned k = 0; k < i; k++)
        if (strcmp (names[i], names[k]) == 0)
          {
            quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_MESH_AXES, "mesh_axes", names[i],
                                      "each axis once");
            return FALSE;
          }
    }
  return TRUE;
}

/* NULL if MaxText does not know one of the axes. */
static char **
axes_of (QuoitMaxtextLook *look)
{
  const char *given = quoit_maxtext_settings_find (look->settings, "mesh_axes");
  g_auto (GStrv) names = given == NULL ? g_strdupv ((char **) quoit_maxtext_default_axes) : split_axes (given);

  return check_axes (look, names) ? g_steal_pointer (&names) : NULL;
}

static gboolean
is_axis_of (char **names, const char *axis_key)
{
  for (; *names != NULL; names++)
    if (g_strcmp0 (quoit_maxtext_axis_find (*names)->key, axis_key) == 0)
      return TRUE;

  return FALSE;
}

/* "model" shares the key of "tensor". */
static gboolean
is_key_of_its_own (const QuoitMaxtextAxisName *axis)
{
  return axis->key != NULL && strcmp (axis->name, "model") != 0;
}

/* MaxText accepts the size of an axis that is not in the mesh, and ignores it. */
static void
check_unused (QuoitMaxtextLook *look, char **names)
{
  const QuoitMaxtextAxisName *axis;

  for (unsigned i = 0; (axis = quoit_maxtext_axis_row (i)) != NULL; i++)
    for (QuoitMaxtextLink links = QUOIT_LINK_ICI; is_key_of_its_own (axis) && links < QUOIT_N_MAXTEXT_LINKS; links++)
      {
        g_autofree char *key = quoit_maxtext_size_key (links, axis->key);
        const char *given = quoit_maxtext_settings_find (look->settings, key);

        if (given != NULL && !is_axis_of (names, axis->key)
            && quoit_maxtext_settings_integer (look->settings, key, 1) != 1)
          quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_AXIS_UNUSED, key, given,
                                    "1, or '%s' among mesh_axes: without it the size has no effect", axis->name);
      }
}

static QuoitMaxtextMesh
mesh_of (QuoitMaxtextLook *look, char **names)
{
  QuoitMaxtextMesh mesh = { .names = g_new0 (const QuoitMaxtextAxisName *, g_strv_length (names) + 1) };

  for (unsigned i = 0; names[i] != NULL; i++)
    if (quoit_maxtext_axis_find (names[i])->key != NULL)
      mesh.names[mesh.n++] = quoit_maxtext_axis_find (names[i]);
  for (QuoitMaxtextLink links = QUOIT_LINK_ICI; links < QUOIT_N_MAXTEXT_LINKS; links++)
    {
      mesh.sizes[links] = g_new0 (int64_t, mesh.n + 1);
      for (unsigned i = 0; i < mesh.n; i++)
        mesh.sizes[links][i] = size_of (look, links, mesh.names[i]->key);
    }
  return mesh;
}

/* With one slice MaxText ignores the DCN sizes of the mesh, but refuses settings of DCN sizes above 1. It does not
 * check diloco, and it accepts -1. */
static void
check_one_slice (QuoitMaxtextLook *look)
{
  const QuoitMaxtextAxisName *axis;
  g_autofree char *wrong = NULL;

  for (unsigned i = 0; (axis = quoit_maxtext_axis_row (i)) != NULL; i++)
    {
      int64_t size
          = axis->key == NULL || strcmp (axis->key, "diloco") == 0 ? 1 : size_of (look, QUOIT_LINK_DCN, axis->key);

      if (size == 0)
        return;
      if (wrong == NULL && size != 1 && size != -1)
        wrong = quoit_maxtext_size_key (QUOIT_LINK_DCN, axis->key);
    }
  if (wrong != NULL)
    quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_DCN_ONE_SLICE, wrong,
                              quoit_maxtext_settings_find (look->settings, wrong), "1 for a job of one slice");
}

/* --- report --- */

static void
put_axes (GArray *axes, char **names, const QuoitMaxtextMesh *mesh, int64_t n_slices)
{
  for (unsigned i = 0, k = 0; names[i] != NULL; i++)
    {
      gboolean has_size = k < mesh->n && strcmp (mesh->names[k]->name, names[i]) == 0;

      quoit_maxtext_report_axis (axes, names[i], has_size ? mesh->sizes[QUOIT_LINK_ICI][k] : 1,
                                 has_size && n_slices > 1 ? mesh->sizes[QUOIT_LINK_DCN][k] : 1);
      k += has_size;
    }
}

gboolean
quoit_maxtext_look_axes (QuoitMaxtextLook *look, int64_t n_slices)
{
  g_auto (GStrv) names = axes_of (look);
  g_auto (QuoitMaxtextMesh) mesh = { 0 };
  gboolean is_ici, is_dcn = TRUE;

  if (names == NULL)
    return FALSE;

  check_unused (look, names);
  mesh = mesh_of (look, names);
  put_axes (look->report->asked, names, &mesh, G_MAXINT64);
  is_ici = quoit_maxtext_mesh_fill (look, &mesh, QUOIT_LINK_ICI, look->n_devices);
  if (n_slices > 1)
    is_dcn = quoit_maxtext_mesh_fill (look, &mesh, QUOIT_LINK_DCN, n_slices);
  else
    check_one_slice (look);
  put_axes (look->report->axes, names, &mesh, n_slices);
  if (is_ici)
    quoit_maxtext_look_layout (look, n_slices);
  return is_ici && is_dcn;
}
