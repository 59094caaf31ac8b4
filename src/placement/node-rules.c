/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of a request for single nodes: pool, zone, labels, slices by name. The same rules apply to the nodes of
 * slices and to nodes for bundles. */
#include "placement/constraint.h"

#include <string.h>

#include "base/label-names.h"
#include "placement/domain-map.h"
#include "placement/rows.h"

/* Ray's label, then GKE's. A node list may have either. */
static const char *const zone_keys[] = { QUOIT_RAY_LABEL_ZONE, QUOIT_K8S_LABEL_ZONE };

/* Whether @name is the full name "source/pool" of @pool. */
static gboolean
is_full_name (const QuoitLayout *layout, const QuoitPool *pool, const char *name)
{
  const char *source = quoit_layout_text (layout, layout->sources[pool->source].name);
  gsize length = strlen (source);

  return strncmp (name, source, length) == 0 && name[length] == '/'
         && strcmp (name + length + 1, quoit_layout_text (layout, pool->name)) == 0;
}

static gboolean
mark_pools (QuoitNodeRules *rules, const char *name, GError **error)
{
  const QuoitLayout *layout = rules->layout;
  QuoitStringId id;
  gboolean has_id = quoit_strings_find (layout->strings, name, &id), may_be_full = strchr (name, '/') != NULL;
  gboolean found = FALSE;
  g_autofree char *quoted = NULL;

  rules->pools = g_new0 (guint8, layout->n_pools + 1);
  for (guint32 p = 0; p < layout->n_pools; p++)
    if ((has_id && layout->pools[p].name.index == id.index)
        || (may_be_full && is_full_name (layout, &layout->pools[p], name)))
      found = rules->pools[p] = TRUE;
  if (found)
    return TRUE;
  quoted = quoit_quote (name);
  return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "no pool %s in the fleet", quoted);
}

/* Returns a set of bits, one per slice, with those of the named slices. */
static guint64 *
mark_slices (const QuoitLayout *layout, const GPtrArray *names, GError **error)
{
  g_autofree guint64 *marks = g_new0 (guint64, layout->n_slices / 64 + 1);

  for (guint i = 0; i < names->len; i++)
    {
      QuoitSliceId slice;

      if (!quoit_layout_lookup_slice (layout, names->pdata[i], &slice, error))
        return NULL;
      marks[slice.index / 64] |= (guint64) 1 << (slice.index % 64);
    }
  return g_steal_pointer (&marks);
}

static gboolean
mark_named_slices (QuoitNodeRules *rules, GError **error)
{
  return rules->request->slices->len == 0
         || (rules->named = mark_slices (rules->layout, rules->request->slices, error)) != NULL;
}

static gboolean
mark_excluded_slices (QuoitNodeRules *rules, GError **error)
{
  if (rules->request->excluded->len == 0)
    return TRUE;
  rules->not_excluded = mark_slices (rules->layout, rules->request->excluded, error);
  for (guint32 w = 0; rules->not_excluded != NULL && w <= rules->layout->n_slices / 64; w++)
    rules->not_excluded[w] = ~rules->not_excluded[w];
  return rules->not_excluded != NULL;
}

static gboolean
mark_excluded_nodes (QuoitNodeRules *rules, GError **error)
{
  const GPtrArray *names = rules->request->excluded_nodes;
  const guint32 n_words = rules->layout->n_slices / 64 + 1;

  if (names->len == 0)
    return TRUE;
  rules->excluded_nodes = g_array_sized_new (FALSE, FALSE, sizeof (guint32), names->len);
  rules->without_excluded_nodes = g_new (guint64, n_words);
  memset (rules->without_excluded_nodes, 0xff, n_words * sizeof *rules->without_excluded_nodes);
  for (guint i = 0; i < names->len; i++)
    {
      QuoitNodeId node;
      guint32 slice;

      if (!quoit_layout_lookup_node (rules->layout, names->pdata[i], &node, error))
        return FALSE;
      g_array_append_val (rules->excluded_nodes, node.index);
      slice = rules->layout->nodes[node.index].slice;
      if (slice != QUOIT_NO_INDEX)
        rules->without_excluded_nodes[slice / 64] &= ~((guint64) 1 << (slice % 64));
    }
  quoit_numbers_sort ((guint32 *) (void *) rules->excluded_nodes->data, rules->excluded_nodes->len);
  return TRUE;
}

/* Only requests that compare zones need these slices. */
static void
mark_zoned_slices (QuoitNodeRules *rules)
{
  const QuoitRequest *request = rules->request;
  QuoitZones *zones;

  if (request->keep_to != QUOIT_DOMAIN_ZONE && request->spread_over != QUOIT_DOMAIN_ZONE)
    return;
  zones = quoit_zones_get (rules->layout);
  rules->in_one_zone = g_new0 (guint64, rules->layout->n_slices / 64 + 1);
  for (guint32 s = 0; s < rules->layout->n_slices; s++)
    if (zones->of_slice[s] != QUOIT_NO_INDEX)
      rules->in_one_zone[s / 64] |= (guint64) 1 << (s % 64);
  quoit_zones_unref (zones);
}

void
quoit_node_rules_clear (QuoitNodeRules *rules)
{
  g_clear_pointer (&rules->without_excluded_nodes, g_free);
  g_clear_pointer (&rules->in_one_zone, g_free);
  g_clear_pointer (&rules->excluded_nodes, g_array_unref);
  g_clear_pointer (&rules->pools, g_free);
  g_clear_pointer (&rules->named, g_free);
  g_clear_pointer (&rules->not_excluded, g_free);
}

gboolean
quoit_node_rules_init (QuoitNodeRules *rules, const QuoitLayout *layout, const QuoitRequest *request, GError **error)
{
  *rules = (QuoitNodeRules) { .layout = layout, .request = request };
  for (guint c = 0; c < quoit_n_constraints; c++)
    if (quoit_constraints[c].is_used != NULL && quoit_constraints[c].is_used (request))
      rules->used[rules->n_used++] = (guint8) c;
  if ((request->pool == NULL || mark_pools (rules, request->pool, error)) && mark_named_slices (rules, error)
      && mark_excluded_slices (rules, error) && mark_excluded_nodes (rules, error))
    return mark_zoned_slices (rules), TRUE;
  quoit_node_rules_clear (rules);
  return FALSE;
}

gboolean
quoit_node_rules_in_pool (const QuoitNodeRules *rules, QuoitNodeId node)
{
  return rules->pools[quoit_layout_node_pool (rules->layout, node).index];
}

gboolean
quoit_node_rules_in_zone (const QuoitNodeRules *rules, QuoitNodeId node)
{
  char buffer[QUOIT_LABEL_BUFFER_SIZE];

  for (gsize i = 0; i < G_N_ELEMENTS (zone_keys); i++)
    if (g_strcmp0 (quoit_layout_node_label (rules->layout, node, zone_keys[i], buffer), rules->request->zone) == 0)
      return TRUE;
  return FALSE;
}

gboolean
quoit_node_rules_match_selectors (const QuoitNodeRules *rules, QuoitNodeId node)
{
  const GPtrArray *selectors = rules->request->selectors;
  char buffer[QUOIT_LABEL_BUFFER_SIZE];

  for (guint i = 0; i < selectors->len; i++)
    {
      const QuoitSelector *selector = selectors->pdata[i];

      if (!quoit_selector_matches (
              selector, quoit_layout_node_label (rules->layout, node, quoit_selector_key (selector), buffer)))
        return FALSE;
    }
  return TRUE;
}

static gboolean
has_slice (const guint64 *bits, guint32 slice)
{
  return (bits[slice / 64] >> (slice % 64) & 1) != 0;
}

gboolean
quoit_node_rules_in_named_slice (const QuoitNodeRules *rules, QuoitNodeId node)
{
  guint32 slice = rules->layout->nodes[node.index].slice;

  return slice != QUOIT_NO_INDEX && has_slice (rules->named, slice);
}

gboolean
quoit_node_rules_in_no_excluded_slice (const QuoitNodeRules *rules, QuoitNodeId node)
{
  guint32 slice = rules->layout->nodes[node.index].slice;

  return slice == QUOIT_NO_INDEX || has_slice (rules->not_excluded, slice);
}

gboolean
quoit_node_rules_is_not_excluded (const QuoitNodeRules *rules, QuoitNodeId node)
{
  return !quoit_numbers_have ((const guint32 *) (const void *) rules->excluded_nodes->data, rules->excluded_nodes->len,
                              node.index);
}

const char *
quoit_node_zone (const QuoitLayout *layout, QuoitNodeId node, char *buffer)
{
  for (gsize i = 0; i < G_N_ELEMENTS (zone_keys); i++)
    {
      const char *zone = quoit_layout_node_label (layout, node, zone_keys[i], buffer);

      if (zone != NULL && *zone != '\0')
        return zone;
    }
  return NULL;
}

gboolean
quoit_node_rules_has_zone (const QuoitNodeRules *rules, QuoitNodeId node)
{
  char buffer[QUOIT_LABEL_BUFFER_SIZE];

  return quoit_node_zone (rules->layout, node, buffer) != NULL;
}

const guint64 *
quoit_node_rules_without_excluded_nodes (const QuoitNodeRules *rules)
{
  return rules->without_excluded_nodes;
}

const guint64 *
quoit_node_rules_in_one_zone (const QuoitNodeRules *rules)
{
  return rules->in_one_zone;
}

const guint64 *
quoit_node_rules_named (const QuoitNodeRules *rules)
{
  return rules->named;
}

const guint64 *
quoit_node_rules_not_excluded (const QuoitNodeRules *rules)
{
  return rules->not_excluded;
}

guint
quoit_node_rules_first_broken (const QuoitNodeRules *rules, QuoitNodeId node)
{
  for (guint i = 0; i < rules->n_used; i++)
    if (!quoit_constraints[rules->used[i]].rule (rules, node))
      return rules->used[i];
  return QUOIT_NO_CONSTRAINT;
}
