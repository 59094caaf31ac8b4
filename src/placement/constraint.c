/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/constraint.h"

#include <string.h>

/* --- the class that the request wants --- */

/* --- rules of the request --- */

static gboolean
names_pool (const QuoitRequest *request)
{
  return request->pool != NULL;
}

static gboolean
names_zone (const QuoitRequest *request)
{
  return request->zone != NULL;
}

static gboolean
has_selectors (const QuoitRequest *request)
{
  return request->selectors->len > 0;
}

static gboolean
names_slices (const QuoitRequest *request)
{
  return request->slices->len > 0;
}

static gboolean
excludes_slices (const QuoitRequest *request)
{
  return request->excluded->len > 0;
}

static gboolean
excludes_nodes (const QuoitRequest *request)
{
  return request->excluded_nodes->len > 0;
}

static gboolean
compares_zones (const QuoitRequest *request)
{
  return request->keep_to == QUOIT_DOMAIN_ZONE || request->spread_over == QUOIT_DOMAIN_ZONE;
}

/* The rule has no parameters: its position identifies it. */
static void
append_nothing (QuoitKey *key, const QuoitRequest *request)
{
  (void) key;
  (void) request;
}

static QuoitLabelScope
scope_of_kind (const QuoitRequest *request)
{
  (void) request;
  return QUOIT_LABEL_OF_KIND;
}

static QuoitLabelScope
scope_of_pool (const QuoitRequest *request)
{
  (void) request;
  return QUOIT_LABEL_OF_POOL;
}

static QuoitLabelScope
scope_of_selectors (const QuoitRequest *request)
{
  QuoitLabelScope scope = QUOIT_LABEL_OF_KIND;

  for (guint i = 0; i < request->selectors->len; i++)
    scope = MAX (scope, quoit_layout_label_scope (quoit_selector_key (request->selectors->pdata[i])));
  return scope;
}

static void
append_pool (QuoitKey *key, const QuoitRequest *request)
{
  quoit_key_append_text (key, request->pool);
}

static void
append_zone (QuoitKey *key, const QuoitRequest *request)
{
  quoit_key_append_text (key, request->zone);
}

static void
append_selector_key (QuoitKey *key, const QuoitRequest *request)
{
  for (guint i = 0; i < request->selectors->len; i++)
    {
      quoit_key_append_text (key, quoit_selector_key (request->selectors->pdata[i]));
      quoit_key_append_text (key, quoit_selector_value (request->selectors->pdata[i]));
    }
}

/* --- the state of slices --- */

static gboolean
is_intact (QuoitSliceFlags flags)
{
  return (flags & QUOIT_SLICE_INTACT) != 0;
}

static gboolean
is_not_draining (QuoitSliceFlags flags)
{
  return (flags & QUOIT_SLICE_DRAINING) == 0;
}

static gboolean
is_not_allocated (QuoitSliceFlags flags)
{
  return (flags & QUOIT_SLICE_ALLOCATED) == 0;
}

static gboolean
is_not_used (QuoitSliceFlags flags)
{
  return (flags & QUOIT_SLICE_IDLE) != 0;
}

/* --- details --- */

static char *
accelerator_detail (const QuoitRequest *request, guint32 bundle)
{
  (void) bundle;
  return g_strdup (quoit_generation_name (request->generation));
}

static char *
topology_detail (const QuoitRequest *request, guint32 bundle)
{
  (void) bundle;
  return quoit_shape_format (request->shape);
}

static char *
chips_per_host_detail (const QuoitRequest *request, guint32 bundle)
{
  (void) bundle;
  return g_strdup_printf ("%u chips", quoit_request_chips_per_host (request));
}

static char *
pool_detail (const QuoitRequest *request, guint32 bundle)
{
  (void) bundle;
  return g_strdup (request->pool);
}

static char *
zone_detail (const QuoitRequest *request, guint32 bundle)
{
  (void) bundle;
  return g_strdup (request->zone);
}

static void
append_selectors (GString *text, const GPtrArray *selectors)
{
  for (guint i = 0; selectors != NULL && i < selectors->len; i++)
    g_string_append_printf (text, "%s%s=%s", text->len > 0 ? " " : "", quoit_selector_key (selectors->pdata[i]),
                            quoit_selector_value (selectors->pdata[i]));
}

static char *
selector_detail (const QuoitRequest *request, guint32 bundle)
{
  GString *text = g_string_new (NULL);

  append_selectors (text, request->selectors);
  if (bundle != QUOIT_NO_INDEX)
    append_selectors (text, quoit_request_bundle (request, bundle)->selectors);
  return g_string_free (text, FALSE);
}

static char *
topology_label_detail (const QuoitRequest *request, guint32 bundle)
{
  (void) bundle;
  return g_strdup (request->topology_label);
}

static char *
amounts_detail (const QuoitRequest *request, guint32 bundle)
{
  const GArray *takes = bundle == QUOIT_NO_INDEX ? NULL : quoit_request_bundle (request, bundle)->takes;
  GString *text;

  if (takes == NULL)
    return NULL;
  text = g_string_new (NULL);
  for (guint t = 0; t < takes->len; t++)
    {
      const QuoitTake *take = &g_array_index (takes, QuoitTake, t);
      g_autofree char *amount = quoit_amount_format (take->amount);

      g_string_append_printf (text, "%s%s=%s", t > 0 ? "," : "", take->resource, amount);
    }
  return g_string_free (text, FALSE);
}

static char *
strategy_detail (const QuoitRequest *request, guint32 bundle)
{
  GString *text = g_string_new (NULL);

  (void) bundle;
  g_string_append_printf (text, "%u bundles, %s", request->bundles->len, quoit_strategy_name (request->strategy));
  if (request->topology_label != NULL)
    g_string_append_printf (text, ", %u value%s of %s", request->n_topology_values,
                            request->n_topology_values == 1 ? "" : "s", request->topology_label);
  return g_string_free (text, FALSE);
}

/* --- the table --- */

// clang-format off
const QuoitConstraintRow quoit_constraints[] = {
  { QUOIT_CONSTRAINT_ACCELERATOR, "accelerator", QUOIT_CONSTRAINT_OF_HARDWARE,
    .slices = "of another accelerator than",
    .class_test = quoit_class_has_accelerator, .detail = accelerator_detail },
  { QUOIT_CONSTRAINT_TOPOLOGY, "topology", QUOIT_CONSTRAINT_OF_HARDWARE,
    .slices = "of another topology than",
    .class_test = quoit_class_has_topology, .detail = topology_detail },
  { QUOIT_CONSTRAINT_CHIPS_PER_HOST, "chips-per-host", QUOIT_CONSTRAINT_OF_HARDWARE,
    .slices = "on hosts of another size than",
    .class_test = quoit_class_has_chips_per_host, .detail = chips_per_host_detail },
  /* Only for requests that join cubes; see placement/cubes/plan.c. */
  { QUOIT_CONSTRAINT_BLOCK, "block", QUOIT_CONSTRAINT_OF_HARDWARE,
    .slices = "not cubes of a block that can hold a slice of",
    .detail = topology_detail },
  { QUOIT_CONSTRAINT_POOL, "pool", QUOIT_CONSTRAINT_OF_REQUEST,
    .slices = "outside pool", .nodes = "outside pool",
    .is_used = names_pool, .rule = quoit_node_rules_in_pool, .scope = scope_of_pool, .append_key = append_pool,
    .detail = pool_detail },
  { QUOIT_CONSTRAINT_ZONE, "zone", QUOIT_CONSTRAINT_OF_REQUEST,
    .slices = "outside zone", .nodes = "outside zone",
    .is_used = names_zone, .rule = quoit_node_rules_in_zone, .scope = scope_of_kind, .append_key = append_zone,
    .detail = zone_detail },
  { QUOIT_CONSTRAINT_SELECTOR, "selector", QUOIT_CONSTRAINT_OF_REQUEST,
    .slices = "not selected by", .nodes = "not selected by",
    .is_used = has_selectors, .rule = quoit_node_rules_match_selectors, .scope = scope_of_selectors,
    .append_key = append_selector_key,
    .node_test = quoit_place_has_labels,
    .omits_nodes = TRUE, .detail = selector_detail },
  { QUOIT_CONSTRAINT_NAMED_SLICE, "named-slice", QUOIT_CONSTRAINT_OF_REQUEST,
    .slices = "not among the named slices", .nodes = "in none of the named slices",
    .is_used = names_slices, .rule = quoit_node_rules_in_named_slice, .slice_bits = quoit_node_rules_named },
  { QUOIT_CONSTRAINT_EXCLUDED_SLICE, "excluded-slice", QUOIT_CONSTRAINT_OF_REQUEST,
    .slices = "excluded by name", .nodes = "in an excluded slice",
    .is_used = excludes_slices, .rule = quoit_node_rules_in_no_excluded_slice,
    .slice_bits = quoit_node_rules_not_excluded },
  { QUOIT_CONSTRAINT_EXCLUDED_NODE, "excluded-node", QUOIT_CONSTRAINT_OF_REQUEST,
    .slices = "with a host that is excluded by name", .nodes = "excluded by name",
    .is_used = excludes_nodes, .rule = quoit_node_rules_is_not_excluded,
    .slice_bits = quoit_node_rules_without_excluded_nodes },
  { QUOIT_CONSTRAINT_ONE_ZONE, "one-zone", QUOIT_CONSTRAINT_OF_REQUEST,
    .slices = "not known to be in one zone",
    .is_used = compares_zones, .rule = quoit_node_rules_has_zone, .append_key = append_nothing,
    .slice_bits = quoit_node_rules_in_one_zone },
  { QUOIT_CONSTRAINT_TOPOLOGY_LABEL, "topology-label", QUOIT_CONSTRAINT_OF_REQUEST,
    .nodes = "without a value of label",
    .node_test = quoit_place_has_topology_label, .detail = topology_label_detail },
  { QUOIT_CONSTRAINT_TOTAL, "total", QUOIT_CONSTRAINT_OF_HARDWARE,
    .nodes = "too small, even empty, for",
    .node_test = quoit_place_has_total, .miss = QUOIT_MISS_TOTAL, .detail = amounts_detail },
  { QUOIT_CONSTRAINT_INTACT, "intact", QUOIT_CONSTRAINT_OF_HEALTH,
    .slices = "degraded: a host is missing or dead, or hosts contradict each other",
    .slice_test = is_intact },
  { QUOIT_CONSTRAINT_ALIVE, "alive", QUOIT_CONSTRAINT_OF_USE,
    .nodes = "dead",
    .node_test = quoit_place_is_known_alive },
  { QUOIT_CONSTRAINT_DRAINING, "draining", QUOIT_CONSTRAINT_OF_USE,
    .slices = "draining", .nodes = "draining",
    .slice_test = is_not_draining, .node_test = quoit_place_is_not_draining },
  { QUOIT_CONSTRAINT_ALLOCATED, "allocated", QUOIT_CONSTRAINT_OF_USE,
    .slices = "allocated to groups", .nodes = "too full with groups for",
    .slice_test = is_not_allocated, .node_test = quoit_place_is_not_allocated, .miss = QUOIT_MISS_AVAILABLE,
    .detail = amounts_detail },
  { QUOIT_CONSTRAINT_EXTERNAL, "external", QUOIT_CONSTRAINT_OF_USE,
    .slices = "in external use", .nodes = "too full with external use for",
    .slice_test = is_not_used, .node_test = quoit_place_is_not_used, .miss = QUOIT_MISS_AVAILABLE,
    .detail = amounts_detail },
  { QUOIT_CONSTRAINT_CHIPS, "chips", QUOIT_CONSTRAINT_OF_USE,
    .nodes = "without enough free on single chips for",
    .node_test = quoit_place_has_chips, .detail = amounts_detail },
  { QUOIT_CONSTRAINT_STRATEGY, "strategy", QUOIT_CONSTRAINT_OF_ALL,
    .nodes = "not enough for all bundles together:",
    .detail = strategy_detail },
  /* The details of these are the domain, the spread, and the quota; see quoit_report_add_detailed_reason(). */
  { QUOIT_CONSTRAINT_KEEP_TO, "keep-to", QUOIT_CONSTRAINT_OF_ALL,
    .slices = "outside the domain that has most," },
  { QUOIT_CONSTRAINT_SPREAD, "spread", QUOIT_CONSTRAINT_OF_ALL,
    .slices = "over the maximum skew of" },
  /* The detail is the label. */
  { QUOIT_CONSTRAINT_CUBE_LABEL, "cube-label", QUOIT_CONSTRAINT_OF_ALL,
    .slices = "without a valid label" },
  { QUOIT_CONSTRAINT_QUOTA, "quota", QUOIT_CONSTRAINT_OF_ALL,
    .slices = "over the quota of", .nodes = "over the quota of" },
};
// clang-format on

const guint quoit_n_constraints = G_N_ELEMENTS (quoit_constraints);
G_STATIC_ASSERT (G_N_ELEMENTS (quoit_constraints) <= QUOIT_MAX_CONSTRAINTS);

guint
quoit_constraint_position (QuoitConstraint constraint)
{
  for (guint position = 0; position < quoit_n_constraints; position++)
    if (quoit_constraints[position].constraint == constraint)
      return position;
  return QUOIT_NO_CONSTRAINT;
}

guint
quoit_constraint_of_omitted_nodes (void)
{
  guint position = 0;

  while (!quoit_constraints[position].omits_nodes)
    position++;
  return position;
}

/* Each placement calls this function and the next one, which name the functions of the table again because calling them
 * through the table costs more than choosing a slice. */
guint
quoit_constraint_first_failed_by_class (const QuoitSliceFacts *facts, const QuoitRequest *request)
{
  for (guint position = 0; position < quoit_n_constraints; position++)
    if (quoit_constraints[position].class_test != NULL && !quoit_constraints[position].class_test (facts, request))
      return position;
  return QUOIT_NO_CONSTRAINT;
}

guint
quoit_constraint_first_failed_by_flags (QuoitSliceFlags flags)
{
  for (guint position = 0; position < quoit_n_constraints; position++)
    if (quoit_constraints[position].slice_test != NULL && !quoit_constraints[position].slice_test (flags))
      return position;
  return QUOIT_NO_CONSTRAINT;
}

guint
quoit_constraint_first_failed_by_place (const QuoitBundlePlace *place)
{
  for (guint position = 0; position < quoit_n_constraints; position++)
    if (quoit_constraints[position].node_test != NULL && !quoit_constraints[position].node_test (place))
      return position;
  return QUOIT_NO_CONSTRAINT;
}
