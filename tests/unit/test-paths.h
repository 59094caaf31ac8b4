/* SPDX-License-Identifier: Apache-2.0 */
/* A folder for the files of a test. */
#pragma once

#include <glib/gstdio.h>

#include "suite.h"

typedef struct {
  char *dir, *path, *copy;
} TestPaths;

static inline TestPaths
test_paths_new (void)
{
  char *dir = g_dir_make_tmp ("quoit-XXXXXX", NULL);

  ck_assert_ptr_nonnull (dir);
  return (TestPaths) { dir, g_build_filename (dir, "ledger.db", NULL), g_build_filename (dir, "copy.db", NULL) };
}

static inline void
test_paths_clear (TestPaths *paths)
{
  g_autoptr (GDir) entries = g_dir_open (paths->dir, 0, NULL);
  const char *name;

  while (entries != NULL && (name = g_dir_read_name (entries)) != NULL)
    {
      g_autofree char *path = g_build_filename (paths->dir, name, NULL);

      if (g_unlink (path) != 0)
        g_rmdir (path);
    }
  g_rmdir (paths->dir);
  g_free (paths->dir);
  g_free (paths->path);
  g_free (paths->copy);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TestPaths, test_paths_clear)
