/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/ledger.h"

#include <string.h>

/* 2000-01-01 and 2200-01-01 UTC. */
#define FIRST_MS G_GINT64_CONSTANT (946684800000)
#define LAST_MS G_GINT64_CONSTANT (7258118400000)

gboolean
quoit_ledger_clock (const QuoitFleet *fleet, gint64 now_ms, gint64 *time_ms, GError **error)
{
  const char *guess = "";

  if (now_ms >= FIRST_MS && now_ms < LAST_MS)
    return *time_ms = MAX (now_ms, fleet->clock_ms), TRUE;

  if (now_ms >= FIRST_MS / 1000 && now_ms < LAST_MS / 1000)
    guess = "; this looks like seconds";
  else if (now_ms / 1000 >= FIRST_MS && now_ms / 1000 < LAST_MS)
    guess = "; this looks like microseconds";
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "clock '%" G_GINT64_FORMAT "': expected milliseconds since 1970 of the years 2000 to 2199%s",
                     now_ms, guess);
}

/* --- reserve --- */

static gboolean
same_request (const QuoitRequest *request, const char *canonical, const QuoitGroupData *group)
{
  return strcmp (group->name, request->name) == 0 && strcmp (group->request, canonical) == 0
         && strcmp (group->owner, request->owner == NULL ? "" : request->owner) == 0;
}

/* The group that the key names already. */
static gboolean
answer_retry (const QuoitRequest *request, const char *canonical, const QuoitGroupData *group, gpointer result,
              GError **error)
{
  if (!same_request (request, canonical, group))
    return quoit_fail (
        error, QUOIT_ERROR_CONFLICT,
        "key '%s' was used for another request: group '%s', %s, owner '%s'; use another key, or the same "
        "request",
        request->key, group->name, group->request, group->owner);
  *(QuoitGroupData **) result = quoit_group_data_ref (group);
  return TRUE;
}

static QuoitGroupData *
group_of_plan (const QuoitFleet *fleet, const QuoitRequest *request, const char *canonical, const QuoitPlan *plan,
               gint64 time_ms)
{
  QuoitGroupData facts = {
    .id = fleet->next_group_id,
    .since_ms = time_ms,
    .state = QUOIT_GROUP_RESERVED,
    .name = request->name,
    .owner = request->owner == NULL ? "" : request->owner,
    .key = request->key == NULL ? "" : request->key,
    .request = canonical,
  };

  return quoit_fleet_group_of_slices (fleet, &facts, plan->slices, plan->n);
}

static gboolean
names_are_sound (const QuoitRequest *request, GError **error)
{
  return quoit_name_check ("group name", request->name, error)
         && (request->key == NULL || quoit_name_check ("request key", request->key, error))
         && (request->owner == NULL || quoit_name_check ("owner", request->owner, error));
}

gboolean
quoit_ledger_reserve (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry, gpointer result,
                      GError **error)
{
  const QuoitRequest *request = input;
  g_autofree char *canonical = NULL;
  const QuoitGroupData *group;
  QuoitGroupData *made = NULL;
  QuoitPlan plan;
  gint64 time_ms = 0;

  if (!names_are_sound (request, error) || !quoit_request_complete (request, error)
      || !quoit_ledger_clock (fleet, now_ms, &time_ms, error))
    return FALSE;

  canonical = quoit_request_canonical (request);
  group = request->key == NULL ? NULL : quoit_fleet_find_key (fleet, request->key);
  if (group != NULL)
    return answer_retry (request, canonical, group, result, error);
  group = quoit_fleet_find_group (fleet, request->name);
  if (group != NULL)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                       "there is a group '%s' already: '%s@%" G_GUINT64_FORMAT "', %s; release it, or use another name",
                       request->name, group->name, group->id, group->request);

  quoit_plan_init (&plan);
  if (quoit_plan_slices (fleet, request, &plan, error))
    made = group_of_plan (fleet, request, canonical, &plan, time_ms);
  quoit_plan_clear (&plan);
  if (made == NULL)
    return FALSE;

  *entry = quoit_entry_new (fleet, QUOIT_VERB_RESERVE, time_ms);
  quoit_entry_add (*entry, (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_ADDED, .group = made });
  *(QuoitGroupData **) result = quoit_group_data_ref (made);
  return TRUE;
}

/* --- release --- */

gboolean
quoit_group_ref_parse (const char *text, QuoitGroupRef *ref, char **name, GError **error)
{
  const char *at = strrchr (text, '@');
  guint64 id = 0;

  if (*text == '\0' || at == text || (at != NULL && !g_ascii_string_to_unsigned (at + 1, 10, 1, G_MAXINT64, &id, NULL)))
    {
      g_autofree char *quoted = quoit_quote (text);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "group %s: expected NAME or NAME@ID, ID a number from 1", quoted);
    }
  *name = at == NULL ? g_strdup (text) : g_strndup (text, (gsize) (at - text));
  *ref = (QuoitGroupRef) { *name, id };
  return TRUE;
}

const QuoitGroupData *
quoit_ledger_lookup_group (const QuoitFleet *fleet, const QuoitGroupRef *ref, GError **error)
{
  const QuoitGroupData *group = quoit_fleet_find_group (fleet, ref->name);
  g_autofree char *quoted = NULL;

  if (group != NULL && (ref->id == 0 || ref->id == group->id))
    return group;
  quoted = quoit_quote (ref->name);
  if (group != NULL)
    return quoit_fail_null (error, QUOIT_ERROR_CONFLICT,
                            "group %s is '%s@%" G_GUINT64_FORMAT "' now, not '@%" G_GUINT64_FORMAT "'", quoted,
                            group->name, group->id, ref->id);
  for (guint32 slot = 0; ref->id != 0 && slot < fleet->n_slots; slot++)
    if ((group = quoit_fleet_group_at (fleet, slot)) != NULL && group->id == ref->id
        && group->state != QUOIT_GROUP_REMOVED)
      return quoit_fail_null (error, QUOIT_ERROR_CONFLICT,
                              "no group %s; id %" G_GUINT64_FORMAT " is that of group '%s'", quoted, ref->id,
                              group->name);
  if (ref->id != 0 && ref->id < fleet->next_group_id)
    return quoit_fail_null (error, QUOIT_ERROR_CONFLICT,
                            "group %s of id %" G_GUINT64_FORMAT " holds nothing any more: it was released", quoted,
                            ref->id);
  return quoit_fail_null (error, QUOIT_ERROR_NOT_FOUND, "no group %s", quoted);
}

gboolean
quoit_ledger_release (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry, gpointer result,
                      GError **error)
{
  const QuoitGroupData *group;
  gint64 time_ms = 0;

  if (!quoit_ledger_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  group = quoit_ledger_lookup_group (fleet, input, error);
  if (group == NULL)
    return FALSE;

  *entry = quoit_entry_new (fleet, QUOIT_VERB_RELEASE, time_ms);
  quoit_entry_add (*entry, (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_REMOVED,
                                           .group_id = group->id,
                                           .group_name = g_strdup (group->name) });
  if (result != NULL)
    *(QuoitGroupData **) result = quoit_group_data_ref (group);
  return TRUE;
}

QuoitGroupState
quoit_ledger_group_state (const QuoitFleet *fleet, const QuoitGroupData *group)
{
  const QuoitLayout *layout = fleet->layout;

  if (group->state != QUOIT_GROUP_RESERVED)
    return group->state;
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 id = group->node_ids[i], index = id < layout->n_ids ? layout->by_id[id] : QUOIT_NO_INDEX;

      if (index == QUOIT_NO_INDEX || quoit_fleet_node_state (fleet, (QuoitNodeId) { index }) == QUOIT_NODE_DEAD)
        return QUOIT_GROUP_RESCHEDULING;
    }
  return QUOIT_GROUP_RESERVED;
}

/* --- node states --- */

static gboolean
next_state (const QuoitStateChange *change, QuoitNodeState now, QuoitNodeState *next, GError **error)
{
  if (change->verb == QUOIT_VERB_SET_STATE)
    return *next = change->state, TRUE;
  if (now == QUOIT_NODE_DEAD)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "node '%s' is dead: only set-state can change that", change->node);
  *next = change->verb == QUOIT_VERB_DRAIN ? QUOIT_NODE_DRAINING : QUOIT_NODE_ALIVE;
  return TRUE;
}

gboolean
quoit_ledger_set_state (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry,
                        gpointer result, GError **error)
{
  const QuoitStateChange *change = input;
  QuoitNodeState now, next = QUOIT_NODE_ALIVE;
  QuoitNodeId node;
  gint64 time_ms = 0;

  if ((guint) change->state > QUOIT_NODE_DEAD)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "state '%d': expected alive, draining or dead", (int) change->state);
  if (!quoit_ledger_clock (fleet, now_ms, &time_ms, error)
      || !quoit_layout_lookup_node (fleet->layout, change->node, &node, error))
    return FALSE;
  now = quoit_fleet_node_state (fleet, node);
  if (!next_state (change, now, &next, error))
    return FALSE;
  if (next == now)
    return TRUE;

  *entry = quoit_entry_new (fleet, change->verb, time_ms);
  quoit_entry_add (
      *entry,
      (QuoitEffect) { .type = QUOIT_EFFECT_NODE_STATE, .node_id = fleet->layout->nodes[node.index].id, .state = next });
  return TRUE;
}
