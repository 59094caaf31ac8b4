/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of a layout: finds the class of a slice of nodes of each kind, and creates joined kinds for nodes with
 * several claims. */
#include "fleet/layout-private.h"

#include <stdlib.h>
#include <string.h>

static guint32
find_or_add_class (GArray *classes, const QuoitSliceFacts *facts)
{
  QuoitClass fresh = { .facts = *facts };

  for (guint i = 0; i < classes->len; i++)
    if (quoit_slice_facts_same_class (&g_array_index (classes, QuoitClass, i).facts, facts))
      return i;
  g_array_append_val (classes, fresh);
  return classes->len - 1;
}

/* Returns whether the kind states no pod type, or the one that Ray would derive from generation and topology. */
static gboolean
is_pod_type_valid (const QuoitNodeKind *kind)
{
  g_autofree char *expected = quoit_pod_type_format (kind->generation, kind->shape);

  return kind->pod_type == NULL || strcmp (kind->pod_type, expected) == 0;
}

static QuoitKindClass
classify (GArray *classes, const QuoitNodeKind *kind)
{
  QuoitKindClass result = { .class_index = QUOIT_NO_INDEX };
  QuoitSliceFacts facts;

  if (kind->generation == QUOIT_GENERATION_NONE || kind->shape.n_dims == 0)
    return result.faults = QUOIT_FAULT_TOPOLOGY, result;
  /* quoit_slice_facts() would use the default number of chips for 0, but this node has no chips. */
  if (kind->chips == 0)
    return result.faults = QUOIT_FAULT_CHIPS, result;
  if (!quoit_slice_facts (kind->generation, kind->shape, kind->chips, &facts, NULL))
    {
      result.faults
          = quoit_shape_check (kind->generation, kind->shape, NULL) ? QUOIT_FAULT_CHIPS : QUOIT_FAULT_TOPOLOGY;
      return result;
    }
  result.class_index = find_or_add_class (classes, &facts);
  if (!is_pod_type_valid (kind))
    result.faults = QUOIT_FAULT_POD_TYPE;
  return result;
}

/* Returns the name of the head resource, or an empty text. Ray derives it from the stated pod type, or else from
 * generation and topology. */
static QuoitStringId
head_resource (QuoitLayout *layout, const QuoitNodeKind *kind)
{
  gboolean known = kind->generation != QUOIT_GENERATION_NONE && kind->shape.n_dims != 0;
  g_autofree char *made
      = kind->pod_type == NULL && known ? quoit_pod_type_format (kind->generation, kind->shape) : NULL;
  const char *pod_type = kind->pod_type != NULL ? kind->pod_type : made;
  g_autofree char *head = pod_type == NULL ? NULL : g_strdup_printf ("TPU-%s-head", pod_type);

  return quoit_strings_intern (layout->strings, head == NULL ? "" : head);
}

/* The canonical order of classes: generation, number of chips, shape, chips per host. */
static int
compare_classes (const void *a, const void *b)
{
  const QuoitSliceFacts *x = &((const QuoitClass *) a)->facts, *y = &((const QuoitClass *) b)->facts;
  guint32 chips_x = quoit_shape_chips (x->shape), chips_y = quoit_shape_chips (y->shape);

  if (x->generation != y->generation)
    return x->generation < y->generation ? -1 : 1;
  if (chips_x != chips_y)
    return chips_x < chips_y ? -1 : 1;
  for (unsigned i = 0; i < 3; i++)
    if (x->shape.dims[i] != y->shape.dims[i])
      return x->shape.dims[i] < y->shape.dims[i] ? -1 : 1;
  return (x->chips_per_host > y->chips_per_host) - (x->chips_per_host < y->chips_per_host);
}

/* Sorts the classes, and updates the class indices of the kinds. */
static void
sort_classes (QuoitLayout *layout)
{
  g_autofree QuoitClass *before = g_memdup2 (layout->classes, layout->n_classes * sizeof *before);

  if (layout->n_classes == 0)
    return;
  qsort (layout->classes, layout->n_classes, sizeof *layout->classes, compare_classes);
  for (guint32 k = 0; k < layout->n_kinds; k++)
    {
      guint32 *index = &layout->kind_class[k].class_index;

      for (guint32 c = 0; *index != QUOIT_NO_INDEX && c < layout->n_classes; c++)
        if (compare_classes (&layout->classes[c], &before[*index]) == 0)
          {
            *index = c;
            break;
          }
    }
}

void
quoit_layout_classify_kinds (QuoitLayout *layout)
{
  g_autoptr (GArray) classes = g_array_new (FALSE, TRUE, sizeof (QuoitClass));

  layout->n_kinds = quoit_claims_n_kinds (layout->kinds);
  layout->kind_class = g_new0 (QuoitKindClass, layout->n_kinds + 1);
  for (guint32 i = 0; i < layout->n_kinds; i++)
    {
      layout->kind_class[i] = classify (classes, quoit_claims_kind_at (layout->kinds, i));
      layout->kind_class[i].head = head_resource (layout, quoit_claims_kind_at (layout->kinds, i));
    }
  layout->n_classes = classes->len;
  layout->classes = (QuoitClass *) g_array_free (g_steal_pointer (&classes), FALSE);
  sort_classes (layout);
}

guint32
quoit_layout_kind_with_labels (QuoitLayout *layout, guint32 kind, guint32 labels)
{
  const QuoitNodeKind *from = quoit_claims_kind_at (layout->kinds, labels);
  const QuoitNodeKind *to = quoit_claims_kind_at (layout->kinds, kind);
  QuoitNodeKind with = *to;
  g_autofree QuoitPair *all = g_new (QuoitPair, (gsize) to->n_labels + from->n_labels + 1);
  guint32 n = 0, i = 0, j = 0;

  /* Merge; both lists are sorted by key. */
  while (i < to->n_labels || j < from->n_labels)
    {
      int order = i == to->n_labels ? 1 : j == from->n_labels ? -1 : strcmp (to->labels[i].key, from->labels[j].key);

      all[n++] = order <= 0 ? to->labels[i] : from->labels[j];
      i += order <= 0;
      j += order >= 0;
    }
  with.labels = all;
  with.n_labels = (guint16) MIN (n, G_MAXUINT16);
  return quoit_claims_intern_kind (layout->kinds, &with, NULL);
}
