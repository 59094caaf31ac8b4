/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for tests on whole ledgers: temporary directories, scaled counts, and one line per failure. Uses only
   public headers. */
#pragma once

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <quoit/quoit.h>

#include "shortcuts.h"

/* A time in 2025 from which every test counts. */
#define T0 G_GINT64_CONSTANT (1750000000000)

/* Ends a failed test. The printed line has the place and the numbers that reproduce the failure. */
#define require(condition, ...)                                                                                        \
  do                                                                                                                   \
    if (G_UNLIKELY (!(condition)))                                                                                     \
      {                                                                                                                \
        g_autofree char *reason_ = g_strdup_printf (__VA_ARGS__);                                                      \
                                                                                                                       \
        printf ("%s:%d: %s does not hold: %s\n0 passed, 1 failed\n", __FILE__, __LINE__, #condition, reason_);         \
        fflush (NULL);                                                                                                 \
        abort ();                                                                                                      \
      }                                                                                                                \
  while (0)

static inline const char *
error_text (const GError *error)
{
  return error == NULL ? "no error" : error->message;
}

/* @n times QUOIT_TEST_SCALE. */
static inline guint
scaled (guint n)
{
  const char *text = g_getenv ("QUOIT_TEST_SCALE");
  double scale = text == NULL ? 1 : g_ascii_strtod (text, NULL);

  return (guint) MAX (1, n * (scale > 0 ? scale : 1));
}

/* Prints the seed so that a failure can be reproduced. */
static inline guint32
random_seed (const char *what, guint32 usual)
{
  const char *text = g_getenv ("QUOIT_TEST_SEED");
  guint32 seed = text == NULL ? usual : (guint32) g_ascii_strtoull (text, NULL, 10);

  printf ("%s: QUOIT_TEST_SEED=%u\n", what, seed);
  fflush (stdout);
  return seed;
}

/* Returns whether the ledgers of the test are in PostgreSQL: QUOIT_TEST_SERVER is the URL of a database. */
static inline bool
is_on_server (void)
{
  return g_getenv ("QUOIT_TEST_SERVER") != NULL;
}

/* Returns the name of a ledger for a path in a new directory: the path itself, or the URL of a fleet that is named
   after it. */
static inline const char *
ledger_name (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path), *parent = g_path_get_basename (folder),
                  *base = g_path_get_basename (path), *url = NULL;

  if (!is_on_server ())
    return path;
  url = g_strdup_printf ("%s#%s-%s", g_getenv ("QUOIT_TEST_SERVER"), parent, base);
  return g_intern_string (url);
}

/* Makes a new directory in memory if possible, else in the folder for temporary files. A killed process loses
   nothing of either; tests/fault/vfs covers the loss of power. */
static inline char *
fast_dir (void)
{
  char *dir = g_strdup ("/dev/shm/quoit-XXXXXX");

  if (g_access ("/dev/shm", W_OK | X_OK) == 0 && g_mkdtemp (dir) != NULL)
    return dir;
  g_free (dir);
  return g_dir_make_tmp ("quoit-XXXXXX", NULL);
}

/* Removes @dir and its files. @dir must not have subfolders. */
static inline void
remove_dir (const char *dir)
{
  g_autoptr (GDir) entries = g_dir_open (dir, 0, NULL);
  const char *name;

  while (entries != NULL && (name = g_dir_read_name (entries)) != NULL)
    {
      g_autofree char *path = g_build_filename (dir, name, NULL);

      g_unlink (path);
    }
  g_rmdir (dir);
}

static inline QuoitRequest *
new_slice_request (const char *name, const char *accelerator, const char *topology, gint64 n_slices)
{
  g_autoptr (QuoitRequest) request = quoit_request_new (name, NULL);

  require (quoit_request_set_accelerator (request, accelerator, NULL), "%s", accelerator);
  require (quoit_request_set_topology (request, topology, NULL), "%s", topology);
  require (quoit_request_set_slices (request, n_slices, NULL), "%d", (int) n_slices);
  return g_steal_pointer (&request);
}

static inline gboolean
import_text (QuoitLedger *ledger, const char *text, const char *source, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitImport) import = import_as (ledger, QUOIT_SOURCE_KIND_FLEET, text, source, now_ms, error);

  return import != NULL;
}

/* Checks every invariant that the library can recompute. */
static inline void
require_consistent (QuoitLedger *ledger, const char *where)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (GError) error = NULL;

  require (quoit_snapshot_check (snapshot, &error), "%s: %s", where, error_text (error));
}

static inline void
require_verified (QuoitLedger *ledger, const char *where)
{
  g_autoptr (GError) error = NULL;

  require (quoit_ledger_verify (ledger, &error), "%s: %s", where, error_text (error));
}

/* Releases the reference; returns whether @group was not NULL. */
static inline gboolean
drop_group (QuoitGroup *group)
{
  gboolean made = group != NULL;

  quoit_group_unref (group);
  return made;
}

static inline gboolean
drop_change (QuoitGroupChange *change)
{
  gboolean made = change != NULL;

  quoit_group_change_free (change);
  return made;
}
