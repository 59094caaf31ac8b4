/* SPDX-License-Identifier: Apache-2.0 */
/* Determines the axes of a job's mesh and their sizes. */
#include <string.h>

#include "models/maxtext/mesh.h"

static const struct {
  const char *prefix;
  const char *filled_axis; /* the axis whose default size is -1 */
} link_types[] = {
  [QUOIT_LINK_ICI] = { "ici", "fsdp" },
  [QUOIT_LINK_DCN] = { "dcn", "data" },
};
G_STATIC_ASSERT (G_N_ELEMENTS (link_types) == QUOIT_N_MAXTEXT_LINKS);

static void
mesh_clear (QuoitMaxtextMesh *mesh)
{
  g_free (mesh->names);
  for (unsigned link = 0; link < QUOIT_N_MAXTEXT_LINKS; link++)
    g_free (mesh->sizes[link]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitMaxtextMesh, mesh_clear)

char *
quoit_maxtext_size_key (QuoitMaxtextLink link, const char *axis_key)
{
  return g_strdup_printf ("%s_%s_parallelism", link_types[link].prefix, axis_key);
}

int64_t
quoit_maxtext_default_size (QuoitMaxtextLink link, const char *axis_key)
{
  return strcmp (link_types[link].filled_axis, axis_key) == 0 ? -1 : 1;
}

static int64_t
axis_size (QuoitMaxtextCheck *check, QuoitMaxtextLink link, const char *axis_key)
{
  g_autofree char *key = quoit_maxtext_size_key (link, axis_key);

  return quoit_maxtext_settings_integer (check->settings, key, quoit_maxtext_default_size (link, axis_key));
}

gboolean
quoit_maxtext_size_is_given (const QuoitMaxtextCheck *check, QuoitMaxtextLink link, const char *axis_key)
{
  g_autofree char *key = quoit_maxtext_size_key (link, axis_key);

  return quoit_maxtext_settings_find (check->settings, key) != NULL;
}

/* --- names --- */

/* Splits a list such as "[data, 'fsdp']", with or without the brackets. */
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
check_axis_names (QuoitMaxtextCheck *check, char **names)
{
  for (unsigned i = 0; names[i] != NULL; i++)
    {
      if (quoit_maxtext_axis_find (names[i]) == NULL)
        {
          quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_MESH_AXES, "mesh_axes", names[i],
                                    "an axis that MaxText knows, such as data, stage, fsdp, context, tensor or expert");
          return FALSE;
        }
      for (unsigned k = 0; k < i; k++)
        if (strcmp (names[i], names[k]) == 0)
          {
            quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_MESH_AXES, "mesh_axes", names[i],
                                      "each axis once");
            return FALSE;
          }
    }
  return TRUE;
}

/* Returns the names in the setting mesh_axes, or NULL if MaxText does not know one of them. */
static char **
read_axis_names (QuoitMaxtextCheck *check)
{
  const char *setting_text = quoit_maxtext_settings_find (check->settings, "mesh_axes");
  g_auto (GStrv) names
      = setting_text == NULL ? g_strdupv ((char **) quoit_maxtext_default_axes) : split_axes (setting_text);

  return check_axis_names (check, names) ? g_steal_pointer (&names) : NULL;
}

static gboolean
has_axis (char **names, const char *axis_key)
{
  for (; *names != NULL; names++)
    if (g_strcmp0 (quoit_maxtext_axis_find (*names)->key, axis_key) == 0)
      return TRUE;

  return FALSE;
}

/* The axis "model" has the key of "tensor", and not one of its own. */
static gboolean
has_own_key (const QuoitMaxtextAxisName *axis)
{
  return axis->key != NULL && strcmp (axis->name, "model") != 0;
}

/* MaxText accepts the size of an axis that is not in the mesh, and ignores it. */
static void
check_unused (QuoitMaxtextCheck *check, char **names)
{
  const QuoitMaxtextAxisName *axis;

  for (unsigned i = 0; (axis = quoit_maxtext_axis_row (i)) != NULL; i++)
    for (QuoitMaxtextLink link = QUOIT_LINK_ICI; has_own_key (axis) && link < QUOIT_N_MAXTEXT_LINKS; link++)
      {
        g_autofree char *key = quoit_maxtext_size_key (link, axis->key);
        const char *setting_text = quoit_maxtext_settings_find (check->settings, key);

        if (setting_text != NULL && !has_axis (names, axis->key)
            && quoit_maxtext_settings_integer (check->settings, key, 1) != 1)
          quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_AXIS_UNUSED, key, setting_text,
                                    "1, or '%s' in mesh_axes: the size of an axis outside the mesh has no effect",
                                    axis->name);
      }
}

static QuoitMaxtextMesh
read_mesh (QuoitMaxtextCheck *check, char **names)
{
  QuoitMaxtextMesh mesh = { .names = g_new0 (const QuoitMaxtextAxisName *, g_strv_length (names) + 1) };

  for (unsigned i = 0; names[i] != NULL; i++)
    if (quoit_maxtext_axis_find (names[i])->key != NULL)
      mesh.names[mesh.n++] = quoit_maxtext_axis_find (names[i]);
  for (QuoitMaxtextLink link = QUOIT_LINK_ICI; link < QUOIT_N_MAXTEXT_LINKS; link++)
    {
      mesh.sizes[link] = g_new0 (int64_t, mesh.n + 1);
      for (unsigned i = 0; i < mesh.n; i++)
        mesh.sizes[link][i] = axis_size (check, link, mesh.names[i]->key);
    }
  return mesh;
}

/* With one slice MaxText ignores the DCN sizes of the mesh, but refuses settings of DCN sizes above 1. It does not
 * check diloco, and it accepts -1. */
static void
check_one_slice (QuoitMaxtextCheck *check)
{
  const QuoitMaxtextAxisName *axis;
  g_autofree char *wrong_key = NULL;

  for (unsigned i = 0; (axis = quoit_maxtext_axis_row (i)) != NULL; i++)
    {
      int64_t size
          = axis->key == NULL || strcmp (axis->key, "diloco") == 0 ? 1 : axis_size (check, QUOIT_LINK_DCN, axis->key);

      if (size == 0)
        return;
      if (wrong_key == NULL && size != 1 && size != -1)
        wrong_key = quoit_maxtext_size_key (QUOIT_LINK_DCN, axis->key);
    }
  if (wrong_key != NULL)
    quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_DCN_ONE_SLICE, wrong_key,
                              quoit_maxtext_settings_find (check->settings, wrong_key), "1 for a job of one slice");
}

/* --- report --- */

static void
report_axes (GArray *axes, char **names, const QuoitMaxtextMesh *mesh, int64_t n_slices)
{
  for (unsigned i = 0, k = 0; names[i] != NULL; i++)
    {
      gboolean has_size = k < mesh->n && strcmp (mesh->names[k]->name, names[i]) == 0;

      quoit_maxtext_axes_add (axes, names[i], has_size ? mesh->sizes[QUOIT_LINK_ICI][k] : 1,
                              has_size && n_slices > 1 ? mesh->sizes[QUOIT_LINK_DCN][k] : 1);
      k += has_size;
    }
}

gboolean
quoit_maxtext_check_axes (QuoitMaxtextCheck *check, int64_t n_slices)
{
  g_auto (GStrv) names = read_axis_names (check);
  g_auto (QuoitMaxtextMesh) mesh = { 0 };
  gboolean is_ici, is_dcn = TRUE;

  if (names == NULL)
    return FALSE;

  check_unused (check, names);
  mesh = read_mesh (check, names);
  report_axes (check->report->requested_axes, names, &mesh, G_MAXINT64);
  is_ici = quoit_maxtext_mesh_fill (check, &mesh, QUOIT_LINK_ICI, check->n_devices);
  if (n_slices > 1)
    is_dcn = quoit_maxtext_mesh_fill (check, &mesh, QUOIT_LINK_DCN, n_slices);
  else
    check_one_slice (check);
  report_axes (check->report->axes, names, &mesh, n_slices);
  if (is_ici)
    quoit_maxtext_check_layout (check, n_slices);
  return is_ici && is_dcn;
}
