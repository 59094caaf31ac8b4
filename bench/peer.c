/* SPDX-License-Identifier: Apache-2.0 */
/* The same reservations by what a careful Python user writes, in the same run. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>

#define SCRIPT "bench/py_user_model.py"

/* Lines of "SCENARIO <tab> FLEET <tab> nanoseconds". */
static void
take_line (Bench *bench, const char *line)
{
  g_auto (GStrv) fields = g_strsplit (line, "\t", 3);
  g_autofree char *peer = NULL, *ratio = NULL;
  double ns;

  if (g_strv_length (fields) != 3)
    return;
  ns = g_ascii_strtod (fields[2], NULL);
  peer = g_strconcat (fields[0], ", Python", NULL);
  ratio = g_strconcat (fields[0], ", Python / quoit", NULL);
  bench_add (bench, peer, fields[1], ns, "ns", BENCH_NONE);
  /* What was promised is to reserve: to release is one assignment there, without names, ids or states. */
  bench_add (bench, ratio, fields[1], ns / bench_ns (bench, fields[0], fields[1]), "times",
             g_str_has_prefix (fields[0], "reserve") ? BENCH_FROM (6) : BENCH_NONE);
}

void
bench_peer (Bench *bench)
{
  g_autofree char *script = g_build_filename (g_getenv ("top_srcdir"), SCRIPT, NULL), *text = NULL;
  char *argv[] = { "python3", script, NULL };
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) lines = NULL;
  int status;

  if (bench_is_counting (bench))
    return;
  if (!g_spawn_sync (NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &text, NULL, &status, &error)
      || !g_spawn_check_wait_status (status, &error))
    {
      g_printerr ("bench: no peer: %s\n", error->message);
      return;
    }
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    take_line (bench, lines[i]);
}
