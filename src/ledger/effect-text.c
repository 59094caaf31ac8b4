/* SPDX-License-Identifier: Apache-2.0 */
/* Describes effects in words, for people who read the journal. */
#include <string.h>

#include "base/time.h"
#include "fleet/ahead.h"
#include "fleet/names.h"
#include "fleet/quota.h"
#include "ledger/entry.h"

/* Returns "without a lease" or "until 2026-01-01T00:00:00.000Z". The caller owns the text. */
static char *
until_text (gint64 until_ms)
{
  g_autofree char *time = until_ms == 0 ? NULL : quoit_time_format (until_ms);

  return time == NULL ? g_strdup ("without a lease") : g_strconcat ("until ", time, NULL);
}

static guint32
count_placed (const QuoitGroupData *group)
{
  guint32 n = 0;

  for (guint32 i = 0; i < group->n_nodes; i++)
    n += group->node_ids[i] != 0;
  return n;
}

/* Describes a window, or a reservation that has not begun. The caller owns the text. */
static char *
ahead_text (const QuoitGroupData *group, const char *now)
{
  g_autofree char *from = quoit_time_format (group->begins_ms);
  g_autofree char *until = group->until_ms == 0 ? g_strdup ("") : until_text (group->until_ms);
  const char *space = group->until_ms == 0 ? "" : " ";

  switch (group->kind)
    {
    case QUOIT_RECORD_WINDOW:
      return g_strdup_printf ("window %s: nodes of %s are not available from %s%s%s",
                              quoit_window_record_window (group), group->request, from, space, until);
    case QUOIT_RECORD_BUNDLES:
      return g_strdup_printf ("%s@%" G_GUINT64_FORMAT " is%s to have %u bundles placed from %s%s%s: %s", group->name,
                              group->id, now, group->n_nodes, from, space, until, group->request);
    default: /* slices, or parts of them */
      return g_strdup_printf ("%s@%" G_GUINT64_FORMAT " is%s to hold %u slice%s from %s%s%s: %s", group->name,
                              group->id, now, group->n_slices, group->n_slices == 1 ? "" : "s", from, space, until,
                              group->request);
    }
}

/* Describes a group, an owner, external use, a window or a quota after the effect. @now is " now" if the effect changed
 * it, else
 * "". */
static char *
group_text (const QuoitGroupData *group, const char *now)
{
  g_autofree char *until = group->until_ms == 0 ? g_strdup ("") : until_text (group->until_ms);
  const char *counted
      = group->bundles == NULL || group->kind == QUOIT_RECORD_PARTS ? "node" : "bundle"; /* what n_nodes counts */

  if (quoit_group_is_ahead (group))
    return ahead_text (group, now);
  switch (group->kind)
    {
    case QUOIT_RECORD_OWNER:
      g_free (until);
      until = until_text (group->until_ms);
      return g_strdup_printf ("%s is registered, %s", group->name, until);
    case QUOIT_RECORD_QUOTA:
      return g_strdup_printf ("quota %s is set%s: %s", quoit_quota_record_quota (group), now, group->request);
    case QUOIT_RECORD_EXTERNAL:
      return g_strdup_printf ("%s: %u nodes are used without a group", group->name, count_placed (group));
    case QUOIT_RECORD_BUNDLES:
      return g_strdup_printf ("%s@%" G_GUINT64_FORMAT " has %u of %u bundles placed%s: %s", group->name, group->id,
                              count_placed (group), group->n_nodes, now, group->request);
    case QUOIT_RECORD_SLICES:
    case QUOIT_RECORD_PARTS:
    case QUOIT_RECORD_CUBES:
    default:
      return g_strdup_printf ("%s@%" G_GUINT64_FORMAT " holds %u %s%s of %u slice%s%s%s%s: %s", group->name, group->id,
                              group->n_nodes, counted, group->n_nodes == 1 ? "" : "s", group->n_slices,
                              group->n_slices == 1 ? "" : "s", now, group->until_ms == 0 ? "" : " ", until,
                              group->request);
    }
}

static const char *
end_text (QuoitEnd end)
{
  switch (end)
    {
    case QUOIT_END_EXPIRED:
      return ": its lease has ended";
    case QUOIT_END_OWNER:
      return ": its owner ended";
    case QUOIT_END_SOURCE:
      return ": its source no longer has it";
    case QUOIT_END_NONE:
    case QUOIT_END_RELEASED:
    default:
      return "";
    }
}

static char *
removal_text (const QuoitEffect *effect)
{
  g_autofree char *window_prefix = quoit_window_record_name (""), *quota_prefix = quoit_quota_record_name ("");

  if (g_str_has_prefix (effect->group_name, window_prefix))
    return g_strdup_printf ("window %s %s", effect->group_name + strlen (window_prefix),
                            effect->end == QUOIT_END_EXPIRED ? "has ended" : "is removed");
  if (g_str_has_prefix (effect->group_name, quota_prefix))
    return g_strdup_printf ("quota %s is removed", effect->group_name + strlen (quota_prefix));
  return g_strdup_printf ("%s@%" G_GUINT64_FORMAT " holds nothing any more%s%s%s", effect->group_name, effect->group_id,
                          end_text (effect->end), effect->reason == NULL ? "" : ": ",
                          effect->reason == NULL ? "" : effect->reason);
}

static char *
lease_text (const QuoitEffect *effect)
{
  g_autofree char *until = until_text (effect->until_ms);
  g_autofree char *state = g_ascii_strdown (quoit_group_state_name (effect->group_state), -1);

  return g_strdup_printf ("%s@%" G_GUINT64_FORMAT " is %s, %s", effect->group_name, effect->group_id, state, until);
}

static char *
numbers_text (const QuoitLedgerNumbers *numbers)
{
  g_autofree char *limit = numbers->max_jump_ms == 0 ? g_strdup ("1d")
                           : numbers->max_jump_ms == G_MAXINT64
                               ? g_strdup ("none")
                               : g_strdup_printf ("%" G_GINT64_FORMAT " s", numbers->max_jump_ms / 1000);

  g_autofree char *kept = numbers->keep_ms == 0 ? g_strdup ("")
                          : numbers->keep_ms == G_MAXINT64
                              ? g_strdup (", entries kept: all")
                              : g_strdup_printf (", entries kept: %" G_GINT64_FORMAT " s", numbers->keep_ms / 1000);

  return g_strdup_printf ("epoch %u, next group id %" G_GUINT64_FORMAT ", limit of clock jumps: %s%s", numbers->epoch,
                          numbers->next_group_id, limit, kept);
}

static char *
node_text (const QuoitEffectNode *node)
{
  if (node->name == NULL || node->name[0] == '\0')
    return g_strdup_printf ("node with the id %u, which is no longer in the fleet, is %s", node->id,
                            quoit_node_state_name (node->state));
  return g_strdup_printf ("node %s is %s", node->name, quoit_node_state_name (node->state));
}

char *
quoit_effect_describe (const QuoitEffect *effect, const QuoitEffectNode *node)
{
  guint32 n;

  switch (effect->type)
    {
    case QUOIT_EFFECT_IMPORT:
      quoit_claims_nodes (effect->import->claims, &n);
      return g_strdup_printf ("source %s: %u nodes new or changed, %u gone",
                              quoit_claims_source (effect->import->claims), n + effect->import->n_states,
                              effect->import->n_removed);
    case QUOIT_EFFECT_GROUP_ADDED:
      return group_text (effect->group, "");
    case QUOIT_EFFECT_GROUP_CHANGED:
      return group_text (effect->group, " now");
    case QUOIT_EFFECT_GROUP_REMOVED:
      return removal_text (effect);
    case QUOIT_EFFECT_GROUP_LEASE:
      return lease_text (effect);
    case QUOIT_EFFECT_GROUP_FORGOTTEN:
      return g_strdup_printf ("%s@%" G_GUINT64_FORMAT " is forgotten", effect->group_name, effect->group_id);
    case QUOIT_EFFECT_LEDGER_NUMBERS_SET:
      return numbers_text (&effect->numbers);
    case QUOIT_EFFECT_NODE_STATE:
      return node_text (node);
    }
  return g_strdup ("unknown to this version");
}
