/* SPDX-License-Identifier: Apache-2.0 */
/* The groups of fleet text. They are reserved after the nodes of the same import, in the same entry, by the step that
 * reserves groups for callers, and belong to the ledger from then on. */
#include "ledger/difference.h"

#include <string.h>

/* An import whose groups are reserved. */
typedef struct {
  QuoitFleet *scratch; /* the fleet after the import, with the groups so far */
  gint64 now_ms, time_ms;
  QuoitVerb verb;
  QuoitEntry **entry;
  GArray *changes; /* of QuoitNodeChange */
} Reserving;

static QuoitRequest *
make_request (const QuoitReservationClaim *claim, gint64 time_ms, GError **error)
{
  g_autoptr (QuoitRequest) request = NULL;

  if (!quoit_name_check ("group name", claim->name, error)
      || (claim->owner != NULL && !quoit_name_check ("owner", claim->owner, error)))
    return NULL;
  if (claim->until_ms != 0 && claim->until_ms <= time_ms)
    {
      g_autofree char *until = quoit_time_format (claim->until_ms), *now = quoit_time_format (time_ms);

      quoit_fail (error, QUOIT_ERROR_INVALID, "until '%s': expected a time after %s", until, now);
      return NULL;
    }
  request = quoit_request_alloc ();
  quoit_request_replace_text (&request->name, claim->name);
  quoit_request_replace_text (&request->owner, claim->owner);
  quoit_request_replace_text (&request->pool, claim->pool);
  quoit_request_replace_text (&request->zone, claim->zone);
  request->generation = claim->generation;
  request->shape = claim->shape;
  request->chips_per_host = claim->chips_per_host;
  request->cubes = claim->cubes;
  request->n_slices = claim->n_slices;
  request->lease_ms = claim->until_ms == 0 ? 0 : claim->until_ms - time_ms;
  request->priority = claim->priority;
  request->labels = claim->n_labels == 0 ? NULL : quoit_labels_new (NULL, 0);
  for (guint i = 0; i < claim->n_labels; i++)
    if (!quoit_labels_set (request->labels, claim->labels[i].key, claim->labels[i].value, QUOIT_MAX_LABELS, error))
      return NULL;
  return g_steal_pointer (&request);
}

/* Fails with the reason of a refusal. */
static gboolean
fail_refusal (const Reserving *reserving, QuoitRefusal *refusal, GError **error)
{
  if (refusal->request == NULL)
    return FALSE;
  refusal->has_no_options = TRUE;
  if (refusal->fleet == NULL)
    refusal->fleet = quoit_fleet_ref (reserving->scratch);
  quoit_refusal_explain (refusal, NULL, error);
  return FALSE;
}

/* Lists the cubes that the claim names, in its order. */
static gboolean
choose_cubes (const Reserving *reserving, const QuoitReservationClaim *claim, QuoitPlan *plan, GError **error)
{
  for (guint32 i = 0; i < claim->n_named; i++)
    {
      QuoitSliceId slice = { 0 };

      if (!quoit_layout_lookup_slice (reserving->scratch->layout, claim->named[i], &slice, error))
        return FALSE;
      quoit_plan_append (plan, slice.index);
    }
  return TRUE;
}

/* Chooses the slices that the claim names. */
static gboolean
choose_named (const Reserving *reserving, const QuoitReservationClaim *claim, const QuoitRequest *request,
              QuoitPlan *plan, GError **error)
{
  g_autoptr (QuoitRequest) named = quoit_request_dup (request, request->name);
  g_auto (QuoitRefusal) refusal = { 0 };

  if (claim->cubes != QUOIT_CUBES_NONE)
    return choose_cubes (reserving, claim, plan, error);
  for (guint32 i = 0; i < claim->n_named; i++)
    quoit_request_add_slice_name (named, named->slices, claim->named[i]);
  return quoit_plan_slices (reserving->scratch, named, plan, &refusal, error)
         || fail_refusal (reserving, &refusal, error);
}

/* A live group of that name is refused by the step, whatever slices are named. */
static gboolean
reserve (const Reserving *reserving, const QuoitReservationClaim *claim, const QuoitRequest *request,
         QuoitEntry **entry, GError **error)
{
  g_auto (QuoitOutcome) outcome = { 0 };
  QuoitPlan plan;
  gboolean ok;

  quoit_plan_init (&plan);
  ok = claim->n_named == 0 || quoit_fleet_find_group (reserving->scratch, claim->name) != NULL
           ? quoit_step_reserve (reserving->scratch, request, reserving->now_ms, entry, &outcome, error)
           : choose_named (reserving, claim, request, &plan, error)
                 && quoit_step_reserve_alternative (reserving->scratch, request, 0, &plan, reserving->now_ms, entry,
                                                    &outcome, error);
  quoit_plan_clear (&plan);
  return ok || fail_refusal (reserving, &outcome.refusal, error);
}

/* Moves the effects of the reservation to the entry of the import. */
static void
take_effects (Reserving *reserving, QuoitEntry *from, const QuoitFleet *fleet)
{
  if (*reserving->entry == NULL)
    *reserving->entry = quoit_entry_new (fleet, reserving->verb, reserving->time_ms);
  for (guint i = 0; i < from->n_effects; i++)
    quoit_entry_add (*reserving->entry, from->effects[i]);
  from->n_effects = 0;
}

/* Whether the group of the claim lives already, so that importing the same text again changes nothing. */
static gboolean
is_reserved (const QuoitGroupData *group, const QuoitRequest *request)
{
  g_autofree char *text = group == NULL ? NULL : quoit_request_format_canonical (request);

  return group != NULL && strcmp (group->request, text) == 0
         && strcmp (group->owner, request->owner == NULL ? "" : request->owner) == 0;
}

static gboolean
reserve_claim (Reserving *reserving, const QuoitReservationClaim *claim, const QuoitFleet *fleet, GError **error)
{
  const QuoitGroupData *group = quoit_fleet_find_group (reserving->scratch, claim->name);
  g_autoptr (QuoitRequest) request = make_request (claim, reserving->time_ms, error);
  g_autoptr (QuoitEntry) entry = NULL;

  if (request == NULL)
    return FALSE;
  if (is_reserved (group, request))
    return TRUE;
  if (!reserve (reserving, claim, request, &entry, error))
    return FALSE;
  if (reserving->changes != NULL)
    {
      QuoitNodeChange change = { QUOIT_CHANGE_GROUP, g_strdup (claim->name), g_strdup ("reserved"), NULL };

      g_array_append_val (reserving->changes, change);
    }
  if (!quoit_entry_apply (entry, &reserving->scratch, error))
    return FALSE;
  take_effects (reserving, entry, fleet);
  return TRUE;
}

gboolean
quoit_step_import_reservations (const QuoitFleet *fleet, const QuoitReservationClaim *claims, guint32 n, QuoitVerb verb,
                                gint64 now_ms, QuoitEntry **entry, GArray *changes, GError **error)
{
  g_autoptr (QuoitFleet) scratch = n == 0 ? NULL : quoit_fleet_fork (fleet);
  Reserving reserving = { .now_ms = now_ms, .verb = verb, .entry = entry, .changes = changes };
  gboolean ok;

  if (n == 0)
    return TRUE;
  if (!quoit_step_clock (fleet, now_ms, &reserving.time_ms, error)
      || (*entry != NULL && !quoit_entry_apply (*entry, &scratch, error)))
    return FALSE;
  reserving.scratch = g_steal_pointer (&scratch);
  ok = TRUE;
  for (guint32 i = 0; ok && i < n; i++)
    {
      ok = reserve_claim (&reserving, &claims[i], fleet, error);
      if (!ok)
        g_prefix_error (error, "group '%s': ", claims[i].name);
    }
  quoit_fleet_unref (reserving.scratch);
  return ok;
}
