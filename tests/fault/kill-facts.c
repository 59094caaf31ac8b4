/* SPDX-License-Identifier: Apache-2.0 */
#include "kill-facts.h"

/* --- setting --- */

static gboolean
set_quota (QuoitLedger *ledger, const char *name, gint64 value, gint64 now_ms, GError **error)
{
  /* No group has this label, so the quota refuses nothing. */
  return quoit_ledger_set_quota (ledger, name, "none", name, "v6e", NULL, value, -1, value % 2 == 0 ? "red" : NULL,
                                 now_ms, error);
}

static gboolean
add_window (QuoitLedger *ledger, const char *name, gint64 value, gint64 now_ms, GError **error)
{
  g_autofree char *slice = g_strdup_printf ("v6e-4x4-%s", name + 1);

  return quoit_ledger_add_window (ledger, name, QUOIT_WINDOW_SLICE, slice, now_ms + (value - now_ms) / 2, value, now_ms,
                                  error);
}

typedef QuoitImport *(*ForkImport) (QuoitFork *fork, const QuoitInput *input, gint64 now_ms, GError **error);

/* Imports on a fork, and commits it. */
static QuoitImport *
commit_import (QuoitLedger *ledger, ForkImport import_on, const QuoitInput *input, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (QuoitImport) import = import_on (fork, input, now_ms, error);

  if (import == NULL || !quoit_ledger_commit_fork (ledger, fork, now_ms, error))
    return NULL;
  return g_steal_pointer (&import);
}

static gboolean
update_node (QuoitLedger *ledger, const char *name, gint64 value, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitInput) input = quoit_input_new_nodes ();
  g_autoptr (QuoitImport) import = NULL;

  quoit_input_set_source (input, "hosts");
  require (quoit_input_add_node (input, name, NULL, NULL, (QuoitNodeState) value, NULL), "node %s", name);
  import = value == 0 ? quoit_ledger_update_nodes (ledger, input, now_ms, error)
                      : commit_import (ledger, quoit_fork_update_nodes, input, now_ms, error);
  return import != NULL;
}

static gboolean
import_slices (QuoitLedger *ledger, const char *name, gint64 value, gint64 now_ms, GError **error)
{
  g_autofree char *text = g_strdup_printf ("v6e 4x4 x%u; " KILL_CUBES, (guint) value);
  g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, text, strlen (text));
  g_autoptr (QuoitImport) import = NULL;

  quoit_input_set_source (input, name);
  import = value % 2 != 0 ? quoit_ledger_import (ledger, input, now_ms, error)
                          : commit_import (ledger, quoit_fork_import, input, now_ms, error);
  return import != NULL;
}

static gboolean
set_label (QuoitLedger *ledger, const char *name, gint64 value, gint64 now_ms, GError **error)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, value);
  const char *const keys[] = { "run" }, *const values[] = { text };

  return drop_group (quoit_ledger_set_labels (ledger, name, keys, values, 1, now_ms, error));
}

static gboolean
release (QuoitLedger *ledger, const char *name, gint64 value, gint64 now_ms, GError **error)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, value);

  return quoit_ledger_release_with_reason (ledger, name, text, now_ms, error);
}

static gboolean
set_keep (QuoitLedger *ledger, const char *name, gint64 value, gint64 now_ms, GError **error)
{
  return quoit_ledger_set_keep (ledger, value, now_ms, error);
}

/* --- reading --- */

static gboolean
read_quota (const QuoitSnapshot *snapshot, const char *name, gint64 *value)
{
  for (guint32 i = 0; i < quoit_snapshot_get_n_quotas (snapshot); i++)
    if (strcmp (quoit_snapshot_get_quota_name (snapshot, i), name) == 0)
      {
        *value = quoit_snapshot_get_quota_nominal_chips (snapshot, i);
        require ((quoit_snapshot_get_quota_cohort (snapshot, i) != NULL) == (*value % 2 == 0), "half of quota %s",
                 name);
        return TRUE;
      }
  return FALSE;
}

static gboolean
read_window (const QuoitSnapshot *snapshot, const char *name, gint64 *value)
{
  for (guint32 i = 0; i < quoit_snapshot_get_n_windows (snapshot); i++)
    if (strcmp (quoit_snapshot_get_window_name (snapshot, i), name) == 0)
      return *value = quoit_snapshot_get_window_until_ms (snapshot, i), TRUE;
  return FALSE;
}

static gboolean
read_node (const QuoitSnapshot *snapshot, const char *name, gint64 *value)
{
  guint32 node;

  if (!quoit_snapshot_lookup_node (snapshot, name, &node, NULL))
    return FALSE;
  *value = (gint64) quoit_snapshot_get_node_state (snapshot, node);
  return TRUE;
}

static gboolean
read_slices (const QuoitSnapshot *snapshot, const char *name, gint64 *value)
{
  *value = (gint64) quoit_snapshot_get_n_slices (snapshot) - KILL_N_CUBES;
  return *value > 0;
}

static gboolean
read_number (const char *text, gint64 *value)
{
  *value = text == NULL ? 0 : g_ascii_strtoll (text, NULL, 10);
  return text != NULL;
}

static gboolean
read_label (const QuoitSnapshot *snapshot, const char *name, gint64 *value)
{
  g_autoptr (QuoitGroup) group = quoit_snapshot_lookup_group (snapshot, name, NULL);

  return group != NULL && read_number (quoit_group_find_label (group, "run"), value);
}

static gboolean
read_reason (const QuoitSnapshot *snapshot, const char *name, gint64 *value)
{
  for (guint32 g = 0; g < quoit_snapshot_get_n_groups (snapshot); g++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, g);

      if (strcmp (quoit_group_get_name (group), name) == 0
          && read_number (quoit_group_get_release_reason (group), value))
        return TRUE;
    }
  return FALSE;
}

static gboolean
read_keep (const QuoitSnapshot *snapshot, const char *name, gint64 *value)
{
  *value = quoit_snapshot_get_keep_ms (snapshot);
  return *value != 0;
}

/* --- all kinds --- */

typedef struct {
  const char *prefix;
  gboolean (*set) (QuoitLedger *ledger, const char *name, gint64 value, gint64 now_ms, GError **error);
  gboolean (*read) (const QuoitSnapshot *snapshot, const char *name, gint64 *value);
} Kind;

static const Kind kinds[N_FACT_KINDS]
    = { { "quota:", set_quota, read_quota }, { "window:", add_window, read_window },
        { "node:", update_node, read_node }, { "slices:", import_slices, read_slices },
        { "label:", set_label, read_label }, { "reason:", release, read_reason },
        { "keep:", set_keep, read_keep } };

static const Kind *
kind_of (const char **name)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_has_prefix (*name, kinds[i].prefix))
      return *name += strlen (kinds[i].prefix), &kinds[i];
  g_assert_not_reached ();
}

gboolean
facts_init (QuoitLedger *ledger, gint64 now_ms)
{
  g_autoptr (QuoitInput) input = quoit_input_new_nodes ();
  g_autoptr (QuoitImport) import = NULL;

  quoit_input_set_source (input, "hosts");
  require (quoit_input_add_node (input, "host", NULL, NULL, QUOIT_NODE_ALIVE, NULL), "a node");
  import = quoit_ledger_sync (ledger, input, now_ms, NULL);
  return import != NULL;
}

gboolean
fact_set (QuoitLedger *ledger, const char *name, gint64 value, gint64 now_ms, GError **error)
{
  const Kind *kind = kind_of (&name);

  return kind->set (ledger, name, value, now_ms, error);
}

gboolean
fact_read (const QuoitSnapshot *snapshot, const char *name, gint64 *value)
{
  const Kind *kind = kind_of (&name);

  return kind->read (snapshot, name, value);
}
