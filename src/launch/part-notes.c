/* SPDX-License-Identifier: Apache-2.0 */
/* Notes about the variables of bundles, for the people who use them. */
#include "launch/topology.h"

enum { MOST_NAMED = 8 };

/* Returns text such as "bundle 3" or "bundles 0, 1 and 9 more". Owned by the caller. */
static char *
name_bundles (const GArray *bundle_indices)
{
  g_autoptr (GString) text = g_string_new (bundle_indices->len == 1 ? "bundle " : "bundles ");

  for (guint i = 0; i < MIN (bundle_indices->len, MOST_NAMED); i++)
    g_string_append_printf (text, "%s%u", i > 0 ? ", " : "", g_array_index (bundle_indices, guint32, i));
  if (bundle_indices->len > MOST_NAMED)
    g_string_append_printf (text, " and %u more", bundle_indices->len - MOST_NAMED);
  return g_strdup (text->str);
}

static void
note_without_chips (QuoitTopology *topology, const QuoitParts *parts)
{
  g_autoptr (GArray) bundle_indices = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree char *names = NULL;

  for (guint i = 0; i < parts->without_chips->len; i++)
    g_array_append_val (bundle_indices, g_array_index (parts->without_chips, QuoitPart, i).bundle);
  if (bundle_indices->len == 0)
    return;
  names = name_bundles (bundle_indices);
  quoit_topology_note (topology, "%s %s no TPU, get%s no TPU variables and %s not part of a TPU job", names,
                       bundle_indices->len == 1 ? "has" : "have", bundle_indices->len == 1 ? "s" : "",
                       bundle_indices->len == 1 ? "is" : "are");
}

static void
note_shared (QuoitTopology *topology, const QuoitParts *parts)
{
  g_autoptr (GArray) bundle_indices = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree char *names = NULL;

  for (guint i = 0; i < parts->parts->len; i++)
    if (g_array_index (parts->parts, QuoitPart, i).has_partial_chip)
      g_array_append_val (bundle_indices, g_array_index (parts->parts, QuoitPart, i).bundle);
  if (bundle_indices->len == 0)
    return;
  names = name_bundles (bundle_indices);
  quoit_topology_note (topology,
                       "%s %s only a part of a chip: TPU_VISIBLE_CHIPS can name only whole chips, so processes that "
                       "have other parts of the chip see it too",
                       names, bundle_indices->len == 1 ? "has" : "have");
}

/* Returns whether a job of boxes has all chips of its slices. Such a job divides the hosts in another way than JAX. */
static gboolean
has_whole_slices (const QuoitLayout *layout, const QuoitParts *parts)
{
  guint32 slice = g_array_index (parts->slices, guint32, 0);

  return quoit_shape_chips (g_array_index (parts->boxes, QuoitBox, 0).shape)
         == quoit_shape_chips (quoit_layout_slice_class (layout, (QuoitSliceId) { slice })->facts.shape);
}

static void
note_job (QuoitTopology *topology, const QuoitParts *parts)
{
  if (parts->job == QUOIT_JOB_BOXES && has_whole_slices (topology->layout, parts))
    quoit_topology_note (
        topology,
        "the bundles are one job on all chips of %s, but divide the hosts in another order or size than JAX: "
        "libtpu has not been seen to start in this way",
        parts->slices->len == 1 ? "the slice" : "the slices");
  else if (parts->job == QUOIT_JOB_BOXES)
    quoit_topology_note (topology,
                         "the bundles are one job on a part of %s: the bounds describe that part, but TPU_TOPOLOGY "
                         "and TPU_ACCELERATOR_TYPE describe the whole slice, as in its pods",
                         parts->slices->len == 1 ? "a slice" : "each slice");
  else if (parts->job == QUOIT_JOB_SEPARATE && parts->parts->len > 1)
    quoit_topology_note (topology,
                         "the bundles do not form one job over ICI, and each process starts alone: %s; bundles that "
                         "are equal boxes of chips, and together one box in each slice, would form one",
                         parts->separate_reason);
}

/* Ray Train numbers all workers as one job, and sets no bounds. */
static void
note_ray_job (QuoitTopology *topology, const QuoitParts *parts)
{
  if (parts->job == QUOIT_JOB_SEPARATE && parts->parts->len > 1)
    quoit_topology_note (topology, "Ray Train numbers the bundles as one job, but they do not form one over ICI: %s",
                         parts->separate_reason);
  else if (parts->job == QUOIT_JOB_BOXES && parts->slices->len > 1)
    quoit_topology_note (topology,
                         "Ray Train sets no MEGASCALE variables for bundles that are not whole slices: JAX does not "
                         "connect the %u slices",
                         parts->slices->len);
}

void
quoit_topology_note_parts (QuoitTopology *topology, const QuoitTopologyInput *input, QuoitProfile profile)
{
  if (profile == QUOIT_PROFILE_RAY_TRAIN)
    note_ray_job (topology, input->parts);
  else
    note_job (topology, input->parts);
  note_shared (topology, input->parts);
  note_without_chips (topology, input->parts);
  if (*input->group->source != '\0' && input->parts->job != QUOIT_JOB_SLICES)
    quoit_topology_note (topology, "Ray decides how many chips of a host a bundle has; quoit chooses which ones");
}
