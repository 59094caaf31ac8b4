/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes groups and other records, with their bundles and labels. */
#include "store/codec-private.h"

void
quoit_codec_put_bundle (QuoitEncoder *out, const QuoitBundle *bundle)
{
  quoit_bytes_put (out, bundle->chips);
  quoit_bytes_put (out, bundle->chip);
  quoit_bytes_put_signed (out, bundle->part.e4);
  quoit_bytes_put (out, bundle->n_takes);
  for (guint16 t = 0; t < bundle->n_takes; t++)
    {
      quoit_bytes_put_text (out, bundle->takes[t].resource);
      quoit_bytes_put_signed (out, bundle->takes[t].amount.e4);
    }
}

void
quoit_codec_get_bundle (QuoitDecoder *in, QuoitBundle *bundle, GPtrArray *allocations)
{
  QuoitTake *takes;
  guint16 n;

  bundle->chips = quoit_decoder_get (in);
  bundle->chip = (guint8) quoit_decoder_get_limited (in, 63);
  bundle->part.e4 = quoit_decoder_get_signed (in);
  n = quoit_decoder_get_count16 (in, MIN_TAKE_BYTES);
  takes = g_new0 (QuoitTake, n + 1u);
  g_ptr_array_add (allocations, takes);
  for (guint32 t = 0; t < n && !in->is_damaged; t++)
    {
      char *resource = quoit_decoder_get_required_text (in);

      g_ptr_array_add (allocations, resource);
      takes[t] = (QuoitTake) { resource, { quoit_decoder_get_signed (in) } };
    }
  bundle->n_takes = in->is_damaged ? 0 : n;
  bundle->takes = takes;
}

void
quoit_codec_put_labels (QuoitEncoder *out, const QuoitLabel *labels, guint n)
{
  quoit_bytes_put (out, n);
  for (guint i = 0; i < n; i++)
    {
      quoit_bytes_put_text (out, labels[i].key);
      quoit_bytes_put_text (out, labels[i].value);
    }
}

/* quoit_group_data_check() checks the labels. */
void
quoit_codec_get_labels (QuoitDecoder *in, QuoitGroupData *group, GPtrArray *allocations)
{
  guint32 n = quoit_decoder_get_count (in, MIN_PAIR_BYTES);
  QuoitLabel *labels;

  in->is_damaged |= n > QUOIT_MAX_LABELS;
  if (in->is_damaged || n == 0)
    return;
  labels = g_new0 (QuoitLabel, n);
  g_ptr_array_add (allocations, labels);
  for (guint32 i = 0; i < n; i++)
    {
      char *key = quoit_decoder_get_required_text (in), *value = quoit_decoder_get_required_text (in);

      g_ptr_array_add (allocations, key);
      g_ptr_array_add (allocations, value);
      labels[i] = (QuoitLabel) { key, value };
    }
  group->labels = labels;
  group->n_labels = (guint16) n;
}

void
quoit_codec_put_group (QuoitEncoder *out, const QuoitGroupData *group)
{
  quoit_bytes_put (out, group->id);
  quoit_bytes_put (out, group->state);
  quoit_bytes_put_signed (out, group->created_ms);
  quoit_bytes_put_signed (out, group->ended_ms);
  quoit_bytes_put_text (out, group->name);
  quoit_bytes_put_text (out, group->owner);
  quoit_bytes_put_text (out, group->key);
  quoit_bytes_put_text (out, group->request);
  quoit_bytes_put (out, group->n_slices);
  for (guint32 i = 0; i < group->n_slices; i++)
    quoit_bytes_put (out, group->slice_end[i]);
  quoit_bytes_put (out, group->n_nodes);
  for (guint32 i = 0; i < group->n_nodes; i++)
    quoit_bytes_put_signed (out, (gint64) group->node_ids[i] - (i == 0 ? 0 : group->node_ids[i - 1]));
  quoit_bytes_put (out, group->bundles != NULL);
  for (guint32 i = 0; group->bundles != NULL && i < group->n_nodes; i++)
    quoit_codec_put_bundle (out, &group->bundles[i]);
  quoit_bytes_put_signed (out, group->until_ms);
  quoit_bytes_put (out, group->kind);
  quoit_bytes_put (out, group->end);
  quoit_bytes_put_text (out, group->source);
  quoit_bytes_put_text (out, group->foreign_id);
  quoit_bytes_put_signed (out, group->expected_end_ms);
  quoit_bytes_put_signed (out, group->priority);
  quoit_codec_put_labels (out, group->labels, group->n_labels);
  quoit_bytes_put_text (out, group->reason);
  quoit_bytes_put_signed (out, group->begins_ms);
}

QuoitGroupData *
quoit_codec_get_group (QuoitDecoder *in)
{
  QuoitGroupData group = { 0 };
  g_autofree char *name = NULL, *owner = NULL, *key = NULL, *request = NULL, *source = NULL, *foreign_id = NULL;
  g_autofree char *reason = NULL;
  g_autofree guint32 *ends = NULL, *ids = NULL;
  g_autofree QuoitBundle *bundles = NULL;
  g_autoptr (GPtrArray) allocations = g_ptr_array_new_with_free_func (g_free);

  group.id = quoit_decoder_get (in);
  group.state = quoit_decoder_get_limited (in, QUOIT_GROUP_AHEAD);
  in->is_damaged |= group.state < QUOIT_GROUP_HELD;
  group.created_ms = quoit_decoder_get_signed (in);
  group.ended_ms = quoit_decoder_get_signed (in);
  group.name = name = quoit_decoder_get_required_text (in);
  group.owner = owner = quoit_decoder_get_required_text (in);
  group.key = key = quoit_decoder_get_required_text (in);
  group.request = request = quoit_decoder_get_required_text (in);
  group.n_slices = quoit_decoder_get_count (in, MIN_NUMBER_BYTES);
  group.slice_end = ends = g_new0 (guint32, group.n_slices + 1);
  for (guint32 i = 0; i < group.n_slices; i++)
    ends[i] = quoit_decoder_get_limited (in, G_MAXUINT32);
  group.n_nodes = quoit_decoder_get_count (in, MIN_NUMBER_BYTES);
  group.node_ids = ids = g_new0 (guint32, group.n_nodes + 1);
  for (guint32 i = 0; i < group.n_nodes; i++)
    ids[i] = quoit_decoder_get_id (in, i == 0 ? 0 : ids[i - 1]);
  if (quoit_decoder_get_limited (in, 1) == 1)
    {
      in->is_damaged |= group.n_nodes > (gsize) (in->end - in->at) / MIN_BUNDLE_BYTES;
      group.bundles = bundles = g_new0 (QuoitBundle, in->is_damaged ? 1 : group.n_nodes + 1);
      for (guint32 i = 0; i < group.n_nodes && !in->is_damaged; i++)
        quoit_codec_get_bundle (in, &bundles[i], allocations);
    }
  if (in->format >= 2)
    {
      group.until_ms = quoit_decoder_get_signed (in);
      group.kind = (guint8) quoit_decoder_get_limited (in, QUOIT_LAST_RECORD_KIND);
      group.end = (guint8) quoit_decoder_get_limited (in, QUOIT_END_SOURCE);
      group.source = source = quoit_decoder_get_required_text (in);
      group.foreign_id = foreign_id = quoit_decoder_get_required_text (in);
    }
  if (in->format >= 4)
    {
      gint64 priority;

      group.expected_end_ms = quoit_decoder_get_signed (in);
      priority = quoit_decoder_get_signed (in);
      in->is_damaged |= priority != (gint32) priority;
      group.priority = (gint32) priority;
      quoit_codec_get_labels (in, &group, allocations);
      group.reason = reason = quoit_decoder_get_required_text (in);
      group.begins_ms = quoit_decoder_get_signed (in);
    }
  in->is_damaged = in->is_damaged || !quoit_group_data_check (&group, NULL);
  return in->is_damaged ? NULL : quoit_group_data_new (&group);
}
