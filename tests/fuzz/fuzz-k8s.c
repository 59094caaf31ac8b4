/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes node lists. The first byte chooses whether the rest is the text itself or texts for a generated list.
 * The result has at most one node per host of a slice, is the same each time, and every document about it is strict
 * JSON with the same names. */
#include "formats/formats.h"
#include "k8s-list.h"
#include "written.h"

/* Worker ids of a slice are distinct hosts of its grid; a node without a slice has none. */
static void
require_places (const QuoitClaims *claims)
{
  g_autoptr (GHashTable) places = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint32 n;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n);

  for (guint32 i = 0; i < n; i++)
    {
      const QuoitNodeClaim *node = &nodes[i];

      g_assert (node->name != NULL && node->pool < quoit_claims_n_pools (claims));
      g_assert (node->worker_id >= -1 && (node->slice != NULL || node->worker_id == -1));
      if (node->worker_id >= 0 && node->slice != NULL)
        g_assert (g_hash_table_add (places, g_strdup_printf ("%u/%s/%d", node->pool, node->slice, node->worker_id)));
    }
}

static void
require_warnings (const QuoitClaims *claims)
{
  for (const char *const *warning = quoit_claims_warnings (claims); *warning != NULL; warning++)
    g_assert (fuzz_can_be_shown (*warning));
}

static void
require_list (const char *text, gsize length)
{
  g_autoptr (GError) error = NULL, again = NULL;
  g_autoptr (QuoitClaims) claims = quoit_read_k8s_nodes (text, length, NULL, &error),
                          second = quoit_read_k8s_nodes (text, length, NULL, &again);
  g_autofree char *one = NULL, *two = NULL;
  g_autoptr (QuoitFleet) fleet = NULL;

  fuzz_require_error (claims != NULL, error);
  g_assert ((claims == NULL) == (second == NULL));
  if (claims == NULL)
    {
      g_assert (strcmp (error->message, again->message) == 0);
      return;
    }
  one = quoit_write_claims_json (claims);
  two = quoit_write_claims_json (second);
  g_assert (strcmp (one, two) == 0);
  require_places (claims);
  require_warnings (claims);
  fuzz_require_claims_written (claims);
  fleet = fuzz_fleet_of (claims);
  fuzz_require_fleet_written (fleet);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput in = fuzz_input (data, size);

  if (fuzz_byte (&in) % 2 == 0)
    require_list ((const char *) in.at, (gsize) (in.end - in.at));
  else
    {
      g_autofree char *list = fuzz_write_k8s_list (&in);

      require_list (list, strlen (list));
    }
  return 0;
}
