/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/models/systems.h>
#include <quoit/request.h>

#include "models/ray/label-syntax.h"
#include "placement/request.h"

/* Ray receives the amounts of bundles and of nodes as doubles and truncates them: 0.57 becomes 0.5699. */
static void
truncate_like_ray (GArray *takes)
{
  for (guint t = 0; t < takes->len; t++)
    {
      QuoitAmount *amount = &g_array_index (takes, QuoitTake, t).amount, counted;

      if (quoit_amount_from_double ((double) amount->e4 / QUOIT_AMOUNT_UNIT, &counted, NULL) && counted.e4 > 0)
        *amount = counted;
    }
}

bool
quoit_request_add_bundles (QuoitRequest *request, const char *amounts, int64_t n_bundles, GError **error)
{
  g_autoptr (GArray) takes = NULL;
  const char *at = amounts;
  guint32 bundle;

  g_return_val_if_fail (request != NULL && amounts != NULL, false);

  bundle = request->bundles->len;
  takes = quoit_request_read_takes (request, bundle, &at, error);
  if (takes == NULL)
    return false;
  if (*at != '\0')
    {
      g_autofree char *quoted = quoit_quote (at);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "bundle %u: %s after an amount: expected ',' or the end", bundle,
                         quoted);
    }
  truncate_like_ray (takes);
  return quoit_request_add_takes (request, takes, n_bundles, error);
}

bool
quoit_request_select_bundle (QuoitRequest *request, uint32_t bundle, const char *key, const char *value, GError **error)
{
  g_return_val_if_fail (request != NULL && key != NULL && value != NULL, false);

  if (bundle >= request->bundles->len)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "bundle '%u': expected the index of one that was added, below %u",
                       bundle, request->bundles->len);
  return quoit_request_select (request, bundle, key, value, error);
}

bool
quoit_request_set_strategy (QuoitRequest *request, QuoitStrategy strategy, GError **error)
{
  g_return_val_if_fail (request != NULL, false);

  if (!quoit_strategy_check (strategy, error))
    return false;
  request->strategy = strategy;
  request->has_strategy = TRUE;
  return true;
}

bool
quoit_request_set_policy (QuoitRequest *request, QuoitPolicy policy, GError **error)
{
  g_return_val_if_fail (request != NULL, false);

  if (policy != QUOIT_POLICY_BEST && policy != QUOIT_POLICY_RAY)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "policy '%d': expected best or ray", (int) policy);
  request->policy = policy;
  return true;
}

bool
quoit_request_set_topology_label (QuoitRequest *request, const char *key, int64_t n_values, GError **error)
{
  g_return_val_if_fail (request != NULL, false);

  if (key != NULL && !quoit_label_check_key (key, error))
    return g_prefix_error (error, "topology "), false;
  if (key != NULL && (n_values < 1 || n_values > QUOIT_MAX_BUNDLES))
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "topology label '%s' of '%" G_GINT64_FORMAT "' values: expected 1 to %d", key, (gint64) n_values,
                       QUOIT_MAX_BUNDLES);
  quoit_request_replace_text (&request->topology_label, key);
  request->n_topology_values = key == NULL ? 0 : (guint32) n_values;
  return true;
}

void
quoit_request_set_soft_target (QuoitRequest *request, const char *node)
{
  g_return_if_fail (request != NULL);

  quoit_request_replace_text (&request->soft_target, node);
}
