/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"
#include "api/input.h"

struct _QuoitImport {
  char *source;
  gboolean is_new;
  guint32 n_nodes;
  GArray *changes; /* of QuoitNodeChange */
  GStrv warnings;
};

bool
quoit_load_text (const char *path, char **text, size_t *length, GError **error)
{
  g_return_val_if_fail (path != NULL && text != NULL && length != NULL, false);

  return quoit_read_file (path, text, length, error);
}

/* Adds the warnings that depend on the fleet after the import. */
static void
add_fleet_warnings (QuoitImport *import, const QuoitFleet *fleet, const char *join)
{
  g_auto (GStrv) more = quoit_step_warn_unseen (fleet, import->source, join);
  GStrvBuilder *all = g_strv_builder_new ();

  g_strv_builder_addv (all, (const char **) import->warnings);
  g_strv_builder_addv (all, (const char **) more);
  g_strfreev (import->warnings);
  import->warnings = g_strv_builder_end (all);
  g_strv_builder_unref (all);
}

/* An import in progress: the action and what it refers to. The action of a new source takes the claims. */
typedef struct {
  const QuoitInput *input;
  QuoitClaims *claims;
  QuoitAction action;
  QuoitImport *result;
} Importing;

static void
importing_clear (Importing *importing)
{
  quoit_claims_free (importing->claims);
  quoit_import_free (importing->result);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Importing, importing_clear)

/* Reads the input, before anything is locked. */
static gboolean
importing_begin (Importing *importing, QuoitActionType type, const QuoitInput *input, GError **error)
{
  importing->input = input;
  importing->action.type = type;
  if (type == QUOIT_ACTION_UPDATE_NODES)
    importing->action.nodes.claims = importing->claims
        = quoit_input_read_update (input, &importing->action.nodes.removed, &importing->action.nodes.n_removed, error);
  else
    {
      importing->claims = quoit_input_read (input, error);
      importing->action.claims = &importing->claims;
    }
  if (importing->claims == NULL)
    return FALSE;
  importing->result = g_new0 (QuoitImport, 1);
  importing->result->source = g_strdup (quoit_claims_source (importing->claims));
  quoit_claims_nodes (importing->claims, &importing->result->n_nodes);
  importing->result->warnings = g_strdupv ((char **) quoit_claims_warnings (importing->claims));
  return TRUE;
}

static guint32
count_nodes (const QuoitFleet *fleet, const char *name)
{
  QuoitSourceId source;

  return quoit_layout_find_source (fleet->layout, name, &source) ? quoit_layout_count_claimed (fleet->layout, source)
                                                                 : 0;
}

/* Returns the result of the action. */
static QuoitImport *
importing_end (Importing *importing, QuoitOutcome *outcome, const QuoitFleet *after)
{
  QuoitImport *import = g_steal_pointer (&importing->result);

  import->changes = g_steal_pointer (&outcome->changes);
  import->is_new = importing->claims == NULL;
  /* An update has only some of the nodes. */
  if (importing->action.type == QUOIT_ACTION_UPDATE_NODES)
    import->n_nodes = count_nodes (after, import->source);
  add_fleet_warnings (import, after, importing->input->join);
  return import;
}

static QuoitImport *
import_input (QuoitLedger *ledger, QuoitActionType type, const QuoitInput *input, int64_t now_ms, GError **error)
{
  g_auto (Importing) importing = { 0 };
  g_auto (QuoitOutcome) outcome = { 0 };

  if (!quoit_store_refuse_child (ledger->store, error) || !importing_begin (&importing, type, input, error)
      || !quoit_store_change (ledger->store, &importing.action, now_ms, &outcome, NULL, error))
    return NULL;
  return importing_end (&importing, &outcome, outcome.fleet);
}

static QuoitImport *
import_on_fork (QuoitFork *fork, QuoitActionType type, const QuoitInput *input, int64_t now_ms, GError **error)
{
  g_auto (Importing) importing = { 0 };
  g_auto (QuoitOutcome) outcome = { 0 };

  if (!importing_begin (&importing, type, input, error)
      || !quoit_fork_change (fork, &importing.action, now_ms, &outcome, NULL, error))
    return NULL;
  return importing_end (&importing, &outcome, fork->fleet);
}

QuoitImport *
quoit_ledger_import (QuoitLedger *ledger, const QuoitInput *input, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && input != NULL, NULL);

  return import_input (ledger, QUOIT_ACTION_IMPORT, input, now_ms, error);
}

QuoitImport *
quoit_ledger_sync (QuoitLedger *ledger, const QuoitInput *input, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && input != NULL, NULL);

  return import_input (ledger, QUOIT_ACTION_SYNC, input, now_ms, error);
}

QuoitImport *
quoit_ledger_update_nodes (QuoitLedger *ledger, const QuoitInput *input, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && input != NULL, NULL);

  return import_input (ledger, QUOIT_ACTION_UPDATE_NODES, input, now_ms, error);
}

QuoitImport *
quoit_fork_import (QuoitFork *fork, const QuoitInput *input, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (fork != NULL && input != NULL, NULL);

  return import_on_fork (fork, QUOIT_ACTION_IMPORT, input, now_ms, error);
}

QuoitImport *
quoit_fork_sync (QuoitFork *fork, const QuoitInput *input, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (fork != NULL && input != NULL, NULL);

  return import_on_fork (fork, QUOIT_ACTION_SYNC, input, now_ms, error);
}

QuoitImport *
quoit_fork_update_nodes (QuoitFork *fork, const QuoitInput *input, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (fork != NULL && input != NULL, NULL);

  return import_on_fork (fork, QUOIT_ACTION_UPDATE_NODES, input, now_ms, error);
}

void
quoit_import_free (QuoitImport *import)
{
  if (import == NULL)
    return;
  g_free (import->source);
  g_clear_pointer (&import->changes, g_array_unref);
  g_strfreev (import->warnings);
  g_free (import);
}

const char *
quoit_import_get_source (const QuoitImport *import)
{
  g_return_val_if_fail (import != NULL, NULL);

  return import->source;
}

bool
quoit_import_is_new (const QuoitImport *import)
{
  g_return_val_if_fail (import != NULL, false);

  return import->is_new;
}

uint32_t
quoit_import_get_n_nodes (const QuoitImport *import)
{
  g_return_val_if_fail (import != NULL, 0);

  return import->n_nodes;
}

uint32_t
quoit_import_get_n_changes (const QuoitImport *import)
{
  g_return_val_if_fail (import != NULL, 0);

  return import->changes->len;
}

static const QuoitNodeChange *
change_at (const QuoitImport *import, uint32_t change)
{
  g_return_val_if_fail (import != NULL && change < import->changes->len, NULL);

  return &g_array_index (import->changes, QuoitNodeChange, change);
}

QuoitChangeKind
quoit_import_get_change_kind (const QuoitImport *import, uint32_t change)
{
  const QuoitNodeChange *row = change_at (import, change);

  return row == NULL ? (QuoitChangeKind) 0 : row->kind;
}

const char *
quoit_import_get_change_name (const QuoitImport *import, uint32_t change)
{
  const QuoitNodeChange *row = change_at (import, change);

  return row == NULL ? NULL : row->name;
}

const char *
quoit_import_get_change_detail (const QuoitImport *import, uint32_t change)
{
  const QuoitNodeChange *row = change_at (import, change);

  if (row == NULL)
    return NULL;
  return row->detail == NULL ? "" : row->detail;
}

const char *
quoit_import_get_change_group (const QuoitImport *import, uint32_t change)
{
  const QuoitNodeChange *row = change_at (import, change);

  if (row == NULL)
    return NULL;
  return row->group == NULL ? "" : row->group;
}

uint32_t
quoit_import_get_n_warnings (const QuoitImport *import)
{
  g_return_val_if_fail (import != NULL, 0);

  return import->warnings == NULL ? 0 : g_strv_length (import->warnings);
}

const char *
quoit_import_get_warning (const QuoitImport *import, uint32_t warning)
{
  g_return_val_if_fail (import != NULL && warning < quoit_import_get_n_warnings (import), NULL);

  return import->warnings[warning];
}
