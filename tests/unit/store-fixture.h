/* SPDX-License-Identifier: Apache-2.0 */
/* Ledgers in files, for the suites of the store. */
#pragma once

#include <sqlite3.h>

#include "suite.h"
#include "fixture.h"
#include "slice-request.h"
#include "test-paths.h"
#include "store/sqlite/sqlite.h"

#define T0 G_GINT64_CONSTANT (1750000000000)

/* @n_slices v6e 2x4 slices of two hosts, as source "test". */
static inline gboolean
store_import (QuoitStore *store, guint32 n_slices, gint64 now_ms, GError **error)
{
  const FixturePool pool = { "a", "2x4", "z", n_slices, QUOIT_GENERATION_V6E, 4 };
  QuoitClaims *claims = quoit_claims_new ("test", QUOIT_SOURCE_KIND_FLEET);
  gboolean ok;

  fixture_add_pool (claims, &pool);
  ok = quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_IMPORT, .claims = &claims }, now_ms, NULL, NULL, error);
  quoit_claims_free (claims);
  return ok;
}

/* The same source reports external use of the first @n_used nodes of the same slices. */
static inline gboolean
store_call_used (QuoitStore *store, guint32 n_slices, guint32 n_used, gint64 now_ms, GError **error)
{
  const FixturePool pool = { "a", "2x4", "z", n_slices, QUOIT_GENERATION_V6E, 4 };
  g_autoptr (QuoitClaims) idle = quoit_claims_new ("test", QUOIT_SOURCE_KIND_FLEET);
  QuoitClaims *used = quoit_claims_new ("test", QUOIT_SOURCE_KIND_FLEET);
  const QuoitNodeClaim *nodes;
  gboolean ok;
  guint32 n;

  fixture_add_pool (idle, &pool);
  nodes = quoit_claims_nodes (idle, &n);
  for (guint32 i = 0; i < n; i++)
    {
      QuoitNodeClaim node = nodes[i];

      node.pool = quoit_claims_ensure_pool (used, "a");
      node.kind = quoit_claims_intern_kind (used, quoit_claims_kind_at (idle, node.kind), NULL);
      node.flags = i < n_used ? QUOIT_NODE_EXTERNAL : 0;
      quoit_claims_add (used, &node);
    }
  ok = quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_IMPORT, .claims = &used }, now_ms, NULL, NULL, error);
  quoit_claims_free (used);
  return ok;
}

/* The id of the group; 0: refused. */
static inline guint64
store_reserve (QuoitStore *store, const char *name, const char *key, guint32 n_slices, GError **error)
{
  g_autoptr (QuoitRequest) request = request_for (name, key, n_slices);
  g_auto (QuoitOutcome) outcome = { 0 };

  return quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_RESERVE, .request = request }, T0, &outcome, NULL,
                             error)
             ? outcome.after->id
             : 0;
}

static inline gboolean
store_release (QuoitStore *store, const char *name, GError **error)
{
  return quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_RELEASE, .group = { name, 0 } }, T0, NULL, NULL,
                             error);
}

static inline gboolean
store_set_state (QuoitStore *store, const char *node, QuoitNodeState state, GError **error)
{
  const QuoitStatesChange change = { &node, 1, QUOIT_VERB_SET_STATE, state };

  return quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_SET_STATES, .states = change }, T0, NULL, NULL,
                             error);
}

static inline gboolean
store_has (QuoitStore *store, const char *name)
{
  g_autoptr (QuoitFleet) fleet = quoit_store_fleet (store);

  return quoit_fleet_find_group (fleet, name) != NULL;
}

/* Three slices: "train" has two, node a-2-0 is dead, and "old" was released but its key is remembered. */
static inline void
fill (QuoitStore *store)
{
  g_autoptr (GError) error = NULL;

  ck_assert (store_import (store, 3, T0, &error));
  ck_assert_uint_eq (store_reserve (store, "old", "key-old", 1, &error), 1);
  ck_assert (store_release (store, "old", &error));
  ck_assert_uint_eq (store_reserve (store, "train", NULL, 2, &error), 2);
  ck_assert (store_set_state (store, "a-2-0", QUOIT_NODE_DEAD, &error));
  ck_assert_ok (error);
}

static inline void
create_filled (const TestPaths *paths)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths->path, 0, &error);

  ck_assert_ok (error);
  fill (store);
}

/* Changes the database like another program. The -head file shows that. */
static inline void
tamper_visibly (const char *path, const char *sql)
{
  sqlite3 *db;
  char *message = NULL;

  ck_assert_int_eq (sqlite3_open (path, &db), SQLITE_OK);
  sqlite3_exec (db, sql, NULL, NULL, &message);
  ck_assert_msg (message == NULL, "%s: %s", sql, message);
  ck_assert_int_eq (sqlite3_close (db), SQLITE_OK);
}

/* Repairs the hash chain of a changed journal. */
static inline void
repair_chain (const char *path)
{
  g_autoptr (GError) error = NULL;
  QuoitDb db = { 0 };

  ck_assert_int_eq (sqlite3_open (path, &db.handle), SQLITE_OK);
  quoit_sqlite_write_chain (&db, &error);
  ck_assert_ok (error);
  for (gsize i = 0; i < G_N_ELEMENTS (db.stmts); i++)
    sqlite3_finalize (db.stmts[i]);
  ck_assert_int_eq (sqlite3_close (db.handle), SQLITE_OK);
}

/* Like tamper_visibly(), but deletes the -head file, which would reveal that another program wrote to the database. */
static inline void
tamper (const char *path, const char *sql)
{
  g_autofree char *head = g_strconcat (path, "-head", NULL);

  tamper_visibly (path, sql);
  g_unlink (head);
}
