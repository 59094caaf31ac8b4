/* SPDX-License-Identifier: Apache-2.0 */
/* How the slices of a request may be cut from larger ones. */
#include <string.h>

#include "placement/request.h"

static const char *const names[] = { [QUOIT_CUT_WHOLE] = "whole",
                                     [QUOIT_CUT_ALIGNED] = "aligned",
                                     [QUOIT_CUT_ANY] = "any",
                                     [QUOIT_CUT_ANY_OR_WRAPPED] = "any-or-wrapped",
                                     [QUOIT_CUT_PARTITION] = "partition" };

const char *
quoit_cut_name (QuoitCut cut)
{
  return names[cut];
}

gboolean
quoit_cut_find (const char *name, QuoitCut *cut)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i], name) == 0)
      return *cut = (QuoitCut) i, TRUE;
  return FALSE;
}

static const char *const place_names[] = { [QUOIT_PLACE_BEST] = "best",
                                           [QUOIT_PLACE_FIRST] = "first",
                                           [QUOIT_PLACE_PACK] = "pack",
                                           [QUOIT_PLACE_SPREAD] = "spread" };

const char *
quoit_place_policy_name (QuoitPlacePolicy place)
{
  return place_names[place];
}

gboolean
quoit_place_policy_find (const char *name, QuoitPlacePolicy *place)
{
  for (guint i = 0; i < G_N_ELEMENTS (place_names); i++)
    if (strcmp (place_names[i], name) == 0)
      return *place = (QuoitPlacePolicy) i, TRUE;
  return FALSE;
}

/* GKE's partitions exist in cubes, and tpu7x has no other parts (gke-kuberay-jax 9). */
static gboolean
check_generation (const QuoitRequest *request, GError **error)
{
  const QuoitGenerationFacts *facts = quoit_generation_facts (request->generation);
  const gboolean is_partition = request->cut == QUOIT_CUT_PARTITION;

  if (facts == NULL)
    return TRUE;
  if (is_partition && facts->ocs_cube.n_dims == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "cut 'partition': expected a generation with cubes, %s has none",
                       quoit_generation_name (request->generation));
  if (!is_partition && request->generation == QUOIT_GENERATION_TPU7X)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "cut '%s': expected 'partition' or 'whole' for tpu7x, which has no other parts",
                       quoit_cut_name (request->cut));
  return TRUE;
}

gboolean
quoit_request_check_cut (const QuoitRequest *request, GError **error)
{
  const char *name = quoit_cut_name (request->cut);

  if (request->bundles->len > 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "cut '%s': expected a request for slices, not for bundles", name);
  if (request->tpu_per_bundle.e4 != 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "cut '%s' and TPU per bundle: expected one of them; a part has whole hosts", name);
  if (request->keep_to != QUOIT_DOMAIN_NONE || request->spread_over != QUOIT_DOMAIN_NONE || request->near != NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "cut '%s' with domains or near a group: expected neither; name a pool or zone instead", name);
  return check_generation (request, error);
}
