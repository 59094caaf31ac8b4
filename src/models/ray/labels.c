/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of a node, or label selectors: keys with values, in insertion order like a Python dictionary. */
#include <quoit/models/ray-labels.h>

#include <string.h>

typedef struct {
  char *key, *value; /* value is NULL for None */
} Label;

struct _QuoitRayLabels {
  GPtrArray *list;
  GTree *by_key; /* key of a Label -> Label; a balanced tree, so that no input can make it slow */
};

static void
free_label (gpointer data)
{
  Label *label = data;

  g_free (label->key);
  g_free (label->value);
  g_free (label);
}

QuoitRayLabels *
quoit_ray_labels_new (void)
{
  QuoitRayLabels *labels = g_new (QuoitRayLabels, 1);

  labels->list = g_ptr_array_new_with_free_func (free_label);
  labels->by_key = g_tree_new ((GCompareFunc) strcmp);
  return labels;
}

void
quoit_ray_labels_free (QuoitRayLabels *labels)
{
  if (labels == NULL)
    return;

  g_tree_unref (labels->by_key);
  g_ptr_array_unref (labels->list);
  g_free (labels);
}

void
quoit_ray_labels_set (QuoitRayLabels *labels, const char *key, const char *value)
{
  Label *label = g_tree_lookup (labels->by_key, key);
  char *before = label != NULL ? label->value : NULL;

  if (label == NULL)
    {
      label = g_new0 (Label, 1);
      label->key = g_strdup (key);
      g_ptr_array_add (labels->list, label);
      g_tree_insert (labels->by_key, label->key, label);
    }
  /* Copy before freeing, because @value may be the text that is replaced. */
  label->value = g_strdup (value);
  g_free (before);
}

const char *
quoit_ray_labels_get_key (const QuoitRayLabels *labels, uint32_t index)
{
  return index < labels->list->len ? ((const Label *) labels->list->pdata[index])->key : NULL;
}

const char *
quoit_ray_labels_get_value (const QuoitRayLabels *labels, uint32_t index)
{
  return index < labels->list->len ? ((const Label *) labels->list->pdata[index])->value : NULL;
}

const char *
quoit_ray_labels_find (const QuoitRayLabels *labels, const char *key)
{
  const Label *label = g_tree_lookup (labels->by_key, key);

  return label != NULL ? label->value : NULL;
}
