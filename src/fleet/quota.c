/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/quota.h"

#include <string.h>

#include "fleet/joined.h"

#define QUOTA_PREFIX "quota/"

char *
quoit_quota_record_name (const char *quota)
{
  return g_strconcat (QUOTA_PREFIX, quota, NULL);
}

const char *
quoit_quota_record_quota (const QuoitGroupData *record)
{
  return record->name + strlen (QUOTA_PREFIX);
}

/* --- text --- */

/* Names cannot contain '/'. The target is last, because keys and values of labels can. */
char *
quoit_quota_format (const QuoitQuota *quota)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "nominal=%" G_GINT64_FORMAT, quota->nominal);
  if (quota->most >= 0)
    g_string_append_printf (text, "/max=%" G_GINT64_FORMAT, quota->most);
  if (quota->generation != QUOIT_GENERATION_NONE)
    g_string_append_printf (text, "/accelerator=%s", quoit_generation_name (quota->generation));
  if (quota->shape.n_dims != 0)
    {
      g_string_append (text, "/topology=");
      quoit_shape_append (text, quota->shape);
    }
  if (quota->cohort != NULL)
    g_string_append_printf (text, "/cohort=%s", quota->cohort);
  if (quota->label == NULL)
    g_string_append_printf (text, "/owner=%s", quota->value);
  else
    g_string_append_printf (text, "/label=%s=%s", quota->label, quota->value);
  return g_string_free (text, FALSE);
}

/* A quota and its texts, in one allocation with reference count. */
typedef struct {
  QuoitQuota quota;
  char *topology, *cohort, *label, *value, *name;
} Box;

static void
box_clear (gpointer data)
{
  Box *box = data;

  g_free (box->topology);
  g_free (box->cohort);
  g_free (box->label);
  g_free (box->value);
  g_free (box->name);
}

QuoitQuota *
quoit_quota_ref (QuoitQuota *quota)
{
  return g_atomic_rc_box_acquire ((Box *) quota), quota;
}

void
quoit_quota_unref (QuoitQuota *quota)
{
  g_atomic_rc_box_release_full ((Box *) quota, box_clear);
}

static void
box_release (Box *box)
{
  quoit_quota_unref (&box->quota);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Box, box_release)

/* If *@at begins with "@key=", returns the text up to the next '/' or, for the last part, up to the end, and moves *@at
 * behind it. Otherwise returns NULL. The caller owns the text. */
static char *
read_part (const char **at, const char *key, gboolean is_last)
{
  gsize length = strlen (key);
  const char *value, *end;

  if (strncmp (*at, key, length) != 0 || (*at)[length] != '=')
    return NULL;
  value = *at + length + 1;
  end = is_last ? value + strlen (value) : strchr (value, '/');
  if (end == NULL)
    return NULL;
  *at = *end == '/' ? end + 1 : end;
  return g_strndup (value, (gsize) (end - value));
}

static gboolean
read_chips (const char *text, gint64 *chips)
{
  return text != NULL && g_ascii_string_to_signed (text, 10, 0, QUOIT_MAX_QUOTA_CHIPS, chips, NULL);
}

static gboolean
read_numbers (const char **at, QuoitQuota *quota)
{
  g_autofree char *nominal = read_part (at, "nominal", FALSE), *most = read_part (at, "max", FALSE);

  quota->most = -1;
  return read_chips (nominal, &quota->nominal) && (most == NULL || read_chips (most, &quota->most))
         && (quota->most < 0 || quota->most >= quota->nominal);
}

static gboolean
read_class (const char **at, Box *box)
{
  g_autofree char *accelerator = read_part (at, "accelerator", FALSE);

  box->topology = read_part (at, "topology", FALSE);
  return accelerator == NULL
             ? box->topology == NULL
             : quoit_generation_parse (accelerator, &box->quota.generation, NULL)
                   && (box->topology == NULL || quoit_shape_parse (box->topology, &box->quota.shape, NULL));
}

static gboolean
read_target (const char **at, Box *box)
{
  char *equals;

  box->value = read_part (at, "owner", TRUE);
  if (box->value != NULL)
    return *box->value != '\0';
  box->label = read_part (at, "label", TRUE);
  equals = box->label == NULL ? NULL : strchr (box->label, '=');
  if (equals == NULL)
    return FALSE;
  box->value = g_strdup (equals + 1);
  *equals = '\0';
  return *box->label != '\0' && *box->value != '\0';
}

QuoitQuota *
quoit_quota_parse (const char *request, const char *name)
{
  g_autoptr (Box) box = g_atomic_rc_box_new0 (Box);
  g_autofree char *canonical = NULL;
  const char *at = request;

  if (!read_numbers (&at, &box->quota) || !read_class (&at, box))
    return NULL;
  box->cohort = read_part (&at, "cohort", FALSE);
  if (!read_target (&at, box))
    return NULL;
  box->name = g_strdup (name);
  box->quota.name = box->name;
  box->quota.topology = box->topology;
  box->quota.cohort = box->cohort;
  box->quota.label = box->label;
  box->quota.value = box->value;
  canonical = quoit_quota_format (&box->quota);
  return strcmp (canonical, request) == 0 ? &g_steal_pointer (&box)->quota : NULL;
}

gboolean
quoit_quota_same_class (const QuoitQuota *a, const QuoitQuota *b)
{
  return a->generation == b->generation && quoit_shape_equal (a->shape, b->shape);
}

/* --- counting --- */

gboolean
quoit_quota_applies (const QuoitQuota *quota, const char *owner, const QuoitLabel *labels, guint n_labels)
{
  const char *value;

  if (quota->label == NULL)
    return strcmp (quota->value, owner) == 0;
  value = quoit_labels_find (labels, n_labels, quota->label);
  return value != NULL && strcmp (value, quota->value) == 0;
}

gboolean
quoit_quota_has_node (const QuoitQuota *quota, const QuoitLayout *layout, QuoitNodeId node)
{
  const QuoitNodeKind *kind = quoit_layout_node_kind (layout, node);
  guint32 slice = layout->nodes[node.index].slice;
  const QuoitClass *class = slice == QUOIT_NO_INDEX ? NULL
                                                    : quoit_layout_slice_class (layout, (QuoitSliceId) { slice });

  return class != NULL ? quoit_quota_has_class (quota, class->facts.generation, class->facts.shape)
                       : quoit_quota_has_class (quota, kind->generation, kind->shape);
}

/* Counts whole slices, without visiting their nodes. A slice without a class counts like the one before it, or like the
 * first one that has a class: all of them were of the class that the group requested. */
static gint64
count_slices (const QuoitQuota *quota, const QuoitLayout *layout, const QuoitGroupData *group)
{
  const QuoitClass *class = NULL;
  guint32 n_unknown = 0;
  gint64 chips = 0;

  for (guint32 s = 0; s < group->n_slices; s++)
    {
      guint32 slice = quoit_layout_group_slice (layout, group, s);
      const QuoitClass *own
          = slice == QUOIT_NO_INDEX ? NULL : quoit_layout_slice_class (layout, (QuoitSliceId) { slice });

      class = own != NULL ? own : class;
      n_unknown++;
      if (class == NULL)
        continue;
      if (quoit_quota_has_class (quota, class->facts.generation, class->facts.shape))
        chips += (gint64) n_unknown * quoit_shape_chips (class->facts.shape);
      n_unknown = 0;
    }
  return chips * QUOIT_AMOUNT_UNIT;
}

static gint64
count_bundles (const QuoitQuota *quota, const QuoitLayout *layout, const QuoitGroupData *group)
{
  gint64 chips_e4 = 0;

  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      const QuoitBundle *bundle = &group->bundles[i];
      guint32 node = bundle->chips == 0 && bundle->part.e4 == 0 ? QUOIT_NO_INDEX
                                                                : quoit_layout_find_id (layout, group->node_ids[i]);

      if (node != QUOIT_NO_INDEX && quoit_quota_has_node (quota, layout, (QuoitNodeId) { node }))
        chips_e4 += (gint64) __builtin_popcountll (bundle->chips) * QUOIT_AMOUNT_UNIT + bundle->part.e4;
    }
  return chips_e4;
}

/* Counts slices that are joined from cubes for the class that was requested. */
static gint64
count_joined (const QuoitQuota *quota, const QuoitGroupData *group)
{
  QuoitGeneration generation;
  QuoitShape shape;

  return quoit_group_joined_class (group, &generation, &shape) && quoit_quota_has_class (quota, generation, shape)
             ? (gint64) group->n_slices * quoit_shape_chips (shape) * QUOIT_AMOUNT_UNIT
             : 0;
}

gint64
quoit_quota_count (const QuoitQuota *quota, const QuoitLayout *layout, const QuoitGroupData *group)
{
  if (!quoit_group_is_callers (group) || !quoit_quota_applies (quota, group->owner, group->labels, group->n_labels))
    return 0;
  return group->kind == QUOIT_RECORD_SLICES  ? count_slices (quota, layout, group)
         : group->kind == QUOIT_RECORD_CUBES ? count_joined (quota, group)
         : group->bundles == NULL            ? 0
                                             : count_bundles (quota, layout, group);
}
