/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of the ledger on a fleet that is checked after each step. */
#pragma once

#include "suite.h"
#include "fixture.h"
#include "slice-request.h"
#include "ledger/ledger.h"

#define T0 G_GINT64_CONSTANT (1750000000000)
#define LOOP(tcase, test, table) tcase_add_loop_test (tcase, test, 0, (int) G_N_ELEMENTS (table))

/* @outcome may be NULL. */
static inline gboolean
change (QuoitFleet **fleet, const QuoitAction *action, gint64 now_ms, QuoitOutcome *outcome, GError **error)
{
  g_autoptr (QuoitEntry) entry = NULL;
  g_auto (QuoitOutcome) own = { 0 };

  outcome = outcome == NULL ? &own : outcome;
  if (!quoit_action_decide (*fleet, action, now_ms, &entry, outcome, error))
    {
      if (outcome->refusal.request != NULL && outcome->refusal.fleet == NULL)
        outcome->refusal.fleet = quoit_fleet_ref (*fleet);
      if (outcome->refusal.request != NULL)
        quoit_refusal_explain (&outcome->refusal, NULL, error);
      return FALSE;
    }
  if (entry != NULL)
    {
      ck_assert_uint_eq (entry->seq, (*fleet)->seq + 1);
      ck_assert (quoit_entry_apply (entry, fleet, error));
    }
  ck_assert (quoit_fleet_check (*fleet, error));
  return TRUE;
}

/* The id; 0: refused. */
static inline guint64
reserve_at (QuoitFleet **fleet, const QuoitRequest *request, gint64 now_ms, GError **error)
{
  g_auto (QuoitOutcome) outcome = { 0 };

  return change (fleet, &(QuoitAction) { QUOIT_ACTION_RESERVE, .request = request }, now_ms, &outcome, error)
             ? outcome.after->id
             : 0;
}

static inline guint64
reserve (QuoitFleet **fleet, const char *name, const char *key, guint32 n_slices, GError **error)
{
  g_autoptr (QuoitRequest) request = request_for (name, key, n_slices);

  return reserve_at (fleet, request, T0, error);
}

static inline gboolean
release (QuoitFleet **fleet, const char *text, GError **error)
{
  g_autofree char *name = NULL;
  QuoitGroupRef ref;

  return quoit_group_ref_parse (text, &ref, &name, error)
         && change (fleet, &(QuoitAction) { QUOIT_ACTION_RELEASE, .group = ref }, T0, NULL, error);
}

static inline gboolean
set_state (QuoitFleet **fleet, const char *node, QuoitVerb verb, QuoitNodeState state, GError **error)
{
  return change (fleet, &(QuoitAction) { QUOIT_ACTION_SET_STATES, .states = { &node, 1, verb, state } }, T0, NULL,
                 error);
}

static inline QuoitNodeState
state_of (const QuoitFleet *fleet, const char *name)
{
  QuoitNodeId node;

  ck_assert (quoit_layout_lookup_node (fleet->layout, name, &node, NULL));
  return quoit_fleet_node_state (fleet, node);
}

/* Slices a-0 ... of two nodes a-0-0, a-0-1. */
static inline QuoitFleet *
fleet_of (guint32 n_slices)
{
  return fixture_fleet (&(FixturePool) { "a", "2x4", "z", n_slices, QUOIT_GENERATION_V6E, 4 }, 1);
}

static inline guint32
n_free (const QuoitFleet *fleet)
{
  guint32 n = 0;

  for (guint32 s = 0; s < fleet->layout->n_slices; s++)
    n += quoit_fleet_slice_status (fleet, (QuoitSliceId) { s })->condition == QUOIT_CONDITION_FREE;
  return n;
}

/* One letter per node of two-host slices: '.' alive, 'd' draining, 'x' dead, 'b' external use, '-' absent; "ab|.."
 * are two slices. */
static inline QuoitClaims *
claims_of (const char *source, QuoitSourceKind kind, const char *drawn)
{
  g_autoptr (QuoitClaims) all = quoit_claims_new (source, kind);
  QuoitClaims *claims = quoit_claims_new (source, kind);
  const FixturePool pool = { "a", "2x4", "z", 8, QUOIT_GENERATION_V6E, 4 };
  const QuoitNodeClaim *nodes;
  guint32 n, at = 0;

  fixture_add_pool (all, &pool);
  nodes = quoit_claims_nodes (all, &n);
  for (const char *p = drawn; *p != '\0'; p++)
    {
      QuoitNodeClaim node;

      if (*p == '|')
        continue;
      node = nodes[at++];
      node.pool = quoit_claims_ensure_pool (claims, "a");
      node.kind = quoit_claims_intern_kind (claims, quoit_claims_kind_at (all, node.kind), NULL);
      node.state = *p == 'x' ? QUOIT_NODE_DEAD : *p == 'd' ? QUOIT_NODE_DRAINING : QUOIT_NODE_ALIVE;
      node.flags = *p == 'b' ? QUOIT_NODE_EXTERNAL : 0;
      if (*p != '-')
        quoit_claims_add (claims, &node);
    }
  return claims;
}
