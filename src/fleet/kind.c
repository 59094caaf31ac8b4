/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/kind.h"

#include <string.h>

gboolean
quoit_pairs_equal (const QuoitPair *a, guint n_a, const QuoitPair *b, guint n_b)
{
  if (n_a != n_b)
    return FALSE;
  for (guint i = 0; i < n_a; i++)
    if (strcmp (a[i].key, b[i].key) != 0 || strcmp (a[i].value, b[i].value) != 0)
      return FALSE;
  return TRUE;
}

gboolean
quoit_node_kind_same_machine (const QuoitNodeKind *a, const QuoitNodeKind *b)
{
  return a->generation == b->generation && quoit_shape_equal (a->shape, b->shape) && a->chips == b->chips
         && g_strcmp0 (a->topology, b->topology) == 0 && g_strcmp0 (a->pod_type, b->pod_type) == 0;
}

gboolean
quoit_node_kind_equal (const QuoitNodeKind *a, const QuoitNodeKind *b)
{
  if (!quoit_node_kind_same_machine (a, b) || !quoit_pairs_equal (a->labels, a->n_labels, b->labels, b->n_labels)
      || a->n_resources != b->n_resources)
    return FALSE;
  for (guint16 i = 0; i < a->n_resources; i++)
    if (strcmp (a->resources[i].name, b->resources[i].name) != 0
        || a->resources[i].amount.e4 != b->resources[i].amount.e4)
      return FALSE;
  return TRUE;
}

gboolean
quoit_node_kind_is_bare (const QuoitNodeKind *kind)
{
  return kind->chips == 0 || kind->n_resources == 0
         || (kind->n_resources == 1 && strcmp (kind->resources[0].name, "TPU") == 0);
}

QuoitAmount
quoit_node_kind_tpu_per_chip (const QuoitNodeKind *kind)
{
  for (guint16 r = 0; r < kind->n_resources && kind->chips > 0; r++)
    if (strcmp (kind->resources[r].name, "TPU") == 0)
      return (QuoitAmount) { kind->resources[r].amount.e4 / kind->chips };
  return (QuoitAmount) { QUOIT_AMOUNT_UNIT };
}

guint32
quoit_node_kind_count_bundles (const QuoitNodeKind *kind, QuoitAmount tpu)
{
  gint64 chip_e4 = quoit_node_kind_tpu_per_chip (kind).e4;

  if (chip_e4 <= 0 || kind->chips == 0 || kind->chips > 64)
    return 0;
  if (tpu.e4 < chip_e4)
    return chip_e4 % tpu.e4 == 0 && QUOIT_AMOUNT_UNIT % (chip_e4 / tpu.e4) == 0
               ? (guint32) (kind->chips * (chip_e4 / tpu.e4))
               : 0;
  return tpu.e4 % chip_e4 == 0 && kind->chips % (tpu.e4 / chip_e4) == 0 ? (guint32) (kind->chips / (tpu.e4 / chip_e4))
                                                                        : 0;
}

gboolean
quoit_node_kind_fail_to_divide (const QuoitNodeKind *kind, QuoitAmount tpu, GError **error)
{
  gint64 chip_e4 = quoit_node_kind_tpu_per_chip (kind).e4;
  g_autofree char *want = quoit_amount_format (tpu);
  g_autofree char *chip = quoit_amount_format ((QuoitAmount) { chip_e4 });
  g_autofree char *host = quoit_amount_format ((QuoitAmount) { chip_e4 * kind->chips });

  return quoit_fail (
      error, QUOIT_ERROR_INVALID,
      "TPU per bundle '%s': expected a part of a chip's %s that divides it, or whole chips that divide a "
      "host's %s",
      want, chip, host);
}

const char *
quoit_node_kind_label (const QuoitNodeKind *kind, const char *key)
{
  for (guint16 i = 0; i < kind->n_labels; i++)
    if (strcmp (kind->labels[i].key, key) == 0)
      return kind->labels[i].value;
  return NULL;
}
