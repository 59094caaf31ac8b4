/* SPDX-License-Identifier: Apache-2.0 */
#include "store/image.h"

#include <string.h>

#include "base/sha256.h"
#include "store/codec.h"

/* The number of effects per part is a compromise between few parts and short ones. */
enum { GROUPS_PER_PART = 256, STATES_PER_PART = 65536 };

void
quoit_image_free (QuoitImage *image)
{
  if (image == NULL)
    return;
  g_ptr_array_unref (image->parts);
  g_free (image);
}

/* --- the checksum --- */

static void
hash_number (QuoitSha256 *sha, guint64 number)
{
  guint64 bytes = GUINT64_TO_BE (number);

  quoit_sha256_add (sha, &bytes, sizeof bytes);
}

/* Computes the checksum over all members but the chain. The length precedes the bytes of each part, so that different
 * images never hash the same bytes. */
static void
compute_hash (const QuoitImage *image, guint8 *hash)
{
  QuoitSha256 sha;

  quoit_sha256_init (&sha);
  hash_number (&sha, image->seq);
  hash_number (&sha, (guint64) image->time_ms);
  hash_number (&sha, image->next_group_id);
  hash_number (&sha, image->next_node_id);
  hash_number (&sha, (guint64) image->made_ms);
  hash_number (&sha, image->parts->len);
  for (guint i = 0; i < image->parts->len; i++)
    {
      gsize size;
      const guint8 *bytes = g_bytes_get_data (image->parts->pdata[i], &size);

      hash_number (&sha, size);
      quoit_sha256_add (&sha, bytes, size);
    }
  quoit_sha256_finish (&sha, hash);
}

/* --- writing --- */

static QuoitEntry *
new_part (void)
{
  static const QuoitFleet no_fleet = { .seq = 0 };

  return quoit_entry_new (&no_fleet, QUOIT_VERB_IMPORT, 0);
}

/* Adds *@part to the image if it has effects, and starts a new part. */
static void
close_part (QuoitImage *image, QuoitEntry **part)
{
  if ((*part)->n_effects > 0)
    g_ptr_array_add (image->parts, g_byte_array_free_to_bytes (quoit_codec_encode (*part)));
  quoit_entry_unref (*part);
  *part = new_part ();
}

static void
add_sources (QuoitImage *image, const QuoitLayout *layout)
{
  g_autoptr (QuoitEntry) part = new_part ();

  for (guint32 s = 0; s < layout->n_sources; s++)
    {
      guint32 *ids = NULL;
      QuoitClaims *claims = quoit_layout_dup_claims (layout, (QuoitSourceId) { s }, &ids);
      QuoitSourceUpdate *import = quoit_source_update_new (claims, ids, NULL, 0);

      quoit_entry_add (part, (QuoitEffect) { .type = QUOIT_EFFECT_IMPORT, .import = import });
      close_part (image, &part);
    }
}

static void
add_groups (QuoitImage *image, const QuoitFleet *fleet)
{
  g_autoptr (QuoitEntry) part = new_part ();
  g_autoptr (GPtrArray) groups = g_ptr_array_new ();

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    if (quoit_fleet_group_at (fleet, slot) != NULL)
      g_ptr_array_add (groups, (gpointer) quoit_fleet_group_at (fleet, slot));
  g_ptr_array_sort (groups, quoit_group_by_id);
  for (guint i = 0; i < groups->len; i++)
    {
      QuoitGroupData *group = quoit_group_data_ref (groups->pdata[i]);

      quoit_entry_add (part, (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_ADDED, .group = group });
      if (part->n_effects == GROUPS_PER_PART)
        close_part (image, &part);
    }
  close_part (image, &part);
}

/* Adds the ledger's own numbers, unless they are the initial ones. */
static void
add_numbers (QuoitImage *image, const QuoitFleet *fleet)
{
  g_autoptr (QuoitEntry) part = new_part ();

  if (fleet->epoch != 0 || fleet->max_jump_ms != 0 || fleet->keep_ms != 0)
    quoit_entry_add (part, quoit_effect_numbers (fleet));
  close_part (image, &part);
}

/* Adds nodes whose state differs from the state that their source claims. */
static void
add_states (QuoitImage *image, const QuoitFleet *fleet)
{
  g_autoptr (QuoitEntry) part = new_part ();
  const QuoitLayout *layout = fleet->layout;

  for (guint32 i = 0; i < layout->n_nodes; i++)
    {
      QuoitNodeState state = quoit_fleet_node_state (fleet, (QuoitNodeId) { i });

      if (state == quoit_layout_claimed_state (layout, (QuoitNodeId) { i }))
        continue;
      quoit_entry_add (
          part, (QuoitEffect) { .type = QUOIT_EFFECT_NODE_STATE, .node_id = layout->nodes[i].id, .state = state });
      if (part->n_effects == STATES_PER_PART)
        close_part (image, &part);
    }
  close_part (image, &part);
}

QuoitImage *
quoit_image_new (const QuoitFleet *fleet, gint64 made_ms)
{
  QuoitImage *image = g_new0 (QuoitImage, 1);

  image->seq = fleet->seq;
  image->time_ms = fleet->clock_ms;
  image->next_group_id = fleet->next_group_id;
  image->next_node_id = fleet->next_node_id;
  image->made_ms = made_ms;
  image->parts = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  add_sources (image, fleet->layout);
  add_groups (image, fleet);
  add_states (image, fleet);
  add_numbers (image, fleet);
  compute_hash (image, image->hash);
  return image;
}

/* --- reading --- */

static gboolean
fail_damaged (const QuoitImage *image, const char *what, GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                     "the checkpoint at entry %" G_GUINT64_FORMAT " is damaged: %s; restore a backup", image->seq,
                     what);
}

/* Lays out all sources at once. Applying the imports one by one would lay out the whole fleet once per source. */
static QuoitFleet *
build_fleet (const QuoitImage *image, const GPtrArray *imports, GError **error)
{
  g_autofree QuoitLayoutPart *parts = g_new (QuoitLayoutPart, imports->len + 1);
  g_autoptr (QuoitLayout) layout = NULL;
  g_autoptr (GError) contradiction = NULL;

  for (guint i = 0; i < imports->len; i++)
    {
      const QuoitEntry *part = imports->pdata[i];
      const QuoitSourceUpdate *import = part->effects[0].import;

      if (part->n_effects != 1)
        return fail_damaged (image, "it has several sources in one part", error), NULL;
      parts[i] = (QuoitLayoutPart) { import->claims, import->ids };
    }
  layout = quoit_layout_new_checked (parts, imports->len, &contradiction);
  if (layout == NULL)
    return fail_damaged (image, contradiction->message, error), NULL;
  if (layout->end_id > MAX (image->next_node_id, 1))
    return fail_damaged (image, "it has a node id that was never issued", error), NULL;
  return quoit_fleet_new (layout);
}

/* Restores the groups of a part. They may use nodes that a source reports as used: a group that was reserved before the
 * source reported its nodes as used comes after the external use in the image. */
static gboolean
restore_groups (const QuoitImage *image, const QuoitEntry *part, QuoitFleet *fleet, GError **error)
{
  g_autoptr (GPtrArray) groups = g_ptr_array_new ();
  g_autoptr (GError) contradiction = NULL;
  guint64 next_id = fleet->next_group_id;

  for (guint i = 0; i < part->n_effects; i++)
    {
      const QuoitEffect *effect = &part->effects[i];

      if (effect->type != QUOIT_EFFECT_GROUP_ADDED || effect->group->id < next_id)
        return fail_damaged (image, "its groups are not sorted by id", error);
      next_id = effect->group->id + 1;
      g_ptr_array_add (groups, effect->group);
    }
  return quoit_fleet_restore_groups (fleet, groups, &contradiction)
         || fail_damaged (image, contradiction->message, error);
}

static QuoitEntry *
decode_part (const QuoitImage *image, guint i, const QuoitFleet *fleet, GError **error)
{
  gsize length;
  const guint8 *bytes = g_bytes_get_data (image->parts->pdata[i], &length);
  QuoitEntry *part = quoit_codec_decode (fleet == NULL ? 1 : fleet->seq + 1, image->time_ms, QUOIT_VERB_IMPORT, NULL,
                                         bytes, length, error);

  if (part == NULL)
    g_prefix_error (error, "the checkpoint at entry %" G_GUINT64_FORMAT ", part %u: ", image->seq, i + 1);
  return part;
}

static gboolean
has_source (const QuoitEntry *part)
{
  for (guint i = 0; i < part->n_effects; i++)
    if (part->effects[i].type == QUOIT_EFFECT_IMPORT)
      return TRUE;
  return FALSE;
}

/* Decodes all parts. The parts with sources must come first, because an import in a later part would rebuild the
 * layout. Parts with groups are restored together; parts with other effects are applied like entries. */
static QuoitFleet *
decode_fleet (const QuoitImage *image, GError **error)
{
  g_autoptr (GPtrArray) imports = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref);
  g_autoptr (QuoitFleet) fleet = NULL;
  guint i;

  for (i = 0; i < image->parts->len; i++)
    {
      g_autoptr (QuoitEntry) part = decode_part (image, i, NULL, error);

      if (part == NULL)
        return NULL;
      if (part->effects[0].type != QUOIT_EFFECT_IMPORT)
        break;
      g_ptr_array_add (imports, g_steal_pointer (&part));
    }
  fleet = build_fleet (image, imports, error);
  if (fleet == NULL)
    return NULL;
  for (; i < image->parts->len; i++)
    {
      g_autoptr (QuoitEntry) part = decode_part (image, i, fleet, error);

      if (part != NULL && has_source (part))
        return fail_damaged (image, "its sources are not in its first parts", error), NULL;
      if (part == NULL
          || !(part->effects[0].type == QUOIT_EFFECT_GROUP_ADDED ? restore_groups (image, part, fleet, error)
                                                                 : quoit_entry_apply (part, &fleet, error)))
        return NULL;
    }
  return g_steal_pointer (&fleet);
}

QuoitFleet *
quoit_image_fleet (const QuoitImage *image, GError **error)
{
  guint8 hash[QUOIT_IMAGE_HASH_BYTES];
  g_autoptr (QuoitFleet) fleet = NULL;

  compute_hash (image, hash);
  if (memcmp (hash, image->hash, sizeof hash) != 0)
    return fail_damaged (image, "its checksum does not match its bytes", error), NULL;
  fleet = decode_fleet (image, error);
  if (fleet == NULL)
    return NULL;
  if (fleet->next_group_id > image->next_group_id || fleet->next_node_id > image->next_node_id)
    return fail_damaged (image, "it has ids that were never issued", error), NULL;
  fleet->seq = image->seq;
  fleet->clock_ms = image->time_ms;
  fleet->next_group_id = image->next_group_id;
  fleet->next_node_id = image->next_node_id;
  return g_steal_pointer (&fleet);
}
