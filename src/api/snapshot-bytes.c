/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots as strings of bytes. */
#include "api/handles.h"
#include "store/entry-bytes.h"

uint8_t *
quoit_snapshot_dup_bytes (const QuoitSnapshot *snapshot, size_t *n_bytes)
{
  GByteArray *bytes;

  g_return_val_if_fail (snapshot != NULL && n_bytes != NULL, NULL);

  bytes = quoit_fleet_to_bytes (snapshot->fleet, snapshot->now_ms);
  *n_bytes = bytes->len;
  return g_byte_array_free (bytes, FALSE);
}

QuoitSnapshot *
quoit_snapshot_from_bytes (const uint8_t *bytes, size_t n_bytes, GError **error)
{
  QuoitSnapshot *snapshot;
  QuoitFleet *fleet;
  gint64 now_ms;

  g_return_val_if_fail (bytes != NULL, NULL);

  fleet = quoit_fleet_from_bytes (bytes, n_bytes, &now_ms, error);
  if (fleet == NULL)
    return NULL;
  snapshot = quoit_snapshot_new (fleet);
  snapshot->now_ms = now_ms;
  return snapshot;
}

char *
quoit_snapshot_dup_link (const QuoitSnapshot *snapshot)
{
  const QuoitJournalPosition *position;

  g_return_val_if_fail (snapshot != NULL, NULL);

  position = quoit_fleet_position (snapshot->fleet);
  return position == NULL ? g_strdup ("") : quoit_link_format (position->chain);
}
