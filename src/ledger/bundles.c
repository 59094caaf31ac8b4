/* SPDX-License-Identifier: Apache-2.0 */
/* Divides the hosts of a group into bundles with a given amount of TPU: whole chips, or a fraction of one chip. */
#include "ledger/ledger.h"

#include "fleet/kind.h"

static QuoitBundle
make_bundle (guint32 i, QuoitAmount tpu, gint64 chip_e4, const QuoitTake *take)
{
  QuoitBundle bundle = { .n_takes = 1, .takes = take };

  if (tpu.e4 < chip_e4)
    {
      guint32 per_chip = (guint32) (chip_e4 / tpu.e4);

      bundle.chip = (guint8) (i / per_chip);
      bundle.part.e4 = QUOIT_AMOUNT_UNIT / per_chip;
    }
  else
    {
      guint chips = (guint) (tpu.e4 / chip_e4);
      guint64 mask = chips >= 64 ? G_MAXUINT64 : ((guint64) 1 << chips) - 1;

      bundle.chips = mask << (i * chips);
    }
  return bundle;
}

QuoitGroupData *
quoit_step_divide_hosts (const QuoitFleet *fleet, const QuoitGroupData *whole, QuoitAmount tpu, GError **error)
{
  const QuoitLayout *layout = fleet->layout;
  g_autoptr (GArray) bundles = g_array_new (FALSE, FALSE, sizeof (QuoitBundle));
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree guint32 *ends = g_new (guint32, whole->n_slices + 1);
  QuoitTake take = { "TPU", tpu };
  QuoitGroupData facts = quoit_group_data_copy_fields (whole);

  for (guint32 s = 0, i = 0; s < whole->n_slices; s++)
    {
      for (; i < whole->slice_end[s]; i++)
        {
          const QuoitNodeKind *kind
              = quoit_layout_node_kind (layout, (QuoitNodeId) { quoit_layout_find_id (layout, whole->node_ids[i]) });
          gint64 chip_e4 = quoit_node_kind_tpu_per_chip (kind).e4;
          guint32 n = quoit_node_kind_count_bundles (kind, tpu);

          if (n == 0)
            return quoit_node_kind_fail_to_divide (kind, tpu, error), NULL;
          for (guint32 b = 0; b < n; b++)
            {
              QuoitBundle bundle = make_bundle (b, tpu, chip_e4, &take);

              g_array_append_val (bundles, bundle);
              g_array_append_val (ids, whole->node_ids[i]);
            }
        }
      ends[s] = ids->len;
    }
  facts.n_nodes = ids->len;
  facts.node_ids = (const guint32 *) ids->data;
  facts.slice_end = ends;
  facts.bundles = (const QuoitBundle *) bundles->data;
  return quoit_group_data_new (&facts);
}

QuoitGroupData *
quoit_step_make_slice_group (const QuoitFleet *fleet, const QuoitGroupData *facts, const QuoitRequest *request,
                             const guint32 *slices, guint32 n_slices, GError **error)
{
  QuoitGroupData *whole = quoit_fleet_group_of_slices (fleet, facts, slices, n_slices), *divided;

  if (request->tpu_per_bundle.e4 == 0)
    return whole;
  divided = quoit_step_divide_hosts (fleet, whole, request->tpu_per_bundle, error);
  quoit_group_data_unref (whole);
  return divided;
}
