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

static QuoitImport *
import_new (const QuoitClaims *claims)
{
  QuoitImport *import = g_new0 (QuoitImport, 1);

  import->source = g_strdup (quoit_claims_source (claims));
  import->warnings = g_strdupv ((char **) quoit_claims_warnings (claims));
  quoit_claims_nodes (claims, &import->n_nodes);
  return import;
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

/* Completes @import after the action. @claims is NULL if the source is new, because the action has then taken it. */
static void
finish_import (QuoitImport *import, QuoitOutcome *outcome, const QuoitFleet *after, const char *join,
               const QuoitClaims *claims)
{
  import->changes = g_steal_pointer (&outcome->changes);
  import->is_new = claims == NULL;
  add_fleet_warnings (import, after, join);
}

static QuoitImport *
import_input (QuoitLedger *ledger, QuoitActionType type, const QuoitInput *input, int64_t now_ms, GError **error)
{
  g_autoptr (QuoitImport) import = NULL;
  g_autoptr (QuoitClaims) claims = NULL;
  const QuoitAction action = { type, .claims = &claims };
  g_auto (QuoitOutcome) outcome = { 0 };

  if (!quoit_store_refuse_child (ledger->store, error) || (claims = quoit_input_read (input, error)) == NULL)
    return NULL;
  import = import_new (claims);
  if (!quoit_store_change (ledger->store, &action, now_ms, &outcome, NULL, error))
    return NULL;
  finish_import (import, &outcome, outcome.fleet, input->join, claims);
  return g_steal_pointer (&import);
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
quoit_fork_sync (QuoitFork *fork, const QuoitInput *input, int64_t now_ms, GError **error)
{
  g_autoptr (QuoitImport) import = NULL;
  g_autoptr (QuoitClaims) claims = NULL;
  const QuoitAction action = { QUOIT_ACTION_SYNC, .claims = &claims };
  g_auto (QuoitOutcome) outcome = { 0 };

  g_return_val_if_fail (fork != NULL && input != NULL, NULL);

  if ((claims = quoit_input_read (input, error)) == NULL)
    return NULL;
  import = import_new (claims);
  if (!quoit_fork_change (fork, &action, now_ms, &outcome, NULL, error))
    return NULL;
  finish_import (import, &outcome, fork->fleet, input->join, claims);
  return g_steal_pointer (&import);
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
