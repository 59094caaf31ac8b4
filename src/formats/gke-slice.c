/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/gke-slice.h"

#include <string.h>

#include "base/label-names.h"
#include "fleet/joined.h"
#include "geometry/coordinates.h"

enum {
  MOST_NAME_BYTES = 54, /* of metadata.name */
  MOST_CHIPS = 9216
};

/* One slice of a group, and the partition that each of its ids names. */
typedef struct {
  const QuoitLayout *layout;
  const QuoitGroupData *group;
  guint32 slice;
  QuoitSliceFacts facts;
  QuoitShape box; /* in cubes; for slices that are joined from cubes */
} SliceObject;

/* --- what the slice is --- */

/* Sets @shape to the sides of the box of a part in the slice that it is cut from. Returns FALSE if they are unknown. */
static gboolean
find_part_shape (const SliceObject *object, const QuoitClass *class, QuoitShape *shape)
{
  const QuoitLayout *layout = object->layout;
  const guint32 first = quoit_group_first_node (object->group, object->slice);
  QuoitPosition low = { { 0 } }, high = { { 0 } };

  for (guint32 i = first; i < object->group->slice_end[object->slice]; i++)
    {
      const guint32 node = quoit_layout_find_id (layout, object->group->node_ids[i]);
      QuoitPosition at;

      if (node == QUOIT_NO_INDEX || layout->nodes[node].worker_id < 0)
        return FALSE;
      at = quoit_position_from_index (class->facts.host_grid, (guint32) layout->nodes[node].worker_id);
      if (i == first)
        low = high = at;
      for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
        {
          low.at[axis] = MIN (low.at[axis], at.at[axis]);
          high.at[axis] = MAX (high.at[axis], at.at[axis]);
        }
    }
  *shape = (QuoitShape) { .n_dims = class->facts.shape.n_dims };
  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    shape->dims[axis] = (guint16) ((high.at[axis] - low.at[axis] + 1) * class->facts.host_block.dims[axis]);
  return TRUE;
}

static gboolean
find_facts (SliceObject *object)
{
  const QuoitLayout *layout = object->layout;
  const guint32 slice = quoit_layout_group_slice (layout, object->group, object->slice);
  const QuoitClass *class = slice == QUOIT_NO_INDEX ? NULL
                                                    : quoit_layout_slice_class (layout, (QuoitSliceId) { slice });

  if (object->group->kind == QUOIT_RECORD_CUBES)
    {
      if (!quoit_group_joined_facts (layout, object->group, object->slice, &object->facts))
        return FALSE;
      object->box = object->facts.shape;
      for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
        object->box.dims[axis] /= QUOIT_CUBE_SIDE;
      return TRUE;
    }
  if (class == NULL)
    return FALSE;
  object->facts = class->facts;
  return object->group->kind != QUOIT_RECORD_PARTS || find_part_shape (object, class, &object->facts.shape);
}

static gboolean
is_legal_name (const char *name)
{
  const gsize length = strlen (name);

  if (length == 0 || length > MOST_NAME_BYTES || !g_ascii_islower (name[0]) || name[length - 1] == '-')
    return FALSE;
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_islower (name[i]) && !g_ascii_isdigit (name[i]) && name[i] != '-')
      return FALSE;
  return TRUE;
}

static gboolean
is_partition (QuoitShape shape)
{
  static const QuoitShape partitions[]
      = { { { 2, 2, 1 }, 3 }, { { 2, 2, 2 }, 3 }, { { 2, 2, 4 }, 3 }, { { 2, 4, 4 }, 3 }, { { 4, 4, 4 }, 3 } };

  for (guint i = 0; i < G_N_ELEMENTS (partitions); i++)
    if (quoit_shape_equal (shape, partitions[i]))
      return TRUE;
  return FALSE;
}

/* Checks the rules of the Slice object for type and topology. */
static gboolean
check_facts (const SliceObject *object, GError **error)
{
  const char *group = object->group->name;
  const QuoitShape shape = object->facts.shape;
  g_autofree char *text = quoit_shape_format (shape);

  if (object->facts.generation != QUOIT_GENERATION_TPU7X)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "group '%s': a Slice object is only for tpu7x, but its slices are of %s", group,
                       quoit_generation_name (object->facts.generation));
  if (object->group->kind != QUOIT_RECORD_CUBES)
    return is_partition (shape)
           || quoit_fail (error, QUOIT_ERROR_INVALID,
                          "group '%s': topology '%s' of slice '%u': expected slices that are joined from cubes, or one "
                          "of 2x2x1, 2x2x2, 2x2x4, 2x4x4 and 4x4x4 in a cube",
                          group, text, object->slice);
  if (shape.dims[0] > shape.dims[1] || shape.dims[1] > shape.dims[2])
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "group '%s': topology '%s' of slice '%u': expected sides in ascending order, as GKE has them",
                       group, text, object->slice);
  return quoit_shape_chips (shape) <= MOST_CHIPS
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "group '%s': topology '%s' of slice '%u': expected at most %d chips", group, text,
                        object->slice, MOST_CHIPS);
}

/* --- ids --- */

/* Adds the id that the node states to that of its partition. */
static gboolean
add_id (const SliceObject *object, guint32 id, const char *label, const char **partition_id, GError **error)
{
  const QuoitNodeId node = { quoit_layout_find_id (object->layout, id) };
  char buffer[QUOIT_LABEL_BUFFER_SIZE];
  const char *stated, *name;

  if (node.index == QUOIT_NO_INDEX)
    return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "group '%s': a node of slice '%u' is no longer in the fleet",
                       object->group->name, object->slice);
  name = quoit_layout_node_name (object->layout, node);
  stated = quoit_layout_node_label (object->layout, node, label, buffer);
  if (stated == NULL || *stated == '\0')
    return quoit_fail (
        error, QUOIT_ERROR_NOT_FOUND,
        "group '%s': node '%s' has no label %s: expected nodes as 'kubectl get nodes -o json' shows them",
        object->group->name, name, label);
  if (*partition_id == NULL)
    *partition_id = stated;
  return strcmp (*partition_id, stated) == 0
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "group '%s': node '%s' has the %s '%s': expected '%s', like the other nodes of its partition",
                        object->group->name, name, label, stated, *partition_id);
}

/* Two node pools can state one id by mistake. The object would then have a cube twice, and lack another one. */
static gboolean
check_ids_differ (const SliceObject *object, const char *const *ids, guint32 n, GError **error)
{
  for (guint32 i = 0; i < n; i++)
    for (guint32 j = 0; j < i; j++)
      if (g_strcmp0 (ids[i], ids[j]) == 0)
        return quoit_fail (error, QUOIT_ERROR_INVALID,
                           "group '%s': the nodes of cubes '%u' and '%u' of slice '%u' have the same "
                           "%s '%s': expected an id for each cube",
                           object->group->name, j, i, object->slice, QUOIT_GKE_LABEL_CUBE_ID, ids[i]);
  return TRUE;
}

/* Appends the id of each partition, quoted: an id may look like a number. Label values have no quotes. */
static gboolean
append_ids (const SliceObject *object, GString *text, GError **error)
{
  const gboolean is_joined = object->group->kind == QUOIT_RECORD_CUBES;
  const guint32 n = is_joined ? quoit_shape_chips (object->box) : 1;
  const guint32 first = quoit_group_first_node (object->group, object->slice);
  g_autofree char *shape = quoit_shape_format (object->facts.shape);
  g_autofree char *label = is_joined ? g_strdup (QUOIT_GKE_LABEL_CUBE_ID)
                                     : g_strdup_printf ("cloud.google.com/gke-tpu-partition-%s-id", shape);
  g_autofree const char **ids = g_new0 (const char *, n + 1);

  for (guint32 i = first; i < object->group->slice_end[object->slice]; i++)
    {
      guint32 cube = 0, host;

      if (is_joined)
        quoit_joined_find_host (object->box, i - first, &cube, &host);
      if (!add_id (object, object->group->node_ids[i], label, &ids[cube], error))
        return FALSE;
    }
  if (!check_ids_differ (object, ids, n, error))
    return FALSE;
  for (guint32 i = 0; i < n; i++)
    g_string_append_printf (text, "  - \"%s\"\n", ids[i]);
  return TRUE;
}

char *
quoit_write_gke_slice (const QuoitLayout *layout, const QuoitGroupData *group, guint32 slice, GError **error)
{
  SliceObject object = { .layout = layout, .group = group, .slice = slice };
  g_autofree char *name = g_strdup_printf ("%s-%u", group->name, slice), *topology = NULL, *quoted = NULL;
  g_autoptr (GString) text = g_string_new (NULL);

  if (!find_facts (&object))
    {
      quoit_fail (error, QUOIT_ERROR_INVALID, "group '%s': the topology of slice '%u' is not known", group->name,
                  slice);
      return NULL;
    }
  if (!check_facts (&object, error))
    return NULL;
  if (!is_legal_name (name))
    {
      quoted = quoit_quote (name);
      quoit_fail (error, QUOIT_ERROR_INVALID,
                  "Slice %s: expected a name of at most %d lower-case letters, digits and '-', which begins with a "
                  "letter; the name is GROUP-SLICE, so name the group accordingly",
                  quoted, MOST_NAME_BYTES);
      return NULL;
    }
  topology = quoit_shape_format (object.facts.shape);
  g_string_append_printf (text,
                          "apiVersion: accelerator.gke.io/v1beta1\n"
                          "kind: Slice\n"
                          "metadata:\n"
                          "  name: %s\n"
                          "spec:\n"
                          "  type: tpu7x\n"
                          "  topology: %s\n"
                          "  partitionIds:\n",
                          name, topology);
  return append_ids (&object, text, error) ? g_strdup (text->str) : NULL;
}
