/* SPDX-License-Identifier: Apache-2.0 */
/* Counts instructions: runs the same program again under callgrind, which writes a file per operation. */
#include "bench-private.h"

#include <glib/gstdio.h>
#include <string.h>

/* Reads the two lines of a file that matter: "desc: Trigger: Client Request: KEY" and "totals: INSTRUCTIONS". */
static void
take_file (Bench *bench, const char *path)
{
  static const char request[] = "desc: Trigger: Client Request: ", totals[] = "totals: ";
  g_autofree char *text = NULL, *key = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      if (g_str_has_prefix (lines[i], request))
        key = g_strdup (lines[i] + strlen (request));
      if (g_str_has_prefix (lines[i], totals) && key != NULL)
        {
          double n = g_ascii_strtod (lines[i] + strlen (totals), NULL);

          g_hash_table_replace (bench->counts, g_steal_pointer (&key), g_memdup2 (&n, sizeof n));
        }
    }
}

static void
take_folder (Bench *bench, const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      take_file (bench, path);
      g_unlink (path);
    }
  g_rmdir (folder);
}

gboolean
bench_count (Bench *bench, const char *program, const char *only)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("quoit-bench-XXXXXX", &error), *out = NULL;
  int status;
  gboolean ok = folder != NULL;

  if (ok)
    {
      out = g_strdup_printf ("--callgrind-out-file=%s/count", folder);
      ok = g_spawn_sync (
               NULL,
               (char *[]) { "valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no", out, (char *) program,
                            "--count", only == NULL ? NULL : "--only", (char *) only, NULL },
               NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, NULL, &status, &error)
           && g_spawn_check_wait_status (status, &error);
      take_folder (bench, folder);
    }
  if (!ok)
    g_printerr ("bench: no instruction counts: %s\n", error->message);
  return ok;
}
