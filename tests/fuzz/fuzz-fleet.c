/* SPDX-License-Identifier: Apache-2.0 */
/* Fleet text: an error is set exactly if no fleet is returned, and it has a position; a fleet has the documented
 * names. */
#include <string.h>

#include "formats/formats.h"
#include "fuzz.h"

/* Thousands of nodes are legal but slow, and the relevant sizes here are those of the text. Whether a number after
 * 'x' is large, but not so large that it is refused. */
static gboolean
has_great_count (const guint8 *text, gsize size)
{
  for (gsize i = 0; i < size; i++)
    {
      gsize length = 0;

      while (text[i] == 'x' && i + 1 + length < size && g_ascii_isdigit (text[i + 1 + length]))
        length++;
      if (length >= 3 && length <= 7)
        return TRUE;
    }
  return FALSE;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitClaims) claims = NULL;
  const QuoitNodeClaim *nodes;
  guint32 n_nodes;

  if (has_great_count (data, size))
    return 0;

  claims = quoit_read_fleet_text ((const char *) data, size, NULL, &error);
  fuzz_require_error (claims != NULL, error);
  if (claims == NULL)
    {
      g_assert (g_str_has_prefix (error->message, "byte "));
      return 0;
    }
  nodes = quoit_claims_nodes (claims, &n_nodes);
  g_assert (n_nodes > 0);
  for (guint32 i = 0; i < n_nodes; i++)
    {
      const char *pool = quoit_claims_pool_at (claims, nodes[i].pool)->name;

      g_assert (g_str_has_prefix (nodes[i].slice, pool) && g_str_has_prefix (nodes[i].name, nodes[i].slice));
      g_assert (nodes[i].worker_id >= 0);
    }
  return 0;
}
