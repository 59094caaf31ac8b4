/* SPDX-License-Identifier: Apache-2.0 */
#include "report-data.h"

#include <string.h>

#include "capacity-view.h"
#include "fleet-view.h"
#include "map.h"
#include "map-slices.h"
#include "text.h"

/* --- the map --- */

static const Column pool_columns[] = {
  { "source", NULL, CELL_TEXT },
  { "pool", NULL, CELL_TEXT },
  { "n_slices", NULL, CELL_NUMBER },
};

static const Column class_columns[] = {
  { "accelerator", NULL, CELL_TEXT },
  { "topology", NULL, CELL_TEXT },
  { "chips_per_host", NULL, CELL_NUMBER },
  { "places", NULL, CELL_LIST },
};

static const Column slice_columns[] = {
  { "names", NULL, CELL_LIST }, { "classes", NULL, CELL_TEXT }, { "looks", NULL, CELL_TEXT },
  { "hosts", NULL, CELL_LIST }, { "users", NULL, CELL_LIST },   { "nodes", NULL, CELL_LIST },
};

static Table *
pools (const QuoitSnapshot *snapshot)
{
  Table *table = table_new (pool_columns, G_N_ELEMENTS (pool_columns));

  for (uint32_t pool = 0; pool < quoit_snapshot_get_n_pools (snapshot); pool++)
    {
      table_add_text (table, pool_source (snapshot, pool));
      table_add_text (table, quoit_snapshot_get_pool_name (snapshot, pool));
      table_add_number (table, quoit_snapshot_get_pool_n_slices (snapshot, pool));
    }
  return table;
}

/* The place of each worker, "x,y,z" in hosts. */
static GPtrArray *
places (const QuoitSnapshot *snapshot, uint32_t class, const char *topology)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (g_free);
  QuoitCoordinates *torus
      = quoit_coordinates_new (quoit_snapshot_get_class_accelerator (snapshot, class), topology,
                               quoit_snapshot_get_class_chips_per_host (snapshot, class), QUOIT_WIRING_STRAIGHT, NULL);
  const uint32_t n = torus == NULL ? 0 : quoit_coordinates_get_n_hosts (torus);

  for (uint32_t worker = 0; worker < n; worker++)
    g_ptr_array_add (list, g_strdup_printf ("%u,%u,%u", quoit_coordinates_get_worker_at (torus, worker, QUOIT_AXIS_X),
                                            quoit_coordinates_get_worker_at (torus, worker, QUOIT_AXIS_Y),
                                            quoit_coordinates_get_worker_at (torus, worker, QUOIT_AXIS_Z)));
  quoit_coordinates_free (torus);
  return list;
}

static Table *
classes (const QuoitSnapshot *snapshot)
{
  Table *table = table_new (class_columns, G_N_ELEMENTS (class_columns));

  for (uint32_t class = 0; class < quoit_snapshot_get_n_classes (snapshot); class ++)
    {
      g_autofree char *topology = quoit_snapshot_dup_class_topology (snapshot, class);

      table_add_text (table, quoit_snapshot_get_class_accelerator (snapshot, class));
      table_add_text (table, topology);
      table_add_number (table, quoit_snapshot_get_class_chips_per_host (snapshot, class));
      table_take_list (table, places (snapshot, class, topology));
    }
  return table;
}

/* Returns the number of a user of the slice, and adds it if it is new. */
static guint
find_user (GPtrArray *users, const char *user)
{
  guint index;

  if (g_ptr_array_find_with_equal_func (users, user, g_str_equal, &index))
    return index;
  g_ptr_array_add (users, g_strdup (user));
  return users->len - 1;
}

enum { N_LETTERS = 26, FIRST_SYMBOL = 0x4e00, MAX_USERS = 17000 };

/* A letter for each of the first users of a slice, then a character; the last one is for all others. A capital, or an
 * odd character, means that no chip is left. */
static gunichar
user_symbol (guint user, bool is_full)
{
  return user < N_LETTERS ? (gunichar) (is_full ? 'A' : 'a') + user
                          : (gunichar) (FIRST_SYMBOL + 2 * MIN (user - N_LETTERS, MAX_USERS) + is_full);
}

/* The symbol of the first user of a host that has one, and otherwise that of its state. */
static gunichar
find_host_symbol (const QuoitSnapshot *snapshot, int64_t node, GPtrArray *users)
{
  g_autoptr (GPtrArray) found = node < 0 ? NULL : node_users (snapshot, (uint32_t) node);
  guint first = 0;

  if (node < 0)
    return (gunichar) map_state_symbol (CHIP_MISSING);
  for (guint i = 0; i < found->len; i++)
    {
      const guint user = find_user (users, found->pdata[i]);

      first = i == 0 ? user : first;
    }
  switch (quoit_snapshot_get_node_state (snapshot, (uint32_t) node))
    {
    case QUOIT_NODE_DEAD:
      return (gunichar) map_state_symbol (CHIP_DEAD);
    case QUOIT_NODE_DRAINING:
      return (gunichar) map_state_symbol (CHIP_DRAINING);
    case QUOIT_NODE_ALIVE:
    default:
      break;
    }
  if (found->len == 0)
    return (gunichar) map_state_symbol (CHIP_IDLE);
  if (g_str_equal (found->pdata[0], "external"))
    return (gunichar) map_state_symbol (CHIP_EXTERNAL);
  return user_symbol (first,
                      quoit_snapshot_get_node_chip_amount (snapshot, (uint32_t) node, QUOIT_AMOUNT_AVAILABLE).e4 == 0);
}

/* Slices whose topology is unknown have their nodes in the order of the fleet. */
static GArray *
list_nodes (const QuoitSnapshot *snapshot, const MapSlice *slice)
{
  GArray *nodes = g_array_new (FALSE, FALSE, sizeof (int64_t));
  const uint32_t first = quoit_snapshot_get_slice_first_node (snapshot, slice->slice);

  if (slice->torus != NULL)
    return g_array_append_vals (nodes, slice->nodes, quoit_coordinates_get_n_hosts (slice->torus));
  for (uint32_t i = 0; i < quoit_snapshot_get_slice_n_nodes (snapshot, slice->slice); i++)
    {
      const int64_t node = first + i;

      g_array_append_val (nodes, node);
    }
  return nodes;
}

typedef struct {
  GPtrArray *names, *hosts, *users, *nodes;
  GString *classes, *looks;
} SliceLists;

/* "" if each node is SLICE-WORKER; otherwise their names in one line each, with a line feed after each. */
static char *
format_node_names (const QuoitSnapshot *snapshot, const char *slice, const GArray *nodes)
{
  g_autoptr (GString) names = g_string_new (NULL);
  bool are_usual = true;

  for (guint i = 0; i < nodes->len; i++)
    {
      const int64_t node = g_array_index (nodes, int64_t, i);
      const char *name = node < 0 ? "" : quoit_snapshot_get_node_name (snapshot, (uint32_t) node);
      g_autofree char *usual = g_strdup_printf ("%s-%u", slice, i), *line = text_in_one_line (name);

      are_usual = are_usual && (node < 0 || g_str_equal (usual, name));
      g_string_append_printf (names, "%s\n", line);
    }
  return are_usual ? g_strdup ("") : g_strdup (names->str);
}

static void
add_slice (SliceLists *lists, const QuoitSnapshot *snapshot, const MapSlice *slice)
{
  const char *name = quoit_snapshot_get_slice_name (snapshot, slice->slice);
  g_autoptr (GArray) nodes = list_nodes (snapshot, slice);
  g_autoptr (GPtrArray) users = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) hosts = g_string_new (NULL);

  for (guint i = 0; i < nodes->len; i++)
    g_string_append_unichar (hosts, find_host_symbol (snapshot, g_array_index (nodes, int64_t, i), users));
  g_ptr_array_add (users, NULL);
  g_ptr_array_add (lists->names, g_strdup (name));
  g_ptr_array_add (lists->hosts, g_strdup (hosts->str));
  g_ptr_array_add (lists->users, g_strjoinv ("\n", (char **) users->pdata));
  g_ptr_array_add (lists->nodes, format_node_names (snapshot, name, nodes));
  g_string_append_printf (lists->classes, "%s%" G_GINT64_FORMAT, lists->classes->len == 0 ? "" : " ",
                          slice->torus == NULL ? -1 : quoit_snapshot_get_slice_class (snapshot, slice->slice));
  g_string_append_printf (lists->looks, "%d", (int) slice_find_look (snapshot, slice->slice));
}

static Table *
slices (const QuoitSnapshot *snapshot)
{
  Table *table = table_new (slice_columns, G_N_ELEMENTS (slice_columns));
  g_autoptr (GArray) all = find_slices (snapshot, NULL, NULL);
  g_autoptr (Map) map = map_new (snapshot, all);
  SliceLists lists = {
    g_ptr_array_new_with_free_func (g_free),
    g_ptr_array_new_with_free_func (g_free),
    g_ptr_array_new_with_free_func (g_free),
    g_ptr_array_new_with_free_func (g_free),
    g_string_new (NULL),
    g_string_new (NULL),
  };

  for (guint i = 0; i < map->slices->len; i++)
    add_slice (&lists, snapshot, map->slices->pdata[i]);
  table_take_list (table, lists.names);
  table_take_text (table, g_string_free (lists.classes, FALSE));
  table_take_text (table, g_string_free (lists.looks, FALSE));
  table_take_list (table, lists.hosts);
  table_take_list (table, lists.users);
  table_take_list (table, lists.nodes);
  return table;
}

Document *
report_map_document (const QuoitSnapshot *snapshot)
{
  Document *document = document_new ();

  document_take_table (document, "pools", NULL, pools (snapshot));
  document_take_table (document, "classes", NULL, classes (snapshot));
  document_take_object (document, "slices", NULL, slices (snapshot));
  return document;
}

/* --- the past --- */

static const Column ended_columns[] = {
  { "group", NULL, CELL_TEXT },
  { "since", NULL, CELL_TEXT },
  { "ended", NULL, CELL_TEXT },
  { "reason", NULL, CELL_TEXT },
};

static const Column event_columns[] = {
  { "seq", NULL, CELL_NUMBER },      { "time", NULL, CELL_TEXT },   { "alive", NULL, CELL_NUMBER },
  { "draining", NULL, CELL_NUMBER }, { "dead", NULL, CELL_NUMBER }, { "nodes", NULL, CELL_LIST },
};

static const Column sample_columns[] = {
  { "seq", NULL, CELL_NUMBER },
  { "time", NULL, CELL_TEXT },
  { "accelerator", NULL, CELL_TEXT },
  { "topology", NULL, CELL_TEXT },
  { "chips_per_host", NULL, CELL_NUMBER },
  { "least", NULL, CELL_AMOUNT },
  { "most", NULL, CELL_AMOUNT },
};

static gint
by_latest_end (gconstpointer a, gconstpointer b)
{
  const QuoitGroup *x = *(QuoitGroup *const *) a, *y = *(QuoitGroup *const *) b;
  const int64_t x_ms = quoit_group_get_ended_ms (x), y_ms = quoit_group_get_ended_ms (y);
  const uint64_t x_id = quoit_group_get_id (x), y_id = quoit_group_get_id (y);

  return x_ms != y_ms ? (x_ms < y_ms) - (x_ms > y_ms) : (x_id < y_id) - (x_id > y_id);
}

static void
unref_group (gpointer group)
{
  quoit_group_unref (group);
}

static Table *
ended_groups (const QuoitSnapshot *snapshot)
{
  Table *table = table_new (ended_columns, G_N_ELEMENTS (ended_columns));
  g_autoptr (GPtrArray) groups = g_ptr_array_new_with_free_func (unref_group);

  for (uint32_t i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);

      if (quoit_group_get_state (group) == QUOIT_GROUP_REMOVED)
        g_ptr_array_add (groups, g_steal_pointer (&group));
    }
  g_ptr_array_sort (groups, by_latest_end);
  for (guint i = 0; i < MIN (groups->len, REPORT_MAX_ENDED); i++)
    {
      const QuoitGroup *group = groups->pdata[i];
      const char *reason = quoit_group_get_release_reason (group);

      table_add_text (table, quoit_group_get_handle (group));
      table_take_text (table, text_format_time (quoit_group_get_created_ms (group)));
      table_take_text (table, text_format_time (quoit_group_get_ended_ms (group)));
      table_add_text (table, reason == NULL || reason[0] == '\0' ? NULL : reason);
    }
  return table;
}

/* The nodes of an entry whose state changed: their numbers by state, and the names of the first ones. */
typedef struct {
  gint64 n[3]; /* alive, draining, dead */
  GPtrArray *names;
} NodeChanges;

enum { MAX_NAMES = 3 };

static void
count_nodes (NodeChanges *changes, const QuoitJournal *journal, uint32_t entry)
{
  QuoitNodeState state;

  for (uint32_t effect = 0; effect < quoit_journal_get_n_effects (journal, entry); effect++)
    for (uint32_t i = 0; i < quoit_journal_get_n_nodes (journal, entry, effect); i++)
      {
        const bool is_new = quoit_journal_get_node_event (journal, entry, effect, i) == QUOIT_NODE_EVENT_ADDED;

        if (!quoit_journal_find_node_state (journal, entry, effect, i, &state) || (is_new && state == QUOIT_NODE_ALIVE))
          continue;
        changes->n[state == QUOIT_NODE_DEAD ? 2 : state == QUOIT_NODE_DRAINING ? 1 : 0]++;
        if (changes->names->len < MAX_NAMES)
          g_ptr_array_add (changes->names, g_strdup (quoit_journal_get_node_name (journal, entry, effect, i)));
      }
}

/* The latest entries come first. */
static Table *
node_events (const QuoitJournal *journal, uint64_t last)
{
  Table *table = table_new (event_columns, G_N_ELEMENTS (event_columns));

  for (uint32_t i = quoit_journal_get_n_entries (journal); i > 0 && table_get_n_rows (table) < REPORT_MAX_EVENTS; i--)
    {
      const uint32_t entry = i - 1;
      NodeChanges changes = { { 0 }, NULL };

      if (quoit_journal_get_seq (journal, entry) > last)
        continue;
      changes.names = g_ptr_array_new_with_free_func (g_free);
      count_nodes (&changes, journal, entry);
      if (changes.n[0] + changes.n[1] + changes.n[2] == 0)
        {
          g_ptr_array_unref (changes.names);
          continue;
        }
      table_add_number (table, (gint64) quoit_journal_get_seq (journal, entry));
      table_take_text (table, text_format_time (quoit_journal_get_time_ms (journal, entry)));
      for (guint state = 0; state < G_N_ELEMENTS (changes.n); state++)
        table_add_number (table, changes.n[state]);
      table_take_list (table, changes.names);
    }
  return table;
}

static void
add_sample (Table *table, const QuoitSnapshot *snapshot)
{
  g_autoptr (QuoitFragmentation) fragmentation = quoit_snapshot_measure_fragmentation (snapshot, 0);

  for (uint32_t class = 0; class < quoit_fragmentation_get_n_classes (fragmentation); class ++)
    {
      if (quoit_fragmentation_get_n_hosts (fragmentation, class) == 0)
        continue;
      table_add_number (table, (gint64) quoit_snapshot_get_seq (snapshot));
      table_take_text (table, text_format_time (quoit_snapshot_get_clock_ms (snapshot)));
      capacity_add_class (table, snapshot, class);
      table_take_text (table, millionths_format (quoit_fragmentation_get_least (fragmentation, class)));
      table_take_text (table, millionths_format (quoit_fragmentation_get_most (fragmentation, class)));
    }
}

/* Entries from @first to @last at equal distances, and the present. */
static Table *
samples (QuoitLedger *ledger, QuoitSnapshot *snapshot, uint64_t first, uint64_t last, GError **error)
{
  g_autoptr (Table) table = table_new (sample_columns, G_N_ELEMENTS (sample_columns));
  const uint64_t n = MIN (last - first, REPORT_MAX_SAMPLES - 1);

  for (uint64_t i = 0; i < n; i++)
    {
      g_autoptr (QuoitSnapshot) past = quoit_ledger_snapshot_at (ledger, first + (last - first) * i / n, error);

      if (past == NULL)
        return NULL;
      add_sample (table, past);
    }
  add_sample (table, snapshot);
  return g_steal_pointer (&table);
}

/* Appends what the journal has after the checkpoint. */
static bool
describe_entries (Document *document, QuoitLedger *ledger, QuoitSnapshot *snapshot, uint64_t checkpoint, GError **error)
{
  const uint64_t last = quoit_snapshot_get_seq (snapshot);
  g_autoptr (QuoitJournal) journal = quoit_ledger_read_journal (ledger, checkpoint, error);
  Table *table = journal == NULL ? NULL : samples (ledger, snapshot, MIN (MAX (checkpoint, 1), last), last, error);

  if (table == NULL)
    return false;
  document_take_table (document, "events", NULL, node_events (journal, last));
  document_take_table (document, "samples", NULL, table);
  return true;
}

/* Appends what the journal has. If another process compacts it meanwhile, what is left is read again. */
static bool
describe_journal (Document *document, QuoitLedger *ledger, QuoitSnapshot *snapshot, GError **error)
{
  uint64_t checkpoint;
  int64_t made_ms;

  if (!quoit_ledger_read_checkpoint (ledger, &checkpoint, &made_ms, error))
    return false;
  for (;;)
    {
      const uint64_t before = checkpoint;
      g_autoptr (GError) why = NULL;

      if (describe_entries (document, ledger, snapshot, checkpoint, &why))
        return true;
      if (!quoit_ledger_read_checkpoint (ledger, &checkpoint, &made_ms, error))
        return false;
      if (checkpoint == before)
        {
          g_propagate_error (error, g_steal_pointer (&why));
          return false;
        }
    }
}

Document *
report_history_document (QuoitLedger *ledger, QuoitSnapshot *snapshot, GError **error)
{
  g_autoptr (Document) document = document_new ();

  document_take_table (document, "ended", NULL, ended_groups (snapshot));
  if (ledger != NULL && quoit_snapshot_get_seq (snapshot) > 0 && !describe_journal (document, ledger, snapshot, error))
    return NULL;
  return g_steal_pointer (&document);
}
