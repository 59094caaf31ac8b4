/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/request.h>

#include "placement/request.h"

QuoitRequest *
quoit_request_new (const char *name, GError **error)
{
  QuoitRequest *request;

  g_return_val_if_fail (name != NULL, NULL);

  if (!quoit_name_check ("group name", name, error))
    return NULL;
  request = quoit_request_alloc ();
  request->name = g_strdup (name);
  return request;
}

QuoitRequest *
quoit_request_copy (const QuoitRequest *request, const char *name, GError **error)
{
  g_return_val_if_fail (request != NULL && name != NULL, NULL);

  return quoit_name_check ("group name", name, error) ? quoit_request_dup (request, name) : NULL;
}

bool
quoit_request_set_accelerator (QuoitRequest *request, const char *accelerator, GError **error)
{
  g_return_val_if_fail (request != NULL && accelerator != NULL, false);

  return quoit_generation_parse (accelerator, &request->generation, error);
}

bool
quoit_request_set_topology (QuoitRequest *request, const char *topology, GError **error)
{
  g_return_val_if_fail (request != NULL && topology != NULL, false);

  return quoit_shape_parse (topology, &request->shape, error);
}

bool
quoit_request_set_slices (QuoitRequest *request, int64_t n_slices, GError **error)
{
  g_return_val_if_fail (request != NULL, false);

  if (n_slices < 1 || n_slices > QUOIT_MAX_SLICES)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "slices '%" G_GINT64_FORMAT "': expected 1 to %d", (gint64) n_slices,
                       QUOIT_MAX_SLICES);
  request->n_slices = (guint32) n_slices;
  request->min_slices = 0;
  return true;
}

bool
quoit_request_set_slice_range (QuoitRequest *request, int64_t least, int64_t most, GError **error)
{
  g_return_val_if_fail (request != NULL, false);

  if (least < 1 || least > most || most > QUOIT_MAX_SLICES)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "slices '%" G_GINT64_FORMAT "..%" G_GINT64_FORMAT
                       "': expected 1 to %d, the smaller number first",
                       (gint64) least, (gint64) most, QUOIT_MAX_SLICES);
  request->n_slices = (guint32) most;
  request->min_slices = least == most ? 0 : (guint32) least;
  return true;
}

bool
quoit_request_set_lease_ms (QuoitRequest *request, int64_t lease_ms, GError **error)
{
  g_return_val_if_fail (request != NULL, false);

  if (lease_ms < 1)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "lease '%" G_GINT64_FORMAT "' ms: expected 1 ms or more",
                       (gint64) lease_ms);
  request->lease_ms = lease_ms;
  quoit_request_share_parts (request);
  return true;
}

bool
quoit_request_set_expected_runtime_ms (QuoitRequest *request, int64_t runtime_ms, GError **error)
{
  g_return_val_if_fail (request != NULL, false);

  if (runtime_ms < 1)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "expected run time '%" G_GINT64_FORMAT "' ms: expected 1 ms or more",
                       (gint64) runtime_ms);
  request->expected_runtime_ms = runtime_ms;
  quoit_request_share_parts (request);
  return true;
}

void
quoit_request_set_priority (QuoitRequest *request, int32_t priority)
{
  g_return_if_fail (request != NULL);

  request->priority = priority;
  quoit_request_share_parts (request);
}

bool
quoit_request_set_label (QuoitRequest *request, const char *key, const char *value, GError **error)
{
  g_return_val_if_fail (request != NULL && key != NULL, false);

  if (request->labels == NULL)
    request->labels = quoit_labels_new (NULL, 0);
  quoit_request_share_parts (request);
  return quoit_labels_set (request->labels, key, value, QUOIT_MAX_LABELS, error);
}

bool
quoit_request_set_tpu_per_bundle (QuoitRequest *request, const char *amount, GError **error)
{
  QuoitAmount parsed;

  g_return_val_if_fail (request != NULL && amount != NULL, false);

  if (!quoit_amount_parse (amount, &parsed, error))
    return g_prefix_error (error, "TPU per bundle: "), false;
  if (parsed.e4 == 0)
    {
      g_autofree char *quoted = quoit_quote (amount);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "TPU per bundle %s: expected more than 0", quoted);
    }
  request->tpu_per_bundle = parsed;
  return true;
}

bool
quoit_request_set_chips_per_host (QuoitRequest *request, int64_t n_chips, GError **error)
{
  g_return_val_if_fail (request != NULL, false);

  if (n_chips != 0 && n_chips != 1 && n_chips != 2 && n_chips != 4 && n_chips != 8)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "chips per host '%" G_GINT64_FORMAT "': expected 1, 2, 4 or 8",
                       (gint64) n_chips);
  request->chips_per_host = (guint32) n_chips;
  return true;
}

bool
quoit_request_set_key (QuoitRequest *request, const char *key, GError **error)
{
  g_return_val_if_fail (request != NULL, false);

  if (key != NULL && !quoit_name_check ("request key", key, error))
    return false;
  quoit_request_replace_text (&request->key, key);
  quoit_request_share_parts (request);
  return true;
}

bool
quoit_request_set_owner (QuoitRequest *request, const char *owner, GError **error)
{
  g_return_val_if_fail (request != NULL, false);

  if (owner != NULL && !quoit_name_check ("owner", owner, error))
    return false;
  quoit_request_replace_text (&request->owner, owner);
  quoit_request_share_parts (request);
  return true;
}

void
quoit_request_set_pool (QuoitRequest *request, const char *pool)
{
  g_return_if_fail (request != NULL);

  quoit_request_replace_text (&request->pool, pool);
}

void
quoit_request_set_zone (QuoitRequest *request, const char *zone)
{
  g_return_if_fail (request != NULL);

  quoit_request_replace_text (&request->zone, zone);
}

bool
quoit_request_add_selector (QuoitRequest *request, const char *key, const char *value, GError **error)
{
  QuoitSelector *selector;

  g_return_val_if_fail (request != NULL && key != NULL && value != NULL, false);

  selector = quoit_selector_new (key, value, error);
  if (selector != NULL)
    g_ptr_array_add (request->selectors, selector);
  return selector != NULL;
}

void
quoit_request_add_slice (QuoitRequest *request, const char *slice)
{
  g_return_if_fail (request != NULL && slice != NULL);

  quoit_request_add_slice_name (request, request->slices, slice);
}

void
quoit_request_exclude_slice (QuoitRequest *request, const char *slice)
{
  g_return_if_fail (request != NULL && slice != NULL);

  quoit_request_add_slice_name (request, request->excluded, slice);
}

void
quoit_request_exclude_node (QuoitRequest *request, const char *node)
{
  g_return_if_fail (request != NULL && node != NULL);

  quoit_request_add_slice_name (request, request->excluded_nodes, node);
}

bool
quoit_request_set_cut (QuoitRequest *request, QuoitCut cut, GError **error)
{
  g_return_val_if_fail (request != NULL, false);

  if ((guint) cut > QUOIT_CUT_PARTITION)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "cut '%d': expected a value of QuoitCut, 0 to %d", (int) cut,
                       QUOIT_CUT_PARTITION);
  request->cut = cut;
  return true;
}

bool
quoit_request_set_cubes (QuoitRequest *request, QuoitCubes cubes, GError **error)
{
  g_return_val_if_fail (request != NULL, false);

  if ((guint) cubes > QUOIT_CUBES_ADJACENT)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "cubes '%d': expected a value of QuoitCubes, 0 to %d", (int) cubes,
                       QUOIT_CUBES_ADJACENT);
  request->cubes = cubes;
  return true;
}

bool
quoit_request_set_place (QuoitRequest *request, QuoitPlacePolicy place, GError **error)
{
  g_return_val_if_fail (request != NULL, false);

  if ((guint) place > QUOIT_PLACE_SPREAD)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "place '%d': expected a value of QuoitPlacePolicy, 0 to %d",
                       (int) place, QUOIT_PLACE_SPREAD);
  request->place = place;
  return true;
}

bool
quoit_request_keep_to (QuoitRequest *request, QuoitDomain domain, GError **error)
{
  g_return_val_if_fail (request != NULL, false);

  return quoit_request_set_keep_to (request, domain, error);
}

bool
quoit_request_spread_over (QuoitRequest *request, QuoitDomain domain, int64_t max_skew, int64_t min_domains,
                           GError **error)
{
  g_return_val_if_fail (request != NULL, false);

  return quoit_request_set_spread (request, domain, max_skew, min_domains, error);
}

bool
quoit_request_set_near (QuoitRequest *request, const char *group, GError **error)
{
  g_return_val_if_fail (request != NULL, false);

  return quoit_request_set_near_group (request, group, error);
}

bool
quoit_request_add_alternative (QuoitRequest *request, const QuoitRequest *alternative, GError **error)
{
  g_return_val_if_fail (request != NULL && alternative != NULL, false);

  return quoit_request_add_alternative_copy (request, alternative, error);
}
