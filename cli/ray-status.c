/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/models.h>

#include "ray-status.h"

#include <string.h>

#include "decimal.h"
#include "text.h"

/* --- amounts, formatted like floats in Python --- */

static char *
format_float (Decimal amount)
{
  g_autofree char *text = decimal_format (amount);

  return strchr (text, '.') != NULL ? g_steal_pointer (&text) : g_strconcat (text, ".0", NULL);
}

static char *
format_memory (Decimal amount)
{
  static const struct {
    const char *suffix;
    int shift;
  } units[] = { { "TiB", 40 }, { "GiB", 30 }, { "MiB", 20 }, { "KiB", 10 } };
  double bytes = (double) amount.e4 / 10000;

  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    if (bytes >= (double) (G_GINT64_CONSTANT (1) << units[i].shift))
      {
        char number[G_ASCII_DTOSTR_BUF_SIZE];

        return g_strconcat (
            g_ascii_formatd (number, sizeof number, "%.2f", bytes / (double) (G_GINT64_CONSTANT (1) << units[i].shift)),
            units[i].suffix, NULL);
      }
  return g_strdup_printf ("%" G_GINT64_FORMAT "B", (gint64) bytes);
}

static char *
format_amount (const char *resource, Decimal amount)
{
  return g_str_equal (resource, "memory") || g_str_equal (resource, "object_store_memory") ? format_memory (amount)
                                                                                           : format_float (amount);
}

/* --- usage --- */

/* The sums of a resource over some alive and draining nodes. */
typedef struct {
  Decimal total, external, in_groups;
} Usage;

/* Resource name -> Usage; g_hash_table_unref() it. */
static GHashTable *
usage_new (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

static void
add_node (GHashTable *usage, const QuoitSnapshot *snapshot, uint32_t node)
{
  for (uint32_t r = 0; r < quoit_snapshot_get_node_n_resources (snapshot, node); r++)
    {
      const char *name = quoit_snapshot_get_node_resource_name (snapshot, node, r);
      Usage *row = g_hash_table_lookup (usage, name);

      if (row == NULL)
        g_hash_table_insert (usage, g_strdup (name), row = g_new0 (Usage, 1));
      row->total.e4 += quoit_snapshot_get_node_amount (snapshot, node, r, QUOIT_AMOUNT_TOTAL).e4;
      row->external.e4 += quoit_snapshot_get_node_amount (snapshot, node, r, QUOIT_AMOUNT_EXTERNAL).e4;
      row->in_groups.e4 += quoit_snapshot_get_node_amount (snapshot, node, r, QUOIT_AMOUNT_HELD).e4
                           + quoit_snapshot_get_node_amount (snapshot, node, r, QUOIT_AMOUNT_RESERVED).e4;
    }
}

/* Ray omits the resource "node:ADDRESS" of each node, and without -v also the accelerator type of each node. */
static bool
is_shown (const char *resource, bool verbose)
{
  return strstr (resource, "node:") == NULL && (verbose || !g_str_has_prefix (resource, "accelerator_type:"));
}

static int
by_text (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static void
append_usage (GString *text, const char *indent, GHashTable *usage, bool verbose)
{
  guint n = 0;
  g_autofree const char **names = (const char **) g_hash_table_get_keys_as_array (usage, &n);

  qsort (names, n, sizeof *names, by_text);
  for (guint i = 0; i < n; i++)
    {
      const Usage *row = g_hash_table_lookup (usage, names[i]);
      g_autofree char *used = format_amount (names[i], row->external), *total = format_amount (names[i], row->total);
      g_autofree char *reserved = format_amount (names[i], row->in_groups),
                      *zero = format_amount (names[i], (Decimal) { 0 });
      g_autofree char *name = text_for_terminal (names[i]);

      if (!is_shown (names[i], verbose))
        continue;
      g_string_append_printf (text, "%s%s/%s %s", indent, used, total, name);
      if (row->in_groups.e4 > 0)
        g_string_append_printf (text, " (%s used of %s reserved in placement groups)", zero, reserved);
      g_string_append_c (text, '\n');
    }
}

static bool
is_alive (const QuoitSnapshot *snapshot, uint32_t node)
{
  return quoit_snapshot_get_node_state (snapshot, node) != QUOIT_NODE_DEAD;
}

static void
append_total_usage (GString *text, const QuoitSnapshot *snapshot, bool verbose)
{
  g_autoptr (GHashTable) usage = usage_new ();

  for (uint32_t node = 0; node < quoit_snapshot_get_n_nodes (snapshot); node++)
    if (is_alive (snapshot, node))
      add_node (usage, snapshot, node);
  append_usage (text, " ", usage, verbose);
}

/* --- nodes --- */

static char *
display_identity (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_autofree char *identity = quoit_snapshot_dup_node_identity (snapshot, node);

  return text_for_terminal (identity);
}

static void
append_active_nodes (GString *text, const QuoitSnapshot *snapshot)
{
  bool any = false;

  for (uint32_t node = 0; node < quoit_snapshot_get_n_nodes (snapshot); node++)
    if (is_alive (snapshot, node))
      {
        g_autofree char *identity = display_identity (snapshot, node);

        g_string_append_printf (text, " 1 node_%s\n", identity);
        any = true;
      }
  if (!any)
    g_string_append (text, " (no active nodes)\n");
}

static void
append_node_details (GString *text, const QuoitSnapshot *snapshot)
{
  for (uint32_t node = 0; node < quoit_snapshot_get_n_nodes (snapshot); node++)
    if (is_alive (snapshot, node))
      {
        g_autofree char *identity = display_identity (snapshot, node);
        g_autoptr (GHashTable) usage = usage_new ();

        g_string_append_printf (text, "\nNode: %s (node_%s)\n Usage:\n", identity, identity);
        add_node (usage, snapshot, node);
        append_usage (text, "  ", usage, true);
      }
}

/* --- demands --- */

static char *
bundle_text (const QuoitGroup *group, uint32_t bundle)
{
  GString *text = g_string_new ("{");

  for (uint32_t r = 0; r < quoit_group_get_bundle_n_resources (group, bundle); r++)
    {
      Decimal amount = { quoit_group_get_bundle_amount (group, bundle, r).e4 };
      g_autofree char *number = format_float (amount);
      g_autofree char *name = text_for_terminal (quoit_group_get_bundle_resource_name (group, bundle, r));

      g_string_append_printf (text, "%s'%s': %s", r > 0 ? ", " : "", name, number);
    }
  g_string_append_c (text, '}');
  return g_string_free (text, FALSE);
}

/* Returns the strategy of the group, or NULL: `ray list placement-groups` does not report it. The strategy is the first
 * word of the request text, and is read from there because the public API has no function for it. */
static char *
find_strategy (const QuoitGroup *group)
{
  const char *request = quoit_group_get_request (group);
  g_autofree char *word = g_strndup (request, strcspn (request, " "));
  QuoitStrategy strategy;

  return quoit_ray_strategy_parse (word, &strategy, NULL) ? g_steal_pointer (&word) : NULL;
}

/* "{'CPU': 1.0, 'TPU': 4.0} * 4 (SPREAD)". Like Ray, includes the placed bundles of the group. */
static char *
demand_text (const QuoitGroup *group)
{
  GString *text = g_string_new (NULL);
  uint32_t n = quoit_group_get_n_bundles (group), same;
  g_autofree char *strategy = find_strategy (group);

  for (uint32_t i = 0; i < n; i += same)
    {
      g_autofree char *bundle = bundle_text (group, i);

      for (same = 1; i + same < n; same++)
        {
          g_autofree char *next = bundle_text (group, i + same);

          if (!g_str_equal (bundle, next))
            break;
        }
      g_string_append_printf (text, "%s%s * %u", i > 0 ? ", " : "", bundle, same);
    }
  if (strategy != NULL)
    g_string_append_printf (text, " (%s)", strategy);
  return g_string_free (text, FALSE);
}

/* Ray places bundles again that have lost their node. It leaves bundles on draining nodes where they are. */
static bool
has_lost_bundle (const QuoitGroup *group)
{
  for (uint32_t i = 0; i < quoit_group_get_n_bundles (group); i++)
    if (quoit_group_get_bundle_state (group, i) == QUOIT_GROUP_SLICE_LOST)
      return true;
  return false;
}

static bool
is_demand (const QuoitGroup *group)
{
  QuoitGroupState state = quoit_group_get_state (group);

  return quoit_group_get_n_bundles (group) > 0
         && (state == QUOIT_GROUP_PENDING || (state == QUOIT_GROUP_RESCHEDULING && has_lost_bundle (group)));
}

/* Groups with equal requests that wait to be placed. */
typedef struct {
  char *text;
  guint n; /* the number of groups */
} Demand;

static void
demand_clear (gpointer demand)
{
  g_free (((Demand *) demand)->text);
}

static GArray *
list_demands (const QuoitSnapshot *snapshot)
{
  g_autoptr (GHashTable) positions = g_hash_table_new (g_str_hash, g_str_equal); /* text -> index in demands, plus 1 */
  GArray *demands = g_array_new (FALSE, FALSE, sizeof (Demand));

  g_array_set_clear_func (demands, demand_clear);
  for (uint32_t i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);
      Demand demand = { NULL, 1 };
      guint position;

      if (!is_demand (group))
        continue;
      demand.text = demand_text (group);
      position = GPOINTER_TO_UINT (g_hash_table_lookup (positions, demand.text));
      if (position > 0)
        {
          g_array_index (demands, Demand, position - 1).n++;
          g_free (demand.text);
          continue;
        }
      g_array_append_val (demands, demand);
      g_hash_table_insert (positions, demand.text, GUINT_TO_POINTER (demands->len));
    }
  return demands;
}

static void
append_demands (GString *text, const QuoitSnapshot *snapshot)
{
  g_autoptr (GArray) demands = list_demands (snapshot);

  for (guint i = 0; i < demands->len; i++)
    g_string_append_printf (text, " %s: %u+ pending placement groups\n", g_array_index (demands, Demand, i).text,
                            g_array_index (demands, Demand, i).n);
  if (demands->len == 0)
    g_string_append (text, " (no resource demands)\n");
}

/* --- the whole output --- */

static void
append_head (GString *text, const QuoitSnapshot *snapshot)
{
  g_autoptr (GDateTime) clock = g_date_time_new_from_unix_utc (quoit_snapshot_get_clock_ms (snapshot) / 1000);
  g_autofree char *time = g_date_time_format (clock, "%Y-%m-%d %H:%M:%S");

  g_string_append_printf (text, "======== Autoscaler status: %s.%06u ========\n", time,
                          (guint) (quoit_snapshot_get_clock_ms (snapshot) % 1000 * 1000));
}

char *
ray_status_format (const QuoitSnapshot *snapshot, bool verbose)
{
  static const char rule[] = "---------------------------------------------------------------\n";
  GString *text = g_string_new (NULL);

  append_head (text, snapshot);
  g_string_append_printf (text, "%sNode status\n%sActive:\n", verbose ? "\n" : "", rule);
  append_active_nodes (text, snapshot);
  g_string_append_printf (text, "Pending:\n (no pending nodes)\nRecent failures:\n (no failures)\n\nResources\n%s",
                          rule);
  g_string_append (text, "Total Usage:\n");
  append_total_usage (text, snapshot, verbose);
  g_string_append (text, "\nFrom request_resources:\n (none)\nPending Demands:\n");
  append_demands (text, snapshot);
  if (verbose)
    append_node_details (text, snapshot);
  return g_string_free (text, FALSE);
}
