/* SPDX-License-Identifier: Apache-2.0 */
/* The use of nodes that a source reports: its groups, and external use. */
#include "fleet/claims-private.h"

static QuoitBundleClaim
copy_bundle (QuoitClaims *claims, const QuoitBundleClaim *bundle)
{
  QuoitBundleClaim copy = { .node = bundle->node };

  g_assert (bundle->node == QUOIT_NOT_PLACED || bundle->node < claims->nodes->len);
  g_array_set_size (claims->resources, 0);
  for (guint16 i = 0; i < bundle->n_takes; i++)
    {
      QuoitResource resource = { quoit_claims_intern_text (claims, bundle->takes[i].name), bundle->takes[i].amount };

      if (resource.amount.e4 > 0)
        g_array_append_val (claims->resources, resource);
    }
  g_array_sort (claims->resources, quoit_resource_compare);
  copy.n_takes = (guint16) claims->resources->len;
  copy.takes = quoit_claims_alloc_copy (claims, claims->resources->data, copy.n_takes * sizeof *copy.takes);
  return copy;
}

void
quoit_claims_add_group (QuoitClaims *claims, const QuoitGroupClaim *group)
{
  QuoitGroupClaim copy = *group;
  QuoitBundleClaim *bundles = quoit_claims_alloc (claims, group->n_bundles * sizeof *bundles);

  for (guint32 i = 0; i < group->n_bundles; i++)
    bundles[i] = copy_bundle (claims, &group->bundles[i]);
  copy.bundles = bundles;
  copy.name = quoit_claims_intern_text (claims, group->name);
  copy.identity = quoit_claims_copy_text (claims, group->identity);
  copy.request = quoit_claims_intern_text (claims, group->request);
  g_array_append_val (claims->groups, copy);
}

const QuoitGroupClaim *
quoit_claims_groups (const QuoitClaims *claims, guint32 *n_groups)
{
  *n_groups = claims->groups->len;
  return (const QuoitGroupClaim *) (const void *) claims->groups->data;
}

void
quoit_claims_add_external (QuoitClaims *claims, const QuoitBundleClaim *use)
{
  QuoitBundleClaim copy = copy_bundle (claims, use);

  g_array_append_val (claims->external, copy);
}

const QuoitBundleClaim *
quoit_claims_external (const QuoitClaims *claims, guint32 *n)
{
  *n = claims->external->len;
  return (const QuoitBundleClaim *) (const void *) claims->external->data;
}

void
quoit_claims_add_reservation (QuoitClaims *claims, const QuoitReservationClaim *reservation)
{
  QuoitReservationClaim copy = *reservation;
  QuoitPair *labels = quoit_claims_alloc (claims, reservation->n_labels * sizeof *labels);
  const char **named = quoit_claims_alloc (claims, reservation->n_named * sizeof *named);

  for (guint i = 0; i < reservation->n_labels; i++)
    labels[i] = (QuoitPair) { quoit_claims_intern_text (claims, reservation->labels[i].key),
                              quoit_claims_intern_text (claims, reservation->labels[i].value) };
  for (guint i = 0; i < reservation->n_named; i++)
    named[i] = quoit_claims_copy_text (claims, reservation->named[i]);
  copy.labels = labels;
  copy.named = named;
  copy.name = quoit_claims_copy_text (claims, reservation->name);
  copy.owner = quoit_claims_intern_text (claims, reservation->owner);
  copy.pool = quoit_claims_intern_text (claims, reservation->pool);
  copy.zone = quoit_claims_intern_text (claims, reservation->zone);
  g_array_append_val (claims->reservations, copy);
}

const QuoitReservationClaim *
quoit_claims_reservations (const QuoitClaims *claims, guint32 *n)
{
  *n = claims->reservations->len;
  return (const QuoitReservationClaim *) (const void *) claims->reservations->data;
}

void
quoit_claims_set_scope (QuoitClaims *claims, guint scope)
{
  claims->scope = scope;
}

guint
quoit_claims_scope (const QuoitClaims *claims)
{
  return claims->scope;
}
